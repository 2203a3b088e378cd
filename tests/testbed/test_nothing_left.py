"""Whatever happens, nothing stays: namespaces, sockets, processes and files are counted before and after."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from voicewire.testbed import Capture, DelayProxy, Host, Link, LinkSpec, Mosquitto, TestbedError, capability
from voicewire.testbed.capability import capabilities, find_mosquitto
from voicewire.testbed.mosquitto import free_port

pytestmark = pytest.mark.night

Holdings = Callable[[], Counter[str]]
needs_mosquitto = pytest.mark.needs("mosquitto")


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Files are counted in a folder that no other program uses."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


class BoomError(Exception):
    pass


def build(raise_it: BaseException | None) -> None:
    with (
        Host("a") as a,
        Host("b") as b,
        Link(a, b, LinkSpec(delay=0.001)) as link,
        Capture(a, link.device_a),
        b.inside(),
        socket.create_server((link.address_b, 5000)),
    ):
        if find_mosquitto():
            with Mosquitto(b):
                if raise_it is not None:
                    raise raise_it
        elif raise_it is not None:
            raise raise_it


@pytest.mark.needs("namespaces")
@pytest.mark.parametrize("error", [None, BoomError(), KeyboardInterrupt()], ids=["end", "exception", "ctrl-c"])
def test_after_the_end_an_exception_or_ctrl_c(error: BaseException | None, holdings: Holdings) -> None:
    build(None)  # the first use of libraries opens files of their own
    before = holdings()
    if error is None:
        build(None)
    else:
        with pytest.raises(type(error)):
            build(error)
    assert not holdings() - before


@pytest.mark.needs("namespaces", "mosquitto")
def test_after_kill_9(tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import os, time
        from voicewire.testbed import Host, Link, LinkSpec, Mosquitto
        a, b = Host("a"), Host("b")
        link = Link(a, b, LinkSpec())
        broker = Mosquitto(b)
        print(os.readlink(f"/proc/self/fd/{a.fileno()}"), os.readlink(f"/proc/self/fd/{b.fileno()}"),
              broker._child.pid, flush=True)
        time.sleep(60)
    """)
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment)
    assert child.stdout is not None
    first, second, broker = child.stdout.readline().split()
    assert Path(f"/proc/{broker}").exists()
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    limit = time.monotonic() + 10
    while time.monotonic() < limit and (Path(f"/proc/{broker}/exe").exists() or {first, second} & in_use()):
        time.sleep(0.05)
    assert not Path(f"/proc/{broker}/exe").exists()
    assert not {first, second} & in_use()


def in_use() -> set[str]:
    """Every network namespace that a process is in or holds."""
    seen = set()
    for link in [*Path("/proc").glob("[0-9]*/ns/net"), *Path("/proc").glob("[0-9]*/fd/*")]:
        try:
            seen.add(str(link.readlink()))
        except OSError:
            continue
    return seen


@needs_mosquitto
def test_port_in_use_is_one_clear_error(holdings: Holdings) -> None:
    before = holdings()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(TestbedError, match=f"port {port} is in use"):
            Mosquitto(port=port)
    assert not holdings() - before


def test_without_mosquitto_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voicewire.testbed.mosquitto.find_mosquitto", lambda: None)
    with pytest.raises(TestbedError, match="not installed"):
        Mosquitto(port=free_port())


def test_without_privileges_is_one_clear_error_and_the_proxy(
    monkeypatch: pytest.MonkeyPatch, holdings: Holdings
) -> None:
    def refuse(function: str, *arguments: int) -> None:
        if function == "unshare":
            raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("voicewire.testbed.hosts._call", refuse)
    before = holdings()
    with pytest.raises(TestbedError, match="run as root, or use the loopback proxy"):
        Host("a")
    found = capabilities()
    assert not found.namespaces
    assert found.bed == "proxy"
    assert "proxy" in found.line()
    assert not holdings() - before


def test_capture_forbidden_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.socket

    def refuse(family: int = socket.AF_INET, *rest: object) -> socket.socket:
        if family == socket.AF_PACKET:
            raise PermissionError(1, "Operation not permitted")
        return real(family, *rest)

    monkeypatch.setattr("voicewire.testbed.capture.socket.socket", refuse)
    with pytest.raises(TestbedError, match="use the TCP_INFO counters instead"):
        Capture(None, "lo")


def test_without_ipv6_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voicewire.testbed.capability.socket.has_ipv6", False)
    found = capability.capabilities()
    assert not found.ipv6
    assert found.counters


def test_the_proxy_leaves_nothing(holdings: Holdings) -> None:
    before = holdings()
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        DelayProxy(server.getsockname(), 0.01) as proxy,
        socket.create_connection(proxy.address) as client,
    ):
        client.sendall(b"left in the middle")
        peer, _ = server.accept()
        peer.close()
    limit = time.monotonic() + 5
    while holdings() - before and time.monotonic() < limit:
        time.sleep(0.05)
    assert not holdings() - before

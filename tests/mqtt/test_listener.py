"""The broker's port: who is there goes on when descriptors are out, who comes waits, and the log says so once."""

from __future__ import annotations

import contextlib
import resource
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from certificates import certificate

from voicewire.mqtt import BrokerThread, Config, Limits, listener
from voicewire.mqtt import packets as p
from voicewire.mqtt.process import free_port, wait_for_port
from voicewire.mqtt.wire import Wire, connect

pytestmark = pytest.mark.needs("posix")


@contextlib.contextmanager
def limited(tmp_path: Path, soft: int, hard: int) -> Iterator[tuple[int, Path, int]]:
    """A broker in a process that may have so many descriptors: its port, its log and its process."""
    port, log = free_port(), tmp_path / "log"
    shell = f'ulimit -Sn {soft}; ulimit -Hn {hard}; exec "$0" -m voicewire.mqtt broker --port {port}'
    with log.open("wb") as file:
        process = subprocess.Popen(["bash", "-c", shell, sys.executable], stderr=file)
    try:
        wait_for_port(port, process, 60)
        yield port, log, process.pid
    finally:
        process.kill()
        process.wait()


def processor(pid: int) -> int:
    return sum(map(int, Path(f"/proc/{pid}/stat").read_text().split()[13:15]))


@pytest.mark.needs("linux")
def test_who_is_there_goes_on_and_who_comes_waits(tmp_path: Path) -> None:
    with limited(tmp_path, 100, 100) as (port, log, pid), connect(port, "early") as early:
        crowd = [socket.create_connection(("127.0.0.1", port), 5) for _ in range(150)]
        early.send(p.Pingreq())
        early.expect(p.Pingresp())
        assert len(list(Path(f"/proc/{pid}/fd").iterdir())) <= 100 - listener.RESERVE // 2
        before = processor(pid)
        time.sleep(1)
        assert processor(pid) - before < 20  # of 100 ticks: it does not try again and again
        newcomer = Wire(port)
        newcomer.send(p.Connect("late"))
        with pytest.raises(TimeoutError):
            newcomer.receive(0.3)
        for sock in crowd:
            sock.close()
        assert isinstance(newcomer.receive(30), p.Connack)
        newcomer.close()
        lines = log.read_text().splitlines()
        assert sum("newcomers wait" in line for line in lines) == 1 and "Traceback" not in log.read_text()
        assert any("the limit of open files allows" in line for line in lines)


def test_the_command_asks_for_what_its_limits_need(tmp_path: Path) -> None:
    """At a soft limit of 64, a hundred and fifty clients are served: the hard one allows them."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < 400:
        pytest.fail(f"this machine allows {hard} open files")
    with limited(tmp_path, 64, 400) as (port, log, _):
        wires = [connect(port, f"c{i}") for i in range(150)]
        for wire in wires:
            wire.send(p.Pingreq())
            wire.expect(p.Pingresp())
            wire.close()
        assert "newcomers wait" not in log.read_text()


def test_an_address_in_use_is_said() -> None:
    with BrokerThread(Config(port=0)) as first, pytest.raises(OSError, match=rf"{first.port}.*in use"):
        BrokerThread(Config(port=first.port)).__enter__()


def test_a_host_with_two_addresses_is_listened_to_on_both() -> None:
    with BrokerThread(Config(host="localhost", port=0)) as b, connect(b.port, "x") as wire:
        wire.send(p.Pingreq())
        wire.expect(p.Pingresp())


@pytest.mark.parametrize("talks", [False, True], ids=["says nothing", "shakes hands and says nothing"])
def test_a_handshake_counts_in_the_time_to_connect(tmp_path: Path, talks: bool) -> None:
    pem = certificate(tmp_path / "cert.pem")
    config = Config(port=0, tls_cert=pem, limits=Limits(connect_timeout=1.5))
    with BrokerThread(config) as b, socket.create_connection(("127.0.0.1", b.port), 10) as plain:
        started = time.monotonic()
        sock = plain
        if talks:
            time.sleep(1.0)  # most of its time is gone when it begins
            context = ssl.create_default_context(cafile=str(pem))
            sock = context.wrap_socket(plain, server_hostname="127.0.0.1")
        sock.settimeout(20)
        with contextlib.suppress(OSError):
            assert sock.recv(1) == b""
        spent = time.monotonic() - started
        assert spent > 1.2  # how long it took beyond says nothing on a busy machine
        for _ in range(1000):
            if not b.broker.connections:
                break
            time.sleep(0.02)
        assert not b.broker.connections

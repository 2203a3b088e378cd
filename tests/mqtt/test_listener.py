"""The broker's port: who is there goes on when descriptors are out, who comes waits, and the log says so once."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import resource
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from waiting import eventually

from voicewire.mqtt import BrokerThread, Config, Limits
from voicewire.mqtt import broker as broker_module
from voicewire.mqtt import packets as p
from voicewire.mqtt.raw_socket_client import Wire, connect
from voicewire.mqtt.serving import listener
from voicewire.mqtt.serving.broker_process import free_port, wait_for_port
from voicewire_book.chapters.transport.extension_experiments import certificate

pytestmark = pytest.mark.needs("posix")


@contextlib.contextmanager
def limited(tmp_path: Path, soft: int, hard: int) -> Iterator[tuple[int, Path, int]]:
    """A broker in a process that may have so many descriptors: its port, its log and its process."""
    port, log = free_port(), tmp_path / "log"
    (tmp_path / "patient.toml").write_text("[limits]\nconnect_timeout = 600\n")
    broker = f'"$0" -m voicewire.mqtt broker --port {port} --config patient.toml'
    shell = f"ulimit -Sn {soft}; ulimit -Hn {hard}; exec {broker}"
    with log.open("wb") as file:
        process = subprocess.Popen(["bash", "-c", shell, sys.executable], stderr=file, cwd=tmp_path)
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
        assert any("the limit of open files" in line for line in lines)


@pytest.mark.needs("linux")
def test_a_descriptor_is_open_for_each_that_counts_as_there_and_no_more(tmp_path: Path) -> None:
    """Silent, connected, with a session that stays, in the middle of a packet: what is counted is what is open."""
    with contextlib.ExitStack() as stack, BrokerThread(Config(port=0, persist=tmp_path / "store")) as b:
        connect(b.port, "warm").close()
        assert eventually(lambda: not b.broker.connections)
        idle = listener.in_use()

        def adds_up(there: int) -> bool:  # each end is in this process
            return eventually(lambda: len(b.broker.connections) == there and listener.in_use() == idle + 2 * there)

        silent = [socket.create_connection(("127.0.0.1", b.port), 5) for _ in range(7)]
        half = [socket.create_connection(("127.0.0.1", b.port), 5) for _ in range(5)]
        for sock in half:
            sock.sendall(b"\x10\x7f\0\4MQ")
        wires = [stack.enter_context(connect(b.port, f"{n}", clean=n % 2 == 0)) for n in range(9)]
        assert adds_up(21)
        for sock in (*silent, *half):
            sock.close()
        assert adds_up(9)
        for wire in wires:
            wire.close()
        assert adds_up(0)


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


def served(seconds: float, stack: contextlib.ExitStack) -> tuple[BrokerThread, socket.socket, ssl.SSLContext]:
    """A broker with TLS that gives so long to connect, and a socket that has been accepted."""
    cert, key = stack.enter_context(certificate())
    config = Config(port=0, tls_cert=cert, tls_key=key, limits=Limits(connect_timeout=seconds))
    b = stack.enter_context(BrokerThread(config))
    context = ssl.create_default_context(cafile=str(cert))
    context.check_hostname = False
    return b, stack.enter_context(socket.create_connection(("127.0.0.1", b.port), 50)), context


def test_who_shakes_no_hands_is_closed_when_the_time_to_connect_is_over() -> None:
    with contextlib.ExitStack() as stack:
        b, plain, _ = served(1.0, stack)
        plain.settimeout(50)  # asyncio itself would give it a minute
        with contextlib.suppress(ConnectionError):
            assert plain.recv(1) == b""
        assert not b.broker.connections


def test_who_shakes_no_hands_keeps_nobody_out(monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    """As many as may be under way at once, and more: the oldest are given up, and an honest client is served."""
    monkeypatch.setattr(listener, "HANDSHAKES", 5)
    with contextlib.ExitStack() as stack:
        b, first, context = served(600.0, stack)
        others = [stack.enter_context(socket.create_connection(("127.0.0.1", b.port), 50)) for _ in range(11)]
        wrapped = stack.enter_context(context.wrap_socket(others[-1]))
        wrapped.sendall(p.encode(p.Connect("honest")))
        assert wrapped.recv(4) == p.encode(p.Connack())
        for sock in (first, *others[:5]):
            with contextlib.suppress(ConnectionError):
                assert sock.recv(1) == b""
        assert sum("TLS handshakes under way" in record.message for record in caplog.records) == 1


def test_a_handshake_counts_in_the_time_to_connect() -> None:
    """The clock of a connection runs from the moment when it was accepted."""
    with contextlib.ExitStack() as stack:
        b, plain, context = served(60.0, stack)
        time.sleep(1.0)
        wrapped = stack.enter_context(context.wrap_socket(plain))
        for _ in range(1000):
            if b.broker.connections:
                break
            time.sleep(0.02)
        (connection,) = b.broker.connections
        assert wrapped.version() and b.broker.loop.time() - connection.seen >= 1.0


def test_a_connection_that_cannot_begin_ends_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made = broker_module.Connection
    once = iter([True])

    def broken(broker: Any) -> Any:
        if next(once, False):
            raise RuntimeError("not this one")
        return made(broker)

    with BrokerThread(Config(port=0)) as b:
        monkeypatch.setattr(broker_module, "Connection", broken)
        with Wire(b.port) as first:
            first.closed()
        connect(b.port, "second").close()
    assert "not this one" in caplog.text


@pytest.mark.parametrize(("number", "said"), [(errno.EMFILE, True), (errno.ENOMEM, True), (errno.ECONNABORTED, False)])
async def test_only_what_is_out_is_said_to_be_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, number: int, said: bool
) -> None:
    """A client that has gone before it was accepted is no reason for newcomers to wait."""
    loop, failed = asyncio.get_running_loop(), asyncio.Event()

    async def fails(_: socket.socket) -> None:
        failed.set()
        raise OSError(number, "so the system says")

    monkeypatch.setattr(loop, "sock_accept", fails)
    door = listener.Listener(asyncio.Protocol, lambda: 0, 1.0, None, logging.getLogger("port under test"))
    await door.open("127.0.0.1", 0)
    await failed.wait()
    await asyncio.sleep(0)
    door.close()
    assert ("so the system says: newcomers wait" in caplog.text) == said

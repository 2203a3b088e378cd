"""What the broker holds is what its ledger says: limits act on the process's memory, whoever holds what and how."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from voicewire.mqtt import packets as p
from voicewire.mqtt.raw_socket_client import Wire, connect, subscribed
from voicewire.mqtt.serving import broker_process

pytestmark = [pytest.mark.landing, pytest.mark.needs("linux")]

LIMIT = 50_000_000
ROOM = 32_000_000
"""Bytes that the process may grow by beside: a loop's buffers, sockets, what the allocator keeps."""


@contextlib.contextmanager
def broker(tmp_path: Path) -> Iterator[broker_process.External]:
    (tmp_path / "broker.toml").write_text(f"sys_interval = 0\n[limits]\nmax_waiting_bytes = {LIMIT}\n")
    with broker_process.ours("--quiet", "--config", str(tmp_path / "broker.toml")) as running:
        yield running


def deaf(port: int, name: str, qos: int, topic: str = "t") -> socket.socket:
    """A subscriber that reads its SUBACK and nothing more."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect(("127.0.0.1", port))
    sock.settimeout(20)
    sock.sendall(p.encode(p.Connect(name)) + p.encode(p.Subscribe(1, ((topic, qos),))))
    got = b""
    while len(got) < 9:
        got += sock.recv(9 - len(got))
    return sock


def send(port: int, count: int, size: int, qos: int, topic: Callable[[int], str] = lambda i: "t") -> None:
    """Publish so much, and wait until the broker has taken it."""
    with connect(port, "publisher") as wire:
        wire.socket.settimeout(120)
        for i in range(count):
            wire.send(p.Publish(topic(i), bytes([i % 251]) * size, qos, packet_id=1 + i % 60_000 if qos else 0))
            if qos:
                wire.receive(120)
        wire.send(p.Pingreq())
        while not isinstance(wire.receive(120), p.Pingresp):
            pass


def hoarders(port: int, stack: contextlib.ExitStack) -> None:
    """Who reads and never acknowledges."""
    for k in range(10):
        wire = stack.enter_context(subscribed(port, f"x{k}", qos=1, client_id=f"h{k}"))
        threading.Thread(target=_sink, args=(wire,), daemon=True).start()
    send(port, 200, 1_000_000, 1, lambda i: f"x{i % 10}")


def _sink(wire: Wire) -> None:
    with contextlib.suppress(OSError):
        while wire.socket.recv(1 << 20):
            pass


def slow_readers(port: int, stack: contextlib.ExitStack) -> None:
    """Who reads nothing: at QoS 0, and at QoS 1."""
    for k in range(300):
        stack.enter_context(deaf(port, f"q{k}", k % 2))
    send(port, 60, 1_000_000, 1)


def many_small(port: int, stack: contextlib.ExitStack) -> None:
    """Payloads of one byte, for who is away."""
    for k in range(20):
        subscribed(port, f"y{k}", qos=1, client_id=f"away{k}", clean=False).close()
    with connect(port, "publisher") as wire:
        for start in range(0, 160_000, 1000):
            wire.send(*(p.Publish(f"y{i % 20}", b"1", 1, packet_id=1 + i % 1000) for i in range(start, start + 1000)))
            wire.expect(*(p.Puback(1 + i) for i in range(1000)))


def strangers(port: int, stack: contextlib.ExitStack) -> None:
    """Who begins a CONNECT and does not end it."""
    for _ in range(300):
        sock = stack.enter_context(socket.create_connection(("127.0.0.1", port), 20))
        sock.settimeout(0.2)
        with contextlib.suppress(OSError):
            sock.sendall(b"\x10\x84\x80\x14\x00\x04MQTT\x04\xc0\x00\x00" + bytes(300_000))


def unreleased(port: int, stack: contextlib.ExitStack) -> None:
    """Who sends message after message at QoS 2, and never a PUBREL."""
    for k in range(10):
        with contextlib.suppress(OSError, ConnectionError, AssertionError):
            wire = stack.enter_context(connect(port, f"u{k}"))
            for start in range(1, 60_001, 1000):
                wire.send(*(p.Publish("nowhere", b"", 2, packet_id=start + i) for i in range(1000)))
                wire.expect(*(p.Pubrec(start + i) for i in range(1000)))


def answers(port: int, stack: contextlib.ExitStack) -> None:
    """Who answers at length to messages that wait for one more subscriber."""
    for k in range(3):
        one = stack.enter_context(subscribed(port, f"asked{k}", qos=3, client_id=f"answers{k}"))
        stack.enter_context(subscribed(port, f"asked{k}", qos=3, client_id=f"silent{k}"))
        with contextlib.suppress(OSError, ConnectionError, AssertionError):
            asks = stack.enter_context(subscribed(port, "nothing", qos=3, client_id=f"asks{k}"))
            for i in range(600):
                asks.send(p.Publish(f"asked{k}", b"", 3, packet_id=i + 1, waited=2, report=True, limit=2**16 - 1))
                got = one.receive(60)
                one.send(p.Pubrec(got.packet_id, 3, bytes(60_000)))
                while not isinstance(one.receive(60), p.Pubrel):
                    pass
                one.send(p.Pubcomp(got.packet_id, 3))


def all_at_once(port: int, stack: contextlib.ExitStack) -> None:
    """Whatever counts under this limit, one after the other."""
    for attack in (slow_readers, hoarders, many_small, unreleased):
        attack(port, stack)


ATTACKS = [hoarders, slow_readers, many_small, strangers, unreleased, answers, all_at_once]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda f: f.__name__)
def test_the_process_grows_by_no_more_than_its_limit(tmp_path: Path, attack: Callable[..., None]) -> None:
    with broker(tmp_path) as running, contextlib.ExitStack() as stack:
        with connect(running.port, "warm") as wire:
            wire.quiet()
        idle = running.resident()
        most = idle
        done = threading.Event()

        def watch() -> None:
            nonlocal most
            while not done.wait(0.02):
                most = max(most, running.resident())

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            attack(running.port, stack)
            time.sleep(0.3)
        finally:
            done.set()
            watcher.join()
        print(f"{attack.__name__}: {(most - idle) / 1e6:.0f} MB more than idle")
        assert most - idle < LIMIT + ROOM
        with subscribed(running.port, "honest", qos=1) as mine:  # who holds little is served all the same
            mine.send(p.Publish("honest", b"here", 1, packet_id=7))
            got = {type(packet) for packet in (mine.receive(), mine.receive())}
            assert got == {p.Puback, p.Publish}

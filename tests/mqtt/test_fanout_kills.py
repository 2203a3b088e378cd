"""A broker that is killed while it hands a long message out to hundreds, over sockets: each gets each message once."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from promises import Publisher, Subscriber

from voicewire.mqtt.serving.broker_process import free_port, wait_for_port

pytestmark = pytest.mark.night

KILLS = int(os.environ.get("VOICEWIRE_KILLS", "0")) // 4 or 5
SUBSCRIBERS, SIZE = 300, 400_000


class Socket:
    """A line over a socket that never waits."""

    def __init__(self, port: int) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), 10)
        self.sock.setblocking(False)
        self.rest = b""

    def send(self, data: bytes) -> None:
        """Send now what the socket takes, and the rest with the next `take`."""
        self.rest += data
        try:
            while self.rest:
                self.rest = self.rest[self.sock.send(self.rest) :]
        except BlockingIOError:
            return
        except OSError:
            self.rest = b""

    def take(self) -> bytes | None:
        """Take what has come; None once the broker is gone."""
        if self.rest:
            self.send(b"")
        try:
            return self.sock.recv(1 << 20) or None
        except BlockingIOError:
            return b""
        except OSError:
            return None

    def close(self) -> None:
        """Drop the connection."""
        self.sock.close()


def start(port: int, path: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "voicewire.mqtt", "broker", "--quiet", "--port", str(port), "--persist", str(path)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    wait_for_port(port, process, 60)
    return process


def go_on(everybody: list[Subscriber | Publisher], end: float, until: float = 0.0) -> None:
    """Let all take and answer until `end`, or until nothing has come for `until` seconds."""
    last = time.monotonic()
    while (now := time.monotonic()) < end:
        came = [each.step() for each in everybody]
        if any(came):
            last = now
        elif until and now - last > until:
            return
        else:
            time.sleep(0.002)


def test_each_gets_each_message_once_however_often_the_broker_is_killed(tmp_path: Path) -> None:
    rng, port = random.Random(1), free_port()
    process = start(port, tmp_path / "store")
    subscribers = [Subscriber(f"s{i}", 2, False, Socket(port)) for i in range(SUBSCRIBERS)]  # type: ignore[arg-type]
    publisher = Publisher(Socket(port), "t", False)  # type: ignore[arg-type]
    everybody: list[Subscriber | Publisher] = [publisher, *subscribers]
    again = 0
    try:
        for each in subscribers:
            each.connect(each.line)
        publisher.connect(publisher.line)
        go_on(everybody, time.monotonic() + 60, 0.5)
        for number in range(1, KILLS + 1):
            publisher.publish(number, SIZE, 2)
            go_on(everybody, time.monotonic() + rng.uniform(0, 0.6))
            process.kill()
            process.wait()
            for each in everybody:
                each.line.close()
            process = start(port, tmp_path / "store")
            for each in subscribers:
                again += len(each.received)
                each.connect(Socket(port), subscribe=False)  # type: ignore[arg-type]
            publisher.connect(Socket(port))  # type: ignore[arg-type]
            go_on(everybody, time.monotonic() + 60, 0.5)
            assert publisher.open == {}, number
        lost = sum(not each.taken[n] for each in subscribers for n in range(1, KILLS + 1))
        doubled = sum(each.taken[n] > 1 for each in subscribers for n in range(1, KILLS + 1))
        print(f"{KILLS} kills, {SUBSCRIBERS} x {SIZE} bytes: {lost} lost, {doubled} doubled; {again} were between")
        assert (lost, doubled, [x for each in subscribers for x in each.wrong]) == (0, 0, [])
        assert publisher.confirmed == set(range(1, KILLS + 1))
    finally:
        process.kill()
        process.wait()
        for each in everybody:
            each.line.close()

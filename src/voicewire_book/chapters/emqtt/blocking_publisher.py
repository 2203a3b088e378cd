"""A publisher in two threads, as Section 3.4 has it: one asks and is suspended, the other takes what comes.

Its processor time says what the synchronization costs. Broker and subscriber run beside it and are not counted.
"""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from voicewire._kit import checks
from voicewire.emqtt import paper
from voicewire.mqtt import packets as p
from voicewire.mqtt.raw_socket_client import TIMEOUT, Wire, subscribed

__all__ = ["MODES", "PACE", "Answering", "TwoThreads", "processor_time", "series"]

MODES = ("goes on", "is notified", "polls")
"""Asynchronous; synchronous with wait and notify; and one that asks again and again whether it may go on."""
PACE = 0.002
"""Seconds between queries; the paper has one a second."""


class TwoThreads:
    """The publisher: the calling thread publishes, a thread of its own processes what comes.

    Attributes
    ----------
    knew : float
        When its program knew of the last query, on `time.perf_counter`, s: its main thread, if that is notified; the
        thread that takes what comes, if it goes on.
    """

    def __init__(self, port: int, mode: str, wait_for: int | None = None) -> None:
        self.mode = mode
        self.wait_for = int(mode != "goes on") if wait_for is None else wait_for
        self.sent = self.answered = self.completed = 0
        self.used = self.knew = 0.0
        self._closed = False
        self._synchronizer = threading.Condition()
        self._wire = subscribed(port, "$e2e/hello", qos=3)

    def publish(self) -> None:
        """Send a query; in both synchronous modes return when so many subscribers have it."""
        self.sent += 1
        self._wire.send(p.Publish(paper.TOPIC, paper.PAYLOAD, 3, packet_id=self.sent, waited=self.wait_for))
        if self.mode == "is notified":
            with self._synchronizer:
                if not self._synchronizer.wait_for(lambda: self.answered == self.sent, TIMEOUT):
                    raise TimeoutError("too few subscribers have answered")
            self.knew = time.perf_counter()
        elif self.mode == "polls":
            limit = time.monotonic() + TIMEOUT
            while self.answered < self.sent:
                if time.monotonic() > limit:
                    raise TimeoutError("too few subscribers have answered")

    def process(self, queries: int) -> None:
        """Take packets until so many exchanges are complete; `used` is this thread's processor time then."""
        start = time.thread_time()
        while self.completed < queries:
            try:
                packet = self._wire.receive()
            except OSError:
                if not self._closed:
                    raise
                packet = None
            if packet is None and self._closed:
                return
            if isinstance(packet, p.Pubrec):
                if self.mode == "goes on":
                    self.knew = time.perf_counter()
                self._wire.send(p.Pubrel(packet.packet_id, 3))
                if self.mode == "is notified":
                    with self._synchronizer:
                        self.answered += 1
                        self._synchronizer.notify()
                else:
                    self.answered += 1
            elif isinstance(packet, p.Pubcomp):
                self.completed += 1
            else:
                raise ConnectionError(f"a publisher does not get {packet}")
        self.used = time.thread_time() - start

    def close(self) -> None:
        """Drop the connection; a thread that still processes ends."""
        self._closed = True
        with contextlib.suppress(OSError):  # the broker may have closed already
            self._wire.socket.shutdown(socket.SHUT_RDWR)  # a thread that waits for a packet wakes
        self._wire.close()


@checks.takes(mode=checks.one_of(*MODES), queries=checks.whole(1, 10_000))
def processor_time(port: int, mode: str, queries: int = 30) -> float:
    """Return the processor time that a query costs the publisher, both of its threads together."""
    publisher = TwoThreads(port, mode)
    other = threading.Thread(target=publisher.process, args=(queries,), daemon=True)
    other.start()
    try:
        start = time.thread_time()
        for _ in range(queries):
            publisher.publish()
            time.sleep(PACE)
        used = time.thread_time() - start
        other.join(TIMEOUT)
    finally:
        publisher.close()
    if publisher.completed < queries:
        raise TimeoutError(f"{publisher.completed} of {queries} exchanges were completed")
    return (used + publisher.used) / queries * 1e6


class Answering:
    """A subscriber that answers each query until the block ends, in a thread that is not counted."""

    def __init__(self, port: int) -> None:
        self._wire = subscribed(port, paper.TOPIC, qos=3)
        self._thread = threading.Thread(target=_answer, args=(self._wire,), daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._wire.send(p.Disconnect())
        self._thread.join(TIMEOUT)
        self._wire.close()


def _answer(wire: Wire) -> None:
    while (packet := wire.receive(timeout=3600)) is not None:
        if isinstance(packet, p.Publish):
            wire.send(p.Pubrec(packet.packet_id, 3))
        elif isinstance(packet, p.Pubrel):
            wire.send(p.Pubcomp(packet.packet_id, 3))


def series(port: int, tests: int, seed: int, tell: Callable[[str], object] = print) -> list[dict[str, Any]]:
    """Measure every mode in each test, in random order."""
    rng, rows = random.Random(seed), []
    with Answering(port):
        for mode in MODES:  # nobody meets cold caches in the first test
            processor_time(port, mode)
        for test in range(tests):
            for mode in rng.sample(MODES, len(MODES)):
                found = processor_time(port, mode)
                rows.append({"mode": mode, "test": test, "cpu_us": round(found, 2)})
    tell(f"a publisher in two threads: {tests} tests of {len(MODES)} modes")
    return rows

"""What synchronization costs in delay: publishers in two threads, asked until when their program knows (Section 5.2).

The subscribers are a process of their own, so that they do not take the publisher's turn in Python.
"""

from __future__ import annotations

import multiprocessing
import random
import selectors
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing
from multiprocessing.connection import Connection as Pipe
from typing import Any

from voicewire._kit import checks
from voicewire.emqtt import paper
from voicewire.mqtt import packets as p
from voicewire.mqtt.decoder import Decoder
from voicewire.mqtt.load_generator import attach
from voicewire.mqtt.raw_socket_client import TIMEOUT
from voicewire_book.chapters.emqtt.blocking_publisher import TwoThreads

__all__ = ["PUBLISHERS", "Crowd", "series"]

PUBLISHERS = {
    "synchronous": ("is notified", True),
    "all, goes on": ("goes on", True),
    "asynchronous": ("goes on", False),
}
"""Whether its main thread is suspended, and whether it asks for all subscribers; else for the first."""
PAUSE = 0.02
"""Seconds that the main thread sleeps after a query: longer than any answer takes, so that it does not disturb."""


class Crowd:
    """So many subscribers in a process of their own, which answer until the block ends."""

    def __init__(self, port: int, n: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, there = context.Pipe()
        self._process = context.Process(target=_answer, args=(port, n, there), daemon=True)

    def __enter__(self) -> None:
        self._process.start()
        if not self._pipe.poll(TIMEOUT):
            self.__exit__()
            raise TimeoutError("the subscribers have not started")
        self._pipe.recv()

    def __exit__(self, *_: object) -> None:
        self._pipe.close()
        self._process.join(TIMEOUT)
        if self._process.is_alive():
            self._process.kill()


def _answer(port: int, n: int, pipe: Pipe) -> None:
    """Answer as subscribers do, until the other end of the pipe is closed."""
    with ExitStack() as stack, selectors.DefaultSelector() as ready:
        for i in range(n):
            sock = stack.enter_context(attach(port, f"n{i}", paper.TOPIC, qos=3))
            ready.register(sock, selectors.EVENT_READ, Decoder())
        ready.register(pipe, selectors.EVENT_READ)
        pipe.send("ready")
        while True:
            for key, _ in ready.select():
                if key.data is None:
                    return
                out = b""
                for packet in key.data.feed(key.fileobj.recv(65536)):  # type: ignore[union-attr]
                    if isinstance(packet, p.Publish):
                        out += p.encode(p.Pubrec(packet.packet_id, 3))
                    elif isinstance(packet, p.Pubrel):
                        out += p.encode(p.Pubcomp(packet.packet_id, 3))
                key.fileobj.sendall(out)  # type: ignore[union-attr]


def _milliseconds(publisher: TwoThreads) -> float:
    """Publish; returns how long it took until the publisher's program knew, when its exchange is complete."""
    start = time.perf_counter()
    publisher.publish()
    time.sleep(PAUSE)
    limit = time.monotonic() + TIMEOUT
    while publisher.completed < publisher.sent:
        if time.monotonic() > limit:
            raise TimeoutError("a query was not completed")
        time.sleep(0.001)
    return (publisher.knew - start) * 1e3


@checks.takes(tests=checks.whole(1, 10_000))
def series(
    port: int, sizes: Iterable[int], tests: int, seed: int, tell: Callable[[str], object] = print
) -> list[dict[str, Any]]:
    """Measure the end-to-end delay of every publisher in each test, in random order."""
    rng, rows = random.Random(seed), []
    for n in sizes:
        with Crowd(port, n), ExitStack() as stack:
            asking = {}
            for name, (mode, everybody) in PUBLISHERS.items():
                publisher = stack.enter_context(closing(TwoThreads(port, mode, n if everybody else 0)))
                threading.Thread(target=publisher.process, args=(tests + 1,), daemon=True).start()
                _milliseconds(publisher)  # nobody meets cold caches in the first test
                asking[name] = publisher
            for test in range(tests):
                for name in rng.sample(list(asking), len(asking)):
                    found = _milliseconds(asking[name])
                    rows.append({"publisher": name, "subscribers": n, "test": test, "delay_ms": round(found, 4)})
        tell(f"{n} subscribers: {tests} tests of {len(PUBLISHERS)} publishers in two threads")
    return rows

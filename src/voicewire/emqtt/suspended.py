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
from voicewire.mqtt.wire import TIMEOUT, Wire, subscribed

__all__ = ["MODES", "PACE", "Answering", "TwoThreads", "processor_time", "series"]

MODES = ("goes on", "is notified", "polls")
"""Asynchronous; synchronous with wait and notify; and one that asks again and again whether it may go on."""
PACE = 0.002
"""Seconds between queries; the paper has one a second."""


class TwoThreads:
    """The publisher: the calling thread publishes, a thread of its own processes what comes.

    Parameters
    ----------
    port : int
        Of a broker of this package, on 127.0.0.1.
    mode : str
        One of `MODES`.
    wait_for : int, optional
        Subscribers whose answers it asks for, 0 for the first; by default 0 if it goes on, else 1.

    Attributes
    ----------
    knew : float
        When its program knew of the last query, on `time.perf_counter`, s: its main thread, if that is notified; the
        thread that takes what comes, if it goes on.

    Examples
    --------
    Nobody is subscribed, and it goes on.

    >>> from voicewire.mqtt import BrokerThread, Config
    >>> with BrokerThread(Config(port=0)) as broker:
    ...     publisher = TwoThreads(broker.port, "goes on")
    ...     publisher.publish()
    ...     publisher.close()
    >>> publisher.sent, publisher.answered
    (1, 0)
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
        """Send a query; in both synchronous modes return when so many subscribers have it.

        Raises
        ------
        TimeoutError
            If they have not in time.
        """
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
        """Take packets until so many exchanges are complete; `used` is this thread's processor time then.

        Parameters
        ----------
        queries : int
            How many.
        """
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
    """Return the processor time that a query costs the publisher, both of its threads together.

    Parameters
    ----------
    port : int
        Of a broker of this package, on 127.0.0.1, on which one subscriber answers.
    mode : str
        One of `MODES`.
    queries : int
        How many are asked, one after the other, `PACE` apart.

    Returns
    -------
    float
        Microseconds.

    Raises
    ------
    TimeoutError
        If an answer does not come.

    Examples
    --------
    >>> from voicewire.mqtt import BrokerThread, Config
    >>> with BrokerThread(Config(port=0)) as broker, Answering(broker.port):
    ...     processor_time(broker.port, "goes on", queries=2) > 0
    True
    """
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
    """A subscriber that answers each query until the block ends, in a thread that is not counted.

    Parameters
    ----------
    port : int
        Of a broker of this package, on 127.0.0.1.

    Examples
    --------
    >>> from voicewire.mqtt import BrokerThread, Config
    >>> with BrokerThread(Config(port=0)) as broker, Answering(broker.port):
    ...     pass
    """

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
    """Measure every mode in each test, in random order.

    Parameters
    ----------
    port : int
        Of a broker of this package.
    tests : int
        How often.
    seed : int
        Of the order.
    tell : callable
        Gets a line at the end.

    Returns
    -------
    list of dict
        One row a mode and test: mode, test, cpu_us (a query).

    Examples
    --------
    >>> from voicewire.mqtt import BrokerThread, Config
    >>> with BrokerThread(Config(port=0)) as broker:
    ...     len(series(broker.port, 1, 1, tell=len))
    3
    """
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

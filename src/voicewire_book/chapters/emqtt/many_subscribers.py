"""One publisher and n subscribers on raw sockets in one thread: the experiments of chapter 5, on any broker.

Each trial sends one query and goes on until every exchange that it started is complete, so that trials do not
overlap. The same compiled loop plays all parts in every reading: what differs is the protocol.
"""

from __future__ import annotations

import select
import socket
import struct
from dataclasses import dataclass
from types import TracebackType

import numpy as np

from voicewire.emqtt import paper
from voicewire.mqtt import packets as p
from voicewire.mqtt.load_generator import attach, exactly
from voicewire_book.chapters.emqtt import _trial_loop

__all__ = ["RESPONSES", "TIMEOUT", "Population", "Trial"]

RESPONSES = "R"
TIMEOUT = 20.0


@dataclass(slots=True)
class Trial:
    """What one query cost."""

    end_to_end: float = 0.0
    completion: float = 0.0
    received: int = 0
    sent: int = 0
    received_bytes: int = 0
    sent_bytes: int = 0
    messages: int = 0
    cpu: float = 0.0


class Population:
    """One publisher and `n` subscribers, connected and subscribed."""

    def __init__(
        self, port: int, n: int, qos3: bool = True, *, slow: int = 0, pause: float = 0.0, host: str = "127.0.0.1",
        publisher: socket.socket | None = None,
    ) -> None:  # fmt: skip
        if not 0 <= slow <= n or not 0 <= pause < TIMEOUT:
            raise ValueError(f"{slow} slow ones of {n} subscribers, {pause} s: more than there are, or too slow")
        if not hasattr(select, "epoll"):
            raise OSError("measuring with many raw sockets needs Linux (epoll): use WSL 2, a container or Binder")
        self.n = n
        self.pause = pause
        self._poll = select.epoll()
        self.publisher = publisher or attach(port, "publisher", RESPONSES, qos=2, host=host)
        if qos3:
            self.publisher.sendall(p.encode(p.Subscribe(2, (("$e2e/hello", 3),))))
            exactly(self.publisher, 5)
        qos = 3 if qos3 else 2
        self.subscribers = [attach(port, f"s{i}", paper.TOPIC, qos=qos, host=host) for i in range(n)]
        self.slow = slow
        everybody = [self.publisher, *self.subscribers]
        clients = np.zeros(n + 1, _trial_loop.CLIENT)
        clients["fd"] = [sock.fileno() for sock in everybody]
        number = np.zeros(clients["fd"].max() + 1, np.int64)
        number[clients["fd"]] = np.arange(n + 1)
        self._clients = _trial_loop.Clients(self._poll.fileno(), number, clients)
        self._next = 0
        for sock in everybody:
            sock.setblocking(True)  # who waits is epoll, in the compiled loop; only a broker that stops reading ends
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", round(TIMEOUT), 0))
            self._poll.register(sock.fileno(), select.EPOLLIN)

    def __enter__(self) -> Population:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._poll.close()
        for sock in [self.publisher, *self.subscribers]:
            sock.close()

    def trial(self, reading: str) -> Trial:
        """Send one query, wait until everything that follows from it is over."""
        self._next = self._next % 60000 + 1
        responses = {"mqtt-2": 2, "mqtt-0": 0}.get(reading)
        response = b""
        if responses is not None:
            packet = p.Publish(RESPONSES, paper.PAYLOAD, responses, packet_id=7 if responses else 0)
            response = p.encode(packet)
        query, answer = (np.frombuffer(data, np.uint8) for data in (self._query(reading, self._next), response))
        task = _trial_loop.Task(
            query, answer,
            responses=self.n if response else 0,
            handshakes=self.n * (2 if responses == 2 else 1) + 1,
            releases=self.n if responses == 2 else 0,
            slow=self.slow, pause=round(1e9 * self.pause), patience=round(1e9 * TIMEOUT),
        )  # fmt: skip
        tally = np.zeros(1, _trial_loop.TALLY)
        end = _trial_loop.run(self._clients, task, tally)
        if end != _trial_loop.DONE:
            raise _why_not(end, f"{reading} with {self.n} subscribers")
        counted = dict(zip(_trial_loop.TALLY.names or (), tally.view(np.int64).tolist(), strict=True))
        return Trial(
            end_to_end=counted["end_to_end"] / 1e9,
            completion=counted["completion"] / 1e9,
            received=counted["received"],
            sent=counted["sent"],
            received_bytes=counted["bytes_received"],
            sent_bytes=counted["bytes_sent"],
            messages=counted["messages"],
            cpu=counted["cpu"] / 1e9,
        )

    def settle(self) -> None:
        """Wait until the broker has all that the publisher has sent: its last packets may still be on a slow link."""
        self.publisher.sendall(p.encode(p.Pingreq()))
        if exactly(self.publisher, 2) != p.encode(p.Pingresp()):
            raise ConnectionError("the broker has sent the publisher something that no trial has asked for")

    def _query(self, reading: str, packet_id: int) -> bytes:
        n = self.n
        if reading in ("mqtt-2", "mqtt-0"):
            return p.encode(p.Publish(paper.TOPIC, paper.PAYLOAD, 2, packet_id=packet_id))
        if reading == "unmodified":
            return p.encode(p.Publish(f"$e2e/{n}/{paper.TOPIC}", paper.PAYLOAD, 2, packet_id=packet_id))
        waited = {"first": 0, "one": 1, "half": max(1, n // 2), "all": n}[reading]
        return p.encode(p.Publish(paper.TOPIC, paper.PAYLOAD, 3, packet_id=packet_id, waited=waited))


def _why_not(end: int, what: str) -> Exception:
    if end == _trial_loop.NO_ANSWER:
        return TimeoutError(f"{what}: no answer in {TIMEOUT:g} s")
    if end == _trial_loop.TOO_LONG:
        return ConnectionError(
            f"{what}: the broker sent a packet of more than {_trial_loop.REST} bytes, "
            f"or more than {_trial_loop.LATE} to a slow subscriber"
        )
    if end == _trial_loop.MALFORMED:
        return ConnectionError(f"{what}: the broker sent what is no packet of MQTT 3.1.1")
    if end == _trial_loop.INTERRUPTED:
        return InterruptedError(f"{what}: interrupted by a signal")
    return ConnectionError(f"{what}: the broker closed a connection, or no longer reads")

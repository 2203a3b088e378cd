"""One publisher and n subscribers on raw sockets in one thread: the experiments of chapter 5, on any broker.

Each trial sends one query and goes on until every exchange that it started is complete, so that trials do not
overlap. The same lean code plays all parts in every reading: what differs is the protocol.
"""

from __future__ import annotations

import select
import socket
import time
from collections import deque
from dataclasses import dataclass
from types import TracebackType

from voicewire.emqtt import paper
from voicewire.mqtt import packets as p
from voicewire.mqtt.load import exactly

RESPONSES = "R"
TIMEOUT = 20.0


@dataclass(slots=True)
class Trial:
    """What one query cost.

    Parameters
    ----------
    end_to_end : float
        Seconds until the publisher knew: its last response, or its PUBREC.
    completion : float
        Seconds until PUBCOMP.
    received, sent : int
        Packets at the publisher.
    received_bytes, sent_bytes : int
        Their bytes.
    messages : int
        Packets on all connections.
    cpu : float
        Seconds of processor time that the publisher's own work took.
    """

    end_to_end: float = 0.0
    completion: float = 0.0
    received: int = 0
    sent: int = 0
    received_bytes: int = 0
    sent_bytes: int = 0
    messages: int = 0
    cpu: float = 0.0


def split(data: bytes) -> tuple[list[bytes], bytes]:
    """Cut `data` into packets; returns them and what is left of the last."""
    n = len(data)
    if n > 1 and data[1] == n - 2 < 128:  # one short packet, as nearly always
        return [data], b""
    found, pos = [], 0
    while n - pos >= 2:
        size, at, shift = data[pos + 1] & 0x7F, pos + 2, 7
        if data[pos + 1] & 0x80:
            if at >= n:
                break
            size |= data[at] << shift
            at += 1
        if at + size > n:
            break
        found.append(data[pos : at + size])
        pos = at + size
    return found, data[pos:]


class Population:
    """One publisher and `n` subscribers, connected and subscribed.

    Parameters
    ----------
    port : int
        The broker's port.
    n : int
        Number of subscribers.
    qos3 : bool
        Subscribe with QoS 3 (our broker), or with QoS 2 (any other).
    slow : int
        So many of the subscribers are slow devices:
    pause : float
        they answer so many seconds later.
    host : str
        The broker's address.
    """

    def __init__(
        self, port: int, n: int, qos3: bool = True, *, slow: int = 0, pause: float = 0.0, host: str = "127.0.0.1"
    ) -> None:
        if not 0 <= slow <= n or not 0 <= pause < TIMEOUT:
            raise ValueError(f"{slow} slow ones of {n} subscribers, {pause} s: more than there are, or too slow")
        self.n = n
        self.pause = pause
        self._host = host
        self._poll = select.epoll()
        self.publisher = self._attach(port, "publisher", RESPONSES, 2)
        if qos3:
            self.publisher.sendall(p.encode(p.Subscribe(2, (("$e2e/hello", 3),))))
            exactly(self.publisher, 5)
        self.subscribers = {}
        for i in range(n):
            sock = self._attach(port, f"s{i}", paper.TOPIC, 3 if qos3 else 2)
            self.subscribers[sock.fileno()] = sock
        self.slow = frozenset(list(self.subscribers)[:slow])
        self._rest: dict[int, bytes] = {}
        self._next = 0
        for sock in [self.publisher, *self.subscribers.values()]:
            self._poll.register(sock.fileno(), select.EPOLLIN)

    def _attach(self, port: int, name: str, topic: str, qos: int) -> socket.socket:
        sock = socket.create_connection((self._host, port), TIMEOUT)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.sendall(p.encode(p.Connect(name)))
        exactly(sock, 4)
        sock.sendall(p.encode(p.Subscribe(1, ((topic, qos),))))
        exactly(sock, 5)
        return sock

    def __enter__(self) -> Population:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._poll.close()
        for sock in [self.publisher, *self.subscribers.values()]:
            sock.close()

    def trial(self, reading: str) -> Trial:
        """Send one query, wait until everything that follows from it is over.

        Parameters
        ----------
        reading : str
            One of `counting.READINGS`.

        Raises
        ------
        TimeoutError
            If it is not over in time.
        """
        self._next = self._next % 60000 + 1
        run = _Run(self, reading, self._next)
        run.start()
        publisher = self.publisher.fileno()
        while not run.over():
            events = self._poll.poll(run.patience())
            if not events and not run.answer_late():
                raise TimeoutError(f"{reading} with {self.n} subscribers: no answer in {TIMEOUT:g} s")
            for fd, _ in events:
                if fd == publisher:
                    run.at_publisher()
                else:
                    run.at_subscriber(fd, self.subscribers[fd])
        return run.trial

    def receive(self, fd: int, sock: socket.socket) -> list[bytes]:
        """Return the packets that have come on one socket."""
        data = sock.recv(65536)
        if not data:
            raise ConnectionError("the broker closed the connection")
        found, rest = split(self._rest.pop(fd, b"") + data)
        if rest:
            self._rest[fd] = rest
        return found


class _Run:
    """One trial on its way."""

    def __init__(self, population: Population, reading: str, packet_id: int) -> None:
        self.all = population
        self.reading = reading
        self.responses = {"mqtt-2": 2, "mqtt-0": 0}.get(reading)
        self.id = packet_id.to_bytes(2, "big")
        self.trial = Trial()
        self.started = 0.0
        self.left_responses = population.n if self.responses is not None else 0
        self.left_handshakes = population.n * (1 if self.responses in (None, 0) else 2) + 1
        self.left_releases = population.n if self.responses == 2 else 0
        self.answer = b""
        self.late: deque[tuple[float, socket.socket, bytes]] = deque()
        if self.responses is not None:
            packet = p.Publish(RESPONSES, paper.PAYLOAD, self.responses, packet_id=7 if self.responses else 0)
            self.answer = p.encode(packet)

    def query(self) -> bytes:
        n, packet_id = self.all.n, int.from_bytes(self.id, "big")
        if self.responses is not None:
            return p.encode(p.Publish(paper.TOPIC, paper.PAYLOAD, 2, packet_id=packet_id))
        if self.reading == "unmodified":
            return p.encode(p.Publish(f"$e2e/{n}/{paper.TOPIC}", paper.PAYLOAD, 2, packet_id=packet_id))
        waited = {"first": 0, "half": max(1, n // 2), "all": n}[self.reading]
        return p.encode(p.Publish(paper.TOPIC, paper.PAYLOAD, 3, packet_id=packet_id, waited=waited))

    def start(self) -> None:
        data = self.query()
        cpu = time.thread_time_ns()
        self.started = time.perf_counter()
        self.all.publisher.sendall(data)
        self._count_sent(data, 1, cpu)

    def _count_sent(self, data: bytes, packets: int, cpu: int) -> None:
        trial = self.trial
        trial.sent += packets
        trial.messages += packets
        trial.sent_bytes += len(data)
        trial.cpu += (time.thread_time_ns() - cpu) / 1e9

    def at_publisher(self) -> None:
        cpu = time.thread_time_ns()
        out, trial = [], self.trial
        for packet in self.all.receive(self.all.publisher.fileno(), self.all.publisher):
            now = time.perf_counter() - self.started
            trial.received += 1
            trial.messages += 1
            trial.received_bytes += len(packet)
            kind, packet_id = packet[0] & 0xF0, packet[2:4]
            if kind == 0x50:
                if self.responses is None:
                    trial.end_to_end = now
                out.append(bytes((0x66 if packet[0] == 0x56 else 0x62, 2)) + packet_id)
            elif kind == 0x70:
                trial.completion = now
                self.left_handshakes -= 1
            elif kind == 0x30:
                self.left_responses -= 1
                if not self.left_responses:
                    trial.end_to_end = now
                if packet[0] & 6:
                    out.append(b"\x50\x02" + packet[5:7])
            elif kind == 0x60:
                out.append(b"\x70\x02" + packet_id)
                self.left_releases -= 1
        data = b"".join(out)
        if data:
            self.all.publisher.sendall(data)
        self._count_sent(data, len(out), cpu)

    def at_subscriber(self, fd: int, sock: socket.socket) -> None:
        out, trial = [], self.trial
        for packet in self.all.receive(fd, sock):
            trial.messages += 1
            kind = packet[0] & 0xF0
            if kind == 0x30:
                out.append((b"\x56\x02" if packet[0] & 6 == 6 else b"\x50\x02") + packet[5:7])
                if self.answer:
                    out.append(self.answer)
            elif kind == 0x60:
                out.append(bytes((0x76 if packet[0] == 0x66 else 0x70, 2)) + packet[2:4])
                self.left_handshakes -= 1
            elif kind == 0x50:
                out.append(b"\x62\x02" + packet[2:4])
            elif kind == 0x70:
                self.left_handshakes -= 1
        trial.messages += len(out)
        if out and fd in self.all.slow:
            self.late.append((time.perf_counter() + self.all.pause, sock, b"".join(out)))
        elif out:
            sock.sendall(b"".join(out))
        self.answer_late()

    def patience(self) -> float:
        """Seconds until a slow subscriber answers, `TIMEOUT` without one."""
        return max(0.0, self.late[0][0] - time.perf_counter()) if self.late else TIMEOUT

    def answer_late(self) -> bool:
        """Let the slow subscribers answer whose time has come; is anybody slow at all?"""
        waited = bool(self.late)
        while self.late and self.late[0][0] <= time.perf_counter():
            _, sock, data = self.late.popleft()
            sock.sendall(data)
        return waited

    def over(self) -> bool:
        return not (self.left_responses or self.left_handshakes or self.left_releases)

"""Load for a broker, lean enough that the broker is the slower side: raw sockets, packets of fixed size, one thread.

Used by the benchmark and by the experiments of the study `emqtt`; whichever broker listens, the load is the same.
"""

from __future__ import annotations

import select
import socket
import time

import numpy as np
from numpy.typing import NDArray

from voicewire.mqtt import packets as p

__all__ = [
    "attach",
    "exactly",
    "latency",
    "paced",
    "throughput",
    "topic_names",
]

CHUNK = 1 << 20
TIMEOUT = 60.0


def attach(port: int, client_id: str, *topics: str, qos: int = 0, host: str = "127.0.0.1") -> socket.socket:
    """Connect, and subscribe to the `topics` if there are any.

    Parameters
    ----------
    port : int
        The broker's.
    client_id : str
        Whose name to use.
    *topics : str
        Topic filters.
    qos : int
        Of the subscription.
    host : str
        The broker's address.

    Returns
    -------
    socket.socket
        Blocking, without Nagle's delay; CONNACK and SUBACK have been taken.

    Raises
    ------
    OSError
        If the broker cannot be reached, or closes.

    Examples
    --------
    >>> from voicewire.mqtt import BrokerThread
    >>> with BrokerThread() as broker, attach(broker.port, "a", "t") as ear, attach(broker.port, "b") as mouth:
    ...     mouth.sendall(p.encode(p.Publish("t", b"x")))
    ...     exactly(ear, 6)
    b'0\\x04\\x00\\x01tx'
    """
    sock = socket.create_connection((host, port), TIMEOUT)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.sendall(p.encode(p.Connect(client_id)))
    exactly(sock, 4)
    if topics:
        sock.sendall(p.encode(p.Subscribe(1, tuple((topic, qos) for topic in topics))))
        exactly(sock, 4 + len(topics))
    return sock


def exactly(sock: socket.socket, n: int) -> bytes:
    """Receive exactly `n` bytes."""
    data = bytearray()
    while len(data) < n:
        more = sock.recv(n - len(data))
        if not more:
            raise ConnectionError("the broker closed the connection")
        data += more
    return bytes(data)


def topic_names(count: int) -> list[str]:
    """Name the topics of the load, all equally long."""
    if not 1 <= count <= 36:
        raise ValueError(f"{count} topics; 1 to 36 have names of one length")
    return [f"bench/{c}" for c in "x0123456789abcdefghijklmnopqrstuvwyz"[:count]]


class _Publisher:
    """Keeps `window` messages on the way until `messages` are done; one topic follows the other, in turn."""

    def __init__(
        self, sock: socket.socket, qos: int, messages: int, payload: int, window: int, topics: list[str]
    ) -> None:
        self.sock = sock
        self.qos = qos
        self.left = messages
        self.outstanding = 0
        self.window = window
        each = [p.encode(p.Publish(t, b"x" * payload, qos, packet_id=1 if qos else 0)) for t in topics]
        self.size = len(each[0])
        turns = max(1, min(messages, 32768 if qos else 4096) // len(each))
        count = turns * len(each)
        block = np.tile(np.frombuffer(b"".join(each), np.uint8).reshape(len(each), self.size), (turns, 1))
        if qos:
            at = self.size - payload - 2
            ids = np.arange(1, count + 1)
            block[:, at], block[:, at + 1] = ids >> 8, ids & 255
        self.block = memoryview(block.tobytes())
        self.count = count
        self.next = 0
        self.out = bytearray()
        self.part = memoryview(b"")
        self.rest = b""

    def want_write(self) -> bool:
        return bool(self.out or self.part or (self.left and self.outstanding < self.window))

    def write(self) -> None:
        if self.out:
            sent = self.sock.send(self.out)
            del self.out[:sent]
            return
        if not self.part:
            n = min(self.left, self.window - self.outstanding, self.count - self.next)
            self.part = self.block[self.next * self.size : (self.next + n) * self.size]
            self.next = (self.next + n) % self.count
            self.left -= n
            self.outstanding += n if self.qos else 0
        self.part = self.part[self.sock.send(self.part) :]

    def read(self) -> None:
        data = self.rest + _recv(self.sock)
        whole = len(data) & ~3
        self.rest = data[whole:]
        answers = np.frombuffer(data[:whole], np.uint8).reshape(-1, 4)
        final = 0x40 if self.qos == 1 else 0x70
        self.outstanding -= int(np.count_nonzero(answers[:, 0] == final))
        if self.qos == 2:
            release = answers[answers[:, 0] == 0x50].copy()
            release[:, 0] = 0x62
            if self.part:  # never between the halves of a message
                self._finish_part()
            self.out += release.tobytes()

    def _finish_part(self) -> None:
        self.sock.setblocking(True)
        self.sock.sendall(self.part)
        self.sock.setblocking(False)
        self.part = memoryview(b"")


class _Subscriber:
    """Acknowledges what comes and counts it."""

    def __init__(self, sock: socket.socket, qos: int, size: int, payload: int) -> None:
        self.sock = sock
        self.qos = qos
        self.size = size
        self.at = size - payload - 2
        self.rest = b""
        self.bytes = 0
        self.messages = 0
        self.out = bytearray()

    def read(self) -> None:
        if not self.qos:
            self.bytes += len(_recv(self.sock))
            self.messages = self.bytes // self.size
            return
        data = self.rest + _recv(self.sock)
        pos, n, size, at = 0, len(data), self.size, self.at
        answers = []
        while pos < n:
            if data[pos] == 0x62:
                if pos + 4 > n:
                    break
                answers.append(b"\x70\x02" + data[pos + 2 : pos + 4])
                pos += 4
                self.messages += 1
            else:
                if pos + size > n:
                    break
                answers.append((b"\x40\x02" if self.qos == 1 else b"\x50\x02") + data[pos + at : pos + at + 2])
                pos += size
                self.messages += self.qos == 1
        self.rest = data[pos:]
        self.out += b"".join(answers)

    def write(self) -> None:
        sent = self.sock.send(self.out)
        del self.out[:sent]


def _recv(sock: socket.socket) -> bytes:
    data = sock.recv(CHUNK)
    if not data:
        raise ConnectionError("the broker closed the connection")
    return data


class _Ends:
    """One publisher, some subscribers, and what each of them waits for."""

    def __init__(
        self, port: int, qos: int, messages: int, *, subscribers: int, payload: int, window: int, topics: int
    ) -> None:
        names = topic_names(topics)
        receivers = [attach(port, f"sub{i}", *names, qos=qos) for i in range(subscribers)]
        self.publisher = _Publisher(attach(port, "pub"), qos, messages, payload, window, names)
        self.sinks = {s.fileno(): _Subscriber(s, qos, self.publisher.size, payload) for s in receivers}
        self.sockets = [self.publisher.sock, *receivers]
        self._poll = select.epoll()
        self._writing: set[int] = set()
        for sock in self.sockets:
            sock.setblocking(False)
            self._poll.register(sock.fileno(), select.EPOLLIN)

    def __enter__(self) -> _Ends:
        return self

    def __exit__(self, *_: object) -> None:
        self._poll.close()
        for sock in self.sockets:
            sock.close()

    def step(self, seconds: float) -> bool:
        """Send and take what can be; false if for `seconds` nothing could."""
        publisher_fd = self.publisher.sock.fileno()
        _interest(self._poll, self._writing, publisher_fd, self.publisher.want_write())
        if seconds < 1:  # the epoll object is a descriptor itself; unlike its own, select's timeout has microseconds
            select.select([self._poll], [], [], seconds)
        events = self._poll.poll(seconds if seconds >= 1 else 0)
        for fd, event in events:
            end: _Publisher | _Subscriber = self.publisher if fd == publisher_fd else self.sinks[fd]
            if event & select.EPOLLIN:
                end.read()
            if event & select.EPOLLOUT:
                end.write()
            if fd != publisher_fd:
                _interest(self._poll, self._writing, fd, bool(end.out))
        return bool(events)

    def arrived(self) -> int:
        """How many messages every subscriber has."""
        return min(s.messages for s in self.sinks.values())


def throughput(
    port: int, qos: int, messages: int, *, subscribers: int = 1, payload: int = 64, window: int = 500, topics: int = 1
) -> float:
    """Send `messages` as fast as the broker takes them.

    Parameters
    ----------
    port : int
        The broker's port on 127.0.0.1.
    qos : int
        0, 1 or 2, on both sides.
    messages : int
        How many.
    subscribers : int
        How many receive each message.
    payload : int
        Bytes of each.
    window : int
        QoS 1 and 2: messages on the way at once.
    topics : int
        Each message goes to the next of so many topics, and every subscriber listens to all.

    Returns
    -------
    float
        Seconds until every subscriber has them all.

    Raises
    ------
    TimeoutError
        If messages are missing after a minute without any.

    Examples
    --------
    >>> from voicewire.mqtt import BrokerThread
    >>> with BrokerThread() as broker:
    ...     throughput(broker.port, 1, 100, subscribers=2) > 0
    True
    """
    with _Ends(port, qos, messages, subscribers=subscribers, payload=payload, window=window, topics=topics) as ends:
        start = time.perf_counter()
        while ends.arrived() < messages or ends.publisher.outstanding:
            if not ends.step(TIMEOUT):
                raise TimeoutError("the broker has lost messages")
        return time.perf_counter() - start


def paced(
    port: int, qos: int, messages: int, rate: float, *, payload: int = 64, topics: int = 10, seed: int = 1
) -> NDArray[np.float64]:
    """Send single messages at random moments (a Poisson process).

    Parameters
    ----------
    port : int
        The broker's port on 127.0.0.1.
    qos : int
        0, 1 or 2, on both sides.
    messages : int
        How many.
    rate : float
        Messages per second on average.
    payload : int
        Bytes of each.
    topics : int
        Each message goes to the next of so many.
    seed : int
        Of the moments.

    Returns
    -------
    ndarray of float, shape (messages,)
        Seconds from the moment at which a message was due to that at which the subscriber has it (at QoS 2: its
        PUBREL). A broker that falls behind pays for every message that had to wait.

    Raises
    ------
    TimeoutError
        If messages are missing after a minute without any.

    Examples
    --------
    >>> from voicewire.mqtt import BrokerThread
    >>> with BrokerThread() as broker:
    ...     paced(broker.port, 0, 10, rate=5000.0).shape
    (10,)
    """
    due = np.cumsum(np.random.default_rng(seed).exponential(1 / rate, messages))
    took = np.empty(messages)
    with _Ends(port, qos, messages, subscribers=1, payload=payload, window=10_000, topics=topics) as ends:
        ends.publisher.left = 0
        asked = done = 0
        start = time.perf_counter()
        while done < messages or ends.publisher.outstanding:
            now = time.perf_counter() - start
            ready = int(np.searchsorted(due, now, "right"))
            ends.publisher.left += ready - asked
            asked = ready
            wait = TIMEOUT if asked == messages else max(0.0, due[asked] - now)
            if not ends.step(wait) and asked == messages:
                raise TimeoutError("the broker has lost messages")
            arrived = ends.arrived()
            took[done:arrived] = time.perf_counter() - start - due[done:arrived]
            done = arrived
    return took


def _interest(poll: select.epoll, writing: set[int], fd: int, wants: bool) -> None:
    if wants != (fd in writing):
        poll.modify(fd, select.EPOLLIN | (select.EPOLLOUT if wants else 0))
        (writing.add if wants else writing.discard)(fd)


def latency(port: int, samples: int, *, payload: int = 64) -> NDArray[np.float64]:
    """Send single messages and wait for each.

    Parameters
    ----------
    port : int
        The broker's port on 127.0.0.1.
    samples : int
        How many.
    payload : int
        Bytes of each.

    Returns
    -------
    ndarray of float, shape (samples,)
        Seconds from sending to receiving.

    Raises
    ------
    ConnectionError
        If the broker closes.

    Examples
    --------
    >>> from voicewire.mqtt import BrokerThread
    >>> with BrokerThread() as broker:
    ...     bool((latency(broker.port, 5) > 0).all())
    True
    """
    receiver = attach(port, "sub", "bench/x")
    publisher = attach(port, "pub")
    message = p.encode(p.Publish("bench/x", b"x" * payload))
    out = np.empty(samples)
    for i in range(samples):
        start = time.perf_counter()
        publisher.sendall(message)
        exactly(receiver, len(message))
        out[i] = time.perf_counter() - start
        time.sleep(0.0005)
    receiver.close()
    publisher.close()
    return out

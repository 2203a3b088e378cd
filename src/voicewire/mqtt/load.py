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

CHUNK = 1 << 20
TIMEOUT = 60.0


def attach(
    port: int, client_id: str, topic: str | None = None, qos: int = 0, *, host: str = "127.0.0.1"
) -> socket.socket:
    """Connect, and subscribe to `topic` if there is one; returns the blocking socket."""
    sock = socket.create_connection((host, port), TIMEOUT)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.sendall(p.encode(p.Connect(client_id)))
    exactly(sock, 4)
    if topic is not None:
        sock.sendall(p.encode(p.Subscribe(1, ((topic, qos),))))
        exactly(sock, 5)
    return sock


def exactly(sock: socket.socket, n: int) -> bytes:
    """Receive exactly `n` bytes.

    Raises
    ------
    ConnectionError
        If the other side closes before.
    """
    data = bytearray()
    while len(data) < n:
        more = sock.recv(n - len(data))
        if not more:
            raise ConnectionError("the broker closed the connection")
        data += more
    return bytes(data)


class _Publisher:
    """Keeps `window` messages on the way until `messages` are done."""

    def __init__(self, sock: socket.socket, qos: int, messages: int, payload: int, window: int) -> None:
        self.sock = sock
        self.qos = qos
        self.left = messages
        self.outstanding = 0
        self.window = window
        packet_id = 1 if qos else 0
        self.size = len(p.encode(p.Publish("bench/x", b"x" * payload, qos, packet_id=packet_id)))
        count = min(messages, 32768 if qos else 4096)
        one = p.encode(p.Publish("bench/x", b"x" * payload, qos, packet_id=packet_id))
        block = np.tile(np.frombuffer(one, np.uint8), (count, 1))
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


def throughput(
    port: int, qos: int, messages: int, *, subscribers: int = 1, payload: int = 64, window: int = 500
) -> float:
    """Send `messages` as fast as the broker takes them; return the seconds until every subscriber has them all.

    Parameters
    ----------
    port : int
        The broker's port on 127.0.0.1.
    qos : int
        0, 1 or 2, on both sides.
    messages, payload : int
        How many, and of how many bytes.
    subscribers : int
        How many receive each message.
    window : int
        QoS 1 and 2: messages on the way at once.

    Raises
    ------
    TimeoutError
        If messages are missing after a minute without any.
    """
    receivers = [attach(port, f"sub{i}", "bench/x", qos) for i in range(subscribers)]
    publisher = _Publisher(attach(port, "pub"), qos, messages, payload, window)
    sinks = {s.fileno(): _Subscriber(s, qos, publisher.size, payload) for s in receivers}
    poll = select.epoll()
    pub_fd = publisher.sock.fileno()
    for sock in [publisher.sock, *receivers]:
        sock.setblocking(False)
        poll.register(sock.fileno(), select.EPOLLIN)
    writing: set[int] = set()
    start = time.perf_counter()
    try:
        while True:
            _interest(poll, writing, pub_fd, publisher.want_write())
            events = poll.poll(TIMEOUT)
            if not events:
                raise TimeoutError("the broker has lost messages")
            for fd, event in events:
                end: _Publisher | _Subscriber = publisher if fd == pub_fd else sinks[fd]
                if event & select.EPOLLIN:
                    end.read()
                if event & select.EPOLLOUT:
                    end.write()
                if fd != pub_fd:
                    _interest(poll, writing, fd, bool(end.out))
            if all(s.messages >= messages for s in sinks.values()) and not publisher.outstanding:
                return time.perf_counter() - start
    finally:
        poll.close()
        for sock in [publisher.sock, *receivers]:
            sock.close()


def _interest(poll: select.epoll, writing: set[int], fd: int, wants: bool) -> None:
    if wants != (fd in writing):
        poll.modify(fd, select.EPOLLIN | (select.EPOLLOUT if wants else 0))
        (writing.add if wants else writing.discard)(fd)


def latency(port: int, samples: int, *, payload: int = 64) -> NDArray[np.float64]:
    """Send single messages and wait for each; return the seconds from sending to receiving (shape: samples)."""
    receiver = attach(port, "sub", "bench/x", 0)
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

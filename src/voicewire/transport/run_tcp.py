"""One cell over bare TCP: a sender, a receiver, and what both ends' kernels counted.

Explained in ``notebooks/transport/03_tcp_against_mqtt.ipynb``.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from voicewire.testbed import counters
from voicewire.testbed.counters import TcpInfo
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.tcp_proxy import clamp
from voicewire.transport import paper
from voicewire.transport.experiment_grid import Cell
from voicewire.transport.linear_topology import Bed
from voicewire.transport.payloads import Payload

__all__ = ["run_tcp", "wait_acknowledged"]

Row = dict[str, Any]
TIMEOUT = 60.0


def ends_row(prefix: str, info: TcpInfo) -> Row:
    """The columns of one end of a connection."""
    return {
        f"{prefix}_segments": info.segments,
        f"{prefix}_header": info.header_bytes,
        f"{prefix}_payload": info.payload_out + info.payload_in,
        f"{prefix}_retransmitted": info.retransmitted,
    }


def wait_acknowledged(connection: socket.socket, passive: bool = False) -> TcpInfo:
    """Wait until everything sent is acknowledged, so that one message never holds up the next (Nagle)."""
    limit = time.monotonic() + TIMEOUT
    while True:
        info = counters.read(connection, passive=passive)
        if info.unacked == 0:
            return info
        if time.monotonic() > limit:
            raise TestbedError(f"no acknowledgement within {TIMEOUT:g} s")
        time.sleep(0.0005)


class _Receiver(threading.Thread):
    """Accepts connections one after the other; reports (time of completion, counters) for each message."""

    def __init__(self, bed: Bed, cell: Cell, payload: Payload) -> None:
        super().__init__(name="voicewire-receiver", daemon=True)
        self.cell, self.payload = cell, payload
        self.results: queue.Queue[tuple[float, TcpInfo] | Exception] = queue.Queue()
        with bed.on("receiver"):
            self.server = socket.socket()
        self.server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if bed.kind == "proxy":
            clamp(self.server)
        self.server.bind((bed.listen_address("receiver"), 0))
        self.server.listen(16)
        self.port: int = self.server.getsockname()[1]
        self.ended = threading.Event()

    def run(self) -> None:
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            with connection:
                try:
                    self._fresh(connection) if self.cell.session == "fresh" else self._stay(connection)
                except Exception as error:
                    self.results.put(error)

    def _fresh(self, connection: socket.socket) -> None:
        connection.settimeout(TIMEOUT)
        data = bytearray()
        while piece := connection.recv(1 << 18):
            data += piece
        self.payload.take(bytes(data))
        done = time.perf_counter()
        connection.shutdown(socket.SHUT_WR)
        self.results.put((done, counters.settled(connection, passive=True, timeout=TIMEOUT)))

    def _stay(self, connection: socket.socket) -> None:
        whole = self.payload.wire_size * (paper.LOOP if self.cell.session == "loop" else 1)
        data = bytearray()
        while piece := connection.recv(1 << 18):
            data += piece
            if len(data) >= whole:
                if self.cell.session != "loop":
                    self.payload.take(bytes(data))
                self.results.put((time.perf_counter(), counters.read(connection, passive=True)))
                data.clear()
        connection.shutdown(socket.SHUT_WR)
        if self.cell.session == "loop":
            self.results.put((time.perf_counter(), counters.settled(connection, passive=True, timeout=TIMEOUT)))

    def next(self) -> tuple[float, TcpInfo]:
        result = self.results.get(timeout=TIMEOUT)
        if isinstance(result, Exception):
            raise result
        return result

    def close(self) -> None:
        # a plain close would leave the thread waiting in accept
        _shut(self.server)
        self.server.close()
        self.join(timeout=5)


def _shut(connection: socket.socket) -> None:
    """Shut both directions down, if there is still something to shut."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def run_tcp(bed: Bed, cell: Cell, progress: Callable[[], None] = lambda: None) -> list[Row]:
    """Run one cell; one row for each iteration.

    Columns: `time_ms` (start to complete receipt), `session_ms` (start to the sender's connection closed; persistent:
    to the acknowledgement), then segments, header bytes, payload bytes and retransmissions of both ends.
    """
    rng = np.random.default_rng(cell.seed)
    runner = {"fresh": _fresh, "persistent": _persistent, "loop": _loop}[cell.session]
    with Payload(cell.kind, cell.size, rng) as payload:
        receiver = _Receiver(bed, cell, payload)
        receiver.start()
        try:
            return runner(bed, cell, payload, receiver, progress)
        finally:
            receiver.close()


def _connect(bed: Bed, address: tuple[str, int]) -> socket.socket:
    with bed.on("sender"):
        return socket.create_connection(address, timeout=TIMEOUT)


def _finish(connection: socket.socket) -> TcpInfo:
    connection.shutdown(socket.SHUT_WR)
    while connection.recv(4096):
        pass
    return counters.settled(connection, passive=False, timeout=TIMEOUT)


def _fresh(bed: Bed, cell: Cell, payload: Payload, receiver: _Receiver, progress: Callable[[], None]) -> list[Row]:
    rows = []
    address = bed.route("sender", "receiver", receiver.port)
    for i in range(cell.iterations):
        start = time.perf_counter()
        data = payload.make()
        with _connect(bed, address) as connection:
            connection.sendall(data)
            sent = _finish(connection)
            end = time.perf_counter()
        done, got = receiver.next()
        rows.append(_row(i, start, done, end, sent, got))
        progress()
    return rows


def _row(i: int, start: float, done: float, end: float, sent: TcpInfo, got: TcpInfo) -> Row:
    row: Row = {"iteration": i, "time_ms": 1e3 * (done - start), "session_ms": 1e3 * (end - start)}
    return row | ends_row("sender", sent) | ends_row("receiver", got)


def _persistent(bed: Bed, cell: Cell, payload: Payload, receiver: _Receiver, progress: Callable[[], None]) -> list[Row]:
    rows = []
    address = bed.route("sender", "receiver", receiver.port)
    with _connect(bed, address) as connection:
        before = counters.read(connection, passive=False)
        got_before = None
        for i in range(-1, cell.iterations):  # the first message warms the connection up and is not counted
            start = time.perf_counter()
            connection.sendall(payload.make())
            after = wait_acknowledged(connection)
            end = time.perf_counter()
            done, got = receiver.next()
            if got_before is not None:
                rows.append(_row(i, start, done, end, after - before, got - got_before))
                progress()
            before, got_before = after, got
        _finish(connection)
    return rows


def _loop(bed: Bed, cell: Cell, payload: Payload, receiver: _Receiver, progress: Callable[[], None]) -> list[Row]:
    rows = []
    address = bed.route("sender", "receiver", receiver.port)
    gap = cell.gap * bed.spec.rtt
    for i in range(cell.iterations):
        messages = [payload.make() for _ in range(paper.LOOP)]
        start = time.perf_counter()
        with _connect(bed, address) as connection:
            for k, message in enumerate(messages):
                connection.sendall(message)
                sleep_until(start + (k + 1) * gap)
            sent = _finish(connection)
            end = time.perf_counter()
        done, _ = receiver.next()
        _, got = receiver.next()
        rows.append(_row(i, start, done, end, sent, got))
        progress()
    return rows


def sleep_until(moment: float) -> None:
    """Sleep until a moment of `time.perf_counter`, if it lies ahead."""
    left = moment - time.perf_counter()
    if left > 0:
        time.sleep(left)

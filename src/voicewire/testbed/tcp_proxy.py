"""A delay on loopback for those without privileges: a TCP relay that hands everything on late.

The relay cannot delay the handshake with itself, so it holds back what follows by one whole round trip
instead: a fresh connection's first byte then arrives 1.5 round trips after ``connect``, as it would over a
real path. Headers are those of the loopback connection; `clamp` gives it the segment size of Ethernet.

Explained in ``notebooks/transport/02_measuring_honestly.ipynb``.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from types import TracebackType
from typing import TypeAlias

from voicewire.testbed.errors import TestbedError

__all__ = ["ETHERNET_MSS", "Air", "DelayProxy", "clamp"]

ETHERNET_MSS = 1460
_CHUNK = 1 << 16
_Late: TypeAlias = "asyncio.Queue[tuple[float, bytes]]"


def clamp(connection: socket.socket, mss: int = ETHERNET_MSS) -> None:
    """Give a socket, before it connects or listens, the segment size that Ethernet would (loopback's is 65 483 B)."""
    if hasattr(socket, "TCP_MAXSEG"):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, mss)


class Air:
    """One medium that several relays share: whatever one of them passes on, the others wait for."""

    def __init__(self, rate: float, crossings: int = 1) -> None:
        if not 0 < rate < float("inf"):
            raise ValueError(f"rate must be positive, not {rate}")
        if crossings < 1:
            raise ValueError(f"crossings must be 1 or more, not {crossings}")
        self.rate, self.crossings = rate, crossings
        self._free = 0.0
        self._lock = threading.Lock()

    def take(self, octets: int, now: float) -> float:
        """Occupy the medium with some bytes as soon as it is free."""
        with self._lock:
            self._free = max(self._free, now) + 8 * octets * self.crossings / self.rate
            return self._free


class DelayProxy:
    """Relay from a port of its own to `target`, half a round trip late in each direction.

    The socket on which it listens is clamped, so segments have Ethernet's size in both directions.

    Parameters
    ----------
    target : (str, int)
        Where a server listens, on loopback.
    delay : float
        One-way delay, s.
    rate : float or None
        Bits per second of each direction of each connection, None for no limit.
    air : Air, optional
        A medium that it shares with other relays, in both directions; it takes the place of `rate`.

    Attributes
    ----------
    address : (str, int)
        Where clients connect.

    Examples
    --------
    >>> with DelayProxy(("127.0.0.1", 1883), delay=0.01) as proxy:
    ...     proxy.address[0]
    '127.0.0.1'
    """

    def __init__(
        self, target: tuple[str, int], delay: float, rate: float | None = None, air: Air | None = None
    ) -> None:
        if not 0 <= delay <= 10:
            raise ValueError(f"delay must be between 0 and 10 s, not {delay}")
        if rate is not None and not rate > 0:
            raise ValueError(f"rate must be positive or None, not {rate}")
        self.target, self.delay, self.rate, self.air = target, delay, rate, air
        self._socket = socket.socket()
        clamp(self._socket)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen(64)
        self.address: tuple[str, int] = self._socket.getsockname()
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,), name="voicewire-proxy", daemon=True)
        self._thread.start()
        if not started.wait(10):
            raise TestbedError("the delay proxy did not start")

    def _run(self, started: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, sock=self._socket))
        self._loop.call_soon(started.set)
        try:
            self._loop.run_forever()
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*self._tasks, return_exceptions=True))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        # The far end's accept: SYN and SYN-ACK each need half a round trip. From then on every byte of the
        # client is 1 RTT late already, which is exactly when it could first have sent it.
        opened = self._loop.time() + 2 * self.delay
        onward = None
        to_server: _Late = asyncio.Queue()
        to_client: _Late = asyncio.Queue()
        helpers = [asyncio.ensure_future(self._fetch(reader, to_server, opened))]
        try:
            await asyncio.sleep(2 * self.delay)
            with contextlib.suppress(OSError):
                far_reader, onward = await asyncio.open_connection(*self.target)
                _no_delay(writer)
                _no_delay(onward)
                helpers.append(asyncio.ensure_future(self._fetch(far_reader, to_client, opened)))
                await asyncio.gather(
                    self._deliver(to_server, onward), self._deliver(to_client, writer), return_exceptions=True
                )
        except asyncio.CancelledError:
            pass
        finally:
            self._tasks.discard(task)
            for helper in helpers:
                helper.cancel()
            for end in (writer, onward):
                if end is not None:
                    end.close()

    async def _fetch(self, source: asyncio.StreamReader, late: _Late, opened: float) -> None:
        """Read at once and note when each piece is due; the line's rate is kept by a clock of its own."""
        free = 0.0
        while True:
            try:
                data = await source.read(_CHUNK)
            except OSError:
                data = b""
            now = max(self._loop.time(), opened)
            if self.air is not None:
                free = self.air.take(len(data), now)
            else:
                free = max(now, free) + (8 * len(data) / self.rate if self.rate else 0.0)
            late.put_nowait((free + self.delay, data))
            if not data:
                return

    async def _deliver(self, late: _Late, sink: asyncio.StreamWriter) -> None:
        while True:
            due, data = await late.get()
            await asyncio.sleep(max(0.0, due - self._loop.time()))
            if not data:
                if sink.can_write_eof():
                    sink.write_eof()
                return
            sink.write(data)
            await sink.drain()

    def close(self) -> None:
        """Stop relaying and close every connection."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout=5)

    def __enter__(self) -> DelayProxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _no_delay(writer: asyncio.StreamWriter) -> None:
    writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

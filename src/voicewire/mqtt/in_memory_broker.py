"""A broker without sockets, threads or a system's clock: clients and broker live in one program, or in one page.

The broker is :class:`~voicewire.mqtt.broker.Broker` itself, with the connections that serve sockets. Only what lies
around it is other: its transports are two buffers, and its event loop has a clock that moves when it is told to.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
import ssl
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from voicewire.mqtt import packets as p
from voicewire.mqtt.broker import Broker
from voicewire.mqtt.config import Config
from voicewire.mqtt.decoder import Decoder
from voicewire.mqtt.raw_socket_client import Wire
from voicewire.mqtt.serving.connection import Connection

__all__ = ["Line", "MemoryBroker"]

CHUNK = 1 << 18
"""Bytes that a connection is handed at a time, as asyncio's sockets do."""
T = TypeVar("T")


class _Loop:
    """As much of an event loop as the broker needs; it runs inside a call, also where another loop is running."""

    def __init__(self) -> None:
        self._now = 1.0  # 0 stands for "never" in a connection
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._number = itertools.count()
        self._me: Any = self  # for asyncio, which wants a whole event loop

    def time(self) -> float:
        return self._now

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Any = None) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self._me, context)
        self._ready.append(handle)
        return handle

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self._me, context)
        heapq.heappush(self._timers, (when, next(self._number), handle))
        return handle

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """A cancelled one is passed over when its time has come."""

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self._me)

    def run_in_executor(self, executor: object, do: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        """Do it at once: there is nobody to do it beside."""
        future = self.create_future()
        try:
            future.set_result(do(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    def create_task(self, coro: Any, **more: Any) -> asyncio.Task[Any]:
        return asyncio.Task(coro, loop=self._me, **more)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        logging.getLogger("asyncio").error(context.get("message", "an exception"), exc_info=context.get("exception"))

    def advance(self, seconds: float, enough: Callable[[], bool] = lambda: False) -> None:
        """Do what is due now and within so many seconds of the loop's own clock, or until it is `enough`."""
        end = self._now + seconds
        outer = asyncio._get_running_loop()
        task = asyncio.current_task(outer) if outer else None
        # From Python 3.14 on a thread has one current task, not each of its loops: the outer one is left meanwhile.
        if outer and task:
            asyncio._leave_task(outer, task)
        asyncio._set_running_loop(self._me)
        try:
            while not enough():
                if not self._ready:
                    if not self._timers or self._timers[0][0] > end:
                        self._now = end
                        return
                    self._now = max(self._now, self._timers[0][0])
                    while self._timers and self._timers[0][0] <= self._now:
                        self._ready.append(heapq.heappop(self._timers)[2])
                for _ in range(len(self._ready)):
                    handle = self._ready.popleft()
                    if not handle.cancelled():
                        handle._run()
        finally:
            asyncio._set_running_loop(outer)
            if outer and task:
                asyncio._enter_task(outer, task)

    def finish(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end, and return what it does."""
        task: asyncio.Task[T] = self.create_task(coroutine)
        self.advance(60.0, task.done)
        return task.result()


class _Transport(asyncio.Transport):
    """The broker's end of a line: `inward` is on its way to the broker, `outward` to the client."""

    def __init__(self, loop: _Loop, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self.loop, self.protocol = loop, protocol
        self.inward, self.outward = bytearray(), bytearray()
        self.high, self.low = 65536, 16384
        self.reading = True
        self.paused = False
        self.closing = self.ended = False  # the broker's side
        self.left: str = ""  # how the client went
        self._due = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self.high = 65536 if high is None else high
        self.low = self.high // 4 if low is None else low

    def get_write_buffer_size(self) -> int:
        return len(self.outward)

    def is_closing(self) -> bool:
        return self.closing

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True
        self.deliver_soon()

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        if self.left:
            self._end(BrokenPipeError("the client has gone"))
        elif not self.ended:
            self.outward += data
            if len(self.outward) > self.high and not self.paused:
                self.paused = True
                self.protocol.pause_writing()

    def close(self) -> None:
        self.closing = True
        if not self.outward or self.left:
            self._end(None)

    def abort(self) -> None:
        self._end(None)

    def _end(self, error: Exception | None) -> None:
        self.closing = True
        if not self.ended:
            self.ended = True
            self.loop.call_soon(self.protocol.connection_lost, error)

    def deliver_soon(self) -> None:
        """Hand the broker what has come, in a turn of its own."""
        if not self._due:
            self._due = True
            self.loop.call_soon(self._deliver)

    def _deliver(self) -> None:
        self._due = False
        if self.closing or not self.reading:
            return
        if self.left == "reset":
            self._end(ConnectionResetError("the client has reset the connection"))
        elif self.inward:
            data, self.inward = bytes(self.inward[:CHUNK]), self.inward[CHUNK:]
            self.deliver_soon()
            self.protocol.data_received(data)
        elif self.left and not self.protocol.eof_received():
            self.close()

    def taken(self) -> bytes:
        """Give the client all that waits for it."""
        data, self.outward = bytes(self.outward), bytearray()
        if self.paused and not self.ended:
            self.paused = False
            self.loop.call_soon(self.protocol.resume_writing)
        if self.closing:
            self._end(None)
        return data


class Line:
    """One connection to a `MemoryBroker`, as its client has it; got from :meth:`MemoryBroker.line`.

    Parameters
    ----------
    transport : asyncio.Transport
        The broker's end.

    Examples
    --------
    >>> with MemoryBroker() as broker:
    ...     line = broker.line()
    ...     line.send(bytes.fromhex("10 0d 00 04 4d 51 54 54 04 02 00 00 00 01 61"))
    ...     broker.run()
    ...     line.take().hex(" ")
    '20 02 00 00'
    """

    def __init__(self, transport: _Transport) -> None:
        self._transport = transport
        self.closed = False

    def send(self, data: bytes) -> None:
        """Send bytes; the broker gets them when it runs.

        Parameters
        ----------
        data : bytes
            Whole packets, or any part of them.
        """
        if not self.closed and not self._transport.ended:
            self._transport.inward += data
            self._transport.deliver_soon()

    def take(self) -> bytes | None:
        """Take what has come so far.

        Returns
        -------
        bytes or None
            None once the broker has closed and all has been taken.
        """
        data = b"" if self.closed else self._transport.taken()
        if not data and self._transport.ended:
            self.closed = True
        return None if self.closed and not data else data

    def close(self, reset: bool = False) -> None:
        """Drop the connection, without DISCONNECT.

        Parameters
        ----------
        reset : bool
            What is still on its way to the broker is lost with it.
        """
        if not self.closed:
            self.closed = True
            transport = self._transport
            transport.left = "reset" if reset else "closed"
            if transport.outward:
                transport.outward.clear()
                transport._end(ConnectionResetError("the client has gone"))
            transport.deliver_soon()


class _MemoryWire(Wire):
    """A raw connection over a line: waiting for a packet lets the broker run, and its clock move if nothing is due."""

    def __init__(self, broker: MemoryBroker) -> None:
        self._broker, self._line = broker, broker.line()
        self._decoder = Decoder()
        self._waiting: list[p.Packet] = []

    def close(self) -> None:
        self._line.close()
        self._broker.run()

    def send(self, *things: p.Packet | bytes) -> None:
        self._line.send(b"".join(x if isinstance(x, bytes) else p.encode(x) for x in things))

    def _more(self, timeout: float) -> bytes:
        for seconds in (0.0, timeout):
            self._broker.run(seconds)
            data = self._line.take()
            if data is None or data:
                return data or b""
        raise TimeoutError(f"nothing comes in {timeout:g} s of the broker's clock")


class _Unlistening(Broker):
    """The broker, without a port."""

    async def _listen(self, context: ssl.SSLContext | None) -> None:
        """Open nothing: whoever wants a connection asks for a line."""


class MemoryBroker:
    """A broker in the program itself: no socket, no thread, and a clock that moves only when it is told to.

    Parameters
    ----------
    config : Config, optional
        What the broker may do; host, port and certificate have no meaning here.

    Raises
    ------
    ConfigError, StoreError
        On entering the block, if the store cannot be used.

    Examples
    --------
    >>> with MemoryBroker() as broker:
    ...     broker.run(2.0)
    ...     broker.broker.statistics()["uptime"]
    2
    """

    def __init__(self, config: Config | None = None) -> None:
        self._loop = _Loop()
        self.broker: Broker = _Unlistening(config)

    def __repr__(self) -> str:
        return f"<MemoryBroker, {len(self.broker.connections)} connections, its clock at {self._loop.time():g} s>"

    def __enter__(self) -> MemoryBroker:
        self._loop.finish(self.broker.start())
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.finish(self.broker.stop())
        self._loop.advance(0.0)

    def line(self) -> Line:
        """Open a connection.

        Returns
        -------
        Line
            The client's end.
        """
        connection = Connection(self.broker)
        transport = _Transport(self._loop, connection)
        self._loop.call_soon(connection.connection_made, transport)
        return Line(transport)

    def wire(self) -> Wire:
        """Open a connection that sends and takes packets, as `raw_socket_client.connect` does over a socket.

        Returns
        -------
        Wire
            The client's end.
        """
        return _MemoryWire(self)

    def run(self, seconds: float = 0.0) -> None:
        """Let the broker do what is due.

        Parameters
        ----------
        seconds : float
            By how much its clock moves; 0: only what needs no waiting.

        Raises
        ------
        ValueError
            If time is to go backwards.
        """
        if not seconds >= 0:
            raise ValueError(f"the clock cannot go back by {seconds} s")
        self._loop.advance(seconds)

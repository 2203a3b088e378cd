"""Delay and loss on loopback for datagrams: the counterpart of `tcp_proxy.DelayProxy`, again without privileges.

Explained in ``notebooks/transport/03_tcp_against_mqtt.ipynb``.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from voicewire.testbed.errors import TestbedError

__all__ = ["DatagramProxy"]


class DatagramProxy:
    """Relay datagrams from a port of its own to `target` and back, half a round trip late in each direction.

    Parameters
    ----------
    target : (str, int)
        Where a server has its UDP port, on loopback.
    delay : float
        One-way delay, s.
    loss : float or callable
        Probability that a datagram is lost, independent of all others; or what says so of each, called with whether
        it goes to the server, and its bytes.
    seed : int
        Draws the losses.

    Attributes
    ----------
    address : (str, int)
        Where clients send to.

    Raises
    ------
    ValueError
        If delay or loss is out of range.
    TestbedError
        If it does not start.

    Examples
    --------
    >>> with DatagramProxy(("127.0.0.1", 5683), delay=0.01) as proxy:
    ...     proxy.address[0]
    '127.0.0.1'
    """

    def __init__(
        self, target: tuple[str, int], delay: float, loss: float | Callable[[bool, bytes], bool] = 0.0, seed: int = 1
    ) -> None:
        if not 0 <= delay <= 10:
            raise ValueError(f"delay must be between 0 and 10 s, not {delay}")
        if not callable(loss) and not 0 <= loss < 1:
            raise ValueError(f"loss is a probability in [0, 1), not {loss}")
        self.target, self.delay = target, delay
        draw, share = random.Random(seed), 0.0 if callable(loss) else loss
        self._loses = loss if callable(loss) else lambda forth, data: draw.random() < share
        self.address: tuple[str, int] = ("", 0)
        self._loop = asyncio.new_event_loop()
        self._onward: dict[Any, asyncio.DatagramTransport] = {}
        self._opening: set[asyncio.Task[None]] = set()
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,), name="voicewire-datagrams", daemon=True)
        self._thread.start()
        if not started.wait(10) or not self.address[1]:
            raise TestbedError("the datagram proxy did not start")

    def _run(self, started: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            with contextlib.suppress(OSError):
                opening = self._loop.create_datagram_endpoint(lambda: _Port(self._towards), ("127.0.0.1", 0))
                self._front, _ = self._loop.run_until_complete(opening)
                self.address = self._front.get_extra_info("sockname")
            started.set()
            if self.address[1]:
                self._loop.run_forever()
                for transport in (self._front, *self._onward.values()):
                    transport.abort()
                self._loop.run_until_complete(asyncio.sleep(0))
        finally:
            self._loop.close()

    def _towards(self, data: bytes, client: tuple[str, int]) -> None:
        if self._loses(True, data):
            return
        task = self._loop.create_task(self._forward(data, client, self._loop.time() + self.delay))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _forward(self, data: bytes, client: tuple[str, int], due: float) -> None:
        if client not in self._onward:  # one socket for each client, so that answers find their way back

            def back(answer: bytes, _: tuple[str, int]) -> None:
                if not self._loses(False, answer):
                    self._loop.call_later(self.delay, self._front.sendto, answer, client)

            self._onward[client], _ = await self._loop.create_datagram_endpoint(
                lambda: _Port(back), remote_addr=self.target
            )
        await asyncio.sleep(max(0.0, due - self._loop.time()))
        self._onward[client].sendto(data)

    def close(self) -> None:
        """Stop relaying."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout=5)

    def __enter__(self) -> DatagramProxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Port(asyncio.DatagramProtocol):
    def __init__(self, take: Any) -> None:
        self.take = take

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.take(data, addr)

"""A broker for programs that have no event loop: notebooks, tests, the other studies."""

from __future__ import annotations

import asyncio
import threading
from types import TracebackType

from voicewire.mqtt.broker import Broker
from voicewire.mqtt.config import Config
from voicewire.mqtt.serving.broker_process import START

__all__ = ["BrokerThread"]


class BrokerThread:
    """A broker in a thread of its own, for programs without an event loop.

    Parameters
    ----------
    config : Config, optional
        What it may do; by default it takes a free port of 127.0.0.1.

    Raises
    ------
    RuntimeError, OSError, ConfigError, StoreError
        On entering the block, if it has not started in time, or cannot.

    Examples
    --------
    >>> with BrokerThread(Config(port=0)) as broker:
    ...     broker.port > 0
    True
    """

    broker_class: type[Broker] = Broker
    """A subclass may run another broker."""

    def __init__(self, config: Config | None = None) -> None:
        self._config = config or Config(port=0)
        self._ready = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="voicewire-broker", daemon=True)
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event
        self.broker: Broker
        self.port = 0

    def __repr__(self) -> str:
        return f"<BrokerThread at {self._config.host}:{self.port}>" if self.port else "<BrokerThread, not running>"

    def __enter__(self) -> BrokerThread:
        self._thread.start()
        if not self._ready.wait(START):
            raise RuntimeError(f"the broker has not started within {START:g} s")
        if self._error is not None:
            raise self._error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def statistics(self) -> dict[str, int | str]:
        """Ask the broker for its statistics.

        Returns
        -------
        dict of str to int or str
            As in :meth:`Broker.statistics`.
        """

        async def ask() -> dict[str, int | str]:
            return self.broker.statistics()

        return asyncio.run_coroutine_threadsafe(ask(), self._loop).result()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._error = error
            self._ready.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self.broker = self.broker_class(self._config)
        async with self.broker:
            self.port = self.broker.port
            self._ready.set()
            await self._stop.wait()

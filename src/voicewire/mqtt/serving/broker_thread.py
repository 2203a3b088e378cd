"""A broker for programs that have no event loop: notebooks, tests, the other studies."""

from __future__ import annotations

import asyncio

from voicewire.mqtt.broker import Broker
from voicewire.mqtt.config import Config

__all__ = ["BrokerThread"]


class BrokerThread:
    """A broker in a thread of its own, for programs without an event loop.

    Parameters
    ----------
    config : Config, optional
        What it may do; by default it takes a free port of 127.0.0.1.

    Raises
    ------
    OSError, ConfigError, StoreError
        On entering the block, if it cannot start.

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
        self.broker: Broker
        self.port = 0

    def __repr__(self) -> str:
        return f"<BrokerThread at {self._config.host}:{self.port}>" if self.port else "<BrokerThread, not running>"

    def __enter__(self) -> BrokerThread:
        self.broker = self.broker_class(self._config)
        self.broker.__enter__()
        self.port = self.broker.port
        return self

    def __exit__(self, *about: object) -> None:
        self.broker.__exit__(*about)

    def statistics(self) -> dict[str, int | str]:
        """Ask the broker for its statistics.

        Returns
        -------
        dict of str to int or str
            As in :meth:`Broker.statistics`.
        """

        async def ask() -> dict[str, int | str]:
            return self.broker.statistics()

        return asyncio.run_coroutine_threadsafe(ask(), self.broker.loop).result()

"""Back-pressure: who publishes faster than a subscriber reads is not read from, unless the subscriber has stalled."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from voicewire.mqtt.broker import Broker
    from voicewire.mqtt.session import Session


class Pressure(asyncio.Protocol):
    """What a connection knows of those that wait for it (`waiters`) and those that it waits for (`blockers`)."""

    __slots__ = (
        "blockers", "broker", "closing", "congested", "out_size", "seen", "session", "stall_mark", "stall_timer",
        "stalled", "transport", "waiters",
    )  # fmt: skip

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.transport: asyncio.Transport = cast(asyncio.Transport, None)
        self.session: Session | None = None
        self.closing = False
        self.seen = broker.loop.time()
        self.out_size = 0
        self.congested = False
        self.stalled = False
        self.stall_mark = 0
        self.stall_timer: asyncio.TimerHandle | None = None
        self.blockers: set[Pressure] | None = None
        self.waiters: set[Pressure] | None = None

    @property
    def name(self) -> str:
        """How the log calls this client."""
        raise NotImplementedError

    def pressed(self) -> bool:
        """Is this client behind?"""
        session = self.session
        return self.congested or bool(session and session.queue and len(session.queue) > 1000)

    def hold_back(self, publisher: Pressure) -> None:
        """Read no more from `publisher` until this client has caught up, or is given up as stalled."""
        if self.waiters is None:
            self.waiters = set()
        self.waiters.add(publisher)
        if publisher.blockers is None:
            publisher.blockers = set()
        publisher.blockers.add(self)
        publisher.transport.pause_reading()
        if self.stall_timer is None:
            self.stall_mark = self._progress()
            self.stall_timer = self.broker.loop.call_later(self.broker.config.limits.stall, self._watch)

    def _progress(self) -> int:
        session = self.session
        return self.transport.get_write_buffer_size() + self.out_size + (session.load if session else 0)

    def _watch(self) -> None:
        """A client that has taken nothing in `stall` seconds holds nobody back any longer."""
        self.stall_timer = None
        if not self.waiters:
            return
        mark = self._progress()
        if mark < self.stall_mark:
            self.stall_mark = mark
            self.stall_timer = self.broker.loop.call_later(self.broker.config.limits.stall, self._watch)
            return
        self.broker.log.warning("%s reads nothing: publishers no longer wait for it", self.name)
        self.release()
        self.stalled = True

    def release(self) -> None:
        """Let the publishers go on that waited for this client."""
        self.stalled = False
        if self.stall_timer is not None:
            self.stall_timer.cancel()
            self.stall_timer = None
        waiters, self.waiters = self.waiters, None
        for publisher in waiters or ():
            if publisher.blockers is not None:
                publisher.blockers.discard(self)
                if not publisher.blockers:
                    publisher.blockers = None
                    if not publisher.closing and not publisher.congested and not self.broker.stuck:
                        publisher.seen = self.broker.loop.time()
                        publisher.transport.resume_reading()

"""Back-pressure: who publishes faster than a subscriber reads is not read from, unless the subscriber has stalled."""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

from voicewire.mqtt.config import Limits

__all__: list[str] = []  # the broker's inside: only this room's own modules use it


class Throttled(Protocol):
    """What back-pressure needs of a connection."""

    pressure: Pressure
    transport: asyncio.Transport

    @property
    def name(self) -> str:
        """How the log calls this client."""

    def progress(self) -> int:
        """Return how many bytes wait for this client; if it reads, they become fewer."""

    def judge(self) -> None:
        """Work out anew whether publishers have to wait for this client."""

    def read_again(self) -> None:
        """Read from the client, if nothing else forbids it."""


class Pressure:
    """Of one connection: those that wait for it (`waiters`) and those that it waits for (`blockers`)."""

    __slots__ = ("blockers", "limits", "log", "loop", "mark", "owner", "since", "stalled", "timer", "waiters")

    def __init__(self, owner: Throttled, limits: Limits, loop: asyncio.AbstractEventLoop, log: logging.Logger) -> None:
        self.owner = owner
        self.limits = limits
        self.loop = loop
        self.log = log
        self.stalled = False
        self.mark = 0
        self.since = 0.0
        self.timer: asyncio.TimerHandle | None = None
        self.blockers: set[Pressure] | None = None
        self.waiters: set[Pressure] | None = None

    def hold_back(self, publisher: Pressure) -> None:
        """Read no more from `publisher` until this client has caught up, or is given up as stalled."""
        if self.stalled:
            return
        if self.waiters is None:
            self.waiters = set()
        self.waiters.add(publisher)
        if publisher.blockers is None:
            publisher.blockers = set()
        publisher.blockers.add(self)
        publisher.owner.transport.pause_reading()
        if self.timer is None:
            self.mark = self.owner.progress()
            self.since = self.loop.time()
            self.timer = self.loop.call_later(self.limits.stall, self._watch)
        self.owner.judge()

    def _watch(self) -> None:
        """Who has taken nothing in `stall` seconds, or was waited for too long, holds nobody back any longer."""
        self.timer = None
        if not self.waiters:
            return
        mark = self.owner.progress()
        if mark < self.mark and self.loop.time() - self.since < self.limits.max_hold_back:
            self.mark = mark
            self.timer = self.loop.call_later(self.limits.stall, self._watch)
            return
        why = "nothing" if mark >= self.mark else "too slowly"
        self.log.warning("%s reads %s: publishers no longer wait for it", self.owner.name, why)
        self.release()
        self.stalled = True
        self.owner.judge()

    def release(self) -> None:
        """Let the publishers go on that waited for this client."""
        self.stalled = False
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        waiters, self.waiters = self.waiters, None
        for publisher in waiters or ():
            if publisher.blockers is not None:
                publisher.blockers.discard(self)
                if not publisher.blockers:
                    publisher.blockers = None
                    publisher.owner.read_again()
        self.owner.judge()

    def forget(self) -> None:
        """This client is gone: nobody waits for it, and it waits for nobody."""
        self.release()
        blockers, self.blockers = self.blockers, None
        for blocker in blockers or ():
            if blocker.waiters is not None:
                blocker.waiters.discard(self)

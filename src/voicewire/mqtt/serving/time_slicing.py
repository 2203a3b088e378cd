"""Long work in slices: whatever one client asks for, the others are looked after again after so many steps."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator

from voicewire.mqtt.interfaces import Peer

__all__: list[str] = []  # the broker's inside: only this room's own modules use it

SLICE = 2000
"""Steps between two looks at the network; a step is about a microsecond of work on one filter, message or client."""

Steps = Iterator[int]
"""Does its work bit by bit; each bit yields how many steps it was."""
Job = tuple[Steps, Peer | None, bool]
"""The work, whose it is, and whether it goes on without them."""


def weight(text: str | bytes) -> int:
    """Return how many steps a topic or filter of this length is: it is split, hashed and compared."""
    return 1 + (len(text) >> 8)


class Work:
    """The jobs that did not fit into one slice, each with the connection that waits for it."""

    def __init__(self, finish: Callable[[], None], log: logging.Logger) -> None:
        self._finish = finish
        self._log = log
        self._jobs: deque[Job] = deque()
        self._parked: dict[Peer, Job] = {}
        self._due = False
        self.loop: asyncio.AbstractEventLoop

    def __len__(self) -> int:
        return len(self._jobs) + len(self._parked)

    def run(self, steps: Steps, owner: Peer | None = None, lasting: bool = False) -> int:
        """Do the first slice at once, the rest later; `owner` is not served meanwhile. Returns the steps done."""
        used, more = self._slice(steps, None if lasting else owner)
        if more:
            if owner is not None:
                owner.wait()
            self.add(steps, owner, lasting)
        return used

    def add(self, steps: Steps, owner: Peer | None = None, lasting: bool = False) -> None:
        """Do all of it later. What is `lasting` is the broker's: it goes on when its owner has gone."""
        self._jobs.append((steps, owner, lasting or owner is None))
        if not self._due:
            self._due = True
            self.loop.call_soon(self._turn)

    def unpark(self, owner: Peer) -> None:
        """Go on with what waits for `owner` to read."""
        job = self._parked.pop(owner, None)
        if job is not None:
            self.add(*job)

    def end(self) -> None:
        """Do now what is the broker's, and forget the rest."""
        self._parked.clear()
        while self._jobs:
            steps, _, lasting = self._jobs.popleft()
            if lasting:
                try:
                    deque(steps, maxlen=0)
                except Exception as error:
                    self._log.exception("work for nobody has failed: %r", error)

    def _slice(self, steps: Steps, owner: Peer | None) -> tuple[int, bool]:
        used = 0
        for cost in steps:
            used += cost
            if used >= SLICE or (owner is not None and owner.full()):
                return used, True
        return used, False

    def _turn(self) -> None:
        self._due = False
        if not self._jobs:
            return
        job = steps, owner, lasting = self._jobs.popleft()
        if owner is not None and owner.closing:
            owner = None
        if owner is not None and owner.congested and not lasting:
            self._parked[owner] = job  # until it reads again, or is gone
        elif owner is not None or lasting:
            try:
                _, more = self._slice(steps, None if lasting else owner)
                if more:
                    self._jobs.append(job)
                elif owner is not None:
                    owner.proceed()
            except Exception as error:
                if owner is None:
                    self._log.exception("work for nobody has failed: %r", error)
                else:
                    owner.broke(error)
        self._finish()
        if self._jobs and not self._due:
            self._due = True
            self.loop.call_soon(self._turn)

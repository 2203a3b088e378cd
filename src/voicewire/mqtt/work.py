"""Long work in slices: whatever one client asks for, the others are looked after again after so many steps."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator

from voicewire.mqtt.protocols import Peer

__all__: list[str] = []  # the broker's inside: only this room's own modules use it

SLICE = 2000
"""Steps between two looks at the network; a step is about a microsecond of work on one filter, message or client."""

Steps = Iterator[int]
"""Does its work bit by bit; each bit yields how many steps it was."""


def weight(text: str | bytes) -> int:
    """Return how many steps a topic or filter of this length is: it is split, hashed and compared."""
    return 1 + (len(text) >> 8)


class Work:
    """The jobs that did not fit into one slice, each with the connection that waits for it.

    Parameters
    ----------
    finish : callable
        Called after each slice: writes what has collected.
    log : logging.Logger
        Told of an exception in a job that belongs to nobody.
    """

    def __init__(self, finish: Callable[[], None], log: logging.Logger) -> None:
        self._finish = finish
        self._log = log
        self._jobs: deque[tuple[Steps, Peer | None]] = deque()
        self._parked: dict[Peer, Steps] = {}
        self._due = False
        self.loop: asyncio.AbstractEventLoop

    def __len__(self) -> int:
        return len(self._jobs) + len(self._parked)

    def run(self, steps: Steps, owner: Peer | None = None) -> int:
        """Do the first slice at once, the rest later; `owner` is not served meanwhile. Returns the steps done."""
        used, more = self._slice(steps, owner)
        if more:
            if owner is not None:
                owner.wait()
            self.add(steps, owner)
        return used

    def add(self, steps: Steps, owner: Peer | None = None) -> None:
        """Do all of it later."""
        self._jobs.append((steps, owner))
        if not self._due:
            self._due = True
            self.loop.call_soon(self._turn)

    def unpark(self, owner: Peer) -> None:
        """Go on with what waits for `owner` to read."""
        steps = self._parked.pop(owner, None)
        if steps is not None:
            self.add(steps, owner)

    def clear(self) -> None:
        """Forget all jobs."""
        self._jobs.clear()
        self._parked.clear()

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
        steps, owner = self._jobs.popleft()
        if owner is not None and owner.congested and not owner.closing:
            self._parked[owner] = steps  # until it reads again, or is gone
        elif owner is None or not owner.closing:
            try:
                _, more = self._slice(steps, owner)
                if more:
                    self._jobs.append((steps, owner))
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

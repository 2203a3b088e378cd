"""What is to be written, and when: once a tick for each connection, after the store has it; what is long, in turns."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections import deque
from collections.abc import Callable, Collection

from voicewire.mqtt.interfaces import Journal, Peer

__all__: list[str] = []  # the broker's inside: only this room's own modules use it

PATIENCE = 0.005
"""Seconds for which a PUBREL may be put off in favour of a publisher that waits."""
SHORT = 4096
"""Bytes that are written at once, whatever else is to be: answers do not wait for what is long."""
PIECE = 2**18
"""Bytes that are written to one connection before it is the next one's turn."""
TURN = 4 * 2**20
"""Bytes that are written before the network is looked at again."""
LAST, QUIET = 5.0, 0.2
"""Seconds that clients get, when the broker ends, to read what waits for them; and to read nothing of it."""
RETRY = 1.0
"""Seconds between two tries to write to a store that cannot be written to."""


class Outbox:
    """Connections with something to write, and the store that comes first."""

    def __init__(self, log: logging.Logger, halt: Callable[[bool], None]) -> None:
        self.dirty: list[Peer] = []
        self.patient: list[Peer] = []
        self.long: deque[Peer] = deque()
        self.store: Journal | None = None
        self.stuck = False
        self.loop: asyncio.AbstractEventLoop
        self._log = log
        self._halt = halt
        self._due = self._turning = False

    def flush(self) -> None:
        """Write what has collected; with a store, commit first, once for all that this tick brings."""
        if self.store is not None and (self.store.pending or self._due):
            if not self._due:
                self._due = True
                self.loop.call_soon(self._commit_and_write)
            return
        self._write()

    def _write(self) -> None:
        dirty, left = self.dirty, TURN
        if dirty:
            self.dirty = []
            for connection in dirty:
                try:
                    if connection.transport.is_closing():
                        continue
                    size = connection.out_size
                    if size <= SHORT or size <= min(left, PIECE):
                        left -= size
                        connection.write()
                    else:
                        self.later(connection)
                except Exception as error:
                    connection.broke(error)

    def later(self, connection: Peer) -> None:
        """Write to `connection` piece by piece, in turn with all that have something long to be written."""
        connection.dirty = True
        self.long.append(connection)
        connection.weigh()
        self._turn_soon()

    def _turn_soon(self) -> None:
        if not self._turning:
            self._turning = True
            self.loop.call_soon(self._turn)

    def _turn(self) -> None:
        """Write a piece to each in turn; what has come since may be a promise, so the store comes first."""
        self._turning = False
        if not self.long:
            return
        if not self.commit():
            self._turning = True
            self.loop.call_later(RETRY, self._turn)
            return
        left = TURN
        while self.long and left > 0:
            connection = self.long.popleft()
            try:
                if connection.transport.is_closing():
                    continue
                written = connection.write_piece()
                left -= written
                if written and connection.out:
                    self.long.append(connection)
                else:
                    connection.dirty = False
            except Exception as error:
                connection.broke(error)
        if self.long:
            self._turn_soon()

    def _commit_and_write(self) -> None:
        if self.commit():
            self._due = False
            self._write()
        else:
            self.loop.call_later(RETRY, self._commit_and_write)

    def commit(self) -> bool:
        """Commit to the store.

        If it cannot be written (disk full), nobody is read from or answered until it can: no message is
        acknowledged that could be lost, and none is lost.
        """
        if self.store is None:
            return True
        try:
            self.store.commit()
        except Exception as error:
            if not self.stuck:
                cause = None if isinstance(error, sqlite3.Error) else error  # else it is no matter of the disk
                self._log.error(
                    "the store cannot be written (%s): everything waits until it can", error, exc_info=cause
                )
                self.stuck = True
                self._halt(True)
            return False
        if self.stuck:
            self.stuck = False
            self._log.warning("the store can be written again")
            self._halt(False)
        return True

    async def read(self, connections: Collection[Peer]) -> None:
        """Wait until clients have read what waits for them, or have read nothing for a while."""
        before, since = -1, self.loop.time()
        end = since + LAST
        while self.loop.time() < end:
            waiting = sum(c.out_size + c.transport.get_write_buffer_size() for c in connections if not c.closing)
            if waiting != before:
                before, since = waiting, self.loop.time()
            if not waiting or self.loop.time() - since > QUIET:
                return
            await asyncio.sleep(0.01)

    # ------------------------------------------------------------------ what can wait
    def put_off(self, connection: Peer) -> None:
        """Write to `connection` with whatever comes next for it, or once no publisher waits, `PATIENCE` at most.

        When 80 subscribers answer at once, the last answer is what a publisher waits for. PUBRELs to the others
        would only keep broker, network and subscribers from it.
        """
        if not self.patient:
            self.loop.call_later(PATIENCE, self._patience_over)
        self.patient.append(connection)

    def end_patience(self) -> None:
        """Write with the next flush what was put off."""
        patient, self.patient = self.patient, []
        for connection in patient:
            if connection.out and not connection.dirty:
                connection.dirty = True
                self.dirty.append(connection)

    def _patience_over(self) -> None:
        if self.patient:
            self.end_patience()
            self.flush()

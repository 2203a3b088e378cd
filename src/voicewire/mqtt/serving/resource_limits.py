"""What each user has of the limits that all share: sessions, connections, what waits, is retained or half sent.

A user is whoever has proven a name to the password file. All clients without a name are one user (None); so are all
clients where there is no password file, and those whose CONNECT is not complete yet (`STRANGERS`).
"""

from __future__ import annotations

from collections import Counter
from typing import Protocol

from voicewire.mqtt.config import Config
from voicewire.mqtt.errors import MalformedError

__all__: list[str] = []  # the broker's inside: only this room's own modules use it

Owner = str | None
STRANGERS = ""
"""Stands for all who have not said CONNECT; no name in a password file is empty."""


ENTRY = 100
"""Bytes that each client costs that is to get a message."""
OVERHEAD = 200 + ENTRY
"""Bytes that a message costs beside its topic and payload, with its first client."""
SHARED = 1500
"""A message of so many bytes or more counts once, however many are to get it; a shorter one for each, as is quicker."""
UNREAD = 0.25
"""The part of all bytes that messages at QoS 0 may have, which wait for clients that do not read."""
RESERVE = 0.125
"""The part of all bytes that is kept for those who hold little: each session may have an equal part of it."""


class Held(Protocol):
    """What counting needs of a message: its `size` with one entry, and how many clients are to get it, by user."""

    holders: dict[Owner, int] | None
    size: int


class Holder(Protocol):
    """What counting half packets needs of a connection: `held` bytes, which are `holder`'s."""

    held: int
    holder: Owner

    def broke(self, error: BaseException) -> None:
        """End this connection, and no other."""


class Shares:
    """Counts, by user, what is limited in all.

    `kept` counts sessions that outlast their connection, `present` the connections with a session, `held` the bytes of
    messages that are in flight or wait, with `ENTRY` for each client that is to get one, `held_by` the same by user
    where users are told apart (a message counts once for each), `unread` what of it waits to be written at QoS 0 (what
    is long counts once, and for no user), `retained` and `retained_bytes` what is retained; each is changed where these
    come and go. A message of less than `plain` bytes may be counted without a call, its `size` for each client, as long
    as no more than `free` are held.
    """

    def __init__(self, config: Config) -> None:
        limits = config.limits
        self._named = config.password_file is not None
        part = limits.user_share if self._named else 1.0
        self.max_kept = max(1, int(part * limits.max_sessions)) if limits.max_sessions else 0
        self.max_present = max(1, int(part * limits.max_connections))
        self._most_by = int(part * limits.max_waiting_bytes)
        self._most = limits.max_waiting_bytes
        self._most_unread = UNREAD * self._most
        self._reserve = RESERVE * limits.max_waiting_bytes
        self.free = int((1 - RESERVE) * self._most)
        self.plain = 0 if self._named else SHARED
        self.max_retained = int(part * limits.max_retained)
        self.max_retained_bytes = int(part * limits.max_retained_bytes)
        self.kept: Counter[Owner] = Counter()
        self.present: Counter[Owner] = Counter()
        self.held = self.unread = 0
        self.held_by: Counter[Owner] = Counter()
        self.retained: Counter[Owner] = Counter()
        self.retained_bytes: Counter[Owner] = Counter()
        self.partial = Partial(limits.max_partial_bytes, int(limits.user_share * limits.max_partial_bytes), self._named)

    def fits(self, owner: Owner, size: int) -> bool:
        """Is there room for so many bytes more at QoS 0?"""
        return self.unread + size <= self._most_unread and self.held_by[owner] + size <= self._most_by

    def count_unread(self, owner: Owner, size: int) -> None:
        """Count so many bytes more, or fewer, that wait at QoS 0 for a client that does not read."""
        self.unread += size
        self.count(owner, size)

    def count(self, owner: Owner, size: int) -> None:
        """Count so many bytes more, or fewer, that are held for a user's clients."""
        self.held += size
        if self._named:
            self.held_by[owner] += size

    def keep(self, size: int) -> bool:
        """Count an answer that is kept until its publisher has had it, if there is room."""
        if self.held + size > self.free:
            return False
        self.held += size
        return True

    def released(self, owner: Owner, ids: int = 1) -> None:
        """Count so many packet ids less that wait for a PUBREL."""
        size = ENTRY * ids
        self.held -= size
        if self._named:
            self.held_by[owner] -= size

    def note(self, owner: Owner, ids: int, sessions: int) -> None:
        """Count one more packet id that a client with so many `ids` is to release with a PUBREL."""
        held = self.held + ENTRY
        room = held <= self.free or (held <= self._most and (ids + 1) * ENTRY <= self._reserve / max(1, sessions))
        if not room or (self._named and self.held_by[owner] + ENTRY > self._most_by):
            why = "and max_waiting_bytes has no room for one more"
            raise MalformedError(f"{ids} messages of this client wait for their PUBREL, {why}")
        self.count(owner, ENTRY)

    def take(self, owner: Owner, message: Held, load: int, sessions: int) -> bool:
        """Count one more client that is to get a message, if there is room.

        `load` are the bytes that it is to get already, and `sessions` is how many clients there are: what is left in
        the end is kept for those who hold little, so that nobody goes without because others hold all.
        """
        size, holders = message.size, message.holders
        held = self.held + (ENTRY if holders else size)
        if held > self._most:
            return False
        if held > self.free and load + size > self._reserve / max(1, sessions):
            return False
        if self._named and self.held_by[owner] + (ENTRY if holders and owner in holders else size) > self._most_by:
            return False
        self.enter(owner, message)
        return True

    def enter(self, owner: Owner, message: Held) -> None:
        """Count one more client that is to get a message, whether there is room or not."""
        size, holders = message.size, message.holders
        if size < SHARED:
            self.count(owner, size)
            return
        if holders is None:
            holders = message.holders = {}
        self.held += ENTRY if holders else size
        if self._named:
            self.held_by[owner] += ENTRY if owner in holders else size
        holders[owner] = holders.get(owner, 0) + 1

    def leave(self, owner: Owner, message: Held) -> None:
        """Count one client less that is to get a message."""
        size, holders = message.size, message.holders
        if size < SHARED or holders is None:
            self.count(owner, -size)
            return
        holders[owner] -= 1
        left = holders[owner]
        if not left:
            del holders[owner]
        self.held -= ENTRY if holders else size
        if self._named:
            self.held_by[owner] -= ENTRY if left else size

    def owner(self, username: str | None) -> Owner:
        """Return whose share a client has that has given this user name, and proven it if names are proven at all."""
        return username if self._named else None


class Unwritten(bytes):
    """Long bytes at QoS 0: they count as long as there is a client that they are to be written to."""

    _shares: Shares

    def __new__(cls, data: bytes, shares: Shares) -> Unwritten:
        """Copy `data`, and count it."""
        self = super().__new__(cls, data)
        self._shares = shares
        shares.unread += len(data)
        shares.held += len(data)
        return self

    def __del__(self) -> None:
        self._shares.unread -= len(self)
        self._shares.held -= len(self)


class Partial:
    """Bytes of packets that are not complete yet.

    Beyond a user's room, that one of its connections is closed that holds most; beyond the limit of all, the same of
    the user who has most. So whoever holds little is never closed for what others hold.
    """

    def __init__(self, limit: int, share: int, named: bool) -> None:
        self.bytes = 0
        self._limit = limit
        self._share = share
        self._named = named
        self._sizes: Counter[Owner] = Counter()
        self._holders: dict[Owner, set[Holder]] = {}

    def hold(self, holder: Holder, owner: Owner, size: int) -> bool:
        """Note that a connection holds so many bytes now; returns whether any had to be closed for that."""
        if not holder.held:
            holder.holder = owner
            self._holders.setdefault(owner, set()).add(holder)
        owner = holder.holder
        grown = size - holder.held
        holder.held = size
        self._sizes[owner] += grown
        self.bytes += grown
        if self._sizes[owner] <= self._share and self.bytes <= self._limit:
            return False
        return self._make_room(owner)

    def drop(self, holder: Holder) -> None:
        """Note that a connection holds nothing any more."""
        owner, size = holder.holder, holder.held
        if size:
            holder.held = 0
            self.bytes -= size
            self._sizes[owner] -= size
            self._holders[owner].discard(holder)
            if not self._holders[owner]:
                del self._holders[owner], self._sizes[owner]

    def _make_room(self, owner: Owner) -> bool:
        room = self._share if self._named or owner == STRANGERS else self._limit
        closed = False
        while self._sizes[owner] > room:
            closed = self._close(owner, f"the user's connections hold more than {room} bytes of such packets")
        while self.bytes > self._limit:
            most = max(self._sizes, key=self._sizes.__getitem__)
            closed = self._close(most, f"all connections hold more than {self._limit} bytes of such packets")
        return closed

    def _close(self, owner: Owner, why: str) -> bool:
        holder = max(self._holders[owner], key=lambda x: x.held)
        size = holder.held
        self.drop(holder)
        holder.broke(MalformedError(f"a packet is not complete after {size} bytes, and {why}"))
        return True

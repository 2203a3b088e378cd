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


OVERHEAD = 100
"""Bytes that a waiting message costs beside its topic and payload, in each queue."""


class Waiting(Protocol):
    """What counting needs of a message: its `size` with one overhead, and who waits for it."""

    holders: dict[Owner, int] | None

    @property
    def size(self) -> int:
        """Bytes of topic, payload and overhead."""


class Holder(Protocol):
    """What counting half packets needs of a connection: `held` bytes, which are `holder`'s."""

    held: int
    holder: Owner

    def broke(self, error: BaseException) -> None:
        """End this connection, and no other."""


class Shares:
    """Counts, by user, what is limited in all.

    `kept` counts sessions that outlast their connection, `present` the connections with a session, `waiting` the
    bytes of messages that wait (`waiting_bytes`: for all), `retained` and `retained_bytes` what is retained; each is
    changed where these come and go.

    Parameters
    ----------
    config : Config
        Its limits, and whether it has a password file.
    """

    def __init__(self, config: Config) -> None:
        limits = config.limits
        self._named = config.password_file is not None
        part = limits.user_share if self._named else 1.0
        self.max_kept = max(1, int(part * limits.max_sessions)) if limits.max_sessions else 0
        self.max_present = max(1, int(part * limits.max_connections))
        self.max_waiting = int(part * limits.max_waiting_bytes)
        self.max_retained = int(part * limits.max_retained)
        self.max_retained_bytes = int(part * limits.max_retained_bytes)
        self.kept: Counter[Owner] = Counter()
        self.present: Counter[Owner] = Counter()
        self.max_waiting_bytes = limits.max_waiting_bytes
        self.waiting_bytes = 0
        self.waiting: Counter[Owner] = Counter()
        self.retained: Counter[Owner] = Counter()
        self.retained_bytes: Counter[Owner] = Counter()
        self.partial = Partial(limits.max_partial_bytes, int(limits.user_share * limits.max_partial_bytes), self._named)

    def wait(self, owner: Owner, message: Waiting, must: bool = False) -> bool:
        """Count a message that is to wait in one more queue of a user, if there is room or it `must`.

        Its bytes are there once, however many wait for it: they count once in all, and once for each user.
        """
        holders, size = message.holders, message.size
        mine = size if not holders or owner not in holders else OVERHEAD
        new = OVERHEAD if holders else size
        full = self.waiting_bytes + new > self.max_waiting_bytes or self.waiting[owner] + mine > self.max_waiting
        if full and not must:
            return False
        if holders is None:
            holders = message.holders = {}
        holders[owner] = holders.get(owner, 0) + 1
        self.waiting[owner] += mine
        self.waiting_bytes += new
        return True

    def leave(self, owner: Owner, message: Waiting) -> None:
        """Count a message that waits in one queue less."""
        holders = message.holders or {}
        left = holders[owner] - 1
        if left:
            holders[owner] = left
        else:
            del holders[owner]
        self.waiting[owner] -= OVERHEAD if left else message.size
        self.waiting_bytes -= OVERHEAD if holders else message.size

    def owner(self, username: str | None) -> Owner:
        """Return whose share a client has that has given this user name, and proven it if names are proven at all."""
        return username if self._named else None


class Partial:
    """Bytes of packets that are not complete yet.

    Beyond a user's room, that one of its connections is closed that holds most; beyond the limit of all, the same of
    the user who has most. So whoever holds little is never closed for what others hold.

    Parameters
    ----------
    limit, share : int
        Bytes of all, and of one user.
    named : bool
        Are names proven? If not, all but strangers are one user, who may have all.
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

"""TCP's bytes in order (RFC 9293): the first copy of each, whatever comes twice, late, cut or as a keep-alive probe."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

__all__ = ["ENTRY", "Direction", "is_probe"]

ENTRY = 64
"""Bytes that a waiting segment is counted with, besides its own."""


def is_probe(length: int, flags: str, end: int, highest: int, acknowledged: int | None, before: int) -> bool:
    """Whether a segment is a keep-alive probe: an octet that was sent, asked for again though nothing is due.

    `end` is the number behind its octet and `highest` the highest such number before (both mod 2**32), `acknowledged`
    what the other side has acknowledged (None: not seen), `before` the length of the segment that ended there first.
    A segment of one octet that was sent and not acknowledged may be sent again: that is no probe.
    """
    if length != 1 or end != highest or set(flags) & set("SFR"):
        return False
    return before != 1 if acknowledged is None else (acknowledged - end) % 2**32 < 2**31


class Direction:
    """What one side of a connection says, put in order as its segments come."""

    __slots__ = ("ahead", "begins", "due", "taken", "time", "waiting")

    def __init__(self, begins: int) -> None:
        self.begins, self.taken, self.due, self.time, self.waiting = begins, 0, 0, 0, 0
        self.ahead: list[tuple[int, int, bytes]] = []  # place, time and bytes of what waits, disjoint, by place

    def place(self, number: int) -> int:
        """Where a sequence number stands, counted from the first octet without end."""
        return self.taken + (number - self.begins - self.taken + 2**31) % 2**32 - 2**31

    def take(self, number: int, data: bytes, missing: int, time: int) -> Iterator[tuple[int, bytes]]:
        """Take a segment, of which the last `missing` octets were not kept; give what is in order now, since when."""
        at, end = self.place(number), self.place(number) + len(data)
        if data or missing:
            self.due = max(self.due, end + missing)
        if end <= self.taken or not data:
            return
        if at <= self.taken and not self.ahead:
            self.time, fresh, self.taken = max(self.time, time), data[self.taken - at :], end
            yield self.time, fresh
            return
        at, data = (at, data) if at > self.taken else (self.taken, data[self.taken - at :])
        k = max(0, bisect_left(self.ahead, (at,)) - 1)
        while at < end:  # what waits already stands: only what is between is new
            low, high = end, end
            if k < len(self.ahead):
                low, high = self.ahead[k][0], self.ahead[k][0] + len(self.ahead[k][2])
            upto = min(low if low > at else max(high, at), end)
            if low > at:
                self.ahead.insert(k, (at, time, data[: upto - at]))
                self.waiting += upto - at + ENTRY
            at, data, k = upto, data[upto - at :], k + 1
        while self.ahead and self.ahead[0][0] <= self.taken:
            _, when, data = self.ahead.pop(0)
            self.waiting -= len(data) + ENTRY
            self.time, self.taken = max(self.time, when), self.taken + len(data)
            yield self.time, data

    def forget(self) -> None:
        """Drop what waits."""
        self.ahead, self.waiting = [], 0

    def missing(self) -> int:
        """Octets of the first hole: captured too short, or never though later ones were; 0 if none."""
        return (self.ahead[0][0] if self.ahead else self.due) - self.taken

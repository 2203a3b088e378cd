"""TCP's bytes in order (RFC 9293): the first copy of each, whatever comes twice, late, cut or as a keep-alive probe."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from voicewire.testbed.errors import TestbedError

if TYPE_CHECKING:
    from voicewire.testbed.capture import Segment

__all__ = ["ENTRY", "Direction", "Fresh", "in_order", "is_probe"]

ENTRY = 64
"""Bytes that a waiting segment is counted with, besides its own."""
_BACK = 0.01
"""Seconds by which times may run back from one packet to the next: several queues of a card, written in turn."""


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


class Fresh(NamedTuple):
    """Bytes that are in order now: with which segment they came, whether they begin what a side says, and its SYN."""

    segment: Segment
    data: bytes
    new: bool
    opened: bool


def in_order(segments: Iterable[Segment], port: int, name: str) -> Iterator[Fresh]:
    """Give what each side of each connection with this port says, in order; a hole that nothing fills is refused.

    A SYN with another number begins a connection anew, and so do data that the last one cannot have, behind its end.
    """
    ways: dict[tuple[str, int, str, int], Direction] = {}
    ended: dict[tuple[str, int, str, int], int] = {}
    acknowledged: dict[tuple[str, int, str, int], int] = {}
    begun, opened = set[tuple[str, int, str, int]](), set[tuple[str, int, str, int]]()
    latest = float("-inf")
    for one in segments:
        if one.time < latest - _BACK:
            raise TestbedError(
                f"{name}: its times run back, by {latest - one.time:.3f} s: put the packets in the order of their times"
            )
        latest = max(latest, one.time)
        if port not in (one.source[1], one.target[1]):
            continue
        key, back = (*one.source, *one.target), (*one.target, *one.source)
        after, syn, way = (one.seq + ("S" in one.flags)) % 2**32, "S" in one.flags, ways.get(key)
        other = way is None or (syn and way.begins != after)
        if way is not None and not syn and one.length and key in ended:
            place = way.place(one.seq)
            other = place >= ended[key] or (back in ended and place < 0)
        if "A" in one.flags:
            acknowledged[back] = one.ack
        if way is None and one.length == 1 and not syn and acknowledged.get(key) == (one.seq + 1) % 2**32:
            continue  # a keep-alive probe, before anything else was captured
        if other:
            _whole(name, [way] if way else [])
            begun.discard(key)
            ended.pop(key, None)
            opened.discard(key)
            way = ways[key] = Direction(after)
        assert way is not None
        if syn:
            opened.add(key)
        for _, data in way.take(after, one.payload, one.length - len(one.payload), 0):
            yield Fresh(one, data, key not in begun, key in opened)
            begun.add(key)
        if set(one.flags) & set("FR"):
            ended[key] = max(way.due, way.place(after) + one.length)
        if "R" in one.flags and back in ways:
            ended.setdefault(back, ways[back].due)
    _whole(name, ways.values())


def _whole(name: str, ways: Iterable[Direction]) -> None:
    missing = max((way.missing() for way in ways), default=0)
    if missing:
        raise TestbedError(f"{name} has a hole of {missing} bytes")

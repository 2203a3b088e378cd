"""What each side of each TCP connection of a capture says, in order, told apart where ports are used again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from voicewire.testbed.capture import Segment
from voicewire.testbed.errors import TestbedError
from voicewire.testbed.reassembly import Direction

__all__ = ["Fresh", "in_order"]

_BACK = 0.01
"""Seconds by which times may run back from one packet to the next: several queues of a card, written in turn."""


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

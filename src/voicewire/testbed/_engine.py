"""The inner loop of the userspace link: moves packets between two TUN descriptors, compiled by numba.

It holds no Python object and releases the interpreter lock, so a link costs the experiment's own threads
nothing but a share of the processor. ``read``, ``write``, ``poll`` and ``clock_gettime`` are the C library's
own, called directly.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from voicewire._kit._compiled import external, njit

__all__ = ["COUNTS", "FRAME", "RULES", "Line", "new_line", "run"]

Ints = NDArray[np.int64]
Octets = NDArray[np.uint8]
Records = NDArray[np.void]
Record = Any  # one of them: in compiled code its fields are attributes

FRAME = 2048  #: bytes kept for each packet: above the link's MTU

RULES = np.dtype([
    ("fd", np.int64), ("delay", np.int64), ("jitter", np.int64), ("ns_per_byte", np.float64), ("limit", np.int64),
    ("loss", np.float64), ("reorder", np.int64), ("random", np.uint64),
])  # fmt: skip
"""What a direction does: the descriptor that it reads; ns; packets that may wait for the line; a probability; 0 or 1.

`random` is the state of its random numbers, at first the seed.
"""

COUNTS = np.dtype([(name, np.int64) for name in (
    "received", "delivered", "lost", "queue_dropped", "overflowed", "octets",
)])  # fmt: skip
"""What a direction has done, in packets; the octets are those delivered."""

_PLACES = np.dtype([(name, np.int64) for name in (
    "first", "waiting",  # in `Line.order`
    "first_idle", "idle",  # in `Line.free`
    "first_leaving", "leaving",  # in `Line.leave`
    "line_free",  # when the line has sent what was accepted
    "last_due",  # when the packet accepted before is due
)])  # fmt: skip
"""Where a direction's rings begin and how many entries they hold, and two moments (ns)."""


class Line(NamedTuple):
    """A link as its loop sees it; every array has one row a direction (0: a to b)."""

    rules: Records
    counts: Records
    places: Records
    frame: Octets
    length: Ints
    due: Ints
    order: Ints
    free: Ints
    leave: Ints


def new_line(rules: Records, counts: Records, slots: int) -> Line:
    """Return a link with nothing under way, and room for so many packets in each direction."""
    places = np.zeros(2, _PLACES)
    places["idle"] = slots
    length, due, order, leave = np.zeros((4, 2, slots), np.int64)
    free = np.tile(np.arange(slots), (2, 1))
    return Line(rules, counts, places, np.zeros((2, slots, FRAME), np.uint8), length, due, order, free, leave)


_POLL_FIELDS = 4  # struct pollfd as int16: fd (2), events, revents
_BATCH = 64
_POLLIN = 1
_IDLE_NS = 20_000_000
_EARLY_NS = 80_000  # half of what a wake-up takes: packets leave this early rather than twice as late
_SHORTEST_NS = 20_000
_read = external("read", "int64", "int32", "uintp", "uintp")
_write = external("write", "int64", "int32", "uintp", "uintp")
_ppoll = external("ppoll", "int32", "uintp", "uint64", "uintp", "uintp")
_clock = external("clock_gettime", "int32", "int32", "uintp")
_prctl = external("prctl", "int32", "int32", "uint64", "uint64", "uint64", "uint64")


@njit(cache=True, nogil=True, inline="always")
def _now(spec: Any) -> Any:
    _clock(1, spec.ctypes.data)  # CLOCK_MONOTONIC, the same clock as time.perf_counter_ns
    return spec[0] * 1_000_000_000 + spec[1]


@njit(cache=True, nogil=True, inline="always")
def _uniform(rules: Record) -> Any:
    """SplitMix64: a uniform number in [0, 1) from the direction's own seeded state."""
    rules.random += np.uint64(0x9E3779B97F4A7C15)
    z = rules.random
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(cache=True, nogil=True, inline="always")
def _sent(line: Line, side: int, size: int, now: int) -> int:
    """Send `size` bytes down the line (rate, queue); returns when they are through, or -1 if the queue is full."""
    rules, places, slots = line.rules[side], line.places[side], line.leave.shape[1]
    while places.leaving > 0 and line.leave[side, places.first_leaving] <= now:
        places.first_leaving = (places.first_leaving + 1) % slots
        places.leaving -= 1
    if rules.ns_per_byte <= 0.0:
        return now
    if places.leaving >= rules.limit:
        return -1
    begin = max(now, places.line_free)
    places.line_free = begin + np.int64(size * rules.ns_per_byte)
    line.leave[side, (places.first_leaving + places.leaving) % slots] = begin
    places.leaving += 1
    through: int = places.line_free
    return through


@njit(cache=True, nogil=True, inline="always")
def _due(line: Line, side: int, sent: int) -> int:
    """When a packet that was sent at that moment arrives: delay and jitter, in order unless the rules let it pass."""
    rules, places = line.rules[side], line.places[side]
    when: int = sent + rules.delay
    if rules.jitter > 0:
        when += int((2.0 * _uniform(rules) - 1.0) * rules.jitter)
    when = max(when, sent)
    if rules.reorder == 0:
        when = max(when, places.last_due)
        places.last_due = when
    return when


@njit(cache=True, nogil=True, inline="always")
def _put(line: Line, side: int, slot: int, when: int) -> None:
    """Sort a packet in by its due time, later arrivals after earlier ones."""
    places, order, slots = line.places[side], line.order, line.order.shape[1]
    place = places.waiting
    while place > 0 and line.due[side, order[side, (places.first + place - 1) % slots]] > when:
        order[side, (places.first + place) % slots] = order[side, (places.first + place - 1) % slots]
        place -= 1
    order[side, (places.first + place) % slots] = slot
    places.waiting += 1


@njit(cache=True, nogil=True, inline="always")
def _take(line: Line, side: int, scratch: Octets, now: int) -> bool:
    """Take in what has come on one side; returns whether anything had.

    A packet first waits for the line (rate, queue), is then perhaps lost, then delayed.
    """
    rules, places, counts = line.rules[side], line.places[side], line.counts[side]
    for number in range(_BATCH):
        room = places.idle > 0
        slot = line.free[side, places.first_idle]
        address = line.frame[side, slot].ctypes.data if room else scratch.ctypes.data
        got = _read(rules.fd, address, FRAME)
        if got <= 0:
            return number > 0
        counts.received += 1
        if not room:
            counts.overflowed += 1
            continue
        sent = _sent(line, side, got, now)
        if sent < 0:
            counts.queue_dropped += 1
            continue
        if rules.loss > 0.0 and _uniform(rules) < rules.loss:
            counts.lost += 1
            continue
        when = _due(line, side, sent)
        places.first_idle = (places.first_idle + 1) % line.free.shape[1]
        places.idle -= 1
        line.length[side, slot] = got
        line.due[side, slot] = when
        _put(line, side, slot, when)
    return True


@njit(cache=True, nogil=True, inline="always")
def _give(line: Line, side: int, now: int) -> tuple[bool, int]:
    """Hand on what is due; returns whether anything was, and when the next packet is (at the latest when idle)."""
    places, counts = line.places[side], line.counts[side]
    slots = line.order.shape[1]
    for number in range(_BATCH):
        if places.waiting == 0:
            return number > 0, now + _IDLE_NS
        slot = line.order[side, places.first]
        if line.due[side, slot] > now + _EARLY_NS:
            return number > 0, min(now + _IDLE_NS, line.due[side, slot])
        _write(line.rules[1 - side].fd, line.frame[side, slot].ctypes.data, line.length[side, slot])
        counts.delivered += 1
        counts.octets += line.length[side, slot]
        places.first = (places.first + 1) % slots
        places.waiting -= 1
        line.free[side, (places.first_idle + places.idle) % slots] = slot
        places.idle += 1
    return True, now + _IDLE_NS


@njit(cache=True, nogil=True)
def run(line: Line, stop: Ints) -> None:
    """Move packets until ``stop[0]`` is set; ``stop[1]`` says that it runs."""
    spec = np.zeros(2, np.int64)
    patience = np.zeros(2, np.int64)
    scratch = np.zeros(FRAME, np.uint8)
    polls = np.zeros(2 * _POLL_FIELDS, np.int16)
    for side in range(2):
        polls.view(np.int32)[2 * side] = line.rules[side].fd
        polls[_POLL_FIELDS * side + 2] = _POLLIN
    _prctl(29, 1, 0, 0, 0)  # PR_SET_TIMERSLACK: wake within a microsecond instead of 50
    stop[1] = 1  # ready: whoever waits for it may send now
    while stop[0] == 0:
        now = _now(spec)
        busy = _take(line, 0, scratch, now) | _take(line, 1, scratch, now)
        now = _now(spec)
        there, nearest = _give(line, 0, now)
        back, also = _give(line, 1, now)
        if not (busy or there or back):
            wait = max(min(nearest, also) - _now(spec) - _EARLY_NS, _SHORTEST_NS)
            patience[0] = wait // 1_000_000_000
            patience[1] = wait % 1_000_000_000
            _ppoll(polls.ctypes.data, 2, patience.ctypes.data, 0)

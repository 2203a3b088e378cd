"""The exercises and the lab of chapter 1, *Rate control for voice*."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from voicewire.netsim.reference import Packet, TfrcReceiver, mean_interval
from voicewire.netsim.reference.equation import WEIGHTS
from voicewire.netsim.reference.path import SECOND
from voicewire_book.kit._student_functions import Function
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import Feedback, number, sequence
from voicewire_book.kit.records import Choice, Formula, Number
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given

_WEIGHTS = np.array([1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2])
_MISPRINT = "a weight of 8 is the thesis' misprint of 0.8."


def _mean(still: int, closed: tuple[int, ...]) -> Drawn:
    past = np.array(closed)
    total, moved = float(_WEIGHTS @ past), float(_WEIGHTS @ [still, *closed[:7]])
    wrong = np.where(_WEIGHTS == 0.8, 8, _WEIGHTS)
    value = max(total, moved) / 6
    kept = "left out if it does not raise the mean" if total >= moved else "counted if it raises the mean"
    return Drawn(
        f"open {still}; closed, newest first: {', '.join(map(str, closed))}",
        value,
        (
            (min(total, moved) / 6, f"the open interval is {kept}: try both."),
            (max(total, moved), "the weights sum to 6: divide by them."),
            (float(past.mean()), "this is the mean without weights."),
            (float(_WEIGHTS[::-1] @ past) / 6, "the weight of 1 belongs to the newest intervals; you gave it to the "
             "oldest."),
            (float(wrong @ past) / 6, _MISPRINT),
            (float(wrong @ past) / 13.2, _MISPRINT),
        ),
        f"Without the open interval: {sum(closed[:4])} + 0.8 · {closed[4]} + 0.6 · {closed[5]} + 0.4 · {closed[6]} + "
        f"0.2 · {closed[7]} = {total:g}; {total:g}/6 = {total / 6:.1f}.\n"
        f"With it each moves one place back, and the oldest falls out: {still + sum(closed[:3])} + 0.8 · {closed[3]} + "
        f"0.6 · {closed[4]} + 0.4 · {closed[5]} + 0.2 · {closed[6]} = {moved:g}; {moved:g}/6 = {moved / 6:.1f}.\n"
        f"The larger counts: {value:.1f} packets.",
        unit="packets",
        right=f"{value:.4g} packets: the open interval is {kept}.",
        tolerance=0.002,
    )  # fmt: skip


def _drawn_mean(rng: np.random.Generator) -> tuple[object, ...]:
    return 10 * int(rng.integers(3, 21)), tuple(10 * int(v) for v in rng.integers(3, 16, 8))


# I_mean in packets: 90 open, closed 60, 40, 100, 80, 50, 50, 100 and 300, newest first.
EXERCISES["voip-ex-mean"] = Exercise("mean", (90, (60, 40, 100, 80, 50, 50, 100, 300)), _drawn_mean, _mean)


# Packets a second after a report of five packets of 20 bytes over 1.6 s; the equation allows 5000 B/s.
EXERCISES["voip-ex-xrecv"] = Number(
    6.25, 0.002, unit="packets/s",
    hints={
        3.125: "this is what is reported; the sender may send twice that.",
        100.0: "the bytes are divided by the round trip or by the time since the last report, whichever is longer.",
        10.0: "a packet a round trip is the least only before the first loss.",
        20 / 3: "the time runs from the last report to this one, and not to the first packet.",
        250.0: "the equation allows this much; the other limit is lower.",
        125.0: "these are bytes a second; how many packets are they?",
        1.25: "the report is on all five packets.",
    },
    right="twice 62.5 B/s: not even one packet in a round trip, and that far below what the equation allows.",
)  # fmt: skip


@EXERCISES.made("voip-ex-climb")
def _() -> Number:
    """Seconds of Faster Restart from one packet a round trip to 50 packets a second, 200 ms one way."""
    return Number(
        1.2, 0.001, unit="s",
        hints={
            2.0: "this is how long doubling takes; Faster Restart allows four times what was reported.",
            0.4 * math.log(20, 4): "the rate changes once a round trip: whole round trips.",
            0.8: "the round trip is twice the one-way delay, so the voice needs 20 packets in it, not 10.",
            0.6: "each step takes a round trip, there and back.",
            3.0: "three steps; how long does each take?",
        },
        right="1, 4, 16, 64 packets a round trip: three steps of 0.4 s, longer than a mean talkspurt.",
    )  # fmt: skip


# Longest one-way delay in ms at which G.711 never waits for an acknowledgement with a window of 4380 bytes.
EXERCISES["voip-ex-window"] = Number(
    4380 / 8000 / 2 * 1000, 0.01, unit="ms",
    hints={
        547.5: "this is how long the round trip may be; one way is asked.",
        182.5: "that is RFC 2581's window of two segments of 1460 bytes.",
        365.0: "that is the round trip, for RFC 2581's window of two segments.",
        219.0: "TCP's window counts the bytes of the stream, without the headers.",
        2190.0: "G.711 speaks 8000 bytes a second; G.729 speaks 1000.",
    },
    right="4380 bytes last 0.55 s, and the first acknowledgement must be back by then.",
)  # fmt: skip


# n -> loss event rate at which the first term allows just n packets a round trip.
EXERCISES["voip-ex-budget-loss"] = Formula(
    lambda n: 1.5 / (n * n),
    [(2,), (10,), (25.0,)],
    [
        (lambda n: 1.5 / n, "the loss event rate stands under a root: square both sides."),
        (lambda n: math.sqrt(1.5) / n, "this is the root of p."),
        (lambda n: 2 / (3 * n * n), "2/3 stands next to p under the root: it changes sides as 3/2."),
        (lambda n: n * n / 1.5, "the more packets, the fewer losses are allowed: turn it over."),
    ],
    right="3 / (2 n²): neither the size of a packet nor the round trip counts by itself, only how many go into one.",
)  # fmt: skip


# R -> share of the talkspurts that have ended before doubling has reached the voice's rate.
EXERCISES["voip-ex-too-late"] = Formula(
    lambda R: 1 - math.exp(-R * math.log2(50 * R)),
    [(0.1,), (0.3,), (0.8,)],
    [
        (lambda R: math.exp(-R * math.log2(50 * R)),
         "this share goes on for longer; the share that has ended is asked."),
        (lambda R: 1 - math.exp(-R * math.log(50 * R)), "a rate that doubles takes the logarithm to base 2."),
        (lambda R: 1 - math.exp(-R * math.log(50 * R, 4)), "this is Faster Restart, which quadruples."),
        (lambda R: 1 - math.exp(-math.log2(50 * R)), "these are round trips; a talkspurt lasts seconds."),
        (lambda R: R * math.log2(50 * R), "the climb takes this long; which share of the talkspurts is shorter?"),
    ],
    right="1 - exp(-R log2(50 R)): a fifth at 50 ms one way, two thirds at 150 ms, nearly all at 400 ms.",
)  # fmt: skip


# What ends the climb of the delays in the figure.
EXERCISES["voip-ex-ceiling"] = Choice(
    "a", "abcd",
    hints={
        "b": "the timer halves a rate; here the floor holds the rate, and a rate would change the slope.",
        "c": "the dots are frames that came, played or not; the playout drops none of them here.",
        "d": "the path of this call has no queue: whatever leaves takes 150 ms.",
    },
    right="five frames at 8/0.3 a second wait 0.19 s: 150 + 188 = 338 ms, and a frame that finds no place is lost.",
)  # fmt: skip


# Why plain TFRC, SP and Faster Restart score the same to the last digit without loss.
EXERCISES["voip-ex-same"] = Choice(
    "b", "abcd",
    hints={
        "a": "all transports had the same words, and UDP and MD still get other scores.",
        "c": "none of the three has a floor; MD has.",
        "d": "the voice makes a packet in 20 ms: this limit never binds in any of them.",
    },
    right="without a loss there is no equation, in which SP puts its size, and nothing to restart faster from.",
)  # fmt: skip


def _events(times: Sequence[float], rtt: float) -> int:
    """Count the losses that come more than a round trip after the first of their event."""
    events, first = 0, -math.inf
    for time in times:
        if time > first + rtt:
            events, first = events + 1, time
    return events


def _chained(times: Sequence[float], rtt: float) -> int:
    """Count as `_events`, but from the loss before instead of the event's first."""
    before = [-math.inf, *times]
    return sum(b - a > rtt for a, b in zip(before, times, strict=False))


@EXERCISES.made("voip-ex-events")
def _() -> Formula:
    """A function times, rtt -> number of loss events of losses at these times (s, rising)."""
    dense = [0.03 * k + 0.011 for k in range(12)]
    return Formula(
        _events,
        [([0.52, 0.55, 0.59, 0.64, 1.33], 0.1), ([0.19, 0.21, 0.28, 0.95], 0.1), (dense, 0.1), (dense, 0.2), ([], 0.1)],
        [
            (lambda times, rtt: len(times), "these are losses; those within a round trip of the first are one event."),
            (_chained, "the round trip runs from the first loss of the event, not from the loss before."),
            (lambda times, rtt: len({t // rtt for t in times}),
             "an event begins with its loss, not at a multiple of rtt."),
            (lambda times, rtt: max(_events(times, rtt) - 1, 0), "the first loss begins an event, too."),
        ],
        right="an event lasts a round trip from its first loss.",
    )  # fmt: skip


# The lab: a receiver that counts losses. Numbers of packets rise, times are whole nanoseconds.

Arrivals = list[tuple[int, int]]
RTT = SECOND // 10


def _trace(seed: int, packets: int = 120, loss: float = 0.08) -> Arrivals:
    """Numbers and times of packets that came, 20 ms apart, in order."""
    rng = np.random.default_rng(seed)
    came = np.flatnonzero(rng.random(packets) >= loss)
    late = rng.integers(0, 5_000_000, came.size)
    return [(int(n), int(n) * 20_000_000 + int(d)) for n, d in zip(came, late, strict=True)]


def _missing(numbers: list[int], later: int = 3) -> list[int]:
    have = set(numbers)
    return [k for k in range(numbers[0], numbers[-1]) if k not in have and sum(n > k for n in numbers) >= later]


def _when(arrivals: Arrivals) -> dict[int, int]:
    lost, found = _missing([n for n, _ in arrivals]), {}
    for (a, before), (b, after) in itertools.pairwise(arrivals):
        found.update({k: before + (after - before) * (k - a) // (b - a) for k in range(a + 1, b) if k in lost})
    return found


def _hole_hint(arrivals: Arrivals, got: dict[int, int]) -> str:
    """What to say to times that divide a hole in a usual wrong way; nothing if it is none of these."""
    for (a, before), (b, after) in itertools.pairwise(arrivals):
        hole = [k for k in range(a + 1, b) if k in got]
        if hole and all(got[k] == before for k in hole):
            return "that is when the packet before the hole came: spread the missing ones up to the one behind it."
        if hole and all(got[k] == before + (after - before) * (k - a) // len(hole) for k in hole):
            return "with n missing there are n + 1 steps from the packet before the hole to the one behind it."
    return ""


def _intervals(
    losses: Arrivals, rtt: int, first: float, *, sooner: int = 0, chained: bool = False, more: int = 0, most: int = 8
) -> tuple[list[float], int | None]:
    """What is right, and usual mistakes: `<` for `<=`, a round trip from each loss, a packet too many, no limit."""
    closed: list[float] = []
    began: int | None = None
    since = 0
    for lost, when in losses:
        new = began is None or when > since + rtt - sooner
        if new:
            closed.insert(0, first if began is None else float(lost - began + more))
            began = lost
        since = when if new or chained else since
    return closed[:most], began


def _package(arrivals: Arrivals) -> tuple[list[float], float]:
    """The loss event rate after each packet by the package's reading version, and its made first interval."""
    receiver, rates, first = TfrcReceiver(20), [], 0.0
    for seq, at in arrivals:
        receiver.on_packet(at, Packet(seq, seq, 1, at, rtt=RTT / SECOND))
        if receiver.history.events == 1:
            first = receiver.history.closed[0]
        rates.append(receiver.loss_event_rate(receiver.open_interval(seq, at, RTT / SECOND)))
    return rates, first


def _rates(arrivals: Arrivals, first: float, more: int = 1) -> list[float]:
    """The rates of stage 5, with an open interval that is `more` than the difference of the numbers."""
    rates = []
    for n, (newest, _) in enumerate(arrivals, 1):
        closed, began = _intervals(sorted(_when(arrivals[:n]).items()), RTT, first)
        rates.append(0.0 if began is None else min(1 / mean_interval(newest - began + more, closed), 1.0))
    return rates


@EXERCISES.called("voip-ex-lab-missing")
def _(answer: Function) -> Feedback:
    """Stage 1: (numbers) -> what is known to be lost."""
    traces = ([n for n, _ in _trace(k)] for k in (1, 2))
    for numbers in ([0, 1, 4, 5, 6, 8, 9, 11], [4, 6, 7], [4, 5, 6], [0, 1, 3, 5], *traces):
        got, wanted = list(answer(list(numbers))), _missing(numbers)
        if got != wanted and got == [k for k in range(numbers[0], numbers[-1] - 2) if k not in numbers]:
            return Feedback(False, "three later *packets* must have come; of the next three numbers some may be lost.")
        if got != wanted and got in (_missing(numbers, 2), _missing(numbers, 4)):
            return Feedback(False, "three later packets, neither two nor four.")
        if got != wanted and got == _missing(numbers, 1):
            return Feedback(False, "a hole may be a packet that was overtaken: three later ones must have come.")
        if got != wanted:
            return Feedback(False, f"of {numbers[:9]} …: {wanted[:5]} are lost, you gave {got[:5]!s:.40}.")
    return Feedback(True, "a hole is a loss once three later packets are there.")


@EXERCISES.called("voip-ex-lab-when")
def _(answer: Function) -> Feedback:
    """Stage 2: (arrivals) -> when each lost packet would have come."""
    cases = [[(0, 0), (2, 40), (3, 60), (4, 80)], [(7, 140), (10, 200), (11, 220), (12, 240)], _trace(3), _trace(4)]
    for arrivals in cases:
        got, wanted = answer(list(arrivals)), _when(arrivals)
        if not isinstance(got, dict):
            return Feedback(False, "return a dict: number of the packet to time.")
        if sorted(got) != sorted(wanted):
            return Feedback(False, f"packets {sorted(wanted)[:5]} are lost here, you have {sorted(got)[:5]!s:.40}.")
        verdict = sequence([got[k] for k in sorted(wanted)], [wanted[k] for k in sorted(wanted)], 1e-9, unit="ns")
        if not verdict and (hint := _hole_hint(arrivals, got)):
            return Feedback(False, hint)
        if not verdict:
            return Feedback(False, f"evenly spread between its neighbours: {verdict.message}")
    return Feedback(True, "evenly spread between the packets before and after the hole.")


@EXERCISES.called("voip-ex-lab-intervals")
def _(answer: Function) -> Feedback:
    """Stage 3: (losses, rtt, first) -> closed intervals, and where the newest event began."""
    worked = [(50, 50 * 20_000_000), (52, 52 * 20_000_000), (90, 90 * 20_000_000)]
    many = [(n, n * 20_000_000) for n in range(3, 400, 11)]
    dense = [(n, n * 20_000_000) for n in range(3, 60, 3)]
    exact = [(3, 0), (8, RTT), (9, RTT + 1), (30, 3 * RTT)]
    hints: list[tuple[dict[str, Any], str]] = [
        ({"sooner": 1}, "just a round trip after the event's first loss still belongs to it: `same_event` asks `<=`."),
        ({"chained": True}, "a round trip from the *first* loss of the event, not from the loss before."),
        ({"more": 1}, "the loss that begins the next event isn't counted: from 50 to 90 it is 40."),
        ({"more": -1}, "the loss that begins an event is counted: from 50 to 90 it is 40."),
        ({"most": 1000}, "at most eight intervals are kept."),
    ]
    for losses in (worked, [], many, dense, exact, sorted(_when(_trace(5, 600)).items())):
        got, (closed, began) = answer(list(losses), RTT, 29.0), _intervals(losses, RTT, 29.0)
        if not isinstance(got, tuple | list) or len(got) != 2:
            return Feedback(False, "return two things: the intervals, and the number that began the newest event.")
        if list(got[0]) != closed:
            for mistake, hint in hints:
                if list(got[0]) == _intervals(losses, RTT, 29.0, **mistake)[0]:
                    return Feedback(False, hint)
        if len(got[0]) != len(closed):
            said = f"{len(closed)} intervals are asked, you gave {len(got[0])}."
            return Feedback(False, f"with {len(losses)} losses: {said}")
        if list(got[0]) == closed[::-1] != closed:
            return Feedback(False, "the newest interval comes first.")
        verdict = sequence(list(got[0]), closed, 1e-9) if closed else Feedback(True, "")
        if not verdict:
            return Feedback(False, verdict.message)
        if got[1] != began:
            return Feedback(False, f"the newest event began with packet {began}, not {got[1]!r:.20}.")
    return Feedback(True, "from first loss to first loss, at most eight of them.")


@EXERCISES.called("voip-ex-lab-rate")
def _(answer: Function) -> Feedback:
    """Stage 4: (newest, closed) -> loss event rate."""
    for newest, closed in ((20, []), (20, [100.0] * 8), (400, [100.0] * 8), (5, [30.0, 7.0]), (1, [1.0])):
        wanted = min(1 / mean_interval(newest, closed), 1.0) if closed else 0.0
        got = answer(newest, list(closed))
        plain = len(closed) / sum(closed) if closed else None
        hints = {plain: "this is the plain mean; weigh the intervals, and ask the open one."} if plain else {}
        if closed:
            weighed = list(zip(WEIGHTS, [float(newest), *closed], strict=False))
            always = sum(w for w, _ in weighed) / sum(w * one for w, one in weighed)
            said = "an open interval that is short must not count yet: two means are taken, and the larger counts."
            hints |= {always: said}
        verdict = number(got, wanted, 1e-9, hints=hints)
        if not verdict:
            return Feedback(False, verdict.message)
    return Feedback(True, "one event in a mean interval, and zero before the first.")


@EXERCISES.called("voip-ex-lab-receiver")
def _(answer: Function) -> Feedback:
    """Stage 5: (arrivals, rtt, first) -> the rate after each packet; equal to the package's on unseen traces."""
    for seed in (11, 12, 13):
        arrivals = _trace(seed)
        wanted, first = _package(arrivals)
        got = list(answer(list(arrivals), RTT, first))
        if len(got) != len(wanted):
            return Feedback(False, f"one rate for each packet: {len(wanted)} are asked, you gave {len(got)}.")
        verdict = sequence(got, wanted, 1e-9)
        if not verdict and sequence(got, _rates(arrivals, first, 0), 1e-9):
            return Feedback(False, "the open interval counts the packet that began the event, too: one more.")
        if not verdict:
            return Feedback(False, verdict.message)
    return Feedback(True, "equal to the package's receiver on three traces that you had not seen.")

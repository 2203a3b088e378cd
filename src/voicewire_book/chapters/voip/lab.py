"""The checks of the lab of *Rate control for voice*: a receiver that counts losses, built in five stages.

Numbers of packets rise, times are whole nanoseconds. `None` means not answered yet.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from voicewire.netsim.reference import Packet, TfrcReceiver, mean_interval
from voicewire.netsim.reference.equation import WEIGHTS
from voicewire.netsim.reference.path import SECOND
from voicewire_book.kit._student import Function, called
from voicewire_book.kit.exercises import Feedback, number, sequence

__all__ = ["check_intervals", "check_missing", "check_rate", "check_receiver", "check_when"]

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


@called
def check_missing(answer: Function) -> Feedback:
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


@called
def check_when(answer: Function) -> Feedback:
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


@called
def check_intervals(answer: Function) -> Feedback:
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


@called
def check_rate(answer: Function) -> Feedback:
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
    return Feedback(True, "one event in a mean interval, and nought before the first.")


@called
def check_receiver(answer: Function) -> Feedback:
    """Stage 5: (arrivals, rtt, first) -> the rate after each packet; equal to the package's on traces not seen before.
    """
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

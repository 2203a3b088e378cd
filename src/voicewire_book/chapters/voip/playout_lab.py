"""The checks of the lab of *What the ear makes of it*: the thesis' recursion, built in five stages.

Delays are in ms, `math.inf` for a frame that never came; talkspurts are numbered. `None` means not answered yet.
"""

from __future__ import annotations

import math

import numpy as np

from voicewire.voip import playout, reference
from voicewire_book.chapters.voip import playout_recursion
from voicewire_book.kit._student import Function, called
from voicewire_book.kit.exercises import Feedback, sequence

__all__ = ["check_all_costs", "check_bound", "check_costs", "check_joined", "check_rows"]

Call = tuple[list[float], list[int]]
SMALL: Call = ([150.0, 60.0, math.inf, 240.0, 90.0], [0, 0, 0, 1, 1])


def _call(seed: int, frames: int = 60) -> Call:
    """A call of a few talkspurts, some frames late and some never there."""
    rng = np.random.default_rng(seed)
    delays = (50 + rng.gamma(2, 25, frames)).round(1)
    delays[rng.random(frames) < 0.1] += 200
    delays[rng.random(frames) < 0.05] = math.inf
    return delays.tolist(), np.sort(rng.integers(0, 6, frames)).tolist()


def _costs(row: list[float]) -> list[float]:
    return [0.0] + [j * reference.delay_impairment(d) for j, d in enumerate(row, start=1)]


def _joined(before: list[float], row: list[float]) -> list[float]:
    most = len(before) + len(row) - 1
    return [min(before[i - j] + row[j] for j in range(len(row)) if 0 <= i - j < len(before)) for i in range(most)]


def _same(got: object, wanted: list[float], about: str) -> str:
    """What is wrong with a list, or nothing."""
    values = list(got)  # type: ignore[call-overload]
    if len(values) != len(wanted):
        return f"{about}: {len(wanted)} numbers are asked, you gave {len(values)}."
    if not wanted:
        return ""
    verdict = sequence(values, wanted, 1e-9, absolute=1e-9)
    return "" if verdict else f"{about}: {verdict.message}"


@called
def check_rows(answer: Function) -> Feedback:
    """Stage 1: (delays, spurts) -> the delays that came, by talkspurt, smallest first."""
    for delays, spurts in (SMALL, ([math.inf, 70.0], [0, 1]), _call(1), _call(2)):
        got, wanted = answer(list(delays), list(spurts)), reference.talkspurts(delays, spurts)
        if len(got) != len(wanted):
            return Feedback(False, f"{len(wanted)} talkspurts are spoken here, you gave {len(got)}.")
        for mine, row in zip(got, wanted, strict=True):
            if math.inf in mine:
                return Feedback(False, "a frame that never came cannot be played.")
            if list(mine) != row == sorted(mine):
                return Feedback(False, "the smallest delay comes first.")
            if wrong := _same(mine, row, "of one talkspurt"):
                return Feedback(False, wrong)
    return Feedback(True, "what may be played, in the order in which it becomes playable.")


@called
def check_costs(answer: Function) -> Feedback:
    """Stage 2: (row) -> the cost of playing 0, 1, 2, … frames of a talkspurt."""
    for row in ([60.0, 150.0], [], [90.0, 200.0, 277.3], *reference.talkspurts(*_call(3))):
        got, each = answer(list(row)), [reference.delay_impairment(d) for d in row]
        if len(row) > 1 and len(got) == len(row) + 1 and np.allclose(got, [0.0, *np.cumsum(each)]):
            said = "all that are played wait for the last of them: j frames cost j times its impairment."
            return Feedback(False, said)
        if len(row) > 1 and len(got) == len(row) + 1 and np.allclose(got, [0.0, *each]):
            return Feedback(False, "each of the j frames that are played waits: j times the j-th impairment.")
        if wrong := _same(got, _costs(row), f"for {len(row)} frames"):
            return Feedback(False, wrong)
    return Feedback(True, "nought for none, and j times the j-th impairment.")


@called
def check_joined(answer: Function) -> Feedback:
    """Stage 3: (before, row) -> least costs with one talkspurt more."""
    rng = np.random.default_rng(4)
    drawn = [[0.0, *np.cumsum(rng.integers(0, 9, n)).tolist()] for n in (3, 5, 8, 1)]
    for before, row in (([0, 1, 2, 9], [0, 3, 4]), ([0.0], [0, 5, 6]), tuple(drawn[:2]), tuple(drawn[2:])):
        got = answer(list(before), list(row))
        if wrong := _same(got, _joined(list(before), list(row)), f"of {len(before)} and {len(row)}"):
            return Feedback(False, wrong)
    return Feedback(True, "each number of frames may be shared in many ways; the cheapest counts.")


@called
def check_all_costs(answer: Function) -> Feedback:
    """Stage 4: (delays, spurts) -> least cost of playing 0, 1, 2, … frames of a call."""
    for delays, spurts in (SMALL, _call(5), _call(6)):
        wanted = playout_recursion.repaired_costs(delays, spurts).tolist()
        got = answer(list(delays), list(spurts))
        if got is not None and list(got) == _costs(sorted(d for d in delays if d < math.inf)) != wanted:
            return Feedback(False, "each talkspurt waits for the last of its own frames only: join them one by one.")
        if wrong := _same(got, wanted, f"of a call of {len(delays)} frames"):
            return Feedback(False, wrong)
    return Feedback(True, "as many numbers as frames that came, and one for none.")


@called
def check_bound(answer: Function) -> Feedback:
    """Stage 5: (delays, spurts) -> the best R of G.711; equal to the package's bound on calls not seen before."""
    for delays, spurts in (*map(_call, range(10, 16)), ([math.inf, math.inf], [0, 1])):
        best = playout.bound(delays, spurts, "G.711").r
        got = float(answer(list(delays), list(spurts)))
        if not math.isclose(got, best, abs_tol=1e-6):
            return Feedback(False, f"a call of {len(delays)} frames reaches {best:.1f} at best, you have {got:.1f}.")
    return Feedback(True, "equal to the walk over hulls on seven calls that you had not seen.")

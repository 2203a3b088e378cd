"""The exercises and the lab of chapter 3, *The reproduction*."""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from voicewire._kit import checks
from voicewire.stats import t_interval
from voicewire_book.kit._student_functions import Case, as_function
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import Feedback
from voicewire_book.kit.records import Choice, Formula, Nested
from voicewire_book.kit.table import Exercises
from voicewire_book.ledger import rules

__all__ = ["EXERCISES", "check", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given


def _floor(delay: int) -> Drawn:
    trip = 2 * delay / 1000
    packets = 50 * trip
    return Drawn(
        f"d = {delay} ms one way",
        packets,
        (
            (8.0, f"eight packets in {trip:g} s are {8 / trip:.0f} a second, and the codec makes 50."),
            (packets / 2, "the round trip is twice the one-way delay, and a floor is a whole number."),
            (float(math.ceil(packets / 2)),
             "the round trip is twice the one-way delay, and a floor is a whole number."),
            (packets - 1, f"one packet fewer in {trip:g} s makes {(packets - 1) / trip:.0f} a second, and the codec "
             "makes 50."),
            (15.0, "this is what 150 ms need."),
            (50.0, "this is how many a second; how many in a round trip?"),
        ),
        f"A round trip is 2 · {delay} ms = {trip:g} s.\n"
        f"In it the voice makes 50 · {trip:g} = {packets:g} packets, and all of them must be allowed.",
        unit="packets a round trip",
        right=f"50 packets/s times a round trip of {trip:g} s.",
        tolerance=1e-9,
    )  # fmt: skip


# Smallest whole floor, in packets a round trip, that carries G.729 at 110 ms one way as UDP does.
EXERCISES["voip-ex-floor"] = Exercise("floor", (110,), lambda rng: (10 * int(rng.integers(9, 24)),), _floor)


# a, x -> Jain's index if the share a of the calls gets x instead of 1.
EXERCISES["voip-ex-jain"] = Formula(
    lambda a, x: (1 - a + a * x) ** 2 / (1 - a + a * x * x),
    [(0.25, 0.2), (0.5, 0.0), (0.1, 0.7)],
    [
        (lambda a, x: 1 - a + a * x, "this is the mean; Jain squares."),
        (lambda a, x: (1 - a + a * x) / (1 - a + a * x * x), "the sum is squared above the line."),
        (lambda a, x: (1 - a + a * x * x) / (1 - a + a * x) ** 2, "this is more than 1: turn it over."),
        (lambda a, x: (a + (1 - a) * x) ** 2 / (a + (1 - a) * x * x), "a is the share of the calls that get x, not 1."),
    ],
    right="(1 - a + a x)² / (1 - a + a x²), however many calls there are.",
)  # fmt: skip


# rho -> how many times as many calls an unpaired comparison needs as a paired one.
EXERCISES["voip-ex-paired"] = Formula(
    lambda rho: 1 / (1 - rho),
    [(0.0,), (0.5,), (0.9,)],
    [
        (lambda rho: 1 / math.sqrt(1 - rho), "this is the ratio of the standard errors; calls go with its square."),
        (lambda rho: 1 / (1 - rho) ** 2, "the variance falls with the number of calls, not with its root."),
        (lambda rho: 1 / (1 - rho**2), "the difference of the two is asked, not what is left after a regression."),
        (lambda rho: 1 - rho, "this is paired against unpaired: turn it over."),
        (lambda rho: 2 / (1 - rho), "both variances are there in either way of comparing."),
    ],
    right="1/(1 - ρ): nothing is won if the words do not matter, and tenfold at ρ = 0.9.",
)  # fmt: skip


# The verdict on an order claimed for all delays, which the mean shows and one delay reverses.
EXERCISES["voip-ex-order"] = Choice(
    "b", "abcd",
    hints={
        "a": "the claim speaks of each delay; a mean may hide that one of them contradicts.",
        "c": "the interval at 400 ms excludes zero: this is decided.",
        "d": "nothing here varies with an assumption; a reading is needed for that verdict.",
    },
    right="a statement on all delays falls with one; that it holds on average would be another claim.",
)  # fmt: skip


# What is shown if the effect comes out as large with the mechanism taken away.
EXERCISES["voip-ex-rival"] = Choice(
    "c", "abcd",
    hints={
        "a": "the effect is there; that the mechanism makes it is what the rival was to test.",
        "b": "it may still add its two points; what is shown is that it is not needed for the rest.",
        "d": "more calls make both numbers sharper, and leave them as near to each other.",
    },
    right="whatever makes 21 of the 23 points is at work in both runs: the comparison cannot speak for the mechanism.",
)  # fmt: skip


def _dropped(frames: int, places: int, gap: float, drop: str = "oldest", serving: int = 0) -> list[int]:
    """Return which frames a full buffer drops; `serving` counts the frame that is being sent as one that waits."""
    waiting, dropped, free = deque[int](), [], 0.0
    for frame in range(frames):
        now = 20.0 * frame
        while waiting and free <= now:
            waiting.popleft()
            free += gap
        if free <= now:
            free = now + gap
        elif len(waiting) + serving < places:
            waiting.append(frame)
        elif drop == "newest" or not waiting:
            dropped.append(frame)
        else:
            dropped.append(waiting.popleft())
            if drop == "oldest":
                waiting.append(frame)
            else:
                dropped.append(frame)
    return dropped


def _drops(answer: object, arguments: Case, wrong: list[int]) -> bool:
    """Whether a student's function gives these frames."""
    try:
        return sorted(answer(*arguments)) == sorted(wrong)  # type: ignore[operator]
    except Exception:  # whatever a student's code may raise: the check that follows says so
        return False


@EXERCISES.judged("voip-ex-oldest")
def _(answer: object) -> Feedback:
    """A function frames, places, gap -> numbers of the frames that a buffer drops which gives up its oldest."""
    answer = as_function(answer)
    if isinstance(answer, Feedback):
        return answer
    at = [(40, 5, 37.1), (30, 3, 53.3), (25, 2, 31.7), (20, 5, 18.7)]
    slips: list[tuple[dict[str, Any], str]] = [
        ({"drop": "newest"}, "this drops the frame that finds no place; the one that has waited longest should go."),
        ({"serving": 1}, "the frame that is being sent has left the buffer: it takes no place."),
        ({"drop": "both"}, "when the oldest has gone, the new frame has a place."),
    ]
    for how, hint in slips:
        if all(_drops(answer, case, _dropped(*case, **how)) for case in at):
            return Feedback(False, hint)
    for case in at:
        call = "your function of {} frames, {} places and {} ms".format(*case)
        try:
            got = [int(frame) for frame in answer(*case)]
        except Exception as error:  # whatever a student's code may raise
            return Feedback(False, f"{call} raises, or gives no list of frames: {type(error).__name__}: {error}")
        wanted = _dropped(*case)
        if sorted(got) != wanted:
            first = min(set(got) ^ set(wanted), default=None)
            what = "a frame twice" if first is None else f"frame {first} {'too many' if first in got else 'is missing'}"
            return Feedback(False, f"{call}: {what}.")
    return Feedback(True, "those that have waited longest go, and what is played is younger.")


# The lab: from the scores of calls to the verdict on an order. A score is a call's R; the i-th score of every label
# belongs to the same words and losses.

Scores = dict[str, list[float]]
Draws = list[list[int]]
VERDICTS = {"yes": "reproduced", "partly": "partly", "no": "not reproduced", "undecided": "undecided"}
CHANCE = 0.05


def _gap(low: list[float], high: list[float]) -> tuple[float, float]:
    found = t_interval(np.subtract(high, low))
    return found.low, found.high


def _exceeds(low: list[float], high: list[float], margin: float) -> str:
    return rules.ordering(["low", "high"], {"low": low, "high": high}, margin, paired=True).holds


def _together(parts: list[str]) -> str:
    """What holds of all parts, whichever way the undecided ones turn out."""
    ends = set()
    for ways in itertools.product(*(("yes", "no") if part == "undecided" else (part,) for part in parts)):
        ends.add("yes" if "no" not in ways else "no" if "yes" not in ways else "partly")
    return ends.pop() if len(ends) == 1 else "undecided"


def _ordered(labels: list[str], scores: Scores, margin: float) -> str:
    return rules.ordering(labels, scores, margin, paired=True).holds


def _exchanged(scores: Scores, draws: Draws) -> Scores:
    drawn = np.take_along_axis(np.array(list(scores.values())).T, np.array(draws), axis=1)
    return dict(zip(scores, drawn.T.tolist(), strict=True))


def _judged(
    labels: list[str], scores: Scores, margin: float, worlds: list[Draws], limit: float = CHANCE,
    unless: tuple[str, ...] = ("reproduced",),
) -> tuple[str, float]:  # fmt: skip
    passed = [_ordered(labels, _exchanged(scores, draws), margin) == "yes" for draws in worlds]
    share, verdict = sum(passed) / len(worlds), VERDICTS[_ordered(labels, scores, margin)]
    return "not testable here" if share > limit and verdict in unless else verdict, share


@checks.takes(
    labels=checks.whole(2, 100), calls=checks.whole(1, 10_000), runs=checks.whole(1, 10_000), seed=checks.seed
)
def worlds(labels: int, calls: int, runs: int, seed: int) -> list[Draws]:
    """Draw how labels are exchanged within each call, as stage 6 takes it."""
    rng = np.random.default_rng(seed)
    order = np.tile(np.arange(labels), (runs, calls, 1))
    drawn: list[Draws] = rng.permuted(order, axis=2).tolist()
    return drawn


def _scores(rng: np.random.Generator, steps: Sequence[float], calls: int, noise: float) -> Scores:
    """Calls whose words make all scores rise and fall together, and what each label adds to them."""
    words = 60 + 8 * rng.normal(size=calls)
    table = np.clip([words + step + noise * rng.normal(size=calls) for step in np.cumsum(steps)], 0, 93.2)
    return {name: row.round(2).tolist() for name, row in zip("ABCDEF", table, strict=False)}


def _studies(count: int, seed: int) -> list[Case]:
    """Orders that hold, fail, hold in part, or stay open, of two to four senders, which no page shows."""
    rng = np.random.default_rng(seed)
    cases: list[Case] = []
    for k in range(count):
        labels = int(rng.integers(2, 5))
        steps = np.r_[0, rng.choice([-4.0, 0.3, 1.0, 5.0, 5.0, 5.0, 5.0], labels - 1)]
        margin = float(rng.choice([0.0, 0.0, 0.0, 1.0, -30.0]))
        if margin < 0 and k % 2:  # far below even so, while exchanged labels lie close together
            steps[1] = -42.0
        scores = _scores(rng, steps, int(rng.integers(6, 31)), 2.0)
        named = [str(name) for name in rng.permutation(list(scores))] if k % 5 == 4 else list(scores)
        cases.append((named, scores, margin, worlds(labels, len(scores["A"]), 20, seed + k)))
    return cases


@EXERCISES.made("voip-ex-judging-lab-gap")
def _() -> Nested:
    """Stage 1: the scores of two senders, call by call -> the interval of how much the second is above the first."""

    def ends(low: list[float], high: list[float]) -> tuple[float, float]:
        one, other = t_interval(low), t_interval(high)
        return other.low - one.high, other.high - one.low

    def welch(low: list[float], high: list[float]) -> tuple[float, float]:
        _, least, most = rules.difference(low, high)
        return least, most

    def normal(low: list[float], high: list[float]) -> tuple[float, float]:
        apart = np.subtract(high, low)
        half = 1.96 * float(np.std(apart, ddof=1)) / len(apart) ** 0.5
        return float(np.mean(apart)) - half, float(np.mean(apart)) + half

    return Nested(
        [
            ([50.0, 60.0, 70.0], [52.0, 61.0, 75.0]), ([80.0, 70.0], [75.0, 66.0]), ([5.0, 6.0, 7.0], [6.0, 7.0, 8.0]),
            *((scores["A"], scores["B"]) for _, scores, _, _ in _studies(3, 1)),
        ],
        _gap,
        [
            (lambda low, high: _gap(high, low), "how much the *second* is above the first."),
            (ends, "two intervals apart throw the pairs away: take the differences, call by call, and their interval."),
            (welch, "the calls belong together: take the differences, call by call, and their interval."),
            (lambda low, high: (float(np.mean(np.subtract(high, low))),) * 2, "the interval is asked, not the mean."),
            (normal, "1.96 is for many calls; of few the deviation is known badly: take `t_interval`."),
        ],
        "what the words do to both senders has dropped out.",
    )  # fmt: skip


@EXERCISES.made("voip-ex-judging-lab-exceeds")
def _() -> Nested:
    """Stage 2: the scores of two senders and a margin -> whether the second exceeds the first by more."""
    rows = ([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]), ([50.0, 60.0, 70.0], [52.0, 61.0, 75.0]), ([9.0, 8.0], [1.0, 0.5])

    def by(rule: Callable[[float, float, float], str]) -> Callable[..., str]:
        return lambda low, high, margin: rule(*_gap(low, high), margin)

    return Nested(
        [(*row, margin) for row in rows for margin in (0.0, 1.0, 0.5, 8.0)], _exceeds,
        [
            (by(lambda least, most, margin: "yes" if (least + most) / 2 > margin else "no"),
             "the mean is one number: the whole interval must lie above the margin."),
            (by(lambda least, most, margin: "yes" if least > margin else "no"),
             "that it is not shown does not make it false: an interval that holds the margin leaves it undecided."),
            (by(lambda least, most, margin: "yes" if least > margin else "no" if most < margin else "undecided"),
             "exactly the margin is not more than it: an interval that ends there is a no."),
            (by(lambda least, most, margin: "yes" if least > 0 else "no" if most <= 0 else "undecided"),
             "it must exceed by more than the margin."),
        ],
        "above, not above, or not to be told apart.",
    )  # fmt: skip


@EXERCISES.made("voip-ex-judging-lab-together")
def _() -> Nested:
    """Stage 3: what was found of each part of a claim -> what holds of all of it."""

    def careless(parts: list[str]) -> str:
        return "undecided" if "undecided" in parts else _together(parts)

    def strict(parts: list[str]) -> str:
        return "yes" if set(parts) == {"yes"} else "no" if "no" in parts else "undecided"

    def known(parts: list[str]) -> str:
        return _together([part for part in parts if part != "undecided"] or ["undecided"])

    return Nested(
        [(list(parts),) for n in (1, 2, 3) for parts in itertools.product(("yes", "no", "undecided"), repeat=n)],
        _together,
        [
            (careless,
             "next to a yes and a no an open part changes nothing: it is *partly*, whichever way that turns out."),
            (strict, "a yes next to a no is *partly*."),
            (known, "an undecided part may be a no: it can't be left out."),
            (lambda parts: "partly" if len(set(parts)) > 1 else parts[0],
             "*partly* asks for a yes and a no that are certain."),
        ],
        "certain, whichever way the open parts turn out.",
    )  # fmt: skip


@EXERCISES.made("voip-ex-judging-lab-ordered")
def _() -> Nested:
    """Stage 4: labels in the claimed order, their scores and a margin -> what holds of the order."""

    def ends(labels: list[str], scores: Scores, margin: float) -> str:
        return _exceeds(scores[labels[0]], scores[labels[-1]], margin)

    def means(labels: list[str], scores: Scores, margin: float) -> str:
        found = [float(np.mean(scores[label])) for label in labels]
        return _together(["yes" if b - a > margin else "no" for a, b in itertools.pairwise(found)])

    return Nested(
        [(["B", "A"], {"A": [60.0, 61.0, 63.0], "B": [50.0, 52.0, 53.0]}, 0.0),
         *(case[:3] for case in _studies(30, 3))], _ordered,
        [
            (lambda labels, scores, margin: _ordered(labels[::-1], scores, margin), "the smallest comes first."),
            (lambda labels, scores, margin: _ordered(list(scores), scores, margin),
             "in the order of `labels`, which need not be that of the dict."),
            (ends, "first and last leave out what lies between."),
            (means, "means side by side say nothing of how sure they are: use the differences, call by call."),
        ],
        "each neighbour, by its differences.",
    )  # fmt: skip


@EXERCISES.made("voip-ex-judging-lab-exchanged")
def _() -> Nested:
    """Stage 5: scores and draws -> the scores of a world in which the labels mean nothing."""

    def once(scores: Scores, draws: Draws) -> Scores:
        rows = list(scores.values())
        return {label: rows[k] for label, k in zip(scores, draws[0], strict=True)}

    def back(scores: Scores, draws: Draws) -> Scores:
        return _exchanged(scores, [np.argsort(draw).tolist() for draw in draws])

    def named(scores: Scores, draws: Draws) -> Scores:
        return _exchanged(dict(sorted(scores.items())), draws)

    return Nested(
        [
            ({"a": [1.0, 2.0], "b": [5.0, 6.0]}, [[1, 0], [0, 1]]),
            ({"y": [1.0, 2.0, 3.0], "x": [4.0, 5.0, 6.0], "z": [7.0, 8.0, 9.0]}, [[1, 2, 0], [2, 0, 1], [0, 2, 1]]),
        ],
        _exchanged,
        [
            (once, "each call has a draw of its own: whole rows exchanged keep the order of the labels within."),
            (back, "the other way round: label j *gets* the score of label `draw[j]`."),
            (lambda scores, draws: scores, "nothing has been exchanged."),
            (lambda scores, draws: _exchanged(scores, draws[::-1]), "the first draw is of the first call."),
            (named, "number j is the j-th label in the order of the dict, not of the alphabet."),
        ],
        "within each call, so that pairs stay pairs.",
    )  # fmt: skip


@EXERCISES.made("voip-ex-judging-lab-judged")
def _() -> Nested:
    """Stage 6: a claimed order, scores, margin and exchanged worlds -> the verdict, and how often the rival passes."""
    lucky: Case = (  # the rival passes in two worlds of twenty
        ["B", "A"], {"B": [50.0, 52.0, 53.0], "A": [60.0, 61.0, 63.0]}, 0.0, [[[0, 1]] * 3] * 2 + [[[1, 0]] * 3] * 18,
    )  # fmt: skip
    return Nested(
        [lucky, *_studies(20, 11)[1:]], _judged,
        [
            (partial(_judged, limit=1.0),
             "a test that the rival passes in more than 5 % of its worlds shows nothing: *not testable here*."),
            (partial(_judged, unless=tuple(VERDICTS.values())),
             "only what would be *reproduced* is taken back: where the claim itself fails or stays open, that is the "
             "answer."),
            (partial(_judged, limit=0.0), "5 % is allowed: one lucky world of many is no objection."),
            (partial(_judged, limit=0.1), "5 % of the worlds are allowed, not 10."),
            (lambda *given: (_judged(*given)[0], 100 * _judged(*given)[1]), "the share as a number from 0 to 1."),
        ],
        "equal to the package's in 20 studies that you had not seen.",
    )  # fmt: skip

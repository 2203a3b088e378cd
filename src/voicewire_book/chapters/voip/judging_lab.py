"""The checks of the lab of *The reproduction*: from the scores of calls to the verdict on an order, in six stages.

A score is a call's R. The i-th score of every label belongs to the same words and losses. `None` means not answered
yet.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from voicewire._kit import checks
from voicewire.stats import t_interval
from voicewire_book.kit._nested import compared
from voicewire_book.kit.exercises import Feedback, Mistakes
from voicewire_book.ledger import rules

__all__ = [
    "check_exceeds", "check_exchanged", "check_gap", "check_judged", "check_ordered", "check_together", "worlds",
]  # fmt: skip

Scores = dict[str, list[float]]
Draws = list[list[int]]
Case = tuple[Any, ...]
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


_ROWS: list[Case] = [
    ([50.0, 60.0, 70.0], [52.0, 61.0, 75.0]), ([80.0, 70.0], [75.0, 66.0]), ([5.0, 6.0, 7.0], [6.0, 7.0, 8.0]), *(
        (scores["A"], scores["B"]) for _, scores, _, _ in _studies(3, 1)
    ),
]  # fmt: skip
_MARGINS: list[Case] = [
    (*row, margin)
    for row in (([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]), ([50.0, 60.0, 70.0], [52.0, 61.0, 75.0]), ([9.0, 8.0], [1.0, 0.5]))
    for margin in (0.0, 1.0, 0.5, 8.0)
]
_PARTS: list[Case] = [
    (list(parts),) for n in (1, 2, 3) for parts in itertools.product(("yes", "no", "undecided"), repeat=n)
]
_DRAWN: list[Case] = [
    ({"a": [1.0, 2.0], "b": [5.0, 6.0]}, [[1, 0], [0, 1]]),
    ({"y": [1.0, 2.0, 3.0], "x": [4.0, 5.0, 6.0], "z": [7.0, 8.0, 9.0]}, [[1, 2, 0], [2, 0, 1], [0, 2, 1]]),
]
_LUCKY: Case = (  # the rival passes in two worlds of twenty
    ["B", "A"], {"B": [50.0, 52.0, 53.0], "A": [60.0, 61.0, 63.0]}, 0.0, [[[0, 1]] * 3] * 2 + [[[1, 0]] * 3] * 18,
)  # fmt: skip
_ORDERS: list[Case] = [
    (["B", "A"], {"A": [60.0, 61.0, 63.0], "B": [50.0, 52.0, 53.0]}, 0.0), *(case[:3] for case in _studies(30, 3)),
]  # fmt: skip


def check_gap(answer: object) -> Feedback:
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

    mistakes: Mistakes = [
        (lambda low, high: _gap(high, low), "how much the *second* is above the first."),
        (ends, "two intervals apart throw the pairs away: take the differences, call by call, and their interval."),
        (welch, "the calls belong together: take the differences, call by call, and their interval."),
        (lambda low, high: (float(np.mean(np.subtract(high, low))),) * 2, "the interval is asked, not the mean."),
        (normal, "1.96 is for many calls; of few the deviation is known badly: take `t_interval`."),
    ]
    return compared(answer, _ROWS, _gap, mistakes, "what the words do to both senders has dropped out.")


def check_exceeds(answer: object) -> Feedback:
    """Stage 2: the scores of two senders and a margin -> whether the second exceeds the first by more."""

    def by(rule: Callable[[float, float, float], str]) -> Callable[..., str]:
        return lambda low, high, margin: rule(*_gap(low, high), margin)

    mistakes: Mistakes = [
        (by(lambda least, most, margin: "yes" if (least + most) / 2 > margin else "no"), "the mean is one number: "
         "the whole interval must lie above the margin."),
        (by(lambda least, most, margin: "yes" if least > margin else "no"), "that it is not shown does not make it "
         "false: an interval that holds the margin leaves it undecided."),
        (by(lambda least, most, margin: "yes" if least > margin else "no" if most < margin else "undecided"),
         "exactly the margin is not more than it: an interval that ends there is a no."),
        (by(lambda least, most, margin: "yes" if least > 0 else "no" if most <= 0 else "undecided"), "it must exceed "
         "by more than the margin."),
    ]  # fmt: skip
    return compared(answer, _MARGINS, _exceeds, mistakes, "above, not above, or not to be told apart.")


def check_together(answer: object) -> Feedback:
    """Stage 3: what was found of each part of a claim -> what holds of all of it."""

    def careless(parts: list[str]) -> str:
        return "undecided" if "undecided" in parts else _together(parts)

    def strict(parts: list[str]) -> str:
        return "yes" if set(parts) == {"yes"} else "no" if "no" in parts else "undecided"

    def known(parts: list[str]) -> str:
        return _together([part for part in parts if part != "undecided"] or ["undecided"])

    mistakes: Mistakes = [
        (careless, "beside a yes and a no an open part changes nothing: it is *partly*, whichever way that turns out."),
        (strict, "a yes beside a no is *partly*."),
        (known, "an undecided part may be a no: it can't be left out."),
        (lambda parts: "partly" if len(set(parts)) > 1 else parts[0], "*partly* asks for a yes and a no that are "
         "certain."),
    ]  # fmt: skip
    return compared(answer, _PARTS, _together, mistakes, "certain, whichever way the open parts turn out.")


def check_ordered(answer: object) -> Feedback:
    """Stage 4: labels in the claimed order, their scores and a margin -> what holds of the order."""

    def ends(labels: list[str], scores: Scores, margin: float) -> str:
        return _exceeds(scores[labels[0]], scores[labels[-1]], margin)

    def means(labels: list[str], scores: Scores, margin: float) -> str:
        found = [float(np.mean(scores[label])) for label in labels]
        return _together(["yes" if b - a > margin else "no" for a, b in itertools.pairwise(found)])

    mistakes: Mistakes = [
        (lambda labels, scores, margin: _ordered(labels[::-1], scores, margin), "the smallest comes first."),
        (lambda labels, scores, margin: _ordered(list(scores), scores, margin), "in the order of `labels`, which need "
         "not be that of the dict."),
        (ends, "first and last leave out what lies between."),
        (means, "means side by side say nothing of how sure they are: use the differences, call by call."),
    ]  # fmt: skip
    return compared(answer, _ORDERS, _ordered, mistakes, "each neighbour, by its differences.")


def check_exchanged(answer: object) -> Feedback:
    """Stage 5: scores and draws -> the scores of a world in which the labels mean nothing."""

    def once(scores: Scores, draws: Draws) -> Scores:
        rows = list(scores.values())
        return {label: rows[k] for label, k in zip(scores, draws[0], strict=True)}

    def back(scores: Scores, draws: Draws) -> Scores:
        return _exchanged(scores, [np.argsort(draw).tolist() for draw in draws])

    def named(scores: Scores, draws: Draws) -> Scores:
        return _exchanged(dict(sorted(scores.items())), draws)

    mistakes: Mistakes = [
        (once, "each call has a draw of its own: whole rows exchanged keep the order of the labels within."),
        (back, "the other way round: label j *gets* the score of label `draw[j]`."),
        (lambda scores, draws: scores, "nothing has been exchanged."),
        (lambda scores, draws: _exchanged(scores, draws[::-1]), "the first draw is of the first call."),
        (named, "number j is the j-th label in the order of the dict, not of the alphabet."),
    ]
    return compared(answer, _DRAWN, _exchanged, mistakes, "within each call, so that pairs stay pairs.")


def check_judged(answer: object) -> Feedback:
    """Stage 6: a claimed order, scores, margin and exchanged worlds -> the verdict, and how often the rival passes."""
    every = tuple(VERDICTS.values())
    mistakes: Mistakes = [
        (partial(_judged, limit=1.0), "a test that the rival passes in more than 5 % of its worlds shows nothing: *not "
         "testable here*."),
        (partial(_judged, unless=every), "only what would be *reproduced* is taken back: where the claim itself fails "
         "or stays open, that is the answer."),
        (partial(_judged, limit=0.0), "5 % is allowed: one lucky world of many is no objection."),
        (partial(_judged, limit=0.1), "5 % of the worlds are allowed, not 10."),
        (lambda *given: (_judged(*given)[0], 100 * _judged(*given)[1]), "the share as a number from 0 to 1."),
    ]  # fmt: skip
    said = "equal to the package's in 20 studies that you had not seen."
    return compared(answer, [_LUCKY, *_studies(20, 11)[1:]], _judged, mistakes, said)

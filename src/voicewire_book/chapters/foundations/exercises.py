"""The checks of the foundations' exercises and labs.

Each `check_…` takes whatever a student hands over and returns a `Feedback`; `None` means not answered yet.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from voicewire.stats import autocorrelation, effective_size
from voicewire_book.chapters.foundations import judging
from voicewire_book.chapters.foundations._student import value
from voicewire_book.chapters.foundations.drawn import INTERVAL
from voicewire_book.kit._student import Function, called
from voicewire_book.kit.exercises import Feedback, choice, formula, function, number, unanswered

__all__ = [
    "check_acov",
    "check_block",
    "check_choice_rival",
    "check_design",
    "check_edge",
    "check_interval",
    "check_lab_interval",
    "check_lab_size",
    "check_lag",
    "check_median_n",
    "check_paired",
    "check_pairs",
    "check_prediction",
]


# Measuring and judging: exercises


def check_interval(answer: object, seed: int | None = None) -> Feedback:
    """Both ends of Student's interval for 10, 14, 12, 18, 16 (Hz)."""
    return INTERVAL.own(seed).check(answer)


def check_design(answer: object) -> Feedback:
    """Independent tokens that 44 are worth, of 4 speakers with a fifth of the variance between them."""
    hints = {
        44 / (1 + 43 * 0.2): "m is the number of tokens of one speaker, 11, and not of all.",
        44 / (1 + 11 * 0.2): "a token is not compared with itself: m - 1 stands in the design effect.",
        3.0: "this is the design effect; how many tokens does it leave?",
        4.0: "four would be right if all the variance lay between speakers.",
    }
    return number(answer, 44 / 3, 0.005, hints=hints, right="44/3: less than fifteen.")


def check_block(answer: object) -> Feedback:
    """Effective size of n lines in which each value stands c times, as a function of n and c."""
    cases = [(12, 1), (12, 3), (100, 4), (990, 99)]
    return formula(answer, lambda n, c: n / c, cases, (), 1e-9, right="n/c: as many as there are different values.")


def check_median_n(answer: object) -> Feedback:
    """Least n for which the extremes hold the median between them with 99 %."""
    hints = {
        7.0: "2 · 2^-7 is 1.6 %: not yet.",
        6.0: "this is enough for 95 %.",
        9.0: "eight do: 2 · 2^-8 is 0.8 %.",
    }
    return number(answer, 8, 1e-9, hints=hints, right="2 · 2^-8 = 0.8 %.")


def check_choice_rival(answer: object) -> Feedback:
    """Which test of a lower count at five delays the rival seldom passes."""
    hints = {
        "a": "one success among five coin flips: how often does that happen by chance?",
        "b": "nothing is compared here: what if both timers are below ten?",
        "d": "six of the 32 patterns of five coin flips do that; and what of a difference that is a trifle?",
    }
    right = "it asks at every delay, of the pairs, and for more than a sign."
    return choice(answer, "c", ["a", "b", "c", "d"], hints=hints, right=right)


def check_edge(answer: object) -> Feedback:
    """Share of undecided verdicts when the truth is on the edge and the number of seeds is fixed."""
    hints = {
        0.05: "this is the share that is decided, on either side.",
        0.025: "this is the share that is decided on one given side.",
        0.975: "the interval may leave the edge on two sides.",
        0.5: "half would be right for the estimate; the interval around it has to leave the edge as well.",
    }
    return number(answer, 0.95, 1e-6, hints=hints, right="an interval that holds the truth holds the edge.")


def check_paired(answer: object) -> Feedback:
    """Factor by which pairing reduces the runs at a correlation of 0.75."""
    hints = {
        2.0: "this is the factor of the width; the number of runs goes with its square.",
        0.25: "this is the share of runs that is left; by which factor are they reduced?",
        1 / 0.75: "what is left of the variance is 1 minus the correlation.",
    }
    return number(answer, 4, 1e-6, hints=hints, right="a quarter of the variance, a quarter of the runs.")


@called
def check_prediction(answer: Function) -> Feedback:
    """A function (printed, runs) -> whether the printed run lies in the interval for one more run."""
    rng = np.random.default_rng(11)
    for n in (3, 9, 40):
        runs = rng.normal(20, 3, n)
        mean, spread, q = runs.mean(), runs.std(ddof=1), stats.t.ppf(0.975, n - 1)
        half = q * spread * np.sqrt(1 + 1 / n)
        for factor in (0.97, 1.03, -0.97, -1.03):
            printed = float(mean + factor * half)
            said = answer(printed, list(runs))
            if not isinstance(said, bool | np.bool_):
                return Feedback(False, f"the function should return True or False, it returns {said!r:.40}.")
            if bool(said) != (abs(factor) < 1):
                return Feedback(False, _prediction_hint(n, printed, runs, bool(said)))
    return Feedback(True, "it knows the scatter of one run and the error of the mean.")


def _prediction_hint(n: int, printed: float, runs: NDArray[np.float64], said: bool) -> str:
    where = f"of {n} runs with mean {runs.mean():.2f} and s = {runs.std(ddof=1):.2f}, {printed:.2f}"
    if not said:
        if printed < runs.mean():
            return f"{where} is refused though it is near enough: look at both sides, and take one run's interval."
        return f"{where} is refused though it is near enough: is this the interval of the mean?"
    return f"{where} is let through: is q taken with n - 1 degrees of freedom, and s with n - 1?"


# Measuring and judging: the lab


def _series(seed: int, n: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    for i in range(1, n):
        x[i] += 0.6 * x[i - 1]
    return x


def check_acov(answer: object) -> Feedback:
    """Stage 1: (x, k) -> autocovariance at lag k, divided by n at every lag."""
    four = np.array([1.0, 2.0, 3.0, 4.0])
    got = value(answer, four, 1)
    if abs(got - 1.25 / 3) < 1e-9:
        return Feedback(False, "divide by n at every lag, and not by the number of products.")
    if abs(got - 20 / 4) < 1e-9:
        return Feedback(False, "subtract the mean first.")
    cases: list[tuple[tuple[Any, ...], float]] = [((four, k), v) for k, v in ((0, 1.25), (1, 0.3125), (3, -0.5625))]
    for seed in (1, 2):
        x = _series(seed, 50)
        d = x - x.mean()
        cases += [((x, k), float(d[: 50 - k] @ d[k:] / 50)) for k in (0, 1, 7, 49)]
    return _compared(answer, cases, "the sum of products of deviations over n.")


@called
def check_lag(answer: Function) -> Feedback:
    """Stage 2: x -> the list of r_k at all lags 0 … n - 1."""
    for seed, n in ((3, 4), (4, 60)):
        x = _series(seed, n)
        r = np.asarray(answer(x), dtype=float).ravel()
        if r.size != n:
            return Feedback(False, f"for {n} samples there are {n} lags, 0 to {n - 1}; yours gives {r.size} numbers.")
        if abs(r[0] - 1) > 1e-9:
            return Feedback(False, f"r_0 is 1 by its definition, yours is {r[0]:.4g}: divide by the lag 0.")
        if np.abs(r - autocorrelation(x)).max() > 1e-9:
            return Feedback(False, f"lag {int(np.abs(r - autocorrelation(x)).argmax())} is not right yet.")
    return Feedback(True, f"and all lags but 0 add up to -1/2 ({r[1:].sum():.2f} here).")


def check_pairs(answer: object) -> Feedback:
    """Stage 3: r -> the sum of pairs up to the first that is not positive."""
    usual = {
        0.6: "the first pair begins at lag 0.",
        1.6 + 0.3 - 0.2: "the first pair that isn't positive is left out, it isn't added.",
        1.6 + 0.3 - 0.2 + 0.4: "stop for good at the first pair that isn't positive.",
        1.6 + 0.3 + 0.4: "stop for good at the first pair that isn't positive: don't skip it.",
    }
    got = value(answer, _RS[0])
    for wrong, hint in usual.items():
        if abs(got - wrong) < 1e-9:
            return Feedback(False, hint)
    cases = [((_RS[0],), 1.9), ((_RS[1],), 1.5), ((_RS[2],), 0.0)]
    return _compared(answer, cases, "the pairs, and not one too many.")


_OPPOSED = np.diff(np.random.default_rng(12).standard_normal(41))
"""Neighbours work against each other: the bracket comes out below 0."""

_RS = ([1.0, 0.6, 0.4, -0.1, 0.1, -0.3, 0.3, 0.1], [1.0, 0.5, -0.2, 0.1, 0.3, 0.2], [1.0, -1.0, 0.5, -1.0])


def check_lab_size(answer: object) -> Feedback:
    """Stage 4: x -> effective size; equal to `effective_size` on series not seen before."""
    x = _series(5, 400)
    expected = effective_size(x)
    factor = 400 / expected
    got = value(answer, x)
    if abs(got - 400 / (factor + 1)) < 1e-6 * expected:
        return Feedback(False, "r_0 counts once: the bracket is 2 (r_0 + r_1 + …) - 1.")
    if abs(got - 400 / ((factor + 1) / 2)) < 1e-6 * expected:
        return Feedback(False, "each lag counts twice, before and after: 1 + 2 (r_1 + r_2 + …).")
    cases = [((x,), effective_size(x)) for x in (_series(6, 300), _series(7, 1000))]
    flips = np.tile([1.0, -1.0], 20)
    cases.append(((flips,), 40.0))
    if value(answer, _OPPOSED) < 0:
        return Feedback(False, "a size below 0: where the bracket is less than 1, also a negative one, the size is n.")
    cases.append(((_OPPOSED,), float(_OPPOSED.size)))
    return _compared(answer, cases, "equal to the package's on series that you had not seen.")


@called
def check_lab_interval(answer: Function) -> Feedback:
    """Stage 5: x -> both ends of the interval; compared with the package's, and counted in worlds of its own."""
    hits = []
    for seed in range(100, 300):
        x = _series(seed, 300)
        low, high = answer(x)
        wanted = judging.mean_interval(x, effective_size(x))
        if np.abs(np.array([low, high], dtype=float) - wanted).max() > 1e-9:
            return Feedback(False, _interval_hint(x, (float(low), float(high)), wanted))
        hits.append(low <= 0 <= high)
    share, spread = judging.coverage(hits)
    return Feedback(True, f"in 200 worlds it held the truth in {share:.0%} (± {1.96 * spread:.0%}).")


def _interval_hint(x: NDArray[np.float64], got: tuple[float, float], wanted: tuple[float, float]) -> str:
    half, right = (got[1] - got[0]) / 2, (wanted[1] - wanted[0]) / 2
    n = effective_size(x)
    own = stats.t.ppf(0.975, n - 1)
    plain = stats.t.ppf(0.975, x.size - 1)
    usual = {
        1.96 / own: "1.96 holds for a known σ: take Student's quantile.",
        plain / own: "the degrees of freedom are size - 1 too.",
        np.sqrt((x.size - 1) / x.size): "s has n - 1 below the sum (ddof=1).",
        np.sqrt(n / x.size) * plain / own: "divide by the root of the effective size, not of n.",
    }
    for factor, hint in usual.items():
        if abs(half / right - factor) < 1e-6:
            return hint
    return "too wide." if half > right else "too narrow, or not around the mean."


def _compared(answer: object, cases: list[tuple[tuple[Any, ...], float]], right: str) -> Feedback:
    """Judge a function of arrays: as `function`, with a call that is short enough to print."""
    if unanswered(answer) or not callable(answer):
        return function(answer, [], right=right)

    def named(index: int) -> float:
        return float(answer(*cases[index][0]))

    named.__name__ = "case"
    return function(named, [((i,), value) for i, (_, value) in enumerate(cases)], 1e-9, absolute=1e-9, right=right)

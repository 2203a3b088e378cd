"""The exercises and the lab of chapter 5, *Measuring and judging*."""

from __future__ import annotations

import copy
import math

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from voicewire.stats import autocorrelation, effective_size
from voicewire_book.chapters.foundations import judging
from voicewire_book.kit._student_functions import Case, Function
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import Feedback, function, unanswered, value
from voicewire_book.kit.records import Choice, Formula, Number
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given


def _interval(mean: int, off: tuple[int, ...]) -> Drawn:
    squares = sum(d * d for d in off)
    error, q = math.sqrt(squares / 4 / 5), 2.776

    def ends(half: float) -> tuple[float, float]:
        return mean - half, mean + half

    low, high = ends(q * error)
    return Drawn(
        f"shifts {', '.join(str(mean + d) for d in off)} Hz; q = {q}",
        (low, high),
        (
            (ends(q * math.sqrt(squares / 25)), "divide the sum of the squares by n - 1 = 4: one deviation is not "
             "free."),
            (ends(q * math.sqrt(squares / 4)), "this is q s: the mean of five scatters √5 times less."),
            (ends(1.96 * error), "1.96 would do if σ were known; for five samples q is 2.776."),
            (ends(error), "this is one standard error; q of them are asked."),
        ),
        f"The mean is {mean}; the deviations are {', '.join(map(str, off))}, their squares sum to {squares}.\n"
        f"s² = {squares}/4 = {squares / 4:g}, and s/√5 = √({squares / 4:g}/5) = {error:.3f}.\n"
        f"The half-width is {q} · {error:.3f} = {q * error:.2f}: from {low:.2f} to {high:.2f} Hz.",
        unit="Hz",
        right=f"{mean} ± {q * error:.1f} Hz.",
        tolerance=0.0,
        absolute=0.06,
    )  # fmt: skip


def _drawn_interval(rng: np.random.Generator) -> tuple[object, ...]:
    spread = [(-4, -2, 0, 2, 4), (-3, -1, 0, 1, 3), (-6, -2, 0, 2, 6), (-9, -3, 0, 3, 9), (-8, -4, 0, 4, 8)]
    off = spread[int(rng.integers(len(spread)))]
    return int(rng.integers(12, 41)), tuple(int(d) for d in rng.permutation(off))


EXERCISES["foundations-judging-interval"] = Exercise("interval", (14, (-4, 0, -2, 4, 2)), _drawn_interval, _interval)

# a number -> independent tokens that 44 are worth, of 4 speakers with a fifth of the variance between them
EXERCISES["foundations-judging-design"] = Number(44 / 3, 0.005, hints={
    44 / (1 + 43 * 0.2): "m is the number of tokens of one speaker, 11, and not of all.",
    44 / (1 + 11 * 0.2): "a token is not compared with itself: m - 1 stands in the design effect.",
    3.0: "this is the design effect; how many tokens does it leave?",
    4.0: "four would be right if all the variance lay between speakers.",
}, right="44/3: less than fifteen.")  # fmt: skip

# a function of n, c -> effective size of n lines in which each value stands c times
EXERCISES["foundations-judging-block"] = Formula(
    lambda n, c: n / c, [(12, 1), (12, 3), (100, 4), (990, 99)], tolerance=1e-9,
    right="n/c: as many as there are different values.",
)  # fmt: skip

# a number -> least n for which the extremes hold the median between them with 99 %
EXERCISES["foundations-judging-median"] = Number(8, 1e-9, hints={
    7.0: "2 · 2^-7 is 1.6 %: not yet.",
    6.0: "this is enough for 95 %.",
    9.0: "eight do: 2 · 2^-8 is 0.8 %.",
}, right="2 · 2^-8 = 0.8 %.")  # fmt: skip

# a letter -> which test of a lower count at five delays the rival seldom passes
EXERCISES["foundations-judging-rival"] = Choice("c", "abcd", hints={
    "a": "one success among five coin flips: how often does that happen by chance?",
    "b": "nothing is compared here: what if both timers are below ten?",
    "d": "six of the 32 patterns of five coin flips do that; and what of a difference that is a trifle?",
}, right="it asks at every delay, of the pairs, and for more than a sign.")  # fmt: skip

# a share -> of undecided verdicts, when the truth is on the edge and the number of seeds is fixed
EXERCISES["foundations-judging-edge"] = Number(0.95, 1e-6, hints={
    0.05: "this is the share that is decided, on either side.",
    0.025: "this is the share that is decided on one given side.",
    0.975: "the interval may leave the edge on two sides.",
    0.5: "half would be right for the estimate; the interval around it has to leave the edge as well.",
}, right="an interval that holds the truth holds the edge.")  # fmt: skip

# a number -> factor by which pairing reduces the runs at a correlation of 0.75
EXERCISES["foundations-judging-pairs"] = Number(4, 1e-6, hints={
    2.0: "this is the factor of the width; the number of runs goes with its square.",
    0.25: "this is the share of runs that is left; by which factor are they reduced?",
    1 / 0.75: "what is left of the variance is 1 minus the correlation.",
}, right="a quarter of the variance, a quarter of the runs.")  # fmt: skip


@EXERCISES.called("foundations-judging-prediction")
def _(answer: Function) -> Feedback:
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
            if bool(said) == (abs(factor) < 1):
                continue
            told = "is let through: is q taken with n - 1 degrees of freedom, and s with n - 1?"
            if not said:
                below = "look at both sides, and take one run's interval."
                why = below if printed < mean else "is this the interval of the mean?"
                told = f"is refused though it is near enough: {why}"
            return Feedback(False, f"of {n} runs with mean {mean:.2f} and s = {spread:.2f}, {printed:.2f} {told}")
    return Feedback(True, "it knows the scatter of one run and the error of the mean.")


# The lab: an interval for values that hang together


def _series(seed: int, n: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    for i in range(1, n):
        x[i] += 0.6 * x[i - 1]
    return x


def _compared(answer: object, cases: list[tuple[Case, float]], right: str) -> Feedback:
    """Judge a function of arrays: as `function`, with a call that is short enough to print."""
    if unanswered(answer) or not callable(answer):
        return function(answer, [], right=right)

    def named(index: int) -> float:
        return float(answer(*copy.deepcopy(cases[index][0])))

    named.__name__ = "case"
    return function(named, [((i,), value) for i, (_, value) in enumerate(cases)], 1e-9, absolute=1e-9, right=right)


@EXERCISES.judged("foundations-judging-lab-acov")
def _(answer: object) -> Feedback:
    """Stage 1: (x, k) -> autocovariance at lag k, divided by n at every lag."""
    four = np.array([1.0, 2.0, 3.0, 4.0])
    got = value(answer, (four, 1))
    if abs(got - 1.25 / 3) < 1e-9:
        return Feedback(False, "divide by n at every lag, and not by the number of products.")
    if abs(got - 20 / 4) < 1e-9:
        return Feedback(False, "subtract the mean first.")
    cases: list[tuple[Case, float]] = [((four, k), v) for k, v in ((0, 1.25), (1, 0.3125), (3, -0.5625))]
    for seed in (1, 2):
        x = _series(seed, 50)
        d = x - x.mean()
        cases += [((x, k), float(d[: 50 - k] @ d[k:] / 50)) for k in (0, 1, 7, 49)]
    return _compared(answer, cases, "the sum of products of deviations over n.")


@EXERCISES.called("foundations-judging-lab-lag")
def _(answer: Function) -> Feedback:
    """Stage 2: x -> the list of r_k at all lags 0 … n - 1."""
    for seed, n in ((3, 4), (4, 60)):
        x = _series(seed, n)
        r = np.asarray(answer(x), dtype=float).ravel()
        if r.size != n:
            return Feedback(False, f"for {n} samples there are {n} lags, 0 to {n - 1}; yours gives {r.size} numbers.")
        if abs(r[0] - 1) > 1e-9:
            return Feedback(False, f"r_0 is 1 by its definition, yours is {r[0]:.4g}: divide by the lag 0.")
        off = np.abs(r - autocorrelation(x))
        if off.max() > 1e-9:
            return Feedback(False, f"lag {off.argmax()} is not right yet.")
    return Feedback(True, f"and all lags but 0 add up to -1/2 ({r[1:].sum():.2f} here).")


_RS = ([1.0, 0.6, 0.4, -0.1, 0.1, -0.3, 0.3, 0.1], [1.0, 0.5, -0.2, 0.1, 0.3, 0.2], [1.0, -1.0, 0.5, -1.0])


@EXERCISES.judged("foundations-judging-lab-pairs")
def _(answer: object) -> Feedback:
    """Stage 3: r -> the sum of pairs up to the first that is not positive."""
    usual = {
        0.6: "the first pair begins at lag 0.",
        1.6 + 0.3 - 0.2: "the first pair that isn't positive is left out, it isn't added.",
        1.6 + 0.3 - 0.2 + 0.4: "stop for good at the first pair that isn't positive.",
        1.6 + 0.3 + 0.4: "stop for good at the first pair that isn't positive: don't skip it.",
    }
    got = value(answer, (_RS[0],))
    for wrong, hint in usual.items():
        if abs(got - wrong) < 1e-9:
            return Feedback(False, hint)
    return _compared(answer, [((_RS[0],), 1.9), ((_RS[1],), 1.5), ((_RS[2],), 0.0)], "the pairs, and not one too many.")


@EXERCISES.judged("foundations-judging-lab-size")
def _(answer: object) -> Feedback:
    """Stage 4: x -> effective size; equal to `effective_size` on series not seen before."""
    x = _series(5, 400)
    expected = effective_size(x)
    factor = 400 / expected
    got = value(answer, (x,))
    if abs(got - 400 / (factor + 1)) < 1e-6 * expected:
        return Feedback(False, "r_0 counts once: the bracket is 2 (r_0 + r_1 + …) - 1.")
    if abs(got - 400 / ((factor + 1) / 2)) < 1e-6 * expected:
        return Feedback(False, "each lag counts twice, before and after: 1 + 2 (r_1 + r_2 + …).")
    # Neighbours work against each other: the bracket comes out below 0
    opposed = np.diff(np.random.default_rng(12).standard_normal(41))
    if value(answer, (opposed,)) < 0:
        return Feedback(False, "a size below 0: where the bracket is less than 1, also a negative one, the size is n.")
    cases = [((x,), effective_size(x)) for x in (_series(6, 300), _series(7, 1000))]
    cases += [((np.tile([1.0, -1.0], 20),), 40.0), ((opposed,), 40.0)]
    return _compared(answer, cases, "equal to the package's on series that you had not seen.")


@EXERCISES.called("foundations-judging-lab-interval")
def _(answer: Function) -> Feedback:
    """Stage 5: x -> both ends of the interval; compared with the package's, and counted in worlds of its own."""
    hits = []
    for seed in range(100, 300):
        x = _series(seed, 300)
        low, high = answer(x)
        wanted = judging.mean_interval(x, effective_size(x))
        if np.abs(np.array([low, high], dtype=float) - wanted).max() > 1e-9:
            n = effective_size(x)
            half, right = (float(high) - float(low)) / 2, (wanted[1] - wanted[0]) / 2
            own, plain = stats.t.ppf(0.975, n - 1), stats.t.ppf(0.975, x.size - 1)
            usual = {
                1.96 / own: "1.96 holds for a known σ: take Student's quantile.",
                plain / own: "the degrees of freedom are size - 1 too.",
                np.sqrt((x.size - 1) / x.size): "s has n - 1 below the sum (ddof=1).",
                np.sqrt(n / x.size) * plain / own: "divide by the root of the effective size, not of n.",
            }
            told = "too wide." if half > right else "too narrow, or not around the mean."
            return Feedback(False, next((hint for by, hint in usual.items() if abs(half / right - by) < 1e-6), told))
        hits.append(low <= 0 <= high)
    share, spread = judging.coverage(hits)
    return Feedback(True, f"in 200 worlds it held the truth in {share:.0%} (± {1.96 * spread:.0%}).")

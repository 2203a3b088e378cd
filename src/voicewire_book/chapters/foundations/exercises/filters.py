"""The exercises and the lab of chapter 2, *Filters that learn*."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from voicewire_book.chapters.foundations import filters
from voicewire_book.chapters.foundations._student_results import row, same
from voicewire_book.kit._student_functions import Function, NotYetError, expression
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import Feedback, formula, number, sequence, value
from voicewire_book.kit.records import Choice, Number
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given

Array = NDArray[np.float64]


def _step(mu: float, first: tuple[int, int], heard: int, second: tuple[int, int], then: int) -> Drawn:
    one, two = np.array(first), np.array(second)
    taps = mu * heard * one
    guess = float(taps @ two)
    error = then - guess
    after = taps + mu * error * two

    def row(values: Array) -> tuple[float, ...]:
        return tuple(values.tolist())

    return Drawn(
        f"μ = {mu:g}; window {first}, {heard} is heard; then window {second}, {then} is heard",
        row(after),
        (
            (row(taps), "these are the taps after the first step; the second window finds an error too."),
            (row(taps + mu * then * two), "the second error is what is heard minus what the taps *now* guess."),
            (row(mu * error * two), "the change of the second step is added to the taps of the first."),
            (row(taps + error * two), "the second change has the factor μ as well."),
        ),
        f"The taps are zero, so the first error is {heard}: g = {mu:g} · {heard} · {first} = "
        f"({taps[0]:g}, {taps[1]:g}).\n"
        f"They guess {taps[0]:g} · {second[0]} + {taps[1]:g} · {second[1]} = {guess:g}: the error is {error:g}.\n"
        f"g = ({taps[0]:g}, {taps[1]:g}) + {mu:g} · {error:g} · {second} = ({after[0]:g}, {after[1]:g}).",
        right=f"errors of {heard} and {error:g}.",
        tolerance=1e-3,
    )


def _drawn_step(rng: np.random.Generator) -> tuple[object, ...]:
    mu, often = float(rng.choice([0.1, 0.2, 0.5])), int(rng.integers(1, 4))
    first = (int(rng.integers(1, 4)), int(rng.choice([-2, -1, 1, 2])))
    second = (int(rng.integers(1, 4)), int(rng.choice([-2, -1, 1, 2, 3])))
    guess = often * (first[0] * second[0] + first[1] * second[1])
    return mu, first, round(often / mu), second, guess + int(rng.choice([-3, -2, -1, 1, 2, 3]))


EXERCISES["foundations-filters-step"] = Exercise("step", (0.1, (1, 2), 10, (2, 1), 5), _drawn_step, _step)


# a number -> the error that is left when the window (3, 4) comes twice, heard 50, with NLMS at half the way
EXERCISES["foundations-filters-half"] = Number(25, 1e-6, hints={
    0.0: "this is for mu = 1.",
    50.0: "this is the error before the step.",
}, right="half of the error is silenced, whatever the window.")  # fmt: skip


@EXERCISES.judged("foundations-filters-spread")
def _(answer: object) -> Feedback:
    """Two numbers -> the largest step in the mean, and the spread, for R = ((2, 1), (1, 2))."""
    if same(answer, [1 / 3, 3]):
        return Feedback(False, "with the step 1 / rho one direction is right at once; the step may be twice as large.")
    if same(answer, [1, 2]) or same(answer, [2, 1]):
        return Feedback(False, "the diagonal is not what R stretches by: try (1, 1) and (1, -1).")
    return sequence(answer, [2 / 3, 3], 1e-3, right="it stretches (1, 1) by 3 and (1, -1) by 1.")


def _slowest(s: float) -> float:
    """Steps until the weakest direction keeps a tenth, at the spread s."""
    return float(-np.log(10) / np.log1p(-1 / s))


@EXERCISES.judged("foundations-filters-slowest")
def _(answer: object) -> Feedback:
    """A function of the spread -> steps until the weakest direction has a tenth of its error, mu = 1 / rho_max."""
    answer = expression(answer, "s")
    said, spreads = "ln 10 over minus ln(1 - 1/spread): about 2.3 spreads.", (2.0, 1.5, 21.0, 361.0)
    if all(value(answer, (s,)) == np.ceil(_slowest(s)) for s in spreads):
        return Feedback(True, f"in whole steps, {said}")
    got = value(answer, (2.0,))
    if np.isclose(got, np.log(100) / np.log(2)):
        return Feedback(False, "the error itself falls to a tenth, not its square.")
    if np.isfinite(got) and not np.isclose(got, np.log(10) / np.log(2)):
        return Feedback(False, f"at a spread of 2 each step halves it: 3.32 steps, yours gives {got:.3g}.")
    return formula(answer, _slowest, [(s,) for s in spreads], right=said)


@EXERCISES.judged("foundations-filters-twenty")
def _(answer: object) -> Feedback:
    """A function L, mu -> samples in which the misalignment of NLMS falls by 20 dB, white input, many taps."""
    answer = expression(answer, "L", "mu")
    got, wanted = value(answer, (16, 1.0)), -np.log(100) / np.log1p(-1 / 16)
    if np.isclose(got, wanted / 2):
        return Feedback(False, "20 dB are a hundredth of the energy; the factor is one of energies.")
    if np.isfinite(got) and not np.isclose(got, wanted, rtol=0.05):
        told = f"with 16 taps and mu = 1 each sample removes a sixteenth of the energy: {wanted:.1f}"
        return Feedback(False, f"{told}, yours gives {got:.3g}.")
    said = "ln 100 times L / (mu (2 - mu)), almost exactly."
    cases = [(L, mu) for L in (32, 256) for mu in (0.3, 1.0, 1.6)]
    return formula(answer, lambda L, mu: -np.log(100) / np.log1p(-mu * (2 - mu) / L), cases, (), 0.05, right=said)


@EXERCISES.judged("foundations-filters-memory")
def _(answer: object) -> Feedback:
    """Two numbers -> samples to -20 dB after a jump, and the floor in dB: RLS, lambda 0.995, 16 taps, noise 0.0009."""
    time, floor = -np.log(10) / np.log(0.995), 10 * np.log10(16 * 9e-4 * 0.005 / 1.995)
    if same(answer, [2 * time, floor]):
        return Feedback(False, "lambda to the n multiplies the taps' error itself, not its square: set it to a tenth.")
    if same(answer, [time, floor + 10 * np.log10(2)], 0.05):
        return Feedback(False, "(1 - lambda) / (1 + lambda) is half of 1 - lambda.")
    right = "ln 10 windows of 200 samples; half a 200th of the noise, sixteen times."
    return sequence(answer, [time, floor], right=right)


@EXERCISES.judged("foundations-filters-best")
def _(answer: object) -> Feedback:
    """A function q, noise, power -> the best share to forget a sample."""
    answer = expression(answer, "q", "noise", "power")
    got = value(answer, (4e-6, 0.01, 1.0))
    if np.isclose(got, 4e-4):
        return Feedback(False, "the derivative of a / m is -a / m squared: a root is missing.")
    if np.isclose(got, 50.0):
        return Feedback(False, "the other way round: a path that drifts faster must be forgotten faster.")
    if np.isclose(got, 1 - 0.02):
        return Feedback(False, "this is lambda; the share forgotten is 1 - lambda.")
    cases, said = [(4e-6, 0.01, 1.0), (1e-8, 1e-3, 2.0)], "where both terms are equal."
    return formula(answer, lambda q, noise, power: np.sqrt(q * power / noise), cases, right=said)


# a letter -> which filter each of three learning curves belongs to: a figure of the chapter
EXERCISES["foundations-filters-curves"] = Choice("b", "abcd", hints={
    "a": "the quickest to fall is not the one with the small step.",
    "c": "coloured input makes a gradient step slow, whatever its size: which curves still fall at the end?",
    "d": "four times the step falls four times as fast.",
}, right="both steps crawl on coloured input, the small one four times longer; RLS divides by the correlation.",
)  # fmt: skip


@EXERCISES.judged("foundations-filters-design")
def _(answer: object) -> Feedback:
    """A step size of NLMS -> 32 taps at -20 dB within 300 samples, and a floor of at most -33 dB (noise at -30 dB)."""
    got = value(lambda: answer, ())
    if not np.isfinite(got):
        return number(answer, 0.5, 1e-6)
    if not 0 < got < 2:
        return Feedback(False, "the step must lie between 0 and 2, or the filter does not settle.")
    time = np.log(100) * 32 / (got * (2 - got))
    floor = -30 + 10 * np.log10(got / (2 - got))
    if time > 300:
        return Feedback(False, f"it takes {time:.0f} samples; take larger steps.")
    if floor > -33:
        return Feedback(False, f"it falls in {time:.0f} samples, but ends at {floor:.1f} dB.")
    return Feedback(True, f"{time:.0f} samples and {floor:.1f} dB.")


# The lab: an echo canceller


def _room(size: int, L: int, pole: float, noise: float) -> tuple[Array, Array, Array]:
    """Return what is played, what is heard and the path, made by SciPy's filters: no check leans on the chapter's."""
    rng = np.random.default_rng(41)
    x = lfilter([np.sqrt(1 - pole**2)], [1, -pole], rng.standard_normal(size))
    h = rng.standard_normal(L) * np.exp(-3 * np.arange(L) / L)
    h /= np.linalg.norm(h)
    return x, lfilter(h, [1], x) + noise * rng.standard_normal(size), h


def _compare(answer: Function, wanted: Array, X: Array, d: Array, *settings: float) -> None:
    """Refuse the last taps of what a stage gives, one row or a row for each sample, if they differ from the wanted."""
    found = np.asarray(answer(X.copy(), d.copy(), *settings), dtype=float)
    got = row(found[-1] if found.ndim == 2 else found, X.shape[1], "return the last taps")
    if not np.allclose(got, wanted, atol=1e-6):
        told, came = (", ".join(f"{v:.3g}" for v in taps[:3]) for taps in (wanted, got))
        raise NotYetError(f"after {len(d)} sample{'s' * (len(d) > 1)} the taps begin {told}; yours begin {came}.")


@EXERCISES.called("foundations-filters-lab-windows")
def _(answer: Function) -> Feedback:
    """Stage 1: a function x, L -> the window at each sample, a row for each."""
    got = np.asarray(answer(np.array([1.0, 2.0, 3.0]), 2), dtype=float)
    if got.shape == (3, 2) and np.array_equal(got, [[0, 1], [1, 2], [2, 3]]):
        raise NotYetError("the newest sample comes first.")
    if got.shape != (3, 2) or not np.array_equal(got, [[1, 0], [2, 1], [3, 2]]):
        raise NotYetError("3 samples and L = 2 give 3 rows of 2: (1, 0), (2, 1), (3, 2).")
    x = np.random.default_rng(41).standard_normal(30)
    if not np.array_equal(np.asarray(answer(x.copy(), 5), dtype=float), filters.windows(x, 5)):
        raise NotYetError("right for L = 2, wrong for L = 5.")
    return Feedback(True, "the last L samples, at each moment.")


@EXERCISES.called("foundations-filters-lab-lms")
def _(answer: Function) -> Feedback:
    """Stage 2: a function X, d, mu -> the last taps of LMS."""
    X, d = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([10.0, 5.0])
    _compare(answer, np.array([1.2, 2.1]), X, d, 0.1)
    x, d, _ = _room(300, 6, 0.5, 0.01)
    _compare(answer, filters.lms(filters.windows(x, 6), d, 0.05)[0][-1], filters.windows(x, 6), d, 0.05)
    return Feedback(True, "one sample in the place of the mean.")


@EXERCISES.called("foundations-filters-lab-nlms")
def _(answer: Function) -> Feedback:
    """Stage 3: a function X, d, mu -> the last taps of NLMS; a window of zeros changes nothing."""
    _compare(answer, np.array([4.0, 2.0]), np.array([[2.0, 1.0]]), np.array([10.0]), 1.0)
    x, d, _ = _room(300, 6, 0.5, 0.01)
    x[:10] = 0.0  # silence first
    X = filters.windows(x, 6)
    if np.isnan(np.asarray(answer(X.copy(), d.copy(), 0.5), dtype=float)).any():
        raise NotYetError("silence comes first here: a window of zeros has no energy to divide by, so leave it out.")
    _compare(answer, filters.nlms(X, d, 0.5, 1e-30)[0][-1], X, d, 0.5)
    return Feedback(True, "the nearest taps that are right, or half the way.")


@EXERCISES.called("foundations-filters-lab-rls")
def _(answer: Function) -> Feedback:
    """Stage 4: a function X, d, lam -> the last taps of RLS, from P = identity (epsilon = 1)."""
    _compare(answer, np.array([6.0]), np.array([[3.0]]), np.array([20.0]), 1.0)
    x, d, _ = _room(300, 6, 0.9, 0.01)
    X = filters.windows(x, 6)
    weights = 0.98 ** np.arange(299, -1, -1)
    R = (X * weights[:, None]).T @ X + 0.98**300 * np.eye(6)
    _compare(answer, np.linalg.solve(R, X.T @ (weights * d)), X, d, 0.98)
    return Feedback(True, "the normal equations, solved at every sample.")


@EXERCISES.called("foundations-filters-lab-canceller")
def _(answer: Function) -> Feedback:
    """Stage 5: a function x, d, L -> what is left of the echo, for paths that jump once."""
    x, d, h = _room(6000, 24, 0.9, 0.02)
    d[3000:] += lfilter(-h[::-1] - h, [1], x)[3000:]  # another path, the same noise
    left = row(answer(x.copy(), d.copy(), 24), 6000)
    louder = d[:300] + (np.arange(300) == 299)  # the last sample by 1
    rise = row(answer(x[:300], louder, 24), 300)[-1] - row(answer(x[:300], d[:300].copy(), 24), 300)[-1]
    if np.array_equal(left, np.zeros(6000)):
        raise NotYetError("silence everywhere is no canceller: return d minus your guess, made before d was used.")
    parts = {"before the jump": slice(2000, 3000), "in the last fifth": slice(4800, 6000)}
    for name, part in parts.items():
        share = float(np.sum(left[part] ** 2) / np.sum(d[part] ** 2))
        if share > 0.01:
            raise NotYetError(f"{name} {100 * share:.0f} % of the energy is left: at most 1 % may be left.")
        if np.mean(left[part] ** 2) < 0.5 * 0.02**2:
            raise NotYetError("less is left than the noise, which nobody can predict: is d used before it is guessed?")
    if abs(rise - 1) > 1e-6:
        what = f"make one sample of d larger by 1, and what is left there rises by {rise:.2f}, not by 1"
        raise NotYetError(f"{what}: guess it with the taps from before it, and learn from it afterwards.")
    return Feedback(True, "it learned a path, and another one.")

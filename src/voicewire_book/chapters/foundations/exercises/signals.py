"""The exercises and the lab of chapter 1, *Signals that can be predicted*."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_toeplitz
from scipy.signal import lfilter

from voicewire_book.chapters.foundations._student_results import row, same
from voicewire_book.kit._student_functions import Function, NotYetError, called, expression
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import Feedback, formula, sequence, value
from voicewire_book.kit.records import Choice, Number, Row
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given

Array = NDArray[np.float64]


def _telephone(rate: int, frame: int, count: int, loudness: int, pitch: int) -> Drawn:
    bits = rate * frame / 1000
    share = (bits - loudness - pitch) / count
    whole = math.floor(share)
    return Drawn(
        f"C = {rate} bit/s, T = {frame} ms, p = {count}, loudness {loudness} bits, pitch {pitch} bits",
        float(whole),
        (
            (share, "a coefficient gets whole bits: which whole number still fits?"),
            (whole + 1.0, "so many do not fit: round down."),
            (float(math.floor(bits / count)), "loudness and pitch have to be sent too."),
            (bits / count, "loudness and pitch have to be sent too."),
            (bits - loudness - pitch, "these are the bits of all coefficients together."),
            (float(math.floor((rate - loudness - pitch) / count)), "so many a second: how many has one frame?"),
        ),
        f"A frame has {rate} · {frame / 1000:g} = {bits:g} bits.\n"
        f"Loudness and pitch take {loudness} + {pitch}: {bits - loudness - pitch:g} are left for {count} numbers.\n"
        f"{bits - loudness - pitch:g} / {count} = {share:.3g}, so {whole} whole bits each.",
        unit="bits",
        right=f"{bits - loudness - pitch:g} bits for {count} numbers.",
    )


def _drawn_telephone(rng: np.random.Generator) -> tuple[int, ...]:
    rate, frame = int(rng.choice([1200, 2400, 3600, 4800])), int(rng.choice([10, 20, 25, 30, 40]))
    return rate, frame, int(rng.integers(8, 13)), int(rng.integers(4, 7)), int(rng.integers(6, 9))


EXERCISES["foundations-signals-telephone"] = Exercise("telephone", (2400, 25, 10, 5, 8), _drawn_telephone, _telephone)

# Hz -> the frequency at which a tone of 5,300 Hz is heard, sampled 8,000 times a second
EXERCISES["foundations-signals-alias"] = Number(2700, 1e-6, unit="Hz", hints={
    5300.0: "the samples cannot tell it from a tone below half the rate.",
    1300.0: "fold at half the rate: it is as far below 8,000 as the tone heard is above 0.",
    13300.0: "this one has the same samples too, but it is not heard either.",
}, right="8,000 - 5,300: the same samples.")  # fmt: skip


@EXERCISES.judged("foundations-signals-pole")
def _(answer: object) -> Feedback:
    """Two numbers -> frequency and bandwidth (Hz) of poles at 0.9 exp(±jπ/3), 12,000 samples a second."""
    wide = -12_000 * np.log(0.9) / np.pi
    if same(answer, [4000, wide]) or same(answer, [4000, 2 * wide]):
        return Feedback(False, "a whole turn is 2π, so π/3 is a sixth of it.")
    if same(answer, [2000, wide / 2]):
        return Feedback(False, "this is half the width: B counts both sides of the peak.")
    if same(answer, [2000, 1200]) or same(answer, [2000, 12_000 * 0.1 / np.pi], 0.02):
        return Feedback(False, "1 - r replaces -ln r near the circle only; the formula has the logarithm, over π.")
    return sequence(answer, [2000, wide], 0.01, unit="Hz", right="a sixth of a turn a sample, and -12,000 ln 0.9 / π.")


# three numbers -> two coefficients and the energy left, from r = (4, 2, -1)
EXERCISES["foundations-signals-levinson"] = Row([-5 / 6, 2 / 3, 5 / 3], right="k = -1/2, then 2/3.", mistakes=[
    ([5 / 6, -2 / 3, 5 / 3], "these predict; the error has them with the other sign."),
    ([-1 / 2, 2 / 3, 5 / 3],
     "the second step changes the first coefficient too: k times the reversed row is added."),
    ([-5 / 6, 2 / 3, 3], "the second step takes energy as well: E (1 - k²)."),
    ([1, -5 / 6, 2 / 3, 5 / 3], "all three are right; leave out the 1 before them, which is given."),
])  # fmt: skip


@EXERCISES.judged("foundations-signals-share")
def _(answer: object) -> Feedback:
    """A function of rho = r_1 / r_0 -> share of the energy that the best prediction of order 1 leaves."""
    answer = expression(answer, "rho")
    got = value(answer, (0.5,))
    if np.isclose(got, 0.5):
        return Feedback(False, "how much does E change if r_1 changes its sign?")
    if np.isclose(got, 0.25):
        return Feedback(False, "this is what prediction explains; what does it leave?")
    cases = [(rho,) for rho in (0.0, 0.5, -0.5, 0.9, -0.99, 1.0)]
    return formula(answer, lambda rho: 1 - rho * rho, cases, (), 1e-9, right="1 - rho²: the sign does not matter.")


@EXERCISES.judged("foundations-signals-pair")
def _(answer: object) -> Feedback:
    """A function F, B, rate -> (a_1, a_2) of the resonance."""
    return _both_coefficients(expression(answer, "F", "B", "rate"))


@called
def _both_coefficients(answer: Function) -> Feedback:
    for F, B, rate in ((500.0, 60.0, 8000.0), (2000.0, 300.0, 8000.0), (3000.0, 120.0, 16_000.0)):
        r, theta = np.exp(-np.pi * B / rate), 2 * np.pi * F / rate
        wanted = np.array([-2 * r * np.cos(theta), r * r])
        got = row(answer(F, B, rate), 2)
        if np.allclose(got, -wanted):
            raise NotYetError("these are the signs of the prediction; the equation of y has them on the other side.")
        if np.allclose(got, [wanted[0], r]):
            raise NotYetError("a_2 is the product of both poles.")
        if not np.allclose(got, wanted, rtol=1e-6):
            found = f"({wanted[0]:.3f}, {wanted[1]:.3f})"
            raise NotYetError(f"at F = {F:g}, B = {B:g}, rate = {rate:g} they are {found}.")
    return Feedback(True, "minus the sum, and the product, of the poles.")


# a letter -> which order each of three envelopes of one vowel has: a figure of the chapter
EXERCISES["foundations-signals-order"] = Choice("b", "abcd", hints={
    "a": "a smooth line with one hump has few poles, not many.",
    "c": "the line that follows every harmonic has as many poles as harmonics.",
    "d": "more poles can only lower the error: they never smooth.",
}, right="few poles cannot bend often, and with 80 the last period itself predicts the next.")  # fmt: skip


def _voice(f0: float, rate: float, seconds: float, formants: Sequence[float] = (600.0, 1200.0, 2500.0)) -> Array:
    """Return a vowel by SciPy's filters, so that no check leans on what the chapter builds."""
    x = np.zeros(round(rate * seconds))
    pulses = np.arange(0, x.size, rate / f0).astype(int)
    x[pulses[pulses < x.size]] = 1
    x = lfilter([1], [1, -0.9], x)
    for k, F in enumerate(formants):
        pole = np.exp((-(60.0 + 25 * k) + 2j * F) * np.pi / rate)
        x = lfilter([1], np.poly([pole, pole.conjugate()]).real, x)
    return np.asarray(x / np.abs(x).max())


@EXERCISES.called("foundations-signals-pitch")
def _(answer: Function) -> Feedback:
    """A function x, rate -> frequency (Hz) of the pulses, from 70 to 350 Hz."""
    rng = np.random.default_rng(77)
    for f0 in (82.0, 123.0, 181.0, 240.0, 310.0):
        x = _voice(f0, 8000, 0.1) + 0.01 * rng.standard_normal(800)
        got = float(answer(x, 8000))
        if not abs(got / f0 - 1) < 0.04:
            if abs(2 * got / f0 - 1) < 0.04:
                raise NotYetError("an octave too low: two periods later the signal resembles itself almost as well.")
            if abs(got / f0 / 2 - 1) < 0.04 or got > 350:
                raise NotYetError("too high: look at delays of a whole period only, 1/350 to 1/70 s.")
            raise NotYetError(f"a voice of {f0:g} Hz gave {got:.0f} Hz.")
    return Feedback(True, "five voices, with noise.")


# The lab: a telephone that sends ten numbers


@EXERCISES.called("foundations-signals-lab-resonator")
def _(answer: Function) -> Feedback:
    """Stage 1: a function x, F, B, rate -> what the resonance makes of x."""
    pulse = np.zeros(64)
    pulse[0] = 1
    first = row(answer(pulse, 2000, 8000 * np.log(2) / np.pi, 8000), 64)
    if not np.allclose(first[:5], [1, 0, -0.25, 0, 0.0625], atol=1e-9):
        begins = ", ".join(f"{v:.3g}" for v in first[:5])
        told = "after one pulse, F = 2000, B = 1765 and rate = 8000: 1, 0, -0.25, 0, 0.0625"
        raise NotYetError(f"{told}; yours begins {begins}.")
    x = np.random.default_rng(5).standard_normal(300)
    r, theta = np.exp(-np.pi * 90 / 8000), 2 * np.pi * 1200 / 8000
    wanted = lfilter([1], [1, -2 * r * np.cos(theta), r * r], x)
    if not np.allclose(row(answer(x.copy(), 1200, 90, 8000), 300), wanted):
        raise NotYetError("a pulse comes out right, noise doesn't: is x added at each sample?")
    return Feedback(True, "it rings.")


@EXERCISES.called("foundations-signals-lab-autocorrelation")
def _(answer: Function) -> Feedback:
    """Stage 2: a function x, p -> r_0 … r_p."""
    rng = np.random.default_rng(6)
    for x, p in ((np.array([1.0, 1.0, 0.0, -1.0]), 2), (rng.standard_normal(50), 7)):
        got = row(answer(x.copy(), p), p + 1, f"for x of {x.size} samples and p = {p}")
        wanted = np.array([x[: x.size - k] @ x[k:] for k in range(p + 1)])
        if np.allclose(got, wanted / wanted[0]):
            raise NotYetError("the question is for energies, not shares: don't divide by r_0.")
        if np.allclose(got, wanted / x.size):
            raise NotYetError("the question is for the sum, not the mean.")
        if not np.allclose(got, wanted):
            raise NotYetError(f"for {x.size} samples r_1 is {wanted[1]:.3g}, yours is {got[1]:.3g}.")
    return Feedback(True, "it resembles itself.")


@EXERCISES.called("foundations-signals-lab-levinson")
def _(answer: Function) -> Feedback:
    """Stage 3: a function r -> (a, E)."""
    rng = np.random.default_rng(7)
    noisy = np.convolve(rng.standard_normal(400), [1, 0.9, 0.5])
    for r in (np.array([2.0, 1.0, 0.0]), np.array([noisy[: noisy.size - k] @ noisy[k:] for k in range(11)])):
        given = answer(r.copy())
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise NotYetError("return two things: the coefficients and the energy left.")
        a, E = row(given[0], r.size), float(given[1])
        wanted = np.append(1, solve_toeplitz(r[:-1], -r[1:]))
        if a[0] != 1:
            raise NotYetError("the first coefficient is 1: it belongs to the sample itself.")
        if np.allclose(a[1:], -wanted[1:]):
            raise NotYetError("these predict; the error has them with the other sign.")
        off = np.flatnonzero(~np.isclose(a, wanted))
        if off.size:
            of = "r = (2, 1, 0)" if r.size == 3 else "a random r"
            raise NotYetError(f"a[{off[-1]}] of {of} is {wanted[off[-1]]:.3f}, yours is {a[off[-1]]:.3g}.")
        if not np.isclose(E, wanted @ r):
            raise NotYetError("a is right, E isn't: each order leaves E (1 - k²).")
    return Feedback(True, "no equation solved, and all of them fulfilled.")


@EXERCISES.called("foundations-signals-lab-residual")
def _(answer: Function) -> Feedback:
    """Stage 4: a function x, a -> errors of the prediction, one a sample."""
    got = row(answer(np.array([8.0, 4.0, 2.0, 1.0]), np.array([1, -0.5])), 4)
    if not np.allclose(got, [8, 0, 0, 0]):
        begins = ", ".join(f"{v:g}" for v in got)
        raise NotYetError(f"8, 4, 2, 1 with a = (1, -0.5) leaves 8, 0, 0, 0; yours begins {begins}.")
    x, a = np.random.default_rng(8).standard_normal(60), np.array([1, 0.3, -0.2, 0.1])
    if not np.allclose(row(answer(x.copy(), a.copy()), 60), lfilter(a, [1], x)):
        raise NotYetError("right for order 1, wrong for order 3: a_k goes with the sample k before.")
    return Feedback(True, "only what is new is left.")


@EXERCISES.called("foundations-signals-lab-rebuilt")
def _(answer: Function) -> Feedback:
    """Stage 5: a function e, a -> the signal of which the prediction leaves e."""
    got = row(answer(np.array([8.0, 0.0, 0.0, 0.0]), np.array([1, -0.5])), 4)
    if not np.allclose(got, [8, 4, 2, 1]):
        begins = ", ".join(f"{v:g}" for v in got)
        raise NotYetError(f"8, 0, 0, 0 with a = (1, -0.5) becomes 8, 4, 2, 1; yours begins {begins}.")
    e, a = np.random.default_rng(9).standard_normal(60), np.array([1, 0.3, -0.2, 0.1])
    if not np.allclose(row(answer(e.copy(), a.copy()), 60), lfilter([1], a, e)):
        raise NotYetError("right for order 1, wrong for order 3: the samples before are those already rebuilt.")
    return Feedback(True, "the same equation, read the other way.")


@EXERCISES.called("foundations-signals-lab-formants")
def _(answer: Function) -> Feedback:
    """Stage 6: a function x, rate -> the four formants (Hz) of a vowel, lowest first."""
    unseen = (
        (105.0, (300.0, 2300.0, 3000.0, 3500.0)),
        (95.0, (320.0, 800.0, 2300.0, 3300.0)),
        (120.0, (530.0, 1840.0, 2480.0, 3450.0)),
        (100.0, (660.0, 1720.0, 2410.0, 3400.0)),
    )
    for f0, wanted in unseen:
        x = _voice(f0, 8000, 0.25, wanted)
        got = row(answer(x, 8000), None)
        if got.size > 4:
            raise NotYetError(f"{got.size} frequencies, but a vowel has four here: broad poles are no formants.")
        put, came = (", ".join(f"{v:.0f}" for v in row) for row in (wanted, got))
        if got.size < 4:
            why = "each takes a pair of poles, two coefficients, and a tilt that isn't taken away takes some too"
            raise NotYetError(f"formants at {put} Hz came out as {came or 'none'}, fewer than four: {why}.")
        if not np.all(np.abs(got / np.array(wanted) - 1) < 0.08):
            order = ": lowest first" if np.all(np.abs(np.sort(got) / np.array(wanted) - 1) < 0.08) else ""
            raise NotYetError(f"formants at {put} Hz came out as {came}{order}.")
    return Feedback(True, "four vowels that the chapter never showed.")

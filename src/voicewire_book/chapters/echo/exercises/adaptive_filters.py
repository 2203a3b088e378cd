"""The exercises and the lab of chapter 1, *Adaptive filters you can hear*."""

from __future__ import annotations

import math

import numpy as np

from voicewire.echo.reference import apa_step, nlms_step, rls, rls_gain, shifted
from voicewire.echo.scenes.scene import Scene
from voicewire_book.chapters.echo.exercises.answers import Array, Built, fixed
from voicewire_book.kit._student_functions import Case
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import Feedback
from voicewire_book.kit.records import Choice, Formula, Number, Row, Stage
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given


def _erle(echo: int, noise: float, off: int) -> Drawn:
    kept = 1 - off / 100
    left = echo * kept**2

    def decibels(residue: float) -> float:
        return 10 * math.log10((echo + noise) / residue)

    value = decibels(left + noise)
    return Drawn(
        f"P = {echo}, N = {noise:g}, a = {off} %",
        value,
        (
            (-20 * math.log10(kept),
             "this is what happens to the echo alone: noise is at the microphone before and after."),
            (decibels(echo * kept + noise), f"{off} % of the amplitude are gone: what power has what is left?"),
            (2 * value, "ERLE compares powers: 10 log10, not 20."),
            (decibels(noise), "what is left of the echo counts too."),
        ),
        f"{kept:g} of the amplitude is left: a power of {kept:g}² · {echo} = {left:.4g}.\n"
        f"Before the filter {echo} + {noise:g} = {echo + noise:g}, after it {left:.4g} + {noise:g} = "
        f"{left + noise:.4g}.\n"
        f"10 log10({echo + noise:g} / {left + noise:.4g}) = {value:.1f} dB.",
        unit="dB",
        right=f"what is left of the echo, {left:.4g}, and the noise, {noise:g}: both are in the residual.",
        tolerance=0.0,
        absolute=0.06,
    )  # fmt: skip


EXERCISES["echo-ex-erle"] = Exercise(
    "erle",
    (4, 0.02, 90),
    lambda rng: (int(rng.integers(2, 10)), float(rng.choice([0.01, 0.02, 0.04, 0.05])),
                 int(rng.choice([75, 80, 90, 95]))),
    _erle,
)  # fmt: skip

# Taps of NLMS after 2 and -1 on both loudspeakers, pre-distorted with alpha_r = 1; paths (3, 1).
EXERCISES["echo-ex-rectifier"] = Row(
    (2.68, 1.16),
    0.004,
    mistakes=[
        ((2.0, 2.0), "here both loudspeakers would play the same: put the pre-distortion in first."),
        ((2.8, 1.4), "this is after the first sample; the second changes them once more."),
        ((3.0, 1.0), "these are the paths. NLMS is right for the last window only."),
        ((2.2, 2.6), "the left channel's positive half grows, the right channel's negative half."),
        ((2.92, 1.64), "the second error is -5 + 5.6 = 0.6, and its window is (-1, -2)."),
    ],
    right="the last window is served, and the taps are nearer to (3, 1) than (2.8, 1.4) was.",
)  # fmt: skip

# The tap of RLS with lambda = 1/2, from g = 0 and R = 1, after windows 2 and 1 with 4 and 3 heard.
EXERCISES["echo-ex-rls"] = Number(
    28 / 13,
    0.0,
    absolute=0.0055,
    hints={
        16 / 9: "this is after the first sample.",
        11 / 6: "nothing was forgotten: at each sample R and p are halved first.",
        7 / 3: "R begins with 1, not with 0: a quarter of that is still in it.",
        11 / 3.25: "p ages as R does.",
        3.0: "this is NLMS: RLS still remembers the first sample.",
    },
    right="7 over 3.25.",
)  # fmt: skip

# A function S, L, M -> dimension of what cannot be heard with S loudspeakers and one talker.
EXERCISES["echo-ex-unknowns"] = Formula(
    lambda S, L, M: max(0, S * L - (L + M - 1)),
    ((2, 32, 16), (2, 32, 33), (3, 8, 5), (3, 8, 12), (4, 6, 20), (2, 4, 9)),
    (
        (lambda S, L, M: max(0, L - M + 1), "right for two loudspeakers; what does each further one add?"),
        (lambda S, L, M: (S - 1) * max(0, L - M + 1), "pairs are not all: a change may need three loudspeakers."),
        (lambda S, L, M: S * L - L - M + 1, "a dimension is never negative."),
        (lambda S, L, M: max(0, S * L - L - M), "L samples convolved with M make L + M - 1."),
        (lambda S, L, M: max(0, L + M - 1), "these are the equations; how many unknowns are left?"),
        (lambda S, L, M: S * L, "these are the unknowns; each sample of the echo's change is an equation."),
    ),
    right="S L unknowns, L + M - 1 equations: each further loudspeaker adds L.",
)  # fmt: skip

# A function C -> eigenvalue spread of two loudspeakers of equal power and coherence C.
EXERCISES["echo-ex-spread"] = Formula(
    lambda C: (1 + C**0.5) / (1 - C**0.5),
    [(0.04,), (0.25,), (0.5,), (0.81,), (0.99,)],
    (
        (lambda C: (1 + C) / (1 - C), "the coherence is a square: the entry off the diagonal is its root."),
        (lambda C: (1 - C**0.5) / (1 + C**0.5), "the largest over the smallest, not the other way round."),
        (lambda C: 1 / (1 - C**0.5), "the largest eigenvalue is more than the power of one loudspeaker."),
        (lambda C: 1 / (1 - C), "the largest over the smallest: both depend on the coherence."),
    ),
    right="(1 + √C) / (1 - √C): it grows without bound as C goes to 1.",
)  # fmt: skip


@EXERCISES.made("echo-ex-faint")
def _() -> Number:
    """Rise of the floor in dB if one of 64 directions is heard 40 dB more faintly than the others."""
    return Number(
        10 * np.log10(10_063 / 64),
        0.0,
        absolute=0.06,
        unit="dB",
        hints={
            40.0: "this direction alone rises so; the floor is the sum over all 64.",
            10 * np.log10((63 + 1e-4) / 64): "noise is divided by the eigenvalue: add up their inverses.",
            20 * np.log10(10_063 / 64): "the eigenvalues are powers already: 10 log10.",
            10 * np.log10(163 / 64): "40 dB are a factor of ten thousand in power.",
        },
        right="one direction now weighs as much as ten thousand did.",
    )  # fmt: skip


@EXERCISES.made("echo-ex-taps")
def _() -> Number:
    """Taps for an ERLE of 20 dB in a room that decays by 60 dB in 0.4 s, at 16 kHz, with noise 30 dB below the echo."""

    def taps(share: float, rate: float = 16_000.0) -> float:
        return float(-10 * np.log10(share)) * rate * 0.4 / 60

    share = 1.001 / 100 - 0.001
    return Number(
        taps(share),
        0.01,
        unit="taps",
        hints={
            taps(0.01): "this leaves the noise out, which is there before the filter and after it.",
            taps(share, 8_000.0): "the rate is 16 kHz: each tap is a sixteen-thousandth of a second.",
            2 * taps(share): "60 dB are a million in energy already: 10 log10.",
        },
        right="a tenth of the residual that is allowed is noise, so the tail must be somewhat below -20 dB.",
    )  # fmt: skip


# What a longer filter does to the drop of the ERLE when another talker takes over.
EXERCISES["echo-ex-nonunique"] = Choice(
    "b",
    "abcd",
    hints={
        "a": "the filter covered the far room before. Count what cannot be heard for 64 taps.",
        "c": "the number grows with the filter: L - M + 1.",
        "d": "each talker's own echo can be silenced; only the taps that do it differ.",
    },
    right="33 silent directions in the place of one: silence for one talker says less than before about the paths.",
)  # fmt: skip


@EXERCISES.judged("echo-ex-who")
def _(answer: object) -> Feedback:
    """Letters of the curves: RLS of the longer and of the shorter memory, NLMS of the larger and the smaller step."""
    families = "RLS is down after some memories; NLMS creeps where both loudspeakers play one talker."
    mistakes = [
        ("ACBD", "the longer memory comes back later, and has the lower floor."),
        ("CADB", "neither has come to its floor: there the larger step is ahead."),
        ("ACDB", "both pairs the other way round: ask who comes back first, and who is ahead."),
        *((wrong, families) for wrong in ("BDCA", "BDAC", "DBCA", "DBAC")),
    ]
    letters = list(answer.strip()) if isinstance(answer, str) and len(answer.strip()) == 4 else answer
    return Row("CABD", right="first the family, then the memory or the step.", mistakes=mistakes).check(letters)


def bounded(g: Array, x: Array, d: float, delta: float) -> Array:
    """NLMS to the border of what is allowed, and no further."""
    e = float(d - g @ x)
    share = max(0.0, 1 - delta / abs(e)) if e else 0.0
    return np.asarray(g + share * e * x / (x @ x))


# A function g, x, d, delta -> taps by the smallest change after which the error is at most delta.
EXERCISES["echo-ex-smallest"] = Built(
    [
        (fixed(0, 0), fixed(2, 1), 10.0, 1.0), (fixed(1, -1, 0.5), fixed(0.3, 2, -1), -7.0, 0.5),
        (fixed(1, 2), fixed(1, 1), 3.2, 0.5), (fixed(4, -2, 1), fixed(1, 0, 3), 0.0, 2.0),
        (fixed(1, 2), fixed(1, 1), 2.9, 0.5),
    ],
    bounded,
    [
        (lambda g, x, d, delta: g, "where the error is larger than delta, the taps must move."),
        (lambda g, x, d, delta: g + (d - g @ x) * x / (x @ x),
         "this takes the whole error away; delta of it may stay."),
        (lambda g, x, d, delta: g + (1 - delta / abs(d - g @ x)) * (d - g @ x) * x / (x @ x),
         "an error within delta asks for no change; here the taps move away."),
        (lambda g, x, d, delta: g if abs(d - g @ x) <= delta else g + (d - g @ x - delta) * x / (x @ x),
         "the error may be negative: it shrinks towards zero by delta, from either side."),
        (lambda g, x, d, delta: g if abs(d - g @ x) <= delta else g + (d - g @ x) * x / (x @ x),
         "if it moves, it moves too far: delta of the error may stay."),
    ],
    "NLMS whose share is 1 - delta/|e|, or nothing.",
)  # fmt: skip


# The lab


def talk(seed: int, M: int, size: int = 60) -> tuple[Array, Array]:
    """Two loudspeakers that play one talker through a far room of `M` samples, cut out of a longer talk."""
    rng = np.random.default_rng([81, seed])
    s = rng.standard_normal(size + 20)
    left, right = (np.convolve(s, rng.standard_normal(M))[10 : size + 10] for _ in range(2))
    return left, right


def both_windows(
    left: Array, right: Array, L: int, n: int,
    *,
    turned: bool = False, late: int = 0, paired: bool = False, wraps: bool = False,
) -> Array:  # fmt: skip
    """Both loudspeakers' windows; `turned`, `late`, `paired` and `wraps` are usual mistakes."""
    last = [n - late - k for k in range(L)]
    both = [[float(x[i]) if i >= 0 or wraps else 0.0 for i in last] for x in (left, right)]
    if turned:
        both = [one[::-1] for one in both]
    return np.array(both).T.ravel() if paired else np.array(both).ravel()


@EXERCISES.made("echo-canceller-lab-row")
def _() -> Stage:
    """Stage 1: (left, right, L, n) -> what both loudspeakers played last."""
    small = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    return Stage(
        [(*small, 2, 2), (*small, 2, 0), (*talk(0, 3), 5, 30), (*talk(1, 3), 7, 3)],
        both_windows,
        [
            (lambda *case: both_windows(*case, turned=True), "the newest sample comes first."),
            (lambda *case: both_windows(*case, late=1), "the newest sample is number n itself."),
            (lambda *case: both_windows(*case, paired=True),
             "all of the left loudspeaker first, then all of the right one."),
            (lambda left, right, L, n: both_windows(right, left, L, n), "the left loudspeaker comes first."),
            (lambda *case: both_windows(*case, wraps=True),
             "before sample 0 all was zero: a negative index counts from the end of the array."),
        ],
        "newest first, left before right, nothing before the beginning.",
    )  # fmt: skip


def nearest(
    g: Array, row: Array, d_n: float, mu: float, eps: float,
    *,
    power: float = 1.0, sign: float = 1.0, late: bool = False,
) -> tuple[Array, float]:  # fmt: skip
    """NLMS; `power` of the energy and `sign` of the step are right and a usual mistake each, a `late` error is one."""
    e = float(d_n - g @ row)
    taps = g + sign * mu * e * row / (row @ row + eps) ** power
    return taps, float(d_n - taps @ row) if late else e


@EXERCISES.made("echo-canceller-lab-nearest")
def _() -> Stage:
    """Stage 2: (g, row, d_n, mu, eps) -> the taps after NLMS, and the error before."""
    rng = np.random.default_rng(83)
    cases: list[Case] = [(np.zeros(2), np.array([2.0, 1.0]), 10.0, 1.0, 0.0)]
    cases += [(rng.standard_normal(6), rng.standard_normal(6), 1.5, mu, 0.1) for mu in (0.5, 1.0)]
    return Stage(
        cases,
        nlms_step,
        [
            (lambda *case: nearest(*case, power=0.5), "divide by the energy, the sum of squares, not by its root."),
            (lambda *case: nearest(*case, power=0.0), "this is LMS: the step is divided by the row's energy and eps."),
            (lambda *case: nearest(*case, sign=-1.0), "towards what was heard: the change is added."),
            (lambda g, row, d_n, mu, eps: nearest(g, row, d_n, 1.0, eps), "only a share mu of the way."),
            (lambda g, row, d_n, mu, eps: nearest(g, row, d_n, mu, 0.0), "eps is added to the energy."),
            (lambda *case: nearest(*case, late=True), "the error that the *old* taps made is asked."),
        ],
        "the smallest change along the row.",
    )  # fmt: skip


def several(g: Array, X: Array, d_last: Array, mu: float, eps: float, *, shared: bool = True) -> tuple[Array, float]:
    """Affine projection; not `shared`: each window corrects by itself."""
    errors = d_last - X.T @ g
    gram = X.T @ X + eps * np.eye(X.shape[1])
    c = np.linalg.solve(gram, errors) if shared else errors / np.diag(gram)
    return g + mu * X @ c, float(errors[0])


@EXERCISES.made("echo-canceller-lab-several")
def _() -> Stage:
    """Stage 3: (g, X, d_last, mu, eps) -> the taps after affine projection, and the newest error."""
    rng = np.random.default_rng(84)
    cases: list[Case] = [(np.zeros(2), np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([5.0, 3.0]), 1.0, 0.0)]
    cases += [(rng.standard_normal(6), rng.standard_normal((6, 3)), rng.standard_normal(3), mu, 0.1)
              for mu in (0.5, 1.0)]  # fmt: skip
    return Stage(
        cases,
        apa_step,
        [
            (lambda *case: several(*case, shared=False),
             "the windows resemble each other: X^H X is solved as a whole, not its diagonal."),
            (lambda g, X, d, mu, eps: nearest(g, X[:, 0], d[0], mu, eps),
             "this is right for the newest row only: all of them are columns of X."),
            (lambda g, X, d, mu, eps: several(g, X, d, 1.0, eps), "only a share mu of the way."),
            (lambda g, X, d, mu, eps: several(g, X, d, mu, 0.0), "eps is added to the diagonal of X^H X."),
        ],
        "right for all of the last rows at once.",
    )  # fmt: skip


def gain(
    P: Array, row: Array, lam: float, *, in_gain: bool = True, in_P: bool = True, sign: float = 1.0
) -> tuple[Array, Array]:
    """The gain and the inverse; `in_gain`, `in_P` and `sign` are what is right and a usual mistake each."""
    Px = P @ row
    k = Px / ((lam if in_gain else 1.0) + row @ Px)
    return k, (P - sign * np.outer(k, Px)) / (lam if in_P else 1.0)


@EXERCISES.made("echo-canceller-lab-gain")
def _() -> Stage:
    """Stage 4: (P, row, lam) -> the gain, and the inverse after this row."""
    rng = np.random.default_rng(85)
    cases: list[Case] = [(np.array([[1.0]]), np.array([3.0]), 1.0)]
    for lam in (0.9, 0.99):
        X = rng.standard_normal((12, 5))
        cases.append((np.linalg.inv(X.T @ X), rng.standard_normal(5), lam))
    return Stage(
        cases,
        rls_gain,
        [
            (lambda *case: gain(*case, in_gain=False), "the denominator is lam + x^H P x."),
            (lambda *case: gain(*case, in_P=False),
             "what is left of P is divided by lam: the past counts less, so its inverse grows."),
            (lambda *case: gain(*case, sign=-1.0),
             "a row more makes R larger, so P smaller: the product is taken off."),
            (lambda P, row, lam: (gain(P, row, lam)[0], P), "P changes, too: the lemma."),
        ],
        "gain and inverse, as the lemma has them.",
    )  # fmt: skip


def heard(seed: int, quiet: int = 0) -> tuple[Array, Array, Array]:
    """Two loudspeakers, and what a microphone hears of them over paths of three taps."""
    rng = np.random.default_rng([82, seed])
    left, right = rng.standard_normal((2, 120))
    left[:quiet] = right[:quiet] = 0.0
    paths = rng.standard_normal((2, 3))
    d = np.convolve(left, paths[0])[:120] + np.convolve(right, paths[1])[:120]
    return left, right, d + 0.01 * rng.standard_normal(120)


def cancel(
    left: Array, right: Array, d: Array, L: int, lam: float,
    *,
    start: float = 1.0, skips: bool = True, after: bool = False,
) -> tuple[Array, Array]:  # fmt: skip
    """RLS for one microphone; `start`, `skips` and `after` are what is right and a usual mistake each."""
    g, P, e = np.zeros(2 * L), start * np.eye(2 * L), np.array(d, float)
    for n in range(len(d)):
        row = both_windows(left, right, L, n)
        if row.any() or not skips:
            k, P = rls_gain(P, row, lam)
            e[n] = d[n] - g @ row
            g = g + k * e[n]
            e[n] = d[n] - g @ row if after else e[n]
    return g, e


@EXERCISES.made("echo-canceller-lab-cancel")
def _() -> Stage:
    """Stage 5: (left, right, d, L, lam) -> last taps and errors, one microphone."""
    return Stage(
        [(*heard(k, 15 * k), 3, lam) for k in range(2) for lam in (0.95, 1.0)],
        cancel,
        [
            (lambda *case: cancel(*case, skips=False),
             "while only zeros have been played nothing is learnt: leave P alone."),
            (lambda *case: cancel(*case, start=100.0), "P begins as the unit matrix."),
            (lambda *case: cancel(*case, after=True),
             "give the error before the taps have moved: that is what is sent."),
        ],
        "two loudspeakers, one microphone, the whole past.",
        tolerance=1e-6,
    )  # fmt: skip


def unheard(left: Array, right: Array, L: int, *, first: int | None = None) -> int:
    """Directions that nobody hears; `first` is the sample of the first row."""
    start = L - 1 if first is None else first
    rows = [both_windows(left, right, L, n) for n in range(start, len(left))]
    return 2 * L - int(np.linalg.matrix_rank(np.array(rows)))


@EXERCISES.made("echo-canceller-lab-silent")
def _() -> Stage:
    """Stage 6: (left, right, L) -> how many directions of the taps nobody hears."""
    rng = np.random.default_rng(86)
    same = rng.standard_normal(40)
    cases: list[Case] = [
        (np.array([1.0, -1.0]), np.array([1.0, -1.0]), 1), (np.array([2.0, -1.0]), np.array([1.0, -2.0]), 1),
        (same, same, 5), (*rng.standard_normal((2, 40)), 4), (*talk(2, 3), 5), (*talk(3, 6), 5), (*talk(4, 2), 8),
    ]  # fmt: skip
    return Stage(
        cases,
        unheard,
        [
            (lambda left, right, L: 2 * L - unheard(left, right, L),
             "this is the rank, what is heard: the rest is asked."),
            (lambda left, right, L: unheard(left, right, L) - L, "there are 2L taps, L for each loudspeaker."),
            (lambda *case: unheard(*case, first=0),
             "only whole rows: before sample L - 1 you do not know what was played."),
        ],
        "2L less the rank of all that was played.",
    )  # fmt: skip


def stereo(
    x: Array, d: Array, L: int, lam: float,
    *,
    guess: bool = True, error: bool = True, skips: bool = True, own: bool = True,
) -> tuple[Array, Array]:  # fmt: skip
    """Stereo RLS; what may be chosen is right and a usual mistake each, such as P x times itself (not `own`)."""
    (g, window), P, e = np.zeros((2, 2 * L), complex), np.eye(2 * L) + 0j, np.array(d, complex)
    for n in range(x.size):
        window = shifted(window, x[n])
        if window.any() or not skips:
            Px, old = P @ window, P
            k, P = rls_gain(P, window, lam)
            P = P if own else (old - np.outer(k, Px)) / lam
            e[n] = d[n] - (np.vdot(g, window) if guess else g @ window)
            g = g + k * (np.conj(e[n]) if error else e[n])
    return g, e


@EXERCISES.made("echo-canceller-lab-stereo")
def _() -> Stage:
    """Stage 7: (x, d, L, lam), complex -> as the package's reading version of RLS."""
    scenes = [Scene(4, 200, seed).signals() for seed in (31, 32)]
    return Stage(
        [(np.append(np.zeros(9), scene.x), np.append(np.zeros(9), scene.d), 4, 0.98) for scene in scenes],
        rls,
        [
            (lambda *case: stereo(*case, guess=False), "the guess is g^H x: the taps are conjugated in it."),
            (lambda *case: stereo(*case, error=False), "the taps move by the gain times the conjugate of the error."),
            (lambda *case: stereo(*case, own=False), "P x is multiplied by its own *conjugate*: without it P is lost."),
            (lambda *case: stereo(*case, skips=False),
             "while only zeros have been played nothing is learnt: leave P alone."),
        ],
        "equal to the package's on conversations that you had not heard.",
        tolerance=1e-6,
    )  # fmt: skip

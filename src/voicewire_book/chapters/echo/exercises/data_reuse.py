"""The exercises and the lab of chapter 3, *Data reuse on trial*."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import stats

from voicewire.echo.metrics import Curve
from voicewire.echo.reference import dr_rls_step, rls_gain
from voicewire_book.chapters.echo import figures
from voicewire_book.chapters.echo.exercises.answers import Array, Built, fixed
from voicewire_book.kit._student_functions import Case
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import Feedback, number
from voicewire_book.kit.records import Choice, Formula, Number, Stage
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "changing", "check", "drawn", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given


def _passes(limit: int, once: int) -> Drawn:
    one, three, five = limit + once, limit + once / 3, limit + once / 5
    saved = three - five
    return Drawn(
        f"T(1) = {one}, T(3) = {three:g} thousand samples",
        saved / three,
        (
            (0.4, "so much it would be without a floor, T = c/N."),
            ((three - limit) / three, "so much all further passes together would save; five are asked."),
            (five, "this is the time of five passes; what share does it save?"),
            (saved, "this is the time saved; what share of that of three passes is it?"),
            (saved / one, "as a share of three passes, not of one."),
            (five / three, "this is what remains."),
            (0.6, "this is what would remain without a floor, T = c/N."),
        ),
        f"From one to three passes c - c/3 = {one} - {three:g} = {one - three:g}, so c = {once} and T_inf = {limit}.\n"
        f"Five passes need {limit} + {once}/5 = {five:g}.\n"
        f"That saves {saved:g} of {three:g}: {saved / three:.2f}.",
        right=f"T_inf = {limit}, c = {once}, T(5) = {five:g}.",
        tolerance=0.0,
        absolute=0.0055,
    )


EXERCISES["echo-ex-passes"] = Exercise(
    "passes", (4, 21), lambda rng: (int(rng.integers(2, 11)), int(rng.choice([15, 30, 45, 60]))), _passes
)


@EXERCISES.made("echo-ex-tracking")
def _() -> Number:
    """Expected samples to -20 dB for L = 256, K = 48, N_it = 3, if one path with a quarter of the power turns."""
    memory = 48 * 256 / 3
    return Number(
        memory * np.log(10),
        0.005,
        hints={
            memory * np.log(20):
                "this is for all paths at once, which starts at +6 dB; here one of four changes its sign.",
            3 * memory * np.log(10): "this is for one pass.",
            memory * np.log(5): "a quarter of the power is half of the length, and the change is twice that.",
            memory * np.log(100): "misalignment is 20 log10 of a length: -20 dB are a tenth.",
            memory * np.log(10) * 3 / 256: "the memory is K L samples, not K.",
        },
        right="the error starts as long as the paths themselves, at 0 dB.",
    )  # fmt: skip


# A function N, rise -> factor of K with which N passes have a floor `rise` dB above that of one.
EXERCISES["echo-ex-floor"] = Formula(
    lambda N, rise: N / 10 ** (rise / 10),
    ((5, 3.0), (3, 0.0), (2, 6.0), (1, -3.0)),
    (
        (lambda N, rise: N, "this brings the floor of one pass back; a rise is allowed."),
        (lambda N, rise: 10 ** (rise / 10) / N, "more passes want a longer memory, a higher floor a shorter one."),
        (lambda N, rise: N * 10 ** (rise / 10), "the higher the floor may be, the shorter the memory."),
        (lambda N, rise: N / 10 ** (rise / 20), "the floor is a power: 10 log10."),
        (lambda N, rise: 10 ** (-rise / 10), "this is for one pass."),
    ),
    right="N passes with that memory track 10^(rise/10) times as fast as one.",
)  # fmt: skip

# A function kappa, N -> share of the true error left by N exact passes if (12) has the printed plus.
EXERCISES["echo-ex-sign"] = Formula(
    lambda kappa, N: 2 - (1 + kappa) ** N,
    ((0.03, 3), (0.5, 2), (0.2, 1), (0.9, 5)),
    (
        (lambda a, N: (1 - a) ** N, "this is with the minus; what does a pass do that is fed with a growing error?"),
        (lambda a, N: (1 + a) ** N, "this is what the rule takes for the error; the true one is asked."),
        (lambda a, N: ((1 + a) ** N - 1) / a, "this is the gain; by kappa times it the true error falls."),
        (lambda a, N: 1 - ((1 + a) ** N - 1) / a, "a pass moves the guess by kappa times the error that it is fed."),
        (lambda a, N: (1 + a) ** N - 2, "for N = 0 the whole error is there, with its own sign."),
    ),
    right="1 - kappa (1 + (1 + kappa) + ...) = 2 - (1 + kappa)^N.",
)  # fmt: skip


@EXERCISES.judged("echo-ex-short")
def _(answer: object) -> Feedback:
    """The smallest whole K for which three passes with the plus leave no more error than they found; kappa = 2/K."""
    between = {
        2 / (3 ** (1 / 3) - 1): "a whole K is asked: which side of this one?",
        2 / (2 ** (1 / 3) - 1): "here nothing is left; shorter memories still leave less than was there.",
    }
    for wrong, hint in between.items():
        if number(answer, wrong, 0.005):
            return Feedback(False, hint)
    hints = {
        4.0: "for K = 4 the error is 1.375 times as large afterwards.",
        8.0: "here the error keeps its sign; with the other sign it may still be smaller than before.",
        9.0: "κ is 2/K, and (1 + κ)³ may be as large as 3.",
        3.0: "for two passes it would be 3; three are made.",
    }
    return number(answer, 5, 1e-9, hints=hints, right="(1 + κ)³ must not exceed 3, so κ not 0.44.")


@EXERCISES.judged("echo-ex-exchanged")
def _(answer: object) -> Feedback:
    """Share of the 32 sign patterns of 3, 4, -1, 6, 5 whose mean is at least the one seen."""
    hints = {
        1 / 32: "one pattern does still better than the one that was seen.",
        2.0: "this is their number; a share of the 32 is asked.",
        4 / 32: "only means as large and of this sign: sooner, not merely different.",
        0.2: "this is the share of the differences that are negative.",
        0.5: "so many have a positive mean; how many have one as large?",
    }
    if number(answer, 0.06, 1e-9):  # rounded to whole per cent
        answer = 2 / 32
    return number(answer, 2 / 32, 0.009, hints=hints, right="the pattern seen, and the one in which the -1 is a 1.")


# Which of two filters is better: 10 thousand samples and -25 dB, or 12 thousand and -29 dB.
EXERCISES["echo-ex-trade"] = Choice(
    "b",
    "abcd",
    hints={
        "a": "it is faster now; give the other one five sixths of its memory, and compare floors.",
        "c": "a memory can be changed: bring both to the same time first.",
        "d": "along a trade-off of 3 dB for half the time, A's floor at 12 thousand is -25.8 dB.",
    },
    right="with five sixths of the memory it needs 10 thousand too, and its floor rises by 0.8 dB only.",
)  # fmt: skip


def back(
    samples: Array, decibels: Array, change: float, level: float, hold: int,
    *,
    early: bool = False, whole: bool = False, late: bool = False, never: float = -1.0,
) -> float:  # fmt: skip
    """Samples from the change to the first of `hold` points in a row that are down; what may be chosen is a mistake."""
    down = ((samples > change) | early) & (decibels <= level)
    runs = np.flatnonzero(np.convolve(down, np.ones(hold, int), "valid") == hold)
    return float(samples[runs[0] + (hold - 1) * late] - change * (not whole)) if runs.size else never


@EXERCISES.made("echo-ex-back")
def _() -> Built:
    """A function samples, decibels, change, level, hold -> samples until the curve is down to stay; -1 if never."""
    samples = fixed(*range(500, 5500, 500))
    return Built(
        [
            (samples, fixed(-21, -22, -23, 6, -3, -16, -12, -17, -18, -19), 1500, -15.0, 2),
            (samples, fixed(0, -20, -21, -22, -14, -13, -15, -16, -17, -11), 1000, -15.0, 3),
            (samples, fixed(0, -20, -5, -5, -16, -5, -5, -16, -5, -16), 1000, -15.0, 2),
            (samples, fixed(-9, -9, -9, -9, -9, -9, -9, -9, -9, -15), 0, -15.0, 1),
        ],
        back,
        [
            (lambda s, y, change, level, hold: back(s, y, change, level, 1), "it has to stay there for `hold` points."),
            (lambda *case: back(*case, early=True), "points before the change do not count."),
            (lambda *case: back(*case, whole=True), "count from the change on."),
            (lambda *case: back(*case, late=True), "the first of the points is asked, not the last."),
            (lambda *case: back(*case, never=np.inf), "a curve that never stays down gets -1."),
        ],
        "a curve that dips once is not back yet.",
    )  # fmt: skip


# The lab

Run = tuple[Array, Array, Array, int]


def changing(seed: int = 7, L: int = 8, size: int = 900) -> Run:
    """White sound over a path whose sign changes at two thirds, and noise 30 dB below."""
    rng = np.random.default_rng([111, seed])
    path, x = rng.standard_normal(L), rng.standard_normal(size)
    path /= np.linalg.norm(path)
    change = 2 * size // 3
    signs = np.where(np.arange(size) < change, 1.0, -1.0)
    clean = np.convolve(x, path)[:size] * signs
    return x, clean + 10**-1.5 * rng.standard_normal(size), signs[:, None] * path, change


def drawn(learned: Callable[..., Any], missed: Callable[..., Any], shorter: Callable[..., Any]) -> Any:
    """Draw how three passes and plain RLS with the shorter memory learn, lose and find a path again."""
    x, d, paths, _ = changing()
    same = float(shorter(0.99, 3, 8))
    tried = {"one pass, 0.99": (0.99, 1), "three passes, 0.99": (0.99, 3), f"one pass, {same:.3f}": (same, 1)}
    curves = {}
    for name, (lam, N_it) in tried.items():
        levels = np.asarray(missed(learned(x, d, 8, lam, N_it), paths), float)
        curves[name] = Curve(np.arange(10, x.size + 1, 10), levels[9::10])
    return figures.learning(curves)


def windows(seed: int, size: int = 5) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng([112, seed])
    X = rng.standard_normal((20, size))
    return rng.standard_normal(size), np.linalg.inv(X.T @ X), rng.standard_normal(size)


def reuse(
    h: Array, P: Array, window: Array, d_n: float, lam: float, N_it: int,
    *,
    sign: float = -1.0, anew: bool = False, last: bool = False, divided: bool = True,
) -> tuple[Array, Array, float]:  # fmt: skip
    """A sample used again; usual mistakes: `sign` 0 and 1, P `anew` at each pass, the `last` error, P not `divided`."""
    k, P = rls_gain(P, window, lam)
    e = first = float(d_n - h @ window)
    for phi in range(N_it):
        if anew and phi:
            k, P = rls_gain(P, window, lam)
        change = k * e
        h, e = h + change, e + sign * float(change @ window)
    return h, P if divided else lam * P, float(d_n - h @ window) if last else first


@EXERCISES.made("echo-reuse-lab-reuse")
def _() -> Stage:
    """Stage 1: (h, P, window, d_n, lam, N_it) -> taps, inverse and first error."""
    cases: list[Case] = [(np.zeros(1), np.eye(1), np.array([3.0]), 3.0, 1.0, N_it) for N_it in (1, 2)]
    cases += [(*windows(k), 1.5, 0.9, N_it) for k in range(2) for N_it in (1, 2, 5)]
    return Stage(
        cases,
        dr_rls_step,
        [
            (lambda *case: reuse(*case, sign=0.0),
             "each pass uses the error that the new taps make, not the first one."),
            (lambda *case: reuse(*case, sign=1.0), "minus: what the taps have gained is taken off the error."),
            (lambda *case: reuse(*case, anew=True), "the sample counts once in R: gain and P are computed once."),
            (lambda h, P, window, d_n, lam, N_it: reuse(h, P, window, d_n, lam, 1), "N_it passes, not one."),
            (lambda *case: reuse(*case, last=True),
             "the error before the first pass is asked, not what the last one leaves."),
            (lambda *case: reuse(*case, divided=False),
             "what is left of P is divided by lam: the past counts less, so its inverse grows."),
        ],
        "one gain, several passes: the package's step.",
    )  # fmt: skip


def learned(
    x: Array, d: Array, L: int, lam: float, N_it: int, *, start: float = 1.0, before: bool = False, turned: bool = False
) -> Array:
    """Taps after each sample; `start`, `before` and `turned` are what is right and a usual mistake each."""
    h, window, P, rows = np.zeros(L), np.zeros(L), start * np.eye(L), []
    for x_n, d_n in zip(x, d, strict=True):
        window = np.append(x_n, window[:-1])
        rows.append(h)
        h, P, _ = dr_rls_step(h, P, window[::-1] if turned else window, d_n, lam, N_it)
        if not before:
            rows[-1] = h
    return np.array(rows)


@EXERCISES.made("echo-reuse-lab-learned")
def _() -> Stage:
    """Stage 2: (x, d, L, lam, N_it) -> the taps after each sample, a row each."""
    return Stage(
        [(*changing(k, 4, 90)[:2], 4, 0.95, N_it) for k in (21, 22) for N_it in (1, 3)],
        learned,
        [
            (lambda *case: learned(*case, before=True), "the taps after each sample, not before it."),
            (lambda *case: learned(*case, start=100.0), "P begins as the unit matrix."),
            (lambda *case: learned(*case, turned=True), "the newest sample stands first in the window."),
        ],
        "equal to the package's steps on sounds that you had not heard.",
        tolerance=1e-6,
    )  # fmt: skip


def missed(taps: Array, paths: Array, *, factor: float = 20.0, by: str = "path") -> Array:
    """Misalignment of each row; `factor` and what is divided `by` are what is right and a usual mistake each."""
    off, own = np.linalg.norm(taps - paths, axis=1), np.linalg.norm(paths, axis=1)
    return np.asarray(factor * np.log10(off / (own if by == "path" else 1.0) if by != "turned" else own / off))


@EXERCISES.made("echo-reuse-lab-missed")
def _() -> Stage:
    """Stage 3: (taps, paths) -> the misalignment of each row, dB."""
    rng = np.random.default_rng(113)
    return Stage(
        [
            (np.array([[0.0, 0.0], [3.0, 3.6]]), np.array([[3.0, 4.0], [3.0, 4.0]])),
            *((rng.standard_normal((6, 3)), 2 * rng.standard_normal((6, 3))) for _ in range(2)),
        ],
        missed,
        [
            (lambda *case: missed(*case, factor=10.0), "norms are amplitudes: 20 times the logarithm."),
            (lambda *case: missed(*case, by="nothing"), "against the norm of the path at that sample."),
            (lambda *case: missed(*case, by="turned"), "what the taps lack, over the path: good taps are negative."),
        ],
        "how wrong, in dB.",
    )  # fmt: skip


def first_down(
    decibels: Array, change: int, level: float,
    *,
    early: bool = False, whole: bool = False, strict: bool = False, late: bool = False,
) -> int:  # fmt: skip
    """Samples until it is down; `early`, `whole`, `strict` and `late` are usual mistakes."""
    for n in range(0 if early else change + late, len(decibels)):
        if decibels[n] < level or (decibels[n] == level and not strict):
            return n if whole else n - change
    return -1


@EXERCISES.made("echo-reuse-lab-back")
def _() -> Stage:
    """Stage 4: (decibels, change, level) -> samples from the change until the level is reached."""
    levels = np.array([0.0, -16.0, -20.0, 6.0, -3.0, -14.0, -15.0, -13.0, -18.0])
    return Stage(
        [
            (levels, 3, -15.0), (levels, 3, -17.0), (levels, 3, -30.0), (levels, 0, -15.0), (levels, 3, -2.0),
            (levels, 2, -15.0),
        ],
        first_down,
        [
            (lambda *case: first_down(*case, early=True), "what came before the change does not count."),
            (lambda *case: first_down(*case, whole=True), "count from the change on."),
            (lambda *case: first_down(*case, strict=True), "at the level is down already."),
            (lambda *case: first_down(*case, late=True),
             "the sample at the change counts: if it is down already, it is 0."),
            (lambda *case: len(case[0]) - case[1] if first_down(*case) < 0 else first_down(*case),
             "if it never comes down, -1."),
        ],
        "the first time down.",
    )  # fmt: skip


def shorter(lam: float, N_it: int, L: int, *, kappa: float = 1.0, power: bool = False) -> float:
    """The shorter memory; `kappa` (none, or stereo's) and `power` are what is right and a usual mistake each."""
    share = kappa * L * (1 - lam)
    return lam**N_it if power else 1 - sum((1 - share) ** phi for phi in range(N_it)) * (1 - lam)


# Stage 5: (lam, N_it, L) -> the forgetting factor that plain RLS needs to be as quick.
EXERCISES["echo-reuse-lab-shorter"] = Stage(
    [(0.99, 3, 8), (0.95, 2, 4), (0.999, 5, 64), (0.98, 1, 10)],
    shorter,
    [
        (lambda *case: shorter(*case, kappa=0.0),
         "the later passes do less: each leaves the share 1 - kappa, with kappa = L (1 - lam)."),
        (lambda *case: shorter(*case, kappa=2.0), "one loudspeaker has L taps, not 2L: kappa is L (1 - lam)."),
        (lambda *case: shorter(*case, power=True), "by the sum of the passes: 1 - lam' is that sum times 1 - lam."),
        (lambda lam, N_it, L: 1 - (1 - lam) / N_it, "quicker means a shorter memory, so lam' is smaller."),
    ],
    "data reuse, said in one number.",
)  # fmt: skip


def interval(samples: Sequence[float], t: float, root: bool = True, ddof: int = 1) -> list[float]:
    mean, n = float(np.mean(samples)), len(samples)
    half = t * float(np.std(samples, ddof=ddof)) / (n**0.5 if root else 1.0)
    return [mean, mean - half, mean + half]


def trial(
    runs: Sequence[Run], L: int, lam: float, N_it: int, level: float, t: float,
    *,
    sign: float = 1.0, root: bool = True, same: bool = True, ddof: int = 1, power: bool = False,
) -> list[float]:  # fmt: skip
    """Reuse less the shorter memory; what may be chosen is right or a usual mistake, such as lam for both (`same`)."""
    floors, times = [], []
    for x, d, paths, change in runs:
        found = []
        for memory, passes in ((lam, N_it), (shorter(lam, N_it, L) if same else lam, 1)):
            levels = missed(learned(x, d, L, memory, passes), paths)
            before = levels[change - 100 : change]  # over which the floor is averaged
            floor = 10 * np.log10(np.mean(10 ** (before / 10))) if power else np.mean(before)
            found.append((float(floor), first_down(levels, change, level)))
        floors.append(sign * (found[0][0] - found[1][0]))
        times.append(sign * (found[0][1] - found[1][1]))
    return interval(floors, t, root, ddof) + interval(times, t, root, ddof)


@EXERCISES.made("echo-reuse-lab-trial")
def _() -> Stage:
    """Stage 6: (runs, L, lam, N_it, level, t) -> floor and time: mean, low and high end each."""
    runs = [changing(seed, 4, 360) for seed in (31, 32, 33, 34)]
    t = float(stats.t.ppf(0.975, 3))
    return Stage(
        [(runs, 4, 0.97, 3, -15.0, t), (runs[:3], 4, 0.98, 2, -10.0, t)],
        trial,
        [
            (lambda *case: trial(*case, sign=-1.0), "data reuse less the shorter memory."),
            (lambda *case: trial(*case, same=False), "the rival forgets faster: its factor is that of stage 5."),
            (lambda *case: trial(*case, ddof=0), "the sample SD divides by n - 1: `ddof=1`."),
            (lambda *case: trial(*case, power=True), "the mean of the decibels, not of what they stand for."),
            (lambda *case: trial(*case, root=False), "the mean of n runs scatters by the SD over the root of n."),
        ],
        "a fair trial: with intervals, on runs that you had not seen.",
        tolerance=1e-6,
    )  # fmt: skip

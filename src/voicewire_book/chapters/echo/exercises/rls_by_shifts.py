"""The exercises and the lab of chapter 2, *RLS by additions and shifts*."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial

import numpy as np

from voicewire.echo.multichannel_filters import next_block
from voicewire.echo.reference import dcd, dr_rls_dcd, leading, next_matrix, reuse_step, shifted
from voicewire.echo.scenes.scene import Scene
from voicewire_book.chapters.echo.exercises.answers import Array
from voicewire_book.kit._student_functions import Case
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import Feedback, function
from voicewire_book.kit.records import Choice, Formula, Number, Row, Stage
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given


def _memory(factor: int, taps: int, rate: int, part: int) -> Drawn:
    whole, log = factor * taps / rate, math.log(part)
    return Drawn(
        f"K = {factor}, L = {taps}, {rate} samples a second, w = {part}",
        whole * log,
        (
            (whole, "after so long it weighs 1/e, 37 %."),
            (whole * (1 - 1 / part),
             "a weight falls by a factor in equal times, not by an amount: half of the time leaves 61 %."),
            (whole / log, f"λ^n = 1/{part}: n is ln {part} times 1/(1 - λ), not divided by it."),
            (whole * log * rate, "this is in samples."),
            (factor / rate * log, "1 - λ is 1/(K L), not 1/K."),
        ),
        f"λ^n ≈ exp(-n/KL) is 1/{part} for n = KL ln {part} = {factor * taps} · {log:.3f} = "
        f"{factor * taps * log:.0f} samples.\n"
        f"At {rate} a second that is {whole * log:.2f} s.",
        unit="s",
        right=f"ln {part} of K L samples.",
        tolerance=0.003,
        absolute=0.006,
    )  # fmt: skip


EXERCISES["echo-ex-memory"] = Exercise(
    "memory",
    (96, 256, 8000, 2),
    lambda rng: (int(rng.choice([24, 32, 48, 64, 96])), int(rng.choice([128, 256, 512])),
                 int(rng.choice([8000, 16_000])), int(rng.choice([2, 4, 10]))),
    _memory,
)  # fmt: skip


@EXERCISES.judged("echo-ex-even")
def _(answer: object) -> Feedback:
    """Even and odd tap of LL = 0.9, LR = 0.3, RL = -0.1, RR = 0.5: two complex numbers or four real ones."""
    with suppress(Exception):  # an object of the student's own
        found = np.asarray(answer)
        if found.size == 2 and found.dtype.kind == "c":
            answer = found.reshape(-1).view(float).tolist()
    return Row(
        (0.7, -0.2, 0.2, -0.1),
        0.005,
        mistakes=[
            ((0.7, 0.2, 0.2, 0.1), "these are a and b; the taps are their conjugates."),
            ((1.4, -0.4, 0.4, -0.2), "each sum is halved."),
            ((0.2, -0.1, 0.7, -0.2), "even and odd have changed places: the even tap meets x, the odd one x*."),
            ((0.7, 0.2, 0.2, -0.1), "in the even tap RL is taken from LR, not LR from RL."),
            ((0.7, -0.1, 0.2, -0.2), "the even tap has the difference of the crossed paths, the odd one their sum."),
        ],
        right="the real parts come from the direct paths, the imaginary ones from the crossed.",
    ).check(answer)  # fmt: skip


# Taps after three moves of DCD for R = (10, 2; 2, 4), p_0 = (1.5, 1.6), H = 1.
EXERCISES["echo-ex-step"] = Row(
    (1 / 16, 7 / 16),
    1e-3,
    mistakes=[
        ((1 / 16, 1 / 4), "the step only ever gets shorter: it is not set back to one half for the third move."),
        ((1 / 16, 9 / 16), "the third component is negative: the move goes back."),
        ((1 / 16, 1 / 2), "this is after two moves."),
        ((0.0, 1 / 4), "the largest component moves, not one after the other."),
        ((0.07, 0.365), "these are the exact steps v/R_pp: DCD takes powers of two."),
        ((7 / 90, 13 / 36), "this is the exact solution; three moves do not reach it."),
    ],
    right="a half, a sixteenth, and a sixteenth back.",
)  # fmt: skip

# The largest entry that R - (R >> 13), in whole numbers, leaves as it is.
EXERCISES["echo-ex-shift"] = Number(
    8191,
    1e-9,
    hints={
        8192.0: "8192 >> 13 is 1: this one still loses one at each sample.",
        13.0: "this is the shift; from which entry down does it give nothing?",
        4095.0: "a shift cuts off, it does not round.",
        4096.0: "a shift cuts off, it does not round.",
        0.0: "a shift by 13 cuts off all that is smaller than its last place.",
        1.0: "a shift by 13 cuts off all that is smaller than its last place.",
    },
    right="below 2^13 the shift gives 0, and the entry never ages.",
)  # fmt: skip

# A function kappa, N, mu -> factor of k e_0* after N exact passes that each go the share mu of the way.
EXERCISES["echo-ex-gain"] = Formula(
    lambda kappa, N, mu: (1 - (1 - mu * kappa) ** N) / kappa,
    ((0.03, 3, 1.0), (0.5, 2, 0.5), (0.9, 5, 0.25), (0.2, 1, 0.7)),
    (
        (lambda a, N, mu: N * mu, "this holds for small kappa only: each pass meets a smaller error."),
        (lambda a, N, mu: (1 - (1 - a) ** N) / a, "and where is mu?"),
        (lambda a, N, mu: mu * (1 - (1 - a) ** N) / a, "a pass leaves the share 1 - mu kappa of the error."),
        (lambda a, N, mu: (1 - (1 - mu * a) ** N) / (mu * a), "this is the sum of the errors; each counts mu times."),
        (lambda a, N, mu: (1 - mu * a) ** N, "this is the error that is left, as a share of the first."),
    ),
    right="what is left of the error is (1 - mu kappa)^N.",
)  # fmt: skip


def halvings(H: float, most: float, delta: float) -> int:
    """The first number of halvings that is enough."""
    return next(M_b for M_b in range(1, 100) if H * most / 2 ** (M_b + 1) <= delta)


# A function H, most, delta -> least M_b after which a search that has refused all steps leaves |r_p| <= delta.
EXERCISES["echo-ex-bits"] = Formula(
    halvings,
    ((1.0, 4.0, 1 / 32), (1.0, 10.0, 0.01), (0.5, 3.0, 0.001), (1.0, 1.0, 1.0), (2.0, 100.0, 0.3)),
    (
        (lambda H, most, d: max(1, np.ceil(np.log2(H * most / d))),
         "one less will do: the test has half a step in it."),
        (lambda H, most, d: max(1, np.floor(np.log2(H * most / d)) - 1), "rounded down, more than delta may be left."),
        (lambda H, most, d: max(1, np.log2(H * most / d) - 1), "a number of steps is whole."),
        (lambda H, most, d: np.ceil(np.log2(H * most / d)) - 1, "there is at least one step, H/2."),
        (lambda H, most, d: max(1, np.ceil(np.log2(H / d)) - 1), "the diagonal entry is in the test, too."),
    ),
    right="the last step refused leaves at most H most / 2^(M_b + 1).",
)  # fmt: skip

# In what N passes differ from one pass with N times the gain.
EXERCISES["echo-ex-loud"] = Choice(
    "b",
    "abcd",
    hints={
        "a": "only where kappa is small: what does a plain gain of N leave of the error if kappa is 0.9?",
        "c": "it does count for more, but 1 - N kappa may lie below -1: the error grows.",
        "d": "each pass leaves 1 - kappa, between 0 and 1: no number of passes can overshoot.",
    },
    right="N kappa may exceed 2; 1 - (1 - kappa)^N never exceeds 1.",
)  # fmt: skip


def steps(H: float, M_b: int) -> list[float]:
    return [H / 2**m for m in range(1, M_b + 1)]


def best(v: float, R_pp: float, H: float, M_b: int) -> float:
    """All steps tried, and none."""
    return min([0.0, *steps(H, M_b)], key=lambda step: step * (step * R_pp / 2 - abs(v)))


def nearest(v: float, R_pp: float, H: float, M_b: int) -> float:
    """The step that is nearest to the best one as a ratio."""
    near = min(steps(H, M_b), key=lambda step: abs(np.log(step * R_pp / abs(v))))
    return near if near * R_pp / 2 < abs(v) else 0.0


@EXERCISES.judged("echo-ex-best")
def _(answer: object) -> Feedback:
    """A function v, R_pp, H, M_b -> which of the steps H/2, H/4, ... lowers the cost most; 0 if none lowers it."""
    tried = ((3.0, 10.0, 1.0, 16), (1.0, 2.74, 1.0, 16), (-0.7, 1.0, 1.0, 16), (5.0, 1.0, 1.0, 4),
             (0.01, 10.0, 1.0, 3), (-0.02, 3.0, 2.0, 12))  # fmt: skip
    return function(
        answer,
        [(case, best(*case)) for case in tried],
        1e-6,
        mistakes=[
            (lambda v, R, H, M: next((s for s in steps(H, M) if abs(v) > s * R / 2), 0.0),
             "this is DCD's own: the first that helps."),
            (lambda v, R, H, M: abs(v) / R, "the best of all steps; only H/2, H/4, ... may be taken."),
            (lambda v, R, H, M: min(steps(H, M), key=lambda s: s * (s * R / 2 - abs(v))),
             "and if every step raises the cost?"),
            (lambda v, R, H, M: best(max(v, 0.0), R, H, M), "v may be negative: the move then goes the other way."),
            (nearest, "nearest as a ratio is not best: the gain 2t - t² is symmetrical about t = 1 in t."),
        ],
        right="from t = 4/3 on the next half is better.",
    )  # fmt: skip


# The lab


def correlations(seed: int, size: int = 6) -> tuple[Array, Array]:
    """A matrix of correlations of many windows, and a right-hand side, both real."""
    rng = np.random.default_rng([71, seed])
    windows = rng.standard_normal((3 * size, size))
    return windows.T @ windows / size, rng.standard_normal(size)


SMALL = np.array([[4.0, 2.0], [2.0, 4.0]])


def matrix(
    R: Array, window: Array, lam: float,
    *,
    ages: bool = True, moves: bool = True, whole: bool = False, fades: bool = False, mirrors: bool = True,
) -> Array:  # fmt: skip
    """One loudspeaker's matrix; what may be chosen is right and a usual mistake each."""
    if whole:
        return np.asarray(lam * R + np.outer(window, window))
    new = next_block(R, window, lam if ages else 1.0, 1)
    if not moves:
        new[1:, 1:] = R[1:, 1:]
    new[1:, 1:] *= lam if fades else 1.0
    new[0, 1:] = new[0, 1:] if mirrors else R[0, 1:]
    return new


@EXERCISES.made("echo-dcd-lab-matrix")
def _() -> Stage:
    """Stage 1: (R, window, lam) -> the matrix one sample later, one loudspeaker."""
    return Stage(
        [
            (np.zeros((2, 2)), np.array([2.0, 0.0]), 0.5), (np.full((2, 2), 4.0), np.array([3.0, 2.0]), 0.5),
            *((*correlations(k), 0.9) for k in range(3)),
        ],
        matrix,
        [
            (partial(matrix, whole=True),
             "this computes every entry again; all but the first column and row are the old ones, moved."),
            (partial(matrix, ages=False), "the old first column ages by lam before the new product is added."),
            (partial(matrix, moves=False), "the old entries step down by one and to the right by one."),
            (partial(matrix, fades=True), "what is moved does not age: its weights have moved along with the samples."),
            (partial(matrix, mirrors=False), "the first row is new, too: the same numbers as the first column."),
        ],
        "one new column, its mirror image, and the rest moved.",
    )  # fmt: skip


def move(
    R: Array, r: Array, alpha: float, *, part: float = 0.5, signed: bool = True, size: bool = True, own: bool = True
) -> tuple[int, float]:
    p = int(np.argmax(np.abs(r) if size else r))
    if abs(r[p]) <= part * alpha * (R[p, p] if own else R[0, 0]):
        return p, 0.0
    return p, alpha * (np.sign(r[p]) if signed else 1.0)


@EXERCISES.made("echo-dcd-lab-move")
def _() -> Stage:
    """Stage 2: (R, r, alpha) -> which tap, and by how much it moves."""
    small = [(SMALL, np.array(r), 1.0) for r in ((3.0, 3.0), (1.0, -2.0), (1.0, -3.0))]
    steep = [(np.array([[4.0, 2.0], [2.0, 10.0]]), np.array(r), 1.0) for r in ((1.0, -3.0), (1.0, -6.0))]
    return Stage(
        [*small, *steep, *((*correlations(k), alpha) for k in range(3) for alpha in (2.0, 0.4, 0.05))],
        move,
        [
            (lambda *case: move(*case, part=1.0), "the cost falls as soon as |v| exceeds half of alpha R_pp."),
            (lambda *case: move(*case, signed=False), "the step has the sign of the residual's component."),
            (partial(move, size=False), "the largest component is the one of largest size, whatever its sign."),
            (partial(move, own=False), "R_pp is the diagonal's entry of the tap that would move, not the first one."),
        ],
        "where the residual is largest, and only if the cost falls.",
    )  # fmt: skip


def search(R: Array, r: Array, N_u: int, M_b: int, H: float) -> tuple[Array, Array]:
    change, left = dcd(R + 0j, r + 0j, N_u, M_b, H)
    return change.real, left.real


def searched(
    R: Array, r: Array, N_u: int, M_b: int, H: float,
    *,
    keeps: bool = True, tries: bool = False, goes_on: bool = False, leaves: bool = True,
) -> tuple[Array, Array]:  # fmt: skip
    """A step that does not keep (`keeps`), tests that count (`tries`), halved after each move, r that stays."""
    change, alpha, m, moves = np.zeros(r.size), H / 2, 1, 0
    while moves < N_u and m <= M_b:
        p, step = move(R, r, alpha)
        moves += bool(step) or tries
        change[p] += step
        r = r - step * R[:, p] if leaves else r
        if not step or goes_on:
            alpha, m = alpha / 2, m + 1
        elif not keeps:
            alpha, m = H / 2, 1
    return change, r


@EXERCISES.made("echo-dcd-lab-search")
def _() -> Stage:
    """Stage 3: (R, r, N_u, M_b, H) -> the change, and what is left."""
    return Stage(
        [
            (SMALL, np.array([12.0, 12.0]), 2, 8, 4.0), (SMALL, np.array([0.0, 0.0]), 4, 8, 1.0),
            *((*correlations(k), *most, 1.0) for k in range(4) for most in ((1, 16), (4, 16), (12, 3), (30, 10))),
        ],
        search,
        [
            (lambda *case: searched(*case, keeps=False),
             "after a move the step stays as long as it is: it never grows again."),
            (lambda *case: searched(*case, goes_on=True),
             "after a move the step stays as long as it is; it is halved where the test fails."),
            (lambda *case: searched(*case, tries=True),
             "N_u counts moves; a test that fails costs a halving, not a move."),
            (lambda *case: searched(*case, leaves=False),
             "a move of tap p takes step times column p off the residual."),
            (lambda R, r, N_u, M_b, H: search(R, r, N_u, M_b, 2 * H), "the first step is H/2."),
            (lambda R, r, N_u, M_b, H: search(R, r, N_u, M_b - 1, H),
             "M_b steps are tried, H/2 to H/2^M_b: one more than yours."),
        ],
        "compares, additions and halvings only.",
    )  # fmt: skip


def sample(
    h: Array, r: Array, R: Array, window: Array, d_n: float, lam: float, N_it: int,
    *,
    sign: float = -1.0, ages: tuple[float, float] | None = None, last: bool = False,
) -> tuple[Array, Array, float]:  # fmt: skip
    """One sample; `sign` 0 and 1 are the paper's slips; `ages` (of the residual, first and later), `last` are usual."""
    first_age, later = ages or (lam, 1.0)
    e = first = float(d_n - h @ window)
    for phi in range(N_it):
        r = (first_age if phi == 0 else later) * r + e * window
        change, r = search(R, r, 4, 16, 1.0)
        h, e = h + change, e + sign * float(change @ window)
    return h, r, float(d_n - h @ window) if last else first


@EXERCISES.made("echo-dcd-lab-sample")
def _() -> Stage:
    """Stage 4: (h, r, R, window, d_n, lam, N_it) -> taps, residual, first error."""
    one = np.ones(1)
    cases: list[Case] = [(0 * one, 0 * one, np.array([[4.0]]), 2 * one, 1.0, 1.0, 1)]
    for k in range(4):
        R, window = correlations(k)
        h, r = np.random.default_rng([73, k]).standard_normal((2, 6))
        cases += [(h, r, R, window, 2.0, 0.9, N_it) for N_it in (1, 3)]
    return Stage(
        cases,
        sample,
        [
            (lambda *case: sample(*case, sign=1.0), "minus: what the taps now guess is taken off what was heard."),
            (lambda *case: sample(*case, sign=0.0),
             "each pass uses the error that the new taps make, not the first one."),
            (lambda *case: sample(*case, ages=(case[5], case[5])),
             "the residual ages once a sample, not at each pass."),
            (lambda *case: sample(*case, ages=(1.0, 1.0)),
             "what the last sample left over ages by lam, before the first pass."),
            (partial(sample, ages=(0.0, 1.0)), "what the last sample left unsolved is handed on: lam times r."),
            (partial(sample, last=True), "the error before the first pass is asked, not what the last one leaves."),
        ],
        "what is unsolved waits, and the error follows the taps.",
    )  # fmt: skip


def mono(seed: int, size: int = 300, quiet: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng([72, seed])
    x = rng.standard_normal(size)
    x[:quiet] = 0.0
    path = rng.standard_normal(6) * 0.5 ** np.arange(6)
    return x, np.convolve(x, path)[:size] + 0.01 * rng.standard_normal(size)


def cancel(
    x: Array, d: Array, L: int, lam: float, N_it: int,
    *,
    start: float = 1.0, skips: bool = True, after: bool = False, late: bool = False,
) -> tuple[Array, Array]:  # fmt: skip
    """One loudspeaker, one microphone; what may be chosen is right and a usual mistake each."""
    (h, r, window), e = np.zeros((3, L)), np.array(d, float)
    R = start * np.eye(L)
    for n in range(len(x)):
        window = np.append(x[n], window[:-1])
        if window.any() or not skips:
            before, R = R, next_block(R, window, lam, 1)
            h, r, e[n] = sample(h, r, before if late else R, window, d[n], lam, N_it)
            e[n] = d[n] - h @ window if after else e[n]
    return h, e


@EXERCISES.made("echo-dcd-lab-cancel")
def _() -> Stage:
    """Stage 5: (x, d, L, lam, N_it) -> last taps and errors, one loudspeaker."""
    return Stage(
        [(*mono(k, quiet=20 * k), 6, 0.99, N_it) for k in range(2) for N_it in (1, 3)],
        cancel,
        [
            (lambda *case: cancel(*case, skips=False),
             "while only zeros have been played nothing ages: leave taps, R and r alone."),
            (lambda *case: cancel(*case, start=1e-6), "R begins as the unit matrix."),
            (partial(cancel, late=True), "R takes the window in first; then the sample is used."),
            (lambda *case: cancel(*case, after=True),
             "give the error before the taps have moved: that is what is sent."),
        ],
        "a canceller for one loudspeaker, without a division.",
        tolerance=1e-6,
    )  # fmt: skip


@EXERCISES.made("echo-dcd-lab-component")
def _() -> Stage:
    """Stage 6: (r), complex -> where, along 1 or j, and the value there."""
    rng = np.random.default_rng(74)
    drawn = rng.standard_normal((12, 5)) + 1j * rng.standard_normal((12, 5))

    def longest(r: Array) -> tuple[int, complex, float]:
        p = int(np.argmax(np.abs(r)))
        return (p, *leading(r[p : p + 1])[1:])

    return Stage(
        [
            (np.array([2 + 1j, 1 - 3j]),), (np.array([1 - 2j, -2 + 1j]),), (np.array([2 + 2j, 1]),),
            *((row,) for row in drawn),
        ],
        leading,
        [
            (longest, "the largest real or imaginary part is asked, not the largest complex number."),
            (lambda r: (*leading(r)[:2], abs(leading(r)[2])), "the value keeps its sign."),
            (lambda r: leading(r.real + 0j), "look at the imaginary parts, too."),
            (lambda r: (*leading(r)[:2], r[leading(r)[0]]), "the third is that part alone, a real number."),
        ],
        "of all real and imaginary parts the largest.",
    )  # fmt: skip


def stereo(
    x: Array, d: Array, L: int, lam: float, N_it: int, *, guess: bool = True, turned: bool = False, one: bool = False
) -> tuple[Array, Array]:
    """Stereo with a usual mistake: a guess without conjugate, R transposed, or one column of R instead of two."""
    (g, r, window), e = np.zeros((3, 2 * L), complex), np.array(d, complex)
    R = np.eye(2 * L, dtype=complex)
    for n in range(x.size):
        window = shifted(window, x[n])
        if window.any():
            R = next_matrix(R, np.conj(window) if turned else window, lam)
            if one:
                R[2:, 1] = np.conj(R[1, 2:])
                R[1, 1], R[1, 0], R[0, 1] = 1.0, 0.0, 0.0
            heard = d[n] if guess else d[n] + np.vdot(g, window) - g @ window
            g, r, e[n] = reuse_step(g, r, R, window, heard, lam, N_it)
    return g, e


@EXERCISES.made("echo-dcd-lab-stereo")
def _() -> Stage:
    """Stage 7: (x, d, L, lam, N_it), complex -> as the package's reading version."""
    scenes = [Scene(4, 250, seed).signals() for seed in (21, 22)]
    quiet = [(np.append(np.zeros(9), scene.x), np.append(np.zeros(9), scene.d)) for scene in scenes]
    return Stage(
        [(*signals, 4, 0.98, N_it) for signals in quiet for N_it in (1, 3)],
        dr_rls_dcd,
        [
            (lambda *case: stereo(*case, guess=False), "the guess is g^H window: the taps are conjugated in it."),
            (lambda *case: stereo(*case, turned=True),
             "R is window window^H: the conjugate stands on the right, so column j is window times conj(window[j])."),
            (lambda *case: stereo(*case, one=True), "two entries of the window are new: two columns of R are, too."),
        ],
        "equal to the package's on conversations that you had not heard.",
        tolerance=1e-6,
    )  # fmt: skip

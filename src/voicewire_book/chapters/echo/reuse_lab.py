"""The checks of the lab of *Data reuse on trial*: does it beat plain RLS with a shorter memory? Built in six stages.

One loudspeaker and one microphone, in real numbers; times are samples, levels dB.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from voicewire.echo.metrics import Curve
from voicewire.echo.reference import dr_rls_step
from voicewire_book.chapters.echo import figures
from voicewire_book.chapters.echo._reuse_lab import back, learned, missed, reuse, shorter, trial, windows
from voicewire_book.kit._student import Case, staged
from voicewire_book.kit.exercises import Feedback

__all__ = [
    "changing",
    "check_back",
    "check_learned",
    "check_missed",
    "check_reuse",
    "check_shorter",
    "check_trial",
    "drawn",
]

Array = NDArray[Any]
Run = tuple[Array, Array, Array, int]
SPAN = 100  # samples before the change over which the floor is averaged


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


def check_reuse(answer: object) -> Feedback:
    """Stage 1: (h, P, window, d_n, lam, N_it) -> taps, inverse and first error."""
    cases: list[Case] = [(np.zeros(1), np.eye(1), np.array([3.0]), 3.0, 1.0, N_it) for N_it in (1, 2)]
    cases += [(*windows(k), 1.5, 0.9, N_it) for k in range(2) for N_it in (1, 2, 5)]

    def final(h: Array, P: Array, window: Array, d_n: float, *rest: Any) -> tuple[Array, Array, float]:
        taps, P, _ = reuse(h, P, window, d_n, *rest)
        return taps, P, float(d_n - taps @ window)

    def undivided(h: Array, P: Array, window: Array, d_n: float, lam: float, N_it: int) -> tuple[Array, Array, float]:
        taps, P, e = reuse(h, P, window, d_n, lam, N_it)
        return taps, lam * P, e

    return staged(
        answer,
        cases,
        dr_rls_step,
        [
            (
                lambda *case: reuse(*case, sign=0.0),
                "each pass uses the error that the new taps make, not the first one.",
            ),
            (lambda *case: reuse(*case, sign=1.0), "minus: what the taps have gained is taken off the error."),
            (lambda *case: reuse(*case, anew=True), "the sample counts once in R: gain and P are computed once."),
            (lambda h, P, window, d_n, lam, N_it: reuse(h, P, window, d_n, lam, 1), "N_it passes, not one."),
            (final, "the error before the first pass is asked, not what the last one leaves."),
            (undivided, "what is left of P is divided by lam: the past counts less, so its inverse grows."),
        ],
        "one gain, several passes: the package's step.",
    )


def check_learned(answer: object) -> Feedback:
    """Stage 2: (x, d, L, lam, N_it) -> the taps after each sample, a row each."""
    cases: list[Case] = [(*changing(k, 4, 90)[:2], 4, 0.95, N_it) for k in (21, 22) for N_it in (1, 3)]
    return staged(
        answer,
        cases,
        learned,
        [
            (lambda *case: learned(*case, before=True), "the taps after each sample, not before it."),
            (lambda *case: learned(*case, start=100.0), "P begins as the unit matrix."),
            (lambda *case: learned(*case, turned=True), "the newest sample stands first in the window."),
        ],
        "equal to the package's steps on sounds that you had not heard.",
        tolerance=1e-6,
    )


def check_missed(answer: object) -> Feedback:
    """Stage 3: (taps, paths) -> the misalignment of each row, dB."""
    rng = np.random.default_rng(113)
    cases: list[Case] = [(np.array([[0.0, 0.0], [3.0, 3.6]]), np.array([[3.0, 4.0], [3.0, 4.0]]))]
    cases += [(rng.standard_normal((6, 3)), 2 * rng.standard_normal((6, 3))) for _ in range(2)]
    return staged(
        answer,
        cases,
        missed,
        [
            (lambda *case: missed(*case, factor=10.0), "norms are amplitudes: 20 times the logarithm."),
            (lambda *case: missed(*case, by="nothing"), "against the norm of the path at that sample."),
            (lambda *case: missed(*case, by="turned"), "what the taps lack, over the path: good taps are negative."),
        ],
        "how wrong, in dB.",
    )


def check_back(answer: object) -> Feedback:
    """Stage 4: (decibels, change, level) -> samples from the change until the level is reached."""
    levels = np.array([0.0, -16.0, -20.0, 6.0, -3.0, -14.0, -15.0, -13.0, -18.0])
    cases: list[Case] = [
        (levels, 3, -15.0),
        (levels, 3, -17.0),
        (levels, 3, -30.0),
        (levels, 0, -15.0),
        (levels, 3, -2.0),
        (levels, 2, -15.0),
    ]
    return staged(
        answer,
        cases,
        back,
        [
            (lambda *case: back(*case, early=True), "what came before the change does not count."),
            (lambda *case: back(*case, whole=True), "count from the change on."),
            (lambda *case: back(*case, strict=True), "at the level is down already."),
            (lambda *case: back(*case, late=True), "the sample at the change counts: if it is down already, it is 0."),
            (
                lambda d, change, level: back(d, change, level) if back(d, change, level) >= 0 else len(d) - change,
                "if it never comes down, -1.",
            ),
        ],
        "the first time down.",
    )


def check_shorter(answer: object) -> Feedback:
    """Stage 5: (lam, N_it, L) -> the forgetting factor that plain RLS needs to be as quick."""
    return staged(
        answer,
        [(0.99, 3, 8), (0.95, 2, 4), (0.999, 5, 64), (0.98, 1, 10)],
        shorter,
        [
            (
                lambda *case: shorter(*case, kappa=0.0),
                "the later passes do less: each leaves the share 1 - kappa, with kappa = L (1 - lam).",
            ),
            (lambda *case: shorter(*case, kappa=2.0), "one loudspeaker has L taps, not 2L: kappa is L (1 - lam)."),
            (lambda *case: shorter(*case, power=True), "by the sum of the passes: 1 - lam' is that sum times 1 - lam."),
            (lambda lam, N_it, L: 1 - (1 - lam) / N_it, "quicker means a shorter memory, so lam' is smaller."),
        ],
        "data reuse, said in one number.",
    )


def check_trial(answer: object) -> Feedback:
    """Stage 6: (runs, L, lam, N_it, level, t) -> floor and time: mean, low and high end each."""
    runs = [changing(seed, 4, 360) for seed in (31, 32, 33, 34)]
    t = float(stats.t.ppf(0.975, 3))
    return staged(
        answer,
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
    )

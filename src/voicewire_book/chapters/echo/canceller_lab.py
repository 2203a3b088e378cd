"""The checks of the lab of *Adaptive filters you can hear*: a canceller for two loudspeakers, built in seven stages.

The first six are for one microphone, in real numbers; the last is the package's reading version of RLS, met on
conversations that the reader has not heard.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.echo.reference import apa_step, nlms_step, rls, rls_gain
from voicewire.echo.scene import Scene
from voicewire_book.chapters.echo._canceller_lab import (
    both_windows,
    cancel,
    gain,
    heard,
    nearest,
    several,
    silent,
    stereo,
    talk,
)
from voicewire_book.kit._student import Case, staged
from voicewire_book.kit.exercises import Feedback

__all__ = [
    "check_cancel",
    "check_gain",
    "check_nearest",
    "check_row",
    "check_several",
    "check_silent",
    "check_stereo",
]

Array = NDArray[Any]


def check_row(answer: object) -> Feedback:
    """Stage 1: (left, right, L, n) -> what both loudspeakers played last."""
    small = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    cases: list[Case] = [(*small, 2, 2), (*small, 2, 0), (*talk(0, 3), 5, 30), (*talk(1, 3), 7, 3)]
    return staged(
        answer,
        cases,
        both_windows,
        [
            (lambda *case: both_windows(*case, turned=True), "the newest sample comes first."),
            (lambda *case: both_windows(*case, late=1), "the newest sample is number n itself."),
            (
                lambda *case: both_windows(*case, paired=True),
                "all of the left loudspeaker first, then all of the right one.",
            ),
            (lambda left, right, L, n: both_windows(right, left, L, n), "the left loudspeaker comes first."),
            (
                lambda *case: both_windows(*case, wraps=True),
                "before sample 0 all was zero: a negative index counts from the end of the array.",
            ),
        ],
        "newest first, left before right, nothing before the beginning.",
    )


def check_nearest(answer: object) -> Feedback:
    """Stage 2: (g, row, d_n, mu, eps) -> the taps after NLMS, and the error before."""
    rng = np.random.default_rng(83)
    cases: list[Case] = [(np.zeros(2), np.array([2.0, 1.0]), 10.0, 1.0, 0.0)]
    cases += [(rng.standard_normal(6), rng.standard_normal(6), 1.5, mu, 0.1) for mu in (0.5, 1.0)]

    def later(g: Array, row: Array, d_n: float, *rest: float) -> tuple[Array, float]:
        taps, _ = nearest(g, row, d_n, *rest)
        return taps, float(d_n - taps @ row)

    return staged(
        answer,
        cases,
        nlms_step,
        [
            (lambda *case: nearest(*case, power=0.5), "divide by the energy, the sum of squares, not by its root."),
            (lambda *case: nearest(*case, power=0.0), "this is LMS: the step is divided by the row's energy and eps."),
            (lambda *case: nearest(*case, sign=-1.0), "towards what was heard: the change is added."),
            (lambda g, row, d_n, mu, eps: nearest(g, row, d_n, 1.0, eps), "only a share mu of the way."),
            (lambda g, row, d_n, mu, eps: nearest(g, row, d_n, mu, 0.0), "eps is added to the energy."),
            (later, "the error that the *old* taps made is asked."),
        ],
        "the smallest change along the row.",
    )


def check_several(answer: object) -> Feedback:
    """Stage 3: (g, X, d_last, mu, eps) -> the taps after affine projection, and the newest error."""
    rng = np.random.default_rng(84)
    cases: list[Case] = [(np.zeros(2), np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([5.0, 3.0]), 1.0, 0.0)]
    cases += [
        (rng.standard_normal(6), rng.standard_normal((6, 3)), rng.standard_normal(3), mu, 0.1) for mu in (0.5, 1.0)
    ]
    return staged(
        answer,
        cases,
        apa_step,
        [
            (
                lambda *case: several(*case, shared=False),
                "the windows resemble each other: X^H X is solved as a whole, not its diagonal.",
            ),
            (
                lambda g, X, d, mu, eps: nearest(g, X[:, 0], d[0], mu, eps),
                "this is right for the newest row only: all of them are columns of X.",
            ),
            (lambda g, X, d, mu, eps: several(g, X, d, 1.0, eps), "only a share mu of the way."),
            (lambda g, X, d, mu, eps: several(g, X, d, mu, 0.0), "eps is added to the diagonal of X^H X."),
        ],
        "right for all of the last rows at once.",
    )


def check_gain(answer: object) -> Feedback:
    """Stage 4: (P, row, lam) -> the gain, and the inverse after this row."""
    rng = np.random.default_rng(85)
    cases: list[Case] = [(np.array([[1.0]]), np.array([3.0]), 1.0)]
    for lam in (0.9, 0.99):
        X = rng.standard_normal((12, 5))
        cases.append((np.linalg.inv(X.T @ X), rng.standard_normal(5), lam))
    return staged(
        answer,
        cases,
        rls_gain,
        [
            (lambda *case: gain(*case, in_gain=False), "the denominator is lam + x^H P x."),
            (
                lambda *case: gain(*case, in_P=False),
                "what is left of P is divided by lam: the past counts less, so its inverse grows.",
            ),
            (
                lambda *case: gain(*case, sign=-1.0),
                "a row more makes R larger, so P smaller: the product is taken off.",
            ),
            (lambda P, row, lam: (gain(P, row, lam)[0], P), "P changes, too: the lemma."),
        ],
        "gain and inverse, as the lemma has them.",
    )


def check_cancel(answer: object) -> Feedback:
    """Stage 5: (left, right, d, L, lam) -> last taps and errors, one microphone."""
    cases: list[Case] = [(*heard(k, 15 * k), 3, lam) for k in range(2) for lam in (0.95, 1.0)]
    return staged(
        answer,
        cases,
        cancel,
        [
            (
                lambda *case: cancel(*case, skips=False),
                "while only zeros have been played nothing is learnt: leave P alone.",
            ),
            (lambda *case: cancel(*case, start=100.0), "P begins as the unit matrix."),
            (
                lambda *case: cancel(*case, after=True),
                "give the error before the taps have moved: that is what is sent.",
            ),
        ],
        "two loudspeakers, one microphone, the whole past.",
        tolerance=1e-6,
    )


def check_silent(answer: object) -> Feedback:
    """Stage 6: (left, right, L) -> how many directions of the taps nobody hears."""
    rng = np.random.default_rng(86)
    same = rng.standard_normal(40)
    cases: list[Case] = [
        (np.array([1.0, -1.0]), np.array([1.0, -1.0]), 1),
        (np.array([2.0, -1.0]), np.array([1.0, -2.0]), 1),
    ]
    cases += [(same, same, 5), (*rng.standard_normal((2, 40)), 4), (*talk(2, 3), 5), (*talk(3, 6), 5), (*talk(4, 2), 8)]
    return staged(
        answer,
        cases,
        silent,
        [
            (
                lambda left, right, L: 2 * L - silent(left, right, L),
                "this is the rank, what is heard: the rest is asked.",
            ),
            (lambda left, right, L: silent(left, right, L) - L, "there are 2L taps, L for each loudspeaker."),
            (
                lambda *case: silent(*case, first=0),
                "only whole rows: before sample L - 1 you do not know what was played.",
            ),
        ],
        "2L less the rank of all that was played.",
    )


def check_stereo(answer: object) -> Feedback:
    """Stage 7: (x, d, L, lam), complex -> as the package's reading version of RLS."""
    cases: list[Case] = []
    for seed in (31, 32):
        signals = Scene(4, 200, seed).signals()
        cases.append((np.append(np.zeros(9), signals.x), np.append(np.zeros(9), signals.d), 4, 0.98))
    return staged(
        answer,
        cases,
        rls,
        [
            (lambda *case: stereo(*case, guess=False), "the guess is g^H x: the taps are conjugated in it."),
            (lambda *case: stereo(*case, error=False), "the taps move by the gain times the conjugate of the error."),
            (lambda *case: stereo(*case, own=False), "P x is multiplied by its own *conjugate*: without it P is lost."),
            (
                lambda *case: stereo(*case, skips=False),
                "while only zeros have been played nothing is learnt: leave P alone.",
            ),
        ],
        "equal to the package's on conversations that you had not heard.",
        tolerance=1e-6,
    )

"""The checks of the lab of *RLS by additions and shifts*: a canceller without a division, built in seven stages.

The first five stages are for one loudspeaker and one microphone, in real numbers; the last two for stereo, where the
package's reading version is met on a conversation that the reader has not seen.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.echo import speech
from voicewire.echo.reference import dr_rls_dcd, leading
from voicewire.echo.scene import Scene
from voicewire_book.chapters.echo._dcd_lab import cancel, matrix, mono, move, rows, sample, search, searched, stereo
from voicewire_book.kit._student import Case, staged
from voicewire_book.kit.exercises import Feedback

__all__ = [
    "check_cancel", "check_component", "check_matrix", "check_move", "check_sample", "check_search", "check_stereo",
    "conversation",
]  # fmt: skip

Array = NDArray[Any]
SMALL = np.array([[4.0, 2.0], [2.0, 4.0]])


def conversation(seconds: float = 1.2, seed: int = 8) -> tuple[Array, Array]:
    """What two loudspeakers play and two microphones hear while somebody talks, 8000 samples a second."""
    signals = Scene(8, 0, seed, source=speech.talk(seconds, seed)).signals()
    return signals.x / np.abs(signals.d).max(), signals.d / np.abs(signals.d).max()


def check_matrix(answer: object) -> Feedback:
    """Stage 1: (R, window, lam) -> the matrix one sample later, one loudspeaker."""
    cases: list[Case] = [
        (np.zeros((2, 2)), np.array([2.0, 0.0]), 0.5),
        (np.full((2, 2), 4.0), np.array([3.0, 2.0]), 0.5),
    ]
    cases += [(*rows(k), 0.9) for k in range(3)]
    return staged(
        answer,
        cases,
        matrix,
        [
            (
                partial(matrix, whole=True),
                "this computes every entry anew; all but the first column and row are the old ones, moved.",
            ),
            (partial(matrix, ages=False), "the old first column ages by lam before the new product is added."),
            (partial(matrix, moves=False), "the old entries step down by one and to the right by one."),
            (partial(matrix, fades=True), "what is moved does not age: its weights have moved along with the samples."),
            (partial(matrix, mirrors=False), "the first row is new, too: the same numbers as the first column."),
        ],
        "one new column, its mirror image, and the rest moved.",
    )


def check_move(answer: object) -> Feedback:
    """Stage 2: (R, r, alpha) -> which tap, and by how much it moves."""
    cases: list[Case] = [
        (SMALL, np.array([3.0, 3.0]), 1.0),
        (SMALL, np.array([1.0, -2.0]), 1.0),
        (SMALL, np.array([1.0, -3.0]), 1.0),
    ]
    steep = np.array([[4.0, 2.0], [2.0, 10.0]])
    cases += [(steep, np.array([1.0, -3.0]), 1.0), (steep, np.array([1.0, -6.0]), 1.0)]
    cases += [(*rows(k), alpha) for k in range(3) for alpha in (2.0, 0.4, 0.05)]
    return staged(
        answer,
        cases,
        move,
        [
            (lambda *case: move(*case, part=1.0), "the cost falls as soon as |v| exceeds half of alpha R_pp."),
            (lambda *case: move(*case, signed=False), "the step has the sign of the residual's component."),
            (partial(move, size=False), "the largest component is the one of largest size, whatever its sign."),
            (partial(move, own=False), "R_pp is the diagonal's entry of the tap that would move, not the first one."),
        ],
        "where the residual is largest, and only if the cost falls.",
    )


def check_search(answer: object) -> Feedback:
    """Stage 3: (R, r, N_u, M_b, H) -> the change, and what is left."""
    cases: list[Case] = [(SMALL, np.array([12.0, 12.0]), 2, 8, 4.0), (SMALL, np.array([0.0, 0.0]), 4, 8, 1.0)]
    cases += [(*rows(k), N_u, M_b, 1.0) for k in range(4) for N_u, M_b in ((1, 16), (4, 16), (12, 3), (30, 10))]
    return staged(
        answer,
        cases,
        search,
        [
            (
                lambda *case: searched(*case, keeps=False),
                "after a move the step stays as long as it is: it never grows again.",
            ),
            (
                lambda *case: searched(*case, goes_on=True),
                "after a move the step stays as long as it is; it is halved where the test fails.",
            ),
            (
                lambda *case: searched(*case, tries=True),
                "N_u counts moves; a test that fails costs a halving, not a move.",
            ),
            (
                lambda *case: searched(*case, leaves=False),
                "a move of tap p takes step times column p off the residual.",
            ),
            (lambda R, r, N_u, M_b, H: search(R, r, N_u, M_b, 2 * H), "the first step is H/2."),
            (
                lambda R, r, N_u, M_b, H: search(R, r, N_u, M_b - 1, H),
                "M_b steps are tried, H/2 to H/2^M_b: one more than yours.",
            ),
        ],
        "compares, additions and halvings only.",
    )


def check_sample(answer: object) -> Feedback:
    """Stage 4: (h, r, R, window, d_n, lam, N_it) -> taps, residual, first error."""
    one = np.ones(1)
    cases: list[Case] = [(0 * one, 0 * one, np.array([[4.0]]), 2 * one, 1.0, 1.0, 1)]
    for k in range(4):
        R, window = rows(k)
        h, r = np.random.default_rng([73, k]).standard_normal((2, 6))
        cases += [(h, r, R, window, 2.0, 0.9, N_it) for N_it in (1, 3)]

    def final(h: Array, r: Array, R: Array, window: Array, d_n: float, *rest: Any) -> tuple[Array, Array, float]:
        taps, left, _ = sample(h, r, R, window, d_n, *rest)
        return taps, left, float(d_n - taps @ window)

    return staged(
        answer,
        cases,
        sample,
        [
            (lambda *case: sample(*case, sign=1.0), "minus: what the taps now guess is taken off what was heard."),
            (
                lambda *case: sample(*case, sign=0.0),
                "each pass uses the error that the new taps make, not the first one.",
            ),
            (
                lambda *case: sample(*case, ages=(case[5], case[5])),
                "the residual ages once a sample, not at each pass.",
            ),
            (
                lambda *case: sample(*case, ages=(1.0, 1.0)),
                "what the last sample left over ages by lam, before the first pass.",
            ),
            (partial(sample, ages=(0.0, 1.0)), "what the last sample left unsolved is handed on: lam times r."),
            (final, "the error before the first pass is asked, not what the last one leaves."),
        ],
        "what is unsolved waits, and the error follows the taps.",
    )


def check_cancel(answer: object) -> Feedback:
    """Stage 5: (x, d, L, lam, N_it) -> last taps and errors, one loudspeaker."""
    cases: list[Case] = [(*mono(k, quiet=20 * k), 6, 0.99, N_it) for k in range(2) for N_it in (1, 3)]
    return staged(
        answer,
        cases,
        cancel,
        [
            (
                lambda *case: cancel(*case, skips=False),
                "while only zeros have been played nothing ages: leave taps, R and r alone.",
            ),
            (lambda *case: cancel(*case, start=1e-6), "R begins as the unit matrix."),
            (partial(cancel, late=True), "R takes the window in first; then the sample is used."),
            (
                lambda *case: cancel(*case, after=True),
                "give the error before the taps have moved: that is what is sent.",
            ),
        ],
        "a canceller for one loudspeaker, without a division.",
        tolerance=1e-6,
    )


def check_component(answer: object) -> Feedback:
    """Stage 6: (r), complex -> where, along 1 or j, and the value there."""
    rng = np.random.default_rng(74)
    drawn = rng.standard_normal((12, 5)) + 1j * rng.standard_normal((12, 5))
    cases: list[Case] = [(np.array([2 + 1j, 1 - 3j]),), (np.array([1 - 2j, -2 + 1j]),), (np.array([2 + 2j, 1]),)]
    cases += [(row,) for row in drawn]

    def longest(r: Array) -> tuple[int, complex, float]:
        p = int(np.argmax(np.abs(r)))
        return (p, *leading(r[p : p + 1])[1:])

    return staged(
        answer,
        cases,
        leading,
        [
            (longest, "the largest real or imaginary part is asked, not the largest complex number."),
            (lambda r: (*leading(r)[:2], abs(leading(r)[2])), "the value keeps its sign."),
            (lambda r: leading(r.real + 0j), "look at the imaginary parts, too."),
            (lambda r: (*leading(r)[:2], r[leading(r)[0]]), "the third is that part alone, a real number."),
        ],
        "of all real and imaginary parts the largest.",
    )


def check_stereo(answer: object) -> Feedback:
    """Stage 7: (x, d, L, lam, N_it), complex -> as the package's reading version."""
    cases: list[Case] = []
    for seed in (21, 22):
        signals = Scene(4, 250, seed).signals()
        quiet = np.append(np.zeros(9), signals.x), np.append(np.zeros(9), signals.d)
        cases += [(*quiet, 4, 0.98, N_it) for N_it in (1, 3)]
    return staged(
        answer,
        cases,
        dr_rls_dcd,
        [
            (lambda *case: stereo(*case, guess=False), "the guess is g^H window: the taps are conjugated in it."),
            (
                lambda *case: stereo(*case, turned=True),
                "R is window window^H: the conjugate stands on the right, so column j is window times conj(window[j]).",
            ),
            (lambda *case: stereo(*case, one=True), "two entries of the window are new: two columns of R are, too."),
        ],
        "equal to the package's on conversations that you had not heard.",
        tolerance=1e-6,
    )

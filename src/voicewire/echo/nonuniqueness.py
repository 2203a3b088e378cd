"""How many answers a stereo echo has: what no ear hears, what is faint.

Everything here is real: a row is what both loudspeakers played during the
last L samples, and taps that no row can tell from zero are silent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from voicewire.echo.reference import Complex

# fmt: off (lines as short as the page of the book is wide)

__all__ = ["foretold_floor", "rows", "silent_directions", "strengths"]

Real = NDArray[Any]


def rows(x: Complex, L: int) -> Real:
    """All windows of L samples of both loudspeakers, one a row.

    Parameters
    ----------
    x : ndarray of complex, shape (N,)
        Far end, left + j right.
    L : int
        Taps of each echo path.

    Returns
    -------
    ndarray of float, shape (N - L + 1, 2L)
        Left and right beside each other.

    Examples
    --------
    >>> rows(np.array([1 + 5j, 2 + 6j, 3 + 7j]), 2).tolist()
    [[1.0, 2.0, 5.0, 6.0], [2.0, 3.0, 6.0, 7.0]]
    """
    left, right = (sliding_window_view(z, L) for z in (x.real, x.imag))
    return np.hstack([left, right])


def strengths(x: Complex, L: int) -> Real:
    """How loudly each direction of the taps is heard, the loudest first.

    Parameters
    ----------
    x : ndarray of complex, shape (N,)
        Far end.
    L : int
        Taps of each echo path.

    Returns
    -------
    ndarray of float, shape (2L,)
        Eigenvalues of the correlation matrix, by the singular values of the
        rows: squaring first would lose half of the digits.

    Examples
    --------
    Both loudspeakers play the same: of the two taps only the sum is heard.

    >>> strengths(np.array([1 + 1j, 2 + 2j]), 1).round(9).tolist()
    [5.0, 0.0]
    """
    X = rows(x, L)
    return np.asarray(np.linalg.svd(X, compute_uv=False) ** 2 / len(X))


def silent_directions(x: Complex, L: int, least: float = 1e-20) -> int:
    """Directions of the taps that nobody hears: 2L less the rank.

    Parameters
    ----------
    x : ndarray of complex, shape (N,)
        Far end.
    L : int
        Taps of each echo path.
    least : float
        What counts as heard, as a share of the loudest: above the rounding
        of doubles, squared.

    Returns
    -------
    int
        0 if the solution is unique; equation ``eq-echo-dimension`` for one
        talker and a far room.

    Examples
    --------
    >>> silent_directions(np.array([1 + 1j, 2 + 2j]), 1)
    1
    """
    heard = strengths(x, L)
    return int(np.sum(heard <= least * heard[0]))


def foretold_floor(
    x: Complex, L: int, lam: float, noise: float, paths: float
) -> float:
    """Misalignment in dB that noise leaves RLS with, at best.

    Parameters
    ----------
    x : ndarray of complex, shape (N,)
        Far end.
    L : int
        Taps of each echo path.
    lam : float
        Forgetting factor, 0 < lam < 1.
    noise : float
        Power of the noise at both microphones together.
    paths : float
        Sum of the squares of all taps of the four echo paths.

    Returns
    -------
    float
        dB, equation ``eq-echo-faint``; infinite with a silent direction.

    Examples
    --------
    Two taps, each heard with power 1; a forgetting factor of 1/3.

    >>> x = np.array([1 + 1j, 1 - 1j])
    >>> round(foretold_floor(x, 1, 1 / 3, 0.1, 1.0), 2)
    -10.0
    """
    if silent_directions(x, L):
        return np.inf
    each = noise * (1 - lam) / (1 + lam) / strengths(x, L)
    return float(10 * np.log10(each.sum() / paths))

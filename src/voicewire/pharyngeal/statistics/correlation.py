"""Is there a correlation? Leverage, leave-one-out and an exact permutation test for a handful of tokens.

The paper concludes a correlation between the rise of the larynx and F1; six tokens stand in both tables. Explained in
notebook ``04_reproduction``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["PermutationTest", "leave_one_out", "leverage", "pearson", "permutation_test"]

from voicewire._kit import checks

Numbers = Sequence[float] | NDArray[np.float64]


@checks.takes(same=("x", "y"), x=checks.array(least=3), y=checks.array(least=3))
def pearson(x: Numbers, y: Numbers) -> float:
    """Return Pearson's correlation of two sequences of equal length.

    Parameters
    ----------
    x, y : sequence of float
        Of equal length, at least two.

    Returns
    -------
    float
        From -1 to 1.

    Raises
    ------
    ValueError
        If lengths differ, fewer than three pairs are given, or one side is constant.

    Examples
    --------
    >>> round(pearson([1, 2, 3], [2, 4, 6]), 9)
    1.0
    """
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if a.shape != b.shape or a.ndim != 1 or a.size < 3:
        raise ValueError("correlation needs two sequences of the same length, of at least three values")
    a, b = a - a.mean(), b - b.mean()
    scale = math.sqrt(float(a @ a) * float(b @ b))
    if scale == 0.0:
        raise ValueError("correlation of a constant is not defined")
    return float(a @ b) / scale


@checks.takes(x=checks.array(least=2))
def leverage(x: Numbers) -> NDArray[np.float64]:
    """Return the leverage of each point in a straight-line fit (between 1/n and 1; they add up to 2).

    Parameters
    ----------
    x : sequence of float
        Where the points lie.

    Returns
    -------
    ndarray of float, shape (n,)

    Examples
    --------
    >>> leverage([0, 0, 0, 1]).round(2).tolist()
    [0.33, 0.33, 0.33, 1.0]
    """
    a = np.asarray(x, dtype=float)
    centred = a - a.mean()
    if not centred.any():
        raise ValueError("x is constant: no straight line can be fitted to it")
    return np.asarray(1 / a.size + centred**2 / float(centred @ centred), dtype=np.float64)


@checks.takes(same=("x", "y"), x=checks.array(least=4), y=checks.array(least=4))
def leave_one_out(x: Numbers, y: Numbers) -> NDArray[np.float64]:
    """Return the correlation without each point in turn.

    Parameters
    ----------
    x, y : sequence of float
        Of equal length.

    Returns
    -------
    ndarray of float, shape (n,)

    Examples
    --------
    >>> leave_one_out([1, 2, 3, 9], [1, 2, 3, -9]).round(2).tolist()[-1]
    1.0
    """
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    return np.array([pearson(np.delete(a, i), np.delete(b, i)) for i in range(a.size)])


@dataclass(frozen=True)
class PermutationTest:
    """Exact permutation test: correlation, its p values, and the number of permutations.

    Attributes
    ----------
    r : float
        The correlation.
    p : float
        Share of all pairings at least as extreme, of either sign.
    p_higher : float
        Share of all pairings whose correlation is at least as high: one-sided.
    permutations : int
        How many.

    Examples
    --------
    >>> permutation_test([1, 2, 3], [1, 2, 3]).permutations
    6
    """

    r: float
    p: float
    p_higher: float
    permutations: int


@checks.takes(same=("x", "y"), x=checks.array(least=3), y=checks.array(least=3))
def permutation_test(x: Numbers, y: Numbers) -> PermutationTest:
    """Test a correlation by all n! pairings (n at most 8), two-sided and one-sided.

    Parameters
    ----------
    x, y : sequence of float
        Of equal length, at most 8.

    Returns
    -------
    PermutationTest

    Raises
    ------
    ValueError
        For more than eight pairs: the exact test is meant for a handful.

    Examples
    --------
    Of six pairings of three points, two are as extreme.

    >>> round(permutation_test([1, 2, 3], [1, 2, 3]).p, 3)
    0.333
    """
    if len(x) > 8:
        raise ValueError("the exact test goes through n! pairings; it is meant for at most eight")
    observed = pearson(x, y)
    b = np.asarray(y, dtype=float)
    # pairings that tie with the observed one count as at least as extreme
    null = np.array([pearson(x, b[list(order)]) for order in itertools.permutations(range(b.size))])
    either, higher = np.abs(null) >= abs(observed) - 1e-12, null >= observed - 1e-12
    return PermutationTest(observed, float(np.mean(either)), float(np.mean(higher)), null.size)

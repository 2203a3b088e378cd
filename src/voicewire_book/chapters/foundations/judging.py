"""How sure a number is, and whether a verdict could have come out otherwise: the algorithms to read.

Everything here is plain NumPy and meant to be read beside the chapter *Measuring and judging*
(``notebooks/foundations/05_measuring_and_judging.ipynb``), where most of it stands on the page.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

__all__ = [
    "coverage",
    "exact_p",
    "holm",
    "mean_interval",
    "median_interval",
    "stopped_verdicts",
]


def _row(x: ArrayLike, at_least: int) -> NDArray[np.float64]:
    """Return `x` as finite numbers in one row, or say what is wrong with it."""
    try:
        row = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"a row of numbers is needed, got {type(x).__name__}") from None
    if row.ndim != 1 or row.size < at_least:
        raise ValueError(f"a row of at least {at_least} numbers is needed, got shape {row.shape}")
    if not np.isfinite(row).all():
        raise ValueError("a sample is not a finite number: find out why, do not drop it")
    return row


def coverage(hits: ArrayLike) -> tuple[float, float]:
    """Return the share of intervals that held the truth, and that share's standard error."""
    held = np.asarray(hits, dtype=bool).ravel()
    if held.size == 0:
        raise ValueError("coverage needs at least one simulated world")
    p = float(held.mean())
    return p, float(np.sqrt(p * (1 - p) / held.size))


def mean_interval(x: ArrayLike, size: float | None = None, confidence: float = 0.95) -> tuple[float, float]:
    """Return Student's interval for the mean, for `size` independent samples' worth of information."""
    row = _row(x, 2)
    n = float(row.size if size is None else size)
    if not 1 < n <= row.size:
        raise ValueError(f"the effective size must lie above 1 and not above {row.size}, got {size}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    half = stats.t.ppf((1 + confidence) / 2, n - 1) * row.std(ddof=1) / np.sqrt(n)
    return float(row.mean() - half), float(row.mean() + half)


def median_interval(x: ArrayLike, confidence: float = 0.95) -> tuple[float, float, float]:
    """Return two of the samples that hold the median between them, whatever the distribution.

    Each sample lies below the median with probability 1/2. So the number of samples below it is binomial, and
    P(x_(j) < median < x_(n+1-j)) = 1 - 2 P(B < j) for the sorted samples, counted from 1.
    """
    row = np.sort(_row(x, 1))
    n = row.size
    below = stats.binom.cdf(np.arange(n), n, 0.5)  # below[j - 1] = P(B < j)
    ranks = [j for j in range(1, n // 2 + 1) if 1 - 2 * below[j - 1] >= confidence]
    if not ranks:
        raise ValueError(f"{n} samples are too few for an interval of the median that covers {confidence:.0%}")
    j = ranks[-1]
    return float(row[j - 1]), float(row[n - j]), float(1 - 2 * below[j - 1])


def exact_p(x: ArrayLike, y: ArrayLike) -> float:
    """Return how rarely a shuffled y goes as well with x as the real one does: every order is tried."""
    a, b = _row(x, 3), _row(y, 3)
    if a.size != b.size or a.size > 9:
        raise ValueError(f"3 to 9 pairs are needed, got {a.size} and {b.size} numbers")
    if not np.ptp(a) or not np.ptp(b):
        raise ValueError("a constant row goes with nothing")
    a = a - a.mean()
    b = b - b.mean()
    orders = np.array(list(permutations(range(a.size))))
    products = np.abs(b[orders] @ a)
    return float(np.mean(products >= abs(a @ b) * (1 - 1e-12)))


def holm(p: ArrayLike, level: float = 0.05) -> NDArray[np.bool_]:
    """Return which of several tests stand, if the chance of even one false alarm is to stay below `level`.

    Holm's rule: the smallest p must lie below level/m, the next below level/(m - 1), and so on; at the first that
    does not, stop.
    """
    values = _row(p, 1)
    if values.min() < 0 or values.max() > 1:
        raise ValueError("p values lie between 0 and 1")
    order = np.argsort(values)
    m = values.size
    good = values[order] <= level / (m - np.arange(m))
    standing = np.cumprod(good).astype(bool)
    result = np.zeros(m, dtype=bool)
    result[order] = standing
    return result


def stopped_verdicts(
    looks: ArrayLike, worlds: int, rng: np.random.Generator, draw: Callable[..., NDArray[np.float64]] | None = None
) -> NDArray[np.int64]:
    """Judge a truth that lies exactly on the edge, adding samples until the interval leaves the edge."""
    sizes = np.asarray(looks, dtype=np.int64)
    if sizes.ndim != 1 or sizes.size == 0 or sizes[0] < 2 or (np.diff(sizes) <= 0).any():
        raise ValueError("looks must be growing sample sizes of at least 2")
    if worlds < 1:
        raise ValueError(f"at least one world is needed, got {worlds}")
    make = draw or (lambda generator, shape: generator.normal(size=shape))
    samples = make(rng, (worlds, int(sizes[-1])))
    verdict = np.zeros(worlds, dtype=np.int64)
    for n in sizes:
        seen = samples[:, :n]
        half = stats.t.ppf(0.975, n - 1) * seen.std(axis=1, ddof=1) / np.sqrt(n)
        mean = seen.mean(axis=1)
        decided = np.where(mean > half, 1, np.where(mean < -half, -1, 0))
        verdict = np.where(verdict == 0, decided, verdict)
    return np.array([(verdict == side).sum() for side in (-1, 0, 1)], dtype=np.int64)

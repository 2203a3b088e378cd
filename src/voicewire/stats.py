"""Intervals and quartiles: how the book says how sure it is.

Every claim drawn from random runs is stated over seeds with an interval. The arithmetic is SciPy's; this
module adds one result type, one spelling, and errors that name what is wrong with the samples.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks

__all__ = [
    "Interval",
    "Quartiles",
    "autocorrelation",
    "bootstrap_interval",
    "effective_size",
    "quartiles",
    "t_interval",
]


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval.

    Parameters
    ----------
    estimate : float
        The point estimate, in the unit of the samples.
    low, high : float
        Ends of the interval, in the same unit.
    confidence : float
        Coverage, between 0 and 1 exclusive.
    n : int
        Number of samples behind it.

    Raises
    ------
    ValueError
        If a bound is not finite, the ends are swapped, or the confidence is not between 0 and 1.

    Examples
    --------
    >>> Interval(2.0, 1.0, 3.0, 0.95, n=10).low
    1.0
    """

    estimate: float
    low: float
    high: float
    confidence: float
    n: int

    def __post_init__(self) -> None:
        number = checks.number(nan=True, infinite=True, low=-np.inf)
        checks.fields(self, estimate=number, low=number, high=number, n=checks.whole(1))
        if not all(np.isfinite([self.estimate, self.low, self.high])):
            raise ValueError(f"an interval needs finite numbers, got {self.estimate}, [{self.low}, {self.high}]")
        if self.low > self.high:
            raise ValueError(f"the lower end {self.low} lies above the upper end {self.high}: swap them")
        _check_confidence(self.confidence)

    @property
    def half_width(self) -> float:
        """Half the distance between the two ends."""
        return (self.high - self.low) / 2

    def __contains__(self, value: float) -> bool:
        return bool(self.low <= value <= self.high)

    def __format__(self, spec: str) -> str:
        """Write the three numbers with one format: ``f"{interval:.2f}"`` gives ``6.24 [6.20, 6.28]``."""
        return f"{self.estimate:{spec}} [{self.low:{spec}}, {self.high:{spec}}]"

    def __str__(self) -> str:
        return format(self, ".4g")


class Quartiles(NamedTuple):
    """Lower quartile, median and upper quartile of a sample, in its own unit.

    Parameters
    ----------
    lower, median, upper : float
        The values below which 25, 50 and 75 % of the sample lie.

    Examples
    --------
    >>> quartiles([1.0, 2.0, 3.0]).median
    2.0
    """

    lower: float
    median: float
    upper: float


def t_interval(samples: ArrayLike, confidence: float = 0.95) -> Interval:
    """Student's t interval for the mean.

    Parameters
    ----------
    samples : array_like, shape (n,)
        One number for each independent run (each seed), at least two.
    confidence : float
        Coverage, between 0 and 1 exclusive.

    Returns
    -------
    Interval
        The mean and its interval. Samples that are all equal give an interval of width zero.

    Raises
    ------
    ValueError
        If there are fewer than two samples, or one of them is not a finite number.

    Examples
    --------
    >>> f"{t_interval([1.0, 2.0, 3.0]):.2f}"
    '2.00 [-0.48, 4.48]'
    """
    from scipy import stats

    values = _samples(samples, at_least=2)
    _check_confidence(confidence)
    # The mean of equal numbers may differ from them in the last bit, which would give a width out of nothing.
    if np.ptp(values) == 0.0:
        same = float(values[0])
        return Interval(same, same, same, confidence, values.size)
    mean = float(np.mean(values))
    # Not stats.t.interval: a standard error that underflows to zero makes it answer NaN.
    half = float(stats.t.ppf((1 + confidence) / 2, values.size - 1) * stats.sem(values))
    return Interval(mean, mean - half, mean + half, confidence, values.size)


@checks.takes(statistic=checks.function, rng=checks.generator, resamples=checks.whole(0, 10**8))
def bootstrap_interval(
    samples: ArrayLike,
    statistic: Callable[[NDArray[np.float64]], float],
    rng: np.random.Generator,
    resamples: int = 2000,
    confidence: float = 0.95,
) -> Interval:
    """Bootstrap interval for any statistic (bias-corrected and accelerated, BCa).

    Where BCa is not defined (its jackknife has no spread, as for the median of many equal samples) the
    percentile interval of the same resamples stands in.

    Parameters
    ----------
    samples : array_like, shape (n,)
        One number for each independent run, at least two.
    statistic : callable
        Takes samples of shape (n,) and returns one number, for example ``np.median``.
    rng : numpy.random.Generator
        Source of the resampling; the same generator state gives the same interval.
    resamples : int
        Number of resamples.
    confidence : float
        Coverage, between 0 and 1 exclusive.

    Returns
    -------
    Interval
        The statistic of the samples and its interval, in the statistic's unit.

    Raises
    ------
    ValueError
        If there are fewer than two samples, one of them is not finite, or the statistic does not give
        one number.

    Examples
    --------
    >>> 2.0 in bootstrap_interval([1.0, 2.0, 3.0, 2.0], np.mean, np.random.default_rng(1))
    True
    """
    from scipy import stats

    values = _samples(samples, at_least=2)
    _check_confidence(confidence)
    if resamples < 1:
        raise ValueError(f"a bootstrap needs at least one resample, got {resamples}")
    estimate = np.asarray(statistic(values), dtype=np.float64)
    if estimate.shape != () or not np.isfinite(estimate):
        raise ValueError(f"the statistic must give one finite number, it gave {estimate}")
    if np.ptp(values) == 0.0:
        return Interval(float(estimate), float(estimate), float(estimate), confidence, values.size)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)  # handled below
        result = stats.bootstrap(
            (values,),
            statistic,
            n_resamples=resamples,
            confidence_level=confidence,
            method="BCa",
            vectorized=False,
            random_state=rng,  # SciPy before 1.15 knows no other name for it
        )
    ends = np.array([result.confidence_interval.low, result.confidence_interval.high])
    if not np.all(np.isfinite(ends)):
        tail = (1 - confidence) / 2
        ends = np.quantile(result.bootstrap_distribution, [tail, 1 - tail])
    return Interval(float(estimate), float(ends[0]), float(ends[1]), confidence, values.size)


def quartiles(samples: ArrayLike) -> Quartiles:
    """Lower quartile, median and upper quartile (linear interpolation, NumPy's and R's default, type 7).

    Parameters
    ----------
    samples : array_like, shape (n,)
        At least one finite number.

    Returns
    -------
    Quartiles
        In the unit of the samples.

    Raises
    ------
    ValueError
        If there is no sample, or one of them is not a finite number.

    Examples
    --------
    >>> quartiles([1, 2, 3, 4, 5]).median
    3.0
    """
    lower, median, upper = np.quantile(_samples(samples, at_least=1), [0.25, 0.5, 0.75])
    return Quartiles(float(lower), float(median), float(upper))


def autocorrelation(x: ArrayLike) -> NDArray[np.float64]:
    """Return the sample autocorrelations of a series at the lags 0, 1, …, n - 1.

    With the deviations d from the mean, r_k = sum d_i d_(i+k) / sum d_i^2.

    Parameters
    ----------
    x : array_like, shape (n,)
        The series, n at least 2, not constant.

    Returns
    -------
    numpy.ndarray, shape (n,)
        r_0 = 1, r_1, …; they always satisfy 1 + 2 (r_1 + … + r_(n-1)) = 0.

    Raises
    ------
    ValueError
        If the series is too short, not finite, or constant.

    Examples
    --------
    >>> autocorrelation([1, 2, 3, 4]).round(2).tolist()
    [1.0, 0.25, -0.3, -0.45]
    """
    d = _samples(x, at_least=2)
    d = d - d.mean()
    if not d.any():
        raise ValueError("a constant series has no autocorrelation")
    n = d.size
    power = d @ d
    if not 0 < power < np.inf:
        raise ValueError("the series varies by less, or by more, than its squares can tell: scale it to about 1")
    return np.array([d[: n - k] @ d[k:] / power for k in range(n)])


def effective_size(x: ArrayLike) -> float:
    """Return how many independent samples tell the mean as well as this series does.

    n_eff = n / (1 + 2 sum r_k), the sum being cut by the initial positive sequence: lags are added two at a time
    until such a pair is no longer positive.

    Parameters
    ----------
    x : array_like, shape (n,)
        A stationary series (no drift), n at least 4, not constant.

    Returns
    -------
    float
        The effective size, between 1 and n: a series that alternates tells more than n independent samples
        would, which is not trusted from one series.

    Raises
    ------
    ValueError
        If the series is too short, not finite, or constant.

    Examples
    --------
    >>> round(effective_size([1, 1, 1, 3, 3, 3, 1, 1, 1, 3, 3, 3]), 3)
    6.545
    """
    r = autocorrelation(_samples(x, at_least=4))
    n = r.size
    total = 0.0
    for k in range(0, n - 1, 2):
        pair = r[k] + r[k + 1]
        if pair <= 0:
            break
        total += pair
    factor = 2 * total - 1  # r_0 is counted once, not twice
    return float(min(n / max(factor, 1.0), n))


def _samples(samples: ArrayLike, at_least: int) -> NDArray[np.float64]:
    values = np.asarray(checks.array((0, 1, 2, 3), least=0, allow="nan inf")("samples", samples, ValueError))
    if values.ndim != 1:
        raise ValueError(f"samples must be one-dimensional (one number a run), got shape {values.shape}")
    if values.size < at_least:
        raise ValueError(f"{at_least} or more samples are needed, got {values.size}: run more seeds")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(
            f"{bad.size} of {values.size} samples are not finite"
            f" (the first is {values[bad[0]]} at index {bad[0]}): find out why; do not drop it"
        )
    return values


def _check_confidence(confidence: float) -> None:
    if not 0.0 < checks.number(nan=True, infinite=True)("confidence", confidence, ValueError) < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}: write 0.95 for 95 %")

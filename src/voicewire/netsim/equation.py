"""The TCP throughput equation, its inverse, and the average loss interval of TFRC.

RFC 3448 (and RFC 5348) sections 3.1, 5.4 and 6.3.1; RFC 4828 sections 3 and 4.4. Rates are in bytes per
second, times in seconds. The scalar functions are compiled, because the senders call them once per feedback
packet; `rate` and `loss_rate` are the vectorised doors for everybody else.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks
from voicewire._kit._compiled import vectorize
from voicewire.netsim.compilation import rule
from voicewire.netsim.errors import NetsimError

__all__ = ["WEIGHTS", "average_interval", "loss_rate", "rate", "rfc4828_table", "small_packet_rate"]

#: Weights of the last eight loss intervals, newest first (RFC 3448 section 5.4). The thesis prints 8 for 0.8.
WEIGHTS = (1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2)
NOMINAL_SEGMENT = 1460.0  # RFC 4828 section 3: the segment size that TFRC-SP puts into the equation
HEADER = 40.0  # RFC 4828 section 4.2: header bytes charged to each packet
_W = np.array(WEIGHTS)


@rule
def throughput(s: float, rtt: float, p: float) -> float:
    """X = s / (R sqrt(2p/3) + 4R · 3 sqrt(3p/8) p (1 + 32p²)), RFC 3448 section 3.1 with b = 1, t_RTO = 4R."""
    return s / (rtt * math.sqrt(2 * p / 3) + 4 * rtt * 3 * math.sqrt(3 * p / 8) * p * (1 + 32 * p * p))


@rule
def inverse(x: float, s: float, rtt: float) -> float:
    """Loss event rate at which `throughput` gives `x`; the rate falls with p, so bisection on log p (6.3.1)."""
    low, high = 1e-12, 1.0
    if throughput(s, rtt, low) <= x:
        return low
    if throughput(s, rtt, high) >= x:
        return high
    for _ in range(100):
        middle = math.sqrt(low * high)
        if throughput(s, rtt, middle) > x:
            low = middle
        else:
            high = middle
        if high - low <= 1e-13 * high:
            break
    return math.sqrt(low * high)


@rule
def mean_interval(intervals: NDArray[np.float64], n: int) -> float:
    """I_mean = max(I_tot0, I_tot1) / W_tot over I_0 (still open) and n closed intervals (RFC 3448, 5.4)."""
    tot0 = tot1 = w0 = w1 = 0.0
    for i in range(min(n + 1, 8)):
        tot0 += _W[i] * intervals[i]
        w0 += _W[i]
    for i in range(1, n + 1):
        tot1 += _W[i - 1] * intervals[i]
        w1 += _W[i - 1]
    # with fewer than eight intervals each sum is divided by the weights that it used
    return max(tot0 / w0, tot1 / w1)


@rule
def discount(newest: float, past: float, least: float) -> float:
    """DF of RFC 3448 section 5.5: what an interval more than twice as long as the past's mean leaves of its weight."""
    if newest <= 2.0 * past:
        return 1.0
    return max(2.0 * past / newest, least)


@rule
def closed_mean(intervals: NDArray[np.float64], kept: NDArray[np.float64], n: int) -> float:
    """I_mean over n closed intervals, each by its weight and what discounts have left of it (RFC 3448, 5.5)."""
    total = weights = 0.0
    for i in range(1, n + 1):
        total += _W[i - 1] * kept[i] * intervals[i]
        weights += _W[i - 1] * kept[i]
    return total / weights


@rule
def discounted_interval(intervals: NDArray[np.float64], kept: NDArray[np.float64], n: int, least: float) -> float:
    """`mean_interval` with history discounting (RFC 3448, 5.5): a long I_0 takes weight from those before it."""
    past = closed_mean(intervals, kept, n)
    df = discount(intervals[0], past, least)
    total = _W[0] * intervals[0]
    weights = _W[0]
    for i in range(1, min(n + 1, 8)):
        share = df * kept[i]
        total += _W[i] * share * intervals[i]
        weights += _W[i] * share
    return max(past, total / weights)


@vectorize(["float64(float64, float64, float64)"], cache=True)
def _rate(s: float, rtt: float, p: float) -> float:
    return throughput(s, rtt, p)


@vectorize(["float64(float64, float64, float64)"], cache=True)
def _inverse(x: float, s: float, rtt: float) -> float:
    return inverse(x, s, rtt)


_POSITIVE = checks.array((0, 1, 2), least=0, low=1e-12, high=1e18)


def _positive(value: ArrayLike, what: str) -> NDArray[np.float64]:
    array = np.asarray(value, dtype=float)
    if not np.all(np.isfinite(array)) or np.any(array <= 0):
        raise NetsimError(f"{what} must be a finite number above 0")
    return array


@checks.takes(error=NetsimError, together=("s", "rtt", "p"), s=_POSITIVE, rtt=_POSITIVE, p=_POSITIVE)
def rate(s: ArrayLike, rtt: ArrayLike, p: ArrayLike) -> NDArray[np.float64]:
    """TCP-friendly rate in bytes/s (RFC 3448 section 3.1; the thesis, section 2.2.1, with b = 1, T0 = 4 RTT).

    Parameters
    ----------
    s : array_like of float
        Segment size in bytes.
    rtt : array_like of float
        Round-trip time in seconds.
    p : array_like of float
        Loss event rate, above 0 and at most 1.

    Returns
    -------
    ndarray of float
        Bytes per second; the three arguments broadcast against each other.

    Raises
    ------
    NetsimError
        if a size or time is not positive, or a loss rate lies outside (0, 1].

    Notes
    -----
    ``X = s / (R sqrt(2p/3) + 4R · 3 sqrt(3p/8) p (1 + 32 p²))``, RFC 3448 section 3.1 with b = 1 and t_RTO = 4R.

    Examples
    --------
    One loss in a hundred, a round trip of 100 ms:

    >>> round(float(rate(1460, 0.1, 0.01)))
    164005
    """
    loss = _positive(p, "the loss event rate p")
    if np.any(loss > 1):
        raise NetsimError("the loss event rate p is a fraction: it lies above 0 and is at most 1")
    return np.asarray(_rate(_positive(s, "the segment size"), _positive(rtt, "the round-trip time"), loss))


@checks.takes(error=NetsimError, together=("x", "s", "rtt"), x=_POSITIVE, s=_POSITIVE, rtt=_POSITIVE)
def loss_rate(x: ArrayLike, s: ArrayLike, rtt: ArrayLike) -> NDArray[np.float64]:
    """Loss event rate that gives the rate `x` (bytes/s): what seeds the first loss interval, RFC 3448 6.3.1.

    Parameters
    ----------
    x : array_like of float
        Rate in bytes per second.
    s : array_like of float
        Segment size in bytes.
    rtt : array_like of float
        Round-trip time in seconds.

    Returns
    -------
    ndarray of float
        Loss event rate, 1e-12 to 1.

    Raises
    ------
    NetsimError
        If one of them is not a finite number above 0.

    Notes
    -----
    The inverse of `rate`, bisected on a logarithmic scale.

    Examples
    --------
    >>> round(float(loss_rate(rate(1460, 0.1, 0.01), 1460, 0.1)), 6)
    0.01
    """
    return np.asarray(
        _inverse(_positive(x, "the rate"), _positive(s, "the segment size"), _positive(rtt, "the round-trip time"))
    )


@checks.takes(error=NetsimError, together=("s_true", "rtt", "p"), s_true=_POSITIVE, rtt=_POSITIVE, p=_POSITIVE)
def small_packet_rate(s_true: ArrayLike, rtt: ArrayLike, p: ArrayLike) -> NDArray[np.float64]:
    """TFRC-SP: the rate of 1460-byte segments, less the share of the headers (RFC 4828 sections 3 and 4.2).

    Parameters
    ----------
    s_true : array_like of float
        Bytes of a packet, without its headers.
    rtt : array_like of float
        Round-trip time in seconds.
    p : array_like of float
        Loss event rate, above 0 and at most 1.

    Returns
    -------
    ndarray of float
        Bytes per second, headers not counted.

    Raises
    ------
    NetsimError
        If a size or time is not positive, or a loss rate lies outside (0, 1].

    Notes
    -----
    ``X(1460) · s / (s + 40)``.

    Examples
    --------
    A third of the rate is left for packets of 20 bytes with headers of 40:

    >>> round(float(small_packet_rate(20, 0.1, 0.01) / rate(1460, 0.1, 0.01)), 4)
    0.3333
    """
    size = _positive(s_true, "the packet size")
    return rate(NOMINAL_SEGMENT, rtt, p) * size / (size + HEADER)


@checks.takes(error=NetsimError, intervals=checks.array(least=2))
def average_interval(intervals: ArrayLike) -> float:
    """Average loss interval in packets; `intervals[0]` is the one still open (RFC 3448 section 5.4).

    Parameters
    ----------
    intervals : array_like of float, shape (2 .. 9,)
        Loss intervals in packets, the open one first, then the newest closed one.

    Returns
    -------
    float
        Packets.

    Raises
    ------
    NetsimError
        for fewer than two or more than nine intervals, or an interval that is not positive.

    Notes
    -----
    ``I_mean = max(Σ w_i I_i / Σ w_i, Σ w_i I_(i+1) / Σ w_i)`` with `WEIGHTS`: the open interval counts only where it
    raises the mean.

    Examples
    --------
    >>> average_interval([20] + [100] * 8), average_interval([400] + [100] * 8)
    (100.0, 150.0)
    """
    array = _positive(intervals, "a loss interval")
    if array.ndim != 1 or not 2 <= array.size <= 9:
        raise NetsimError("give the open interval and one to eight closed ones, newest first")
    return float(mean_interval(array, array.size - 1))


@checks.takes(
    error=NetsimError, packet_drop_rate=_POSITIVE, segment=checks.whole(1, 65_000), rtt=checks.number(1e-9, 1e6),
)  # fmt: skip
def rfc4828_table(packet_drop_rate: ArrayLike, segment: int, rtt: float = 0.1) -> NDArray[np.float64]:
    """Table 1 of RFC 4828: kilobytes per second, headers of 40 bytes included, to its two printed digits.

    The printed table lies 0.06 to 0.25 per cent above the exact equation. It comes out to the last digit when
    sqrt(2/3) is cut to 0.816 and the 7.348 of the timeout term to 7.34; that is what this function does.
    `rate` stays exact.
    """
    p = _positive(packet_drop_rate, "the packet drop rate")
    seconds = rtt * (0.816 * np.sqrt(p) + 7.34 * p**1.5 * (1 + 32 * p * p))
    return np.round((segment + HEADER) / seconds / 1000, 2)

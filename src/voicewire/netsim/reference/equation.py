"""The TCP throughput equation, its inverse and the mean loss interval.

RFC 3448 sections 3.1, 5.4 and 6.3.1, in plain Python; `netsim.equation` is
the same compiled. Chapter 1 of the voice part is woven from this. Rates are
bytes a second, round trips seconds, intervals packets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = [
    "WEIGHTS",
    "discount",
    "discounted_interval",
    "inverse_equation",
    "mean_interval",
    "small_packet_rate",
    "tcp_rate",
    "weighted_mean",
]


def tcp_rate(s: float, rtt: float, p: float) -> float:
    """RFC 3448 section 3.1: the rate of a TCP with loss event rate p.

    Notes
    -----
    With b = 1 and a time-out of four round trips.
    """
    roots = math.sqrt(2 * p / 3), math.sqrt(3 * p / 8)
    timeouts = 4 * rtt * 3 * roots[1] * p * (1 + 32 * p * p)
    return s / (rtt * roots[0] + timeouts)


def small_packet_rate(s: float, rtt: float, p: float) -> float:
    """TFRC-SP: the rate of large segments, less its headers' share.

    Notes
    -----
    RFC 4828 section 3: segments of 1460 bytes, headers of 40.
    """
    return tcp_rate(1460.0, rtt, p) * s / (s + 40.0)


def inverse_equation(x: float, s: float, rtt: float) -> float:
    """RFC 3448 section 6.3.1: the p that gives the rate x, bisected."""
    low, high = 1e-12, 1.0
    if tcp_rate(s, rtt, low) <= x:
        return low
    if tcp_rate(s, rtt, high) >= x:
        return high
    while high - low > 1e-13 * high:
        middle = math.sqrt(low * high)
        if tcp_rate(s, rtt, middle) > x:
            low = middle
        else:
            high = middle
    return math.sqrt(low * high)


WEIGHTS = (1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2)  # RFC 3448 section 5.4


def mean_interval(open_interval: float, closed: Sequence[float]) -> float:
    """RFC 3448 section 5.4: weighted mean of the loss intervals.

    `closed` has the newest first. The interval that is still open
    counts only where it raises the mean.
    """
    means = []
    for intervals in ([open_interval, *closed][:8], closed[:8]):
        total = weights = 0.0
        for weight, interval in zip(WEIGHTS, intervals, strict=False):
            total += weight * interval
            weights += weight
        means.append(total / weights)
    return max(means)


def weighted_mean(
    intervals: Sequence[float], shares: Sequence[float]
) -> float:
    """Mean of intervals, each by its weight and what is left of it.

    Notes
    -----
    RFC 3448 section 5.5.
    """
    total = weights = 0.0
    for weight, interval, share in zip(
        WEIGHTS, intervals, shares, strict=False
    ):
        total += weight * share * interval
        weights += weight * share
    return total / weights


def discount(newest: float, past: float, least: float) -> float:
    """What an interval twice as long as the past's leaves of its weight."""
    if newest <= 2 * past:
        return 1.0
    return max(2 * past / newest, least)


def discounted_interval(
    newest: float,
    closed: Sequence[float],
    kept: Sequence[float],
    least: float,
) -> float:
    """`mean_interval`, in which a long open interval outweighs the past.

    Notes
    -----
    RFC 3448 section 5.5.
    """
    past = weighted_mean(closed, kept)
    df = discount(newest, past, least)
    shares = [1.0, *(df * share for share in kept)]
    return max(past, weighted_mean([newest, *closed], shares))

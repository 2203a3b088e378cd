"""TCP's rules, each by itself and short enough to read.

The chapter *TCP in one chapter* (``notebooks/foundations/03_tcp.ipynb``)
is woven from them, and from the whole sender with its timer, which stands in
`voicewire.netsim.reference.tcp_sender`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire.netsim.reference.tcp_sender import Timeout

__all__ = [
    "cubic",
    "expired",
    "jain",
    "red",
    "reno_rounds",
    "round_trips",
    "small_writes",
]


Chance = np.random.Generator
"""Where random numbers come from."""
Floats = NDArray[np.float64]
Times = Sequence[float]
"""When a program writes, s."""
Sent = list[tuple[float, int]]
"""When segments leave, s, and how many small writes each holds."""


def round_trips(segments: int, window: int = 10) -> int:
    """Return the round trips until all segments are acknowledged.

    Slow start: the window doubles with each: k round trips carry window (2^k
    - 1) segments.
    """
    if segments < 1 or window < 1:
        raise ValueError("at least one segment and a window of one")
    trips = 0
    while segments > 0:
        segments -= window
        window *= 2
        trips += 1
    return trips


def expired(timer: Timeout) -> None:
    """Nothing came: wait twice as long next time, at most 60 s."""
    timer.rto = min(2 * timer.rto, 60.0)


def reno_rounds(p: float, rounds: int, rng: Chance) -> Floats:
    """Return the window of each round trip, at random losses.

    Each segment is lost with probability `p`. One more segment a round trip,
    half after a round trip with a loss, never below one; no timeouts.
    """
    if not 0 < p < 1 or rounds < 1:
        raise ValueError("0 < p < 1 and at least one round trip")
    window = np.sqrt(1.5 / p)
    windows = np.empty(rounds)
    for i in range(rounds):
        windows[i] = window
        if rng.random() < 1 - (1 - p) ** window:
            window = max(window / 2, 1.0)
        else:
            window += 1
    return windows


def cubic(t: ArrayLike, w_max: float) -> Floats:
    """Return CUBIC's window, `t` seconds after a loss at `w_max`.

    RFC 9438, section 4.2, with its C = 0.4 segments/s³ and beta = 0.7:

    W(t) = C (t - K)^3 + W_max with K = ((1 - beta) W_max / C)^(1/3), so that
    W(0) = beta W_max.
    """
    seconds = np.asarray(t, dtype=float)
    if not (seconds >= 0).all() or not w_max > 0:
        raise ValueError("times from 0 on, and a window above 0")
    k = np.cbrt((1 - 0.7) * w_max / 0.4)
    return np.asarray(0.4 * (seconds - k) ** 3 + w_max)


def small_writes(times: Times, answer: float, nagle: bool = True) -> Sent:
    """Return when segments leave and how many small writes each holds.

    Nagle's rule (RFC 9293, section 3.7.4): while anything is unacknowledged,
    less than a full segment waits. All
    writes together are taken to fit into one segment.
    """
    if list(times) != sorted(times) or not answer > 0:
        raise ValueError("writes in order, an answer that takes time")
    segments, free, waiting = [], 0.0, 0  # free: all is acknowledged
    for at in times:
        if waiting and free < at:
            segments.append((free, waiting))
            free, waiting = free + answer, 0
        if nagle and (at < free or waiting):
            waiting += 1
        else:
            segments.append((at, 1))
            free = at + answer
    return segments + ([(free, waiting)] if waiting else [])


def red(average: ArrayLike, low: float, high: float, most: float) -> Floats:
    """Return RED's probability of dropping at an average queue.

    Nothing up to the first threshold, a straight ramp, everything from the
    second one on.
    """
    if not 0 <= low < high or not 0 < most <= 1:
        raise ValueError("thresholds in order, a probability above 0")
    queue = np.asarray(average, dtype=float)
    ramp = np.clip(most * (queue - low) / (high - low), 0.0, most)
    return np.where(queue >= high, 1.0, ramp)


def jain(rates: ArrayLike) -> float:
    """Return Jain's fairness index, (sum x)^2 / (n sum x^2).

    It is 1 if all are equal, and 1/n if one has everything.
    """
    x = np.asarray(rates, dtype=float).ravel()
    if not np.isfinite(x).all() or (x < 0).any() or not x.any():
        raise ValueError("finite rates, not negative, not all zero")
    return float(x.sum() ** 2 / (x.size * (x @ x)))

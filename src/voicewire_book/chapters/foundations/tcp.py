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

    Parameters
    ----------
    segments : int
        Full segments to send, at least 1.
    window : int
        The initial window, segments, at least 1.

    Returns
    -------
    int
        Round trips, without the one that opens the connection.

    Raises
    ------
    ValueError
        If either is below 1.

    Examples
    --------
    >>> round_trips(69), round_trips(70), round_trips(71)
    (3, 3, 4)
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
    """Nothing came: wait twice as long next time, at most 60 s.

    Parameters
    ----------
    timer : Timeout
        Changed in place.

    Examples
    --------
    >>> timer = Timeout()
    >>> expired(timer)
    >>> timer.rto
    2.0
    """
    timer.rto = min(2 * timer.rto, 60.0)


def reno_rounds(p: float, rounds: int, rng: Chance) -> Floats:
    """Return the window of each round trip, at random losses.

    Each segment is lost with probability `p`. One more segment a round trip,
    half after a round trip with a loss, never below one; no timeouts.

    Parameters
    ----------
    p : float
        Loss probability of a segment, above 0 and below 1.
    rounds : int
        Round trips to follow.
    rng : numpy.random.Generator
        Source of the losses.

    Returns
    -------
    numpy.ndarray, shape (rounds,)
        Windows in segments.

    Raises
    ------
    ValueError
        If `p` is no probability between 0 and 1, or there is no round.

    Examples
    --------
    >>> reno_rounds(1e-9, 3, np.random.default_rng(1)).round(1).tolist()
    [38729.8, 38730.8, 38731.8]
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

    Parameters
    ----------
    t : array_like
        Seconds since the loss, not negative.
    w_max : float
        Window at the loss, segments, above 0.

    Returns
    -------
    numpy.ndarray, shape of `t`
        Windows in segments.

    Raises
    ------
    ValueError
        If a time is negative or there is no window.

    Examples
    --------
    >>> float(cubic(0, 100)), float(cubic(4.2171633, 100).round(6))
    (70.0, 100.0)
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

    Parameters
    ----------
    times : sequence of float
        When the program writes, s, in order.
    answer : float
        Time from a segment's leaving to its acknowledgement's coming, s: a
        round trip, and a delay of the
        acknowledgement if there is one.
    nagle : bool
        False: each write leaves at once (TCP_NODELAY).

    Returns
    -------
    list of (float, int)
        When each segment leaves, s, and how many writes it holds.

    Raises
    ------
    ValueError
        If times go backwards or the answer takes no time.

    Examples
    --------
    >>> small_writes([0.0, 0.01, 0.02, 0.03], answer=0.1)
    [(0.0, 1), (0.1, 3)]
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

    Parameters
    ----------
    average : array_like
        Smoothed queue length, packets.
    low, high : float
        Thresholds, packets, `low` below `high`.
    most : float
        Probability just below `high`, above 0 and at most 1.

    Returns
    -------
    numpy.ndarray, shape of `average`
        Probabilities, 0 to 1.

    Raises
    ------
    ValueError
        If the thresholds are not in order or `most` is no probability.

    Examples
    --------
    >>> red([4, 10, 20], 5, 15, 0.1).tolist()
    [0.0, 0.05, 1.0]
    """
    if not 0 <= low < high or not 0 < most <= 1:
        raise ValueError("thresholds in order, a probability above 0")
    queue = np.asarray(average, dtype=float)
    ramp = np.clip(most * (queue - low) / (high - low), 0.0, most)
    return np.where(queue >= high, 1.0, ramp)


def jain(rates: ArrayLike) -> float:
    """Return Jain's fairness index, (sum x)^2 / (n sum x^2).

    It is 1 if all are equal, and 1/n if one has everything.

    Parameters
    ----------
    rates : array_like, shape (n,)
        What each gets, not negative, not all zero.

    Returns
    -------
    float
        From 1/n to 1.

    Raises
    ------
    ValueError
        If there is nothing to share.

    Examples
    --------
    >>> jain([1, 1, 1, 1]), jain([1, 0, 0, 0]), round(jain([2, 1]), 2)
    (1.0, 0.25, 0.9)
    """
    x = np.asarray(rates, dtype=float).ravel()
    if not np.isfinite(x).all() or (x < 0).any() or not x.any():
        raise ValueError("finite rates, not negative, not all zero")
    return float(x.sum() ** 2 / (x.size * (x @ x)))

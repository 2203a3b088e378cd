"""TCP's rules, each by itself and short enough to read: rounds, timer, sawtooth, small writes, queues.

The chapter *TCP in one chapter* (``notebooks/foundations/03_tcp.ipynb``) is woven from them. A whole sender stands in
`voicewire.netsim.reference`; `trace` runs it over a path whose losses are chosen one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire.netsim.reference import Packet, TcpReceiver, TcpSender, Way, carry
from voicewire.netsim.reference.path import SECOND

__all__ = [
    "Chance",
    "Floats",
    "Sent",
    "Timeout",
    "Times",
    "Trace",
    "cubic",
    "expired",
    "jain",
    "measure",
    "red",
    "reno_rounds",
    "round_trips",
    "small_writes",
    "trace",
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

    Slow start: the window doubles with each: k round trips carry window (2^k - 1) segments.

    Parameters
    ----------
    segments : int
        Full segments to send, at least 1.
    window : int
        The initial window, segments, at least 1.

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


@dataclass
class Timeout:
    """A retransmission timer and what it was computed from (RFC 6298).

    Attributes
    ----------
    least : float
        Floor of the timer, s (the RFC says 1, Linux takes 0.2).
    rto : float
        The timer, s; 1 before anything was measured.
    srtt, rttvar : float or None
        Smoothed round trip and its mean deviation, s.
    """

    least: float = 1.0
    rto: float = 1.0
    srtt: float | None = None
    rttvar: float | None = None


def measure(timer: Timeout, sample: float) -> None:
    """Take a round trip of a segment that was sent once (Karn).

    Parameters
    ----------
    timer : Timeout
        Changed in place.
    sample : float
        The round trip, s.

    Examples
    --------
    >>> timer = Timeout(least=0.0)
    >>> measure(timer, 0.1)
    >>> round(timer.rto, 3)
    0.3
    """
    if timer.srtt is None or timer.rttvar is None:
        timer.srtt, timer.rttvar = sample, sample / 2
    else:
        off = abs(timer.srtt - sample)  # from the old average
        timer.rttvar += (off - timer.rttvar) / 4
        timer.srtt += (sample - timer.srtt) / 8
    timer.rto = max(timer.srtt + 4 * timer.rttvar, timer.least)


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


def cubic(t: ArrayLike, w_max: float, c: float = 0.4, beta: float = 0.7) -> NDArray[np.float64]:
    """Return CUBIC's window `t` seconds after a loss at `w_max` segments (RFC 9438, section 4.2).

    W(t) = C (t - K)^3 + W_max with K = ((1 - beta) W_max / C)^(1/3), so that W(0) = beta W_max.

    Parameters
    ----------
    t : array_like
        Seconds since the loss, not negative.
    w_max : float
        Window at the loss, segments, above 0.
    c, beta : float
        The RFC's constants, in segments/s³ and without a unit.

    Raises
    ------
    ValueError
        If a time is negative or a constant impossible.

    Examples
    --------
    >>> float(cubic(0, 100)), float(cubic(4.2171633, 100).round(6))
    (70.0, 100.0)
    """
    seconds = np.asarray(t, dtype=float)
    if not (seconds >= 0).all() or not (w_max > 0 and c > 0 and 0 < beta < 1):
        raise ValueError("times from 0 on, a window and C above 0, beta between 0 and 1")
    k = np.cbrt((1 - beta) * w_max / c)
    return np.asarray(c * (seconds - k) ** 3 + w_max)


def small_writes(times: Times, answer: float, nagle: bool = True) -> Sent:
    """Return when segments leave and how many small writes each holds.

    Nagle's rule (RFC 9293, section 3.7.4): while anything is unacknowledged, less than a full segment waits. All
    writes together are taken to fit into one segment.

    Parameters
    ----------
    times : sequence of float
        When the program writes, s, in order.
    answer : float
        Time from a segment's leaving to its acknowledgement's coming, s: a round trip, and a delay of the
        acknowledgement if there is one.
    nagle : bool
        False: each write leaves at once (TCP_NODELAY).

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

    Nothing up to the first threshold, a straight ramp, everything from the second one on.

    Parameters
    ----------
    average : array_like
        Smoothed queue length, packets.
    low, high : float
        Thresholds, packets, `low` below `high`.
    most : float
        Probability just below `high`, above 0 and at most 1.

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


@dataclass
class Trace:
    """What was seen at the sender, in seconds and segments.

    Attributes
    ----------
    sent : list of (float, int)
        When a segment left, and its number.
    lost : list of (float, int)
        Those of them that the path lost.
    acknowledged : list of (float, int)
        When an acknowledgement came, and the next number that it asks for.
    """

    sent: list[tuple[float, int]] = field(default_factory=list)
    lost: list[tuple[float, int]] = field(default_factory=list)
    acknowledged: list[tuple[float, int]] = field(default_factory=list)

    @property
    def done(self) -> float:
        """When the last acknowledgement came, s."""
        return self.acknowledged[-1][0]


class _Picked(Way):
    """A way that loses the packets that are named by the order in which they leave."""

    def __init__(self, delay: int, lost: Collection[int], log: Trace) -> None:
        super().__init__(delay, 0.0, 0)
        self.named, self.log = lost, log

    def send(self, now: int, what: Packet) -> None:
        """Note what leaves; lose it if it was named."""
        entry = (now / SECOND, what.first)
        self.log.sent.append(entry)
        self.sent += 1
        if self.sent - 1 in self.named:
            self.lost += 1
            self.log.lost.append(entry)
        else:
            self.flight.append((now + self.delay, what))


class _Noting(TcpSender):
    log: Trace

    def on_answer(self, now: int, ack) -> list[Packet]:  # type: ignore[no-untyped-def]
        self.log.acknowledged.append((now / SECOND, ack.upto))
        return super().on_answer(now, ack)


def trace(
    writes: Sequence[tuple[float, int]],
    lost: Collection[int] = (),
    rtt: float = 0.1,
    window: int = 10,
    least: float = 1.0,
) -> Trace:
    """Run the reading version of TCP over a path that loses just the packets that are named.

    Parameters
    ----------
    writes : sequence of (float, int)
        When the program hands over how many full segments: (seconds, segments), in order.
    lost : collection of int
        Packets to lose, counted from 0 in the order in which they leave.
    rtt : float
        Round-trip time, s.
    window : int
        Initial window, segments.
    least : float
        Floor of the retransmission timer, s.

    Returns
    -------
    Trace

    Raises
    ------
    ValueError
        If nothing is written, or a number is not positive.

    Examples
    --------
    >>> run = trace([(0.0, 69)])
    >>> round(run.done, 3), len(run.sent)
    (0.3, 69)
    """
    total = sum(count for _, count in writes)
    if total < 1 or rtt <= 0 or window < 1:
        raise ValueError("at least one segment, a round trip above 0, a window of at least 1")
    log = Trace()
    frames = [int(at * SECOND) for at, count in writes for _ in range(count)]
    sender = _Noting(1460, rtt, initial=1460.0 * window, least_rto=least, window=float("inf"))
    sender.log = log
    receiver = TcpReceiver(total, every=1)
    way = int(rtt * SECOND / 2)
    carry(frames, sender, receiver, _Picked(way, lost, log), Way(way, 0.0, 0), 600 * SECOND)
    return log

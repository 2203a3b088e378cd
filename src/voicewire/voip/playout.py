"""Playout buffers: the best that any could do (an exact bound in O(N log N)), and one fixed delay for a call.

The bound of section 4.3 gives each talkspurt one end-to-end delay and drops what comes later. If talkspurt k plays
its j earliest frames, its delay is d_k^(j), the j-th smallest, and they cost j · Id(d_k^(j)). With i frames played
in all, at cost C, out of N spoken,

    R(i, C) = 94.2 - C/i - λ1 - λ2 ln(1 + λ3 (1 - i/N)).

Why hulls suffice (the proof is told at leisure in notebook 2): {R ≤ r} is {C ≥ i g(i)}, where
g(i) = 94.2 - λ1 - λ2 ln(1 + λ3 (1 - i/N)) - r is increasing and convex; so i g(i) is convex for i > 0, every
such set is convex, R is quasiconvex, and its maximum over a finite set lies on a vertex of its convex hull, the
lower one, because R falls with C. The set here is a Minkowski sum, one summand a talkspurt, and the lower hull of a
sum is made of the summands' hull edges, sorted by slope. Frames that never arrived count in N only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks
from voicewire._kit._compiled import njit
from voicewire.voip import paper
from voicewire.voip.emodel import codec, id_of, ie_of
from voicewire.voip.errors import VoipError
from voicewire.voip.paper import Codec

__all__ = ["Playout", "as_trace", "best_r", "bound", "fixed", "per_talkspurt"]

_SLOPE, _KNEE, _SLOPE2, _BEST = paper.DELAY_SLOPE, paper.DELAY_KNEE, paper.DELAY_SLOPE_2, paper.R_BEST
_WRONG = (
    "",
    "a delay is NaN: write inf for a frame that never arrived",
    "a delay is negative: check that both clocks start together",
    "talkspurt numbers must not fall: sort the frames by the time they were spoken",
)


@dataclass(frozen=True)
class Playout:
    """What a playout rule made of a call.

    Attributes
    ----------
    r : the call's R
    played : frames played out
    total : frames spoken (the dropped and the lost among them)
    mean_id : delay impairment, averaged over the played frames
    delays_ms : end-to-end delay of each talkspurt, NaN where nothing of it is played; shape (talkspurts,)

    Examples
    --------
    >>> bound([50.0, 60.0], [0, 0], "G.711").played
    2
    """

    r: float
    played: int
    total: int
    mean_id: float
    delays_ms: NDArray[np.float64]

    @property
    def loss(self) -> float:
        """Fraction of frames not played, whoever dropped them."""
        return 1.0 - self.played / self.total


@njit(cache=True)
def _sort(a: NDArray[np.float64], n: int, bucket: NDArray[np.int64], spare: NDArray[np.float64]) -> None:
    """Sort in place: spread over n equal buckets (if the values allow), then insertion, which finds little to do."""
    low, high = a[0], a[0]
    for i in range(n):
        low = min(low, a[i])
        high = max(high, a[i])
    scale = (n - 1) / (high - low)
    if scale < 1e300:
        bucket[: n + 1] = 0
        for i in range(n):
            spare[i] = a[i]
            bucket[int((a[i] - low) * scale) + 1] += 1
        for i in range(n):
            bucket[i + 1] += bucket[i]
        for i in range(n):
            b = int((spare[i] - low) * scale)
            a[bucket[b]] = spare[i]
            bucket[b] += 1
    for i in range(1, n):
        x = a[i]
        j = i - 1
        while j >= 0 and a[j] > x:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = x


@njit(cache=True)
def _edges(
    delay: NDArray[np.float64],
    starts: NDArray[np.int64],
    slope: NDArray[np.float64],
    width: NDArray[np.int64],
    owner: NDArray[np.int64],
    ordered: NDArray[np.float64],
) -> int:
    """Lower hull of {(j, j · Id(d^(j)))} for each talkspurt, as edges (slope, width, talkspurt).

    While a hull grows, its edges wait in the output as (cost at the right end, j there). `ordered` is filled with the
    delays that arrived, sorted within each talkspurt.
    """
    longest = np.max(np.diff(starts))
    bucket, spare = np.empty(longest + 2, np.int64), np.empty(longest)
    edges = 0
    for k in range(starts.size - 1):
        room = ordered[starts[k] : starts[k + 1]]
        n = 0
        last = 0.0
        rising = True
        for i in range(starts[k], starts[k + 1]):
            d = delay[i]
            if d < np.inf:
                rising &= d >= last
                last = d
                room[n] = d
                n += 1
        if not rising:
            _sort(room, n, bucket, spare)
        first = edges
        left, left_cost = 0, 0.0  # where the last edge begins, and where it ends
        b, b_cost = 0, 0.0
        for j in range(1, n + 1):
            d = room[j - 1]
            if j < n and room[j] == d:
                continue  # a later frame with the same delay dominates: same slope from any hull point left of it
            c = j * (_SLOPE * d + (_SLOPE2 * (d - _KNEE) if d > _KNEE else 0.0))
            while edges > first and (b_cost - left_cost) * (j - b) >= (c - b_cost) * (b - left):
                edges -= 1
                b, b_cost = left, left_cost
                left, left_cost = (width[edges - 2], slope[edges - 2]) if edges > first + 1 else (0, 0.0)
            left, left_cost = b, b_cost
            b, b_cost = j, c
            slope[edges] = c
            width[edges] = j
            edges += 1
        for e in range(edges - 1, first, -1):
            width[e] -= width[e - 1]
            slope[e] = (slope[e] - slope[e - 1]) / width[e]
            owner[e] = k
        if edges > first:
            slope[first] /= width[first]
            owner[first] = k
    return edges


@njit(cache=True)
def _order(key: NDArray[np.float64]) -> NDArray[np.int64]:
    """Stable argsort of numbers ≥ 0, whose bits rise as they do: 33 bits by counting, the rest by insertion."""
    n = key.size
    bits = key.view(np.uint64)
    order, other = np.arange(n, dtype=np.int64), np.empty(n, np.int64)
    count = np.empty(2048, np.int64)
    for shift in (np.uint64(31), np.uint64(42), np.uint64(53)):
        count[:] = 0
        for i in range(n):
            count[(bits[i] >> shift) & np.uint64(2047)] += 1
        before = 0
        for digit in range(2048):
            before, count[digit] = before + count[digit], before
        for i in range(n):
            digit = (bits[order[i]] >> shift) & np.uint64(2047)
            other[count[digit]] = order[i]
            count[digit] += 1
        order, other = other, order
    for i in range(1, n):
        o = order[i]
        j = i - 1
        while j >= 0 and key[order[j]] > key[o]:
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = o
    return order


@njit(cache=True)
def _bound(
    delay: NDArray[np.float64], starts: NDArray[np.int64], l1: float, l2: float, l3: float
) -> tuple[float, int, float, NDArray[np.float64]]:
    total = delay.size
    spurts = starts.size - 1
    slope = np.empty(total)
    width = np.empty(total, np.int64)
    owner = np.empty(total, np.int64)
    ordered = np.empty(total)
    count = _edges(delay, starts, slope, width, owner, ordered)
    order = _order(slope[:count])
    best = _BEST - l1 - l2 * np.log(1 + l3)  # nothing played at all
    best_i, best_cost, best_edge = 0, 0.0, 0
    i, cost = 0, 0.0
    for e in range(count):
        i += width[order[e]]
        cost += width[order[e]] * slope[order[e]]
        r = _BEST - cost / i - l1 - l2 * np.log(1 + l3 * (1 - i / total))
        if r > best:
            best, best_i, best_cost, best_edge = r, i, cost, e + 1
    played = np.zeros(spurts, np.int64)
    for e in range(best_edge):
        played[owner[order[e]]] += width[order[e]]
    chosen = np.full(spurts, np.nan)
    for k in range(spurts):
        if played[k]:
            chosen[k] = ordered[starts[k] + played[k] - 1]
    return best, best_i, best_cost, chosen


@njit(cache=True)
def _starts(delay: NDArray[np.float64], label: NDArray[np.int64]) -> tuple[int, NDArray[np.int64]]:
    """What is wrong with a trace (0 nothing, 1 NaN, 2 negative, 3 talkspurts fall), and where talkspurts start."""
    starts = np.empty(delay.size + 1, np.int64)
    starts[0] = 0
    n = 1
    nan = negative = falls = False
    for i in range(delay.size):
        nan |= delay[i] != delay[i]
        negative |= delay[i] < 0
        if i and label[i] != label[i - 1]:
            falls |= label[i] < label[i - 1]
            starts[n] = i
            n += 1
    starts[n] = delay.size
    wrong = 1 if nan else 2 if negative else 3 if falls else 0
    return wrong, starts[: n + 1].copy()


def _lengths(starts: NDArray[np.int64]) -> NDArray[np.intp]:
    """Frames of each talkspurt, in the integers that `numpy.repeat` counts with: 32 bits on some machines."""
    return np.diff(starts).astype(np.intp)


@checks.takes(
    error=VoipError, delays_ms=checks.array(low=-math.inf, high=math.inf, allow="nan inf"),
    spurts=checks.array(kind="whole"),
)  # fmt: skip
def as_trace(delays_ms: ArrayLike, spurts: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Check a trace; return the delays (ms, inf where a frame never came) and the first index of each talkspurt.

    Parameters
    ----------
    delays_ms : array_like of float, shape (frames,)
        One-way delay of each frame in milliseconds, inf for one that never arrived.
    spurts : array_like of int, shape (frames,)
        Talkspurt number of each frame, not falling.

    Returns
    -------
    delay : ndarray of float, shape (frames,)
        Milliseconds.
    starts : ndarray of int64, shape (talkspurts + 1,)
        Index of each talkspurt's first frame, and the number of frames.

    Raises
    ------
    VoipError
        for an empty trace, NaN, a negative delay, lengths that differ, or talkspurts out of order.

    Examples
    --------
    >>> as_trace([50.0, 60.0, 90.0], [0, 0, 7])[1].tolist()
    [0, 2, 3]
    """
    delay, label = np.asarray(delays_ms), np.asarray(spurts)
    if label.shape != delay.shape:
        raise VoipError(f"{delay.size} delays, but {label.size} talkspurt numbers: give one for each frame")
    return delay, starts_of(delay, label)


def starts_of(delay: NDArray[np.float64], label: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the first index of each talkspurt, from two arrays of one length; NaN, a fall or a delay below 0 raise."""
    wrong, starts = _starts(delay, label)
    if wrong:
        raise VoipError(_WRONG[wrong])
    return starts


def best_r(delay: NDArray[np.float64], starts: NDArray[np.int64], codec_name: str | Codec) -> float:
    """R of `bound` for a trace that `as_trace` has already checked: the fast door for long sweeps.

    Parameters
    ----------
    delay : ndarray of float, shape (frames,)
        Milliseconds, as `as_trace` gives them.
    starts : ndarray of int64, shape (talkspurts + 1,)
        As `as_trace` gives them.
    codec_name : str or Codec
        A codec of Table 4.1.

    Returns
    -------
    float
        R.

    Examples
    --------
    >>> trace = as_trace([50.0, 60.0, 90.0], [0, 0, 1])
    >>> best_r(*trace, "G.711") == bound([50.0, 60.0, 90.0], [0, 0, 1], "G.711").r
    True
    """
    c = codec(codec_name)
    return float(_bound(delay, starts, c.lambda1, c.lambda2, c.lambda3)[0])


def bound(delays_ms: ArrayLike, spurts: ArrayLike, codec_name: str | Codec) -> Playout:
    """The highest R that any choice of one delay per talkspurt can reach (section 4.3, repaired), exact.

    Parameters
    ----------
    delays_ms : array_like of float, shape (frames,)
        One-way delay of each frame in milliseconds, inf for one that never arrived.
    spurts : array_like of int, shape (frames,)
        Talkspurt number of each frame, not falling.
    codec_name : str or Codec
        A codec of Table 4.1.

    Returns
    -------
    Playout
        R, and the delay of each talkspurt that gives it.

    Raises
    ------
    VoipError
        As `as_trace` says, and for an unknown codec.

    Notes
    -----
    The head of this file has the proof in short; chapter ``notebooks/voip/02_quality_and_playout``.

    Examples
    --------
    The one late frame of the second talkspurt isn't worth the wait:

    >>> spurts = [0] * 50 + [1] * 50
    >>> delays = [50.0] * 99 + [900.0]
    >>> best = bound(delays, spurts, "G.711")
    >>> best.played, best.delays_ms.tolist()
    (99, [50.0, 50.0])
    """
    return best(*as_trace(delays_ms, spurts), codec(codec_name))


def best(delay: NDArray[np.float64], starts: NDArray[np.int64], c: Codec) -> Playout:
    """Give `bound` of a trace that `as_trace` has checked."""
    r, i, cost, chosen = _bound(delay, starts, c.lambda1, c.lambda2, c.lambda3)
    return Playout(float(r), int(i), delay.size, float(cost / i) if i else 0.0, chosen)


def prefixes(delay: NDArray[np.float64], starts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Give the vertices of the hull among which every best playout is: frames played, and Σ Id of them.

    The first one plays nothing.
    """
    slope, width = np.empty(delay.size), np.empty(delay.size, np.int64)
    count = _edges(delay, starts, slope, width, np.empty(delay.size, np.int64), np.empty(delay.size))
    order = _order(slope[:count])
    played = np.concatenate([np.zeros(1, np.int64), np.cumsum(width[order])])
    return played, np.concatenate([np.zeros(1), np.cumsum(width[order] * slope[order])])


@checks.takes(error=VoipError, playout_ms=checks.array(low=0.0, allow="nan"))
def per_talkspurt(delays_ms: ArrayLike, spurts: ArrayLike, playout_ms: ArrayLike, codec_name: str | Codec) -> Playout:
    """Score given playout delays, one a talkspurt (NaN: play nothing of it); frames that come later are dropped.

    Parameters
    ----------
    delays_ms : array_like of float, shape (frames,)
        One-way delay of each frame in milliseconds, inf for one that never arrived.
    spurts : array_like of int, shape (frames,)
        Talkspurt number of each frame, not falling.
    playout_ms : array_like of float, shape (talkspurts,)
        End-to-end delay of each talkspurt, NaN where nothing of it is played.
    codec_name : str or Codec
        A codec of Table 4.1.

    Returns
    -------
    Playout
        What these delays make of the call.

    Raises
    ------
    VoipError
        As `as_trace` says, and for another number of delays than talkspurts.

    Examples
    --------
    >>> per_talkspurt([50.0, 60.0, 90.0], [0, 0, 1], [55.0, 90.0], "G.711").played
    2
    """
    delay, starts = as_trace(delays_ms, spurts)
    chosen = np.asarray(playout_ms, dtype=float)
    if chosen.shape != (starts.size - 1,):
        raise VoipError(f"{starts.size - 1} talkspurts need as many playout delays, not {chosen.size}")
    return played_at(delay, starts, chosen, codec(codec_name))


def played_at(delay: NDArray[np.float64], starts: NDArray[np.int64], chosen: NDArray[np.float64], c: Codec) -> Playout:
    """Score playout delays, one a talkspurt, on a trace that `as_trace` has checked."""
    target = np.repeat(chosen, _lengths(starts))
    on_time = delay <= target  # never true where the target is NaN, nor for a frame that never came
    on_time &= np.isfinite(delay)
    played = int(on_time.sum())
    mean_id = float(np.mean(id_of(target[on_time]))) if played else 0.0
    loss_only = float(_BEST - ie_of(np.asarray(1 - played / delay.size), c))
    return Playout(loss_only - mean_id, played, delay.size, mean_id, chosen)


@njit(cache=True)
def _fixed(ordered: NDArray[np.float64], total: int, l1: float, l2: float, l3: float) -> int:
    best, choice = _BEST - l1 - l2 * np.log(1 + l3), -1
    for i in range(ordered.size):
        d = ordered[i]
        r = _BEST - l1 - l2 * np.log(1 + l3 * (1 - (i + 1) / total)) - _SLOPE * d
        if d > _KNEE:
            r -= _SLOPE2 * (d - _KNEE)
        if r > best:
            best, choice = r, i
    return choice


@checks.takes(error=VoipError, delay_ms=checks.maybe(checks.number(0.0)))
def fixed(delays_ms: ArrayLike, spurts: ArrayLike, codec_name: str | Codec, delay_ms: float | None = None) -> Playout:
    """One playout delay for the whole call: the given one, or the best (argmax R(d), Tao and Guerin, section 4.3).

    Parameters
    ----------
    delays_ms : array_like of float, shape (frames,)
        One-way delay of each frame in milliseconds, inf for one that never arrived.
    spurts : array_like of int, shape (frames,)
        Talkspurt number of each frame, not falling.
    codec_name : str or Codec
        A codec of Table 4.1.
    delay_ms : float, optional
        The delay in milliseconds; without it the best.

    Returns
    -------
    Playout
        What this delay makes of the call.

    Raises
    ------
    VoipError
        As `as_trace` says, and for a negative delay.

    Examples
    --------
    >>> round(fixed([50.0, 60.0, 90.0], [0, 0, 1], "G.711", 60.0).loss, 3)
    0.333
    """
    c = codec(codec_name)
    delay, starts = as_trace(delays_ms, spurts)
    if delay_ms is None:
        arrived = np.sort(delay[np.isfinite(delay)])
        choice = _fixed(arrived, delay.size, c.lambda1, c.lambda2, c.lambda3)
        delay_ms = float(arrived[choice]) if choice >= 0 else float("nan")
    return played_at(delay, starts, np.full(starts.size - 1, delay_ms), c)

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

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from voicewire.voip import paper
from voicewire.voip.emodel import codec, delay_impairment, r_factor
from voicewire.voip.errors import VoipError
from voicewire.voip.paper import Codec

__all__ = ["Playout", "as_trace", "best_r", "bound", "fixed", "per_talkspurt"]

_SLOPE, _KNEE, _SLOPE2, _BEST = paper.DELAY_SLOPE, paper.DELAY_KNEE, paper.DELAY_SLOPE_2, paper.R_BEST


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
def _sort(a: NDArray[np.float64], n: int) -> None:
    # delays of a talkspurt come nearly sorted (a full send buffer, a draining queue): insertion wins
    if n > 400:
        a[:n].sort()
        return
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
    room: NDArray[np.float64],
    stack: NDArray[np.int64],
    cost: NDArray[np.float64],
) -> int:
    """Lower hull of {(j, j · Id(d^(j)))} for each talkspurt, as edges (slope, width, talkspurt)."""
    edges = 0
    for k in range(starts.size - 1):
        n = 0
        rising = True
        for i in range(starts[k], starts[k + 1]):
            d = delay[i]
            if d < np.inf:
                if n and d < room[n - 1]:
                    rising = False
                room[n] = d
                n += 1
        if n == 0:
            continue
        if not rising:
            _sort(room, n)
        cost[0] = 0.0
        stack[0] = 0
        top = 0
        for j in range(1, n + 1):
            d = room[j - 1]
            if j < n and room[j] == d:
                continue  # a later frame with the same delay dominates: same slope from any hull point left of it
            c = j * (_SLOPE * d + (_SLOPE2 * (d - _KNEE) if d > _KNEE else 0.0))
            while top >= 1:
                a, b = stack[top - 1], stack[top]
                if (cost[b] - cost[a]) * (j - b) >= (c - cost[b]) * (b - a):
                    top -= 1
                else:
                    break
            top += 1
            stack[top] = j
            cost[j] = c
        for t in range(1, top + 1):
            a, b = stack[t - 1], stack[t]
            slope[edges] = (cost[b] - cost[a]) / (b - a)
            width[edges] = b - a
            owner[edges] = k
            edges += 1
    return edges


@njit(cache=True)
def _bound(
    delay: NDArray[np.float64], starts: NDArray[np.int64], l1: float, l2: float, l3: float
) -> tuple[float, int, float, NDArray[np.int64]]:
    total = delay.size
    spurts = starts.size - 1
    longest = 0
    for k in range(spurts):
        longest = max(longest, starts[k + 1] - starts[k])
    slope = np.empty(total)
    width = np.empty(total, np.int64)
    owner = np.empty(total, np.int64)
    count = _edges(
        delay,
        starts,
        slope,
        width,
        owner,
        np.empty(longest + 1),
        np.empty(longest + 2, np.int64),
        np.empty(longest + 2),
    )
    order = np.argsort(slope[:count], kind="mergesort")
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
    return best, best_i, best_cost, played


def as_trace(delays_ms: ArrayLike, spurts: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Check a trace; return the delays (ms, inf where a frame never came) and the first index of each talkspurt.

    Raises
    ------
    VoipError
        for an empty trace, NaN, a negative delay, lengths that differ, or talkspurts out of order.
    """
    delay = np.ascontiguousarray(delays_ms, dtype=float)
    label = np.asarray(spurts)
    if delay.ndim != 1 or delay.size == 0:
        raise VoipError("empty trace: give at least one frame, as a one-dimensional array of delays")
    if label.shape != delay.shape:
        raise VoipError(f"{delay.size} delays, but {label.size} talkspurt numbers: give one for each frame")
    smallest = delay.min()
    if np.isnan(smallest):
        raise VoipError("a delay is NaN: write inf for a frame that never arrived")
    if smallest < 0:
        raise VoipError("a delay is negative: check that both clocks start together")
    change = np.diff(label)
    if np.any(change < 0):
        raise VoipError("talkspurt numbers must not fall: sort the frames by the time they were spoken")
    starts = np.concatenate(([0], np.flatnonzero(change) + 1, [delay.size])).astype(np.int64)
    return delay, starts


def best_r(delay: NDArray[np.float64], starts: NDArray[np.int64], codec_name: str | Codec) -> float:
    """R of `bound` for a trace that `as_trace` has already checked: the fast door for long sweeps."""
    c = codec(codec_name)
    return float(_bound(delay, starts, c.lambda1, c.lambda2, c.lambda3)[0])


def bound(delays_ms: ArrayLike, spurts: ArrayLike, codec_name: str | Codec) -> Playout:
    """The highest R that any choice of one delay per talkspurt can reach (section 4.3, repaired), exact.

    Parameters
    ----------
    delays_ms : one-way delay of each frame in milliseconds, inf for one that never arrived; shape (frames,)
    spurts : talkspurt number of each frame, not falling; shape (frames,)
    codec_name : a codec of Table 4.1
    """
    c = codec(codec_name)
    delay, starts = as_trace(delays_ms, spurts)
    r, i, cost, played = _bound(delay, starts, c.lambda1, c.lambda2, c.lambda3)
    chosen = np.full(played.size, np.nan)
    some = np.flatnonzero(played)
    by_delay = delay[np.lexsort((delay, np.repeat(np.arange(played.size), np.diff(starts))))]
    chosen[some] = by_delay[starts[some] + played[some] - 1]
    return Playout(float(r), int(i), delay.size, float(cost / i) if i else 0.0, chosen)


def per_talkspurt(delays_ms: ArrayLike, spurts: ArrayLike, playout_ms: ArrayLike, codec_name: str | Codec) -> Playout:
    """Score given playout delays, one a talkspurt (NaN: play nothing of it); frames that come later are dropped."""
    delay, starts = as_trace(delays_ms, spurts)
    chosen = np.asarray(playout_ms, dtype=float)
    if chosen.shape != (starts.size - 1,):
        raise VoipError(f"{starts.size - 1} talkspurts need as many playout delays, not {chosen.size}")
    target = np.repeat(chosen, np.diff(starts))
    on_time = delay <= target  # never true where the target is NaN, nor for a frame that never came
    on_time &= np.isfinite(delay)
    played = int(on_time.sum())
    mean_id = float(np.mean(delay_impairment(target[on_time]))) if played else 0.0
    loss_only = float(r_factor(0.0, 1 - played / delay.size, codec_name))
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


def fixed(delays_ms: ArrayLike, spurts: ArrayLike, codec_name: str | Codec, delay_ms: float | None = None) -> Playout:
    """One playout delay for the whole call: the given one, or the best (argmax R(d), Tao and Guerin, section 4.3)."""
    c = codec(codec_name)
    delay, starts = as_trace(delays_ms, spurts)
    if delay_ms is None:
        arrived = np.sort(delay[np.isfinite(delay)])
        choice = _fixed(arrived, delay.size, c.lambda1, c.lambda2, c.lambda3)
        delay_ms = float(arrived[choice]) if choice >= 0 else float("nan")
    elif not delay_ms >= 0:
        raise VoipError("the playout delay is in milliseconds, 0 or more")
    return per_talkspurt(
        delay, np.repeat(np.arange(starts.size - 1), np.diff(starts)), np.full(starts.size - 1, delay_ms), c
    )

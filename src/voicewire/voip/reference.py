"""The E-model, the best playout and an adaptive one, to read.

Notebook 2 is woven from these. `emodel`, `playout` and `adaptive_playout`
hold the same for arrays and compiled, with the same results. Delays are in
milliseconds, inf for a frame that never arrived; `spurts` numbers the
talkspurt of each frame.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from voicewire.voip.paper import Codec

__all__ = [
    "State",
    "adaptive_delays",
    "best_playout",
    "delay_impairment",
    "followed",
    "hull_edges",
    "in_spike",
    "loss_impairment",
    "lower_hull",
    "mean_opinion_score",
    "second_chance",
    "smoothed",
    "talkspurts",
]


def delay_impairment(d: float) -> float:
    """Id: 0.024 a millisecond, and from 177.3 ms on 0.11 more."""
    return 0.024 * d + 0.11 * max(d - 177.3, 0.0)


def loss_impairment(e: float, codec: Codec) -> float:
    """Ie: what the codec costs, and what a lost fraction e costs it."""
    return codec.lambda1 + codec.lambda2 * math.log(1 + codec.lambda3 * e)


def mean_opinion_score(r: float) -> float:
    """MOS, from 1 (bad) to 4.5: ITU-T G.107, Annex B."""
    r = min(max(r, 0.0), 100.0)
    score = 1 + 0.035 * r + 7e-6 * r * (r - 60) * (100 - r)
    return min(max(score, 1.0), 4.5)  # the cubic dips below 1


def talkspurts(
    delays: Sequence[float], spurts: Sequence[int]
) -> list[list[float]]:
    """The delays of each talkspurt that arrived, smallest first."""
    rows: dict[int, list[float]] = {}
    for delay, spurt in zip(delays, spurts, strict=True):
        rows.setdefault(spurt, [])
        if delay < math.inf:
            rows[spurt].append(delay)
    return [sorted(row) for row in rows.values()]


def lower_hull(costs: Sequence[float]) -> list[int]:
    """The corners j of the lower hull of the points (j, costs[j])."""
    hull: list[int] = []
    for j, cost in enumerate(costs):
        while len(hull) > 1:
            a, b = hull[-2:]
            bend = (costs[b] - costs[a]) * (j - b)
            if bend < (cost - costs[b]) * (b - a):
                break
            hull.pop()  # b lies on the line from a to j, or above it
        hull.append(j)
    return hull


def hull_edges(row: Sequence[float]) -> list[tuple[float, int]]:
    """(cost a frame, frames) of each step worth taking in a talkspurt.

    Playing its j earliest frames costs j times Id of the j-th delay.
    """
    played = enumerate(row, start=1)
    costs = [0.0] + [j * delay_impairment(d) for j, d in played]
    corners = lower_hull(costs)
    steps = itertools.pairwise(corners)
    return [((costs[b] - costs[a]) / (b - a), b - a) for a, b in steps]


def best_playout(
    delays: Sequence[float], spurts: Sequence[int], codec: Codec
) -> float:
    """The highest R that one delay for each talkspurt can reach."""
    rows = talkspurts(delays, spurts)
    edges = sorted(edge for row in rows for edge in hull_edges(row))
    best = 94.2 - loss_impairment(1.0, codec)  # nothing is played
    played, cost = 0, 0.0
    for slope, count in edges:  # the cheapest step of all comes first
        played += count
        cost += count * slope
        lost = 1 - played / len(delays)
        r = 94.2 - cost / played - loss_impairment(lost, codec)
        best = max(best, r)
    return best


State = tuple[float, float, float]  # mean, variation, slope of a spike


def smoothed(old: float, new: float) -> float:
    """A running mean over some five hundred frames."""
    return 0.998002 * old + (1 - 0.998002) * new


def in_spike(
    d: float, last: float, before: float, mean: float, slope: float
) -> tuple[float, float]:
    """Follow a spike by eighths until it has flattened out."""
    slope = slope / 2 + abs(2 * d - last - before) / 8
    if slope <= 7.875:  # ms: 63 samples of 8 kHz
        return mean, -1.0
    return 0.125 * d + 0.875 * mean, slope


def followed(d: float, last: float, before: float, state: State) -> State:
    """Ramjee's rule for one delay d; `last` and `before` came before it.

    A slope of -1 says that no spike is being followed.
    """
    mean, variation, slope = state
    if slope >= 0:
        mean, slope = in_spike(d, last, before, mean, slope)
    elif abs(d - last) > 2 * abs(variation) + 100:
        mean, slope = mean + d - last, 0.0  # a spike: jump with it
    else:
        mean = smoothed(mean, d)
    if slope < 0:
        variation = smoothed(variation, abs(mean - d))
    return mean, variation, slope


def adaptive_delays(
    delays: Sequence[float], spurts: Sequence[int]
) -> list[float]:
    """Each talkspurt's playout delay, decided at its first frame."""
    chosen = dict.fromkeys(spurts, math.nan)
    state: State | None = None
    last = before = 0.0
    for d, spurt in zip(delays, spurts, strict=True):
        if d == math.inf:
            continue
        state = followed(d, last, before, state) if state else (d, 0.0, -1.0)
        before, last = last, d
        if math.isnan(chosen[spurt]):
            chosen[spurt] = max(state[0] + 4 * state[1], d)
    return list(chosen.values())


def second_chance(
    delays: Sequence[float], spurts: Sequence[int]
) -> list[float]:
    """Each frame's delay if the packet behind it holds a copy of it."""
    after = itertools.pairwise(zip(delays, spurts, strict=True))
    chance = [
        later + 20 if spurt == same else math.inf
        for (_, spurt), (later, same) in after
    ]
    chance.append(math.inf)
    return [min(pair) for pair in zip(delays, chance, strict=True)]

"""The thesis' own way to the playout bound (section 4.3), as printed and repaired, and brute force.

Slow on purpose: these are what the fast bound of `playout` is tested against, and what notebook 2 walks through.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks
from voicewire.voip.emodel import codec, delay_impairment, r_factor
from voicewire.voip.errors import VoipError
from voicewire.voip.paper import Codec
from voicewire.voip.playout import as_trace

__all__ = ["brute_force", "printed_recursion", "repaired_costs", "repaired_recursion"]


def _spurts(delays_ms: ArrayLike, spurts: ArrayLike) -> tuple[list[NDArray[np.float64]], int]:
    delay, starts = as_trace(delays_ms, spurts)
    rows = [np.sort(delay[a:b]) for a, b in itertools.pairwise(starts)]
    return [row[np.isfinite(row)] for row in rows], delay.size


def _r(i: int, mean_id: float, total: int, codec_name: str | Codec) -> float:
    return float(r_factor(0.0, 1 - i / total, codec_name)) - mean_id


def brute_force(delays_ms: ArrayLike, spurts: ArrayLike, codec_name: str | Codec) -> float:
    """Try every number of played frames in every talkspurt; only for a handful of frames."""
    rows, total = _spurts(delays_ms, spurts)
    best = -math.inf
    for choice in itertools.product(*(range(len(row) + 1) for row in rows)):
        played = sum(choice)
        cost = sum(j * float(delay_impairment(row[j - 1])) for j, row in zip(choice, rows, strict=True) if j)
        best = max(best, _r(played, cost / played if played else 0.0, total, codec_name))
    return best


def repaired_costs(delays_ms: ArrayLike, spurts: ArrayLike) -> NDArray[np.float64]:
    """i · Id(1, i) of section 4.3 for i = 0 … N, repaired: absolute delays, j ≤ n_k, spurts from 1. O(N²) NumPy."""
    rows, _ = _spurts(delays_ms, spurts)
    costs = np.zeros(1)
    for row in reversed(rows):
        grown = np.full(costs.size + row.size, np.inf)
        grown[: costs.size] = costs
        single = np.arange(1, row.size + 1) * delay_impairment(row) if row.size else np.empty(0)
        for j, cost in enumerate(single, start=1):
            part = grown[j : j + costs.size]
            np.minimum(part, costs + cost, out=part)
        costs = grown
    return costs


@checks.takes(error=VoipError, delays_ms=checks.array(low=0.0, allow="inf"))
def repaired_recursion(delays_ms: ArrayLike, spurts: ArrayLike, codec_name: str | Codec) -> float:
    """max over i of 94.2 - Id(1, i) - Il(i), from the repaired recursion."""
    c = codec(codec_name)
    total = np.asarray(delays_ms).size
    costs = repaired_costs(delays_ms, spurts)
    i = np.arange(costs.size)
    return float(np.max(r_factor(0.0, 1 - i / total, c) - costs / np.maximum(i, 1)))


def printed_recursion(delays_ms: ArrayLike, spurts: ArrayLike, codec_name: str | Codec) -> float:
    """The recursion as printed: Id of *normalised* delays (the talkspurt's smallest deducted).

    The missing condition j ≤ n_k has to be read in, otherwise d_k^(j) doesn't exist.
    """
    rows, total = _spurts(delays_ms, spurts)
    label = [k for k, row in enumerate(rows) for _ in row]
    normal = [float(d - row[0]) for row in rows for d in row]
    if not normal:
        return _r(0, 0.0, total, codec_name)
    costs = repaired_costs(normal, label)
    i = np.arange(costs.size)
    return float(np.max(r_factor(0.0, 1 - i / total, codec_name) - costs / np.maximum(i, 1)))

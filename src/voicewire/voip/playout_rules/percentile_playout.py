"""A percentile of the delays so far as playout delay, to read.

After Moon, Kurose and Towsley (1998).

Notebook 2 is woven from it; `adaptive_playout` holds the same for arrays.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, MutableSequence, Sequence

__all__ = ["logged", "percentile", "percentile_delays"]


def percentile(log: Collection[float], share: float) -> float:
    """The least delay within which so large a share came."""
    return sorted(log)[math.ceil(share * len(log)) - 1]


def logged(
    d: float, played: float, before: float, log: MutableSequence[float]
) -> float:
    """Log a delay d, or follow a spike; the delay played before that.

    A spike begins beyond four times that delay and ends within twice.
    """
    if not math.isnan(before):
        return before if d > 2 * before else math.nan
    if d > 4 * played:
        return played
    log.append(d)
    return math.nan


def percentile_delays(
    delays: Sequence[float], spurts: Sequence[int], share: float, memory: int
) -> list[float]:
    """Each talkspurt's playout delay: a percentile of those logged.

    Parameters
    ----------
    delays : sequence of float
        Delay of each frame, ms; inf: it never came.
    spurts : sequence of int
        Talkspurt number of each frame.
    share : float
        Of the logged delays, how many shall be within it.
    memory : int
        How many of the last delays are kept.

    Returns
    -------
    list of float
        Delays in ms, NaN for a talkspurt of which nothing came.

    Examples
    --------
    >>> percentile_delays([50.0, 60.0, 55.0, 400.0], [0, 0, 1, 2], 0.99, 100)
    [50.0, 60.0, 400.0]
    """
    chosen = dict.fromkeys(spurts, math.nan)
    log: deque[float] = deque(maxlen=memory)
    played = before = math.nan
    for d, spurt in zip(delays, spurts, strict=True):
        if d == math.inf:
            continue
        before = logged(d, played, before, log)
        if math.isnan(chosen[spurt]):
            likely = percentile(log, share) if math.isnan(before) else d
            played = chosen[spurt] = max(likely, d)
    return list(chosen.values())

"""Adaptive playout buffers as applications use them: Ramjee et al. (INFOCOM 1994), algorithm 4, and Moon et al. (1998).

The delay for a talkspurt is decided when its first frame comes: d̂ + 4 v̂, estimates of delay and its variation from
all frames that came before. A sudden rise of the delay (a spike) is followed at once, then left as it falls. Moon,
Kurose and Towsley (1998) take a percentile of the last delays instead; `percentile_playout` has their rule to read.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks
from voicewire._kit._compiled import njit
from voicewire.voip.emodel import codec
from voicewire.voip.errors import VoipError
from voicewire.voip.paper import Codec
from voicewire.voip.playout import Playout, as_trace, played_at

__all__ = ["moon", "ramjee"]

ALPHA = 0.998002  # Ramjee et al., section 3
SPIKE_ALPHA = 0.125
SPIKE_MS = 100.0
HEAD, TAIL = 4.0, 2.0  # a spike begins and ends at so many times the delay that was played before it


@njit(cache=True)
def _ramjee(delay: NDArray[np.float64], starts: NDArray[np.int64], factor: float) -> NDArray[np.float64]:
    chosen = np.full(starts.size - 1, np.nan)
    estimate, variation = np.nan, 0.0
    last, before = 0.0, 0.0
    spike = False
    slope = 0.0
    for k in range(starts.size - 1):
        for i in range(starts[k], starts[k + 1]):
            d = delay[i]
            if d == np.inf:
                continue
            if np.isnan(estimate):  # the first of all; an estimate may fall below 0 in the wake of a spike
                estimate = d
            elif spike:
                slope = slope / 2 + abs(2 * d - last - before) / 8
                if slope <= 63.0 / 8000 * 1000:  # the units of the paper: samples of 8 kHz
                    spike = False
                else:
                    estimate = SPIKE_ALPHA * d + (1 - SPIKE_ALPHA) * estimate
            elif abs(d - last) > 2 * abs(variation) + SPIKE_MS:
                spike = True
                slope = 0.0
                estimate = estimate + d - last
            else:
                estimate = ALPHA * estimate + (1 - ALPHA) * d
            if not spike:
                variation = ALPHA * variation + (1 - ALPHA) * abs(estimate - d)
            before, last = last, d
            if np.isnan(chosen[k]):
                # the first frame to come cannot be played before it is there
                chosen[k] = max(estimate + factor * variation, d)
    return chosen


@checks.takes(error=VoipError, factor=checks.number(0.0, 1e6))
def ramjee(delays_ms: ArrayLike, spurts: ArrayLike, codec_name: str | Codec, factor: float = 4.0) -> Playout:
    """Score a trace under Ramjee's adaptive playout: each talkspurt at d̂ + `factor` · v̂.

    Parameters
    ----------
    delays_ms : array_like of float, shape (frames,)
        One-way delay of each frame in milliseconds, inf for one that never arrived.
    spurts : array_like of int, shape (frames,)
        Talkspurt number of each frame, not falling.
    codec_name : str or Codec
        A codec of Table 4.1.
    factor : float
        How many variations are added to the mean.

    Returns
    -------
    Playout
        The delays chosen, and what they make of the call.

    Raises
    ------
    VoipError
        For a trace, a codec or a factor that no call can have.

    Notes
    -----
    ``d̂ ← α d̂ + (1 - α) d``, ``v̂ ← α v̂ + (1 - α) |d̂ - d|`` with α = 0.998002; after a jump of more than ``2 v̂ +
    100 ms`` the spike is followed by eighths until it has flattened out (Ramjee et al. 1994, algorithm 4).

    Examples
    --------
    A talkspurt is played with the estimate at its first frame:

    >>> ramjee([50.0, 60.0, 90.0, 50.0], [0, 0, 1, 1], "G.711").delays_ms.round(2).tolist()
    [50.0, 90.0]
    """
    delay, starts = as_trace(delays_ms, spurts)
    return played_at(delay, starts, _ramjee(delay, starts, factor), codec(codec_name))


@njit(cache=True)
def _moon(delay: NDArray[np.float64], starts: NDArray[np.int64], share: float, memory: int) -> NDArray[np.float64]:
    chosen = np.full(starts.size - 1, np.nan)
    logged = np.empty(min(memory, max(delay.size, 1)))
    count = 0
    played = before = np.nan
    for k in range(starts.size - 1):
        for i in range(starts[k], starts[k + 1]):
            d = delay[i]
            if d == np.inf:
                continue
            if not np.isnan(before):
                if d <= TAIL * before:
                    before = np.nan
            elif d > HEAD * played:
                before = played
            else:
                logged[count % logged.size] = d
                count += 1
            if np.isnan(chosen[k]):
                kept = logged[: min(count, logged.size)]
                place = int(np.ceil(share * kept.size)) - 1
                likely = np.partition(kept, place)[place]
                played = max(likely, d) if np.isnan(before) else d
                chosen[k] = played
    return chosen


@checks.takes(error=VoipError, share=checks.number(above=0.0, high=1.0), memory=checks.whole(1, 10**7))
def moon(
    delays_ms: ArrayLike, spurts: ArrayLike, codec_name: str | Codec, share: float = 0.99, memory: int = 10_000
) -> Playout:
    """Score a trace under Moon's adaptive playout: each talkspurt at a percentile of the last delays.

    Parameters
    ----------
    delays_ms : array_like of float, shape (frames,)
        One-way delay of each frame in milliseconds, inf for one that never arrived.
    spurts : array_like of int, shape (frames,)
        Talkspurt number of each frame, not falling.
    codec_name : str or Codec
        A codec of Table 4.1.
    share : float
        Of the logged delays, how many shall be within the playout delay; more than 0, at most 1.
    memory : int
        How many of the last delays are kept.

    Returns
    -------
    Playout
        The delays chosen, and what they make of the call.

    Raises
    ------
    VoipError
        For a trace, a codec, a share or a memory that no call can have.

    Notes
    -----
    Delays in a spike are not logged: it begins with a frame later than four times the playout delay and ends with one
    within twice that of before; a talkspurt that begins in it is played at its first frame's delay (Moon, Kurose and
    Towsley 1998; the thesis has no number of theirs, share, memory, four and two are defaults here).

    Examples
    --------
    >>> moon([50.0, 60.0, 55.0, 400.0], [0, 0, 1, 2], "G.711").delays_ms.tolist()
    [50.0, 60.0, 400.0]
    """
    delay, starts = as_trace(delays_ms, spurts)
    return played_at(delay, starts, _moon(delay, starts, share, memory), codec(codec_name))

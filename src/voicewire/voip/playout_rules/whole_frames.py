"""Playout as a phone's buffer does it: a delay of whole frames above the fastest packet so far, one frame at least.

A phone plays a frame each frame time, so its buffer holds whole frames. It takes the fewest that would have played 99 %
of the last 1,000 (Moon's percentile, with his rule for spikes), and two for the first talkspurt, when it knows
nothing yet. Ramjee's algorithm, as published, plays between frames: where packets come evenly, it plays at the mean
and drops what is a little later.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from voicewire.voip.emodel import codec
from voicewire.voip.paper import Codec
from voicewire.voip.playout import Playout, as_trace, played_at
from voicewire.voip.playout_rules.adaptive_playout import moon

__all__ = ["whole_frames"]

_FIRST, _MEMORY = 2, 1000  # frames


def whole_frames(delays_ms: ArrayLike, spurts: ArrayLike, codec_name: str | Codec, frame_ms: float) -> Playout:
    """Score a trace under Moon's percentile, rounded up to whole frames above the fastest packet so far."""
    delay, starts = as_trace(delays_ms, spurts)
    wanted = moon(delays_ms, spurts, codec_name, memory=_MEMORY).delays_ms
    chosen = np.full(wanted.size, np.nan)
    fastest = np.minimum.accumulate(delay)
    known = np.flatnonzero(np.isfinite(wanted))
    for k in known:
        spurt = delay[starts[k] : starts[k + 1]]
        least = float(fastest[starts[k] + int(np.argmax(np.isfinite(spurt)))])
        depth = max(1.0, np.ceil((wanted[k] - least) / frame_ms - 1e-9))
        chosen[k] = least + frame_ms * (depth if k > known[0] else max(_FIRST, depth))
    return played_at(delay, starts, chosen, codec(codec_name))

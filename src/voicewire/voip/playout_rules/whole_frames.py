"""Playout as a phone's buffer does it: a delay of whole frames above the fastest packet so far, one frame at least.

Ramjee's algorithm, as published, plays a talkspurt at its estimate to the microsecond; where packets come evenly, it
plays at the mean and drops what is a little later. A phone plays a frame each frame time, so its buffer holds whole
frames: the estimate is rounded up to them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from voicewire.voip.emodel import codec
from voicewire.voip.paper import Codec
from voicewire.voip.playout import Playout, as_trace, played_at
from voicewire.voip.playout_rules.adaptive_playout import ramjee

__all__ = ["whole_frames"]


def whole_frames(delays_ms: ArrayLike, spurts: ArrayLike, codec_name: str | Codec, frame_ms: float) -> Playout:
    """Score a trace under Ramjee's estimate, rounded up to whole frames above the fastest packet so far."""
    delay, starts = as_trace(delays_ms, spurts)
    wanted = ramjee(delays_ms, spurts, codec_name).delays_ms
    chosen = np.full(wanted.size, np.nan)
    fastest = np.minimum.accumulate(delay)
    for k in np.flatnonzero(np.isfinite(wanted)):
        spurt = delay[starts[k] : starts[k + 1]]
        least = float(fastest[starts[k] + int(np.argmax(np.isfinite(spurt)))])
        chosen[k] = least + frame_ms * max(1.0, np.ceil((wanted[k] - least) / frame_ms - 1e-9))
    return played_at(delay, starts, chosen, codec(codec_name))

"""Strategy 3's first step (thesis, section 3.1): idle data before the talk, and a call that is cleared."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voicewire._kit import checks
from voicewire.netsim.links import Bottleneck
from voicewire.netsim.senders import Tfrc
from voicewire.voip.calls import call
from voicewire.voip.conversation import Talk
from voicewire.voip.emodel import codec as codec_of
from voicewire.voip.errors import VoipError
from voicewire.voip.paper import Codec
from voicewire.voip.transports import transport

__all__ = ["exchange"]


@checks.takes(
    error=VoipError, delay_ms=checks.number(0.0, 3_600_000.0), loss=checks.share, seed=checks.seed,
    patience_s=checks.number(0.1, 3600.0), bottleneck=checks.maybe(checks.a(Bottleneck)),
)  # fmt: skip
def exchange(
    name: str,
    codec: str | Codec,
    *,
    delay_ms: float,
    loss: float = 0.0,
    patience_s: float = 10.0,
    seed: int = 0,
    bottleneck: Bottleneck | None = None,
    **changes: Any,
) -> float:
    """Exchange idle packets of the codec's until TFRC allows the codec's rate, or clear the call."""
    voice = codec_of(codec)
    if not isinstance(transport(name, voice, **changes), Tfrc):
        raise VoipError(f"{name} has no allowed rate to wait for: choose a variant of TFRC")
    every = round(voice.interval_ms * 1e6)
    frames = np.arange(max(math.ceil(patience_s * 1e9 / every), 1), dtype=np.int64)
    idle = Talk(frames * every, np.zeros(frames.size, np.int64), patience_s)
    made = call(
        name, voice, delay_ms=delay_ms, loss=loss, seed=seed, spoken=idle, bottleneck=bottleneck, log=True, **changes
    )
    at, allowed = made.flow.rates[:, 0] / 1e9, made.flow.rates[:, 1]
    reached = at[(allowed >= voice.rate) & (at <= patience_s)]
    return float(reached[0]) if reached.size else math.inf

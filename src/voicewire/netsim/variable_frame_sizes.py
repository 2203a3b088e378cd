"""What `simulate` makes of frames that are not all alike: codecs that change, and segments that cut frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.netsim import flow_state
from voicewire.netsim.errors import NetsimError
from voicewire.netsim.senders import Tcp, Tfrc

__all__: list[str] = []

Flow = Any  # `simulate.Flow`, which is made of this file: to import it would close a circle
_MOST_PIECES = 10**8


def lower(flow: Flow) -> int:
    """Give the bytes of a frame of a flow's second codec; 0 where it has one."""
    return flow.sender.lower if isinstance(flow.sender, Tfrc) else 0


def checked_sizes(flow: Flow) -> NDArray[np.int64] | None:
    """Give a flow's sizes, one for each frame, or None."""
    if lower(flow) >= flow.payload:
        raise NetsimError(f"the lower codec's frames must be smaller than the flow's {flow.payload} bytes")
    if flow.sizes is None:
        return None
    if lower(flow) or not isinstance(flow.sender, Tfrc):
        raise NetsimError("sizes are for a Tfrc sender that does not choose its codec itself")
    sizes = np.asarray(flow.sizes)
    if sizes.shape != np.shape(flow.frames) or sizes.max() > flow.payload:
        raise NetsimError(f"give a size of 1 to {flow.payload} bytes for each frame")
    return sizes.astype(np.int64)


def checked_importance(flow: Flow) -> NDArray[np.float64] | None:
    """Give how important each of a flow's frames is, or None."""
    if flow.importance is None:
        return None
    if not isinstance(flow.sender, Tfrc) or flow.sender.drop_oldest:
        raise NetsimError("importance is for a Tfrc sender that does not drop its oldest frame instead")
    worth = np.asarray(flow.importance, dtype=np.float64)
    if worth.shape != np.shape(flow.frames):
        raise NetsimError("give an importance for each frame")
    return worth


def as_stream(flow: Flow) -> tuple[Flow, int]:
    """Give a flow whose segments cut frames as one of smaller pieces, and the pieces of a frame.

    A segment that is full must end between two pieces: so a piece is the greatest common divisor of both sizes.
    """
    if not (isinstance(flow.sender, Tcp) and flow.sender.cuts):
        return flow, 1
    piece = math.gcd(flow.payload, flow.sender.mss)
    pieces = flow.payload // piece
    if np.size(flow.frames) * pieces > _MOST_PIECES:
        raise NetsimError(f"frames of {flow.payload} bytes fall into {pieces} pieces each, too many: round `mss`")
    return replace(flow, frames=np.repeat(np.asarray(flow.frames), pieces), payload=piece), pieces


def room_for_sizes(flows: Sequence[Flow], state: Any, frames: int) -> NDArray[np.int64]:
    """Give room for the size of each frame's packet, with those that are known; none where each flow has one size."""
    if not any(flow.sizes is not None or lower(flow) for flow in flows):
        return np.empty(0, np.int64)
    sizes = np.zeros(frames, np.int64)
    for f, flow in zip(state, flows, strict=True):
        if flow.sizes is not None:
            sizes[f["first"] : f["last"]] = flow.sizes
            f["sizing"] = flow_state.GIVEN_SIZES
            f["segment"] = sizes[f["first"]]
    return sizes


def room_for_importance(flows: Sequence[Flow], state: Any, frames: int) -> NDArray[np.float64]:
    """Give how important each frame is; nothing where no flow says so."""
    if all(flow.importance is None for flow in flows):
        return np.empty(0)
    worth = np.zeros(frames)
    for f, flow in zip(state, flows, strict=True):
        if flow.importance is not None:
            worth[f["first"] : f["last"]] = flow.importance
            f["weighs"] = 1
    return worth

"""Calls that change their codec by the allowed rate (thesis, sections 3.1 and 3.6, chapter 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks
from voicewire.netsim.errors import NetsimError
from voicewire.netsim.links import Bottleneck, Path
from voicewire.netsim.senders import Tfrc
from voicewire.netsim.simulation import Flow, simulate
from voicewire.voip import paper, playout
from voicewire.voip.calls import late_by
from voicewire.voip.emodel import codec as codec_of
from voicewire.voip.errors import VoipError
from voicewire.voip.transports import transport
from voicewire_book.chapters.voip.experiments import spoken_by, transfers

__all__ = ["Switched", "mixed_r", "switched_link"]


@dataclass(frozen=True)
class Switched:
    """Several calls over one bottleneck, each with two codecs.

    Attributes
    ----------
    r : R of each call under the playout bound; shape (calls,)
    delivered : fraction of its frames that each call delivered; shape (calls,)
    upper : fraction of the frames that left in the better codec; shape (calls,)
    sizes : payload in bytes of each packet of the first call, 0 for a frame that never left; shape (frames,)
    """

    r: NDArray[np.float64]
    delivered: NDArray[np.float64]
    upper: NDArray[np.float64]
    sizes: NDArray[np.int64]


def _shares(value: Mapping[str, float]) -> dict[str, float]:
    """Give codecs with their shares of the frames."""
    if not isinstance(value, Mapping) or not value:
        raise VoipError("shares are a codec's name and its share of the frames, for each codec")
    shares = {codec_of(name).name: checks.number(0.0, 1.0)("a share", w, VoipError) for name, w in value.items()}
    if abs(sum(shares.values()) - 1.0) > 1e-9:
        raise VoipError("the codecs' shares of the frames must add up to 1")
    return shares


def mixed_r(delays_ms: ArrayLike, spurts: ArrayLike, shares: Mapping[str, float]) -> float:
    """R of the playout bound for a call in several codecs: the loss impairment is the mean of theirs, by frames.

    Notes
    -----
    ``Ie(e) = Σ w (λ1 + λ2 ln(1 + λ3 e))``: the thesis scores no call in two codecs, and Table 4.1 has each alone. For
    fixed shares it is still convex in e, so the hulls hold the best playout.
    """
    delay, starts = playout.as_trace(delays_ms, spurts)
    weights = _shares(shares)
    i, cost = playout.prefixes(delay, starts)
    e = 1.0 - i / delay.size
    ie = np.zeros(i.size)
    for name, share in weights.items():
        c = codec_of(name)
        ie += share * (c.lambda1 + c.lambda2 * np.log(1 + c.lambda3 * e))
    return float((paper.R_BEST - cost / np.maximum(i, 1) - ie).max())


@checks.takes(
    error=VoipError, kbit_s=checks.number(0.001, 1e7), calls=checks.whole(1, 10_000),
    seconds=checks.number(0.02, 86_400.0), delay_ms=checks.number(0.0, 3_600_000.0),
    bulk_flows=checks.whole(0, 10_000), seed=checks.seed, packets=checks.whole(1, 10**6), at_random=checks.a(bool),
)  # fmt: skip
def switched_link(
    name: str = "TFRC SP",
    *,
    kbit_s: float,
    upper: str = "G.711",
    lower: str = "G.729",
    calls: int = paper.SOURCES * paper.ENCODERS,
    seconds: float = 120.0,
    delay_ms: float = 50.0,
    bulk_flows: int = 0,
    seed: int = 0,
    packets: int = paper.ROUTER_BUFFER,
    at_random: bool = False,
    **changes: Any,
) -> Switched:
    """Twelve calls over one link as in `experiments.shared_link`, each with the better codec where its rate carries it.
    """
    best, spare = codec_of(upper), codec_of(lower)
    settings = {} if at_random else {"lower": spare.payload, "frame_ms": best.interval_ms}
    sender = transport(name, best, **changes)
    if not isinstance(sender, Tfrc):
        raise VoipError(f"{name} has no allowed rate to choose a codec by: choose a variant of TFRC")
    sender = transport(name, best, **settings, **changes)
    spoken = spoken_by(calls, seconds, seed, best.interval_ms)
    coins = np.random.default_rng([seed, 5])
    path = Path(delay_ms)
    try:
        flows = []
        for t in spoken:
            heads = coins.random(int(t.spurts.max(initial=0)) + 1) < 0.5
            sizes = np.where(heads[t.spurts], best.payload, spare.payload) if at_random else None
            flows.append(Flow(t.times, best.payload, sender, path, sizes=sizes))
        flows += transfers(kbit_s, seconds, bulk_flows, path)
        made = simulate(flows, bottleneck=Bottleneck(kbit_s, packets), seed=seed, until_s=seconds + 10).flows
    except NetsimError as error:
        raise VoipError(str(error)) from None
    scores, share, better = np.empty(calls), np.empty(calls), np.empty(calls)
    for k, (t, flow) in enumerate(zip(spoken, made, strict=False)):
        delay = late_by(t.times, flow.arrive)
        left = flow.sizes[flow.sizes > 0]
        better[k] = float((left == best.payload).mean()) if left.size else 0.0
        shares = {best.name: better[k], spare.name: 1.0 - better[k]}
        scores[k] = mixed_r(delay, t.spurts, shares)
        share[k] = float(np.isfinite(delay).mean())
    return Switched(scores, share, better, made[0].sizes)

"""One call over one transport: simulate it, turn times into delays, score them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire._kit import checks
from voicewire.netsim.errors import NetsimError
from voicewire.netsim.links import Bottleneck, Path
from voicewire.netsim.simulation import Flow, FlowResult, simulate
from voicewire.voip import playout
from voicewire.voip.conversation import LONGEST, Talk, drawn
from voicewire.voip.emodel import codec as codec_of
from voicewire.voip.emodel import r_factor
from voicewire.voip.errors import VoipError
from voicewire.voip.paper import TALK, Codec
from voicewire.voip.transports import transport

__all__ = ["Call", "call", "delays_ms", "quality", "udp_closed_form"]


@dataclass(frozen=True)
class Call:
    """A simulated call and its score.

    Attributes
    ----------
    talk : what was spoken
    flow : what became of the packets
    delays_ms : one-way delay of each frame, inf where it never came; shape (frames,)
    playout : the bound's choice, with R

    Examples
    --------
    >>> done = call("UDP", "G.711", delay_ms=100, seconds=5)
    >>> done.delays_ms[:2].tolist()
    [100.0, 100.0]
    """

    talk: Talk
    flow: FlowResult
    delays_ms: NDArray[np.float64]
    playout: playout.Playout

    @property
    def r(self) -> float:
        """R under the playout bound of section 4.3."""
        return self.playout.r


@checks.takes(
    error=VoipError, same=("spoken", "arrive"), spoken=checks.array(kind="whole"), arrive=checks.array(kind="whole")
)
def delays_ms(spoken: NDArray[np.int64], arrive: NDArray[np.int64]) -> NDArray[np.float64]:
    """Delay of each frame in ms from spoken to delivered, inf for those that never came.

    Parameters
    ----------
    spoken : array_like of int, shape (frames,)
        When each frame was spoken, ns.
    arrive : array_like of int, shape (frames,)
        When it was delivered, ns; negative: never.

    Returns
    -------
    ndarray of float, shape (frames,)
        Milliseconds.

    Raises
    ------
    VoipError
        For arrays of unequal lengths.

    Examples
    --------
    >>> delays_ms([0, 20_000_000], [50_000_000, -1]).tolist()
    [50.0, inf]
    """
    return late_by(spoken, arrive)


def late_by(spoken: NDArray[np.int64], arrive: NDArray[np.int64]) -> NDArray[np.float64]:
    """Give `delays_ms` of two arrays that are known to be equally long."""
    delay: NDArray[np.float64] = np.asarray((arrive - spoken) * 1e-6, dtype=np.float64)
    delay[arrive < 0] = np.inf
    return delay


_ROW = checks.array(kind="whole")


def _spoken(name: str, value: object, error: type[ValueError]) -> Talk | None:
    """What a call can say (a rule): one talkspurt number for each time; `Flow` looks at the times."""
    if value is None:
        return None
    given: Talk = checks.a(Talk)(name, value, error)
    times, spurts = (_ROW(f"{name}'s {part}", getattr(given, part), error) for part in ("times", "spurts"))
    if times.size != spurts.size:
        raise error(f"{name} has {times.size} times, but {spurts.size} talkspurt numbers: give one for each frame")
    return replace(given, times=times, spurts=spurts)


@checks.takes(
    error=VoipError, delay_ms=checks.number(0.0, 3_600_000.0), loss=checks.share,
    seconds=checks.number(0.02, LONGEST), seed=checks.seed, spoken=_spoken,
    bottleneck=checks.maybe(checks.a(Bottleneck)),
)  # fmt: skip
def call(
    name: str,
    codec: str | Codec,
    *,
    delay_ms: float,
    loss: float = 0.0,
    seconds: float = 300.0,
    seed: int = 0,
    spoken: Talk | None = None,
    bottleneck: Bottleneck | None = None,
    log: bool = False,
    **changes: Any,
) -> Call:
    """Simulate and score one call.

    Parameters
    ----------
    name : str
        A transport of `transports.NAMES`.
    codec : str or Codec
        A codec of Table 4.1.
    delay_ms : float
        One-way delay in milliseconds (section 4.4).
    loss : float
        Loss probability, both ways (section 4.4).
    seconds : float
        Length of the call; the thesis names none.
    seed : int
        Of talk and losses: the same seed gives every transport the same words and the same luck.
    spoken : Talk, optional
        What is said, instead of the on/off model.
    bottleneck : Bottleneck, optional
        A link of limited rate on the way.
    log : bool
        Keep rate adjustments and buffer levels (Figures 5.7 and 5.8).
    **changes : object
        Single settings of the transport, for sensitivity studies.

    Returns
    -------
    Call
        What was spoken, what became of the packets, and R.

    Raises
    ------
    VoipError
        for parameters that no call can have.

    Examples
    --------
    Without loss UDP has the R of the closed form:

    >>> call("UDP", "G.711", delay_ms=100, seconds=5).r == udp_closed_form("G.711", 100)
    True
    """
    voice = codec_of(codec)
    if spoken is None:
        spoken = drawn(np.random.default_rng([seed, 1]), seconds, *TALK, voice.interval_ms)
    try:
        path = Path(delay_ms, loss)
        flow = Flow(spoken.times, voice.payload, transport(name, voice, **changes), path)
        result = simulate([flow], bottleneck=bottleneck, seed=seed, log=log).flows[0]
    except NetsimError as error:
        raise VoipError(str(error)) from None
    delay = late_by(spoken.times, result.arrive)
    starts = playout.starts_of(delay, spoken.spurts)
    return Call(spoken, result, delay, playout.best(delay, starts, voice))


def quality(
    rng: np.random.Generator,
    transport_name: str,
    codec: str,
    delay_ms: float,
    loss: float = 0.0,
    seconds: float = 300.0,
    seed: int = 0,
) -> float:
    """R of one call, for a sweep. `rng` is the sweep's; the seed pairs the transports, so it isn't drawn on.

    Parameters
    ----------
    rng : numpy.random.Generator
        The sweep's; not drawn on.
    transport_name : str
        A transport of `transports.NAMES`.
    codec : str
        A codec of Table 4.1.
    delay_ms : float
        One-way delay in milliseconds.
    loss : float
        Loss probability, both ways.
    seconds : float
        Length of the call.
    seed : int
        Of talk and losses.

    Returns
    -------
    float
        R.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> round(quality(rng, "UDP", "G.711", 100, seconds=5), 1)
    91.8
    """
    del rng
    return call(transport_name, codec, delay_ms=delay_ms, loss=loss, seconds=seconds, seed=seed).r


@checks.takes(error=VoipError, delay_ms=checks.number(0.0, 1e9))
def udp_closed_form(codec: str | Codec, delay_ms: float) -> float:
    """R of UDP without loss: 94.2 - λ1 - Id(D), exactly; what the simulation is held against.

    Parameters
    ----------
    codec : str or Codec
        A codec of Table 4.1.
    delay_ms : float
        One-way delay in milliseconds.

    Returns
    -------
    float
        R.

    Examples
    --------
    >>> round(udp_closed_form("G.729", 100), 1)
    81.8
    """
    return float(r_factor(delay_ms, 0.0, codec))

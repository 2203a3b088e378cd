"""How fast two clocks part, seen from one end of a call: estimated, told or not, and taken out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voicewire.voip.captures.delay_trend import tilted, trusted
from voicewire.voip.captures.received import Received
from voicewire.voip.errors import VoipError

__all__ = ["Drift", "clock_drift", "without_drift"]

STEEPEST = 0.001  # 1,000 ppm: several times what two crystals can part by; steeper is something else
_LEAST = 20  # packets


class Drift(NamedTuple):
    """How fast two clocks part.

    Parameters
    ----------
    ppm : float
        Millionths by which delays climb; positive where the sender's clock is the slower one. nan without an estimate.
    within_ppm : float
        How far the estimate may be off; nan without one.
    why_not : str
        Why it can't be told; empty if it is.

    Examples
    --------
    >>> Drift(80.0, 5.0, "").ppm
    80.0
    """

    ppm: float
    within_ppm: float
    why_not: str


def clock_drift(stream: Received) -> Drift:
    """Estimate how fast the two clocks part, from the frames that came.

    Parameters
    ----------
    stream : Received
        From `in_order`, with timestamps: without them its times are not the sender's.

    Returns
    -------
    Drift
        The slope of the highest line below all delays, how far it may be off, and whether it can be told.

    Raises
    ------
    VoipError
        For what is no stream.

    Notes
    -----
    It is told where it is larger than what it may be off, and not steeper than 1,000 ppm. That bound takes the least
    excess of the worst tenth of the call, over a quarter of its time: a route that becomes longer on the way raises
    it. A delay that grows all call long, by as much each second, can't be told from a drift by anybody at one end.

    Examples
    --------
    >>> from voicewire.voip.captures.received import in_order
    >>> number = np.arange(3000)
    >>> made = in_order(0.02 * number * (1 + 80e-6), number, stamps=160 * number)
    >>> round(clock_drift(made).ppm, 3)
    80.0
    """
    if not isinstance(stream, Received):
        raise VoipError("stream must come from in_order")
    came = np.isfinite(stream.delays_ms)
    sent, delay = stream.sent_ms[came], stream.delays_ms[came]
    if sent.size < _LEAST or np.ptp(sent) == 0:
        return Drift(float("nan"), float("nan"), f"{sent.size} frames are too few")
    slope = tilted(sent, delay)
    above = delay - slope * sent
    within = trusted(sent, above - above.min())
    why = ""
    if abs(slope) > STEEPEST:
        why = f"delays that climb by {1e6 * slope:.0f} ppm are not two clocks"
    elif abs(slope) <= within:
        why = f"{round(1e6 * slope)} ppm, which may be off by {1e6 * within:.0f}"
        if within < 0.5e-6:
            why = "below 1 ppm, which may be off by as much"
    return Drift(1e6 * slope, 1e6 * within, why)


def without_drift(stream: Received, drift: Drift) -> Received:
    """Take a drift out of a stream's delays, if it could be told.

    Parameters
    ----------
    stream : Received
        The stream.
    drift : Drift
        From `clock_drift`.

    Returns
    -------
    Received
        With delays above the fastest by the receiver's clock; the stream itself if the drift can't be told.

    Raises
    ------
    VoipError
        For what is no stream or no drift.

    Notes
    -----
    The jitter is left as RFC 3550 computes it.

    Examples
    --------
    >>> from voicewire.voip.captures.received import in_order
    >>> number = np.arange(3000)
    >>> made = in_order(0.02 * number * (1 + 80e-6), number, stamps=160 * number)
    >>> round(float(without_drift(made, clock_drift(made)).delays_ms.max()), 6)
    0.0
    """
    if not isinstance(stream, Received) or not isinstance(drift, Drift):
        raise VoipError("a stream from in_order and a drift from clock_drift are needed")
    if drift.why_not:
        return stream
    level = stream.delays_ms - 1e-6 * drift.ppm * stream.sent_ms
    return stream._replace(delays_ms=level - level.min())

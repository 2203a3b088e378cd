"""Losses in bursts, and the loss rule of ITU-T G.107 beside the thesis' one.

The thesis' rule is `voicewire.voip.emodel.loss_impairment`; it asks how much is lost and nothing else. The chapter is
``notebooks/voip/02_quality_and_playout``.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks
from voicewire.voip import paper
from voicewire.voip.emodel import delay_impairment
from voicewire.voip.errors import VoipError

__all__ = ["ROBUSTNESS", "Fixed", "best_fixed", "burst_ratio", "effective_impairment", "losses"]

ROBUSTNESS = MappingProxyType(
    {
        "G.711, gaps": (0.0, 4.3),
        "G.711": (0.0, 25.1),
        "G.729": (11.0, 19.0),
    }
)
"""Ie and Bpl of ITU-T G.113 (02/2001), Appendix I: G.711 with silence where a packet is missing and with concealment
(the last sound goes on), and G.729 (annex A with voice activity detection), which conceals by itself."""

CANDIDATES = 201
"""Playout delays that `best_fixed` tries: quantiles of what arrived."""


class Fixed(NamedTuple):
    """A call played with one delay, judged by G.107's rule for losses.

    Parameters
    ----------
    r : float
        Transmission rating.
    delay_ms : float
        The playout delay, ms.
    loss : float
        Fraction of the frames not played.
    burst : float
        Burst ratio of those.

    Examples
    --------
    >>> Fixed(90.0, 50.0, 0.01, 1.0).delay_ms
    50.0
    """

    r: float
    delay_ms: float
    loss: float
    burst: float


def burst_ratio(lost: ArrayLike) -> float:
    """Return the mean length of a burst of losses over that of as many losses at random.

    Parameters
    ----------
    lost : array_like of bool, shape (frames,)
        True for each frame that is missing, in the order of time.

    Returns
    -------
    float
        BurstR of ITU-T G.107, equation ``eq-voip-burst``: 1 for losses at random, more for bursts. 1 if nothing or
        everything is lost: there is nothing to compare.

    Raises
    ------
    VoipError
        For anything but one row of True and False, with at least one frame.

    Examples
    --------
    Two bursts of two among ten: 2 (1 - 0.4).

    >>> burst_ratio([word == "x" for word in "- x x - - - x x - -".split()])
    1.2
    """
    try:
        missing = np.asarray(lost)
    except ValueError:  # rows of different lengths
        missing = np.empty((0, 0))
    if missing.dtype != bool or missing.ndim != 1 or not missing.size:
        raise VoipError("lost must be a row of booleans: True for each frame that is missing, False for the others")
    if missing.all() or not missing.any():
        return 1.0
    bursts = int(missing[0]) + int(np.sum(missing[1:] & ~missing[:-1]))
    return float(missing.sum() / bursts * (1 - missing.mean()))


@checks.takes(
    error=VoipError, rng=checks.generator, frames=checks.whole(1, 10**7), loss=checks.number(0, 1),
    burst=checks.number(1, 1e6),
)  # fmt: skip
def losses(rng: np.random.Generator, frames: int, loss: float, burst: float = 1.0) -> NDArray[np.bool_]:
    """Draw which frames are lost, from Gilbert's channel of two states with a given burst ratio.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where the chances come from.
    frames : int
        How many.
    loss : float
        Mean fraction of the frames that are lost, 0 to 1.
    burst : float
        Burst ratio, at least 1; 1 is losses at random.

    Returns
    -------
    ndarray of bool, shape (frames,)
        True for each frame that is lost. After a frame that came the next is lost with probability loss / burst, after
        a lost one the next comes with probability (1 - loss) / burst; the first is lost with probability `loss`.

    Raises
    ------
    VoipError
        For a loss outside 0 to 1, or a ratio below 1.

    Examples
    --------
    >>> burst_ratio(losses(np.random.default_rng(1), 100_000, 0.1, 3.0)) > 2.9
    True
    """
    chance = rng.random(frames)
    lost = np.empty(frames, dtype=bool)
    gone = bool(chance[0] < loss)
    lost[0] = gone
    begin, stay = loss / burst, 1 - (1 - loss) / burst
    for k in range(1, frames):
        gone = bool(chance[k] < (stay if gone else begin))
        lost[k] = gone
    return lost


@checks.takes(
    error=VoipError, loss=checks.number(0, 1), ie=checks.number(0, 95),
    bpl=checks.number(above=0), burst=checks.number(above=0),
)  # fmt: skip
def effective_impairment(loss: float, ie: float, bpl: float, burst: float = 1.0) -> float:
    """Return Ie-eff of ITU-T G.107: what a codec and its losses cost.

    Parameters
    ----------
    loss : float
        Fraction of the frames not played, 0 to 1.
    ie, bpl : float
        The codec's own impairment and its robustness, see `ROBUSTNESS`.
    burst : float
        From `burst_ratio`.

    Returns
    -------
    float
        In units of R, at most 95; equation ``eq-voip-ieeff`` (G.107, section 7.5).

    Raises
    ------
    VoipError
        For a loss outside 0 to 1, or a robustness or ratio that is not above 0.

    Examples
    --------
    >>> round(effective_impairment(0.05, *ROBUSTNESS["G.729"]), 1)
    28.5
    """
    percent = 100 * loss
    return min(ie + (95 - ie) * percent / (percent / burst + bpl), 95.0)


@checks.takes(
    error=VoipError, delays_ms=checks.array(low=0, allow="inf"),
    ie=checks.number(0, 95), bpl=checks.number(above=0),
)  # fmt: skip
def best_fixed(delays_ms: ArrayLike, ie: float, bpl: float) -> Fixed:
    """Return the best that one playout delay for a whole call can do, by G.107's rule for losses.

    Parameters
    ----------
    delays_ms : array_like of float, shape (frames,)
        Network delays, ms; infinite for a lost frame.
    ie, bpl : float
        The codec's, see `ROBUSTNESS`.

    Returns
    -------
    Fixed
        The highest R among `CANDIDATES` delays; if nothing arrives, R with everything lost and an infinite delay.

    Raises
    ------
    VoipError
        For a negative delay or NaN, or a robustness that is not above 0.

    Examples
    --------
    One frame of ten comes late. To wait 300 ms longer for it costs less than to lose it.

    >>> found = best_fixed([50] * 9 + [350], 0.0, 25.1)
    >>> round(found.r, 1), found.delay_ms
    (66.8, 350.0)
    """
    delays = np.asarray(delays_ms)
    arrived = delays[np.isfinite(delays)]
    best = Fixed(paper.R_BEST - effective_impairment(1.0, ie, bpl), np.inf, 1.0, 1.0)
    if not arrived.size:
        return best
    for d in np.unique(np.quantile(arrived, np.linspace(0, 1, CANDIDATES), method="inverted_cdf")):
        late = delays > d
        loss, burst = float(late.mean()), burst_ratio(late)
        r = paper.R_BEST - effective_impairment(loss, ie, bpl, burst) - float(delay_impairment(d))
        best = max(best, Fixed(r, float(d), loss, burst))
    return best

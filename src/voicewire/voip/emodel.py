"""The E-model as the thesis uses it (section 4.2): from delay and loss to R, from R to MOS.

R = 94.2 - Ie(e) - Id(d), with e the fraction of frames that are never played and d the one-way delay from
mouth to ear in milliseconds. Explained in notebook 2 of this part.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks
from voicewire.voip import paper
from voicewire.voip.errors import VoipError
from voicewire.voip.paper import CODECS, Codec

__all__ = ["codec", "delay_impairment", "loss_impairment", "mos", "planned", "quality", "r_factor"]


def codec(name: str | Codec) -> Codec:
    """The codec of Table 4.1 with this name (`G.711`, `G.729`, `G.729A+VAD`; `g711` and `G729` will do).

    Parameters
    ----------
    name : str or Codec
        As the table has it, in small letters and without its dot if you like.

    Returns
    -------
    Codec
        A row of the table; a `Codec` is given back as it is.

    Raises
    ------
    VoipError
        for a codec that the table doesn't have.

    Examples
    --------
    >>> codec("g729").payload
    20
    """
    if isinstance(name, Codec):
        return name
    if not isinstance(name, str):
        raise VoipError(f"unknown codec {name!r:.40}: Table 4.1 has {', '.join(CODECS)}")
    plain = name.upper().replace(".", "").replace(" ", "")
    for key, value in CODECS.items():
        if key.upper().replace(".", "") == plain:
            return value
    raise VoipError(f"unknown codec {name!r}: Table 4.1 has {', '.join(CODECS)}")


_DELAYS = checks.array((0, 1, 2), least=0, low=0.0, high=1e12)
_LOSSES = checks.array((0, 1, 2), least=0, low=0.0, high=1.0)


def _out(array: NDArray[np.float64]) -> NDArray[np.float64]:
    return array if array.ndim else np.float64(array)  # type: ignore[return-value]


def id_of(d: NDArray[np.float64]) -> NDArray[np.float64]:
    """Id, without a check."""
    return paper.DELAY_SLOPE * d + paper.DELAY_SLOPE_2 * np.maximum(d - paper.DELAY_KNEE, 0.0)


def ie_of(e: NDArray[np.float64], c: Codec) -> NDArray[np.float64]:
    """Ie, without a check."""
    return c.lambda1 + c.lambda2 * np.log1p(c.lambda3 * e)


@checks.takes(error=VoipError, delay_ms=_DELAYS)
def delay_impairment(delay_ms: ArrayLike) -> NDArray[np.float64]:
    """Id = 0.024 d + 0.11 (d - 177.3) for d above 177.3 ms (section 4.2).

    Parameters
    ----------
    delay_ms : array_like of float
        One-way delay from mouth to ear in milliseconds, 0 or more.

    Returns
    -------
    ndarray of float
        Id, in units of R; of the delay's shape.

    Raises
    ------
    VoipError
        for a negative delay or NaN.

    Examples
    --------
    >>> delay_impairment([100.0, 277.3]).round(3).tolist()
    [2.4, 17.655]
    """
    return _out(id_of(np.asarray(delay_ms)))


@checks.takes(error=VoipError, loss=_LOSSES)
def loss_impairment(loss: ArrayLike, codec_name: str | Codec) -> NDArray[np.float64]:
    """Ie = λ1 + λ2 ln(1 + λ3 e), with the coefficients of Table 4.1; e is a fraction.

    Parameters
    ----------
    loss : array_like of float
        Fraction of the frames that are not played, 0 to 1.
    codec_name : str or Codec
        A codec of Table 4.1.

    Returns
    -------
    ndarray of float
        Ie, in units of R; of the loss's shape.

    Raises
    ------
    VoipError
        for a loss outside 0 .. 1, NaN, or an unknown codec.

    Examples
    --------
    >>> loss_impairment([0.0, 0.01], "G.729").round(2).tolist()
    [10.0, 17.91]
    """
    return _out(ie_of(np.asarray(loss), codec(codec_name)))


@checks.takes(
    error=VoipError, together=("delay_ms", "loss"), delay_ms=_DELAYS, loss=_LOSSES,
)  # fmt: skip
def r_factor(delay_ms: ArrayLike, loss: ArrayLike, codec_name: str | Codec) -> NDArray[np.float64]:
    """R = 94.2 - Ie - Id (section 4.2). R may leave 0 .. 100; only `mos` clamps.

    Parameters
    ----------
    delay_ms : array_like of float
        One-way delay from mouth to ear in milliseconds, 0 or more.
    loss : array_like of float
        Fraction of the frames that are not played, 0 to 1.
    codec_name : str or Codec
        A codec of Table 4.1.

    Returns
    -------
    ndarray of float
        R; delay and loss broadcast against each other.

    Raises
    ------
    VoipError
        For a negative delay, a loss outside 0 .. 1, NaN, or an unknown codec.

    Examples
    --------
    >>> round(float(r_factor(100.0, 0.0, "G.711")), 1)
    91.8
    """
    return _out(np.asarray(paper.R_BEST - ie_of(np.asarray(loss), codec(codec_name)) - id_of(np.asarray(delay_ms))))


@checks.takes(error=VoipError, r=checks.array((0, 1, 2), least=0))
def mos(r: ArrayLike) -> NDArray[np.float64]:
    """MOS = 1 + 0.035 R + 7e-6 R (R - 60)(100 - R), clamped: 1 for R ≤ 0, 4.5 for R ≥ 100, never below 1.

    The cubic dips below 1 for R under 6.5; the scale itself begins at 1.

    Parameters
    ----------
    r : array_like of float
        R.

    Returns
    -------
    ndarray of float
        MOS, 1 to 4.5; of R's shape.

    Notes
    -----
    ITU-T G.107, Annex B.

    Examples
    --------
    >>> mos([0.0, 80.0, 100.0]).round(3).tolist()
    [1.0, 4.024, 4.5]
    """
    inside = np.clip(np.asarray(r), 0.0, 100.0)
    score = 1 + 0.035 * inside + 7e-6 * inside * (inside - 60) * (100 - inside)
    return _out(np.clip(score, 1.0, 4.5))


_ROOMS = checks.array((0, 1, 2), least=0, low=35.0, high=85.0)


@checks.takes(
    error=VoipError, together=("sender_noise", "receiver_noise"), sender_noise=_ROOMS, receiver_noise=_ROOMS,
    slr=checks.number(0.0, 18.0), rlr=checks.number(-5.0, 14.0), stmr=checks.number(10.0, 20.0),
    units=checks.number(1.0, 14.0),
)  # fmt: skip
def planned(
    sender_noise: ArrayLike, receiver_noise: ArrayLike, slr: float = 8.0, rlr: float = 2.0, stmr: float = 15.0,
    units: float = 1.0,
) -> NDArray[np.float64]:  # fmt: skip
    """R0 - Is of ITU-T G.107: what R is before delay, codec and loss. What is no argument stands at its default.

    Parameters
    ----------
    sender_noise, receiver_noise : array_like of float
        Noise in the two rooms, 35 to 85 dB(A), as far as the recommendation permits.
    slr, rlr : float
        Send (0 to 18 dB) and receive loudness rating (-5 to 14 dB).
    stmr : float
        Sidetone masking rating, 10 to 20 dB.
    units : float
        Quantising distortion units, 1 to 14.

    Returns
    -------
    ndarray of float
        R0 - Is; the rooms broadcast against each other.

    Raises
    ------
    VoipError
        For what lies outside the permitted ranges, or is NaN.

    Notes
    -----
    Clauses 7.2, 7.3 and 7.7; `transmission_rating` is the same to read.

    Examples
    --------
    >>> planned([35.0, 60.0], 35.0).round(1).tolist()
    [93.4, 71.7]
    """
    ps, pr = np.asarray(sender_noise), np.asarray(receiver_noise)
    sent = ps - slr - 103 + 0.004 * (ps - slr - rlr - 17) ** 2
    heard = pr + 10 * np.log10(1 + 10**-0.8)
    received = rlr - 121 + heard + 0.008 * (heard - 35) ** 2
    no = 10 * np.log10(1e-7 + 10 ** (sent / 10) + 10 ** (received / 10) + 10 ** ((rlr - 64) / 10))
    r0 = 15 - 1.5 * (slr + no)
    x = (slr + rlr + 0.2 * (64 + no - rlr)) / 8
    loud = 20 * ((1 + x**8) ** 0.125 - x)
    own = -10 * np.log10(10 ** (-stmr / 10) + 10**-6.5)
    bends = (12, -13, 6, 8), (-28, 1, 19.4, 35), (-13, -3, 33, 13)
    side = 29 + sum(size * (1 + ((own + at) / width) ** n) ** (1 / n) for size, at, width, n in bends)
    q = 37 - 15 * np.log10(units)
    g = 1.07 + 0.258 * q + 0.0602 * q * q
    coded = 15 * np.log10(1 + 10 ** ((r0 - 100) / 15 + 46 / 8.4 - g / 9) + 10 ** (46 / 30 - g / 40))
    return _out(np.asarray(r0 - loud - side - coded))


@checks.takes(error=VoipError, r=checks.number())
def quality(r: float) -> str:
    """The word of Table 4.2 for R, or "Unacceptable" below 50, where the table ends.

    Parameters
    ----------
    r : float
        R.

    Returns
    -------
    str
        A word of the table.

    Examples
    --------
    >>> quality(85.0), quality(20.0)
    ('High', 'Unacceptable')
    """
    return next((word for least, word in paper.QUALITY if r >= least), "Unacceptable")

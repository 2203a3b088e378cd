"""The E-model as the thesis uses it (section 4.2): from delay and loss to R, from R to MOS.

R = 94.2 - Ie(e) - Id(d), with e the fraction of frames that are never played and d the one-way delay from
mouth to ear in milliseconds. Explained in notebook 2 of this part.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire import checks
from voicewire.voip import paper
from voicewire.voip.errors import VoipError
from voicewire.voip.paper import CODECS, Codec

__all__ = ["codec", "delay_impairment", "loss_impairment", "mos", "quality", "r_factor"]


def codec(name: str | Codec) -> Codec:
    """The codec of Table 4.1 with this name (`G.711`, `G.729`, `G.729A+VAD`; `g711` and `G729` will do).

    Raises
    ------
    VoipError
        for a codec that the table doesn't have.
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

    Raises
    ------
    VoipError
        for a negative delay or NaN.
    """
    return _out(id_of(np.asarray(delay_ms)))


@checks.takes(error=VoipError, loss=_LOSSES)
def loss_impairment(loss: ArrayLike, codec_name: str | Codec) -> NDArray[np.float64]:
    """Ie = λ1 + λ2 ln(1 + λ3 e), with the coefficients of Table 4.1; e is a fraction.

    Raises
    ------
    VoipError
        for a loss outside 0 .. 1, NaN, or an unknown codec.
    """
    return _out(ie_of(np.asarray(loss), codec(codec_name)))


@checks.takes(
    error=VoipError, together=("delay_ms", "loss"), delay_ms=_DELAYS, loss=_LOSSES,
)  # fmt: skip
def r_factor(delay_ms: ArrayLike, loss: ArrayLike, codec_name: str | Codec) -> NDArray[np.float64]:
    """R = 94.2 - Ie - Id (section 4.2). R may leave 0 .. 100; only `mos` clamps.

    Parameters
    ----------
    delay_ms : one-way delay from mouth to ear in milliseconds, broadcast against `loss`
    loss : fraction of the frames not played, 0 .. 1
    codec_name : a codec of Table 4.1
    """
    return _out(np.asarray(paper.R_BEST - ie_of(np.asarray(loss), codec(codec_name)) - id_of(np.asarray(delay_ms))))


@checks.takes(error=VoipError, r=checks.array((0, 1, 2), least=0))
def mos(r: ArrayLike) -> NDArray[np.float64]:
    """MOS = 1 + 0.035 R + 7e-6 R (R - 60)(100 - R), clamped: 1 for R ≤ 0, 4.5 for R ≥ 100, never below 1.

    The cubic dips below 1 for R under 6.5; the scale itself begins at 1.
    """
    inside = np.clip(np.asarray(r), 0.0, 100.0)
    score = 1 + 0.035 * inside + 7e-6 * inside * (inside - 60) * (100 - inside)
    return _out(np.clip(score, 1.0, 4.5))


@checks.takes(error=VoipError, r=checks.number())
def quality(r: float) -> str:
    """The word of Table 4.2 for R, or "Unacceptable" below 50, where the table ends."""
    return next((word for least, word in paper.QUALITY if r >= least), "Unacceptable")

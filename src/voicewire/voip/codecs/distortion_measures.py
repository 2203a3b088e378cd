"""How far what is heard lies from what was said: two measures of signals, to be held against R.

Neither knows how people hear. The chapter is ``notebooks/voip/02_quality_and_playout``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire.voip.codecs.listening import FRAME, activity, whole_frames
from voicewire.voip.errors import VoipError

__all__ = ["log_spectral_distance", "segmental_snr"]

SNR_LIMITS = (-10.0, 35.0)
"""dB; a segment counts as no worse and no better than these."""
WINDOW = 2 * FRAME
FLOOR_DB = -40.0
"""Power below the mean of the speech at which a spectrum ends: what lies lower is not heard beside it."""


def _pair(said: ArrayLike, heard: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Both as floats, and which frames of what was said hold voice."""
    x, y = whole_frames(said), whole_frames(heard)
    if x.size != y.size:
        raise VoipError(f"said holds {x.size} samples and heard {y.size}: they must be equally long")
    voiced = activity(x)
    if not voiced.any():
        raise VoipError("said holds no voice: there is nothing to compare")
    return x.astype(float), y.astype(float), voiced


def segmental_snr(said: ArrayLike, heard: ArrayLike) -> float:
    r"""Return the mean signal-to-noise ratio of the frames with voice, dB.

    Parameters
    ----------
    said, heard : array_like of int16, shape (samples,)
        Samples at 8 kHz, of equal length and without delay between them.

    Returns
    -------
    float
        Mean over frames of :math:`10 \log_{10} (\sum x^2 / \sum (x - y)^2)`, each held between -10 and 35 dB.

    Raises
    ------
    VoipError
        For samples that are none, of unequal length, or without voice.

    Examples
    --------
    Silence is as far away as the speech is strong: 0 dB.

    >>> from voicewire.voip.codecs import listening
    >>> speech = listening.speech("voice")
    >>> segmental_snr(speech, speech), segmental_snr(speech, 0 * speech)
    (35.0, 0.0)
    """
    x, y, voiced = _pair(said, heard)
    signal = np.sum(x.reshape(-1, FRAME)[voiced] ** 2, axis=1)
    noise = np.sum((x - y).reshape(-1, FRAME)[voiced] ** 2, axis=1)
    low, high = (10 ** (limit / 10) for limit in SNR_LIMITS)
    ratio = np.divide(signal, noise, out=np.full(signal.size, high), where=noise > 0)
    return float(np.mean(10 * np.log10(np.clip(ratio, low, high))))


def _spectra(x: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
    """Spectra in dB around the middle of each frame, cut off at a floor."""
    around = np.concatenate((np.zeros(FRAME // 2), x, np.zeros(FRAME // 2)))
    pieces = np.lib.stride_tricks.sliding_window_view(around, WINDOW)[::FRAME]
    power = np.abs(np.fft.rfft(pieces * np.hanning(WINDOW), axis=1)) ** 2
    return np.asarray(10 * np.log10(np.maximum(power, floor)))


def log_spectral_distance(said: ArrayLike, heard: ArrayLike) -> float:
    r"""Return how far the spectra of the frames with voice lie apart, dB.

    Parameters
    ----------
    said, heard : array_like of int16, shape (samples,)
        Samples at 8 kHz, of equal length and without delay between them.

    Returns
    -------
    float
        Mean over frames of :math:`\sqrt{\mathrm{mean}_f (10 \log_{10} P_x(f) / P_y(f))^2}`, in windows of 40 ms; what
        lies 40 dB below the mean power of the speech counts as lying just there.

    Raises
    ------
    VoipError
        For samples that are none, of unequal length, or without voice.

    Examples
    --------
    Half as loud is 6 dB everywhere, but for what sinks below the floor.

    >>> from voicewire.voip.codecs import listening
    >>> speech = listening.speech("voice")
    >>> log_spectral_distance(speech, speech), 3 < log_spectral_distance(speech, speech // 2) < 6
    (0.0, True)
    """
    x, y, voiced = _pair(said, heard)
    loud = x.reshape(-1, FRAME)[voiced]
    floor = float(np.mean(loud**2)) * float(np.sum(np.hanning(WINDOW) ** 2)) * 10 ** (FLOOR_DB / 10)
    apart = (_spectra(x, floor) - _spectra(y, floor))[voiced]
    return float(np.mean(np.sqrt(np.mean(apart**2, axis=1))))

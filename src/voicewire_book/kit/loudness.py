"""How loud a sound is, by ITU-R BS.1770: so that two sounds can be compared by what they are, not by their level."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.signal import sosfilt

from voicewire._kit import checks

__all__ = ["LOWEST_RATE", "k_weighting", "loudness"]

LOWEST_RATE = 4000
"""In Hz: below it the shelf of the weighting, at 1.7 kHz, has no room."""

BLOCK, STEP = 0.4, 0.1  # seconds
SILENT, BELOW = -70.0, -10.0  # LUFS, LU


def k_weighting(rate: float) -> NDArray[np.float64]:
    """Return the standard's two filters, a shelf for the head and a high pass, at any sampling rate."""
    rate = checks.number(low=LOWEST_RATE)("rate", rate, ValueError)
    k, q = math.tan(math.pi * 1681.974450955533 / rate), 0.7071752369554196
    high = 10 ** (3.999843853973347 / 20)
    band = high**0.4996667741545416
    shelf = [high + band * k / q + k * k, 2 * (k * k - high), high - band * k / q + k * k]
    poles = [1 + k / q + k * k, 2 * (k * k - 1), 1 - k / q + k * k]
    first = np.array([*shelf, *poles]) / poles[0]
    k, q = math.tan(math.pi * 38.13547087602444 / rate), 0.5003270373238773
    poles = [1 + k / q + k * k, 2 * (k * k - 1), 1 - k / q + k * k]
    return np.array([first, [1, -2, 1, *(np.array(poles) / poles[0])]])


def loudness(samples: ArrayLike, rate: float) -> float:
    """Return the integrated loudness of a sound, pauses left out, after ITU-R BS.1770-4.

    With z the mean square of the weighted sound in blocks of 0.4 s that overlap by three quarters (channels added),
    the loudness is -0.691 + 10 log10 of the mean of z over all blocks louder than -70 LUFS and than 10 LU below the
    mean of these.
    """
    sections = k_weighting(rate)
    sound = checks.array((1, 2), sound=True)("samples", samples, ValueError)
    if sound.ndim == 2 and sound.shape[1] != 2:
        raise ValueError(f"samples must have shape (n,) or (n, 2), not {sound.shape}")
    squares = (sosfilt(sections, sound.reshape(len(sound), -1), axis=0) ** 2).sum(axis=1)
    block, step = min(round(BLOCK * rate), len(sound)), round(STEP * rate)
    total = np.concatenate([[0.0], np.cumsum(squares)])
    starts = np.arange(0, len(sound) - block + 1, step)
    power = (total[starts + block] - total[starts]) / block
    heard = power[_level(power) > SILENT]
    if not heard.size:
        return -math.inf
    loud = heard[_level(heard) > _level(heard.mean()) + BELOW]
    return float(_level(loud.mean()))


def _level(power: NDArray[np.float64] | np.float64) -> NDArray[np.float64]:
    return np.asarray(-0.691 + 10 * np.log10(np.maximum(power, 1e-30)))

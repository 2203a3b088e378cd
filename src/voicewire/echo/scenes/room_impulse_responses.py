"""Impulse responses: shoebox rooms by image sources, and random ones that decay (notebook 01)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.signal import lfilter

__all__ = ["decaying", "image_source", "room_response"]

from voicewire._kit import checks

SPEED_OF_SOUND = 343.0
"""In m/s, at 20 degrees Celsius."""

_POINT = checks.array(low=1e-3, high=1e3)
_HALF_SINC = 20  # samples on each side of an arrival


@checks.takes(
    length=checks.whole(1, 10**6), sr=checks.number(100.0, 1e6), size=_POINT, source=_POINT, microphone=_POINT,
    reflection=checks.number(0.0, below=1.0),
)  # fmt: skip
def image_source(
    length: int,
    sr: float,
    size: ArrayLike,
    source: ArrayLike,
    microphone: ArrayLike,
    reflection: float = 0.7,
) -> NDArray[np.float64]:
    """Impulse response of a rectangular room by image sources.

    Parameters
    ----------
    length : int
        Samples kept.
    sr : float
        Sampling rate in Hz.
    size, source, microphone : array_like, shape (3,)
        The room and two points in it, in m.
    reflection : float
        Amplitude that a wall gives back, 0 to 1.

    Returns
    -------
    ndarray, shape (length,)
        Pressure at the microphone; arrivals between samples are spread by a windowed sinc.

    Raises
    ------
    ValueError
        If a point lies outside the room.

    Examples
    --------
    Without walls: one arrival, after 3 m of 343 m/s at 8 kHz.

    >>> room = image_source(200, 8000, (6, 5, 3), (1, 1, 1), (4, 1, 1), reflection=0.0)
    >>> int(np.argmax(np.abs(room)))
    70
    """
    if not {len(size), len(source), len(microphone)} == {3}:  # type: ignore[arg-type]
        raise ValueError("size, source and microphone have three coordinates each, in m")
    room, start, end = (np.asarray(a, float) for a in (size, source, microphone))
    if ((start <= 0) | (start >= room) | (end <= 0) | (end >= room)).any():
        raise ValueError("source and microphone must lie inside the room")
    reach = np.ceil(length / sr * SPEED_OF_SOUND / (2 * room)).astype(int) + 1
    numbers = np.stack(np.meshgrid(*(np.arange(-n, n + 1) for n in reach), indexing="ij"), -1).reshape(-1, 3)
    response = np.zeros(length + 2 * _HALF_SINC + 1)
    spread = np.arange(-_HALF_SINC, _HALF_SINC + 1)
    for mirrored in np.ndindex(2, 2, 2):
        image = (1 - 2 * np.array(mirrored)) * start + 2 * numbers * room
        walls = np.abs(numbers - mirrored).sum(1) + np.abs(numbers).sum(1)
        distance = np.linalg.norm(image - end, axis=1)
        arrival = distance / SPEED_OF_SOUND * sr
        near = arrival < length
        for delay, gain in zip(arrival[near], (reflection**walls / (4 * np.pi * distance))[near], strict=True):
            whole = int(delay)
            kernel = np.sinc(spread - (delay - whole)) * np.hanning(2 * _HALF_SINC + 3)[1:-1]
            response[whole : whole + spread.size] += gain * kernel
    # images add up at the lowest frequencies without bound: high-passed at 0.03 of the rate, as is usual
    return np.asarray(lfilter([1.0, -1.0], [1.0, -0.8], response))[_HALF_SINC : _HALF_SINC + length]


@checks.takes(length=checks.whole(1, 10**6), rng=checks.generator, decay=checks.maybe(checks.number(0.01, 1e9)))
def decaying(length: int, rng: np.random.Generator, decay: float | None = None) -> NDArray[np.float64]:
    """A Gaussian impulse response that decays exponentially, of energy 1.

    Parameters
    ----------
    length : int
        Samples.
    rng : Generator
        Source of randomness.
    decay : float, optional
        Samples in which the amplitude falls by e; length/5 by default.

    Returns
    -------
    ndarray of float, shape (length,)

    Examples
    --------
    >>> response = decaying(100, np.random.default_rng(1))
    >>> round(float(np.sum(response**2)), 9)
    1.0
    """
    response = rng.standard_normal(length) * np.exp(-np.arange(length) / (decay or length / 5))
    return response / np.linalg.norm(response)


@checks.takes(length=checks.whole(1, 10**6), sr=checks.number(100.0, 1e6), rng=checks.generator)
def room_response(length: int, sr: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """A response of a small office with source and microphone at random places, of energy 1, direct sound first.

    Parameters
    ----------
    length : int
        Samples.
    sr : float
        Sampling rate, Hz.
    rng : Generator
        Source of randomness.

    Returns
    -------
    ndarray of float, shape (length,)

    Examples
    --------
    >>> response = room_response(64, 8000, np.random.default_rng(1))
    >>> response.shape, round(float(np.sum(response**2)), 9)
    ((64,), 1.0)
    """
    size = np.array([4.2, 3.4, 2.7])
    source, microphone = (size * rng.uniform(0.15, 0.85, 3) for _ in range(2))
    travel = int(np.linalg.norm(source - microphone) / SPEED_OF_SOUND * sr)
    response = image_source(length + travel, sr, size, source, microphone, 0.9)[travel:]
    return response / np.linalg.norm(response)

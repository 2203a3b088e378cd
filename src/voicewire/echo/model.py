"""The widely linear model: four real echo paths as one complex system (Section II; notebook 02)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]


class Responses(NamedTuple):
    """Four real impulse responses of L samples: first letter the loudspeaker, second the microphone."""

    LL: Real
    LR: Real
    RL: Real
    RR: Real


def complex_taps(responses: Responses) -> Complex:
    """The 2L interleaved complex taps of four echo paths: y = g^H x~, equation (7).

    Parameters
    ----------
    responses : Responses
        Loudspeaker-to-microphone impulse responses, each of shape (L,).

    Returns
    -------
    ndarray of complex, shape (2L,)
        Even entries meet x(n-k), odd ones x*(n-k).
    """
    LL, LR, RL, RR = (np.asarray(response, float) for response in responses)
    taps = np.empty(2 * LL.size, complex)
    taps[0::2] = np.conj((LL + RR) + 1j * (LR - RL)) / 2
    taps[1::2] = np.conj((LL - RR) + 1j * (LR + RL)) / 2
    return taps


def responses(taps: ArrayLike) -> Responses:
    """The four real echo paths of 2L complex taps: the inverse of `complex_taps`."""
    g = np.asarray(taps, complex)
    if g.ndim != 1 or g.size % 2:
        raise ValueError(f"taps must be one-dimensional and even in number, not of shape {g.shape}")
    even, odd = np.conj(g[0::2]), np.conj(g[1::2])
    return Responses((even + odd).real, (even + odd).imag, (odd - even).imag, (even - odd).real)


def echo(paths: Responses, x: Complex) -> Complex:
    """The echo that both microphones pick up, equations (1), (2) and (6).

    Parameters
    ----------
    paths : Responses
        The echo paths.
    x : ndarray of complex, shape (N,)
        Far end, left + 1j*right.
    """
    from scipy.signal import fftconvolve

    n = x.size
    left, right = x.real, x.imag
    out = np.empty(n, complex)
    # one convolution at a time: at five minutes of speech each array counts
    out.real = fftconvolve(left, paths.LL)[:n]
    out.real += fftconvolve(right, paths.RL)[:n]
    out.imag = fftconvolve(left, paths.LR)[:n]
    out.imag += fftconvolve(right, paths.RR)[:n]
    return out

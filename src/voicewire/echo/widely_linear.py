"""The widely linear model: four real echo paths as one complex system (Section II; notebook 02)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks

__all__ = ["Responses", "complex_taps", "echo", "responses"]

Real = NDArray[np.float64]
Complex = NDArray[np.complex128]


class Responses(NamedTuple):
    """Four real impulse responses of L samples: first letter the loudspeaker, second the microphone.

    Attributes
    ----------
    LL, LR, RL, RR : ndarray of float, shape (L,)
        Pressure at the second letter for a pulse from the first.

    Examples
    --------
    >>> Responses(*np.eye(4)).RL.tolist()
    [0.0, 0.0, 1.0, 0.0]
    """

    LL: Real
    LR: Real
    RL: Real
    RR: Real


def _four(paths: Responses) -> list[Real]:
    """The four responses as float64, equally long."""
    if not isinstance(paths, tuple) or len(paths) != 4:
        raise ValueError("four echo paths are needed, as Responses(LL, LR, RL, RR)")
    rule = checks.array()
    four = [rule(name, path, ValueError) for name, path in zip(Responses._fields, paths, strict=True)]
    if len({path.size for path in four}) != 1:
        raise ValueError(f"the echo paths have {', '.join(str(p.size) for p in four)} taps: they must be equally long")
    return four


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

    Examples
    --------
    Two equal direct paths need x only, not x*.

    >>> direct, none = np.array([1.0]), np.array([0.0])
    >>> complex_taps(Responses(LL=direct, LR=none, RL=none, RR=direct)).real.tolist()
    [1.0, 0.0]
    """
    LL, LR, RL, RR = _four(responses)
    taps = np.empty(2 * LL.size, complex)
    taps[0::2] = np.conj((LL + RR) + 1j * (LR - RL)) / 2
    taps[1::2] = np.conj((LL - RR) + 1j * (LR + RL)) / 2
    return taps


@checks.takes(taps=checks.array(kind="complex", least=2))
def responses(taps: ArrayLike) -> Responses:
    """The four real echo paths of 2L complex taps: the inverse of `complex_taps`.

    Parameters
    ----------
    taps : array_like of complex, shape (2L,)
        Even entries meet x(n-k), odd ones x*(n-k).

    Returns
    -------
    Responses
        Each of shape (L,).

    Raises
    ------
    ValueError
        If the taps are not a row of even length.

    Examples
    --------
    >>> responses([1, 0]).RR.tolist()
    [1.0]
    """
    g = np.asarray(taps, complex)
    if g.ndim != 1 or g.size % 2:
        raise ValueError(f"taps must be one-dimensional and even in number, not of shape {g.shape}")
    even, odd = np.conj(g[0::2]), np.conj(g[1::2])
    return Responses((even + odd).real, (even + odd).imag, (odd - even).imag, (even - odd).real)


@checks.takes(x=checks.array(kind="complex"))
def echo(paths: Responses, x: Complex) -> Complex:
    """The echo that both microphones pick up, equations (1), (2) and (6).

    Parameters
    ----------
    paths : Responses
        The echo paths.
    x : ndarray of complex, shape (N,)
        Far end, left + 1j*right.

    Returns
    -------
    ndarray of complex, shape (N,)
        Left + 1j*right microphone.

    Examples
    --------
    >>> one, none = np.array([0.0, 1.0]), np.zeros(2)
    >>> echo(Responses(LL=one, LR=none, RL=none, RR=none), np.array([3 + 1j, 0, 0])).real.round(9).tolist()
    [0.0, 3.0, 0.0]
    """
    from scipy.signal import fftconvolve

    paths = Responses(*_four(paths))
    n = x.size
    left, right = x.real, x.imag
    out = np.empty(n, complex)
    # one convolution at a time: at five minutes of speech each array counts
    out.real = fftconvolve(left, paths.LL)[:n]
    out.real += fftconvolve(right, paths.RL)[:n]
    out.imag = fftconvolve(left, paths.LR)[:n]
    out.imag += fftconvolve(right, paths.RR)[:n]
    return out

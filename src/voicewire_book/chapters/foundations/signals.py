"""Signals to read: spectrum, resonance, prediction, a vowel taken apart.

Nothing here is clever. Each function is one thought of its chapter and is
woven into it. NumPy's and SciPy's compute the same faster (a test compares).
Frequencies and bandwidths are in Hz, rates in samples a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# fmt: off (lines as short as the page of the book is wide)

__all__ = [
    "best_prediction",
    "gain",
    "rebuilt",
    "residual",
    "resonator",
    "spectrum",
    "vowel",
]

Samples = NDArray[Any]


def spectrum(x: Samples) -> Samples:
    """How much of each of the N tones of x is in x.

    Parameters
    ----------
    x : array_like of float, shape (N,)
        Samples.

    Returns
    -------
    ndarray of complex, shape (N,)
        Equation ``eq-foundations-dft``; tone k turns k times in N samples.

    See Also
    --------
    numpy.fft.fft : the same in N log N steps.

    Examples
    --------
    One turn in four samples, there and back.

    >>> abs(spectrum([1, 0, -1, 0])).round(9).tolist()
    [0.0, 2.0, 0.0, 2.0]
    """
    n = np.arange(len(x))
    tones = [np.exp(-2j * np.pi * k * n / n.size) for k in n]
    return np.array([np.dot(x, tone) for tone in tones])


def gain(a: Samples, f: Samples, rate: float) -> Samples:
    """By how much a lasting tone of f Hz grows in the filter 1/A.

    Parameters
    ----------
    a : array_like of float, shape (p + 1,)
        1, a_1, …, a_p.
    f : array_like of float
        Hz.
    rate : float
        Samples a second.

    Returns
    -------
    ndarray of float, shape of f
        Equation ``eq-foundations-distances``.

    See Also
    --------
    scipy.signal.freqz : the same with its phase.

    Examples
    --------
    >>> gain([1, 0, 0.25], [0, 2000], 8000).round(3).tolist()
    [0.8, 1.333]
    """
    z = np.exp(2j * np.pi * np.asarray(f) / rate)
    return np.asarray(1 / abs(np.polyval(a, z)))


def resonator(x: Samples, F: float, B: float, rate: float) -> Samples:
    """What a resonance of frequency F and bandwidth B makes of x.

    Parameters
    ----------
    x : array_like of float, shape (N,)
        What drives it.
    F, B, rate : float
        Hz, Hz, samples a second.

    Returns
    -------
    ndarray of float, shape (N,)
        Equation ``eq-foundations-resonance``.

    See Also
    --------
    scipy.signal.lfilter : the same for any coefficients, compiled.

    Examples
    --------
    A quarter of a turn and half the size from sample to sample.

    >>> B = 8000 * np.log(2) / np.pi
    >>> resonator([1, 0, 0, 0, 0], 2000, B, 8000)[::2].round(9).tolist()
    [1.0, -0.25, 0.0625]
    """
    r, theta = np.exp(-np.pi * B / rate), 2 * np.pi * F / rate
    a1, a2 = -2 * r * np.cos(theta), r * r
    y = np.zeros(len(x) + 2)  # two samples of rest come first
    for n in range(len(x)):
        y[n + 2] = x[n] - a1 * y[n + 1] - a2 * y[n]
    return y[2:]


def vowel(
    formants: Sequence[tuple[float, float]],
    f0: float,
    rate: float,
    seconds: float,
) -> Samples:
    """Pulses, f0 a second, through a tilt and a row of resonances.

    Parameters
    ----------
    formants : sequence of (float, float)
        Frequency and bandwidth of each, Hz.
    f0, rate : float
        Pulses and samples a second.
    seconds : float
        How long.

    Returns
    -------
    ndarray of float, shape (rate * seconds,)
        Largest value 1 or -1.

    Examples
    --------
    >>> x = vowel([(700.0, 60.0)], 100, 8000, 0.1)
    >>> x.size, float(abs(x).max())
    (800, 1.0)
    """
    x = np.zeros(round(rate * seconds))
    pulses = np.arange(0, x.size, rate / f0).astype(int)
    x[pulses[pulses < x.size]] = 1
    for n in range(1, x.size):
        x[n] += 0.9 * x[n - 1]  # the voice is weaker the higher it is
    for F, B in formants:
        x = resonator(x, F, B, rate)
    return np.asarray(x / np.abs(x).max())


def best_prediction(r: Samples) -> tuple[Samples, float]:
    """Coefficients with the least error, and the energy of that error.

    Parameters
    ----------
    r : array_like of float, shape (p + 1,)
        Autocorrelation; r[0] > 0.

    Returns
    -------
    a : ndarray of float, shape (p + 1,)
        1, a_1, …, a_p, which solve ``eq-foundations-normal``.
    E : float
        Energy left, ``eq-foundations-left``, in the units of r.

    See Also
    --------
    voicewire.pharyngeal.reference.levinson : the same in p² steps, not p³.

    Examples
    --------
    >>> a, E = best_prediction([2, 1, 0])
    >>> (3 * a).round(9).tolist(), round(3 * E, 9)
    ([3.0, -2.0, 1.0], 4.0)
    """
    r = np.asarray(r, float)
    p = r.size - 1
    R = [[r[abs(i - k)] for i in range(p)] for k in range(p)]
    a = np.append(1.0, np.linalg.solve(R, -r[1:]) if p else [])
    return a, float(a @ r)


def residual(x: Samples, a: Samples) -> Samples:
    """What the prediction leaves of x: the error, sample by sample.

    Parameters
    ----------
    x : array_like of float, shape (N,)
        Samples; those before the first count as zero.
    a : array_like of float, shape (p + 1,)
        1, a_1, …, a_p.

    Returns
    -------
    ndarray of float, shape (N,)
        Equation ``eq-foundations-error``.

    Examples
    --------
    What halves with each sample is foretold but for its first.

    >>> residual([8, 4, 2, 1], [1, -0.5]).tolist()
    [8.0, 0.0, 0.0, 0.0]
    """
    return np.convolve(x, a)[: len(x)]


def rebuilt(e: Samples, a: Samples) -> Samples:
    """The signal of which the prediction leaves e.

    Parameters
    ----------
    e : array_like of float, shape (N,)
        Errors of the prediction.
    a : array_like of float, shape (p + 1,)
        1, a_1, …, a_p.

    Returns
    -------
    ndarray of float, shape (N,)
        Equation ``eq-foundations-error``, solved for the sample.

    See Also
    --------
    scipy.signal.lfilter : the same, compiled.

    Examples
    --------
    >>> rebuilt([8, 0, 0, 0], [1, -0.5]).tolist()
    [8.0, 4.0, 2.0, 1.0]
    """
    x = np.zeros(len(e))
    for n in range(len(e)):
        before = x[max(0, n - len(a) + 1) : n][::-1]  # newest first
        x[n] = e[n] - np.dot(a[1 : before.size + 1], before)
    return x

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
    """How much of each of the N tones of x is in x."""
    n = np.arange(len(x))
    tones = [np.exp(-2j * np.pi * k * n / n.size) for k in n]
    return np.array([np.dot(x, tone) for tone in tones])


def gain(a: Samples, f: Samples, rate: float) -> Samples:
    """By how much a lasting tone of f Hz grows in the filter 1/A."""
    z = np.exp(2j * np.pi * np.asarray(f) / rate)
    return np.asarray(1 / abs(np.polyval(a, z)))


def resonator(x: Samples, F: float, B: float, rate: float) -> Samples:
    """What a resonance of frequency F and bandwidth B makes of x."""
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
    """Pulses, f0 a second, through a tilt and a row of resonances."""
    x = np.zeros(round(rate * seconds))
    pulses = np.arange(0, x.size, rate / f0).astype(int)
    x[pulses[pulses < x.size]] = 1
    for n in range(1, x.size):
        x[n] += 0.9 * x[n - 1]  # the voice is weaker the higher it is
    for F, B in formants:
        x = resonator(x, F, B, rate)
    return np.asarray(x / np.abs(x).max())


def best_prediction(r: Samples) -> tuple[Samples, float]:
    """Coefficients with the least error, and the energy of that error."""
    r = np.asarray(r, float)
    p = r.size - 1
    R = [[r[abs(i - k)] for i in range(p)] for k in range(p)]
    a = np.append(1.0, np.linalg.solve(R, -r[1:]) if p else [])
    return a, float(a @ r)


def residual(x: Samples, a: Samples) -> Samples:
    """What the prediction leaves of x: the error, sample by sample."""
    return np.convolve(x, a)[: len(x)]


def rebuilt(e: Samples, a: Samples) -> Samples:
    """The signal of which the prediction leaves e."""
    x = np.zeros(len(e))
    for n in range(len(e)):
        before = x[max(0, n - len(a) + 1) : n][::-1]  # newest first
        x[n] = e[n] - np.dot(a[1 : before.size + 1], before)
    return x

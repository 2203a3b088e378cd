"""What the lab of *Measuring formants, and believing them* compares with: right, and usual mistakes as options."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.pharyngeal import synthesis
from voicewire.pharyngeal.reference import burg, emphasised, frame_window, poles, track

Array = NDArray[Any]
Rows = Iterable[tuple[float, Array, Array]]
RATE = 10_000  # Hz


def vowel(seed: int) -> synthesis.Token:
    rng = np.random.default_rng([61, seed])
    return synthesis.vowel("tt", synthesis.Speaker("demo", f0=118.0), rng, snr=40.0)


def raised(x: Array, rate: float, *, corner: float = 50.0, first: bool = True, ahead: bool = False) -> Array:
    """Emphasis; `corner`, `first` and `ahead` are what is right and a usual mistake each."""
    share = np.exp(-2 * np.pi * corner / rate)
    before = np.append(0.0, x[:-1])
    if ahead:
        return np.append(x[:-1] - share * x[1:], x[-1])
    y = x - share * before
    return y if first else y[1:]


def grown(a: Array, k: float) -> Array:
    return np.append(a, 0) + k * np.append(0, a[::-1])


def by_errors(
    x: Array, p: int, *, sign: float = -1.0, twice: float = 2.0, cuts: bool = True, old: bool = True
) -> Array:
    """Burg's method; `sign`, `twice`, `cuts` and `old` are what is right and a usual mistake each."""
    a, f, b = np.array([1.0]), x[1:], x[:-1]
    for _ in range(p):
        k = sign * twice * (f @ b) / (f @ f + b @ b)
        a = grown(a, k)
        new = f + k * b
        b = b + k * (f if old else new)
        f, b = (new[1:], b[:-1]) if cuts else (new, b)
    return a


def rings(
    a: Array, rate: float, *, above: bool = True, radians: bool = False, half: bool = False
) -> tuple[Array, Array]:
    """Frequencies and bandwidths; `above`, `radians` and `half` are what is right and a usual mistake each."""
    F, B = poles(a, rate)
    if not above:
        z = np.roots(a)
        z = z[np.argsort(np.angle(z))]
        return np.angle(z) * rate / (2 * np.pi), -np.log(np.abs(z)) * rate / np.pi
    return (F * 2 * np.pi if radians else F), (B / 2 if half else B)


def frames(x: Array, n: int, hop: int, *, fades: bool = True, lowered: bool = True, last: bool = True) -> Array:
    """Frames, a row each; `fades`, `lowered` and `last` are what is right and a usual mistake each."""
    t = np.linspace(-1, 1, n)
    window = frame_window(n) if lowered else np.exp(-12 * t * t)
    starts = range(0, x.size - n + (1 if last else 0), hop)
    return np.array([x[s : s + n] * (window if fades else 1.0) for s in starts])


def tracked(
    x: Array, rate: float, *, emphasis: bool = True, spare: int = 2, middle: bool = True, silent: bool = True
) -> list[tuple[float, Array, Array]]:
    """The tracker; `emphasis`, `spare`, `middle` and `silent` are what is right and a usual mistake each."""
    x, n, hop = emphasised(x, rate) if emphasis else x, round(0.05 * rate), round(0.005 * rate)
    rows = []
    for k, frame in enumerate(frames(x, n, hop)):
        if np.sqrt(np.mean(frame**2)) > 1e-6:
            time = (k * hop + (n / 2 if middle else 0)) / rate
            rows.append((time, *poles(burg(frame, spare + round(rate / 1000)), rate)))
        elif not silent:
            rows.append(((k * hop + n / 2) / rate, np.array([0.0]), np.array([0.0])))
    return rows


def followed(x: Array, rate: float) -> list[tuple[float, Array, Array]]:
    return list(track(x, rate))


def noise(seed: int, size: int) -> Array:
    return np.random.default_rng([62, seed]).standard_normal(size)

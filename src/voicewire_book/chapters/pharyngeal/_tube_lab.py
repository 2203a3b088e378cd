"""What the lab of *From the vocal tract to formants* compares with: right, and usual mistakes as options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.pharyngeal.reference import DENSITY, SPEED, flow_ratio, resonances, section

Array = NDArray[Any]
Numbers = Any  # a list of floats
TWO = ([1.0, 7.0], [9.0, 8.0])
THREE = ([2.0, 0.5, 5.0], [6.0, 3.0, 8.0])


def cylinder(
    area: float, length: float, sigma: complex, gamma: complex, *, turns: bool = False, swapped: bool = False
) -> Array:
    """A cylinder's matrix; `turns` (cosine for cosh) and `swapped` are usual mistakes."""
    angle = sigma * length / SPEED
    c, h = (np.cos(angle), np.sin(angle)) if turns else (np.cosh(angle), np.sinh(angle))
    z = DENSITY * SPEED / area * gamma
    return np.array([[c, h / z], [z * h, c]]) if swapped else np.array([[c, z * h], [h / z, c]])


def lips(area: float, s: complex, *, behind: bool = False, round_: bool = True, square: bool = True) -> complex:
    """The load at the lips; `behind`, `round_` and `square` are what is right and a usual mistake each."""
    R = 128 * DENSITY * SPEED / (9 * np.pi ** (2 if square else 1) * area)
    M = 8 * DENSITY / (3 * np.pi * np.sqrt((np.pi if round_ else 1.0) * area))
    return R + s * M if behind else s * M * R / (R + s * M)


def supply(
    areas: Numbers, lengths: Numbers, sigma: complex, gamma: complex, Z: complex,
    *,
    back: bool = False, row: int = 1,
) -> complex:  # fmt: skip
    """Flow at the glottis; `back` (lips first) and `row` 0 (the pressure) are usual mistakes."""
    tract = np.eye(2)
    pairs = list(zip(areas, lengths, strict=True))
    for area, length in reversed(pairs) if back else pairs:
        tract = tract @ section(area, length, sigma, gamma)
    return complex((tract @ [Z, 1.0])[row])


def halved(
    f: Callable[[float], float], low: float, high: float, *, rising: bool = False, strict: bool = False, times: int = 26
) -> float:
    """Halving; `rising` (for rising functions only) and `strict` (a zero is no change of sign) are usual mistakes."""
    for _ in range(times):
        middle = (low + high) / 2
        changed = f(low) * f(middle)
        if f(middle) > 0 if rising else changed < 0 or (changed == 0 and not strict):
            high = middle
        else:
            low = middle
    return (low + high) / 2


def rough(areas: Numbers, lengths: Numbers, count: int) -> Array:
    """The steps of 20 Hz in which the ratio changes its sign, not halved."""
    return np.floor((resonances(areas, lengths, count) - 1) / 20) * 20 + 11


def passed(
    areas: Numbers, lengths: Numbers, f: float, *, walls: float = 1.0, load: float = 1.0, turn: float = 2 * np.pi
) -> float:
    """The gain; `walls`, `load` and `turn` are what is right and a usual mistake each."""
    return float(1 / abs(flow_ratio(1j * turn * f, areas, lengths, walls, load)))


def spoken(
    areas: Numbers, lengths: Numbers, f0: float, rate: float, size: int,
    *,
    fall: float = 2.0, top: float = 0.5, tube: bool = True, scaled: bool = True, turned: float = 0.0,
    highest: bool = False,
) -> Array:  # fmt: skip
    """The sum of tones; `fall`, `top`, `tube`, `scaled`, `turned` and `highest` are right or a usual mistake each."""
    n, x, k = np.arange(size), np.zeros(size), 1
    while k * f0 < top * rate:
        strength = passed(areas, lengths, k * f0) if tube else 1.0
        x += strength / k**fall * np.sin(2 * np.pi * k * f0 * n / rate + turned)
        k += 1
    return x / (x.max() if highest else np.abs(x).max()) if scaled else x

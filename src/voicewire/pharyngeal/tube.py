"""From an area function to formants: chain matrices, yielding walls, radiation at the lips.

The tract is a row of short cylinders from glottis to lips. Each multiplies the pressure and flow by a 2 x 2 matrix
(Sondhi and Schroeter 1987, with their wall constants); formants are the complex roots of the product. Explained in
notebook ``01_tract_to_formants``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voicewire._kit import checks
from voicewire._kit._compiled import COMPILED, njit
from voicewire._kit._optional import needed
from voicewire.pharyngeal.reference import DENSITY, SPEED, WALL_0, WALL_A, WALL_B, WALL_C

__all__ = ["Resonances", "praat_tract", "resonances", "response", "two_tube", "uniform"]

Array = NDArray[np.float64]


@njit(cache=True)
def _denominator(s: complex, areas: Array, lengths: Array, speed: float, walls: float, load: float) -> complex:
    """Return U_glottis / U_lips at the complex frequency s (rad/s): its zeros are the formants."""
    alpha = np.sqrt(s * WALL_C) * walls
    beta = s * WALL_0 / ((s + WALL_A) * s + WALL_B) * walls + alpha
    gamma = np.sqrt((alpha + s) / (beta + s))
    sigma = gamma * (beta + s)
    # column of the product that carries the lips' (Z, 1) back to the glottis
    area = areas[areas.size - 1]
    resistance = 128.0 * DENSITY * speed / (9.0 * np.pi**2 * area)
    inertance = 8.0 * DENSITY / (3.0 * np.pi * np.sqrt(np.pi * area))
    pressure = load * s * inertance * resistance / (resistance + s * inertance)
    flow = 1.0 + 0.0j
    for i in range(areas.size - 1, -1, -1):
        angle = sigma * lengths[i] / speed
        c, h = np.cosh(angle), np.sinh(angle)
        z = DENSITY * speed / areas[i]
        pressure, flow = c * pressure + z * gamma * h * flow, h / (z * gamma) * pressure + c * flow
    return flow


@njit(cache=True)
def _standing(frequency: float, areas: Array, lengths: Array, speed: float) -> float:
    """Return what is zero at a resonance of a lossless tube with an ideal open end (all quantities real)."""
    pressure, flow = 0.0, 1.0
    for i in range(areas.size - 1, -1, -1):
        angle = 2 * np.pi * frequency * lengths[i] / speed
        c, h = np.cos(angle), np.sin(angle)
        pressure, flow = c * pressure + h / areas[i] * flow, -h * areas[i] * pressure + c * flow
    return flow


@njit(cache=True)
def _lossless(areas: Array, lengths: Array, speed: float, count: int, highest: float) -> Array:
    """Return the first resonances (Hz) of a lossless tube with an ideal open end, to 1e-6 Hz by bisection."""
    found = np.full(count, np.nan)
    step = 20.0
    number = 0
    low = 1.0
    before = _standing(low, areas, lengths, speed)
    while number < count and low < highest:
        high = low + step
        after = _standing(high, areas, lengths, speed)
        if before * after < 0:
            a, b, fa = low, high, before
            for _ in range(26):
                middle = 0.5 * (a + b)
                fm = _standing(middle, areas, lengths, speed)
                if fa * fm <= 0:
                    b = middle
                else:
                    a, fa = middle, fm
            found[number] = 0.5 * (a + b)
            number += 1
        low, before = high, after
    return found


@njit(cache=True)
def _grown(start: float, areas: Array, lengths: Array, speed: float, walls: float, load: float, steps: int) -> complex:
    """Follow one lossless resonance (Hz) into the complex plane in so many steps, by secants; NaN if it is lost."""
    s = complex(-10.0, 2 * np.pi * start)
    for j in range(1, steps + 1):
        share = j / steps
        previous = s * (1.0 + 1e-4)
        f0 = _denominator(previous, areas, lengths, speed, walls * share, load * share)
        found = False
        for _ in range(40):
            f1 = _denominator(s, areas, lengths, speed, walls * share, load * share)
            if f1 == f0:
                break
            following = s - f1 * (s - previous) / (f1 - f0)
            previous, f0, s = s, f1, following
            found = abs(s - previous) < 1e-3
            if found:
                break
        if not found:
            s = complex(np.nan, np.nan)  # the secants have lost their way: no number
    return s


@njit(cache=True)
def _follow(start: Array, areas: Array, lengths: Array, speed: float, walls: float, load: float) -> Array:
    """Follow each lossless resonance while walls and radiation are turned on: frequencies and bandwidths (Hz)."""
    out = np.full((2, start.size), np.nan)
    zeros = np.full(start.size, complex(np.nan, np.nan))
    for k in range(start.size):
        if np.isnan(start[k]):
            continue
        zeros[k] = _grown(start[k], areas, lengths, speed, walls, load, 3)
        if k > 0 and abs(zeros[k] - zeros[k - 1]) < 1.0:  # two ran into one zero: both again, in smaller steps
            for again in (k - 1, k):
                zeros[again] = _grown(start[again], areas, lengths, speed, walls, load, 48)
            if abs(zeros[k] - zeros[k - 1]) < 1.0:
                zeros[k] = complex(np.nan, np.nan)  # one zero is one formant
        # the air at the lips lowers a resonance: if the last one rose, it may be the next one's zero
        elif k == start.size - 1 and zeros[k].imag > 2 * np.pi * (start[k] + 20.0):
            zeros[k] = _grown(start[k], areas, lengths, speed, walls, load, 48)
    for k in range(start.size):
        out[0, k], out[1, k] = zeros[k].imag / (2 * np.pi), -zeros[k].real / np.pi
    return out


_SECTIONS = checks.array(low=1e-4, high=1e5)
_TUBE = checks.each(checks.number(1e-4, 1e5), least=2)


@dataclass(frozen=True)
class Resonances:
    """Formants of a tube: frequencies and bandwidths, Hz, each of shape (count,).

    Attributes
    ----------
    frequencies, bandwidths : ndarray of float, shape (count,)
        Hz.

    Examples
    --------
    >>> Resonances(np.array([500.0]), np.array([60.0])).frequencies.tolist()
    [500.0]
    """

    frequencies: Array
    bandwidths: Array


def _check(areas: Sequence[float] | Array, lengths: Sequence[float] | Array) -> tuple[Array, Array]:
    a, d = np.ascontiguousarray(areas, dtype=float), np.ascontiguousarray(lengths, dtype=float)
    if a.ndim != 1 or a.shape != d.shape or a.size == 0:
        raise ValueError("areas and lengths must be two rows of equal length, glottis first")
    if not (np.isfinite(a).all() and np.isfinite(d).all() and (a > 0).all() and (d > 0).all()):
        raise ValueError("areas and lengths must be positive numbers (cm^2, cm); a closed tract has no formants")
    return a, d


@checks.takes(areas=_SECTIONS, lengths=_SECTIONS, count=checks.whole(1, 100), speed=checks.number(1e3, 1e7))
def resonances(
    areas: Sequence[float] | Array,
    lengths: Sequence[float] | Array,
    *,
    walls: bool = True,
    radiation: bool = True,
    count: int = 4,
    speed: float = SPEED,
) -> Resonances:
    """Return the first formants of a row of cylinders, closed at the glottis.

    Parameters
    ----------
    areas, lengths : array_like of float
        cm^2 and cm of each cylinder, glottis first.
    walls : bool
        Yielding walls, friction and heat; without them and radiation the bandwidths are zero.
    radiation : bool
        Radiation from the lips; ``False`` for an ideal open end.
    count : int
        How many.
    speed : float
        Speed of sound, cm/s.

    Returns
    -------
    Resonances

    Raises
    ------
    ValueError
        For areas or lengths that are not positive.

    Examples
    --------
    >>> resonances([4.0], [17.65], walls=False, radiation=False, count=2).frequencies.round(3).tolist()
    [500.0, 1500.0]
    """
    a, d = _check(areas, lengths)
    start = _lossless(a, d, speed, count, 12_000.0)
    if not walls and not radiation:
        return Resonances(start, np.zeros(count))
    f, b = _follow(start, a, d, speed, float(walls), float(radiation))
    return Resonances(f, b)


@checks.takes(areas=_SECTIONS, lengths=_SECTIONS, frequencies=checks.array(low=0.0, high=1e5))
def response(
    areas: Sequence[float] | Array,
    lengths: Sequence[float] | Array,
    frequencies: Array,
    *,
    walls: bool = True,
    radiation: bool = True,
) -> Array:
    """Return the gain from glottal flow to lip flow, dB, at some frequencies (Hz).

    Parameters
    ----------
    areas, lengths : array_like of float, shape (n,)
        cm^2 and cm of each cylinder, glottis first.
    frequencies : array_like of float, shape (m,)
        Hz.
    walls, radiation : bool
        As in `resonances`.

    Returns
    -------
    ndarray of float, shape (m,)
        dB.

    Examples
    --------
    >>> gain = response([4.0], [17.65], np.array([100.0, 500.0, 1000.0]))
    >>> int(np.argmax(gain))
    1
    """
    a, d = _check(areas, lengths)
    s = 2j * np.pi * np.asarray(frequencies)
    each = s if COMPILED else [s]  # without a compiler all at once
    gain = [np.abs(_denominator(point, a, d, SPEED, float(walls), float(radiation))) for point in each]
    return np.asarray(-20 * np.log10(np.array(gain))).reshape(s.shape)


@checks.takes(length=checks.number(0.01, 1e5), count=checks.whole(1, 10**6), speed=checks.number(1e3, 1e7))
def uniform(length: float, count: int = 4, speed: float = SPEED) -> Array:
    """Return the analytic resonances of a uniform tube, closed at one end: (2 n - 1) c / (4 L), Hz.

    Parameters
    ----------
    length : float
        cm.
    count : int
        How many.
    speed : float
        Speed of sound, cm/s.

    Returns
    -------
    ndarray of float, shape (count,)
        Hz, equation ``eq-pharyngeal-uniform``.

    Examples
    --------
    >>> uniform(17.65, 3).round(9).tolist()
    [500.0, 1500.0, 2500.0]
    """
    return np.asarray((2 * np.arange(1, count + 1) - 1) * speed / (4 * length))


@checks.takes(back=_TUBE, front=_TUBE, count=checks.whole(1, 100), speed=checks.number(1e3, 1e7))
def two_tube(back: tuple[float, float], front: tuple[float, float], count: int = 4, speed: float = SPEED) -> Array:
    """Return the analytic resonances of two joined tubes (area cm^2, length cm each), Hz.

    They solve A_front cos(k L_b) cos(k L_f) = A_back sin(k L_b) sin(k L_f); the roots are found by Brent's method.

    Parameters
    ----------
    back, front : (float, float)
        Area (cm^2) and length (cm).
    count : int
        How many.
    speed : float
        Speed of sound, cm/s.

    Returns
    -------
    ndarray of float, shape (count,)
        Hz, equation ``eq-pharyngeal-two-tube``.

    Examples
    --------
    Equal areas make one uniform tube.

    >>> two_tube((4.0, 10.0), (4.0, 7.65), 2).round(3).tolist()
    [500.0, 1500.0]
    """
    from scipy.optimize import brentq

    (ab, lb), (af, lf) = back, front

    def balance(f: float) -> float:
        k = 2 * np.pi * f / speed
        return float(af * np.cos(k * lb) * np.cos(k * lf) - ab * np.sin(k * lb) * np.sin(k * lf))

    grid = np.arange(1.0, 12_000.0, 5.0)
    values = np.array([balance(float(f)) for f in grid])
    change = np.flatnonzero(values[:-1] * values[1:] < 0)[:count]
    return np.array([brentq(balance, grid[i], grid[i + 1], xtol=1e-9) for i in change])


def praat_tract(phone: str) -> tuple[Array, Array, Array]:
    """Return Praat's own vocal tract of a vowel: areas (cm^2, glottis first), lengths (cm), formants (Hz).

    Its formants are the peaks of Praat's own spectrum of that tract, with radiation and internal damping.

    Parameters
    ----------
    phone : str
        One of Praat's vowels: a, e, i, o, u.

    Returns
    -------
    areas, lengths : ndarray of float, shape (n,)
        cm^2 and cm, glottis first.
    formants : ndarray of float, shape (4,)
        Hz.

    Examples
    --------
    >>> areas, lengths, formants = praat_tract("a")
    >>> areas.shape == lengths.shape, bool(600 < formants[0] < 750)
    (True, True)
    """
    with needed():
        from parselmouth.praat import call

    tract = call("Create Vocal Tract from phone", phone)
    matrix = call(tract, "To Matrix")
    areas = np.asarray(matrix.values[0], dtype=float) * 1e4
    spectrum = call(tract, "To Spectrum", 8192, 5000.0, 0.1, "yes", "yes")
    power = np.sum(np.asarray(spectrum.values) ** 2, axis=0)
    level = np.log(power + 1e-300)
    peak = np.flatnonzero((level[1:-1] > level[:-2]) & (level[1:-1] >= level[2:])) + 1
    return areas, np.full(areas.size, matrix.dx * 100), np.asarray(peak[:4] * spectrum.dx, dtype=float)

"""The tract and the trackers to read: chain matrix, Burg, grid, key frames.

Nothing here is clever. Each function is one thought of its chapter and is
woven into it. `voicewire.pharyngeal.tube`, `formants` and `keyframes` compute
the same.
Lengths are in cm, areas in cm^2, frequencies and bandwidths in Hz; s is a
complex frequency in rad/s, 2 pi j f for a steady tone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

# fmt: off (lines as short as the page of the book is wide)

__all__ = [
    "COARSE",
    "DENSITY",
    "RIDGE",
    "SPEED",
    "WALL_0",
    "WALL_A",
    "WALL_B",
    "WALL_C",
    "approach",
    "autocorrelation",
    "bisect",
    "burg",
    "carried",
    "cosines",
    "crossing",
    "described",
    "emphasised",
    "flow_ratio",
    "formant",
    "frame_window",
    "levinson",
    "lip_load",
    "poles",
    "resonances",
    "secant",
    "section",
    "track",
    "wave",
]

Array = NDArray[Any]

SPEED = 35_300.0  # c in cm/s: moist air at body temperature
DENSITY = 1.14e-3  # rho in g/cm^3
WALL_A = 130.0 * np.pi  # rad/s: resistance of the wall over its mass
WALL_B = (30.0 * np.pi) ** 2  # (rad/s)^2: resonance of the wall, squared
WALL_C = 4.0  # rad/s: heat and friction
WALL_0 = (406.0 * np.pi) ** 2  # (rad/s)^2: lowest one of a closed tract


def wave(s: complex, walls: float = 1.0) -> tuple[complex, complex]:
    """Propagation sigma (1/s) and wall term gamma at s."""
    alpha = np.sqrt(s * WALL_C) * walls
    wall = s * WALL_0 / ((s + WALL_A) * s + WALL_B)
    beta = wall * walls + alpha
    gamma = np.sqrt((alpha + s) / (beta + s))
    return gamma * (beta + s), gamma


def section(
    area: float, length: float, sigma: complex, gamma: complex
) -> Array:
    """Chain matrix of one cylinder: front pressure and flow to back."""
    angle = sigma * length / SPEED
    c, h = np.cosh(angle), np.sinh(angle)
    z = DENSITY * SPEED / area * gamma
    return np.array([[c, z * h], [h / z, c]])


def lip_load(s: complex, area: float) -> complex:
    """Impedance of radiation: a resistance beside a mass of air."""
    R = 128 * DENSITY * SPEED / (9 * np.pi**2 * area)
    M = 8 * DENSITY / (3 * np.pi * np.sqrt(np.pi * area))
    return s * M * R / (R + s * M)


def flow_ratio(
    s: complex, areas: Array, lengths: Array, walls: float, load: float
) -> complex:
    """Flow at the glottis over flow at the lips: zero at a formant."""
    sigma, gamma = wave(s, walls)
    tract = np.eye(2)
    for area, length in zip(areas, lengths, strict=True):
        tract = tract @ section(area, length, sigma, gamma)
    pressure = load * lip_load(s, areas[-1])  # for a flow of 1
    return complex((tract @ [pressure, 1.0])[1])


def bisect(f: Callable[[float], float], low: float, high: float) -> float:
    """Where f changes its sign between low and high."""
    for _ in range(26):
        middle = (low + high) / 2
        if f(low) * f(middle) <= 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def resonances(areas: Array, lengths: Array, count: int = 4) -> Array:
    """Resonances of a hard tract with an open end, Hz."""
    def ratio(f: float) -> float:
        return flow_ratio(2j * np.pi * f, areas, lengths, 0, 0).real

    found: list[float] = []
    low = 1.0
    while len(found) < count:
        if ratio(low) * ratio(low + 20) < 0:
            found.append(bisect(ratio, low, low + 20))
        low += 20
    return np.array(found)


def secant(f: Callable[[complex], complex], s: complex) -> complex:
    """A zero of f near s, by straight lines through two points."""
    before = s * (1 + 1e-4)
    f_before, f_s = f(before), f(s)
    for _ in range(40):
        if f_s == f_before:
            break
        step = f_s * (s - before) / (f_s - f_before)
        before, f_before, s = s, f_s, s - step
        if abs(step) < 1e-3:
            return s
        f_s = f(s)
    return complex(np.nan, np.nan)  # it has lost its way


def formant(
    resonance: float, areas: Array, lengths: Array
) -> tuple[float, float]:
    """Frequency and bandwidth (Hz) that grow out of a resonance."""
    s = complex(-10, 2 * np.pi * resonance)
    for share in (1 / 3, 2 / 3, 1):  # walls and radiation, step by step

        def ratio(s: complex, share: float = share) -> complex:
            return flow_ratio(s, areas, lengths, share, share)

        s = secant(ratio, s)
    return s.imag / (2 * np.pi), -s.real / np.pi


def poles(a: Array, rate: float) -> tuple[Array, Array]:
    """Frequencies and bandwidths (Hz) of the resonances in a."""
    z = np.roots(a)
    z = z[z.imag > 0]
    F = np.angle(z) * rate / (2 * np.pi)
    B = -np.log(np.abs(z)) * rate / np.pi
    order = np.argsort(F)
    return F[order], B[order]


def autocorrelation(x: Array, p: int) -> Array:
    """How much x resembles itself 0 to p samples later."""
    return np.array([x[: x.size - k] @ x[k:] for k in range(p + 1)])


def levinson(r: Array) -> tuple[Array, float]:
    """Coefficients of prediction and the energy left, from r.

    Notes
    -----
    Equation ``eq-foundations-levinson``.
    """
    r = np.asarray(r)
    a, E = np.array([1.0]), r[0]
    for m in range(1, r.size):
        k = -(a @ r[m:0:-1]) / E
        a = np.append(a, 0) + k * np.append(0, a[::-1])
        E = E * (1 - k * k)
    return a, E


def emphasised(x: Array, rate: float, corner: float = 50.0) -> Array:
    """x with its high frequencies raised by 6 dB an octave."""
    share = np.exp(-2 * np.pi * corner / rate)
    return np.append(x[0], x[1:] - share * x[:-1])


def burg(x: Array, p: int) -> Array:
    """Coefficients of prediction straight from the samples."""
    a, forward, back = np.array([1.0]), x[1:], x[:-1]
    for _ in range(p):
        energy = forward @ forward + back @ back
        k = -2 * (forward @ back) / energy
        a = np.append(a, 0) + k * np.append(0, a[::-1])
        both = forward + k * back, back + k * forward
        forward, back = both[0][1:], both[1][:-1]
    return a


def frame_window(n: int) -> Array:
    """A Gaussian of n samples that has fallen to nothing at both ends."""
    t = np.linspace(-1, 1, n)
    return (np.exp(-12 * t * t) - np.exp(-12)) / (1 - np.exp(-12))


def track(
    x: Array, rate: float, window: float = 0.05, step: float = 0.005
) -> Iterable[tuple[float, Array, Array]]:
    """Times (s), frequencies and bandwidths (Hz), frame by frame."""
    x, n = emphasised(x, rate), round(window * rate)
    hop, p = max(1, round(step * rate)), 2 + round(rate / 1000)
    for start in range(0, x.size - n + 1, hop):
        frame = x[start : start + n] * frame_window(n)
        if np.sqrt(np.mean(frame**2)) > 1e-6:  # else silence
            yield (start + n / 2) / rate, *poles(burg(frame, p), rate)


def approach(times: Array, values: Array, taus: Array) -> tuple[float, ...]:
    """The exponential that fits a formant's way into a vowel best."""
    best = (np.inf, 0.0, 0.0, 0.0)
    for tau in taus:
        fall = np.exp(-np.asarray(times) / tau)
        line = np.column_stack([np.ones(len(fall)), fall])
        (target, extent), *_ = np.linalg.lstsq(line, values, rcond=None)
        left = np.sum((line @ [target, extent] - values) ** 2)
        if left < best[0]:
            best = (left, target + extent, target, tau)
    return tuple(float(x) for x in best[1:])


def crossing(foot: Array, way: Array, a: Array, b: Array) -> float:
    """How far along a line of the grid it meets a piece of contour."""
    ends = np.subtract(b, a)
    sides = np.column_stack([way, -ends])
    if abs(np.linalg.det(sides)) <= 1e-12:
        return np.inf  # side by side
    reach, share = np.linalg.solve(sides, np.subtract(a, foot))
    meets = 0 <= share <= 1 and reach >= -1e-9
    return max(float(reach), 0.0) if meets else np.inf


COARSE = 12  # cosines that describe a picture in either direction
RIDGE = 1e-3  # share of the key frames' spread that is taken for noise


def cosines(length: int, count: int) -> Array:
    """The slowest cosines that fit a row of pixels, orthonormal."""
    pixel = np.arange(length) + 0.5
    turns = np.arange(count)[:, None] / length
    rows = np.sqrt(2 / length) * np.cos(np.pi * turns * pixel)
    rows[0] /= np.sqrt(2)
    return rows


def described(picture: Array) -> Array:
    """A picture by its slow waves, without brightness and its slopes."""
    height, width = picture.shape
    waves = cosines(height, COARSE) @ picture @ cosines(width, COARSE).T
    kept = [
        waves[i, j]
        for i in range(COARSE)
        for j in range(COARSE)
        if i + j > 1  # exposure differs from frame to frame
    ]
    return np.array(kept)


def carried(seen: Array, drawn: Array, new: Array) -> Array:
    """The contour of a new frame, from contours traced on key frames."""
    middle = seen.mean(axis=0)
    apart = seen - middle
    alike = apart @ apart.T  # how alike two key frames are
    noise = RIDGE * np.trace(alike)
    mixed = alike + noise * np.eye(len(seen))
    weights = np.linalg.solve(mixed, apart @ (new - middle))
    mean = drawn.mean(axis=0)
    return np.asarray(mean + weights @ (drawn - mean))

"""What the lab of *Data reuse on trial* compares with: right, and usual mistakes as options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.echo.reference import dr_rls_step, rls_gain

Array = NDArray[Any]
Run = tuple[Array, Array, Array, int]
SPAN = 100  # samples before the change over which the floor is averaged


def reuse(
    h: Array, P: Array, window: Array, d_n: float, lam: float, N_it: int, *, sign: float = -1.0, anew: bool = False
) -> tuple[Array, Array, float]:
    """A sample used again; `sign` (0 and 1 are slips) and `anew` (P at each pass) are right or a usual mistake."""
    k, P = rls_gain(P, window, lam)
    e = first = float(d_n - h @ window)
    for phi in range(N_it):
        if anew and phi:
            k, P = rls_gain(P, window, lam)
        change = k * e
        h, e = h + change, e + sign * float(change @ window)
    return h, P, first


def learned(
    x: Array, d: Array, L: int, lam: float, N_it: int, *, start: float = 1.0, before: bool = False, turned: bool = False
) -> Array:
    """Taps after each sample; `start`, `before` and `turned` are what is right and a usual mistake each."""
    h, window, P, rows = np.zeros(L), np.zeros(L), start * np.eye(L), []
    for x_n, d_n in zip(x, d, strict=True):
        window = np.append(x_n, window[:-1])
        rows.append(h)
        h, P, _ = dr_rls_step(h, P, window[::-1] if turned else window, d_n, lam, N_it)
        if not before:
            rows[-1] = h
    return np.array(rows)


def missed(taps: Array, paths: Array, *, factor: float = 20.0, by: str = "path") -> Array:
    """Misalignment of each row; `factor` and what is divided `by` are what is right and a usual mistake each."""
    off, own = np.linalg.norm(taps - paths, axis=1), np.linalg.norm(paths, axis=1)
    return np.asarray(factor * np.log10(off / (own if by == "path" else 1.0) if by != "turned" else own / off))


def back(
    decibels: Array, change: int, level: float,
    *,
    early: bool = False, whole: bool = False, strict: bool = False, late: bool = False,
) -> int:  # fmt: skip
    """Samples until it is down; `early`, `whole`, `strict` and `late` are usual mistakes."""
    for n in range(0 if early else change + late, len(decibels)):
        if decibels[n] < level or (decibels[n] == level and not strict):
            return n if whole else n - change
    return -1


def shorter(lam: float, N_it: int, L: int, *, kappa: float = 1.0, power: bool = False) -> float:
    """The shorter memory; `kappa` (none, or stereo's) and `power` are what is right and a usual mistake each."""
    share = kappa * L * (1 - lam)
    return lam**N_it if power else 1 - sum((1 - share) ** phi for phi in range(N_it)) * (1 - lam)


def interval(samples: Sequence[float], t: float, root: bool = True, ddof: int = 1) -> list[float]:
    mean, n = float(np.mean(samples)), len(samples)
    half = t * float(np.std(samples, ddof=ddof)) / (n**0.5 if root else 1.0)
    return [mean, mean - half, mean + half]


def trial(
    runs: Sequence[Run], L: int, lam: float, N_it: int, level: float, t: float,
    *,
    sign: float = 1.0, root: bool = True, same: bool = True, ddof: int = 1, power: bool = False,
) -> list[float]:  # fmt: skip
    """Reuse less the shorter memory; what may be chosen is right or a usual mistake, such as lam for both (`same`)."""
    floors, times = [], []
    for x, d, paths, change in runs:
        found = []
        for memory, passes in ((lam, N_it), (shorter(lam, N_it, L) if same else lam, 1)):
            levels = missed(learned(x, d, L, memory, passes), paths)
            before = levels[change - SPAN : change]
            floor = 10 * np.log10(np.mean(10 ** (before / 10))) if power else np.mean(before)
            found.append((float(floor), back(levels, change, level)))
        floors.append(sign * (found[0][0] - found[1][0]))
        times.append(sign * (found[0][1] - found[1][1]))
    return interval(floors, t, root, ddof) + interval(times, t, root, ddof)


def windows(seed: int, size: int = 5) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng([112, seed])
    X = rng.standard_normal((20, size))
    return rng.standard_normal(size), np.linalg.inv(X.T @ X), rng.standard_normal(size)

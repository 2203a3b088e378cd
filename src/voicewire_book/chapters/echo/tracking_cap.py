"""Whether tracking has a cap: a time with a floor, or one that falls with a power of the passes, for ever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar

from voicewire_book.chapters.echo.experiments import Rows, column

__all__ = ["floor_over_power", "six_passes", "without_cap"]

Real = NDArray[np.float64]
Times = Mapping[int, ArrayLike]


def six_passes(rows: Rows) -> dict[int, Real]:
    """Return the times to -15 dB with one to six passes, by seeds, of the one family that was recorded with all."""
    return {n: np.array(column(rows, "t15", family="decaying", alpha=0.4, reuse=n)) for n in range(1, 7)}


def _by_seed(times: Times) -> tuple[Real, Real]:
    """Return the numbers of passes, and a row of times for each seed."""
    return np.array(list(times), float), np.array([np.atleast_1d(row) for row in times.values()], float).T


def _with_floor(passes: Real, times: Real) -> Real:
    """Fit T_inf + c / N by least squares."""
    return np.asarray(np.polyval(np.polyfit(1 / passes, times, 1), 1 / passes))


def _with_power(passes: Real, times: Real) -> Real:
    """Fit a / N^b by least squares in the times: for each b the best a is known."""

    def fitted(b: float) -> Real:
        shape = passes**-b
        return np.asarray(shape * (shape @ times) / (shape @ shape))

    best = minimize_scalar(lambda b: np.sum((times - fitted(b)) ** 2), bounds=(0.0, 3.0), method="bounded")
    return fitted(float(best.x))


def _gain(passes: Real, times: Real) -> float:
    squares = [np.sum((times - fit(passes, times)) ** 2) for fit in (_with_power, _with_floor)]
    return float(10 * np.log10(squares[0] / squares[1]))


def floor_over_power(times: Times) -> Real:
    """Return by how many dB the sum of squared residuals is smaller with a floor than with a power, for each seed."""
    passes, by_seed = _by_seed(times)
    return np.array([_gain(passes, row) for row in by_seed])


def without_cap(times: Times, rng: np.random.Generator, runs: int = 200) -> list[Real]:
    """Return `floor_over_power` where there is no cap: each seed's power, with its residuals dealt out anew."""
    passes, by_seed = _by_seed(times)
    powers = np.array([_with_power(passes, row) for row in by_seed])
    return [
        np.array([_gain(passes, row) for row in _dealt(powers, by_seed - powers, rng)])
        for _ in range(runs)
    ]  # fmt: skip


def _dealt(curves: Real, residuals: Real, rng: np.random.Generator) -> Sequence[Real]:
    return list(curves + rng.permuted(residuals, axis=1))

"""The way of a formant from consonant to vowel: onset, target and time constant, from a track.

A formant leaves the consonant fast and comes to the vowel slowly; an exponential says so with three numbers.
`reference.approach` is the same fit to read. Explained in notebook ``02_formants``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from voicewire._kit import checks

__all__ = ["TAUS", "Transition", "fit"]

Array = NDArray[np.float64]

TAUS: Final = tuple(np.round(np.arange(0.005, 0.0805, 0.001), 3).tolist())
"""Time constants that are tried, s."""


@dataclass(frozen=True)
class Transition:
    """A formant's way into a vowel.

    Attributes
    ----------
    onset : float
        Hz at the consonant's release.
    target : float
        Hz that it comes to.
    tau : float
        Time constant, s.

    Examples
    --------
    >>> Transition(1800.0, 1400.0, 0.02).extent
    400.0
    """

    onset: float
    target: float
    tau: float

    @property
    def extent(self) -> float:
        """How far the onset lies from the target, Hz."""
        return self.onset - self.target


@checks.takes(times=checks.array(least=4, low=0.0, high=10.0), values=checks.array(least=4, low=0.0, high=1e5))
def fit(times: Array, values: Array) -> Transition:
    """Fit an exponential to a formant's way from consonant to vowel, by least squares over `TAUS`.

    Parameters
    ----------
    times : ndarray of float, shape (n,)
        s, from the consonant's release.
    values : ndarray of float, shape (n,)
        The formant, Hz.

    Returns
    -------
    Transition
        Equation ``eq-pharyngeal-transition``.

    Raises
    ------
    ValueError
        If the two differ in length, or all times are the same.

    Examples
    --------
    >>> times = np.linspace(0.0, 0.1, 30)
    >>> found = fit(times, 1200.0 + 600.0 * np.exp(-times / 0.02))
    >>> round(found.onset), round(found.target), found.tau
    (1800, 1200, 0.02)
    """
    if len(times) != len(values):
        raise ValueError(f"{len(times)} times and {len(values)} values: give one value a time")
    if np.ptp(times) == 0:
        raise ValueError("all times are the same: a transition takes some")
    falls = np.exp(-times[None] / np.array(TAUS)[:, None])
    middle = falls.mean(axis=1, keepdims=True)
    apart, rest = falls - middle, values - values.mean()
    extents = apart @ rest / (apart**2).sum(axis=1)
    left = ((extents[:, None] * apart - rest) ** 2).sum(axis=1)
    best = int(np.argmin(left))
    target = float(values.mean() - extents[best] * middle[best, 0])
    return Transition(target + float(extents[best]), target, TAUS[best])

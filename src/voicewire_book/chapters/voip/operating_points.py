"""Where Figures 5.1 to 5.6 are simulated: their delays and losses, and a curve over these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voicewire._kit import checks
from voicewire.voip import paper
from voicewire.voip.errors import VoipError

__all__ = ["DELAYS", "FIGURES", "LOSSES", "Curve"]

DELAYS = tuple(range(25, 401, 25))  # ms, section 5.1: 25 to 400
LOSSES = tuple(float(f"{p:.3g}") for p in np.geomspace(1e-4, 1e-2, 9))  # section 5.1, logarithmic

#: figure: (codec, what varies, the fixed parameter)
FIGURES: Mapping[str, tuple[str, str, float]] = {
    "5.1": ("G.729", "delay", 0.0),
    "5.2": ("G.711", "delay", 0.0),
    "5.3": ("G.729", "delay", paper.SMALL_LOSS),
    "5.4": ("G.711", "delay", paper.SMALL_LOSS),
    "5.5": ("G.729", "loss", paper.LOSS_DELAY_MS),
    "5.6": ("G.711", "loss", paper.LOSS_DELAY_MS),
}


@dataclass(frozen=True)
class Curve:
    """R against delay or loss for one transport.

    Attributes
    ----------
    x : delays in ms, or losses; shape (points,)
    r : shape (points, calls)
    """

    x: NDArray[np.float64]
    r: NDArray[np.float64]

    @property
    def median(self) -> NDArray[np.float64]:
        """Median over the calls; shape (points,)."""
        return np.median(self.r, axis=1)

    @property
    def quartiles(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper quartile over the calls; each of shape (points,)."""
        low, high = np.quantile(self.r, (0.25, 0.75), axis=1)
        return low, high

    @checks.takes(error=VoipError, x=checks.number())
    def at(self, x: float) -> NDArray[np.float64]:
        """R of every call at one point; shape (calls,)."""
        return self.r[int(np.argmin(np.abs(self.x - x)))]

"""A microphone's gain that moves, as by automatic gain control: found by what it explains, and followed."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["GainFollower"]

Samples = NDArray[np.float64]
_NEW: Final = 0.25  # share of the newest block of 16 ms in the averages
_BETTER: Final = 0.8  # share of what is left, below which a gain explains something
_SURE: Final = 0.7  # share of it, below which it is evidence
_ENOUGH: Final = 40  # blocks of evidence, more than those against it: 0.6 s
_LOUD: Final = 0.01  # of the mean power of the echo: else there is nothing to compare
_RANGE: Final = 1e-3, 1e3


class GainFollower:
    """Compares what is left with what would be left at another gain; silent until there is evidence."""

    def __init__(self) -> None:
        self.value = 1.0
        self.found = False
        self._evidence = 0
        self._products = np.zeros(3)  # of microphone and echo, echo with itself, what is left with itself
        self._mean = 0.0

    def watch(self, heard: Samples, left: Samples) -> float:
        """Take a block in; by how much the gain is larger than it was taken for, 0 where that explains nothing."""
        echo = heard - left
        new = np.array([np.vdot(left, echo), np.vdot(echo, echo), np.vdot(left, left)])
        self._products += _NEW * (new - self._products)
        self._mean += 0.005 * (float(new[1]) - self._mean)
        both, power, rest = self._products.tolist()
        if power <= _LOUD * self._mean or power <= 0 or rest <= 0:
            return 0.0
        more = both / power
        then = 1 - more * both / rest  # share of the rest that is left at that gain
        evidence = then < _SURE and abs(more) < 0.9
        self._evidence = min(_ENOUGH, max(0, self._evidence + (1 if evidence else -1)))
        self.found = self.found or self._evidence >= _ENOUGH
        return more if then < _BETTER and -0.9 < more < 9 else 0.0

    def follow(self, heard: Samples, left: Samples) -> Samples:
        """Take a block in and set the gain by it; what is left of the block at that gain."""
        more = self.watch(heard, left)
        if not more:
            return left
        self.value = float(np.clip(self.value * (1 + more), *_RANGE))
        both, power, rest = self._products.tolist()  # as they would be, had the gain been this one
        self._products[0] = (both - more * power) / (1 + more)
        self._products[2] = (rest - 2 * more * both + more**2 * power) / (1 + more) ** 2
        return np.asarray(left - more * (heard - left))

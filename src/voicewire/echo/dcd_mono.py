"""The study's filter for one loudspeaker and one microphone, with the numbers of `WLDRRLSDCD` in less time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire._kit._compiled import COMPILED
from voicewire.echo.dcd import WLDRRLSDCD

if COMPILED:
    from voicewire.echo import _kernel_mono as kernel

__all__ = ["MonoDCD"]


class MonoDCD:
    """What a `WLDRRLSDCD` gives for real x and d; `widen` hands over to that one when they no longer are."""

    def __init__(self, wide: WLDRRLSDCD) -> None:
        self.length, self.dtype, self.regularization = wide.length, wide.dtype, wide.regularization
        self._settings = wide._settings._replace(row=kernel.row_size(wide.length, wide.dtype))
        self._state = kernel.fresh(self.length, self.regularization, self.dtype)

    def process(self, x: NDArray[Any], d: NDArray[Any]) -> NDArray[Any]:
        """Adapt over checked real samples; the a priori errors."""
        errors = np.empty(x.size, self.dtype)
        kernel.run(x, d, errors, self._state, self._settings)
        return errors

    @property
    def paths(self) -> NDArray[np.float64]:
        """Taps from left to left, and what the widely linear form holds for those from right to right, (2, L)."""
        return self._state.h.reshape(2, -1)[:, : self.length].astype(np.float64)

    @paths.setter
    def paths(self, value: NDArray[np.float64]) -> None:
        """Go on from other taps, as by `WLDRRLSDCD.taps`."""
        self._state.h.reshape(2, -1)[:, : self.length] = value
        self._state.r[:] = 0

    def begin_anew(self) -> None:
        """Forget all samples; only the taps stay."""
        paths = self.paths
        self._state = kernel.fresh(self.length, self.regularization, self.dtype)
        self.paths = paths

    def widen(self, wide: WLDRRLSDCD) -> None:
        """Bring a filter of the same settings to this one's state."""
        kernel.widened(self._state, wide._settings, wide._state)

"""WL-DR-RLS-DCD at the pace of its reading version: the oracle of the fast filter, and what runs without a compiler.

It goes by `voicewire.echo.reference`, with R a full 2L x 2L matrix that moves at each sample: about 5 thousand samples
a second at L = 128. `voicewire.echo.WLDRRLSDCD` gives the same taps some hundred times as fast.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from voicewire.echo import paper_tables, reference
from voicewire.echo.adaptive_filter import AdaptiveFilter, positive, whole

__all__ = ["WLDRRLSDCD"]

Variant = Literal["repaired", "eq12-plus", "eq13-e0", "both"]
_LEFT_IN = {"eq12-plus": ["plus"], "eq13-e0": ["e_0"], "both": ["plus", "e_0"]}


class WLDRRLSDCD(AdaptiveFilter):
    """WL-DR-RLS-DCD as printed in Table II, with the misprints repaired or, for demonstration, left in."""

    def __init__(
        self,
        length: int,
        forgetting: float,
        data_reuse: int = 1,
        updates: int = 4,
        bits: int = 16,
        amplitude: float = 1.0,
        regularization: float = 1.0,
        dtype: DTypeLike = np.float64,
        variant: Variant = "repaired",
    ) -> None:
        super().__init__(length, dtype)
        if self.dtype != np.float64:
            raise ValueError("the reading version computes in float64 only")
        if variant not in ("repaired", "eq12-plus", "eq13-e0", "both"):
            raise ValueError(f"unknown variant {variant!r}: repaired, eq12-plus, eq13-e0 or both")
        self.forgetting = positive("forgetting", forgetting, 1.0)
        self.data_reuse = whole("data_reuse", data_reuse, 1)
        self.updates = whole("updates", updates, 1)
        self.bits = whole("bits", bits, 1, 30)
        self.amplitude = positive("amplitude", amplitude)
        self.variant = variant
        self.g = np.zeros(2 * self.length, complex)
        self.r = np.zeros(2 * self.length, complex)
        self.R = positive("regularization", regularization) * np.eye(2 * self.length, dtype=complex)
        self.window = np.zeros(2 * self.length, complex)

    @property
    def taps(self) -> NDArray[np.complex128]:
        """The 2L interleaved complex taps: even entries for x, odd ones for x*."""
        return self.g.copy()

    def _run(self, x: NDArray[Any], d: NDArray[Any]) -> NDArray[Any]:
        return np.array([self._step(x_n, d_n) for x_n, d_n in zip(x, d, strict=True)], complex)

    def _step(self, x_n: complex, d_n: complex) -> complex:
        """Table II for one sample."""
        self.window[:] = reference.shifted(self.window, x_n)
        if not self.window.any():  # silence: nothing to learn from
            return d_n
        self.R[:] = reference.next_matrix(self.R, self.window, self.forgetting)
        step = reference.reuse_step if self.variant == "repaired" else self._printed_step
        self.g[:], self.r[:], error = step(
            self.g, self.r, self.R, self.window, d_n,
            self.forgetting, self.data_reuse, N_u=self.updates, M_b=self.bits, H=self.amplitude,
        )  # fmt: skip
        return error

    def _printed_step(
        self, g: Any, r: Any, R: Any, window: Any, d_n: complex, lam: float, N_it: int, **search: Any
    ) -> tuple[Any, Any, complex]:
        """`reference.reuse_step` with one of the paper's misprints left in, or two."""
        kept = paper_tables.Memory(g, r, np.zeros_like(g), window, R)
        for kept.phi in range(N_it):
            paper_tables.one_pass(kept, d_n, lam, _LEFT_IN[self.variant], **search)
        return kept.g, kept.r, kept.e_0

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {"g": self.g, "r": self.r, "R": self.R, "window": self.window}

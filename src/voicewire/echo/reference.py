"""The algorithm straight from Tables I and II: for reading, and the oracle that the fast version is held to.

Nothing here is clever: R is a full 2L x 2L matrix and is moved at each sample, about 5 thousand samples a second at
L = 128. `voicewire.echo.WLDRRLSDCD` gives the same taps some hundred times as fast. Notebook 02 walks through it.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .family import AdaptiveFilter, positive, whole

Variant = Literal["repaired", "eq12-plus", "eq13-e0"]


def times(a: complex, v: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """a*v with each product rounded by itself: NumPy's own may fuse them, on some machines only."""
    return (a.real * v.real - a.imag * v.imag) + 1j * (a.real * v.imag + a.imag * v.real)


def leading(r: NDArray[np.complex128]) -> tuple[int, complex, float]:
    """The leading element of r: its index, the unit (1 or j) of its larger component, and that component."""
    p = int(np.argmax(np.maximum(np.abs(r.real), np.abs(r.imag))))
    if abs(r[p].real) >= abs(r[p].imag):
        return p, 1.0 + 0.0j, float(r[p].real)
    return p, 1.0j, float(r[p].imag)


class WLDRRLSDCD(AdaptiveFilter):
    """WL-DR-RLS-DCD as printed in Table II, with the misprints repaired or, for demonstration, left in.

    Parameters
    ----------
    length, forgetting, data_reuse, updates, bits, amplitude, regularization
        As in `voicewire.echo.WLDRRLSDCD`.
    variant : {"repaired", "eq12-plus", "eq13-e0"}
        "eq12-plus": equation (12) with its printed plus; "eq13-e0": equation (13) with its printed e_0.
    """

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
        if variant not in ("repaired", "eq12-plus", "eq13-e0"):
            raise ValueError(f"unknown variant {variant!r}: repaired, eq12-plus or eq13-e0")
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
        return np.array([self._step(complex(x_n), complex(d_n)) for x_n, d_n in zip(x, d, strict=True)], complex)

    def _step(self, x_n: complex, d_n: complex) -> complex:
        """Table II for one sample."""
        self._move(x_n)
        if not self.window.any():  # silence: nothing to learn from
            return d_n
        error = first = d_n - complex(np.vdot(self.g, self.window))
        for phi in range(self.data_reuse):
            used = first if self.variant == "eq13-e0" else error
            kept = self.forgetting * self.r if phi == 0 else self.r
            self.r = kept + times(used.conjugate(), self.window)
            change = self._descend()
            gain = complex(np.vdot(change, self.window))
            error = error + gain if self.variant == "eq12-plus" else error - gain
        return first

    def _move(self, x_n: complex) -> None:
        """Steps 1 and 2: the window and R move by one sample (two rows), the first two columns are updated."""
        self.window[2:] = self.window[:-2].copy()
        self.window[:2] = x_n, x_n.conjugate()
        if not self.window.any():
            return
        columns = self.forgetting * self.R[:, :2]
        for j in range(2):
            columns[:, j] += times(complex(self.window[j]).conjugate(), self.window)
        self.R[2:, 2:] = self.R[:-2, :-2].copy()
        self.R[:, :2] = columns
        self.R[:2, :] = columns.conj().T

    def _descend(self) -> NDArray[np.complex128]:
        """Step 6: the complex leading-element DCD; changes r and g, returns the change of g."""
        change = np.zeros_like(self.g)
        alpha, m = self.amplitude / 2, 1
        for _ in range(self.updates):
            p, unit, value = leading(self.r)
            while m <= self.bits and abs(value) <= alpha / 2 * self.R[p, p].real:
                alpha, m = alpha / 2, m + 1
            if m > self.bits:
                break
            step = np.sign(value) * alpha * unit
            change[p] += step
            self.r = self.r - step * self.R[:, p]
        self.g = self.g + change
        return change

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {"g": self.g, "r": self.r, "R": self.R, "window": self.window}

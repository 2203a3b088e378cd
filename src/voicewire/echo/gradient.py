"""The stochastic-gradient family: widely linear NLMS and affine projections (notebook 01), four real filters (02)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from voicewire._kit._compiled import COMPILED, njit
from voicewire.echo import multichannel_filters, reference
from voicewire.echo.adaptive_filter import AdaptiveFilter, positive, whole
from voicewire.echo.widely_linear import Responses, complex_taps

__all__ = ["WLAPA", "WLNLMS", "StereoNLMS"]


@njit(cache=True, error_model="numpy")
def _project(x: Any, d: Any, e: Any, g: Any, history: Any, wanted: Any, step: Any, floor: Any) -> None:
    """g += step X (X^H X + floor I)^-1 (d - X^H g)^*, with the last `order` windows as columns of X."""
    order = wanted.size
    gram = np.zeros((order, order), g.dtype)
    errors = np.zeros(order, g.dtype)
    for n in range(x.size):
        history[2:] = history[:-2].copy()
        history[0] = x[n]
        history[1] = np.conj(x[n])
        wanted[1:] = wanted[:-1].copy()
        wanted[0] = d[n]
        for a in range(order):
            one = history[2 * a : 2 * a + g.size]
            errors[a] = wanted[a] - np.sum(np.conj(g) * one)
            for b in range(a + 1):
                other = history[2 * b : 2 * b + g.size]
                gram[a, b] = np.sum(np.conj(one) * other)
                gram[b, a] = np.conj(gram[a, b])
            gram[a, a] += floor
        e[n] = errors[0]
        weights = np.conj(errors)
        for a in range(order):  # the Gram matrix is positive definite: elimination needs no pivots
            for b in range(a + 1, order):
                ratio = gram[b, a] / gram[a, a]
                gram[b] -= ratio * gram[a]
                weights[b] -= ratio * weights[a]
        for a in range(order - 1, -1, -1):
            for b in range(a + 1, order):
                weights[a] -= gram[a, b] * weights[b]
            weights[a] /= gram[a, a]
            g += step * weights[a] * history[2 * a : 2 * a + g.size]


class WLAPA(AdaptiveFilter):
    """Widely linear affine projection: steps towards the hyperplanes of the last `order` samples.

    Parameters
    ----------
    length : int
        Taps of each echo path, L.
    order : int
        Number of projections.
    step : float
        Step size, 0 < step <= 2.
    regularization : float
        Added to the diagonal of X^H X.
    dtype : dtype
        float64 or float32.

    Examples
    --------
    >>> WLAPA(4, order=3).update(1 + 1j, 2 + 0j)
    (2+0j)
    """

    def __init__(
        self,
        length: int,
        order: int = 2,
        step: float = 0.5,
        regularization: float = 1e-3,
        dtype: DTypeLike = np.float64,
    ) -> None:
        super().__init__(length, dtype)
        self.order = whole("order", order, 1)
        self.step = positive("step", step, 2.0)
        self.regularization = positive("regularization", regularization)
        kind = np.result_type(self.dtype, np.complex64)
        self._g = np.zeros(2 * self.length, kind)
        self._history = np.zeros(2 * (self.length + self.order - 1), kind)
        self._wanted = np.zeros(self.order, kind)

    def _run(self, x: NDArray[Any], d: NDArray[Any]) -> NDArray[Any]:
        errors = np.empty_like(x)
        real: Any = self.dtype.type
        if not COMPILED:
            self._run_plain(x, d, errors)
            return errors
        state = self._g, self._history, self._wanted
        _project(x, d, errors, *state, real(self.step), real(self.regularization))
        return errors

    def _run_plain(self, x: NDArray[Any], d: NDArray[Any], errors: NDArray[Any]) -> None:
        """By the reading version: NumPy's products are faster than uncompiled loops."""
        size = self._g.size
        for n in range(x.size):
            self._history[:] = reference.shifted(self._history, x[n])
            self._wanted[:] = np.append(d[n], self._wanted[:-1])
            X = np.column_stack([self._history[2 * a : 2 * a + size] for a in range(self.order)])
            step = reference.apa_step(self._g, X, self._wanted, self.step, self.regularization)
            self._g[:], errors[n] = step

    @property
    def taps(self) -> NDArray[np.complex128]:
        """The 2L interleaved complex taps: even entries for x, odd ones for x*."""
        return self._g.astype(complex)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {"g": self._g, "history": self._history, "wanted": self._wanted}


class WLNLMS(WLAPA):
    """Widely linear normalised LMS: the affine projection of order 1.

    Parameters
    ----------
    length : int
        Taps of each echo path, L.
    step : float
        Step size, 0 < step <= 2.
    regularization : float
        Added to the energy of the window.
    dtype : dtype
        float64 or float32.

    Examples
    --------
    >>> filter_ = WLNLMS(1, step=1.0, regularization=1e-12)
    >>> filter_.update(2 + 1j, 10 + 0j)
    (10+0j)
    >>> filter_.taps.round(6).tolist()
    [(2+1j), (2-1j)]
    """

    def __init__(
        self, length: int, step: float = 0.5, regularization: float = 1e-3, dtype: DTypeLike = np.float64
    ) -> None:
        super().__init__(length, 1, step, regularization, dtype)


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _four(x: Any, d: Any, e: Any, h: Any, windows: Any, step: Any, floor: Any) -> None:
    """NLMS of four real filters, h[microphone, loudspeaker]; the two of a microphone share its error."""
    size = windows.shape[1]
    for n in range(x.size):
        for k in range(size - 1, 0, -1):
            windows[0, k] = windows[0, k - 1]
            windows[1, k] = windows[1, k - 1]
        windows[0, 0], windows[1, 0] = x[n].real, x[n].imag
        left, right, energy = d[n].real, d[n].imag, floor
        for k in range(size):
            a, b = windows[0, k], windows[1, k]
            left -= h[0, 0, k] * a + h[0, 1, k] * b
            right -= h[1, 0, k] * a + h[1, 1, k] * b
            energy += a * a + b * b
        e[n] = complex(left, right)
        left, right = step * left / energy, step * right / energy
        for k in range(size):
            a, b = windows[0, k], windows[1, k]
            h[0, 0, k] += left * a
            h[0, 1, k] += left * b
            h[1, 0, k] += right * a
            h[1, 1, k] += right * b


def _four_plain(x: Any, d: Any, e: Any, h: Any, windows: Any, step: Any, floor: Any) -> None:
    """`_four` by the reading version."""
    for n in range(x.size):
        table = multichannel_filters.in_front(windows.T, np.array([x[n].real, x[n].imag]))
        windows[:] = table.T
        heard = np.array([d[n].real, d[n].imag])
        taps, error = multichannel_filters.nlms_together(h.transpose(0, 2, 1), table, heard, step, floor)
        h[:] = taps.transpose(0, 2, 1)
        e[n] = complex(*error)


class StereoNLMS(AdaptiveFilter):
    """The real form of `WLNLMS`: four real filters side by side, half as many multiplications.

    It gives the same errors and taps as the complex filter.

    Parameters
    ----------
    length, step, regularization, dtype : int
        As in `WLNLMS`; half of regularization is added to the real energy, which is half of the complex one.

    Examples
    --------
    >>> filter_ = StereoNLMS(1, step=1.0, regularization=1e-12)
    >>> filter_.update(2 + 1j, 10 + 0j)
    (10+0j)
    >>> filter_.taps.round(6).tolist()
    [(2+1j), (2-1j)]
    """

    def __init__(
        self, length: int, step: float = 0.5, regularization: float = 1e-3, dtype: DTypeLike = np.float64
    ) -> None:
        super().__init__(length, dtype)
        self.step = positive("step", step, 2.0)
        self.regularization = positive("regularization", regularization)
        self._h = np.zeros((2, 2, self.length), self.dtype)
        self._windows = np.zeros((2, self.length), self.dtype)

    def _run(self, x: NDArray[Any], d: NDArray[Any]) -> NDArray[Any]:
        errors = np.empty_like(x)
        real: Any = self.dtype.type
        adapt = _four if COMPILED else _four_plain
        adapt(x, d, errors, self._h, self._windows, real(self.step), real(self.regularization / 2))
        return errors

    @property
    def taps(self) -> NDArray[np.complex128]:
        """The 2L interleaved complex taps that mean the same four echo paths."""
        h = self._h.astype(float)
        return complex_taps(Responses(LL=h[0, 0], LR=h[1, 0], RL=h[0, 1], RR=h[1, 1]))

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {"h": self._h, "windows": self._windows}

"""RLS by Woodbury's identity: the complex widely linear filter and the real one that it equals (notebooks 01, 02)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from voicewire._kit._compiled import COMPILED, njit
from voicewire.echo import reference
from voicewire.echo.adaptive_filter import AdaptiveFilter, positive, whole
from voicewire.echo.widely_linear import Responses, complex_taps

__all__ = ["WLRLS", "StereoRLS"]

# Sums may be reordered: without that LLVM adds one number after the other.
_FAST = {"reassoc", "contract", "nsz"}


@njit(cache=True, error_model="numpy", inline="always")
def _passes(kept: Any, one: Any, reuse: int) -> Any:
    """1 + kept + kept^2 + ... of `reuse` terms: passes that each leave this share of the error, made as one.

    `one` has the filter's type: a literal would promote what is computed in float32.
    """
    total = one
    for _ in range(reuse - 1):
        total = one + kept * total
    return total


@njit(cache=True, error_model="numpy", fastmath=_FAST)
def _lower_triangle(x: Any, d: Any, e: Any, g: Any, P: Any, window: Any, forgetting: Any, reuse: int) -> None:
    """Complex RLS that keeps only P's lower triangle: Hermitian by construction."""
    size = g.size
    px = np.zeros_like(g)
    inverse = 1 / forgetting
    one = forgetting / forgetting
    for n in range(x.size):
        window[2:] = window[:-2].copy()
        window[0] = x[n]
        window[1] = np.conj(x[n])
        if not window.any():
            e[n] = d[n]
            continue
        y = d[n] - d[n]
        for i in range(size):
            y += np.conj(g[i]) * window[i]
        e[n] = d[n] - y
        for i in range(size):
            px[i] = P[i, i].real * window[i]
        for i in range(1, size):
            total = y - y
            own = window[i]
            for j in range(i):
                total += P[i, j] * window[j]
                px[j] += np.conj(P[i, j]) * own
            px[i] += total
        power = forgetting
        for i in range(size):
            power += (np.conj(window[i]) * px[i]).real
        correction = np.conj(e[n]) * _passes(forgetting / power, one, reuse)
        for i in range(size):
            gain = px[i] / power
            g[i] += gain * correction
            for j in range(i + 1):
                P[i, j] = (P[i, j] - gain * np.conj(px[j])) * inverse


@njit(cache=True, error_model="numpy")
def _full_matrix(x: Any, d: Any, e: Any, g: Any, P: Any, window: Any, forgetting: Any, reuse: int) -> None:
    """Complex RLS as textbooks print it, P x and x^H P computed apart: P stops being Hermitian, and blows up."""
    inverse = 1 / forgetting
    one = forgetting / forgetting
    left, right = np.zeros_like(g), np.zeros_like(g)
    for n in range(x.size):
        window[2:] = window[:-2].copy()
        window[0] = x[n]
        window[1] = np.conj(x[n])
        if not window.any():
            e[n] = d[n]
            continue
        e[n] = d[n] - np.sum(np.conj(g) * window)
        for i in range(g.size):
            right[i] = np.sum(P[i] * window)
            left[i] = np.sum(np.conj(window) * P[:, i])
        power = forgetting + np.sum(np.conj(window) * right)
        gain = right / power
        g += gain * (np.conj(e[n]) * _passes(forgetting / power.real, one, reuse))
        for i in range(g.size):
            P[i] = (P[i] - gain[i] * left) * inverse


def _plain(x: Any, d: Any, e: Any, g: Any, P: Any, window: Any, forgetting: Any, reuse: int) -> None:
    """`_lower_triangle` by the reading version: NumPy's products are faster than uncompiled loops."""
    for n in range(x.size):
        window[:] = reference.shifted(window, x[n])
        e[n] = d[n]
        if window.any():
            state = g, P, window, d[n], forgetting, reuse
            g[:], P[:], e[n] = reference.dr_rls_step(*state)


class WLRLS(AdaptiveFilter):
    """Complex widely linear RLS by Woodbury's identity, O(L^2) per sample; with data reuse the WL-DR-RLS without DCD.

    Parameters
    ----------
    length : int
        Taps of each echo path, L.
    forgetting : float
        Forgetting factor, 0 < lambda <= 1.
    regularization : float
        epsilon: R(0) = epsilon I, so P(0) = I/epsilon.
    symmetric : bool
        Keep P Hermitian by storing half of it. Without, the update is unstable (for demonstration).
    dtype : dtype
        float64 or float32.
    data_reuse : int
        How often each sample is used, N_it. All passes are made as one, by the sum of equation ``eq-echo-passes``.

    Examples
    --------
    >>> filter_ = WLRLS(1, 1.0, regularization=1e-9)
    >>> x = np.array([2 + 1j, 1j])
    >>> _ = filter_.process(x, 2 * x)
    >>> filter_.taps.round(6).real.tolist()
    [2.0, 0.0]
    """

    def __init__(
        self,
        length: int,
        forgetting: float,
        regularization: float = 1.0,
        symmetric: bool = True,
        dtype: DTypeLike = np.float64,
        data_reuse: int = 1,
    ) -> None:
        super().__init__(length, dtype)
        self.forgetting = positive("forgetting", forgetting, 1.0)
        self.data_reuse = whole("data_reuse", data_reuse, 1)
        self.regularization = positive("regularization", regularization)
        self._weight: Any = np.array(self.forgetting, self.dtype)[()]
        self.symmetric = symmetric
        kind = np.result_type(self.dtype, np.complex64)
        self._g = np.zeros(2 * self.length, kind)
        self._window = np.zeros(2 * self.length, kind)
        self._P = (np.eye(2 * self.length) / self.regularization).astype(kind)

    def _run(self, x: NDArray[Any], d: NDArray[Any]) -> NDArray[Any]:
        errors = np.empty_like(x)
        adapt = _full_matrix if not self.symmetric else _lower_triangle if COMPILED else _plain
        adapt(x, d, errors, self._g, self._P, self._window, self._weight, self.data_reuse)
        return errors

    @property
    def taps(self) -> NDArray[np.complex128]:
        """The 2L interleaved complex taps: even entries for x, odd ones for x*."""
        return self._g.astype(complex)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {"g": self._g, "P": self._P, "window": self._window}


@njit(cache=True, error_model="numpy", fastmath=_FAST)
def _real(x: Any, d: Any, e: Any, h: Any, P: Any, window: Any, forgetting: Any, reuse: int) -> None:
    """Two real RLS filters, one for each microphone, that share one inverse (lower triangle only)."""
    size = window.size
    px = np.zeros_like(window)
    inverse = 1 / forgetting
    one = forgetting / forgetting
    for n in range(x.size):
        window[2:] = window[:-2].copy()
        window[0] = x[n].real
        window[1] = x[n].imag
        if not window.any():
            e[n] = d[n]
            continue
        left, right = d[n].real, d[n].imag
        for i in range(size):
            left -= h[0, i] * window[i]
            right -= h[1, i] * window[i]
        e[n] = complex(left, right)
        for i in range(size):
            px[i] = P[i, i] * window[i]
        for i in range(1, size):
            total = px[i]
            own = window[i]
            for j in range(i):
                total += P[i, j] * window[j]
                px[j] += P[i, j] * own
            px[i] = total
        power = forgetting
        for i in range(size):
            power += window[i] * px[i]
        weight = _passes(forgetting / power, one, reuse)
        left, right = weight * left, weight * right
        for i in range(size):
            gain = px[i] / power
            h[0, i] += gain * left
            h[1, i] += gain * right
            for j in range(i + 1):
                P[i, j] = (P[i, j] - gain * px[j]) * inverse


def _real_plain(x: Any, d: Any, e: Any, h: Any, P: Any, window: Any, forgetting: Any, reuse: int) -> None:
    """`_real` by the reading version."""
    for n in range(x.size):
        window[2:] = window[:-2].copy()
        window[:2] = x[n].real, x[n].imag
        e[n] = d[n]
        if window.any():
            k, P[:] = reference.rls_gain(P, window, forgetting)
            left, right = np.array([d[n].real, d[n].imag]) - h @ window
            e[n] = complex(left, right)
            h += _passes(1 - window @ k, 1.0, reuse) * np.outer([left, right], k)


class StereoRLS(AdaptiveFilter):
    """The real form of `WLRLS`: one common 2L x 2L real inverse for both microphones, four times cheaper.

    Started from R(0) = (epsilon/2) I it gives the same errors and taps as the complex filter with epsilon.

    Parameters
    ----------
    length, forgetting, regularization, dtype, data_reuse : int
        As in `WLRLS`; regularization is the complex filter's epsilon.

    Examples
    --------
    >>> filter_ = StereoRLS(1, 1.0, regularization=1e-9)
    >>> x = np.array([2 + 1j, 1j])
    >>> _ = filter_.process(x, 2 * x)
    >>> filter_.taps.round(6).real.tolist()
    [2.0, 0.0]
    """

    def __init__(
        self,
        length: int,
        forgetting: float,
        regularization: float = 1.0,
        dtype: DTypeLike = np.float64,
        data_reuse: int = 1,
    ) -> None:
        super().__init__(length, dtype)
        self.forgetting = positive("forgetting", forgetting, 1.0)
        self.data_reuse = whole("data_reuse", data_reuse, 1)
        self.regularization = positive("regularization", regularization)
        self._weight: Any = np.array(self.forgetting, self.dtype)[()]
        self._h = np.zeros((2, 2 * self.length), self.dtype)
        self._window = np.zeros(2 * self.length, self.dtype)
        self._P = (np.eye(2 * self.length) * 2 / self.regularization).astype(self.dtype)

    def _run(self, x: NDArray[Any], d: NDArray[Any]) -> NDArray[Any]:
        errors = np.empty_like(x)
        adapt = _real if COMPILED else _real_plain
        adapt(x, d, errors, self._h, self._P, self._window, self._weight, self.data_reuse)
        return errors

    @property
    def taps(self) -> NDArray[np.complex128]:
        """The 2L interleaved complex taps that mean the same four echo paths."""
        h = self._h.astype(float)
        return complex_taps(Responses(LL=h[0, 0::2], LR=h[1, 0::2], RL=h[0, 1::2], RR=h[1, 1::2]))

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {"h": self._h, "P": self._P, "window": self._window}

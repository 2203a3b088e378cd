"""WL-DR-RLS-DCD, the paper's algorithm, at the speed of the memory (Table II; notebook 02)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from voicewire._kit import checks
from voicewire._kit._compiled import COMPILED
from voicewire.echo import dcd_uncompiled
from voicewire.echo.adaptive_filter import AdaptiveFilter, positive, whole
from voicewire.echo.recordings.input_validation import SignalError

__all__ = ["WLDRRLSDCD"]

if COMPILED:
    from voicewire.echo import _kernel as kernel


class WLDRRLSDCD(AdaptiveFilter):
    """Widely linear data-reuse RLS by dichotomous coordinate descent, O(L) per sample.

    The arithmetic is that of `voicewire.echo.reference.dr_rls_dcd` (Table II with its misprints repaired); in float64
    the taps of the two are the same numbers. Where numba is missing, that one runs, always in float64.

    Parameters
    ----------
    length : int
        Taps of each echo path, L.
    forgetting : float
        Forgetting factor, 0 < lambda <= 1; the paper writes 1 - 1/(K L).
    data_reuse : int
        How often each sample is used, N_it; 1 is the WL-RLS-DCD of Table I.
    updates : int
        Most taps changed in one DCD call, N_u.
    bits : int
        Halvings of the step before DCD gives up, M_b (1 to 30).
    amplitude : float
        H: the first step is H/2. A power of two makes each step a shift.
    regularization : float
        epsilon: R(0) = epsilon I. Not given in the paper; it fades as lambda^n.
    dtype : dtype
        float64, or float32 (about 1.5 times as fast; steady state within 0.1 dB).

    Notes
    -----
    While the whole window of x is zero nothing changes: ageing R in silence would end in 0/0.

    Examples
    --------
    >>> filter_ = WLDRRLSDCD(1, 0.9, updates=1)
    >>> filter_.update(2 + 0j, 1 + 0j)
    (1+0j)
    >>> filter_.taps.tolist()
    [(0.5+0j), 0j]
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
    ) -> None:
        super().__init__(length, dtype)
        real: Any = self.dtype.type
        self.forgetting = positive("forgetting", forgetting, 1.0)
        self.data_reuse = whole("data_reuse", data_reuse, 1)
        self.updates = whole("updates", updates, 1)
        self.bits = whole("bits", bits, 1, 30)
        self.amplitude = positive("amplitude", amplitude)
        self.regularization = positive("regularization", regularization)
        self._plain: dcd_uncompiled.WLDRRLSDCD | None = None
        if not COMPILED:
            search = self.updates, self.bits, self.amplitude
            self._plain = dcd_uncompiled.WLDRRLSDCD(
                self.length, self.forgetting, self.data_reuse, *search, self.regularization
            )
            return
        self._settings = kernel.Settings(
            length=self.length,
            row=kernel.row_size(self.length, self.dtype),
            reuse=self.data_reuse,
            updates=self.updates,
            bits=self.bits,
            forgetting=real(self.forgetting),
            amplitude=real(self.amplitude),
            tiny=real(1e-30 if self.dtype == np.float32 else 1e-290),
            steps=(self.amplitude * 0.5 ** np.arange(self.bits + 1)).astype(self.dtype),
        )
        self._state = kernel.fresh(self.length, self.regularization, self.dtype)

    def _run(self, x: NDArray[Any], d: NDArray[Any]) -> NDArray[Any]:
        if self._plain is not None:
            return self._plain.process(x, d).astype(x.dtype)
        errors = np.empty_like(x)
        kernel.run(x, d, errors, self._state, self._settings)
        return errors

    @property
    def compiled(self) -> bool:
        """Whether the compiled form runs."""
        return self._plain is None

    @property
    def taps(self) -> NDArray[np.complex128]:
        """The 2L interleaved complex taps: even entries for x, odd ones for x*."""
        if self._plain is not None:
            return self._plain.taps
        planes = self._state.h.reshape(-1, 4, kernel.LANES).transpose(1, 0, 2).reshape(4, -1)
        a, b, c, d = planes[:, : self.length].astype(np.float64)
        taps = np.empty(2 * self.length, complex)
        taps[0::2] = (a + c) / 2 + 1j * (b - d) / 2
        taps[1::2] = (a - c) / 2 - 1j * (b + d) / 2
        return taps

    @taps.setter
    def taps(self, value: ArrayLike) -> None:
        """Go on from other taps as if they solved the normal equations: R stays, their residual r is zero then."""
        taps = np.asarray(checks.array(kind="complex")("taps", value, SignalError))
        if taps.size != 2 * self.length:
            raise SignalError(f"a filter of length {self.length} has {2 * self.length} taps, not {taps.size}")
        if self._plain is not None:
            self._plain.g[:], self._plain.r[:] = taps, 0
            return
        even, odd = taps[0::2], taps[1::2]
        planes = np.zeros((4, self._state.h.size // 4))
        planes[:, : self.length] = (even + odd).real, (even - odd).imag, (even - odd).real, -(even + odd).imag
        self._state.h[:] = planes.reshape(4, -1, kernel.LANES).transpose(1, 0, 2).ravel()
        self._state.r[:] = 0

    def begin_anew(self) -> None:
        """Forget all samples, as at the beginning: R = epsilon I; only the taps stay."""
        taps = self.taps
        if self._plain is None:
            self.restore(kernel.fresh(self.length, self.regularization, self.dtype)._asdict())
        else:
            self._plain.r[:], self._plain.window[:] = 0, 0
            self._plain.R[:] = self.regularization * np.eye(2 * self.length)
        self.taps = taps

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return self._state._asdict() if self._plain is None else self._plain._arrays()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_state": self.save()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        arrays = state.pop("_state")
        self.__dict__.update(state)
        if self._plain is None:
            self._state = kernel.fresh(self.length, self.regularization, self.dtype)
        self.restore(arrays)

"""What all filters of the study have in common: one `process`, one `update`, `taps`, and a state that can be kept."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from voicewire._kit import checks
from voicewire.echo.recordings.input_validation import SignalError, pair

__all__ = ["AdaptiveFilter"]


class AdaptiveFilter(ABC):
    """A widely linear adaptive filter: complex far end in, complex a priori error out.

    Parameters
    ----------
    length : int
        Taps of each of the four echo paths (L).
    dtype : dtype
        Real type to compute with, float32 or float64.

    Examples
    --------
    >>> from voicewire.echo import WLNLMS
    >>> isinstance(WLNLMS(4), AdaptiveFilter)
    True
    """

    def __init__(self, length: int, dtype: DTypeLike = np.float64) -> None:
        self.length = whole("length", length, 1, 2**14)
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise ValueError(f"dtype must be float32 or float64, not {self.dtype}")

    def process(self, x: ArrayLike, d: ArrayLike) -> NDArray[Any]:
        """Adapt over a stretch of signal.

        Parameters
        ----------
        x, d : array_like of complex, shape (N,)
            Far end and microphones, left + 1j*right. A long signal may come in pieces: the result is the same.

        Returns
        -------
        ndarray of complex, shape (N,)
            A priori errors e(n) = d(n) - g^H(n-1) x~(n), equation (10): what the far end would hear.

        Raises
        ------
        SignalError
            If a signal is mono, not finite, too large, or the lengths differ; the state is then unchanged.
        """
        far, microphone = pair(x, d, self.dtype)
        return self._run(far, microphone)

    @checks.takes(error=SignalError, x_n=checks.complex_number, d_n=checks.complex_number)
    def update(self, x_n: complex, d_n: complex) -> complex:
        """Adapt by one sample; returns its a priori error.

        Parameters
        ----------
        x_n, d_n : complex
            One sample of the far end and of the microphones.

        Returns
        -------
        complex
        """
        error = self.process(np.array([x_n], complex), np.array([d_n], complex))
        return complex(error[0])

    @property
    @abstractmethod
    def taps(self) -> NDArray[np.complex128]:
        """The 2L interleaved complex taps: even entries for x, odd ones for x*."""

    @abstractmethod
    def _run(self, x: NDArray[Any], d: NDArray[Any]) -> NDArray[Any]:
        """Adapt over checked samples."""

    @abstractmethod
    def _arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that make up the state, by name."""

    def reset(self) -> None:
        """Forget taps and samples, as at the beginning."""
        self.__init__(**self._settings_of())  # type: ignore[misc]

    def _settings_of(self) -> dict[str, Any]:
        """The arguments that make such a filter."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def __repr__(self) -> str:
        """Name the settings."""
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in self._settings_of().items())})"

    def save(self) -> dict[str, NDArray[Any]]:
        """A copy of the state, as arrays that `numpy.savez` can write.

        Returns
        -------
        dict of ndarray
        """
        return {name: array.copy() for name, array in self._arrays().items()}

    def restore(self, state: dict[str, NDArray[Any]]) -> Self:
        """Continue from a saved state of a filter with the same parameters.

        Parameters
        ----------
        state : dict of ndarray
            From `save`.

        Returns
        -------
        AdaptiveFilter
            Itself.

        Raises
        ------
        ValueError
            If the state belongs to another kind of filter, another length or another type.
        """
        own = self._arrays()
        if not isinstance(state, dict) or not all(isinstance(array, np.ndarray) for array in state.values()):
            raise ValueError("state must be what `save` gave: a dict of arrays")
        if set(own) != set(state) or any(
            own[name].shape != state[name].shape or own[name].dtype != state[name].dtype for name in own
        ):
            raise ValueError(f"this state is not that of a {type(self).__name__} of length {self.length}, {self.dtype}")
        for name, array in own.items():
            array[...] = state[name]
        return self


def whole(name: str, value: int, least: int, most: int | None = None) -> int:
    """Check a whole-number parameter."""
    return int(checks.whole(least, checks.MOST if most is None else most)(name, value, ValueError))


def positive(name: str, value: float, most: float = np.inf) -> float:
    """Check a positive parameter."""
    return float(checks.number(above=0.0, high=min(most, checks.LARGEST))(name, value, ValueError))

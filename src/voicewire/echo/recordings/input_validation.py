"""What every filter asks of the samples that it is given, said once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks

__all__ = ["SignalError", "finite", "stereo"]

_SMALLEST = 1e-15  # below this, squares of samples leave float32


class SignalError(ValueError):
    """A signal that no filter can use; the message says which sample and what to do.

    Examples
    --------
    >>> try:
    ...     stereo([1], [1, 2])
    ... except SignalError as error:
    ...     print(error)
    two channels of equal length are needed, these have shapes (1,) and (2,)
    """


def stereo(left: ArrayLike, right: ArrayLike) -> NDArray[np.complex128]:
    """Combine two real channels to ``left + 1j*right`` (equations (5) and (6) of the paper).

    Parameters
    ----------
    left, right : array_like, shape (N,)
        Samples of the two channels, of equal length.

    Returns
    -------
    ndarray of complex, shape (N,)

    Raises
    ------
    SignalError
        If the channels differ in length or are not real and one-dimensional.

    Examples
    --------
    >>> stereo([1, 2], [3, 4]).tolist()
    [(1+3j), (2+4j)]
    """
    rule = checks.array((0, 1, 2, 3), least=0)
    a, b = rule("the left channel", left, SignalError), rule("the right channel", right, SignalError)
    if a.ndim != 1 or a.shape != b.shape:
        raise SignalError(f"two channels of equal length are needed, these have shapes {a.shape} and {b.shape}")
    return np.asarray(a + 1j * b)


def finite(samples: NDArray[Any], name: str, start: int = 0) -> None:
    """Refuse samples, of one channel or in rows, that are not finite; the first of them is number `start`."""
    good = np.isfinite(samples)
    if not good.all():
        n = start + int(np.argwhere(~good)[0, 0])
        raise SignalError(f"{name} is not finite at sample {n}: cut or repair the recording there")


def _plain(x: ArrayLike, name: str) -> NDArray[Any]:
    """An array of numbers, of whatever type, or one clear error."""
    a = checks.plain(name, x, SignalError)
    if a.dtype == object:
        a = checks.array((0, 1, 2, 3), least=0, kind="complex", allow="nan inf")(name, x, SignalError)
    if a.dtype.kind not in "iufcb":
        raise SignalError(f"{name} must be an array of complex samples, not of {a.dtype}")
    return a


def checked(x: ArrayLike, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The complex samples of a signal, or one clear error."""
    a = _plain(x, name)
    if a.ndim != 1:
        raise SignalError(f"{name} must be one-dimensional, it has shape {a.shape}: use stereo(left, right)")
    if a.size and not np.iscomplexobj(a):
        raise SignalError(f"{name} is real, so mono: the filter needs left + 1j*right, see voicewire.echo.stereo")
    finite(a, name)
    limit = 1e12 if dtype.itemsize == 4 else 1e100
    if a.size and max(float(np.abs(a.real).max()), float(np.abs(a.imag).max())) > limit:
        raise SignalError(f"{name} exceeds {limit:g}: scale the samples to about 1, else their squares overflow")
    parts = a.astype(np.complex128 if dtype.itemsize == 8 else np.complex64, copy=True)
    flat = parts.view(parts.real.dtype)
    flat[np.abs(flat) < _SMALLEST] = 0
    return parts


def pair(x: ArrayLike, d: ArrayLike, dtype: np.dtype[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Far-end and microphone samples, checked, of equal length."""
    a, b = checked(x, "the far-end signal x", dtype), checked(d, "the microphone signal d", dtype)
    if a.size != b.size:
        raise SignalError(f"x has {a.size} samples and d has {b.size}: cut both to the same span of time")
    return a, b

"""Whether numba compiles the engines, or Python runs them as they are written: decided here for the whole package.

With numba, `njit` and `vectorize` are numba's own. Without it (in a browser) or with ``NUMBA_DISABLE_JIT=1`` they
leave a function as it is: the numbers are the same, some hundred times more slowly, and the first import says so.
What cannot run without numba (a call into the C library, vector code of LLVM) imports all the same, and says why it
cannot run when it is called.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from voicewire._kit import _code_cache

__all__ = ["COMPILED", "SlowWarning", "external", "intrinsic", "llvm", "njit", "vectorize"]


class SlowWarning(RuntimeWarning):
    """The engines are not compiled: what takes a second takes minutes."""


def _numba() -> Any:
    """Return numba, or None where it is missing or told not to compile."""
    try:
        numba = importlib.import_module("numba")
    except ImportError:
        warnings.warn(
            "numba is not installed: the engines run as plain Python, with the same numbers, some hundred times "
            "more slowly; use short signals and few runs, or install numba",
            SlowWarning,
            stacklevel=2,
        )
        return None
    if numba.config.DISABLE_JIT:
        return None
    _code_cache.register()
    return numba


_NUMBA = _numba()
COMPILED: bool = _NUMBA is not None
"""Whether the engines are compiled."""


def njit(function: Any = None, /, **options: Any) -> Any:
    """Compile a function with `numba.njit`, where there is numba; with or without options."""
    if function is None:
        return lambda later: njit(later, **options)
    return _NUMBA.njit(function, **_kept(options)) if COMPILED else function


def _kept(options: dict[str, Any]) -> dict[str, Any]:
    """Compile anew in each process where nothing can be written."""
    return options if _code_cache.usable() else {**options, "cache": False}


def vectorize(*signatures: Any, **options: Any) -> Callable[[Any], Any]:
    """Make a function of numbers one of arrays: with `numba.vectorize`, or with NumPy's own loop over the elements."""
    if COMPILED:
        return _NUMBA.vectorize(*signatures, **_kept(options))
    return lambda function: np.vectorize(function, otypes=[float])


def intrinsic(function: Any) -> Any:
    """Make a function of what writes its LLVM code, with `numba.extending.intrinsic`.

    Without numba it imports, and raises RuntimeError when it is called.
    """
    if COMPILED:
        return importlib.import_module("numba.extending").intrinsic(function)
    return _missing(f"{function.__name__} is LLVM code")


def llvm() -> tuple[Any, Any, Any]:
    """Return llvmlite's `ir`, numba's `cgutils` and its `types`, for what writes LLVM code.

    Without numba: stand-ins on which constants of a module can be defined; whatever would use them raises.
    """
    if COMPILED:
        named = ("llvmlite.ir", "numba.core.cgutils", "numba.core.types")
        return tuple(importlib.import_module(name) for name in named)  # type: ignore[return-value]
    return _Absent(), _Absent(), _Absent()


class _Absent:
    """Stands for a module that is not there: each attribute and each call gives the same again."""

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, *_: Any) -> Any:
        return self


def _missing(what: str) -> Any:
    def missing(*_: Any) -> Any:
        raise RuntimeError(f"{what}, which runs only where numba compiles: install numba, unset NUMBA_DISABLE_JIT")

    return missing


def external(name: str, result: str, *arguments: str) -> Any:
    """Return a function of the C library for compiled code."""
    if COMPILED:
        kind = _NUMBA.types
        return kind.ExternalFunction(name, getattr(kind, result)(*(getattr(kind, each) for each in arguments)))
    return _missing(f"{name} is a function of the C library called from compiled code")

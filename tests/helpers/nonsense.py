"""What one argument of a valid call is replaced by, and how the answer is judged; used by `test_any_input.py`."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import linecache
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

SOURCES = str(Path(__file__).parents[2] / "src")
SECONDS = 60  # of the processor, compiling included; what takes longer has not been refused, but begun


@dataclass
class Case:
    """A valid call, and what may be an exception for it.

    Attributes
    ----------
    make
        Gives fresh valid arguments by name.
    free
        Arguments that take anything by design (a label, say), with the reason beside the case.
    nan, inf, ragged, empty
        Arguments in which NaN or infinity has a meaning; that need not be as long as the others; that may be empty.
    shapeless
        Arguments of any shape: a number, a row, a table.
    complex
        Real here, but complex numbers are right, too.
    unlike
        Arguments whose other types are another question (a film in bytes): tested by themselves.
    infinite
        Whether the answer itself may be NaN or infinite (a formant that is not there).
    """

    make: Callable[[], dict[str, Any]]
    free: tuple[str, ...] = ()
    nan: tuple[str, ...] = ()
    inf: tuple[str, ...] = ()
    ragged: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    shapeless: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    complex: tuple[str, ...] = ()
    infinite: bool = False


def numbers(answer: Any, depth: int = 0) -> list[Any]:
    """Everything that an answer says, as one flat list, so that two answers can be compared."""
    if depth > 6 or callable(answer) or isinstance(answer, np.random.Generator):
        return []
    if isinstance(answer, pd.DataFrame):
        return numbers({str(name): answer[name].tolist() for name in answer.columns}, depth + 1)
    if isinstance(answer, np.ndarray):
        return [x for entry in answer.ravel().tolist() for x in numbers(entry, 6)]
    if isinstance(answer, dict):
        return [x for key, value in answer.items() for x in [str(key), *numbers(value, depth + 1)]]
    if isinstance(answer, list | tuple | set):
        return [x for entry in answer for x in numbers(entry, depth + 1)]
    if isinstance(answer, Iterator):
        return numbers(list(itertools.islice(answer, 10_000)), depth + 1)  # a counter never ends
    if isinstance(answer, complex):
        return [answer.real, answer.imag]
    if answer is None or isinstance(answer, bool | int | float | np.number | np.bool_ | str | bytes):
        return [answer]
    if dataclasses.is_dataclass(answer):
        found = numbers({f.name: getattr(answer, f.name) for f in dataclasses.fields(answer)}, depth + 1)
        for name, value in inspect.getmembers(type(answer)):
            if isinstance(value, property):
                found += numbers(getattr(answer, name), depth + 1)
        return found
    return numbers(vars(answer), depth + 1) if hasattr(answer, "__dict__") else []


def alike(one: list[Any], other: list[Any], tolerance: float = 1e-9) -> bool:
    """Whether two answers say the same."""
    if len(one) != len(other):
        return False
    for a, b in zip(one, other, strict=True):
        if isinstance(a, str | bytes) or a is None or isinstance(b, str | bytes) or b is None:
            if a != b:
                return False
        elif not np.isclose(float(a), float(b), rtol=tolerance, atol=tolerance, equal_nan=True):
            return False
    return True


def finite(answer: list[Any]) -> bool:
    """Whether no number of an answer is NaN or infinite."""
    return all(np.isfinite(x) for x in answer if isinstance(x, float | np.floating))


@contextmanager
def limited() -> Iterator[None]:
    """Stop a call that goes on and on, and let no warning pass: a number with a warning came out of nothing."""

    def stop(*_: Any) -> None:
        raise TooLongError(f"still busy after {SECONDS} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


class TooLongError(BaseException):
    """A call that should have been refused works on."""


def refused(error: BaseException) -> str:
    """'' if an error is a refusal by the house: a `raise` of a ValueError or TypeError in its own source."""
    if not isinstance(error, ValueError | TypeError) or isinstance(error, UnicodeError):
        return f"{type(error).__name__}: {error}"
    last = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(last.filename, last.lineno or 0).strip()
    if not last.filename.startswith(SOURCES) or not line.startswith("raise"):
        return f"{type(error).__name__} by accident, at {Path(last.filename).name}:{last.lineno}: {error}"
    if len(str(error)) < 12 or "\n" in str(error):
        return f"not one clear sentence: {error!r}"
    return ""


def replacements(value: Any) -> Iterator[tuple[str, Any, str]]:
    """Yield (what it is, what the argument becomes, what is allowed).

    Allowed is "same" (the answer to the float64 copy, or a refusal), "refuse", or "finite" (a refusal, or an answer
    without NaN, infinity and warning).
    """
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, float | int):
        yield from _scalars(value)
    elif isinstance(value, np.ndarray):
        yield from _arrays(value)
    elif isinstance(value, complex):
        yield from (("NaN", complex("nan"), "refuse"), ("a text", "1", "refuse"), ("None", None, "refuse"))
    elif isinstance(value, str):
        yield from (("no such name", "no-such-name", "refuse"), ("a number", 3.5, "refuse"), ("None", None, "refuse"))
    elif isinstance(value, tuple | list):
        yield from (("a number", 3.5, "refuse"), ("None", None, "refuse"), ("a text", "text", "refuse"))
        yield "an object of no kind", [object()], "refuse"
    else:
        yield from (("a number", 3.5, "refuse"), ("a text", "text", "refuse"), ("an object", object(), "refuse"))


def _scalars(value: float) -> Iterator[tuple[str, Any, str]]:
    yield "numpy's own", np.float64(value), "same"
    yield "NaN", float("nan"), "refuse nan"
    yield "infinite", float("inf"), "refuse inf"
    yield "minus infinite", float("-inf"), "refuse"
    for text, other in (("zero", 0), ("negative", -1), ("huge", 1e300), ("tiny", 1e-300), ("very negative", -1e300)):
        yield text, other, "finite"
    if isinstance(value, int):
        yield "a fraction", value + 0.5, "refuse"
        yield "numpy's whole", np.int32(value), "same"
    for text, thing in (
        ("a text", str(value)), ("a list", [value, value]), ("an array", np.array([value, value])),
        ("an object", object()), ("bytes", b"1"),
    ):  # fmt: skip
        yield text, thing, "refuse"
    yield "complex", value + 1j, "refuse complex"


def _arrays(value: np.ndarray) -> Iterator[tuple[str, Any, str]]:
    real = value.dtype.kind in "iuf"
    yield "a list", value.tolist(), "same"
    yield "objects", value.astype(object), "same"
    yield "not contiguous", np.repeat(value, 2, axis=0)[::2], "same"
    yield "Fortran's order", np.asfortranarray(value), "same"
    if value.dtype.kind in "fc":
        single = value.astype(np.float32 if real else np.complex64)
        yield "single precision", single, "same"
    if real:
        scale = 1000.0 if np.abs(value).max() <= 1 else 1.0
        yield "16 bits", np.round(value * scale).astype(np.int16), "same"
        yield "complex", value + 1j, "refuse complex"
    for text, bad in (("NaN", np.nan), ("inf", np.inf), ("-inf", -np.inf)):
        if value.dtype.kind in "fc":
            spoilt = value.copy()
            spoilt.flat[value.size // 2] = bad
            yield f"{text} in it", spoilt, f"refuse {text}"
    yield "empty", value[:0], "refuse empty"
    yield "an empty list", [], "refuse empty"
    yield "one entry more", np.concatenate([value, value[-1:]]), "refuse ragged"
    yield "one dimension more", value[None], "refuse shapeless"
    yield "no dimension", value.ravel()[0], "refuse shapeless"
    yield "texts", value.astype(str), "refuse"
    yield "None", None, "refuse"
    yield "ragged lists", [[1.0], [1.0, 2.0]], "refuse"
    yield "an object", object(), "refuse"


def double(value: Any) -> Any:
    """The same data as a contiguous float64 (complex128) array, or a plain number."""
    if isinstance(value, np.generic):
        return value.item()
    array = np.asarray(value)
    if array.dtype == object:
        array = array.astype(complex if any(isinstance(x, complex) for x in array.ravel()) else float)
    return np.ascontiguousarray(array, complex if array.dtype.kind == "c" else float)

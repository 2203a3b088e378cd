"""Answers that students give: usual mistakes as a check has them, solutions changed a little, and junk."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from types import FrameType
from typing import Any

import asked
import numpy as np
import sympy

from voicewire_book.kit.drawn import Drawn

TABLES = ("hints", "mistakes", "confused")
"""What the tables of usual mistakes are called where a check or its judge has them."""
OFF = {"with the other sign": -1.0, "twice": 2.0, "half": 0.5, "8 times": 8.0, "an eighth": 0.125, "10 times": 10.0,
       "a tenth": 0.1, "1000 times": 1000.0, "a thousandth": 0.001, "2 pi times": 2 * math.pi, "100 times": 100.0,
       "a hundredth": 0.01, "a thousandth more": 1.001, "a fiftieth more": 1.02, "a tenth more": 1.1}  # fmt: skip


def mistakes(check: Callable[..., Any], answers: Iterable[tuple[Any, ...]]) -> list[tuple[str, Any]]:
    """What a check calls a usual mistake, seen in the tables that it and its judges hold while they look at answers."""
    found: dict[str, Any] = {}

    def keep(table: object, frame: FrameType) -> None:
        pairs = list(table.items()) if isinstance(table, Mapping) else table
        for pair in pairs if isinstance(pairs, list | tuple) else ():
            if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], str)):
                continue
            wrong, hint = pair
            if wrong is None:
                continue
            record = frame.f_locals.get("self")
            if table is getattr(record, "confused", ()):
                wrong = [wrong[1] if word == wrong[0] else word for word in record.expected]
            found.setdefault(f'the mistake "{hint}"' if callable(wrong) else spelt(wrong), wrong)

    def look(frame: FrameType, event: str, result: object) -> None:
        if event not in {"call", "return"} or "voicewire" not in frame.f_code.co_filename:
            return
        names = frame.f_code.co_varnames
        for name in TABLES:
            if name in names:
                keep(frame.f_locals.get(name), frame)
        if "options" in names:
            keep([(str(label), "an option") for label in frame.f_locals.get("options") or ()], frame)
        if "expected" in names and "answer" in names:  # a judge: also of a mistake that the check has without a table
            keep([(plain(frame.f_locals.get("expected")), "looked for")], frame)
        if "self" in names and frame.f_code.co_name == "check":
            record = frame.f_locals["self"]
            for name in TABLES:
                keep(getattr(record, name, None), frame)
            if isinstance(record, Drawn):
                keep([(record.answer, "right")], frame)

    for answer in answers:
        try:
            with asked.within(60):
                sys.setprofile(look)
                check(*answer)
        except (Exception, asked.TooLongError):  # what a check raises is recorded where it is asked
            continue
        finally:
            sys.setprofile(None)
    return list(found.items())


def plain(value: object) -> Any:
    """A number, a word or a row of them in Python's own types; None for anything else."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        row = [plain(item) for item in value]
        return None if None in row else row
    return value if isinstance(value, int | float | str) else None


def spelt(value: object) -> str:
    """A value as Python reads it, also one of NumPy's."""
    if isinstance(value, np.generic):
        return spelt(value.item())
    if isinstance(value, tuple):
        return f"({', '.join(map(spelt, value))}{',' if len(value) == 1 else ''})"
    return repr(value)


def variants(value: Any) -> Iterator[tuple[str, Any]]:
    """A solution in other forms, and changed a little."""
    if callable(value):
        for how, factor in (("with the other sign", -1.0), ("twice", 2.0), ("half", 0.5)):
            yield how, _after(value, lambda number, f=factor: number * f)
        yield "one more", _after(value, lambda number: number + 1)
        yield "its first item", lambda *given: value(*given)[0]
        yield "the other way round", lambda *given: value(*given)[::-1]
        yield "as a list", lambda *given: np.asarray(value(*given)).tolist()
        yield "a list of it", lambda *given: [value(*given)]
        return
    if isinstance(value, bool | np.bool_):
        yield "not", not value
    elif isinstance(value, int | float | np.number):
        yield from ((how, float(value) * factor) for how, factor in OFF.items())
        yield "one more", value + 1
        yield "one less", value - 1
        yield "one minus it", 1 - value
        yield "its reciprocal", 1 / value if value else math.inf
        yield "as text", f"{value}"
        yield "in a list", [value]
    elif isinstance(value, str):
        words = value.replace(",", " ").split()
        yield from ((letter, letter) for letter in "abcdef")
        yield "in capitals", value.upper()
        yield "in a list", words
        yield "the other way round", " ".join(words[::-1])
    elif isinstance(value, list | tuple | np.ndarray):
        yield from _rows(list(value))


def _rows(row: list[Any]) -> Iterator[tuple[str, Any]]:
    yield "the other way round", row[::-1]
    yield "without its last item", row[:-1]
    yield "with one more item", [*row, 1.0]
    yield "as text", ", ".join(map(str, row))
    yield "in a tuple", tuple(row)
    for i, item in enumerate(row[:6]):
        if isinstance(item, int | float | np.number):
            for how in ("with the other sign", "twice", "half", "10 times"):
                yield f"item {i} {how}", [*row[:i], float(item) * OFF[how], *row[i + 1 :]]
    if all(isinstance(item, int | float | np.number) for item in row):
        for how in ("with the other sign", "twice", "half"):
            yield f"all {how}", [float(item) * OFF[how] for item in row]


def _after(function: Callable[..., Any], change: Callable[[Any], Any]) -> Callable[..., Any]:
    def deep(result: Any) -> Any:
        if isinstance(result, list | tuple):
            return [deep(item) for item in result]
        if isinstance(result, Mapping):
            return {key: deep(item) for key, item in result.items()}
        return change(result)

    return lambda *given: deep(function(*given))


class Hostile:
    """Fails at whatever is tried with it."""

    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __array__ = __float__ = __len__ = __iter__ = __eq__ = __bool__ = __index__ = __str__  # type: ignore
    __hash__ = None  # type: ignore[assignment]


def raises(*given: object) -> float:
    """A student's function that fails."""
    return 1 / 0


def endless(*given: object) -> object:
    """A student's function that calls itself without an end."""
    return endless(*given)


def spoils(*given: object) -> float:
    """A student's function that empties what it is given."""
    for one in given:
        if isinstance(one, list | dict | set):
            one.clear()
        elif isinstance(one, np.ndarray):
            one[...] = 0
    return 0.0


JUNK = (
    "None", "...", "''", "' '", "'text'", "'1/0'", "'3 apples'", "'a, b, c'", "b'bytes'", "True", "False", "0", "1",
    "-1", "0.5", "float('nan')", "float('inf')", "-float('inf')", "1e308", "10**400", "-10**400", "1j",
    "Fraction(1, 3)", "Decimal('NaN')", "[]", "()", "{}", "set()", "[1]", "[1, ...]", "[None]", "[float('nan'), 1]",
    "[10**400, 1]", "[[1, 2], [3]]", "['a', 'b']", "{'a': 1}", "{1, 2}", "list(range(1000))", "np.zeros((2, 3))",
    "np.zeros(0)", "np.array([np.nan])", "np.array(['a', 'b'])", "np.array([object()])", "object()", "Hostile()",
    "sympy.Symbol('x')", "sympy.nan", "raises", "endless", "spoils", "len", "dict", "lambda: 1",
    "lambda *given: None", "lambda *given: 'text'", "lambda *given: 0", "lambda *given: 1.0", "lambda *given: -1",
    "lambda *given: float('nan')", "lambda *given: float('inf')", "lambda *given: 10**400", "lambda *given: []",
    "lambda *given: {}", "lambda *given: [0, 0]", "lambda *given: (1, 2, 3)", "lambda *given: np.zeros((2, 3))",
    "lambda *given: True", "lambda *given: b'bytes'", "lambda *given: object()", "lambda *given: Hostile()",
    "lambda *given: given", "lambda *given: given[0]", "lambda *given: raises",
)  # fmt: skip
"""No answers at all, or hardly any, as Python reads them."""


_NAMES = {"np": np, "sympy": sympy, "Decimal": Decimal, "Fraction": Fraction, "Hostile": Hostile, "raises": raises,
          "endless": endless, "spoils": spoils}  # fmt: skip


def junk(source: str) -> Any:
    """One of them, made anew: a check may change it."""
    return eval(source, dict(_NAMES))

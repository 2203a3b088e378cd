"""Feedback for exercises: what a student gave, judged kindly and explained.

The records of exercises (`records`) judge by these. They take whatever a student may submit (an int, a
float, a NumPy scalar, a list of one, ``"6.24 s"``, nothing at all) and always return a `Feedback`; they never
raise because of an answer. No grader needs to be installed.

Example
-------
>>> from voicewire_book.kit.exercises import number
>>> number("0.624", 6.24, unit="s")
Not yet: ten times too small: count the powers of ten again.
"""

from __future__ import annotations

import copy
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = [
    "UNANSWERED", "Feedback", "Mistakes", "choice", "formula", "function", "number", "sequence", "unanswered", "value",
]  # fmt: skip

Mistakes = Sequence[tuple[Callable[..., Any], str]]
"""Functions that are wrong in a usual way, each with what to say to it."""


@dataclass(frozen=True)
class Feedback:
    """What a check says: whether the answer is right, and one or two sentences to the student.

    It is truthy when the answer is right, so that ``assert check("nfc-ex-slots", 354)`` works.
    """

    ok: bool
    message: str
    case: tuple[Any, ...] = field(default=(), compare=False)
    """The arguments with which a function failed, where one did: call it with them and see."""

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        return f"{'Right' if self.ok else 'Not yet'}: {self.message}"


UNANSWERED = Feedback(False, "not answered yet. Put your answer into the cell above, then run both cells.")

_ANY, _BITS, _TURNS = r".*", r"|s|ms|ns|.*(?:bit|byte).*", r"|s|ms|ns|Hz|rad.*"
_FACTORS: tuple[tuple[float, str, str], ...] = (
    (-1.0, _ANY, "the size is right, the sign is not."),
    (8.0, _BITS, "eight times too large: bits and bytes are mixed up."),
    (1 / 8, _BITS, "eight times too small: bits and bytes are mixed up."),
    (10.0, _ANY, "ten times too large: count the powers of ten again."),
    (0.1, _ANY, "ten times too small: count the powers of ten again."),
    (100.0, r"|%", "a hundred times too large: is a fraction asked, and not a percentage?"),
    (0.01, r"|%", "a hundred times too small: is a percentage asked, and not a fraction?"),
    (1e3, _ANY, "a thousand times too large: look at the unit (kilo, milli)."),
    (1e-3, _ANY, "a thousand times too small: look at the unit (kilo, milli)."),
    (1e6, _ANY, "a million times too large: look at the unit (mega, micro)."),
    (1e-6, _ANY, "a million times too small: look at the unit (mega, micro)."),
    (2.0, r"s|ms|ns", "twice too large: one way or both ways?"),
    (0.5, r"s|ms|ns", "half of what it should be: one way or both ways?"),
    (2.0, _ANY, "twice too large: is something counted twice?"),
    (0.5, _ANY, "half of what it should be: is there something that counts twice?"),
    (2 * math.pi, _TURNS, "2π times too large: hertz or radians per second?"),
    (1 / (2 * math.pi), _TURNS, "2π times too small: hertz or radians per second?"),
)
"""Factors that a forgotten conversion leaves behind, the units in which each can, and what to tell the student."""


_OPTION = re.compile(r"\s*\(?([a-z])[).:]\s*\w")
"""The beginning of an option that is written out: ``(b) the passes overshoot``."""


class _NotANumberError(ValueError):
    """What the student gave can't be read as a number; the message is meant for the student."""


def unanswered(answer: object) -> bool:
    """Whether a student has left the ``...`` of the exercise (or part of it) where it was."""
    if answer is ... or answer is None:
        return True
    if isinstance(answer, str):
        return answer.strip() in {"", "...", "…"}
    if isinstance(answer, Mapping):
        answer = list(answer.values())
    if isinstance(answer, list | tuple | set):
        return len(answer) == 0 or any(item is ... for item in answer)
    return False


def number(
    answer: object,
    expected: float,
    tolerance: float = 0.01,
    *,
    absolute: float = 1e-12,
    unit: str = "",
    hints: Mapping[float, str] | None = None,
    right: str = "",
) -> Feedback:
    """Judge a number."""
    if unanswered(answer):
        return UNANSWERED
    try:
        candidates = _read_number(answer, unit)
    except _NotANumberError as problem:
        return Feedback(False, str(problem))
    if any(_near(value, expected, tolerance, absolute) for value in candidates):
        return Feedback(True, right or f"{_show(expected)}{_unit(unit)} it is.")
    value = candidates[0]
    for wrong, hint in (hints or {}).items():
        if any(_near(given, wrong, tolerance, absolute) for given in candidates):
            return Feedback(False, hint)
    return Feedback(False, _general_hint(value, expected, tolerance, absolute, unit))


def choice(
    answer: object,
    expected: str | bool,
    options: Mapping[str, str] | Sequence[str] = (),
    *,
    hints: Mapping[str, str] | None = None,
    right: str = "",
) -> Feedback:
    """Judge a choice between options, or between yes and no."""
    if unanswered(answer):
        return UNANSWERED
    if isinstance(expected, bool | np.bool_):
        chosen = _truth(answer)
        wanted = "yes" if expected else "no"
        if chosen is None:
            return Feedback(False, f"answer with True or False, not with {_quote(answer)}.")
    else:
        texts = dict(options) if isinstance(options, Mapping) else {label: label for label in options}
        texts.setdefault(expected, expected)
        wanted = expected
        names = {_plain(name): label for label, text in texts.items() for name in (text, label)}
        chosen = names.get(_plain(_text(answer)))
        if chosen is None and (written := _OPTION.match(_text(answer))):  # its letter, and then its words
            chosen = names.get(_plain(written[1]))
        if chosen is None:
            return Feedback(False, f"{_quote(answer)} is none of the options: {', '.join(texts)}.")
    if chosen == wanted:
        return Feedback(True, right or f"{wanted} it is.")
    return Feedback(False, (hints or {}).get(chosen, f"{chosen} is not it. Read the question once more."))


def sequence(
    answer: object,
    expected: Sequence[Any] | Mapping[str, Any] | np.ndarray,
    tolerance: float = 0.01,
    *,
    absolute: float = 1e-12,
    ordered: bool = True,
    unit: str = "",
    right: str = "",
) -> Feedback:
    """Judge several numbers or several words."""
    if unanswered(answer):
        return UNANSWERED
    names = list(expected) if isinstance(expected, Mapping) else []
    wanted = list(expected.values()) if isinstance(expected, Mapping) else list(expected)
    try:
        given = _items(answer, names)
    except _NotANumberError as problem:
        return Feedback(False, str(problem))
    if len(given) != len(wanted):  # perhaps in brackets of their own
        flat = [part for item in given for part in (item if isinstance(item, list | tuple) else [item])]
        if len(flat) != len(wanted):
            return Feedback(False, f"{len(wanted)} items are asked, you gave {len(given)}.")
        given = flat
    words = any(isinstance(item, str) for item in wanted)
    values: list[Any]
    try:
        values = [_plain(_text(v)) if words else _read_number(v, unit)[0] for v in given]
    except _NotANumberError as problem:
        return Feedback(False, str(problem))
    targets: list[Any] = [_plain(_text(v)) if words else float(v) for v in wanted]

    def same(a: Any, b: Any) -> bool:
        return bool(a == b) if words else _near(a, b, tolerance, absolute)

    if not ordered:
        values, targets = sorted(values), sorted(targets)
    if all(map(same, values, targets)):
        return Feedback(True, right or "all of them.")
    if ordered and all(map(same, reversed(values), targets)):
        return Feedback(False, "the items are right, but the other way round.")
    if ordered and all(map(same, sorted(values), sorted(targets))):
        return Feedback(False, "the items are right, their order is not.")
    wrong = [i for i, pair in enumerate(zip(values, targets, strict=True)) if not same(*pair)]
    if words:
        if not ordered:
            strangers = sum(value not in targets for value in values)
            return Feedback(False, f"{strangers} of {len(targets)} items do not belong there.")
        return Feedback(False, f"look again at {_place(wrong[0], names)}.")
    hint = _general_hint(values[wrong[0]], targets[wrong[0]], tolerance, absolute, unit)
    if len(wrong) == len(targets) > 1:
        return Feedback(False, f"none of the items is right yet; {_place(0, names)}: {hint}")
    return Feedback(False, f"{_place(wrong[0], names)}: {hint}")


def function(
    answer: object,
    cases: Iterable[tuple[tuple[Any, ...], float]],
    tolerance: float = 0.01,
    *,
    absolute: float = 1e-12,
    unit: str = "",
    right: str = "",
    mistakes: Mistakes = (),
) -> Feedback:
    """Judge a function that the student wrote, by calling it; each call gets arguments of its own to change."""
    if unanswered(answer):
        return UNANSWERED
    if not callable(answer):
        return Feedback(False, f"submit the function itself, without calling it; this is {_quote(answer)}.")
    cases = list(cases)
    for arguments, expected in cases:
        verdict = _one_call(answer, arguments, expected, (tolerance, absolute), unit)
        if not verdict:
            tried = [given for given, _ in cases]
            hints = (hint for wrong, hint in mistakes if _agrees(answer, wrong, tried, tolerance))
            return Feedback(False, next(hints, verdict.message), copy.deepcopy(arguments))
    return Feedback(True, right or "your function gives what it should in every case tried.")


def formula(
    answer: object,
    wanted: Callable[..., Any],
    cases: Iterable[tuple[Any, ...]],
    mistakes: Mistakes = (),
    tolerance: float = 1e-6,
    *,
    right: str = "",
) -> Feedback:
    """Judge a formula that the student derived beside the right one, whatever form it has."""
    symbols, cases = _symbols(answer), list(cases)
    if symbols is not None:
        names = list(inspect.signature(wanted).parameters)[: max(map(len, cases))]
        strange = sorted(symbols - set(names))
        if strange:
            return Feedback(False, f"{strange[0]} is not a quantity of this question: write it in {', '.join(names)}.")
        answer = _callable(answer, names)
    expected = [(case, float(wanted(*copy.deepcopy(case)))) for case in cases]
    return function(answer, expected, tolerance, absolute=1e-9, right=right, mistakes=mistakes)


def _symbols(answer: Any) -> set[str] | None:
    """Names in an expression of SymPy; None for anything else, a Lambda too, and what raises when looked at."""
    if callable(answer):
        return None
    try:
        return {str(symbol.name) for symbol in answer.free_symbols}
    except Exception:  # whatever a student's object may raise
        return None


def _callable(expression: Any, names: Sequence[str]) -> Callable[..., Any]:
    """Give the function that an expression of SymPy stands for, whatever its symbols are assumed to be."""

    def your_formula(*values: Any) -> Any:
        given = dict(zip(names, values, strict=True))
        return expression.evalf(subs={symbol: given[symbol.name] for symbol in expression.free_symbols})

    return your_formula


def _one_call(
    answer: Callable[..., Any], arguments: tuple[Any, ...], expected: float, near: tuple[float, float], unit: str
) -> Feedback:
    call = f"{getattr(answer, '__name__', 'your function')}({', '.join(map(repr, arguments))})"
    try:
        result = answer(*copy.deepcopy(arguments))
    except Exception as error:  # whatever a student's code may raise
        return Feedback(False, f"{call} raises {type(error).__name__}: {error}")
    if result is None:
        return Feedback(False, f"{call} returns nothing: is a return missing?")
    verdict = number(result, expected, near[0], absolute=near[1], unit=unit)
    return verdict if verdict else Feedback(False, f"{call}: {verdict.message}")


def _agrees(answer: Callable[..., Any], wrong: Callable[..., Any], cases: list[tuple[Any, ...]], near: float) -> bool:
    """Whether both give the same numbers in every case, those counted in which a function fails or is infinite."""
    pairs = [(value(answer, case), value(wrong, case)) for case in cases]
    same = [a == b or math.isclose(a, b, rel_tol=near, abs_tol=1e-9) or (a != a and b != b) for a, b in pairs]
    return all(same) and any(a == a for a, _ in pairs)


def value(of: Any, arguments: Sequence[Any]) -> float:
    """What a function gives as a number, or NaN, also for what is none; the arguments stay as they are."""
    try:
        return float(of(*copy.deepcopy(arguments)))
    except Exception:  # a student's code may raise anything, and a usual mistake divides by zero
        return math.nan


def _near(value: float, target: float, tolerance: float, absolute: float) -> bool:
    return math.isfinite(value) and abs(value - target) <= max(tolerance * abs(target), absolute)


def _general_hint(value: float, expected: float, tolerance: float, absolute: float, unit: str) -> str:
    """The most likely reason for a wrong number, without giving the right one away."""
    if not math.isfinite(value):
        return f"{value} is not a finite number: look for a division by zero or a logarithm of zero."
    if expected != 0:
        # A hint must not be a coincidence of a wide tolerance.
        tight = min(tolerance, 0.02)
        for factor, units, hint in _FACTORS:
            if re.fullmatch(units, unit) and _near(value, expected * factor, tight, 0.0):
                return hint
        if abs(expected) != 1 and _near(value, 1 / expected, tight, 0.0):
            return "this is the reciprocal: numerator and denominator have changed places."
        if 0 < expected < 1 and _near(value, 1 - expected, tight, 0.0):
            return "this is one minus the right answer: which of the two shares is asked?"
        if abs(value - expected) <= 5 * max(tolerance * abs(expected), absolute):
            return "close, but not close enough: round only at the end."
        if value * expected < 0:
            return "the sign is not right."
    direction = "large" if abs(value) > abs(expected) else "small"
    return f"{_show(value)}{_unit(unit)} is too {direction}."


def _read_number(answer: object, unit: str) -> list[float]:
    """All readings of an answer as a number, the likeliest first."""
    if isinstance(answer, bool | np.bool_):
        raise _NotANumberError(f"a number is asked, you gave {answer}.")
    if isinstance(answer, str):
        return _read_text(answer, unit)
    if callable(answer):
        raise _NotANumberError("this is a function: call it, and submit what it returns.")
    if not isinstance(answer, int | float | Fraction):
        try:
            array = np.asarray(answer)
        except Exception:  # an object of the student's own
            raise _NotANumberError(f"a number is asked, you gave {_quote(answer)}.") from None
        if array.size != 1:
            raise _NotANumberError(f"one number is asked, you gave {array.size}.")
        answer = array.reshape(-1)[0]
        if isinstance(answer, str | bool | np.bool_):
            return _read_number(str(answer) if isinstance(answer, str) else bool(answer), unit)
    try:
        if isinstance(answer, complex | np.complexfloating):
            answer = answer.real if answer.imag == 0 else "a complex number"
        return [float(answer)]  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise _NotANumberError(f"a number is asked, you gave {_quote(answer)}.") from None


_TEXT = re.compile(r"([-+]?[\d.,]*\d[\d.,]*(?:e[-+]?\d+)?)(?:/(\d+(?:\.\d+)?))?(.*)", re.IGNORECASE)


def _read_text(answer: str, unit: str) -> list[float]:
    text = answer.strip().replace("\u2212", "-").replace("_", "").replace("\u00a0", " ")
    match = _TEXT.fullmatch(re.sub(r"(?<=\d) (?=\d{3}(?!\d))", "", text).replace("= ", ""))
    if match is None:
        raise _NotANumberError(f"a number is asked, you gave {_quote(answer)}.")
    digits, divisor, given_unit = match[1], match[2], match[3].strip()
    # "1,460" may be a thousand and more, or one and a bit: both readings count.
    spellings = [digits.replace(",", "")]
    if digits.count(",") == 1 and "." not in digits:
        comma = digits.replace(",", ".")
        spellings = [spellings[0], comma] if re.search(r",\d{3}$", digits) else [comma]
    scale = 1.0
    if given_unit == "%" and unit != "%":
        scale = 0.01
    elif given_unit and _plain(given_unit) != _plain(unit):
        asked = f"in {unit}" if unit else "without a unit"
        raise _NotANumberError(f"the number is asked {asked}, you gave {_quote(answer)}.")
    try:
        return [scale * float(s) / float(divisor or 1) for s in spellings]
    except (ValueError, ZeroDivisionError):
        raise _NotANumberError(f"a number is asked, you gave {_quote(answer)}.") from None


def _items(answer: object, names: list[str]) -> list[Any]:
    if isinstance(answer, Mapping):
        if names:
            given = {_plain(_text(key)): value for key, value in answer.items()}
            missing = [name for name in names if _plain(_text(name)) not in given]
            if missing:
                raise _NotANumberError(f"there is no item for {', '.join(map(str, missing))}.")
            return [given[_plain(_text(name))] for name in names]
        return list(answer.values())
    if isinstance(answer, str):
        return [item for item in re.split(r"[,;]\s*|\s+", answer.strip(" []()")) if item]
    try:
        return list(np.asarray(answer).reshape(-1)) if hasattr(answer, "__array__") else list(answer)  # type: ignore[call-overload]
    except Exception:  # not iterable, or an object of the student's own that fails
        raise _NotANumberError(f"a list is asked, you gave {_quote(answer)}.") from None


def _truth(answer: object) -> str | None:
    if isinstance(answer, bool | np.bool_):
        return "yes" if answer else "no"
    text = _plain(_text(answer))
    if text in {"yes", "y", "true", "t", "1"}:
        return "yes"
    return "no" if text in {"no", "n", "false", "f", "0"} else None


def _text(value: object) -> str:
    if isinstance(value, list | tuple | set) and len(value) == 1:
        value = next(iter(value))
    try:
        return str(value)
    except Exception:  # an object of the student's own
        return type(value).__name__


def _plain(text: str) -> str:
    return re.sub(r"[\s()\[\]'\"]+|[.:;,]+$", "", text).casefold()


def _quote(value: object) -> str:
    text = _text(value) if isinstance(value, str | int | float) else f"a {type(value).__name__}"
    return f"{text[:40]!r}" if isinstance(value, str) else text[:40]


def _show(value: float) -> str:
    return f"{value:.4g}"


def _unit(unit: str) -> str:
    return f" {unit}" if unit else ""


def _place(index: int, names: list[str]) -> str:
    return f"item {names[index]!r}" if names else f"item {index + 1}"

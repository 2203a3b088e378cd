"""Calls what a student wrote, for the checks of labs: whatever goes wrong in it becomes a sentence.

`called` stands before a check that asks its own questions; `staged` is the whole check of a stage whose function is
compared, case by case, with the right one and with usual mistakes.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from voicewire_book.kit.exercises import UNANSWERED, Feedback, Mistakes, _callable, _symbols, sequence, unanswered

__all__ = ["AGAIN", "Case", "Function", "NotYetError", "as_function", "called", "expression", "staged"]

MOST = 10_000
"""Numbers that are looked at in what a function gives."""

AGAIN = "What the check returns has the arguments: `.case`."
"""How a student gets at a case that failed for no usual reason."""

Case = tuple[Any, ...]
"""The arguments of one call."""

Function = Callable[..., Any]
"""A student's function, as `called` hands it to a check."""


def as_function(answer: object) -> Function | Feedback:
    """Return an answer that can be called, or what to say to one that can't."""
    if unanswered(answer):
        return UNANSWERED
    return answer if callable(answer) else Feedback(False, "submit the function itself, without calling it.")


def expression(answer: Any, *names: str) -> Any:
    """Return the function that an expression of SymPy stands for, or a row of them; anything else as it is."""
    if isinstance(answer, list | tuple) and answer and all(_symbols(one) is not None for one in answer):
        parts = [expression(one, *names) for one in answer]
        strange = any(_symbols(part) is not None for part in parts)
        return answer if strange else lambda *given: [part(*given) for part in parts]
    symbols = _symbols(answer)
    if symbols is None:
        return answer
    if len(symbols) == len(names) == 1:
        return _callable(answer, list(symbols))
    return _callable(answer, names) if symbols <= set(names) else answer


class NotYetError(Exception):
    """Ends a check; the message is for the student."""


def called(check: Callable[[Function], Feedback]) -> Callable[[object], Feedback]:
    """Put before a check what every check of a function needs.

    The check gets the function only if there is one. What the function raises, what it returns that can't be worked
    with, and a `NotYetError` of the check all end it with a sentence.
    """

    @functools.wraps(check)
    def outer(answer: object) -> Feedback:
        function = as_function(answer)
        if isinstance(function, Feedback):
            return function

        def call(*arguments: object) -> Any:
            try:
                return function(*arguments)
            except Exception as error:  # whatever a student's code may raise
                given = " and ".join(map(_words, arguments))
                raise NotYetError(f"your function, given {given}, raises {type(error).__name__}: {error}") from None

        try:
            return check(call)
        except NotYetError as error:
            return Feedback(False, str(error))
        except Exception as error:  # an object that no check expects: it fails where it is compared
            return Feedback(False, f"what your function returns can't be used: {type(error).__name__}: {error}")

    return outer


def _words(argument: object) -> str:
    if isinstance(argument, np.ndarray | list | tuple):
        return f"{'an array' if isinstance(argument, np.ndarray) else 'a list'} of {len(argument)}"
    return f"{argument:.4g}" if isinstance(argument, float) else f"{argument!r:.60}"


class _NoNumbersError(Exception):
    """What came back holds no numbers; the message is for the student."""


def staged(
    answer: object, cases: Sequence[Case], right: Function, mistakes: Mistakes, said: str,
    tolerance: float = 1e-9,
) -> Feedback:  # fmt: skip
    """Judge a stage: equal in every case, or a usual mistake's hint, or what the first case that differs shows."""
    answer = as_function(answer)
    if isinstance(answer, Feedback):
        return answer
    results: list[list[Any]] = []
    for case in cases:
        try:
            results.append(_flat(answer(*copy.deepcopy(case))))
        except _NoNumbersError as problem:
            return Feedback(False, f"{_told(case)}{problem}", copy.deepcopy(case))
        except Exception as error:  # whatever a student's code may raise
            return Feedback(False, f"{_told(case)}raises {type(error).__name__}: {error}", copy.deepcopy(case))
    wanted = [_flat(right(*copy.deepcopy(case))) for case in cases]
    verdicts = [_compared(got, due, tolerance) for got, due in zip(results, wanted, strict=True)]
    wrong = next((i for i, verdict in enumerate(verdicts) if not verdict), None)
    if wrong is None:
        return Feedback(True, said)
    for mistake, hint in mistakes:
        if all(_same(mistake, case, got, tolerance) for case, got in zip(cases, results, strict=True)):
            return Feedback(False, hint)
    said = f"{_told(cases[wrong])}is not right yet. {verdicts[wrong].message} {AGAIN}"
    return Feedback(False, said, copy.deepcopy(cases[wrong]))


def _flat(value: Any) -> list[Any]:
    """Return the numbers in what a function gave, real or complex, however they are nested."""
    if value is None:
        raise _NoNumbersError("gives nothing: is a return missing?")
    if isinstance(value, str | bytes):
        raise _NoNumbersError("gives text: numbers are asked.")
    if isinstance(value, np.ndarray):
        kind = complex if np.iscomplexobj(value) else float
        return np.asarray(value, kind).ravel()[:MOST].tolist()
    if isinstance(value, Mapping):
        value = value.values()
    if isinstance(value, Iterable):
        return [number for part in islice(value, MOST) for number in _flat(part)]
    return [complex(value) if isinstance(value, complex) else float(value)]


def _compared(got: list[Any], due: list[Any], tolerance: float) -> Feedback:
    """Compare numbers, complex ones part by part."""
    if len(got) != len(due):
        return Feedback(False, f"{len(due)} number(s) are asked, you gave {len(got)}.")
    if not due:
        return Feedback(True, "nothing is asked, and nothing came.")
    absolute = max(1e-12, tolerance * 1e-3 * max(map(abs, due)))
    if not any(isinstance(number, complex) for number in (*got, *due)):
        return sequence(got, due, tolerance, absolute=absolute)
    wanted: dict[str, float] = {}
    for place, number in enumerate(due, 1):
        wanted |= {f"{place}, real part": number.real, f"{place}, imaginary part": number.imag}
    given = [part for number in got for part in (number.real, number.imag)]
    return sequence(given, wanted, tolerance, absolute=absolute)


def _told(case: Case) -> str:
    """The arguments of a call, in words that fit a line."""
    return f"with ({', '.join(map(_shown, case))}) your function "


def _shown(given: object) -> str:
    if isinstance(given, np.random.Generator):
        return "rng"
    if callable(given):
        return "a function"
    if isinstance(given, np.ndarray):
        return f"an array of shape {given.shape}" if given.size > 6 else f"{given.tolist()!r:.60}"
    if isinstance(given, float | complex):
        return f"{given:.6g}"
    text = repr(given)
    if len(text) > 40 and isinstance(given, list | tuple):
        return f"a list of {len(given)}"
    return text if len(text) <= 40 else f"{text[:39]}…"


def _same(mistake: Function, case: Case, got: list[Any], tolerance: float) -> bool:
    """Whether a usual mistake gives just this."""
    return bool(_compared(got, _flat(mistake(*copy.deepcopy(case))), tolerance))

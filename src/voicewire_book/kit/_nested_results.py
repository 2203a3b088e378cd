"""Judges a student's function whose results hold bytes and words beside numbers, for the checks of labs."""

from __future__ import annotations

import copy
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from voicewire_book.kit._student_functions import AGAIN, MOST, Case, Function, NotYetError, as_function
from voicewire_book.kit.exercises import Feedback, Mistakes

__all__ = ["compared"]


def compared(
    answer: object, cases: Sequence[Case], right: Function, mistakes: Mistakes, said: str
) -> Feedback:
    """Judge a function whose results hold bytes, words and numbers, in lists, tuples, sets and dicts of any depth."""
    function = as_function(answer)
    if isinstance(function, Feedback):
        return function
    results = []
    for case in cases:
        given = " and ".join(map(_given, case))
        try:
            results.append(_plain(function(*copy.deepcopy(case))))
        except NotYetError as problem:
            return Feedback(False, f"given {given}, your function {problem}", copy.deepcopy(case))
        except Exception as error:  # whatever a student's code may raise
            told = f"given {given}, your function raises {type(error).__name__}: {error}"
            return Feedback(False, told, copy.deepcopy(case))
    wanted = [_plain(right(*copy.deepcopy(case))) for case in cases]
    gaps = [_gap(got, due) for got, due in zip(results, wanted, strict=True)]
    wrong = next((i for i, gap in enumerate(gaps) if gap), None)
    if wrong is None:
        return Feedback(True, said)
    for mistake, hint in mistakes:
        if all(_alike(mistake, case, got) for case, got in zip(cases, results, strict=True)):
            return Feedback(False, hint)
    given = " and ".join(map(_given, cases[wrong]))
    why = "gives nothing: is a return missing?" if results[wrong] is None else f"{gaps[wrong]} {AGAIN}"
    return Feedback(False, f"given {given}, your function {why}", copy.deepcopy(cases[wrong]))


def _alike(mistake: Function, case: Case, got: Any) -> bool:
    """Whether a usual mistake gives just this; one that raises here gives nothing."""
    try:
        return not _gap(got, _plain(mistake(*copy.deepcopy(case))))
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return False


def _plain(value: Any) -> Any:
    """Return what a function gave in types whose comparison is Python's own: None, float, str, bytes, list, dict."""
    if value is None:
        return value
    if isinstance(value, str):
        return "".join(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if isinstance(value, numbers.Real | np.bool_):
        return float(value)
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {_key(key): _plain(item) for key, item in islice(value.items(), MOST)}
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, islice(value, MOST)), key=repr)
    if isinstance(value, Iterable):
        return [_plain(item) for item in islice(value, MOST)]
    raise NotYetError(f"gives a {type(value).__name__}, which is not asked for.")


def _key(value: Any) -> Any:
    """Return a key of a dict as something that can be one: a list among them becomes a tuple."""
    plain = _plain(value)
    return tuple(plain) if isinstance(plain, list) else plain


def _gap(got: Any, due: Any, where: str = "") -> str:
    """Return where two plain results differ first, in words; nothing if they don't."""
    at = f" at {where}" if where else ""
    if isinstance(got, float) and isinstance(due, float):
        same = got == due or math.isclose(got, due, rel_tol=1e-9, abs_tol=1e-9)
        return "" if same else f"has {got:.6g}{at}; it should be {due:.6g}."
    if type(got) is not type(due):
        return f"has {_shown(got)}{at}; it should be {_shown(due)}."
    if isinstance(due, list):
        if len(got) != len(due):
            return f"has {len(got)} items{at}; {len(due)} are asked."
        pairs = ((_gap(a, b, f"{where}[{i}]")) for i, (a, b) in enumerate(zip(got, due, strict=True)))
        return next(filter(None, pairs), "")
    if isinstance(due, dict):
        if missing := [key for key in due if key not in got]:
            return f"lacks {_shown(missing[0])}{at}."
        if more := [key for key in got if key not in due]:
            return f"has {_shown(more[0])}{at}, which does not belong there."
        return next(filter(None, (_gap(got[key], due[key], f"{where}[{_shown(key)}]") for key in due)), "")
    return "" if got == due else f"has {_shown(got)}{at}; it should be {_shown(due)}."


def _shown(value: Any) -> str:
    """A plain value as it fits into a sentence; bytes in hexadecimal."""
    if isinstance(value, bytes):
        return f"b'{value[:24].hex(' ')}{' …' if len(value) > 24 else ''}'"
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value!r:.60}"


def _given(argument: object) -> str:
    if isinstance(argument, np.ndarray | list | tuple | dict):
        return f"a {type(argument).__name__} of {len(argument)}"
    return f"{argument:.4g}" if isinstance(argument, float) else f"{argument!r:.60}"

"""How a stage of a lab is judged: a student's function beside the right one, and beside usual mistakes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from voicewire.exercises import UNANSWERED, Feedback, Mistakes, sequence, unanswered

MOST = 10_000
"""Numbers that are looked at in what a function gives."""

Case = tuple[Any, ...]


class NoNumbersError(Exception):
    """What came back holds no numbers; the message is for the student."""


def _flat(value: Any) -> list[float]:
    """Return the numbers in what a function gave, however they are nested."""
    if value is None:
        raise NoNumbersError("gives nothing: is a return missing?")
    if isinstance(value, str | bytes):
        raise NoNumbersError("gives text: numbers are asked.")
    if isinstance(value, np.ndarray):
        return np.asarray(value, float).ravel()[:MOST].tolist()
    if isinstance(value, Iterable):
        return [number for part in islice(value, MOST) for number in _flat(part)]
    return [float(value)]


def _told(case: Case) -> str:
    """The arguments of a call, in words that fit a line."""
    words = ["rng" if isinstance(given, np.random.Generator) else f"{given!r:.40}" for given in case]
    return f"with ({', '.join(words)}) your function "


def staged(answer: object, cases: Sequence[Case], right: Callable[..., Any], mistakes: Mistakes, said: str) -> Feedback:
    """Judge a stage: equal in every case, or a usual mistake's hint, or what the first case that differs shows."""
    if unanswered(answer):
        return UNANSWERED
    if not callable(answer):
        return Feedback(False, "hand over the function itself, without calling it.")
    results: list[list[float]] = []
    for case in cases:
        try:
            results.append(_flat(answer(*copy.deepcopy(case))))
        except NoNumbersError as problem:
            return Feedback(False, f"{_told(case)}{problem}")
        except Exception as error:  # whatever a student's code may raise
            return Feedback(False, f"{_told(case)}raises {type(error).__name__}: {error}")
    wanted = [_flat(right(*copy.deepcopy(case))) for case in cases]
    verdicts = [sequence(got, due, 1e-9) for got, due in zip(results, wanted, strict=True)]
    wrong = next((i for i, verdict in enumerate(verdicts) if not verdict), None)
    if wrong is None:
        return Feedback(True, said)
    for mistake, hint in mistakes:
        if all(_same(mistake, case, got) for case, got in zip(cases, results, strict=True)):
            return Feedback(False, hint)
    return Feedback(False, f"{_told(cases[wrong])}is not right yet. {verdicts[wrong].message}")


def _same(mistake: Callable[..., Any], case: Case, got: list[float]) -> bool:
    """Whether a usual mistake gives just this."""
    return bool(sequence(got, _flat(mistake(*copy.deepcopy(case))), 1e-9))

"""Judges what a student wrote, for the checks of this room: whatever goes wrong in it becomes a sentence."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from voicewire_book.kit._student import as_function, expression
from voicewire_book.kit.exercises import Feedback, number, sequence, unanswered

Mistake = tuple[Callable[..., Any], str]
"""A function that does what students often do, and what to tell them."""


def judged(
    answer: object,
    cases: Sequence[tuple[Any, ...]],
    right: Callable[..., Any],
    mistakes: Sequence[Mistake],
    said: str,
    *,
    tolerance: float = 1e-9,
    tidy: Callable[[Any], Any] = lambda result: result,
) -> Feedback:
    """Judge a function by what it gives in every case; a usual mistake is one that gives the same in all of them."""
    answer = as_function(expression(answer, *inspect.signature(right).parameters))
    if isinstance(answer, Feedback):
        return answer
    results = []
    for case in cases:
        try:
            results.append(tidy(answer(*copy.deepcopy(case))))
        except Exception as error:  # whatever a student's code may raise or return
            return Feedback(False, f"{_call(answer, case)} fails with {type(error).__name__}: {error}")
        if results[-1] is None:
            return Feedback(False, f"{_call(answer, case)} returns nothing: is a return missing?")
    verdicts = [_compared(got, right(*case), tolerance) for got, case in zip(results, cases, strict=True)]
    wrong = next((i for i, verdict in enumerate(verdicts) if not verdict), None)
    if wrong is None:
        return Feedback(True, said)
    for mistake, hint in mistakes:
        if all(_compared(got, mistake(*case), tolerance) for got, case in zip(results, cases, strict=True)):
            return Feedback(False, hint)
    return Feedback(False, f"{_call(answer, cases[wrong])}: {verdicts[wrong].message}")


def matched(answer: object, wanted: Sequence[str], confused: Mapping[tuple[str, str], str], said: str) -> Feedback:
    """Judge words put to places; ``confused`` has a hint for a word in the place of another one."""
    verdict = sequence(answer, wanted, right=said)
    if verdict or unanswered(answer):
        return verdict
    for at, word in enumerate(wanted):
        for (meant, given), hint in confused.items():
            if meant == word and _at(answer, at) == given:
                return Feedback(False, f"{chr(ord('A') + at)}: {hint}")
    return verdict


def _at(answer: object, place: int) -> str:
    """Return one word of an answer, or nothing where it has none."""
    try:
        words = answer.replace(",", " ").split() if isinstance(answer, str) else list(answer)  # type: ignore[call-overload]
        return str(words[place]).strip().casefold()
    except Exception:  # not a list, too short, or an object of the student's own
        return ""


def _compared(got: Any, wanted: Any, tolerance: float) -> Feedback:
    if unanswered(got):
        return Feedback(wanted == [], "gives nothing.")
    if isinstance(wanted, list):
        return sequence(got, wanted, tolerance)
    return number(got, float(wanted), tolerance)


def _call(answer: object, case: tuple[Any, ...]) -> str:
    return f"{getattr(answer, '__name__', 'your function')}({', '.join(f'{given!r:.60}' for given in case)})"

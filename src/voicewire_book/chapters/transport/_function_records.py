"""Judges what a student wrote, for the checks of this room: whatever goes wrong in it becomes a sentence."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voicewire_book.kit._student_functions import Case, Function, as_function, expression
from voicewire_book.kit.exercises import Feedback, Mistakes, number, sequence, unanswered


def judged(
    answer: object,
    cases: Sequence[Case],
    right: Function,
    mistakes: Mistakes,
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


def _call(answer: object, case: Case) -> str:
    return f"{getattr(answer, '__name__', 'your function')}({', '.join(f'{given!r:.60}' for given in case)})"


@dataclass(frozen=True)
class Results:
    """A function that gives a number or a row of them is asked, or an expression of SymPy."""

    cases: Sequence[Case]
    wanted: Function
    mistakes: Mistakes
    right: str
    tolerance: float = 1e-9
    tidy: Callable[[Any], Any] = lambda result: result

    def check(self, answer: object) -> Feedback:
        """Judge an answer."""
        return judged(answer, self.cases, self.wanted, self.mistakes, self.right, tolerance=self.tolerance,
                      tidy=self.tidy)  # fmt: skip


@dataclass(frozen=True)
class Places:
    """Words are to be put to places; `confused` has a hint for a word in the place of another one."""

    expected: Sequence[str]
    confused: Mapping[tuple[str, str], str]
    right: str

    def check(self, answer: object) -> Feedback:
        """Judge an answer."""
        return matched(answer, self.expected, self.confused, self.right)

"""Kinds of records that this part needs beside those of `voicewire_book.kit.records`."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voicewire_book.kit._student_functions import Case, Function, as_function, expression
from voicewire_book.kit.exercises import Feedback, Mistakes, number, sequence, unanswered


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
        """Judge a function by what it gives; a usual mistake is one that gives the same in all cases."""
        answer = as_function(expression(answer, *inspect.signature(self.wanted).parameters))
        if isinstance(answer, Feedback):
            return answer
        results = []
        for case in self.cases:
            try:
                results.append(self.tidy(answer(*copy.deepcopy(case))))
            except Exception as error:  # whatever a student's code may raise or return
                return Feedback(False, f"{_call(answer, case)} fails with {type(error).__name__}: {error}")
            if results[-1] is None:
                return Feedback(False, f"{_call(answer, case)} returns nothing: is a return missing?")
        verdicts = list(self._beside(self.wanted, results))
        wrong = next((i for i, verdict in enumerate(verdicts) if not verdict), None)
        if wrong is None:
            return Feedback(True, self.right)
        for mistake, hint in self.mistakes:
            if all(self._beside(mistake, results)):
                return Feedback(False, hint)
        return Feedback(False, f"{_call(answer, self.cases[wrong])}: {verdicts[wrong].message}")

    def _beside(self, function: Function, results: Sequence[Any]) -> Iterator[Feedback]:
        """Compare results with those of a function, case by case."""
        return (_compared(got, function(*case), self.tolerance) for got, case in zip(results, self.cases, strict=True))


@dataclass(frozen=True)
class Places:
    """Words are to be put to places; `confused` has a hint for a word in the place of another one."""

    expected: Sequence[str]
    confused: Mapping[tuple[str, str], str]
    right: str

    def check(self, answer: object) -> Feedback:
        """Judge an answer."""
        verdict = sequence(answer, self.expected, right=self.right)
        if verdict or unanswered(answer):
            return verdict
        for at, word in enumerate(self.expected):
            for (meant, given), hint in self.confused.items():
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

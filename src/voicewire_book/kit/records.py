"""Kinds of exercises: a record says what is right, which mistakes are usual and what to say to each.

A chapter's records stand in its `table`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from voicewire_book.kit import _nested_results, _student_functions, exercises
from voicewire_book.kit._student_functions import Case, Function
from voicewire_book.kit.exercises import Feedback, Mistakes

__all__ = ["Choice", "Formula", "Judged", "Made", "Nested", "Number", "Record", "Row", "Stage"]

class Record(Protocol):
    """What an answer is judged by."""

    def check(self, answer: object, *given: Any) -> Feedback:
        """Judge an answer, whatever it is; `given` is what else the chapter hands over: a seed, its own results."""


@dataclass(frozen=True)
class Number:
    """A number is asked; `hints` has the usual wrong ones."""

    expected: float
    tolerance: float = 0.01
    unit: str = ""
    hints: Mapping[float, str] | None = None
    right: str = ""
    absolute: float = 1e-12

    def check(self, answer: object) -> Feedback:
        """Judge an answer."""
        return exercises.number(answer, self.expected, self.tolerance, absolute=self.absolute, unit=self.unit,
                                hints=self.hints, right=self.right)  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """One of the options is asked, or yes or no."""

    expected: str | bool
    options: Mapping[str, str] | Sequence[str] = ()
    hints: Mapping[str, str] | None = None
    right: str = ""

    def check(self, answer: object) -> Feedback:
        """Judge an answer."""
        return exercises.choice(answer, self.expected, self.options, hints=self.hints, right=self.right)


@dataclass(frozen=True)
class Row:
    """Several numbers or words are asked; `mistakes` has the usual wrong rows."""

    expected: Sequence[Any] | Mapping[str, Any] | np.ndarray
    tolerance: float = 0.01
    unit: str = ""
    right: str = ""
    mistakes: Sequence[tuple[Sequence[Any], str]] = ()
    absolute: float = 1e-12
    ordered: bool = True

    def check(self, answer: object) -> Feedback:
        """Judge an answer."""
        verdict = self._same(answer, self.expected)
        mistakes = () if verdict else self.mistakes
        return next((Feedback(False, hint) for row, hint in mistakes if self._same(answer, row)), verdict)

    def _same(self, answer: object, row: Sequence[object] | Mapping[str, object] | np.ndarray) -> Feedback:
        return exercises.sequence(answer, row, self.tolerance, absolute=self.absolute, ordered=self.ordered,
                                  unit=self.unit, right=self.right)  # fmt: skip


@dataclass(frozen=True)
class Formula:
    """A function that gives a number is asked, or an expression of SymPy."""

    wanted: Function
    cases: Iterable[Case]
    mistakes: Mistakes = ()
    tolerance: float = 1e-6
    right: str = ""

    def check(self, answer: object) -> Feedback:
        """Judge an answer."""
        return exercises.formula(answer, self.wanted, self.cases, self.mistakes, self.tolerance, right=self.right)


@dataclass(frozen=True)
class Stage:
    """A function that gives numbers is asked, in arrays and lists of any depth, real or complex."""

    cases: Sequence[Case]
    wanted: Function
    mistakes: Mistakes
    right: str
    tolerance: float = 1e-9

    def check(self, answer: object) -> Feedback:
        """Judge an answer."""
        return _student_functions.staged(answer, self.cases, self.wanted, self.mistakes, self.right, self.tolerance)


@dataclass(frozen=True)
class Nested:
    """A function is asked whose results hold bytes and words beside numbers, in lists, sets and dicts of any depth."""

    cases: Sequence[Case]
    wanted: Function
    mistakes: Mistakes
    right: str

    def check(self, answer: object) -> Feedback:
        """Judge an answer."""
        return _nested_results.compared(answer, self.cases, self.wanted, self.mistakes, self.right)


@dataclass(frozen=True)
class Made:
    """A record that is computed when it is asked for: importing a chapter's exercises costs nothing."""

    make: Callable[[], Record]

    def check(self, answer: object, *given: object) -> Feedback:
        """Judge an answer."""
        return self.make().check(answer, *given)


@dataclass(frozen=True)
class Judged:
    """A question that needs a function of its own."""

    judge: Callable[..., Feedback]

    def check(self, answer: object, *given: object) -> Feedback:
        """Judge an answer."""
        return self.judge(answer, *given)

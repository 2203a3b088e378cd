"""Exercises by hand whose numbers are drawn for each reader from a seed: question, check, hints and solution follow.

Without a seed an exercise has the numbers of the published page, so that page and notebook stay as they are. They
stand among a chapter's records (`records`).
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from voicewire_book.kit.exercises import Feedback
from voicewire_book.kit.questions import generator
from voicewire_book.kit.records import Number, Row

__all__ = ["Drawn", "Exercise", "reader_seed"]

SWITCH: Final = "VOICEWIRE_SEED"
_TRIES, _DIGITS, _COLUMNS = 500, 18, 76

Answer = float | tuple[float, ...]
"""A number, or several in an order."""


@dataclass(frozen=True)
class Drawn:
    """An exercise with its numbers.

    Attributes
    ----------
    numbers : str
        What is given, by the symbols of the question.
    answer : float or tuple of float
        The right one, in `unit`.
    mistakes : tuple of (float or tuple of float, str)
        Usual wrong answers, and what to say to each.
    steps : str
        The solution with these numbers, a step a line.
    unit : str
        Of the answer.
    right : str
        What to say to the right answer.
    tolerance, absolute : float
        Relative and absolute deviation that still counts as right.
    """

    numbers: str
    answer: Answer
    mistakes: tuple[tuple[Answer, str], ...]
    steps: str
    unit: str = ""
    right: str = ""
    tolerance: float = 1e-6
    absolute: float = 1e-9

    def __repr__(self) -> str:
        return textwrap.fill(self.numbers, _COLUMNS)

    @property
    def worked(self) -> str:
        """The solution with these numbers, in lines that fit a page."""
        return "\n".join(textwrap.fill(line, _COLUMNS, subsequent_indent="  ") for line in self.steps.splitlines())

    @property
    def record(self) -> Number | Row:
        """What an answer is judged by."""
        if isinstance(self.answer, tuple):
            rows = [(wrong, hint) for wrong, hint in self.mistakes if isinstance(wrong, tuple)]
            return Row(self.answer, self.tolerance, self.unit, self.right, rows, self.absolute)
        hints = {wrong: hint for wrong, hint in self.mistakes if not isinstance(wrong, tuple)}
        return Number(self.answer, self.tolerance, self.unit, hints, self.right, self.absolute)

    def check(self, answer: object) -> Feedback:
        """Judge an answer."""
        return self.record.check(answer)

    def apart(self) -> bool:
        """Whether no mistake can be taken for the right answer, nor for another mistake with another hint."""
        said: list[tuple[Answer, str]] = [(self.answer, ""), *self.mistakes]
        return all(one[1] == other[1] or self._far(one[0], other[0])
                   for i, one in enumerate(said) for other in said[:i])  # fmt: skip

    def _far(self, one: Answer, other: Answer) -> bool:
        a, b = np.atleast_1d(one), np.atleast_1d(other)
        if a.shape != b.shape:
            return True
        margin = 2 * np.maximum(self.absolute, self.tolerance * np.maximum(abs(a), abs(b)))
        return bool(np.any(abs(a - b) > margin))


def reader_seed() -> int | None:
    """Return the seed that a reader has set in the environment, or nothing: then the numbers are those of the page."""
    given = os.environ.get(SWITCH, "").strip()
    return _whole(given, f"the variable {SWITCH}") if given else None


def _whole(seed: object, where: str) -> int:
    digits = str(seed) if isinstance(seed, int | np.integer | str) and not isinstance(seed, bool) else ""
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS):
        asked = f"set it to a whole number from 0 on, of at most {_DIGITS} digits"
        raise ValueError(f"{where} is {str(seed)[:40]!r}: {asked}")
    return int(digits)


@dataclass(frozen=True)
class Exercise:
    """An exercise by hand: the numbers of the page, and how others are drawn.

    Attributes
    ----------
    name : str
        A name of its own: two exercises draw different numbers from one seed.
    page : tuple
        The numbers of the published page.
    draw : callable
        Numbers from a generator, as `page` has them.
    made : callable
        The exercise with such numbers.
    """

    name: str
    page: tuple[Any, ...]
    draw: Callable[[np.random.Generator], tuple[Any, ...]]
    made: Callable[..., Drawn]

    def own(self, seed: object = None) -> Drawn:
        """Return the exercise with the numbers of a seed."""
        if seed is None:
            return self.made(*self.page)
        rng = generator(_whole(seed, "the seed"), f"exercise {self.name}")
        for _ in range(_TRIES):
            drawn = self.made(*self.draw(rng))
            if drawn.apart():
                return drawn
        raise RuntimeError(f"no numbers for {self.name} in {_TRIES} draws")

    def check(self, answer: object, seed: object = None) -> Feedback:
        """Judge an answer to the exercise with the numbers of a seed."""
        return self.own(seed).check(answer)



"""The table of a chapter's exercises, by the labels of the book.

It stands in ``chapters/<part>/exercises/<chapter>.py``, whose notebook calls ``check("nfc-ex-slots", answer)``. A stage
of a lab is called by the lab's label with the stage's name behind it.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from typing import TypeVar

from voicewire_book.kit._student_functions import Function, called
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import Feedback
from voicewire_book.kit.records import Judged, Made, Record

__all__ = ["Exercises"]

Judge = TypeVar("Judge", bound=Callable[..., Feedback])


class Exercises:
    """A chapter's exercises and the stages of its lab."""

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}

    def __setitem__(self, label: str, record: Record) -> None:
        if label in self._records:
            raise ValueError(f"{label} is there already: each exercise has a label of its own")
        self._records[label] = record

    def __getitem__(self, label: str) -> Record:
        if label not in self._records:
            near = difflib.get_close_matches(str(label), self._records, 1)
            meant = f": do you mean {near[0]!r}?" if near else f". They are {', '.join(self._records)}."
            raise LookupError(f"{label!r} is no exercise of this chapter{meant}")
        return self._records[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def made(self, label: str) -> Callable[[Callable[[], Record]], Callable[[], Record]]:
        """Keep a record that the decorated function makes when it is asked for."""

        def keep(make: Callable[[], Record]) -> Callable[[], Record]:
            self[label] = Made(make)
            return make

        return keep

    def judged(self, label: str) -> Callable[[Judge], Judge]:
        """Keep a question that the decorated function judges."""

        def keep(judge: Judge) -> Judge:
            self[label] = Judged(judge)
            return judge

        return keep

    def called(self, label: str) -> Callable[[Callable[[Function], Feedback]], Callable[[Function], Feedback]]:
        """Keep a question that the decorated function judges by calling what it is given."""

        def keep(judge: Callable[[Function], Feedback]) -> Callable[[Function], Feedback]:
            self[label] = Judged(called(judge))
            return judge

        return keep

    def check(self, label: str, answer: object, *given: object) -> Feedback:
        """Judge an answer to the exercise of a label."""
        return self[label].check(answer, *given)

    def given(self, label: str, seed: object = None) -> Drawn:
        """Return an exercise with the numbers of a seed, or with those of the page."""
        record = self[label]
        if not isinstance(record, Exercise):
            raise LookupError(f"the numbers of {label!r} are not drawn: they stand in its question")
        return record.own(seed)

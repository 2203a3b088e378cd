"""The book's exercises and the stages of its labs, by their labels: every chapter's table."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import Any

from voicewire_book import paths
from voicewire_book.kit.exercises import Feedback
from voicewire_book.kit.records import Record
from voicewire_book.kit.table import Exercises


@cache
def tables() -> dict[str, Exercises]:
    """Each chapter's table, by its module's name."""
    found = {}
    for part in paths.PARTS:
        package = importlib.import_module(f"voicewire_book.chapters.{part.name}.exercises")
        for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            table = getattr(importlib.import_module(info.name), "EXERCISES", None)
            if table is not None:
                found[info.name] = table
    return found


@cache
def _table(label: str) -> Exercises:
    [table] = [table for table in tables().values() if label in list(table)]
    return table


def record(label: str) -> Record:
    """The record of a label."""
    return _table(label)[label]


def check(label: str, answer: object, *given: Any) -> Feedback:
    """Judge an answer to any exercise of the book."""
    return _table(label).check(label, answer, *given)


@dataclass(frozen=True)
class Of:
    """`check` for one label."""

    label: str

    def __call__(self, answer: object, *given: Any) -> Feedback:
        return check(self.label, answer, *given)

    @property
    def __name__(self) -> str:
        return self.label


def of(label: str) -> Of:
    """Return `check` for one label, for rows that name it once and ask it often."""
    _table(label)
    return Of(label)

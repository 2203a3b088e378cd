"""What the tests of labs that `staged` judges share: a lab's stages and its solution, as they stand in the chapter."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import nbformat
import numpy as np
import rooms

from voicewire.pharyngeal import reference as tract
from voicewire_book import paths
from voicewire_book.kit import _student
from voicewire_book.kit.exercises import Feedback

LABS = {
    "echo/01_adaptive_filters": "echo.canceller_lab",
    "echo/02_rls_by_shifts": "echo.dcd_lab",
    "echo/03_data_reuse": "echo.reuse_lab",
    "pharyngeal/01_tract_to_formants": "pharyngeal.tube_lab",
    "pharyngeal/02_formants": "pharyngeal.formant_lab",
    "pharyngeal/03_articulators": "pharyngeal.contour_lab",
    "pharyngeal/04_reproduction": "pharyngeal.token_lab",
    "nfc/01_slow_link": "nfc.session_lab",
    "nfc/02_errors_and_timers": "nfc.channel_lab",
    "nfc/03_reproduction": "nfc.control_lab",
}
"""Chapters, and the module with the checks of each one's lab."""

GIVEN: dict[str, dict[str, Any]] = {
    "pharyngeal/01_tract_to_formants": {"SPEED": tract.SPEED, "DENSITY": tract.DENSITY, "wave": tract.wave},
}
"""What a lab says that its chapter gives."""

Check = Callable[[object], Feedback]


def module(chapter: str) -> ModuleType:
    """The checks of a chapter's lab."""
    return rooms.module(LABS[chapter])


def cells(chapter: str) -> list[Any]:
    """The cells of a chapter."""
    return list(nbformat.read(paths.root() / "notebooks" / f"{chapter}.ipynb", as_version=4).cells)


def stages(chapter: str) -> list[tuple[str, Check]]:
    """(name of the stage, its check), as the chapter asks for them."""
    asked = [cell.source for cell in cells(chapter) if cell.id.startswith("lab-check-")]
    names = [source.partition("(")[2].rstrip(")") for source in asked]
    assert [cell.source.split(" = ")[0] for cell in cells(chapter) if cell.id.startswith("lab-answer-")] == names
    checks = [source.partition("(")[0].rpartition(".")[2] for source in asked]
    return [(name, getattr(module(chapter), check)) for name, check in zip(names, checks, strict=True)]


def solutions(chapter: str) -> dict[str, Any]:
    """The functions in the chapter's folded solution, run in their order with nothing before them but what is given."""
    made: dict[str, Any] = {"math": math, "np": np, **GIVEN.get(chapter, {})}
    for cell in cells(chapter):
        if cell.id.startswith("lab-solution-"):
            exec(compile(cell.source, cell.id, "exec"), made)
    return made


def heard(chapter: str, check: Check, monkeypatch: Any) -> tuple[Any, ...]:
    """What a check hands to its judge: cases, what is right, usual mistakes, what is said to a right answer."""
    taken: list[tuple[Any, ...]] = []

    def listen(answer: object, *given: Any, **named: Any) -> Feedback:
        taken.append(given)
        return _student.staged(answer, *given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(module(chapter), "staged", listen)
        check(lambda *given: None)
    return taken[0]

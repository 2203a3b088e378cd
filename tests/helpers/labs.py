"""What the tests of labs whose stages are `Stage` records share: stages and solution, as the chapter has them."""

from __future__ import annotations

import math
import re
from typing import Any

import asking
import nbformat
import numpy as np

from voicewire.pharyngeal import reference as tract
from voicewire_book import paths
from voicewire_book.kit.records import Made, Stage

_PARTS = {"echo", "nfc", "pharyngeal"}
LABS = [f"{path.parent.name}/{path.stem}" for path in paths.chapters() if path.parent.name in _PARTS]
"""Chapters with such a lab."""

GIVEN: dict[str, dict[str, Any]] = {
    "pharyngeal/01_tract_to_formants": {"SPEED": tract.SPEED, "DENSITY": tract.DENSITY, "wave": tract.wave},
}
"""What a lab says that its chapter gives."""

def cells(chapter: str) -> list[Any]:
    """The cells of a chapter."""
    return list(nbformat.read(paths.root() / "notebooks" / f"{chapter}.ipynb", as_version=4).cells)


def stages(chapter: str) -> list[tuple[str, str]]:
    """(name of the stage's answer, its label), as the chapter asks for them."""
    asked = [re.fullmatch(r'check\("(.+)", (\w+)\)', c.source) for c in cells(chapter) if c.id.startswith("lab-check-")]
    found = [(one[2], one[1]) for one in asked if one]
    assert len(found) == len(asked)
    answers = [cell.source.split(" = ")[0] for cell in cells(chapter) if cell.id.startswith("lab-answer-")]
    assert answers == [name for name, _ in found]
    return found


def solutions(chapter: str) -> dict[str, Any]:
    """The functions in the chapter's folded solution, run in their order with nothing before them but what is given."""
    made: dict[str, Any] = {"math": math, "np": np, **GIVEN.get(chapter, {})}
    for cell in cells(chapter):
        if cell.id.startswith("lab-solution-"):
            exec(compile(cell.source, cell.id, "exec"), made)
    return made


def stage(label: str) -> Stage:
    """The record of a stage."""
    record = asking.record(label)
    record = record.make() if isinstance(record, Made) else record
    assert isinstance(record, Stage)
    return record

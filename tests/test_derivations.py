"""Each derivation has a cell beside it that checks it: with SymPy, or on numbers that were not chosen for it.

`derivations.txt` lists the numbered equations of each chapter. Behind each stand the cells of the chapter that check
it, or one word: *definition*, for a rule, a model or a law that is taken as it is. An equation that is not listed
fails here.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import nbformat
import pytest

from voicewire_book import paths

pytestmark = pytest.mark.landing

LISTED = Path(__file__).with_name("derivations.txt").read_text(encoding="utf-8")
UNCHECKED = {"definition"}
HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell", "check", "solution"}
NOTEBOOKS = paths.root() / "notebooks"


@cache
def listed() -> dict[str, dict[str, list[str]]]:
    """Chapter, equation, and what stands behind it."""
    found: dict[str, dict[str, list[str]]] = {}
    for block in re.split(r"^## ", LISTED, flags=re.M)[1:]:
        chapter, *lines = [line for line in block.splitlines() if line]
        pairs = [line.partition(" = ") for line in lines]
        found[chapter] = {name: told.split() for name, _, told in pairs}
        assert len(found[chapter]) == len(lines), f"{chapter}: an equation twice"
    return found


def numbered(cells: list[nbformat.NotebookNode]) -> dict[str, int]:
    """The equations that have a number, and the place of the cell in which each stands."""
    text = ((i, cell.source) for i, cell in enumerate(cells) if cell.cell_type == "markdown")
    return {name: i for i, source in text for name in re.findall(r"\$\$[ \n]*\((eq-[\w-]+)\)", source)}


@pytest.mark.parametrize("path", paths.chapters(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_each_derivation_has_a_cell_that_checks_it(path):
    cells = nbformat.read(path, as_version=4).cells
    chapter = path.relative_to(NOTEBOOKS).as_posix().removesuffix(".ipynb")
    there, told = numbered(cells), listed().get(chapter, {})
    assert set(there) == set(told), "tests/derivations.txt says what checks an equation"
    places = {cell.id: i for i, cell in enumerate(cells)}
    for name, checks in told.items():
        for check in (check for check in checks if check not in UNCHECKED):
            assert check in places, f"{name}: no cell {check}"
            cell = cells[places[check]]
            assert cell.cell_type == "code" and not HIDDEN & set(cell.metadata.get("tags", [])), f"{name}: {check}"
            assert "weave" not in cell.metadata.get("voicewire", {}), f"{name}: {check} is the algorithm itself"
            assert places[check] > there[name] and (cell.outputs or "assert" in cell.source), f"{name}: {check}"


def test_a_cell_that_says_whether_it_holds_says_that_it_does():
    """Of the cells that print a truth value for a derivation, none prints False."""
    wrong = []
    for path in paths.chapters():
        chapter = path.relative_to(NOTEBOOKS).as_posix().removesuffix(".ipynb")
        checks = {check for told in listed().get(chapter, {}).values() for check in told}
        cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.id in checks]
        told = {cell.id: "".join(output.get("text", "") for output in cell.outputs) for cell in cells}
        wrong += [f"{chapter} {name}" for name, text in told.items() if ": False" in text]
    assert wrong == []

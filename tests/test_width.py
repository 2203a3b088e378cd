"""Code on the page fits a column: no visible line of a notebook is wider than 78 characters."""

from __future__ import annotations

import nbformat
import pytest

from voicewire_book import paths
from voicewire_book.publish import weave

pytestmark = pytest.mark.landing

FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell"}

NOTEBOOKS = paths.root() / "notebooks"
BOOKS = {path.relative_to(NOTEBOOKS).as_posix(): path for path in sorted(NOTEBOOKS.glob("*/*.ipynb"))}


def wide(notebook: nbformat.NotebookNode) -> list[str]:
    """Return the lines of visible code cells that are too wide, each with the number of its cell."""
    return [
        f"cell {number}: {line}"
        for number, cell in enumerate(notebook.cells, 1)
        if cell.cell_type == "code" and not FOLDED & set(cell.metadata.get("tags", []))
        for line in cell.source.splitlines()
        if len(line) > weave.WIDEST
    ]


@pytest.mark.parametrize("name", BOOKS)
def test_visible_code_fits_its_column(name):
    found = wide(nbformat.read(BOOKS[name], as_version=4))
    print("\n".join(found))
    assert not found


def test_a_wide_line_is_seen_where_it_shows():
    line = "x" * (weave.WIDEST + 1)
    cells = [nbformat.v4.new_code_cell(line), nbformat.v4.new_code_cell(line, metadata={"tags": ["hide-input"]})]
    assert wide(nbformat.v4.new_notebook(cells=cells)) == [f"cell 1: {line}"]

"""A notebook shows every figure that `figures.new_axes` makes, not only the first."""

from __future__ import annotations

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook


def test_each_cell_shows_its_figure():
    notebook = new_notebook(
        cells=[
            new_code_cell("from voicewire_book.kit import figures\nfigures.use()"),
            new_code_cell("figures.new_axes().plot([1, 2]);"),
            new_code_cell("figures.new_axes().plot([2, 1]);"),
        ]
    )
    nbformat.validate(notebook)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    shown = [any("image/png" in o.get("data", {}) for o in cell.outputs) for cell in notebook.cells]
    assert shown == [False, True, True]

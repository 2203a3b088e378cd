"""What a chapter writes of the package: what it imports, and every name in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import nbformat

from voicewire_book import paths
from voicewire_book.publish.pages import functions

__all__ = ["imported", "words"]


def imported(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """Return what a chapter imports from the package."""
    found = {}
    for cell in notebook.cells:
        for node in ast.walk(functions._tree(cell)) if cell.cell_type == "code" else ():
            match node:
                case ast.ImportFrom(module=str(source), names=given) if paths.is_ours(source):
                    found.update({each.asname or each.name: f"{source}.{each.name}" for each in given})
                case ast.Import(names=given):
                    found.update({
                        each.asname or (first := each.name.partition(".")[0]): each.name if each.asname else first
                        for each in given if paths.is_ours(each.name)
                    })  # fmt: skip
    return found


def words(cell: nbformat.NotebookNode) -> Iterator[str]:
    """Give the names that a cell writes, with their dots."""
    if cell.cell_type == "markdown":
        yield from functions._CODE.findall(cell.source)
    elif cell.cell_type == "code":
        yield from filter(None, map(functions._dotted, ast.walk(functions._tree(cell))))

"""What each chapter names of the package: in its code, folded or not, in its prose, and what is woven into it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import nbformat

from voicewire_book import paths
from voicewire_book.publish.pages import functions
from voicewire_book.publish.pages.api.chapters import imported, words
from voicewire_book.publish.pages.api.names import Names, gathered

__all__ = ["by_chapter", "meant", "used"]


def meant(word: str, known: dict[str, str], names: Names) -> str | None:
    """Return the public name that a chapter means by a word."""
    first, dot, rest = word.partition(".")
    return names.find(f"{known[first]}{dot}{rest}") if first in known else None


def used(notebook: nbformat.NotebookNode, names: Names) -> list[str]:
    """Return the public names that a chapter names, or shows the source of."""
    known = imported(notebook)
    found: dict[str, None] = {}
    for cell in notebook.cells:
        for piece in cell.metadata.get("voicewire", {}).get("weave", ()):
            file, _, own = piece.partition(":")
            module = file.removesuffix(".py").replace("/", ".")
            for package in paths.PACKAGES:
                if entry := names.find(f"{package.name}.{module}.{own}"):
                    found.setdefault(entry)
        if functions.listed(cell):
            continue
        for word in words(cell):
            if entry := meant(word, known, names):
                found.setdefault(entry)
    return list(found)


@cache
def by_chapter(base: Path) -> dict[str, list[str]]:
    """Return what each chapter uses."""
    names = gathered()
    return {
        path.relative_to(base).with_suffix("").as_posix(): used(nbformat.read(path, as_version=4), names)
        for path in paths.chapters(base=base)
    }

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
    """Return the public name that a chapter means by a word.

    Parameters
    ----------
    word : str
        A name with dots, as the chapter writes it.
    known : dict of str to str
        As `imported` gives them.
    names : Names
        All public names.

    Returns
    -------
    str or None
        The entry; for a method its class.

    Examples
    --------
    >>> meant("s.autocorrelation", {"s": "voicewire.stats"}, gathered())
    'voicewire.stats.autocorrelation'
    """
    first, dot, rest = word.partition(".")
    return names.find(f"{known[first]}{dot}{rest}") if first in known else None


def used(notebook: nbformat.NotebookNode, names: Names) -> list[str]:
    """Return the public names that a chapter names, or shows the source of.

    Parameters
    ----------
    notebook : NotebookNode
        A chapter.
    names : Names
        All public names.

    Returns
    -------
    list of str
        Entries, in the order of their first use.

    Examples
    --------
    >>> cells = ["from voicewire import stats", "stats.autocorrelation([1.0, 2.0])"]
    >>> used(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells]), gathered())
    ['voicewire.stats.autocorrelation']
    """
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
    """Return what each chapter uses.

    Parameters
    ----------
    base : Path
        The checkout, or the staged copy that the book is built from.

    Returns
    -------
    dict of str to list of str
        Entries, by the chapter's page; read once.

    Examples
    --------
    >>> by_chapter(paths.root())["notebooks/nfc/01_slow_link"][0].startswith("voicewire.")
    True
    """
    names = gathered()
    return {
        path.relative_to(base).with_suffix("").as_posix(): used(nbformat.read(path, as_version=4), names)
        for path in paths.chapters(base=base)
    }

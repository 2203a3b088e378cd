"""Weaves the reading versions into the chapters: writes pieces of the package's source into cells of the notebooks.

``python -m voicewire_book.publish.weave [NOTEBOOK…]`` fills every code cell whose metadata name its pieces::

    {"voicewire": {"weave": ["echo/reference.py:nlms"]}}

A *piece* is a definition at the top level of a module (function, class or constant), named by its file below one of
the two packages (``chapters/…`` and others stand in the book's) and its own name, so that it is found wherever the file
is edited. What stands in the cell is its source, of the docstring the first line only. ``--check`` writes nothing and
says what differs.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from voicewire_book import paths
from voicewire_book.publish.lengths import WOVEN

__all__ = ["WIDEST", "Module", "WeaveError", "check", "complete", "text_of", "weave", "woven"]

WIDEST = 78
"""Columns that a line of it may have."""
ROOTS = paths.PACKAGES
"""The folders that pieces lie below."""


class WeaveError(ValueError):
    """A piece that does not exist, is too long, or stands in a wrong place; the message says which and what to do."""


@dataclass(frozen=True)
class Module:
    """A source file and its pieces.

    Attributes
    ----------
    name : str
        The file below one of the packages, as ``echo/reference.py``.
    """

    name: str

    @cached_property
    def path(self) -> Path:
        """The file."""
        found = [root / self.name for root in ROOTS if (root / self.name).is_file()]
        if not found:
            raise WeaveError(f"{self.name} is no file of the packages")
        return found[0]

    @cached_property
    def _source(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def definitions(self) -> dict[str, ast.stmt]:
        """Functions, classes and constants at the top level, by name, in the order of the file."""
        found: dict[str, ast.stmt] = {}
        for node in ast.parse(self._source).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                found[node.targets[0].id] = node
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found[node.target.id] = node
        return found

    @cached_property
    def public(self) -> list[str]:
        """The names in the module's ``__all__``."""
        node = self.definitions.get("__all__")
        return list(ast.literal_eval(node.value)) if isinstance(node, ast.Assign) else []

    def text(self, name: str) -> str:
        """Return a piece as it stands in a cell."""
        node = self.definitions.get(name)
        if node is None:
            raise WeaveError(f"{self.name} defines no {name!r} at its top level")
        lines = self._source.splitlines()
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(each.lineno for each in decorators)]) - 1
        kept = lines[first : node.end_lineno]
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            doc = node.body[0]
            begin, end = doc.lineno - 1 - first, (doc.end_lineno or doc.lineno) - first
            if end - begin > 1:
                kept[begin:end] = [kept[begin].rstrip() + '"""']
        return "\n".join(kept)

    def needs(self, name: str) -> set[str]:
        """Return the other pieces of this module that a piece uses when it runs."""
        used = {n.id for n in ast.walk(self.definitions[name]) if isinstance(n, ast.Name)}
        return (used & set(self.definitions)) - {name}


def split(piece: str) -> tuple[Module, str]:
    """Return the module and the name of ``file.py:name``."""
    file, colon, name = piece.partition(":")
    if not (colon and name):
        where = "the file below src/voicewire or src/voicewire_book"
        raise WeaveError(f"{piece!r} names no piece: write FILE.py:NAME, {where}")
    return Module(file), name


def text_of(pieces: Sequence[str]) -> str:
    """Return what stands in a cell of these pieces."""
    parts = []
    for piece in pieces:
        module, name = split(piece)
        parts.append(module.text(name))
    constants = all(len(part.splitlines()) == 1 for part in parts)
    text = ("\n" if constants else "\n\n\n").join(parts)
    lines = text.splitlines()
    if len(lines) > WOVEN:
        raise WeaveError(f"{', '.join(pieces)}: {len(lines)} lines, a cell has at most {WOVEN}: divide the function")
    if wide := next((line for line in lines if len(line) > WIDEST), None):
        raise WeaveError(f"{', '.join(pieces)}: {len(wide)} columns, at most {WIDEST}: {wide.strip()}")
    return text


def woven(notebook: NotebookNode) -> list[tuple[NotebookNode, list[str]]]:
    """Return the cells of a notebook that are woven, with their pieces."""
    return [
        (cell, list(cell.metadata["voicewire"]["weave"]))
        for cell in notebook.cells
        if cell.cell_type == "code" and "weave" in cell.metadata.get("voicewire", {})
    ]


def _imported(cell: NotebookNode) -> set[tuple[str, str]]:
    """Return (file, name) of all that a cell imports by name from a module of the package."""
    source = "\n".join(line for line in cell.source.splitlines() if not line.startswith(("%", "!")))
    return {
        ("/".join((node.module or "").split(".")[1:]) + ".py", alias.name)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def complete(notebook: NotebookNode) -> list[str]:
    """Return what is missing or out of order in the woven cells of a notebook.

    A piece stands once, pieces of a file stand in the order of the file, and what a piece uses of its own file is
    woven too, or imported by name from it.
    """
    wrong = []
    pieces = [split(piece) for _, pieces in woven(notebook) for piece in pieces]
    known = {(module.name, name) for module, name in pieces}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            known |= _imported(cell)
    for file in dict.fromkeys(module.name for module, _ in pieces):
        module = Module(file)
        names = [name for other, name in pieces if other.name == file]
        if names != [name for name in module.definitions if name in names]:
            wrong.append(f"the pieces of {file} do not stand in the order of the file, each once: {', '.join(names)}")
        for name in names:
            wrong += [
                f"{file}:{name} uses {other}, which is neither woven nor imported"
                for other in sorted(module.needs(name))
                if (file, other) not in known
            ]
    return wrong


def check(path: Path) -> list[str]:
    """Return what is wrong with the woven cells of a notebook: nothing, if all is as in the source."""
    notebook = nbformat.read(path, as_version=4)
    wrong = complete(notebook)
    for cell, pieces in woven(notebook):
        if cell.source != text_of(pieces):
            wrong.append(f"the cell of {', '.join(pieces)} is not as in the source")
    return [f"{path.name}: {each}" for each in wrong]


def weave(path: Path) -> bool:
    """Write the pieces into the woven cells of a notebook; return whether anything changed."""
    notebook = nbformat.read(path, as_version=4)
    changed = False
    for cell, pieces in woven(notebook):
        text = text_of(pieces)
        changed |= cell.source != text
        cell.source = text
    if changed:
        scratch = path.with_suffix(".tmp")
        scratch.write_text(nbformat.writes(notebook, version=4).rstrip("\n") + "\n", encoding="utf-8")
        scratch.replace(path)  # whole or not at all
    return changed


def _each(files: Iterable[Path], only_check: bool) -> list[str]:
    wrong = []
    for path in files:
        if not only_check and weave(path):
            print(f"  woven      {path.name}")
        wrong += check(path)
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of ``python -m voicewire_book.publish.weave``."""
    parser = argparse.ArgumentParser(
        prog="python -m voicewire_book.publish.weave",
        description="Write the reading versions from the package's source into the chapters.",
    )
    parser.add_argument("notebooks", nargs="*", type=Path, help="notebooks (default: every chapter)")
    parser.add_argument("--check", action="store_true", help="write nothing, say what differs")
    options = parser.parse_args(arguments)
    try:
        wrong = _each(options.notebooks or paths.chapters(), options.check)
    except (OSError, WeaveError) as error:
        wrong = [str(error)]
    for line in wrong:
        print(f"voicewire_book.publish.weave: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

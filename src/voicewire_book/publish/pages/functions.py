"""What each function of the package does that a chapter's code uses, said in a list at the chapter's end.

``python -m voicewire_book.publish.pages`` writes a folded list as the last cell of each chapter: the functions
and classes of the package that its visible code or its prose names, each with the first line of its docstring. One that
stands woven, or defined, in a cell above its first use is introduced by its source and is not listed. Nor is a function
of a module of figures, which stands above the picture that it draws.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat

from voicewire_book import paths
from voicewire_book.publish import notebooks

__all__ = ["TITLE", "listed", "named", "text", "write"]

TITLE = "What the package's functions do"
_HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
_CODE = re.compile(r"`+([A-Za-z_][\w.]*)(?:\(.*?\))?`+")
_MARKUP = re.compile(r"[$*<|{]")
_FIGURES = re.compile(r"figures|drawings|\._kit\.style")


def _escaped(match: re.Match[str]) -> str:
    return f"\\{match.group()}"


def _tree(cell: nbformat.NotebookNode) -> ast.Module:
    """Parse a code cell; lines for the shell and magic words stand for nothing."""
    lines = ["" if line.startswith(("%", "!")) else line for line in cell.source.splitlines()]
    return ast.parse("\n".join(lines))


def _imported(notebook: nbformat.NotebookNode) -> dict[str, Any]:
    """Return what a chapter imports from the package, by the name that it gets."""
    found: dict[str, Any] = {}
    for cell in notebook.cells:
        for node in ast.walk(_tree(cell)) if cell.cell_type == "code" else ():
            if isinstance(node, ast.ImportFrom) and paths.is_ours(node.module or ""):
                module = importlib.import_module(str(node.module))
                for alias in node.names:
                    if not hasattr(module, alias.name):
                        importlib.import_module(f"{node.module}.{alias.name}")
                    found[alias.asname or alias.name] = getattr(module, alias.name)
    return found


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return node.id if isinstance(node, ast.Name) else ""


def _words(cell: nbformat.NotebookNode) -> Iterator[str]:
    """Give the names in a cell that may be of the package, as they are written, with their dots."""
    if cell.cell_type == "markdown":
        yield from _CODE.findall(cell.source)
    elif cell.cell_type == "code" and not _HIDDEN & set(cell.metadata.get("tags", [])):
        yield from filter(None, map(_dotted, ast.walk(_tree(cell))))


def _resolved(word: str, imported: dict[str, Any]) -> tuple[str, Any] | None:
    """Return the shortest beginning of a dotted name that is a function or class of the package, and that."""
    first, *rest = word.split(".")
    thing, name = imported.get(first), first
    while isinstance(thing, ModuleType) and rest:
        name = f"{name}.{rest[0]}"
        thing = getattr(thing, rest.pop(0), None)
    own = (inspect.isfunction(thing) or inspect.isclass(thing)) and paths.is_ours(thing.__module__)
    return (name, thing) if own else None


def named(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """Return the functions of the package that a chapter names before it shows them."""
    imported = _imported(notebook)
    found: dict[str, str] = {}
    shown: set[str] = set()
    for cell in notebook.cells:
        if listed(cell):
            continue
        if cell.cell_type == "code":
            definitions = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
            shown |= {node.name for node in _tree(cell).body if isinstance(node, definitions)}
        for word in _words(cell):
            match = _resolved(word, imported)
            if match is None or match[0] in shown or match[0] in found:
                continue
            name, thing = match
            if _FIGURES.search(thing.__module__):
                continue
            found[name] = (inspect.getdoc(thing) or "").partition("\n")[0]
    return found


def listed(cell: nbformat.NotebookNode) -> bool:
    """Tell whether a cell is the list of functions."""
    return bool(cell.metadata.get("voicewire", {}).get("functions"))


def text(functions: dict[str, str]) -> str:
    """Return the list as MyST."""
    lines = [f"- `{name}`: {_MARKUP.sub(_escaped, does)}" for name, does in functions.items()]
    return "\n".join([f"```{{admonition}} {TITLE}", ":class: dropdown", *lines, "```"])


def write(base: Path) -> list[str]:
    """Write the lists into the chapters."""
    changed = []
    for path in paths.chapters(base=base):
        notebook = nbformat.read(path, as_version=4)
        functions = named(notebook)
        cells = [cell for cell in notebook.cells if not listed(cell)]
        if functions:
            own = {"functions": True}
            cell = nbformat.v4.new_markdown_cell(text(functions), id="functions", metadata={"voicewire": own})
            cells.append(cell)
        if cells != notebook.cells:
            notebook.cells = cells
            notebooks.write(path, notebook)
            changed.append(path.relative_to(base).as_posix())
    return changed

"""Which cells of a chapter run in the page, which cannot and why, and which packages they need.

A chapter is offered once ``notebooks/<part>/live.toml`` has a table for it, which says that its cells were tried.
A cell runs unless the table says that it stays as published, or a cell that it builds on does.
`voicewire_book.publish.live.proof` writes such tables with ``--write``::

    [01_packets.stays]
    "01packets-17" = "sockets"                              # a word of `REASONS`, or a sentence of its own
    [01_packets.differs]
    "01packets-20" = "The last digit is the browser's SciPy."   # it runs, its text is not the published one
    [01_packets]
    also = ["scipy"]                                        # packages that are imported inside functions
"""

from __future__ import annotations

import ast
import builtins
import copy
import json
import re
import symtable
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from voicewire._kit import lazy
from voicewire_book import paths
from voicewire_book.publish.live import wheels

__all__ = ["REASONS", "chapter", "names", "needed", "offered", "studies"]

REASONS = {
    "sockets": "It opens real connections, which a page in a browser cannot.",
    "threads": "It starts threads or processes, which a page in a browser cannot.",
    "long": "It takes minutes without compiled code.",
    "praat": "It calls Praat, which is not there in a browser.",
    "soundfile": "It reads or writes sound files with a library that is not there in a browser.",
    "audio": "It calls audio libraries that are not there in a browser.",
    "statsmodels": "It calls statsmodels, which is not there in a browser.",
    "skimage": "It calls scikit-image, which is not there in a browser.",
    "above": "It uses what a cell above computes, which stays as published.",
    "versions": "The page's libraries have other versions than those of the published run, and its text differs.",
    "judged": "It lists what this page judges, and some of that is judged in cells that stay as published.",
    "shell": "It runs a program of its own, which a page in a browser cannot.",
}
"""What keeps a cell from running in a page, by the word under which ``live.toml`` has it."""

ALWAYS = ("ipython", "voicewire")
BLOCKS = ("body", "orelse", "finalbody")
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
UNNAMED = {"lambda", "genexpr", "listcomp", "setcomp", "dictcomp"}
"""Functions that run, as a rule, in the line that they stand in."""
RENAMED = "_of_a_comprehension_"
"""How a name begins that a comprehension makes for itself."""


def offered(base: Path | None = None) -> list[Path]:
    """Return the notebooks whose cells are offered in a page."""
    return [path for path in paths.chapters(base=base) if path.stem in _tables(path)]


def chapter(path: Path) -> dict[str, Any]:
    """Return what the page's script is to know of a chapter."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    said = _said(path)
    stays, differs = (said.get(word, {}) for word in ("stays", "differs"))
    cells: list[dict[str, Any]] = []
    makers: dict[str, dict[str, Any]] = {}
    for cell in (cell for cell in notebook["cells"] if cell["cell_type"] == "code"):
        source = "".join(cell["source"])
        made, used = names(source)
        needs = [makers[name] for name in sorted(used) if name in makers]
        why = stays.get(cell["id"], "")
        if not why and (broken := [each for each in needs if not each["runs"]]):
            why = f"It uses what cell {broken[0]['number']} of this page computes, which stays as published."
        differing = differs.get(cell["id"], "")
        entry = {
            "id": cell["id"], "number": len(cells) + 1, "tags": cell["metadata"].get("tags", []), "source": source,
            "runs": not why, "why": REASONS.get(why, why), "differs": REASONS.get(differing, differing),
            "needs": list(dict.fromkeys(each["id"] for each in needs)),
        }  # fmt: skip
        makers |= dict.fromkeys(made, entry)
        cells.append(entry)
    if unknown := {*stays, *differs} - {cell["id"] for cell in cells}:
        raise ValueError(f"live.toml names {', '.join(sorted(unknown))}, and {path.name} has no such cell: remove them")
    sources = [cell["source"] for cell in cells]
    return {
        "chapter": f"{path.parent.name}/{path.stem}", "packages": needed(sources, said.get("also", [])),
        "data": studies(path.parent.name, sources), "cells": cells,
    }  # fmt: skip


def _tables(path: Path) -> dict[str, Any]:
    listed = path.with_name("live.toml")
    return tomllib.loads(listed.read_text(encoding="utf-8")) if listed.is_file() else {}


def _said(path: Path) -> dict[str, Any]:
    """Return what ``live.toml`` says of a chapter."""
    return dict(_tables(path).get(path.stem, {}))


def names(source: str) -> tuple[set[str], set[str]]:
    """Return the names that a cell makes, and those that it uses and doesn't make before.

    What a function uses is looked for when it is called: there, a name that the cell makes anywhere is the cell's own.
    """
    text = "\n".join("" if line.startswith(("%", "!")) else line for line in source.split("\n"))
    found = _Names()
    found.read(_Plain().visit(ast.parse(text)).body, set())
    used = found.used | (found.later - found.made)
    return found.made, {name for name in used if not hasattr(builtins, name)}


class _Plain(ast.NodeTransformer):
    """Make of a cell one whose names each Python's `symtable` tells alike.

    From Python 3.12 on what a comprehension makes stands among the names around it: these are renamed. From 3.14 on a
    cell's own ``await`` is an error there: it goes, with ``async``, since it makes and uses no name. And a variable's
    annotation stands in a table of its own there, or in none: it becomes a line of its own.
    """

    def visit_Await(self, node: ast.Await) -> ast.expr:
        return self.visit(node.value)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.AST:
        return self.visit(ast.copy_location(ast.For(**dict(ast.iter_fields(node))), node))

    def visit_AsyncWith(self, node: ast.AsyncWith) -> ast.AST:
        return self.visit(ast.copy_location(ast.With(**dict(ast.iter_fields(node))), node))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        made: list[ast.stmt] = [ast.Expr(node.annotation)]
        if node.value is not None:
            made.insert(0, ast.Assign([node.target], node.value))
        return [self.visit(ast.fix_missing_locations(ast.copy_location(each, node))) for each in made]

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> ast.AST:
        self.generic_visit(node)
        targets = [n for each in node.generators for n in ast.walk(each.target)]
        made = {n.id for n in targets if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        kept = {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}  # and made before they are used
        outside = set(ast.walk(node.generators[0].iter))  # the first is read where the comprehension stands
        for inside in ast.walk(node):
            if isinstance(inside, ast.Name) and inside not in outside:
                own = inside.id in made or (inside.id in kept and isinstance(inside.ctx, ast.Load))
                inside.id = RENAMED * own + inside.id
            if isinstance(inside, ast.comprehension):
                inside.is_async = 0
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension  # noqa: N815


class _Names:
    """What statements make, what they use that was not made before, and what the functions among them use."""

    def __init__(self) -> None:
        self.made: set[str] = set()
        self.used: set[str] = set()
        self.later: set[str] = set()

    def read(self, body: Sequence[ast.stmt], known: set[str]) -> set[str]:
        """Read statements in their order; return the names that are there for sure after them."""
        sure = set(known)
        for statement in body:
            blocks = () if isinstance(statement, SCOPES) else _blocks(statement)
            sure |= self._line(_head(statement) if blocks else statement, sure)
            ends = [self.read(block, sure) for block in blocks]
            if isinstance(statement, ast.For | ast.With):
                sure = ends[0]
            elif isinstance(statement, ast.If) and statement.orelse:
                sure = ends[0] & ends[1]
        return sure

    def _line(self, statement: ast.stmt, sure: set[str]) -> set[str]:
        """Read a statement without others in it; return what it makes."""
        made: set[str] = set()

        def look(table: symtable.SymbolTable, now: bool) -> None:
            for symbol in table.get_symbols():
                if symbol.get_name().startswith(RENAMED):
                    continue
                top = table.get_type() == "module"
                if top and (symbol.is_assigned() or symbol.is_imported()):
                    made.add(symbol.get_name())
                if symbol.is_referenced() and (symbol.is_global() or top):
                    (self.used if now else self.later).update({symbol.get_name()} - (sure if now else set()))
            for inner in table.get_children():
                function = inner.get_type() == "function" and inner.get_name() not in UNNAMED
                look(inner, now and not function)

        look(symtable.symtable(ast.unparse(statement), "cell", "exec"), True)
        if not isinstance(statement, SCOPES):  # symtable does not tell what := makes in a comprehension
            made |= {each.target.id for each in ast.walk(statement) if isinstance(each, ast.NamedExpr)}
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            self.used |= {statement.target.id} - sure
        self.made |= made
        return made


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    """Return the statements that stand in another one, block by block."""
    inside = [statement, *getattr(statement, "handlers", []), *getattr(statement, "cases", [])]
    return [block for each in inside for name in BLOCKS if (block := getattr(each, name, None))]


def _head(statement: ast.stmt) -> ast.stmt:
    """Return a statement with nothing in its blocks."""
    head = copy.deepcopy(statement)
    for block in _blocks(head):
        block[:] = [ast.Pass()]
    return head


def needed(sources: list[str], also: list[str]) -> list[str]:
    """Return the packages that cells import, straight or through the book's package, with what these stand on."""
    offered = {name: each.name for each in wheels.packages().values() for name in each.imports}
    tops = {name.partition(".")[0] for name in _modules(sources)}
    found = {offered[name] for name in tops if name in offered}
    waiting = [*found, *also, *ALWAYS]
    every: set[str] = set()
    while waiting:
        name = waiting.pop()
        every.add(name)
        waiting += wheels.packages()[name].depends if name in wheels.packages() else ()
    return sorted(every)


def studies(part: str, sources: list[str]) -> list[str]:
    """Return the studies whose data cells read: the part's own, those that they name, those whose modules they import.
    """
    rooms = {part, *(paths.room(name) for name in _modules(sources) if paths.is_ours(name))}
    every = sorted(path.name for path in (paths.root() / "data").iterdir() if path.is_dir())
    text = "\n".join(sources)
    return [name for name in every if name in rooms or re.search(rf"""["'/]{name}["'/]""", text)]


def _modules(sources: list[str]) -> set[str]:
    """Return every module that cells import, straight or through the book's package."""
    modules: set[str] = set()
    waiting = [name for source in sources for name in _imported(source, anywhere=True)]
    while waiting:
        name = waiting.pop()
        if name not in modules:
            modules.add(name)
            waiting += _below(name) if paths.is_ours(name) else ()
    return modules


def _imported(source: str, anywhere: bool) -> Iterator[str]:
    """Yield the modules that a text imports; inside functions too, if `anywhere`."""
    text = "\n".join("" if line.startswith(("%", "!")) else line for line in source.split("\n"))
    tree = ast.parse(text)
    for node in ast.walk(tree) if anywhere else _outside(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            homes = lazy.homes(node.module) if _declares(node.module) else {}
            yield from (homes[alias.name][0] for alias in node.names if alias.name in homes)


def _declares(package: str) -> bool:
    """Whether a package is one of ours whose names are loaded when they are first used."""
    return paths.is_ours(package) and paths.TOP.joinpath(*package.split("."), "__init__.pyi").is_file()


def _outside(node: ast.AST) -> Iterator[ast.AST]:
    """Walk through what runs when a module is imported."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from _outside(child)


@cache
def _below(name: str) -> tuple[str, ...]:
    """Return what a module of the book's package imports, and the packages that it lies in."""
    parts = name.split(".")
    place = paths.TOP.joinpath(*parts)
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    around = [".".join(parts[:length]) for length in range(1, len(parts))]
    return (*around, *_imported(file.read_text(encoding="utf-8"), anywhere=False)) if file.is_file() else tuple(around)

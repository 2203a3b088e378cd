"""What a source needs beyond the reader's lock, read from its text: packages of extras, and a Chromium.

A function needs a package that it imports, whose files it reads (`importlib.resources.files`) or that it runs
(``-m package``). Playwright drives nothing but Chromium here. Asking whether a package is there (`find_spec`) isn't
needing it.

A test needs what the functions need that it names: its fixtures, those of its file and of tests/helpers. Of a function
of the package, it needs what that one needs whatever its arguments are, and so does an example in a docstring: what
stands behind an ``if`` is for one option.
"""

from __future__ import annotations

import ast
import doctest
import functools
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from needs import PACKAGES, ROOT

from voicewire._kit import lazy

OWNERS = {name: need for need, package in PACKAGES.items() for name in package.imports}
PRINTS = "voicewire_book.publish.paper.chromium._run"
"""What starts a Chromium without playwright."""
WORTH = re.compile(r"\b(" + "|".join([*OWNERS, "chromium"]) + r")\b")
"""A file of the package without any of these words needs nothing."""
PLACES = (ROOT / "src", ROOT / "tests" / "helpers")

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@functools.cache
def _declared(origin: str) -> str:
    """Where a name lies that a room declares, and loads when it is first used."""
    room, _, name = origin.rpartition(".")
    stub = ROOT / "src" / Path(*room.split(".")) / "__init__.pyi"
    module, own = (lazy.homes(room) if stub.is_file() else {}).get(name, (room, name))
    return f"{module}.{own}"


def _owner(module: object) -> set[str]:
    name = str(module).partition(".")[0]
    return {OWNERS[name], *(["chromium"] if name == "playwright" else [])} if name in OWNERS else set()


def _last(node: ast.AST) -> str:
    """The last part of a dotted name."""
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _inner(node: ast.AST, stop: tuple[type[ast.AST], ...] = ()) -> Iterator[ast.AST]:
    """A node and all in it, but what is imported for types only, and what is inside `stop`."""
    yield node
    for child in ast.iter_child_nodes(node):
        typing = isinstance(child, ast.If) and _last(child.test) == "TYPE_CHECKING"
        if not typing and not isinstance(child, stop):
            yield from _inner(child, stop)


def _surely(node: ast.AST) -> Iterator[ast.AST]:
    """A node, and what in it is evaluated whatever holds."""
    yield node
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield from _surely(node.test)
    elif isinstance(node, ast.BoolOp):
        yield from _surely(node.values[0])
    elif not isinstance(node, ast.For | ast.Try | ast.Match | ast.Lambda | ast.comprehension | Function):
        yield from _body(ast.iter_child_nodes(node))


def _body(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The same of nodes that follow each other, to the first that may end it."""
    for node in nodes:
        yield from _surely(node)
        if isinstance(node, ast.If | ast.For | ast.While | ast.Try | ast.Match) and any(
            isinstance(each, ast.Return | ast.Raise) for each in ast.walk(node)
        ):
            return


def _directly(node: ast.AST) -> set[str]:
    """What one node needs by itself."""
    if isinstance(node, ast.Import):
        return {need for alias in node.names for need in _owner(alias.name)}
    if isinstance(node, ast.ImportFrom) and not node.level:
        return _owner(node.module)
    if isinstance(node, ast.Call) and _last(node.func) in ("import_module", "files") and node.args:
        return _owner(getattr(node.args[0], "value", ""))
    if isinstance(node, ast.List | ast.Tuple):
        words = [getattr(each, "value", None) for each in node.elts]
        return {need for one, two in pairwise(words) if one == "-m" for need in _owner(two)}
    return set()


class Source:
    """A file: what each of its functions and classes needs, and what it needs to be imported."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.package, tree = name, name.startswith("voicewire"), ast.parse(text)
        self.functions: dict[str, Function] = {node.name: node for node in tree.body if isinstance(node, Function)}
        self.origins: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                self.origins |= {a.asname or a.name: a.name for a in node.names if a.asname or "." not in a.name}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                self.origins |= {a.asname or a.name: _declared(f"{node.module}.{a.name}") for a in node.names}
        level = _inner(tree, (ast.FunctionDef, ast.AsyncFunctionDef))
        self.to_import = {need for each in level for need in _directly(each)}
        self.tree = tree

    def origin(self, node: ast.AST) -> str | None:
        """The dotted name of what a name or an attribute stands for."""
        if isinstance(node, ast.Name):
            return f"{self.name}.{node.id}" if node.id in self.functions else self.origins.get(node.id)
        if isinstance(node, ast.Attribute):
            before = self.origin(node.value)
            return before and f"{before}.{node.attr}"
        return None

    def of(self, node: ast.AST, seen: frozenset[str] = frozenset()) -> set[str]:
        """What a piece of this file may need, with the functions and fixtures that it names."""
        found: set[str] = set()
        for each in _inner(node):
            found |= _directly(each)
            origin = self.origin(ast.Name(each.arg) if isinstance(each, ast.arg) else each)
            if origin and origin not in seen:
                there, function = self.function(origin)
                if function is not None:
                    seen |= {origin}
                    more = there.surely([function], seen) if there.package else there.of(function, seen)
                    found |= more if "playwright" in more else more - {"chromium"}  # a test may have put another there
        return found

    def surely(self, nodes: Iterable[ast.AST], seen: frozenset[str] = frozenset()) -> set[str]:
        """What statements of this file need whatever holds, with the functions of the file that they call."""
        found: set[str] = set()
        for each in _body(inner for node in nodes for inner in (node.body if isinstance(node, Function) else [node])):
            found |= _directly(each)
            origin = self.origin(each.func) if isinstance(each, ast.Call) else None
            if origin == PRINTS:
                found.add("chromium")
            elif origin and origin not in seen:
                there, function = self.function(origin)
                if there is self and function is not None:
                    found |= self.surely([function], seen | {origin})
        return found

    def function(self, origin: str) -> tuple[Source, Function | None]:
        """Where a function or class stands, and itself, if it is one that may need something."""
        module, _, name = origin.rpartition(".")
        there = self if module == self.name else source(module)
        return there or self, there.functions.get(name) if there is not None else None


@functools.cache
def source(module: str) -> Source | None:
    """A file of the package or of tests/helpers that may need something, by its dotted name."""
    for place in PLACES:
        path = place / Path(*module.split("."))
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if module and file.is_file():
                text = file.read_text(encoding="utf-8")
                return Source(module, text) if WORTH.search(text) else None
    return None


def examples(module: str) -> list[str]:
    """What the examples in a module's docstrings need: what they import, and what the functions need that they call."""
    here = source(module)
    if here is None:
        return []
    found = set(here.to_import)
    for node in ast.walk(here.tree):
        if isinstance(node, Function | ast.Module):
            text = ast.get_docstring(node) or ""
            for example in doctest.DocTestParser().get_examples(text):
                if not example.options.get(doctest.SKIP):
                    found |= here.surely(ast.parse(example.source).body)
    return sorted(found)

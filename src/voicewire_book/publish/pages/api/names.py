"""What the package declares public, read from its source: nothing is imported, so that a build stays quick."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

import nbformat

from voicewire_book import paths
from voicewire_book.publish.pages.api import chapters

__all__ = ["KIT", "Entry", "Module", "Names", "gathered", "public", "room", "rooms"]

KIT = "kit"
"""The room of what a chapter imports by these names: modules beside the rooms, and small packages."""

_ENGINES = ("netsim", "mqtt", "testbed")
_INSIDE = ("ledger", "publish", "course")
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class Entry:
    """One public name.

    Attributes
    ----------
    name : str
        With its module; what a chapter may write.
    kind : str
        ``function``, ``class``, ``method`` or ``constant``.
    signature : str
        As the source has it, from the opening bracket on; nothing for a constant.
    doc : str
        The docstring, its indentation taken off.
    module : str
        Where it is defined: another module than its name says if that one is private.
    line, end : int
        The first and last line of the definition, counted from 1.
    methods : tuple of Entry
        Of a class: its public methods.
    """

    name: str
    kind: str
    signature: str
    doc: str
    module: str
    line: int
    end: int
    methods: tuple[Entry, ...] = ()

    @property
    def own(self) -> str:
        """The name without the module."""
        return self.name.rpartition(".")[2]


@dataclass
class Module:
    """One file of the package, parsed.

    Attributes
    ----------
    name : str
        With its dots.
    path : Path
        The file.
    text : str
        Its source.
    doc : str
        Its docstring.
    public : tuple of str
        What ``__all__`` lists.
    imports : dict of str to str
        What it imports from the package, by the name that it has here.
    definitions : dict of str to ast.AST
        What it defines at its top, by name; constants with the statement behind them, which may describe them.
    entries : list of Entry
        The public names that have their place on the page under this module.
    """

    name: str
    path: Path
    text: str
    doc: str
    public: tuple[str, ...]
    imports: dict[str, str]
    definitions: dict[str, tuple[_Definition, str]]
    entries: list[Entry] = field(default_factory=list)


@dataclass(frozen=True)
class Names:
    """All public names of the packages.

    Attributes
    ----------
    modules : dict of str to Module
        By name, private ones too.
    entries : dict of str to Entry
        By name, each once.
    aliases : dict of str to str
        Other names of an entry: a module may offer what another one defines.
    """

    modules: dict[str, Module]
    entries: dict[str, Entry]
    aliases: dict[str, str]

    def find(self, dotted: str) -> str | None:
        """Return the entry that a dotted name means, or the one that it begins with."""
        while dotted:
            dotted = self.aliases.get(dotted, dotted)
            if dotted in self.entries:
                return dotted
            dotted = dotted.rpartition(".")[0]
        return None


def public(name: str) -> bool:
    """Tell whether a module is public: no part of its name begins with an underscore."""
    return "._" not in name


def rooms() -> list[str]:
    """Return the rooms that have a page, in the order of the book."""
    return [*(part.name for part in paths.PARTS), *_ENGINES, KIT, *_INSIDE]


def room(name: str) -> str:
    """Return the room whose page has a module."""
    found = paths.room(name)
    return found if found in rooms() else KIT


@cache
def gathered(top: Path = paths.TOP) -> Names:
    """Return the public names of the packages."""
    files = [path for each in paths.PACKAGES for path in sorted((top / each.name).rglob("*.py"))]
    modules = {module.name: module for module in (_read(path, top) for path in files)}
    found = Names(modules, {}, {})
    for module in modules.values():
        for own in module.public if public(module.name) else ():
            name, home, defined = f"{module.name}.{own}", *_home(modules, module.name, own)
            if defined is None:
                continue  # a module that is offered by its name has its own place
            if home != module.name and public(home) and defined in modules[home].public:
                found.aliases[name] = f"{home}.{defined}"
            elif name not in found.entries:
                entry = _entry(name, modules[home], defined)
                module.entries.append(entry)
                found.entries[name] = entry
    for name in _taught(modules):
        home, _, own = name.rpartition(".")
        if found.find(name) != name and name not in found.aliases:
            found.entries[name] = _entry(name, modules[home], own)
            modules[home].entries.append(found.entries[name])
    for module in modules.values():
        module.entries.sort(key=lambda entry: (entry.module != module.name, entry.module, entry.line))
    return found


def _taught(modules: dict[str, Module]) -> list[str]:
    """Return what chapters name of public modules that don't list it: what is woven is short, and lists little."""
    found = set()
    for path in paths.chapters():
        notebook = nbformat.read(path, as_version=4)
        known = chapters.imported(notebook)
        for word in {word for cell in notebook.cells for word in chapters.words(cell)}:
            first, dot, rest = word.partition(".")
            full = f"{known[first]}{dot}{rest}" if first in known else ""
            while full and full not in modules:
                home, _, own = full.rpartition(".")
                if home in modules and own in modules[home].definitions and public(home) and not own.startswith("_"):
                    found.add(full)
                full = home
    return sorted(found)


def _home(modules: dict[str, Module], module: str, own: str) -> tuple[str, str | None]:
    """Return the module that defines a name, and its name there; None for what is a module itself."""
    while own not in modules[module].definitions:
        source = modules[module].imports.get(own, f"{module}.{own}")
        if source in modules:
            return source, None
        before, (module, _, own) = module, source.rpartition(".")
        if module not in modules or (module == before and own not in modules[module].definitions):
            raise ValueError(f"{before}.__all__ lists {own!r}, which is neither defined nor imported there")
    return module, own


def _read(path: Path, top: Path) -> Module:
    parts = path.relative_to(top).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    module = Module(name, path, text, ast.get_docstring(tree) or "", (), {}, {})
    stub = path.with_suffix(".pyi")  # where a room's declared names come from
    declared = ast.parse(stub.read_text(encoding="utf-8")).body if stub.is_file() else []
    for statement, after in pairwise([*declared, *_top(tree.body), None]):
        match statement:
            case ast.ImportFrom(module=str(source), names=names, level=0) if paths.is_ours(source):
                module.imports.update({each.asname or each.name: f"{source}.{each.name}" for each in names})
            case ast.FunctionDef(name=own) | ast.AsyncFunctionDef(name=own) | ast.ClassDef(name=own):
                module.definitions[own] = statement, ""
            case ast.Assign() | ast.AnnAssign():
                for target in _targets(statement):
                    module.definitions[target] = statement, _said(after)
                if "__all__" in module.definitions and _targets(statement) == ["__all__"] and statement.value:
                    module.public = _listed(statement.value)
    return module


def _listed(value: ast.expr) -> tuple[str, ...]:
    """Return what a list says, which may be written in several rows: ``[*("a", "b"), *("c",)]``."""
    if not isinstance(value, ast.List | ast.Tuple):
        raise ValueError(f"__all__ is a list of names, not {ast.unparse(value)}")
    rows = [_listed(each.value) if isinstance(each, ast.Starred) else (ast.literal_eval(each),) for each in value.elts]
    return tuple(dict.fromkeys(name for row in rows for name in row))


def _top(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Give the statements at the top of a module, those below a condition too."""
    for statement in body:
        match statement:
            case ast.If(body=inner, orelse=other):
                yield from _top([*inner, *other])
            case ast.Try(body=inner, handlers=handlers, orelse=other):
                yield from _top([*inner, *(each for handler in handlers for each in handler.body), *other])
            case _:
                yield statement


def _targets(statement: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    inner = [each for one in targets for each in (one.elts if isinstance(one, ast.Tuple) else [one])]
    return [each.id for each in inner if isinstance(each, ast.Name)]


def _said(statement: ast.stmt | None) -> str:
    """Return the string that stands behind a constant and describes it."""
    match statement:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return inspect.cleandoc(text)
    return ""


def _entry(name: str, module: Module, own: str) -> Entry:
    node, said = module.definitions[own]
    line, end = node.lineno, node.end_lineno or node.lineno
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return Entry(name, "function", _signature(node), _doc(node), module.name, line, end)
        case ast.ClassDef():
            methods = tuple(_methods(name, node, module.name))
            return Entry(name, "class", _made(node), _doc(node), module.name, line, end, methods)
    annotation = node.annotation if isinstance(node, ast.AnnAssign) else None
    typed = f": {ast.unparse(annotation)}" if annotation is not None else ""
    return Entry(name, "constant", typed, said, module.name, line, end)


def _doc(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    return ast.get_docstring(node) or ""


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, bound: bool = False) -> str:
    arguments = node.args
    if bound and (arguments.posonlyargs or arguments.args):
        first = arguments.posonlyargs or arguments.args
        text = ast.unparse(arguments).removeprefix(ast.unparse(first[0])).removeprefix(", ")
    else:
        text = ast.unparse(arguments)
    return f"({text})" + (f" -> {ast.unparse(node.returns)}" if node.returns is not None else "")


def _decorated(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {ast.unparse(each).partition("(")[0].rpartition(".")[2] for each in node.decorator_list}


def _methods(name: str, node: ast.ClassDef, module: str) -> Iterator[Entry]:
    for each in node.body:
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) or each.name.startswith("_"):
            continue
        marks = _decorated(each)
        if "setter" in marks or "overload" in marks:
            continue
        property_ = bool(marks & {"property", "cached_property"})
        returns = f": {ast.unparse(each.returns)}" if each.returns is not None else ""
        signature = returns if property_ else _signature(each, bound="staticmethod" not in marks)
        end = each.end_lineno or each.lineno
        yield Entry(f"{name}.{each.name}", "method", signature, _doc(each), module, each.lineno, end)


def _made(node: ast.ClassDef) -> str:
    """Return what a class is made from: the arguments of its own ``__init__``, else its fields."""
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            return _signature(each, bound=True).removesuffix(" -> None")
    fields = [each for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)]
    shown = [ast.unparse(each) for each in fields if not ast.unparse(each.target).startswith("_")]
    return f"({', '.join(shown)})" if shown else ""

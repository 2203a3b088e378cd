"""What a claim's verdict rests on in an executing notebook: the statements before it, and the recordings they read.

`watch` is called in a fresh kernel before a notebook's first cell. From then on each call of `Ledger.judge` is kept
with its evidence and the statement that it stands in, and so is each file under ``data/`` that a statement opens.
`Watched.behind` then goes back from a verdict over the names that its statement uses. A statement counts whole: where
one computes several results, each of them rests on all that the statement reads.
"""

from __future__ import annotations

import ast
import copy
import inspect
import symtable
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

from voicewire_book import paths
from voicewire_book.ledger import evidence
from voicewire_book.ledger.judging import Ledger, Verdict
from voicewire_book.ledger.vocabulary import ClaimError

__all__ = ["Behind", "Judgement", "Statement", "Watched", "watch"]

TABLES = (".csv", ".json", ".csv.gz")
"""Endings of recorded results. What else is recorded (sounds, captures, segmentations) goes into a computation."""

ENGINES = {*paths.STUDIES, "netsim", "mqtt", "testbed"}
NO_ENGINE = ("paper", "cli")
"""The rooms of the library that compute results, and modules in them that don't."""

REASON_ASKED = "give the most likely reason"
NO_REASON = "no reason is given for this verdict"
"""How a verdict is refused that needs a reason and has none, and what stands in, so that the notebook goes on."""

Place = tuple[int, int]
"""A cell and a statement in it."""


@dataclass
class Statement:
    """A top-level statement of a cell: the names that it sets, uses, and changes in part, and what it opened."""

    node: ast.stmt
    sets: set[str]
    uses: set[str]
    changes: set[str]
    anew: set[str]
    opened: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Judgement:
    """One call of `Ledger.judge`: the evidence, the verdict, and the statement that asked for it."""

    given: tuple[Any, ...]
    verdict: Verdict
    place: Place | None


@dataclass(frozen=True)
class Behind:
    """What a verdict rests on: recorded tables and inputs, and whether something was computed besides reading tables.
    """

    tables: tuple[str, ...]
    inputs: tuple[str, ...]
    computed: bool
    names: frozenset[str]


class _WithoutReasons(ast.NodeTransformer):
    """Takes out what a call is told as `reason`: words, which decide nothing."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        node.keywords = [one for one in node.keywords if one.arg != "reason"]
        return node


def statements(source: str) -> list[Statement]:
    """Return the statements of a cell."""
    return [_statement(node) for node in ast.parse(source).body]


def _statement(node: ast.stmt) -> Statement:
    bare = ast.unparse(_WithoutReasons().visit(copy.deepcopy(node)))
    table = symtable.symtable(bare, "cell", "exec")
    sets = {one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()}
    uses = {one.get_name() for one in table.get_symbols() if one.is_referenced()} | set(_inner(table))
    changes = {_root(one) for one in ast.walk(node) if _changes(one)} & uses  # others are a function's own
    first = set()
    if isinstance(node, ast.For | ast.AsyncFor):  # set before anything in the loop uses them
        first = {one.id for one in ast.walk(node.target) if isinstance(one, ast.Name)}
    whole = isinstance(node, ast.Assign | ast.AnnAssign | ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom)
    return Statement(node, sets, uses - first, changes - sets, sets if whole else first)


def _inner(table: symtable.SymbolTable) -> Iterator[str]:
    """Yield the names of the cell that functions and comprehensions in it use."""
    for child in table.get_children():
        yield from (one.get_name() for one in child.get_symbols() if one.is_global())
        yield from _inner(child)


def _changes(node: ast.AST) -> bool:
    """Whether this sets a part of something, or calls a method whose result nobody takes, which may change it."""
    if isinstance(node, ast.Attribute | ast.Subscript):
        return not isinstance(node.ctx, ast.Load)
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)


def _root(node: ast.AST) -> str:
    """The name in which something is changed: by setting a part of it, or by calling its method."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call | ast.Expr):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


class Watched:
    """A notebook while it executes: its statements, the files that they opened, its judgements."""

    def __init__(self, space: Mapping[str, object], data: Path, wanted: Iterable[str]) -> None:
        self.space, self.data, self.wanted = space, data, set(wanted)
        self.cells: list[list[Statement]] = []
        self.judged: dict[str, Judgement] = {}

    def begin(self, source: str) -> None:
        """A cell begins."""
        if self.wanted - self.judged.keys():
            self.cells.append(statements(source))

    def needed(self, lines: list[str]) -> list[str]:
        """Leave out a cell where all that is wanted has been judged, but not the one that tells it."""
        return lines if self.wanted - self.judged.keys() or any("_watched" in line for line in lines) else []

    def opened(self, name: str) -> None:
        """A file was opened."""
        path = Path(name)
        if not path.is_absolute() or not path.is_relative_to(self.data):
            return
        inside = path.relative_to(self.data)
        if evidence.WRITTEN & set(inside.parts) or self._printed() or (place := self._place()) is None:
            return
        cell, number = place
        self.cells[cell][number].opened.add(inside.as_posix())

    def judge(self, identifier: str, given: tuple[object, ...], verdict: Verdict) -> None:
        """A claim was judged."""
        self.judged[identifier] = Judgement(given, verdict, self._place())

    def _printed(self) -> bool:
        """Whether a part's ``paper.py`` is reading, which holds what the paper prints."""
        return any(f.f_globals.get("__name__", "").endswith(".paper") for f in _frames())

    def _place(self) -> Place | None:
        """The statement that is being executed."""
        inside = [frame for frame in _frames() if frame.f_globals is self.space]
        if not inside or not self.cells or not self.cells[-1]:
            return None
        line = inside[-1].f_lineno
        begun = [k for k, one in enumerate(self.cells[-1]) if _first_line(one.node) <= line]
        return len(self.cells) - 1, begun[-1] if begun else 0

    def behind(self, identifier: str) -> Behind:
        """Say what a verdict rests on."""
        place = self.judged[identifier].place
        found = list(self._back(place)) if place else []
        opened = {name for one in found for name in one.opened}
        tables = {name for name in opened if name.endswith(TABLES)}
        computed = any(self._engine(one) for one in found if not any(n.endswith(TABLES) for n in one.opened))
        names = frozenset(name for one in found for name in one.sets)
        return Behind(tuple(sorted(tables)), tuple(sorted(opened - tables)), computed, names)

    def _back(self, place: Place) -> Iterator[Statement]:
        """Yield the statement of a verdict and, going back, each that set a name which is used after it."""
        cell, number = place
        before = [one for each in self.cells[:cell] for one in each] + self.cells[cell][: number + 1]
        last = before.pop()
        yield last
        needed = self._values(last.uses)
        for one in reversed(before):
            if needed & (one.sets | self._values(one.changes)):
                needed = (needed - one.anew) | self._values(one.uses)
                yield one

    def _values(self, names: set[str]) -> set[str]:
        """Leave out what is the same for all: modules, and the ledger."""
        return {name for name in names if not isinstance(self.space.get(name), Ledger | ModuleType)}

    def _engine(self, statement: Statement) -> bool:
        """Whether a statement uses a function or a class of the packages that computes."""
        nodes = [node for node in ast.walk(statement.node) if isinstance(node, ast.Attribute | ast.Name)]
        return any(_computes(self._named(node)) for node in nodes)

    def _named(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return self.space.get(node.id)
        return getattr(self._named(node.value), node.attr, None) if isinstance(node, ast.Attribute) else None


def _computes(thing: object) -> bool:
    """Whether a function or a class is an engine's, or of a chapter and uses one."""
    module = getattr(thing, "__module__", None)
    if not callable(thing) or not isinstance(module, str) or not paths.is_ours(module):
        return False
    return _engine_room(module) or any(map(_engine_room, _reached(thing, set())))


def _engine_room(module: str) -> bool:
    """Whether a module is one of the library that computes results."""
    first, _, rest = module.partition(".")
    words = rest.split(".")
    return first == "voicewire" and words[0] in ENGINES and words[-1] not in NO_ENGINE


def _reached(thing: object, seen: set[CodeType]) -> Iterator[str]:
    """Yield the modules of what a function of the packages names, directly or by others that it names."""
    mine: Iterable[Any] = vars(thing).values() if isinstance(thing, type) else [_innermost(thing)]
    for function in mine:
        code = getattr(function, "__code__", None)
        if code is None or code in seen:
            continue
        seen.add(code)
        space, names = function.__globals__, set(_names(code))
        known = [space.get(name) for name in names]
        modules = [one for one in known if isinstance(one, ModuleType) and paths.is_ours(one.__name__)]
        known += [vars(module).get(name) for module in modules for name in names]
        yield from (name for name in names if paths.is_ours(name))
        for one in known:
            module = getattr(one, "__module__", None)
            if callable(one) and isinstance(module, str) and paths.is_ours(module):
                yield module
                yield from () if _engine_room(module) else _reached(one, seen)


def _innermost(thing: Any) -> object:
    """The function that a partial one, or a wrapped one, calls."""
    return inspect.unwrap(getattr(thing, "func", thing))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])


def _frames() -> Iterator[FrameType]:
    """Yield the frames of the thread that executes cells, from the innermost."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None:
        yield frame
        frame = frame.f_back


def watch(shell: Any, wanted: Iterable[str]) -> Watched:
    """Watch a fresh kernel's notebook until what is wanted is judged."""
    watched = Watched(shell.user_ns, paths.root() / "data", wanted)
    shell.input_transformers_post.append(watched.needed)
    shell.events.register("pre_run_cell", lambda info: watched.begin(info.raw_cell))
    _watch_judgements(watched)
    sys.addaudithook(lambda event, details: watched.opened(str(details[0])) if event == "open" else None)
    _watch_sounds(watched)
    return watched


def _watch_judgements(watched: Watched) -> None:
    judge = Ledger.judge

    @wraps(judge)
    def kept(self: Ledger, identifier: str, value: object, corrected: object = None, reason: str = "",
             rival: Any = ()) -> Verdict:  # fmt: skip
        try:
            verdict = judge(self, identifier, value, corrected, reason, rival)
        except ClaimError as error:
            if reason or not str(error).endswith(REASON_ASKED):
                raise
            verdict = judge(self, identifier, value, corrected, NO_REASON, rival)
        if not self.by_reader:
            watched.judge(identifier, (value, corrected, reason, rival), verdict)
        return verdict

    Ledger.judge = kept  # type: ignore[method-assign]


def _watch_sounds(watched: Watched) -> None:
    """Sounds are opened by a library in C, of which Python hears nothing."""
    import soundfile

    begin = soundfile.SoundFile.__init__

    @wraps(begin)
    def kept(self: object, file: object, *more: object, **named: object) -> None:
        if isinstance(file, str | Path):
            watched.opened(str(file))
        begin(self, file, *more, **named)

    soundfile.SoundFile.__init__ = kept

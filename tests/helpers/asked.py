"""Every check that a chapter asks, and answers to it, found where they stand: nothing is listed by hand.

The chapters' solution cells give the model solutions. Of a chapter only the statements run that a solution needs.
"""

from __future__ import annotations

import ast
import copy
import importlib.util
import json
import os
import signal
import symtable
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asking

Handed = tuple[str, str, tuple[Any, ...]]
"""The label of an exercise, the source of an answer, and the answer with whatever goes with it."""

CELL_SECONDS = 120.0
"""For one statement of a chapter, or one example."""
ASK = "asked_by_the_record"


class TooLongError(BaseException):
    """No `Exception`: a check that takes whatever a student's code raises must not take this one."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """End a block with `TooLongError` after so many seconds, and keep what it prints."""

    def ring(number: int, frame: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def called(node: ast.AST) -> list[str]:
    """The labels that a piece of code asks for."""
    return [_label(part) for part in ast.walk(node) if _label(part)]


def _label(node: ast.AST) -> str:
    """The label in ``check("label", …)``; nothing for other code."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check" and node.args):
        return ""
    first = node.args[0]
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


@dataclass
class Statement:
    """A statement of a chapter, and the names of the chapter that it makes, needs and changes."""

    cell: str
    kind: str  # "solution", "check" or ""
    node: ast.stmt
    makes: set[str] = field(default_factory=set)
    needs: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        table = symtable.symtable(ast.unparse(self.node), self.cell, "exec")
        tables = [table]
        for one in tables:
            tables += one.get_children()
        for symbol in table.get_symbols():
            if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
                self.makes.add(symbol.get_name())
        for one in tables:
            self.needs |= {s.get_name() for s in one.get_symbols()
                           if s.is_referenced() and (one is table or s.is_global())}  # fmt: skip
        if isinstance(self.node, ast.For | ast.With):
            self.needs -= _first_made(self.node)
        for part in ast.walk(self.node):
            if isinstance(part, ast.Attribute | ast.Subscript) and not isinstance(part.ctx, ast.Load):
                self.changes.add(_root(part))
            if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
                self.changes.add(_root(part.value.func))
        self.makes.discard("_")

    @property
    def root(self) -> bool:
        """Whether a solution is handed to its check here."""
        return self.kind == "solution" and bool(called(self.node))


def _first_made(block: ast.For | ast.With) -> set[str]:
    """The names that a block makes before it looks at them: what stood under them earlier doesn't count."""
    made, seen = set(), set()
    head = [block.iter, block.target] if isinstance(block, ast.For) else list(block.items)
    for row in (*head, *block.body):
        names = [part for part in ast.walk(row) if isinstance(part, ast.Name)]
        seen |= {name.id for name in names if isinstance(name.ctx, ast.Load)} - made
        if isinstance(row, ast.For | ast.With):
            seen -= _first_made(row) - made
        if not isinstance(row, ast.If | ast.While | ast.Try):
            made |= {name.id for name in names if isinstance(name.ctx, ast.Store)} - seen
    return made


def _root(node: ast.expr) -> str:
    """The name that a chain of attributes and items begins with; nothing for a plain name: no call changes that."""
    if isinstance(node, ast.Name):
        return ""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def statements(chapter: Path) -> list[Statement]:
    """A chapter's code, a statement each; an import of several names is as many statements."""
    found = []
    for cell in json.loads(chapter.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        lines = "".join(cell["source"]).splitlines()
        source = "\n".join("" if line.startswith(("%", "!")) else line for line in lines)
        tags = cell["metadata"].get("tags", [])
        kind = next((tag for tag in ("solution", "check") if tag in tags), "")
        for node in ast.parse(source).body:
            if isinstance(node, ast.ImportFrom):
                parts: list[ast.stmt] = [ast.ImportFrom(node.module, [name], node.level) for name in node.names]
            else:
                parts = [node]
            found += [Statement(cell["id"], kind, part) for part in parts]
    return found


def needed(rows: list[Statement]) -> list[int]:
    """The places of the statements without which no solution runs."""
    wanted: set[int] = set()
    waiting = [i for i, row in enumerate(rows) if row.root]
    while waiting:
        at = waiting.pop()
        if at not in wanted:
            wanted.add(at)
            waiting += [i for name in rows[at].needs for i in _makers(rows, name, at)]
    return sorted(wanted)


def _makers(rows: list[Statement], name: str, at: int) -> Iterator[int]:
    """The statement before a place that makes a name last, and those that change it since; or a later one."""
    for i in reversed(range(at)):
        if rows[i].kind != "check" and name in rows[i].makes | rows[i].changes:
            yield i
            if name in rows[i].makes and not isinstance(rows[i].node, ast.AugAssign):
                return
    yield from (i for i in range(at + 1, len(rows)) if name in rows[i].makes)


class _Through(ast.NodeTransformer):
    """Sends each call of a check through `ASK`."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if _label(node):
            node.func = ast.Call(ast.Name(ASK, ast.Load()), [node.func], [])
        return node


def run(node: ast.stmt, where: str, names: dict[str, Any], heard: Callable[[str, tuple[Any, ...]], None]) -> None:
    """Run a statement; whatever it hands to a check is heard."""

    def ask(check: Callable[..., Any]) -> Callable[..., Any]:
        def hand_over(label: str, *answer: Any) -> Any:
            heard(label, answer)
            return check(label, *answer)

        return hand_over

    code = ast.fix_missing_locations(_Through().visit(ast.Module([copy.deepcopy(node)], [])))
    names[ASK] = ask
    with within(CELL_SECONDS):
        exec(compile(code, where, "exec", dont_inherit=True), names)


@dataclass
class Asked:
    """What a chapter asks: the labels, the answers that its solutions give, and why one gives none."""

    labels: list[str] = field(default_factory=list)
    solutions: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    without: dict[str, str] = field(default_factory=dict)


def chapter(path: Path) -> Asked:
    """Run what a chapter's solutions need, in its order, and keep what they hand over."""
    rows, found, names = statements(path), Asked(), {"__name__": "__main__"}
    failed: dict[str, str] = {}
    for i in needed(rows):
        row = rows[i]

        def heard(label: str, answer: tuple[Any, ...]) -> None:
            found.solutions.setdefault(label, []).append(answer)

        before = {label: len(answers) for label, answers in found.solutions.items()}
        try:
            with chdir(path.parent):
                run(row.node, row.cell, names, heard)
        except (Exception, TooLongError) as error:
            said = f"cell {row.cell}: {type(error).__name__}: {error}"
            failed |= dict.fromkeys(row.makes, said)
            for label in called(row.node) if row.root else ():
                if len(found.solutions.get(label, ())) == before.get(label, 0):
                    found.without[label] = next((failed[n] for n in row.needs if n in failed), said)
    found.labels = list(dict.fromkeys(label for row in rows for label in called(row.node)))
    for label in found.labels:
        if label not in found.solutions:
            found.without.setdefault(label, "no cell of the chapter's solutions hands an answer to it")
    return found


def tests(part: Path) -> Iterator[Handed]:
    """What a part's tests hand to its checks, by its source, where it can be had without running a test.

    That is each row ``(of("label"), answer, …)`` and each ``check("label", answer)`` or ``of("label")(answer)`` whose
    answer the names of the file give.
    """
    for path in sorted(part.glob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if "from asking import" not in text:
            continue
        spec = importlib.util.spec_from_file_location(f"asked_{part.name}_{path.stem}", path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        try:
            with within(CELL_SECONDS):
                spec.loader.exec_module(module)
        except BaseException:  # a file that pytest skips as a whole ends with an exception of its own kind
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Tuple) and len(node.elts) > 1:
                yield from _row(_asks(node.elts[0], vars(module)), node.elts[1:2], vars(module))
            elif isinstance(node, ast.Call):
                label = _label(node)
                yield from _row(label or _asks(node.func, vars(module)), node.args[bool(label) :], vars(module))


def _row(label: str, answer: list[ast.expr], names: dict[str, Any]) -> Iterator[Handed]:
    if not answer or not label:
        return
    try:
        with within(CELL_SECONDS):
            codes = [compile(ast.Expression(part), "a test", "eval", dont_inherit=True) for part in answer]
            yield label, ast.unparse(answer[0]), tuple(eval(code, names) for code in codes)
    except Exception:  # made of names that the test itself has
        return


def _asks(node: ast.expr, names: dict[str, Any]) -> str:
    """The label that ``of("label")`` has, or that a word has in a table of the test's file; nothing for other code."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "of":
        return str(ast.literal_eval(node.args[0]))
    word = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
    tables = [table for table in names.values() if isinstance(table, dict) and word in table]
    found = [table[word] for table in tables if isinstance(table[word], asking.Of)]
    return found[0].label if found else ""

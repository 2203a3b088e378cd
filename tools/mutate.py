"""Puts seeded faults into engines and reading versions, one at a time, and counts how many the tests notice.

    python tools/mutate.py                     # 300 faults, drawn over all files below
    python tools/mutate.py --count 40 nfc      # 40 faults in the files whose path holds "nfc"
    python tools/mutate.py --list              # what would be tried

A fault is a change of one place in the syntax tree: a comparison or its boundary, an operator, a constant, a condition
turned round, `min` for `max`, a statement left out. Each is tried in a child process that imports the changed source
instead of the file (nothing on the disk changes) and runs the tests named for it. Engines run as plain Python there
(as with NUMBA_DISABLE_JIT=1): compiled code would come from numba's cache, unchanged. A child that takes too long
counts as noticed. Printed are the share for each file and every fault that lived; the exit code is 1 below the bar.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.machinery
import importlib.util
import os
import random
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src"
BAR = 85.0
LEAST_PATIENCE = 30.0  # s; else five times what the tests take without a fault


@dataclass(frozen=True)
class Target:
    """A file, the tests that should notice its faults, and whether engines run as plain Python meanwhile."""

    file: str
    tests: tuple[str, ...]
    plain: bool

    @property
    def module(self) -> str:
        """The name under which the file is imported."""
        name = self.file.removeprefix("src/").removesuffix(".py").replace("/", ".")
        return name.removesuffix(".__init__")


def targets() -> list[Target]:
    """Give every reading version that has tests of its own, and the engines beside them."""
    found = []
    for folder in sorted((SOURCES / "voicewire").iterdir()):
        tests = f"tests/{folder.name}/test_reference.py"
        if not (ROOT / tests).is_file():
            continue
        plain = [folder / "reference.py", *sorted((folder / "reference").glob("*.py"))]
        found += [
            Target(str(file.relative_to(ROOT)), (tests,), plain=False)
            for file in plain
            if file.is_file() and file.name != "__init__.py"
        ]
    engines = {
        "netsim": ("tfrc_sender", "tfrc_receiver", "tcp", "equation", "engine", "wire", "ccid2"),
        "nfc": ("engine", "channel", "exchange"),
        "voip": ("playout", "adaptive"),
    }
    for room, names in engines.items():
        tests_of = tuple(
            f"tests/{room}/{name}"
            for name in ("test_reference.py", "test_engine.py", "test_channel.py", "test_equation.py")
            if (ROOT / "tests" / room / name).is_file()
        )
        found += [Target(f"src/voicewire/{room}/{name}.py", tests_of, plain=True) for name in names]
    return found


# ---------------------------------------------------------------------- faults

_COMPARE: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}
_OPERATOR: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
_SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}


def _changes(node: ast.AST) -> list[ast.AST]:
    """Give what may stand in the place of this node."""
    made: list[ast.AST] = []
    if isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            for other in _COMPARE.get(type(op), ()):
                changed = copy.deepcopy(node)
                changed.ops[place] = other()
                made.append(changed)
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _OPERATOR:
        changed_op = copy.deepcopy(node)
        changed_op.op = _OPERATOR[type(node.op)]()
        made.append(changed_op)
    elif isinstance(node, ast.BoolOp):
        made.append(ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        made.append(node.operand)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        made.append(ast.Constant(not node.value))
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        made.append(ast.Constant(node.value + 1))
    elif isinstance(node, ast.Constant) and isinstance(node.value, float):
        made.append(ast.Constant(2 * node.value if node.value else 1.0))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _SWAPPED:
        made.append(ast.Call(ast.Name(_SWAPPED[node.func.id], ast.Load()), node.args, node.keywords))
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        turned = copy.deepcopy(node)
        turned.test = ast.UnaryOp(ast.Not(), node.test)
        made.append(turned)
    called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    if called or isinstance(node, ast.Assign | ast.AugAssign):
        made.append(ast.Pass())
    return made


def _inside(tree: ast.Module) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Give each place in the bodies of functions, as (parent, field, index); docstrings and annotations are no code."""
    waiting: list[ast.AST] = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    nested = {id(child) for function in waiting for child in ast.walk(function) if child is not function}
    for function in waiting:
        if id(function) in nested:
            continue
        assert isinstance(function, ast.FunctionDef)
        stack: list[tuple[ast.AST, str, int | None]] = [(function, "body", n) for n in range(len(function.body))]
        while stack:
            place = stack.pop()
            node = _at(*place)
            yield place
            for name, value in ast.iter_fields(node):
                if name in ("annotation", "returns", "decorator_list", "args") and not isinstance(node, ast.Call):
                    continue
                if isinstance(node, ast.Raise):
                    continue
                if isinstance(value, ast.AST):
                    stack.append((node, name, None))
                elif isinstance(value, list):
                    stack += [(node, name, n) for n, each in enumerate(value) if isinstance(each, ast.AST)]


def _at(parent: ast.AST, name: str, index: int | None) -> ast.AST:
    value = getattr(parent, name)
    node = value if index is None else value[index]
    assert isinstance(node, ast.AST)
    return node


@dataclass(frozen=True)
class Fault:
    """One changed place: where, what stood there, what stands there now, and the whole changed source."""

    target: Target
    line: int
    before: str
    after: str
    source: str


def faults(target: Target) -> list[Fault]:
    """Give every fault of a file, in the order of its syntax tree."""
    tree = ast.parse((ROOT / target.file).read_text(encoding="utf-8"))
    made = []
    for parent, name, index in _inside(tree):
        node = _at(parent, name, index)
        for changed in _changes(node):
            _put(parent, name, index, changed)
            source = ast.unparse(ast.fix_missing_locations(tree))
            _put(parent, name, index, node)
            after = "nothing" if isinstance(changed, ast.Pass) else _head(changed)
            made.append(Fault(target, getattr(node, "lineno", 0), _head(node), after, source))
    return made


def _put(parent: ast.AST, name: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[index] = node


def _head(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).splitlines()[0][:70]


# -------------------------------------------------------------------- children


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a changed source."""

    def __init__(self, target: Target, source: str) -> None:
        self.target, self.source = target, source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Answer for the changed module only."""
        if fullname != self.target.module:
            return None
        return importlib.util.spec_from_file_location(fullname, ROOT / self.target.file, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed source in the module."""
        exec(compile(self.source, str(ROOT / self.target.file), "exec"), module.__dict__)


def _child(target: Target, source: str | None) -> int:
    """Run the tests of a target in this process; 0 if they pass."""
    import numba
    import pytest

    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    os.chdir(ROOT)
    sys.path.insert(0, str(SOURCES))
    if target.plain:
        setattr(numba.config, "DISABLE_JIT", 1)  # noqa: B010 - numba makes the names of its settings as it runs
    if source is not None:
        sys.meta_path.insert(0, _Changed(target, source))
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:cov", "-p", "no:xdist", "--hypothesis-seed=0"]
    return int(pytest.main([*options, *target.tests]))


def attempt(target: Target, source: str | None, patience: float) -> tuple[str, float]:
    """Try a fault in a child process.

    Returns
    -------
    tuple of str and float
        "lived", "noticed" or "too long", and how long it took, s.
    """
    begin = time.monotonic()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = _child(target, source)
        except BaseException:  # whatever it is, the fault was noticed
            code = 71
        finally:
            os._exit(code)
    while time.monotonic() - begin < patience:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            passed = os.waitstatus_to_exitcode(status) == 0
            return ("lived" if passed else "noticed"), time.monotonic() - begin
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "too long", time.monotonic() - begin


def run(chosen: Sequence[Fault], minutes: float) -> dict[str, list[tuple[Fault, str]]]:
    """Try each fault once; stop after so many minutes, and say so."""
    import hypothesis  # noqa: F401 - imported here once, so that no child has to
    import numba  # noqa: F401
    import numpy  # noqa: F401
    import pytest  # noqa: F401

    patience: dict[str, float] = {}
    results: dict[str, list[tuple[Fault, str]]] = {}
    begin = time.monotonic()
    for number, fault in enumerate(chosen, start=1):
        target = fault.target
        if time.monotonic() - begin > 60 * minutes:
            print(f"{minutes:g} minutes are over: {len(chosen) - number + 1} faults were not tried")
            break
        if target.file not in patience:
            verdict, seconds = attempt(target, None, 900.0)
            if verdict != "lived":
                raise SystemExit(f"the tests of {target.file} fail without a fault: run {' '.join(target.tests)}")
            patience[target.file] = max(LEAST_PATIENCE, 5 * seconds)
        verdict, seconds = attempt(target, fault.source, patience[target.file])
        results.setdefault(target.file, []).append((fault, verdict))
        if verdict == "lived":
            print(f"lived: {target.file}:{fault.line}: {fault.before}  ->  {fault.after}", flush=True)
    return results


def report(results: dict[str, list[tuple[Fault, str]]], bar: float) -> int:
    """Print the share that was noticed, for each file and for all; 1 if it lies below the bar, or nothing ran."""
    tried = noticed = 0
    for file, rows in sorted(results.items()):
        count = sum(verdict != "lived" for _, verdict in rows)
        tried, noticed = tried + len(rows), noticed + count
        print(f"{file:50} {count:4d} of {len(rows):4d} noticed  {100 * count / len(rows):5.1f} %")
    if not tried:
        print("no fault was tried")
        return 1
    share = 100 * noticed / tried
    print(f"{'all':50} {noticed:4d} of {tried:4d} noticed  {share:5.1f} % (bar {bar:g} %)")
    return 0 if share >= bar else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of ``python tools/mutate.py``."""
    parser = argparse.ArgumentParser(description="Put faults into engines and reading versions; count the noticed.")
    parser.add_argument("files", nargs="*", help="parts of paths (default: every file)")
    parser.add_argument("--count", type=int, default=300, help="faults to draw (default 300)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default 0)")
    parser.add_argument("--bar", type=float, default=BAR, help=f"least share noticed, per cent (default {BAR:g})")
    parser.add_argument("--minutes", type=float, default=120.0, help="stop after so long (default 120)")
    parser.add_argument("--list", action="store_true", help="say what would be tried, try nothing")
    options = parser.parse_args(arguments)
    wanted = [t for t in targets() if not options.files or any(part in t.file for part in options.files)]
    if not wanted:
        parser.error(f"no file holds {' or '.join(options.files)} in its path")
    every = [fault for target in wanted for fault in faults(target)]
    chosen = random.Random(options.seed).sample(every, min(options.count, len(every)))
    chosen.sort(key=lambda fault: fault.target.file)
    if options.list:
        for fault in chosen:
            print(f"{fault.target.file}:{fault.line}: {fault.before}  ->  {fault.after}")
        return 0
    return report(run(chosen, options.minutes), options.bar)


if __name__ == "__main__":
    sys.exit(main())

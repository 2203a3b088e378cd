"""Puts seeded faults into the package, one at a time, and counts how many the tests notice.

    python tools/mutate.py                     # 300 faults, drawn over all files below
    python tools/mutate.py --each 40 nfc       # 40 faults in each file whose path holds "nfc"
    python tools/mutate.py --list              # what would be tried

A fault is a change of one place in the syntax tree of a function: a comparison or its boundary, an operator, a
constant, a condition turned round, `min` for `max`, a statement left out. Docstrings, annotations, what is written to
a log and what an error says are no code. The tests of a file are collected and traced once; each fault is then tried
in a child process, on the tests that run its line, the quickest first (nothing on the disk changes). What they let
live is tried once more with all the tests of its file in a fresh process that imports the changed source: a line may
also have run at the import, or in what several tests share. Engines run as plain Python (as with
NUMBA_DISABLE_JIT=1): compiled code would come from numba's cache, unchanged. A child that takes too long, or too much
memory, counts as noticed. Printed are every fault that lived, and one table with the share for each file; the exit
code is 1 below the bar.
"""

from __future__ import annotations

import argparse
import ast
import copy
import ctypes
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import json
import math
import os
import pickle
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src"
BAR = 85.0  # per cent of all faults
LEDGER_BAR = 95.0  # of each file that decides a verdict
LEAST_PATIENCE = 20.0  # s of the processor; else ten times what the tests take without a fault
IDLE = 60.0  # s; so much longer, and ten times, may a child wait
MEMORY = 6 << 30  # bytes that a child may have


@dataclass(frozen=True)
class Target:
    """A file, the tests that should notice its faults, and whether engines run as plain Python meanwhile."""

    file: str
    tests: tuple[str, ...]
    plain: bool = False
    bar: float = BAR

    @property
    def module(self) -> str:
        """The name under which the file is imported."""
        name = self.file.removeprefix("src/").removesuffix(".py").replace("/", ".")
        return name.removesuffix(".__init__")


KIT = {
    "stats": ("tests/test_stats.py", "tests/foundations/test_judging.py"),
    "exercises": ("tests/test_exercises.py",),
    "slider": ("tests/test_slider.py",),
    "audio": ("tests/test_audio.py",),
    "figures": ("tests/test_figures.py",),
    "paths": ("tests/test_paths.py",),
}
LEDGER = ("judging", "rules", "vocabulary", "loading")
MQTT = {
    "packets": ("test_packets",),
    "decode": ("test_packets",),
    "topics": ("test_topics",),
    "retained": ("test_topics", "test_safety", "test_limits"),
    "session": ("test_safety", "test_limits", "test_conformance_messages"),
    "routing": ("test_safety", "test_limits", "test_conformance_messages"),
    "outbox": ("test_safety", "test_limits", "test_conformance_messages"),
    "hold": ("test_e2e", "test_safety"),
    "store": ("test_store",),
}
READING = {"echo": ("test_filters",), "voip": ("test_reference", "test_quality")}  # else test_reference
ENGINES = {
    "netsim": ("tfrc_sender", "tfrc_receiver", "tcp", "equation", "engine", "wire", "ccid2"),
    "nfc": ("engine", "channel", "exchange"),
    "voip": ("playout", "adaptive"),
}


def targets() -> list[Target]:
    """Give the chapter kit, the ledger, the sweep's cache key, the broker, every reading version and the engines."""
    found = [Target(f"src/voicewire/{name}.py", tests) for name, tests in KIT.items()]
    found += [Target(f"src/voicewire/ledger/{name}.py", _all("ledger"), bar=LEDGER_BAR) for name in LEDGER]
    found.append(Target("src/voicewire/sweep/fingerprint.py", ("tests/test_fingerprint.py",)))
    for name, tests in MQTT.items():
        found.append(Target(f"src/voicewire/mqtt/{name}.py", tuple(f"tests/mqtt/{test}.py" for test in tests)))
    for folder in sorted((SOURCES / "voicewire").iterdir()):
        wanted = READING.get(folder.name, ("test_reference",))
        tests = tuple(test for test in _all(folder.name) if Path(test).stem in wanted)
        plain = [*folder.glob("reference.py"), *sorted(folder.glob("reference/*.py")), *folder.glob("recursion.py")]
        found += [Target(str(f.relative_to(ROOT)), tests) for f in plain if f.name != "__init__.py"]
    for room, names in ENGINES.items():
        wanted = ("test_reference", "test_channel", "test_equation", "test_plain", "test_quality")
        tests = tuple(test for test in _all(room) if Path(test).stem in wanted)
        found += [Target(f"src/voicewire/{room}/{name}.py", tests, plain=True) for name in names]
    return found


def _all(room: str) -> tuple[str, ...]:
    return tuple(str(file.relative_to(ROOT)) for file in sorted((ROOT / "tests" / room).glob("test_*.py")))


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
_LOGS = {"debug", "info", "warning", "error", "exception"}


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


def _no_code(node: ast.AST) -> bool:
    """Whether this says something to a person: an error, a line of a log."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        return isinstance(called, ast.Attribute) and called.attr in _LOGS and "log" in ast.unparse(called.value)
    return isinstance(node, ast.Raise | ast.Assert)


@dataclass(frozen=True)
class Fault:
    """One changed place: the node that holds it, what stands there, what shall, and the lines of its statement."""

    target: Target
    tree: ast.Module = field(repr=False)
    place: tuple[ast.AST, str, int | None]
    node: ast.AST
    changed: ast.AST
    lines: tuple[int, int]

    def code(self) -> CodeType:
        """Compile the changed file; its lines keep their numbers."""
        new = ast.copy_location(self.changed, self.node)
        _put(*self.place, new)
        try:
            return compile(ast.fix_missing_locations(self.tree), str(ROOT / self.target.file), "exec")
        finally:
            _put(*self.place, self.node)

    def __str__(self) -> str:
        after = "nothing" if isinstance(self.changed, ast.Pass) else _head(self.changed)
        return f"{self.target.file}:{getattr(self.node, 'lineno', 0)}: {_head(self.node)}  ->  {after}"


def _head(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).splitlines()[0][:70]


def _put(parent: ast.AST, name: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[index] = node


def _children(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "args") and not isinstance(node, ast.Call):
            continue
        for index, each in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(each, ast.AST):
                yield node, name, index if isinstance(value, list) else None, each


def _head_lines(node: ast.stmt) -> tuple[int, int]:
    """Give the first and last line of a statement, of a compound one those before its body."""
    body = getattr(node, "body", None)
    return node.lineno, max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno


def faults(target: Target) -> list[Fault]:
    """Give every fault in the functions of a file, in the order of its syntax tree."""
    tree = ast.parse((ROOT / target.file).read_text(encoding="utf-8"))
    made: list[Fault] = []

    def walk(node: ast.AST, inside: bool, lines: tuple[int, int]) -> None:
        for parent, name, index, child in _children(node):
            if _no_code(child):
                continue
            at = _head_lines(child) if isinstance(child, ast.stmt) else lines
            if inside:
                place = (parent, name, index)
                made.extend(Fault(target, tree, place, child, changed, at) for changed in _changes(child))
            walk(child, inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef), at)

    walk(tree, False, (0, 0))
    return made


# -------------------------------------------------------------------- children


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a changed source."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Answer for the changed module only."""
        if fullname != self.fault.target.module:
            return None
        return importlib.util.spec_from_file_location(fullname, ROOT / self.fault.target.file, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed source in the module."""
        exec(self.fault.code(), module.__dict__)


def _codes(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield (constant.co_qualname, constant.co_firstlineno), constant
            yield from _codes(constant)


def exchange(fault: Fault) -> None:
    """Give every function of the imported file the changed code, whoever holds it."""
    new = dict(_codes(fault.code()))
    file = str(ROOT / fault.target.file)
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename == file:
            code = new[each.__code__.co_qualname, each.__code__.co_firstlineno]
            if code.co_freevars == each.__code__.co_freevars:
                each.__code__ = code


def _end_with_parent() -> None:
    """Have this process killed when the one that made it ends, where the system can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def in_child(work: Callable[[], bool], busy: float, idle: float) -> str:
    """Say whether work passes in a child process: "lived" if it does, else "noticed" or "too long".

    It may take `busy` seconds of the processor, and `idle` seconds by the clock: a machine with other work to do
    must not count as a test that notices.
    """
    place = tempfile.mkdtemp(prefix="vw-mutate-")
    end = time.monotonic() + idle
    child = os.fork()
    if child == 0:
        passed = False
        try:
            os.setpgid(0, 0)
            _end_with_parent()
            os.environ["TMPDIR"] = tempfile.tempdir = place
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(busy + time.process_time()),) * 2)
            passed = work()
        finally:
            os._exit(0 if passed else 1)  # whatever was raised, the fault was noticed
    verdict = "too long"
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            verdict = "too long" if code in (-signal.SIGXCPU, -signal.SIGKILL) else "noticed" if code else "lived"
            break
        time.sleep(0.01)
    else:
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
    shutil.rmtree(place, ignore_errors=True)
    return verdict


def _watch(files: set[str]) -> Any:
    """Begin to note which lines of some files are run, and under which name (`coverage` does it)."""
    import coverage

    witness = coverage.Coverage(data_file=None, include=sorted(files), config_file=False)
    witness.start()
    return witness


def _lines(witness: Any) -> dict[str, set[tuple[str, int]]]:
    """End it, and give the lines of each name as (file, line)."""
    witness.stop()
    found: dict[str, set[tuple[str, int]]] = {}
    data = witness.get_data()
    for file in data.measured_files():
        for line, names in data.contexts_by_lineno(file).items():
            for name in names:
                found.setdefault(name, set()).add((file, line))
    return found


class Trials:
    """In pytest's place: run the collected tests once as they are, then with each fault those that reach it."""

    def __init__(self, chosen: Sequence[Fault], tell: Callable[[int, str], None], end: float) -> None:
        self.chosen, self.tell, self.end = chosen, tell, end
        self.files = {str(ROOT / fault.target.file) for fault in chosen}
        self.witness = _watch(self.files)
        self.imported: set[tuple[str, int]] = set()

    def pytest_collection_finish(self) -> None:
        """Keep which lines the import ran."""
        self.imported = set().union(*_lines(self.witness).values())

    def pytest_runtestloop(self, session: Any) -> bool:
        """Try the faults."""
        if session.testsfailed:
            return True
        seconds, reached = self._measure(session)
        for number, fault in enumerate(self.chosen):
            if time.monotonic() > self.end:
                break
            file, (first, last) = str(ROOT / fault.target.file), fault.lines
            at = {(file, line) for line in range(first, last + 1)}
            tests = sorted((i for i in reached if at & reached[i]), key=seconds.__getitem__)
            if not tests:
                self.tell(number, "unsure" if at & self.imported else "not run")
                continue

            def work(fault: Fault = fault, tests: list[int] = tests) -> bool:
                exchange(fault)
                return all(self._passes(session, session.items[i]) for i in tests)

            wall, busy = (10 * sum(seconds[i][k] for i in tests) for k in (0, 1))
            verdict = in_child(work, max(LEAST_PATIENCE, busy), IDLE + 20 * max(LEAST_PATIENCE, wall))
            self.tell(number, "unsure" if verdict == "lived" else verdict)
        return True

    @staticmethod
    def _passes(session: Any, item: Any) -> bool:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        return not session.testsfailed

    def _measure(self, session: Any) -> tuple[dict[int, tuple[float, float]], dict[int, set[tuple[str, int]]]]:
        """Run every test once; give what each took (by the clock, of the processor) and ran, of those that passed."""
        seconds: dict[int, tuple[float, float]] = {}
        reached: dict[int, set[tuple[str, int]]] = {}
        with tempfile.NamedTemporaryFile() as kept:

            def work() -> bool:
                witness = _watch(self.files)
                for number, item in enumerate(session.items):
                    begin, used, failed = time.monotonic(), time.process_time(), session.testsfailed
                    witness.switch_context(str(number))
                    self._passes(session, item)
                    if session.testsfailed == failed:
                        seconds[number] = time.monotonic() - begin, time.process_time() - used
                lines = _lines(witness)
                reached.update({number: lines.get(str(number), set()) for number in seconds})
                Path(kept.name).write_bytes(pickle.dumps((seconds, reached)))
                return True

            if in_child(work, 3600.0, 3600.0) != "lived":
                raise SystemExit(2)
            seconds, reached = pickle.loads(Path(kept.name).read_bytes())
        for number, item in enumerate(session.items):
            if number not in seconds:
                self.tell(-1, f"left out, it fails without a fault: {item.nodeid}")
        return seconds, reached


OPTIONS = ["-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:cov", "-p", "no:xdist", "--hypothesis-seed=0"]
OPTIONS += ["--hypothesis-profile=mutate", "--doctest-modules"]  # a file's examples are tests of it too


def _prepare(target: Target) -> None:
    """Make this process one that runs tests, silently."""
    import numba

    silent = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)
    os.chdir(ROOT)
    sys.path.insert(0, str(SOURCES))
    if target.plain:
        setattr(numba.config, "DISABLE_JIT", 1)  # noqa: B010 - numba makes the names of its settings as it runs


def trials(chosen: Sequence[Fault], end: float) -> Iterator[tuple[int, str]]:
    """Try faults of files that have the same tests; give the number of each and its verdict as it comes."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            _end_with_parent()
            _prepare(chosen[0].target)
            import pytest

            def tell(number: int, verdict: str) -> None:
                os.write(writing, json.dumps([number, verdict]).encode() + b"\n")

            plugin = Trials(chosen, tell, end)
            files = sorted({fault.target.file for fault in chosen})
            pytest.main([*OPTIONS, *chosen[0].target.tests, *files], plugins=[plugin])
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        for line in told:
            number, verdict = json.loads(line)
            yield number, verdict
    os.waitpid(child, 0)


def confirm(fault: Fault) -> str:
    """Try a fault in a fresh process that imports the changed file, with all tests of the file."""

    def work() -> bool:
        _prepare(fault.target)
        sys.meta_path.insert(0, _Changed(fault))
        import pytest

        return pytest.main(["-x", *OPTIONS, *fault.target.tests, fault.target.file]) == 0

    return in_child(work, 1800.0, 3600.0)


def run(chosen: Sequence[Fault], minutes: float, sure: bool) -> list[tuple[Fault, str]]:
    """Try each fault; stop after so many minutes, and say so."""
    import hypothesis
    import numba  # noqa: F401 - imported here once, so that no child has to
    import numpy  # noqa: F401
    import pytest  # noqa: F401

    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)  # what fails need not be made short
    hypothesis.settings.register_profile("mutate", deadline=None, database=None, phases=phases)
    end = time.monotonic() + 60 * minutes
    groups: dict[tuple[tuple[str, ...], bool], list[Fault]] = {}
    for fault in chosen:
        groups.setdefault((fault.target.tests, fault.target.plain), []).append(fault)
    results: list[tuple[Fault, str]] = []
    for group in groups.values():
        for number, verdict in trials(group, end):
            if number < 0:
                print(verdict, flush=True)
                continue
            fault = group[number]
            if verdict == "unsure":
                verdict = confirm(fault) if sure else "lived"
            results.append((fault, verdict))
            if verdict in ("lived", "not run"):
                print(f"{verdict}: {fault}", flush=True)
            elif len(results) % 10 == 0:
                print(f"{len(results)} of {len(chosen)} tried", file=sys.stderr, flush=True)
    if missing := len(chosen) - len(results):
        print(f"{missing} faults were not tried: the time was over, or their tests cannot be collected")
    return results


def report(results: Sequence[tuple[Fault, str]], bar: float) -> int:
    """Print the share that was noticed, for each file and for all; 1 if one lies below its bar, or nothing ran."""
    bars = {fault.target.file: fault.target.bar for fault, _ in results}
    low = not results
    print(
        f"{'file':45} {'faults':>7} {'noticed':>8} {'too long':>9} {'not run':>8} {'lived':>6} {'share':>8} {'bar':>5}"
    )
    for file in [*sorted(bars), "all"]:
        rows = [verdict for fault, verdict in results if file in (fault.target.file, "all")]
        late, never, lived = (rows.count(verdict) for verdict in ("too long", "not run", "lived"))
        noticed = len(rows) - late - never - lived
        share = 100 * (noticed + late) / max(1, len(rows))
        line = f"{file:45} {len(rows):7d} {noticed:8d} {late:9d} {never:8d} {lived:6d} {share:6.1f} %"
        held = bar if file == "all" else bars[file] if bars[file] > BAR else None  # of the others the sum counts
        print(line if held is None else f"{line} {held:5g}")
        low = low or (held is not None and share < held)
    return int(low)


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of ``python tools/mutate.py``."""
    parser = argparse.ArgumentParser(description="Put faults into the package; count those that its tests notice.")
    parser.add_argument("files", nargs="*", help="parts of paths (default: every file)")
    parser.add_argument("--count", type=int, default=300, help="faults to draw over all files (default 300)")
    parser.add_argument("--each", type=int, help="faults to draw in each file instead")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default 0)")
    parser.add_argument("--bar", type=float, default=BAR, help=f"least share noticed, per cent (default {BAR:g})")
    parser.add_argument("--minutes", type=float, default=120.0, help="stop after so long (default 120)")
    parser.add_argument("--quick", action="store_true", help="do not try once more what lived")
    parser.add_argument("--list", action="store_true", help="say what would be tried, try nothing")
    options = parser.parse_args(arguments)
    wanted = [t for t in targets() if not options.files or any(part in t.file for part in options.files)]
    if not wanted:
        parser.error(f"no file holds {' or '.join(options.files)} in its path")
    chosen: list[Fault] = []
    for draw in [[target] for target in wanted] if options.each else [wanted]:
        every = [fault for target in draw for fault in faults(target)]
        count = min(options.each or options.count, len(every))
        places = sorted(random.Random(options.seed).sample(range(len(every)), count))
        chosen += [every[place] for place in places]
    if options.list:
        print(*chosen, sep="\n")
        return 0
    return report(run(chosen, options.minutes, sure=not options.quick), options.bar)


if __name__ == "__main__":
    sys.exit(main())

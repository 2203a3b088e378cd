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
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from faults import BAR, ROOT, Fault, Target, faults

SOURCES = ROOT / "src"
LEDGER_BAR = 95.0  # of each file that decides a verdict
LEAST_PATIENCE = 20.0  # s of the processor; else ten times what the tests take without a fault
IDLE = 60.0  # s by the clock, and twenty times what it may take of the processor
MEMORY = 6 << 30  # bytes that a child may have


KIT = {
    "stats": ("tests/test_stats.py", "tests/foundations/test_judging.py"),
    "exercises": ("tests/test_exercises.py",),
    "slider": ("tests/test_slider.py",),
    "audio": ("tests/test_audio.py",),
    "figures": ("tests/test_figures.py",),
    "paths": ("tests/test_paths.py",),
}
LEDGER = ("judging", "rules", "loading", "sampling", "rivals", "rechecking", "collecting", "tally", "evidence")
BESIDE = ("presentation", "history", "letter")  # what the ledger shows and tells, and does not decide
MQTT = {
    "packets": ("test_packets",),
    "decode": ("test_packets",),
    "topics": ("test_topics",),
    "retained": ("test_retained",),
    "session": ("test_session",),
    "routing": ("test_routing",),
    "outbox": ("test_outbox",),
    "hold": ("test_hold",),
    "store": ("test_store_rows", "test_store"),
}
READING = {"echo": ("test_filters",), "voip": ("test_reference", "test_quality")}  # else test_reference
ENGINES = {
    "netsim": ("tfrc_sender", "tfrc_receiver", "tcp", "equation", "engine", "wire", "ccid2"),
    "nfc": ("engine", "channel", "exchange"),
    "voip": ("playout", "adaptive"),
}
ENGINE_TESTS = {
    "netsim": (
        "test_equation",
        "test_reference",
        "test_simulate",
        "test_wire",
        "test_ccid2",
        "test_tfrc_choices",
        "test_tfrc_rates",
    ),
    "nfc": ("test_channel", "test_exchange", "test_reference", "test_session"),
    "voip": ("test_playout", "test_quality", "test_reference"),
}
WITHOUT = tuple(  # minutes without a compiler; what they say of the rules, others say too
    f"tests/netsim/test_simulate.py::test_{name}"
    for name in (
        "faster_restart_is_idle_without_loss",
        "losses_have_their_rate_and_burst",
        "md_equals_udp_while_eight_packets_a_round_trip_suffice",
        "tcp_equals_udp_for_a_thin_codec",
        "twelve_flows_run_dry",
    )
)


def targets() -> list[Target]:
    """Give the chapter kit, the ledger, the sweep's cache key, the broker, every reading version and the engines."""
    found = [Target(f"src/voicewire/{name}.py", tests) for name, tests in KIT.items()]
    found += [Target(f"src/voicewire/ledger/{name}.py", _all("ledger"), bar=LEDGER_BAR) for name in LEDGER]
    found += [Target(f"src/voicewire/ledger/{name}.py", _all("ledger")) for name in BESIDE]
    found.append(Target("src/voicewire/sweep/fingerprint.py", ("tests/test_fingerprint.py",)))
    for name, tests in MQTT.items():
        found.append(Target(f"src/voicewire/mqtt/{name}.py", tuple(f"tests/mqtt/{test}.py" for test in tests)))
    for folder in sorted((SOURCES / "voicewire").iterdir()):
        wanted = READING.get(folder.name, ("test_reference",))
        tests = tuple(test for test in _all(folder.name) if Path(test).stem in wanted) or _all(folder.name)
        plain = [*folder.glob("reference.py"), *sorted(folder.glob("reference/*.py")), *folder.glob("recursion.py")]
        found += [Target(str(f.relative_to(ROOT)), tests) for f in plain if f.name != "__init__.py"]
    for room, names in ENGINES.items():
        tests = tuple(f"tests/{room}/{test}.py" for test in ENGINE_TESTS[room])
        found += [Target(f"src/voicewire/{room}/{name}.py", tests, plain=True) for name in names]
    return found


def _all(room: str) -> tuple[str, ...]:
    return tuple(str(file.relative_to(ROOT)) for file in sorted((ROOT / "tests" / room).glob("test_*.py")))


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


def _allow(busy: float) -> None:
    """Let this child take so many seconds of the processor from now on, within what it may take in all."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (min(most, math.ceil(busy + time.process_time())), most))


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
                for i in tests:
                    _allow(max(LEAST_PATIENCE, 10 * seconds[i][1]))  # a loop without end shows in the quickest test
                    if not self._passes(session, session.items[i]):
                        return False
                return True

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
OPTIONS += [f"--deselect={test}" for test in WITHOUT]


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

        options = ["-x", "--assert=plain", *OPTIONS]  # its rewriting would import the file that is named, unchanged
        return pytest.main([*options, *fault.target.tests, fault.target.file]) == 0

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

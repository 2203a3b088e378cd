"""Tries faults in child processes, on the tests of their files. `mutate` says which faults, and what came of them."""

from __future__ import annotations

import ctypes
import functools
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import json
import math
import multiprocessing
import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from faults import ROOT, Fault, Target

LEAST_PATIENCE = 20.0  # s of the processor; else ten times what the tests take without a fault
IDLE = 60.0  # s by the clock, and twenty times what it may take of the processor
MEMORY = 6 << 30  # bytes that a child may have


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


WITHOUT = (  # minutes, most of them without a compiler; what they say of the code that is tried, others say too
    "tests/course/test_grading.py::test_an_interrupted_run_waits_for_nobody_and_leaves_nothing",  # a fault leaves loops
    "tests/course/test_course_lists.py::test_a_part_is_divided_where_its_weeks_differ_least",
    "tests/course/test_course_lists.py::test_the_plan_has_every_chapter_in_order_with_its_times",
    "tests/netsim/test_simulate.py::test_faster_restart_is_idle_without_loss",
    "tests/netsim/test_simulate.py::test_losses_have_their_rate_and_burst",
    "tests/netsim/test_simulate.py::test_md_equals_udp_while_eight_packets_a_round_trip_suffice",
    "tests/netsim/test_simulate.py::test_tcp_equals_udp_for_a_thin_codec",
    "tests/netsim/test_simulate.py::test_twelve_flows_run_dry",
)
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
    sys.path.insert(0, str(ROOT / "src"))
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


def _slice(chosen: Sequence[Fault], end: float, sure: bool) -> list[str | None]:
    """Try faults of files that have the same tests; give each one's verdict, None where the time was over before."""
    verdicts: list[str | None] = [None] * len(chosen)
    for number, verdict in trials(chosen, end):
        if number < 0:
            print(verdict, flush=True)
            continue
        if verdict == "unsure":
            verdict = confirm(chosen[number]) if sure else "lived"
        verdicts[number] = verdict
        if verdict in ("lived", "not run"):
            print(f"{verdict}: {chosen[number]}", flush=True)
    return verdicts


def run(chosen: Sequence[Fault], minutes: float, sure: bool, jobs: int) -> list[tuple[Fault, str]]:
    """Try each fault, several at a time; stop after so many minutes, and say so.

    The faults of files with the same tests are dealt out to as many processes as there are jobs: each of these collects
    and measures the tests for itself.
    """
    import hypothesis
    import numba  # noqa: F401 - imported here once, so that no child has to
    import numpy  # noqa: F401
    import pytest  # noqa: F401

    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)  # what fails need not be made short
    hypothesis.settings.register_profile("mutate", deadline=None, database=None, phases=phases)
    work = functools.partial(_slice, end=time.monotonic() + 60 * minutes, sure=sure)
    groups: dict[tuple[tuple[str, ...], bool], list[Fault]] = {}
    for fault in chosen:
        groups.setdefault((fault.target.tests, fault.target.plain), []).append(fault)
    slices = [group[first::jobs] for group in groups.values() for first in range(min(jobs, len(group)))]
    results: list[tuple[Fault, str]] = []
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"), _end_with_parent) as pool:
        for part, verdicts in zip(slices, pool.map(work, slices), strict=True):
            results += [(fault, verdict) for fault, verdict in zip(part, verdicts, strict=True) if verdict]
            print(f"{len(results)} of {len(chosen)} tried", file=sys.stderr, flush=True)
    if missing := len(chosen) - len(results):
        print(f"{missing} faults were not tried: the time was over, or their tests cannot be collected")
    return results

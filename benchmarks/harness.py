"""The one benchmark harness: times, growth and memory, always beside a named peer of the same run.

A study's benchmark is a function that takes a `Run` and measures with it::

    import harness

    def benchmarks(run: harness.Run) -> None:
        run.compare("one 50 kB session", lambda: simulate(50_000), at_most=5e-3,
                    peer="lwIP in virtual time", against=lambda: lwip(50_000), at_least=2.0)
        run.scaling("bytes to simulate", simulate, sizes=[10_000, 40_000, 160_000], at_most=1.1)
        run.memory("one 50 kB session", lambda: simulate(50_000), at_most=50e6)

    if __name__ == "__main__":
        raise SystemExit(harness.main(benchmarks, __doc__, packages=["numpy", "numba"]))

``python benchmarks/<study>.py`` prints a table; ``--json`` prints a list of objects with ``name, value,
unit, peer, peer_value, ratio, bar, ok, versions, machine``; ``--quick`` measures a few rounds only and
never fails on a bar. The exit status is 1 if a bar is missed. Values are medians; `ratio` is how many times
better than the peer.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import platform
import re
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

#: A sample shorter than this says more about the clock than about the code, so a short call is repeated to
#: fill it.
SHORTEST_SAMPLE = 5e-3


@dataclass(frozen=True)
class Result:
    """One line of the table. Times are in s, memory in B; `spread` is the interquartile range over the
    median."""

    name: str
    value: float
    unit: str
    spread: float | None = None
    peer: str | None = None
    peer_value: float | None = None
    peer_spread: float | None = None
    ratio: float | None = None
    bar: str | None = None
    ok: bool = True


class Run:
    """Collects results. `quick` tells a study that a small case is enough."""

    def __init__(self, quick: bool = False, rounds: int = 15) -> None:
        self.quick = quick
        self.rounds = 3 if quick else rounds
        self.results: list[Result] = []

    def compare(
        self,
        name: str,
        function: Callable[[], Any],
        *,
        peer: str | None = None,
        against: Callable[[], Any] | None = None,
        same: Callable[[Any, Any], bool] | None = None,
        at_most: float | None = None,
        at_least: float | None = None,
        rounds: int | None = None,
    ) -> Result:
        """Time a function, and a peer in turn with it (A B, B A, A B …), so that both meet the same weather.

        Parameters
        ----------
        name : str
            What is measured.
        function, against : callable
            Ours and the peer's, without arguments. Both run once before anything is timed (compilation,
            caches).
        peer : str
            The peer's name, with its version if it is not among the packages.
        same : callable
            Given both results of the untimed call, says whether they agree; a fast wrong answer is no
            benchmark.
        at_most : float
            Bar on our time, in s.
        at_least : float
            Bar on the ratio, peer's time over ours.
        rounds : int
            Rounds, where the default (15, or 3 with ``--quick``) takes too long.
        """
        if (peer is None) != (against is None):
            raise ValueError(f"{name}: a peer needs both a name (peer=) and a function (against=)")
        if at_least is not None and against is None:
            raise ValueError(f"{name}: at_least is a bar on the ratio and needs a peer")
        functions = [function] if against is None else [function, against]
        outcomes = [f() for f in functions]
        if same is not None and against is not None and not same(*outcomes):
            raise ValueError(f"{name}: ours and {peer} do not give the same result, so their times say nothing")
        samples = interleave(functions, self._rounds(rounds))
        value = statistics.median(samples[0])
        peer_value = statistics.median(samples[1]) if against is not None else None
        return self.record(
            name,
            value,
            "s",
            spread=spread(samples[0]),
            peer=peer,
            peer_value=peer_value,
            peer_spread=spread(samples[1]) if against is not None else None,
            ratio=None if peer_value is None else peer_value / value,
            at_most=at_most,
            at_least=at_least,
        )

    def scaling(
        self,
        name: str,
        function: Callable[[int], Any],
        sizes: Sequence[int],
        *,
        at_most: float | None = None,
        rounds: int | None = None,
    ) -> Result:
        """Cost against size: the exponent k of the fitted c·n^k (1 is linear). `at_most` is a bar on k.

        The sizes are timed in turn, round by round. Choose them so large that fixed costs do not matter:
        those pull the exponent down.
        """
        if len(set(sizes)) < 3:
            raise ValueError(f"{name}: an exponent needs three sizes or more, got {list(sizes)}")
        for size in sizes:
            function(size)
        calls = [lambda size=size: function(size) for size in sizes]
        samples = interleave(calls, self._rounds(rounds))
        exponent, _ = power_law(sizes, [statistics.median(s) for s in samples])
        each = [power_law(sizes, once)[0] for once in zip(*samples, strict=True)]
        full_name = f"growth with {name} ({min(sizes):,} to {max(sizes):,})"
        return self.record(full_name, exponent, "exponent", spread=spread(each), at_most=at_most)

    def memory(
        self,
        name: str,
        function: Callable[[], Any],
        *,
        peer: str | None = None,
        against: Callable[[], Any] | None = None,
        at_most: float | None = None,
        at_least: float | None = None,
    ) -> Result:
        """Peak memory that one call adds to the process, in B, and the peer's."""
        function()
        ours = peak_memory(function)
        theirs = None
        if against is not None:
            against()
            theirs = peak_memory(against)
        return self.record(
            f"{name}, peak memory",
            ours,
            "B",
            peer=peer,
            peer_value=theirs,
            ratio=None if theirs is None else theirs / max(ours, 1.0),
            at_most=at_most,
            at_least=at_least,
        )

    def record(
        self,
        name: str,
        value: float,
        unit: str,
        *,
        spread: float | None = None,
        peer: str | None = None,
        peer_value: float | None = None,
        peer_spread: float | None = None,
        ratio: float | None = None,
        at_most: float | None = None,
        at_least: float | None = None,
    ) -> Result:
        """Add a number measured otherwise.

        `at_most` is a bar on the value; `at_least` on the ratio, or without a ratio on the value.
        """
        judged = value if ratio is None else ratio
        bars, ok = [], True
        if at_most is not None:
            bars.append(f"<= {human(at_most, unit)}")
            ok = ok and value <= at_most
        if at_least is not None:
            bars.append(f">= {human(at_least, unit)}" if ratio is None else f">= {at_least:g} x")
            ok = ok and judged >= at_least
        result = Result(name, value, unit, spread, peer, peer_value, peer_spread, ratio, " and ".join(bars) or None, ok)
        self.results.append(result)
        return result

    def _rounds(self, rounds: int | None) -> int:
        return min(rounds or self.rounds, self.rounds) if self.quick else rounds or self.rounds


def main(
    benchmarks: Callable[[Run], None],
    description: str | None,
    packages: Iterable[str] = (),
    argv: Sequence[str] | None = None,
) -> int:
    """Parse the command line, run, print; return the exit status.

    Parameters
    ----------
    benchmarks : callable
        Takes the `Run`.
    description : str
        The benchmark module's docstring.
    packages : iterable of str
        Distributions whose versions matter to the result, peers included.
    """
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few rounds only; a bar that is missed is no failure")
    parser.add_argument("--json", action="store_true", help="print a JSON list of objects instead of the table")
    arguments = parser.parse_args(argv)
    run = Run(quick=arguments.quick)
    benchmarks(run)
    versions, kind = versions_of(packages), machine()
    if arguments.json:
        fields = ("name", "value", "unit", "peer", "peer_value", "ratio", "bar", "ok")
        rows = [{f: getattr(r, f) for f in fields} | {"versions": versions, "machine": kind} for r in run.results]
        print(json.dumps(rows, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        print(table(run.results))
        print(f"\n{kind['kind']}, {kind['cores']} cores, {kind['cpu']}")
        print(", ".join(f"{name} {version}" for name, version in versions.items()))
    missed = [r for r in run.results if not r.ok]
    for result in missed:
        print(f"bar missed: {result.name}: {result.bar}", file=sys.stderr)
    return 1 if missed and not arguments.quick else 0


def interleave(functions: Sequence[Callable[[], Any]], rounds: int) -> list[list[float]]:
    """Seconds a call for each function and round; every other round runs the functions in reverse order."""
    repeats = [_repeats(f) for f in functions]
    samples: list[list[float]] = [[] for _ in functions]
    collecting = gc.isenabled()
    gc.disable()
    try:
        for turn in range(rounds):
            order = range(len(functions)) if turn % 2 == 0 else range(len(functions) - 1, -1, -1)
            for i in order:
                start = time.perf_counter()
                for _ in range(repeats[i]):
                    functions[i]()
                samples[i].append((time.perf_counter() - start) / repeats[i])
            gc.collect()
    finally:
        if collecting:
            gc.enable()
    return samples


def _repeats(function: Callable[[], Any]) -> int:
    start = time.perf_counter()
    function()
    once = time.perf_counter() - start
    return max(1, math.ceil(SHORTEST_SAMPLE / max(once, 1e-7)))


def spread(samples: Sequence[float]) -> float | None:
    """Interquartile range over the median: a fraction that shrugs off a single slow round."""
    if len(samples) < 2:
        return None
    lower, median, upper = statistics.quantiles(samples, n=4, method="inclusive")
    return (upper - lower) / abs(median) if median else None


def power_law(sizes: Sequence[float], costs: Sequence[float]) -> tuple[float, float]:
    """Exponent k and factor c of c·n^k, by least squares in logarithms."""
    if any(v <= 0 for v in (*sizes, *costs)):
        raise ValueError("a power law needs positive sizes and costs")
    fit = statistics.linear_regression([math.log(n) for n in sizes], [math.log(t) for t in costs])
    return fit.slope, math.exp(fit.intercept)


def peak_memory(function: Callable[[], Any]) -> float:
    """Bytes by which the process grows at most while the function runs.

    On Linux from the kernel's own high-water mark, so that memory of C libraries counts; elsewhere from
    tracemalloc.
    """
    gc.collect()
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    try:
        reset.write_text("5", encoding="ascii")  # 5 sets the high-water mark to the present size
        before = _status_bytes(status, "VmRSS")
    except OSError:
        tracemalloc.start()
        try:
            function()
            return float(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    function()
    return max(0.0, _status_bytes(status, "VmHWM") - before)


def _status_bytes(status: Path, field: str) -> float:
    match = re.search(rf"^{field}:\s+(\d+) kB", status.read_text(encoding="ascii"), re.MULTILINE)
    if match is None:
        raise OSError(f"{status} has no {field}")
    return 1024.0 * int(match[1])


def machine() -> dict[str, str | int]:
    """Kind of machine, cores this process may use, processor model: nothing that says whose it is."""
    cpu = platform.processor() or platform.machine()
    try:
        match = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE)
        cpu = match[1].strip() if match else cpu
    except OSError:
        pass
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return {"kind": f"{platform.system()} {platform.machine()}", "cores": cores, "cpu": cpu}


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """Versions of Python, of this package and of the distributions named."""
    versions = {"python": platform.python_version()}
    for name in dict.fromkeys(["voicewire", "numpy", *packages]):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return versions


def human(value: float, unit: str) -> str:
    """A number with three digits and a prefix that fits: 0.00412 s is 4.12 ms."""
    scales = {
        "s": [(60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")],
        "B": [(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")],
    }.get(unit, [])
    for scale, name in scales:
        if abs(value) >= scale * (2 if name == "min" else 1):
            return f"{value / scale:.3g} {name}"
    return f"{value:.3g}" if unit == "exponent" else f"{value:.3g} {unit}".rstrip()


def table(results: Sequence[Result]) -> str:
    """The results as text; ± is the interquartile range over the median."""
    head = ["benchmark", "value", "±", "peer", "peer's", "±", "ratio", "bar", ""]
    rows = [
        [
            r.name,
            human(r.value, r.unit),
            "" if r.spread is None else f"{100 * r.spread:.0f} %",
            r.peer or "",
            "" if r.peer_value is None else human(r.peer_value, r.unit),
            "" if r.peer_spread is None else f"{100 * r.peer_spread:.0f} %",
            "" if r.ratio is None else f"{r.ratio:.3g} x",
            r.bar or "",
            "" if r.bar is None else ("ok" if r.ok else "MISSED"),
        ]
        for r in results
    ]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    numeric = {1, 2, 4, 5, 6}
    lines = [
        "  ".join(c.rjust(w) if i in numeric else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
        for row in [head, *rows]
    ]
    lines.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join(line.rstrip() for line in lines)

"""Puts seeded faults into the package, one at a time, and counts how many the tests notice.

    python tools/mutate.py --rooms                         # the rooms, and what each holds
    python tools/mutate.py --room broker --each 20         # 20 faults in each file of a room
    python tools/mutate.py --room broker --each 20 --record    # … and keep in tests/mutation.json what came of them
    python tools/mutate.py --room broker --each 20 --compare   # … and say what was noticed then and lives now
    python tools/mutate.py --each 40 nfc                   # 40 faults in each file whose path holds "nfc"
    python tools/mutate.py                                 # 300 faults, drawn over all files
    python tools/mutate.py --list                          # what would be tried

A fault is a change of one place in the syntax tree of a function: a comparison or its boundary, an operator, a
constant, a condition turned round, `min` for `max`, a statement left out. Docstrings, annotations, what is written to
a log and what an error says are no code. Its name is its study, its function and what is changed into what; the seed
draws by names, so neither a move to another file nor an edit of another function alters what is drawn or recorded.

The tests of a file are collected and traced once; each fault is then tried in a child process, on the tests that run
its line, the quickest first (nothing on the disk changes). What they let live is tried once more with all the tests of
its file in a fresh process that imports the changed source: a line may also have run at the import, or in what several
tests share. Engines run as plain Python (as with NUMBA_DISABLE_JIT=1): compiled code would come from numba's cache,
unchanged. A child that takes too long, or too much memory, counts as noticed. Printed are every fault that lived, and
one table with the share for each file; the exit code is 1 below the bar, or if something is noticed no longer.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from faults import BAR, ROOT, Fault, Target, named
from trials import run

LEDGER_BAR = 95.0  # of each file that decides a verdict
RECORD = ROOT / "tests" / "mutation.json"
LIVED = ("lived", "not run")
Record = dict[str, dict[str, list[str]]]  # of each function: the changes that were "noticed", and those that "lived"


ROOMS = ("src/voicewire", "src/voicewire_book/chapters")
PLACES = ("src/voicewire", "src/voicewire_book", "src/voicewire_book/kit")

KIT = {
    "stats": ("tests/test_stats.py", "tests/foundations/test_judging.py"),
    "exercises": ("tests/test_exercises.py",),
    "records": ("tests/test_records.py",),
    "table": ("tests/test_records.py",),
    "slider": ("tests/test_slider.py",),
    "audio": ("tests/test_audio.py",),
    "figures": ("tests/test_figures.py",),
    "paths": ("tests/test_paths.py",),
}
LEDGER = ("judging", "rules", "loading", "sampling", "rivals", "rechecking", "collecting", "tally", "evidence")
BESIDE = ("presentation", "history", "letter")  # what the ledger shows and tells, and does not decide
MQTT = {
    "packets": ("test_packets",),
    "decoder": ("test_packets",),
    "topics": ("test_topics",),
    "sessions/retained_messages": ("test_retained",),
    "sessions/session": ("test_session",),
    "routing": ("test_routing",),
    "sessions/outbox": ("test_outbox",),
    "sessions/hold": ("test_hold",),
    "sessions/store": ("test_store_rows", "test_store"),
}
MARKING = {  # what decides a mark, and is not only run in a confined process of its own
    "key": ("test_projects", "test_hidden", "test_grading"),
    "hidden": ("test_hidden",),
    "submission": ("test_grading",),
    "grading": ("test_grading", "test_course_lists"),
    "marks": ("test_course_lists",),
    "plain": ("test_plain",),
}
READING = {"echo": ("test_filters",), "voip": ("test_reference", "test_quality")}  # else test_reference
ENGINES = {
    "netsim": ("tfrc_sender", "tfrc_receiver", "tcp", "equation", "engine", "compiled_link", "ccid2"),
    "nfc": ("engine", "channel", "exchange"),
    "voip": ("playout", "playout_rules/adaptive_playout"),
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


def rooms() -> dict[str, list[Target]]:
    """Give the files that are tried and recorded together; each room takes less than an hour of a night."""
    found = {
        "kit": [_target(name, tests) for name, tests in KIT.items()],
        "ledger": [_target(f"ledger/{name}", _all("ledger"), bar=LEDGER_BAR) for name in LEDGER],
        "broker": [_target(f"mqtt/{name}", _tests("mqtt", tests)) for name, tests in MQTT.items()],
        "marking": [_target(f"course/{name}", _tests("course", tests)) for name, tests in MARKING.items()],
        "reading": [],
    }
    found["kit"].append(_target("sweep/fingerprint", ("tests/test_fingerprint.py",)))
    found["ledger"] += [_target(f"ledger/{name}", _all("ledger")) for name in BESIDE]
    for folder in sorted(folder for place in ROOMS for folder in (ROOT / place).iterdir()):
        wanted = READING.get(folder.name, ("test_reference",))
        tests = tuple(test for test in _all(folder.name) if Path(test).stem in wanted) or _all(folder.name)
        plain = [*folder.glob("reference.py"), *sorted(folder.glob("reference/*.py")), *folder.glob("*_recursion.py")]
        found["reading"] += [Target(str(f.relative_to(ROOT)), tests) for f in plain if f.name != "__init__.py"]
    for study, names in ENGINES.items():
        tests = _tests(study, ENGINE_TESTS[study])
        found[study] = [_target(f"{study}/{name}", tests, plain=True) for name in names]
    return found


def _target(name: str, tests: tuple[str, ...], *, plain: bool = False, bar: float = BAR) -> Target:
    found = [f"{place}/{name}.py" for place in PLACES if (ROOT / place / f"{name}.py").is_file()]
    return Target(found[0], tests, plain, bar)


def _tests(folder: str, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"tests/{folder}/{name}.py" for name in names)


def _all(folder: str) -> tuple[str, ...]:
    return tuple(str(file.relative_to(ROOT)) for file in sorted((ROOT / "tests" / folder).glob("test_*.py")))


def draw(found: Sequence[Fault], count: int, seed: int) -> list[Fault]:
    """Draw so many of the faults: each has a number of its own, made from its name and the seed, and the least win."""

    def number(fault: Fault) -> bytes:
        return hashlib.sha256(f"{seed} {fault.function}: {fault.change}".encode()).digest()

    return sorted(found, key=number)[:count]


def record(results: Sequence[tuple[Fault, str]]) -> Record:
    """Give what is kept of a room's results."""
    kept: Record = {}
    for fault, verdict in sorted(results, key=lambda result: result[0].name):
        of = kept.setdefault(fault.function, {"noticed": [], "lived": []})
        of["lived" if verdict in LIVED else "noticed"].append(fault.change)
    return kept


def write(records: dict[str, Record]) -> None:
    """Write the rooms' records, one function a line."""
    rooms = []
    for room, functions in sorted(records.items()):
        lines = (f"  {json.dumps(name)}: {json.dumps(of, ensure_ascii=False)}" for name, of in functions.items())
        rooms.append(json.dumps(room) + ": {\n" + ",\n".join(lines) + "\n}")
    RECORD.write_text("{\n" + ",\n".join(rooms) + "\n}\n", encoding="utf-8")


def noticed(before: Record) -> set[tuple[str, str]]:
    """Give the names of the faults that a record says were noticed."""
    return {(function, change) for function, of in before.items() for change in of["noticed"]}


def compare(results: Sequence[tuple[Fault, str]], before: Record) -> int:
    """Say which faults were noticed before and live now; 1 if there is one."""
    then = noticed(before)
    again = [(fault, verdict) for fault, verdict in results if fault.name in then]
    worse = [fault for fault, verdict in again if verdict in LIVED]
    for fault in worse:
        print(f"noticed before, lives now: {fault} (in {fault.function})")
    print(f"of {len(then)} noticed before, {len(again) - len(worse)} are noticed now, {len(worse)} live,", end=" ")
    print(f"{len(then) - len(again)} were not tried: they are no longer in the code, or the time was over")
    return int(bool(worse))


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
    every = rooms()
    parser.add_argument("--room", choices=every, help="the files of this room only")
    parser.add_argument("--rooms", action="store_true", help="name the rooms, try nothing")
    parser.add_argument("--count", type=int, default=300, help="faults to draw over all files (default 300)")
    parser.add_argument("--each", type=int, help="faults to draw in each file instead")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default 0)")
    parser.add_argument("--bar", type=float, default=BAR, help=f"least share noticed, per cent (default {BAR:g})")
    parser.add_argument("--minutes", type=float, default=120.0, help="stop after so long (default 120)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="faults at a time (default: every core)")
    parser.add_argument("--quick", action="store_true", help="do not try once more what lived")
    parser.add_argument("--list", action="store_true", help="say what would be tried, try nothing")
    with_record = parser.add_mutually_exclusive_group()
    with_record.add_argument("--record", action="store_true", help=f"keep a room's results in {RECORD.name}")
    with_record.add_argument("--compare", action="store_true", help="try what is recorded of a room too, and compare")
    options = parser.parse_args(arguments)
    if options.rooms:
        for room, targets in every.items():
            print(f"{room:10} {len(targets):3d} files  {' '.join(sorted({Path(t.file).stem for t in targets}))}")
        return 0
    if (options.record or options.compare) and (not options.room or options.files or options.quick):
        parser.error("a record is of one whole room (--room), and what lived was tried once more (not --quick)")
    records: dict[str, Record] = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    if options.compare and options.room not in records:
        parser.error(f"nothing is recorded of the room {options.room}")
    wanted = [every[options.room]] if options.room else every.values()
    found = [fault for targets in wanted for fault in named(targets)]
    found = [f for f in found if not options.files or any(part in f.target.file for part in options.files)]
    if not found:
        parser.error(f"no file holds {' or '.join(options.files)} in its path")
    before = records[options.room] if options.compare else {}
    draws = [list(of) for _, of in groupby(found, lambda fault: fault.target.file)] if options.each else [found]
    drawn = {fault for of in draws for fault in draw(of, options.each or options.count, options.seed)}
    known = noticed(before)
    chosen = [fault for fault in found if fault in drawn or fault.name in known]
    if options.list:
        print(*chosen, sep="\n")
        return 0
    results = run(chosen, options.minutes, sure=not options.quick, jobs=options.jobs)
    code = report(results, options.bar)
    if options.compare:
        code = max(code, compare(results, before))
    if options.compare or options.record:
        code = max(code, int(len(results) < len(chosen)))
    if options.record and len(results) == len(chosen):
        write({**records, options.room: record(results)})
    return code


if __name__ == "__main__":
    sys.exit(main())

"""The same verbs for every study: ``voicewire record STUDY [NAME…]``, ``run STUDY``, ``claim ID``, ``review``."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import inspect
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from voicewire._kit import pace
from voicewire._kit.options import folder, print_json, text
from voicewire_book import paths
from voicewire_book.ledger import evidence
from voicewire_book.ledger.vocabulary import Score
from voicewire_book.publish.review import cli as review

__all__ = ["register"]


def _recorded() -> tuple[str, ...]:
    """The parts that have something to record."""
    here = Path(__file__).parent / "chapters"
    return tuple(part.name for part in paths.PARTS if (here / part.name / "record.py").is_file())


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verbs."""
    _add_record(subparsers)
    _add_run(subparsers)
    claim = subparsers.add_parser(
        "claim",
        help="print a claim, its verdict and its numbers",
        description="Print what a paper says, what came out, and the verdict, as they stand in the executed notebooks.",
        epilog="Exit status: 1 if no ledger has such a claim.\n\nExample: voicewire claim nfc.goodput-8kbps",
    )
    claim.add_argument("id", type=text, metavar="ID", help="as `voicewire scorecard STUDY` lists it")
    claim.add_argument("--json", action="store_true", help="print a list of objects instead of lines")
    claim.add_argument("--history", action="store_true", help="say which came first, the claim or its verdict")
    claim.set_defaults(handler=_claim)
    letter = subparsers.add_parser(
        "letter",
        help="print the letter to a study's authors",
        description="Print what a study's authors are told and asked: each statement that did not come out as printed, "
        "made from the verdicts as they stand.",
        epilog="Nothing is sent. Their answer goes into data/STUDY/reply.md, dated.\n\nExample: voicewire letter emqtt",
    )
    letter.add_argument("study", choices=paths.STUDIES, metavar="STUDY", help=f"one of {', '.join(paths.STUDIES)}")
    letter.set_defaults(handler=_letter)
    review.register(subparsers)


def _add_record(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    record = subparsers.add_parser(
        "record",
        help="record a study's measurements and long runs anew",
        description="Run what a study records once and write it to DIR; without a NAME all of it, which can take "
        "hours. The book's own recordings lie in data/STUDY and are touched only if that is DIR.",
        epilog="An unknown NAME prints those that the study has."
        "\n\nExample: voicewire record echo first --out recorded",
    )
    studies = record.add_subparsers(title="studies", metavar="STUDY", required=True, dest="study")
    for study in _recorded():
        one = studies.add_parser(study, help=f"record for {study}", description=f"Record anew for the part {study}.")
        one.add_argument("names", nargs="*", type=text, metavar="NAME", help="only these recordings")
        one.add_argument("--out", type=folder, metavar="DIR", help="folder to write to (default: recorded/STUDY)")
        common = len(one._actions)
        add = getattr(_commands_of(study), "record_options", None)
        if add is not None:
            add(one)
        one.set_defaults(handler=_record, more=[action.dest for action in one._actions[common:]])


def _commands_of(study: str) -> object:
    name = f"voicewire_book.chapters.{study}.cli"
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def _add_run(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    run = subparsers.add_parser(
        "run",
        help="run a study's reproduction",
        description="Compute a study's main results anew, beside what stands in the book; what was recorded once is "
        "read, not recorded again.",
        epilog="Exit status: 1 if, without --quick, a result is not the one in the book."
        "\n\nExample: voicewire run nfc --quick",
    )
    run.add_argument("study", choices=paths.STUDIES, metavar="STUDY", help=f"one of {', '.join(paths.STUDIES)}")
    run.add_argument("--quick", action="store_true", help="fewer or shorter runs, which give other digits")
    run.add_argument("--json", action="store_true", help="print a list of objects instead of a table")
    run.set_defaults(handler=_run)


def _run(options: argparse.Namespace) -> int:
    from voicewire_book.kit import claims

    key = f"run {options.study}{' --quick' * options.quick}"
    before = pace.last_time(key)
    how_long = pace.words(before) if before is not None else "not timed here yet"
    print(f"{options.study}: {how_long}", file=sys.stderr, flush=True)
    begin = time.monotonic()
    found = importlib.import_module(f"voicewire_book.chapters.{options.study}.experiments").run(options.quick)
    pace.keep(key, time.monotonic() - begin)
    book = {row["id"]: row["reproduced"] for row in claims.scorecard(study=options.study)}
    rows = [row for name, value in found.items() for row in _beside(name, value, book[name])]
    if options.json:
        print_json(rows)
    else:
        first, second = (max(len(str(row[name] or "")) for row in rows) for name in ("id", "part"))
        print(f"{'claim':<{first}}  {'':<{second}}  {'computed':>12}  {'in the book':>12}")
        for row in rows:
            numbers = f"{_short(row['computed']):>12}  {_short(row['in the book']):>12}"
            print(f"{row['id']:<{first}}  {row['part'] or '':<{second}}  {numbers}")
    return 0 if options.quick or all(row["same"] for row in rows) else 1


def _beside(name: str, new: Any, old: Any) -> list[dict[str, Any]]:
    """A claim's results beside those in the book, a row for each number; the book keeps six digits."""
    new, old = _labelled(new), _labelled(old)
    rows = []
    for part in new:
        value, stands = new[part], old.get(part)
        same = value == stands or (stands is not None and math.isclose(value, stands, rel_tol=1e-5, abs_tol=1e-9))
        rows.append({"id": name, "part": part, "computed": value, "in the book": stands, "same": same})
    return rows


def _labelled(value: Any) -> dict[str | int | None, Any]:
    """Each number by its label: none, its place, or its own behind that of the reading that it stands in."""
    if isinstance(value, list):
        return dict(enumerate(value, 1))
    if not isinstance(value, dict):
        return {None: value}
    labels: dict[str | int | None, Any] = {}
    for name, part in value.items():
        inner = _labelled(part)
        labels |= {name if label is None else f"{name}: {label}": number for label, number in inner.items()}
    return labels


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _record(options: argparse.Namespace) -> int:
    module = importlib.import_module(f"voicewire_book.chapters.{options.study}.record")
    recordings = module.RECORDINGS
    unknown = [name for name in options.names if name not in recordings]
    if unknown:
        known = ", ".join(recordings)
        print(
            f"voicewire record: {options.study} has no recording {unknown[0]!r}: choose from {known}", file=sys.stderr
        )
        return 2
    place = options.out or Path("recorded") / options.study
    chosen = options.names or list(recordings)
    given = {name: value for name in options.more if (value := getattr(options, name)) is not None}
    taken = {name: inspect.signature(recordings[name]).parameters.keys() for name in chosen}
    unused = [name for name in given if not any(name in names for names in taken.values())]
    if unused:
        print(f"voicewire record: --{unused[0]} means nothing to {', '.join(chosen)}", file=sys.stderr)
        return 2
    for number, name in enumerate(chosen, start=1):
        goes_on = name in getattr(module, "GOES_ON", ())
        before = pace.last_time(f"{options.study}/{name}") or (_recorded_once(options.study) if goes_on else None)
        how_long = f", {pace.words(before)}" if before is not None else ", which has not been timed here yet"
        print(f"{number}/{len(chosen)} {name}, into {place}{how_long}", flush=True)
        begin = time.monotonic()
        held = evidence.digests(place) if _is_the_books(place, options.study) else None
        run = partial(recordings[name], **{key: value for key, value in given.items() if key in taken[name]})
        if goes_on:
            place.mkdir(parents=True, exist_ok=True)
            run(place)
        else:
            _whole_or_not(run, place)
        pace.keep(f"{options.study}/{name}", time.monotonic() - begin)
        if held is not None:
            evidence.renew(place, held)
    return 0


def _is_the_books(place: Path, study: str) -> bool:
    """Say whether a folder is the one from which the book reads; only there do checksums stand."""
    try:
        return place.resolve() == paths.data(study).resolve()
    except OSError:
        return False


def _recorded_once(study: str) -> float | None:
    """Seconds that the book's own recording of an experiment took, where its provenance says so."""
    try:
        about = json.loads((paths.data(study) / "provenance.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    minutes = about.get("minutes")
    return 60.0 * minutes if minutes else None


def _whole_or_not(record: Callable[[Path], object], place: Path) -> None:
    """Record into a folder beside and move it when it is whole: an interruption leaves nothing half done."""
    made = [folder for folder in (place, *place.parents) if not folder.exists()]
    place.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".recording-", dir=place) as scratch:
            record(Path(scratch))
            for file in sorted(path for path in Path(scratch).rglob("*") if path.is_file()):
                target = place / file.relative_to(scratch)
                target.parent.mkdir(parents=True, exist_ok=True)
                file.replace(target)
    except BaseException:
        for folder in made:
            with contextlib.suppress(OSError):  # somebody has put something into it
                folder.rmdir()
        raise


def _besides(row: Score) -> list[tuple[str, str]]:
    """What the ledger says of a claim besides its text, as far as it says it."""
    rival = row["rival"] or {}
    ran = f", passes in {100 * rival['passes']:.3g} % of {rival['runs']}" if "passes" in rival else ", not run yet"
    named = rival["mechanism"] + ran if "mechanism" in rival else rival.get("none", "")
    said = [
        ("whose", "a question of ours" if row["whose"] == "ours" else ""),
        ("built in", row["implements"]),
        ("by reading", "; ".join(row["places"])),
        ("runs", f"{row['runs']}, stated beforehand" if row["runs"] else ""),
        ("rival", named or ("not named yet" if row["owes_rival"] else "")),
        *(
            ("read as", f"{one['name']} ({one['source']}): {one['verdict']}, {one['detail']}")
            for one in row["readings"]
        ),
        ("judged over", row["reach"]),
        ("statistic", row["statistic"]),
        ("cause", row["cause"]),
        ("chosen", row["chosen"]),
    ]
    return [(name, words) for name, words in said if words]


def _claim(options: argparse.Namespace) -> int:
    from voicewire_book.kit import claims
    from voicewire_book.ledger.history import told
    from voicewire_book.ledger.presentation import show

    found = [row for row in claims.scorecard() if row["id"] == options.id]
    if not found:
        print(f"voicewire claim: no ledger has {options.id!r:.60}: see `voicewire scorecard STUDY`", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
        return 0
    for row in found:
        print(f"{row['id']} ({row['study']}, {row['where']}): {row['verdict']}")
        print(f"  it says     {row['statement']}")
        print(f"  printed     {show(row['printed'], row['unit'])}")
        print(f"  reproduced  {show(row['reproduced'], row['unit'])}")
        print(f"  because     {row['reason']}")
        for name, words in _besides(row):
            print(f"  {name:<11} {words}")
        for words in told(row["study"], row["id"]) if options.history else ():
            print(f"  history     {words}")
        if row["notebook"]:
            print(f"  see         {row['notebook']}#{row['anchor']}")
    return 0


def _letter(options: argparse.Namespace) -> int:
    from voicewire_book.ledger.letter import letter

    print(letter(options.study), end="")
    return 0

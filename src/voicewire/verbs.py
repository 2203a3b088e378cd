"""The same verbs for every study: ``voicewire record STUDY [NAME…]`` and ``voicewire claim ID``."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from voicewire import pace, paths
from voicewire.ledger import evidence
from voicewire.ledger.vocabulary import Score
from voicewire.options import folder, text

__all__ = ["register"]


def _recorded() -> tuple[str, ...]:
    """The parts that have something to record."""
    here = Path(__file__).parent
    return tuple(part.name for part in paths.PARTS if (here / part.name / "record.py").is_file())


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add both verbs.

    Parameters
    ----------
    subparsers : argparse action
        What the command line gathers its commands in.

    Examples
    --------
    >>> commands = argparse.ArgumentParser().add_subparsers()
    >>> register(commands)
    >>> {"record", "claim"} <= set(commands.choices)
    True
    """
    record = subparsers.add_parser(
        "record",
        help="record a study's measurements and long runs anew",
        description="Run what a study records once and write it to DIR; without a NAME all of it, which takes hours. "
        "The book's own recordings lie in data/STUDY and are not touched.",
        epilog="Names: an unknown NAME prints those that the study has.",
    )
    record.add_argument("study", choices=_recorded(), metavar="STUDY", help=f"one of {', '.join(_recorded())}")
    record.add_argument("names", nargs="*", type=text, metavar="NAME", help="only these recordings")
    record.add_argument("--out", type=folder, metavar="DIR", help="folder to write to (default: recorded/STUDY)")
    record.set_defaults(handler=_record)
    claim = subparsers.add_parser(
        "claim",
        help="print a claim, its verdict and its numbers",
        description="Print what a paper says, what came out, and the verdict, as they stand in the executed notebooks.",
        epilog="Exit status: 1 if no ledger has such a claim.",
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
        epilog="Nothing is sent. Their answer goes into data/STUDY/reply.md, dated.",
    )
    letter.add_argument("study", choices=paths.STUDIES, metavar="STUDY", help=f"one of {', '.join(paths.STUDIES)}")
    letter.set_defaults(handler=_letter)


def _record(options: argparse.Namespace) -> int:
    module = importlib.import_module(f"voicewire.{options.study}.record")
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
    for number, name in enumerate(chosen, start=1):
        goes_on = name in getattr(module, "GOES_ON", ())
        before = pace.last_time(f"{options.study}/{name}") or (_recorded_once(options.study) if goes_on else None)
        how_long = f", {pace.words(before)}" if before is not None else ", which has not been timed here yet"
        print(f"{number}/{len(chosen)} {name}, into {place}{how_long}", flush=True)
        begin = time.monotonic()
        held = evidence.digests(place) if _is_the_books(place, options.study) else None
        if goes_on:
            place.mkdir(parents=True, exist_ok=True)
            recordings[name](place)
        else:
            _whole_or_not(recordings[name], place)
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
        ("by reading", "; ".join(row["places"])),
        ("rival", named or ("not named yet" if row["owes_rival"] else "")),
        *(
            ("read as", f"{one['name']} ({one['source']}): {one['verdict']}, {one['detail']}")
            for one in row["readings"]
        ),
        ("judged over", row["reach"]),
        ("cause", row["cause"]),
        ("chosen", row["chosen"]),
    ]
    return [(name, words) for name, words in said if words]


def _claim(options: argparse.Namespace) -> int:
    from voicewire import claims
    from voicewire.ledger.history import told
    from voicewire.ledger.presentation import show

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
        print(f"  see         {row['notebook']}#{row['anchor']}")
    return 0


def _letter(options: argparse.Namespace) -> int:
    from voicewire.ledger.letter import letter

    print(letter(options.study), end="")
    return 0

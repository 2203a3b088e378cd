"""The command ``voicewire review``."""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from voicewire._kit.options import PathOption, folder, number, seed, text, whole
from voicewire_book import paths

__all__ = ["register"]

KINDS = ("tolerance", "reading", "evidence", "seed")
"""As in `voicewire_book.publish.review.perturbations`, which takes a second to import."""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``voicewire review``."""
    review = subparsers.add_parser(
        "review",
        help="execute claims again, and write a self-check",
        description="Execute again what claims rest on, from the printed value to the verdict; write what was compared "
        "(Markdown, PDF, CODECHECK's form, checksums). Claims are drawn first, then sorted by what could be executed.",
        epilog="Exit status: 1 if a verdict or number is not the committed one, a notebook stopped, or moved evidence "
        "did not turn a verdict.\n\nExample: voicewire review nfc.table-7.1.rate nfc.goodput-unit --perturb evidence",
    )
    review.add_argument("ids", nargs="*", type=text, metavar="ID", help="as `voicewire scorecard STUDY` lists them")
    review.add_argument("--draw", type=whole(1), metavar="N", help="draw N claims of the papers, by study and class")
    review.add_argument("--seed", type=seed, metavar="S", help="of the draw (default: a new one, which is printed)")
    review.add_argument(
        "--perturb", action="append", choices=KINDS, default=[], metavar="WHAT",
        help=f"also judge with something changed: {', '.join(KINDS)}; may be given several times",
    )  # fmt: skip
    review.add_argument(
        "--scale", type=number(above=1.0, high=1000.0), metavar="F", default=2.0,
        help="a tolerance becomes F times as wide and as narrow (default: 2)",
    )  # fmt: skip
    review.add_argument("--out", type=folder, metavar="DIR", help="a new folder (default: self-check/DATE-TIME)")
    review.add_argument(
        "--verify", type=PathOption(folder=True, reads=True), metavar="REPORT",
        help="only say if the self-check in this folder was changed",
    )  # fmt: skip
    review.set_defaults(handler=_review)


def _review(options: argparse.Namespace) -> int:
    if options.verify is not None:
        return _verify(options.verify)
    if bool(options.ids) == bool(options.draw):
        return _misused("name claims, or have some drawn with --draw N")
    if options.seed is not None and not options.draw:
        return _misused("--seed belongs to --draw")
    from voicewire_book.ledger.collecting import scorecard
    from voicewire_book.publish.review import report, rerun
    from voicewire_book.publish.review.groups import chosen, drawn

    begun, start = datetime.now(UTC), time.monotonic()
    place = options.out or Path("self-check") / begun.strftime("%Y%m%dT%H%M%SZ")
    report.refuse_if_used(place)
    if options.draw:
        from_seed = secrets.randbelow(2**32) if options.seed is None else options.seed
        asked = f"{options.draw} claim{'s' * (options.draw != 1)}, drawn by study and class with seed {from_seed}"
        rows = drawn(scorecard(), options.draw, from_seed)
        print("\n".join([f"{asked}:", *(f"  {row['id']} ({row['class']})" for row in rows)]), flush=True)
    else:
        rows = chosen(scorecard(), options.ids)
        asked = f"{len(rows)} claim{'s' * (len(rows) != 1)} by name"
    kinds = tuple(kind for kind in KINDS if kind in options.perturb)
    claims = rerun.rerun(rows, kinds, options.scale, lambda line: print(line, file=sys.stderr, flush=True))
    review = report.Review(asked, begun, time.monotonic() - start, kinds, tuple(claims))
    print("\n".join(report.summary(review)))
    print("\n".join(f"{place / told}" if told in report.FILES else told
                    for told in report.write(place, review, paths.root())))  # fmt: skip
    return 0 if review.sound else 1


def _misused(words: str) -> int:
    print(f"voicewire review: {words}", file=sys.stderr)
    return 2


def _verify(place: Path) -> int:
    from voicewire_book.publish.review import report

    found = report.faults(place)
    print("\n".join(found or [f"{place}: as it was written"]), file=sys.stderr if found else sys.stdout)
    return 1 if found else 0

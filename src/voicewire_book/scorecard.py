"""The scorecard at a shell: ``voicewire scorecard [STUDY]``."""

from __future__ import annotations

import argparse
import json
import sys

from voicewire._kit.options import text
from voicewire_book import paths
from voicewire_book.ledger import tally
from voicewire_book.ledger.vocabulary import BY_READING, VERDICTS, Score

__all__ = ["register"]


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``voicewire scorecard``."""
    card = commands.add_parser(
        "scorecard",
        help="what holds, what doesn't, claim by claim",
        description="Print the verdicts that stand in the executed notebooks, for one study or for all.",
        epilog="Exit status: 1 if a claim is unjudged, missing or stale, a verdict contradicts its own numbers, or a "
        "recorded file is not what was recorded.\n\nExample: voicewire scorecard nfc",
    )
    card.add_argument("study", nargs="?", type=text, metavar="STUDY", help=f"one of {', '.join(paths.STUDIES)}")
    card.add_argument("--json", action="store_true", help="print a list of objects instead of a table")
    card.set_defaults(handler=_scorecard)


def _scorecard(options: argparse.Namespace) -> int:
    from voicewire_book.kit import claims

    known = claims.studies()
    if options.study and options.study not in known:
        print(
            f"voicewire: no ledger for {options.study!r} here: there is {', '.join(known) or 'none'}",
            file=sys.stderr,
        )
        return 2
    rows = claims.scorecard(study=options.study)
    faults = claims.problems(study=options.study)
    if options.json:
        print(json.dumps(rows, indent=1, ensure_ascii=False))
    else:
        print(_table(rows, details=options.study is not None))
    for fault in faults:
        print(f"voicewire: {fault}", file=sys.stderr)
    return 1 if faults or not rows else 0


def _signs() -> dict[str, str]:
    """The sign of each verdict; its first letters where only ASCII can be shown."""
    try:
        "".join(VERDICTS.values()).encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return {verdict: verdict[:3] for verdict in VERDICTS}
    return dict(VERDICTS)


def _table(rows: list[Score], details: bool) -> str:
    lines = []
    signs = _signs()
    if details:
        width = max((len(str(row["id"])) for row in rows), default=0)
        for row in rows:
            beside = ", by reading" if row["basis"] == "by-reading" else ""
            beside += ", a question of ours" if row["whose"] == "ours" else ""
            beside += ", built in" if row["implements"] else ""
            lines.append(f"{signs.get(str(row['verdict']), '?')} {row['id']!s:<{width}}  {row['verdict']}{beside}")
        lines.append("")
    found = tally.by_study(rows)
    heads = [*signs.values(), BY_READING, "built in"]
    lines.append(f"{'study':<12}{'claims':>8}{'computed':>10}" + "".join(f"{sign:>7}" for sign in heads))
    for name, count in found.items():
        numbers = [count.causes[verdict] for verdict in signs]
        behind = [count.computed[verdict] for verdict in signs]
        cells = [str(n) if n == m else f"{n}/{m}" for n, m in zip(numbers, behind, strict=True)]
        cells += [str(count.by_reading.total()), str(count.implements)]
        line = f"{name:<12}{count.rows.total():>8}{count.computed.total():>10}"
        lines.append(line + "".join(f"{cell:>7}" for cell in cells))
    lines += ["", "   ".join(f"{sign} {verdict}" for verdict, sign in signs.items()), ""]
    lines.append("3/11: eleven claims that rest on three causes. Beside these numbers:")
    lines += [f"  {number:>4}  {words}" for number, words in _besides(list(found.values())) if number]
    return "\n".join(lines)


def _besides(found: list[tally.Tally]) -> list[tuple[int, str]]:
    """What the columns of verdicts don't say."""
    return [
        (sum(count.ours.total() for count in found), "questions of ours, not counted above"),
        (
            sum(count.by_reading.total() for count in found),
            f"claims settled by reading two places ({BY_READING}), in a column of their own",
        ),
        (sum(count.implements for count in found), "claims that are built in and could not have failed, likewise"),
        (sum(count.registered for count in found), "claims registered, not computed yet"),
        (sum(count.rival_owed for count in found), "claims whose rival (what would have failed them) is not named yet"),
        (sum(count.rival_unrun for count in found), "claims whose rival is named and not run yet"),
    ]

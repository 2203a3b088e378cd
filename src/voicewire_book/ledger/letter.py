"""The authors' right of reply: a letter that says what was found, and the place where their answer stands."""

from __future__ import annotations

import textwrap
from pathlib import Path

from voicewire_book import paths
from voicewire_book.ledger import collecting, headlines
from voicewire_book.ledger.presentation import show
from voicewire_book.ledger.vocabulary import (
    CONTRADICTED,
    CORRECTED,
    HANGS,
    NOT_REPRODUCED,
    PARTLY,
    REPRODUCED,
    UNDECIDED,
    ClaimError,
    Score,
)

__all__ = ["REPLY", "letter"]

REPLY = "reply.md"
"""The file under ``data/<study>/`` in which the authors' answer stands, dated."""

TOLD = {
    CONTRADICTED: "Two places of the paper contradict each other, or a table contradicts its own numbers",
    NOT_REPRODUCED: "We do not get what is printed",
    PARTLY: "We get a part of what is printed",
    CORRECTED: "We get what is printed once something is corrected that we take for a slip",
    HANGS: "It depends on something that the paper does not say",
    UNDECIDED: "Our own runs leave it open",
}
"""What a letter tells of, in this order, and how it names it."""

OPENING = """\
Dear authors,

your work is taught and re-run, claim by claim, in an executable textbook, Voice to Wire. Of {judged} statements of it \
that we judge, {held} came out as printed. Below stand those that did not: where we read it, what we get, and what we \
think is the reason. You know your work better than we do. We may have guessed a setting wrong, misread a sentence, or \
taken a printer's slip for yours. Please correct us.

Whatever you answer is printed as it comes, dated, on the first page of the part and beside its verdicts. Where you \
are right, the ledger changes and its change log says why."""

CLOSING = """\
Each statement has its name in brackets. To see how one was judged, and to run it again, take a copy of the book \
({address}) and type

    make book
    voicewire claim NAME

With kind regards

the authors of Voice to Wire"""


def letter(study: str, base: Path | None = None) -> str:
    """Return the letter to a study's authors, made from the verdicts as they stand."""
    base = base or paths.root()
    file = base / "data" / study / "claims.yml"
    rows = [row for row in collecting.scorecard(base, study) if row["whose"] != "ours"] if file.is_file() else []
    judged = [row for row in rows if row["verdict"] in (REPRODUCED, *TOLD)]
    if not judged:
        raise ClaimError(f"there is nothing to write about {study!r}: it has no ledger, or nothing in it is judged")
    import yaml

    head = yaml.safe_load(file.read_text(encoding="utf-8"))
    address = yaml.safe_load((base / "CITATION.cff").read_text(encoding="utf-8"))["repository-code"]
    held = sum(row["verdict"] == REPRODUCED for row in judged)
    parts = [" ".join(head["paper"].split()), OPENING.format(judged=len(judged), held=held)]
    number = 0
    for verdict, words in TOLD.items():
        mine = [row for row in judged if row["verdict"] == verdict]
        if mine:
            parts.append(f"{words} ({len(mine)}):")
        for row in mine:
            number += 1
            parts.append(_item(number, row))
    if told := headlines.answers(study, collecting.scorecard(base, study), base):
        parts.append("What you conclude, and what became of what it rests on:")
        parts += [f"* {each.says} ({each.where})\nHere: {each.answer} ({', '.join(each.decided_by)})" for each in told]
    parts.append(CLOSING.format(address=address))
    return "\n\n".join(_wrapped(part) for part in parts) + "\n"


def _item(number: int, row: Score) -> str:
    lines = [f"{number}. {row['where']}: {row['statement']}"]
    if row["printed"] is not None:
        lines.append(f"Printed: {show(row['printed'], row['unit'])}")
    lines.append(f"Here: {row['reason']} [{row['id']}]")
    return "\n".join(lines)


def _wrapped(part: str) -> str:
    """Break lines for a mail; what is indented stays as it is."""
    fill = textwrap.TextWrapper(78, break_on_hyphens=False).fill
    return "\n".join(line if line.startswith(" ") else fill(line) for line in part.split("\n"))

"""What the introductions say of the parts beside their text: findings with the ledger's numbers, and times.

A finding in ``parts.toml`` names claims in braces: ``{nfc.table-7.3.burst-fewer:random|.0f}`` is what this copy's
ledger has for that claim, its field ``random`` (where it has several), in a format of Python's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import nbformat

from voicewire_book import paths
from voicewire_book.ledger import collecting, headlines
from voicewire_book.ledger.loading import studies
from voicewire_book.ledger.vocabulary import VERDICTS
from voicewire_book.publish.pages import reading

__all__ = ["conclusions", "filled", "findings", "times"]

_NUMBER = re.compile(r"\{([a-z0-9.-]+)(?::([^|}]+))?\|([^}]+)\}")


def filled(finding: str, reproduced: Mapping[str, Any]) -> str:
    """Return a finding with its numbers."""

    def number(match: re.Match[str]) -> str:
        value = reproduced[match.group(1)]
        value = value[match.group(2)] if match.group(2) else value
        return f"{value:{match.group(3)}}".replace("%", " %")

    return _NUMBER.sub(number, finding)


def _reproduced(base: Path) -> dict[str, Any]:
    return {row["id"]: row["reproduced"] for row in collecting.scorecard(base)}


def findings(base: Path, link: Callable[[str], str | None], study: str = "") -> str:
    """Return what the studies found, a sentence each, or that of one study."""
    known = _reproduced(base)
    lines = []
    for part in paths.PARTS:
        claims = _NUMBER.findall(part.finding)
        if not claims or (study and part.name != study) or any(claim not in known for claim, *_ in claims):
            continue
        text = filled(part.finding, known)
        row = f"score-{claims[0][0]}"
        card = link("book/scorecard")
        judged = f' <a class="reference internal" href="{card}#{row}">How it was judged</a>.' if card else ""
        if study:
            return f"**The finding.** {text}{judged}\n"
        if link(f"book/{part.name}/index") is not None:
            lines.append(f"- {{doc}}`{part.title} </book/{part.name}/index>`<br>{text}{judged}\n")
    return "".join(lines) or "Nothing was found in this copy yet.\n"


def conclusions(base: Path, link: Callable[[str], str | None], study: str) -> str:
    """Return the paper's conclusions, each with what became of the rows that it needs."""
    if study not in studies(base):
        return "No ledger of this study stands in this copy.\n"
    card = link("book/scorecard")

    def row(identifier: str) -> str:
        address = f"{card}#score-{identifier}"
        return f'<a class="reference internal" href="{address}">{identifier}</a>' if card else identifier

    lines = []
    for each in headlines.answers(study, collecting.scorecard(base, study), base):
        sign = f"{VERDICTS[each.verdict]} " if each.verdict else ""
        text = f"- *{each.says}* ({each.where})<br>{sign}{each.answer}: {', '.join(map(row, each.decided_by))}."
        lines.append(text + (f" Not covered: {each.lacks.rstrip('.')}.\n" if each.lacks else "\n"))
    head = "Each conclusion is as strong as the weakest row that it needs; the rows named decide it.\n\n"
    return head + "".join(lines) if lines else "No conclusion of this paper is listed yet.\n"


def times(base: Path, link: Callable[[str], str | None], study: str) -> str:
    """Return a table of a part's chapters: how long each takes to read, its exercises, how long it runs."""
    file = base / "book" / "times.json"
    ran = json.loads(file.read_text(encoding="utf-8"))["seconds"] if file.is_file() else {}
    rows, shown = [], []
    for path in paths.chapters(study, base):
        name = path.relative_to(base).as_posix()
        page = name.removesuffix(".ipynb")
        if link(page) is None:
            continue
        shown.append(path)
        least, most, tasks = reading.minutes(nbformat.read(path, as_version=4)).rounded
        seconds = f"{ran[name]:.0f} s" if name in ran else ""
        rows.append(f"| {{doc}}`/{page}` | {least} to {most} min | {tasks} min | {seconds} |\n")
    if not rows:
        return "No chapter of this part stands in this copy.\n"
    if len(shown) > 1:
        whole = reading.total(shown)
        rows.append(f"| *together* | {whole.reading / 60:.1f} h | {whole.exercises / 60:.1f} h | |\n")
    head = "| chapter | to read | exercises and lab | to run |\n|---|---:|---:|---:|\n"
    return head + "".join(rows)

"""Numbers that the pages say of the ledgers: ``{count}`rivals-run` `` is counted where it stands, at each build."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from voicewire_book.ledger import collecting
from voicewire_book.ledger.vocabulary import REGISTERED

__all__ = ["COUNTS", "ROLE", "fill"]

ROLE = re.compile(r"\{count\}`([^`\n]+)`")
"""A number in a page."""

Row = Mapping[str, Any]


def _ran(row: Row) -> bool:
    return "passes" in (row["rival"] or {})


def _excused(row: Row) -> bool:
    return "none" in (row["rival"] or {})


COUNTS: Mapping[str, Callable[[Row], bool]] = {
    "judged": lambda row: True,
    "by-reading": lambda row: row["basis"] == "by-reading",
    "built-in": lambda row: bool(row["implements"]),
    "rivals-run": _ran,
    "rivals-run-once": lambda row: _ran(row) and row["rival"]["runs"] == 1,
    "rivals-excused": _excused,
    "no-rival": lambda row: not _ran(row) and not _excused(row),
    "intervals": lambda row: row["interval"] is not None,
}
"""What can be counted, over all rows of all ledgers."""


def fill(text: str, base: Path) -> str:
    """Put each count in its place."""
    if not ROLE.search(text):
        return text
    rows = [row for row in collecting.scorecard(base) if row["verdict"] != REGISTERED]

    def number(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in COUNTS:
            raise ValueError(f"nothing to count under {name!r}: it is one of {', '.join(COUNTS)}")
        return str(sum(map(COUNTS[name], rows)))

    return ROLE.sub(number, text)

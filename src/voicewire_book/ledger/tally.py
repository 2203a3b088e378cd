"""Counting verdicts: the paper's claims and our own questions apart, rows and the independent causes behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from voicewire_book.ledger.vocabulary import REGISTERED

__all__ = ["Tally", "by_study"]


@dataclass
class Tally:
    """How the claims of one study came out."""

    rows: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    ours: Counter[str] = field(default_factory=Counter)
    by_reading: int = 0
    registered: int = 0
    rival_owed: int = 0
    rival_unrun: int = 0


def by_study(scores: Iterable[Mapping[str, Any]]) -> dict[str, Tally]:
    """Count the verdicts of each study."""
    tallies: dict[str, Tally] = {}
    seen: set[tuple[str, str, str]] = set()
    for score in scores:
        tally = tallies.setdefault(score["study"], Tally())
        tally.rival_owed += bool(score.get("owes_rival"))
        rival = score.get("rival") or {}
        tally.rival_unrun += "mechanism" in rival and "passes" not in rival
        if score["verdict"] == REGISTERED:
            tally.registered += 1
            continue
        if score.get("whose") == "ours":
            tally.ours[score["verdict"]] += 1
            continue
        tally.rows[score["verdict"]] += 1
        tally.by_reading += score.get("basis") == "by-reading"
        cause = (score["study"], score["verdict"], score.get("cause") or score["id"])
        tally.causes[score["verdict"]] += cause not in seen
        seen.add(cause)
    return tallies

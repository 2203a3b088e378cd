"""Counting verdicts: of what was computed and could have failed; what was read off, built in, or is ours, apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from voicewire_book.ledger.vocabulary import CLASSES, REGISTERED

__all__ = ["Tally", "by_study"]


def _by_class() -> dict[str, Counter[str]]:
    return {name: Counter() for name in CLASSES}


@dataclass
class Tally:
    """How the claims of one study came out.

    `rows` are all of the paper's; `computed`, `causes` and `classes` leave out what was read off or is built in.
    """

    rows: Counter[str] = field(default_factory=Counter)
    computed: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    by_reading: Counter[str] = field(default_factory=Counter)
    implements: int = 0
    classes: dict[str, Counter[str]] = field(default_factory=_by_class)
    chosen: Counter[str] = field(default_factory=Counter)
    ours: Counter[str] = field(default_factory=Counter)
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
        elif score.get("whose") == "ours":
            tally.ours[score["verdict"]] += 1
        else:
            _count(tally, score, seen)
    return tallies


def _count(tally: Tally, score: Mapping[str, Any], seen: set[tuple[str, str, str]]) -> None:
    """Count one of the paper's claims where it belongs."""
    verdict = score["verdict"]
    tally.rows[verdict] += 1
    tally.chosen[score.get("chosen", "")] += 1
    if score.get("basis") == "by-reading":
        tally.by_reading[verdict] += 1
        return
    if score.get("implements"):
        tally.implements += 1
        return
    tally.computed[verdict] += 1
    if score.get("class"):
        tally.classes[score["class"]][verdict] += 1
    cause = (score["study"], verdict, score.get("cause") or score["id"])
    tally.causes[verdict] += cause not in seen
    seen.add(cause)

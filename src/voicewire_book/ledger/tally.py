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
    """How the claims of one study came out.

    Parameters
    ----------
    rows : Counter
        The paper's claims by verdict.
    causes : Counter
        The same, claims that share a cause counted once for each verdict that they have.
    ours : Counter
        Our own questions by verdict; no paper is measured by them.
    by_reading : int
        How many of the paper's claims were settled by looking at two places of a text.
    registered : int
        Claims committed before anything was computed for them; they are in none of the other numbers.
    rival_owed : int
        Claims whose rival mechanism is due and not named yet.
    rival_unrun : int
        Claims whose rival mechanism is named and was not run yet.

    Examples
    --------
    >>> Tally().by_reading
    0
    """

    rows: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    ours: Counter[str] = field(default_factory=Counter)
    by_reading: int = 0
    registered: int = 0
    rival_owed: int = 0
    rival_unrun: int = 0


def by_study(scores: Iterable[Mapping[str, Any]]) -> dict[str, Tally]:
    """Count the verdicts of each study.

    Parameters
    ----------
    scores : iterable of mapping
        Rows of the scorecard; the fields that say whose, on what basis and from what cause may be left out.

    Returns
    -------
    dict
        One tally a study, in the order of the rows.

    Examples
    --------
    >>> slips = [{"id": f"x.{n}", "study": "x", "verdict": "partly", "cause": "one-slip"} for n in range(3)]
    >>> tally = by_study(slips)["x"]
    >>> tally.rows["partly"], tally.causes["partly"]
    (3, 1)
    """
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

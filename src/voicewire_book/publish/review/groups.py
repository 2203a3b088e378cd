"""A reviewer's look at claims: which ones, what was executed again for each, and whether the same came out.

Claims are drawn first. Into which group one belongs is found while it is executed, from what its notebook opens.
"""

from __future__ import annotations

import difflib
import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from voicewire_book.ledger.loading import read
from voicewire_book.ledger.vocabulary import BY_READING, ClaimError, Row, Score
from voicewire_book.publish.review import perturbations
from voicewire_book.publish.review.dependencies import Watched
from voicewire_book.publish.review.perturbations import Evidence

__all__ = [
    "EXECUTED", "GROUPS", "IN_PART", "RECORDED", "STOPPED", "Reviewed", "Told", "Tried", "chosen", "close",
    "drawn", "judged_in", "reviewed", "tell",
]  # fmt: skip

EXECUTED = "re-executed"
IN_PART = "re-executed in part"
RECORDED = "recorded only"
STOPPED = "not re-executed"
GROUPS = {
    EXECUTED: "everything from the printed value to the verdict was computed anew; no recording was read on the way",
    IN_PART: "recordings were read on the way, and something was computed anew besides",
    RECORDED: "what decides was recorded, or read off a text; only the judging was repeated, if anything",
    STOPPED: "its notebook stopped before the claim was judged",
}
"""What was done for a claim, in the order of a report. These are counted apart and never added up."""


class Tried(TypedDict):
    """`Perturbed` as plain data."""

    kind: str
    what: str
    verdict: str
    turned: bool | None


class Told(TypedDict):
    """What a kernel tells of a claim: the verdict, what it rests on, and what else was tried."""

    row: Row
    tables: Sequence[str]
    inputs: Sequence[str]
    computed: bool
    seeds: bool
    tried: list[Tried]


@dataclass(frozen=True)
class Reviewed:
    """A claim after its review: as committed, as judged now, in which group and why, and what was tried."""

    committed: Score
    group: str
    why: str
    now: Row | None
    cells: str
    tried: tuple[Tried, ...]
    seeds: bool

    @property
    def same(self) -> bool | None:
        """Whether verdict and numbers are those committed; None where nothing was judged now."""
        if self.now is None:
            return None
        return self.now["verdict"] == self.committed["verdict"] and close(
            self.now["reproduced"], self.committed["reproduced"]
        )

    @property
    def sound(self) -> bool:
        """Whether nothing is to be looked at: it is the same, and each verdict turned that had to."""
        ends = self.group != STOPPED and self.same is not False
        return ends and all(one["turned"] is not False for one in self.tried)


def close(new: object, old: object) -> bool:
    """Whether two results are the same: numbers to five digits, as the book keeps six."""
    if isinstance(new, Mapping) and isinstance(old, Mapping):
        return new.keys() == old.keys() and all(close(new[key], old[key]) for key in new)
    if isinstance(new, list | tuple) and isinstance(old, list | tuple):
        return len(new) == len(old) and all(map(close, new, old))
    if isinstance(new, float) and isinstance(old, int | float):
        return math.isclose(new, old, rel_tol=1e-5, abs_tol=1e-9)
    return bool(new == old)


def chosen(rows: Sequence[Score], names: Sequence[str]) -> list[Score]:
    """Return the rows of claims that were named, each once, in that order."""
    known = {row["id"]: row for row in rows}
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 3, 0.5)
            hint = f"is it {' or '.join(near)}?" if near else "`voicewire scorecard STUDY` lists them"
            raise ClaimError(f"no ledger has {name!r:.80}: {hint}")
    return [known[name] for name in dict.fromkeys(names)]


def drawn(rows: Sequence[Score], number: int, seed: int) -> list[Score]:
    """Draw claims of the papers: the studies in turn, in each its classes in turn, each order and each claim drawn."""
    rows = sorted((row for row in rows if row["whose"] == "paper"), key=lambda row: row["id"])
    if number > len(rows):
        raise ClaimError(f"{number} claims can't be drawn: the papers have {len(rows)}")
    chance = random.Random(seed)
    order = {
        study: _in_turn([row for row in rows if row["study"] == study], "class", chance)
        for study in dict.fromkeys(row["study"] for row in rows)
    }
    studies = list(order)
    chance.shuffle(studies)
    turns = max(map(len, order.values()))
    found = [order[study][turn] for turn in range(turns) for study in studies if turn < len(order[study])]
    return found[:number]


def _in_turn(rows: Sequence[Score], field: str, chance: random.Random) -> list[Score]:
    """Put rows into a drawn order in which the values of a field take turns."""
    heaps: dict[str, list[Score]] = {}
    for row in rows:
        heaps.setdefault(str(row[field]), []).append(row)  # type: ignore[literal-required]
    names = sorted(heaps)
    chance.shuffle(names)
    for name in names:
        chance.shuffle(heaps[name])
    turns = max(map(len, heaps.values()))
    return [heaps[name][turn] for turn in range(turns) for name in names if turn < len(heaps[name])]


def tell(watched: Watched, kinds: Sequence[str], scale: float) -> None:
    """Print, as the last cell of a notebook, how many cells of code it took, and what came out with what was tried."""
    names = sorted(watched.wanted & watched.judged.keys())
    print(json.dumps({"cells": len(watched.cells), **{name: _judged(watched, name, kinds, scale) for name in names}}))


def _judged(watched: Watched, name: str, kinds: Sequence[str], scale: float) -> Told:
    kept, behind = watched.judged[name], watched.behind(name)
    claim, evidence = kept.verdict.claim, Evidence(*kept.given)
    tried = perturbations.perturbed(claim, evidence, kinds, scale)
    return {
        "row": kept.verdict.row(),
        "tables": behind.tables,
        "inputs": behind.inputs,
        "computed": behind.computed,
        "seeds": "SEED" in behind.names,
        "tried": [Tried(kind=one.kind, what=one.what, verdict=one.verdict, turned=one.turned) for one in tried],
    }


def reviewed(row: Score, told: Told | None, cells: str, stopped: str = "") -> Reviewed:
    """Sort a claim by what was found while its notebook was executed: `told` is what `tell` printed of it."""
    if told is None and stopped:
        return Reviewed(row, STOPPED, stopped, None, cells, (), False)
    if told is None:
        return Reviewed(row, RECORDED, f"nothing is computed for it: {row['reason']}", None, "", (), False)
    group, why = _sorted(row, told)
    return Reviewed(row, group, why, told["row"], cells, tuple(told["tried"]), told["seeds"])


def _sorted(row: Score, told: Told) -> tuple[str, str]:
    tables, inputs = told["tables"], told["inputs"]
    read = ", ".join(f"data/{name}" for name in (*tables, *inputs))
    if row["basis"] == "by-reading":
        return RECORDED, f"{BY_READING} it is settled by reading two places: {'; '.join(row['places'])}"
    if not read:
        return EXECUTED, "no statement on the way to its verdict opened a recording"
    if tables and not told["computed"] and not inputs:
        return RECORDED, f"all results on the way to its verdict were read from {read}"
    return IN_PART, f"{read} {'was' if len(tables) + len(inputs) == 1 else 'were'} read on the way to its verdict"


def judged_in(row: Score, base: Path | None = None) -> str | None:
    """Return the notebook that judges a claim; None for one that says what it needs, or is not computed yet."""
    claim = read(row["study"], base)[row["id"]]
    return None if claim.needs or claim.state else row["notebook"]

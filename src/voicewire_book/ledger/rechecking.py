"""A stored verdict is held against the stored numbers: a flipped verdict or an altered number does not go together.

What a cell computed is not stored whole (samples are not), so this asks what must hold of any honest row. Running the
notebook again, as the tests do, shows the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from voicewire.stats import Interval
from voicewire_book.ledger import rules
from voicewire_book.ledger.judging import Verdict, agreed, indistinct, possible, read_as
from voicewire_book.ledger.loading import Claim
from voicewire_book.ledger.presentation import MANY, show
from voicewire_book.ledger.vocabulary import (
    CONTRADICTED,
    CORRECTED,
    HANGS,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    PARTLY,
    REPRODUCED,
    UNDECIDED,
    Judged,
    Plain,
    Rival,
    Row,
    Tolerance,
)

__all__ = ["faults"]

ROUNDING = 1e-6
"""Stored numbers have six significant digits: a number this near to an edge may have lain on either side."""

FOUND = {"verdict", "reproduced", "interval", "reason", "rival", "readings", "digest"}
"""What a judge adds to a claim; all else in a row repeats the ledger. Another digest makes it stale."""

POSSIBLE = {
    REPRODUCED: {"yes"},
    CORRECTED: {"yes"},
    PARTLY: {"partly"},
    NOT_REPRODUCED: {"no"},
    CONTRADICTED: {"no", "partly"},
    UNDECIDED: {"undecided"},
}
"""What must have been found for a verdict to be given."""


def faults(claim: Claim, row: Row) -> list[str]:
    """Say in what a stored row contradicts itself or its claim."""
    stored: Mapping[str, object] = {**row}
    honest: Mapping[str, object] = {**Verdict(claim, row["verdict"], None, "").row()}
    names = [name for name in {**honest, **stored} if name not in FOUND]
    said = [f"{claim.id}: {name} is not what the ledger says" for name in names if stored.get(name) != honest.get(name)]
    if row["verdict"] != NOT_TESTABLE or not claim.needs:
        said += [f"{claim.id}: {words}" for words in _numbers(claim, row)]
    return said


def _numbers(claim: Claim, row: Row) -> Iterator[str]:
    if row["verdict"] == NOT_TESTABLE:
        rival = row.get("rival") or Rival()
        if not any(indistinct(claim, name, rival) for name in (REPRODUCED, UNDECIDED)):
            yield "not testable here, although nothing is needed and no rival passes"
        return
    yield from _rival(claim, row)
    if claim.readings:
        if [one["name"] for one in row.get("readings", [])] != [reading["name"] for reading in claim.readings]:
            yield "its readings are not those of the ledger"
            return
        kept = [possible(one) for one in row["readings"] if not one["excluded"]]
        if not kept or agreed(kept) != row["verdict"]:
            yield f"its readings do not make it {row['verdict']}"
        for one, reading in zip(row["readings"], claim.readings, strict=True):
            yield from (f"{one['name']}: {words}" for words in _under(read_as(claim, reading), row, one))
        return
    if row["verdict"] == HANGS:
        yield "hangs on readings, and has none"
        return
    yield from _unlike(claim, row, _found(claim, row))
    for number in _shown(row["reproduced"]):
        # one of both is shown as the number itself is: five digits are further apart than these
        if not any(show(number * scale) in row["reason"] for scale in (1 - 5 * ROUNDING, 1 + 5 * ROUNDING)):
            yield f"{show(number)} was computed, and stands not in the reason"


def _under(claim: Claim, row: Row, one: Judged) -> Iterator[str]:
    """Hold a reading's verdict against its own number; of samples only the mean is stored."""
    alone: Row = {**row, "verdict": one["verdict"], "reproduced": one["reproduced"], "reason": f"{one['detail']}."}
    found = _found(claim, {**alone, "interval": None})
    open_ = {"undecided"} if found and ("[" in one["detail"] or "may_be" in one) else set()
    yield from _unlike(claim, alone, found | open_)


def _unlike(claim: Claim, row: Row, found: set[str]) -> Iterator[str]:
    """Say what the numbers make of a claim, where that is not its verdict."""
    needed = _needed(claim)
    if found and not found & needed.get(row["verdict"], set()):
        names = sorted(name for name, holds in needed.items() if holds & found and name != CORRECTED)
        yield f"its numbers make it {' or '.join(names)}, not {row['verdict']}"


def _rival(claim: Claim, row: Row) -> Iterator[str]:
    """Hold a row's rival against the claim's: the same mechanism, run where one is due, and told apart."""
    stored = row.get("rival") or Rival()
    if not (claim.rival or {}).items() <= stored.items():
        yield "its rival is not the one that the ledger names"
    if indistinct(claim, row["verdict"], stored):
        yield f"{row['verdict']}, although its rival passes the same test"
    if row["verdict"] not in (REPRODUCED, CORRECTED, HANGS):
        return
    if claim.due_rival and not claim.owes_rival and not {"none", "passes"} & set(stored):
        yield f"{row['verdict']}, although its rival was not run"


def _needed(claim: Claim) -> dict[str, set[str]]:
    """Return the verdicts that a claim of this kind can get without readings, and what each needs."""
    never = {NOT_REPRODUCED, PARTLY} if claim.kind == "arithmetic" else {CONTRADICTED}
    never |= set() if claim.correction else {CORRECTED}
    return {name: holds for name, holds in POSSIBLE.items() if name not in never}


def _shown(value: object) -> list[float]:
    """Return the numbers that a reason must name."""
    items = list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else [value]
    numbers = [item for item in items if isinstance(item, int | float) and not isinstance(item, bool)]
    return [float(number) for number in numbers] if len(items) <= MANY else []


def _found(claim: Claim, row: Row) -> set[str]:
    """Return what the stored numbers allow to have been found; empty if they say nothing."""
    printed, tolerance = claim.printed, claim.tolerance
    if not claim.correction or row["verdict"] not in (CORRECTED, UNDECIDED):
        return _against(claim, row, printed, tolerance)
    mended = _against(
        claim, row, claim.correction.get("printed", printed), claim.correction.get("tolerance", tolerance)
    )
    # undecided may rest on the print or on its correction
    return mended if row["verdict"] == CORRECTED else mended | _against(claim, row, printed, tolerance)


def _against(claim: Claim, row: Row, printed: Plain, tolerance: Tolerance | None) -> set[str]:
    value: Any = row["reproduced"]
    if claim.kind in ("value", "arithmetic"):
        said = dict.fromkeys(claim.labels) if claim.labels else printed
        if isinstance(value, Mapping):
            return _several(said, value, tolerance or {}, samples="[" in row["reason"].split(". ")[0])
        if row["interval"]:
            low, high = row["interval"]
            value = Interval(value, low, high, 0.95, 2)
        return {rules.value(said, part, tolerance or {}).holds for part in _around(value)}
    if claim.kind == "ordering":
        holds: set[str] = {rules.ordering(printed, value, claim.margin).holds}
        return holds | {"undecided"}  # of samples only the means are stored
    if claim.kind == "trend":
        return _trend(printed, value, claim, samples="[" in row["reason"])
    return _identity(row, tolerance)


def _around(value: Any) -> list[Any]:
    """Return a value and its neighbours within the rounding."""
    if isinstance(value, Interval):
        return [value]
    return [value, value * (1 - ROUNDING), value * (1 + ROUNDING)]


def _several(printed: Any, value: Mapping[str, Any], tolerance: Any, samples: bool) -> set[str]:
    wanted = {str(label): said for label, said in printed.items()}
    parts = [{rules.value(wanted[label], part, tolerance).holds for part in _around(value[label])} for label in value]
    found: set[str] = set()
    yes, no = (all(holds in part for part in parts) for holds in ("yes", "no"))
    some = any("yes" in part for part in parts) and any("no" in part for part in parts)
    found |= {name for name, so in (("yes", yes), ("no", no), ("partly", some)) if so}
    return found | ({"undecided"} if samples else set())


def _trend(printed: Any, value: Sequence[float], claim: Claim, samples: bool) -> set[str]:
    """Return what a trend's means allow; of samples, a step may stand within its interval."""
    bare = rules.trend(printed, (range(len(value)), value), claim.tolerance).holds
    if printed == "constant":
        return {bare, "undecided"} if samples else {bare}
    low, high = (value[0], value[-1]) if printed == "increasing" else (value[-1], value[0])
    return {bare, "undecided"} | ({"yes", "partly"} if low < high else {"partly", "no"})


def _identity(row: Row, tolerance: Any) -> set[str]:
    """Return what the words of an identity allow: its gap, or its two sides."""
    reason = row["reason"]
    if reason.startswith("largest difference "):
        if tolerance and "absolute" not in tolerance:
            return set()
        gap = float(reason.split()[2].rstrip(".").replace("\N{MINUS SIGN}", "-"))
        return {"yes" if gap <= (tolerance or {"absolute": 0})["absolute"] else "no"}
    left, among, rest = reason.partition(" against ")
    return {"yes" if rest.startswith(f"{left}.") else "no"} if among else set()

"""What a reader may try on a claim: another tolerance, one of its readings (``book/_static/whatif.js`` tries it)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from voicewire_book.ledger.loading import Claim
from voicewire_book.ledger.vocabulary import CORRECTED, UNDECIDED

__all__ = ["attribute", "numbers"]

ENDS = re.compile(r"\S+(?: [^\[]*?)? \[(\S+), (\S+)\]")
"""How the ledger's words begin where a number was judged by its interval."""


def attribute(row: Mapping[str, Any], claim: Claim | None) -> str:
    """Return what can be tried on a claim as an attribute of its element; nothing where nothing can."""
    trial = numbers(row, claim)
    if trial is None:
        return ""
    return f" data-numbers='{escape(json.dumps(trial, ensure_ascii=False, separators=(',', ':')))}'"


def numbers(row: Mapping[str, Any], claim: Claim | None = None) -> dict[str, Any] | None:
    """Return what a reader needs to try a claim otherwise: for each reading its tolerance, what is printed and found.
    """
    own = {reading["name"]: reading.get("tolerance") for reading in claim.readings} if claim else {}
    arms = row.get("readings") or [{**row, "name": "", "detail": row.get("reason", ""), "excluded": ""}]
    readings = []
    for arm in arms:
        printed, tolerance = row.get("printed"), own.get(arm["name"]) or row["tolerance"]
        if claim and claim.correction and arm["verdict"] == CORRECTED:
            printed = claim.correction.get("printed", printed)
            tolerance = claim.correction.get("tolerance", tolerance)
        kind, size = next(iter((tolerance or {}).items()), (None, None))
        pairs = _pairs(kind, printed, arm) if kind and row.get("kind", "value") in ("value", "arithmetic") else []
        name = arm["name"] + (" (excluded)" if arm["excluded"] else "")
        readings.append([name, *((kind, size) if pairs else (None, None)), pairs, arm["verdict"]])
    if len(readings) == 1 and not readings[0][3]:
        return None
    return {"unit": row["unit"], "readings": readings}


def _pairs(kind: str, printed: Any, arm: Mapping[str, Any]) -> list[list[float | None]]:
    """Put each number that was found beside the printed one; nothing if these do not stand beside one another."""
    found, detail = arm["reproduced"], arm["detail"]
    ends: list[float | None] = list(arm.get("interval") or _ends(detail))
    here = dict(enumerate(found)) if isinstance(found, list) else found if isinstance(found, Mapping) else {"": found}
    if not here or not all(_number(value) for value in here.values()):
        return []
    several = isinstance(found, Mapping | list)
    if (several and " [" in detail) or (arm["verdict"] == UNDECIDED and not ends):
        return []  # judged by intervals, of which the row does not keep the ends
    if kind not in ("relative", "absolute"):
        return [[None, value, *ends] for value in here.values()]
    said = dict(enumerate(printed)) if isinstance(printed, list) else printed
    if not isinstance(said, Mapping):
        said = dict.fromkeys(here, said)
    if said.keys() != here.keys() or not all(_number(value) for value in said.values()):
        return []
    return [[said[label], value, *ends] for label, value in here.items()]


def _ends(detail: str) -> list[float | None]:
    """Return the ends of the interval that the ledger's words begin with, to the five digits that they have."""
    match = ENDS.match(detail)
    return [float(end.replace("\N{MINUS SIGN}", "-")) for end in match.groups()] if match else []


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

"""The scorecard: every claim of every ledger beside the verdict that stands in an executed notebook."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from voicewire_book import paths
from voicewire_book.ledger import evidence, rechecking
from voicewire_book.ledger.judging import Verdict
from voicewire_book.ledger.loading import Claim, read, studies
from voicewire_book.ledger.presentation import Table, natural
from voicewire_book.ledger.vocabulary import MIME, REGISTERED, STALE, UNJUDGED, VERDICTS, Judged, Plain, Row, Score

__all__ = ["problems", "scorecard", "shown"]


def shown(base: Path, study: str) -> list[tuple[str, Row]]:
    """Return every row that a table shows in a study's notebooks, with the notebook's path."""
    return [(path, row) for path, data in _tables(base, study) for row in data[MIME]]


def _tables(base: Path, study: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each output that holds a table of verdicts, with the notebook's path."""
    for path in paths.chapters(study, base):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            for output in cell.get("outputs", []):
                if MIME in output.get("data", {}):
                    yield path.relative_to(base).as_posix(), output["data"]


def scorecard(base: Path | None = None, study: str | None = None) -> list[Score]:
    """Return one row for each claim of one study, or of all, as the executed notebooks have them."""
    base = base or paths.root()
    rows = []
    for name in [study] if study else studies(base):
        seen = {row["id"]: (path, row) for path, row in shown(base, name)}
        for claim in read(name, base).values():
            path, row = seen.get(claim.id, (None, None))
            rows.append(_score(claim, path, row))
    return rows


def _score(claim: Claim, path: str | None, row: Row | None) -> Score:
    row = row or Verdict(claim, UNJUDGED, None, "").row()
    verdict, reason = row["verdict"], row["reason"]
    if row["digest"] != claim.digest:
        verdict, reason = STALE, "The claim's text changed after it was judged."
    elif verdict == UNJUDGED and claim.state:
        verdict, reason = REGISTERED, f"To be computed: {claim.statistic.rstrip('.')}."
        reason += f" Waits for: {claim.waits.rstrip('.')}." if claim.waits else ""
    labels = claim.labels or claim.printed
    levels = [[one["name"] for one in claim.readings], labels] if claim.readings else [labels]
    return {
        "id": row["id"],
        "study": row["study"],
        "where": row["where"],
        "statement": row["statement"],
        "kind": row["kind"],
        "printed": row["printed"],
        "unit": row["unit"],
        "reproduced": _in_order(row["reproduced"], *levels),
        "interval": row["interval"],
        "tolerance": row["tolerance"],
        "tolerance_reason": row["tolerance_reason"],
        "verdict": verdict,
        "reason": reason,
        "notebook": path,
        "anchor": f"claim-{claim.id}",
        "whose": claim.whose,
        "class": claim.class_,
        "implements": claim.implements,
        "chosen": claim.chosen,
        "basis": claim.basis,
        "places": list(claim.places),
        "cause": claim.cause,
        "reach": claim.reach,
        "rival": row.get("rival", claim.rival),
        "owes_rival": claim.owes_rival,
        "readings": [
            Judged(**{**one, "reproduced": _in_order(one["reproduced"], labels)}) for one in row.get("readings", [])
        ],
        "statistic": claim.statistic,
        "waits": claim.waits,
        "runs": claim.runs,
    }


def _in_order(value: Plain, *listed: object) -> Plain:
    """Return a result in the order in which the ledger lists its readings and labels: a stored mapping has lost it."""
    if not isinstance(value, Mapping):
        return value
    first, *inner = listed or ((),)
    known = [str(label) for label in first] if isinstance(first, Sequence | Mapping) else []
    parts = {label: value[label] for label in known if label in value} | natural(value)
    return {label: _in_order(part, *inner) for label, part in parts.items()}


def problems(base: Path | None = None, study: str | None = None) -> list[str]:
    """Return what is wrong with the scorecard, and with what it rests on.

    Claims unjudged, stale, judged twice, or not in any ledger; verdicts that their own numbers contradict; tables whose
    page says something else than their data; recorded files that are not what was recorded.
    """
    base = base or paths.root()
    found = [
        f"{row['id']}: {row['verdict']}" + (f" in {row['notebook']}" if row["notebook"] else "")
        for row in scorecard(base, study)
        if row["verdict"] not in (*VERDICTS, REGISTERED)
    ]
    for name in [study] if study else studies(base):
        known = read(name, base)
        found += _altered(base, name, known) + evidence.faults(base / "data" / name)
        first: dict[str, str] = {}
        for path, row in shown(base, name):
            if row["id"] not in known:
                found.append(f"{row['id']}: shown in {path}, but in no ledger")
            elif first.setdefault(row["id"], path) != path and not known[row["id"]].needs:
                found.append(f"{row['id']}: judged in both {first[row['id']]} and {path}")
    return found


def _altered(base: Path, study: str, known: Mapping[str, Claim]) -> list[str]:
    """Say which stored rows and tables do not go together with the ledger, with themselves, or with each other."""
    found: list[str] = []
    first: dict[tuple[str, str], Row] = {}
    for path, data in _tables(base, study):
        rows: list[Row] = data[MIME]
        for row in rows:
            if first.setdefault((path, row["id"]), row) != row:
                found.append(f"{row['id']}: shown twice in {path}, with another verdict or other numbers")
            claim = known.get(row["id"])
            if claim and claim.digest == row["digest"]:
                found += [f"{fault} ({path})" for fault in rechecking.faults(claim, row)]
        bundle = Table(tuple(rows), frozenset())._repr_mimebundle_()
        for kind in ("text/plain", "text/html"):
            if _pieces("".join(data.get(kind, ""))) != _pieces(str(bundle[kind])):
                found.append(f"{path}: a table's {kind} says something else than its data ({rows[0]['id']} …)")
    return found


def _pieces(text: str) -> list[str]:
    """Return what a page says, whatever its order: a stored mapping has lost the order in which it was shown.

    Anchors say nothing: they are for links.
    """
    return sorted(re.split(r"; |(<[^>]*>)", re.sub(r' id="claim-[^"]*"', "", text)), key=str)

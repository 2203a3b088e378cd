"""The scorecard: every claim of every ledger beside the verdict that stands in an executed notebook."""

from __future__ import annotations

import json
from pathlib import Path

from voicewire import paths
from voicewire.ledger.judging import Verdict
from voicewire.ledger.loading import Claim, read, studies
from voicewire.ledger.vocabulary import MIME, REGISTERED, STALE, UNJUDGED, VERDICTS, Row, Score

__all__ = ["problems", "scorecard", "shown"]


def shown(base: Path, study: str) -> list[tuple[str, Row]]:
    """Return every row that a table shows in a study's notebooks, with the notebook's path.

    Parameters
    ----------
    base : Path
        The checkout.
    study : str
        The study's name.

    Returns
    -------
    list of (str, Row)
        In the order of the pages; a claim that is shown twice stands there twice.

    Examples
    --------
    >>> shown(paths.root(), "nfc")[0][0]
    'notebooks/nfc/03_reproduction.ipynb'
    """
    found = []
    for path in paths.chapters(study, base):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            for output in cell.get("outputs", []):
                rows = output.get("data", {}).get(MIME, [])
                found += [(path.relative_to(base).as_posix(), row) for row in rows]
    return found


def scorecard(base: Path | None = None, study: str | None = None) -> list[Score]:
    """Return one row for each claim of one study, or of all, as the executed notebooks have them.

    Parameters
    ----------
    base : Path, optional
        The checkout; found by itself if left out.
    study : str, optional
        One study; all that have a ledger if left out.

    Returns
    -------
    list of Score
        Each has the claim's fields, ``verdict``, ``reproduced``, ``interval``, ``reason``, ``notebook`` (its path,
        or None) and ``anchor`` (the row's place in the notebook's page). A claim without a verdict has the verdict
        ``unjudged``, one whose text changed since ``stale``.

    Raises
    ------
    ClaimError
        If a ledger is invalid.

    Examples
    --------
    >>> {row["study"] for row in scorecard(study="nfc")}
    {'nfc'}
    """
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
    return {
        "id": row["id"],
        "study": row["study"],
        "where": row["where"],
        "statement": row["statement"],
        "kind": row["kind"],
        "printed": row["printed"],
        "unit": row["unit"],
        "reproduced": row["reproduced"],
        "interval": row["interval"],
        "tolerance": row["tolerance"],
        "tolerance_reason": row["tolerance_reason"],
        "verdict": verdict,
        "reason": reason,
        "notebook": path,
        "anchor": f"claim-{claim.id}",
        "whose": claim.whose,
        "chosen": claim.chosen,
        "basis": claim.basis,
        "places": list(claim.places),
        "cause": claim.cause,
        "reach": claim.reach,
        "rival": row.get("rival", claim.rival),
        "owes_rival": claim.owes_rival,
        "readings": row.get("readings", []),
        "statistic": claim.statistic,
        "waits": claim.waits,
    }


def problems(base: Path | None = None, study: str | None = None) -> list[str]:
    """Return what is wrong with the scorecard: claims unjudged, stale, judged twice, or not in any ledger.

    Parameters
    ----------
    base : Path, optional
        The checkout; found by itself if left out.
    study : str, optional
        One study; all that have a ledger if left out.

    Returns
    -------
    list of str
        One sentence a fault; empty if all is well.

    Raises
    ------
    ClaimError
        If a ledger is invalid.

    Examples
    --------
    >>> problems(study="nfc")
    []
    """
    base = base or paths.root()
    found = [
        f"{row['id']}: {row['verdict']}" + (f" in {row['notebook']}" if row["notebook"] else "")
        for row in scorecard(base, study)
        if row["verdict"] not in (*VERDICTS, REGISTERED)
    ]
    for name in [study] if study else studies(base):
        known = read(name, base)
        first: dict[str, str] = {}
        for path, row in shown(base, name):
            if row["id"] not in known:
                found.append(f"{row['id']}: shown in {path}, but in no ledger")
            elif first.setdefault(row["id"], path) != path and not known[row["id"]].needs:
                found.append(f"{row['id']}: judged in both {first[row['id']]} and {path}")
    return found

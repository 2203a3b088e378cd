"""The scorecard as linked data: each verdict a ClaimReview of schema.org, related to its paper by a term of CiTO.

The context stands in the document itself, so nobody has to fetch one to read it. There is no ``reviewRating``: a
verdict is one of several kinds of answer, not a mark on a scale.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from voicewire_book.ledger.vocabulary import (
    CONTRADICTED,
    CORRECTED,
    HANGS,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    PARTLY,
    REPRODUCED,
    UNDECIDED,
    Score,
)
from voicewire_book.publish.machines import papers

__all__ = ["CITO", "CONTEXT", "graph", "script"]

CONTEXT = {"@vocab": "https://schema.org/", "cito": "http://purl.org/spar/cito/"}

CITO = {
    REPRODUCED: "confirms",
    CORRECTED: "corrects",
    PARTLY: "qualifies",
    NOT_REPRODUCED: "disputes",
    CONTRADICTED: "disputes",
    NOT_TESTABLE: "discusses",
    HANGS: "qualifies",
    UNDECIDED: "discusses",
}
"""What each verdict does to the paper, in the words of the Citation Typing Ontology."""


def graph(rows: Sequence[Score], base: Path, site: str) -> dict[str, Any]:
    """Return the paper's judged claims as JSON-LD."""
    judged = [row for row in rows if row["verdict"] in CITO and row["whose"] == "paper"]
    known = {study: papers.read(study, base) for study in dict.fromkeys(row["study"] for row in judged)}
    nodes: list[dict[str, Any]] = [{"@id": "#authors", "@type": "Organization", "name": "The Voice to Wire authors"}]
    for paper in known.values():
        node: dict[str, Any] = {"@id": paper.address, "@type": "ScholarlyArticle", "name": paper.title}
        node["author"] = [{"@type": "Person", "name": name} for name in paper.authors]
        nodes.append(node | ({"datePublished": paper.year} if paper.year else {}))
    nodes += [_review(row, known[row["study"]].address) for row in judged]
    return {"@context": {"@base": f"{site}book/scorecard.html", **CONTEXT}, "@graph": nodes}


def _review(row: Score, paper: str) -> dict[str, Any]:
    return {
        "@id": f"#score-{row['id']}",  # below the base: its permanent address
        "@type": "ClaimReview",
        "author": {"@id": "#authors"},
        "claimReviewed": row["statement"],
        "itemReviewed": {"@type": "Claim", "name": row["where"], "appearance": {"@id": paper}},
        "reviewBody": row["verdict"],
        f"cito:{CITO[row['verdict']]}": {"@id": paper},
    }


def script(rows: Sequence[Score], base: Path, site: str) -> str:
    """Return the linked data as an element of a page."""
    text = json.dumps(graph(rows, base, site), ensure_ascii=False, separators=(",", ":"))
    # a text that spells the end of an element must not end this one
    safe = text.replace("</", "<\\/")
    return f'<script type="application/ld+json">{safe}</script>'

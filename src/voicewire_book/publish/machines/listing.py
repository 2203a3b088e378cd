"""``claims.json``: every claim with its verdict, its evidence and its permanent address; a schema stands beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from voicewire_book import paths
from voicewire_book.ledger import collecting, headlines
from voicewire_book.ledger.vocabulary import VERDICTS, Score
from voicewire_book.publish.clone import commit
from voicewire_book.publish.machines import papers
from voicewire_book.publish.machines.linked import CITO

__all__ = ["NAME", "SCHEMA", "SCORECARD", "address", "citation", "listing", "write"]

NAME = "claims.json"
SCHEMA = "claims.schema.json"
SCORECARD = "book/scorecard.html"


def citation(base: Path) -> dict[str, Any]:
    """Return what ``CITATION.cff`` says of the book."""
    return dict(yaml.safe_load((base / "CITATION.cff").read_text(encoding="utf-8")))


def address(identifier: str, base: Path) -> str:
    """Return the permanent address of a claim: its row in the scorecard, wherever it is computed."""
    return f"{citation(base)['url']}{SCORECARD}#score-{identifier}"


def listing(base: Path, rows: Sequence[Score] | None = None) -> dict[str, Any]:
    """Return the content of ``claims.json``."""
    rows = collecting.scorecard(base) if rows is None else rows
    about = citation(base)
    short, date = commit(base)
    known = [part for part in paths.PARTS if any(row["study"] == part.name for row in rows)]
    return {
        "$schema": SCHEMA,
        "book": {
            "title": about["title"],
            "address": about["url"],
            "repository": about["repository-code"],
            "version": about["version"],
            "commit": short,
            "date": date,
            "licence": "CC-BY-4.0",
        },
        "verdicts": [{"name": name, "sign": sign, "cito": CITO[name]} for name, sign in VERDICTS.items()],
        "studies": [
            {
                "study": part.name,
                "title": part.title,
                "question": part.question,
                "paper": _paper(part.name, base),
                "conclusions": [each._asdict() for each in headlines.answers(part.name, rows, base)],
            }
            for part in known
        ],
        "claims": [{**row, "address": f"{about['url']}{SCORECARD}#score-{row['id']}"} for row in rows],
    }


def _paper(study: str, base: Path) -> dict[str, Any]:
    paper = papers.read(study, base)
    return {
        "title": paper.title,
        "authors": list(paper.authors),
        "year": paper.year or None,
        "doi": paper.doi or None,
    }


def write(base: Path, site: Path, rows: Sequence[Score] | None = None) -> None:
    """Write ``claims.json`` and its schema into the published site."""
    text = json.dumps(listing(base, rows), indent=1, ensure_ascii=False)
    (site / NAME).write_text(text + "\n", encoding="utf-8")
    schema = resources.files("voicewire_book.publish.machines").joinpath(SCHEMA).read_text(encoding="utf-8")
    (site / SCHEMA).write_text(schema, encoding="utf-8")

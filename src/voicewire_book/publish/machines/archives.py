"""Two files in the repository's root: ``.zenodo.json`` for the archive, ``codecheck.yml`` for whoever re-runs the book.

Both are made from ``CITATION.cff``, the bibliographies and the list of parts; ``make outputs`` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import yaml

from voicewire_book import paths
from voicewire_book.publish.machines import listing, papers

__all__ = ["CODECHECK", "ZENODO", "codecheck", "write", "zenodo"]

ZENODO = ".zenodo.json"
CODECHECK = "codecheck.yml"
PICTURE = "book/_static/scorecard.svg"
"""As in `voicewire_book.publish.pages.scorecard`, which stands above this."""

HEAD = """\
%YAML 1.1
---
# What a codecheck of this book has to recreate. Made by `make outputs` from CITATION.cff and the list of parts.
# This is the authors' part. Of what the specification demands, it lacks what only others can give: a codechecker,
# their report, its summary and certificate; and an author's ORCID, because the authors sign as a group.
# `make outputs` executes all notebooks and draws the picture; `git diff` shows what came out otherwise.
"""


def zenodo(base: Path, studies: Sequence[str] = paths.STUDIES) -> str:
    """Return what Zenodo is told of a release."""
    about = listing.citation(base)
    related = [{"identifier": about["url"], "relation": "isDocumentedBy", "resource_type": "publication-book"}]
    found = [papers.read(study, base) for study in studies]
    related += [{"identifier": paper.doi, "relation": "reviews", "scheme": "doi"} for paper in found if paper.doi]
    fields = {
        "title": about["title"],
        "upload_type": "software",
        "description": "<p>An executable textbook: published studies of speech and its protocols, taught from the "
        "ground up, run again, and judged claim by claim.</p>",
        "creators": [{"name": author["name"]} for author in about["authors"]],
        "access_right": "open",
        "license": about["license"][0],
        "notes": f"Text, figures and data: {about['license'][1]}.",
        "version": about["version"],
        "language": "eng",
        "keywords": about["keywords"],
        "related_identifiers": related,
    }
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"


def codecheck(base: Path, studies: Sequence[str] = paths.STUDIES) -> str:
    """Return the authors' part of a CODECHECK configuration, version 2.0."""
    about = listing.citation(base)
    files = [{"file": PICTURE, "comment": "how many claims of each study came out how"}]
    for study in studies:
        comment = f"outputs of a chapter: {paths.part(study).title}"
        chapters = (path.relative_to(base).as_posix() for path in paths.chapters(study, base))
        files += [{"file": name, "comment": comment} for name in chapters]
    content = {
        "version": "https://codecheck.org.uk/spec/config/2.0/",
        "manifest": files,
        "paper": {
            "title": about["title"],
            "authors": [{"name": author["name"]} for author in about["authors"]],
            "reference": about["url"],
        },
        "repository": about["repository-code"],
    }
    return HEAD + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)


def write(base: Path) -> list[str]:
    """Write both files where they differ from what they should be."""
    written = []
    for name, text in ((ZENODO, zenodo(base)), (CODECHECK, codecheck(base))):
        path = base / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            written.append(name)
    return written

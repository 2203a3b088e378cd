"""The published book as an RO-Crate: ``ro-crate-metadata.json`` names what lies in the site, and what it is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from voicewire_book import paths
from voicewire_book.publish.clone import commit
from voicewire_book.publish.machines import listing, papers

__all__ = ["NAME", "make", "write"]

NAME = "ro-crate-metadata.json"
TYPES = {".html": "text/html", ".ipynb": "application/x-ipynb+json", ".json": "application/json"}
LICENCES = {
    "CC-BY-4.0": ("https://creativecommons.org/licenses/by/4.0/", "Creative Commons Attribution 4.0 International"),
    "BSD-3-Clause": ("https://spdx.org/licenses/BSD-3-Clause", 'BSD 3-Clause "New" or "Revised" License'),
}


def make(base: Path, site: Path) -> dict[str, Any]:
    """Return the crate's metadata: pages, notebooks and claims as files, papers and recordings as what they rest on."""
    about = listing.citation(base)
    crate = ROCrate()
    texts, code = (
        crate.add(ContextEntity(crate, place, {"@type": "CreativeWork", "name": name, "url": place}))
        for place, name in (LICENCES["CC-BY-4.0"], LICENCES["BSD-3-Clause"])
    )
    authors = crate.add(
        ContextEntity(crate, "#authors", {"@type": "Organization", "name": about["authors"][0]["name"]})
    )
    root = crate.root_dataset
    root["url"], root["version"], root["keywords"] = about["url"], about["version"], ", ".join(about["keywords"])
    root["author"], root["publisher"], crate.license = authors, authors, texts
    crate.name, crate.description = about["title"], DESCRIPTION
    short, date = commit(base)
    if date != "unknown":
        crate.datePublished = date
    place = about["repository-code"]
    # not SoftwareSourceCode: in a crate that is a script, which must be one of its files
    source = {"@type": "SoftwareApplication", "name": "The package voicewire", "url": place}
    source["version"] = f"{about['version']} ({short})"
    root["isBasedOn"] = software = crate.add(ContextEntity(crate, place, source))
    software["license"] = code
    cited = [_paper(crate, study, base) for study in paths.STUDIES]
    # a citation has to be an address: what has none is mentioned
    root["citation"] = [paper for paper in cited if not paper.id.startswith("#")]
    root["mentions"] = [paper for paper in cited if paper.id.startswith("#")]
    for part in paths.PARTS:
        if (base / "data" / part.name).is_dir():
            recorded = {"name": f"What was recorded, with checksums, and the ledger: {part.title}"}
            crate.add_dataset(f"{place}/tree/main/data/{part.name}", properties=recorded)
    for path in sorted(site.rglob("*")):
        name = path.relative_to(site).as_posix()
        if path.is_file() and _belongs(name):
            about_it = {"name": _title(name), "encodingFormat": TYPES[path.suffix]}
            crate.add_file(path, name, properties={**about_it, "contentSize": str(path.stat().st_size)})
    return dict(crate.metadata.generate())


DESCRIPTION = (
    "An executable textbook: published studies of speech and its protocols are taught, run again, and judged claim by "
    "claim. claims.json holds every claim with its verdict; the notebooks hold the code and the outputs behind them."
)


def _belongs(name: str) -> bool:
    """Say whether a file of the site is a page, a notebook or the claims; the rest serves the pages."""
    if name in (listing.NAME, listing.SCHEMA, "index.html"):
        return True
    if name.startswith("_sources/"):
        return name.endswith(".ipynb")
    return name.startswith(("book/", "notebooks/")) and name.endswith(".html")


def _title(name: str) -> str:
    known = {listing.NAME: "The claims and their verdicts, as data", listing.SCHEMA: "The schema of claims.json"}
    return known.get(name, name.removeprefix("_sources/"))


def _paper(crate: ROCrate, study: str, base: Path) -> ContextEntity:
    paper = papers.read(study, base)
    fields: dict[str, Any] = {"@type": "ScholarlyArticle", "name": paper.title}
    if paper.year:
        fields["datePublished"] = paper.year
    entity = crate.add(ContextEntity(crate, paper.address, fields))
    people = [
        crate.add(ContextEntity(crate, f"#{name.replace(' ', '-')}", {"@type": "Person", "name": name}))
        for name in paper.authors
    ]
    entity["author"] = people if len(people) > 1 else people[0]  # a list of one is no list, as the specification has it
    return entity


def write(base: Path, site: Path) -> None:
    """Write the crate's metadata into the published site."""
    text = json.dumps(make(base, site), indent=1, ensure_ascii=False)
    (site / NAME).write_text(text + "\n", encoding="utf-8")

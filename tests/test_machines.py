"""What the book says to programs: data that keep to their schema, linked data that expands, files that archives read.

Nothing is fetched: contexts and vocabularies come from the packages that use them, or lie beside this file.
"""

from __future__ import annotations

import json
import re
import warnings
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import jsonschema
import pytest
import requests
import yaml
from pyld import jsonld
from rocrate.rocrate import ROCrate

from voicewire_book import paths
from voicewire_book.kit import claims
from voicewire_book.ledger.vocabulary import REGISTERED, STALE, UNJUDGED, VERDICTS, Score
from voicewire_book.publish.machines import archives, crate, linked, listing, papers
from voicewire_book.publish.pages import scorecard

pytestmark = pytest.mark.landing

ROOT = paths.root()
ROWS = claims.scorecard(ROOT)
PAPERS = [row for row in ROWS if row["whose"] == "paper" and row["verdict"] in VERDICTS]
CITO = "http://purl.org/spar/cito/"
BASE = "https://a.example/"


def schema() -> dict[str, Any]:
    text = resources.files("voicewire_book.publish.machines").joinpath(listing.SCHEMA).read_text(encoding="utf-8")
    return dict(json.loads(text))


def terms_of_cito() -> set[str]:
    lines = (ROOT / "tests/vocabularies/cito.txt").read_text(encoding="utf-8").splitlines()
    return {line for line in lines if not line.startswith("#")}


def terms_of_schema_org() -> set[str]:
    """Return the names in the copy of schema.org's vocabulary that rocrate brings."""
    text = resources.files("rocrate").joinpath("data/schema.jsonld").read_text(encoding="utf-8")
    return {node["@id"].partition(":")[2] for node in json.loads(text)["@graph"] if node["@id"].startswith("schema:")}


def cached(address: str, options: object) -> dict[str, Any]:
    """Serve the one context that a document names from the package that has it; nothing else may be asked for."""
    version = re.fullmatch(r"https://w3id\.org/ro/crate/([\d.]+)/context", address)
    assert version, f"a document asks for {address}"
    text = resources.files("rocrate").joinpath("data/ro-crate.jsonld").read_text(encoding="utf-8")
    assert json.loads(text)["@id"] == address
    return {"contextUrl": None, "documentUrl": address, "document": json.loads(text)}


def expanded(document: dict[str, Any]) -> list[dict[str, Any]]:
    return list(jsonld.expand(document, {"documentLoader": cached, "base": BASE}))


# claims.json


def test_the_claims_keep_to_their_schema():
    jsonschema.Draft202012Validator.check_schema(schema())
    whole = json.loads(json.dumps(listing.listing(ROOT, ROWS)))
    assert [error.message for error in jsonschema.Draft202012Validator(schema()).iter_errors(whole)] == []
    assert [claim["id"] for claim in whole["claims"]] == [row["id"] for row in ROWS]


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "true"},
        {"verdict": 1},
        {"rating": 5},
        {"address": None},
        {"interval": [1]},
        {"rival": {"mechanism": "labels exchanged", "passes": 2}},
        {"whose": "theirs"},
    ],
)
def test_what_the_schema_refuses(change):
    whole = json.loads(json.dumps(listing.listing(ROOT, ROWS)))
    whole["claims"][0].update(change)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema()).validate(whole)


def described(part: dict[str, Any], where: str = "") -> list[str]:
    """Return the properties of a schema that nothing explains."""
    missing = []
    for name, inner in part.get("properties", {}).items():
        missing += [f"{where}/{name}"] if "description" not in inner else []
        missing += described(inner, f"{where}/{name}") + described(inner.get("items", {}), f"{where}/{name}")
    return missing


def test_every_field_is_documented_and_none_is_left_out():
    found = schema()
    assert described(found) + described(found["$defs"]["claim"], "claim") == []
    fields = set(Score.__annotations__) | {"address"}
    assert set(found["$defs"]["claim"]["properties"]) == fields == set(found["$defs"]["claim"]["required"])
    assert set(found["$defs"]["verdict"]["enum"]) == {*VERDICTS, REGISTERED, UNJUDGED, STALE}


def test_a_verdict_is_never_a_number():
    whole = listing.listing(ROOT, ROWS)
    assert {verdict["name"] for verdict in whole["verdicts"]} == set(VERDICTS)
    assert not [v for verdict in whole["verdicts"] for v in verdict.values() if not isinstance(v, str)]
    text = linked.script(ROWS, ROOT, BASE)
    assert "rating" not in text.lower().replace("operating", "").replace("generating", "")


# Linked data


def test_the_linked_data_expands_without_any_request():
    (base,) = {row["@id"].rpartition("#")[0] for row in reviews()}
    assert base == f"{listing.citation(ROOT)['url']}book/scorecard.html"


def reviews() -> list[dict[str, Any]]:
    nodes = expanded(linked.graph(ROWS, ROOT, listing.citation(ROOT)["url"]))
    return [node for node in nodes if node["@type"] == ["https://schema.org/ClaimReview"]]


def test_each_judged_claim_of_a_paper_is_one_review_at_its_address():
    assert [node["@id"] for node in reviews()] == [listing.address(row["id"], ROOT) for row in PAPERS]
    assert 0 < len(PAPERS) < len(ROWS)  # our own questions and what is not judged are no reviews
    for node, row in zip(reviews(), PAPERS, strict=True):
        (said,) = [key.removeprefix(CITO) for key in node if key.startswith(CITO)]
        assert said == linked.CITO[row["verdict"]]
        assert node["https://schema.org/reviewBody"] == [{"@value": row["verdict"]}]
        assert node["https://schema.org/claimReviewed"] == [{"@value": row["statement"]}]
        (paper,) = node[f"{CITO}{said}"]
        (item,) = node["https://schema.org/itemReviewed"]
        assert item["https://schema.org/appearance"] == [paper]


def test_every_paper_that_is_reviewed_is_described():
    nodes = {node["@id"]: node for node in expanded(linked.graph(ROWS, ROOT, BASE))}
    for node in nodes.values():
        for key, values in node.items():
            if key.startswith(CITO):
                assert nodes[values[0]["@id"]]["@type"] == ["https://schema.org/ScholarlyArticle"]


def test_the_terms_are_in_the_public_vocabularies():
    assert set(linked.CITO) == set(VERDICTS)
    assert set(linked.CITO.values()) <= terms_of_cito()
    used = set(re.findall(r'"https://schema\.org/(\w+)"', json.dumps(expanded(linked.graph(ROWS, ROOT, "https://a/")))))
    assert {"ClaimReview", "claimReviewed", "itemReviewed", "Claim", "appearance"} <= used
    assert used - terms_of_schema_org() == set()
    assert "claimReviewedd" not in terms_of_schema_org()


def test_a_text_cannot_end_the_element_that_holds_the_data():
    row = {**PAPERS[0], "statement": "It says </script><script>alert(1)</script>."}
    text = linked.script([row], ROOT, BASE)
    assert text.count("</") == 1
    assert text.endswith("</script>")
    inside = text.partition(">")[2].removesuffix("</script>")
    assert json.loads(inside)["@graph"][-1]["claimReviewed"] == row["statement"]


def test_the_scorecard_page_carries_the_data():
    page = scorecard.page(ROOT, lambda target: target)
    (text,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page)
    assert json.loads(text) == linked.graph(ROWS, ROOT, listing.citation(ROOT)["url"])
    assert re.findall(r'src="([^"]*)"', page) == ["../_static/scorecard.js"]


# The crate


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for name in ("index.html", "search.html", "book/scorecard.html", "notebooks/nfc/01_slow_link.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("<html></html>", encoding="utf-8")
    for name in ("_sources/notebooks/nfc/01_slow_link.ipynb", "_static/book.css", "_sources/book/scorecard.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}", encoding="utf-8")
    listing.write(ROOT, tmp_path, ROWS)
    crate.write(ROOT, tmp_path)
    return tmp_path


def test_the_crate_is_read_back(site):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = ROCrate(site)
    files = {entity.id for entity in read.get_by_type("File")}
    pages = {"index.html", "book/scorecard.html", "notebooks/nfc/01_slow_link.html"}
    assert files == pages | {"_sources/notebooks/nfc/01_slow_link.ipynb", "claims.json", "claims.schema.json"}
    assert all((site / name).is_file() for name in files)
    assert read.name == listing.citation(ROOT)["title"]
    assert read.license["@id"].endswith("/by/4.0/")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d.*", str(read.datePublished))
    found = [papers.read(study, ROOT) for study in paths.STUDIES]
    for key, having in (("citation", True), ("mentions", False)):  # a citation has to have an address
        titles = [paper["name"] for paper in read.root_dataset[key]]
        assert titles == [paper.title for paper in found if bool(paper.doi) is having]
    recorded = {entity.id.rstrip("/").rpartition("/")[2] for entity in read.get_by_type("Dataset") if entity.id != "./"}
    assert recorded == {folder.name for folder in (ROOT / "data").iterdir() if folder.is_dir()}


def test_the_crates_terms_are_in_its_context_and_its_links_lead_somewhere(site):
    document = json.loads((site / crate.NAME).read_text(encoding="utf-8"))
    nodes = expanded(document)
    known = {node["@id"] for node in nodes}
    for before in document["@graph"]:
        (after,) = [node for node in nodes if node["@id"] == urljoin(BASE, before["@id"])]
        assert len(after) == len(before), f"{before['@id']}: a property is no term of the context"
        for key, values in after.items():
            if key not in ("@id", "@type", "http://purl.org/dc/terms/conformsTo"):
                assert {value["@id"] for value in values if "@id" in value} <= known, (before["@id"], key)


@pytest.mark.needs("rocrate-validator")
def test_the_validator_of_the_research_object_community_finds_no_fault(site, tmp_path):
    """Offline: its cache gets the one context that a crate names, from the copy that rocrate brings."""
    from requests_cache import CachedSession
    from requests_cache.models import CachedRequest, CachedResponse
    from rocrate_validator import services

    address = json.loads((site / crate.NAME).read_text(encoding="utf-8"))["@context"]
    content = json.dumps(cached(address, None)["document"]).encode()
    cache = CachedSession(tmp_path / "cache" / "contexts", expire_after=-1).cache
    asked = CachedRequest(method="GET", url=address)
    kind = {"Content-Type": "application/ld+json"}
    answer = CachedResponse(status_code=200, url=address, content=content, headers=kind, request=asked)
    cache.save_response(answer, cache.create_key(requests.Request("GET", address).prepare()))
    settings = {"rocrate_uri": str(site), "profile_identifier": "ro-crate-1.3", "validate_profile_checks": False}
    settings |= {"offline": True, "cache_path": tmp_path / "cache" / "contexts", "skip_availability_check": True}

    def found() -> list[str]:
        return [f"{issue.check.identifier}: {issue.message}" for issue in services.validate(settings).get_issues()]

    assert found() == []
    document = json.loads((site / crate.NAME).read_text(encoding="utf-8"))
    del document["@graph"][0]["license"]
    (site / crate.NAME).write_text(json.dumps(document), encoding="utf-8")
    assert any("license" in fault.lower() for fault in found())


# Papers


@pytest.mark.parametrize("study", paths.STUDIES)
def test_the_paper_is_the_first_entry_that_the_parts_page_cites(study):
    bib = (ROOT / "book" / study / "references.bib").read_text(encoding="utf-8")
    first = re.findall(r"^@\w+\{([\w-]+),", bib, re.M)[0]
    assert f"`{first}`" in (ROOT / "book" / study / "index.md").read_text(encoding="utf-8")
    paper = papers.read(study, ROOT)
    assert not set("{}\\") & set(paper.title + "".join(paper.authors))
    assert paper.authors


# Archives


@pytest.mark.parametrize(
    ("name", "make"), [(archives.ZENODO, archives.zenodo), (archives.CODECHECK, archives.codecheck)]
)
def test_the_archives_files_are_current(name, make):
    # The newest studies may be missing: a new study touches no file outside its rooms, a release writes them.
    now = [make(ROOT, paths.STUDIES[:count]) for count in range(1, len(paths.STUDIES) + 1)]
    assert (ROOT / name).read_text(encoding="utf-8") in now, "write it anew: python -m voicewire_book.publish.pages"


RELATIONS = {"isDocumentedBy", "reviews", "isSupplementTo", "cites", "references"}  # of Zenodo's deposit metadata


def test_zenodo_is_told_what_it_asks_for():
    told = json.loads((ROOT / archives.ZENODO).read_text(encoding="utf-8"))
    assert {"title", "upload_type", "description", "creators", "access_right", "license"} <= set(told)
    assert told["upload_type"] == "software"
    assert all(set(person) <= {"name", "affiliation", "orcid", "gnd"} for person in told["creators"])
    assert all(item["relation"] in RELATIONS for item in told["related_identifiers"])
    assert told["version"] == listing.citation(ROOT)["version"]
    dois = {paper.doi for paper in (papers.read(study, ROOT) for study in paths.STUDIES) if paper.doi}
    reviewed = {item["identifier"] for item in told["related_identifiers"] if item["relation"] == "reviews"}
    assert set() < reviewed <= dois  # that of a new study comes in with the next release


def broken_rules(text: str) -> set[str]:
    """Return the rules of CODECHECK's configuration file 2.0 (severity error) that a file breaks.

    They are those of rules-2.0.yml in the repository codecheckers/register, area config, and CC-BUN-001.
    """
    told = yaml.safe_load(text)
    manifest, paper = told.get("manifest") or [], told.get("paper") or {}
    authors, checkers = paper.get("authors") or [], told.get("codechecker") or []
    held = {
        "CC-CFG-002": re.search(r"^---$", text, re.M) is not None,
        "CC-CFG-004": isinstance(told.get("manifest"), list) and bool(manifest),
        "CC-CFG-005": all(item.get("file") for item in manifest),
        "CC-CFG-006": not any(Path(item["file"]).is_absolute() for item in manifest),
        "CC-CFG-008": isinstance(checkers, list) and bool(checkers),
        "CC-CFG-009": bool(checkers) and all(person.get("name") for person in checkers),
        "CC-CFG-011": bool(told.get("report")),
        "CC-CFG-013": "FIXME" not in str(told.get("report")),
        "CC-CFG-016": bool(paper),
        "CC-CFG-017": bool(paper.get("title")),
        "CC-CFG-018": isinstance(authors, list) and bool(authors),
        "CC-CFG-019": all(person.get("name") for person in authors),
        "CC-CFG-020": all(re.fullmatch(r"(\d{4}-){3}\d{3}[\dX]", person.get("ORCID", "")) for person in authors),
        "CC-CFG-021": bool(paper.get("reference")),
        "CC-CFG-023": not re.search(r"FIXME|TODO|XXXXX", text),
        "CC-CFG-024": bool(told.get("summary")),
        "CC-CFG-025": bool(told.get("certificate")),
        "CC-CFG-026": bool(re.fullmatch(r"\d{4}-\d{3}", str(told.get("certificate", "")))),
        "CC-CFG-029": isinstance(paper.get("reference-other", []), list),
        "CC-BUN-001": all((ROOT / item["file"]).is_file() for item in manifest),
    }
    return {rule for rule, holds in held.items() if not holds}


def test_the_codecheck_file_lacks_only_what_others_have_to_give():
    text = (ROOT / archives.CODECHECK).read_text(encoding="utf-8")
    assert text.startswith("%YAML 1.1\n---\n")
    assert yaml.safe_load(text)["version"] == "https://codecheck.org.uk/spec/config/2.0/"
    others = {"CC-CFG-008", "CC-CFG-009", "CC-CFG-011", "CC-CFG-024", "CC-CFG-025", "CC-CFG-026"}
    assert broken_rules(text) == others | {"CC-CFG-020"}  # the authors sign as a group, which has no ORCID
    for word in ("a codechecker", "report", "summary and certificate", "ORCID"):
        assert word in archives.HEAD
    complete = yaml.safe_load(text)
    complete |= {"codechecker": [{"name": "A. Person"}], "report": "https://doi.org/10.5555/1", "summary": "All right."}
    complete["certificate"] = "2026-001"
    complete["paper"]["authors"] = [{"name": "A. Person", "ORCID": "0000-0002-1825-0097"}]
    assert broken_rules(f"---\n{yaml.safe_dump(complete)}") == set()


def test_the_manifest_is_every_studys_chapters_and_the_picture():
    listed = {item["file"] for item in yaml.safe_load(archives.codecheck(ROOT))["manifest"]}
    notebooks = {path.relative_to(ROOT).as_posix() for study in paths.STUDIES for path in paths.chapters(study)}
    assert listed == notebooks | {scorecard.PICTURE.as_posix()}


def test_writing_writes_only_what_differs(tmp_path):
    for name in ("book", "data", "notebooks", "pyproject.toml", "CITATION.cff"):
        (tmp_path / name).symlink_to(ROOT / name)
    assert archives.write(tmp_path) == [archives.ZENODO, archives.CODECHECK]
    assert archives.write(tmp_path) == []
    (tmp_path / archives.ZENODO).write_text("{}", encoding="utf-8")
    assert archives.write(tmp_path) == [archives.ZENODO]

"""Introductions of the parts: drawings that follow the page, findings with the ledger's numbers, times, one layout."""

from __future__ import annotations

import re
from types import SimpleNamespace
from xml.etree import ElementTree

import nbformat
import pytest
from docutils import nodes
from docutils.utils import new_document

from voicewire.nfc.link import HEADER_BYTES, Link
from voicewire_book import paths
from voicewire_book.ledger import collecting
from voicewire_book.publish.pages import drawings, functions, introduction

pytestmark = pytest.mark.landing

ROOT = paths.root()
DRAWN = sorted(path for path in (ROOT / "book").glob("**/drawings/*.svg"))
STYLE = re.compile(r"<style>(.*?)</style>", re.S)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def reproduced() -> dict[str, object]:
    return {row["id"]: row["reproduced"] for row in collecting.scorecard(ROOT)}


def test_each_study_has_two_drawings():
    for study in paths.STUDIES:
        page = (ROOT / "book" / study / "index.md").read_text(encoding="utf-8")
        shown = re.findall(r"^!\[(.+)\]\((drawings/.+\.svg)\)$", page, re.M)
        assert len(shown) >= 2, study
        assert all((ROOT / "book" / study / file).is_file() and len(alt) > 20 for alt, file in shown)


@pytest.mark.parametrize("file", DRAWN, ids=lambda file: file.stem)
def test_a_drawing_says_what_it_shows_and_has_the_colours_of_all(file):
    text = file.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    said = [root.find(f"{SVG}{tag}") for tag in ("title", "desc")]
    assert root.get("role") == "img" and all(tag is not None and tag.text for tag in said)
    assert root.get("aria-labelledby") == f"{file.stem}-title {file.stem}-desc"
    assert STYLE.findall(text) == STYLE.findall(DRAWN[0].read_text(encoding="utf-8"))
    assert "#" not in STYLE.sub("", text), "a colour of its own would not follow the page"
    width = float(root.get("viewBox", "").split()[2])
    assert 14.5 * 330 / width >= 9, "its smallest text on a phone, in CSS pixels"


def test_the_page_has_the_rules_of_the_drawings():
    css = (ROOT / "book/_static/book.css").read_text(encoding="utf-8")
    own = STYLE.findall(DRAWN[0].read_text(encoding="utf-8"))[0]
    light, dark = re.findall(r"svg \{ (--vwd.*?) \}", own)
    assert f'html[data-theme="light"] .vw-drawing svg {{ {light} }}' in css
    assert f'html[data-theme="dark"] .vw-drawing svg {{ {dark} }}' in css
    rules = re.findall(r"^    ((?:text|\.)[^{]*) (\{.*\})$", own, re.M)
    assert len(rules) > 10
    for names, rule in rules:
        selector = ", ".join(f".vw-drawing svg {name}" for name in names.split(", "))
        assert f"{selector} {rule}" in css


def test_a_drawing_becomes_part_of_the_page():
    doctree = new_document("")
    picture, other = nodes.image(uri="book/nfc/drawings/slots.svg"), nodes.image(uri="book/_static/logo.svg")
    doctree += [nodes.paragraph("", "", picture), nodes.paragraph("", "", other)]
    drawings.put(SimpleNamespace(builder=SimpleNamespace(format="html"), srcdir=ROOT), doctree, "book/nfc/index")
    assert isinstance(doctree[0], nodes.raw) and "Slots of ten" in doctree[0].astext()
    assert "<style>" not in doctree[0].astext()
    assert doctree[1][0] is other


def test_elsewhere_than_in_html_it_stays_a_picture():
    doctree = new_document("")
    picture = nodes.image(uri="book/nfc/drawings/slots.svg")
    doctree += nodes.paragraph("", "", picture)
    drawings.put(SimpleNamespace(builder=SimpleNamespace(format="latex"), srcdir=ROOT), doctree, "book/nfc/index")
    assert doctree[0][0] is picture


def test_the_slots_are_those_of_the_link():
    text = (ROOT / "book/nfc/drawings/slots.svg").read_text(encoding="utf-8")
    link = Link()
    assert f"100 bytes, {link.framing} of framing: {link.slots(100)} slots" in text
    assert f"ACK: {link.slots(HEADER_BYTES)} slots" in text
    assert (link.period, link.payload) == (0.01, 10)


def test_each_study_has_a_finding_of_claims_that_are_judged(reproduced):
    for study in paths.STUDIES:
        finding = paths.part(study).finding
        assert f"{{{study}." in finding, study
        assert "{" not in introduction.filled(finding, reproduced)


def test_a_finding_shows_what_the_ledger_has(reproduced):
    page = introduction.findings(ROOT, lambda target: f"/{target}")
    assert page.count("How it was judged") == len(paths.STUDIES)
    assert f"{reproduced['nfc.table-7.3.burst-fewer']['random']:.0f} packets sent again" in page
    with pytest.raises(KeyError):
        introduction.filled("{nfc.no-such|.0f}", reproduced)
    assert introduction.findings(ROOT, lambda target: None, "foundations").startswith("Nothing")


@pytest.mark.parametrize("study", paths.STUDIES)
def test_introductions_have_one_layout(study):
    page = (ROOT / "book" / study / "index.md").read_text(encoding="utf-8")
    order = [
        "**The question.**", "](drawings/", f"{{gather}} finding_{study}", "How the chapters build on each other",
        f"{{gather}} times_{study}", "What it takes", "How to read it", f"(reply-{study})=",
    ]  # fmt: skip
    places = [page.find(words) for words in order]
    assert -1 not in places and places == sorted(places)
    for path in paths.chapters(study):
        assert f"({path.relative_to(ROOT).as_posix()})".replace("(", "(../../") in page, path.name


@pytest.mark.parametrize("path", paths.chapters(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_chapter_begins_with_a_picture(path):
    cells = nbformat.read(path, as_version=4).cells
    first = [cell for cell in cells if not functions.listed(cell)][:3]  # the folded list of functions is no first sight
    drawn = [re.search(r"^!\[.{20,}\]\((../../book/\w+/drawings/[\w-]+\.svg)\)$", cell.source, re.M) for cell in first]
    outputs = [output.get("data", {}) for cell in first for output in cell.get("outputs", [])]
    shown = any(kind.startswith("image/") for data in outputs for kind in data)
    assert shown or any(match and (path.parent / match.group(1)).is_file() for match in drawn)

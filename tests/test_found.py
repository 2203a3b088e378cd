"""What finds a page, and what stands at its foot: descriptions, previews, the index, the search, citing, reporting."""

from __future__ import annotations

import json
import re
from functools import cache
from html import unescape
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest
import snowballstemmer
import yaml
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.core import publish_doctree
from PIL import Image

from voicewire_book import paths
from voicewire_book.publish.pages import about, found, gather, hints, people, previews, uses

pytestmark = pytest.mark.landing

ROOT = paths.root()
SITE = ROOT / "_build" / "html"
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
NAMES = sorted(p.relative_to(SITE).with_suffix("").as_posix() for p in SITE.rglob("*.html")) if SITE.is_dir() else []
WRITTEN = [name for name in NAMES if name.startswith(("book/", "notebooks/"))]
BEGINNING = 100_000
"""Characters of an article, pictures left out, that hold its first paragraph."""
built = pytest.mark.needs("pages")


def text_of(name: str) -> str:
    """A page without the pictures and sounds that lie in it."""
    return re.sub(r"base64,[A-Za-z0-9+/=]+", "base64,", (SITE / f"{name}.html").read_text(encoding="utf-8"))


@cache
def soup(name: str) -> BeautifulSoup:
    return BeautifulSoup(text_of(name), "lxml")


@cache
def head(name: str) -> BeautifulSoup:
    return BeautifulSoup(text_of(name).partition("</head>")[0], "lxml")


def told(page: BeautifulSoup, name: str) -> str:
    found = page.find_all("meta", attrs={"name": name}) + page.find_all("meta", attrs={"property": name})
    assert len(found) == 1, (name, found)
    return str(found[0]["content"])


class Writer:
    def __init__(self) -> None:
        self.body: list[str] = []


def test_a_term_is_a_word_of_its_page_and_its_hint_is_none():
    doctree = publish_doctree("A word here.")
    (paragraph,) = doctree.findall(nodes.paragraph)
    term = hints.hinted_term("word", "word", refuri="g.html#term-w", hint="What it < means", place="vw-hint-1")
    paragraph.children = []
    paragraph += [nodes.Text("A "), term, nodes.Text(" here.")]
    assert found.description(doctree) == "A word here."
    writer = Writer()
    hints.visit(writer, term)
    hints.depart(writer, term)
    assert 'aria-describedby="vw-hint-1"' in writer.body[0] and "What it &lt; means</span>" in writer.body[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two.", "One. Two."),
        ("A title\n=======\n\nOne.\n\nTwo.", "One. Two."),
        (f"One. {'Word ' * 60}.", "One."),
        (":math:`x` is first.\n\nOne.", "One."),
        ("", ""),
    ],
)
def test_a_description_is_whole_sentences(text, expected):
    assert found.description(publish_doctree(text)) == expected


def test_a_first_sentence_that_is_too_long_ends_at_a_word():
    said = found.description(publish_doctree("word " * 100))
    assert len(said) <= found.LENGTH and said.endswith("word…")


@built
def test_every_page_has_one_description_without_holes():
    said = {name: told(head(name), "description") for name in [*WRITTEN, "genindex"]}
    for name, text in said.items():
        assert text.endswith((".", "?", "!", "…", ":", "”")) and 20 < len(text) <= found.LENGTH, (name, text)
        assert not re.search(r"\b(a|the|its|of|in) [,.;:)]|\[ | \]|\s{2}|\.\.\.", text), (name, text)
        if name != "genindex":
            assert told(head(name), "og:description") == text
    assert len(set(said.values())) == len(said)


@built
def test_a_description_holds_the_words_of_its_first_paragraph_terms_too():
    """The word of a glossary link stands in it: it was left out once."""
    checked = 0
    for name in WRITTEN:
        beginning = BeautifulSoup(text_of(name).partition("<article ")[2][:BEGINNING], "lxml")
        for hint in beginning.select(".vw-hint, .headerlink"):
            hint.decompose()
        words = re.sub(r"\W+", "", beginning.get_text())
        for sentence in re.split(r"(?<=[.!?])\s+", told(head(name), "description").rstrip("…")):
            assert re.sub(r"\W+", "", sentence) in words, (name, sentence)
            checked += 1
    assert checked > len(WRITTEN)


@built
def test_every_part_has_a_picture_for_links_to_it():
    shown: set[str] = set()
    for name in WRITTEN:
        page = head(name)
        address = told(page, "og:image")
        base = CONFIG["html"]["baseurl"]
        assert address.startswith(base) and told(page, "og:image:alt")
        file = SITE / address.removeprefix(base)
        if file.stem in shown:
            continue
        with Image.open(file) as image:
            assert image.size == previews.SIZE and file.stat().st_size < 100_000
            assert len(image.convert("RGB").getcolors(2**20) or []) > 10  # something is drawn
        shown.add(file.stem)
    assert shown == {previews.HOME, *(part.name for part in paths.PARTS)}


@built
def test_the_site_map_names_each_page_once_and_no_other():
    tree = ElementTree.parse(SITE / "sitemap.xml")
    named = [entry.text or "" for entry in tree.iter(f"{{{found.SITEMAP}}}loc")]
    assert len(named) == len(set(named))
    base = CONFIG["html"]["baseurl"]
    api = {f"{base}{name}.html" for name in NAMES if name.startswith("api")}
    wanted = {f"{base}{name}.html" for name in [*WRITTEN, "genindex"]}
    assert wanted <= set(named) and set(named) - wanted <= api
    assert (SITE / "robots.txt").read_text(encoding="utf-8").rstrip().endswith(f"Sitemap: {base}sitemap.xml")


def test_a_site_map_loses_its_repeats_and_has_all_pages(tmp_path):
    path = tmp_path / "sitemap.xml"
    rows = "".join(f"<url><loc>{name}</loc></url>" for name in "abacb")
    path.write_text(f'<urlset xmlns="{found.SITEMAP}">{rows}</urlset>')
    found.once(path, ["a", "d"])
    assert re.findall("<loc>(.)</loc>", path.read_text()) == ["a", "b", "c", "d"]


@built
def test_what_a_wrong_address_shows_needs_no_other_file_and_leads_on():
    page = soup("404")
    links = [a["href"] for a in page.find_all("a")]
    base = CONFIG["html"]["baseurl"]
    assert links and all((SITE / link.removeprefix(base)).is_file() for link in links)
    assert not page.find_all(["script", "img", "link"]) and told(page, "robots") == "noindex"


@built
def test_the_index_points_at_places_of_use():
    page = soup("genindex")
    links = [str(a["href"]) for a in page.select("article a[href]") if ".html#" in str(a["href"])]
    used = [link for link in links if not link.startswith("book/glossary.html")]
    linked = set()
    for name in WRITTEN:
        linked |= {(name, str(a["href"]).partition("#")[2]) for a in soup(name).select(".vw-term > a")}
    assert len(used) == len(linked) > 100  # each page under each term that it links to
    for link in used[::17]:
        name, _, place = link.partition("#")
        assert soup(name.removesuffix(".html")).find(id=place), link
    assert not [a for a in page.select("article a[href]") if not a.get_text(strip=True)]


def test_a_page_is_entered_once_under_a_term_at_the_section_of_its_first_use():
    from sphinx import addnodes

    doctree = publish_doctree("Title; two\n==========\n\nOne\n---\n\nWords.\n\nTwo\n---\n\nWords.")
    for paragraph in doctree.findall(nodes.paragraph):
        paragraph += addnodes.pending_xref("", refdomain="std", reftype="term", reftarget="RTT")
    entries: dict[str, Any] = {}
    env = SimpleNamespace(docname="a", domaindata={"index": {"entries": entries}})
    uses.note(SimpleNamespace(env=env), doctree)
    assert entries == {"a": [("single", "RTT; Title, two", "one", "", None)]}


@built
def test_what_searching_shows_holds_neither_hints_nor_html():
    text = (SITE / found.TEXTS).read_text(encoding="utf-8")
    texts = json.loads(text.removeprefix("window.vwTexts = ").removesuffix(";\n"))
    assert set(WRITTEN) <= set(texts)
    page = soup("notebooks/emqtt/02_end_to_end")
    hint = " ".join(page.select_one(".vw-hint").get_text().split())
    whole = " ".join(said for _, said in texts["notebooks/emqtt/02_end_to_end"])
    assert hint not in whole and "base64" not in whole and "<div" not in whole
    anchors = {place for place, _ in texts["notebooks/emqtt/02_end_to_end"]}
    assert all(page.find(id=place) for place in anchors if place)


@built
def test_the_search_index_finds_no_page_by_a_hint():
    """Words that stand on the glossary's page alone are found there alone."""
    index = (SITE / "searchindex.js").read_text(encoding="utf-8")
    data = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))
    glossary = data["docnames"].index("book/glossary")
    texts = json.loads((SITE / found.TEXTS).read_text(encoding="utf-8").removeprefix("window.vwTexts = ")[:-2])
    whole = {name: " ".join(said for _, said in sections).lower() for name, sections in texts.items()}
    others = " ".join(said for name, said in whole.items() if name != "book/glossary")
    stem = snowballstemmer.stemmer("porter").stemWord  # as the index has them
    mine = sorted(set(re.findall(r"\b[a-z]{6,}\b", whole["book/glossary"])))
    alone = [stem(word) for word in mine if word[:5] not in others and stem(word) in data["terms"]]
    assert alone
    for word in alone:
        where = data["terms"][word]
        assert where == glossary, (word, where)


@built
def test_every_page_says_how_to_cite_it_and_reports_an_error_with_its_address():
    repository, base = CONFIG["repository"]["url"], CONFIG["html"]["baseurl"]
    keys = []
    for name in WRITTEN:
        page = soup(name)
        (block,) = page.select("details.vw-about")
        bibtex = block.pre.get_text()
        keys += re.findall(r"@incollection\{([\w-]+),", bibtex)
        assert f"url = {{{base}{name}.html}}" in bibtex and bibtex.count("{") == bibtex.count("}")
        title = page.select_one("article.bd-article h1").get_text().strip("# \n")
        words = re.sub(r"\W", "", re.search(r"title = \{(.*)\}", bibtex).group(1))
        assert words == re.sub(r"\W", "", title), name
        report = next(str(a["href"]) for a in block.find_all("a") if "Report an error" in a.get_text())
        parts = urlsplit(report)
        assert report.startswith(f"{repository}/issues/new?")
        body = parse_qs(parts.query)["body"][0]
        assert f"{base}{name}.html" in body and "Edition" in body and str(ROOT) not in body
        links = [str(a["href"]) for a in block.find_all("a")]
        file = next(link for link in links if "/commits/" in link).partition("/commits/")[2].partition("/")[2]
        assert (ROOT / file).is_file(), file
    assert len(set(keys)) == len(WRITTEN)


def test_a_citation_has_the_editions_date_and_none_is_invented(tmp_path, monkeypatch):
    book = {"title": "B", "version": "2.0.0", "authors": [{"name": "A & B"}], "date-released": "2030-01-02"}
    (tmp_path / "CITATION.cff").write_text(yaml.safe_dump(book))
    made = about.entry("book/a", "1.2. T_x", "https://a.example/", tmp_path)
    assert "date = {2030-01-02}" in made and r"title = {1.2. T\_x}" in made and "author = {{A & B}}" in made
    assert about.stand(tmp_path) == "Edition 2.0.0 of 2030-01-02."
    del book["date-released"]
    (tmp_path / "CITATION.cff").write_text(yaml.safe_dump(book))
    assert "date" not in about.entry("book/a", "T", "https://a.example/", tmp_path)
    assert about.stand(tmp_path) == "Edition 2.0.0, not released yet."


def test_who_made_the_book_is_whom_the_citation_names(tmp_path):
    (tmp_path / "CITATION.cff").write_text("authors: [{name: The authors}, {name: B}]\n")
    assert people.contributors(tmp_path) == "- The authors\n- B\n"


def test_what_was_mended_is_taken_from_the_change_log(tmp_path):
    (tmp_path / "CHANGELOG.md").write_text(
        "# Log\n\n## 2: now\n\n- New. Mended: a value of\n  1.5 was 1.6. More is\n  said. Mended: `b`.\n"
        "- Other.\n\n## 1\n\n- x\n"
    )
    (tmp_path / "HISTORY.md").write_text("# Before\n\n## 1, before\n\n- Mended: c.\n")
    assert people.mended(tmp_path) == (
        "## Edition 2: now\n\n- A value of 1.5 was 1.6.\n- `b`.\n\n## Edition 1, before\n\n- C.\n"
    )
    whole = gather.text("mended", ROOT, lambda target: target)
    log = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("CHANGELOG.md", "HISTORY.md"))
    assert whole.count("\n- ") == log.count("Mended: ") > 5


@built
def test_the_books_own_errata_are_on_a_page():
    text = soup("book/corrections").select_one("article").get_text()
    assert "Ramjee" in unescape(text)

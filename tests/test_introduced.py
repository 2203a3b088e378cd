"""Nothing is used before it is introduced, in the order in which the book is read.

*The order.* `book/_toc.yml`: what stands before the studies (how to use the book, the foundations), then each study by
itself, since a reader may read one study alone; the journey follows all of them. What a study's earlier pages, the
foundations or "How to use this book" introduced counts as introduced.

*A term* is an entry of the glossary. Its first use in prose on such a way must introduce it: stand as ``{term}``, which
shows the definition where the reader points, or in bold or italics, the book's mark of a word that is being explained.
Headings, links (they lead to where it is taught), formulas, code, exercises and the texts of pictures are no prose.
Words of everyday English cannot be told from their everyday use by a program; those of `EVERYDAY` must be introduced
somewhere on the way of the study whose glossary has them.

*A function* of the package that a chapter's visible code or prose names is explained by the list at the chapter's end,
which says in one line what each does and is held equal to the docstrings, or by its own source on the page.
"""

from __future__ import annotations

import json
import re
from functools import cache

import nbformat
import pytest
import yaml

from voicewire_book import paths
from voicewire_book.publish.pages import functions, gather

pytestmark = pytest.mark.landing

ROOT = paths.root()
EVERYDAY = {
    "baseline", "claim", "framing", "hold", "kernel", "locus", "location", "opening", "pole", "reading", "report",
    "rival", "seed", "segment", "session", "slot", "stall", "tolerance", "will", "notebook", "ledger", "verdict",
    "envelope",
}  # fmt: skip
"""Terms whose words have an everyday meaning, too."""


def _pages(entry: dict[str, object]) -> list[str]:
    inner = [page for section in entry.get("sections", []) for page in _pages(section)]  # type: ignore[attr-defined]
    return [str(entry["file"]), *inner]


@cache
def ways() -> dict[str, list[str]]:
    """The pages that a reader of each part has read at its end, in their order; the last page of each is the part's."""
    parts = yaml.safe_load((ROOT / "book/_toc.yml").read_text(encoding="utf-8"))["parts"]
    shelves = {part["caption"]: [_pages(entry) for entry in part["chapters"]] for part in parts}
    base = [page for entry in shelves["Foundations"] for page in entry]
    before = ["book/how-to-use", *base]
    found = {"foundations": before}
    for pages in shelves["The studies"]:
        found[pages[0].split("/")[1]] = [*before, *pages]
    every = [page for pages in shelves["The studies"] for page in pages]
    found["journey"] = [*before, *every, *(page for entry in shelves["The journey"] for page in entry)]
    return found


def source(page: str) -> str:
    """Return the prose of a page as it is typed."""
    file = ROOT / f"{page}.md"
    if file.is_file():
        return file.read_text(encoding="utf-8")
    cells = json.loads((ROOT / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


NO_PROSE = re.compile(
    r"^(?P<fence>`{3,}|:{3,})(?s:.*?)^(?P=fence)[ \t]*$|^\#+ .*$|\$\$(?s:.*?)\$\$|\$[^$\n]+\$|"
    r"!?\[[^\]\n]*\]\([^)\n]*\)|(?P<term>\{term\}`[^`\n]*`)|\{[\w:]+\}`[^`\n]*`|`[^`\n]*`|</?\w[^>\n]*>",
    re.M,
)


def prose(page: str) -> str:
    """The page with everything that is no prose blanked out, letter for letter."""

    def blank(match: re.Match[str]) -> str:
        return match.group() if match["term"] else re.sub(r"[^\n]", " ", match.group())

    return NO_PROSE.sub(blank, source(page))


@cache
def terms() -> dict[str, str]:
    """The part, or "book", whose glossary has a term first."""
    found: dict[str, str] = {}
    for part in ("", *(part.name for part in paths.PARTS)):
        file = ROOT / "book" / part / "_glossary.md"
        if file.is_file():
            for names, _ in gather._entries(file.read_text(encoding="utf-8")):
                for name in names:
                    found.setdefault(name, part or "book")
    return found


def pattern(term: str) -> re.Pattern[str]:
    """What finds a term: its plural too, in any case if it is no abbreviation."""
    words = r"[\s-]+".join(re.escape(word) for word in re.split(r"[\s-]", term))
    words = words[:-1] + "(?:y|ies)" if words.endswith("y") else words + "(?:e?s)?"
    flags = re.I if not re.search(r"[A-Z]{2}|[a-z][A-Z]", term) else re.NOFLAG
    return re.compile(rf"(?<![\w-]){words}(?![\w-])", flags)


def introduced(text: str, match: re.Match[str]) -> bool:
    """Whether a use stands as {term}, in bold or in italics."""
    for mark in re.finditer(r"\{term\}`([^`]*)`|(\*{1,3})(?=\S)([^*\n]+?)\2", text):
        if mark.start() <= match.start() and match.end() <= mark.end():
            return True
    return False


def first_use(term: str, pages: list[str]) -> tuple[str, str, bool] | None:
    """The page of a term's first use, the words around it, and whether it is introduced there."""
    wanted = pattern(term)
    for page in pages:
        text = prose(page)
        match = wanted.search(text)
        if match:
            around = " ".join(source(page)[max(0, match.start() - 40) : match.end() + 40].split())
            return page, around, introduced(text, match)
    return None


@pytest.mark.parametrize("part", ways())
def test_no_term_is_used_before_it_is_introduced(part):
    early = {
        term: found[:2]
        for term in terms()
        if term not in EVERYDAY and (found := first_use(term, ways()[part])) and not found[2]
    }
    assert early == {}


@pytest.mark.parametrize("term", sorted(EVERYDAY))
def test_a_word_of_everyday_english_is_introduced_somewhere(term):
    part = terms()[term]
    way = ways()["foundations" if part == "book" else part]
    texts = [prose(page) for page in way]
    assert any(introduced(text, match) for text in texts for match in pattern(term).finditer(text))


@pytest.mark.parametrize("path", paths.chapters(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_each_function_that_is_used_stands_in_the_list_at_the_end(path):
    notebook = nbformat.read(path, as_version=4)
    wanted = functions.named(notebook)
    lists = [(place, cell.source) for place, cell in enumerate(notebook.cells) if functions.listed(cell)]
    assert [text for _, text in lists] == ([functions.text(wanted)] if wanted else [])
    assert [place for place, _ in lists] == [len(notebook.cells) - 1] * len(lists)


def test_a_function_has_a_sentence():
    for path in paths.chapters():
        wanted = functions.named(nbformat.read(path, as_version=4))
        assert [name for name, does in wanted.items() if len(does.split()) < 2] == [], path.name

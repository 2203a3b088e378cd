"""Each sentence of the front pages is held by a test, or says nothing of what the book, a tool or a test does.

``said.txt`` lists them. A sentence that is new or was changed at its beginning fails here until somebody has said
which test holds it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from voicewire_book import paths

pytestmark = pytest.mark.landing

ROOT = paths.root()
LISTED = [
    part.partition("\n") for part in re.split(r"(?m)^## ", Path(__file__).with_name("said.txt").read_text("utf-8"))[1:]
]
PAGES = {page: [line for line in lines.splitlines() if line] for page, _, lines in LISTED}


def sentences(text: str) -> list[str]:
    """Return the sentences of a page, rows of tables and items of lists too, without headings and blocks."""
    text = re.sub(r"(?ms)^<!-- lanes: .*?^<!-- lanes end -->$", "", text)  # tests/test_lanes.py holds that table
    text = re.sub(r"(?ms)^```.*?^```\n?|^\([\w-]+\)=$|^:.*?$", "", text)
    found = []
    for block in re.split(r"\n\s*\n|\n(?=[-*|#\d])", text):
        line = " ".join(block.split())
        if line and not line.startswith(("#", "![")) and not re.fullmatch(r"[|\-: ]+", line):
            found += re.split(r"(?<=[.!?])\s+(?=[A-Z\"“*`(\[])", line)
    return found


@pytest.mark.parametrize("page", PAGES)
def test_each_sentence_is_listed_and_each_that_is_listed_is_there(page):
    left = sentences((ROOT / page).read_text(encoding="utf-8"))
    gone = []
    for line in PAGES[page]:
        begin = re.split(r" =(?: |$)", line)[0]
        match = next((sentence for sentence in left if sentence.startswith(begin)), None)
        if match is None:
            gone.append(begin)
        else:
            left.remove(match)
    assert gone == [], "no sentence begins so"
    assert left == [], "say in tests/said.txt which test holds it"


def test_each_test_that_is_named_is_there():
    named = {re.split(r" =(?: |$)", line)[1] for lines in PAGES.values() for line in lines} - {""}
    assert len(named) > 50
    for file, _, test in (name.partition("::") for name in named):
        assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), f"{file} has no {test}"


def test_all_front_pages_are_listed():
    book = ROOT / "book"
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *book.glob("*.md"), *book.glob("*/index.md")]
    pages = {path.relative_to(ROOT).as_posix() for path in files}
    assert set(PAGES) == {page for page in pages if not Path(page).name.startswith("_")}

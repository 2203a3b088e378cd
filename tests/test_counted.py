"""Numbers that pages say of the ledgers are counted where they stand."""

import re
from pathlib import Path

import pytest

from voicewire_book import paths
from voicewire_book.ledger import collecting
from voicewire_book.publish.pages import counted

ROOT = Path(paths.root())


def test_each_count_is_of_the_rows_that_it_names(monkeypatch):
    row = {
        "verdict": "reproduced", "basis": "computed", "implements": "", "rival": None, "interval": None,
        "whose": "paper", "kind": "value",
    }  # fmt: skip
    rows = [
        row | {"rival": {"mechanism": "m", "passes": 0.0, "runs": 1}, "interval": [0, 1]},
        row | {"rival": {"mechanism": "m", "passes": 0.0, "runs": 20}},
        row | {"rival": {"none": "why"}, "implements": "why", "verdict": "undecided"},
        row | {"basis": "by-reading", "whose": "ours", "verdict": "contradicted by the paper itself"},
        row | {"verdict": "registered", "rival": {"mechanism": "m"}},
    ]
    monkeypatch.setattr(collecting, "scorecard", lambda base: rows)
    said = counted.fill(" ".join(f"{{count}}`{name}`" for name in counted.COUNTS), ROOT)
    expected = {
        "judged": 4, "by-reading": 1, "built-in": 1, "rivals-run": 2, "rivals-run-once": 1, "rivals-excused": 1,
        "no-rival": 1, "intervals": 1,
    }  # fmt: skip
    assert dict(zip(counted.COUNTS, map(int, said.split()), strict=True)) == expected


def test_a_count_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"nothing to count under 'dogs': it is one of judged, by-reading"):
        counted.fill("{count}`dogs`", ROOT)


def test_every_count_of_the_pages_is_known_and_each_is_used():
    named = {
        name for page in (ROOT / "book").rglob("*.md")
        for name in re.findall(r"\{count\}`([^`]+)`", page.read_text(encoding="utf-8"))
    }  # fmt: skip
    assert named == set(counted.COUNTS)

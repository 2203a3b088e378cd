"""A paper's conclusions are as strong as the weakest row that they need."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from voicewire_book import paths
from voicewire_book.kit import claims
from voicewire_book.kit.claims import ClaimError
from voicewire_book.ledger import headlines
from voicewire_book.ledger.loading import read, studies
from voicewire_book.publish.pages import introduction

CLAIM = """  - {{id: nfc.{0}, where: Table 1, statement: The first number is about one., kind: value, printed: 1,
     tolerance: {{absolute: 1}}, tolerance_reason: One digit.}}
"""
LISTED = """headlines:
  - says: It is about one.
    where: Abstract
    rests_on: [nfc.a, nfc.b]
"""


def answer(base: Path, *rows: tuple[str, str], lacks: str = "") -> headlines.Headline:
    """The answer where the rows a and b have these verdicts and reasons why they could not fail."""
    (base / "data/nfc").mkdir(parents=True, exist_ok=True)
    more = f"    lacks: {lacks}\n" if lacks else ""
    text = "study: nfc\n" + LISTED + more + "claims:\n" + CLAIM.format("a") + CLAIM.format("b")
    (base / "data/nfc/claims.yml").write_text(text, encoding="utf-8")
    given = [
        {"id": f"nfc.{name}", "verdict": verdict, "implements": built}
        for name, (verdict, built) in zip("ab", rows, strict=True)
    ]
    [one] = headlines.answers("nfc", given, base)
    return one


@pytest.mark.parametrize(("strong", "weak"), list(itertools.combinations(headlines.ANSWERS, 2)))
def test_the_weakest_row_decides(tmp_path, strong, weak):
    for rows, deciding in ((((strong, ""), (weak, "")), "nfc.b"), (((weak, ""), (strong, "")), "nfc.a")):
        one = answer(tmp_path, *rows)
        assert (one.verdict, one.answer, one.decided_by) == (weak, headlines.ANSWERS[weak], [deciding])


def test_what_could_not_fail_decides_nothing(tmp_path):
    one = answer(tmp_path, ("reproduced", "we built it"), ("undecided", ""))
    assert (one.verdict, one.decided_by) == ("undecided", ["nfc.b"])
    one = answer(tmp_path, ("reproduced", "we built it"), ("reproduced", "and this"))
    assert (one.verdict, one.answer, one.decided_by) == ("", headlines.IMPLEMENTS, ["nfc.a", "nfc.b"])


def test_what_no_row_covers_keeps_an_answer_from_being_whole(tmp_path):
    rows = ("reproduced", ""), ("reproduced", "")
    assert answer(tmp_path, *rows).verdict == "reproduced"
    assert answer(tmp_path, *rows, lacks="The energy.").verdict == "partly"
    assert answer(tmp_path, ("not reproduced", ""), rows[1], lacks="The energy.").verdict == "not reproduced"


def test_a_row_that_waits_leaves_the_answer_open(tmp_path):
    one = answer(tmp_path, ("reproduced", ""), ("stale", ""))
    assert (one.verdict, one.decided_by) == ("", ["nfc.b"])


def test_a_headline_rests_on_rows_that_are_there(tmp_path):
    answer(tmp_path, ("reproduced", ""), ("reproduced", ""))
    file = tmp_path / "data/nfc/claims.yml"
    file.write_text(file.read_text(encoding="utf-8").replace("nfc.b]", "nfc.z]"), encoding="utf-8")
    with pytest.raises(ClaimError, match="a headline rests on nfc.z, which is no claim of this ledger"):
        headlines.answers("nfc", [], tmp_path)


@pytest.mark.parametrize("study", studies())
def test_each_first_page_tells_every_conclusion(study):
    listed = headlines.answers(study, claims.scorecard(study=study))
    page = introduction.conclusions(paths.root(), lambda target: None, study)
    assert 4 <= len(listed) <= 12
    assert all(each.says in page and each.answer in page for each in listed)
    assert all(each.lacks.rstrip(".") in page for each in listed)
    assert f"{{gather}} conclusions_{study}" in (paths.root() / "book" / study / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("study", studies())
def test_no_conclusion_rests_on_a_question_of_ours(study):
    known = read(study)
    for each in headlines.answers(study, claims.scorecard(study=study)):
        assert {known[identifier].whose for identifier in each.rests_on} == {"paper"}, each.says

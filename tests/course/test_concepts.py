"""The questions on what is often misunderstood: whole, spread over the parts, in the page and in a course."""

from __future__ import annotations

import csv
from collections import Counter

import numpy as np
import pytest

from voicewire_book import paths
from voicewire_book.course import teach
from voicewire_book.kit import concepts
from voicewire_book.publish.pages import gather

pytestmark = pytest.mark.landing

ROOT = paths.root()
CHAPTERS = {f"{path.parent.name}/{path.stem}": path for path in paths.chapters()}


@pytest.mark.parametrize("item", concepts.ITEMS, ids=lambda item: item.name)
def test_each_question_has_one_right_option_and_a_chapter(item):
    assert item.chapter in CHAPTERS
    assert len(set(item.options)) == 4 and 0 <= item.right < 4
    assert len(item.why.split()) > 15 and item.options[item.right] not in item.why


def test_there_are_twenty_and_every_study_has_some():
    assert len(concepts.ITEMS) == len({item.name for item in concepts.ITEMS}) == 20
    assert {item.part for item in concepts.ITEMS} == {*paths.STUDIES, "foundations"}
    assert len(concepts.PILOT) == 10 and {item.part for item in concepts.PILOT} == {*paths.STUDIES, "foundations"}
    assert set(Counter(item.letter for item in concepts.ITEMS).values()) == {5}  # no letter pays for a guess


def test_what_can_be_computed_in_the_answers_is_so():
    n = np.arange(64)
    assert np.allclose(np.cos(2 * np.pi * 5 / 8 * n), np.cos(2 * np.pi * 3 / 8 * n))  # 5 kHz looks like 3 kHz
    assert {2.0**k * 0.5 ** (k + 1) for k in range(50)} == {0.5}  # every term of the waiting is the same
    assert round(20_000 / 1460) == 14  # segments in the block that the capture shows


def test_the_page_asks_all_and_folds_the_answers():
    page = gather.text("concepts", ROOT, lambda target: target)
    assert page.count(":class: dropdown") == 20 and page.count("- (d) ") == 20
    assert "No chapter" in gather.text("concepts", ROOT, lambda target: None)


def test_a_course_has_the_questions_their_answers_and_a_trial(tmp_path, monkeypatch):
    monkeypatch.setattr(teach, "PIECES", [teach._concepts])
    made = teach.write_course(tmp_path / "course", None, ["nfc", "echo"], pdf=False, tell=lambda line: None)
    sheet = (made / "to-students" / "concepts" / "nfc.html").read_text(encoding="utf-8")
    asked = [item for item in concepts.ITEMS if item.part == "nfc"]
    assert all(item.options[0] in sheet and item.why not in sheet for item in asked)
    answers = (made / "for-you" / "concepts.html").read_text(encoding="utf-8")
    assert all(item.chapter in answers for item in asked)
    with (made / "for-you" / "pilot" / "time-log.csv").open(encoding="utf-8") as file:
        logged = [row["chapter"] for row in csv.DictReader(file)]
    assert logged == [name for name in CHAPTERS if name.startswith(("nfc/", "echo/"))]
    assert "____" in (made / "for-you" / "pilot" / "consent.html").read_text(encoding="utf-8")
    assert (made / "for-you" / "pilot" / "questions.html").read_text(encoding="utf-8").count("<ol type") == 10

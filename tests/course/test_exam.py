"""Exam papers: a number asked is found in two ways, papers differ by the seed, and no step stands in a paper."""

from __future__ import annotations

import hashlib
import math
import re
from html import unescape

import pytest

from voicewire_book import paths
from voicewire_book.course import exam, teach
from voicewire_book.course.markup import Markup
from voicewire_book.kit.questions import Question, Step

pytestmark = pytest.mark.landing

ROOT = paths.root()
PARTS = [part.name for part in paths.PARTS if paths.chapters(part.name)]
SEEDS = [hashlib.sha256(b"%d" % n).hexdigest()[:32] for n in range(40)]


def agree(question: Question) -> bool:
    """Whether both ways gave one number; the approximations that are asked for are good to a hundredth."""
    return math.isclose(question.answer, question.again, rel_tol=0.01, abs_tol=1e-9)


@pytest.mark.parametrize("part", PARTS)
def test_each_number_is_found_in_two_ways(part):
    """By the steps of the scheme, and by the package, a simulation, a sum or a search."""
    for seed in SEEDS:
        asked = exam.questions(part, seed)
        assert asked
        assert [q.title for q in asked if not agree(q)] == [], seed
        assert not agree(Question("", "", (), asked[0].answer, asked[0].answer * 1.1))
        assert all(math.isfinite(q.answer) and all(step.points > 0 for step in q.steps) for q in asked)
        assert len({q.title for q in asked}) == len(asked)
        assert sum(q.minutes for q in asked) <= 60


@pytest.mark.parametrize("part", PARTS)
def test_the_seed_makes_the_numbers_and_nothing_else_does(part):
    texts = [[q.text for q in exam.questions(part, seed)] for seed in SEEDS]
    assert texts == [[q.text for q in exam.questions(part, seed)] for seed in SEEDS]
    for asked in zip(*texts, strict=True):
        assert len(set(asked)) > len(SEEDS) / 3  # a neighbour's paper, or last year's, is another one
        plain = {re.sub(r"[\d.]+", "", re.sub(r"[-−]", "", text)) for text in asked}
        assert len(plain) < 4  # the question stays; a codec's name may be drawn too


@pytest.mark.parametrize("part", PARTS)
def test_no_step_of_the_scheme_stands_in_paper_or_booklet(part):
    markup = Markup(ROOT, ROOT / "book", {})
    asked = exam.questions(part, SEEDS[7])
    given = exam.paper(part, asked, markup), exam.booklet(part, asked, markup)
    key = exam.scheme(part, asked, markup)
    for question in asked:
        assert markup.html(question.text) in given[0]
        assert markup.html(question.text) not in given[1]
        for step in question.steps:
            words = markup.html(step.words, inline=True)
            assert words in key
            assert not any(words in text for text in given)
    total = str(sum(q.points for q in asked))
    assert all(f"{total} points" in text for text in (given[0], key)) and f"of {total}" in given[1]


def test_what_a_question_is_worth_is_what_its_steps_are():
    question = Question("Slots", "How many?", (Step(2, "Eleven."), Step(1, "In ms.")))
    assert (question.points, question.minutes) == (3, 4)


def test_a_part_without_questions_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(exam, "questions", lambda part, seed: [])
    monkeypatch.setattr(teach, "PIECES", [teach._exams])
    told: list[str] = []
    teach.write_course(tmp_path / "course", None, ["nfc"], pdf=False, tell=told.append)
    assert "no exam for nfc: a part's questions stand in its exam.py" in told


def test_paper_booklet_and_scheme_lie_where_they_belong(tmp_path, monkeypatch):
    monkeypatch.setattr(teach, "PIECES", [teach._exams])
    made = teach.write_course(tmp_path / "course", pdf=False, tell=lambda line: None)
    papers = {path.name for path in (made / "exam").iterdir()}
    assert papers == {f"{part}-{what}.html" for part in PARTS for what in ("paper", "booklet")}
    schemes = {path.name for path in (made / "for-you" / "exams").iterdir()}
    assert schemes == {f"{part}-marking-scheme.html" for part in PARTS}
    again = teach.write_course(tmp_path / "again", None, ["nfc"], pdf=False, tell=lambda line: None)
    one, other = ((folder / "exam" / "nfc-paper.html").read_text(encoding="utf-8") for folder in (made, again))
    assert unescape(one) != unescape(other)

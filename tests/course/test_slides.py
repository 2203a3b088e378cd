"""How long a deck may be, and what a deck that was too long has given up: it stands in the speaker's notes."""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise

import nbformat
import pytest

from voicewire_book import paths
from voicewire_book.course import slides
from voicewire_book.course.handout import student_copy
from voicewire_book.course.markup import Markup, blocks, labels
from voicewire_book.ledger.vocabulary import MIME

pytestmark = pytest.mark.landing

NAMED = pytest.mark.parametrize("chapter", paths.chapters(), ids=lambda path: f"{path.parent.name}/{path.stem}")


@NAMED
def test_a_deck_is_a_lecture_and_every_section_has_a_slide(chapter):
    notebook = nbformat.read(chapter, as_version=4)
    markup = Markup(paths.root(), chapter.parent, labels(paths.root()))
    made = slides.slides(notebook, markup)
    assert len(made) <= slides.MOST
    cells = [cell for cell in student_copy(notebook).cells if cell.cell_type == "markdown"]
    found = [block for cell in cells for block in blocks(cell.source)]
    sections = [block.source for block in found if block.kind == "heading" and block.name in {"1", "2"}]
    titles = [slide.title for slide in made]
    told = [section for section in sections if section not in slides.LEFT_OUT]
    assert len(told) > 3
    followed = [a.source for a, b in pairwise(found) if b.kind == "heading" and b.name == "3"]
    assert [s for s in told if s not in followed and markup.html(s, inline=True) not in titles] == []
    assert all(slide.parts for slide in made[1:])


@NAMED
def test_what_a_deck_gives_up_stands_in_its_notes_and_sums_are_those_of_the_cells(chapter):
    notebook = nbformat.read(chapter, as_version=4)
    markup = Markup(paths.root(), chapter.parent, labels(paths.root()))
    whole = slides._made(student_copy(notebook), markup)
    short = slides._made(student_copy(notebook), markup, slides.STEPS)
    everything = "".join(part for slide in short for part in (*slide.parts, *slide.notes))
    for slide in whole:
        for part in slide.parts:
            if part.startswith("<table class") or 'class="number"' in part:
                continue
            assert part in everything or re.sub(r"^<div[^>]*>|</div>$", "", part) in everything, unescape(part)[:80]
    judged = [len(o["data"][MIME]) for c in notebook.cells for o in c.get("outputs", []) if MIME in o.get("data", {})]
    shown = [part for slide in short for part in slide.parts if "<th>claims of " in part]
    assert [int(re.search(r"claims of (\d+)", part)[1]) for part in shown] == judged
    assert [sum(map(int, re.findall(r"<td>(\d+)</td>", part))) for part in shown] == judged

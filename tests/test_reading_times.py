"""How long a chapter takes to read follows from its notebook, and what the book says of a course from the chapters."""

from __future__ import annotations

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from voicewire_book import paths
from voicewire_book.publish.pages import introduction, reading

pytestmark = pytest.mark.landing

ROOT = paths.root()


def of(*cells: nbformat.NotebookNode) -> reading.Minutes:
    return reading.minutes(new_notebook(cells=[*cells]))


@pytest.mark.parametrize("path", paths.chapters(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_chapter_says_how_long_it_takes(path):
    """What is typed may be off by one step of rounding, so that a word more or less changes nothing."""
    notebook = nbformat.read(path, as_version=4)
    taken, told = reading.minutes(notebook), reading.said(notebook)
    help_ = f"python -m voicewire_book.publish.pages writes {taken.rounded}"
    meant = (1 - reading.SPREAD) * taken.reading, (1 + reading.SPREAD) * taken.reading, taken.exercises
    assert all(abs(one - other) <= reading.ROUNDED for one, other in zip(told, meant, strict=True)), help_
    assert all(each % reading.ROUNDED == 0 for each in told)


def test_the_rule_is_the_one_that_the_page_tells():
    text = (ROOT / "book/how-to-use.md").read_text(encoding="utf-8")
    told = re.search(
        r"(\d+) words a minute, (\d+) minutes for a formula that is set apart, (\d+) seconds for a line of code, "
        r"a minute for a figure and (\d+) for one with sliders; .*? a quarter less to a quarter more",
        text,
    )
    assert told
    rule = reading.WORDS_A_MINUTE, reading.FORMULA_MINUTES, 60 // reading.LINES_A_MINUTE, reading.SLIDER_MINUTES
    assert tuple(map(int, told.groups())) == rule
    assert reading.SPREAD == 0.25
    marks = re.search(r"(\d+) minutes if it is marked easy, (\d+) if medium, (\d+) if hard; .*? counts (\d+)\.", text)
    assert marks
    assert [int(mark) for mark in marks.groups()] == [*reading.EXERCISE_MINUTES.values(), reading.STAGE_MINUTES]


def test_words_figures_code_and_formulas_are_counted():
    picture = new_output("display_data", {"image/png": ""})
    slider = new_output("display_data", {"text/html": '<div class="vw-slider">'})
    assert of(new_markdown_cell("word " * 300)).reading == 3
    assert of(new_markdown_cell("![A drawing of three words](a.svg)")).reading == 1
    assert of(new_code_cell("", outputs=[picture, slider])).reading == 1 + 3
    assert of(new_code_cell("a = 1\n\nb = 2"), new_markdown_cell("$$\na\n$$ $$b$$")).reading == 2 / 10 + 2 * 2


def test_what_is_folded_hidden_or_a_lab_is_not_read():
    words = "word " * 400
    start, end = new_markdown_cell("```{solution-start} a\n```"), new_markdown_cell("```{solution-end}\n```")
    folded = [start, new_markdown_cell(words), new_code_cell("x = 1"), end]
    hidden = [new_code_cell("x = 1", metadata={"tags": [tag]}) for tag in ("hide-input", "check", "remove-cell")]
    lab = [new_markdown_cell(f"## Lab: a filter\n\n{words}\n\n**Stage 1.** {words}"), new_code_cell("x = 1")]
    assert of(*folded, *hidden, *lab, new_markdown_cell("## Summary\n" + "word " * 198)).reading == 2.0


def test_exercises_count_by_their_mark_and_labs_by_their_stages():
    marked = [new_markdown_cell(f"```{{exercise}} A title (by hand, {mark})\n```") for mark in ("easy", "hard")]
    stage = new_markdown_cell("## Lab: a filter\n\n**Stage 1.** One.\n\n**Stage 2.** Two.")
    assert of(*marked, stage, new_markdown_cell("```{exercise} The lab's stages\n```")).exercises == 5 + 20 + 2 * 10
    with pytest.raises(ValueError, match="'tough': it is one of easy, medium, hard"):
        of(new_markdown_cell("```{exercise} A title (derive, tough)\n```"))


@pytest.mark.parametrize("path", paths.chapters(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_each_exercise_has_a_mark(path):
    cells = nbformat.read(path, as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    titles = re.findall(r"^[`:]{3,}\{exercise(?:-start)?\} (.*)$", text, re.M)
    unmarked = [title for title in titles if not re.search(r"\([\w ]+, (?:easy|medium|hard)\)$", title)]
    assert unmarked in ([], ["The lab's stages"])


def test_what_is_written_is_what_is_counted(tmp_path):
    chapter = tmp_path / "notebooks" / "nfc" / "01_a.ipynb"
    chapter.parent.mkdir(parents=True)
    line = new_markdown_cell("**Time**: 90 minutes to read, 5 seconds to run.\n\n" + "word " * 2000)
    task = new_markdown_cell("```{exercise} A title (by hand, medium)\n```")
    nbformat.write(new_notebook(cells=[line, task]), chapter)
    assert reading.write(tmp_path) == ["notebooks/nfc/01_a.ipynb"]
    written = nbformat.read(chapter, as_version=4)
    assert written.cells[0].source.startswith(
        "**Time**: 15 to 25 minutes to read (an estimate), 10 for the exercise, 5 seconds to run."
    )
    assert reading.said(written) == (15, 25, 10)
    assert reading.write(tmp_path) == []
    with pytest.raises(ValueError, match="N to O minutes to read"):
        reading.said(new_notebook(cells=[task]))


def test_the_course_is_the_sum_of_its_chapters():
    """Of chapters alone: no assignment is among them, and no part counts a foundation."""
    told = re.findall(
        r"^\| \{doc\}`.*? </book/(\w+)/index>` \| ([\d.]+) \| ([\d.]+) \| (\d+) \| ([\d.]+) \|$",
        reading.courses(ROOT),
        re.M,
    )
    assert [name for name, *_ in told] == [part.name for part in paths.PARTS if paths.chapters(part.name)]
    for name, read, worked, weeks, load in told:
        each = [reading.minutes(nbformat.read(path, as_version=4)) for path in paths.chapters(name)]
        hours = sum(one.reading for one in each) / 60, sum(one.exercises for one in each) / 60
        assert (float(read), float(worked)) == pytest.approx(hours, abs=0.051)
        assert float(load) == pytest.approx(sum(hours) / int(weeks), abs=0.051)
        assert float(load) <= reading.WEEK_HOURS or int(weeks) == len(each)
    assert "{gather} courses" in (ROOT / "book/instructors.md").read_text(encoding="utf-8")


def test_a_parts_table_adds_its_chapters_up():
    rows = introduction.times(ROOT, lambda target: target, "nfc").splitlines()[2:]
    assert len(rows) == len(paths.chapters("nfc")) + 1
    whole = reading.total(paths.chapters("nfc"))
    assert rows[-1] == f"| *together* | {whole.reading / 60:.1f} h | {whole.exercises / 60:.1f} h | |"


def test_a_part_takes_as_many_weeks_as_its_work_fills_and_no_more_than_it_has_chapters():
    assert [reading.weeks(reading.Minutes(60.0 * hours, 0), 3) for hours in (1, 8, 8.1, 16, 30)] == [1, 1, 2, 2, 3]

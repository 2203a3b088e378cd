"""Students' copies: no solution leaves the house."""

from __future__ import annotations

import importlib.util

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from voicewire import cli
from voicewire_book.course import handout
from voicewire_book.course.key import GradingError

pytestmark = pytest.mark.night

needs_nbgrader = pytest.mark.needs("nbgrader")


def code(source, tags=(), outputs=()):
    return new_code_cell(source, metadata={"tags": list(tags)}, outputs=list(outputs), execution_count=1)


def chapter():
    shown = new_output("stream", name="stdout", text="secret output\n")
    return new_notebook(
        cells=[
            new_markdown_cell("# Slots"),
            code("x = 2", outputs=[new_output("stream", name="stdout", text="kept\n")]),
            new_markdown_cell("```{exercise} Slots\n:label: nfc-ex-slots\nHow many?\n```"),
            new_markdown_cell("```{solution-start} nfc-ex-slots\n:class: dropdown\n```"),
            new_markdown_cell("The secret reason."),
            code("secret = 4\nanswer_slots, answer_more = secret, [secret]", ["solution"], [shown]),
            code("def answer_function(n):\n    return 'secret'", ["solution"]),
            code("check(\"nfc-ex-slots\", answer_slots)", ["check"], [shown]),
            new_markdown_cell("```{solution-end}\n```"),
            new_markdown_cell("Goodbye."),
        ]
    )


def test_where_the_place_to_answer_is_in_view_the_fold_leaves_nothing():
    """The form of the chapters: the question, a cell, its check, and then a solution that answers by another name."""
    cells = [
        new_markdown_cell("```{exercise} Slots\n:label: nfc-ex-slots\nHow many?\n```"),
        code("answer_slots = None  # your answer"),
        code("check(\"nfc-ex-slots\", answer_slots)", ["check"]),
        new_markdown_cell("```{solution-start} nfc-ex-slots\n:class: dropdown\n```"),
        new_markdown_cell("The secret reason."),
        code("secret = 4", ["solution"]),
        code("solved_slots = secret\ncheck(\"nfc-ex-slots\", solved_slots)", ["solution"]),
        new_markdown_cell("```{solution-end}\n```"),
    ]
    copy = handout.student_copy(new_notebook(cells=cells))
    assert [cell.source for cell in copy.cells] == [cell.source for cell in cells[:3]]


def test_a_students_chapter_has_no_solution_and_keeps_its_checks():
    copy = handout.student_copy(chapter())
    text = nbformat.writes(copy)
    assert "secret" not in text
    assert "solution" not in text
    assert [cell.source for cell in copy.cells] == [
        "# Slots",
        "x = 2",
        "```{exercise} Slots\n:label: nfc-ex-slots\nHow many?\n```",
        "answer_slots = ...  # your answer\nanswer_more = ...  # your answer",
        "answer_function = ...  # your answer",
        "check(\"nfc-ex-slots\", answer_slots)",
        "Goodbye.",
    ]
    assert copy.cells[1].outputs[0].text == "kept\n"
    assert "secret" in nbformat.writes(chapter())  # the source is left alone
    unclosed = chapter()
    del unclosed.cells[8]
    with pytest.raises(GradingError, match="no {solution-end}"):
        handout.student_copy(unclosed)


def graded(source, grade_id, points=None, *, solution=False):
    made = {"grade": points is not None, "grade_id": grade_id, "locked": not solution, "schema_version": 3}
    made |= {"solution": solution, "task": False} | ({"points": points} if points is not None else {})
    return new_code_cell(source, metadata={"nbgrader": made})


def assignment():
    return new_notebook(
        cells=[
            new_markdown_cell("# Assignment"),
            graded(
                "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION", "q1", solution=True
            ),
            graded(
                "assert double(2) == 4\n### BEGIN HIDDEN TESTS\nassert double(-3) == -6\n### END HIDDEN TESTS",
                "q1-test",
                2,
            ),
            graded("answer = ...\n### BEGIN SOLUTION\nanswer = 42\n### END SOLUTION", "q2", solution=True),
            graded("assert answer == 42", "q2-test", 3),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}},
    )


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    base = tmp_path_factory.mktemp("checkout")
    folder = base / "notebooks" / "nfc"
    folder.mkdir(parents=True)
    (base / "notebooks" / "echo").mkdir()
    (base / "data").mkdir()
    (base / "pyproject.toml").touch()
    nbformat.write(chapter(), folder / "01_slots.ipynb")
    nbformat.write(chapter(), base / "notebooks" / "echo" / "01_echo.ipynb")
    (base / "notebooks" / "voip").mkdir()  # a study without an assignment
    nbformat.write(chapter(), base / "notebooks" / "voip" / "01_voip.ipynb")
    nbformat.write(assignment(), folder / "assignment.ipynb")
    other = assignment()  # with the ids of nfc's: every study has a q1
    other.cells[2].source = "assert double(2) == 5"
    other.cells[4].source = "assert answer == 43"
    nbformat.write(other, base / "notebooks" / "echo" / "assignment.ipynb")
    return base


@pytest.fixture(scope="module")
def released(checkout, tmp_path_factory):
    out = tmp_path_factory.mktemp("students")
    made = handout.write_students(out, base=checkout)
    assert [path.relative_to(out).as_posix() for path in made] == [
        "echo/01_echo.ipynb", "echo/assignment.ipynb", "nfc/01_slots.ipynb", "nfc/assignment.ipynb",
        "voip/01_voip.ipynb",
    ]  # fmt: skip
    return out / "nfc" / "assignment.ipynb"


@needs_nbgrader
@pytest.mark.slow
def test_a_released_assignment_holds_neither_solutions_nor_hidden_tests(released, checkout):
    text = released.read_text(encoding="utf-8")
    assert "2 * x" not in text
    assert "42" not in nbformat.reads(text, as_version=4).cells[3].source
    assert "HIDDEN" not in text
    assert "double(-3)" not in text
    assert "import nbgrader" not in text
    with pytest.raises(GradingError, match="is there already"):
        handout.write_students(released.parents[1], ["nfc"], base=checkout)


@needs_nbgrader
@pytest.mark.slow
def test_command_line(checkout, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("VOICEWIRE_ROOT", str(checkout))
    assert cli.main(["student", str(tmp_path / "out"), "echo"]) == 0
    assert (tmp_path / "out" / "echo" / "01_echo.ipynb").is_file()
    assert cli.main(["student", str(tmp_path / "out"), "piano"]) == 1
    assert "there is no study 'piano': choose from echo, nfc" in capsys.readouterr().err


def test_without_nbgrader_the_message_says_what_to_install(checkout, tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(GradingError, match=r"pip install 'voicewire\[grading\]'"):
        handout.write_students(tmp_path / "out", base=checkout)
    assert not (tmp_path / "out").exists()
    assert handout.write_students(tmp_path / "out", ["voip"], base=checkout)

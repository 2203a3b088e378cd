"""What was handed in and is no notebook, whose assignment a notebook answers, and the number that Moodle packs."""

from __future__ import annotations

import csv
import io
import json
from itertools import combinations
from pathlib import Path, PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire_book import paths
from voicewire_book.course import marks, submission
from voicewire_book.course.grading import Question, Report
from voicewire_book.course.key import read_keys

KEYS = read_keys(paths.root())
WRONG = ["assignment.zip", "answers.py", "assignment.ipynb.txt", "a.html", "a.IPYNB", ".ipynb_checkpoints/a.ipynb", ""]
NAMED = ["{}", "J. {}", "{}_10{}_assignsubmission_file_"]


@pytest.mark.parametrize("named", NAMED)
@pytest.mark.parametrize("wrong", WRONG)
def test_a_student_without_a_notebook_is_not_lost(tmp_path, named, wrong):
    folders = [tmp_path / named.format(name, number) for number, name in enumerate(["Ada", "Bo"])]
    for folder, file in zip(folders, ["a.ipynb", wrong], strict=True):
        (folder / file if not file else (folder / file).parent).mkdir(parents=True, exist_ok=True)
        if file:
            (folder / file).write_text("{}", encoding="utf-8")
    (tmp_path / "README.md").write_text("nobody's", encoding="utf-8")
    passed: list[Path] = []
    files = submission.find(tmp_path, passed)
    assert files == [folders[0] / "a.ipynb"]
    assert tmp_path / "README.md" in passed and len(passed) == 2
    names = [path.relative_to(tmp_path) for path in passed]
    seen = submission.without(tmp_path, [files[0].relative_to(tmp_path)], names)
    assert list(seen) == [(folders[1] / wrong).relative_to(tmp_path)]
    what = f"only {Path(wrong).name}" if wrong else "the folder is empty"
    assert list(seen.values()) == [f"no notebook (.ipynb) was handed in: {what}"]


@pytest.mark.parametrize(
    ("files", "passed", "lost"),
    [
        (["A_1_assignsubmission_file_/a.ipynb"], ["A_1_assignsubmission_onlinetext_/o.html"], []),
        (["A_1_assignsubmission_file_/a.ipynb"], ["B_2_assignsubmission_file.zip"], ["B_2_assignsubmission_file.zip"]),
        (["A_1_assignsubmission_file_/a.ipynb"], ["feedback/read.txt", "__MACOSX/x/._a.ipynb"], []),
        (["adalove_1_9_a.ipynb"], ["adalove_1_8_data.csv", "bo_2_7_a.zip"], ["bo_2_7_a.zip"]),
        (["ada/a.ipynb"], ["ada/data.csv", "bo/x.py", ".git/config"], ["bo/x.py"]),
    ],
)
def test_whose_was_passed_over_is_told_by_platforms_names(tmp_path, files, passed, lost):
    seen = submission.without(tmp_path, [PurePath(name) for name in files], [PurePath(name) for name in passed])
    assert [path.as_posix() for path in seen] == lost


def _submitted(study: str, kept: set[str], change: str) -> list[submission.SubmittedCell]:
    cells = [cell for cell in KEYS[study].cells if cell.answer or cell.id in kept]
    return [
        submission.SubmittedCell(cell.id, cell.code, (cell.source if cell.answer else cell.visible) + change, place)
        for place, cell in enumerate(cells, 1)
    ]


@pytest.mark.parametrize("study", KEYS)
@given(data=st.data())
def test_an_assignment_is_known_by_its_answers_alone(study, data):
    """Whatever locked cells were deleted, and all that is left was edited."""
    locked = [cell.id for cell in KEYS[study].cells if not cell.answer]
    kept = data.draw(st.sets(st.sampled_from(locked)))
    assert submission.identify(_submitted(study, kept, "\n# mine"), KEYS).study == study


@pytest.mark.parametrize("pair", list(combinations(["echo", "nfc", "pharyngeal", "transport"], 2)))
def test_names_that_assignments_share_decide_nothing(pair):
    cells = [submission.SubmittedCell("a1", True, "pass", 1)]
    with pytest.raises(submission.SubmissionError, match=f"the assignments {', '.join(pair)} share"):
        submission.identify(cells, {study: KEYS[study] for study in pair})
    with pytest.raises(submission.SubmissionError, match="no cell of any assignment"):
        submission.identify([submission.SubmittedCell("x", True, json.dumps(pair), 1)], KEYS)


@given(st.lists(st.integers(1, 10**8), min_size=1, max_size=6, unique=True), st.booleans())
def test_moodles_worksheet_is_read_back_as_moodle_does(numbers, whole):
    """Its importer finds the heads by name; what follows 'Participant ' in the first is the number that it packed."""
    files = [f"Ana B_{number}_assignsubmission_file_/a.ipynb" for number in numbers]
    reports = [Report(file, "nfc", [Question("q1", 2.0, 3.0, "lost")]) for file in files[whole:]]
    reports += [Report(file, None, problems=["no notebook"]) for file in files[:whole]]
    made = marks.collected("moodle", reports)
    rows = list(csv.DictReader(io.StringIO(marks.table("moodle", made.most, made.rows, made.reasons), newline="")))
    assert sorted(int(row["Identifier"].removeprefix("Participant ")) for row in rows) == sorted(numbers)
    if made.most:
        assert {row["Last modified (grade)"] for row in rows} == {"-"}
        told = {(row["Grade"], row["Feedback comments"]) for row in rows}
        assert told <= {("2", "q1: lost"), ("", "no notebook")} and len(told) == min(len(rows), 1 + whole)

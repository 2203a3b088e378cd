"""The real assignments: their own solutions earn every point, an empty copy earns none."""

from __future__ import annotations

import importlib.util
import shutil

import pytest

from voicewire import grading, paths

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("nbgrader") is None, reason="needs the extra 'grading' (nbgrader)"
)
STUDIES = sorted(path.parent.name for path in paths.root().glob("notebooks/*/assignment.ipynb"))


def test_every_study_has_an_assignment():
    assert sorted(paths.STUDIES) == STUDIES


@pytest.mark.parametrize("study", STUDIES)
def test_solutions_earn_every_point_and_an_empty_copy_none(study, tmp_path):
    written = grading.write_students(tmp_path / "student", [study])
    assert {path.name for path in written} > {grading.ASSIGNMENT}
    work = tmp_path / "work"
    work.mkdir()
    shutil.copy(tmp_path / "student" / study / grading.ASSIGNMENT, work / "empty.ipynb")
    shutil.copy(paths.root() / "notebooks" / study / grading.ASSIGNMENT, work / "solved.ipynb")
    empty, solved = grading.grade(work, timeout=120)
    assert (empty.study, solved.study) == (study, study)
    assert empty.problems == []
    assert empty.questions
    assert [q.points for q in empty.questions] == [0.0] * len(empty.questions)
    assert [q.points for q in solved.questions] == [q.max_points for q in solved.questions]
    assert solved.max_points >= 9

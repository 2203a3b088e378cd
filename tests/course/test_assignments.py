"""The real assignments: their solutions earn every point, empty copies and forgeries none, and nbgrader agrees."""

from __future__ import annotations

import math
import shutil
import warnings
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest

from voicewire_book import paths
from voicewire_book.course import grading, handout
from voicewire_book.course.key import ASSIGNMENT, read_key

pytestmark = pytest.mark.night

STUDIES = sorted(path.parent.name for path in paths.root().glob(f"notebooks/*/{ASSIGNMENT}"))
needs_linux = pytest.mark.needs("linux", "bubblewrap")
needs_nbgrader = pytest.mark.needs("nbgrader")

#: What a function might return in the hope that a test can't tell.
FORGERIES: list[Any] = [
    *(None, True, False, 0, 1, -1, math.nan, math.inf, -math.inf, 10**400, "", "a", b"", (), [], {}, set(), [[]], 0j),
    *(np.zeros(shape) for shape in (0, (0, 1), (1, 0), (0, 5), ())),
    *(np.full(shape, np.nan) for shape in (1, (5, 1))),
    *((np.zeros((0, 1)),) * n for n in (1, 2, 3)),
    *((0, 0.125, np.zeros((0, 1))), (1, -0.5, np.zeros((0, 1))), np.ma.masked_all(3), range(0), np.float64("nan")),
]


def source(study: str) -> Path:
    return paths.root() / "notebooks" / study / ASSIGNMENT


def test_every_study_has_an_assignment():
    assert set(STUDIES) >= set(paths.STUDIES)


@pytest.mark.parametrize("study", STUDIES)
def test_no_constant_earns_a_point(study):
    """Each function in turn returns one thing whatever it is asked; the others are right."""
    key = read_key(source(study))
    right: dict[str, Any] = {"__name__": "__main__"}
    for cell in key.cells:
        if cell.code and not cell.test:
            exec(cell.source, right)
    tests = {cell.id: cell.source for cell in key.cells if cell.test}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text in tests.values():
            exec(text, dict(right))
        for name in key.asked:
            for forged in FORGERIES:

                class Constant:
                    """Stands for a function and for a class whose methods are such functions."""

                    def __init__(self, value: Any = forged) -> None:
                        self.value = value

                    def __call__(self, *_: object, **__: object) -> Any:
                        return self.value

                    def __getattr__(self, _: str) -> Any:
                        return Constant(self.value)

                made: Any = Constant()
                if isinstance(right[name], type):
                    made.value = Constant()
                passed = [i for i, text in tests.items() if name in text and _passes(text, {**right, name: made})]
                assert not passed, f"{name} that returns {forged!r} passes {passed}"


def _passes(text: str, names: dict[str, Any]) -> bool:
    try:
        exec(text, names)
    except Exception:
        return False
    return True


def hand_in(course: Path, study: str) -> None:
    """Write a perfect, a blank and a partly right notebook into nbgrader's folders, from what a student gets."""
    released = nbformat.read(course / "release" / "work" / ASSIGNMENT, as_version=4)
    right = {cell.id: cell.source for cell in read_key(source(study)).cells if cell.answer}
    for name, count in (("perfect", len(right)), ("blank", 0), ("partly", len(right) // 2)):
        notebook = nbformat.from_dict(released)
        known = list(right)[:count]
        for cell in notebook.cells:
            grade_id = cell.metadata["nbgrader"]["grade_id"]
            cell.source = right[grade_id] if grade_id in known else cell.source
        folder = course / "submitted" / name / "work"
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / ASSIGNMENT)


@needs_linux
@needs_nbgrader
@pytest.mark.slow
@pytest.mark.parametrize("study", STUDIES)
def test_nbgrader_gives_honest_work_the_same_marks(study, tmp_path):
    place = tmp_path / "source" / "work" / ASSIGNMENT
    place.parent.mkdir(parents=True)
    shutil.copy(source(study), place)
    handout.nbgrader(tmp_path, "generate_assignment", "work", "--create", "--force")
    hand_in(tmp_path, study)
    handout.nbgrader(tmp_path, "autograde", "work", "--create")
    from nbgrader.api import Gradebook

    theirs = {}
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        for name in ("perfect", "blank", "partly"):
            grades = book.find_submission_notebook("assignment", "work", name).grades
            theirs[name] = {grade.name: grade.score for grade in grades}
    reports = grading.grade(tmp_path / "submitted", timeout=300)
    ours = {Path(report.file).parts[0]: {q.id: q.points for q in report.questions} for report in reports}
    assert ours == theirs
    [perfect] = [report for report in reports if report.file.startswith("perfect")]
    assert perfect.points == perfect.max_points >= 9
    assert set(ours["blank"].values()) == {0.0}
    assert 0 < sum(ours["partly"].values()) < perfect.points
    assert not [report.problems for report in reports if report.problems]

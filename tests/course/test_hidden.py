"""Hidden tests whose inputs come from the instructor's seed: fair to a right answer, hard on one that was looked up."""

from __future__ import annotations

import hashlib
import re
import warnings
from typing import Any

import nbformat
import pytest

from voicewire import cli
from voicewire_book import paths
from voicewire_book.course import grading, hidden, teach
from voicewire_book.course.key import ASSIGNMENT, GradingError, read_key, read_keys

ROOT = paths.root()
SEEDS = [hashlib.sha256(b"%d" % n).hexdigest()[:32] for n in range(12)]
STUDIES = sorted(read_keys(ROOT))


def source(study: str) -> Any:
    return ROOT / "notebooks" / study / ASSIGNMENT


@pytest.mark.parametrize("study", STUDIES)
def test_each_question_gets_inputs_of_its_own_and_right_answers_pass(study, tmp_path):
    tests = {cell.id for cell in read_key(source(study)).cells if cell.test}
    made = [hidden.drawn(study, seed) for seed in SEEDS]
    assert made[3] == hidden.drawn(study, SEEDS[3])
    for calls in made:
        assert set(calls) == tests
        notebook = hidden.with_tests(source(study), calls)
        target = tmp_path / study / ASSIGNMENT
        target.parent.mkdir(exist_ok=True)
        nbformat.write(notebook, target)
        names: dict[str, Any] = {"__name__": "__main__"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for cell in read_key(target).cells:
                if cell.code:
                    exec(cell.source, names)
    for test in tests:
        assert len({str(calls[test]) for calls in made}) > 10, test


@pytest.mark.parametrize("study", STUDIES)
def test_a_student_sees_what_stands_in_the_source(study, tmp_path):
    """And nothing that was tested before is tested no more."""
    target = tmp_path / study / ASSIGNMENT
    target.parent.mkdir()
    nbformat.write(hidden.with_tests(source(study), hidden.drawn(study, SEEDS[5])), target)
    old, new = read_key(source(study)).cells, read_key(target).cells
    assert [cell.visible.rstrip() for cell in old] == [cell.visible.rstrip() for cell in new]
    assert all(after.source.startswith(before.source) for before, after in zip(old, new, strict=True))


def test_what_cannot_be_tested_is_said():
    with pytest.raises(GradingError, match="has no tests 't9' to add to"):
        hidden.with_tests(source("nfc"), {"t9": [("slots(1)", "")]})
    with pytest.raises(GradingError, match="the solutions of nfc fail at slots"):
        hidden.with_tests(source("nfc"), {"t1": [("slots('x')", "")]})


@pytest.mark.needs("linux")
@pytest.mark.slow
def test_who_looked_the_public_inputs_up_loses_with_a_key_of_your_own(tmp_path, monkeypatch, capsys):
    """The source is public: a table of all that it tests earns the points there, and none with inputs drawn."""
    monkeypatch.setattr(teach, "PIECES", [teach._keys])
    course = teach.write_course(tmp_path / "course", None, ["nfc"], pdf=False, tell=lambda line: None)
    key = course / "for-you" / "assignments"
    visible = {cell.id: cell.visible for cell in read_key(source("nfc")).cells if cell.test}
    for student in ("ada", "eve"):
        notebook = nbformat.read(source("nfc"), as_version=4)
        for cell in notebook.cells:
            cell.source = visible.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
            if student == "eve" and cell.source.startswith("def slots"):
                table = {n: -(-(n + 4) // 12) for n in (8, 9, *range(40, 213), 540, 1064, 1500)}
                cell.source = f"def slots(ip_bytes):\n    return {table!r}[ip_bytes]"
        target = tmp_path / "submitted" / student / "nfc" / ASSIGNMENT
        target.parent.mkdir(parents=True)
        nbformat.write(notebook, target)
    submitted = tmp_path / "submitted"

    def first(**how: Any) -> list[float | None]:
        return [report.questions[0].points for report in grading.grade(submitted, confine="process", **how)]

    assert first() == [2.0, 2.0]
    assert first(key=key) == [2.0, 0.0]
    assert cli.main(["grade", str(submitted), "--key", str(key), "--confine", "process", "--csv", "moodle"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[1] == "ada,10," and re.match(r"eve,[0-9],", rows[2])
    (tmp_path / "empty").mkdir()
    with pytest.raises(GradingError, match="to grade against"):
        grading.grade(submitted, key=tmp_path / "empty")

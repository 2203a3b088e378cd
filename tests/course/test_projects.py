"""Two assignments a part: nothing asked that is not taught, no question hangs on another, and a rubric for people."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from voicewire_book import paths
from voicewire_book.course import handout
from voicewire_book.course.key import ASSIGNMENT, PROJECT, read_key

pytestmark = pytest.mark.landing

ROOT = paths.root()
each = pytest.mark.parametrize("study", paths.STUDIES)
LINK = re.compile(r"\[([^\]]+)\]\((\S+?)\.ipynb#(\S+)\)")


def headings(path: Path) -> set[str]:
    cells = nbformat.read(path, as_version=4).cells
    prose = (cell.source for cell in cells if cell.cell_type == "markdown")
    return {head for text in prose for head in re.findall(r"^#{1,4} (.+)$", text, re.M)}


def untaught(task: str, folder: Path) -> list[str]:
    """What a task says of where it is taught, as far as that is not there; a task that says nothing is at fault."""
    taught = re.search(r"^Taught in (.+)\.$", task, re.M)
    if taught is None:
        return ["it does not say where it is taught"]
    links = LINK.findall(taught[1])
    wrong = [f"{chapter}: {title}" for title, chapter, anchor in links
             if anchor != title.replace(" ", "-") or not (folder / f"{chapter}.ipynb").is_file()
             or title not in headings(folder / f"{chapter}.ipynb")]  # fmt: skip
    return wrong or ([] if links else ["it names no section"])


def tasks(study: str) -> dict[str, str]:
    text = (ROOT / "notebooks" / study / PROJECT).read_text(encoding="utf-8")
    parts = re.split(r"^## (?=\d)", text.partition("## How it is")[0], flags=re.M)[1:]
    return {part.partition("\n")[0]: part for part in parts}


@each
def test_each_question_of_both_names_a_section_that_is_there(study: str) -> None:
    folder = ROOT / "notebooks" / study
    short = [cell.source for cell in nbformat.read(folder / ASSIGNMENT, as_version=4).cells
             if re.match(r"## \d", cell.source)]  # fmt: skip
    assert len(short) >= 4 and len(tasks(study)) >= 4
    for task in (*short, *tasks(study).values()):
        assert untaught(task, folder) == [], task[:60]


def test_what_is_taught_nowhere_would_be_found(tmp_path: Path) -> None:
    folder = ROOT / "notebooks" / "nfc"
    assert untaught("## 1. A question", folder) == ["it does not say where it is taught"]
    assert untaught("Taught in [Further: two coils](01_slow_link.ipynb#Further:-two-coils).", folder) == []
    assert untaught("Taught in [Two spools](01_slow_link.ipynb#Two-spools).", folder) == ["01_slow_link: Two spools"]
    wrong = untaught("Taught in [Further: two coils](01_slow_link.ipynb#Further:-two-Coils).", folder)
    assert wrong == ["01_slow_link: Further: two coils"]


@each
def test_no_question_needs_the_answer_to_another(study: str) -> None:
    """A wrong function of one question leaves the points of the others: each test is run with it broken."""
    key = read_key(ROOT / "notebooks" / study / ASSIGNMENT)
    right: dict[str, object] = {"__name__": "__main__"}
    answers = [cell for cell in key.cells if cell.answer]
    tests = [cell for cell in key.cells if cell.test]
    for cell in key.cells:
        if cell.code and not cell.test:
            exec(cell.source, right)
    for broken, own in zip(answers, tests, strict=True):
        names = [name for name in key.asked if re.search(rf"^(?:def|class) {name}\b", broken.source, re.M)]
        assert len(names) == 1
        for test in tests:
            if test is not own and names[0] not in test.source:
                missing = {k: v for k, v in right.items() if k != names[0]}
                if study == "nfc" and names == ["slots"]:
                    continue  # judged with the student's own slots, see below
                for answer in answers:
                    if answer is not broken:
                        exec(answer.source, missing)
                exec(test.source, missing)


def test_the_nfc_question_that_calls_another_is_judged_with_whatever_that_gives() -> None:
    key = read_key(ROOT / "notebooks" / "nfc" / ASSIGNMENT)
    names: dict[str, object] = {"__name__": "__main__"}
    for cell in key.cells:
        if cell.answer:
            exec(cell.source, names)
    exec("def slots(ip_bytes):\n    return -(-ip_bytes // 12)", names)  # the framing is forgotten
    [test] = [cell.source for cell in key.cells if cell.test and "latency" in cell.source]
    exec(test, names)


@each
def test_a_project_stands_alone_task_by_task_and_has_a_rubric_of_twenty_points(study: str) -> None:
    text = (ROOT / "notebooks" / study / PROJECT).read_text(encoding="utf-8")
    rubric = text.partition("## How it is marked")[2]
    rows = [line.split("|")[1:-1] for line in rubric.splitlines() if re.match(r"\| \w", line)]
    assert re.search(r"^\| \| 4 points \| 2 points \| 0 points \|$", rubric, re.M)
    assert len(rows) == 5 and all(len(row) == 4 and all(cell.strip() for cell in row) for row in rows)
    assert "Twenty points: four for each row of the rubric" in text and 4 * len(rows) == 20
    others = r"\btasks? (?:\d|one|two|three|four)\b|\b(?:first|previous|last) task\b"
    assert not re.search(others, "".join(tasks(study).values()))


def test_students_get_the_projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handout, "release", lambda *sources: [nbformat.v4.new_notebook() for _ in sources])
    written = handout.write_students(tmp_path / "out", ["nfc"])
    assert (tmp_path / "out" / "nfc" / PROJECT) in written
    assert (tmp_path / "out/nfc" / PROJECT).read_bytes() == (ROOT / "notebooks/nfc" / PROJECT).read_bytes()

"""What lies beside slides and exams: the figure pack, the plan and the lists of marks."""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire import cli
from voicewire_book import paths
from voicewire_book.course import exam, grading, marks, plan, teach
from voicewire_book.course.grading import Question, Report
from voicewire_book.course.handout import student_copy
from voicewire_book.course.key import ASSIGNMENT, read_keys
from voicewire_book.publish.pages import reading

pytestmark = pytest.mark.landing

ROOT = paths.root()
SECRET = "3f9a04c1d27be85660b8a5e1f74d923c"
PARTS = [part.name for part in paths.PARTS if paths.chapters(part.name)]


def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *pieces: object, parts: tuple[str, ...] = ()) -> Path:
    monkeypatch.setattr(teach, "PIECES", list(pieces))
    return teach.write_course(tmp_path / "course", SECRET, parts, pdf=False, tell=lambda line: None)


def test_each_figure_is_a_file_with_its_origin(tmp_path, monkeypatch):
    """Every picture that a chapter shows outside its solutions, letter by letter, and nothing else."""
    made = written(tmp_path, monkeypatch, teach._figures)
    for part in PARTS:
        folder = made / "to-students" / "figures" / part
        rows = list(csv.DictReader((folder / "figures.csv").open(encoding="utf-8")))
        names = {row["file"] for row in rows}
        assert {path.name for path in folder.iterdir()} == names | {"figures.csv", "index.html"}
        cells = {}
        for path in paths.chapters(part):
            for cell in student_copy(nbformat.read(path, as_version=4)).cells:
                cells[path.relative_to(ROOT).as_posix(), cell.id] = cell
        drawn = 0
        for row in rows:
            content = (folder / row["file"]).read_bytes()
            assert hashlib.sha256(content).hexdigest() == row["sha256"]
            assert content[:8] == b"\x89PNG\r\n\x1a\n" if row["file"].endswith(".png") else b"<svg" in content
            assert row["alt"], row
            cell = cells[row["chapter"], row["cell"]]
            assert cell.metadata.get("mystnb", {}).get("image", {}).get("alt", row["alt"]) == row["alt"]
            drawn += row["file"].endswith(".png")
        pictures = [o for c in cells.values() for o in c.get("outputs", []) if "image/png" in o.get("data", {})]
        assert drawn == len([o for o in pictures if "text/html" not in o["data"]])
        page = (folder / "index.html").read_text(encoding="utf-8")
        assert all(f'src="{name}"' in page for name in names)


def test_the_plan_has_every_chapter_in_order_with_its_times(tmp_path, monkeypatch):
    made = written(tmp_path, monkeypatch, teach._plan)
    rows = list(csv.DictReader((made / "for-you" / "plan.csv").open(encoding="utf-8")))
    assert len(rows) == len(paths.chapters())
    ran = json.loads((ROOT / "book" / "times.json").read_text(encoding="utf-8"))["seconds"]
    for row, path in zip(rows, paths.chapters(), strict=True):
        cells = nbformat.read(path, as_version=4).cells
        head = next(cell.source for cell in cells if "*Time*" in cell.source)
        assert row["part"] == path.parent.name
        least, most = map(int, re.findall(r"(\d+) to (\d+) minutes to read", head)[0])
        assert least < int(row["reading"]) < most
        assert f"{row['exercises']} for the exercises" in head
        assert float(row["runs"]) == ran.get(path.relative_to(ROOT).as_posix(), 0.0)
    weeks = [int(row["week"]) for row in rows]
    assert weeks == sorted(weeks) and set(weeks) == set(range(1, weeks[-1] + 1))
    for part in PARTS:
        own = {int(row["week"]) for row in rows if row["part"] == part}
        assert len(own) == reading.weeks(reading.total(paths.chapters(part)), len(paths.chapters(part)))


@given(st.permutations(PARTS), st.integers(1, len(PARTS)))
def test_a_part_is_divided_so_that_its_fullest_week_is_shortest(order, count):
    made = plan.weeks(ROOT, order[:count])
    assert next(chapter.part for chapter in made if chapter.week == 1) == order[0]
    for part in order[:count]:
        own = [chapter for chapter in made if chapter.part == part]
        weeks = sorted({chapter.week for chapter in own})
        work = [chapter.minutes for chapter in own]
        fullest = max(sum(chapter.minutes for chapter in own if chapter.week == week) for week in weeks)
        ways = ((0, *cuts, len(work)) for cuts in itertools.combinations(range(1, len(work)), len(weeks) - 1))
        assert fullest == min(max(sum(work[a:b]) for a, b in itertools.pairwise(way)) for way in ways)


def test_lists_of_marks_have_a_column_for_all_that_is_marked(tmp_path, monkeypatch):
    made = written(tmp_path, monkeypatch, teach._marks) / "for-you" / "marks"
    heads, points = csv.reader((made / "canvas.csv").open(encoding="utf-8"))
    assert heads[:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert points[0] == "    Points Possible"
    (plain,) = csv.reader((made / "moodle.csv").open(encoding="utf-8"))
    assert plain == ["ID number", *heads[5:]]
    most = dict(zip(heads[5:], map(float, points[5:]), strict=True))
    for part in PARTS:
        assert most[f"Exam {part}"] == sum(q.points for q in exam.questions(part, SECRET))
    for study, key in read_keys(ROOT).items():
        assert most[f"Assignment {study}"] == sum(cell.points or 0 for cell in key.cells)


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)


@given(st.dictionaries(NAMES, st.one_of(st.none(), st.floats(0, 20).map(lambda x: round(x, 1))), max_size=5))
def test_whatever_a_student_is_called_a_row_stays_a_row(given_marks):
    """A name is a folder that a student may have named: it is no formula for a spreadsheet, and breaks no column."""
    rows = {marks.Whose(name): {"Assignment nfc": mark} for name, mark in given_marks.items()}
    for platform, width in (("moodle", 2), ("canvas", 6)):
        text = marks.table(platform, {"Assignment nfc": 20.0}, rows)
        read = list(csv.reader(io.StringIO(text, newline="")))
        assert len(read) == len(rows) + (2 if platform == "canvas" else 1)
        assert all(len(row) == width for row in read)
        for row, mark in zip(read[-len(rows) :] if rows else [], given_marks.values(), strict=True):
            assert row[0][0] not in "=+-@"
            assert row[-1] == ("" if mark is None else f"{mark:g}")


def test_where_nobody_can_say_a_mark_there_is_none():
    right, unread = Question("q1", 2.0, 3.0), Question("q2", None, 4.0)
    reports = [
        Report("ada/nfc/assignment.ipynb", "nfc", [right]),
        Report("bob/nfc/assignment.ipynb", "nfc", [right, unread]),
        Report("eve/nfc/a.ipynb", "nfc", [right]),
        Report("eve/nfc/b.ipynb", "nfc", [right]),
        Report("joe/x.ipynb", None, problems=["it is no assignment"]),
    ]
    most, rows, why = marks.collected("moodle", reports)
    named = {student.name: row for student, row in rows.items()}
    assert named == {"ada": {"Assignment nfc": 2.0}, "bob": {"Assignment nfc": None},
                     "eve": {"Assignment nfc": None}, "joe": {}}  # fmt: skip
    assert set(most) == {"Assignment nfc"}
    assert why[marks.Whose("eve")] == {"Assignment nfc": "two notebooks of this assignment were handed in"}
    with pytest.raises(ValueError, match="unknown platform 'excel'"):
        marks.table("excel", most, rows)


def test_the_command_prints_a_list_and_says_problems_beside_it(monkeypatch, tmp_path, capsys):
    altered = ["cell q1 was altered"]
    right = Question("q1", 2.0, 3.0)
    reports = [Report("ada/nfc/assignment.ipynb", "nfc", [right], altered, confinement="in a jail")]
    monkeypatch.setattr(grading, "grade", lambda *_, **__: reports)
    assert cli.main(["grade", str(tmp_path), "--csv", "moodle"]) == 1
    said = capsys.readouterr()
    assert said.out == "ID number,Assignment nfc,Assignment nfc feedback\nada,2,cell q1 was altered\n"
    assert said.err == "ada/nfc/assignment.ipynb: cell q1 was altered\nEach submission ran in a jail.\n"
    with pytest.raises(SystemExit):
        cli.main(["grade", str(tmp_path), "--csv", "moodle", "--json"])


def test_a_hub_can_do_without_the_solutions(tmp_path, monkeypatch):
    """The students' notebooks in the place of ``notebooks/``: the package finds its data and chapters there."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *_: None if name == "nbgrader" else object())
    made = written(tmp_path, monkeypatch, teach._handouts, parts=("nfc",))
    monkeypatch.undo()
    image = tmp_path / "image"
    image.mkdir()
    shutil.copy(ROOT / "pyproject.toml", image)
    (image / "data").symlink_to(ROOT / "data")
    shutil.copytree(made / "to-students" / "notebooks", image / "notebooks")
    code = "from voicewire_book import paths as p; print(len(p.chapters('nfc')), p.data('nfc').is_dir(), p.root().name)"
    monkeypatch.setenv("VOICEWIRE_ROOT", str(image))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(len(paths.chapters("nfc", ROOT))), "True", "image"]
    assert not list(image.rglob(ASSIGNMENT))
    assert not [path for path in image.rglob("*.ipynb") if "solution-start" in path.read_text(encoding="utf-8")]


def test_no_chapter_needs_more_memory_than_the_hub_gives():
    about = json.loads((ROOT / "book" / "times.json").read_text(encoding="utf-8"))
    text = (ROOT / "book" / "instructors.md").read_text(encoding="utf-8")
    assert "limit: 2G" in text
    assert max(about["megabytes"].values()) < 1000

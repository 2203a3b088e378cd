"""Forty submissions, 28 of them cheats: none earns what it has not done, or learns or costs what is not its own."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import re
from pathlib import Path

import pytest

from voicewire import cli
from voicewire_book import paths
from voicewire_book.course import grading, marks
from voicewire_book.course.grading import Question, Report
from voicewire_book.course.key import read_key

spec = importlib.util.spec_from_file_location("forty", Path(__file__).with_name("forty.py"))
assert spec is not None and spec.loader is not None
forty = importlib.util.module_from_spec(spec)
spec.loader.exec_module(forty)
given = forty.given

pytestmark = [pytest.mark.landing, pytest.mark.needs("linux")]
confined = pytest.mark.needs("bubblewrap")


@pytest.mark.night
@pytest.mark.slow
@confined
def test_forty_submissions_earn_what_they_have_done(tmp_path, monkeypatch):
    """In one run, as a class hands in, by the command's own defaults."""
    expected = {**forty.HONEST, **forty.CHEATS}
    assert (len(forty.HONEST), len(forty.CHEATS)) == (12, 28)
    monkeypatch.setenv("VOICEWIRE_ANSWER_KEY", forty.SECRET)
    folder = tmp_path / "in"
    given.hand_in(folder, expected)
    before = {path: path.read_bytes() for path in sorted(folder.rglob("*.ipynb"))}
    reports = grading.grade(folder, timeout=10)
    got = {report.student: report for report in reports}
    assert set(got) == set(expected)
    earned = {name: tuple(question.points for question in got[name].questions) for name in expected}
    wrong = {name: (earned[name], got[name]) for name, (_, points, _) in expected.items() if earned[name] != points}
    assert not wrong
    assert {path: path.read_bytes() for path in sorted(folder.rglob("*.ipynb"))} == before
    assert all(report.confinement.startswith("under bubblewrap") for report in reports)
    said = json.dumps([[report.problems, [question.reason for question in report.questions]] for report in reports])
    assert forty.SECRET not in said
    hidden = [number for number in ("1064", "1500", "5000") if number in said]
    assert hidden == [], "a hidden input is in the report"


@confined
@pytest.mark.parametrize("how", [[], ["--json"], ["--csv", "moodle"]], ids=" ".join)
def test_hidden_inputs_are_told_only_if_asked_for(how, tmp_path, capsys):
    """Also by a submission that keeps what it was asked and says so later, in any way that it has."""
    given.hand_in(tmp_path, forty.TELLS)
    for asked in (False, True):
        assert cli.main(["grade", str(tmp_path), *how, *["--show-hidden"] * asked]) in (0, 1)
        said = capsys.readouterr()
        text = re.sub(r'"seconds": [\d.e-]+', "", said.out + said.err)  # how long it took may have any digits
        told = [number for number in ("1064", "1500") if number in text]
        assert told == [] or asked
        assert told != [] or not asked or (how and how[0] == "--csv")


def test_huge_numbers_earn_nothing():
    """With the hidden tests of the source: a student's own slots count, but only as far as a packet has bytes."""
    key = read_key(paths.root() / "notebooks" / "nfc" / "assignment.ipynb")
    (test,) = [cell.source for cell in key.cells if cell.id == "t2"]

    def passes(slots: object, latency: object) -> bool:
        names = {"slots": slots, "latency": latency}
        try:
            exec(test, names)
        except Exception:
            return False
        return True

    def honest(slots):
        names = {"slots": slots}
        exec(given.RIGHT["a2"], names)
        return names["latency"]

    for right in (lambda n: -(-(n + 4) // 12), lambda n: -(-n // 12), lambda n: n // 10, lambda n: float(-(-n // 11))):
        assert passes(right, honest(right))
    for power in (3, 9, 15, 16, 20, 30, 100, 300):
        for huge in (lambda n, p=power: 10**p + n, lambda n, p=power: float(10**p + n), lambda n, p=power: n * 10**p):

            def lazy(size, mss, response, slots=huge):
                parts = -(-size // mss)
                return 0.005 * float((2 + parts + parts + 4) * slots(44))

            assert not passes(huge, lazy), power
            assert not passes(huge, lambda size, mss, response: float("inf"))
            assert not passes(huge, honest(huge))
    state = {"asked": False}

    def forgetful(n):
        """Right until the latency was asked, and nothing after it."""
        return 0 if state["asked"] else -(-(n + 4) // 12)

    def nothing(size, mss, response):
        state["asked"] = True
        return 0.03 * -(-round(response * 1e6) // 5000)

    assert not passes(forgetful, nothing)
    for odd in (lambda n: None, lambda n: "4", lambda n: float("nan"), lambda n: n / 7, lambda n: [n], lambda n: -n):
        assert not passes(odd, lambda *_: 0.0)


@confined
def test_a_student_has_so_many_notebooks_and_so_much_time(tmp_path):
    """Who hands in more than that, or loops in all of them, costs nobody else anything."""
    folder = tmp_path / "in"
    given.hand_in(folder / "ada", {"nfc": given.HONEST["perfect"]})
    for number in range(4):
        given.hand_in(folder / "eve", {f"{number}": (given.but(a1=given.LOOP), (), "")})
    for number in range(30):
        given.hand_in(folder / "mallory", {f"{number:02}": ([given.cell("hello", code=False)], (), "")})
    reports = grading.grade(folder, timeout=4, seconds=9, notebooks=3)
    by = {name: [r for r in reports if r.student == name] for name in ("ada", "eve", "mallory")}
    assert [report.points for report in by["ada"]] == [10.0]
    assert [len(by[name]) for name in ("eve", "mallory")] == [4, 30]
    assert sum(report.seconds for report in by["eve"]) < 30
    assert "it was not read: the first 3 notebooks of a student count" in by["eve"][3].problems
    assert any("used up" in problem or "no time left" in problem for r in by["eve"][:3] for problem in r.problems)
    assert sum("not read" in " ".join(report.problems) for report in by["mallory"]) == 27


NAMES = ["ada.ipynb", "ada.ipynb.ipynb", " ada", "ada ", "\uff41da", "ad\u0430", "ada\u200b", "Ada", "..ada", "ada\n",
         "ada\\n", "a" * 250, "a" * 251, "ada (2)", "'ada", "=ada", "    Points Possible", "points possible",
         "Student"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_no_folders_name_blanks_a_mark_or_moves_it(name):
    """Neither where the path is shown, nor to a platform that tidies what it reads."""
    alone = [Report("ada/nfc/assignment.ipynb", "nfc", [Question("q1", 2.0, 3.0)])]
    other = Report(f"{name}/nfc/assignment.ipynb", "nfc", [Question("q1", 0.0, 3.0)])
    for reports in ([*alone, other], [other, *alone]):
        rows = marks.collected("moodle", reports).rows
        assert rows[marks.Whose("ada")] == {"Assignment nfc": 2.0}
        assert len(rows) == 2 and {"Assignment nfc": 0.0} in rows.values()
        for platform in marks.PLATFORMS:
            table = list(csv.reader(io.StringIO(marks.table(platform, {"Assignment nfc": 3.0}, rows), newline="")))
            mine = [row for row in table if " ".join(row[0].split()) == "ada"]
            assert [row[-1] for row in mine] == ["2"]
            second = [row for row in table if row[0].strip().casefold() == "points possible"]
            assert len(second) == (platform == "canvas")


def test_a_file_beside_a_folder_is_another_student(tmp_path):
    for files in (["ada.ipynb", "ada/nfc/a.ipynb"], ["ada/nfc/a.ipynb", "ada.ipynb"]):
        rows = marks.collected("moodle", [Report(file, "nfc", [Question("q1", 1.0, 3.0)]) for file in files]).rows
        assert rows == {marks.Whose(name): {"Assignment nfc": 1.0} for name in ("ada", "ada.ipynb")}
    rows = marks.collected("moodle", [Report("ada.ipynb", "nfc", [Question("q1", 1.0, 3.0)])]).rows
    assert rows == {marks.Whose("ada"): {"Assignment nfc": 1.0}}


@confined
def test_long_names_are_not_cut_into_one(tmp_path):
    """A report shows a path cut and escaped; whose it is, is known before that."""
    names = ["x" * 240 + letter for letter in "ab"]
    given.hand_in(tmp_path, dict.fromkeys(names, given.HONEST["perfect"]))
    reports = grading.grade(tmp_path)
    rows = marks.collected("moodle", reports).rows
    assert rows == {marks.Whose(name): {"Assignment nfc": 10.0} for name in names}
    assert [report.problems for report in reports] == [[], []]


PACKED = {
    "moodle": ["Doe Jane_1234567_assignsubmission_file_/a.ipynb", "Doe Jane_7_assignsubmission_file/x/a.ipynb"],
    "canvas": ["doejane_1234567_99_a.ipynb", "doejane_LATE_7_100_roe_55_1_a.ipynb"],
}


@pytest.mark.parametrize("platform", marks.PLATFORMS)
def test_what_a_platform_packed_is_listed_by_its_number(platform):
    reports = [Report(file, "nfc", [Question("q1", 1.0, 3.0, "lost")]) for file in PACKED[platform]]
    made = marks.collected(platform, reports)
    assert [student.number for student in made.rows] == ["1234567", "7"]
    table = list(csv.reader(io.StringIO(marks.table(platform, made.most, made.rows, made.reasons), newline="")))
    column = table[0].index("Identifier" if platform == "moodle" else "ID")
    before = "Participant " if platform == "moodle" else ""
    assert [row[column] for row in table[-2:]] == [f"{before}1234567", f"{before}7"]
    assert ("q1: lost" in table[-1]) == (platform == "moodle")
    # One file that a person named: the others' names may be chosen too, and no number in them counts.
    made = marks.collected(platform, [*reports, Report("eve/a.ipynb", "nfc", [Question("q1", 1.0, 3.0)])])
    assert not any(student.number for student in made.rows)


def test_a_number_that_comes_twice_has_no_mark():
    files = ["A_7_assignsubmission_file_/a.ipynb", "B_7_assignsubmission_onlinetext_/a.ipynb"]
    made = marks.collected("moodle", [Report(file, "nfc", [Question("q1", 1.0, 3.0)]) for file in files])
    assert made.rows == {marks.Whose("A", "7"): {"Assignment nfc": None}}


@confined
def test_a_name_that_another_has_is_told(tmp_path):
    given.hand_in(tmp_path, dict.fromkeys(("ada", "ada "), given.HONEST["blank"]))
    (tmp_path / "ada.ipynb").write_text("{}", encoding="utf-8")
    said = {report.student: report.problems for report in grading.grade(tmp_path)}
    assert set(said) == {"ada", "ada  (2)", "ada.ipynb"} and said["ada"] == []
    assert all("another student has the same name" in said[name][0] for name in ("ada  (2)", "ada.ipynb"))

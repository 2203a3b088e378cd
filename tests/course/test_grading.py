"""Marking: honest work gets its marks, no cheat gets more than it earned, and nobody changes another's."""

from __future__ import annotations

import importlib.util
import json
import os
import time
from pathlib import Path

import pytest

from voicewire import cli
from voicewire_book import paths
from voicewire_book.course import grading
from voicewire_book.course.key import GradingError

spec = importlib.util.spec_from_file_location("submissions", Path(__file__).with_name("submissions.py"))
assert spec is not None and spec.loader is not None
given = importlib.util.module_from_spec(spec)
spec.loader.exec_module(given)

pytestmark = [pytest.mark.landing, pytest.mark.needs("linux", "bubblewrap")]


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def left(held, holdings) -> list[str]:
    """What marking has left behind (other tests may run beside this one, with folders of their own)."""
    return [name for name in holdings() - held if name.startswith("child") or "voicewire-submission-" in name]


def hold(reports: list[grading.Report], expected: dict) -> None:
    """Compare what a run gave with what each submission earns."""
    got = {report.file.split("/")[0]: report for report in reports}
    said = {n: "; ".join([*got[n].problems, *(q.reason for q in got[n].questions if q.reason)]) for n in expected}
    marks = {name: tuple(q.points for q in got[name].questions) for name in expected}
    assert not {n: (marks[n], said[n]) for n, (_, points, _) in expected.items() if marks[n] != points}
    assert not {n: said[n] for n, (_, _, word) in expected.items() if word not in said[n]}


@pytest.mark.night
@pytest.mark.slow
def test_nobody_gets_more_than_was_earned_or_changes_what_others_get(tmp_path, holdings):
    """The bar: 30 and more submissions, none of which loops, in one run."""
    expected = {**given.HONEST, **given.CHEATS}
    given.hand_in(tmp_path, expected)
    before, held = contents(tmp_path), holdings()
    source = contents(paths.root() / "notebooks" / "nfc")
    started = time.monotonic()
    reports = grading.grade(tmp_path, timeout=30, show_hidden=True)
    print(f"{len(reports)} submissions in {time.monotonic() - started:.0f} s, {reports[0].confinement}")
    assert len(reports) == len(expected) >= 30
    hold(reports, expected)
    assert (contents(tmp_path), contents(paths.root() / "notebooks" / "nfc")) == (before, source)
    assert not left(held, holdings)
    for name in ("perfect", "own-helper", "magics", "uses-a-test-name", "overwrite"):
        assert next(r for r in reports if r.file.startswith(f"{name}/")).problems == [], name


@pytest.mark.night
@pytest.mark.slow
def test_greed_and_loops_cost_their_limit_and_no_more(tmp_path, holdings):
    expected = {**given.GREEDY, **given.LOOPS, "perfect": given.HONEST["perfect"]}
    given.hand_in(tmp_path, expected)
    held = holdings()
    reports = grading.grade(tmp_path, timeout=15, show_hidden=True)
    hold(reports, expected)
    assert not left(held, holdings)


DOUBTFUL = ("doubled", "as-text", "split", "copied", "raise-left", "own-error")


def test_a_doubtful_mark_is_no_number_and_says_why(tmp_path):
    expected = {name: entry for name, entry in given.HONEST.items() if name in DOUBTFUL}
    assert len(expected) == len(DOUBTFUL)
    given.hand_in(tmp_path, expected)
    hold(grading.grade(tmp_path), expected)


def test_without_its_metadata_a_notebook_is_known_by_its_text(tmp_path):
    bare = [{**made, "metadata": {}} for made in given.answered()]
    given.hand_in(tmp_path, {"bare": (bare, (), "")})
    (tmp_path / "bare" / "__MACOSX").mkdir()
    (tmp_path / "bare" / "__MACOSX" / "._a.ipynb").write_bytes(b"\0")
    passed: list[Path] = []
    [report] = grading.grade(tmp_path, passed=passed)
    assert report.questions == [] and "have the text of the assignment nfc" in report.problems[0]
    assert [path.name for path in passed] == ["._a.ipynb"]


def test_alone_each_gets_what_it_gets_among_the_others(tmp_path):
    for name in ("perfect", "partly"):
        given.hand_in(tmp_path / name, {name: given.HONEST[name]})
        hold(grading.grade(tmp_path / name, show_hidden=True), {name: given.HONEST[name]})


@pytest.mark.night
def test_an_interrupted_run_waits_for_nobody_and_leaves_nothing(tmp_path, holdings):
    given.hand_in(tmp_path, {"a": given.HONEST["perfect"], "b": (given.answered(first=given.LOOP), (), "")})
    held = holdings()

    def interrupt(_: grading.Report) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grading.grade(tmp_path, timeout=3000, tell=interrupt)
    assert not left(held, holdings)


def test_what_is_no_notebook_gets_a_line_that_says_so(tmp_path):
    for name, (content, _) in given.MALFORMED.items():
        (tmp_path / f"{name}.ipynb").write_text(content, encoding="utf-8")
    (tmp_path / "bytes.ipynb").write_bytes(b"\xff\xfe\x00")
    with (tmp_path / "long.ipynb").open("wb") as file:
        file.truncate(30 * 2**20)
    (tmp_path / "link.ipynb").symlink_to("/etc/passwd")
    (tmp_path / "folder").symlink_to("/etc")
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / "a folder.ipynb").mkdir()
    given.hand_in(tmp_path, {"x\n  total  10 of 10\x1b[1A": given.HONEST["blank"]})
    reports = {report.file: report for report in grading.grade(tmp_path)}
    for name, (_, word) in given.MALFORMED.items():
        [problem] = reports.pop(f"{name}.ipynb").problems
        assert word in problem
    words = {
        "bytes.ipynb": "no notebook", "long.ipynb": "30 MB, more than 20", "link.ipynb": "symbolic link",
        "folder": "symbolic link", "pipe.ipynb": "no regular file", "a folder.ipynb": "the folder is empty",
    }  # fmt: skip
    for name, word in words.items():
        [problem] = reports.pop(name).problems
        assert word in problem and "root:" not in problem
    [(name, report)] = reports.items()
    assert name == "x\\n  total  10 of 10\\x1b[1A/assignment.ipynb"
    assert report.points == 0


def test_a_key_that_fails_itself_marks_nobody(tmp_path):
    folder = tmp_path / "checkout" / "notebooks" / "nfc"
    folder.mkdir(parents=True)
    source = (paths.root() / "notebooks" / "nfc" / "assignment.ipynb").read_text(encoding="utf-8")
    (folder / "assignment.ipynb").write_text(source.replace("== [1, 2, 89, 126]", "== [1, 2, 89, 127]"), "utf-8")
    given.hand_in(tmp_path / "in", {"perfect": given.HONEST["perfect"]})
    with pytest.raises(GradingError, match="don't earn every point .t1: a hidden check failed .slots.1500. gave 126"):
        grading.grade(tmp_path / "in", base=tmp_path / "checkout")
    (folder / "assignment.ipynb").write_text("{}", encoding="utf-8")
    with pytest.raises(GradingError, match="notebooks/nfc/assignment.ipynb can't be graded against"):
        grading.grade(tmp_path / "in", base=tmp_path / "checkout")
    (folder / "assignment.ipynb").unlink()
    with pytest.raises(GradingError, match="has no notebooks/<study>/assignment.ipynb"):
        grading.grade(tmp_path / "in", base=tmp_path / "checkout")


def test_the_command_ends_with_a_line_for_each(tmp_path, capsys):
    given.hand_in(tmp_path, {name: given.HONEST[name] for name in ("partly", "perfect")})
    (tmp_path / "cut.ipynb").write_text("{", encoding="utf-8")
    assert cli.main(["grade", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-5].startswith("cut.ipynb") and "no marks; this is no notebook" in lines[-5]
    assert "4 of 10" in lines[-4] and "10 of 10" in lines[-3]
    assert lines[-1].startswith("Each submission ran ")
    assert cli.main(["grade", str(tmp_path / "perfect"), "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert row["questions"][0] == {"id": "t1", "points": 2.0, "max_points": 2.0, "reason": ""}
    assert (row["study"], row["points"], row["max_points"], row["problems"]) == ("nfc", 10.0, 10.0, [])
    with pytest.raises(SystemExit, match="2"):
        cli.main(["grade", str(tmp_path / "nobody")])
    assert "nobody: there is no such file or folder" in capsys.readouterr().err
    for wrong in (["--timeout", "0"], ["--timeout", "1e9"], ["--confine", "hope"]):
        with pytest.raises(SystemExit) as stop:
            cli.main(["grade", "x", *wrong])
        assert stop.value.code == 2

"""``voicewire review``: what is drawn, into which group it comes, what is compared, and what a report holds."""

from __future__ import annotations

import shutil
import subprocess
from datetime import UTC, datetime

import nbformat
import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_notebook

from voicewire import cli
from voicewire_book import paths
from voicewire_book.kit import claims
from voicewire_book.ledger.judging import Ledger
from voicewire_book.ledger.loading import Claim
from voicewire_book.publish.paper import chromium
from voicewire_book.publish.review import groups, perturbations, report, rerun
from voicewire_book.publish.review.cli import KINDS
from voicewire_book.publish.review.dependencies import Watched
from voicewire_book.publish.review.perturbations import Evidence

ALL = claims.scorecard()
ROWS = {row["id"]: row for row in ALL}


# Drawing


@given(st.integers(1, 60), st.integers(0, 2**64 - 1))
def test_a_draw_comes_again_with_its_seed_and_goes_round_studies_and_classes(number, seed):
    found = groups.drawn(ALL, number, seed)
    assert [row["id"] for row in found] == [row["id"] for row in groups.drawn(ALL, number + 5, seed)][:number]
    assert len({row["id"] for row in found}) == number
    assert all(row["whose"] == "paper" for row in found)
    counts = [sum(row["study"] == study for row in found) for study in paths.STUDIES]
    assert max(counts) - min(counts) <= 1
    for study in paths.STUDIES:
        first = [row["class"] for row in found if row["study"] == study][:5]
        assert len(set(first)) == len(first)


def test_other_seeds_draw_others_and_more_than_there_are_is_refused():
    assert len({tuple(row["id"] for row in groups.drawn(ALL, 10, seed)) for seed in range(20)}) == 20
    with pytest.raises(claims.ClaimError, match="can't be drawn: the papers have"):
        groups.drawn(ALL, len(ROWS) + 1, 1)


def test_claims_are_printed_as_drawn_before_anything_is_executed(monkeypatch, capsys, tmp_path):
    seen = []

    def executed(rows, *how):
        seen.append((capsys.readouterr().out, rows))
        return [groups.reviewed(row, None, "") for row in rows]

    monkeypatch.setattr(rerun, "rerun", executed)
    monkeypatch.setattr(report, "write", lambda *what: [])
    assert cli.main(["review", "--draw", "7", "--out", str(tmp_path / "new")]) == 0  # with a seed of its own
    [(printed, rows)] = seen
    seed = int(printed.partition("with seed ")[2].partition(":")[0])
    assert [row["id"] for row in rows] == [row["id"] for row in groups.drawn(ALL, 7, seed)]
    assert [line.split()[0] for line in printed.splitlines()[1:]] == [row["id"] for row in rows]


@pytest.mark.parametrize(
    ("name", "near"),
    [("nfc.table-7.1.rat", "nfc.table-7.1.rate"), ("echo.eq13-residua", "echo.eq13-residual"),
     ("zzz", "scorecard STUDY"), ("x" * 500, "scorecard STUDY"), ("a\nb", "scorecard STUDY")],
)  # fmt: skip
def test_a_claim_that_is_not_there_is_refused_in_one_line_with_near_names(name, near, capsys, tmp_path):
    assert cli.main(["review", "nfc.ge.q", name, "--out", str(tmp_path / "new")]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and near in err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("words", [[], ["nfc.ge.q", "--draw", "3"], ["nfc.ge.q", "--seed", "3"], ["--perturb", "luck"]])
def test_wrong_usage_is_one_line_and_two(words, capsys):
    try:
        status = cli.main(["review", *words])
    except SystemExit as end:
        status = end.code
    assert status == 2 and capsys.readouterr().err.count("\n") == 1


def test_the_kinds_on_the_command_line_are_those_that_can_be_changed():
    assert KINDS == perturbations.KINDS


# What a verdict rests on


def behind(*cells, claim="nfc.table-7.1.rate"):
    """What stands behind a verdict in these cells, where `read` opens a file of data/ and `engine` computes."""
    from voicewire.nfc.link import Link

    space = {"ledger": claims.load("nfc"), "engine": Link.from_rate, "np": np}
    watched = Watched(space, paths.root() / "data", [claim])
    space["read"] = lambda name: watched.opened(str(paths.root() / "data" / "nfc" / name)) or 11.2

    def judge(self, *given):
        watched.judge(given[0], (*given[1:], None, "", ())[:4], Ledger.judge(self, *given))

    space["judge"] = lambda value: judge(space["ledger"], claim, value)
    for cell in cells:
        watched.begin(cell)
        exec(compile(cell, "a cell", "exec"), space)
    return watched.behind(claim)


@pytest.mark.parametrize(
    ("cells", "tables", "inputs", "computed"),
    [
        (["judge(11.2)"], 0, 0, False),
        (["a = read('lwip.csv')", "judge(11.2)"], 0, 0, False),  # read, and not used
        (["a = read('lwip.csv')", "judge(a)"], 1, 0, False),
        (["a = read('lwip.csv')\nb = engine(8e3)", "judge(a)"], 1, 0, False),  # computed, and not used
        (["a = read('lwip.csv')\nb = engine(8e3)", "judge(a + 0 * b.period)"], 1, 0, True),
        (["a = read('lwip.csv')\na = 11.2", "judge(a)"], 0, 0, False),  # set anew
        (["a = {}", "a['x'] = read('lwip.csv')", "judge(a['x'])"], 1, 0, False),  # set in part
        (["a = []", "a.append(read('lwip.csv'))", "judge(a[0])"], 1, 0, False),  # changed by its method
        (["def f():\n    return read('lwip.csv')", "judge(f())"], 1, 0, False),
        (["def f(a):\n    return a\na = read('lwip.csv')", "judge(f(11.2))"], 0, 0, False),  # a name of its own
        (["a = read('lwip.csv')", "judge(sum(a for a in [11.2]))"], 0, 0, False),
        (["for a in [1, 2]:\n    b = read('lwip.csv')", "judge(b)"], 1, 0, False),
        (["a = read('voice.flac')", "judge(a + 0 * engine(8e3).period)"], 0, 1, True),
        (["a = read('claims.yml')", "judge(a)"], 0, 0, False),  # the ledger is no recording
    ],
)  # fmt: skip
def test_a_verdict_rests_on_what_its_statements_read_and_on_no_other(cells, tables, inputs, computed):
    found = behind(*cells)
    assert (len(found.tables), len(found.inputs), found.computed) == (tables, inputs, computed)


@pytest.mark.parametrize(
    ("tables", "inputs", "computed", "basis", "group"),
    [
        ([], [], True, "computed", groups.EXECUTED), ([], [], False, "computed", groups.EXECUTED),
        (["nfc/lwip.csv"], [], True, "computed", groups.IN_PART),
        (["nfc/lwip.csv"], [], False, "computed", groups.RECORDED),
        ([], ["echo/speech.flac"], True, "computed", groups.IN_PART),
        (["nfc/lwip.csv"], ["echo/speech.flac"], False, "computed", groups.IN_PART),
        ([], [], True, "by-reading", groups.RECORDED),
    ],
)  # fmt: skip
def test_groups(tables, inputs, computed, basis, group):
    row = {**ROWS["nfc.table-7.1.rate"], "basis": basis, "places": ["Section 1", "Table 2"]}
    told = {"row": row, "tables": tables, "inputs": inputs, "computed": computed, "seeds": False, "tried": []}
    found = groups.reviewed(row, told, "nfc.ipynb, cells 1 to 3 of 9")
    assert found.group == group and found.same is True and found.sound
    assert all(name in found.why for name in (*tables, *inputs))


# Perturbations


NUMBERS = st.floats(-1e6, 1e6).map(lambda number: round(number, 3)).filter(bool)
SIZES = st.floats(1e-3, 0.5)


def claim(kind, **fields):
    return Claim(id="nfc.x", study="nfc", where="here", statement="so", kind=kind, tolerance_reason="so", **fields)


@st.composite
def judged(draw):
    """A claim of any kind, and evidence for it that may hold or not."""
    kind = draw(st.sampled_from(["value", "arithmetic", "ordering", "trend", "identity"]))
    numbers = draw(st.lists(NUMBERS, min_size=2, max_size=5, unique=True))
    if kind in ("value", "arithmetic"):
        name = draw(st.sampled_from(["relative", "absolute", "at_least", "at_most", "between"]))
        bar = {"between": sorted(numbers[:2])}.get(name, draw(SIZES if name in ("relative", "absolute") else NUMBERS))
        value = draw(st.sampled_from([numbers[0], numbers[0] * 1.001, numbers[1]]))
        if draw(st.booleans()):
            printed = {f"n{k}": number for k, number in enumerate(numbers)}
            return claim(kind, printed=printed, tolerance={name: bar}), {**printed, "n0": value}
        return claim(kind, printed=numbers[0], tolerance={name: bar}), value
    if kind == "ordering":
        labels = [f"n{k}" for k in range(len(numbers))]
        ordered = sorted(numbers) if draw(st.booleans()) else numbers
        return claim(kind, printed=labels), dict(zip(labels, ordered, strict=True))
    if kind == "trend":
        way = draw(st.sampled_from(["increasing", "decreasing", "constant"]))
        series = {"increasing": sorted(numbers), "decreasing": sorted(numbers)[::-1], "constant": numbers[:1] * 4}[way]
        series = series if draw(st.booleans()) else numbers
        return claim(kind, printed=way, tolerance={"absolute": draw(SIZES)}), (list(range(len(series))), series)
    form = draw(st.sampled_from([float, lambda number: complex(number, 1), lambda number: number > 0, str]))
    left = [form(number) for number in numbers]
    right = left if draw(st.booleans()) else left[::-1]
    tolerance = {"absolute": draw(SIZES)} if isinstance(left[0], float | complex) else None
    return claim(kind, tolerance=tolerance), (left, right)


@given(judged())
def test_evidence_moved_across_the_bar_turns_any_verdict(case):
    one, value = case
    found = perturbations.evidence_moved(one, Evidence(value))
    assert found and all(each.turned for each in found)


@given(judged(), st.floats(1.1, 100))
def test_a_wider_tolerance_loses_nothing_and_a_narrower_one_wins_nothing(case, scale):
    one, value = case
    before = perturbations.again(one, Evidence(value)).verdict
    for each in perturbations.tolerance_scaled(one, Evidence(value), scale):
        held = (before, each.verdict) if float(each.what.split()[0]) > 1 else (each.verdict, before)
        assert held[0] != claims.REPRODUCED or held[1] == claims.REPRODUCED


def test_what_cannot_be_judged_says_why_and_nothing_is_written_to_stderr(capfd):
    one = claim("value", printed=1.0, tolerance={"absolute": 0.1}, readings=[{"name": "a", "source": "a guess"}])
    found = perturbations.perturbed(one, Evidence({"b": 1.0}), ["tolerance"], 2.0)
    assert found[0].what.startswith("could not be judged: nfc.x: values are needed") and found[0].verdict == ""
    for value in (1 + 2j, np.array([1 + 2j, 3.0])):
        perturbations.perturbed(claim("identity"), Evidence((value, value)), ["evidence"], 2.0)
    assert capfd.readouterr().err == ""


def test_each_reading_that_decides_can_be_left_out():
    readings = [{"name": name, "source": "a guess"} for name in ("fits", "misses")]
    readings.append({"name": "ruled out", "source": "a guess", "excluded": "by Table 1"})
    one = claim("value", printed=1.0, tolerance={"absolute": 0.1}, readings=readings)
    found = perturbations.readings_left_out(one, Evidence({"fits": 1.0, "misses": 2.0, "ruled out": 1.0}))
    assert [each.verdict for each in found] == [claims.NOT_REPRODUCED, claims.REPRODUCED]
    alone = claim("value", printed=1.0, tolerance={"absolute": 0.1}, readings=[readings[0], readings[2]])
    assert perturbations.readings_left_out(alone, Evidence({"fits": 1.0, "ruled out": 1.0})) == []


# The report


def result(name="nfc.ge.q", group=groups.EXECUTED, **changes):
    row = ROWS[name]
    now = None if group == groups.STOPPED else {**row, **changes}
    return groups.Reviewed(row, group, "so it was found", now, "notebooks/nfc/x.ipynb, cells 1 to 2 of 3", (), False)


def made(*results, kinds=()):
    return report.Review("two by name", datetime(2026, 1, 2, tzinfo=UTC), 3.0, kinds, results)


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.setattr(chromium, "find", lambda: None)
    folder = tmp_path / "report"
    told = report.write(folder, made(result(), result("nfc.eq-7.1", groups.RECORDED)), paths.root())
    return folder, told


def test_a_report_verifies_until_anything_in_it_is_altered(written, capsys):
    folder, _ = written
    assert cli.main(["review", "--verify", str(folder)]) == 0
    for name in (report.MARKDOWN, report.CODECHECK):
        held = (folder / name).read_bytes()
        for altered in (held + b"\n", held.replace(b"e", b"3", 1), b""):
            (folder / name).write_bytes(altered)
            assert cli.main(["review", "--verify", str(folder)]) == 1
            assert f"{name} was changed" in capsys.readouterr().err
        (folder / name).write_bytes(held)
    (folder / "more.md").write_text("more")
    assert report.faults(folder) == [f"{folder / 'more.md'} was added since the self-check was written"]
    (folder / "more.md").unlink()
    (folder / report.MARKDOWN).unlink()
    assert report.faults(folder) == [f"{folder / report.MARKDOWN} is gone since the self-check was written"]


def test_no_report_takes_anothers_place_and_no_self_check_is_told(written, tmp_path, capsys):
    folder, _ = written
    assert cli.main(["review", "nfc.ge.q", "--out", str(folder)]) == 1
    assert "holds something already" in capsys.readouterr().err
    assert cli.main(["review", "--verify", str(tmp_path)]) == 1
    assert "it is no self-check" in capsys.readouterr().err


def test_without_a_browser_the_missing_pdf_is_told_and_the_rest_is_written(written):
    folder, told = written
    assert any("no self-check.pdf: there is no Chromium" in line for line in told)
    assert {path.name for path in folder.iterdir()} == set(report.FILES) - {report.PDF}


def test_a_clone_whose_files_were_changed_says_so(tmp_path):
    def git(*words):
        subprocess.run(["git", "-C", tmp_path, *words], check=True, capture_output=True)

    git("init", "-q")
    (tmp_path / "a").write_text("as committed")
    git("add", "a")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")
    assert "changed file" not in report.markdown(made(result()), tmp_path)
    (tmp_path / "a").write_text("not as committed")
    assert "with 1 changed file, voicewire" in report.markdown(made(result()), tmp_path)


@pytest.mark.needs("chromium")
def test_with_a_browser_the_pdf_is_written_and_verified_too(tmp_path):
    assert report.write(tmp_path / "report", made(result()), paths.root())[1] == report.PDF
    page = tmp_path / "report" / report.PDF
    assert page.read_bytes().startswith(b"%PDF-") and report.faults(tmp_path / "report") == []
    page.write_bytes(page.read_bytes() + b" ")
    assert report.faults(tmp_path / "report") == [f"{page} was changed since the self-check was written"]


def test_the_file_in_codechecks_form_is_marked_and_leaves_out_what_a_person_signs(written):
    text = (written[0] / report.CODECHECK).read_text(encoding="utf-8")
    content = yaml.safe_load(text)
    assert "It is NOT a CODECHECK" in text and not {"codechecker", "report", "certificate"} & set(content)
    ours = yaml.safe_load((paths.root() / "codecheck.yml").read_text(encoding="utf-8"))
    assert all(content[name] == ours[name] for name in ("version", "paper", "repository"))
    assert "1 re-executed, 0 re-executed in part, 1 recorded only" in content["summary"]


def test_groups_are_never_merged_and_a_stopped_notebook_is_told_apart():
    text = report.markdown(made(result(), result("nfc.ge.p"), result("nfc.eq-7.1", groups.RECORDED)), paths.root())
    heads = [line for line in text.splitlines() if line.startswith("## ")]
    assert heads == ["## Re-executed: 2", "## Re-executed in part: 0", "## Recorded only: 1"]
    stopped = made(result(), result("nfc.ge.p", groups.STOPPED))
    assert stopped.counts()[groups.STOPPED] == 1 and not stopped.sound
    assert "## Not re-executed: 1" in report.markdown(stopped, paths.root())


@pytest.mark.parametrize("changes", [{"verdict": claims.NOT_REPRODUCED}, {"reproduced": 0.1}])
def test_another_verdict_or_number_is_shown_and_is_not_sound(changes):
    one = made(result(**changes))
    assert not one.sound and "| **no** |" in report.markdown(one, paths.root())
    assert any("NOT as committed" in line for line in report.summary(one))


# All of it, in kernels


RATE, CHUNK, SINGLE = "nfc.table-7.1.rate", "nfc.goodput-ceiling", "nfc.ge.q"
CELLS = [
    "import csv\nfrom voicewire.nfc import paper\nfrom voicewire_book import paths\n"
    "from voicewire_book.kit import claims\nledger = claims.load('nfc')",
    "SEED = 5",
    "with (paths.data('nfc') / 'measured.csv').open() as file:\n    measured = float(file.read())",
    "_ = ledger.judge('nfc.table-7.1.rate', 8e-3 * paper.CHUNK_BYTES / paper.SLOT_PERIOD)",
    "_ = ledger.judge('nfc.ge.q', measured)",
    "_ = ledger.judge('nfc.ge.p', ledger['nfc.ge.p'].printed * (1 if SEED == 5 else 2))",
    "raise ZeroDivisionError('after all that is wanted')",
]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A book of one small notebook, in which the first recording is the printed number."""
    base = tmp_path_factory.mktemp("book")
    (base / "data" / "nfc").mkdir(parents=True)
    (base / "notebooks" / "nfc").mkdir(parents=True)
    (base / "pyproject.toml").touch()
    shutil.copy(paths.data("nfc") / "claims.yml", base / "data" / "nfc")
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in CELLS])
    nbformat.write(notebook, base / ROWS[SINGLE]["notebook"])
    return base


def in_kernels(base, monkeypatch, kinds=()):
    monkeypatch.setenv("VOICEWIRE_ROOT", str(base))
    names = [RATE, SINGLE, "nfc.ge.p"]
    return {one.committed["id"]: one for one in rerun.rerun([ROWS[name] for name in names], kinds, say=lambda _: 0)}


@pytest.mark.needs("linux")
def test_claims_are_executed_until_judged_sorted_and_a_moved_recording_turns_a_verdict(small, monkeypatch):
    printed = claims.load("nfc")[SINGLE].printed
    recording = small / "data" / "nfc" / "measured.csv"
    recording.write_text(f"{printed}")
    found = in_kernels(small, monkeypatch, ["evidence", "seed"])
    assert [one.group for one in found.values()] == [groups.EXECUTED, groups.RECORDED, groups.EXECUTED]
    assert found[SINGLE].now["verdict"] == claims.REPRODUCED and "data/nfc/measured.csv" in found[SINGLE].why
    assert found[RATE].cells.endswith("cells 1 to 6 of 7") and found[RATE].now["reason"] == ROWS[RATE]["reason"]
    assert all(each["turned"] for one in found.values() for each in one.tried if each["kind"] == "evidence")
    seeds = {name: [each for each in one.tried if each["kind"] == "seed"] for name, one in found.items()}
    assert [each["verdict"] for each in seeds["nfc.ge.p"]] == [claims.CONTRADICTED]
    assert all("no statement that it rests on uses a SEED" in seeds[name][0]["what"] for name in (RATE, SINGLE))

    recording.write_text(f"{2 * printed}")
    moved = in_kernels(small, monkeypatch)
    assert moved[SINGLE].now["verdict"] == claims.CONTRADICTED and not moved[SINGLE].sound
    assert moved[RATE].sound and moved["nfc.ge.p"].now["verdict"] == claims.REPRODUCED  # nothing was stopped by it
    assert list((small / "_build").iterdir()) == []

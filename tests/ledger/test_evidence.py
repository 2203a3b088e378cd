"""What is stored can't be changed unseen: recorded files have checksums, stored verdicts go with their numbers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from voicewire import claims, cli, paths
from voicewire.ledger import evidence
from voicewire.publish.pages import status

ROOT = paths.root()
IDS = Path(__file__).with_name("ids.txt")


@pytest.mark.parametrize("study", [part.name for part in paths.PARTS if (ROOT / "data" / part.name).is_dir()])
def test_what_was_recorded_is_as_it_was_recorded(study):
    assert evidence.faults(paths.data(study)) == []


def test_a_claim_has_its_name_for_ever():
    """A claim that leaves its ledger and its notebook together would leave no other trace. New ones may come."""
    known = {identifier for study in claims.studies() for identifier in claims.load(study).claims}
    assert set(IDS.read_text(encoding="utf-8").split()) - known == set()


# Checksums


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    here = tmp_path / "data" / "nfc"
    (here / "captures").mkdir(parents=True)
    (here / "run.csv").write_text("1,2\n")
    (here / "captures" / "a.pcap").write_bytes(b"\x00\x01")
    (here / "claims.yml").write_text("study: nfc\n")
    evidence.renew(here, {})
    return here


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda here: (here / "run.csv").write_text("1,3\n"), "nfc/run.csv: is not what was recorded"),
        (lambda here: (here / "captures/a.pcap").unlink(), "nfc/captures/a.pcap: was recorded and is gone"),
        (lambda here: (here / "new.csv").write_text("1"), "nfc/new.csv: has no line in checksums.sha256"),
        (lambda here: (here / evidence.NAME).unlink(), "nfc/captures/a.pcap: has no line in checksums.sha256"),
    ],
)
def test_a_changed_recording_is_told(folder, change, said):
    assert evidence.faults(folder) == []
    change(folder)
    assert any(said in fault for fault in evidence.faults(folder))


def test_people_may_write_the_ledger(folder):
    (folder / "claims.yml").write_text("study: echo\n")
    (folder / "README.md").write_text("What is here.")
    assert evidence.faults(folder) == []


def test_a_recording_renews_its_own_lines_only(folder):
    (folder / "captures/a.pcap").write_bytes(b"forged")
    before = evidence.digests(folder)
    (folder / "run.csv").write_text("3,4\n")
    assert evidence.renew(folder, before) == ["run.csv"]
    assert [fault.split(":")[0] for fault in evidence.faults(folder)] == ["nfc/captures/a.pcap"]


def test_a_recording_that_takes_a_file_away_takes_its_line_too(folder):
    before = evidence.digests(folder)
    (folder / "run.csv").unlink()
    assert evidence.renew(folder, before) == ["run.csv"]
    assert list(evidence.known(folder)) == ["captures/a.pcap"]
    assert evidence.faults(folder) == []


def test_what_is_no_checksum_is_refused(folder):
    (folder / evidence.NAME).write_text("abc  run.csv\n")
    with pytest.raises(claims.ClaimError, match=r"nfc/checksums.sha256: not a checksum and a name: 'abc  run.csv'"):
        evidence.faults(folder)


def test_the_verb_writes_checksums_into_the_books_own_folder_only(folder, tmp_path, monkeypatch):
    from voicewire.nfc import record

    monkeypatch.setitem(record.RECORDINGS, "made-up", lambda place: (place / "made-up.csv").write_text("1"))
    monkeypatch.setattr(paths, "data", lambda study: folder)
    assert cli.main(["record", "nfc", "made-up", "--out", str(folder)]) == 0
    assert "made-up.csv" in evidence.known(folder)
    assert evidence.faults(folder) == []
    assert cli.main(["record", "nfc", "made-up", "--out", str(tmp_path / "elsewhere")]) == 0
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["made-up.csv"]


def test_the_status_page_shows_the_state(folder, monkeypatch):
    base = folder.parent.parent
    (base / "notebooks").mkdir()
    monkeypatch.setattr(status, "_versions", lambda base: "")
    assert "| `data/nfc` | 2 | as recorded |" in status.page(base, lambda target: None)
    (folder / "run.csv").write_text("1,3\n")
    assert "nfc/run.csv: is not what was recorded" in status.page(base, lambda target: None)


# Stored verdicts: each falsification is told by the scorecard

NOTEBOOK = "notebooks/nfc/03_reproduction.ipynb"
Tables = list[dict[str, Any]]


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> Path:
    """The NFC study alone, as it is committed."""
    base = tmp_path_factory.mktemp("book")
    shutil.copytree(ROOT / "data/nfc", base / "data/nfc")
    shutil.copytree(ROOT / "notebooks/nfc", base / "notebooks/nfc")
    (base / "pyproject.toml").touch()
    return base


def altered(base: Path, tmp_path: Path, change: Callable[[Tables], object]) -> list[str]:
    """Return what the scorecard says once the tables of the chapter are changed."""
    copy = tmp_path / "book"
    shutil.copytree(base, copy)
    path = copy / NOTEBOOK
    notebook = json.loads(path.read_text(encoding="utf-8"))
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    change([output["data"] for output in outputs if claims.MIME in output.get("data", {})])
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return claims.problems(copy)


def row_of(tables: Tables, identifier: str) -> dict[str, Any]:
    return next(row for table in tables for row in table[claims.MIME] if row["id"] == identifier)


def edit(identifier: str, **fields: object) -> Callable[[Tables], object]:
    """Change a row, and with it the table that shows it: only the row contradicts itself then."""

    def change(tables: Tables) -> None:
        for table in tables:
            rows = table[claims.MIME]
            if any(row["id"] == identifier for row in rows):
                row_of([table], identifier).update(fields)
                table.update(claims.Table(tuple(rows), frozenset())._repr_mimebundle_())

    return change


def in_text(kind: str, old: str, new: str) -> Callable[[Tables], object]:
    def change(tables: Tables) -> None:
        table = next(table for table in tables if old in "".join(table[kind]))
        table[kind] = "".join(table[kind]).replace(old, new, 1)

    return change


def twice(tables: Tables) -> None:
    row = {**tables[0][claims.MIME][0], "reproduced": 1.0}
    tables[0][claims.MIME].append(row)


def test_the_committed_chapter_goes_together(book):
    assert claims.problems(book) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edit("nfc.goodput-8kbps", verdict="reproduced"), "nfc.goodput-8kbps: its numbers make it not reproduced"),
        (edit("nfc.ge.q", verdict="contradicted by the paper itself"), "nfc.ge.q: its numbers make it reproduced"),
        (edit("nfc.ge.q", verdict="reproduced, corrected"), "nfc.ge.q: its numbers make it reproduced, not"),
        (edit("nfc.goodput-window-free", verdict="undecided"), "goodput-window-free: its numbers make it reproduced"),
        (edit("nfc.ge.q", reproduced=0.5), "nfc.ge.q: its numbers make it contradicted by the paper itself"),
        (edit("nfc.goodput-8kbps", reproduced=7.1), "7.1 was computed, and stands not in the reason"),
        (edit("nfc.goodput-8kbps", printed=7.0), "nfc.goodput-8kbps: printed is not what the ledger says"),
        (edit("nfc.goodput-8kbps", statement="Another."), "statement is not what the ledger says"),
        (edit("nfc.goodput-8kbps", tolerance={"relative": 0.5}), "tolerance is not what the ledger says"),
        (edit("nfc.ge.steady", interval=[0.0, 1.0]), "nfc.ge.steady: its numbers make it undecided"),
        (edit("nfc.mss.large-is-best", verdict="not reproduced"), "nfc.mss.large-is-best: its numbers make it"),
        (edit("nfc.control.steepens", verdict="not reproduced"), "nfc.control.steepens: its numbers make it"),
        (edit("nfc.control.zero", verdict="not reproduced"), "nfc.control.zero: its numbers make it reproduced"),
        (edit("nfc.slot.inverse", verdict="reproduced"), "nfc.slot.inverse: its numbers make it partly"),
        (edit("nfc.table-7.3.random-1e-6", verdict="reproduced"), "its rival passes the same test"),
        (edit("nfc.ge.q", verdict="not testable here"), "nothing is needed and no rival passes"),
        (edit("nfc.ge.q", verdict="hangs on what the paper does not say"), "nfc.ge.q: hangs on readings, and has none"),
        (edit("nfc.ge.q", digest="0" * 16), "nfc.ge.q: stale"),
        (edit("nfc.ge.q", id="nfc.ge.qq"), "nfc.ge.qq: shown in"),
        (in_text("text/html", "7.2085 kbit/s", "8.2085 kbit/s"), "text/html says something else than its data"),
        (in_text("text/html", "✗ not reproduced", "✓ reproduced"), "text/html says something else than its data"),
        (in_text("text/plain", "✗ not reproduced", "✓ reproduced"), "text/plain says something else than its data"),
        (twice, "shown twice in notebooks/nfc/03_reproduction.ipynb, with another verdict or other numbers"),
        (lambda tables: [table.pop(claims.MIME) for table in tables], "nfc.ge.q: unjudged"),
    ],
)  # fmt: skip
def test_each_falsification_is_told(book, tmp_path, change, said):
    assert any(said in fault for fault in altered(book, tmp_path, change)), altered

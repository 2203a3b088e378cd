"""What is recorded can't be changed unseen: it has checksums. `test_falsifications` does it to verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from voicewire import cli
from voicewire_book import paths
from voicewire_book.kit import claims
from voicewire_book.ledger import evidence
from voicewire_book.publish.pages import status

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
    from voicewire_book.chapters.nfc import record

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

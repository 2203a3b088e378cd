"""The history shows which came first, a claim or its verdict, and says when it cannot."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from voicewire import cli
from voicewire_book import paths
from voicewire_book.ledger import history

CLAIM, VERDICT = "- id: nfc.a\n", '"id": "nfc.a"\n'


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    (tmp_path / "data/nfc").mkdir(parents=True)
    (tmp_path / "notebooks/nfc").mkdir(parents=True)
    git(tmp_path, "init", "-q")
    return tmp_path


def git(base: Path, *arguments: str) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(base), *who, *arguments], check=True, capture_output=True)


def commit(base: Path, **files: str) -> None:
    places = {"claims": "data/nfc/claims.yml", "notebook": "notebooks/nfc/01_a.ipynb"}
    for name, text in files.items():
        (base / places[name]).write_text(text)
    git(base, "add", "-A")
    git(base, "commit", "-qm", "A step")


@pytest.mark.needs("git")
@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([{"claims": CLAIM}, {"notebook": VERDICT}], "the ledger came first; that nobody looked before"),
        ([{"notebook": VERDICT}, {"claims": CLAIM}], "the verdict came first; that nobody looked before"),
        ([{"claims": CLAIM, "notebook": VERDICT}], "both in one commit"),
        ([{"claims": CLAIM}], "the ledger came first"),
        ([{"claims": "- id: nfc.a-longer\n"}, {"notebook": VERDICT}, {"claims": CLAIM}], "the verdict came first"),
        ([{"claims": "- id: nfc.b\n"}], "there is no history here: take a clone"),
    ],
)
def test_which_came_first(clone, steps, said):
    for files in steps:
        commit(clone, **files)
    assert history.told("nfc", "nfc.a", clone)[-1].startswith(said)


@pytest.mark.needs("git")
def test_it_names_commits_and_their_days(clone):
    commit(clone, claims=CLAIM)
    commit(clone, notebook=VERDICT)
    done = subprocess.run(["git", "-C", str(clone), "log", "--format=%h"], capture_output=True, text=True, check=True)
    second, first = done.stdout.split()
    day = r"\d{4}-\d\d-\d\dT[\d:+Z-]+"
    claim, verdict, _ = history.told("nfc", "nfc.a", clone)
    assert re.fullmatch(f"in the ledger first: {first} of {day}", claim)
    assert re.fullmatch(f"judged first: {second} of {day}", verdict)


def test_without_another_checkout_it_is_this_one(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert history.told("nfc", "nfc.ge.q") == history.told("nfc", "nfc.ge.q", paths.root())
    if (paths.root() / ".git").exists():
        assert len(history.told("nfc", "nfc.ge.q")) == 3


def test_an_archive_has_no_history(tmp_path):
    assert history.told("nfc", "nfc.a", tmp_path) == ["there is no history here: take a clone"]


@pytest.mark.needs("git")
def test_without_git_there_is_none(clone, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert history.told("nfc", "nfc.a", clone) == ["there is no history here: take a clone"]


def test_the_command_prints_it(capsys):
    assert cli.main(["claim", "nfc.ge.q", "--history"]) == 0
    assert "\n  history     " in capsys.readouterr().out

"""``voicewire new-study`` in a copy of the repository: its rooms are whole, and nothing else was touched."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from voicewire_book import paths
from voicewire_book.publish import new_study

pytestmark = pytest.mark.night

ROOT = paths.root()
NAME = "frames"
NEVER_COPIED = (".git", ".venv", "_build", ".cache", "__pycache__", ".*_cache", ".hypothesis", "*.egg-info", "*.pcap")


def digests(base: Path) -> dict[str, str]:
    """Return the fingerprint of every file, but those that running Python leaves behind."""
    files = [path for path in base.rglob("*") if path.is_file() and not {"__pycache__", ".cache"} & set(path.parts)]
    return {path.relative_to(base).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def run(base: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a module of Python in the copy, with the copy's package."""
    where = {**os.environ, "PYTHONPATH": str(base / "src"), "VOICEWIRE_ROOT": str(base)}
    where.pop("VOICEWIRE_STRICT", None)  # the copy is no git checkout: what asks git is skipped in it
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=base, env=where, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository in which the study was made."""
    base = tmp_path_factory.mktemp("generated") / "book"
    shutil.copytree(ROOT, base, ignore=shutil.ignore_patterns(*NEVER_COPIED))
    before = digests(base)
    done = run(base, "voicewire", "new-study", NAME, "--title", "Frames on the wire")
    assert done.returncode == 0, done.stderr
    after = digests(base)
    changed = {file for file in after if after[file] != before.get(file)}
    outside = {file for file in changed if f"/{NAME}/" not in file and file != f"benchmarks/{NAME}.py"}
    print(f"files touched outside the study's rooms: {len(outside)}: {', '.join(sorted(outside))}")
    assert outside == set(new_study.TOUCHED)
    assert len(outside) <= 3
    assert set(before) <= set(after)
    assert set(done.stdout.splitlines()[:-1]) == changed
    return base


def test_its_code_is_clean_and_typed(copy):
    folders = [f"src/voicewire/{NAME}", f"tests/{NAME}", f"benchmarks/{NAME}.py", f"notebooks/{NAME}"]
    linted = run(copy, "ruff", "check", *folders)
    assert linted.returncode == 0, linted.stdout
    typed = run(copy, "mypy", "--follow-imports=silent", f"src/voicewire/{NAME}")
    assert typed.returncode == 0, typed.stdout
    spelled = run(copy, "codespell_lib", *folders, f"book/{NAME}", f"data/{NAME}")
    assert spelled.returncode == 0, spelled.stdout


def test_it_passes_its_own_tests_and_those_of_the_house(copy):
    tests = [f"tests/{NAME}", "tests/test_house.py", "tests/test_book.py", "tests/test_reading.py"]
    tests += ["tests/test_structure.py", "tests/test_numpydoc.py", "tests/test_reading_times.py"]
    tests += ["tests/test_introduced.py"]
    ours = f"{NAME} or house or parts or contents or chapter"
    done = run(copy, "pytest", "-q", "-p", "no:cacheprovider", "-k", ours, *tests)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "passed" in done.stdout


def test_its_claim_is_judged_and_on_the_scorecard(copy):
    done = run(copy, "voicewire", "scorecard", NAME)
    assert done.returncode == 0, done.stderr
    assert f"✓ {NAME}.g729-rate  reproduced" in done.stdout


def test_its_notebook_gives_the_same_again(copy):
    notebook = copy / "notebooks" / NAME / "01_study.ipynb"
    before = notebook.read_bytes()
    done = run(copy, "voicewire_book.publish.notebooks", "run", str(notebook))
    assert done.returncode == 0, done.stderr
    assert "unchanged" in done.stdout
    assert notebook.read_bytes() == before


def test_its_benchmark_runs(copy):
    where = {**os.environ, "PYTHONPATH": str(copy / "src")}
    done = subprocess.run(
        [sys.executable, copy / "benchmarks" / f"{NAME}.py", "--quick"], env=where, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("name", [NAME, "claims", "scorecard", "ledger", "mqtt", "stats", "paths", "kit"])
def test_a_name_that_is_taken_is_refused_and_nothing_written(copy, name):
    before = digests(copy)
    done = run(copy, "voicewire", "new-study", name)
    assert done.returncode == 2
    assert "is the name of something else already" in done.stderr
    assert done.stderr.count("\n") == 1
    assert digests(copy) == before


def test_a_file_that_is_there_is_not_overwritten(copy):
    (copy / "data" / "slots").mkdir()
    (copy / "data/slots/claims.yml").write_text("mine")
    before = digests(copy)
    done = run(copy, "voicewire", "new-study", "slots")
    assert (done.returncode, digests(copy)) == (2, before)
    assert "data/slots/claims.yml is there already" in done.stderr


@pytest.mark.parametrize(
    ("name", "title", "question", "message"),
    [
        ("Frames", "T", "Q?", "small letters"),
        ("frames2", "T", "Q?", "small letters"),
        ("../up", "T", "Q?", "small letters"),
        ("lambda", "T", "Q?", "word of Python"),
        ("x", "T", "Q?", "2 to 20"),
        ("slots", 'a "quoted" title', "Q?", "the title is one line"),
        ("slots", "two\nlines", "Q?", "the title is one line"),
        ("slots", "T" * 61, "Q?", "at most 60"),
        ("slots", "T", "100 %?", "the question is one line"),
        ("slots", "T", "No question.", "question mark"),
    ],
)
def test_words_that_would_break_a_template_are_refused(name, title, question, message):
    with pytest.raises(new_study.StudyError, match=message):
        new_study.rooms(name, title, question)


def test_every_template_is_filled():
    for path, text in new_study.rooms("slots", "Slots", "How many?").items():
        assert not [mark for mark in ("@NAME@", "@TITLE@", "@QUESTION@") if mark in path + text], path

"""The commands do only what has changed, and end with one clear line where something is wrong."""

from __future__ import annotations

import argparse
import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from voicewire import paths
from voicewire.publish.paper import PDF

SPEC = importlib.util.spec_from_file_location("make", paths.root() / "tools" / "make.py")
assert SPEC is not None and SPEC.loader is not None
make: Any = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {
        "src/voicewire/parts.toml": '[[part]]\nname = "nfc"\n\n[[part]]\nname = "echo"\n',
        "src/voicewire/claims.py": "a",
        "src/voicewire/nfc/link.py": "b",
        "src/voicewire/echo/filter.py": "c",
        "data/nfc/claims.yml": "d",
        "notebooks/nfc/01_a.ipynb": "e",
        "notebooks/echo/01_b.ipynb": "f",
        "requirements.lock": "g",
        "pyproject.toml": 'requires-python = ">=3.11,<3.15"\n',
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setattr(make, "ROOT", tmp_path)
    monkeypatch.setattr(make, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(make, "CACHE", tmp_path / ".cache")
    monkeypatch.delenv("VOICEWIRE_EXTRAS", raising=False)
    return tmp_path


def test_setup_is_done_once(checkout, monkeypatch):
    steps: list[str] = []

    def call(*command: object, step: str = "", **_: object) -> None:
        steps.append(step)
        make.python().parent.mkdir(parents=True, exist_ok=True)
        make.python().touch()

    monkeypatch.setattr(make, "call", call)
    make.setup()
    assert steps[-1] == "installing voicewire"
    count = len(steps)
    make.setup()
    assert len(steps) == count
    (checkout / "requirements.lock").write_text("G")
    make.setup()
    assert len(steps) == 2 * count


LACKING = ", for which there are no wheels of praat-parselmouth and webrtcvad-wheels yet"


@pytest.mark.parametrize(("minor", "lacking"), [(10, ""), (15, LACKING)])
def test_another_python_is_refused(checkout, monkeypatch, capsys, minor, lacking):
    monkeypatch.setattr(sys, "version_info", (3, minor, 0, "final", 0))
    assert make.main(["setup"]) == 1
    this, remedy = sys.version.split()[0], "call make PYTHON=python3.11, or another of these"
    said = f"make: Python 3.11 to 3.14 is needed, this is {this}{lacking}: {remedy}\n"
    assert capsys.readouterr().err == said


def test_a_python_is_refused_in_a_sentence_also_where_it_knows_less(tmp_path):
    # What Python 3.11 has brought is missing, and the syntax is that of 3.8.
    source = Path(make.__file__).read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 8))
    older = "import sys; sys.modules['tomllib'] = None; sys.version_info = (3, 9, 2, 'final', 0)"
    call = "import make; sys.exit(make.main(['setup']))"
    command = [sys.executable, "-c", f"{older}; {call}"]
    done = subprocess.run(command, cwd=Path(make.__file__).parent, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"make: Python 3\.\d+ to 3\.\d+ is needed, this is .*\n", done.stderr)


def test_a_failing_step_ends_with_its_name(checkout, monkeypatch, capsys):
    with pytest.raises(make.StepError, match="the step failed"):
        make.call(sys.executable, "-c", "raise SystemExit(3)", step="the step")


def test_it_reads_the_one_list_of_parts():
    assert make.chapters() == list(paths.chapters())


@pytest.fixture
def calls(checkout, monkeypatch) -> list[tuple[list[str], dict[str, str]]]:
    """What make calls, and the variables it sets, instead of doing it."""
    seen: list[tuple[list[str], dict[str, str]]] = []

    def call(*command: object, env: dict[str, str] | None = None, **_: object) -> None:
        seen.append(([str(part) for part in command], env or {}))
        make.SITE.mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(make, "call", call)
    monkeypatch.setattr(make, "SITE", checkout / "_build/html")
    monkeypatch.setattr(make, "SOURCE", checkout / "_build/source")
    for name in ("_config.yml", "genindex.md"):
        (checkout / name).touch()
    return seen


def test_the_pages_are_built_when_something_changed(checkout, calls):
    make.build(anew=False)
    make.build(anew=False)
    assert len(calls) == 1
    (checkout / "data/nfc/claims.yml").write_text("D")
    make.build(anew=False)
    assert len(calls) == 2
    make.build(anew=True)
    assert len(calls) == 3


def test_pages_are_printed_once_and_again_where_nothing_came_of_it(checkout, calls):
    make.build(anew=False)
    make.print_pages()
    make.print_pages()  # no browser was there: no file
    assert len(calls) == 3
    (make.SITE / PDF).touch()
    make.print_pages()
    make.print_pages()
    assert len(calls) == 4
    (checkout / "data/nfc/claims.yml").write_text("D")
    make.build(anew=False)
    make.print_pages()
    assert len(calls) == 6


@pytest.mark.needs("git")
def test_the_pages_are_built_again_at_another_commit(checkout, calls):
    def git(*arguments: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *arguments], cwd=checkout, check=True, capture_output=True)

    git("init")
    git("commit", "--allow-empty", "-m", "one")
    make.build(anew=False)
    make.build(anew=False)
    assert len(calls) == 1
    git("commit", "--allow-empty", "-m", "two")  # the status page names the commit
    make.build(anew=False)
    assert len(calls) == 2


def test_what_computes_has_one_thread_and_remembers_nothing_in_the_home_folder(checkout, calls, monkeypatch):
    options = argparse.Namespace(all=False, as_committed=False)
    monkeypatch.setattr(make, "setup", lambda: None)
    make.book(options)
    make.outputs(options)
    make.test(options)
    computing = [(command, env) for command, env in calls if {"voicewire.publish.executed", "pytest"} & set(command)]
    assert len(computing) == 4  # book, outputs, the tests, the comparison of the notebooks
    for command, env in computing:
        threads = {name: value for name, value in env.items() if name.endswith("_THREADS")}
        assert threads == dict.fromkeys(
            ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
        ), command
    for command, env in [*computing, *((c, e) for c, e in calls if "jupyter-book" in c[0])]:
        places = ("MPLCONFIGDIR", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
        for name in (*places, "XDG_CACHE_HOME"):
            assert Path(env[name]).is_relative_to(checkout / ".cache"), command
            assert Path(env[name]).is_dir()


def test_the_pages_are_made_from_what_was_executed_here(checkout, calls):
    new = checkout / "_build/executed/notebooks/nfc/01_a.ipynb"
    new.parent.mkdir(parents=True)
    new.write_text("executed")
    gone = new.with_name("09_gone.ipynb")
    gone.write_text("renamed since")
    staged = checkout / "_build/source/notebooks/nfc/01_a.ipynb"
    (checkout / "notebooks/nfc/assignment.ipynb").write_text("with its solutions")
    make.stage(as_committed=False)
    assert staged.read_text() == "executed"
    assert not staged.with_name("assignment.ipynb").exists()
    assert not staged.with_name(gone.name).exists()
    assert (checkout / "notebooks/nfc/01_a.ipynb").read_text() == "e"
    make.stage(as_committed=True)
    assert staged.read_text() == "e"
    (checkout / "data/nfc/claims.yml").unlink()
    make.stage(as_committed=True)
    assert not (checkout / "_build/source/data/nfc/claims.yml").exists()


@pytest.mark.parametrize("home", [None, "/proc", "/nonexistent"])
def test_a_home_that_cannot_be_written_is_seen(monkeypatch, tmp_path, home):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert not make.homeless()
    if home is None:
        monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    else:
        monkeypatch.setenv("HOME", home)
    assert make.homeless()

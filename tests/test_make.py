"""The commands do only what has changed, and end with one clear line where something is wrong."""

from __future__ import annotations

import argparse
import ast
import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from voicewire_book import paths
from voicewire_book.publish.paper import PDF

pytestmark = pytest.mark.landing

SPEC = importlib.util.spec_from_file_location("make", paths.root() / "tools" / "make.py")
assert SPEC is not None and SPEC.loader is not None
make: Any = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make)


def test_compiled_modules_are_kept_in_the_cache_where_none_may_lie_beside_the_sources(monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", "/nowhere")
    make.keep_bytecode()
    code = "import sys; print(sys.dont_write_bytecode, sys.pycache_prefix)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["False", str(make.CACHE / "bytecode")]
    make.keep_bytecode()  # where it was never forbidden, nothing changes
    assert make.os.environ["PYTHONPYCACHEPREFIX"] == str(make.CACHE / "bytecode")


PROJECT = 'requires-python = ">=3.11,<3.15"\n'


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {
        "src/voicewire_book/parts.toml": '[[part]]\nname = "nfc"\n\n[[part]]\nname = "echo"\n',
        "src/voicewire_book/kit/claims.py": "a",
        "src/voicewire/nfc/link.py": "b",
        "src/voicewire/echo/filter.py": "c",
        "data/nfc/claims.yml": "d",
        "notebooks/nfc/01_a.ipynb": "e",
        "notebooks/echo/01_b.ipynb": "f",
        **dict.fromkeys(make.LAYERS.values(), "g"),
        "pyproject.toml": PROJECT,
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setattr(make, "ROOT", tmp_path)
    monkeypatch.setattr(make, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(make, "CACHE", tmp_path / ".cache")
    for name in ("VOICEWIRE_EXTRAS", "VOICEWIRE_LAYER"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def install(checkout, monkeypatch) -> Callable[[str], list[list[str]]]:
    """Set a layer up; return the commands that this took."""
    seen: list[list[str]] = []

    def call(*command: object, **_: object) -> None:
        seen.append([str(part) for part in command])
        make.python().parent.mkdir(parents=True, exist_ok=True)
        make.python().touch()

    def install(layer: str) -> list[list[str]]:
        seen.clear()
        make.setup(layer)
        return list(seen)

    monkeypatch.setattr(make, "call", call)
    return install


def taken(commands: list[list[str]]) -> tuple[bool, list[str], bool]:
    """Return whether the environment was made anew, the locks it was filled from, and whether the package came in."""
    locks = [Path(part).name for command in commands for part in command if part.endswith(".lock")]
    return any("--clear" in c for c in commands), locks, any("-e" in c for c in commands)


SETUP, BOOK, TEST, EXTRAS = make.LAYERS.values()
NEW = (True, [SETUP, SETUP, BOOK], True)


def test_a_layer_is_added_to_what_is_there(install, monkeypatch):
    assert taken(install("book")) == NEW
    assert install("book") == []
    assert taken(install("test")) == (False, [SETUP, BOOK, TEST], False)
    assert install("book") == install("test") == []
    monkeypatch.setenv("VOICEWIRE_EXTRAS", "1")
    assert taken(install("book")) == (False, [SETUP, BOOK, TEST, EXTRAS], False)
    monkeypatch.delenv("VOICEWIRE_EXTRAS")
    assert [install(name) for name in make.LAYERS] == [[]] * 4


def test_a_variable_raises_the_layer_and_never_lowers_it(install, monkeypatch, capsys):
    monkeypatch.setenv("VOICEWIRE_LAYER", "test")
    assert taken(install("book")) == (True, [SETUP, SETUP, BOOK, TEST], True)
    monkeypatch.setenv("VOICEWIRE_LAYER", "book")
    assert taken(install("extras")) == (False, [SETUP, BOOK, TEST, EXTRAS], False)
    monkeypatch.setenv("VOICEWIRE_LAYER", "moon")
    assert make.main(["setup"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_locks_can_be_made_where_nothing_else_is_installed(install):
    assert taken(install("setup")) == (True, [SETUP], False)
    assert taken(install("book")) == (False, [SETUP, BOOK], True)


@pytest.mark.parametrize("lock", [SETUP, BOOK, TEST])
def test_another_lock_of_a_layer_that_is_there_makes_it_anew(checkout, install, lock):
    install("test")
    (checkout / lock).write_text("G")
    assert taken(install("test")) == (True, [SETUP, SETUP, BOOK, TEST], True)
    assert install("test") == []


def test_another_lock_of_a_higher_layer_matters_where_that_is_needed(checkout, install):
    install("book")
    (checkout / TEST).write_text("G")
    assert install("book") == []
    install("test")
    (checkout / TEST).write_text("H")
    assert install("book") == []
    assert taken(install("test"))[0]


def test_another_python_or_place_makes_it_anew_and_another_project_file_installs_the_package(
    checkout, install, monkeypatch
):
    install("test")
    (checkout / "pyproject.toml").write_text(PROJECT + "# H\n")
    assert taken(install("book")) == (False, [], True)
    monkeypatch.setattr(sys, "version_info", (3, 12, 1, "final", 0))
    assert taken(install("book")) == NEW
    make.python().unlink()
    assert taken(install("book")) == NEW
    (make.VENV / "voicewire.stamp").write_text("of another edition")
    assert taken(install("book")) == NEW


@pytest.mark.parametrize("at", range(4))
def test_an_interrupted_set_up_is_finished_by_the_next(install, monkeypatch, at):
    """Nobody knows what a package holds whose installation was cut off."""
    done = make.call

    def cut(*command: object, **_: object) -> None:
        if len(seen) == at:
            raise KeyboardInterrupt
        seen.append(command)
        done(*command)

    seen: list[object] = []
    monkeypatch.setattr(make, "call", cut)
    with pytest.raises(KeyboardInterrupt):
        make.setup("book")
    monkeypatch.setattr(make, "call", done)
    assert taken(install("book")) == NEW
    seen.clear()
    at = 0
    monkeypatch.setattr(make, "call", cut)
    with pytest.raises(KeyboardInterrupt):
        make.setup("test")
    monkeypatch.setattr(make, "call", done)
    assert taken(install("test")) == (True, [SETUP, SETUP, BOOK, TEST], True)


def test_all_that_is_installed_is_held_by_its_hash(install):
    commands = [command for command in install("extras") if "install" in command]
    assert len(commands) == 3
    for command in commands:
        package = command[-2:] == ["-e", str(make.ROOT)]
        assert {"--no-deps", "--no-build-isolation"} <= set(command) if package else "--require-hashes" in command


@pytest.mark.parametrize(
    ("command", "layer"),
    [("book", "book"), ("outputs", "book"), ("scorecard", "book"), ("lab", "book"), ("setup", "book"), ("test", "test"),
     ("lock", "setup")],
)  # fmt: skip
def test_each_command_sets_up_what_it_needs(checkout, monkeypatch, command, layer):
    asked: list[str] = []

    def setup(needed: str) -> None:
        asked.append(needed)
        raise make.StepError("enough")

    monkeypatch.setattr(make, "setup", setup)
    assert make.main([command]) == 1
    assert asked == [layer]


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

    def run(*command: object, env: dict[str, str] | None = None) -> int:
        seen.append(([str(part) for part in command], env or {}))
        make.SITE.mkdir(parents=True, exist_ok=True)
        return 0

    monkeypatch.setattr(make, "run", run)
    monkeypatch.setattr(make, "browser", lambda: True)
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
    for lock in (SETUP, TEST, EXTRAS):
        (checkout / lock).write_text("G")
    make.build(anew=False)
    assert len(calls) == 2
    make.build(anew=True)
    assert len(calls) == 3


def test_pages_are_built_from_nothing_when_a_browser_came(checkout, calls, monkeypatch):
    make.build(anew=False)
    (make.SITE / "a.html").touch()
    make.build(anew=False)
    assert len(calls) == 1 and (make.SITE / "a.html").exists()
    monkeypatch.setattr(make, "browser", lambda: False)
    make.build(anew=False)
    assert len(calls) == 2 and not (make.SITE / "a.html").exists()


def test_what_tools_leave_in_hidden_folders_changes_no_page(checkout, calls):
    make.build(anew=False)
    for name in (".ruff_cache/0.17/1", ".ipynb_checkpoints/a.ipynb", "nfc/__pycache__/a.pyc"):
        file = checkout / "notebooks" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    make.build(anew=False)
    assert len(calls) == 1


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
    monkeypatch.setattr(make, "setup", lambda needed: None)
    make.book(options)
    make.outputs(options)
    make.test(options)
    programs = {"voicewire_book.publish.executed", "pytest"}
    computing = [(command, env) for command, env in calls if programs & set(command)]
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


def test_every_step_runs_whatever_became_of_the_others(checkout, monkeypatch, capsys):
    status = {"ruff": 1, "pytest": -9}
    monkeypatch.setattr(make, "setup", lambda layer: None)
    exits = {name: (sys.executable, "-c", f"import os; os.kill(os.getpid(), {-code})" if code < 0 else f"exit({code})")
             for name in make.checks() for code in [status.get(name, 0)]}  # fmt: skip
    monkeypatch.setattr(make, "checks", lambda: {name: (command, {}) for name, command in exits.items()})
    assert make.main(["test"]) == 137
    told = capsys.readouterr()
    rows = {line.split()[0]: line for line in told.out.splitlines() if line.startswith("   ")}
    assert list(rows) == list(exits)
    assert [name for name, row in rows.items() if "FAILED" in row] == [*status]
    assert told.err == "make: ruff, pytest failed; what each says is above\n"


def test_it_says_beforehand_how_long_it_took_last_time(checkout, monkeypatch, capsys):
    monkeypatch.setattr(make, "setup", lambda layer: None)
    monkeypatch.setattr(make, "checks", lambda: {"ruff": ((sys.executable, "-c", ""), {})})
    assert make.main(["test"]) == 0
    assert "not known yet" in capsys.readouterr().out
    make.took("test", 610.0)
    assert make.main(["test"]) == 0
    assert "it took 10 min here last time" in capsys.readouterr().out

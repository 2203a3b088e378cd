"""What runs when: the list, the scripts that run it, the table that shows it, and the marks that tests carry."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lanes as marks
import pytest
import yaml

from voicewire_book import paths

pytestmark = pytest.mark.landing
pytest_plugins = ["pytester"]

ROOT = paths.root()


@pytest.fixture
def lanes(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The tool, which lies beside make.py and imports it; this file's helper has its name."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    monkeypatch.delitem(sys.modules, "lanes")
    yield importlib.import_module("lanes")
    sys.modules["lanes"] = marks


def test_the_table_is_made_from_the_list(lanes):
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert f"{lanes.BEGIN}{lanes.table()}{lanes.END}" in page, "python tools/lanes.py table"


def test_the_list_names_the_steps_of_make_test(lanes):
    assert [step.name for step in lanes.steps("reader")] == [*lanes.make.checks()]


def test_each_part_of_the_night_is_within_an_hour_and_github_runs_each(lanes):
    night = lanes.steps("night")
    assert max(step.minutes for step in night) <= 60
    names = [step.name for step in night]
    assert len(set(names)) == len(names)
    jobs = yaml.safe_load((ROOT / ".github/workflows/nightly.yml").read_text(encoding="utf-8"))["jobs"]
    assert jobs["night"]["strategy"]["matrix"]["part"] == names
    assert any(step.get("run") == "bash .ci/nightly ${{ matrix.part }}" for step in jobs["night"]["steps"])


@pytest.mark.parametrize(("script", "words"), [("run", "landing"), ("nightly", "night one two")])
def test_the_scripts_run_the_steps_of_their_lane(tmp_path, script, words):
    (tmp_path / "tools").mkdir()
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    (tmp_path / "tools/lanes.py").write_text("import sys; print(*sys.argv[1:])", encoding="utf-8")
    called = ["bash", f".ci/{script}", *words.split()[1:]]
    done = subprocess.run(called, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == words.split()


@pytest.fixture
def small(lanes, monkeypatch) -> Callable[..., int]:
    """Run a lane of four small steps, with nothing installed."""
    steps = [
        {"lane": "night", "name": name, "what": "…", "run": run, "minutes": minutes}
        for name, run, minutes in [("one", "true", 1), ("two", "exit 3", 1), ("three", "sleep 60", 0), ("four", ":", 1)]
    ]
    monkeypatch.setattr(lanes, "listed", lambda: {"step": steps, "programs": []})
    monkeypatch.setattr(lanes, "install", lambda: None)
    monkeypatch.setattr(lanes.make, "setup", lambda layer: None)
    monkeypatch.delenv("VOICEWIRE_EXTRAS", raising=False)
    return lambda *parts: int(lanes.main(["night", *parts]))


def test_each_step_runs_whatever_became_of_the_others(small, capfd):
    assert small() == 1
    rows = capfd.readouterr().out.partition("how it ended")[2].splitlines()[1:]
    ends = {row.split()[0]: row.partition("CPU min")[2].strip() for row in rows}
    assert ends == {
        "one": "passed",
        "two": "FAILED (exit status 3)",
        "three": "FAILED: not over within 0 min",
        "four": "passed",
    }


def test_single_parts_run_by_their_names(small, capfd):
    assert small("four", "one") == 0
    rows = capfd.readouterr().out.partition("how it ended")[2].splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["one", "four"]
    with pytest.raises(SystemExit):
        small("five")
    assert "no night part five: one, two, three, four" in capfd.readouterr().err


def test_a_step_that_found_nothing_to_try_says_so_and_fails_nothing(lanes, capfd):
    chosen = [lanes.Step("night", "one", "…", "exit 77", 2)]
    lanes.run(chosen)
    assert lanes.report(chosen) == 0
    assert capfd.readouterr().out.endswith("NOTHING was tried\n")


def test_a_step_runs_beside_the_next(lanes, tmp_path, capfd):
    there = tmp_path / "there"
    wait = f"for i in $(seq 600); do [ -e {there} ] && echo met && exit 0; sleep 0.1; done; exit 1"
    chosen = [lanes.Step("night", "one", "…", wait, 2, True), lanes.Step("night", "two", "…", f"touch {there}", 2)]
    lanes.run(chosen)
    assert [step.status for step in chosen] == [0, 0]
    assert capfd.readouterr().out.endswith("== one said\nmet\n\n")


def test_missing_packages_are_installed(lanes, monkeypatch):
    called: list[list[str]] = []

    def run(command: list[str], **_: object) -> Any:
        called.append([*command])
        told = "bash install ok installed\ngone deinstall ok config-files\n"
        return subprocess.CompletedProcess(command, 0, told)

    monkeypatch.setattr(lanes, "listed", lambda: {"programs": ["bash", "gone", "new"]})
    monkeypatch.setattr(lanes.shutil, "which", lambda name: name)
    monkeypatch.setattr(lanes.subprocess, "run", run)
    lanes.install()
    assert called[-1][-2:] == ["gone", "new"] and "install" in called[-1]


def test_a_reader_has_none_of_the_programs(tmp_path):
    """The commands are the README's own, in its order; one that fails does not keep the other from running."""
    for folder in (".ci", ".venv/bin", "bin", "tests/helpers"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / ".ci/reader", tmp_path / ".ci/reader")
    shutil.copy(ROOT / "README.md", tmp_path / "README.md")
    for name in ("chromium", "node", "something"):
        program = tmp_path / "bin" / name
        program.write_text("#!/bin/sh\n", encoding="utf-8")
        program.chmod(0o755)
    (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
    (tmp_path / "tests/helpers/needs.py").write_text("print('node,chromium')", encoding="utf-8")
    looked = 'command -v something chromium node mosquitto bwrap tshark firefox-esr; echo "$@ [$VOICEWIRE_EXTRAS]"'
    (tmp_path / "Makefile").write_text(f"book test:\n\t@{looked.replace('$', '$$')}\nbook: fail\nfail:\n\t@exit 7\n")
    env = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "VOICEWIRE_EXTRAS": "1"}
    done = subprocess.run(["bash", ".ci/reader"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr  # make's
    heads = [line for line in done.stdout.splitlines() if line.startswith("== ") and "exit" not in line]
    assert heads == ["== a reader's make book", "== a reader's make test"]
    found = [Path(line).name for line in done.stdout.splitlines() if line.startswith("/")]
    assert found == ["something"]
    assert " []" in done.stdout
    assert (tmp_path / ".cache/lacking").read_text() == "node,chromium\n"


FILES = {
    "test_plain": "import pytest\ndef test_a(): ...\n@pytest.mark.night\ndef test_b(): ...\n"
    "@pytest.mark.needs('java')\ndef test_c(): ...\n@pytest.mark.needs('live')\ndef test_p(): ...\n",
    "test_of_landing": "import pytest\npytestmark = [pytest.mark.slow, pytest.mark.landing]\ndef test_d(): ...\n",
    "test_of_night": "import pytest\npytestmark = pytest.mark.night\ndef test_e(): ...\nprint('imported')\n",
    "test_sampled": "import lanes, pytest\n@pytest.mark.parametrize('x', lanes.sampled('uvwxyz', 2))\n"
    "def test_f(x): ...\n",
    "test_of_others": "import pytest\n@pytest.mark.needs('posix')\ndef test_g(): ...\nprint('needless')\n",
}


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("", "abcdeffffffgp"),
        ("--lane reader", "acffgp"),
        ("--lane reader --pages with", "p"),
        ("--lane reader --pages without", "acffg"),
        ("--lane landing", "d"),
        ("--lane landing --needing java", "cd"),
        ("--lane landing --needing java,live --pages with", "p"),
        ("--lane night", "beffff"),
        ("--needing java", "c"),
    ],
)
def test_each_lane_has_its_tests(pytester: pytest.Pytester, options, found):
    pytester.makeconftest((ROOT / "tests/conftest.py").read_text(encoding="utf-8"))
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    helpers = str(ROOT / "tests/helpers")
    settings = settings.replace('testpaths = ["tests"]\n', "").replace('["tests/helpers"]', f'["{helpers}"]')
    (pytester.path / "pyproject.toml").write_text(settings, encoding="utf-8")
    pytester.makepyfile(**FILES)
    done = pytester.runpytest_subprocess("--collect-only", "-q", "-s", *options.split())
    names = [line.partition("::test_")[2][0] for line in done.outlines if "::test_" in line]
    assert "".join(sorted(names)) == found
    assert ("imported" in done.outlines) is (options in ("", "--lane night", "--needing java"))
    read = ("", "--lane reader", "--lane reader --pages without", "--needing java")
    assert ("needless" in done.outlines) is (options in read), "a file is not imported where its marks rule it out"


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("@pytest.mark.needs('live')", True),
        ('pytest.mark.needs(\n    "axe",\n    "live",\n)', True),
        ("pytest.mark.needs(*given(name))", True),
        ("from tests.test_browser import pytestmark", True),
        ('pytest.mark.needs("axe")\nkind = "live"', False),
    ],
)
def test_what_a_file_may_need_is_read_from_its_text(text, may):
    assert marks.may_need(text, ["java", "live"]) is may

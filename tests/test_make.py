"""The commands do only what has changed, and end with one clear line where something is wrong."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from voicewire import paths

SPEC = importlib.util.spec_from_file_location("make", paths.root() / "tools" / "make.py")
assert SPEC is not None and SPEC.loader is not None
make: Any = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {
        "src/voicewire/claims.py": "a",
        "src/voicewire/nfc/link.py": "b",
        "src/voicewire/echo/filter.py": "c",
        "data/nfc/claims.yml": "d",
        "notebooks/nfc/01_a.ipynb": "e",
        "notebooks/echo/01_b.ipynb": "f",
        "requirements.lock": "g",
        "pyproject.toml": "h",
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setattr(make, "ROOT", tmp_path)
    monkeypatch.setattr(make, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(make, "CACHE", tmp_path / ".cache")
    monkeypatch.delenv("VOICEWIRE_EXTRAS", raising=False)
    return tmp_path


def executed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []

    def call(*command: object, **_: object) -> None:
        names.extend(Path(str(part)).name for part in command if str(part).endswith(".ipynb"))

    monkeypatch.setattr(make, "call", call)
    return names


def test_only_what_changed_is_executed(checkout, monkeypatch):
    names = executed(monkeypatch)
    make.execute(everything=False)
    assert names == ["01_b.ipynb", "01_a.ipynb"]
    names.clear()
    make.execute(everything=False)
    assert names == []
    (checkout / "src/voicewire/nfc/link.py").write_text("B")
    make.execute(everything=False)
    assert names == ["01_a.ipynb"]
    names.clear()
    (checkout / "data/nfc/claims.yml").write_text("D")
    make.execute(everything=False)
    assert names == ["01_a.ipynb"]
    names.clear()
    (checkout / "src/voicewire/claims.py").write_text("A")
    make.execute(everything=False)
    assert names == ["01_b.ipynb", "01_a.ipynb"]
    names.clear()
    make.execute(everything=True)
    assert names == ["01_b.ipynb", "01_a.ipynb"]


def test_a_failed_execution_is_not_remembered(checkout, monkeypatch):
    def call(*command: object, **_: object) -> None:
        raise make.StepError("no")

    monkeypatch.setattr(make, "call", call)
    with pytest.raises(make.StepError):
        make.execute(everything=False)
    assert not (checkout / ".cache/executed.json").exists()


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


def test_another_python_is_refused(checkout, monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", (3, 10, 0, "final", 0))
    assert make.main(["setup"]) == 1
    err = capsys.readouterr().err
    assert "Python 3.11 to 3.13 is needed" in err
    assert err.count("\n") == 1


def test_a_failing_step_ends_with_its_name(checkout, monkeypatch, capsys):
    with pytest.raises(make.StepError, match="the step failed"):
        make.call(sys.executable, "-c", "raise SystemExit(3)", step="the step")


def test_it_reads_the_one_list_of_parts():
    assert tuple(part["name"] for part in make.PARTS) == tuple(part.name for part in paths.PARTS)
    assert set(make.chapters()) == set(paths.chapters())


def test_a_part_that_may_call_the_studies_depends_on_them(checkout, monkeypatch):
    echo = checkout / "src/voicewire/echo/rls.py"
    echo.parent.mkdir(parents=True, exist_ok=True)
    echo.touch()
    assert echo not in make.sources("nfc")
    monkeypatch.setattr(make, "PARTS", [*make.PARTS, {"name": "journey", "ledger": False}])
    assert echo in make.sources("journey")


def test_records_are_json(checkout, monkeypatch):
    executed(monkeypatch)
    make.execute(everything=False)
    record = json.loads((checkout / ".cache/executed.json").read_text())
    assert set(record) == {"notebooks/nfc/01_a.ipynb", "notebooks/echo/01_b.ipynb"}


def test_the_pages_are_built_when_something_changed(checkout, monkeypatch):
    builds = 0

    def call(*command: object, **_: object) -> None:
        nonlocal builds
        builds += 1
        make.SITE.mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(make, "call", call)
    monkeypatch.setattr(make, "SITE", checkout / "_build/html")
    for name in ("_config.yml", "genindex.md"):
        (checkout / name).touch()
    make.build(anew=False)
    make.build(anew=False)
    assert builds == 1
    (checkout / "data/nfc/claims.yml").write_text("D")
    make.build(anew=False)
    assert builds == 2
    make.build(anew=True)
    assert builds == 3

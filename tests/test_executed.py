"""The book's notebooks are executed apart from the committed ones: once, noted as they end, compared, written back."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from voicewire_book import paths
from voicewire_book.publish import executed, lockfile, notebooks

pytestmark = pytest.mark.landing

NFC, ECHO = "notebooks/nfc/01_a.ipynb", "notebooks/echo/01_b.ipynb"
FILES = {
    "src/voicewire_book/kit/claims.py": "a",
    "src/voicewire/nfc/link.py": "b",
    "src/voicewire/echo/filter.py": "c",
    "data/nfc/claims.yml": "d",
    "requirements.lock": "g",
    "pyproject.toml": "h",
}


def committed(path: Path, text: str, *tags: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    output = new_output("stream", name="stdout", text=text)
    cell = new_code_cell("print(1)", id="a", execution_count=1, outputs=[output], metadata={"tags": [*tags]})
    notebooks.write(path, notebooks.normalise(new_notebook(cells=[cell])))


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for name in (NFC, ECHO):
        committed(tmp_path / name, "1\n")
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    return tmp_path


@pytest.fixture
def ran(base: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The notebooks that were executed; each ends at once, with the output that the committed one has."""
    names: list[str] = []

    def run(stale: Iterable[Path], workers: object, *, target: Any, done: Any) -> None:
        for path in stale:
            names.append(path.relative_to(base).as_posix())
            notebooks.write(target(path), nbformat.read(path, as_version=4))
            done(notebooks.Run(path, 1.0, 1))

    monkeypatch.setattr(notebooks, "run", run)
    return names


def test_only_what_changed_is_executed(base, ran, monkeypatch):
    def now() -> list[str]:
        ran.clear()
        executed.execute(base)
        return list(ran)

    assert now() == [ECHO, NFC]
    assert now() == []
    for name, expected in [
        ("src/voicewire/nfc/link.py", [NFC]),
        ("data/nfc/claims.yml", [NFC]),
        ("src/voicewire_book/kit/claims.py", [ECHO, NFC]),
        ("requirements.lock", [ECHO, NFC]),
    ]:
        (base / name).write_text("changed")
        assert now() == expected
    for name in ("requirements-setup.lock", "requirements-test.lock", "requirements-extras.lock"):
        (base / name).write_text("changed")
    assert now() == []
    committed(base / ECHO, "2\n")
    assert now() == [ECHO]
    monkeypatch.setattr(executed, "versions", lambda: "a newer library")
    assert now() == [ECHO, NFC]
    (base / executed.EXECUTED / NFC).unlink()
    assert now() == [NFC]
    ran.clear()
    executed.execute(base, everything=True)
    assert ran == [ECHO, NFC]


def test_a_part_beside_the_studies_depends_on_all_of_them(base):
    beside = paths.Part("journey", "", "", ledger=False)
    names = {p.relative_to(base).as_posix() for p in executed.sources(base, beside)}
    assert set(FILES) - {"pyproject.toml"} == names


def test_layers_above_the_book_make_nothing_stale(tmp_path):
    """Neither a notebook, nor a sweep's kept results, nor compiled code: whatever stands beside a reader's packages."""
    root = Path(__file__).resolve().parents[1]
    reader, *above = (lockfile.pins((root / name).read_text(encoding="utf-8")) for name in (
        "requirements.lock", "requirements-setup.lock", "requirements-test.lock", "requirements-extras.lock",
    ))  # fmt: skip

    def state(*pins: lockfile.Pin) -> str:
        for pin in pins:
            about = tmp_path / f"{pin.name.replace('-', '_')}-0.dist-info/METADATA"
            about.parent.mkdir()
            about.write_text(f"Metadata-Version: 2.1\nName: {pin.name}\nVersion: 0\n")
        code = """if True:
            from pathlib import Path
            from voicewire._kit import _code_cache
            from voicewire_book import paths
            from voicewire_book.publish import executed
            from voicewire.sweep import fingerprint
            print(executed.states(paths.root()), fingerprint.environment())
            print(_code_cache.digest(Path(_code_cache.__file__)))"""
        env = {**os.environ, "PYTHONPATH": str(tmp_path)}
        return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout

    before, known = state(), {pin.name for pin in reader}
    assert state(*(pin for pins in above for pin in pins if pin.name not in known)) == before
    assert state(next(pin for pin in reader if pin.name == "numpy")) != before


def test_an_interruption_costs_only_what_was_running(base, monkeypatch):
    def run(stale: Iterable[Path], workers: object, *, target: Any, done: Any) -> None:
        path = next(iter(stale))
        notebooks.write(target(path), nbformat.read(path, as_version=4))
        done(notebooks.Run(path, 1.0, 1))
        raise KeyboardInterrupt

    monkeypatch.setattr(notebooks, "run", run)
    assert executed.main(["book"]) == 130
    assert list(json.loads((base / executed.RECORD).read_text())) == [ECHO]
    later: list[str] = []

    def go_on(stale: Iterable[Path], workers: object, *, target: Any, done: Any) -> None:
        for path in stale:
            later.append(path.relative_to(base).as_posix())
            notebooks.write(target(path), nbformat.read(path, as_version=4))
            done(notebooks.Run(path, 1.0, 1))

    monkeypatch.setattr(notebooks, "run", go_on)
    executed.execute(base)
    assert later == [NFC]


def test_a_damaged_record_is_begun_anew(base, ran):
    executed.execute(base)
    (base / executed.RECORD).write_text("{")
    ran.clear()
    executed.execute(base)
    assert ran == [ECHO, NFC]


def test_no_tracked_file_is_written_and_what_differs_is_named(base, capsys):
    committed(base / NFC, "something else\n")
    committed(base / ECHO, "1.5 s\n", "nbval-ignore-output")
    before = {name: (base / name).read_bytes() for name in (NFC, ECHO)}
    assert executed.main(["book", "--workers", "1"]) == 0  # real kernels: both print 1
    out = capsys.readouterr().out
    assert {name: (base / name).read_bytes() for name in (NFC, ECHO)} == before
    assert "1/2" in out and "2/2" in out
    assert "1 of 2 notebooks differ from what is committed (beside 1 cells that measure" in out
    assert f"  {NFC}: cells 1" in out
    made = nbformat.read(base / executed.EXECUTED / NFC, as_version=4)
    assert made.cells[0].outputs[0].text == "1\n"

    assert executed.write_back(base) == [ECHO, NFC]
    assert nbformat.read(base / NFC, as_version=4).cells[0].outputs[0].text == "1\n"
    assert executed.write_back(base) == []


def test_a_source_that_was_edited_meanwhile_is_not_overwritten(base, ran):
    executed.execute(base)
    edited = nbformat.read(base / NFC, as_version=4)
    edited.cells[0].source = "print(2)"
    notebooks.write(base / NFC, edited)
    assert executed.write_back(base) == []
    assert nbformat.read(base / NFC, as_version=4).cells[0].source == "print(2)"


def test_what_the_book_says_of_times_is_recorded_whole_or_not_at_all(base, capsys):
    (base / "book").mkdir()
    times = {NFC: {"seconds": 2.5, "megabytes": 1}}
    kept = base / notebooks.TIMES
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(times))
    assert executed.main(["times"]) == 1
    assert f"not executed here: {ECHO}" in capsys.readouterr().err
    assert not (base / executed.SAID).exists()
    kept.write_text(json.dumps({**times, ECHO: {"seconds": 4.0, "megabytes": 1}, "notebooks/gone/01_a.ipynb": {}}))
    os.utime(kept, (1.8e9, 1.8e9))
    assert executed.main(["times"]) == 0
    record = json.loads((base / executed.SAID).read_text())
    assert record["seconds"] == {ECHO: 4.0, NFC: 2.5}
    assert record["megabytes"] == {ECHO: 1, NFC: 1}
    assert record["date"].startswith("2027-01-1")
    assert record["python"] in sys.version


def test_another_version_of_a_library_is_another_state(monkeypatch):
    before = executed.versions()
    assert executed.versions() == before
    version = executed.metadata.version
    monkeypatch.setattr(executed.metadata, "version", lambda name: "0" if name == "numpy" else version(name))
    assert executed.versions() != before


@pytest.mark.night
@pytest.mark.needs("posix")
def test_ctrl_c_ends_it_without_a_trace_and_the_next_run_goes_on(base):
    for name, source in ((ECHO, "print(1)"), (NFC, "import time\ntime.sleep(600)")):
        notebook = nbformat.read(base / name, as_version=4)
        notebook.cells[0].source = source
        notebooks.write(base / name, notebook)
    command = [sys.executable, "-m", "voicewire_book.publish.executed", "book", "--workers", "1"]
    started = subprocess.Popen(
        command, env=os.environ | {"VOICEWIRE_ROOT": str(base)}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a background job ignores it
    )  # fmt: skip
    try:
        assert started.stdout is not None
        for line in started.stdout:
            if "1/2" in line:  # the other one is starting, importing or asleep: each must end alike
                os.killpg(started.pid, signal.SIGINT)
                break
        _, err = started.communicate(timeout=120)
    finally:
        started.kill()
    assert started.returncode == 130
    assert err == "interrupted: what is executed is kept, the same command goes on there\n"
    assert list(json.loads((base / executed.RECORD).read_text())) == [ECHO]


def _say(base: Path, **sources: str) -> list[Path]:
    for name, source in sources.items():
        notebooks.write(base / f"{name}.ipynb", new_notebook(cells=[new_code_cell(source)]))
    return [base / f"{name}.ipynb" for name in sources]


@pytest.mark.night
@pytest.mark.parametrize("workers", [1, 2])
def test_an_interruption_ends_every_process_that_was_started(tmp_path, workers, capfd):
    before = set(multiprocessing.active_children())  # another test's pool may live on
    paths = _say(tmp_path, one="print(1)", two="import time\ntime.sleep(600)", three="print(3)")
    running = notebooks.execute({path: path.with_suffix(".out") for path in paths}, workers=workers)
    assert next(running).path == paths[0]
    with pytest.raises(KeyboardInterrupt):
        running.throw(KeyboardInterrupt)
    assert set(multiprocessing.active_children()) <= before
    assert not paths[1].with_suffix(".out").exists()
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.night
@pytest.mark.needs("posix")
def test_a_process_that_is_killed_fails_its_notebook_and_the_others_are_executed(tmp_path):
    """The kernel here kills the process that executes it, as a machine without memory would."""
    paths = _say(tmp_path, one="import os\nos.kill(os.getppid(), 9)", two="print(2)")
    ended = {run.path: run.error for run in notebooks.execute({path: path for path in paths}, workers=1)}
    assert ended == {paths[0]: "the process that executed it ended with exit code -9", paths[1]: ""}


def test_the_longest_is_executed_first(base, ran):
    (base / executed.SAID).parent.mkdir(parents=True)
    for order in ([NFC, ECHO], [ECHO, NFC]):
        spent = dict(zip(order, (9.0, 1.0), strict=True))
        (base / executed.SAID).write_text(json.dumps({"seconds": spent}), encoding="utf-8")
        ran.clear()
        executed.execute(base, everything=True)
        assert ran == order

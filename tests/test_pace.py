"""Long runs say how long they take, and Ctrl-C ends them without a trace."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from voicewire import cli
from voicewire._kit import pace
from voicewire_book import paths
from voicewire_book.publish import executed, notebooks


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on by itself by one second whenever it is read."""
    ticks = iter(range(10_000))
    monkeypatch.setattr(pace.time, "monotonic", lambda: float(next(ticks)))


def test_it_is_said_once_after_the_first_items(clock):
    said: list[str] = []
    run = pace.Pace("sweep", 100, said.append)
    for _ in range(100):
        run.done()
    assert said == ["sweep: 3 of 100 done, about 2 min more; Ctrl-C stops it"]


def test_the_start_is_not_taken_for_the_pace(monkeypatch):
    said: list[str] = []
    times = iter((0.0, 20.0, 21.0, 22.0))
    monkeypatch.setattr(pace.time, "monotonic", lambda: next(times))
    run = pace.Pace("sweep", 23, said.append)
    for _ in range(3):
        run.done()
    assert said == ["sweep: 3 of 23 done, about 20 s more; Ctrl-C stops it"]


def test_one_long_item_tells_the_pace(monkeypatch):
    said: list[str] = []
    times = iter((0.0, 600.0))
    monkeypatch.setattr(pace.time, "monotonic", lambda: next(times))
    pace.Pace("cells", 3, said.append).done()
    assert said == ["cells: 1 of 3 done, about 20 min more; Ctrl-C stops it"]


def test_a_short_run_and_a_notebook_are_spared(clock, monkeypatch, capsys):
    said: list[str] = []
    run = pace.Pace("sweep", 10, said.append)
    for _ in range(10):
        run.done()
    assert said == []
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    run = pace.Pace("sweep", 1000)
    for _ in range(1000):
        run.done()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf")])
def test_no_time_is_made_up(wrong):
    with pytest.raises(ValueError, match="a run takes some seconds"):
        pace.words(wrong)


@pytest.fixture
def kept(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(pace, "_file", lambda: tmp_path / "times" / "run-times.json")
    return tmp_path / "times" / "run-times.json"


def test_what_a_run_took_is_remembered(kept):
    assert pace.last_time("a") is None
    pace.keep("a", 61.04)
    pace.keep("b", 3.0)
    assert (pace.last_time("a"), pace.last_time("b")) == (61.0, 3.0)
    for nonsense in ("", "[]", '{"a": "x"}', '{"a": NaN}', '{"a": -1}'):
        kept.write_text(nonsense)
        assert pace.last_time("a") is None
        pace.keep("b", 3.0)
        assert pace.last_time("b") == 3.0


def test_record_says_what_it_took_last_time(kept, tmp_path, monkeypatch, capsys):
    from voicewire_book.chapters.nfc import record

    monkeypatch.setitem(record.RECORDINGS, "lwip", lambda place: (place / "lwip.csv").write_text("x"))
    pace.keep("nfc/lwip", 600.0)
    assert cli.main(["record", "nfc", "--out", str(tmp_path / "there")]) == 0
    assert "1/1 lwip, " in (out := capsys.readouterr().out)
    assert ", about 10 min" in out
    assert pace.last_time("nfc/lwip") < 600.0
    minutes = json.loads((paths.data("transport") / "provenance.json").read_text())["minutes"]
    assert record_of("transport", monkeypatch, tmp_path, capsys).endswith(f", {pace.words(60 * minutes)}\n")


def record_of(study: str, monkeypatch, tmp_path: Path, capsys) -> str:
    from voicewire_book.chapters.transport import record

    monkeypatch.setitem(record.RECORDINGS, "experiment", lambda place: None)
    assert cli.main(["record", study, "experiment", "--out", str(tmp_path / study)]) == 0
    return capsys.readouterr().out


def test_a_recording_that_fails_leaves_nothing_and_takes_nothing(kept, tmp_path, monkeypatch, capsys):
    from voicewire_book.chapters.nfc import record

    def half(place: Path) -> None:
        (place / "lwip.csv").write_text("half")
        raise RuntimeError("no more paper")

    monkeypatch.setitem(record.RECORDINGS, "lwip", half)
    assert cli.main(["record", "nfc", "--out", str(tmp_path / "new" / "there")]) == 1
    assert not (tmp_path / "new").exists()
    there = tmp_path / "there"
    there.mkdir()
    (there / "lwip.csv").write_text("whole")
    assert cli.main(["record", "nfc", "--out", str(there)]) == 1
    assert [file.read_text() for file in there.iterdir()] == ["whole"]
    assert "no more paper" in capsys.readouterr().err
    assert pace.last_time("nfc/lwip") is None


def test_the_book_says_how_long_its_notebooks_take(tmp_path):
    times = tmp_path / notebooks.TIMES
    files = [tmp_path / "notebooks" / "nfc" / f"0{number}_a.ipynb" for number in (1, 2)]
    assert executed.how_long(tmp_path, files) == ""
    times.parent.mkdir(parents=True)
    known = {file.relative_to(tmp_path).as_posix(): {"seconds": 100.0} for file in files}
    times.write_text(json.dumps(known))
    assert executed.how_long(tmp_path, files, 2) == "; about 2 min, as it took here before"
    assert executed.how_long(tmp_path, files, 1) == "; about 3 min, as it took here before"
    assert executed.how_long(tmp_path, [*files, tmp_path / "notebooks" / "new.ipynb"], 1) == ""


LONG = {
    "a sweep": (["record", "voip", "quality", "--calls", "10000", "--out", "{out}"], "quality"),
    "real sockets": (["record", "emqtt", "--tests", "100000", "--out", "{out}"], "experiments"),
    "a test bed": (
        ["record", "transport", "series", "--iterations", "100000", "--bed", "proxy", "--broker", "embedded",
         "--quiet", "--out", "{out}"],
        "series",
    ),
    "one process": (["record", "pharyngeal", "shapes", "--out", "{out}"], "shapes"),
}
"""Runs that take long anywhere, and a word of the line with which they begin."""
FUZZ = [sys.executable, str(Path(__file__).with_name("helpers") / "fuzz.py"), "--streams", "1000000"]


def in_group(group: int) -> list[str]:
    """The processes of a group that still run, by their command."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == group and fields[0] != "Z":  # its session
                found.append((stat.parent / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


@pytest.mark.slow
@pytest.mark.needs("linux")
@pytest.mark.parametrize("kind", [*LONG, "fuzzing"])
def test_ctrl_c_leaves_no_trace(kind, tmp_path):
    """As at a terminal: the whole group gets the signal."""
    words, begun = LONG.get(kind, ([], ""))
    command = [sys.executable, "-m", "voicewire", *(word.format(out=tmp_path / "out") for word in words)]
    place = tmp_path / "tmp"
    place.mkdir()
    run = subprocess.Popen(
        FUZZ if kind == "fuzzing" else command,
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(place), "PYTHONPATH": str(paths.root() / "src"), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a background job ignores it
    )
    try:
        assert run.stdout is not None
        line = run.stdout.readline() if begun else ""
        assert begun in line
        time.sleep(1.5 if begun else 4.0)
        assert run.poll() is None, run.stderr.read() if run.stderr else ""
        os.killpg(run.pid, signal.SIGINT)
        _, err = run.communicate(timeout=60)
    finally:
        deadline = time.monotonic() + 10
        while (left := in_group(run.pid)) and time.monotonic() < deadline:
            time.sleep(0.1)  # what was told to end is ending
        if run.poll() is None or left:
            os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    told = [line for line in err.splitlines() if not re.match(r"(sweep|delays|fuzzing): \d+ of", line)]
    # CPython ends by the signal itself if that broke off an `exec`, of an import for one: 130 to a shell, too
    assert run.returncode in (130, -signal.SIGINT), err
    assert told == (["interrupted"] if kind == "fuzzing" else ["voicewire: interrupted"])
    assert left == []
    assert not (tmp_path / "out").exists()
    assert list(place.iterdir()) == []

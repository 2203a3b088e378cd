"""A received call: numbers that wrap, packets that come twice, late, in another order or never."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.cli import main
from voicewire.voip.captures.received import in_order, read_arrivals, score
from voicewire.voip.errors import VoipError


@given(
    st.integers(0, 65_535), st.integers(0, 2**32 - 1), st.lists(st.floats(0, 300), min_size=2, max_size=60),
    st.sets(st.integers(0, 59)),
)  # fmt: skip
def test_where_numbers_and_timestamps_begin_and_wrap_does_not_matter(
    first: int, tick: int, jitter: list[float], twice: set[int]
) -> None:
    sent = np.concatenate((np.arange(len(jitter)), [k for k in sorted(twice) if k < len(jitter)])).astype(int)
    arrival = 0.02 * sent + np.array(jitter)[sent] / 1000 + 0.0001 * (np.arange(sent.size) >= len(jitter))
    order = np.argsort(arrival, kind="stable")
    number, stamp = (first + sent[order]) % 65_536, (tick + 160 * sent[order]) % 2**32
    for made in (in_order(arrival[order], number), in_order(arrival[order], number, stamps=stamp)):
        assert made.delays_ms == pytest.approx(np.array(jitter) - min(jitter), abs=1e-6)
        assert (made.duplicates, made.strays) == (sent.size - len(jitter), 0)


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(0, 65_535)), min_size=1, max_size=40))
def test_any_numbers_give_a_stream_or_one_reason(rows: list[tuple[float, int]]) -> None:
    """Every packet is a frame, a duplicate or a stray; none is counted twice."""
    times, numbers = zip(*sorted(rows), strict=True)
    made = in_order(times, numbers)
    assert np.isfinite(made.delays_ms).sum() + made.duplicates + made.strays == len(rows)
    assert made.delays_ms.min() == 0.0
    assert score(made, "G.711", 50.0).best.r >= score(made, "G.711", 50.0).fixed.r - 1e-9


def test_lost_twice_and_late_packets_are_counted() -> None:
    made = in_order([0.0, 0.02, 0.021, 0.08, 0.09], [65_534, 65_535, 65_535, 2, 0])
    assert np.isinf(made.delays_ms).tolist() == [False, False, False, True, False]
    assert (made.duplicates, made.reordered) == (1, 1)


def test_a_stray_number_is_no_burst_of_losses_and_two_begin_a_new_count() -> None:
    numbers = [*range(10, 20), 40_000, *range(20, 30)]
    made = in_order(0.02 * np.arange(21), numbers)
    assert (made.delays_ms.size, made.strays, np.isinf(made.delays_ms).sum()) == (20, 1, 0)
    made = in_order(0.02 * np.arange(30), [*range(10), *range(40_000, 40_020)])
    assert (made.delays_ms.size, made.strays, np.isinf(made.delays_ms).sum()) == (20, 10, 0)


def test_a_pause_is_no_delay_where_timestamps_tell() -> None:
    """Half a second of silence is not sent: by numbers alone everything behind it is 500 ms late."""
    number = np.arange(100)
    spoken = 0.02 * number + 0.5 * (number >= 50)
    blind, seeing = in_order(spoken, number), in_order(spoken, number, stamps=np.round(8000 * spoken).astype(int))
    assert blind.delays_ms.max() == pytest.approx(500.0)
    assert seeing.delays_ms.max() == pytest.approx(0.0, abs=1e-6)
    assert seeing.shown
    assert np.flatnonzero(np.diff(seeing.spurts)).tolist() == [49]


def test_what_is_no_speech_is_neither_frame_nor_loss() -> None:
    number = np.arange(30)
    made = in_order(0.02 * number, number, stamps=160 * number, frames=number % 10 != 3)
    assert made.delays_ms.size == 27
    assert np.isfinite(made.delays_ms).all()


@pytest.mark.parametrize(
    ("times", "numbers"), [([], []), ([0.0], [70_000]), ([0.0], [0.5]), ([1.0, 0.0], [0, 1]), ([np.nan], [0])]
)
def test_what_no_stream_can_be_is_refused(times: list[float], numbers: list[int]) -> None:
    with pytest.raises(VoipError):
        in_order(times, numbers)


@pytest.mark.parametrize(
    "content", ["", "seconds,number\n", "0.0,1\nx,2\n", "inf,1\n", "0.0,1\n0.02\n", "0.0,1,5\n0.02,2\n", "0,70000\n"]
)
def test_a_wrong_file_has_one_clear_error(tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "call.csv"
    file.write_text(content)
    with pytest.raises(VoipError):
        read_arrivals(file)
    assert main(["voip", "score", str(file)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("written", ["\ufeff{0},{1}\n", '"{0}","{1}"\n', "{0}, {1}\r\n"])
def test_what_other_programs_put_around_numbers_loses_no_packet(tmp_path: Path, written: str) -> None:
    """A mark of the byte order, quotes, and the ends of lines of Windows."""
    file = tmp_path / "call.csv"
    lines = [written.format(0.02 * i, 7 + i) for i in range(3)]
    file.write_bytes((lines[0] + "".join(lines[1:]).replace("\ufeff", "")).encode())
    assert read_arrivals(file).numbers == [7, 8, 9]


def test_the_command_says_what_it_assumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "call.csv"
    file.write_text("".join(f"{0.02 * i:.3f},{(65_530 + i) % 65_536}\n" for i in range(20) if i not in (7, 8)))
    assert main(["voip", "score", str(file), "--delay", "100", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["lost_percent"] == pytest.approx(10.0)
    assert made["burst_ratio"] == pytest.approx(2 * 0.9)
    assert (made["longest_burst"], made["fastest_ms"], made["codec_from"]) == (2, 100.0, "assumed")
    assert made["buffers"]["best"]["r"] >= made["buffers"]["fixed"]["r"]
    assert main(["voip", "score", str(file), "--delay", "100", "--codec", "G.729"]) == 0
    out = capsys.readouterr().out
    assert "codec G.729 (stated), 100 ms for the fastest packet (stated, not measured)" in out

"""Echo against the filter's length: least squares, the recorded table, and what the chapter says of it."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from voicewire.echo.recordings.input_validation import SignalError
from voicewire_book.chapters.echo import experiments, figures, filter_length, recording_pairs

CHAPTER = Path(__file__).parents[2] / "notebooks" / "echo" / "01_adaptive_filters.ipynb"


def test_the_best_that_stands_still_is_least_squares():
    rng = np.random.default_rng(1)
    x = np.r_[rng.standard_normal(400), np.zeros(3)]
    d = np.convolve(x, [0.7, -0.3, 0.2, 0.1])[: x.size] + 0.1 * rng.standard_normal(x.size)
    windows = np.column_stack([np.r_[np.zeros(k), x[: x.size - k]] for k in range(3)])
    assert np.allclose(filter_length.best_fixed(x, d, 3), np.linalg.lstsq(windows, d, rcond=None)[0], atol=1e-9)
    with pytest.raises(SignalError, match="silent"):
        filter_length.best_fixed(0 * x, d, 3)
    with pytest.raises(SignalError, match="samples"):
        filter_length.best_fixed(x, d[:-1], 3)
    with pytest.raises(SignalError, match="samples"):
        filter_length.best_fixed(x[:3], d[:3], 3)


def test_a_smaller_case_of_the_table_is_computed_anew():
    """All of the living room and of the made-up one that takes a second; the laboratories' sweeps are not kept."""
    seed = filter_length.SEEDS[0]
    rows = filter_length.table({"living room": recording_pairs.living_room()}, [seed], [64, 512])
    recorded = experiments.read("lengths")
    for row in rows:
        for name in ("fixed", "before", "adaptive", "white"):
            (was,) = experiments.column(recorded, name, room=row["room"], seed=seed, taps=row["taps"])
            assert row[name] == pytest.approx(was, abs=0.1), (row["room"], row["taps"], name)


def test_the_recorded_table_is_whole():
    rows = experiments.read("lengths")
    names = ["made up", "living room", *recording_pairs.LABORATORIES]
    assert [(r["room"], r["seed"], r["taps"]) for r in rows] == [
        (name, seed, taps) for seed in filter_length.SEEDS for name in names for taps in filter_length.LENGTHS
    ]


def test_noise_alone_is_what_is_left_where_the_filter_is_long_enough():
    room = np.random.default_rng(2).standard_normal(40)
    far, heard = filter_length.heard_in(room, 3, 6.0)
    found = filter_length.one_length(room, 64, far, heard)
    half = slice(far.size // 2, None)
    noise = heard - np.convolve(far, room)[: far.size]
    assert found["fixed"] == pytest.approx(10 * np.log10(np.sum(heard[half] ** 2) / np.sum(noise[half] ** 2)), abs=0.3)
    assert found["white"] == 50


def test_the_chapter_says_what_the_table_and_the_room_say():
    cells = json.loads(CHAPTER.read_text("utf-8"))["cells"]
    text = " ".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    rows = experiments.read("lengths")
    mean = {
        (room, taps, what): np.mean(experiments.column(rows, what, room=room, taps=taps))
        for room in ("living room", *recording_pairs.LABORATORIES)
        for taps in filter_length.LENGTHS for what in ("fixed", "white")
    }  # fmt: skip
    off = {
        room: max(abs(mean[room, taps, "fixed"] - mean[room, taps, "white"]) for taps in filter_length.LENGTHS)
        for room in ("living room", *recording_pairs.LABORATORIES)
    }
    living, first, second = off.values()
    # rounded up in the tenth and in the whole: "within"
    assert f"In the first laboratory the bracket is within {np.ceil(10 * first) / 10:.1f} dB" in text
    assert f"in the second within {np.ceil(second):.0f} dB" in text
    assert f"In the living room it is up to {living:.1f} dB off" in text
    room = recording_pairs.living_room()
    energy = np.abs(np.fft.fft(room)) ** 2
    share = energy[np.abs(np.fft.fftfreq(room.size, 1 / 8000)) < 100].sum() / energy.sum()
    assert f"{100 * share:.0f} % of that response's energy is below 100 Hz" in text
    at = [round(float(mean["laboratory 1", taps, "white"]), 1) for taps in (1024, 2048)]
    grows = round(at[1] - at[0], 1)
    assert f"${at[1]} - {at[0]} = {grows}$ dB" in text
    assert f"8000 \\cdot {grows}) = {60 * 1024 / (8000 * grows):.2f}$ s" in text
    more = round(20 - at[0], 1)
    (taps,) = re.findall(rf"1024 \+ 1024 \\cdot {more}/{grows} \\approx (\d+)\$ taps", text)
    assert int(taps) == pytest.approx(1024 + 1024 * more / grows, abs=5)


def test_a_missing_folder_is_said(tmp_path, capsys):
    assert filter_length._main([str(tmp_path / "out.csv"), "--rooms", str(tmp_path)]) == 1
    assert "pip download" in capsys.readouterr().err


def test_the_figure_has_a_line_and_markers_for_each_room():
    ax = figures.by_length({"hall": {"fixed": {64: [3.0, 5.0], 128: [8.0, 8.0]}, "adaptive": {64: [3.0], 128: [7.0]}}})
    lines = [line for line in ax.lines if line.get_mfc() == "none" or line.get_label() == "hall"]
    drawn = {line.get_marker(): line.get_ydata().tolist() for line in lines}
    assert drawn == {"None": [4.0, 8.0], "o": [3.0, 7.0]}
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["hall"]
    assert legend.get_title().get_text() == "line: fixed\nmarkers: adaptive"

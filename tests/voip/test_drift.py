"""The drift of two clocks: known ones are found, what is none is not taken for one, and the line is the best one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from voicewire.cli import main
from voicewire.voip.captures.clock_skew import Drift, clock_drift, without_drift
from voicewire.voip.captures.delay_trend import tilted
from voicewire.voip.captures.received import Received, in_order, read_arrivals
from voicewire.voip.captures.received_figures import parting
from voicewire.voip.errors import VoipError
from voicewire_book import paths

Row = NDArray[np.float64]


def waits(count: int, rng: np.random.Generator) -> Row:
    """A queue that fills and empties, and something of its own for each packet."""
    slow = np.empty(count)
    slow[0] = 0.0
    for k in range(1, count):
        slow[k] = 0.97 * slow[k - 1] + rng.normal()
    return np.maximum(slow, 0.0) + rng.exponential(2.0, count)


def call(ppm: float, count: int, rng: np.random.Generator, extra: Callable[[Row], Row] = np.zeros_like) -> Received:
    """Packets of 20 ms by a clock that is slow by so much; one in fifty is lost; times as a capture rounds them."""
    spoken = 20.0 * np.arange(count)
    arrival = spoken * (1 + 1e-6 * ppm) + waits(count, rng) + extra(spoken)
    order = np.argsort(arrival, kind="stable")
    order = order[rng.random(count) > 0.02]
    times = np.round(arrival[order] / 1000, 6)
    return in_order(times - times[0], order % 65_536, stamps=(4_000_000_000 + 160 * order) % 2**32)


@pytest.mark.parametrize("ppm", [-200, -80, -20, 20, 80, 200])
def test_a_known_drift_is_found_within_what_is_said_and_taken_out(ppm: int) -> None:
    rng = np.random.default_rng([7, 1000 + ppm])
    made = [clock_drift(call(ppm, 9000, rng)) for _ in range(8)]
    assert all(abs(one.ppm - ppm) <= one.within_ppm for one in made)
    assert np.median([abs(one.ppm - ppm) for one in made]) < 10
    if abs(ppm) >= 80:
        assert sum(one.why_not == "" for one in made) >= 7
    plain = np.random.default_rng(5)
    stream, still = call(ppm, 9000, plain), call(0, 9000, np.random.default_rng(5))
    found = clock_drift(stream)
    if not found.why_not:
        level = without_drift(stream, found).delays_ms
        left, right = (np.nanmax(np.where(np.isfinite(row), row, np.nan)) for row in (level, still.delays_ms))
        assert left == pytest.approx(right, abs=1e-6 * found.within_ppm * 180_000 + 1)


def test_what_is_told_is_seldom_wrong_whatever_the_drift() -> None:
    """Over calls of half a minute to three, with and without a route that becomes longer on the way."""
    rng = np.random.default_rng(91)
    wrong = told = 0
    for k in range(120):
        ppm, count = float(rng.uniform(-200, 200)), int(rng.integers(1500, 9000))
        turn = 20.0 * float(rng.uniform(0, count))
        longer = 6.0 * (k % 2)
        found = clock_drift(call(ppm, count, rng, lambda spoken, t=turn, m=longer: m * (spoken > t)))
        told += not found.why_not
        wrong += not found.why_not and abs(found.ppm - ppm) > found.within_ppm
    assert told > 20
    assert wrong <= 0.05 * told


def test_without_a_drift_none_is_told() -> None:
    rng = np.random.default_rng(17)
    found = [clock_drift(call(0.0, 3000, rng)) for _ in range(30)]
    assert sum(not one.why_not for one in found) <= 1
    assert all("may be off by" in one.why_not for one in found if one.why_not)


@pytest.mark.parametrize("size", [1, 2, 5, 10])
def test_nothing_is_not_said_to_be_off_by_nothing(size: int) -> None:
    """Packets at even times, or in even bursts, as from a simulator: no drift, and no 0 that may be off by 0."""
    k = np.arange(1000)
    found = clock_drift(in_order((0.02 * size * (k // size)).tolist(), k.tolist(), 20.0, (160 * k).tolist(), 8000.0))
    assert found.why_not == "below 1 ppm, which may be off by as much"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 40)), min_size=2, max_size=30).filter(
        lambda rows: len({x for x, _ in rows}) > 1
    )
)
def test_the_line_is_the_linear_programmes(rows: list[tuple[int, int]]) -> None:
    """The least sum of heights above a line that no point lies below, slopes within a hundredth."""
    sent, delay = np.array(rows, dtype=float).T
    slope = tilted(sent, delay)
    answer = linprog(
        [-sent.sum(), -float(sent.size)], np.c_[sent, np.ones(sent.size)], delay,
        bounds=[(-0.01, 0.01), (None, None)],
    )  # fmt: skip
    sums = [float(np.sum(delay - k * sent - np.min(delay - k * sent))) for k in (slope, answer.x[0])]
    assert sums[0] == pytest.approx(sums[1], abs=1e-4)


def test_least_squares_is_off_by_what_the_chapter_says() -> None:
    """A hundred calls by the chapter's own code, whose queue is as busy at the start as at the end."""
    notebook = paths.root() / "notebooks" / "voip" / "02_quality_and_playout.ipynb"
    cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(notebook.read_text("utf-8"))["cells"]}
    made: dict[str, Any] = {"np": np}
    exec(cells["drift-made"], made)
    rng = np.random.default_rng(3)
    calls = [made["drifting"](100, rng, grows=False) for _ in range(100)]
    off = [1e6 * np.polyfit(sent, seen, 1)[0] - 100 for sent, _, seen in calls]
    assert "off by some 20 ppm" in cells["drift-steady-seen"]
    assert np.mean(np.abs(off)) == pytest.approx(20, rel=0.25)
    assert abs(np.mean(off)) < 3 * np.std(off) / 10, "right in the mean"


def test_the_mobile_calls_drift_cannot_be_told() -> None:
    phone = read_arrivals(paths.data("voip") / "mobile.csv")
    mobile = in_order(phone.times, phone.numbers, stamps=phone.stamps, clock_hz=16_000)
    found = clock_drift(mobile)
    assert found.why_not
    assert without_drift(mobile, found) is mobile


def test_steeper_than_clocks_and_too_few_are_said() -> None:
    number = np.arange(2000)
    steep = in_order(0.02 * number * 1.004, number, stamps=160 * number)
    assert "are not two clocks" in clock_drift(steep).why_not
    few = clock_drift(in_order(0.02 * number[:19], number[:19], stamps=160 * number[:19]))
    assert few.why_not == "19 frames are too few"
    assert np.isnan(few.ppm)
    with pytest.raises(VoipError, match="from in_order"):
        clock_drift(None)  # type: ignore[arg-type]
    with pytest.raises(VoipError, match="from clock_drift"):
        without_drift(steep, 5.0)  # type: ignore[arg-type]
    assert Drift(1.0, 0.5, "").why_not == ""


def test_the_command_tells_the_drift_and_scores_without_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ten minutes at 200 ppm are 120 ms: with the drift left in, half of the call waits for the rest."""
    rows = [(0.02 * k * (1 + 200e-6) + 0.003 * ((7 * k) % 5 == 0), k % 65_536, 160 * k) for k in range(30_000)]
    drifting, still, bare = (tmp_path / f"{name}.csv" for name in ("drifting", "still", "bare"))
    drifting.write_text("".join(f"{t:.6f},{n},{s}\n" for t, n, s in rows))
    still.write_text("".join(f"{t - 200e-6 * 0.02 * k:.6f},{n},{s}\n" for k, (t, n, s) in enumerate(rows)))
    bare.write_text("".join(f"{t:.6f},{n}\n" for t, n, _ in rows))
    made = {}
    for file in (drifting, still, bare):
        assert main(["voip", "score", str(file), "--json"]) == 0
        made[file.stem] = json.loads(capsys.readouterr().out)
    assert made["drifting"]["drift"]["ppm"] == pytest.approx(200, abs=0.1)
    assert made["drifting"]["drift"]["taken_out"] is True
    assert made["still"]["drift"]["taken_out"] is False
    assert made["bare"]["drift"] == {"ppm": None, "within_ppm": None, "taken_out": False, "why_not": "no timestamps"}
    for name in ("fixed", "best"):
        one, other = (made[file]["buffers"][name]["r"] for file in ("drifting", "still"))
        assert one == pytest.approx(other, abs=0.01)
        assert made["bare"]["buffers"]["fixed"]["r"] < one - 1
    assert main(["voip", "score", str(drifting)]) == 0
    assert "the sender's clock is slow by 200.0 ppm (±" in capsys.readouterr().out


def test_the_figure_draws_the_frames_and_three_lines() -> None:
    rng = np.random.default_rng(3)
    sent = 20.0 * np.arange(2000)
    seen = 40 + 150e-6 * sent + rng.exponential(4.0, 2000)
    ax = parting(sent, seen, 150.0)
    frames, true, below, fitted = ax.lines
    assert np.array_equal(frames.get_ydata(), seen)
    slopes = [float(np.diff(line.get_ydata())[0] / np.ptp(sent)) for line in (true, below, fitted)]
    assert slopes == pytest.approx([150e-6, tilted(sent, seen), np.polyfit(sent, seen, 1)[0]], rel=1e-9)
    for line in (true, below):
        assert (np.interp(sent / 1000, line.get_xdata(), line.get_ydata()) <= seen + 1e-9).all()
    assert ax.texts[0].get_text() == "simulated here"
    plt.close("all")

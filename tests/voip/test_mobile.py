"""The call over a mobile network: what is kept of it, what the chapter says of it, and what its figure draws."""

from __future__ import annotations

import hashlib
import json
import math

import matplotlib.pyplot as plt
import numpy as np
import pytest

from voicewire.voip.captures.clock_skew import clock_drift
from voicewire.voip.captures.received import Received, in_order, read_arrivals, score
from voicewire.voip.captures.received_figures import received
from voicewire.voip.emodel import delay_impairment
from voicewire.voip.playout import bound, fixed
from voicewire.voip.playout_rules.adaptive_playout import ramjee
from voicewire_book import paths

FILE = paths.data("voip") / "mobile.csv"


@pytest.fixture(scope="module")
def call() -> Received:
    phone = read_arrivals(FILE)
    return in_order(phone.times, phone.numbers, stamps=phone.stamps, clock_hz=16_000)


def test_only_times_and_numbers_from_zero_are_kept() -> None:
    head, *rows = FILE.read_text(encoding="utf-8").splitlines()
    assert head == "seconds,number,timestamp"
    assert rows[0] == "0.000000,0,0"
    assert {row.count(",") for row in rows} == {2}
    assert set("".join(rows)) <= set("0123456789.,")
    kept = (FILE.parent / "checksums.sha256").read_text(encoding="utf-8")
    assert f"{hashlib.sha256(FILE.read_bytes()).hexdigest()}  mobile.csv" in kept


def test_nothing_is_lost_and_half_is_late(call: Received) -> None:
    late = [round(100 * float(np.mean(call.delays_ms > deadline))) for deadline in (100, 400, 1000, 2000)]
    assert late == [73, 52, 35, 22]
    assert np.isfinite(call.delays_ms).all()
    assert (call.delays_ms.size, call.reordered, call.frame_ms, call.shown) == (746, 21, 60.0, False)
    assert call.delays_ms.max() == pytest.approx(3471.8, abs=0.05)


def test_no_buffer_saves_it(call: Received) -> None:
    """The chapter's words, by the rules themselves on the same trace."""
    made = score(call, "G.711", 100.0)
    trace = (call.delays_ms + 100.0, call.spurts, "G.711")
    assert [one.r for one in made[3:6]] == [fixed(*trace).r, ramjee(*trace).r, bound(*trace).r]
    assert made.best.r < 20
    assert 0.74 < made.best.loss < 0.76  # it plays a quarter
    assert 0.23 < made.adaptive.loss < 0.25  # three quarters are heard
    assert made.adaptive.r < 0
    last = call.sent_ms > call.sent_ms[-1] - 5000  # the network has recovered, and Ramjee's rule waits all the same
    assert call.delays_ms[last].max() + 100 < 1000
    assert made.adaptive.delays_ms[call.spurts[last]].min() > 3000
    assert float(delay_impairment(3572.0)) == pytest.approx(459, abs=0.5)


def test_the_chapter_works_with_this_calls_numbers(call: Received) -> None:
    notebook = paths.root() / "notebooks" / "voip" / "02_quality_and_playout.ipynb"
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    text = " ".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert rf"$94.2 - 30 \ln 16 = {94.2 - 30 * math.log(16):.1f}$" in text
    off, length = clock_drift(call).within_ppm / 1e6, (call.sent_ms[-1] - call.sent_ms[0]) / 1000
    assert f"${off:.6f} \\cdot {length:.1f}/4 = {off * length / 4:.1f}$ s" in text


def test_the_figure_draws_each_frame_and_each_rule(call: Received) -> None:
    made = score(call, "G.711", 100.0)
    ax = received(call, made, 100.0)
    frames, *rules = ax.lines
    assert np.array_equal(frames.get_ydata(), call.delays_ms + 100)
    for line, one in zip(rules, made[3:6], strict=True):
        assert np.array_equal(line.get_ydata(), one.delays_ms[call.spurts], equal_nan=True)
    assert ax.texts[0].get_text() == "recorded elsewhere"
    plt.close("all")


def test_what_never_came_is_marked_above_the_others() -> None:
    stream = in_order(0.02 * np.array([0, 1, 2, 4]), [0, 1, 2, 4])
    ax = received(stream, score(stream, "G.711", 50.0), 50.0)
    lost = next(line for line in ax.lines if line.get_label() == "frame that never came")
    assert list(lost.get_xdata()) == pytest.approx([0.06])
    plt.close("all")

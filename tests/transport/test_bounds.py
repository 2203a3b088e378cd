"""Quality of service against loss: the bounds, what is recorded, and the figures that are drawn from it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from voicewire.testbed import LinkSpec, TestbedError
from voicewire.transport import measurement_runs, overhead_formulas, paper
from voicewire_book import paths
from voicewire_book.chapters.transport import figures_printed as printed
from voicewire_book.chapters.transport import qos_guarantees
from voicewire_book.chapters.transport.analysis import Recorded

DATA = paths.data("transport")


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_a_bound_is_the_flights_of_the_mode_and_half_a_round_trip(qos: int) -> None:
    flights = len(overhead_formulas.flights("mqtt", qos, "persistent"))
    assert qos_guarantees.bound(qos, 0.04) == pytest.approx(0.02 * (flights + 1))
    assert qos_guarantees.bound(qos, 0.04, timeouts=True) == pytest.approx(
        qos_guarantees.bound(qos, 0.04) + 2 * (0.04 + 0.2)
    )


def test_without_loss_all_arrive_and_none_before_its_round_trips() -> None:
    spec = LinkSpec(delay=0.01)
    rows = qos_guarantees.measure(spec, bed="proxy", messages=3)
    assert len(rows) == 9
    for qos, trips in enumerate((1, 1, 2)):  # our broker passes a message on at PUBLISH, and paho at PUBREL
        assert qos_guarantees.reliability(rows, qos).mean() == 1
        assert rows[rows.qos == qos].time_ms.min() >= 1e3 * trips * spec.rtt


def test_loss_on_loopback_is_refused() -> None:
    with pytest.raises(TestbedError, match="nothing is lost on loopback"):
        qos_guarantees.measure(bed="proxy")


def test_a_message_that_never_came_is_neither_there_nor_in_time() -> None:
    rows = pd.DataFrame({"qos": [1] * 4, "time_ms": [10.0, 59.0, 61.0, np.nan]})
    assert qos_guarantees.reliability(rows, 1).mean() == 0.75
    assert qos_guarantees.met(rows, 1, 0.04).mean() == 0.5
    assert qos_guarantees.met(rows, 1, 0.04, timeouts=True).mean() == 0.75


def test_the_recorded_messages_are_whole_and_met_losses() -> None:
    rows, about = qos_guarantees.load_bounds(DATA), json.loads((DATA / "bounds.json").read_text(encoding="utf-8"))
    assert about["networks"] == {"lossy": str(qos_guarantees.SPEC)}
    assert (rows.groupby("qos").size() == 200).all()
    for qos in range(3):
        times = rows[rows.qos == qos].time_ms
        assert times.min() >= 1e3 * overhead_formulas.round_trips("mqtt", qos, "persistent") * qos_guarantees.SPEC.rtt
        assert (
            times
            > 1e3
            * (
                overhead_formulas.round_trips("mqtt", qos, "persistent") * qos_guarantees.SPEC.rtt
                + qos_guarantees.TIMEOUT
            )
        ).any()


@pytest.fixture(scope="module")
def rows() -> Recorded:
    return Recorded(measurement_runs.load_iterations(DATA))


@pytest.mark.parametrize(("network", "what"), [(n, w) for n in paper.NETWORKS for w in ("header", "time")])
def test_each_printed_figure_has_eight_curves_of_means(rows: Recorded, network: str, what: str) -> None:
    upper = printed.printed(rows, network, what)
    lower = upper.figure.axes[1]
    named = [line for ax in (upper, lower) for line in ax.lines if not str(line.get_label()).startswith("_")]
    drawn = [line.get_ydata() for line in named]  # without the thin edges of the bands
    assert len(drawn) == len(printed.CURVES) == 8
    for y, (transport, kind, end) in zip(drawn, printed.CURVES, strict=True):
        means = [samples.mean() for samples in printed.curve(rows, what, network, transport, kind, end)]
        assert np.allclose(np.asarray(y, float), means)
    one = rows.cell(network, "tcp", "fresh", 100, kind="file")
    column = {"header": "receiver_header", "time": "time_ms"}[what]
    assert np.asarray(drawn[-1], float)[2] == pytest.approx(one[column].mean())


def test_a_curve_of_anything_else_is_refused(rows: Recorded) -> None:
    with pytest.raises(ValueError, match="header or time"):
        printed.curve(rows, "energy", "lan", "tcp", "file", 0)


def test_the_ratio_divides_by_the_payload_of_all_messages(rows: Recorded) -> None:
    lines = printed.ratio(rows, "lan").lines
    fresh, loop = np.asarray(lines[0].get_ydata(), float), np.asarray(lines[4].get_ydata(), float)
    assert fresh.tolist() == [272 / size for size in paper.PAYLOADS]
    assert loop[0] == pytest.approx(rows.header("lan", "mqtt", "loop", 1).mean() / paper.LOOP)


def test_the_bounds_stand_where_they_are() -> None:
    ax = printed.under_loss(qos_guarantees.load_bounds(DATA), qos_guarantees.SPEC.rtt)
    places = {round(float(c.get_segments()[0][0][0]), 3) for c in ax.collections}
    assert places == {
        round(1e3 * qos_guarantees.bound(q, qos_guarantees.SPEC.rtt, t), 3) for q in (1, 2) for t in (False, True)
    }
    assert all(float(np.asarray(line.get_ydata())[-1]) == 1 for line in ax.lines[:3])


def test_recording_writes_rows_and_where_they_come_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = pd.DataFrame({"qos": [0, 1, 2], "iteration": [0, 0, 0], "time_ms": [1.0, 2.0, np.nan]})
    monkeypatch.setattr(qos_guarantees, "measure", lambda **_: made)
    qos_guarantees.record_bounds(tmp_path, messages=1, which="embedded", command="by hand")
    assert qos_guarantees.reliability(qos_guarantees.load_bounds(tmp_path), 2).mean() == 0
    assert json.loads((tmp_path / "bounds.json").read_text(encoding="utf-8"))["command"] == "by hand"

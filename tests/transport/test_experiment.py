"""The experiment's parts: paper counts, runs over real sockets, recording that resumes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.testbed import LinkSpec, TestbedError
from voicewire.transport import measurement_runs, overhead_formulas, paper
from voicewire.transport.experiment_grid import Cell, full_grid, small_grid
from voicewire.transport.linear_topology import Bed
from voicewire.transport.mqtt_dissector import packets
from voicewire.transport.payloads import Payload
from voicewire_book import paths
from voicewire_book.chapters.transport import captured_sessions, conformance_checks, readings, time_ratios
from voicewire_book.chapters.transport.analysis import Recorded, coverage, goodput

BEDS = [
    "proxy",
    pytest.param("namespaces", marks=pytest.mark.needs("namespaces")),
]
BROKERS = [
    "embedded",
    pytest.param("mosquitto", marks=pytest.mark.needs("mosquitto")),
]
DATA = paths.root() / "data" / "transport"


def test_round_trips_are_counted() -> None:
    counted = {
        c: overhead_formulas.round_trips(*c, "fresh") for c in (("tcp", 0), ("mqtt", 0), ("mqtt", 1), ("mqtt", 2))
    }
    assert list(counted.values()) == [1.5, 3.0, 3.0, 5.0]
    assert [overhead_formulas.round_trips("mqtt", q, "persistent") for q in range(3)] == [1.0, 1.0, 3.0]
    with pytest.raises(ValueError, match="no such configuration"):
        overhead_formulas.round_trips("udp", 0, "fresh")


@given(st.integers(0, 300_000), st.sampled_from([0, 1, 2]))
def test_publish_size_is_what_paho_would_send(size: int, qos: int) -> None:
    remaining = 2 + len(paper.TOPIC) + (2 if qos else 0) + size
    encoded, n = [], remaining
    while True:
        n, byte = divmod(n, 128)
        encoded.append(byte)
        if not n:
            break
    assert overhead_formulas.packet_bytes(size, qos) == 1 + len(encoded) + remaining


def test_least_headers_and_slow_start() -> None:
    assert overhead_formulas.least_header_bytes(1_000_000) == 13_700
    assert overhead_formulas.least_header_bytes(1460) == 20
    assert [overhead_formulas.slow_start_rounds(n * overhead_formulas.MSS) for n in (1, 10, 11, 30, 31)] == [
        0,
        0,
        1,
        1,
        2,
    ]


def test_advice_orders_and_refuses() -> None:
    one = overhead_formulas.advise(rtt=0.04, size=100, messages=1, subscribers=1)
    assert one[0].name.startswith("TCP")
    many = overhead_formulas.advise(rtt=0.04, size=1000, messages=10, subscribers=10)
    assert many[0].name.startswith("MQTT")
    assert [o.cost.octets for o in many] == sorted(o.cost.octets for o in many)
    with pytest.raises(ValueError, match="rtt is 0"):
        overhead_formulas.advise(rtt=0, size=1, messages=1, subscribers=1)


def test_the_grid_has_what_the_paper_has_and_more() -> None:
    grid = full_grid()
    assert len({c.name for c in grid}) == len(grid) >= 400
    assert {c.size for c in grid} == {*paper.PAYLOADS, 10_000, *paper.PAYLOADS_TEXT}
    assert {c.kind for c in grid} == {"bytes", "file", "icto"}
    assert all(c.iterations >= paper.ITERATIONS for c in grid if not c.gap)
    assert len({c.seed for c in grid}) == len(grid)


@pytest.mark.parametrize("kind", ["bytes", "file", "icto"])
def test_payloads(kind: str) -> None:
    with Payload(kind, 777, np.random.default_rng(1)) as payload:
        data = payload.make()
        assert len(data) == payload.wire_size >= 777
        payload.take(data)
    with pytest.raises(ValueError, match="at least one byte"):
        Payload(kind, 0, np.random.default_rng(1))
    with pytest.raises(ValueError, match="a payload is one of"):
        Payload("video", 1, np.random.default_rng(1))


def rows_with(undisturbed: Callable[[dict[str, Any]], bool], run: Callable[[], list[dict[str, Any]]]) -> list[Any]:
    """Rows among which one is undisturbed: a busy machine repeats and acknowledges more, but not in every exchange."""
    for _ in range(20):
        rows = run()
        if any(undisturbed(row) for row in rows):
            return rows
    raise AssertionError(f"no exchange was undisturbed: {rows}")


@pytest.mark.parametrize("bed", BEDS)
@pytest.mark.parametrize("session", ["fresh", "persistent", "loop"])
def test_tcp_cells(bed: str, session: str) -> None:
    # eight segments of 32 bytes and two SYNs' 8 more; where a busy machine holds a host up for longer than TCP
    # delays an acknowledgement, that one goes by itself, and maybe when the other end has counted already
    rows = rows_with(
        lambda row: session != "fresh" or row["sender_header"] == row["receiver_header"] == 272,
        lambda: measurement_runs.run_cell(Cell("lan", "tcp", 0, session, "bytes", 1000, iterations=5), bed),
    )
    assert len(rows) == 5
    for row in rows:
        if session == "fresh":
            assert (row["sender_header"] - 272) % 32 == (row["receiver_header"] - 272) % 32 == 0
            assert min(row["sender_header"], row["receiver_header"]) >= 272
            assert row["time_ms"] >= 1500 * paper.LAN.rtt - 0.5 - 1500 * paper.LAN.jitter
        if session != "loop":
            assert row["sender_payload"] == 1000
        else:
            assert row["sender_payload"] == row["receiver_payload"] == 150_000


@pytest.mark.parametrize("bed", BEDS)
@pytest.mark.parametrize("which", BROKERS)
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_mqtt_cells(bed: str, which: str, qos: int) -> None:
    ends = {"broker_in": "publisher", "broker_out": "subscriber"}
    rows = rows_with(
        lambda row: bed == "proxy" or row["broker_in_repeated"] == row["broker_out_repeated"] == 0,
        lambda: measurement_runs.run_cell(Cell("lan", "mqtt", qos, "fresh", "icto", 100, iterations=4), bed, which)[
            :-1
        ],
    )  # the last row may miss an acknowledgement that was still on its way when the capture ended
    assert len(rows) == 3
    with Payload("icto", 100, np.random.default_rng(1)) as payload:
        publish = overhead_formulas.packet_bytes(payload.wire_size, qos)
    acknowledgements = {0: 0, 1: 4, 2: 12}[qos]
    for row in rows:
        # CONNECT 17, CONNACK 4, DISCONNECT 2; the subscriber has SUBSCRIBE 17 and SUBACK 5 on top
        assert row["publisher_payload"] == 17 + 4 + 2 + publish + acknowledgements
        assert row["subscriber_payload"] == 17 + 4 + 2 + 17 + 5 + publish + acknowledgements
        for leg, end in ends.items() if bed == "namespaces" else ():
            # the kernel counts payload once, the capture whatever crossed: sent again where a machine is held up
            assert row[f"{leg}_payload"] - row[f"{leg}_repeated_payload"] == row[f"{end}_payload"]
            if not row[f"{leg}_repeated"]:
                assert row[f"{leg}_segments"] == row[f"{end}_segments"]
                assert row[f"{leg}_header"] == row[f"{end}_header"]


@pytest.mark.needs("namespaces")
def test_what_is_sent_again_is_told_from_what_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a path that loses much, every row's payload agrees with the ends' once its repeats are taken off."""
    monkeypatch.setitem(paper.NETWORKS, "lan", LinkSpec(delay=0.001, loss=0.04))
    repeated = 0
    for seed in range(20):
        rows = measurement_runs.run_cell(
            Cell("lan", "mqtt", 0, "fresh", "bytes", 20_000 + seed, iterations=2), "namespaces"
        )
        for row in rows[:-1]:
            assert row["broker_in_payload"] - row["broker_in_repeated_payload"] == row["publisher_payload"]
            assert row["broker_out_payload"] - row["broker_out_repeated_payload"] == row["subscriber_payload"]
            repeated += row["broker_in_repeated_payload"] + row["broker_out_repeated_payload"]
        if repeated:
            return
    raise AssertionError("nothing was sent again: the test shows nothing")


@pytest.mark.parametrize("session", ["persistent", "loop"])
def test_mqtt_sessions_on_loopback(session: str) -> None:
    rows = measurement_runs.run_cell(Cell("lan", "mqtt", 1, session, "bytes", 10, iterations=3), "proxy")
    total = overhead_formulas.packet_bytes(10, 1) + 4
    for row in rows:
        assert row["publisher_payload"] == (total if session == "persistent" else 150 * total + 23)


def test_nagle_needs_mosquitto() -> None:
    with pytest.raises(TestbedError, match="needs mosquitto"):
        measurement_runs.run_cell(Cell("lan", "mqtt", 0, "fresh", "bytes", 1, nodelay=False, iterations=2), "proxy")


def test_beds_are_checked() -> None:
    with pytest.raises(ValueError, match="a bed is one of"):
        Bed(("a", "b"), paper.LAN, "cloud")


def test_an_interrupted_recording_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    cells = [c for c in small_grid(iterations=2) if c.transport == "tcp"][:3]
    left = measurement_runs.record(cells, tmp_path, bed="proxy", workers={"lan": 1}, seconds=0.0, progress=False)
    assert [c.name for c in left] == [c.name for c in cells]
    measurement_runs._keep(tmp_path, cells[0], measurement_runs.run_cell(cells[0], "proxy"))
    (tmp_path / "cells" / f"{cells[1].name}.1.part").write_text("cut off by an interruption")
    kept = (tmp_path / "cells" / f"{cells[0].name}.csv").read_bytes()
    with pytest.raises(TestbedError, match="2 of 3 cells are still to run"):
        measurement_runs.assemble(cells, tmp_path)
    assert measurement_runs.record(cells, tmp_path, bed="proxy", workers={"lan": 1}, progress=False) == []
    assert (tmp_path / "cells" / f"{cells[0].name}.csv").read_bytes() == kept
    measurement_runs.assemble(cells, tmp_path)
    rows = measurement_runs.load_iterations(tmp_path)
    assert len(rows) == sum(c.iterations for c in cells)
    summary = measurement_runs.load_summary(tmp_path)
    header = summary[summary.metric == "sender_header"]
    assert len(header) == 3
    assert (header.low <= header["mean"]).all()


def test_summary_of_known_numbers() -> None:
    base = Cell("lan", "tcp", 0, "fresh", "bytes", 1, iterations=4).columns()
    frame = pd.DataFrame([base | {"iteration": i, "time_ms": t} for i, t in enumerate([1.0, 2.0, 3.0, 4.0])])
    row = measurement_runs.summarise(frame).iloc[0]
    assert row["mean"] == 2.5
    assert row.high - row["mean"] == pytest.approx(3.182446 * 1.290994 / 2, rel=1e-5)
    assert measurement_runs.lag1(np.array([1.0, -1.0, 1.0, -1.0])) == pytest.approx(-0.75)
    assert measurement_runs.lag1(np.ones(5)) == 0


def test_dissect() -> None:
    stream = bytes([0x10, 2, 1, 2, 0x32, 8, 0, 1, ord("t"), 0, 9, 5, 6, 7])
    connect, publish = packets(stream)
    assert (connect.name, connect.size) == ("CONNECT", 4)
    assert (publish.name, publish.qos, publish.payload) == ("PUBLISH", 1, b"\x05\x06\x07")
    for broken in (stream[:-1], b"\x30", b"\x30\xff\xff\xff\xff\xff"):
        with pytest.raises(ValueError, match=r"cut short|no MQTT packet"):
            packets(broken)


def test_coverage_and_goodput() -> None:
    assert coverage(np.random.default_rng(1).normal(size=2000), np.random.default_rng(2)) == pytest.approx(
        0.95, abs=0.02
    )
    assert goodput(100, np.array([272.0]), np.array([100.0]))[0] == pytest.approx(100 / 372)


@pytest.mark.parametrize("name", captured_sessions.NAMES)
def test_recorded_captures_agree_with_their_counters(name: str) -> None:
    example = captured_sessions.load(DATA, name)
    assert len(example.segments) == example.counted_segments
    assert sum(s.header for s in example.segments) == example.counted_header


def test_the_recorded_tables_are_whole_and_hold_the_figures_data() -> None:
    recorded = Recorded(measurement_runs.load_iterations(DATA))
    grid = full_grid()
    found = recorded.rows.groupby(["network", "transport", "qos", "session", "kind", "size", "gap", "nodelay"]).size()
    assert len(found) == len(grid)
    for cell in grid:
        key = (cell.network, cell.transport, cell.qos, cell.session, cell.kind, cell.size, cell.gap, cell.nodelay)
        assert found[key] == cell.iterations
    for size in paper.PAYLOADS:
        assert set(recorded.header("lan", "tcp", "fresh", size)) == {272}
    with pytest.raises(KeyError, match="not recorded"):
        recorded.cell("lan", "tcp", "fresh", 7)
    # counted on paper, measured: nothing is quicker than light, and little is much slower in the middle
    for transport, qos in (("tcp", 0), ("mqtt", 0), ("mqtt", 1), ("mqtt", 2)):
        trips = np.median(recorded.time("internet", transport, "fresh", 100, qos=qos)) / (1e3 * paper.INTERNET.rtt)
        assert (
            overhead_formulas.round_trips(transport, qos, "fresh") * 0.98
            < trips
            < overhead_formulas.round_trips(transport, qos, "fresh") * 1.35
        )
    # broker legs carry what the clients' kernels count, on the network without loss
    lan = recorded.rows[(recorded.rows.network == "lan") & (recorded.rows.session == "fresh")]
    mqtt = lan[lan.transport == "mqtt"]
    assert len(mqtt) > 1000
    assert (mqtt.broker_in_segments == mqtt.publisher_segments).all()


def test_the_interval_of_a_factor_tells_doubt_from_certainty() -> None:
    """TCP takes 10 ms; MQTT 20 ms on the edge at QoS 0 (spread evenly), clearly less at 1, clearly more at 2."""
    edge = np.linspace(19, 21, 101)
    times = {("tcp", 0): np.full(101, 10.0), ("mqtt", 0): edge, ("mqtt", 1): edge - 5, ("mqtt", 2): edge + 5}
    frames = [
        pd.DataFrame(
            Cell("lan", transport, qos, "fresh", kind, size, iterations=101).columns()
            | {"iteration": np.arange(101), "time_ms": t}
        )
        for (transport, qos), t in times.items()
        for kind in ("bytes", "file")
        for size in paper.PAYLOADS
    ]
    found = time_ratios.Factors(Recorded(pd.concat(frames))).typical(["lan"])
    assert found.low < 2 < found.high
    assert found.estimate == pytest.approx(2)
    least = time_ratios.Factors(Recorded(pd.concat(frames))).typical(["lan"], kinds=["file"], least=True)
    assert 1.4 < least.low <= least.estimate <= least.high < 1.6
    rival = time_ratios.Factors(Recorded(pd.concat(frames)), instead=True).typical(["lan"])
    assert (rival.low, rival.estimate, rival.high) == (1, 1, 1)
    assert time_ratios.Factors(Recorded(pd.concat(frames))).least("lan", "bytes").estimate == pytest.approx(1.5)


def test_a_factor_is_of_the_end_that_is_asked_for() -> None:
    """Received after 10 and 20 ms, closed after 20 and 30: factors of 2 and 1.5."""
    ends = {"tcp": (10.0, 20.0), "mqtt": (20.0, 30.0)}
    rows = pd.concat(
        pd.DataFrame(
            Cell("lan", transport, 0, "fresh", kind, size, iterations=5).columns()
            | {"iteration": np.arange(5), "time_ms": received, "session_ms": closed}
        )
        for transport, (received, closed) in ends.items()
        for kind in ("bytes", "file")
        for size in paper.PAYLOADS
    )
    first = next(name for name, (_, _, qualities) in readings.BY_QUALITY.items() if qualities == (0,))
    for until, factor in (("time_ms", 2), ("session_ms", 1.5)):
        found = time_ratios.Factors(Recorded(rows), until=until).typical(["lan"], first)
        assert found.estimate == pytest.approx(factor)


def test_a_share_behind_the_broker_needs_the_link_behind_it() -> None:
    """Of 400 + s header bytes, 272 of which TCP needs too, s are behind the broker; without that link none."""
    recorded = Recorded(measurement_runs.load_iterations(DATA))
    behind = recorded.header("lan", "mqtt", "fresh", 100, 1).mean()
    found = readings.broker_headers(recorded)
    assert found["fresh"] == pytest.approx(behind / (400 + behind - 272))
    assert readings.broker_headers(recorded, leg=False) == {"fresh": 0.0, "warm": 0.0}


@pytest.mark.parametrize("n", [5, 20, 150])
def test_an_interval_with_an_estimated_width_needs_student(n: int) -> None:
    draws = np.random.default_rng([7, n]).normal(size=(40_000, n))
    error = abs(draws.mean(axis=1)) / (draws.std(axis=1, ddof=1) / np.sqrt(n))
    share = float(np.mean(error <= 1.959964))
    assert time_ratios.normal_coverage(known=True, n=n) == pytest.approx(share, abs=0.006)
    assert time_ratios.normal_coverage(known=False, n=n) == pytest.approx(0.95)
    assert time_ratios.normal_coverage(known=True, n=n) < 0.95


@given(st.lists(st.binary(max_size=2000), min_size=1, max_size=3))
@settings(max_examples=10, deadline=None)
def test_each_address_answers_its_own_message(messages: list[bytes]) -> None:
    assert conformance_checks.by_address(tuple(messages)) == tuple(m[::-1] for m in messages)

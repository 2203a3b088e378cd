"""A publisher behind its own link: the closed form against a line that is simulated, and against real ones."""

from __future__ import annotations

import json
from fractions import Fraction

import matplotlib.pyplot as plt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.emqtt import counting, paper
from voicewire.emqtt.reference import link_delay
from voicewire.mqtt import BrokerThread, Config
from voicewire.mqtt import packets as p
from voicewire.mqtt.load_generator import attach
from voicewire.testbed import DelayProxy
from voicewire_book import paths
from voicewire_book.chapters.emqtt import experiments, figures, publisher_link
from voicewire_book.chapters.emqtt.many_subscribers import RESPONSES, Population

PROTOCOLS = {"mqtt-2": "MQTT", "first": "E-MQTT", "all": "E-MQTT"}


def on_the_line(packets: list[tuple[Fraction, int]], rate: Fraction, one_way: Fraction, header: int) -> list[Fraction]:
    """When each packet (ready at, bytes) has arrived: one after the other, a bit at a time, then the propagation."""
    free, arrived = Fraction(0), []
    for ready, size in packets:
        free = max(free, ready) + 8 * (size + header) / rate
        arrived.append(free + one_way)
    return arrived


@given(
    n=st.integers(1, 100), rate=st.integers(1, 10**9), microseconds=st.integers(0, 10**6), header=st.integers(0, 100)
)
def test_the_closed_form_is_a_line_that_sends_one_packet_after_the_other(
    n: int, rate: int, microseconds: int, header: int
) -> None:
    speed, one_way = Fraction(rate), Fraction(microseconds, 10**6)
    ack = len(p.encode(p.Pubrec(1)))
    response = len(p.encode(p.Publish(RESPONSES, paper.PAYLOAD, 2, packet_id=7)))
    for protocol, qos, responses in (("MQTT", 2, n), ("E-MQTT", 3, 0)):
        (there,) = on_the_line([(Fraction(0), counting.publish_size(qos))], speed, one_way, header)
        back = on_the_line([(there, size) for size in [ack] + responses * [response]], speed, one_way, header)
        assert link_delay(protocol, n, rate, microseconds / 1e6, header) == pytest.approx(float(back[-1]), rel=1e-12)


@pytest.mark.parametrize("bed", ["relay", pytest.param("in namespaces", marks=pytest.mark.needs("link"))])
def test_no_real_line_is_faster(bed: str) -> None:
    made = publisher_link.beds()
    if bed != "relay":
        (bed,) = made.keys() - {"relay"}
    header = 0 if bed == "relay" else 40  # the least that TCP and IP have
    with made[bed](100e3, 4) as people:
        for reading, protocol in PROTOCOLS.items():
            people.settle()
            trial = people.trial(reading)
            assert trial.end_to_end >= link_delay(protocol, 4, 100e3, experiments.LINK_DELAY, 0)
            assert (trial.received, trial.sent) == (counting.received(reading, 4), counting.sent(reading, 4))
            if protocol == "E-MQTT":  # its one answer has a segment of its own
                assert trial.end_to_end >= link_delay(protocol, 4, 100e3, experiments.LINK_DELAY, header)


def test_nothing_of_a_trial_is_on_the_link_once_it_has_settled() -> None:
    with (
        BrokerThread(Config(port=0)) as broker,
        DelayProxy(("127.0.0.1", broker.port), 0.05, 20e3) as slow,
        Population(broker.port, 3, publisher=attach(slow.address[1], "publisher", RESPONSES, qos=2)) as people,
    ):
        people.trial("mqtt-2")  # over once the publisher has answered the last PUBREL
        people.settle()
        assert not broker.broker.sessions["publisher"].inflight


def test_what_settles_takes_nothing_for_a_pong() -> None:
    with BrokerThread(Config(port=0)) as broker, Population(broker.port, 1) as people:
        with attach(broker.port, "stranger") as stranger:
            stranger.sendall(p.encode(p.Publish(RESPONSES, b"to a trial that is over")) + p.encode(p.Pingreq()))
            assert stranger.recv(2) == p.encode(p.Pingresp())
        with pytest.raises(ConnectionError, match="no trial has asked for"):
            people.settle()


def test_every_reading_is_measured_behind_every_link() -> None:
    told: list[str] = []
    rows = publisher_link.series(1, 1, ["6 Mbit/s", "54 Mbit/s"], [2], told.append)
    beds = list(publisher_link.beds())
    assert {(row["bed"], row["rate"], row["reading"]) for row in rows} == {
        (bed, rate, reading)
        for bed in beds
        for rate in ("6 Mbit/s", "54 Mbit/s")
        for reading in publisher_link.READINGS
    }
    assert len(rows) == 2 * len(beds) * len(publisher_link.READINGS)
    assert all(any(bed in line for line in told) for bed in beds)  # which one ran is told
    with pytest.raises(ValueError, match="tests"):
        publisher_link.series(0, 1)


def test_what_was_recorded_behind_links_is_whole_and_not_faster_than_they_are() -> None:
    table = experiments.load("link")
    keys = ["bed", "rate", "reading", "subscribers"]
    beds = sorted(table["bed"].unique())
    assert "relay" in beds
    sizes = table.groupby(keys).size()
    assert (sizes == paper.TESTS).all()
    assert len(sizes) == len(beds) * len(experiments.LINK_RATES) * len(publisher_link.READINGS) * len(
        publisher_link.SUBSCRIBERS
    )
    for (_, rate, reading, n), rows in table.groupby(keys):
        bits = link_delay(PROTOCOLS[reading], n, experiments.LINK_RATES[rate], experiments.LINK_DELAY)
        assert rows["end_to_end_ms"].min() >= 1e3 * bits
        assert set(rows["received"]) == {counting.received(reading, n)}
    assert json.loads((paths.data("emqtt") / "link.json").read_text())["command"].startswith("voicewire record emqtt")


def test_the_chapter_says_how_much_longer_the_responses_take() -> None:
    notebook = paths.root() / "notebooks" / "emqtt" / "02_end_to_end.ipynb"
    cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(notebook.read_text("utf-8"))["cells"]}
    mqtt, emqtt = (link_delay(protocol, 80, 20e3, 0.001, header=52) for protocol in ("MQTT", "E-MQTT"))
    told = f"With 80 of them at 20 kbit/s, MQTT's delay is {mqtt / emqtt:.1f} times E-MQTT's"
    assert told in cells["02end-to-end-link-4"]


def test_the_figure_shows_what_was_recorded_and_the_closed_form() -> None:
    table = experiments.load("link")
    ax = figures.behind_link(table, "relay", 40)
    lines = {line.get_label(): list(line.get_ydata()) for line in ax.lines}  # type: ignore[arg-type]
    rates = experiments.LINK_RATES.values()
    for protocol in ("MQTT", "E-MQTT"):
        assert lines[f"{protocol}, bits alone"] == [1e3 * link_delay(protocol, 40, rate, 0.001) for rate in rates]
    shown = [bars.lines[0].get_ydata()[0] for bars in ax.containers]
    slow = table[(table.bed == "relay") & (table.subscribers == 40) & (table.rate == "250 kbit/s")]
    assert shown == pytest.approx([rows["end_to_end_ms"].median() for _, rows in slow.groupby("reading")])
    plt.close("all")

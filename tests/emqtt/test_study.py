"""The study: closed forms against live counts, the data behind the figures."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress

import matplotlib.pyplot as plt
import numpy as np
import pytest

from voicewire.emqtt import counting, paper, trace
from voicewire.emqtt.dissection import COLOURS, Coloured, dissect
from voicewire.mqtt import BrokerThread, Config, MalformedError
from voicewire.mqtt import packets as p
from voicewire.mqtt.serving import broker_process
from voicewire.testbed import capabilities
from voicewire_book.chapters.emqtt import (
    _trial_loop,
    conformance_checks,
    conformance_steps,
    experiments,
    figures,
    many_subscribers,
)
from voicewire_book.chapters.emqtt.many_subscribers import Population
from voicewire_book.chapters.emqtt.slow_subscribers import PAUSE, weak


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with BrokerThread(Config(port=0)) as broker:
        yield broker.port


@pytest.mark.parametrize("n", [1, 2, 7, 25])
def test_counts_of_live_trials_are_the_closed_forms(port: int, n: int) -> None:
    with Population(port, n) as people:
        for reading in counting.READINGS:
            trial = people.trial(reading)
            assert trial.messages == counting.messages(reading, n)
            assert (trial.received, trial.sent) == (counting.received(reading, n), counting.sent(reading, n))
            assert trial.end_to_end > 0 and trial.completion > 0 and trial.cpu > 0


def test_publisher_receives_two_packets_whatever_n() -> None:
    assert [counting.received("all", n) for n in (1, 80, 1000)] == [2, 2, 2]
    assert [counting.received("mqtt-2", n) for n in (1, 80)] == [4, 162]


def test_traces(port: int) -> None:
    assert [len(trace.one_message(port, q).steps) for q in range(4)] == [2, 4, 8, 8]
    assert len(trace.confirmed_by_mqtt(port).steps) == paper.MESSAGES["MQTT"]
    three = trace.confirmed_by_emqtt(port)
    assert len(three.steps) == paper.MESSAGES["E-MQTT"]
    labels = [f"{s.source} {s.label}" for s in three.steps]
    assert labels.index("subscriber PUBREC (QoS 3)") < labels.index("broker PUBREC (QoS 3)", 5)


@pytest.mark.parametrize(
    "rule",
    [getattr(conformance_checks, name) for name in (
        "mqtt_pubrec_first", "emqtt_pubrec_last", "first_only", "with_the_kth", "named_only", "exactly_once",
        "same_four_packets", "too_many_is_an_error", "timer_ends_the_wait")],
)  # fmt: skip
def test_rules_of_the_paper(rule: object, port: int) -> None:
    assert rule(port) is True  # type: ignore[operator]


@pytest.mark.parametrize(
    "step",
    [conformance_steps.to_all_at_once, conformance_steps.fewer_than_named, conformance_steps.suspended_until_answered,
     conformance_steps.asynchronous_goes_on, conformance_steps.keeps_until_answered],
)  # fmt: skip
def test_steps_of_the_paper(step: Callable[[int], bool], port: int) -> None:
    assert step(port) is True


@pytest.mark.parametrize("favours", [True, False])
def test_a_release_is_put_off_by_the_favours_only(favours: bool) -> None:
    with BrokerThread(Config(port=0, favours=favours)) as broker:
        assert conformance_steps.release_at_once(broker.port) is not favours


def test_what_is_answered_at_each_level(port: int) -> None:
    assert conformance_steps.answers_by_qos(port) == ["", "PUBACK", "PUBREC", "PUBREC"]


def test_table_3() -> None:
    for ids, printed in paper.EMQTT_BYTES.items():
        assert counting.papers_count(counting.publish_size(3, ids)) == printed
    assert counting.papers_count(counting.publish_size(2)) == paper.MQTT_BYTES
    assert counting.publish_size(3, 80) == 176


def test_the_papers_list_of_ids_is_ambiguous() -> None:
    assert counting.without_count(("1",), b"\x002hi") == counting.without_count(("1", "2"), b"hi")


def test_wrong_readings() -> None:
    with pytest.raises(ValueError, match="choose one of"):
        counting.messages("mqtt-9", 1)
    with pytest.raises(ValueError, match="whole number from 1"):
        counting.received("all", 0)


def test_recorded_trials_are_complete_and_exact() -> None:
    table = experiments.load("delays")
    assert set(table["subscribers"]) == set(paper.SUBSCRIBERS)
    sizes = table.groupby(["broker", "reading", "subscribers"]).size()
    assert (sizes == paper.TESTS).all() and len(sizes) == (7 + 7 + 2) * 8
    for row in table.drop_duplicates(["reading", "subscribers"]).itertuples():
        assert row.messages == counting.messages(row.reading, row.subscribers)
        assert row.received == counting.received(row.reading, row.subscribers)
    held = table[table["reading"].isin(["first", "one", "half", "all", "unmodified"])]
    assert (held["end_to_end_ms"] < held["completion_ms"]).all()


def test_ratios_are_paired() -> None:
    table = experiments.load("delays")
    same = experiments.ratio(table, ("voicewire", "all"), ("voicewire", "all"))
    assert same.shape == (paper.TESTS,) and np.allclose(same, 1)


def test_figures_show_their_data(port: int) -> None:
    ax = figures.packets_by_subscribers()
    assert list(ax.lines[0].get_ydata()) == [2 + 2 * n for n in paper.SUBSCRIBERS]
    ax = figures.sizes()
    assert list(ax.lines[0].get_ydata()) == list(paper.EMQTT_BYTES.values())
    table = experiments.load("delays")
    ax = figures.delays(table, [("voicewire", "all"), ("mosquitto", "mqtt-2")])
    expected = table[(table.broker == "voicewire") & (table.reading == "all") & (table.subscribers == 10)]
    assert ax.lines[0].get_ydata()[0] == pytest.approx(expected["end_to_end_ms"].median())
    ax = figures.energy(table, [("no favours", "all")])
    expected = table[(table.broker == "no favours") & (table.reading == "all") & (table.subscribers == 10)]
    seconds = expected["publisher_cpu_ms"].median() * 1.2
    assert ax.lines[0].get_ydata()[0] == pytest.approx(seconds)
    bars = [bar.get_height() for bar in figures.parts().patches]
    # Figure 17, with the Remaining Length counted
    assert bars == [2] * 8 + [5, 5] + [2] * 6 + [0, 2] + [0] * 6 + [6, 6] + [0] * 6
    assert len(figures.sequence(trace.one_message(port, 1)).texts) >= 4
    plt.close("all")


@pytest.mark.parametrize(
    "packet",
    [p.Connect("a"), p.Connack(), p.Publish("T", b"x"),
     p.Publish("T", b"x", 3, packet_id=1, waited=1, subscribers=("a",)),
     p.Puback(1), p.Pubrec(1, 3, b"x"), p.Subscribe(1, (("a", 1),)), p.Suback(1, (1,)), p.Pingreq(), p.Publish("T")],
)  # fmt: skip
def test_dissection_loses_no_byte(packet: p.Packet) -> None:
    data = p.encode(packet)
    fields = dissect(data)
    assert b"".join(f.data for f in fields) == data
    assert all(f.part in COLOURS for f in fields)
    assert all(f.name in Coloured(packet)._repr_html_() for f in fields)


def test_dissection_of_two_packets() -> None:
    with pytest.raises(MalformedError, match="exactly one"):
        dissect(p.encode(p.Pingreq()) * 2)


@contextmanager
def between(port: int, alter: Callable[[bytes], Iterable[bytes]]) -> Iterator[int]:
    """A proxy before the broker that sends clients what `alter` makes of each piece that the broker sends."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

        def pump(source: socket.socket, target: socket.socket, change: Callable[[bytes], Iterable[bytes]]) -> None:
            with suppress(OSError):
                while data := source.recv(1 << 16):
                    for piece in change(data):
                        target.sendall(piece)
            with suppress(OSError):
                target.shutdown(socket.SHUT_WR)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client = stack.enter_context(server.accept()[0])
                    broker = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
                    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    for way in ((client, broker, lambda data: [data]), (broker, client, alter)):
                        threading.Thread(target=pump, args=way, daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def test_a_broker_that_no_longer_reads_holds_nobody_up() -> None:
    here, there = socket.socketpair()
    with here, there:
        here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", 0, 50_000))
        data = np.zeros(1 << 24, np.uint8)
        assert _trial_loop._send_all(here.fileno(), data, 100)
        assert not _trial_loop._send_all(here.fileno(), data, data.size)  # more than the buffers take


def test_other_systems_are_told_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("select.epoll")
    with pytest.raises(OSError, match="needs Linux"):
        Population(1, 1)


def test_packets_may_be_cut_anywhere(port: int) -> None:
    with between(port, lambda data: (data[i : i + 1] for i in range(len(data)))) as door, Population(door, 2) as people:
        for reading in counting.READINGS:
            trial = people.trial(reading)
            assert trial.messages == counting.messages(reading, 2)
            assert (trial.received, trial.sent) == (counting.received(reading, 2), counting.sent(reading, 2))


@pytest.mark.parametrize(
    ("instead", "error", "words"),
    [
        (b"", TimeoutError, "all with 2 subscribers: no answer in 0.3 s"),
        (b"\x30\xff\x7f" + bytes(600), ConnectionError, "a packet of more than 512 bytes"),
        (b"\x30\xff\xff\xff\xff\x7f", ConnectionError, "what is no packet of MQTT 3.1.1"),  # five bytes of length
        (b"\x34\x04\xff\xff\x00\x01", ConnectionError, "what is no packet"),  # a topic longer than its packet
        (b"\x34\x03\x00\x01T", ConnectionError, "what is no packet"),  # no packet id
        (b"\x30\x00", ConnectionError, "what is no packet"),
        (b"\x56\x01\x00", ConnectionError, "what is no packet"),
        (None, ConnectionError, "the broker closed a connection"),
    ],
)
def test_a_trial_that_cannot_end_says_why(
    instead: bytes | None, error: type[Exception], words: str, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = False

    def alter(data: bytes) -> list[bytes]:
        if broken and instead is None:
            raise OSError("cut")
        return [instead or b""] if broken else [data]

    with between(port, alter) as door, Population(door, 2) as people:
        people.trial("all")
        broken = True
        monkeypatch.setattr(many_subscribers, "TIMEOUT", 0.3)
        with pytest.raises(error, match=words):
            people.trial("all")


def test_half_need_not_wait_for_a_slow_one() -> None:
    with broker_process.ours() as broker, Population(broker.port, 4, slow=1, pause=0.5) as people:
        half, everybody, responses = (people.trial(reading) for reading in ("half", "all", "mqtt-2"))
    assert half.end_to_end < 0.5 <= min(everybody.end_to_end, responses.end_to_end)
    with pytest.raises(ValueError, match="slow ones of 2"):
        Population(1, 2, slow=3, pause=0.1)


def test_weak_subscribers_in_every_case() -> None:
    told: list[str] = []
    rows = weak(1, 1, told.append)
    cases = {row["case"] for row in rows}
    assert cases == {"quick", "one slow", "five slow"} | ({"lossy link"} if capabilities().namespaces else set())
    assert len(rows) == 4 * len(cases)
    assert len(told) == 4  # a case that isn't measured is told
    (waited,) = (row["end_to_end_ms"] for row in rows if (row["case"], row["reading"]) == ("one slow", "all"))
    assert waited >= 1e3 * PAUSE

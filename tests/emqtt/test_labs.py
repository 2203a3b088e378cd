"""The labs stage by stage, on their pages and beside what the package does."""

from __future__ import annotations

import lab_pages as labs
import numpy as np
import pytest
from lab_pages import Lab

from voicewire.emqtt import counting
from voicewire.emqtt.reference import cut
from voicewire.emqtt.trace import one_message
from voicewire.mqtt import BrokerThread, Config, encode
from voicewire.mqtt import packets as p
from voicewire.mqtt.raw_socket_client import Wire, connect
from voicewire_book.chapters.emqtt import _broker_model, _hold_model
from voicewire_book.chapters.emqtt.exercises import end_to_end, packets, reproduction
from voicewire_book.chapters.emqtt.figures import sequence

BROKER, HOLD = Lab("emqtt/01_packets"), Lab("emqtt/02_end_to_end")
CAPTURE = Lab("emqtt/03_reproduction")
LABS = [BROKER, HOLD, CAPTURE]
LABELS = [label for chapter in (packets, end_to_end, reproduction) for label in chapter.EXERCISES if "-lab-" in label]


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.chapter)
def test_a_lab_has_four_to_eight_stages_in_order(lab):
    labs.page(lab)


def test_every_stage_is_asked_by_its_chapter():
    assert [label for lab in LABS for _, label in lab.stages] == LABELS


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.chapter)
def test_the_chapter_s_solution_passes_stage_by_stage_and_an_empty_one_does_not(lab):
    labs.solution(lab)


@pytest.mark.parametrize("label", LABELS)
def test_whatever_is_handed_over_a_check_answers(label):
    labs.anything(label)


def heard_of(broker, subscribers, steps):
    """What the package's broker sends after each step, over sockets; whoever acts is asked first."""
    wires = {}
    for name in sorted(set().union(*subscribers.values()) | {name for name, _ in steps}):
        wires[name] = connect(broker.port, name)
        topics = [topic for topic, names in subscribers.items() if name in names] or ["$e2e/hello"]
        wires[name].send(p.Subscribe(1, tuple((topic, 3) for topic in topics)))
        wires[name].receive()
    leaves = []
    for name, data in steps:
        if data:
            wires[name].send(data)
        else:
            wires.pop(name).close()
        out = []
        for one in sorted(wires, key=lambda other: other != name):
            wires[one].send(p.Pingreq())
            while (packet := wires[one].receive()) != p.Pingresp():
                assert packet is not None
                out.append((one, encode(packet)))
        leaves.append(sorted(out))
    for wire in wires.values():
        wire.close()
    return leaves


def test_the_package_s_broker_sends_packet_for_packet_what_the_lab_asks_for():
    stage = labs.stage("emqtt-lab-hold-talk")
    assert f"in {len(stage.cases)} talks" in stage.right
    with BrokerThread(Config(port=0)) as broker:
        for subscribers, steps in stage.cases:
            assert heard_of(broker, subscribers, steps) == _hold_model.talk(subscribers, steps)


def test_the_talks_have_what_can_happen_to_a_hold():
    talks = labs.stage("emqtt-lab-hold-talk").cases
    first = {data[0] for _, steps in talks for _, data in steps if data}
    assert first == {0x36, 0x3E, 0x56, 0x66, 0x76}
    assert sum(not data for _, steps in talks for _, data in steps) >= 20  # sessions that end
    proofs = sum(data[0] == 0x56 for talk in talks for out in _hold_model.talk(*talk) for _, data in out)
    asked = sum(data[0] == 0x36 for _, steps in talks for _, data in steps if data)
    assert 0.3 * asked < proofs


def until_pong(wire, mine):
    """What has come until the broker has answered a ping, beside `mine` that the session itself sends."""
    wire.send(p.Pingreq())
    found = []
    while mine >= 0:
        packet = wire.receive()
        assert packet is not None
        mine -= packet == p.Pingresp()
        found.append(encode(packet))
    return found[:-1]


def served_by(broker, steps):
    """What the package's broker sends after each step; a piece that completes nothing is not waited for."""
    wires, rest, leaves = {}, {}, []
    for name, data in steps:
        out = []
        if data:
            wires[name] = wires.get(name) or Wire(broker.port)
            wires[name].send(data)
        else:
            wires.pop(name).close()
        packets, rest[name] = cut(rest.get(name, b"") * bool(data) + data)
        if packets or not data:
            pings = sum(first == 0xC0 for first, _ in packets)
            for one in sorted(wires, key=lambda other: other != name):
                if not rest[one]:  # a ping within half a packet would be part of it
                    out += [(one, packet) for packet in until_pong(wires[one], pings * (one == name))]
        leaves.append(sorted(out))
    for wire in wires.values():
        wire.close()
    return leaves


def test_the_package_s_broker_serves_packet_for_packet_as_the_lab_asks_for():
    stage = labs.stage("emqtt-lab-broker-served")
    assert f"in {len(stage.cases)} sessions" in stage.right
    for (steps,) in stage.cases:
        with BrokerThread(Config(port=0)) as broker:
            assert served_by(broker, steps) == _broker_model.serve(steps)


def test_the_sessions_have_what_a_broker_must_know():
    sessions = labs.stage("emqtt-lab-broker-served").cases
    steps = [step for (one,) in sessions for step in one]
    out = [data for (one,) in sessions for leaves in _broker_model.serve(one) for _, data in leaves]
    assert sum(not cut(data)[0] and data != b"" for _, data in steps) > 20  # half a packet
    assert sum(data == b"" for _, data in steps) > 5
    assert sum(data[0] & 0xF1 == 0x31 for data in out) > 20  # kept messages
    assert {data[0] >> 4 for data in out} == {2, 3, 4, 5, 6, 7, 9, 13}
    assert {data[0] // 2 % 4 for data in out if data[0] >> 4 == 3} == {0, 1, 2}


def test_the_broker_s_drawing_is_that_of_the_chapter_s_trace():
    with BrokerThread(Config(port=0)) as broker:
        real = one_message(broker.port, 2)
    drawn = packets.drawn(_broker_model.serve)
    assert sorted(map(repr, drawn.steps)) == sorted(map(repr, real.steps))
    assert drawn.steps[0] == real.steps[0]


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("reading", ["mqtt-2", "mqtt-0", "first", "all"])
def test_the_lab_s_captures_have_the_counts_of_the_closed_forms(reading, n):
    rng = np.random.default_rng(n)
    whole = CAPTURE.solved["solved_whole"](reproduction.query(rng, reading, n))
    found = CAPTURE.solved["solved_tally"](whole)
    forms = counting.messages, counting.received, counting.sent
    assert [found[name] for name in ("messages", "received", "sent")] == [form(reading, n) for form in forms]
    knows = CAPTURE.solved["solved_knew"](whole, n)
    answered = sorted(at for at, who, way, first, _ in whole if who != "pub" and way == "up" and first == 0x56)
    assert knows > {"first": answered[:1], "all": answered[-1:]}.get(reading, [0.0])[0]


def test_the_lab_s_captures_are_cut_as_tcp_may_cut_them():
    stage = labs.stage("emqtt-lab-capture-whole")
    pieces = [piece for (one,) in stage.cases for piece in one]
    found, rest = zip(*(cut(data) for *_, data in pieces), strict=True)
    assert any(rest) and max(map(len, found)) > 1  # halves, and two in one piece
    ((first,), *_) = stage.cases
    for client, way in {piece[1:3] for piece in first}:  # nothing is lost, and the order stays
        whole = b"".join(data for _, *stream, data in first if stream == [client, way])
        assert [packet[3:] for packet in stage.wanted(first) if packet[1:3] == (client, way)] == cut(whole)[0]


def test_the_drawing_has_every_packet():
    trace = end_to_end.drawn(_hold_model.talk)
    assert [step.label for step in trace.steps][-3:] == [
        "PUBCOMP (QoS 3), cat",
        "PUBREL (QoS 3), doctor",
        "PUBCOMP (QoS 3), doctor",
    ]
    ax = sequence(trace, origin="simulated here")
    assert sum(", " in text.get_text() for text in ax.texts) == len(trace.steps) == 13


def test_the_examples_of_the_stages_are_true():
    made = BROKER.solved | HOLD.solved | CAPTURE.solved
    asked = bytes.fromhex("00 01 71 00 05 80 02 83 61 6e 6e 03 62 6f 62 3f")
    sent = bytes.fromhex("00 01 00 03 61 2f 62 01 00 01 23 00")
    halves = [(0, "a", "up", b"\x40\x02"), (1, "b", "up", b"\x40\x02\0\x07"), (2, "a", "up", b"\0\x09")]
    told = [(1.0, "pub", "up", 0x36, b""), (1.5, "pub", "down", 0x56, b"")]
    held = {"ann": [("a/#", 0), ("+/b", 2)], "bob": [("t", 1)]}
    assert made["solved_subscriptions"](sent) == (1, [("a/b", 1), ("#", 0)])
    assert made["solved_granted"](1, [("a/b", 1), ("#", 0)]) == bytes.fromhex("90 04 00 01 01 00")
    copy = made["solved_copied"](0x34, bytes.fromhex("00 01 54 00 09 68 69"), 1, 4)
    assert copy == bytes.fromhex("32 07 00 01 54 00 04 68 69")
    assert made["solved_routed"]("a/b", held) == {"ann": 2}
    assert made["solved_replied"](0x62, b"\0\x09") == bytes.fromhex("70 02 00 09")
    assert [data[0] >> 4 for _, data in made["solved_served"](packets.ONE)[0]] == [2, 9]
    assert made["solved_asked"](asked) == ("q", 5, 2, ["ann", "bob"], b"?")
    assert made["solved_forwarded"]("q", b"?", 1) == bytes.fromhex("36 08 00 01 71 00 01 00 00 3f")
    assert made["solved_delivered"]("q", b"?", {"bob", "ann"}, {"ann": 4})[1] == {"ann": 5, "bob": 1}
    assert made["solved_acknowledged"](0x56, b"\0\1") == bytes.fromhex("66 02 00 01")
    first, second, third, *_ = made["solved_talk"]({"q": {"ann", "bob", "cat"}}, end_to_end.QUERY)
    assert [(name, len(data)) for name, data in first] == [("ann", 10), ("bob", 10), ("cat", 10)]
    assert (second, third) == ([("ann", bytes.fromhex("66 02 00 01"))], [])
    assert made["solved_whole"](halves) == [(1, "b", "up", 64, b"\0\x07"), (2, "a", "up", 64, b"\0\x09")]
    assert made["solved_sizes"](0x34, bytes(11)) == (12, 13)
    counts = {"messages": 1, "received": 0, "sent": 1, "received bytes": 0, "sent bytes": 4}
    assert made["solved_tally"]([(0, "pub", "up", 64, b"\0\x07")]) == counts
    assert made["solved_knew"](told, 1) == 0.5
    assert made["solved_per_test"]({(0, 10): 1.0, (0, 40): 4.0}) == pytest.approx([2.0])


@pytest.mark.parametrize("reverse", [False, True])
def test_no_session_of_the_lab_hangs_on_the_order_of_kept_messages(reverse, monkeypatch):
    sessions = labs.stage("emqtt-lab-broker-served").cases
    due = [_broker_model.serve(*session) for session in sessions]
    usual = _broker_model.Broker.subscription

    def sorted_first(self, name, body):
        self.retained = dict(sorted(self.retained.items(), reverse=reverse))
        return usual(self, name, body)

    monkeypatch.setattr(_broker_model.Broker, "subscription", sorted_first)
    assert [_broker_model.serve(*session) for session in sessions] == due


def test_the_session_that_ends_shows_each_thing_that_is_left_behind():
    due = _broker_model.serve(_broker_model.ENDED)
    for left in ("rest", "held", "last", "known"):
        assert _broker_model.serve(_broker_model.ENDED, **{left: True}) != due, left


def test_a_suback_for_many_filters_has_a_length_of_two_bytes():
    packet_id, filters = _broker_model.GRANTS[-1]
    ((first, body),), rest = cut(_broker_model.granted(packet_id, filters))
    assert (first, len(body), rest) == (0x90, 132, b"")
    assert encode(p.Suback(packet_id, tuple(qos for _, qos in filters))) == _broker_model.granted(packet_id, filters)

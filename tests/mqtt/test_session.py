"""What the broker remembers of a client, alone: packet ids, subscriptions, holds; a topic's route and its pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.mqtt.config import EVERYTHING, Access, permissions
from voicewire.mqtt.decoder import Decoder
from voicewire.mqtt.packets import Publish
from voicewire.mqtt.routes import Route
from voicewire.mqtt.serving.resource_limits import OVERHEAD
from voicewire.mqtt.serving.time_slicing import SLICE
from voicewire.mqtt.sessions.hold import Hold
from voicewire.mqtt.sessions.session import Message, Pending, Session


@given(st.binary(max_size=300), st.integers(0, 3), st.booleans(), st.booleans(), st.integers(1, 65535))
def test_a_message_is_written_as_the_publish_that_it_is(payload, qos, retain, dup, packet_id):
    message = Message("é/t".encode(), payload, retain)
    given_id = packet_id if qos else 0
    dup = dup and qos > 0
    raw = message.encode(qos, given_id, dup)
    assert Decoder().feed(raw) == [Publish("é/t", payload, qos, retain, dup, given_id)]  # at QoS 3 it waits for nobody
    head = Route(message.topic, "é/t", []).head(qos, len(payload))
    if not retain and not dup:
        assert head + raw[len(head) :] == raw
        assert len(raw) - len(head) - len(payload) == (0, 2, 2, 4)[qos]
    assert message.size == len(message.topic) + len(payload) + OVERHEAD


def test_packet_ids_go_round_and_leave_out_what_is_in_use():
    session = Session("a", clean=True)
    assert [session.take_id() for _ in range(3)] == [1, 2, 3]
    session.next_id = 65_534
    session.inflight = dict.fromkeys((65_535, 1, 2, 4))
    assert [session.take_id() for _ in range(3)] == [65_534, 3, 5]
    session.inflight = {}
    session.next_id = 65_535
    assert [session.take_id() for _ in range(2)] == [65_535, 1]


def test_who_is_not_known_may_read_nothing():
    session = Session("a", clean=False)
    assert not session.may_read(b"t")
    session.permissions = EVERYTHING
    assert session.may_read("é".encode())
    session.permissions = permissions((Access("mine/#", allow="read"),), None, "a")
    assert session.may_read(b"mine/t") and not session.may_read(b"yours")


def test_filters_are_counted_in_bytes_once_each():
    session = Session("a", clean=True)
    for pattern, qos in (("é/+", 1), ("$e2e/report/#", 0), ("é/+", 2), ("$e2e/report/#", 1), ("$e2ex", 0)):
        session.subscribe(pattern, qos)
    assert session.subscriptions == {"é/+": 2, "$e2e/report/#": 1, "$e2ex": 0}
    assert (session.filter_bytes, session.reports) == (4 + 13 + 5, ["$e2e/report/#"])
    assert [session.unsubscribe(pattern) for pattern in ("é/+", "é/+", "$e2e/report/#", "#")] == [
        True,
        False,
        True,
        False,
    ]
    assert (session.filter_bytes, session.reports, session.subscriptions) == (5, [], {"$e2ex": 0})


def test_a_subscription_at_qos_0_is_one():
    session = Session("a", clean=True)
    session.subscribe("t", 0)
    assert session.unsubscribe("t")


def test_a_queue_is_made_once():
    session = Session("a", clean=True)
    assert session.queue is None
    session.waiting_line().append("first")
    assert list(session.waiting_line()) == ["first"]


def test_holds_are_those_of_both_kinds():
    session = Session("a", clean=True)
    hold, another = (Hold(session, n, 2, 1, (), True, "", lambda hold: None) for n in (1, 3))
    session.received = {1: hold, 2: None, 4: Pending()}
    assert session.holds() == []  # none of them is open
    session.open_holds = 1
    assert session.holds() == [hold]
    session.held = {3: another}
    assert session.holds() == [hold, another]


def subscribers(count):
    return [(Session(f"s{i}", clean=True), i % 3) for i in range(count)]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 100, 499, 500, 501, 1999, 5000])
def test_pieces_hold_everybody_once_and_fit_into_a_slice(count):
    everybody = subscribers(count)
    pieces = list(Route(b"t", "t", everybody, 1).pieces())
    assert [entry for piece in pieces for entry in piece.subscribers] == everybody
    for piece in pieces:
        assert (piece.topic, piece.name, piece.kind) == (b"t", "t", 1)
        assert piece.steps == len(piece.subscribers) <= SLICE // 4
    assert len(pieces) <= 1 + count // (SLICE // 4)


def test_who_has_ended_meanwhile_is_left_out_of_the_pieces_to_come():
    everybody = subscribers(1200)
    pieces = Route(b"t", "t", everybody).pieces()
    first = next(pieces)
    for session, _ in everybody[::2]:
        session.ended = True
    rest = [entry for piece in pieces for entry in piece.subscribers]
    assert rest == [entry for entry in everybody[len(first.subscribers) :] if not entry[0].ended]


def test_heads_are_remembered_a_few_at_a_time_and_only_short_ones():
    route = Route(b"t" * 256, "t" * 256, [])
    first = route.head(1, 5)
    assert route.head(1, 5) is first
    for size in range(40):
        route.head(0, size)
        assert len(route.heads) <= 16
    assert len(route.heads) > 1
    long = Route(b"t" * 257, "t" * 257, [])
    long.head(1, 5)
    assert long.heads == {}


def test_a_session_begins_with_nothing_and_a_message_knows_who_waits_for_it():
    session = Session("a", clean=True)
    assert (session.client_id, session.clean, session.durable, session.ended) == ("a", True, False, False)
    assert (session.inflight, session.received, session.subscriptions, session.load) == ({}, {}, {}, 0)
    assert (Message(b"t", b"").hold, Message(b"t", b"", False, "hold").hold) == (None, "hold")

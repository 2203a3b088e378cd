"""Routing alone: who gets what, in which state it is kept until it is acknowledged, and what is counted."""

from __future__ import annotations

import logging

import pytest
from mqtt_doubles import Journal, Loop, Peer

from voicewire.mqtt.config import EVERYTHING, Access, Config, Limits
from voicewire.mqtt.errors import MalformedError
from voicewire.mqtt.packets import WAIT_FOR_ALL
from voicewire.mqtt.routes import CLOSED, END_TO_END, LIST, ORDINARY
from voicewire.mqtt.routing import FIRST, Router
from voicewire.mqtt.serving.time_slicing import SLICE, Work
from voicewire.mqtt.sessions.hold import Hold, Missing, Status
from voicewire.mqtt.sessions.outbox import Outbox
from voicewire.mqtt.sessions.session import RELEASED, Message, Session

LOG = logging.getLogger("routing under test")


def made(store=None, access=(), **limits):
    outbox = Outbox(LOG, lambda stuck: None)
    router = Router(Config(limits=Limits(**limits), access=access), outbox, Work(outbox.flush, LOG), LOG)
    router.store = store
    outbox.loop = router.work.loop = Loop()
    return router


def joined(router, name, *filters, qos=1, away=False, durable=False, **state):
    """A client that subscribes; its connection's `told` is what it has been sent."""
    session = Session(name, clean=not durable)
    session.durable, session.permissions = durable, EVERYTHING
    session.connection = None if away else Peer(name, **state)
    router.sessions[name] = session
    for pattern in filters:
        session.subscribe(pattern, qos)
        router.tree.add(pattern, session, qos)
    router.forget_routes()
    return session


def counted(router, session, message):
    """A message that is held for a session, as after `send`."""
    router.shares.enter(session.owner, message)
    session.load += message.size
    return message


def hold(need, publisher=None, qos=2):
    return Hold(publisher or Session("publisher", clean=True), 1, qos, need, (), True, "", lambda hold: None)


# ---------------------------------------------------------------------- routes
@pytest.mark.parametrize(
    ("topic", "kind", "need", "real"),
    [
        ("a/b", ORDINARY, 0, "a/b"),
        ("$SYS", CLOSED, 0, "$SYS"),
        ("$SYS/a", CLOSED, 0, "$SYS/a"),
        ("$SYSa", ORDINARY, 0, "$SYSa"),
        ("$e2e/0/t", END_TO_END, 0, "t"),
        ("$e2e/16382/t/u", END_TO_END, 16382, "t/u"),
        ("$e2e/all/t", END_TO_END, WAIT_FOR_ALL, "t"),
        ("$e2e/report/1/t", CLOSED, 0, "$e2e/report/1/t"),
        ("$e2e/hello", CLOSED, 0, "$e2e/hello"),
        ("$e2e/ids/t/u", LIST, 0, "t/u"),
        ("$e2e", ORDINARY, 0, "$e2e"),
    ],
)
def test_kinds_of_topics(topic, kind, need, real):
    router = made()
    reader = joined(router, "r", "#", "$SYS/#", "$e2e/#")
    route = router.route(topic.encode())
    assert (route.kind, route.need, route.name, route.topic) == (kind, need, real, real.encode())
    assert [session for session, _ in route.subscribers] == ([] if topic in ("$SYSa",) else [reader])
    assert router.route(topic.encode()) is route


@pytest.mark.parametrize(
    "topic",
    ["$e2e/x", "$e2e/1", "$e2e/1/", "$e2e/-1/t", "$e2e/16383/t", "$e2e/99999/t", "$e2e/000001/t", "$e2e/²/t",
     "$e2e/٣/t", "$e2e/1/$SYS", "a/+", "", "/" * 200],
)  # fmt: skip
def test_topics_that_nobody_may_publish_to(topic):
    with pytest.raises(MalformedError):
        made().route(topic.encode())


def test_a_topic_has_so_many_levels_and_no_more():
    assert made().route(b"/" * 199).kind == ORDINARY
    with pytest.raises(MalformedError, match="200 levels"):
        made().route(b"/" * 200)


def test_only_who_may_read_and_has_not_ended_is_on_a_route():
    router = made(access=(Access("open/#"), Access("mine/%u", user="ann")))
    names = ("ann", "bob", "nobody", "ended")
    for name in names:
        joined(router, name, "#").permissions = router.permissions(name, name)
    router.sessions["nobody"].permissions = None
    router.sessions["ended"].ended = True

    def readers(topic):
        return sorted(session.client_id for session, _ in router.route(topic).subscribers)

    assert [readers(topic) for topic in (b"open/x", b"mine/ann", b"closed")] == [["ann", "bob"], ["ann"], []]


def test_permissions_are_shared_by_the_clients_of_a_user_unless_a_rule_names_the_client():
    router = made(access=(Access("%u/#"),))
    assert router.permissions("ann", "1") is router.permissions("ann", "2") is not router.permissions("bob", "1")
    for number in range(1100):
        router.permissions(str(number), "1")
    assert 0 < len(router._permissions) <= 1000
    own = made(access=(Access("%c/#"),))
    assert own.permissions("ann", "1").may_read("1/x")
    assert not own.permissions("ann", "2").may_read("1/x")
    assert made().permissions("ann", "1") is EVERYTHING


def test_routes_are_remembered_within_their_bytes():
    router = made(max_route_bytes=5000)
    joined(router, "r", "#")
    for n in range(30):
        router.route(b"t%d" % n)
        assert router.route_bytes == sum(1000 + 4 * len(t) + 72 * len(r.subscribers) for t, r in router.routes.items())
        assert 0 < router.route_bytes <= 5000
    assert len(router.routes) > 1
    before = dict(router.routes)
    router.route(b"x" * 3000)  # too long to be remembered at all
    assert b"x" * 3000 not in router.routes
    router.forget_routes()
    assert (router.routes, router.route_bytes) == ({}, 0)
    assert before
    exact = made(max_route_bytes=1004)
    exact.route(b"t")
    assert exact.route_bytes == 1004


# ---------------------------------------------------------------------- QoS 0
def test_a_run_is_passed_on_as_it_came_and_who_is_slow_holds_its_source_back():
    router = made()
    error = OSError("gone")
    quick, slow, broken = joined(router, "q", "t"), joined(router, "s", "t", slow=True), joined(router, "b", "t")
    joined(router, "away", "t", away=True)
    broken.connection.error = error
    router.forward(router.route(b"t"), b"blob", 3, Peer("source"))
    assert quick.connection.told == [(b"blob", 3)]
    assert slow.connection.told == [(b"blob", 3), ("hold back", "source")]
    assert broken.connection.told == [("broke", error)]
    assert (router.publish_received, router.publish_sent) == (3, 6)


def finish(router):
    while router.work.loop.asked:
        router.work.loop.turn()


def test_what_goes_to_many_is_handed_out_in_slices_and_counted_once():
    router = made(Journal())
    readers = [joined(router, f"{n}", "t", qos=n % 2) for n in range(SLICE + 1)]
    source, route, blob = Peer("source"), router.route(b"t"), b"blob"
    router.forward(route, blob, 2, source)
    assert source.told == ["wait"]
    assert 0 < sum(bool(reader.connection.told) for reader in readers) <= SLICE
    finish(router)
    assert source.told == ["wait", "proceed"]
    assert [reader.connection.told for reader in readers] == [[(blob, 2)]] * (SLICE + 1)
    assert (router.publish_received, router.publish_sent) == (2, 2 * SLICE + 2)


def test_a_message_to_many_is_sealed_until_all_have_it_and_then_it_is_safe():
    """Nobody is sent it before: else one that was never answered would come twice after an accident."""
    router = made(Journal())
    readers = [joined(router, f"{n}", "t", qos=n % 2, durable=n % 2 == 1) for n in range(SLICE + 1)]
    source, route = Peer("source"), router.route(b"t")
    publisher = Session("p", clean=False)
    publisher.durable = True
    asked = hold(WAIT_FOR_ALL, publisher)
    router.deliver(route, b"blob", 1, source, asked, lambda: source.told.append("safe"))
    assert asked.status is None and not asked.begun and source.told == ["wait"]
    first = readers[1]
    assert first.queue[0][0].sealed and not first.connection.told
    router.pump(first, first.connection)
    router.send(first, first.connection, Message(b"t", b"next"), 1, b"")
    assert not first.connection.told and len(first.queue) == 2  # what comes later stays behind it
    source.closing = True  # it is gone, and the delivery goes on
    finish(router)
    assert source.told == ["wait", "safe"]
    assert (asked.begun, asked.need, len(asked.missing)) == (True, SLICE // 2, SLICE // 2 + 1)
    kinds = [what for what, *_ in router.store.told if what != "sent"]
    assert kinds == ["outgoing"] * (SLICE // 2 + 1) + ["received", "keep"]
    assert [raw[-4:] for raw in first.connection.told] == [b"blob", b"next"]
    assert {len(reader.connection.told) for reader in readers} == {1, 2}
    assert router.shares.held == sum(m.size for reader in readers for m, _, _ in reader.inflight.values())


def test_one_that_fails_keeps_no_message_sealed(caplog):
    router = made()
    readers = [joined(router, f"{n}", "t", away=n == 3) for n in range(SLICE + 1)]
    readers[3].queue = 5  # whatever goes wrong there
    router.deliver(router.route(b"t"), b"x", 1, None)
    finish(router)
    assert "a message for '3' has failed" in caplog.text
    assert sum(len(reader.connection.told) for reader in readers if reader.connection) == SLICE


def test_a_row_of_its_own_is_whole_when_all_refer_to_it():
    router = made(Journal())
    for n in range(SLICE + 1):
        joined(router, f"{n}", "t", durable=True)
    message = []
    outgoing = router.store.outgoing
    router.store.outgoing = lambda client, i, qos, one: (
        message.append(one) or setattr(one, "number", 7) or outgoing(client, i, qos, one)
    )
    router.deliver(router.route(b"t"), b"", 1, None)
    finish(router)
    assert ("whole", message[0]) in router.store.told


def test_what_fits_into_a_slice_is_handed_out_at_once_however_long_it_is():
    router = made()
    readers = [joined(router, f"{n}", "t") for n in range(SLICE)]
    route, source = router.route(b"t"), Peer("source")
    router.forward(route, b"x", 1, source)
    router.deliver(route, bytes(1000), 1, source, None, lambda: source.told.append("safe"))
    assert {len(reader.connection.told) for reader in readers} == {2}
    assert source.told == ["safe"]


# ---------------------------------------------------------------------- QoS 1 to 3
@pytest.mark.parametrize("qos", [0, 1, 2, 3])
@pytest.mark.parametrize("granted", [0, 1, 2, 3])
def test_each_is_sent_it_at_the_lesser_of_both(qos, granted):
    store = Journal()
    router = made(store)
    reader = joined(router, "r", "t", qos=granted, durable=True)
    away = joined(router, "a", "t", qos=granted, away=True, durable=True)
    source, waits = Peer("source"), hold(1)
    router.deliver(router.route(b"t"), b"data", qos, source, waits)
    least = min(qos, granted)
    message = Message(b"t", b"data")
    assert (router.publish_received, router.publish_sent) == (1, 1)
    if least:
        assert reader.connection.told == [message.encode(least, 1)]
        assert [(m.payload, q, n) for m, q, n in reader.inflight.values()] == [(b"data", least, 1)]
        assert [(m.payload, q, n) for m, q, n in away.queue] == [(b"data", least, 2)]
        assert store.told == [("outgoing", "r", 1, least, b"data"), ("outgoing", "a", 0, least, b"data")]
        assert (waits.waiting, waits.missing) == ({"r", "a"}, {"a": Missing.OFFLINE})
        assert (reader.load, away.load, router.shares.held) == (message.size, message.size, 2 * message.size)
    else:
        assert reader.connection.told == [(message.encode(0), 1)]
        assert away.queue is None
        assert waits.missing == dict.fromkeys("ra", Missing.QOS_0)
        assert waits.status is Status.SHORT
    assert waits.begun


def test_a_payload_is_one_for_all_however_many_get_it(monkeypatch):
    router, payload, got = made(), bytes(20_000), []
    for n in range(5):
        joined(router, f"{n}", "t", qos=1 + n % 2)
    monkeypatch.setattr(Peer, "push_message", lambda self, head, payload: got.append(payload))
    router.deliver(router.route(b"t"), payload, 2, None)
    assert [one is payload for one in got] == [True] * 5


def test_who_has_acknowledged_is_not_sent_it_again():
    router = made()
    reader, other = joined(router, "r", "t"), joined(router, "o", "t")
    again = hold(2)
    again.acknowledged = {"r": (5, b"")}
    router.deliver(router.route(b"t"), b"", 1, None, again)
    assert (len(reader.connection.told), len(other.connection.told)) == (0, 1)


@pytest.mark.parametrize(("slow", "queued", "told"), [(True, False, True), (False, True, True), (False, False, False)])
def test_a_source_is_held_back_for_who_is_behind(slow, queued, told):
    router = made(max_inflight=1 if queued else 5)
    reader = joined(router, "r", "t", slow=slow)
    for _ in range(2):
        router.deliver(router.route(b"t"), b"", 1, Peer("source"))
        router.deliver(router.route(b"t"), b"", 1, None)
    assert (("hold back", "source") in reader.connection.told) == told


def test_one_that_fails_breaks_alone(caplog):
    router = made()
    broken, away, well = joined(router, "b", "t", qos=0), joined(router, "a", "t", away=True), joined(router, "w", "t")
    broken.connection.error = error = OSError("gone")
    away.queue = 5  # whatever goes wrong there
    router.deliver(router.route(b"t"), b"x", 1, None)
    assert broken.connection.told == [("broke", error)]
    assert len(well.connection.told) == 1
    assert "a message for 'a' has failed" in caplog.text


def test_what_waits_for_its_subscribers_is_written_a_few_at_a_time(monkeypatch):
    router = made()
    for n in range(3 * FIRST):
        joined(router, f"{n}", "t")
    written = []
    monkeypatch.setattr(
        router.outbox, "flush", lambda: written.append(len(router.outbox.dirty)) or router.outbox.dirty.clear()
    )
    monkeypatch.setattr(Peer, "push", lambda self, data: router.outbox.dirty.append(self))
    router.deliver(router.route(b"t"), b"", 1, None)
    assert written == []
    router.outbox.dirty.clear()
    router.deliver(router.route(b"t"), b"", 1, None, hold(1))
    assert written == [FIRST, FIRST]


def test_packet_ids_are_those_that_are_free():
    router = made()
    reader = joined(router, "r", "t")
    reader.next_id = 65_535
    reader.inflight = {1: None, 3: None}
    for _ in range(3):
        router.deliver(router.route(b"t"), b"", 1, None)
    assert list(reader.inflight) == [1, 3, 65_535, 2, 4]


@pytest.mark.parametrize("sizes", [(0, 0, 1), (1, 0, 0), (300, 3, 300)])
def test_each_packet_has_the_head_of_its_own_qos_and_length(sizes):
    """Heads are remembered; one must never stand in for another."""
    router = made()
    readers = [joined(router, f"{qos}", "t", qos=qos) for qos in range(4)]
    for number, size in enumerate(sizes, start=1):
        router.deliver(router.route(b"t"), bytes(size), 3, None)
        message = Message(b"t", bytes(size))
        told = [reader.connection.told[-1] for reader in readers]
        assert told == [(message.encode(0), 1), *(message.encode(qos, number) for qos in (1, 2, 3))]


# ---------------------------------------------------------------------- windows and queues
def test_the_window_and_the_bytes_on_the_way_are_bounded_and_order_is_kept():
    router = made(max_inflight=2)
    reader = joined(router, "r", "t")
    for n in range(5):
        router.deliver(router.route(b"t"), b"%d" % n, 1, None)
    assert (len(reader.inflight), [m.payload for m, _, _ in reader.queue]) == (2, [b"2", b"3", b"4"])
    router.finished(reader, reader.inflight.pop(1), reader.connection)
    assert [m.payload for m, _, _ in reader.inflight.values()] == [b"1", b"2"]
    router.deliver(router.route(b"t"), b"5", 1, None)
    assert [m.payload for m, _, _ in reader.queue] == [b"3", b"4", b"5"]
    while reader.inflight:
        router.finished(reader, reader.inflight.pop(next(iter(reader.inflight))), reader.connection)
    assert (reader.queue, reader.load, router.shares.held) == (None, 0, 0)
    assert [raw[-1:] for raw in reader.connection.told] == [b"%d" % n for n in range(6)]
    assert router.publish_sent == 6


@pytest.mark.parametrize("state", ["congested", "loaded"])
def test_who_takes_no_more_has_it_queued(state):
    router = made(max_queued_bytes=1000)
    reader = joined(router, "r", "t", congested=state == "congested")
    reader.load = 1000 if state == "congested" else 1001
    reader.connection.congested, loaded = state == "congested", reader.load
    route = router.route(b"t")
    if state == "loaded":
        router.deliver(route, b"", 1, None)
        assert (reader.inflight, reader.queue is None or not reader.queue, router.dropped) == ({}, True, 1)
        reader.load = 1000
        router.deliver(route, b"", 1, None)
        assert len(reader.inflight) == 1
    else:
        reader.load = 0
        router.deliver(route, b"", 1, None)
        assert (reader.inflight, len(reader.queue), loaded) == ({}, 1, 1000)


@pytest.mark.parametrize(
    ("limits", "fits"),
    [
        ({"max_queued": 2}, 2),
        ({"max_queued_bytes": 3 * 311}, 3),
        ({"max_queued_bytes": 3 * 311 - 1}, 2),
        ({"max_queued_bytes": 50}, 1),  # one message fits in any case
        ({"max_waiting_bytes": 711}, 2),  # of which seven eighths are 622 = 2 * 311
        ({"max_waiting_bytes": 710}, 1),
    ],
)
def test_a_queue_holds_what_its_limits_say_and_the_rest_is_counted(limits, fits, caplog):
    router = made(**limits)
    reader = joined(router, "r", "t", away=True)
    waits = hold(1)
    for _ in range(6):
        router.deliver(router.route(b"t"), bytes(10), 1, None, waits)
    assert (len(reader.queue), router.dropped) == (fits, 6 - fits)
    assert reader.load == router.shares.held == fits * 311
    assert waits.missing == {"r": Missing.QUEUE_FULL}
    told = [record for record in caplog.records if "is full" in record.message]
    assert len(told) == {2: 2, 3: 2, 4: 3, 5: 3}[6 - fits]  # the first, the second, the fourth …


def test_a_queue_is_sent_as_far_as_the_socket_takes_it_and_what_may_not_be_read_is_not():
    store = Journal()
    router = made(store, access=(Access("open/#"),))
    reader = joined(router, "r", "#", away=True, durable=True)
    reader.permissions = router.permissions("ann", "r")
    other = hold(1)
    for topic in (b"open/1", b"closed", b"open/2", b"open/3"):
        router._enqueue(reader, Message(topic, b"xy", False, other if topic == b"closed" else None), 1)
    other.begin()
    store.told.clear()
    peer = reader.connection = Peer(room=2)
    router.pump(reader, peer)
    assert peer.told == [Message(topic, b"xy").encode(1, n) for n, topic in ((1, b"open/1"), (2, b"open/2"))]
    assert store.told == [("sent", 1, 1), ("done", 2), ("sent", 3, 2)]
    assert (router.dropped, router.publish_sent, len(reader.queue)) == (1, 2, 1)
    assert reader.load == router.shares.held == 3 * Message(b"open/3", b"xy").size
    assert (other.status, other.missing) == (Status.SHORT, {"r": Missing.NOT_SUBSCRIBED})


def test_what_was_on_the_way_is_sent_again_with_dup_and_what_was_released_is_released_again():
    store = Journal()
    router = made(store, access=(Access("open"),))
    reader = joined(router, "r", "t", durable=True)
    reader.permissions = router.permissions("ann", "r")
    first, waiting, gone, done = hold(1), hold(1), hold(1), hold(1)
    for each in (first, waiting, gone, done):
        each.missing["r"] = Missing.OFFLINE
        each.waiting.add("r")
        each.begun = True
    done.status = Status.TIMEOUT
    message = Message(b"open", b"x", False, first)
    reader.inflight = {
        3: (message, 2, 7), 4: (RELEASED, 2, 8), 5: (RELEASED, 3, 9),
        6: (Message(b"closed", b"yyy", False, gone), 1, 10), 7: (Message(b"open", b"z", False, done), 1, 11),
    }  # fmt: skip
    for sent, _, _ in reader.inflight.values():
        counted(router, reader, sent)
    router.max_inflight = 5
    router._enqueue(reader, Message(b"open", b"q", False, waiting), 1)
    router._enqueue(reader, Message(b"open", b"", False, done), 1)
    router._enqueue(reader, Message(b"open", b""), 1)
    waiting.missing["r"] = Missing.OFFLINE
    store.told.clear()
    router.resume(reader, reader.connection)
    assert reader.connection.told == [
        message.encode(2, 3, dup=True), b"\x62\x02\0\x04", b"\x66\x02\0\x05",
        Message(b"open", b"z").encode(1, 7, dup=True), Message(b"open", b"q").encode(1, 1),
    ]  # fmt: skip
    assert list(reader.inflight) == [3, 4, 5, 7, 1]
    assert (first.missing, waiting.missing, done.missing) == ({}, {}, {"r": Missing.OFFLINE})
    assert gone.missing == {"r": Missing.NOT_SUBSCRIBED}
    assert store.told == [("done", 10), ("sent", 1, 1)]
    left = [m.size for m, _, _ in (*reader.inflight.values(), *reader.queue)]
    assert len(left) == 7 and reader.load == router.shares.held == sum(left)


@pytest.mark.parametrize("numbered", [0, 5])
@pytest.mark.parametrize("qos", [1, 2, 3])
def test_an_acknowledgement_counts_for_the_hold_and_the_store(qos, numbered):
    store = Journal()
    router = made(store)
    publisher = Session("p", clean=False)
    publisher.durable = True
    reader = joined(router, "r", "t", durable=True)
    waits = hold(1, publisher)
    waits.expect("r")
    waits.begin()
    entry = counted(router, reader, Message(b"t", b"data", False, waits)), qos, numbered
    if qos == 1:
        router.finished(reader, entry, reader.connection)
    else:
        router.released(reader, entry, b"said")
    assert reader.load == router.shares.held == (0 if qos == 1 else RELEASED.size)  # its hold has no ledger
    assert {name: data for name, (_, data) in waits.acknowledged.items()} == {"r": b"" if qos == 1 else b"said"}
    told = [("done" if qos == 1 else "released", 5)] if numbered else []
    assert store.told == [*told, ("keep", waits)]
    if qos > 1:
        router.finished(reader, (RELEASED, qos, numbered), reader.connection)
        assert store.told[2 if numbered else 1 :] == ([("done", 5)] if numbered else [])
        another = hold(1)
        another.expect("r")
        late = counted(router, reader, Message(b"t", b"", False, another))
        router.finished(reader, (late, qos, 0), reader.connection)
        assert another.waiting == {"r"}  # its PUBREC counts, not its PUBCOMP


def test_who_has_caught_up_lets_go_of_its_publishers():
    router = made()
    reader = joined(router, "r", "t", pressing=True)
    router.finished(reader, (counted(router, reader, Message(b"t", b"")), 1, 0), reader.connection)
    assert reader.connection.told == ["caught up"]
    reader.connection.pressing = False
    router.finished(reader, (counted(router, reader, Message(b"t", b"")), 1, 0), reader.connection)
    assert len(reader.connection.told) == 1


@pytest.mark.parametrize(
    ("durable", "qos", "ended", "kept"),
    [
        (True, 2, False, True),
        (True, 3, False, True),
        (True, 1, False, False),
        (False, 2, False, False),
        (True, 2, True, False),
    ],
)
def test_a_hold_is_kept_where_its_publisher_s_session_is(durable, qos, ended, kept):
    router = made(Journal())
    publisher = Session("p", clean=not durable)
    publisher.durable, publisher.ended = durable, ended
    router.keep(hold(1, publisher, qos))
    assert bool(router.store.told) == kept


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_what_is_retained_is_sent_as_retained(qos):
    router = made()
    reader = joined(router, "r")
    message = Message(b"t", b"x", True)
    router.send_retained(reader, reader.connection, message, qos)
    assert reader.connection.told == ([message.encode(qos, 1)] if qos else [(message.encode(0), 1)])
    assert (router.publish_sent, len(reader.inflight)) == (1, bool(qos))


# ---------------------------------------------------------------------- sessions that end
def test_a_session_that_ends_leaves_nothing_behind():
    router = made(store := Journal())
    ends, stays = joined(router, "e", "a/+", "b", durable=True), joined(router, "s", "a/+")
    router.max_inflight = 1
    first, second, without = hold(2), hold(1), Message(b"b", b"")
    router.deliver(router.route(b"b"), b"1", 1, None, first)
    router.deliver(router.route(b"b"), b"2", 1, None, second)
    ends.queue.append((without, 1, 0))
    router.shares.enter(None, without)
    router.shares.kept[None] = 5
    given_up = []
    router.route(b"a/x")
    router.end(ends, (given_up.append(n) or 1 for n in range(3)))
    assert ends.ended and given_up == [0, 1, 2]
    assert (list(router.sessions), router.shares.kept[None]) == (["s"], 4)
    assert router.shares.held == 0
    assert [session for session, _ in router.route(b"a/x").subscribers] == [stays]
    assert (router.route(b"b").subscribers, router.tree.match("b")) == ([], {})
    assert first.missing == second.missing == {"e": Missing.SESSION_ENDED}
    assert store.told[-1] == ("forget", "e") or ("forget", "e") in store.told
    router.end(ends, iter(()))  # a second time it is not there any more
    assert router.shares.kept[None] == 4
    another = joined(router, "c")
    router.end(another, iter(()))
    assert router.shares.kept[None] == 4  # a clean one was not among those kept


def test_one_that_has_taken_the_place_of_another_stays():
    router = made()
    old = joined(router, "x", "t")
    new = joined(router, "x", "t")
    router.end(old, iter(()))
    assert router.sessions == {"x": new}
    assert [session for session, _ in router.route(b"t").subscribers] == [new]


def test_the_store_is_told_of_kept_sessions_only():
    router = made(Journal())
    passing, publisher = joined(router, "r", "t"), Session("p", clean=False)
    publisher.durable = True
    router.deliver(router.route(b"t"), b"", 1, None)
    router.max_inflight = 1
    router.deliver(router.route(b"t"), b"", 1, None)
    router.finished(passing, passing.inflight.pop(1), passing.connection)
    router.finished(passing, passing.inflight.pop(2), passing.connection)
    assert router.store.told == []
    waits = hold(1, publisher)
    router.deliver(router.route(b"t"), b"", 2, None, waits)
    router.end(passing, iter(()))
    keeps = [("keep", waits)] * 2  # begun, and ended with its only subscriber
    assert router.store.told == [("received", "p", 1), *keeps]
    without = made()
    without.end(joined(without, "k", "t", durable=True), iter(()))
    assert without.sessions == {}

"""The rules of "E-MQTT, completed": what the paper leaves undefined, each rule with its test."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from voicewire.mqtt import BrokerThread, Limits, MalformedError
from voicewire.mqtt import packets as p
from voicewire.mqtt.client_delivery import Delivery, what_is_missing
from voicewire.mqtt.config import Access
from voicewire.mqtt.raw_socket_client import Wire, connect, subscribed
from voicewire.mqtt.sessions import outbox
from voicewire.mqtt.sessions.hold import Missing, Report, Status

Start = Callable[..., BrokerThread]


def asking(port: int, client_id: str = "", clean: bool = True, present: bool = False) -> Wire:
    """Return a publisher that may use QoS 3."""
    wire = connect(port, client_id, clean, present)
    wire.send(p.Subscribe(1, (("$e2e/hello", 3),)))
    wire.expect(p.Suback(1, (3,)))
    return wire


def take(wire: Wire, payload: bytes = b"x") -> p.Publish:
    got = wire.publication()
    assert got.payload == payload
    return got


def acknowledge(wire: Wire, got: p.Publish, data: bytes = b"") -> None:
    if got.qos == 1:
        wire.send(p.Puback(got.packet_id))
        return
    wire.send(p.Pubrec(got.packet_id, got.qos, data))
    wire.expect(p.Pubrel(got.packet_id, got.qos))
    wire.send(p.Pubcomp(got.packet_id, got.qos))


def report(wire: Wire) -> Report:
    got = wire.receive()
    assert isinstance(got, p.Pubrec) and got.qos == 3
    return Report.decode(got.data)


def test_rule_asking(port: int) -> None:
    """[asking] QoS 3 is spoken with those who subscribed with it; a QoS 2 subscriber gets the message at QoS 2."""
    with subscribed(port, "ask", qos=3) as three, subscribed(port, "ask", qos=2) as two, asking(port) as wire:
        wire.send(p.Publish("ask", b"x", 3, packet_id=1, waited=2))
        assert take(two).qos == 2
        got = take(three)
        assert (got.qos, got.waited, got.subscribers) == (3, 0, ())


def test_rule_switched_off(broker: Start) -> None:
    """[asking] With E-MQTT switched off the broker is strict: QoS 3 in SUBSCRIBE closes the connection."""
    port = broker(qos3=False).port
    with connect(port) as wire:
        wire.send(p.Subscribe(1, (("a", 3),)))
        wire.closed()


@pytest.mark.parametrize("need", [1, 2, 3])
def test_rule_k_of_n(port: int, need: int) -> None:
    """[k of n] PUBREC is held back until k distinct subscribers have acknowledged, and comes with the k-th."""
    wires = [subscribed(port, "kn", qos=3) for _ in range(3)]
    with asking(port) as wire:
        wire.send(p.Publish("kn", b"x", 3, packet_id=7, waited=need))
        for i, each in enumerate(wires):
            wire.quiet() if i < need else None
            acknowledge(each, take(each))
            each.quiet()
            if i == need - 1:
                wire.expect(p.Pubrec(7, 3))
        wire.send(p.Pubrel(7, 3))
        wire.expect(p.Pubcomp(7, 3))
        wire.quiet()
    for each in wires:
        each.close()


def test_rule_pubrel_may_wait(port: int) -> None:
    """[k of n] A subscriber's PUBREL may wait for the proof to go first, but comes soon where none is in sight."""
    with subscribed(port, "late", qos=3) as one, subscribed(port, "late", qos=3) as two, asking(port) as wire:
        wire.send(p.Publish("late", b"x", 3, packet_id=7, waited=2))
        take(two)
        acknowledge(one, take(one))  # PUBREL comes though `two` says nothing
        wire.quiet()
        wire.send(p.Publish("late", b"y", 3, packet_id=8, waited=2))
        take(two, b"y")
        got = take(one, b"y")
        one.send(p.Pubrec(got.packet_id, 3), p.Pingreq())
        one.expect(p.Pubrel(got.packet_id, 3), p.Pingresp())  # what follows does not overtake it


def test_what_is_written_early_overtakes_nothing(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message that somebody waits for is written early, but behind what its subscriber is owed."""
    monkeypatch.setattr(outbox, "PATIENCE", 60.0)
    with subscribed(port, "owed", qos=3) as one, subscribed(port, "owed", qos=3) as two, asking(port) as wire:
        wire.send(p.Publish("owed", b"x", 3, packet_id=7, waited=2))
        take(two)
        got = take(one)
        one.send(p.Pubrec(got.packet_id, 3))
        wire.quiet()  # PUBREC has been heard; PUBREL waits for `two`
        wire.send(p.Publish("owed", b"y", 3, packet_id=8, waited=2))
        one.expect(p.Pubrel(got.packet_id, 3))
        take(one, b"y")


def test_a_message_larger_than_the_socket_arrives_whole(port: int) -> None:
    blob = bytes(range(256)) * 20_000
    with subscribed(port, "large", qos=3) as one, asking(port) as wire:
        wire.send(p.Publish("large", blob, 3, packet_id=1, waited=1))
        wire.quiet()  # nobody has read yet
        got = one.publication()
        assert hash(got.payload) == hash(blob)  # five million bytes are no message for people
        acknowledge(one, got)
        wire.expect(p.Pubrec(1, 3))


def test_rule_asynchronous(port: int) -> None:
    """[first] waited 0: the first acknowledgement of anybody is passed on, at once and alone."""
    with subscribed(port, "as", qos=3) as a, subscribed(port, "as", qos=3) as b, asking(port) as wire:
        wire.send(p.Publish("as", b"x", 3, packet_id=7, waited=0))
        wire.quiet()
        acknowledge(b, take(b))
        wire.expect(p.Pubrec(7, 3))
        acknowledge(a, take(a))
        a.quiet()
        wire.quiet()


def test_rule_named(port: int) -> None:
    """[named] With ids only the named count; an id that has not subscribed is reported as such."""
    with (
        subscribed(port, "nm", qos=3, client_id="nm-a") as a,
        subscribed(port, "nm", qos=3, client_id="nm-b") as b,
        asking(port) as wire,
    ):
        wire.send(p.Publish("nm", b"x", 3, packet_id=7, waited=1, subscribers=("nm-b", "nm-c"), report=True))
        acknowledge(a, take(a))
        a.quiet()
        wire.quiet()
        acknowledge(b, take(b))
        got = report(wire)
        assert got.status is Status.COMPLETE and list(got.acknowledged) == ["nm-b"]
        assert got.missing == {"nm-c": Missing.NOT_SUBSCRIBED}


def test_rule_more_waited_than_named(port: int) -> None:
    """[named] Waiting for more than are named is malformed."""
    with asking(port) as wire:
        wire.send(p.frame(0x36, b"\0\1a\0\1\x80\x02\x01b"))
        wire.closed()


def test_rule_nobody(port: int) -> None:
    """[too few] No PUBREC is sent without its proof: silence for the plain form, a report at once for the other."""
    with asking(port) as wire:
        wire.send(p.Publish("nobody", b"x", 3, packet_id=1, waited=1))
        wire.quiet()
        wire.send(p.Publish("nobody", b"x", 3, packet_id=2, waited=2, report=True))
        got = report(wire)
        assert (got.status, got.acknowledged, got.missing) == (Status.SHORT, {}, {})
        wire.send(p.Publish("nobody", b"x", 3, packet_id=3, waited=p.WAIT_FOR_ALL, report=True))
        assert report(wire).status is Status.SHORT


def test_rule_too_few(port: int) -> None:
    """[too few] With fewer subscribers than waited for, the report comes when the last of them has answered."""
    with subscribed(port, "few", qos=3, client_id="few-a") as a, asking(port) as wire:
        wire.send(p.Publish("few", b"x", 3, packet_id=2, waited=2, report=True))
        wire.quiet()
        acknowledge(a, take(a))
        got = report(wire)
        assert got.status is Status.SHORT and list(got.acknowledged) == ["few-a"]


def test_rule_sent_again_after_too_few(port: int) -> None:
    """[too few] A plain message sent again is tried again with those who are there now; former answers count."""
    with subscribed(port, "re", qos=3, client_id="re-a") as a, asking(port) as wire:
        message = p.Publish("re", b"x", 3, packet_id=2, waited=2)
        wire.send(message)
        acknowledge(a, take(a))
        a.quiet()
        wire.quiet()
        with subscribed(port, "re", qos=3, client_id="re-b") as b:
            wire.send(p.Publish("re", b"x", 3, dup=True, packet_id=2, waited=2))
            acknowledge(b, take(b))
            wire.expect(p.Pubrec(2, 3))
            a.quiet()


def test_rule_lower_qos(port: int) -> None:
    """[lower QoS] A PUBACK counts as well as a PUBREC; a QoS 0 subscriber gets the message and cannot count."""
    with (
        subscribed(port, "lo", qos=0, client_id="lo-0") as zero,
        subscribed(port, "lo", qos=1, client_id="lo-1") as one,
        asking(port) as wire,
    ):
        wire.send(p.Publish("lo", b"x", 3, packet_id=2, waited=2, report=True))
        assert take(zero).qos == 0
        acknowledge(one, take(one))
        got = report(wire)
        assert got.status is Status.SHORT
        assert list(got.acknowledged) == ["lo-1"] and got.missing == {"lo-0": Missing.QOS_0}


def test_rule_offline(port: int) -> None:
    """[offline] A kept session that is away counts when it comes back and acknowledges."""
    subscribed(port, "off", qos=2, client_id="off-a", clean=False).close()
    with asking(port) as wire:
        wire.send(p.Publish("off", b"x", 3, packet_id=2, waited=1))
        wire.quiet()
        with connect(port, "off-a", clean=False, present=True) as a:
            acknowledge(a, take(a))
            wire.expect(p.Pubrec(2, 3))


def test_rule_lost_on_the_way(port: int) -> None:
    """[offline] A subscriber that is lost before it has acknowledged: its clean session ends, and so does the hope."""
    a = subscribed(port, "lost", qos=3, client_id="lost-a")
    with asking(port) as wire:
        wire.send(p.Publish("lost", b"x", 3, packet_id=2, waited=1, report=True))
        take(a)
        a.close()
        got = report(wire)
        assert (got.status, got.missing) == (Status.SHORT, {"lost-a": Missing.SESSION_ENDED})


def test_rule_time_limit(port: int) -> None:
    """[time limit] The report comes at the publisher's limit, complete or not; a later answer changes nothing."""
    with subscribed(port, "slow", qos=3, client_id="slow-a") as a, asking(port) as wire:
        wire.send(p.Publish("slow", b"x", 3, packet_id=2, waited=1, report=True, limit=10))
        got = take(a)
        answer = report(wire)
        assert (answer.status, answer.missing) == (Status.TIMEOUT, {"slow-a": Missing.NO_ANSWER})
        acknowledge(a, got)
        a.quiet()
        wire.send(p.Pubrel(2, 3))
        wire.expect(p.Pubcomp(2, 3))


def test_rule_default_time_limit(broker: Start) -> None:
    """[time limit] Without one the broker's own applies to reports, and none to the plain form."""
    port = broker(limits=Limits(hold_timeout=0.1)).port
    with subscribed(port, "dl", qos=3) as a, asking(port) as wire:
        wire.send(
            p.Publish("dl", b"x", 3, packet_id=1, waited=1),
            p.Publish("dl", b"x", 3, packet_id=2, waited=1, report=True),
        )
        assert report(wire).status is Status.TIMEOUT
        first = take(a)
        take(a)
        acknowledge(a, first)
        wire.expect(p.Pubrec(1, 3))


def test_rule_distinct_subscribers(port: int) -> None:
    """[distinct] One subscriber counts once, whatever it sends and however many of its filters match."""
    with (
        subscribed(port, "di/#", "di/+", "di/x", qos=3) as a,
        subscribed(port, "di/x", qos=3) as b,
        asking(port) as wire,
    ):
        wire.send(p.Publish("di/x", b"x", 3, packet_id=2, waited=2))
        got = take(a)
        a.send(p.Pubrec(got.packet_id, 3), p.Pubrec(got.packet_id, 3))
        a.expect(p.Pubrel(got.packet_id, 3), p.Pubrel(got.packet_id, 3))
        wire.quiet()
        acknowledge(b, take(b))
        wire.expect(p.Pubrec(2, 3))


def test_rule_sent_again(port: int) -> None:
    """[sent again] DUP while waiting is ignored; after the proof the PUBREC is sent again; never a second delivery."""
    with subscribed(port, "du", qos=3) as a, asking(port) as wire:
        again = p.Publish("du", b"x", 3, dup=True, packet_id=2, waited=1)
        wire.send(p.Publish("du", b"x", 3, packet_id=2, waited=1), again)
        wire.quiet()
        acknowledge(a, take(a))
        wire.expect(p.Pubrec(2, 3))
        wire.send(again)
        wire.expect(p.Pubrec(2, 3))
        a.quiet()


def test_rule_publisher_comes_back(port: int) -> None:
    """[sent again] The wait belongs to the publisher's session: it goes on while the publisher is away."""
    with subscribed(port, "back", qos=3) as a:
        with asking(port, "back-p", clean=False) as wire:
            wire.send(p.Publish("back", b"x", 3, packet_id=2, waited=1))
            got = take(a)
        acknowledge(a, got)
        a.quiet()
        with asking(port, "back-p", clean=False, present=True) as wire:
            wire.send(p.Publish("back", b"x", 3, dup=True, packet_id=2, waited=1))
            wire.expect(p.Pubrec(2, 3))
        a.quiet()


def test_rule_two_publishers(port: int) -> None:
    """[packet ids] Packet ids are each publisher's own."""
    with subscribed(port, "tp", qos=3) as a, asking(port) as one, asking(port) as two:
        one.send(p.Publish("tp", b"1", 3, packet_id=2, waited=1))
        first = take(a, b"1")
        two.send(p.Publish("tp", b"2", 3, packet_id=2, waited=1))
        acknowledge(a, take(a, b"2"))
        two.expect(p.Pubrec(2, 3))
        one.quiet()
        acknowledge(a, first)
        one.expect(p.Pubrec(2, 3))


def test_rule_retained(port: int) -> None:
    """[retained] A QoS 3 message may be retained; those who subscribe later get it at QoS 2 at most and do not
    count."""
    with asking(port) as wire:
        wire.send(p.Publish("rt", b"x", 3, retain=True, packet_id=2, waited=1))
        wire.quiet()
        with subscribed(port, "rt", qos=3) as late:
            got = take(late)
            assert (got.retain, got.qos) == (True, 2)
            acknowledge(late, got)
            late.quiet()
            wire.quiet()
        wire.send(p.Publish("rt", b"", 0, retain=True))


def test_rule_answers_carry_data(port: int) -> None:
    """[answers] What a subscriber puts into its PUBREC reaches the publisher in the report."""
    with (
        subscribed(port, "da", qos=3, client_id="da-a") as a,
        subscribed(port, "da", qos=3, client_id="da-b") as b,
        asking(port) as wire,
    ):
        wire.send(p.Publish("da", b"x", 3, packet_id=2, waited=p.WAIT_FOR_ALL, report=True))
        acknowledge(a, take(a), b"21.5 C")
        acknowledge(b, take(b), b"\0\xff")
        got = report(wire)
        assert {k: v for k, (_, v) in got.acknowledged.items()} == {"da-a": b"21.5 C", "da-b": b"\0\xff"}
        assert all(t > 0 for t, _ in got.acknowledged.values())


@pytest.mark.parametrize("qos", [1, 2])
@pytest.mark.parametrize("count", ["0", "1", "2", "all"])
def test_rule_unmodified(port: int, qos: int, count: str) -> None:
    """[unmodified] `$e2e/<n>/<topic>` does the same for ordinary clients, at QoS 1 and 2."""
    answer: p.Packet = p.Puback(5) if qos == 1 else p.Pubrec(5)
    with subscribed(port, "un", qos=2) as a, subscribed(port, "un", qos=1) as b, connect(port) as wire:
        wire.send(p.Publish(f"$e2e/{count}/un", b"x", qos, packet_id=5))
        first = take(a)
        assert (first.topic, first.qos) == ("un", qos)
        wire.quiet()
        acknowledge(a, first)
        if count in "01":
            wire.expect(answer)
        wire.quiet()
        acknowledge(b, take(b))
        if count not in "01":
            wire.expect(answer)
        if qos == 2:
            wire.send(p.Pubrel(5))
            wire.expect(p.Pubcomp(5))


def test_rule_unmodified_report(port: int) -> None:
    """[unmodified] A publisher subscribed to `$e2e/report/#` reads there, as JSON, how its messages ended; at QoS 0
    too."""
    with subscribed(port, "ur", qos=1, client_id="ur-a") as a, subscribed(port, "$e2e/report/#") as wire:
        for qos in (0, 1):
            wire.send(p.Publish("$e2e/1/ur", b"x", qos, packet_id=qos))
            got = take(a)
            assert got.qos == 1
            acknowledge(a, got)
            if qos:
                wire.expect(p.Puback(1))
            told = wire.publication()
            assert told.topic == "$e2e/report/1/ur"
            outcome = json.loads(told.payload)
            assert (outcome["status"], list(outcome["acknowledged"])) == ("complete", ["ur-a"])
        wire.send(p.Publish("$e2e/1/ur-none", b"x", 1, packet_id=2))
        assert json.loads(wire.publication().payload)["status"] == "short"


@pytest.mark.parametrize(
    "topic", ["$e2e/x/a", "$e2e/1", "$e2e/1/", "$e2e/-1/a", "$e2e/16383/a", "$e2e/1/$SYS/a", "$e2e/²/a"]
)
def test_rule_bad_address(port: int, topic: str) -> None:
    """[unmodified] A malformed `$e2e` address closes the connection."""
    with connect(port) as wire:
        wire.send(p.Publish(topic, b"x", 1, packet_id=1))
        wire.closed()


def test_rule_too_many_holds(broker: Start) -> None:
    """[limits] A publisher with too many messages waiting is closed."""
    port = broker(limits=Limits(max_holds=3)).port
    with connect(port) as wire:
        wire.send(*(p.Publish("$e2e/1/none", b"x", 2, packet_id=i) for i in range(1, 4)))
        wire.quiet()
        wire.send(p.Publish("$e2e/1/none", b"x", 2, packet_id=9))
        wire.closed()


def test_rule_full_queue(broker: Start) -> None:
    """[limits] A subscriber whose queue is full is reported missing."""
    port = broker(limits=Limits(max_inflight=1, max_queued=1)).port
    with subscribed(port, "fq", qos=3, client_id="fq-a"), asking(port) as wire:
        for i in (1, 2, 3):
            wire.send(p.Publish("fq", b"x", 3, packet_id=i, waited=1, report=True))
        got = wire.receive()
        assert isinstance(got, p.Pubrec) and got.packet_id == 3
        assert Report.decode(got.data).missing == {"fq-a": Missing.QUEUE_FULL}


def test_rule_no_room_for_the_report(port: int) -> None:
    """[limits] A message whose topic leaves no room for that of its report closes its publisher, and nobody else."""
    topic = "t" * (65535 - len("$e2e/1/"))
    with subscribed(port, topic, qos=2) as innocent, subscribed(port, "$e2e/#") as wire:
        wire.send(p.Publish("$e2e/1/" + topic, b"x", 2, packet_id=1))
        wire.closed()
        innocent.quiet()
    longest = "t" * (65535 - len("$e2e/report/1/"))
    with subscribed(port, longest, qos=1, client_id="l") as innocent, subscribed(port, "$e2e/#") as wire:
        wire.send(p.Publish("$e2e/1/" + longest, b"x", 1, packet_id=1))
        innocent.send(p.Puback(innocent.publication().packet_id))
        wire.expect(p.Puback(1))
        assert json.loads(wire.publication().payload)["status"] == "complete"
        innocent.quiet()


def test_rule_report_size(broker: Start) -> None:
    """[limits] Who does not fit into a report is counted all the same, and the report says that there are more."""
    b = broker(limits=Limits(max_report=500))
    wires = [subscribed(b.port, "t", qos=3, client_id=f"client-{i:02}") for i in range(12)]
    with subscribed(b.port, "$e2e/hello", qos=3) as asks:
        asks.send(p.Publish("t", b"", 3, packet_id=1, waited=p.WAIT_FOR_ALL, report=True))
        for wire in wires:
            wire.send(p.Pubrec(wire.publication().packet_id, 3, b"d" * 60))
            wire.receive()
        answer = asks.receive()
        assert isinstance(answer, p.Pubrec)
        report = Report.decode(answer.data)
        assert report.status is Status.COMPLETE and report.cut and 0 < len(report.acknowledged) < 12
        assert len(answer.data) < 1000
        sent = p.Publish("t", report=True)
        assert what_is_missing(sent, report, Delivery("t", dict.fromkeys("ab", 0.0)), 12).endswith("; and others")
    for wire in wires:
        wire.close()
    with pytest.raises(MalformedError, match="65535"):
        Report(Status.SHORT, {}, {f"{i}": Missing.OFFLINE for i in range(70_000)}).encode()


def test_rule_pubrel_without_pubrec(port: int) -> None:
    """[sent again] A publisher that sends PUBREL while its message is held gives up waiting."""
    with subscribed(port, "gu", qos=3) as a, asking(port) as wire:
        wire.send(p.Publish("gu", b"x", 3, packet_id=2, waited=1), p.Pubrel(2, 3))
        wire.expect(p.Pubcomp(2, 3))
        acknowledge(a, take(a))
        a.quiet()
        wire.quiet()


def test_rule_oversized_answer(port: int) -> None:
    """[answers] An answer of more than 65535 bytes closes the connection."""
    with subscribed(port, "big", qos=3) as a, asking(port) as wire:
        wire.send(p.Publish("big", b"x", 3, packet_id=2, waited=1))
        got = take(a)
        a.send(p.Pubrec(got.packet_id, 3, b"z" * 65536))
        a.closed()


def test_rule_qos_3_to_a_special_topic(port: int) -> None:
    """[unmodified] QoS 3 and `$e2e` exclude each other."""
    with asking(port) as wire:
        wire.send(p.Publish("$e2e/1/a", b"x", 3, packet_id=2, waited=1))
        wire.closed()


# Who could be named


def ids(wire: Wire, topic: str, qos: int = 1) -> list[str]:
    wire.send(p.Publish(f"$e2e/ids/{topic}", b"", qos, packet_id=9))
    got = wire.publication()
    assert (got.topic, got.qos) == (f"$e2e/report/ids/{topic}", 0)
    wire.expect(p.Puback(9) if qos == 1 else p.Pubrec(9))
    told = json.loads(got.payload)
    assert set(told) == {"subscribers"}
    names: list[str] = told["subscribers"]
    return names


@pytest.mark.parametrize("qos", [1, 2])
def test_rule_list_of_ids(port: int, qos: int) -> None:
    """[ids] A publication to `$e2e/ids/<topic>` is answered on `$e2e/report/ids/<topic>` with ids that could count."""
    with (
        subscribed(port, "li/+", qos=1, client_id="li-b"),
        subscribed(port, "li/x", qos=3, client_id="li-a"),
        subscribed(port, "li/x", qos=0, client_id="li-deaf"),
        subscribed(port, "li/y", qos=2, client_id="li-other"),
        subscribed(port, "$e2e/report/ids/#") as wire,
    ):
        assert ids(wire, "li/x", qos) == ["li-a", "li-b"]
        if qos == 2:
            wire.send(p.Pubrel(9))
            wire.expect(p.Pubcomp(9))
        assert ids(wire, "ln/nobody", 1) == []


def test_rule_list_of_ids_away(port: int) -> None:
    """[ids] A kept session that is away is in the list; one that has ended is not."""
    with subscribed(port, "la", qos=3, client_id="la-kept", clean=False) as kept:
        kept.send(p.Disconnect())
        kept.closed()
    with subscribed(port, "la", qos=3, client_id="la-gone") as gone:
        gone.send(p.Disconnect())
        gone.closed()
    with subscribed(port, "$e2e/report/ids/#") as wire:
        assert ids(wire, "la") == ["la-kept"]


def test_rule_list_of_ids_to_whom(broker: Start) -> None:
    """[ids] Who may not publish on the topic, does not listen or asks at QoS 0 gets none; nor is a will one."""
    rules = (Access(allow="readwrite", topic="open/#"), Access(allow="read", topic="closed/#"))
    port = broker(access=rules).port
    with (
        subscribed(port, "open/t", "closed/t", qos=2) as sub,
        connect(port) as deaf,
        subscribed(port, "$e2e/report/#") as wire,
    ):
        assert len(ids(wire, "open/t")) == 1
        for asks, topic in ((wire, "closed/t"), (deaf, "open/t")):
            asks.send(p.Publish(f"$e2e/ids/{topic}", b"", 1, packet_id=1))
            asks.expect(p.Puback(1))
        wire.send(p.Publish("$e2e/ids/open/t"))
        wire.quiet()
        connect(port, will=p.Will("$e2e/ids/open/t", b"no message")).close()
        sub.quiet()


def test_rule_list_of_ids_size(broker: Start) -> None:
    """[ids] A list has the greatest size of a report, and says where there are more."""
    port = broker(limits=Limits(max_report=120)).port
    with (
        subscribed(port, "ls", qos=1, client_id="ls-1"),
        subscribed(port, "ls", qos=1, client_id="ls-2"),
        subscribed(port, "ls", qos=1, client_id="ls-3"),
        subscribed(port, "$e2e/report/ids/#") as wire,
    ):
        wire.send(p.Publish("$e2e/ids/ls", b"", 1, packet_id=1))
        told = json.loads(wire.publication().payload)
        assert told["cut"] is True and len(told["subscribers"]) == 2
        wire.expect(p.Puback(1))

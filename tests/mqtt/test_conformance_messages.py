"""What MQTT 3.1.1 demands of a broker: PUBLISH and its answers, subscriptions, topics, order."""

from __future__ import annotations

import pytest

from voicewire.mqtt import packets as p
from voicewire.mqtt.raw_socket_client import Wire, connect, subscribed


def publish(wire: Wire, topic: str, payload: bytes, qos: int = 0, packet_id: int = 1, retain: bool = False) -> None:
    """Publish, and complete the exchange."""
    wire.send(p.Publish(topic, payload, qos, retain, packet_id=packet_id if qos else 0))
    if qos == 1:
        wire.expect(p.Puback(packet_id))
    elif qos == 2:
        wire.expect(p.Pubrec(packet_id))
        wire.send(p.Pubrel(packet_id))
        wire.expect(p.Pubcomp(packet_id))


# ---------------------------------------------------------------------- PUBLISH
def test_qos_3_unasked(port: int) -> None:
    """[MQTT-3.3.1-4] QoS bits 11 from a client that has not asked for E-MQTT close the connection."""
    with connect(port) as wire:
        wire.send(bytes.fromhex("3607000161000100 0178".replace(" ", "")))
        wire.closed()


def test_dup_at_qos_0(port: int) -> None:
    """[MQTT-3.3.1-2] DUP must be 0 at QoS 0."""
    with connect(port) as wire:
        wire.send(bytes.fromhex("3804000161 78"))
        wire.closed()


def test_packet_id_zero(port: int) -> None:
    """[MQTT-2.3.1-1] Packet ids are never 0."""
    for packet in ("32050001610000", "34050001610000", "8206000000016100", "a2050000000161", "40020000", "62020000"):
        with connect(port) as wire:
            wire.send(bytes.fromhex(packet))
            wire.closed()


@pytest.mark.parametrize("topic", [b"", b"a/+", b"#", b"a#b", b"\xff", b"a\0b", b"\xed\xbf\xbf"])
@pytest.mark.parametrize("first", [0x30, 0x31, 0x32, 0x34])
def test_bad_topic_names(port: int, topic: bytes, first: int) -> None:
    """[MQTT-3.3.2-1] [MQTT-3.3.2-2] [MQTT-4.7.1-1] [MQTT-4.7.3-1] [MQTT-4.7.3-2] [MQTT-1.5.3-1] Bad topic names."""
    with connect(port) as wire:
        packet_id = b"\0\1" if first > 0x31 else b""
        wire.send(p.frame(first, len(topic).to_bytes(2, "big") + topic + packet_id + b"x"))
        wire.closed()


def test_truncated_publish(port: int) -> None:
    """[MQTT-3.3.2-1] A topic longer than its packet, or no topic at all."""
    for first, body in ((0x30, ""), (0x30, "00"), (0x30, "000561"), (0x32, "000161"), (0x32, "00016100"), (0x34, "00")):
        with connect(port) as wire:
            wire.send(p.frame(first, bytes.fromhex(body)))
            wire.closed()


def test_longest_topic(port: int) -> None:
    """[MQTT-4.7.3-3] Topic names of 65535 bytes."""
    topic = "x" * 65535
    with subscribed(port, topic) as wire:
        publish(wire, topic, b"long", 0)
        wire.expect(p.Publish(topic, b"long"))


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 128, 16381, 16382, 16383, 16384, 2_097_152])
def test_payload_sizes(port: int, size: int) -> None:
    """[MQTT-4.3.1-1] Payloads of any size, zero included, at the edges of Remaining Length."""
    payload = bytes(range(256)) * (size // 256) + b"z" * (size % 256)
    with subscribed(port, "size", qos=1) as wire:
        publish(wire, "size", payload, 0)
        wire.expect(p.Publish("size", payload))
        wire.send(p.Publish("size", payload, 1, packet_id=9))
        got = sorted((wire.receive(), wire.receive()), key=lambda x: isinstance(x, p.Publish))
        assert got[0] == p.Puback(9) and isinstance(got[1], p.Publish) and got[1].payload == payload


@pytest.mark.parametrize("publisher", [0, 1, 2])
@pytest.mark.parametrize("subscriber", [0, 1, 2])
def test_qos_is_the_lesser(port: int, publisher: int, subscriber: int) -> None:
    """[MQTT-3.8.4-6] [MQTT-3.3.4-1] [MQTT-4.3.1-1] [MQTT-4.3.2-2] [MQTT-4.3.3-2] [MQTT-2.3.1-5] [MQTT-2.3.1-6] The
    lesser QoS."""
    with subscribed(port, "lesser", qos=subscriber) as wire, connect(port) as other:
        publish(other, "lesser", b"x", publisher, 77)
        got = wire.publication()
        assert (got.qos, got.dup, got.retain) == (min(publisher, subscriber), False, False)
        assert bool(got.packet_id) == bool(got.qos)


def test_qos_1_there(port: int) -> None:
    """[MQTT-4.3.2-1] [MQTT-2.3.1-4] The broker sends QoS 1 with an unused packet id, DUP 0, and holds it until
    PUBACK."""
    with subscribed(port, "one", qos=1) as wire, connect(port) as other:
        for i in range(5):
            publish(other, "one", b"%d" % i, 1, 5)
        got = [wire.publication() for _ in range(5)]
        assert len({g.packet_id for g in got}) == 5 and not any(g.dup for g in got)
        wire.send(p.Puback(got[2].packet_id))
        publish(other, "one", b"5", 1, 5)
        assert wire.publication().packet_id not in {g.packet_id for g in got} - {got[2].packet_id}


def test_qos_2_there(port: int) -> None:
    """[MQTT-4.3.3-1] PUBREL follows PUBREC with the same id; the id is free after PUBCOMP only."""
    with subscribed(port, "two", qos=2) as wire, connect(port) as other:
        publish(other, "two", b"x", 2)
        got = wire.publication()
        for _ in range(2):  # a PUBREC that is sent again is answered again
            wire.send(p.Pubrec(got.packet_id))
            wire.expect(p.Pubrel(got.packet_id))
        publish(other, "two", b"y", 2)
        assert wire.publication().packet_id != got.packet_id
        wire.send(p.Pubcomp(got.packet_id))
        wire.quiet()


def test_qos_2_is_exactly_once(port: int) -> None:
    """[MQTT-4.3.3-2] [MQTT-3.3.1-3] A QoS 2 message sent again before PUBREL is answered, not delivered again."""
    with subscribed(port, "once", qos=2) as listener, connect(port) as wire:
        for dup in (False, True, True):
            wire.send(p.Publish("once", b"x", 2, dup=dup, packet_id=3))
            wire.expect(p.Pubrec(3))
        assert not listener.publication().dup
        listener.quiet()
        for _ in range(2):
            wire.send(p.Pubrel(3))
            wire.expect(p.Pubcomp(3))
        publish(wire, "once", b"new", 2, 3)
        assert listener.publication().payload == b"new"


def test_qos_2_across_connections(port: int) -> None:
    """[MQTT-4.3.3-2] [MQTT-3.1.2-4] The packet ids of an unfinished QoS 2 message belong to the session."""
    with subscribed(port, "across", qos=2) as listener:
        with connect(port, "sender", clean=False) as wire:
            wire.send(p.Publish("across", b"x", 2, packet_id=9))
            wire.expect(p.Pubrec(9))
        with connect(port, "sender", clean=False, present=True) as wire:
            wire.send(p.Publish("across", b"x", 2, dup=True, packet_id=9))
            wire.expect(p.Pubrec(9))
            wire.send(p.Pubrel(9))
            wire.expect(p.Pubcomp(9))
        listener.publication()
        listener.quiet()


def test_dup_is_not_passed_on(port: int) -> None:
    """[MQTT-3.3.1-3] DUP of the incoming packet says nothing about the outgoing one."""
    with subscribed(port, "dup", qos=1) as listener, connect(port) as wire:
        wire.send(p.Publish("dup", b"x", 1, dup=True, packet_id=1))
        wire.expect(p.Puback(1))
        assert not listener.publication().dup


def test_redelivery(port: int) -> None:
    """[MQTT-4.4.0-1] [MQTT-3.3.1-1] [MQTT-2.3.1-2] [MQTT-2.3.1-3] [MQTT-4.6.0-1] [MQTT-4.6.0-4] After a reconnection
    what was not
    acknowledged comes again: same id, DUP set, in order; PUBREL where PUBREC had come."""
    wire = subscribed(port, "again/#", qos=2, client_id="again", clean=False)
    with connect(port) as other:
        for i, qos in enumerate((2, 1, 2, 1)):
            publish(other, f"again/{i}", b"%d" % i, qos)
    got = [wire.publication() for _ in range(4)]
    wire.send(p.Pubrec(got[0].packet_id))
    wire.expect(p.Pubrel(got[0].packet_id))
    wire.close()
    with connect(port, "again", clean=False, present=True) as wire:
        wire.expect(p.Pubrel(got[0].packet_id))
        for old in got[1:]:
            assert wire.publication() == p.Publish(old.topic, old.payload, old.qos, False, True, old.packet_id)
        wire.send(p.Pubcomp(got[0].packet_id), p.Puback(got[1].packet_id), p.Pubrec(got[2].packet_id))
        wire.expect(p.Pubrel(got[2].packet_id))
        wire.send(p.Pubcomp(got[2].packet_id))
    with connect(port, "again", clean=False, present=True) as wire:
        assert wire.publication().packet_id == got[3].packet_id
        wire.quiet()


def test_order(port: int) -> None:
    """[MQTT-4.6.0-2] [MQTT-4.6.0-3] [MQTT-4.6.0-5] [MQTT-4.6.0-6] Messages of one publisher stay in order at each
    QoS; so do answers."""
    for qos in (0, 1, 2):
        with subscribed(port, "order", qos=2) as listener, connect(port) as wire:
            wire.send(*(p.Publish("order", b"%d" % i, qos, packet_id=i + 1 if qos else 0) for i in range(200)))
            for i in range(200 if qos else 0):
                wire.expect(p.Puback(i + 1) if qos == 1 else p.Pubrec(i + 1))
            if qos == 2:
                wire.send(*(p.Pubrel(i + 1) for i in range(200)))
                for i in range(200):
                    wire.expect(p.Pubcomp(i + 1))
            assert [listener.publication().payload for _ in range(200)] == [b"%d" % i for i in range(200)]


def test_unknown_acknowledgements(port: int) -> None:
    """[MQTT-4.3.3-2] Answers to what was never sent do no harm; PUBREL is always completed."""
    with connect(port) as wire:
        wire.send(p.Puback(5), p.Pubcomp(6), p.Pubrel(7), p.Pubrec(8))
        wire.expect(p.Pubcomp(7), p.Pubrel(8))
        wire.quiet()


# ---------------------------------------------------------------------- RETAIN
def test_retained(port: int) -> None:
    """[MQTT-3.3.1-5] [MQTT-3.3.1-6] [MQTT-3.3.1-8] [MQTT-3.3.1-9] [MQTT-3.3.1-12] The last retained message, to new
    subscribers with
    RETAIN 1, to old ones with RETAIN 0."""
    with subscribed(port, "ret/a", qos=1) as old, connect(port) as wire:
        publish(wire, "ret/a", b"1", 1, retain=True)
        publish(wire, "ret/a", b"2", 1, retain=True)
        publish(wire, "ret/a", b"3", 1)
        assert [(g.payload, g.retain) for g in (old.publication() for _ in range(3))] == [
            (b"1", False), (b"2", False), (b"3", False),
        ]  # fmt: skip
    with subscribed(port, "ret/+", qos=2) as new:
        got = new.publication()
        assert (got.payload, got.retain, got.qos, got.dup) == (b"2", True, 1, False)
        new.quiet()


def test_retained_at_qos_0_replaces(port: int) -> None:
    """[MQTT-3.3.1-7] A QoS 0 retained message takes the place of the former one."""
    with connect(port) as wire:
        publish(wire, "ret/b", b"1", 2, retain=True)
        publish(wire, "ret/b", b"2", 0, retain=True)
        wire.quiet()
    with subscribed(port, "ret/b", qos=2) as new:
        new.expect(p.Publish("ret/b", b"2", retain=True))


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_empty_retained_message(port: int, qos: int) -> None:
    """[MQTT-3.3.1-10] [MQTT-3.3.1-11] An empty retained message clears the topic, and is passed on like any other."""
    with subscribed(port, "ret/c", qos=0) as old, connect(port) as wire:
        publish(wire, "ret/c", b"1", qos, retain=True)
        publish(wire, "ret/c", b"", qos, retain=True)
        old.expect(p.Publish("ret/c", b"1"), p.Publish("ret/c"))
        with subscribed(port, "ret/c") as new:
            new.quiet()


# ---------------------------------------------------------------------- SUBSCRIBE
def test_subscribe_is_answered(port: int) -> None:
    """[MQTT-3.8.4-1] [MQTT-3.8.4-2] [MQTT-3.8.4-4] [MQTT-3.8.4-5] [MQTT-3.9.3-1] [MQTT-3.9.3-2] [MQTT-2.3.1-7] One
    code for each
    filter, in order; a refused one is 0x80."""
    with connect(port) as wire:
        wire.send(p.Subscribe(99, (("s/a", 2), ("test/nosubscribe", 1), ("s/b", 0), ("s/+/#", 1))))
        wire.expect(p.Suback(99, (2, 0x80, 0, 1)))
        wire.send(p.Publish("test/nosubscribe"), p.Publish("s/b"))
        wire.expect(p.Publish("s/b"))


@pytest.mark.parametrize("pattern", [b"", b"a#", b"#/a", b"a/#/b", b"a+", b"+a/b", b"\xff", b"a\0"])
@pytest.mark.parametrize("kind", [0x82, 0xA2])
def test_bad_filters(port: int, pattern: bytes, kind: int) -> None:
    """[MQTT-3.8.3-1] [MQTT-3.10.3-1] [MQTT-4.7.1-2] [MQTT-4.7.1-3] [MQTT-4.7.3-1] [MQTT-4.7.3-2] [MQTT-3.8.3-2] Bad
    topic filters."""
    with connect(port) as wire:
        wire.send(p.frame(kind, b"\0\1" + len(pattern).to_bytes(2, "big") + pattern + (b"\0" if kind == 0x82 else b"")))
        wire.closed()


def test_empty_subscribe(port: int) -> None:
    """[MQTT-3.8.3-3] [MQTT-3.10.3-2] At least one filter."""
    for packet in (b"\x82\x02\0\1", b"\xa2\x02\0\1"):
        with connect(port) as wire:
            wire.send(packet)
            wire.closed()


@pytest.mark.parametrize("code", [4, 0x80, 0xFF])
def test_reserved_bits_of_the_requested_qos(port: int, code: int) -> None:
    """[MQTT-3-8.3-4] The upper six bits of a requested QoS are 0."""
    with connect(port) as wire:
        wire.send(b"\x82\x06\0\1\0\1a" + bytes((code,)))
        wire.closed()


def test_subscribing_again(port: int) -> None:
    """[MQTT-3.8.4-3] The same filter again replaces the subscription, and retained messages come again."""
    with connect(port) as other:
        publish(other, "again", b"r", 1, retain=True)
        with subscribed(port, "again", qos=0) as wire:
            wire.expect(p.Publish("again", b"r", retain=True))
            wire.send(p.Subscribe(2, (("again", 1),)))
            wire.expect(p.Suback(2, (1,)))
            got = wire.publication()
            assert (got.retain, got.qos) == (True, 1)
            publish(other, "again", b"x", 1)
            assert wire.publication().qos == 1
            wire.quiet()


def test_overlapping_subscriptions(port: int) -> None:
    """[MQTT-3.3.5-1] [MQTT-3.3.2-3] Overlapping filters: one copy, at the greatest granted QoS, with the topic as
    published."""
    with connect(port) as wire, connect(port) as other:
        wire.send(p.Subscribe(1, (("over/#", 0), ("over/lap", 1), ("over/+", 2))))
        wire.expect(p.Suback(1, (0, 1, 2)))
        publish(other, "over/lap", b"x", 2)
        got = wire.publication()
        assert (got.topic, got.qos) == ("over/lap", 2)
        wire.quiet()


def test_unsubscribe(port: int) -> None:
    """[MQTT-3.10.4-1] [MQTT-3.10.4-2] [MQTT-3.10.4-4] [MQTT-3.10.4-5] [MQTT-3.10.4-6] Filters are compared as text;
    UNSUBACK comes in
    any case."""
    with subscribed(port, "u/+", "u/a", "u/b", "u/c") as wire:
        wire.send(
            p.Unsubscribe(8, ("u/#", "u/+", "u/b", "U/c", "u/b")), p.Publish("u/a"), p.Publish("u/b"), p.Publish("u/c")
        )
        wire.expect(p.Unsuback(8), p.Publish("u/a"), p.Publish("u/c"))
        wire.quiet()


def test_unsubscribe_finishes_what_has_begun(port: int) -> None:
    """[MQTT-3.10.4-3] A QoS 2 message on the way is completed after UNSUBSCRIBE."""
    with subscribed(port, "u/2", qos=2) as wire, connect(port) as other:
        publish(other, "u/2", b"x", 2)
        got = wire.publication()
        wire.send(p.Unsubscribe(8, ("u/2",)), p.Pubrec(got.packet_id))
        wire.expect(p.Unsuback(8), p.Pubrel(got.packet_id))


# ---------------------------------------------------------------------- topics
@pytest.mark.parametrize("pattern", ["#", "+/dollar", "+/#"])
def test_dollar_topics(port: int, pattern: str) -> None:
    """[MQTT-4.7.2-1] A filter that begins with a wildcard does not match a topic that begins with $."""
    with subscribed(port, pattern) as wire:
        wire.send(p.Publish("$other/dollar"), p.Publish("x/dollar"))
        got = wire.publication()
        while got.retain:  # what other tests have left retained
            got = wire.publication()
        assert got.topic == "x/dollar"
        wire.quiet()


def test_dollar_topics_by_name(port: int) -> None:
    """[MQTT-4.7.2-1] By its first level a $ topic can be subscribed to."""
    with subscribed(port, "$other/#") as wire:
        wire.send(p.Publish("$other/a"))
        wire.expect(p.Publish("$other/a"))


def test_topics_are_not_normalised(port: int) -> None:
    """[MQTT-4.7.3-4] Composed and decomposed letters, upper and lower case, empty levels: all differ."""
    with subscribed(port, "n/\u00e9", "n//x", "N/x") as wire:
        wire.send(*(p.Publish(t) for t in ("n/e\u0301", "n/x", "n/\u00e9", "n//x", "N/x")))
        wire.expect(p.Publish("n/\u00e9"), p.Publish("n//x"), p.Publish("N/x"))


def test_statistics_topics_belong_to_the_broker(port: int) -> None:
    """[MQTT-3.3.5-2] [MQTT-4.8.0-2] A publication that is not permitted is acknowledged and goes nowhere."""
    with subscribed(port, "$SYS/broker/forged") as listener, connect(port) as wire:
        publish(wire, "$SYS/broker/forged", b"x", 1)
        publish(wire, "$SYS/broker/forged", b"x", 2)
        publish(wire, "$SYS/broker/forged", b"x", 0)
        wire.quiet()
        listener.quiet()

"""What MQTT 3.1.1 demands of a broker: CONNECT, sessions, wills, keep-alive. One test for each group of statements.

The statements in brackets at the head of each docstring are gathered into the book's conformance table.
"""

from __future__ import annotations

import time

import pytest

from voicewire.mqtt import packets as p
from voicewire.mqtt.raw_socket_client import Wire, connect, subscribed

CONNECT = bytes.fromhex("100c00044d515454040200000000")


def refused(port: int, data: bytes) -> None:
    with Wire(port) as wire:
        wire.send(data)
        wire.closed()


def test_first_packet_is_connect(port: int) -> None:
    """[MQTT-3.1.0-1] [MQTT-4.8.0-1] Anything before CONNECT closes the connection."""
    for packet in (p.Pingreq(), p.Publish("a"), p.Subscribe(1, (("a", 0),)), p.Disconnect(), p.Connack()):
        refused(port, p.encode(packet))


def test_second_connect(port: int) -> None:
    """[MQTT-3.1.0-2] A second CONNECT is a protocol violation."""
    with connect(port, "twice") as wire:
        wire.send(p.Connect("twice"))
        wire.closed()


def test_protocol_name(port: int) -> None:
    """[MQTT-3.1.2-1] [MQTT-3.1.4-1] [MQTT-3.2.2-6] A wrong protocol name closes the connection without CONNACK."""
    for name in (b"MQTX", b"mqtt", b"HTTP"):
        refused(port, CONNECT.replace(b"MQTT", name))


@pytest.mark.parametrize("level", [0, 3, 5, 6, 0x84])
def test_protocol_level(port: int, level: int) -> None:
    """[MQTT-3.1.2-2] [MQTT-3.2.2-4] [MQTT-3.2.2-5] Another level is answered with CONNACK 1, and closed."""
    with Wire(port) as wire:
        wire.send(CONNECT[:8] + bytes((level,)) + CONNECT[9:])
        wire.expect(p.Connack(False, 1), None)


def test_connect_flags(port: int) -> None:
    """[MQTT-3.1.2-3] [MQTT-3.1.2-11] [MQTT-3.1.2-13] [MQTT-3.1.2-14] [MQTT-3.1.2-15] [MQTT-3.1.2-22] Wrong flags."""
    for flags in (0x03, 0x0A, 0x12, 0x1E, 0x22, 0x42):
        refused(port, CONNECT[:9] + bytes((flags,)) + CONNECT[10:])


def test_payload_follows_the_flags(port: int) -> None:
    """[MQTT-3.1.3-1] [MQTT-3.1.2-9] [MQTT-3.1.2-12] [MQTT-3.1.2-18] [MQTT-3.1.2-19] [MQTT-3.1.2-20] [MQTT-3.1.2-21]
    Fields are there exactly if their flags say so."""
    for flags, payload in ((0x06, "0000"), (0x82, "0000"), (0xC2, "0000 0001 61"), (0x02, "0000 0001 61"), (0x02, "")):
        body = b"\0\x04MQTT\x04" + bytes((flags, 0, 0)) + bytes.fromhex(payload)
        refused(port, p.frame(0x10, body))
    with connect(port, username="ann", password=b"\0\xff", will=p.Will("w")) as wire:
        wire.quiet()


def test_strings_of_connect(port: int) -> None:
    """[MQTT-1.5.3-1] [MQTT-1.5.3-2] [MQTT-3.1.3-4] [MQTT-3.1.3-10] [MQTT-3.1.3-11] Ill-formed UTF-8 and U+0000."""
    head = b"\0\x04MQTT\x04"
    for bad in (b"\xff", b"\xed\xa0\x80", b"\0", b"\xc0\x80", b"\xf5\x80\x80\x80"):
        field = len(bad).to_bytes(2, "big") + bad
        refused(port, p.frame(0x10, head + b"\x02\0\0" + field))
        refused(port, p.frame(0x10, head + b"\x06\0\0\0\0" + field + b"\0\0"))
        refused(port, p.frame(0x10, head + b"\x82\0\0\0\0" + field))


def test_byte_order_mark_is_kept(port: int) -> None:
    """[MQTT-1.5.3-3] U+FEFF is a character like any other."""
    with subscribed(port, "\ufeffbom") as wire:
        wire.send(p.Publish("bom", b"no"), p.Publish("\ufeffbom", b"yes"))
        wire.expect(p.Publish("\ufeffbom", b"yes"))


def test_client_ids(port: int) -> None:
    """[MQTT-3.1.3-2] [MQTT-3.1.3-3] [MQTT-3.1.3-5] Ids of 1 to 23 letters and digits, and others too."""
    for name in ("a", "0123456789abcdefghijklM", "x" * 500, "with space/ü#+"):
        connect(port, name).close()


def test_empty_client_id(port: int) -> None:
    """[MQTT-3.1.3-6] [MQTT-3.1.3-7] With a clean session the broker gives a unique id to each."""
    with connect(port) as one, connect(port) as two:
        one.quiet()
        two.quiet()


def test_empty_client_id_without_clean_session(port: int) -> None:
    """[MQTT-3.1.3-8] [MQTT-3.1.3-9] [MQTT-3.2.2-4] [MQTT-3.2.2-5] CONNACK 2, and closed."""
    with Wire(port) as wire:
        wire.send(p.Connect("", clean=False))
        wire.expect(p.Connack(False, 2), None)


def test_nothing_is_processed_after_a_refusal(port: int) -> None:
    """[MQTT-3.1.4-5] Packets behind a refused CONNECT are ignored."""
    with subscribed(port, "refused") as listener:
        with Wire(port) as wire:
            wire.send(p.Connect("", clean=False), p.Publish("refused", b"x"))
            wire.expect(p.Connack(False, 2), None)
        listener.quiet()


def test_packets_right_behind_connect(port: int) -> None:
    """[MQTT-3.1.4-4] [MQTT-3.2.0-1] A client need not wait; CONNACK is the first answer all the same."""
    with Wire(port) as wire:
        wire.send(p.Connect("hasty"), p.Subscribe(7, (("hasty", 0),)), p.Publish("hasty", b"x"), p.Pingreq())
        wire.expect(p.Connack(), p.Suback(7, (0,)), p.Publish("hasty", b"x"), p.Pingresp())


def test_take_over(port: int) -> None:
    """[MQTT-3.1.4-2] A second client with the same id takes the first one's place, whose will is published."""
    with subscribed(port, "taken") as listener:
        first = connect(port, "same", will=p.Will("taken", b"over"))
        with connect(port, "same") as second:
            first.closed()
            listener.expect(p.Publish("taken", b"over"))
            second.quiet()


def test_session_is_resumed(port: int) -> None:
    """[MQTT-3.1.2-4] [MQTT-3.1.4-3] [MQTT-3.2.2-2] [MQTT-3.2.2-3] [MQTT-4.1.0-1] Subscriptions survive; the flag
    says so."""
    subscribed(port, "kept", qos=1, client_id="keeper", clean=False).close()
    with connect(port, "keeper", clean=False, present=True) as wire:
        wire.send(p.Publish("kept", b"x"))
        wire.expect(p.Publish("kept", b"x"))


@pytest.mark.parametrize("qos", [1, 2])
def test_messages_for_an_absent_client(port: int, qos: int) -> None:
    """[MQTT-3.1.2-5] [MQTT-4.5.0-1] QoS 1 and 2 messages wait for a client with a session; QoS 0 need not."""
    name = f"absent{qos}"
    subscribed(port, name, qos=2, client_id=name, clean=False).close()
    with connect(port) as wire:
        for i in range(3):
            wire.send(p.Publish(name, b"%d" % i, qos, packet_id=i + 1))
            assert wire.receive() in (p.Puback(i + 1), p.Pubrec(i + 1))
    with connect(port, name, clean=False, present=True) as wire:
        got = [wire.publication() for _ in range(3)]
        assert [(g.payload, g.qos, g.dup) for g in got] == [(b"%d" % i, qos, False) for i in range(3)]
        assert len({g.packet_id for g in got}) == 3


def test_clean_session_discards(port: int) -> None:
    """[MQTT-3.1.2-6] [MQTT-3.2.2-1] [MQTT-4.1.0-2] CleanSession 1 forgets the old session and leaves none behind."""
    subscribed(port, "forgotten", qos=1, client_id="forgetful", clean=False).close()
    with connect(port, "forgetful", clean=True) as wire:
        wire.send(p.Publish("forgotten", b"x"))
        wire.quiet()
    connect(port, "forgetful", clean=False, present=False).close()


def test_retained_messages_outlive_sessions(port: int) -> None:
    """[MQTT-3.1.2-7] Retained messages are no part of a session."""
    with connect(port, "retainer") as wire:
        wire.send(p.Publish("r/session", b"x", retain=True))
        wire.quiet()
    connect(port, "retainer").close()
    with subscribed(port, "r/session") as wire:
        wire.expect(p.Publish("r/session", b"x", retain=True))


@pytest.mark.parametrize(("qos", "retain"), [(0, False), (1, False), (2, True)])
def test_will(port: int, qos: int, retain: bool) -> None:
    """[MQTT-3.1.2-8] [MQTT-3.1.2-16] [MQTT-3.1.2-17] A lost client's will is published, at its QoS, retained or not."""
    topic = f"will/{qos}"
    with subscribed(port, topic, qos=2) as listener:
        wire = connect(port, will=p.Will(topic, b"gone", qos, retain))
        wire.close()
        got = listener.publication()
        assert (got.payload, got.qos, got.retain) == (b"gone", qos, False)
    with subscribed(port, topic) as late:
        if retain:
            late.expect(p.Publish(topic, b"gone", retain=True))
        late.quiet()


def test_will_after_a_protocol_error(port: int) -> None:
    """[MQTT-3.1.2-8] A connection that the broker closes for an error leaves its will, too."""
    with subscribed(port, "will/error") as listener:
        with connect(port, will=p.Will("will/error", b"x")) as wire:
            wire.send(b"\x00\x00")
            wire.closed()
        listener.expect(p.Publish("will/error", b"x"))


def test_no_will_after_disconnect(port: int) -> None:
    """[MQTT-3.1.2-10] [MQTT-3.14.4-3] DISCONNECT takes the will back, and it is published once at most."""
    with subscribed(port, "will/none") as listener:
        with connect(port, "w", clean=False, will=p.Will("will/none", b"x")) as wire:
            wire.send(p.Disconnect())
            wire.closed()
        listener.quiet()
        connect(port, "w", clean=False, present=True).close()
        time.sleep(0.05)
        listener.quiet()


def test_keep_alive(port: int) -> None:
    """[MQTT-3.1.2-24] Silence of one and a half times the keep-alive time ends the connection, as if lost."""
    with subscribed(port, "will/late") as listener, connect(port, keep_alive=1, will=p.Will("will/late")) as wire:
        began = time.monotonic()
        wire.closed()
        assert time.monotonic() - began >= 1.4
        listener.expect(p.Publish("will/late"))


def test_keep_alive_is_fed_by_any_packet(port: int) -> None:
    """[MQTT-3.1.2-24] Any packet counts, half a packet too; zero switches the rule off."""
    with connect(port, keep_alive=1) as wire, connect(port, keep_alive=0) as silent:
        for _ in range(3):
            time.sleep(0.8)
            wire.send(p.Publish("alive"))
        wire.quiet()
        silent.quiet()


def test_disconnect(port: int) -> None:
    """[MQTT-3.14.1-1] The broker closes after DISCONNECT; one with flags set is an error like others."""
    with connect(port) as wire:
        wire.send(p.Disconnect(), p.Pingreq())
        wire.closed()
    with connect(port) as wire:
        wire.send(b"\xe1\x00")
        wire.closed()


def test_ping(port: int) -> None:
    """[MQTT-3.12.4-1] PINGREQ is answered."""
    with connect(port) as wire:
        wire.send(p.Pingreq(), p.Pingreq())
        wire.expect(p.Pingresp(), p.Pingresp())


def test_reserved_types_and_flags(port: int) -> None:
    """[MQTT-2.2.2-1] [MQTT-2.2.2-2] [MQTT-3.6.1-1] [MQTT-3.8.1-1] [MQTT-3.10.1-1] Reserved types and flags close."""
    packets = ["0000", "f000", "c100", "41020001", "51020001", "60020001", "63020001", "71020001"]
    packets += ["8006000100016100", "8306000100016100", "a0050001000161", "a3050001000161"]
    for packet in packets:
        with connect(port) as wire:
            wire.send(bytes.fromhex(packet))
            wire.closed()


def test_what_only_a_broker_sends(port: int) -> None:
    """[MQTT-4.8.0-1] CONNACK, SUBACK, UNSUBACK and PINGRESP from a client are violations."""
    for packet in (p.Connack(), p.Suback(1, (0,)), p.Unsuback(1), p.Pingresp()):
        with connect(port) as wire:
            wire.send(packet)
            wire.closed()


def test_remaining_length_of_five_bytes(port: int) -> None:
    """[MQTT-4.8.0-1] A fifth byte of Remaining Length is malformed (section 2.2.3)."""
    with connect(port) as wire:
        wire.send(b"\x30\xff\xff\xff\xff\x01")
        wire.closed()


def test_packet_in_pieces(port: int) -> None:
    """Bytes may come one by one."""
    with Wire(port) as wire:
        for byte in p.encode(p.Connect("slow")) + p.encode(p.Publish("s" * 200)) + p.encode(p.Pingreq()):
            wire.send(bytes((byte,)))
        wire.expect(p.Connack(), p.Pingresp())

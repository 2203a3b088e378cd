"""The codec: every packet there and back, in any chunks, and nothing that the standard forbids."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.mqtt import packets as p
from voicewire.mqtt.decoder import Decoder, decode
from voicewire.mqtt.errors import MalformedError, MQTTError
from voicewire.mqtt.sessions.hold import Missing, Report, Status

text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
names = st.text(st.characters(codec="utf-8", exclude_characters="\0+#"), min_size=1, max_size=20)
filters = st.lists(st.sampled_from(["a", "b c", "ü", "+", ""]), min_size=1, max_size=5).map("/".join).filter(bool)
ids = st.integers(1, 65535)
blobs = st.binary(max_size=200)
wills = st.builds(p.Will, names, blobs, st.integers(0, 2), st.booleans())


@st.composite
def connects(draw: st.DrawFn) -> p.Connect:
    user = draw(st.none() | text)
    password = draw(st.none() | blobs) if user is not None else None
    return p.Connect(
        draw(text), draw(st.booleans()), draw(st.integers(0, 65535)), draw(st.none() | wills), user, password
    )


@st.composite
def publishes(draw: st.DrawFn) -> p.Publish:
    qos = draw(st.integers(0, 3))
    extra: dict[str, object] = {}
    if qos == 3:
        who = tuple(draw(st.lists(st.text("abcü", min_size=1, max_size=60), max_size=5)))
        report = draw(st.booleans())
        extra = {
            "waited": draw(st.integers(0, len(who) if who else p.WAIT_FOR_ALL)),
            "subscribers": who,
            "report": report,
            "limit": draw(st.integers(0, 65535)) if report else 0,
        }
    return p.Publish(
        draw(names), draw(blobs), qos, draw(st.booleans()), bool(qos) and draw(st.booleans()), draw(ids) if qos else 0,
        **extra,  # type: ignore[arg-type]
    )  # fmt: skip


packets = st.one_of(
    connects(),
    publishes(),
    st.builds(p.Connack, st.booleans(), st.just(0)) | st.builds(p.Connack, st.just(False), st.integers(1, 5)),
    st.builds(p.Puback, ids),
    st.builds(p.Pubrec, ids, st.just(3), blobs) | st.builds(p.Pubrec, ids),
    st.builds(p.Pubrel, ids, st.integers(2, 3)),
    st.builds(p.Pubcomp, ids, st.integers(2, 3)),
    st.builds(p.Subscribe, ids, st.lists(st.tuples(filters, st.integers(0, 3)), min_size=1, max_size=5).map(tuple)),
    st.builds(p.Suback, ids, st.lists(st.sampled_from([0, 1, 2, 3, 0x80]), min_size=1, max_size=5).map(tuple)),
    st.builds(p.Unsubscribe, ids, st.lists(filters, min_size=1, max_size=5).map(tuple)),
    st.builds(p.Unsuback, ids),
    st.sampled_from([p.Pingreq(), p.Pingresp(), p.Disconnect()]),
)


@given(st.lists(packets, max_size=6), st.data())
@settings(max_examples=100, deadline=None)
def test_any_packets_in_any_chunks(sent: list[p.Packet], data: st.DataObject) -> None:
    stream = b"".join(map(p.encode, sent))
    decoder, got, start = Decoder(), [], 0
    while start < len(stream):
        size = data.draw(st.integers(1, len(stream) - start))
        got += decoder.feed(stream[start : start + size])
        start += size
    assert got == sent


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_noise_is_refused_or_decoded_but_never_crashes(noise: bytes) -> None:
    try:
        for packet in Decoder().feed(noise):
            assert Decoder().feed(p.encode(packet)) == [packet]
    except MQTTError:
        pass


@pytest.mark.parametrize(
    ("length", "encoded"),
    [(0, "00"), (127, "7f"), (128, "8001"), (16383, "ff7f"), (16384, "808001"), (2097151, "ffff7f"),
     (2097152, "80808001"), (268435455, "ffffff7f")],
)  # fmt: skip
def test_remaining_length_of_table_2_4(length: int, encoded: str) -> None:
    assert p.encode_length(length).hex() == encoded


@pytest.mark.parametrize("length", [-1, 268435456])
def test_remaining_length_out_of_range(length: int) -> None:
    with pytest.raises(MalformedError, match="remaining length"):
        p.encode_length(length)


@pytest.mark.parametrize(
    ("first", "body", "why"),
    [
        (0x00, "", "reserved"), (0xF0, "", "reserved"),
        (0x30, "0000", "empty topic"), (0x30, "00012b", "wildcard"), (0x30, "000100", "null"),
        (0x30, "0001ff", "UTF-8"),
        (0x30, "0003eda080", "UTF-8"), (0x38, "000161", "DUP"), (0x32, "0001610000", "packet id 0"),
        (0x32, "00026161", "inside a field"), (0x30, "0005", "inside a field"), (0x30, "", "inside a field"),
        (0x41, "0001", "flags"), (0x40, "000101", "too many"), (0x40, "0000", "packet id 0"), (0x40, "01", "inside"),
        (0x60, "0001", "flags"), (0x64, "0001", "flags"), (0x54, "0001", "flags"), (0x50, "000100", "too many"),
        (0x80, "000100016100", "flags"), (0x82, "000100016104", "reserved bits"), (0x82, "0001", "without a topic"),
        (0x82, "000100012b2b", "reserved bits"), (0x82, "000100022b6100", "beside"), (0x82, "000100", "inside"),
        (0x82, "00010002236100", "inside topic"), (0x82, "0001000000", "empty topic filter"),
        (0x82, "0001000161", "inside"),
        (0xA0, "0001000161", "flags"), (0xA2, "0001", "without a topic"), (0xC0, "00", "too many"), (0xC1, "", "flags"),
        (0xE1, "", "flags"), (0xE0, "00", "too many"), (0x20, "0200", "CONNACK"), (0x20, "0101", "CONNACK"),
        (0x90, "000104", "SUBACK"), (0x90, "0001", "SUBACK"),
        (0x10, "00044d51545404 03 0000 0000", "connect flag"), (0x10, "00044d51545404 0a 0000 0000", "will QoS"),
        (0x10, "00044d51545404 22 0000 0000", "will retain"), (0x10, "00044d51545404 1e 0000 0000", "will QoS 3"),
        (0x10, "00044d51545404 42 0000 0000", "without a user"), (0x10, "00044d51545404 02 0000 0000 00", "too many"),
        (0x10, "00044d51545404 82 0000 0000", "inside"), (0x10, "00044d51545404 02 0000 0001 00", "null"),
        (0x36, "000161 0001 8002 0161", "named"), (0x36, "000161 0001 8001 00", "empty subscriber"),
        (0x36, "000161 0001 8001", "inside"), (0x36, "000161 0001", "inside"),
    ],
)  # fmt: skip
def test_what_the_standard_forbids(first: int, body: str, why: str) -> None:
    with pytest.raises(MalformedError, match=why):
        Decoder().feed(p.frame(first, bytes.fromhex(body)))


def test_a_fifth_length_byte() -> None:
    with pytest.raises(MalformedError, match="more than four bytes"):
        Decoder().feed(b"\x30\xff\xff\xff\xff\x01")


@pytest.mark.parametrize(
    "packet",
    [
        p.Publish("a", qos=4, packet_id=1), p.Publish("a", qos=1), p.Publish("a/#"), p.Publish(""), p.Publish("a\0"),
        p.Publish("a", dup=True), p.Publish("x" * 65536),
        p.Publish("a", qos=3, packet_id=1, waited=2, subscribers=("x",)),
        p.Publish("a", qos=3, packet_id=1, waited=99999),
        p.Publish("a", qos=3, packet_id=1, waited=1, subscribers=("",)),
        p.Publish("a", qos=3, packet_id=1, waited=1, subscribers=("x" * 128,)), p.Puback(0), p.Puback(65536),
        p.Subscribe(1, ()), p.Subscribe(1, (("a", 4),)), p.Subscribe(1, (("a#", 1),)), p.Unsubscribe(1, ()),
        p.Connect("a", password=b"x"), p.Connect("a", keep_alive=65536), p.Connect("a\0"), p.Connect("x" * 65536),
        p.Connect("a", will=p.Will("a", qos=3)), p.Pubrec(1, 2, b"data"),
    ],
)  # fmt: skip
def test_what_is_not_encoded(packet: p.Packet) -> None:
    with pytest.raises(MalformedError):
        p.encode(packet)


def test_a_packet_above_the_limit_is_refused_before_it_has_come() -> None:
    with pytest.raises(MalformedError, match="at most 10"):
        Decoder(max_packet=10).feed(b"\x30\x0b")


def test_another_protocol_level_is_told_apart() -> None:
    assert decode(0x10, bytes.fromhex("00044d515454 05 02 003c 00 0000")) == p.Connect(level=5)
    assert decode(0x10, bytes.fromhex("00064d5149736470 03 02 003c 0000")) == p.Connect(protocol="MQIsdp", level=3)


@pytest.mark.parametrize(("n", "size"), [(0, 14), (1, 16), (2, 18), (3, 20), (5, 24), (80, 174)])
def test_the_layout_has_the_size_that_table_3_counts(n: int, size: int) -> None:
    """The paper counts 1 + Remaining Length; its ids have one character, its payload six bytes, its topic one."""
    who = tuple(chr(ord("0") + i % 10) for i in range(n))
    data = p.encode(p.Publish("T", b"123456", 3, packet_id=1, waited=n, subscribers=who))
    body = len(data) - 1 - (1 if len(data) < 130 else 2)
    assert 1 + body == size


@given(
    st.sampled_from(Status),
    st.dictionaries(text, st.tuples(st.integers(0, 2**32 - 1), blobs), max_size=5),
    st.dictionaries(text, st.sampled_from(Missing), max_size=5),
)
def test_reports_there_and_back(
    status: Status, acknowledged: dict[str, tuple[int, bytes]], missing: dict[str, Missing]
) -> None:
    report = Report(status, acknowledged, missing)
    assert Report.decode(report.encode()) == report


@pytest.mark.parametrize("data", [b"\x09", b"\0", b"\0\0\1", b"\0\0\0\0\0\0", b"\0\0\1\0\1\xff\0\0\0\0\0\0\0\0\0\0"])
def test_what_is_not_a_report(data: bytes) -> None:
    with pytest.raises(MalformedError):
        Report.decode(data)


@pytest.mark.parametrize(
    ("waited", "who", "report", "limit", "layout"),
    [
        (0, (), False, 0, "0000"),
        (2, (), False, 9, "0002"),  # without a report there is no limit
        (16382, (), False, 0, "3ffe"),
        (p.WAIT_FOR_ALL, (), False, 0, "3fff"),
        (2, ("a", "bc"), False, 0, "8002 81 61 02 6263"),
        (1, ("a", "bc"), False, 0, "8001 81 61 02 6263"),
        (p.WAIT_FOR_ALL, ("a",), False, 0, "bfff 01 61"),
        (4, (), True, 258, "4004 0102"),
        (4, (), True, -1, "4004 0000"),
        (4, (), True, 65536, "4004 ffff"),
        (1, ("ü",), True, 0, "c001 0000 02 c3bc"),
    ],
)
def test_the_layout_of_the_wait_byte_by_byte(
    waited: int, who: tuple[str, ...], report: bool, limit: int, layout: str
) -> None:
    assert p.encode_wait(waited, who, report, limit) == bytes.fromhex(layout)


@pytest.mark.parametrize("length", [1, 126, 127])
def test_the_longest_id_that_may_be_named(length: int) -> None:
    packet = p.Publish("a", b"x", 3, packet_id=1, waited=2, subscribers=("x" * length, "y" * length))
    assert Decoder().feed(p.encode(packet)) == [packet]


def test_no_more_may_be_named_than_the_reader_takes() -> None:
    packet = p.Publish("a", b"x", 3, packet_id=1, waited=1, subscribers=("x", "y", "z"))
    first, _, *body = p.encode(packet)
    assert decode(first, bytes(body), 3) == packet
    with pytest.raises(MalformedError, match="names more than 2 subscribers"):
        decode(first, bytes(body), 2)

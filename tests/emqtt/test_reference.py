"""The reading versions of packets and hold do what broker and client do: over generated packets, streams and events."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.emqtt import reference as r
from voicewire.mqtt import packets as p
from voicewire.mqtt.decoder import Decoder, read_length
from voicewire.mqtt.errors import MalformedError
from voicewire.mqtt.sessions.hold import Hold, Missing

TOPICS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="#+\0"), min_size=1, max_size=20)


@st.composite
def publishes(draw: st.DrawFn) -> p.Publish:
    qos = draw(st.integers(0, 2))
    return p.Publish(
        draw(TOPICS), draw(st.binary(max_size=300)), qos, draw(st.booleans()), bool(qos and draw(st.booleans())),
        draw(st.integers(1, 65535)) if qos else 0,
    )  # fmt: skip


ANSWERS = st.builds(
    lambda kind, packet_id: kind(packet_id), st.sampled_from([p.Puback, p.Pubrec, p.Pubrel, p.Pubcomp]),
    st.integers(1, 65535),
)  # fmt: skip


def plain(packet: Any) -> bytes:
    if isinstance(packet, p.Publish):
        return r.publish(packet.topic, packet.payload, packet.qos, packet.packet_id, packet.dup, packet.retain)
    return r.answer(type(packet).__name__.upper(), packet.packet_id)


@given(st.one_of(publishes(), ANSWERS))
def test_packets_are_written_alike(packet: Any) -> None:
    assert plain(packet) == p.encode(packet)


@given(st.lists(st.one_of(publishes(), ANSWERS), max_size=6), st.data())
def test_streams_are_cut_and_read_alike(packets: list[Any], data: st.DataObject) -> None:
    stream = b"".join(p.encode(packet) for packet in packets)
    stream = stream[: data.draw(st.integers(0, len(stream)))]
    decoder = Decoder()
    found, rest = r.cut(stream)
    assert decoder.feed(stream) == packets[: len(found)]
    assert bytes(decoder._rest) == rest
    for packet, (first, body) in zip(packets, found, strict=False):
        if isinstance(packet, p.Publish):
            fields = r.read_publish(first, body)
            assert all(getattr(packet, name) == value for name, value in fields.items())
        else:
            assert (first, body) == (p.encode(packet)[0], packet.packet_id.to_bytes(2, "big"))


@given(st.integers(0, p.MAX_REMAINING))
def test_lengths_are_written_alike(n: int) -> None:
    assert r.length_bytes(n) == p.encode_length(n)


@pytest.mark.parametrize(
    ("data", "length"),
    [
        ("00", 0), ("7f", 127), ("8001", 128), ("ff7f", 16383), ("808001", 16384), ("ffff7f", 2097151),
        ("80808001", 2097152), ("ffffff7f", 268435455),
    ],
)  # fmt: skip
def test_lengths_of_table_2_4(data: str, length: int) -> None:
    """The least and the greatest of each size; cut short, more must come; a fifth byte never does."""
    whole = bytes.fromhex(data)
    assert r.read_length(b"\x30" + whole + b"rest", 1) == (length, 1 + len(whole))
    assert all(r.read_length(b"\x30" + whole[:n], 1) is None for n in range(len(whole)))
    with pytest.raises(ValueError, match="more than four bytes"):
        r.read_length(b"\x30\x80\x80\x80\x80", 1)


@given(st.binary(min_size=1, max_size=6))
def test_lengths_are_read_alike(data: bytes) -> None:
    def tried(function: Any, *arguments: object) -> object:
        try:
            return function(*arguments)
        except (ValueError, MalformedError):
            return "refused"

    ours, theirs = tried(r.read_length, data, 1), tried(read_length, data, 0)
    if isinstance(ours, tuple):
        ours = (ours[1], ours[1] + ours[0])
    assert ours == theirs


NAMES = ["ann", "bob", "cat", "dog"]
EVENTS = st.tuples(st.sampled_from(["answer", "answer", "lost", "time"]), st.sampled_from([*NAMES, "eve"]))


@settings(max_examples=400)
@given(
    need=st.integers(-1, 5),
    reached=st.sets(st.sampled_from(NAMES)),
    silent=st.sets(st.sampled_from(NAMES)),
    named=st.sets(st.sampled_from(NAMES)),
    events=st.lists(EVENTS, max_size=8),
)
def test_holds_decide_alike(
    need: int, reached: set[str], silent: set[str], named: set[str], events: list[tuple[str, str]]
) -> None:
    """After each event: the same verdict, the same who count, and the publisher is told exactly once."""
    told: list[Hold] = []
    theirs = Hold(
        SimpleNamespace(), 1, 2, p.WAIT_FOR_ALL if need == r.ALL else need, named, False, "", told.append,  # type: ignore[arg-type]
    )  # fmt: skip
    for name in sorted(reached):
        theirs.expect(name)
    for name in sorted(silent - reached):
        theirs.cannot(name, Missing.QOS_0)
    theirs.begin()
    ours = r.hold(need, reached, named)
    for event, name in [("", ""), *events]:
        r.after(ours, event, name)
        if event == "answer":
            theirs.acknowledge(name)
        elif event == "lost":
            theirs.lose(name, Missing.SESSION_ENDED)
        elif event == "time":
            theirs.expire()
        verdict = "open" if theirs.status is None else theirs.status.name.lower()
        assert (ours.verdict, ours.need) == (verdict, theirs.need)
        assert (ours.waiting, ours.answered) == (theirs.waiting, set(theirs.acknowledged))
        assert len(told) == (verdict != "open")

"""The reading versions count what the package counts, and open what it opens: over all sessions, objects and times."""

from __future__ import annotations

import pytest
from cryptography.exceptions import InvalidTag
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.testbed.counters import TcpInfo
from voicewire.transport import overhead_formulas
from voicewire.transport import reference as r
from voicewire.transport.secure_objects.icto import Identity, Rule, open_object, seal
from voicewire.transport.secure_objects.icto_format import CIPHERS, IctoError, decode
from voicewire_book import paths
from voicewire_book.chapters.transport import captured_sessions

PEOPLE = [Identity.create(name) for name in ("ann", "bob", "cat")]
OWNER = Identity.create("owner")


@pytest.mark.parametrize("name", captured_sessions.NAMES)
def test_headers_of_the_recorded_exchanges(name: str) -> None:
    """Of the flags alone: what the capture holds, and what the kernel counted."""
    example = captured_sessions.load(paths.data("transport"), name)
    counted = r.header_bytes(s.flags for s in example.segments)
    assert counted == sum(s.header for s in example.segments) == example.counted_header


@given(st.lists(st.sampled_from(["S", "SA", "A", "PA", "FA", "R"])))
def test_headers_are_counted_alike(flags: list[str]) -> None:
    import inspect

    fields = dict.fromkeys(inspect.signature(TcpInfo).parameters, 0)
    fields |= {"segments_out": len(flags), "syns_out": sum("S" in flag for flag in flags), "timestamps": True}
    assert r.header_bytes(flags) == TcpInfo(**fields).header_bytes


@pytest.mark.parametrize("transport", ["tcp", "mqtt"])
@pytest.mark.parametrize("qos", [0, 1, 2])
@pytest.mark.parametrize("session", ["fresh", "persistent"])
def test_round_trips_are_counted_alike(transport: str, qos: int, session: str) -> None:
    steps = r.exchange(transport == "mqtt", qos, session == "fresh")
    assert r.arrival(steps) == overhead_formulas.round_trips(transport, qos, session)
    assert len(steps) == len(overhead_formulas.flights(transport, qos, session))


@pytest.mark.parametrize(
    ("waits", "late", "trips"),
    [
        (True, (True, True), 5), (True, (True, False), 4), (True, (False, True), 4), (True, (False, False), 3),
        (False, (True, True), 4), (False, (True, False), 3), (False, (False, True), 3), (False, (False, False), 2),
    ],
)  # fmt: skip
def test_what_the_standard_leaves_open(waits: bool, late: tuple[bool, bool], trips: float) -> None:
    """MQTT 3.1.1, sections 3.1.4 (not to wait for CONNACK) and 4.3.3 (when a receiver passes on)."""
    assert r.arrival(r.exchange(True, 2, True, waits, late)) == trips
    assert r.arrival(r.exchange(True, 2, False, waits, late)) == 1 + sum(late)
    assert r.arrival(r.exchange(True, 1, True, waits, late)) == 2 + waits


def ours(data: bytes, reader: Identity, name: str, now: float) -> object:
    try:
        return open_object(data, reader, OWNER.public, parts=[name], now=now)[name]
    except IctoError:
        return "refused"


def plain(data: bytes, reader: Identity, name: str, now: float) -> object:
    try:
        return r.open_part(data, reader.sealing, OWNER.public.signing, name, now)
    except (ValueError, KeyError, InvalidTag):
        return "refused"


@st.composite
def objects(draw: st.DrawFn) -> bytes:
    names = draw(st.lists(st.sampled_from(["diagnosis", "bill", "x"]), min_size=1, max_size=3, unique=True))
    readers = st.lists(st.sampled_from([p.name for p in PEOPLE]), min_size=1, unique=True).map(tuple)
    rules = {n: Rule(draw(readers), draw(st.one_of(st.none(), st.integers(1, 200)))) for n in names}
    parts = {n: draw(st.binary(max_size=40)) for n in names}
    cipher = draw(st.sampled_from(sorted(CIPHERS.values())))
    return seal(parts, rules, [p.public for p in PEOPLE], OWNER, cipher=cipher, created=0)


@settings(max_examples=150, deadline=None)
@given(
    objects(), st.sampled_from(PEOPLE), st.sampled_from(["diagnosis", "bill", "x", "none"]),
    st.one_of(st.integers(0, 300), st.floats(allow_nan=True)), st.data(),
)  # fmt: skip
def test_objects_open_alike(data: bytes, reader: Identity, name: str, now: float, more: st.DataObject) -> None:
    """Right readers and wrong ones, in time and too late, whole and with one byte changed: the same, or both refuse."""
    if more.draw(st.booleans()):
        at = more.draw(st.integers(0, len(data) - 1))
        data = data[:at] + bytes([data[at] ^ more.draw(st.integers(1, 255))]) + data[at + 1 :]
    assert plain(data, reader, name, now) == ours(data, reader, name, now)


@settings(max_examples=40, deadline=None)
@given(objects())
def test_the_layout_is_read_alike(data: bytes) -> None:
    o = decode(data)
    assert r.people_of(data)[0] == [p.key for p in o.participants]
    rules, _ = r.parts_of(data)
    assert list(rules) == [p.name for p in o.parts]
    for p in o.parts:
        assert rules[p.name] == (p.since, p.until, len(p.ciphertext), p.nonce, p.readers)
        assert r.bytes_of(data, p.name) == (list(p.envelopes), p.ciphertext)


@pytest.mark.parametrize(
    ("until", "now", "opens"),
    [
        (None, 0, True), (None, 1e12, True), (None, -0.5, False), (None, float("inf"), False),
        (None, float("nan"), False),
        (1, 0, True), (1, 1, True), (1, 1.5, False), (1, 2, False), (2, 2, True), (2, 3, False),
    ],
)  # fmt: skip
def test_the_last_second_of_a_rule(until: int | None, now: float, opens: bool) -> None:
    data = seal({"x": b"hi"}, {"x": Rule(("ann",), until)}, [PEOPLE[0].public], OWNER, created=0)
    assert plain(data, PEOPLE[0], "x", now) == ours(data, PEOPLE[0], "x", now) == (b"hi" if opens else "refused")

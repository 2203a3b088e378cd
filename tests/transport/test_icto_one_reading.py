"""A cipher object has one reading: times that are none, keys twice, and all that two readers could read differently."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.transport.secure_objects.icto import Identity, PublicIdentity, Rule, inspect, open_object, seal
from voicewire.transport.secure_objects.icto_format import (
    IctoError,
    MalformedError,
    Part,
    Participant,
    Sealed,
    decode,
    encode,
)

OWNER, ANN, BOB = (Identity.create(name) for name in ("owner", "ann", "bob"))
NOW = 1_700_000_000
DATA = seal(
    {"diagnosis": b"121/79", "bill": b"17.20"},
    {"diagnosis": Rule(("ann",), NOW + 100), "bill": Rule(("ann", "bob"))},
    [ANN.public, BOB.public], OWNER, created=NOW,
)  # fmt: skip
NO_TIMES = [math.nan, math.inf, -math.inf, -1, -0.5, True, "2030", None, 1 + 2j]


@pytest.mark.parametrize("now", [x for x in NO_TIMES if x is not None])
def test_no_time_opens_nothing(now: object) -> None:
    """With NaN every comparison is false: an expired part opened."""
    for parts in (None, ["bill"], ["diagnosis"]):
        with pytest.raises(IctoError, match="'now' must be a time"):
            open_object(DATA, ANN, OWNER.public, parts=parts, now=now)  # type: ignore[arg-type]


@pytest.mark.parametrize("time", [x for x in NO_TIMES if x is not None] + [1.5, 2**53, 2**63, 2**64, 2**200])
def test_no_time_is_sealed(time: object) -> None:
    for until, created in ((time, NOW), (None, time)):
        with pytest.raises(IctoError, match="whole seconds since 1970"):
            seal({"p": b""}, {"p": Rule(("ann",), until)}, [ANN.public], OWNER, created=created)  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None)
@given(st.floats(allow_nan=True, allow_infinity=True), st.integers(1, 2**53 - 1))
def test_open_only_until(now: float, until: int) -> None:
    """Over all floats: a part opens exactly if the time is one, and not after `until`."""
    data = seal({"p": b"x"}, {"p": Rule(("ann",), until)}, [ANN.public], OWNER, created=0)
    try:
        opened = open_object(data, ANN, OWNER.public, now=now) == {"p": b"x"}
    except IctoError:
        opened = False
    assert opened == (0 <= now <= until)


@dataclass
class Loose:
    """A writer that checks nothing: whatever the layout can hold, signed by the owner as it stands."""

    o: Sealed
    names: list[bytes] = field(default_factory=list)

    def bytes(self) -> bytes:
        o = self.o
        named = iter(self.names)

        def name(text: str) -> bytes:
            raw = next(named, text.encode("utf-8", "surrogatepass"))[:255]
            return bytes([len(raw)]) + raw

        rules = b"".join(name(p.name) + p.key for p in o.participants) + b"".join(
            name(p.name) + struct.pack(">QI12sB", p.until, len(p.ciphertext), p.nonce, n) + bytes(p.readers)
            for p, n in ((p, len(p.readers)) for p in o.parts)
        )
        body = b"".join(e for p in o.parts for e in p.envelopes) + b"".join(p.ciphertext for p in o.parts)
        total = 100 + len(rules) + len(body) + 64
        head = struct.pack(
            ">4sBBBBI16sQ32s32s", b"ICTO", 1, o.cipher, len(o.participants), len(o.parts), total, o.identity, o.created,
            o.owner, o.ephemeral,
        )  # fmt: skip
        return head + rules + body + OWNER.signing.sign(head + rules + body)


HONEST = decode(DATA)
TOP_BIT = bytes(31) + b"\x80"


def other_spelling(key: bytes) -> bytes:
    """The same X25519 key, written with the bit that RFC 7748 tells readers to ignore."""
    return bytes(a | b for a, b in zip(key, TOP_BIT, strict=True))


def two(first: str, second: str) -> dict[str, object]:
    """Participants with the keys of Ann and Bob and these names."""
    return {"participants": (Participant(first, ANN.public.sealing), Participant(second, BOB.public.sealing))}


SMALL_ORDER = [
    bytes.fromhex(key)
    for y, signs in {
        "00" * 31: ("00", "80"),
        "01" + "00" * 30: ("00", "80"),
        "ec" + "ff" * 30: ("7f", "ff"),
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc": ("05", "85"),
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03": ("7a", "fa"),
    }.items()
    for key in (y + signs[0], y + signs[1])
]


def keyed(second: bytes) -> dict[str, object]:
    """Ann, and a second participant with this key."""
    return {"participants": (Participant("ann", ANN.public.sealing), Participant("bob", second))}


def first(**change: object) -> dict[str, object]:
    """The first part changed."""
    return {"parts": (replace(HONEST.parts[0], **change), HONEST.parts[1])}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (keyed(ANN.public.sealing), "same key"),
        (keyed(other_spelling(ANN.public.sealing)), "X25519 key is not"),
        (two("ann", "ann"), "same name"),
        (first(name="bill"), "same name"),
        (first(until=2**63), "'until' must be whole seconds"),
        (first(until=2**53), "'until' must be whole seconds"),
        ({"created": 2**63 + 5}, "time of creation must be whole seconds"),
        ({"ephemeral": other_spelling(HONEST.ephemeral)}, "X25519 key is not"),
        ({"ephemeral": (2**255 - 19).to_bytes(32, "little")}, "X25519 key is not"),
        ({"owner": (2**255 - 18).to_bytes(32, "little")}, "Ed25519 key is not"),
        *[({"owner": key}, "small order") for key in SMALL_ORDER],
        (two("Zo\u00eb", "Zoe\u0308"), "normalised"),
        (two("ann", "ann\u200b"), "U\\+200B"),
        (two("ann", "b\nb"), "U\\+000A"),
        (two("ann", "ann "), "spaces"),
        (first(name="\u202ebill"), "U\\+202E"),
        (first(readers=(0, 0), envelopes=HONEST.parts[0].envelopes * 2), "each once"),
        ({"parts": (HONEST.parts[0], replace(HONEST.parts[1], readers=(1, 0)))}, "ascending"),
    ],
)
def test_two_readings_are_refused(change: dict[str, object], message: str) -> None:
    """Each is signed by the owner, so that only the form can refuse it; decoded, inspected and opened alike."""
    data = Loose(replace(HONEST, **change)).bytes()  # type: ignore[arg-type]
    for use in (decode, inspect, lambda d: open_object(d, ANN, OWNER.public, now=NOW)):
        with pytest.raises(MalformedError, match=message):
            use(data)
    with pytest.raises(MalformedError, match=message):
        encode(replace(HONEST, **change))  # type: ignore[arg-type]


def test_the_loose_writer_writes_what_is_read() -> None:
    """Else the test above would refuse anything."""
    assert Loose(HONEST).bytes() == DATA


KEYS = st.one_of(
    st.sampled_from([ANN.public.sealing, other_spelling(ANN.public.sealing), BOB.public.sealing]),
    st.binary(min_size=32, max_size=32),
    st.integers(2**255 - 22, 2**255 - 1).map(lambda n: n.to_bytes(32, "little")),
)
NAMES = st.one_of(st.sampled_from(["ann", "bob", "ann ", "Zo\u00eb", "Zoe\u0308", "a\u200db", ""]), st.text(max_size=4))
TIMES = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, NOW, 2**53 - 1, 2**53, 2**63 - 1, 2**63]))


@st.composite
def objects(draw: st.DrawFn) -> bytes:
    people = tuple(Participant(draw(NAMES), draw(KEYS)) for _ in range(draw(st.integers(1, 3))))
    parts = []
    for _ in range(draw(st.integers(1, 2))):
        readers = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
        parts.append(
            Part(draw(NAMES), draw(TIMES), readers, bytes(12), draw(st.binary(min_size=14, max_size=18)),
                 (bytes(48),) * len(readers))
        )  # fmt: skip
    raw = draw(st.lists(st.binary(max_size=3), max_size=2))
    cipher, created, ephemeral = draw(st.integers(0, 3)), draw(TIMES), draw(KEYS)
    o = Sealed(cipher, bytes(16), created, OWNER.public.signing, ephemeral, people, tuple(parts), b"")
    return Loose(o, raw).bytes()


def readings(data: bytes) -> set[object]:
    """What readers who differ in habits take the same object for: how they hold times, compare names and keys."""
    import unicodedata

    o = decode(data)
    times = [o.created, *(p.until for p in o.parts)]
    names = [p.name for p in o.participants] + [p.name for p in o.parts]
    keys = [int.from_bytes(p.key, "little") for p in o.participants]
    as_written = (tuple(times), tuple(names), tuple(keys), len(set(keys)))
    as_signed = [t - 2**64 if t >= 2**63 else t for t in times]
    as_double = [int(float(t)) for t in times]
    as_seen = ["".join(c for c in unicodedata.normalize("NFC", n) if c.isprintable()).strip() for n in names]
    as_numbers = [k % 2**255 % (2**255 - 19) for k in keys]  # RFC 7748, section 5
    return {as_written} | {
        (tuple(t), tuple(n), tuple(k), len(set(k)))
        for t in (as_signed, as_double)
        for n in (as_seen, names)
        for k in (as_numbers, keys)
    }


@settings(max_examples=400, deadline=None)
@given(objects())
def test_one_object_one_reading(data: bytes) -> None:
    """Whatever a writer without checks puts together: refused, or read alike by all, and written in this way only."""
    try:
        decode(data)
    except IctoError:
        return
    assert encode(decode(data)) == data
    assert len(readings(data)) == 1


@pytest.mark.parametrize("key", SMALL_ORDER, ids=bytes.hex)
def test_nobody_signs_with_a_key_of_small_order(key: bytes) -> None:
    """With such a key one made-up signature fits a share of all messages: one object among many passed for signed."""
    body = Loose(replace(HONEST, owner=key)).bytes()[:-64]
    zero = b"\x01" + bytes(63)  # R is the neutral point, S is 0
    for created in range(40):
        forged = body[:28] + struct.pack(">Q", created) + body[36:] + zero
        with pytest.raises(MalformedError, match="small order"):
            inspect(forged)


@settings(max_examples=200, deadline=None)
@given(
    created=st.one_of(st.sampled_from([*NO_TIMES, 1.5, 2**53]), st.integers(0, 2**60)),
    until=st.one_of(st.sampled_from([*NO_TIMES, 0, 0.5, 2**53]), st.integers(1, 2**60)),
    name=st.one_of(NAMES, st.text(st.characters(), max_size=3), st.just("\ud800"), st.just("x" * 256)),
    copies=st.sampled_from([1, 1, 1, 256]),
)
def test_what_is_sealed_can_be_read(created: object, until: object, name: str, copies: int) -> None:
    """Sealing takes what reading takes, and says no in one way: `IctoError`, never a slip of the layout below."""
    people = [PublicIdentity(f"p{i}", (i + 9).to_bytes(32, "little"), bytes(32)) for i in range(copies - 1)]
    try:
        data = seal(
            {name: b"x"}, {name: Rule(("ann",), until)}, [ANN.public, *people], OWNER, created=created,  # type: ignore[arg-type]
        )  # fmt: skip
    except IctoError:
        return
    assert open_object(data, ANN, OWNER.public, now=0) == {name: b"x"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_key_file_that_has_been_through_windows_is_read(tmp_path: Path, encoding: str, end: str) -> None:
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    for name, what, load in (("ann.pub", ANN.public, PublicIdentity.load), ("ann.key", ANN, Identity.load)):
        what.save(tmp_path / name)
        text = (tmp_path / name).read_bytes().decode().replace("\n", end)
        (tmp_path / name).write_bytes(mark + text.encode(encoding))
        again = load(tmp_path / name)
        assert getattr(again, "public", again) == ANN.public


@pytest.mark.parametrize("change", ["tail", "gap", "bits", "name"])
def test_a_key_file_is_written_in_one_way(tmp_path: Path, change: str) -> None:
    ANN.public.save(tmp_path / "ann.pub")
    text = (tmp_path / "ann.pub").read_text()
    key = text.split("\n")[2]
    other = key[:-2] + chr(ord(key[-2]) + 1) + "="  # bits beyond the last byte, which a lenient reader drops
    changed = {
        "tail": text + "eve\n",
        "gap": text.replace("\n", "\n\n", 1),
        "bits": text.replace(key, other),
        "name": text.replace("ann", "ann\u200b"),
    }[change]
    (tmp_path / "other.pub").write_bytes(changed.encode())
    with pytest.raises(IctoError, match="not an ICTO public key file"):
        PublicIdentity.load(tmp_path / "other.pub")


def test_a_name_with_a_line_feed_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(IctoError, match="U\\+000A"):
        Identity.create("ann\neve").save(tmp_path / "ann.key")
    assert not (tmp_path / "ann.key").exists()

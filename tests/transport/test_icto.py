"""Cipher objects: known answers, and everything that must be refused."""

from __future__ import annotations

import hashlib
import logging
import struct
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.transport.secure_objects import icto
from voicewire.transport.secure_objects.icto import (
    ExpiredError,
    Identity,
    NotAuthenticError,
    NotPermittedError,
    PublicIdentity,
    Rule,
    inspect,
    open_object,
    seal,
)  # fmt: skip
from voicewire.transport.secure_objects.icto_format import (
    CIPHERS,
    IctoError,
    MalformedError,
    UnknownVersionError,
    decode,
    encode,
    overhead,
)  # fmt: skip


class Counter:
    """Random bytes that are not: SHA-256 in counter mode, for known answers."""

    def __init__(self, seed: str) -> None:
        self.seed, self.n = seed, 0

    def __call__(self, n: int) -> bytes:
        out = b""
        while len(out) < n:
            out += hashlib.sha256(f"{self.seed}{self.n}".encode()).digest()
            self.n += 1
        return out[:n]


OWNER, ANN, BOB, EVE = (Identity.create(name, Counter(name)) for name in ("owner", "ann", "bob", "eve"))
SECRET = b"blood pressure 121/79"
NOW = 1_700_000_000


def example(cipher: str = "aes-256-gcm") -> bytes:
    return seal(
        {"diagnosis": SECRET, "bill": b"17.20"},
        {"diagnosis": Rule(("ann",), NOW + 100), "bill": Rule(("ann", "bob"))},
        [ANN.public, BOB.public], OWNER, cipher=cipher, created=NOW, random=Counter("seal"),
    )  # fmt: skip


DATA = example()


@pytest.mark.parametrize(
    ("cipher", "digest"),
    [
        ("aes-256-gcm", "535c65280f07c053a7aad0527471fb969f14ca60fab18296d722f5fd240bc4c4"),
        ("chacha20-poly1305", "1e0d890e2b1b95116b4cbd635a2a5eaf0cd94f49a8a00000e3451a80a3c20e62"),
    ],
)
def test_known_answer(cipher: str, digest: str) -> None:
    """The format of version 1 never changes: the same keys and random bytes give the same object, for ever."""
    data = example(cipher)
    assert hashlib.sha256(data).hexdigest() == digest
    assert data[:6] == b"ICTO\x01" + bytes([1 + (cipher == "chacha20-poly1305")])
    assert open_object(data, ANN, OWNER.public, now=NOW) == {"diagnosis": SECRET, "bill": b"17.20"}
    assert open_object(data, BOB, OWNER.public, now=NOW) == {"bill": b"17.20"}


def test_known_answers_of_the_building_blocks() -> None:
    """RFC 7748 section 6.1, RFC 8439 section 2.8.2, and test case 14 of the GCM specification."""
    alice = X25519PrivateKey.from_private_bytes(
        bytes.fromhex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
    )
    bob = X25519PublicKey.from_public_bytes(
        bytes.fromhex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
    )
    assert alice.exchange(bob).hex() == "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
    key = bytes(range(0x80, 0xA0))
    nonce = bytes.fromhex("070000004041424344454647")
    text = (
        b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
        b"sunscreen would be it."
    )
    sealed = ChaCha20Poly1305(key).encrypt(nonce, text, bytes.fromhex("50515253c0c1c2c3c4c5c6c7"))
    assert sealed[-16:].hex() == "1ae10b594f09e26a7e902ecbd0600691"
    assert AESGCM(bytes(32)).encrypt(bytes(12), bytes(16), b"").hex() == (
        "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"
    )


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 8 * len(DATA) - 1))
def test_any_flipped_bit_is_refused(bit: int) -> None:
    broken = bytearray(DATA)
    broken[bit // 8] ^= 1 << bit % 8
    for reader in (ANN, BOB):
        with pytest.raises(IctoError) as caught:
            open_object(bytes(broken), reader, OWNER.public, now=NOW)
        assert SECRET.decode() not in str(caught.value)
    with pytest.raises(IctoError):
        inspect(bytes(broken), OWNER.public)


def test_every_byte_counts() -> None:
    """The same exhaustively: the one property that must not rest on luck."""
    for at in range(len(DATA)):
        broken = bytearray(DATA)
        broken[at] ^= 0x41
        with pytest.raises(IctoError):
            open_object(bytes(broken), ANN, OWNER.public, now=NOW)


@settings(deadline=None)
@given(st.integers(0, len(DATA) - 1))
def test_truncated_is_refused(length: int) -> None:
    with pytest.raises(MalformedError):
        open_object(DATA[:length], ANN, OWNER.public, now=NOW)


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=60))
def test_followed_by_anything_is_refused(tail: bytes) -> None:
    for data in (DATA + tail, DATA + DATA):
        with pytest.raises(MalformedError, match="followed by something else"):
            open_object(data, ANN, OWNER.public, now=NOW)


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_refused(data: bytes) -> None:
    for start in (b"", b"ICTO", b"ICTO\x01", DATA[:200]):
        with pytest.raises(IctoError):
            open_object(start + data, ANN, OWNER.public, now=NOW)


@given(st.integers(0, 255).filter(lambda v: v not in (1, 2)))
def test_unknown_version_is_refused(version: int) -> None:
    with pytest.raises(UnknownVersionError, match=f"version {version} "):
        decode(DATA[:4] + bytes([version]) + DATA[5:])


@given(st.integers(0, 255).filter(lambda v: v not in CIPHERS))
def test_unknown_cipher_is_refused(number: int) -> None:
    with pytest.raises(UnknownVersionError, match="cipher"):
        decode(DATA[:5] + bytes([number]) + DATA[6:])


def test_wrong_reader_and_wrong_part() -> None:
    with pytest.raises(NotPermittedError, match="eve takes no part"):
        open_object(DATA, EVE, OWNER.public, now=NOW)
    with pytest.raises(NotPermittedError, match="do not let bob open 'diagnosis'"):
        open_object(DATA, BOB, OWNER.public, parts=["bill", "diagnosis"], now=NOW)
    with pytest.raises(NotPermittedError, match="'x-ray'"):
        open_object(DATA, ANN, OWNER.public, parts=["x-ray"], now=NOW)


def test_a_stolen_name_does_not_help() -> None:
    with pytest.raises(NotPermittedError):
        open_object(DATA, Identity.create("ann", Counter("mallory")), OWNER.public, now=NOW)


def test_wrong_owner() -> None:
    forged = seal({"p": b"1"}, {"p": Rule(("ann",))}, [ANN.public], EVE)
    with pytest.raises(NotAuthenticError, match="not sealed by owner"):
        open_object(forged, ANN, OWNER.public)


@settings(deadline=None)
@given(st.floats(min_value=0.001, max_value=1e9))
def test_an_expired_rule_is_refused_and_nothing_decrypted(late: float) -> None:
    assert "diagnosis" in open_object(DATA, ANN, OWNER.public, now=NOW + 100)
    with pytest.raises(ExpiredError, match="too late to open 'diagnosis'"):
        open_object(DATA, ANN, OWNER.public, now=NOW + 100 + late)
    assert open_object(DATA, ANN, OWNER.public, parts=["bill"], now=NOW + 100 + late) == {"bill": b"17.20"}


def test_refusals_come_before_decryption(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: object) -> bytes:
        raise AssertionError("a key was derived")

    monkeypatch.setattr(icto, "_envelope_key", never)
    for data, reader, options in (
        (DATA[:-1] + b"\0", ANN, {"now": NOW}),
        (DATA, EVE, {"now": NOW}),
        (DATA, ANN, {"now": NOW + 101}),
        (DATA, BOB, {"now": NOW, "parts": ["diagnosis"]}),
    ):
        with pytest.raises(IctoError):
            open_object(data, reader, OWNER.public, **options)


def test_rules_cannot_be_loosened_even_by_a_reader() -> None:
    """Ann may read; she still cannot give Bob the diagnosis in the owner's name, nor extend her own time."""
    o = decode(DATA)
    loosened = replace(o, parts=(replace(o.parts[0], until=0), *o.parts[1:]))
    with pytest.raises(NotAuthenticError):
        open_object(encode(loosened), ANN, OWNER.public, now=NOW)
    resigned = encode(replace(loosened, owner=ANN.public.signing), signature=False)
    with pytest.raises(NotAuthenticError, match="not sealed by owner"):
        open_object(resigned + ANN.signing.sign(resigned), ANN, OWNER.public, now=NOW)


def test_an_owner_who_signs_nonsense_is_found_out() -> None:
    o = decode(DATA)
    body = encode(replace(o, parts=(replace(o.parts[0], nonce=bytes(12)), *o.parts[1:])), signature=False)
    with pytest.raises(NotAuthenticError, match="does not open"):
        open_object(body + OWNER.signing.sign(body), ANN, OWNER.public, now=NOW)


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=500), st.sampled_from(sorted(CIPHERS.values())), st.integers(1, 4))
def test_round_trip_and_overhead(data: bytes, cipher: str, readers: int) -> None:
    people = [Identity.create(f"p{i}") for i in range(readers)]
    names = tuple(p.name for p in people)
    sealed = seal({"part": data}, {"part": Rule(names)}, [p.public for p in people], OWNER, cipher=cipher)
    assert len(sealed) == len(data) + overhead(list(names), {"part": readers})
    assert encode(decode(sealed)) == sealed
    for person in people:
        assert open_object(sealed, person, OWNER.public) == {"part": data}
    if len(data) > 8:
        assert data not in sealed


def test_two_objects_share_nothing_secret() -> None:
    one, two = (seal({"p": bytes(64)}, {"p": Rule(("ann",))}, [ANN.public], OWNER) for _ in range(2))
    a, b = decode(one), decode(two)
    assert a.ephemeral != b.ephemeral
    assert a.parts[0].ciphertext != b.parts[0].ciphertext
    assert a.parts[0].envelopes != b.parts[0].envelopes


def test_no_key_or_plaintext_in_repr_error_or_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    private = ANN.sealing.private_bytes_raw()
    words = [repr(ANN), repr(ANN.public), repr(decode(DATA)), repr(Rule(("ann",)))]
    for reader, options in ((EVE, {}), (ANN, {"now": NOW + 200}), (BOB, {"parts": ["diagnosis"]})):
        with pytest.raises(IctoError) as caught:
            open_object(DATA, reader, OWNER.public, **options)
        words.append(repr(caught.value))
    everything = " ".join(words) + caplog.text
    for hidden in (private.hex(), repr(private)[2:-1], SECRET.decode()):
        assert hidden not in everything


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cipher": "rot13"}, "cipher must be one of"),
        ({"rules": {}}, "exactly one rule"),
        ({"rules": {"p": Rule(("nobody",))}}, "takes no part"),
        ({"rules": {"p": Rule(())}}, "needs readers"),
        ({"rules": {"p": Rule(("ann",), -5)}}, "until"),
        ({"participants": [ANN.public, ANN.public]}, "same name"),
    ],
)
def test_impossible_objects_are_not_sealed(change: dict[str, object], message: str) -> None:
    options = {"parts": {"p": b"1"}, "rules": {"p": Rule(("ann",))}, "participants": [ANN.public], "owner": OWNER}
    with pytest.raises(IctoError, match=message):
        seal(**(options | change))


def test_key_files(tmp_path) -> None:
    ANN.save(tmp_path / "ann.key")
    ANN.public.save(tmp_path / "ann.pub")
    assert (tmp_path / "ann.key").stat().st_mode & 0o077 == 0
    assert Identity.load(tmp_path / "ann.key").public == ANN.public
    assert PublicIdentity.load(tmp_path / "ann.pub") == ANN.public
    with pytest.raises(FileExistsError):
        ANN.save(tmp_path / "ann.key")
    for wrong in ("", "x\n" * 9, (tmp_path / "ann.pub").read_text().replace("public", "private")[:-9]):
        (tmp_path / "broken").write_text(wrong)
        with pytest.raises(IctoError, match="not an ICTO") as caught:
            Identity.load(tmp_path / "broken")
        assert "=" not in str(caught.value)


def test_lengths_in_the_object_are_not_believed() -> None:
    """A ciphertext's size that points beyond the end is refused as malformed, whoever signed it."""
    at = DATA.index(b"diagnosis") + len(b"diagnosis") + 8
    broken = DATA[:at] + struct.pack(">I", 2**32 - 1) + DATA[at + 4 :]
    with pytest.raises(MalformedError, match="too early"):
        decode(broken)

"""The bytes of a cipher object, version 1: encode and decode, no cryptography.

All integers are big-endian. The layout, in order::

    magic            4   "ICTO"
    version          1   1
    cipher           1   1 AES-256-GCM, 2 ChaCha20-Poly1305
    participants     1   P, 1 to 255
    parts            1   R, 1 to 255
    total            4   length of the whole object
    identity        16   random
    created          8   seconds since 1970-01-01 UTC
    owner           32   Ed25519 public key of who sealed it
    ephemeral       32   X25519 public key made for this object alone
    P times:  length of name 1, name (UTF-8), X25519 public key 32
    R times:  length of name 1, name, until 8 (0: no limit), size of ciphertext 4, nonce 12,
              readers 1, their numbers 1 each (ascending)
    for each part, for each of its readers: envelope 48
    for each part: ciphertext
    signature       64   Ed25519, over everything before it

There is one way only to write a given object; `decode` refuses every other. The chapter that explains it is
``notebooks/transport/03_tcp_against_mqtt.ipynb``.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

__all__ = [
    "CIPHERS", "ENVELOPE", "MAGIC", "SIGNATURE", "VERSION", "IctoError", "MalformedError", "Part", "Participant",
    "Sealed", "UnknownVersionError", "decode", "encode", "overhead",
]  # fmt: skip

MAGIC = b"ICTO"
VERSION = 1
CIPHERS = {1: "aes-256-gcm", 2: "chacha20-poly1305"}
SIGNATURE, ENVELOPE, TAG, NONCE, KEY = 64, 48, 16, 12, 32
_HEAD = struct.Struct(">4sBBBBI16sQ32s32s")
_PART = struct.Struct(">QI12sB")
MAXIMUM = 2**32 - 1


class IctoError(ValueError):
    """A cipher object is refused. No message ever holds a key or a byte of plaintext."""


class MalformedError(IctoError):
    """The bytes are not one whole cipher object."""


class UnknownVersionError(IctoError):
    """Not a version, or a cipher, that this program knows."""


@dataclass(frozen=True)
class Participant:
    """Somebody the rules know: a name and the public X25519 key (32 bytes)."""

    name: str
    key: bytes = field(repr=False)


@dataclass(frozen=True)
class Part:
    """One part of an object: its rules and its ciphertext.

    Attributes
    ----------
    name : str
        Unique within the object.
    until : int
        Last second (UTC) in which it may be opened; 0 is no limit.
    readers : tuple of int
        Numbers of the participants who may open it, ascending.
    nonce, ciphertext : bytes
        Of the cipher; the ciphertext ends with its 16-byte tag.
    envelopes : tuple of bytes
        The part's key, once for each reader.
    """

    name: str
    until: int
    readers: tuple[int, ...]
    nonce: bytes = field(repr=False)
    ciphertext: bytes = field(repr=False)
    envelopes: tuple[bytes, ...] = field(repr=False)


@dataclass(frozen=True)
class Sealed:
    """A decoded object. Decoding checks its form only; see `icto.open_object` for everything else."""

    cipher: int
    identity: bytes
    created: int
    owner: bytes = field(repr=False)
    ephemeral: bytes = field(repr=False)
    participants: tuple[Participant, ...]
    parts: tuple[Part, ...]
    signature: bytes = field(repr=False)

    def rules(self) -> bytes:
        """The bytes that say who may do what until when; each part's cipher authenticates them too."""
        return _rules(self, 0)


def overhead(participants: list[str], parts: dict[str, int]) -> int:
    """Bytes that an object adds to its plaintext.

    Parameters
    ----------
    participants : list of str
        Their names.
    parts : dict of str to int
        Name of each part and number of its readers.
    """
    people = sum(1 + len(name.encode()) + KEY for name in participants)
    rules = sum(1 + len(name.encode()) + _PART.size + n + n * ENVELOPE + TAG for name, n in parts.items())
    return _HEAD.size + people + rules + SIGNATURE


def _name(name: str) -> bytes:
    raw = name.encode()
    if not 1 <= len(raw) <= 255:
        raise MalformedError("a name must have between 1 and 255 bytes of UTF-8")
    return bytes([len(raw)]) + raw


def _rules(o: Sealed, total: int) -> bytes:
    head = _HEAD.pack(
        MAGIC, VERSION, o.cipher, len(o.participants), len(o.parts), total, o.identity, o.created, o.owner, o.ephemeral
    )
    people = b"".join(_name(p.name) + p.key for p in o.participants)
    rules = b"".join(
        _name(p.name) + _PART.pack(p.until, len(p.ciphertext), p.nonce, len(p.readers)) + bytes(p.readers)
        for p in o.parts
    )
    return head + people + rules


def encode(o: Sealed, *, signature: bool = True) -> bytes:
    """The bytes of an object, with or without the signature at their end.

    Raises
    ------
    MalformedError
        If it has no valid form (names, numbers of readers, sizes).
    """
    _check(o)
    body = b"".join(e for p in o.parts for e in p.envelopes) + b"".join(p.ciphertext for p in o.parts)
    total = len(_rules(o, 0)) + len(body) + SIGNATURE
    if total > MAXIMUM:
        raise MalformedError(f"an object holds at most {MAXIMUM} bytes; this one would need {total}")
    return _rules(o, total) + body + (o.signature if signature else b"")


def _check(o: Sealed) -> None:
    names = [p.name for p in o.participants]
    if not 1 <= len(names) <= 255 or not 1 <= len(o.parts) <= 255:
        raise MalformedError("an object has between 1 and 255 participants, and between 1 and 255 parts")
    if len(set(names)) < len(names) or len({p.name for p in o.parts}) < len(o.parts):
        raise MalformedError("two participants, or two parts, have the same name")
    if len({p.key for p in o.participants}) < len(names):
        raise MalformedError("two participants have the same key")
    for p in o.parts:
        if not p.readers or list(p.readers) != sorted(set(p.readers)) or p.readers[-1] >= len(names):
            raise MalformedError(f"part {p.name!r} needs readers, each once, in ascending order, all of them known")
        if len(p.envelopes) != len(p.readers) or len(p.ciphertext) < TAG:
            raise MalformedError(f"part {p.name!r} lacks an envelope or its tag")


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, n: int) -> bytes:
        if self.at + n > len(self.data):
            raise MalformedError("the object ends too early")
        self.at += n
        return self.data[self.at - n : self.at]

    def name(self) -> str:
        try:
            return self.take(self.take(1)[0]).decode()
        except UnicodeDecodeError:
            raise MalformedError("a name is not UTF-8") from None


def decode(data: bytes) -> Sealed:
    """Read an object's form; nothing is believed and nothing decrypted yet.

    Raises
    ------
    UnknownVersionError
        If the version or the cipher is not known.
    MalformedError
        If the bytes are anything but exactly one object, written in the one way there is.
    """
    if data[:4] != MAGIC:
        raise MalformedError("this is not a cipher object (its first four bytes are not ICTO)")
    if len(data) > 4 and data[4] != VERSION:
        raise UnknownVersionError(
            f"version {data[4]} of the format is not known here; this program reads version {VERSION}"
        )
    r = _Reader(data)
    _, _, cipher, n_people, n_parts, total, identity, created, owner, ephemeral = _HEAD.unpack(r.take(_HEAD.size))
    if cipher not in CIPHERS:
        raise UnknownVersionError(f"cipher number {cipher} is not known here")
    if total != len(data):
        kind = "cut short" if len(data) < total else "followed by something else"
        raise MalformedError(f"the object is {kind}: it says {total} bytes, there are {len(data)}")
    people = []
    for _ in range(n_people):
        name = r.name()
        people.append(Participant(name, r.take(KEY)))
    rules = []
    for _ in range(n_parts):
        name = r.name()
        until, size, nonce, n = _PART.unpack(r.take(_PART.size))
        rules.append((name, until, size, nonce, tuple(r.take(n))))
    envelopes = [tuple(r.take(ENVELOPE) for _ in rule[4]) for rule in rules]
    parts = tuple(
        Part(name, until, readers, nonce, r.take(size), letters)
        for (name, until, size, nonce, readers), letters in zip(rules, envelopes, strict=True)
    )
    result = Sealed(cipher, identity, created, owner, ephemeral, tuple(people), parts, r.take(SIGNATURE))
    if r.at != len(data):
        raise MalformedError("the object's parts do not add up to its length")
    _check(result)
    return result

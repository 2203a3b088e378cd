"""The bytes of a cipher object, versions 1 and 2: encode and decode, no cryptography.

All integers are big-endian. The layout, in order::

    magic            4   "ICTO"
    version          1   1, or 2 if a part stays closed until some time has come
    cipher           1   1 AES-256-GCM, 2 ChaCha20-Poly1305
    participants     1   P, 1 to 255
    parts            1   R, 1 to 255
    total            4   length of the whole object
    identity        16   random
    created          8   seconds since 1970-01-01 UTC
    owner           32   Ed25519 public key of who sealed it
    ephemeral       32   X25519 public key made for this object alone
    P times:  length of name 1, name (UTF-8), X25519 public key 32
    R times:  length of name 1, name, in version 2 since 8 (0: at once), until 8 (0: no limit),
              size of ciphertext 4, nonce 12, readers 1, their numbers 1 each (ascending)
    for each part, for each of its readers: envelope 48
    for each part: ciphertext
    signature       64   Ed25519, over everything before it

There is one way only to write a given object; `decode` refuses every other. What two readers could read differently
is refused too:

- a time of `LATEST` or later: some languages hold it in a signed integer, some in a double;
- a name that is not normalised (NFC), or holds characters that are not seen: two names could look alike;
- a public key whose number is not below 2^255 - 19: it is another way to write a smaller one, so that one key could
  stand twice in a header;
- an owner's key of small order: some verifiers find one made-up signature of it good for any message.

The chapter that explains it is ``notebooks/transport/03_tcp_against_mqtt.ipynb``.
"""

from __future__ import annotations

import struct
import unicodedata
from dataclasses import dataclass, field

__all__ = [
    "CIPHERS", "ENVELOPE", "LATEST", "MAGIC", "SIGNATURE", "VERSION", "IctoError", "MalformedError", "Part",
    "Participant", "Sealed", "UnknownVersionError", "decode", "encode", "header", "overhead", "printable_name",
    "unsigned", "whole_second",
]  # fmt: skip

MAGIC = b"ICTO"
VERSION, TIMED = 1, 2
"""Version 2 has a first second in every part's rule; an object that needs none is written in version 1, as ever."""
CIPHERS = {1: "aes-256-gcm", 2: "chacha20-poly1305"}
SIGNATURE, ENVELOPE, TAG, NONCE, KEY = 64, 48, 16, 12, 32
_HEAD = struct.Struct(">4sBBBBI16sQ32s32s")
_LENGTH = 8  # where the whole object's length stands
_PART = struct.Struct(">QI12sB")
MAXIMUM = 2**32 - 1
LATEST = 2**53
"""Times (s since 1970) lie below this: signed, unsigned and floating-point readers hold each of them exactly."""
_FIELD = 2**255 - 19  # RFC 7748 and RFC 8032: coordinates are numbers below this
_WEAK = {0, 1, _FIELD - 1} | {
    int.from_bytes(bytes.fromhex(y), "little")
    for y in (
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    )
}
"""Ed25519 keys of small order: nobody's, and some verifiers take one signature of theirs for any message."""


class IctoError(ValueError):
    """A cipher object is refused. No message ever holds a key or a byte of plaintext.

    Examples
    --------
    >>> issubclass(IctoError, ValueError)
    True
    """


class MalformedError(IctoError):
    """The bytes are not one whole cipher object.

    Examples
    --------
    >>> issubclass(MalformedError, IctoError)
    True
    """


class UnknownVersionError(IctoError):
    """Not a version, or a cipher, that this program knows.

    Examples
    --------
    >>> issubclass(UnknownVersionError, IctoError)
    True
    """


@dataclass(frozen=True)
class Participant:
    """Somebody the rules know.

    Attributes
    ----------
    name : str
        Unique within the object.
    key : bytes
        Public X25519 key, 32 bytes.

    Examples
    --------
    >>> Participant("ann", bytes(32)).name
    'ann'
    """

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
    since : int
        First second (UTC) in which it may be opened; 0 is at once.

    Examples
    --------
    >>> Part("bill", 0, (0,), bytes(12), bytes(16), (bytes(48),)).readers
    (0,)
    """

    name: str
    until: int
    readers: tuple[int, ...]
    nonce: bytes = field(repr=False)
    ciphertext: bytes = field(repr=False)
    envelopes: tuple[bytes, ...] = field(repr=False)
    since: int = 0


@dataclass(frozen=True)
class Sealed:
    """A decoded object. Decoding checks its form only; see `icto.open_object` for everything else.

    Attributes
    ----------
    cipher : int
        A key of `CIPHERS`.
    identity : bytes
        16 random bytes.
    created : int
        Seconds since 1970 UTC.
    owner, ephemeral : bytes
        Public keys: Ed25519 of who sealed it, X25519 made for this object alone.
    participants : tuple of Participant
        Everybody whom a rule names.
    parts : tuple of Part
        The data and their rules.
    signature : bytes
        Of the owner, over everything before it.

    Examples
    --------
    >>> import voicewire.transport.secure_objects.icto as icto
    >>> ann = icto.Identity.create("ann")
    >>> data = icto.seal({"p": b"hi"}, {"p": icto.Rule(("ann",))}, [ann.public], ann)
    >>> isinstance(decode(data), Sealed)
    True
    """

    cipher: int
    identity: bytes
    created: int
    owner: bytes = field(repr=False)
    ephemeral: bytes = field(repr=False)
    participants: tuple[Participant, ...]
    parts: tuple[Part, ...]
    signature: bytes = field(repr=False)

    @property
    def version(self) -> int:
        """The version of the format in which it is written."""
        for part in self.parts:
            if part.since:
                return TIMED
        return VERSION

    def rules(self) -> bytes:
        """The bytes that say who may do what until when; each part's cipher authenticates them too.

        Returns
        -------
        bytes
            From the magic to the last rule, with a length of 0.
        """
        _check_head(self)
        return header(self)


def overhead(participants: list[str], parts: dict[str, int]) -> int:
    """Bytes that an object adds to its plaintext.

    Parameters
    ----------
    participants : list of str
        Their names.
    parts : dict of str to int
        Name of each part and number of its readers.

    Returns
    -------
    int
        Bytes.

    Examples
    --------
    >>> overhead(["ann"], {"p": 1}) + len(b"hi")
    294
    """
    people = sum(1 + len(name.encode()) + KEY for name in participants)
    rules = sum(1 + len(name.encode()) + _PART.size + n + n * ENVELOPE + TAG for name, n in parts.items())
    return _HEAD.size + people + rules + SIGNATURE


_HIDDEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}  # of Unicode's general categories: others, and line ends


def printable_name(name: str) -> bytes:
    """The bytes of a name: 1 to 255 bytes of UTF-8, normalised (NFC), nothing invisible in it."""
    ordinary = name.isascii() and name.isprintable()  # nothing below can be wrong with these but a space at an end
    hidden = [] if ordinary else [c for c in name if unicodedata.category(c) in _HIDDEN]
    if hidden:
        raise MalformedError(f"a name holds the invisible character U+{ord(hidden[0]):04X}; leave it out")
    if not (ordinary or unicodedata.is_normalized("NFC", name)) or name != name.strip():
        raise MalformedError(f"the name {name!r} must be normalised (NFC), without spaces at its ends")
    raw = name.encode()
    if not 1 <= len(raw) <= 255:
        raise MalformedError("a name must have between 1 and 255 bytes of UTF-8")
    return raw


def whole_second(value: object, what: str, *, least: int = 0) -> int:
    """A time that every reader reads alike: a whole number of seconds since 1970 UTC, below `LATEST`."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < LATEST:
        raise MalformedError(f"{what} must be whole seconds since 1970, from {least} to 2^53 - 1, not {value!r}")
    return value


def header(o: Sealed) -> bytes:
    """What `Sealed.rules` gives, of an object that was checked already (by it, or by `decode`)."""
    version = o.version
    parts = [_HEAD.pack(
        MAGIC, version, o.cipher, len(o.participants), len(o.parts), 0, o.identity, o.created, o.owner, o.ephemeral
    )]  # fmt: skip
    for p in o.participants:
        name = p.name.encode()
        parts += bytes([len(name)]), name, p.key
    for part in o.parts:
        name = part.name.encode()
        since = part.since.to_bytes(8) if version == TIMED else b""
        rule = _PART.pack(part.until, len(part.ciphertext), part.nonce, len(part.readers))
        parts += bytes([len(name)]), name, since, rule, bytes(part.readers)
    return b"".join(parts)


def encode(o: Sealed, *, signature: bool = True) -> bytes:
    """The bytes of an object, with or without the signature at their end.

    Parameters
    ----------
    o : Sealed
        The object.
    signature : bool
        Leave it out to learn what is to be signed.

    Returns
    -------
    bytes
        In the layout above.

    Raises
    ------
    MalformedError
        If it has no valid form (names, keys, times, numbers of readers, sizes).

    Examples
    --------
    >>> import voicewire.transport.secure_objects.icto as icto
    >>> ann = icto.Identity.create("ann")
    >>> data = icto.seal({"p": b"hi"}, {"p": icto.Rule(("ann",))}, [ann.public], ann)
    >>> encode(decode(data)) == data
    True
    """
    _check_head(o)
    if signature and len(o.signature) != SIGNATURE:
        raise MalformedError(f"a signature has {SIGNATURE} bytes")
    return unsigned(o) + (o.signature if signature else b"")


def unsigned(o: Sealed) -> bytes:
    """The bytes that the owner signs, of an object whose rules were checked already (by `Sealed.rules` or `decode`)."""
    _check_body(o)
    body = b"".join(e for p in o.parts for e in p.envelopes) + b"".join(p.ciphertext for p in o.parts)
    rules = header(o)
    total = len(rules) + len(body) + SIGNATURE
    if total > MAXIMUM:
        raise MalformedError(f"an object holds at most {MAXIMUM} bytes; this one would need {total}")
    return rules[:_LENGTH] + total.to_bytes(4) + rules[_LENGTH + 4 :] + body


def _check_head(o: Sealed) -> None:
    """Everything that the rules say; see the module's text for why each of it is asked."""
    names = [p.name for p in o.participants]
    if not 1 <= len(names) <= 255 or not 1 <= len(o.parts) <= 255:
        raise MalformedError("an object has between 1 and 255 participants, and between 1 and 255 parts")
    if len(set(names)) < len(names) or len({p.name for p in o.parts}) < len(o.parts):
        raise MalformedError("two participants, or two parts, have the same name")
    if len({p.key for p in o.participants}) < len(names):
        raise MalformedError("two participants have the same key")
    if o.cipher not in CIPHERS or len(o.identity) != 16:
        raise MalformedError("an object has one of the known ciphers and an identity of 16 bytes")
    for key in (o.ephemeral, *(p.key for p in o.participants)):
        if len(key) != KEY or int.from_bytes(key, "little") >= _FIELD:
            raise MalformedError("an X25519 key is not 32 bytes below 2^255 - 19")
    # Ed25519 keeps the sign of x in the topmost bit (RFC 8032, section 5.1.2)
    y = int.from_bytes(o.owner, "little") % 2**255
    if len(o.owner) != KEY or y >= _FIELD or y in _WEAK:
        raise MalformedError("the owner's Ed25519 key is not 32 bytes below 2^255 - 19, or is of small order")
    for name in (*names, *(p.name for p in o.parts)):
        printable_name(name)
    whole_second(o.created, "the time of creation")
    for p in o.parts:
        whole_second(p.until, f"part {p.name!r}: 'until'")
        if p.since:
            whole_second(p.since, f"part {p.name!r}: 'since'")
            if 0 < p.until < p.since:
                raise MalformedError(f"part {p.name!r} could never be opened: 'until' lies before 'since'")
        if not p.readers or list(p.readers) != sorted(set(p.readers)) or p.readers[-1] >= len(names):
            raise MalformedError(f"part {p.name!r} needs readers, each once, in ascending order, all of them known")
        if len(p.nonce) != NONCE or not TAG <= len(p.ciphertext) <= MAXIMUM:
            raise MalformedError(f"part {p.name!r} has a nonce of {len(p.nonce)} bytes, or lacks its tag")


def _check_body(o: Sealed) -> None:
    for p in o.parts:
        if len(p.envelopes) != len(p.readers) or any(len(e) != ENVELOPE for e in p.envelopes):
            raise MalformedError(f"part {p.name!r} needs one envelope of {ENVELOPE} bytes for each reader")


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

    Parameters
    ----------
    data : bytes
        Exactly one object.

    Returns
    -------
    Sealed
        Its fields.

    Raises
    ------
    UnknownVersionError
        If the version or the cipher is not known.
    MalformedError
        If the bytes are anything but exactly one object, written in the one way there is.

    Examples
    --------
    >>> decode(b"IKTO")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    voicewire...MalformedError: this is not a cipher object (its first four bytes are not ICTO)
    """
    if data[:4] != MAGIC:
        raise MalformedError("this is not a cipher object (its first four bytes are not ICTO)")
    if len(data) > 4 and data[4] not in (VERSION, TIMED):
        raise UnknownVersionError(
            f"version {data[4]} of the format is not known here; this program reads versions {VERSION} and {TIMED}"
        )
    r = _Reader(data)
    _, version, cipher, n_people, n_parts, total, identity, created, owner, ephemeral = _HEAD.unpack(
        r.take(_HEAD.size)
    )
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
        since = int.from_bytes(r.take(8)) if version == TIMED else 0
        until, size, nonce, n = _PART.unpack(r.take(_PART.size))
        rules.append((name, until, size, nonce, tuple(r.take(n)), since))
    envelopes = [tuple(r.take(ENVELOPE) for _ in rule[4]) for rule in rules]
    parts = tuple(
        Part(name, until, readers, nonce, r.take(size), letters, since)
        for (name, until, size, nonce, readers, since), letters in zip(rules, envelopes, strict=True)
    )
    result = Sealed(cipher, identity, created, owner, ephemeral, tuple(people), parts, r.take(SIGNATURE))
    if r.at != len(data):
        raise MalformedError("the object's parts do not add up to its length")
    if result.version != version:
        raise MalformedError("version 2 is for parts with a first second, and this object has none: it is version 1")
    _check_head(result)
    return result

"""A cipher object that carries its own rules: seal, inspect, open.

The paper's Intelligent Cipher Transfer Object (section II.C) is patented and closed; this is our own reading of what
it says such an object does, built from public parts. Data are encrypted where they arise; the object says who takes
part, who may open which part, from when on and until when; the channel need not be trusted.

What cryptography enforces: without a reader's private key a part stays closed, and nobody but the owner can change
a rule, an envelope or a byte. What it can *not* enforce: "from when on" and "until when" bind programs that keep the
rules (a reader has the key all the time, and can open with another program), and "how often" would need a trusted third
party that counts. Both limits are inherent, so "how often" is not offered at all.

=========  =========================================================================================
part key   32 random bytes a part; AES-256-GCM or ChaCha20-Poly1305 with the rules as associated data
envelope   the part key under HKDF-SHA-256(X25519(ephemeral, reader)), one for each reader
signature  Ed25519 of the owner over every byte, checked before anything else is believed
=========  =========================================================================================

Explained in ``notebooks/transport/03_tcp_against_mqtt.ipynb``; the bytes are in `icto_format`.
"""

from __future__ import annotations

import base64
import math
import numbers
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voicewire._kit._optional import Library
from voicewire.transport.secure_objects.icto_format import (
    CIPHERS,
    IctoError,
    Part,
    Participant,
    Sealed,
    decode,
    header,
    printable_name,
    unsigned,
    whole_second,
)  # fmt: skip

__all__ = [
    "ExpiredError", "Identity", "NotAuthenticError", "NotPermittedError", "PublicIdentity", "Rule", "TooEarlyError",
    "inspect", "open_object", "seal",
]  # fmt: skip

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

_exceptions = Library("cryptography.exceptions")
_hashes = Library("cryptography.hazmat.primitives.hashes")
_ed25519 = Library("cryptography.hazmat.primitives.asymmetric.ed25519")
_x25519 = Library("cryptography.hazmat.primitives.asymmetric.x25519")
_aead = Library("cryptography.hazmat.primitives.ciphers.aead")
_hkdf = Library("cryptography.hazmat.primitives.kdf.hkdf")

_ENVELOPE_NONCE = bytes(12)  # its key seals one envelope and nothing else, so a fixed nonce never repeats
_KINDS = {"aes-256-gcm": "AESGCM", "chacha20-poly1305": "ChaCha20Poly1305"}


def _kind(cipher: str) -> Any:
    """Return the class of a cipher."""
    return getattr(_aead, _KINDS[cipher])


class NotAuthenticError(IctoError):
    """A byte differs from what the owner signed, or somebody else signed it.

    Examples
    --------
    >>> issubclass(NotAuthenticError, IctoError)
    True
    """


class NotPermittedError(IctoError):
    """The rules do not let this participant open what was asked for.

    Examples
    --------
    >>> issubclass(NotPermittedError, IctoError)
    True
    """


class ExpiredError(IctoError):
    """The rules let nobody open what was asked for any more.

    Examples
    --------
    >>> issubclass(ExpiredError, IctoError)
    True
    """


class TooEarlyError(IctoError):
    """The rules let nobody open what was asked for yet.

    Examples
    --------
    >>> issubclass(TooEarlyError, IctoError)
    True
    """


@dataclass(frozen=True)
class PublicIdentity:
    """What others may know of somebody: where to seal to, and how to check who sealed.

    Attributes
    ----------
    name : str
        As rules name them.
    sealing : bytes
        Public X25519 key, 32 bytes.
    signing : bytes
        Public Ed25519 key, 32 bytes.

    Examples
    --------
    >>> Identity.create("ann").public.name
    'ann'
    """

    name: str
    sealing: bytes = field(repr=False)
    signing: bytes = field(repr=False)

    def save(self, path: Path) -> None:
        """Write it as a small text file.

        Parameters
        ----------
        path : Path
            The file.

        Raises
        ------
        MalformedError
            If the name could not be read again.
        """
        path.write_text(_text("public", self.name, self.sealing, self.signing))

    @classmethod
    def load(cls, path: Path) -> PublicIdentity:
        """Read what `save` wrote.

        Parameters
        ----------
        path : Path
            The file.

        Returns
        -------
        PublicIdentity or Identity
            As it was saved.

        Raises
        ------
        IctoError
            If the file is anything else.
        """
        return cls(*_read("public", path))


@dataclass(frozen=True)
class Identity:
    """Somebody's two private keys. They never appear in ``repr`` or an error.

    Attributes
    ----------
    name : str
        As rules name them.
    sealing : X25519PrivateKey
        To receive (RFC 7748).
    signing : Ed25519PrivateKey
        To sign (RFC 8032).

    Examples
    --------
    >>> repr(Identity.create("ann"))
    "Identity(name='ann')"
    """

    name: str
    sealing: X25519PrivateKey = field(repr=False)
    signing: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def create(cls, name: str, random: Callable[[int], bytes] = os.urandom) -> Identity:
        """Make new keys.

        Parameters
        ----------
        name : str
            As rules will name them.
        random : callable
            Gives so many random bytes; 64 are taken.

        Returns
        -------
        Identity
            With keys of its own.
        """
        return cls(
            name,
            _x25519.X25519PrivateKey.from_private_bytes(random(32)),
            _ed25519.Ed25519PrivateKey.from_private_bytes(random(32)),
        )

    @property
    def public(self) -> PublicIdentity:
        """What others may know."""
        return PublicIdentity(
            self.name, self.sealing.public_key().public_bytes_raw(), self.signing.public_key().public_bytes_raw()
        )

    def save(self, path: Path) -> None:
        """Write the private keys to a new file that only its owner may read.

        Parameters
        ----------
        path : Path
            The file.

        Raises
        ------
        FileExistsError
            Rather than overwrite a key.
        """
        text = _text("private", self.name, self.sealing.private_bytes_raw(), self.signing.private_bytes_raw())
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)

    @classmethod
    def load(cls, path: Path) -> Identity:
        """Read what `save` wrote.

        Parameters
        ----------
        path : Path
            The file.

        Returns
        -------
        PublicIdentity or Identity
            As it was saved.

        Raises
        ------
        IctoError
            If the file is anything else.
        """
        name, sealing, signing = _read("private", path)
        keys = _x25519.X25519PrivateKey, _ed25519.Ed25519PrivateKey
        return cls(name, keys[0].from_private_bytes(sealing), keys[1].from_private_bytes(signing))


def _text(kind: str, name: str, sealing: bytes, signing: bytes) -> str:
    printable_name(name)  # a line feed in it would move the lines below
    keys = [base64.b64encode(k).decode() for k in (sealing, signing)]
    return f"voicewire-icto-{kind}-1\n{name}\n{keys[0]}\n{keys[1]}\n"


def _unmarked(raw: bytes) -> str:
    """Decode a key file that has been through Windows: a mark of UTF-8 or UTF-16 before it, lines that end in CRLF."""
    utf16 = raw[:2] in (b"\xff\xfe", b"\xfe\xff")
    return raw.decode("utf-16" if utf16 else "utf-8-sig").replace("\r\n", "\n")


def _read(kind: str, path: Path) -> tuple[str, bytes, bytes]:
    refused = IctoError(f"{path.name} is not an ICTO {kind} key file")
    try:
        text = _unmarked(path.read_bytes())
        _, name, sealing, signing = text.splitlines()
        keys = [base64.b64decode(k, validate=True) for k in (sealing, signing)]
        again = _text(kind, name, keys[0], keys[1])
    except (ValueError, UnicodeDecodeError):
        raise refused from None
    if again != text or [len(k) for k in keys] != [32, 32]:  # one way only to write it, as with an object
        raise refused
    return name, keys[0], keys[1]


@dataclass(frozen=True)
class Rule:
    """Who may open a part, from when on and until when.

    Attributes
    ----------
    readers : tuple of str
        Names of participants.
    until : int, optional
        Seconds since 1970 UTC, the last one included; None is no limit.
    since : int, optional
        Seconds since 1970 UTC, the first one included; None is at once.

    Examples
    --------
    >>> Rule(("ann",), until=1_700_000_000).readers
    ('ann',)
    """

    readers: tuple[str, ...]
    until: int | None = None
    since: int | None = None


def seal(
    parts: Mapping[str, bytes],
    rules: Mapping[str, Rule],
    participants: Sequence[PublicIdentity],
    owner: Identity,
    *,
    cipher: str = "aes-256-gcm",
    created: int | None = None,
    random: Callable[[int], bytes] = os.urandom,
) -> bytes:
    """Encrypt parts at the point of creation, with their rules, into one object.

    Parameters
    ----------
    parts : mapping of str to bytes
        The data, by name of part.
    rules : mapping of str to Rule
        One for each part.
    participants : sequence of PublicIdentity
        Everybody a rule names.
    owner : Identity
        Who seals. An owner who wants to read must be a participant too.
    cipher : str
        ``"aes-256-gcm"`` or ``"chacha20-poly1305"``.
    created : int, optional
        Seconds since 1970 UTC; now if left out.
    random : callable
        Source of random bytes. Anything but the default is for known-answer tests.

    Returns
    -------
    bytes
        The object: layout in `icto_format`.

    Raises
    ------
    IctoError
        If rules and parts do not fit together, or a name or a time could be read in two ways.

    Examples
    --------
    >>> ann = Identity.create("ann")
    >>> seal({"p": b"hi"}, {"p": Rule(("ann",))}, [ann.public], ann)[:4]
    b'ICTO'
    """
    known = {cipher_name: number for number, cipher_name in CIPHERS.items()}
    if cipher not in known:
        raise IctoError(f"cipher must be one of {', '.join(known)}, not {cipher!r}")
    if set(parts) != set(rules):
        raise IctoError("each part needs exactly one rule: the names of parts and rules differ")
    place = {p.name: i for i, p in enumerate(participants)}
    for name, rule in rules.items():
        strangers = [r for r in rule.readers if r not in place]
        if strangers:
            raise IctoError(f"part {name!r} names {', '.join(strangers)}, who takes no part")
        if rule.until is not None:
            whole_second(rule.until, f"part {name!r}: 'until', where it is not None,", least=1)
        if rule.since is not None:
            whole_second(rule.since, f"part {name!r}: 'since', where it is not None,", least=1)
    keys = {name: random(32) for name in parts}
    ephemeral = _x25519.X25519PrivateKey.from_private_bytes(random(32))
    people = tuple(Participant(p.name, p.sealing) for p in participants)
    # First without ciphertext, to learn the rules' bytes: the ciphers authenticate those.
    blank = Sealed(
        known[cipher], random(16), int(time.time()) if created is None else created,
        owner.public.signing, ephemeral.public_key().public_bytes_raw(), people,
        tuple(
            Part(
                name, rules[name].until or 0, tuple(sorted({place[r] for r in rules[name].readers})), random(12),
                bytes(len(data) + 16), (), rules[name].since or 0,
            )
            for name, data in parts.items()
        ),
        b"",
    )  # fmt: skip
    context = blank.rules()
    sealed = tuple(
        Part(
            p.name, p.until, p.readers, p.nonce,
            _kind(cipher)(keys[p.name]).encrypt(p.nonce, bytes(parts[p.name]), context),
            tuple(
                _kind(cipher)(
                    _envelope_key(ephemeral, people[r].key, people[r].key, blank, p.name)
                ).encrypt(_ENVELOPE_NONCE, keys[p.name], context)
                for r in p.readers
            ),
            p.since,
        )
        for p in blank.parts
    )  # fmt: skip
    body = unsigned(Sealed(**{**blank.__dict__, "parts": sealed}))
    return body + owner.signing.sign(body)


def _envelope_key(own: X25519PrivateKey, other: bytes, reader: bytes, o: Sealed, part: str) -> bytes:
    """HKDF over the shared secret, bound to this object, this reader and this part (RFC 5869, RFC 7748)."""
    try:
        shared = own.exchange(_x25519.X25519PublicKey.from_public_bytes(other))
    except ValueError:
        raise NotAuthenticError("a public key in the object is not a valid X25519 key") from None
    info = b"voicewire icto 1 envelope" + o.ephemeral + reader + part.encode()
    return _hkdf.HKDF(algorithm=_hashes.SHA256(), length=32, salt=o.identity, info=info).derive(shared)


def _authentic(data: bytes, owner: PublicIdentity | None) -> Sealed:
    """Form first, then the owner's signature over every byte; only then is a rule believed."""
    o = decode(bytes(data))
    if owner is not None and owner.signing != o.owner:
        raise NotAuthenticError(f"this object was not sealed by {owner.name}")
    try:
        _ed25519.Ed25519PublicKey.from_public_bytes(o.owner).verify(o.signature, bytes(data[:-64]))
    except (_exceptions.InvalidSignature, ValueError):
        raise NotAuthenticError("the object was changed after its owner signed it; nothing was decrypted") from None
    return o


def open_object(
    data: bytes,
    reader: Identity,
    owner: PublicIdentity,
    *,
    parts: Sequence[str] | None = None,
    now: float | None = None,
) -> dict[str, bytes]:
    """Open parts of an object, all of those asked for or none.

    Parameters
    ----------
    data : bytes
        Exactly one object.
    reader : Identity
        Who opens.
    owner : PublicIdentity
        Who must have sealed it. Without knowing that, a rule would be worth nothing.
    parts : sequence of str, optional
        Which parts; all that the rules give to this reader if left out.
    now : float, optional
        Time to hold against the rules, in seconds since 1970 UTC, finite and not negative; the clock's if left out.

    Returns
    -------
    dict of str to bytes
        What was sealed, by name of part.

    Raises
    ------
    MalformedError, UnknownVersionError
        If it is not one whole object of a known version.
    NotAuthenticError
        If any bit differs from what `owner` signed.
    NotPermittedError, TooEarlyError, ExpiredError
        If the rules say no. Nothing has been decrypted then.
    IctoError
        If `now` is no time.

    See Also
    --------
    voicewire.transport.reference.open_part : the same, to read.

    Examples
    --------
    >>> ann = Identity.create("ann")
    >>> data = seal({"p": b"hi"}, {"p": Rule(("ann",))}, [ann.public], ann)
    >>> open_object(data, ann, ann.public)
    {'p': b'hi'}
    """
    o = _authentic(data, owner)
    me = reader.public.sealing
    number = next((i for i, p in enumerate(o.participants) if p.key == me), None)
    if number is None:
        raise NotPermittedError(f"{reader.name} takes no part in this object")
    mine = [p.name for p in o.parts if number in p.readers]
    wanted = mine if parts is None else list(parts)
    by_name = {p.name: p for p in o.parts}
    denied = [name for name in wanted if name not in mine]
    if denied or not wanted:
        raise NotPermittedError(f"the rules do not let {reader.name} open {', '.join(map(repr, denied)) or 'any part'}")
    moment = _moment(time.time() if now is None else now)
    late = [name for name in wanted if 0 < by_name[name].until < moment]
    if late:
        raise ExpiredError(f"too late to open {', '.join(map(repr, late))}; ask for other parts by name")
    early = [name for name in wanted if by_name[name].since > moment]
    if early:
        raise TooEarlyError(f"too early to open {', '.join(map(repr, early))}; ask for other parts by name")
    opened, context, kind = {}, header(o), _kind(CIPHERS[o.cipher])
    for name in wanted:
        p = by_name[name]
        key = _envelope_key(reader.sealing, o.ephemeral, me, o, name)
        try:
            content_key = kind(key).decrypt(_ENVELOPE_NONCE, p.envelopes[p.readers.index(number)], context)
            opened[name] = kind(content_key).decrypt(p.nonce, p.ciphertext, context)
        except _exceptions.InvalidTag:
            raise NotAuthenticError(f"part {name!r} does not open with this key, though its owner signed it") from None
    return opened


def _moment(now: float) -> float:
    """A time that can be held against the rules: with NaN no comparison is true, so nothing would ever be too late."""
    if isinstance(now, bool) or not isinstance(now, numbers.Real) or not math.isfinite(now) or now < 0:
        raise IctoError(f"'now' must be a time in seconds since 1970, finite and not negative, not {now!r}")
    return float(now)


def inspect(data: bytes, owner: PublicIdentity | None = None) -> dict[str, object]:
    """What anybody may know of an object: its rules and sizes. Needs no private key and decrypts nothing.

    Parameters
    ----------
    data : bytes
        Exactly one object.
    owner : PublicIdentity, optional
        Who must have sealed it.

    Returns
    -------
    dict
        Version, cipher, identity, time of creation, owner's key, participants, parts with their rules, bytes.

    Raises
    ------
    IctoError
        As `open_object` does for form and signature.

    Examples
    --------
    >>> ann = Identity.create("ann")
    >>> data = seal({"p": b"hi"}, {"p": Rule(("ann",), until=99)}, [ann.public], ann)
    >>> inspect(data)["parts"]
    [{'name': 'p', 'bytes': 2, 'readers': ['ann'], 'until': 99}]
    """
    o = _authentic(data, owner)
    return {
        "version": o.version,
        "cipher": CIPHERS[o.cipher],
        "identity": o.identity.hex(),
        "created": o.created,
        "owner": o.owner.hex(),
        "participants": [p.name for p in o.participants],
        "parts": [
            {
                "name": p.name,
                "bytes": len(p.ciphertext) - 16,
                "readers": [o.participants[r].name for r in p.readers],
                "until": p.until or None,
                **({"since": p.since} if p.since else {}),
            }
            for p in o.parts
        ],
        "bytes": len(data),
        "overhead": len(data) - sum(len(p.ciphertext) - 16 for p in o.parts),
    }

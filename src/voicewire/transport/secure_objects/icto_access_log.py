"""An account of who opened what: entries that their readers sign, each bound to the one before it.

An account is bytes, one entry behind the other. All integers are big-endian. The layout of an entry, in order::

    magic        4   "ICTA"
    version      1   1
    number       8   from 0
    time         8   seconds since 1970-01-01 UTC, by the reader's clock
    previous    32   SHA-256 of the whole entry before it; zeros in the first
    object      32   SHA-256 of the object that was opened
    reader      32   Ed25519 public key
    parts        1   N, 1 to 255, then N times: length of name 1, name (UTF-8), sorted and each once
    signature   64   Ed25519 of the reader, over everything before it in this entry

Nobody can write an entry in another's name, and none can be changed, moved or taken out without breaking the chain
behind it. A *witness*, the owner's signature under how far the account had come, guards the end: what it covers can't
be cut off, nor written anew, by the reader whose entries stand last.

What no account can do: a reader who has the keys can open an object with another program, which writes nothing. Only
somebody trusted who holds the keys back until the entry is there could see to that.
Explained in ``notebooks/transport/03_tcp_against_mqtt.ipynb``.
"""

from __future__ import annotations

import hashlib
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from voicewire._kit._optional import Library
from voicewire.transport.secure_objects.icto import Identity, PublicIdentity, open_object
from voicewire.transport.secure_objects.icto_format import LATEST, IctoError, printable_name, whole_second

__all__ = ["AccountError", "Opening", "open_on_account", "verify", "witness"]

_exceptions = Library("cryptography.exceptions")
_ed25519 = Library("cryptography.hazmat.primitives.asymmetric.ed25519")

_HEAD = struct.Struct(">4sBQQ32s32s32sB")
_WITNESS = struct.Struct(">4sBQ32s")
_ENTRY, _SEEN, _VERSION, _SIGNATURE = b"ICTA", b"ICTW", 1, 64


class AccountError(IctoError):
    """An account is not what its readers wrote, or not all of it.

    Examples
    --------
    >>> issubclass(AccountError, IctoError)
    True
    """


@dataclass(frozen=True)
class Opening:
    """One entry of an account that was verified.

    Attributes
    ----------
    reader : str
        Who opened.
    parts : tuple of str
        What, sorted.
    time : int
        When, by the reader's own clock, in seconds since 1970 UTC.
    object : str
        SHA-256 of the object, in hexadecimal digits.

    Examples
    --------
    >>> Opening("ann", ("bill",), 1_700_000_000, "00").reader
    'ann'
    """

    reader: str
    parts: tuple[str, ...]
    time: int
    object: str = field(repr=False)


@dataclass(frozen=True)
class _Entry:
    """An entry as it is written; nothing of it is believed yet."""

    data: bytes
    number: int
    time: int
    previous: bytes
    object: bytes
    reader: bytes
    parts: tuple[str, ...]


def open_on_account(
    data: bytes,
    reader: Identity,
    owner: PublicIdentity,
    account: bytes,
    *,
    parts: Sequence[str] | None = None,
    now: float | None = None,
) -> tuple[dict[str, bytes], bytes]:
    """Open parts of an object, and write it down.

    Parameters
    ----------
    data : bytes
        Exactly one object.
    reader : Identity
        Who opens, and signs the entry.
    owner : PublicIdentity
        Who must have sealed it.
    account : bytes
        The account so far, empty at first. Its form is checked here, its signatures by `verify`.
    parts : sequence of str, optional
        Which parts; all that the rules give to this reader if left out.
    now : float, optional
        Time in seconds since 1970 UTC; the clock's if left out.

    Returns
    -------
    opened : dict of str to bytes
        As `open_object` gives it.
    account : bytes
        With one entry more. A program shows nothing before it has kept this.

    Raises
    ------
    IctoError
        As `open_object`; nothing is written then.
    AccountError
        If `account` is not whole entries, one behind the other; nothing is opened then.

    Examples
    --------
    >>> from voicewire.transport.secure_objects.icto import Rule, seal
    >>> ann = Identity.create("ann")
    >>> data = seal({"p": b"hi"}, {"p": Rule(("ann",))}, [ann.public], ann)
    >>> opened, account = open_on_account(data, ann, ann.public, b"")
    >>> opened, [one.parts for one in verify(account, [ann.public])]
    ({'p': b'hi'}, [('p',)])
    """
    before = _entries(account)
    moment = time.time() if now is None else now
    opened = open_object(data, reader, owner, parts=parts, now=moment)
    when = whole_second(int(moment), "the time of an opening")
    head = _HEAD.pack(
        _ENTRY, _VERSION, len(before), when, _digest(before[-1].data) if before else bytes(32),
        hashlib.sha256(data).digest(), reader.public.signing, len(opened),
    )  # fmt: skip
    body = head + b"".join(bytes([len(raw)]) + raw for raw in (printable_name(name) for name in sorted(opened)))
    return opened, account + body + reader.signing.sign(body)


def _digest(entry: bytes) -> bytes:
    return hashlib.sha256(entry).digest()


def _entries(account: bytes) -> list[_Entry]:
    """Take an account apart; there is one way only to write a given entry."""
    entries: list[_Entry] = []
    at = 0
    while at < len(account):
        entry = _one(account, at, len(entries))
        entries.append(entry)
        at += len(entry.data)
    return entries


def _one(account: bytes, begin: int, number: int) -> _Entry:
    cut = AccountError(f"entry {number} of the account is cut short or is none")
    at = begin + _HEAD.size
    if len(account) < at or account[begin : begin + 5] != _ENTRY + bytes([_VERSION]):
        raise cut
    _, _, said, when, previous, what, reader, n = _HEAD.unpack_from(account, begin)
    names = []
    for _ in range(n):
        end = at + 1 + account[at] if at < len(account) else at + 1
        names.append(account[at + 1 : end])
        at = end
    at += _SIGNATURE
    if at > len(account):
        raise cut
    try:
        parts = tuple(raw.decode() for raw in names)
        same = [printable_name(name) for name in parts] == names
    except ValueError:
        raise cut from None
    if said != number:
        raise AccountError(f"entry {number} says that it is number {said}: one was moved or taken out")
    if not same or not parts or list(parts) != sorted(set(parts)) or when >= LATEST:
        raise cut
    return _Entry(account[begin:at], said, when, previous, what, reader, parts)


def _signed(key: bytes, signature: bytes, body: bytes) -> bool:
    try:
        _ed25519.Ed25519PublicKey.from_public_bytes(key).verify(signature, body)
    except (_exceptions.InvalidSignature, ValueError):
        return False
    return True


def verify(
    account: bytes,
    readers: Sequence[PublicIdentity],
    *,
    seen: bytes | None = None,
    owner: PublicIdentity | None = None,
) -> tuple[Opening, ...]:
    """Read an account, if every entry is its reader's and none is missing.

    Parameters
    ----------
    account : bytes
        As `open_on_account` wrote it.
    readers : sequence of PublicIdentity
        Everybody who may stand in it.
    seen : bytes, optional
        A `witness`, without which nobody can tell that entries were cut off the end.
    owner : PublicIdentity, optional
        Who gave it; needed with `seen`.

    Returns
    -------
    tuple of Opening
        In the order in which they were written.

    Raises
    ------
    AccountError
        Which entry is wrong, and in what.

    See Also
    --------
    voicewire.transport.reference.chained : the same, to read.

    Examples
    --------
    >>> verify(b"", [])
    ()
    """
    entries = _entries(account)
    names = {person.signing: person.name for person in readers}
    if any(names[person.signing] != person.name for person in readers):
        raise AccountError("two readers have the same key to sign with: an entry could be either's")
    previous = bytes(32)
    for entry in entries:
        if entry.previous != previous:
            raise AccountError(f"entry {entry.number} does not follow the one before it: one was changed or taken out")
        if entry.reader not in names:
            raise AccountError(f"entry {entry.number} was written by nobody who is known here")
        if not _signed(entry.reader, entry.data[-_SIGNATURE:], entry.data[:-_SIGNATURE]):
            raise AccountError(f"entry {entry.number} was not signed by {names[entry.reader]}")
        previous = _digest(entry.data)
    if seen is not None:
        _covered(entries, seen, owner)
    return tuple(Opening(names[e.reader], e.parts, e.time, e.object.hex()) for e in entries)


def _covered(entries: list[_Entry], seen: bytes, owner: PublicIdentity | None) -> None:
    if owner is None:
        raise AccountError("a witness says nothing without its owner: name who gave it")
    if len(seen) != _WITNESS.size + _SIGNATURE or seen[:5] != _SEEN + bytes([_VERSION]):
        raise AccountError("this is no witness of an account")
    if not _signed(owner.signing, seen[-_SIGNATURE:], seen[:-_SIGNATURE]):
        raise AccountError(f"the witness was not signed by {owner.name}")
    _, _, number, last = _WITNESS.unpack(seen[:-_SIGNATURE])
    if number > len(entries):
        raise AccountError(f"{number} entries were witnessed, and only {len(entries)} are there: the end was cut off")
    if last != (_digest(entries[number - 1].data) if number else bytes(32)):
        raise AccountError(f"the first {number} entries are not those that were witnessed")


def witness(account: bytes, readers: Sequence[PublicIdentity], owner: Identity) -> bytes:
    """Sign how far an account has come; whoever holds this notices if what it covers is changed or cut off.

    Parameters
    ----------
    account : bytes
        As `open_on_account` wrote it; it is verified first.
    readers : sequence of PublicIdentity
        Everybody who may stand in it.
    owner : Identity
        Who signs.

    Returns
    -------
    bytes
        For `verify`: the number of entries and the SHA-256 of the last, signed.

    Raises
    ------
    AccountError
        As `verify`.

    Examples
    --------
    >>> len(witness(b"", [], Identity.create("owner")))
    109
    """
    number = len(verify(account, readers))
    last = _digest(_entries(account)[-1].data) if number else bytes(32)
    body = _WITNESS.pack(_SEEN, _VERSION, number, last)
    return body + owner.signing.sign(body)

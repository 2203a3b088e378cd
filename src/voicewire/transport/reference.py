"""What crosses a network, and a sealed object, to read: counted, cut, opened.

Nothing here is clever. The chapters are woven from these pieces. The counts
equal those of `transport.overhead_formulas` and of the captures; what opens
here opens with `voicewire.transport.secure_objects.icto`, which refuses more.
"""

from __future__ import annotations

import hashlib
import heapq
import math
import struct
from collections.abc import Iterable
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import (
    X25519PrivateKey,
    X25519PublicKey,
)
from cryptography.hazmat.primitives.ciphers.aead import (
    AESGCM,
    ChaCha20Poly1305,
)
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

# Lines as short as the page of the book is wide.
# fmt: off

__all__ = [
    "arrival",
    "block_option",
    "blocks_of",
    "bytes_of",
    "chained",
    "entries_of",
    "envelope_key",
    "exchange",
    "header_bytes",
    "known_after",
    "made_hops",
    "open_part",
    "parts_of",
    "people_of",
    "readable",
    "sendings",
]


def header_bytes(flags: Iterable[str]) -> int:
    """TCP header bytes of a conversation, from its segments' flags."""
    total = 0
    for flag in flags:
        total += 32  # 20, and 12 of timestamps
        if "S" in flag:
            total += 8  # largest segment, SACK, window scale
    return total


OPEN = [("S", ""), ("SA", "S")]
SESSION = [("CONNECT", "SA"), ("CONNACK", "CONNECT")]
TO_BROKER = [("PUBREC", "PUBLISH"), ("PUBREL", "PUBREC")]
TO_SUBSCRIBER = [("its PUBREC", "to subscriber"), ("release", "its PUBREC")]


def exchange(
    mqtt: bool, qos: int, fresh: bool,
    waits: bool = True, late: tuple[bool, bool] = (True, True),
) -> list[tuple[str, str]]:
    """What crosses the network until the receiver's program has a message."""
    steps = OPEN.copy() if fresh else []
    if not mqtt:
        return [*steps, ("data", "SA" if fresh else "")]
    steps += SESSION if fresh else []
    connected = "CONNACK" if waits else "SA"
    steps.append(("PUBLISH", connected if fresh else ""))
    if qos == 2 and late[0]:
        steps += TO_BROKER
    steps.append(("to subscriber", steps[-1][0]))
    return steps + (TO_SUBSCRIBER if qos == 2 and late[1] else [])


def arrival(steps: list[tuple[str, str]]) -> float:
    """When the last crossing arrives, in round trips."""
    arrived = {"": 0.0}
    for step, after in steps:
        arrived[step] = arrived[after] + 0.5
    return arrived[steps[-1][0]]


def made_hops(
    frames: int, hops: int, each: float, shared: bool
) -> list[float]:
    """When frames that are ready at once have made their hops."""
    free, done = [0.0] * hops, [0.0] * frames
    waiting = [(0.0, number, 0) for number in range(frames)]
    while waiting:
        ready, number, hop = heapq.heappop(waiting)
        medium = 0 if shared else hop
        free[medium] = max(free[medium], ready) + each
        done[number] = free[medium]
        if hop + 1 < hops:
            heapq.heappush(waiting, (done[number], number, hop + 1))
    return done


def block_option(number: int, more: bool, size: int) -> bytes:
    """Which block of a body this is, in CoAP's option Block1."""
    value = number << 4 | more << 3 | size.bit_length() - 5
    return value.to_bytes((value.bit_length() + 7) // 8, "big")


def blocks_of(body: bytes, size: int) -> list[tuple[bytes, bytes]]:
    """Cut a body into blocks, each with its option."""
    return [
        (block_option(at // size, at + size < len(body), size),
         body[at : at + size])
        for at in range(0, len(body), size)
    ]


def sendings(first: float, repeats: int = 4) -> list[float]:
    """When a confirmable message is sent if nobody answers, s."""
    return [first * (2**k - 1) for k in range(repeats + 1)]


def known_after(lost: Iterable[bool], first: float, rtt: float) -> float:
    """When the sender knows that its message arrived, s."""
    for sent, gone in zip(sendings(first), lost, strict=False):
        if not gone:
            return sent + rtt
    return math.inf


def people_of(data: bytes) -> tuple[list[bytes], int]:
    """The participants' keys in a sealed object, and where they end."""
    keys, at = [], 100
    for _ in range(data[6]):  # so many participants
        at += 1 + data[at]  # behind the name
        keys.append(data[at : at + 32])
        at += 32
    return keys, at


RULE = struct.Struct(">QI12sB")  # until, size, nonce, number of readers
CIPHERS: dict[int, type[AESGCM | ChaCha20Poly1305]] = {
    1: AESGCM, 2: ChaCha20Poly1305,
}


def parts_of(data: bytes) -> tuple[dict[str, tuple[Any, ...]], int]:
    """Each part's rules, and where they end."""
    at, rules = people_of(data)[1], {}
    more = 8 * (data[4] - 1)  # in version 2 also since when
    for _ in range(data[7]):  # so many parts
        end = at + 1 + data[at]
        name = data[at + 1 : end].decode()
        since = int.from_bytes(data[end : end + more], "big")
        end += more
        until, size, nonce, n = RULE.unpack(data[end : end + 25])
        at = end + 25 + n
        rules[name] = since, until, size, nonce, tuple(data[end + 25 : at])
    return rules, at


def bytes_of(data: bytes, wanted: str) -> tuple[list[bytes], bytes]:
    """A part's envelopes, one for each of its readers, and its ciphertext."""
    rules, at = parts_of(data)
    envelopes, texts = {}, {}
    for name, (*_, readers) in rules.items():
        end = at + 48 * len(readers)
        envelopes[name] = [data[i : i + 48] for i in range(at, end, 48)]
        at = end
    for name, (_, _, size, *_) in rules.items():
        texts[name] = data[at : at + size]
        at += size
    return envelopes[wanted], texts[wanted]


def envelope_key(data: bytes, own: X25519PrivateKey, name: str) -> bytes:
    """The key of a reader's envelope, from a secret that only two have."""
    identity, ephemeral = data[12:28], data[68:100]
    secret = own.exchange(X25519PublicKey.from_public_bytes(ephemeral))
    me = own.public_key().public_bytes_raw()
    info = b"voicewire icto 1 envelope" + ephemeral + me + name.encode()
    return HKDF(hashes.SHA256(), 32, identity, info).derive(secret)


def readable(
    data: bytes, own: X25519PrivateKey, owner: bytes, name: str, now: float
) -> int:
    """Whether a part may be opened, and which of its envelopes is ours."""
    key = Ed25519PublicKey.from_public_bytes(owner)
    try:
        key.verify(data[-64:], data[:-64])
    except InvalidSignature:
        raise ValueError("not signed by the owner") from None
    since, until, _, _, readers = parts_of(data)[0][name]
    me = people_of(data)[0].index(own.public_key().public_bytes_raw())
    due = since <= now < math.inf and not 0 < until < now
    if not due or me not in readers:
        raise ValueError("no reader of this part" if due else "not now")
    return readers.index(me)


def open_part(
    data: bytes, own: X25519PrivateKey, owner: bytes, name: str, now: float
) -> bytes:
    """Open one part of a sealed object."""
    number = readable(data, own, owner, name, now)
    rules, end = parts_of(data)
    signed = data[:8] + bytes(4) + data[12:end]  # sealed without its length
    envelopes, ciphertext = bytes_of(data, name)
    cipher = CIPHERS[data[5]]
    wrapping = cipher(envelope_key(data, own, name))
    key = wrapping.decrypt(bytes(12), envelopes[number], signed)
    return cipher(key).decrypt(rules[name][3], ciphertext, signed)


def entries_of(account: bytes) -> list[bytes]:
    """The entries of an account of openings, one behind the other."""
    entries, begin = [], 0
    while begin < len(account):
        end = begin + 118
        for _ in range(account[end - 1]):  # so many names
            end += 1 + account[end]
        entries.append(account[begin : end + 64])
        begin = end + 64
    return entries


def chained(account: bytes) -> list[tuple[bytes, bytes]]:
    """Who opened what, if each entry is signed and none is missing."""
    last, found = bytes(32), []
    for entry in entries_of(account):
        previous, opened, reader = entry[21:53], entry[53:85], entry[85:117]
        key = Ed25519PublicKey.from_public_bytes(reader)
        key.verify(entry[-64:], entry[:-64])
        if previous != last:
            raise ValueError("an entry is missing, or was changed")
        last = hashlib.sha256(entry).digest()
        found.append((reader, opened))
    return found

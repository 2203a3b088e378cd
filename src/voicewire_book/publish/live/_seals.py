"""Stands in a page for `cryptography`: the same seals and signatures in plain Python, to be read and to be tried.

Not for secrets: it takes its time by what the keys are, and some hundred times longer than a library. Where
`cryptography` can be had, nothing here is used. AES-GCM is NIST SP 800-38D, ChaCha20-Poly1305 RFC 8439, HKDF RFC 5869.
"""

from __future__ import annotations

import hmac
import importlib
import struct
import sys
import types
from dataclasses import dataclass
from typing import Any, Final

from voicewire_book.publish.live._curves import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
    InvalidSignature,
    X25519PrivateKey,
    X25519PublicKey,
    sized,
)

__all__ = ["install"]

TAG: Final = 16  # bytes


class InvalidTag(Exception):  # noqa: N818 - as the library names it
    """What was sealed, or what goes with it, has been changed; or the key is another."""


def _xor(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=False))


def _doubled(a: int) -> int:
    """Return 2a in GF(2^8), modulo x^8 + x^4 + x^3 + x + 1."""
    return (a << 1 ^ 0x1B) & 0xFF if a & 0x80 else a << 1


def _boxed() -> bytes:
    """Return the S-box: the inverse in GF(2^8), turned and added to itself."""
    box, p, q = bytearray(256), 1, 1
    while True:  # p runs through the powers of 3, q through those of its inverse
        p = p ^ _doubled(p)
        q ^= q << 1
        q ^= q << 2
        q ^= q << 4
        q = (q & 0xFF) ^ (0x09 if q & 0x80 else 0)
        turned = [(q << k | q >> (8 - k)) & 0xFF for k in range(5)]
        box[p] = turned[0] ^ turned[1] ^ turned[2] ^ turned[3] ^ turned[4] ^ 0x63
        if p == 1:
            break
    box[0] = 0x63
    return bytes(box)


BOX: Final = _boxed()


def _round_keys(key: bytes) -> list[bytes]:
    words = [key[i : i + 4] for i in range(0, len(key), 4)]
    n, constant = len(words), 1
    for i in range(n, 4 * (n + 7)):
        word = words[-1]
        if i % n == 0:
            word = bytes(BOX[b] for b in word[1:] + word[:1])
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = _doubled(constant)
        elif n > 6 and i % n == 4:
            word = bytes(BOX[b] for b in word)
        words.append(_xor(words[i - n], word))
    return [b"".join(words[i : i + 4]) for i in range(0, len(words), 4)]


def _mixed() -> list[list[int]]:
    """Return, for each row, what a byte of it becomes in its column: substituted and mixed, as 32 bits."""
    tables: list[list[int]] = [[] for _ in range(4)]
    for held in BOX:
        column = [_doubled(held), held, held, _doubled(held) ^ held]
        for row, table in enumerate(tables):
            table.append(int.from_bytes(bytes(column[(i - row) % 4] for i in range(4)), "big"))
    return tables


MIXED: Final = _mixed()


def _block(keys: list[bytes], data: bytes) -> bytes:
    """Encrypt sixteen bytes: each column takes its four bytes from the four columns at its right."""
    first, second, third, fourth = MIXED
    state = _xor(data, keys[0])
    for key in keys[1:-1]:
        made = b"".join(
            (first[state[i]] ^ second[state[i - 11]] ^ third[state[i - 6]] ^ fourth[state[i - 1]]).to_bytes(4, "big")
            for i in (0, 4, 8, 12)
        )
        state = _xor(made, key)
    return _xor(bytes(BOX[state[i * 5 % 16]] for i in range(16)), keys[-1])


class _Aead:
    """What both ciphers share: a nonce of twelve bytes, and a tag behind what was encrypted."""

    sizes: tuple[int, ...] = (32,)

    def __init__(self, key: bytes) -> None:
        self._key = sized("a key", key, *self.sizes)

    def _pass(self, nonce: bytes, data: bytes, also: bytes, sealing: bool) -> tuple[bytes, bytes]:
        raise NotImplementedError

    def encrypt(self, nonce: bytes, data: bytes, associated_data: bytes | None) -> bytes:
        """Return what is sealed, and its tag."""
        return b"".join(self._pass(sized("a nonce", nonce, 12), bytes(data), bytes(associated_data or b""), True))

    def decrypt(self, nonce: bytes, data: bytes, associated_data: bytes | None) -> bytes:
        """Return what was sealed; raise `InvalidTag` if anything differs."""
        if len(data) < TAG:
            raise InvalidTag
        text, tag = bytes(data[:-TAG]), bytes(data[-TAG:])
        found, meant = self._pass(sized("a nonce", nonce, 12), text, bytes(associated_data or b""), False)
        if not hmac.compare_digest(tag, meant):
            raise InvalidTag
        return found


class AESGCM(_Aead):
    """AES in counter mode, with a tag over GF(2^128)."""

    sizes = (16, 24, 32)

    def _pass(self, nonce: bytes, data: bytes, also: bytes, sealing: bool) -> tuple[bytes, bytes]:
        keys = _round_keys(self._key)
        blocks = range((len(data) + 15) // 16)
        stream = b"".join(_block(keys, nonce + (n + 2).to_bytes(4, "big")) for n in blocks)
        made = _xor(data, stream)
        times = _multiples(int.from_bytes(_block(keys, bytes(16)), "big"))
        tag = 0
        padded = b"".join(part + bytes(-len(part) % 16) for part in (also, made if sealing else data))
        padded += struct.pack(">QQ", 8 * len(also), 8 * len(data))
        for i in range(0, len(padded), 16):
            tag = _times(tag ^ int.from_bytes(padded[i : i + 16], "big"), times)
        return made, _xor(tag.to_bytes(16, "big"), _block(keys, nonce + b"\0\0\0\1"))


def _multiples(h: int) -> list[int]:
    """Return h times the powers 0 to 127 in GF(2^128), modulo x^128 + x^7 + x^2 + x + 1; the first bit is power 0."""
    found = []
    for _ in range(128):
        found.append(h)
        h = h >> 1 ^ (0xE1 << 120 if h & 1 else 0)
    return found


def _times(a: int, multiples: list[int]) -> int:
    """Multiply by what the multiples are of."""
    found = 0
    for bit, multiple in zip(f"{a:0128b}", multiples, strict=True):
        if bit == "1":
            found ^= multiple
    return found


class ChaCha20Poly1305(_Aead):
    """A stream of additions, turns and exclusive ors, with a tag modulo 2^130 - 5."""

    def _pass(self, nonce: bytes, data: bytes, also: bytes, sealing: bool) -> tuple[bytes, bytes]:
        stream = b"".join(_chacha(self._key, n, nonce) for n in range(1, (len(data) + 63) // 64 + 1))
        made = _xor(data, stream)
        once = _chacha(self._key, 0, nonce)
        r = int.from_bytes(once[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
        tag = 0
        padded = b"".join(part + bytes(-len(part) % 16) for part in (also, made if sealing else data))
        padded += struct.pack("<QQ", len(also), len(data))
        for i in range(0, len(padded), 16):
            tag = (tag + int.from_bytes(padded[i : i + 16] + b"\1", "little")) * r % (2**130 - 5)
        return made, ((tag + int.from_bytes(once[16:32], "little")) % 2**128).to_bytes(16, "little")


def _chacha(key: bytes, count: int, nonce: bytes) -> bytes:
    start = [*struct.unpack("<4I", b"expand 32-byte k"), *struct.unpack("<8I", key), count]
    start += struct.unpack("<3I", nonce)
    x = list(start)
    quarters = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)]
    quarters += [(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]
    for _ in range(10):
        for a, b, c, d in quarters:
            for to, of, on, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                x[to] = (x[to] + x[of]) & 0xFFFFFFFF
                y = x[on] ^ x[to]
                x[on] = (y << turn | y >> (32 - turn)) & 0xFFFFFFFF
    return struct.pack("<16I", *((i + j) & 0xFFFFFFFF for i, j in zip(x, start, strict=True)))


@dataclass(frozen=True)
class AES:
    """A key for `Cipher`."""

    key: bytes


@dataclass(frozen=True)
class CTR:
    """Where `Cipher` begins to count."""

    nonce: bytes


class _SHA256:
    """The hash that is asked for here."""


class HKDF:
    """A key out of a shared secret, by SHA-256."""

    def __init__(self, algorithm: object, length: int, salt: bytes | None, info: bytes | None) -> None:
        self._length, self._salt, self._info = length, salt or bytes(32), info or b""

    def derive(self, key_material: bytes) -> bytes:
        """Return the key."""
        root = hmac.digest(self._salt, key_material, "sha256")
        made, last = b"", b""
        for count in range(1, (self._length + 31) // 32 + 1):
            last = hmac.digest(root, last + self._info + bytes([count]), "sha256")
            made += last
        return made[: self._length]


class Cipher:
    """AES in counter mode, without a tag."""

    def __init__(self, algorithm: AES, mode: CTR) -> None:
        self._keys, self._count = _round_keys(algorithm.key), int.from_bytes(mode.nonce, "big")

    def encryptor(self) -> Cipher:
        """Return what encrypts."""
        return self

    def finalize(self) -> bytes:
        """Return what is left: nothing."""
        return b""

    def update(self, data: bytes) -> bytes:
        """Encrypt all of it: it is asked once."""
        blocks = range((len(data) + 15) // 16)
        counts = [((self._count + n) % 2**128).to_bytes(16, "big") for n in blocks]
        return _xor(data, b"".join(_block(self._keys, count) for count in counts))


HELD: Final[dict[str, dict[str, Any]]] = {
    "exceptions": {"InvalidSignature": InvalidSignature, "InvalidTag": InvalidTag},
    "hazmat.primitives.hashes": {"SHA256": _SHA256},
    "hazmat.primitives.asymmetric.ed25519": {
        "Ed25519PrivateKey": Ed25519PrivateKey, "Ed25519PublicKey": Ed25519PublicKey,
    },
    "hazmat.primitives.asymmetric.x25519": {"X25519PrivateKey": X25519PrivateKey, "X25519PublicKey": X25519PublicKey},
    "hazmat.primitives.ciphers": {"Cipher": Cipher},
    "hazmat.primitives.ciphers.aead": {"AESGCM": AESGCM, "ChaCha20Poly1305": ChaCha20Poly1305},
    "hazmat.primitives.ciphers.algorithms": {"AES": AES},
    "hazmat.primitives.ciphers.modes": {"CTR": CTR},
    "hazmat.primitives.kdf.hkdf": {"HKDF": HKDF},
}  # fmt: skip
"""By the module of `cryptography` in which they are found."""


def install() -> None:
    """Let the names that the book imports of `cryptography` be these, if it is not there."""
    for name, held in HELD.items():
        module = types.ModuleType(f"cryptography.{name}")
        module.__dict__.update(held, __path__=[])
        sys.modules.setdefault(module.__name__, module)
    for name in HELD:  # `from package import module` asks the package first
        package, _, last = f"cryptography.{name}".rpartition(".")
        setattr(importlib.import_module(package), last, sys.modules[f"{package}.{last}"])

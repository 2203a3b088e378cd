"""Keys on curves in plain Python, for a page where `cryptography` is not there: to be read and to be tried.

Not for secrets: it takes its time by what the keys are. X25519 is RFC 7748, Ed25519 RFC 8032.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

P: Final = 2**255 - 19  # of both curves
ORDER: Final = 2**252 + 27742317777372353535851937790883648493  # of Ed25519's group
D: Final = -121665 * pow(121666, -1, P) % P  # of Ed25519's curve, -x^2 + y^2 = 1 + d x^2 y^2


class InvalidSignature(Exception):  # noqa: N818 - as the library names it
    """Another key signed it, or it has been changed."""


def sized(name: str, data: bytes, *sizes: int) -> bytes:
    if len(data) not in sizes:
        raise ValueError(f"{name} has {len(data)} bytes: {' or '.join(map(str, sizes))} are needed")
    return bytes(data)


@lru_cache(maxsize=256)  # a reader's public key is asked for again and again
def _ladder(scalar: bytes, u: bytes) -> bytes:
    """Return the multiple of a point of Curve25519, by Montgomery's ladder."""
    k = int.from_bytes(scalar, "little") & ~7 & (2**255 - 1) | 2**254
    x1 = int.from_bytes(u, "little") & (2**255 - 1)
    x2, z2, x3, z3 = 1, 0, x1, 1
    for i in range(254, -1, -1):
        if k >> i & 1:
            x2, z2, x3, z3 = x3, z3, x2, z2
        plus, minus = (x2 + z2) % P, (x2 - z2) % P
        aa, bb = plus * plus % P, minus * minus % P
        one, other = (x3 - z3) * plus % P, (x3 + z3) * minus % P
        x3, z3 = (one + other) ** 2 % P, x1 * (one - other) ** 2 % P
        x2, z2 = aa * bb % P, (aa - bb) * (aa + 121665 * (aa - bb)) % P
        if k >> i & 1:
            x2, z2, x3, z3 = x3, z3, x2, z2
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


@dataclass(frozen=True)
class _Public:
    _key: bytes

    @classmethod
    def from_public_bytes(cls, data: bytes) -> Any:
        """Return a key of 32 bytes."""
        return cls(sized("a key", data, 32))

    def public_bytes_raw(self) -> bytes:
        """Return its 32 bytes."""
        return self._key


@dataclass(frozen=True)
class _Private:
    _key: bytes

    @classmethod
    def from_private_bytes(cls, data: bytes) -> Any:
        """Return a key of 32 bytes."""
        return cls(sized("a key", data, 32))

    @classmethod
    def generate(cls) -> Any:
        """Return a new key."""
        return cls(os.urandom(32))

    def private_bytes_raw(self) -> bytes:
        """Return its 32 bytes."""
        return self._key


class X25519PublicKey(_Public):
    """A reader's key."""


class X25519PrivateKey(_Private):
    """A reader's secret."""

    def public_key(self) -> X25519PublicKey:
        """Return what others may know."""
        return X25519PublicKey(_ladder(self._key, (9).to_bytes(32, "little")))

    def exchange(self, peer: X25519PublicKey) -> bytes:
        """Return what both sides know."""
        shared = _ladder(self._key, peer.public_bytes_raw())
        if not any(shared):
            raise ValueError("Error computing shared key.")
        return shared


Point = tuple[int, int, int, int]  # x, y, z, x y / z
_Y: Final = 4 * pow(5, -1, P) % P


def _x(y: int, odd: int) -> int:
    """Return the x that goes with a y."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P or (not x and odd):
        raise ValueError("no point of the curve")
    return P - x if x % 2 != odd else x


BASE: Final[Point] = (_x(_Y, 0), _Y, 1, _x(_Y, 0) * _Y % P)


def _plus(p: Point, q: Point) -> Point:
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


@lru_cache(maxsize=64)  # the base and the few keys of a page
def _doublings(p: Point) -> list[Point]:
    """Return 1, 2, 4, ... 2^255 times a point."""
    found = [p]
    while len(found) < 256:
        found.append(_plus(found[-1], found[-1]))
    return found


def _multiple(k: int, p: Point) -> Point:
    found: Point = (0, 1, 1, 0)
    for place, point in enumerate(_doublings(p)):
        if k >> place & 1:
            found = _plus(found, point)
    return found


def _written(p: Point) -> bytes:
    z = pow(p[2], -1, P)
    x, y = p[0] * z % P, p[1] * z % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _read(data: bytes) -> Point:
    whole = int.from_bytes(data, "little")
    y = whole & (2**255 - 1)
    if y >= P:
        raise ValueError("no point of the curve")
    x = _x(y, whole >> 255)
    return x, y, 1, x * y % P


def _hashed(*parts: bytes) -> int:
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little") % ORDER


@lru_cache(maxsize=256)
def _own(key: bytes) -> tuple[int, bytes, bytes]:
    """Return the number that signs, what makes its nonces, and the public key."""
    digest = hashlib.sha512(key).digest()
    a = int.from_bytes(digest[:32], "little") & ~7 & (2**255 - 1) | 2**254
    return a, digest[32:], _written(_multiple(a, BASE))


class Ed25519PublicKey(_Public):
    """Whose signature it must be."""

    def verify(self, signature: bytes, data: bytes) -> None:
        """Raise `InvalidSignature` unless this key signed these bytes."""
        try:
            s = int.from_bytes(sized("a signature", signature, 64)[32:], "little")
            left = _multiple(s, BASE)
            right = _plus(_read(signature[:32]), _multiple(_hashed(signature[:32], self._key, data), _read(self._key)))
        except ValueError:
            raise InvalidSignature from None
        if s >= ORDER or _written(left) != _written(right):
            raise InvalidSignature


class Ed25519PrivateKey(_Private):
    """Who signs."""

    def public_key(self) -> Ed25519PublicKey:
        """Return what others may know."""
        return Ed25519PublicKey(_own(self._key)[2])

    def sign(self, data: bytes) -> bytes:
        """Return a signature of 64 bytes; the same bytes give the same one."""
        a, prefix, public = _own(self._key)
        r = _hashed(prefix, data)
        point = _written(_multiple(r, BASE))
        k = _hashed(point, public, data)
        return point + ((r + k * a) % ORDER).to_bytes(32, "little")

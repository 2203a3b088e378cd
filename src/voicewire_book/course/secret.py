"""The instructor's secret: 128 bits that are drawn, and a generator for each purpose that tells of no other.

Papers and hidden tests are made from it. Whoever holds a paper may try every secret that somebody would think of, a
million of them in minutes, so a secret is drawn and never chosen. For each part and purpose a key is derived by HMAC:
what becomes known of one paper, down to the state of its generator, says nothing about the others.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

import numpy as np

from voicewire_book.course.key import GradingError

__all__ = ["checked", "draw", "generator"]

BYTES = 16
_LEAST = 8  # different digits: of a billion that are drawn, some thirty have fewer


def draw() -> str:
    """Return a new secret."""
    while True:
        drawn = secrets.token_hex(BYTES)
        if len(set(drawn)) >= _LEAST:
            return drawn


def checked(given: object) -> str:
    """Return a secret as it is written."""
    text = given.strip().lower() if isinstance(given, str) else str(given)
    instead = "without one, a new one is drawn and printed"
    wanted = f"a seed has {2 * BYTES} hexadecimal digits"
    if not isinstance(given, str) or len(text) != 2 * BYTES:
        raise GradingError(f"{wanted}, and this has {len(text)} characters: {instead}")
    if not set(text) <= set("0123456789abcdef"):
        raise GradingError(f"{wanted}, 0 to 9 and a to f, and this has others: {instead}")
    if len(set(text)) < _LEAST:
        few = f"this seed has {len(set(text))} different digits, too few for one that was drawn"
        raise GradingError(f"{few}: it can be guessed; {instead}")
    return text


def generator(secret: str, purpose: str) -> np.random.Generator:
    """Return the generator for one purpose: what is drawn for one part does not hang on which others are written."""
    key = hmac.digest(bytes.fromhex(checked(secret)), purpose.encode(), hashlib.sha256)
    return np.random.default_rng(int.from_bytes(key))

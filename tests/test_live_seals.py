"""The page's own seals and signatures are those of `cryptography`, byte for byte, and refuse what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ed25519, x25519
from cryptography.hazmat.primitives.ciphers import Cipher, aead, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire_book.publish.live import _curves as curves
from voicewire_book.publish.live import _seals as seals

pytestmark = pytest.mark.landing

KEY = st.binary(min_size=32, max_size=32)
NONCE = st.binary(min_size=12, max_size=12)
TEXT = st.binary(max_size=150)


@settings(deadline=None)
@given(KEY, st.sampled_from([16, 24, 32]), NONCE, TEXT, st.none() | TEXT, st.integers(0, 1 << 20))
def test_ciphers(key: bytes, size: int, nonce: bytes, text: bytes, also: bytes | None, place: int) -> None:
    pairs: list[tuple[Any, Any]] = [
        (seals.AESGCM(key[:size]), aead.AESGCM(key[:size])), (seals.ChaCha20Poly1305(key), aead.ChaCha20Poly1305(key)),
    ]  # fmt: skip
    for ours, theirs in pairs:
        made = ours.encrypt(nonce, text, also)
        assert made == theirs.encrypt(nonce, text, also)
        assert ours.decrypt(nonce, made, also) == text
        other = bytearray(made)
        other[place % len(made)] ^= 1 << place % 8
        with pytest.raises(seals.InvalidTag):
            ours.decrypt(nonce, bytes(other), also)
        with pytest.raises(seals.InvalidTag):
            ours.decrypt(nonce, made, (also or b"") + b"more")
    counted = Cipher(algorithms.AES(key[:size]), modes.CTR(key[:16])).encryptor()
    ours_counted = seals.Cipher(seals.AES(key[:size]), seals.CTR(key[:16])).encryptor()
    assert ours_counted.update(text) + ours_counted.finalize() == counted.update(text) + counted.finalize()


@settings(deadline=None, max_examples=30)
@given(KEY, KEY, TEXT, st.integers(0, 1 << 20))
def test_curves(one: bytes, other: bytes, text: bytes, place: int) -> None:
    ours, theirs = curves.X25519PrivateKey.from_private_bytes(one), x25519.X25519PrivateKey.from_private_bytes(one)
    peer = x25519.X25519PrivateKey.from_private_bytes(other).public_key()
    assert ours.public_key().public_bytes_raw() == theirs.public_key().public_bytes_raw()
    assert ours.exchange(curves.X25519PublicKey.from_public_bytes(peer.public_bytes_raw())) == theirs.exchange(peer)
    signer = curves.Ed25519PrivateKey.from_private_bytes(one)
    signing = ed25519.Ed25519PrivateKey.from_private_bytes(one)
    assert signer.public_key().public_bytes_raw() == signing.public_key().public_bytes_raw()
    signature = signer.sign(text)
    assert signature == signing.sign(text)
    signer.public_key().verify(signature, text)
    wrong = bytearray(signature)
    wrong[place % 64] ^= 1 << place % 8
    for bad, said in ((bytes(wrong), text), (signature, text + b"."), (signature[:63], text)):
        with pytest.raises(curves.InvalidSignature):
            signer.public_key().verify(bad, said)
    derived = seals.HKDF(hashes.SHA256(), 70, one, text).derive(other)
    assert derived == HKDF(hashes.SHA256(), 70, one, text).derive(other)


def test_what_has_the_wrong_size_is_refused() -> None:
    with pytest.raises(ValueError, match="a key has 5 bytes: 16 or 24 or 32 are needed"):
        seals.AESGCM(bytes(5))
    with pytest.raises(ValueError, match="a nonce has 1 bytes: 12 are needed"):
        seals.ChaCha20Poly1305(bytes(32)).encrypt(b"1", b"", None)
    with pytest.raises(ValueError, match="Error computing shared key"):
        curves.X25519PrivateKey(bytes(32)).exchange(curves.X25519PublicKey(bytes(32)))
    with pytest.raises(seals.InvalidTag):
        seals.AESGCM(bytes(16)).decrypt(bytes(12), b"short", None)

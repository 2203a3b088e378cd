"""An account of openings: what was opened stands in it, and whatever was done to it afterwards is told."""

from __future__ import annotations

import hashlib
import itertools

import pytest
from cryptography.exceptions import InvalidSignature
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.transport import reference as r
from voicewire.transport.secure_objects.icto import Identity, NotPermittedError, PublicIdentity, Rule, seal
from voicewire.transport.secure_objects.icto_access_log import AccountError, Opening, open_on_account, verify, witness
from voicewire.transport.secure_objects.icto_format import IctoError, MalformedError

OWNER, ANN, BOB = (Identity.create(name) for name in ("owner", "ann", "bob"))
READERS = [ANN.public, BOB.public]
EVE = Identity.create("eve").public
NOW = 1_800_000_000
DATA = seal(
    {"reading": b"36.6", "bill": b"17.20"}, {"reading": Rule(("ann",)), "bill": Rule(("ann", "bob"))}, READERS, OWNER
)
OTHER = seal({"bill": b"3.10"}, {"bill": Rule(("bob",))}, READERS, OWNER)
MADE = [(DATA, ANN, None), (DATA, BOB, None), (OTHER, BOB, ["bill"]), (DATA, ANN, ["bill"])]


def kept(made: list[tuple[bytes, Identity, list[str] | None]] = MADE) -> bytes:
    account = b""
    for second, (data, reader, parts) in enumerate(made):
        _, account = open_on_account(data, reader, OWNER.public, account, parts=parts, now=NOW + second + 0.5)
    return account


ACCOUNT = kept()
ENDS = [len(kept(MADE[:n])) for n in range(len(MADE) + 1)]


def test_who_opened_what_and_when() -> None:
    objects = [hashlib.sha256(data).hexdigest() for data, _, _ in MADE]
    assert verify(ACCOUNT, READERS) == (
        Opening("ann", ("bill", "reading"), NOW, objects[0]), Opening("bob", ("bill",), NOW + 1, objects[1]),
        Opening("bob", ("bill",), NOW + 2, objects[2]), Opening("ann", ("bill",), NOW + 3, objects[3]),
    )  # fmt: skip
    assert [one.object for one in verify(ACCOUNT, READERS)] == objects


def test_the_steps_on_the_page_read_the_same() -> None:
    names = {person.signing: person.name for person in READERS}
    found = [(names[reader], opened.hex()) for reader, opened in r.chained(ACCOUNT)]
    assert found == [(one.reader, one.object) for one in verify(ACCOUNT, READERS)]
    assert r.entries_of(ACCOUNT) == [ACCOUNT[a:b] for a, b in itertools.pairwise(ENDS)]
    with pytest.raises(ValueError, match="missing"):
        r.chained(ACCOUNT[ENDS[1] :])
    for at in range(5, len(ACCOUNT), 11):
        changed = ACCOUNT[:at] + bytes([ACCOUNT[at] ^ 1]) + ACCOUNT[at + 1 :]
        with pytest.raises((ValueError, InvalidSignature, IndexError)):
            r.chained(changed)


def test_nothing_is_written_of_what_is_not_opened() -> None:
    with pytest.raises(NotPermittedError):
        open_on_account(DATA, BOB, OWNER.public, ACCOUNT, parts=["reading"], now=NOW)
    with pytest.raises(MalformedError, match="the time of an opening"):
        open_on_account(DATA, ANN, OWNER.public, b"", now=2.0**60)
    with pytest.raises(AccountError, match="entry 0 .* cut short"):
        open_on_account(DATA, ANN, OWNER.public, b"not an account", now=NOW)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 8 * len(ACCOUNT) - 1))
def test_any_changed_bit_is_told(bit: int) -> None:
    changed = bytearray(ACCOUNT)
    changed[bit // 8] ^= 1 << bit % 8
    with pytest.raises(AccountError, match=r"^entry [0-3] "):
        verify(bytes(changed), READERS)


@settings(deadline=None)
@given(st.integers(0, len(ACCOUNT)))
def test_a_cut_within_an_entry_is_told_without_a_witness(length: int) -> None:
    if length in ENDS:
        assert len(verify(ACCOUNT[:length], READERS)) == ENDS.index(length)
    else:
        with pytest.raises(AccountError, match="cut short"):
            verify(ACCOUNT[:length], READERS)


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), max_size=5))
def test_entries_moved_doubled_or_taken_out_are_told(order: list[int]) -> None:
    pieces = [ACCOUNT[a:b] for a, b in itertools.pairwise(ENDS)]
    shuffled = b"".join(pieces[i] for i in order)
    if order == list(range(len(order))):
        assert len(verify(shuffled, READERS)) == len(order)
    else:
        with pytest.raises(AccountError):
            verify(shuffled, READERS)


def test_a_witness_guards_the_end() -> None:
    seen = witness(ACCOUNT[: ENDS[3]], READERS, OWNER)
    assert len(verify(ACCOUNT, READERS, seen=seen, owner=OWNER.public)) == 4
    with pytest.raises(AccountError, match="3 entries were witnessed, and only 2 are there"):
        verify(ACCOUNT[: ENDS[2]], READERS, seen=seen, owner=OWNER.public)
    # the last reader writes another entry in the place of his own: the chain alone cannot tell
    _, again = open_on_account(DATA, BOB, OWNER.public, ACCOUNT[: ENDS[2]], now=NOW + 9)
    assert len(verify(again, READERS)) == 3
    with pytest.raises(AccountError, match="the first 3 entries are not those"):
        verify(again, READERS, seen=seen, owner=OWNER.public)
    empty = witness(b"", READERS, OWNER)
    assert verify(ACCOUNT, READERS, seen=empty, owner=OWNER.public) == verify(ACCOUNT, READERS)


def test_a_witness_is_the_owners() -> None:
    seen = witness(ACCOUNT, READERS, BOB)
    with pytest.raises(AccountError, match="not signed by owner"):
        verify(ACCOUNT, READERS, seen=seen, owner=OWNER.public)
    with pytest.raises(AccountError, match="name who gave it"):
        verify(ACCOUNT, READERS, seen=seen)
    for broken in (b"", seen[:-1], b"ICTX" + seen[4:]):
        with pytest.raises(AccountError, match="no witness"):
            verify(ACCOUNT, READERS, seen=broken, owner=BOB.public)
    with pytest.raises(AccountError):
        witness(ACCOUNT[5:], READERS, OWNER)


def test_nobody_writes_in_anothers_name() -> None:
    with pytest.raises(AccountError, match="entry 1 was written by nobody"):
        verify(ACCOUNT, [ANN.public])
    with pytest.raises(AccountError, match="two readers have the same key to sign with"):
        verify(ACCOUNT, [*READERS, PublicIdentity("eve", EVE.sealing, ANN.public.signing)])
    assert verify(ACCOUNT, [*READERS, ANN.public]) == verify(ACCOUNT, READERS)  # the same person, named twice
    mallory = Identity("ann", ANN.sealing, BOB.signing)  # reads with one key, signs with another
    _, forged = open_on_account(DATA, mallory, OWNER.public, b"", now=NOW)
    with pytest.raises(AccountError, match="written by nobody"):
        verify(forged, [ANN.public])
    at = forged.index(BOB.public.signing)
    forged = forged[:at] + ANN.public.signing + forged[at + 32 :]
    with pytest.raises(AccountError, match="not signed by ann"):
        verify(forged, [ANN.public])


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_arbitrary_bytes_are_no_account(data: bytes) -> None:
    for account in (data, b"ICTA\x01" + data):
        if account:
            with pytest.raises(IctoError):
                verify(account, READERS)

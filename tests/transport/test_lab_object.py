"""The lab on sealed objects in every state: the solution stage by stage, nothing, and each usual mistake."""

from __future__ import annotations

import math

import numpy as np
import pytest
from asking import of
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from voicewire.transport.reference import CIPHERS, bytes_of, envelope_key, parts_of, people_of
from voicewire_book.chapters.transport.exercises import which_transport as lab


def other(one, two, known):
    return bytes(a ^ b ^ c for a, b, c in zip(one, two, known, strict=True))


def forged(sealed, known, wanted):
    return other(sealed, known, wanted)


def signed(data, owner):
    try:
        Ed25519PublicKey.from_public_bytes(owner).verify(data[-64:], data[:-64])
    except InvalidSignature:
        return False
    return True


def place(data, me, name, now, last=lambda until, now: now <= until):
    since, until, _, _, readers = parts_of(data)[0][name]
    due = since <= now < math.inf and (until == 0 or last(until, now))
    number = people_of(data)[0].index(me)
    return readers.index(number) if due and number in readers else None


def part_key(data, own, name, number, head=lambda data: data[:8] + bytes(4) + data[12:]):
    signed_with = head(data[: parts_of(data)[1]])
    wrapping = CIPHERS[data[5]](envelope_key(data, own, name))
    return wrapping.decrypt(bytes(12), bytes_of(data, name)[0][number], signed_with)


def opened(data, own, owner, name, now, signed=signed, place=place):
    if not signed(data, owner):
        return None
    number = place(data, own.public_key().public_bytes_raw(), name, now)
    if number is None:
        return None
    rules, end = parts_of(data)
    key = part_key(data, own, name, number)
    return CIPHERS[data[5]](key).decrypt(rules[name][3], bytes_of(data, name)[1], data[:8] + bytes(4) + data[12:end])


CHECKS = {
    stage: of(f"transport-object-lab-{stage}") for stage in ("other", "forged", "signed", "place", "part-key", "opened")
}
STAGES = [
    ("other", other),
    ("forged", forged),
    ("signed", signed),
    ("place", place),
    ("part-key", part_key),
    ("opened", opened),
]


@pytest.mark.parametrize(("stage", "solution"), STAGES, ids=lambda x: getattr(x, "__name__", ""))
def test_the_solution_passes_stage_by_stage_and_nothing_is_not_answered(stage, solution):
    check = CHECKS[stage]
    assert check(solution), check(solution).message
    assert "not answered" in check(None).message
    assert not check(lambda *given: None)
    assert "ZeroDivisionError" in check(lambda *given: 1 / 0).message
    assert "function itself" in check(5).message


def reused(data, me, name, now):
    """Takes the reader's number among the participants for that of its envelope."""
    number = place(data, me, name, now)
    return None if number is None else people_of(data)[0].index(me)


def asks_for_the_time_only(data, me, name, now):
    since, until, *_ = parts_of(data)[0][name]
    return 0 if since <= now < math.inf and (until == 0 or now <= until) else None


def raises_when_forged(data, owner):
    Ed25519PublicKey.from_public_bytes(owner).verify(data[-64:], data[:-64])
    return True


def believes_any_owner(data, owner):
    """Asks for the signature of one of the participants, whoever that is."""
    return any(signed(data, one.public.signing) for one in lab._people()[:2])


def without_stage_3(data, own, owner, name, now):
    try:
        return opened(data, own, owner, name, now, signed=lambda data, owner: True)
    except Exception:
        return None


@pytest.mark.parametrize(
    ("stage", "answer", "hint"),
    [
        ("other", lambda one, two, known: bytes(a ^ b for a, b in zip(one, two, strict=True)), "difference"),
        ("other", lambda one, two, known: bytes(a ^ b for a, b in zip(one, known, strict=True)), "mixed with"),
        ("other", lambda one, two, known: two, "another one"),
        ("forged", lambda c, known, wanted: bytes(a ^ b for a, b in zip(known, wanted, strict=True)), "change"),
        ("forged", lambda c, known, wanted: bytes(a ^ b for a, b in zip(c, wanted, strict=True)), "still in"),
        ("forged", lambda c, known, wanted: c, "reads 'shut'"),
        ("signed", lambda data, owner: True, "one bit of byte 0"),
        ("signed", lambda data, owner: False, "last 64 bytes"),
        ("signed", lambda data, owner: None if signed(data, owner) else False, "return True"),
        ("signed", raises_when_forged, "catch it"),
        ("signed", believes_any_owner, "somebody else's key"),
        ("signed", lambda data, owner: signed(data[:8] + bytes(4) + data[12:], owner), "last 64 bytes"),
        ("place", asks_for_the_time_only, "no reader"),
        ("place", reused, "part's own readers"),
        ("place", lambda d, me, name, now: place(d, me, name, 1_700_000_030), "is no time|too early|is over"),
        (
            "place",
            lambda d, me, n, now: place(d, me, n, now, lambda until, t: t < until),
            "first and the last|no limit",
        ),
        ("part-key", lambda data, own, name, number: envelope_key(data, own, name), "key of the envelope"),
        ("part-key", lambda d, own, name, n: part_key(d, own, name, n, lambda head: head), "tag does not fit"),
        ("part-key", lambda d, own, name, n: part_key(d, own, name, n, lambda head: None), "tag does not fit"),
        ("part-key", lambda data, own, name, number: bytes(32), "not those"),
        ("opened", without_stage_3, "ask stage 3 first"),
        ("opened", lambda d, own, o, n, t: opened(d, own, o, n, 1_700_000_030), "may not open it now"),
        ("opened", lambda data, own, owner, name, now: b"", "other bytes|may not"),
    ],
)
def test_a_usual_mistake_fails_where_it_should_with_its_own_hint(stage, answer, hint):
    feedback = CHECKS[stage](answer)
    assert not feedback
    assert any(part in feedback.message for part in hint.split("|")), feedback.message


def test_the_bad_object_is_bad_and_the_good_one_is_not():
    """Both attacks open objects that `badly_sealed` made; the package's refuse what they do to them."""
    key = np.random.default_rng(1).bytes(32)
    assert other(lab.badly_sealed(b"one", key), lab.badly_sealed(b"two", key), b"one") == b"two"
    data, rules = next(lab._objects(9, 1))
    ann = lab._people()[0]
    part = next(iter(rules))
    at = data.index(bytes_of(data, part)[1])
    bad = data[:at] + forged(data[at : at + 4], b"\0\0\0\0", b"\1\1\1\1") + data[at + 4 :]
    assert opened(bad, ann.sealing, ann.public.signing, part, 1_700_000_030) is None

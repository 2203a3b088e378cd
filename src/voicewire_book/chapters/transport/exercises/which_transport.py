"""The exercises and the lab of chapter 4, *Which transport for a secure object?*."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR

from voicewire.transport import reference
from voicewire.transport.secure_objects.icto import Identity, Rule, seal
from voicewire_book.chapters.transport._function_records import Results
from voicewire_book.kit._student_functions import Function, NotYetError
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import Feedback
from voicewire_book.kit.records import Choice
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "badly_sealed", "check", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given

FULL = 1448  # bytes of data in a full segment with timestamps


def _link(objects: int, size: int, session: int) -> Drawn:
    full = -(-size // FULL)

    def whole(segments: float, header: int = 52) -> float:
        return objects * (size + header * segments) + float(session)

    return Drawn(
        f"k = {objects} objects of S = {size} bytes; opening and closing {session} bytes",
        whole(2 * full),
        (
            (whole(2 * full - 2), f"{size} bytes need {full} segments: the last one is short."),
            (whole(full), "acknowledgements cross the sender's link as well."),
            (whole(2 * full) + (objects - 1) * session, "the session is opened and closed once."),
            (whole(2 * full) - session, "the session's own bytes are missing."),
            (whole(2 * full, 32), "52 bytes a segment: IP's 20 as well as TCP's 32."),
            ((whole(2 * full) - session) / objects + session, f"that is one object; {objects} are sent."),
            (whole(2), f"{size} bytes do not fit one segment of {FULL}."),
        ),
        f"{size}/{FULL} = {size / FULL:.2f}: an object needs {full} segments and as many acknowledgements.\n"
        f"{size} + 52 · {2 * full} = {size + 104 * full} bytes an object, {objects} of them "
        f"{objects * (size + 104 * full)}.\n"
        f"With the session {whole(2 * full):.0f} bytes.",
        unit="bytes",
        right=f"{objects} · ({size} + 52 · ({full} + {full})) + {session}.",
        tolerance=1e-9,
    )


# Bytes on the sender's link: six objects of 3000 bytes, all segments acknowledged, 380 for the session.
EXERCISES["transport-ex-bytes"] = Exercise(
    "link", (6, 3000, 380),
    lambda rng: (int(rng.integers(3, 10)), 500 * int(rng.integers(6, 15)), int(rng.choice([320, 380, 400]))), _link,
)  # fmt: skip


# first, further, each -> messages from which a session is cheaper.
EXERCISES["transport-ex-even"] = Results(
    [(400, 64, 272), (480, 64, 272), (1000, 64, 272), (200, 64, 272), (5000, 60, 100)],
    lambda first, further, each: (first - further) // (each - further) + 1,
    [
        (lambda a, b, c: math.ceil((a - b) / (c - b)),
         "where both cost the same the session is not cheaper yet: look at (480, 64, 272)."),
        (lambda a, b, c: (a - b) / (c - b), "here both cost the same; from which whole number on is it cheaper?"),
        (lambda a, b, c: (a - b) // (c - b), "up to here the session is not cheaper."),
        (lambda a, b, c: a // (c - b) + 1, "the first message is in the first cost already: n - 1 follow."),
        (lambda a, b, c: math.ceil(a / (c - b)), "the first message is in the first cost already: n - 1 follow."),
        (lambda a, b, c: a // c + 1, "further messages cost the session something too."),
    ],
    "a + b (n - 1) < c n from the first whole n above (a - b)/(c - b) on.",
)  # fmt: skip


# What a broker can still do to a lock whose sealed commands are valid for 60 s.
EXERCISES["transport-ex-hides"] = Choice(
    "c", "abcd",
    hints={
        "a": "the object's own end of validity is over by then.",
        "b": "the signature is over every byte, the rules with it: the lock would refuse it.",
        "d": "the key of the part lies in an envelope that only the lock's private key opens.",
    },
    right="within the minute the copy is as genuine as the first one; a counter inside would stop it.",
)  # fmt: skip


# Receivers from which MQTT needs fewer bytes over all links than TCP kept open.
EXERCISES["transport-ex-cheapest"] = Choice(
    "c", "abcd",
    hints={
        "a": "that is the sender's link; all links are asked.",
        "b": "each receiver brings a link of its own, and MQTT's bytes on it are not fewer than TCP's.",
        "d": "a larger object is larger on every link: the sender's comes on top in each case.",
    },
    right="what each receiver costs is at least as much as with TCP, and the sender's link comes on top.",
)  # fmt: skip


# m -> how many times as long m messages take over MQTT QoS 2 as over TCP, sessions kept open.
EXERCISES["transport-ex-long"] = Results(
    [(m,) for m in (1, 2, 10, 150, 10**6)], lambda m: (6 * m + 4) / (m + 2),
    [
        (lambda m: 6, "that is where it goes to; what of few messages, with both openings?"),
        (lambda m: 10 / 3, "the sessions stay open: only the first message pays for the opening."),
        (lambda m: 3 * m + 2, "these are MQTT's round trips; divide by TCP's."),
        (lambda m: (3 * m + 5) / (0.5 * m + 1.5), "m - 1 messages follow the first one."),
        (lambda m: (m + 2) / (0.5 * m + 1),
         "that is QoS 0 or 1; at QoS 2 an open session needs three round trips."),
        (lambda m: (m + 2) / (6 * m + 4), "this is the reciprocal: TCP's time over MQTT's."),
    ],
    "(5 + 3 (m - 1)) / (1.5 + 0.5 (m - 1)): from 10/3 towards 6.", tolerance=1e-7,
)  # fmt: skip


def _door(guard: Callable[[dict[str, Any], str, int], Any]) -> Callable[[list[tuple[str, int]]], list[str] | None]:
    """Make of a guard a function of all commands that come, one after the other."""

    def acts(commands: list[tuple[str, int]]) -> list[str] | None:
        seen: dict[str, Any] = {}
        said = [guard(seen, sender, number) for sender, number in commands]
        if any(word is None for word in said):
            return None
        return [f"{at} {'acts' if word else 'refuses'}" for at, word in enumerate(said)]

    acts.__name__ = getattr(guard, "__name__", "your function")
    return acts


def _newer(seen: dict[str, Any], sender: str, n: int) -> bool:
    if n <= seen.get(sender, -1):
        return False
    seen[sender] = n
    return True


def _same_too(seen: dict[str, Any], sender: str, n: int) -> bool:
    return n == seen.get(sender) or _newer(seen, sender, n)


def _next_only(seen: dict[str, Any], sender: str, n: int) -> bool:
    return n == seen.get(sender, n - 1) + 1 and _newer(seen, sender, n)


def _any_stored(seen: dict[str, Any], sender: str, n: int) -> bool:
    newer = n > seen.get(sender, -1)
    seen[sender] = n
    return newer


def _never_twice(seen: dict[str, Any], sender: str, n: int) -> bool:
    had = seen.setdefault(sender, set())
    return n not in had and not had.add(n)


@EXERCISES.judged("transport-ex-guard")
def _(answer: object) -> Feedback:
    """A function seen, sender, number -> whether a lock acts; it keeps in seen what it must."""
    calls = (
        [("ann", 1), ("ann", 1), ("ann", 2)],
        [("ann", 5), ("ann", 9), ("ann", 7), ("ann", 10)],
        [("ann", 7), ("bob", 1), ("bob", 1), ("ann", 8), ("bob", 2)],
        [("ann", 9), ("ann", 3), ("ann", 4), ("ann", 9)],
    )
    return Results(
        [(commands,) for commands in calls], _door(_newer),
        [
            (_door(lambda seen, sender, n: True), "nothing is ever refused."),
            (_door(lambda seen, sender, n: _newer(seen, "all", n)), "each sender counts for itself."),
            (_door(_same_too), "the same number again is the replay that the lock must refuse."),
            (_door(_next_only), "a command may be lost on its way: a gap must not lock the sender out for ever."),
            (_door(_any_stored), "what is refused must not lower the number that is kept."),
            (_door(_never_twice), "an old command that never came before is refused too: the numbers have to grow."),
        ],
        "only a number above the highest of that sender counts, and only then it is kept.",
    ).check(_door(answer) if callable(answer) else answer)  # fmt: skip


# The lab: a sealed object, and the attack on a bad one.

_CREATED = 1_700_000_000


def badly_sealed(text: bytes, key: bytes) -> bytes:
    """Seal a text badly: AES in counter mode, each time from the same counter, and nothing that shows a change."""
    made = Cipher(AES(key), CTR(bytes(16))).encryptor()
    return made.update(text) + made.finalize()


def _xor(*texts: bytes) -> bytes:
    return bytes(np.bitwise_xor.reduce([np.frombuffer(text, np.uint8) for text in texts]))


def _bad_ones(seed: int, texts: tuple[bytes, ...]) -> list[bytes]:
    key = np.random.default_rng(seed).bytes(32)
    return [badly_sealed(text, key) for text in texts]


@EXERCISES.called("transport-object-lab-other")
def _(answer: Function) -> Feedback:
    """Stage 1: (one, two, known) -> the text in the second object, from that in the first."""
    for seed, texts in enumerate([(b"pulse 71/min", b"pulse 48/min"), (b"\0\1\2\xff", b"\xffabc"), (b"", b"")]):
        one, two = _bad_ones(seed, texts)
        got = bytes(answer(one, two, texts[0]))
        if texts[0] and got == _xor(one, two):
            return Feedback(False, "that is the difference of the two texts: one of them you know.")
        if texts[0] and got == _xor(one, texts[0]):
            return Feedback(False, "that is what both texts were mixed with: take it away from the second object.")
        if got != texts[1]:
            known, found = texts[0].decode("latin-1"), got[:40].decode("latin-1")
            return Feedback(False, f"from {known!r} yours makes {found!r}, and the second text is another one.")
    return Feedback(True, "one known text opens all others under the same key and counter.")


@EXERCISES.called("transport-object-lab-forged")
def _(answer: Function) -> Feedback:
    """Stage 2: (sealed, known, wanted) -> bytes that open as the wanted text; nobody gave the key."""
    for seed, (known, wanted) in enumerate([(b"shut", b"open"), (b"dose 010 mg", b"dose 100 mg")]):
        key = np.random.default_rng(seed).bytes(32)
        sealed = badly_sealed(known, key)
        got = bytes(answer(sealed, known, wanted))
        if got == _xor(known, wanted):
            return Feedback(False, "that is what must change: change the sealed bytes by it.")
        if got == _xor(sealed, wanted):
            return Feedback(False, "the known text is still in it: both texts go into the sealed bytes.")
        if (read := badly_sealed(got, key)) != wanted:
            shown = read[:40].decode("latin-1")
            return Feedback(False, f"the lock opens yours and reads {shown!r}, not {wanted.decode()!r}.")
    return Feedback(True, "without a tag nobody can tell that a bit was turned.")


@cache
def _people() -> tuple[Identity, ...]:
    return tuple(Identity.create(name) for name in ("ann", "bob", "cy", "mallory"))


def _objects(seed: int, count: int) -> Iterator[tuple[bytes, dict[str, Rule]]]:
    """Objects of the package that nobody has seen, sealed by the first of `_people`."""
    rng = np.random.default_rng(seed)
    ann, bob, cy, _ = _people()
    names = ("ann", "bob", "cy")
    for number in range(count):
        rules = {
            part: Rule(
                tuple(names[i] for i in sorted(rng.choice(3, rng.integers(1, 4), replace=False))),
                until=_CREATED + 60 if rng.random() < 0.5 else None,
                since=_CREATED + 10 if rng.random() < 0.5 else None,
            )
            for part in ("diagnosis", "dose", "bill")[: rng.integers(1, 4)]
        }
        parts = {part: rng.bytes(int(rng.integers(0, 200))) for part in rules}
        cipher = ("aes-256-gcm", "chacha20-poly1305")[number % 2]
        people = [one.public for one in (ann, bob, cy)]
        yield seal(parts, rules, people, ann, cipher=cipher, created=_CREATED, random=rng.bytes), rules


@EXERCISES.called("transport-object-lab-signed")
def _(answer: Function) -> Feedback:
    """Stage 3: (data, owner) -> whether the owner signed exactly these bytes."""
    ann, bob, *_ = _people()
    rng = np.random.default_rng(5)
    for data, _ in _objects(1, 4):
        try:
            got = answer(data, ann.public.signing)
            if got is None:
                return Feedback(False, "nothing is returned: verify is silent where all is well, so return True.")
            if not got:
                return Feedback(False, "this one is genuine. The signature is the last 64 bytes, over all before them.")
            for at in (0, len(data) - 1, int(rng.integers(1, len(data) - 1))):
                changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
                if answer(changed, ann.public.signing):
                    return Feedback(False, f"one bit of byte {at} was turned, and yours says that it is signed.")
            if answer(data, bob.public.signing):
                return Feedback(False, "somebody else's key must not fit: verify with the owner's.")
        except NotYetError as error:
            if "InvalidSignature" not in str(error):
                raise
            return Feedback(False, "verify raises InvalidSignature: catch it, and return False.")
    return Feedback(True, "a turned bit, and another's signature, are seen before anything is believed.")


@EXERCISES.called("transport-object-lab-place")
def _(answer: Function) -> Feedback:
    """Stage 4: (data, me, name, now) -> number of the reader's envelope, or None."""
    people = _people()[:3]
    for data, rules in _objects(2, 12):
        for name, rule in rules.items():
            for now in (_CREATED + 9.5, _CREATED + 10.0, _CREATED + 60.0, _CREATED + 60.5, float("inf"), float("nan")):
                due = (rule.since or 0) <= now < float("inf") and now <= (rule.until or now)
                for one in people:
                    me = one.public.sealing
                    wanted = rule.readers.index(one.name) if due and one.name in rule.readers else None
                    got = answer(data, me, name, now)
                    if got != wanted or (got is None) != (wanted is None):
                        raise NotYetError(_place_hint(rule, one.name, now, got, wanted))
    return Feedback(True, "who, from when on, and until when; and no time that is none.")


def _place_hint(rule: Rule, who: str, now: float, got: Any, wanted: int | None) -> str:
    if who not in rule.readers:
        return "a participant who is no reader of the part gets None."
    if wanted is None and not now < float("inf"):
        return f"{now} is no time: nothing is due then."
    if wanted is None:
        return "it is too early." if now < _CREATED + 10 and rule.since else "its time is over."
    if got is None:
        never = "0 stands for no limit" if not rule.until or not rule.since else "the first and the last second count"
        return f"this reader may open it now: {never}."
    return "this is the reader's number among the participants; the envelopes follow the part's own readers."


@EXERCISES.called("transport-object-lab-part-key")
def _(answer: Function) -> Feedback:
    """Stage 5: (data, own, name, number) -> the part's key, out of the reader's envelope."""
    for data, rules in _objects(3, 6):
        for name, rule in rules.items():
            for one in _people()[:3]:
                if one.name not in rule.readers:
                    continue
                number = rule.readers.index(one.name)
                try:
                    got = bytes(answer(data, one.sealing, name, number))
                except NotYetError as error:
                    if "InvalidTag" not in str(error):
                        raise
                    return Feedback(
                        False,
                        "the envelope's tag does not fit. With it goes data[:8] + bytes(4) + data[12:end], where the "
                        "rules end; its nonce are twelve zeros, its key is that of `envelope_key`.",
                    )
                if got == reference.envelope_key(data, one.sealing, name):
                    return Feedback(False, "this is the key of the envelope: open the envelope with it.")
                if got != _inside(data, one.sealing, name, number):
                    return Feedback(False, f"{len(got)} bytes, but not those that are in the envelope.")
    return Feedback(True, "the part's key, which only its readers can unwrap.")


def _inside(data: bytes, own: X25519PrivateKey, name: str, number: int) -> bytes:
    """A part's key, as `reference.open_part` gets it."""
    signed = data[:8] + bytes(4) + data[12 : reference.parts_of(data)[1]]
    wrapping = reference.CIPHERS[data[5]](reference.envelope_key(data, own, name))
    return wrapping.decrypt(bytes(12), reference.bytes_of(data, name)[0][number], signed)


def _read(data: bytes, one: Identity, owner: Identity, name: str, now: float) -> bytes | None:
    try:
        return reference.open_part(data, one.sealing, owner.public.signing, name, now)
    except ValueError:
        return None


@EXERCISES.called("transport-object-lab-opened")
def _(answer: Function) -> Feedback:
    """Stage 6: (data, own, owner, name, now) -> what was sealed, or None; as the package's on unseen objects."""
    ann, _, _, mallory = _people()
    rng = np.random.default_rng(7)
    opened = refused = 0
    for number, (data, rules) in enumerate(_objects(4, 30), start=1):
        at = int(rng.integers(8, len(data)))
        changed = data[:at] + bytes([data[at] ^ 1 << int(rng.integers(8))]) + data[at + 1 :]
        foreign = data[:-64] + mallory.signing.sign(data[:-64])
        for name in rules:
            for one in _people()[:3]:
                for now in (_CREATED + 5.0, _CREATED + 30.0, _CREATED + 90.0):
                    wanted = _read(data, one, ann, name, now)
                    got = answer(data, one.sealing, ann.public.signing, name, now)
                    where = f"object {number}, part {name}: {one.name}"
                    if wanted is None and got is not None:
                        return Feedback(False, f"{where} may not open it now, and yours does.")
                    if wanted is not None and got != wanted:
                        gives = "None" if got is None else f"{len(got)} other bytes"
                        return Feedback(False, f"{where} may open it now, and yours gives {gives}.")
                    opened, refused = opened + (wanted is not None), refused + (wanted is None)
                for bad, why in ((changed, "was changed on the way"), (foreign, "was signed by somebody else")):
                    if answer(bad, one.sealing, ann.public.signing, name, _CREATED + 30.0) is not None:
                        return Feedback(False, f"object {number} {why}, and yours opens it: ask stage 3 first.")
                    refused += 1
    return Feedback(True, f"{opened} openings and {refused} refusals, as the package's on 30 objects not seen before.")

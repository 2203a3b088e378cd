"""Checks of the last two chapters' exercises. Each returns an `exercises.Feedback`, whatever it is given."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from voicewire.transport.icto_format import overhead
from voicewire_book.chapters.transport._student import judged
from voicewire_book.chapters.transport.drawn import LINK, TRIPS
from voicewire_book.kit.exercises import Feedback, choice, number

__all__ = [
    "check_all_links", "check_block", "check_break_even", "check_guard", "check_icto_overhead", "check_link_bytes",
    "check_long_run", "check_merged", "check_replay", "check_round_trips", "check_secure_session", "check_two_networks",
]  # fmt: skip


def check_round_trips(answer: object, seed: int | None = None) -> Feedback:
    """Time of a fresh QoS 2 message in ms, 40 ms to the broker and 10 ms from it to an open session (03)."""
    return TRIPS.own(seed).check(answer)


def check_secure_session(answer: object) -> Feedback:
    """Which change to a fresh session over TLS 1.3 with Nagle's algorithm saves most (03)."""
    return choice(
        answer, "d", ("a", "b", "c", "d"),
        hints={"a": "that saves the one round trip in which CONNECT is held back: 120 ms remain. "
                    "Another change saves more.",
               "b": "nothing waits for PUBACK before the message is passed on: at QoS 0 it takes as long.",
               "c": "MQTT 5 opens a session in the same two turns."},
        right="an open session needs one round trip, 30 ms: opening it costs four of the five.",
    )  # fmt: skip


def check_merged(answer: object) -> Feedback:
    """A function n, size -> header bytes of n publishes that merge into full segments, all acknowledged (03)."""
    return judged(
        answer, [(150, 17), (150, 1016), (10, 1448), (3, 5000), (1, 1), (7, 724)],
        lambda n, size: 64 * math.ceil(n * size / 1448),
        [
            (lambda n, b: 64 * n, "that is without merging: a segment for each publish."),
            (lambda n, b: 32 * math.ceil(n * b / 1448), "every segment is acknowledged by one of its own."),
            (lambda n, b: 64 * n * b / 1448, "segments are whole: the last one is short, and has a header too."),
            (lambda n, b: 64 * (n * b // 1448), "the rest at the end needs a segment of its own."),
            (lambda n, b: 64 * n * math.ceil(b / 1448),
             "TCP carries a stream: a segment may hold the end of one publish and the beginning of the next."),
            (lambda n, b: 104 * math.ceil(n * b / 1448), "52 bytes are IP's and TCP's headers; TCP's alone are asked."),
        ],
        "64 ⌈n·size/1448⌉: TCP cuts a stream, it knows of no messages.",
    )  # fmt: skip


def check_icto_overhead(answer: object) -> Feedback:
    """Bytes that an object with one part and the readers r0, nurse and doctor adds (03)."""
    one, three = overhead(["r0"], {"part": 1}), overhead(["r0", "nurse", "doctor"], {"part": 3})
    more = three - one
    return number(
        answer, three, 1e-9, unit="bytes",
        hints={one + 96: "each reader also stands in the list: a length, a name, a key; and as a number in the rule.",
               three - 11: "their names stand in the list too.",
               three - 2: "a length stands before each name, and a number for each reader in the part's rule.",
               three - 4: "a length stands before each name, and a number for each reader in the part's rule.",
               three - 64: "each reader's key stands in the list, 32 bytes.",
               3 * one: "the head, the signature and the part's rule stand there once.",
               more: "this is what the two add; the first one's bytes are asked as well."},
        right="294, and 1 + name + 32 in the list, 1 in the rule, 48 for the envelope of each.",
    )  # fmt: skip


def check_two_networks(answer: object) -> Feedback:
    """Which pair of runs rises on the private network and is steady on the public one (03)."""
    return choice(
        answer, "d", ("a", "b", "c", "d"),
        hints={"a": "without a gap messages merge on both: both rise.",
               "b": "2 ms are a whole round trip on the private network and a twentieth on the public one: it is the "
                    "public one that rises.",
               "c": "80 ms are 40 round trips there and two here: nothing merges on either, both are steady."},
        right="only a gap that differs in round trips does it, and in the other direction than one script would.",
    )  # fmt: skip


_BLOCKS = ((0, False, 16), (0, True, 1024), (2, False, 1024), (3, True, 64), (291, False, 256), (5000, True, 512))


def check_block(answer: object) -> Feedback:
    """A function option -> number, more, size of CoAP's option Block1 (03)."""
    from voicewire.transport.reference import block_option  # needs cryptography, and no other check does

    def parts(option: bytes) -> list[float]:
        value = int.from_bytes(option, "big")
        return [value >> 4, value >> 3 & 1, 2 ** ((value & 7) + 4)]

    def turned(option: bytes) -> list[float]:
        return parts(option[::-1])

    return judged(
        answer, [(block_option(*block),) for block in _BLOCKS], parts,
        [
            (lambda o: [*parts(o)[:2], parts(o)[2] / 16], "the size is 2 to the power of the last three bits plus 4."),
            (lambda o: [*parts(o)[:2], math.log2(parts(o)[2]) - 4],
             "the last three bits are an exponent: 2^(bits + 4)."),
            (lambda o: [*parts(o)[:2], math.log2(parts(o)[2])], "this is the exponent; the size is asked, in bytes."),
            (lambda o: [parts(o)[0], 1 - parts(o)[1], parts(o)[2]], "a set bit says that more follow."),
            (lambda o: [int.from_bytes(o, "big") >> 3, *parts(o)[1:]], "below the number stand four bits, not three."),
            (turned, "the highest byte goes first."),
        ],
        "number, more, and the size as a power of two; an empty option is block 0 of 16 bytes.",
        tidy=lambda result: [int(item) if isinstance(item, bool) else item for item in result],
    )  # fmt: skip


def check_break_even(answer: object) -> Feedback:
    """A function first, further, each -> messages from which a session is cheaper (04)."""
    def least(first: int, further: int, each: int) -> int:
        return (first - further) // (each - further) + 1

    return judged(
        answer, [(400, 64, 272), (480, 64, 272), (1000, 64, 272), (200, 64, 272), (5000, 60, 100)], least,
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


def check_replay(answer: object) -> Feedback:
    """What a broker can still do to a lock whose sealed commands are valid for 60 s (04)."""
    return choice(
        answer, "c", ("a", "b", "c", "d"),
        hints={"a": "the object's own end of validity is over by then.",
               "b": "the signature is over every byte, the rules with it: the lock would refuse it.",
               "d": "the key of the part lies in an envelope that only the lock's private key opens."},
        right="within the minute the copy is as genuine as the first one; a counter inside would stop it.",
    )  # fmt: skip


def check_all_links(answer: object) -> Feedback:
    """Receivers from which MQTT needs fewer bytes over all links than TCP kept open (04)."""
    each = "each receiver brings a link of its own, and MQTT's bytes on it are not fewer than TCP's."
    return choice(
        answer, "c", ("a", "b", "c", "d"),
        hints={"a": "that is the sender's link; all links are asked.", "b": each,
               "d": "a larger object is larger on every link: the sender's comes on top in each case."},
        right="what each receiver costs is at least as much as with TCP, and the sender's link comes on top.",
    )  # fmt: skip


def check_link_bytes(answer: object, seed: int | None = None) -> Feedback:
    """Bytes on the sender's link: six objects of 3000 bytes, all segments acknowledged, 380 for the session (04)."""
    return LINK.own(seed).check(answer)


def check_long_run(answer: object) -> Feedback:
    """A function m -> how many times as long m messages take over MQTT QoS 2 as over TCP, sessions kept open (04)."""
    return judged(
        answer, [(m,) for m in (1, 2, 10, 150, 10**6)], lambda m: (6 * m + 4) / (m + 2),
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


_CALLS = (
    [("ann", 1), ("ann", 1), ("ann", 2)],
    [("ann", 5), ("ann", 9), ("ann", 7), ("ann", 10)],
    [("ann", 7), ("bob", 1), ("bob", 1), ("ann", 8), ("bob", 2)],
    [("ann", 9), ("ann", 3), ("ann", 4), ("ann", 9)],
)


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


def check_guard(answer: object) -> Feedback:
    """A function seen, sender, number -> whether a lock acts; it keeps in seen what it must (04)."""
    return judged(
        _door(answer) if callable(answer) else answer, [(calls,) for calls in _CALLS], _door(_newer),
        [
            (_door(lambda seen, sender, n: True), "nothing is ever refused."),
            (_door(lambda seen, sender, n: _newer(seen, "all", n)), "each sender counts for itself."),
            (_door(_same_too), "the same number again is the replay that the lock must refuse."),
            (_door(_next_only), "a command may be lost on its way: a gap must not lock the sender out for ever."),
            (_door(_any_stored), "what is refused must not lower the number that is kept."),
            (_door(_never_twice), "an old command that never came before is refused too: the numbers have to grow."),
        ],
        "only a number above the highest of that sender counts, and only then it is kept.",
    )  # fmt: skip

"""The checks of *MQTT in one chapter*: its exercises and its lab.

Each `check_…` takes whatever a student hands over and returns a `Feedback`; `None` means not answered yet.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from voicewire.mqtt import packets as p
from voicewire.mqtt.packets import encode
from voicewire_book.chapters.foundations._student import value
from voicewire_book.chapters.foundations.drawn import SIZE
from voicewire_book.kit._student import Function, called, expression
from voicewire_book.kit.exercises import UNANSWERED, Feedback, choice, function, sequence, unanswered

__all__ = [
    "check_acknowledge",
    "check_cut",
    "check_filters",
    "check_granted",
    "check_largest",
    "check_length",
    "check_link",
    "check_lost",
    "check_memory",
    "check_packets",
    "check_publish",
    "check_receive",
    "check_retained",
    "check_size",
]


def check_size(answer: object, seed: int | None = None) -> Feedback:
    """Bytes of MQTT on all legs of one message to subscribers at QoS 1 and 0."""
    return SIZE.own(seed).check(answer)


def check_filters(answer: object) -> Feedback:
    """The letters of the filters that select home/hall/bell."""
    return sequence(answer, ["a", "b", "d", "e"], ordered=False, right="# stands for nothing too, + for exactly one.")


def check_packets(answer: object) -> Feedback:
    """A function published, granted -> packets in all; granted is the list of the subscribers' QoS."""
    if not unanswered(answer) and callable(answer):
        got = value(answer, 2, [0, 1])
        if got == 12:
            return Feedback(False, "each leg has a QoS of its own: the lesser of the two.")
        if got == 3:
            return Feedback(False, "the leg from the publisher to the broker counts too.")
    cases: list[tuple[tuple[Any, ...], float]] = [
        ((2, [0, 1]), 7),
        ((0, [2, 2]), 3),
        ((1, [2, 0, 1]), 7),
        ((2, [2]), 8),
        ((1, []), 2),
    ]
    return function(answer, cases, 1e-9, right="1, 2 or 4 on each leg, at the lesser QoS.")


def check_largest(answer: object) -> Feedback:
    """A function t, qos -> bytes of the largest payload with a topic of t bytes."""
    answer = expression(answer, "t", "qos")
    if not unanswered(answer) and callable(answer):
        got = value(answer, 10, 1)
        usual = {
            268_435_446.0: "count the topic's own length, two bytes, too.",
            268_435_445.0: "the topic's length takes two bytes, and so does the packet id.",
            268_435_442.0: "the largest number is one less than 128 to the fourth.",
            268_435_443.0: "above QoS 0 there is a packet id.",
            268_435_436.0: "the fixed header isn't counted by the length in it.",
        }
        if got in usual:
            return Feedback(False, usual[got])
    cases = [((t, q), float(128**4 - 1 - 2 - t - 2 * (q > 0))) for t, q in ((10, 0), (10, 1), (10, 2), (65535, 1))]
    return function(answer, cases, 1e-12, absolute=0.5, right="what the length can say, less what stands before.")


def check_lost(answer: object) -> Feedback:
    """Which packet was lost when a receiver saw PUBLISH, sent PUBREC, and saw PUBLISH with DUP after a break."""
    hints = {
        "a": "the receiver's log shows it before the break.",
        "c": "a sender that had PUBREC may not send PUBLISH again: it would have sent PUBREL.",
        "d": "PUBCOMP answers PUBREL, and there was none before the break.",
    }
    return choice(answer, "b", ["a", "b", "c", "d"], hints=hints, right="so the sender still had PUBLISH to repeat.")


def check_granted(answer: object) -> Feedback:
    """How often a subscriber with QoS 1 gets a message published at QoS 2, with breaks on its own leg."""
    hints = {
        "a": "exactly once is a promise of each leg, and this leg has QoS 1.",
        "b": "at QoS 1 the broker sends until it has an answer.",
        "d": "as long as both sessions last, nothing is lost at QoS 1.",
    }
    return choice(answer, "c", ["a", "b", "c", "d"], hints=hints, right="the lesser QoS decides on each leg.")


def check_memory(answer: object) -> Feedback:
    """What goes wrong if QoS 1's receiver remembers ids for ever."""
    hints = {
        "a": "it knows the id: the copy is recognised.",
        "b": "PUBACK comes as before.",
        "d": "two bytes an id are not much; think of the ids themselves.",
    }
    return choice(
        answer, "c", ["a", "b", "c", "d"], hints=hints, right="it can't tell an old id from one that is used again."
    )


@called
def check_retained(answer: Function) -> Feedback:
    """A function kept, topic, payload, retain -> the broker's retained messages afterwards (a dict)."""
    kept: dict[str, bytes] = {"t": b"20"}
    cases = [
        (("t", b"21", True), {"t": b"21"}, "a new retained message replaces the old one."),
        (("u", b"1", True), {"t": b"20", "u": b"1"}, "each topic keeps one of its own."),
        (("t", b"21", False), {"t": b"20"}, "a message without RETAIN changes nothing that is kept."),
        (("t", b"", True), {}, "an empty retained message takes the kept one away and isn't kept itself."),
        (("u", b"", True), {"t": b"20"}, "an empty retained message isn't kept, also where nothing was."),
        (("t", b"", False), {"t": b"20"}, "an empty message without RETAIN changes nothing that is kept."),
    ]
    for arguments, wanted, hint in cases:
        got = answer(dict(kept), *arguments)
        if got != wanted:
            return Feedback(False, hint)
    return Feedback(True, "one message a topic, the newest; and an empty one wipes it.")


# --- the lab: both ends of QoS 2 from bytes ------------------------------------------------------------------------


@called
def check_length(answer: Function) -> Feedback:
    """Stage 1: n -> bytes of the Remaining Length."""
    for n in (0, 1, 127, 128, 321, 16_383, 16_384, 2_097_152, 268_435_455):
        got = bytes(answer(n))
        wanted = p.encode_length(n)
        if got == wanted:
            continue
        if got == n.to_bytes(len(got), "big"):
            return Feedback(False, f"{n}: seven bits a byte, not eight.")
        if got[::-1] == wanted or (len(got) > 1 and not got[0] & 128):
            return Feedback(False, f"{n}: the lowest seven bits come first, and each byte but the last has 128 added.")
        return Feedback(False, f"{n} should be {wanted.hex(' ')}, yours is {got.hex(' ')}.")
    return Feedback(True, "one to four bytes.")


@called
def check_publish(answer: Function) -> Feedback:
    """Stage 2: topic, payload, packet_id, dup -> bytes of a PUBLISH at QoS 2."""
    cases = [("t", b"ring", 1, False), ("t", b"ring", 1, True), ("häuser", b"x" * 300, 513, False)]
    for topic, payload, number_, dup in cases:
        wanted = encode(p.Publish(topic, payload, 2, dup=dup, packet_id=number_))
        got = bytes(answer(topic, payload, number_, dup))
        if got != wanted:
            return Feedback(False, _publish_hint(got, wanted))
    return Feedback(True, "byte for byte what the package sends.")


def _publish_hint(got: bytes, wanted: bytes) -> str:
    if not got or got[0] != wanted[0]:
        return f"the first byte is {wanted[0]:#04x}: type 3, then DUP 8, QoS 2 · 2, RETAIN 1."
    if len(got) == len(wanted) - 2:
        return "a length of two bytes before the topic, or the packet id, is missing."
    if len(got) < len(wanted):
        return "too short: topics are counted in bytes (UTF-8), not in letters."
    return f"wanted {wanted[:12].hex(' ')} …, yours begins {got[:12].hex(' ')}."


@called
def check_cut(answer: Function) -> Feedback:
    """Stage 3: stream -> (list of (first byte, body), rest)."""
    whole = [encode(p.Publish("t", b"x" * n, 2, packet_id=n + 1)) for n in (1, 200)] + [encode(p.Pubrel(7))]
    stream = b"".join(whole)
    bodies = [(b[0], b[3 if b[1] & 128 else 2 :]) for b in whole]
    for end in range(len(stream) + 1):
        packets, rest = answer(stream[:end])
        got = [(first, bytes(body)) for first, body in packets], bytes(rest)
        full = [k for k in range(len(whole) + 1) if len(b"".join(whole[:k])) <= end][-1]
        if got != (bodies[:full], stream[len(b"".join(whole[:full])) : end]):
            return Feedback(False, f"after {end} bytes of three packets {full} are whole; yours gives {len(got[0])}.")
    return Feedback(True, "wherever the stream is cut.")


@called
def check_receive(answer: Function) -> Feedback:
    """Stage 4: ids, first, body -> (ids, bytes to answer, payload passed on or None)."""
    body = b"\0\1t\0\5ring"
    steps = [
        (0x34, body, {5}, encode(p.Pubrec(5)), b"ring", "a message that is new: note its id, answer, pass it on."),
        (0x3C, body, {5}, encode(p.Pubrec(5)), None, "a known id: answer PUBREC again, but pass nothing on."),
        (0x62, b"\0\5", set(), encode(p.Pubcomp(5)), None, "PUBREL: forget the id and answer PUBCOMP."),
        (0x62, b"\0\5", set(), encode(p.Pubcomp(5)), None, "an unknown id is answered too: PUBCOMP was lost."),
        (0x34, body, {5}, encode(p.Pubrec(5)), b"ring", "after PUBREL the id stands for a new message."),
    ]
    ids: set[int] = set()
    for first, content, known, reply, passed, hint in steps:
        got_ids, got_reply, got_passed = answer(set(ids), first, content)
        if set(got_ids) != known or bytes(got_reply) != reply or got_passed != passed:
            return Feedback(False, hint)
        ids = set(got_ids)
    return Feedback(True, "passed on once, answered each time.")


@called
def check_acknowledge(answer: Function) -> Feedback:
    """Stage 5: waiting, first, body -> (waiting, bytes to send); waiting is what would be sent again, by id."""
    one, two = encode(p.Publish("t", b"1", 2, packet_id=1)), encode(p.Publish("t", b"2", 2, packet_id=2))
    rel = encode(p.Pubrel(1))
    steps = [
        ({1: one, 2: two}, 0x50, b"\0\1", {1: rel, 2: two}, rel, "after PUBREC it is PUBREL that is repeated."),
        ({1: rel, 2: two}, 0x50, b"\0\1", {1: rel, 2: two}, rel, "a second PUBREC: PUBREL again."),
        ({1: rel, 2: two}, 0x70, b"\0\1", {2: two}, b"", "after PUBCOMP the id is free, and nothing is sent."),
        ({2: two}, 0x70, b"\0\1", {2: two}, b"", "a PUBCOMP for an id that isn't waiting changes nothing."),
    ]
    for before, first, body, after, out, hint in steps:
        waiting, sent = answer(dict(before), first, body)
        if sent is None:
            return Feedback(False, 'where nothing is to be sent, give b"": no bytes, and not None.')
        if dict(waiting) != after or bytes(sent) != out:
            return Feedback(False, hint)
    return Feedback(True, "PUBLISH, then PUBREL, then nothing.")


def check_link(answer: object) -> Feedback:
    """Stage 6: (publish, cut, receive, acknowledge) between two ends whose connection breaks at random."""
    if unanswered(answer):
        return UNANSWERED
    functions: Any = answer
    try:
        publish, cut, receive, acknowledge = functions
    except Exception:  # not four, not a sequence, or an object of the student's own
        return Feedback(False, "hand over your four functions: (publish, cut, receive, acknowledge).")
    breaks = 0
    for seed in range(200):
        try:
            got, cuts = _link(random.Random(seed), publish, cut, receive, acknowledge)
        except Exception as error:  # whatever a student's code may raise
            return Feedback(False, f"in world {seed} your code raises {type(error).__name__}: {error}")
        breaks += cuts
        if got != {str(n).encode(): 1 for n in range(5)}:
            return Feedback(False, f"in world {seed}, of messages 0 to 4, these came so often: {got}.")
    return Feedback(True, f"five messages, 200 worlds, {breaks} broken connections: each once.")


def _link(
    rng: random.Random,
    publish: Callable[..., bytes],
    cut: Callable[..., Any],
    receive: Callable[..., Any],
    acknowledge: Callable[..., Any],
) -> tuple[dict[bytes, int], int]:
    """Five messages, three ids, two ends whose streams are cut and whose connection breaks up to eight times."""
    waiting: dict[int, bytes] = {}
    ids: set[int] = set()
    passed: dict[bytes, int] = {}
    todo, under = [b"0", b"1", b"2", b"3", b"4"], {1: b"", 2: b"", 3: b""}  # what each id stands for
    there, back = b"", b""  # under way
    left, right = b"", b""  # come, but not whole yet: at the sender, at the receiver
    breaks = 0
    for _ in range(10_000):
        for free in [n for n in under if n not in waiting][: len(todo)]:
            under[free] = todo.pop(0)
            waiting = {**waiting, free: publish("t", under[free], free, False)}
            there += waiting[free]
        if not (waiting or there or back):
            break
        if breaks < 8 and rng.random() < 0.2:
            breaks += 1
            again = [publish("t", under[n], n, True) if b[0] >> 4 == 3 else b for n, b in waiting.items()]
            there, back, left, right = b"".join(again), b"", b"", b""
        elif there and (not back or rng.random() < 0.5):
            size = rng.randint(1, min(len(there), 20))
            packets, right = cut(right + there[:size])
            there = there[size:]
            for first, body in packets:
                ids, reply, content = receive(ids, first, body)
                back += reply
                if content is not None:
                    passed[content] = passed.get(content, 0) + 1
        elif back:
            size = rng.randint(1, min(len(back), 20))
            packets, left = cut(left + back[:size])
            back = back[size:]
            for first, body in packets:
                waiting, out = acknowledge(waiting, first, body)
                there += out
        else:
            raise RuntimeError("nothing is under way, and ids are still waiting")
    return passed, breaks

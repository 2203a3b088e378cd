"""The exercises and the lab of chapter 4, *MQTT in one chapter*."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from voicewire.mqtt import packets as p
from voicewire.mqtt.packets import encode
from voicewire_book.kit._student_functions import Case, Function, expression
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import UNANSWERED, Feedback, function, unanswered, value
from voicewire_book.kit.records import Choice, Row
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given


def _size(topic: int, payload: int, once: int, never: int) -> Drawn:
    def publish(packet_id: int) -> tuple[int, int]:
        rest = 2 + topic + packet_id + payload
        length = 1 if rest < 128 else 2
        return 1 + length + rest, 1 + (3 - length) + rest

    (one, wrong_one), (zero, wrong_zero) = publish(2), publish(0)
    legs = 1 + once
    total = legs * (one + 4) + never * zero
    return Drawn(
        f"t = {topic}, m = {payload}, a = {once}, b = {never}",
        float(total),
        (
            (float(legs * one + never * zero), "each leg at QoS 1 has an answer: a PUBACK of four bytes."),
            (float(total + 2 * never), "a PUBLISH at QoS 0 has no packet id."),
            (float(legs * (wrong_one + 4) + never * wrong_zero),
             "how many bytes does the length take? One up to 127, two from 128 on."),
            (float(total - one - 4), "the publisher's own leg is one of them."),
            (float((legs + never) * (one + 4)), "a leg has the lesser of the two QoS: some subscribers have 0."),
            (float(total - 2 * (legs + never)), "a topic is preceded by its length, two bytes."),
        ),
        f"At QoS 1: 2 + {topic} + 2 + {payload} = {4 + topic + payload} bytes follow the length, "
        f"so PUBLISH has {one}; with its PUBACK {one + 4}.\n"
        f"At QoS 0 there is no packet id: {zero} bytes, and no answer.\n"
        f"The publisher's leg and {once} more at QoS 1, {never} at QoS 0: "
        f"{legs} · {one + 4} + {never} · {zero} = {total} bytes.",
        unit="bytes",
        right=f"{legs} · {one + 4} + {never} · {zero}.",
        tolerance=1e-9,
    )  # fmt: skip


def _drawn_size(rng: np.random.Generator) -> tuple[int, ...]:
    payload = 10 * int(rng.choice([2, 4, 6, 8, 15, 20, 25, 30]))
    return int(rng.integers(3, 10)), payload, int(rng.integers(1, 5)), int(rng.integers(1, 4))


EXERCISES["foundations-mqtt-size"] = Exercise("size", (3, 200, 2, 1), _drawn_size, _size)

# letters -> the filters that select home/hall/bell
EXERCISES["foundations-mqtt-filters"] = Row("abde", ordered=False, right="# stands for nothing too, + for exactly one.")


@EXERCISES.judged("foundations-mqtt-packets")
def _(answer: object) -> Feedback:
    """A function published, granted -> packets in all; granted is the list of the subscribers' QoS."""
    got = value(answer, (2, [0, 1]))
    if got == 12:
        return Feedback(False, "each leg has a QoS of its own: the lesser of the two.")
    if got == 3:
        return Feedback(False, "the leg from the publisher to the broker counts too.")
    cases: list[tuple[Case, float]] = [
        ((2, [0, 1]), 7), ((0, [2, 2]), 3), ((1, [2, 0, 1]), 7), ((2, [2]), 8), ((1, []), 2),
    ]  # fmt: skip
    return function(answer, cases, 1e-9, right="1, 2 or 4 on each leg, at the lesser QoS.")


@EXERCISES.judged("foundations-mqtt-largest")
def _(answer: object) -> Feedback:
    """A function t, qos -> bytes of the largest payload with a topic of t bytes."""
    answer = expression(answer, "t", "qos")
    usual = {
        268_435_446.0: "count the topic's own length, two bytes, too.",
        268_435_445.0: "the topic's length takes two bytes, and so does the packet id.",
        268_435_442.0: "the largest number is one less than 128 to the fourth.",
        268_435_443.0: "above QoS 0 there is a packet id.",
        268_435_436.0: "the fixed header isn't counted by the length in it.",
    }
    if hint := usual.get(value(answer, (10, 1))):
        return Feedback(False, hint)
    cases = [((t, q), float(128**4 - 1 - 2 - t - 2 * (q > 0))) for t, q in ((10, 0), (10, 1), (10, 2), (65535, 1))]
    return function(answer, cases, 1e-12, absolute=0.5, right="what the length can say, less what stands before.")


# a letter -> which packet was lost when a receiver saw PUBLISH, sent PUBREC, and saw PUBLISH with DUP after a break
EXERCISES["foundations-mqtt-lost"] = Choice("b", "abcd", hints={
    "a": "the receiver's log shows it before the break.",
    "c": "a sender that had PUBREC may not send PUBLISH again: it would have sent PUBREL.",
    "d": "PUBCOMP answers PUBREL, and there was none before the break.",
}, right="so the sender still had PUBLISH to repeat.")  # fmt: skip

# a letter -> how often a subscriber with QoS 1 gets a message published at QoS 2, with breaks on its own leg
EXERCISES["foundations-mqtt-granted"] = Choice("c", "abcd", hints={
    "a": "exactly once is a promise of each leg, and this leg has QoS 1.",
    "b": "at QoS 1 the broker sends until it has an answer.",
    "d": "as long as both sessions last, nothing is lost at QoS 1.",
}, right="the lesser QoS decides on each leg.")  # fmt: skip

# a letter -> what goes wrong if QoS 1's receiver remembers ids for ever
EXERCISES["foundations-mqtt-memory"] = Choice("c", "abcd", hints={
    "a": "it knows the id: the copy is recognised.",
    "b": "PUBACK comes as before.",
    "d": "two bytes an id are not much; think of the ids themselves.",
}, right="it can't tell an old id from one that is used again.")  # fmt: skip


@EXERCISES.called("foundations-mqtt-retained")
def _(answer: Function) -> Feedback:
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
        if answer(dict(kept), *arguments) != wanted:
            return Feedback(False, hint)
    return Feedback(True, "one message a topic, the newest; and an empty one wipes it.")


# The lab: both ends of QoS 2 from bytes


@EXERCISES.called("foundations-mqtt-lab-length")
def _(answer: Function) -> Feedback:
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


@EXERCISES.called("foundations-mqtt-lab-publish")
def _(answer: Function) -> Feedback:
    """Stage 2: topic, payload, packet_id, dup -> bytes of a PUBLISH at QoS 2."""
    cases = [("t", b"ring", 1, False), ("t", b"ring", 1, True), ("häuser", b"x" * 300, 513, False)]
    for topic, payload, packet_id, dup in cases:
        wanted = encode(p.Publish(topic, payload, 2, dup=dup, packet_id=packet_id))
        got = bytes(answer(topic, payload, packet_id, dup))
        if got == wanted:
            continue
        if not got or got[0] != wanted[0]:
            return Feedback(False, f"the first byte is {wanted[0]:#04x}: type 3, then DUP 8, QoS 2 · 2, RETAIN 1.")
        if len(got) == len(wanted) - 2:
            return Feedback(False, "a length of two bytes before the topic, or the packet id, is missing.")
        if len(got) < len(wanted):
            return Feedback(False, "too short: topics are counted in bytes (UTF-8), not in letters.")
        return Feedback(False, f"wanted {wanted[:12].hex(' ')} …, yours begins {got[:12].hex(' ')}.")
    return Feedback(True, "byte for byte what the package sends.")


@EXERCISES.called("foundations-mqtt-lab-cut")
def _(answer: Function) -> Feedback:
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


@EXERCISES.called("foundations-mqtt-lab-receive")
def _(answer: Function) -> Feedback:
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


@EXERCISES.called("foundations-mqtt-lab-acknowledge")
def _(answer: Function) -> Feedback:
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


@EXERCISES.judged("foundations-mqtt-lab-link")
def _(answer: object) -> Feedback:
    """Stage 6: (publish, cut, receive, acknowledge) between two ends whose connection breaks at random."""
    if unanswered(answer):
        return UNANSWERED
    functions: Any = answer
    try:
        publish, cut, receive, acknowledge = functions
    except Exception:  # not four, not a sequence, or an object of the student's own
        return Feedback(False, "submit your four functions: (publish, cut, receive, acknowledge).")
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
    rng: random.Random, publish: Function, cut: Function, receive: Function, acknowledge: Function
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

"""The exercises and the lab of chapter 1, *MQTT, packet by packet*."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import numpy as np

from voicewire.emqtt.reference import answer as acknowledgement
from voicewire.emqtt.reference import length_bytes, publish, read_length
from voicewire.emqtt.trace import BROKER, Step, Trace, label
from voicewire.mqtt.decoder import Decoder
from voicewire_book.chapters.emqtt import _broker_model as model
from voicewire_book.chapters.emqtt._broker_model import ONE, Out
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import Feedback
from voicewire_book.kit.records import Choice, Formula, Nested, Number, Row
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "ONE", "check", "drawn", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given


def _payload(first: int, length: int, topic: int) -> Drawn:
    low, high = length % 128 + 128, length // 128
    qos = first >> 1 & 3
    head = 2 + topic + (2 if qos else 0)
    flags = f"{first:#04x} is {first >> 4:04b} {first & 15:04b}: QoS {qos}"
    given = "so there is a packet id of two bytes" if qos else "so there is no packet id"
    return Drawn(
        f"the stream begins with {first:02x} {low:02x} {high:02x}; the topic has {topic} bytes",
        float(length - head),
        (
            (float(length), "this is the Remaining Length; the topic and more are counted in it."),
            (float(length - head + 2),
             "two bytes too many: the topic is preceded by its length, and above QoS 0 there is a packet id."),
            (float(length - head - 2) if not qos else float(length - 2 - topic - 4),
             "two bytes too few: what stands before the payload here? The QoS is in the first byte."),
            (float(low + 256 * high - head), "this takes eight bits of each byte; a length has seven."),
            (float(low + 128 * high - head), "the eighth bit only says that another byte follows."),
            (float((low - 128) * 128 + high - head), "the lowest seven bits come first."),
            (float(low - 128 - head), "the eighth bit is set: another byte of the length follows."),
        ),
        f"{flags}, {given}.\n"
        f"The length is {low - 128} + 128 · {high} = {length}.\n"
        f"Of these the topic takes 2 + {topic}{' and the packet id 2' if qos else ''}: {length - head} are left.",
        unit="bytes",
        right=f"{length} less {head}.",
        tolerance=1e-9,
    )  # fmt: skip


def _drawn_payload(rng: np.random.Generator) -> tuple[int, ...]:
    first = 0x30 | int(rng.integers(3)) << 1 | int(rng.integers(2))
    return first, 128 * int(rng.integers(1, 12)) + int(rng.integers(40, 120)), int(rng.integers(3, 16))


EXERCISES["emqtt-ex-length"] = Exercise("payload", (0x32, 2026, 11), _drawn_payload, _payload)


def _octets(answer: object) -> object:
    """Return bytes that are written in hexadecimal or binary as numbers, and whatever else as it is."""
    if isinstance(answer, bytes | bytearray):
        return list(answer)
    if isinstance(answer, list | tuple) and answer and all(isinstance(part, str) for part in answer):
        return _octets(" ".join(answer))
    if not isinstance(answer, str):
        return answer
    text = answer.strip(" []()").lower()
    if re.fullmatch(r"0b[01]{1,8}|[01]{8}", text):
        return int(text.removeprefix("0b"), 2)
    if re.search("[a-fx]", text) and re.fullmatch(r"(0x)?([0-9a-f]{2})+([\s,:]+(0x)?([0-9a-f]{2})+)*", text):
        return list(bytes.fromhex(re.sub(r"0x|[\s,:]", "", text)))
    return answer


@EXERCISES.judged("emqtt-ex-first-byte")
def _(answer: object) -> Feedback:
    """First byte of a PUBLISH at QoS 2 with RETAIN that is sent for the second time."""
    return Number(
        0x3D,
        0,
        hints={
            0x35: "this is how it was sent the first time; a repetition says that it is one.",
            0x3C: "RETAIN is bit 0, and it is still to be kept.",
            0x3B: "these QoS bits say 1; QoS 2 is bit 2 of the byte.",
            0x3F: "both QoS bits together would be QoS 3.",
            0x39: "the QoS bits are missing.",
            0x0D: "these are the flags; the upper four bits say that it is a PUBLISH.",
        },
        right="0x3d: type 3, DUP 1, QoS bits 10, RETAIN 1.",
    ).check(_octets(answer))  # fmt: skip


# Packet id and bytes of payload of the PUBLISH at the beginning of a captured stream.
EXERCISES["emqtt-ex-capture"] = Row(
    [258, 7],
    0.0,
    mistakes=[
        ((513, 7), "a packet id has its high byte first."),
        ((3, 7), "3 is the length of the topic; the packet id comes behind the topic."),
        ((258, 9), "the packet id's own two bytes belong to the variable header, not to the payload."),
        ((258, 14), "14 bytes follow the fixed header: topic and packet id are among them."),
        ((258, 11), "the last four bytes are a packet of their own: the length says where the PUBLISH ends."),
        ((7, 258), "the packet id first, then the bytes of payload."),
    ],
    right="14 - (2 + 3) - 2 = 7; what comes behind is a PUBACK.",
)  # fmt: skip

# A function n, t, m -> bytes that one QoS 2 message costs on all legs to n subscribers.
EXERCISES["emqtt-ex-counting"] = Formula(
    lambda n, t, m: (1 + n) * (18 + t + m),
    [(1, 1, 6), (5, 8, 20), (40, 12, 100)],
    [
        (lambda n, t, m: n * (18 + t + m), "the publisher's own leg costs as much as a subscriber's."),
        (lambda n, t, m: (1 + n) * (6 + t + m), "this is PUBLISH alone; three packets answer each other on every leg."),
        (lambda n, t, m: (1 + n) * (10 + t + m), "at QoS 2 three packets come after PUBLISH, not one."),
        (lambda n, t, m: (1 + n) * (16 + t + m),
         "two bytes a leg are missing: the topic's own length, or the packet id."),
        (lambda n, t, m: (1 + n) * (14 + t + m),
         "four bytes a leg are missing: one acknowledgement, or in each of the four packets the byte of the length."),
        (lambda n, t, m: 6 + t + m + n * (18 + t + m), "the publisher gets and gives acknowledgements too."),
    ],
    right="6 + t + m for PUBLISH and three times 4, on each of 1 + n legs.",
)  # fmt: skip

# What a publisher measures from PUBLISH to PUBACK with its subscribers behind a satellite.
EXERCISES["emqtt-ex-puback"] = Choice(
    "a",
    "abcd",
    hints={
        "b": "the message is with the subscriber then; does anybody tell the publisher?",
        "c": "this would be so if PUBACK came from a subscriber.",
        "d": "the broker hands out a message at each subscriber's QoS, but whom does its own PUBACK wait for?",
    },
    right="PUBACK is the broker's; the satellite's delay isn't in it, whoever is behind.",
)  # fmt: skip

# What follows if PUBREL is the first that a broker sends about a message after a break.
EXERCISES["emqtt-ex-pubrel"] = Choice(
    "a",
    "abcd",
    hints={
        "b": "a broker whose PUBLISH is unanswered sends it again, with DUP.",
        "c": "after PUBCOMP the broker has nothing left to send about this message.",
        "d": "PUBREL only says that the packet id may be forgotten; whoever answered PUBLISH has the message.",
    },
    right="only a PUBREC lets the broker go on to PUBREL.",
)  # fmt: skip


def _ends(stream: bytes) -> tuple[int, int]:
    """Return the bytes of the first packet of a stream, and those of its body."""
    size, body = read_length(stream, 1) or (0, 0)
    return body + size, size


@EXERCISES.made("emqtt-ex-missing")
def _() -> Formula:
    """A function stream -> bytes that must still come until the first packet is whole."""
    short, long = publish("T", b"123456", 2, 1), publish("hall/door", bytes(300), 1, 7)
    cases = [(short[:5],), (long[:40],), (short[:2],), (long,), (short + acknowledgement("PUBACK", 7)[:2],)]
    return Formula(
        lambda s: max(0, _ends(s)[0] - len(s)),
        cases,
        [
            (lambda s: max(0, 2 + s[1] - len(s)), "what if the first byte of the length has its eighth bit?"),
            (lambda s: max(0, 2 + s[1] % 128 - len(s)), "the eighth bit of the length says that another byte follows."),
            (lambda s: _ends(s)[0] - len(s), "what if more than one packet has come? Nothing is missing then."),
            (lambda s: max(0, _ends(s)[1] - len(s)),
             "the length counts what follows it: the fixed header comes on top."),
            (lambda s: max(0, 1 + _ends(s)[1] - len(s)),
             "the first byte counts, and so do the bytes that hold the length."),
            (lambda s: _ends(s)[0], "this is the whole packet; some of it has come already."),
        ],
        right="what the length says, and the fixed header, less what is there.",
    )  # fmt: skip


# The lab. A client is a name; what leaves the broker is a list of (name, bytes of one packet).

# Stage 1: the body of a SUBSCRIBE -> packet id, and its filters with their QoS.
EXERCISES["emqtt-lab-broker-subscriptions"] = Nested(
    model.BODIES,
    model.subscriptions,
    [
        (lambda body: (model.subscriptions(body)[0], model.subscriptions(body)[1][:1]),
         "a SUBSCRIBE may have several filters: go on until its body ends."),
        (lambda body: (int.from_bytes(body[:2], "little"), model.subscriptions(body)[1]),
         "the high byte of the packet id comes first."),
        (lambda body: (model.subscriptions(body)[0], [one for one, _ in model.subscriptions(body)[1]]),
         "behind each filter stands a byte with its QoS: give pairs."),
        (lambda body: model.subscriptions(body)[1], "the packet id is missing: its answer must name it."),
    ],
    "each filter ends where its length says.",
)  # fmt: skip

# Stage 2: packet id and filters -> the SUBACK that grants what was asked for.
EXERCISES["emqtt-lab-broker-granted"] = Nested(
    model.GRANTS,
    model.granted,
    [
        (lambda packet_id, filters: model.granted(packet_id, filters[:1]), "one byte for each filter, in their order."),
        (lambda *given: b"\x92" + model.granted(*given)[1:], "the flags of SUBACK are zero: 0x90."),
        (lambda *given: b"\x82" + model.granted(*given)[1:], "0x82 is SUBSCRIBE; SUBACK is type 9."),
        (lambda packet_id, filters: b"\x90" + length_bytes(len(filters)) + bytes(qos for _, qos in filters),
         "the packet id stands before the bytes of QoS, and is counted in the length."),
        (lambda packet_id, filters: bytes([0x90, 2 + len(filters)])
         + model.granted(packet_id, filters)[-2 - len(filters) :],
         "from 126 filters on the Remaining Length has two bytes: `length_bytes`."),
    ],
    "a packet id, and a byte for each filter.",
)  # fmt: skip

# Stage 3: a PUBLISH that came in, what was granted and a packet id -> the copy for one subscriber.
EXERCISES["emqtt-lab-broker-copied"] = Nested(
    model.COPIES,
    model.copied,
    [
        (lambda first, body, most, n: model.copied(first, body, most, n, lesser=max),
         "the lesser of the two: that of the message and that granted."),
        (lambda first, body, most, n: model.copied(first, body, most, n, lesser=lambda qos, granted: granted),
         "what was granted is a limit: a message stays at its QoS."),
        (lambda first, body, most, n: model.copied(first, body, most, n, kept=("packet_id",)),
         "the packet id is the leg's own, not the publisher's."),
        (lambda first, body, most, n: model.copied(first, body, most, n, kept=("retain",)),
         "a client that has subscribed before gets it with RETAIN clear."),
        (lambda first, body, most, n: model.copied(first, body, most, n, kept=("dup",)),
         "DUP says what the publisher did; on this leg it is the first time."),
    ],
    "the lesser QoS, an id of this leg, neither DUP nor RETAIN.",
)  # fmt: skip

# Stage 4: a topic and who has subscribed to what -> who gets it, and at which QoS at most.
EXERCISES["emqtt-lab-broker-routed"] = Nested(
    model.ROUTES,
    model.routed,
    [
        (lambda topic, held: model.routed(topic, held, pick=lambda found: found[0]),
         "not the first filter that fits: the highest QoS of all."),
        (lambda topic, held: model.routed(topic, held, pick=lambda found: found[-1]),
         "not the last filter that fits: the highest QoS of all."),
        (lambda topic, held: model.routed(topic, held, pick=min),
         "the highest QoS of all filters that fit, not the lowest."),
        (lambda topic, held: model.routed(topic, held, fits=lambda pattern, word: pattern == word),
         "a filter may have wildcards: `matches`."),
        (lambda topic, held: dict.fromkeys(held, 0) | model.routed(topic, held),
         "a client without a filter that fits gets nothing, not even at QoS 0."),
    ],
    "one copy a client, at its highest QoS.",
)  # fmt: skip

# Stage 5: first byte and body of any packet of a client -> what goes back to it at once.
EXERCISES["emqtt-lab-broker-replied"] = Nested(
    model.REPLIES,
    model.reply,
    [
        (lambda first, body: due[:2] + body[:2] if (due := model.reply(first, body)) and first >> 4 == 3 else due,
         "a PUBLISH begins with its topic; the packet id stands behind it."),
        (lambda first, body: b"\x40\2\0\0" if first == 0x30 else model.reply(first, body),
         "at QoS 0 nothing is answered."),
        (lambda first, body: b"\x20\2\1\0" if first == 0x10 else model.reply(first, body),
         "no session is kept here: CONNACK says 0 and 0."),
        (lambda first, body: b"\x40\2" + body if first in (0x40, 0x70) else model.reply(first, body),
         "PUBACK and PUBCOMP are the last word: nothing goes back."),
        (lambda first, body: b"\x60\2" + body if first == 0x50 else model.reply(first, body),
         "PUBREL begins with 0x62: its flags are 2."),
    ],
    "each packet type has its answer, or none.",
)  # fmt: skip


@EXERCISES.made("emqtt-lab-broker-served")
def _() -> Nested:
    """Stage 6: what comes in, in pieces -> what goes out after each of them, in sessions not seen before."""
    return Nested(
        [(ONE,), (model.ENDED,), *map(model.session, range(39))],
        model.serve,
        [
            (partial(model.serve, whole=True),
             "TCP cuts packets anywhere: keep each client's rest for the next piece."),
            (partial(model.serve, doubles=True),
             "a PUBLISH of QoS 2 whose id is known, before its PUBREL, is answered and not passed on."),
            (partial(model.serve, late=True), "a new subscriber gets the retained messages that fit, with RETAIN set."),
            (partial(model.serve, keeps=True), "an empty retained message wipes the kept one, and isn't kept itself."),
            (partial(model.serve, stays=True),
             "a client that has gone leaves nothing: no subscription, packet id or half packet."),
            (partial(model.serve, held=True), "a client that has gone has no subscription any more."),
            (partial(model.serve, known=True), "a packet id of QoS 2 goes with its connection: afterwards it is new."),
            (partial(model.serve, rest=True),
             "half a packet of a connection that has ended doesn't begin the next one's."),
            (partial(model.serve, last=True), "in a new session the packet ids of a leg count from 1 again."),
            (partial(model.serve, counts=True), "at QoS 0 a copy has no packet id: don't count one."),
            (partial(model.serve, mixes=True), "packet ids are each publisher's own: two may use the same one."),
            (partial(model.serve, kept=True), "after PUBREL the packet id is free: the next PUBLISH with it is new."),
            (partial(model.serve, others=True), "a publisher that has subscribed gets the message, too."),
            (partial(model.serve, adds=True),
             "a filter that the client has already gets the new QoS, and loses the old."),
            (lambda steps: [out[:1] for out in model.serve(steps)], "several packets may leave after one step."),
        ],
        "packet for packet what the package's broker sends, in 41 sessions.",
    )  # fmt: skip


def drawn(serve: Callable[[Out], list[Out]]) -> Trace:
    """Run a broker of stage 6 on `ONE`, to be drawn."""
    trace = Trace()
    for (name, data), out in zip(ONE, serve(ONE), strict=True):
        moves = [(name, BROKER, data)] + [(BROKER, target, packet) for target, packet in out]
        for source, target, packets in moves:
            for packet in Decoder().feed(packets):
                if label(packet).startswith("PUB"):
                    trace.steps.append(Step(source, target, label(packet), len(packets)))
    return trace

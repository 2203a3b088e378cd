"""The checks of the lab of *MQTT, packet by packet*: a broker up to QoS 2, built in six stages from an empty cell.

A client is a name. What leaves the broker is a list of (name, bytes of one packet). `None` means not answered yet.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from voicewire.emqtt.reference import length_bytes
from voicewire.emqtt.trace import BROKER, Step, Trace, label
from voicewire.mqtt.decoder import Decoder
from voicewire_book.chapters.emqtt import _broker_model as model
from voicewire_book.chapters.emqtt._broker_model import ONE, Filters, Out
from voicewire_book.kit._nested import compared
from voicewire_book.kit.exercises import Feedback, Mistakes

__all__ = [
    "ONE",
    "check_copied",
    "check_granted",
    "check_replied",
    "check_routed",
    "check_served",
    "check_subscriptions",
    "drawn",
]


def check_subscriptions(answer: object) -> Feedback:
    """Stage 1: the body of a SUBSCRIBE -> packet id, and its filters with their QoS."""

    def first(body: bytes) -> tuple[int, Filters]:
        packet_id, found = model.subscriptions(body)
        return packet_id, found[:1]

    def turned(body: bytes) -> tuple[int, Filters]:
        return int.from_bytes(body[:2], "little"), model.subscriptions(body)[1]

    def words(body: bytes) -> tuple[int, list[str]]:
        packet_id, found = model.subscriptions(body)
        return packet_id, [one for one, _ in found]

    mistakes: Mistakes = [
        (first, "a SUBSCRIBE may have several filters: go on until its body ends."),
        (turned, "the high byte of the packet id comes first."),
        (words, "behind each filter stands a byte with its QoS: give pairs."),
        (lambda body: model.subscriptions(body)[1], "the packet id is missing: its answer must name it."),
    ]
    return compared(answer, model.BODIES, model.subscriptions, mistakes, "each filter ends where its length says.")


def check_granted(answer: object) -> Feedback:
    """Stage 2: packet id and filters -> the SUBACK that grants what was asked for."""

    def made(packet_id: int, filters: Filters, first: int = 0x90, least: int = 0, every: bool = True) -> bytes:
        codes = bytes(max(least, qos) for _, qos in (filters if every else filters[:1]))
        return bytes([first]) + length_bytes(2 + len(codes)) + packet_id.to_bytes(2, "big") + codes

    mistakes: Mistakes = [
        (partial(made, every=False), "one byte for each filter, in their order."),
        (partial(made, first=0x92), "the flags of SUBACK are nought: 0x90."),
        (partial(made, first=0x82), "0x82 is SUBSCRIBE; SUBACK is type 9."),
        (
            lambda packet_id, filters: b"\x90" + length_bytes(len(filters)) + bytes(qos for _, qos in filters),
            "the packet id stands before the bytes of QoS, and is counted in the length.",
        ),
        (
            lambda packet_id, filters: (
                bytes([0x90, 2 + len(filters)]) + model.granted(packet_id, filters)[-2 - len(filters) :]
            ),
            "from 126 filters on the Remaining Length has two bytes: `length_bytes`.",
        ),
    ]
    return compared(answer, model.GRANTS, model.granted, mistakes, "a packet id, and a byte for each filter.")


def check_copied(answer: object) -> Feedback:
    """Stage 3: a PUBLISH that came in, what was granted and a packet id -> the copy for one subscriber."""
    mistakes: Mistakes = [
        (partial(model.copied, lesser=max), "the lesser of the two: that of the message and that granted."),
        (
            partial(model.copied, lesser=lambda qos, most: most),
            "what was granted is a limit: a message stays at its QoS.",
        ),
        (partial(model.copied, kept=("packet_id",)), "the packet id is the leg's own, not the publisher's."),
        (partial(model.copied, kept=("retain",)), "who has subscribed before gets it with RETAIN clear."),
        (partial(model.copied, kept=("dup",)), "DUP says what the publisher did; on this leg it is the first time."),
    ]
    said = "the lesser QoS, an id of this leg, neither DUP nor RETAIN."
    return compared(answer, model.COPIES, model.copied, mistakes, said)


def check_routed(answer: object) -> Feedback:
    """Stage 4: a topic and who has subscribed to what -> who gets it, and at which QoS at most."""
    mistakes: Mistakes = [
        (partial(model.routed, pick=lambda found: found[0]), "not the first filter that fits: the highest QoS of all."),
        (partial(model.routed, pick=lambda found: found[-1]), "not the last filter that fits: the highest QoS of all."),
        (partial(model.routed, pick=min), "the highest QoS of all filters that fit, not the lowest."),
        (
            partial(model.routed, fits=lambda pattern, topic: pattern == topic),
            "a filter may have wildcards: `matches`.",
        ),
        (
            lambda topic, held: dict.fromkeys(held, 0) | model.routed(topic, held),
            "who has no filter that fits gets nothing, not even at QoS 0.",
        ),
    ]
    return compared(answer, model.ROUTES, model.routed, mistakes, "one copy a client, at its highest QoS.")


def check_replied(answer: object) -> Feedback:
    """Stage 5: first byte and body of any packet of a client -> what goes back to it at once."""

    def but(change: Callable[[int, bytes], bytes | None]) -> Callable[[int, bytes], bytes]:
        def replied(first: int, body: bytes) -> bytes:
            other = change(first, body)
            return model.reply(first, body) if other is None else other

        return replied

    def head(first: int, body: bytes) -> bytes | None:
        """The packet id where it stands in acknowledgements, taken from a PUBLISH."""
        due = model.reply(first, body)
        return due[:2] + body[:2] if first >> 4 == 3 and due else None

    mistakes: Mistakes = [
        (but(head), "a PUBLISH begins with its topic; the packet id stands behind it."),
        (but(lambda first, body: b"\x40\2\0\0" if first == 0x30 else None), "at QoS 0 nothing is answered."),
        (but(lambda first, body: b"\x20\2\1\0" if first == 0x10 else None), "no session is kept here: "
         "CONNACK says 0 and 0."),
        (but(lambda first, body: b"\x40\2" + body if first in (0x40, 0x70) else None),
         "PUBACK and PUBCOMP are the last word: nothing goes back."),
        (but(lambda first, body: b"\x60\2" + body if first == 0x50 else None), "PUBREL begins with 0x62: its "
         "flags are 2."),
    ]  # fmt: skip
    return compared(answer, model.REPLIES, model.reply, mistakes, "each packet type has its answer, or none.")


def check_served(answer: object) -> Feedback:
    """Stage 6: what comes in, in pieces -> what goes out after each of them, in sessions not seen before."""
    cases = [(ONE,), (model.ENDED,), *map(model.session, range(39))]
    mistakes: Mistakes = [
        (partial(model.serve, whole=True), "TCP cuts packets anywhere: keep each client's rest for the next piece."),
        (partial(model.serve, doubles=True), "a PUBLISH of QoS 2 whose id is known, before its PUBREL, is answered and "
         "not passed on."),
        (partial(model.serve, late=True), "who subscribes gets the retained messages that fit, with RETAIN set."),
        (partial(model.serve, keeps=True), "an empty retained message wipes the kept one, and isn't kept itself."),
        (partial(model.serve, stays=True), "who has gone leaves nothing: no subscription, packet id or half packet."),
        (partial(model.serve, held=True), "who has gone has no subscription any more."),
        (partial(model.serve, known=True), "a packet id of QoS 2 goes with its connection: afterwards it is new."),
        (partial(model.serve, rest=True), "half a packet of a connection that has ended doesn't begin the next one's."),
        (partial(model.serve, last=True), "in a new session the packet ids of a leg count from 1 again."),
        (partial(model.serve, counts=True), "at QoS 0 a copy has no packet id: don't count one."),
        (partial(model.serve, mixes=True), "packet ids are each publisher's own: two may use the same one."),
        (partial(model.serve, kept=True), "after PUBREL the packet id is free: the next PUBLISH with it is new."),
        (partial(model.serve, others=True), "who publishes and has subscribed gets the message, too."),
        (partial(model.serve, adds=True), "a filter that the client has already gets the new QoS, and loses the old."),
        (lambda steps: [out[:1] for out in model.serve(steps)], "several packets may leave after one step."),
    ]  # fmt: skip
    said = "packet for packet what the package's broker sends, in 41 sessions."
    return compared(answer, cases, model.serve, mistakes, said)


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

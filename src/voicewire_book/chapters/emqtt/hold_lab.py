"""The checks of the lab of *Has it arrived?*: a broker that keeps its PUBREC back, built in six stages.

A client is a name. What leaves the broker is a list of (name, bytes of one packet). `None` means not answered yet.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from voicewire.emqtt.reference import Held, after, publish
from voicewire.emqtt.trace import BROKER, PUBLISHER, SUBSCRIBER, Step, Trace, label
from voicewire.mqtt.decoder import Decoder
from voicewire_book.chapters.emqtt import _hold_model as model
from voicewire_book.chapters.emqtt._hold_model import PUBCOMP, PUBREC, PUBREL, QUERY, WAIT_FOR_ALL, Out, Steps
from voicewire_book.kit._nested import compared
from voicewire_book.kit.exercises import Feedback, Mistakes

__all__ = [
    "QUERY",
    "check_acknowledged",
    "check_asked",
    "check_delivered",
    "check_forwarded",
    "check_proof",
    "check_talk",
    "drawn",
]


def check_asked(answer: object) -> Feedback:
    """Stage 1: the body of a PUBLISH of QoS 3 -> topic, packet id, count, ids and payload."""
    mistakes: Mistakes = [
        (
            lambda body: model.asked(body, lambda word: False),
            "the ids are not read: where the highest bit is set, they go before the payload.",
        ),
        (
            lambda body: model.asked(body, lambda word: True),
            "ids follow only where the highest bit of the two bytes is set.",
        ),
        (
            lambda body: model.asked(body, mask=0xFFFF),
            "the highest bit says that ids follow; it is no part of the count.",
        ),
        (lambda body: model.asked(body, all_=WAIT_FOR_ALL), "a count of 16383 stands for all: give ALL."),
    ]
    return compared(
        answer, model.BODIES, model.asked, mistakes, "topic, packet id, count, ids, payload: each ends where it says."
    )


def check_forwarded(answer: object) -> Feedback:
    """Stage 2: topic, payload and packet id -> the PUBLISH that a subscriber gets."""
    mistakes: Mistakes = [
        (
            lambda topic, payload, n: publish(topic, payload, 3, n),
            "at QoS 3 two bytes of count stand before the payload, here both nought.",
        ),
        (
            lambda topic, payload, n: publish(topic, b"\0\0" + payload, 2, n),
            "the first byte says QoS 2: at QoS 3 both bits are set.",
        ),
        (lambda topic, payload, n: publish(topic, payload + b"\0\0", 3, n), "the count stands before the payload."),
        (
            lambda topic, payload, n: publish(topic, n.to_bytes(2, "big") + payload, 3, 0),
            "the packet id comes first, then the count.",
        ),
    ]
    return compared(
        answer, model.MESSAGES, model.forwarded, mistakes, "both QoS bits, a packet id, and a count of nought."
    )


def check_delivered(answer: object) -> Feedback:
    """Stage 3: a message and its subscribers -> what goes to each, and the packet ids that are used."""

    def common(topic: str, payload: bytes, names: set[str], last: dict[str, int]) -> tuple[Out, dict[str, int]]:
        most = max(last.values(), default=0)
        out = [(name, model.forwarded(topic, payload, most + 1)) for name in sorted(names)]
        return out, last | dict.fromkeys(names, most + 1)

    def only(topic: str, payload: bytes, names: set[str], last: dict[str, int]) -> tuple[Out, dict[str, int]]:
        out, ids = model.delivered(topic, payload, names, last)
        return out, {name: ids[name] for name in names}

    mistakes: Mistakes = [
        (common, "each leg has packet ids of its own: they count from 1 for each subscriber."),
        (only, "who gets nothing this time keeps his last id: copy `last`, and change it."),
        (partial(model.delivered, ids=lambda n: 1), "id 1 may still be in use: go on from the last one."),
        (
            lambda *given: (model.delivered(*given)[0], given[3]),
            "the ids that you used must be in the dict that you give back.",
        ),
        (
            lambda *given: (model.delivered(*given)[0][::-1], model.delivered(*given)[1]),
            "the names in alphabetical order.",
        ),
    ]
    return compared(answer, model.NAMES, model.delivered, mistakes, "one message, a packet id of its own on each leg.")


def check_acknowledged(answer: object) -> Feedback:
    """Stage 4: first byte and body of an acknowledgement -> what goes back to who sent it."""
    mistakes: Mistakes = [
        (
            lambda first, body: b"" if first == PUBCOMP else model.whole(first + 16, body),
            "a PUBREC may carry an answer behind its packet id: send the two bytes of the id back, and no more.",
        ),
        (
            lambda first, body: model.whole(first, body[:2]),
            "the next in the row goes back: PUBREL for PUBREC, PUBCOMP for PUBREL.",
        ),
        (
            lambda first, body: (
                model.whole({PUBREC: 0x62, PUBREL: 0x70}.get(first, 0), body[:2]) if first != PUBCOMP else b""
            ),
            "these are the first bytes of QoS 2: at QoS 3 each has 4 more (PUBREL, 0x62 at QoS 2) or 6 (the others).",
        ),
        (lambda first, body: model.whole(first + 16, body[:2]), "nothing answers PUBCOMP."),
    ]
    return compared(answer, model.TAKEN, model.acknowledged, mistakes, "PUBREL, PUBCOMP, and then nothing.")


def check_proof(answer: object) -> Feedback:
    """Stage 5: a hold and an event -> PUBREC for the publisher, if this event completes the hold."""

    def told(
        held: Held, event: str, name: str, packet_id: int, verdicts: tuple[str, ...], first: int = PUBREC
    ) -> bytes:
        was = held.verdict
        now = after(held, event, name).verdict
        return model.short(first, packet_id) if now in verdicts and (was == "open" or "again" in verdicts) else b""

    mistakes: Mistakes = [
        (
            partial(told, verdicts=("complete", "again")),
            "once it is complete the publisher has been told: look at the verdict before the event, too.",
        ),
        (partial(told, verdicts=("complete", "short")), "a PUBREC is a proof: for *short* there is none."),
        (
            partial(told, verdicts=("complete", "short", "timeout")),
            "a PUBREC is a proof: only *complete* has one.",
        ),
        (partial(told, verdicts=("complete",), first=0x50), "0x50 is PUBREC of QoS 2; at QoS 3 it is 0x56."),
        (
            lambda held, event, name, n: model.short(PUBREC, n) if event == "answer" else b"",
            "an answer proves little by itself: `after` says whether it was the last that was needed.",
        ),
    ]
    return compared(
        answer, model.holds(), model.proof, mistakes, "told once, at the very answer that makes it complete."
    )


def check_talk(answer: object) -> Feedback:
    """Stage 6: subscribers and what comes in -> what goes out after each step, in 40 talks not seen before."""
    cases = [({"q": {"ann", "bob", "cat"}}, QUERY), *map(model.others, (1, 2)), *map(model.conversation, range(40))]
    mistakes: Mistakes = [
        (
            partial(model.talk, again=True),
            "a PUBLISH that comes again before its PUBREL is not delivered again, and its hold stays as it is.",
        ),
        (
            partial(model.talk, silent=True),
            "a PUBLISH that comes again after the proof gets PUBREC again: the first one may be lost.",
        ),
        (
            partial(model.talk, early=True),
            "that PUBREC says that the broker has it; keep it until `proof` gives it.",
        ),
        (
            partial(model.talk, mixes=True),
            "packet ids are each publisher's own: keep the holds under both, name and id.",
        ),
        (
            partial(model.talk, named=True),
            "the message goes to all subscribers of its topic; the names say whose answer counts.",
        ),
        (
            partial(model.talk, kept=True),
            "PUBREL ends it: forget the hold, for the next PUBLISH with this packet id is a new message.",
        ),
        (partial(model.talk, stays=True), "whose session has ended gets nothing any more."),
        (
            lambda *given: [out[:1] for out in model.talk(*given)],
            "more than one packet may leave after a step: PUBREL to the subscriber, and the proof.",
        ),
    ]
    return compared(
        answer, cases, model.talk, mistakes, "packet for packet what the package's broker sends, in 43 talks."
    )


def drawn(talk: Callable[[dict[str, set[str]], Steps], list[Out]]) -> Trace:
    """Run a broker of stage 6 on `QUERY`, to be drawn."""
    trace = Trace()

    def note(name: str, data: bytes, into: bool) -> None:
        who = PUBLISHER if name == "doctor" else SUBSCRIBER
        for packet in Decoder().feed(data):
            source, target = (who, BROKER) if into else (BROKER, who)
            trace.steps.append(Step(source, target, f"{label(packet)}, {name}", len(data)))

    for (name, data), out in zip(QUERY, talk({"q": {"ann", "bob", "cat"}}, QUERY), strict=True):
        note(name, data, True)
        for target, packet in out:
            note(target, packet, False)
    return trace

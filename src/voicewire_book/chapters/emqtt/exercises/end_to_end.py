"""The exercises and the lab of chapter 2, *Has it arrived? The end-to-end problem, and E-MQTT*."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from voicewire.emqtt.reference import Held, after, publish
from voicewire.emqtt.trace import BROKER, PUBLISHER, SUBSCRIBER, Step, Trace, label
from voicewire.mqtt.decoder import Decoder
from voicewire_book.chapters.emqtt import _hold_model as model
from voicewire_book.chapters.emqtt._hold_model import PUBCOMP, PUBREC, PUBREL, QUERY, WAIT_FOR_ALL, Out, Steps
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.records import Choice, Formula, Nested, Number
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "QUERY", "check", "drawn", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given

_WORDS = ("no", "one", "two", "three", "four", "five", "six")


def _ward(sensors: int, percent: int) -> Drawn:
    late = percent / 100
    punctual = 1 - late
    few = sensors - 1

    def enough(p: float) -> float:
        return sensors * p**few * (1 - p) + p**sensors

    all_, least = _WORDS[sensors], _WORDS[few]
    return Drawn(
        f"n = {sensors}, k = {few}, each late with {late:g}",
        enough(punctual),
        (
            (punctual**sensors, f"this is all {all_}; {least} of them are enough."),
            (sensors * punctual**few * late, f"this is exactly {least}; {all_} will do as well."),
            (punctual**few, f"these are {least} certain ones, whatever the other does: any {least} will do."),
            (punctual**few * late,
             f"this is one choice of the late one; there are {all_}. And all {all_} may be in time."),
            (1 - enough(punctual), "this is that too few are in time."),
            (enough(late), f"{late:g} is the probability to be late."),
        ),
        f"Exactly {least}: any of the {all_} may be the late one, {sensors} · {punctual:g}^{few} · {late:g} = "
        f"{sensors * punctual**few * late:.3f}.\n"
        f"All {all_}: {punctual:g}^{sensors} = {punctual**sensors:.3f}. Together {enough(punctual):.3f}.",
        right=f"any of {all_} may be the late one, or none.",
        tolerance=1e-3,
    )  # fmt: skip


EXERCISES["emqtt-ex-ward"] = Exercise(
    "ward", (5, 10), lambda rng: (int(rng.integers(3, 7)), int(rng.choice([5, 10, 20, 25, 30, 40]))), _ward
)

# Packets of a confirmed query in MQTT where E-MQTT takes 68.
EXERCISES["emqtt-ex-eighty"] = Number(
    196,
    0,
    hints={
        204: "only what is done for each subscriber is three times as much; the query's own four packets are not.",
        192: "these are the packets of the subscribers; four are between publisher and broker.",
        100: "this is with responses at QoS 0.",
        208: "of the 68 packets four are the query's own: divide the others by four.",
        820: "68 is the number of packets, not of subscribers.",
    },
    right="16 subscribers: 4 + 4 · 16 in E-MQTT, 4 + 12 · 16 in MQTT.",
)  # fmt: skip

# Milliseconds by which E-MQTT is sooner: 5 subscribers, 8 kbit/s, 30 ms each way, 40 bytes of headers.
EXERCISES["emqtt-ex-link"] = Number(
    263,
    0,
    absolute=1e-6,
    unit="ms",
    hints={
        63: "each packet has 40 bytes of TCP and IP around it.",
        65: "each packet has 40 bytes around it; and both PUBLISH packets are not equally long.",
        265: "both PUBLISH packets are not equally long.",
        267: "E-MQTT's PUBLISH is the longer one: its two bytes are lost, not won.",
        323: "the propagation is in both delays: it cancels.",
        422: "this is MQTT's delay; how long does E-MQTT take?",
        159: "this is E-MQTT's delay; how long does MQTT take?",
        51: "five responses cross the link, one after the other.",
    },
    right="5 · 53 - 2 = 263 bytes fewer, and a byte takes a millisecond.",
)  # fmt: skip

# A function t, m -> bytes of the longest ids with which naming costs no more than the responses.
EXERCISES["emqtt-ex-naming"] = Formula(
    lambda t, m: 3 + t + m,
    [(1, 6), (9, 2), (20, 0), (1, 0)],
    [
        (lambda t, m: 4 + t + m, "a byte stands before each id in the packet."),
        (lambda t, m: 5 + t + m, "a response at QoS 0 has no packet id."),
        (lambda t, m: 2 + t + m, "no more bytes than the responses: as many bytes are allowed, too."),
        (lambda t, m: 1 + t + m, "two bytes are missing: the fixed header's, or those of the topic's length."),
        (lambda t, m: t + m, "topic and payload are not the whole response: what stands before each of them?"),
    ],
    right="1 + b bytes an id against 4 + t + m a response.",
)  # fmt: skip

# A function n, h -> what MQTT's delay over E-MQTT's tends to as the link gets slower.
EXERCISES["emqtt-ex-gain"] = Formula(
    lambda n, h: (17 + 2 * h + n * (13 + h)) / (19 + 2 * h),
    [(80, 0), (1, 40), (10, 20), (300, 52)],
    [
        (lambda n, h: (17 + 13 * n) / 19, "each packet has h bytes around it."),
        (lambda n, h: n * (13 + h) / (19 + 2 * h), "MQTT has to send its query and to get its PUBREC as well."),
        (lambda n, h: (17 + 2 * h + n * (25 + 4 * h)) / (19 + 2 * h),
         "the responses' own acknowledgements come behind them, and do not count."),
        (lambda n, h: (19 + 2 * h) / (17 + 2 * h + n * (13 + h)), "divide MQTT's delay by E-MQTT's."),
        (lambda n, h: (17 + 2 * h + n * (13 + h)) / (17 + 2 * h), "E-MQTT's PUBLISH has two bytes more."),
        (lambda n, h: 1, "the link gets slower, not faster: what remains of the propagation?"),
    ],
    right="the propagation no longer counts, nor does the rate: bytes over bytes.",
)  # fmt: skip

# What a publisher knows of the one subscriber that hasn't answered within its time limit.
EXERCISES["emqtt-ex-too-few"] = Choice(
    "c",
    "abcd",
    hints={
        "a": "it may have come, and its PUBREC may be under way.",
        "b": "if a subscriber is lost for good, the publisher is told so without waiting for the limit.",
        "d": "the limit ends the publisher's wait; it takes no message back.",
    },
    right="an answer proves that the message is there; that there is none proves nothing.",
)  # fmt: skip

# Where the line for responses at QoS 1 lies in the figure of packets that the publisher receives.
EXERCISES["emqtt-ex-line"] = Choice(
    "a",
    "abcd",
    hints={
        "b": "who sends the PUBACK of a response: the publisher or the broker?",
        "c": "at QoS 2 the publisher receives PUBREL too; what of a response does it receive at QoS 1?",
        "d": "each response still comes as a packet of its own.",
    },
    right="of each response only its PUBLISH is received; its PUBACK is sent.",
)  # fmt: skip


def _due(
    groups: list[list[str]],
    answers: list[str],
    enough: Callable[[int, int], bool] = lambda k, n: 2 * k >= n,
    distinct: bool = True,
    every: bool = True,
) -> int:
    """Return after how many answers enough of every group have answered, or of one group; 0 if that never happens."""
    for count in range(1, len(answers) + 1):
        come = list(set(answers[:count])) if distinct else answers[:count]
        done = [enough(sum(name in group for name in come), len(group)) for group in groups]
        if all(done) if every else any(done):
            return count
    return 0


@EXERCISES.made("emqtt-ex-quorum")
def _() -> Formula:
    """A function groups, answers -> after how many answers half of every group has answered; 0 if never."""
    wards = [["ann", "bob", "cat"], ["dan", "eve"]]
    return Formula(
        _due,
        [
            (wards, ["ann", "bob", "cat"]), (wards, ["ann", "dan", "bob", "eve"]),
            (wards, ["ann", "ann", "dan", "bob", "cat"]), ([["ann", "bob"], ["bob", "cat"]], ["eve", "bob", "ann"]),
            ([["ann"]], []),
        ],
        [
            (lambda g, a: _due(g, a, distinct=False), "each subscriber counts once, however often it answers."),
            (lambda g, a: _due(g, a, enough=lambda k, n: k >= n // 2), "of three, one is less than half."),
            (lambda g, a: _due(g, a, enough=lambda k, n: 2 * k > n), "at least half is asked, not more than half."),
            (lambda g, a: _due([list({c for one in g for c in one})], a),
             "half of each group, not half of all together."),
            (lambda g, a: max(0, _due(g, a) - 1), "how many answers had come, not the index of the last one."),
            (lambda g, a: _due(g, a, every=False), "every group must have its half, not just one of them."),
        ],
        right="a hold for each group, and PUBREC with the last of them.",
    )  # fmt: skip


# The lab. A client is a name; what leaves the broker is a list of (name, bytes of one packet).

# Stage 1: the body of a PUBLISH of QoS 3 -> topic, packet id, count, ids and payload.
EXERCISES["emqtt-lab-hold-asked"] = Nested(
    model.BODIES,
    model.asked,
    [
        (lambda body: model.asked(body, lambda word: False),
         "the ids are not read: where the highest bit is set, they go before the payload."),
        (lambda body: model.asked(body, lambda word: True),
         "ids follow only where the highest bit of the two bytes is set."),
        (lambda body: model.asked(body, mask=0xFFFF),
         "the highest bit says that ids follow; it is no part of the count."),
        (lambda body: model.asked(body, all_=WAIT_FOR_ALL), "a count of 16383 stands for all: give ALL."),
    ],
    "topic, packet id, count, ids, payload: each ends where it says.",
)  # fmt: skip

# Stage 2: topic, payload and packet id -> the PUBLISH that a subscriber gets.
EXERCISES["emqtt-lab-hold-forwarded"] = Nested(
    model.MESSAGES,
    model.forwarded,
    [
        (lambda topic, payload, n: publish(topic, payload, 3, n),
         "at QoS 3 two bytes of count stand before the payload, here both zero."),
        (lambda topic, payload, n: publish(topic, b"\0\0" + payload, 2, n),
         "the first byte says QoS 2: at QoS 3 both bits are set."),
        (lambda topic, payload, n: publish(topic, payload + b"\0\0", 3, n), "the count stands before the payload."),
        (lambda topic, payload, n: publish(topic, n.to_bytes(2, "big") + payload, 3, 0),
         "the packet id comes first, then the count."),
    ],
    "both QoS bits, a packet id, and a count of zero.",
)  # fmt: skip


@EXERCISES.made("emqtt-lab-hold-delivered")
def _() -> Nested:
    """Stage 3: a message and its subscribers -> what goes to each, and the packet ids that are used."""

    def common(topic: str, payload: bytes, names: set[str], last: dict[str, int]) -> tuple[Out, dict[str, int]]:
        most = max(last.values(), default=0)
        out = [(name, model.forwarded(topic, payload, most + 1)) for name in sorted(names)]
        return out, last | dict.fromkeys(names, most + 1)

    def only(topic: str, payload: bytes, names: set[str], last: dict[str, int]) -> tuple[Out, dict[str, int]]:
        out, ids = model.delivered(topic, payload, names, last)
        return out, {name: ids[name] for name in names}

    return Nested(
        model.NAMES,
        model.delivered,
        [
            (common, "each leg has packet ids of its own: they count from 1 for each subscriber."),
            (only, "a name that gets nothing this time keeps its last id: copy `last`, and change it."),
            (partial(model.delivered, ids=lambda n: 1), "id 1 may still be in use: go on from the last one."),
            (lambda *given: (model.delivered(*given)[0], given[3]),
             "the ids that you used must be in the dict that you return."),
            (lambda *given: (model.delivered(*given)[0][::-1], model.delivered(*given)[1]),
             "the names in alphabetical order."),
        ],
        "one message, a packet id of its own on each leg.",
    )  # fmt: skip


# Stage 4: first byte and body of an acknowledgement -> what goes back to who sent it.
EXERCISES["emqtt-lab-hold-acknowledged"] = Nested(
    model.TAKEN,
    model.acknowledged,
    [
        (lambda first, body: b"" if first == PUBCOMP else model.whole(first + 16, body),
         "a PUBREC may carry an answer behind its packet id: send the two bytes of the id back, and no more."),
        (lambda first, body: model.whole(first, body[:2]),
         "the next in the row goes back: PUBREL for PUBREC, PUBCOMP for PUBREL."),
        (lambda first, body: model.whole({PUBREC: 0x62, PUBREL: 0x70}[first], body[:2]) if first in (PUBREC, PUBREL)
         else b"" if first == PUBCOMP else model.whole(0, body[:2]),
         "these are the first bytes of QoS 2: at QoS 3 each has 4 more (PUBREL, 0x62 at QoS 2) or 6 (the others)."),
        (lambda first, body: model.whole(first + 16, body[:2]), "nothing answers PUBCOMP."),
    ],
    "PUBREL, PUBCOMP, and then nothing.",
)  # fmt: skip


@EXERCISES.made("emqtt-lab-hold-proof")
def _() -> Nested:
    """Stage 5: a hold and an event -> PUBREC for the publisher, if this event completes the hold."""

    def told(held: Held, event: str, name: str, n: int, verdicts: tuple[str, ...], first: int = PUBREC) -> bytes:
        was = held.verdict
        now = after(held, event, name).verdict
        return model.short(first, n) if now in verdicts and (was == "open" or "again" in verdicts) else b""

    return Nested(
        model.holds(),
        model.proof,
        [
            (partial(told, verdicts=("complete", "again")),
             "once it is complete the publisher has been told: look at the verdict before the event, too."),
            (partial(told, verdicts=("complete", "short")), "a PUBREC is a proof: for *short* there is none."),
            (partial(told, verdicts=("complete", "short", "timeout")), "a PUBREC is a proof: only *complete* has one."),
            (partial(told, verdicts=("complete",), first=0x50), "0x50 is PUBREC of QoS 2; at QoS 3 it is 0x56."),
            (lambda held, event, name, n: model.short(PUBREC, n) if event == "answer" else b"",
             "an answer proves little by itself: `after` says whether it was the last that was needed."),
        ],
        "told once, at the very answer that makes it complete.",
    )  # fmt: skip


@EXERCISES.made("emqtt-lab-hold-talk")
def _() -> Nested:
    """Stage 6: subscribers and what comes in -> what goes out after each step, in 40 talks not seen before."""
    return Nested(
        [({"q": {"ann", "bob", "cat"}}, QUERY), *map(model.others, (1, 2)), *map(model.conversation, range(40))],
        model.talk,
        [
            (partial(model.talk, again=True),
             "a PUBLISH that comes again before its PUBREL is not delivered again, and its hold stays as it is."),
            (partial(model.talk, silent=True),
             "a PUBLISH that comes again after the proof gets PUBREC again: the first one may be lost."),
            (partial(model.talk, early=True),
             "that PUBREC says that the broker has it; keep it until `proof` gives it."),
            (partial(model.talk, mixes=True),
             "packet ids are each publisher's own: keep the holds under both, name and id."),
            (partial(model.talk, named=True),
             "the message goes to all subscribers of its topic; the names say whose answer counts."),
            (partial(model.talk, kept=True),
             "PUBREL ends it: forget the hold, for the next PUBLISH with this packet id is a new message."),
            (partial(model.talk, stays=True), "a client whose session has ended gets nothing any more."),
            (lambda *given: [out[:1] for out in model.talk(*given)],
             "more than one packet may leave after a step: PUBREL to the subscriber, and the proof."),
        ],
        "packet for packet what the package's broker sends, in 43 talks.",
    )  # fmt: skip


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

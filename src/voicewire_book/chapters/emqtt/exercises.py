"""The checks of the exercises of *E-MQTT*: right in any form, and a hint of its own for each usual mistake.

Each `check_…` takes whatever a student hands over and returns a `Feedback`; None means not answered yet. Where a
function is asked, a usual mistake is a function too: what agrees with it in every case tried gets its hint.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from voicewire.emqtt import counting
from voicewire.emqtt.reference import answer as acknowledgement
from voicewire.emqtt.reference import publish, read_length
from voicewire_book.chapters.emqtt.drawn import GAUGE, PAYLOAD, WARD
from voicewire_book.kit.exercises import Feedback, Mistakes, choice, formula, number, sequence, unanswered

__all__ = [
    "check_bridge",
    "check_capture",
    "check_contradiction",
    "check_first_byte",
    "check_gain",
    "check_gauge",
    "check_late",
    "check_line",
    "check_load",
    "check_longest_id",
    "check_messages",
    "check_missing",
    "check_near_one",
    "check_pairs",
    "check_payload",
    "check_puback",
    "check_pubrel",
    "check_quorum",
    "check_sooner",
    "check_table3",
    "check_ward",
    "check_weight",
]

"""What a student who makes a mistake would write, and what to say to it."""


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


def _numbers(
    answer: object, wanted: Sequence[float], mistakes: dict[tuple[float, ...], str], right: str, tolerance: float = 0.0
) -> Feedback:
    """Judge a row of numbers, the usual wrong rows first."""
    verdict = sequence(answer, wanted, tolerance, right=right)
    if not verdict and not unanswered(answer):
        for row, hint in mistakes.items():
            if sequence(answer, row, tolerance):
                return Feedback(False, hint)
    return verdict


def check_first_byte(answer: object) -> Feedback:
    """First byte of a PUBLISH at QoS 2 with RETAIN that is sent for the second time."""
    hints: dict[float, str] = {
        0x35: "this is how it was sent the first time; a repetition says that it is one.",
        0x3C: "RETAIN is bit 0, and it is still to be kept.",
        0x3B: "these QoS bits say 1; QoS 2 is bit 2 of the byte.",
        0x3F: "both QoS bits together would be QoS 3.",
        0x39: "the QoS bits are missing.",
        0x0D: "these are the flags; the upper four bits say that it is a PUBLISH.",
    }
    return number(_octets(answer), 0x3D, 0, hints=hints, right="0x3d: type 3, DUP 1, QoS bits 10, RETAIN 1.")


def check_payload(answer: object, seed: int | None = None) -> Feedback:
    """Bytes of payload of a PUBLISH, from the first three bytes of the stream and the length of its topic."""
    return PAYLOAD.own(seed).check(answer)


def check_capture(answer: object) -> Feedback:
    """Packet id and bytes of payload of the PUBLISH at the beginning of a captured stream."""
    mistakes: dict[tuple[float, ...], str] = {
        (513, 7): "a packet id has its high byte first.",
        (3, 7): "3 is the length of the topic; the packet id comes behind the topic.",
        (258, 9): "the packet id's own two bytes belong to the variable header, not to the payload.",
        (258, 14): "14 bytes follow the fixed header: topic and packet id are among them.",
        (258, 11): "the last four bytes are a packet of their own: the length says where the PUBLISH ends.",
        (7, 258): "the packet id first, then the bytes of payload.",
    }
    return _numbers(answer, [258, 7], mistakes, "14 - (2 + 3) - 2 = 7; what comes behind is a PUBACK.")


def check_weight(answer: object) -> Feedback:
    """A function n, t, m -> bytes that one QoS 2 message costs on all legs to n subscribers."""
    mistakes: Mistakes = [
        (lambda n, t, m: n * (18 + t + m), "the publisher's own leg costs as much as a subscriber's."),
        (lambda n, t, m: (1 + n) * (6 + t + m), "this is PUBLISH alone; three packets answer each other on every leg."),
        (lambda n, t, m: (1 + n) * (10 + t + m), "at QoS 2 not one packet comes behind PUBLISH, but three."),
        (
            lambda n, t, m: (1 + n) * (16 + t + m),
            "two bytes a leg are missing: the topic's own length, or the packet id.",
        ),
        (
            lambda n, t, m: (1 + n) * (14 + t + m),
            "four bytes a leg are missing: one acknowledgement, or in each of the four packets the byte of the length.",
        ),
        (lambda n, t, m: 6 + t + m + n * (18 + t + m), "the publisher gets and gives acknowledgements too."),
    ]
    cases = [(1, 1, 6), (5, 8, 20), (40, 12, 100)]
    right = "6 + t + m for PUBLISH and three times 4, on each of 1 + n legs."
    return formula(answer, lambda n, t, m: (1 + n) * (18 + t + m), cases, mistakes, right=right)


def check_puback(answer: object) -> Feedback:
    """What a publisher measures from PUBLISH to PUBACK with its subscribers behind a satellite."""
    hints = {
        "b": "the message is with the subscriber then; does anybody tell the publisher?",
        "c": "this would be so if PUBACK came from a subscriber.",
        "d": "the broker hands out a message at each subscriber's QoS, but whom does its own PUBACK wait for?",
    }
    right = "PUBACK is the broker's; the satellite's delay isn't in it, whoever is behind."
    return choice(answer, "a", ["a", "b", "c", "d"], hints=hints, right=right)


def check_pubrel(answer: object) -> Feedback:
    """What follows if PUBREL is the first that a broker sends about a message after a break."""
    hints = {
        "b": "a broker whose PUBLISH is unanswered sends it again, with DUP.",
        "c": "after PUBCOMP the broker has nothing left to send about this message.",
        "d": "PUBREL only says that the packet id may be forgotten; who answered PUBLISH has the message.",
    }
    right = "only a PUBREC lets the broker go on to PUBREL."
    return choice(answer, "a", ["a", "b", "c", "d"], hints=hints, right=right)


def _ends(stream: bytes) -> tuple[int, int]:
    """Return the bytes of the first packet of a stream, and those of its body."""
    size, body = read_length(stream, 1) or (0, 0)
    return body + size, size


def check_missing(answer: object) -> Feedback:
    """A function stream -> bytes that must still come until the first packet is whole."""
    mistakes: Mistakes = [
        (lambda s: max(0, 2 + s[1] - len(s)), "what if the first byte of the length has its eighth bit?"),
        (lambda s: max(0, 2 + s[1] % 128 - len(s)), "the eighth bit of the length says that another byte follows."),
        (lambda s: _ends(s)[0] - len(s), "what if more than one packet has come? Nothing is missing then."),
        (lambda s: max(0, _ends(s)[1] - len(s)), "the length counts what follows it: the fixed header comes on top."),
        (
            lambda s: max(0, 1 + _ends(s)[1] - len(s)),
            "the first byte counts, and so do the bytes that hold the length.",
        ),
        (lambda s: _ends(s)[0], "this is the whole packet; some of it has come already."),
    ]
    short, long = publish("T", b"123456", 2, 1), publish("hall/door", bytes(300), 1, 7)
    cases = [(short[:5],), (long[:40],), (short[:2],), (long,), (short + acknowledgement("PUBACK", 7)[:2],)]
    right = "what the length says, and the fixed header, less what is there."
    return formula(answer, lambda s: max(0, _ends(s)[0] - len(s)), cases, mistakes, right=right)


def check_messages(answer: object) -> Feedback:
    """Packets of a confirmed query in MQTT where E-MQTT takes 68."""
    hints: dict[float, str] = {
        204: "only what is done for each subscriber is three times as much; the query's own four packets are not.",
        192: "these are the packets of the subscribers; four are between publisher and broker.",
        100: "this is with responses at QoS 0.",
        208: "of the 68 packets four are the query's own: divide the others by four.",
        820: "68 is the number of packets, not of subscribers.",
    }
    return number(answer, 196, 0, hints=hints, right="16 subscribers: 4 + 4 · 16 in E-MQTT, 4 + 12 · 16 in MQTT.")


def check_sooner(answer: object) -> Feedback:
    """Milliseconds by which E-MQTT is sooner: 5 subscribers, 8 kbit/s, 30 ms each way, 40 bytes of headers."""
    hints: dict[float, str] = {
        63: "each packet has 40 bytes of TCP and IP around it.",
        65: "each packet has 40 bytes around it; and both PUBLISH packets are not equally long.",
        265: "both PUBLISH packets are not equally long.",
        267: "E-MQTT's PUBLISH is the longer one: its two bytes are lost, not won.",
        323: "the propagation is in both delays: it cancels.",
        422: "this is MQTT's delay; how long does E-MQTT take?",
        159: "this is E-MQTT's delay; how long does MQTT take?",
        51: "five responses cross the link, one after the other.",
    }
    right = "5 · 53 - 2 = 263 bytes fewer, and a byte takes a millisecond."
    return number(answer, 263, 0, absolute=1e-6, unit="ms", hints=hints, right=right)


def check_ward(answer: object, seed: int | None = None) -> Feedback:
    """Probability that at least four of five sensors are in time, each late with a probability of a tenth."""
    return WARD.own(seed).check(answer)


def check_longest_id(answer: object) -> Feedback:
    """A function t, m -> bytes of the longest ids with which naming costs no more than the responses."""
    mistakes: Mistakes = [
        (lambda t, m: 4 + t + m, "a byte stands before each id in the packet."),
        (lambda t, m: 5 + t + m, "a response at QoS 0 has no packet id."),
        (lambda t, m: 2 + t + m, "no more bytes than the responses: as many are allowed."),
        (lambda t, m: 1 + t + m, "two bytes are missing: the fixed header's, or those of the topic's length."),
        (lambda t, m: t + m, "topic and payload are not the whole response: what stands before each of them?"),
    ]
    cases = [(1, 6), (9, 2), (20, 0), (1, 0)]
    right = "1 + k bytes an id against 4 + t + m a response."
    return formula(answer, lambda t, m: 3 + t + m, cases, mistakes, right=right)


def check_gain(answer: object) -> Feedback:
    """A function n, h -> what MQTT's delay over E-MQTT's tends to as the link gets slower."""
    mistakes: Mistakes = [
        (lambda n, h: (17 + 13 * n) / 19, "each packet has h bytes around it."),
        (lambda n, h: n * (13 + h) / (19 + 2 * h), "MQTT has to send its query and to get its PUBREC as well."),
        (
            lambda n, h: (17 + 2 * h + n * (25 + 4 * h)) / (19 + 2 * h),
            "the responses' own acknowledgements come behind them, and do not count.",
        ),
        (lambda n, h: (19 + 2 * h) / (17 + 2 * h + n * (13 + h)), "MQTT's delay stands above E-MQTT's."),
        (lambda n, h: (17 + 2 * h + n * (13 + h)) / (17 + 2 * h), "E-MQTT's PUBLISH has two bytes more."),
        (lambda n, h: 1, "the link gets slower, not faster: what remains of the propagation?"),
    ]
    cases = [(80, 0), (1, 40), (10, 20), (300, 52)]
    right = "the propagation no longer counts, nor does the rate: bytes over bytes."
    return formula(answer, lambda n, h: (17 + 2 * h + n * (13 + h)) / (19 + 2 * h), cases, mistakes, right=right)


def check_late(answer: object) -> Feedback:
    """What a publisher knows of the one subscriber that hasn't answered within its time limit."""
    hints = {
        "a": "it may have come, and its PUBREC may be under way.",
        "b": "of a subscriber that is lost for good the publisher is told so, without waiting for the limit.",
        "d": "the limit ends the publisher's wait; it takes no message back.",
    }
    right = "an answer proves that the message is there; that there is none proves nothing."
    return choice(answer, "c", ["a", "b", "c", "d"], hints=hints, right=right)


def check_line(answer: object) -> Feedback:
    """Where the line for responses at QoS 1 lies in the figure of packets that the publisher receives."""
    hints = {
        "b": "who sends the PUBACK of a response: the publisher or the broker?",
        "c": "at QoS 2 the publisher receives PUBREL too; what of a response does it receive at QoS 1?",
        "d": "each response still comes as a packet of its own.",
    }
    right = "of each response only its PUBLISH is received; its PUBACK is sent."
    return choice(answer, "a", ["a", "b", "c", "d"], hints=hints, right=right)


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


def check_quorum(answer: object) -> Feedback:
    """A function groups, answers -> after how many answers half of every group has answered; 0 if never."""
    mistakes: Mistakes = [
        (lambda g, a: _due(g, a, distinct=False), "each subscriber counts once, however often it answers."),
        (lambda g, a: _due(g, a, enough=lambda k, n: k >= n // 2), "of three, one is less than half."),
        (lambda g, a: _due(g, a, enough=lambda k, n: 2 * k > n), "at least half is asked, not more than half."),
        (lambda g, a: _due([list({c for one in g for c in one})], a), "half of each group, not half of all together."),
        (lambda g, a: max(0, _due(g, a) - 1), "how many answers had come, not the index of the last one."),
        (lambda g, a: _due(g, a, every=False), "every group must have its half, not just one of them."),
    ]
    wards = [["ann", "bob", "cat"], ["dan", "eve"]]
    cases = [
        (wards, ["ann", "bob", "cat"]),
        (wards, ["ann", "dan", "bob", "eve"]),
        (wards, ["ann", "ann", "dan", "bob", "cat"]),
        ([["ann", "bob"], ["bob", "cat"]], ["eve", "bob", "ann"]),
        ([["ann"]], []),
    ]
    return formula(answer, _due, cases, mistakes, right="a hold for each group, and PUBREC with the last of them.")


def check_table3(answer: object) -> Feedback:
    """The least number of ids with which Table 3 is two bytes short."""
    hints: dict[float, str] = {
        57: "with 57 ids 127 bytes follow, and seven bits still hold that.",
        59: "waited_packet_num is in the packet too: two bytes.",
        61: "the payload is in the packet too: six bytes.",
        64: "the ids are not all that follows: topic, packet id, waited_packet_num and payload do too.",
        115: "an id has two bytes: the byte before it and its own.",
        128: "128 is the length from which on two bytes are needed, not the number of ids.",
    }
    return number(answer, 58, 0, hints=hints, right="13 + 2 · 58 = 129 is the first above 127.")


def check_load(answer: object) -> Feedback:
    """A function n -> bytes at MQTT's publisher over those at E-MQTT's that names all n subscribers."""

    def naming(n: int) -> float:
        return counting.publish_size(3, n) + 12

    mistakes: Mistakes = [
        (lambda n: 1 + n, "these are packets; bytes are asked."),
        (lambda n: 25 * (1 + n) / 27, "the names are missing: two bytes an id."),
        (lambda n: 25 * (1 + n) / (27 + 2 * n), "right up to 57 ids; what of Remaining Length then?"),
        (
            lambda n: (25 + 13 * n) / naming(n),
            "each response at QoS 2 has three acknowledgements, and the publisher has a part in all.",
        ),
        (lambda n: 25 * n / naming(n), "MQTT's query has to be sent, too."),
        (lambda n: (25 + 11 * n) / naming(n), "these are responses at QoS 0."),
    ]
    cases = [(1,), (10,), (57,), (58,), (80,)]
    right = "25 (1 + n) over 27 + 2n, and one byte more from 58 on; it stays below 12.5."
    return formula(answer, lambda n: 25 * (1 + n) / naming(n), cases, mistakes, right=right)


def check_pairs(answer: object) -> Feedback:
    """The average of paired ratios that turns into its reciprocal when the two sides are exchanged."""
    hints: dict[float, str] = {
        3: "the arithmetic mean: of the ratios the other way round it is 0.66, not a third.",
        1.5: "the median: of the ratios the other way round it is 0.75, not two thirds.",
        52 / 15: "this compares the means, not test by test: the second test decides nearly alone.",
        1.125: "this compares the medians of both sides; the pairs are lost.",
        0.5: "this is E-MQTT's over MQTT's.",
        16: "this is the product of the four; its fourth root is wanted.",
    }
    return number(answer, 2, 1e-6, hints=hints, right="the geometric mean: (2 · 8 · 1 · 1) to the power of a quarter.")


def check_gauge(answer: object, seed: int | None = None) -> Feedback:
    """Bounds of the ratio of two uses, read off a gauge that rounds down to whole per cent."""
    return GAUGE.own(seed).check(answer)


def check_contradiction(answer: object) -> Feedback:
    """The row of three averages that can come from one series of synchronous queries."""
    hints = {
        "a": "PUBREC comes before PUBCOMP in every exchange, so its average can't be the later one.",
        "b": "a subscriber's leg lies within the end-to-end delay: the publisher's PUBREC waits for it.",
        "d": "neither order is right: what must have come before PUBREC, and what comes behind it?",
    }
    right = "leg before PUBREC, PUBREC before PUBCOMP, in every exchange and so on average."
    return choice(answer, "c", ["a", "b", "c", "d"], hints=hints, right=right)


def check_near_one(answer: object) -> Feedback:
    """What the paper leaves out that would bring both delays as near to each other as it prints them."""
    hints = {
        "a": "the slower the link, the more the responses weigh: the ratio falls.",
        "b": "more subscribers, more responses: the ratio falls.",
        "d": "every response carries a payload as well, the query only once: the ratio falls.",
    }
    right = "the same 2d stands in both delays, and where it is nearly all of both they are nearly equal."
    return choice(answer, "c", ["a", "b", "c", "d"], hints=hints, right=right)


def _told(n: int, arrivals: list[tuple[str, object]], far: Callable[[list[int]], int], distinct: bool = True) -> int:
    """Return after how many arrivals `n` have acknowledged, if `far` makes one number of the far broker's reports."""
    for count in range(1, len(arrivals) + 1):
        near = [what for side, what in arrivals[:count] if side == "near"]
        reports = [int(str(what)) for side, what in arrivals[:count] if side == "far"]
        if len(set(near) if distinct else near) + (far(reports) if reports else 0) >= n:
            return count
    return 0


def check_bridge(answer: object) -> Feedback:
    """A function n, arrivals -> after how many arrivals a broker with a bridge may answer; 0 if never."""
    mistakes: Mistakes = [
        (lambda n, a: _told(n, a, sum), "a report says how many have acknowledged so far: reports are not added up."),
        (lambda n, a: _told(n, a, lambda far: far[-1]), "an older report that comes late takes nothing back."),
        (lambda n, a: _told(n, a, len), "a report is no acknowledgement of one: it carries a count."),
        (lambda n, a: _told(n, a, max, distinct=False), "each subscriber of the near broker counts once."),
        (lambda n, a: _told(n + 1, a, max), "n are enough, not more than n."),
        (lambda n, a: max(0, _told(n, a, max) - 1), "how many arrivals there were, not the index of the last one."),
    ]
    cases: list[tuple[int, list[tuple[str, object]]]] = [
        (4, [("near", "ann"), ("far", 3), ("far", 1), ("near", "bob")]),
        (5, [("far", 3), ("far", 1), ("near", "ann"), ("near", "bob")]),
        (5, [("near", "ann"), ("far", 1), ("far", 3), ("near", "bob")]),
        (3, [("near", "ann"), ("near", "ann"), ("far", 1), ("far", 2)]),
        (2, [("far", 2), ("near", "ann")]),
        (6, [("near", "ann"), ("far", 3)]),
    ]
    right = "so the bridge has to carry a count back, not only an acknowledgement."
    return formula(answer, lambda n, a: _told(n, a, max), cases, mistakes, right=right)

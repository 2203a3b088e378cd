"""The exercises and the lab of chapter 3, *E-MQTT reproduced: messages, bytes, delays*."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd

from voicewire.emqtt import counting
from voicewire.emqtt.reference import answer as acknowledgement
from voicewire.emqtt.reference import cut, length_bytes, publish
from voicewire.stats import t_interval
from voicewire_book.chapters.emqtt import experiments
from voicewire_book.kit._student_functions import Case
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.records import Choice, Formula, Nested, Number
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given


def _gauge(start: int, used: int, then: int, other: int) -> Drawn:
    low, high = (used - 1) / (other + 1), (used + 1) / (other - 1)
    first, second = f"{start} to {start - used}", f"{then} to {then - other}"
    return Drawn(
        f"from {first} in one run, from {second} in the other",
        (low, high),
        (
            (((used - 0.5) / (other + 0.5), (used + 0.5) / (other - 0.5)),
             "both levels of a use are rounded, each by up to a whole per cent."),
            ((used / other, used / other),
             "this is the ratio of the readings; how far may each use be from its reading?"),
            (((used + 1) / (other + 1), (used - 1) / (other - 1)),
             "the least ratio divides the least use by the greatest."),
            (((used - 1) / (used + 1), (used + 1) / (used - 1)),
             f"the first use reads {start} - {start - used}, the second {then} - {then - other}."),
            (((other - 1) / (used + 1), (other + 1) / (used - 1)), "divide the first use by the second."),
            ((low, (used + 1) / other), "the greatest ratio divides by the least use."),
        ),
        f"From {first} the charge may have fallen by {used - 1} to {used + 1}, from {second} by {other - 1} to "
        f"{other + 1}.\n"
        f"The ratio is least with the least above and the greatest below, {used - 1}/{other + 1} = {low:.3g},\n"
        f"and greatest the other way round, {used + 1}/{other - 1} = {high:.3g}.",
        right=f"between {used - 1}/{other + 1} and {used + 1}/{other - 1}.",
        tolerance=0.005,
    )  # fmt: skip


EXERCISES["emqtt-ex-gauge"] = Exercise(
    "gauge",
    (97, 4, 96, 3),
    lambda rng: (int(rng.integers(80, 99)), int(rng.integers(3, 9)),
                 int(rng.integers(80, 99)), int(rng.integers(3, 7))),
    _gauge,
)  # fmt: skip

# The least number of ids with which Table 3 is two bytes short.
EXERCISES["emqtt-ex-table3"] = Number(
    58,
    0,
    hints={
        57: "with 57 ids 127 bytes follow, and seven bits still hold that.",
        59: "waited_packet_num is in the packet too: two bytes.",
        61: "the payload is in the packet too: six bytes.",
        64: "the ids are not all that follows: topic, packet id, waited_packet_num and payload do too.",
        115: "an id has two bytes: the byte before it and its own.",
        128: "128 is the length from which on two bytes are needed, not the number of ids.",
    },
    right="13 + 2 · 58 = 129 is the first above 127.",
)  # fmt: skip

# The average of paired ratios that turns into its reciprocal when the two sides are exchanged.
EXERCISES["emqtt-ex-pairs"] = Number(
    2,
    1e-6,
    hints={
        3: "the arithmetic mean: of the ratios the other way round it is 0.66, not a third.",
        1.5: "the median: of the ratios the other way round it is 0.75, not two thirds.",
        52 / 15: "this compares the means, not test by test: the second test decides nearly alone.",
        1.125: "this compares the medians of both sides; the pairs are lost.",
        0.5: "this is E-MQTT's over MQTT's.",
        16: "this is the product of the four; its fourth root is wanted.",
    },
    right="the geometric mean: (2 · 8 · 1 · 1) to the power of a quarter.",
)  # fmt: skip


@EXERCISES.made("emqtt-ex-load")
def _() -> Formula:
    """A function n -> bytes at MQTT's publisher over those at E-MQTT's that names all n subscribers."""

    def naming(n: int) -> float:
        return counting.publish_size(3, n) + 12

    return Formula(
        lambda n: 25 * (1 + n) / naming(n),
        [(1,), (10,), (57,), (58,), (80,)],
        [
            (lambda n: 1 + n, "these are packets; bytes are asked."),
            (lambda n: 25 * (1 + n) / 27, "the names are missing: two bytes an id."),
            (lambda n: 25 * (1 + n) / (27 + 2 * n), "right up to 57 ids; how long is the Remaining Length from 58 on?"),
            (lambda n: (25 + 13 * n) / naming(n),
             "each response at QoS 2 has three acknowledgements, and the publisher has a part in all."),
            (lambda n: 25 * n / naming(n), "MQTT's query has to be sent, too."),
            (lambda n: (25 + 11 * n) / naming(n), "these are responses at QoS 0."),
        ],
        right="25 (1 + n) over 27 + 2n, and one byte more from 58 on; it stays below 12.5.",
    )  # fmt: skip


# The row of three averages that can come from one series of synchronous queries.
EXERCISES["emqtt-ex-pair"] = Choice(
    "c",
    "abcd",
    hints={
        "a": "PUBREC comes before PUBCOMP in every exchange, so its average can't be the later one.",
        "b": "a subscriber's leg lies within the end-to-end delay: the publisher's PUBREC waits for it.",
        "d": "neither order is right: what must have come before PUBREC, and what comes after it?",
    },
    right="leg before PUBREC, PUBREC before PUBCOMP, in every exchange and so on average.",
)  # fmt: skip

# What the paper leaves out that would bring both delays as near to each other as it prints them.
EXERCISES["emqtt-ex-near-one"] = Choice(
    "c",
    "abcd",
    hints={
        "a": "the slower the link, the more the responses weigh: the ratio falls.",
        "b": "more subscribers, more responses: the ratio falls.",
        "d": "every response carries a payload as well, the query only once: the ratio falls.",
    },
    right="the same 2d stands in both delays, and where it is nearly all of both they are nearly equal.",
)  # fmt: skip


def _told(n: int, arrivals: list[tuple[str, object]], far: Callable[[list[int]], int], distinct: bool = True) -> int:
    """Return after how many arrivals `n` have acknowledged, if `far` makes one number of the far broker's reports."""
    for count in range(1, len(arrivals) + 1):
        near = [what for side, what in arrivals[:count] if side == "near"]
        reports = [int(str(what)) for side, what in arrivals[:count] if side == "far"]
        if len(set(near) if distinct else near) + (far(reports) if reports else 0) >= n:
            return count
    return 0


# A function n, arrivals -> after how many arrivals a broker with a bridge may answer; 0 if never.
EXERCISES["emqtt-ex-bridge"] = Formula(
    lambda n, a: _told(n, a, max),
    [
        (4, [("near", "ann"), ("far", 3), ("far", 1), ("near", "bob")]),
        (5, [("far", 3), ("far", 1), ("near", "ann"), ("near", "bob")]),
        (5, [("near", "ann"), ("far", 1), ("far", 3), ("near", "bob")]),
        (3, [("near", "ann"), ("near", "ann"), ("far", 1), ("far", 2)]), (2, [("far", 2), ("near", "ann")]),
        (6, [("near", "ann"), ("far", 3)]),
    ],
    [
        (lambda n, a: _told(n, a, sum), "a report says how many have acknowledged so far: reports are not added up."),
        (lambda n, a: _told(n, a, lambda far: far[-1]), "an older report that comes late takes nothing back."),
        (lambda n, a: _told(n, a, len), "a report is no acknowledgement of one: it carries a count."),
        (lambda n, a: _told(n, a, max, distinct=False), "each subscriber of the near broker counts once."),
        (lambda n, a: _told(n + 1, a, max), "n are enough, not more than n."),
        (lambda n, a: max(0, _told(n, a, max) - 1), "how many arrivals there were, not the index of the last one."),
    ],
    right="so the bridge has to carry a count back, not only an acknowledgement.",
)  # fmt: skip


# The lab. A capture is a list of (ms, client, way, bytes): a piece of what goes "up" to the broker on this client's
# connection, or "down" from it.

Piece = tuple[float, str, str, bytes]
Packet = tuple[float, str, str, int, bytes]
Query = tuple[int, int, str, list[Piece]]
PUBLISHER = "pub"
UP, DOWN = "up", "down"
_REST = ("PUBREC", "PUBREL", "PUBCOMP")


def _leg(client: str, source: str, message: bytes, times: Iterator[float], at: float, qos: int) -> list[Piece]:
    """One message on one leg: PUBLISH from `source`, and at QoS 2 and 3 the three packets that follow."""
    other = DOWN if source == UP else UP
    out = [(at, client, source, message)]
    for name, way in zip(_REST, (other, source, other), strict=True) if qos >= 2 else ():
        at += next(times)
        first, *rest = acknowledgement(name, 1)
        out.append((at, client, way, bytes([first + (4 if name == "PUBREL" else 6) * (qos == 3), *rest])))
    return out


def query(rng: np.random.Generator, reading: str, n: int) -> list[Piece]:
    """The packets of one confirmed query, as `counting` names its readings; each of them whole, in order of time."""
    times = iter(rng.exponential(0.2, 100 * n + 100))
    qos = 3 if reading in ("first", "all") else 2
    wanted = b"" if qos == 2 else (1 if reading == "first" else n).to_bytes(2, "big")
    count = wanted + b"?" * int(rng.integers(1, 300))
    found: list[Piece] = []
    answered, told = [], 0.0
    for name in (f"s{i}" for i in range(n)):
        leg = _leg(name, DOWN, publish("q", count, qos, 1), times, next(times), qos)
        answered.append(leg[1][0])
        found += leg
        if qos == 2:
            again = 2 if reading == "mqtt-2" else 0
            back = publish("r", name.encode(), again, 7)
            found += _leg(name, UP, back, times, at := leg[0][0] + next(times), again)
            found += _leg(PUBLISHER, DOWN, back, times, at + next(times), again)
    if qos == 3:
        told = sorted(answered)[0 if reading == "first" else -1]
    mine = _leg(PUBLISHER, UP, publish("q", count, qos, 1), times, 0.0, qos)
    wait = max(0.0, told - mine[1][0]) + 0.01
    found += mine[:1] + [(at + wait, *rest) for at, *rest in mine[1:]]  # type: ignore[misc]
    return sorted(found, key=lambda piece: piece[0])


def _in_pieces(packets: list[Piece], rng: np.random.Generator) -> list[Piece]:
    """Cut some packets in two: the second piece comes behind the next one, or with it, if it is of the same stream."""
    out: list[Piece] = []
    late: Piece | None = None
    for at, client, way, data in packets:
        if late and late[1:3] == (client, way):
            data, late = late[3] + data, None
        size = int(rng.integers(1, len(data))) if rng.random() < 0.3 and not late else len(data)
        out.append((at, client, way, data[:size]))
        if late:
            out.append((at + 0.001, *late[1:]))
        late = (at, client, way, data[size:]) if size < len(data) else None
    return out + ([late] if late else [])


def _captures(seed: int, tests: int = 6) -> list[Query]:
    """Interleaved queries of both protocols to several numbers of subscribers, in pieces."""
    rng = np.random.default_rng(seed)
    ways = [("MQTT", str(rng.choice(["mqtt-2", "mqtt-0"]))), ("E-MQTT", str(rng.choice(["first", "all"])))]
    return [
        (test, n, protocol, _in_pieces(query(rng, reading, n), rng))
        for test in range(tests)
        for n in (2, 5, 9)
        for protocol, reading in ways
    ]


def _pieces(seed: int) -> list[Case]:
    return [(pieces,) for *_, pieces in _captures(seed, 1)]


def _whole(
    pieces: list[Piece], keeps: bool = True, begins: bool = False, mixes: bool = False, one: bool = False
) -> list[Packet]:
    rest: dict[tuple[str, str], bytes] = {}
    since: dict[tuple[str, str], float] = {}
    out = []
    for at, client, way, data in pieces:
        key = ("" if one else client, "" if mixes else way)
        before = rest.get(key, b"") if keeps else b""
        began = since.get(key, at) if before else at
        packets, rest[key] = cut(before + data)
        since[key] = at if packets else began
        out += [(began if begins and i == 0 else at, client, way, *packet) for i, packet in enumerate(packets)]
    return out


@EXERCISES.made("emqtt-lab-capture-whole")
def _() -> Nested:
    """Stage 1: the pieces of a capture -> whole packets, each with the time at which it was whole."""
    return Nested(
        _pieces(1) + _pieces(2),
        _whole,
        [
            (partial(_whole, keeps=False), "a packet may come in two pieces: keep the rest of each stream."),
            (partial(_whole, begins=True), "a packet is there when its *last* byte is."),
            (partial(_whole, mixes=True), "up and down are two streams: keep a rest for each."),
            (partial(_whole, one=True), "each client's connection is a stream of its own: keep a rest for each."),
            (partial(_whole, one=True, mixes=True),
             "each client has a connection, with two ways: keep a rest for each."),
            (lambda pieces: [packet[:3] for packet in _whole(pieces)],
             "first byte and body belong to each packet, too."),
        ],
        "each packet at the time of its last byte.",
    )  # fmt: skip


def _sizes(first: int, body: bytes) -> tuple[int, int]:
    return 1 + len(body), 1 + len(length_bytes(len(body))) + len(body)


@EXERCISES.made("emqtt-lab-capture-sizes")
def _() -> Nested:
    """Stage 2: first byte and body -> bytes as the paper prints them, and on the wire."""
    return Nested(
        [(0x34, bytes(n)) for n in (0, 2, 11, 127, 128, 300, 16_383, 16_384)],
        _sizes,
        [
            (lambda first, body: (1 + len(body), 2 + len(body)), "from 128 on the length has more than one byte."),
            (lambda first, body: _sizes(first, body)[::-1], "first what the paper prints, then what is on the wire."),
            (lambda first, body: (len(body), _sizes(first, body)[1]), "the paper counts the first byte, too."),
            (lambda first, body: (2 + len(body), _sizes(first, body)[1]),
             "the paper leaves the length's own bytes out."),
        ],
        "one byte apart, and two from 128 on.",
    )  # fmt: skip


def _counted(packets: list[Packet], printed: bool = False, turned: bool = False) -> dict[str, int]:
    down, up = ([_sizes(*packet[3:])[not printed] for packet in packets if packet[1:3] == (PUBLISHER, way)]
                for way in ((UP, DOWN) if turned else (DOWN, UP)))  # fmt: skip
    return {
        "messages": len(packets), "received": len(down), "sent": len(up), "received bytes": sum(down),
        "sent bytes": sum(up),
    }  # fmt: skip


@EXERCISES.made("emqtt-lab-capture-counted")
def _() -> Nested:
    """Stage 3: packets -> how many there are, and how many, of how many bytes, the publisher receives and sends."""
    return Nested(
        [(_whole(pieces),) for seed in (3, 4, 5) for (pieces,) in _pieces(seed)],
        _counted,
        [
            (partial(_counted, printed=True), "bytes on the wire: the second of stage 2's two numbers."),
            (partial(_counted, turned=True),
             "what goes down to the publisher is received, what goes up from it is sent."),
            (lambda packets: (found := _counted(packets)) | {"messages": found["received"] + found["sent"]},
             "messages are the packets on *all* connections."),
            (lambda packets: _counted([packet for packet in packets if packet[3] >> 4 == 3]),
             "acknowledgements are packets, too."),
        ],
        "as the closed forms have it, without asking them.",
    )  # fmt: skip


def _knew(packets: list[Packet], n: int, early: bool = False, ends: bool = False, absolute: bool = False) -> float:
    began = next(at for at, client, way, first, _ in packets if (client, way) == (PUBLISHER, UP) and first >> 4 == 3)
    held = next(first for _, client, way, first, _ in packets if (client, way) == (PUBLISHER, UP)) == 0x36
    down = [(at, first >> 4) for at, client, way, first, _ in packets if (client, way) == (PUBLISHER, DOWN)]
    responses = [at for at, kind in down if kind == 3]
    received = [at for at, kind in down if kind == (7 if ends else 5)]
    told = received[0] if held or early or ends else responses[n - 1]
    return told - began * (not absolute)


@EXERCISES.made("emqtt-lab-capture-knew")
def _() -> Nested:
    """Stage 4: packets and the number of subscribers -> ms until the publisher knows."""
    return Nested(
        [(_whole(pieces), n) for seed in (6, 7, 8) for _, n, _, pieces in _captures(seed, 1)],
        _knew,
        [
            (partial(_knew, early=True), "in MQTT PUBREC is the broker's: the publisher knows with the last response."),
            (partial(_knew, ends=True), "PUBCOMP is the end of the exchange; the publisher knows before."),
            (lambda packets, n: _knew(packets, 1), "all n responses must have come."),
            (lambda packets, n: _knew(packets, n) / 1000, "in ms, as the times of the packets are."),
            (partial(_knew, absolute=True), "the time from the publisher's PUBLISH, not from zero."),
        ],
        "the n-th response, or the held PUBREC.",
    )  # fmt: skip


def _per_test(delays: dict[tuple[int, int], float], mean: Callable[[list[float]], float] | None = None) -> list[float]:
    middle = mean or (lambda row: math.exp(float(np.mean(np.log(row)))))
    tests = sorted({test for test, _ in delays})
    return [middle([ms for (one, _), ms in sorted(delays.items()) if one == test]) for test in tests]


@EXERCISES.made("emqtt-lab-capture-per-test")
def _() -> Nested:
    """Stage 5: delays by test and number of subscribers -> one number a test."""
    keys = [(test, n) for test in range(4) for n in (1, 2, 3)]
    return Nested(
        [
            ({(0, 10): 1.0, (0, 40): 4.0},), ({(0, 10): 2.0, (1, 10): 3.0, (0, 40): 2.0, (1, 40): 12.0},),
            ({(10, 5): 9.0, (2, 5): 3.0, (10, 20): 4.0, (2, 20): 3.0},),
            (dict(zip(keys, np.random.default_rng(3).gamma(2, 2, 12).tolist(), strict=True)),),
        ],
        _per_test,
        [
            (partial(_per_test, mean=lambda row: sum(row) / len(row)), "the *geometric* mean: all sizes count alike."),
            (partial(_per_test, mean=math.prod), "the product alone grows with the number of sizes: take its root."),
            (partial(_per_test, mean=lambda row: float(np.mean(np.log(row)))), "back by `exp`."),
            (lambda delays: _per_test({(0, i): ms for i, ms in enumerate(delays.values())}),
             "one number for each test, not one for all."),
            (lambda delays: [middle for one in dict.fromkeys(test for test, _ in delays)
                             for middle in _per_test({key: ms for key, ms in delays.items() if key[0] == one})],
             "tests in rising order, whichever comes first."),
            (lambda delays: _per_test({(n, test): ms for (test, n), ms in delays.items()}),
             "one number for each test: the first of the two in a key."),
        ],
        "one number a test, to which each size has the same weight.",
    )  # fmt: skip


def _ratio(queries: list[Query]) -> tuple[float, float, float]:
    rows = [(test, n, protocol, _knew(_whole(pieces), n)) for test, n, protocol, pieces in queries]
    table = pd.DataFrame(rows, columns=["test", "subscribers", "reading", "end_to_end_ms"])
    found = experiments.typical(experiments.samples(table, "MQTT") / experiments.samples(table, "E-MQTT"))
    return found.estimate, found.low, found.high


@EXERCISES.made("emqtt-lab-capture-ratio")
def _() -> Nested:
    """Stage 6: captures of both protocols -> MQTT's delay over E-MQTT's, with its interval, as the package has it."""

    def plain(queries: list[Query]) -> tuple[float, float, float]:
        delays: dict[str, dict[tuple[int, int], float]] = {"MQTT": {}, "E-MQTT": {}}
        for test, n, protocol, pieces in queries:
            delays[protocol][test, n] = _knew(_whole(pieces), n)
        mqtt, e_mqtt = (np.array(_per_test(rows)) for rows in delays.values())
        found = t_interval(mqtt / e_mqtt)
        return found.estimate, found.low, found.high

    def each(queries: list[Query]) -> tuple[float, float, float]:
        ms = {(t, n, one): _knew(_whole(pieces), n) for t, n, one, pieces in queries}
        ratios = [ms[t, n, "MQTT"] / ms[t, n, "E-MQTT"] for t, n, one in ms if one == "MQTT"]
        found = experiments.typical(np.array(ratios))
        return found.estimate, found.low, found.high

    return Nested(
        [(_captures(seed),) for seed in range(20, 32)],
        _ratio,
        [
            (each, "a test counts once: first its geometric mean over the numbers of subscribers, then the ratio."),
            (lambda queries: [1 / _ratio(queries)[i] for i in (0, 2, 1)],
             "MQTT's over E-MQTT's, not the other way round."),
            (plain, "a ratio and its inverse must weigh alike: take the interval of the logarithms."),
            (lambda queries: [math.log(end) for end in _ratio(queries)],
             "back from the logarithms: `exp` of all three."),
            (lambda queries: _ratio(queries)[:1], "three numbers: the geometric mean, and both ends of its interval."),
        ],
        "equal to the package's in 12 sets of captures that you had not seen.",
    )  # fmt: skip

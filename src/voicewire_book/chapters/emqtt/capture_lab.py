"""The checks of the lab of *E-MQTT reproduced*: from a capture to a ratio of delays, in six stages.

A capture is a list of (ms, client, way, bytes): a piece of what goes "up" to the broker on this client's connection,
or "down" from it. `None` means not answered yet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from voicewire.emqtt.reference import answer as acknowledgement
from voicewire.emqtt.reference import cut, length_bytes, publish
from voicewire.stats import t_interval
from voicewire_book.chapters.emqtt import experiments
from voicewire_book.kit._nested import compared
from voicewire_book.kit.exercises import Feedback, Mistakes

__all__ = [
    "PUBLISHER", "check_counted", "check_knew", "check_per_test", "check_ratio", "check_sizes", "check_whole",
]  # fmt: skip

Piece = tuple[float, str, str, bytes]
Packet = tuple[float, str, str, int, bytes]
Query = tuple[int, int, str, list[Piece]]
Case = tuple[Any, ...]
Array = NDArray[np.float64]
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
        out += [
            (began if begins and i == 0 else at, client, way, first, body) for i, (first, body) in enumerate(packets)
        ]
    return out


def _sizes(first: int, body: bytes) -> tuple[int, int]:
    return 1 + len(body), 1 + len(length_bytes(len(body))) + len(body)


def _counted(packets: list[Packet], printed: bool = False, turned: bool = False) -> dict[str, int]:
    down, up = ([_sizes(*packet[3:])[not printed] for packet in packets if packet[1:3] == (PUBLISHER, way)]
                for way in ((UP, DOWN) if turned else (DOWN, UP)))  # fmt: skip
    return {
        "messages": len(packets), "received": len(down), "sent": len(up), "received bytes": sum(down),
        "sent bytes": sum(up),
    }  # fmt: skip


def _knew(packets: list[Packet], n: int, early: bool = False, ends: bool = False, absolute: bool = False) -> float:
    began = next(at for at, client, way, first, _ in packets if (client, way) == (PUBLISHER, UP) and first >> 4 == 3)
    held = next(first for _, client, way, first, _ in packets if (client, way) == (PUBLISHER, UP)) == 0x36
    down = [(at, first >> 4) for at, client, way, first, _ in packets if (client, way) == (PUBLISHER, DOWN)]
    responses = [at for at, kind in down if kind == 3]
    received = [at for at, kind in down if kind == (7 if ends else 5)]
    told = received[0] if held or early or ends else responses[n - 1]
    return told - began * (not absolute)


def _per_test(delays: dict[tuple[int, int], float], mean: Callable[[list[float]], float] | None = None) -> list[float]:
    middle = mean or (lambda row: math.exp(float(np.mean(np.log(row)))))
    tests = sorted({test for test, _ in delays})
    return [middle([ms for (one, _), ms in sorted(delays.items()) if one == test]) for test in tests]


def _ratio(queries: list[Query]) -> tuple[float, float, float]:
    rows = [(test, n, protocol, _knew(_whole(pieces), n)) for test, n, protocol, pieces in queries]
    table = pd.DataFrame(rows, columns=["test", "subscribers", "reading", "end_to_end_ms"])
    found = experiments.typical(experiments.samples(table, "MQTT") / experiments.samples(table, "E-MQTT"))
    return found.estimate, found.low, found.high


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


def _as_they_come(delays: dict[tuple[int, int], float]) -> list[float]:
    rows = ({key: ms for key, ms in delays.items() if key[0] == one} for one in dict.fromkeys(t for t, _ in delays))
    return [middle for row in rows for middle in _per_test(row)]


_DELAYS: list[Case] = [
    ({(0, 10): 1.0, (0, 40): 4.0},), ({(0, 10): 2.0, (1, 10): 3.0, (0, 40): 2.0, (1, 40): 12.0},),
    ({(10, 5): 9.0, (2, 5): 3.0, (10, 20): 4.0, (2, 20): 3.0},),
    ({(test, n): float(ms) for (test, n), ms in zip(
        [(t, n) for t in range(4) for n in (1, 2, 3)], np.random.default_rng(3).gamma(2, 2, 12), strict=True)},),
]  # fmt: skip


def check_whole(answer: object) -> Feedback:
    """Stage 1: the pieces of a capture -> whole packets, each with the time at which it was whole."""
    mistakes: Mistakes = [
        (partial(_whole, keeps=False), "a packet may come in two pieces: keep the rest of each stream."),
        (partial(_whole, begins=True), "a packet is there when its *last* byte is."),
        (partial(_whole, mixes=True), "up and down are two streams: keep a rest for each."),
        (partial(_whole, one=True), "each client's connection is a stream of its own: keep a rest for each."),
        (partial(_whole, one=True, mixes=True), "each client has a connection, with two ways: keep a rest for each."),
        (lambda pieces: [packet[:3] for packet in _whole(pieces)], "first byte and body belong to each packet, too."),
    ]  # fmt: skip
    return compared(answer, _pieces(1) + _pieces(2), _whole, mistakes, "each packet at the time of its last byte.")


def check_sizes(answer: object) -> Feedback:
    """Stage 2: first byte and body -> bytes as the paper prints them, and on the wire."""
    cases = [(0x34, bytes(n)) for n in (0, 2, 11, 127, 128, 300, 16_383, 16_384)]
    mistakes: Mistakes = [
        (lambda first, body: (1 + len(body), 2 + len(body)), "from 128 on the length has more than one byte."),
        (lambda first, body: _sizes(first, body)[::-1], "first what the paper prints, then what is on the wire."),
        (lambda first, body: (len(body), _sizes(first, body)[1]), "the paper counts the first byte, too."),
        (lambda first, body: (2 + len(body), _sizes(first, body)[1]), "the paper leaves the length's own bytes out."),
    ]
    return compared(answer, cases, _sizes, mistakes, "one byte apart, and two from 128 on.")


def check_counted(answer: object) -> Feedback:
    """Stage 3: packets -> how many there are, and how many, of how many bytes, the publisher receives and sends."""

    def both(packets: list[Packet]) -> dict[str, int]:
        found = _counted(packets)
        return found | {"messages": found["received"] + found["sent"]}

    def publications(packets: list[Packet]) -> dict[str, int]:
        return _counted([packet for packet in packets if packet[3] >> 4 == 3])

    cases = [(_whole(pieces),) for seed in (3, 4, 5) for (pieces,) in _pieces(seed)]
    mistakes: Mistakes = [
        (partial(_counted, printed=True), "bytes on the wire: the second of stage 2's two numbers."),
        (partial(_counted, turned=True), "what goes down to the publisher is received, what goes up from it is sent."),
        (both, "messages are the packets on *all* connections."),
        (publications, "acknowledgements are packets, too."),
    ]
    return compared(answer, cases, _counted, mistakes, "as the closed forms have it, without asking them.")


def check_knew(answer: object) -> Feedback:
    """Stage 4: packets and the number of subscribers -> ms until the publisher knows."""
    cases = [(_whole(pieces), n) for seed in (6, 7, 8) for _, n, _, pieces in _captures(seed, 1)]
    mistakes: Mistakes = [
        (partial(_knew, early=True), "in MQTT PUBREC is the broker's: the publisher knows with the last response."),
        (partial(_knew, ends=True), "PUBCOMP is the end of the exchange; the publisher knows before."),
        (lambda packets, n: _knew(packets, 1), "all n responses must have come."),
        (lambda packets, n: _knew(packets, n) / 1000, "in ms, as the times of the packets are."),
        (partial(_knew, absolute=True), "the time from the publisher's PUBLISH, not from nought."),
    ]  # fmt: skip
    return compared(answer, cases, _knew, mistakes, "the n-th response, or the held PUBREC.")


def check_per_test(answer: object) -> Feedback:
    """Stage 5: delays by test and number of subscribers -> one number a test."""
    mistakes: Mistakes = [
        (partial(_per_test, mean=lambda row: sum(row) / len(row)), "the *geometric* mean: all sizes count alike."),
        (partial(_per_test, mean=lambda row: math.prod(row)), "the product alone grows with the number of sizes: take "
         "its root."),
        (partial(_per_test, mean=lambda row: float(np.mean(np.log(row)))), "back by `exp`."),
        (lambda delays: _per_test({(0, i): ms for i, ms in enumerate(delays.values())}), "one number for each test, "
         "not one for all."),
        (_as_they_come, "tests in rising order, whichever comes first."),
        (lambda delays: _per_test({(n, test): ms for (test, n), ms in delays.items()}), "one number for each test: the "
         "first of the two in a key."),
    ]  # fmt: skip
    return compared(answer, _DELAYS, _per_test, mistakes, "one number a test, to which each size has the same weight.")


def check_ratio(answer: object) -> Feedback:
    """Stage 6: captures of both protocols -> MQTT's delay over E-MQTT's, with its interval, as the package has it."""

    def samples(queries: list[Query], protocol: str) -> Array:
        rows = {(t, n): _knew(_whole(pieces), n) for t, n, one, pieces in queries if one == protocol}
        return np.array(_per_test(rows))

    def plain(queries: list[Query]) -> tuple[float, float, float]:
        found = t_interval(samples(queries, "MQTT") / samples(queries, "E-MQTT"))
        return found.estimate, found.low, found.high

    def logs(queries: list[Query]) -> tuple[float, ...]:
        return tuple(math.log(end) for end in _ratio(queries))

    def inverse(queries: list[Query]) -> tuple[float, float, float]:
        middle, low, high = _ratio(queries)
        return 1 / middle, 1 / high, 1 / low

    def each(queries: list[Query]) -> tuple[float, float, float]:
        ms = {(t, n, one): _knew(_whole(pieces), n) for t, n, one, pieces in queries}
        ratios = [ms[t, n, "MQTT"] / ms[t, n, "E-MQTT"] for t, n, one in ms if one == "MQTT"]
        found = experiments.typical(np.array(ratios))
        return found.estimate, found.low, found.high

    mistakes: Mistakes = [
        (each, "a test counts once: first its geometric mean over the numbers of subscribers, then the ratio."),
        (inverse, "MQTT's over E-MQTT's, not the other way round."),
        (plain, "a ratio and its inverse must weigh alike: take the interval of the logarithms."),
        (logs, "back from the logarithms: `exp` of all three."),
        (lambda queries: _ratio(queries)[:1], "three numbers: the geometric mean, and both ends of its interval."),
    ]
    said = "equal to the package's in 12 sets of captures that you had not seen."
    return compared(answer, [(_captures(seed),) for seed in range(20, 32)], _ratio, mistakes, said)

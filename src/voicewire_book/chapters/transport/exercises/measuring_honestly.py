"""The exercises and the lab of chapter 2, *Measuring honestly*."""

from __future__ import annotations

import math
import socket
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from voicewire.testbed import capture
from voicewire.testbed.capture import Segment
from voicewire.testbed.errors import TestbedError
from voicewire_book import paths
from voicewire_book.chapters.transport._function_records import Places, Results
from voicewire_book.kit._student_functions import Function, NotYetError
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import Feedback
from voicewire_book.kit.records import Number
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "given", "session"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given


def _rare(every: int, percent: int) -> Drawn:
    chance, miss = percent / 100, math.log(1 - 1 / every)
    n = math.ceil(math.log(chance) / miss)
    meets = math.log(1 - chance) / miss
    return Drawn(
        f"one in N = {every}, at most q = {percent} %",
        float(n),
        (
            (float(every), "as many as one in how many: these miss it in 37 % of the cases."),
            (every / chance,
             f"so many meet it {1 / chance:.0f} times on average; the question is only whether they meet it at all."),
            (meets, f"this is {percent} % to meet it; asked is {percent} % to miss it."),
            (float(math.ceil(meets)), f"this is {percent} % to meet it; asked is {percent} % to miss it."),
            (every * (1 - chance),
             f"so many meet it in {100 - 100 * math.exp(miss * every * (1 - chance)):.0f} % of the "
             "cases: the chance to miss it falls as a power."),
            (float(math.ceil(math.log10(chance) / miss)), "the logarithms have different bases."),
            (float(math.ceil(math.log(chance) / math.log(1 - 1 / 150))), "this is for one message in 150."),
        ),
        f"n messages miss it with (1 - 1/{every})^n.\n"
        f"ln {chance:g} = {math.log(chance):.3f} and ln(1 - 1/{every}) = {miss:.6f}: their quotient is "
        f"{math.log(chance) / miss:.1f}.\n"
        f"So from n = {n} on.",
        right=f"(1 - 1/{every})ⁿ ≤ {chance:g} from n = {n} on.",
        tolerance=0.003,
    )  # fmt: skip


# Iterations that miss what strikes one message in 400 in at most 5 % of all cases.
EXERCISES["transport-ex-rare"] = Exercise(
    "rare", (400, 5), lambda rng: (int(50 * rng.integers(2, 21)), int(rng.choice([1, 2, 5, 10]))), _rare
)


# Header bytes that a capture above a card's segmentation misses, of 20,000 bytes.
EXERCISES["transport-ex-undercount"] = Number(
    416, 1e-9, unit="bytes",
    hints={
        448: "the capture did see one of them.",
        13: "so many segments are missed; how many header bytes is that?",
        14: "so many segments leave the card; one of them was seen, and header bytes are asked.",
        384: "the last segment is short, and a segment all the same.",
        260: "with timestamps a header has 32 bytes.",
        520: "only SYNs have 40.",
    },
    right="14 segments leave the card, one is seen: 13 headers of 32 bytes are missed.",
)  # fmt: skip


# spread, half, r -> iterations for a half width, at the normal quantile and geometric memory.
EXERCISES["transport-ex-half"] = Results(
    [(0.5, 0.005, 0.0), (0.5, 0.005, 0.5), (0.3, 0.002, 0.8), (1.0, 0.02, 0.25)],
    lambda spread, half, r: (1.96 * spread / half) ** 2 * (1 + r) / (1 - r),
    [
        (lambda c, h, r: (1.96 * c / h) ** 2, "right for independent samples; what does the memory r take away?"),
        (lambda c, h, r: (1.96 * c / h) ** 2 * (1 - r) / (1 + r), "memory asks for more samples, not for fewer."),
        (lambda c, h, r: 1.96 * c / h * (1 + r) / (1 - r), "the width falls with the square root of n: square it."),
        (lambda c, h, r: 4 * (1.96 * c / h) ** 2 * (1 + r) / (1 - r), "the half width is asked, not the whole."),
        (lambda c, h, r: (1.96 * c / h * (1 + r) / (1 - r)) ** 2,
         "the memory's factor multiplies n: it does not stand in the square."),
        (lambda c, h, r: (1.96 * c / h) ** 2 / (1 - r), "each lag counts on both sides: 1 + 2 (r + r² + …)."),
        (lambda c, h, r: (c / h) ** 2 * (1 + r) / (1 - r), "the quantile is missing."),
    ],
    "(1.96 · spread/half)², times (1 + r)/(1 - r) for the memory.", tolerance=2e-4,
)  # fmt: skip


# What 169 samples are worth by the sum, with correlations 0.4, 0.3, 0.1, 0.05, -0.1, 0.2.
EXERCISES["transport-ex-worth"] = Number(
    65, 0.002,
    hints={
        169 * 0.6 / 1.4: "this is the form for neighbours only; 0.3 is not 0.4².",
        169 / 1.8: "each lag counts twice: once forwards, once backwards.",
        169 / 2.9: "do not add all: stop where a pair is no longer positive.",
        169 / 2.7: "0.05 stands in a pair with -0.1, and that pair is no longer positive.",
        169 / 4.6: "ρ₀ = 1 stands in the first pair, and in the denominator as the 1 already.",
        169 / 1.6: "2 · 0.8 is the sum; a 1 stands before it.",
    },
    right="pairs 1.4 and 0.4, then -0.05 ends it: 169/(1 + 2 · 0.8).",
)  # fmt: skip


# Which of loss, stall, warm-up and memory each of four runs shows.
EXERCISES["transport-ex-causes"] = Places(
    ("loss", "stall", "warm-up", "memory"),
    {
        ("loss", "stall"): "a stall takes 40 ms; a whole second is another timer.",
        ("loss", "warm-up"): "a warm-up comes first and fades.",
        ("loss", "memory"): "one time stands alone: its neighbours do not resemble it.",
        ("stall", "loss"): "all of them are late by the same amount; a loss strikes a few.",
        ("stall", "warm-up"): "the last is as late as the first.",
        ("stall", "memory"): "nothing changes from one to the next; where do 38 ms in each come from?",
        ("warm-up", "loss"): "a timer does not fade over three messages.",
        ("warm-up", "stall"): "the stall's 40 ms do not fade.",
        ("warm-up", "memory"): "it fades from the first one on and does not come back.",
        ("memory", "loss"): "no timer is as short as 1.5 ms.",
        ("memory", "stall"): "a stall takes 40 ms.",
        ("memory", "warm-up"): "the first four are as short as the last four.",
    },
    "a second is a timer, 40 ms in each are a setting, a slow start is a beginning, and a wave is memory.",
)


# lengths, mss -> segments on the wire, from the payloads of the captured ones.
EXERCISES["transport-ex-wire"] = Results(
    [([0, 0], 1448), ([100, 0, 1448], 1448), ([65_536, 0, 2000, 1449], 1448), ([3000], 1000)],
    lambda lengths, mss: sum(max(1, math.ceil(n / mss)) for n in lengths),
    [
        (lambda x, m: len(x), "these are the captured ones; the card cuts what is longer than mss."),
        (lambda x, m: sum(math.ceil(n / m) for n in x), "a segment without payload is a segment too."),
        (lambda x, m: math.ceil(sum(x) / m), "each is cut by itself; and what has no payload counts too."),
        (lambda x, m: sum(max(1, n // m) for n in x), "the rest at the end needs a segment of its own."),
        (lambda x, m: sum(n // m + 1 for n in x), "a payload that is cut evenly leaves no rest."),
    ],
    "each captured one is cut by itself, and leaves at least one.",
)  # fmt: skip


# The lab: a logger. Right is what the package's own says, `voicewire.testbed.capture`.

End = tuple[str, int]
_HERE: End = ("10.0.0.1", 40_000)
_THERE: End = ("10.0.0.2", 1883)
_STAMPS = b"\x01\x01\x08\x0a" + bytes(8)
_NAMES = ("tcp", "mqtt-qos2", "amqp-1.0-fresh", "http-fresh", "http-persistent")


def _packet(source: End, target: End, seq: int, flags: str, payload: bytes = b"", more: bytes = _STAMPS) -> bytes:
    """An IPv4 packet with a TCP segment; `more` are its options."""
    header = 20 + len(more)
    bits = sum(1 << "FSRPA".index(letter) for letter in flags)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + header + len(payload), 0, 0x4000, 64, socket.IPPROTO_TCP, 0)
    ip += socket.inet_aton(source[0]) + socket.inet_aton(target[0])
    tcp = struct.pack(">HHIIBBHHH", source[1], target[1], seq % 2**32, 0, header << 2, bits, 65_535, 0, 0)
    return ip + tcp + more + payload


def session(
    said: bytes, heard: bytes, seed: int, piece: int = 1448, again: float = 0.0, late: float = 0.0
) -> list[bytes]:
    """Make up the packets of a connection, as a capture on the client's machine holds them."""
    rng = np.random.default_rng(seed)
    first, second = int(rng.integers(2**32)), int(rng.integers(2**32))
    options = b"\x02\x04\x05\xb4\x04\x02\x08\x0a" + bytes(8) + b"\x01\x03\x03\x07"
    opened = [_packet(_HERE, _THERE, first, "S", more=options), _packet(_THERE, _HERE, second, "SA", more=options)]
    data: list[bytes] = []
    for source, target, text, start in ((_HERE, _THERE, said, first + 1), (_THERE, _HERE, heard, second + 1)):
        for at in range(0, len(text), piece):
            data.append(_packet(source, target, start + at, "PA", text[at : at + piece]))
            data.append(_packet(target, source, start, "A"))
            if rng.random() < again:
                since = max(0, at - int(rng.integers(piece)))
                data.append(_packet(source, target, start + since, "PA", text[since : at + piece]))
    for at in range(len(data) - 1):
        if rng.random() < late:
            data[at], data[at + 1] = data[at + 1], data[at]
    ends = (_HERE, _THERE, first + 1 + len(said)), (_THERE, _HERE, second + 1 + len(heard))
    closed = [_packet(*ends[0], "FA"), _packet(*ends[1], "A"), _packet(*ends[1], "FA"), _packet(*ends[0], "A")]
    return [*opened, _packet(_HERE, _THERE, first + 1, "A"), *data, *closed]


def _segments(packets: Sequence[bytes]) -> list[Segment]:
    return [s for packet in packets if (s := capture.parse(packet)) is not None]


def _told(s: Segment | None) -> tuple[Any, ...] | None:
    return None if s is None else (s.source, s.target, s.seq, s.flags, s.ip_header, s.header, s.length)


@EXERCISES.called("transport-logger-lab-segment")
def _(answer: Function) -> Feedback:
    """Stage 1: packet -> (source, target, seq, flags, IP header, TCP header, payload bytes), or None."""
    plain = _packet(_HERE, _THERE, 2**32 - 5, "PA", b"hello")
    longer = bytes([0x46]) + plain[1:2] + (len(plain) + 4).to_bytes(2, "big") + plain[4:20] + bytes(4) + plain[20:]
    cases = [
        (plain, ""),
        (_packet(_THERE, _HERE, 7, "S", more=b"\x02\x04\x05\xb4"), "a header with other options"),
        (_packet(_THERE, _HERE, 7, "FA", more=b""), "a header without options"),
        (longer, "an IP header with an option: its length is the lower half of the first byte, in words of four"),
        (plain + b"\0\0", "bytes behind the packet: IP's total length says where it ends"),
        (plain[:9] + bytes([socket.IPPROTO_UDP]) + plain[10:], "not TCP, but UDP (byte 9 is 17)"),
        (bytes([0x65]) + plain[1:], "a packet of IP version 6 (the upper half of its first byte)"),
        (b"", "nothing at all"),
    ]
    for packet, why in cases:
        wanted, got = _told(capture.parse(packet)), answer(packet)
        if wanted is None:
            if got is not None:
                return Feedback(False, f"{why} is None; yours gives {got!r:.60}.")
            continue
        if got is None:
            return Feedback(False, f"{why or 'a whole segment'}, and yours gives None.")
        names = ("source", "target", "seq", "flags", "IP header", "TCP header", "payload")
        given = tuple(tuple(one) if i < 2 and isinstance(one, list) else one for i, one in enumerate(got))
        if len(given) != len(names):
            return Feedback(False, f"give {len(names)} things: {', '.join(names)}; yours has {len(given)}.")
        for name, one, other in zip(names, given, wanted, strict=True):
            if one != other and not (name == "flags" and sorted(one) == sorted(other)):
                return Feedback(False, f"{why + ': ' if why else ''}{name} is {other!r}, yours is {one!r:.40}.")
    return Feedback(True, "who, whom, which bytes, and how much of it is header.")


def _captures(seed: int) -> list[list[bytes]]:
    """Made-up connections: plain, repeated, out of order, and with numbers that go beyond the largest."""
    rng = np.random.default_rng(seed)
    shares = ((0.0, 0.0), (0.4, 0.0), (0.0, 0.5), (0.4, 0.5))
    made = [
        session(rng.bytes(int(rng.integers(1, 9000))), rng.bytes(300), seed + i, again=again, late=late)
        for i, (again, late) in enumerate(shares)
    ]
    return [*made, [_packet(_HERE, _THERE, 2**32 - 3 + n, "PA", bytes(6)) for n in (0, 6, 3, 0)]]


@EXERCISES.called("transport-logger-lab-counted")
def _(answer: Function) -> Feedback:
    """Stage 2: (packets, port) -> (segments, TCP header bytes) of all connections with this port."""
    foreign = [_packet(("10.0.0.1", 22), ("10.0.0.2", 23), n, "A") for n in (1, 2)]
    for packets in _captures(11):
        mixed = [*foreign, *packets, packets[0][:9] + bytes([socket.IPPROTO_UDP]) + packets[0][10:]]
        wanted = capture.flow_header_bytes(_segments(mixed), 1883)
        segments, octets = answer(list(mixed), 1883)
        if segments != wanted[0]:
            why = "both directions count"
            if segments > wanted[0]:
                why = "other connections, and what isn't TCP, must not be counted"
            return Feedback(False, f"{why}: {wanted[0]} segments are wanted, yours has {segments}.")
        if octets != wanted[1]:
            return Feedback(False, f"{segments} segments have {wanted[1]} bytes of TCP headers, yours has {octets}.")
    return Feedback(True, "both directions, each header as long as it says.")


@EXERCISES.called("transport-logger-lab-on-wire")
def _(answer: Function) -> Feedback:
    """Stage 3: (packets, port, largest) -> stage 2's counts as they are on the wire, behind a card that cuts."""
    for size in (1449, 100, 1448, 20_000, 2896, 65_000):
        text = np.random.default_rng(size).bytes(size)
        seen, cut = session(text, b"", 3, piece=65_000), session(text, b"", 3)
        acknowledged = sum(s.length > 0 for s in _segments(cut)) - sum(s.length > 0 for s in _segments(seen))
        segments, octets = capture.flow_header_bytes(_segments(cut), 1883)
        wanted = segments - acknowledged, octets - 32 * acknowledged  # one acknowledgement for all, as it was captured
        got = tuple(answer(list(seen), 1883, 1448))
        if got != wanted:
            says = f"yours says {' and '.join(map(str, got))}"
            return Feedback(False, f"{wanted[0]} segments and {wanted[1]} header bytes are on the wire, {says}.")
    return Feedback(True, "each piece has a header of its own; a full one is one piece, not two.")


@EXERCISES.called("transport-logger-lab-repeated")
def _(answer: Function) -> Feedback:
    """Stage 4: packets -> sequence numbers that had been captured before, in both directions."""
    both = [_packet(_HERE, _THERE, 100, "PA", b"abc"), _packet(_THERE, _HERE, 100, "PA", b"abc")]
    if answer(list(both)):
        return Feedback(False, "each direction has numbers of its own: what one said, the other has not said before.")
    third = [_packet(_HERE, _THERE, 100, "PA", b"abc"), _packet(_HERE, (_THERE[0], 8883), 100, "PA", b"abc")]
    if answer(list(third)):
        return Feedback(False, "each connection has numbers of its own: one port may speak to two others.")
    for number, packets in enumerate([*_captures(21), [*_captures(22)[0][:2], *_captures(22)[0]]], start=1):
        repeats = capture.Repeats()
        wanted, got = sum(map(repeats.count, _segments(packets))), answer(list(packets))
        if got != wanted:
            return Feedback(False, f"connection {number}: {wanted} numbers came again, yours says {got!r:.30}.")
    closed = [_packet(_HERE, _THERE, 100, "FA", b"abc"), _packet(_HERE, _THERE, 103, "FA")]
    if answer(list(closed)) != 1:
        return Feedback(False, "a FIN has a number, too, behind the payload: a FIN that comes twice is 1.")
    return Feedback(True, "by number, not by segment: a repetition may be cut elsewhere.")


@EXERCISES.called("transport-logger-lab-spoken")
def _(answer: Function) -> Feedback:
    """Stage 5: (packets, source, target) -> what source said, or None if a part is missing."""
    rng = np.random.default_rng(31)
    for number, (again, late) in enumerate(((0.0, 0.0), (0.0, 0.6), (0.5, 0.0), (0.5, 0.5)), start=1):
        said, heard = rng.bytes(2500 * number), rng.bytes(700)
        packets = session(said, heard, 40 + number, piece=500, again=again, late=late)
        for source, target, text in ((_HERE, _THERE, said), (_THERE, _HERE, heard)):
            got = answer(list(packets), source, target)
            if got is None or bytes(got) != text:
                how = f"connection {number}, out of order {late:g}, repeated {again:g}"
                has = "has others" if got is not None else "says that some are missing"
                return Feedback(False, f"{how}: what {source[0]} said has {len(text)} bytes, yours {has}.")
    first, text = 2**32 - 3, rng.bytes(12)
    wraps = [_packet(_HERE, _THERE, first, "S")]
    wraps += [_packet(_HERE, _THERE, first + 1 + at, "PA", text[at : at + 4]) for at in (0, 8, 4)]
    got = answer([*wraps, _packet(_HERE, (_THERE[0], 8883), first + 1, "PA", b"else")], _HERE, _THERE)
    if got is None or bytes(got) != text:
        if got is not None and b"else" in bytes(got):
            return Feedback(False, "what source said to another end is not asked for.")
        return Feedback(False, "numbers go on with 0 after the largest: count from the SYN's, modulo 2**32.")
    whole = session(rng.bytes(3000), b"", 50, piece=500)
    if answer([*whole[:5], *whole[6:]], _HERE, _THERE) is not None:
        return Feedback(False, "a segment in the middle is missing: return None, and don't close the gap.")
    return Feedback(True, "by number: neither order nor repetition matters, and a hole is told.")


@EXERCISES.called("transport-logger-lab-logged")
def _(answer: Function) -> Feedback:
    """Stage 6: packets -> (segments, header bytes, repeated, said, heard) of the connection in a capture."""
    folder = paths.data("transport") / "captures"
    recorded = {name: [packet for _, packet in capture.read_packets(folder / f"{name}.pcap")] for name in _NAMES}
    made = {f"made up {i}": packets for i, packets in enumerate(_captures(61)[:4], start=1)}
    octets = 0
    for name, packets in {**recorded, **made}.items():
        given = tuple(answer(list(packets)))
        if len(given) != 5:
            raise NotYetError(f"give segments, header bytes, repeated, said, heard; yours has {len(given)} things.")
        for what, got, wanted in zip(
            ("segments", "header bytes", "repeated", "said", "heard"), given, _logged(packets), strict=True
        ):
            if got != wanted:
                shown = f": {wanted} is wanted, yours is {got!r:.30}" if isinstance(wanted, int) else " is wrong"
                return Feedback(False, f"capture {name}: {what}{shown}.")
        octets += given[1]
    return Feedback(True, f"{octets} header bytes in {len(_NAMES) + 4} captures, as the package's logger counts them.")


def _logged(packets: Sequence[bytes]) -> tuple[int, int, int, bytes, bytes]:
    """What the package's own logger says of a capture that begins with a SYN."""
    segments = _segments(packets)
    here, there = segments[0].source, segments[0].target
    repeats = capture.Repeats()
    count, octets = capture.flow_header_bytes(segments, there[1])
    try:
        said, heard = capture.stream(segments, here, there), capture.stream(segments, there, here)
    except TestbedError as error:
        raise AssertionError("the recorded captures are whole") from error
    return count, octets, sum(map(repeats.count, segments)), said, heard

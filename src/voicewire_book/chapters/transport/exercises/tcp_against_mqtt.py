"""The exercises and the lab of chapter 3, *TCP against MQTT*."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

from voicewire.transport.reference import block_option, blocks_of
from voicewire.transport.secure_objects.icto_format import overhead
from voicewire_book.chapters.transport._function_records import Results
from voicewire_book.kit._student_functions import Function, NotYetError, as_function
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import Feedback
from voicewire_book.kit.records import Choice, Number
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given


def _trips(near: int, far: int) -> Drawn:
    there, here = near / 2, far / 2
    value = 7 * there + 3 * here
    return Drawn(
        f"A = {near} ms, B = {far} ms",
        value,
        (
            (10 * there, f"three of the ten flights are on the subscriber's link, and its round trip is {far} ms."),
            (5 * (there + here), "seven flights are on one link and three on the other: their mean is not that of the "
             "links."),
            (5 * there + here, "that is QoS 0 or 1: at QoS 2 the broker waits for PUBREL."),
            (5 * there + 3 * here, "the broker passes the message on at PUBREL, not at PUBLISH."),
            (7 * there + here, "the subscriber too waits for PUBREL."),
            (8 * there + 3 * here, "PUBCOMP comes after the broker has passed the message on."),
            (2 * value, "a flight takes half a round trip."),
            (7 * there + 6 * here, "the subscriber's session is open already."),
        ),
        f"SYN, SYN-ACK, CONNECT, CONNACK, PUBLISH, PUBREC, PUBREL: 7 · {near}/2 = {7 * there:g} ms to the broker.\n"
        f"Then PUBLISH, PUBREC and PUBREL behind it: 3 · {far}/2 = {3 * here:g} ms.\n"
        f"Together {value:g} ms.",
        unit="ms",
        right=f"seven flights of {there:g} ms to the broker, three of {here:g} ms behind it.",
        tolerance=0.001,
    )  # fmt: skip


# Time of a fresh QoS 2 message in ms, 40 ms to the broker and 10 ms from it to an open session.
EXERCISES["transport-ex-trips"] = Exercise(
    "trips", (40, 10),
    lambda rng: (int(rng.choice([20, 30, 50, 60, 80, 100])), int(rng.choice([4, 10, 16, 24, 70]))), _trips,
)  # fmt: skip


# Which change to a fresh session over TLS 1.3 with Nagle's algorithm saves most.
EXERCISES["transport-ex-secure"] = Choice(
    "d", "abcd",
    hints={
        "a": "that saves the one round trip in which CONNECT is held back: 120 ms remain. Another change saves more.",
        "b": "nothing waits for PUBACK before the message is passed on: at QoS 0 it takes as long.",
        "c": "MQTT 5 opens a session in the same two turns.",
    },
    right="an open session needs one round trip, 30 ms: opening it costs four of the five.",
)  # fmt: skip


# n, size -> header bytes of n publishes that merge into full segments, all acknowledged.
EXERCISES["transport-ex-loop"] = Results(
    [(150, 17), (150, 1016), (10, 1448), (3, 5000), (1, 1), (7, 724)],
    lambda n, size: 64 * math.ceil(n * size / 1448),
    [
        (lambda n, b: 64 * n, "that is without merging: a segment for each publish."),
        (lambda n, b: 32 * math.ceil(n * b / 1448), "every segment is acknowledged by one of its own."),
        (lambda n, b: 64 * n * b / 1448, "segments are whole: the last one is short, and has a header too."),
        (lambda n, b: 64 * (n * b // 1448), "the rest at the end needs a segment of its own."),
        (lambda n, b: 64 * n * math.ceil(b / 1448),
         "TCP carries a stream: a segment may hold the end of one publish and the beginning of the next."),
        (lambda n, b: 104 * math.ceil(n * b / 1448), "52 bytes are IP's and TCP's headers; TCP's alone are asked."),
    ],
    "64 ⌈n·size/1448⌉: TCP cuts a stream, it knows of no messages.",
)  # fmt: skip


@EXERCISES.made("transport-ex-icto")
def _() -> Number:
    """Bytes that an object with one part and the readers r0, nurse and doctor adds."""
    one, three = overhead(["r0"], {"part": 1}), overhead(["r0", "nurse", "doctor"], {"part": 3})
    more = three - one
    return Number(
        three, 1e-9, unit="bytes",
        hints={
            one + 96: "each reader also stands in the list: a length, a name, a key; and as a number in the rule.",
            three - 11: "their names stand in the list too.",
            three - 2: "a length stands before each name, and a number for each reader in the part's rule.",
            three - 4: "a length stands before each name, and a number for each reader in the part's rule.",
            three - 64: "each reader's key stands in the list, 32 bytes.",
            3 * one: "the head, the signature and the part's rule stand there once.",
            more: "this is what the two add; the first one's bytes are asked as well.",
        },
        right="294, and 1 + name + 32 in the list, 1 in the rule, 48 for the envelope of each.",
    )  # fmt: skip


# Which pair of runs rises on the private network and is steady on the public one.
EXERCISES["transport-ex-reading"] = Choice(
    "d", "abcd",
    hints={
        "a": "without a gap messages merge on both: both rise.",
        "b": "2 ms are a whole round trip on the private network and a twentieth on the public one: it is the public "
             "one that rises.",
        "c": "80 ms are 40 round trips there and two here: nothing merges on either, both are steady.",
    },
    right="only a gap that differs in round trips does it, and in the other direction than one script would.",
)  # fmt: skip


@EXERCISES.made("transport-ex-block")
def _() -> Results:
    """A function option -> number, more, size of CoAP's option Block1."""
    blocks = ((0, False, 16), (0, True, 1024), (2, False, 1024), (3, True, 64), (291, False, 256), (5000, True, 512))

    def parts(option: bytes) -> list[float]:
        value = int.from_bytes(option, "big")
        return [value >> 4, value >> 3 & 1, 2 ** ((value & 7) + 4)]

    return Results(
        [(block_option(*block),) for block in blocks], parts,
        [
            (lambda o: [*parts(o)[:2], parts(o)[2] / 16], "the size is 2 to the power of the last three bits plus 4."),
            (lambda o: [*parts(o)[:2], math.log2(parts(o)[2]) - 4],
             "the last three bits are an exponent: 2^(bits + 4)."),
            (lambda o: [*parts(o)[:2], math.log2(parts(o)[2])], "this is the exponent; the size is asked, in bytes."),
            (lambda o: [parts(o)[0], 1 - parts(o)[1], parts(o)[2]], "a set bit says that more follow."),
            (lambda o: [int.from_bytes(o, "big") >> 3, *parts(o)[1:]], "below the number stand four bits, not three."),
            (lambda o: parts(o[::-1]), "the highest byte goes first."),
        ],
        "number, more, and the size as a power of two; an empty option is block 0 of 16 bytes.",
        tidy=lambda result: [int(item) if isinstance(item, bool) else item for item in result],
    )  # fmt: skip


# The lab: a body in blocks. What a student's packets say is read by a library of its own, aiocoap, and the blocks are
# held against the reading version's.

_WORLDS = 60
_CONTINUE, _CHANGED, _REFUSED = 0x5F, 0x44, 0xA3  # 2.31, 2.04 and 5.03


def _message(data: bytes) -> Any:
    """What aiocoap reads in a packet."""
    from aiocoap import Message

    return Message.decode(data)


def _acknowledgement(packet_id: int, token: bytes, code: int, block: bytes | None) -> bytes:
    """A server's answer on the acknowledgement, as aiocoap writes it."""
    from aiocoap import Message, Type
    from aiocoap.numbers.codes import Code
    from aiocoap.numbers.optionnumbers import OptionNumber

    answer = Message(code=Code(code), _mtype=Type.ACK, _mid=packet_id, _token=token)
    if block is not None:
        answer.opt.add_option(OptionNumber.BLOCK1.create_option(decode=block))
    return bytes(answer.encode())


@EXERCISES.called("transport-coap-lab-option")
def _(answer: Function) -> Feedback:
    """Stage 1: (delta, value) -> bytes of an option."""
    cases = [(11, b"ict"), (0, b"object"), (12, b""), (13, b""), (27, b"\x0e"), (60, b"x" * 13), (268, b"x" * 268)]
    cases += [(269, b"y" * 269), (65_000, b"z")]
    for delta, value in cases:
        (head, more), (size, longer) = map(_extended, (delta, len(value)))
        wanted = bytes([16 * head + size]) + more + longer + value
        got = bytes(answer(delta, value))
        if got == wanted:
            continue
        if got[:1] != wanted[:1]:
            what, yours = f"delta {delta} and {len(value)} bytes", got[:1].hex() or "missing"
            return Feedback(False, f"{what}: the first byte is {wanted[0]:#04x}, yours is {yours}.")
        if len(got) > 1 and got[1:] == longer + more + value:
            return Feedback(False, "the delta's further bytes come before those of the length.")
        begins = f"{wanted[:6].hex(' ')}, yours {got[:6].hex(' ')}"
        return Feedback(False, f"13 stands for one byte more, less 13; 14 for two, less 269: begins {begins}.")
    return Feedback(True, "four bits each, and up to two bytes more.")


def _extended(number: int) -> tuple[int, bytes]:
    """RFC 7252, section 3.1: four bits, and what goes beyond."""
    if number < 13:
        return number, b""
    if number < 269:
        return 13, bytes([number - 13])
    return 14, (number - 269).to_bytes(2, "big")


@EXERCISES.called("transport-coap-lab-request")
def _(answer: Function) -> Feedback:
    """Stage 2: (packet_id, token, path, block, part) -> bytes of a confirmable PUT with one block of a body."""
    cases = [
        (7, b"\x01", ["ict"], block_option(0, True, 1024), b"i" * 1024),
        (65_535, b"mark", ["ict", "object"], block_option(3, False, 64), b"tail"),
        (0, b"", ["häuser", "a" * 40], block_option(70, True, 16), b"x" * 16),
        (1, b"\xff", ["a"], block_option(0, False, 16), b"\xff"),
    ]
    for packet_id, token, path, block, part in cases:
        got = bytes(answer(packet_id, token, list(path), block, part))
        first = 0x40 + len(token)
        if got[:1] != bytes([first]):
            begins = "no CoAP packet: the first byte has version 1, type CON and the token's length"
            return Feedback(False, f"{begins}: {first:#04x}, yours {('0x' + got[:1].hex()) if got else 'nothing'}.")
        _requested(got, packet_id, token, path, block, part)
    return Feedback(True, "aiocoap reads each of them as it was meant.")


def _requested(got: bytes, packet_id: int, token: bytes, path: list[str], block: bytes, part: bytes) -> None:
    """End the check if a packet says something else."""
    try:
        read = _message(got)
    except Exception as error:  # the library's parsers raise many kinds
        raise NotYetError(f"aiocoap cannot read it: {type(error).__name__} {error}".rstrip()) from None
    found = read.opt.block1
    options = [(int(one.number), one.encode()) for one in read.opt.option_list()]
    said = [
        ("code PUT is 3", int(read.code) == 3),
        ("the packet id are two bytes, the higher first", read.mid == packet_id),
        ("the token stands behind the four bytes of the head", read.token == token),
        ("one Uri-Path (11) for each name, in UTF-8", list(read.opt.uri_path) == path),
        ("Block1 is option 27, its delta from the one before", found is not None and (27, block) in options),
        ("no other option", len(options) == len(path) + 1),
        ("the part stands behind 0xff", read.payload == part),
    ]
    for hint, right in said:
        if not right:
            raise NotYetError(f"{hint}. aiocoap reads {len(options)} options and {len(read.payload)} bytes.")


@EXERCISES.called("transport-coap-lab-answer")
def _(answer: Function) -> Feedback:
    """Stage 3: data -> (packet id, code, Block1 or None) of a server's acknowledgement; None for another packet."""
    cases: list[tuple[bytes, tuple[int, int, bytes | None] | None, str]] = []
    for packet_id, token, code, block in (
        (7, b"\1", _CONTINUE, b"\x0e"), (65_535, b"mark", _CHANGED, b"\x26"), (300, b"", _CHANGED, None),
        (1, b"abcdefgh", 0x8D, None), (2, b"\1", _CONTINUE, b"\x04\x6e"), (3, b"\1", _CONTINUE, b""),
    ):  # fmt: skip
        cases.append((_acknowledgement(packet_id, token, code, block), (packet_id, code, block), ""))
    whole = _acknowledgement(9, b"\1", _CONTINUE, b"\x1e")
    etag = whole[:5] + b"\x42hi" + bytes([0xD1, 27 - 4 - 13]) + b"\x1e" + b"\xffok"
    place = whole[:5] + bytes([0x8D, 20 - 13]) + b"where-it-is-kept-now" + bytes([0xD1, 27 - 8 - 13]) + b"\x1e"
    behind = _acknowledgement(4, b"\1", 0x8D, None) + b"\xff" + bytes(15) + b"\xc1\x1e"
    cases += [
        (behind, (4, 0x8D, None), "what stands behind 0xff is payload, whatever it looks like"),
        (etag, (9, _CONTINUE, b"\x1e"), "an ETag (4) before it, and a payload behind: options add up their deltas"),
        (place, (9, _CONTINUE, b"\x1e"), "Location-Path (8), 20 bytes: 13 stands for one byte more, of lengths, too"),
        (bytes([0x50]) + whole[1:], None, "a packet that is not of type ACK"),
        (b"", None, "nothing at all"),
        (b"\x61\x5f", None, "a packet that was cut off in its head"),
        (bytes([0xA1]) + whole[1:], None, "version 2"),
    ]
    for data, wanted, why in cases:
        got = answer(data)
        if wanted is None:
            if got is not None:
                return Feedback(False, f"{why} is None; yours gives {got!r:.60}.")
            continue
        if got is None:
            return Feedback(False, f"{why or 'an acknowledgement'}, and yours gives None.")
        if tuple(got) != wanted:
            return Feedback(False, f"{why or 'an acknowledgement'}: {wanted!r} is wanted, yours gives {got!r:.60}.")
    return Feedback(True, "what it answers, whether all is well, and which block it is about.")


@EXERCISES.called("transport-coap-lab-following")
def _(answer: Function) -> Feedback:
    """Stage 4: (number, size, block) -> (number, size) of the block to send next, after an answer 2.31."""
    for number, size in ((0, 1024), (5, 1024), (2, 64), (0, 16)):
        for smaller in (size, size // 4, 16):
            if smaller < 16:
                continue
            got = tuple(answer(number, size, block_option(number, True, smaller)))
            wanted = ((number + 1) * size // smaller, smaller)
            if got == wanted:
                continue
            if got == (number + 1, size):
                return Feedback(False, f"the server asks for blocks of {smaller} bytes: go on with them.")
            if got == (number + 1, smaller):
                return Feedback(False, "blocks count from the body's start: where they shrink, numbers grow.")
            what = f"block {number} of {size} bytes has come, blocks of {smaller} are wanted"
            return Feedback(False, f"{what}: the next is {wanted[0]}, of {wanted[1]}; yours is {got!r:.40}.")
    return Feedback(True, "the same place in the body, counted in the server's blocks.")


class _Server:
    """A server that takes blocks, one after the other, may ask for smaller ones, and refuses beyond `room` bytes."""

    def __init__(self, wanted: int, room: float = float("inf")) -> None:
        self.room = room
        self.wanted, self.body, self.done, self.too_large = wanted, b"", False, False
        self.blocks: list[tuple[bytes, bytes]] = []
        self.answers: dict[int, bytes] = {}

    def take(self, data: bytes) -> bytes:
        read = _message(data)
        if read.mid in self.answers:  # a packet that came twice is answered twice, and taken once
            return self.answers[read.mid]
        block = read.opt.block1
        code, option = _CONTINUE, block_option(block.block_number, block.more, min(block.size, self.wanted))
        if self.body and block.size > self.wanted:
            code, self.too_large = 0x8D, True  # 4.13
        elif block.block_number * block.size != len(self.body) or self.done:
            code = 0x88  # 4.08: not the block that comes next
        elif len(self.body) + len(read.payload) > self.room:
            code = _REFUSED
        else:
            raw = next(one.encode() for one in read.opt.option_list() if int(one.number) == 27)
            self.blocks.append((raw, read.payload))
            self.body += read.payload
            if not block.more:
                code, self.done = _CHANGED, True
        self.answers[read.mid] = _acknowledgement(read.mid, read.token, code, option)
        return self.answers[read.mid]


class _Network:
    """A path that loses and doubles packets each way, and says when nothing came."""

    def __init__(self, server: _Server, rng: random.Random, loss: float) -> None:
        self.server, self.rng, self.loss = server, rng, loss
        self.waiting: list[bytes] = []
        self.log: list[bytes | float] = []
        """Packets that were sent, and waits, s."""
        self.refused = b""
        """The packet whose refusal has been received."""
        self.went_on = False
        """Was anything sent behind that?"""

    def _noted(self, what: bytes | float) -> None:
        self.log.append(what)
        if len(self.log) > 5000:
            raise RuntimeError("5000 packets and waits, and no end")

    def _copies(self) -> int:
        return 0 if self.rng.random() < self.loss else 1 + (self.rng.random() < self.loss / 2)

    def send(self, data: bytes) -> None:
        self._noted(bytes(data))
        self.went_on |= bool(self.refused)
        for _ in range(self._copies()):
            back = self.server.take(bytes(data))
            self.waiting += [back] * self._copies()

    def receive(self, seconds: float) -> bytes | None:
        self._noted(float(seconds))
        if not self.waiting:
            return None
        if self.waiting[0][1] == _REFUSED:
            self.refused = self.waiting[0]
        return self.waiting.pop(0)

    @property
    def sent(self) -> list[bytes]:
        return [what for what in self.log if isinstance(what, bytes)]


@EXERCISES.judged("transport-coap-lab-client")
def _(answer: object) -> Feedback:
    """Stage 5: put(send, receive, path, body) -> True if the server has it, False if it was given up."""
    answer = as_function(answer)
    if isinstance(answer, Feedback):
        return answer
    packets = given_up = refused = 0
    for world in range(1, _WORLDS + 1):
        rng = random.Random(world)
        size = (1025, 1, 1024, 5000)[world - 1] if world < 5 else rng.randint(1, 6000)
        body, wanted = rng.randbytes(size), rng.choice([1024, 1024, 256, 64])
        room = 1024 * (world % 3) if world % 10 == 0 else float("inf")
        network = _Network(_Server(wanted, room), rng, 0.0 if world < 5 else rng.choice([0.1, 0.3, 0.6]))
        try:
            known = answer(network.send, network.receive, ["ict", "object"], body)
            known = bool(known) if isinstance(known, int | np.bool_) else known
            wrong = _world_hint(network, body, wanted, known)
        except Exception as error:  # whatever a student's code may raise
            return Feedback(False, f"world {world}: your code raises {type(error).__name__}: {error}")
        if wrong:
            return Feedback(False, f"world {world}: {wrong}")
        packets, refused = packets + len(network.sent), refused + bool(network.refused)
        given_up += not (known or network.refused)
    told = f"{given_up} bodies given up as the standard has it, {refused} refused, the others whole"
    return Feedback(True, f"{packets} packets in {_WORLDS} worlds, {told}.")


def _world_hint(network: _Network, body: bytes, wanted: int, known: object) -> str:
    """What is wrong with how a body was sent, or nothing."""
    server = network.server
    if server.too_large:
        return f"the server asked for blocks of {wanted} bytes, and larger ones came: ask stage 4."
    if known is True and not (server.done and server.body == body):
        return f"yours says that the body of {len(body)} bytes arrived, and the server has {len(server.body)} of it."
    if wanted == 1024 and server.blocks != blocks_of(body, 1024)[: len(server.blocks)]:
        return f"the blocks of a body of {len(body)} bytes are not those of blocks_of."
    if network.went_on:
        return "the server refused (its code is neither 0x5f nor 0x44), and yours goes on: return False."
    times = [network.sent.count(packet) for packet in dict.fromkeys(network.sent)]
    if max(times, default=0) > 5:
        return "a packet is sent five times at most: once, and again after each of four waits."
    if len({packet[2:4] for packet in network.sent}) != len(times):
        return "each block has a packet id of its own, and all its repetitions have the same."
    if known is not True and (known is not False or not (network.refused or times[-1:] == [5])):
        return "give up after the fifth packet and its wait, with False; return True only when 2.04 has come."
    return _waits_hint(network)


def _waits_hint(network: _Network) -> str:
    """Whether the wait after each sending is that of RFC 7252, section 4.2."""
    first: dict[bytes, float] = {}
    times: dict[bytes, int] = {}
    last = b""
    for what in network.log:
        if isinstance(what, bytes):
            last, times[what] = what, times.get(what, 0) + 1
        elif times.get(last, 0) < 2:
            first[last] = what
            if not (last and 2 <= what <= 3):
                return f"the first wait for an answer is drawn between 2 and 3 s; yours is {what:g} s."
        elif abs(what - first.get(last, 0.0) * 2 ** (times[last] - 1)) > 1e-6:
            return f"after {times[last]} sendings a wait of {what:g} s: each is twice as long as the one before."
    return ""

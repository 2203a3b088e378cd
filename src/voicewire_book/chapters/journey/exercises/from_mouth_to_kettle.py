"""The exercises and the lab of chapter 1, *From mouth to kettle*."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from voicewire.mqtt.packets import Publish, encode
from voicewire.nfc.link import HEADER_BYTES, Link
from voicewire.nfc.session import Session
from voicewire.transport.overhead_formulas import MSS, slow_start_rounds
from voicewire.transport.secure_objects.icto_format import overhead
from voicewire.voip.codecs.listening import FRAME
from voicewire_book.chapters.journey import stations
from voicewire_book.chapters.journey.budget import HEADER, PUBREC, Budget
from voicewire_book.chapters.journey.sentence import FRAME_MS
from voicewire_book.kit._student_functions import Case, expression
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import Feedback, function
from voicewire_book.kit.records import Choice, Nested, Number
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "drawn", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given

_LINK = Link()
_ACK = _LINK.slots(HEADER_BYTES)
_RESPONSE = 8  # slots
_FRAME = FRAME_MS / 1000
_SEAL = overhead(["kettle"], {stations.PART: 1})  # counted, not sealed: this works without the library too


def _text(size: int) -> Drawn:
    data, bare = -(-(size + 325 + 46) // 10), -(-(size + 46) // 10)
    whole = data + 5 + 15 + 15 + 48
    return Drawn(
        f"n = {size} bytes",
        whole / 100,
        (
            (data / 100, "these are the data alone: a session opens, is acknowledged, closes, and waits for six "
             "responses."),
            ((whole - data + bare) / 100, "the text is sealed and published too: 325 bytes more."),
            ((whole - 48) / 100, "both ends respond three times, 8 slots each."),
            ((whole - 30) / 100, "opening and closing take 15 slots each."),
        ),
        f"The message is {size} + 325 = {size + 325} bytes; with 40 of headers and 6 of framing that is {data} slots.\n"
        f"One ACK takes 5, opening and closing 15 each, six responses 48: {data} + 5 + 30 + 48 = {whole} slots.\n"
        f"At 10 ms a slot: {whole / 100:.2f} s.",
        unit="s",
        right=f"{data} slots of data in a session of {whole}: the text is there before the voice has said it.",
        tolerance=0.001,
    )  # fmt: skip


EXERCISES["journey-ex-text"] = Exercise("text", (17,), lambda rng: (int(rng.integers(8, 70)),), _text)

# s -> from the last byte at the kettle until the phone knows, on a path with a delay of 150 ms
EXERCISES["journey-ex-known"] = Number(0.28, 0.001, unit="s", hints={
    0.2: "the kettle does not answer at once: its response takes 8 slots.",
    0.43: "only one packet goes back: the path counts once.",
    0.24: "4 bytes do not travel alone: 40 of headers and 6 of framing go with them.",
    0.23: "the packet itself takes slots: 4 bytes, 40 of headers and 6 of framing.",
}, right="80 ms of response, 5 slots for 44 bytes and 6 of framing, and the path.")  # fmt: skip


def _frames(size: int, cost: int = _ACK, per_frame: int = 2) -> int:
    """Least frames of `size` bytes in a segment, so that the link keeps up with 50 frames a second."""
    return next((k for k in range(1, 2000) if _LINK.slots(k * size + HEADER_BYTES) + cost <= per_frame * k), 0)


@EXERCISES.judged("journey-ex-frames")
def _(answer: object) -> Feedback:
    """A function of a frame's bytes -> frames that must share a segment for a live voice to pass the slots."""
    cases = [((size,), _frames(size)) for size in (4, 6, 8, 10, 12, 15, 16)]
    mistakes = [
        (lambda size: _frames(size, cost=0), "each segment is acknowledged, and the ACK takes slots of the same link."),
        (lambda size: _frames(size, per_frame=20), "a frame lasts 20 ms, and a slot 10: two slots for each frame."),
        (lambda size: next((k for k in range(1, 2000) if k * size / 10 + _ACK <= 2 * k), 0),
         "headers and framing go along: 46 bytes a segment."),
    ]  # fmt: skip
    right = "at 10 bytes, ten frames: the first of them waits 0.2 s before it sets out."
    return function(expression(answer, "b"), cases, 1e-9, right=right, mistakes=mistakes)


# a letter -> why more passes win in a room that has just changed, and lose in one at rest
EXERCISES["journey-ex-passes"] = Choice("c", "abcd", hints={
    "a": "in the room at rest five passes had as long to learn as one, and ended below it.",
    "b": "the echo is equally loud in both rooms: only its paths are swapped.",
    "d": "the filter was held while both talked, in all four runs.",
}, right="a shorter memory forgets the old room sooner, and averages less noise away in the new one.")  # fmt: skip

# a letter -> which knob was turned for the second of two journeys
EXERCISES["journey-ex-changed"] = Choice("b", "abcd", hints={
    "a": "a longer delay would move the call and all that follows to the right, before the kettle's bar begins.",
    "c": "wrong bits cost waits of seconds; here the time has grown by little more than the bytes.",
    "d": "the call's losses change what is heard, not how many bytes the phone seals.",
}, right="more bytes cross in more time though nothing is sent again: headers and ACKs of small segments.")  # fmt: skip


def _published(size: int, topic: str, seal: int = _SEAL) -> int:
    return len(encode(Publish(topic, bytes(size + seal), 3, packet_id=1, waited=1)))


def _sent(size: int, sealed: bool = True) -> float:
    """How long a piece takes through the slots, s."""
    return Session(_published(size, stations.TOPIC) if sealed else size).run().seconds


def _pieces(count: int, content: int, seconds: float, *, sealed: bool = True) -> float:
    """When the last of `count` pieces is at the kettle, if each sets out as soon as it is spoken and the link free."""
    free = 0.0
    for piece in range(1, count + 1):
        free = max(free, seconds * piece / count) + _sent(content // count, sealed)
    return free


@EXERCISES.judged("journey-ex-pieces")
def _(answer: object) -> Feedback:
    """A function k, bytes, s -> when the last of k pieces, each sealed and sent once it is spoken, is at the kettle."""
    tried = [(1, 6000, 3.0), (2, 6000, 3.0), (5, 6000, 3.0), (10, 3000, 3.0), (4, 800, 8.0)]
    mistakes = [
        (lambda *given: _pieces(*given, sealed=False),
         "each piece is sealed and published on its own: 325 bytes more, every time."),
        (lambda count, content, seconds: seconds + count * _sent(content // count),
         "the first piece need not wait for the end of the sentence: it sets out as soon as it is spoken."),
        (lambda count, content, seconds: seconds + _sent(content // count),
         "the link carries one piece at a time: a piece that is spoken may find it busy."),
    ]  # fmt: skip
    right = "a piece waits until it is spoken, and until the link is free."
    cases = [(given, _pieces(*given)) for given in tried]
    return function(answer, cases, 1e-9, unit="s", right=right, mistakes=mistakes)


# The lab: the budget of the way, station by station. Times are in s from the first breath, sizes in bytes, one-way
# delays in s.


def _framed(
    spoken: list[int], lost: list[int], delay: float, *, header: int = HEADER, frames: float = 1, silent: bool = False
) -> tuple[int, int, float]:
    sent = len(spoken) if silent else sum(spoken)
    return sent * (FRAME + header), len(lost) - sum(lost), (len(spoken) + frames) * _FRAME + delay


def _at_the_hob(
    whole: float, size: int, delay: float, *, rounds: Callable[[int], int] = slow_start_rounds, trip: float = 2.0
) -> float:
    return whole + delay + rounds(size) * trip * delay


def _slots_of(size: int, mss: int) -> list[int]:
    return [int(n) for n in Session(size, mss=mss).data_slots()]


def _slots_by_hand(size: int, mss: int, *, headers: int = 46, full: bool = False) -> list[int]:
    left = [min(mss, size - at) for at in range(0, size, mss)]
    return [math.ceil(((mss if full else one) + headers) / 10) for one in left]


def _crossed(size: int, mss: int) -> tuple[float, int]:
    result = Session(size, mss=mss).run()
    return result.seconds, _LINK.payload * result.air


def _crossed_by_hand(
    size: int, mss: int, *, acks: bool = True, control: int = 6 * _ACK, waits: int = 6 * _RESPONSE, empty: bool = True
) -> tuple[float, int]:
    data = _slots_of(size, mss)
    air = sum(data) + _ACK * (len(data) if acks else 1) + control  # a session opens and closes
    return (air + waits) * _LINK.period, _LINK.payload * (air if empty else air + waits)  # both ends respond


def _whole_way(
    spoken: list[int], lost: list[int], delay: float, topic: str, mss: int, *, whole: bool = True,
    early: bool = False, asks: bool = False,
) -> list[tuple[float, int]]:  # fmt: skip
    size, played, there = _framed(spoken, lost, delay)
    content = FRAME * (len(spoken) if whole else played)
    wire = _published(content, topic)
    hob = _at_the_hob(len(spoken) * _FRAME if early else there, wire, delay)
    seconds, air = _crossed(wire, mss)
    answer = (_LINK.slots(PUBREC + HEADER_BYTES) + _RESPONSE) * _LINK.period
    known = hob + seconds + answer + (2 if asks else 1) * delay
    return [(there, size), (there, content + _SEAL), (hob, wire), (hob + seconds, air), (known, PUBREC)]


def _sentences(count: int, seed: int) -> list[Case]:
    """Sentences of half a second to four, their calls and their links, that no page shows.

    No last packet is shorter than a response: then one ACK would answer two packets.
    """
    rng = np.random.default_rng(seed)
    cases: list[Case] = []
    for _ in range(count):
        spoken = (rng.random(int(rng.integers(25, 200))) < 0.9).astype(int).tolist()
        lost = (rng.random(sum(spoken)) < 0.1).astype(int).tolist()
        topic = str(rng.choice(["kitchen/kettle", "küche/kessel", "k"]))
        wire = _published(FRAME * len(spoken), topic)
        fit = [mss for mss in (512, 640, 800, 1000, 1024) if min(_slots_of(wire, mss)) > _RESPONSE]
        cases.append((spoken, lost, int(rng.integers(1, 40)) / 100, topic, int(rng.choice(fit))))
    return cases


@EXERCISES.made("journey-lab-budget-framed")
def _() -> Nested:
    """Stage 1: frames with voice, packets lost and the delay -> bytes sent, frames played, when it is whole."""
    calls: list[Case] = [([1, 1, 0, 1], [0, 1, 0], 0.1), ([1] * 50, [0] * 50, 0.0), ([0, 0, 1], [1], 0.25)]
    return Nested([*calls, *(case[:3] for case in _sentences(3, 1))], _framed, [
        (lambda *call: _framed(*call, header=0), "each packet has 40 bytes of headers, too."),
        (lambda *call: _framed(*call, silent=True),
         "a frame without voice isn't sent: count the packets, not the frames."),
        (lambda *call: _framed(*call, frames=0),
         "the last frame leaves when it is full, and is whole once it has been played: 20 ms more than the speech "
         "itself."),
        (lambda *call: _framed(*call, frames=2),
         "a frame is filled within the speech: only its playing comes after it."),
        (lambda spoken, lost, delay: (*_framed(spoken, lost, delay)[:2], (sum(spoken) + 1) * _FRAME + delay),
         "frames without voice take their 20 ms as well."),
    ], "a stream: the path shifts it, and adds nothing else.")  # fmt: skip


# stage 2: bytes of the content and the topic -> bytes of the PUBLISH that carries it, sealed
EXERCISES["journey-lab-budget-published"] = Nested([
    (320, "kitchen/kettle"), (24_000, "kitchen/kettle"), (1, "k"), (16_000, "küche/kessel"), (17_000, "t" * 100),
    (16_074, "k"), (16_075, "k"), (16_076, "k"),
], _published, [
    (lambda size, topic: _published(size, topic, seal=0), "the seal adds 302 bytes."),
    (lambda size, topic: _published(size, "k" * len(topic)),
     "a topic is counted in bytes, not in letters: `ü` has two."),
    (lambda size, topic: size + _SEAL + len(topic.encode()) + 9,
     "a longer packet has a longer Remaining Length: one byte up to 127, two up to 16383, then three."),
    (lambda size, topic: _published(size, topic) - 2,
     "two bytes are missing: length of the topic, packet id and count have two each."),
], "seal, topic, numbers, and a length that grows with them.")  # fmt: skip

# stage 3: when it is whole, bytes and delay -> when its last byte is at the hob
EXERCISES["journey-lab-budget-at-the-hob"] = Nested([
    (1.0, 10 * MSS, 0.1), (1.0, 10 * MSS + 1, 0.1), (3.12, 24_326, 0.15), (0.5, 30 * MSS, 0.02), (0.5, 31 * MSS, 0.02),
    (2.0, 645, 0.3), (2.0, 100 * MSS, 0.05),
], _at_the_hob, [
    (lambda *it: _at_the_hob(*it, rounds=lambda size: 0),
     "ten segments may leave at once; the others wait for a round trip."),
    (lambda *it: _at_the_hob(*it, rounds=lambda size: max(0, math.ceil(size / MSS / 10) - 1)),
     "the window doubles: ten, then twenty, then forty segments."),
    (lambda *it: _at_the_hob(*it, trip=1.0), "a round trip is twice the delay."),
    (lambda *it: _at_the_hob(*it, rounds=lambda size: slow_start_rounds(size) + 1),
     "within the first ten segments no round trip is waited for: the last byte comes one delay after it leaves."),
], "one delay, and a round trip for each further window.")  # fmt: skip

# stage 4: bytes and MSS -> slots of each data packet
EXERCISES["journey-lab-budget-slots-of"] = Nested([
    (645, 256), (512, 256), (1, 1024), (24_326, 1024), (1454, 1000), (1464, 1000),
], _slots_of, [
    (lambda *it: _slots_by_hand(*it, headers=40), "6 bytes of framing come around each packet."),
    (lambda *it: _slots_by_hand(*it, headers=6), "each segment has 40 bytes of headers."),
    (lambda *it: _slots_by_hand(*it, full=True), "the last segment takes what is left."),
    (lambda *it: _slots_by_hand(*it, headers=37), "a part of a slot takes a whole one: round up."),
], "whole slots, and the last segment takes the rest.")  # fmt: skip

# stage 5: bytes and MSS -> seconds through the slots without errors, and the bytes of the slots used
EXERCISES["journey-lab-budget-crossed"] = Nested([
    (645, 256), (17, 1024), (24_326, 1024), (24_326, 512), (9000, 1000), (2048, 1024),
], _crossed, [
    (lambda *it: _crossed_by_hand(*it, acks=False), "each data packet gets an ACK of its own: 5 slots."),
    (lambda *it: _crossed_by_hand(*it, control=3 * _ACK),
     "the session opens *and* closes: three packets of 5 slots each time."),
    (lambda *it: _crossed_by_hand(*it, control=0),
     "the session opens and closes: three packets of 5 slots each time."),
    (lambda *it: _crossed_by_hand(*it, waits=0), "the two ends respond six times, for 8 slots each."),
    (lambda *it: _crossed_by_hand(*it, empty=False),
     "while an end responds the slots are empty: they take time, and no bytes."),
], "data, ACKs, opening, closing, and six responses.")  # fmt: skip


@EXERCISES.made("journey-lab-budget-whole-way")
def _() -> Nested:
    """Stage 6: a call, a topic, an MSS -> when it is whole and how large at each station, in ways not seen before."""
    return Nested(_sentences(20, 7), _whole_way, [
        (lambda *way: _whole_way(*way, whole=False),
         "what is recorded has all frames: in the place of one that is not played there is silence, of as many bytes."),
        (lambda *way: _whole_way(*way, early=True),
         "an object waits until it is whole: it is published when the call is."),
        (lambda *way: _whole_way(*way, asks=True), "from the hob the answer crosses the path once."),
        (lambda *way: [*_whole_way(*way)[:4], (_whole_way(*way)[3][0], PUBREC)],
         "the kettle's answer comes after 8 slots of response, takes slots itself, and crosses the path."),
        (lambda *way: _whole_way(*way)[:4],
         "a fifth pair is asked: when the phone knows, and the answer's 4 bytes."),
    ], "equal to the package's stations on 20 ways that you had not seen.")  # fmt: skip


def drawn(
    way: Callable[..., list[tuple[float, int]]], done: Budget, topic: str = stations.TOPIC, mss: int = 1024
) -> Budget:
    """Put what a stage 6 finds for a budget's own call into its rows, to be drawn; there are no bit errors then."""
    heard = done.heard
    spoken = np.zeros(round(done.legs[0].ends / _FRAME), int)
    spoken[np.rint(heard.call.talk.times / 1e9 / _FRAME).astype(int)] = 1
    delay = done.legs[2].begins - _FRAME
    rows = way(spoken.tolist(), (~heard.played).astype(int).tolist(), delay, topic, mss)
    begins = (done.legs[2].begins, rows[0][0], rows[0][0] + delay, rows[2][0])
    lost = (*(leg.lost for leg in done.legs[2:5]), "nothing; no bit errors")
    legs = tuple(
        replace(leg, begins=start, ends=row[0], size=row[1], lost=words)
        for leg, start, row, words in zip(done.legs[2:], begins, rows, lost, strict=False)
    )
    return replace(done, legs=done.legs[:2] + legs, known=rows[4][0])

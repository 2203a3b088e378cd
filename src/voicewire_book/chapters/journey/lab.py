"""The checks of the lab of *From mouth to kettle*: the budget of the way, station by station, in six stages.

Times are in s from the first breath, sizes in bytes, one-way delays in s. `None` means not answered yet.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from voicewire.mqtt.packets import Publish, encode
from voicewire.nfc.link import HEADER_BYTES, Link
from voicewire.nfc.session import Session
from voicewire.transport.icto_format import overhead
from voicewire.transport.overhead_formulas import MSS, slow_start_rounds
from voicewire.voip.listening import FRAME
from voicewire_book.chapters.journey import stations
from voicewire_book.chapters.journey.budget import HEADER, PUBREC, Budget
from voicewire_book.chapters.journey.sentence import FRAME_MS
from voicewire_book.kit._nested import compared
from voicewire_book.kit.exercises import Feedback, Mistakes

__all__ = [
    "check_at_the_hob",
    "check_crossed",
    "check_framed",
    "check_published",
    "check_slots_of",
    "check_whole_way",
    "drawn",
]

Case = tuple[Any, ...]
LINK = Link()
_FRAME = FRAME_MS / 1000
_ACK = LINK.slots(HEADER_BYTES)
_SEAL = overhead(["kettle"], {stations.PART: 1})  # counted, not sealed: this works without the library too
_RESPONSE = 8  # slots
_RESPONSES, _CONTROL = 6 * _RESPONSE, 6 * _ACK  # slots: both ends respond, a session opens and closes


def _framed(
    spoken: list[int], lost: list[int], delay: float, header: int = HEADER, frames: float = 1, silent: bool = False
) -> tuple[int, int, float]:
    sent = len(spoken) if silent else sum(spoken)
    return sent * (FRAME + header), len(lost) - sum(lost), (len(spoken) + frames) * _FRAME + delay


def _published(size: int, topic: str, seal: int = _SEAL) -> int:
    return len(encode(Publish(topic, bytes(size + seal), 3, packet_id=1, waited=1)))


def _at_the_hob(
    whole: float, size: int, delay: float, rounds: Callable[[int], int] = slow_start_rounds, trip: float = 2.0
) -> float:
    return whole + delay + rounds(size) * trip * delay


def _slots_of(size: int, mss: int) -> list[int]:
    return [int(n) for n in Session(size, mss=mss).data_slots()]


def _crossed(size: int, mss: int) -> tuple[float, int]:
    result = Session(size, mss=mss).run()
    return result.seconds, LINK.payload * result.air


def _whole_way(
    spoken: list[int], lost: list[int], delay: float, topic: str, mss: int, whole: bool = True, early: bool = False,
    asks: bool = False,
) -> list[tuple[float, int]]:  # fmt: skip
    size, played, there = _framed(spoken, lost, delay)
    content = FRAME * (len(spoken) if whole else played)
    wire = _published(content, topic)
    hob = _at_the_hob(len(spoken) * _FRAME if early else there, wire, delay)
    seconds, air = _crossed(wire, mss)
    answer = (LINK.slots(PUBREC + HEADER_BYTES) + _RESPONSE) * LINK.period
    known = hob + seconds + answer + (2 if asks else 1) * delay
    sealed = (there, content + _SEAL)
    return [(there, size), sealed, (hob, wire), (hob + seconds, air), (known, PUBREC)]


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


_CALLS: list[Case] = [
    ([1, 1, 0, 1], [0, 1, 0], 0.1), ([1] * 50, [0] * 50, 0.0), ([0, 0, 1], [1], 0.25), *(
        case[:3] for case in _sentences(3, 1)
    ),
]  # fmt: skip
_OBJECTS: list[Case] = [
    (320, "kitchen/kettle"), (24_000, "kitchen/kettle"), (1, "k"), (16_000, "küche/kessel"), (17_000, "t" * 100),
    (16_074, "k"), (16_075, "k"), (16_076, "k"),
]  # fmt: skip
_TRANSFERS: list[Case] = [
    (1.0, 10 * MSS, 0.1), (1.0, 10 * MSS + 1, 0.1), (3.12, 24_326, 0.15), (0.5, 30 * MSS, 0.02), (0.5, 31 * MSS, 0.02),
    (2.0, 645, 0.3), (2.0, 100 * MSS, 0.05),
]  # fmt: skip
_SEGMENTS: list[Case] = [(645, 256), (512, 256), (1, 1024), (24_326, 1024), (1454, 1000), (1464, 1000)]
_OBJECTS_SENT: list[Case] = [(645, 256), (17, 1024), (24_326, 1024), (24_326, 512), (9000, 1000), (2048, 1024)]


def check_framed(answer: object) -> Feedback:
    """Stage 1: frames with voice, packets lost and the delay -> bytes sent, frames played, when it is whole."""
    mistakes: Mistakes = [
        (partial(_framed, header=0), "each packet has 40 bytes of headers, too."),
        (partial(_framed, silent=True), "a frame without voice isn't sent: count the packets, not the frames."),
        (partial(_framed, frames=0), "the last frame sets out when it is full, and is whole once it has been "
         "played: 20 ms more than the speech itself."),
        (partial(_framed, frames=2), "a frame is filled within the speech: only its playing comes behind it."),
        (lambda spoken, lost, delay: (*_framed(spoken, lost, delay)[:2], (sum(spoken) + 1) * _FRAME + delay), "frames "
         "without voice take their 20 ms as well."),
    ]  # fmt: skip
    return compared(answer, _CALLS, _framed, mistakes, "a stream: the path shifts it, and adds nothing else.")


def check_published(answer: object) -> Feedback:
    """Stage 2: bytes of the content and the topic -> bytes of the PUBLISH that carries it, sealed."""
    mistakes: Mistakes = [
        (partial(_published, seal=0), "the seal adds 302 bytes."),
        (lambda size, topic: _published(size, "k" * len(topic)), "a topic is counted in bytes, not in letters: `ü` has "
         "two."),
        (lambda size, topic: size + _SEAL + len(topic.encode()) + 9, "the longer the packet, the more bytes has its "
         "Remaining Length: one up to 127, two up to 16383, then three."),
        (lambda size, topic: _published(size, topic) - 2, "two bytes are missing: length of the topic, packet id and "
         "count have two each."),
    ]  # fmt: skip
    return compared(answer, _OBJECTS, _published, mistakes, "seal, topic, numbers, and a length that grows with them.")


def check_at_the_hob(answer: object) -> Feedback:
    """Stage 3: when it is whole, bytes and delay -> when its last byte is at the hob."""
    mistakes: Mistakes = [
        (partial(_at_the_hob, rounds=lambda size: 0), "ten segments may leave at once; the others wait for a "
         "round trip."),
        (partial(_at_the_hob, rounds=lambda size: max(0, math.ceil(size / MSS / 10) - 1)), "the window "
         "doubles: ten, then twenty, then forty segments."),
        (partial(_at_the_hob, trip=1.0), "a round trip is twice the delay."),
        (partial(_at_the_hob, rounds=lambda size: slow_start_rounds(size) + 1), "within the first ten segments no "
         "round trip is waited for: the last byte comes one delay after it leaves."),
    ]  # fmt: skip
    return compared(answer, _TRANSFERS, _at_the_hob, mistakes, "one delay, and a round trip for each further window.")


def check_slots_of(answer: object) -> Feedback:
    """Stage 4: bytes and MSS -> slots of each data packet."""

    def made(size: int, mss: int, headers: int = 46, full: bool = False) -> list[int]:
        left = [min(mss, size - at) for at in range(0, size, mss)]
        return [math.ceil(((mss if full else one) + headers) / 10) for one in left]

    mistakes: Mistakes = [
        (partial(made, headers=40), "6 bytes of framing come around each packet."),
        (partial(made, headers=6), "each segment has 40 bytes of headers."),
        (partial(made, full=True), "the last segment takes what is left."),
        (partial(made, headers=37), "a part of a slot takes a whole one: round up."),
    ]  # fmt: skip
    return compared(answer, _SEGMENTS, _slots_of, mistakes, "whole slots, and the last segment takes the rest.")


def check_crossed(answer: object) -> Feedback:
    """Stage 5: bytes and MSS -> seconds through the slots without errors, and the bytes of the slots used."""

    def made(size: int, mss: int, acks: bool = True, control: int = _CONTROL, waits: int = _RESPONSES) -> Case:
        data = _slots_of(size, mss)
        air = sum(data) + _ACK * (len(data) if acks else 1) + control
        return (air + waits) * LINK.period, LINK.payload * air

    def waiting(size: int, mss: int) -> Case:
        seconds, _ = made(size, mss)
        return seconds, round(seconds / LINK.period) * LINK.payload

    mistakes: Mistakes = [
        (partial(made, acks=False), "each data packet gets an ACK of its own: 5 slots."),
        (partial(made, control=_CONTROL // 2), "the session opens *and* closes: three packets of 5 slots each time."),
        (partial(made, control=0), "the session opens and closes: three packets of 5 slots each time."),
        (partial(made, waits=0), "the two ends respond six times, for 8 slots each."),
        (waiting, "while an end responds the slots are empty: they take time, and no bytes."),
    ]
    return compared(answer, _OBJECTS_SENT, _crossed, mistakes, "data, ACKs, opening, closing, and six responses.")


def check_whole_way(answer: object) -> Feedback:
    """Stage 6: a call, a topic and an MSS -> when it is whole and how large at each station, in ways not seen before.
    """
    mistakes: Mistakes = [
        (partial(_whole_way, whole=False), "what is recorded has all frames: in the place of one that is not played "
         "there is silence, of as many bytes."),
        (partial(_whole_way, early=True), "an object waits until it is whole: it is published when the call is."),
        (partial(_whole_way, asks=True), "from the hob the answer crosses the path once."),
        (lambda *given: [*_whole_way(*given)[:4], (_whole_way(*given)[3][0], PUBREC)], "the kettle's answer comes "
         "after 8 slots of response, takes slots itself, and crosses the path."),
        (lambda *given: _whole_way(*given)[:4], "a fifth pair is asked: when the phone knows, and the answer's "
         "4 bytes."),
    ]  # fmt: skip
    said = "equal to the package's stations on 20 ways that you had not seen."
    return compared(answer, _sentences(20, 7), _whole_way, mistakes, said)


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

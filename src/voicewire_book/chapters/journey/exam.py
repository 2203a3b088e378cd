"""The questions of the journey's exam paper."""

from __future__ import annotations

import math

import numpy as np

from voicewire.nfc.link import Link
from voicewire.nfc.session import Session
from voicewire_book.kit.questions import Question, Step, shown

__all__ = ["questions"]


def questions(rng: np.random.Generator) -> list[Question]:
    """Return the questions, their numbers drawn."""
    return [_object(rng), _live(rng), _wire(rng), _room(rng)]


def _object(rng: np.random.Generator) -> Question:
    letters = int(rng.integers(10, 60))
    size = letters + 325
    data = -(-(size + 46) // 10)
    slots = 15 + data + 5 + 15 + 48
    return Question(
        "A sentence as a text",
        f"A text of {letters} bytes is sealed for the kettle and published, which makes it 325 bytes longer. It goes "
        "through "
        "the slots (10 usable bytes every 10 ms, 40 bytes of headers and 6 of framing) in one segment, without errors. "
        "SYN, ACK and FIN take 5 slots, a response 8 slots. After how many seconds is the session over? Which part of "
        "that would a faster radio not shorten?",
        (
            Step(2, f"The segment: $({size} + 46)/10$, rounded up: {data} slots."),
            Step(2, "Handshake 15, one ACK 5, teardown 15, six responses of 8 slots."),
            Step(1, f"{slots} slots: {slots / 100:.2f} s."),
            Step(1, "The responses, and that a packet begins with a slot."),
        ),
        float(slots),
        float(Session(size, 1024, 8192).run().slots),
        12,
    )


def _live(rng: np.random.Generator) -> Question:
    frame, framing = int(rng.integers(4, 15)), int(rng.integers(2, 9))
    link, more = Link(0.01, 10, framing), 40 + framing
    frames = next(k for k in range(1, 2000) if math.ceil((k * frame + more) / 10) + 5 <= 2 * k)
    found = next(k for k in range(1, 2000) if link.slots(k * frame + 40) + link.slots(40) <= 2 * k)
    return Question(
        "A live call to the kettle",
        f"A codec makes frames of {frame} bytes, one every 20 ms. $k$ frames share a segment ({more} bytes of headers "
        "and framing "
        "more), and each segment is answered by an ACK of 5 slots; a slot carries 10 bytes every 10 ms. From which "
        "$k$ on "
        "does the link keep up with a voice that never pauses? Why is there no $k$ at 20 bytes, and what does a "
        "larger $k$ "
        "cost the listener?",
        (
            Step(2, f"$k$ frames take $2k$ slots to speak, and $\\lceil({frame}k + {more})/10\\rceil + 5$ to send."),
            Step(2, f"The first $k$ for which it fits: {frames}."),
            Step(1, "At 20 bytes the frames alone take $2k$ slots; nothing is left for headers and ACK."),
            Step(1, "Delay: the first frame of a segment waits for the last."),
        ),
        float(frames),
        float(found),
        12,
    )


def _wire(rng: np.random.Generator) -> Question:
    seconds, rate = float(rng.choice([2.0, 2.5, 3.0, 4.0])), int(rng.choice([8, 16, 24, 64]))
    header = int(rng.choice([28, 40, 52]))
    packets = round(seconds / 0.02)
    voice = rate * 1000 * seconds / 8
    total = voice + packets * header
    by_packet = sum(rate * 1000 * 0.02 / 8 + header for _ in range(packets))
    return Question(
        "One sentence in bytes",
        f"A sentence of {seconds:g} s is spoken into a call: {rate} kbit/s of voice in packets of 20 ms, each with "
        f"{header} bytes of headers. How many bytes cross the network? Which share of them are headers? What changes "
        "if "
        "two frames share a packet?",
        (
            Step(1, f"{packets} packets."),
            Step(2, f"{shown(voice)} bytes of voice and {packets * header} of headers: {shown(total)}."),
            Step(1, f"{shown(100 * packets * header / total)} %."),
            Step(2, "Half as many headers; 20 ms more delay, and a loss costs two frames."),
        ),
        total,
        by_packet,
        10,
    )


def _room(rng: np.random.Generator) -> Question:
    changed = [int(rng.integers(4, 8)), int(rng.integers(11, 17))]
    still = [float(rng.integers(270, 300)) / 10]
    still.append(still[0] - float(rng.integers(4, 12)) / 10)
    gain = changed[1] - changed[0]
    return Question(
        "More passes, fewer decibels",
        f"In a room that was changed, a filter that uses each sample once took the echo down by {changed[0]} dB, one "
        "that "
        f"uses it five times by {changed[1]} dB. In the room at rest it was {still[0]:g} and {still[1]:g} dB. How "
        "many dB "
        "does reuse gain in the one room and lose in the other? What explains both? Which two stations of the journey "
        "are measured in decibels, which in seconds, and why can their losses not simply be added?",
        (
            Step(1, f"It gains {gain} dB and loses {shown(still[0] - still[1])} dB."),
            Step(2, "Five passes act like a shorter memory: faster after a change, a higher floor at rest."),
            Step(2, "A station for each unit, rightly named (echo in decibels; call, publish or kettle in seconds)."),
            Step(2, "Seconds add up along the way; decibels compare powers at one place, and a packet lost on the way "
                    "is no attenuation."),
        ),
        float(gain),
        10 * math.log10(10 ** (changed[1] / 10) / 10 ** (changed[0] / 10)),
        14,
    )  # fmt: skip

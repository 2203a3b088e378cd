"""The checks of the journey's questions.

Each `check_…` takes whatever a student hands over and returns a `Feedback`; `None` means not answered yet.
"""

from __future__ import annotations

from voicewire.nfc.link import HEADER_BYTES, Link
from voicewire.nfc.session import Session
from voicewire.transport.icto_format import overhead
from voicewire_book.chapters.journey import stations
from voicewire_book.chapters.journey.drawn import TEXT
from voicewire_book.kit._student import expression
from voicewire_book.kit.exercises import Feedback, choice, function, number

__all__ = ["check_changed", "check_frames", "check_known", "check_passes", "check_pieces", "check_text"]

_LINK = Link()
_ACK = _LINK.slots(HEADER_BYTES)
_SEALING = overhead(["kettle"], {stations.PART: 1}) + len(stations.publication(bytes(1000))) - 1000
"""Bytes that seal and PUBLISH add to a short message."""


def check_text(answer: object, seed: int | None = None) -> Feedback:
    """Seconds until the 17 bytes of the text, sealed and published, have crossed the slots."""
    return TEXT.own(seed).check(answer)


def check_known(answer: object) -> Feedback:
    """Seconds from the last byte at the kettle until the phone knows, on a path with a delay of 150 ms."""
    hints = {
        0.2: "the kettle does not answer at once: its response takes 8 slots.",
        0.43: "only one packet goes back: the path counts once.",
        0.24: "4 bytes do not travel alone: 40 of headers and 6 of framing go with them.",
        0.23: "the packet itself takes slots: 4 bytes, 40 of headers and 6 of framing.",
    }
    right = "80 ms of response, 5 slots for 44 bytes and 6 of framing, and the path."
    return number(answer, 0.28, 0.001, unit="s", hints=hints, right=right)


def _frames(size: int) -> int:
    """Least frames of `size` bytes in a segment, so that the link keeps up with 50 frames a second."""
    return next(k for k in range(1, 2000) if _LINK.slots(k * size + HEADER_BYTES) + _ACK <= 2 * k)


def check_frames(answer: object) -> Feedback:
    """Frames that must share a segment for a live voice to pass the slots, as a function of a frame's bytes."""
    cases = [((size,), _frames(size)) for size in (4, 6, 8, 10, 12, 15, 16)]
    slots, ack = _LINK.slots, _ACK

    def least(cost: int, per_frame: int) -> object:
        return lambda size: next((k for k in range(1, 2000) if slots(k * size + 40) + cost <= per_frame * k), 0)

    def bare(size: int) -> object:
        return next((k for k in range(1, 2000) if k * size / 10 + ack <= 2 * k), 0)

    mistakes = [
        (least(0, 2), "each segment is acknowledged, and the ACK takes slots of the same link."),
        (least(ack, 20), "a frame lasts 20 ms, and a slot 10: two slots for each frame."),
        (bare, "headers and framing go along: 46 bytes a segment."),
    ]
    right = "at 10 bytes, ten frames: the first of them waits 0.2 s before it sets out."
    return function(expression(answer, "b"), cases, 1e-9, right=right, mistakes=mistakes)  # type: ignore[arg-type]


def check_passes(answer: object) -> Feedback:
    """Why more passes win in a room that has just changed, and lose in one at rest."""
    hints = {
        "a": "in the room at rest five passes had as long to learn as one, and ended below it.",
        "b": "the echo is equally loud in both rooms: only its paths are swapped.",
        "d": "the filter was held while both talked, in all four runs.",
    }
    right = "a shorter memory forgets the old room sooner, and averages less noise away in the new one."
    return choice(answer, "c", ("a", "b", "c", "d"), hints=hints, right=right)


def check_changed(answer: object) -> Feedback:
    """Which knob was turned for the second of two journeys."""
    hints = {
        "a": "a longer delay would move the call and all that follows to the right, before the kettle's bar begins.",
        "c": "wrong bits cost waits of seconds; here the time has grown by little more than the bytes.",
        "d": "the call's losses change what is heard, not how many bytes the phone seals.",
    }
    right = "more bytes cross in more time though nothing is sent again: headers and ACKs of small segments."
    return choice(answer, "b", ("a", "b", "c", "d"), hints=hints, right=right)


def _pieces(count: int, content: int, seconds: float) -> float:
    """When the last of `count` pieces is at the kettle, if each sets out as soon as it is spoken and the link free."""
    free = 0.0
    for piece in range(1, count + 1):
        size = content // count + _SEALING
        free = max(free, seconds * piece / count) + Session(size).run().seconds
    return free


def check_pieces(answer: object) -> Feedback:
    """When the last of k pieces, each sealed and sent as soon as it is spoken, is at the kettle."""
    given = [(1, 6000, 3.0), (2, 6000, 3.0), (5, 6000, 3.0), (10, 3000, 3.0), (4, 800, 8.0)]
    cases = [(each, _pieces(*each)) for each in given]

    def bare(count: int, content: int, seconds: float) -> float:
        free = 0.0
        for piece in range(1, count + 1):
            free = max(free, seconds * piece / count) + Session(content // count).run().seconds
        return free

    def after(count: int, content: int, seconds: float) -> float:
        return seconds + count * Session(content // count + _SEALING).run().seconds

    def alone(count: int, content: int, seconds: float) -> float:
        return seconds + Session(content // count + _SEALING).run().seconds

    mistakes = [
        (bare, "each piece is sealed and published on its own: 325 bytes more, every time."),
        (after, "the first piece need not wait for the end of the sentence: it sets out as soon as it is spoken."),
        (alone, "the link carries one piece at a time: a piece that is spoken may find it busy."),
    ]
    right = "a piece waits until it is spoken, and until the link is free."
    return function(answer, cases, 1e-9, unit="s", right=right, mistakes=mistakes)

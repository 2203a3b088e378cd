"""The checks of notebook 3's lab: control messages in real slots, stage by stage.

A check calls a student's function on cases of its own and compares what comes back with what is right: at the end of
the lab with the package's own. None means not answered yet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from voicewire.nfc import control_slots
from voicewire.nfc.link import Link
from voicewire.nfc.reference.control import crossed
from voicewire.nfc.slot_sharing import ShortSession
from voicewire_book.kit._student import staged
from voicewire_book.kit.exercises import Feedback

__all__ = [
    "check_lab_crossed",
    "check_lab_free",
    "check_lab_latency",
    "check_lab_lengths",
    "check_lab_room",
    "check_lab_spent",
]

LINK = Link()


def _lengths(sizes: Sequence[int], room: int, framing: int = 6) -> list[int]:
    return [-(-(size + framing) // room) for size in sizes]


def _free(taken: int, section: int, sections: int) -> list[int]:
    return [int(slot % section >= taken) for slot in range(section * sections)]


def _spent(packets: Sequence[tuple[int, int]], free: Sequence[int], begin: int, wait: bool = True) -> int:
    """Slots from `begin` until all is over; without `wait` a usual mistake."""
    now = begin
    for slots, response in packets:
        now = crossed(free, now, slots) if now < len(free) else -1
        if now < 0:
            return -1
        now += response if wait else 0
    return now - begin


def _latency(size: int, overhead: int, rate: float, active: float, taken: int) -> float:
    session = ShortSession(size=size, overhead=overhead, scope="round trip")
    return control_slots.seconds(session, taken, "first", None, rate, active)


def _latency_otherwise(
    size: int, overhead: int, rate: float, active: float, taken: int, *, begins: Sequence[int]
) -> float:
    session = ShortSession(size=size, overhead=overhead, scope="round trip")
    packets = control_slots.script(session, rate, active)
    free = _free(taken, 10, 10 + sum(slots + wait for slots, wait in packets))
    return LINK.period * float(np.mean([_spent(packets, free, begin) for begin in begins]))


def _latency_eq74(size: int, overhead: int, rate: float, active: float, taken: int) -> float:
    session = ShortSession(size=size, overhead=overhead, scope="round trip")
    return session.seconds(rate, active, taken / 10)


_SLOTS = [0, 1, 1, 0, 1, 1, 1, 0, 0, 1]
_PACKETS = [(3, 8), (1, 8)]


def check_lab_room(answer: object) -> Feedback:
    """Chapter 3, stage 1: bit rate, active time and overhead -> usable bytes of a slot."""
    return staged(
        answer,
        [(848.0, 1.5, 14), (212.0, 1.5, 11), (424.0, 1.9, 11), (212.0, 2.5, 14), (848.0, 1.0, 0)],
        lambda rate, active, overhead: ShortSession(overhead=overhead).payload(rate, active),
        [
            (
                lambda rate, active, overhead: math.floor(rate * active / 8 + 1e-9),
                "the commands take `overhead` bytes of each slot.",
            ),
            (
                lambda rate, active, overhead: rate * active / 8 - overhead,
                "a byte that does not fit whole is not sent: round down.",
            ),
            (
                lambda rate, active, overhead: math.ceil(rate * active / 8 - 1e-9) - overhead,
                "a byte that does not fit whole is not sent: round down.",
            ),
            (
                lambda rate, active, overhead: math.floor(rate * active) - overhead,
                "kilobits times milliseconds are bits; eight make a byte.",
            ),
        ],
        "whole bytes, less what the commands take.",
    )


def check_lab_lengths(answer: object) -> Feedback:
    """Chapter 3, stage 2: bytes of IP packets and room of a slot -> their slots."""
    return staged(
        answer,
        [([1040, 40], 145), ([144, 145, 139, 140], 145), ([44, 44, 40, 1040], 28), ([10], 1)],
        _lengths,
        [
            (lambda sizes, room: _lengths(sizes, room, 0), "the tunnel adds 6 bytes to each packet."),
            (
                lambda sizes, room: [(size + 6) // room for size in sizes],
                "a part of a slot takes a whole slot: round up.",
            ),
            (lambda sizes, room: -(-(sum(sizes) + 6) // room), "each packet begins a slot of its own."),
        ],
        "each packet by itself.",
    )


def check_lab_free(answer: object) -> Feedback:
    """Chapter 3, stage 3: which slots control messages leave."""
    return staged(
        answer,
        [(2, 10, 3), (0, 10, 1), (9, 10, 2), (3, 4, 2)],
        _free,
        [
            (
                lambda taken, section, sections: [1 - slot for slot in _free(taken, section, sections)],
                "1 is a slot that is left, 0 one that is taken.",
            ),
            (lambda taken, section, sections: _free(taken, section, 1), "all sections, one after the other."),
            (
                lambda taken, section, sections: [
                    int(slot % section < section - taken) for slot in range(section * sections)
                ],
                "the control messages come first in their section.",
            ),
        ],
        "the first of each section are taken.",
    )


def check_lab_crossed(answer: object) -> Feedback:
    """Chapter 3, stage 4: a packet in the slots that are left; equal to the package's."""
    return staged(
        answer,
        [
            (_SLOTS, 0, 1),
            (_SLOTS, 0, 3),
            (_SLOTS, 3, 2),
            (_SLOTS, 4, 1),
            (_SLOTS, 0, 6),
            (_SLOTS, 0, 7),
            (_SLOTS, 10, 1),
        ],
        crossed,
        [
            (lambda free, begin, slots: begin + slots, "only slots that are left carry the packet."),
            (
                lambda free, begin, slots: crossed(free, begin, slots) - (crossed(free, begin, slots) >= 0),
                "it has crossed at the end of its last slot: in the next one.",
            ),
            (
                lambda free, begin, slots: (
                    crossed(free, begin, slots) if crossed(free, begin, slots) >= 0 else len(free)
                ),
                "say -1 if the slots run out first.",
            ),
            (lambda free, begin, slots: crossed(free, 0, slots), "it can't begin before `begin`."),
        ],
        "slot by slot, and -1 where they run out.",
    )


def _stretched(packets: Sequence[tuple[int, int]], free: Sequence[int], begin: int) -> int:
    """A usual mistake: a response takes free slots only, as a packet does."""
    return _spent([(slots, 0) for pair in packets for slots in pair], free, begin)


def check_lab_spent(answer: object) -> Feedback:
    """Chapter 3, stage 5: a session of packets and responses."""
    return staged(
        answer,
        [
            (_PACKETS, _free(0, 10, 5), 0),
            (_PACKETS, _free(5, 10, 8), 3),
            (_PACKETS, _free(9, 10, 9), 1),
            (_PACKETS, _free(5, 10, 1), 0),
        ],
        _spent,
        [
            (
                lambda packets, free, begin: _spent(packets, free, begin, wait=False),
                "after each packet comes a response, whose slots count whether they are left or taken.",
            ),
            (
                lambda packets, free, begin: (
                    _spent(packets, free, begin) + (begin if _spent(packets, free, begin) >= 0 else 0)
                ),
                "the slots from `begin` on are asked, not the slot in which it ends.",
            ),
            (
                lambda packets, free, begin: _spent([(slots + wait, 0) for slots, wait in packets], free, begin),
                "a response is time, not transmission: control messages do not stretch it.",
            ),
            (
                _stretched,
                "a response is time, not transmission: control messages do not stretch it.",
            ),
        ],
        "packets stretch, responses do not.",
    )


def check_lab_latency(answer: object) -> Feedback:
    """Chapter 3, stage 6: the mean latency in s, equal to the package's on settings not seen before."""
    return staged(
        answer,
        [
            (int(size), int(overhead), rate, 1.5, int(taken))
            for size, overhead, rate, taken in zip(
                np.random.default_rng(5).integers(200, 3000, 12),
                np.random.default_rng(6).integers(4, 20, 12),
                [212.0, 424.0, 848.0] * 4,
                np.random.default_rng(7).integers(0, 9, 12),
                strict=True,
            )
        ],
        _latency,
        [
            (
                lambda *case: _latency_otherwise(*case, begins=[0]),
                "a session may begin in any slot of a section: the mean over all ten.",
            ),
            (
                lambda *case: _latency_otherwise(*case, begins=[case[4]]),
                "a session may begin in any slot of a section, in one that is taken, too.",
            ),
            (lambda *case: 100 * _latency(*case), "in seconds: a slot is 10 ms."),
            (lambda *case: float(np.mean(_latency_eq74(*case))), "this is Eq. 7.4; here the slots are real."),
        ],
        "equal to the package's in 12 settings that you had not seen.",
    )

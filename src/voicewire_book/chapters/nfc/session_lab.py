"""The checks of notebook 1's lab: a session in slots, stage by stage.

A check calls a student's function on cases of its own and compares what comes back with what is right: at the end of
the lab with the package's own. None means not answered yet.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voicewire.nfc.link import HEADER_BYTES, Link, segment_sizes
from voicewire.nfc.session import Session
from voicewire_book.kit._student import Case, staged
from voicewire_book.kit.exercises import Feedback

__all__ = [
    "check_lab_allowed",
    "check_lab_answer",
    "check_lab_control",
    "check_lab_segments",
    "check_lab_session",
    "check_lab_slots",
    "check_lab_turn",
]

LINK = Link()
ACK = 5  # slots of an acknowledgement, of a SYN and of a FIN
RESPONSE = 8  # slots


def _data(size: int, mss: int, headers: int = HEADER_BYTES) -> list[int]:
    """Slots of each data packet."""
    return [LINK.slots(bytes_ + headers) for bytes_ in segment_sizes(size, mss).tolist()]


def _ready(now: int, busy: int, waits: bool) -> int:
    """The slot in which the appliance's answer is ready."""
    return max(now + ACK * waits, busy) + RESPONSE


def _turn(data: bool, answer: bool, last: int) -> int:
    """Who sends next: 0 the device, 1 the appliance, -1 nobody."""
    if data and (not answer or last == 1):
        return 0
    return 1 if answer else -1


def _allowed(
    sizes: Sequence[int], una: int, following: int, window: int, first: bool = True, less: bool = False
) -> int:
    """The first segment that the window does not let go; `first` and `less` are what is right and a usual mistake."""
    while following < len(sizes):
        flight = sum(sizes[una : following + 1])
        if not (first and following == una) and (flight >= window if less else flight > window):
            break
        following += 1
    return following


def _whole_session(size: int, mss: int, window: int, limit: int, far: int) -> int:
    """The package's: `far` is the device's response with the Ethernet delay, slots."""
    delay = max(0.0, far * LINK.period - 0.0761)
    session = Session(size, mss, window, limit, ethernet_delay=delay, rto=60.0)
    return session.run().slots


def _unready_waits(size: int, mss: int, window: int, limit: int, far: int) -> int:
    """Wrong where the last packet crosses before the ACK of the one before is ready, and that is the last to go."""
    total = _whole_session(size, mss, window, limit, far)
    data = _data(size, mss)
    return total + ACK * (len(data) > 1 and data[-1] < RESPONSE)


def _sessions(count: int, seed: int) -> list[Case]:
    rng = np.random.default_rng(seed)
    cases: list[Case] = []
    for _ in range(count):
        mss = int(rng.integers(120, 1461))
        window, limit = int(rng.integers(mss, 6000)), int(rng.integers(6000, 12_000))
        cases.append((int(rng.integers(1, 12_000)), mss, window, limit, int(rng.choice([8, 8, 20, 60, 108]))))
    return cases


_FLAGS: list[Case] = [(data, answer, last) for data in (False, True) for answer in (False, True) for last in (0, 1)]
_MOMENTS: list[Case] = [(100, 0, False), (100, 104, False), (100, 90, True), (100, 103, True), (100, 120, True)]
_WINDOWS: list[Case] = [
    ([1000] * 6, 0, 0, 4096), ([1000] * 6, 1, 3, 4096), ([1000, 1000, 500], 0, 0, 2500), ([1460] * 3, 1, 1, 1000),
    ([500] * 4, 4, 4, 4000), ([1000] * 5, 2, 4, 2000),
]  # fmt: skip


def check_lab_slots(answer: object) -> Feedback:
    """Chapter 1, stage 1: bytes of an IP packet -> its slots."""
    return staged(
        answer,
        [(n,) for n in (0, 1, 4, 5, 34, 40, 44, 540, 1064, 1500)],
        LINK.slots,
        [
            (lambda n: -(-n // 10), "the tunnel adds 6 bytes to each packet."),
            (lambda n: (n + 6) // 10, "a part of a slot takes a whole slot: round up."),
            (lambda n: (n + 6) / 10, "slots are whole."),
            (lambda n: -(-(n + 6) // 14), "4 of the 14 bytes on air are not usable."),
        ],
        "ten bytes a slot, and no part of one.",
    )


def check_lab_segments(answer: object) -> Feedback:
    """Chapter 1, stage 2: bytes to send and MSS -> slots of each data packet."""
    return staged(
        answer,
        [(2500, 1000), (2000, 1000), (1, 1460), (5000, 536), (999, 1000)],
        _data,
        [
            (lambda size, mss: _data(size, mss, 0), "an IP packet has 40 bytes of headers before the data."),
            (
                lambda size, mss: [LINK.slots(mss + 40)] * -(-size // mss),
                "the last segment takes what is left, and that may be less than the MSS.",
            ),
            (
                lambda size, mss: _data(size, mss) + ([LINK.slots(40)] if size % mss == 0 else []),
                "where the MSS divides the size nothing is left over: no empty packet.",
            ),
            (
                lambda size, mss: [mss] * (size // mss) + [size % mss] * (size % mss > 0),
                "these are the bytes of the segments; their slots are asked.",
            ),
        ],
        "the last one takes the rest.",
    )


def check_lab_control(answer: object) -> Feedback:
    """Chapter 1, stage 3: the device's response -> slots of a handshake, from the SYN to the first data packet."""
    return staged(
        answer,
        [(8,), (20,), (108,)],
        lambda far: 3 * ACK + RESPONSE + far,
        [
            (lambda far: 2 * ACK + RESPONSE + far, "three packets: the device's ACK takes slots, too."),
            (lambda far: 3 * ACK + 2 * far, "the first to answer is the appliance, and its response is 8 slots."),
            (
                lambda far: 3 * ACK + 2 * RESPONSE,
                "the device responds as well, and the Ethernet delay is in its response.",
            ),
            (lambda far: 3 * ACK, "between the packets both ends need time to respond."),
        ],
        "and as many for FIN, FIN+ACK and ACK at the end.",
    )


def check_lab_answer(answer: object) -> Feedback:
    """Chapter 1, stage 4: when the appliance's answer is ready."""
    return staged(
        answer,
        _MOMENTS,
        _ready,
        [
            (
                lambda now, busy, waits: now + RESPONSE,
                "the single buffer: while it transmits, or an answer waits for the link, the appliance does not read.",
            ),
            (
                lambda now, busy, waits: max(now, busy) + RESPONSE,
                "an answer that waits goes out first, and takes the 5 slots of an ACK.",
            ),
            (
                lambda now, busy, waits: now + ACK * waits + RESPONSE,
                "while its transmitter is busy the appliance does not read.",
            ),
            (
                lambda now, busy, waits: max(now, busy) + ACK * waits + RESPONSE,
                "the waiting answer's 5 slots count from now: the later of that and `busy`, not their sum.",
            ),
        ],
        "it reads when both are over, and answers 8 slots later.",
    )


def check_lab_turn(answer: object) -> Feedback:
    """Chapter 1, stage 5: who gets the idle link."""
    return staged(
        answer,
        _FLAGS,
        _turn,
        [
            (
                lambda data, answer, last: 0 if data else 1 if answer else -1,
                "where both have something, turns alternate: who sent last waits.",
            ),
            (
                lambda data, answer, last: 1 if answer else 0 if data else -1,
                "where both have something, turns alternate: who sent last waits.",
            ),
            (
                lambda data, answer, last: 1 - last if data or answer else -1,
                "turns alternate only where both ends have something to send.",
            ),
            (
                lambda data, answer, last: 0 if data and (not answer or last == 0) else 1 if answer else -1,
                "`last` is who has just sent: it is the other's turn.",
            ),
        ],
        "turns alternate, but nobody waits for a silent end.",
    )


def check_lab_allowed(answer: object) -> Feedback:
    """Chapter 1, stage 6: how far the window lets the sender go."""
    return staged(
        answer,
        _WINDOWS,
        _allowed,
        [
            (
                lambda sizes, una, following, window: _allowed(sizes, una, following, window, first=False),
                "one segment may go in any case, or a small window stops the session for good.",
            ),
            (
                lambda sizes, una, following, window: _allowed(sizes, una, following, window, less=True),
                "a segment that just fills the window still fits.",
            ),
            (
                lambda sizes, una, following, window: _allowed(sizes, following, following, window),
                "what is under way counts: bytes from the first that is not acknowledged.",
            ),
        ],
        "bytes under way within the window, and one segment in any case.",
    )


def check_lab_session(answer: object) -> Feedback:
    """Chapter 1, stage 7: a whole session without errors, equal to the package's on sessions not seen before."""
    return staged(
        answer,
        _sessions(40, 11),
        _whole_session,
        [
            (
                _unready_waits,
                "an ACK that is not ready yet doesn't wait for the link: `waits` is for one that is ready.",
            ),
            (
                lambda *case: _whole_session(*case) - 3 * ACK - RESPONSE - case[4],
                "one of opening and end is missing: SYN, SYN+ACK, ACK, and FIN, FIN+ACK, ACK.",
            ),
            (
                lambda size, mss, window, limit, far: _whole_session(size, mss, window, window, far),
                "each ACK opens the window by one MSS, up to the limit.",
            ),
            (
                lambda size, mss, window, limit, far: _whole_session(size, mss, limit, limit, far),
                "the session begins with `window`, not with the limit.",
            ),
            (
                lambda size, mss, window, limit, far: _whole_session(size, mss, window, limit, RESPONSE),
                "the device digests each ACK for `far` slots.",
            ),
        ],
        "equal to the package's, to the slot, in 40 sessions that you had not seen.",
    )

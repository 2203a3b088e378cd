"""The exercises and the lab of chapter 1, *What a slow, slotted link does to TCP*."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from voicewire.nfc import latency_formulas, paper
from voicewire.nfc.link import HEADER_BYTES, Link, segment_sizes
from voicewire.nfc.session import RESPONSE_LATENCY, Session
from voicewire_book.kit._student_functions import Case
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.records import Choice, Formula, Number, Stage
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given

LINK = Link()


def _slots(most: int) -> Drawn:
    usable = 10.0 * most
    return Drawn(
        f"n = {most} slots",
        usable - 46,
        (
            (usable, "the headers are missing: IP and TCP take 40 bytes, the tunnel 6."),
            (usable - 40, "the tunnel's framing takes 6 bytes more."),
            (usable - 6, "IP and TCP have headers, too: 40 bytes."),
            (14.0 * most - 46, "14 bytes are on air, but only 10 of them are usable."),
            (usable - 45, "one byte too many: it takes a slot of its own."),
            (usable - 50, "the last slot is not full yet: framing takes 6 bytes of it, not 10."),
        ),
        f"{most} slots carry {usable:g} usable bytes, so the IP packet has at most {usable:g} - 6 = {usable - 6:g}.\n"
        f"40 of these are headers: {usable - 46:g}.",
        unit="bytes",
        right=f"{usable:g} bytes fit into {most} slots, and 46 of them are headers and framing.",
        tolerance=1e-9,
    )


EXERCISES["nfc-ex-slots"] = Exercise("slots", (40,), lambda rng: (int(rng.integers(15, 120)),), _slots)


@EXERCISES.made("nfc-ex-by-hand")
def _() -> Number:
    """Latency of 2500 bytes at an MSS of 1000, Ethernet delay 0.2 s, s."""
    parts = latency_formulas.latency(Session(size=2500, mss=1000, ethernet_delay=0.2))
    slot, expected = paper.SLOT_PERIOD, parts.total * paper.SLOT_PERIOD
    return Number(
        expected,
        1e-4,
        unit="s",
        hints={
            expected - parts.responses * slot: "the responses are missing: three at each end.",
            expected - 60 * slot: "the device's responses have the Ethernet delay in them: G', not G.",
            expected + 60 * slot: "the delay is in the device's three responses only, not in the appliance's.",
            expected - 60 * slot + 0.2: "the delay comes three times: with each response of the device.",
            expected - parts.acks * slot: "the acknowledgements are missing: one for each segment.",
            expected - 30 * slot: "set-up and teardown are missing: six packets of five slots.",
            expected + 50 * slot: "the last segment has 500 bytes only.",
            expected - parts.responses * slot + 6 * RESPONSE_LATENCY + 0.6: "an answer waits for a slot: round up.",
        },
        right=f"{parts.data} slots of data, {parts.acks} of ACKs, 30 of control packets, and responses of 8 and 28, "
              "three times each.",
    )  # fmt: skip


def stall(delay: float) -> float:
    """What a first window of two segments costs at this Ethernet delay, s."""
    session = Session(size=paper.FIGURE_72_BYTES, window=2048, ethernet_delay=delay)
    return latency_formulas.latency(session).stalls * session.link.period


def far(delay: float) -> int:
    """Slots of the device's response with this Ethernet delay, s."""
    return LINK.slots_of_time(delay + RESPONSE_LATENCY)


# A function of the Ethernet delay, s -> extra latency of the window of 2048 bytes, s.
EXERCISES["nfc-ex-delay"] = Formula(
    stall,
    [(0.0,), (0.02,), (0.05,), (0.12,), (0.7,), (0.95,)],
    [
        (lambda d: d, "the response latency comes on top of the delay, and what follows waits for a slot."),
        (lambda d: far(d) * 0.01, "one acknowledgement crosses during the wait, and need not cross later."),
        (lambda d: far(2 * d) * 0.01, "the delay enters a round trip once, not twice."),
        (lambda d: (far(d) - 5) * 0.01, "where the delay is small, the second ACK holds the link: until slot G + a."),
        (lambda d: (max(far(d), 13)) * 0.01, "of the wait, a slots are one of the N acknowledgements already."),
        (lambda d: max(d + RESPONSE_LATENCY, 0.13) - 0.05, "a packet starts with a slot: round up to whole ones."),
        (lambda d: max(far(d), 13) - 5, "this is in slots: in seconds, please."),
    ],
    right="max(G', G + a) − a, in which G' has the delay: it holds without a delay, too.",
)  # fmt: skip


@cache
def smallest_window(mss: int, delay: float) -> int:
    """Smallest first window, bytes, from which 20 kB take no longer than with 8192."""
    best = Session(20_000, mss, 8192, ethernet_delay=delay).run().slots
    whole = range(mss, 8193, mss)  # a part of a segment lets nothing more go
    return next(w for w in whole if Session(20_000, mss, w, ethernet_delay=delay).run().slots == best)


# A function of MSS and Ethernet delay -> smallest first window (bytes) without a stall.
EXERCISES["nfc-ex-window"] = Formula(
    smallest_window,
    [(536, 0.0), (536, 1.0), (300, 0.5), (300, 1.0), (1024, 0.5)],
    [
        (lambda mss, delay: 3 * mss,
         "three segments are enough only where a packet and its ACK outlast the response: try a delay of 1 s."),
        (lambda mss, delay: smallest_window(mss, delay) / mss, "these are segments: in bytes, please."),
        (lambda mss, delay: 2 * mss, "with two segments the sender still waits once for the first acknowledgement."),
        (lambda mss, delay: mss, "one segment is stop and wait: it stalls at the very first acknowledgement."),
        (lambda mss, delay: smallest_window(mss, delay) - mss, "this window still stalls: one segment more."),
        (lambda mss, delay: smallest_window(mss, delay) + mss, "one segment less does not stall either."),
    ],
    1e-9,
    right="two segments, and as many more as it takes their packets and ACKs to outlast the response.",
)  # fmt: skip


def goodput_share(mss: int, every: int) -> float:
    """Share of the link's usable bytes that a long transfer gets, with an ACK for every so many segments."""
    slots = every * LINK.slots(mss + HEADER_BYTES) + LINK.slots(HEADER_BYTES)
    return every * mss / (LINK.payload * slots)


BARE = "acknowledgements take slots too: the link is half duplex."

# A function of MSS and segments an ACK -> share of the link's 8 kbit/s in a long transfer.
EXERCISES["nfc-ex-goodput"] = Formula(
    goodput_share,
    [(1024, 1), (1024, 2), (536, 1), (256, 2), (1459, 4)],
    [
        (lambda mss, every: mss / (mss + 40), BARE),
        (lambda mss, every: mss / (mss + 46), BARE),
        (lambda mss, every: mss / (10 * LINK.slots(mss + HEADER_BYTES)), BARE),
        (lambda mss, every: goodput_share(mss, 1), "and if one ACK answers several segments?"),
        (lambda mss, every: every * mss / (every * (mss + 46) + 46), "a part of a slot takes a whole slot: round up."),
        (lambda mss, every: every * mss / (every * (mss + 40) + 40), "framing is missing, and slots are whole."),
        (lambda mss, every: 8e3 * goodput_share(mss, every), "this is in bit/s: as a share of the 8 kbit/s, please."),
    ],
    right="one ACK for two segments instead of one saves 2.5 slots of 112.",
)  # fmt: skip

# Which session has a gap before and after every acknowledgement.
EXERCISES["nfc-ex-gap"] = Choice(
    "c",
    ["a", "b", "c", "d"],
    hints={
        "a": "its stall comes once; from then on three segments keep the link busy. Count the gaps.",
        "b": "a delay lengthens the gaps after an ACK, not those before it: are the two kinds different?",
        "d": "the next packet would come after a timeout of 3 s: how long are the gaps?",
    },
    right="with one segment under way both ends wait for each other in every round.",
)  # fmt: skip


# The lab: a session in slots

ACK = 5  # slots of an acknowledgement, of a SYN and of a FIN
RESPONSE = 8  # slots


def _data(size: int, mss: int, headers: int = HEADER_BYTES) -> list[int]:
    """Slots of each data packet."""
    return [LINK.slots(bytes_ + headers) for bytes_ in segment_sizes(size, mss).tolist()]


# Stage 1: bytes of an IP packet -> its slots.
EXERCISES["nfc-session-lab-slots"] = Stage(
    [(n,) for n in (0, 1, 4, 5, 34, 40, 44, 540, 1064, 1500)],
    LINK.slots,
    [
        (lambda n: -(-n // 10), "the tunnel adds 6 bytes to each packet."),
        (lambda n: (n + 6) // 10, "a part of a slot takes a whole slot: round up."),
        (lambda n: (n + 6) / 10, "slots are whole."),
        (lambda n: -(-(n + 6) // 14), "4 of the 14 bytes on air are not usable."),
    ],
    "ten bytes a slot, and no part of one.",
)  # fmt: skip

# Stage 2: bytes to send and MSS -> slots of each data packet.
EXERCISES["nfc-session-lab-segments"] = Stage(
    [(2500, 1000), (2000, 1000), (1, 1460), (5000, 536), (999, 1000)],
    _data,
    [
        (lambda size, mss: _data(size, mss, 0), "an IP packet has 40 bytes of headers before the data."),
        (lambda size, mss: [LINK.slots(mss + 40)] * -(-size // mss),
         "the last segment takes what is left, and that may be less than the MSS."),
        (lambda size, mss: _data(size, mss) + ([LINK.slots(40)] if size % mss == 0 else []),
         "where the MSS divides the size nothing is left over: no empty packet."),
        (lambda size, mss: [mss] * (size // mss) + [size % mss] * (size % mss > 0),
         "these are the bytes of the segments; their slots are asked."),
    ],
    "the last one takes the rest.",
)  # fmt: skip

# Stage 3: the device's response -> slots of a handshake, from the SYN to the first data packet.
EXERCISES["nfc-session-lab-control"] = Stage(
    [(8,), (20,), (108,)],
    lambda far: 3 * ACK + RESPONSE + far,
    [
        (lambda far: 2 * ACK + RESPONSE + far, "three packets: the device's ACK takes slots, too."),
        (lambda far: 3 * ACK + 2 * far, "the first to answer is the appliance, and its response is 8 slots."),
        (lambda far: 3 * ACK + 2 * RESPONSE, "the device responds as well, and the Ethernet delay is in its response."),
        (lambda far: 3 * ACK, "between the packets both ends need time to respond."),
    ],
    "and as many for FIN, FIN+ACK and ACK at the end.",
)  # fmt: skip

# Stage 4: now, until when it transmits, whether an answer waits -> the slot in which the appliance's answer is ready.
EXERCISES["nfc-session-lab-answer"] = Stage(
    [(100, 0, False), (100, 104, False), (100, 90, True), (100, 103, True), (100, 120, True)],
    lambda now, busy, waits: max(now + ACK * waits, busy) + RESPONSE,
    [
        (lambda now, busy, waits: now + RESPONSE,
         "the single buffer: while it transmits, or an answer waits for the link, the appliance does not read."),
        (lambda now, busy, waits: max(now, busy) + RESPONSE,
         "an answer that waits goes out first, and takes the 5 slots of an ACK."),
        (lambda now, busy, waits: now + ACK * waits + RESPONSE,
         "while its transmitter is busy the appliance does not read."),
        (lambda now, busy, waits: max(now, busy) + ACK * waits + RESPONSE,
         "the waiting answer's 5 slots count from now: the later of that and `busy`, not their sum."),
    ],
    "it reads when both are over, and answers 8 slots later.",
)  # fmt: skip

# Stage 5: who has something to send, and who sent last -> who gets the idle link: 0 the device, 1 the appliance, or -1.
EXERCISES["nfc-session-lab-turn"] = Stage(
    [(data, answer, last) for data in (False, True) for answer in (False, True) for last in (0, 1)],
    lambda data, answer, last: 0 if data and (not answer or last == 1) else 1 if answer else -1,
    [
        (lambda data, answer, last: 0 if data else 1 if answer else -1,
         "where both have something, turns alternate: the end that sent last waits."),
        (lambda data, answer, last: 1 if answer else 0 if data else -1,
         "where both have something, turns alternate: the end that sent last waits."),
        (lambda data, answer, last: 1 - last if data or answer else -1,
         "turns alternate only where both ends have something to send."),
        (lambda data, answer, last: 0 if data and (not answer or last == 0) else 1 if answer else -1,
         "`last` is the end that has just sent: it is the other's turn."),
    ],
    "turns alternate, but nobody waits for a silent end.",
)  # fmt: skip


def _allowed(
    sizes: Sequence[int], una: int, following: int, window: int, *, first: bool = True, less: bool = False
) -> int:
    """The first segment that the window does not let go; `first` and `less` are what is right and a usual mistake."""
    while following < len(sizes):
        flight = sum(sizes[una : following + 1])
        if not (first and following == una) and (flight >= window if less else flight > window):
            break
        following += 1
    return following


# Stage 6: bytes of the segments, first one not acknowledged, next one, window -> how far it lets the sender go.
EXERCISES["nfc-session-lab-allowed"] = Stage(
    [
        ([1000] * 6, 0, 0, 4096), ([1000] * 6, 1, 3, 4096), ([1000, 1000, 500], 0, 0, 2500), ([1460] * 3, 1, 1, 1000),
        ([500] * 4, 4, 4, 4000), ([1000] * 5, 2, 4, 2000),
    ],
    _allowed,
    [
        (lambda *case: _allowed(*case, first=False),
         "one segment may go in any case, or a small window stops the session for good."),
        (lambda *case: _allowed(*case, less=True), "a segment that just fills the window still fits."),
        (lambda sizes, una, following, window: _allowed(sizes, following, following, window),
         "what is under way counts: bytes from the first that is not acknowledged."),
    ],
    "bytes under way within the window, and one segment in any case.",
)  # fmt: skip


def _whole_session(size: int, mss: int, window: int, limit: int, far: int) -> int:
    """The package's: `far` is the device's response with the Ethernet delay, slots."""
    delay = max(0.0, far * LINK.period - 0.0761)
    return Session(size, mss, window, limit, ethernet_delay=delay, rto=60.0).run().slots


def _unready_waits(size: int, mss: int, *rest: int) -> int:
    """Wrong where the last packet crosses before the ACK of the one before is ready, and that is the last to go."""
    data = _data(size, mss)
    return _whole_session(size, mss, *rest) + ACK * (len(data) > 1 and data[-1] < RESPONSE)


@EXERCISES.made("nfc-session-lab-session")
def _() -> Stage:
    """Stage 7: a whole session without errors, equal to the package's on sessions not seen before."""
    rng = np.random.default_rng(11)
    cases: list[Case] = []
    for _ in range(40):
        mss = int(rng.integers(120, 1461))
        window, limit = int(rng.integers(mss, 6000)), int(rng.integers(6000, 12_000))
        cases.append((int(rng.integers(1, 12_000)), mss, window, limit, int(rng.choice([8, 8, 20, 60, 108]))))
    return Stage(
        cases,
        _whole_session,
        [
            (_unready_waits,
             "an ACK that is not ready yet doesn't wait for the link: `waits` is for one that is ready."),
            (lambda *case: _whole_session(*case) - 3 * ACK - RESPONSE - case[4],
             "one of opening and end is missing: SYN, SYN+ACK, ACK, and FIN, FIN+ACK, ACK."),
            (lambda size, mss, window, limit, far: _whole_session(size, mss, window, window, far),
             "each ACK opens the window by one MSS, up to the limit."),
            (lambda size, mss, window, limit, far: _whole_session(size, mss, limit, limit, far),
             "the session begins with `window`, not with the limit."),
            (lambda size, mss, window, limit, far: _whole_session(size, mss, window, limit, RESPONSE),
             "the device digests each ACK for `far` slots."),
        ],
        "equal to the package's, to the slot, in 40 sessions that you had not seen.",
    )  # fmt: skip

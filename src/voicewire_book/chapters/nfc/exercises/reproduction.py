"""The exercises and the lab of chapter 3, *The bridge, reproduced*."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from voicewire.nfc import control_slots, paper
from voicewire.nfc.channel import Channel
from voicewire.nfc.exchange import Exchange
from voicewire.nfc.link import HEADER_BYTES, Link
from voicewire.nfc.reference.control import crossed
from voicewire.nfc.slot_sharing import ShortSession, shared
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import Feedback, Mistakes, formula, sequence
from voicewire_book.kit.records import Choice, Formula, Number, Stage
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "expected_bulk", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given

LINK = Link()


def _saved(floor: float, printed: float) -> Drawn:
    tries, rto = 200, 3
    waiting = printed - floor
    odds = waiting / (tries * rto)
    only = f"without a loss it takes {floor:g} s: only the rest is waiting."
    return Drawn(
        f"T = {printed:.2f} s, floor {floor:g} s",
        odds / (1 + odds),
        (
            (odds, "this is p/(1 - p), losses for each packet that gets through: solve it for p."),
            (odds * tries, "this is the number of losses: of how many tries?"),
            (2 * odds / (1 + 2 * odds), "both ends send 100 packets each."),
            (2 * odds, "both ends send 100 packets each; and this would be p/(1 - p)."),
            (printed / (tries * rto), only),
            (printed / (tries * rto + printed), only),
            (0.102454, "this is what the chain predicts; asked is what the printed latency says."),
        ),
        f"Beyond the floor are {waiting:.2f} s, or {waiting / rto:.1f} timeouts of 3 s.\n"
        f"Each of the 2 · 100 packets loses p/(1 - p) = {odds:.4f} on average.\n"
        f"p = {odds:.4f} / {1 + odds:.4f} = {odds / (1 + odds):.3f}.",
        right=f"{waiting:.0f} s beyond the floor are {waiting / rto:.1f} timeouts of 200 packets, and p/(1 - p) = "
        f"{odds:.4f}.",
        tolerance=0.005,
    )


EXERCISES["nfc-ex-saved"] = Exercise(
    "saved",
    (126.62, 199.60),
    lambda rng: ((floor := int(rng.integers(110, 141))), floor + 600 * int(rng.choice([3, 5, 8, 15, 20, 25])) / 100),
    _saved,
)


# Which further measurement would tell the bytes of framing.
EXERCISES["nfc-ex-identifiable"] = Choice(
    "b",
    ["a", "b", "c", "d"],
    hints={
        "a": "ten times the bytes are ten times the same packets: 5 and 6 bytes still take the same slots.",
        "c": "runs with errors scatter by seconds, and a framing that shifts no step gives the same mean.",
        "d": "the delay is added to responses: no packet's slots change.",
    },
    right="where the staircase steps, a byte more costs a slot: the place of the step is the framing.",
)  # fmt: skip


@EXERCISES.judged("nfc-ex-control")
def _(answer: object) -> Feedback:
    """Slots of a 14-slot packet at shares 0, 0.2, 0.5 and 0.7, rounded to sections of 10."""
    shares = (0.0, 0.2, 0.5, 0.7)
    mistakes: Mistakes = [
        (lambda a: shared(14, a), "these are the slots of Eq. 7.4: round up to whole sections of 10."),
        (lambda a: shared(14, a, "packet"), "rounded up to slots: whole sections of 10 are asked."),
        (lambda a: 20 / (1 - a), "stretch first, then round up."),
        (lambda a: 10 * math.ceil(round(14 * (1 + a), 9) / 10), "of each section, 1 − a is left: divide by it."),
        (lambda a: 10 * round(14 / (1 - a) / 10), "a section that has begun counts: round up."),
        (lambda a: math.ceil(14 / (1 - a) / 10), "these are sections: in slots, please."),
    ]
    right = "a fifth of the slots taken costs nothing more: the section hides it."
    verdict = sequence(answer, [shared(14, a, "section") for a in shares], 1e-9, unit="slots", right=right)
    if verdict:
        return verdict
    hints = (hint for wrong, hint in mistakes if sequence(answer, [wrong(a) for a in shares], 0.003, unit="slots"))
    return Feedback(False, next(hints, verdict.message))


def expected_bulk(mss: int, ber: float, size: int = 50_000, rto: float = 3.0) -> float:
    """Expected latency, s, of stop-and-wait data packets of `mss` bytes with a constant timeout."""
    count = -(-size // mss)
    one = Exchange(packets=1, size=mss, rto=rto, channel=Channel.random(ber))
    slots = LINK.slots(mss + 40) + LINK.slots(40)
    return count * (slots * LINK.period + one.timeout * one.loss / (1 - one.loss))


SIZES = range(64, 1461)  # bytes


@cache
def best_size(rate: float, rto: float, kind: str = "right") -> int:
    """Size with the least expected latency of 50 kB, for `kind` of right or wrong reckoning."""
    channel = Channel.random(rate)

    def cost(mss: int) -> float:
        if kind == "right":
            return expected_bulk(mss, rate, rto=rto)
        whole = mss + HEADER_BYTES
        slots = LINK.slots(whole) + (0 if kind == "no ACKs" else LINK.slots(HEADER_BYTES))
        p = channel.loss(8 * mss if kind == "no headers" else whole if kind == "bytes" else 8 * whole)
        lost = p if kind == "one loss" else p / (1 - p)
        count = 50_000 / mss if kind == "no rounding" else -(-50_000 // mss)
        return count * (slots * LINK.period + rto * lost)

    return min(SIZES, key=cost)


def _as_good(answer: Callable[..., Any], rate: float, rto: float) -> bool:
    """Whether the size that a function gives takes no longer than the best one: two may be equally good."""
    try:
        size = float(answer(rate, rto))
    except Exception:  # whatever a student's code may raise: `formula` says it
        return False
    best = expected_bulk(best_size(rate, rto), rate, rto=rto)
    return size in SIZES and expected_bulk(int(size), rate, rto=rto) <= best * (1 + 1e-9)


@EXERCISES.judged("nfc-ex-mss")
def _(answer: object) -> Feedback:
    """A function of bit error rate and timeout -> best size (bytes) of 64 to 1460 for 50 kB."""
    cases = [(1e-4, 3.0), (1e-4, 0.5), (3e-5, 3.0), (2e-4, 1.5)]
    if callable(answer) and all(_as_good(answer, *case) for case in cases):
        return Feedback(True, "the longer the timeout, the smaller the packets that a lost one is worth.")
    mistakes: Mistakes = [
        (lambda rate, rto: 1460, "without errors a large one is best; here a long packet is lost more often."),
        (lambda rate, rto: best_size(rate, 3.0), "the timeout is the second argument: a loss costs by it."),
        (lambda rate, rto: expected_bulk(best_size(rate, rto), rate, rto=rto),
         "this is the latency: the size is asked."),
        (lambda *case: best_size(*case, "no headers"), "the headers are hit too: a packet has 40 bytes more."),
        (lambda *case: best_size(*case, "bytes"), "count bits, not bytes: eight times as many can be wrong."),
        (lambda *case: best_size(*case, "one loss"), "the repeat can be lost too: p/(1 − p) losses, not p."),
        (lambda *case: best_size(*case, "no ACKs"), "each packet is acknowledged: the ACK's slots count."),
        (lambda *case: best_size(*case, "no rounding"),
         "the last packet takes a whole turn: round the number of packets up."),
    ]  # fmt: skip
    return formula(answer, best_size, cases, mistakes, 1e-9)


def slots_resent(size: int, rate: float, usable: int = 9, bits: int = 8 * paper.CHUNK_BYTES) -> float:
    """Mean slots of an IP packet whose hit slots are sent again at once."""
    return -(-(size + LINK.framing) // usable) / (1 - Channel.random(rate).loss(bits))


# A function of IP bytes and BER -> mean slots of a packet with a checksum in each slot.
EXERCISES["nfc-ex-checksum"] = Formula(
    slots_resent,
    [(540, 1e-4), (1064, 1e-3), (40, 5e-3), (300, 0.0)],
    [
        (lambda s, e: slots_resent(s, e, usable=10), "the checksum takes one of the ten usable bytes."),
        (lambda s, e: (s + 6) / 9 / (1 - e) ** 112, "a part of a slot takes a whole slot: round up."),
        (lambda s, e: slots_resent(s - 6, e), "the tunnel's framing is missing: 6 bytes."),
        (lambda s, e: -(-(s + 6) // 9) / (1 - e) ** (8 * s), "only the slot that was hit is sent again."),
        (lambda s, e: slots_resent(s, e, bits=80), "all 14 bytes on air can be hit, not the usable ones alone."),
        (lambda s, e: slots_resent(s, e, bits=72), "all 14 bytes on air can be hit, not the data alone."),
        (lambda s, e: slots_resent(s, e, bits=14), "count bits, not bytes."),
        (lambda s, e: -(-(s + 6) // 9) * (2 - (1 - e) ** 112),
         "a slot that is sent again can be hit again: 1/(1 − p) tries on average."),
    ],
    right="at 1e-4 a packet of 540 bytes takes 62 slots instead of 55, and no timeout.",
)  # fmt: skip

SQUARE = "the mean's spread falls with the root of the number: square."

# Runs at each window, from which a gain of 1 % is 1.96 standard errors.
EXERCISES["nfc-ex-runs"] = Number(
    277,  # 2 (1.96 · 6)², rounded up
    0.003,
    hints={
        (1.96 * 6) ** 2: "both means scatter: their variances add.",
        1.96 * 6: SQUARE,
        2**0.5 * 1.96 * 6: SQUARE,
        2 * 1.96 * 6: SQUARE,
        72.0: "this is one standard error; 1.96 are asked.",
        288.0: "1.96 standard errors, not 2.",
        4 * (1.96 * 6) ** 2: "runs at *each* window are asked, not at both together.",
        8 * (1.96 * 6) ** 2: "the interval reaches 1.96 standard errors to either side: 1 % is one side.",
    },
    right="two means scatter, so twice (1.96 · 6)².",
)  # fmt: skip


# The lab: control messages in real slots

# Stage 1: bit rate, active time and overhead -> usable bytes of a slot.
EXERCISES["nfc-control-lab-room"] = Stage(
    [(848.0, 1.5, 14), (212.0, 1.5, 11), (424.0, 1.9, 11), (212.0, 2.5, 14), (848.0, 1.0, 0)],
    lambda rate, active, overhead: ShortSession(overhead=overhead).payload(rate, active),
    [
        (lambda rate, active, overhead: math.floor(rate * active / 8 + 1e-9),
         "the commands take `overhead` bytes of each slot."),
        (lambda rate, active, overhead: rate * active / 8 - overhead,
         "a byte that does not fit whole is not sent: round down."),
        (lambda rate, active, overhead: math.ceil(rate * active / 8 - 1e-9) - overhead,
         "a byte that does not fit whole is not sent: round down."),
        (lambda rate, active, overhead: math.floor(rate * active) - overhead,
         "kilobits times milliseconds are bits; eight make a byte."),
    ],
    "whole bytes, less what the commands take.",
)  # fmt: skip


def _lengths(sizes: Sequence[int], room: int, framing: int = 6) -> list[int]:
    return [-(-(size + framing) // room) for size in sizes]


# Stage 2: bytes of IP packets and room of a slot -> their slots.
EXERCISES["nfc-control-lab-lengths"] = Stage(
    [([1040, 40], 145), ([144, 145, 139, 140], 145), ([44, 44, 40, 1040], 28), ([10], 1)],
    _lengths,
    [
        (lambda sizes, room: _lengths(sizes, room, 0), "the tunnel adds 6 bytes to each packet."),
        (lambda sizes, room: [(size + 6) // room for size in sizes], "a part of a slot takes a whole slot: round up."),
        (lambda sizes, room: -(-(sum(sizes) + 6) // room), "each packet begins a slot of its own."),
    ],
    "each packet by itself.",
)  # fmt: skip


def _free(taken: int, section: int, sections: int) -> list[int]:
    return [int(slot % section >= taken) for slot in range(section * sections)]


# Stage 3: slots taken, slots of a section, sections -> 1 for each slot that control messages leave, 0 for the others.
EXERCISES["nfc-control-lab-free"] = Stage(
    [(2, 10, 3), (0, 10, 1), (9, 10, 2), (3, 4, 2)],
    _free,
    [
        (lambda taken, section, sections: [1 - slot for slot in _free(taken, section, sections)],
         "1 is a slot that is left, 0 one that is taken."),
        (lambda taken, section, sections: _free(taken, section, 1), "all sections, one after the other."),
        (lambda taken, section, sections: [int(slot % section < section - taken) for slot in range(section * sections)],
         "the control messages come first in their section."),
    ],
    "the first of each section are taken.",
)  # fmt: skip

_SLOTS = [0, 1, 1, 0, 1, 1, 1, 0, 0, 1]

# Stage 4: slots that are left, the first to try, slots of a packet -> the slot after its last, as the package has it.
EXERCISES["nfc-control-lab-crossed"] = Stage(
    [(_SLOTS, 0, 1), (_SLOTS, 0, 3), (_SLOTS, 3, 2), (_SLOTS, 4, 1), (_SLOTS, 0, 6), (_SLOTS, 0, 7), (_SLOTS, 10, 1)],
    crossed,
    [
        (lambda free, begin, slots: begin + slots, "only slots that are left carry the packet."),
        (lambda *case: (end := crossed(*case)) - (end >= 0),
         "it has crossed at the end of its last slot: in the next one."),
        (lambda free, *rest: end if (end := crossed(free, *rest)) >= 0 else len(free),
         "say -1 if the slots run out first."),
        (lambda free, begin, slots: crossed(free, 0, slots), "it can't begin before `begin`."),
    ],
    "slot by slot, and -1 where they run out.",
)  # fmt: skip


def _spent(packets: Sequence[tuple[int, int]], free: Sequence[int], begin: int, *, wait: bool = True) -> int:
    """Slots from `begin` until all is over; without `wait` a usual mistake."""
    now = begin
    for slots, response in packets:
        now = crossed(free, now, slots) if now < len(free) else -1
        if now < 0:
            return -1
        now += response if wait else 0
    return now - begin


@EXERCISES.made("nfc-control-lab-spent")
def _() -> Stage:
    """Stage 5: packets with their responses, slots that are left, the first -> slots that a session takes."""
    two = [(3, 8), (1, 8)]
    stretch = "a response is time, not transmission: control messages do not stretch it."
    return Stage(
        [(two, _free(0, 10, 5), 0), (two, _free(5, 10, 8), 3), (two, _free(9, 10, 9), 1), (two, _free(5, 10, 1), 0)],
        _spent,
        [
            (lambda *case: _spent(*case, wait=False),
             "after each packet comes a response, whose slots count whether they are left or taken."),
            (lambda packets, free, begin: -1 if (spent := _spent(packets, free, begin)) < 0 else spent + begin,
             "the slots from `begin` on are asked, not the slot in which it ends."),
            (lambda packets, *rest: _spent([(slots + wait, 0) for slots, wait in packets], *rest), stretch),
            (lambda packets, *rest: _spent([(slots, 0) for pair in packets for slots in pair], *rest), stretch),
        ],
        "packets stretch, responses do not.",
    )  # fmt: skip


def _session(size: int, overhead: int) -> ShortSession:
    return ShortSession(size=size, overhead=overhead, scope="round trip")


def _latency(size: int, overhead: int, rate: float, active: float, taken: int) -> float:
    return control_slots.seconds(_session(size, overhead), taken, "first", None, rate, active)


def _begun(begin: int, size: int, overhead: int, rate: float, active: float, taken: int) -> float:
    """Latency, s, of a session that begins in this slot."""
    packets = control_slots.script(_session(size, overhead), rate, active)
    return LINK.period * _spent(packets, _free(taken, 10, 10 + sum(slots + wait for slots, wait in packets)), begin)


@EXERCISES.made("nfc-control-lab-latency")
def _() -> Stage:
    """Stage 6: the mean latency in s, equal to the package's on settings not seen before."""
    sizes = np.random.default_rng(5).integers(200, 3000, 12).tolist()
    overheads = np.random.default_rng(6).integers(4, 20, 12).tolist()
    taken = np.random.default_rng(7).integers(0, 9, 12).tolist()
    return Stage(
        list(zip(sizes, overheads, [212.0, 424.0, 848.0] * 4, [1.5] * 12, taken, strict=True)),
        _latency,
        [
            (lambda *case: _begun(0, *case), "a session may begin in any slot of a section: the mean over all ten."),
            (lambda *case: _begun(case[4], *case),
             "a session may begin in any slot of a section, in one that is taken, too."),
            (lambda *case: 100 * _latency(*case), "in seconds: a slot is 10 ms."),
            (lambda size, overhead, rate, active, taken: _session(size, overhead).seconds(rate, active, taken / 10),
             "this is Eq. 7.4; here the slots are real."),
        ],
        "equal to the package's in 12 settings that you had not seen.",
    )  # fmt: skip

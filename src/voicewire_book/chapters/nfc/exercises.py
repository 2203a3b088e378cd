"""Checks for the exercises of the NFC part; each returns `voicewire_book.kit.exercises.Feedback`.

A check takes whatever a student hands over; None means not answered yet.
"""

import math
from collections.abc import Callable

from voicewire.nfc import latency_formulas, paper
from voicewire.nfc.channel import Channel
from voicewire.nfc.link import HEADER_BYTES, Link
from voicewire.nfc.reference.timer import Estimator, measured
from voicewire.nfc.session import RESPONSE_LATENCY, Session
from voicewire.nfc.slot_sharing import shared
from voicewire_book.chapters.nfc._answers import (
    SIZES,
    as_good,
    best_size,
    bulk,
    doublings,
    far,
    goodput_share,
    mean_wait,
    root,
    slots_resent,
    smallest_window,
    stall,
    value,
    wall,
)
from voicewire_book.chapters.nfc.drawn import LOSS, SAVED, SLOTS
from voicewire_book.kit.exercises import Feedback, Mistakes, choice, formula, number, sequence

__all__ = [
    "check_apart",
    "check_best_mss",
    "check_burst_p",
    "check_by_hand",
    "check_control",
    "check_delay_stall",
    "check_first_rto",
    "check_gap",
    "check_goodput",
    "check_identifiable",
    "check_packet_loss",
    "check_pauses",
    "check_saved",
    "check_slot_checksum",
    "check_slots",
    "check_smallest_window",
    "check_wait",
    "check_wall",
    "expected_bulk",
]


# Notebook 1


def check_slots(answer: object, seed: int | None = None) -> Feedback:
    """Largest MSS (bytes) whose data packet takes at most 40 slots (ex. 1.1)."""
    return SLOTS.own(seed).check(answer)


def check_by_hand(answer: object) -> Feedback:
    """Latency of 2500 bytes at an MSS of 1000, Ethernet delay 0.2 s, s (ex. 1.2)."""
    parts = latency_formulas.latency(Session(size=2500, mss=1000, ethernet_delay=0.2))
    slot, expected = paper.SLOT_PERIOD, parts.total * paper.SLOT_PERIOD
    hints = {
        expected - parts.responses * slot: "the responses are missing: three at each end.",
        expected - 60 * slot: "the device's responses have the Ethernet delay in them: G', not G.",
        expected + 60 * slot: "the delay is in the device's three responses only, not in the appliance's.",
        expected - 60 * slot + 0.2: "the delay comes three times: with each response of the device.",
        expected - parts.acks * slot: "the acknowledgements are missing: one for each segment.",
        expected - 30 * slot: "set-up and teardown are missing: six packets of five slots.",
        expected + 50 * slot: "the last segment has 500 bytes only.",
        expected - parts.responses * slot + 6 * RESPONSE_LATENCY + 0.6: "an answer waits for a slot: round up.",
    }
    right = (
        f"{parts.data} slots of data, {parts.acks} of ACKs, 30 of control packets, and responses of 8 and 28, "
        "three times each."
    )
    return number(answer, expected, 1e-4, unit="s", hints=hints, right=right)


def check_delay_stall(answer: object) -> Feedback:
    """A function of the Ethernet delay, s -> extra latency of the window of 2048 bytes, s (ex. 1.3)."""
    cases = [(0.0,), (0.02,), (0.05,), (0.12,), (0.7,), (0.95,)]
    mistakes: Mistakes = [
        (lambda d: d, "the response latency comes on top of the delay, and what follows waits for a slot."),
        (lambda d: far(d) * 0.01, "one acknowledgement crosses during the wait, and need not cross later."),
        (lambda d: far(2 * d) * 0.01, "the delay enters a round trip once, not twice."),
        (lambda d: (far(d) - 5) * 0.01, "where the delay is small, the second ACK holds the link: until slot G + a."),
        (lambda d: (max(far(d), 13)) * 0.01, "of the wait, a slots are one of the N acknowledgements already."),
        (lambda d: max(d + RESPONSE_LATENCY, 0.13) - 0.05, "a packet starts with a slot: round up to whole ones."),
        (lambda d: max(far(d), 13) - 5, "this is in slots: in seconds, please."),
    ]
    told = "max(G', G + a) − a, in which G' has the delay: it holds without a delay, too."
    return formula(answer, stall, cases, mistakes, right=told)


def check_smallest_window(answer: object) -> Feedback:
    """A function of MSS and Ethernet delay -> smallest first window (bytes) without a stall (ex. 1.4)."""
    cases = [(536, 0.0), (536, 1.0), (300, 0.5), (300, 1.0), (1024, 0.5)]
    three = "three segments are enough only where a packet and its ACK outlast the response: try a delay of 1 s."
    mistakes: Mistakes = [
        (lambda mss, delay: 3 * mss, three),
        (lambda mss, delay: smallest_window(mss, delay) / mss, "these are segments: in bytes, please."),
        (lambda mss, delay: 2 * mss, "with two segments the sender still waits once for the first acknowledgement."),
        (lambda mss, delay: mss, "one segment is stop and wait: it stalls at the very first acknowledgement."),
        (lambda mss, delay: smallest_window(mss, delay) - mss, "this window still stalls: one segment more."),
        (lambda mss, delay: smallest_window(mss, delay) + mss, "one segment less does not stall either."),
    ]
    told = "two segments, and as many more as it takes their packets and ACKs to outlast the response."
    return formula(answer, smallest_window, cases, mistakes, 1e-9, right=told)


def check_goodput(answer: object) -> Feedback:
    """A function of MSS and segments an ACK -> share of the link's 8 kbit/s in a long transfer (ex. 1.5)."""
    link = Link()
    cases = [(1024, 1), (1024, 2), (536, 1), (256, 2), (1459, 4)]


    def data(mss: int) -> float:
        return mss / (10 * link.slots(mss + HEADER_BYTES))


    bare = "acknowledgements take slots too: the link is half duplex."
    mistakes: Mistakes = [
        (lambda mss, every: mss / (mss + 40), bare),
        (lambda mss, every: mss / (mss + 46), bare),
        (lambda mss, every: data(mss), bare),
        (lambda mss, every: goodput_share(mss, 1), "and if one ACK answers several segments?"),
        (lambda mss, every: every * mss / (every * (mss + 46) + 46), "a part of a slot takes a whole slot: round up."),
        (lambda mss, every: every * mss / (every * (mss + 40) + 40), "framing is missing, and slots are whole."),
        (lambda mss, every: 8e3 * goodput_share(mss, every), "this is in bit/s: as a share of the 8 kbit/s, please."),
    ]
    told = "one ACK for two segments instead of one saves 2.5 slots of 112."
    return formula(answer, goodput_share, cases, mistakes, right=told)


def check_gap(answer: object) -> Feedback:
    """Which session has a gap before and after every acknowledgement (ex. 1.6)."""
    hints = {
        "a": "its stall comes once; from then on three segments keep the link busy. Count the gaps.",
        "b": "a delay lengthens the gaps after an ACK, not those before it: are the two kinds different?",
        "d": "the next packet would come after a timeout of 3 s: how long are the gaps?",
    }
    right = "with one segment under way both ends wait for each other in every round."
    return choice(answer, "c", ["a", "b", "c", "d"], hints=hints, right=right)


# Notebook 2


def check_packet_loss(answer: object, seed: int | None = None) -> Feedback:
    """Largest payload (bytes) lost at most one time in ten at a random bit error rate of 5e-5 (ex. 2.1)."""
    return LOSS.own(seed).check(answer)


def check_burst_p(answer: object) -> Feedback:
    """A function of BER, burst length and errors in the bad state -> Good to Bad (ex. 2.2)."""
    def right(rate: float, length: float, share: float) -> float:
        return Channel.burst(rate / share, length).to_bad


    cases = [(1e-3, 5.0, 0.5), (0.02, 8.0, 0.25), (0.05, 4.0, 0.8), (0.03, 10.0, 1.0)]
    mistakes: Mistakes = [
        (lambda e, n, h: e / (n * (1 - e)), "not every bit of the bad state is an error: it must be there more often."),
        (lambda e, n, h: e * h / (n * (1 - e * h)), "fewer errors in the bad state ask for more bits in it: divide."),
        (lambda e, n, h: e / (n * h), "jumps to bad start in the good state only: divide by its share of the bits."),
        (lambda e, n, h: e / h, "this is the bad state's share of the bits, not the rate of entering it."),
        (lambda e, n, h: e / (h - e), "and how often does the chain leave the bad state? One over the stay's length."),
        (lambda e, n, h: n * e / (h - e), "p_BG is one over the stay's length, not the length."),
    ]
    told = "the bad state has ε/h of the bits, and as many jumps lead in as out: ε/(L (h − ε))."
    return formula(answer, right, cases, mistakes, right=told)


def check_wait(answer: object) -> Feedback:
    """A function of p and m -> mean wait of a packet, in timeouts that double m times at most (ex. 2.3)."""
    cases = [(0.1, 2), (0.3, 4), (0.2, 0), (0.5, 3), (0.8, 2)]
    tail = "after m doublings the timeout grows no more: the series has another tail."
    zero = "at p = 1/2 the ratio is 1 and its formula divides zero by zero: there each of the m terms is 1/2."
    mistakes: Mistakes = [
        (lambda p, m: p / (1 - 2 * p), tail),
        (lambda p, m: p / (1 - 2 * p) if p < 0.5 else math.inf, tail),
        (lambda p, m: sum(p**k * 2 ** (k - 1) for k in range(1, 200)), tail),
        (lambda p, m: math.nan if p == 0.5 else mean_wait(p, m), zero),
        (lambda p, m: p / (1 - p), "this is the constant timeout: the first m losses double it."),
        (doublings, "the packet is not given up: after m losses it goes on with a timeout of 2^m."),
        (lambda p, m: doublings(p, m + 1), "the packet is not given up: it goes on with a timeout of 2^m."),
        (
            lambda p, m: doublings(p, m) + 2 ** (m - 1) * p ** (m + 1) / (1 - p),
            "the first loss waits for the timeout itself: after m doublings it is 2^m, not 2^(m−1).",
        ),
        (lambda p, m: mean_wait(p, m + 1), "one doubling too many: the first loss waits for the timeout itself."),
        (lambda p, m: 2**m * p / (1 - p), "the first losses wait less: 1, 2, 4 … up to 2^m."),
    ]
    told = "m terms that double, and a constant tail: the wall is back at 1."
    return formula(answer, lambda p, m: mean_wait(p, m), cases, mistakes, right=told)


def check_wall(answer: object) -> Feedback:
    """A function of bits and burst length -> bit error rate of the doubling timer's wall (ex. 2.4)."""
    def alone(bits: float) -> float:
        return 1 - 0.5 ** (1 / bits)


    cases = [(400, 4.0), (400, 10.0), (4320, 4.0), (1000, 20.0)]
    start = "a packet can also begin in the bad state: with probability ε it does."
    mistakes: Mistakes = [
        (lambda bits, length: alone(bits), "this is the wall of independent errors: bursts hit fewer packets."),
        (lambda bits, length: length * alone(bits), "only about so: solve p_burst = 1/2 for ε exactly."),
        (lambda bits, length: math.log(2) * length / bits, "only about so: solve p_burst = 1/2 for ε exactly."),
        (lambda bits, length: root(lambda e: (1 - e / length / (1 - e)) ** (bits - 1) - 0.5), start),
        (lambda bits, length: root(lambda e: (1 - e / length / (1 - e)) ** bits - 0.5), start),
        (lambda bits, length: wall(bits + 1, length), "the first bit needs no jump: B − 1 others do."),
        (lambda bits, length: 0.5, "this is the loss of a packet at the wall: at which bit error rate is it?"),
        (lambda bits, length: alone(bits) / length, "bursts hit fewer packets, so the wall stands at a higher rate."),
    ]
    told = "bursts move the wall out, by nearly their length while they are short beside the packet."
    return formula(answer, wall, cases, mistakes, 5e-4, right=told)  # four digits


def check_first_rto(answer: object) -> Feedback:
    """RTO, s, after round trips of 0.5 s and 1.3 s by RFC 6298 (ex. 2.5)."""
    timer = Estimator()
    measured(timer, 0.5)
    measured(timer, 1.3)
    hints = {
        2.05: "the deviation is taken from the old average, before that moves.",
        0.9875: "four times the deviation.",
        1.0: "four times the deviation: with one the floor of 1 s is all that is left.",
        1.4: "the first measurement sets V to half of itself, not to zero.",
        1.975: "an eighth for the average and a quarter for the deviation, not the other way round.",
        3.9: "this is the timer after a first measurement of 1.3 s; another came before.",
        1.5: "this is the timer after the first measurement; the second is missing.",
    }
    return number(answer, timer.rto, 1e-4, unit="s", hints=hints, right="S = 0.6 s and V = 0.3875 s.")


def check_pauses(answer: object) -> Feedback:
    """Why a sender with fast retransmit still waits for its timer after each loss (ex. 2.6)."""
    hints = {
        "a": "a lost repeat would be a second cross on the same segment: is there one?",
        "c": "a short timer sends again what was never lost: here each repeat follows a cross.",
        "d": "with an ACK lost, the next ACK covers it: it names the segment expected next.",
    }
    right = "one packet behind the hole makes one duplicate: the third never comes."
    return choice(answer, "b", ["a", "b", "c", "d"], hints=hints, right=right)


# Notebook 3


def check_saved(answer: object, seed: int | None = None) -> Feedback:
    """Loss probability of a packet that 199.60 s in Table 7.3 stand for (ex. 3.1)."""
    return SAVED.own(seed).check(answer)


def check_identifiable(answer: object) -> Feedback:
    """Which further measurement would tell the bytes of framing (ex. 3.2)."""
    hints = {
        "a": "ten times the bytes are ten times the same packets: 5 and 6 bytes still take the same slots.",
        "c": "runs with errors scatter by seconds, and a framing that shifts no step gives the same mean.",
        "d": "the delay is added to responses: no packet's slots change.",
    }
    right = "where the staircase steps, a byte more costs a slot: the place of the step is the framing."
    return choice(answer, "b", ["a", "b", "c", "d"], hints=hints, right=right)


def check_control(answer: object) -> Feedback:
    """Slots of a 14-slot packet at shares 0, 0.2, 0.5 and 0.7, rounded to sections of 10 (ex. 3.3)."""
    shares = (0.0, 0.2, 0.5, 0.7)
    wrong: list[tuple[Callable[[float], float], str]] = [
        (lambda a: shared(14, a), "these are the slots of Eq. 7.4: round up to whole sections of 10."),
        (lambda a: shared(14, a, "packet"), "rounded up to slots: whole sections of 10 are asked."),
        (lambda a: 20 / (1 - a), "stretch first, then round up."),
        (lambda a: 10 * math.ceil(round(14 * (1 + a), 9) / 10), "of each section, 1 − a is left: divide by it."),
        (lambda a: 10 * round(14 / (1 - a) / 10), "a section that has begun counts: round up."),
        (lambda a: math.ceil(14 / (1 - a) / 10), "these are sections: in slots, please."),
    ]
    right = "a fifth of the slots taken costs nothing more: the section hides it."
    verdict = sequence(answer, [shared(14, a, "section") for a in shares], 1e-9, unit="slots", right=right)
    if not verdict.ok:
        for mistake, hint in wrong:
            if sequence(answer, [mistake(a) for a in shares], 0.003, unit="slots"):
                return Feedback(False, hint)
    return verdict


def check_best_mss(answer: object) -> Feedback:
    """A function of bit error rate and timeout -> best size (bytes) of 64 to 1460 for 50 kB (ex. 3.4)."""
    cases = [(1e-4, 3.0), (1e-4, 0.5), (3e-5, 3.0), (2e-4, 1.5)]
    if callable(answer):
        given = [value(answer, *case) for case in cases]
        sizes = [int(size) for size in given if math.isfinite(size) and size in SIZES]
        if len(sizes) == len(cases) and all(as_good(size, *case) for size, case in zip(sizes, cases, strict=True)):
            return Feedback(True, "the longer the timeout, the smaller the packets that a lost one is worth.")


    def by(kind: str) -> Callable[..., float]:
        return lambda rate, rto: best_size(rate, rto, kind)


    mistakes: Mistakes = [
        (lambda rate, rto: 1460, "without errors a large one is best; here a long packet is lost more often."),
        (lambda rate, rto: best_size(rate, 3.0), "the timeout is the second argument: a loss costs by it."),
        (lambda rate, rto: bulk(best_size(rate, rto), rate, rto=rto), "this is the latency: the size is asked."),
        (by("no headers"), "the headers are hit too: a packet has 40 bytes more."),
        (by("bytes"), "count bits, not bytes: eight times as many can be wrong."),
        (by("one loss"), "the repeat can be lost too: p/(1 − p) losses, not p."),
        (by("no ACKs"), "each packet is acknowledged: the ACK's slots count."),
        (by("no rounding"), "the last packet takes a whole turn: round the number of packets up."),
    ]
    return formula(answer, best_size, cases, mistakes, 1e-9, right="")


def check_slot_checksum(answer: object) -> Feedback:
    """A function of IP bytes and BER -> mean slots of a packet with a checksum in each slot (ex. 3.5)."""
    cases = [(540, 1e-4), (1064, 1e-3), (40, 5e-3), (300, 0.0)]


    def once(size: int, rate: float) -> float:
        return -(-(size + 6) // 9) * (2 - (1 - rate) ** 112)


    mistakes: Mistakes = [
        (lambda s, e: slots_resent(s, e, usable=10), "the checksum takes one of the ten usable bytes."),
        (lambda s, e: (s + 6) / 9 / (1 - e) ** 112, "a part of a slot takes a whole slot: round up."),
        (lambda s, e: slots_resent(s - 6, e), "the tunnel's framing is missing: 6 bytes."),
        (lambda s, e: -(-(s + 6) // 9) / (1 - e) ** (8 * s), "only the slot that was hit is sent again."),
        (lambda s, e: slots_resent(s, e, bits=80), "all 14 bytes on air can be hit, not the usable ones alone."),
        (lambda s, e: slots_resent(s, e, bits=72), "all 14 bytes on air can be hit, not the data alone."),
        (lambda s, e: slots_resent(s, e, bits=14), "count bits, not bytes."),
        (once, "a slot that is sent again can be hit again: 1/(1 − p) tries on average."),
    ]
    told = "at 1e-4 a packet of 540 bytes takes 62 slots instead of 55, and no timeout."
    return formula(answer, slots_resent, cases, mistakes, right=told)


def check_apart(answer: object) -> Feedback:
    """Runs at each window, from which a gain of 1 % is 1.96 standard errors (ex. 3.6)."""
    runs = 2 * (1.96 * 6 / 1) ** 2
    hints = {
        runs / 2: "both means scatter: their variances add.",
        (runs / 2) ** 0.5: "the mean's spread falls with the root of the number: square.",
        runs**0.5: "the mean's spread falls with the root of the number: square.",
        2 * (runs / 2) ** 0.5: "the mean's spread falls with the root of the number: square.",
        72.0: "this is one standard error; 1.96 are asked.",
        288.0: "1.96 standard errors, not 2.",
        2 * runs: "runs at *each* window are asked, not at both together.",
        4 * runs: "the interval reaches 1.96 standard errors to either side: 1 % is one side.",
    }
    return number(answer, math.ceil(runs), 0.003, hints=hints, right="two means scatter, so twice (1.96 · 6)².")


def expected_bulk(mss: int, ber: float, size: int = 50_000, rto: float = 3.0) -> float:
    """Expected latency, s, of stop-and-wait data packets of `mss` bytes with a constant timeout (ex. 3.4)."""
    return bulk(mss, ber, size, rto)

"""The exercises and the lab of chapter 2, *Bit errors and timers: two walls*."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from voicewire.nfc.channel import Channel
from voicewire.nfc.exchange import Exchange
from voicewire.nfc.link import HEADER_BYTES, Link
from voicewire.nfc.reference.exchange import Air, bits_in_turn, burst, stays, stop_and_wait, tried
from voicewire.nfc.reference.rto_estimator import Estimator, measured
from voicewire_book.kit._student_functions import Case
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.records import Choice, Formula, Number, Stage
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given


def _loss(millionths: int, every: int) -> Drawn:
    rate = millionths * 1e-6
    bits = math.floor(math.log(1 - 1 / every) / math.log(1 - rate))
    product, size = 1 / every / rate / 8, bits // 8 - 40
    through = math.floor(math.log(1 / every) / math.log(1 - rate) / 8) - 40
    bound = "the product is an upper bound; the exact probability is 1 - (1 - BER)^B."
    return Drawn(
        f"ε = {rate:g}, one time in {every}",
        float(size),
        (
            (size + 40.0, "the headers are in the packet too: 40 bytes."),
            (size + 1.0, f"rounded up, it is lost a little more often than one time in {every}."),
            (product - 40, bound),
            (product, f"{bound} And 40 bytes are headers."),
            (float(bits), "these are bits, headers included: bytes of payload, please."),
            (float(bits - 40), "these are bits, less 40 bytes: turn the bits into bytes first."),
            (float(bits - 320), "these are bits: bytes of payload, please."),
            (float(through), f"this one gets through one time in {every}."),
        ),
        f"ln(1 - 1/{every}) / ln(1 - {rate:g}) = {math.log(1 - 1 / every) / math.log(1 - rate):.0f} bits at most.\n"
        f"These are {bits // 8} whole bytes; 40 are headers, {size} are left.",
        unit="bytes",
        right=f"{bits} bits survive often enough: {bits // 8} bytes, and 40 of them are headers.",
        tolerance=1e-9,
    )


EXERCISES["nfc-ex-loss"] = Exercise(
    "loss", (50, 10), lambda rng: (int(rng.choice([10, 20, 25, 40, 50, 80])), int(rng.choice([4, 5, 8, 10, 20]))), _loss
)


# A function of BER, burst length and errors in the bad state -> Good to Bad.
EXERCISES["nfc-ex-chain"] = Formula(
    lambda rate, length, share: Channel.burst(rate / share, length).to_bad,
    [(1e-3, 5.0, 0.5), (0.02, 8.0, 0.25), (0.05, 4.0, 0.8), (0.03, 10.0, 1.0)],
    [
        (lambda e, n, h: e / (n * (1 - e)), "not every bit of the bad state is an error: it must be there more often."),
        (lambda e, n, h: e * h / (n * (1 - e * h)), "fewer errors in the bad state ask for more bits in it: divide."),
        (lambda e, n, h: e / (n * h), "jumps to bad start in the good state only: divide by its share of the bits."),
        (lambda e, n, h: e / h, "this is the bad state's share of the bits, not the rate of entering it."),
        (lambda e, n, h: e / (h - e), "and how often does the chain leave the bad state? One over the stay's length."),
        (lambda e, n, h: n * e / (h - e), "p_BG is one over the stay's length, not the length."),
    ],
    right="the bad state has ε/σ of the bits, and as many jumps lead in as out: ε/(L (σ − ε)).",
)  # fmt: skip


def doublings(p: float, m: int) -> float:
    """Mean wait of one packet, in first timeouts, by those losses only that double, if it gives up after m of them."""
    return sum(p**k * 2 ** (k - 1) for k in range(1, m + 1))


def mean_wait(p: float, m: int) -> float:
    """Mean wait of one packet, in first timeouts, with at most m doublings: what each further loss costs."""
    return doublings(p, m) + 2**m * p ** (m + 1) / (1 - p)


TAIL = "after m doublings the timeout grows no more: the series has another tail."

# A function of p and m -> mean wait of a packet, in timeouts that double m times at most.
EXERCISES["nfc-ex-wait"] = Formula(
    mean_wait,
    [(0.1, 2), (0.3, 4), (0.2, 0), (0.5, 3), (0.8, 2)],
    [
        (lambda p, m: p / (1 - 2 * p), TAIL),
        (lambda p, m: p / (1 - 2 * p) if p < 0.5 else math.inf, TAIL),
        (lambda p, m: sum(p**k * 2 ** (k - 1) for k in range(1, 200)), TAIL),
        (lambda p, m: math.nan if p == 0.5 else mean_wait(p, m),
         "at p = 1/2 the ratio is 1 and its formula divides zero by zero: there each of the m terms is 1/2."),
        (lambda p, m: p / (1 - p), "this is the constant timeout: the first m losses double it."),
        (doublings, "the packet is not given up: after m losses it goes on with a timeout of 2^m."),
        (lambda p, m: doublings(p, m + 1), "the packet is not given up: it goes on with a timeout of 2^m."),
        (lambda p, m: doublings(p, m) + 2 ** (m - 1) * p ** (m + 1) / (1 - p),
         "the first loss waits for the timeout itself: after m doublings it is 2^m, not 2^(m−1)."),
        (lambda p, m: mean_wait(p, m + 1), "one doubling too many: the first loss waits for the timeout itself."),
        (lambda p, m: 2**m * p / (1 - p), "the first losses wait less: 1, 2, 4 … up to 2^m."),
    ],
    right="m terms that double, and a constant tail: the wall is back at 1.",
)  # fmt: skip


def root(missing: Callable[[float], float]) -> float:
    """Rate at which a falling function is zero, by halving."""
    low, high = 0.0, 0.5
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if missing(middle) > 0 else (low, middle)
    return low


def wall(bits: int, length: float) -> float:
    """Bit error rate at which every second packet is lost to bursts of this length."""
    return root(lambda rate: 0.5 - Channel.burst(rate, length).loss(bits))


ABOUT = "only about so: solve p_burst = 1/2 for ε exactly."
START = "a packet can also begin in the bad state: with probability ε it does."

# A function of bits and burst length -> bit error rate of the doubling timer's wall.
EXERCISES["nfc-ex-wall"] = Formula(
    wall,
    [(400, 4.0), (400, 10.0), (4320, 4.0), (1000, 20.0)],
    [
        (lambda bits, length: 1 - 0.5 ** (1 / bits),
         "this is the wall of independent errors: bursts hit fewer packets."),
        (lambda bits, length: length * (1 - 0.5 ** (1 / bits)), ABOUT),
        (lambda bits, length: math.log(2) * length / bits, ABOUT),
        (lambda bits, length: root(lambda e: (1 - e / length / (1 - e)) ** (bits - 1) - 0.5), START),
        (lambda bits, length: root(lambda e: (1 - e / length / (1 - e)) ** bits - 0.5), START),
        (lambda bits, length: wall(bits + 1, length), "the first bit needs no jump: B − 1 others do."),
        (lambda bits, length: 0.5, "this is the loss of a packet at the wall: at which bit error rate is it?"),
        (lambda bits, length: (1 - 0.5 ** (1 / bits)) / length,
         "bursts hit fewer packets, so the wall stands at a higher rate."),
    ],
    5e-4,  # four digits
    right="bursts move the wall out, by nearly their length while they are short compared with the packet.",
)  # fmt: skip


@EXERCISES.made("nfc-ex-timer")
def _() -> Number:
    """RTO, s, after round trips of 0.5 s and 1.3 s by RFC 6298."""
    timer = Estimator()
    measured(timer, 0.5)
    measured(timer, 1.3)
    return Number(
        timer.rto,
        1e-4,
        unit="s",
        hints={
            2.05: "the deviation is taken from the old average, before that moves.",
            0.9875: "four times the deviation.",
            1.0: "four times the deviation: with only one, all that is left is the floor of 1 s.",
            1.4: "the first measurement sets V to half of itself, not to zero.",
            1.975: "an eighth for the average and a quarter for the deviation, not the other way round.",
            3.9: "this is the timer after a first measurement of 1.3 s; another came before.",
            1.5: "this is the timer after the first measurement; the second is missing.",
        },
        right="S = 0.6 s and V = 0.3875 s.",
    )  # fmt: skip


# Why a sender with fast retransmit still waits for its timer after each loss.
EXERCISES["nfc-ex-pauses"] = Choice(
    "b",
    ["a", "b", "c", "d"],
    hints={
        "a": "a lost repeat would be a second cross on the same segment: is there one?",
        "c": "a short timer sends again what was never lost: here each repeat follows a cross.",
        "d": "with an ACK lost, the next ACK covers it: it names the segment expected next.",
    },
    right="one packet behind the hole makes one duplicate: the third never comes.",
)  # fmt: skip


# The lab: errors in bursts, and stop and wait


def _rngs(*cases: Case) -> list[Case]:
    """Each case with a generator of its own behind it."""
    return [(*case, np.random.default_rng([41, i])) for i, case in enumerate(cases)]


def _chain(rate: float, length: float) -> tuple[float, float]:
    channel = Channel.burst(rate, length)
    return channel.to_bad, channel.to_good


# Stage 1: bit error rate and mean burst length -> both probabilities of the chain.
EXERCISES["nfc-channel-lab-chain"] = Stage(
    [(1e-4, 4.0), (0.2, 2.0), (0.01, 20.0)],
    _chain,
    [
        (lambda rate, length: (rate / length, 1 / length),
         "as many jumps lead in as out, and only the share 1 - rate of the bits is in the good state."),
        (lambda rate, length: _chain(rate, length)[::-1], "into the bad state first, then back."),
        (lambda rate, length: (rate, 1 / length),
         "a burst has several bits: it begins more rarely than a bit is wrong."),
        (lambda rate, length: (length * rate / (1 - rate), length),
         "a burst ends at each bit with a probability, one over its mean length."),
    ],
    "into bad and back as often.",
)  # fmt: skip


_WALKS = [
    (300, False, 0.02, 0.3), (300, True, 0.02, 0.3), (4, False, 0.5, 0.5), (5, True, 0.5, 0.5), (1, True, 0.5, 0.1),
    (50, False, 0.01, 1.0), (60, False, 0.1, 0.4), (60, True, 0.1, 0.4),
    *((n, bad, 0.1, 0.4) for n in range(2, 9) for bad in (False, True)),
]  # fmt: skip


def _wrong_walk(
    bits: int, bad: bool, p: float, q: float, rng: np.random.Generator, *, late: bool = False, forgets: bool = False
) -> tuple[bool, bool]:
    """Bit by bit with a usual mistake: looked at too `late`, or a hit that is forgotten."""
    hit = False
    for _ in range(bits):
        before = bad
        bad = bad != (rng.random() < (q if bad else p))
        met = bad if late else before
        hit = met if forgets else hit or met
    return hit, bad


@EXERCISES.made("nfc-channel-lab-bits")
def _() -> Stage:
    """Stage 2: bits, state, p, q and rng -> whether a packet is hit, and the state after it, bit by bit."""
    return Stage(
        _rngs(*_WALKS),
        bits_in_turn,
        [
            (lambda *case: _wrong_walk(*case, late=True),
             "note the bit first, then change the state: a bit meets the state that it finds."),
            (lambda n, bad, p, q, rng: bits_in_turn(n, bad, q, p, rng), "p leads into the bad state, q back."),
            (lambda *case: _wrong_walk(*case, forgets=True), "once hit, a packet stays hit."),
        ],
        "each bit meets a state, then throws its coin.",
    )  # fmt: skip


@EXERCISES.made("nfc-channel-lab-stay")
def _() -> Stage:
    """Stage 3: how many bits the chain stays in a state."""
    return Stage(
        _rngs((0.25,), (0.25,), (0.5,), (2.5e-5,), (1.0,), (0.9,)),
        stays,
        [
            (lambda leave, rng: stays(leave, rng) - 1 if leave < 1 else 1, "a stay has one bit at least: add one."),
            (lambda leave, rng: math.floor(math.log(rng.random()) / math.log1p(-leave)) + 1 if leave < 1 else 1,
             "the same law, but other numbers: use 1 - rng.random(), which is never 0."),
            (lambda leave, rng: math.log(1 - rng.random()) / math.log1p(-leave) if leave < 1 else 1,
             "bits are whole: round down, and add one."),
        ],
        "one draw for a whole stay.",
    )  # fmt: skip


def _channel(p: float, q: float) -> Channel:
    return Channel(Channel.burst(1e-4).kind, p, q)


def _burst(bits: int, bad: bool, p: float, q: float, rng: np.random.Generator) -> tuple[bool, bool]:
    air = Air(_channel(p, q), bad, rng)
    return burst(air, bits), air.bad


def _stays(
    bits: int, bad: bool, p: float, q: float, rng: np.random.Generator, *, ends: bool = True, keeps: bool = True
) -> tuple[bool, bool]:
    """Whole stays in one state; `ends` and `keeps` are what is right and a usual mistake."""
    hit, left, state = False, bits, bad
    while True:
        hit = hit or (state and left > 0)
        stay = int(stays(q if state else p, rng))
        if stay > left or (not ends and stay == left):
            return hit, state if keeps else bad
        left -= stay
        state = not state


@EXERCISES.made("nfc-channel-lab-burst")
def _() -> Stage:
    """Stage 4: a packet, a whole stay at a time; equal to the package's from the same random numbers."""
    return Stage(
        _rngs(*_WALKS, *[(40, bool(k % 2), 0.05, 0.25) for k in range(24)]),
        _burst,
        [
            (lambda *case: _stays(*case, ends=False),
             "a stay that ends with the packet's last bit is over: the next packet begins in the other state."),
            (lambda *case: _stays(*case, keeps=False), "give the state at the end, not the one at the beginning."),
            (bits_in_turn, "this walks bit by bit; draw whole stays with your stage 3."),
        ],
        "a packet without an error costs one random number.",
    )  # fmt: skip


def _exchange(packets: int, bits: int, p: float, q: float, wait: int, doubles: bool, limit: int) -> Exchange:
    return Exchange(
        packets=packets, size=bits // 8 - HEADER_BYTES, rto=wait * Link().period, backoff=doubles,
        retransmissions=limit, channel=_channel(p, q),
    )  # fmt: skip


def _tried(
    bits: int, bad: bool, p: float, q: float, wait: int, doubles: bool, limit: int, rng: np.random.Generator
) -> tuple[int, int, bool]:
    air = Air(_channel(p, q), bad, rng)
    return (*tried(air, _exchange(1, bits, p, q, wait, doubles, limit)), air.bad)


def _tried_otherwise(
    bits: int, bad: bool, p: float, q: float, wait: int, doubles: bool, limit: int, rng: np.random.Generator,
    *,
    before: bool = False, last: bool = False,
) -> tuple[int, int, bool]:  # fmt: skip
    """With a usual mistake: doubled `before` it is waited for, or waited for once more after the `last` loss."""
    air, cost, losses = Air(_channel(p, q), bad, rng), 0, 0
    while burst(air, bits):
        losses += 1
        if losses > limit and not last:
            break
        wait *= 2 if doubles and before else 1
        cost += wait
        wait *= 2 if doubles and not before else 1
        if losses > limit:
            break
    return cost, losses, air.bad


@EXERCISES.made("nfc-channel-lab-tried")
def _() -> Stage:
    """Stage 5: one packet until it crosses -> slots that it waits, its losses, and the state after it."""
    hard = (4320, False, 2e-4, 0.25, 300)
    return Stage(
        _rngs(*[(*hard, doubles, limit) for doubles in (False, True) for limit in (0, 2, 12) for _ in range(6)]),
        _tried,
        [
            (lambda *case: _tried_otherwise(*case, before=True),
             "the first loss costs one timeout; it doubles after that."),
            (lambda *case: _tried_otherwise(*case, last=True),
             "after it has given up it does not wait any more: the last loss costs nothing."),
            (lambda n, bad, p, q, wait, doubles, limit, rng: _tried(n, bad, p, q, wait, not doubles, limit, rng),
             "the timeout doubles where `doubles` is True."),
            (lambda n, bad, p, q, wait, doubles, most, rng: _tried(n, bad, p, q, wait, doubles, max(most - 1, 0), rng),
             "`limit` losses are still repaired; one more than that gives up."),
            (lambda n, bad, p, q, wait, doubles, limit, rng: _tried(n, bad, p, q, wait, doubles, 40, rng),
             "after `limit` repeats the packet is given up."),
        ],
        "each loss costs a timeout, except the one at which it gives up.",
    )  # fmt: skip


def _waited(
    packets: int, bits: int, p: float, q: float, wait: int, doubles: bool, limit: int, rng: np.random.Generator,
    *,
    drawn: bool = True, once: bool = True, both: bool = True,
) -> tuple[int, int, bool]:  # fmt: skip
    """Packet by packet; `drawn`, `once` and `both` are what is right and a usual mistake each."""
    bad = bool(rng.random() < p / (p + q)) if drawn else False
    cost = losses = 0
    for _ in range(2 * packets if both else packets):
        bad = bad if once else bool(rng.random() < p / (p + q))
        waited, lost, bad = _tried(bits, bad, p, q, wait, doubles, limit, rng)
        cost, losses = cost + waited, losses + lost
        if lost > limit:
            return cost, losses, False
    return cost, losses, True


@EXERCISES.made("nfc-channel-lab-exchange")
def _() -> Stage:
    """Stage 6: all packets of an exchange, equal to the package's reading version."""
    chains = ((2.5e-5, 0.25), (2e-4, 0.25), (1e-4, 5e-4))  # the last with bursts of 2000 bits
    return Stage(
        _rngs(*[(20, 4320, p, q, 300, doubles, limit)
                for p, q in chains for doubles in (False, True) for limit in (1, 12) for _ in range(3)]),
        lambda *case: stop_and_wait(_exchange(*case[:-1]), case[-1]),
        [
            (lambda *case: _waited(*case, drawn=False),
             "before the first bit the chain's state is drawn: bad with the share of its bits, p/(p + q)."),
            (lambda *case: _waited(*case, once=False),
             "the state is drawn once, before the first bit; from packet to packet it goes on."),
            (lambda *case: _waited(*case, both=False), "both ends send `packets` each."),
        ],
        "equal to the package's, slot by slot, in 36 exchanges that you had not seen.",
    )  # fmt: skip

"""The checks of notebook 2's lab: errors in bursts, and stop and wait, stage by stage.

A check calls a student's function on cases of its own and compares what comes back with what is right: at the end of
the lab with the package's own. None means not answered yet.
"""

from __future__ import annotations

import math

import numpy as np

from voicewire.nfc.channel import Channel
from voicewire.nfc.exchange import Exchange
from voicewire.nfc.link import HEADER_BYTES, Link
from voicewire.nfc.reference.exchange import Air, bits_in_turn, burst, stays, stop_and_wait, tried
from voicewire_book.kit._student import Case, staged
from voicewire_book.kit.exercises import Feedback

__all__ = [
    "check_lab_bits",
    "check_lab_burst",
    "check_lab_chain",
    "check_lab_exchange",
    "check_lab_stay",
    "check_lab_tried",
]

LINK = Link()


def _rngs(*cases: Case) -> list[Case]:
    """Each case with a generator of its own behind it."""
    return [(*case, np.random.default_rng([41, i])) for i, case in enumerate(cases)]


def _chain(rate: float, length: float) -> tuple[float, float]:
    channel = Channel.burst(rate, length)
    return channel.to_bad, channel.to_good


def _wrong_walk(
    bits: int, bad: bool, p: float, q: float, rng: np.random.Generator, late: bool = False, forgets: bool = False
) -> tuple[bool, bool]:
    """Bit by bit with a usual mistake: looked at too `late`, or a hit that is forgotten."""
    hit = False
    for _ in range(bits):
        before = bad
        bad = bad != (rng.random() < (q if bad else p))
        met = bad if late else before
        hit = met if forgets else hit or met
    return hit, bad


def _air(bad: bool, p: float, q: float, rng: np.random.Generator) -> Air:
    return Air(Channel(Channel.burst(1e-4).kind, p, q), bad, rng)


def _burst(bits: int, bad: bool, p: float, q: float, rng: np.random.Generator) -> tuple[bool, bool]:
    air = _air(bad, p, q, rng)
    return burst(air, bits), air.bad


def _stays(
    bits: int, bad: bool, p: float, q: float, rng: np.random.Generator, ends: bool = True, keeps: bool = True
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


def _exchange(packets: int, bits: int, p: float, q: float, wait: int, doubles: bool, limit: int) -> Exchange:
    return Exchange(
        packets=packets, size=bits // 8 - HEADER_BYTES, rto=wait * LINK.period, backoff=doubles, retransmissions=limit,
        channel=Channel(Channel.burst(1e-4).kind, p, q),
    )  # fmt: skip


def _tried(
    bits: int, bad: bool, p: float, q: float, wait: int, doubles: bool, limit: int, rng: np.random.Generator
) -> tuple[int, int, bool]:
    air = _air(bad, p, q, rng)
    return (*tried(air, _exchange(1, bits, p, q, wait, doubles, limit)), air.bad)


def _tried_otherwise(
    bits: int, bad: bool, p: float, q: float, wait: int, doubles: bool, limit: int, rng: np.random.Generator,
    *,
    before: bool = False, last: bool = False,
) -> tuple[int, int, bool]:  # fmt: skip
    """With a usual mistake: doubled `before` it is waited for, or waited for once more after the `last` loss."""
    air, cost, losses = _air(bad, p, q, rng), 0, 0
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


def _stop_and_wait(
    packets: int, bits: int, p: float, q: float, wait: int, doubles: bool, limit: int, rng: np.random.Generator
) -> tuple[int, int, bool]:
    return stop_and_wait(_exchange(packets, bits, p, q, wait, doubles, limit), rng)


def _waited(
    packets: int, bits: int, p: float, q: float, wait: int, doubles: bool, limit: int, rng: np.random.Generator,
    *,
    drawn: bool = True, once: bool = True, both: bool = True,
) -> tuple[int, int, bool]:  # fmt: skip
    """Package by package; `drawn`, `once` and `both` are what is right and a usual mistake each."""
    bad = bool(rng.random() < p / (p + q)) if drawn else False
    cost = losses = 0
    for _ in range(2 * packets if both else packets):
        bad = bad if once else bool(rng.random() < p / (p + q))
        waited, lost, bad = _tried(bits, bad, p, q, wait, doubles, limit, rng)
        cost, losses = cost + waited, losses + lost
        if lost > limit:
            return cost, losses, False
    return cost, losses, True


_WALKS = [
    (300, False, 0.02, 0.3), (300, True, 0.02, 0.3), (4, False, 0.5, 0.5), (5, True, 0.5, 0.5), (1, True, 0.5, 0.1),
    (50, False, 0.01, 1.0), (60, False, 0.1, 0.4), (60, True, 0.1, 0.4),
    *((n, bad, 0.1, 0.4) for n in range(2, 9) for bad in (False, True)),
]  # fmt: skip
_HARD = (4320, False, 2e-4, 0.25)


def check_lab_chain(answer: object) -> Feedback:
    """Chapter 2, stage 1: bit error rate and mean burst length -> both probabilities of the chain."""
    return staged(
        answer,
        [(1e-4, 4.0), (0.2, 2.0), (0.01, 20.0)],
        _chain,
        [
            (
                lambda rate, length: (rate / length, 1 / length),
                "as many jumps lead in as out, and only the share 1 - rate of the bits is in the good state.",
            ),
            (lambda rate, length: _chain(rate, length)[::-1], "into the bad state first, then back."),
            (
                lambda rate, length: (rate, 1 / length),
                "a burst has several bits: it begins more rarely than a bit is wrong.",
            ),
            (
                lambda rate, length: (length * rate / (1 - rate), length),
                "a burst ends at each bit with a probability, one over its mean length.",
            ),
        ],
        "into bad and back as often.",
    )


def check_lab_bits(answer: object) -> Feedback:
    """Chapter 2, stage 2: bit by bit."""
    return staged(
        answer,
        _rngs(*_WALKS),
        bits_in_turn,
        [
            (
                lambda n, bad, p, q, rng: _wrong_walk(n, bad, p, q, rng, late=True),
                "note the bit first, then change the state: a bit meets the state that it finds.",
            ),
            (lambda n, bad, p, q, rng: bits_in_turn(n, bad, q, p, rng), "p leads into the bad state, q back."),
            (lambda n, bad, p, q, rng: _wrong_walk(n, bad, p, q, rng, forgets=True), "once hit, a packet stays hit."),
        ],
        "each bit meets a state, then throws its coin.",
    )


def check_lab_stay(answer: object) -> Feedback:
    """Chapter 2, stage 3: how many bits the chain stays in a state."""
    return staged(
        answer,
        _rngs((0.25,), (0.25,), (0.5,), (2.5e-5,), (1.0,), (0.9,)),
        stays,
        [
            (lambda leave, rng: stays(leave, rng) - 1 if leave < 1 else 1, "a stay has one bit at least: add one."),
            (
                lambda leave, rng: math.floor(math.log(rng.random()) / math.log1p(-leave)) + 1 if leave < 1 else 1,
                "the same law, but other numbers: use 1 - rng.random(), which is never 0.",
            ),
            (
                lambda leave, rng: math.log(1 - rng.random()) / math.log1p(-leave) if leave < 1 else 1,
                "bits are whole: round down, and add one.",
            ),
        ],
        "one draw for a whole stay.",
    )


def check_lab_burst(answer: object) -> Feedback:
    """Chapter 2, stage 4: a packet, a whole stay at a time; equal to the package's from the same random numbers."""
    return staged(
        answer,
        _rngs(*_WALKS, *[(40, bool(k % 2), 0.05, 0.25) for k in range(24)]),
        _burst,
        [
            (
                lambda n, bad, p, q, rng: _stays(n, bad, p, q, rng, ends=False),
                "a stay that ends with the packet's last bit is over: the next packet begins in the other state.",
            ),
            (
                lambda n, bad, p, q, rng: _stays(n, bad, p, q, rng, keeps=False),
                "give the state at the end, not the one at the beginning.",
            ),
            (
                lambda n, bad, p, q, rng: bits_in_turn(n, bad, p, q, rng),
                "this walks bit by bit; draw whole stays with your stage 3.",
            ),
        ],
        "a packet without an error costs one random number.",
    )


def check_lab_tried(answer: object) -> Feedback:
    """Chapter 2, stage 5: one packet until it crosses."""
    return staged(
        answer,
        _rngs(*[(*_HARD, 300, doubles, limit) for doubles in (False, True) for limit in (0, 2, 12) for _ in range(6)]),
        _tried,
        [
            (
                lambda *case: _tried_otherwise(*case, before=True),
                "the first loss costs one timeout; it doubles after that.",
            ),
            (
                lambda *case: _tried_otherwise(*case, last=True),
                "who gives up does not wait any more: the last loss costs nothing.",
            ),
            (
                lambda bits, bad, p, q, wait, doubles, limit, rng: _tried(
                    bits, bad, p, q, wait, not doubles, limit, rng
                ),
                "the timeout doubles where `doubles` is True.",
            ),
            (
                lambda bits, bad, p, q, wait, doubles, limit, rng: _tried(
                    bits, bad, p, q, wait, doubles, max(limit - 1, 0), rng
                ),
                "`limit` losses are still repaired; one more than that gives up.",
            ),
            (
                lambda bits, bad, p, q, wait, doubles, limit, rng: _tried(bits, bad, p, q, wait, doubles, 40, rng),
                "after `limit` repeats the packet is given up.",
            ),
        ],
        "each loss costs a timeout, but for the one at which it gives up.",
    )


def check_lab_exchange(answer: object) -> Feedback:
    """Chapter 2, stage 6: all packets of an exchange, equal to the package's reading version."""
    return staged(
        answer,
        _rngs(
            *[
                (20, 4320, p, q, 300, doubles, limit)
                for p, q in ((2.5e-5, 0.25), (2e-4, 0.25), (1e-4, 5e-4))  # the last with bursts of 2000 bits
                for doubles in (False, True)
                for limit in (1, 12)
                for _ in range(3)
            ]
        ),
        _stop_and_wait,
        [
            (
                lambda *case: _waited(*case, drawn=False),
                "before the first bit the chain's state is drawn: bad with the share of its bits, p/(p + q).",
            ),
            (
                lambda *case: _waited(*case, once=False),
                "the state is drawn once, before the first bit; from packet to packet it goes on.",
            ),
            (lambda *case: _waited(*case, both=False), "both ends send `packets` each."),
        ],
        "equal to the package's, slot by slot, in 36 exchanges that you had not seen.",
    )

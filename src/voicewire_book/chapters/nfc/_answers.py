"""What the exercises of the NFC part ask for, as functions, and how a student's function is judged.

`nfc.exercises` compares with these.
"""

import math
from collections.abc import Callable
from functools import cache

from voicewire.nfc import latency_formulas, paper
from voicewire.nfc.channel import Channel
from voicewire.nfc.exchange import Exchange
from voicewire.nfc.link import HEADER_BYTES, Link
from voicewire.nfc.session import RESPONSE_LATENCY, Session


def value(answer: object, *arguments: float) -> float:
    """Return what a student's function gives as a number, or NaN where it raises: `function` says why."""
    try:
        return float(answer(*arguments))  # type: ignore[operator]
    except Exception:  # whatever a student's code may raise
        return math.nan


def stall(delay: float) -> float:
    """What a first window of two segments costs at this Ethernet delay, s."""
    session = Session(size=paper.FIGURE_72_BYTES, window=2048, ethernet_delay=delay)
    return latency_formulas.latency(session).stalls * session.link.period


def far(delay: float) -> int:
    """Slots of the device's response with this Ethernet delay, s."""
    return Link().slots_of_time(delay + RESPONSE_LATENCY)


@cache
def smallest_window(mss: int, delay: float) -> int:
    """Smallest first window, bytes, from which 20 kB take no longer than with 8192."""
    best = Session(20_000, mss, 8192, ethernet_delay=delay).run().slots
    whole = range(mss, 8193, mss)  # a part of a segment lets nothing more go
    return next(w for w in whole if Session(20_000, mss, w, ethernet_delay=delay).run().slots == best)


def goodput_share(mss: int, every: int) -> float:
    """Share of the link's usable bytes that a long transfer gets, with an ACK for every so many segments."""
    link = Link()
    slots = every * link.slots(mss + HEADER_BYTES) + link.slots(HEADER_BYTES)
    return every * mss / (link.payload * slots)


def mean_wait(p: float, most: int) -> float:
    """Mean wait of one packet, in first timeouts, with at most so many doublings: what each further loss costs."""
    doubling = sum(p**k * 2 ** (k - 1) for k in range(1, most + 1))
    return doubling + 2**most * p ** (most + 1) / (1 - p)


def doublings(p: float, most: int) -> float:
    """`mean_wait` up to the doublings only: who gives up after them."""
    return sum(p**k * 2 ** (k - 1) for k in range(1, most + 1))


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


def bulk(mss: int, ber: float, size: int = 50_000, rto: float = 3.0) -> float:
    """Expected latency, s, of stop-and-wait data packets of `mss` bytes with a constant timeout."""
    link = Link()
    count = -(-size // mss)
    one = Exchange(packets=1, size=mss, rto=rto, channel=Channel.random(ber))
    slots = link.slots(mss + 40) + link.slots(40)
    return count * (slots * link.period + one.timeout * one.loss / (1 - one.loss))


SIZES = range(64, 1461)  # bytes


@cache
def best_size(rate: float, rto: float, kind: str = "right") -> int:
    """Size with the least expected latency of 50 kB, for `kind` of right or wrong reckoning."""
    channel, link = Channel.random(rate), Link()

    def cost(mss: int) -> float:
        if kind == "right":
            return bulk(mss, rate, rto=rto)
        whole = mss + HEADER_BYTES
        slots = link.slots(whole) + (0 if kind == "no ACKs" else link.slots(HEADER_BYTES))
        p = channel.loss(8 * mss if kind == "no headers" else whole if kind == "bytes" else 8 * whole)
        lost = p if kind == "one loss" else p / (1 - p)
        count = 50_000 / mss if kind == "no rounding" else -(-50_000 // mss)
        return count * (slots * link.period + rto * lost)

    return min(SIZES, key=cost)


def as_good(size: int, rate: float, rto: float) -> bool:
    """Whether a size takes no longer than the best one: two may be equally good."""
    return bulk(size, rate, rto=rto) <= bulk(best_size(rate, rto), rate, rto=rto) * (1 + 1e-9)


def slots_resent(size: int, rate: float, usable: int = 9, bits: int = 8 * paper.CHUNK_BYTES) -> float:
    """Mean slots of an IP packet whose hit slots are sent again at once."""
    return -(-(size + Link().framing) // usable) / (1 - Channel.random(rate).loss(bits))

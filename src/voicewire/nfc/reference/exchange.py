"""An exchange to read: bit errors, a channel in two states, turns.

Notebook 2 is woven from these.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from voicewire.nfc.channel import BURST, PERIODIC, RANDOM, Channel
from voicewire.nfc.exchange import Exchange

__all__ = ["bits_in_turn", "stop_and_wait", "tried"]

UP = 0  # to the appliance
DOWN = 1  # and back
CONTROL = -1


def bits_in_turn(
    bits: int, bad: bool, p: float, q: float, rng: np.random.Generator
) -> tuple[bool, bool]:
    """Gilbert-Elliott, bit by bit: (was one hit, state after the last).

    A bit sent in the bad state is hit. After each bit the state changes,
    to bad with probability p and back to good with probability q.
    """
    hit = False
    for _ in range(bits):
        hit = hit or bad
        change = rng.random() < (q if bad else p)
        bad = bad != change
    return hit, bad


def stays(leave: float, rng: np.random.Generator) -> float:
    """How many bits the chain stays, at least one: a geometric number."""
    if leave >= 1:
        return 1.0
    bits = math.log(1 - rng.random()) / math.log1p(-leave)
    return math.floor(min(bits, 1e18)) + 1.0


@dataclass
class Air:
    """The channel: its state, and what has crossed it."""

    channel: Channel
    bad: bool
    rng: np.random.Generator
    data_packets: int = 0
    log: list[tuple[int, ...]] = field(default_factory=list)


def cross(
    air: Air, at: int, slots: int, way: int, what: int, size: int
) -> bool:
    """Send an IP packet of `size` bytes: True if it is lost."""
    lost = spoils(air, 8 * size, way == UP and what != CONTROL)
    air.log.append((at, slots, way, what, int(lost)))
    return lost


def spoils(air: Air, bits: int, data: bool) -> bool:
    """Independent errors, bursts, or every so many-th data packet."""
    if air.channel.kind == PERIODIC:
        air.data_packets += data
        return data and air.data_packets % air.channel.every == 0
    if air.channel.kind == RANDOM:
        ber = air.channel.to_bad
        return air.rng.random() < -math.expm1(bits * math.log1p(-ber))
    return air.channel.kind == BURST and burst(air, bits)


def burst(air: Air, bits: int) -> bool:
    """`bits_in_turn`, a whole stay in one state at a time."""
    p, q = air.channel.to_bad, air.channel.to_good
    hit, left = False, bits
    while p > 0:
        hit = hit or (air.bad and left > 0)
        stay = stays(q if air.bad else p, air.rng)
        if stay > left:  # the packet ends first
            return hit
        left -= int(stay)
        air.bad = not air.bad
    return False


def tried(air: Air, exchange: Exchange) -> tuple[int, int]:
    """One packet until it crosses: (slots that time-outs cost, losses)."""
    wait = max(1, exchange.link.slots_of_time(exchange.rto))
    cost = losses = 0
    while spoils(air, exchange.bits, True):
        losses += 1
        if losses > exchange.retransmissions:
            break  # given up
        cost += wait
        wait *= 2 if exchange.backoff else 1
    return cost, losses


def stop_and_wait(
    exchange: Exchange, rng: np.random.Generator
) -> tuple[int, int, bool]:
    """All packets one by one: (slots lost, losses, did all get through)."""
    channel = exchange.channel
    air = Air(channel, channel.start(rng), rng)
    cost = losses = 0
    for _ in range(2 * exchange.packets):
        waited, lost = tried(air, exchange)
        cost, losses = cost + waited, losses + lost
        if lost > exchange.retransmissions:
            return cost, losses, False
    return cost, losses, True

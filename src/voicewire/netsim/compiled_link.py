"""The wire, compiled: random numbers, losses, the bottleneck's queue (drop-tail, RED, ECN), packets in flight."""

from __future__ import annotations

import math
from collections.abc import MutableSequence

import numpy as np

from voicewire.netsim.compilation import rule
from voicewire.netsim.flow_state import DELIVERED, DROPPED_QUEUE, LOST, SECOND, FlowState, Link, World

__all__: list[str] = []

PASS, EARLY, FULL = 0, 1, 2  # what RED says to a packet


@rule
def _mix(z: np.uint64) -> float:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@rule
def uniform(f: FlowState) -> float:
    """Next number in [0, 1) of the flow's forward stream (splitmix64): packet n meets the same luck in any variant."""
    f.rng = f.rng + np.uint64(0x9E3779B97F4A7C15)
    return _mix(f.rng)


@rule
def uniform_back(f: FlowState) -> float:
    """Next number of the flow's backward stream."""
    f.rng_back = f.rng_back + np.uint64(0x9E3779B97F4A7C15)
    return _mix(f.rng_back)


@rule
def lost_forward(f: FlowState, now: int) -> bool:
    """Bernoulli, or Gilbert-Elliott when the bad state can be entered: first the state moves, then the coin falls."""
    if f.to_bad > 0.0:
        move = uniform(f)
        if f.bad:
            f.bad = 0 if move < f.to_good else 1
        else:
            f.bad = 1 if move < f.to_bad else 0
        return uniform(f) < (f.burst_loss if f.bad else f.loss) and now < f.lossy_until
    return f.loss > 0.0 and uniform(f) < f.loss and now < f.lossy_until


@rule
def lost_backward(f: FlowState, now: int) -> bool:
    """The same on the way back, with a state of its own."""
    if f.to_bad > 0.0:
        move = uniform_back(f)
        if f.bad_back:
            f.bad_back = 0 if move < f.to_good else 1
        else:
            f.bad_back = 1 if move < f.to_bad else 0
        return uniform_back(f) < (f.burst_loss if f.bad_back else f.loss_back) and now < f.lossy_until
    return f.loss_back > 0.0 and uniform_back(f) < f.loss_back and now < f.lossy_until


@rule
def early(link: Link, now: int, level: int, size: int) -> int:
    """RED (RFC 2309; Floyd and Jacobson 1993): a filtered length, a probability linear between two levels."""
    if level == 0:
        slots = (now - max(link.busy_until, link.idle_from)) * link.rate / (SECOND * size)
        link.filtered *= (1.0 - link.weight) ** max(slots, 0.0)
        link.idle_from = now
    link.filtered += link.weight * (level - link.filtered)
    if link.filtered >= link.high:
        link.since_mark = 0
        return FULL
    if link.filtered < link.low:
        link.since_mark = -1
        return PASS
    link.since_mark += 1
    pb = link.max_p * (link.filtered - link.low) / (link.high - link.low)
    spread = 1.0 - link.since_mark * pb
    pa = pb / spread if spread > 0.0 else 1.0
    link.rng = link.rng + np.uint64(0x9E3779B97F4A7C15)
    if _mix(link.rng) >= pa:
        return PASS
    link.since_mark = 0
    return EARLY


@rule
def offer(link: Link, departures: MutableSequence[int], now: int, size: int, ecn: int) -> int:
    """Offer a packet to a bottleneck: its departure time, negated if it leaves marked, or 0 if it is dropped."""
    while link.head < link.tail and departures[link.head & link.mask] <= now:
        link.head += 1
    level = link.tail - link.head
    if level >= link.limit:
        return 0
    mark = False
    if link.red:
        verdict = early(link, now, level, size)
        mark = verdict == EARLY and bool(link.ecn and ecn)
        if verdict == FULL or (verdict == EARLY and not mark):
            return 0
    begin = max(now, link.busy_until)
    link.busy_until = begin + math.ceil(size * SECOND / link.rate)
    departures[link.tail & link.mask] = link.busy_until
    link.tail += 1
    link.bytes += size
    link.longest = max(link.longest, level + 1)
    return -link.busy_until if mark else link.busy_until


@rule
def through(w: World, now: int, size: int, ecn: int) -> int:
    """Offer a packet to all bottlenecks in a row, each as it leaves the one before; the answer is that of `offer`.

    All flows pass all of them in one order, and a FIFO queue keeps it: so each is offered its packets in time.
    """
    marked = False
    for k in range(len(w.links)):
        leave = offer(w.links[k], w.departures[k], now, size, ecn)
        if leave == 0:
            return 0
        marked = marked or leave < 0
        now = abs(leave)
    return -now if marked else now


@rule
def _mark(w: World, frame: int, count: int, how: int) -> None:
    for k in range(frame, frame + count):
        if w.fate[k] != DELIVERED:  # a needless retransmission may be lost without harm
            w.fate[k] = how


@rule
def transmit(f: FlowState, w: World, now: int, frame: int, count: int, counter: int, size: int) -> int:
    """Put `count` frames from `frame` on into a packet of `size` bytes and send it; give its sequence number."""
    seq = f.seq
    f.seq += 1
    f.sent += 1
    leave = now
    mark = 0
    if len(w.links) > 0:
        leave = through(w, now, size + f.header, f.ecn)
        if leave == 0:
            f.dropped_queue += 1
            _mark(w, frame, count, DROPPED_QUEUE)
            return seq
        if leave < 0:
            leave = -leave
            mark = 1
            f.marked += 1
    if lost_forward(f, now):
        f.lost += 1
        _mark(w, frame, count, LOST)
        return seq
    arrival = leave + f.delay
    if f.jitter > 0:
        arrival += int(uniform(f) * f.jitter)
        arrival = max(arrival, f.last_arrival)  # a path keeps the order of its packets
    f.last_arrival = arrival
    if f.data_tail - f.data_head > f.mask:
        f.overflow = 1
        return seq
    slot = w.data[f.ring + (f.data_tail & f.mask)]
    slot.time = arrival
    slot.seq = seq
    slot.frame = frame
    slot.count = count
    slot.sent = now
    slot.counter = counter
    slot.rtt = f.rtt
    slot.mark = mark
    slot.payload = size
    f.data_tail += 1
    return seq


@rule
def send_back(f: FlowState, w: World, now: int) -> bool:
    """Launch an acknowledgement: True if it survives, and then its slot is `acks[f.ack_tail - 1]`."""
    f.acks_sent += 1
    if lost_backward(f, now):
        f.acks_lost += 1
        return False
    if f.ack_tail - f.ack_head > f.mask:
        f.overflow = 1
        return False
    arrival = now + f.delay
    if f.jitter > 0:
        arrival += int(uniform_back(f) * f.jitter)
        arrival = max(arrival, f.last_ack)
    f.last_ack = arrival
    w.acks[f.ring + (f.ack_tail & f.mask)].time = arrival
    f.ack_tail += 1
    return True

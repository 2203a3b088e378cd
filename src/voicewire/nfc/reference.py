"""The slotted session to read: the clock ticks slot by slot, and each rule has its own few lines.

Plain Python: a sender as in lwIP, an appliance with one buffer, a link that serves one packet at a time, a channel in
two states. `engine` holds the same rules compiled, and jumps from event to event; both give the same packets in the
same slots from the same random numbers (tests/nfc/test_reference.py). Notebooks 1 and 2 are woven from these.
Times are whole slots, windows bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from voicewire.nfc.channel import BURST, PERIODIC, RANDOM, Channel
from voicewire.nfc.exchange import Exchange
from voicewire.nfc.link import HEADER_BYTES, SYN_BYTES, segment_sizes
from voicewire.nfc.session import Session

__all__ = ["Air", "Appliance", "Sender", "bits_in_turn", "run", "stop_and_wait"]

UP, DOWN = 0, 1  # to the appliance, and back
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
        self, at: int, slots: int, way: int, what: int, size: int
    ) -> bool:
        """Send an IP packet of `size` bytes: True if it is lost."""
        lost = self.spoils(8 * size, way == UP and what != CONTROL)
        self.log.append((at, slots, way, what, int(lost)))
        return lost

    def spoils(self, bits: int, data: bool) -> bool:
        """Independent errors, bursts, or every so many-th data packet."""
        if self.channel.kind == PERIODIC:
            self.data_packets += data
            return data and self.data_packets % self.channel.every == 0
        if self.channel.kind == RANDOM:
            ber = self.channel.to_bad
            return self.rng.random() < -math.expm1(bits * math.log1p(-ber))
        return self.channel.kind == BURST and self.burst(bits)

    def burst(self, bits: int) -> bool:
        """`bits_in_turn`, a whole stay in one state at a time."""
        p, q = self.channel.to_bad, self.channel.to_good
        hit, left = False, bits
        while p > 0:
            hit = hit or (self.bad and left > 0)
            stay = stays(q if self.bad else p, self.rng)
            if stay > left:  # the packet ends first
                return hit
            left -= int(stay)
            self.bad = not self.bad
        return False


class Sender:
    """TCP as lwIP has it: windows in bytes, segments by number."""

    def __init__(self, session: Session, sizes: list[int]) -> None:
        self.sizes, self.mss = sizes, session.mss
        self.limit = float(session.window_limit)
        self.cwnd = float(min(session.window, session.window_limit))
        self.ssthresh = self.limit
        restart = session.restart_window or session.mss
        self.restart = float(min(restart, session.window_limit))
        self.threshold = session.duplicates or math.inf
        self.rto = max(1, session.link.slots_of_time(session.rto))
        self.backoff = session.backoff
        self.una = self.next = 0  # first unacknowledged, next to queue
        self.queue: list[int] = []  # segments that wait for the link
        self.flight = 0  # bytes
        self.dup = self.tries = self.timeouts = self.fast = 0
        self.recovering = False
        self.timer = math.inf

    def fill(self) -> None:
        """Queue what the window allows; one segment always may."""
        while self.next < len(self.sizes):
            size = self.sizes[self.next]
            if self.flight > 0 and self.flight + size > self.cwnd:
                return
            self.queue.append(self.next)
            self.flight += size
            self.next += 1

    def crossed(self, now: int) -> None:
        """The last packet is off the link: the timer counts from here."""
        wait = self.rto * 2 ** min(self.tries, 40)
        self.timer = now + (wait if self.backoff else self.rto)

    def on_ack(self, now: int, number: int) -> None:
        """All segments before `number` have arrived."""
        if number > self.una:
            self.advance(now, number)
        elif number == self.una and self.una < self.next:
            self.duplicate()
        self.cwnd = min(self.cwnd, self.limit)

    def advance(self, now: int, number: int) -> None:
        """Slow start adds a segment an ACK, later a segment a window."""
        known = self.sizes[self.una : min(number, self.next)]
        self.flight -= sum(known)
        self.una, self.next = number, max(self.next, number)
        self.dup = self.tries = 0
        if self.recovering:
            self.recovering, self.cwnd = False, self.ssthresh
        elif self.cwnd < self.ssthresh:
            self.cwnd += self.mss
        else:
            self.cwnd += self.mss * self.mss / self.cwnd
        waits = self.una < self.next
        self.timer = now + self.rto if waits else math.inf
        while self.queue and self.queue[0] < self.una:
            self.queue.pop(0)  # its repeat is not needed any more

    def duplicate(self) -> None:
        """The third duplicate: send again at once, with half a window."""
        self.dup += 1
        if self.dup == self.threshold and not self.recovering:
            self.fast += 1
            self.recovering = True
            self.halve()
            self.cwnd = self.ssthresh + self.threshold * self.mss
            self.queue.insert(0, self.una)
        elif self.dup > self.threshold and self.recovering:
            self.cwnd += self.mss

    def halve(self) -> None:
        """Half of what is under way, two segments at least."""
        half = min(self.cwnd, float(self.flight)) / 2
        self.ssthresh = max(half, 2.0 * self.mss)

    def on_timeout(self) -> None:
        """Everything unacknowledged goes back, the window restarts."""
        self.tries += 1
        self.timeouts += 1
        self.halve()
        self.cwnd = self.restart
        self.next, self.flight, self.dup = self.una, 0, 0
        self.recovering = False
        self.timer = math.inf


class Appliance:
    """Acknowledges each packet; keeps what arrives out of order."""

    def __init__(self, session: Session, segments: int, ack: int) -> None:
        self.have = [False] * segments
        self.expected = 0
        self.near, self.ack = session.near, ack
        self.single_buffer = session.single_buffer
        self.answers: list[tuple[int, int]] = []  # (ready at, number)
        self.busy_until = 0
        self.arrived = self.duplicates = 0

    def on_packet(self, now: int, number: int) -> None:
        """Read the packet, then have its answer ready."""
        self.arrived += 1
        self.duplicates += self.have[number]
        self.have[number] = True
        while self.expected < len(self.have) and self.have[self.expected]:
            self.expected += 1
        begin = max(now, self.busy_until)
        if self.single_buffer and self.ready(now):
            # an answer goes out before this packet can be read
            begin = max(now + self.ack, self.busy_until)
        self.answers.append((begin + self.near, self.expected))

    def ready(self, now: int) -> bool:
        """Is there an answer that waits for the link?"""
        return bool(self.answers) and self.answers[0][0] <= now


@dataclass
class Outcome:
    """What `run` counted; times in slots."""

    slots: int
    delivered: int  # bytes, in order
    gave_up: bool
    sender: Sender
    appliance: Appliance
    packets: list[tuple[int, ...]]


def control(
    air: Air, session: Session, sender: Sender, now: int, slots: int, size: int
) -> tuple[int, bool]:
    """A SYN or FIN and its answer, again until both have crossed."""
    wait = sender.rto
    for attempt in range(session.retransmissions + 1):
        sender.timeouts += attempt > 0
        if not air.cross(now, slots, UP, CONTROL, size):
            reply = now + slots + session.near
            if not air.cross(reply, slots, DOWN, CONTROL, size):
                return reply + slots + session.far, True
        now += slots + wait
        wait *= 2 if session.backoff else 1
    return now, False


def transfer(
    air: Air, session: Session, sender: Sender, far: Appliance, now: int
) -> tuple[int, bool]:
    """The data: slot by slot until all is acknowledged, or a limit is hit."""
    slots = session.data_slots().tolist()
    busy_until, way, number, lost = -1, DOWN, 0, True  # what crosses
    on_air, digested = False, list[tuple[int, int]]()
    last = UP
    while True:
        if on_air and busy_until == now:  # a packet has just crossed
            on_air = False
            if not lost and way == UP:
                far.on_packet(now, number)
            elif not lost:
                digested.append((now + session.far, number))
            if way == UP:
                sender.crossed(now)
        while digested and digested[0][0] <= now:
            sender.on_ack(now, digested.pop(0)[1])
        if sender.una == len(slots):
            return finish(now, on_air, busy_until, way, lost, far), True
        idle = not sender.queue and not (on_air and way == UP)
        if idle and sender.timer <= now and sender.una < sender.next:
            if sender.tries == session.retransmissions:
                return finish(now, on_air, busy_until, way, lost, far), False
            sender.on_timeout()
        sender.fill()
        if not on_air and (sender.queue or far.ready(now)):
            # turns alternate when both ends want the link
            up = sender.queue and (not far.ready(now) or last == DOWN)
            on_air, way = True, UP if up else DOWN
            if up:
                number = sender.queue.pop(0)
                size, length = sender.sizes[number] + 40, slots[number]
                sender.timer = math.inf
            else:
                number = far.answers.pop(0)[1]
                size, length = 40, far.ack
                far.busy_until = now + length
            lost = air.cross(now, length, way, number, size)
            busy_until, last = now + length, way
        now += 1


def finish(
    now: int, on_air: bool, until: int, way: int, lost: bool, far: Appliance
) -> int:
    """A needless repeat may still be crossing: FIN waits for the link."""
    if on_air and way == UP and not lost:
        far.arrived += 1
        far.duplicates += 1
    return max(now, until) if on_air else now


def run(session: Session, rng: np.random.Generator) -> Outcome:
    """Open, transfer, close: a whole session."""
    link = session.link
    air = Air(session.channel, session.channel.start(rng), rng)
    sizes = segment_sizes(session.size, session.mss).tolist()
    ack, syn = link.slots(HEADER_BYTES), link.slots(SYN_BYTES)
    sender = Sender(session, sizes)
    appliance = Appliance(session, len(sizes), ack)
    now, alive = control(air, session, sender, 0, syn, SYN_BYTES)
    if alive:
        air.cross(now, ack, UP, CONTROL, HEADER_BYTES)
        now += ack
        now, alive = transfer(air, session, sender, appliance, now)
    if alive:
        now, alive = control(air, session, sender, now, ack, HEADER_BYTES)
    if alive:
        air.cross(now, ack, UP, CONTROL, HEADER_BYTES)
        now += ack
    delivered = sum(sizes[: appliance.expected])
    return Outcome(now, delivered, not alive, sender, appliance, air.log)


def stop_and_wait(
    exchange: Exchange, rng: np.random.Generator
) -> tuple[int, int, bool]:
    """Packets one by one, each again until it crosses (section 7.3).

    Returns (slots that time-outs cost, losses, all packets crossed).
    """
    channel = exchange.channel
    air = Air(channel, channel.start(rng), rng)
    rto = max(1, exchange.link.slots_of_time(exchange.rto))
    cost = losses = 0
    for _ in range(2 * exchange.packets):
        wait, tries = rto, 0
        while air.spoils(exchange.bits, True):
            losses, tries = losses + 1, tries + 1
            if tries > exchange.retransmissions:
                return cost, losses, False
            cost += wait
            wait *= 2 if exchange.backoff else 1
    return cost, losses, True

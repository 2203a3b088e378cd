"""The slotted session to read: the clock ticks slot by slot.

A sender as in lwIP, an appliance with one buffer, a link that serves one
packet at a time, a channel in two states; each rule has its own few lines.
`engine` holds the same rules compiled, and jumps from event to event; both
give the same packets in the same slots from the same random numbers.
Notebook 2 is woven from these. Times are whole slots, windows bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from voicewire.nfc.channel import BURST, PERIODIC, RANDOM, Channel
from voicewire.nfc.exchange import Exchange
from voicewire.nfc.link import HEADER_BYTES, SYN_BYTES, segment_sizes
from voicewire.nfc.session import Session

__all__ = [
    "Sender",
    "Timer",
    "Window",
    "advance",
    "bits_in_turn",
    "duplicate",
    "fill",
    "halve",
    "on_ack",
    "on_timeout",
    "stop_and_wait",
    "tried",
]

UP, DOWN = 0, 1  # to the appliance, and back
CONTROL = -1


def bits_in_turn(
    bits: int, bad: bool, p: float, q: float, rng: np.random.Generator
) -> tuple[bool, bool]:
    """Gilbert-Elliott, bit by bit: (was one hit, state after the last).

    A bit sent in the bad state is hit. After each bit the state changes,
    to bad with probability p and back to good with probability q.

    Parameters
    ----------
    bits : int
        How many.
    bad : bool
        State before the first.
    p, q : float
        Probabilities to change to bad, and back, per bit.
    rng : Generator
        Where chance comes from.

    Returns
    -------
    (bool, bool)

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> bits_in_turn(3, False, 1.0, 1.0, rng)
    (True, True)
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
    """One packet until it crosses: (slots that time-outs cost, losses).

    Parameters
    ----------
    air : Air
        The channel; its state goes on.
    exchange : Exchange
        Timer and packet size.

    Returns
    -------
    (int, int)

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> air = Air(Channel.random(1e-4), False, np.random.default_rng(1))
    >>> tried(air, Exchange())
    (0, 0)
    """
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
    """All packets one by one: (slots lost, losses, did all get through).

    Parameters
    ----------
    exchange : Exchange
        What is exchanged.
    rng : Generator
        Where chance comes from.

    Returns
    -------
    (int, int, bool)

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> exchange = Exchange(packets=5, channel=Channel.random(1e-4))
    >>> stop_and_wait(exchange, np.random.default_rng(1))
    (1200, 4, True)
    """
    channel = exchange.channel
    air = Air(channel, channel.start(rng), rng)
    cost = losses = 0
    for _ in range(2 * exchange.packets):
        waited, lost = tried(air, exchange)
        cost, losses = cost + waited, losses + lost
        if lost > exchange.retransmissions:
            return cost, losses, False
    return cost, losses, True


@dataclass(kw_only=True)
class Timer:
    """The retransmission timer of a sender; times in slots.

    Attributes
    ----------
    rto : int
        Slots.
    backoff : bool
        Whether it is doubled at each time-out in a row.
    at : float
        Slot in which it fires.
    tries, timeouts : int
        Time-outs in a row, and in all.

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> Timer(rto=300).at
    inf
    """

    rto: int = 300
    backoff: bool = True  # doubled at each time-out in a row
    at: float = math.inf  # when it fires
    tries: int = 0  # time-outs in a row
    timeouts: int = 0  # in all


@dataclass(kw_only=True)
class Window:
    """The congestion window of a sender, bytes.

    Attributes
    ----------
    mss : int
        Bytes of a full segment.
    cwnd, ssthresh : float
        The window, and where slow start ends, bytes.
    limit, restart : float
        What no window passes, and the window after a time-out, bytes.

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> Window(mss=100, cwnd=100, ssthresh=400, limit=900, restart=100).cwnd
    100
    """

    mss: int
    cwnd: float
    ssthresh: float  # slow start ends here
    limit: float  # that no window passes
    restart: float  # the window after a time-out


@dataclass(kw_only=True)
class Sender(Timer, Window):
    """TCP as lwIP has it: windows in bytes, segments by number.

    Attributes
    ----------
    sizes : list of int
        Bytes of each segment.
    threshold : float
        Duplicate ACKs for a fast retransmit.
    queue : list of int
        Segments that wait for the link.
    una, next : int
        First unacknowledged segment, and the next to queue.
    flight : int
        Bytes queued and not acknowledged.
    dup, fast : int
        Duplicate ACKs in a row, and fast retransmits.
    recovering : bool
        Since a fast retransmit.

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> s = Sender(sizes=[100] * 4, mss=100,
    ...            cwnd=250, ssthresh=400, limit=900, restart=100)
    >>> s.rto, s.una, s.flight
    (300, 0, 0)
    """

    sizes: list[int]  # bytes of each segment
    threshold: float = 3  # duplicate ACKs for a fast retransmit
    queue: list[int] = field(default_factory=list)  # for the link
    una: int = 0  # first unacknowledged segment
    next: int = 0  # the next to queue
    flight: int = 0  # bytes queued and not acknowledged
    dup: int = 0  # duplicate ACKs in a row
    recovering: bool = False  # since a fast retransmit
    fast: int = 0  # fast retransmits


def sender_of(session: Session, sizes: list[int]) -> Sender:
    """Give the sender of a session, before its first segment."""
    limit = float(session.window_limit)
    return Sender(
        sizes=sizes,
        mss=session.mss,
        cwnd=min(float(session.window), limit),
        limit=limit,
        ssthresh=limit,
        rto=max(1, session.link.slots_of_time(session.rto)),
        backoff=session.backoff,
        threshold=session.duplicates or math.inf,
        restart=min(float(session.restart_window or session.mss), limit),
    )


def fill(s: Sender) -> None:
    """Queue what the window allows; one segment always may.

    Parameters
    ----------
    s : Sender
        Changed in place.

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> s = Sender(sizes=[100] * 4, mss=100,
    ...            cwnd=250, ssthresh=400, limit=900, restart=100)
    >>> fill(s)
    >>> s.queue, s.flight
    ([0, 1], 200)
    """
    while s.next < len(s.sizes):
        size = s.sizes[s.next]
        if s.flight > 0 and s.flight + size > s.cwnd:
            return
        s.queue.append(s.next)
        s.flight += size
        s.next += 1


def crossed(s: Sender, now: int) -> None:
    """The last packet is off the link: the timer counts from here."""
    wait = s.rto * 2 ** min(s.tries, 40)
    s.at = now + (wait if s.backoff else s.rto)


def on_ack(s: Sender, now: int, number: int) -> None:
    """All segments before `number` have arrived.

    Parameters
    ----------
    s : Sender
        Changed in place.
    now : int
        The slot.
    number : int
        First segment that is missing.

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> s = Sender(sizes=[100] * 4, mss=100,
    ...            cwnd=100, ssthresh=400, limit=900, restart=100)
    >>> fill(s)
    >>> on_ack(s, 30, 1)
    >>> s.una, s.cwnd, s.flight
    (1, 200, 0)
    """
    if number > s.una:
        advance(s, now, number)
    elif number == s.una and s.una < s.next:
        duplicate(s)
    s.cwnd = min(s.cwnd, s.limit)


def advance(s: Sender, now: int, number: int) -> None:
    """Slow start adds a segment an ACK, later a segment a window.

    Parameters
    ----------
    s : Sender
        Changed in place.
    now : int
        The slot.
    number : int
        First segment that is missing.

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> s = Sender(sizes=[100] * 4, mss=100,
    ...            cwnd=400, ssthresh=400, limit=900, restart=100)
    >>> fill(s)
    >>> advance(s, 30, 2)
    >>> s.una, s.cwnd, s.at
    (2, 425.0, 330)
    """
    s.flight -= sum(s.sizes[s.una : min(number, s.next)])
    s.una, s.next = number, max(s.next, number)
    s.dup = s.tries = 0
    if s.recovering:
        s.recovering, s.cwnd = False, s.ssthresh
    elif s.cwnd < s.ssthresh:
        s.cwnd += s.mss
    else:
        s.cwnd += s.mss * s.mss / s.cwnd
    waits = s.una < s.next
    s.at = now + s.rto if waits else math.inf
    while s.queue and s.queue[0] < s.una:
        s.queue.pop(0)  # its repeat is not needed any more


def duplicate(s: Sender) -> None:
    """The third duplicate: send again at once, with half a window.

    Parameters
    ----------
    s : Sender
        Changed in place.

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> s = Sender(sizes=[100] * 9, mss=100,
    ...            cwnd=800, ssthresh=900, limit=900, restart=100)
    >>> fill(s)
    >>> s.queue.clear()
    >>> for _ in range(4):
    ...     duplicate(s)
    ...
    >>> s.queue, s.ssthresh, s.cwnd
    ([0], 400.0, 800.0)
    """
    s.dup += 1
    if s.dup == s.threshold and not s.recovering:
        s.fast += 1
        s.recovering = True
        halve(s)
        s.cwnd = s.ssthresh + s.threshold * s.mss
        s.queue.insert(0, s.una)
    elif s.dup > s.threshold and s.recovering:
        s.cwnd += s.mss


def halve(s: Sender) -> None:
    """Half of what is under way, two segments at least.

    Parameters
    ----------
    s : Sender
        Changed in place.

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> s = Sender(sizes=[100] * 9, mss=100,
    ...            cwnd=800, ssthresh=900, limit=900, restart=100)
    >>> fill(s)
    >>> halve(s)
    >>> s.ssthresh
    400.0
    """
    half = min(s.cwnd, float(s.flight)) / 2
    s.ssthresh = max(half, 2.0 * s.mss)


def on_timeout(s: Sender) -> None:
    """Everything unacknowledged goes back, the window restarts.

    Parameters
    ----------
    s : Sender
        Changed in place.

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> s = Sender(sizes=[100] * 9, mss=100,
    ...            cwnd=800, ssthresh=900, limit=900, restart=100)
    >>> fill(s)
    >>> on_timeout(s)
    >>> s.next, s.cwnd, s.ssthresh, s.tries
    (0, 100, 400.0, 1)
    """
    s.tries += 1
    s.timeouts += 1
    halve(s)
    s.cwnd = s.restart
    s.next, s.flight, s.dup = s.una, 0, 0
    s.recovering = False
    s.at = math.inf


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


def on_packet(a: Appliance, now: int, number: int) -> None:
    """Read the packet, then have its answer ready."""
    a.arrived += 1
    a.duplicates += a.have[number]
    a.have[number] = True
    while a.expected < len(a.have) and a.have[a.expected]:
        a.expected += 1
    begin = max(now, a.busy_until)
    if a.single_buffer and ready(a, now):
        # an answer goes out before this packet can be read
        begin = max(now + a.ack, a.busy_until)
    a.answers.append((begin + a.near, a.expected))


def ready(a: Appliance, now: int) -> bool:
    """Is there an answer that waits for the link?"""
    return bool(a.answers) and a.answers[0][0] <= now


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
    air: Air,
    session: Session,
    sender: Sender,
    now: int,
    slots: int,
    size: int,
) -> tuple[int, bool]:
    """A SYN or FIN and its answer, again until both have crossed."""
    wait = sender.rto
    for attempt in range(session.retransmissions + 1):
        sender.timeouts += attempt > 0
        if not cross(air, now, slots, UP, CONTROL, size):
            reply = now + slots + session.near
            if not cross(air, reply, slots, DOWN, CONTROL, size):
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
                on_packet(far, now, number)
            elif not lost:
                digested.append((now + session.far, number))
            if way == UP:
                crossed(sender, now)
        while digested and digested[0][0] <= now:
            on_ack(sender, now, digested.pop(0)[1])
        if sender.una == len(slots):
            return finish(now, on_air, busy_until, way, lost, far), True
        idle = not sender.queue and not (on_air and way == UP)
        if idle and sender.at <= now and sender.una < sender.next:
            if sender.tries == session.retransmissions:
                return finish(now, on_air, busy_until, way, lost, far), False
            on_timeout(sender)
        fill(sender)
        if not on_air and (sender.queue or ready(far, now)):
            # turns alternate when both ends want the link
            up = sender.queue and (not ready(far, now) or last == DOWN)
            on_air, way = True, UP if up else DOWN
            if up:
                number = sender.queue.pop(0)
                size, length = sender.sizes[number] + 40, slots[number]
                sender.at = math.inf
            else:
                number = far.answers.pop(0)[1]
                size, length = 40, far.ack
                far.busy_until = now + length
            lost = cross(air, now, length, way, number, size)
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
    sender = sender_of(session, sizes)
    appliance = Appliance(session, len(sizes), ack)
    now, alive = control(air, session, sender, 0, syn, SYN_BYTES)
    if alive:
        cross(air, now, ack, UP, CONTROL, HEADER_BYTES)
        now += ack
        now, alive = transfer(air, session, sender, appliance, now)
    if alive:
        now, alive = control(air, session, sender, now, ack, HEADER_BYTES)
    if alive:
        cross(air, now, ack, UP, CONTROL, HEADER_BYTES)
        now += ack
    delivered = sum(sizes[: appliance.expected])
    return Outcome(now, delivered, not alive, sender, appliance, air.log)

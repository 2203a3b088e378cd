"""The slotted session to read: the clock ticks slot by slot.

A sender as in lwIP, an appliance with one buffer, a link that serves one
packet at a time, a channel in two states; each rule has its own few lines.
`engine` holds the same rules compiled, and jumps from event to event; both
give the same packets in the same slots from the same random numbers.
Notebook 2 is woven from these. Times are whole slots, windows bytes.

Where lwIP differs once segments are lost (`tests/nfc/test_witness.py`
drives it beside these rules) is `session.Recovery`: its repeat queues
behind what waits for the link, its window grows by bytes acknowledged, its
timer runs on, a timeout does not end its fast recovery, and a loss halves
its window, not what is under way. With a stopwatch
(`reference.rto_estimator`) the timeout is estimated; a busy Ethernet
(`reference.ethernet`) drops segments before they reach the link, and
acknowledgements behind it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from voicewire.nfc.link import HEADER_BYTES, SYN_BYTES, segment_sizes
from voicewire.nfc.reference.appliance import Appliance, on_packet, ready
from voicewire.nfc.reference.ethernet import Port, comes_back, reaches
from voicewire.nfc.reference.exchange import CONTROL, DOWN, UP, Air, cross
from voicewire.nfc.reference.rto_estimator import (
    Estimator,
    Stopwatch,
    answered,
    backed_off,
    begun,
    measured,
    timeout,
)
from voicewire.nfc.session import Recovery, Session

SYN_AGAIN = 3.0  # s, the least timeout after a SYN's (5.7)

__all__ = [
    "HalfDuplex", "Sender", "Timer", "Window", "admit", "advance",
    "count_bytes", "duplicate", "expired", "fill", "halve", "hand_over",
    "listen", "on_ack", "on_timeout", "put", "take_turn", "timed",
    "transfer", "widen",
]  # fmt: skip


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
    acked : float
        Bytes since the window last grew, where bytes are counted.
    careful : int
        Segment up to which slow start adds one an ACK, then, too.
    """

    mss: int
    cwnd: float
    ssthresh: float  # slow start ends here
    limit: float  # that no window passes
    restart: float  # the window after a time-out
    acked: float = 0  # bytes since the window last grew
    careful: int = 0  # before it a time-out's slow start goes on


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
    rules : Recovery
        Which rules of lwIP's are in force.
    watch : Stopwatch or None
        What a timeout is estimated with; None: it is constant.
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
    rules: Recovery = field(default_factory=Recovery)
    watch: Stopwatch | None = None  # a timeout that is estimated


def sender_of(session: Session, sizes: list[int]) -> Sender:
    """Give the sender of a session, before its first segment."""
    limit = float(session.window_limit)
    watch = None
    if session.rto_floor is not None:
        e = Estimator(rto=session.rto, least=session.rto_floor)
        watch = Stopwatch(link=session.link, estimator=e)
    return Sender(
        sizes=sizes,
        mss=session.mss,
        cwnd=min(float(session.window), limit),
        limit=limit,
        ssthresh=limit,
        rto=max(1, session.link.slots_of_time(session.rto)),
        backoff=session.backoff and watch is None,  # else the estimator does
        threshold=session.duplicates or math.inf,
        restart=min(float(session.restart_window or session.mss), limit),
        rules=session.recovery,
        watch=watch,
    )


def fill(s: Sender) -> None:
    """Queue what the window allows; one segment always may."""
    while s.next < len(s.sizes):
        size = s.sizes[s.next]
        if s.flight > 0 and s.flight + size > s.cwnd:
            return
        s.queue.append(s.next)
        s.flight += size
        s.next += 1


def crossed(s: Sender, now: int) -> None:
    """The timer counts from here; one that runs on is left alone."""
    runs = s.at < math.inf or s.una == s.next
    if s.rules.timer_runs_on and runs:
        return
    wait = s.rto * 2 ** min(s.tries, 40)
    s.at = now + (wait if s.backoff else s.rto)


def on_ack(s: Sender, now: int, number: int) -> None:
    """All segments before `number` have arrived."""
    if number > s.una:
        advance(s, now, number)
    elif number == s.una and s.una < s.next:
        duplicate(s)
    s.cwnd = min(s.cwnd, s.limit)


def count_bytes(s: Sender, number: int) -> None:
    """The window grows by bytes, not by ACKs (RFC 3465), as in lwIP."""
    if s.recovering:
        s.recovering, s.cwnd, s.acked = False, s.ssthresh, 0
    acked = sum(s.sizes[s.una : number])
    if s.cwnd < s.ssthresh:
        most = s.mss if s.una < s.careful else 2 * s.mss
        s.cwnd += min(acked, most)
        return
    s.acked += acked
    if s.acked >= s.cwnd:
        s.acked -= int(s.cwnd)
        s.cwnd += s.mss


def widen(s: Sender, number: int) -> None:
    """Slow start adds a segment an ACK, later a segment a window."""
    if s.rules.byte_counting:
        count_bytes(s, number)
    elif s.recovering:
        s.recovering, s.cwnd = False, s.ssthresh
    elif s.cwnd < s.ssthresh:
        s.cwnd += s.mss
    else:
        s.cwnd += s.mss * s.mss / s.cwnd


def advance(s: Sender, now: int, number: int) -> None:
    """Progress: the window opens, and the timer starts anew."""
    s.flight -= sum(s.sizes[s.una : min(number, s.next)])
    widen(s, number)
    s.una, s.next = number, max(s.next, number)
    s.dup = s.tries = 0
    timed(s, now)
    waits = s.una < s.next
    s.at = now + s.rto if waits else math.inf
    if s.rules.repeat_waits:
        return
    while s.queue and s.queue[0] < s.una:
        s.queue.pop(0)  # its repeat is not needed any more


def timed(s: Sender, now: int) -> None:
    """Progress may end a measurement: a new timeout."""
    if s.watch is not None:
        answered(s.watch, now, s.una)
        s.rto = timeout(s.watch)


def repeated(s: Sender, fired: bool) -> None:
    """A repeat ends the measurement (Karn); a timer that fired doubles."""
    if s.watch is not None:
        s.watch.segment = None
        if fired:
            backed_off(s.watch.estimator)
            s.rto = timeout(s.watch)


def duplicate(s: Sender) -> None:
    """The third duplicate: send again at once, with half a window."""
    s.dup += 1
    if s.dup == s.threshold and not s.recovering:
        s.fast += 1
        s.recovering = True
        halve(s)
        s.cwnd = s.ssthresh + s.threshold * s.mss
        s.at = math.inf  # it starts anew with the repeat
        last = len(s.queue) if s.rules.repeat_waits else 0
        s.queue.insert(last, s.una)
        repeated(s, fired=False)
    elif s.dup > s.threshold and s.recovering:
        s.cwnd += s.mss


def halve(s: Sender) -> None:
    """Half of what is under way, two segments at least."""
    under_way = s.cwnd if s.rules.halves_window else float(s.flight)
    half = min(s.cwnd, under_way) / 2
    s.ssthresh = max(half, 2.0 * s.mss)


def on_timeout(s: Sender) -> None:
    """Everything unacknowledged goes back, the window restarts."""
    s.tries += 1
    s.timeouts += 1
    halve(s)
    s.cwnd, s.acked, s.careful = s.restart, 0, s.next
    s.next, s.flight, s.dup = s.una, 0, 0
    s.recovering = s.recovering and s.rules.outlasts_timeout
    s.at = math.inf
    repeated(s, fired=True)


@dataclass
class HalfDuplex:
    """The link between both ends, which carries one packet at a time.

    Attributes
    ----------
    air : Air
        Channel and log.
    session : Session
        What was asked.
    sender : Sender
        At one end.
    far : Appliance
        At the other.
    slots : list of int
        Of each segment.
    way, number, lost, until : int, int, bool, int
        Of the packet on the link: direction (None: nothing is on it),
        segment, whether it is lost, slot in which it has crossed.
    last : int
        Direction of the packet before.
    port : Port
        The bridge's, to the Ethernet.
    """

    air: Air
    port: Port
    session: Session
    sender: Sender
    far: Appliance
    slots: list[int]
    way: int | None = None
    number: int = 0
    lost: bool = False
    until: int = -1
    last: int = UP


def opened(session: Session, rng: np.random.Generator) -> HalfDuplex:
    """Give both ends and the idle link between them."""
    air = Air(session.channel, session.channel.start(rng), rng)
    sizes = segment_sizes(session.size, session.mss).tolist()
    ack = session.link.slots(HEADER_BYTES)
    far = Appliance(session, len(sizes), ack)
    slots = session.data_slots().tolist()
    port = Port(session.ethernet, session.pace, rng)
    sender = sender_of(session, sizes)
    return HalfDuplex(air, port, session, sender, far, slots)


def put(
    link: HalfDuplex, now: int, way: int, number: int, slots: int, size: int
) -> None:
    """Begin to send: what happens to the packet is drawn at once."""
    link.lost = cross(link.air, now, slots, way, number, size)
    link.way = link.last = way
    link.number, link.until = number, now + slots


def take_turn(link: HalfDuplex, now: int) -> None:
    """The next packet; turns alternate when both ends want the link."""
    s, far = link.sender, link.far
    answer = ready(far, now)
    if s.queue and (not answer or link.last == DOWN):
        number = s.queue.pop(0)
        if not s.rules.timer_runs_on:
            s.at = math.inf  # it counts when this has crossed
        size = s.sizes[number] + HEADER_BYTES
        put(link, now, UP, number, link.slots[number], size)
    elif answer:
        number = far.answers.pop(0)[1]
        put(link, now, DOWN, number, far.ack, HEADER_BYTES)
        far.busy_until = link.until


def listen(link: HalfDuplex, now: int) -> None:
    """A packet has crossed; each end reads what has reached it."""
    if link.way is not None and link.until == now:
        if link.way == UP:
            if not link.lost:
                on_packet(link.far, now, link.number)
            crossed(link.sender, now)
        elif not link.lost:
            later = comes_back(link.port, now + link.session.far)
            if later is not None:
                link.port.digested.append((later, link.number))
        link.way = None
    digested = link.port.digested
    while digested and digested[0][0] <= now:
        read(link, now, digested.pop(0)[1])


def read(link: HalfDuplex, now: int, number: int) -> None:
    """An acknowledgement; its repeat may not get as far as the bridge."""
    s, before = link.sender, link.sender.fast
    waiting = len(s.queue)
    on_ack(s, now, number)
    if s.fast > before and not reaches(link.port, waiting):
        s.queue.pop(-1 if s.rules.repeat_waits else 0)
        crossed(s, now)


def expired(link: HalfDuplex, now: int) -> bool:
    """The timer counts while nothing waits or crosses, or runs on."""
    s = link.sender
    idle = not s.queue and link.way != UP
    counts = idle or s.rules.timer_runs_on
    return counts and s.at <= now and s.una < s.next


def hand_over(link: HalfDuplex, now: int) -> None:
    """Hand over what the window allows; an idle link takes a packet."""
    s, waiting, first = link.sender, len(link.sender.queue), link.sender.next
    fill(s)
    if s.watch is not None:
        begun(s.watch, now, first, s.next)
    admit(link, now, waiting)
    if s.rules.timer_runs_on:
        crossed(s, now)
    if link.way is None:
        take_turn(link, now)


def admit(link: HalfDuplex, now: int, waiting: int) -> None:
    """What comes behind `waiting` segments gets to the bridge, or not."""
    s = link.sender
    if link.port.ethernet.quiet:
        return
    new, s.queue[waiting:] = s.queue[waiting:], []
    for number in new:
        if reaches(link.port, len(s.queue)):
            s.queue.append(number)
        else:
            crossed(s, now)  # the sender does not know: its timer runs


def transfer(link: HalfDuplex, now: int) -> tuple[int, bool]:
    """Slot by slot, until all is acknowledged or a limit is hit."""
    s = link.sender
    while True:
        listen(link, now)
        if s.una == len(s.sizes):
            return now, True
        if expired(link, now):
            if s.tries == link.session.retransmissions:
                return now, False
            on_timeout(s)
        hand_over(link, now)
        now += 1


def finish(link: HalfDuplex, now: int) -> int:
    """A needless repeat may still be crossing: FIN waits for the link."""
    if link.way == UP and not link.lost:
        link.far.arrived += 1
        link.far.duplicates += 1
    return now if link.way is None else max(now, link.until)


@dataclass
class Outcome:
    """What `run` counted; times in slots."""

    slots: int
    delivered: int  # bytes, in order
    gave_up: bool
    sender: Sender
    appliance: Appliance
    packets: list[tuple[int, ...]]
    dropped: int  # on the Ethernet


def control(
    link: HalfDuplex, now: int, slots: int, size: int
) -> tuple[int, bool]:
    """A SYN or FIN and its answer, again until both have crossed."""
    air, session = link.air, link.session
    wait = link.sender.rto
    for attempt in range(session.retransmissions + 1):
        link.sender.timeouts += attempt > 0
        up = reaches(link.port, 0)
        if up and not cross(air, now, slots, UP, CONTROL, size):
            reply = now + slots + session.near
            if not cross(air, reply, slots, DOWN, CONTROL, size):
                back = reply + slots + session.far
                later = comes_back(link.port, back)
                if later is not None:
                    return later, True
        now += slots + wait
        wait *= 2 if session.backoff else 1
    return now, False


def handshaken(s: Sender, slots: int, floor: float) -> None:
    """The SYN's round trip, if it was sent once; else (5.7) of RFC 6298."""
    if s.watch is None:
        return
    if s.timeouts == 0:
        measured(s.watch.estimator, slots * s.watch.link.period)
    else:
        s.watch.estimator.rto = max(floor, SYN_AGAIN)
    s.rto = timeout(s.watch)


def run(session: Session, rng: np.random.Generator) -> Outcome:
    """Open, transfer, close: a whole session."""
    link = opened(session, rng)
    air, sender, far = link.air, link.sender, link.far
    syn = session.link.slots(SYN_BYTES)
    now, alive = control(link, 0, syn, SYN_BYTES)
    if alive:
        handshaken(sender, now, session.rto)
        cross(air, now, far.ack, UP, CONTROL, HEADER_BYTES)
        now, alive = transfer(link, now + far.ack)
        now = finish(link, now)
    if alive:
        now, alive = control(link, now, far.ack, HEADER_BYTES)
    if alive:
        cross(air, now, far.ack, UP, CONTROL, HEADER_BYTES)
        now += far.ack
    delivered = sum(sender.sizes[: far.expected])
    dropped = link.port.dropped
    return Outcome(now, delivered, not alive, sender, far, air.log, dropped)

"""The session's rules, compiled, in whole slots (notebook 1 explains a session packet by packet).

The same rules as in `reference`, by the same names; but where the reading version lets the clock tick, this one jumps
from event to event. The sender follows lwIP: slow start and congestion avoidance for each ACK, fast retransmit at the
third duplicate; on a timeout everything unacknowledged goes back to the queue and the window restarts. The receiver
keeps what arrives out of order and acknowledges each packet. The link serves one packet at a time, and lets the
directions take turns whenever both have something to send.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire._kit._compiled import njit
from voicewire._kit._records import room, rule, table
from voicewire.nfc.beyond import ethernet_queue
from voicewire.nfc.beyond.ethernet_queue import comes_back, reaches
from voicewire.nfc.channel import PERIODIC, cross
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.tcp.congestion_window import halve, widen
from voicewire.nfc.tcp.retransmission_timer import answered, begun, handshaken, repeated
from voicewire.nfc.tcp.tcp_session_state import Air, Answer, Appliance, Around, Sender, Settings, Tally, World

__all__: list[str] = []

FAR_AWAY = 1 << 60
UP, DOWN, NOTHING = 0, 1, -1  # to the appliance, back, and an idle link
CONTROL = -1  # in place of a segment's number
ACK_BITS, SYN_BITS = 8 * 40, 8 * 44
ROOM = 1 << 20  # answers under way at most

Packets = list[tuple[int, int, int, int, int]]


@rule
def _spoils(w: World, bits: int, rng: np.random.Generator) -> bool:
    """Send `bits` bits: whether one of them is hit."""
    s = w.settings
    lost, w.air.bad = cross(bits, w.air.bad, s.kind, s.to_bad, s.to_good, rng)
    return lost


@rule
def _advance(w: World, number: int) -> None:
    """All segments before `number` have arrived, some of them news."""
    s = w.sender
    for i in range(s.una, min(number, s.next)):
        s.flight -= w.sizes[i]
    widen(w, number)
    s.una = number
    s.next = max(s.next, number)
    s.dup = 0
    s.tries = 0
    if s.estimates:
        answered(w)
    s.at = w.air.now + s.wait if number < s.next else FAR_AWAY
    # a retransmission that waits for the link and is not needed any more leaves the queue
    while not w.settings.waits and s.head < s.tail and w.queue[s.head & (len(w.queue) - 1)] < number:
        s.head += 1


@rule
def _enqueue(w: World, number: int, rng: np.random.Generator) -> None:
    """Hand a segment over: it waits for the link behind all others, if it reaches the bridge."""
    s = w.sender
    if not reaches(w, s.tail - s.head, rng):
        _start_timer(w)  # the sender does not know
        return
    if s.tail - s.head == len(w.queue):
        w.air.overflow = True
        return
    w.queue[s.tail & (len(w.queue) - 1)] = number
    s.tail += 1


@rule
def _duplicate(w: World, rng: np.random.Generator) -> None:
    """At the threshold the segment is sent again at once, with half a window."""
    s = w.sender
    s.dup += 1
    if s.dup == w.settings.threshold and not s.recovering:
        w.tally.fast += 1
        s.recovering = True
        halve(w)
        s.cwnd = s.ssthresh + w.settings.threshold * w.settings.mss
        s.at = FAR_AWAY  # it starts anew with the repeat
        if s.estimates:
            repeated(w, False)
        if w.settings.waits:
            _enqueue(w, s.una, rng)
        elif reaches(w, s.tail - s.head, rng):
            s.head -= 1
            w.queue[s.head & (len(w.queue) - 1)] = s.una
        else:
            _start_timer(w)
    elif s.dup > w.settings.threshold and s.recovering:
        s.cwnd += w.settings.mss


@rule
def _on_ack(w: World, number: int, rng: np.random.Generator) -> None:
    s = w.sender
    if number > s.una:
        _advance(w, number)
    elif number == s.una and s.una < s.next:
        _duplicate(w, rng)
    s.cwnd = min(s.cwnd, float(w.settings.window_limit))


@rule
def _on_timeout(w: World) -> None:
    """Everything unacknowledged goes back, the window restarts."""
    s = w.sender
    s.tries += 1
    w.tally.timeouts += 1
    halve(w)
    s.cwnd = float(min(w.settings.restart, w.settings.window_limit))
    s.acked = 0
    s.careful = s.next
    s.next = s.una
    s.flight = 0
    s.dup = 0
    s.recovering = s.recovering and w.settings.outlasts
    s.at = FAR_AWAY
    if s.estimates:
        repeated(w, True)


@rule
def _start_timer(w: World) -> None:
    """The timer counts from here; one that runs on is left alone."""
    s = w.sender
    if w.settings.runs_on and (s.at < FAR_AWAY or s.una == s.next):
        return
    doubles = w.settings.backoff and not s.estimates
    s.at = w.air.now + (s.wait << min(s.tries, 40) if doubles else s.wait)


@rule
def _fill(w: World, rng: np.random.Generator) -> None:
    """Hand over what the window allows; one segment always may."""
    s = w.sender
    first = s.next
    while s.next < len(w.sizes) and (s.flight == 0 or s.flight + w.sizes[s.next] <= s.cwnd):
        _enqueue(w, s.next, rng)
        s.flight += w.sizes[s.next]
        s.next += 1
    if s.estimates:
        begun(w, first)
    if w.settings.runs_on:
        _start_timer(w)


@rule
def _ready(w: World) -> bool:
    """Whether an answer waits for the link."""
    a = w.appliance
    return a.head < a.tail and w.answers[a.head & (len(w.answers) - 1)].at <= w.air.now


@rule
def _on_packet(w: World, number: int) -> None:
    """Read the packet, then have its answer ready."""
    a = w.appliance
    w.tally.data_arrived += 1
    if w.have[number]:
        w.tally.duplicates += 1
    w.have[number] = True
    while a.expected < len(w.have) and w.have[a.expected]:
        w.tally.delivered += w.sizes[a.expected]
        a.expected += 1
    # With a single buffer an answer that waits goes out first (it takes the next turn), then this is read.
    begin = w.air.now
    if w.settings.single_buffer and _ready(w):
        begin += w.settings.ack
    if a.tail - a.head == len(w.answers):
        w.air.overflow = True
    else:
        answer = w.answers[a.tail & (len(w.answers) - 1)]
        answer.at = max(begin, a.busy_until) + w.settings.near
        answer.number = a.expected
        a.tail += 1


@rule
def _crossed(w: World, rng: np.random.Generator) -> None:
    """The packet on the link is there, or lost."""
    s = w.sender
    way = w.air.on
    w.air.on = NOTHING
    if way == UP:
        if w.air.lost:
            w.tally.data_lost += 1
        else:
            _on_packet(w, w.air.number)
        _start_timer(w)
    elif w.air.lost:
        w.tally.acks_lost += 1
    else:
        w.tally.acks_arrived += 1
        at = comes_back(w, w.air.now + w.settings.far, rng)
        if s.seen_tail - s.seen_head == len(w.seen):
            w.air.overflow = True
        elif at >= 0:
            answer = w.seen[s.seen_tail & (len(w.seen) - 1)]
            answer.at = at
            answer.number = w.air.number
            s.seen_tail += 1


@rule
def _digest(w: World, rng: np.random.Generator) -> None:
    """The sender reads the acknowledgements whose response latency is over."""
    s = w.sender
    while s.seen_head < s.seen_tail and w.seen[s.seen_head & (len(w.seen) - 1)].at <= w.air.now:
        number = w.seen[s.seen_head & (len(w.seen) - 1)].number
        s.seen_head += 1
        _on_ack(w, number, rng)


@rule
def _start(w: World, way: int, number: int, length: int) -> None:
    """Put a packet on the link."""
    w.air.on = way
    w.air.last = way
    w.air.number = number
    w.air.length = length
    w.air.busy_until = w.air.now + length
    w.tally.air += length


@rule
def _take_turn(w: World, rng: np.random.Generator) -> bool:
    """Put the next packet on an idle link; turns alternate when both ends want it. Whether one has begun."""
    s = w.sender
    a = w.appliance
    down = _ready(w)
    if s.head < s.tail and (not down or w.air.last == DOWN):
        number = w.queue[s.head & (len(w.queue) - 1)]
        s.head += 1
        if not w.settings.runs_on:
            s.at = FAR_AWAY
        w.tally.data_sent += 1
        if w.settings.kind == PERIODIC:
            w.air.lost = w.tally.data_sent % w.settings.every == 0
        else:
            w.air.lost = _spoils(w, 8 * w.sizes[number] + ACK_BITS, rng)
        _start(w, UP, number, w.slots[number])
        return True
    if down:
        number = w.answers[a.head & (len(w.answers) - 1)].number
        a.head += 1
        w.tally.acks_sent += 1
        w.air.lost = _spoils(w, ACK_BITS, rng)
        _start(w, DOWN, number, w.settings.ack)
        a.busy_until = w.air.busy_until
    return down


@rule
def _next_event(w: World) -> int:
    """Give the slot in which something happens again."""
    s = w.sender
    a = w.appliance
    later = FAR_AWAY
    if w.air.on != NOTHING:
        later = w.air.busy_until
    elif a.head < a.tail:
        later = w.answers[a.head & (len(w.answers) - 1)].at
    if s.seen_head < s.seen_tail:
        later = min(later, w.seen[s.seen_head & (len(w.seen) - 1)].at)
    if w.settings.runs_on or (w.air.on != UP and s.head == s.tail):
        later = min(later, max(s.at, w.air.now + 1))
    return later


@rule
def _expired(w: World) -> bool:
    """Whether the timer fires: it counts while nothing waits for the link or is on it, or runs on."""
    s = w.sender
    counts = w.settings.runs_on or (s.head == s.tail and w.air.on != UP)
    return s.at <= w.air.now and s.una < s.next and counts


@njit(cache=True)
def _transfer(w: World, rng: np.random.Generator, packets: Packets, log: bool) -> None:
    """The data, until all is acknowledged or the limit of timeouts is hit."""
    air, s = w.air, w.sender
    while True:
        if air.on != NOTHING and air.busy_until == air.now:
            _crossed(w, rng)
        _digest(w, rng)
        if s.una == len(w.sizes) or air.overflow:
            return
        if _expired(w):
            if s.tries == w.settings.limit:
                w.tally.gave_up = True
                return
            _on_timeout(w)
        _fill(w, rng)
        if air.on == NOTHING and _take_turn(w, rng) and log:
            packets.append((air.now, air.length, air.on, air.number, int(air.lost)))
        later = _next_event(w)
        if later >= FAR_AWAY:
            raise RuntimeError("nothing left to happen in a session that has not ended")
        air.now = later


@rule
def _finish(w: World) -> None:
    """A needless repeat may still be crossing: FIN waits for the link, and the repeat is counted."""
    air = w.air
    if air.on == NOTHING:
        return
    air.now = max(air.now, air.busy_until)
    if air.on == DOWN:
        w.tally.acks_lost += air.lost
        w.tally.acks_arrived += not air.lost
    elif air.lost:
        w.tally.data_lost += 1
    else:
        w.tally.data_arrived += 1
        w.tally.duplicates += 1


@njit(cache=True)
def _single(w: World, way: int, slots: int, bits: int, rng: np.random.Generator, packets: Packets, log: bool) -> bool:
    """Send one control packet at once; whether it was lost."""
    lost = _spoils(w, bits, rng)
    if log:
        packets.append((w.air.now, slots, way, CONTROL, int(lost)))
    w.air.now += slots
    w.tally.air += slots
    return lost


@njit(cache=True)
def _control(w: World, slots: int, bits: int, rng: np.random.Generator, packets: Packets, log: bool) -> None:
    """Exchange a SYN or FIN for its answer, again until both have crossed or the limit is passed."""
    wait = w.sender.wait
    for attempt in range(w.settings.limit + 1):
        if attempt > 0:
            w.tally.timeouts += 1
        begun = w.air.now
        if reaches(w, 0, rng) and not _single(w, UP, slots, bits, rng, packets, log):
            w.air.now += w.settings.near
            if not _single(w, DOWN, slots, bits, rng, packets, log):
                at = comes_back(w, w.air.now + w.settings.far, rng)
                if at >= 0:
                    w.air.now = at
                    return
        w.air.now = begun + slots + wait
        if w.settings.backoff:
            wait *= 2
    w.tally.gave_up = True


@rule
def _prepare(w: World) -> None:
    w.sender.cwnd = float(min(w.settings.window, w.settings.window_limit))
    w.sender.ssthresh = float(w.settings.window_limit)
    w.sender.at = FAR_AWAY
    w.sender.wait = w.settings.rto
    w.air.on = NOTHING
    w.air.last = UP


@njit(cache=True)
def _run(
    settings: tuple[Any, ...], sender: Sequence[Sender], appliance: Sequence[Appliance], air: Sequence[Air],
    tally: Sequence[Tally], slots: Sequence[int], sizes: Sequence[int], queue: MutableSequence[int],
    have: MutableSequence[bool], answers: Sequence[Answer], seen: Sequence[Answer], rng: np.random.Generator, log: bool,
) -> NDArray[np.int64]:  # fmt: skip
    """Open, transfer, close: a whole session; the packets are returned, and the rest stands in the records.

    The settings come as a plain tuple and the parts of the `World` one by one, because numba takes longer to recognise
    a tuple with names or a tuple of arrays.
    """
    s = Settings(*settings)
    w = World(s, sender[0], appliance[0], air[0], tally[0], slots, sizes, queue, have, answers, seen)
    _prepare(w)
    packets = [(0, 0, 0, 0, 0)]
    _control(w, s.syn, SYN_BITS, rng, packets, log)
    if w.sender.estimates:
        handshaken(w)
    if not w.tally.gave_up:  # the ACK of the handshake; should it be lost, the first data packet says the same
        _single(w, UP, s.ack, ACK_BITS, rng, packets, log)
        _transfer(w, rng, packets, log)
        _finish(w)
    if not w.tally.gave_up:
        _control(w, s.ack, ACK_BITS, rng, packets, log)
        if not w.tally.gave_up:
            _single(w, UP, s.ack, ACK_BITS, rng, packets, log)
    w.tally.slots = w.air.now
    rows = np.zeros((len(packets) - 1, 5), np.int64)
    for i in range(1, len(packets)):
        rows[i - 1] = packets[i]
    return rows


def _ring(entries: int) -> int:
    """Room for so many entries: a power of two, so that a mask wraps the index."""
    return 1 << (entries - 1).bit_length()


def session(
    settings: Settings, slots: NDArray[np.int64], sizes: NDArray[np.int64], bad: bool, rng: np.random.Generator,
    log: bool, beside: Around | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """Run a session of segments that take so many slots and hold so many bytes; `bad` is the channel's first state.

    Returns the fields of `Tally`, the packets if they are to be logged, and with an Ethernet the packets that it
    dropped (`session.Result` explains all).
    """
    # An answer waits for its latency, during which so many packets can cross; after that each packet crossing lets
    # one answer go. The same with the acknowledgements on their way into the sender.
    waiting = (settings.near + settings.ack) // int(slots[-1]) + 4  # no segment is shorter than the last
    digesting = settings.far // settings.ack + 4
    sender, appliance, air, tally = table(Sender, 1), table(Appliance, 1), table(Air, 1), table(Tally, 1)
    air["bad"] = bad
    if beside is not None:
        digesting += ethernet_queue.switch_on(beside, sender, air) // settings.ack
    again = 1 + settings.limit if settings.waits or settings.runs_on else 1  # a segment may wait more than once
    queue = np.empty(_ring(min(again * len(slots) + 1, ROOM + len(slots))), np.int64)
    have = np.zeros(len(slots), np.bool_)
    answers, seen = room(Answer, _ring(min(waiting, ROOM))), room(Answer, _ring(min(digesting, ROOM)))
    packets = _run(tuple(settings), sender, appliance, air, tally, slots, sizes, queue, have, answers, seen, rng, log)
    if air["overflow"][0]:
        raise ParameterError(
            f"more than {ROOM} packets are under way: lower the latency or the Ethernet delay, "
            "or lengthen the retransmission timeout"
        )
    if beside is not None:
        return (*tally.item(), packets, int(air["dropped"][0]))
    return (*tally.item(), packets)

"""TCP's sender to read: plain functions over one record.

Slow start, congestion avoidance, fast retransmit and recovery by SACK, and
the timer: RFC 5681, 6298 and 6675. `netsim.tcp` is the same compiled; it
names the older RFCs of the thesis (2581, 2988, 3517). The chapter *TCP in one
chapter* is woven from this.

The stream is counted in frames: what a program writes at once, and a segment
carries whole. Times are whole nanoseconds, windows bytes.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import count

from voicewire.netsim.reference.path import NEVER, SECOND, Packet
from voicewire.netsim.reference.tcp_receiver import Ack, TcpReceiver

__all__ = [
    "Segment",
    "Sender",
    "Timeout",
    "Window",
    "acknowledged",
    "find_losses",
    "grow",
    "measure",
    "opened",
    "pipe",
    "push",
    "react",
    "timed_out",
    "transfer",
]


@dataclass
class Timeout:
    """A retransmission timer and what it was computed from (RFC 6298).

    Attributes
    ----------
    least : float
        Floor of the timer, s (the RFC says 1, Linux takes 0.2).
    rto : float
        The timer, s; 1 before anything was measured.
    srtt, rttvar : float or None
        Smoothed round trip and its mean deviation, s.
    """

    least: float = 1.0
    rto: float = 1.0
    srtt: float | None = None
    rttvar: float | None = None


def measure(timer: Timeout, sample: float) -> None:
    """Take a measured round trip (RFC 6298, 2.2 and 2.3)."""
    if timer.srtt is None or timer.rttvar is None:
        timer.srtt, timer.rttvar = sample, sample / 2
    else:
        off = abs(timer.srtt - sample)  # from the old average
        timer.rttvar = 0.75 * timer.rttvar + 0.25 * off
        timer.srtt = 0.875 * timer.srtt + 0.125 * sample
    timer.rto = max(timer.srtt + 4 * timer.rttvar, timer.least)


@dataclass
class Segment:
    """A segment that isn't acknowledged yet.

    Attributes
    ----------
    first, count : int
        The frames that it carries.
    sacked : bool
        Whether it arrived, behind a hole.
    lost : bool
        Whether it is taken for lost.
    again : bool
        Whether it has been sent again since.
    """

    first: int
    count: int
    sacked: bool = False
    lost: bool = False
    again: bool = False


@dataclass
class Settings:
    """What holds for the whole connection; sizes in bytes."""

    size: int = 1460  # of a frame
    mss: int = 1460  # the largest segment
    initial: float = 14600.0  # the initial window
    limit: float = float("inf")  # the receiver's window


@dataclass
class Window(Settings):
    """How much may be out, bytes, and whether a loss is repaired.

    Attributes
    ----------
    cwnd, ssthresh : float
        Congestion window and slow-start threshold, bytes.
    recover : int
        A loss is repaired until this frame is acknowledged; -1: none is.
    fast : bool
        Whether SACK showed that loss: fast recovery, the window is held.
    """

    cwnd: float = 14600.0
    ssthresh: float = 1e18
    recover: int = -1  # a repair until this is acknowledged
    fast: bool = False  # fast recovery; else the timer began it


@dataclass
class Sender(Window):
    """What a sender knows.

    Attributes
    ----------
    written, nxt, una : int
        Frames that the program has written, the next to send, and the first
        that isn't acknowledged.
    waiting : list of Segment
        Sent and not acknowledged, in order.
    timeout : Timeout
        The timer's length.
    backoff : float
        Times that length: doubled by each time-out.
    timer, last : int
        When the timer fires, and when something was sent last, ns.
    """

    written: int = 0
    nxt: int = 0
    una: int = 0
    waiting: list[Segment] = field(default_factory=list)
    timeout: Timeout = field(default_factory=Timeout)
    backoff: float = 1.0
    timer: int = NEVER  # ns
    last: int = -NEVER  # when something was sent


def opened(rtt: float, window: int = 10, least: float = 1.0) -> Sender:
    """A connection just opened; that has measured one round trip."""
    size = 1460.0 * window
    s = Sender(initial=size, cwnd=size, timeout=Timeout(least))
    measure(s.timeout, rtt)
    return s


def pipe(s: Sender) -> int:
    """Bytes under way: neither arrived nor lost (RFC 6675, SetPipe)."""
    return s.size * sum(
        x.count
        for x in s.waiting
        if not x.sacked and (x.again or not x.lost)
    )


def fits(s: Sender, frames: int) -> bool:
    """Is the window open for so many frames? With nothing out, always."""
    out = pipe(s)
    window = min(s.cwnd, s.limit)
    return out == 0 or out + frames * s.size <= window


def upcoming(s: Sender) -> Segment | None:
    """What goes next (RFC 6675, NextSeg): what was lost, then new."""
    for x in s.waiting if s.recover >= 0 else []:
        if x.lost and not (x.sacked or x.again):
            return x
    frames = min(s.written - s.nxt, max(s.mss // s.size, 1))
    return Segment(s.nxt, frames) if frames else None


def start_timer(s: Sender, now: int) -> None:
    """The timer of RFC 6298, doubled by time-outs, at most 64 s."""
    wait = min(s.timeout.rto * s.backoff, 64.0)
    s.timer = now + int(wait * SECOND)


def send(s: Sender, now: int, x: Segment) -> Packet:
    """Let a segment leave, and start the timer if it rests."""
    if x.lost:
        x.again = True
    else:
        s.waiting.append(x)
        s.nxt += x.count
    s.last = now
    if s.timer == NEVER:
        start_timer(s, now)
    return Packet(x.first, x.first, x.count, now)


def push(s: Sender, now: int) -> list[Packet]:
    """Send what the window allows."""
    idle = now - s.last > int(s.timeout.rto * SECOND)
    if idle and not s.waiting and s.nxt < s.written:
        s.cwnd = min(s.cwnd, s.initial)  # RFC 5681, 4.1
    packets = []
    while (x := upcoming(s)) and fits(s, x.count):
        packets.append(send(s, now, x))
    return packets


def find_losses(s: Sender, ack: Ack) -> bool:
    """Three SACKed segments above it: one is lost (RFC 6675, IsLost)."""
    found, above = False, 0
    for x in reversed(s.waiting):
        if any(low <= x.first < high for low, high in ack.sacked):
            x.sacked = True
        above += x.sacked
        if above >= 3 and not (x.sacked or x.lost):
            x.lost = found = True
    return found


def halve(s: Sender) -> None:
    """Half of what is out, at least two segments (RFC 5681, eq. 4)."""
    out = (s.nxt - s.una) * s.size
    s.ssthresh = max(out / 2, 2.0 * s.mss)


def fast_retransmit(s: Sender) -> None:
    """Half the window, and recovery until all that is out is heard of."""
    halve(s)
    s.cwnd = s.ssthresh
    s.recover, s.fast = s.nxt, True


def grow(s: Sender) -> None:
    """Slow start, then congestion avoidance (RFC 5681, 3.1)."""
    if s.cwnd < s.ssthresh:
        s.cwnd += s.mss  # doubles in a round trip
    else:
        s.cwnd += s.mss * s.mss / s.cwnd  # a segment in a round trip


def advance(s: Sender, now: int, upto: int) -> None:
    """Nothing below `upto` is waited for any more."""
    s.una, s.backoff = upto, 1.0
    s.waiting = [x for x in s.waiting if x.first >= upto]
    start_timer(s, now)
    if upto >= s.recover:
        s.recover, s.fast = -1, False


def acknowledged(s: Sender, now: int, ack: Ack) -> None:
    """An acknowledgement: what arrived, what is lost, the window."""
    measure(s.timeout, (now - ack.echo) / SECOND)
    new = ack.upto > s.una
    if new:
        advance(s, now, ack.upto)
    if find_losses(s, ack) and s.recover < 0:
        fast_retransmit(s)
    if new and not s.fast:
        grow(s)
    if not s.waiting:
        s.timer = NEVER


def timed_out(s: Sender) -> None:
    """Nothing came: all is lost, begin with one segment (RFC 5681, 3.1)."""
    if s.backoff == 1:
        halve(s)  # not again for the same segment (RFC 5681, eq. 4)
    s.cwnd, s.recover, s.fast = float(s.mss), s.nxt, False
    s.timer, s.backoff = NEVER, min(2 * s.backoff, 64.0)
    for x in s.waiting:
        x.lost, x.again = True, False
        x.sacked = False  # it may be forgotten (RFC 2018, 8)


Event = int | Ack | None
"""Frames written so far, an acknowledgement, or None: the timer."""
Turns = list[tuple[float, float, list[int]]]
"""Each turn's time, s, and congestion window and segments that leave."""


def react(s: Sender, now: int, event: Event) -> list[Packet]:
    """One turn: what happened changes the record, then what may leaves."""
    if isinstance(event, int):
        s.written = event
    elif event is None:
        timed_out(s)
    else:
        acknowledged(s, now, event)
    return push(s, now)


def transfer(s: Sender, total: int, lost: set[int], rtt: float) -> Turns:
    """The loop: an acknowledgement or the timer, and what then leaves."""
    receiver, order = TcpReceiver(total, every=1), count()
    events: deque[tuple[int, Event]] = deque([(0, total)])
    turns: Turns = []
    while s.una < total:
        due = bool(events) and events[0][0] <= s.timer
        now, event = events.popleft() if due else (s.timer, None)
        left = react(s, now, event)
        turns.append((now / SECOND, s.cwnd / s.mss, [x.first for x in left]))
        for x in left:
            if next(order) not in lost:
                back = now + int(rtt * SECOND)
                events.append((back, receiver.on_packet(now, x)))
    return turns


class TcpSender(Sender):
    """The same sender as `carry` calls it: an event, a method."""

    send_at = NEVER  # a TCP sender has no pace of its own

    def __init__(
        self,
        size: int,
        rtt: float,
        mss: int = 1460,
        initial: float = 4380.0,
        least_rto: float = 1.0,
        window: float = 65535.0,
    ) -> None:
        super().__init__(size, mss, initial, window, cwnd=initial)
        self.timeout.least = least_rto
        measure(self.timeout, rtt)
        self.sent: dict[int, int] = {}  # when each frame first left, ns

    def _react(self, now: int, event: Event) -> list[Packet]:
        packets = react(self, now, event)
        for packet in packets:
            for frame in range(packet.first, packet.first + packet.count):
                self.sent.setdefault(frame, now)
        return packets

    def on_frames(self, now: int, frames: range) -> list[Packet]:
        """With NODELAY frames leave at once, if the window is open."""
        return self._react(now, frames.stop)

    def on_answer(self, now: int, ack: Ack) -> list[Packet]:
        """An acknowledgement has come."""
        return self._react(now, ack)

    def on_send(self, now: int) -> list[Packet]:
        """TCP has no pace, so this is never called."""
        return []

    def on_timer(self, now: int) -> list[Packet]:
        """No answer came in time."""
        return self._react(now, None)

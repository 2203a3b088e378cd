"""The receiver of TFRC, to read: loss events, their rate, X_recv and reports.

RFC 3448 sections 5 and 6, RFC 4342 section 8, RFC 4828 section 4.4, in plain
Python; `netsim.tfrc_receiver` is the same rules compiled. Chapter 1 of the
voice part is woven from this. Rates are bytes a second, times whole
nanoseconds, round trips seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from voicewire.netsim.reference.equation import (
    inverse_equation,
    mean_interval,
)
from voicewire.netsim.reference.path import NEVER, SECOND, Packet

__all__ = [
    "LossHistory",
    "closed_interval",
    "first_interval",
    "lose",
    "loss_event_rate",
    "open_interval",
    "receive_rate",
    "same_event",
    "would_have_come",
]


@dataclass
class Report:
    """TFRC feedback, RFC 3448 section 3.2.2."""

    echo: int  # when the packet was sent that is answered, ns
    counter: int
    x_recv: float  # bytes a second
    p: float


def would_have_come(before: int, after: int, k: int, count: int) -> int:
    """When the k-th of `count` missing packets would have come (5.2)."""
    return before + (after - before) * k // (count + 1)


@dataclass
class LossHistory:
    """Loss events and the intervals between them, RFC 3448 section 5.

    Attributes
    ----------
    size : int
        Bytes of a packet.
    small : bool
        Whether this is TFRC-SP (RFC 4828).
    events : int
        Loss events so far.
    first_seq : int
        First lost packet of the newest event.
    first_time : int
        When that one would have come, ns.
    losses : int
        Packets lost in the newest event.
    closed : list of float
        Intervals between events, packets, newest first.
    """

    size: int  # bytes of a packet
    small: bool = False  # TFRC-SP
    events: int = 0
    first_seq: int = 0  # of the newest event
    first_time: int = 0  # ns
    losses: int = 0  # packets lost in the newest event
    closed: list[float] = field(default_factory=list)  # newest first


def open_interval(h: LossHistory, seq: int, now: int, rtt: float) -> float:
    """Packets since the last event began; SP leaves a short one out.

    As 0 it never raises the mean, so it does not count (RFC 4828, 4.4).
    """
    if h.small and now - h.first_time <= 2 * int(rtt * SECOND):
        return 0.0
    return float(seq - h.first_seq + 1)


def loss_event_rate(h: LossHistory, open_interval: float) -> float:
    """Loss event rate: one event in a mean interval (5.4)."""
    if h.events == 0:
        return 0.0
    return min(1 / mean_interval(open_interval, h.closed), 1.0)


def same_event(h: LossHistory, when: int, rtt: float) -> bool:
    """A loss within a round trip of the event's first belongs to it."""
    return h.events > 0 and when <= h.first_time + int(rtt * SECOND)


def closed_interval(
    h: LossHistory, seq: int, when: int, rtt: float
) -> float:
    """Packets from event to event; N/K in short ones (RFC 4828, 4.4)."""
    interval = float(seq - h.first_seq)
    if h.small and when - h.first_time <= 2 * int(rtt * SECOND):
        interval /= max(h.losses, 1)
    return interval


def first_interval(h: LossHistory, x_recv: float, rtt: float) -> float:
    """The interval whose rate would be X_recv (6.3.1)."""
    if not h.small:
        return 1 / inverse_equation(x_recv, float(h.size), rtt)
    x = x_recv * (h.size + 40) / h.size
    return 1 / inverse_equation(x, 1460.0, rtt)


def lose(
    h: LossHistory, seq: int, when: int, rtt: float, x_recv: float
) -> bool:
    """Book a lost packet: True if it starts a loss event (5.2)."""
    if same_event(h, when, rtt):
        h.losses += 1
        return False
    interval = closed_interval(h, seq, when, rtt)
    if h.events == 0:
        interval = first_interval(h, x_recv, rtt)
    h.closed = [max(interval, 1.0), *h.closed[:7]]
    h.events += 1
    h.first_seq, h.first_time, h.losses = seq, when, 1
    return True


@dataclass
class Gap:
    """Packets that are missing between two that came."""

    first: int
    count: int
    before: int  # arrival of the packet before the gap, ns
    after: int
    later: int = 1  # packets that came after the gap


def receive_rate(
    size: int, arrivals: list[int], unreported: int, since: int, rtt: float
) -> float:
    """X_recv, RFC 4342 section 8.3: the bytes of the last t, over t.

    t is the round trip, or the time `since` the last report (ns) where that
    is longer: `unreported` packets have come in it. A silence counts.
    """
    round_trip = int(rtt * SECOND)
    if since >= round_trip:
        return unreported * size / (since / SECOND)
    now = arrivals[-1]
    last = [at for at in arrivals if at > now - round_trip]
    return len(last) * size / rtt


class TfrcReceiver:
    """RFC 3448 section 6, as CCID 3 reports (RFC 4342 sections 6, 8)."""

    timer = NEVER
    report_after = 4  # quarters of a round trip, RFC 4342 section 6

    def __init__(self, size: int, small: bool = False) -> None:
        self.size = size
        self.arrive: dict[int, int] = {}
        self.history = LossHistory(size, small)
        self.newest, self.newest_at = -1, 0
        self.arrivals: list[int] = []
        self.gaps: list[Gap] = []
        self.reported, self.reported_counter = NEVER, 0
        self.since_report = 0  # packets

    def receive_rate(self, now: int, rtt: float) -> float:
        """The first report counts one round trip."""
        since = int(rtt * SECOND)
        if self.reported != NEVER:
            since = now - self.reported
        unreported = self.since_report
        return receive_rate(self.size, self.arrivals, unreported, since, rtt)

    def open_interval(self, seq: int, now: int, rtt: float) -> float:
        """Packets since the last loss event began."""
        return open_interval(self.history, seq, now, rtt)

    def lose(self, seq: int, when: int, rtt: float, x_recv: float) -> bool:
        """Book a lost packet."""
        return lose(self.history, seq, when, rtt, x_recv)

    def loss_event_rate(self, open_interval: float) -> float:
        """Loss event rate with so long an open interval."""
        return loss_event_rate(self.history, open_interval)

    def lost(self, seq: int, now: int, rtt: float) -> bool:
        """Three later packets make a missing one lost (section 5.1)."""
        begins_event = False
        for gap in self.gaps:
            gap.later += 1
            if gap.later < 3:
                continue
            for k in range(gap.count):
                when = would_have_come(
                    gap.before, gap.after, k + 1, gap.count
                )
                x_recv = self.receive_rate(now, rtt)
                begins_event |= self.lose(gap.first + k, when, rtt, x_recv)
        self.gaps = [gap for gap in self.gaps if gap.later < 3]
        if seq > self.newest + 1:
            before = self.newest_at if self.newest >= 0 else now
            missing = seq - self.newest - 1
            self.gaps.append(Gap(self.newest + 1, missing, before, now))
        return begins_event

    def on_packet(self, now: int, packet: Packet) -> Report | None:
        """Report first, every round trip, and on a new loss event."""
        self.arrive[packet.first] = now
        self.arrivals.append(now)
        self.since_report += 1
        news = self.lost(packet.seq, now, packet.rtt)
        self.newest, self.newest_at = packet.seq, now
        quarters = (packet.counter - self.reported_counter) % 16
        due = news or quarters >= self.report_after
        if self.reported != NEVER and not due:
            return None
        x_recv = self.receive_rate(now, packet.rtt)
        self.reported, self.reported_counter = now, packet.counter
        self.since_report = 0
        begun = self.open_interval(packet.seq, now, packet.rtt)
        p = self.loss_event_rate(begun)
        return Report(packet.sent, packet.counter, x_recv, p)

    def on_timer(self, now: int) -> None:
        """A TFRC receiver has no timer, so this is never called."""

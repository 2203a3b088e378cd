"""The senders of TFRC, to read: RFC 3448 with the thesis' variants, RFC 5348.

RFC 3448 section 4, RFC 4342 section 8.1, RFC 4828 and RFC 5348, in plain
Python; `netsim.tfrc_sender` is the same rules compiled. Chapter 1 of the
voice part is woven from this. Rates are bytes a second, times whole
nanoseconds, round trips seconds.
"""

from __future__ import annotations

import math
from collections import deque

from voicewire.netsim.reference.equation import (
    small_packet_rate,
    tcp_rate,
)
from voicewire.netsim.reference.path import NEVER, SECOND, Packet
from voicewire.netsim.reference.tfrc_receiver import Report

__all__ = [
    "allow",
    "answered",
    "counted",
    "kept_limit",
    "nominal_time",
    "report_wait",
    "unheard",
]


def counted(counter: int, quarters: int) -> int:
    """CCVal counts quarters of a round trip, at most five at once.

    Notes
    -----
    RFC 4342 section 8.1.
    """
    return (counter + min(quarters, 5)) % 16


def answered(counter: int, reported: int) -> int:
    """After a report CCVal is four beyond the packet that it answers.

    Notes
    -----
    RFC 4342 section 8.1.
    """
    if (counter - reported) % 16 < 4:
        return (reported + 4) % 16
    return counter


class TfrcSender:
    """RFC 3448 section 4, behind a small buffer of frames.

    `small` is TFRC-SP (RFC 4828); `restart` 4 and `floor`, in packets a
    round trip, are what the thesis calls Faster Restart and MD.
    """

    def __init__(
        self,
        size: int,
        rtt: float,
        small: bool = False,
        restart: float = 2.0,
        floor: float = 0.0,
        initial: float = 1.0,
        start: float = 2.0,
        buffer: int = 5,
    ) -> None:
        self.s, self.rtt, self.small = size, rtt, small
        self.restart, self.floor, self.initial = restart, floor, initial
        self.start, self.buffer = start, buffer
        self.waiting = deque[tuple[int, int]]()  # frame, ns it came at
        self.sent: dict[int, int] = {}  # when each frame left, ns
        self.dropped: list[int] = []
        self.p = self.x_recv = self.x_calc = 0.0
        self.doubled = -NEVER  # tld of section 4.3
        self.seq = self.counter = self.counter_at = 0
        self.base: int | None = None  # nominal time of the last packet
        self.send_at = NEVER
        self.timeout_factor = restart
        self.least = 10_000_000 if small else 0  # RFC 4828 section 4.3
        self.left_at = 0  # when the last packet left, ns
        self.x = self.initial_rate()
        self.change_rate(self.x)
        self.spacing = self.interval()  # t_ipi
        self.set_timer(0)

    def initial_rate(self) -> float:
        """So many packets in the first round trip."""
        return self.initial * self.s / self.rtt

    def change_rate(self, x: float) -> None:
        """Set X, never below the floor of the thesis' section 5.1."""
        self.x = x
        if self.floor > 0:
            self.x = max(x, self.floor * self.s / self.rtt)

    def interval(self) -> int:
        """Time between two packets, ns (RFC 3448 section 4.6)."""
        return max(math.floor(self.s / self.x * SECOND + 0.5), self.least)

    def schedule(self, now: int) -> None:
        """When may the next packet leave?"""
        if not self.waiting:
            self.send_at = NEVER
        elif self.base is None:
            self.send_at = now
        else:
            least = self.left_at + self.least  # also after a late one
            self.send_at = max(now, self.due(self.base), least)

    def due(self, base: int) -> int:
        """Nominal time of the frame that waits longest."""
        return nominal_time(base, self.spacing, self.waiting[0][1])

    def left(self, base: int, now: int) -> int:
        """From when the next packet is timed: this one's nominal time."""
        return self.due(base)

    def rate_changed(self, now: int) -> None:
        """A new X moves the packet that waits, too (as KAME does)."""
        self.spacing = self.interval()
        self.schedule(now)

    def set_timer(self, now: int) -> None:
        """Nofeedback timer: four round trips, or two packets' time."""
        wait = report_wait(self.s, self.rtt, self.x)
        self.timer = now + int(wait * SECOND)
        self.idle = True  # until something is sent

    def on_frames(self, now: int, frames: range) -> list[Packet]:
        """Each frame in its turn."""
        return [p for frame in frames for p in self.on_frame(now, frame)]

    def on_frame(self, now: int, frame: int) -> list[Packet]:
        """Keep the frame, or drop it if the buffer is full."""
        if len(self.waiting) == self.buffer:
            self.dropped.append(frame)
            return []
        self.waiting.append((frame, now))
        if self.send_at == NEVER:
            self.schedule(now)
        return self.on_send(now) if self.send_at <= now else []

    def on_send(self, now: int) -> list[Packet]:
        """Send one frame; a silence earns no credit."""
        if self.base is None:
            self.base, self.counter_at = now, now
        else:
            self.base = self.left(self.base, now)
            self.count_quarters(now)
        self.idle = False
        frame, _ = self.waiting.popleft()
        self.sent[frame] = self.left_at = now
        packet = Packet(self.seq, frame, 1, now, self.counter, self.rtt)
        self.seq += 1
        self.spacing = self.interval()
        self.schedule(now)
        return [packet]

    def count_quarters(self, now: int) -> None:
        """Quarters of a round trip, modulo 16 (RFC 4342 section 8.1)."""
        passed = (now - self.counter_at) * 4 // int(self.rtt * SECOND)
        if passed > 0:
            self.counter = counted(self.counter, passed)
            self.counter_at = now

    def on_answer(self, now: int, report: Report) -> list[Packet]:
        """A report arrives: RFC 3448 section 4.3, steps 1 to 5."""
        sample = (now - report.echo) / SECOND
        self.rtt = max(0.9 * self.rtt + 0.1 * sample, 1e-4)
        worse = report.p > self.p
        self.p, self.x_recv = report.p, report.x_recv
        allow(self, now, self.receive_limit(now, report, worse))
        counter = answered(self.counter, report.counter)
        if counter != self.counter:
            self.counter, self.counter_at = counter, now
        self.set_timer(now)
        self.rate_changed(now)
        return []

    def receive_limit(self, now: int, report: Report, worse: bool) -> float:
        """At most twice what arrives; Faster Restart: four times."""
        return (self.restart if self.p > 0 else self.start) * self.x_recv

    def least_doubled(self) -> float:
        """Slow start never falls below a packet in a round trip."""
        return self.s / self.rtt

    def on_timer(self, now: int) -> list[Packet]:
        """No report for four round trips: RFC 3448 section 4.4."""
        self.no_feedback(now)
        self.change_rate(self.x)
        self.set_timer(now)
        self.rate_changed(now)
        return []

    def no_feedback(self, now: int) -> None:
        """Halve the rate."""
        unheard(self, now)


def equation_rate(s: TfrcSender) -> float:
    """X_calc; TFRC-SP counts 1460 bytes, less headers (RFC 4828)."""
    if s.small:
        return small_packet_rate(s.s, s.rtt, s.p)
    return tcp_rate(float(s.s), s.rtt, s.p)


def allow(s: TfrcSender, now: int, limit: float) -> None:
    """Step 4: the equation once there was a loss, else doubling."""
    if s.p > 0:
        s.x_calc = equation_rate(s)
        x = max(min(s.x_calc, limit), s.s / 64)
    elif now - s.doubled >= int(s.rtt * SECOND):
        x = max(min(s.start * s.x, limit), s.least_doubled())
        s.doubled = now
    else:
        x = s.x
    s.change_rate(x)


def report_wait(s: float, rtt: float, x: float) -> float:
    """Nofeedback timer: four round trips, or two packets' time.

    Notes
    -----
    RFC 3448 section 4.3, step 5.
    """
    return max(4.0 * rtt, 2.0 * s / x)


LESS = 1 - 1e-9  # what rounding leaves of "equal" is not "less"


def unheard(s: TfrcSender, now: int) -> None:
    """Halve the rate, unless the sender is idle and slow anyway."""
    if s.idle and s.x_recv * s.rtt < 4 * s.s * LESS:
        return
    halved = max(s.x_recv / 2, s.s / (2 * 64))
    if s.p > 0:
        if s.x_calc <= 2 * s.x_recv:
            halved = s.x_calc / 4
        s.x_recv = halved
        allow(s, now, s.timeout_factor * s.x_recv)
    else:
        s.x_recv = halved
        s.x = max(min(s.x, 2 * halved), s.s / s.rtt)


def nominal_time(base: int, spacing: int, ready: int) -> int:
    """A packet is due t_ipi after the last one was; silence saves nothing.

    RFC 3448 section 4.6: a packet that leaves late does not delay the next.
    """
    return max(base + spacing, ready)


def kept_limit(
    known: list[float], rate: float, worse: bool
) -> tuple[float, float]:
    """A report on a data-limited time: what is kept, and the limit.

    Notes
    -----
    RFC 5348 section 4.3.
    """
    if worse:
        known, rate = [x / 2 for x in known], 0.85 * rate
    top = max([rate, *(x for x in known if x < math.inf)])
    return top, top if worse else 2 * top


class TfrcSender5348(TfrcSender):
    """RFC 5348: a report on a data-limited time is not held against it."""

    def __init__(self, size: int, rtt: float, **how: float | bool) -> None:
        self.received = [(0, math.inf)]  # X_recv_set: (time, rate)
        self.not_limited = [0, 0]  # when a frame had to wait, ns
        self.acked_send = self.next_time = 0
        super().__init__(size, rtt, **how)  # type: ignore[arg-type]

    def note_waiting(self, now: int) -> None:
        """A frame waits, so data do not limit the rate (8.2.1)."""
        if self.not_limited[0] <= self.acked_send:
            self.not_limited[0] = now
        elif self.not_limited[1] <= self.next_time:
            self.not_limited[1] = now

    def on_frame(self, now: int, frame: int) -> list[Packet]:
        """As before; whoever has to wait is noted."""
        kept = len(self.waiting) < self.buffer
        packets = super().on_frame(now, frame)
        if kept and not packets:
            self.note_waiting(now)
        return packets

    def on_send(self, now: int) -> list[Packet]:
        """As before; whoever still has to wait is noted."""
        packets = super().on_send(now)
        if self.waiting:
            self.note_waiting(now)
        return packets

    def data_limited(self, now: int, sent: int) -> bool:
        """Did nothing wait in the round trip that is reported on?"""
        begin = sent - int(self.rtt * SECOND)
        waited = any(begin < at <= sent for at in self.not_limited)
        self.acked_send, self.next_time = sent, now
        if self.not_limited[0] <= sent < self.not_limited[1]:
            self.not_limited[0] = self.not_limited[1]
        return not waited

    def receive_limit(self, now: int, report: Report, worse: bool) -> float:
        """recv_limit of RFC 5348 section 4.3, from X_recv_set."""
        rate = report.x_recv
        known = self.received
        if self.data_limited(now, report.echo):
            top, limit = kept_limit([x for _, x in known], rate, worse)
            self.received = [(now, top)]
            return limit
        begin = now - 2 * int(self.rtt * SECOND)
        known = [(at, x) for at, x in known if at >= begin]
        self.received = [*known[-7:], (now, rate)]
        return 2 * max(x for _, x in self.received)

    def least_doubled(self) -> float:
        """Slow start never falls below the initial rate."""
        return self.initial_rate()

    def no_feedback(self, now: int) -> None:
        """Section 4.4: idleness never takes more than the initial rate."""
        top = max([0.0] + [x for _, x in self.received])
        recover = self.initial_rate()
        slow = top < recover if self.p > 0 else self.x < 2 * recover
        if self.idle and slow:
            return
        if self.p == 0:
            self.x = max(self.x / 2, self.s / 64)
            return
        half = top if self.x_calc > 2 * top else self.x_calc / 2
        limit = max(half, self.s / 64)
        self.received = [(now, limit / 2)]
        allow(self, now, limit)

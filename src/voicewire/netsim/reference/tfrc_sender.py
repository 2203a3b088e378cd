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

    Parameters
    ----------
    counter : int
        CCVal of the packet before, 0 to 15.
    quarters : int
        Whole quarters of a round trip since it was counted up.

    Returns
    -------
    int
        CCVal of the next packet.

    Notes
    -----
    RFC 4342 section 8.1. Chapter ``notebooks/voip/01_rate_control``.

    Examples
    --------
    >>> counted(3, 1), counted(3, 80), counted(15, 1)
    (4, 8, 0)
    """
    return (counter + min(quarters, 5)) % 16


def answered(counter: int, reported: int) -> int:
    """After a report CCVal is four beyond the packet that it answers.

    Parameters
    ----------
    counter : int
        CCVal now, 0 to 15.
    reported : int
        CCVal of the packet that the report answers.

    Returns
    -------
    int
        CCVal from now on.

    Notes
    -----
    RFC 4342 section 8.1. Chapter ``notebooks/voip/01_rate_control``.

    Examples
    --------
    >>> answered(5, 3), answered(8, 3)
    (7, 8)
    """
    if (counter - reported) % 16 < 4:
        return (reported + 4) % 16
    return counter


class TfrcSender:
    """RFC 3448 section 4, behind a small buffer of frames.

    `small` is TFRC-SP (RFC 4828); `restart` 4 and `floor`, in packets a
    round trip, are what the thesis calls Faster Restart and MD.

    Parameters
    ----------
    size : int
        Bytes of a packet.
    rtt : float
        Round trip of the handshake, s.
    small : bool
        Whether this is TFRC-SP (RFC 4828).
    restart : float
        Factor on X_recv once there was a loss: 2, or 4.
    floor : float
        Packets a round trip below which X never falls.
    initial : float
        Packets in the first round trip.
    start : float
        Factor of slow start, on X and X_recv: 2, or 4.
    buffer : int
        Frames that may wait.

    Examples
    --------
    One packet leaves; the next may follow a round trip later.

    >>> sender = TfrcSender(20, 0.1)
    >>> [p.seq for p in sender.on_frames(0, range(2))], sender.send_at
    ([0], 100000000)
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
        """So many packets in the first round trip.

        Returns
        -------
        float
            Bytes a second.
        """
        return self.initial * self.s / self.rtt

    def change_rate(self, x: float) -> None:
        """Set X, never below the floor of the thesis' section 5.1.

        Parameters
        ----------
        x : float
            Rate, bytes a second.
        """
        self.x = x
        if self.floor > 0:
            self.x = max(x, self.floor * self.s / self.rtt)

    def interval(self) -> int:
        """Time between two packets, ns (RFC 3448 section 4.6).

        Returns
        -------
        int
            ns.
        """
        return max(math.floor(self.s / self.x * SECOND + 0.5), self.least)

    def schedule(self, now: int) -> None:
        """When may the next packet leave?

        Parameters
        ----------
        now : int
            Time, ns.
        """
        if not self.waiting:
            self.send_at = NEVER
        elif self.base is None:
            self.send_at = now
        else:
            least = self.left_at + self.least  # also after a late one
            self.send_at = max(now, self.due(self.base), least)

    def due(self, base: int) -> int:
        """Nominal time of the frame that waits longest.

        Parameters
        ----------
        base : int
            From when it is timed, ns.

        Returns
        -------
        int
            ns.
        """
        return nominal_time(base, self.spacing, self.waiting[0][1])

    def left(self, base: int, now: int) -> int:
        """From when the next packet is timed: this one's nominal time.

        Parameters
        ----------
        base : int
            From when this one was timed, ns.
        now : int
            When it leaves, ns.

        Returns
        -------
        int
            ns.
        """
        return self.due(base)

    def rate_changed(self, now: int) -> None:
        """A new X moves the packet that waits, too (as KAME does).

        Parameters
        ----------
        now : int
            Time, ns.
        """
        self.spacing = self.interval()
        self.schedule(now)

    def set_timer(self, now: int) -> None:
        """Nofeedback timer: four round trips, or two packets' time.

        Parameters
        ----------
        now : int
            Time, ns.
        """
        wait = report_wait(self.s, self.rtt, self.x)
        self.timer = now + int(wait * SECOND)
        self.idle = True  # until something is sent

    def on_frames(self, now: int, frames: range) -> list[Packet]:
        """Each frame in its turn.

        Parameters
        ----------
        now : int
            Time, ns.
        frames : range
            Frames that are ready now.

        Returns
        -------
        list of Packet
            What leaves now.
        """
        return [p for frame in frames for p in self.on_frame(now, frame)]

    def on_frame(self, now: int, frame: int) -> list[Packet]:
        """Keep the frame, or drop it if the buffer is full.

        Parameters
        ----------
        now : int
            Time, ns.
        frame : int
            Number of the frame.

        Returns
        -------
        list of Packet
            What leaves now.
        """
        if len(self.waiting) == self.buffer:
            self.dropped.append(frame)
            return []
        self.waiting.append((frame, now))
        if self.send_at == NEVER:
            self.schedule(now)
        return self.on_send(now) if self.send_at <= now else []

    def on_send(self, now: int) -> list[Packet]:
        """Send one frame; a silence earns no credit.

        Parameters
        ----------
        now : int
            Time, ns.

        Returns
        -------
        list of Packet
            The packet that leaves.
        """
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
        """Quarters of a round trip, modulo 16 (RFC 4342 section 8.1).

        Parameters
        ----------
        now : int
            Time, ns.
        """
        passed = (now - self.counter_at) * 4 // int(self.rtt * SECOND)
        if passed > 0:
            self.counter = counted(self.counter, passed)
            self.counter_at = now

    def on_answer(self, now: int, report: Report) -> list[Packet]:
        """A report arrives: RFC 3448 section 4.3, steps 1 to 5.

        Parameters
        ----------
        now : int
            Time, ns.
        report : Report
            What came back.

        Returns
        -------
        list of Packet
            Nothing: a report only changes when the next leaves.
        """
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
        """At most twice what arrives; Faster Restart: four times.

        Parameters
        ----------
        now : int
            Time, ns.
        report : Report
            What came back.
        worse : bool
            Whether the loss event rate has risen.

        Returns
        -------
        float
            Bytes a second.
        """
        return (self.restart if self.p > 0 else self.start) * self.x_recv

    def least_doubled(self) -> float:
        """Slow start never falls below a packet in a round trip.

        Returns
        -------
        float
            Bytes a second.
        """
        return self.s / self.rtt

    def on_timer(self, now: int) -> list[Packet]:
        """No report for four round trips: RFC 3448 section 4.4.

        Parameters
        ----------
        now : int
            Time, ns.

        Returns
        -------
        list of Packet
            Nothing.
        """
        self.no_feedback(now)
        self.change_rate(self.x)
        self.set_timer(now)
        self.rate_changed(now)
        return []

    def no_feedback(self, now: int) -> None:
        """Halve the rate.

        Parameters
        ----------
        now : int
            Time, ns.
        """
        unheard(self, now)


def equation_rate(s: TfrcSender) -> float:
    """X_calc; TFRC-SP counts 1460 bytes, less headers (RFC 4828)."""
    if s.small:
        return small_packet_rate(s.s, s.rtt, s.p)
    return tcp_rate(float(s.s), s.rtt, s.p)


def allow(s: TfrcSender, now: int, limit: float) -> None:
    """Step 4: the equation once there was a loss, else doubling.

    Parameters
    ----------
    s : TfrcSender
        Whose rate it is; changed.
    now : int
        Time, ns.
    limit : float
        What the receive rate allows, bytes a second.

    Examples
    --------
    >>> s = TfrcSender(20, 0.1)
    >>> allow(s, 0, 1000.0)
    >>> s.x
    400.0
    """
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

    Parameters
    ----------
    s : float
        Bytes of a packet.
    rtt : float
        Round trip, s.
    x : float
        Allowed rate, bytes a second.

    Returns
    -------
    float
        Seconds.

    Notes
    -----
    RFC 3448 section 4.3, step 5. Chapter
    ``notebooks/voip/01_rate_control``.

    Examples
    --------
    >>> report_wait(20, 0.1, 1000.0), report_wait(20, 0.1, 20.0)
    (0.4, 2.0)
    """
    return max(4.0 * rtt, 2.0 * s / x)


LESS = 1 - 1e-9  # what rounding leaves of "equal" is not "less"


def unheard(s: TfrcSender, now: int) -> None:
    """Halve the rate, unless the sender is idle and slow anyway.

    Parameters
    ----------
    s : TfrcSender
        Whose rate it is; changed.
    now : int
        Time, ns.

    Examples
    --------
    >>> s = TfrcSender(20, 0.1, initial=10.0)
    >>> s.idle, s.x_recv = False, 1600.0
    >>> unheard(s, 0)
    >>> s.x_recv, s.x
    (800.0, 1600.0)
    """
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

    Parameters
    ----------
    base : int
        When the last packet was due, ns.
    spacing : int
        Time between two packets at the rate X, ns.
    ready : int
        When the frame was there to be sent, ns.

    Returns
    -------
    int
        ns.

    Examples
    --------
    >>> nominal_time(0, 100, ready=40), nominal_time(0, 100, ready=250)
    (100, 250)
    """
    return max(base + spacing, ready)


def kept_limit(
    known: list[float], rate: float, worse: bool
) -> tuple[float, float]:
    """A report on a data-limited time: what is kept, and the limit.

    Parameters
    ----------
    known : list of float
        Receive rates that are remembered, bytes a second; at first infinity.
    rate : float
        X_recv of the report, bytes a second.
    worse : bool
        Whether the loss event rate has risen.

    Returns
    -------
    tuple of float
        The one rate that is remembered now, and the new limit.

    Notes
    -----
    RFC 5348 section 4.3. Chapter ``notebooks/voip/01_rate_control``.

    Examples
    --------
    >>> kept_limit([1000.0], 50.0, False), kept_limit([1000.0], 50.0, True)
    ((1000.0, 2000.0), (500.0, 500.0))
    """
    if worse:
        known, rate = [x / 2 for x in known], 0.85 * rate
    top = max([rate, *(x for x in known if x < math.inf)])
    return top, top if worse else 2 * top


class TfrcSender5348(TfrcSender):
    """RFC 5348: a report on a data-limited time is not held against it.

    Parameters
    ----------
    size : int
        Bytes of a packet.
    rtt : float
        Round trip of the handshake, s.
    **how : float or bool
        Further settings, as for `TfrcSender`.

    Examples
    --------
    >>> sender = TfrcSender5348(20, 0.1, initial=4.0)
    >>> sender.x
    800.0
    """

    def __init__(self, size: int, rtt: float, **how: float | bool) -> None:
        self.received = [(0, math.inf)]  # X_recv_set: (time, rate)
        self.not_limited = [0, 0]  # when a frame had to wait, ns
        self.acked_send = self.next_time = 0
        super().__init__(size, rtt, **how)  # type: ignore[arg-type]

    def note_waiting(self, now: int) -> None:
        """A frame waits, so data do not limit the rate (8.2.1).

        Parameters
        ----------
        now : int
            Time, ns.
        """
        if self.not_limited[0] <= self.acked_send:
            self.not_limited[0] = now
        elif self.not_limited[1] <= self.next_time:
            self.not_limited[1] = now

    def on_frame(self, now: int, frame: int) -> list[Packet]:
        """As before; whoever has to wait is noted.

        Parameters
        ----------
        now : int
            Time, ns.
        frame : int
            Number of the frame.

        Returns
        -------
        list of Packet
            What leaves now.
        """
        kept = len(self.waiting) < self.buffer
        packets = super().on_frame(now, frame)
        if kept and not packets:
            self.note_waiting(now)
        return packets

    def on_send(self, now: int) -> list[Packet]:
        """As before; whoever still has to wait is noted.

        Parameters
        ----------
        now : int
            Time, ns.

        Returns
        -------
        list of Packet
            The packet that leaves.
        """
        packets = super().on_send(now)
        if self.waiting:
            self.note_waiting(now)
        return packets

    def data_limited(self, now: int, sent: int) -> bool:
        """Did nothing wait in the round trip that is reported on?

        Parameters
        ----------
        now : int
            Time, ns.
        sent : int
            When the packet left that is reported on, ns.

        Returns
        -------
        bool
            Whether the application, not the rate, was the limit.
        """
        begin = sent - int(self.rtt * SECOND)
        waited = any(begin < at <= sent for at in self.not_limited)
        self.acked_send, self.next_time = sent, now
        if self.not_limited[0] <= sent < self.not_limited[1]:
            self.not_limited[0] = self.not_limited[1]
        return not waited

    def receive_limit(self, now: int, report: Report, worse: bool) -> float:
        """recv_limit of RFC 5348 section 4.3, from X_recv_set.

        Parameters
        ----------
        now : int
            Time, ns.
        report : Report
            What came back.
        worse : bool
            Whether the loss event rate has risen.

        Returns
        -------
        float
            Bytes a second.
        """
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
        """Slow start never falls below the initial rate.

        Returns
        -------
        float
            Bytes a second.
        """
        return self.initial_rate()

    def no_feedback(self, now: int) -> None:
        """Section 4.4: idleness never takes more than the initial rate.

        Parameters
        ----------
        now : int
            Time, ns.
        """
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

"""Other readings of TFRC's and TCP's rules, to read: what the RFCs leave open, and what BSD's stacks did in 2005.

Each changes one rule of `TfrcSender`, `TfrcReceiver` or `TcpSender`, as one setting of `netsim.Tfrc` or `netsim.Tcp`
does in the engine. Several are put before the class that they change: ``class Mine(KameTimer, OneTimeOnly)``.
"""

from __future__ import annotations

from collections.abc import Sequence

from voicewire.netsim.reference.equation import discount, discounted_interval, weighted_mean
from voicewire.netsim.reference.path import NEVER, SECOND, Packet
from voicewire.netsim.reference.tcp_receiver import Ack
from voicewire.netsim.reference.tcp_sender import Event, TcpSender
from voicewire.netsim.reference.tfrc_receiver import Report, TfrcReceiver
from voicewire.netsim.reference.tfrc_sender import TfrcSender

__all__: list[str] = []


class TimedFromDeparture(TfrcSender):
    """``schedule="sent"``: a packet that leaves late delays the next (against RFC 3448 section 4.6)."""

    def left(self, base: int, now: int) -> int:
        """From when the next packet is timed: from now."""
        return now


class KameTimer(TfrcSender):
    """``schedule="grid"``: KAME's send timer runs on through a silence; what comes after waits for its next tick."""

    def due(self, base: int) -> int:
        """Nominal time of the frame that waits longest: a tick."""
        step = max(self.spacing, 1)
        silent = max(self.waiting[0][1] - base - self.spacing, 0)
        return base + self.spacing + -(-silent // step) * step


class OneTimeOnly(TfrcSender):
    """``report_moves=False``: when a packet may leave is settled as the one before leaves (RFC 3448 section 4.6)."""

    def rate_changed(self, now: int) -> None:
        """A new X counts from the next packet on."""


class TwiceAfterTimeout(TfrcSender):
    """``timeout_restart=False``: without feedback X is recalculated with 2 X_recv, whatever Faster Restart has."""

    def no_feedback(self, now: int) -> None:
        """Halve the rate."""
        self.timeout_factor = 2.0
        super().no_feedback(now)


class FastMax(TfrcSender):
    """``fast_max=True``: quadruple up to what was reached without loss, double above (thesis, section 2.2.4)."""

    fast_max = 0.0  # bytes a second

    def receive_limit(self, now: int, report: Report, worse: bool) -> float:
        """Four times what arrives, but above the maximum only twice."""
        if worse:
            self.fast_max /= 2
        else:
            self.fast_max = max(self.fast_max, self.x_recv)
        limit = super().receive_limit(now, report, worse)
        if self.p == 0:
            return limit
        return max(2 * self.x_recv, min(limit, self.fast_max))

    def no_feedback(self, now: int) -> None:
        """Nothing is proven now: twice what arrives."""
        self.timeout_factor = 2.0
        super().no_feedback(now)


class EightAfterIdle(TfrcSender):
    """``restart_packets=8``: a sender that was idle until its timer went off begins with eight packets a round trip.

    The second rule of Faster Restart (thesis, section 2.2.4).
    """

    def no_feedback(self, now: int) -> None:
        """Halve the rate, but keep eight packets a round trip for what comes after a silence."""
        super().no_feedback(now)
        if self.idle:
            self.x = max(self.x, 8 * self.s / self.rtt)


class LeastImportant(TfrcSender):
    """``Flow.importance``: a full buffer loses what is least important, the new frame on a tie (thesis, chapter 6)."""

    importance: Sequence[float] = ()  # of each frame

    def on_frame(self, now: int, frame: int) -> list[Packet]:
        """Make room, if the new frame deserves it."""
        if len(self.waiting) == self.buffer:
            worth = [self.importance[waits] for waits, _ in self.waiting]
            if min(worth) < self.importance[frame]:
                at = worth.index(min(worth))
                self.dropped.append(self.waiting[at][0])
                del self.waiting[at]
        return super().on_frame(now, frame)


class Discounting(TfrcReceiver):
    """``discount=0.5``: history discounting, RFC 3448 section 5.5."""

    least = 0.5  # THRESHOLD of section 5.5
    kept: tuple[float, ...] = ()  # DF_i of the closed intervals, the newest first

    def lose(self, seq: int, when: int, rtt: float, x_recv: float) -> bool:
        """Book a lost packet; what a closing interval took from those before it is gone for good."""
        before = self.history.closed
        begins = super().lose(seq, when, rtt, x_recv)
        if begins:
            df = 1.0
            if before:
                df = discount(self.history.closed[0], weighted_mean(before, self.kept), self.least)
            self.kept = (1.0, *(df * share for share in self.kept[:7]))
        return begins

    def loss_event_rate(self, open_interval: float) -> float:
        """One event in a mean interval that counts a long open one for more."""
        if self.history.events == 0:
            return 0.0
        return min(1 / discounted_interval(open_interval, self.history.closed, self.kept, self.least), 1.0)


class ThesisReceiveRate(TfrcReceiver):
    """``x_recv="thesis"``: over the time since the last report, however short (section 5.2 of the thesis)."""

    def receive_rate(self, now: int, rtt: float) -> float:
        """Bytes since the last report over the time since."""
        since = int(rtt * SECOND) if self.reported == NEVER else now - self.reported
        return self.since_report * self.size / (max(since, 1) / SECOND)


class KameReceiveRate(TfrcReceiver):
    """``x_recv="kame"``: the same in whole bits and microseconds, multiplied in 32 bits: from 537 bytes on it wraps."""

    def receive_rate(self, now: int, rtt: float) -> float:
        """Bits since the last report, times a million, over microseconds."""
        since = int(rtt * SECOND) if self.reported == NEVER else now - self.reported
        wrapped = self.since_report * self.size * 8 * 1_000_000 % 2**32
        return wrapped // max(since // 1000, 1) / 8


class KameReports(TfrcReceiver):
    """``report_after=5``: KAME reports when the window counter has moved by more than four quarters."""

    report_after = 5


class ShortOpenInterval(TfrcReceiver):
    """``short_open=True``: TFRC-SP counts the open loss interval while it is short, too (RFC 3448 section 5.4)."""

    def open_interval(self, seq: int, now: int, rtt: float) -> float:
        """Packets since the last loss event began."""
        return float(seq - self.history.first_seq + 1)


class IdleSinceHeard(TcpSender):
    """``idle_since="received"``: FreeBSD's TCP of 2006 counts idleness from the last segment that came."""

    heard = -NEVER  # ns

    def _react(self, now: int, event: Event) -> list[Packet]:
        if isinstance(event, Ack):
            self.heard = now
        self.last = self.heard
        return super()._react(now, event)

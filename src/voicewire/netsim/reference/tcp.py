"""TCP to read: sender and receiver with SACK, slow start, recovery and timer (RFC 2581, 2988, 3390, 3517).

Plain Python, one object an end; `netsim.tcp` is the same rules compiled. The stream is counted in frames of the
codec: a segment carries whole frames. Times are whole nanoseconds, windows bytes, the timer's averages seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

from voicewire.netsim.reference.path import NEVER, SECOND, Packet

__all__ = ["TcpReceiver", "TcpSender"]


@dataclass
class Ack:
    """A cumulative acknowledgement with two SACK blocks (RFC 2018)."""

    echo: int  # timestamp of the segment that caused it, ns
    upto: int  # next frame expected
    sacked: tuple[tuple[int, int], ...]  # frames from … to before …


@dataclass
class Segment:
    """A segment that the sender waits for."""

    first: int
    count: int
    sacked: bool = False
    lost: bool = False
    again: bool = False  # sent again since it was lost


class TcpSender:
    """Sends frames of `size` bytes as the window allows.

    Parameters
    ----------
    size : int
        Bytes of a frame.
    rtt : float
        Round trip of the handshake, s.
    mss : int
        Largest segment, bytes.
    initial : float
        Initial window, bytes (RFC 3390).
    least_rto : float
        Least time-out, s (RFC 2988).
    window : float
        The receiver's window, bytes.

    Notes
    -----
    Chapters ``notebooks/foundations/03_tcp`` and ``notebooks/voip/01_rate_control``.

    Examples
    --------
    >>> sender = TcpSender(1460, 0.1)
    >>> [p.first for p in sender.on_frames(0, range(10))]  # the window of RFC 3390
    [0, 1, 2]
    """

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
        self.size, self.mss, self.most = size, mss, max(mss // size, 1)
        self.initial = self.cwnd = initial
        self.limit, self.ssthresh = window, 1e18
        self.una = self.nxt = self.spoken = 0  # frames
        self.waiting: list[Segment] = []
        self.pipe = 0.0  # bytes under way, RFC 3517
        self.recover = -1  # in recovery until this frame is acknowledged
        self.srtt, self.rttvar, self.least_rto = rtt, rtt / 2, least_rto
        self.rto = max(self.srtt + 4 * self.rttvar, least_rto)
        self.backoff = 1.0
        self.timer, self.last_send = NEVER, -NEVER
        self.seq = 0
        self.sent: dict[int, int] = {}  # when each frame first left, ns

    def on_frames(self, now: int, frames: range) -> list[Packet]:
        """With NODELAY frames leave at once, if the window is open.

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
        self.spoken = frames.stop
        return self.push(now)

    def push(self, now: int) -> list[Packet]:
        """Send what may be sent: lost segments first (RFC 3517).

        Parameters
        ----------
        now : int
            Time, ns.

        Returns
        -------
        list of Packet
            What leaves now.
        """
        packets: list[Packet] = []
        missing = [s for s in self.waiting if s.lost and not s.sacked]
        for segment in missing if self.recover >= 0 else []:
            if not segment.again:
                if not self.fits(segment.count):
                    return packets
                segment.again = True
                packets.append(self.send(now, segment))
        idle = now - self.last_send > int(self.rto * SECOND)
        if self.nxt < self.spoken and not self.waiting and idle:
            self.cwnd = min(self.cwnd, self.initial)  # RFC 2581, 4.1
        while self.nxt < self.spoken:
            count = min(self.spoken - self.nxt, self.most)
            if not self.fits(count):
                break
            segment = Segment(self.nxt, count)
            self.waiting.append(segment)
            for frame in range(self.nxt, self.nxt + count):
                self.sent[frame] = now
            self.nxt += count
            packets.append(self.send(now, segment))
        return packets

    def fits(self, count: int) -> bool:
        """Is the window open for so many frames? An idle path always is.

        Parameters
        ----------
        count : int
            Frames of the next segment.

        Returns
        -------
        bool
            Whether it may leave.
        """
        window = min(self.cwnd, self.limit)
        return self.pipe <= 0 or self.pipe + count * self.size <= window

    def send(self, now: int, segment: Segment) -> Packet:
        """Put a segment on the path, and start the timer if it rests.

        Parameters
        ----------
        now : int
            Time, ns.
        segment : Segment
            One that is waited for.

        Returns
        -------
        Packet
            The packet that carries it.
        """
        self.pipe += segment.count * self.size
        self.last_send = now
        if self.timer == NEVER:
            self.start_timer(now)
        self.seq += 1
        return Packet(self.seq - 1, segment.first, segment.count, now)

    def start_timer(self, now: int) -> None:
        """RFC 2988 section 5: doubled after each time-out, 64 s at most.

        Parameters
        ----------
        now : int
            Time, ns.
        """
        self.timer = now + int(min(self.rto * self.backoff, 64.0) * SECOND)

    def measure(self, sample: float) -> None:
        """Smoothed round trip and its deviation (RFC 2988 section 2.3).

        Parameters
        ----------
        sample : float
            A round trip, s.
        """
        self.rttvar = 0.75 * self.rttvar + 0.25 * abs(self.srtt - sample)
        self.srtt = 0.875 * self.srtt + 0.125 * sample
        self.rto = max(self.srtt + 4 * self.rttvar, self.least_rto)

    def on_answer(self, now: int, ack: Ack) -> list[Packet]:
        """Take what is acknowledged, find losses, open the window.

        Parameters
        ----------
        now : int
            Time, ns.
        ack : Ack
            What has come back.

        Returns
        -------
        list of Packet
            What leaves now.
        """
        self.measure((now - ack.echo) / SECOND)
        progress = ack.upto > self.una
        if progress:
            self.acknowledged(ack.upto)
        if self.find_losses(ack) and self.recover < 0:
            self.halve()
            self.cwnd = self.ssthresh
            self.recover = self.nxt
        if progress and self.recover < 0:
            self.grow()
        if not self.waiting:
            self.timer, self.pipe = NEVER, 0.0
        elif progress:
            self.start_timer(now)
        return self.push(now)

    def acknowledged(self, upto: int) -> None:
        """The cumulative part: nothing below `upto` is waited for.

        Parameters
        ----------
        upto : int
            Next frame that the receiver expects.
        """
        self.una, self.backoff = upto, 1.0
        while self.waiting:
            segment = self.waiting[0]
            if segment.first + segment.count > upto:
                break
            self.leave(segment)
            self.waiting.pop(0)
        if self.recover >= 0 and upto >= self.recover:
            self.recover = -1

    def leave(self, segment: Segment) -> None:
        """A segment that was under way has arrived.

        Parameters
        ----------
        segment : Segment
            One that is waited for.
        """
        under_way = not segment.lost or segment.again
        if under_way and not segment.sacked:
            self.pipe -= segment.count * self.size

    def find_losses(self, ack: Ack) -> bool:
        """Three SACKed segments above it: a segment is lost (RFC 3517).

        Parameters
        ----------
        ack : Ack
            What has come back.

        Returns
        -------
        bool
            Whether a loss was found.
        """
        found, above = False, 0
        if ack.sacked[0][1] <= ack.sacked[0][0]:
            return False
        for segment in reversed(self.waiting):
            if any(low <= segment.first < high for low, high in ack.sacked):
                self.leave(segment)
                segment.sacked = True
            if segment.sacked:
                above += 1
            elif above >= 3 and not segment.lost:
                segment.lost = found = True
                self.pipe -= segment.count * self.size
        return found

    def halve(self) -> None:
        """Half of what is under way, two segments at least (RFC 2581)."""
        flight = (self.nxt - self.una) * self.size
        self.ssthresh = max(flight / 2, 2.0 * self.mss)

    def grow(self) -> None:
        """Slow start: a segment an ACK; later: a segment a window."""
        if self.cwnd < self.ssthresh:
            self.cwnd += self.mss
        else:
            self.cwnd += self.mss * self.mss / self.cwnd

    def on_send(self, now: int) -> list[Packet]:
        """TCP has no pace, so this is never called.

        Parameters
        ----------
        now : int
            Time, ns.

        Returns
        -------
        list of Packet
            Nothing.
        """
        return []

    def on_timer(self, now: int) -> list[Packet]:
        """All under way is lost; begin with one segment (RFC 2581, 3.1).

        Parameters
        ----------
        now : int
            Time, ns.

        Returns
        -------
        list of Packet
            What leaves now.
        """
        self.timer = NEVER
        self.halve()
        self.cwnd = float(self.mss)
        self.backoff = min(self.backoff * 2, 64.0)
        for segment in self.waiting:
            segment.lost, segment.again = True, False
            segment.sacked = False  # it may be forgotten (RFC 2018, 8)
        self.pipe = 0.0
        self.recover = self.nxt
        return self.push(now)


class TcpReceiver:
    """In-order delivery, SACK, delayed acknowledgements (RFC 2581, 4.2).

    Parameters
    ----------
    frames : int
        Frames of the whole stream.
    every : int
        Segments that one acknowledgement answers.
    delay : int
        How long an acknowledgement may wait, ns.

    Notes
    -----
    Chapters ``notebooks/foundations/03_tcp`` and ``notebooks/voip/01_rate_control``.

    Examples
    --------
    >>> receiver = TcpReceiver(4)
    >>> receiver.on_packet(0, Packet(0, 0, 1, sent=-50)) is None  # waits for a second
    True
    >>> receiver.on_packet(9, Packet(1, 1, 1, sent=-41)).upto
    2
    """

    def __init__(
        self, frames: int, every: int = 2, delay: int = 200_000_000
    ) -> None:
        self.got = [False] * frames
        self.arrive: dict[int, int] = {}
        self.expected = 0  # frame
        self.every, self.delay = every, delay
        self.unacked = self.echo = 0
        self.older = (0, 0)  # the block that was sent before
        self.timer = NEVER

    def on_packet(self, now: int, packet: Packet) -> Ack | None:
        """Deliver in order; say at once where something is missing.

        Parameters
        ----------
        now : int
            Time, ns.
        packet : Packet
            What arrives.

        Returns
        -------
        Ack or None
            The acknowledgement, if it is sent at once.
        """
        end = packet.first + packet.count
        hole = packet.first > self.expected
        for frame in range(packet.first, end):
            self.got[frame] = True
        while self.expected < len(self.got) and self.got[self.expected]:
            self.arrive[self.expected] = now
            self.expected += 1
        filled = self.expected > end
        again = end <= self.older[1] and not hole
        if self.unacked == 0:
            self.echo = packet.sent
        self.unacked += 1
        if hole:
            return self.acknowledge(packet.sent, packet.first)
        if filled or again or self.unacked >= self.every:
            return self.acknowledge(self.echo, packet.first)
        if self.timer == NEVER:
            self.timer = now + self.delay
        return None

    def acknowledge(self, echo: int, frame: int = -1) -> Ack:
        """The first block holds the frame that came last (RFC 2018, 4).

        Parameters
        ----------
        echo : int
            When the segment left that is answered, ns.
        frame : int
            First frame of the segment that came last; -1: none came.

        Returns
        -------
        Ack
            The acknowledgement.
        """
        self.unacked, self.timer = 0, NEVER
        low = high = 0
        if frame >= self.expected:
            low = high = frame
            while low - 1 > self.expected and self.got[low - 1]:
                low -= 1
            while high < len(self.got) and self.got[high]:
                high += 1
        ack = Ack(echo, self.expected, ((low, high), self.older))
        if high > low and low != self.older[0]:
            self.older = (low, high)
        return ack

    def on_timer(self, now: int) -> Ack:
        """No second segment came in time.

        Parameters
        ----------
        now : int
            Time, ns.

        Returns
        -------
        Ack
            The acknowledgement that was delayed.
        """
        return self.acknowledge(self.echo)

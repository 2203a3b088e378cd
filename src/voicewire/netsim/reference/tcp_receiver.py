"""TCP's receiver to read: order, SACK and delayed acknowledgements.

RFC 5681 section 4.2 and RFC 2018, in plain Python; `netsim.tcp` is the same
rules compiled. The stream is counted in frames: what a program writes at
once, and a segment carries whole. Times are whole nanoseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

from voicewire.netsim.reference.path import NEVER, Packet

__all__ = ["Ack", "TcpReceiver"]


@dataclass
class Ack:
    """A cumulative acknowledgement, with SACK blocks (RFC 2018).

    Attributes
    ----------
    echo : int
        When the segment left that it answers, ns: its timestamp.
    upto : int
        The frame that is expected next.
    sacked : tuple of (int, int)
        What came behind a hole: frames from … to before …, the newest
        block first; nothing, if no hole is left.
    """

    echo: int
    upto: int
    sacked: tuple[tuple[int, int], ...] = ()


class TcpReceiver:
    """In-order delivery, SACK, delayed acknowledgements (RFC 5681, 4.2)."""

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
        """Deliver in order; say at once where something is missing."""
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
        """The first block holds the frame that came last (RFC 2018, 4)."""
        self.unacked, self.timer = 0, NEVER
        low = high = 0
        if frame >= self.expected:
            low = high = frame
            while low - 1 > self.expected and self.got[low - 1]:
                low -= 1
            while high < len(self.got) and self.got[high]:
                high += 1
        if high == low:
            return Ack(echo, self.expected)
        blocks = ((low, high), self.older)
        if low != self.older[0]:
            self.older = (low, high)
        return Ack(echo, self.expected, blocks)

    def on_timer(self, now: int) -> Ack:
        """No second segment came in time."""
        return self.acknowledge(self.echo)

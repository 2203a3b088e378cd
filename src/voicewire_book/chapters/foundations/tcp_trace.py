"""A TCP transfer over a path that loses just the packets that are named: what the chapter's traces are made of.

The sender and the receiver are the reading versions of the simulator, `voicewire.netsim.reference`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from voicewire.netsim.reference import Packet, TcpReceiver, TcpSender, Way, carry
from voicewire.netsim.reference.path import SECOND
from voicewire.netsim.reference.tcp_receiver import Ack

__all__ = ["Trace", "trace"]


@dataclass
class Trace:
    """What was seen at the sender, in seconds and segments.

    Attributes
    ----------
    sent : list of (float, int)
        When a segment left, and its number.
    lost : list of (float, int)
        Those of them that the path lost.
    acknowledged : list of (float, int)
        When an acknowledgement came, and the next number that it asks for.
    """

    sent: list[tuple[float, int]] = field(default_factory=list)
    lost: list[tuple[float, int]] = field(default_factory=list)
    acknowledged: list[tuple[float, int]] = field(default_factory=list)

    @property
    def done(self) -> float:
        """When the last acknowledgement came, s."""
        return self.acknowledged[-1][0]


class _Picked(Way):
    """A way that loses the packets that are named by the order in which they leave."""

    def __init__(self, delay: int, lost: Collection[int], log: Trace) -> None:
        super().__init__(delay, 0.0, 0)
        self.named, self.log = lost, log

    def send(self, now: int, what: Packet) -> None:
        """Note what leaves; lose it if it was named."""
        entry = (now / SECOND, what.first)
        self.log.sent.append(entry)
        self.sent += 1
        if self.sent - 1 in self.named:
            self.lost += 1
            self.log.lost.append(entry)
        else:
            self.flight.append((now + self.delay, what))


class _Noting(TcpSender):
    log: Trace

    def on_answer(self, now: int, ack: Ack) -> list[Packet]:
        self.log.acknowledged.append((now / SECOND, ack.upto))
        return super().on_answer(now, ack)


def trace(
    writes: Sequence[tuple[float, int]],
    lost: Collection[int] = (),
    rtt: float = 0.1,
    window: int = 10,
    least: float = 1.0,
) -> Trace:
    """Run the reading version of TCP over a path that loses just the packets that are named."""
    total = sum(count for _, count in writes)
    if total < 1 or rtt <= 0 or window < 1:
        raise ValueError("at least one segment, a round trip above 0, a window of at least 1")
    log = Trace()
    frames = [int(at * SECOND) for at, count in writes for _ in range(count)]
    sender = _Noting(1460, rtt, initial=1460.0 * window, least_rto=least, window=float("inf"))
    sender.log = log
    receiver = TcpReceiver(total, every=1)
    way = int(rtt * SECOND / 2)
    carry(frames, sender, receiver, _Picked(way, lost, log), Way(way, 0.0, 0), 600 * SECOND)
    return log

"""A voice that changes its codec by the allowed rate, to read.

The thesis, sections 3.1 and 3.6; the engine has the same rules behind the
settings `lower`, `late` and `pads` of `netsim.Tfrc`. Chapter 1 of the voice
part is woven from this. Sizes are bytes, rates bytes a second.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from voicewire.netsim.reference.path import NEVER, SECOND, Packet
from voicewire.netsim.reference.tfrc_receiver import Report, TfrcReceiver
from voicewire.netsim.reference.tfrc_sender import TfrcSender

__all__ = ["chosen_size", "sized_rate"]


def chosen_size(
    x: float, frame: float, lower: int, upper: int, pads: bool = True
) -> int:
    """Bytes of the next packet: the codec that the rate carries."""
    room = math.floor(x * frame + 1e-6)  # 1e-6: rounding is not a lack
    if room >= upper:
        return upper
    return max(lower, room) if pads else lower


@dataclass
class SizedPacket(Packet):
    """A packet that knows its size, bytes."""

    payload: int = 0


class SwitchingSender(TfrcSender):
    """TFRC under an application with two codecs."""

    def __init__(
        self,
        lower: int,
        upper: int,
        rtt: float,
        pads: bool = True,
        late: bool = False,
        averages: bool = False,
        **how: float | bool,
    ) -> None:
        self.lower, self.upper, self.pads = lower, upper, pads
        self.late, self.averages = late, averages
        self.sizes: dict[int, int] = {}  # of the packet of each frame
        super().__init__(lower, rtt, **how)  # type: ignore[arg-type]

    def choose(self, frame: int) -> None:
        """Give a frame its codec, and its packet a size."""
        self.sizes[frame] = chosen_size(
            self.x, 0.02, self.lower, self.upper, self.pads
        )

    def on_frame(self, now: int, frame: int) -> list[Packet]:
        """Without late choice the codec is settled here."""
        if not self.late:
            self.choose(frame)
        return super().on_frame(now, frame)

    def on_send(self, now: int) -> list[Packet]:
        """With late choice what waits is encoded anew (Figure 3.6)."""
        frame, _ = self.waiting[0]
        if self.late:
            self.choose(frame)
        size = self.sizes[frame]
        mean = 0.9 * self.s + (1 - 0.9) * size
        self.s = mean if self.averages else size  # type: ignore[assignment]
        (p,) = super().on_send(now)
        parts = p.seq, p.first, p.count, p.sent, p.counter, p.rtt
        return [SizedPacket(*parts, payload=size)]


def sized_rate(
    arrivals: Sequence[tuple[int, int]],
    unreported: int,
    since: int,
    rtt: float,
) -> float:
    """X_recv where packets differ: bytes over time (RFC 4342, 8.3)."""
    round_trip = int(rtt * SECOND)
    if since >= round_trip:
        recent = [size for _, size in arrivals[-unreported:]]
        return sum(recent) / (since / SECOND)
    begin = arrivals[-1][0] - round_trip
    return sum(size for at, size in arrivals if at > begin) / rtt


class SizedReceiver(TfrcReceiver):
    """A TFRC receiver of packets that differ in size."""

    def __init__(self, size: int, small: bool = False) -> None:
        super().__init__(size, small)
        self.came: list[tuple[int, int]] = []  # when, ns, and bytes

    def receive_rate(self, now: int, rtt: float) -> float:
        """The first report counts one round trip."""
        since = int(rtt * SECOND)
        if self.reported != NEVER:
            since = now - self.reported
        return sized_rate(self.came, self.since_report, since, rtt)

    def on_packet(self, now: int, packet: Packet) -> Report | None:
        """Note the size, then as before."""
        assert isinstance(packet, SizedPacket)
        self.came.append((now, packet.payload))
        self.history.size = packet.payload
        return super().on_packet(now, packet)

"""CCID 2 as RFC 4341 describes it, in plain Python: what the compiled one is compared with, bit for bit."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from voicewire.netsim.reference import Packet
from voicewire.netsim.reference.path import NEVER, SECOND


@dataclass
class Vector:
    """An acknowledgement: the newest packet that came, which of the last 64 came, was one of them marked."""

    echo: int
    newest: int
    came: frozenset[int]
    mark: bool


class Sender:
    """Windows in packets, nothing is sent again."""

    send_at = NEVER

    def __init__(self, size: int, rtt: float, buffer: int, drop_oldest: bool, rto_min: float) -> None:
        self.cwnd = self.initial = float(min(4, max(2, 4380 // size)))  # RFC 3390 in packets of this size
        self.ssthresh = float("inf")
        self.buffer, self.drop_oldest, self.rto_min = buffer, drop_oldest, rto_min
        self.srtt, self.rttvar = rtt, rtt / 2
        self.rto = max(self.srtt + 4 * self.rttvar, rto_min)
        self.backoff = 1
        self.ready: deque[int] = deque()
        self.out: list[int] = []  # packets of which nothing is known
        self.seq, self.halved_at = 0, -1
        self.timer, self.last_send = NEVER, -NEVER
        self.sent: dict[int, int] = {}
        self.dropped: list[int] = []

    def on_frames(self, now: int, frames: range) -> list[Packet]:
        packets = []
        for frame in frames:
            if len(self.ready) == self.buffer:
                self.dropped.append(self.ready.popleft() if self.drop_oldest else frame)
            if not self.dropped or self.dropped[-1] != frame:
                self.ready.append(frame)
                packets += self.push(now)
        return packets

    def push(self, now: int) -> list[Packet]:
        packets = []
        if self.ready and not self.out and now - self.last_send > int(self.rto * SECOND):
            self.cwnd = min(self.cwnd, self.initial)
        while self.ready and len(self.out) + 1 <= self.cwnd:
            frame = self.ready.popleft()
            self.out.append(self.seq)
            self.sent[frame] = self.last_send = now
            packets.append(Packet(self.seq, frame, 1, now))
            self.seq += 1
            if self.timer == NEVER:
                self.start_timer(now)
        return packets

    def start_timer(self, now: int) -> None:
        self.timer = now + int(min(self.rto * self.backoff, 64.0) * SECOND)

    def congestion(self, packet: int) -> None:
        if packet > self.halved_at:  # once for all that was under way together
            self.cwnd = max(self.cwnd / 2, 1.0)
            self.ssthresh = max(self.cwnd, 2.0)
            self.halved_at = self.seq - 1

    def on_answer(self, now: int, ack: Vector) -> list[Packet]:
        sample = (now - ack.echo) / SECOND
        self.rttvar = 0.75 * self.rttvar + 0.25 * abs(self.srtt - sample)
        self.srtt = 0.875 * self.srtt + 0.125 * sample
        self.rto = max(self.srtt + 4 * self.rttvar, self.rto_min)
        progress = False
        for packet in list(self.out):
            if packet in ack.came:
                self.out.remove(packet)
                progress = True
                self.cwnd += 1 if self.cwnd < self.ssthresh else 1 / self.cwnd
            elif packet <= ack.newest - 3:
                self.out.remove(packet)
                self.congestion(packet)
        if ack.mark:
            self.congestion(ack.newest)
        if not self.out:
            self.timer = NEVER
        elif progress:
            self.backoff = 1
            self.start_timer(now)
        return self.push(now)

    def on_send(self, now: int) -> list[Packet]:
        raise AssertionError("a window has no pace")

    def on_timer(self, now: int) -> list[Packet]:
        self.timer = NEVER
        self.ssthresh, self.cwnd = max(self.cwnd / 2, 2.0), 1.0
        self.backoff = min(2 * self.backoff, 64)
        self.out = []
        self.halved_at = self.seq - 1
        return self.push(now)


class Receiver:
    """A vector for every second packet, at once where one is missing or marked."""

    def __init__(self, every: int, delay: int) -> None:
        self.every, self.delay = every, delay
        self.arrive: dict[int, int] = {}
        self.came: set[int] = set()
        self.waiting: list[Packet] = []
        self.timer = NEVER

    def on_packet(self, now: int, packet: Packet) -> Vector | None:
        self.arrive[packet.first] = now
        missing = packet.seq > max(self.came, default=-1) + 1
        self.came.add(packet.seq)
        self.waiting.append(packet)
        if missing or getattr(packet, "mark", False) or len(self.waiting) >= self.every:
            return self.on_timer(now)
        if self.timer == NEVER:
            self.timer = now + self.delay
        return None

    def on_timer(self, now: int) -> Vector:
        newest = max(self.came)
        marked = any(getattr(packet, "mark", False) for packet in self.waiting)
        ack = Vector(self.waiting[0].sent, newest, frozenset(p for p in self.came if p > newest - 64), marked)
        self.waiting, self.timer = [], NEVER
        return ack

"""One flow over one path, event by event: losses, packets in flight, and who is asked at which nanosecond."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

__all__ = ["NEVER", "SECOND", "Packet", "Way", "carry", "seeds"]

SECOND = 1_000_000_000  # ns
NEVER = 2**60 - 1  # later than any time


@dataclass
class Packet:
    """What crosses the path: frames `first` to `first + count - 1`.

    Attributes
    ----------
    seq : int
        Number of the packet, from 0; TCP's is that of its first frame.
    first, count : int
        The frames that it carries.
    sent : int
        When it left, ns.
    counter : int
        Window counter, RFC 4342 section 8.1.
    rtt : float
        The sender's estimate of the round trip, s.
    """

    seq: int
    first: int
    count: int
    sent: int  # ns
    counter: int = 0  # window counter, RFC 4342 section 8.1
    rtt: float = 0.0  # the sender's estimate, s


class Sender(Protocol):
    """What `carry` asks of a sender; each method gives the packets that leave now."""

    send_at: int  # ns; NEVER: nothing waits
    timer: int

    def on_frames(self, now: int, frames: range) -> list[Packet]:
        """The codec hands over what is ready now."""

    def on_answer(self, now: int, answer: Any) -> list[Packet]:
        """A report or an acknowledgement has come back."""

    def on_send(self, now: int) -> list[Packet]:
        """The time has come at which the next packet may leave."""

    def on_timer(self, now: int) -> list[Packet]:
        """No answer came in time."""


class Receiver(Protocol):
    """What `carry` asks of a receiver; an answer of None sends nothing back."""

    timer: int
    arrive: dict[int, int]  # when each frame was delivered, ns

    def on_packet(self, now: int, packet: Packet) -> Any:
        """A packet arrives."""

    def on_timer(self, now: int) -> Any:
        """The delayed acknowledgement is due."""


class Way:
    """One direction of a path: a delay, and a coin for each packet."""

    def __init__(
        self, delay: int, loss: float, seed: int, lossy_until: int = NEVER
    ) -> None:
        self.delay, self.loss, self.state = delay, loss, seed
        self.lossy_until = lossy_until
        self.flight: deque[tuple[int, Any]] = deque()
        self.sent = self.lost = 0

    def uniform(self) -> float:
        """The next number in [0, 1): splitmix64."""
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return ((z ^ (z >> 31)) >> 11) / 2**53

    def send(self, now: int, what: Any) -> None:
        """Lose it, or have it arrive a delay later."""
        self.sent += 1
        unlucky = self.loss > 0 and self.uniform() < self.loss
        if unlucky and now < self.lossy_until:
            self.lost += 1
        else:
            self.flight.append((now + self.delay, what))


def seeds(seed: int) -> tuple[int, int]:
    """Seeds of both ways of the only flow, as `simulate` derives them."""
    state = np.random.SeedSequence(seed).generate_state(3, np.uint64)
    return int(state[1]), int(state[2])


def carry(
    frames: Sequence[int],
    sender: Sender,
    receiver: Receiver,
    there: Way,
    back: Way,
    until: int,
) -> None:
    """Let every event happen in its turn, up to the time `until`.

    Where several fall on one nanosecond, answers come first, then
    arrivals, frames, permitted sendings, and the timers last.
    """
    spoken = 0
    while True:
        frame_at = frames[spoken] if spoken < len(frames) else NEVER
        now, kind = min(
            (back.flight[0][0] if back.flight else NEVER, 0),
            (there.flight[0][0] if there.flight else NEVER, 1),
            (frame_at, 2),
            (sender.send_at, 3),
            (sender.timer, 4),
            (receiver.timer, 5),
        )
        if now > until:
            return
        leave: list[Packet] = []
        answer = None
        if kind == 0:
            leave = sender.on_answer(now, back.flight.popleft()[1])
        elif kind == 1:
            packet = there.flight.popleft()[1]
            answer = receiver.on_packet(now, packet)
        elif kind == 2:
            first = spoken
            while spoken < len(frames) and frames[spoken] <= now:
                spoken += 1
            leave = sender.on_frames(now, range(first, spoken))
        elif kind == 3:
            leave = sender.on_send(now)
        elif kind == 4:
            leave = sender.on_timer(now)
        else:
            answer = receiver.on_timer(now)
        for packet in leave:
            there.send(now, packet)
        if answer is not None:
            back.send(now, answer)

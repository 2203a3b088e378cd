"""The wire as its sources describe it, in plain Python: what the compiled one is compared with, bit for bit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from voicewire.netsim import Bottleneck, Path, Red
from voicewire.netsim.reference import Packet, Way

SECOND = 1_000_000_000


@dataclass
class Marked(Packet):
    """A packet that has crossed the bottleneck, with its congestion mark."""

    mark: bool = False


class RandomEarly:
    """Floyd and Jacobson 1993, figure 2, with the queue's length before the packet that arrives."""

    def __init__(self, red: Red, coin: Way) -> None:
        self.red, self.coin = red, coin
        self.average, self.since, self.idle_from = 0.0, -1, 0

    def verdict(self, now: int, length: int, free_at: int, slots_per_s: float) -> str:
        red = self.red
        if length == 0:  # as if so many small packets had met an empty queue meanwhile
            idle = now - max(free_at, self.idle_from)
            self.average *= (1 - red.weight) ** max(idle * slots_per_s / SECOND, 0.0)
            self.idle_from = now
        self.average += red.weight * (length - self.average)
        if self.average >= red.high:
            self.since = 0
            return "drop"
        if self.average < red.low:
            self.since = -1
            return "pass"
        self.since += 1
        each = red.max_p * (self.average - red.low) / (red.high - red.low)
        certain = self.since * each >= 1
        if self.coin.uniform() >= (1.0 if certain else each / (1 - self.since * each)):
            return "pass"
        self.since = 0
        return "early"


class Queue:
    """First in, first out; a packet leaves when all before it have, and its own bytes."""

    def __init__(self, bottleneck: Bottleneck, seed: int) -> None:
        self.bottleneck, self.bytes_s = bottleneck, Fraction(bottleneck.kbit_s) * 125
        self.leaving: list[int] = []
        self.free_at, self.carried, self.longest = 0, 0, 0
        self.red = RandomEarly(bottleneck.red, Way(0, 0.0, seed)) if bottleneck.red else None

    def offer(self, now: int, size: int, ecn: bool) -> tuple[int, bool] | None:
        self.leaving = [at for at in self.leaving if at > now]
        if len(self.leaving) >= self.bottleneck.packets:
            return None
        mark = False
        if self.red is not None:
            verdict = self.red.verdict(now, len(self.leaving), self.free_at, float(self.bytes_s) / size)
            mark = verdict == "early" and ecn and self.red.red.ecn
            if verdict == "drop" or (verdict == "early" and not mark):
                return None
        self.free_at = max(now, self.free_at) + math.ceil(size * SECOND / self.bytes_s)
        self.leaving.append(self.free_at)
        self.carried += size
        self.longest = max(self.longest, len(self.leaving))
        return self.free_at, mark


class Row:
    """Queues one behind the other: each is offered a packet as it leaves the one before; a mark stays."""

    def __init__(self, queues: list[Queue]) -> None:
        self.queues = queues

    def offer(self, now: int, size: int, ecn: bool) -> tuple[int, bool] | None:
        marked = False
        for queue in self.queues:
            taken = queue.offer(now, size, ecn)
            if taken is None:
                return None
            now, mark = taken
            marked = marked or mark
        return now, marked


class Wire(Way):
    """One direction: the queue if there is one, then losses (Gilbert's too), then delay and jitter."""

    def __init__(self, path: Path, loss: float, seed: int, queue: Queue | Row | None = None) -> None:
        super().__init__(round(path.delay_ms * 1e6), loss, seed)
        self.jitter, self.burst = round(path.jitter_ms * 1e6), path.burst
        self.queue, self.bad, self.last = queue, False, 0
        self.full: list[int] = []  # frames that the queue dropped
        self.gone: list[int] = []  # frames that the path lost
        self.size, self.ecn, self.marked = 0, False, 0

    def unlucky(self) -> bool:
        if self.burst is None or self.burst[0] == 0:  # the bad state cannot be entered: no coin is tossed for it
            return self.loss > 0 and self.uniform() < self.loss
        to_bad, to_good, burst_loss = self.burst
        moves = self.uniform() < (to_good if self.bad else to_bad)
        self.bad ^= moves
        return self.uniform() < (burst_loss if self.bad else self.loss)

    def send(self, now: int, what: Any) -> None:
        self.sent += 1
        leave = now
        frames = list(range(what.first, what.first + what.count)) if isinstance(what, Packet) else []
        if self.queue is not None:
            taken = self.queue.offer(now, self.size, self.ecn)
            if taken is None:
                self.full += frames
                return
            leave, mark = taken
            what = Marked(**vars(what), mark=mark)
            self.marked += mark
        if self.unlucky():
            self.lost += 1
            self.gone += frames
            return
        arrival = leave + self.delay
        if self.jitter:  # a path keeps the order of its packets
            arrival = max(arrival + int(self.uniform() * self.jitter), self.last)
        self.last = arrival
        self.flight.append((arrival, what))


def row(bottlenecks: list[Bottleneck], first: int, seed: int) -> Row:
    """Queues of several bottlenecks, with the seeds that `simulate` gives them."""
    later = np.random.SeedSequence([seed, 1]).generate_state(len(bottlenecks), np.uint64)
    return Row([Queue(one, first if k == 0 else int(later[k])) for k, one in enumerate(bottlenecks)])


def seeds(seed: int, flows: int) -> tuple[int, list[tuple[int, int]]]:
    """Of the bottleneck, and of both ways of each flow."""
    state = [int(s) for s in np.random.SeedSequence(seed).generate_state(2 * flows + 1, np.uint64)]
    return state[0], list(zip(state[1::2], state[2::2], strict=True))

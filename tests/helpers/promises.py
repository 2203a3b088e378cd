"""Random fan-outs, with accidents at random moments: whatever the broker has confirmed arrives, and once.

The broker runs in memory, so a seed gives the same run again. A moment is one of the places where something becomes
visible outside: a write to a client, a commit of the store before and after, a slice of long work. A kill keeps what
the store's files hold then, and nothing else.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

from voicewire.mqtt import packet_handlers, routes, routing
from voicewire.mqtt import packets as p
from voicewire.mqtt.config import Config, Limits
from voicewire.mqtt.decoder import Decoder
from voicewire.mqtt.in_memory_broker import Line, MemoryBroker
from voicewire.mqtt.serving import time_slicing
from voicewire.mqtt.serving.connection import Connection
from voicewire.mqtt.serving.resource_limits import ENTRY
from voicewire.mqtt.sessions.outbox import Outbox
from voicewire.mqtt.sessions.store import Store

MOST = 200_000_000
"""Bytes of one message to all its subscribers."""
ACCIDENTS = ("none", "reset", "takeover", "subscriber", "stop", "kill")


class Killed(KeyboardInterrupt):
    """The broker is gone from here on; no handler of its own catches this."""


@dataclass(slots=True)
class Plan:
    """One run: who is there, what is sent, and which accident happens at which moment."""

    seed: int
    subscribers: int
    size: int
    messages: int
    accident: str
    moment: int
    store: bool
    end_to_end: bool
    retain: bool
    slice: int
    tight: bool

    @classmethod
    def draw(cls, seed: int, most: int = MOST, subscribers: int = 2000) -> Plan:
        """Draw one: sizes and numbers over their decades, so that few large and many small ones are as likely."""
        rng = random.Random(seed)
        total = most ** rng.uniform(0.4, 1.0)  # bytes to all: from a few thousand up
        count = round(min(subscribers, total) ** rng.random())
        size = min(10_000_000, round(total / count))
        store = rng.random() < 0.6
        accident = rng.choice(ACCIDENTS[:-1] if not store else ACCIDENTS)
        moment = round((10 + 4 * count) ** rng.random())
        return cls(
            seed, count, max(1, size), rng.randint(1, 3), accident, moment, store, rng.random() < 0.3,
            rng.random() < 0.2, rng.choice((time_slicing.SLICE, 50)), rng.random() < 0.2,
        )  # fmt: skip


@dataclass(slots=True)
class Subscriber:
    """Takes what comes, answers it, and passes each QoS 2 message on once, as the standard has it."""

    name: str
    qos: int
    clean: bool
    line: Line
    decoder: Decoder = field(default_factory=Decoder)
    received: set[int] = field(default_factory=set)
    taken: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def connect(self, line: Line, subscribe: bool = True) -> None:
        """Come, or come back."""
        self.line, self.decoder = line, Decoder()
        if self.clean:
            self.received.clear()
        line.send(p.encode(p.Connect(self.name, clean=self.clean)))
        if subscribe:
            line.send(p.encode(p.Subscribe(1, (("t", self.qos),))))

    def step(self) -> bool:
        """Handle what has come; says whether anything has."""
        data = self.line.take()
        if not data:
            return False
        answers: list[p.Packet] = []
        for packet in self.decoder.feed(data):
            match packet:
                case p.Publish(payload=payload, qos=qos, packet_id=packet_id):
                    if qos < 2 or packet_id not in self.received:
                        self.taken[self._number(payload)] += 1
                    if qos == 2:
                        self.received.add(packet_id)
                        answers.append(p.Pubrec(packet_id))
                    elif qos:
                        answers.append(p.Puback(packet_id))
                case p.Pubrel(packet_id):
                    self.received.discard(packet_id)
                    answers.append(p.Pubcomp(packet_id))
                case _:
                    pass
        self.line.send(b"".join(map(p.encode, answers)))
        return True

    def _number(self, payload: bytes) -> int:
        if payload.count(payload[:1]) != len(payload):
            self.wrong.append(f"{self.name} got a payload that nobody has sent")
        return payload[0]


@dataclass(slots=True)
class Publisher:
    """Keeps its session, and sends again what was not answered."""

    line: Line
    topic: str
    retain: bool
    decoder: Decoder = field(default_factory=Decoder)
    open: dict[int, p.Publish | p.Pubrel] = field(default_factory=dict)
    confirmed: set[int] = field(default_factory=set)

    def connect(self, line: Line) -> None:
        """Come, or come back."""
        self.line, self.decoder = line, Decoder()
        line.send(p.encode(p.Connect("publisher", clean=False)))
        for packet_id, packet in self.open.items():
            if isinstance(packet, p.Publish):
                packet = self._message(packet_id, packet.payload, packet.qos, dup=True)
            line.send(p.encode(packet))

    def _message(self, number: int, payload: bytes, qos: int, dup: bool = False) -> p.Publish:
        return p.Publish(self.topic, payload, qos, self.retain, dup, packet_id=number)

    def publish(self, number: int, size: int, qos: int) -> None:
        """Send a message whose number is also its packet id, and each byte of its payload."""
        packet = self._message(number, bytes((number,)) * size, qos)
        self.open[number] = packet
        self.line.send(p.encode(packet))

    def step(self) -> bool:
        """Handle what has come; says whether anything has."""
        data = self.line.take()
        if not data:
            return False
        for packet in self.decoder.feed(data):
            match packet:
                case p.Puback(packet_id) if packet_id in self.open:
                    self.confirmed.add(packet_id)
                    del self.open[packet_id]
                case p.Pubrec(packet_id):
                    self.confirmed.add(packet_id)
                    self.open[packet_id] = p.Pubrel(packet_id)
                    self.line.send(p.encode(p.Pubrel(packet_id)))
                case p.Pubcomp(packet_id):
                    self.open.pop(packet_id, None)
                case _:
                    pass
        return True


def _end() -> None:
    raise Killed


class Moments:
    """Counts the moments, and has the accident happen at one of them."""

    def __init__(self) -> None:
        self.left = -1
        self.happen: Callable[[], None] = lambda: None

    def pass_one(self) -> None:
        """One more moment."""
        if self.left > 0:
            self.left -= 1
            if not self.left:
                self.happen()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Count them in all brokers of this process."""
        originals = [(owner, name, getattr(owner, name)) for owner, name in PLACES]

        def counting(original: Any, after: bool) -> Any:
            def call(*args: Any) -> Any:
                self.pass_one()
                result = original(*args)
                if after:
                    self.pass_one()
                return result

            return call

        with ExitStack() as stack:
            for owner, name, original in originals:
                stack.enter_context(mock.patch.object(owner, name, counting(original, name == "commit")))
            yield


PLACES: tuple[tuple[type[Any], str], ...] = (
    (Connection, "write"), (Connection, "write_piece"), (Outbox, "commit"), (time_slicing.Work, "_slice")
)  # fmt: skip


class Run:
    """Carries out a plan; `faults` says what was wrong."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan, self.folder = plan, folder
        self.rng = random.Random(plan.seed)
        self.moments = Moments()
        self.lives = 0
        self.faults: list[str] = []
        self.happened = False
        self.qos: dict[int, int] = {}
        self.confirmed: set[int] = set()
        self.forgets: set[str] = set()
        self.gone: set[str] = set()
        self.dropped = 0
        self.start()
        kinds = [(qos, clean) for qos in (2, 2, 1, 0) for clean in (False, True)]
        self.subscribers = []
        for i in range(plan.subscribers):
            qos, clean = self.rng.choice(kinds)
            self.subscribers.append(Subscriber(f"s{i}", qos, clean, self.broker.line()))
        for each in self.subscribers:
            each.connect(each.line)
        topic = "$e2e/all/t" if plan.end_to_end else "t"
        self.publisher = Publisher(self.broker.line(), topic, plan.retain)
        self.publisher.connect(self.publisher.line)
        self.settle()

    def start(self) -> None:
        """Start a broker, on what the last one has left in its store."""
        limits = Limits(max_packet=11_000_000)
        if self.plan.tight:
            limits = replace(limits, max_inflight=1, max_queued=1)
        path = self.folder / f"{self.lives}.sqlite" if self.plan.store else None
        self.broker = MemoryBroker(Config(port=0, sys_interval=0, limits=limits, persist=path))
        self.broker.__enter__()
        if isinstance(self.broker.broker.store, Store):
            self.broker.broker.store.execute("pragma synchronous=off")  # it is not the disk that is tried here

    def settle(self) -> None:
        """Let all take, answer and go on until nothing more comes."""
        quiet = 0
        while quiet < 2:
            self.broker.run()
            came = self.publisher.step()
            for each in self.subscribers:
                came |= each.step()
            if not came:
                self.broker.run(0.05)
            quiet = 0 if came else quiet + 1

    def accident(self) -> None:
        """What happens at the moment, to whom the plan says."""
        self.happened = True
        match self.plan.accident:
            case "reset":
                self.publisher.line.close(reset=True)
            case "takeover":
                self.publisher.connect(self.broker.line())
            case "subscriber":
                for each in self.rng.sample(self.subscribers, 1 + len(self.subscribers) // 3):
                    each.line.close(reset=self.rng.random() < 0.5)
                    if each.clean:
                        self.gone.add(each.name)
            case "stop" | "kill":
                self.moments.left = -1
                self.forgets = {each.name for each in self.subscribers if each.clean or not self.plan.store}
                self.gone |= self.forgets
                if self.plan.accident == "kill":
                    raise Killed
                self.broker._loop.call_soon(_end)  # a signal is seen between two callbacks

    def end(self) -> None:
        """The broker ends, as it was told to or at once; notes what it has confirmed, and who has nothing from it."""
        if self.plan.accident == "stop":
            loop = self.broker._loop
            task = loop.create_task(self.broker.broker.stop())
            while not task.done():
                loop.advance(0.01)
                for each in self.subscribers:  # they read on, and have what came before the end
                    each.step()
                self.publisher.step()
            self.gone -= {each.name for each in self.subscribers if not each.line.closed}
        before = self.folder / f"{self.lives}.sqlite"
        self.dropped += int(self.broker.broker.statistics()["publish/messages/dropped"])
        for task in self.broker.broker._tasks:
            task._log_destroy_pending = False  # type: ignore[attr-defined]  # nobody ends a killed broker's tasks
        self.confirmed = set(self.publisher.confirmed)
        self.lives += 1
        for suffix in ("", "-wal"):
            file = before.with_name(before.name + suffix)
            if file.exists():
                shutil.copy(file, self.folder / f"{self.lives}.sqlite{suffix}")

    def go(self) -> Run:
        """Carry it out, and check."""
        plan = self.plan
        self.moments.left, self.moments.happen = plan.moment, self.accident
        with ExitStack() as stack:
            for module in (time_slicing, routes, packet_handlers, routing):  # handed out in slices of so many
                stack.enter_context(mock.patch.object(module, "SLICE", plan.slice))
            stack.enter_context(self.moments.watched())
            try:
                for number in range(1, plan.messages + 1):
                    qos = self.rng.choice((1, 2, 2))
                    self.qos[number] = qos
                    self.publisher.publish(number, plan.size, qos)
                    if self.rng.random() < 0.5:
                        self.settle()
                self.settle()
                self.moments.left = -1
            except Killed:
                self.moments.left = -1
                self.end()
                self.start()
        away = plan.accident in ("reset", "stop", "kill")
        for each in self.subscribers:
            if not each.clean and (self.lives or each.line.closed):
                each.connect(self.broker.line(), subscribe=False)
        if away:
            self.publisher.connect(self.broker.line())
        self.settle()
        self.check()
        self.broker.__exit__()
        return self

    def check(self) -> None:
        """Compare what was confirmed with what has arrived, and the broker's counters with nothing."""
        plan, faults = self.plan, self.faults
        if self.publisher.open and not plan.end_to_end:
            faults.append(f"never answered: {sorted(self.publisher.open)}")
        self.dropped += int(self.broker.broker.statistics()["publish/messages/dropped"])
        lost = []
        for each in self.subscribers:
            faults += each.wrong
            for number, qos in self.qos.items():
                count, least = each.taken[number], min(qos, each.qos)
                promised = number in (self.confirmed if each.name in self.forgets else self.publisher.confirmed)
                if promised and least and not count and each.name not in self.gone:
                    lost.append(f"{each.name} (QoS {least}) never got {number}, which was confirmed")
                if count > 1 and least == 2:
                    faults.append(f"{each.name} got {number} {count} times at QoS 2")
        if len(lost) > (self.dropped if plan.tight else 0):  # what a limit drops is counted, and nothing else is lost
            faults += lost
        broker = self.broker.broker
        for session in broker.sessions.values():
            if session.inflight or session.queue or session.load:
                faults.append(f"{session.client_id}: {len(session.inflight)} in flight, {session.load} bytes")
        if broker.ends.open:
            faults.append(f"{broker.ends.open} holds have no verdict")
        ids = sum(len(session.received) for session in broker.sessions.values())  # of what was never confirmed
        answers = sum(hold.counted for session in broker.sessions.values() for hold in session.holds())
        if broker.router.shares.held != ENTRY * ids + answers or len(broker.work):
            faults.append(f"{broker.router.shares.held} bytes wait for {ids} packet ids, {len(broker.work)} jobs")
        if self.dropped and not plan.tight and all(each.qos for each in self.subscribers):
            faults.append(f"{self.dropped} dropped")

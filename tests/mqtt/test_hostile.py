"""Whatever one client sends, in whatever order: nobody else is disconnected, starved, or read by those who may not.

A state machine drives a live broker with honest clients (`ann`, `bob`, `dora`) and hostile ones, whose alphabet is
`hostile`. The short run is part of the tests; `VOICEWIRE_HOSTILE_SECONDS=600` makes it a long one.
Machine and model know the broker only as a `House` that gives out `Line`s: another transport needs only those two.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import logging
import os
import re
import select
import shutil
import socket
import struct
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import hostile
import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from voicewire.mqtt import Broker, BrokerThread
from voicewire.mqtt import packets as p
from voicewire.mqtt.config import load
from voicewire.mqtt.decoder import Decoder
from voicewire.mqtt.in_memory_broker import MemoryBroker
from voicewire.mqtt.serving import broker_process
from voicewire.mqtt.serving.broker_process import free_port, resident
from voicewire.mqtt.serving.resource_limits import ENTRY, SHARED
from voicewire.mqtt.sessions.hold import Hold

pytestmark = pytest.mark.night

SECONDS = float(os.environ.get("VOICEWIRE_HOSTILE_SECONDS", "0"))
"""How long to look (0: a few examples, as in every run of the tests)."""
STARVED = 20.0
"""Seconds within which an honest client's message arrives, and a client that is due to be closed is closed."""
MEMORY = 96 * 2**20
"""Bytes by which the broker's memory may have grown when all have gone: its limits below, and the allocator's rest."""

CONFIG = """\
port = 0
sys_interval = 0.3
password_file = "users"
allow_anonymous = true
persist = "store"
[limits]
max_packet = 300000
max_inflight = 50
max_queued = 5000
max_holds = 50
max_sessions = 8
max_partial_bytes = 1300000
packet_timeout = 1.0
min_rate = 1e6
connect_timeout = 0.5
hold_timeout = 0.5
stall = 0.2
out_high = 65536
out_low = 16384
out_hard = 262144
"""
RULES = """
[[access]]
topic = "open/#"
[[access]]
topic = "open/secret/#"
user = "mallory"
allow = "none"
[[access]]
topic = "open/secret/#"
user = ""
allow = "none"
[[access]]
topic = "honest/#"
user = "ann"
[[access]]
topic = "honest/#"
user = "bob"
[[access]]
topic = "honest/#"
user = "dora"
[[access]]
topic = "$SYS/#"
user = "ann"
allow = "read"
"""
HONEST = {"ann", "bob", "dora"}
REPORTED = ("open/a", "open/nobody", "honest/x", "open/" + "t" * (65535 - len("$e2e/all/open/")))
"""Topics of messages that a hostile client wants to hear the fate of; the last is as long as it can be."""


def permitted(user: str, topic: str) -> bool:
    """May `user` be sent a message on `topic`? The rules above, said once more and otherwise."""
    first, *rest = topic.split("/")
    if first == "open":
        return user in HONEST or rest[:1] != ["secret"]
    if first == "$e2e":
        return rest[:1] == ["report"]
    return (user in HONEST and first == "honest") or (user == "ann" and first == "$SYS")


# ---------------------------------------------------------------------- transport
class Line(Protocol):
    """One connection to the broker, as its client has it."""

    def send(self, data: bytes) -> None: ...
    def take(self) -> bytes | None:
        """Return what has come so far, or None once the broker has closed."""

    def close(self, reset: bool = False) -> None: ...


class House(Protocol):
    """Where a broker lives."""

    def start(self) -> None: ...
    def stop(self, kill: bool) -> None: ...
    def line(self) -> Line: ...
    def wait(self, lines: list[Line], seconds: float) -> None:
        """Wait until something may have come on one of the lines."""

    def problems(self) -> list[str]:
        """Return what has gone wrong inside, in words."""

    def left(self) -> dict[str, int]:
        """Return how many connections and tasks are inside."""

    def memory(self) -> int: ...


class SocketLine:
    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), STARVED)
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.closed = False
        self._unsent = b""

    def send(self, data: bytes) -> None:
        self._unsent += data
        self._push()

    def _push(self) -> None:
        with contextlib.suppress(BlockingIOError):
            try:
                while self._unsent and not self.closed:
                    self._unsent = self._unsent[self.socket.send(self._unsent) :]
            except (ConnectionError, BrokenPipeError):
                self._unsent = b""

    def take(self) -> bytes | None:
        self._push()
        out = b""
        while not self.closed:
            try:
                data = self.socket.recv(1 << 18)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            if not data:
                self.close()
                break
            out += data
        return None if self.closed and not out else out

    def close(self, reset: bool = False) -> None:
        if not self.closed:
            self.closed = True
            if reset:
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.socket.close()


def wait_for_sockets(lines: list[Line], seconds: float) -> None:
    sockets = [x.socket for x in lines if isinstance(x, SocketLine) and not x.closed]
    select.select(sockets, [], [], seconds)


class Errors(logging.Handler):
    """Keeps what the broker and asyncio log about exceptions."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.getMessage()} {record.exc_info[1]!r}" if record.exc_info else record.getMessage())


def inside(broker: Broker) -> list[str]:
    """Return what does not add up inside a broker, in words."""
    shares, limits = broker.router.shares, broker.config.limits
    kept = [s.owner for s in broker.sessions.values() if not s.clean]
    half = sum(len(c.rest) for c in broker.connections if c.rest is not None)
    entries = [m for s in broker.sessions.values() for m, _, _ in (*s.inflight.values(), *(s.queue or ()))]
    held = sum(ENTRY if m.size >= SHARED else m.size for m in entries) + shares.unread
    held += ENTRY * sum(len(s.received) for s in broker.sessions.values())
    waiting = [h for s in broker.sessions.values() for h in (*s.received.values(), *(s.held or {}).values())]
    held += sum(hold.counted for hold in waiting if isinstance(hold, Hold))
    held += sum({id(m): m.size - ENTRY for m in entries if m.size >= SHARED}.values())
    found = [f"{t!r} has ended" for t in broker._tasks if t.done()]
    found += [f"{x} keeps {kept.count(x)} sessions" for x in set(kept) if kept.count(x) > shares.max_kept]
    if half > limits.max_partial_bytes or half != shares.partial.bytes:
        found.append(f"{half} bytes of half packets; counted are {shares.partial.bytes}")
    retained = [owner for name, (_, _, owner) in broker.router.retained.messages.items() if name[:4] != "$SYS"]
    if Counter(retained) != shares.retained or broker.router.retained.size != shares.retained_bytes.total():
        found.append(f"{len(retained)} messages are retained; counted otherwise: {shares.retained}")
    if held != shares.held or len(kept) != shares.kept.total():
        found.append(f"{held} bytes are held, {len(kept)} sessions are kept; counted otherwise: {vars(shares)}")
    return found


class ThreadHouse:
    """A broker in a thread: its inside can be looked at."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.errors = Errors()

    def start(self) -> None:
        for name in ("asyncio", "voicewire.broker"):
            logging.getLogger(name).addHandler(self.errors)
        logging.getLogger("voicewire.broker").setLevel(logging.ERROR)
        self.thread = BrokerThread(load(self.folder / "broker.toml"))
        self.thread.__enter__()

    def stop(self, kill: bool) -> None:
        self.thread.__exit__(None, None, None)
        for name in ("asyncio", "voicewire.broker"):
            logging.getLogger(name).removeHandler(self.errors)

    def line(self) -> Line:
        return SocketLine(self.thread.port)

    def wait(self, lines: list[Line], seconds: float) -> None:
        wait_for_sockets(lines, seconds)

    def problems(self) -> list[str]:
        async def look() -> list[str]:
            return inside(self.thread.broker)

        return self.errors.lines + asyncio.run_coroutine_threadsafe(look(), self.thread.broker.loop).result(STARVED)

    def left(self) -> dict[str, int]:
        async def count() -> dict[str, int]:
            broker = self.thread.broker
            mine = {asyncio.current_task(), *broker._tasks}
            others = [t for t in asyncio.all_tasks() if t not in mine and "_serve" not in repr(t)]
            return {"connections": len(broker.connections), "tasks": len(others), "jobs": len(broker.work)}

        return asyncio.run_coroutine_threadsafe(count(), self.thread.broker.loop).result(STARVED)

    def memory(self) -> int:
        gc.collect()
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL("libc.so.6").malloc_trim(0)
        return resident()


class ProcessHouse:
    """A broker in a process of its own, that can be killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()

    def start(self) -> None:
        command = [sys.executable, "-m", "voicewire.mqtt", "broker", "--quiet", "--port", str(self.port)]
        self.log = (self.folder / "log").open("a+b")
        self.process = broker_process.start(
            [*command, "--config", str(self.folder / "broker.toml")], self.port, log=self.log
        )

    def stop(self, kill: bool) -> None:
        if kill:
            self.process.kill()
            self.process.wait()
        else:
            broker_process.stop(self.process)
        self.log.close()

    def line(self) -> Line:
        return SocketLine(self.port)

    def wait(self, lines: list[Line], seconds: float) -> None:
        wait_for_sockets(lines, seconds)

    def problems(self) -> list[str]:
        text = (self.folder / "log").read_text(errors="replace")
        return re.findall(r"^.*(?:Traceback|ERROR).*$", text, re.M)

    def left(self) -> dict[str, int]:
        ends = 0
        for file in Path(f"/proc/{self.process.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                ends += str(file.readlink()).startswith("socket:")
        return {"connections": max(0, ends - 3)}  # it listens, and its loop wakes itself by a pair

    def memory(self) -> int:
        return resident(self.process.pid)


class MemoryHouse:
    """A broker in this very thread, behind lines of memory, on a clock of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.errors = Errors()

    def start(self) -> None:
        for name in ("asyncio", "voicewire.broker"):
            logging.getLogger(name).addHandler(self.errors)
        logging.getLogger("voicewire.broker").setLevel(logging.ERROR)
        self.memory_broker = MemoryBroker(load(self.folder / "broker.toml"))
        self.memory_broker.__enter__()

    def stop(self, kill: bool) -> None:
        self.memory_broker.__exit__(None, None, None)
        for name in ("asyncio", "voicewire.broker"):
            logging.getLogger(name).removeHandler(self.errors)

    def line(self) -> Line:
        return self.memory_broker.line()

    def wait(self, lines: list[Line], seconds: float) -> None:
        self.memory_broker.run(seconds)

    def problems(self) -> list[str]:
        return self.errors.lines + inside(self.memory_broker.broker)

    def left(self) -> dict[str, int]:
        self.memory_broker.run(0.02)
        broker = self.memory_broker.broker
        others = asyncio.all_tasks(self.memory_broker._loop) - set(broker._tasks)
        return {"connections": len(broker.connections), "tasks": len(others), "jobs": len(broker.work)}

    def memory(self) -> int:
        return resident()


# ---------------------------------------------------------------------- clients
class Peer:
    """A client that answers as it should; what it is sent is checked against the rules."""

    def __init__(self, house: House, client_id: str, user: str, *filters: tuple[str, int], rules: bool = True) -> None:
        self.house, self.client_id, self.user, self.filters, self.rules = house, client_id, user, filters, rules
        self.got: set[bytes] = set()
        self.acknowledged = 0
        self.next_id = 0

    def connect(self, present: bool | None) -> None:
        self.line = self.house.line()
        self.decoder = Decoder()
        self.present: bool | None = None
        self.granted = False
        password = {"ann": b"a", "bob": b"b", "dora": b"d"}[self.user]
        self.line.send(hostile.connect(self.client_id, False, 0, None, self.user, password))
        if self.filters:
            self.line.send(p.encode(p.Subscribe(60_000, self.filters)))
        self.expected = present

    def step(self) -> None:
        data = self.line.take()
        assert data is not None, f"{self.client_id} was disconnected"
        for packet in self.decoder.feed(data):
            match packet:
                case p.Connack(present, code):
                    assert code == 0, f"{self.client_id} was refused with {code}"
                    assert self.expected in (None, present), f"the session of {self.client_id} is gone"
                    self.present = present
                case p.Suback(codes=codes):
                    assert 0x80 not in codes
                    self.granted = True
                case p.Publish(topic=topic, payload=payload, qos=qos, packet_id=number):
                    assert not self.rules or permitted(self.user, topic), f"{self.client_id} was sent {topic}"
                    self.got.add(payload)
                    if qos:
                        self.line.send(p.encode(p.Puback(number) if qos == 1 else p.Pubrec(number)))
                case p.Pubrel(packet_id=number):
                    self.line.send(p.encode(p.Pubcomp(number)))
                case p.Puback():
                    self.acknowledged += 1

    @property
    def ready(self) -> bool:
        return self.present is not None and (self.granted or not self.filters)

    def publish(self, topic: str, payload: bytes) -> None:
        self.next_id = self.next_id % 60_000 + 1
        self.line.send(hostile.publish(topic, payload, 1, False, self.next_id))


class Mallory:
    """A hostile client: what it is sent is checked, what it sends is not."""

    def __init__(self, line: Line, keep_alive: bool, deaf: bool) -> None:
        self.line, self.keep_alive, self.deaf = line, keep_alive, deaf
        self.decoder = Decoder()
        self.slow = b""
        self.half = False
        self.waiting: list[bytes] = []
        self.gone = False

    def step(self, rules: bool) -> None:
        if self.deaf or self.gone:
            return
        data = self.line.take()
        if data is None:
            self.gone = True
            return
        for packet in self.decoder.feed(data):
            if isinstance(packet, p.Publish):
                assert not rules or permitted("mallory", packet.topic), f"a hostile client was sent {packet.topic[:60]}"
                if packet.qos:
                    kind = p.Puback(packet.packet_id) if packet.qos == 1 else p.Pubrec(packet.packet_id, packet.qos)
                    self.waiting.append(p.encode(kind))
            elif isinstance(packet, p.Pubrel):
                self.waiting.append(p.encode(p.Pubcomp(packet.packet_id, packet.qos)))


# ---------------------------------------------------------------------- the machine
class Hostility(RuleBasedStateMachine):
    """The rules are what hostile clients do; the invariant is what honest ones may count on."""

    house_class: Callable[[Path], House] = ThreadHouse
    mallories = Bundle("mallories")

    @initialize(rules=st.sampled_from((True, True, False)))
    def begin(self, rules: bool) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="voicewire-hostile-"))
        (self.folder / "users").write_text("ann:a\nbob:b\ndora:d\nmallory:m\n")
        (self.folder / "broker.toml").write_text(CONFIG + (RULES if rules else ""))
        self.house: House = self.house_class(self.folder)
        self.house.start()
        self.rules = rules
        self.before = self.house.memory()
        self.hostile: list[Mallory] = []
        self.count = 0
        self.ann = Peer(
            self.house, "ann", "ann", ("honest/x", 1), ("open/#", 2), ("$SYS/broker/uptime", 0), rules=rules
        )
        self.bob = Peer(self.house, "bob", "bob", rules=rules)
        self.dora = Peer(self.house, "dora", "dora", ("honest/dora", 1), rules=rules)
        self.dora.connect(False)
        self.until(lambda: self.dora.ready, [self.dora], "dora's first CONNACK")
        self.dora.line.close()
        self.for_dora: list[bytes] = []
        self.come(False)

    def come(self, present: bool | None) -> None:
        for each in (self.ann, self.bob):
            each.connect(present)
        self.until(lambda: self.ann.ready and self.bob.ready, [self.ann, self.bob], "CONNACK and SUBACK")

    def until(self, condition: object, peers: list[Peer], what: str) -> None:
        """Let time pass until `condition()`; everybody reads meanwhile."""
        end = time.monotonic() + STARVED
        while True:
            for peer in peers:
                peer.step()
            for each in self.hostile:
                each.step(self.rules)
            if condition():  # type: ignore[operator]
                return
            assert time.monotonic() < end, f"{what}: nothing in {STARVED:g} s; inside: {self.house.problems()}"
            self.house.wait([x.line for x in (*peers, *self.hostile)], 0.02)

    # ------------------------------------------------------------------ what hostile clients do
    @rule(target=mallories, data=st.data(), deaf=st.sampled_from((False, False, False, True)))
    def attach(self, data: st.DataObject, deaf: bool) -> object:
        first = hostile.any_connect(lambda x: data.draw(st.sampled_from(x)))
        return self.enter(first, deaf)

    @rule(
        target=mallories, clean=st.booleans(), name=st.sampled_from(hostile.NAMES[:2]), qos=st.integers(0, 3),
        listen=st.sampled_from(("open/#", "open/#", "$e2e/#", "$SYS/#", "#")),
    )  # fmt: skip
    def subscriber(self, clean: bool, name: str, qos: int, listen: str) -> object:
        body = b"\0\1" + hostile.text(listen) + bytes((qos,))
        return self.enter(hostile.connect(name, clean, 0, None, "mallory", b"m") + p.frame(0x82, body), False)

    def enter(self, first: bytes, deaf: bool) -> object:
        if sum(not x.gone for x in self.hostile) >= 12:
            return multiple()
        mallory = Mallory(self.house.line(), first[10:12] == b"\0\x01", deaf)
        if mallory.deaf and isinstance(mallory.line, SocketLine):
            mallory.line.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        mallory.line.send(first)
        self.hostile.append(mallory)
        return mallory

    @rule(who=mallories, data=st.data(), times=st.sampled_from((1, 1, 3)))
    def send(self, who: Mallory, data: st.DataObject, times: int) -> None:
        for _ in range(times):
            who.line.send(hostile.packet(lambda x: data.draw(st.sampled_from(x))))

    @rule(
        who=mallories, count=st.sampled_from(("0", "1", "all")), qos=st.integers(0, 2), topic=st.sampled_from(REPORTED)
    )
    def ask_for_a_report(self, who: Mallory, count: str, qos: int, topic: str) -> None:
        who.line.send(p.frame(0x82, b"\0\2" + hostile.text("$e2e/#") + b"\0"))
        who.line.send(hostile.publish(f"$e2e/{count}/{topic}", b"x", qos, False, 77))

    @rule(who=mallories, data=st.data(), share=st.floats(0, 1))
    def half_a_packet(self, who: Mallory, data: st.DataObject, share: float) -> None:
        whole = hostile.packet(lambda x: data.draw(st.sampled_from(x)))
        who.line.send(whole[: int(len(whole) * share)])

    @rule(who=mallories, kind=st.sampled_from(hostile.LARGE), share=st.sampled_from((1e-5, 0.5, 0.99)))
    def half_a_large_packet(self, who: Mallory, kind: int, share: float) -> None:
        """The rest of it never comes: the connection is closed in time, and others are not for what it holds."""
        whole = hostile.large(kind, 290_000)
        who.line.send(whole[: int(len(whole) * share)])
        who.half = True

    @rule(count=st.integers(1, 8), kind=st.sampled_from(hostile.LARGE[:-1]))
    def many_half_packets(self, count: int, kind: int) -> None:
        """More of them than one user may have bytes of."""
        lines = [Mallory(self.house.line(), False, True) for _ in range(count)]
        for i, each in enumerate(lines):
            first = hostile.connect(f"half-{i}", True, 0, None, "mallory", b"m")
            each.line.send(first + hostile.large(kind, 290_000)[:-1])
        self.hostile += lines

    @rule(count=st.integers(1, 6), user=st.sampled_from((hostile.USERS[1], hostile.USERS[0])))
    def many_kept_sessions(self, count: int, user: tuple[str | None, bytes | None]) -> None:
        """Sessions under ids of their own, each left behind."""
        for i in range(count):
            mallory = Mallory(self.house.line(), False, True)
            mallory.line.send(hostile.connect(f"left-{user[0]}-{i}", False, 0, None, *user) + b"\xe0\0")
            self.hostile.append(mallory)

    @rule(who=mallories, answer=st.booleans())
    def acknowledge(self, who: Mallory, answer: bool) -> None:
        for each in who.waiting:
            if answer and each[0] == 0x56:
                each = p.frame(0x56, each[2:4] + b"data")
            who.line.send(each)
        who.waiting.clear()

    @rule(who=mallories, reset=st.booleans())
    def drop(self, who: Mallory, reset: bool) -> None:
        who.line.close(reset)
        who.gone = True

    @rule(target=mallories, data=st.data())
    def byte_by_byte(self, data: st.DataObject) -> object:
        """A CONNECT that is never complete; a byte of it goes out in every step."""
        mallory = self.enter(b"\x10", False)
        if isinstance(mallory, Mallory):
            mallory.slow = hostile.connect("m" * data.draw(st.sampled_from((1, 60_000))))[1:-1]
        return mallory

    @rule(kill=st.booleans())
    def restart(self, kill: bool) -> None:
        for each in self.hostile:
            each.line.close(reset=True)
            each.gone = True
        for honest in (self.ann, self.bob):
            honest.line.close()
        self.house.stop(kill)
        self.house.start()
        self.come(True)

    # ------------------------------------------------------------------ what honest clients may count on
    @invariant()
    def served(self) -> None:
        """Messages of one honest client reach the others, and nobody is sent what the rules deny."""
        if not hasattr(self, "bob"):
            return
        for each in self.hostile:
            if each.slow and not each.gone:
                each.line.send(each.slow[:1])
                each.slow = each.slow[1:]
        self.count += 1
        sent = [b"honest %d" % self.count, b"secret %d" % self.count, b"open %d" % self.count, b"dora %d" % self.count]
        before = self.bob.acknowledged
        for topic, payload in zip(("honest/x", "open/secret/x", "open/a", "honest/dora"), sent, strict=True):
            self.bob.publish(topic, payload)
        self.for_dora.append(sent[3])
        self.until(
            lambda: self.ann.got.issuperset(sent[:3]) and self.bob.acknowledged == before + 4, [self.ann, self.bob],
            "an honest client's message",
        )  # fmt: skip
        problems = self.house.problems()
        assert not problems, problems

    def teardown(self) -> None:
        if not hasattr(self, "house"):
            return
        try:
            if sys.exc_info()[0] is None:
                self.end()
        finally:
            for each in self.hostile:
                each.line.close()
            self.house.stop(kill=True)
            shutil.rmtree(self.folder, ignore_errors=True)

    def end(self) -> None:
        """Time runs out for those who are silent or slow; all go; nothing of them is left."""
        due = [x for x in self.hostile if not x.gone and (x.keep_alive or x.slow or x.half) and not x.deaf]

        def closed() -> bool:
            for each in due:
                if each.slow and not each.gone:
                    each.line.send(each.slow[:1])
                    each.slow = each.slow[1:]
            return all(x.gone for x in due)

        self.until(closed, [self.ann, self.bob], "the end of a silent or slow client")
        self.served()
        late = Peer(self.house, "late", "dora", rules=self.rules)  # there is room for one more of an honest user
        late.connect(False)
        self.until(lambda: late.ready, [self.ann, self.bob, late], "a new session")
        for each in self.hostile:
            each.line.close()
        self.dora.connect(True)
        honest = [self.ann, self.bob, self.dora, late]
        self.until(lambda: self.dora.got.issuperset(self.for_dora), honest, "what waited for dora")
        for peer in honest:
            peer.line.close()
        end = time.monotonic() + STARVED
        while any(self.house.left().values()):
            assert time.monotonic() < end, f"all have gone, but there are {self.house.left()}"
            time.sleep(0.01)
        grown = self.house.memory() - self.before
        assert grown < MEMORY, f"all have gone, but memory has grown by {grown / 2**20:.0f} MiB"


class InMemory(Hostility):
    """The same rules and the same invariant; only where the broker lives is another place."""

    house_class = MemoryHouse


class Killing(Hostility):
    """The same against a process, which `restart` may kill."""

    house_class = ProcessHouse


def rounds(machine: type[Hostility], examples: int, steps: int, share: float) -> Iterator[int]:
    """Run the machine in rounds of `examples`, each with a seed of its own, once or until the time is over."""
    end = time.monotonic() + SECONDS * share
    number = 0
    while not number or time.monotonic() < end:
        number += 1
        run_state_machine_as_test(
            seed(number)(machine),
            settings=settings(
                max_examples=examples, stateful_step_count=steps, deadline=None, database=None, phases=[Phase.generate],
                suppress_health_check=list(HealthCheck), print_blob=False,
            ),
        )  # fmt: skip
        yield number


def test_whatever_one_client_sends() -> None:
    assert list(rounds(Hostility, 12, 25, 0.6))


@pytest.mark.needs("linux")
def test_whatever_one_client_sends_and_kill_9() -> None:
    assert list(rounds(Killing, 1, 10, 0.2))


def test_whatever_one_client_sends_without_a_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a socket or a thread")

    monkeypatch.setattr(socket, "socket", refused)
    monkeypatch.setattr(threading.Thread, "start", refused)
    assert list(rounds(InMemory, 12, 25, 0.2))

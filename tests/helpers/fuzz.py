"""Mutated byte streams against a broker, guided by the lines of the broker that they reach.

    python tests/helpers/fuzz.py --streams 1000000

Streams are fed straight into connections (no sockets), so that a million fit into a night. They begin with the
alphabet of `hostile`: wills on any topic, access rules, kept sessions. The broker has a store
and is started again on it now and then. A witness that publishes and subscribes on the same broker must get every
message of its own, whatever the others send, and nobody may be sent what the rules deny. When all have gone, it is
counted what is left; nothing is tidied up before.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any, cast

import hostile

from voicewire._kit.options import seed, whole
from voicewire._kit.pace import Pace
from voicewire.mqtt import packets as p
from voicewire.mqtt.broker import Broker
from voicewire.mqtt.config import Access, Config, Limits, permissions
from voicewire.mqtt.decoder import Decoder
from voicewire.mqtt.errors import MalformedError
from voicewire.mqtt.serving.broker_process import resident
from voicewire.mqtt.serving.connection import Connection
from voicewire.mqtt.serving.resource_limits import ENTRY, SHARED
from voicewire.mqtt.sessions.hold import Hold
from voicewire.mqtt.sessions.store import Store

__all__ = ["Outcome", "run"]

SEEDS: tuple[tuple[p.Packet, ...], ...] = (
    (p.Connect("f"), p.Subscribe(1, (("a/#", 2), ("w", 1))), p.Publish("a/b", b"x", 2, packet_id=1), p.Pubrel(1)),
    (p.Connect("g", clean=False), p.Publish("a", b"x", 1, True, packet_id=3), p.Unsubscribe(2, ("a/#",)), p.Pingreq()),
    (p.Connect("h", will=p.Will("a/w", b"x", 1, True), username="u", password=b"p"), p.Publish("$e2e/1/a/b", b"", 2,
     packet_id=9), p.Puback(1), p.Pubrec(1), p.Pubcomp(1)),
    (p.Connect("i"), p.Subscribe(1, (("a/b", 3),)), p.Publish("a/b", b"y", 3, packet_id=2, waited=1,
     subscribers=("i", "f"), report=True, limit=1), p.Pubrec(1, 3, b"data"), p.Pubrel(2, 3)),
    (p.Connect("j"), p.Publish("a/b", b"z"), p.Publish("a/b", b"z"), p.Publish("c", b""), p.Disconnect()),
)  # fmt: skip
FRESH = 300
"""Streams of the hostile alphabet that the mutations begin with, beside `SEEDS`."""
RULES = (
    Access("a/#"), Access("open/#"), Access("open/secret/#", "mallory", "none"), Access("open/secret/#", "", "none"),
    Access("$SYS/#", allow="read"), Access("witness", "witness"),
)  # fmt: skip
LIMITS = Limits(
    max_packet=100_000, max_queued=50, max_queued_bytes=100_000, max_waiting_bytes=10**7, max_sessions=200,
    max_subscription_bytes=50_000, max_retained=300, max_retained_bytes=10**6, max_route_bytes=10**6, max_holds=50,
    max_partial_bytes=500_000,
)  # fmt: skip
PASSWORDS = "mallory:m\nann:a\nu:p\nwitness:w\n"
"""Whose names can be proven: each of them, and all without a name together, has a share of the limits."""
RESTART, LOOK, RENEW = 2_000, 500, 20_000
"""Streams until the broker is started again on its store; until leaks are looked for; until it gets a new store."""


@dataclass(slots=True)
class Outcome:
    """What the streams did."""

    streams: int = 0
    restarts: int = 0
    lines: int = 0
    corpus: int = 0
    errors: list[str] = field(default_factory=list)
    witness_lost: int = 0
    denied: int = 0
    connections_left: int = 0
    tasks_left: int = 0
    jobs_left: int = 0
    clean_sessions_left: int = 0
    bytes_left: int = 0
    miscounted: int = 0
    memory: int = 0
    seconds: float = 0.0

    @property
    def clean(self) -> bool:
        """Did nothing go wrong (memory apart)?"""
        return not (self.errors or self.wrong)

    @property
    def wrong(self) -> int:
        """How many messages were lost or denied, things left, and shares miscounted."""
        left = self.connections_left + self.tasks_left + self.jobs_left + self.clean_sessions_left + self.bytes_left
        return self.witness_lost + self.denied + left + self.miscounted


class _Transport:
    """Takes what a connection writes."""

    def __init__(self, take: Callable[[bytes], object]) -> None:
        self.take = take
        self.closed = False

    def write(self, data: bytes) -> None:
        self.take(data)

    def close(self) -> None:
        self.closed = True

    abort = close

    def is_closing(self) -> bool:
        return self.closed

    def get_extra_info(self, name: str) -> None:
        return None

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int, low: int) -> None:
        pass

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Change a stream: flip bits, set, insert, delete, repeat or swap bytes, cut off."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        if not out:
            return b"\x10"
        i = rng.randrange(len(out))
        j = min(len(out), i + rng.choice((1, 2, 4, 12)))
        match rng.randrange(7):
            case 0:
                out[i] ^= 1 << rng.randrange(8)
            case 1:
                out[i] = rng.choice((0, 1, 2, 0x7F, 0x80, 0xFF, rng.randrange(256)))
            case 2:
                out[i:i] = bytes(rng.randrange(256) for _ in range(rng.choice((1, 2, 5))))
            case 3:
                del out[i:j]
            case 4:
                out[i:i] = out[i:j]
            case 5:
                out[i], out[j - 1] = out[j - 1], out[i]
            case 6:
                del out[rng.randrange(len(out)) :]
    return bytes(out)


class _Coverage:
    """Which lines of the package have been run; a stream that reaches a new one is kept for further mutation."""

    def __init__(self) -> None:
        self.seen: set[tuple[CodeType, int]] = set()

    def trace(self, frame: Any, event: str, argument: object) -> Any:
        if "/voicewire/mqtt/" not in frame.f_code.co_filename.replace("\\", "/"):
            return None
        if event == "line":
            self.seen.add((frame.f_code, frame.f_lineno))
        return self.trace


class _Errors(logging.Handler):
    """Notes what the broker logs about exceptions: each is a fault, though it ended one connection only."""

    def __init__(self, into: list[str]) -> None:
        super().__init__(logging.ERROR)
        self.into = into

    def emit(self, record: logging.LogRecord) -> None:
        self.into.append(record.getMessage()[:500])


class _Run:
    """One run: a broker after the other on one store, the witness, and what is counted."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng = random.Random(seed)
        self.folder = folder
        self.out = Outcome()
        self.coverage = _Coverage()
        self.corpus = [b"".join(map(p.encode, packets)) for packets in SEEDS]
        for _ in range(FRESH):
            stream = hostile.any_connect(self.rng.choice)
            self.corpus.append(stream + b"".join(hostile.packet(self.rng.choice) for _ in range(self.rng.randrange(6))))
        self.heard = 0
        self.stores = 0
        self.broker: Broker
        self.witness: Connection

    async def start(self) -> None:
        path = self.folder / f"store-{self.stores}"
        users = self.folder / "users"
        users.write_text(PASSWORDS)
        self.broker = Broker(
            Config(
                port=0, sys_interval=0, limits=LIMITS, access=RULES, persist=path, password_file=users,
                allow_anonymous=True,
            )
        )  # fmt: skip
        await self.broker.start()
        assert isinstance(self.broker.store, Store)
        self.broker.store.execute("pragma synchronous=off")  # it is not the disk that is tried here
        self.arrive()

    def arrive(self) -> None:
        """Let the witness connect."""
        decoder = Decoder()

        def take(data: bytes) -> None:
            self.heard += sum(isinstance(x, p.Publish) and x.topic == "witness" for x in decoder.feed(data))

        self.witness = _attach(self.broker, take)
        hello = p.Connect("witness-id", username="witness", password=b"w")
        self.witness.data_received(p.encode(hello) + p.encode(p.Subscribe(1, (("witness", 0),))))

    def feed(self, stream: bytes, watched: bool) -> None:
        """Let one client send a stream, in two pieces, and go."""
        decoder = Decoder()
        connection = _attach(self.broker, lambda data: self.check(decoder, connection, data))
        known = len(self.coverage.seen)
        before = sys.gettrace()  # of somebody who measures this process
        try:
            if watched:
                sys.settrace(self.coverage.trace)
            cut = self.rng.randrange(len(stream) + 1)
            for chunk in filter(None, (stream[:cut], stream[cut:])):
                connection.data_received(chunk)
            connection.connection_lost(None)
        except Exception as error:
            self.out.errors.append(f"{type(error).__name__}: {error} from {stream[:2000].hex()}")
        finally:
            sys.settrace(before)
        if len(self.coverage.seen) > known and len(self.corpus) < 5000:
            self.corpus.append(stream)

    def check(self, decoder: Decoder, connection: Connection, data: bytes) -> None:
        """Ask the rules anew about all that a client is sent."""
        try:
            packets = decoder.feed(data)
        except MalformedError as error:
            self.out.errors.append(f"the broker sent what is malformed: {error}")
            return
        session = connection.session
        for packet in packets:
            if isinstance(packet, p.Publish) and session is not None and not packet.topic.startswith("$e2e/report/"):
                rights = permissions(RULES, session.username, session.client_id)
                self.out.denied += not rights.may_read(packet.topic)

    async def ask(self) -> None:
        """Let the witness send itself a message."""
        if self.witness.session is None or self.witness.closing:  # its id was taken over by a lucky mutation
            self.arrive()
        before = self.heard
        self.witness.data_received(p.encode(p.Publish("witness", b"x")))
        self.broker.outbox.flush()
        if self.heard == before:  # the store comes first
            await asyncio.sleep(0)
        self.out.witness_lost += self.heard != before + 1

    async def look(self) -> None:
        """Count what those that have gone have left."""
        broker = self.broker
        for _ in range(10_000):
            await asyncio.sleep(0)
            if not (len(broker.work) or broker.outbox.dirty or broker.outbox.long):
                break
        self.out.jobs_left += len(broker.work)
        self.out.connections_left += len(broker.connections - {self.witness})
        self.out.tasks_left += len(asyncio.all_tasks()) - 1 - len(broker._tasks)
        self.out.clean_sessions_left += sum(s.clean for s in broker.sessions.values() if s is not self.witness.session)
        shares = broker.router.shares
        self.out.bytes_left += shares.partial.bytes - self.witness.held
        kept = Counter(s.owner for s in broker.sessions.values() if not s.clean)
        entries = [m for s in broker.sessions.values() for m, _, _ in (*s.inflight.values(), *(s.queue or ()))]
        long = {id(m): m.size - ENTRY for m in entries if m.size >= SHARED}  # once, however many are to get it
        held = sum(long.values()) + sum(ENTRY if m.size >= SHARED else m.size for m in entries)
        held += ENTRY * sum(len(s.received) for s in broker.sessions.values())
        waiting = [h for s in broker.sessions.values() for h in (*s.received.values(), *(s.held or {}).values())]
        held += sum(hold.counted for hold in waiting if isinstance(hold, Hold))  # those that are settled, too
        held += shares.unread
        all_retained = broker.router.retained.messages.items()
        retained = Counter(owner for name, (_, _, owner) in all_retained if not name.startswith("$SYS"))
        right = kept == shares.kept and retained == shares.retained
        right = right and held == shares.held and shares.unread >= sum(c.unread for c in broker.connections)
        self.out.miscounted += not right or max(kept.values(), default=0) > shares.max_kept

    async def stop(self) -> None:
        self.witness.connection_lost(None)
        await self.look()
        await self.broker.stop()
        await asyncio.sleep(0)


async def _run(streams: int, seed: int, tell: Callable[[str], object] | None, folder: Path) -> Outcome:
    run = _Run(seed, folder)
    out, began = run.out, time.monotonic()
    handler = _Errors(out.errors)
    log = logging.getLogger("voicewire.broker")
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.ERROR)
    log.propagate = False
    memory = 0
    try:
        await run.start()
        pace = Pace("fuzzing", streams, tell) if tell is not None else None
        for i in range(streams):
            run.feed(mutate(run.rng.choice(run.corpus), run.rng), i < 2000 or i % 20 == 0)
            await run.ask()
            out.streams += 1
            if pace is not None:
                pace.done()
            if i % LOOK == LOOK - 1:
                await run.look()
            if i % RESTART == RESTART - 1:
                await run.stop()
                out.restarts += 1
                if i % RENEW == RENEW - 1:
                    run.stores += 1
                    gc.collect()
                    memory = memory or resident()
                await run.start()
            if tell is not None and i % 50_000 == 49_999:
                grown = (resident() - memory) / 2**20 if memory else 0.0
                words = f"{i + 1} streams, {len(run.coverage.seen)} lines, {len(run.corpus)} in the corpus"
                words += f", {len(out.errors)} errors, {out.wrong} wrong or left"
                tell(f"{words}, {grown:+.1f} MiB, {time.monotonic() - began:.0f} s")
        await run.stop()
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        log.propagate = True
    gc.collect()
    out.memory = resident() - memory if memory else 0
    out.lines, out.corpus, out.seconds = len(run.coverage.seen), len(run.corpus), time.monotonic() - began
    return out


def _attach(broker: Broker, take: Callable[[bytes], object]) -> Connection:
    connection = Connection(broker)
    connection.connection_made(cast(asyncio.BaseTransport, _Transport(take)))
    return connection


def run(streams: int, seed: int = 1, tell: Callable[[str], object] | None = None) -> Outcome:
    """Feed mutated streams to a fresh broker and say what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_run(streams, seed, tell, Path(folder)))


def main() -> int:
    """Run from the shell; exit status 1 after any crash, loss, leak or forbidden message."""
    parser = argparse.ArgumentParser(description="Feed mutated byte streams to the broker.")
    parser.add_argument("--streams", type=whole(1, 10**12), default=1_000_000)
    parser.add_argument("--seed", type=seed, default=1)
    options = parser.parse_args()
    try:
        outcome = run(options.streams, options.seed, lambda line: print(line, flush=True))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    print(outcome)
    return 0 if outcome.clean and outcome.memory < MEMORY else 1


MEMORY = 64 * 2**20
"""Bytes by which a long run may grow: the corpus, and what the allocator keeps."""


if __name__ == "__main__":
    raise SystemExit(main())

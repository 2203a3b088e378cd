"""Mutated byte streams against a broker, guided by the lines of the broker that they reach.

    python -m voicewire.mqtt.fuzz --streams 1000000

Streams are fed straight into connections (no sockets), so that a million fit into a night. A witness that
publishes and subscribes on the same broker must get every message of its own, whatever the others send.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, cast

from voicewire.mqtt import packets as p
from voicewire.mqtt.broker import Broker
from voicewire.mqtt.config import Config, Limits
from voicewire.mqtt.connection import Connection
from voicewire.mqtt.decode import Decoder

SEEDS: tuple[tuple[p.Packet, ...], ...] = (
    (p.Connect("f"), p.Subscribe(1, (("a/#", 2), ("w", 1))), p.Publish("a/b", b"x", 2, packet_id=1), p.Pubrel(1)),
    (p.Connect("g", clean=False), p.Publish("a", b"x", 1, True, packet_id=3), p.Unsubscribe(2, ("a/#",)), p.Pingreq()),
    (p.Connect("h", will=p.Will("a/w", b"x", 1, True), username="u", password=b"p"), p.Publish("$e2e/1/a/b", b"", 2,
     packet_id=9), p.Puback(1), p.Pubrec(1), p.Pubcomp(1)),
    (p.Connect("i"), p.Subscribe(1, (("a/b", 3),)), p.Publish("a/b", b"y", 3, packet_id=2, waited=1,
     subscribers=("i", "f"), report=True, limit=1), p.Pubrec(1, 3, b"data"), p.Pubrel(2, 3)),
    (p.Connect("j"), p.Publish("a/b", b"z"), p.Publish("a/b", b"z"), p.Publish("c", b""), p.Disconnect()),
)  # fmt: skip


@dataclass(slots=True)
class Outcome:
    """What the streams did."""

    streams: int = 0
    lines: int = 0
    corpus: int = 0
    errors: list[str] = field(default_factory=list)
    witness_lost: int = 0
    sessions_left: int = 0
    subscriptions_left: int = 0


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


async def _run(streams: int, seed: int, tell: Callable[[str], object] | None) -> Outcome:
    rng = random.Random(seed)
    out, coverage = Outcome(), _Coverage()
    corpus = [b"".join(map(p.encode, packets)) for packets in SEEDS]
    logging.getLogger("voicewire.broker").setLevel(logging.CRITICAL)
    limits = Limits(max_packet=100_000, max_queued=100, max_retained=1000, connect_timeout=0)
    async with Broker(Config(port=0, sys_interval=0, limits=limits)) as broker:
        decoder, got = Decoder(), 0

        def heard(data: bytes) -> None:
            nonlocal got
            got += sum(isinstance(x, p.Publish) and x.topic == "witness" for x in decoder.feed(data))

        witness = _attach(broker, heard)
        witness.data_received(p.encode(p.Connect("witness-id")) + p.encode(p.Subscribe(1, (("witness", 0),))))
        for i in range(streams):
            stream = mutate(rng.choice(corpus), rng)
            connection = _attach(broker, lambda data: None)
            known = len(coverage.seen)
            watched = i < 2000 or i % 20 == 0
            try:
                if watched:
                    sys.settrace(coverage.trace)
                cut = rng.randrange(len(stream) + 1)
                for chunk in filter(None, (stream[:cut], stream[cut:])):
                    connection.data_received(chunk)
                connection.connection_lost(None)
            except Exception as error:
                out.errors.append(f"{type(error).__name__}: {error} from {stream.hex()}")
            finally:
                sys.settrace(None)
            if len(coverage.seen) > known and len(corpus) < 5000:
                corpus.append(stream)
            if witness.session is None or witness.closing:  # its id was taken over by a lucky mutation
                witness = _attach(broker, heard)
                witness.data_received(p.encode(p.Connect("witness-id")) + p.encode(p.Subscribe(1, (("witness", 0),))))
            before = got
            witness.data_received(p.encode(p.Publish("witness", b"x")))
            broker.flush()
            out.witness_lost += got != before + 1
            out.streams += 1
            if i % 500 == 499:
                await asyncio.sleep(0)
                for session in [s for s in broker.sessions.values() if s.connection is None]:
                    broker._end(session)
                broker.retained.clear()
            if tell is not None and i % 50_000 == 49_999:
                tell(f"{i + 1} streams, {len(coverage.seen)} lines, {len(corpus)} in the corpus")
        witness.connection_lost(None)
        for session in [s for s in broker.sessions.values() if s.connection is None]:
            broker._end(session)
        out.sessions_left, out.subscriptions_left = len(broker.sessions), broker.tree.count
        broker.connections.clear()
    out.lines, out.corpus = len(coverage.seen), len(corpus)
    return out


def _attach(broker: Broker, take: Callable[[bytes], object]) -> Connection:
    connection = Connection(broker)
    connection.connection_made(cast(asyncio.BaseTransport, _Transport(take)))
    return connection


def run(streams: int, seed: int = 1, tell: Callable[[str], object] | None = None) -> Outcome:
    """Feed `streams` mutated streams to a fresh broker and say what came of it."""
    return asyncio.run(_run(streams, seed, tell))


def main() -> int:
    """Run from the shell; exit status 1 after any crash, loss or leak."""
    parser = argparse.ArgumentParser(description="Feed mutated byte streams to the broker.")
    parser.add_argument("--streams", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    outcome = run(options.streams, options.seed, lambda line: print(line, flush=True))
    print(outcome)
    left = outcome.sessions_left or outcome.subscriptions_left
    return 1 if outcome.errors or outcome.witness_lost or left else 0


if __name__ == "__main__":
    raise SystemExit(main())

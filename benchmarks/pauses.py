"""How long one client can keep the broker from all others: the longest turn of its loop.

What is timed is the processor time of one callback of the broker's event loop, so that neither another process nor
the asking client in this one adds to it. While a callback runs, nobody else is served.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

import harness

from voicewire.mqtt import BrokerThread, Config, Limits
from voicewire.mqtt import packets as p
from voicewire.mqtt.raw_socket_client import Wire, connect, subscribed

BAR = 0.050
"""Seconds that no client may hold the loop."""


@contextmanager
def longest_turn(broker: BrokerThread) -> Iterator[list[float]]:
    """Keep the longest turn of the broker's loop, in seconds of processor time, in the list that is given out."""
    longest = [0.0]
    run = asyncio.events.Handle._run

    def timed(handle: asyncio.events.Handle) -> None:
        start = time.thread_time()
        run(handle)
        if handle._loop is broker._loop:  # type: ignore[attr-defined]
            longest[0] = max(longest[0], time.thread_time() - start)

    asyncio.events.Handle._run = timed  # type: ignore[method-assign]
    try:
        yield longest
    finally:
        asyncio.events.Handle._run = run  # type: ignore[method-assign]


def _drain(wire: Wire) -> None:
    """Read until the answer to a ping comes, or the broker closes."""
    wire.send(p.Pingreq())
    while (packet := wire.receive(600)) is not None and not isinstance(packet, p.Pingresp):
        if isinstance(packet, p.Publish) and packet.qos == 1:
            wire.send(p.Puback(packet.packet_id))


def many_filters(port: int) -> None:
    """Subscribe with 20,000 filters in one packet while 1,000 messages are retained."""
    with connect(port) as wire:
        wire.send(*(p.Publish(f"r/{i}/x", b"x", retain=True) for i in range(1000)))
        _drain(wire)
        wire.send(p.Subscribe(1, tuple((f"r/{i}/+", 1) for i in range(20_000))))
        _drain(wire)


def overlapping_filters(port: int) -> None:
    """Publish where 4,096 filters of one client match."""
    with connect(port) as wire:
        names = ["/".join(levels) for levels in itertools.product("+a", repeat=12)]
        wire.send(p.Subscribe(1, tuple((name, 1) for name in names)))
        _drain(wire)
        wire.send(*(p.Publish("/".join("a" * 12), b"x", 1, packet_id=i) for i in range(1, 101)))
        _drain(wire)


def many_ids(port: int) -> None:
    """Name 70,000 subscribers in one message."""
    with subscribed(port, "$e2e/hello", qos=3) as wire:
        ids = b"".join(b"\x85%05d" % i for i in range(69_999)) + b"\x0569999"
        wire.send(p.frame(0x36, p.text("t") + b"\0\1\xc0\1\0\0" + ids))
        with suppress(ConnectionError):  # refused, as it should be
            _drain(wire)


def many_pings(port: int) -> None:
    """Send 100,000 requests at once."""
    with connect(port) as wire:
        wire.send(b"\xc0\x00" * 100_000)
        for _ in range(100_000):
            wire.receive()


def many_limits(port: int) -> None:
    """Let 1,000 messages that wait for subscribers run out of time at once."""
    with subscribed(port, "h", qos=2) as deaf, subscribed(port, "$e2e/hello", qos=3) as wire:
        wire.send(*(p.Publish("h", b"", 3, packet_id=i, waited=2, report=True, limit=50) for i in range(1, 1001)))
        answers = 0
        while answers < 1000:
            answers += isinstance(wire.receive(), p.Pubrec)
        assert deaf is not None


CASES: dict[str, Callable[[int], None]] = {
    "20,000 filters in one SUBSCRIBE, 1,000 retained messages": many_filters,
    "4,096 overlapping filters": overlapping_filters,
    "70,000 ids named in one message": many_ids,
    "100,000 requests at once": many_pings,
    "1,000 time limits at once": many_limits,
}


def benchmarks(run: harness.Run) -> None:
    """Measure the longest turn in each case, its clients' leaving included."""
    limits = Limits(max_subscriptions=20_000)
    for name, ask in CASES.items():
        with ExitStack() as stack:
            broker = stack.enter_context(BrokerThread(Config(port=0, sys_interval=0, limits=limits)))
            gc.collect()
            gc.freeze()  # as the command does: what is there before the first client is never garbage
            stack.callback(gc.unfreeze)
            longest = stack.enter_context(longest_turn(broker))
            ask(broker.port)
            while broker.statistics()["clients/connected"]:
                time.sleep(0.01)
            run.record(f"longest turn: {name}", longest[0], "s", at_most=BAR)


if __name__ == "__main__":
    raise SystemExit(harness.main(benchmarks, __doc__, packages=["uvloop"]))

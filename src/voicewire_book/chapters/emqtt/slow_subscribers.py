"""Beyond the paper: subscribers that are slow, and links that lose. What does it cost to wait for all, or for half?"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from voicewire.mqtt.serving import broker_process
from voicewire.testbed.capability import capabilities
from voicewire.testbed.hosts import Host
from voicewire.testbed.link import Link, LinkSpec
from voicewire_book.chapters.emqtt.many_subscribers import Population

__all__ = [
    "PAUSE",
    "SUBSCRIBERS",
    "weak",
]

SUBSCRIBERS = 20
PAUSE = 0.2
"""Seconds after which a slow subscriber answers."""
LOSSY = LinkSpec(delay=0.001, loss=0.02)
"""Round trip of 2 ms, 2 % of the packets lost in each direction."""
READINGS = ("mqtt-2", "first", "half", "all")


def weak(tests: int, seed: int, tell: Callable[[str], object] = print) -> list[dict[str, Any]]:
    """Run the readings against weak subscribers, trials interleaved in random order.

    The lossy link needs network namespaces; without the privilege its rows are left out, and `tell` says so.
    """
    rng = random.Random(seed)
    rows: list[dict[str, Any]] = []
    cases: dict[str, Callable[[ExitStack], Population]] = {
        "quick": lambda stack: _on_loopback(stack, 0),
        "one slow": lambda stack: _on_loopback(stack, 1),
        "five slow": lambda stack: _on_loopback(stack, 5),
        "lossy link": lambda stack: _behind_a_lossy_link(stack, seed),
    }
    if not capabilities().namespaces:
        del cases["lossy link"]
        tell("no network namespaces here: nothing is recorded for the lossy link")
    for case, start in cases.items():
        with ExitStack() as stack:
            people = stack.enter_context(start(stack))
            for reading in READINGS:
                people.trial(reading)
            for test in range(tests):
                for reading in rng.sample(READINGS, len(READINGS)):
                    trial = people.trial(reading)
                    rows.append(
                        {
                            "case": case, "reading": reading, "subscribers": SUBSCRIBERS, "test": test,
                            "end_to_end_ms": round(trial.end_to_end * 1e3, 4),
                        }
                    )  # fmt: skip
        tell(f"{SUBSCRIBERS} subscribers, {case}: {tests} tests")
    return rows


def _on_loopback(stack: ExitStack, slow: int) -> Population:
    broker = stack.enter_context(broker_process.ours())
    return Population(broker.port, SUBSCRIBERS, slow=slow, pause=PAUSE)


def _behind_a_lossy_link(stack: ExitStack, seed: int) -> Population:
    clients, server = (stack.enter_context(Host(role)) for role in ("clients", "broker"))
    link = stack.enter_context(Link(clients, server, LOSSY, seed=seed))
    with server.inside():
        broker = stack.enter_context(broker_process.ours("--host", "0.0.0.0"))
    with clients.inside():
        return Population(broker.port, SUBSCRIBERS, host=link.address_b)

"""A publisher behind a link of its own, as the paper's is on Wi-Fi: its delays there, on one test bed or two.

What its bytes take is `reference.link_delay`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import Any

from voicewire._kit import checks
from voicewire.mqtt.load_generator import attach
from voicewire.mqtt.serving import broker_process
from voicewire.testbed.capability import capabilities
from voicewire.testbed.hosts import Host
from voicewire.testbed.link import Link, LinkSpec
from voicewire.testbed.tcp_proxy import DelayProxy
from voicewire_book.chapters.emqtt.experiments import LINK_DELAY, LINK_RATES
from voicewire_book.chapters.emqtt.many_subscribers import RESPONSES, Population

__all__ = ["READINGS", "SUBSCRIBERS", "beds", "series"]

SUBSCRIBERS = (10, 40, 80)
READINGS = ("mqtt-2", "first", "all")


@contextmanager
def _relay(rate: float, n: int) -> Iterator[Population]:
    """The publisher reaches the broker through a relay on loopback; nothing needs a privilege."""
    with (
        broker_process.ours("--no-favours") as broker,
        DelayProxy(("127.0.0.1", broker.port), LINK_DELAY, rate) as proxy,
        attach(proxy.address[1], "publisher", RESPONSES, qos=2) as publisher,
        Population(broker.port, n, publisher=publisher) as people,
    ):
        yield people


@contextmanager
def _namespaces(rate: float, n: int, engine: str) -> Iterator[Population]:
    """The publisher is a host of its own, behind an emulated link; its headers take their time there, too."""
    with (
        Host("publisher") as away,
        Host("broker") as here,
        Link(away, here, LinkSpec(delay=LINK_DELAY, rate=rate), engine=engine) as link,
        ExitStack() as stack,
    ):
        with here.inside():
            broker = stack.enter_context(broker_process.ours("--no-favours", "--host", "0.0.0.0"))
        with away.inside():
            publisher = attach(broker.port, "publisher", RESPONSES, qos=2, host=link.address_b)
        with here.inside():
            people = Population(broker.port, n, host=link.address_b, publisher=publisher)
        yield stack.enter_context(people)


def beds() -> dict[str, Callable[[float, int], AbstractContextManager[Population]]]:
    """Return the test beds that can be had here: ``relay`` always, ``netem`` or ``tun`` where namespaces may be made.
    """
    found = capabilities()
    made: dict[str, Callable[[float, int], AbstractContextManager[Population]]] = {"relay": _relay}
    if found.namespaces and (found.netem or found.tun):
        engine = "netem" if found.netem else "tun"
        made[engine] = partial(_namespaces, engine=engine)
    return made


@checks.takes(tests=checks.whole(1, 10_000))
def series(
    tests: int,
    seed: int,
    rates: Iterable[str] = tuple(LINK_RATES),
    sizes: Iterable[int] = SUBSCRIBERS,
    tell: Callable[[str], object] = print,
) -> list[dict[str, Any]]:
    """Measure each reading behind each link, trials of all readings interleaved in random order."""
    rng, rows, sizes = random.Random(seed), [], list(sizes)
    there = beds()
    if len(there) == 1:
        tell("no network namespaces here: behind the relay only")
    for rate in rates:
        for bed, start in there.items():
            for n in sizes:
                with start(LINK_RATES[rate], n) as people:
                    for reading in READINGS:  # nobody meets cold caches in the first test
                        _measured(people, reading)
                    for test in range(tests):
                        rows += [
                            {"bed": bed, "rate": rate, "reading": reading, "subscribers": n, "test": test}
                            | _measured(people, reading)
                            for reading in rng.sample(READINGS, len(READINGS))
                        ]
            tell(f"{rate}, {bed}: {tests} tests of {len(READINGS)} readings, {', '.join(map(str, sizes))} subscribers")
    return rows


def _measured(people: Population, reading: str) -> dict[str, float]:
    people.settle()  # else a query would stand behind the last trial's packets
    trial = people.trial(reading)
    return {
        "end_to_end_ms": round(trial.end_to_end * 1e3, 4),
        "completion_ms": round(trial.completion * 1e3, 4),
        "received": trial.received,
        "sent": trial.sent,
        "received_bytes": trial.received_bytes,
        "sent_bytes": trial.sent_bytes,
        "publisher_cpu_ms": round(trial.cpu * 1e3, 4),
    }

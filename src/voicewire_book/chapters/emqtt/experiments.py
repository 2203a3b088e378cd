"""What the reproduction runs: packets counted live, and what the recorded trials say: averages, ratios, orders."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from voicewire.emqtt import counting, paper
from voicewire.mqtt.config import Config
from voicewire.mqtt.serving.broker_thread import BrokerThread
from voicewire.stats import Interval, t_interval
from voicewire_book import paths
from voicewire_book.chapters.emqtt.many_subscribers import Population, Trial
from voicewire_book.ledger.vocabulary import Plain

__all__ = [
    "LINK_DELAY", "LINK_RATES", "LIVE", "PROTOCOL", "READING", "WI_FI", "behind_link", "by_size", "from_gauge", "live",
    "load", "medians", "ratio", "run", "samples", "typical",
]  # fmt: skip

LIVE = (1, 10, 40)
"""Numbers of subscribers that are counted live."""

READING = {paper.MQTT: "mqtt-2", paper.ASYNCHRONOUS: "first", paper.SYNCHRONOUS: "all"}
"""How the paper's three methods are called in the recorded tables."""

LINK_RATES = {"250 kbit/s": 250e3, "1 Mbit/s": 1e6, "6 Mbit/s": 6e6, "54 Mbit/s": 54e6}
"""Rates of the publisher's own link, bit/s: IEEE 802.15.4, Bluetooth LE, and 802.11g at its lowest and highest.

The paper gives none.
"""
LINK_DELAY = 0.001
"""Propagation on that link each way, s; the paper gives none."""
WI_FI = ("54 Mbit/s", "6 Mbit/s")
"""Those of them that a computer on Wi-Fi may have, as the paper's publisher was."""

PROTOCOL = "no favours"
"""Our broker without what it does for a publisher that waits: the arm on which the protocol is judged."""


def load(name: str) -> pd.DataFrame:
    """Read a table of the recorded experiments."""
    return pd.read_csv(paths.data("emqtt") / f"{name}.csv")


def samples(
    table: pd.DataFrame, reading: str, column: str = "end_to_end_ms", broker: str = "voicewire"
) -> NDArray[np.float64]:
    """Return one number a test: the geometric mean over the numbers of subscribers.

    A single trial that the operating system has interrupted weighs little in a geometric mean, and each size
    counts alike.
    """
    mine = table[table["reading"] == reading]
    if "broker" in mine:
        mine = mine[mine["broker"] == broker]
    wide = mine.pivot(index="test", columns="subscribers", values=column)
    return np.exp(np.log(wide.to_numpy(dtype=float)).mean(axis=1))


def ratio(
    table: pd.DataFrame, above: tuple[str, str], below: tuple[str, str], column: str = "end_to_end_ms"
) -> NDArray[np.float64]:
    """Return one ratio a test between two (broker, reading) pairs whose trials were interleaved."""
    return samples(table, above[1], column, above[0]) / samples(table, below[1], column, below[0])


def behind_link(rate: str, column: str = "end_to_end_ms", bed: str = "tun") -> dict[str, NDArray[np.float64]]:
    """Return one number a test for each of the paper's methods, for a publisher behind a link of its own."""
    table = load("link")
    mine = table[(table["bed"] == bed) & (table["rate"] == rate)]
    return {method: samples(mine, reading, column) for method, reading in READING.items()}


def medians(table: pd.DataFrame, column: str = "end_to_end_ms") -> pd.DataFrame:
    """Return median and quartiles by broker, reading and number of subscribers."""
    keys = [k for k in ("broker", "reading", "subscribers") if k in table]
    quantiles = table.groupby(keys)[column].quantile(np.array([0.25, 0.5, 0.75])).unstack()
    return quantiles.set_axis(["q1", "median", "q3"], axis=1).reset_index()


def by_size(
    table: pd.DataFrame, above: str, below: str, column: str = "end_to_end_ms", broker: str = PROTOCOL
) -> dict[int, NDArray[np.float64]]:
    """Return one ratio a test between two readings at each number of subscribers."""
    mine = table[table["broker"] == broker]
    high, low = (
        mine[mine["reading"] == r].pivot(index="test", columns="subscribers", values=column) for r in (above, below)
    )
    return {int(n): high[n].to_numpy() / low[n].to_numpy() for n in sorted(set(table["subscribers"]))}


def typical(ratios: NDArray[np.float64]) -> Interval:
    """Return the geometric mean of ratios with its 95 % interval."""
    found = t_interval(np.log(ratios))
    middle, low, high = (math.exp(end) for end in (found.estimate, found.low, found.high))
    return Interval(middle, low, high, found.confidence, found.n)


def from_gauge(less: float, more: float, step: float = 1.0) -> Interval:
    """Return how much more of a battery was used, if both uses were read at its start and end in whole steps.

    Each of the four levels may be up to a step beside the reading, all one way, so each use is within a step.
    """
    gap = more - less
    return Interval(float(gap), gap - 2.0 * step, gap + 2.0 * step, 0.999, 2)


def live(port: int, subscribers: Sequence[int] = LIVE) -> dict[int, dict[str, Trial]]:
    """Send one confirmed query in every reading to so many subscribers, on real sockets, and count the packets."""
    found = {}
    for n in subscribers:
        with Population(port, n) as people:
            found[n] = {reading: people.trial(reading) for reading in counting.READINGS}
    return found


def run(quick: bool = False) -> dict[str, Plain]:
    """Compute the study's main results: packets and bytes counted live, delays from the recorded trials.

    It takes a second; it needs Linux, for the live count opens raw sockets on 127.0.0.1. Measuring the delays anew
    takes an hour: that is ``voicewire record emqtt``.
    """
    numbers = [n for n in LIVE if n <= 10] if quick else list(LIVE)
    with BrokerThread(Config(port=0)) as broker:
        seen = live(broker.port, numbers)
    mqtt, first, every = (READING[method] for method in (paper.MQTT, paper.ASYNCHRONOUS, paper.SYNCHRONOUS))
    found: dict[str, Plain] = {
        "emqtt.messages.18-vs-9": {
            "MQTT": counting.with_subscriptions(mqtt, 1, True),
            "E-MQTT": counting.with_subscriptions(every, 1, True),
        },
        "emqtt.messages.formula-mqtt": max(abs(seen[n][mqtt].messages - counting.messages(mqtt, n)) for n in numbers),
        "emqtt.table-3.mqtt": counting.publish_size(2),
    }
    found |= {f"emqtt.table-3.ids-{ids}": counting.publish_size(3, ids) for ids in paper.EMQTT_BYTES}
    delays = load("delays")
    ours = (PROTOCOL, mqtt)

    def against_mqtt(reading: str) -> float:
        return float(ratio(delays, (PROTOCOL, reading), ours).mean())

    links = {f"behind {rate}": behind_link(rate) for rate in WI_FI}
    here = {name: samples(delays, each, broker=PROTOCOL) for name, each in READING.items()}
    found["emqtt.order-e2e"] = {
        where: {name: float(times.mean()) for name, times in one.items()}
        for where, one in ({"without a link": here} | links).items()
    }
    fast = f"behind {WI_FI[0]}"
    sooner = links[fast][paper.MQTT] + 2e3 * LINK_DELAY  # its SUBSCRIBE and the SUBACK take a round trip
    earlier = float((links[fast][paper.ASYNCHRONOUS] / sooner).mean())
    for mode, name, reading in (("async", paper.ASYNCHRONOUS, first), ("sync", paper.SYNCHRONOUS, every)):
        found[f"emqtt.e2e.{mode}-ratio"] = {
            "without a link": against_mqtt(reading),
            **({"one of n, without a link": against_mqtt("one")} if mode == "sync" else {}),
            **{where: float((one[name] / one[paper.MQTT]).mean()) for where, one in links.items()},
            **({f"{fast}, from SUBSCRIBE": earlier} if mode == "async" else {}),
        }
    return found

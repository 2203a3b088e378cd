"""What the reproduction runs: packets counted live, and what the recorded trials say: averages, ratios, orders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from voicewire import paths
from voicewire.emqtt import counting, paper
from voicewire.emqtt.population import Population, Trial
from voicewire.ledger.vocabulary import Plain
from voicewire.mqtt import BrokerThread, Config

__all__ = ["LIVE", "PROTOCOL", "READING", "live", "load", "medians", "ratio", "run", "samples", "slower_everywhere"]

LIVE = (1, 10, 40)
"""Numbers of subscribers that are counted live."""

READING = {paper.MQTT: "mqtt-2", paper.ASYNCHRONOUS: "first", paper.SYNCHRONOUS: "all"}
"""How the paper's three methods are called in the recorded tables."""

PROTOCOL = "no favours"
"""Our broker without what it does for a publisher that waits: the arm on which the protocol is judged."""


def load(name: str) -> pd.DataFrame:
    """Read a table of the recorded experiments.

    Parameters
    ----------
    name : str
        ``delays``, ``broker_subscriber``, ``large`` or ``weak``.

    Returns
    -------
    pandas.DataFrame
        One row a trial.

    Notes
    -----
    Chapter ``notebooks/emqtt/03_reproduction``.

    Examples
    --------
    >>> sorted(load("delays")["reading"].unique())
    ['all', 'first', 'half', 'mqtt-0', 'mqtt-2', 'one', 'unmodified']
    """
    return pd.read_csv(paths.data("emqtt") / f"{name}.csv")


def samples(
    table: pd.DataFrame, reading: str, column: str = "end_to_end_ms", broker: str = "voicewire"
) -> NDArray[np.float64]:
    """Return one number a test: the geometric mean over the numbers of subscribers.

    A single trial that the operating system has interrupted weighs little in a geometric mean, and each size
    counts alike.

    Parameters
    ----------
    table : pandas.DataFrame
        As `load` gives it.
    reading : str
        One of `counting.READINGS`.
    column : str
        What is compared.
    broker : str
        ``voicewire``, ``no favours`` or ``mosquitto``.

    Returns
    -------
    ndarray, shape (tests,)
        In the unit of `column`.

    Notes
    -----
    Chapter ``notebooks/emqtt/03_reproduction``.

    Examples
    --------
    >>> samples(load("delays"), "all").shape
    (60,)
    """
    mine = table[table["reading"] == reading]
    if "broker" in mine:
        mine = mine[mine["broker"] == broker]
    wide = mine.pivot(index="test", columns="subscribers", values=column)
    return np.exp(np.log(wide.to_numpy(dtype=float)).mean(axis=1))


def ratio(
    table: pd.DataFrame, above: tuple[str, str], below: tuple[str, str], column: str = "end_to_end_ms"
) -> NDArray[np.float64]:
    """Return one ratio a test between two (broker, reading) pairs whose trials were interleaved.

    Parameters
    ----------
    table : pandas.DataFrame
        As `load` gives it.
    above, below : (str, str)
        Broker and reading of each side.
    column : str
        What is compared.

    Returns
    -------
    ndarray, shape (tests,)
        Each from the geometric means over the numbers of subscribers.

    Notes
    -----
    Chapter ``notebooks/emqtt/03_reproduction``.

    Examples
    --------
    >>> bool(np.median(ratio(load("delays"), ("voicewire", "all"), ("voicewire", "mqtt-2"))) < 1)
    True
    """
    return samples(table, above[1], column, above[0]) / samples(table, below[1], column, below[0])


def medians(table: pd.DataFrame, column: str = "end_to_end_ms") -> pd.DataFrame:
    """Return median and quartiles by broker, reading and number of subscribers.

    Parameters
    ----------
    table : pandas.DataFrame
        As `load` gives it.
    column : str
        What is compared.

    Returns
    -------
    pandas.DataFrame
        One row a broker, reading and number of subscribers: ``q1``, ``median``, ``q3``.

    Notes
    -----
    Chapter ``notebooks/emqtt/03_reproduction``.

    Examples
    --------
    >>> rows = medians(load("delays"))
    >>> bool((rows["q1"] <= rows["median"]).all())
    True
    """
    keys = [k for k in ("broker", "reading", "subscribers") if k in table]
    quantiles = table.groupby(keys)[column].quantile(np.array([0.25, 0.5, 0.75])).unstack()
    return quantiles.set_axis(["q1", "median", "q3"], axis=1).reset_index()


def slower_everywhere(
    table: pd.DataFrame, slow: str, fast: str, column: str = "end_to_end_ms", broker: str = PROTOCOL
) -> bool:
    """Return whether a reading's median is above another's at every number of subscribers.

    Parameters
    ----------
    table : pandas.DataFrame
        As `load` gives it.
    slow, fast : str
        The readings.
    column : str
        What is compared.
    broker : str
        Whose trials.

    Returns
    -------
    bool

    Notes
    -----
    Chapter ``notebooks/emqtt/03_reproduction``.

    Examples
    --------
    >>> slower_everywhere(load("delays"), "mqtt-2", "all")
    True
    """
    found = medians(table[table["broker"] == broker], column).pivot(
        index="subscribers", columns="reading", values="median"
    )
    return bool((found[slow] > found[fast]).all())


def live(port: int, subscribers: Sequence[int] = LIVE) -> dict[int, dict[str, Trial]]:
    """Send one confirmed query in every reading to so many subscribers, on real sockets, and count the packets.

    Parameters
    ----------
    port : int
        Of a broker of this package.
    subscribers : sequence of int
        Numbers of subscribers.

    Returns
    -------
    dict
        Number of subscribers to reading to `Trial`.

    Raises
    ------
    OSError
        If the system is not Linux, or the broker does not answer.

    Notes
    -----
    Chapter ``notebooks/emqtt/03_reproduction``.

    Examples
    --------
    >>> with BrokerThread(Config(port=0)) as broker:
    ...     live(broker.port, (3,))[3]["all"].messages
    16
    """
    found = {}
    for n in subscribers:
        with Population(port, n) as people:
            found[n] = {reading: people.trial(reading) for reading in counting.READINGS}
    return found


def run(quick: bool = False) -> dict[str, Plain]:
    """Compute the study's main results: packets and bytes counted live, delays from the recorded trials.

    It takes a second; it needs Linux, for the live count opens raw sockets on 127.0.0.1. Measuring the delays anew
    takes an hour: that is ``voicewire record emqtt``.

    Parameters
    ----------
    quick : bool
        At most 10 live subscribers, not 40.

    Returns
    -------
    dict of str to number, list of numbers, or dict of label to number
        By the claim's id, in its unit, in the form in which the scorecard holds it.

    Notes
    -----
    Chapter ``notebooks/emqtt/03_reproduction``.

    Examples
    --------
    >>> run(quick=True)["emqtt.messages.grow"]
    [16, 124]
    """
    numbers = [n for n in LIVE if n <= 10] if quick else list(LIVE)
    with BrokerThread(Config(port=0)) as broker:
        seen = live(broker.port, numbers)
    mqtt, first, every = (READING[method] for method in (paper.MQTT, paper.ASYNCHRONOUS, paper.SYNCHRONOUS))
    found: dict[str, Plain] = {
        "emqtt.messages.18-vs-9": {
            "MQTT": counting.with_subscriptions(mqtt, 1),
            "E-MQTT": counting.with_subscriptions(every, 1),
        },
        "emqtt.messages.grow": [seen[n][mqtt].messages for n in numbers],
        "emqtt.publisher-packets.constant": [seen[n][every].received for n in numbers],
        "emqtt.table-3.mqtt": counting.publish_size(2),
    }
    found |= {f"emqtt.table-3.ids-{ids}": counting.publish_size(3, ids) for ids in paper.EMQTT_BYTES}
    delays, leg = load("delays"), load("broker_subscriber")
    ours = (PROTOCOL, mqtt)

    def against_mqtt(reading: str, column: str = "end_to_end_ms") -> float:
        return float(ratio(delays, (PROTOCOL, reading), ours, column).mean())

    found["emqtt.order-e2e"] = {
        name: float(samples(delays, each, broker=PROTOCOL).mean()) for name, each in READING.items()
    }
    for claim, column in (("e2e", "end_to_end_ms"), ("completion", "completion_ms")):
        found[f"emqtt.{claim}.async-ratio"] = against_mqtt(first, column)
        found[f"emqtt.{claim}.sync-ratio"] = {
            "all of n": against_mqtt(every, column),
            "one of n": against_mqtt("one", column),
        }
    found["emqtt.broker-subscriber.alike"] = {
        f"{name} / MQTT": float(np.median(ratio(leg, (PROTOCOL, each), ours, "delay_ms")))
        for name, each in READING.items()
        if each != mqtt
    }
    return found

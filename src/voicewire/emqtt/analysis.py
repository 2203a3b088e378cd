"""From the recorded trials to what the paper reports: averages, ratios, orders, each with its interval."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from voicewire import paths
from voicewire.emqtt import paper

READING = {paper.MQTT: "mqtt-2", paper.ASYNCHRONOUS: "first", paper.SYNCHRONOUS: "all"}
"""How the paper's three methods are called in the recorded tables."""


def load(name: str) -> pd.DataFrame:
    """Read `delays`, `broker_subscriber` or `large` of the recorded experiments."""
    return pd.read_csv(paths.data("emqtt") / f"{name}.csv")


def samples(
    table: pd.DataFrame, reading: str, column: str = "end_to_end_ms", broker: str = "voicewire"
) -> NDArray[np.float64]:
    """Return one number a test: the geometric mean over the numbers of subscribers.

    A single trial that the operating system has interrupted weighs little in a geometric mean, and each size
    counts alike.

    Returns
    -------
    ndarray, shape (tests,)
        In the unit of `column`.
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


def medians(table: pd.DataFrame, column: str = "end_to_end_ms") -> pd.DataFrame:
    """Return median and quartiles by broker, reading and number of subscribers."""
    keys = [k for k in ("broker", "reading", "subscribers") if k in table]
    quantiles = table.groupby(keys)[column].quantile(np.array([0.25, 0.5, 0.75])).unstack()
    return quantiles.set_axis(["q1", "median", "q3"], axis=1).reset_index()


def slower_everywhere(table: pd.DataFrame, slow: str, fast: str, column: str = "end_to_end_ms") -> bool:
    """Is the median of reading `slow` above that of `fast` at every number of subscribers (our broker)?"""
    found = medians(table[table["broker"] == "voicewire"], column).pivot(
        index="subscribers", columns="reading", values="median"
    )
    return bool((found[slow] > found[fast]).all())

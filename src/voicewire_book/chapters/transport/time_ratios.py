"""Factors of time with intervals, and intervals: the recorded rows, over all points of the figures.

Nothing is judged here: ``notebooks/transport/03_tcp_against_mqtt.ipynb`` hands what these functions return to its
ledger.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import scipy.stats
from numpy.typing import NDArray

from voicewire.stats import Interval, t_interval
from voicewire.transport import paper
from voicewire_book.chapters.transport.analysis import Recorded, Samples, coverage
from voicewire_book.chapters.transport.readings import BY_QUALITY, COMPARED, FRESH, recorded_as

__all__ = [
    "Factors", "coverages", "half_widths", "inside", "least_difference", "normal_coverage", "relative_widths",
    "value_coverage",
]  # fmt: skip

KINDS = ("bytes", "file")
QUALITIES = (0, 1, 2)
READ_AS = COMPARED | BY_QUALITY


@dataclass
class Factors:
    """Medians of MQTT's times over those of TCP, each with what resampling the iterations makes of it.

    `until` names the time: `time_ms` to complete receipt, `session_ms` at the sending end.
    """

    recorded: Recorded
    resamples: int = 1000
    instead: bool = False
    seed: int = 2
    until: str = "time_ms"
    _known: dict[tuple[object, ...], Samples] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)

    def _medians(self, transport: str, network: str, session: str, size: int, qos: int, kind: str) -> Samples:
        """Return the median of a configuration's times, then those of its resamples."""
        key = (transport, network, session, size, qos, kind)
        if key not in self._known:
            other = "tcp" if self.instead else transport
            of = recorded_as(other, session, qos, kind)  # bare TCP in a loop was recorded as bytes alone
            rows = self.recorded.cell(network, other, session, size, qos=0 if other == "tcp" else qos, kind=of)
            x = rows[self.until].to_numpy(float)
            drawn = self._rng.choice(x, (self.resamples, x.size))
            self._known[key] = np.concatenate([[np.median(x)], np.median(drawn, axis=1)])
        return self._known[key]

    def of(self, network: str, reading: str, size: int, qos: int, kind: str) -> Samples:
        """Return the factor of one configuration, then those of its resamples."""
        mqtt, tcp, _ = READ_AS[reading]
        return self._medians("mqtt", network, mqtt, size, qos, kind) / self._medians("tcp", network, tcp, size, 0, kind)

    def _table(self, networks: Sequence[str], reading: str, kinds: Sequence[str], qos: int) -> Samples:
        own = [kind for kind in kinds if recorded_as("mqtt", READ_AS[reading][0], qos, kind) == kind]
        return np.array([self.of(n, reading, size, qos, k) for n in networks for size in paper.PAYLOADS for k in own])

    def typical(
        self, networks: Sequence[str], reading: str = FRESH, kinds: Sequence[str] = KINDS, *, least: bool = False
    ) -> Interval:
        """Return the median factor over configurations with the axes' payloads, with its 95 % bootstrap interval."""
        tables = [self._table(networks, reading, kinds, qos) for qos in READ_AS[reading][2]]
        if least:
            drawn = np.array([np.median(table, axis=0) for table in tables]).min(axis=0)
        else:
            drawn = np.median(np.concatenate(tables), axis=0)
        low, high = np.quantile(drawn[1:], (0.025, 0.975))
        value = float(drawn[0])
        return Interval(value, min(float(low), value), max(float(high), value), paper.CONFIDENCE, self.resamples)

    def least(self, network: str, kind: str, reading: str = FRESH) -> Interval:
        """Return the smallest factor over the axes' payloads and qualities of service, with its own interval."""
        rows = np.concatenate([self._table([network], reading, [kind], qos) for qos in READ_AS[reading][2]])
        drawn = rows[rows[:, 0].argmin()]
        low, high = np.quantile(drawn[1:], (0.025, 0.975))
        value = float(drawn[0])
        return Interval(value, min(float(low), value), max(float(high), value), paper.CONFIDENCE, self.resamples)


def _points(r: Recorded, network: str, kinds: Sequence[str] = KINDS) -> Iterator[pd.DataFrame]:
    """Rows of each configuration with one of the axes' payloads, fresh and open: the points of Figures 5 and 7."""
    for session in ("fresh", "persistent"):
        for size in paper.PAYLOADS:
            for transport, qos in (("tcp", 0), *(("mqtt", qos) for qos in QUALITIES)):
                for kind in kinds:
                    yield r.cell(network, transport, session, size, qos=qos, kind=kind)


def half_widths(r: Recorded, network: str) -> Samples:
    """Return the half widths of the 95 % t intervals of the time, for all points of Figures 5 or 7."""
    return np.array([t_interval(rows["time_ms"].to_numpy(float)).half_width for rows in _points(r, network)])


def least_difference(r: Recorded, network: str, reading: str, rng: np.random.Generator | None = None) -> float:
    """Return the size of the difference of two mean times over the half width of its interval, where it is least.

    Notes
    -----
    The interval is that of B. L. Welch, which allows for unequal variances.
    """
    mqtt, tcp, qualities = COMPARED[reading]
    found = []
    for size in paper.PAYLOADS:
        for kind in KINDS:
            for qos in (q for q in qualities if recorded_as("mqtt", mqtt, q, kind) == kind):
                x = r.time(network, "mqtt", mqtt, size, qos=qos, kind=kind)
                y = r.time(network, "tcp", tcp, size, kind=kind)
                if rng is not None:
                    x, y = np.split(rng.permutation(np.concatenate([x, y])), [x.size])
                between = scipy.stats.ttest_ind(x, y, equal_var=False).confidence_interval(paper.CONFIDENCE)
                found.append(abs(float(x.mean() - y.mean())) / (float(between.high - between.low) / 2))
    return min(found)


def relative_widths(r: Recorded, network: str, iterations: slice = slice(None)) -> Samples:
    """Return the half width of each point's interval over its mean."""
    found = [t_interval(rows["time_ms"].to_numpy(float)[iterations]) for rows in _points(r, network)]
    return np.array([interval.half_width / interval.estimate for interval in found])


def coverages(
    r: Recorded, network: str, rng: np.random.Generator, resamples: int = 5000
) -> NDArray[np.float64]:
    """Return how often Student's 95 % interval holds the mean, at each point of Figures 5 or 7."""
    return np.array([coverage(rows["time_ms"].to_numpy(float), rng, resamples) for rows in _points(r, network)])


def normal_coverage(known: bool, n: int = paper.ITERATIONS) -> float:
    """Return how often an interval of `n` normal values holds their mean: Student's, or as if its width were known."""
    end = 0.5 + paper.CONFIDENCE / 2
    half = scipy.stats.norm.ppf(end) if known else scipy.stats.t.ppf(end, n - 1)
    return float(2 * scipy.stats.t.cdf(half, n - 1) - 1)


def value_coverage(n: int = paper.ITERATIONS) -> float:
    """Return how often Student's interval of `n` normal values holds one further value of their population."""
    half = scipy.stats.t.ppf(0.5 + paper.CONFIDENCE / 2, n - 1)
    return float(2 * scipy.stats.t.cdf(half / math.sqrt(n + 1), n - 1) - 1)


def inside(r: Recorded) -> dict[str, float]:
    """Return the share of a point's iterations within the 95 % interval of their mean: the least and the largest point.
    """
    shares = []
    for rows in (rows for network in paper.NETWORKS for rows in _points(r, network)):
        times = rows["time_ms"].to_numpy(float)
        interval = t_interval(times)
        shares.append(float(np.mean((times >= interval.low) & (times <= interval.high))))
    return {"least": min(shares), "largest": max(shares)}

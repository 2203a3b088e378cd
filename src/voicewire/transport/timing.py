"""Factors of time with intervals, and what widens intervals: the recorded rows, over all points of the figures.

Nothing is judged here: ``notebooks/transport/03_tcp_against_mqtt.ipynb`` hands what these functions return to its
ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from voicewire.stats import Interval, t_interval
from voicewire.transport import paper
from voicewire.transport.analysis import Recorded, Samples, coverage

__all__ = ["Factors", "excess_by_loss", "half_widths", "inside", "least_coverage", "worst_interval"]

KINDS = ("bytes", "file")
QUALITIES = (0, 1, 2)


@dataclass
class Factors:
    """Medians of MQTT's times over those of TCP, each with what resampling the iterations makes of it.

    Parameters
    ----------
    recorded : Recorded
        The experiment's rows.
    resamples : int
        Of the bootstrap.
    instead : bool
        Put TCP's own times in MQTT's place, drawn again: the rival.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> from voicewire import paths
    >>> from voicewire.transport import recording
    >>> factors = Factors(Recorded(recording.load_iterations(paths.data("transport"))), 100)
    >>> factors.typical(["lan"], ["fresh"]).low < 2.1
    True
    """

    recorded: Recorded
    resamples: int = 1000
    instead: bool = False
    _rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(2), init=False, repr=False)
    _known: dict[tuple[object, ...], Samples] = field(default_factory=dict, init=False, repr=False)

    def _medians(self, transport: str, network: str, session: str, size: int, qos: int, kind: str) -> Samples:
        """Return the median of a configuration's times, then those of its resamples."""
        key = (transport, network, session, size, qos, kind)
        if key not in self._known:
            other = "tcp" if self.instead else transport
            x = self.recorded.time(network, other, session, size, qos=0 if other == "tcp" else qos, kind=kind)
            drawn = self._rng.choice(x, (self.resamples, x.size))
            self._known[key] = np.concatenate([[np.median(x)], np.median(drawn, axis=1)])
        return self._known[key]

    def of(self, network: str, session: str, size: int, qos: int, kind: str) -> Samples:
        """Return the factor of one configuration, then those of its resamples.

        Parameters
        ----------
        network, session : str
            As in `Recorded.cell`.
        size : int
            Payload, bytes.
        qos : {0, 1, 2}
            Quality of service.
        kind : str
            ``bytes`` or ``file``.

        Returns
        -------
        ndarray of float, shape (1 + resamples,)
        """
        tcp = self._medians("tcp", network, session, size, 0, kind)
        return self._medians("mqtt", network, session, size, qos, kind) / tcp

    def _table(self, networks: Sequence[str], sessions: Sequence[str], kinds: Sequence[str], qos: int) -> Samples:
        return np.array(
            [self.of(n, s, size, qos, k) for n in networks for s in sessions for size in paper.PAYLOADS for k in kinds]
        )

    def typical(
        self, networks: Sequence[str], sessions: Sequence[str], kinds: Sequence[str] = KINDS, *, least: bool = False
    ) -> Interval:
        """Return the median factor over configurations with the axes' payloads, with its 95 % bootstrap interval.

        Parameters
        ----------
        networks, sessions, kinds : sequence of str
            Which configurations.
        least : bool
            Take the median at the quality of service where it is least, not over all of them.

        Returns
        -------
        Interval
        """
        tables = [self._table(networks, sessions, kinds, qos) for qos in QUALITIES]
        if least:
            drawn = np.min([np.median(table, axis=0) for table in tables], axis=0)
        else:
            drawn = np.median(np.concatenate(tables), axis=0)
        low, high = np.quantile(drawn[1:], (0.025, 0.975))
        value = float(drawn[0])
        return Interval(value, min(float(low), value), max(float(high), value), paper.CONFIDENCE, self.resamples)

    def least(self, network: str, kind: str, sessions: Sequence[str] = ("fresh", "persistent")) -> float:
        """Return the smallest factor over the axes' payloads, qualities of service and sessions.

        Parameters
        ----------
        network, kind : str
            Which configurations.
        sessions : sequence of str
            Of ``fresh`` and ``persistent``.

        Returns
        -------
        float
        """
        return float(min(self._table([network], sessions, [kind], qos)[:, 0].min() for qos in QUALITIES))


def _points(r: Recorded, network: str, kinds: Sequence[str] = KINDS) -> Iterator[pd.DataFrame]:
    """Rows of each fresh configuration with one of the axes' payloads: the points of Figures 5 and 7."""
    for size in paper.PAYLOADS:
        for transport, qos in (("tcp", 0), *(("mqtt", qos) for qos in QUALITIES)):
            for kind in kinds:
                yield r.cell(network, transport, "fresh", size, qos=qos, kind=kind)


def half_widths(r: Recorded, network: str, take: Callable[[pd.DataFrame], pd.DataFrame] = lambda rows: rows) -> Samples:
    """Return the half widths of the 95 % t intervals of the time, for all points of Figures 5 or 7.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.
    network : str
        ``lan`` or ``internet``.
    take : callable
        Which rows of each point count.

    Returns
    -------
    ndarray of float, shape (points,)
        ms.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> from voicewire import paths
    >>> from voicewire.transport import recording
    >>> half_widths(Recorded(recording.load_iterations(paths.data("transport"))), "lan").shape
    (40,)
    """
    return np.array([t_interval(take(rows)["time_ms"].to_numpy(float)).half_width for rows in _points(r, network)])


def _again(rows: pd.DataFrame) -> NDArray[np.bool_]:
    """Say for each iteration whether one of the ends counted a segment that it sent again."""
    counted = [name for name in rows.columns if name.endswith("_retransmitted")]
    return np.asarray(rows[counted].fillna(0).sum(axis=1) > 0, dtype=bool)


def excess_by_loss(r: Recorded, rng: np.random.Generator | None = None) -> float:
    """Return the share of the public network's wider intervals that goes with the iterations with losses.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.
    rng : numpy.random.Generator, optional
        Leave as many iterations out at random instead: the rival.

    Returns
    -------
    float
        Of the excess of the mean half width over that of the private network.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> from voicewire import paths
    >>> from voicewire.transport import recording
    >>> rows = Recorded(recording.load_iterations(paths.data("transport")))
    >>> abs(excess_by_loss(rows, np.random.default_rng(1))) < 0.5
    True
    """

    def kept(rows: pd.DataFrame) -> pd.DataFrame:
        again = _again(rows)
        return rows[~(again if rng is None else rng.permutation(again))]

    whole = half_widths(r, "internet").mean()
    excess = whole - half_widths(r, "lan").mean()
    return float((whole - half_widths(r, "internet", kept).mean()) / excess)


def worst_interval(r: Recorded, network: str, iterations: slice = slice(None)) -> float:
    """Return the largest half width of a point's interval over its mean.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.
    network : str
        ``lan`` or ``internet``.
    iterations : slice
        Which iterations count.

    Returns
    -------
    float
        A share of the mean.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> from voicewire import paths
    >>> from voicewire.transport import recording
    >>> worst_interval(Recorded(recording.load_iterations(paths.data("transport"))), "lan") < 0.1
    True
    """
    found = [t_interval(rows["time_ms"].to_numpy(float)[iterations]) for rows in _points(r, network)]
    return max(interval.half_width / interval.estimate for interval in found)


def least_coverage(r: Recorded, network: str, rng: np.random.Generator, resamples: int = 5000) -> float:
    """Return how often Student's 95 % interval holds the mean, at the point of Figures 5 or 7 where it does so least.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.
    network : str
        ``lan`` or ``internet``.
    rng : numpy.random.Generator
        Of the draws.
    resamples : int
        Draws of each point.

    Returns
    -------
    float
        A share of the draws.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> from voicewire import paths
    >>> from voicewire.transport import recording
    >>> r = Recorded(recording.load_iterations(paths.data("transport")))
    >>> least_coverage(r, "lan", np.random.default_rng(1), 200) < 1
    True
    """
    return min(coverage(rows["time_ms"].to_numpy(float), rng, resamples) for rows in _points(r, network))


def inside(r: Recorded) -> dict[str, float]:
    """Return the share of a point's iterations within the 95 % interval of their mean: the least and the largest point.

    Parameters
    ----------
    r : Recorded
        The experiment's rows.

    Returns
    -------
    dict of str to float
        ``least`` and ``largest``, from 0 to 1.

    Notes
    -----
    Chapter ``notebooks/transport/03_tcp_against_mqtt``.

    Examples
    --------
    >>> from voicewire import paths
    >>> from voicewire.transport import recording
    >>> inside(Recorded(recording.load_iterations(paths.data("transport"))))["least"] < 0.95
    True
    """
    shares = []
    for rows in (rows for network in paper.NETWORKS for rows in _points(r, network)):
        times = rows["time_ms"].to_numpy(float)
        interval = t_interval(times)
        shares.append(float(np.mean((times >= interval.low) & (times <= interval.high))))
    return {"least": min(shares), "largest": max(shares)}

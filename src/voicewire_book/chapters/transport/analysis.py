"""What the recorded tables say: samples by configuration, factors, shares, coverage.

Used by ``notebooks/transport/02_measuring_honestly.ipynb`` and ``03_tcp_against_mqtt.ipynb``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from voicewire._kit import checks
from voicewire.transport import paper

__all__ = ["Recorded", "coverage", "goodput"]

Samples = NDArray[np.float64]


@checks.takes(
    size=checks.whole(1), together=("header", "payload"), header=checks.array((0, 1), low=0.0),
    payload=checks.array((0, 1), low=1.0),
)  # fmt: skip
def goodput(size: int, header: Samples, payload: Samples) -> Samples:
    """Return the share of the wire's TCP bytes that is the user's own."""
    return size / (header + payload)


@dataclass(frozen=True)
class Recorded:
    """The recorded experiment.

    Attributes
    ----------
    rows : pandas.DataFrame
        As `measurement_runs.load_iterations` gives them.
    """

    rows: pd.DataFrame

    @cached_property
    def _cells(self) -> dict[tuple[object, ...], pd.DataFrame]:
        """Rows of each configuration, found once: the figures ask for a thousand of them."""
        keys = ["network", "transport", "session", "size", "qos", "kind", "gap", "nodelay"]
        return {tuple(key): rows for key, rows in self.rows.groupby(keys, sort=False)}

    def cell(
        self, network: str, transport: str, session: str, size: int, *, qos: int = 0, kind: str = "bytes",
        gap: float = 0.0, nodelay: bool = True,
    ) -> pd.DataFrame:  # fmt: skip
        """Return the iterations of one configuration."""
        found = self._cells.get((network, transport, session, size, qos, kind, gap, nodelay))
        if found is None:
            raise KeyError(f"not recorded: {network} {transport} {session} {size} B, QoS {qos}, {kind}, gap {gap}")
        return found

    def header(self, network: str, transport: str, session: str, size: int, end: int = 0, **other: Any) -> Samples:
        """Return the TCP header bytes of each iteration at one end."""
        ends = ("sender", "receiver") if transport == "tcp" else ("publisher", "subscriber")
        found = self.cell(network, transport, session, size, **other)
        return found[f"{ends[end]}_header"].to_numpy(float)

    def time(self, network: str, transport: str, session: str, size: int, **other: Any) -> Samples:
        """Return the time from start to complete receipt of each iteration."""
        return self.cell(network, transport, session, size, **other)["time_ms"].to_numpy(float)

    def goodput(self, network: str, transport: str, session: str, size: int, **other: Any) -> Samples:
        """Return the share of the user's own bytes, of each iteration, on the sender's link."""
        found = self.cell(network, transport, session, size, **other)
        end = "sender" if transport == "tcp" else "publisher"
        return goodput(size, found[f"{end}_header"].to_numpy(float), found[f"{end}_payload"].to_numpy(float))

    def factor(self, network: str, session: str, size: int, qos: int, kind: str = "bytes") -> float:
        """Return the median time of MQTT over that of TCP, same session and payload."""
        mqtt = self.time(network, "mqtt", session, size, qos=qos, kind=kind)
        tcp = self.time(network, "tcp", session, size, kind=kind)
        return float(np.median(mqtt) / np.median(tcp))

    def factors(self, network: str, session: str, sizes: tuple[int, ...] = paper.PAYLOADS) -> pd.DataFrame:
        """Return `factor` for every quality of service, payload and kind that was recorded."""
        return pd.DataFrame(
            [
                {"qos": q, "size": s, "kind": k, "factor": self.factor(network, session, s, q, k)}
                for q in (0, 1, 2)
                for s in sizes
                for k in ("bytes", "file")
            ]
        )


@checks.takes(
    times=checks.array(least=2), rng=checks.generator, resamples=checks.whole(1, 10**6), n=checks.whole(2, 10**6),
)  # fmt: skip
def coverage(times: Samples, rng: np.random.Generator, resamples: int = 5000, n: int = paper.ITERATIONS) -> float:
    """How often Student's 95 % interval of `n` draws from `times` holds their mean."""
    from scipy.stats import t

    draws = rng.choice(times, size=(resamples, n))
    half = t.ppf(0.975, n - 1) * draws.std(axis=1, ddof=1) / np.sqrt(n)
    return float(np.mean(np.abs(draws.mean(axis=1) - times.mean()) <= half))

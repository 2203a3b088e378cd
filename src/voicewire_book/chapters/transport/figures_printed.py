"""The paper's Figures 4 to 7 with their eight curves, its ratio of headers to payload, and times under loss.

Used by ``notebooks/transport/03_tcp_against_mqtt.ipynb``. Each curve is a mean with its 95 % t interval as a band.
"""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from voicewire.stats import t_interval
from voicewire.transport import paper
from voicewire_book.chapters.transport import qos_guarantees
from voicewire_book.chapters.transport.analysis import Recorded, Samples
from voicewire_book.chapters.transport.readings import KINDS
from voicewire_book.kit.figures import LINESTYLES, MARKERS, SERIES, interval_band, new_axes, origin

__all__ = ["CURVES", "curve", "printed", "ratio", "under_loss"]

ENDS = {"tcp": ("client end", "server end"), "mqtt": ("publisher", "subscriber")}
CURVES = [(transport, kind, end) for transport in ("mqtt", "tcp") for kind in KINDS for end in (0, 1)]
"""Transport, kind of payload and end (0: the sending one) of the eight curves that each of the four figures has."""


def curve(r: Recorded, what: str, network: str, transport: str, kind: str, end: int) -> list[Samples]:
    """Return the iterations behind one curve of Figures 4 to 7, payload by payload.

    Notes
    -----
    Header bytes of MQTT are those of 150 publishes at QoS 0, the reading that comes nearest to the printed range; all
    else is one message in a session of its own.
    """
    if what == "header":
        session = "loop" if transport == "mqtt" else "fresh"
        return [r.header(network, transport, session, size, end, kind=kind) for size in paper.PAYLOADS]
    if what != "time":
        raise ValueError(f"a curve is of header or time, not of {what!r}")
    name = ("session_ms", "time_ms")[end]
    return [r.cell(network, transport, "fresh", size, kind=kind)[name].to_numpy(float) for size in paper.PAYLOADS]


def _span(samples: Samples) -> tuple[float, float]:
    """Ends of the 95 % t interval; of equal samples, the value itself."""
    if np.ptp(samples) == 0:
        return float(samples[0]), float(samples[0])
    interval = t_interval(samples)
    return interval.low, interval.high


def _bands(ax: Axes, found: Iterator[tuple[int, str, list[Samples]]]) -> None:
    """Draw curves over evenly spaced payloads, as the paper's axes have them."""
    places = np.arange(len(paper.PAYLOADS), dtype=float)
    for number, label, samples in found:
        means = [float(s.mean()) for s in samples]
        spans = [_span(s) for s in samples]
        interval_band(ax, places, [low for low, _ in spans], [high for _, high in spans], SERIES[number])
        ax.plot(
            places, means, color=SERIES[number], linestyle=LINESTYLES[number], marker=MARKERS[number], label=label
        )  # fmt: skip
    ax.set_xticks(places, [str(size) for size in paper.PAYLOADS])


def printed(r: Recorded, network: str, what: str, upper: Axes | None = None, lower: Axes | None = None) -> Axes:
    """Draw one of Figures 4 to 7 as the slides have it: four curves of MQTT above, four of TCP below."""
    if upper is None or lower is None:
        _, (upper, lower) = plt.subplots(2, 1, figsize=(5.0, 4.5), sharex=True)
    for ax, transport in ((upper, "mqtt"), (lower, "tcp")):
        own = [(kind, end) for of, kind, end in CURVES if of == transport]
        _bands(
            ax,
            (
                (number, f"{kind}, {ENDS[transport][end]}", curve(r, what, network, transport, kind, end))
                for number, (kind, end) in enumerate(own)
            ),
        )
        unit = "TCP headers (bytes)" if what == "header" else "total time (ms)"
        ax.set(ylabel=f"{'MQTT' if transport == 'mqtt' else 'TCP'}: {unit}")
        ax.legend(ncols=2, loc="lower left", bbox_to_anchor=(-0.12, 0.99), columnspacing=0.6, handlelength=2.6)
    lower.set(xlabel="payload (bytes)")
    origin(lower, "measured here")
    return origin(upper, "measured here")


def ratio(r: Recorded, network: str, ax: Axes | None = None) -> Axes:
    """Draw the paper's ratio of header bytes to payload over the payload, sending end, by session and transport."""
    ax = new_axes(ax, (5.9, 3.5))
    ways = [("tcp", "fresh", 1), ("mqtt", "fresh", 1), ("tcp", "persistent", 1), ("mqtt", "persistent", 1)]
    for number, (transport, session, messages) in enumerate([*ways, ("mqtt", "loop", paper.LOOP)]):
        own = [r.header(network, transport, session, size).mean() / (messages * size) for size in paper.PAYLOADS]
        kind = {"fresh": "fresh session", "persistent": "open session", "loop": "150 in a session"}[session]
        ax.plot(
            paper.PAYLOADS, own, color=SERIES[number], linestyle=LINESTYLES[number], marker=MARKERS[number],
            label=f"{transport.upper()}, {kind}",
        )  # fmt: skip
    ax.axhline(1, color="0.5", linewidth=1)
    ax.set(xscale="log", yscale="log", xlabel="payload of a message (bytes)", ylabel="header bytes over payload")
    ax.legend()
    return origin(ax, "measured here")


def under_loss(rows: pd.DataFrame, rtt: float, ax: Axes | None = None) -> Axes:
    """Draw the share of messages that have arrived over the time since they were published, with each mode's bound."""
    ax = new_axes(ax, (5.9, 3.5))
    for qos in range(3):
        times = rows[rows.qos == qos].time_ms
        came = np.sort(times.dropna())
        share = np.arange(1, came.size + 1) / times.size
        ax.step(came, share, where="post", color=SERIES[qos], linestyle=LINESTYLES[qos], label=f"QoS {qos}")
    for qos, heights in ((1, (0.35, 0.6)), (2, (0.35, 0.45))):
        for timeouts, height in enumerate(heights):
            limit = 1e3 * qos_guarantees.bound(qos, rtt, bool(timeouts))
            ax.vlines(limit, 0, height, color=SERIES[qos], linestyle=LINESTYLES[qos])
            words = f"QoS {qos}" + (", timeouts" if timeouts else "")
            ax.annotate(words, (limit, height), textcoords="offset points", xytext=(3, -2), fontsize="small")
    ax.set(xscale="log", xlabel="publish to receipt (ms)", ylabel="share of messages that have arrived", ylim=(0, 1.02))
    ax.legend(loc="center left", bbox_to_anchor=(0.5, 0.3))
    return origin(ax, "measured here")

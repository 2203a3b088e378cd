"""The figures of the part: sequence diagrams from traces, delays with quartiles, packets and bytes by count."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from voicewire import figures as house
from voicewire.emqtt import counting, experiments, paper
from voicewire.emqtt.trace import BROKER, PUBLISHER, SUBSCRIBER, Trace

__all__ = [
    "STYLE",
    "delays",
    "packets_by_subscribers",
    "sequence",
    "sizes",
]

STYLE = {
    "mqtt-2": (house.SERIES[0], "o", "-"),
    "mqtt-0": (house.SERIES[5], "s", "--"),
    "first": (house.SERIES[1], "^", "-."),
    "half": (house.SERIES[3], "v", ":"),
    "all": (house.SERIES[2], "D", "-"),
    "unmodified": (house.SERIES[4], "P", "--"),
}
"""Colour, marker and line of each reading, the same in every figure."""


def sequence(trace: Trace, ax: Axes | None = None) -> Axes:
    """Draw a trace as a sequence diagram, one numbered arrow a packet.

    Parameters
    ----------
    trace : Trace
        As `voicewire.emqtt.trace` takes it.
    ax : Axes, optional
        Where to draw; new axes if left out.

    Returns
    -------
    Axes

    Notes
    -----
    Chapter ``notebooks/emqtt/01_packets``.

    Examples
    --------
    >>> from voicewire.emqtt.trace import Step
    >>> trace = Trace([Step(PUBLISHER, BROKER, "PUBLISH T (QoS 0)", 11)])
    >>> [text.get_text() for text in sequence(trace).texts if "PUBLISH" in text.get_text()]
    ['1  PUBLISH T (QoS 0), 11 B']
    """
    ax = house.new_axes(ax, size=(7.0, 0.8 + 0.3 * len(trace.steps)))
    place = {PUBLISHER: 0.0, BROKER: 1.0, SUBSCRIBER: 2.0}
    last = len(trace.steps) + 0.6
    for name, x in place.items():
        ax.plot([x, x], [0.2, last], color=house.COLOURS["muted"], linewidth=1, linestyle="-")
        ax.text(x, -0.1, name, ha="center", va="bottom", fontweight="bold")
    for i, step in enumerate(trace.steps, 1):
        a, b = place[step.source], place[step.target]
        colour = house.SERIES[1] if "QoS 3" in step.label else house.SERIES[0]
        ax.annotate("", (b, i), (a, i), arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.4})
        ax.text((a + b) / 2, i - 0.08, f"{i}  {step.label}, {step.size} B", ha="center", va="bottom", fontsize=8.5)
    ax.set(xlim=(-0.35, 2.35), ylim=(last, -0.9))
    ax.axis("off")
    house.origin(ax, "measured here")
    return ax


def packets_by_subscribers(n: Sequence[int] = paper.SUBSCRIBERS, ax: Axes | None = None) -> Axes:
    """Draw the packets that the publisher receives for one confirmed query, against subscribers.

    Parameters
    ----------
    n : sequence of int
        Numbers of subscribers.
    ax : Axes, optional
        Where to draw; new axes if left out.

    Returns
    -------
    Axes
        With a curve for each reading.

    Notes
    -----
    Chapter ``notebooks/emqtt/02_end_to_end``.

    Examples
    --------
    >>> len(packets_by_subscribers().lines)
    3
    """
    ax = house.new_axes(ax)
    for reading in ("mqtt-2", "mqtt-0", "all"):
        colour, marker, line = STYLE[reading]
        counts = [counting.received(reading, k) for k in n]
        ax.plot(n, counts, color=colour, marker=marker, linestyle=line, label=counting.LABELS[reading])
    ax.set(xlabel="subscribers", ylabel="packets received by the publisher")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend()
    house.origin(ax, "theory")
    return ax


def delays(
    table: pd.DataFrame, arms: Sequence[tuple[str, str]], column: str = "end_to_end_ms", ax: Axes | None = None
) -> Axes:
    """Draw medians with quartiles against subscribers for pairs of (broker, reading).

    Parameters
    ----------
    table : pandas.DataFrame
        As `experiments.load` gives it.
    arms : sequence of (str, str)
        Broker and reading of each curve.
    column : str
        What is drawn.
    ax : Axes, optional
        Where to draw; new axes if left out.

    Returns
    -------
    Axes
        With a curve for each arm.

    Notes
    -----
    Chapter ``notebooks/emqtt/03_reproduction``.

    Examples
    --------
    >>> ax = delays(experiments.load("delays"), [("voicewire", "all"), ("mosquitto", "mqtt-2")])
    >>> ax.get_ylabel()
    'end-to-end delay (ms)'
    """
    ax = house.new_axes(ax)
    found = experiments.medians(table, column)
    for broker, reading in arms:
        colour, marker, line = STYLE[reading]
        rows = found[found["reading"] == reading]
        if "broker" in rows:
            rows = rows[rows["broker"] == broker]
        other = broker == "mosquitto"
        name = counting.LABELS[reading] + (", mosquitto" if other else "")
        ax.plot(
            rows["subscribers"], rows["median"], color="black" if other else colour, marker="x" if other else marker,
            linestyle=":" if other else line, label=name,
        )  # fmt: skip
        ax.fill_between(rows["subscribers"], rows["q1"], rows["q3"], color="black" if other else colour, alpha=0.15)
    names = {
        "end_to_end_ms": "end-to-end delay (ms)",
        "completion_ms": "publish-completion delay (ms)",
        "delay_ms": "broker-subscriber delay (ms)",
        "publisher_cpu_ms": "publisher's CPU time a query (ms)",
    }
    ax.set(xlabel="subscribers", ylabel=names[column], yscale="log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    # below the axes: where the curves run is known only after a measurement
    ax.legend(fontsize=8.5, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.17))
    house.origin(ax, "measured here")
    return ax


def sizes(ax: Axes | None = None) -> Axes:
    """Draw Table 3: the paper's bytes beside the true ones.

    Parameters
    ----------
    ax : Axes, optional
        Where to draw; new axes if left out.

    Returns
    -------
    Axes
        With both curves, and MQTT's PUBLISH as a line.

    Notes
    -----
    Chapter ``notebooks/emqtt/03_reproduction``.

    Examples
    --------
    >>> [line.get_label() for line in sizes().lines][:2]
    ['Table 3', 'on the wire']
    """
    ax = house.new_axes(ax)
    ids = list(paper.EMQTT_BYTES)
    ax.plot(ids, list(paper.EMQTT_BYTES.values()), color=house.COLOURS["published"], marker="o", label="Table 3")
    true = [counting.publish_size(3, n) for n in ids]
    ax.plot(ids, true, color=house.COLOURS["theory"], marker="x", linestyle="--", label="on the wire")
    ax.axhline(counting.publish_size(2), color=house.COLOURS["muted"], linestyle=":", label="MQTT, QoS 2, on the wire")
    ax.set(xlabel="subscriber ids in the PUBLISH", ylabel="packet size (B)")
    ax.legend()
    house.origin(ax, "theory")
    return ax

"""The figures of the part: sequence diagrams from traces, delays with quartiles, packets and bytes by count."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from voicewire.emqtt import counting, paper
from voicewire.emqtt.dissection import COLOURS, dissect
from voicewire.emqtt.reference import link_delay
from voicewire.emqtt.trace import BROKER, PUBLISHER, SUBSCRIBER, Trace
from voicewire.mqtt import packets as p
from voicewire_book.chapters.emqtt import experiments
from voicewire_book.kit import figures as house

__all__ = [
    "STYLE",
    "behind_link",
    "bytes_by_part",
    "delays",
    "energy",
    "packets_by_subscribers",
    "parts",
    "sequence",
    "sizes",
]

STYLE = {
    "mqtt-2": (house.SERIES[0], "o", "-"),
    "mqtt-0": (house.SERIES[5], "s", "--"),
    "first": (house.SERIES[1], "^", "-."),
    "one": (house.SERIES[6], "<", "--"),
    "half": (house.SERIES[3], "v", ":"),
    "all": (house.SERIES[2], "D", "-"),
    "unmodified": (house.SERIES[4], "P", "--"),
}
"""Colour, marker and line of each reading, the same in every figure."""


def sequence(trace: Trace, ax: Axes | None = None, origin: house.Origin = "measured here") -> Axes:
    """Draw a trace as a sequence diagram, one numbered arrow a packet."""
    seen = {end for step in trace.steps for end in (step.source, step.target)} - {PUBLISHER, BROKER, SUBSCRIBER}
    place = {name: float(x) for x, name in enumerate((PUBLISHER, BROKER, *(sorted(seen) or [SUBSCRIBER])))}
    ax = house.new_axes(ax, size=(max(7.0, 2.1 * len(place)), 0.8 + 0.3 * len(trace.steps)))
    last = len(trace.steps) + 0.6
    for name, x in place.items():
        ax.plot([x, x], [0.2, last], color=house.COLOURS["muted"], linewidth=1, linestyle="-")
        ax.text(x, -0.1, name, ha="center", va="bottom", fontweight="bold")
    for i, step in enumerate(trace.steps, 1):
        a, b = place[step.source], place[step.target]
        colour = house.SERIES[1] if "QoS 3" in step.label else house.SERIES[0]
        ax.annotate("", (b, i), (a, i), arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.4})
        middle = max(a, b) - 0.5  # the client's side, where a line passes another client's
        ax.text(middle, i - 0.08, f"{i}  {step.label}, {step.size} B", ha="center", va="bottom", fontsize=8.5)
    ax.set(xlim=(-0.35, len(place) - 0.65), ylim=(last, -0.9))
    ax.axis("off")
    house.origin(ax, origin)
    return ax


def packets_by_subscribers(n: Sequence[int] = paper.SUBSCRIBERS, ax: Axes | None = None) -> Axes:
    """Draw the packets that the publisher receives for one confirmed query, against subscribers."""
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
    """Draw medians with quartiles against subscribers for pairs of (broker, reading)."""
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
        "series_cpu_s": f"publisher's CPU time, {paper.ENERGY_MESSAGES} queries (s)",
    }
    ax.set(xlabel="subscribers", ylabel=names[column], yscale="log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    # below the axes: where the curves run is known only after a measurement
    ax.legend(fontsize=8.5, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.17))
    house.origin(ax, "measured here")
    return ax


def behind_link(table: pd.DataFrame, bed: str, n: int = 80, header: int = 0, ax: Axes | None = None) -> Axes:
    """Draw the end-to-end delay behind a link against its rate, as measured and as the closed form has it."""
    ax = house.new_axes(ax)
    mine = table[(table["bed"] == bed) & (table["subscribers"] == n)]
    rates = experiments.LINK_RATES
    for reading, of_it in mine.groupby("reading"):
        colour, marker, _ = STYLE[str(reading)]
        times = [of_it[of_it["rate"] == rate]["end_to_end_ms"] for rate in rates]
        low, middle, high = np.quantile(times, (0.25, 0.5, 0.75), axis=1)
        ax.errorbar(
            [rate / 1e6 for rate in rates.values()], middle, (middle - low, high - middle), color=colour,
            marker=marker, linestyle="", capsize=3, label=counting.LABELS[str(reading)],
        )  # fmt: skip
    for protocol, line in (("MQTT", "-"), ("E-MQTT", "--")):
        least = [1e3 * link_delay(protocol, n, rate, experiments.LINK_DELAY, header) for rate in rates.values()]
        shown = [rate / 1e6 for rate in rates.values()]
        ax.plot(shown, least, color="black", linestyle=line, label=f"{protocol}, bits alone")
    ax.set(xlabel="rate of the publisher's link (Mbit/s)", ylabel="end-to-end delay (ms)", xscale="log", yscale="log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.legend(fontsize=8.5, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.17))
    house.origin(ax, "measured here")
    return ax


def energy(table: pd.DataFrame, arms: Sequence[tuple[str, str]], ax: Axes | None = None) -> Axes:
    """Draw Figure 18 with what can be measured: the publisher's processor time for the paper's 1,200 messages."""
    whole = table.assign(series_cpu_s=table["publisher_cpu_ms"] * paper.ENERGY_MESSAGES / 1e3)
    return delays(whole, arms, "series_cpu_s", ax)


def parts(ax: Axes | None = None) -> Axes:
    """Draw Figure 17: fixed header, variable header and payload of the four packets, in MQTT and in E-MQTT."""
    ax = house.new_axes(ax, size=(7.0, 3.6))
    found = {
        f"{name}\n{protocol}": bytes_by_part(packet)
        for name, pair in _pairs().items()
        for protocol, packet in zip(("MQTT", "E-MQTT"), pair, strict=True)
    }
    below = [0] * len(found)
    for (part, colour), hatch in zip(COLOURS.items(), ("", "//", "xx", ".."), strict=True):
        heights = [sizes.get(part, 0) for sizes in found.values()]
        label = "variable header, E-MQTT's part" if part == "E-MQTT" else part
        ax.bar(range(len(found)), heights, bottom=below, color=colour, hatch=hatch, edgecolor="white", label=label)
        below = [a + b for a, b in zip(below, heights, strict=True)]
    ax.set_xticks(range(len(found)), list(found), fontsize=8.5)
    ax.set(ylabel="bytes on the wire")
    ax.legend()
    house.origin(ax, "theory")
    return ax


def _pairs() -> dict[str, tuple[p.Packet, p.Packet]]:
    """Return each packet of an exchange, at QoS 2 and at QoS 3."""
    query = [p.Publish(paper.TOPIC, paper.PAYLOAD, qos, packet_id=1, waited=qos - 2) for qos in (2, 3)]
    acks = {kind.__name__.upper(): (kind(1, 2), kind(1, 3)) for kind in (p.Pubrec, p.Pubrel, p.Pubcomp)}
    return {"PUBLISH": (query[0], query[1]), **acks}


def bytes_by_part(packet: p.Packet) -> dict[str, int]:
    """Count a packet's bytes by the part that they belong to."""
    found: dict[str, int] = {}
    for field in dissect(p.encode(packet)):
        if field.data:
            found[field.part] = found.get(field.part, 0) + len(field.data)
    return found


def sizes(ax: Axes | None = None) -> Axes:
    """Draw Table 3: the paper's bytes beside the true ones."""
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

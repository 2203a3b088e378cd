"""The figures of this part. Each takes ``ax=None``, returns its axes and says where its data come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from voicewire.stats import t_interval
from voicewire.testbed.capture import Segment
from voicewire.transport import overhead_formulas, paper
from voicewire_book.chapters.transport import extension_timings
from voicewire_book.chapters.transport.analysis import Recorded
from voicewire_book.kit.figures import LINESTYLES, MARKERS, SERIES, interval_band, new_axes, origin

__all__ = [
    "advice", "beyond", "coalescing", "describe_advice", "headers", "icto_cost", "ladder", "memory", "round_trips",
    "stall", "times",
]  # fmt: skip

_CONFIGURATIONS = (("tcp", 0), ("mqtt", 0), ("mqtt", 1), ("mqtt", 2))


def _name(transport: str, qos: int) -> str:
    return "TCP" if transport == "tcp" else f"MQTT QoS {qos}"


def _curve(ax: Axes, number: int, x: Sequence[float], samples: Sequence[Any], label: str) -> None:
    """One line through means, with the t interval as a band."""
    means = [float(np.mean(s)) for s in samples]
    ends = [(m, m) if np.ptp(s) == 0 else (t_interval(s).low, t_interval(s).high) for m, s in zip(means, samples,
            strict=True)]  # fmt: skip
    interval_band(ax, x, [e[0] for e in ends], [e[1] for e in ends], SERIES[number])
    ax.plot(x, means, color=SERIES[number], linestyle=LINESTYLES[number], marker=MARKERS[number], label=label)


def _plain(axis: Axis) -> None:
    """Write a logarithmic axis of less than two decades in plain numbers: "6 × 10⁰" is harder to read than 6."""
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def headers(recorded: Recorded, network: str, session: str, ax: Axes | None = None, *, gap: float = 0.0) -> Axes:
    """Draw the TCP header bytes over payload (the paper's figures 4 and 6), one line for each configuration."""
    ax = new_axes(ax, (6.2, 3.5))
    for number, (transport, qos) in enumerate(_CONFIGURATIONS):
        if gap and (transport, qos) != ("mqtt", 0):
            continue
        samples = [recorded.header(network, transport, session, size, qos=qos, gap=gap) for size in paper.PAYLOADS]
        _curve(ax, number, paper.PAYLOADS, samples, _name(transport, qos))
    ax.set(
        xscale="log", yscale="log", xlabel="payload of a message (bytes)", ylabel="TCP headers, sender's end (bytes)"
    )
    if session == "fresh":
        _plain(ax.yaxis)
    ax.legend(
        ncols=4, loc="lower left", bbox_to_anchor=(-0.1, 1), borderaxespad=0.2, columnspacing=0.8, handlelength=1.7
    )
    return origin(ax, "measured here")


def times(recorded: Recorded, network: str, session: str, ax: Axes | None = None) -> Axes:
    """Draw the total time over payload (the paper's figures 5 and 7), one line for each configuration."""
    ax = new_axes(ax, (5.9, 3.5))
    for number, (transport, qos) in enumerate(_CONFIGURATIONS):
        samples = [recorded.time(network, transport, session, size, qos=qos) for size in paper.SIZES]
        _curve(ax, number, paper.SIZES, samples, _name(transport, qos))
    ax.set(xscale="log", yscale="log", xlabel="payload of a message (bytes)", ylabel="start to complete receipt (ms)")
    ax.legend()
    return origin(ax, "measured here")


def round_trips(recorded: Recorded, network: str, ax: Axes | None = None, size: int = 100) -> Axes:
    """Draw measured times in round trips (median, quartiles) beside the number counted on paper."""
    ax = new_axes(ax, (6.2, 3.4))
    rtt = 1e3 * paper.NETWORKS[network].rtt
    labels, counted = [], []
    for place, (session, (transport, qos)) in enumerate(
        (s, c) for s in ("fresh", "persistent") for c in _CONFIGURATIONS
    ):
        x = recorded.time(network, transport, session, size, qos=qos) / rtt
        low, middle, high = np.percentile(x, [25, 50, 75])
        ax.errorbar(
            middle, place, xerr=[[middle - low], [high - middle]], color=SERIES[1], marker="o", linestyle="none",
            label="measured: median, quartiles" if place == 0 else None,
        )  # fmt: skip
        counted.append(overhead_formulas.round_trips(transport, qos, session))
        labels.append(f"{_name(transport, qos)}, {'fresh' if session == 'fresh' else 'open'}")
    ax.plot(counted, range(len(labels)), color=SERIES[0], marker="|", markersize=16, markeredgewidth=2.5,
            linestyle="none", label="counted on paper")  # fmt: skip
    ax.set_yticks(range(len(labels)), labels)
    ax.invert_yaxis()
    ax.set(xlabel="round trips from start to complete receipt", xlim=(0, None))
    ax.legend(ncols=2, loc="lower left", bbox_to_anchor=(-0.15, 1), borderaxespad=0.2)
    return origin(ax, "measured here")


def coalescing(recorded: Recorded, network: str, ax: Axes | None = None) -> Axes:
    """Draw the header bytes of a loop of 150 publishes over the gap between them, one line for each payload."""
    ax = new_axes(ax, (6.2, 3.5))
    gaps = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
    for number, size in enumerate((1, 100, 500, 1000)):
        samples = [recorded.header(network, "mqtt", "loop", size, gap=gap) for gap in gaps]
        _curve(ax, number, gaps, samples, f"{size} B")
    ax.axhspan(*paper.MQTT_HEADER_RANGE, color="0.5", alpha=0.15, linewidth=0, label="axis of slide 7")
    ax.set(xscale="symlog", xlabel="gap between messages (round trips)", ylabel="TCP headers of a loop (bytes)")
    ax.set_xscale("symlog", linthresh=0.05)
    ax.set_xticks(gaps, [f"{g:g}" for g in gaps])
    ax.minorticks_off()
    ax.legend(
        ncols=5, loc="lower left", bbox_to_anchor=(-0.14, 1), borderaxespad=0.2, columnspacing=0.7, handlelength=1.5
    )
    return origin(ax, "measured here")


def stall(recorded: Recorded, ax: Axes | None = None) -> Axes:
    """Draw the times of one fresh message with Nagle's algorithm in the broker and without: cumulative shares."""
    ax = new_axes(ax, (7.2, 3.8))
    number = 0
    for qos in (0, 1, 2):
        for nodelay in (True, False):
            x = np.sort(recorded.time("lan", "mqtt", "fresh", 100, qos=qos, nodelay=nodelay))
            label = f"QoS {qos}, {'TCP_NODELAY' if nodelay else 'Nagle (default)'}"
            ax.step(x, np.arange(1, len(x) + 1) / len(x), where="post", color=SERIES[qos],
                    linestyle="-" if nodelay else "--", label=label)  # fmt: skip
            number += 1
    ax.set(xscale="log", xlabel="start to complete receipt (ms)", ylabel="share of messages")
    _plain(ax.xaxis)
    ax.legend()
    return origin(ax, "measured here")


def beyond(networks: Mapping[str, tuple[Any, float]], ax: Axes | None = None, size: int = 100) -> Axes:
    """Draw the times of the series beyond the paper in round trips beside the number counted on paper.

    Each time is a mean with its 95 % interval.
    """
    ax = new_axes(ax, (6.3, 4.8))
    names: list[str] = []
    for number, (label, (rows, rtt)) in enumerate(networks.items(), start=1):
        table = extension_timings.table(rows, size, rtt)
        names = list(table.series)
        unit = 1e3 * rtt
        middle = table.mean_ms / unit
        ax.errorbar(
            middle, np.arange(len(names)) + 0.17 * (2 * number - 3),
            xerr=[middle - table.low / unit, table.high / unit - middle], color=SERIES[number],
            marker=MARKERS[number], markersize=4, linestyle="none", label=f"measured, {label}",
        )  # fmt: skip
        if number == 1:
            ax.plot(table.round_trips, range(len(names)), color=SERIES[0], marker="|", markersize=15,
                    markeredgewidth=2.5, linestyle="none", label="counted on paper")  # fmt: skip
    ax.set_yticks(range(len(names)), [extension_timings.CATALOGUE[name].label for name in names])
    ax.invert_yaxis()
    ax.set(xlabel="round trips from start to complete receipt", xlim=(0, None))
    ax.legend(
        ncols=3, loc="lower left", bbox_to_anchor=(-0.5, 1.03), borderaxespad=0.2, columnspacing=0.8, handlelength=1.4
    )
    return origin(ax, "measured here")


def memory(times: Any, ax: Axes | None = None, lags: int = 25) -> Axes:
    """Draw the autocorrelation of successive times, with the band in which independent ones would lie."""
    ax = new_axes(ax, (7.2, 3.4))
    x = np.asarray(times, float) - np.mean(times)
    r = [float(x[k:] @ x[: len(x) - k] / (x @ x)) for k in range(1, lags + 1)]
    ax.axhspan(-1.96 / np.sqrt(len(x)), 1.96 / np.sqrt(len(x)), color="0.5", alpha=0.2, linewidth=0,
               label="95 % of independent samples")  # fmt: skip
    ax.vlines(range(1, lags + 1), 0, r, color=SERIES[0])
    ax.plot(range(1, lags + 1), r, color=SERIES[0], marker="o", linestyle="none")
    ax.set(xlabel="lag (messages)", ylabel="autocorrelation", ylim=(-0.5, 1))
    ax.legend()
    return origin(ax, "measured here")


def ladder(segments: Sequence[Segment], ax: Axes | None = None) -> Axes:
    """Draw a session as a ladder: each segment an arrow from host to host, time downwards."""
    ax = new_axes(ax, (7.2, 0.36 * len(segments) + 1.2))
    for row, s in enumerate(segments):
        start, end = (0.0, 1.0) if s.outgoing else (1.0, 0.0)
        color = SERIES[1] if s.length else SERIES[0]
        ax.annotate("", (end, row + 0.25), (start, row - 0.25), arrowprops={"arrowstyle": "->", "color": color,
                    "linestyle": "-" if s.length else "--"})  # fmt: skip
        text = f"{'+'.join(s.flags)}  header {s.header} B" + (f", payload {s.length} B" if s.length else "")
        ax.text(0.5, row - 0.14, text, ha="center", va="bottom", fontsize=8.5, color=color)
    ax.set(xlim=(-0.15, 1.15), ylim=(len(segments) - 0.4, -0.9), xticks=[0, 1], ylabel="segment")
    ax.set_xticklabels(["sender", "other end"])
    ax.set_yticks(range(len(segments)), [str(i + 1) for i in range(len(segments))])
    ax.grid(False)
    return origin(ax, "measured here")


def icto_cost(recorded: Recorded, network: str, ax: Axes | None = None) -> Axes:
    """Draw the time that a cipher object adds to plain bytes, over payload, for TCP and MQTT QoS 1.

    Lines are medians, bands quartiles.
    """
    ax = new_axes(ax, (5.9, 3.5))
    for number, (transport, qos) in enumerate((("tcp", 0), ("mqtt", 1))):
        for kind, style in (("bytes", "-"), ("icto", "--")):
            q = np.array(
                [
                    np.percentile(recorded.time(network, transport, "fresh", s, qos=qos, kind=kind), [25, 50, 75])
                    for s in paper.SIZES
                ]
            )
            interval_band(ax, paper.SIZES, q[:, 0], q[:, 2], SERIES[number])
            what = "cipher object" if kind == "icto" else "plain bytes"
            ax.plot(paper.SIZES, q[:, 1], color=SERIES[number], linestyle=style, marker=MARKERS[number],
                    label=f"{_name(transport, qos)}, {what}")  # fmt: skip
    ax.set(xscale="log", yscale="log", xlabel="payload before sealing (bytes)", ylabel="start to receipt, opened (ms)")
    ax.legend(handlelength=3.5)
    return origin(ax, "measured here")


def advice(rtt: float, size: int, messages: int, subscribers: int, ax: Axes | None = None) -> Axes:
    """Draw bytes on the sender's link and total time of each way to send, counted on paper."""
    ax = new_axes(ax, (6.0, 2.7))
    options = overhead_formulas.advise(rtt=1e-3 * rtt, size=size, messages=messages, subscribers=subscribers)
    ax.barh(range(len(options)), [o.cost.octets for o in options], color=SERIES[0], height=0.55)
    for row, o in enumerate(options):
        ax.text(o.cost.octets, row, f"  {o.cost.octets:,} B, {1e3 * o.cost.seconds:,.0f} ms", va="center", fontsize=8.5)
    ax.set_yticks(range(len(options)), [o.name for o in options])
    ax.invert_yaxis()
    ax.set(xlabel="bytes on the sender's link, all headers included", xlim=(0, 1.6 * options[-1].cost.octets))
    ax.grid(axis="y", visible=False)
    return origin(ax, "theory")


def describe_advice(rtt: float, size: int, messages: int, subscribers: int) -> str:
    """Say in words what `advice` shows."""
    options = overhead_formulas.advise(rtt=1e-3 * rtt, size=size, messages=messages, subscribers=subscribers)
    words = "; ".join(f"{o.name} {o.cost.octets} bytes, {1e3 * o.cost.seconds:.0f} ms" for o in options)
    return (
        f"Round trip {rtt:g} ms, objects of {size} bytes, {messages} a session, {subscribers} receivers, "
        f"cheapest first: {words}."
    )

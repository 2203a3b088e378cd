"""The figures of the NFC part. Each takes `ax=None`, returns the axes and stamps where its data come from."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from voicewire.nfc import latency_formulas, paper
from voicewire.nfc.channel import Channel
from voicewire.nfc.exchange import Exchange, Outcomes
from voicewire.nfc.link import Link
from voicewire.nfc.session import Result, Session
from voicewire.nfc.slot_sharing import ShortSession, latency_map
from voicewire_book.kit import figures

__all__ = [
    "control_share",
    "decomposition",
    "efficiency_map",
    "error_raster",
    "exchange_runs",
    "expected_latency",
    "goodput_curve",
    "losses",
    "lossy_windows",
    "packet_trace",
    "slot_latency",
    "slot_staircase",
    "table_73",
    "timeline",
    "timer_walls",
    "wall_check",
    "window_delay",
]

KINDS = ("control", "data", "ACK")
HATCHES = ("..", "", "//")
KIND_COLOURS = (figures.SERIES[3], figures.SERIES[0], figures.SERIES[1])


def _new_axes(ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
    """Return `ax`, or new axes in the style that is in use."""
    return plt.subplots(figsize=size)[1] if ax is None else ax


def slot_staircase(link: Link, ax: Axes | None = None) -> Axes:
    """Slots of a packet over its IP bytes, with the packets of Table 7.2 marked (notebook 1)."""
    ax = _new_axes(ax)
    sizes = np.arange(1, 1561)
    slots = np.array([link.slots(int(size)) for size in sizes])
    ax.step(sizes, slots, where="post", color=figures.COLOURS["theory"], linestyle="-", label="slots of one packet")
    for marker, mss in zip(figures.MARKERS, paper.TABLE_72, strict=False):
        label = f"MSS {mss}: {link.slots(mss + 40)} slots"
        ax.plot(mss + 40, link.slots(mss + 40), marker, color=figures.COLOURS["muted"], label=label)
    ax.set(xlabel="size of the IP packet (bytes)", ylabel="slots of 10 ms", xlim=(0, 1560), ylim=(0, None))
    ax.legend()
    return figures.origin(ax, "theory")


def timeline(result: Result, until: float | None = None, ax: Axes | None = None) -> Axes:
    """Who has the link when: one bar a packet, the two directions on two rows (notebook 1)."""
    ax = _new_axes(ax, size=(7.0, 2.4))
    period = result.session.link.period
    first, length, direction, segment, lost = result.packets.T
    kinds = np.where(segment < 0, 0, 1 + direction)
    for row in (0, 1):
        for kind, (colour, hatch) in enumerate(zip(KIND_COLOURS, HATCHES, strict=True)):
            for hit in (0, 1):
                here = (direction == row) & (kinds == kind) & (lost == hit)
                if here.any():
                    ax.broken_barh(
                        list(zip(first[here] * period, length[here] * period, strict=True)),
                        (row - 0.36, 0.72),
                        facecolor="white" if hit else colour,
                        edgecolor="black",
                        linewidth=0.5,
                        hatch="xx" if hit else hatch,
                    )
    ax.set(
        xlabel="time (s)", yticks=[0, 1], yticklabels=["to the appliance", "back"], ylim=(1.6, -0.6),
        xlim=(0, until or result.seconds),
    )  # fmt: skip
    ax.grid(axis="y", visible=False)
    handles = [
        Patch(facecolor=colour, edgecolor="black", hatch=hatch, label=kind, linewidth=0.5)
        for kind, colour, hatch in zip(KINDS, KIND_COLOURS, HATCHES, strict=True)
    ]
    ax.legend(handles=handles, ncols=3, loc="lower left", bbox_to_anchor=(0, 1.0), borderaxespad=0.1)
    return figures.origin(ax, "simulated here")


def decomposition(sessions: Mapping[str, Session], printed: Mapping[str, float], ax: Axes | None = None) -> Axes:
    """Stacked parts of the closed form, with the printed latency as a mark (notebook 1)."""
    ax = _new_axes(ax, size=(7.0, 3.2))
    names = ("data", "acks", "handshake", "teardown", "responses", "stalls")
    hatches = ("", "//", "..", "xx", "\\\\", "++")
    left = np.zeros(len(sessions))
    parts = [latency_formulas.latency(session) for session in sessions.values()]
    period = next(iter(sessions.values())).link.period
    rows = np.arange(len(sessions))
    for name, hatch, colour in zip(names, hatches, figures.SERIES, strict=False):
        width = np.array([getattr(part, name) for part in parts]) * period
        ax.barh(rows, width, left=left, height=0.6, color=colour, edgecolor="white", hatch=hatch, label=name)
        left += width
    ax.plot(
        [printed[label] for label in sessions], rows, "D", color=figures.COLOURS["published"],
        markerfacecolor="white", label="printed",
    )  # fmt: skip
    ax.set(xlabel="session latency (s)", yticks=rows, yticklabels=list(sessions), xlim=(0, None))
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.legend(ncols=4, loc="lower left", bbox_to_anchor=(0, 1.04), borderaxespad=0.1)
    return figures.origin(ax, "theory")


def window_delay(latencies: Mapping[float, Sequence[float]], windows: Sequence[int], ax: Axes | None = None) -> Axes:
    """Extra latency against the largest window, by Ethernet delay: Fig. 7.3 as differences (notebooks 1 and 3)."""
    ax = _new_axes(ax)
    for i, (delay, times) in enumerate(latencies.items()):
        extra = np.asarray(times) - times[-1]
        ax.plot(
            range(len(windows)), extra, color=figures.SERIES[i], linestyle=figures.LINESTYLES[i],
            marker=figures.MARKERS[i], label=f"Ethernet delay {1e3 * delay:g} ms",
        )  # fmt: skip
    ax.axhline(paper.STALL_AT_1S_PRINTED, color=figures.COLOURS["published"], linestyle=":", linewidth=1.2)
    ax.annotate("printed for 1 s: 1.08 s", (len(windows) - 1, paper.STALL_AT_1S_PRINTED), ha="right", va="bottom")
    ax.set(
        xticks=range(len(windows)), xticklabels=[str(window) for window in windows],
        xlabel="initial window (bytes)", ylabel="extra latency (s)", ylim=(-0.04, 1.25),
    )  # fmt: skip
    ax.legend(loc="center right")
    return figures.origin(ax, "simulated here")


def goodput_curve(results: Mapping[str, Result], ax: Axes | None = None) -> Axes:
    """Application goodput so far, over time: Fig. 7.4 (notebook 3)."""
    ax = _new_axes(ax)
    for i, (label, result) in enumerate(results.items()):
        rows = result.packets[(result.packets[:, 2] == 0) & (result.packets[:, 3] >= 0) & (result.packets[:, 4] == 0)]
        end = (rows[:, 0] + rows[:, 1]) * result.session.link.period
        sizes = np.minimum(result.session.mss, result.session.size - rows[:, 3] * result.session.mss)
        ax.plot(
            end, 8e-3 * np.cumsum(sizes) / end, color=figures.SERIES[i], linestyle=figures.LINESTYLES[i], label=label
        )
    ax.axhline(
        paper.GOODPUT_PRINTED / 1e3, color=figures.COLOURS["published"], linestyle=":", label="printed: 8 kbit/s"
    )
    ax.set(xlabel="time (s)", ylabel="goodput so far (kbit/s)", ylim=(0, 8.6), xlim=(0, None))
    ax.legend(loc="lower right")
    return figures.origin(ax, "simulated here")


def losses(bits: int, ax: Axes | None = None) -> Axes:
    """Packet loss over bit error rate, independent and bursty, for packets of `bits` bits (notebook 2)."""
    ax = _new_axes(ax)
    rates = np.logspace(-7, -3, 200)
    kinds = (("independent errors, $p_{random}$", Channel.random), ("bursts of 4 bits, $p_{burst}$", Channel.burst))
    for i, (name, build) in enumerate(kinds):
        loss = [100 * build(float(rate)).loss(bits) for rate in rates]
        ax.loglog(rates, loss, color=figures.SERIES[i], linestyle=figures.LINESTYLES[i], label=name)
    ax.set(xlabel="bit error rate", ylabel=f"packets lost of {bits // 8} bytes (%)", ylim=(1e-3, 150))
    ax.legend()
    return figures.origin(ax, "theory")


def error_raster(errors: Mapping[str, np.ndarray], width: int, ax: Axes | None = None) -> Axes:
    """Bits in error as dots, reading order, `width` bits a row: what bursts look like (notebook 2)."""
    ax = _new_axes(ax, size=(7.0, 2.6))
    offset = 0
    for i, (name, hits) in enumerate(errors.items()):
        where = np.flatnonzero(hits)
        rows = len(hits) // width
        ax.plot(
            where % width, where // width + offset, figures.MARKERS[i], color=figures.SERIES[i], markersize=4,
            label=f"{name}: {len(where)} bits in error, {len(np.unique(where // width))} packets hit",
        )  # fmt: skip
        offset += rows + 4
    ax.set(xlabel="bit of the packet", ylabel="packet (one a row)", xlim=(0, width), yticks=[])
    ax.invert_yaxis()
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.05), borderaxespad=0.1)
    return figures.origin(ax, "simulated here")


def timer_walls(ax: Axes | None = None) -> Axes:
    """Expected timeouts a packet over the loss probability: p/(1-p) and p/(1-2p) (notebook 2)."""
    ax = _new_axes(ax)
    p = np.linspace(0, 0.98, 400)
    ax.plot(p, p / (1 - p), color=figures.SERIES[0], linestyle="-", label="constant timeout: p/(1 − p)")
    half = p[p < 0.5]
    ax.plot(half, half / (1 - 2 * half), color=figures.SERIES[1], linestyle="--", label="doubling timeout: p/(1 − 2p)")
    for wall, colour in ((1.0, figures.SERIES[0]), (0.5, figures.SERIES[1])):
        ax.axvline(wall, color=colour, linestyle=":", linewidth=1)
    ax.set(
        xlabel="probability p that a packet is lost", ylabel="expected wait (timeouts)", ylim=(0, 10), xlim=(0, 1.02)
    )
    ax.legend()
    return figures.origin(ax, "theory")


def wall_check(loss: np.ndarray, waits: Mapping[str, np.ndarray], ax: Axes | None = None) -> Axes:
    """Simulated waits with 95 % intervals over the two formulas; `waits` of shape (losses, seeds) (notebook 2)."""
    ax = timer_walls(ax)
    for i, (name, samples) in enumerate(waits.items()):
        middle = samples.mean(axis=1)
        half = 1.96 * samples.std(axis=1, ddof=1) / np.sqrt(samples.shape[1])
        ax.errorbar(
            loss, middle, half, fmt=figures.MARKERS[i], color=figures.SERIES[i], markerfacecolor="white",
            label=f"{name}, simulated",
        )  # fmt: skip
    for text in list(ax.texts):
        text.remove()
    ax.legend()
    return figures.origin(ax, "simulated here")


def packet_trace(results: Mapping[str, Result], ax: Axes | None = None) -> Axes:
    """Segments over time with lost ones crossed out: what a hole in a window does (notebook 2)."""
    ax = _new_axes(ax)
    for i, (label, result) in enumerate(results.items()):
        rows = result.packets[(result.packets[:, 2] == 0) & (result.packets[:, 3] >= 0)]
        time = (rows[:, 0] + rows[:, 1]) * result.session.link.period
        through = rows[:, 4] == 0
        ax.plot(time, rows[:, 3], color=figures.SERIES[i], linestyle=figures.LINESTYLES[i], linewidth=1, alpha=0.6)
        ax.plot(
            time[through], rows[through, 3], figures.MARKERS[i], color=figures.SERIES[i], markersize=3.5, label=label
        )
        ax.plot(time[~through], rows[~through, 3], "x", color=figures.COLOURS["published"], markersize=6)
    ax.plot([], [], "x", color=figures.COLOURS["published"], label="lost")
    ax.set(xlabel="time (s)", ylabel="segment", xlim=(0, None))
    ax.legend()
    return figures.origin(ax, "simulated here")


def exchange_runs(traces: Mapping[tuple[str, float], np.ndarray], ax: Axes | None = None) -> Axes:
    """One exchange a row: its length, and a tick for each lost packet (Fig. 7.7 to 7.12, notebook 3)."""
    ax = _new_axes(ax, size=(7.0, 3.4))
    for row, (key, trace) in enumerate(traces.items()):
        lost = trace[trace[:, 2] > 0, 0]
        ax.barh(row, trace[-1, 0], height=0.5, color=figures.COLOURS["simulated"], alpha=0.3)
        ax.plot(lost, np.full(len(lost), row), "|", color=figures.COLOURS["simulated"], markersize=13)
        ax.annotate(f"{len(lost)} lost", (trace[-1, 0], row), (6, 0), textcoords="offset points", va="center")
        ax.plot(
            paper.TABLE_73[key], row + 0.38, "^", color=figures.COLOURS["published"], markerfacecolor="white",
            label="printed latency" if row == 0 else None,
        )  # fmt: skip
    ax.set(
        yticks=range(len(traces)), yticklabels=[f"{kind}, {rate:.0e}" for kind, rate in traces],
        xlabel="time (s)", xlim=(0, 1.2 * max(trace[-1, 0] for trace in traces.values())),
    )  # fmt: skip
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.legend(loc="lower right")
    return figures.origin(ax, "simulated here")


def lossy_windows(times: Mapping[tuple[str, int], np.ndarray], ax: Axes | None = None) -> Axes:
    """Latency over the initial window in a lossy channel: Fig. 7.5 (notebook 3)."""
    ax = _new_axes(ax)
    rules, windows = (list(dict.fromkeys(column)) for column in zip(*times, strict=True))
    for i, rule in enumerate(rules):
        middle = np.array([times[rule, window].mean() for window in windows])
        low, high = np.percentile([times[rule, window] for window in windows], [2.5, 97.5], axis=1)
        ax.errorbar(
            np.arange(len(windows)) + 0.12 * (i - 0.5), middle, [middle - low, high - middle],
            fmt=figures.MARKERS[i], color=figures.SERIES[i], label=f"restart from {rule}: mean and 95 % of runs",
        )  # fmt: skip
    first = times[rules[0], windows[0]].mean()
    ax.plot(
        len(windows) - 1, first * (1 - paper.LOSSY_REDUCTION_PRINTED / 100), "D", color=figures.COLOURS["published"],
        markerfacecolor="white", label="printed: 7.5 % below the smallest window",
    )  # fmt: skip
    ax.set(
        xticks=range(len(windows)), xticklabels=[str(window) for window in windows], xlim=(-0.5, len(windows) - 0.5),
        xlabel="initial window (bytes)", ylabel="latency of 100 kB (s)", ylim=(0, None),
    )  # fmt: skip
    ax.legend(loc="lower left")
    return figures.origin(ax, "simulated here")


def table_73(outcomes: Mapping[tuple[str, float], Outcomes], ax: Axes | None = None) -> Axes:
    """Distribution of the Monte Carlo latencies with the printed values: Table 7.3 (notebook 3)."""
    ax = _new_axes(ax, size=(7.0, 3.8))
    for i, (key, out) in enumerate(outcomes.items()):
        ratio = out.seconds / paper.TABLE_73[key]
        low, middle, high = np.percentile(ratio, [2.5, 50, 97.5])
        ax.errorbar(
            middle, i, xerr=[[middle - low], [high - middle]], fmt="o", color=figures.COLOURS["simulated"],
            label="simulated: median and 95 % of runs" if i == 0 else None,
        )  # fmt: skip
        ax.plot(
            ratio.mean(),
            i,
            "|",
            color=figures.COLOURS["theory"],
            markersize=16,
            label="mean of runs" if i == 0 else None,
        )
    ax.axvline(1, color=figures.COLOURS["published"], linestyle=":", label="printed")
    ax.axvspan(0.92, 1.08, color=figures.COLOURS["muted"], alpha=0.12, linewidth=0, label="tolerance, 8 %")
    labels = [f"{kind}, {rate:.0e}" for kind, rate in outcomes]
    ax.set(yticks=range(len(labels)), yticklabels=labels, xlabel="latency, as a share of the printed one")
    ax.invert_yaxis()
    ax.legend(ncols=2, loc="lower left", bbox_to_anchor=(0, 1.04), borderaxespad=0.1)
    return figures.origin(ax, "simulated here")


def slot_latency(session: ShortSession, ax: Axes | None = None) -> Axes:
    """Latency over slot time at three bit rates: Fig. 7.13 to 7.15 on one pair of axes (notebook 3)."""
    ax = _new_axes(ax)
    active = np.linspace(*paper.SLOT_RANGE_MS, 61)
    times = latency_map(session, paper.RATES, active)
    for i, rate in enumerate(paper.RATES):
        ax.plot(active, times[i], color=figures.SERIES[i], linestyle=figures.LINESTYLES[i], label=f"{rate} kbit/s")
    ax.axvline(1e3 * paper.SLOT_ACTIVE, color=figures.COLOURS["muted"], linestyle=":", linewidth=1)
    ax.set(xlabel="active slot time (ms)", ylabel="latency (s)", ylim=(0, None))
    ax.legend()
    return figures.origin(ax, "theory")


def efficiency_map(session: ShortSession, ax: Axes | None = None) -> Axes:
    """Efficiency over slot time against the best latency of the map, with the four printed points (notebook 3)."""
    ax = _new_axes(ax)
    active = np.linspace(*paper.SLOT_RANGE_MS, 61)
    times = latency_map(session, paper.RATES, active)
    for i, rate in enumerate(paper.RATES):
        ax.plot(
            active, 100 * times.min() / times[i], color=figures.SERIES[i], linestyle=figures.LINESTYLES[i],
            label=f"{rate} kbit/s",
        )  # fmt: skip
        at = [(time, value) for (bits, time), value in paper.EFFICIENCY.items() if bits == rate]
        ax.plot(
            *zip(*at, strict=True), figures.MARKERS[i], color=figures.COLOURS["published"], markerfacecolor="white",
            label=f"printed, {rate} kbit/s",
        )  # fmt: skip
    ax.set(xlabel="active slot time (ms)", ylabel="efficiency (%)", ylim=(0, 105))
    ax.legend(ncols=2, loc="lower right")
    return figures.origin(ax, "theory")


def control_share(session: ShortSession, rate: float, ax: Axes | None = None) -> Axes:
    """Latency over the share of control messages, three roundings: Fig. 7.16 (notebook 3)."""
    ax = _new_axes(ax)
    shares = np.arange(paper.SECTION_SLOTS) / paper.SECTION_SLOTS
    names = ("Eq. 7.4, not rounded", "packet rounded up", "section rounded up")
    for i, (rounding, name) in enumerate(zip(("none", "packet", "section"), names, strict=True)):
        times = [session.seconds(rate, 1e3 * paper.SLOT_ACTIVE, float(share), rounding) for share in shares]  # type: ignore[arg-type]
        ax.plot(
            shares,
            times,
            color=figures.SERIES[i],
            linestyle=figures.LINESTYLES[i],
            marker=figures.MARKERS[i],
            label=name,
        )
    ax.set(xlabel="share of slots for control messages, a/b", ylabel="latency (s)", ylim=(0, None))
    ax.legend()
    return figures.origin(ax, "theory")


def expected_latency(exchange: Exchange, ax: Axes | None = None) -> Axes:
    """Expected latency of the exchange over the bit error rate, both kinds and both timers (notebook 2)."""
    ax = _new_axes(ax)
    rates = np.logspace(-6.5, -3.6, 160)
    i = 0
    for name, build in (("independent", Channel.random), ("bursts", Channel.burst)):
        for backoff in (False, True):
            ends = [
                Exchange(channel=build(float(rate)), backoff=backoff, rto=exchange.rto, latency=exchange.latency).mean
                for rate in rates
            ]
            label = f"{name}, {'doubling' if backoff else 'constant'} timeout"
            ax.loglog(rates, ends, color=figures.SERIES[i], linestyle=figures.LINESTYLES[i], label=label)
            i += 1
    for marker, kind in zip(figures.MARKERS, ("random", "burst"), strict=False):
        points = [(rate, value) for (name, rate), value in paper.TABLE_73.items() if name == kind]
        ax.plot(
            *zip(*points, strict=True), marker, color=figures.COLOURS["published"], markerfacecolor="white",
            linestyle="none", label=f"printed, {kind}",
        )  # fmt: skip
    ax.set(xlabel="bit error rate", ylabel="expected latency (s)", ylim=(100, 3000))
    ax.legend(fontsize=8.5)
    return figures.origin(ax, "theory")

"""The figures of this part; each returns its axes and takes `ax=None`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from voicewire.netsim import equation
from voicewire.netsim.simulation import FlowResult
from voicewire.voip import emodel, loss_bursts, paper
from voicewire.voip.calls import Call
from voicewire.voip.codecs import redundant_frames
from voicewire_book.chapters.voip.operating_points import Curve
from voicewire_book.kit import figures as house

__all__ = [
    "delays_of_call",
    "impairments",
    "intervals",
    "loss_rules",
    "mos_curve",
    "places",
    "playout_scatter",
    "quality_plot",
    "r_surface",
    "rate_after_idle",
    "response",
    "shared",
    "smoothness",
    "states_plot",
    "trace",
]


def response(ax: Axes | None = None, rtt: float = 0.1) -> Axes:
    """Rate against loss event rate: plain equation with G.729's packet, TFRC-SP, and what the codecs need."""
    ax = house.new_axes(ax)
    p = np.geomspace(1e-5, 0.5, 200)
    for k, (name, x) in enumerate(
        {
            "TFRC, s = 20 bytes": equation.rate(20, rtt, p),
            "TFRC-SP, 20-byte packets": equation.small_packet_rate(20, rtt, p),
        }.items()
    ):
        ax.loglog(p, x / 1000, color=house.SERIES[k], linestyle=house.LINESTYLES[k], label=name)
    ax.axhline(1.0, color=house.COLOURS["muted"], linestyle=":", label="G.729 needs 1 kB/s")
    ax.set(xlabel="loss event rate p", ylabel="allowed rate / kB/s", title=f"round trip {rtt * 1000:.0f} ms")
    ax.legend()
    return house.origin(ax, "theory")


def intervals(losses: ArrayLike, ax: Axes | None = None) -> Axes:
    """Weights of the loss intervals, newest first, beside the printed ones."""
    ax = house.new_axes(ax)
    i = np.arange(8)
    ax.bar(i - 0.2, equation.WEIGHTS, 0.4, color=house.SERIES[0], label="RFC 3448")
    ax.bar(i + 0.2, np.asarray(losses, dtype=float), 0.4, color=house.SERIES[1], hatch="//", label="as printed")
    ax.set(xlabel="loss interval i (0 is the newest)", ylabel="weight w")
    ax.legend()
    return house.origin(ax, "published")


def rate_after_idle(calls: Mapping[str, Call], window: tuple[float, float], ax: Axes | None = None) -> Axes:
    """Allowed rate X over time for several senders that carry the same words."""
    ax = house.new_axes(ax)
    for k, (name, c) in enumerate(calls.items()):
        t = c.flow.rates[:, 0] / 1e9
        keep = (t >= window[0]) & (t <= window[1])
        ax.step(
            t[keep],
            c.flow.rates[keep, 1] / 20,
            where="post",
            color=house.SERIES[k],
            linestyle=house.LINESTYLES[k],
            label=name,
        )
    first = next(iter(calls.values()))
    spoken = first.talk.times / 1e9
    _on_bars(ax, spoken[(spoken >= window[0]) & (spoken <= window[1])])
    ax.axhline(50, color=house.COLOURS["muted"], linestyle=":", label="codec: 50 packets/s")
    ax.set(xlabel="time / s", ylabel="allowed rate X / packets/s", yscale="log", xlim=window)
    ax.legend(fontsize="small")
    return house.origin(ax, "simulated here")


def smoothness(
    tcp: FlowResult, tfrc: FlowResult, rtt: float, window: tuple[float, float], ax: Axes | None = None
) -> Axes:
    """TCP's rate, a window a round trip, and TFRC's allowed rate, over time (the thesis' Figure 3.1)."""
    ax = house.new_axes(ax)
    top = 0.0
    for k, (name, flow, over) in enumerate((("TCP", tcp, rtt), ("TFRC", tfrc, 1.0))):
        t, rate = flow.rates[:, 0] / 1e9, flow.rates[:, 1] / over / 1e3
        ax.step(t, rate, where="post", color=house.SERIES[k], linestyle=house.LINESTYLES[k], label=name)
        top = max(top, float(rate[(t >= window[0]) & (t <= window[1])].max()))
    ax.set(xlabel="time / s", ylabel="rate / kB/s", xlim=window, ylim=(0, 1.2 * top))
    ax.legend(ncols=2, loc="upper right")
    return house.origin(ax, "simulated here")


def _on_bars(ax: Axes, spoken: Any) -> None:
    if spoken.size == 0:
        return
    cuts = np.flatnonzero(np.diff(spoken) > 0.021)
    for a, b in zip(np.r_[0, cuts + 1], np.r_[cuts, spoken.size - 1], strict=True):
        ax.axvspan(spoken[a], spoken[b] + 0.02, color="#dddddd", zorder=0)


def mos_curve(ax: Axes | None = None) -> Axes:
    """MOS over R (Figure 3.4), with the points of Table 4.2."""
    ax = house.new_axes(ax)
    r = np.linspace(0, 100, 201)
    ax.plot(r, emodel.mos(r), color=house.COLOURS["theory"], label="equation")
    ax.plot(
        list(paper.MOS_TABLE),
        list(paper.MOS_TABLE.values()),
        linestyle="none",
        marker="s",
        color=house.COLOURS["published"],
        label="Table 4.2",
    )
    ax.set(xlabel="R", ylabel="MOS", ylim=(0.9, 4.7))
    ax.legend()
    return house.origin(ax, "theory")


def r_surface(codec: str = "G.729", ax: Axes | None = None) -> Axes:
    """Contours of R over delay and loss (Figure 4.2)."""
    ax = house.new_axes(ax)
    d, e = np.meshgrid(np.linspace(0, 400, 101), np.linspace(0, 0.1, 101))
    lines = ax.contour(d, 100 * e, emodel.r_factor(d, e, codec), levels=np.arange(20, 100, 10), colors=house.SERIES[0])
    # labels where the contour is well inside the axes: at its middle, automatic places run over the edge
    middles = [max(parts, key=len) for parts in lines.allsegs if any(len(part) for part in parts)]
    ax.clabel(lines, fmt="R = %.0f", manual=[tuple(line[len(line) // 2]) for line in middles])
    ax.set(xlabel="delay / ms", ylabel="frames lost / %", title=codec)
    return house.origin(ax, "theory")


def impairments(delay_ms: float, ax: Axes | None = None) -> Axes:
    """R over loss for every codec at one delay."""
    ax = house.new_axes(ax)
    e = np.linspace(0, 0.1, 101)
    for k, name in enumerate(paper.CODECS):
        ax.plot(
            100 * e,
            emodel.r_factor(delay_ms, e, name),
            color=house.SERIES[k],
            linestyle=house.LINESTYLES[k],
            label=name,
        )
    ax.set(xlabel="frames lost / %", ylabel="R", ylim=(0, 100), title=f"one-way delay {delay_ms:.0f} ms")
    ax.legend()
    return house.origin(ax, "theory")


def delays_of_call(c: Call, window: tuple[float, float], ax: Axes | None = None) -> Axes:
    """Delay of each frame, with the playout delay that the bound chooses for its talkspurt (Figure 4.3's idea)."""
    ax = house.new_axes(ax)
    t = c.talk.times / 1e9
    keep = (t >= window[0]) & (t <= window[1])
    here = np.isfinite(c.delays_ms)
    ax.plot(t[keep & here], c.delays_ms[keep & here], ".", color=house.SERIES[0], label="frame that came")
    ax.plot(t[keep & ~here], np.zeros((keep & ~here).sum()), "x", color=house.SERIES[1], label="frame that didn't")
    _, index = np.unique(c.talk.spurts, return_inverse=True)
    chosen = c.playout.delays_ms[index]
    line = np.where(np.diff(index, prepend=index[0]) > 0, np.nan, chosen)
    ax.plot(t[keep], line[keep], color=house.SERIES[2], linestyle="--", label="played at")
    ax.set(xlabel="spoken at / s", ylabel="delay / ms", xlim=window, ylim=(-10, None))
    ax.legend(fontsize="small")
    return house.origin(ax, "simulated here")


def playout_scatter(
    names: Sequence[str], best: ArrayLike, adaptive: ArrayLike, fixed: ArrayLike, ax: Axes | None = None
) -> Axes:
    """R by playout rule for several transports."""
    ax = house.new_axes(ax)
    y = np.arange(len(names))
    for k, (label, r) in enumerate({"bound": best, "best fixed delay": fixed, "Ramjee": adaptive}.items()):
        ax.plot(
            np.asarray(r),
            y + 0.15 * (k - 1),
            linestyle="none",
            marker=house.MARKERS[k],
            color=house.SERIES[k],
            label=label,
        )
    ax.set(xlabel="R", yticks=y)
    ax.set_yticklabels(names)
    ax.legend()
    return house.origin(ax, "simulated here")


def quality_plot(curves: Mapping[str, Curve], what: str, ax: Axes | None = None, title: str = "") -> Axes:
    """R against delay or loss: medians, quartiles as bands (Figures 5.1 to 5.6)."""
    ax = house.new_axes(ax, (6.0, 3.7))
    for k, (name, curve) in enumerate(curves.items()):
        colour = house.SERIES[k % 8]
        x = curve.x if what == "delay" else 100 * curve.x
        below = len(curves) - 1 - k  # where curves coincide, the lower ones look out from under the upper ones
        ax.plot(
            x,
            curve.median,
            color=colour,
            linestyle=house.LINESTYLES[k % 8],
            linewidth=1.2 + 0.6 * below,
            marker=house.MARKERS[k % 8],
            markersize=3.5 + 0.9 * below,
            label=name,
        )
        house.interval_band(ax, x, *curve.quartiles, colour)
    ax.set(
        xlabel="one-way delay / ms" if what == "delay" else "packets lost / %",
        ylabel="R, median and quartiles",
        title=title,
    )
    if what == "loss":
        ax.set_xscale("log")
    # below the axes: six curves leave no corner that is empty in all six figures
    ax.legend(fontsize="small", ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.17))
    return house.origin(ax, "simulated here")


def _fates(ax: Axes, c: Call, keep: NDArray[np.bool_]) -> None:
    """When each frame of a call was sent, received and played."""
    t = c.talk.times / 1e9
    ax.plot(
        c.flow.sent[keep & (c.flow.sent >= 0)] / 1e9,
        np.flatnonzero(keep & (c.flow.sent >= 0)),
        "|",
        color=house.SERIES[0],
        label="sent",
    )
    got = keep & (c.flow.arrive >= 0)
    ax.plot(c.flow.arrive[got] / 1e9, np.flatnonzero(got), ".", markersize=2, color=house.SERIES[1], label="received")
    _, spurt = np.unique(c.talk.spurts, return_inverse=True)
    wait = c.playout.delays_ms[spurt]  # of each frame's talkspurt
    heard = keep & (c.delays_ms <= wait)
    ax.plot((t + wait / 1e3)[heard], np.flatnonzero(heard), "_", markersize=4, color=house.SERIES[2], label="played")
    ax.set(ylabel="frame")
    ax.legend(fontsize="x-small", loc="upper left")


def trace(c: Call, window: tuple[float, float], frame_bytes: int = 20) -> Any:
    """Six panels of one call (Figures 5.7 and 5.8); the figure is returned."""
    figure, axes = plt.subplots(6, 1, figsize=(6.0, 7.4), sharex=True, layout="constrained")
    t = c.talk.times / 1e9
    keep = (t >= window[0]) & (t <= window[1])
    _on_bars(axes[0], t[keep])
    axes[0].set(ylabel="voice", yticks=[])
    _fates(axes[1], c, keep)
    rates, levels = c.flow.rates, c.flow.levels
    axes[2].step(rates[:, 0] / 1e9, rates[:, 1] / frame_bytes, where="post", color=house.SERIES[0])
    axes[2].axhline(50, color=house.COLOURS["muted"], linestyle=":")
    axes[2].set(ylabel="X /\npackets/s", yscale="log", ylim=(1, 500))
    axes[3].step(levels[:, 0] / 1e9, levels[:, 1], where="post", color=house.SERIES[3])
    axes[3].set(ylabel="buffer /\nframes", ylim=(0, 5.5))
    bins = np.arange(window[0], window[1] + 0.1, 0.1)
    for k, (label, times) in enumerate({"in": c.flow.sent, "out": c.flow.arrive}.items()):
        count, _ = np.histogram(times[times >= 0] / 1e9, bins)
        axes[4].step(
            bins[:-1],
            count * (frame_bytes + 40) / 100,
            where="post",
            color=house.SERIES[k],
            linestyle=house.LINESTYLES[k],
            label=label,
        )
    axes[4].set(ylabel="link /\nkB/s")
    axes[4].legend(fontsize="x-small", loc="upper left")
    missing = (~np.isfinite(c.delays_ms)).astype(float)
    running = np.convolve(missing, np.ones(100) / 100)[: missing.size]
    finite = keep & np.isfinite(c.delays_ms)
    axes[5].plot(
        t[finite], emodel.delay_impairment(c.delays_ms[finite]), ".", markersize=2, color=house.SERIES[0], label="$I_d$"
    )
    axes[5].plot(
        t[keep],
        emodel.loss_impairment(running[keep], "G.729"),
        color=house.SERIES[1],
        linestyle="--",
        label="$I_e$, last 100 frames",
    )
    axes[5].set(ylabel="impairment", xlabel="time / s", xlim=window)
    axes[5].legend(fontsize="x-small", loc="upper left")
    house.origin(axes[5], "simulated here")
    return figure


def shared(rows: Mapping[str, Sequence[Any]], rates: Sequence[float], ax: Axes | None = None) -> Axes:
    """Median R of twelve calls over the rate of their common link (Figure 5.9's question)."""
    ax = house.new_axes(ax)
    for k, (name, row) in enumerate(rows.items()):
        low, mid, high = np.quantile([s.r for s in row], (0.25, 0.5, 0.75), axis=1)
        ax.plot(rates, mid, color=house.SERIES[k], linestyle=house.LINESTYLES[k], marker=house.MARKERS[k], label=name)
        house.interval_band(ax, rates, low, high, house.SERIES[k])
    ax.set(xlabel="bottleneck / kbit/s", ylabel="R of twelve calls")
    ax.legend(fontsize="small")
    return house.origin(ax, "simulated here")


def states_plot(ax: Axes | None = None) -> Axes:
    """The client's and the server's states, drawn from the same data that walks them."""
    from voicewire.voip.dccp.state_machine import TRANSITIONS

    ax = house.new_axes(ax, (6.4, 5.2))
    place = {
        "CLOSED": (1, 5),
        "LISTEN": (2, 4),
        "REQUEST": (0, 4),
        "RESPOND": (2, 3),
        "PARTOPEN": (0, 3),
        "OPEN": (1, 2),
        "CLOSEREQ": (2, 1),
        "CLOSING": (0.6, 1),
        "TIMEWAIT": (1, 0),
    }
    boxes = {
        name: ax.text(
            x, y, name, ha="center", va="center", zorder=3, bbox={"boxstyle": "round", "facecolor": "white"}
        ).get_bbox_patch()
        for name, (x, y) in place.items()
    }
    for k, role in enumerate(("client", "server")):
        drawn = {(t.state, t.to) for t in TRANSITIONS if t.role == role and t.state != t.to}
        for a, b in sorted(drawn):
            ax.annotate(
                "",
                place[b],
                place[a],
                arrowprops={
                    "arrowstyle": "->",
                    "color": house.SERIES[k],
                    "linestyle": ("solid", "dashed")[k],
                    "shrinkA": 0,
                    "shrinkB": 1,
                    "patchA": boxes[a],  # from edge to edge: no head hides behind a wide box
                    "patchB": boxes[b],
                    "connectionstyle": f"arc3,rad={0.12 - 0.24 * k}",
                },
            )
        ax.plot([], [], color=house.SERIES[k], linestyle=("solid", "dashed")[k], label=role)
    ax.set(xlim=(-0.5, 2.5), ylim=(-0.5, 5.5))
    ax.axis("off")
    ax.legend(loc="lower right")
    return house.origin(ax, "theory")


def loss_rules(ax: Axes | None = None) -> Axes:
    """Draw what a loss costs by the thesis' rule and by G.107's, at random and in bursts twice as long."""
    ax = house.new_axes(ax)
    loss = np.linspace(0, 0.3, 121)
    for k, name in enumerate(("G.711", "G.729")):
        colour = house.SERIES[k]
        cost_then = emodel.loss_impairment(loss, name)
        ax.plot(100 * loss, cost_then, color=colour, linestyle="-", label=f"{name}, thesis")
        for burst, style, words in ((1.0, "--", "G.107"), (2.0, ":", "G.107, bursts twice as long")):
            cost = [loss_bursts.effective_impairment(float(e), *loss_bursts.ROBUSTNESS[name], burst) for e in loss]
            ax.plot(100 * loss, cost, color=colour, linestyle=style, label=f"{name}, {words}")
    ax.set(xlabel="frames not played / %", ylabel="impairment (units of R)", xlim=(0, 30), ylim=(0, 95))
    ax.legend(fontsize="small")
    return house.origin(ax, "theory")


JUDGES = {"snr_db": "signal to noise / dB", "lsd_db": "spectral distance / dB", "pesq": "PESQ / MOS"}


def places(table: pd.DataFrame, voice: str, loss: float, burst: float = 1.0, ax: Axes | None = None) -> Axes:
    """Draw which place each codec and repair takes by each measure, with the median beside it."""
    ax = house.new_axes(ax)
    orders = [redundant_frames.order(table, measure, voice, loss, burst) for measure in JUDGES]
    at = np.arange(len(orders))
    for k, arm in enumerate(redundant_frames.ARMS):
        place = [1 + list(found).index(arm) for found in orders]
        colour = house.SERIES[k]
        ax.plot(at, place, color=colour, linestyle=house.LINESTYLES[k], marker=house.MARKERS[k])
        ax.annotate(arm, (at[-1], place[-1]), (42, 0), textcoords="offset points", va="center", color=colour)
        for x, y, found in zip(at, place, orders, strict=True):
            ax.annotate(f"{found[arm]:.1f}", (x, y), (0, 6), textcoords="offset points", ha="center", fontsize="small")
    ax.set(
        xticks=at, xticklabels=list(JUDGES.values()), xlim=(-0.3, at[-1] + 1.0), ylabel="place",
        yticks=range(1, len(redundant_frames.ARMS) + 1), ylim=(len(redundant_frames.ARMS) + 0.4, 0.4),
        title=f"{voice}: {100 * loss:.0f} % of the packets lost, burst ratio {burst:.0f}",
    )  # fmt: skip
    ax.grid(visible=False, axis="y")
    return house.origin(ax, "measured here")

"""The figures of *TCP in one chapter*. Each takes `ax=None`, returns the axes and stamps where its data come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from voicewire.netsim.reference.tcp_sender import Timeout, Turns, measure
from voicewire_book.chapters.foundations.tcp import cubic, red
from voicewire_book.chapters.foundations.tcp_trace import Trace
from voicewire_book.kit import figures

__all__ = ["equations", "growth", "queue", "sawtooth", "segments", "step", "windows", "writes"]


def segments(run: Trace, ax: Axes | None = None) -> Axes:
    """Segments over time: each that leaves, those that are lost, and the acknowledgements."""
    ax = figures.new_axes(ax, size=(7.0, 3.2))
    t, number = np.array(run.sent).T
    ax.plot(1000 * t, number, ".", color=figures.SERIES[0], label="segment sent")
    if run.lost:
        t, number = np.array(run.lost).T
        ax.plot(1000 * t, number, "x", color=figures.SERIES[1], markersize=10, markeredgewidth=2.5, label="lost")
    t, number = np.array([(0.0, 0), *run.acknowledged]).T
    ax.step(
        1000 * t,
        number,
        where="post",
        color=figures.SERIES[2],
        linestyle="--",
        linewidth=1.3,
        label="acknowledged up to",
    )
    ax.set(xlabel="time (ms)", ylabel="segment", ylim=(-1, None))
    ax.legend(loc="lower right")
    return figures.origin(ax, "simulated here")


def windows(runs: Mapping[str, Turns], ax: Axes | None = None) -> Axes:
    """The congestion window of whole transfers, over time."""
    ax = figures.new_axes(ax, size=(7.0, 3.0))
    for k, (name, turns) in enumerate(runs.items()):
        times, cwnd = np.array([(1000 * time, cwnd) for time, cwnd, _ in turns]).T
        ax.step(times, cwnd, where="post", color=figures.SERIES[k], linestyle=("-", "--", ":")[k % 3], label=name)
    ax.set(xlabel="time (ms)", ylabel="window (segments)", ylim=(0, None))
    ax.legend()
    return figures.origin(ax, "simulated here")


def step(before: float, after: float, samples: int = 30, ax: Axes | None = None) -> Axes:
    """The timer without a floor when the round trip jumps: simulated marks on the derived curve."""
    ax = figures.new_axes(ax)
    n = np.arange(samples + 1)
    timer = Timeout(0.0, before, before, 0.0)
    found = [timer.rto]
    for _ in range(samples):
        measure(timer, after)
        found.append(timer.rto)
    jump = after - before
    derived = after + jump * (7 * (7 / 8) ** n - 8 * (3 / 4) ** n)
    ax.plot(n, 1000 * derived, "-", color=figures.COLOURS["theory"], label="derived")
    ax.plot(n, 1000 * np.array(found), "o", color=figures.COLOURS["simulated"], label="the timer, step by step")
    ax.axhline(1000 * after, color=figures.COLOURS["muted"], linestyle=":", label="new round trip")
    ax.set(xlabel="measurements since the jump", ylabel="RTO (ms)", ylim=(0, None))
    ax.legend(loc="lower right")
    return figures.origin(ax, "simulated here")


def sawtooth(windows: Mapping[str, ArrayLike], rounds: int = 200, ax: Axes | None = None) -> Axes:
    """Windows round trip by round trip, with their means."""
    ax = figures.new_axes(ax, size=(7.0, 3.0))
    for k, (name, values) in enumerate(windows.items()):
        w = np.asarray(values)
        colour = figures.SERIES[k]
        ax.plot(w[:rounds], color=colour, linestyle=figures.LINESTYLES[k], label=f"{name}, mean {w.mean():.1f}")
        ax.axhline(w.mean(), color=colour, linewidth=0.8, linestyle=":")
    ax.set(xlabel="round trip", ylabel="window (segments)", ylim=(0, None))
    ax.legend(loc="upper right")
    return figures.origin(ax, "simulated here")


def equations(p: NDArray[np.float64], curves: Mapping[str, ArrayLike], ax: Axes | None = None) -> Axes:
    """Segments in a round trip over the loss rate, by several formulas."""
    ax = figures.new_axes(ax)
    for k, (name, values) in enumerate(curves.items()):
        ax.loglog(p, np.asarray(values), linestyle=figures.LINESTYLES[k], color=figures.SERIES[k], label=name)
    ax.set(xlabel="loss event rate p", ylabel="segments in a round trip")
    ax.legend()
    return figures.origin(ax, "theory")


def growth(rtts: Sequence[float], w_max: float, seconds: float = 12.0, ax: Axes | None = None) -> Axes:
    """After a loss at `w_max`: CUBIC over time, and Reno for several round-trip times."""
    ax = figures.new_axes(ax)
    t = np.linspace(0, seconds, 300)
    ax.plot(t, cubic(t, w_max), "-", color=figures.SERIES[0], label="CUBIC, at any round trip")
    for k, rtt in enumerate(rtts, 1):
        reno = w_max / 2 + t / rtt
        label = f"Reno at {1000 * rtt:.0f} ms"
        ax.plot(t, reno, linestyle=figures.LINESTYLES[k], color=figures.SERIES[k], label=label)
    ax.axhline(w_max, color=figures.COLOURS["muted"], linewidth=0.8, linestyle=":")
    ax.set(xlabel="time since the loss (s)", ylabel="window (segments)", ylim=(0, 2 * w_max))
    ax.legend(loc="lower right")
    return figures.origin(ax, "theory")


def writes(times: Sequence[float], rows: Mapping[str, Sequence[tuple[float, int]]], ax: Axes | None = None) -> Axes:
    """Small writes, and the segments that they leave in: one row for each set of rules."""
    ax = figures.new_axes(ax, size=(7.0, 0.75 * len(rows) + 1.6))
    ax.vlines(
        1000 * np.array(times), -0.3, len(rows) - 0.4, color=figures.COLOURS["muted"], linewidth=0.8, linestyle=":"
    )
    for k, sent in enumerate(rows.values()):
        for at, count in sent:
            ax.plot(1000 * at, k, figures.MARKERS[k], color=figures.SERIES[k], markersize=5 + 2 * count)
            ax.annotate(f"{count}", (1000 * at, k), (0, 9), textcoords="offset points", ha="center", fontsize=9)
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set(xlabel="time (ms); dotted: the program writes", ylim=(-0.6, len(rows) - 0.2))
    return figures.origin(ax, "theory")


def queue(low: float, high: float, most: float, ax: Axes | None = None) -> Axes:
    """RED's three zones."""
    ax = ax or plt.subplots(figsize=(7.0, 2.6))[1]
    q = np.linspace(0, 1.4 * high, 800)
    ax.plot(q, 100 * red(q, low, high, most), "-", color=figures.COLOURS["theory"])
    for middle, text in ((low / 2, "none"), ((low + high) / 2, "some"), (1.2 * high, "all")):
        ax.text(middle, 55, text, ha="center")
    ax.set(xlabel="average queue (packets)", ylabel="dropped or marked (%)")
    return figures.origin(ax, "theory")

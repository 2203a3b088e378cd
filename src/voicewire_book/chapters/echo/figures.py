"""Figures of the echo study: each takes data and returns its axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import DisplayHandle
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from voicewire.echo import paper
from voicewire.echo.metrics import Curve, dcd_operations, woodbury_operations
from voicewire.echo.recordings.cancellation import Cancelled
from voicewire.stats import t_interval
from voicewire_book.kit.figures import COLOURS, LINESTYLES, MARKERS, SERIES, Origin, interval_band, new_axes, origin

__all__ = [
    "Live",
    "by_length",
    "by_reuse",
    "conversations",
    "curves",
    "descent",
    "far_rooms",
    "heard",
    "kept",
    "learning",
    "misprints",
    "responses",
    "trade_off",
    "with_and_without_dcd",
    "work",
]


def label(key: tuple[int, float]) -> str:
    r"""How a curve (N_it, alpha_r) is named in every figure."""
    return f"$N_{{it}}={key[0]}$, $\\alpha_r={key[1]:g}$"


def curves(
    data: Mapping[tuple[int, float], Curve],
    change_at: int,
    source: Origin,
    seconds: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Misalignment against time, one line a curve; the change of the echo paths is marked."""
    ax = new_axes(ax, (7.0, 3.8))
    unit = 1 / paper.RATE if seconds else 1e-3
    for i, (key, curve) in enumerate(data.items()):
        ax.plot(
            curve.samples * unit, curve.decibels, color=SERIES[i], linestyle=LINESTYLES[i], label=label(key), lw=1.3
        )
    ax.axvline(change_at * unit, color=COLOURS["muted"], lw=1)
    ax.set_xlabel("time (s)" if seconds else "time index (thousand samples)")
    ax.set_ylabel("misalignment (dB)")
    ax.legend(ncols=2, fontsize=8)
    return origin(ax, source)


def responses(paths: Mapping[str, ArrayLike], ax: Axes | None = None) -> Axes:
    """Impulse responses, shifted apart so that each can be followed."""
    ax = new_axes(ax, (7.0, 3.0))
    for i, (name, response) in enumerate(paths.items()):
        values = np.asarray(response)
        ax.plot(values / np.abs(values).max() - 2 * i, color=SERIES[i], lw=1.0, linestyle="-")
        ax.text(values.size, -2 * i, f" $g_{{{name}}}$", color=SERIES[i], va="center")
    ax.set_yticks([])
    ax.set_xlabel("delay (samples)")
    ax.set_ylabel("amplitude (scaled)")
    return origin(ax, "simulated here")


def learning(data: Mapping[str, Curve], ax: Axes | None = None) -> Axes:
    """Misalignment of several algorithms in one scene."""
    ax = new_axes(ax)
    for i, (name, curve) in enumerate(data.items()):
        ax.plot(curve.samples / 1e3, curve.decibels, color=SERIES[i], linestyle=LINESTYLES[i], label=name)
    ax.set_xlabel("time index (thousand samples)")
    ax.set_ylabel("misalignment (dB)")
    ax.legend()
    return origin(ax, "simulated here")


def misprints(data: Mapping[str, Curve], ax: Axes | None = None) -> Axes:
    """Misalignment of a table's program by the misprints left in; the names stand below, as curves fill the height."""
    ax = learning(data, ax)
    ax.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.18))
    return ax


def heard(data: Mapping[str, ArrayLike], ax: Axes | None = None) -> Axes:
    """How loudly each direction of the taps is heard, relative to the loudest; what is silent falls off the axis."""
    ax = new_axes(ax, (6.0, 3.4))
    for i, (name, values) in enumerate(data.items()):
        share = np.maximum(np.asarray(values) / np.asarray(values)[0], 1e-30)
        (line,) = ax.plot(np.arange(1, share.size + 1), 10 * np.log10(share), color=SERIES[i], label=name)
        line.set(linestyle=LINESTYLES[i], marker=MARKERS[i], markevery=0.12)
    ax.set_ylim(-110, 5)
    ax.set_xlabel("direction of the taps, by loudness")
    ax.set_ylabel("echo of a change of size 1 (dB)")
    ax.legend(fontsize=8.5, loc="lower left")
    return origin(ax, "simulated here")


class Live:
    """ERLE while a canceller works: in JupyterLab a curve that grows, in the book the finished one."""

    def __init__(self, seconds: float) -> None:
        self.ax = new_axes(None, (3.9, 2.6))  # one shape for all screens: it is drawn some eighty times
        (self._line,) = self.ax.plot([], [], color=SERIES[0])
        self.ax.set(xlim=(0, seconds), ylim=(-5, 40), xlabel="time (s)", ylabel="ERLE (dB)")
        origin(self.ax, "synthetic stand-in")
        # shown by its own handle only: a figure left open would be shown once more at the cell's end
        plt.close(self.ax.figure)  # type: ignore[arg-type]
        self._handle = DisplayHandle()
        self._handle.display(self.ax.figure)

    def __call__(self, so_far: Cancelled) -> None:
        """Draw what there is so far."""
        times, values = so_far.progress()
        self._line.set_data(times, values)
        if values.size:
            self.ax.set_ylim(min(-5.0, values.min() - 1), max(40.0, values.max() + 1))
        self._handle.update(self.ax.figure)


def by_reuse(data: Mapping[int, ArrayLike], expected: Mapping[int, float], unit: str, ax: Axes | None = None) -> Axes:
    """A result over seeds against N_it, with its 95 % interval, beside what theory expects."""
    ax = new_axes(ax, (5.6, 3.4))
    passes = sorted(data)
    intervals = [t_interval(data[n]) for n in passes]
    interval_band(ax, passes, [i.low for i in intervals], [i.high for i in intervals], COLOURS["simulated"])
    ax.plot(
        passes, [i.estimate for i in intervals], color=COLOURS["simulated"], marker=MARKERS[0], label="5 seeds, 95 %"
    )
    ax.plot(
        sorted(expected),
        [expected[n] for n in sorted(expected)],
        color=COLOURS["theory"],
        marker=MARKERS[2],
        ls="--",
        label="theory",
    )
    ax.set_xlabel("data-reuse passes $N_{it}$")
    ax.set_ylabel(unit)
    ax.set_xticks(passes)
    ax.legend()
    return origin(ax, "simulated here")


def trade_off(data: Mapping[str, tuple[ArrayLike, ArrayLike]], ax: Axes | None = None) -> Axes:
    """Time to come back to -15 dB against the floor: left and down is better. One mark a seed."""
    ax = new_axes(ax, (6.0, 3.6))
    for i, (name, (times, floors)) in enumerate(data.items()):
        ax.plot(np.asarray(times) / 1e3, floors, color=SERIES[i], marker=MARKERS[i], linestyle="", label=name)
    ax.set_xlabel("time to $-15$ dB after the change (thousand samples)")
    ax.set_ylabel("floor (dB)")
    ax.legend(fontsize=8.5)
    return origin(ax, "simulated here")


def work(lengths: ArrayLike, ax: Axes | None = None) -> Axes:
    """Multiplications and additions per sample against L: DCD beside Woodbury."""
    ax = new_axes(ax, (5.6, 3.4))
    sizes = [int(n) for n in np.asarray(lengths)]
    series = {
        "DCD, $N_{it}=3$: additions": [dcd_operations(n, 3, paper.UPDATES).additions for n in sizes],
        "DCD, $N_{it}=3$: multiplications": [dcd_operations(n, 3, paper.UPDATES).multiplications for n in sizes],
        "Woodbury: multiplications": [woodbury_operations(n).multiplications for n in sizes],
    }
    for i, (name, values) in enumerate(series.items()):
        ax.loglog(sizes, values, color=SERIES[i], linestyle=LINESTYLES[i], marker=MARKERS[i], label=name)
    ax.set_xlabel("taps of an echo path $L$")
    ax.set_ylabel("operations per sample")
    ax.legend(fontsize=8.5)
    return origin(ax, "theory")


def descent(excess: ArrayLike, norms: ArrayLike, ax: Axes | None = None) -> Axes:
    """The quadratic cost above its minimum, and the norm of the residual, after each move of DCD."""
    ax = new_axes(ax, (5.6, 3.2))
    for i, (name, values) in enumerate({"cost above its minimum": excess, r"residual norm $\|r\|$": norms}.items()):
        share = np.asarray(values) / np.asarray(values)[0]
        ax.semilogy(share, color=SERIES[i], linestyle=LINESTYLES[i], marker=MARKERS[i], label=name)
    ax.set_xlabel("moves")
    ax.set_ylabel("share of the start")
    ax.legend()
    return origin(ax, "simulated here")


def far_rooms(data: Mapping[float, Mapping[int, ArrayLike]], length: int, ax: Axes | None = None) -> Axes:
    """Misalignment against the length of the far room, one line for each alpha_r: mean and range of the seeds."""
    ax = new_axes(ax, (5.6, 3.4))
    for i, (alpha, found) in enumerate(data.items()):
        sizes = sorted(found)
        values = np.array([np.asarray(found[size]) for size in sizes])
        interval_band(ax, sizes, values.min(1), values.max(1), SERIES[i])
        name = f"$\\alpha_r={alpha:g}$"
        ax.plot(sizes, values.mean(1), color=SERIES[i], linestyle=LINESTYLES[i], marker=MARKERS[i], label=name)
    ax.axvline(length, color=COLOURS["muted"], lw=1)
    ax.set_xlabel("taps of the far room $M$")
    ax.set_ylabel("misalignment (dB)")
    ax.legend()
    return origin(ax, "simulated here")


def with_and_without_dcd(exact: Mapping[int, Curve], search: Mapping[int, Curve], ax: Axes | None = None) -> Axes:
    """Misalignment of data reuse with its equations solved exactly and by DCD: one colour for each N_it."""
    ax = new_axes(ax)
    for solver, data, style in (("solved", exact, "-"), ("DCD", search, "--")):
        for i, (passes, curve) in enumerate(data.items()):
            name = f"$N_{{it}}={passes}$, {solver}"
            (line,) = ax.plot(curve.samples / 1e3, curve.decibels, color=SERIES[i], linestyle=style, label=name)
            line.set(marker=MARKERS[i], markevery=0.1)
    ax.set_xlabel("time index (thousand samples)")
    ax.set_ylabel("misalignment (dB)")
    ax.legend(ncols=2, fontsize=8.5, handlelength=4)
    return origin(ax, "simulated here")


def conversations(
    data: Mapping[str, Mapping[str, ArrayLike]],
    bar: float,
    origin_: Origin = "recorded elsewhere",
    ax: Axes | None = None,
) -> Axes:
    """Times to come back with more passes over those with fewer: a point for each conversation, a marker for each kind.
    """
    ax = new_axes(ax, (5.6, 3.4))
    for i, (name, found) in enumerate(data.items()):
        for place, ratios in enumerate(found.values()):
            values = np.atleast_1d(np.asarray(ratios, float))
            at = place + 0.22 * (i - (len(data) - 1) / 2) + np.linspace(-0.05, 0.05, values.size)
            ax.plot(at, values, MARKERS[i], color=SERIES[i], ls="", label=name if place == 0 else None)
        ax.set_xticks(range(len(found)), list(found))
    ax.axhline(bar, color=COLOURS["muted"], lw=1)
    where: dict[str, Any] = {"xytext": (0, 4), "textcoords": "offset points", "fontsize": 9, "ha": "center"}
    ax.annotate(f"the claim's bar, {bar:g}", (0, bar), **where)
    ax.set_xlabel("passes")
    ax.set_ylabel("share of the time with fewer passes")
    ax.legend(fontsize=8.5)
    return origin(ax, origin_)


def kept(
    data: Mapping[str, ArrayLike], seconds: float, spans: Mapping[str, tuple[float, float]], ax: Axes | None = None
) -> Axes:
    """What is left of the echo over time, one curve for each canceller, and when something happened."""
    ax = new_axes(ax, (6.2, 3.2))
    for i, (name, (start, stop)) in enumerate(spans.items()):
        ax.axvspan(start, stop, color=COLOURS["muted"], alpha=0.15, lw=0, label=name if i == 0 else None)
    for i, (name, left) in enumerate(data.items()):
        values = np.asarray(left, float)
        times = (np.arange(values.size) + 0.5) * seconds / values.size
        ax.plot(times, values, color=SERIES[i], ls=LINESTYLES[i], lw=1.2, label=name)
    ax.set(xlim=(0, seconds), xlabel="time (s)", ylabel="echo left (dB)")
    ax.legend(fontsize=8.5)
    return origin(ax, "synthetic stand-in")


def by_length(data: Mapping[str, Mapping[str, Mapping[int, ArrayLike]]], ax: Axes | None = None) -> Axes:
    """ERLE against the filter's length, a colour for each room: mean of the conversations, and their range."""
    ax = new_axes(ax, (6.2, 3.8))
    for i, (room, kinds) in enumerate(data.items()):
        (fixed, found), (moving, followed) = kinds.items()
        sizes = sorted(found)
        values = np.array([np.asarray(found[size], float) for size in sizes])
        interval_band(ax, sizes, values.min(1), values.max(1), SERIES[i])
        ax.plot(sizes, values.mean(1), color=SERIES[i], linestyle=LINESTYLES[i], label=room)
        means = [np.mean(np.asarray(followed[size], float)) for size in sorted(followed)]
        ax.plot(sorted(followed), means, MARKERS[i], color=SERIES[i], mfc="none")
    ax.set_xscale("log", base=2)
    ticks = sorted(next(iter(next(iter(data.values())).values())))
    ax.set_xticks(ticks, [f"{tick}" for tick in ticks])
    ax.set_xlabel("taps of the filter $L$")
    ax.set_ylabel("ERLE (dB)")
    ax.legend(title=f"line: {fixed}\nmarkers: {moving}", fontsize=8, title_fontsize=8)
    return origin(ax, "recorded elsewhere")

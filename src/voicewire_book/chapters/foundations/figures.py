"""The figures of the foundations. Each takes `ax=None`, returns the axes and stamps where its data come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from voicewire.stats import autocorrelation
from voicewire_book.kit import figures

__all__ = [
    "coverage_by_size",
    "evidence_and_band",
    "forest",
    "leverage",
    "medians",
    "remembering",
    "stopping",
    "tokens",
]

HIT, MISS = figures.SERIES[0], figures.SERIES[1]


def forest(low: ArrayLike, high: ArrayLike, truth: float = 0.0, ax: Axes | None = None) -> Axes:
    """Intervals of many repetitions side by side; those that miss the truth are dashed and stand out."""
    ax = figures.new_axes(ax, size=(7.0, 3.0))
    low, high = np.asarray(low), np.asarray(high)
    missed = (low > truth) | (high < truth)
    at = np.arange(low.size)
    for here, colour, style, width, name in (
        (~missed, HIT, "-", 1.2, "holds the truth"),
        (missed, MISS, "--", 2.2, "misses it"),
    ):
        label = f"{name}: {int(here.sum())} of {low.size}"
        ax.vlines(at[here], low[here], high[here], color=colour, linestyle=style, linewidth=width, label=label)
    ax.axhline(truth, color=figures.COLOURS["muted"], linestyle="-", linewidth=1)
    ax.set(xlabel="repetition of the same study", ylabel="interval (standard deviations)")
    ax.legend(loc="upper right", ncols=2)
    ax.set_ylim(top=max(high.max() * 1.25, 1))
    return figures.origin(ax, "simulated here")


def coverage_by_size(
    sizes: Sequence[int], measured: Mapping[str, tuple[ArrayLike, ArrayLike]], ax: Axes | None = None
) -> Axes:
    """How often an interval covers, over the number of samples; line: what the derivation says of the bootstrap."""
    ax = figures.new_axes(ax)
    n = np.arange(3, max(sizes) + 1)
    predicted = 2 * stats.t.cdf(stats.norm.ppf(0.975) * np.sqrt((n - 1) / n), n - 1) - 1
    ax.plot(n, 100 * predicted, "-", color=figures.COLOURS["theory"], label="bootstrap, derived")
    for k, (name, (share, error)) in enumerate(measured.items()):
        ax.errorbar(
            sizes, 100 * np.asarray(share), 196 * np.asarray(error), fmt=figures.MARKERS[k], linestyle="none",
            color=figures.SERIES[1 + k], label=f"{name}, simulated",
        )  # fmt: skip
    ax.axhline(95, color=figures.COLOURS["muted"], linestyle=":", linewidth=1.2)
    ax.set(xlabel="independent samples (speakers)", ylabel="holds the truth (%)", ylim=(70, 100), xticks=sizes)
    ax.legend(loc="lower right")
    return figures.origin(ax, "simulated here")


def tokens(values: NDArray[np.float64], ax: Axes | None = None) -> Axes:
    """Every speaker's tokens, their mean, and the two intervals that can be drawn from them."""
    from voicewire_book.chapters.foundations.judging import mean_interval

    ax = figures.new_axes(ax, size=(7.0, 3.2))
    speakers = values.shape[0]
    for k, row in enumerate(values):
        ax.plot(row, np.full(row.size, k), ".", color=figures.COLOURS["muted"], alpha=0.6)
        ax.plot(row.mean(), k, figures.MARKERS[3], color=figures.SERIES[0], label="speaker's mean" if k == 0 else "")
    pairs = (("from all tokens, as if independent", values.ravel()), ("from speakers' means", values.mean(axis=1)))
    for k, (name, row) in enumerate(pairs):
        low, high = mean_interval(row)
        y = -1 - k
        ax.plot([low, high], [y, y], figures.LINESTYLES[k], color=figures.SERIES[1 + k], linewidth=3, label=name)
    ax.axvline(0, color="black", linewidth=1, linestyle=":")
    ax.set(xlabel="shift (Hz); the truth is 0", yticks=range(speakers), ylim=(-3, speakers - 0.4))
    ax.set_yticklabels([f"speaker {k + 1}" for k in range(speakers)])
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3)
    return figures.origin(ax, "synthetic stand-in")


def remembering(series: Mapping[str, NDArray[np.float64]], lags: int = 60) -> NDArray[np.object_]:
    """Series on the left, their sample autocorrelations on the right, one row each."""
    axes: NDArray[np.object_] = plt.subplots(len(series), 2, figsize=(7.0, 1.7 * len(series) + 0.4), squeeze=False)[1]
    for k, (name, x) in enumerate(series.items()):
        left, right = axes[k]
        left.plot(x[:300], "-", color=figures.SERIES[k], linewidth=0.8)
        left.set(title=name, ylabel="value")
        r = autocorrelation(x)[: lags + 1]
        right.vlines(np.arange(lags + 1), 0, r, color=figures.SERIES[k], linewidth=2)
        right.axhline(0, color=figures.COLOURS["muted"], linewidth=0.8, linestyle="-")
        right.set(ylim=(-0.35, 1.05), ylabel="$r_k$")
    axes[-1, 0].set_xlabel("sample")
    axes[-1, 1].set_xlabel("lag k")
    figures.origin(axes[0, 1], "simulated here")
    return axes


def medians(groups: Mapping[str, NDArray[np.float64]], ax: Axes | None = None) -> Axes:
    """Histogram of a sample with two humps, and where the medians of repeated samples fall."""
    ax = figures.new_axes(ax)
    edges = [float(edge) for edge in range(40, 261, 5)]
    for k, (name, x) in enumerate(groups.items()):
        weights = np.full(x.size, 100 / x.size)
        ax.hist(
            x, edges, weights=weights, histtype="stepfilled" if k == 0 else "step", color=figures.SERIES[k],
            alpha=0.45 if k == 0 else 1.0, linewidth=1.8, label=name,
        )  # fmt: skip
    ax.set(xlabel="time (ms)", ylabel="share (%)")
    ax.legend()
    return figures.origin(ax, "simulated here")


def stopping(low: NDArray[np.float64], high: NDArray[np.float64], ax: Axes | None = None) -> Axes:
    """Two ends of one study's interval as samples are added; marked where it first leaves the edge."""
    ax = figures.new_axes(ax, size=(7.0, 3.0))
    n = np.arange(2, 2 + low.size)
    ax.fill_between(n, low, high, color=figures.SERIES[0], alpha=0.25, label="95 % interval so far")
    ax.plot(n, (low + high) / 2, "-", color=figures.SERIES[0], linewidth=1)
    ax.axhline(0, color="black", linewidth=1, linestyle=":")
    left = np.flatnonzero((low[8:] > 0) | (high[8:] < 0))
    if left.size:
        at = int(left[0]) + 8
        middle = (low[at] + high[at]) / 2
        ax.plot(n[at], middle, "o", color=figures.SERIES[1], label=f"decided at {n[at]} samples")
    ax.set(xlabel="samples so far", ylabel="mean; the edge is 0", ylim=(-1.5, 1.5))
    ax.legend()
    return figures.origin(ax, "simulated here")


def evidence_and_band(
    rows: Mapping[str, tuple[float, float, float]], printed: float, band: tuple[float, float], ax: Axes | None = None
) -> Axes:
    """Intervals against a tolerance band around a printed value."""
    ax = figures.new_axes(ax, size=(7.0, 2.6))
    ax.axvspan(*band, color=figures.COLOURS["muted"], alpha=0.18, label="tolerance")
    ax.axvline(printed, color=figures.COLOURS["published"], linewidth=1.5, label="printed")
    for k, (low, estimate, high) in enumerate(rows.values()):
        ax.plot([low, high], [-k, -k], "-", color=figures.SERIES[0], linewidth=2.5)
        ax.plot(estimate, -k, figures.MARKERS[k], color=figures.SERIES[0])
    ax.set_yticks([-k for k in range(len(rows))], list(rows))
    ax.set(xlabel="value", ylim=(-len(rows) + 0.4, 0.6))
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=2)
    return figures.origin(ax, "synthetic stand-in")


def leverage(x: ArrayLike, y: ArrayLike, ax: Axes | None = None) -> Axes:
    """Pairs of numbers with the fitted line, and the line that is left without the outermost point."""
    ax = figures.new_axes(ax)
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    far = int(np.argmax(np.abs(x - x.mean())))
    rest = np.arange(x.size) != far
    ends = np.array([x.min(), x.max()])
    for k, (use, name) in enumerate(((np.ones(x.size, bool), "all points"), (rest, "without the outermost"))):
        slope, start = np.polyfit(x[use], y[use], 1)
        r = np.corrcoef(x[use], y[use])[0, 1]
        line = figures.LINESTYLES[k]
        ax.plot(ends, start + slope * ends, line, color=figures.SERIES[k], label=f"{name}: r = {r:.2f}")
    ax.plot(x[rest], y[rest], "o", color="black", linestyle="none")
    ax.plot(x[far], y[far], "D", color="black", linestyle="none", markersize=8, markerfacecolor="none")
    ax.set(xlabel="x", ylabel="y")
    ax.legend()
    return figures.origin(ax, "synthetic stand-in")

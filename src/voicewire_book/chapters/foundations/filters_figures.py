"""The figures of *Filters that learn*. Each takes `ax=None` and returns its stamped axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from voicewire_book.kit import figures

__all__ = ["bowl", "guesses", "learning", "trade"]


def guesses(h: ArrayLike, G: ArrayLike, after: Sequence[int], ax: Axes | None = None) -> Axes:
    """A path, and what a filter takes it for after some numbers of samples."""
    ax = figures.new_axes(ax, size=(7.0, 3.2))
    h, G = np.asarray(h, dtype=float), np.asarray(G, dtype=float)
    k = np.arange(h.size)
    ax.axhline(0, color=figures.COLOURS["muted"], linewidth=0.8)
    ax.plot(k, h, "-", color=figures.SERIES[0], linewidth=2.2, label="the path, $h$")
    for i, n in enumerate(after, start=1):
        ax.plot(
            k, G[n - 1], figures.LINESTYLES[i], color=figures.SERIES[i], marker=figures.MARKERS[i], markersize=4,
            label=f"after {n} samples",
        )  # fmt: skip
    ax.set(xlabel="delay (samples)", ylabel="tap")
    ax.legend(loc="upper right")
    return figures.origin(ax, "simulated here")


def bowl(R: ArrayLike, h: ArrayLike, paths: Mapping[str, ArrayLike], ax: Axes | None = None) -> Axes:
    """Lines of equal mean error over two taps, and the ways that filters take from zero to the bottom."""
    ax = figures.new_axes(ax, size=(6.0, 4.4))
    R, h = np.asarray(R, dtype=float), np.asarray(h, dtype=float)
    reach = 1.6 * np.abs(h).max()
    grid = np.linspace(-reach, reach, 161)
    off = np.stack(np.meshgrid(h[0] + grid, h[1] + grid)) - h[:, None, None]
    height = np.einsum("iab,ij,jab->ab", off, R, off)
    levels = height.max() * np.array([0.003, 0.02, 0.06, 0.15, 0.3, 0.5, 0.8])
    ax.contour(h[0] + grid, h[1] + grid, height, levels=levels, colors=figures.COLOURS["muted"], linewidths=0.8)
    for i, (name, path) in enumerate(paths.items()):
        way = np.vstack([np.zeros(2), np.asarray(path, dtype=float)])
        ax.plot(*way.T, figures.LINESTYLES[i], color=figures.SERIES[i], marker=figures.MARKERS[i], markersize=3,
                markevery=max(1, len(way) // 60), linewidth=1.2, label=name)  # fmt: skip
    ax.plot(*h, "*", color=figures.COLOURS["published"], markersize=12, label="the path")
    ax.set(xlabel="first tap", ylabel="second tap", xlim=h[0] + grid[[0, -1]], ylim=h[1] + grid[[0, -1]])
    ax.legend(loc="upper left")
    return figures.origin(ax, "simulated here")


def learning(
    curves: Mapping[str, ArrayLike], stops: Mapping[str, float] | None = None, ax: Axes | None = None
) -> Axes:  # fmt: skip
    """Misalignment after each sample, and levels that were predicted."""
    ax = figures.new_axes(ax)
    for i, (name, curve) in enumerate(curves.items()):
        ax.plot(
            np.arange(1, np.size(curve) + 1), curve, color=figures.SERIES[i], linestyle=figures.LINESTYLES[i],
            linewidth=1.4, label=name,
        )  # fmt: skip
    for i, (name, level) in enumerate((stops or {}).items()):
        ax.axhline(level, color=figures.COLOURS["muted"], linestyle=figures.LINESTYLES[i + 1], linewidth=1, label=name)
    ax.set(xlabel="samples", ylabel="misalignment (dB)")
    ax.legend(loc="upper right")
    return figures.origin(ax, "simulated here")


def trade(forgotten: ArrayLike, measured: ArrayLike, noise: ArrayLike, lag: ArrayLike, ax: Axes | None = None) -> Axes:
    """What forgetting costs and saves while a path drifts: noise that is let in, and lag behind the path."""
    ax = figures.new_axes(ax)
    noise, lag = np.asarray(noise, dtype=float), np.asarray(lag, dtype=float)
    both = 10 * np.log10(10 ** (noise / 10) + 10 ** (lag / 10))
    rows = {"noise": noise, "lag": lag, "noise + lag, predicted": both}
    for i, (name, level) in enumerate(rows.items(), start=1):
        ax.plot(forgotten, level, figures.LINESTYLES[i], color=figures.SERIES[i], linewidth=1.4, label=name)
    ax.plot(forgotten, measured, "o", color=figures.SERIES[0], label="measured")
    ax.set(xlabel="share forgotten a sample, 1 − λ", ylabel="misalignment (dB)", xscale="log")
    ax.legend(loc="upper center", ncols=2)
    return figures.origin(ax, "simulated here")

"""The look of what is drawn: colours with a fixed meaning, lines and markers that go together."""

from __future__ import annotations

from typing import Any, Literal

import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

__all__ = [
    "COLOURS", "LINESTYLES", "MARKERS", "SERIES", "STYLE", "Origin", "interval_band", "new_axes", "origin",
]  # fmt: skip

Origin = Literal["published", "theory", "simulated here", "measured here", "synthetic stand-in", "recorded elsewhere"]

COLOURS = {
    "published": "#000000",
    "theory": "#1B2C7A",
    "simulated": "#A32A12",
    "measured": "#0B4A33",
    "synthetic": "#8C1D5E",
    "elsewhere": "#508010",
    "muted": "#6B6B6B",
}
"""Where what is drawn comes from: dark colours, 4.5:1 on white and more, none of which `SERIES` has."""

SERIES = ("#0072B2", "#D55E00", "#00795C", "#A3578A", "#7A6A00", "#56A0D0", "#B8860B", "#4FA37F")
"""Colours for curves of one kind (the first six after Okabe and Ito), none of which says where data come from."""

LINESTYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

_ORIGINS = {
    "published": "published",
    "theory": "theory",
    "simulated here": "simulated",
    "measured here": "measured",
    "synthetic stand-in": "synthetic",
    "recorded elsewhere": "elsewhere",
}

STYLE: Any = {
    "figure.figsize": (7.0, 3.6),
    "figure.dpi": 110,
    "savefig.dpi": 110,
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "font.size": 10.5,
    "axes.titlesize": 11.5,
    "axes.titlelocation": "left",
    "axes.labelsize": 10.5,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=SERIES) + cycler(linestyle=LINESTYLES),
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.7,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.0,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "image.cmap": "cividis",
    "errorbar.capsize": 3.0,
    # a figure's bytes must not change with the day or the machine's fonts
    "svg.hashsalt": "voicewire",
    "font.family": "DejaVu Sans",
}


def new_axes(ax: Axes | None = None, size: tuple[float, float] | None = None) -> Axes:
    """Return `ax`, or new axes (in the book's style, once `use` was called)."""
    if ax is not None:
        return ax
    # no rc_context here: leaving one switches a notebook's interactive mode off, and its figures vanish
    return plt.subplots(figsize=size)[1]


def origin(ax: Axes, source: Origin) -> Axes:
    """Stamp on `ax` where its data come from."""
    if source not in _ORIGINS:
        raise ValueError(f"unknown origin {source!r}: choose one of {', '.join(map(repr, _ORIGINS))}")
    ax.text(
        1.0,
        1.01,
        source,
        transform=ax.transAxes,
        ha="right",
        va="bottom",
        fontsize=8.5,
        style="italic",
        color=COLOURS[_ORIGINS[source]],
    )
    return ax


def interval_band(
    ax: Axes, x: ArrayLike, low: ArrayLike, high: ArrayLike, color: str, label: str | None = None
) -> Axes:
    """Draw an interval as a band with thin edges, so that it is seen in print too."""
    ax.fill_between(x, low, high, color=color, alpha=0.18, linewidth=0, label=label)
    for edge in (low, high):
        ax.plot(x, edge, color=color, linewidth=0.6, linestyle="-", alpha=0.6)
    return ax

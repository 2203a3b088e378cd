"""Figures that lay what a chapter derives beside what was counted; each returns its axes and takes `ax=None`."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from voicewire.voip import reference
from voicewire.voip.paper import Codec
from voicewire_book.kit import figures as house

__all__ = ["event_rates", "playout_plane"]


def event_rates(lost: ArrayLike, counted: Mapping[int, Sequence[float]], ax: Axes | None = None) -> Axes:
    """Loss event rate over the share of packets lost at random: counted, and q / (1 + n q)."""
    ax = house.new_axes(ax)
    q = np.asarray(lost, dtype=float)
    fine = np.geomspace(q.min(), q.max(), 100)
    for k, (n, events) in enumerate(counted.items()):
        colour = house.SERIES[k]
        theory = fine / (1 + n * fine)
        label = f"{n} packets a round trip"
        ax.loglog(100 * fine, 100 * theory, color=colour, linestyle=house.LINESTYLES[k], label=label)
        ax.plot(100 * q, 100 * np.asarray(events), color=colour, linestyle="none", marker=house.MARKERS[k])
    ax.set(xlabel="packets lost / %", ylabel="loss events a packet / %")
    ax.legend()
    return house.origin(ax, "simulated here")


def playout_plane(delays: Sequence[float], spurts: Sequence[int], codec: Codec, ax: Axes | None = None) -> Axes:
    """Draw what a call may choose: frames played and their cost, the lower hull, and lines of equal R."""
    ax = house.new_axes(ax)
    rows = reference.talkspurts(delays, spurts)
    costs = [[0.0] + [j * reference.delay_impairment(d) for j, d in enumerate(row, start=1)] for row in rows]
    choices = list(itertools.product(*(range(len(row)) for row in costs)))
    played = [sum(choice) for choice in choices]
    cost = [sum(row[j] for j, row in zip(choice, costs, strict=True)) for choice in choices]
    ax.plot(played, cost, linestyle="none", marker=".", color=house.SERIES[6], label="each choice")
    edges = sorted(edge for row in rows for edge in reference.hull_edges(row))
    corners = [(0, 0.0)]
    for slope, count in edges:
        corners.append((corners[-1][0] + count, corners[-1][1] + count * slope))
    ax.plot(*zip(*corners, strict=True), marker="o", color=house.SERIES[0], label="lower hull")
    i = np.linspace(1, len(delays), 400)
    lost = [reference.loss_impairment(1 - each / len(delays), codec) for each in i]
    best = reference.best_playout(delays, spurts, codec)
    for k, r in enumerate((best, best - 5, best - 10), start=1):
        level = i * (94.2 - r - np.array(lost))
        ax.plot(i, level, color=house.SERIES[k], linestyle=house.LINESTYLES[k], label=f"R = {r:.1f}")
    last = len(delays) - 0.4 * len(delays), len(delays)
    ax.set(xlabel="frames played, i", ylabel="their cost, C / points × frames")
    ax.set(xlim=last, ylim=(0, 1.05 * corners[-1][1]))
    ax.legend(loc="upper left", frameon=True, framealpha=0.95)
    return house.origin(ax, "theory")

"""The hold's states, and how long the k-th answer of n takes: figures of the second chapter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from voicewire.emqtt.confirmed_query import in_time, mean_wait
from voicewire_book.kit import figures as house

__all__ = ["chances", "hold_states", "waits"]


def hold_states(n: int, k: int, ax: Axes | None = None) -> Axes:
    """Draw the states of a hold that waits for `k` of `n`, and the ways between them."""
    ax = house.new_axes(ax, (7.0, 0.9 + 0.75 * k))
    todo, boxes, ways = [(0, n)], {}, []
    while todo:
        answered, waiting = todo.pop()
        if (answered, waiting) in boxes:
            continue
        done = "complete" if answered == k else "short" if waiting == 0 else ""
        colour = house.SERIES[2] if answered == k else house.SERIES[1] if done else house.COLOURS["muted"]
        boxes[answered, waiting] = ax.text(
            n - waiting, answered, done or f"{answered} | {waiting}", ha="center", va="center", color=colour,
            fontsize=9, bbox={"boxstyle": "round", "facecolor": "none", "edgecolor": colour},
        )  # fmt: skip
        for more, line in (() if done else ((1, "-"), (0, ":"))):
            ways.append(((answered, waiting), (answered + more, waiting - 1), line))
            todo.append((answered + more, waiting - 1))
    for start, end, line in ways:
        touching = {f"patch{side}": boxes[one].get_bbox_patch() for side, one in (("A", start), ("B", end))}
        look = {"color": house.COLOURS["muted"], "lw": 1.3, "shrinkA": 1, "shrinkB": 1}
        (x, y), (to_x, to_y) = ((n - waiting, answered) for answered, waiting in (start, end))
        ax.annotate("", (to_x, to_y), (x, y), arrowprops={"arrowstyle": "-", "linestyle": line, **look, **touching})
        near = to_x - 0.25 * (to_x - x), to_y - 0.25 * (to_y - y)  # its head is solid, be its line dotted or not
        ax.annotate(
            "", (to_x, to_y), near, arrowprops={"arrowstyle": "-|>", **look, "shrinkA": 0, "patchB": touching["patchB"]}
        )
    ax.plot([], [], color=house.COLOURS["muted"], linestyle="-", label="one answers")
    ax.plot([], [], color=house.COLOURS["muted"], linestyle=":", label="one is lost")
    ax.set(xlim=(-0.5, n + 0.5), ylim=(-0.4, k + 0.4), xlabel="subscribers that have answered or are lost")
    ax.set(ylabel="have answered", xticks=range(n + 1), yticks=range(k + 1))
    ax.legend(loc="upper left")
    house.origin(ax, "theory")
    return ax


def chances(k: int, n: int, ax: Axes | None = None) -> Axes:
    """Draw the probability that `k` of `n` have answered over that of a single one."""
    ax = house.new_axes(ax)
    share = np.linspace(0, 1, 101)
    for number, (one, name) in enumerate(((1, "the first"), (k, f"{k} of {n}"), (n, "all"))):
        ax.plot(
            share, [in_time(one, n, x) for x in share], color=house.SERIES[number],
            linestyle=house.LINESTYLES[number], label=name,
        )  # fmt: skip
    ax.set(xlabel="probability that a given one has answered", ylabel="probability that enough have")
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    house.origin(ax, "theory")
    return ax


def waits(numbers: Sequence[int], ax: Axes | None = None) -> Axes:
    """Draw the mean time of the k-th answer over the share k/n, a line for each number of subscribers."""
    ax = house.new_axes(ax)
    for number, n in enumerate(numbers):
        k = np.arange(1, n + 1)
        ax.plot(
            k / n, [mean_wait(int(i), n, 1.0) for i in k], color=house.SERIES[number],
            linestyle=house.LINESTYLES[number], marker=house.MARKERS[number], markersize=4, label=f"{n} subscribers",
        )  # fmt: skip
    ax.set(xlabel="share of the subscribers that is waited for", ylabel="mean time (means of one subscriber)")
    ax.legend()
    house.origin(ax, "theory")
    return ax

"""The figures of *MQTT in one chapter*. Each takes `ax=None`, returns the axes and stamps where its data come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from voicewire_book.chapters.foundations.mqtt import Rules, World, answered, broken, received, start
from voicewire_book.kit import figures

__all__ = ["Arrow", "ladder", "ladders", "states", "windows"]


class Arrow(NamedTuple):
    """One packet of a ladder."""

    name: str
    outward: bool
    arrives: bool
    passed: bool


def ladder(rules: Rules, arrive: int | None = None) -> list[Arrow]:
    """Return the packets of one message, with at most one break."""
    w: World = start(rules)
    arrows: list[Arrow] = []
    while w.there or w.back:
        outward = bool(w.there)
        name = (w.there or w.back)[0]
        if arrive is not None and len(arrows) == arrive and not w.breaks:
            arrows.append(Arrow(name, outward, False, False))
            w = broken(w)
            continue
        after = received(w, rules) if outward else answered(w)
        arrows.append(Arrow(name, outward, True, after.passed > w.passed))
        w = after
    return arrows


def ladders(arrive: int | None = 1, qualities: Sequence[int] = (0, 1, 2), ax: Axes | None = None) -> Axes:
    """Draw one message at several qualities of service, with the same break."""
    ax = figures.keep_shape(figures.new_axes(ax, size=(7.0, 3.6)))
    tallest = 0
    for column, qos in enumerate(qualities):
        arrows = ladder(Rules(qos), arrive)
        left, right = 3.2 * column, 3.2 * column + 1.7
        count = 0
        for row, arrow in enumerate(arrows):
            y = -row
            start_x, end_x = (left, right) if arrow.outward else (right, left)
            tip = end_x if arrow.arrives else start_x + 0.62 * (end_x - start_x)
            colour = figures.SERIES[0] if arrow.arrives else figures.SERIES[1]
            style = {"arrowstyle": "->", "color": colour, "linewidth": 1.6}
            if not arrow.arrives:
                style |= {"linestyle": "--", "arrowstyle": "-"}
                ax.plot(tip, y - 0.22, "x", color=colour, markersize=9, markeredgewidth=2.5)
            ax.annotate("", (tip, y - (0.35 if arrow.arrives else 0.22)), (start_x, y), arrowprops=style)
            ax.text((left + right) / 2, y + 0.1, arrow.name, ha="center", va="bottom", fontsize=8)
            if arrow.passed:
                count += 1
                ax.plot(right + 0.22, y - 0.35, "*", color=figures.SERIES[2], markersize=12)
        tallest = max(tallest, len(arrows))
        ax.text((left + right) / 2, 1.1, f"QoS {qos}: rings {count} ×", ha="center", weight="bold")
        for x, end in ((left, "sender"), (right, "receiver")):
            ax.text(x, 0.55, end, ha="center", fontsize=8)
            ax.plot([x, x], [0.4, -len(arrows) + 0.4], color=figures.COLOURS["muted"], linestyle="-", linewidth=1)
    ax.set(xlim=(-0.6, 3.2 * len(qualities) - 0.7), ylim=(-tallest + 0.1, 1.6))
    ax.set_axis_off()
    return figures.origin(ax, "simulated here")


PLACES = {
    ("PUBLISH", False): (0.0, 1.0),
    ("PUBLISH", True): (2.2, 1.0),
    ("PUBREL", True): (4.4, 1.0),
    ("PUBREL", False): (4.4, 0.0),
    ("", False): (2.2, 0.0),
}
"""Where the five states of a message at QoS 2 are drawn."""


def states(worlds: set[World], ax: Axes | None = None) -> Axes:
    """Draw the states of a message at QoS 2: what the sender repeats, and whether the receiver knows the id."""
    found = {(w.sends, w.knows) for w in worlds}
    if found - set(PLACES):
        raise ValueError(f"states without a place: {sorted(found - set(PLACES))}; these are not worlds at QoS 2")
    ax = figures.keep_shape(figures.new_axes(ax, size=(7.0, 2.6)))
    box = {"boxstyle": "round,pad=0.45", "facecolor": "none", "edgecolor": figures.SERIES[0]}
    drawn = {}
    for number, state in enumerate(PLACES, 1):
        if state in found:
            sends, knows = state
            words = f"{number}. sender: {sends or 'done'}\nreceiver: {'knows the id' if knows else 'knows nothing'}"
            drawn[state] = ax.text(*PLACES[state], words, ha="center", va="center", fontsize=8, bbox=box)
    steps = [
        (("PUBLISH", False), ("PUBLISH", True), "PUBLISH arrives"),
        (("PUBLISH", True), ("PUBREL", True), "PUBREC arrives"),
        (("PUBREL", True), ("PUBREL", False), "PUBREL arrives"),
        (("PUBREL", False), ("", False), "PUBCOMP arrives"),
    ]
    for a, b, words in steps:
        (x, y), (u, v) = PLACES[a], PLACES[b]
        style = {"arrowstyle": "->", "color": figures.SERIES[0], "shrinkA": 0, "shrinkB": 0, "linewidth": 1.6}
        ends = {name: drawn[state].get_bbox_patch() for name, state in (("patchA", a), ("patchB", b)) if state in drawn}
        ax.annotate("", (u, v), (x, y), arrowprops=style | ends)
        at = ((x + u) / 2, y + 0.3) if y == v else (x + 0.12, (y + v) / 2)
        ax.text(*at, words, ha="center" if y == v else "left", va="center", fontsize=8)
    ax.set(xlim=(-0.9, 5.9), ylim=(-0.5, 1.55))
    ax.set_axis_off()
    return figures.origin(ax, "simulated here")


def windows(round_trips: Sequence[float], size: int = 40, ax: Axes | None = None) -> Axes:
    """Draw messages a second against the number that may be unanswered, at QoS 1 (solid) and 2 (dashed)."""
    ax = figures.new_axes(ax)
    window = np.arange(1, size + 1)
    for colour, rtt in zip(figures.SERIES, round_trips, strict=False):
        for qos, style in ((1, "-"), (2, "--")):
            label = f"QoS {qos}, {1000 * rtt:.0f} ms"
            ax.plot(window, window / (qos * rtt), color=colour, linestyle=style, label=label)
    ax.set(xlabel="messages that may be unanswered", ylabel="messages a second", xlim=(0, size), ylim=(0, None))
    ax.legend(loc="upper left")
    return figures.origin(ax, "simulated here")

"""The figures of CoAP beside MQTT: by size, and by loss. Each takes ``ax=None`` and says where its data come from."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from voicewire.stats import t_interval
from voicewire.transport import paper
from voicewire_book.chapters.transport import coap_theory, coap_timed
from voicewire_book.kit.figures import LINESTYLES, MARKERS, SERIES, new_axes, origin

__all__ = ["by_loss", "by_size"]

_WHOLE_PERCENT = 100


def by_size(rows: pd.DataFrame, rtt: float, ax: Axes | None = None) -> Axes:
    """Draw the time to complete receipt over the payload: means with 95 % intervals, and CoAP's count on paper."""
    ax = new_axes(ax, (6.2, 3.5))
    sizes = sorted(set(rows["size"]))
    steps = np.unique(np.geomspace(sizes[0], sizes[-1], 400).astype(int))
    counted = [1e3 * rtt * (coap_theory.exchanges(int(size)) - 0.5) for size in steps]
    ax.step(steps, counted, where="post", color=SERIES[0], linestyle=LINESTYLES[1], label="CoAP, counted on paper")
    for number, protocol in enumerate(coap_timed.PROTOCOLS):
        found = [t_interval(coap_timed.times(rows, protocol, size), paper.CONFIDENCE) for size in sizes]
        middle = np.array([x.estimate for x in found])
        ends = [middle - [x.low for x in found], [x.high for x in found] - middle]
        ax.errorbar(sizes, middle, yerr=ends, color=SERIES[number], marker=MARKERS[number], markersize=5,
                    linestyle="none" if number == 0 else LINESTYLES[0], label=f"{protocol}, measured")  # fmt: skip
    ax.set(xscale="log", yscale="log", xlabel="payload (bytes)", ylabel="start to complete receipt (ms)")
    ax.legend()
    return origin(ax, "measured here")


def by_loss(recorded: Mapping[float, pd.DataFrame], rtt: float, known: bool = True, ax: Axes | None = None) -> Axes:
    """Draw the mean delay over the share of packets lost: measured with 95 % intervals, and CoAP's closed form."""
    ax = new_axes(ax, (6.2, 3.5))
    losses = sorted(recorded)
    line = np.linspace(0, 1.1 * losses[-1], 60)
    expected = [coap_theory.expected_delay(float(loss), rtt, known) for loss in line]
    ax.plot(_WHOLE_PERCENT * line, expected, color=SERIES[0],
            linestyle=LINESTYLES[1], label="CoAP, closed form")  # fmt: skip
    for number, protocol in enumerate(coap_timed.PROTOCOLS):
        samples = [coap_timed.delays(recorded[loss], protocol, known) / 1e3 for loss in losses]
        found = [t_interval(x, paper.CONFIDENCE) for x in samples]
        middle = np.array([x.estimate for x in found])
        ends = [middle - [x.low for x in found], [x.high for x in found] - middle]
        x = [_WHOLE_PERCENT * loss for loss in losses]
        ax.errorbar(x, middle, yerr=ends, color=SERIES[number], marker=MARKERS[number], markersize=5,
                    linestyle="none" if number == 0 else LINESTYLES[0], label=f"{protocol}, measured")  # fmt: skip
    ax.set(xlabel="packets lost (%)", ylabel=f"mean until the {'sender knows' if known else 'receiver has it'} (s)",
           xlim=(0, None), ylim=(0, None))  # fmt: skip
    ax.legend()
    return origin(ax, "measured here")

"""Figures of single flows: what each packet carries, and when each frame arrives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from voicewire.netsim.simulation import FlowResult
from voicewire_book.kit import figures as house

__all__ = ["codec_changes", "frame_delays"]


def codec_changes(
    words: ArrayLike, flows: Mapping[str, FlowResult], window: tuple[float, float], ax: Axes | None = None
) -> Axes:
    """Size of the packet that carries each frame, of flows whose codec changes by the allowed rate.

    Notes
    -----
    The thesis' Figure 3.6 has the idea.
    """
    ax = house.new_axes(ax)
    spoken = np.asarray(words) / 1e9
    keep = (spoken >= window[0]) & (spoken <= window[1])
    for k, (name, flow) in enumerate(flows.items()):
        left = keep & (flow.sent >= 0)
        mark: dict[str, Any] = {"marker": "ox+"[k], "color": house.SERIES[k], "linestyle": "none", "markersize": 4}
        ax.plot(spoken[left], flow.sizes[left], label=name, fillstyle="none", **mark)
    ax.set(xlabel="spoken at / s", ylabel="payload of the packet / bytes", xlim=window, ylim=(0, None))
    ax.legend(fontsize="small")
    return house.origin(ax, "simulated here")


def frame_delays(
    words: ArrayLike, flows: Mapping[str, FlowResult], window: tuple[float, float], ax: Axes | None = None
) -> Axes:
    """Delay of each frame, spoken to delivered, over one path by several senders."""
    ax = house.new_axes(ax)
    spoken = np.asarray(words)
    keep = (spoken >= window[0] * 1e9) & (spoken <= window[1] * 1e9)
    for k, (name, flow) in enumerate(flows.items()):
        came = keep & (flow.arrive >= 0)
        delay = (flow.arrive[came] - spoken[came]) / 1e6
        mark: dict[str, Any] = {"marker": "ox+"[k], "color": house.SERIES[k], "linestyle": "none", "markersize": 4}
        ax.plot(spoken[came] / 1e9, delay, label=name, fillstyle="none", **mark)
    ax.set(xlabel="spoken at / s", ylabel="delay / ms", xlim=window, ylim=(0, None))
    ax.legend(fontsize="small", ncols=2, loc="upper left", bbox_to_anchor=(0, 1.12))
    return house.origin(ax, "simulated here")

"""What is drawn of packets that matter more or less; the figures of calls are in `figures`."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from voicewire.voip.errors import VoipError
from voicewire_book.kit import figures as house

__all__ = ["importances"]


def importances(weights: ArrayLike, ax: Axes | None = None) -> Axes:
    """Share of packets that matter no more than this (the question of Figure 3.5)."""
    weight = np.sort(np.asarray(weights, dtype=float))
    if weight.ndim != 1 or not weight.size or not ((weight >= 0) & (weight <= 1)).all():
        raise VoipError("importances are a row of numbers from 0 to 1, at least one")
    ax = house.new_axes(ax)
    share = np.arange(1, weight.size + 1) / weight.size
    ax.step(np.r_[0, weight, 1], np.r_[0, share, 1], where="post", color=house.COLOURS["synthetic"])
    ax.set(xlabel="importance, the greatest is 1", ylabel="share of packets", xlim=(0, 1), ylim=(0, 1))
    return house.origin(ax, "synthetic stand-in")

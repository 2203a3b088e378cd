"""Figures that lay what a chapter derives beside what was computed; each returns its axes and takes `ax=None`."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from voicewire.pharyngeal import tube
from voicewire_book.kit import figures as house

__all__ = ["narrowings"]


def narrowings(length: float, sections: int = 35, share: float = 0.02, ax: Axes | None = None) -> Axes:
    """Shift of F1 and F2 if one section of a uniform tube is narrowed: chain matrix on perturbation theory."""
    ax = house.new_axes(ax)
    lengths, area = [length / sections] * sections, 4.0
    even = tube.resonances([area] * sections, lengths, walls=False, radiation=False).frequencies
    places = (np.arange(sections) + 0.5) * length / sections
    found = []
    for k in range(sections):
        areas = [area * (1 - share * (k == i)) for i in range(sections)]
        found.append(tube.resonances(areas, lengths, walls=False, radiation=False).frequencies / even - 1)
    shifts = np.array(found) * sections / share  # for each share of the area and of the length
    fine = np.linspace(0, length, 200)
    for n in (1, 2):
        colour = house.SERIES[n - 1]
        theory = np.cos((2 * n - 1) * np.pi * fine / length)
        ax.plot(fine, theory, color=colour, linestyle=house.LINESTYLES[n - 1], label=f"F{n}")
        ax.plot(places, shifts[:, n - 1], color=colour, linestyle="none", marker=house.MARKERS[n - 1])
    ax.axhline(0, color=house.COLOURS["muted"], linewidth=0.8)
    ax.axvspan(length / 6, length / 2, color=house.SERIES[5], alpha=0.2)
    ax.set(xlabel="place of the narrowing, from the glottis (cm)", ylabel="shift, as a share\nof what was narrowed")
    ax.legend()
    return house.origin(ax, "simulated here")

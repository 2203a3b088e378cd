"""The pictures of the journey. Each takes `ax=None`, returns the axes and stamps where its data come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from voicewire_book.chapters.journey.budget import Budget
from voicewire_book.chapters.journey.sentence import FRAME_MS, TELEPHONE, Spoken
from voicewire_book.chapters.journey.stations import Room
from voicewire_book.kit import figures

__all__ = ["crossing", "formants", "microphones", "way"]

Array = NDArray[np.float64]


def formants(spoken: Spoken, ax: Axes | None = None) -> Axes:
    """Spectrogram of the sentence with the formants that the tract was given, and the sounds' names."""
    ax = figures.keep_shape(figures.new_axes(ax, size=(7.0, 3.2)))
    samples = spoken.sound.samples
    ax.specgram(
        samples + 1e-6 * np.cos(np.arange(samples.size)), NFFT=256, noverlap=128, Fs=spoken.sound.rate / 1000,
        cmap="Greys", vmin=-85, vmax=-25, xextent=(0.0, spoken.sound.duration),
    )  # fmt: skip
    for number, column in enumerate(spoken.formants.T[:3]):
        ax.plot(
            spoken.times[::80], column[::80] / 1000, color=figures.SERIES[number],
            linestyle=figures.LINESTYLES[number], label=f"F{number + 1}",
        )  # fmt: skip
    begins = 0.0
    for phone in spoken.phones:
        seconds = phone.frames * FRAME_MS / 1000
        ax.text(begins + seconds / 2, 4.05, phone.sign, ha="center", va="bottom", fontsize=10)
        begins += seconds
    ax.set(xlabel="time (s)", ylabel="frequency (kHz)", ylim=(0, 4), xlim=(0, begins))
    ax.grid(visible=False)
    ax.legend(loc="upper right", ncols=3, frameon=True)
    return figures.origin(ax, "simulated here")


def microphones(rooms: Mapping[str, Room], voice: Array, ax: Axes | None = None) -> Axes:
    """What is left beside the voice, over time: before the filter, and after it."""
    ax = figures.new_axes(ax, size=(7.0, 3.2))
    first = next(iter(rooms.values()))
    near = voice[: first.heard.size] * (first.heard @ voice[: first.heard.size]) / (voice @ voice)
    curves = {"voice": near, "echo": first.heard - near}
    curves |= {name: each.freed - near for name, each in rooms.items()}
    block = TELEPHONE // 10
    for number, (name, signal) in enumerate(curves.items()):
        whole = signal[: signal.size // block * block].reshape(-1, block)
        level = 10 * np.log10(np.maximum((whole**2).mean(axis=1) / (near**2).mean(), 1e-6))
        ax.plot(
            (np.arange(level.size) + 0.5) * block / TELEPHONE, level, color=figures.SERIES[number],
            linestyle=figures.LINESTYLES[number], label=name,
        )  # fmt: skip
    ax.set(xlabel="time in the sentence (s)", ylabel="level (dB, mean of the voice is 0)", ylim=(-45, 12))
    ax.legend(ncols=2, loc="lower center")
    return figures.origin(ax, "simulated here")


def crossing(times: Mapping[float, Mapping[int, Sequence[float]]], ax: Axes | None = None) -> Axes:
    """How long the object is on the kitchen's link, over the size of a segment, for each rate of wrong bits."""
    ax = figures.new_axes(ax, size=(7.0, 3.2))
    for number, (ber, by_size) in enumerate(times.items()):
        sizes = list(by_size)
        low, middle, high = np.array([np.percentile(by_size[size], (25, 50, 75)) for size in sizes]).T
        figures.interval_band(ax, sizes, low, high, figures.SERIES[number])
        best = int(middle.argmin())  # on this axis a curve's lowest point is hard to see
        ax.plot(
            sizes, middle, color=figures.SERIES[number], linestyle=figures.LINESTYLES[number],
            marker=figures.MARKERS[number], label=f"bit error rate {ber:g}: lowest {middle[best]:.0f} s",
        )  # fmt: skip
        ax.scatter(sizes[best], middle[best], s=110, facecolors="none", edgecolors="black", linewidths=1.2, zorder=4)
    ax.set(xlabel="largest segment (bytes)", ylabel="until the last byte is there (s)", yscale="log")
    ax.legend()
    return figures.origin(ax, "simulated here")


def way(done: Budget, until: float | None = None, ax: Axes | None = None) -> Axes:
    """When the sentence is at which station: a bar from its first sound to its last, with its bytes."""
    ax = figures.new_axes(ax, size=(7.0, 3.2))
    end = until or 1.35 * done.known
    for row, leg in enumerate(done.legs):
        wide = max(leg.ends - leg.begins, end / 300)
        light = (*to_rgb(figures.SERIES[row]), 0.4)
        ax.barh(row, wide, left=leg.begins, height=0.6, color=light, edgecolor="black", linewidth=0.6)
        behind = f"until {leg.ends:.1f} s" if leg.ends > end else f"lost: {leg.lost}"
        told = f"{leg.size:,} bytes".replace(",", "\u202f") + f"; {behind}"
        if leg.begins > 0.45 * end:
            place, side = leg.begins - 0.01 * end, "right"
        else:
            place, side = leg.begins + (0 if wide > 0.3 * end else wide) + 0.01 * end, "left"
        ax.text(place, row, told, ha=side, va="center", fontsize=9.5)
    if done.known <= end:
        ax.axvline(done.known, color="black", linestyle=":", linewidth=1.2)
        ax.text(done.known, -0.62, f"known: {done.known:.1f} s", ha="center", va="bottom", fontsize=9.5)
    ax.set(
        xlabel="time from the first breath (s)", xlim=(0, end), ylim=(len(done.legs) - 0.4, -0.7),
        yticks=range(len(done.legs)), yticklabels=[leg.station for leg in done.legs],
    )  # fmt: skip
    ax.grid(axis="y", visible=False)
    return figures.origin(ax, "simulated here")

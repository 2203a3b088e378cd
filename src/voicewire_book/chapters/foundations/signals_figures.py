"""The figures of *Signals that can be predicted*. Each takes `ax=None` and returns its stamped axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from voicewire_book.chapters.foundations.signals import gain
from voicewire_book.kit import figures

__all__ = ["envelopes", "foretold", "leakage", "likeness", "plane"]


def foretold(x: ArrayLike, e: ArrayLike, rate: float, ax: Axes | None = None) -> Axes:
    """A stretch of a signal above what its best prediction leaves of it."""
    ax = figures.new_axes(ax, size=(7.0, 3.0))
    x, e = np.asarray(x), np.asarray(e)
    time = 1000 * np.arange(x.size) / rate
    below = x.min() - 1.3 * np.abs(e).max()
    ax.plot(time, x, "-", color=figures.SERIES[0], linewidth=1.4, label="the vowel, $x_n$")
    ax.plot(time, e + below, "-", color=figures.SERIES[1], linewidth=1.4, label="what prediction leaves, $e_n$")
    ax.set(xlabel="time (ms)", ylabel="sample", yticks=[])
    ax.set_ylim(top=1.5 * x.max())
    ax.legend(loc="upper right", ncols=2)
    return figures.origin(ax, "simulated here")


def leakage(f: float, rate: float, size: int, ax: Axes | None = None) -> Axes:
    """Spectrum of a frame of a tone and of a weak one 600 Hz above, cut out sharply and faded in and out."""
    ax = figures.new_axes(ax)
    turns = 2 * np.pi * np.arange(size) / rate
    tone = np.cos(f * turns + 0.3) + 1e-3 * np.cos((f + 600) * turns)
    k = np.arange(size // 2)
    for column, (name, fade) in enumerate({"cut out": np.ones(size), "faded": np.hanning(size)}.items()):
        level = np.abs(np.fft.fft(tone * fade))[: size // 2] * 2 / fade.sum()
        ax.plot(
            k * rate / size, 20 * np.log10(np.maximum(level, 1e-5)), figures.LINESTYLES[column],
            color=figures.SERIES[column], marker=figures.MARKERS[column], markersize=3, label=name,
        )  # fmt: skip
    ax.set(xlabel="frequency (Hz)", ylabel="level (dB)", ylim=(-100, 8))
    ax.legend(loc="upper right")
    return figures.origin(ax, "simulated here")


def plane(F: float, B: float, rate: float = 8000.0, ax: Axes | None = None) -> Axes:
    """How a resonance answers each tone, and where its two poles lie in the z-plane."""
    ax = figures.new_axes(ax, size=(7.0, 3.4))
    pole = np.exp((-B + 2j * F) * np.pi / rate)
    f = np.linspace(0, rate / 2, 801)
    level = 20 * np.log10(gain(np.poly([pole, pole.conjugate()]).real, f, rate))
    ax.plot(f, level, "-", color=figures.SERIES[0])
    ax.axvline(F, color=figures.SERIES[1], linestyle="--", linewidth=1)
    ax.set(xlabel="frequency of the tone (Hz)", ylabel="grows by (dB)", ylim=(-20, 50), xlim=(0, 1.62 * rate / 2))
    ax.set_xticks(np.linspace(0, rate / 2, 5))
    inner = ax.inset_axes((0.66, 0.12, 0.34, 0.76))
    circle = np.exp(2j * np.pi * np.linspace(0, 1, 181))
    inner.plot(circle.real, circle.imag, "-", color=figures.COLOURS["muted"], linewidth=1)
    tone = np.exp(2j * np.pi * F / rate)
    for at in (pole, pole.conjugate()):
        inner.plot([tone.real, at.real], [tone.imag, at.imag], ":", color=figures.SERIES[0], linewidth=1.4)
        inner.plot(at.real, at.imag, "x", color=figures.SERIES[1], markersize=8, markeredgewidth=2)
    inner.plot(tone.real, tone.imag, "o", color=figures.SERIES[0], markersize=5)
    inner.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), aspect="equal", xticks=[], yticks=[])
    inner.set_title("z-plane: poles ×, the tone ●", fontsize=8)
    return figures.origin(ax, "simulated here")


def likeness(r: ArrayLike, rate: float, ax: Axes | None = None) -> Axes:
    """Autocorrelation over the delay, as a share of its value without delay."""
    ax = figures.new_axes(ax, size=(7.0, 2.8))
    r = np.asarray(r, float)
    ax.plot(1000 * np.arange(r.size) / rate, r / r[0], "-", color=figures.SERIES[0])
    ax.axhline(0, color=figures.COLOURS["muted"], linestyle="-", linewidth=1)
    ax.set(xlabel="delay (ms)", ylabel="$r_k / r_0$")
    return figures.origin(ax, "simulated here")


def envelopes(x: ArrayLike, fits: Sequence[tuple[str, ArrayLike, float]], rate: float, ax: Axes | None = None) -> Axes:
    """Spectrum of a frame, and of the filters that predictions of it make."""
    ax = figures.new_axes(ax, size=(7.0, 3.4))
    f = np.fft.rfftfreq(2048, 1 / rate)
    shown = 20 * np.log10(np.maximum(np.abs(np.fft.rfft(np.asarray(x, float), 2048)), 1e-6))
    ax.plot(f, shown, "-", color=figures.COLOURS["muted"], linewidth=0.9, label="the frame")
    for k, (name, a, energy) in enumerate(fits):
        level = 20 * np.log10(np.sqrt(energy) * gain(np.asarray(a), f, rate))
        ax.plot(f, level, figures.LINESTYLES[k], color=figures.SERIES[k], label=name)
    ax.set(xlabel="frequency (Hz)", ylabel="level (dB)", xlim=(0, rate / 2))
    ax.set_ylim(shown.max() - 75, shown.max() + 12)
    ax.legend(loc="upper right", ncols=2)
    return figures.origin(ax, "simulated here")

"""The figures of the pharyngeal part: each returns its axes and takes ``ax=None``.

Used in notebooks ``01_tract_to_formants`` to ``04_reproduction``; the data behind them are tested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from voicewire.pharyngeal import librosa_import, tract, tube
from voicewire.pharyngeal.audio_files import Sound
from voicewire.pharyngeal.films import xray_film
from voicewire.pharyngeal.formant_transitions import Transition
from voicewire.pharyngeal.formants import Track
from voicewire.pharyngeal.statistics import vowel_statistics
from voicewire.pharyngeal.tract import Articulation
from voicewire.pharyngeal.tract_grid import Grid
from voicewire_book.kit.figures import COLOURS, LINESTYLES, MARKERS, SERIES, origin

__all__ = [
    "components",
    "describe",
    "errors",
    "factors",
    "frame",
    "grid",
    "leverage",
    "locations",
    "missing",
    "organs",
    "shares",
    "sweep",
    "tracks",
    "tract_and_sound",
    "transitions",
    "tube_resonances",
    "vowel_space",
]

Array = NDArray[np.float64]


# how a context is named in a legend
_CONTEXTS = {"tt": "beside /tˁ/", "ayn": "beside /ʕ/", "ayntah": "in /ʕtˁah/"}


def _new_axes(ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
    """Return ``ax``, or new axes in the style that is in use."""
    return plt.subplots(figsize=size)[1] if ax is None else ax


def draw_outline(articulation: Articulation, ax: Axes | None = None, label: str = "tongue", index: int = 1) -> Axes:
    """Draw a midsagittal outline; the wall is black, the moving side in the series' colour ``index``."""
    ax = _new_axes(ax, (4.0, 4.2))
    shape = tract.outline(articulation)
    if not ax.lines:
        ax.plot(*shape.wall.T, color="black", linestyle="-", label="palate and rear wall")
    ax.plot(*shape.tongue.T, color=SERIES[index], linestyle=LINESTYLES[index], label=label)
    ax.plot([6.4], [shape.larynx], MARKERS[index], color=SERIES[index], markersize=8)
    ax.plot([5.2], [shape.hyoid], MARKERS[index], color=SERIES[index], markersize=5, fillstyle="none")
    ax.set(xlim=(-1, 8.6), ylim=(8, -2.6), xlabel="behind the incisor (cm)", ylabel="below the incisor (cm)")
    ax.set_aspect("equal")
    return ax


def draw_response(articulation: Articulation, ax: Axes | None = None) -> Axes:
    """Draw a configuration's gain from glottis to lips with its formants."""
    ax = _new_axes(ax, (5.0, 3.2))
    f = np.arange(50.0, 5000.0, 20.0)
    ax.plot(f, tube.response(*tract.area_function(articulation), f), color=COLOURS["simulated"])
    for k, value in enumerate(tract.formants(articulation).frequencies):
        ax.axvline(value, color=SERIES[0], linestyle=":", linewidth=1.2)
        ground = {"facecolor": "white", "edgecolor": "none", "pad": 1}  # keeps the dotted line off the digits
        ax.text(value, 43, f"F{k + 1}\n{value:.0f}", ha="center", va="bottom", fontsize=8.5, bbox=ground)
    ax.set(xlabel="frequency (Hz)", ylabel="gain (dB)", ylim=(-40, 55), xlim=(0, 5000))
    return ax


def tract_and_sound(articulation: Articulation) -> Figure:
    """Draw outline and gain side by side, the frame of the sliders."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.6, 3.1), width_ratios=(1, 1.3))
    draw_outline(articulation, left)
    draw_response(articulation, right)
    origin(right, "simulated here")
    return figure


def describe(articulation: Articulation) -> str:
    """Say in words what `tract_and_sound` shows."""
    f = tract.formants(articulation).frequencies
    narrow = tract.outline(articulation)
    inner = narrow.opening[4:]
    at = int(np.argmin(inner)) + 4
    return (
        f"Outline of a vocal tract, narrowest ({inner.min():.1f} cm) {narrow.place[at]:.1f} cm along the wall, larynx "
        f"{articulation.larynx:.1f} cm above rest; its gain peaks at {f[0]:.0f}, {f[1]:.0f}, {f[2]:.0f} and "
        f"{f[3]:.0f} Hz."
    )


def tube_resonances(lengths: Array, ax: Axes | None = None) -> Axes:
    """Draw the first four resonances of uniform tubes against their length: chain matrix on the closed form."""
    ax = _new_axes(ax)
    ours = np.array([tube.resonances([4.0], [x], walls=False, radiation=False).frequencies for x in lengths])
    fine = np.linspace(lengths.min(), lengths.max(), 100)
    theory = np.array([tube.uniform(x) for x in fine])
    for k in range(4):
        ax.plot(fine, theory[:, k], color=COLOURS["theory"], linestyle="-", label="closed form" if k == 0 else None)
        ax.plot(
            lengths,
            ours[:, k],
            "o",
            color=COLOURS["simulated"],
            fillstyle="none",
            label="chain matrix" if k == 0 else None,
        )
        ax.text(fine[-1] + 0.15, theory[-1, k], f"F{k + 1}", va="center")
    ax.set(xlabel="length of the tube (cm)", ylabel="resonance (Hz)", ylim=(0, None))
    ax.legend(loc="upper right")
    return origin(ax, "simulated here")


def sweep(base: Articulation, knob: str, values: Sequence[float], ax: Axes | None = None, unit: str = "cm") -> Axes:
    """Draw how F1 to F3 move when one articulator moves."""
    ax = _new_axes(ax)
    found = np.array([tract.formants(tract.moved(base, **{knob: float(v)}), 3).frequencies for v in values])
    for k in range(3):
        ax.plot(
            values,
            found[:, k] - found[0, k],
            marker=MARKERS[k],
            color=SERIES[k],
            linestyle=LINESTYLES[k],
            label=f"F{k + 1}",
        )
    ax.axhline(0, color=COLOURS["muted"], linewidth=0.8, linestyle="-")
    ax.set(xlabel=f"{knob.replace('_', ' ')} moved by ({unit})", ylabel="change of formant (Hz)")
    ax.legend()
    return origin(ax, "simulated here")


def tracks(sound: Sound, track: Track, truth: tuple[Array, Array] | None = None, ax: Axes | None = None) -> Axes:
    """Draw formant tracks over a spectrogram, and the truth where it is known."""
    librosa = librosa_import.librosa()
    ax = _new_axes(ax)
    window = 80
    power = np.abs(librosa.stft(sound.samples, n_fft=512, hop_length=64, win_length=window)) ** 2
    level = 3 * np.round(10 * np.log10(power + 1e-9) / 3)  # steps of 3 dB make a small picture
    times = np.arange(power.shape[1]) * 64 / sound.rate
    ax.imshow(
        level, origin="lower", aspect="auto", cmap="Greys", vmin=level.max() - 55, vmax=level.max(),
        extent=(0, float(times[-1]), 0, sound.rate / 2),
    )  # fmt: skip
    for k in range(4):
        if truth is not None:
            ax.plot(truth[0], truth[1][:, k], color="white", linewidth=3, linestyle="-")
            label = "truth" if k == 0 else None
            ax.plot(truth[0], truth[1][:, k], color="black", linewidth=1.1, linestyle="--", label=label)
        points = track.frequencies[::2, k]
        ax.plot(
            track.times[::2], points, MARKERS[k], color=SERIES[k], label=f"F{k + 1} tracked", markeredgecolor="white"
        )
    ax.set(ylim=(0, 5000), xlabel="time (s)", ylabel="frequency (Hz)")
    ax.grid(False)
    ax.legend(loc="upper right", ncols=3, framealpha=0.9, frameon=True, fontsize=8)
    return origin(ax, "synthetic stand-in")


def errors(errors_by_tracker: Mapping[str, Array], ax: Axes | None = None) -> Axes:
    """Draw the error of each formant for each tracker: median, quartiles, and 5 to 95 %."""
    ax = _new_axes(ax)
    names = list(errors_by_tracker)
    for i, name in enumerate(names):
        for k in range(4):
            values = errors_by_tracker[name][:, k]
            values = values[np.isfinite(values)]
            x = k + (i - (len(names) - 1) / 2) * 0.2
            low, q1, middle, q3, high = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
            colour = SERIES[i]
            ax.plot([x, x], [low, high], color=colour, linewidth=1, linestyle="-")
            ax.plot([x, x], [q1, q3], color=colour, linewidth=5, linestyle="-", alpha=0.6)
            ax.plot(x, middle, MARKERS[i], color=colour, label=name if k == 0 else None)
    ax.axhline(0, color=COLOURS["muted"], linewidth=0.8, linestyle="-")
    ax.set_xticks(range(4), [f"F{k + 1}" for k in range(4)])
    ax.set(ylabel="tracked minus true (Hz)", xlabel="formant, at mid-vowel")
    ax.legend(loc="upper left")
    return origin(ax, "synthetic stand-in")


def transitions(ways: Mapping[str, tuple[Array, Array, Transition]], ax: Axes | None = None) -> Axes:
    """Draw how a formant comes from its consonants into the vowel: tracked points and the fitted exponential."""
    ax = _new_axes(ax)
    for index, (name, (times, values, found)) in enumerate(ways.items()):
        way = found.target + found.extent * np.exp(-times / found.tau)
        mark, style = MARKERS[index % len(MARKERS)], LINESTYLES[index % len(LINESTYLES)]
        ax.plot(1000 * times, values, mark, color=SERIES[index], markersize=3, label=name)
        ax.plot(1000 * times, way, linestyle=style, color=SERIES[index], label=f"{name}, fitted")
    ax.set(xlabel="after the release (ms)", ylabel="F2 (Hz)")
    ax.legend(fontsize=8)
    return origin(ax, "simulated here")


def vowel_space(table: pd.DataFrame, ax: Axes | None = None, unit: str = " (Hz)") -> Axes:
    """Draw F1 against F2 (both reversed, as phoneticians do); an ellipse holds 68 % of a context's fitted normal."""
    ax = _new_axes(ax, (5.6, 4.2))
    for i, (context, rows) in enumerate(table.groupby("context", sort=True)):
        x, y = rows["F2"].to_numpy(), rows["F1"].to_numpy()
        ax.plot(x, y, MARKERS[i], color=SERIES[i], alpha=0.45, markersize=4)
        ring = vowel_statistics.ellipse(x, y)
        ax.plot(
            ring[:, 0],
            ring[:, 1],
            color=SERIES[i],
            linestyle=LINESTYLES[i],
            label=_CONTEXTS.get(str(context), str(context)),
        )
        ax.plot(x.mean(), y.mean(), MARKERS[i], color=SERIES[i], markersize=10, markeredgecolor="black")
    ax.invert_xaxis()
    ax.invert_yaxis()
    ax.set(xlabel=f"F2{unit}", ylabel=f"F1{unit}")
    ax.legend()
    return origin(ax, "synthetic stand-in")


def _picture(shown: xray_film.Frame, ax: Axes) -> None:
    """Draw a frame's grey values, labelled in centimetres."""
    grey = np.round(16 * np.clip(shown.image, 0, 1)) / 16  # few greys make a small picture
    ax.imshow(grey, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    # pixels are labelled where whole centimetres fall
    across, down = np.arange(-2, 11, 2), np.arange(-2, 9, 2)
    ax.set_xticks((across + xray_film.ORIGIN[0]) / xray_film.PIXEL, [str(x) for x in across])
    ax.set_yticks((down + xray_film.ORIGIN[1]) / xray_film.PIXEL, [str(y) for y in down])
    ax.set(xlabel="behind the incisor (cm)", ylabel="below the incisor (cm)")
    ax.grid(False)


def frame(shown: xray_film.Frame, tracker: xray_film.Tracker, opening: Array, ax: Axes | None = None) -> Axes:
    """Draw a synthetic x-ray frame with the tracked and the true contour."""
    ax = _new_axes(ax, (4.2, 3.8))
    _picture(shown, ax)
    truth = xray_film.pixels(shown.outline.tongue)
    found = xray_film.pixels(tracker.contour(opening))
    ax.plot(truth[:, 1], truth[:, 0], color="#F5D000", linewidth=3.5, linestyle="-", label="truth")
    ax.plot(found[:, 1], found[:, 0], color="#D55E00", linewidth=1.6, linestyle="--", label="tracked")
    ax.legend(loc="lower left", frameon=True)
    return origin(ax, "synthetic stand-in")


def _parts(contour: Array, gap: float) -> Array:
    """Return a contour with a break where it leaps: the lips are two."""
    leaps = np.flatnonzero(np.hypot(*np.diff(contour, axis=0).T) > gap) + 1
    return np.asarray(np.insert(contour, leaps, np.nan, axis=0))


def organs(
    shown: xray_film.Frame, found: Mapping[str, Array], truth: Mapping[str, Array], ax: Axes | None = None
) -> Axes:
    """Draw a synthetic x-ray frame with the tracked and the true contours of its organs."""
    ax = _new_axes(ax, (4.8, 4.4))
    _picture(shown, ax)
    styles = (("truth", truth, "#F5D000", 3.0, "-"), ("tracked", found, "#D55E00", 1.4, "--"))
    for label, drawn, colour, width, style in styles:
        for index, contour in enumerate(drawn.values()):
            points = _parts(xray_film.pixels(contour), 0.5 / xray_film.PIXEL)
            ax.plot(
                points[:, 1], points[:, 0], color=colour, linewidth=width, linestyle=style,
                label=label if index == 0 else "_",
            )  # fmt: skip
    ax.set(xlim=(0, shown.image.shape[1]), ylim=(shown.image.shape[0], 0))
    ax.legend(loc="lower left", frameon=True)
    return origin(ax, "synthetic stand-in")


def grid(lines: Grid, outlines: Mapping[str, tract.Outline], ax: Axes | None = None) -> Axes:
    """Draw a speaker's grid over the contours that it measures."""
    ax = _new_axes(ax, (4.2, 4.4))
    for foot, end in zip(lines.feet, lines.feet + 2.2 * lines.directions, strict=True):
        ax.plot(*np.transpose([foot, end]), color="0.7", linewidth=0.8)
    for index, (name, shape) in enumerate(outlines.items()):
        if index == 0:
            ax.plot(*shape.wall.T, color="black", linestyle="-", label="palate and rear wall")
        style = ("--", ":", "-.")[index % 3]
        ax.plot(*shape.tongue.T, color=SERIES[index % len(SERIES)], linestyle=style, label=name)
    ax.invert_yaxis()
    ax.set_aspect("equal")
    ax.set(xlabel="behind the incisor (cm)", ylabel="below the incisor (cm)")
    ax.legend(loc="lower left", fontsize=8)
    return origin(ax, "simulated here")


def factors(models: Mapping[str, Any], names: Mapping[str, Sequence[str]]) -> Figure:
    """Draw what two standard deviations of each factor do to a contour, one factor a column."""
    pairs = [(organ, k) for organ, model in models.items() for k in range(len(model.spread))]
    _, axes = plt.subplots(1, len(pairs), figsize=(1.9 * len(pairs), 2.6), squeeze=False)
    for ax, (organ, k) in zip(axes[0], pairs, strict=True):
        for sign, style in ((0.0, "-"), (2.0, "--"), (-2.0, ":")):
            score = np.zeros(len(models[organ].spread))
            score[k] = sign
            x, y = _parts(models[organ].contour(score)[0].reshape(-1, 2), 0.5).T
            label = f"{sign:+.0f} SD" if sign else "mean"
            ax.plot(x, y, color=SERIES[k] if sign else "black", linestyle=style, label=label)
        ax.invert_yaxis()
        ax.set_aspect("equal", "datalim")
        ax.set(xlabel=f"behind (cm)\n{organ}: {names[organ][k]}")
    axes[0, 0].set(ylabel="below the incisor (cm)")
    axes[0, 0].legend(fontsize=7)
    origin(axes[0, -1], "synthetic stand-in")
    return axes[0, 0].figure


def components(model: Any, place: Array, axes: Sequence[Axes] | None = None) -> Figure:
    """Draw the mean contour and what two standard deviations of each component do to it."""
    count = model.components.shape[0]
    if axes is None:
        axes = list(plt.subplots(1, count, figsize=(7.2, 2.6), sharey=True, squeeze=False)[1][0])
    for k, ax in enumerate(axes):
        score = np.zeros(count)
        ax.plot(place, model.mean, color="black", linestyle="-", label="mean")
        for sign, style, label in ((2, "--", "+2 SD"), (-2, ":", "−2 SD")):
            score[k] = sign
            ax.plot(place, model.contour(score)[0], color=SERIES[k], linestyle=style, label=label)
        ax.set_title(f"no. {k + 1}: {100 * model.explained[k]:.0f} %")
        ax.set(xlabel="along the wall (cm)")
        ax.legend(fontsize=8, loc="lower right")
    axes[0].set(ylabel="opening (cm)")
    origin(axes[-1], "synthetic stand-in")
    return axes[0].figure  # type: ignore[return-value]


def locations(openings: Array, places: Array, ax: Axes | None = None) -> Axes:
    """Draw where repeated tracings of one contour put its constriction: opening against location."""
    ax = _new_axes(ax)
    ax.plot(places, openings, "o", color=COLOURS["simulated"], alpha=0.35)
    ax.set(xlabel="location along the wall from the incisor (cm)", ylabel="opening (cm)", xlim=(0, 15))
    return origin(ax, "simulated here")


def leverage(names: Sequence[str], rise: Sequence[float], f1: Sequence[float], ax: Axes | None = None) -> Axes:
    """Draw F1 against the rise of the larynx with the fitted lines with and without the token of highest leverage."""
    from voicewire.pharyngeal.statistics.correlation import leverage as lever

    ax = _new_axes(ax)
    x, y = np.asarray(rise), np.asarray(f1)
    worst = int(np.argmax(lever(rise)))
    rest = np.arange(x.size) != worst
    grid = np.linspace(x.min() - 0.05, x.max() + 0.05, 2)
    ax.plot(x[rest], y[rest], "o", color=COLOURS["published"], label="five tokens")
    ax.plot(x[worst], y[worst], "D", color=COLOURS["published"], fillstyle="none", markersize=9, label=names[worst])
    ax.plot(
        grid, np.polyval(np.polyfit(x, y, 1), grid), color=COLOURS["theory"], linestyle="-", label="line of all six"
    )
    ax.plot(
        grid, np.polyval(np.polyfit(x[rest], y[rest], 1), grid), color=COLOURS["simulated"], linestyle="--",
        label="line without it",
    )  # fmt: skip
    ax.set(xlabel="rise of the larynx (cm)", ylabel="F1 (Hz)", ylim=(620, 740))
    ax.legend(loc="upper left")
    return origin(ax, "published")


def shares(changes: Sequence[tuple[str, Array]], wanted: Array, ax: Axes | None = None) -> Axes:
    """Draw what each of several movements does to F1 and F2, beside what the paper found."""
    ax = _new_axes(ax, (7.0, 3.4))
    rows = [("the paper", wanted), *changes]
    for i, (_, change) in enumerate(rows):
        for k, hatch in ((0, ""), (1, "//")):
            colour = COLOURS["published"] if i == 0 else SERIES[k]
            mean = float(np.mean(change[..., k]))
            ax.barh(i + 0.2 - 0.4 * k, mean, height=0.36, color=colour, alpha=0.85, hatch=hatch, edgecolor="white",
                    label=f"F{k + 1}" if i == 1 else None)  # fmt: skip
            if change.ndim == 2:
                low, high = np.quantile(change[:, k], [0.05, 0.95])
                ax.plot([low, high], [i + 0.2 - 0.4 * k] * 2, color="black", linewidth=1.2, linestyle="-")
    ax.axvline(0, color="black", linewidth=0.8, linestyle="-")
    ax.set_yticks(range(len(rows)), [name for name, _ in rows])
    ax.invert_yaxis()
    ax.set(xlabel="change of the formant against the plain vowel (Hz)")
    ax.legend(loc="center left")
    return origin(ax, "simulated here")


def missing(solved: Mapping[str, tuple[Array, float]], axes: Sequence[Axes] | None = None) -> Figure:
    """Draw the listed /a/ tokens of each column, their printed mean, and the unlisted token that the mean needs."""
    if axes is None:
        axes = list(plt.subplots(1, len(solved), figsize=(7.2, 2.8), squeeze=False)[1][0])
    for ax, (name, (listed, token)) in zip(axes, solved.items(), strict=True):
        ax.plot(listed, np.zeros(listed.size), "o", color=COLOURS["published"], label="listed tokens")
        ax.plot(token, 0, "*", color=COLOURS["simulated"], markersize=14, label="unlisted token")
        ax.axvline(float(listed.mean()), color=COLOURS["published"], linestyle=":", label="mean of the listed")
        ax.axvline(float(np.mean([*listed, token])), color=COLOURS["simulated"], linestyle="--", label="printed mean")
        ax.set_yticks([])
        ax.set(xlabel=f"{name} (cm)", ylim=(-1, 1))
        ax.grid(axis="y", visible=False)
    axes[0].legend(loc="upper left", fontsize=7.5, frameon=True, framealpha=1.0)
    origin(axes[-1], "published")
    return axes[0].figure  # type: ignore[return-value]

"""What makes hard input hard, one factor at a time: the source's colour, one source for both channels, gradient noise.

``voicewire record echo`` makes ``data/echo/factors.csv`` and ``data/echo/gradient.csv`` with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.echo import paper
from voicewire.echo.adaptive_filter import AdaptiveFilter
from voicewire.echo.gradient import WLNLMS
from voicewire.echo.metrics import follow
from voicewire.echo.rls import StereoRLS
from voicewire.echo.scenes.scene import Signals
from voicewire.echo.widely_linear import Responses, echo
from voicewire_book.chapters.echo.experiments import Rows, column, paper_filter, read, scene

__all__ = [
    "CHANNELS",
    "COLOURS",
    "RECORDINGS",
    "effects",
    "exchanged",
    "factors",
    "gap",
    "gradient",
    "gradient_gains",
    "later",
    "mean_gradient",
    "misadjustments",
    "two_sources",
]

Real = NDArray[np.float64]
SEEDS = range(20)
"""Those of `peers`: the scenes of AR(1) noise from one source are the same."""
COLOURS = {"coloured": "ar1", "white": "white"}
CHANNELS = "one source", "two sources"
STEPS = (0.5, 0.2, 0.1)
"""Step sizes of NLMS; the first is the one that the other recordings have."""
QUIET = 100.0
"""Signal-to-noise ratio in dB without noise to speak of."""
_CHANGE_AT, _AFTER, _EVERY = 60_000, 20_000, 2000


def two_sources(one: Signals, other: Signals) -> Signals:
    """Put the right channel of another conversation beside the left one of this; the echo paths stay."""
    x = one.x.real + 1j * other.x.imag
    heard = echo(one.before, x)
    heard[one.change_at :] = echo(one.after, x)[one.change_at :]
    level = 10 ** (-paper.SNR_DB / 20)
    noise = np.empty(x.size, complex)
    noise.real = level * np.std(heard.real) * one.noise.real / np.std(one.noise.real)
    noise.imag = level * np.std(heard.imag) * one.noise.imag / np.std(one.noise.imag)
    return replace(one, x=x, d=heard + noise, noise=noise)


def _scenes(seed: int, change_at: int) -> Iterator[tuple[str, str, Signals]]:
    """Yield the four scenes of one seed: colour or not, one source or two, the rest held."""
    for colour, source in COLOURS.items():
        one, other = (scene(n, change_at + _AFTER, change_at=change_at, source=source) for n in (seed, seed + 1000))
        yield colour, CHANNELS[0], one
        yield colour, CHANNELS[1], two_sources(one, other)


def factors(seeds: Sequence[int] = SEEDS, change_at: int = _CHANGE_AT) -> Rows:
    """Run exact RLS, DCD with one and three passes, and NLMS in the four scenes of each seed."""
    rows: Rows = []
    for seed in seeds:
        for colour, channels, signals in _scenes(seed, change_at):
            filters: dict[str, AdaptiveFilter] = {
                "exact": StereoRLS(paper.FIGURE_1.length, paper.FIGURE_1.forgetting),
                "DCD": paper_filter(paper.FIGURE_1, 1),
                "DCD, 3 passes": paper_filter(paper.FIGURE_1, 3),
                "NLMS": WLNLMS(paper.FIGURE_1.length),
            }
            for kind, filter_ in filters.items():
                end = float(follow(filter_, signals, _EVERY).decibels[-1])
                rows.append({"source": colour, "channels": channels, "filter": kind, "seed": seed, "later": end})
    return rows


def _stacked(paths: Responses) -> Real:
    """Return the echo paths as the real filter has them: a row of 2L taps for each microphone."""
    return np.array([np.concatenate([paths.LL, paths.RL]), np.concatenate([paths.LR, paths.RR])])


def mean_gradient(signals: Signals, length: int, step: float) -> float:
    """Return the misalignment at the end, in dB, of NLMS whose every step is the mean of all steps: no gradient noise.

    The mean of x x^T over the energy of the window is taken over the scene itself; its powers are exact.
    """
    both = np.array([signals.x.real, signals.x.imag])
    windows = np.lib.stride_tricks.sliding_window_view(both, length, axis=1)[:, ::4, ::-1]
    rows = np.concatenate(list(windows), axis=1)
    mean = rows.T @ (rows / np.sum(rows**2, axis=1, keepdims=True)) / len(rows)
    values, vectors = np.linalg.eigh(mean)

    def learnt(taps: Real, truth: Real, samples: int) -> Real:
        kept: Real = ((taps - truth) @ vectors) * (1 - step * values) ** samples
        return truth + kept @ vectors.T

    before, after = _stacked(signals.before), _stacked(signals.after)
    taps = learnt(np.zeros_like(before), before, signals.change_at)
    taps = learnt(taps, after, signals.x.size - signals.change_at)
    return float(20 * np.log10(np.linalg.norm(taps - after) / np.linalg.norm(after)))


def _excess(filter_: AdaptiveFilter, signals: Signals, start: int, end: int) -> float:
    """Return the misadjustment: the power of the error beyond the noise, over the noise, from `start` to `end`."""
    filter_.process(signals.x[:start], signals.d[:start])
    error = filter_.process(signals.x[start:end], signals.d[start:end])
    noise = signals.noise[start:end]
    return float(np.mean(np.abs(error - noise) ** 2) / np.mean(np.abs(noise) ** 2))


def gradient(seeds: Sequence[int] = SEEDS, change_at: int = _CHANGE_AT, settled: int = 800_000) -> Rows:
    """Run NLMS with what gradient noise depends on changed alone: microphone noise, step size, the source's colour.

    `later` is the misalignment 20,000 samples after the change; `misadjustment` is that of the last 20,000 of `settled`
    samples without any change; both as ratios or decibels of one run. With coloured noise the two smaller steps still
    fall after 800,000 samples.
    """
    rows: Rows = []
    length = paper.FIGURE_1.length
    for seed in seeds:
        for colour, source in COLOURS.items():
            signals = scene(seed, change_at + _AFTER, change_at=change_at, source=source)
            still = scene(seed, settled, change="none", source=source)
            for step in STEPS:
                row = {"source": colour, "step": step, "snr": paper.SNR_DB, "gradient": "of each sample", "seed": seed}
                end = float(follow(WLNLMS(length, step), signals, _EVERY).decibels[-1])
                excess = _excess(WLNLMS(length, step), still, settled - _AFTER, settled)
                rows.append(row | {"later": end, "misadjustment": excess})
            row |= {"step": STEPS[0], "misadjustment": ""}
            quiet = scene(seed, change_at + _AFTER, change_at=change_at, source=source, snr=QUIET)
            end = float(follow(WLNLMS(length, STEPS[0]), quiet, _EVERY).decibels[-1])
            rows.append(row | {"snr": QUIET, "later": end})
            rows.append(row | {"gradient": "mean", "later": mean_gradient(signals, length, STEPS[0])})
    return rows


def later(kind: str, source: str = "coloured", channels: str = CHANNELS[0]) -> Real:
    """Return the misalignment 20,000 samples after the change in one of the four scenes, as recorded."""
    return np.array(column(read("factors"), "later", filter=kind, source=source, channels=channels))


def gap(kind: str, other: str, source: str = "coloured", channels: str = CHANNELS[0]) -> Real:
    """Return how far one filter stands above another in one of the four scenes, dB."""
    return later(kind, source, channels) - later(other, source, channels)


def effects(measure: Callable[[str, str], Any]) -> dict[str, Real]:
    """Take colour and the common source apart: what each gives alone, their main effects, and their interaction.

    `measure` returns a number for each seed, given the source and the channels.
    """
    (both, colour), (common, neither) = (
        [np.asarray(measure(source, channels), dtype=float) for channels in CHANNELS] for source in COLOURS
    )
    return {
        "colour taken away": both - common,
        "common source taken away": both - colour,
        "colour, main effect": (both + colour - common - neither) / 2,
        "common source, main effect": (both + common - colour - neither) / 2,
        "interaction": (both - colour) - (common - neither),
    }


def exchanged(measure: Callable[[str, str], Any], rng: np.random.Generator, runs: int = 200) -> list[Real]:
    """Exchange the four scenes of each seed at random: the main effect of either factor can only be luck then."""
    table = np.array([measure(source, channels) for source in COLOURS for channels in CHANNELS], dtype=float)
    mixed = (rng.permuted(table, axis=0) for _ in range(runs))
    return [(drawn[0] + drawn[1] - drawn[2] - drawn[3]) / 2 for drawn in mixed]


def _of(name: str, **where: Any) -> Real:
    given = {"source": "coloured", "step": STEPS[0], "snr": paper.SNR_DB, "gradient": "of each sample"} | where
    return np.array(column(read("gradient"), name, **given), dtype=float)


def gradient_gains() -> dict[str, Real]:
    """Return by how many dB NLMS comes further on AR(1) input when gradient noise is lessened, or taken away."""
    now = _of("later")
    return {
        "no noise at the microphones": now - _of("later", snr=QUIET),
        "a smaller step": now - np.minimum(*(_of("later", step=step) for step in STEPS[1:])),
        "the mean gradient": now - _of("later", gradient="mean"),
    }


def misadjustments() -> dict[tuple[str, float], Real]:
    """Return the misadjustment of NLMS by the source's colour and the step size, as recorded."""
    return {(source, step): _of("misadjustment", source=source, step=step) for source in COLOURS for step in STEPS}


RECORDINGS: dict[str, Callable[[], Rows]] = {"factors": factors, "gradient": gradient}

"""The experiments of Section IV and beyond.

What takes long is recorded by ``voicewire record echo``.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire._kit import sheets
from voicewire.echo import paper
from voicewire.echo.dcd import WLDRRLSDCD
from voicewire.echo.metrics import Curve, Operations, dcd_operations, follow, misalignment, woodbury_operations
from voicewire.echo.operation_counts import KINDS, count_operations
from voicewire.echo.scenes.scene import Scene, Signals
from voicewire.echo.scenes.speech import talk
from voicewire_book import paths
from voicewire_book.ledger.vocabulary import Plain

__all__ = [
    "EQUAL_WORK",
    "THEORY",
    "column",
    "every_pass",
    "far_rooms",
    "figure",
    "limit",
    "passes",
    "read",
    "read_curves",
    "retuned",
    "run",
    "scene",
    "stereo_rls_operations",
    "theory",
    "track",
    "work",
]

Rows = list[dict[str, Any]]
CHANGE_AT = 90_000
"""Of the recorded seeds: 11 memories of Figure 1, so the old paths are learnt."""
SEEDS = range(5)


def paper_filter(setting: paper.Setting, reuse: int, **other: Any) -> WLDRRLSDCD:
    """The filter of a figure, in float32, with the paper's H, N_u and M_b unless given otherwise."""
    given: dict[str, Any] = {
        "length": setting.length,
        "forgetting": setting.forgetting,
        "data_reuse": reuse,
        "updates": paper.UPDATES,
        "bits": paper.BITS,
        "amplitude": paper.AMPLITUDE,
        "dtype": np.float32,
    }
    return WLDRRLSDCD(**(given | other))


def figure(number: int, scale: float = 1.0, every: int = 2500, seed: int = 1) -> dict[tuple[int, float], Curve]:
    """The misalignment curves of Figure 1 or 2 by (N_it, alpha_r)."""
    setting = {1: paper.FIGURE_1, 2: paper.FIGURE_2}[number]
    samples, change_at = (int(n * scale) // every * every for n in (setting.samples, setting.change_at))
    source = "ar1" if number == 1 else talk(samples / paper.RATE, seed)
    curves = {}
    scenes: dict[float, Signals] = {}
    for reuse, predistortion in setting.curves:
        if predistortion not in scenes:
            scenes.clear()
            scenes[predistortion] = Scene(
                setting.length,
                samples,
                seed,
                source=source,
                predistortion=predistortion,
                change=setting.change,  # type: ignore[arg-type]
                change_at=change_at,
            ).signals()
        curves[reuse, predistortion] = follow(paper_filter(setting, reuse), scenes[predistortion], every)
    return curves


def track(signals: Signals, every: int = 250, **other: Any) -> dict[str, float]:
    """Tracking times (in samples) and floors (in dB) of one filter in a scene whose paths change at `CHANGE_AT`."""
    reuse = other.pop("data_reuse", 1)
    curve = follow(paper_filter(paper.FIGURE_1, reuse, **other), signals, every)
    end = signals.x.size
    return {
        "t10": curve.tracking_time(signals.change_at, -10),
        "t15": curve.tracking_time(signals.change_at, -15),
        "t20": curve.tracking_time(signals.change_at, -20),
        "before": curve.steady(signals.change_at - 20_000, signals.change_at),
        "after": curve.steady(end - 10_000, end),
        "highest": float(curve.decibels[: signals.change_at // every].max()),
    }


def scene(seed: int, samples: int = 140_000, **other: Any) -> Signals:
    """The scene of Figure 1, shorter: the change comes at `CHANGE_AT`."""
    given: dict[str, Any] = {"change": "sign", "change_at": CHANGE_AT}
    return Scene(paper.FIGURE_1.length, samples, seed, **(given | other)).signals()


Case = tuple[str, float, Sequence[int]]
CASES: Sequence[Case] = (
    ("decaying", 0.4, (1, 2, 3, 4, 5, 6)),
    ("decaying", 0.0, (1, 3, 5)),
    ("decaying", 0.8, (1,)),
    ("room", 0.4, (1, 3, 5)),
)
"""Family of rooms, alpha_r, and passes of each filter in their scenes."""
FAMILIES = ("decaying", "room")


def tracking(cases: Sequence[Case] = CASES, seeds: Sequence[int] = SEEDS) -> Rows:
    """N_it x alpha_r x family x seed."""
    rows: Rows = []
    for family, alpha, reuses in cases:
        for seed in seeds:
            signals = scene(seed, predistortion=alpha, family=family)
            for reuse in reuses:
                row = {"family": family, "alpha": alpha, "reuse": reuse, "seed": seed}
                rows.append(row | track(signals, data_reuse=reuse))
    return rows


THEORY: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "2L": ({"far_length": 2 * paper.FIGURE_1.length}, {}),
    "L": ({}, {}),
    "L, noise at -45 dB": ({"snr": 45.0}, {}),
    "L, 12 moves": ({}, {"updates": 12}),
}
"""Far rooms of which length, and what else differs from Figure 1: in the scene, in the filter."""


def theory() -> Rows:
    """Tracking against theory: far rooms twice as long and as long as the filter, and what ails the latter."""
    rows: Rows = []
    for name, (in_scene, in_filter) in THEORY.items():
        for family in ("decaying", "room"):
            for seed in SEEDS:
                signals = scene(seed, family=family, **in_scene)
                for reuse in (1, 3, 5):
                    row = {"far_room": name, "family": family, "reuse": reuse, "seed": seed}
                    rows.append(row | track(signals, data_reuse=reuse, **in_filter))
    return rows


def far_rooms(
    lengths: Sequence[int], seeds: Sequence[int], *, length: int = 32, samples: int = 8_000
) -> dict[float, dict[int, list[float]]]:
    """Misalignment at the end of a run against the length of the far room, without and with pre-distortion.

    Notes
    -----
    Equation ``eq-echo-dimension``.
    """
    found: dict[float, dict[int, list[float]]] = {0.0: {}, 0.4: {}}
    for alpha, by_length in found.items():
        for far_length in lengths:
            by_length[far_length] = []
            for seed in seeds:
                signals = Scene(length, samples, seed, predistortion=alpha, far_length=far_length).signals()
                canceller = WLDRRLSDCD(length, 1 - 1 / (24 * length))
                canceller.process(signals.x, signals.d)
                by_length[far_length].append(misalignment(canceller.taps, signals.truth(samples - 1)))
    return found


EQUAL_WORK = ((3, 4, 64.0), (1, 4, 64.0), (1, 12, 64.0), (1, 12, 64 / 3), (1, 4, 64 / 3))
"""N_it, N_u and K of the filters that are set beside each other."""


def equal_work(seeds: Sequence[int] = SEEDS, kinds: Sequence[tuple[int, int, float]] = EQUAL_WORK) -> Rows:
    """Data reuse against plain WL-RLS-DCD of equal work: the same 12 tap updates a sample, with memory re-tuned."""
    rows: Rows = []
    for seed in seeds:
        signals = scene(seed)
        for reuse, updates, memory in kinds:
            forgetting = 1 - 1 / (memory * paper.FIGURE_1.length)
            row = {"reuse": reuse, "updates": updates, "memory": round(memory, 3), "seed": seed}
            rows.append(row | track(signals, data_reuse=reuse, updates=updates, forgetting=forgetting))
    return rows


def sensitivity() -> Rows:
    """What the paper leaves out, one thing at a time: the far-end room's length and epsilon."""
    rows: Rows = []
    for seed in SEEDS[:2]:
        for far_length in (64, 128, 512):
            for alpha in (0.0, 0.4):
                signals = scene(seed, far_length=far_length, predistortion=alpha)
                row = {"what": "far_length", "value": far_length, "alpha": alpha, "reuse": 3, "seed": seed}
                rows.append(row | track(signals, data_reuse=3))
        signals = scene(seed)
        for epsilon in (1e-4, 1.0, 100.0):
            for reuse in (1, 5):
                row = {"what": "epsilon", "value": epsilon, "alpha": 0.4, "reuse": reuse, "seed": seed}
                rows.append(row | track(signals, data_reuse=reuse, regularization=epsilon))
        for bits in (8, 12, 20):
            row = {"what": "bits", "value": bits, "alpha": 0.4, "reuse": 3, "seed": seed}
            rows.append(row | track(signals, data_reuse=3, bits=bits))
        for updates in (1, 2, 8):
            row = {"what": "updates", "value": updates, "alpha": 0.4, "reuse": 3, "seed": seed}
            rows.append(row | track(signals, data_reuse=3, updates=updates))
    return rows


def _curves(number: int) -> Rows:
    curves = figure(number)
    names = {key: f"nit{key[0]}_alpha{key[1]:g}" for key in curves}
    points = next(iter(curves.values())).samples
    return [
        {"n": int(n)} | {names[key]: round(float(curve.decibels[i]), 3) for key, curve in curves.items()}
        for i, n in enumerate(points)
    ]


RECORDINGS: dict[str, Callable[[], Rows]] = {
    "tracking": tracking,
    "theory": theory,
    "equal-work": equal_work,
    "sensitivity": sensitivity,
    "figure-1": lambda: _curves(1),
    "figure-2": lambda: _curves(2),
}


def read(name: str) -> Rows:
    """A recorded experiment, numbers as numbers."""
    with (paths.data("echo") / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return [{key: _number(text) for key, text in row.items()} for row in csv.DictReader(file)]


def read_curves(number: int) -> dict[tuple[int, float], Curve]:
    """The recorded curves of Figure 1 or 2."""
    rows = read(f"figure-{number}")
    points = np.array([row["n"] for row in rows], np.int64)
    setting = {1: paper.FIGURE_1, 2: paper.FIGURE_2}[number]
    return {
        (reuse, alpha): Curve(points, np.array([row[f"nit{reuse}_alpha{alpha:g}"] for row in rows]))
        for reuse, alpha in setting.curves
    }


def column(rows: Rows, name: str, **where: Any) -> list[float]:
    """One column of the rows that match, in order of the seeds."""
    return [row[name] for row in rows if all(row[key] == value for key, value in where.items())]


def passes(rows: Rows) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Compare the passes of Figure 1 at alpha_r = 0.4, for both families of echo paths."""

    def of(name: str, reuse: int, alpha: float = 0.4, family: str = "decaying") -> NDArray[np.float64]:
        return np.array(column(rows, name, family=family, alpha=alpha, reuse=reuse))

    return {
        "echo.nit-below-10": {f: of("t15", 1, family=f) / of("t15", 3, family=f) for f in FAMILIES},
        "echo.dr-costs-accuracy": {f: of("before", 3, family=f) - of("before", 1, family=f) for f in FAMILIES},
        "echo.alpha08-slower-than-dr": {str(n): of("t15", 1, 0.8) / of("t15", n) for n in (3, 5)},
    }


def every_pass(rows: Rows) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Compare all recorded numbers of passes at alpha_r = 0.4, for both families of echo paths."""
    recorded = {"decaying": range(1, 7), "room": (1, 3, 5)}
    times = {
        family: {n: np.array(column(rows, "t15", family=family, alpha=0.4, reuse=n)) for n in counts}
        for family, counts in recorded.items()
    }
    return {
        "echo.tracking-improves-with-nit": {
            f"{family} {n}": time / by_count[1]
            for family, by_count in times.items()
            for n, time in by_count.items()
            if n > 1
        },
        "echo.cap-at-3": {family: limit(by_count) / by_count[3] for family, by_count in times.items()},
    }


def limit(times: dict[int, Any]) -> Any:
    """Return the time that no number of passes goes below: T_inf in T = T_inf + c / N, by least squares."""
    counts = np.array(list(times))
    return np.polyfit(1 / counts, np.array(list(times.values())), 1)[-1]


def retuned(rows: Rows) -> NDArray[np.float64]:
    """Divide the plain filter's time to -15 dB, with equal work and a third of the memory, by that of data reuse."""
    alone = column(rows, "t15", reuse=1, updates=12, memory=round(64 / 3, 3))
    return np.array(alone) / column(rows, "t15", reuse=3, updates=4, memory=64.0)


def stereo_rls_operations(length: int) -> Operations:
    """Count a sample of `StereoRLS`: one real inverse for two channels and two microphones, lower triangle only."""
    n = 2 * length
    half = n * (n + 1) // 2
    return Operations(n * n + half + 5 * n, n * n + 2 * half + 6 * n, 0, 0)


def work() -> dict[str, Plain]:
    """Compare the operations of a sample: several passes with one, and DCD with Woodbury's identity."""
    length, updates = paper.FIGURE_1.length, paper.UPDATES
    shown = sorted({reuse for reuse, _ in paper.FIGURE_1.curves})
    counts = {
        "the least": {n: dcd_operations(length, n, updates) for n in shown},
        "as the tables run": {n: count_operations(length, n) for n in shown},
    }
    lengths = (length, paper.FIGURE_2.length)
    exact = {
        "complex numbers as they stand": {
            L: woodbury_operations(L).over(count_operations(L, shown[-1])) for L in lengths
        },
        "the structure of two channels": {
            L: stereo_rls_operations(L).over(dcd_operations(L, shown[-1], updates)) for L in lengths
        },
    }
    return {
        "echo.complexity-slight-increase": {
            way: {
                f"{kind}, {n} passes": getattr(by_passes[n], kind) / getattr(by_passes[1], kind)
                for kind in KINDS
                for n in shown[1:]
            }
            for way, by_passes in counts.items()
        },
        "echo.complexity-below-woodbury": {
            way: {f"{kind}, L = {L}": ratio for L, by_kind in found.items() for kind, ratio in by_kind.items()}
            for way, found in exact.items()
        },
    }


def run(quick: bool = False) -> dict[str, Plain]:
    """Compute the study's main results anew: what data reuse gains and costs, in time, accuracy and work.

    It takes about a minute on one core, `quick` a third of that; the long curves of Figures 1 and 2 are not run.
    """
    seeds = SEEDS[:2] if quick else SEEDS
    rows = tracking((("decaying", 0.4, (1, 3, 5)), ("decaying", 0.8, (1,)), ("room", 0.4, (1, 3))), seeds)
    found: dict[str, Plain] = {
        name: {label: float(values.mean()) for label, values in by_label.items()}
        for name, by_label in passes(rows).items()
    }
    found["echo.dr-vs-retuned-lambda"] = float(retuned(equal_work(seeds, (EQUAL_WORK[0], EQUAL_WORK[3]))).mean())
    return found | work()


def _number(text: str) -> Any:
    try:
        return float(text) if "." in text or "inf" in text or "e" in text else int(text)
    except ValueError:
        return text


def write_rows(path: Path, rows: Rows) -> None:
    """Write rows as CSV, times and levels to three decimals."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = sheets.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {
                    k: f"{v:.3f}" if isinstance(v, float) and k not in ("value", "alpha", "memory", "epsilon") else v
                    for k, v in row.items()
                }
            )

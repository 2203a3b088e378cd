"""What the height of the larynx does in a second tract, beside the book's own: numbers only, no program is kept.

The second tract is VocalTractLab's, whose speaker file was fitted to magnetic resonance images of one man. ``voicewire
record pharyngeal larynx`` makes ``data/pharyngeal/larynx_mri.csv`` anew; it needs PyPI's vocaltractlab-cython (GPL-3),
which the book doesn't depend on. Explained in notebook ``01_tract_to_formants``.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from voicewire._kit import checks, sheets
from voicewire.pharyngeal import tract, tube
from voicewire.pharyngeal.tract import Articulation
from voicewire_book.kit import figures

__all__ = ["COLUMNS", "RISES", "ROOTS", "VOWELS", "able", "beside", "changes", "coupling", "own_changes", "record"]

Array = NDArray[np.float64]

VOWELS: Final = ("a", "e", "i", "o", "u", "E:", "2", "y", "I", "E", "O", "U", "9", "Y", "@", "6")
"""The vowels of the speaker file, by their SAMPA names: those of German."""
RISES: Final = (-0.8, -0.4, -0.2, 0.0, 0.14, 0.2, 0.4, 0.8)
"""How far larynx and hyoid bone are raised, cm; 0.14 cm is what the paper measures beside /tˁ/."""
ROOTS: Final = {"held": "tongue root held", "follows": "tongue root moves along"}
"""What the tongue root does meanwhile."""
_FORMANTS: Final = ("F1", "F2", "F3")
COLUMNS: Final = (
    "vowel",
    "root",
    "rise",
    "root_back",
    "length",
    "narrowest",
    *_FORMANTS,
    "book_F1",
    "book_F2",
    "book_F3",
)
_BINS: Final = 16384  # of the spectrum up to the sampling rate
_RATE: Final = 44_100
_HIGHEST: Final = 5500.0  # Hz
_DRAWN: Final = 0.4  # cm: as far as nearly every vowel of either tract can go


def _peaks(magnitude: Array) -> Array:
    """Frequencies (Hz) of a spectrum's peaks, by a parabola through each and its neighbours in decibels."""
    level = np.log(np.asarray(magnitude, dtype=float)[: int(_HIGHEST / _RATE * _BINS)] + 1e-300)
    at = np.flatnonzero((level[1:-1] > level[:-2]) & (level[1:-1] >= level[2:])) + 1
    before, here, after = level[at - 1], level[at], level[at + 1]
    return np.asarray((at + 0.5 * (before - after) / (before - 2 * here + after)) * _RATE / _BINS)


def _settled(program: Any, state: Array) -> Array:
    """The state that the speaker's limits leave: the root's rule and the tongue's limits take a second round."""
    for _ in range(3):
        state = np.asarray(program.tract_state_to_limited_tract_state(state), dtype=float)
    return state


def _row(program: Any, state: Array) -> tuple[float, ...]:
    """Length (cm), narrowest area (cm^2), F1 to F3 (Hz) by the program and by the book's tube."""
    shape = program.tract_state_to_tube_state(state)
    areas, lengths = (np.asarray(shape[f"tube_{name}"], dtype=float) for name in ("area", "length"))
    spectrum = program.tract_state_to_transfer_function(state, n_spectrum_samples=_BINS)["magnitude_spectrum"]
    found = _peaks(spectrum)
    if found.size < 3:
        raise ValueError(f"the spectrum has {found.size} peaks below {_HIGHEST:.0f} Hz, where three are needed")
    own = tube.resonances(areas, lengths, count=3).frequencies
    return (float(lengths.sum()), float(areas.min()), *found[:3].tolist(), *own.tolist())


def record(folder: str | Path) -> Path:
    """Measure the second tract at each height of its larynx, with its tongue root held and moving along.

    Notes
    -----
    A height that the speaker file's limits exclude is left out.
    """
    try:
        program = importlib.import_module("vocaltractlab_cython")
    except ImportError as error:
        raise ValueError("VocalTractLab isn't installed: pip install vocaltractlab-cython==0.0.16 (GPL-3)") from error
    limits = {one["name"]: one for one in program.get_param_info("tract")}
    height, back = (list(limits).index(name) for name in ("HY", "TRX"))
    rows: list[tuple[object, ...]] = []
    for vowel in VOWELS:
        program.calculate_tongueroot_automatically(True)
        rest = _settled(program, program.get_shape(vowel, "tract"))
        for root in ROOTS:
            program.calculate_tongueroot_automatically(root == "follows")
            for rise in RISES:
                state = rest.copy()
                state[height] += rise
                if not limits["HY"]["min"] - 1e-9 <= state[height] <= limits["HY"]["max"] + 1e-9:
                    continue
                state = _settled(program, state)
                # its x runs forward: back is towards the rear wall
                rows.append((vowel, root, rise, float(rest[back] - state[back]), *_row(program, state)))
    target = Path(folder) / "larynx_mri.csv"
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    sheets.to_csv(table, target, index=False, float_format="%.3f", lineterminator="\n")
    return target


@checks.takes(table=checks.table)
def changes(table: pd.DataFrame) -> pd.DataFrame:
    """Return how far each formant lies from that of the same vowel with the larynx at rest, %."""
    hertz = [name for name in COLUMNS if name.endswith(_FORMANTS)]
    rest = table[table["rise"] == 0].set_index(["vowel", "root"])[hertz]
    keys = pd.MultiIndex.from_frame(table[["vowel", "root"]])
    if not keys.isin(rest.index).all():
        raise ValueError("the table lacks a vowel's row with the larynx at rest")
    out = table.copy()
    out[hertz] = 100 * (table[hertz].to_numpy() / rest.loc[keys].to_numpy() - 1)
    return out


@checks.takes(table=checks.table)
def coupling(table: pd.DataFrame) -> float:
    """Return how far the second tract's root goes back for each centimetre that its larynx rises: the median."""
    moved = table[(table["root"] == "follows") & (table["rise"] != 0)]
    return float((moved["root_back"] / moved["rise"]).median())


@checks.takes(rng=checks.generator, count=checks.whole(1, 1000), share=checks.number(0.0, 1.5))
def able(rng: np.random.Generator, count: int, share: float) -> list[Articulation]:
    """Draw shapes of the book's tract that stay open while the larynx goes 0.4 cm down and up, root held or not."""
    kept: list[Articulation] = []
    while len(kept) < count:
        shape = replace(tract.random_open(rng), larynx=0.0)
        low, high = tract.LIMITS["root"]
        ends = [(rise, root) for rise in (-_DRAWN, _DRAWN) for root in (0.0, share * rise)]
        if all(
            low <= shape.root + root <= high
            and tract.outline(tract.moved(shape, larynx=rise, root=root)).opening.min() > 0.05
            for rise, root in ends
        ):
            kept.append(shape)
    return kept


@checks.takes(
    shapes=checks.each(checks.a(Articulation)), rises=checks.array(low=-0.8, high=1.8), share=checks.number(0.0, 1.5)
)
def own_changes(shapes: Sequence[Articulation], rises: Sequence[float], share: float) -> Array:
    """Return what raising the larynx changes in the book's tract, its root going back by a share of the rise, %."""
    rest = np.array([tract.formants(shape, 3).frequencies for shape in shapes])
    steps = [{"larynx": float(rise), "root": share * float(rise)} for rise in rises]
    found = [[tract.formants(tract.moved(shape, **step), 3).frequencies for shape in shapes] for step in steps]
    return np.asarray(100 * (np.array(found) / rest - 1))


@checks.takes(
    table=checks.table,
    shapes=checks.each(checks.a(Articulation)),
    axes=checks.maybe(checks.each(checks.a(Axes), least=4)),
)
def beside(table: pd.DataFrame, shapes: Sequence[Articulation], axes: Sequence[Axes] | None = None) -> list[Axes]:
    """Draw the change of F1 and F2 over the larynx's height in both tracts, the root held and moving along."""
    if axes is None:
        axes = list(plt.subplots(2, 2, figsize=(7.2, 5.8), sharey="row", layout="constrained")[1].ravel())
    rises = np.linspace(-_DRAWN, _DRAWN, 5)
    second = changes(table)
    second = second[second["rise"].abs() <= _DRAWN + 1e-9]
    for index, (root, said) in enumerate(ROOTS.items()):
        look: dict[str, Any] = {"color": figures.SERIES[index], "linestyle": figures.LINESTYLES[index]}
        own = own_changes(shapes, list(rises), 0.0 if root == "held" else coupling(table))
        for k, (left, right) in enumerate((axes[:2], axes[2:4])):
            left.fill_between(rises, *np.quantile(own[:, :, k], (0.05, 0.95), axis=1), color=look["color"], alpha=0.2)
            left.plot(rises, np.median(own[:, :, k], axis=1), label=said, **look)
            over = second[second["root"] == root].groupby("rise")[f"F{k + 1}"]
            at = over.median().index.to_numpy(dtype=float)
            right.fill_between(at, over.quantile(0.05), over.quantile(0.95), color=look["color"], alpha=0.2)
            right.plot(at, over.median(), **look)
            spoken = second[(second["root"] == root) & (second["vowel"] == "a")]
            right.plot(
                spoken["rise"], spoken[f"F{k + 1}"], figures.MARKERS[index], color=look["color"], markersize=4,
                label=f"/a/, {'held' if root == 'held' else 'moving'}",
            )  # fmt: skip
    for k, (left, right) in enumerate((axes[:2], axes[2:4])):
        sides: list[tuple[Axes, figures.Origin, str]] = [
            (left, "simulated here", "the book's tract"), (right, "recorded elsewhere", "fitted to MRI"),
        ]  # fmt: skip
        for ax, source, name in sides:
            ax.axhline(0, color=figures.COLOURS["muted"], linewidth=0.8)
            ax.set(xlabel="larynx raised by (cm)", ylabel=f"change of F{k + 1} (%),\n{name}")
            figures.origin(ax, source)
    (lines, names), (marks, words) = (ax.get_legend_handles_labels() for ax in axes[:2])
    axes[0].legend([*lines, *marks], [*names, *words], loc="upper left", fontsize=8.5)
    return list(axes)

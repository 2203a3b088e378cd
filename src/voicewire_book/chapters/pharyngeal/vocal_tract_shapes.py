"""The recorded families of tract shapes: many tongues with one vowel, and what they do to become emphatic.

A search ends in slightly different places on different machines, so it was run once, by
``voicewire record pharyngeal shapes``, and its shapes lie in ``data/pharyngeal/shapes.csv``. Their formants are
computed anew wherever they are used. Explained in notebook ``04_reproduction``.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from voicewire._kit import paths, sheets
from voicewire.pharyngeal import inversion, paper, tract
from voicewire.pharyngeal.inversion import NAMES
from voicewire.pharyngeal.tract import Articulation

__all__ = ["RISE_MORE", "RISE_PLAIN", "changes", "formants", "load", "record", "targets"]

Array = NDArray[np.float64]

# cm: rise of the larynx in the plain vowel, and how much more beside /tˁ/ (Section III)
RISE_PLAIN: Final = 0.36
RISE_MORE: Final = 0.14
KINDS: Final = ("plain", "emphatic", "tongue", "tongue-jaw-lips")
_TONGUE: Final = ("body", "root", "root_place")
_FILE: Final = "shapes.csv"


def targets() -> tuple[Array, Array]:
    """Return F1 to F3 (Hz) of the text's plain vowel and of Table II's mean beside /tˁ/."""
    names = paper.FORMANTS[:3]
    plain = np.array([float(paper.TEXT_PLAIN[name]) for name in names])
    return plain, np.array([float(paper.cell(2, "tt-mean", name)) for name in names])


def search(starts: int, seed: int) -> dict[str, list[Articulation]]:
    """Search the families: plain shapes, emphatic shapes, and each plain shape moved to the emphatic F1 and F2."""
    plain_goal, goal = targets()
    plain = inversion.family(plain_goal, np.random.default_rng(seed), starts, RISE_PLAIN)
    emphatic = inversion.family(goal, np.random.default_rng(seed + 1), starts, RISE_PLAIN + RISE_MORE)
    found = {"plain": [s.articulation for s in plain], "emphatic": [s.articulation for s in emphatic]}
    for kind, free in (("tongue", _TONGUE), ("tongue-jaw-lips", (*_TONGUE, "jaw", "lips"))):
        found[kind] = [inversion.invert(goal[:2], s.articulation, free, effort=0.003).articulation for s in plain]
    return found


def load() -> dict[str, list[Articulation]]:
    """Read the recorded families (see `search`)."""
    found: dict[str, list[Articulation]] = {kind: [] for kind in KINDS}
    with (paths.data("pharyngeal") / _FILE).open(encoding="utf-8", newline="") as handle:
        for row in csv.DictReader(handle):
            found[row["kind"]].append(Articulation(**{name: float(row[name]) for name in NAMES}))
    return found


def formants(shapes: list[Articulation]) -> Array:
    """Return F1 to F4 of shapes, Hz, shape (n, 4)."""
    return np.array([tract.formants(shape).frequencies for shape in shapes])


def changes(shapes: list[Articulation], **step: float) -> Array:
    """Return how F1 to F4 (Hz) change when each shape makes one movement, shape (n, 4)."""
    return formants([tract.moved(shape, **step) for shape in shapes]) - formants(shapes)


def record(starts: int = 14, seed: int = 7, folder: Path | None = None) -> None:
    """Write the families to ``data/pharyngeal/shapes.csv``, positions to four decimals."""
    with ((folder or paths.data("pharyngeal")) / _FILE).open("w", encoding="utf-8", newline="") as handle:
        writer = sheets.Writer(handle)
        writer.writerow(["kind", *NAMES])
        for kind, members in search(starts, seed).items():
            for member in members:
                writer.writerow([kind, *(f"{value:.4f}" for value in tract.vector(member))])

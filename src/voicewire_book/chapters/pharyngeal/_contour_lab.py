"""What the lab of *Measuring articulators from images* compares with: right, and usual mistakes as options."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.pharyngeal import keyframes, organs
from voicewire.pharyngeal.reference import COARSE, RIDGE, carried, cosines, crossing, described

Array = NDArray[Any]


def meets(
    foot: Array, way: Array, a: Array, b: Array, *, ends: bool = True, ahead: bool = True, share: bool = False
) -> float:
    """Where a line meets a piece; `ends`, `ahead` and `share` are what is right and a usual mistake each."""
    sides = np.column_stack([way, np.subtract(a, b)])
    if abs(np.linalg.det(sides)) <= 1e-12:
        return np.inf
    r, t = np.linalg.solve(sides, np.subtract(a, foot))
    if (ends and not 0 <= t <= 1) or (ahead and r < -1e-9):
        return np.inf
    return float(t if share else max(r, 0.0) if ahead else r)


def finite(distance: float) -> float:
    """Infinite becomes -1, which numbers can be compared with."""
    return -1.0 if np.isinf(distance) else distance


def reach(
    foot: Array, way: Array, contour: Array,
    *,
    closes: bool = False, last: bool = False, most: bool = False, none: bool = False,
) -> float:  # fmt: skip
    """The nearest crossing; `closes`, `last`, `most` and `none` (-1 counts as near) are usual mistakes."""
    pieces = [(contour[i], contour[i + 1]) for i in range(len(contour) - 1)]
    if closes:
        pieces.append((contour[-1], contour[0]))
    if none:
        return min(finite(crossing(foot, way, a, b)) for a, b in pieces)
    met = [d for d in (crossing(foot, way, a, b) for a, b in pieces) if np.isfinite(d)]
    if not met:
        return -1.0
    return met[-1] if last else max(met) if most else min(met)


def waves(length: int, count: int, *, half: bool = True, first: bool = True, root: bool = True) -> Array:
    """Cosines; `half`, `first` and `root` are what is right and a usual mistake each."""
    p = np.arange(length) + (0.5 if half else 0.0)
    rows = np.cos(np.pi * np.arange(count)[:, None] * p / length) * (np.sqrt(2 / length) if root else 1.0)
    rows[0] /= np.sqrt(2) if first else 1.0
    return np.asarray(rows)


def slow(picture: Array, count: int, *, drops: int = 1, turned: bool = False) -> Array:
    """A picture's slow waves; `drops` (up to which i + j) and `turned` are what is right and a mistake."""
    C, D = cosines(picture.shape[0], count), cosines(picture.shape[1], count)
    Z = C @ picture @ D.T
    Z = Z.T if turned else Z
    return np.array([Z[i, j] for i in range(count) for j in range(count) if i + j > drops])


def carry(
    seen: Array, traced: Array, new: Array,
    *,
    ridge: float = RIDGE, middle: bool = True, mean: bool = True, new_too: bool = True,
) -> Array:  # fmt: skip
    """Ridge regression; `ridge`, `middle`, `mean` and `new_too` are what is right and a usual mistake each."""
    Z = seen - seen.mean(axis=0) if middle else seen
    z = new - seen.mean(axis=0) if middle and new_too else new
    Y = traced - traced.mean(axis=0)
    G = Z @ Z.T
    weights = np.linalg.pinv(G + ridge * np.trace(G) * np.eye(len(G))) @ Z @ z
    return np.asarray(weights @ Y + (traced.mean(axis=0) if mean else 0.0))


def every(keys: list[Array], traced: Array, pictures: list[Array], *, raw: bool = False, count: int = COARSE) -> Array:
    """Contours of all pictures; `raw` pixels and another `count` of waves are usual mistakes."""

    def told(picture: Array) -> Array:
        return picture.ravel() if raw else slow(picture, count)

    seen = np.array([told(picture) for picture in keys])
    return np.array([carried(seen, traced, told(picture)) for picture in pictures])


def right(keys: list[Array], traced: Array, pictures: list[Array]) -> Array:
    seen = np.array([described(picture) for picture in keys])
    return np.array([carried(seen, traced, described(picture)) for picture in pictures])


@functools.cache  # a check hands out copies
def film(seed: int) -> tuple[list[Array], Array, list[Array]]:
    """Key pictures of the hyoid bone, what was traced on them, and pictures to be found."""
    postures, film = organs.film(12, np.random.default_rng([95, seed]))
    place = keyframes.window("hyoid")
    cut = [frame.image[place] for frame in film]
    bones = np.array([organs.contours(posture)["hyoid"].ravel() for posture in postures])
    return cut[::2], bones[::2], cut[1:6:2]

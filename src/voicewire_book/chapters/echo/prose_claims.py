"""What the text says beside its figures: input that is hard, a search without products, curves that are level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.echo import paper, reference
from voicewire.echo.metrics import Curve, follow
from voicewire.echo.operation_counts import count_search
from voicewire.echo.scenes.scene import Scene
from voicewire_book.chapters.echo.alternative_mechanisms import independent
from voicewire_book.chapters.echo.experiments import paper_filter, read_curves, scene

__all__ = [
    "FRESH_SEEDS",
    "RECORDINGS",
    "correlation",
    "drifts",
    "multiplications_of_search",
    "products_of_search",
]

Rows = list[dict[str, Any]]
Complex = NDArray[np.complex128]
FRESH_SEEDS = range(20, 30)
"""Of the claim on hard input: ten that no other recording has."""
_CHANGE_AT, _AFTER = 60_000, 20_000


def correlation(seeds: Sequence[int] = FRESH_SEEDS, change_at: int = _CHANGE_AT) -> Rows:
    """Run the algorithm with one and with three passes on AR(1) and on input without any correlation."""
    rows: Rows = []
    samples = change_at + _AFTER
    for seed in seeds:
        inputs = {
            "AR(1)": scene(seed, samples=samples, change_at=change_at),
            "uncorrelated": independent(seed, samples, change_at),
        }
        for name, signals in inputs.items():
            for reuse in (1, 3):
                curve = follow(paper_filter(paper.FIGURE_1, reuse), signals, 2000)
                rows.append({"input": name, "reuse": reuse, "seed": seed, "later": float(curve.decibels[-1])})
    return rows


def products_of_search(R: Complex, r: Complex, moves: int) -> int:
    """Count the moves of the search that are no power of two: each would take a product where a shift does."""
    found = 0
    for _ in range(moves):
        change, r = reference.dcd(R, r, N_u=1)
        steps = np.abs(np.concatenate([change.real, change.imag]))
        found += int(np.sum(np.frexp(steps[steps > 0])[0] != 0.5))
    return found


def multiplications_of_search(length: int, H: float = 1.0) -> int:
    """Count the multiplications that the search makes of vectors, with a matrix of the stereo input."""
    window = np.zeros(2 * length, complex)
    R, r = np.eye(2 * length) + 0j, window
    signals = Scene(length, 3 * length, 0).signals()
    for x_n, d_n in zip(signals.x, signals.d, strict=True):
        window = reference.shifted(window, x_n)
        R = reference.next_matrix(R, window, paper.FIGURE_1.forgetting)
        r = r + np.conj(d_n) * window
    return count_search(R, r, H).multiplications


def _drift(curve: Curve, stretch: int, back: int, end: int) -> float:
    """Return the level of a stretch that ends there, less that of the one so many stretches before."""
    ago = end - back * stretch
    return curve.steady(end - stretch, end) - curve.steady(ago - stretch, ago)


def drifts(first: bool = False, thirds: bool = False) -> dict[str, float]:
    """Return by how much the curve of each figure that drifts most does so before the change, as recorded."""
    found = {}
    for number, setting in ((1, paper.FIGURE_1), (2, paper.FIGURE_2)):
        stretch, back = (setting.change_at // 3, 1) if thirds else (setting.memory * setting.length, 4)
        end = (back + 1) * stretch if first else setting.change_at
        every = [_drift(curve, stretch, back, end) for curve in read_curves(number).values()]
        found[f"Figure {number}"] = max(every, key=abs)
    return found


RECORDINGS: dict[str, Callable[[], Rows]] = {"correlation": correlation}

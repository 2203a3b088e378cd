"""Figure 2 again with two people's recorded voices: five conversations, families of rooms, three regularisations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from voicewire._kit import checks
from voicewire.echo import paper
from voicewire.echo.metrics import follow
from voicewire.echo.scenes.scene import Family, Scene
from voicewire.echo.scenes.speech import talk
from voicewire_book.chapters.echo.experiments import Rows, column, paper_filter, read

__all__ = ["FAMILIES", "gaps", "times"]

Real = NDArray[np.float64]
SEEDS = range(1, 6)
FAMILIES: tuple[Family, ...] = get_args(Family)
EPSILONS = (1e-4, 1.0, 100.0)
EVERY = 2000  # samples between two points of a curve
CASES: tuple[tuple[Family, float], ...] = (("decaying", 1.0), ("room", 1.0), ("decaying", 1e-4), ("decaying", 100.0))
"""Family of rooms and epsilon of each five conversations; 1 is the filter's own."""


def conversations(seeds: Sequence[int] = SEEDS, scale: float = 1.0) -> Rows:
    """Run the seven curves of Figure 2 on recorded voices, for each conversation, family of rooms and epsilon."""
    setting = paper.FIGURE_2
    samples, change_at = int(setting.samples * scale), int(setting.change_at * scale)
    rows: Rows = []
    for family, epsilon in CASES:
        for seed in seeds:
            source = talk(samples / paper.RATE, seed, "recorded")
            for alpha in sorted({alpha for _, alpha in setting.curves}):
                signals = Scene(
                    setting.length, samples, seed, source=source, predistortion=alpha, change="swap",
                    change_at=change_at, family=family,
                ).signals()  # fmt: skip
                for reuse in (reuse for reuse, other in setting.curves if other == alpha):
                    curve = follow(paper_filter(setting, reuse, regularization=epsilon), signals, EVERY)
                    rows.append({
                        "family": family, "epsilon": epsilon, "alpha": alpha, "reuse": reuse, "seed": seed,
                        "t15": curve.tracking_time(change_at, -15),
                        "before": curve.steady(change_at - change_at // 5, change_at),
                    })  # fmt: skip
    return rows


def _of(name: str, family: Family, epsilon: float, alpha: float, reuse: int) -> Real:
    rows = read("conversations")
    return np.array(column(rows, name, family=family, epsilon=epsilon, alpha=alpha, reuse=reuse))


@checks.takes(family=checks.one_of(*FAMILIES), epsilon=checks.one_of(*EPSILONS))
def gaps(family: Family = "decaying", epsilon: float = 1.0) -> dict[int, Real]:
    """Return how far the floor without pre-distortion lies above that with it, on recorded voices."""
    return {n: _of("before", family, epsilon, 0.0, n) - _of("before", family, epsilon, 0.4, n) for n in (1, 3, 5)}


@checks.takes(family=checks.one_of(*FAMILIES), epsilon=checks.one_of(*EPSILONS))
def times(family: Family = "decaying", epsilon: float = 1.0) -> dict[int, Real]:
    """Return the times to -15 dB after the change, on recorded voices with pre-distortion."""
    return {n: _of("t15", family, epsilon, 0.4, n) for n in (1, 2, 3, 5)}


RECORDINGS: dict[str, Callable[[], Rows]] = {"conversations": conversations}



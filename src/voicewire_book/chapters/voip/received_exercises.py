"""The checks of *What the ear makes of it* on calls that were received.

Each `check_…` takes whatever a student hands over and returns a `Feedback`; `None` means not answered yet.
"""

from __future__ import annotations

import itertools

import numpy as np

from voicewire.voip.delay_trend import tilted
from voicewire_book.chapters.voip.drawn import RECEIVED
from voicewire_book.kit import exercises
from voicewire_book.kit.exercises import Feedback, Mistakes, formula

__all__ = ["check_drift", "check_one_way", "check_received"]


def check_received(answer: object, seed: int | None = None) -> Feedback:
    """R of G.711 for eight packets, seen from the receiver's end."""
    return RECEIVED.own(seed).check(answer)


def check_one_way(answer: object) -> Feedback:
    """What the receiver's end sees of a network that is slower by the same for every packet."""
    hints = {
        "a": "the fastest came later, too, and delays are counted above it.",
        "b": "jitter compares neighbours, and both came later by the same.",
        "c": "a slope would need a delay that grows; this one is constant.",
    }
    right = "all arrivals move by the same, as if the clock had been set otherwise; R alone differs."
    return exercises.choice(answer, "d", ["a", "b", "c", "d"], hints=hints, right=right)


def _slope(sent: list[float], delays: list[float], weight: str = "mean", below: bool = True) -> float:
    middle = sum(sent) / len(sent) if weight == "mean" else (min(sent) + max(sent)) / 2
    points = list(zip(sent, delays, strict=True))
    best, found = -np.inf, 0.0
    for (x, y), (u, v) in itertools.combinations(points, 2):
        slope = (v - y) / (u - x)
        height = y + slope * (middle - x)
        if height > best and (not below or all(d >= y + slope * (s - x) - 1e-9 for s, d in points)):
            best, found = height, slope
    return found


def check_drift(answer: object) -> Feedback:
    """A function of two lists, times and delays -> the slope of the highest line below all points, by pairs."""
    mistakes: Mistakes = [
        (
            lambda s, d: float(np.polyfit(s, d, 1)[0]),
            "this goes through the middle of the delays; no point may lie below.",
        ),
        (lambda s, d: _slope(s, d, "span"), "the middle is the mean of all times, not half of the way."),
        (lambda s, d: _slope(s, d, below=False), "a point lies below this line."),
        (lambda s, d: (d[-1] - d[0]) / (s[-1] - s[0]), "the first and the last frame may both have waited."),
    ]
    rng = np.random.default_rng(31)
    traces = [([0.0, 10.0, 20.0, 30.0], [5.0, 4.97, 5.02, 4.99])]
    while len(traces) < 5:  # those alone at which the mistakes show
        count = int(rng.integers(6, 20))
        sent = np.sort(rng.choice(np.arange(0, 900, 10), count, replace=False)).astype(float)
        sent[: count // 2] /= 4  # more of them in the first part
        delays = np.round(40 + 1e-3 * float(rng.uniform(-1, 1)) * sent + rng.exponential(0.3, count), 3)
        row = (sent.tolist(), delays.tolist())
        if abs(_slope(*row) - _slope(*row, "span")) > 1e-5:
            traces.append(row)

    def wanted(sent: list[float], delays: list[float]) -> float:
        return tilted(np.array(sent), np.array(delays))

    right = "equal to the package's tilting on five traces, four of which you had not seen."
    return formula(answer, wanted, traces, mistakes, right=right)

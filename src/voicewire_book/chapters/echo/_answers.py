"""What the checks of the exercises compare with: right answers, usual mistakes of the longer ones, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire_book.kit._student import as_function
from voicewire_book.kit.exercises import Feedback, Mistakes, sequence, unanswered

Array = NDArray[np.float64]
# What the checks compare with


def silent(S: int, L: int, M: int) -> int:
    """Unknowns less equations."""
    return max(0, S * L - (L + M - 1))


def bounded(g: Array, x: Array, d: float, delta: float) -> Array:
    """NLMS to the border of what is allowed, and no further."""
    e = float(d - g @ x)
    share = max(0.0, 1 - delta / abs(e)) if e else 0.0
    return np.asarray(g + share * e * x / (x @ x))


BOUNDED_MISTAKES: Mistakes = (
    (lambda g, x, d, delta: g, "where the error is larger than delta, the taps must move."),
    (lambda g, x, d, delta: g + (d - g @ x) * x / (x @ x), "this takes the whole error away; delta of it may stay."),
    (
        lambda g, x, d, delta: g + (1 - delta / abs(d - g @ x)) * (d - g @ x) * x / (x @ x),
        "an error within delta asks for no change; here the taps move away.",
    ),
    (
        lambda g, x, d, delta: g if abs(d - g @ x) <= delta else g + (d - g @ x - delta) * x / (x @ x),
        "the error may be negative: it shrinks towards zero by delta, from either side.",
    ),
    (
        lambda g, x, d, delta: g if abs(d - g @ x) <= delta else g + (d - g @ x) * x / (x @ x),
        "if it moves, it moves too far: delta of the error may stay.",
    ),
)


def _fixed(*numbers: float) -> Array:
    """An array that a student's function can't change."""
    row = np.array(numbers, float)
    row.flags.writeable = False
    return row


BOUNDED = (
    (_fixed(0, 0), _fixed(2, 1), 10.0, 1.0),
    (_fixed(1, -1, 0.5), _fixed(0.3, 2, -1), -7.0, 0.5),
    (_fixed(1, 2), _fixed(1, 1), 3.2, 0.5),
    (_fixed(4, -2, 1), _fixed(1, 0, 3), 0.0, 2.0),
    (_fixed(1, 2), _fixed(1, 1), 2.9, 0.5),
)


def halvings(H: float, most: float, delta: float) -> int:
    """The first number of halvings that is enough."""
    return next(M_b for M_b in range(1, 100) if H * most / 2 ** (M_b + 1) <= delta)


def steps(H: float, M_b: int) -> list[float]:
    return [H / 2**m for m in range(1, M_b + 1)]


def best(v: float, R_pp: float, H: float, M_b: int) -> float:
    """All steps tried, and none."""
    return min([0.0, *steps(H, M_b)], key=lambda step: step * (step * R_pp / 2 - abs(v)))


def nearest(v: float, R_pp: float, H: float, M_b: int) -> float:
    """The step that is nearest to the best one as a ratio."""
    near = min(steps(H, M_b), key=lambda step: abs(np.log(step * R_pp / abs(v))))
    return near if near * R_pp / 2 < abs(v) else 0.0


def back(samples: Array, decibels: Array, change: float, level: float, hold: int) -> float:
    """Samples from the change to the first of `hold` points in a row that are down; -1 if there are none."""
    down = (samples > change) & (decibels <= level)
    runs = np.flatnonzero(np.convolve(down, np.ones(hold, int), "valid") == hold)
    return float(samples[runs[0]] - change) if runs.size else -1.0


_TICKS = _fixed(*range(500, 5500, 500))
CURVES = (
    (_TICKS, _fixed(-21, -22, -23, 6, -3, -16, -12, -17, -18, -19), 1500, -15.0, 2),
    (_TICKS, _fixed(0, -20, -21, -22, -14, -13, -15, -16, -17, -11), 1000, -15.0, 3),
    (_TICKS, _fixed(0, -20, -5, -5, -16, -5, -5, -16, -5, -16), 1000, -15.0, 2),
    (_TICKS, _fixed(-9, -9, -9, -9, -9, -9, -9, -9, -9, -15), 0, -15.0, 1),
)


def _late(samples: Array, decibels: Array, change: float, level: float, hold: int) -> float:
    """The last of the points instead of the first."""
    first = back(samples, decibels, change, level, hold)
    return first if first < 0 else first + (hold - 1) * float(samples[1] - samples[0])


def _whole(samples: Array, decibels: Array, change: float, level: float, hold: int) -> float:
    """Counted from the beginning instead of from the change."""
    found = back(samples, decibels, change, level, hold)
    return found if found < 0 else found + change


def _early(samples: Array, decibels: Array, change: float, level: float, hold: int) -> float:
    """Points before the change count, too."""
    found = back(samples, decibels, 0.0, level, hold)
    return found if found < 0 else found - change


def _never(samples: Array, decibels: Array, change: float, level: float, hold: int) -> float:
    """Infinite where nothing is found."""
    found = back(samples, decibels, change, level, hold)
    return np.inf if found < 0 else found


BACK_MISTAKES: Mistakes = (
    (lambda s, y, change, level, hold: back(s, y, change, level, 1), "it has to stay there for `hold` points."),
    (_early, "points before the change do not count."),
    (_whole, "count from the change on."),
    (_late, "the first of the points is asked, not the last."),
    (_never, "a curve that never stays down gets -1."),
)


# How they compare


def row(
    answer: object, wanted: Sequence[float], mistakes: Mapping[tuple[float, ...], str], right: str, tolerance: float
) -> Feedback:
    """Judge several numbers, with hints for whole rows."""
    if not unanswered(answer) and not sequence(answer, wanted, tolerance):
        for wrong, hint in mistakes.items():
            if sequence(answer, wrong, tolerance):
                return Feedback(False, hint)
    return sequence(answer, wanted, tolerance, right=right)


def parts(answer: object) -> object:
    """Two complex numbers as four real ones; anything else as it is."""
    try:
        found = np.asarray(answer)
        return found.reshape(-1).view(float).tolist() if found.size == 2 and found.dtype.kind == "c" else answer
    except Exception:  # an object of the student's own
        return answer


def built(answer: object, cases: Sequence[tuple[tuple[Any, ...], Any]], mistakes: Mistakes, right: str) -> Feedback:
    """Judge a function that takes arrays, and gives one or a number."""
    answer = as_function(answer)
    if isinstance(answer, Feedback):
        return answer
    found = []
    for arguments, wanted in cases:
        given = ", ".join(str(np.asarray(argument).tolist()) for argument in arguments)
        try:
            got = np.asarray(answer(*arguments), float).reshape(-1)
        except Exception as error:  # whatever a student's code may raise or return
            return Feedback(False, f"given {given} your function fails: {type(error).__name__}: {error}")
        if got.size != np.size(wanted):
            return Feedback(False, f"given {given}, {np.size(wanted)} numbers are asked, you gave {got.size}.")
        found.append((given, got))

    def like(rows: Sequence[Any]) -> list[bool]:
        return [np.allclose(got, row, 1e-6, 1e-9) for (_, got), row in zip(found, rows, strict=True)]

    same = like([wanted for _, wanted in cases])
    if all(same):
        return Feedback(True, right)
    for wrong, hint in mistakes:
        if all(like([wrong(*arguments) for arguments, _ in cases])):
            return Feedback(False, hint)
    return Feedback(False, f"given {found[same.index(False)][0]}: {found[same.index(False)][1].tolist()} is not right.")

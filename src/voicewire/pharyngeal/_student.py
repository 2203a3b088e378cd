"""Judges a function that a student wrote, with a hint for each usual mistake."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from voicewire.exercises import Feedback, function

Formula = Callable[..., Any]
Mistakes = Sequence[tuple[Formula, str]]


def value(answer: object, arguments: Sequence[Any]) -> float:
    """Return what a student's function gives as a number, or NaN; the arguments stay as they are."""
    try:
        return float(answer(*copy.deepcopy(arguments)))  # type: ignore[operator]
    except Exception:  # no function, or it raises: whoever judges it says so
        return math.nan


def judged(
    answer: object,
    right: Formula,
    cases: Sequence[tuple[Any, ...]],
    mistakes: Mistakes = (),
    tolerance: float = 1e-6,
    said: str = "",
) -> Feedback:
    """Judge a student's function by the right one; what gives as a usual mistake does in every case gets its hint."""
    given = [value(answer, case) for case in cases]
    for wrong, hint in mistakes:
        if np.allclose(given, [wrong(*case) for case in cases], rtol=tolerance, atol=1e-9):
            return Feedback(False, hint)
    wanted = [(copy.deepcopy(case), float(right(*case))) for case in cases]
    return function(answer, wanted, tolerance, right=said)

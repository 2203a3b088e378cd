"""Judges a function that a student wrote, for the checks of this room."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from voicewire import exercises
from voicewire.exercises import Feedback

Mistake = tuple[Callable[..., float], str]
"""A usual wrong function, and what to say to it."""
Arguments = tuple[Any, ...]
"""What a function is called with."""


def judged(
    answer: object,
    wanted: Callable[..., float],
    at: Iterable[Arguments],
    mistakes: Sequence[Mistake],
    right: str,
) -> Feedback:
    """Judge a student's function beside the right one, and first beside the usual wrong ones.

    It gets copies of its arguments: it may change them.
    """
    at = list(at)
    for wrong, hint in mistakes:
        if all(_gives(answer, arguments, wrong(*arguments)) for arguments in at):
            return Feedback(False, hint)
    cases = [(copy.deepcopy(arguments), wanted(*arguments)) for arguments in at]
    return exercises.function(answer, cases, 1e-6, right=right)


def _gives(answer: object, arguments: Arguments, number: float) -> bool:
    """Whether a student's function gives this number; what is no function, or raises, does not."""
    try:
        return math.isclose(answer(*copy.deepcopy(arguments)), number, rel_tol=1e-6, abs_tol=1e-9)  # type: ignore[operator]
    except Exception:  # whatever a student's code may raise: the check that follows says so
        return False

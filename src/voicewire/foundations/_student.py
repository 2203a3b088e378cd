"""Calls what a student wrote, for the checks of this room: whatever goes wrong in it becomes a sentence."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.exercises import UNANSWERED, Feedback, sequence, unanswered

Function = Callable[..., Any]
"""A student's function, as `called` hands it to a check."""


class NotYetError(Exception):
    """Ends a check; the message is for the student."""


def called(check: Callable[[Function], Feedback]) -> Callable[[object], Feedback]:
    """Put before a check what every check of a function needs.

    The check gets the function only if there is one. What the function raises, what it returns that can't be worked
    with, and a `NotYetError` of the check all end it with a sentence.
    """

    @functools.wraps(check)
    def outer(answer: object) -> Feedback:
        if unanswered(answer):
            return UNANSWERED
        if not callable(answer):
            return Feedback(False, "hand over the function itself, without calling it.")

        def call(*arguments: object) -> Any:
            try:
                return answer(*arguments)
            except Exception as error:  # whatever a student's code may raise
                given = " and ".join(map(_words, arguments))
                raise NotYetError(f"your function, given {given}, raises {type(error).__name__}: {error}") from None

        try:
            return check(call)
        except NotYetError as error:
            return Feedback(False, str(error))
        except Exception as error:  # an object that no check expects: it fails where it is compared
            return Feedback(False, f"what your function returns can't be used: {type(error).__name__}: {error}")

    return outer


def value(answer: object, *arguments: object) -> float:
    """Return what a student's function gives as a number, or NaN: to look for a usual mistake before it is judged."""
    try:
        return float(answer(*arguments))  # type: ignore[operator]
    except Exception:  # no function, or it raises: whoever judges it says so
        return float("nan")


def row(value: Any, size: int | None, where: str = "") -> NDArray[np.float64]:
    """Return what a student's function gave as a row of numbers of the right length."""
    found = np.asarray(value, dtype=float).reshape(-1)
    if size is not None and found.size != size:
        raise NotYetError(f"{where + ', ' if where else ''}{size} numbers are asked, you gave {found.size}.")
    if not np.all(np.isfinite(found)):
        raise NotYetError("not all of what came back is finite.")
    return found


def same(answer: object, wanted: Sequence[float], tolerance: float = 0.01) -> bool:
    """Whether an answer is this row: to tell a usual mistake."""
    return not unanswered(answer) and sequence(answer, wanted, tolerance).ok


def _words(argument: object) -> str:
    if isinstance(argument, np.ndarray | list | tuple):
        return f"{'an array' if isinstance(argument, np.ndarray) else 'a list'} of {len(argument)}"
    return f"{argument:.4g}" if isinstance(argument, float) else f"{argument!r:.60}"

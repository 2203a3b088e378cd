"""Calls what a student wrote, for the checks of labs: whatever goes wrong in it becomes a sentence."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from voicewire.exercises import UNANSWERED, Feedback, unanswered

__all__ = ["Function", "NotYetError", "called"]

Function = Callable[..., Any]
"""A student's function, as `called` hands it to a check."""


class NotYetError(Exception):
    """Ends a check; the message is for the student.

    Examples
    --------
    >>> issubclass(NotYetError, Exception)
    True
    """


def called(check: Callable[[Function], Feedback]) -> Callable[[object], Feedback]:
    """Put before a check what every check of a function needs.

    The check gets the function only if there is one. What the function raises, what it returns that can't be worked
    with, and a `NotYetError` of the check all end it with a sentence.

    Parameters
    ----------
    check : callable
        What is asked of the function.

    Returns
    -------
    callable
        The check of whatever a student hands over.

    Examples
    --------
    >>> called(lambda answer: Feedback(answer(2) == 4, "twice."))(lambda n: n / 0)
    Not yet: your function, given 2, raises ZeroDivisionError: division by zero
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


def _words(argument: object) -> str:
    if isinstance(argument, np.ndarray | list | tuple):
        return f"{'an array' if isinstance(argument, np.ndarray) else 'a list'} of {len(argument)}"
    return f"{argument:.4g}" if isinstance(argument, float) else f"{argument!r:.60}"

"""What the exercises of several chapters share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.echo.scenes import speech
from voicewire.echo.scenes.scene import Scene
from voicewire_book.kit._student_functions import as_function
from voicewire_book.kit.exercises import Feedback
from voicewire_book.kit.records import Stage

Array = NDArray[Any]


def fixed(*numbers: float) -> Array:
    """An array that a student's function can't change."""
    row = np.array(numbers, float)
    row.flags.writeable = False
    return row


@dataclass(frozen=True)
class Built(Stage):
    """A function is asked that takes arrays, and gives one or a number: what is said shows whole arrays."""

    tolerance: float = 1e-6

    def check(self, answer: object) -> Feedback:
        """Judge an answer."""
        answer, cases, mistakes = as_function(answer), self.cases, self.mistakes
        if isinstance(answer, Feedback):
            return answer
        found, right = [], [self.wanted(*case) for case in cases]
        for case, wanted in zip(cases, right, strict=True):
            given = ", ".join(str(np.asarray(argument).tolist()) for argument in case)
            try:
                got = np.asarray(answer(*case), float).reshape(-1)
            except Exception as error:  # whatever a student's code may raise or return
                return Feedback(False, f"given {given} your function fails: {type(error).__name__}: {error}")
            if got.size != np.size(wanted):
                return Feedback(False, f"given {given}, {np.size(wanted)} numbers are asked, you gave {got.size}.")
            found.append((given, got))

        def like(rows: Sequence[Any]) -> list[bool]:
            return [np.allclose(got, row, self.tolerance, 1e-9) for (_, got), row in zip(found, rows, strict=True)]

        same = like(right)
        if all(same):
            return Feedback(True, self.right)
        for wrong, hint in mistakes:
            if all(like([wrong(*case) for case in cases])):
                return Feedback(False, hint)
        given, got = found[same.index(False)]
        return Feedback(False, f"given {given}: {got.tolist()} is not right.")


def conversation(seconds: float = 1.2, seed: int = 8) -> tuple[Array, Array]:
    """What two loudspeakers play and two microphones hear while somebody talks, 8000 samples a second."""
    signals = Scene(8, 0, seed, source=speech.talk(seconds, seed)).signals()
    return signals.x / np.abs(signals.d).max(), signals.d / np.abs(signals.d).max()

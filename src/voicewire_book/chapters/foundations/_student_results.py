"""Reads what a student's function gave, for the checks of this room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire_book.kit._student_functions import NotYetError
from voicewire_book.kit.exercises import sequence, unanswered


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

"""Reads what a student's function gave, for the checks of this room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire._student import NotYetError
from voicewire.exercises import _callable, _symbols, sequence, unanswered


def expression(answer: Any, *names: str) -> Any:
    """Return the function that an expression of SymPy, or a row of them, stands for; one symbol may have any name."""
    if isinstance(answer, list | tuple) and answer and all(_symbols(one) is not None for one in answer):
        parts = [expression(one, *names) for one in answer]
        strange = any(_symbols(part) is not None for part in parts)
        return answer if strange else lambda *given: [part(*given) for part in parts]
    symbols = _symbols(answer)
    if symbols is None:
        return answer
    if len(symbols) == len(names) == 1:
        return _callable(answer, list(symbols))
    return _callable(answer, names) if symbols <= set(names) else answer


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

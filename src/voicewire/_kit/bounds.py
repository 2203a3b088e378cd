"""How far numbers may go, and how that is said: what the checks of arguments and of options share, without numpy."""

from __future__ import annotations

import math

__all__ = ["LARGEST", "MOST", "span", "wrong"]

LARGEST = 1e100
"""Squares of larger numbers leave float64."""
MOST = 10**9
"""Nothing in this book is counted beyond; what is larger is a slip, and would ask for more memory than there is."""


def wrong(value: float, low: float, high: float, above: float | None, below: float | None) -> str:
    """Say what is wrong with a number that must be from `low` to `high`, or strictly between the others; or nothing."""
    if not math.isfinite(value):
        return f"{value}: give a finite number"
    outside = value < low or value > high
    if outside or (above is not None and value <= above) or (below is not None and value >= below):
        return f"{value:g}: it must be {span(low, high, above, below)}"
    return ""


def span(low: float, high: float, above: float | None, below: float | None) -> str:
    """Say which numbers are allowed."""
    parts = [f"above {above:g}"] if above is not None else [f"at least {low:g}"] if low > -LARGEST else []
    parts += [f"below {below:g}"] if below is not None else [f"at most {high:g}"] if high < LARGEST else []
    return " and ".join(parts) or f"within {LARGEST:g} of zero"

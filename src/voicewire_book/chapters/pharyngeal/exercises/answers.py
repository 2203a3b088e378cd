"""What the exercises of several chapters share."""

from __future__ import annotations

import math

SOUND = 35_300  # cm/s

NAMES = ("zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
          "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth")  # fmt: skip


def below(length: float, ceiling: float) -> int:
    """Odd multiples of c/4L below a frequency."""
    return math.ceil((ceiling / (SOUND / (4 * length)) - 1) / 2)

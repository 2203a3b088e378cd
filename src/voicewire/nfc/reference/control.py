"""A packet between control messages, to read: slot by slot.

Notebook 3 is woven from this; `nfc.control_slots` finds the same slots
at once.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["crossed"]


def crossed(free: Sequence[int], begin: int, slots: int) -> int:
    """Send a packet slot by slot, in those that are left."""
    now = begin
    while slots:
        if now == len(free):
            return -1
        slots -= int(free[now])
        now += 1
    return now

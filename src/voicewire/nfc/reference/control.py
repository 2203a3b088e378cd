"""A packet between control messages, to read: slot by slot.

Notebook 3 is woven from this; `nfc.control` finds the same slots at once.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["crossed"]


def crossed(free: Sequence[int], begin: int, slots: int) -> int:
    """Send a packet slot by slot, in those that are left.

    Parameters
    ----------
    free : sequence of int, length k
        1 for each slot that no control message takes, else 0.
    begin, slots : int
        When the packet is ready, and how long it is.

    Returns
    -------
    int
        The slot in which it has crossed; -1 if the slots run out first.

    Examples
    --------
    >>> crossed([0, 1, 1, 0, 1], 0, 2), crossed([0, 1, 0], 0, 2)
    (3, -1)
    """
    now = begin
    while slots:
        if now == len(free):
            return -1
        slots -= int(free[now])
        now += 1
    return now

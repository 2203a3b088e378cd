"""Rules of RFC 4340 to read: which numbers are valid, which wish wins,
which nonce is echoed. `sequence_numbers`, `features` and `nonce` work so.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "SPACE",
    "ack_window",
    "after",
    "echoed",
    "number_window",
    "reconcile",
]

SPACE = 1 << 48  # sequence numbers go round (section 7.1)


def after(a: int, b: int) -> int:
    """By how much `a` follows `b` on the circle of 48 bits."""
    return (a - b + SPACE // 2) % SPACE - SPACE // 2


def number_window(newest: int, first: int, size: int) -> tuple[int, int]:
    """Lowest and highest number that a packet may have.

    Section 7.5.1: a quarter lies behind the newest number that came.
    """
    low = (newest + 1 - size // 4) % SPACE
    if after(low, first) < 0:  # not before the connection began
        low = first
    return low, (newest + (3 * size + 3) // 4) % SPACE


def ack_window(newest: int, first: int, size: int) -> tuple[int, int]:
    """Lowest and highest number that a packet may acknowledge.

    Section 7.5.1.
    """
    low = (newest + 1 - size) % SPACE
    return (low if after(low, first) >= 0 else first), newest


def reconcile(
    server: Sequence[int], client: Sequence[int], before: int
) -> int:
    """The first of the server's values that the client has, if any.

    Section 6.3.1; without a common value all stays as before.
    """
    return next((value for value in server if value in client), before)


def echoed(states: str, nonces: Sequence[int]) -> int:
    """Parity of the nonces of what is reported as received unmarked.

    Section 12.2.
    """
    pairs = zip(states, nonces, strict=True)
    return sum(nonce for state, nonce in pairs if state == "R") % 2

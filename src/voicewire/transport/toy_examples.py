"""Segments of a conversation, and the tools of a seal in small numbers.

Nothing here protects anything: what does are the maintained parts of
`cryptography`. The chapter is woven from these pieces. With large numbers in
the place of the small ones the tag is Poly1305 and a power is Python's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

# Lines as short as the page of the book is wide.
# fmt: off

__all__ = [
    "agreed", "conversation", "loop_headers", "response", "tag", "vouched",
]


def conversation(writes: str, riding: bool) -> list[str]:
    """Flags of the fewest or the most segments that TCP makes of it.

    Notes
    -----
    Equation ``eq-transport-segments``.
    """
    if riding:  # the third step on the first write, the FIN on the last
        said = ["A"] * len(writes)
        return ["S", "SA", *said[1:], "FA", "FA", "A"]
    said = ["A"] * 2 * len(writes)  # each, and its acknowledgement
    return ["S", "SA", "A", *said, "FA", "A", "FA", "A"]


def tag(
    blocks: Iterable[int], h: int, s: int, prime: int, size: int
) -> int:
    """What shows that a message is unchanged to whoever has h and s.

    Notes
    -----
    Equation ``eq-transport-tag``.
    """
    total = 0
    for block in blocks:
        total = (total + block) * h % prime
    return (total + s) % size


def agreed(theirs: int, own: int, prime: int) -> int:
    """The number that two can compute, each from the other's open one."""
    power = 1
    for bit in bin(own)[2:]:
        power = power * power % prime  # the exponent so far, doubled
        if bit == "1":
            power = power * theirs % prime
    return power


def response(k: int, challenge: int, secret: int, order: int) -> int:
    """A signature's second half: what only the key's owner can say.

    Notes
    -----
    Equation ``eq-transport-sign``.
    """
    return (k + challenge * secret) % order


def vouched(
    s: int, r: int, challenge: int, public: int, g: int, prime: int
) -> bool:
    """Whether a signature is the owner's, by the open numbers alone."""
    right = r * agreed(public, challenge, prime) % prime
    return agreed(g, s, prime) == right


def loop_headers(n: int, gap: float, answer: float) -> int:
    """TCP header bytes of n small messages in a session at QoS 0."""
    more = n - 1 if gap > answer else math.ceil((n - 1) * gap / answer)
    return 400 + 64 * more

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

    Parameters
    ----------
    writes : str
        What the programs say, in turn: ">" by the one that connects and
        closes, "<" by the other. Each fits a segment.
    riding : bool
        Whether each acknowledgement (and the first FIN) rides on what is
        sent anyhow; else each goes alone.

    Returns
    -------
    list of str
        One entry a segment, for `header_bytes`.

    Notes
    -----
    Chapter ``notebooks/transport/01_sockets_and_segments``, equation
    ``eq-transport-segments``.

    Examples
    --------
    >>> len(conversation(">", True)), len(conversation(">", False))
    (5, 9)
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

    Parameters
    ----------
    blocks : iterable of int
        The message.
    h : int
        Secret, of the key.
    s : int
        Secret, for this message alone.
    prime, size : int
        The sum is taken modulo the first; of it with s, modulo the second.

    Returns
    -------
    int
        From 0 to below `size`. With a prime of 2**130 - 5 and a size of
        2**128 it is Poly1305 (RFC 8439, section 2.5).

    Notes
    -----
    Chapter ``notebooks/transport/01_sockets_and_segments``, equation
    ``eq-transport-tag``.

    Examples
    --------
    >>> tag([3, 5], 10, 7, 101, 100)
    54
    """
    total = 0
    for block in blocks:
        total = (total + block) * h % prime
    return (total + s) % size


def agreed(theirs: int, own: int, prime: int) -> int:
    """The number that two can compute, each from the other's open one.

    Parameters
    ----------
    theirs : int
        What the other one has said openly (or the base, to make one's own).
    own : int
        A secret number.
    prime : int
        Which both know.

    Returns
    -------
    int
        theirs to the power of own, modulo the prime.

    Examples
    --------
    >>> agreed(agreed(5, 3, 23), 7, 23) == agreed(agreed(5, 7, 23), 3, 23)
    True
    """
    power = 1
    for bit in bin(own)[2:]:
        power = power * power % prime  # the exponent so far, doubled
        if bit == "1":
            power = power * theirs % prime
    return power


def response(k: int, challenge: int, secret: int, order: int) -> int:
    """A signature's second half: what only the key's owner can say.

    Parameters
    ----------
    k : int
        Secret, for this message alone.
    challenge : int
        The message's digest, taken together with g to the power of k.
    secret : int
        The owner's key.
    order : int
        How many powers of g there are.

    Returns
    -------
    int
        k + challenge * secret, modulo the order.

    Notes
    -----
    Chapter ``notebooks/transport/01_sockets_and_segments``, equation
    ``eq-transport-sign``.

    Examples
    --------
    >>> response(3, 5, 4, 11)
    1
    """
    return (k + challenge * secret) % order


def vouched(
    s: int, r: int, challenge: int, public: int, g: int, prime: int
) -> bool:
    """Whether a signature is the owner's, by the open numbers alone.

    Parameters
    ----------
    s : int
        What `response` gave.
    r : int
        g to the power of k.
    challenge : int
        The message's digest, taken together with r.
    public : int
        g to the power of the owner's key.
    g, prime : int
        Which all know.

    Returns
    -------
    bool
        Whether both sides of ``eq-transport-sign`` agree.

    Examples
    --------
    >>> vouched(1, 8, 5, 16, 2, 23), vouched(2, 8, 5, 16, 2, 23)
    (True, False)
    """
    right = r * agreed(public, challenge, prime) % prime
    return agreed(g, s, prime) == right


def loop_headers(n: int, gap: float, answer: float) -> int:
    """TCP header bytes of n small messages in a session at QoS 0.

    Parameters
    ----------
    n : int
        Messages.
    gap : float
        Between them, in any unit.
    answer : float
        From a segment's leaving to its acknowledgement, in the same unit.

    Returns
    -------
    int
        At the publisher's end under Nagle's rule, equation
        ``eq-transport-merge``: 400 with one message, and 64 for each
        segment more.

    See Also
    --------
    voicewire_book.chapters.foundations.tcp.small_writes : follows each write.

    Examples
    --------
    >>> loop_headers(150, 10.0, 40.0), loop_headers(150, 80.0, 40.0)
    (2832, 9936)
    """
    more = n - 1 if gap > answer else math.ceil((n - 1) * gap / answer)
    return 400 + 64 * more

"""A confirmed query to read: its packets, its names, how long it waits.

Nothing here is clever. The chapter is woven from these pieces. The counts
are those of `voicewire.emqtt.counting`, the ids those of
`voicewire.mqtt.packets`, and the chances those of the binomial distribution.
"""

from __future__ import annotations

import math

# Lines as short as the page of the book is wide.
# fmt: off

__all__ = [
    "in_time", "mean_wait", "query_packets", "read_ids", "write_ids",
]

def write_ids(ids: list[str]) -> bytes:
    """Subscriber ids so that a reader can tell where each ends.

    Parameters
    ----------
    ids : list of str
        Of 1 to 127 bytes each.

    Returns
    -------
    bytes
        Before each id a byte: its length, and in bit 7 whether another
        follows.

    See Also
    --------
    voicewire.mqtt.packets.encode_wait : the same with its limits.

    Examples
    --------
    >>> write_ids(["a", "b"]).hex(" ")
    '81 61 01 62'
    """
    out = b""
    for number, name in enumerate(ids, 1):
        text = name.encode()
        more = 128 * (number < len(ids))
        out += bytes([more + len(text)]) + text
    return out


def read_ids(data: bytes) -> tuple[list[str], bytes]:
    """The ids at the beginning, and what comes behind them.

    Parameters
    ----------
    data : bytes
        One id at least, as `write_ids` gives them, then the payload.

    Returns
    -------
    ids : list of str
        In their order.
    payload : bytes
        The rest.

    See Also
    --------
    voicewire.mqtt.decoder.decode : the same with every check.

    Examples
    --------
    >>> read_ids(bytes.fromhex("81 61 01 62") + b"hi")
    (['a', 'b'], b'hi')
    """
    ids, at, more = [], 0, True
    while more:
        more, length = data[at] >= 128, data[at] % 128
        ids.append(data[at + 1 : at + 1 + length].decode())
        at += 1 + length
    return ids, data[at:]


LEG = {0: 1, 1: 2, 2: 4}  # packets of one message on one leg, by its QoS


def query_packets(n: int, responses: int | None) -> int:
    """Packets of one query at QoS 2 that n subscribers confirm.

    Parameters
    ----------
    n : int
        Subscribers.
    responses : int or None
        The QoS of what they publish to confirm; none if the broker's held
        acknowledgement is the confirmation.

    Returns
    -------
    int
        On all connections together, equation ``eq-emqtt-messages``.

    See Also
    --------
    voicewire.emqtt.counting.messages : the closed forms.

    Examples
    --------
    >>> query_packets(3, 2), query_packets(3, 0), query_packets(3, None)
    (40, 22, 16)
    """
    query = LEG[2] * (1 + n)  # one leg to the broker, n from it
    if responses is None:
        return query
    return query + n * 2 * LEG[responses]  # each: to the broker, from it


def in_time(k: int, n: int, share: float) -> float:
    """The probability that k of n have answered.

    Parameters
    ----------
    k, n : int
        How many are wanted, of how many.
    share : float
        The probability that a given one has answered by then. They do so
        independently of each other.

    Returns
    -------
    float
        Equation ``eq-emqtt-kth``.

    Examples
    --------
    >>> [in_time(k, 3, 0.5) for k in (1, 2, 3)]
    [0.875, 0.5, 0.125]
    """
    late = 1 - share
    return sum(
        math.comb(n, j) * share**j * late ** (n - j) for j in range(k, n + 1)
    )


def mean_wait(k: int, n: int, mean: float) -> float:
    """How long the k-th answer of n takes in the mean.

    Parameters
    ----------
    k, n : int
        Which, of how many.
    mean : float
        Of one subscriber's time, which is exponential, and independent of
        the others'.

    Returns
    -------
    float
        In the unit of `mean`, equation ``eq-emqtt-mean``.

    Examples
    --------
    >>> [mean_wait(k, 4, 12.0) for k in (1, 2, 3, 4)]
    [3.0, 7.0, 13.0, 25.0]
    """
    return sum(mean / silent for silent in range(n, n - k, -1))

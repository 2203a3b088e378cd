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
    """Subscriber ids so that a reader can tell where each ends."""
    out = b""
    for number, name in enumerate(ids, 1):
        text = name.encode()
        more = 128 * (number < len(ids))
        out += bytes([more + len(text)]) + text
    return out


def read_ids(data: bytes) -> tuple[list[str], bytes]:
    """The ids at the beginning, and what comes behind them."""
    ids, at, more = [], 0, True
    while more:
        more, length = data[at] >= 128, data[at] % 128
        ids.append(data[at + 1 : at + 1 + length].decode())
        at += 1 + length
    return ids, data[at:]


LEG = {0: 1, 1: 2, 2: 4}  # packets of one message on one leg, by its QoS


def query_packets(n: int, responses: int | None) -> int:
    """Packets of one query at QoS 2 that n subscribers confirm."""
    query = LEG[2] * (1 + n)  # one leg to the broker, n from it
    if responses is None:
        return query
    return query + n * 2 * LEG[responses]  # each: to the broker, from it


def in_time(k: int, n: int, share: float) -> float:
    """The probability that k of n have answered."""
    late = 1 - share
    return sum(
        math.comb(n, j) * share**j * late ** (n - j) for j in range(k, n + 1)
    )


def mean_wait(k: int, n: int, mean: float) -> float:
    """How long the k-th answer of n takes in the mean."""
    return sum(mean / silent for silent in range(n, n - k, -1))

"""How IP cuts a datagram (RFC 791, section 3.2), to read.

Notebook 1 is woven from this; `nfc.fragmentation` holds what uses it.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Fragment", "cut"]

IP_BYTES = 20  # IPv4, no options


class Fragment(NamedTuple):
    """A part of a datagram: where its data begin, in units of 8 bytes.

    Parameters
    ----------
    offset : int
        In units of 8 bytes.
    size : int
        Bytes of data.
    more : bool
        Whether more follow.

    Examples
    --------
    >>> Fragment(0, 1480, True).more
    True
    """

    offset: int
    size: int  # bytes of data
    more: bool  # parts follow


def cut(data: int, mtu: int) -> list[Fragment]:
    """All parts but the last are whole units of 8 bytes."""
    most = (mtu - IP_BYTES) // 8 * 8
    parts, done = [], 0
    while data - done > mtu - IP_BYTES:
        parts.append(Fragment(done // 8, most, True))
        done += most
    return [*parts, Fragment(done // 8, data - done, False)]

"""The option Data Dropped: packets whose header came and whose data did not (RFC 4340 section 11.7); see notebook 1.

An acknowledgement vector counts headers, for the network's congestion. What became of the data inside is another
question: what a receiver drops is not congestion of the network.
"""

from __future__ import annotations

from itertools import groupby

from voicewire.voip.errors import VoipError

__all__ = ["DATA_DROPPED", "FATES", "data_dropped", "read_data_dropped"]

DATA_DROPPED = 40  # the option's type, section 5.8
FATES = {
    ".": "received, or not acknowledged",
    "0": "protocol constraints",
    "1": "application not listening",
    "2": "receive buffer",
    "3": "corrupt",
    "7": "delivered corrupt",
}
"""What may have become of a packet's data: its letter here, and the meaning of its drop code (Table 7)."""
_NORMAL, _DROP = 128, 16  # packets that one block of a kind can tell of


def data_dropped(fates: str) -> bytes:
    """Run-length encoded fates of the data of acknowledged packets, the newest packet first (section 11.7).

    Parameters
    ----------
    fates : str
        A letter of `FATES` a packet; the newest is the one that the packet's acknowledgement number names.

    Returns
    -------
    bytes
        The option's value: a byte a run. A normal block is 0 and seven bits of length less one, a drop block 1, three
        bits of drop code and four of length less one.

    Raises
    ------
    VoipError
        For another letter; 4 to 6 are reserved.

    Examples
    --------
    >>> data_dropped(".2....222").hex(" ")
    '00 a0 03 a2'
    """
    if not set(fates) <= FATES.keys():
        raise VoipError(f"fates are written with {' '.join(FATES)}; other drop codes are reserved")
    out = bytearray()
    for fate, packets in groupby(fates):
        left = len(list(packets))
        head, most = (0, _NORMAL) if fate == "." else (0x80 | int(fate) << 4, _DROP)
        while left > 0:
            out.append(head | (min(left, most) - 1))
            left -= most
    return bytes(out)


def read_data_dropped(raw: bytes) -> str:
    """Read the value of a Data Dropped option: a letter of `FATES` a packet, the newest first.

    Parameters
    ----------
    raw : bytes
        A byte a run.

    Returns
    -------
    str
        What `data_dropped` was given.

    Raises
    ------
    VoipError
        For a drop code that is reserved.

    Examples
    --------
    >>> read_data_dropped(bytes.fromhex("00a003a2"))
    '.2....222'
    """
    if any(byte >> 7 and str(byte >> 4 & 7) not in FATES for byte in raw):
        raise VoipError("drop codes 4 to 6 are reserved")
    return "".join(str(b >> 4 & 7) * ((b & 15) + 1) if b >> 7 else "." * (b + 1) for b in raw)

"""Chunks with a command and a checksum: what errors get past (notebook 2).

The chapter's link checks nothing. Here a chunk is framed as NFC's commands
are, and checked by the CRC of ISO/IEC 14443-3 (which ISO/IEC 18092 uses at
106 kbit/s) or by a sum of its bytes. The division is in `reference.framing`, to read.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from voicewire._kit import checks
from voicewire.nfc import paper
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.reference.framing import divided

__all__ = [
    "CRC_A", "CRC_B", "Check", "byte_sum", "crc_a", "crc_b", "framed",
    "past_sum", "undetected", "unframed",
]  # fmt: skip

Check = Literal["CRC", "sum"]
CRC_A = 0x6363  # the register at the start (ISO/IEC 14443-3, 6.2.4)
CRC_B = 0xFFFF  # (7.2), and the result is inverted
_TABLE: list[int] = []


@checks.takes(error=ParameterError, data=checks.a(bytes))
def crc_a(data: bytes) -> bytes:
    """Give CRC_A in the order of the air: the lower byte first.

    Parameters
    ----------
    data : bytes
        What is protected.

    Returns
    -------
    bytes
        Two.

    Examples
    --------
    >>> crc_a(bytes([0x12, 0x34])).hex()
    '26cf'
    """
    return divided(data, CRC_A).to_bytes(2, "little")


@checks.takes(error=ParameterError, data=checks.a(bytes))
def crc_b(data: bytes) -> bytes:
    """Give CRC_B in the order of the air: the lower byte first.

    Parameters
    ----------
    data : bytes
        What is protected.

    Returns
    -------
    bytes
        Two.

    Examples
    --------
    >>> crc_b(bytes(3)).hex()
    'ccc6'
    """
    return (divided(data, CRC_B) ^ 0xFFFF).to_bytes(2, "little")


@checks.takes(error=ParameterError, data=checks.a(bytes))
def byte_sum(data: bytes) -> bytes:
    """Give the sum of the bytes, modulo 256.

    Parameters
    ----------
    data : bytes
        What is protected.

    Returns
    -------
    bytes
        One.

    Examples
    --------
    >>> byte_sum(bytes([200, 100])).hex()
    '2c'
    """
    return bytes([sum(data) % 256])


CHECKS = {"CRC": crc_a, "sum": byte_sum}


@checks.takes(
    error=ParameterError, command=checks.whole(0, 255), number=checks.whole(0, 255), data=checks.a(bytes),
    check=checks.one_of(*CHECKS),
)  # fmt: skip
def framed(
    command: int, number: int, data: bytes, check: Check = "CRC"
) -> bytes:
    """Put a command and a number before the data, and the check behind.

    Parameters
    ----------
    command, number : int
        What is to be done, and with which chunk; a byte each.
    data : bytes
        At most 10, what a chunk of section 7.1 can use.
    check : str
        "CRC" (CRC_A) or "sum".

    Returns
    -------
    bytes

    Raises
    ------
    ParameterError
        For more data than a chunk can use.

    Examples
    --------
    >>> len(framed(0xA2, 4, bytes(10)))
    14
    """
    if len(data) > paper.CHUNK_PAYLOAD:
        raise ParameterError(f"{len(data)} bytes of data: a chunk can use 10")
    body = bytes([command, number]) + data
    return body + CHECKS[check](body)


@checks.takes(
    error=ParameterError, frame=checks.a(bytes), check=checks.one_of(*CHECKS)
)
def unframed(
    frame: bytes, check: Check = "CRC"
) -> tuple[int, int, bytes] | None:
    """Take a frame apart; None if its check does not come out.

    Parameters
    ----------
    frame : bytes
        As received.
    check : str
        As in `framed`.

    Returns
    -------
    (int, int, bytes) or None
        Command, number and data.

    Examples
    --------
    >>> unframed(framed(0xA2, 4, b"kettle"))
    (162, 4, b'kettle')
    >>> unframed(b"\\x00" + framed(0xA2, 4, b"kettle")[1:]) is None
    True
    """
    size = 2 if check == "CRC" else 1
    body, said = frame[:-size], frame[-size:]
    if len(body) < 2 or CHECKS[check](body) != said:
        return None
    return body[0], body[1], body[2:]


@checks.takes(error=ParameterError, bits=checks.whole(1, 4096), first=checks.whole(0, 7))
def past_sum(bits: int, first: int = 0) -> float:
    """Chance that so many flipped bits in a row leave the byte sum alone.

    Each flip adds or takes 2^k, whichever the data have; a row of up to 8
    has each k once, and no such sum is a multiple of 256.
    """
    share = np.zeros(256)
    share[0] = 1
    for k in range(first, first + bits):
        step = 1 << k % 8
        share = (np.roll(share, step) + np.roll(share, -step)) / 2
    return float(share[0])


@checks.takes(
    error=ParameterError, errors=checks.array(2, kind="whole", low=0, high=1), check=checks.one_of(*CHECKS),
    rng=checks.generator,
)  # fmt: skip
def undetected(errors: NDArray[np.int64], check: Check, rng: np.random.Generator) -> tuple[int, int]:
    """Send random frames with these bits flipped: how many are damaged, and how many of those pass the check.

    Parameters
    ----------
    errors : ndarray of int, shape (frames, bits)
        1 where a bit is flipped; whole bytes, the lowest bit of each first, the check's own among them.
    check : str
        As in `framed`.
    rng : Generator
        Draws the frames.

    Returns
    -------
    (int, int)
        Damaged, and of these not noticed.

    Raises
    ------
    ParameterError
        If the bits are not whole bytes, or no room is left beside the check.

    Examples
    --------
    >>> flips = np.zeros((50, 112), int)
    >>> flips[:, 20:24] = 1
    >>> undetected(flips, "CRC", np.random.default_rng(1))
    (50, 0)
    """
    size = 2 if check == "CRC" else 1
    flips = np.asarray(errors) != 0
    if flips.shape[1] % 8 or flips.shape[1] <= 8 * size:
        raise ParameterError(f"frames of {flips.shape[1]} bits: whole bytes are needed, beside the check")
    masks = np.packbits(flips[flips.any(axis=1)], axis=1, bitorder="little")
    sent = rng.integers(0, 256, (len(masks), masks.shape[1] - size), dtype=np.uint8)
    whole = np.hstack([sent, _checks(sent, check)]) ^ masks
    passed = (_checks(whole[:, :-size], check) == whole[:, -size:]).all(axis=1)
    return len(masks), int(passed.sum())


def _checks(data: NDArray[np.uint8], check: Check) -> NDArray[np.uint8]:
    """Give the check of each row, a byte of all rows at a time."""
    if check == "sum":
        return data.sum(axis=1, dtype=np.uint64).astype(np.uint8)[:, None]
    if not _TABLE:
        _TABLE.extend(divided(bytes([byte]), 0) for byte in range(256))
    table = np.array(_TABLE, dtype=np.uint16)
    register = np.full(len(data), CRC_A, dtype=np.uint16)
    for column in data.T:
        register = (register >> 8) ^ table[(register ^ column) & 0xFF]
    return np.stack([register & 0xFF, register >> 8], axis=1).astype(np.uint8)

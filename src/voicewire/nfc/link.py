"""The slotted half-duplex link: how many slots a packet takes (notebook 1, Eq. 7.4 at frequency 0)."""

import math
from dataclasses import dataclass

import numpy as np

from voicewire.nfc import paper
from voicewire.nfc.errors import ParameterError, check_count, check_not_negative, check_positive

HEADER_BYTES = 40  # IPv4 and TCP, no options
SYN_BYTES = 44  # with the MSS option
ONE_SLOT_SLACK = 1e-9  # so that 0.08 s over 0.01 s is 8 slots and not 9


@dataclass(frozen=True)
class Link:
    """One slot in each period, a few usable bytes in each slot, one direction at a time.

    Parameters
    ----------
    period : float
        Time from slot to slot, s (section 7.4: 10 ms).
    payload : int
        Usable bytes of a slot (section 7.1: 10 of 14).
    framing : int
        Bytes that the tunnel adds to each IP packet. The chapter doesn't say; 5 or 6 fit (notebook 3).

    Raises
    ------
    ParameterError
        If the period or the payload is not above zero, or the framing is negative.
    """

    period: float = paper.SLOT_PERIOD
    payload: int = paper.CHUNK_PAYLOAD
    framing: int = 6

    def __post_init__(self) -> None:
        check_positive("slot period", self.period, "s")
        check_count("usable bytes of a slot", self.payload)
        check_count("framing bytes", self.framing, least=0)

    @classmethod
    def from_rate(cls, rate: float, chunk: int = paper.CHUNK_BYTES, payload: int = paper.CHUNK_PAYLOAD) -> "Link":
        """Give the link on which one chunk of `chunk` bytes a slot makes `rate` bit/s on air (Table 7.1)."""
        check_positive("bit rate", rate, "bit/s")
        check_count("bytes of a chunk", chunk)
        if payload > chunk:
            raise ParameterError(f"a chunk of {chunk} bytes cannot carry {payload} usable bytes")
        return cls(period=8 * chunk / rate, payload=payload)

    @property
    def goodput(self) -> float:
        """Most that the link can carry, bit/s, before any header is counted."""
        return 8 * self.payload / self.period

    def slots(self, ip_bytes: int) -> int:
        """Count the slots of one IP packet: rounded up, packet by packet."""
        return -(-(ip_bytes + self.framing) // self.payload)

    def slots_of_time(self, seconds: float) -> int:
        """Count the slots that pass before something ready after `seconds` can start: rounded up."""
        check_not_negative("delay", seconds, "s")
        return math.ceil(seconds / self.period - ONE_SLOT_SLACK)


def segment_sizes(total: int, mss: int) -> np.ndarray:
    """Cut `total` bytes into segments of `mss` bytes, the last one taking the rest.

    Returns
    -------
    ndarray of int64, shape (n,)
        Payload bytes of each segment; they add up to `total`.
    """
    check_count("MSS", mss)
    check_count("bytes to transfer", total)
    full, rest = divmod(total, mss)
    return np.array([mss] * full + ([rest] if rest else []), dtype=np.int64)

"""The slotted half-duplex link: how many slots a packet takes (notebook 1, Eq. 7.4 at frequency 0)."""

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from voicewire._kit import checks
from voicewire.nfc import paper
from voicewire.nfc.errors import ParameterError, check_count, check_not_negative, check_positive

__all__ = ["HEADER_BYTES", "LARGEST", "SYN_BYTES", "Link", "segment_sizes"]

Number = TypeVar("Number", int, np.ndarray)
HEADER_BYTES = 40  # IPv4 and TCP, no options
SYN_BYTES = 44  # with the MSS option
LONGEST = 1e7
"""s: longer than any session, and short enough for slots to be counted in 64 bits."""
LARGEST = 10**8  # bytes
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

    Examples
    --------
    >>> Link().slots(1024 + 40)
    107
    >>> round(Link.from_rate(11_200).goodput)
    8000
    """

    period: float = paper.SLOT_PERIOD
    payload: int = paper.CHUNK_PAYLOAD
    framing: int = 6

    def __post_init__(self) -> None:
        check_positive("slot period", self.period, "s")
        if not 1e-6 <= self.period <= 1e4:
            raise ParameterError(f"slot period is {self.period:g} s: it must be from 1e-06 to 10000 s")
        check_count("usable bytes of a slot", self.payload)
        check_count("framing bytes", self.framing, least=0)

    @classmethod
    def from_rate(cls, rate: float, chunk: int = paper.CHUNK_BYTES, payload: int = paper.CHUNK_PAYLOAD) -> "Link":
        """Give the link on which one chunk of `chunk` bytes a slot makes `rate` bit/s on air (Table 7.1).

        Parameters
        ----------
        rate : float
            On air, bit/s.
        chunk, payload : int
            Bytes of a slot on air, and usable ones.

        Returns
        -------
        Link
        """
        check_positive("bit rate", rate, "bit/s")
        check_count("bytes of a chunk", chunk)
        check_count("usable bytes of a chunk", payload)
        if payload > chunk:
            raise ParameterError(f"a chunk of {chunk} bytes cannot carry {payload} usable bytes")
        return cls(period=8 * chunk / rate, payload=payload)

    @property
    def goodput(self) -> float:
        """Most that the link can carry, bit/s, before any header is counted."""
        return 8 * self.payload / self.period

    @checks.takes(error=ParameterError, ip_bytes=checks.whole())
    def slots(self, ip_bytes: int) -> int:
        """Count the slots of one IP packet: rounded up, packet by packet.

        Parameters
        ----------
        ip_bytes : int
            Length of the packet, headers included.

        Returns
        -------
        int
        """
        return slots_of_packet(self, ip_bytes)

    @checks.takes(error=ParameterError, seconds=checks.number(0.0, LONGEST))
    def slots_of_time(self, seconds: float) -> int:
        """Count the slots that pass before something ready after `seconds` can start: rounded up.

        Parameters
        ----------
        seconds : float
            The time, s.

        Returns
        -------
        int
        """
        check_not_negative("delay", seconds, "s")
        return slots_of_wait(self, seconds)


def slots_of_packet(link: Link, ip_bytes: Number) -> Number:
    """Give `Link.slots` of a number or an array, behind the door: nothing is checked."""
    return -(-(ip_bytes + link.framing) // link.payload)


def slots_of_wait(link: Link, seconds: float) -> int:
    """Give `Link.slots_of_time`, behind the door: nothing is checked."""
    return math.ceil(seconds / link.period - ONE_SLOT_SLACK)


def check_countable(link: Link, rto: float, backoff: bool, retransmissions: int, packets: int) -> None:
    """Refuse timeouts that add up to more slots than 63 bits count, at worst (the engine counts in integers)."""
    waits = min(retransmissions, 1 << 20)
    doubled = (2 ** min(waits + 1, 200) if backoff else waits + 1) * link.slots_of_time(rto) * packets
    if doubled >= 1 << 62:
        raise ParameterError(
            f"a retransmission timeout of {rto:g} s"
            + (f", doubled {retransmissions} times," if backoff else f", waited for {retransmissions} times,")
            + " is longer than can be counted: lower the timeout or the retransmissions"
        )


@checks.takes(error=ParameterError, total=checks.whole(1, LARGEST), mss=checks.whole(1))
def segment_sizes(total: int, mss: int) -> np.ndarray:
    """Cut `total` bytes into segments of `mss` bytes, the last one taking the rest.

    Parameters
    ----------
    total : int
        Bytes to transfer.
    mss : int
        Bytes of a full segment.

    Returns
    -------
    ndarray of int64, shape (n,)
        Payload bytes of each segment; they add up to `total`.

    Examples
    --------
    >>> segment_sizes(2500, 1000).tolist()
    [1000, 1000, 500]
    """
    full, rest = divmod(total, mss)
    sizes = np.full(full + (rest > 0), mss, dtype=np.int64)
    if rest:
        sizes[-1] = rest
    return sizes

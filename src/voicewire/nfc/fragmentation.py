"""IP fragmentation below a session: segments above the MTU are cut (notebook 1; `reference.fragments` to read).

RFC 791, section 3.2. A packet that is cut crosses the NFC link as several, each with an IP header and the tunnel's
framing; one that is lost takes the whole packet with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from voicewire._kit import checks
from voicewire.nfc.channel import PERFECT, PERIODIC
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.link import HEADER_BYTES, Link, segment_sizes
from voicewire.nfc.reference.fragments import IP_BYTES, Fragment, cut
from voicewire.nfc.session import Session

__all__ = ["ETHERNET_MTU", "FragmentedSession", "fragments", "reassembled", "slots_of_datagram"]

ETHERNET_MTU = 1500  # bytes
LEAST_MTU = 68  # that every module must forward uncut (RFC 791, 3.2)
LARGEST = 65_515  # bytes of data in one datagram


@checks.takes(error=ParameterError, data=checks.whole(0, LARGEST), mtu=checks.whole(LEAST_MTU))
def fragments(data: int, mtu: int = ETHERNET_MTU) -> list[Fragment]:
    """Cut a datagram's data as RFC 791 says (`cut`).

    Parameters
    ----------
    data : int
        Bytes behind the IP header.
    mtu : int
        Bytes of the largest datagram that passes, at least 68.

    Returns
    -------
    list of Fragment

    Raises
    ------
    ParameterError
        For more than a datagram holds, or an MTU below 68 bytes.

    Examples
    --------
    >>> [part.size for part in fragments(4000)]
    [1480, 1480, 1040]
    """
    return cut(data, mtu)


@checks.takes(error=ParameterError, parts=checks.each(checks.a(Fragment)))
def reassembled(parts: Sequence[Fragment]) -> int | None:
    """Put a datagram together: its bytes, or None while one is missing.

    Parameters
    ----------
    parts : sequence of Fragment
        In any order; one may have come twice.

    Returns
    -------
    int or None

    Examples
    --------
    >>> first, second, third = fragments(4000, 1500)
    >>> reassembled([third, first, second]), reassembled([third, first])
    (4000, None)
    """
    have = 0
    for part in sorted(set(parts)):
        if 8 * part.offset > have:
            return None  # a hole
        have = max(have, 8 * part.offset + part.size)
        if not part.more:
            return have
    return None


@checks.takes(
    error=ParameterError, link=checks.a(Link), ip_bytes=checks.whole(IP_BYTES, LARGEST + IP_BYTES),
    mtu=checks.whole(LEAST_MTU),
)  # fmt: skip
def slots_of_datagram(link: Link, ip_bytes: int, mtu: int) -> int:
    """Count the slots of a packet: each part pays for its own header.

    Parameters
    ----------
    link : Link
        The slotted link.
    ip_bytes : int
        Length of the packet before it is cut, header included.
    mtu : int
        Bytes of the largest datagram that passes.

    Returns
    -------
    int

    Examples
    --------
    >>> slots_of_datagram(Link(), 4040, 1500), Link().slots(4040)
    (411, 405)
    """
    parts = fragments(ip_bytes - IP_BYTES, mtu)
    return sum(link.slots(IP_BYTES + part.size) for part in parts)


@dataclass(frozen=True)
class FragmentedSession(Session):
    """A session whose segments cross an IP layer that cuts them.

    Its channel is perfect or loses whole packets: the engine counts a packet's bits without the headers that its
    parts add.

    Parameters
    ----------
    size, mss : int
        Bytes to transfer, and at most in a segment.
    window : int
        Initial congestion window, bytes.
    window_limit : int
        The least of maximum congestion window, send buffer and receive window, bytes.
    restart_window : int or None
        Congestion window after a timeout, bytes; None: one MSS (the chapter's text on Table 7.1).
    latency : float
        Response latency at each end, outside the air time, s.
    ethernet_delay : float
        Delay between bridge and end-user device, s; it enters a round trip once.
    rto : float
        Retransmission timeout, s, counted while nothing waits for the link or is on it.
    backoff : bool
        Double the timeout at each further retransmission of the same segment.
    retransmissions : int
        Give up after so many in a row.
    duplicates : int
        Duplicate acknowledgements that make a fast retransmit; 0: none, every loss waits for its timeout.
    single_buffer : bool
        The appliance reads its next packet only when its own is on its way (True), or latency and transmission
        overlap (False). Notebook 3 shows which of the two fits.
    link : Link
        The slotted link.
    channel : Channel
        Bit errors or packet losses.
    recovery : Recovery
        What differs from the model's own rules once segments are lost.
    rto_floor : float or None
        Floor of a timeout that is estimated from round trips as RFC 6298 has it, s; `rto` is then the first one.
        None: `rto` stays. It needs a timer that runs on and doubles.
    ethernet : Ethernet
        What packets meet between bridge and end-user device, beside the delay.
    mtu : int
        Bytes of the largest datagram that passes.

    Raises
    ------
    ParameterError
        For an MTU below 68 bytes, or a channel with bit errors.

    Examples
    --------
    >>> FragmentedSession(mss=1460).run().seconds, Session(mss=1460).run().seconds
    (6.26, 6.26)
    >>> FragmentedSession(mss=2048).run().slots - Session(mss=2048).run().slots
    6
    """

    mtu: int = ETHERNET_MTU

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.fields(self, ParameterError, mtu=checks.whole(LEAST_MTU))
        if self.channel.kind not in (PERFECT, PERIODIC):
            raise ParameterError("a fragmented session needs a channel without bit errors: it may lose whole packets")

    @cached_property
    def _segments(self) -> tuple[np.ndarray, np.ndarray]:
        sizes = segment_sizes(self.size, self.mss)
        of = {size: slots_of_datagram(self.link, size + HEADER_BYTES, self.mtu) for size in np.unique(sizes).tolist()}
        return sizes, np.array([of[size] for size in sizes.tolist()], dtype=np.int64)

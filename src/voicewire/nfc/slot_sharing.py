"""Sections 7.4 and 7.5: bit rate x slot time, and slots shared with control messages (notebook 3).

This is another regime than the 10-byte test bed: a slot carries as many bytes as its active time allows at the bit
rate, less a command overhead that the chapter leaves to a table we do not have.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from voicewire._kit import checks
from voicewire.nfc import paper
from voicewire.nfc.errors import ParameterError, check_count, check_not_negative, check_positive, check_share
from voicewire.nfc.link import HEADER_BYTES, SYN_BYTES
from voicewire.nfc.session import RESPONSE_LATENCY

__all__ = [
    "DEFINITIONS", "ROUNDINGS", "SCOPES", "Rounding", "Scope", "ShortSession", "latency_map", "power_share", "shared",
]  # fmt: skip

Scope = Literal["round trip", "with handshake", "whole session"]
Rounding = Literal["none", "packet", "section"]
SCOPES: tuple[Scope, ...] = ("round trip", "with handshake", "whole session")
ROUNDINGS: tuple[Rounding, ...] = ("none", "packet", "section")
NO_SLACK = 1e-9  # 3.0000000000000004 slots are three

# Packets besides the data segment, as (SYNs, other headers), and the responses that nothing overlaps
_PACKETS = MappingProxyType({"round trip": (0, 1, 2), "with handshake": (2, 2, 4), "whole session": (2, 5, 6)})


@dataclass(frozen=True)
class ShortSession:
    """The short session of sections 7.4 and 7.5: one segment, on slots of the specification's kind.

    Parameters
    ----------
    size : int
        Bytes of data ("1 kB": 1000 or 1024).
    overhead : int
        Bytes of each slot that the NFC commands take. Not in the chapter: 13 to 15 fit (notebook 3).
    framing : int
        Bytes that the tunnel adds to each IP packet.
    latency : float
        Response latency, s.
    scope : str
        What counts: "round trip" (Eq. 5.1: data there, acknowledgement back), "with handshake", "whole session".
    period : float
        Time from slot to slot, s.

    Examples
    --------
    >>> ShortSession().payload(848.0, 1.5)
    145
    >>> round(ShortSession().seconds(848.0, 1.5), 2)
    0.44
    """

    size: int = paper.SHORT_SESSION_BYTES
    overhead: int = 14
    framing: int = 6
    latency: float = RESPONSE_LATENCY
    scope: Scope = "with handshake"
    period: float = paper.SLOT_PERIOD

    def __post_init__(self) -> None:
        check_count("bytes to transfer", self.size)
        check_count("overhead bytes of a slot", self.overhead, least=0)
        check_count("framing bytes", self.framing, least=0)
        check_not_negative("response latency", self.latency, "s")
        check_positive("slot period", self.period, "s")
        if not isinstance(self.scope, str) or self.scope not in SCOPES:
            raise ParameterError(f"unknown scope {self.scope!r}: choose one of {', '.join(SCOPES)}")

    def payload(self, rate: float, active: float) -> int:
        """Usable bytes of a slot at `rate` kbit/s, `active` ms of it in use.

        Parameters
        ----------
        rate : float
            Bit rate, kbit/s.
        active : float
            Active time of a slot, ms.

        Returns
        -------
        int

        Raises
        ------
        ParameterError
            If the overhead leaves no byte.
        """
        check_positive("bit rate", rate, "kbit/s")
        if rate > 1e9:
            raise ParameterError(f"bit rate is {rate:g} kbit/s: it must be at most 1e+09")
        check_positive("slot time", active, "ms")
        if active / 1e3 > self.period:
            raise ParameterError(f"a slot time of {active:g} ms does not fit into a period of {self.period * 1e3:g} ms")
        room = math.floor(rate * active / 8 + NO_SLACK) - self.overhead
        if room < 1:
            raise ParameterError(f"at {rate:g} kbit/s a slot of {active:g} ms has no room beside its overhead")
        return room

    def packets(self, rate: float, active: float) -> list[int]:
        """Give the slots of each packet of the session: SYNs and headers, then the data.

        Parameters
        ----------
        rate : float
            Bit rate, kbit/s.
        active : float
            Active time of a slot, ms.

        Returns
        -------
        list of int
        """
        room = self.payload(rate, active)
        syns, headers, _ = _PACKETS[self.scope]
        sizes = [SYN_BYTES] * syns + [HEADER_BYTES] * headers + [self.size + HEADER_BYTES]
        return [-(-(size + self.framing) // room) for size in sizes]

    def seconds(self, rate: float, active: float, share: float = 0.0, rounding: Rounding = "none") -> float:
        """Give the latency, s, with a `share` of the slots taken by control messages (Eq. 7.4).

        Responses round up to whole slots, as in the session model.

        Parameters
        ----------
        rate : float
            Bit rate, kbit/s.
        active : float
            Active time of a slot, ms.
        share : float
            Of the slots, taken by control messages, 0 <= share < 1.
        rounding : str
            As in `shared`.

        Returns
        -------
        float

        Raises
        ------
        ParameterError
            If the share is not in [0, 1), or a parameter is impossible.
        """
        responses = _PACKETS[self.scope][2] * math.ceil(self.latency / self.period - NO_SLACK)
        air = sum(shared(slots, share, rounding) for slots in self.packets(rate, active))
        return (air + responses) * self.period


def shared(slots: int, share: float, rounding: Rounding = "none", section: int = paper.SECTION_SLOTS) -> float:
    """Give the slots that a packet takes when control messages have a `share` of them: Eq. 7.4 over the period.

    Parameters
    ----------
    slots : int
        Slots of the packet on a link of its own.
    share : float
        freq_ctrlmsgs = a/b of Eq. 7.5, 0 <= share < 1.
    rounding : str
        "none" (Eq. 7.4 as printed), "packet" (up to whole slots), "section" (up to whole sections of `section`
        slots, which the text asks for). With "section" a share of 0 doesn't give Eq. 5.4 back.
    section : int
        Slots of a section.

    Returns
    -------
    float

    Raises
    ------
    ParameterError
        For a share outside [0, 1) or an unknown rounding.

    Examples
    --------
    >>> shared(9, 0.5), shared(9, 0.5, "section")
    (18.0, 20)
    """
    check_share("control share", share)
    check_count("slots", slots, least=0)
    check_count("section", section)
    stretched = slots / (1 - share)
    if rounding == "none":
        return stretched
    if rounding == "packet":
        return math.ceil(stretched - NO_SLACK)
    if rounding == "section":
        return section * math.ceil(stretched / section - NO_SLACK)
    raise ParameterError(f"unknown rounding {rounding!r}: choose one of {', '.join(ROUNDINGS)}")


@checks.takes(error=ParameterError, active=checks.number(0.0), used=checks.share, period=checks.number(1e-6, 1e4))
def power_share(active: float, used: float = 1.0, period: float = paper.SLOT_PERIOD) -> float:
    """Give the share of the time that communication leaves for the transfer of power, at most.

    Power and data take turns, so no transmitter can be on for longer. It bounds the duty cycle, not the efficiency.

    Parameters
    ----------
    active : float
        Active time of a slot, ms.
    used : float
        Share of the slots in which something is sent.
    period : float
        Time from slot to slot, s.

    Returns
    -------
    float
        0 to 1.

    Raises
    ------
    ParameterError
        If the slot does not fit into its period.

    Examples
    --------
    >>> power_share(1.5), power_share(2.5)
    (0.85, 0.75)
    """
    if active / 1e3 > period:
        raise ParameterError(f"a slot time of {active:g} ms does not fit into a period of {period * 1e3:g} ms")
    return 1 - used * active / 1e3 / period


@checks.takes(
    error=ParameterError, session=checks.a(ShortSession), rates=checks.each(checks.number(above=0.0)),
    active=checks.array(),
)  # fmt: skip
def latency_map(session: ShortSession, rates: tuple[float, ...], active: np.ndarray) -> np.ndarray:
    """Give the latency, s, for each rate (kbit/s, rows) and slot time (ms, columns).

    Parameters
    ----------
    session : ShortSession
        What is transferred.
    rates : tuple of float
        Bit rates, kbit/s.
    active : ndarray, shape (k,)
        Active times of a slot, ms.

    Returns
    -------
    ndarray, shape (rates, k)

    Examples
    --------
    >>> latency_map(ShortSession(), (212, 848), np.array([1.5, 2.5])).shape
    (2, 2)
    """
    return np.array([[session.seconds(rate, float(time)) for time in active] for rate in rates])


def _best_of_map(session: ShortSession, rate: float, active: float) -> float:
    return session.seconds(max(paper.RATES), paper.SLOT_RANGE_MS[1]) / session.seconds(rate, active)


def _best_of_rate(session: ShortSession, rate: float, active: float) -> float:
    return session.seconds(rate, paper.SLOT_RANGE_MS[1]) / session.seconds(rate, active)


def _best_of_slot(session: ShortSession, rate: float, active: float) -> float:
    return session.seconds(max(paper.RATES), active) / session.seconds(rate, active)


def _one_slot_ideal(session: ShortSession, rate: float, active: float) -> float:
    ideal = session.seconds(1e6, paper.SLOT_RANGE_MS[1])  # a rate at which every packet takes one slot
    return ideal / session.seconds(rate, active)


def _payload_share(session: ShortSession, rate: float, active: float) -> float:
    return session.payload(rate, active) / (rate * active / 8)


def _goodput_share(session: ShortSession, rate: float, active: float) -> float:
    return 8 * session.size / session.seconds(rate, active) / (1e3 * rate)


DEFINITIONS: dict[str, Callable[[ShortSession, float, float], float]] = {
    "best latency anywhere on the map": _best_of_map,
    "best latency at the same slot time": _best_of_slot,
    "best latency at the same rate": _best_of_rate,
    "latency with one slot a packet": _one_slot_ideal,
    "usable share of a slot's bytes": _payload_share,
    "goodput over bit rate": _goodput_share,
}
"""What "efficiency" in section 7.4 may mean: each entry gives a share, 0 to 1, at (session, rate, slot time)."""

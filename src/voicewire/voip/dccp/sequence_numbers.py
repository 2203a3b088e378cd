"""Which sequence numbers a DCCP endpoint takes, and how two ends find back into step (RFC 4340 sections 7.5 and 8.5).

A number that is not expected is no proof of an attack: a burst of losses does the same. So the endpoint asks with a
Sync, and only a SyncAck that acknowledges this very Sync moves its window.
"""

from __future__ import annotations

from dataclasses import dataclass

from voicewire._kit import checks
from voicewire.voip.dccp.header import Packet, Type
from voicewire.voip.dccp.rules import SPACE, ack_window, after, number_window
from voicewire.voip.errors import VoipError

__all__ = ["Numbers", "lengthen", "met", "resynchronise", "windows"]

_SYNCS = (Type.SYNC, Type.SYNC_ACK)
_ENDS = (Type.CLOSE_REQ, Type.CLOSE, Type.RESET)


@dataclass
class Numbers:
    """What one endpoint knows of both directions' numbers (RFC 4340 section 7.1).

    Attributes
    ----------
    isr, gsr : int
        First and greatest number received.
    iss, gss : int
        First and greatest number sent.
    gar : int
        Greatest acknowledgement number received.
    peer_window, window : int
        Sequence Window of the peer and of this endpoint, in packets (section 7.5.2; at first 100).

    Raises
    ------
    VoipError
        For a number outside 48 bits, or a window outside 32 to 2**46 - 1.

    Examples
    --------
    >>> Numbers(isr=0, gsr=1000, iss=0, gss=500, gar=490).peer_window
    100
    """

    isr: int
    gsr: int
    iss: int
    gss: int
    gar: int
    peer_window: int = 100
    window: int = 100

    def __post_init__(self) -> None:
        number = checks.whole(0, SPACE - 1)
        span = checks.whole(32, (1 << 46) - 1)
        checks.fields(
            self, VoipError, isr=number, gsr=number, iss=number, gss=number, gar=number, peer_window=span, window=span
        )


def windows(n: Numbers) -> tuple[int, int, int, int]:
    """Lowest and highest valid number, lowest and highest valid acknowledgement.

    Section 7.5.1: a quarter of the window lies behind the greatest number received, three quarters before it.

    Parameters
    ----------
    n : Numbers
        What the endpoint knows.

    Returns
    -------
    tuple of int
        SWL, SWH, AWL, AWH.

    Examples
    --------
    >>> windows(Numbers(isr=0, gsr=1000, iss=0, gss=500, gar=490))
    (976, 1075, 401, 500)
    """
    return *number_window(n.gsr, n.isr, n.peer_window), *ack_window(n.gss, n.iss, n.window)


def met(n: Numbers, p: Packet) -> str:
    """What an endpoint does with a packet's numbers: "take" it, "drop" it, or answer with a "sync".

    Sections 7.5.3 and 7.5.4; steps 5 and 6 of section 8.5. What is taken moves `n`.
    """
    if not p.extended:
        raise VoipError("a packet with numbers of 24 bits: lengthen() them first")
    if not _fits(n, p):
        return "drop" if p.type in _SYNCS else "sync"
    if after(p.seq, n.gsr) > 0:
        n.gsr = p.seq
    if p.ack is not None and p.type is not Type.SYNC and after(p.ack, n.gar) > 0:
        n.gar = p.ack
    return "take"


def _fits(n: Numbers, p: Packet) -> bool:
    """Whether both numbers lie in their windows; what ends a connection must be newer, a Sync may be far ahead."""
    swl, swh, awl, awh = windows(n)
    if p.type in _ENDS:
        swl, awl = (n.gsr + 1) % SPACE, n.gar
    number = after(p.seq, swl) >= 0
    number = number and (p.type in _SYNCS or after(swh, p.seq) >= 0)
    told = p.ack is None or (after(p.ack, awl) >= 0 and after(awh, p.ack) >= 0)
    return number and told


@checks.takes(error=VoipError, lost=checks.whole(0, 10**9))
def resynchronise(lost: int) -> list[str]:
    """Let a sender's next Data come after so many lost ones, and write down what both ends do.

    Parameters
    ----------
    lost : int
        Packets lost in a row.

    Returns
    -------
    list of str
        What is sent, and what becomes of it, in turn.

    Examples
    --------
    >>> resynchronise(74)
    ['Data: take']
    >>> resynchronise(75)
    ['Data: sync', 'Sync: take', 'SyncAck: take', 'Data: take']
    """
    a = Numbers(isr=0, gsr=500, iss=0, gss=1000 + lost, gar=1000)  # the sender
    b = Numbers(isr=0, gsr=1000, iss=0, gss=500, gar=500)
    steps = []

    def send(name: str, one: Numbers, other: Numbers, ack: int | None = None) -> int:
        one.gss = (one.gss + 1) % SPACE
        packet = Packet(Type[name], 5004, 5006, one.gss, ack)
        steps.append(f"{_SPELT[name]}: {met(other, packet)}")
        return one.gss

    came = send("DATA", a, b)
    if steps[-1] == "Data: sync":
        asked = send("SYNC", b, a, came)
        send("SYNC_ACK", a, b, asked)
        send("DATA", a, b)
    return steps


_SPELT = {"DATA": "Data", "SYNC": "Sync", "SYNC_ACK": "SyncAck"}


@checks.takes(error=VoipError, short=checks.whole(0, (1 << 24) - 1), near=checks.whole(0, SPACE - 1))
def lengthen(short: int, near: int) -> int:
    """Give the 48-bit number that has these low 24 bits and lies nearest to a known one (section 7.6).

    Parameters
    ----------
    short : int
        24 bits, as a packet carries them.
    near : int
        A number known: the greatest received, or sent for acknowledgements.

    Returns
    -------
    int
        48 bits.

    Raises
    ------
    VoipError
        For numbers of more bits.

    Examples
    --------
    >>> hex(lengthen(0x000001, 0xABCDEFFFFFFF))
    '0xabcdf0000001'
    """
    half = 1 << 23
    return (near + (short - near + half) % (1 << 24) - half) % SPACE

"""The retransmission timeout that is estimated, compiled from its reading version (`reference.rto_estimator`)."""

from __future__ import annotations

import math

from voicewire._kit._records import rule
from voicewire.nfc.link import ONE_SLOT_SLACK
from voicewire.nfc.reference import rto_estimator as timer
from voicewire.nfc.tcp.tcp_session_state import World

__all__: list[str] = []

NOBODY = -1  # no segment is timed
SYN_AGAIN = 3.0  # s, the least timeout after a SYN that was repeated: RFC 6298 (5.7)

measured = rule(timer.measured)
backed_off = rule(timer.backed_off)


@rule
def set_timeout(w: World) -> None:
    """Round the timeout up to slots."""
    s = w.sender
    s.wait = max(1, math.ceil(s.rto / s.period - ONE_SLOT_SLACK))


@rule
def begun(w: World, first: int) -> None:
    """Segments from `first` on leave: time one that is new."""
    s = w.sender
    if s.timed == NOBODY and s.next > s.fresh:
        s.timed = max(first, s.fresh)
        s.since = w.air.now
    s.fresh = max(s.fresh, s.next)


@rule
def answered(w: World) -> None:
    """Progress may end a measurement."""
    s = w.sender
    if s.timed != NOBODY and s.una > s.timed:
        measured(s, (w.air.now - s.since) * s.period)
        s.timed = NOBODY
    set_timeout(w)


@rule
def repeated(w: World, fired: bool) -> None:
    """A repeat ends the measurement; a timer that fired doubles."""
    w.sender.timed = NOBODY
    if fired:
        backed_off(w.sender)
        set_timeout(w)


@rule
def handshaken(w: World) -> None:
    """The SYN's round trip, if it was sent once."""
    s = w.sender
    if w.tally.timeouts == 0:
        measured(s, w.air.now * s.period)
    else:
        s.rto = max(s.rto, SYN_AGAIN)
    set_timeout(w)

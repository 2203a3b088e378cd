"""An exchange with the timer of RFC 6298, to read; times in seconds.

Notebook 2 is woven from this; `nfc.tcp.rto_estimator` runs whole exchanges.
"""

from __future__ import annotations

from voicewire.nfc.exchange import Exchange
from voicewire.nfc.reference.exchange import Air, spoils
from voicewire.nfc.reference.rto_estimator import (
    LONGEST,
    Estimator,
    backed_off,
    measured,
)

__all__ = ["needless", "tried_with"]


def slots_of(exchange: Exchange) -> int:
    """Give the slots of one packet of an exchange."""
    return exchange.link.slots(exchange.bits // 8)


def needless(e: Estimator, exchange: Exchange, rtt: float) -> float:
    """The timer fires with the answer under way: slots taken, in s."""
    cost = 0.0
    while e.rto < min(rtt, LONGEST):
        cost += slots_of(exchange) * exchange.link.period
        backed_off(e)
    return cost


def tried_with(
    e: Estimator, air: Air, exchange: Exchange, rtt: float
) -> float:
    """One packet with this timer: what time-outs cost, s."""
    cost, again = 0.0, False
    while spoils(air, exchange.bits, True):  # its answer never comes
        again = True
        cost += e.rto
        backed_off(e)
    if e.rto < rtt:
        return cost + needless(e, exchange, rtt)
    if not again:
        measured(e, rtt)
    return cost

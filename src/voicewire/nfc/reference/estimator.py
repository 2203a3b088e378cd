"""The timer of RFC 6298, to read; times in seconds.

Notebook 2 is woven from this; `nfc.estimator` runs whole exchanges.
"""

from __future__ import annotations

from dataclasses import dataclass

from voicewire.nfc.exchange import Exchange
from voicewire.nfc.reference.exchange import Air, spoils

__all__ = ["Estimator", "backed_off", "measured", "needless", "tried_with"]

GRANULARITY = 0.01  # s: the clock counts slots
LONGEST = 60.0  # s, the least that a maximum may be (2.5)


@dataclass(kw_only=True)
class Estimator:
    """The timer of RFC 6298; times in s.

    Parameters
    ----------
    rto : float
        One second before anything is measured (2.1).
    least : float
        What it is never below (2.4).
    srtt, rttvar : float
        Smoothed RTT, and how much RTTs vary; 0 before the first.

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> Estimator().rto
    1.0
    """

    rto: float = 1.0
    least: float = 1.0  # the timeout is never below it
    srtt: float = 0.0  # smoothed RTT, 0 before the first
    rttvar: float = 0.0  # how much RTTs vary


def measured(e: Estimator, rtt: float) -> None:
    """A new RTT, of a packet that was sent once (Karn): (2.2) to (2.4).

    Parameters
    ----------
    e : Estimator
        Changed in place.
    rtt : float
        s.

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> e = Estimator()
    >>> measured(e, 2.0)
    >>> e.srtt, e.rttvar, e.rto
    (2.0, 1.0, 6.0)
    """
    if e.srtt == 0:
        e.srtt, e.rttvar = rtt, rtt / 2
    else:
        e.rttvar += (abs(e.srtt - rtt) - e.rttvar) / 4
        e.srtt += (rtt - e.srtt) / 8
    e.rto = max(e.least, e.srtt + max(GRANULARITY, 4 * e.rttvar))


def backed_off(e: Estimator) -> None:
    """The timer has fired: it waits twice as long, up to 60 s (5.5).

    Parameters
    ----------
    e : Estimator
        Changed in place.

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> e = Estimator(rto=40.0)
    >>> backed_off(e)
    >>> e.rto
    60.0
    """
    e.rto = min(2 * e.rto, LONGEST)


def slots_of(exchange: Exchange) -> int:
    """Give the slots of one packet of an exchange."""
    return exchange.link.slots(exchange.bits // 8)


def needless(e: Estimator, exchange: Exchange, rtt: float) -> float:
    """The timer fires with the answer under way: slots taken, in s.

    Parameters
    ----------
    e : Estimator
        Changed in place.
    exchange : Exchange
        What is exchanged.
    rtt : float
        s.

    Returns
    -------
    float

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> e = Estimator()
    >>> round(needless(e, Exchange(), 3.5), 2), e.rto
    (1.1, 4.0)
    """
    cost = 0.0
    while e.rto < min(rtt, LONGEST):
        cost += slots_of(exchange) * exchange.link.period
        backed_off(e)
    return cost


def tried_with(
    e: Estimator, air: Air, exchange: Exchange, rtt: float
) -> float:
    """One packet with this timer: what time-outs cost, s.

    Parameters
    ----------
    e : Estimator
        Changed in place.
    air : Air
        The channel; its state goes on.
    exchange : Exchange
        What is exchanged.
    rtt : float
        From the packet's first slot until its answer is read, s.

    Returns
    -------
    float

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> air = Air(Exchange().channel, False, default_rng(1))
    >>> e = Estimator()
    >>> round(tried_with(e, air, Exchange(), 1.26), 2), e.rto
    (0.55, 2.0)
    """
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

"""RFC 6298 beside the constant timer: a timeout estimated from RTTs.

Times in seconds. An exchange with this timer costs what its losses cost, as
in `reference.exchange`, and a repeat that was not needed the slots of its
packet. Notebook 2 is woven from these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voicewire import checks
from voicewire.nfc.errors import ParameterError, check_positive
from voicewire.nfc.exchange import Exchange
from voicewire.nfc.link import SYN_BYTES
from voicewire.nfc.reference.exchange import Air, spoils

__all__ = ["Estimated", "Estimator", "backed_off", "estimated", "measured", "tried_with"]

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
    least: float = 1.0
    srtt: float = 0.0
    rttvar: float = 0.0

    def __post_init__(self) -> None:
        check_positive("timeout", self.rto, "s")
        check_positive("least timeout", self.least, "s")
        span = checks.number(0.0)
        checks.fields(self, ParameterError, srtt=span, rttvar=span)


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
    """The answer is under way when the timer fires: slots taken, in s."""
    cost = 0.0
    while e.rto < rtt:
        cost += slots_of(exchange) * exchange.link.period
        backed_off(e)
    return cost


def tried_with(
    e: Estimator, air: Air, exchange: Exchange, rtt: float
) -> float:
    """One packet with this timer: what time-outs cost, s.

    Parameters
    ----------
    air : Air
        The channel; its state goes on.
    exchange : Exchange
        What is exchanged.
    e : Estimator
        Changed in place.
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
    >>> air = Air(Exchange().channel, False, np.random.default_rng(1))
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


@dataclass(frozen=True)
class Estimated:
    """What exchanges with an estimated timeout took.

    Parameters
    ----------
    seconds : ndarray, shape (runs,)
        Latency of each, s.
    timeouts : ndarray, shape (packets,)
        The timeout before each packet of the last run, s.

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> Estimated(np.array([1.0]), np.array([3.0])).seconds.tolist()
    [1.0]
    """

    seconds: np.ndarray
    timeouts: np.ndarray


@checks.takes(
    error=ParameterError, exchange=checks.a(Exchange), runs=checks.whole(1, 10**5), rng=checks.generator,
    least=checks.number(0.001, 1e4),
)  # fmt: skip
def estimated(exchange: Exchange, runs: int, rng: np.random.Generator, least: float = 1.0) -> Estimated:
    """Run exchanges whose timeout is estimated as RFC 6298 has it, instead of constant.

    Parameters
    ----------
    exchange : Exchange
        What is exchanged; its own timeout, its doubling and its limit of repeats play no part.
    runs : int
        How many exchanges.
    rng : Generator
        Where chance comes from.
    least : float
        Floor of the timeout, s; (2.4) says 1.

    Returns
    -------
    Estimated

    Raises
    ------
    ParameterError
        If hardly a packet gets through: an exchange would not end.

    Notes
    -----
    Chapter ``notebooks/nfc/02_errors_and_timers``.

    Examples
    --------
    >>> round(float(estimated(Exchange(), 1, np.random.default_rng(1)).seconds[0]), 2)
    127.72
    """
    channel, link = exchange.channel, exchange.link
    if channel.loss(exchange.bits) > 0.99:
        raise ParameterError("hardly a packet gets through: lower the bit error rate")
    response = link.slots_of_time(exchange.latency)
    rtt = 2 * (slots_of(exchange) + response) * link.period
    opening = (link.slots(SYN_BYTES) * 2 + 2 * response) * link.period
    seconds, trace = [], np.empty(2 * exchange.packets)
    for _ in range(runs):
        air = Air(channel, channel.start(rng), rng)
        ends = Estimator(least=least), Estimator(least=least)  # each end has its own, and both see the handshake
        for e in ends:
            measured(e, opening)
        cost = 0.0
        for i in range(2 * exchange.packets):
            trace[i] = ends[i % 2].rto
            cost += tried_with(ends[i % 2], air, exchange, rtt)
        seconds.append(exchange.floor + cost)
    return Estimated(np.array(seconds), trace)

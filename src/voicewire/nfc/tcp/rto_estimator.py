"""RFC 6298 beside the constant timer: a timeout estimated from RTTs.

Times in seconds. An exchange with this timer costs what its losses cost, as
in `reference.exchange`, and a repeat that was not needed the slots of its
packet. The rules are in `reference.rto_estimator`, to read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voicewire._kit import checks
from voicewire.nfc.errors import ParameterError
from voicewire.nfc.exchange import Exchange
from voicewire.nfc.link import SYN_BYTES
from voicewire.nfc.reference.adaptive_exchange import slots_of, tried_with
from voicewire.nfc.reference.exchange import Air
from voicewire.nfc.reference.rto_estimator import Estimator, measured

__all__ = ["Estimated", "estimated"]



@dataclass(frozen=True)
class Estimated:
    """What exchanges with an estimated timeout took.

    Parameters
    ----------
    seconds : ndarray, shape (runs,)
        Latency of each, s.
    timeouts : ndarray, shape (packets,)
        The timeout before each packet of the last run, s.

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

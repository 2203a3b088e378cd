"""Paths and bottlenecks as a user describes them; every value is checked once, here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from voicewire._kit import checks
from voicewire.netsim.errors import NetsimError

__all__ = ["Bottleneck", "Path", "Red"]


_number = cache(checks.number)  # to make a rule takes longer than to ask it
_whole = cache(checks.whole)


def number(value: float, what: str, low: float, high: float = math.inf) -> float:
    """Return the value if it is a finite number within [low, high], else say what would do."""
    return float(_number(low, min(high, checks.LARGEST))(what, value, NetsimError))


def whole(value: int, what: str, low: int, high: int = checks.MOST) -> int:
    """Return the value if it is a whole number within [low, high], else say what would do."""
    return int(_whole(low, high)(what, value, NetsimError))


@dataclass(frozen=True)
class Path:
    """A way there and back: the same delay, jitter and losses in both directions (section 4.4 of the thesis).

    Attributes
    ----------
    delay_ms : one-way delay in milliseconds
    loss : probability that a packet is lost on the way there (Bernoulli; in the good state if `burst` is given)
    loss_back : the same for the way back; None: as `loss`
    jitter_ms : up to so much is added to each packet's delay, uniformly; packets keep their order
    burst : Gilbert-Elliott, (P[good → bad], P[bad → good], loss in the bad state), stepped once a packet
    lossy_s : seconds after which the path loses nothing more; None: it goes on

    Examples
    --------
    >>> Path(50, 0.01).jitter_ms
    0.0
    """

    delay_ms: float
    loss: float = 0.0
    loss_back: float | None = None
    jitter_ms: float = 0.0
    burst: tuple[float, float, float] | None = None
    lossy_s: float | None = None

    def __post_init__(self) -> None:
        number(self.delay_ms, "the delay in milliseconds", 0, 3_600_000)
        number(self.jitter_ms, "the jitter in milliseconds", 0, 3_600_000)
        number(self.loss, "the loss, a probability,", 0, 1)
        if self.loss_back is not None:
            number(self.loss_back, "the loss on the way back, a probability,", 0, 1)
        if self.burst is not None:
            if not isinstance(self.burst, tuple | list) or len(self.burst) != 3:
                raise NetsimError("burst losses need three probabilities: into the bad state, out of it, loss in it")
            for value in self.burst:
                number(value, "a probability of the burst losses", 0, 1)
        if self.lossy_s is not None:
            number(self.lossy_s, "the time until which the path loses, in seconds,", 0, 1e8)


@dataclass(frozen=True)
class Red:
    """Random Early Detection (Floyd and Jacobson 1993; section 2.2 of the thesis), levels in packets.

    Attributes
    ----------
    low, high : below `low` nothing is dropped, from `high` on everything, between them with rising probability
    max_p : that probability at `high`
    weight : of the newest length in the filtered one
    ecn : mark instead of drop, for flows that understand it

    Examples
    --------
    >>> Red(low=2, high=6, ecn=True).max_p
    0.1
    """

    low: float = 5.0
    high: float = 15.0
    max_p: float = 0.1
    weight: float = 0.002
    ecn: bool = False

    def __post_init__(self) -> None:
        number(self.low, "RED's lower level", 0, 1e9)
        number(self.high, "RED's upper level", 0, 1e9)
        if self.high <= self.low:
            raise NetsimError("RED's upper level must lie above the lower one")
        number(self.max_p, "RED's probability", 0, 1)
        number(self.weight, "RED's weight", 0, 1)


@dataclass(frozen=True)
class Bottleneck:
    """A link of limited rate behind a FIFO queue that all flows share.

    Attributes
    ----------
    kbit_s : rate in kilobits per second, headers included
    packets : what the queue holds, the packet being sent among them; drop-tail beyond
    red : RED in front of it, or None

    Examples
    --------
    >>> Bottleneck(150).packets
    50
    """

    kbit_s: float
    packets: int = 50
    red: Red | None = None

    def __post_init__(self) -> None:
        number(self.kbit_s, "the rate in kbit/s", 0.001, 1e9)
        whole(self.packets, "the queue's length in packets", 1, 1_000_000)
        checks.fields(self, NetsimError, red=checks.maybe(checks.a(Red)))

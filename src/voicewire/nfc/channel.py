"""Bit errors: independent ones (Eq. 7.1, read as it must be meant) and Gilbert-Elliott bursts (Eq. 7.2, 7.3).

In the chapter's model the bad state *is* an error, so the bit error rate is the share of time in the bad state. The
chain advances with transmitted bits only: an idle channel keeps its state (notebook 2).
"""

import math
from dataclasses import dataclass

import numpy as np

from voicewire._kit import checks
from voicewire._kit._compiled import njit
from voicewire.nfc import paper
from voicewire.nfc.errors import ParameterError, check_finite, check_share

__all__ = ["BURST", "PERFECT", "PERIODIC", "RANDOM", "Channel", "error_bits"]

PERFECT, RANDOM, BURST, PERIODIC = 0, 1, 2, 3


@dataclass(frozen=True)
class Channel:
    """A loss model, as the kernels take it.

    Build one with `perfect`, `random`, `burst` or `periodic`.

    Parameters
    ----------
    kind : int
        PERFECT, RANDOM, BURST or PERIODIC.
    to_bad, to_good : float
        Transition probabilities per bit, p and q of Eq. 7.2 and 7.3. For RANDOM, `to_bad` is the bit error rate.
    every : int
        PERIODIC: each `every`-th data packet is lost.

    Examples
    --------
    >>> Channel.burst(1e-4).ber
    0.0001
    >>> round(Channel.random(1e-5).loss(4320), 4)
    0.0423
    """

    kind: int = PERFECT
    to_bad: float = 0.0
    to_good: float = 1.0
    every: int = 0

    def __post_init__(self) -> None:
        checks.fields(
            self, ParameterError, kind=checks.one_of(PERFECT, RANDOM, BURST, PERIODIC), to_bad=checks.share,
            to_good=checks.share,
        )  # fmt: skip
        checks.fields(self, ParameterError, every=checks.whole(2 if self.kind == PERIODIC else 0))

    @classmethod
    def perfect(cls) -> "Channel":
        """Give a channel without errors.

        Returns
        -------
        Channel
        """
        return cls()

    @classmethod
    def random(cls, ber: float) -> "Channel":
        """Give independent bit errors of rate `ber`.

        Parameters
        ----------
        ber : float
            Bit error rate, 0 <= ber < 1.

        Returns
        -------
        Channel

        Raises
        ------
        ParameterError
            For another rate.
        """
        check_share("bit error rate", ber)
        return cls(RANDOM, ber) if ber else cls()

    @classmethod
    def burst(cls, ber: float, length: float = paper.BURST_LENGTH) -> "Channel":
        """Give Gilbert-Elliott bursts of mean `length` bits (at least 1) with bit error rate `ber`.

        q = 1/length, and p = q ber/(1 - ber) makes the bad state's share of time equal to `ber`.

        Parameters
        ----------
        ber : float
            Bit error rate, 0 <= ber < 1.
        length : float
            Mean length of a burst, bits.

        Returns
        -------
        Channel

        Raises
        ------
        ParameterError
            For another rate, a length below 1, or bursts too short for the rate.
        """
        check_share("bit error rate", ber)
        check_finite("burst length", length)
        if length < 1:
            raise ParameterError(f"burst length is {length:g} bits: it must be at least 1")
        if ber == 0:
            return cls()
        to_good = 1 / length
        to_bad = to_good * ber / (1 - ber)
        if to_bad > 1:
            raise ParameterError(f"bursts of {length:g} bits cannot make a bit error rate of {ber:g}: lengthen them")
        return cls(BURST, to_bad, to_good)

    @classmethod
    def periodic(cls, every: int) -> "Channel":
        """Lose each `every`-th data packet (section 7.1: one in 25), whatever it carries.

        Parameters
        ----------
        every : int
            One packet in so many, at least 2.

        Returns
        -------
        Channel

        Raises
        ------
        ParameterError
            For another number.
        """
        check_finite("the number of packets of which one is lost", every)
        if every != int(every) or every < 2:
            raise ParameterError(f"one lost packet in {every:g}: it must be a whole number of at least 2")
        return cls(PERIODIC, every=int(every))

    @property
    def ber(self) -> float:
        """Long-run bit error rate (Eq. 7.3 for bursts)."""
        if self.kind == BURST:
            return self.to_bad / (self.to_bad + self.to_good)
        return self.to_bad

    @checks.takes(error=ParameterError, bits=checks.whole())
    def loss(self, bits: int) -> float:
        """Give the probability that a packet of `bits` bits is hit, the chain being in its steady state.

        A packet survives when it starts good and never leaves the good state; for bursts this is
        (1 - ber)(1 - p)**(bits - 1), for independent errors (1 - ber)**bits.

        Parameters
        ----------
        bits : int
            Length of the IP packet.

        Returns
        -------
        float
            0 to 1.
        """
        if self.kind == PERIODIC:
            return 1 / self.every
        if self.kind == PERFECT or bits == 0 or self.to_bad == 0:
            return 0.0
        if self.kind == RANDOM:
            return -math.expm1(bits * math.log1p(-self.to_bad))
        if self.to_bad == 1:
            return 1.0 if bits > 1 else self.ber
        return -math.expm1(math.log1p(-self.ber) + (bits - 1) * math.log1p(-self.to_bad))

    def start(self, rng: np.random.Generator) -> bool:
        """Draw the state before the first bit: True if bad (steady state).

        Parameters
        ----------
        rng : Generator
            Where chance comes from.

        Returns
        -------
        bool
        """
        return bool(self.kind == BURST and rng.random() < self.ber)


@njit(cache=True)
def cross(
    bits: int, bad: bool, kind: int, to_bad: float, to_good: float, rng: np.random.Generator
) -> tuple[bool, bool]:
    """Send `bits` bits; return (hit, state for the next bit).

    For bursts the time in each state is drawn at once from its geometric law instead of bit by bit: the law of the
    chain is the same, and a packet without errors costs one draw.
    """
    if kind == 1:
        return rng.random() < -math.expm1(bits * math.log1p(-to_bad)), False
    if kind != 2 or to_bad == 0.0:
        return False, False
    hit = False
    left = bits
    while True:
        if bad:
            hit = hit or left > 0
            leave = to_good
        else:
            leave = to_bad
        # bits spent in this state, at least one: geometric by inversion
        stay = 1.0
        if leave < 1.0:  # cut at 1e18, because the quotient is infinite for the smallest of numbers
            stay = math.floor(min(math.log(1.0 - rng.random()) / math.log1p(-leave), 1e18)) + 1.0
        if stay > left:  # the packet ends inside this state; the geometric law has no memory
            return hit, bad
        left -= int(stay)
        bad = not bad


@njit(cache=True)
def error_bits(bits: int, bad: bool, to_bad: float, to_good: float, rng: np.random.Generator) -> np.ndarray:
    """Run the two-state chain bit by bit: the slow definition, for the notebook and the tests.

    Parameters
    ----------
    bits : int
        How many.
    bad : bool
        State before the first.
    to_bad, to_good : float
        Transition probabilities per bit.
    rng : Generator
        Where chance comes from.

    Returns
    -------
    ndarray of bool, shape (bits,)
        True where a bit is in error.

    Examples
    --------
    >>> error_bits(4, False, 1.0, 1.0, np.random.default_rng(1)).tolist()
    [False, True, False, True]
    """
    errors = np.zeros(bits, dtype=np.bool_)
    for i in range(bits):
        errors[i] = bad
        bad = rng.random() >= to_good if bad else rng.random() < to_bad
    return errors

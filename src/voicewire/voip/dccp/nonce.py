"""The ECN nonce: how a sender finds a receiver that hides marks and losses (RFC 4340 section 12.2; RFC 3540).

Each packet carries one of the two codes that say "can be marked", drawn at random. A mark writes over the code. The
receiver echoes the parity of the codes that it reports as unmarked: whoever hides a mark has to guess one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks
from voicewire.voip.dccp.header import ack_vector, read_ack_vector
from voicewire.voip.dccp.rules import echoed
from voicewire.voip.errors import VoipError

__all__ = ["found_after", "honest", "report"]

ACK_VECTOR = 38
"""Ack Vector with a nonce echo of 0; 39 is that with 1 (section 11.4)."""


def report(states: str, nonces: Sequence[int]) -> tuple[int, bytes]:
    """Make the option by which a receiver tells: an Ack Vector with its nonce echo.

    Parameters
    ----------
    states : str
        R, M or N for each packet, the newest first.
    nonces : sequence of int
        What each carried; anything for what did not come unmarked.

    Returns
    -------
    tuple
        Type and value of the option.

    Raises
    ------
    VoipError
        For another letter.

    Examples
    --------
    >>> kind, vector = report("RMRR", [1, 0, 1, 1])
    >>> kind, vector.hex()
    (39, '004001')
    """
    return ACK_VECTOR + echoed(states, nonces), ack_vector(states)


def honest(option: tuple[int, bytes], drawn: Sequence[int]) -> bool:
    """Whether an Ack Vector's nonce echo agrees with what the sender drew for these packets.

    Parameters
    ----------
    option : tuple
        Type 38 or 39, and the vector.
    drawn : sequence of int
        The nonces that were sent, the newest first, as many as the vector tells of.

    Returns
    -------
    bool
        False: the receiver claims to have had unmarked what it had not.

    Raises
    ------
    VoipError
        If it is no Ack Vector, or tells of more or fewer packets.

    Examples
    --------
    The third packet was marked, and is called received all the same:

    >>> drawn = [1, 0, 1, 1]
    >>> honest(report("RRMR", [1, 0, 0, 1]), drawn), honest(report("RRRR", [1, 0, 0, 1]), drawn)
    (True, False)
    """
    kind, vector = option
    if kind not in (ACK_VECTOR, ACK_VECTOR + 1):
        raise VoipError(f"option {kind} is no Ack Vector: 38 and 39 are")
    states = read_ack_vector(vector)
    if len(states) != len(drawn):
        raise VoipError(f"the vector tells of {len(states)} packets, and {len(drawn)} nonces were given")
    return echoed(states, drawn) == kind - ACK_VECTOR


@checks.takes(
    error=VoipError, rng=checks.generator, packets=checks.whole(1, 10**7), marked=checks.number(0.0, 1.0),
    each=checks.whole(1, 10**4), lies=checks.flags,
)  # fmt: skip
def found_after(
    rng: np.random.Generator, packets: int, marked: float, each: int = 10, lies: ArrayLike = True
) -> NDArray[np.float64]:
    """Let receivers report, and find after how many packets the nonce gives each away.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws nonces, marks and what a liar guesses.
    packets : int
        How many are sent.
    marked : float
        Probability that a packet is marked.
    each : int
        Packets that a report tells of.
    lies : array_like of bool, shape (receivers,)
        Whether a receiver reports marked packets as unmarked, with a guessed nonce.

    Returns
    -------
    ndarray of float, shape (receivers,)
        Packets until the report that gives it away; inf: never.

    Raises
    ------
    VoipError
        For a probability outside 0 to 1, or no packets.

    Notes
    -----
    This is the parity of `echoed` for many receivers at once: a report is
    wrong if the guesses for what it hides have another parity than what was drawn.

    Examples
    --------
    >>> found_after(np.random.default_rng(1), 1000, 0.1, lies=[True, False]).tolist()
    [10.0, inf]
    """
    liar = np.atleast_1d(np.asarray(lies, dtype=bool))
    reports = -(-packets // each)
    hidden = rng.random((liar.size, reports, each)) < marked
    hidden &= np.arange(reports * each).reshape(reports, each) < packets
    hidden &= liar[:, None, None]
    drawn, guessed = rng.integers(0, 2, (2, *hidden.shape))
    wrong = ((drawn ^ guessed) & hidden).sum(axis=2) % 2 == 1
    first = np.minimum((np.argmax(wrong, axis=1) + 1) * each, packets)
    return np.where(wrong.any(axis=1), first, np.inf)

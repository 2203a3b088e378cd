"""CoAP on paper: how often a body crosses the network, and how long a message takes that may be lost.

RFC 7252, section 4.2: a confirmable message is sent again after 2 to 3 s, then after twice that, four times at most.
RFC 7959: a larger body goes in blocks, each of which waits for the answer to the one before it.
Derived in ``notebooks/transport/03_tcp_against_mqtt.ipynb``; `reference` has the steps to read.
"""

from __future__ import annotations

from voicewire._kit import checks

__all__ = [
    "BLOCK", "RANDOM_FACTOR", "REPEATS", "TIMEOUT", "WHOLE", "exchanges", "expected_delay", "failure", "given_up",
    "longest_wait",
]  # fmt: skip

TIMEOUT, RANDOM_FACTOR, REPEATS = 2.0, 1.5, 4
"""ACK_TIMEOUT (s), ACK_RANDOM_FACTOR and MAX_RETRANSMIT of RFC 7252, section 4.8."""
BLOCK, WHOLE = 1024, 1124
"""The largest block of RFC 7959 (bytes), and the largest body that aiocoap sends in one piece all the same."""


@checks.takes(size=checks.whole(0))
def exchanges(size: int) -> int:
    """Count the exchanges of one PUT, each of which takes a round trip."""
    return 1 if size <= WHOLE else -(-size // BLOCK)


@checks.takes(loss=checks.number(0, 1))
def failure(loss: float, known: bool = True) -> float:
    """Probability that one attempt fails."""
    return 1 - (1 - loss) ** 2 if known else loss


@checks.takes(loss=checks.number(0, 1), repeats=checks.whole(0, 20))
def given_up(loss: float, known: bool = True, repeats: int = REPEATS) -> float:
    """Probability that every attempt fails."""
    return float(failure(loss, known) ** (repeats + 1))


@checks.takes(loss=checks.number(0, 1), rtt=checks.number(0), repeats=checks.whole(0, 20))
def expected_delay(loss: float, rtt: float, known: bool = True, repeats: int = REPEATS) -> float:
    """Mean time of one confirmable message over a line that loses datagrams, s."""
    q = failure(loss, known)
    first = TIMEOUT * (1 + RANDOM_FACTOR) / 2
    waits = first * sum(2**k * q ** (k + 1) for k in range(repeats + 1))
    return (1 - given_up(loss, known, repeats)) * (rtt if known else rtt / 2) + waits


@checks.takes(timeout=checks.number(0), repeats=checks.whole(0, 20))
def longest_wait(timeout: float = TIMEOUT, repeats: int = REPEATS) -> float:
    """Longest time after which a sender gives up a message: MAX_TRANSMIT_WAIT of RFC 7252, section 4.8.2."""
    return timeout * (2 ** (repeats + 1) - 1) * RANDOM_FACTOR

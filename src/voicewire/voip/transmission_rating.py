"""R0 and Is of the E-model (ITU-T G.107), to read.

Clauses 7.2 and 7.3 of the recommendation, for a telephone whose loudness
may be chosen; what else it asks for stands at its default of clause 7.7.
Levels are in decibels, as the clause measures them. `emodel.planned` holds
the same for arrays.
"""

from __future__ import annotations

import math

__all__ = [
    "added",
    "circuit_noise",
    "loudness_cost",
    "quantising_cost",
    "sidetone_cost",
    "signal_to_noise",
]


def added(*levels: float) -> float:
    """The level of several noises together: their powers add."""
    return 10 * math.log10(sum(10 ** (level / 10) for level in levels))


def circuit_noise(
    ps: float, pr: float, slr: float = 8.0, rlr: float = 2.0
) -> float:
    """No: both rooms, the circuit and the noise floor, as on the line.

    Notes
    -----
    G.107, clause 7.2.
    """
    sent = ps - slr - 3 - 100 + 0.004 * (ps - slr - rlr - 3 - 14) ** 2
    heard = added(pr, pr + 10 - 18)  # the own microphone hears the room, too
    received = rlr - 121 + heard + 0.008 * (heard - 35) ** 2
    return added(-70, sent, received, -64 + rlr)


def signal_to_noise(no: float, slr: float = 8.0) -> float:
    """R0: what is left of 15 when talker and noise are compared.

    Notes
    -----
    G.107, clause 7.2.
    """
    return 15 - 1.5 * (slr + no)


def loudness_cost(no: float, slr: float = 8.0, rlr: float = 2.0) -> float:
    """Iolr: what a voice costs that comes too loud.

    Notes
    -----
    G.107, clause 7.3.
    """
    x = (slr + rlr + 0.2 * (64 + no - rlr)) / 8
    return 20 * ((1 + x**8) ** (1 / 8) - x)


def sidetone_cost(stmr: float = 15.0) -> float:
    """I_st: what the own voice costs in the own ear, without delay.

    Notes
    -----
    G.107, clause 7.3.
    """

    def knee(at: float, width: float, n: int) -> float:
        return float((1 + ((heard - at) / width) ** n) ** (1 / n))

    heard = -added(-stmr, -65)  # the other end's echo adds to it
    bends = 12 * knee(13, 6, 8) - 28 * knee(-1, 19.4, 35)
    return bends - 13 * knee(3, 33, 13) + 29


def quantising_cost(r0: float, units: float = 1.0) -> float:
    """Iq: what it costs to write a voice in eight bits, units times.

    Notes
    -----
    G.107, clause 7.3.
    """
    q = 37 - 15 * math.log10(units)
    g = 1.07 + 0.258 * q + 0.0602 * q**2
    y = (r0 - 100) / 15 + 46 / 8.4 - g / 9
    z = 46 / 30 - g / 40
    return 15 * math.log10(1 + 10**y + 10**z)

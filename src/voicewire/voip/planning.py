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
    """The level of several noises together: their powers add.

    Parameters
    ----------
    *levels : float
        Levels, dB.

    Returns
    -------
    float
        Their sum, dB.

    Examples
    --------
    >>> round(added(30.0, 30.0), 2)
    33.01
    """
    return 10 * math.log10(sum(10 ** (level / 10) for level in levels))


def circuit_noise(
    ps: float, pr: float, slr: float = 8.0, rlr: float = 2.0
) -> float:
    """No: both rooms, the circuit and the noise floor, as on the line.

    Parameters
    ----------
    ps, pr : float
        Noise in the room of the sender and of the receiver, dB(A).
    slr, rlr : float
        Send and receive loudness rating: what the telephones lose, dB.

    Returns
    -------
    float
        No, dBm0p.

    Notes
    -----
    G.107, clause 7.2. Chapter ``notebooks/voip/02_quality_and_playout``.

    Examples
    --------
    >>> round(circuit_noise(35.0, 35.0), 2)
    -61.18
    """
    sent = ps - slr - 3 - 100 + 0.004 * (ps - slr - rlr - 3 - 14) ** 2
    heard = added(pr, pr + 10 - 18)  # the own microphone hears the room, too
    received = rlr - 121 + heard + 0.008 * (heard - 35) ** 2
    return added(-70, sent, received, -64 + rlr)


def signal_to_noise(no: float, slr: float = 8.0) -> float:
    """R0: what is left of 15 when talker and noise are compared.

    Parameters
    ----------
    no : float
        Noise, dBm0p.
    slr : float
        Send loudness rating, dB.

    Returns
    -------
    float
        R0, in units of R.

    Notes
    -----
    G.107, clause 7.2. Chapter ``notebooks/voip/02_quality_and_playout``.

    Examples
    --------
    >>> signal_to_noise(-61.0)
    94.5
    """
    return 15 - 1.5 * (slr + no)


def loudness_cost(no: float, slr: float = 8.0, rlr: float = 2.0) -> float:
    """Iolr: what a voice costs that comes too loud.

    Parameters
    ----------
    no : float
        Noise, dBm0p.
    slr, rlr : float
        Send and receive loudness rating, dB.

    Returns
    -------
    float
        Iolr, in units of R.

    Notes
    -----
    G.107, clause 7.3. Chapter ``notebooks/voip/02_quality_and_playout``.

    Examples
    --------
    >>> round(loudness_cost(-61.18), 2)
    0.44
    """
    x = (slr + rlr + 0.2 * (64 + no - rlr)) / 8
    return 20 * ((1 + x**8) ** (1 / 8) - x)


def sidetone_cost(stmr: float = 15.0) -> float:
    """I_st: what the own voice costs in the own ear, without delay.

    Parameters
    ----------
    stmr : float
        Sidetone masking rating: how much weaker the own voice comes, dB.

    Returns
    -------
    float
        I_st, in units of R.

    Notes
    -----
    G.107, clause 7.3. Chapter ``notebooks/voip/02_quality_and_playout``.

    Examples
    --------
    >>> abs(sidetone_cost()) < 0.001, round(sidetone_cost(5.0), 2)
    (True, 4.19)
    """

    def knee(at: float, width: float, n: int) -> float:
        return float((1 + ((heard - at) / width) ** n) ** (1 / n))

    heard = -added(-stmr, -65)  # the other end's echo adds to it
    bends = 12 * knee(13, 6, 8) - 28 * knee(-1, 19.4, 35)
    return bends - 13 * knee(3, 33, 13) + 29


def quantising_cost(r0: float, units: float = 1.0) -> float:
    """Iq: what it costs to write a voice in eight bits, units times.

    Parameters
    ----------
    r0 : float
        R0.
    units : float
        Quantising distortion units: how often the voice is coded by G.711.

    Returns
    -------
    float
        Iq, in units of R.

    Notes
    -----
    G.107, clause 7.3. Chapter ``notebooks/voip/02_quality_and_playout``.

    Examples
    --------
    >>> round(quantising_cost(94.77), 2)
    0.97
    """
    q = 37 - 15 * math.log10(units)
    g = 1.07 + 0.258 * q + 0.0602 * q**2
    y = (r0 - 100) / 15 + 46 / 8.4 - g / 9
    z = 46 / 30 - g / 40
    return 15 * math.log10(1 + 10**y + 10**z)

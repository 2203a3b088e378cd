"""Checks of this part's exercises: feedback at once, a hint for the usual mistakes."""

from __future__ import annotations

from voicewire import exercises
from voicewire.exercises import Feedback
from voicewire.voip import emodel
from voicewire.voip.experiments import jain

__all__ = [
    "check_delay_budget",
    "check_fair_share",
    "check_first_x_recv",
    "check_floor",
    "check_mean_interval",
    "check_mos",
    "check_packets_after_idle",
    "check_playout_choice",
    "check_restart_window",
    "check_udp_r",
    "check_why_paired",
]


def check_mean_interval(answer: object) -> Feedback:
    """I_mean of eight equal intervals of 100 packets behind an open one of 20, in packets.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/voip/01_rate_control``.

    Examples
    --------
    >>> check_mean_interval(100)
    Right: 100 packets: the open interval is left out, because it would lower the mean.
    """
    return exercises.number(
        answer,
        100.0,
        unit="packets",
        hints={
            600.0: "the weights sum to 6: divide by them.",
            (20 + 500) / 6: "the open interval counts only if it raises the mean.",
            1320.0: "a weight of 8 is the thesis' misprint of 0.8, and the sum is not divided.",
        },
        right="100 packets: the open interval is left out, because it would lower the mean.",
    )


def check_first_x_recv(answer: object) -> Feedback:
    """X_recv after 1.5 s of silence, one packet of 20 bytes, RTT 100 ms, in bytes per second.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/voip/01_rate_control``.

    Examples
    --------
    >>> check_first_x_recv(20 / 1.5)
    Right: 13.33 B/s it is.
    """
    return exercises.number(
        answer,
        20 / 1.5,
        unit="B/s",
        hints={
            200.0: "the report divides by the larger of RTT and time since the last report.",
            20 / 1.6: "count from the last report to this one: 1.5 s.",
        },
    )


def check_packets_after_idle(answer: object) -> Feedback:
    """Round trips from one packet per RTT to five packets per RTT when the rate doubles each RTT.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/voip/01_rate_control``.

    Examples
    --------
    >>> check_packets_after_idle(3)
    Right: 3 it is.
    """
    return exercises.number(
        answer,
        3,
        0.01,
        hints={
            2.32: "a rate changes once per round trip: round up.",
            5.0: "it doubles, it doesn't add one.",
        },
    )


def check_restart_window(answer: object) -> Feedback:
    """Seconds of G.711 that RFC 3390's window of 4380 bytes holds.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/voip/01_rate_control``.

    Examples
    --------
    >>> check_restart_window(4380 / 8000)
    Right: 0.55 s: TCP stalls when the round trip is longer.
    """
    return exercises.number(
        answer,
        4380 / 8000,
        unit="s",
        hints={
            2920 / 8000: "that is RFC 2581's window of two segments.",
            4.38: "G.711 speaks 8000 bytes a second, not 1000.",
        },
        right="0.55 s: TCP stalls when the round trip is longer.",
    )


def check_udp_r(answer: object) -> Feedback:
    """R of G.729 over UDP without loss at 200 ms.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/voip/02_quality_and_playout``.

    Examples
    --------
    >>> check_udp_r(79.4)
    Not yet: above 177.3 ms a second slope comes in.
    """
    wrong = 94.2 - 10 - 0.024 * 200
    return exercises.number(
        answer,
        float(emodel.r_factor(200, 0.0, "G.729")),
        0.001,
        hints={
            wrong: "above 177.3 ms a second slope comes in.",
            wrong + 10: "G.729 costs λ1 = 10 from the start.",
        },
    )


def check_mos(answer: object) -> Feedback:
    """MOS at R = 80.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/voip/02_quality_and_playout``.

    Examples
    --------
    >>> check_mos(4.024)
    Right: 4.024: Table 4.2 prints 4.03.
    """
    return exercises.number(
        answer,
        float(emodel.mos(80)),
        0.0005,
        hints={
            4.03: "that is Table 4.2's entry; what does the equation give?",
        },
        right="4.024: Table 4.2 prints 4.03.",
    )


def check_delay_budget(answer: object) -> Feedback:
    """Longest one-way delay in ms at which loss-free G.711 stays at R ≥ 90 or better.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/voip/02_quality_and_playout``.

    Examples
    --------
    >>> check_delay_budget(175.0)
    Right: 175 ms it is.
    """
    return exercises.number(
        answer,
        4.2 / 0.024,
        0.005,
        unit="ms",
        hints={
            150.0: "150 ms is the usual advice; ask the equation.",
        },
    )


def check_playout_choice(answer: object) -> Feedback:
    """Why the talkspurts cannot be maximised one by one.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/voip/02_quality_and_playout``.

    Examples
    --------
    >>> check_playout_choice("b")
    Right: b it is.
    """
    return exercises.choice(
        answer,
        "b",
        {
            "a": "because delays of different talkspurts are correlated",
            "b": "because the loss that counts is that of the whole call",
            "c": "because the delay impairment is not linear",
        },
        hints={
            "a": "the argument holds for independent delays too.",
            "c": "that is why costs, not delays, are added; each talkspurt could still choose alone.",
        },
    )


def check_fair_share(answer: object) -> Feedback:
    """Jain's index of the shares 1, 1, 1 and 0.2.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/voip/03_reproduction``.

    Examples
    --------
    >>> check_fair_share(0.8)
    Not yet: that is the mean; Jain squares.
    """
    return exercises.number(answer, jain([1, 1, 1, 0.2]), hints={0.8: "that is the mean; Jain squares."})


def check_why_paired(answer: object) -> Feedback:
    """Should all transports carry the same words over the same losses?

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/voip/03_reproduction``.

    Examples
    --------
    >>> check_why_paired(True)
    Right: yes it is.
    """
    return exercises.choice(
        answer,
        True,
        hints={
            "no": "then a difference could come from the words alone; pairing takes that out.",
        },
    )


def check_floor(answer: object) -> Feedback:
    """Smallest floor, in packets a round trip, that carries G.729 at 150 ms one way as UDP does.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Notes
    -----
    Chapter ``notebooks/voip/03_reproduction``.

    Examples
    --------
    >>> check_floor(15)
    Right: 50 packets/s times a round trip of 0.3 s.
    """
    return exercises.number(
        answer,
        15,
        unit="packets a round trip",
        hints={
            8: "eight packets in 0.3 s are 27 a second, and the codec makes 50.",
            7.5: "the round trip is twice the one-way delay.",
        },
        right="50 packets/s times a round trip of 0.3 s.",
    )

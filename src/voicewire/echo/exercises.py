"""Checks of the exercises: each takes an answer and gives feedback at once."""

from __future__ import annotations

from voicewire.echo import paper
from voicewire.echo.measures import expected_tracking
from voicewire.exercises import Feedback, choice, number

__all__ = [
    "check_erle",
    "check_even_tap",
    "check_first_step",
    "check_floor",
    "check_memory",
    "check_nonunique",
    "check_passes",
    "check_rectifier",
    "check_shift",
    "check_sign",
    "check_tracking",
    "check_unknowns",
]


def check_erle(answer: object) -> Feedback:
    """Notebook 01: ERLE when the residual has a thousandth of the power.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Examples
    --------
    >>> check_erle(30.0)
    Right: A thousandth of the power is 30 dB.
    """
    return number(
        answer,
        30.0,
        unit="dB",
        hints={60.0: "That is 20 log10: for powers it is 10 log10."},
        right="A thousandth of the power is 30 dB.",
    )


def check_unknowns(answer: object) -> Feedback:
    """Notebook 01: real unknowns of stereo echo cancellation with L = 128.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Examples
    --------
    >>> check_unknowns(512)
    Right: Four paths of 128 taps; 2L complex taps hold as many reals.
    """
    return number(
        answer,
        512,
        0,
        hints={128: "That is one path; count the loudspeaker-microphone pairs.", 256: "Those are 2L complex numbers."},
        right="Four paths of 128 taps; 2L complex taps hold as many reals.",
    )


def check_rectifier(answer: object) -> Feedback:
    """Notebook 01: the left sample -0.5 after equation (14) with alpha_r = 0.4.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Examples
    --------
    >>> check_rectifier(-0.5)
    Right: The left channel only gains where it is positive.
    """
    return number(
        answer,
        -0.5,
        hints={-0.7: "That is the right channel's rule (15): left keeps its negative half.", 0.2: "The rule adds."},
        right="The left channel only gains where it is positive.",
    )


def check_nonunique(answer: object) -> Feedback:
    """Notebook 01: why stereo has no unique solution.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Examples
    --------
    >>> check_nonunique("b")
    Right: Both channels are filtered from one source: what one path loses, another can give.
    """
    return choice(
        answer,
        "b",
        "abc",
        hints={
            "a": "Noise blurs the solution but does not make it ambiguous.",
            "c": "Long filters are slow; the ambiguity is there at any length that covers the far-end room.",
        },
        right="Both channels are filtered from one source: what one path loses, another can give.",
    )


def check_even_tap(answer: object) -> Feedback:
    """Notebook 02: the even tap of LL = RR = 1, LR = RL = 0.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Examples
    --------
    >>> check_even_tap(1.0)
    Right: Two equal direct paths need x only, not x*.
    """
    return number(
        answer,
        1.0,
        hints={2.0: "The sum is halved.", 0.0: "That is the odd tap: it vanishes when both sides are alike."},
        right="Two equal direct paths need x only, not x*.",
    )


def check_first_step(answer: object) -> Feedback:
    """Notebook 02: the step DCD takes for |v| = 3, R_pp = 10, H = 1.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Examples
    --------
    >>> check_first_step(0.5)
    Right: With alpha = 1/2 the test 3 > 2.5 passes at once.
    """
    return number(
        answer,
        0.5,
        hints={
            0.3: "That is the exact step v/R_pp: DCD takes a power of two.",
            0.25: "alpha/2 R_pp = 2.5 < 3 already.",
        },
        right="With alpha = 1/2 the test 3 > 2.5 passes at once.",
    )


def check_shift(answer: object) -> Feedback:
    """Notebook 02: bits to shift for lambda = 1 - 1/(64*128).

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Examples
    --------
    >>> check_shift(13)
    Right: 8192 = 2^13.
    """
    return number(answer, 13, 0, hints={8192: "That is KL itself; which power of two is it?"}, right="8192 = 2^13.")


def check_memory(answer: object) -> Feedback:
    """Notebook 02: memory of Figure 1 in seconds at 8 kHz.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Examples
    --------
    >>> check_memory(1.024)
    Right: K L samples: the weight falls by e in about a second.
    """
    setting = paper.FIGURE_1
    return number(
        answer,
        setting.memory * setting.length / paper.RATE,
        unit="s",
        hints={8192.0: "That is in samples."},
        right="K L samples: the weight falls by e in about a second.",
    )


def check_tracking(answer: object) -> Feedback:
    """Notebook 03: expected samples to -20 dB for L = 128, K = 64, N_it = 3.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Examples
    --------
    >>> check_tracking(8180)
    Right: The error starts at +6 dB, then falls 8.7 dB in each K L/N_it samples.
    """
    return number(
        answer,
        expected_tracking(128, 64, 3),
        0.02,
        hints={expected_tracking(128, 64, 1): "That is for one pass: divide by N_it."},
        right="The error starts at +6 dB, then falls 8.7 dB in each K L/N_it samples.",
    )


def check_floor(answer: object) -> Feedback:
    """Notebook 03: expected rise of the floor with N_it = 4.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Examples
    --------
    >>> check_floor(6.02)
    Right: 10 log10 4.
    """
    return number(
        answer, 6.02, 0.01, unit="dB", hints={12.04: "That is 20 log10; the floor is a power."}, right="10 log10 4."
    )


def check_passes(answer: object) -> Feedback:
    """Notebook 03: share of the remaining time that going from 3 to 5 passes saves at best.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Examples
    --------
    >>> check_passes(0.4)
    Right: 1 - 3/5.
    """
    return number(
        answer, 0.4, 0.02, hints={0.6: "That is what remains.", 2 / 15: "Relative to one pass."}, right="1 - 3/5."
    )


def check_sign(answer: object) -> Feedback:
    """Notebook 03: which sign equation (12) needs.

    Parameters
    ----------
    answer : object
        The answer of a student.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Examples
    --------
    >>> check_sign("minus")
    Right: What the taps gain, the error loses.
    """
    return choice(
        answer,
        "minus",
        ("plus", "minus"),
        hints={"plus": "As printed; put g + Delta g into e = d - g^H x and expand."},
        right="What the taps gain, the error loses.",
    )

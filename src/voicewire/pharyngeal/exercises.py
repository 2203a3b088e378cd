"""Feedback for the exercises of the pharyngeal part; the notebook of each is in its docstring."""

from __future__ import annotations

from typing import Any

import numpy as np

from voicewire.exercises import Feedback, choice, number
from voicewire.pharyngeal import correlation, derived, paper, reference, tract, tube

__all__ = [
    "check_ceiling",
    "check_components",
    "check_elevation",
    "check_false_alarms",
    "check_first_contact",
    "check_lobanov",
    "check_location_range",
    "check_missing_token",
    "check_needed_rise",
    "check_percent",
    "check_quarter_wave",
    "check_rmse",
    "check_same_vowel",
    "check_sd",
    "check_strongest_knob",
    "check_tract_length",
    "check_without_leverage",
]


def check_quarter_wave(answer: object) -> Feedback:
    """F1 of a uniform tube of 16 cm, Hz (``01_tract_to_formants``).

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
    >>> bool(check_quarter_wave(35_300 / 64))
    True
    """
    right = float(tube.uniform(16.0, 1)[0])
    return number(
        answer,
        right,
        unit="Hz",
        hints={2 * right: "That is a half-wave: one end of the tract is closed, so only a quarter of a wave fits."},
    )


def check_tract_length(answer: object) -> Feedback:
    """Length (cm) of the uniform tube with the paper's plain F3 (``01_tract_to_formants``).

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
    >>> bool(check_tract_length(5 * 35_300 / (4 * 2485.809)))
    True
    """
    f3 = float(paper.TEXT_PLAIN["F3"])
    right = 5 * reference.SPEED / (4 * f3)
    return number(
        answer,
        right,
        unit="cm",
        hints={
            right / 5: "That would be so if this were F1; F3 is five times F1 in a uniform tube.",
            right * 3 / 5: "Three quarter-waves are F2; F3 has five.",
        },
    )


def check_strongest_knob(answer: object) -> Feedback:
    """Which articulator lowers F2 most for one tenth of its range (``01_tract_to_formants``).

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
    >>> bool(check_strongest_knob("body"))
    True
    """
    return choice(
        answer,
        "body",
        ("body", "jaw", "larynx", "lips"),
        hints={
            "larynx": "Raising the larynx shortens the tract: F2 rises.",
            "lips": "Rounding lowers F2 too, but by less for a tenth of the range.",
            "jaw": "Move the jaw alone, and look at F1 and F2 separately.",
        },
    )


def check_same_vowel(answer: object) -> Feedback:
    """Two configurations with nearly the same F1 and F2, from different bodies (``01_tract_to_formants``).

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
    >>> bool(check_same_vowel((tract.Articulation(), tract.Articulation())))
    False
    """
    try:
        first: Any
        second: Any
        first, second = answer  # type: ignore[misc]
        pair = [tract.formants(item).frequencies[:2] for item in (first, second)]
    except (TypeError, ValueError, AttributeError):
        return Feedback(False, "Give two Articulation objects, as a tuple or a list.")
    if abs(first.root - second.root) < 0.3 and abs(first.body - second.body) < 0.3:
        return Feedback(False, "The two tongues are nearly the same; let root or body differ by at least 0.3.")
    gap = np.max(np.abs(pair[0] / pair[1] - 1))
    if gap > 0.03:
        return Feedback(False, f"Their F1 or F2 differ by {100 * gap:.1f} %; bring both within 3 %.")
    return Feedback(True, f"Two tongues, one vowel: F1 and F2 agree within {100 * gap:.1f} %.")


def check_rmse(answer: object, errors: Any) -> Feedback:
    """Root mean square error of F1 (Hz) from an array of errors, shape (n, 4) (``02_formants``).

    Parameters
    ----------
    answer : object
        The answer of a student.
    errors : ndarray of float, shape (n, 4)
        From `validation.errors`, Hz.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Examples
    --------
    >>> bool(check_rmse(5.0, np.array([[3.0, 0, 0, 0], [4.0, 0, 0, 0]]) * 2**0.5))
    True
    """
    first = np.asarray(errors, dtype=float)[:, 0]
    right = float(np.sqrt(np.nanmean(first**2)))
    return number(
        answer,
        right,
        unit="Hz",
        hints={
            float(np.nanmean(first)): "That is the mean error, the bias; square before the mean, root after it.",
            float(np.nanstd(first)): "That is the scatter about the bias; the bias belongs to the error too.",
            right**2: "The root is missing.",
        },
    )


def check_ceiling(answer: object) -> Feedback:
    """Ceiling (Hz) for five formants of a 17 cm tract: between F5 and F6 of the uniform tube (``02_formants``).

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
    >>> bool(check_ceiling(5190))
    True
    """
    f = tube.uniform(17.0, 6)
    found = number(answer, float((f[4] + f[5]) / 2), tolerance=0.09, unit="Hz")
    return found if found else Feedback(False, f"{found.message} It must leave F5 ({f[4]:.0f} Hz) below it, F6 above.")


def check_false_alarms(answer: object) -> Feedback:
    """Share of studies with at least one false alarm among four formants tested at 5 % (``02_formants``).

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
    >>> bool(check_false_alarms(1 - 0.95**4))
    True
    """
    return number(
        answer,
        1 - 0.95**4,
        tolerance=0.01,
        hints={0.2: "Nearly: four times 5 % counts the studies with two false alarms twice.", 0.05: "For one test."},
    )


def check_lobanov(answer: object) -> Feedback:
    """F2 of 1400 Hz in Lobanov's units, for a speaker with mean 1600 and SD 250 Hz (``02_formants``).

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
    >>> bool(check_lobanov(-0.8))
    True
    """
    return number(answer, -0.8, hints={0.8: "The vowel lies below the speaker's mean.", -200.0: "Divide by the SD."})


def check_elevation(answer: object) -> Feedback:
    """Rise (cm) of the larynx during /ʕ/ in /ʕtˁah/ (``03_articulators``).

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
    >>> bool(check_elevation(6.1732 - 4.6995))
    True
    """
    right = float(paper.cell(1, "rest", "larynx")) - float(paper.cell(1, "ayn", "larynx"))
    hints = {float(paper.cell(1, "ayn", "larynx")): "That is the depth below the incisor; compare it with rest."}
    return number(answer, right, tolerance=0.002, unit="cm", hints=hints)


def check_first_contact(answer: object) -> Feedback:
    """Location (cm) by the first-contact rule, of contacts at 7.0, 1.2 and 1.9 cm (``03_articulators``).

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
    >>> bool(check_first_contact(1.2))
    True
    """
    return number(
        answer,
        1.2,
        tolerance=0.001,
        unit="cm",
        hints={7.0: "The most anterior contact counts: the one nearest to the incisor.", 1.9: "There is one in front."},
    )


def check_location_range(answer: object) -> Feedback:
    """Which of the paper's two numbers a tracing error spoils: opening or location (``03_articulators``).

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
    >>> bool(check_location_range("location"))
    True
    """
    return choice(
        answer,
        "location",
        ("opening", "location"),
        hints={"opening": "The least distance moves only as much as the contour; where it is reached may jump."},
    )


def check_components(answer: object, explained: Any) -> Feedback:
    """How many components explain at least 95 % (``03_articulators``).

    Parameters
    ----------
    answer : object
        The answer of a student.
    explained : array_like of float
        Share of the variance of each component.

    Returns
    -------
    Feedback
        Whether it is right, and a sentence.

    Examples
    --------
    >>> bool(check_components(2, [0.8, 0.18, 0.02]))
    True
    """
    right = int(np.searchsorted(np.cumsum(np.asarray(explained, dtype=float)), 0.95)) + 1
    return number(answer, right, tolerance=0.001, hints={right - 1: "That many stay below 95 %."})


def check_sd(answer: object) -> Feedback:
    """Sample SD (cm) of the larynx over the two plain /tˁ/ tokens (``04_reproduction``).

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
    >>> bool(check_sd(np.std([5.5298, 5.9345], ddof=1)))
    True
    """
    values = paper.tokens(1, "larynx", "tt")
    two = [values["tt-ttuttina"], values["tt-ttwajen"]]
    return number(
        answer,
        float(np.std(two, ddof=1)),
        unit="cm",
        hints={
            0.654: "That is what the paper prints: the SD of three tokens.",
            float(np.std(two)): "That divides by n; a sample SD divides by n - 1.",
        },
    )


def check_missing_token(answer: object) -> Feedback:
    """The unlisted hyoid position (cm) that makes the printed mean of /a/ true over seven (``04_reproduction``).

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
    >>> bool(check_missing_token(7 * 3.6123 - sum(paper.tokens(1, "hyoid", "a").values())))
    True
    """
    listed = list(paper.tokens(1, "hyoid", "a").values())
    right = 7 * float(paper.cell(1, "a-mean", "hyoid")) - sum(listed)
    return number(answer, right, tolerance=5e-4, unit="cm", hints={3.6123: "That is the mean; solve it for the token."})


def check_percent(answer: object) -> Feedback:
    """By how many percent 0.987 cm is more than 0.542 cm (``04_reproduction``).

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
    >>> bool(check_percent(100 * (0.987 - 0.542) / 0.542))
    True
    """
    return number(
        answer,
        100 * (0.987 - 0.542) / 0.542,
        unit="%",
        hints={100 * (0.987 - 0.542) / 0.987: "That divides by the larger value, as the paper did."},
    )


def check_without_leverage(answer: object) -> Feedback:
    """Correlation of larynx rise and F1 without the token of highest leverage (``04_reproduction``).

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
    >>> _, rise, f1 = derived.larynx_f1()
    >>> worst = int(np.argmax(correlation.leverage(rise)))
    >>> bool(check_without_leverage(correlation.leave_one_out(rise, f1)[worst]))
    True
    """
    _, rise, f1 = derived.larynx_f1()
    worst = int(np.argmax(correlation.leverage(rise)))
    right = float(correlation.leave_one_out(rise, f1)[worst])
    return number(
        answer, right, tolerance=0.03, hints={correlation.pearson(rise, f1): "That is with all six; leave one out."}
    )


def check_needed_rise(answer: object) -> Feedback:
    """Sign of the F2 change when the larynx rises (``04_reproduction``).

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
    >>> bool(check_needed_rise("rises"))
    True
    """
    return choice(
        answer,
        "rises",
        ("rises", "falls"),
        hints={"falls": "A raised larynx shortens the tract; what does a shorter tube do to all its resonances?"},
    )

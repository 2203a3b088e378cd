"""Feedback for the exercises of the first two chapters on vowels: the tract, and measuring formants.

Each `check_…` takes whatever a student hands over and returns a `Feedback`; `None` means not answered yet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from voicewire.pharyngeal import reference, tract
from voicewire.pharyngeal.tract import Articulation
from voicewire_book.chapters.pharyngeal._student import value
from voicewire_book.chapters.pharyngeal.drawn import ORDER, QUARTER
from voicewire_book.kit.exercises import UNANSWERED, Feedback, Mistakes, choice, formula, number, unanswered

__all__ = [
    "check_agree",
    "check_burg",
    "check_ceiling",
    "check_closed",
    "check_false_alarms",
    "check_harmonic",
    "check_lobanov",
    "check_middle",
    "check_order",
    "check_perturbation",
    "check_quarter_wave",
    "check_rmse",
    "check_same_vowel",
    "check_share",
    "check_strongest_knob",
    "check_tract_length",
    "check_two_tubes",
]


def check_quarter_wave(answer: object, seed: int | None = None) -> Feedback:
    """How many resonances of a uniform tube of 15 cm lie below 8 kHz."""
    return QUARTER.own(seed).check(answer)


def check_two_tubes(answer: object) -> Feedback:
    """Hertz between F1 and F2 of two tubes of 8.825 cm, the front one three times as wide."""
    cycle = reference.SPEED / 8.825 / 360  # Hz for a degree of kl
    bare = math.degrees(math.atan(3))
    hints = {
        cycle * 120: "you have exchanged the areas: the wide tube is in front, as in [a].",
        cycle * (180 - 2 * bare): "the tangent is squared: take the root of the ratio first.",
        cycle * 90: "this is the uniform tube of both lengths; the areas differ.",
        cycle * 30: "the length in kl is that of one tube, not of both.",
    }
    right = "kl is 60° and 120°: F1 is 667 Hz, F2 1333 Hz."
    return number(answer, cycle * 60, 0.005, unit="Hz", hints=hints, right=right)


def check_tract_length(answer: object) -> Feedback:
    """A function formants (Hz) -> length (cm) of the uniform tube that fits best by least squares."""

    def odd(formants: Sequence[float]) -> np.ndarray:
        return 2 * np.arange(len(formants)) + 1.0

    def right(formants: Sequence[float]) -> float:
        m = odd(formants)
        return float(reference.SPEED / 4 * (m @ m) / (m @ np.asarray(formants)))

    quarter = reference.SPEED / 4
    mistakes: Mistakes = [
        (lambda f: quarter / f[0], "this fits F1 alone; the others count too."),
        (lambda f: quarter * np.mean(odd(f) / f), "the mean of one length a formant: the squares are of hertz."),
        (lambda f: quarter / np.mean(f / odd(f)), "you average F over 2n - 1: so 1 Hz counts most in F1."),
        (lambda f: quarter * odd(f).sum() / np.sum(f), "the sums agree so; set the derivative of the squares to zero."),
        (lambda f: quarter * 2 * (len(f) - 1) / (f[-1] - f[0]), "the mean spacing: only two formants count."),
    ]
    cases = [([520.0, 1480.0, 2600.0],), ([600.0, 1900.0, 2900.0, 4300.0],), ([450.0, 1500.0],)]
    said = "c/4 times the sum of (2n - 1)², over the sum of (2n - 1) F_n."
    return formula(answer, right, cases, mistakes, right=said)


def check_perturbation(answer: object) -> Feedback:
    """A function n, a, b, e -> relative change of F_n: a uniform tube is narrowed by the share e from a to b."""

    def right(n: int, a: float, b: float, e: float) -> float:
        m = (2 * n - 1) * math.pi
        return e * (math.sin(m * b) - math.sin(m * a)) / m

    def every(n: int, a: float, b: float, e: float) -> float:
        return e * (math.sin(n * math.pi * b) - math.sin(n * math.pi * a)) / (n * math.pi)

    mistakes: Mistakes = [
        (
            lambda *x: -right(*x),
            "the sign: narrower is a negative change, a minus stands before it, and x begins at the glottis.",
        ),
        (lambda *x: (2 * x[0] - 1) * math.pi * right(*x), "the integral of cos kx is sin kx over k."),
        (every, "the wave of F_n has 2n - 1 quarters, not n."),
        (lambda n, a, b, e: e * (b - a), "where the narrowing lies counts: integrate the cosine."),
    ]
    cases = [(1, 0.1, 0.3, 0.1), (2, 0.2, 0.9, 0.05), (3, 0.0, 0.45, -0.1), (2, 0.5, 0.6, 0.2)]
    return formula(answer, right, cases, mistakes, right="e (sin mb - sin ma) / m with m = (2n - 1) π.")


def check_strongest_knob(answer: object) -> Feedback:
    """Which articulator lowers F2 most for one tenth of its range."""
    return choice(
        answer,
        "body",
        ("body", "jaw", "larynx", "lips"),
        hints={
            "larynx": "Raising the larynx shortens the tract: F2 rises; lowered, it takes off less than another knob.",
            "lips": "Rounding lowers F2 too, but by less for a tenth of the range.",
            "jaw": "Move the jaw alone, and look at F1 and F2 separately.",
        },
        right="body: drawn back by a tenth, it takes some 90 Hz off F2.",
    )


def check_share(answer: object) -> Feedback:
    """What "both signs in 82 % of shapes drawn at random" does not say."""
    hints = {
        "a": "is a shape that a generator drew a speaker? Which tongues does /a/ use?",
        "c": "of 200 shapes the share is known to some 5 %: more shapes would make it no share of speakers.",
        "d": "the larynx was moved too: it never gave both signs, and the root's share doesn't ask for it.",
    }
    right = "it is a share of the model's shapes, drawn evenly; nobody's vowels are."
    return choice(answer, "b", ["a", "b", "c", "d"], hints=hints, right=right)


def _shut(areas: Sequence[float], lengths: Sequence[float]) -> float:
    """Lowest resonance of a hard tract that is closed at both ends, Hz."""

    def flow(f: float) -> float:
        chain = np.eye(2)
        for area, length in zip(areas, lengths, strict=True):
            chain = chain @ reference.section(area, length, 2j * np.pi * f, 1.0)
        return float(chain[1, 0].imag)

    low = 1.0
    while flow(low) * flow(low + 20) > 0:
        low += 20
    return reference.bisect(flow, low, low + 20)


def check_closed(answer: object) -> Feedback:
    """A function areas, lengths -> lowest resonance (Hz, above 20) of a hard tract that is closed at both ends."""
    mistakes: Mistakes = [
        (lambda a, x: reference.resonances(a, x, 1)[0], "this one is open at the lips: at a closed end u = 0, not p."),
        (lambda a, x: 2 * reference.resonances(a, x, 1)[0], "twice the open F1: right for a uniform tube only."),
        (lambda a, x: reference.SPEED / (2 * sum(x)), "right for a uniform tube; where it is narrow counts."),
        (lambda a, x: 2 * _shut(a, x), "this is the double; where does your search begin?"),
    ]
    cases = [([4.0], [17.65]), ([1.0, 7.0], [9.0, 8.0]), ([3.0, 0.5, 5.0], [8.0, 3.0, 6.0])]
    said = "with u = 0 at the lips, the lower left element is what must be zero."
    return formula(answer, _shut, cases, mistakes, 1e-3, right=said)


def check_same_vowel(answer: object) -> Feedback:
    """Two configurations with nearly the same F1 and F2, from different tongues."""
    if unanswered(answer):
        return UNANSWERED
    first: object
    second: object
    try:
        first, second = answer  # type: ignore[misc]
    except Exception:  # not iterable, not two, or an object of the student's own
        return Feedback(False, "Give two Articulation objects, as a tuple or a list.")
    if not isinstance(first, Articulation) or not isinstance(second, Articulation):
        return Feedback(False, "Give two Articulation objects, as a tuple or a list.")
    if abs(first.root - second.root) < 0.3 and abs(first.body - second.body) < 0.3:
        return Feedback(False, "The two tongues are nearly the same; let root or body differ by at least 0.3.")
    try:
        pair = [tract.formants(each).frequencies[:2] for each in (first, second)]
    except ValueError as error:
        return Feedback(False, f"No tongue reaches so far: {error}.")
    gap = float(np.max(np.abs(pair[0] / pair[1] - 1)))
    if not gap <= 0.03:
        return Feedback(False, f"Their F1 or F2 differ by {100 * gap:.1f} %; bring both within 3 %.")
    return Feedback(True, f"Two tongues, one vowel: F1 and F2 agree within {100 * gap:.1f} %.")


def check_lobanov(answer: object) -> Feedback:
    """The lowest of the F2 2100, 1500, 900 and 1500 Hz in Lobanov's units, by the sample SD."""
    sample = math.sqrt(240_000)
    hints = {
        600 / sample: "the vowel lies below the speaker's mean.",
        -600 / math.sqrt(180_000): "this divides by n; a sample SD divides by n - 1.",
        -600.0: "this is the distance from the mean in Hz; divide by the SD.",
        -600 / 240_000: "this divides by the variance; its root is the SD.",
        900 / sample: "take the mean off first.",
    }
    return number(answer, -600 / sample, 0.005, hints=hints, right="600 Hz below the mean, with an SD of 490 Hz.")


def check_burg(answer: object) -> Feedback:
    """The second k of Burg's method for x = (1, 2, 1)."""
    hints = {
        -0.8: "this is the first k; update f and b with it, and go on.",
        0.8: "f_t meets b one sample earlier: drop the first of f and the last of b.",
        1.0: "the size is right; look at the minus in the formula for k.",
        -0.5: "there is a 2 in the formula for k: both errors count.",
        0.048 / 0.3616: "both updates use the old f and b.",
    }
    right = "the filter is now 1, 0, -1: each sample is the one but one before, and that is what (1, 2, 1) does."
    return number(answer, -1, 1e-3, hints=hints, right=right)


def check_order(answer: object, seed: int | None = None) -> Feedback:
    """Order of prediction for a tract of 13 cm, recorded at 16 000 samples a second."""
    return ORDER.own(seed).check(answer)


def check_ceiling(answer: object) -> Feedback:
    """A function L, n -> ceiling (Hz) half-way between formants n and n + 1 of a uniform tube of L cm."""
    c = reference.SPEED
    mistakes: Mistakes = [
        (lambda L, n: (2 * n - 1) * c / (4 * L), "this is formant n itself: noise may put it above the ceiling."),
        (lambda L, n: (2 * n + 1) * c / (4 * L), "this is formant n + 1: the tracker would find it."),
        (lambda L, n: n * c / (4 * L), "the formants are odd multiples of c / 4L: n comes to about half as high."),
        (lambda L, n: (n - 1) * c / (2 * L), "one too few: half-way between n - 1 and n."),
    ]
    cases = [(17.0, 5), (13.0, 5), (17.5, 4), (11.0, 3)]
    said = "n c / 2L: half a wave of the ceiling for each formant below it."
    return formula(answer, lambda L, n: n * c / (2 * L), cases, mistakes, right=said)


def check_false_alarms(answer: object) -> Feedback:
    """A function n, alpha -> level of each of n independent tests, so that a share alpha has a false alarm."""
    mistakes: Mistakes = [
        (lambda n, a: a / n, "safe, but not exact: it counts studies with two false alarms twice."),
        (lambda n, a: 1 - (1 - a) ** n, "the other way round: this is the share if each is tested at alpha."),
        (lambda n, a: a ** (1 / n), "so if all n must be false alarms; one is enough."),
        (lambda n, a: (1 - a) ** (1 / n), "so probably a test stays silent; its level is the rest."),
    ]
    cases = [(4, 0.05), (1, 0.05), (24, 0.05), (10, 0.01)]
    said = "all n stay silent with (1 - level)^n = 1 - alpha."
    return formula(answer, lambda n, alpha: 1 - (1 - alpha) ** (1 / n), cases[:1] + cases[2:], mistakes, right=said)


def check_agree(answer: object) -> Feedback:
    """What it says of the truth that two trackers agree."""
    hints = {
        "a": "their codes are independent; are their assumptions?",
        "c": "a small bandwidth says that the pole rings for long, not that it lies at the right place.",
        "d": "it does say something: an error that only one of them makes would show.",
    }
    right = "what both take for granted (ceiling, order, poles only) they also get wrong together."
    return choice(answer, "b", ["a", "b", "c", "d"], hints=hints, right=right)


def check_harmonic(answer: object) -> Feedback:
    """RMS error of a tracker that gives the nearest harmonic, F0 240 Hz."""
    f0 = 240.0
    hints = {
        f0 / 2: "that is the largest error; most are smaller.",
        f0 / 4: "that is the mean of the absolute error; square before you average.",
        f0**2 / 12: "this is the mean square, in Hz squared: take its root.",
        f0 / math.sqrt(3): "the nearest harmonic is at most half of F0 away, not all of it.",
    }
    right = "F0 over the root of 12, as for a number that is rounded to steps of F0."
    return number(answer, f0 / math.sqrt(12), unit="Hz", hints=hints, right=right)


def check_rmse(answer: object, errors: ArrayLike) -> Feedback:
    """Share of the mean square error of F2 that is bias, with Praat's default settings."""
    second = np.asarray(errors, dtype=float)[:, 1]
    share = float(np.nanmean(second) ** 2 / np.nanmean(second**2))
    hints = {
        math.sqrt(share): "this compares bias and RMSE; squares add up, so compare squares.",
        1 - share: "this is the share of the scatter.",
        math.sqrt(1 - share): "this compares the scatter and the RMSE: compare squares, and take the other part.",
        float(np.nanmean(second)): "this is the bias, in Hz; a share is asked.",
    }
    right = "the square of the mean, over the mean of the squares."
    return number(answer, share, 0.01, hints=hints, right=right)


_FRAMES: list[tuple[list[float], list[float]]] = [
    ([1300.0, 1310.0, 2500.0, 1290.0, 1295.0], [80.0, 90.0, 100.0, 70.0, 60.0]),
    ([1300.0, 1310.0, 2500.0, 1290.0, 1200.0], [80.0, 90.0, 100.0, 70.0, 700.0]),
    ([1500.0, 1420.0, 1440.0], [601.0, 60.0, 599.0]),
]
_UNFOUND: list[tuple[list[float], list[float]]] = [([math.nan, 1400.0, 1420.0], [50.0, 50.0, 60.0])]


def check_middle(answer: object) -> Feedback:
    """A function frequencies, bandwidths -> median (Hz) of the frames no wider than 600 Hz; NaN if there is none."""

    def median(f: Sequence[float], b: Sequence[float], widest: float = 600.0) -> float:
        return float(np.median([x for x, width in zip(f, b, strict=True) if width <= widest and math.isfinite(x)]))

    mistakes: Mistakes = [
        (lambda f, b: median(f, b, math.inf), "poles wider than 600 Hz count here."),
        (
            lambda f, b: np.mean([x for x, w in zip(f, b, strict=True) if w <= 600]),
            "a mean goes with a single bad frame.",
        ),
        (lambda f, b: np.mean(f), "a mean goes with a single bad frame, and wide poles count here."),
    ]
    found = formula(answer, median, _FRAMES, mistakes)
    if not found:
        return found
    if math.isnan(value(answer, _UNFOUND[0])):
        return Feedback(False, "where a frame has found nothing its frequency is NaN: leave it out.")
    found = formula(answer, median, _UNFOUND, [])
    if not found:
        return found
    for nothing in (([1300.0, 1400.0], [900.0, 700.0]), ([], [])):
        try:
            left = float(answer(*nothing))  # type: ignore[operator]
        except Exception as error:  # whatever a student's code may raise
            return Feedback(False, f"where no frame is left it raises {type(error).__name__}: give NaN.")
        if not math.isnan(left):
            return Feedback(
                False, f"no frame is left, and yet it gives {left:g} Hz: give NaN, not a number out of nothing."
            )
    return Feedback(True, "one bad frame moves it by little, and nothing gives NaN.")

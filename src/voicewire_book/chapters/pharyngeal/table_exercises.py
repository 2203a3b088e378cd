"""Feedback for the exercises of the chapters on articulators and on the paper's tables.

Each `check_…` takes whatever a student hands over and returns a `Feedback`; `None` means not answered yet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from voicewire.pharyngeal import correlation, table_forensics
from voicewire_book.chapters.pharyngeal.drawn import CROSSING, RISE
from voicewire_book.kit.exercises import UNANSWERED, Feedback, Mistakes, choice, formula, function, number, unanswered

__all__ = [
    "check_change",
    "check_components",
    "check_count",
    "check_crossing",
    "check_cut",
    "check_elevation",
    "check_family",
    "check_first_contact",
    "check_frames",
    "check_least",
    "check_location_range",
    "check_missing_token",
    "check_needed_rise",
    "check_pairings",
    "check_percent",
    "check_sd",
    "check_without_leverage",
]


def check_elevation(answer: object) -> Feedback:
    """Rise (cm) of the larynx from 7.20 to 7.10 cm, while the incisor moves from 0.90 to 1.30 cm."""
    hints = {
        0.1: "the head has moved too: take each depth from the incisor of its own frame.",
        -0.5: "depths grow downwards, elevations upwards: rest minus frame.",
        -0.3: "the head went down by 0.4 cm and took the larynx along: which way is that put right?",
        5.8: "this is the depth below the incisor; compare it with rest.",
        0.4: "by so much the incisor has moved; and the larynx, seen from it?",
    }
    return number(answer, 0.5, 1e-3, unit="cm", hints=hints, right="6.30 cm below the incisor at rest, 5.80 now.")


def check_first_contact(answer: object) -> Feedback:
    """Location (cm) by the paper's rule: 0.35, 0.02, 0.01 and 0.30 cm of distance at 1.2, 1.9, 7.0 and 12.4 cm."""
    hints = {
        7.0: "here the distance is least; but where the tongue touches, the most anterior contact counts.",
        1.2: "most anterior of all places, but the tongue doesn't touch there.",
        0.02: "this is the distance; the location is asked.",
        0.01: "this is the distance; the location is asked, and of the first contact.",
        4.45: "the rule takes the first contact, not the middle of them.",
    }
    return number(answer, 1.9, 1e-3, unit="cm", hints=hints, right="1.9 cm: the first of two contacts.")


def check_crossing(answer: object, seed: int | None = None) -> Feedback:
    """Distance (cm) along the grid line from (1, 0) in direction (0.6, 0.8) to the contour from (2, 5) to (6, 3)."""
    return CROSSING.own(seed).check(answer)


def check_least(answer: object) -> Feedback:
    """A function d0, bend, error, slope -> opening that is measured near a minimum with a tracing error."""
    mistakes: Mistakes = [
        (lambda d, k, e, s: d + e, "this is the distance at the old place; the least one lies beside it."),
        (
            lambda d, k, e, s: d + e + s * s / (2 * k),
            "the sign: the least can't lie above the distance at the old place.",
        ),
        (lambda d, k, e, s: d + e - s * s / k, "the parabola rises at the new place: half of it comes back."),
        (lambda d, k, e, s: d - s * s / (2 * k), "the error at the old place counts too."),
        (lambda d, k, e, s: -s / k, "this is the shift of the location; put it into the distance."),
    ]
    cases = [(0.5, 0.4, 0.02, 0.03), (0.3, 0.05, -0.01, 0.02), (0.6, 1.2, 0.0, -0.1)]
    said = "d0 + error - slope² / (2 bend): traced openings are too small on average."

    def least(d0: float, bend: float, error: float, slope: float) -> float:
        return d0 + error - slope * slope / (2 * bend)

    return formula(answer, least, cases, mistakes, right=said)


def check_frames(answer: object) -> Feedback:
    """A function between, within, tokens, frames -> standard error (cm) of a context's mean."""
    mistakes: Mistakes = [
        (
            lambda b, w, t, f: math.sqrt((b * b + w * w) / (t * f)),
            "so it would be if each frame were a word of its own.",
        ),
        (
            lambda b, w, t, f: math.sqrt((b * b + w * w) / t),
            "a token's mean is over its frames: their scatter shrinks.",
        ),
        (lambda b, w, t, f: b / math.sqrt(t), "and the scatter of the frames within a token?"),
        (lambda b, w, t, f: b * b / t + w * w / (t * f), "this is the variance of the mean; its root is asked."),
        (lambda b, w, t, f: b / math.sqrt(t) + w / math.sqrt(t * f), "variances add up, standard deviations don't."),
    ]
    cases = [(0.25, 0.03, 3, 5), (0.1, 0.2, 4, 2), (0.02, 0.3, 6, 10)]
    said = "√(between² / tokens + within² / (tokens · frames)): only more tokens help against the first."

    def error(between: float, within: float, tokens: int, frames: int) -> float:
        return math.sqrt(between**2 / tokens + within**2 / (tokens * frames))

    return formula(answer, error, cases, mistakes, right=said)


def check_location_range(answer: object) -> Feedback:
    """Which of two minima gives a location to trust: 0.5 cm with a bend of 0.4, or 0.1 cm with 0.02 a cm."""
    hints = {
        "a": "how narrow it is moves nothing: look at what divides the error's slope.",
        "c": "both errors are alike, but what they do to the location is not.",
        "d": "the shift is small where the minimum is sharp: put the numbers in.",
    }
    right = "its location moves by 0.05 cm, that of the other by 1 cm."
    return choice(answer, "b", ["a", "b", "c", "d"], hints=hints, right=right)


def check_change(answer: object) -> Feedback:
    """Why the opening falls by 0.17 cm where line 24 of the grid falls by 1.04 cm."""
    hints = {
        "a": "a slant makes a line read too much by a share, and in both frames: not six times.",
        "b": "tracing moves an opening by some hundredths of a centimetre.",
        "d": "alignment was exact here; these frames are drawn.",
    }
    right = "one compares two places, the other one place in two frames."
    return choice(answer, "c", ["a", "b", "c", "d"], hints=hints, right=right)


_SPREADS: list[tuple[list[float], float]] = [
    ([10.0, 3.0, 1.0, 1.0], 0.95),
    ([5.0, 4.0, 3.0, 2.0, 1.0], 0.9),
    ([2.0, 2.0, 2.0, 2.0], 0.75),
    ([7.0, 1.0], 0.9),
    ([1.0] * 12, 0.95),
]


def check_components(answer: object) -> Feedback:
    """A function singular, share -> number of components that explain at least this share of the variance."""

    def needed(values: Sequence[float], share: float, power: int = 2) -> int:
        parts = np.asarray(values, dtype=float) ** power
        return int(np.searchsorted(np.cumsum(parts) / parts.sum(), share - 1e-12)) + 1

    mistakes: Mistakes = [
        (lambda s, share: needed(s, share, 1), "a variance is the square of a singular value."),
        (lambda s, share: needed(s, share) - 1, "one too few: with so many the share is not reached."),
        (lambda s, share: needed(s, share) + 1, "one too many: the share is reached before."),
        (
            lambda s, share: sum(np.square(s) / np.sum(np.square(s)) >= 1 - share),
            "shares add up, component by component.",
        ),
    ]
    return formula(answer, needed, _SPREADS, mistakes, right="squares, summed up, over their sum.")


def check_count(answer: object) -> Feedback:
    """A function start, end, rate -> number of frames whose middle lies between start and end (s)."""

    def whole(start: float, end: float, rate: float) -> int:
        return max(math.floor(end * rate) - math.ceil(start * rate), 0)

    mistakes: Mistakes = [
        (lambda s, e, r: round((e - s) * r), "the length doesn't tell: a short stretch may lie between two middles."),
        (whole, "these are the frames that lie in it whole; a middle is enough."),
        (
            lambda s, e, r: math.ceil(e * r) - math.floor(s * r),
            "the frames that it touches; their middle must lie in it.",
        ),
        (
            lambda s, e, r: math.ceil(e * r) - math.ceil(s * r),
            "the frames that begin in it; the middle is half a frame later.",
        ),
    ]
    cases = [(0.07, 0.11, 25.0), (0.025, 0.055, 25.0), (0.01, 0.07, 25.0), (0.11, 0.29, 25.0), (0.203, 0.412, 50.0)]
    right = lambda s, e, r: math.ceil(e * r - 0.5) - math.ceil(s * r - 0.5)  # noqa: E731
    return formula(answer, right, cases, mistakes, right="from ⌈start · rate - 1/2⌉ to before ⌈end · rate - 1/2⌉.")


def check_sd(answer: object) -> Feedback:
    """Which tokens and which cut make 0.84 of 2.0, 2.6 and 3.2 cm."""
    hints = {
        "a": "the three lie 0.6, 0 and 0.6 cm from their mean: √(0.72 / 2) = 0.60.",
        "b": "of two tokens the population SD is half their distance: 0.60.",
        "d": "0.8485 rounds to 0.85.",
    }
    right = "√(0.72 / 1) = 0.8485; and the mean can't tell, it is 2.6 for both choices."
    return choice(answer, "c", ["a", "b", "c", "d"], hints=hints, right=right)


def check_needed_rise(answer: object, seed: int | None = None) -> Feedback:
    """Hertz by which F2 moves if a uniform shortening takes F1 from 519.60 up by 138.52 Hz, F2 being 1573.44 Hz."""
    return RISE.own(seed).check(answer)


def check_pairings(answer: object) -> Feedback:
    """Fewest tokens with which a test over all pairings can give a p below 0.01."""
    hints = {
        4.0: "of 24 pairings one is 4 %.",
        6.0: "six do, but fewer are enough.",
        100.0: "a hundred pairings, not a hundred tokens: n tokens can be paired in n! ways.",
        101.0: "a hundred pairings, not a hundred tokens: n tokens can be paired in n! ways.",
        7.0: "count pairings, n!, not subsets.",
        120.0: "this is the number of pairings; of how many tokens?",
    }
    return number(answer, 5, 1e-3, hints=hints, right="5! = 120, and 1/120 = 0.0083; with four, 1/24 = 0.042.")


def check_percent(answer: object) -> Feedback:
    """A function x -> percentage of the smaller value, of a difference that is x % of the larger one."""
    mistakes: Mistakes = [
        (lambda x: x, "the divisor is smaller, so the percentage is larger."),
        (lambda x: 100 * x / (100 + x), "the other way round: from the smaller value's to the larger one's."),
        (lambda x: x / (100 - x), "this is the fraction; in percent a hundred times as much."),
        (lambda x: 100 - x, "so much of the larger value is left; the difference over it is asked."),
        (lambda x: 100 * 100 / (100 - x), "the larger value in percent of the smaller; how much more is it?"),
    ]
    cases = [(50.0,), (20.0,), (45.08,), (4.0,)]
    said = "100 x / (100 - x): what is left of the larger value is the smaller one."
    return formula(answer, lambda x: 100 * x / (100 - x), cases, mistakes, right=said)


def check_missing_token(answer: object) -> Feedback:
    """A function n, decimals -> width (cm) of the range of one unlisted token, by a truncated mean over n + 1."""
    mistakes: Mistakes = [
        (lambda n, d: 10.0**-d, "this is the mean's range; the token has to move the mean alone."),
        (lambda n, d: n * 10.0**-d, "the mean is over n + 1 tokens."),
        (lambda n, d: 10.0**-d / (n + 1), "the token moves by more than its mean, not by less."),
        (
            lambda n, d: (n + 1) / 2 * 10.0**-d,
            "so for one side of a rounded mean; a truncated one may lie a unit above.",
        ),
    ]
    cases = [(6, 4), (2, 4), (6, 2), (9, 3)]
    said = "(n + 1) units of the last decimal: 0.0007 cm for six tokens and four decimals."
    return formula(answer, lambda n, decimals: (n + 1) * 10.0**-decimals, cases, mistakes, right=said)


def check_family(answer: object) -> Feedback:
    """What follows from a larynx that raises F2 in all 13 shapes."""
    hints = {
        "a": "are thirteen shapes of a model all speakers, and does nothing else move in a speaker?",
        "c": "they come from many starts, and all have one sign: it does say something of the model.",
        "d": "the recordings aren't ours to judge, and the tongue explains the fall.",
    }
    right = "the cause that the paper names doesn't do it alone; what moves with a larynx is another question."
    return choice(answer, "b", ["a", "b", "c", "d"], hints=hints, right=right)


_CLOUDS: list[tuple[list[float], list[float]]] = [
    ([1.0, 2.0, 3.0, 4.0, -5.0], [2.0, 1.0, 9.0, 3.0, -4.0]),
    ([0.2, 0.3, 0.35, 0.5, 0.6, 1.1], [640.0, 700.0, 600.0, 690.0, 610.0, 720.0]),
    ([5.0, 5.5, 6.0, 6.2, 1.0, 7.0], [3.0, 9.0, 2.0, 2.5, 3.5, 1.0]),
]


def check_without_leverage(answer: object) -> Feedback:
    """A function x, y -> correlation without the point of highest leverage."""

    def without(x: Sequence[float], y: Sequence[float], which: int) -> float:
        return correlation.pearson(np.delete(x, which), np.delete(y, which))

    def off(x: Sequence[float], y: Sequence[float]) -> int:
        a, b = np.asarray(x), np.asarray(y)
        return int(np.argmax(np.abs(b - np.polyval(np.polyfit(a, b, 1), a))))

    mistakes: Mistakes = [
        (correlation.pearson, "this is with all points; leave one out."),
        (lambda x, y: without(x, y, int(np.argmax(x))), "leverage is high at either end, not at the largest x alone."),
        (lambda x, y: without(x, y, off(x, y)), "this leaves out what is farthest off the line; leverage looks at x."),
        (lambda x, y: without(x, y, int(np.argmax(np.abs(y - np.mean(y))))), "leverage looks at x, not at y."),
        (lambda x, y: abs(without(x, y, int(np.argmax(correlation.leverage(x))))), "a correlation has a sign."),
    ]
    right = lambda x, y: without(x, y, int(np.argmax(correlation.leverage(x))))  # noqa: E731
    return formula(answer, right, _CLOUDS, mistakes, right="farthest from the mean of x, on either side.")


_PRINTS = (
    (5.73215, "5.7321"),
    (5.73216, "5.7322"),
    (5.73211, "5.7321"),
    (5.7399, "5.7321"),
    (0.8048, "0.80"),
    (0.8448, "0.80"),
    (-11.2284, "-11.22"),
    (-1.1127, "-1.1"),
    (0.7 + 0.1, "0.8"),
)


def check_cut(answer: object) -> Feedback:
    """A function value, printed (text) -> "both", "rounded", "truncated" or "" for how the print was cut."""
    if unanswered(answer):
        return UNANSWERED
    if not callable(answer):
        return function(answer, [])
    for value, printed in _PRINTS:
        wanted = table_forensics.agreement(printed, value)
        try:
            said = str(answer(value, printed))
        except Exception as error:  # whatever a student's code may raise
            return Feedback(False, f"your function, given {value!r} and {printed!r}, raises {type(error).__name__}.")
        if said == wanted:
            continue
        if value < 0 and said == table_forensics.agreement(printed, value - 10.0 ** -table_forensics.decimals(printed)):
            return Feedback(False, "truncated is towards zero; a floor goes down.")
        if printed.endswith("0"):
            return Feedback(False, f"{printed} has {table_forensics.decimals(printed)} decimals: the nought counts.")
        if abs(value - float(printed)) < 1e-6:
            return Feedback(False, f"{value!r} is {printed} but for binary dust: round to a dozen digits first.")
        return Feedback(False, f"of {value!r}, printed {printed}, it says {said[:20]!r}.")
    return Feedback(True, "both cuts, as many decimals as are printed.")

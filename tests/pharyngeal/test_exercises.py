"""Every exercise both ways: right answers in other forms pass, each usual mistake gets a hint of its own."""

from __future__ import annotations

import math
import re

import nbformat
import numpy as np
import pytest
from asking import check, of
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from voicewire.pharyngeal import inversion, reference, tract, tube
from voicewire.pharyngeal.films import contour_measures
from voicewire.pharyngeal.films.film_audio_sync import labels
from voicewire.pharyngeal.statistics import correlation, table_forensics, vowel_statistics
from voicewire.pharyngeal.textgrid import Interval
from voicewire.pharyngeal.tract import Articulation
from voicewire_book import paths
from voicewire_book.chapters.pharyngeal.exercises import articulators, formants, reproduction, tract_to_formants

C = 35_300
ERRORS = np.array([[0.0, 10, 0, 0], [0, -6, 0, 0], [0, 8, 0, 0]])  # mean 4, mean square 200/3


def rmse(answer):
    return check("pharyngeal-ex-rmse", answer, ERRORS)


def length(formants):
    m = 2 * np.arange(len(formants)) + 1
    return C / 4 * np.sum(m**2) / np.sum(m * np.array(formants))


def odd(formants):
    return 2 * np.arange(len(formants)) + 1


def perturbed(n, a, b, share):
    """By the sum of many slices."""
    x = np.linspace(a, b, 20_001)
    return share * np.mean(np.cos((2 * n - 1) * np.pi * (x[1:] + x[:-1]) / 2)) * (b - a)


def sines(n, a, b, share):
    m = (2 * n - 1) * np.pi
    return share * (np.sin(m * b) - np.sin(m * a)) / m


def least(d0, bend, error, slope):
    """The least value itself, on a fine grid."""
    x = np.linspace(-1, 1, 200_001)
    return np.min(d0 + error + slope * x + bend / 2 * x**2)


def shut(areas, lengths):
    """Another way: the tangents of two or more tubes, from the closed glottis on."""

    def flow(f):
        k, p, u = 2 * np.pi * f / C, 1.0, 0.0
        for area, piece in zip(areas, lengths, strict=True):
            c, s = np.cos(k * piece), np.sin(k * piece)
            p, u = p * c - u * s / area, p * s * area + u * c
        return u

    low = next(f for f in range(21, 3000, 20) if flow(f) * flow(f + 20) < 0)
    return optimize.brentq(flow, low, low + 20)


def narrow(f, b):
    return [x for x, width in zip(f, b, strict=True) if width <= 600]


def median(f, b, widest=600.0, none=math.nan):
    kept = [x for x, width in zip(f, b, strict=True) if width <= widest and math.isfinite(x)]
    return float(np.median(kept)) if kept else none


def needed(singular, share, power=2):
    parts = np.array(singular) ** power
    total = 0.0
    for n, part in enumerate(parts / parts.sum(), 1):
        total += part
        if total >= share - 1e-12:
            return n
    raise AssertionError


def counted(singular, share):
    """How many components have the rest each: nothing is added up."""
    parts = np.square(singular)
    return np.sum(parts / np.sum(parts) >= 1 - share)


def count(start, end, rate):
    return sum(start < (k + 0.5) / rate < end for k in range(100))


def without(x, y):
    return correlation.leave_one_out(x, y)[int(np.argmax(correlation.leverage(x)))]


def dropped(x, y, which):
    return np.corrcoef(np.delete(x, which), np.delete(y, which))[0, 1]


def cut(value, printed):
    return table_forensics.agreement(printed, value)


def floored(value, printed):
    """What truncates with a floor."""
    return cut(value - (10.0 ** -table_forensics.decimals(printed) if value < 0 else 0), printed)


def dusty(value, printed):
    """What takes 0.7 + 0.1 for less than 0.8."""
    return "rounded" if printed == "0.8" else cut(value, printed)


RIGHT = [
    (of("pharyngeal-ex-quarter"), [7, 7.0, "7", np.int64(7), [7]]),
    (of("pharyngeal-ex-tubes"), [2000 / 3, "667 Hz", "2000/3"]),
    (of("pharyngeal-ex-length"), [length, lambda formants: float(length(formants))]),
    (of("pharyngeal-ex-perturbation"), [perturbed, sines]),
    (of("pharyngeal-ex-knob"), ["body", "Body", ["body"]]),
    (of("pharyngeal-ex-share"), ["b", "B)", "(b)"]),
    (of("pharyngeal-ex-closed"), [shut]),
    (of("pharyngeal-ex-lobanov"), [-1.2247, "-1.22", np.float32(-1.2247)]),
    (of("pharyngeal-ex-burg"), [-1, -1.0, "-1"]),
    (of("pharyngeal-ex-order"), [14, "14"]),
    (of("pharyngeal-ex-ceiling"), [lambda L, n: n * C / (2 * L), lambda L, n: 2 * n * (C / L) / 4]),
    (of("pharyngeal-ex-alarms"), [lambda n, a: 1 - (1 - a) ** (1 / n), lambda n, a: -math.expm1(math.log1p(-a) / n)]),
    (of("pharyngeal-ex-agree"), ["b"]),
    (of("pharyngeal-ex-harmonic"), [69.28, "69.3 Hz", 240 / 12**0.5]),
    (rmse, [16 / (200 / 3), "24 %", "0.24", "24/100"]),
    (of("pharyngeal-ex-middle"), [median]),
    (of("pharyngeal-ex-elevation"), [0.5, "0.5 cm", "0,5", "1/2"]),
    (of("pharyngeal-ex-contact"), [1.9, "1.9 cm"]),
    (of("pharyngeal-ex-crossing"), [5, "5 cm"]),
    (of("pharyngeal-ex-least"), [lambda d, k, e, s: d + e - 0.5 * s**2 / k, least]),
    (of("pharyngeal-ex-frames"), [lambda b, w, n, f: np.sqrt((b**2 + w**2 / f) / n)]),
    (of("pharyngeal-ex-trust"), ["b"]),
    (of("pharyngeal-ex-change"), ["c", "C."]),
    (of("pharyngeal-ex-components"), [needed, lambda s, share: np.float64(needed(s, share))]),
    (of("pharyngeal-ex-count"), [count]),
    (of("pharyngeal-ex-sd"), ["c"]),
    (of("pharyngeal-ex-sign"), [419.46, "+419 Hz", 420, 3 * 138.52]),
    (of("pharyngeal-ex-pairings"), [5, "5"]),
    (of("pharyngeal-ex-percent"), [lambda x: 100 * x / (100 - x), lambda x: 100 * (1 / (1 - x / 100) - 1)]),
    (of("pharyngeal-ex-missing"), [lambda n, d: (n + 1) * 10.0**-d, lambda n, d: (n + 1) / 10**d]),
    (of("pharyngeal-ex-family"), ["b"]),
    (of("pharyngeal-ex-leverage"), [without, lambda x, y: float(without(x, y))]),
    (of("pharyngeal-ex-cut"), [cut]),
]  # fmt: skip

HINTS = [
    (of("pharyngeal-ex-quarter"), 8, "round down"),
    (of("pharyngeal-ex-quarter"), 6, "half-waves"),
    (of("pharyngeal-ex-quarter"), 13, "even number"),
    (of("pharyngeal-ex-quarter"), 13.6, "over F1"),
    (of("pharyngeal-ex-tubes"), 4000 / 3, "exchanged"),
    (of("pharyngeal-ex-tubes"), 409.6, "squared"),
    (of("pharyngeal-ex-tubes"), "1000 Hz", "uniform tube"),
    (of("pharyngeal-ex-tubes"), 1000 / 3, "one tube"),
    (of("pharyngeal-ex-length"), lambda f: C / 4 / f[0], "F1 alone"),
    (of("pharyngeal-ex-length"), lambda f: np.mean(C / 4 * odd(f) / f), "one length per formant"),
    (of("pharyngeal-ex-length"), lambda f: C / 4 / np.mean(f / odd(f)), "counts most in F1"),
    (of("pharyngeal-ex-length"), lambda f: C / 4 * sum(odd(f)) / sum(f), "makes the sums equal"),
    (of("pharyngeal-ex-length"), lambda f: C / 2 / np.mean(np.diff(f)), "mean spacing"),
    (of("pharyngeal-ex-length"), lambda f: length(f) / 100, "hundred times too small"),
    (of("pharyngeal-ex-perturbation"), lambda *x: -perturbed(*x), "begins at the glottis"),
    (of("pharyngeal-ex-perturbation"), lambda *x: (2 * x[0] - 1) * np.pi * perturbed(*x), "over k"),
    (of("pharyngeal-ex-perturbation"), lambda n, *x: perturbed((n + 1) / 2, *x), "2n - 1 quarters"),
    (of("pharyngeal-ex-perturbation"), lambda n, a, b, e: e * (b - a), "its place counts"),
    (of("pharyngeal-ex-knob"), "larynx", "shortens"),
    (of("pharyngeal-ex-knob"), "lips", "less"),
    (of("pharyngeal-ex-knob"), "jaw", "jaw alone"),
    (of("pharyngeal-ex-knob"), "nose", "none of the options"),
    (of("pharyngeal-ex-share"), "a", "generator"),
    (of("pharyngeal-ex-share"), "c", "some 5 %"),
    (of("pharyngeal-ex-share"), "d", "never gave"),
    (of("pharyngeal-ex-closed"), lambda a, x: reference.resonances(a, x, 1)[0], "open at the lips"),
    (of("pharyngeal-ex-closed"), lambda a, x: 2 * reference.resonances(a, x, 1)[0], "twice the open"),
    (of("pharyngeal-ex-closed"), lambda a, x: C / 2 / sum(x), "uniform tube"),
    (of("pharyngeal-ex-closed"), lambda a, x: 2 * shut(a, x), "twice the right value"),
    (of("pharyngeal-ex-two"), 3, "two Articulation"),
    (of("pharyngeal-ex-two"), (Articulation(), Articulation()), "nearly the same"),
    (of("pharyngeal-ex-two"), (Articulation(root=0.6), Articulation()), "differ by"),
    (of("pharyngeal-ex-two"), (Articulation(root=50.0), Articulation()), "root is 50"),
    (of("pharyngeal-ex-lobanov"), 1.2247, "below"),
    (of("pharyngeal-ex-lobanov"), -1.4142, "n - 1"),
    (of("pharyngeal-ex-lobanov"), -600, "Hz"),
    (of("pharyngeal-ex-lobanov"), -0.0025, "variance"),
    (of("pharyngeal-ex-lobanov"), 1.837, "mean off"),
    (of("pharyngeal-ex-burg"), -0.8, "first k"),
    (of("pharyngeal-ex-burg"), 0.8, "one sample earlier"),
    (of("pharyngeal-ex-burg"), 1, "minus"),
    (of("pharyngeal-ex-burg"), -0.5, "a 2"),
    (of("pharyngeal-ex-burg"), 0.1327, "old f and b"),
    (of("pharyngeal-ex-order"), 18, "17.5 cm"),
    (of("pharyngeal-ex-order"), 12, "tilt"),
    (of("pharyngeal-ex-order"), 7, "a pair"),
    (of("pharyngeal-ex-order"), 16, "seventh"),
    (of("pharyngeal-ex-order"), 26, "8000 Hz"),
    (of("pharyngeal-ex-ceiling"), lambda L, n: (2 * n - 1) * C / 4 / L, "formant n itself"),
    (of("pharyngeal-ex-ceiling"), lambda L, n: (2 * n + 1) * C / 4 / L, "n + 1"),
    (of("pharyngeal-ex-ceiling"), lambda L, n: n * C / 4 / L, "odd multiples"),
    (of("pharyngeal-ex-ceiling"), lambda L, n: (n - 1) * C / 2 / L, "one too few"),
    (of("pharyngeal-ex-alarms"), lambda n, a: a / n, "not exact"),
    (of("pharyngeal-ex-alarms"), lambda n, a: 1 - (1 - a) ** n, "other way round"),
    (of("pharyngeal-ex-alarms"), lambda n, a: a ** (1 / n), "one is enough"),
    (of("pharyngeal-ex-alarms"), lambda n, a: (1 - a) ** (1 / n), "silent"),
    (of("pharyngeal-ex-harmonic"), 120, "largest"),
    (of("pharyngeal-ex-harmonic"), 60, "square before"),
    (of("pharyngeal-ex-harmonic"), 4800, "root"),
    (of("pharyngeal-ex-harmonic"), 240 / 3**0.5, "half of F0"),
    (of("pharyngeal-ex-agree"), "a", "assumptions"),
    (of("pharyngeal-ex-agree"), "c", "rings"),
    (of("pharyngeal-ex-agree"), "d", "would show"),
    (rmse, 0.24**0.5, "compare squares"),
    (rmse, 0.76, "scatter"),
    (rmse, 0.76**0.5, "other part"),
    (rmse, 4.0, "Hz"),
    (of("pharyngeal-ex-middle"), lambda f, b: np.median(f), "wider"),
    (of("pharyngeal-ex-middle"), lambda f, b: np.mean(narrow(f, b)), "a single bad frame moves a mean."),
    (of("pharyngeal-ex-middle"), lambda f, b: np.mean(f), "wide poles count"),
    (of("pharyngeal-ex-middle"), lambda f, b: np.median(narrow(f, b)), "NaN: leave it out"),
    (of("pharyngeal-ex-middle"), lambda f, b: median(f, b, none=0.0), "out of nothing"),
    (of("pharyngeal-ex-middle"), lambda f, b: median(f, b, none=1 // len(narrow(f, b)) if b else 1), "raises Zero"),
    (of("pharyngeal-ex-elevation"), 0.1, "head has moved"),
    (of("pharyngeal-ex-elevation"), -0.5, "downwards"),
    (of("pharyngeal-ex-elevation"), -0.3, "correct for that"),
    (of("pharyngeal-ex-elevation"), 5.8, "rest"),
    (of("pharyngeal-ex-elevation"), 0.4, "incisor has moved"),
    (of("pharyngeal-ex-contact"), 7.0, "least"),
    (of("pharyngeal-ex-contact"), 1.2, "doesn't touch"),
    (of("pharyngeal-ex-contact"), 0.02, "the distance"),
    (of("pharyngeal-ex-contact"), 0.01, "first contact"),
    (of("pharyngeal-ex-contact"), 4.45, "middle"),
    (of("pharyngeal-ex-crossing"), 0.5, "this is t"),
    (of("pharyngeal-ex-crossing"), 4, "high"),
    (of("pharyngeal-ex-crossing"), 3, "side"),
    (of("pharyngeal-ex-crossing"), 5.099, "end of the contour"),
    (of("pharyngeal-ex-crossing"), 4.919, "shortest"),
    (of("pharyngeal-ex-least"), lambda d, k, e, s: d + e, "old place"),
    (of("pharyngeal-ex-least"), lambda d, k, e, s: d + e + s**2 / k / 2, "sign"),
    (of("pharyngeal-ex-least"), lambda d, k, e, s: d + e - s**2 / k, "half of it"),
    (of("pharyngeal-ex-least"), lambda d, k, e, s: d - s**2 / k / 2, "counts too"),
    (of("pharyngeal-ex-least"), lambda d, k, e, s: -s / k, "shift of the location"),
    (of("pharyngeal-ex-frames"), lambda b, w, n, f: np.sqrt((b**2 + w**2) / n / f), "word of its own"),
    (of("pharyngeal-ex-frames"), lambda b, w, n, f: np.sqrt((b**2 + w**2) / n), "shrinks"),
    (of("pharyngeal-ex-frames"), lambda b, w, n, f: b / np.sqrt(n), "within a token"),
    (of("pharyngeal-ex-frames"), lambda b, w, n, f: (b**2 + w**2 / f) / n, "its root"),
    (of("pharyngeal-ex-frames"), lambda b, w, n, f: b / np.sqrt(n) + w / np.sqrt(n * f), "variances add up"),
    (of("pharyngeal-ex-trust"), "a", "divides"),
    (of("pharyngeal-ex-trust"), "c", "what they do"),
    (of("pharyngeal-ex-trust"), "d", "sharp"),
    (of("pharyngeal-ex-change"), "a", "not six times"),
    (of("pharyngeal-ex-change"), "b", "hundredths"),
    (of("pharyngeal-ex-change"), "d", "exact"),
    (of("pharyngeal-ex-components"), lambda s, share: needed(s, share, 1), "square"),
    (of("pharyngeal-ex-components"), lambda s, share: needed(s, share) - 1, "one too few"),
    (of("pharyngeal-ex-components"), lambda s, share: needed(s, share) + 1, "one too many"),
    (of("pharyngeal-ex-components"), counted, "add up"),
    (of("pharyngeal-ex-count"), lambda s, e, r: round((e - s) * r), "length"),
    (of("pharyngeal-ex-count"), lambda s, e, r: max(0, int(e * r) - int(np.ceil(s * r))), "whole"),
    (of("pharyngeal-ex-count"), lambda s, e, r: int(np.ceil(e * r)) - int(s * r), "touches"),
    (of("pharyngeal-ex-count"), lambda s, e, r: np.ceil(e * r) - np.ceil(s * r), "begin in it"),
    (of("pharyngeal-ex-sd"), "a", "0.60"),
    (of("pharyngeal-ex-sd"), "b", "half their distance"),
    (of("pharyngeal-ex-sd"), "d", "0.85"),
    (of("pharyngeal-ex-sign"), 138.52, "same share"),
    (of("pharyngeal-ex-sign"), -314.15, "paper finds"),
    (of("pharyngeal-ex-sign"), -419.46, "raises every"),
    (of("pharyngeal-ex-sign"), 1992.9, "by how much"),
    (of("pharyngeal-ex-pairings"), 4, "4 %"),
    (of("pharyngeal-ex-pairings"), 6, "fewer"),
    (of("pharyngeal-ex-pairings"), 100, "n!"),
    (of("pharyngeal-ex-pairings"), 7, "subsets"),
    (of("pharyngeal-ex-pairings"), 120, "of how many tokens"),
    (of("pharyngeal-ex-percent"), lambda x: x, "larger"),
    (of("pharyngeal-ex-percent"), lambda x: 100 * x / (100 + x), "other way round"),
    (of("pharyngeal-ex-percent"), lambda x: x / (100 - x), "fraction"),
    (of("pharyngeal-ex-percent"), lambda x: 100 - x, "is left"),
    (of("pharyngeal-ex-percent"), lambda x: 1e4 / (100 - x), "how much more"),
    (of("pharyngeal-ex-missing"), lambda n, d: 10.0**-d, "mean alone"),
    (of("pharyngeal-ex-missing"), lambda n, d: n / 10**d, "n + 1"),
    (of("pharyngeal-ex-missing"), lambda n, d: 1 / 10**d / (n + 1), "not by less"),
    (of("pharyngeal-ex-missing"), lambda n, d: (n + 1) / 2 / 10**d, "rounded mean"),
    (of("pharyngeal-ex-family"), "a", "all speakers"),
    (of("pharyngeal-ex-family"), "c", "many starts"),
    (of("pharyngeal-ex-family"), "d", "tongue"),
    (of("pharyngeal-ex-leverage"), lambda x, y: np.corrcoef(x, y)[0, 1], "all points"),
    (of("pharyngeal-ex-leverage"), lambda x, y: dropped(x, y, np.argmax(x)), "either end"),
    (of("pharyngeal-ex-leverage"), lambda x, y: dropped(x, y, np.argmax(np.abs(y - np.mean(y)))), "not at y"),
    (of("pharyngeal-ex-leverage"), lambda x, y: abs(without(x, y)), "sign"),
    (of("pharyngeal-ex-cut"), lambda value, printed: "rounded", "it says 'rounded'"),
    (of("pharyngeal-ex-cut"), lambda value, printed: cut(value, str(float(printed))), "nought counts"),
    (of("pharyngeal-ex-cut"), floored, "floor"),
    (of("pharyngeal-ex-cut"), dusty, "binary dust"),
    (of("pharyngeal-ex-cut"), lambda value, printed: 1 / 0, "raises ZeroDivisionError"),
]  # fmt: skip

TABLES = [chapter.EXERCISES for chapter in (tract_to_formants, formants, articulators, reproduction)]
CHECKS = {of(label) for table in TABLES for label in table if label.startswith("pharyngeal-ex-")}  # labs: test_labs


@pytest.mark.parametrize(("ask", "answers"), RIGHT, ids=lambda x: getattr(x, "__name__", ""))
def test_right_answers_pass_in_every_form(ask, answers):
    for answer in answers:
        feedback = ask(answer)
        assert feedback.ok, feedback
    assert "not answered yet" in ask(None).message


@pytest.mark.parametrize(("ask", "answer", "hint"), HINTS)
def test_each_usual_mistake_gets_its_own_hint(ask, answer, hint):
    feedback = ask(answer)
    assert not feedback.ok
    assert hint in feedback.message


def test_every_check_is_tried_both_ways_with_three_mistakes_at_least():
    tried = {of("pharyngeal-ex-rmse") if ask is rmse else ask for ask, _ in RIGHT} | {of("pharyngeal-ex-two")}
    assert tried == CHECKS
    for one in CHECKS:
        ask = rmse if one == of("pharyngeal-ex-rmse") else one
        own = [ask(answer).message for each, answer, _ in HINTS if each == ask]
        assert len(own) == len(set(own)) >= 3, one.label


NUMBERS = [(ask, float(answers[0])) for ask, answers in RIGHT if isinstance(answers[0], int | float)]


@given(st.sampled_from(NUMBERS), st.floats(0.01, 100).filter(lambda x: abs(x - 1) > 0.1))
def test_no_number_that_is_off_by_a_tenth_passes_or_is_told_that_it_is_close(case, factor):
    ask, right = case
    feedback = ask(factor * right)
    assert not feedback.ok
    assert "close" not in feedback.message


class Hostile:
    def __getattr__(self, name):
        raise RuntimeError(name)

    def __iter__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "answer",
    ["a word", 3.7e9, [1, 2, 3], np.ones((2, 2)), {1: 2}, lambda *a: None, lambda: 1, lambda *a: 1 / 0,
     lambda *a: {1, 2}, lambda *a: np.ones(3), lambda *a: "?", lambda *a: a[0].clear(), object(), Hostile(), 1j],
    ids=lambda answer: type(answer).__qualname__,
)  # fmt: skip
def test_whatever_is_handed_over_gets_a_sentence(answer):
    for ask in CHECKS - {of("pharyngeal-ex-rmse")} | {rmse}:
        feedback = ask(answer)
        assert not feedback.ok
        assert len(feedback.message) > 5
        assert "close" not in feedback.message.replace("closed", "")


def test_two_tongues_with_one_vowel_are_accepted():
    one = Articulation(body=0.2, jaw=0.3)
    goal = tract.formants(one).frequencies[:2]
    other = inversion.invert(goal, Articulation(body=-0.2, root=0.4, jaw=0.3), ("dorsum", "jaw", "lips"), effort=0.001)
    assert check("pharyngeal-ex-two", [one, other.articulation])


def test_numbers_by_hand_are_those_of_the_package():
    assert np.sum(tube.uniform(15.0, 30) < 8000) == 7
    first, second = tube.two_tube((1.0, 8.825), (3.0, 8.825))[:2]
    assert check("pharyngeal-ex-tubes", second - first)
    assert reference.burg(np.array([1.0, 2.0, 1.0]), 2) == pytest.approx([1, 0, -1])
    assert check("pharyngeal-ex-order", 2 * np.sum(tube.uniform(13.0, 30) < 8000) + 2)
    four = vowel_statistics.pd.DataFrame({"speaker": "s", "F1": [1.0, 2, 3, 4], "F2": [2100.0, 1500, 900, 1500]})
    assert check("pharyngeal-ex-lobanov", vowel_statistics.lobanov(four)["F2"].min())
    assert check("pharyngeal-ex-elevation", contour_measures.elevation(7.10 - 1.30, 7.20 - 0.90))
    ends = np.array([2.0, 5.0]), np.array([6.0, 3.0])
    assert check("pharyngeal-ex-crossing", reference.crossing(np.array([1.0, 0.0]), np.array([0.6, 0.8]), *ends))
    said = table_forensics.sd_readings("0.84", {"first": 2.0, "second": 2.6, "third": 3.2}).describe()
    assert "sample SD of first + third, truncated" in said


def test_a_soft_narrowing_moves_formants_as_the_exercise_derives():
    n, areas = 400, np.full(400, 4.0)
    areas[60:220] *= 0.99
    pieces = np.full(n, 17.5 / n)
    found = tube.resonances(areas, pieces, walls=False, radiation=False).frequencies / tube.uniform(17.5) - 1
    assert found == pytest.approx([perturbed(k, 60 / n, 220 / n, 0.01) for k in (1, 2, 3, 4)], abs=1e-4)


def test_frames_are_counted_as_the_package_labels_them():
    for start, end in ((0.07, 0.11), (0.01, 0.07), (0.11, 0.29)):
        assert labels([Interval("a", start, end)], 25.0, 20).count("a") == count(start, end, 25.0)


# The chapters

KINDS = ("by hand", "derive", "interpret", "build")
DRAWN = (  # what stands above the answer of an exercise whose numbers a seed draws
    r"from voicewire_book\.kit\.drawn import reader_seed\n\n"
    r"my_seed = reader_seed\(\)  # or a whole number of your own\nprint\(given\(\"(\S+)\", my_seed\)\)\n"
)
CHAPTERS = [path for path in paths.chapters() if path.parent.name == "pharyngeal"]


def said(cell):
    return "".join(o.get("text") or o["data"]["text/plain"] for o in cell.outputs)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_each_exercise_has_a_place_to_answer_before_its_folded_solution(path):
    cells = nbformat.read(path, as_version=4).cells
    kinds = []
    for at, cell in enumerate(cells):
        asked = re.match(r"```\{exercise\} .+ \((.+), (easy|medium|hard)\)\n:label: (\S+)\n", cell.source)
        if not asked:
            assert "{exercise}" not in cell.source or cell.id == "lab-ask"  # test_labs
            continue
        kinds.append(asked[1])
        place, judged, start, prose, *_ = cells[at + 1 :]
        name = re.match(rf"(?:{DRAWN})?(answer_\w+) = None  # your answer", place.source)
        assert name and judged.source.startswith(f'check("{asked[3]}", {name[2]}')
        assert name[1] == (asked[3] if "my_seed" in judged.source else None)
        assert "check" in judged.metadata.tags
        assert "not answered yet" in said(judged)
        assert start.source == f"```{{solution-start}} {asked[3]}\n:class: dropdown\n```"
        assert prose.cell_type == "markdown"
        assert len(prose.source.split()) > 25  # a way, not only a result
        end = next(k for k in range(at, len(cells)) if cells[k].source == "```{solution-end}\n```")
        assert "Right: " in said(cells[end - 1])
    assert len(kinds) >= 6
    assert set(kinds) == set(KINDS)

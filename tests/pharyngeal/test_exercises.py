"""Every exercise both ways: right answers in other forms pass, each usual mistake gets a hint of its own."""

from __future__ import annotations

import math
import re

import nbformat
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from voicewire.pharyngeal import (
    contour_measures,
    correlation,
    inversion,
    reference,
    table_forensics,
    tract,
    tube,
    vowel_statistics,
)
from voicewire.pharyngeal.film_audio_sync import labels
from voicewire.pharyngeal.textgrid import Interval
from voicewire.pharyngeal.tract import Articulation
from voicewire_book import paths
from voicewire_book.chapters.pharyngeal import exercises as e
from voicewire_book.chapters.pharyngeal import table_exercises as t

C = 35_300
ERRORS = np.array([[0.0, 10, 0, 0], [0, -6, 0, 0], [0, 8, 0, 0]])  # mean 4, mean square 200/3


def rmse(answer):
    return e.check_rmse(answer, ERRORS)


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


RIGHT = [
    (e.check_quarter_wave, [7, 7.0, "7", np.int64(7), [7]]),
    (e.check_two_tubes, [2000 / 3, "667 Hz", "2000/3"]),
    (e.check_tract_length, [length, lambda formants: float(length(formants))]),
    (e.check_perturbation, [perturbed, sines]),
    (e.check_strongest_knob, ["body", "Body", ["body"]]),
    (e.check_share, ["b", "B)", "(b)"]),
    (e.check_closed, [shut]),
    (e.check_lobanov, [-1.2247, "-1.22", np.float32(-1.2247)]),
    (e.check_burg, [-1, -1.0, "-1"]),
    (e.check_order, [14, "14"]),
    (e.check_ceiling, [lambda L, n: n * C / (2 * L), lambda L, n: 2 * n * (C / L) / 4]),
    (e.check_false_alarms, [lambda n, a: 1 - (1 - a) ** (1 / n), lambda n, a: -math.expm1(math.log1p(-a) / n)]),
    (e.check_agree, ["b"]),
    (e.check_harmonic, [69.28, "69.3 Hz", 240 / 12**0.5]),
    (rmse, [16 / (200 / 3), "24 %", "0.24", "24/100"]),
    (e.check_middle, [median]),
    (t.check_elevation, [0.5, "0.5 cm", "0,5", "1/2"]),
    (t.check_first_contact, [1.9, "1.9 cm"]),
    (t.check_crossing, [5, "5 cm"]),
    (t.check_least, [lambda d, k, e, s: d + e - 0.5 * s**2 / k, least]),
    (t.check_frames, [lambda b, w, n, f: np.sqrt((b**2 + w**2 / f) / n)]),
    (t.check_location_range, ["b"]),
    (t.check_change, ["c", "C."]),
    (t.check_components, [needed, lambda s, share: np.float64(needed(s, share))]),
    (t.check_count, [count]),
    (t.check_sd, ["c"]),
    (t.check_needed_rise, [419.46, "+419 Hz", 420, 3 * 138.52]),
    (t.check_pairings, [5, "5"]),
    (t.check_percent, [lambda x: 100 * x / (100 - x), lambda x: 100 * (1 / (1 - x / 100) - 1)]),
    (t.check_missing_token, [lambda n, d: (n + 1) * 10.0**-d, lambda n, d: (n + 1) / 10**d]),
    (t.check_family, ["b"]),
    (t.check_without_leverage, [without, lambda x, y: float(without(x, y))]),
    (t.check_cut, [cut]),
]  # fmt: skip

HINTS = [
    (e.check_quarter_wave, 8, "round down"),
    (e.check_quarter_wave, 6, "half-waves"),
    (e.check_quarter_wave, 13, "even number"),
    (e.check_quarter_wave, 13.6, "over F1"),
    (e.check_two_tubes, 4000 / 3, "exchanged"),
    (e.check_two_tubes, 409.6, "squared"),
    (e.check_two_tubes, "1000 Hz", "uniform tube"),
    (e.check_two_tubes, 1000 / 3, "one tube"),
    (e.check_tract_length, lambda f: C / 4 / f[0], "F1 alone"),
    (e.check_tract_length, lambda f: np.mean(C / 4 * odd(f) / f), "one length a formant"),
    (e.check_tract_length, lambda f: C / 4 / np.mean(f / odd(f)), "counts most in F1"),
    (e.check_tract_length, lambda f: C / 4 * sum(odd(f)) / sum(f), "sums agree"),
    (e.check_tract_length, lambda f: C / 2 / np.mean(np.diff(f)), "mean spacing"),
    (e.check_tract_length, lambda f: length(f) / 100, "hundred times too small"),
    (e.check_perturbation, lambda *x: -perturbed(*x), "begins at the glottis"),
    (e.check_perturbation, lambda *x: (2 * x[0] - 1) * np.pi * perturbed(*x), "over k"),
    (e.check_perturbation, lambda n, *x: perturbed((n + 1) / 2, *x), "2n - 1 quarters"),
    (e.check_perturbation, lambda n, a, b, e: e * (b - a), "where the narrowing"),
    (e.check_strongest_knob, "larynx", "shortens"),
    (e.check_strongest_knob, "lips", "less"),
    (e.check_strongest_knob, "jaw", "jaw alone"),
    (e.check_strongest_knob, "nose", "none of the options"),
    (e.check_share, "a", "generator"),
    (e.check_share, "c", "some 5 %"),
    (e.check_share, "d", "never gave"),
    (e.check_closed, lambda a, x: reference.resonances(a, x, 1)[0], "open at the lips"),
    (e.check_closed, lambda a, x: 2 * reference.resonances(a, x, 1)[0], "twice the open"),
    (e.check_closed, lambda a, x: C / 2 / sum(x), "uniform tube"),
    (e.check_closed, lambda a, x: 2 * shut(a, x), "double"),
    (e.check_same_vowel, 3, "two Articulation"),
    (e.check_same_vowel, (Articulation(), Articulation()), "nearly the same"),
    (e.check_same_vowel, (Articulation(root=0.6), Articulation()), "differ by"),
    (e.check_same_vowel, (Articulation(root=50.0), Articulation()), "root is 50"),
    (e.check_lobanov, 1.2247, "below"),
    (e.check_lobanov, -1.4142, "n - 1"),
    (e.check_lobanov, -600, "Hz"),
    (e.check_lobanov, -0.0025, "variance"),
    (e.check_lobanov, 1.837, "mean off"),
    (e.check_burg, -0.8, "first k"),
    (e.check_burg, 0.8, "one sample earlier"),
    (e.check_burg, 1, "minus"),
    (e.check_burg, -0.5, "a 2"),
    (e.check_burg, 0.1327, "old f and b"),
    (e.check_order, 18, "17.5 cm"),
    (e.check_order, 12, "tilt"),
    (e.check_order, 7, "a pair"),
    (e.check_order, 16, "seventh"),
    (e.check_order, 26, "8000 Hz"),
    (e.check_ceiling, lambda L, n: (2 * n - 1) * C / 4 / L, "formant n itself"),
    (e.check_ceiling, lambda L, n: (2 * n + 1) * C / 4 / L, "n + 1"),
    (e.check_ceiling, lambda L, n: n * C / 4 / L, "odd multiples"),
    (e.check_ceiling, lambda L, n: (n - 1) * C / 2 / L, "one too few"),
    (e.check_false_alarms, lambda n, a: a / n, "not exact"),
    (e.check_false_alarms, lambda n, a: 1 - (1 - a) ** n, "other way round"),
    (e.check_false_alarms, lambda n, a: a ** (1 / n), "one is enough"),
    (e.check_false_alarms, lambda n, a: (1 - a) ** (1 / n), "silent"),
    (e.check_harmonic, 120, "largest"),
    (e.check_harmonic, 60, "square before"),
    (e.check_harmonic, 4800, "root"),
    (e.check_harmonic, 240 / 3**0.5, "half of F0"),
    (e.check_agree, "a", "assumptions"),
    (e.check_agree, "c", "rings"),
    (e.check_agree, "d", "would show"),
    (rmse, 0.24**0.5, "compare squares"),
    (rmse, 0.76, "scatter"),
    (rmse, 0.76**0.5, "other part"),
    (rmse, 4.0, "Hz"),
    (e.check_middle, lambda f, b: np.median(f), "wider"),
    (e.check_middle, lambda f, b: np.mean([x for x, w in zip(f, b, strict=True) if w <= 600]), "a single bad frame."),
    (e.check_middle, lambda f, b: np.mean(f), "wide poles count"),
    (e.check_middle, lambda f, b: np.median([x for x, w in zip(f, b, strict=True) if w <= 600]), "NaN: leave it out"),
    (e.check_middle, lambda f, b: median(f, b, none=0.0), "out of nothing"),
    (e.check_middle, lambda f, b: median(f, b, none=1 // len([w for w in b if w <= 600]) if b else 1), "raises Zero"),
    (t.check_elevation, 0.1, "head has moved"),
    (t.check_elevation, -0.5, "downwards"),
    (t.check_elevation, -0.3, "which way"),
    (t.check_elevation, 5.8, "rest"),
    (t.check_elevation, 0.4, "incisor has moved"),
    (t.check_first_contact, 7.0, "least"),
    (t.check_first_contact, 1.2, "doesn't touch"),
    (t.check_first_contact, 0.02, "the distance"),
    (t.check_first_contact, 0.01, "first contact"),
    (t.check_first_contact, 4.45, "middle"),
    (t.check_crossing, 0.5, "this is t"),
    (t.check_crossing, 4, "high"),
    (t.check_crossing, 3, "side"),
    (t.check_crossing, 5.099, "end of the contour"),
    (t.check_crossing, 4.919, "shortest"),
    (t.check_least, lambda d, k, e, s: d + e, "old place"),
    (t.check_least, lambda d, k, e, s: d + e + s**2 / k / 2, "sign"),
    (t.check_least, lambda d, k, e, s: d + e - s**2 / k, "half of it"),
    (t.check_least, lambda d, k, e, s: d - s**2 / k / 2, "counts too"),
    (t.check_least, lambda d, k, e, s: -s / k, "shift of the location"),
    (t.check_frames, lambda b, w, n, f: np.sqrt((b**2 + w**2) / n / f), "word of its own"),
    (t.check_frames, lambda b, w, n, f: np.sqrt((b**2 + w**2) / n), "shrinks"),
    (t.check_frames, lambda b, w, n, f: b / np.sqrt(n), "within a token"),
    (t.check_frames, lambda b, w, n, f: (b**2 + w**2 / f) / n, "its root"),
    (t.check_frames, lambda b, w, n, f: b / np.sqrt(n) + w / np.sqrt(n * f), "variances add up"),
    (t.check_location_range, "a", "divides"),
    (t.check_location_range, "c", "what they do"),
    (t.check_location_range, "d", "sharp"),
    (t.check_change, "a", "not six times"),
    (t.check_change, "b", "hundredths"),
    (t.check_change, "d", "exact"),
    (t.check_components, lambda s, share: needed(s, share, 1), "square"),
    (t.check_components, lambda s, share: needed(s, share) - 1, "one too few"),
    (t.check_components, lambda s, share: needed(s, share) + 1, "one too many"),
    (t.check_components, lambda s, share: np.sum(np.square(s) / np.sum(np.square(s)) >= 1 - share), "add up"),
    (t.check_count, lambda s, e, r: round((e - s) * r), "length"),
    (t.check_count, lambda s, e, r: max(0, int(e * r) - int(np.ceil(s * r))), "whole"),
    (t.check_count, lambda s, e, r: int(np.ceil(e * r)) - int(s * r), "touches"),
    (t.check_count, lambda s, e, r: np.ceil(e * r) - np.ceil(s * r), "begin in it"),
    (t.check_sd, "a", "0.60"),
    (t.check_sd, "b", "half their distance"),
    (t.check_sd, "d", "0.85"),
    (t.check_needed_rise, 138.52, "same share"),
    (t.check_needed_rise, -314.15, "paper finds"),
    (t.check_needed_rise, -419.46, "raises every"),
    (t.check_needed_rise, 1992.9, "by how much"),
    (t.check_pairings, 4, "4 %"),
    (t.check_pairings, 6, "fewer"),
    (t.check_pairings, 100, "n!"),
    (t.check_pairings, 7, "subsets"),
    (t.check_pairings, 120, "of how many tokens"),
    (t.check_percent, lambda x: x, "larger"),
    (t.check_percent, lambda x: 100 * x / (100 + x), "other way round"),
    (t.check_percent, lambda x: x / (100 - x), "fraction"),
    (t.check_percent, lambda x: 100 - x, "is left"),
    (t.check_percent, lambda x: 1e4 / (100 - x), "how much more"),
    (t.check_missing_token, lambda n, d: 10.0**-d, "mean alone"),
    (t.check_missing_token, lambda n, d: n / 10**d, "n + 1"),
    (t.check_missing_token, lambda n, d: 1 / 10**d / (n + 1), "not by less"),
    (t.check_missing_token, lambda n, d: (n + 1) / 2 / 10**d, "rounded mean"),
    (t.check_family, "a", "all speakers"),
    (t.check_family, "c", "many starts"),
    (t.check_family, "d", "tongue"),
    (t.check_without_leverage, lambda x, y: np.corrcoef(x, y)[0, 1], "all points"),
    (t.check_without_leverage, lambda x, y: dropped(x, y, np.argmax(x)), "either end"),
    (t.check_without_leverage, lambda x, y: dropped(x, y, np.argmax(np.abs(y - np.mean(y)))), "not at y"),
    (t.check_without_leverage, lambda x, y: abs(without(x, y)), "sign"),
    (t.check_cut, lambda value, printed: "rounded", "it says 'rounded'"),
    (t.check_cut, lambda value, printed: cut(value, str(float(printed))), "nought counts"),
    (t.check_cut, floored, "floor"),
    (t.check_cut, lambda value, printed: "rounded" if printed == "0.8" else cut(value, printed), "binary dust"),
    (t.check_cut, lambda value, printed: 1 / 0, "raises ZeroDivisionError"),
]  # fmt: skip

CHECKS = {getattr(module, name) for module in (e, t) for name in module.__all__}


@pytest.mark.parametrize(("check", "answers"), RIGHT, ids=lambda x: getattr(x, "__name__", ""))
def test_right_answers_pass_in_every_form(check, answers):
    for answer in answers:
        feedback = check(answer)
        assert feedback.ok, feedback
    assert "not answered yet" in check(None).message


@pytest.mark.parametrize(("check", "answer", "hint"), HINTS)
def test_each_usual_mistake_gets_its_own_hint(check, answer, hint):
    feedback = check(answer)
    assert not feedback.ok
    assert hint in feedback.message


def test_every_check_is_tried_both_ways_with_three_mistakes_at_least():
    tried = {e.check_rmse if check is rmse else check for check, _ in RIGHT} | {e.check_same_vowel}
    assert tried == CHECKS
    for check in CHECKS:
        own = [check(answer).message for each, answer, _ in HINTS if each is check]
        own += [rmse(answer).message for each, answer, _ in HINTS if each is rmse and check is e.check_rmse]
        assert len(own) == len(set(own)) >= 3, check.__name__


NUMBERS = [(check, float(answers[0])) for check, answers in RIGHT if isinstance(answers[0], int | float)]


@given(st.sampled_from(NUMBERS), st.floats(0.01, 100).filter(lambda x: abs(x - 1) > 0.1))
def test_no_number_that_is_off_by_a_tenth_passes_or_is_told_that_it_is_close(case, factor):
    check, right = case
    feedback = check(factor * right)
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
    for check in CHECKS - {e.check_rmse} | {rmse}:
        feedback = check(answer)
        assert not feedback.ok
        assert len(feedback.message) > 5
        assert "close" not in feedback.message.replace("closed", "")


def test_two_tongues_with_one_vowel_are_accepted():
    one = Articulation(body=0.2, jaw=0.3)
    goal = tract.formants(one).frequencies[:2]
    other = inversion.invert(goal, Articulation(body=-0.2, root=0.4, jaw=0.3), ("dorsum", "jaw", "lips"), effort=0.001)
    assert e.check_same_vowel([one, other.articulation])


def test_numbers_by_hand_are_those_of_the_package():
    assert np.sum(tube.uniform(15.0, 30) < 8000) == 7
    first, second = tube.two_tube((1.0, 8.825), (3.0, 8.825))[:2]
    assert e.check_two_tubes(second - first)
    assert reference.burg(np.array([1.0, 2.0, 1.0]), 2) == pytest.approx([1, 0, -1])
    assert e.check_order(2 * np.sum(tube.uniform(13.0, 30) < 8000) + 2)
    four = vowel_statistics.pd.DataFrame({"speaker": "s", "F1": [1.0, 2, 3, 4], "F2": [2100.0, 1500, 900, 1500]})
    assert e.check_lobanov(vowel_statistics.lobanov(four)["F2"].min())
    assert t.check_elevation(contour_measures.elevation(7.10 - 1.30, 7.20 - 0.90))
    ends = np.array([2.0, 5.0]), np.array([6.0, 3.0])
    assert t.check_crossing(reference.crossing(np.array([1.0, 0.0]), np.array([0.6, 0.8]), *ends))
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
    r"from voicewire_book\.chapters\.pharyngeal\.drawn import (\w+)\n"
    r"from voicewire_book\.kit\.drawn import reader_seed\n\n"
    r"my_seed = reader_seed\(\)  # or a whole number of your own\nprint\(\1\.own\(my_seed\)\)\n"
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
        place, check, start, prose, *_ = cells[at + 1 :]
        name = re.match(rf"(?:{DRAWN})?(answer_\w+) = None  # your answer", place.source)
        assert name and name[2] in check.source
        assert (name[1] is not None) == ("my_seed" in check.source)
        assert "check" in check.metadata.tags
        assert "not answered yet" in said(check)
        assert start.source == f"```{{solution-start}} {asked[3]}\n:class: dropdown\n```"
        assert prose.cell_type == "markdown"
        assert len(prose.source.split()) > 25  # a way, not only a result
        end = next(k for k in range(at, len(cells)) if cells[k].source == "```{solution-end}\n```")
        assert "Right: " in said(cells[end - 1])
    assert len(kinds) >= 6
    assert set(kinds) == set(KINDS)

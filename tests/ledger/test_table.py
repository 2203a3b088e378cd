"""The judge by a table: each kind of claim, each form of a result, on each side of each edge.

Every row gives the whole finding, words included: a changed bound, sign, mean or sentence is noticed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from voicewire.stats import Interval
from voicewire_book.ledger import rules
from voicewire_book.ledger.rules import Finding
from voicewire_book.ledger.vocabulary import ClaimError

M = "\N{MINUS SIGN}"
EPS = 1e-9


def interval(low: float, high: float) -> Interval:
    return Interval((low + high) / 2, low, high, 0.95, 30)


def samples(mean: float, half: float, n: int = 8) -> np.ndarray:
    """Return n samples whose 95 % t interval is exactly mean ± half."""
    pattern = np.array([-1.0, 1.0] * (n // 2))
    unit = scipy_stats.t.ppf(0.975, n - 1) * scipy_stats.sem(pattern)
    return mean + half / unit * pattern


# Value: the band of each tolerance, the same for a number, an interval and samples

BANDS = [  # printed, tolerance, lowest, highest
    (10, {"absolute": 1}, 9, 11),
    (-10, {"absolute": 1}, -11, -9),
    (10, {"relative": 0.1}, 9, 11),
    (-10, {"relative": 0.1}, -11, -9),
    (0.001, {"absolute": 0.0005}, 0.0005, 0.0015),
    (None, {"at_least": 4}, 4, np.inf),
    (None, {"at_most": 4}, -np.inf, 4),
    (None, {"between": [4, 5]}, 4, 5),
    (7, {"at_least": 4}, 4, np.inf),
    ("a few", {"between": [4, 5]}, 4, 5),
]
FORMS = [
    pytest.param(lambda low, high: (low + high) / 2, id="scalar"),
    pytest.param(interval, id="interval"),
    pytest.param(lambda low, high: samples((low + high) / 2, (high - low) / 2), id="samples"),
]


def ends(lowest: float, highest: float) -> tuple[float, float]:
    """Return the finite part of a band, an open side cut at a distance."""
    return (lowest if np.isfinite(lowest) else highest - 8), (highest if np.isfinite(highest) else lowest + 8)


@pytest.mark.parametrize(("printed", "tolerance", "lowest", "highest"), BANDS)
def test_the_band(printed, tolerance, lowest, highest):
    number = printed if isinstance(printed, int | float) else None
    assert rules.band(number, tolerance) == pytest.approx((lowest, highest), abs=1e-11)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("printed", "tolerance", "lowest", "highest"), BANDS)
def test_a_value_inside_and_outside_each_band(form, printed, tolerance, lowest, highest):
    low, high = ends(lowest, highest)
    step = (high - low) / 8
    assert rules.value(printed, form(low + step, high - step), tolerance).holds == "yes"
    if np.isfinite(lowest):
        assert rules.value(printed, form(low, low + 2 * step) if form is interval else low, tolerance).holds == "yes"
        assert rules.value(printed, form(low - 3 * step, low - step), tolerance).holds == "no"
        assert rules.value(printed, form(low - 3 * EPS, low - EPS), tolerance).holds == "no"
    if np.isfinite(highest):
        assert rules.value(printed, form(high - 2 * step, high) if form is interval else high, tolerance).holds == "yes"
        assert rules.value(printed, form(high + step, high + 3 * step), tolerance).holds == "no"
        assert rules.value(printed, form(high + EPS, high + 3 * EPS), tolerance).holds == "no"


@pytest.mark.parametrize("form", FORMS[1:])
@pytest.mark.parametrize(("printed", "tolerance", "lowest", "highest"), BANDS)
def test_an_interval_that_straddles_an_edge_is_undecided(form, printed, tolerance, lowest, highest):
    low, high = ends(lowest, highest)
    step = (high - low) / 8
    cases = []
    if np.isfinite(lowest):
        cases.append((low - step, low + step))
    if np.isfinite(highest):
        cases.append((high - step, high + step))
    if np.isfinite([lowest, highest]).all():
        cases.append((low - step, high + step))
    for case in cases:
        assert rules.value(printed, form(*case), tolerance).holds == "undecided"


@pytest.mark.parametrize("touching", [(3, 4), (5, 6)])
def test_an_interval_that_touches_the_band_is_undecided(touching):
    """The ends belong to the band, so one value of the interval lies within it."""
    assert rules.value(None, interval(*touching), {"between": [4, 5]}).holds == "undecided"


def test_an_undecided_interval_says_both_pairs_of_ends():
    found = rules.value(10, interval(10.5, 11.5), {"absolute": 1})
    words = "11 [10.5, 11.5] against 10 (+10.00 %), astride the edge of 9 to 11"
    assert found == Finding("undecided", 11.0, words, (10.5, 11.5), frozenset({"yes", "no"}))


@pytest.mark.parametrize(
    ("printed", "computed", "tolerance", "unit", "finding"),
    [
        (10, 11, {"absolute": 1}, "s", Finding("yes", 11.0, "11 s against 10 s (+10.00 %)")),
        (10, 8, {"absolute": 1}, "", Finding("no", 8.0, f"8 against 10 ({M}20.00 %)")),
        (-10, -8, {"absolute": 1}, "", Finding("no", -8.0, f"{M}8 against {M}10 (+20.00 %)")),
        (0, 1, {"absolute": 1}, "", Finding("yes", 1.0, "1 against 0")),
        (None, 5, {"at_least": 4}, "dB", Finding("yes", 5.0, "5 dB")),
        ("a few", 5, {"at_least": 4}, "", Finding("yes", 5.0, "5")),
        (10, interval(10, 11), {"absolute": 1}, "s",
         Finding("yes", 10.5, "10.5 s [10, 11] against 10 s (+5.00 %)", (10, 11))),
        (True, True, {"absolute": 0}, "", Finding("yes", 1.0, "1 against yes (+0.00 %)")),
        ({"a": 1, "b": 2}, {"a": 1, "b": 2}, {"absolute": 0}, "s",
         Finding("yes", {"a": 1.0, "b": 2.0}, "a: 1 s against 1 s (+0.00 %); b: 2 s against 2 s (+0.00 %)")),
        ({"a": 1, "b": 2}, {"b": 2, "a": 2}, {"absolute": 0}, "",
         Finding("partly", {"a": 2.0, "b": 2.0},
                 "holds for b. a: 2 against 1 (+100.00 %); b: 2 against 2 (+0.00 %)")),
        ({1: 1, 2: 2}, {"1": 3, "2": 3}, {"absolute": 0}, "",
         Finding("no", {"1": 3.0, "2": 3.0}, "1: 3 against 1 (+200.00 %); 2: 3 against 2 (+50.00 %)")),
        ({"a": "few", "b": 2}, {"a": 4, "b": 5}, {"at_least": 4}, "",
         Finding("yes", {"a": 4.0, "b": 5.0}, "a: 4; b: 5 against 2 (+150.00 %)")),
        ({"a": 1, "b": 2}, {"a": interval(1, 1), "b": interval(2, 2)}, {"absolute": 0}, "",
         Finding("yes", {"a": 1.0, "b": 2.0}, "a: 1 [1, 1] against 1 (+0.00 %); b: 2 [2, 2] against 2 (+0.00 %)")),
    ],
)  # fmt: skip
def test_the_whole_finding_of_a_value(printed, computed, tolerance, unit, finding):
    assert rules.value(printed, computed, tolerance, unit) == finding


IN, OPEN, OUT = interval(10, 10.1), interval(10.5, 11.5), interval(12, 13)


@pytest.mark.parametrize(
    ("parts", "holds"),
    [
        ((IN, IN), "yes"),
        ((IN, OPEN), "undecided"),  # yes, or partly
        ((OPEN, OUT), "undecided"),  # no, or partly
        ((OPEN, OPEN), "undecided"),
        ((OUT, OUT), "no"),
        ((IN, OUT), "partly"),
        ((IN, OPEN, OUT), "partly"),  # whatever the open one turns out to be
    ],
)
def test_several_labels_of_which_some_straddle(parts, holds):
    by_label = {str(n): part for n, part in enumerate(parts)}
    assert rules.value(dict.fromkeys(by_label, 10), by_label, {"absolute": 1}).holds == holds


FAR, NEAR, BACK = 5.0, 0.1, -5.0


@pytest.mark.parametrize(
    ("steps", "holds", "words"),
    [
        ((FAR, FAR), "yes", ""),
        ((FAR, NEAR), "undecided", "; undecided: b < c"),
        ((NEAR, BACK), "undecided", "; not shown: b < c; undecided: a < b"),
        ((BACK, BACK), "no", "; not shown: a < b, b < c"),
        ((FAR, BACK), "partly", "; not shown: b < c"),
        ((FAR, NEAR, BACK), "partly", "; not shown: c < d; undecided: b < c"),
    ],
)
def test_an_order_of_several_of_which_some_straddle(steps, holds, words):
    means = dict(zip("abcd", np.cumsum([0.0, *steps]), strict=False))
    found = rules.ordering(list(means), {name: samples(mean, 1) for name, mean in means.items()})
    assert (found.holds, found.detail[found.detail.find(";") :] if ";" in found.detail else "") == (holds, words)


def test_a_long_list_names_the_farthest_only():
    printed = {f"k{i}": i for i in range(1, 10)}
    near = {**printed, "k4": 4.5, "k7": 6.25}
    found = rules.value(printed, near, {"absolute": 0})
    assert (found.holds, found.detail) == ("partly", f"7 of 9 hold; the farthest is k7: 6.25 against 7 ({M}10.71 %)")
    words = dict.fromkeys(printed, "some")
    assert rules.value(words, near, {"at_least": 0}).detail == "9 of 9 hold"
    eight = {key: printed[key] for key in list(printed)[:8]}
    assert rules.value(eight, eight, {"absolute": 0}).detail.startswith("k1: 1 against 1")


@pytest.mark.parametrize(
    ("printed", "computed", "tolerance", "message"),
    [
        (None, 1, {"absolute": 1}, "a tolerance of kind 'absolute' needs a printed number"),
        (None, 1, {"relative": 1}, "a tolerance of kind 'relative' needs a printed number"),
        (1, {"a": 1}, {"absolute": 1}, "the claim prints one number, but several were computed"),
        ({"a": 1, "b": 2}, 1, {"absolute": 1}, "values are needed for exactly these labels: a, b"),
        ({"a": 1, "b": 2}, {"a": 1, "c": 1}, {"absolute": 1}, "values are needed for exactly these labels: a, b"),
        ({"a": 1}, {"a": 1, "b": 1}, {"absolute": 1}, "values are needed for exactly these labels: a"),
        (1, "six", {"absolute": 1}, "a number, an interval or samples are needed, not 'six'"),
        (1, 1j, {"absolute": 1}, "a number, an interval or samples are needed, not 1j"),
        (1, np.nan, {"absolute": 1}, "the computed value holds NaN or infinity"),
        (1, [1, np.inf], {"absolute": 1}, "the computed value holds NaN or infinity"),
        (1, [1.0], {"absolute": 1}, "a number or a 1-D array of at least two samples is needed, not shape (1,)"),
        (1, np.ones((2, 2)), {"absolute": 1},
         "a number or a 1-D array of at least two samples is needed, not shape (2, 2)"),
    ],
)  # fmt: skip
def test_what_a_value_refuses(printed, computed, tolerance, message):
    with pytest.raises(ClaimError) as error:
        rules.value(printed, computed, tolerance)
    assert str(error.value) == message


@pytest.mark.parametrize("computed", [True, np.bool_(True), 1, np.uint8(1), np.int64(1), 1.0, np.float32(1), [1, 1]])
def test_each_kind_of_number_is_one(computed):
    assert rules.value(1, computed, {"absolute": 0}).reproduced == 1.0


@pytest.mark.parametrize(("off", "holds"), [(1e-13, "yes"), (1e-11, "no")])
@pytest.mark.parametrize("printed", [0.1, 1.0, 1000.0])
def test_rounding_is_forgiven_and_nothing_more(printed, off, holds):
    assert rules.value(printed, printed + off * max(1, printed), {"absolute": 0}).holds == holds
    assert rules.value(printed, printed - off * max(1, printed), {"absolute": 0}).holds == holds


# Ordering


@pytest.mark.parametrize(
    ("low", "high", "margin", "holds"),
    [
        (1, 2, 0.0, "yes"),  # a number each
        (2, 1, 0.0, "no"),
        (1, 1, 0.0, "no"),
        (1, 2, 1.0, "no"),  # the margin itself isn't enough
        (1, 2, 0.999, "yes"),
        (2, 1, -1.5, "yes"),
        (samples(1, 0.1), samples(2, 0.1), 0.0, "yes"),  # samples
        (samples(1, 0.1), samples(2, 0.1), 0.8, "yes"),
        (samples(1, 0.1), samples(2, 0.1), 0.9, "undecided"),  # straddles the margin
        (samples(1, 0.1), samples(2, 0.1), 1.2, "no"),
        (samples(1, 0.1), samples(2, 0.1), 1.1, "undecided"),  # from the other side
        (samples(1, 1), samples(1.5, 1), 0.0, "undecided"),  # straddles zero
        (samples(2, 0.1), samples(1, 0.1), 0.0, "no"),
        (1, samples(2, 5), 0.0, "undecided"),  # a number on one side: the interval of the other
        (samples(1, 5), 2, 0.0, "undecided"),
        (1, samples(2, 0.9), 0.0, "yes"),
        (1, samples(2, 0.9), 0.2, "undecided"),
        (3, samples(2, 0.9), 0.0, "no"),
        (samples(1, 0.9), 2, 0.0, "yes"),
        (samples(1, 0.9), 2, 0.2, "undecided"),
        (samples(3, 0.9), 2, 0.0, "no"),
        (1, [2, 2, 2], 0.5, "yes"),  # without spread
        ([1, 1, 1], [2, 2, 2], 0.5, "yes"),  # no spread on either side
        ([1, 1, 1], samples(2, 0.1), 0.8, "yes"),  # no spread on one side
        ([1, 1, 1], samples(2, 0.4), 0.8, "undecided"),
        (samples(1, 0.4), [2, 2, 2], 0.8, "undecided"),
    ],
)
def test_an_order_of_two(low, high, margin, holds):
    assert rules.ordering(["a", "b"], {"a": low, "b": high}, margin).holds == holds


def test_the_difference_of_samples_has_welchs_interval():
    rng = np.random.default_rng(3)
    low, high = rng.normal(1, 1, 12), rng.normal(3, 4, 7)
    expected = scipy_stats.ttest_ind(high, low, equal_var=False).confidence_interval(0.95)
    assert rules.difference(low, high) == pytest.approx((high.mean() - low.mean(), expected.low, expected.high))
    one = scipy_stats.ttest_1samp(low, 2.0).confidence_interval(0.95)
    assert rules.difference(low, 2.0) == pytest.approx((2.0 - low.mean(), 2.0 - one.high, 2.0 - one.low))
    one = scipy_stats.ttest_1samp(high, 2.0).confidence_interval(0.95)
    assert rules.difference(2.0, high) == pytest.approx((high.mean() - 2.0, one.low - 2.0, one.high - 2.0))
    assert rules.difference([1, 1], [3, 3]) == (2.0, 2.0, 2.0)


@pytest.mark.parametrize(
    ("computed", "finding"),
    [
        ({"a": 1, "b": 2, "c": 3}, Finding("yes", {"a": 1.0, "b": 2.0, "c": 3.0}, "found a (1 s) < b (2 s) < c (3 s)")),
        ({"a": 1, "b": 3, "c": 2},
         Finding("partly", {"a": 1.0, "b": 3.0, "c": 2.0}, "found a (1 s) < c (2 s) < b (3 s); not shown: b < c")),
        ({"c": 1, "b": 2, "a": 3},
         Finding("no", {"a": 3.0, "b": 2.0, "c": 1.0},
                 "found c (1 s) < b (2 s) < a (3 s); not shown: a < b, b < c")),
    ],
)  # fmt: skip
def test_the_whole_finding_of_an_order(computed, finding):
    assert rules.ordering(["a", "b", "c"], computed, unit="s") == finding


@pytest.mark.parametrize(
    ("printed", "computed", "message"),
    [
        (["a", "b"], {"a": 1}, "values are needed for exactly these labels: a, b"),
        (["a", "b"], [1, 2], "values are needed for exactly these labels: a, b"),
        (["a", "b"], {"a": 1, "b": np.nan}, "the computed value holds NaN or infinity"),
        (["a", "b"], {"a": 1, "b": [1.0]},
         "a number or a 1-D array of at least two samples is needed, not shape (1,)"),
        (["a", "b"], {"a": 1, "b": [[1, 2], [3, 4]]},
         "a number or a 1-D array of at least two samples is needed, not shape (2, 2)"),
    ],
)  # fmt: skip
def test_what_an_order_refuses(printed, computed, message):
    with pytest.raises(ClaimError) as error:
        rules.ordering(printed, computed)
    assert str(error.value) == message


# Trend

X = [1, 2, 4]
UP, DOWN = [1.0, 2.0, 3.0], [3.0, 2.0, 1.0]


@pytest.mark.parametrize(
    ("printed", "y", "tolerance", "holds"),
    [
        ("increasing", UP, None, "yes"),
        ("increasing", DOWN, None, "no"),
        ("decreasing", DOWN, None, "yes"),
        ("decreasing", UP, None, "no"),
        ("increasing", [1, 1, 2], None, "yes"),  # a step of nothing isn't against it
        ("increasing", [1, 1, 1], None, "no"),  # nothing on the whole isn't a rise
        ("increasing", [2, 1, 3], {"absolute": 1}, "yes"),  # the slack itself is allowed
        ("increasing", [2, 1, 3], {"absolute": 0.99}, "no"),
        ("increasing", [2, 1, 3], {"relative": 0.5}, "yes"),  # of the mean size, 2
        ("increasing", [2, 1, 3], {"relative": 0.49}, "no"),
        ("decreasing", [-2, -1, -3], {"relative": 0.5}, "yes"),
        ("decreasing", [-2, -1, -3], {"relative": 0.49}, "no"),
        ("increasing", [3, 2.5, 2], {"absolute": 1}, "no"),  # small steps down don't add up to a rise
        ("constant", [1, 1.5, 1], {"absolute": 0.5}, "yes"),
        ("constant", [1, 1.5, 1], {"absolute": 0.49}, "no"),
        ("constant", [2, 2, 2], None, "yes"),
        ("constant", [1, 2, 3], {"relative": 1}, "yes"),
        ("constant", [1, 2, 3], {"relative": 0.99}, "no"),
        ("increasing", [samples(m, 0.1) for m in UP], None, "yes"),
        ("increasing", [samples(m, 0.1) for m in DOWN], None, "no"),
        ("decreasing", [samples(m, 0.1) for m in DOWN], None, "yes"),
        ("increasing", [samples(m, 0.2) for m in (2, 1.9, 3)], None, "yes"),  # a step down within its interval
        ("increasing", [samples(m, 0.02) for m in (2, 1.9, 3)], None, "no"),  # clearly down
        ("increasing", [samples(m, 0.02) for m in (2, 1.9, 3)], {"absolute": 0.1}, "yes"),
        ("increasing", [samples(m, 0.4) for m in (2, 2.1, 2.2)], None, "undecided"),  # the whole rise isn't shown
        ("decreasing", [samples(m, 0.4) for m in (2.2, 2.1, 2)], None, "undecided"),
        ("increasing", [samples(m, 0.4) for m in (2, 2.6, 2.2)], None, "undecided"),  # first to last, not to the middle
        ("increasing", [samples(m, 0.1) for m in (2, 1, 2.05)], None, "no"),  # a step clearly down: not open
        ("increasing", [samples(m, 0.4) for m in (2.2, 2.1, 2)], None, "undecided"),  # nor is a fall
        ("increasing", [samples(m, 0.02) for m in (2, 1.8, 2)], {"absolute": 0.3}, "undecided"),  # an allowed step down
        ("constant", [samples(m, 9) for m in (2, 2, 2)], None, "undecided"),  # equal means alone show nothing
        ("constant", [samples(m, 9) for m in (2, 2, 2)], {"absolute": 1}, "undecided"),
        ("constant", [samples(m, 0.1) for m in (2, 2, 2)], {"absolute": 1}, "yes"),
        ("constant", [samples(m, 0.1) for m in (2, 2.2, 2)], {"absolute": 1}, "yes"),  # a difference that is too small
        ("constant", [samples(m, 0.1) for m in (2, 2.9, 2)], {"absolute": 1}, "undecided"),
        ("constant", [samples(m, 0.1) for m in (2, 3.1, 2)], {"absolute": 1}, "undecided"),
        ("constant", [samples(m, 0.1) for m in (2, 4, 2)], {"absolute": 1}, "no"),
        ("constant", [samples(m, 0.1) for m in (4, 2, 3)], {"absolute": 1}, "no"),
        ("constant", [samples(m, 0.1) for m in (2, 2.55, 3.1)], {"absolute": 1}, "undecided"),  # not neighbours only
        ("constant", [samples(m, 0.1) for m in (2, 2.8, 3.6)], {"absolute": 1}, "no"),
        ("constant", [samples(m, 0.1) for m in (8, 8, 8)], {"relative": 0.1}, "yes"),
        ("constant", [samples(m, 0.6) for m in (8, 8, 8)], {"relative": 0.1}, "undecided"),
        ("constant", [[2, 2], [2, 2], [2, 2]], {"absolute": 0}, "yes"),  # without spread
    ],
)
def test_a_trend(printed, y, tolerance, holds):
    assert rules.trend(printed, (X, y), tolerance).holds == holds


@pytest.mark.parametrize(
    ("printed", "steps", "tolerance", "apart", "together"),
    [
        ("increasing", (0, 1, 2), None, "undecided", "yes"),
        ("decreasing", (2, 1, 0), None, "undecided", "yes"),
        ("increasing", (0, 2, 1), None, "undecided", "no"),  # a step down that the seeds' own spread had hidden
        ("constant", (0, 0.1, 0), {"absolute": 1}, "undecided", "yes"),
        ("constant", (0, 3, 0), {"absolute": 1}, "undecided", "no"),
    ],
)
def test_paired_rows_of_a_trend_are_compared_seed_by_seed(printed, steps, tolerance, apart, together):
    """What all rows of a seed share drops out of their differences."""
    seeds, rng = np.linspace(-20, 20, 9), np.random.default_rng(2)
    rows = [step + seeds + 0.01 * rng.normal(size=9) for step in steps]
    assert rules.trend(printed, (X, rows), tolerance).holds == apart
    assert rules.trend(printed, (X, rows), tolerance, paired=True).holds == together
    with pytest.raises(ClaimError, match="paired samples are needed"):
        rules.trend(printed, (X, list(steps)), tolerance, paired=True)


def test_a_constant_is_judged_by_the_intervals_of_all_differences_together():
    """The widest step of three gets Bonferroni's share: a third of 5 % for each of the three differences."""
    rows = [samples(2, 0.3), samples(2, 0.3), samples(2.4, 0.3)]
    half = scipy_stats.ttest_ind(rows[2], rows[0], equal_var=False).confidence_interval(1 - 0.05 / 3).high - 0.4
    for margin, holds in ((0.4 + half + EPS, "yes"), (0.4 + half - EPS, "undecided")):
        assert rules.trend("constant", (X, rows), {"absolute": margin}).holds == holds
    far = [rows[0], rows[1], rows[2] + 1]
    for margin, holds in ((1.4 - half - EPS, "no"), (1.4 - half + EPS, "undecided")):
        assert rules.trend("constant", (X, far), {"absolute": margin}).holds == holds
    found = rules.trend("constant", (X, rows), {"absolute": 0.5}, "s")
    ends = f"[{rules.show(0.4 - half, 's')}, {rules.show(0.4 + half, 's')}]"
    assert found.detail.startswith(f"the difference that decides, 4 less 1, is 0.4 s {ends}, margin 0.5 (1: 2 s, ")
    fall = rules.trend("constant", (X, rows[::-1]), {"absolute": 0.5}, "s")
    assert fall.detail.startswith(f"the difference that decides, 2 less 1, is {M}0.4 s [")


@pytest.mark.parametrize("shift", [0.0, 0.99, 1.01, 1.5])
def test_a_constant_trend_errs_as_seldom_as_it_says(shift):
    """What differs by more than the margin is called constant, and what does not is called changing, in 5 % at most."""
    rng = np.random.default_rng(11)
    found = [
        rules.trend("constant", (X, rng.normal([[0], [0], [shift]], 0.5, (3, 30))), {"absolute": 1}).holds
        for _ in range(200)
    ]
    assert found.count("yes" if shift > 1 else "no") <= 0.05 * 200
    assert found.count("no" if shift > 1 else "yes") > (0.9 * 200 if shift in (0.0, 1.5) else -1)


@pytest.mark.parametrize(
    ("printed", "y", "finding"),
    [
        ("increasing", [1, 2, 3, 4], Finding("yes", [1.0, 2.0, 3.0, 4.0], "1: 1 s, 2: 2 s, 4: 3 s, 5: 4 s")),
        ("increasing", [1, 2, 3, 2], Finding("partly", [1.0, 2.0, 3.0, 2.0],
                                             "holds from 1 to 4 (1: 1 s, 2: 2 s, 4: 3 s, 5: 2 s)")),
        ("increasing", [3, 1, 2, 3], Finding("partly", [3.0, 1.0, 2.0, 3.0],
                                             "holds from 2 to 5 (1: 3 s, 2: 1 s, 4: 2 s, 5: 3 s)")),
        ("increasing", [2, 3, 1, 2], Finding("no", [2.0, 3.0, 1.0, 2.0], "1: 2 s, 2: 3 s, 4: 1 s, 5: 2 s")),
        ("constant", [1, 2, 3, 2], Finding("no", [1.0, 2.0, 3.0, 2.0],
                                           "spread 2 s (1: 1 s, 2: 2 s, 4: 3 s, 5: 2 s)")),
    ],
)  # fmt: skip
def test_the_whole_finding_of_a_trend(printed, y, finding):
    assert rules.trend(printed, ([1, 2, 4, 5], y), None, "s") == finding


def test_the_first_of_the_longest_spans_is_named():
    found = rules.trend("increasing", (range(7), [1, 2, 3, 0, 1, 2, 0]), None)
    assert (found.holds, found.detail[:18]) == ("partly", "holds from 0 to 2 ")
    found = rules.trend("increasing", (range(8), [1, 2, 3, 0, 1, 2, 3, 0]), None)
    assert found.detail[:18] == "holds from 3 to 6 "


def test_two_points_are_a_trend():
    assert rules.trend("increasing", ([1, 2], [1, 2]), None).holds == "yes"
    assert rules.trend("increasing", ([1, 2], [2, 1]), None).holds == "no"


SHAPE = "a trend needs x in increasing order and one value, or row of samples, for each x"


@pytest.mark.parametrize(
    ("computed", "printed", "tolerance", "message"),
    [
        ((X, UP, UP), "increasing", None, "a pair is needed: (x, y)"),
        (np.array([X, UP]), "increasing", None, "a pair is needed: (x, y)"),
        (3, "increasing", None, "a pair is needed: (x, y)"),
        (([1, 1, 2], UP), "increasing", None, SHAPE),
        (([2, 1, 3], UP), "increasing", None, SHAPE),
        (([1], [1]), "increasing", None, SHAPE),
        (([1, 2], UP), "increasing", None, SHAPE),
        (([[1, 2]], UP), "increasing", None, SHAPE),
        ((X, np.ones((3, 2, 2))), "increasing", None, SHAPE),
        ((1, 1), "increasing", None, SHAPE),
        ((X, [1, np.nan, 2]), "increasing", None, "the computed value holds NaN or infinity"),
        (([1, 2, np.inf], UP), "increasing", None, "the computed value holds NaN or infinity"),
        ((X, UP), "rising", None, "a trend is increasing, decreasing or constant, not 'rising'"),
        ((X, UP), "increasing", {"at_least": 1}, "a relative or absolute tolerance is needed here, not 'at_least'"),
        ((X, UP), "increasing", {"between": [1, 2]}, "a relative or absolute tolerance is needed here, not 'between'"),
    ],
)
def test_what_a_trend_refuses(computed, printed, tolerance, message):
    with pytest.raises(ClaimError) as error:
        rules.trend(printed, computed, tolerance)
    assert str(error.value) == message


# Identity

WIDE = np.array([0, 255], dtype=np.uint8)


@pytest.mark.parametrize(
    ("left", "right", "tolerance", "finding"),
    [
        (4, 4, None, Finding("yes", 4.0, "largest difference 0 (4 against 4)")),
        (4, 5, None, Finding("no", 4.0, "largest difference 1 (4 against 5)")),
        (4, 5, {"absolute": 1}, Finding("yes", 4.0, "largest difference 1 (4 against 5)")),
        (4, 5, {"absolute": 0.9}, Finding("no", 4.0, "largest difference 1 (4 against 5)")),
        (4, 5, {"relative": 0.2}, Finding("yes", 4.0, "largest difference 1 (4 against 5)")),
        (5, 4, {"relative": 0.2}, Finding("no", 5.0, "largest difference 1 (5 against 4)")),  # of the right side
        (4, -5, {"relative": 1.8}, Finding("yes", 4.0, f"largest difference 9 (4 against {M}5)")),
        (1j, 1, {"absolute": 1.5}, Finding("yes", 2**0.5, "largest difference 1.4142 (1j against 1)")),
        ([1.0, 2.0], [1.0, 2.5], None, Finding("no", 0.5, "largest difference 0.5")),
        ([1.0, 2.0], [0.5, 2.5], {"absolute": 0.5}, Finding("yes", 0.5, "largest difference 0.5")),
        ([-3.0, 2.0], [-4.0, 2.0], {"relative": 0.25}, Finding("yes", 1.0, "largest difference 1")),
        ([[1, 2], [3, 4]], [[1, 2], [3, 5]], None, Finding("no", 1.0, "largest difference 1")),
        ([], [], None, Finding("yes", 0.0, "largest difference 0")),
        (WIDE, WIDE[::-1], {"absolute": 1}, Finding("no", 255.0, "largest difference 255")),  # nothing wraps round
        (2**60, 2**60 + 1, None, Finding("no", float(2**60), "largest difference 1 (1.1529e+18 against 1.1529e+18)")),
        ([1, 2], [1, 2, 3], None, Finding("no", None, "shapes differ: (2,) and (3,)")),
        (True, True, None, Finding("yes", True, "yes against yes")),
        (True, False, None, Finding("no", True, "yes against no")),
        ("a", "a", None, Finding("yes", "a", "a against a")),
        ("a", "b", None, Finding("no", "a", "a against b")),
        (list("abcdef"), list("abcdef"), None,
         Finding("yes", list("abcdef"), "a, b, c, d, e, f against a, b, c, d, e, f")),
        (list("abcdefg"), list("abcdefg"), None, Finding("yes", True, "7 compared")),
        (list("abcdefg"), list("abcdefh"), None, Finding("no", False, "7 compared")),
        (["a", "b"], ["a", "c"], None, Finding("no", ["a", "b"], "a, b against a, c")),
        (1, True, None, Finding("yes", 1, "1 against yes")),
        ("1", 1, None, Finding("no", "1", "1 against 1")),
    ],
)  # fmt: skip
def test_the_whole_finding_of_an_identity(left, right, tolerance, finding):
    found: Any = rules.identity((left, right), tolerance)
    assert found == finding
    assert type(found.reproduced) is type(finding.reproduced)


@pytest.mark.parametrize(
    ("computed", "tolerance", "message"),
    [
        ((1, 2, 3), None, "a pair is needed: (left, right)"),
        (1, None, "a pair is needed: (left, right)"),
        ((np.nan, 1.0), None, "the computed value holds NaN or infinity"),
        ((1.0, np.inf), None, "the computed value holds NaN or infinity"),
        ((1.0, 1.0), {"at_most": 1}, "a relative or absolute tolerance is needed here, not 'at_most'"),
    ],
)
def test_what_an_identity_refuses(computed, tolerance, message):
    with pytest.raises(ClaimError) as error:
        rules.identity(computed, tolerance)
    assert str(error.value) == message

"""Each kind of claim is decided by its rule, on both sides of the line and on the line."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicewire.stats import Interval
from voicewire_book.ledger import presentation, rules
from voicewire_book.ledger.vocabulary import ClaimError


@pytest.mark.parametrize(
    ("printed", "computed", "tolerance", "holds"),
    [
        (6.24, 6.30, {"relative": 0.01}, "yes"),
        (6.24, 6.31, {"relative": 0.01}, "no"),
        (-4.0, -4.3, {"relative": 0.1}, "yes"),
        (0.3, 0.1 + 0.2, {"absolute": 0.0}, "yes"),
        (5, 5.5, {"absolute": 0.5}, "yes"),
        (None, 4, {"at_least": 4}, "yes"),
        (None, 3.9, {"at_least": 4}, "no"),
        (None, 4.1, {"at_most": 4}, "no"),
        (None, 4.1, {"between": [4, 5]}, "yes"),
        ({"a": 1, "b": 2}, {"a": 1, "b": 2}, {"absolute": 0}, "yes"),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, {"absolute": 0}, "partly"),
        ({"a": 1, "b": 2}, {"a": 2, "b": 3}, {"absolute": 0}, "no"),
    ],
)
def test_value(printed, computed, tolerance, holds):
    assert rules.value(printed, computed, tolerance).holds == holds


def test_an_interval_must_lie_on_one_side():
    inside, outside = Interval(10, 9.9, 10.1, 0.95, 30), Interval(12, 11.5, 12.5, 0.95, 30)
    assert rules.value(10, inside, {"absolute": 0.5}).holds == "yes"
    assert rules.value(10, outside, {"absolute": 0.5}).holds == "no"
    assert rules.value(10, Interval(10.4, 10.1, 10.7, 0.95, 30), {"absolute": 0.5}).holds == "undecided"


def test_samples_are_judged_by_their_interval():
    samples = np.random.default_rng(1).normal(10, 0.1, 50)
    found = rules.value(10, samples, {"absolute": 0.5})
    assert found.holds == "yes"
    assert found.interval is not None
    assert found.interval[0] < found.reproduced < found.interval[1]


@pytest.mark.parametrize("bad", [math.nan, math.inf, [1.0, math.nan], "six", None, np.zeros((2, 2)), [1.0]])
def test_values_that_cannot_be_judged(bad):
    with pytest.raises(ClaimError):
        rules.value(1.0, bad, {"absolute": 1})


def test_labels_must_match():
    with pytest.raises(ClaimError, match="exactly these labels: a, b"):
        rules.value({"a": 1, "b": 2}, {"a": 1}, {"absolute": 0})
    with pytest.raises(ClaimError, match="one number"):
        rules.value(1, {"a": 1}, {"absolute": 0})


def test_ordering():
    assert rules.ordering(["a", "b", "c"], {"a": 1, "b": 2, "c": 3}).holds == "yes"
    assert rules.ordering(["a", "b", "c"], {"a": 1, "b": 3, "c": 2}).holds == "partly"
    assert rules.ordering(["a", "b", "c"], {"a": 3, "b": 2, "c": 1}).holds == "no"
    assert rules.ordering(["a", "b"], {"a": 1, "b": 1}).holds == "no"
    assert rules.ordering(["a", "b"], {"a": 1, "b": 2}, margin=1.5).holds == "no"
    with pytest.raises(ClaimError, match="labels"):
        rules.ordering(["a", "b"], {"a": 1})


def test_ordering_of_samples_needs_a_clear_difference():
    rng = np.random.default_rng(2)
    near = {"a": rng.normal(0, 1, 10), "b": rng.normal(0.1, 1, 10)}
    far = {"a": rng.normal(0, 1, 10), "b": rng.normal(5, 1, 10)}
    assert rules.ordering(["a", "b"], near).holds == "undecided"
    assert rules.ordering(["a", "b"], far).holds == "yes"
    assert rules.ordering(["b", "a"], far).holds == "no"


def test_trend():
    x = [1, 2, 3, 4]
    assert rules.trend("increasing", (x, [1, 2, 3, 4]), None).holds == "yes"
    assert rules.trend("decreasing", (x, [1, 2, 3, 4]), None).holds == "no"
    assert rules.trend("increasing", (x, [1, 2, 1.9, 4]), None).holds == "no"
    assert rules.trend("increasing", (x, [1, 2, 1.9, 4]), {"absolute": 0.2}).holds == "yes"
    found = rules.trend("increasing", (x, [1, 2, 3, 2]), None)
    assert found.holds == "partly"
    assert "from 1 to 3" in found.detail
    assert rules.trend("constant", (x, [5, 5.1, 5, 4.9]), {"relative": 0.05}).holds == "yes"
    assert rules.trend("constant", (x, [5, 6, 5, 4.9]), {"relative": 0.05}).holds == "no"
    assert rules.trend("increasing", (x, [1, 1, 1, 1]), {"absolute": 1}).holds == "no"


@pytest.mark.parametrize("bad", [([2, 1], [1, 2]), ([1], [1]), ([1, 2], [1]), ([1, 2], [1, math.nan])])
def test_trends_that_cannot_be_judged(bad):
    with pytest.raises(ClaimError):
        rules.trend("increasing", bad, None)


def test_identity():
    assert rules.identity((1, 1), None).holds == "yes"
    assert rules.identity((1, 1 + 1e-9), None).holds == "no"
    assert rules.identity((np.ones(3), np.ones(3) + 1e-9), {"absolute": 1e-8}).holds == "yes"
    assert rules.identity((np.ones(3), np.ones(4)), None).holds == "no"
    assert rules.identity((True, True), None).holds == "yes"
    assert rules.identity(("a", "b"), None).holds == "no"
    with pytest.raises(ClaimError, match="NaN"):
        rules.identity((math.nan, math.nan), None)


@given(
    printed=st.floats(-1e6, 1e6).filter(lambda v: abs(v) > 1e-6),
    offset=st.floats(0.01, 3),
    size=st.floats(0.001, 0.9),
    sign=st.sampled_from([-1, 1]),
)
def test_relative_tolerance_is_a_symmetric_band(printed, offset, size, sign):
    computed = printed + sign * offset * size * abs(printed)
    expected = "yes" if offset <= 1 else "no"
    if abs(offset - 1) > 1e-9:
        assert rules.value(printed, computed, {"relative": size}).holds == expected


def test_numbers_are_shown_short():
    assert presentation.show(-0.123456789, "s") == "\N{MINUS SIGN}0.12346 s"
    assert presentation.show({"a": 1, "b": True}) == "a: 1; b: yes"
    assert presentation.show(None) == ""

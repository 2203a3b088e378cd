"""Intervals: against SciPy, against textbook numbers, and against what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from voicewire.stats import (
    Interval,
    Quartiles,
    autocorrelation,
    bootstrap_interval,
    effective_size,
    quartiles,
    t_interval,
)

numbers = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30)


def test_t_interval_of_a_textbook_sample():
    # mean 3, s = sqrt(2.5), t(0.975; 4) = 2.776445
    half = 2.776445 * math.sqrt(2.5 / 5)
    interval = t_interval([1, 2, 3, 4, 5])
    assert (interval.estimate, interval.n, interval.confidence) == (3.0, 5, 0.95)
    assert interval.low == pytest.approx(3 - half, rel=1e-6)
    assert interval.high == pytest.approx(3 + half, rel=1e-6)
    assert interval.half_width == pytest.approx(half, rel=1e-6)


def test_t_interval_covers_the_true_mean_as_often_as_it_says():
    runs = np.random.default_rng(7).normal(10.0, 3.0, size=(2000, 6))
    covered = sum(10.0 in t_interval(row, 0.90) for row in runs)
    assert scipy_stats.binomtest(covered, 2000, 0.90).pvalue > 0.001


@given(numbers)
@example([0.0, 5e-324])  # its standard error underflows
def test_t_interval_holds_the_mean_and_widens_with_confidence(samples):
    narrow, wide = t_interval(samples, 0.5), t_interval(samples, 0.99)
    assert narrow.low <= narrow.estimate <= narrow.high
    assert wide.half_width >= narrow.half_width


@pytest.mark.parametrize("value", [0.1, 6.24, 0.0, -3.3])
def test_equal_samples_have_an_interval_of_width_zero(value):
    for interval in (
        t_interval([value] * 7),
        bootstrap_interval([value] * 7, np.median, np.random.default_rng(0)),
    ):
        assert (interval.estimate, interval.low, interval.high) == (value, value, value)


def test_bootstrap_is_scipys_and_repeats_with_the_seed():
    samples = np.random.default_rng(3).exponential(size=40)
    ours = bootstrap_interval(samples, np.mean, np.random.default_rng(5), resamples=500)
    theirs = scipy_stats.bootstrap(
        (samples,), np.mean, n_resamples=500, random_state=np.random.default_rng(5), vectorized=False
    ).confidence_interval
    assert (ours.low, ours.high) == (theirs.low, theirs.high)
    assert ours == bootstrap_interval(samples, np.mean, np.random.default_rng(5), resamples=500)
    assert ours != bootstrap_interval(samples, np.mean, np.random.default_rng(6), resamples=500)


def test_bootstrap_without_a_bca_interval_falls_back_on_percentiles():
    samples = [1.0] * 20 + [2.0]  # the jackknife of the median has no spread
    interval = bootstrap_interval(samples, np.median, np.random.default_rng(0), resamples=200)
    assert (interval.low, interval.high) == (1.0, 1.0)


def test_quartiles_are_type_seven():
    assert quartiles([1, 2, 3, 4]) == Quartiles(1.75, 2.5, 3.25)
    assert quartiles([5.0]) == (5.0, 5.0, 5.0)


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([], "2 or more samples are needed, got 0"),
        ([1.0], "2 or more samples are needed, got 1"),
        ([1.0, math.nan], "1 of 2 samples are not finite .*nan at index 1"),
        ([math.inf, 1.0, 2.0], "not finite .*inf at index 0"),
        ([[1.0, 2.0], [3.0, 4.0]], "one-dimensional"),
        ([[[1.0, 2.0]]], "one-dimensional"),
        ([[[[1.0, 2.0]]]], r"must have 0 or 1 or 2 or 3 dimension\(s\)"),
        (["a", "b"], "must be an array of numbers"),
    ],
)
def test_samples_that_mean_nothing_are_named(samples, message):
    with pytest.raises(ValueError, match=message):
        t_interval(samples)
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(samples, np.mean, np.random.default_rng(0))


def test_quartiles_of_nothing_or_nan_are_refused():
    with pytest.raises(ValueError, match="1 or more samples are needed, got 0"):
        quartiles([])
    with pytest.raises(ValueError, match="not finite"):
        quartiles([1.0, math.nan])


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.5, math.nan])
def test_confidence_is_a_fraction(confidence):
    with pytest.raises(ValueError, match=r"write 0\.95 for 95 %"):
        t_interval([1.0, 2.0], confidence)


def test_a_statistic_must_give_one_number():
    with pytest.raises(ValueError, match="one finite number"):
        bootstrap_interval([1.0, 2.0, 3.0], lambda x: x, np.random.default_rng(0))  # type: ignore[arg-type,return-value]
    with pytest.raises(ValueError, match="at least one resample"):
        bootstrap_interval([1.0, 2.0, 3.0], np.mean, np.random.default_rng(0), resamples=0)


def test_an_interval_refuses_nonsense_and_prints_itself():
    with pytest.raises(ValueError, match="swap them"):
        Interval(1.0, 2.0, 0.0, 0.95, 3)
    with pytest.raises(ValueError, match="finite"):
        Interval(math.nan, 0.0, 1.0, 0.95, 3)
    interval = Interval(6.24, 6.2, 6.28, 0.95, 10)
    assert f"{interval:.1f}" == "6.2 [6.2, 6.3]"
    assert str(interval) == "6.24 [6.2, 6.28]"
    assert 6.25 in interval
    assert 6.3 not in interval


def test_an_interval_holds_its_own_ends_and_may_be_a_point():
    interval = Interval(6.24, 6.2, 6.28, 0.95, 10)
    assert 6.2 in interval
    assert 6.28 in interval
    assert 6.19 not in interval
    assert 1.5 in Interval(1.5, 1.5, 1.5, 0.95, 1)


@pytest.mark.parametrize("place", range(3))
def test_each_number_of_an_interval_is_finite(place):
    numbers = [1.0, 1.0, 1.0]
    numbers[place] = math.inf
    with pytest.raises(ValueError, match="an interval needs finite numbers"):
        Interval(*numbers, 0.95, 3)


@pytest.mark.parametrize("fields", [{"confidence": 95}, {"confidence": 0.0}, {"n": 0}, {"low": "1"}])
def test_an_interval_refuses_a_wrong_field(fields):
    with pytest.raises(ValueError, match=next(iter(fields))):
        Interval(**({"estimate": 2.0, "low": 1.0, "high": 3.0, "confidence": 0.95, "n": 3} | fields))


@pytest.mark.filterwarnings("ignore:Degrees of freedom", "ignore:invalid value")  # one resample has no spread
def test_two_samples_are_enough_and_one_number_is_a_sample():
    assert t_interval([1.0, 2.0]).n == 2
    assert bootstrap_interval([1.0, 2.0], np.mean, np.random.default_rng(0), resamples=50).n == 2
    assert bootstrap_interval([1.0, 2.0], np.mean, np.random.default_rng(0), resamples=1).estimate == 1.5
    with pytest.raises(ValueError, match="one-dimensional"):
        quartiles(5.0)


def test_without_a_bca_interval_it_is_scipys_percentile_interval():
    samples = np.random.default_rng(3).exponential(size=12)

    def unmoved(x):  # the jackknife, which leaves one out, sees no spread
        return float(np.mean(x)) if x.size == samples.size else 1.0

    ours = bootstrap_interval(samples, unmoved, np.random.default_rng(5), resamples=400, confidence=0.8)
    theirs = scipy_stats.bootstrap(
        (samples,), np.mean, n_resamples=400, confidence_level=0.8, method="percentile", vectorized=False,
        random_state=np.random.default_rng(5),
    ).confidence_interval  # fmt: skip
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=1e-12)


@pytest.mark.parametrize("confidence", [0, 1, 95, math.nan])
def test_confidence_is_a_fraction_for_a_bootstrap_too(confidence):
    with pytest.raises(ValueError, match=r"write 0\.95 for 95 %"):
        bootstrap_interval([1.0, 2.0], np.mean, np.random.default_rng(0), confidence=confidence)


def test_autocorrelation_by_hand():
    # d = (-1.5, -0.5, 0.5, 1.5), power 5: r_1 = (0.75 - 0.25 + 0.75) / 5
    assert autocorrelation([1, 2, 3, 4]) == pytest.approx([1, 0.25, -0.3, -0.45])
    assert autocorrelation([5.0, 6.0]) == pytest.approx([1, -0.5])


@given(numbers)
def test_the_autocorrelation_of_any_series_sums_to_one_half(samples):
    if np.ptp(samples) > 1e-3:
        assert autocorrelation(samples).sum() == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("series", "message"),
    [
        ([3.0], "2 or more samples are needed, got 1"),
        ([3.0, 3.0, 3.0, 3.0], "a constant series has no autocorrelation"),
        ([1e200, 0.0, 1e200, 0.0], r"must be within 1e\+100 of zero"),
        ([1e-200, 0.0, 1e-200, 0.0], "scale it to about 1"),
    ],
)
def test_a_series_without_an_autocorrelation_is_refused(series, message):
    with pytest.raises(ValueError, match=message):
        autocorrelation(series)
    with pytest.raises(ValueError, match=message.replace("2 or", "4 or")):
        effective_size(series)


def test_effective_size_by_hand():
    # d = (-1.5, -0.5, 0.5, 1.5): pairs 1.25 and -0.75, so the sum stops after one: 1 + 2 (0.25) = 1.5
    assert effective_size([1, 2, 3, 4]) == pytest.approx(4 / 1.5)
    # lags (1, 5/12, -1/6, -3/4, …): pairs 17/12 and negative: 2 (17/12) - 1 = 11/6
    assert effective_size([1, 1, 1, 3, 3, 3, 1, 1, 1, 3, 3, 3]) == pytest.approx(12 * 6 / 11)
    with pytest.raises(ValueError, match="4 or more samples are needed, got 3"):
        effective_size([1, 2, 3])


@pytest.mark.parametrize("n", [4, 5, 10, 11])
def test_a_series_that_alternates_is_not_trusted_to_tell_more_than_n(n):
    assert effective_size([1.0, -1.0] * (n // 2) + [0.0] * (n % 2)) == n


def test_effective_size_of_a_slow_series_sums_every_positive_pair():
    # AR(1) with 0.9: n_eff / n tends to (1 - 0.9) / (1 + 0.9) = 0.0526
    noise = np.random.default_rng(1).normal(size=20000)
    series = np.zeros(20000)
    for k in range(1, 20000):
        series[k] = 0.9 * series[k - 1] + noise[k]
    assert effective_size(series) / 20000 == pytest.approx(1 / 19, rel=0.15)

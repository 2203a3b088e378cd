"""The arithmetic of *Measuring and judging*: closed forms, invariants, and the data behind its figures."""

from __future__ import annotations

import gc
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from voicewire.stats import autocorrelation, effective_size
from voicewire_book.chapters.foundations import figures, judging
from voicewire_book.kit import figures as style

rows = st.lists(st.integers(-1000, 1000), min_size=4, max_size=60).filter(lambda v: len(set(v)) > 1)


@given(rows)
def test_sample_correlations_always_add_up_to_minus_one_half(x):
    assert autocorrelation(x)[1:].sum() == pytest.approx(-0.5, abs=1e-9)


@given(rows)
def test_effective_size_lies_between_one_and_n_and_ignores_scale(x):
    size = effective_size(x)
    assert 0 < size <= len(x)
    assert effective_size(3.0 * np.array(x) - 7) == pytest.approx(size)


def test_effective_size_of_copies_is_the_number_of_values():
    x = np.repeat(np.random.default_rng(1).normal(size=2000), 5)
    assert effective_size(x) == pytest.approx(2000, rel=0.15)


def test_effective_size_finds_a_long_memory_that_one_lag_does_not_show():
    """rho_k = 0.5 * 0.9^k has n_eff = n/10; its first lag alone gives 0.38 n."""
    rng = np.random.default_rng(2)
    found = []
    for _ in range(40):
        slow = np.zeros(4200)
        noise = np.sqrt(1 - 0.81) * rng.normal(size=4200)
        for i in range(1, 4200):
            slow[i] = 0.9 * slow[i - 1] + noise[i]
        found.append(effective_size((slow[200:] + rng.normal(size=4000)) / np.sqrt(2)))
    assert np.median(found) == pytest.approx(400, rel=0.15)


def test_student_covers_and_the_bootstrap_of_five_does_not():
    """Derived: |t| <= 1.96 sqrt(4/5), which is 84.6 %. Four standard errors of 4000 worlds are 2.3 points."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4000, 5))
    hits = [low <= 0 <= high for low, high in map(judging.mean_interval, x)]
    assert abs(judging.coverage(hits)[0] - 0.95) < 0.014
    means = x[:, rng.integers(0, 5, size=(400, 5))].mean(axis=2)
    low, high = np.quantile(means, [0.025, 0.975], axis=1)
    derived = 2 * stats.t.cdf(1.96 * np.sqrt(0.8), 4) - 1
    assert derived == pytest.approx(0.8455, abs=1e-3)
    assert abs(np.mean((low <= 0) & (high >= 0)) - derived) < 0.03


@pytest.mark.parametrize("n", [6, 9, 20, 57])
def test_the_interval_of_a_median_covers_as_often_as_it_says(n):
    rng = np.random.default_rng(n)
    found = [judging.median_interval(rng.exponential(size=n)) for _ in range(2000)]
    says = found[0][2]
    assert says >= 0.95
    share = np.mean([low <= np.log(2) <= high for low, high, _ in found])
    assert abs(share - says) < 4 * np.sqrt(says * (1 - says) / 2000)


def test_five_samples_have_no_interval_for_a_median():
    with pytest.raises(ValueError, match="too few"):
        judging.median_interval([1, 2, 3, 4, 5])


def test_exact_p_counts_orders():
    assert judging.exact_p([1, 2, 3], [1, 2, 3]) == pytest.approx(2 / 6)
    assert judging.exact_p([1, 2, 3, 4, 5], [2, 4, 6, 8, 10]) == pytest.approx(2 / 120)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_agrees_with_statsmodels(p):
    from statsmodels.stats.multitest import multipletests

    with mock.patch.object(gc, "collect"):  # each call collects garbage: seconds, where thousands of tests ran before
        expected = multipletests(p, 0.05, method="holm")[0]
    assert judging.holm(p).tolist() == expected.tolist()


def test_more_looks_decide_more_edges():
    rng = np.random.default_rng(5)
    once = judging.stopped_verdicts([100], 4000, rng)
    often = judging.stopped_verdicts(range(10, 101, 10), 4000, rng)
    assert once.sum() == often.sum() == 4000
    assert abs((once[0] + once[2]) / 4000 - 0.05) < 0.014
    assert (often[0] + often[2]) / 4000 > 0.15


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: autocorrelation([1.0]), "2 or more samples"),
        (lambda: autocorrelation([2.0, 2.0]), "constant"),
        (lambda: effective_size([1, 2, np.nan, 3]), "not finite"),
        (lambda: effective_size("abcd"), "array of numbers"),
        (lambda: judging.mean_interval([1, 2, 3], size=1), "effective size"),
        (lambda: judging.mean_interval([1, 2, 3], confidence=95), "between 0 and 1"),
        (lambda: judging.exact_p([1, 2, 3, 4], [1, 2, 4]), "3 to 9 pairs"),
        (lambda: judging.exact_p([1, 2, 3], [1, 1, 1]), "constant"),
        (lambda: judging.holm([0.5, 2]), "between 0 and 1"),
        (lambda: judging.coverage([]), "at least one"),
        (lambda: judging.stopped_verdicts([10, 5], 10, np.random.default_rng(1)), "growing"),
        (lambda: judging.stopped_verdicts([10], 0, np.random.default_rng(1)), "at least one world"),
    ],
)
def test_impossible_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# What the figures draw


def test_forest_counts_its_misses():
    ax = figures.forest([-1, -1, 0.5], [1, 1, 1])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["holds the truth: 2 of 3", "misses it: 1 of 3"]


def test_coverage_curve_is_the_derived_one():
    ax = figures.coverage_by_size((3, 5), {"bootstrap": (np.array([0.7, 0.8]), np.array([0.01, 0.01]))})
    n, percent = ax.lines[0].get_data()
    assert percent[list(n).index(5)] == pytest.approx(84.55, abs=0.01)


def test_tokens_draws_the_wider_interval_for_speakers():
    rng = np.random.default_rng(1)
    ax = figures.tokens(30 * rng.normal(size=(5, 1)) + 40 * rng.normal(size=(5, 20)))
    drawn = {line.get_label(): np.ptp(line.get_xdata()) for line in ax.lines}
    assert drawn["from speakers' means"] > drawn["from all tokens, as if independent"]


def test_stopping_marks_the_first_look_that_leaves_the_edge():
    low, high = np.full(20, -1.0), np.full(20, 1.0)
    low[12] = 0.1
    ax = figures.stopping(low, high)
    assert "decided at 14 samples" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_leverage_leaves_out_the_outermost():
    ax = figures.leverage([1, 2, 3, 20], [1, 2, 1, 30])
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[1] == "without the outermost: r = 0.00"


def test_memory_and_medians_and_band_have_units():
    style.use()
    axes = figures.remembering({"a": np.sin(np.arange(100.0))}, lags=10)
    assert axes[0, 1].collections[0].get_segments()[0][1][1] == pytest.approx(1.0)
    assert "ms" in figures.medians({"a": np.array([60.0, 70.0]), "b": np.array([65.0])}).get_xlabel()
    band = figures.evidence_and_band({"x": (1.0, 2.0, 3.0)}, 2.0, (1.5, 2.5))
    assert list(band.lines[1].get_xdata()) == [1.0, 3.0]

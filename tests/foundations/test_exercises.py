"""Every exercise of the foundations both ways: right answers in other forms, usual mistakes with their own hint."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from scipy import stats

from voicewire.stats import effective_size
from voicewire_book.chapters.foundations import exercises as e
from voicewire_book.chapters.foundations import judging

HALF = 2.776 * 2**0.5


def acov(x, k):
    d = np.asarray(x, float) - np.mean(x)
    return float(d[: len(d) - k] @ d[k:]) / len(d)


def right_interval(x):
    return judging.mean_interval(x, effective_size(x))


def _unguarded(x):
    """The effective size of a bracket that may be negative."""
    r = [acov(x, k) / acov(x, 0) for k in range(len(x))]
    pairs = [r[k] + r[k + 1] for k in range(0, len(r) - 1, 2)]
    bracket = 2 * sum(pairs[: next((k for k, pair in enumerate(pairs) if pair <= 0), None)]) - 1
    return min(len(x), len(x) / bracket)


def predict(printed, runs, extra=1.0, quantile=None):
    runs = np.asarray(runs, float)
    n = len(runs)
    q = quantile or stats.t.ppf(0.975, n - 1)
    return bool(abs(printed - runs.mean()) <= q * runs.std(ddof=1) * np.sqrt(extra + 1 / n))


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (e.check_interval, [14 - HALF, 14 + HALF]),
        (e.check_interval, "10.07, 17.93"),
        (e.check_design, 44 / 3),
        (e.check_design, "14.67"),
        (e.check_block, lambda n, c: n / c),
        (e.check_block, sympy.Symbol("n") / sympy.Symbol("c")),
        (e.check_median_n, 8),
        (e.check_choice_rival, "C)"),
        (e.check_edge, "95 %"),
        (e.check_paired, 4),
        (e.check_prediction, predict),
        (e.check_acov, acov),
        (e.check_lag, lambda x: [acov(x, k) / acov(x, 0) for k in range(len(x))]),
        (e.check_pairs, lambda r: {8: 1.9, 6: 1.5, 4: 0.0}[len(r)]),
        (e.check_lab_size, effective_size),
        (e.check_lab_interval, right_interval),
    ],
)
def test_right_answers_pass(check, answer):
    feedback = check(answer)
    assert feedback.ok, feedback
    assert not check(None).ok
    assert "not answered yet" in check(None).message


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [
        (e.check_interval, [14 - 2.776 * 8**0.5 / 5**0.5, 14 + 2.776 * 8**0.5 / 5**0.5], "n - 1 = 4"),
        (e.check_interval, [14 - 2.776 * 10**0.5, 14 + 2.776 * 10**0.5], "√5"),
        (e.check_interval, [14 - 1.96 * 2**0.5, 14 + 1.96 * 2**0.5], "σ were known"),
        (e.check_design, 44 / (1 + 43 * 0.2), "one speaker"),
        (e.check_design, 44 / (1 + 11 * 0.2), "m - 1"),
        (e.check_design, 3, "design effect"),
        (e.check_median_n, 7, "1.6 %"),
        (e.check_choice_rival, "a", "coin"),
        (e.check_choice_rival, "b", "compared"),
        (e.check_choice_rival, "d", "trifle"),
        (e.check_edge, 0.05, "decided, on either"),
        (e.check_edge, 0.025, "one given side"),
        (e.check_paired, 2, "square"),
        (e.check_prediction, lambda p, runs: predict(p, runs, extra=0.0), "interval of the mean"),
        (e.check_prediction, lambda p, runs: True, "let through"),
        (e.check_prediction, lambda p, runs: 1, "True or False"),
        (e.check_prediction, lambda p, runs: predict(p, runs) or p < np.mean(runs), "let through"),
        (e.check_acov, lambda x, k: acov(x, k) * len(x) / (len(x) - k), "every lag"),
        (e.check_acov, lambda x, k: float(x[: len(x) - k] @ x[k:]) / len(x), "mean first"),
        (e.check_lag, lambda x: [acov(x, k) for k in range(len(x))], "r_0 is 1"),
        (e.check_lag, lambda x: [1.0], "lags"),
        (e.check_pairs, lambda r: sum(r[1:3]) - 0.4, "begins at lag 0"),
        (e.check_pairs, lambda r: sum(r[k] + r[k + 1] for k in range(0, len(r) - 1, 2)), "for good"),
        (e.check_lab_size, lambda x: _size(x, 0.0), "counts once"),
        (e.check_lab_size, _unguarded, "also a negative one"),
        (e.check_lab_interval, lambda x: judging.mean_interval(x), "effective size"),
        (e.check_lab_interval, lambda x: tuple(1.0 * v for v in _known(x)), "known σ"),
    ],
)
def test_each_usual_mistake_gets_its_own_hint(check, answer, hint):
    feedback = check(answer)
    assert not feedback.ok
    assert hint in feedback.message


def _size(x, minus):
    factor = len(x) / effective_size(x)
    return len(x) / (factor + 1 - minus)


def _known(x):
    half = 1.96 * np.std(x, ddof=1) / np.sqrt(effective_size(x))
    return np.mean(x) - half, np.mean(x) + half


@pytest.mark.parametrize("answer", ["a word", 3, [1, 2, 3], lambda *a: None, lambda: 1, object()])
def test_whatever_is_handed_over_a_check_answers(answer):
    for name in e.__all__:
        assert getattr(e, name)(answer).message

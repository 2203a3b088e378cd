"""Every exercise of the foundations both ways: right answers in other forms, usual mistakes with their own hint."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from asking import of
from scipy import stats

from voicewire.stats import effective_size
from voicewire_book.chapters.foundations import judging
from voicewire_book.chapters.foundations.exercises.measuring_and_judging import EXERCISES

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
        (of("foundations-judging-interval"), [14 - HALF, 14 + HALF]),
        (of("foundations-judging-interval"), "10.07, 17.93"),
        (of("foundations-judging-design"), 44 / 3),
        (of("foundations-judging-design"), "14.67"),
        (of("foundations-judging-block"), lambda n, c: n / c),
        (of("foundations-judging-block"), sympy.Symbol("n") / sympy.Symbol("c")),
        (of("foundations-judging-median"), 8),
        (of("foundations-judging-rival"), "C)"),
        (of("foundations-judging-edge"), "95 %"),
        (of("foundations-judging-pairs"), 4),
        (of("foundations-judging-prediction"), predict),
        (of("foundations-judging-lab-acov"), acov),
        (of("foundations-judging-lab-lag"), lambda x: [acov(x, k) / acov(x, 0) for k in range(len(x))]),
        (of("foundations-judging-lab-pairs"), lambda r: {8: 1.9, 6: 1.5, 4: 0.0}[len(r)]),
        (of("foundations-judging-lab-size"), effective_size),
        (of("foundations-judging-lab-interval"), right_interval),
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
        (of("foundations-judging-interval"), [14 - 2.776 * 8**0.5 / 5**0.5, 14 + 2.776 * 8**0.5 / 5**0.5], "n - 1 = 4"),
        (of("foundations-judging-interval"), [14 - 2.776 * 10**0.5, 14 + 2.776 * 10**0.5], "√5"),
        (of("foundations-judging-interval"), [14 - 1.96 * 2**0.5, 14 + 1.96 * 2**0.5], "σ were known"),
        (of("foundations-judging-design"), 44 / (1 + 43 * 0.2), "one speaker"),
        (of("foundations-judging-design"), 44 / (1 + 11 * 0.2), "m - 1"),
        (of("foundations-judging-design"), 3, "design effect"),
        (of("foundations-judging-median"), 7, "1.6 %"),
        (of("foundations-judging-rival"), "a", "coin"),
        (of("foundations-judging-rival"), "b", "compared"),
        (of("foundations-judging-rival"), "d", "trifle"),
        (of("foundations-judging-edge"), 0.05, "decided, on either"),
        (of("foundations-judging-edge"), 0.025, "one given side"),
        (of("foundations-judging-pairs"), 2, "square"),
        (of("foundations-judging-prediction"), lambda p, runs: predict(p, runs, extra=0.0), "interval of the mean"),
        (of("foundations-judging-prediction"), lambda p, runs: True, "let through"),
        (of("foundations-judging-prediction"), lambda p, runs: 1, "True or False"),
        (of("foundations-judging-prediction"), lambda p, runs: predict(p, runs) or p < np.mean(runs), "let through"),
        (of("foundations-judging-lab-acov"), lambda x, k: acov(x, k) * len(x) / (len(x) - k), "every lag"),
        (of("foundations-judging-lab-acov"), lambda x, k: float(x[: len(x) - k] @ x[k:]) / len(x), "mean first"),
        (of("foundations-judging-lab-lag"), lambda x: [acov(x, k) for k in range(len(x))], "r_0 is 1"),
        (of("foundations-judging-lab-lag"), lambda x: [1.0], "lags"),
        (of("foundations-judging-lab-pairs"), lambda r: sum(r[1:3]) - 0.4, "begins at lag 0"),
        (
            of("foundations-judging-lab-pairs"),
            lambda r: sum(r[k] + r[k + 1] for k in range(0, len(r) - 1, 2)),
            "for good",
        ),
        (of("foundations-judging-lab-size"), lambda x: _size(x, 0.0), "counts once"),
        (of("foundations-judging-lab-size"), _unguarded, "also a negative one"),
        (of("foundations-judging-lab-interval"), lambda x: judging.mean_interval(x), "effective size"),
        (of("foundations-judging-lab-interval"), lambda x: tuple(1.0 * v for v in _known(x)), "known σ"),
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
    for label in EXERCISES:
        assert EXERCISES.check(label, answer).message

"""Every exercise of *Filters that learn* both ways, and its lab stage by stage."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from asking import of

from voicewire_book.chapters.foundations import filters
from voicewire_book.chapters.foundations.exercises.filters import EXERCISES


def last(adapt):
    return lambda X, d, setting: adapt(X, d, setting)[0][-1]


def nlms(X, d, mu):
    g = np.zeros(X.shape[1])
    for x, y in zip(X, d, strict=True):
        g = g + mu * x * (y - x @ g) / (x @ x) if x.any() else g
    return g


def cancel(x, d, L):
    return filters.rls(filters.windows(x, L), d, 0.995)[1]


def cancel_late(x, d, L):
    """What the taps leave that have already learned from the sample."""
    X = filters.windows(x, L)
    return d - np.sum(X * filters.rls(X, d, 0.99)[0], axis=1)


def nlms_in_silence(X, d, mu):
    with np.errstate(invalid="ignore"):
        return filters.nlms(X, d, mu, 0.0)[0]


S, L, MU, Q, NOISE, POWER = sympy.symbols("s L mu q noise power", positive=True)
TWENTY = -np.log(100) / np.log1p(-1 / 16)


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (of("foundations-filters-step"), [1.2, 2.1]),
        (of("foundations-filters-half"), "25"),
        (of("foundations-filters-spread"), [0.6667, 3]),
        (of("foundations-filters-slowest"), lambda s: np.log(10) / np.log(s / (s - 1))),
        (of("foundations-filters-slowest"), sympy.log(10) / sympy.log(S / (S - 1))),
        (of("foundations-filters-slowest"), lambda s: np.ceil(np.log(10) / np.log(s / (s - 1)))),
        (of("foundations-filters-twenty"), lambda L, mu: np.log(100) * L / (mu * (2 - mu))),
        (of("foundations-filters-twenty"), sympy.log(100) * L / (MU * (2 - MU))),
        (of("foundations-filters-best"), sympy.sqrt(Q * POWER / NOISE)),
        (of("foundations-filters-memory"), [460, -44.5]),
        (of("foundations-filters-best"), lambda q, noise, power: np.sqrt(q * power / noise)),
        (of("foundations-filters-curves"), "(b)"),
        (of("foundations-filters-design"), 0.3),
        (of("foundations-filters-design"), "0.66"),
        (of("foundations-filters-lab-windows"), filters.windows),
        (of("foundations-filters-lab-windows"), lambda x, L: filters.windows(x, L).tolist()),
        (of("foundations-filters-lab-lms"), last(filters.lms)),
        (of("foundations-filters-lab-lms"), lambda X, d, mu: filters.lms(X, d, mu)[0]),
        (of("foundations-filters-lab-nlms"), nlms),
        (of("foundations-filters-lab-rls"), last(filters.rls)),
        (of("foundations-filters-lab-canceller"), cancel),
    ],
)
def test_right(check, answer):
    given = check(answer)
    assert given.ok, given
    assert not check(None).ok


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [
        (of("foundations-filters-step"), [1, 2], "second window"),
        (of("foundations-filters-step"), [2, 2.5], "now"),
        (of("foundations-filters-half"), 0, "mu = 1"),
        (of("foundations-filters-spread"), [1 / 3, 3], "twice"),
        (of("foundations-filters-spread"), [1, 2], "diagonal"),
        (of("foundations-filters-slowest"), lambda s: np.log(100) / np.log(s / (s - 1)), "square"),
        (of("foundations-filters-slowest"), lambda s: s, "3.32"),
        (of("foundations-filters-slowest"), lambda s: np.floor(np.log(10) / np.log(s / (s - 1))), "3.32"),
        (of("foundations-filters-slowest"), 2.3 * S, "3.32"),
        (of("foundations-filters-best"), sympy.sqrt(Q / NOISE), ""),
        (of("foundations-filters-best"), sympy.Symbol("m") / Q, "not a quantity of this question"),
        (of("foundations-filters-slowest"), lambda s: np.log(10) / np.log(2), "too"),
        (of("foundations-filters-twenty"), lambda L, mu: TWENTY / 2, "energies"),
        (of("foundations-filters-twenty"), lambda L, mu: L, "71.4"),
        (of("foundations-filters-twenty"), lambda L, mu: np.log(100) * L / mu, "too large"),
        (of("foundations-filters-memory"), [919, -44.4], "tenth"),
        (of("foundations-filters-memory"), [459, -41.4], "half"),
        (of("foundations-filters-best"), lambda q, noise, power: q * power / noise, "root"),
        (of("foundations-filters-best"), lambda q, noise, power: np.sqrt(noise / (q * power)), "other way"),
        (of("foundations-filters-best"), lambda q, noise, power: 1 - np.sqrt(q * power / noise), "lambda"),
        (of("foundations-filters-best"), lambda q, noise, power: np.sqrt(q / noise), ""),
        (of("foundations-filters-curves"), "d", "four times"),
        (of("foundations-filters-design"), 1.0, "-30.0 dB"),
        (of("foundations-filters-design"), 0.1, "larger steps"),
        (of("foundations-filters-design"), 2.5, "between 0 and 2"),
        (of("foundations-filters-design"), "much", ""),
        (of("foundations-filters-lab-windows"), lambda x, L: filters.windows(x, L)[:, ::-1], "newest"),
        (of("foundations-filters-lab-windows"), lambda x, L: x, "3 rows of 2"),
        (of("foundations-filters-lab-windows"), lambda x, L: filters.windows(x, 2), "L = 5"),
        (of("foundations-filters-lab-lms"), lambda X, d, mu: [0, 0], "yours begin 0"),
        (of("foundations-filters-lab-lms"), lambda X, d, mu: [0, 0, 0], "2 numbers"),
        (of("foundations-filters-lab-nlms"), last(filters.lms), "yours begin"),
        (of("foundations-filters-lab-nlms"), lambda X, d, mu: filters.nlms(X, d, mu, 5.0)[0], "yours begin"),
        (of("foundations-filters-lab-nlms"), nlms_in_silence, "window of zeros"),
        (of("foundations-filters-lab-rls"), lambda X, d, lam: filters.rls(X, d, 1.0)[0], "yours begin"),
        (of("foundations-filters-lab-rls"), lambda X, d, lam: filters.rls(X, d, lam, 5.0)[0], "yours begin"),
        (of("foundations-filters-lab-canceller"), cancel_late, "learn from it afterwards"),
        (of("foundations-filters-lab-canceller"), lambda x, d, L: d, "100 %"),
        (of("foundations-filters-lab-canceller"), lambda x, d, L: 0 * d, "silence"),
        (of("foundations-filters-lab-canceller"), lambda x, d, L: 1e-3 * d, "before it is guessed"),
        (
            of("foundations-filters-lab-canceller"),
            lambda x, d, L: filters.nlms(filters.windows(x, L), d, 0.2)[1],
            "at most 1 %",
        ),
        (
            of("foundations-filters-lab-canceller"),
            lambda x, d, L: filters.rls(filters.windows(x, L), d)[1],
            "in the last fifth",
        ),
    ],
)
def test_a_usual_mistake_gets_its_own_sentence(check, answer, hint):
    given = check(answer)
    assert not given.ok
    assert hint in str(given)


@pytest.mark.parametrize("label", [label for label in EXERCISES if "-lab-" in label])
def test_whatever_a_stage_raises_or_returns_becomes_a_sentence(label):
    for answer in (3, "x", lambda *a: 1 / 0, lambda *a: "no", lambda *a: np.nan, lambda: 1):
        assert not EXERCISES.check(label, answer).ok

"""Every exercise of *Filters that learn* both ways, and its lab stage by stage."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from voicewire_book.chapters.foundations import filters
from voicewire_book.chapters.foundations import filters_exercises as e


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
        (e.check_step, [1.2, 2.1]),
        (e.check_half, "25"),
        (e.check_spread, [0.6667, 3]),
        (e.check_slowest, lambda s: np.log(10) / np.log(s / (s - 1))),
        (e.check_slowest, sympy.log(10) / sympy.log(S / (S - 1))),
        (e.check_slowest, lambda s: np.ceil(np.log(10) / np.log(s / (s - 1)))),
        (e.check_twenty, lambda L, mu: np.log(100) * L / (mu * (2 - mu))),
        (e.check_twenty, sympy.log(100) * L / (MU * (2 - MU))),
        (e.check_best, sympy.sqrt(Q * POWER / NOISE)),
        (e.check_memory, [460, -44.5]),
        (e.check_best, lambda q, noise, power: np.sqrt(q * power / noise)),
        (e.check_curves, "(b)"),
        (e.check_design, 0.3),
        (e.check_design, "0.66"),
        (e.check_lab_windows, filters.windows),
        (e.check_lab_windows, lambda x, L: filters.windows(x, L).tolist()),
        (e.check_lab_lms, last(filters.lms)),
        (e.check_lab_lms, lambda X, d, mu: filters.lms(X, d, mu)[0]),
        (e.check_lab_nlms, nlms),
        (e.check_lab_rls, last(filters.rls)),
        (e.check_lab_canceller, cancel),
    ],
)
def test_right(check, answer):
    given = check(answer)
    assert given.ok, given
    assert not check(None).ok


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [
        (e.check_step, [1, 2], "second window"),
        (e.check_step, [2, 2.5], "now"),
        (e.check_half, 0, "mu = 1"),
        (e.check_spread, [1 / 3, 3], "twice"),
        (e.check_spread, [1, 2], "diagonal"),
        (e.check_slowest, lambda s: np.log(100) / np.log(s / (s - 1)), "square"),
        (e.check_slowest, lambda s: s, "3.32"),
        (e.check_slowest, lambda s: np.floor(np.log(10) / np.log(s / (s - 1))), "3.32"),
        (e.check_slowest, 2.3 * S, "3.32"),
        (e.check_best, sympy.sqrt(Q / NOISE), ""),
        (e.check_best, sympy.Symbol("m") / Q, "not a quantity of this question"),
        (e.check_slowest, lambda s: np.log(10) / np.log(2), "too"),
        (e.check_twenty, lambda L, mu: TWENTY / 2, "energies"),
        (e.check_twenty, lambda L, mu: L, "71.4"),
        (e.check_twenty, lambda L, mu: np.log(100) * L / mu, "too large"),
        (e.check_memory, [919, -44.4], "tenth"),
        (e.check_memory, [459, -41.4], "half"),
        (e.check_best, lambda q, noise, power: q * power / noise, "root"),
        (e.check_best, lambda q, noise, power: np.sqrt(noise / (q * power)), "other way"),
        (e.check_best, lambda q, noise, power: 1 - np.sqrt(q * power / noise), "lambda"),
        (e.check_best, lambda q, noise, power: np.sqrt(q / noise), ""),
        (e.check_curves, "d", "four times"),
        (e.check_design, 1.0, "-30.0 dB"),
        (e.check_design, 0.1, "larger steps"),
        (e.check_design, 2.5, "between 0 and 2"),
        (e.check_design, "much", ""),
        (e.check_lab_windows, lambda x, L: filters.windows(x, L)[:, ::-1], "newest"),
        (e.check_lab_windows, lambda x, L: x, "3 rows of 2"),
        (e.check_lab_windows, lambda x, L: filters.windows(x, 2), "L = 5"),
        (e.check_lab_lms, lambda X, d, mu: [0, 0], "yours begin 0"),
        (e.check_lab_lms, lambda X, d, mu: [0, 0, 0], "2 numbers"),
        (e.check_lab_nlms, last(filters.lms), "yours begin"),
        (e.check_lab_nlms, lambda X, d, mu: filters.nlms(X, d, mu, 5.0)[0], "yours begin"),
        (e.check_lab_nlms, nlms_in_silence, "window of zeros"),
        (e.check_lab_rls, lambda X, d, lam: filters.rls(X, d, 1.0)[0], "yours begin"),
        (e.check_lab_rls, lambda X, d, lam: filters.rls(X, d, lam, 5.0)[0], "yours begin"),
        (e.check_lab_canceller, cancel_late, "learn from it afterwards"),
        (e.check_lab_canceller, lambda x, d, L: d, "100 %"),
        (e.check_lab_canceller, lambda x, d, L: 0 * d, "silence"),
        (e.check_lab_canceller, lambda x, d, L: 1e-3 * d, "before it is guessed"),
        (e.check_lab_canceller, lambda x, d, L: filters.nlms(filters.windows(x, L), d, 0.2)[1], "at most 1 %"),
        (e.check_lab_canceller, lambda x, d, L: filters.rls(filters.windows(x, L), d)[1], "in the last fifth"),
    ],
)
def test_a_usual_mistake_gets_its_own_sentence(check, answer, hint):
    given = check(answer)
    assert not given.ok
    assert hint in str(given)


@pytest.mark.parametrize("name", [n for n in e.__all__ if "lab" in n])
def test_whatever_a_stage_raises_or_returns_becomes_a_sentence(name):
    for answer in (3, "x", lambda *a: 1 / 0, lambda *a: "no", lambda *a: np.nan, lambda: 1):
        assert not getattr(e, name)(answer).ok

"""The exercises both ways: right answers in any form pass, each usual mistake gets its own hint."""

from __future__ import annotations

import itertools
import re

import nbformat
import numpy as np
import pytest
from asking import check, of
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import convolution_matrix

from voicewire.echo import WLNLMS, Responses, StereoRLS, complex_taps
from voicewire.echo.metrics import expected_rise, expected_tracking, follow
from voicewire.echo.reference import dcd, dr_rls_step, nlms_step, rls_gain
from voicewire.echo.scenes.scene import Scene
from voicewire_book import paths
from voicewire_book.chapters.echo.exercises import adaptive_filters, data_reuse, rls_by_shifts
from voicewire_book.chapters.echo.exercises.rls_by_shifts import halvings

TABLES = (adaptive_filters.EXERCISES, rls_by_shifts.EXERCISES, data_reuse.EXERCISES)
CHECKS = [of(label) for table in TABLES for label in table if label.startswith("echo-ex-")]  # labs: tests/test_labs.py

NUMBERS = {
    of("echo-ex-erle"): 18.26,
    of("echo-ex-rls"): 28 / 13,
    of("echo-ex-faint"): 21.97,
    of("echo-ex-taps"): 2181.6,
    of("echo-ex-shift"): 8191,
    of("echo-ex-memory"): 2.129,
    of("echo-ex-tracking"): 9431,
    of("echo-ex-passes"): 0.2545,
    of("echo-ex-short"): 5,
    of("echo-ex-exchanged"): 0.0625,
}
HINTS = {
    of("echo-ex-erle"): {20: "echo alone", 9.81: "what power", 36.52: "10 log10, not 20", 23.03: "counts too"},
    of("echo-ex-rls"): {1.778: "first sample", 1.833: "halved", 2.333: "begins with 1", 3.385: "p ages", 3: "NLMS"},
    of("echo-ex-taps"): {2133: "leaves the noise out", 1091: "16 kHz", 4363: "a million"},
    of("echo-ex-faint"): {40: "all 64", -0.068: "inverses", 43.93: "powers already", 4.06: "ten thousand"},
    of("echo-ex-shift"): {8192: "still loses", 13: "give nothing", 4096: "cuts off", 4095: "cuts off", 0: "last place"},
    of("echo-ex-memory"): {
        3.072: "1/e",
        1.536: "equal times",
        4.432: "divided",
        17035: "in samples",
        0.008318: "not 1/K",
    },
    of("echo-ex-tracking"): {12271: "all paths", 28294: "one pass", 6592: "quarter", 18863: "20 log10", 110.5: "not K"},
    of("echo-ex-passes"): {
        0.4: "T = c/N",
        0.636: "five are asked",
        8.2: "what share",
        2.8: "what share",
        0.112: "not of one",
        0.7455: "what remains",
    },
    of("echo-ex-short"): {
        4: "1.375",
        4.52: "whole",
        8: "keeps its sign",
        7.69: "nothing is left",
        9: "as large as 3",
        3: "two passes",
    },
    of("echo-ex-exchanged"): {
        1 / 32: "still better",
        2: "share",
        4 / 32: "of this sign",
        0.2: "negative",
        0.5: "positive",
    },
}
CHOICES = {
    of("echo-ex-nonunique"): ("b", {"a": "64 taps", "c": "L - M + 1", "d": "can be silenced"}),
    of("echo-ex-loud"): ("b", {"a": "0.9", "c": "below -1", "d": "no number of passes"}),
    of("echo-ex-trade"): ("b", {"a": "five sixths", "c": "memory can be changed", "d": "-25.8"}),
}
ROWS = {
    of("echo-ex-rectifier"): (
        [2.68, 1.16],
        {
            (2, 2): "pre-distortion in",
            (2.8, 1.4): "first sample",
            (3, 1): "last window",
            (2.2, 2.6): "positive half",
            (2.92, 1.64): "second error",
        },
    ),
    of("echo-ex-even"): (
        [0.7, -0.2, 0.2, -0.1],
        {
            (0.7, 0.2, 0.2, 0.1): "conjugates",
            (1.4, -0.4, 0.4, -0.2): "halved",
            (0.2, -0.1, 0.7, -0.2): "changed places",
            (0.7, 0.2, 0.2, -0.1): "RL is taken from LR",
            (0.7, -0.1, 0.2, -0.2): "difference",
        },
    ),
    of("echo-ex-step"): (
        [0.0625, 0.4375],
        {
            (1 / 16, 1 / 4): "not set back",
            (1 / 16, 9 / 16): "goes back",
            (1 / 16, 1 / 2): "two moves",
            (0, 1 / 4): "largest component",
            (0.07, 0.365): "exact steps",
            (7 / 90, 13 / 36): "exact solution",
        },
    ),
}


WORDS = {
    of("echo-ex-who"): (
        ["C, A, B, D", "cabd", "C A B D", ["C", "A", "B", "D"]],
        {"ACBD": "longer memory", "CADB": "larger step", "ACDB": "both pairs", "BDCA": "creeps", "DBAC": "creeps"},
    ),
}


def bounded(g, x, d, delta, rest=None):
    e = d - np.dot(g, x)
    if abs(e) <= delta:
        return g
    wanted = np.sign(e) * delta if rest is None else rest
    return list(np.asarray(g) + (e - wanted) * np.asarray(x) / np.sum(np.square(x)))


def back(samples, decibels, change, level, hold, never=-1, from_=True, last=False):
    in_a_row = 0
    for n, y in zip(samples, decibels, strict=True):
        in_a_row = in_a_row + 1 if n > change and y <= level else 0
        if in_a_row == hold:
            return n - change * from_ - (0 if last else (hold - 1) * (samples[1] - samples[0]))
    return never


def best(v, R, H, M, none=True):
    steps = [H / 2**m for m in range(1, M + 1)]
    gains = [s * abs(v) - s * s * R / 2 for s in steps]
    return steps[int(np.argmax(gains))] if max(gains) > 0 or not none else 0


def dcd_step(v, R, H, M):
    change, _ = dcd(np.array([[R + 0j]]), np.array([v + 0j]), 1, M, H)
    return abs(change[0])


def nearest(v, R, H, M):
    m = np.clip(np.round(np.log2(H * R / abs(v))), 1, M)
    return H / 2**m if H / 2**m * R / 2 < abs(v) else 0


FUNCTIONS = {
    of("echo-ex-unknowns"): (
        lambda S, L, M: max((S - 1) * L - M + 1, 0),
        {
            "each further one": lambda S, L, M: max(0, L - M + 1),
            "pairs": lambda S, L, M: (S - 1) * max(0, L - M + 1),
            "never negative": lambda S, L, M: S * L - (L + M - 1),
            "L + M - 1": lambda S, L, M: max(0, (S - 1) * L - M),
            "the equations": lambda S, L, M: L + M - 1,
            "the unknowns": lambda S, L, M: S * L,
        },
    ),
    of("echo-ex-spread"): (
        lambda C: (1 + np.sqrt(C)) ** 2 / (1 - C),
        {
            "its root": lambda C: (1 + C) / (1 - C),
            "other way round": lambda C: (1 - np.sqrt(C)) / (1 + np.sqrt(C)),
            "more than the power": lambda C: 1 / (1 - np.sqrt(C)),
            "both depend": lambda C: 1 / (1 - C),
        },
    ),
    of("echo-ex-smallest"): (
        bounded,
        {
            "must move": lambda g, x, d, delta: g,
            "takes the whole error": lambda g, x, d, delta: bounded(g, x, d, 0.0),
            "move away": lambda g, x, d, delta: bounded(g, x, d, 0.0, np.sign(d - np.dot(g, x)) * delta),
            "may be negative": lambda g, x, d, delta: bounded(g, x, d, delta, delta),
            "moves too far": lambda g, x, d, delta: bounded(g, x, d, delta, 0.0),
        },
    ),
    of("echo-ex-gain"): (
        lambda a, N, mu: sum(mu * (1 - mu * a) ** phi for phi in range(N)),
        {
            "small kappa": lambda a, N, mu: N * mu,
            "where is mu": lambda a, N, mu: sum((1 - a) ** phi for phi in range(N)),
            "1 - mu kappa": lambda a, N, mu: mu * sum((1 - a) ** phi for phi in range(N)),
            "counts mu times": lambda a, N, mu: sum((1 - mu * a) ** phi for phi in range(N)),
            "error that is left": lambda a, N, mu: (1 - mu * a) ** N,
        },
    ),
    of("echo-ex-bits"): (
        halvings,
        {
            "one less": lambda H, most, d: max(1, np.ceil(np.log2(H * most / d))),
            "rounded down": lambda H, most, d: max(1, np.floor(np.log2(H * most / d)) - 1),
            "whole": lambda H, most, d: max(1, np.log2(H * most / d) - 1),
            "at least one": lambda H, most, d: np.ceil(np.log2(H * most / d)) - 1,
            "diagonal": lambda H, most, d: max(1, np.ceil(np.log2(H / d)) - 1),
        },
    ),
    of("echo-ex-best"): (
        best,
        {
            "DCD's own": dcd_step,
            "may be taken": lambda v, R, H, M: abs(v) / R,
            "every step raises": lambda v, R, H, M: best(v, R, H, M, none=False),
            "may be negative": lambda v, R, H, M: best(v, R, H, M) if v > 0 else 0,
            "as a ratio": nearest,
        },
    ),
    of("echo-ex-floor"): (
        lambda N, rise: N * 10 ** (-rise / 10),
        {
            "a rise is allowed": lambda N, rise: N,
            "longer memory": lambda N, rise: 10 ** (rise / 10) / N,
            "the shorter": lambda N, rise: N * 10 ** (rise / 10),
            "10 log10": lambda N, rise: N * 10 ** (-rise / 20),
            "for one pass": lambda N, rise: 10 ** (-rise / 10),
        },
    ),
    of("echo-ex-sign"): (
        lambda a, N: 1 - a * sum((1 + a) ** phi for phi in range(N)),
        {
            "with the minus": lambda a, N: (1 - a) ** N,
            "takes for the error": lambda a, N: (1 + a) ** N,
            "this is the gain": lambda a, N: sum((1 + a) ** phi for phi in range(N)),
            "kappa times the error": lambda a, N: 1 - sum((1 + a) ** phi for phi in range(N)),
            "own sign": lambda a, N: (1 + a) ** N - 2,
        },
    ),
    of("echo-ex-back"): (
        back,
        {
            "stay there": lambda s, y, change, level, hold: back(s, y, change, level, 1),
            "before the change": lambda s, y, change, level, hold: (lambda n: n - change if n > 0 else n)(
                back(s, y, 0, level, hold)
            ),
            "from the change": lambda *a: back(*a, from_=False),
            "not the last": lambda *a: back(*a, last=True),
            "gets -1": lambda *a: back(*a, never=np.inf),
        },
    ),
}


def test_every_check_is_tried_and_knows_three_mistakes():
    assert {*NUMBERS, *CHOICES, *ROWS, *WORDS, *FUNCTIONS} == set(CHECKS)
    known = [HINTS[ask] for ask in NUMBERS]
    known += [hints for group in (CHOICES, ROWS, WORDS, FUNCTIONS) for _, hints in group.values()]
    assert min(map(len, known)) >= 3


@pytest.mark.parametrize("ask", CHECKS, ids=lambda ask: ask.label)
def test_no_answer_is_not_a_wrong_one(ask):
    for blank in (None, ..., "", []):
        assert "not answered yet" in ask(blank).message


@pytest.mark.parametrize("ask", NUMBERS, ids=lambda ask: ask.label)
def test_right_numbers_in_any_form(ask):
    value = NUMBERS[ask]
    for form in (value, float(value), np.float64(value), [value], np.array(value), str(value)):
        assert ask(form), form


def test_rounded_as_asked_is_right():
    rounded = {
        of("echo-ex-erle"): ("18.3", 18.26, "18,3 dB"),
        of("echo-ex-rls"): (2.15, 2.154, "28/13"),
        of("echo-ex-faint"): (22, "22.0 dB", 21.97),
        of("echo-ex-taps"): (2180, "2200 taps", 2181),
        of("echo-ex-memory"): (2.13, "2.129 s"),
        of("echo-ex-tracking"): (9431, 9430, "9,431"),
        of("echo-ex-passes"): (0.25, 0.255, "25 %", "14/55"),
        of("echo-ex-exchanged"): ("2/32", "1/16", "6 %", 0.0625),
    }
    for ask, forms in rounded.items():
        for form in forms:
            assert ask(form), (ask.label, form)


@pytest.mark.parametrize(
    ("ask", "wrong", "hint"),
    [(ask, wrong, hint) for ask, known in HINTS.items() for wrong, hint in known.items()],
)
def test_each_usual_number_gets_its_own_hint(ask, wrong, hint):
    feedback = ask(wrong)
    assert not feedback
    assert hint in feedback.message


@given(st.sampled_from(list(NUMBERS)), st.floats(1.11, 50))
def test_a_number_that_is_not_near_is_not_called_close(ask, factor):
    feedback = ask(NUMBERS[ask] * factor)
    assert not feedback
    assert "close" not in feedback.message


@pytest.mark.parametrize("ask", CHOICES, ids=lambda ask: ask.label)
def test_choices(ask):
    right, hints = CHOICES[ask]
    for form in (right, right.upper(), f"{right})", f" ({right}) "):
        assert ask(form)
    for wrong, hint in hints.items():
        assert not ask(wrong)
        assert hint in ask(wrong).message


@pytest.mark.parametrize("ask", ROWS, ids=lambda ask: ask.label)
def test_rows(ask):
    right, hints = ROWS[ask]
    for form in (right, tuple(right), np.array(right), " ".join(map(str, right))):
        assert ask(form)
    for wrong, hint in hints.items():
        assert not ask(wrong)
        assert hint in ask(list(wrong)).message
    assert not ask([*right, 0])


@pytest.mark.parametrize("ask", WORDS, ids=lambda ask: ask.label)
def test_words(ask):
    right, hints = WORDS[ask]
    for form in right:
        assert ask(form), form
    for wrong, hint in hints.items():
        for form in (wrong, list(wrong), ", ".join(wrong)):
            assert not ask(form)
            assert hint in ask(form).message


def test_complex_taps_may_be_handed_over_as_such():
    assert check("echo-ex-even", [0.7 - 0.2j, 0.2 - 0.1j])
    assert check("echo-ex-even", np.array([0.7 - 0.2j, 0.2 - 0.1j]))
    assert "conjugates" in check("echo-ex-even", [0.7 + 0.2j, 0.2 + 0.1j]).message


@pytest.mark.parametrize("ask", FUNCTIONS, ids=lambda ask: ask.label)
def test_functions(ask):
    right, mistakes = FUNCTIONS[ask]
    assert ask(right), ask(right)
    for hint, wrong in mistakes.items():
        feedback = ask(wrong)
        assert not feedback, hint
        assert hint in feedback.message, (hint, feedback)


class Hostile:
    """A student's object that fails at whatever is tried with it."""

    def __str__(self):
        raise RuntimeError("no")

    __repr__ = __array__ = __float__ = __iter__ = __eq__ = __len__ = __str__
    __hash__ = None


HANDED_OVER = [
    *("a word", 3, -1e300, float("nan"), [1, 2, 3], {"a": 1}, True, object(), Hostile(), np.eye(3), 1j),
    *(lambda *a: None, lambda: 1, lambda *a: 1 / 0, lambda *a: "three", lambda *a: Hostile(), lambda *a: [1, [2]]),
    lambda *a: np.array([np.nan, 1.0]),
]


@pytest.mark.parametrize("ask", CHECKS, ids=lambda ask: ask.label)
def test_whatever_is_handed_over_gets_a_sentence(ask):
    for answer in HANDED_OVER:
        feedback = ask(answer)
        assert not feedback
        assert len(feedback.message) > 10


# What is asked, worked out in another way than by the check


def test_echo_and_noise_by_simulation():
    rng = np.random.default_rng(1)
    echo, noise = rng.standard_normal((2, 400_000)) * [[2.0], [0.02**0.5]]
    assert check("echo-ex-erle", 10 * np.log10(np.var(echo + noise) / np.var(0.1 * echo + noise)))


def test_two_windows_of_pre_distorted_sound():
    g = np.zeros(2)
    for left, right in ((4, 2), (-1, -2)):
        g, _ = nlms_step(g, np.array([left, right]), 3 * left + right, 1.0, 0.0)
    assert check("echo-ex-rectifier", g.real)


def test_one_tap_of_rls():
    P, g = np.eye(1), np.zeros(1)
    for x, d in ((2, 4), (1, 3)):
        k, P = rls_gain(P, np.array([x]), 0.5)
        g = g + k * (d - g * x)
    assert check("echo-ex-rls", g.real)


def test_silent_directions_of_several_loudspeakers_by_rank():
    rng = np.random.default_rng(2)

    def count(S, L, M):
        far = [convolution_matrix(rng.standard_normal(M), L) for _ in range(S)]
        return S * L - np.linalg.matrix_rank(np.hstack(far))

    assert check("echo-ex-unknowns", count)


@given(st.floats(0, 0.99))
def test_spread_by_eigenvalues(C):
    low, high = np.linalg.eigvalsh([[1, np.sqrt(C)], [np.sqrt(C), 1]])
    assert high / low == pytest.approx((1 + np.sqrt(C)) / (1 - np.sqrt(C)), rel=1e-6)


@given(st.lists(st.floats(-3, 3), min_size=4, max_size=4), st.floats(-9, 9), st.floats(0.1, 3))
def test_the_smallest_change_ends_on_the_border_or_is_none(rows, d, delta):
    g, x = np.array(rows[:2]), np.array(rows[2:]) + np.array([0, 4])
    new = FUNCTIONS[of("echo-ex-smallest")][0](g, x, d, delta)
    assert abs(d - np.dot(new, x)) == pytest.approx(min(delta, abs(d - g @ x)), abs=1e-9)


def test_the_four_curves_are_as_the_solution_and_the_picture_say():
    scene = Scene(32, 8000, 3, source="white", change="sign", change_at=4000).signals()
    rls = [follow(StereoRLS(32, 1 - 1 / (K * 32)), scene, 50) for K in (24, 6)]
    nlms = [follow(WLNLMS(32, step), scene, 50) for step in (0.5, 0.1)]
    assert [round(curve.steady(3000, 4000)) for curve in (*rls, *nlms)] == [-31, -25, -8, -5]
    assert [curve.tracking_time(4000, -10) for curve in rls] == [1850, 600]
    assert [curve.tracking_time(4000, -10) for curve in nlms] == [np.inf, np.inf]
    assert [round(curve.decibels[-1]) for curve in nlms] == [-6, -4]
    assert [round(curve.decibels[80:90].max()) for curve in rls] == [6, 9]
    assert rls[1].steady(3000, 4000) - rls[0].steady(3000, 4000) == pytest.approx(6, abs=0.5)
    ahead = nlms[0].decibels[10:] < nlms[1].decibels[10:]
    assert ahead[:70].all() and ahead[72:].all()


def test_even_and_odd_tap():
    one = Responses(LL=np.array([0.9]), LR=np.array([0.3]), RL=np.array([-0.1]), RR=np.array([0.5]))
    assert check("echo-ex-even", complex_taps(one))


def test_three_moves():
    change, _ = dcd(np.array([[10, 2], [2, 4]]) + 0j, np.array([1.5, 1.6]) + 0j, 3)
    assert check("echo-ex-step", change.real)


def moves(choose, reset=False, exact=False, back=True):
    """Taps after three moves of a search that does something else than DCD."""
    R, r, h, alpha = np.array([[10, 2], [2, 4]]), np.array([1.5, 1.6]), np.zeros(2), 0.5
    for i in range(3):
        p = choose(i, r)
        alpha = 0.5 if reset else alpha
        while abs(r[p]) <= alpha / 2 * R[p, p]:
            alpha /= 2
        step = r[p] / R[p, p] if exact else np.sign(r[p]) * alpha
        h[p] += step if back else abs(step)
        r = r - step * R[:, p]
    return tuple(h)


def test_the_rows_of_the_three_moves_are_what_their_hints_say():
    def largest(_, r):
        return int(np.argmax(abs(r)))

    assert check("echo-ex-step", moves(largest))
    known = ROWS[of("echo-ex-step")][1]
    by_mistake = {
        "not set back": moves(largest, reset=True),
        "goes back": moves(largest, back=False),
        "largest component": moves(lambda i, _: i % 2),
        "exact steps": moves(largest, exact=True),
        "exact solution": tuple(np.linalg.solve([[10, 2], [2, 4]], [1.5, 1.6])),
    }
    for hint, found in by_mistake.items():
        assert found == pytest.approx(next(row for row, words in known.items() if words == hint)), hint


def test_the_rows_of_the_two_samples_are_what_their_hints_say():
    def taps(*windows, sign=1):
        g = np.zeros(2)
        for i, window in enumerate(map(np.array, windows)):
            g = g + (sign if i else 1) * (window @ [3, 1] - g @ window) * window / (window @ window)
        return tuple(g)

    known = ROWS[of("echo-ex-rectifier")][1]
    by_mistake = {
        "pre-distortion in": taps((2, 2), (-1, -1)),
        "first sample": taps((4, 2)),
        "last window": tuple(np.linalg.solve([[4, 2], [-1, -2]], [14, -5])),
        "positive half": taps((2, 4), (-2, -1)),
        "second error": taps((4, 2), (-1, -2), sign=-1),
    }
    for hint, found in by_mistake.items():
        assert found == pytest.approx(next(row for row, words in known.items() if words == hint)), hint


def test_the_entries_that_do_not_age():
    assert check("echo-ex-shift", max(entry for entry in range(2**15) if entry - (entry >> 13) == entry))


def test_half_a_weight():
    lam = 1 - 1 / (96 * 256)
    assert check("echo-ex-memory", next(n for n in range(100_000) if lam**n <= 0.5) / 8000)


def test_passes_that_go_a_share_of_the_way():
    P, x, lam = np.eye(2), np.array([1.0, 0.5]), 0.9
    k, _ = rls_gain(P, x, lam)
    kappa, mu, N = float(np.vdot(k, x).real), 0.6, 4
    g = np.zeros(2, complex)
    for _ in range(N):
        g = g + mu * k * (2.0 - np.vdot(g, x))
    assert g == pytest.approx(FUNCTIONS[of("echo-ex-gain")][0](kappa, N, mu) * k * 2.0)
    exact, _, _ = dr_rls_step(np.zeros(2), P, x, 2.0, lam, N)
    assert exact == pytest.approx(FUNCTIONS[of("echo-ex-gain")][0](kappa, N, 1.0) * k * 2.0)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.3, 0.05, 0.004]))
def test_a_search_with_enough_halvings_leaves_at_most_delta(seed, delta):
    rng = np.random.default_rng(seed)
    drawn = rng.standard_normal((3, 9))
    R, r = drawn @ drawn.T / 9 + 0j, rng.standard_normal(3) + 0j
    _, left = dcd(R, r, 10_000, halvings(1.0, R.diagonal().real.max(), delta))
    assert np.abs(left).max() <= delta * (1 + 1e-9)


def test_a_plain_gain_overshoots_where_passes_do_not():
    kappa, N = 0.9, 5
    assert abs(1 - N * kappa) > 1 > 1 - (1 - kappa) ** N > 0


def test_one_path_of_a_quarter_of_the_power_turns():
    paths = np.full(4, 0.5)
    turned = paths * [-1, 1, 1, 1]
    assert np.linalg.norm(turned - paths) == np.linalg.norm(paths) == 1
    later = expected_tracking(256, 48, 3) - expected_tracking(256, 48, 3, 0.0)
    assert check("echo-ex-tracking", later)


def test_a_floor_that_may_rise():
    for N, rise in itertools.product((1, 2, 5), (0.0, 3.0)):
        factor = FUNCTIONS[of("echo-ex-floor")][0](N, rise)
        assert expected_rise(N) - 10 * np.log10(factor) == pytest.approx(rise)


def test_time_with_a_floor():
    c, limit = np.linalg.lstsq([[1, 1], [1 / 3, 1]], [25, 11], rcond=None)[0]
    assert check("echo-ex-passes", 1 - (limit + c / 5) / 11)


def plus(kappa, N):
    """What (12) as printed leaves: the rule believes in one error, the true one is another."""
    believed = true = 1.0
    for _ in range(N):
        believed, true = believed + kappa * believed, true - kappa * believed
    return true


def test_the_plus_pass_by_pass():
    assert check("echo-ex-sign", plus)
    assert check("echo-ex-short", next(K for K in range(3, 99) if abs(plus(2 / K, 3)) <= 1))
    assert abs(plus(2 / 4, 3)) == pytest.approx(1.375)


def test_sign_patterns():
    seen = np.array([3, 4, -1, 6, 5])
    means = [np.dot(seen, signs) for signs in itertools.product((-1, 1), repeat=5)]
    assert check("echo-ex-exchanged", np.mean(np.array(means) >= seen.sum()))


def test_the_same_time_for_both():
    at_ten = -29 + 10 * np.log10(12 / 10)
    assert at_ten == pytest.approx(-28.2, abs=0.05) and at_ten < -25
    assert -25 - 10 * np.log10(12 / 10) == pytest.approx(-25.8, abs=0.05)


# How they stand in the chapters

CHAPTERS = paths.chapters("echo")


def exercises(path):
    """Return for each exercise its heading and label, and the six cells after the question; the lab is test_labs'."""
    cells = nbformat.read(path, as_version=4).cells
    heading = re.compile(r"^```\{exercise\} (.+)\n:label: (\S+)\n")
    asked = [(heading.match(c.source), cells[i + 1 : i + 7]) for i, c in enumerate(cells) if c.id != "lab-ask"]
    return [(head, after) for head, after in asked if head]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_each_exercise_has_a_place_to_answer_its_check_in_view_and_a_folded_solution(path):
    found = exercises(path)
    kinds = [re.search(r"\((by hand|derive|interpret|build), (easy|medium|hard)\)$", head[1]) for head, _ in found]
    assert {kind[1] for kind in kinds if kind} == {"by hand", "derive", "interpret", "build"}
    assert all(kinds) and len(found) >= 6
    for head, (answer, ask, start, prose, solution, end) in found:
        name = re.search(r"^answer_(\w+) = None  # your answer$", answer.source, re.M)
        assert name, head[1]
        asked = f'check("{head[2]}", '
        assert re.fullmatch(rf"{re.escape(asked)}answer_{name[1]}(, my_seed)?\)", ask.source)
        assert ask.metadata.tags == ["check"]
        assert "not answered yet" in str(ask.outputs)
        assert start.source == f"```{{solution-start}} {head[2]}\n:class: dropdown\n```"
        assert prose.cell_type == "markdown" and len(prose.source.split()) > 20
        assert solution.metadata.tags == ["solution"]
        assert solution.source.endswith(f"{asked}solved_{name[1]})")
        assert "Right: " in str(solution.outputs)
        assert end.source == "```{solution-end}\n```"


def printed(path):
    """Return what a chapter shows before its exercises, and their questions."""
    cells = nbformat.read(path, as_version=4).cells
    first = next(i for i, cell in enumerate(cells) if "## Exercises" in cell.source)
    shown = []
    for cell in cells[:first]:
        kept = [o.get("text", o.get("data", {}).get("text/plain")) for o in cell.get("outputs", [])]
        shown.append(f"{cell.source}\n{kept}")
    return "\n".join(shown + [cell.source for cell in cells[first:] if cell.source.startswith("```{exercise}")])


def test_no_answer_of_three_digits_stands_on_the_page_above():
    pages = "\n".join(map(printed, CHAPTERS))
    assert re.search(r"(?<![\d.])47\.2(?!\d)", pages)  # what the search would find: a number of the text
    for value in [*NUMBERS.values(), *(x for right, _ in ROWS.values() for x in right)]:
        spelt = f"{value:.4g}"
        if len(spelt.strip("-0.").replace(".", "")) >= 3:
            assert not re.search(rf"(?<![\d.]){re.escape(spelt)}(?!\d)", pages), spelt

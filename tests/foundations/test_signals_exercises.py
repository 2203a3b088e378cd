"""Every exercise of *Signals that can be predicted* both ways, and its lab stage by stage."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from scipy.signal import lfilter

from voicewire.pharyngeal.reference import autocorrelation, emphasised, levinson, poles
from voicewire_book.chapters.foundations import signals_exercises as e

RHO = sympy.Symbol("rho")
HZ, WIDTH, RATE = sympy.symbols("F B rate")
RADIUS = sympy.exp(-sympy.pi * WIDTH / RATE)
WIDE = -12_000 * np.log(0.9) / np.pi


def pair(F, B, rate):
    r, theta = np.exp(-np.pi * B / rate), 2 * np.pi * F / rate
    return -2 * r * np.cos(theta), r * r


def pitch(x, rate, low=70, high=350):
    short, long = int(rate / high), int(rate / low)
    return rate / (short + np.argmax(autocorrelation(x, long)[short:]))


def ring(x, F, B, rate):
    return lfilter([1], [1, *pair(F, B, rate)], x)


def rest(x, a):
    return lfilter(a, [1], x)


def speak(errors, a):
    return lfilter([1], a, errors)


def formants(x, rate, widest=400.0, emphasis=True):
    loud = emphasised(x, rate) if emphasis else x
    middle = x.size // 2
    frame = loud[middle - 120 : middle + 120] * np.hanning(240)
    F, B = poles(levinson(autocorrelation(frame, 8 if emphasis else 12))[0], rate)
    return F[widest > B]


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (e.check_alias, "2,700 Hz"),
        (e.check_pole, [2000, 402]),
        (e.check_levinson, [-0.833, 0.667, 1.667]),
        (e.check_levinson, ([-0.833, 0.667], 1.667)),
        (e.check_share, 1 - RHO**2),
        (e.check_share, (1 - sympy.Symbol("r")) * (1 + sympy.Symbol("r"))),
        (e.check_share, lambda rho: (1 - rho) * (1 + rho)),
        (e.check_coefficients, pair),
        (e.check_coefficients, lambda F, B, rate: np.array(pair(F, B, rate))),
        (e.check_coefficients, [-2 * RADIUS * sympy.cos(2 * sympy.pi * HZ / RATE), RADIUS**2]),
        (e.check_order, "(b)"),
        (e.check_telephone, 4),
        (e.check_pitch, pitch),
        (e.check_lab_resonator, ring),
        (e.check_lab_autocorrelation, autocorrelation),
        (e.check_lab_autocorrelation, lambda x, p: list(autocorrelation(x, p))),
        (e.check_lab_levinson, levinson),
        (e.check_lab_residual, rest),
        (e.check_lab_rebuilt, speak),
        (e.check_lab_formants, formants),
    ],
)
def test_right_answers_pass(check, answer):
    feedback = check(answer)
    assert feedback.ok, feedback
    assert "not answered yet" in check(None).message


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [
        (e.check_alias, 5300, "cannot tell it"),
        (e.check_alias, 1300, "fold at half"),
        (e.check_alias, 13300, "not heard either"),
        (e.check_pole, [4000, WIDE], "a whole turn"),
        (e.check_pole, [2000, WIDE / 2], "both sides"),
        (e.check_pole, [2000, 1200], "near the circle"),
        (e.check_pole, [2000, 381.97], "near the circle"),
        (e.check_levinson, [5 / 6, -2 / 3, 5 / 3], "other sign"),
        (e.check_levinson, [-1 / 2, 2 / 3, 5 / 3], "changes the first"),
        (e.check_levinson, [-5 / 6, 2 / 3, 3], "takes energy"),
        (e.check_levinson, [1, -5 / 6, 2 / 3, 5 / 3], "leave out the 1"),
        (e.check_share, 1 - RHO, "changes its sign"),
        (e.check_share, 1 - RHO * sympy.Symbol("x"), "not a quantity of this question"),
        (e.check_share, lambda rho: 1 - rho, "changes its sign"),
        (e.check_share, lambda rho: rho**2, "what does it leave"),
        (e.check_share, lambda rho: 1 - abs(rho), "changes its sign"),
        (e.check_coefficients, lambda *a: [-v for v in pair(*a)], "other side"),
        (e.check_coefficients, lambda *a: (pair(*a)[0], pair(*a)[1] ** 0.5), "product"),
        (e.check_coefficients, lambda F, B, rate: pair(F, 2 * B, rate), "they are"),
        (e.check_coefficients, lambda F, B, rate: 3.0, "2 numbers"),
        (e.check_coefficients, (RADIUS, RADIUS**2), "they are"),
        (e.check_coefficients, (RADIUS * sympy.Symbol("x"), RADIUS**2), "function itself"),
        (e.check_order, "a", "one hump"),
        (e.check_order, "c", "every harmonic"),
        (e.check_order, "d", "never smooth"),
        (e.check_telephone, 6, "loudness and pitch"),
        (e.check_telephone, 47, "together"),
        (e.check_telephone, 5, "round down"),
        (e.check_pitch, lambda x, rate: pitch(x, rate) / 2, "octave too low"),
        (e.check_pitch, lambda x, rate: 2 * pitch(x, rate), "too high"),
        (e.check_pitch, lambda x, rate: 200.0, "a voice of 82 Hz"),
        (e.check_lab_resonator, lambda x, F, B, rate: -ring(x, F, B, rate), "after one pulse"),
        (e.check_lab_resonator, lambda x, F, B, rate: ring(np.eye(1, x.size)[0], F, B, rate), "each sample"),
        (e.check_lab_autocorrelation, lambda x, p: autocorrelation(x, p) / (x @ x), "not shares"),
        (e.check_lab_autocorrelation, lambda x, p: autocorrelation(x, p) / x.size, "not the mean"),
        (e.check_lab_autocorrelation, lambda x, p: autocorrelation(x, p - 1), "are asked"),
        (e.check_lab_autocorrelation, lambda x, p: autocorrelation(abs(x), p), "r_1 is"),
        (e.check_lab_levinson, lambda r: levinson(r)[0], "two things"),
        (e.check_lab_levinson, lambda r: (np.append(1, -levinson(r)[0][1:]), 1.0), "other sign"),
        (e.check_lab_levinson, lambda r: (2 * levinson(r)[0], 1.0), "first coefficient"),
        (e.check_lab_levinson, lambda r: (levinson(r)[0], r[0]), "leaves E"),
        (e.check_lab_residual, lambda x, a: rest(x, np.append(1, -np.array(a[1:]))), "leaves 8, 0"),
        (e.check_lab_residual, lambda x, a: rest(x, np.append(1, a[:0:-1])), "order 3"),
        (e.check_lab_rebuilt, rest, "becomes 8, 4"),
        (e.check_lab_rebuilt, lambda x, a: speak(x, np.append(1, a[:0:-1])), "order 3"),
        (e.check_lab_formants, lambda x, rate: formants(x, rate, 1e9, emphasis=False), "broad poles"),
        (e.check_lab_formants, lambda x, rate: formants(x, rate)[:3], "fewer than four"),
        (e.check_lab_formants, lambda x, rate: [], "came out as none"),
        (e.check_lab_formants, lambda x, rate: formants(x, rate)[::-1], "lowest first"),
        (e.check_lab_formants, lambda x, rate: 1.2 * formants(x, rate), "came out as"),
        (e.check_lab_formants, lambda x, rate: [np.nan] * 4, "finite"),
    ],
)
def test_each_usual_mistake_gets_its_own_hint(check, answer, hint):
    feedback = check(answer)
    assert not feedback.ok
    assert hint in feedback.message


class Hostile:
    """What a reader's function may return: nothing can be done with it."""

    def __float__(self):
        raise RuntimeError("no")

    __str__ = __repr__ = __array__ = __iter__ = __float__


def endless(*a):
    """A function that calls itself without end."""
    return endless(*a)


@pytest.mark.parametrize(
    "answer", ["a word", 3, [1, 2, 3], lambda *a: None, lambda: 1, object(), endless, lambda *a: Hostile(), Hostile()]
)
def test_whatever_is_handed_over_a_check_answers(answer):
    for name in e.__all__:
        assert getattr(e, name)(answer).message

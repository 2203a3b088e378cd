"""Every exercise of *Signals that can be predicted* both ways, and its lab stage by stage."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from asking import check, of
from scipy.signal import lfilter

from voicewire.pharyngeal.reference import autocorrelation, emphasised, levinson, poles
from voicewire_book.chapters.foundations.exercises.signals import EXERCISES

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
        (of("foundations-signals-alias"), "2,700 Hz"),
        (of("foundations-signals-pole"), [2000, 402]),
        (of("foundations-signals-levinson"), [-0.833, 0.667, 1.667]),
        (of("foundations-signals-levinson"), ([-0.833, 0.667], 1.667)),
        (of("foundations-signals-share"), 1 - RHO**2),
        (of("foundations-signals-share"), (1 - sympy.Symbol("r")) * (1 + sympy.Symbol("r"))),
        (of("foundations-signals-share"), lambda rho: (1 - rho) * (1 + rho)),
        (of("foundations-signals-pair"), pair),
        (of("foundations-signals-pair"), lambda F, B, rate: np.array(pair(F, B, rate))),
        (of("foundations-signals-pair"), [-2 * RADIUS * sympy.cos(2 * sympy.pi * HZ / RATE), RADIUS**2]),
        (of("foundations-signals-order"), "(b)"),
        (of("foundations-signals-telephone"), 4),
        (of("foundations-signals-pitch"), pitch),
        (of("foundations-signals-lab-resonator"), ring),
        (of("foundations-signals-lab-autocorrelation"), autocorrelation),
        (of("foundations-signals-lab-autocorrelation"), lambda x, p: list(autocorrelation(x, p))),
        (of("foundations-signals-lab-levinson"), levinson),
        (of("foundations-signals-lab-residual"), rest),
        (of("foundations-signals-lab-rebuilt"), speak),
        (of("foundations-signals-lab-formants"), formants),
    ],
)
def test_right_answers_pass(check, answer):
    feedback = check(answer)
    assert feedback.ok, feedback
    assert "not answered yet" in check(None).message


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [
        (of("foundations-signals-alias"), 5300, "cannot tell it"),
        (of("foundations-signals-alias"), 1300, "fold at half"),
        (of("foundations-signals-alias"), 13300, "not heard either"),
        (of("foundations-signals-pole"), [4000, WIDE], "a whole turn"),
        (of("foundations-signals-pole"), [2000, WIDE / 2], "both sides"),
        (of("foundations-signals-pole"), [2000, 1200], "near the circle"),
        (of("foundations-signals-pole"), [2000, 381.97], "near the circle"),
        (of("foundations-signals-levinson"), [5 / 6, -2 / 3, 5 / 3], "other sign"),
        (of("foundations-signals-levinson"), [-1 / 2, 2 / 3, 5 / 3], "changes the first"),
        (of("foundations-signals-levinson"), [-5 / 6, 2 / 3, 3], "takes energy"),
        (of("foundations-signals-levinson"), [1, -5 / 6, 2 / 3, 5 / 3], "leave out the 1"),
        (of("foundations-signals-share"), 1 - RHO, "changes its sign"),
        (of("foundations-signals-share"), 1 - RHO * sympy.Symbol("x"), "not a quantity of this question"),
        (of("foundations-signals-share"), lambda rho: 1 - rho, "changes its sign"),
        (of("foundations-signals-share"), lambda rho: rho**2, "what does it leave"),
        (of("foundations-signals-share"), lambda rho: 1 - abs(rho), "changes its sign"),
        (of("foundations-signals-pair"), lambda *a: [-v for v in pair(*a)], "other side"),
        (of("foundations-signals-pair"), lambda *a: (pair(*a)[0], pair(*a)[1] ** 0.5), "product"),
        (of("foundations-signals-pair"), lambda F, B, rate: pair(F, 2 * B, rate), "they are"),
        (of("foundations-signals-pair"), lambda F, B, rate: 3.0, "2 numbers"),
        (of("foundations-signals-pair"), (RADIUS, RADIUS**2), "they are"),
        (of("foundations-signals-pair"), (RADIUS * sympy.Symbol("x"), RADIUS**2), "function itself"),
        (of("foundations-signals-order"), "a", "one hump"),
        (of("foundations-signals-order"), "c", "every harmonic"),
        (of("foundations-signals-order"), "d", "never smooth"),
        (of("foundations-signals-telephone"), 6, "loudness and pitch"),
        (of("foundations-signals-telephone"), 47, "together"),
        (of("foundations-signals-telephone"), 5, "round down"),
        (of("foundations-signals-pitch"), lambda x, rate: pitch(x, rate) / 2, "octave too low"),
        (of("foundations-signals-pitch"), lambda x, rate: 2 * pitch(x, rate), "too high"),
        (of("foundations-signals-pitch"), lambda x, rate: 200.0, "a voice of 82 Hz"),
        (of("foundations-signals-lab-resonator"), lambda x, F, B, rate: -ring(x, F, B, rate), "after one pulse"),
        (
            of("foundations-signals-lab-resonator"),
            lambda x, F, B, rate: ring(np.eye(1, x.size)[0], F, B, rate),
            "each sample",
        ),
        (of("foundations-signals-lab-autocorrelation"), lambda x, p: autocorrelation(x, p) / (x @ x), "not shares"),
        (of("foundations-signals-lab-autocorrelation"), lambda x, p: autocorrelation(x, p) / x.size, "not the mean"),
        (of("foundations-signals-lab-autocorrelation"), lambda x, p: autocorrelation(x, p - 1), "are asked"),
        (of("foundations-signals-lab-autocorrelation"), lambda x, p: autocorrelation(abs(x), p), "r_1 is"),
        (of("foundations-signals-lab-levinson"), lambda r: levinson(r)[0], "two things"),
        (of("foundations-signals-lab-levinson"), lambda r: (np.append(1, -levinson(r)[0][1:]), 1.0), "other sign"),
        (of("foundations-signals-lab-levinson"), lambda r: (2 * levinson(r)[0], 1.0), "first coefficient"),
        (of("foundations-signals-lab-levinson"), lambda r: (levinson(r)[0], r[0]), "leaves E"),
        (of("foundations-signals-lab-residual"), lambda x, a: rest(x, np.append(1, -np.array(a[1:]))), "leaves 8, 0"),
        (of("foundations-signals-lab-residual"), lambda x, a: rest(x, np.append(1, a[:0:-1])), "order 3"),
        (of("foundations-signals-lab-rebuilt"), rest, "becomes 8, 4"),
        (of("foundations-signals-lab-rebuilt"), lambda x, a: speak(x, np.append(1, a[:0:-1])), "order 3"),
        (of("foundations-signals-lab-formants"), lambda x, rate: formants(x, rate, 1e9, emphasis=False), "broad poles"),
        (of("foundations-signals-lab-formants"), lambda x, rate: formants(x, rate)[:3], "fewer than four"),
        (of("foundations-signals-lab-formants"), lambda x, rate: [], "came out as none"),
        (of("foundations-signals-lab-formants"), lambda x, rate: formants(x, rate)[::-1], "lowest first"),
        (of("foundations-signals-lab-formants"), lambda x, rate: 1.2 * formants(x, rate), "came out as"),
        (of("foundations-signals-lab-formants"), lambda x, rate: [np.nan] * 4, "finite"),
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
    for label in EXERCISES:
        assert EXERCISES.check(label, answer).message


def test_a_function_that_fails_on_a_voice_is_told_why():
    assert "raises ZeroDivisionError" in check("foundations-signals-pitch", lambda x, rate: 1 / 0).message
    assert "can't be used: ValueError" in check("foundations-signals-pitch", lambda x, rate: "high").message
    assert "gave nan Hz" in check("foundations-signals-pitch", lambda x, rate: float("nan")).message

"""The exercises and the lab of the TCP chapter both ways."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from asking import check, of

from voicewire.netsim.reference.tcp_sender import Timeout, measure
from voicewire_book.chapters.foundations import tcp
from voicewire_book.chapters.foundations.exercises.tcp import EXERCISES

P, A = sympy.symbols("p a")


def first(sample, least):
    return {"srtt": sample, "rttvar": sample / 2, "rto": max(3 * sample, least)}


def later(state, sample, least, old=True):
    s = state["srtt"] + (sample - state["srtt"]) / 8
    off = abs((state["srtt"] if old else s) - sample)
    v = state["rttvar"] + (off - state["rttvar"]) / 4
    return {"srtt": s, "rttvar": v, "rto": max(s + 4 * v, least)}


def backoff(state):
    return {**state, "rto": min(2 * state["rto"], 60.0)}


def karn(state, sample, sent, least):
    return later(state, sample, least) if sent == 1 else state


def run(events, least):
    timer, out = Timeout(least), []
    for kind, sample, sent in events:
        if kind == "expired":
            tcp.expired(timer)
        elif sent == 1:
            measure(timer, sample)
        out.append(timer.rto)
    return out


def run_first(events, least, start=1.0, karn=True, doubles=True):
    """A timer with a slip before the first measurement."""
    timer, out = Timeout(least, start), []
    for kind, sample, sent in events:
        if kind == "expired":
            if doubles or timer.srtt is not None:
                tcp.expired(timer)
        elif sent == 1 or (timer.srtt is None and not karn):
            measure(timer, sample)
        out.append(timer.rto)
    return out


def merge(n, gap, answer):
    return n if gap > answer else 1 + int(np.ceil((n - 1) * gap / answer))


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (of("foundations-tcp-flights"), "480 ms"),
        (of("foundations-tcp-peak"), 192.0),
        (of("foundations-tcp-spike"), 19),
        (of("foundations-tcp-root"), lambda p, a: ((1 + a) / (2 * p * (1 - a))) ** 0.5),
        (of("foundations-tcp-root"), sympy.sqrt((1 + A) / (2 * P * (1 - A)))),
        (of("foundations-tcp-tail"), "b"),
        (of("foundations-tcp-stall"), 88),
        (of("foundations-tcp-merge"), merge),
        (of("foundations-tcp-fair"), "8/9"),
        (of("foundations-tcp-lab-first"), first),
        (of("foundations-tcp-lab-later"), later),
        (of("foundations-tcp-lab-backoff"), backoff),
        (of("foundations-tcp-lab-karn"), karn),
        (of("foundations-tcp-lab-timer"), run),
    ],
)
def test_right_answers_pass(ask, answer):
    feedback = ask(answer)
    assert feedback.ok, feedback
    assert "not answered yet" in ask(None).message


@pytest.mark.parametrize(
    ("ask", "answer", "hint"),
    [
        (of("foundations-tcp-flights"), 400, "opened first"),
        (of("foundations-tcp-flights"), 1680, "doubles"),
        (of("foundations-tcp-flights"), 560, "one too many"),
        (of("foundations-tcp-peak"), 112, "four deviations"),
        (of("foundations-tcp-peak"), 172, "first of the two"),
        (of("foundations-tcp-peak"), 188, "old average"),
        (of("foundations-tcp-spike"), 18, "only four deviations"),
        (of("foundations-tcp-spike"), 10, "feeds the deviation"),
        (of("foundations-tcp-spike"), 2, "average alone"),
        (of("foundations-tcp-spike"), 32, "path settled"),
        (of("foundations-tcp-root"), lambda p, a: np.sqrt(1.5 / p), "another a"),
        (of("foundations-tcp-root"), lambda p, a: np.sqrt(8 / 3 / p), "mean over the sawtooth"),
        (of("foundations-tcp-root"), sympy.sqrt(3 / (2 * P)), "another a"),
        (of("foundations-tcp-tail"), "a", "there are none"),
        (of("foundations-tcp-tail"), "c", "nothing did"),
        (of("foundations-tcp-tail"), "d", "floor"),
        (of("foundations-tcp-stall"), 24, "may not leave"),
        (of("foundations-tcp-stall"), 40, "not all"),
        (of("foundations-tcp-stall"), 64, "answer back"),
        (of("foundations-tcp-merge"), lambda n, g, a: 1 + (n - 1) * g / a, "whole"),
        (of("foundations-tcp-merge"), lambda n, g, a: n, "wait together"),
        (of("foundations-tcp-merge"), lambda n, g, a: 1 + np.ceil((n - 1) * g / a), "longer than the answer"),
        (of("foundations-tcp-fair"), 64 / 18, "number of flows"),
        (of("foundations-tcp-fair"), 1 / 3, "least over the most"),
        (of("foundations-tcp-lab-first"), lambda s, f: {**first(s, f), "rttvar": s}, "half of the sample"),
        (of("foundations-tcp-lab-first"), lambda s, f: 3 * s, "dict"),
        (of("foundations-tcp-lab-later"), lambda *a: later(*a, old=False), "old average"),
        (of("foundations-tcp-lab-backoff"), lambda s: {**s, "rto": 2 * s["rto"]}, "60 s"),
        (of("foundations-tcp-lab-karn"), lambda s, x, n, f: later(s, x, f), "measures nothing"),
        (of("foundations-tcp-lab-karn"), lambda s, x, n, f: s, "too"),
        (of("foundations-tcp-lab-first"), lambda s, f: {**first(s, f), "rto": 3 * s}, "rto"),
        (of("foundations-tcp-lab-later"), lambda s, x, f: s, "srtt"),
        (of("foundations-tcp-lab-karn"), lambda s, x, n, f: None, "return the state"),
        (of("foundations-tcp-lab-karn"), lambda s, x, n, f: {**s, "rto": s["srtt"] + 4 * s["rttvar"]}, "stays doubled"),
        (
            of("foundations-tcp-lab-timer"),
            lambda events, least: run_first(events, least, start=least),
            "whatever the floor",
        ),
        (
            of("foundations-tcp-lab-timer"),
            lambda events, least: run_first(events, least, karn=False),
            "first measurement, too",
        ),
        (
            of("foundations-tcp-lab-timer"),
            lambda events, least: run_first(events, least, doubles=False),
            "doubles, too",
        ),
        (of("foundations-tcp-lab-timer"), lambda events, least: run(events, least)[:-1], "one timer for each"),
        (
            of("foundations-tcp-lab-timer"),
            lambda events, f: run(events[:2] + [(k, x, 1) for k, x, _ in events[2:]], f),
            "with a floor",
        ),
        (
            of("foundations-tcp-lab-timer"),
            lambda events, f: run([(k, x, 1) for k, x, _ in events], f),
            "first measurement, too",
        ),
    ],
)
def test_each_usual_mistake_gets_its_own_hint(ask, answer, hint):
    feedback = ask(answer)
    assert not feedback.ok
    assert hint in feedback.message


def fades(excess):
    """The first n at which a share of the spike is below a tenth."""
    return next(n for n in range(100) if abs(excess(n)) < 0.1)


def test_the_spikes_answers_are_what_their_hints_say():
    """The right one by the timer itself; the wrong ones by the mistakes that the hints name."""
    timer = Timeout(0.0, 0.1, 0.1, 0.0)
    measure(timer, 0.18)
    assert timer.rto - 0.1 == pytest.approx(9 / 8 * 0.08)
    samples = 0
    while timer.rto - 0.1 >= 0.008:
        measure(timer, 0.1)
        samples += 1
    assert samples == fades(lambda n: 9 / 8 * (7 / 8) ** n) == 19
    assert fades(lambda n: (7 / 8) ** n) == 18  # four deviations only
    assert fades(lambda n: (7 / 8) ** n / 8 + (3 / 4) ** n) == 10  # nothing feeds the deviation
    assert fades(lambda n: (3 / 4) ** n) == 9  # and the average is left out
    assert fades(lambda n: (7 / 8) ** n / 8) == 2  # the average alone
    settled = [7 * (7 / 8) ** n - 8 * (3 / 4) ** n for n in range(60)]  # the text's jump, which starts elsewhere
    assert max(n for n, share in enumerate(settled) if share >= 0.1) + 1 == 32


def nothing_that_can_be_compared(*_):
    return {name: np.array([1.0, 2.0]) for name in ("srtt", "rttvar", "rto")}


@pytest.mark.parametrize("answer", [nothing_that_can_be_compared, lambda *a: {1, 2}, lambda *a: 1 / 0])
def test_whatever_a_function_gives_a_check_answers(answer):
    for label in EXERCISES:
        assert not check(label, answer)


def test_what_a_function_raises_is_told_with_what_it_was_given():
    assert "given 0.1 and 0, raises ZeroDivisionError" in check("foundations-tcp-lab-first", lambda *a: 1 / 0).message
    assert "can't be used" in check("foundations-tcp-lab-first", nothing_that_can_be_compared).message


@pytest.mark.parametrize("answer", ["a word", 3, [1, 2, 3], lambda *a: None, lambda: 1, object()])
def test_whatever_is_handed_over_a_check_answers(answer):
    for label in EXERCISES:
        assert check(label, answer).message

"""The exercises and the lab of the TCP chapter both ways."""

from __future__ import annotations

import numpy as np
import pytest

from voicewire.foundations import tcp
from voicewire.foundations import tcp_exercises as e


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
    timer, out = tcp.Timeout(least), []
    for kind, sample, sent in events:
        if kind == "expired":
            tcp.expired(timer)
        elif sent == 1:
            tcp.measure(timer, sample)
        out.append(timer.rto)
    return out


def merge(n, gap, answer):
    return n if gap > answer else 1 + int(np.ceil((n - 1) * gap / answer))


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (e.check_ack, 1001),
        (e.check_flights, "480 ms"),
        (e.check_moved, lambda n, a, b: b - (b - a) * 0.875**n),
        (e.check_peak, 190.0),
        (e.check_square_root, lambda p, a: ((1 + a) / (2 * p * (1 - a))) ** 0.5),
        (e.check_delivery, "b"),
        (e.check_stall, 88),
        (e.check_merge, merge),
        (e.check_fair, "8/9"),
        (e.check_first, first),
        (e.check_later, later),
        (e.check_backoff, backoff),
        (e.check_karn, karn),
        (e.check_timer, run),
    ],
)
def test_right_answers_pass(check, answer):
    feedback = check(answer)
    assert feedback.ok, feedback
    assert "not answered yet" in check(None).message


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [
        (e.check_ack, 3001, "cumulative"),
        (e.check_ack, 1000, "next byte"),
        (e.check_ack, 2001, "behind the hole"),
        (e.check_flights, 400, "opened first"),
        (e.check_flights, 1680, "doubles"),
        (e.check_flights, 560, "one too many"),
        (e.check_peak, 110, "four deviations"),
        (e.check_peak, 130, "quarter"),
        (e.check_peak, 260, "an eighth"),
        (e.check_square_root, lambda p, a: np.sqrt(1.5 / p), "another a"),
        (e.check_square_root, lambda p, a: np.sqrt(8 / 3 / p), "mean over the sawtooth"),
        (e.check_delivery, "a", "there are none"),
        (e.check_delivery, "c", "nothing did"),
        (e.check_delivery, "d", "floor"),
        (e.check_stall, 24, "may not leave"),
        (e.check_stall, 40, "not all"),
        (e.check_stall, 64, "answer back"),
        (e.check_merge, lambda n, g, a: 1 + (n - 1) * g / a, "whole"),
        (e.check_merge, lambda n, g, a: n, "wait together"),
        (e.check_merge, lambda n, g, a: 1 + np.ceil((n - 1) * g / a), "longer than the answer"),
        (e.check_fair, 64 / 18, "number of flows"),
        (e.check_fair, 1 / 3, "least over the most"),
        (e.check_first, lambda s, f: {**first(s, f), "rttvar": s}, "half of the sample"),
        (e.check_first, lambda s, f: 3 * s, "dict"),
        (e.check_later, lambda *a: later(*a, old=False), "old average"),
        (e.check_backoff, lambda s: {**s, "rto": 2 * s["rto"]}, "60 s"),
        (e.check_karn, lambda s, x, n, f: later(s, x, f), "measures nothing"),
        (e.check_karn, lambda s, x, n, f: s, "too"),
        (e.check_first, lambda s, f: {**first(s, f), "rto": 3 * s}, "rto"),
        (e.check_later, lambda s, x, f: s, "srtt"),
        (e.check_timer, lambda events, least: run(events, least)[:-1], "one timer for each"),
        (e.check_timer, lambda events, least: run([(k, x, 1) for k, x, _ in events], least), "floor"),
    ],
)
def test_each_usual_mistake_gets_its_own_hint(check, answer, hint):
    feedback = check(answer)
    assert not feedback.ok
    assert hint in feedback.message


@pytest.mark.parametrize("answer", ["a word", 3, [1, 2, 3], lambda *a: None, lambda: 1, object()])
def test_whatever_is_handed_over_a_check_answers(answer):
    for name in e.__all__:
        assert getattr(e, name)(answer).message

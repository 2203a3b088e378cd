"""The exercises and the lab of chapter 3, *TCP in one chapter*."""

from __future__ import annotations

from typing import Any

import numpy as np

from voicewire.netsim.reference.tcp_sender import Timeout, measure
from voicewire_book.chapters.foundations.tcp import expired, small_writes
from voicewire_book.kit._student_functions import Function, NotYetError, expression
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import Feedback, formula, function, number, sequence, value
from voicewire_book.kit.records import Choice, Number
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given


def _peak(before: int, first: int, second: int) -> Drawn:
    average, deviation = before + (first - before) / 8, (first - before) / 4
    off = abs(average - second)
    later, spread = average + (second - average) / 8, deviation + (off - deviation) / 4
    moved = deviation + (abs(later - second) - deviation) / 4
    rto = later + 4 * spread
    return Drawn(
        f"R = {before} ms for long, then {first} ms, then {second} ms",
        rto,
        (
            (average + 4 * deviation, "this is after the first of the two; the second moves it once more."),
            (later + 4 * moved, "the deviation is taken from the old average; only then the average moves."),
            (later + spread, "four deviations are added, not one."),
            (later, "this is the smoothed round trip; four deviations are added."),
            (before + (second - before) * 9 / 8, "the sample before it has moved average and deviation already."),
        ),
        f"After {first}: V = {first - before} / 4 = {deviation:g}, S = {before} + {first - before} / 8 = {average:g}.\n"
        f"{second} lies {off:g} off S: V = {deviation:g} + ({off:g} - {deviation:g}) / 4 = {spread:g}.\n"
        f"Only then S = {average:g} + {second - average:g} / 8 = {later:g}.\n"
        f"RTO = {later:g} + 4 · {spread:g} = {rto:g} ms.",
        unit="ms",
        right=f"{later:g} + 4 · {spread:g}.",
        tolerance=0.001,
    )


def _drawn_peak(rng: np.random.Generator) -> tuple[int, ...]:
    before, jump, more = 20 * int(rng.integers(4, 11)), int(rng.integers(1, 4)), int(rng.integers(1, 9))
    return before, before + 32 * jump, before + 4 * jump + 8 * more


EXERCISES["foundations-tcp-peak"] = Exercise("peak", (100, 164, 140), _drawn_peak, _peak)

# ms -> from the SYN to the last byte: 200 segments, window 10, 80 ms, the question in the third segment
EXERCISES["foundations-tcp-flights"] = Number(480, 1e-6, unit="ms", hints={
    400.0: "the connection has to be opened first: one round trip.",
    320.0: "three flights carry 70 segments; and the connection has to be opened first.",
    1680.0: "the window doubles with each round trip, it doesn't stay 10.",
    560.0: "five flights carry 310 segments; do you count one too many?",
}, right="one to open, five to send: 10 + 20 + 40 + 80 + 50.")  # fmt: skip

# a number -> measurements of the old round trip until the timer is less than a tenth of a single spike above it
EXERCISES["foundations-tcp-spike"] = Number(19, 1e-9, hints={
    18.0: "after 18 it is still 0.102 of the spike: does the average count too, or only four deviations?",
    10.0: "the average is off by an eighth of the spike, so each sample that follows feeds the deviation again.",
    9.0: "the average is off by an eighth of the spike, so each sample that follows feeds the deviation again.",
    2.0: "the average alone is back so soon; four deviations are added to it.",
    32.0: "this would be right had the path settled at the spike: one sample moves the average by an eighth only.",
    1.0: "one sample of the old round trip undoes a quarter of the deviation at most.",
}, right="the excess is 9/8 of the spike and shrinks by 7/8 each time: one late answer is remembered for long.",
)  # fmt: skip


@EXERCISES.judged("foundations-tcp-root")
def _(answer: object) -> Feedback:
    """A function p, a -> mean window if a loss leaves the share a of the window (AIMD, one segment a round trip)."""
    answer = expression(answer, "p", "a")
    half, other = value(answer, (0.01, 0.5)), value(answer, (0.01, 0.7))
    if abs(half - np.sqrt(150)) < 1e-6 and abs(other - half) < 1e-6:
        return Feedback(False, "right for a = 1/2; what of another a?")
    if abs(half - np.sqrt(800 / 3)) < 1e-6:
        return Feedback(False, "this is the window at the loss; the question is for the mean over the sawtooth.")
    said = "√((1 + a) / (2 p (1 - a))); for a = 1/2 the law of the text."
    cases = [(0.01, 0.5), (0.001, 0.7), (0.02, 0.25)]
    return formula(answer, lambda p, a: np.sqrt((1 + a) / (2 * p * (1 - a))), cases, right=said)


# a letter -> what mends the loss of a transfer's very last segment soonest, with all rules of the chapter at hand
EXERCISES["foundations-tcp-tail"] = Choice("b", "abcd", hints={
    "a": "duplicate acknowledgements come from segments behind the hole: there are none.",
    "c": "SACK describes what came behind a hole: nothing did.",
    "d": "the timer does, but not soonest: its floor alone may be a second.",
}, right="after about two round trips it sends the last segment once more, and the answer shows the hole.")  # fmt: skip

# ms -> what a write-write-read takes: Nagle, acknowledgements delayed by 40 ms, 24 ms a round trip
EXERCISES["foundations-tcp-stall"] = Number(88, 1e-6, unit="ms", hints={
    24.0: "the second write may not leave before the first is acknowledged.",
    48.0: "and when does that acknowledgement leave? The other side has nothing to say yet.",
    40.0: "the delay is not all: each of the two segments still crosses the path and is answered.",
    64.0: "when the acknowledgement has come, the second write still has to go there and the answer back.",
}, right="12 + 40 + 12 to learn that it came, 24 for the answer.")  # fmt: skip


@EXERCISES.judged("foundations-tcp-merge")
def _(answer: object) -> Feedback:
    """A function n, gap, answer -> number of segments that n small writes leave in under Nagle's rule."""
    got, apart = value(answer, (13, 0.01, 0.042)), value(answer, (9, 0.08, 0.042))
    if abs(got - (1 + 12 / 4.2)) < 1e-9:
        return Feedback(False, "segments are whole.")
    if got == np.ceil(13 / 4.2) == apart:
        return Feedback(False, "the first write leaves alone, nothing is unacknowledged then.")
    if got == 13:
        return Feedback(False, "while one segment is unacknowledged, the writes that follow wait together.")
    if got == 4 and apart == 1 + np.ceil(8 * 0.08 / 0.042):
        return Feedback(False, "more segments than writes: what if the gap is longer than the answer?")
    given = ((1, 0.01), (2, 0.01), (13, 0.01), (14, 0.01), (9, 0.02), (9, 0.04), (9, 0.08))
    cases = [((n, gap, 0.042), float(len(small_writes([gap * k for k in range(n)], 0.042)))) for n, gap in given]
    return function(answer, cases, 1e-9, right="the first alone, then a batch for each answer.")


# a number -> Jain's index of rates 3, 1, 2, 2
EXERCISES["foundations-tcp-fair"] = Number(64 / 72, 0.005, hints={
    64 / 18: "divide by the number of flows too.",
    1 / 3: "this is the least over the most.",
    0.75: "the sum of the squares is 9 + 1 + 4 + 4.",
}, right="8² / (4 · 18).")  # fmt: skip

# The lab: a retransmission timer

_NAMES = ("srtt", "rttvar", "rto")


def _state(result: Any) -> dict[str, Any]:
    """Return what a stage gave, if it is a state."""
    if result is None:
        raise NotYetError("your function gives nothing: return the state, also where it stays as it was.")
    if not isinstance(result, dict) or not set(_NAMES) <= result.keys():
        raise NotYetError('return a dict with the keys "srtt", "rttvar" and "rto".')
    return result


def _as_dict(timer: Timeout) -> dict[str, Any]:
    return {name: getattr(timer, name) for name in _NAMES}


def _compare(got: dict[str, Any], wanted: dict[str, Any], why: str = "") -> None:
    """End the check at the first entry that is wrong."""
    for name in _NAMES:
        verdict = number(got[name], wanted[name], 1e-9, unit="s")
        if not verdict:
            raise NotYetError(f"{why}{name}: {verdict.message}")


@EXERCISES.called("foundations-tcp-lab-first")
def _(answer: Function) -> Feedback:
    """Stage 1: (sample, least) -> state after the first measurement."""
    for sample, least in ((0.1, 0.0), (0.08, 1.0), (2.0, 0.2)):
        got = _state(answer(sample, least))
        timer = Timeout(least)
        measure(timer, sample)
        if got["rttvar"] == sample:
            return Feedback(False, "the first deviation is half of the sample.")
        _compare(got, _as_dict(timer))
    return Feedback(True, "three round trips, or the floor.")


@EXERCISES.called("foundations-tcp-lab-later")
def _(answer: Function) -> Feedback:
    """Stage 2: (state, sample, least) -> state after a further measurement."""
    rng = np.random.default_rng(3)
    timer = Timeout(0.0)
    measure(timer, 0.1)
    for sample in rng.uniform(0.05, 0.3, 20):
        before = _as_dict(timer)
        got = _state(answer(dict(before), float(sample), 0.0))
        measure(timer, float(sample))
        moved = before["srtt"] + (sample - before["srtt"]) / 8
        if abs(got["rttvar"] - (before["rttvar"] + (abs(moved - sample) - before["rttvar"]) / 4)) < 1e-12:
            return Feedback(False, "take the deviation from the old average, before that moves.")
        _compare(got, _as_dict(timer))
    return Feedback(True, "an eighth for the average, a quarter for the deviation.")


@EXERCISES.called("foundations-tcp-lab-backoff")
def _(answer: Function) -> Feedback:
    """Stage 3: state -> state after the timer has fired."""
    for rto in (0.3, 1.0, 31.0, 60.0):
        got = _state(answer({"srtt": 0.1, "rttvar": 0.05, "rto": rto}))
        if got["rto"] == 2 * rto > 60:
            return Feedback(False, "not beyond 60 s.")
        _compare(got, {"srtt": 0.1, "rttvar": 0.05, "rto": min(2 * rto, 60.0)})
    return Feedback(True, "doubled, and the averages stay: nothing was measured.")


@EXERCISES.called("foundations-tcp-lab-karn")
def _(answer: Function) -> Feedback:
    """Stage 4: (state, sample, times sent, least) -> state, by Karn's rule."""
    backed = {"srtt": 0.1, "rttvar": 0.05, "rto": 2.4}
    got = _state(answer(dict(backed), 0.11, 2, 0.2))
    if got["rto"] == backed["srtt"] + 4 * backed["rttvar"]:
        raise NotYetError("the timer stays doubled, too: it is computed afresh only from a new measurement.")
    _compare(got, backed, "a segment that was sent twice measures nothing, and the timer stays long: ")
    timer = Timeout(0.2)
    timer.srtt, timer.rttvar, timer.rto = 0.1, 0.05, 2.4
    measure(timer, 0.11)
    _compare(_state(answer(dict(backed), 0.11, 1, 0.2)), _as_dict(timer))
    return Feedback(True, "which of the two was answered, nobody knows.")


@EXERCISES.called("foundations-tcp-lab-timer")
def _(answer: Function) -> Feedback:
    """Stage 5: (events, least) -> the timer after each; equal to the package's on traces not seen before."""
    rng = np.random.default_rng(17)
    for least in (0.0, 0.2, 1.0):
        events: list[tuple[str, float, int]] = [("expired", 0.0, 0), ("measured", 0.4, 2)]
        timer, wanted = Timeout(least), [2.0, 2.0]
        expired(timer)
        for _ in range(58):
            if rng.random() < 0.15:
                events.append(("expired", 0.0, 0))
                expired(timer)
            else:
                sample, sent = float(rng.gamma(4, 0.03)), 1 if rng.random() < 0.8 else 2
                events.append(("measured", sample, sent))
                if sent == 1:
                    measure(timer, sample)
            wanted.append(timer.rto)
        got = list(answer(list(events), least))
        if len(got) != len(wanted):
            return Feedback(False, f"one timer for each event: there are {len(wanted)}, you gave {len(got)}.")
        if got[0] != 2 and got[0] in (1, 2 * least):
            said = "doubles, too" if got[0] == 1 else "is 1 s, whatever the floor"
            return Feedback(False, f"before anything was measured the timer {said}: when it fires, 2 s are next.")
        if got[1] == max(3 * 0.4, least):
            return Feedback(False, "Karn's rule holds for the first measurement, too: sent twice, it tells nothing.")
        verdict = sequence(got, wanted, 1e-9, unit="s")
        if not verdict:
            return Feedback(False, f"with a floor of {least} s, {verdict.message}")
    return Feedback(True, "equal to the package's timer on 180 events that you had not seen.")

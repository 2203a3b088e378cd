"""Every exercise both ways: right answers in every form pass, each usual mistake gets its own hint."""

from __future__ import annotations

import itertools
import math
import re
from collections import deque
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import nbformat
import numpy as np
import pytest
from asking import check, of
from scipy.spatial import ConvexHull

from voicewire.netsim.reference import equation
from voicewire.netsim.reference.tfrc_receiver import LossHistory, lose
from voicewire.voip import emodel, loss_bursts, playout
from voicewire.voip.calls import call
from voicewire_book.chapters.voip.exercises import quality_and_playout, rate_control, reproduction
from voicewire_book.chapters.voip.experiments import jain

ROOT = Path(__file__).resolve().parents[2]

CHECKS = [
    of(label)
    for chapter in (rate_control, quality_and_playout, reproduction)
    for label in chapter.EXERCISES
    if "-lab-" not in label
]
CLOSED = [60, 40, 100, 80, 50, 50, 100, 300]
BUDGET = 177.3 + (14.2 - 30 * math.log(1.075) - 0.024 * 177.3) / 0.134


def lost_budget(n):
    return 3 / (2 * n**2)


def too_late(R):
    return 1 - (50 * R) ** (-R / math.log(2))  # the same in another form


def events(times, rtt):
    history, found = LossHistory(size=20), 0
    for k, time in enumerate(times):
        found += lose(history, k + 1, round(time * 1e9), rtt, 1000.0)
    return found


def two_behind(loss, b):
    stay = 1 - (1 - loss) / b
    return loss * np.linalg.matrix_power([[1 - loss / b, loss / b], [1 - stay, stay]], 2)[1, 1]


def best_fixed(delays):
    tried = []
    for d in delays:
        if d < math.inf:
            played = sum(other <= d for other in delays)
            tried.append(float(emodel.r_factor(d, 1 - played / len(delays), "G.711")))
    return max(tried)


def best_of_means(delays):
    came = sorted(d for d in delays if d < math.inf)
    share = [1 - k / len(delays) for k in range(1, len(came) + 1)]
    return max(float(emodel.r_factor(np.mean(came[: k + 1]), s, "G.711")) for k, s in enumerate(share))


def waits_for_all(delays):
    came = [d for d in delays if d < math.inf]
    return float(emodel.r_factor(max(came), 1 - len(came) / len(delays), "G.711"))


def uneven(a, x):
    return (1 - a * (1 - x)) ** 2 / (1 - a * (1 - x**2))


def oldest(frames, places, gap):
    """By events: a frame comes, or the line is free."""
    waiting, busy, dropped = deque(), 0.0, set()
    for k in range(frames):
        while waiting and busy < 20 * k:
            waiting.popleft()
            busy = busy + gap
        if (not waiting and busy < 20 * k) or k == 0:
            busy = 20 * k + gap
            continue
        waiting.append(k)
        if len(waiting) > places:
            dropped.add(waiting.popleft())
    return dropped


def newest(frames, places, gap):
    left, kept, dropped = 0.0, [], []
    for k in range(frames):
        kept = [start for start in kept if start > 20 * k]
        if left > 20 * k and len(kept) == places:
            dropped.append(k)
            continue
        start = max(left, 20.0 * k)
        kept, left = [*kept, start], start + gap
    return dropped


def one_place_less(frames, places, gap):
    return oldest(frames, places - 1, gap)


def lowest(sent, delays, middle=None):
    """The edge of SciPy's convex hull that lies below the middle."""
    middle = np.mean(sent) if middle is None else middle
    rows = np.array([sent, delays]).T
    for side, corners in zip((hull := ConvexHull(rows)).equations, hull.simplices, strict=True):
        left, right = sorted(rows[corners].tolist())
        if side[1] < 0 and left[0] <= middle <= right[0]:
            return (right[1] - left[1]) / (right[0] - left[0])
    raise AssertionError


RIGHT = [
    (of("voip-ex-mean"), 75),
    (of("voip-ex-xrecv"), 6.25),
    (of("voip-ex-climb"), 1.2),
    (of("voip-ex-window"), 273.75),
    (of("voip-ex-window"), 274),
    (of("voip-ex-r"), 56.84),
    (of("voip-ex-mos"), Fraction(160, 3)),
    (of("voip-ex-budget"), BUDGET),
    (of("voip-ex-budget"), 235),
    (of("voip-ex-floor"), 11),
    (of("voip-ex-received"), 94.2 - 0.024 * 130 - 30 * math.log(4.75)),
]
FUNCTIONS = [
    (of("voip-ex-budget-loss"), lost_budget),
    (of("voip-ex-too-late"), too_late),
    (of("voip-ex-events"), events),
    (of("voip-ex-chernov"), lambda m, sigma, eps: m + sigma * np.sqrt(2 * np.log(1 / eps))),
    (of("voip-ex-copies"), two_behind),
    (of("voip-ex-fixed"), best_fixed),
    (of("voip-ex-drift"), lowest),
    (of("voip-ex-jain"), uneven),
    (of("voip-ex-jain"), lambda a, x: jain([1.0] * round(100 - 100 * a) + [x] * round(100 * a))),
    (of("voip-ex-paired"), lambda rho: 2 / (2 - 2 * rho)),
    (of("voip-ex-oldest"), oldest),
    (of("voip-ex-oldest"), lambda *given: np.array(sorted(oldest(*given), reverse=True))),
]
CHOICES = [
    (of("voip-ex-ceiling"), "a"),
    (of("voip-ex-same"), "b"),
    (of("voip-ex-greedy"), "b"),
    (of("voip-ex-bursts"), "c"),
    (of("voip-ex-oneway"), "d"),
    (of("voip-ex-order"), "b"),
    (of("voip-ex-rival"), "c"),
]
HINTS = [
    (of("voip-ex-mean"), 70.67, "try both"),
    (of("voip-ex-mean"), 450, "sum to 6"),
    (of("voip-ex-mean"), 97.5, "without weights"),
    (of("voip-ex-mean"), 108.67, "oldest"),
    (of("voip-ex-mean"), 61.36, "misprint"),
    (of("voip-ex-xrecv"), 3.125, "twice"),
    (of("voip-ex-xrecv"), 100, "longer"),
    (of("voip-ex-xrecv"), 10, "before the first loss"),
    (of("voip-ex-xrecv"), 6.667, "last report"),
    (of("voip-ex-xrecv"), 250, "other limit"),
    (of("voip-ex-climb"), 2.0, "doubling"),
    (of("voip-ex-climb"), 0.864, "whole round trips"),
    (of("voip-ex-climb"), 0.8, "20 packets"),
    (of("voip-ex-climb"), 3, "three steps"),
    (of("voip-ex-window"), 547.5, "one way"),
    (of("voip-ex-window"), 182.5, "2581"),
    (of("voip-ex-window"), 219, "without the headers"),
    (of("voip-ex-window"), 2190, "8000"),
    (of("voip-ex-budget-loss"), lambda n: 1.5 / n, "square"),
    (of("voip-ex-budget-loss"), lambda n: np.sqrt(1.5) / n, "root of p"),
    (of("voip-ex-budget-loss"), lambda n: 2 / 3 / n**2, "changes sides"),
    (of("voip-ex-budget-loss"), lambda n: n**2 / 1.5, "turn it over"),
    (of("voip-ex-too-late"), lambda R: 1 - too_late(R), "has ended"),
    (of("voip-ex-too-late"), lambda R: 1 - np.exp(-R * np.log(50 * R)), "base 2"),
    (of("voip-ex-too-late"), lambda R: 1 - np.exp(-R * np.log2(50 * R) / 2), "quadruples"),
    (of("voip-ex-too-late"), lambda R: 1 - 2 ** (-np.log2(50 * R) / np.log(2)), "seconds"),
    (of("voip-ex-too-late"), lambda R: R * np.log2(50 * R), "which share"),
    (of("voip-ex-ceiling"), "b", "slope"),
    (of("voip-ex-ceiling"), "c", "played or not"),
    (of("voip-ex-ceiling"), "d", "no queue"),
    (of("voip-ex-same"), "a", "same words"),
    (of("voip-ex-same"), "c", "none of the three"),
    (of("voip-ex-same"), "d", "20 ms"),
    (of("voip-ex-events"), lambda times, rtt: len(times), "are losses"),
    (of("voip-ex-events"), lambda t, rtt: sum(np.diff(t) > rtt) + bool(t), "loss before"),
    (of("voip-ex-events"), lambda times, rtt: len({int(t / rtt) for t in times}), "multiple of rtt"),
    (of("voip-ex-events"), lambda times, rtt: max(events(times, rtt) - 1, 0), "begins an event, too"),
    (of("voip-ex-r"), 63.74, "second slope"),
    (of("voip-ex-r"), 66.84, "λ1"),
    (of("voip-ex-r"), 71.54, "without the lost"),
    (of("voip-ex-r"), 65.16, "natural"),
    (of("voip-ex-mos"), 60, "elsewhere"),
    (of("voip-ex-mos"), 80, "slope of the whole"),
    (of("voip-ex-mos"), 82.4, "level"),
    (of("voip-ex-mos"), 24.3, "level"),
    (of("voip-ex-mos"), 50, "middle"),
    (of("voip-ex-budget"), 501.3, "more"),
    (of("voip-ex-budget"), 89.8, "only beyond"),
    (of("voip-ex-budget"), 248, "goes on"),
    (of("voip-ex-budget"), 251.5, "lost frames"),
    (of("voip-ex-budget"), 150, "advice"),
    (of("voip-ex-greedy"), "a", "independent"),
    (of("voip-ex-greedy"), "c", "costs, not delays"),
    (of("voip-ex-greedy"), "d", "weight"),
    (of("voip-ex-bursts"), "a", "tell them apart"),
    (of("voip-ex-bursts"), "b", "alike"),
    (of("voip-ex-bursts"), "d", "two questions"),
    (of("voip-ex-chernov"), lambda m, s, eps: m + s * math.sqrt(math.log(1 / eps)), "where is the 2"),
    (of("voip-ex-chernov"), lambda m, s, eps: NormalDist(m, s).inv_cdf(1 - eps), "quantile"),
    (of("voip-ex-chernov"), lambda m, s, eps: m + s**2 / 2 + math.log(1 / eps), "best s"),
    (of("voip-ex-chernov"), lambda m, s, eps: m + s * math.sqrt(2 * math.log10(1 / eps)), "natural"),
    (of("voip-ex-copies"), lambda x, b: x * (1 - (1 - x) / b), "very next"),
    (of("voip-ex-copies"), lambda x, b: x * (1 - (1 - x) / b) ** 2, "counts, too"),
    (of("voip-ex-copies"), lambda x, b: x**2, "at random"),
    (of("voip-ex-copies"), lambda x, b: two_behind(x, b) / x, "of all frames"),
    (of("voip-ex-fixed"), lambda d: best_fixed([x for x in d if x < math.inf]), "never arrived"),
    (of("voip-ex-fixed"), best_of_means, "one delay"),
    (of("voip-ex-fixed"), waits_for_all, "last frame"),
    (of("voip-ex-received"), 59.4, "the fastest: take"),
    (of("voip-ex-received"), 46.5, "takes its time"),
    (of("voip-ex-received"), 45.04, "however early"),
    (of("voip-ex-received"), 91.08, "counts as lost"),
    (of("voip-ex-oneway"), "a", "fastest came later"),
    (of("voip-ex-oneway"), "b", "neighbours"),
    (of("voip-ex-oneway"), "c", "constant"),
    (of("voip-ex-drift"), lambda sent, delays: np.polyfit(sent, delays, 1)[0], "middle of the delays"),
    (of("voip-ex-drift"), lambda sent, delays: (delays[-1] - delays[0]) / (sent[-1] - sent[0]), "may both have waited"),
    (of("voip-ex-drift"), lambda sent, delays: lowest(sent, delays, min(sent) + np.ptp(sent) / 2), "mean of all times"),
    (of("voip-ex-jain"), lambda a, x: 1 - a + a * x, "Jain squares"),
    (of("voip-ex-jain"), lambda a, x: (1 - a + a * x) / (1 - a + a * x * x), "above the line"),
    (of("voip-ex-jain"), lambda a, x: 1 / uneven(a, x), "turn it over"),
    (of("voip-ex-jain"), lambda a, x: uneven(1 - a, x), "that get x"),
    (of("voip-ex-paired"), lambda rho: (1 - rho) ** -0.5, "its square"),
    (of("voip-ex-paired"), lambda rho: (1 - rho) ** -2, "not with its root"),
    (of("voip-ex-paired"), lambda rho: 1 / (1 - rho**2), "regression"),
    (of("voip-ex-paired"), lambda rho: 1 - rho, "turn it over"),
    (of("voip-ex-floor"), 8, "36 a second"),
    (of("voip-ex-floor"), 6, "twice the one-way"),
    (of("voip-ex-floor"), 15, "150 ms"),
    (of("voip-ex-floor"), 10, "45 a second"),
    (of("voip-ex-order"), "a", "each delay"),
    (of("voip-ex-order"), "c", "decided"),
    (of("voip-ex-order"), "d", "reading"),
    (of("voip-ex-rival"), "a", "rival was to test"),
    (of("voip-ex-rival"), "b", "not needed"),
    (of("voip-ex-rival"), "d", "more calls"),
    (of("voip-ex-oldest"), newest, "waited longest"),
    (of("voip-ex-oldest"), one_place_less, "takes no place"),
    (of("voip-ex-oldest"), lambda *given: sorted(oldest(*given))[:-1], "is missing"),
    (of("voip-ex-oldest"), lambda *given: [*oldest(*given), 3], "too many"),
    (of("voip-ex-oldest"), lambda *given: 2 * sorted(oldest(*given)), "twice"),
    (of("voip-ex-oldest"), lambda *given: 4, "no list of frames"),
    (of("voip-ex-oldest"), [4], "function itself"),
]


def test_every_check_is_tried():
    assert {check for check, _ in RIGHT + FUNCTIONS + CHOICES} == set(CHECKS)
    tried = [check for check, *_ in HINTS]
    assert all(tried.count(check) >= 3 for check in CHECKS)


@pytest.mark.parametrize(("check", "value"), RIGHT)
def test_a_right_number_in_every_form(check, value):
    value = float(value)
    for form in (value, np.float64(value), [value], np.array(value), str(value), f"{value:.4f}".replace(".", ",")):
        verdict = check(form)
        assert verdict, (form, verdict)


@pytest.mark.parametrize(("check", "answer"), FUNCTIONS + CHOICES)
def test_right_answers_pass(check, answer):
    verdict = check(answer)
    assert verdict, verdict


@pytest.mark.parametrize(("check", "answer", "hint"), HINTS)
def test_each_usual_mistake_gets_its_own_hint(check, answer, hint):
    verdict = check(answer)
    assert not verdict
    assert hint in verdict.message


@pytest.mark.parametrize("check", CHECKS)
def test_hints_of_one_check_are_different(check):
    told = [check(answer).message for tried, answer, _ in HINTS if tried == check]
    doubled = {of("voip-ex-mos"): 1}  # either end of the same slope
    assert len(set(told)) == len(told) - doubled.get(check, 0)


@pytest.mark.parametrize(("check", "value"), RIGHT)
@pytest.mark.parametrize("factor", [0.3, 0.7, 0.9, 1.1, 1.4, 3.3])
def test_what_is_far_is_not_called_close(check, value, factor):
    verdict = check(float(value) * factor)
    assert not verdict
    assert "close" not in verdict.message


@pytest.mark.parametrize(
    "answer", ["a word", 3, [1, 2, 3], lambda *a: None, lambda: 1, lambda *a: "x", lambda *a: 1 / 0, object(), {1: 2}]
)
def test_whatever_is_handed_over_gets_a_sentence(answer):
    for ask in CHECKS:
        assert ask(answer).message
        assert all("not answered yet" in ask(blank).message for blank in (None, ...))


def test_a_function_may_change_what_it_is_given():
    def eats(times, rtt):
        found = events(times, rtt)
        times.clear()
        return found

    assert check("voip-ex-events", eats)


PAGES = {"01_rate_control": [6.25, 273.75], "02_quality_and_playout": [56.84, 160 / 3, BUDGET]}


@pytest.mark.parametrize("chapter", PAGES)
def test_no_answer_of_three_digits_stands_on_the_page_above(chapter):
    notebook = nbformat.read(ROOT / "notebooks" / "voip" / f"{chapter}.ipynb", 4)
    page = []
    for cell in notebook.cells:
        if cell.source.startswith("## Exercises"):
            break
        page += [
            re.sub(r"(?m)^\*\*Time\*\*.*$", "", cell.source),
            *(o.get("text", "") or o.get("data", {}).get("text/plain", "") for o in cell.get("outputs", [])),
        ]
    numbers = re.findall(r"(?<![\d.])\d+(?:\.\d+)?", "\n".join(page))
    long = [float(number) for number in numbers if len(number.replace(".", "").lstrip("0")) >= 3]
    assert len(long) > 50
    for answer in PAGES[chapter]:
        assert not any(math.isclose(number, answer, rel_tol=0.002) for number in long), answer


# The answers by another way than the check's


def test_the_mean_is_the_chapters():
    assert equation.mean_interval(90, CLOSED) == pytest.approx(75)
    assert 90 > 75 > np.dot(equation.WEIGHTS, [90, *CLOSED[:7]]) / 6


def test_the_loss_budget_solves_the_first_term():
    for n in (2, 10):
        assert 20 / (0.1 * math.sqrt(2 * lost_budget(n) / 3)) == pytest.approx(n * 20 / 0.1)


def test_the_steepest_place_of_the_score_is_there():
    r = np.linspace(20, 90, 7001)
    assert r[np.argmax(np.gradient(emodel.mos(r), r))] == pytest.approx(160 / 3, abs=0.02)


def test_the_delay_budget_leaves_eighty():
    assert emodel.r_factor(BUDGET, 0.005, "G.711") == pytest.approx(80)


def test_a_copy_two_behind_misses_what_the_channel_says():
    lost = loss_bursts.losses(np.random.default_rng(4), 200_000, 0.1, 3.0)
    assert (lost[:-2] & lost[2:]).mean() == pytest.approx(two_behind(0.1, 3.0), rel=0.05)


def test_the_best_fixed_delay_is_the_packages():
    rng = np.random.default_rng(8)
    for _ in range(20):
        delays = [*rng.uniform(40, 400, 12), math.inf]
        assert best_fixed(delays) == pytest.approx(playout.fixed(delays, [0] * 13, "G.711").r)


def test_eleven_is_the_least_floor_at_110_ms():
    how = {"delay_ms": 110, "seed": 2, "seconds": 60}
    udp = call("UDP", "G.729", **how).r
    ten, eleven = (call("TFRC SP FR MD", "G.729", floor_packets=n, **how).r for n in (10, 11))
    assert udp == pytest.approx(eleven, abs=1e-9)
    assert udp - ten > 0.5


def test_the_figures_climb_ends_at_a_full_buffer():
    c = call("TFRC SP FR MD", "G.729", delay_ms=150, seed=1, seconds=30)
    came = c.delays_ms[np.isfinite(c.delays_ms)]
    assert 150 + 5 * 300 / 8 - 8 < came.max() <= 150 + 5 * 300 / 8


def test_three_senders_are_the_same_without_loss():
    scores = [call(name, "G.729", delay_ms=50, seed=3, seconds=60).r for name in ("TFRC", "TFRC SP", "TFRC SP FR")]
    assert scores[0] == scores[1] == scores[2]


def test_pairing_saves_the_calls_that_it_says():
    rng, rho = np.random.default_rng(6), 0.8
    shared, own = rng.standard_normal((1, 100_000)), rng.standard_normal((2, 100_000))
    first, second = math.sqrt(rho) * shared + math.sqrt(1 - rho) * own
    paired, apart = np.var(first - second), np.var(first) + np.var(second)
    assert apart / paired == pytest.approx(1 / (1 - rho), rel=0.03)


def test_the_buffer_drops_the_oldest():
    for frames, places, gap in itertools.product((10, 33), (1, 4), (23.3, 61.7)):
        dropped = sorted(oldest(frames, places, gap))
        assert reproduction._dropped(frames, places, gap) == dropped
        assert reproduction._dropped(frames, places, gap, drop="newest") == newest(frames, places, gap)

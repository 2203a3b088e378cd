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
from scipy.spatial import ConvexHull

from voicewire.netsim.reference import equation
from voicewire.netsim.reference.tfrc_receiver import LossHistory, lose
from voicewire.voip import emodel, loss_bursts, playout
from voicewire.voip.calls import call
from voicewire_book.chapters.voip import exercises as e
from voicewire_book.chapters.voip import quality_exercises as q
from voicewire_book.chapters.voip import received_exercises as r
from voicewire_book.chapters.voip.experiments import jain

ROOT = Path(__file__).resolve().parents[2]

CHECKS = [getattr(module, name) for module in (e, q, r) for name in module.__all__]
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
    (e.check_mean_interval, 75),
    (e.check_after_silence, 6.25),
    (e.check_climb, 1.2),
    (e.check_restart_window, 273.75),
    (e.check_restart_window, 274),
    (q.check_r, 56.84),
    (q.check_steepest, Fraction(160, 3)),
    (q.check_delay_budget, BUDGET),
    (q.check_delay_budget, 235),
    (e.check_floor, 11),
    (r.check_received, 94.2 - 0.024 * 130 - 30 * math.log(4.75)),
]
FUNCTIONS = [
    (e.check_loss_budget, lost_budget),
    (e.check_too_late, too_late),
    (e.check_events, events),
    (q.check_chernov, lambda m, sigma, eps: m + sigma * np.sqrt(2 * np.log(1 / eps))),
    (q.check_two_behind, two_behind),
    (q.check_best_fixed, best_fixed),
    (r.check_drift, lowest),
    (e.check_uneven, uneven),
    (e.check_uneven, lambda a, x: jain([1.0] * round(100 - 100 * a) + [x] * round(100 * a))),
    (e.check_pairs, lambda rho: 2 / (2 - 2 * rho)),
    (e.check_oldest, oldest),
    (e.check_oldest, lambda *given: np.array(sorted(oldest(*given), reverse=True))),
]
CHOICES = [
    (e.check_ceiling, "a"),
    (e.check_same_score, "b"),
    (q.check_playout_choice, "b"),
    (q.check_bursts, "c"),
    (r.check_one_way, "d"),
    (e.check_order, "b"),
    (e.check_rival, "c"),
]
HINTS = [
    (e.check_mean_interval, 70.67, "try both"),
    (e.check_mean_interval, 450, "sum to 6"),
    (e.check_mean_interval, 97.5, "without weights"),
    (e.check_mean_interval, 108.67, "oldest"),
    (e.check_mean_interval, 61.36, "misprint"),
    (e.check_after_silence, 3.125, "twice"),
    (e.check_after_silence, 100, "longer"),
    (e.check_after_silence, 10, "before the first loss"),
    (e.check_after_silence, 6.667, "last report"),
    (e.check_after_silence, 250, "other limit"),
    (e.check_climb, 2.0, "doubling"),
    (e.check_climb, 0.864, "whole round trips"),
    (e.check_climb, 0.8, "20 packets"),
    (e.check_climb, 3, "three steps"),
    (e.check_restart_window, 547.5, "one way"),
    (e.check_restart_window, 182.5, "2581"),
    (e.check_restart_window, 219, "without the headers"),
    (e.check_restart_window, 2190, "8000"),
    (e.check_loss_budget, lambda n: 1.5 / n, "square"),
    (e.check_loss_budget, lambda n: np.sqrt(1.5) / n, "root of p"),
    (e.check_loss_budget, lambda n: 2 / 3 / n**2, "changes sides"),
    (e.check_loss_budget, lambda n: n**2 / 1.5, "turn it over"),
    (e.check_too_late, lambda R: 1 - too_late(R), "has ended"),
    (e.check_too_late, lambda R: 1 - np.exp(-R * np.log(50 * R)), "base 2"),
    (e.check_too_late, lambda R: 1 - np.exp(-R * np.log2(50 * R) / 2), "quadruples"),
    (e.check_too_late, lambda R: 1 - 2 ** (-np.log2(50 * R) / np.log(2)), "seconds"),
    (e.check_too_late, lambda R: R * np.log2(50 * R), "which share"),
    (e.check_ceiling, "b", "slope"),
    (e.check_ceiling, "c", "played or not"),
    (e.check_ceiling, "d", "no queue"),
    (e.check_same_score, "a", "same words"),
    (e.check_same_score, "c", "none of the three"),
    (e.check_same_score, "d", "20 ms"),
    (e.check_events, lambda times, rtt: len(times), "are losses"),
    (e.check_events, lambda t, rtt: sum(np.diff(t) > rtt) + bool(t), "loss before"),
    (e.check_events, lambda times, rtt: len({int(t / rtt) for t in times}), "multiple of rtt"),
    (e.check_events, lambda times, rtt: max(events(times, rtt) - 1, 0), "begins an event, too"),
    (q.check_r, 63.74, "second slope"),
    (q.check_r, 66.84, "λ1"),
    (q.check_r, 71.54, "without the lost"),
    (q.check_r, 65.16, "natural"),
    (q.check_steepest, 60, "elsewhere"),
    (q.check_steepest, 80, "slope of the whole"),
    (q.check_steepest, 82.4, "level"),
    (q.check_steepest, 24.3, "level"),
    (q.check_steepest, 50, "middle"),
    (q.check_delay_budget, 501.3, "more"),
    (q.check_delay_budget, 89.8, "only beyond"),
    (q.check_delay_budget, 248, "goes on"),
    (q.check_delay_budget, 251.5, "lost frames"),
    (q.check_delay_budget, 150, "advice"),
    (q.check_playout_choice, "a", "independent"),
    (q.check_playout_choice, "c", "costs, not delays"),
    (q.check_playout_choice, "d", "weight"),
    (q.check_bursts, "a", "part them"),
    (q.check_bursts, "b", "alike"),
    (q.check_bursts, "d", "two questions"),
    (q.check_chernov, lambda m, s, eps: m + s * math.sqrt(math.log(1 / eps)), "where is the 2"),
    (q.check_chernov, lambda m, s, eps: NormalDist(m, s).inv_cdf(1 - eps), "quantile"),
    (q.check_chernov, lambda m, s, eps: m + s**2 / 2 + math.log(1 / eps), "best s"),
    (q.check_chernov, lambda m, s, eps: m + s * math.sqrt(2 * math.log10(1 / eps)), "natural"),
    (q.check_two_behind, lambda x, b: x * (1 - (1 - x) / b), "very next"),
    (q.check_two_behind, lambda x, b: x * (1 - (1 - x) / b) ** 2, "counts, too"),
    (q.check_two_behind, lambda x, b: x**2, "at random"),
    (q.check_two_behind, lambda x, b: two_behind(x, b) / x, "of all frames"),
    (q.check_best_fixed, lambda d: best_fixed([x for x in d if x < math.inf]), "never arrived"),
    (q.check_best_fixed, best_of_means, "one delay"),
    (q.check_best_fixed, waits_for_all, "last frame"),
    (r.check_received, 59.4, "the fastest: take"),
    (r.check_received, 46.5, "takes its time"),
    (r.check_received, 45.04, "however early"),
    (r.check_received, 91.08, "counts as lost"),
    (r.check_one_way, "a", "fastest came later"),
    (r.check_one_way, "b", "neighbours"),
    (r.check_one_way, "c", "constant"),
    (r.check_drift, lambda sent, delays: np.polyfit(sent, delays, 1)[0], "middle of the delays"),
    (r.check_drift, lambda sent, delays: (delays[-1] - delays[0]) / (sent[-1] - sent[0]), "may both have waited"),
    (r.check_drift, lambda sent, delays: lowest(sent, delays, min(sent) + np.ptp(sent) / 2), "mean of all times"),
    (e.check_uneven, lambda a, x: 1 - a + a * x, "Jain squares"),
    (e.check_uneven, lambda a, x: (1 - a + a * x) / (1 - a + a * x * x), "above the line"),
    (e.check_uneven, lambda a, x: 1 / uneven(a, x), "turn it over"),
    (e.check_uneven, lambda a, x: uneven(1 - a, x), "who get x"),
    (e.check_pairs, lambda rho: (1 - rho) ** -0.5, "its square"),
    (e.check_pairs, lambda rho: (1 - rho) ** -2, "not with its root"),
    (e.check_pairs, lambda rho: 1 / (1 - rho**2), "regression"),
    (e.check_pairs, lambda rho: 1 - rho, "turn it over"),
    (e.check_floor, 8, "36 a second"),
    (e.check_floor, 6, "twice the one-way"),
    (e.check_floor, 15, "150 ms"),
    (e.check_floor, 10, "45 a second"),
    (e.check_order, "a", "each delay"),
    (e.check_order, "c", "decided"),
    (e.check_order, "d", "reading"),
    (e.check_rival, "a", "rival was to test"),
    (e.check_rival, "b", "not needed"),
    (e.check_rival, "d", "more calls"),
    (e.check_oldest, newest, "waited longest"),
    (e.check_oldest, one_place_less, "takes no place"),
    (e.check_oldest, lambda *given: sorted(oldest(*given))[:-1], "is missing"),
    (e.check_oldest, lambda *given: [*oldest(*given), 3], "too many"),
    (e.check_oldest, lambda *given: 2 * sorted(oldest(*given)), "twice"),
    (e.check_oldest, lambda *given: 4, "no list of frames"),
    (e.check_oldest, [4], "function itself"),
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
    told = [check(answer).message for tried, answer, _ in HINTS if tried is check]
    doubled = {q.check_steepest: 1}  # either end of the same slope
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
    for check in CHECKS:
        assert check(answer).message
        assert all("not answered yet" in check(blank).message for blank in (None, ...))


def test_a_function_may_change_what_it_is_given():
    def eats(times, rtt):
        found = events(times, rtt)
        times.clear()
        return found

    assert e.check_events(eats)


PAGES = {"01_rate_control": [6.25, 273.75], "02_quality_and_playout": [56.84, 160 / 3, BUDGET]}


@pytest.mark.parametrize("chapter", PAGES)
def test_no_answer_of_three_digits_stands_on_the_page_above(chapter):
    notebook = nbformat.read(ROOT / "notebooks" / "voip" / f"{chapter}.ipynb", 4)
    page = []
    for cell in notebook.cells:
        if cell.source.startswith("## Exercises"):
            break
        page += [
            cell.source,
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
        assert e._dropped(frames, places, gap) == dropped
        assert e._dropped(frames, places, gap, drop="newest") == newest(frames, places, gap)

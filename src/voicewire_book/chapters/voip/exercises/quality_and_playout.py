"""The exercises and the lab of chapter 2, *What the ear makes of it*."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from voicewire.voip import emodel, playout, reference
from voicewire.voip.captures.delay_trend import tilted
from voicewire_book.chapters.voip import playout_recursion
from voicewire_book.kit._student_functions import Function
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import Feedback, sequence
from voicewire_book.kit.records import Choice, Formula, Number
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given


def _budget(lost: float, wanted: int) -> Drawn:
    codec = 30 * math.log(1 + 15 * lost)
    left, knee = 94.2 - wanted - codec, 0.024 * 177.3
    value = 177.3 + (left - knee) / 0.134
    return Drawn(
        f"e = {lost:g}, R at least {wanted}",
        value,
        (
            (left / 0.024, "beyond 177.3 ms each millisecond costs more."),
            (left / 0.134, "both slopes together count only beyond 177.3 ms."),
            (177.3 + (left - knee) / 0.11, "beyond the knee the first slope goes on: 0.134 in all."),
            (177.3 + (94.2 - wanted - knee) / 0.134, "what the lost frames cost is no longer there for the delay."),
            (150.0, "150 ms is the usual advice; ask the equation."),
            (177.3, f"at the knee R is still above {wanted}: go on."),
        ),
        f"From 94.2 to {wanted} there are {94.2 - wanted:.1f} points.\n"
        f"The loss takes 30 ln(1 + 15 · {lost:g}) = {codec:.2f} of them and leaves {left:.2f} for the delay.\n"
        f"Up to the knee 0.024 · 177.3 = {knee:.2f} are spent; the other {left - knee:.2f} go at 0.134 a millisecond: "
        f"{(left - knee) / 0.134:.0f} ms more.\n"
        f"177.3 + {(left - knee) / 0.134:.1f} = {value:.0f} ms.",
        unit="ms",
        right=f"{left:.1f} points are left: {knee:.1f} of them up to the knee, {left - knee:.1f} at 0.134 a "
        "millisecond beyond.",
        tolerance=0.005,
    )


# Longest one-way delay in ms at which G.711 keeps R = 80 with half a frame in a hundred lost.
EXERCISES["voip-ex-budget"] = Exercise(
    "budget", (0.005, 80),
    lambda rng: (float(rng.choice([0.002, 0.004, 0.005, 0.01, 0.02])), int(rng.choice([60, 65, 70, 75, 80]))), _budget,
)  # fmt: skip


def _received(extra: tuple[int, ...], waits: int, fastest: int) -> Drawn:
    count = len(extra)
    arrived = [20 * k + more for k, more in enumerate(extra)]
    above = [more - min(extra) for more in extra]

    def judged(late: int, delay: float) -> float:
        cost = 0.024 * delay + 0.11 * max(delay - 177.3, 0.0)
        return 94.2 - cost - 30 * math.log(1 + 15 * late / count)

    late = sum(more > waits for more in above)
    delay = fastest + waits
    value = judged(late, delay)
    mean = fastest + sum(more for more in above if more <= waits) / (count - late)
    by_first = sum(more - extra[0] > waits for more in extra)
    lost = 30 * math.log(1 + 15 * late / count)
    beyond = max(delay - 177.3, 0.0)
    cost = f"0.024 · {delay}" + (f" + 0.11 · {beyond:.1f}" if beyond else "")
    return Drawn(
        f"arrived at {', '.join(map(str, arrived))} ms;\nplayed {waits} ms above the fastest, which takes {fastest} ms",
        value,
        (
            (judged(by_first, delay), "the first frame is not the fastest: take 20 ms a frame off, then the least."),
            (judged(late, waits), "the fastest frame takes its time, too: it comes before the wait."),
            (judged(late, mean), "every frame is played at one delay, however early it came."),
            (judged(0, delay), "a frame that comes after its time is not played: it counts as lost."),
            (94.2 - 0.024 * delay - 0.11 * beyond - 30 * math.log(1 + 15 * late), "e is the share, not the number."),
        ),
        f"Less 20 ms a frame: {', '.join(map(str, extra))}.\n"
        f"Above the least, {min(extra)}: {', '.join(map(str, above))}.\n"
        f"Above {waits} are {late} of {count}: e = {late / count:g}.\n"
        f"The delay is {fastest} + {waits} = {delay} ms and costs {cost} = {94.2 - lost - value:.2f}.\n"
        f"The loss costs 30 ln(1 + 15 · {late / count:g}) = {lost:.2f}.\n"
        f"94.2 - {94.2 - lost - value:.2f} - {lost:.2f} = {value:.1f}.",
        right=f"{late} of {count} are late, and each of the others pays for {delay} ms.",
        tolerance=0.003,
    )  # fmt: skip


def _drawn_received(rng: np.random.Generator) -> tuple[object, ...]:
    waits, late = int(rng.choice([30, 40, 50])), int(rng.integers(1, 4))
    least = int(rng.integers(2, 10))
    rows = [least + int(v) for v in rng.integers(6, waits - 3, 6 - late)]
    rows += [least + waits + int(v) for v in rng.integers(4, 20, late)]
    mixed = [int(v) for v in rng.permutation([*rows, least])]
    return (least + int(rng.integers(12, 20)), *mixed), waits, 10 * int(rng.integers(6, 19))


# R of G.711 for eight packets, seen from the receiver's end.
EXERCISES["voip-ex-received"] = Exercise(
    "received", ((19, 9, 31, 66, 52, 24, 5, 12), 40, 90), _drawn_received, _received
)


@EXERCISES.made("voip-ex-r")
def _() -> Number:
    """R of G.729 at 240 ms with two frames in a hundred not played."""
    bare = 94.2 - 0.024 * 240
    knee, lost = 0.11 * (240 - 177.3), 47.82 * math.log(1.36)
    return Number(
        float(emodel.r_factor(240, 0.02, "G.729")), 0.001,
        hints={
            bare - 10 - lost: "above 177.3 ms a second slope comes in.",
            bare - knee - lost: "G.729 costs λ1 = 10 from the start.",
            bare - knee - 10: "this is R without the lost frames.",
            bare - knee - 10 - 47.82 * math.log10(1.36): "the logarithm is the natural one.",
            bare - knee - 10 - 47.82 * math.log(37): "e is a fraction: 0.02, not 2.",
            bare - 0.11 * 240 - 10 - lost: "the second slope begins at 177.3 ms, not at zero.",
        },
        right="56.8: 12.7 for the delay, 10 for the codec, 14.7 for one frame in fifty.",
    )  # fmt: skip


@EXERCISES.made("voip-ex-mos")
def _() -> Number:
    """The R at which one more point of R adds the most to MOS."""
    flat = [(160 + sign * math.sqrt(160**2 - 18_000)) / 3 for sign in (-1, 1)]
    return Number(
        160 / 3, 0.005,
        hints={
            60.0: "there one factor is zero; the slope is largest elsewhere.",
            80.0: "here (R - 60)(100 - R) is largest, not the slope of the whole.",
            50.0: "the middle of the scale is near; the curve is not symmetric about it.",
            100.0: "there the curve ends, and is nearly flat.",
            flat[0]: "there the cubic term is level; where is its slope largest?",
            flat[1]: "there the cubic term is level; where is its slope largest?",
            160.0: "the second derivative is 320 - 6 R, in units of 7e-6.",
        },
        right="160/3: a call of medium quality has the most to win, a very good one nearly nothing.",
    )  # fmt: skip


# Why the talkspurts cannot be maximised one by one.
EXERCISES["voip-ex-greedy"] = Choice(
    "b", "abcd",
    hints={
        "a": "the argument holds for independent delays too.",
        "c": "that is why costs, not delays, are added; each talkspurt could still choose alone.",
        "d": "costs are added frame by frame, so a long talkspurt has its weight already.",
    },
    right="what one frame more is worth depends, through the logarithm, on how many all the others play.",
)  # fmt: skip


# What follows if the thesis' rule scores two calls alike and G.107 does not.
EXERCISES["voip-ex-bursts"] = Choice(
    "c", "abcd",
    hints={
        "a": "then the thesis' rule would tell them apart, too.",
        "b": "both rules charge a delay alike, and the codec is the same.",
        "d": "they answer two questions: one never asks how the losses lie.",
    },
    right="the thesis' rule sees e alone; of what is left, only BurstR can tell the two apart.",
)  # fmt: skip


# m, sigma, eps -> delay by Chernov's bound if delays are normally distributed.
EXERCISES["voip-ex-chernov"] = Formula(
    lambda m, sigma, eps: m + sigma * math.sqrt(-2 * math.log(eps)),
    [(100.0, 10.0, 0.1), (150.0, 25.0, 0.01), (60.0, 4.0, 0.001)],
    [
        (lambda m, sigma, eps: m + sigma * math.sqrt(-math.log(eps)), "where is the 2 of s²σ²/2 once you put s in?"),
        (lambda m, sigma, eps: m + NormalDist().inv_cdf(1 - eps) * sigma,
         "this is the exact quantile; the bound's delay is asked, and that is longer."),
        (lambda m, sigma, eps: m + sigma * sigma / 2 - math.log(eps),
         "this is the delay for s = 1; the best s is asked."),
        (lambda m, sigma, eps: m + sigma * math.sqrt(-2 * math.log10(eps)), "the logarithm is the natural one."),
        (lambda m, sigma, eps: m, "half of the frames take longer than the mean."),
    ],
    right="m + σ √(2 ln 1/ε): Ramjee's four deviations are good for ε = e⁻⁸, three frames in 10 000.",
)  # fmt: skip


@EXERCISES.made("voip-ex-copies")
def _() -> Formula:
    """A function e, b -> share of frames missing if each packet holds a copy of the frame two before it."""

    def stays(e: float, b: float) -> float:
        return 1 - (1 - e) / b

    def wanted(e: float, b: float) -> float:
        return e * (stays(e, b) ** 2 + (1 - stays(e, b)) * e / b)

    return Formula(
        wanted, [(0.1, 3.0), (0.05, 2.0), (0.2, 1.5)],
        [
            (lambda e, b: e * stays(e, b), "this is the share for a copy in the very next packet."),
            (lambda e, b: e * stays(e, b) ** 2, "the packet between may have come: lost, came, lost counts, too."),
            (lambda e, b: e * e,
             "this is the share if losses come at random; here the state is remembered for more than one packet."),
            (lambda e, b: e * (stays(e, b) ** 2 + (1 - stays(e, b)) * e),
             "after a packet that came the next is lost with probability e/b, not e."),
            (lambda e, b: wanted(e, b) / e, "this is the share of the lost frames; the share of all frames is asked."),
        ],
        right="in bursts a copy farther behind saves more, and costs the playout another 20 ms.",
    )  # fmt: skip


def _best_r(delays: Sequence[float], lost_count: bool = True, charge_mean: bool = False, last: bool = False) -> float:
    """Return the best R of G.711 for one playout delay, or what a usual slip makes of it."""
    came = sorted(d for d in delays if d < math.inf)
    tried = []
    for played, d in enumerate(came, start=1):
        charged = sum(came[:played]) / played if charge_mean else d
        missing = 1 - played / len(delays if lost_count else came)
        tried.append(float(emodel.r_factor(charged, missing, "G.711")))
    return tried[-1] if last else max(tried)


@EXERCISES.made("voip-ex-fixed")
def _() -> Formula:
    """A function of a list of delays (ms, inf for a lost frame) -> the best R of G.711 with one playout delay."""
    rng = np.random.default_rng(23)
    traces = [[40.0, 41.0, 40.0, 70.0, math.inf], [45.0, 48.0, 600.0, 48.0, 49.0, 50.0]]
    traces += [[*map(float, rng.integers(40, 900, 8)), math.inf] for _ in range(3)]
    return Formula(
        lambda delays: playout.fixed(delays, [0] * len(delays), "G.711").r, [(trace,) for trace in traces],
        [
            (lambda delays: _best_r(delays, lost_count=False),
             "a frame that never arrived is not played: count it, too."),
            (lambda delays: _best_r(delays, charge_mean=True),
             "each frame is played at the one delay, however early it came."),
            (lambda delays: _best_r(delays, last=True),
             "this waits for the last frame; sometimes dropping it is better."),
        ],
        right="equal to the package's on five traces that you had not seen.",
    )  # fmt: skip


# What the receiver's end sees of a network that is slower by the same for every packet.
EXERCISES["voip-ex-oneway"] = Choice(
    "d", "abcd",
    hints={
        "a": "the fastest came later, too, and delays are counted above it.",
        "b": "jitter compares neighbours, and both came later by the same.",
        "c": "a slope would need a delay that grows; this one is constant.",
    },
    right="all arrivals move by the same, as if the clock had been set otherwise; R alone differs.",
)  # fmt: skip


def _slope(sent: list[float], delays: list[float], weight: str = "mean", below: bool = True) -> float:
    middle = sum(sent) / len(sent) if weight == "mean" else (min(sent) + max(sent)) / 2
    points = list(zip(sent, delays, strict=True))
    best, found = -np.inf, 0.0
    for (x, y), (u, v) in itertools.combinations(points, 2):
        slope = (v - y) / (u - x)
        height = y + slope * (middle - x)
        if height > best and (not below or all(d >= y + slope * (s - x) - 1e-9 for s, d in points)):
            best, found = height, slope
    return found


@EXERCISES.made("voip-ex-drift")
def _() -> Formula:
    """A function of two lists, times and delays -> the slope of the highest line below all points, by pairs."""
    rng = np.random.default_rng(31)
    traces = [([0.0, 10.0, 20.0, 30.0], [5.0, 4.97, 5.02, 4.99])]
    while len(traces) < 5:  # those alone at which the mistakes show
        count = int(rng.integers(6, 20))
        sent = np.sort(rng.choice(np.arange(0, 900, 10), count, replace=False)).astype(float)
        sent[: count // 2] /= 4  # more of them in the first part
        delays = np.round(40 + 1e-3 * float(rng.uniform(-1, 1)) * sent + rng.exponential(0.3, count), 3)
        row = (sent.tolist(), delays.tolist())
        if abs(_slope(*row) - _slope(*row, "span")) > 1e-5:
            traces.append(row)
    return Formula(
        lambda sent, delays: tilted(np.array(sent), np.array(delays)), traces,
        [
            (lambda s, d: float(np.polyfit(s, d, 1)[0]),
             "this goes through the middle of the delays; no point may lie below."),
            (lambda s, d: _slope(s, d, "span"), "the middle is the mean of all times, not half of the way."),
            (lambda s, d: _slope(s, d, below=False), "a point lies below this line."),
            (lambda s, d: (d[-1] - d[0]) / (s[-1] - s[0]), "the first and the last frame may both have waited."),
        ],
        right="equal to the package's tilting on five traces, four of which you had not seen.",
    )  # fmt: skip


# The lab: the thesis' recursion. Delays are in ms, `math.inf` for a frame that never came; talkspurts are numbered.

Call = tuple[list[float], list[int]]
SMALL: Call = ([150.0, 60.0, math.inf, 240.0, 90.0], [0, 0, 0, 1, 1])


def _call(seed: int, frames: int = 60) -> Call:
    """A call of a few talkspurts, some frames late and some never there."""
    rng = np.random.default_rng(seed)
    delays = (50 + rng.gamma(2, 25, frames)).round(1)
    delays[rng.random(frames) < 0.1] += 200
    delays[rng.random(frames) < 0.05] = math.inf
    return delays.tolist(), np.sort(rng.integers(0, 6, frames)).tolist()


def _costs(row: list[float]) -> list[float]:
    return [0.0] + [j * reference.delay_impairment(d) for j, d in enumerate(row, start=1)]


def _joined(before: list[float], row: list[float]) -> list[float]:
    most = len(before) + len(row) - 1
    return [min(before[i - j] + row[j] for j in range(len(row)) if 0 <= i - j < len(before)) for i in range(most)]


def _same(got: object, wanted: list[float], about: str) -> str:
    """What is wrong with a list, or nothing."""
    values = list(got)  # type: ignore[call-overload]
    if len(values) != len(wanted):
        return f"{about}: {len(wanted)} numbers are asked, you gave {len(values)}."
    if not wanted:
        return ""
    verdict = sequence(values, wanted, 1e-9, absolute=1e-9)
    return "" if verdict else f"{about}: {verdict.message}"


@EXERCISES.called("voip-ex-bound-lab-rows")
def _(answer: Function) -> Feedback:
    """Stage 1: (delays, spurts) -> the delays that came, by talkspurt, smallest first."""
    for delays, spurts in (SMALL, ([math.inf, 70.0], [0, 1]), _call(1), _call(2)):
        got, wanted = answer(list(delays), list(spurts)), reference.talkspurts(delays, spurts)
        if len(got) != len(wanted):
            return Feedback(False, f"{len(wanted)} talkspurts are spoken here, you gave {len(got)}.")
        for mine, row in zip(got, wanted, strict=True):
            if math.inf in mine:
                return Feedback(False, "a frame that never came cannot be played.")
            if list(mine) != row == sorted(mine):
                return Feedback(False, "the smallest delay comes first.")
            if wrong := _same(mine, row, "of one talkspurt"):
                return Feedback(False, wrong)
    return Feedback(True, "what may be played, in the order in which it becomes playable.")


@EXERCISES.called("voip-ex-bound-lab-costs")
def _(answer: Function) -> Feedback:
    """Stage 2: (row) -> the cost of playing 0, 1, 2, … frames of a talkspurt."""
    for row in ([60.0, 150.0], [], [90.0, 200.0, 277.3], *reference.talkspurts(*_call(3))):
        got, each = answer(list(row)), [reference.delay_impairment(d) for d in row]
        if len(row) > 1 and len(got) == len(row) + 1 and np.allclose(got, [0.0, *np.cumsum(each)]):
            said = "all that are played wait for the last of them: j frames cost j times its impairment."
            return Feedback(False, said)
        if len(row) > 1 and len(got) == len(row) + 1 and np.allclose(got, [0.0, *each]):
            return Feedback(False, "each of the j frames that are played waits: j times the j-th impairment.")
        if wrong := _same(got, _costs(row), f"for {len(row)} frames"):
            return Feedback(False, wrong)
    return Feedback(True, "zero for none, and j times the j-th impairment.")


@EXERCISES.called("voip-ex-bound-lab-joined")
def _(answer: Function) -> Feedback:
    """Stage 3: (before, row) -> least costs with one talkspurt more."""
    rng = np.random.default_rng(4)
    drawn = [[0.0, *np.cumsum(rng.integers(0, 9, n)).tolist()] for n in (3, 5, 8, 1)]
    for before, row in (([0, 1, 2, 9], [0, 3, 4]), ([0.0], [0, 5, 6]), tuple(drawn[:2]), tuple(drawn[2:])):
        got = answer(list(before), list(row))
        if wrong := _same(got, _joined(list(before), list(row)), f"of {len(before)} and {len(row)}"):
            return Feedback(False, wrong)
    return Feedback(True, "each number of frames may be shared in many ways; the cheapest counts.")


@EXERCISES.called("voip-ex-bound-lab-all-costs")
def _(answer: Function) -> Feedback:
    """Stage 4: (delays, spurts) -> least cost of playing 0, 1, 2, … frames of a call."""
    for delays, spurts in (SMALL, _call(5), _call(6)):
        wanted = playout_recursion.repaired_costs(delays, spurts).tolist()
        got = answer(list(delays), list(spurts))
        if got is not None and list(got) == _costs(sorted(d for d in delays if d < math.inf)) != wanted:
            return Feedback(False, "each talkspurt waits for the last of its own frames only: join them one by one.")
        if wrong := _same(got, wanted, f"of a call of {len(delays)} frames"):
            return Feedback(False, wrong)
    return Feedback(True, "as many numbers as frames that came, and one for none.")


@EXERCISES.called("voip-ex-bound-lab-bound")
def _(answer: Function) -> Feedback:
    """Stage 5: (delays, spurts) -> the best R of G.711; equal to the package's bound on calls not seen before."""
    for delays, spurts in (*map(_call, range(10, 16)), ([math.inf, math.inf], [0, 1])):
        best = playout.bound(delays, spurts, "G.711").r
        got = float(answer(list(delays), list(spurts)))
        if not math.isclose(got, best, abs_tol=1e-6):
            return Feedback(False, f"a call of {len(delays)} frames reaches {best:.1f} at best, you have {got:.1f}.")
    return Feedback(True, "equal to the walk over hulls on seven calls that you had not seen.")

"""The checks of *What the ear makes of it*.

Each `check_…` takes whatever a student hands over and returns a `Feedback`; `None` means not answered yet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from voicewire.voip import emodel, playout
from voicewire_book.chapters.voip.drawn import BUDGET
from voicewire_book.kit import exercises
from voicewire_book.kit.exercises import Feedback, Mistakes, formula

__all__ = [
    "check_best_fixed",
    "check_bursts",
    "check_chernov",
    "check_delay_budget",
    "check_playout_choice",
    "check_r",
    "check_steepest",
    "check_two_behind",
]


def check_r(answer: object) -> Feedback:
    """R of G.729 at 240 ms with two frames in a hundred not played."""
    bare = 94.2 - 0.024 * 240
    knee, lost = 0.11 * (240 - 177.3), 47.82 * math.log(1.36)
    hints = {
        bare - 10 - lost: "above 177.3 ms a second slope comes in.",
        bare - knee - lost: "G.729 costs λ1 = 10 from the start.",
        bare - knee - 10: "this is R without the lost frames.",
        bare - knee - 10 - 47.82 * math.log10(1.36): "the logarithm is the natural one.",
        bare - knee - 10 - 47.82 * math.log(37): "e is a fraction: 0.02, not 2.",
        bare - 0.11 * 240 - 10 - lost: "the second slope begins at 177.3 ms, not at nought.",
    }
    right = "56.8: 12.7 for the delay, 10 for the codec, 14.7 for one frame in fifty."
    return exercises.number(answer, float(emodel.r_factor(240, 0.02, "G.729")), 0.001, hints=hints, right=right)


def check_steepest(answer: object) -> Feedback:
    """The R at which one more point of R adds the most to MOS."""
    flat = [(160 + sign * math.sqrt(160**2 - 18_000)) / 3 for sign in (-1, 1)]
    hints = {
        60.0: "there one factor is nought; the slope is largest elsewhere.",
        80.0: "here (R - 60)(100 - R) is largest, not the slope of the whole.",
        50.0: "the middle of the scale is near; the curve is not symmetric about it.",
        100.0: "there the curve ends, and is nearly flat.",
        flat[0]: "there the cubic term is level; where is its slope largest?",
        flat[1]: "there the cubic term is level; where is its slope largest?",
        160.0: "the second derivative is 320 - 6 R, in units of 7e-6.",
    }
    right = "160/3: a call of medium quality has the most to win, a very good one nearly nothing."
    return exercises.number(answer, 160 / 3, 0.005, hints=hints, right=right)


def check_delay_budget(answer: object, seed: int | None = None) -> Feedback:
    """Longest one-way delay in ms at which G.711 keeps R = 80 with half a frame in a hundred lost."""
    return BUDGET.own(seed).check(answer)


def check_playout_choice(answer: object) -> Feedback:
    """Why the talkspurts cannot be maximised one by one."""
    hints = {
        "a": "the argument holds for independent delays too.",
        "c": "that is why costs, not delays, are added; each talkspurt could still choose alone.",
        "d": "costs are added frame by frame, so a long talkspurt has its weight already.",
    }
    right = "what one frame more is worth hangs, through the logarithm, on how many all the others play."
    return exercises.choice(answer, "b", ["a", "b", "c", "d"], hints=hints, right=right)


def check_bursts(answer: object) -> Feedback:
    """What follows if the thesis' rule scores two calls alike and G.107 does not."""
    hints = {
        "a": "then the thesis' rule would part them, too.",
        "b": "both rules charge a delay alike, and the codec is the same.",
        "d": "they answer two questions: one never asks how the losses lie.",
    }
    right = "the thesis' rule sees e alone; of what is left, only BurstR can part the two."
    return exercises.choice(answer, "c", ["a", "b", "c", "d"], hints=hints, right=right)


def check_chernov(answer: object) -> Feedback:
    """A function m, sigma, eps -> delay by Chernov's bound if delays are normally distributed."""
    mistakes: Mistakes = [
        (lambda m, sigma, eps: m + sigma * math.sqrt(-math.log(eps)), "where is the 2 of s²σ²/2 once s is put in?"),
        (
            lambda m, sigma, eps: m + NormalDist().inv_cdf(1 - eps) * sigma,
            "this is the exact quantile; the bound's delay is asked, and it is longer.",
        ),
        (
            lambda m, sigma, eps: m + sigma * sigma / 2 - math.log(eps),
            "this is the delay for s = 1; the best s is asked.",
        ),
        (lambda m, sigma, eps: m + sigma * math.sqrt(-2 * math.log10(eps)), "the logarithm is the natural one."),
        (lambda m, sigma, eps: m, "a mean is exceeded by half of the frames."),
    ]
    at = [(100.0, 10.0, 0.1), (150.0, 25.0, 0.01), (60.0, 4.0, 0.001)]
    right = "m + σ √(2 ln 1/ε): Ramjee's four deviations are good for ε = e⁻⁸, three frames in 10 000."

    def bound(m: float, sigma: float, eps: float) -> float:
        return m + sigma * math.sqrt(-2 * math.log(eps))

    return formula(answer, bound, at, mistakes, right=right)


def check_two_behind(answer: object) -> Feedback:
    """A function e, b -> share of frames missing if each packet holds a copy of the frame two before it."""

    def stays(e: float, b: float) -> float:
        return 1 - (1 - e) / b

    def wanted(e: float, b: float) -> float:
        return e * (stays(e, b) ** 2 + (1 - stays(e, b)) * e / b)

    mistakes: Mistakes = [
        (lambda e, b: e * stays(e, b), "so it is for a copy in the very next packet."),
        (lambda e, b: e * stays(e, b) ** 2, "the packet between may have come: lost, came, lost counts, too."),
        (lambda e, b: e * e, "so it is if losses come at random; the state is remembered for more than one packet."),
        (
            lambda e, b: e * (stays(e, b) ** 2 + (1 - stays(e, b)) * e),
            "after a packet that came the next is lost with probability e/b, not e.",
        ),
        (lambda e, b: wanted(e, b) / e, "this is the share of the lost frames; of all frames is asked."),
    ]
    at = [(0.1, 3.0), (0.05, 2.0), (0.2, 1.5)]
    right = "in bursts a copy farther behind saves more, and costs the playout another 20 ms."
    return formula(answer, wanted, at, mistakes, right=right)


def _best_r(delays: Sequence[float], lost_count: bool = True, charge_mean: bool = False, last: bool = False) -> float:
    """Return the best R of G.711 for one playout delay, or what a usual slip makes of it."""
    came = sorted(d for d in delays if d < math.inf)
    tried = []
    for played, d in enumerate(came, start=1):
        charged = sum(came[:played]) / played if charge_mean else d
        missing = 1 - played / len(delays if lost_count else came)
        tried.append(float(emodel.r_factor(charged, missing, "G.711")))
    return tried[-1] if last else max(tried)


def check_best_fixed(answer: object) -> Feedback:
    """A function of a list of delays (ms, inf for a lost frame) -> the best R of G.711 with one playout delay."""
    mistakes: Mistakes = [
        (lambda delays: _best_r(delays, lost_count=False), "a frame that never arrived is not played: count it, too."),
        (
            lambda delays: _best_r(delays, charge_mean=True),
            "each frame is played at the one delay, however early it came.",
        ),
        (lambda delays: _best_r(delays, last=True), "this waits for the last frame; sometimes dropping it is better."),
    ]
    rng = np.random.default_rng(23)
    traces = [[40.0, 41.0, 40.0, 70.0, math.inf], [45.0, 48.0, 600.0, 48.0, 49.0, 50.0]]
    traces += [[*map(float, rng.integers(40, 900, 8)), math.inf] for _ in range(3)]

    def wanted(delays: list[float]) -> float:
        return playout.fixed(delays, [0] * len(delays), "G.711").r

    right = "equal to the package's on five traces that you had not seen."
    return formula(answer, wanted, [(trace,) for trace in traces], mistakes, right=right)

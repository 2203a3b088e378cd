"""Checks of the exercises: each takes an answer and gives feedback at once; None means not answered yet."""

from __future__ import annotations

import numpy as np

from voicewire_book.chapters.echo._answers import (
    BACK_MISTAKES,
    BOUNDED,
    BOUNDED_MISTAKES,
    CURVES,
    back,
    best,
    bounded,
    built,
    halvings,
    nearest,
    parts,
    row,
    silent,
    steps,
)
from voicewire_book.chapters.echo.drawn import ERLE, MEMORY, PASSES
from voicewire_book.kit.exercises import Feedback, Mistakes, choice, formula, function, number, sequence, unanswered

__all__ = [
    "check_back",
    "check_best",
    "check_bits",
    "check_erle",
    "check_even_tap",
    "check_exchanged",
    "check_faint",
    "check_first_step",
    "check_floor",
    "check_gain",
    "check_loud",
    "check_memory",
    "check_nonunique",
    "check_passes",
    "check_rectifier",
    "check_rls",
    "check_shift",
    "check_short",
    "check_sign",
    "check_smallest",
    "check_spread",
    "check_taps",
    "check_tracking",
    "check_trade",
    "check_unknowns",
    "check_who",
]

# 01_adaptive_filters


def check_erle(answer: object, seed: int | None = None) -> Feedback:
    """ERLE in dB of a filter that takes 90 % off an echo of power 4, beside noise of power 0.02."""
    return ERLE.own(seed).check(answer)


def check_rectifier(answer: object) -> Feedback:
    """Taps of NLMS after 2 and -1 on both loudspeakers, pre-distorted with alpha_r = 1; paths (3, 1)."""
    mistakes: dict[tuple[float, ...], str] = {
        (2.0, 2.0): "here both loudspeakers would play the same: put the pre-distortion in first.",
        (2.8, 1.4): "this is after the first sample; the second changes them once more.",
        (
            3.0,
            1.0,
        ): "these are the paths. NLMS is right for the last window only.",
        (2.2, 2.6): "the left channel's positive half grows, the right channel's negative half.",
        (2.92, 1.64): "the second error is -5 + 5.6 = 0.6, and its window is (-1, -2).",
    }
    right = "the last window is served, and the taps are nearer to (3, 1) than (2.8, 1.4) was."
    return row(answer, (2.68, 1.16), mistakes, right, 0.004)


def check_rls(answer: object) -> Feedback:
    """The tap of RLS with lambda = 1/2, from g = 0 and R = 1, after windows 2 and 1 with 4 and 3 heard."""
    hints = {
        16 / 9: "this is after the first sample.",
        11 / 6: "nothing was forgotten: at each sample R and p are halved first.",
        7 / 3: "R begins with 1, not with 0: a quarter of that is still in it.",
        11 / 3.25: "p ages as R does.",
        3.0: "this is NLMS: RLS still remembers the first sample.",
    }
    return number(answer, 28 / 13, 0.0, absolute=0.0055, hints=hints, right="7 over 3.25.")


def check_unknowns(answer: object) -> Feedback:
    """A function S, L, M -> dimension of what cannot be heard with S loudspeakers and one talker."""
    mistakes: Mistakes = (
        (lambda S, L, M: max(0, L - M + 1), "right for two loudspeakers; what does each further one add?"),
        (
            lambda S, L, M: (S - 1) * max(0, L - M + 1),
            "pairs are not all: a change may need three loudspeakers.",
        ),
        (lambda S, L, M: S * L - L - M + 1, "a dimension is never negative."),
        (
            lambda S, L, M: max(0, S * L - L - M),
            "L samples convolved with M make L + M - 1.",
        ),
        (lambda S, L, M: max(0, L + M - 1), "these are the equations; how many unknowns are left?"),
        (lambda S, L, M: S * L, "these are the unknowns; each sample of the echo's change is an equation."),
    )
    tried = ((2, 32, 16), (2, 32, 33), (3, 8, 5), (3, 8, 12), (4, 6, 20), (2, 4, 9))
    right = "S L unknowns, L + M - 1 equations: each further loudspeaker adds L."
    return formula(answer, silent, tried, mistakes, right=right)


def check_spread(answer: object) -> Feedback:
    """A function C -> eigenvalue spread of two loudspeakers of equal power and coherence C."""
    mistakes: Mistakes = (
        (lambda C: (1 + C) / (1 - C), "the coherence is a square: what stands beside the diagonal is its root."),
        (lambda C: (1 - C**0.5) / (1 + C**0.5), "the largest over the smallest, not the other way round."),
        (lambda C: 1 / (1 - C**0.5), "the largest eigenvalue is more than the power of one loudspeaker."),
        (lambda C: 1 / (1 - C), "the largest over the smallest: both depend on the coherence."),
    )
    tried = [(C,) for C in (0.04, 0.25, 0.5, 0.81, 0.99)]
    right = "(1 + √C) / (1 - √C): it grows without bound as C goes to 1."
    return formula(answer, lambda C: (1 + C**0.5) / (1 - C**0.5), tried, mistakes, right=right)


def check_faint(answer: object) -> Feedback:
    """Rise of the floor in dB if one of 64 directions is heard 40 dB more faintly than the others."""
    hints = {
        40.0: "this direction alone rises so; the floor is the sum over all 64.",
        10 * np.log10((63 + 1e-4) / 64): "noise is divided by the eigenvalue: add up their inverses.",
        20 * np.log10(10_063 / 64): "the eigenvalues are powers already: 10 log10.",
        10 * np.log10(163 / 64): "40 dB are a factor of ten thousand in power.",
    }
    right = "one direction now weighs as much as ten thousand did."
    return number(answer, 10 * np.log10(10_063 / 64), 0.0, absolute=0.06, unit="dB", hints=hints, right=right)


def check_taps(answer: object) -> Feedback:
    """Taps for an ERLE of 20 dB in a room that decays by 60 dB in 0.4 s, at 16 kHz, with noise 30 dB below the echo."""

    def taps(share: float, rate: float = 16_000.0) -> float:
        return float(-10 * np.log10(share)) * rate * 0.4 / 60

    share = 1.001 / 100 - 0.001
    hints = {
        taps(0.01): "this leaves the noise out, which is there before the filter and after it.",
        taps(share, 8_000.0): "the rate is 16 kHz: each tap is a sixteen-thousandth of a second.",
        2 * taps(share): "60 dB are a million in energy already: 10 log10.",
    }
    right = "a tenth of the residual that is allowed is noise, so the tail must be somewhat below -20 dB."
    return number(answer, taps(share), 0.01, hints=hints, unit="taps", right=right)


def check_nonunique(answer: object) -> Feedback:
    """What a longer filter does to the drop of the ERLE when another talker takes over."""
    hints = {
        "a": "the filter covered the far room before. Count what cannot be heard for 64 taps.",
        "c": "the number grows with the filter: L - M + 1.",
        "d": "each talker's own echo can be silenced; only the taps that do it differ.",
    }
    right = "33 silent directions in the place of one: silence for one talker says less than before about the paths."
    return choice(answer, "b", "abcd", hints=hints, right=right)


def check_who(answer: object) -> Feedback:
    """Which of the curves A to D are RLS of the longer, of the shorter memory, NLMS of the larger, of the smaller step.
    """
    mistakes = {
        "ACBD": "the longer memory comes back later, and has the lower floor.",
        "CADB": "neither has come to its floor: there the larger step is ahead.",
        "ACDB": "both pairs the other way round: ask who comes back first, and who is ahead.",
        "BDCA": "RLS is down after some memories; NLMS creeps where both loudspeakers play one talker.",
        "BDAC": "RLS is down after some memories; NLMS creeps where both loudspeakers play one talker.",
        "DBCA": "RLS is down after some memories; NLMS creeps where both loudspeakers play one talker.",
        "DBAC": "RLS is down after some memories; NLMS creeps where both loudspeakers play one talker.",
    }
    letters = list(answer.strip()) if isinstance(answer, str) and len(answer.strip()) == 4 else answer
    if not unanswered(letters):
        for wrong, hint in mistakes.items():
            if sequence(letters, list(wrong)):
                return Feedback(False, hint)
    return sequence(letters, list("CABD"), right="first the family, then the memory or the step.")


def check_smallest(answer: object) -> Feedback:
    """A function g, x, d, delta -> taps by the smallest change after which the error is at most delta."""
    cases = [(case, bounded(*case)) for case in BOUNDED]
    return built(answer, cases, BOUNDED_MISTAKES, "NLMS whose share is 1 - delta/|e|, or nothing.")


# 02_rls_by_shifts


def check_even_tap(answer: object) -> Feedback:
    """Even and odd tap of LL = 0.9, LR = 0.3, RL = -0.1, RR = 0.5: two complex numbers or four real ones."""
    mistakes: dict[tuple[float, ...], str] = {
        (0.7, 0.2, 0.2, 0.1): "these are a and b; the taps are their conjugates.",
        (1.4, -0.4, 0.4, -0.2): "each sum is halved.",
        (0.2, -0.1, 0.7, -0.2): "even and odd have changed places: the even tap meets x, the odd one x*.",
        (
            0.7,
            0.2,
            0.2,
            -0.1,
        ): "in the even tap RL is taken from LR, not LR from RL.",
        (0.7, -0.1, 0.2, -0.2): "the even tap has the difference of the crossed paths, the odd one their sum.",
    }
    right = "the real parts come from the direct paths, the imaginary ones from the crossed."
    return row(parts(answer), (0.7, -0.2, 0.2, -0.1), mistakes, right, 0.005)


def check_first_step(answer: object) -> Feedback:
    """Taps after three moves of DCD for R = (10, 2; 2, 4), p_0 = (1.5, 1.6), H = 1."""
    mistakes: dict[tuple[float, ...], str] = {
        (1 / 16, 1 / 4): "the step only ever gets shorter: it is not set back to one half for the third move.",
        (1 / 16, 9 / 16): "the third component is negative: the move goes back.",
        (1 / 16, 1 / 2): "this is after two moves.",
        (0.0, 1 / 4): "the largest component moves, not one after the other.",
        (0.07, 0.365): "these are the exact steps v/R_pp: DCD takes powers of two.",
        (7 / 90, 13 / 36): "this is the exact solution; three moves do not reach it.",
    }
    right = "a half, a sixteenth, and a sixteenth back."
    return row(answer, (1 / 16, 7 / 16), mistakes, right, 1e-3)


def check_shift(answer: object) -> Feedback:
    """The largest entry that R - (R >> 13), in whole numbers, leaves as it is."""
    hints = {
        8192.0: "8192 >> 13 is 1: this one still loses one at each sample.",
        13.0: "this is the shift; from which entry down does it give nothing?",
        4095.0: "a shift cuts off, it does not round.",
        4096.0: "a shift cuts off, it does not round.",
        0.0: "a shift by 13 cuts off all that is smaller than its last place.",
        1.0: "a shift by 13 cuts off all that is smaller than its last place.",
    }
    right = "below 2^13 the shift gives 0, and the entry never ages."
    return number(answer, 8191, 1e-9, hints=hints, right=right)


def check_memory(answer: object, seed: int | None = None) -> Feedback:
    """Seconds after which a sample weighs half, for K = 96, L = 256, 8000 samples a second."""
    return MEMORY.own(seed).check(answer)


def check_gain(answer: object) -> Feedback:
    """A function kappa, N, mu -> factor of k e_0* after N exact passes that each go the share mu of the way."""
    mistakes: Mistakes = (
        (lambda a, N, mu: N * mu, "this holds for small kappa only: each pass meets a smaller error."),
        (lambda a, N, mu: (1 - (1 - a) ** N) / a, "and where is mu?"),
        (lambda a, N, mu: mu * (1 - (1 - a) ** N) / a, "a pass leaves the share 1 - mu kappa of the error."),
        (
            lambda a, N, mu: (1 - (1 - mu * a) ** N) / (mu * a),
            "this is the sum of the errors; each counts mu times.",
        ),
        (lambda a, N, mu: (1 - mu * a) ** N, "this is the error that is left, as a share of the first."),
    )
    tried = ((0.03, 3, 1.0), (0.5, 2, 0.5), (0.9, 5, 0.25), (0.2, 1, 0.7))
    right = "what is left of the error is (1 - mu kappa)^N."
    return formula(answer, lambda kappa, N, mu: (1 - (1 - mu * kappa) ** N) / kappa, tried, mistakes, right=right)


def check_bits(answer: object) -> Feedback:
    """A function H, most, delta -> least M_b after which a search that has refused all steps leaves |r_p| <= delta."""
    mistakes: Mistakes = (
        (
            lambda H, most, d: max(1, np.ceil(np.log2(H * most / d))),
            "one less will do: the test has half a step in it.",
        ),
        (
            lambda H, most, d: max(1, np.floor(np.log2(H * most / d)) - 1),
            "rounded down, more than delta may be left.",
        ),
        (lambda H, most, d: max(1, np.log2(H * most / d) - 1), "a number of steps is whole."),
        (lambda H, most, d: np.ceil(np.log2(H * most / d)) - 1, "there is at least one step, H/2."),
        (
            lambda H, most, d: max(1, np.ceil(np.log2(H / d)) - 1),
            "the diagonal entry is in the test, too.",
        ),
    )
    tried = ((1.0, 4.0, 1 / 32), (1.0, 10.0, 0.01), (0.5, 3.0, 0.001), (1.0, 1.0, 1.0), (2.0, 100.0, 0.3))
    right = "the last step refused leaves at most H most / 2^(M_b + 1)."
    return formula(answer, halvings, tried, mistakes, right=right)


def check_loud(answer: object) -> Feedback:
    """In what N passes differ from one pass with N times the gain."""
    hints = {
        "a": "only where kappa is small: what does a plain gain of N leave of the error if kappa is 0.9?",
        "c": "it does count for more, but 1 - N kappa may lie below -1: the error grows.",
        "d": "each pass leaves 1 - kappa, between 0 and 1: no number of passes can overshoot.",
    }
    right = "N kappa may exceed 2; 1 - (1 - kappa)^N never exceeds 1."
    return choice(answer, "b", "abcd", hints=hints, right=right)


def check_best(answer: object) -> Feedback:
    """A function v, R_pp, H, M_b -> which of the steps H/2, H/4, ... lowers the cost most; 0 if none lowers it."""
    mistakes: Mistakes = (
        (
            lambda v, R, H, M: next((s for s in steps(H, M) if abs(v) > s * R / 2), 0.0),
            "this is DCD's own: the first that helps.",
        ),
        (lambda v, R, H, M: abs(v) / R, "the best of all steps; only H/2, H/4, ... may be taken."),
        (
            lambda v, R, H, M: min(steps(H, M), key=lambda s: s * (s * R / 2 - abs(v))),
            "and if every step raises the cost?",
        ),
        (lambda v, R, H, M: best(max(v, 0.0), R, H, M), "v may be negative: the move then goes the other way."),
        (nearest, "nearest as a ratio is not best: the gain 2t - t² is symmetrical about t = 1 in t."),
    )
    tried = ((3.0, 10.0, 1.0, 16), (1.0, 2.74, 1.0, 16), (-0.7, 1.0, 1.0, 16), (5.0, 1.0, 1.0, 4))
    cases = [(case, best(*case)) for case in (*tried, (0.01, 10.0, 1.0, 3), (-0.02, 3.0, 2.0, 12))]
    right = "from t = 4/3 on the next half is better."
    return function(answer, cases, 1e-6, right=right, mistakes=mistakes)


# 03_data_reuse


def check_tracking(answer: object) -> Feedback:
    """Expected samples to -20 dB for L = 256, K = 48, N_it = 3, if one path with a quarter of the power turns."""
    memory = 48 * 256 / 3
    hints = {
        memory * np.log(20): "this is for all paths at once, which starts at +6 dB; here one of four changes its sign.",
        3 * memory * np.log(10): "this is for one pass.",
        memory * np.log(5): "a quarter of the power is half of the length, and the change is twice that.",
        memory * np.log(100): "misalignment is 20 log10 of a length: -20 dB are a tenth.",
        memory * np.log(10) * 3 / 256: "the memory is K L samples, not K.",
    }
    right = "the error starts as long as the paths themselves, at 0 dB."
    return number(answer, memory * np.log(10), 0.005, hints=hints, right=right)


def check_floor(answer: object) -> Feedback:
    """A function N, rise -> factor of K with which N passes have a floor `rise` dB above that of one."""
    mistakes: Mistakes = (
        (lambda N, rise: N, "this brings the floor of one pass back; a rise is allowed."),
        (lambda N, rise: 10 ** (rise / 10) / N, "more passes want a longer memory, a higher floor a shorter one."),
        (lambda N, rise: N * 10 ** (rise / 10), "the higher the floor may be, the shorter the memory."),
        (lambda N, rise: N / 10 ** (rise / 20), "the floor is a power: 10 log10."),
        (lambda N, rise: 10 ** (-rise / 10), "this is for one pass."),
    )
    tried = ((5, 3.0), (3, 0.0), (2, 6.0), (1, -3.0))
    right = "N passes with that memory track 10^(rise/10) times as fast as one."
    return formula(answer, lambda N, rise: N / 10 ** (rise / 10), tried, mistakes, right=right)


def check_passes(answer: object, seed: int | None = None) -> Feedback:
    """Share of the time of three passes that five save, by T_inf + c/N through T(1) = 25 and T(3) = 11."""
    return PASSES.own(seed).check(answer)


def check_sign(answer: object) -> Feedback:
    """A function kappa, N -> share of the true error left by N exact passes if (12) has the printed plus."""
    mistakes: Mistakes = (
        (lambda a, N: (1 - a) ** N, "this is with the minus; what does a pass do that is fed with a growing error?"),
        (lambda a, N: (1 + a) ** N, "this is what the rule takes for the error; the true one is asked."),
        (lambda a, N: ((1 + a) ** N - 1) / a, "this is the gain; by kappa times it the true error falls."),
        (lambda a, N: 1 - ((1 + a) ** N - 1) / a, "a pass moves the guess by kappa times the error that it is fed."),
        (
            lambda a, N: (1 + a) ** N - 2,
            "for N = 0 the whole error is there, with its own sign.",
        ),
    )
    tried = ((0.03, 3), (0.5, 2), (0.2, 1), (0.9, 5))
    right = "1 - kappa (1 + (1 + kappa) + ...) = 2 - (1 + kappa)^N."
    return formula(answer, lambda kappa, N: 2 - (1 + kappa) ** N, tried, mistakes, right=right)


def check_short(answer: object) -> Feedback:
    """The smallest whole K for which three passes with the plus leave no more error than they found; kappa = 2/K."""
    between = {
        2 / (3 ** (1 / 3) - 1): "a whole K is asked: which side of this one?",
        2 / (2 ** (1 / 3) - 1): "here nothing is left; shorter memories still leave less than was there.",
    }
    for wrong, hint in between.items():
        if number(answer, wrong, 0.005):
            return Feedback(False, hint)
    hints = {
        4.0: "for K = 4 the error is 1.375 times as large afterwards.",
        8.0: "here the error keeps its sign; with the other sign it may still be smaller than before.",
        9.0: "κ is 2/K, and (1 + κ)³ may be as large as 3.",
        3.0: "for two passes it would be 3; three are made.",
    }
    right = "(1 + κ)³ must not exceed 3, so κ not 0.44."
    return number(answer, 5, 1e-9, hints=hints, right=right)


def check_exchanged(answer: object) -> Feedback:
    """Share of the 32 sign patterns of 3, 4, -1, 6, 5 whose mean is at least the one seen."""
    hints = {
        1 / 32: "one pattern does still better than the one that was seen.",
        2.0: "this is their number; a share of the 32 is asked.",
        4 / 32: "only means as large and of this sign: sooner, not merely different.",
        0.2: "this is the share of the differences that are negative.",
        0.5: "so many have a positive mean; how many have one as large?",
    }
    right = "the pattern seen, and the one in which the -1 is a 1."
    if number(answer, 0.06, 1e-9):  # rounded to whole per cent
        answer = 2 / 32
    return number(answer, 2 / 32, 0.009, hints=hints, right=right)


def check_trade(answer: object) -> Feedback:
    """Which of two filters is better: 10 thousand samples and -25 dB, or 12 thousand and -29 dB."""
    hints = {
        "a": "it is faster now; give the other one five sixths of its memory, and compare floors.",
        "c": "a memory can be changed: bring both to the same time first.",
        "d": "along a trade-off of 3 dB for half the time, A's floor at 12 thousand is -25.8 dB.",
    }
    right = "with five sixths of the memory it needs 10 thousand too, and its floor rises by 0.8 dB only."
    return choice(answer, "b", "abcd", hints=hints, right=right)


def check_back(answer: object) -> Feedback:
    """A function samples, decibels, change, level, hold -> samples until the curve is down to stay; -1 if never."""
    cases = [(case, back(*case)) for case in CURVES]
    return built(answer, cases, BACK_MISTAKES, "a curve that dips once is not back yet.")

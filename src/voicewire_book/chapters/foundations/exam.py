"""The questions of the foundations' exam paper."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from voicewire_book.chapters.foundations.tcp import round_trips
from voicewire_book.kit.questions import Question, Step, shown

__all__ = ["questions"]


def questions(rng: np.random.Generator) -> list[Question]:
    """Return the questions, their numbers drawn."""
    return [_predictor(rng), _slow_start(rng), _timer(rng), _interval(rng), _tokens(rng)]


def _predictor(rng: np.random.Generator) -> Question:
    power, first = int(rng.choice([8, 10, 16])), int(rng.integers(3, 7))
    one = -first / power
    left = power * (1 - one**2)
    # what a signal can have: the second reflection lies between -1 and 1
    second = int(rng.choice([r for r in range(-3, 6) if abs(r + one * first) < 0.9 * left]))
    reflection = -(second + one * first) / left
    taps = (one + reflection * one, reflection)
    matrix = np.array([[power, first], [first, power]], dtype=float)
    solved = np.linalg.solve(matrix, [-first, -second])
    return Question(
        "The best predictor of order two",
        f"A signal has the autocorrelations $r_0 = {power}$, $r_1 = {first}$, $r_2 = {second}$. Compute the "
        "coefficients "
        "$a_1$ and $a_2$ of the best predictor of order two by Levinson and Durbin, and the energy that is left of the "
        "error. How do you see that the filter with which the signal is made again is stable?",
        (
            Step(2, f"Order one: $\\kappa_1 = -r_1/r_0 = {shown(one)}$, and $E = r_0(1-\\kappa_1^2) = {shown(left)}$ "
                    "is left."),
            Step(2, f"$\\kappa_2 = -(r_2 + a_1 r_1)/E = {shown(reflection)}$."),
            Step(2, f"$a_1 = {shown(taps[0])}$, $a_2 = {shown(taps[1])}$; $E = {shown(left * (1 - reflection**2))}$ "
                    "is left."),
            Step(1, "All reflections $\\kappa$ lie between -1 and 1."),
        ),
        taps[0],
        float(solved[0]),
        14,
    )


def _slow_start(rng: np.random.Generator) -> Question:
    window, segments = int(rng.choice([2, 3, 4, 10])), int(rng.integers(40, 900))
    rtt = int(rng.choice([20, 40, 80, 120]))
    trips = math.ceil(math.log2(segments / window + 1))
    return Question(
        "Slow start",
        f"TCP begins with a window of {window} segments and doubles it with each round trip; nothing is lost. How many "
        f"round trips of {rtt} ms does it take until {segments} segments are acknowledged, the opening of the "
        "connection "
        "included? Derive the formula.",
        (
            Step(2, "After $k$ round trips $w_0(1 + 2 + \\dots + 2^{k-1}) = w_0(2^k - 1)$ segments are through."),
            Step(2, f"$k = \\lceil \\log_2(n/w_0 + 1) \\rceil = {trips}$."),
            Step(1, f"One more to open the connection: {trips + 1}, so {(trips + 1) * rtt} ms."),
        ),
        float(trips),
        float(round_trips(segments, window)),
        10,
    )


def _timer(rng: np.random.Generator) -> Question:
    smooth, spread = int(rng.integers(6, 20)) * 16, int(rng.integers(1, 6)) * 8
    samples = [smooth + int(rng.integers(-4, 12)) * 8 for _ in range(2)]
    mean, varies = float(smooth), float(spread)
    lines = []
    for sample in samples:
        varies = 0.75 * varies + 0.25 * abs(mean - sample)
        mean = 0.875 * mean + 0.125 * sample
        lines.append(f"$V = {shown(varies, 4)}$, $S = {shown(mean, 4)}$ ms")
    direct = smooth * 49 / 64 + samples[0] * 7 / 64 + samples[1] / 8
    between = smooth * 7 / 8 + samples[0] / 8
    away = spread * 9 / 16 + 3 / 16 * abs(smooth - samples[0]) + abs(between - samples[1]) / 4
    return Question(
        "A timer that learns",
        f"A sender's timer has $S = {smooth}$ ms and $V = {spread}$ ms. Two round trips are measured, {samples[0]} and "
        f"{samples[1]} ms. What is the timeout after both, with $\\mathrm{{RTO}} = S + 4V$ and no floor? Why is $V$ "
        "updated before $S$, and why are segments that were sent again not measured?",
        (
            Step(2, f"After the first: {lines[0]}."),
            Step(2, f"After the second: {lines[1]}."),
            Step(1, f"RTO = {shown(mean + 4 * varies, 4)} ms."),
            Step(1, "$V$ is to hold how far the sample lay from what was expected before it."),
            Step(1, "An answer to a segment sent twice does not tell to which of the two it belongs."),
        ),
        mean + 4 * varies,
        direct + 4 * away,
        14,
    )


def _interval(rng: np.random.Generator) -> Question:
    count = int(rng.choice([5, 6, 7]))
    values = [int(v) for v in rng.integers(10, 40, count)]
    if len(set(values)) == 1:
        values[0] += 3
    quantile = float(stats.t.ppf(0.975, count - 1))
    mean = sum(values) / count
    spread = math.sqrt(sum((v - mean) ** 2 for v in values) / (count - 1))
    half = quantile * spread / math.sqrt(count)
    low, high = stats.t.interval(0.95, count - 1, loc=np.mean(values), scale=stats.sem(values))
    return Question(
        "An interval, and what it promises",
        f"Measured were {', '.join(map(str, values))} ms. Student's quantile for {count} samples is {quantile:.3f}. "
        "Give "
        "the interval of 95 % for the mean. A friend says: the mean lies in it with a probability of 95 %. Say it "
        "rightly. How would you check by simulation that such intervals keep their promise?",
        (
            Step(2, f"$\\bar x = {shown(mean, 4)}$, $s = {shown(spread, 4)}$ (with $n - 1$)."),
            Step(1, f"${shown(mean, 4)} \\pm {shown(half, 4)}$ ms."),
            Step(2, "The procedure gives intervals of which 95 % cover the mean; this one does or does not."),
            Step(2, "Draw many sets of samples from a distribution with a known mean, count how many intervals cover "
                    "it, and give that share an interval too."),
        ),
        half,
        float(high - low) / 2,
        14,
    )  # fmt: skip


def _tokens(rng: np.random.Generator) -> Question:
    speakers, tokens = int(rng.integers(4, 10)), int(rng.choice([5, 10, 15, 20]))
    share = float(rng.choice([0.1, 0.2, 0.3, 0.5]))
    effect = 1 + (tokens - 1) * share
    between, within = share, 1 - share
    direct = (between / speakers + within / (speakers * tokens)) / ((between + within) / (speakers * tokens))
    return Question(
        "Many tokens, few speakers",
        f"{speakers} speakers say a word {tokens} times each. Of the variance a share of {share:g} lies between "
        "speakers. "
        f"How many independent samples are the {speakers * tokens} tokens worth for the mean? What does that number "
        "tend "
        "to if each speaker says the word ever more often? A paper tests with all tokens as if they were independent "
        "and finds $p = 0.04$: what do you make of it?",
        (
            Step(2, f"The design effect: $D = 1 + (m-1)\\rho = {shown(effect)}$."),
            Step(1, f"${speakers * tokens}/D = {shown(speakers * tokens / effect)}$."),
            Step(2, f"$J/\\rho = {shown(speakers / share)}$: more tokens do not stand for more speakers."),
            Step(2, "The interval is too narrow by the root of $D$, so $p$ is too small: the result is open, not "
                    "refuted."),
        ),
        effect,
        direct,
        14,
    )

"""The questions of the pharyngeal part's exam paper, and the inputs of its assignment's hidden tests."""

from __future__ import annotations

import math
from itertools import combinations
from statistics import stdev

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

from voicewire_book.kit.questions import Question, Step, shown

__all__ = ["hidden", "questions"]

SPEED = 353.0
"""Of sound in the tract, m/s, as the chapters take it."""


def questions(rng: np.random.Generator) -> list[Question]:
    """Return the questions, their numbers drawn."""
    return [_tube(rng), _narrowing(rng), _resonator(rng), _missing(rng), _transition(rng)]


def _tube(rng: np.random.Generator) -> Question:
    length, limit = float(rng.integers(28, 37)) / 2, int(rng.choice([4, 5, 6, 8]))
    first = SPEED / (4 * length / 100)
    count = math.floor((limit * 1000 / first + 1) / 2)
    longer = SPEED / (4 * (length + 0.5) / 100)
    return Question(
        "One tube",
        f"A uniform tube of {length:g} cm is closed at one end and open at the other; $c = 353$ m/s. Where is its "
        "first "
        f"resonance? How many lie below {limit} kHz? The closed end moves down by 5 mm: by how many Hz does the first "
        "resonance fall, and the third?",
        (
            Step(2, f"$F_1 = c/(4L) = {shown(first, 4)}$ Hz."),
            Step(2, f"$F_n = (2n-1)F_1$: {count} of them."),
            Step(1, f"By {shown(first - longer)} Hz."),
            Step(1, f"The third by five times as much, {shown(5 * (first - longer))} Hz: the same share of each."),
        ),
        float(count),
        float(sum((2 * n - 1) * first < limit * 1000 for n in range(1, 100))),
        10,
    )


def _narrowing(rng: np.random.Generator) -> Question:
    begin, width = int(rng.integers(0, 8)), int(rng.integers(1, 3))
    end, share, number = begin + width, int(rng.choice([5, 8, 10])), int(rng.integers(1, 4))
    m = (2 * number - 1) * math.pi
    change = share / 100 / m * (math.sin(m * end / 10) - math.sin(m * begin / 10))
    found = quad(lambda x: share / 100 * math.cos(m * x), begin / 10, end / 10)[0]
    return Question(
        "A narrowing and a formant",
        f"A uniform tube, closed at $x = 0$ and open at $x = L$, becomes narrower by {share} % between "
        f"{begin / 10:g} L "
        f"and {end / 10:g} L. By how many per cent does F{number} move, to first order, by $\\Delta F_n/F_n = "
        "-\\frac1L "
        "\\int_0^L \\frac{\\Delta A}{A} \\cos\\frac{(2n-1)\\pi x}{L}\\,dx$? Say from standing waves why a narrowing "
        "near the closed end raises every formant, and one at the open end lowers it.",
        (
            Step(3, f"$\\Delta F_n/F_n = \\frac{{e}}{{m}}(\\sin m b - \\sin m a)$ with $m = {2 * number - 1}\\pi$, "
                    f"$e = {share / 100:g}$."),
            Step(1, f"{shown(100 * change)} %."),
            Step(2, "At the closed end all energy is in the pressure: a narrowing there makes the spring stiffer. At "
                    "the "
                    "open end all is motion: a narrowing there makes the mass larger."),
        ),
        100 * change,
        100 * found,
        14,
    )  # fmt: skip


def _resonator(rng: np.random.Generator) -> Question:
    formant, width, rate = int(rng.integers(6, 36)) * 50, int(rng.choice([50, 60, 80, 100])), 10_000
    radius, angle = math.exp(-math.pi * width / rate), 2 * math.pi * formant / rate
    pole = radius * np.exp(1j * angle)
    first = float(-np.real(np.poly([pole, pole.conjugate()])[1]))
    value = 2 * radius * math.cos(angle)
    return Question(
        "A resonator",
        f"A formant at {formant} Hz with a bandwidth of {width} Hz is to be made at a sampling rate of 10 kHz by "
        "$y_t = A x_t + B y_{t-1} + C y_{t-2}$. What are $B$, $C$ and $A$, to three decimals, if the gain at 0 Hz is "
        "to "
        "be 1? Where are the poles, and what must hold for them?",
        (
            Step(2, f"$C = -e^{{-2\\pi B_n T}} = {-(radius**2):.3f}$."),
            Step(2, f"$B = 2e^{{-\\pi B_n T}}\\cos 2\\pi F_n T = {value:.3f}$."),
            Step(1, f"$A = 1 - B - C = {1 - value + radius**2:.3f}$."),
            Step(2, f"At the radius {radius:.3f}, at angles of $\\pm 2\\pi F_n T$; inside the unit circle."),
        ),
        value,
        first,
        14,
    )


def _missing(rng: np.random.Generator) -> Question:
    listed = [round(float(v), 2) for v in rng.uniform(2.0, 4.0, int(rng.integers(4, 7)))]
    hidden = round(float(rng.uniform(2.0, 4.0)), 2)
    n = len(listed)
    mean = round((sum(listed) + hidden) / (n + 1), 4)
    unlisted = (n + 1) * mean - sum(listed)
    solved = float(brentq(lambda x: float(np.mean([*listed, x])) - mean, -50, 50))
    return Question(
        "The token that is not listed",
        f"A table lists {', '.join(f'{v:.2f}' for v in listed)} cm and prints a mean of {mean:.4f} cm, which is not "
        "theirs. Suppose that one token more was averaged. Which value had it? The mean was rounded to four decimals: "
        "in a range of what width may it lie? Name another reading that could give such a mean, and how you would tell "
        "the two apart.",
        (
            Step(2, f"$x = (n+1)\\bar x - \\sum x_i = {shown(unlisted, 4)}$ cm."),
            Step(2, f"The mean lies within $10^{{-4}}$ cm, the token within $(n+1)$ times that: {n + 1}e-4 cm."),
            Step(2, "Another reading, such as a token left out, a misprint, or truncation."),
            Step(2, "How to tell: a second number printed from the same tokens, such as the SD, must fit under one "
                    "reading and not under the other."),
        ),
        unlisted,
        solved,
        16,
    )  # fmt: skip


def _transition(rng: np.random.Generator) -> Question:
    begin, end = int(rng.integers(48, 60)) * 10, int(rng.integers(66, 82)) * 10
    pace, near = int(rng.choice([15, 20, 25, 30])), int(rng.choice([5, 10, 20]))
    time = pace * math.log((end - begin) / near)
    found = float(brentq(lambda t: (end - begin) * math.exp(-t / pace) - near, 0, 1000))
    return Question(
        "From consonant to vowel",
        f"F1 runs from {begin} Hz to {end} Hz by $F(t) = F_\\infty + (F_0 - F_\\infty)e^{{-t/\\tau}}$ with "
        f"$\\tau = {pace}$ ms. After how many milliseconds is it within {near} Hz of the vowel's value? A study "
        "correlates the height of the larynx with F1 over six tokens, finds $r = 0.8$ and concludes that the larynx "
        "raises F1. Name two objections, and for each what evidence would settle it.",
        (
            Step(2, f"$t = \\tau \\ln(|F_0 - F_\\infty|/{near})$."),
            Step(1, f"{shown(time)} ms."),
            Step(2, "One objection with its evidence: six tokens (a permutation test over the 720 pairings), one point "
                    "of high leverage (leave it out), tokens of one speaker."),
            Step(2, "A second with its evidence: both may follow from a third movement (a model of the tract in which "
                    "the larynx moves alone)."),
        ),
        time,
        found,
        16,
    )  # fmt: skip


def hidden(rng: np.random.Generator) -> dict[str, list[tuple[str, str]]]:
    """Return calls with which an assignment's hidden tests try the functions that it asks for."""
    drawn = (rng.uniform(3, 6, 5) for _ in range(99))
    tables = ({name: round(float(v), 4) for name, v in zip("abcde", values, strict=True)} for values in drawn)
    tokens, spread = next(found for table in tables if (found := (table, _only_once(table, rng)))[1] > 0)
    lists = [[round(float(v), 3) for v in rng.uniform(2.0, 5.0, int(rng.integers(2, 7)))] for _ in "123"]
    tubes = [(float(rng.integers(26, 38)) / 2, float(rng.integers(5, 200))) for _ in "123"]
    orders = [(rng.permutation(60)[:5], rng.permutation(140)[:5]) for _ in "123"]
    ways = [([int(v) / 100 for v in near], [int(v) / 10 for v in where]) for near, where in orders]
    return {
        "t1": [(f"tuple(which({spread}, {tokens}))", "")],
        "t2": [(f"float(unlisted({int(rng.integers(20, 50)) / 10}, {each}))", "") for each in lists],
        "t3": [(f"float(rise({length}, {hertz}))", "") for length, hertz in tubes],
        "t4": [(f"float(location({d}, {x}, {int(rng.integers(1, 30)) / 100}))", "") for d, x in ways],
    }


def _only_once(tokens: dict[str, float], rng: np.random.Generator) -> float:
    """The truncated SD of some of the tokens that no other of their subsets has, or 0."""
    names = [each for size in (2, 3, 4, 5) for each in combinations(tokens, size)]
    cut = [math.floor(1000 * stdev(tokens[name] for name in each) + 1e-9) / 1000 for each in names]
    chosen = cut[int(rng.integers(len(names) - 1))]
    return chosen if cut.count(chosen) == 1 else 0.0

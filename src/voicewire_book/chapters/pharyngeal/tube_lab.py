"""The checks of the lab of *From the vocal tract to formants*: a tube that speaks, built in seven stages.

Lengths are in cm, areas in cm², frequencies in Hz, as in `voicewire.pharyngeal.reference`, which stage 5 is to equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.pharyngeal.reference import SPEED, bisect, lip_load, resonances, section, wave
from voicewire_book.chapters.pharyngeal._tube_lab import cylinder, halved, lips, passed, rough, spoken, supply
from voicewire_book.kit._student import Case, staged
from voicewire_book.kit.exercises import Feedback

__all__ = [
    "check_cylinder",
    "check_halved",
    "check_lips",
    "check_passed",
    "check_rings",
    "check_spoken",
    "check_supply",
]

Array = NDArray[Any]
Numbers = Any  # a list of floats
TWO = ([1.0, 7.0], [9.0, 8.0])
THREE = ([2.0, 0.5, 5.0], [6.0, 3.0, 8.0])


def check_cylinder(answer: object) -> Feedback:
    """Stage 1: (area, length, sigma, gamma) -> the chain matrix of one cylinder."""
    cases: list[Case] = [(1.0, 1.0, 1j * np.pi / 2 * SPEED, 1.0)]
    cases += [(area, 3.0, *wave(2j * np.pi * f)) for area, f in ((4.0, 500.0), (0.5, 1800.0))]
    return staged(
        answer,
        cases,
        section,
        [
            (
                lambda *case: cylinder(*case, turns=True),
                "cosh and sinh of sigma l/c; for hard walls they become cosine and j times sine by themselves.",
            ),
            (
                lambda *case: cylinder(*case, swapped=True),
                "above stands what flow does to pressure, rho c/A; below what pressure does to flow.",
            ),
            (
                lambda area, length, sigma, gamma: section(area, length, sigma, 1.0),
                "gamma goes with rho c/A, above and below.",
            ),
            (
                lambda area, length, sigma, gamma: section(1 / area, length, sigma, gamma),
                "a wider tube takes less pressure for the same flow: rho c over A.",
            ),
        ],
        "front pressure and flow, to those behind.",
    )


def check_lips(answer: object) -> Feedback:
    """Stage 2: (area, s) -> the load at the lips."""
    return staged(
        answer,
        [(4.0, 2j * np.pi * f) for f in (100.0, 2000.0)] + [(0.7, -200 + 2j * np.pi * 1500.0)],
        lambda area, s: lip_load(s, area),
        [
            (
                lambda *case: lips(*case, behind=True),
                "resistance and mass lie side by side: one times the other, over their sum.",
            ),
            (lambda *case: lips(*case, round_=False), "the mass has the root of pi A below."),
            (lambda *case: lips(*case, square=False), "the resistance has pi squared below."),
            (lambda area, s: 1 / lip_load(s, area), "pressure over flow is asked, not flow over pressure."),
        ],
        "a mass for low tones, a resistance for high ones.",
    )


def check_supply(answer: object) -> Feedback:
    """Stage 3: (areas, lengths, sigma, gamma, Z) -> flow at the glottis for a flow of 1 at the lips."""
    cases: list[Case] = [([4.0], [17.65], 2j * np.pi * 250, 1.0, 0.0), (*TWO, 2j * np.pi * 900, 1.0, 0.0)]
    for shape in (TWO, THREE):
        s = 2j * np.pi * 1200
        cases.append((*shape, *wave(s), lip_load(s, shape[0][-1])))
    return staged(
        answer,
        cases,
        supply,
        [
            (lambda *case: supply(*case, back=True), "the glottis comes first: its matrix stands on the left."),
            (lambda *case: supply(*case, row=0), "this is the pressure; the flow is the second of the two."),
            (
                lambda areas, lengths, sigma, gamma, Z: supply(areas, lengths, sigma, gamma, 0.0),
                "a flow of 1 at the lips meets the pressure Z there.",
            ),
            (lambda *case: 1 / supply(*case), "what the glottis supplies is asked; the gain is one over that."),
        ],
        "all matrices in a row, and nought at a formant.",
    )


def check_halved(answer: object) -> Feedback:
    """Stage 4: (f, low, high) -> where f changes its sign."""
    cases: list[Case] = [
        (lambda x: x - 3, 0.0, 8.0), (lambda x: 3 - x, 0.0, 8.0), (np.cos, 1.0, 3.0), (lambda x: x**3 - 5, 1.0, 2.0),
    ]  # fmt: skip
    return staged(
        answer,
        cases,
        bisect,
        [
            (lambda *case: halved(*case, rising=True), "f may fall as well as rise: compare the signs at two places."),
            (
                lambda *case: halved(*case, strict=True),
                "a middle at which f is 0 is the place itself: count 0 as a change of sign.",
            ),
            (lambda *case: halved(*case, times=1), "go on halving: 26 times, and the rest is a 67-millionth."),
            (
                lambda f, low, high: low + (high - low) * f(low) / (f(low) - f(high)),
                "one straight line is not enough: halve, and look again.",
            ),
        ],
        "half, and half, and half again.",
        tolerance=1e-6,
    )


def check_rings(answer: object) -> Feedback:
    """Stage 5: (areas, lengths, count) -> resonances, as the package's."""
    rng = np.random.default_rng(91)
    cases: list[Case] = [([4.0], [17.65], 3)]
    cases += [(rng.uniform(0.5, 8, n).tolist(), rng.uniform(2, 17 / n, n).tolist(), 4) for n in (2, 3, 5)]
    return staged(
        answer,
        cases,
        resonances,
        [
            (
                lambda areas, lengths, count: resonances(areas[::-1], lengths[::-1], count),
                "the glottis comes first in both lists, the lips last.",
            ),
            (rough, "these are steps of 20 Hz: halve the one in which the sign changes."),
            (lambda *case: 2 * np.pi * resonances(*case), "in Hz: s is 2 pi j f."),
            (
                lambda areas, lengths, count: resonances(areas, lengths, count + 1)[1:],
                "the lowest is missing: begin at 1 Hz.",
            ),
        ],
        "equal to the package's in tracts that you had not seen.",
        tolerance=1e-6,
    )


def check_passed(answer: object) -> Feedback:
    """Stage 6: (areas, lengths, f) -> the gain of a tract with soft walls and lips."""
    return staged(
        answer,
        [(*shape, f) for shape in (([4.0] * 35, [0.5] * 35), TWO, THREE) for f in (100.0, 508.0, 1300.0)],
        passed,
        [
            (lambda *case: 1 / passed(*case), "the gain is one over what the glottis supplies."),
            (lambda *case: passed(*case, walls=0.0), "the walls yield: sigma and gamma are those of `wave`."),
            (lambda *case: passed(*case, load=0.0), "the lips radiate: Z is that of stage 2, at the last area."),
            (lambda *case: passed(*case, turn=1.0), "s is 2 pi j f."),
            (lambda *case: 20 * np.log10(passed(*case)), "the gain itself is asked, not decibels."),
        ],
        "a peak at each formant.",
    )


def check_spoken(answer: object) -> Feedback:
    """Stage 7: (areas, lengths, f0, rate, size) -> the samples of a vowel."""
    return staged(
        answer,
        [
            (*TWO, 100.0, 8000.0, 120),
            (*THREE, 170.0, 8000.0, 90),
            ([4.0] * 4, [4.0] * 4, 230.0, 6000.0, 50),
            (*TWO, 1700.0, 8000.0, 6),  # the lowest sample is larger in size than the highest
        ],
        spoken,
        [
            (
                lambda *case: spoken(*case, fall=1.0),
                "12 dB an octave: twice the frequency, a quarter of the amplitude.",
            ),
            (
                lambda *case: spoken(*case, top=1.0),
                "tones above half the rate would be heard below it: leave them out.",
            ),
            (
                lambda *case: spoken(*case, tube=False),
                "this is the source alone: each tone times the tract's gain there.",
            ),
            (lambda *case: spoken(*case, scaled=False), "divide by the largest size, so that the loudest sample is 1."),
            (lambda *case: spoken(*case, highest=True), "the largest size counts, and the lowest sample may have it."),
            (lambda *case: spoken(*case, turned=np.pi / 2), "a sine for each tone, so that sample 0 is 0."),
        ],
        "a source and a filter: it speaks.",
        tolerance=1e-6,
    )

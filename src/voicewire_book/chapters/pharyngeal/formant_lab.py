"""The checks of the lab of *Measuring formants, and believing them*: a formant tracker, built in six stages.

The last one is the package's reading version, met on vowels that the reader has not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import resample_poly

from voicewire.pharyngeal.formants import Track
from voicewire.pharyngeal.reference import burg, emphasised, poles
from voicewire_book.chapters.pharyngeal import figures
from voicewire_book.chapters.pharyngeal._formant_lab import (
    by_errors,
    followed,
    frames,
    grown,
    noise,
    raised,
    rings,
    tracked,
    vowel,
)
from voicewire_book.kit._student import Case, staged
from voicewire_book.kit.exercises import Feedback

__all__ = [
    "check_foretell",
    "check_frames",
    "check_grown",
    "check_raised",
    "check_rings",
    "check_tracked",
    "drawn",
    "spoken",
]

Array = NDArray[Any]
Rows = Iterable[tuple[float, Array, Array]]
RATE = 10_000  # Hz


def spoken(seed: int = 5) -> Array:
    """A vowel beside the emphatic consonant, 10 000 samples a second: a new one for each seed."""
    return np.asarray(resample_poly(vowel(seed).sound.samples, 5, 8))


def drawn(tracked: Callable[[Array, float], Rows], seed: int = 5) -> Any:
    """Draw what a tracker finds over a vowel's spectrogram, beside the truth."""
    token, rows = vowel(seed), list(tracked(spoken(seed), RATE))
    found = np.full((2, len(rows), 4), np.nan)
    for i, (_, F, B) in enumerate(rows):
        kept = np.asarray(B) <= 600
        for into, values in zip(found, (F, B), strict=True):
            narrow = np.asarray(values)[kept][:4]
            into[i, : narrow.size] = narrow
    times = np.array([row[0] for row in rows])
    return figures.tracks(token.sound, Track(times, *found), (token.times, token.truth))


def check_raised(answer: object) -> Feedback:
    """Stage 1: (x, rate) -> x with its high frequencies raised."""
    cases: list[Case] = [(np.array([4.0, 2.0, 2.0]), 8000.0), (noise(0, 30), 10_000.0), (noise(1, 30), 16_000.0)]
    return staged(
        answer,
        cases,
        emphasised,
        [
            (lambda x, rate: raised(x, rate, first=False), "as many samples as before: the first stays as it is."),
            (lambda x, rate: raised(x, rate, ahead=True), "a share of the sample *before* is taken off."),
            (
                lambda x, rate: raised(x, rate, corner=50 / (2 * np.pi)),
                "the share is the exponential of -2 pi 50/rate: the 2 pi is missing.",
            ),
            (lambda x, rate: raised(x, rate, corner=-50.0), "the share is below 1: mind the sign in the exponent."),
        ],
        "the first stays, the others lose a share of the one before.",
    )


def check_grown(answer: object) -> Feedback:
    """Stage 2: (a, k) -> the coefficients of the next order."""
    cases: list[Case] = [(np.array([1.0, -2.0]), 3.0), (np.array([1.0]), -0.5), (np.append(1.0, noise(2, 5)), 0.4)]
    return staged(
        answer,
        cases,
        grown,
        [
            (lambda a, k: np.append(a, 0) + k * np.append(0, a), "the second row runs backwards."),
            (lambda a, k: np.append(a, k), "the old coefficients change, too; k alone is only the last of the new."),
            (lambda a, k: np.append(a, 0) - k * np.append(0, a[::-1]), "plus k times the reversed row."),
            (
                lambda a, k: np.append(a, 0) + k * np.append(a, 0)[::-1][::-1],
                "the second row begins with the 0 and runs backwards.",
            ),
        ],
        "one longer, and the last one is k.",
    )


def check_foretell(answer: object) -> Feedback:
    """Stage 3: (x, p) -> 1, a_1, …, a_p by Burg's method."""
    cases: list[Case] = [
        (np.array([1.0, 2.0, 1.0]), 1),
        (np.array([1.0, 2.0, 1.0]), 2),
        (noise(3, 40), 1),
        (noise(4, 60), 5),
        (noise(5, 200), 12),
    ]
    return staged(
        answer,
        cases,
        burg,
        [
            (lambda x, p: by_errors(x, p, sign=1.0), "k has a minus: it makes the errors smaller."),
            (lambda x, p: by_errors(x, p, twice=1.0), "k has a 2 above: both errors are to become least together."),
            (
                lambda x, p: by_errors(x, p, cuts=False),
                "in the next order f meets the b of one sample earlier: f loses its first, b its last.",
            ),
            (
                lambda x, p: by_errors(x, p, old=False),
                "both updates use the old f and b: keep the old f until b is done.",
            ),
        ],
        "order by order, and never a look outside.",
    )


def check_rings(answer: object) -> Feedback:
    """Stage 4: (a, rate) -> frequencies and bandwidths of the resonances, Hz."""
    cases: list[Case] = [
        (np.array([1.0, 0.0, 0.25]), 8000.0),
        (burg(noise(6, 100), 8), 10_000.0),
        (burg(noise(7, 100), 7), 8000.0),
    ]
    return staged(
        answer,
        cases,
        poles,
        [
            (
                lambda a, rate: rings(a, rate, above=False),
                "poles come in pairs, and real ones are no resonances: keep those above the real axis.",
            ),
            (
                lambda a, rate: rings(a, rate, radians=True),
                "a whole turn a sample is the rate: divide the angle by 2 pi.",
            ),
            (lambda a, rate: rings(a, rate, half=True), "the radius is exp(-pi B/rate): half of what it should be."),
            (
                lambda a, rate: poles(a[::-1], rate),
                "the coefficients go as they are: 1 stands before the highest power.",
            ),
            (lambda a, rate: tuple(row[::-1] for row in poles(a, rate)), "the lowest comes first."),
            (
                lambda a, rate: list(zip(*poles(a, rate), strict=True)),
                "two arrays are asked, all frequencies and then all bandwidths, and not a pair for each resonance.",
            ),
            (
                lambda a, rate: tuple(np.sort(row) for row in poles(a, rate)),
                "a bandwidth stays with its frequency: put both into the order of the frequencies.",
            ),
        ],
        "an angle is a frequency, a radius a bandwidth.",
        tolerance=1e-6,
    )


def check_frames(answer: object) -> Feedback:
    """Stage 5: (x, n, hop) -> the frames, faded, a row each."""
    cases: list[Case] = [
        (np.arange(1.0, 6.0), 3, 2),
        (noise(8, 40), 9, 4),
        (noise(9, 41), 11, 5),
        (noise(10, 12), 12, 5),
    ]
    return staged(
        answer,
        cases,
        frames,
        [
            (
                lambda x, n, hop: frames(x, n, hop, fades=False),
                "each frame fades in and out: multiply it by the window.",
            ),
            (
                lambda x, n, hop: frames(x, n, hop, lowered=False),
                "the window is lowered until its ends are 0, then stretched until its middle is 1.",
            ),
            (lambda x, n, hop: frames(x, n, hop, last=False), "the last frame may end with the last sample."),
            (lambda x, n, hop: frames(x, n, 1), "the next frame begins `hop` samples later."),
        ],
        "whole frames only, each faded.",
    )


def check_tracked(answer: object) -> Feedback:
    """Stage 6: (x, rate) -> time, frequencies, bandwidths of each frame, as the package's."""
    cases: list[Case] = [(np.append(np.zeros(700), spoken(seed)), RATE) for seed in (21, 22)]
    cases.append((np.asarray(resample_poly(vowel(23).sound.samples, 1, 2)), 8000))
    return staged(
        answer,
        cases,
        followed,
        [
            (lambda x, rate: tracked(x, rate, emphasis=False), "raise the high frequencies first, of the whole sound."),
            (
                lambda x, rate: tracked(x, rate, spare=0),
                "one pair of poles more, for the tilt of the voice: the order is 2 plus the rate in kilohertz.",
            ),
            (lambda x, rate: tracked(x, rate, middle=False), "the time of a frame is its middle."),
            (lambda x, rate: tracked(x, rate, silent=False), "a silent frame has no resonances: leave it out."),
        ],
        "equal to the package's on vowels that you had not seen.",
        tolerance=1e-6,
    )

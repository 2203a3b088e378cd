"""The exercises and the lab of chapter 2, *Measuring formants, and believing them*."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.signal import resample_poly

from voicewire.pharyngeal import synthesis
from voicewire.pharyngeal.formants import Track
from voicewire.pharyngeal.reference import SPEED, burg, emphasised, frame_window, poles, track
from voicewire_book.chapters.pharyngeal import figures
from voicewire_book.chapters.pharyngeal.exercises.answers import NAMES, SOUND, below
from voicewire_book.kit._student_functions import Case
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import Feedback, Mistakes, formula, number, value
from voicewire_book.kit.records import Choice, Formula, Number, Stage
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "drawn", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given

Array = NDArray[Any]


def _order(length: int, kilohertz: int) -> Drawn:
    lowest, half = SOUND / (4 * length), 500 * kilohertz
    n, beyond = below(length, half), below(length, 1000 * kilohertz)
    return Drawn(
        f"L = {length} cm, {kilohertz} 000 samples a second",
        2.0 * n + 2,
        (
            (kilohertz + 2.0, "two more than the rate in kilohertz is for a tract of 17.5 cm; count this one's "
             "formants."),
            (2.0 * n, "and one pair more for the tilt of the voice."),
            (n + 1.0, "a formant takes a pair of poles."),
            (2.0 * n + 4, f"the {NAMES[n + 1]} formant lies above half the sampling rate."),
            (2.0 * beyond + 2, f"only what lies below half the sampling rate counts, {half} Hz."),
        ),
        f"Half the sampling rate is {half} Hz.\n"
        f"F1 = {SOUND} / (4 · {length}) = {lowest:.0f} Hz; its odd multiple {2 * n - 1} lies at "
        f"{(2 * n - 1) * lowest:.0f} Hz, {2 * n + 1} at {(2 * n + 1) * lowest:.0f} Hz.\n"
        f"So {n} formants lie below, and the order is 2 · {n} + 2 = {2 * n + 2}.",
        right=f"{n} formants below {half} Hz, a pair each, and one pair more.",
        tolerance=1e-3,
    )  # fmt: skip


EXERCISES["pharyngeal-ex-order"] = Exercise(
    "order", (13, 16), lambda rng: (int(rng.integers(10, 19)), 2 * int(rng.integers(5, 12))), _order
)

# The lowest of the F2 2100, 1500, 900 and 1500 Hz in Lobanov's units, by the sample SD.
EXERCISES["pharyngeal-ex-lobanov"] = Number(
    -600 / 240_000**0.5,
    0.005,
    hints={
        600 / 240_000**0.5: "the vowel lies below the speaker's mean.",
        -600 / 180_000**0.5: "this divides by n; a sample SD divides by n - 1.",
        -600.0: "this is the distance from the mean in Hz; divide by the SD.",
        -600 / 240_000: "this divides by the variance; its root is the SD.",
        900 / 240_000**0.5: "take the mean off first.",
    },
    right="600 Hz below the mean, with an SD of 490 Hz.",
)  # fmt: skip

# The second k of Burg's method for x = (1, 2, 1).
EXERCISES["pharyngeal-ex-burg"] = Number(
    -1,
    1e-3,
    hints={
        -0.8: "this is the first k; update f and b with it, and go on.",
        0.8: "f_t meets b one sample earlier: drop the first of f and the last of b.",
        1.0: "the size is right; look at the minus in the formula for k.",
        -0.5: "there is a 2 in the formula for k: both errors count.",
        0.048 / 0.3616: "both updates use the old f and b.",
    },
    right="the filter is now 1, 0, -1: each sample equals the one two places before it, and so it is in (1, 2, 1).",
)  # fmt: skip

# A function L, n -> ceiling (Hz) half-way between formants n and n + 1 of a uniform tube of L cm.
EXERCISES["pharyngeal-ex-ceiling"] = Formula(
    lambda L, n: n * SPEED / (2 * L),
    [(17.0, 5), (13.0, 5), (17.5, 4), (11.0, 3)],
    [
        (lambda L, n: (2 * n - 1) * SPEED / (4 * L), "this is formant n itself: noise may put it above the ceiling."),
        (lambda L, n: (2 * n + 1) * SPEED / (4 * L), "this is formant n + 1: the tracker would find it."),
        (lambda L, n: n * SPEED / (4 * L), "the formants are odd multiples of c / 4L: this is about half as high."),
        (lambda L, n: (n - 1) * SPEED / (2 * L), "one too few: half-way between n - 1 and n."),
    ],
    right="n c / 2L: half a wave of the ceiling for each formant below it.",
)  # fmt: skip

# A function n, alpha -> level of each of n independent tests, so that a share alpha has a false alarm.
EXERCISES["pharyngeal-ex-alarms"] = Formula(
    lambda n, alpha: 1 - (1 - alpha) ** (1 / n),
    [(4, 0.05), (24, 0.05), (10, 0.01)],
    [
        (lambda n, a: a / n, "safe, but not exact: it counts studies with two false alarms twice."),
        (lambda n, a: 1 - (1 - a) ** n, "the other way round: this is the share if each is tested at alpha."),
        (lambda n, a: a ** (1 / n), "this is the level if all n must be false alarms; one is enough."),
        (lambda n, a: (1 - a) ** (1 / n), "this is the share of tests that stay silent; its level is the rest."),
    ],
    right="all n stay silent with (1 - level)^n = 1 - alpha.",
)  # fmt: skip

# What it says of the truth that two trackers agree.
EXERCISES["pharyngeal-ex-agree"] = Choice(
    "b",
    ["a", "b", "c", "d"],
    hints={
        "a": "their codes are independent; are their assumptions?",
        "c": "a small bandwidth means that the pole rings for long, not that it lies at the right place.",
        "d": "it does tell something: an error that only one of them makes would show.",
    },
    right="what both take for granted (ceiling, order, poles only) they also get wrong together.",
)  # fmt: skip

# RMS error of a tracker that gives the nearest harmonic, F0 240 Hz.
EXERCISES["pharyngeal-ex-harmonic"] = Number(
    240 / 12**0.5,
    unit="Hz",
    hints={
        240 / 2: "that is the largest error; most are smaller.",
        240 / 4: "that is the mean of the absolute error; square before you average.",
        240**2 / 12: "this is the mean square, in Hz squared: take its root.",
        240 / 3**0.5: "the nearest harmonic is at most half of F0 away, not all of it.",
    },
    right="F0 over the root of 12, as for a number that is rounded to steps of F0.",
)  # fmt: skip


@EXERCISES.judged("pharyngeal-ex-rmse")
def _(answer: object, errors: ArrayLike) -> Feedback:
    """Share of the mean square error of F2 that is bias, with Praat's default settings."""
    second = np.asarray(errors, dtype=float)[:, 1]
    share = float(np.nanmean(second) ** 2 / np.nanmean(second**2))
    hints = {
        math.sqrt(share): "this compares bias and RMSE; squares add up, so compare squares.",
        1 - share: "this is the share of the scatter.",
        math.sqrt(1 - share): "this compares the scatter and the RMSE: compare squares, and take the other part.",
        float(np.nanmean(second)): "this is the bias, in Hz; a share is asked.",
    }
    return number(answer, share, hints=hints, right="the square of the mean, over the mean of the squares.")


FRAMES = [
    ([1300.0, 1310.0, 2500.0, 1290.0, 1295.0], [80.0, 90.0, 100.0, 70.0, 60.0]),
    ([1300.0, 1310.0, 2500.0, 1290.0, 1200.0], [80.0, 90.0, 100.0, 70.0, 700.0]),
    ([1500.0, 1420.0, 1440.0], [601.0, 60.0, 599.0]),
]
UNFOUND = ([math.nan, 1400.0, 1420.0], [50.0, 50.0, 60.0])


def median(f: Sequence[float], b: Sequence[float], widest: float = 600.0) -> float:
    return float(np.median([x for x, width in zip(f, b, strict=True) if width <= widest and math.isfinite(x)]))


@EXERCISES.judged("pharyngeal-ex-middle")
def _(answer: object) -> Feedback:
    """A function frequencies, bandwidths -> median (Hz) of the frames no wider than 600 Hz; NaN if there is none."""
    mistakes: Mistakes = [
        (lambda f, b: median(f, b, math.inf), "poles wider than 600 Hz count here."),
        (lambda f, b: np.mean([x for x, w in zip(f, b, strict=True) if w <= 600]),
         "a single bad frame moves a mean."),
        (lambda f, b: np.mean(f), "a single bad frame moves a mean, and wide poles count here."),
    ]  # fmt: skip
    found = formula(answer, median, FRAMES, mistakes)
    if not found:
        return found
    if math.isnan(value(answer, UNFOUND)):
        return Feedback(False, "where a frame has found nothing its frequency is NaN: leave it out.")
    found = formula(answer, median, [UNFOUND])
    if not found:
        return found
    for nothing in (([1300.0, 1400.0], [900.0, 700.0]), ([], [])):
        try:
            left = float(answer(*nothing))  # type: ignore[operator]
        except Exception as error:  # whatever a student's code may raise
            return Feedback(False, f"where no frame is left it raises {type(error).__name__}: give NaN.")
        if not math.isnan(left):
            told = f"no frame is left, but your function gives {left:g} Hz: give NaN, not a number out of nothing."
            return Feedback(False, told)
    return Feedback(True, "one bad frame moves it by little, and nothing gives NaN.")


# The lab: a formant tracker


def noise(seed: int, size: int) -> Array:
    return np.random.default_rng([62, seed]).standard_normal(size)


def raised(x: Array, rate: float, *, corner: float = 50.0, first: bool = True, ahead: bool = False) -> Array:
    """Emphasis; `corner`, `first` and `ahead` are what is right and a usual mistake each."""
    share = np.exp(-2 * np.pi * corner / rate)
    before = np.append(0.0, x[:-1])
    if ahead:
        return np.append(x[:-1] - share * x[1:], x[-1])
    y = x - share * before
    return y if first else y[1:]


@EXERCISES.made("pharyngeal-formant-lab-raised")
def _() -> Stage:
    """Stage 1: (x, rate) -> x with its high frequencies raised."""
    return Stage(
        [(np.array([4.0, 2.0, 2.0]), 8000.0), (noise(0, 30), 10_000.0), (noise(1, 30), 16_000.0)],
        emphasised,
        [
            (lambda *case: raised(*case, first=False), "as many samples as before: the first stays as it is."),
            (lambda *case: raised(*case, ahead=True), "subtract a share of the sample *before*."),
            (lambda *case: raised(*case, corner=50 / (2 * np.pi)),
             "the share is the exponential of -2 pi 50/rate: the 2 pi is missing."),
            (lambda *case: raised(*case, corner=-50.0), "the share is below 1: mind the sign in the exponent."),
        ],
        "the first stays, the others lose a share of the one before.",
    )  # fmt: skip


def grown(a: Array, k: float) -> Array:
    return np.append(a, 0) + k * np.append(0, a[::-1])


@EXERCISES.made("pharyngeal-formant-lab-grown")
def _() -> Stage:
    """Stage 2: (a, k) -> the coefficients of the next order."""
    return Stage(
        [(np.array([1.0, -2.0]), 3.0), (np.array([1.0]), -0.5), (np.append(1.0, noise(2, 5)), 0.4)],
        grown,
        [
            (lambda a, k: np.append(a, 0) + k * np.append(0, a), "the second row runs backwards."),
            (lambda a, k: np.append(a, k), "the old coefficients change, too; k alone is only the last of the new."),
            (lambda a, k: np.append(a, 0) - k * np.append(0, a[::-1]), "plus k times the reversed row."),
            (lambda a, k: np.append(a, 0) + k * np.append(a, 0),
             "the second row begins with the 0 and runs backwards."),
        ],
        "one longer, and the last one is k.",
    )  # fmt: skip


def by_errors(
    x: Array, p: int, *, sign: float = -1.0, twice: float = 2.0, cuts: bool = True, old: bool = True
) -> Array:
    """Burg's method; `sign`, `twice`, `cuts` and `old` are what is right and a usual mistake each."""
    a, f, b = np.array([1.0]), x[1:], x[:-1]
    for _ in range(p):
        k = sign * twice * (f @ b) / (f @ f + b @ b)
        a = grown(a, k)
        new = f + k * b
        b = b + k * (f if old else new)
        f, b = (new[1:], b[:-1]) if cuts else (new, b)
    return a


@EXERCISES.made("pharyngeal-formant-lab-foretell")
def _() -> Stage:
    """Stage 3: (x, p) -> 1, a_1, …, a_p by Burg's method."""
    short = np.array([1.0, 2.0, 1.0])
    return Stage(
        [(short, 1), (short, 2), (noise(3, 40), 1), (noise(4, 60), 5), (noise(5, 200), 12)],
        burg,
        [
            (lambda *case: by_errors(*case, sign=1.0), "k has a minus: it makes the errors smaller."),
            (lambda *case: by_errors(*case, twice=1.0), "the numerator of k has a 2: both errors count together."),
            (lambda *case: by_errors(*case, cuts=False),
             "in the next order f meets the b of one sample earlier: f loses its first, b its last."),
            (lambda *case: by_errors(*case, old=False),
             "both updates use the old f and b: keep the old f until b is done."),
        ],
        "order by order, and never a look outside.",
    )  # fmt: skip


def rings(
    a: Array, rate: float, *, above: bool = True, radians: bool = False, half: bool = False
) -> tuple[Array, Array]:
    """Frequencies and bandwidths; `above`, `radians` and `half` are what is right and a usual mistake each."""
    F, B = poles(a, rate)
    if not above:
        z = np.roots(a)
        z = z[np.argsort(np.angle(z))]
        return np.angle(z) * rate / (2 * np.pi), -np.log(np.abs(z)) * rate / np.pi
    return (F * 2 * np.pi if radians else F), (B / 2 if half else B)


@EXERCISES.made("pharyngeal-formant-lab-rings")
def _() -> Stage:
    """Stage 4: (a, rate) -> frequencies and bandwidths of the resonances, Hz."""
    two = burg(noise(6, 100), 8), burg(noise(7, 100), 7)
    return Stage(
        [(np.array([1.0, 0.0, 0.25]), 8000.0), (two[0], 10_000.0), (two[1], 8000.0)],
        poles,
        [
            (lambda *case: rings(*case, above=False),
             "poles come in pairs, and real ones are no resonances: keep those above the real axis."),
            (lambda *case: rings(*case, radians=True),
             "a whole turn a sample is the rate: divide the angle by 2 pi."),
            (lambda *case: rings(*case, half=True), "the radius is exp(-pi B/rate): half of what it should be."),
            (lambda a, rate: poles(a[::-1], rate),
             "don't reverse the coefficients: 1 belongs to the highest power."),
            (lambda a, rate: tuple(row[::-1] for row in poles(a, rate)), "the lowest comes first."),
            (lambda a, rate: list(zip(*poles(a, rate), strict=True)),
             "two arrays are asked, all frequencies and then all bandwidths, and not a pair for each resonance."),
            (lambda a, rate: tuple(np.sort(row) for row in poles(a, rate)),
             "a bandwidth stays with its frequency: sort both by frequency."),
        ],
        "an angle is a frequency, a radius a bandwidth.",
        tolerance=1e-6,
    )  # fmt: skip


def frames(x: Array, n: int, hop: int, *, fades: bool = True, lowered: bool = True, last: bool = True) -> Array:
    """Frames, a row each; `fades`, `lowered` and `last` are what is right and a usual mistake each."""
    t = np.linspace(-1, 1, n)
    window = frame_window(n) if lowered else np.exp(-12 * t * t)
    starts = range(0, x.size - n + (1 if last else 0), hop)
    return np.array([x[s : s + n] * (window if fades else 1.0) for s in starts])


@EXERCISES.made("pharyngeal-formant-lab-frames")
def _() -> Stage:
    """Stage 5: (x, n, hop) -> the frames, faded, a row each."""
    return Stage(
        [(np.arange(1.0, 6.0), 3, 2), (noise(8, 40), 9, 4), (noise(9, 41), 11, 5), (noise(10, 12), 12, 5)],
        frames,
        [
            (lambda *case: frames(*case, fades=False), "each frame fades in and out: multiply it by the window."),
            (lambda *case: frames(*case, lowered=False),
             "the window is lowered until its ends are 0, then stretched until its middle is 1."),
            (lambda *case: frames(*case, last=False), "the last frame may end with the last sample."),
            (lambda x, n, hop: frames(x, n, 1), "the next frame begins `hop` samples later."),
        ],
        "whole frames only, each faded.",
    )  # fmt: skip


def vowel(seed: int) -> synthesis.Token:
    rng = np.random.default_rng([61, seed])
    return synthesis.vowel("tt", synthesis.Speaker("demo", f0=118.0), rng, snr=40.0)


RATE = 10_000  # Hz


def spoken(seed: int = 5) -> Array:
    """A vowel beside the emphatic consonant, 10 000 samples a second: a new one for each seed."""
    return np.asarray(resample_poly(vowel(seed).sound.samples, 5, 8))


def tracked(
    x: Array, rate: float, *, emphasis: bool = True, spare: int = 2, middle: bool = True, silent: bool = True
) -> list[tuple[float, Array, Array]]:
    """The tracker; `emphasis`, `spare`, `middle` and `silent` are what is right and a usual mistake each."""
    x, n, hop = emphasised(x, rate) if emphasis else x, round(0.05 * rate), round(0.005 * rate)
    rows = []
    for k, frame in enumerate(frames(x, n, hop)):
        if np.sqrt(np.mean(frame**2)) > 1e-6:
            time = (k * hop + (n / 2 if middle else 0)) / rate
            rows.append((time, *poles(burg(frame, spare + round(rate / 1000)), rate)))
        elif not silent:
            rows.append(((k * hop + n / 2) / rate, np.array([0.0]), np.array([0.0])))
    return rows


@EXERCISES.made("pharyngeal-formant-lab-tracked")
def _() -> Stage:
    """Stage 6: (x, rate) -> time, frequencies, bandwidths of each frame, as the package's."""
    cases: list[Case] = [(np.append(np.zeros(700), spoken(seed)), RATE) for seed in (21, 22)]
    cases.append((np.asarray(resample_poly(vowel(23).sound.samples, 1, 2)), 8000))
    return Stage(
        cases,
        lambda x, rate: list(track(x, rate)),
        [
            (lambda *case: tracked(*case, emphasis=False), "raise the high frequencies first, of the whole sound."),
            (lambda *case: tracked(*case, spare=0),
             "one pair of poles more, for the tilt of the voice: the order is 2 plus the rate in kilohertz."),
            (lambda *case: tracked(*case, middle=False), "the time of a frame is its middle."),
            (lambda *case: tracked(*case, silent=False), "a silent frame has no resonances: leave it out."),
        ],
        "equal to the package's on vowels that you had not seen.",
        tolerance=1e-6,
    )  # fmt: skip


def drawn(tracked: Callable[[Array, float], Iterable[tuple[float, Array, Array]]], seed: int = 5) -> Any:
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

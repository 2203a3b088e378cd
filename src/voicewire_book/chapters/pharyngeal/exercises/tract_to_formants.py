"""The exercises and the lab of chapter 1, *From the vocal tract to formants*."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.pharyngeal import tract
from voicewire.pharyngeal.reference import DENSITY, SPEED, bisect, flow_ratio, lip_load, resonances, section, wave
from voicewire.pharyngeal.tract import Articulation
from voicewire_book.chapters.pharyngeal.exercises.answers import NAMES, SOUND, below
from voicewire_book.kit._student_functions import Case
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.exercises import UNANSWERED, Feedback, unanswered
from voicewire_book.kit.records import Choice, Formula, Number, Stage
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given

Array = NDArray[Any]


def _quarter(length: int, kilohertz: int) -> Drawn:
    lowest = SOUND / (4 * length)
    many, n = 1000 * kilohertz / lowest, below(length, 1000 * kilohertz)
    return Drawn(
        f"L = {length} cm, below {kilohertz} kHz",
        float(n),
        (
            (n + 1.0, f"the {NAMES[n + 1]} lies above {kilohertz} kHz: round down."),
            (float(math.floor(many / 2)), "half-waves fit a tube with two like ends; here one end is closed, and "
             "quarter-waves fit."),
            (float(math.floor(many)), "you count every multiple of F1, but an even number of quarter-waves doesn't "
             "fit."),
            (many, f"this is {kilohertz} kHz over F1; which multiples of F1 are resonances?"),
        ),
        f"F1 = {SOUND} / (4 · {length}) = {lowest:.1f} Hz, and the others are its odd multiples.\n"
        f"{1000 * kilohertz} / {lowest:.1f} = {many:.1f}: the last odd number below is {2 * n - 1}.\n"
        f"That is 2n - 1 for n = {n}.",
        right=f"{2 * n - 1} quarter-waves are the last: F{n} = {2 * n - 1} c / 4L = {(2 * n - 1) * lowest:.0f} Hz.",
        tolerance=1e-3,
    )  # fmt: skip


EXERCISES["pharyngeal-ex-quarter"] = Exercise(
    "quarter", (15, 8), lambda rng: (int(rng.integers(12, 21)), int(rng.integers(4, 11))), _quarter
)  # fmt: skip


@EXERCISES.made("pharyngeal-ex-tubes")
def _() -> Number:
    """Hertz between F1 and F2 of two tubes of 8.825 cm, the front one three times as wide."""
    cycle = SPEED / 8.825 / 360  # Hz for a degree of kl
    bare = math.degrees(math.atan(3))
    return Number(
        cycle * 60,
        0.005,
        unit="Hz",
        hints={
            cycle * 120: "you have exchanged the areas: the wide tube is in front, as in [a].",
            cycle * (180 - 2 * bare): "the tangent is squared: take the root of the ratio first.",
            cycle * 90: "this is the uniform tube of both lengths; the areas differ.",
            cycle * 30: "the length in kl is that of one tube, not of both.",
        },
        right="kl is 60° and 120°: F1 is 667 Hz, F2 1333 Hz.",
    )  # fmt: skip


def odd(formants: Sequence[float]) -> Array:
    return 2 * np.arange(len(formants)) + 1.0


# A function formants (Hz) -> length (cm) of the uniform tube that fits best by least squares.
EXERCISES["pharyngeal-ex-length"] = Formula(
    lambda formants: SPEED / 4 * (odd(formants) @ odd(formants)) / (odd(formants) @ np.asarray(formants)),
    [([520.0, 1480.0, 2600.0],), ([600.0, 1900.0, 2900.0, 4300.0],), ([450.0, 1500.0],)],
    [
        (lambda f: SPEED / 4 / f[0], "this fits F1 alone; the others count too."),
        (lambda f: SPEED / 4 * np.mean(odd(f) / f), "this averages one length per formant; the squares are in hertz."),
        (lambda f: SPEED / 4 / np.mean(f / odd(f)), "you average F over 2n - 1: so 1 Hz counts most in F1."),
        (lambda f: SPEED / 4 * odd(f).sum() / np.sum(f),
         "this makes the sums equal; set the derivative of the squares to zero."),
        (lambda f: SPEED / 4 * 2 * (len(f) - 1) / (f[-1] - f[0]), "this is the mean spacing: only two formants count."),
    ],
    right="c/4 times the sum of (2n - 1)², over the sum of (2n - 1) F_n.",
)  # fmt: skip


def narrowed(m: float, a: float, b: float, e: float) -> float:
    """The integral of e cos mx from a to b."""
    return e * (math.sin(m * b) - math.sin(m * a)) / m


# A function n, a, b, e -> relative change of F_n: a uniform tube is narrowed by the share e from a to b.
EXERCISES["pharyngeal-ex-perturbation"] = Formula(
    lambda n, a, b, e: narrowed((2 * n - 1) * math.pi, a, b, e),
    [(1, 0.1, 0.3, 0.1), (2, 0.2, 0.9, 0.05), (3, 0.0, 0.45, -0.1), (2, 0.5, 0.6, 0.2)],
    [
        (lambda n, *x: -narrowed((2 * n - 1) * math.pi, *x),
         "look at the sign: a narrowing is a negative change, a minus precedes it, and x begins at the glottis."),
        (lambda n, *x: (2 * n - 1) * math.pi * narrowed((2 * n - 1) * math.pi, *x),
         "the integral of cos kx is sin kx over k."),
        (lambda n, *x: narrowed(n * math.pi, *x), "the wave of F_n has 2n - 1 quarters, not n."),
        (lambda n, a, b, e: e * (b - a), "its place counts: integrate the cosine."),
    ],
    right="e (sin mb - sin ma) / m with m = (2n - 1) π.",
)  # fmt: skip

# What "both signs in 82 % of shapes drawn at random" does not say.
EXERCISES["pharyngeal-ex-share"] = Choice(
    "b",
    ["a", "b", "c", "d"],
    hints={
        "a": "is a shape that a generator drew a speaker? Which tongues does /a/ use?",
        "c": "of 200 shapes the share is known to some 5 %: more shapes would make it no share of speakers.",
        "d": "the larynx was moved too: it never gave both signs, and the root's share doesn't depend on it.",
    },
    right="it is a share of the model's shapes, drawn evenly; nobody's vowels are drawn like that.",
)  # fmt: skip

# Which articulator lowers F2 most for one tenth of its range.
EXERCISES["pharyngeal-ex-knob"] = Choice(
    "body",
    ("body", "jaw", "larynx", "lips"),
    hints={
        "larynx": "Raising the larynx shortens the tract: F2 rises; lowered, it lowers F2 by less than another knob.",
        "lips": "Rounding lowers F2 too, but by less for a tenth of the range.",
        "jaw": "Move the jaw alone, and look at F1 and F2 separately.",
    },
    right="body: drawn back by a tenth, it takes some 90 Hz off F2.",
)  # fmt: skip


def _shut(areas: Sequence[float], lengths: Sequence[float]) -> float:
    """Lowest resonance of a hard tract that is closed at both ends, Hz."""

    def flow(f: float) -> float:
        chain = np.eye(2)
        for area, length in zip(areas, lengths, strict=True):
            chain = chain @ section(area, length, 2j * np.pi * f, 1.0)
        return float(chain[1, 0].imag)

    low = 1.0
    while flow(low) * flow(low + 20) > 0:
        low += 20
    return bisect(flow, low, low + 20)


# A function areas, lengths -> lowest resonance (Hz, above 20) of a hard tract that is closed at both ends.
EXERCISES["pharyngeal-ex-closed"] = Formula(
    _shut,
    [([4.0], [17.65]), ([1.0, 7.0], [9.0, 8.0]), ([3.0, 0.5, 5.0], [8.0, 3.0, 6.0])],
    [
        (lambda a, x: resonances(a, x, 1)[0], "this one is open at the lips: at a closed end u = 0, not p."),
        (lambda a, x: 2 * resonances(a, x, 1)[0], "twice the open F1: right for a uniform tube only."),
        (lambda a, x: SPEED / (2 * sum(x)), "right for a uniform tube; where it is narrow counts."),
        (lambda a, x: 2 * _shut(a, x), "this is twice the right value; where does your search begin?"),
    ],
    1e-3,
    right="with u = 0 at the lips, the lower left element is what must be zero.",
)  # fmt: skip


@EXERCISES.judged("pharyngeal-ex-two")
def _(answer: object) -> Feedback:
    """Two configurations with nearly the same F1 and F2, from different tongues."""
    if unanswered(answer):
        return UNANSWERED
    first = second = None
    with contextlib.suppress(Exception):  # not iterable, not two, or an object of the student's own
        first, second = answer  # type: ignore[misc]
    if not isinstance(first, Articulation) or not isinstance(second, Articulation):
        return Feedback(False, "Give two Articulation objects, as a tuple or a list.")
    if abs(first.root - second.root) < 0.3 and abs(first.body - second.body) < 0.3:
        return Feedback(False, "The two tongues are nearly the same; let root or body differ by at least 0.3.")
    try:
        pair = [tract.formants(each).frequencies[:2] for each in (first, second)]
    except ValueError as error:
        return Feedback(False, f"No tongue reaches so far: {error}.")
    gap = float(np.max(np.abs(pair[0] / pair[1] - 1)))
    if not gap <= 0.03:
        return Feedback(False, f"Their F1 or F2 differ by {100 * gap:.1f} %; bring both within 3 %.")
    return Feedback(True, f"Two tongues, one vowel: F1 and F2 agree within {100 * gap:.1f} %.")


# The lab: a tube that speaks

TWO = ([1.0, 7.0], [9.0, 8.0])
THREE = ([2.0, 0.5, 5.0], [6.0, 3.0, 8.0])


def cylinder(
    area: float, length: float, sigma: complex, gamma: complex, *, turns: bool = False, swapped: bool = False
) -> Array:
    """A cylinder's matrix; `turns` (cosine for cosh) and `swapped` are usual mistakes."""
    angle = sigma * length / SPEED
    c, h = (np.cos(angle), np.sin(angle)) if turns else (np.cosh(angle), np.sinh(angle))
    z = DENSITY * SPEED / area * gamma
    return np.array([[c, h / z], [z * h, c]]) if swapped else np.array([[c, z * h], [h / z, c]])


@EXERCISES.made("pharyngeal-tube-lab-cylinder")
def _() -> Stage:
    """Stage 1: (area, length, sigma, gamma) -> the chain matrix of one cylinder."""
    cases: list[Case] = [(1.0, 1.0, 1j * np.pi / 2 * SPEED, 1.0)]
    cases += [(area, 3.0, *wave(2j * np.pi * f)) for area, f in ((4.0, 500.0), (0.5, 1800.0))]
    return Stage(
        cases,
        section,
        [
            (lambda *case: cylinder(*case, turns=True),
             "cosh and sinh of sigma l/c; for hard walls they become cosine and j times sine by themselves."),
            (lambda *case: cylinder(*case, swapped=True),
             "the upper right element is rho c/A, from flow to pressure; the lower left one its inverse."),
            (lambda area, length, sigma, gamma: section(area, length, sigma, 1.0),
             "gamma goes with rho c/A, in both elements."),
            (lambda area, length, sigma, gamma: section(1 / area, length, sigma, gamma),
             "a wider tube takes less pressure for the same flow: rho c over A."),
        ],
        "front pressure and flow, to those behind.",
    )  # fmt: skip


def lips(area: float, s: complex, *, behind: bool = False, round_: bool = True, square: bool = True) -> complex:
    """The load at the lips; `behind`, `round_` and `square` are what is right and a usual mistake each."""
    R = 128 * DENSITY * SPEED / (9 * np.pi ** (2 if square else 1) * area)
    M = 8 * DENSITY / (3 * np.pi * np.sqrt((np.pi if round_ else 1.0) * area))
    return R + s * M if behind else s * M * R / (R + s * M)


# Stage 2: (area, s) -> the load at the lips.
EXERCISES["pharyngeal-tube-lab-lips"] = Stage(
    [(4.0, 2j * np.pi * 100.0), (4.0, 2j * np.pi * 2000.0), (0.7, -200 + 2j * np.pi * 1500.0)],
    lambda area, s: lip_load(s, area),
    [
        (lambda *case: lips(*case, behind=True),
         "resistance and mass lie side by side: one times the other, over their sum."),
        (lambda *case: lips(*case, round_=False), "the mass has the root of pi A in its denominator."),
        (lambda *case: lips(*case, square=False), "the resistance has pi squared in its denominator."),
        (lambda area, s: 1 / lip_load(s, area), "pressure over flow is asked, not flow over pressure."),
    ],
    "a mass for low tones, a resistance for high ones.",
)  # fmt: skip


def supply(
    areas: Sequence[float], lengths: Sequence[float], sigma: complex, gamma: complex, Z: complex,
    *,
    back: bool = False, row: int = 1,
) -> complex:  # fmt: skip
    """Flow at the glottis; `back` (lips first) and `row` 0 (the pressure) are usual mistakes."""
    tract = np.eye(2)
    pairs = list(zip(areas, lengths, strict=True))
    for area, length in reversed(pairs) if back else pairs:
        tract = tract @ section(area, length, sigma, gamma)
    return complex((tract @ [Z, 1.0])[row])


@EXERCISES.made("pharyngeal-tube-lab-supply")
def _() -> Stage:
    """Stage 3: (areas, lengths, sigma, gamma, Z) -> flow at the glottis for a flow of 1 at the lips."""
    cases: list[Case] = [([4.0], [17.65], 2j * np.pi * 250, 1.0, 0.0), (*TWO, 2j * np.pi * 900, 1.0, 0.0)]
    s = 2j * np.pi * 1200
    cases += [(*shape, *wave(s), lip_load(s, shape[0][-1])) for shape in (TWO, THREE)]
    return Stage(
        cases,
        supply,
        [
            (lambda *case: supply(*case, back=True), "the glottis comes first: its matrix stands on the left."),
            (lambda *case: supply(*case, row=0), "this is the pressure; the flow is the second of the two."),
            (lambda areas, lengths, sigma, gamma, Z: supply(areas, lengths, sigma, gamma, 0.0),
             "a flow of 1 at the lips meets the pressure Z there."),
            (lambda *case: 1 / supply(*case), "the flow at the glottis is asked; the gain is one over it."),
        ],
        "all matrices in a row, and zero at a formant.",
    )  # fmt: skip


def halved(
    f: Callable[[float], float], low: float, high: float, *, rising: bool = False, strict: bool = False, times: int = 26
) -> float:
    """Halving; `rising` (for rising functions only) and `strict` (a zero is no change of sign) are usual mistakes."""
    for _ in range(times):
        middle = (low + high) / 2
        changed = f(low) * f(middle)
        if f(middle) > 0 if rising else changed < 0 or (changed == 0 and not strict):
            high = middle
        else:
            low = middle
    return (low + high) / 2


# Stage 4: (f, low, high) -> where f changes its sign.
EXERCISES["pharyngeal-tube-lab-halved"] = Stage(
    [(lambda x: x - 3, 0.0, 8.0), (lambda x: 3 - x, 0.0, 8.0), (np.cos, 1.0, 3.0), (lambda x: x**3 - 5, 1.0, 2.0)],
    bisect,
    [
        (lambda *case: halved(*case, rising=True), "f may fall as well as rise: compare the signs at two places."),
        (lambda *case: halved(*case, strict=True),
         "a middle at which f is 0 is the place itself: count 0 as a change of sign."),
        (lambda *case: halved(*case, times=1), "go on halving: 26 times, and the rest is a 67-millionth."),
        (lambda f, low, high: low + (high - low) * f(low) / (f(low) - f(high)),
         "one straight line is not enough: halve, and look again."),
    ],
    "half, and half, and half again.",
    tolerance=1e-6,
)  # fmt: skip


@EXERCISES.made("pharyngeal-tube-lab-rings")
def _() -> Stage:
    """Stage 5: (areas, lengths, count) -> resonances, as the package's."""
    rng = np.random.default_rng(91)
    cases: list[Case] = [([4.0], [17.65], 3)]
    cases += [(rng.uniform(0.5, 8, n).tolist(), rng.uniform(2, 17 / n, n).tolist(), 4) for n in (2, 3, 5)]
    return Stage(
        cases,
        resonances,
        [
            (lambda areas, lengths, count: resonances(areas[::-1], lengths[::-1], count),
             "the glottis comes first in both lists, the lips last."),
            (lambda *case: np.floor((resonances(*case) - 1) / 20) * 20 + 11,
             "these are steps of 20 Hz: halve the one in which the sign changes."),
            (lambda *case: 2 * np.pi * resonances(*case), "in Hz: s is 2 pi j f."),
            (lambda areas, lengths, count: resonances(areas, lengths, count + 1)[1:],
             "the lowest is missing: begin at 1 Hz."),
        ],
        "equal to the package's in tracts that you had not seen.",
        tolerance=1e-6,
    )  # fmt: skip


def passed(
    areas: Any, lengths: Any, f: float, *, walls: float = 1.0, load: float = 1.0, turn: float = 2 * np.pi
) -> float:
    """The gain; `walls`, `load` and `turn` are what is right and a usual mistake each."""
    return float(1 / abs(flow_ratio(1j * turn * f, areas, lengths, walls, load)))


# Stage 6: (areas, lengths, f) -> the gain of a tract with soft walls and lips.
EXERCISES["pharyngeal-tube-lab-passed"] = Stage(
    [(*shape, f) for shape in (([4.0] * 35, [0.5] * 35), TWO, THREE) for f in (100.0, 508.0, 1300.0)],
    passed,
    [
        (lambda *case: 1 / passed(*case), "the gain is one over what the glottis supplies."),
        (lambda *case: passed(*case, walls=0.0), "the walls yield: take sigma and gamma from `wave`."),
        (lambda *case: passed(*case, load=0.0), "the lips radiate: take Z from stage 2, at the last area."),
        (lambda *case: passed(*case, turn=1.0), "s is 2 pi j f."),
        (lambda *case: 20 * np.log10(passed(*case)), "the gain itself is asked, not decibels."),
    ],
    "a peak at each formant.",
)  # fmt: skip


def spoken(
    areas: Any, lengths: Any, f0: float, rate: float, size: int,
    *,
    fall: float = 2.0, top: float = 0.5, tube: bool = True, scaled: bool = True, turned: float = 0.0,
    highest: bool = False,
) -> Array:  # fmt: skip
    """The sum of tones; `fall`, `top`, `tube`, `scaled`, `turned` and `highest` are right or a usual mistake each."""
    n, x, k = np.arange(size), np.zeros(size), 1
    while k * f0 < top * rate:
        strength = passed(areas, lengths, k * f0) if tube else 1.0
        x += strength / k**fall * np.sin(2 * np.pi * k * f0 * n / rate + turned)
        k += 1
    return x / (x.max() if highest else np.abs(x).max()) if scaled else x


# Stage 7: (areas, lengths, f0, rate, size) -> the samples of a vowel.
EXERCISES["pharyngeal-tube-lab-spoken"] = Stage(
    [
        (*TWO, 100.0, 8000.0, 120), (*THREE, 170.0, 8000.0, 90), ([4.0] * 4, [4.0] * 4, 230.0, 6000.0, 50),
        (*TWO, 1700.0, 8000.0, 6),  # the lowest sample is larger in size than the highest
    ],
    spoken,
    [
        (lambda *case: spoken(*case, fall=1.0), "12 dB an octave: twice the frequency, a quarter of the amplitude."),
        (lambda *case: spoken(*case, top=1.0), "tones above half the rate would be heard below it: leave them out."),
        (lambda *case: spoken(*case, tube=False), "this is the source alone: each tone times the tract's gain there."),
        (lambda *case: spoken(*case, scaled=False), "divide by the largest size, so that the loudest sample is 1."),
        (lambda *case: spoken(*case, highest=True), "the largest size counts, and the lowest sample may have it."),
        (lambda *case: spoken(*case, turned=np.pi / 2), "a sine for each tone, so that sample 0 is 0."),
    ],
    "a source and a filter: it speaks.",
    tolerance=1e-6,
)  # fmt: skip

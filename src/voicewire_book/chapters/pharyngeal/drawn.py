"""The exercises by hand of these chapters whose numbers each reader draws: see `voicewire_book.kit.drawn`."""

from __future__ import annotations

import math

import numpy as np

from voicewire_book.kit.drawn import Drawn, Exercise

__all__ = ["CROSSING", "ORDER", "QUARTER", "RISE"]

_SPEED = 35_300  # cm/s
_NAMES = ("zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
          "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth")  # fmt: skip


def _below(length: float, ceiling: float) -> int:
    """Odd multiples of c/4L below a frequency."""
    return math.ceil((ceiling / (_SPEED / (4 * length)) - 1) / 2)


def _quarter(length: int, kilohertz: int) -> Drawn:
    lowest = _SPEED / (4 * length)
    many, n = 1000 * kilohertz / lowest, _below(length, 1000 * kilohertz)
    return Drawn(
        f"L = {length} cm, below {kilohertz} kHz",
        float(n),
        (
            (n + 1.0, f"the {_NAMES[n + 1]} lies above {kilohertz} kHz: round down."),
            (float(math.floor(many / 2)), "half-waves fit a tube with two like ends; here one end is closed, and "
             "quarter-waves fit."),
            (float(math.floor(many)), "you count every multiple of F1, but an even number of quarter-waves doesn't "
             "fit."),
            (many, f"this is {kilohertz} kHz over F1; which multiples of F1 are resonances?"),
        ),
        f"F1 = {_SPEED} / (4 · {length}) = {lowest:.1f} Hz, and the others are its odd multiples.\n"
        f"{1000 * kilohertz} / {lowest:.1f} = {many:.1f}: the last odd number below is {2 * n - 1}.\n"
        f"That is 2n - 1 for n = {n}.",
        right=f"{2 * n - 1} quarter-waves are the last: F{n} = {2 * n - 1} c / 4L = {(2 * n - 1) * lowest:.0f} Hz.",
        tolerance=1e-3,
    )  # fmt: skip


QUARTER = Exercise(
    "quarter", (15, 8), lambda rng: (int(rng.integers(12, 21)), int(rng.integers(4, 11))), _quarter
)  # fmt: skip


def _order(length: int, kilohertz: int) -> Drawn:
    lowest, half = _SPEED / (4 * length), 500 * kilohertz
    n, beyond = _below(length, half), _below(length, 1000 * kilohertz)
    return Drawn(
        f"L = {length} cm, {kilohertz} 000 samples a second",
        2.0 * n + 2,
        (
            (kilohertz + 2.0, "two more than the rate in kilohertz is for a tract of 17.5 cm; count this one's "
             "formants."),
            (2.0 * n, "and one pair more for the tilt of the voice."),
            (n + 1.0, "a formant takes a pair of poles."),
            (2.0 * n + 4, f"the {_NAMES[n + 1]} formant lies above half the sampling rate."),
            (2.0 * beyond + 2, f"only what lies below half the sampling rate counts, {half} Hz."),
        ),
        f"Half the sampling rate is {half} Hz.\n"
        f"F1 = {_SPEED} / (4 · {length}) = {lowest:.0f} Hz; its odd multiple {2 * n - 1} lies at "
        f"{(2 * n - 1) * lowest:.0f} Hz, {2 * n + 1} at {(2 * n + 1) * lowest:.0f} Hz.\n"
        f"So {n} formants lie below, and the order is 2 · {n} + 2 = {2 * n + 2}.",
        right=f"{n} formants below {half} Hz, a pair each, and one pair more.",
        tolerance=1e-3,
    )  # fmt: skip


ORDER = Exercise(
    "order", (13, 16), lambda rng: (int(rng.integers(10, 19)), 2 * int(rng.integers(5, 12))), _order
)


def _crossing(foot: int, way: tuple[int, int], far: int, a: tuple[int, int], b: tuple[int, int]) -> Drawn:
    at = np.array([foot + far * way[0] / 5, far * way[1] / 5])
    piece = np.array(b) - a
    along = float((at - a) @ piece / (piece @ piece))
    ends = tuple(float(np.hypot(end[0] - foot, end[1])) for end in (a, b))
    across = np.array(a) - [foot, 0]
    nearest = float(abs(across[0] * piece[1] - across[1] * piece[0]) / np.hypot(*piece))
    where = f"({at[0]:g}, {at[1]:g})"
    return Drawn(
        f"foot ({foot}, 0), direction ({way[0] / 5:g}, {way[1] / 5:g}), piece from {a} to {b}, in cm",
        float(far),
        (
            (along, "this is t, how far along the contour; r is asked."),
            (float(at[1]), "this is how high the crossing lies; the line is slanted."),
            (float(abs(at[0] - foot)), "this is how far to the side the crossing lies; the line is slanted."),
            *((end, "this is the way to the end of the contour, not along the line.") for end in ends),
            (nearest, "this is the shortest way to the contour; the line doesn't meet it at a right angle."),
        ),
        f"To the side: {foot} + {way[0] / 5:g} r = {a[0]} + ({piece[0]}) t.\n"
        f"Upwards: {way[1] / 5:g} r = {a[1]} + ({piece[1]}) t.\n"
        f"Together r = {far}, t = {along:.3g}: they meet at {where}.",
        unit="cm",
        right=f"at {where}.",
        tolerance=1e-3,
    )


def _drawn_crossing(rng: np.random.Generator) -> tuple[object, ...]:
    foot, far = int(rng.integers(0, 4)), int(rng.choice([5, 10]))
    way = [(3, 4), (4, 3)][int(rng.integers(2))]
    at = np.array([foot + far * way[0] // 5, far * way[1] // 5])
    piece = np.array([int(rng.integers(1, 4)), int(rng.choice([-2, -1, 1]))])
    a, b = at - int(rng.integers(1, 3)) * piece, at + int(rng.integers(1, 4)) * piece
    return foot, way, far, tuple(map(int, a)), tuple(map(int, b))


CROSSING = Exercise("crossing", (1, (3, 4), 5, (2, 5), (6, 3)), _drawn_crossing, _crossing)


def _rise(first: float, up: float, second: float) -> Drawn:
    share = up / first
    rise = second * share
    return Drawn(
        f"F1 = {first:g} Hz, up by {up:g} Hz; F2 = {second:g} Hz",
        rise,
        (
            (float(up), "every formant rises by the same share, not by as many hertz."),
            (-314.15, "this is what the paper finds; what would a shorter tube do?"),
            (-rise, "a shorter tube raises every formant."),
            (second + rise, "this is where F2 would be; by how much has it moved?"),
        ),
        f"F1 moves by the share {up:g} / {first:g} = {share:.3g}.\n"
        f"All formants are divided by one number, so F2 rises by {share:.3g} · {second:g} = {rise:.0f} Hz.",
        unit="Hz",
        right=f"{100 * share:.0f} % of F2, upwards; the paper has it fall by 314 Hz.",
        tolerance=0.015,
    )


def _drawn_rise(rng: np.random.Generator) -> tuple[float, ...]:
    first, share = 20 * int(rng.integers(20, 31)), int(rng.choice([5, 10, 15, 20, 25]))
    return first, first * share / 100, 100 * int(rng.integers(11, 19))


RISE = Exercise("rise", (519.60, 138.52, 1573.44), _drawn_rise, _rise)

"""The exercises and the lab of chapter 3, *Measuring articulators from images*."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.pharyngeal.films import keyframes, organs
from voicewire.pharyngeal.reference import RIDGE, carried, cosines, crossing, described
from voicewire_book.chapters.pharyngeal import figures
from voicewire_book.kit._student_functions import Case
from voicewire_book.kit.drawn import Drawn, Exercise
from voicewire_book.kit.records import Choice, Formula, Number, Stage
from voicewire_book.kit.table import Exercises

__all__ = ["EXERCISES", "check", "drawn", "given"]

EXERCISES = Exercises()
check, given = EXERCISES.check, EXERCISES.given

Array = NDArray[Any]


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


EXERCISES["pharyngeal-ex-crossing"] = Exercise("crossing", (1, (3, 4), 5, (2, 5), (6, 3)), _drawn_crossing, _crossing)

# Rise (cm) of the larynx from 7.20 to 7.10 cm, while the incisor moves from 0.90 to 1.30 cm.
EXERCISES["pharyngeal-ex-elevation"] = Number(
    0.5,
    1e-3,
    unit="cm",
    hints={
        0.1: "the head has moved too: take each depth from the incisor of its own frame.",
        -0.5: "depths grow downwards, elevations upwards: rest minus frame.",
        -0.3: "the head went down by 0.4 cm and took the larynx along: correct for that.",
        5.8: "this is the depth below the incisor; compare it with rest.",
        0.4: "the incisor has moved by this much; how far has the larynx, seen from it?",
    },
    right="6.30 cm below the incisor at rest, 5.80 now.",
)  # fmt: skip

# Location (cm) by the paper's rule: 0.35, 0.02, 0.01 and 0.30 cm of distance at 1.2, 1.9, 7.0 and 12.4 cm.
EXERCISES["pharyngeal-ex-contact"] = Number(
    1.9,
    1e-3,
    unit="cm",
    hints={
        7.0: "here the distance is least; but where the tongue touches, the most anterior contact counts.",
        1.2: "most anterior of all places, but the tongue doesn't touch there.",
        0.02: "this is the distance; the location is asked.",
        0.01: "this is the distance; the location is asked, and of the first contact.",
        4.45: "the rule takes the first contact, not the middle of them.",
    },
    right="1.9 cm: the first of two contacts.",
)  # fmt: skip

# A function d0, bend, error, slope -> opening that is measured near a minimum with a tracing error.
EXERCISES["pharyngeal-ex-least"] = Formula(
    lambda d0, bend, error, slope: d0 + error - slope * slope / (2 * bend),
    [(0.5, 0.4, 0.02, 0.03), (0.3, 0.05, -0.01, 0.02), (0.6, 1.2, 0.0, -0.1)],
    [
        (lambda d, k, e, s: d + e, "this is the distance at the old place; the least one lies next to it."),
        (lambda d, k, e, s: d + e + s * s / (2 * k),
         "the sign: the least can't lie above the distance at the old place."),
        (lambda d, k, e, s: d + e - s * s / k, "the parabola rises at the new place: half of it comes back."),
        (lambda d, k, e, s: d - s * s / (2 * k), "the error at the old place counts too."),
        (lambda d, k, e, s: -s / k, "this is the shift of the location; put it into the distance."),
    ],
    right="d0 + error - slope² / (2 bend): traced openings are too small on average.",
)  # fmt: skip

# A function between, within, tokens, frames -> standard error (cm) of a context's mean.
EXERCISES["pharyngeal-ex-frames"] = Formula(
    lambda between, within, tokens, frames: math.sqrt(between**2 / tokens + within**2 / (tokens * frames)),
    [(0.25, 0.03, 3, 5), (0.1, 0.2, 4, 2), (0.02, 0.3, 6, 10)],
    [
        (lambda b, w, t, f: math.sqrt((b * b + w * w) / (t * f)),
         "so it would be if each frame were a word of its own."),
        (lambda b, w, t, f: math.sqrt((b * b + w * w) / t),
         "a token's mean is over its frames: their scatter shrinks."),
        (lambda b, w, t, f: b / math.sqrt(t), "and the scatter of the frames within a token?"),
        (lambda b, w, t, f: b * b / t + w * w / (t * f), "this is the variance of the mean; its root is asked."),
        (lambda b, w, t, f: b / math.sqrt(t) + w / math.sqrt(t * f), "variances add up, standard deviations don't."),
    ],
    right="√(between² / tokens + within² / (tokens · frames)): only more tokens help against the first.",
)  # fmt: skip

# Which of two minima gives a location to trust: 0.5 cm with a bend of 0.4, or 0.1 cm with 0.02 a cm.
EXERCISES["pharyngeal-ex-trust"] = Choice(
    "b",
    ["a", "b", "c", "d"],
    hints={
        "a": "the width plays no part: look at what divides the error's slope.",
        "c": "both errors are alike, but what they do to the location is not.",
        "d": "the shift is small where the minimum is sharp: put the numbers in.",
    },
    right="its location moves by 0.05 cm, that of the other by 1 cm.",
)  # fmt: skip

# Why the opening falls by 0.17 cm where line 24 of the grid falls by 1.04 cm.
EXERCISES["pharyngeal-ex-change"] = Choice(
    "c",
    ["a", "b", "c", "d"],
    hints={
        "a": "a slant makes a line read too much by a share, and in both frames: not six times.",
        "b": "tracing moves an opening by some hundredths of a centimetre.",
        "d": "alignment was exact here; these frames are drawn.",
    },
    right="one compares two places, the other one place in two frames.",
)  # fmt: skip


def needed(values: Sequence[float], share: float, power: int = 2) -> int:
    """How many values make this share of the sum of their squares, or of another `power`: a usual mistake."""
    parts = np.asarray(values, dtype=float) ** power
    return int(np.searchsorted(np.cumsum(parts) / parts.sum(), share - 1e-12)) + 1


# A function singular, share -> number of components that explain at least this share of the variance.
EXERCISES["pharyngeal-ex-components"] = Formula(
    needed,
    [
        ([10.0, 3.0, 1.0, 1.0], 0.95), ([5.0, 4.0, 3.0, 2.0, 1.0], 0.9), ([2.0, 2.0, 2.0, 2.0], 0.75),
        ([7.0, 1.0], 0.9), ([1.0] * 12, 0.95),
    ],
    [
        (lambda s, share: needed(s, share, 1), "a variance is the square of a singular value."),
        (lambda s, share: needed(s, share) - 1, "one too few: with this many the share is not reached."),
        (lambda s, share: needed(s, share) + 1, "one too many: the share is reached before."),
        (lambda s, share: sum(np.square(s) / np.sum(np.square(s)) >= 1 - share),
         "shares add up, component by component."),
    ],
    right="squares, summed up, over their sum.",
)  # fmt: skip

# A function start, end, rate -> number of frames whose middle lies between start and end (s).
EXERCISES["pharyngeal-ex-count"] = Formula(
    lambda s, e, r: math.ceil(e * r - 0.5) - math.ceil(s * r - 0.5),
    [(0.07, 0.11, 25.0), (0.025, 0.055, 25.0), (0.01, 0.07, 25.0), (0.11, 0.29, 25.0), (0.203, 0.412, 50.0)],
    [
        (lambda s, e, r: round((e - s) * r), "the length doesn't tell: a short stretch may lie between two middles."),
        (lambda s, e, r: max(math.floor(e * r) - math.ceil(s * r), 0),
         "these are the frames that lie in it whole; a middle is enough."),
        (lambda s, e, r: math.ceil(e * r) - math.floor(s * r),
         "the frames that it touches; their middle must lie in it."),
        (lambda s, e, r: math.ceil(e * r) - math.ceil(s * r),
         "the frames that begin in it; the middle is half a frame later."),
    ],
    right="from ⌈start · rate - 1/2⌉ to before ⌈end · rate - 1/2⌉.",
)  # fmt: skip


# The lab: a contour on every frame


def meets(
    foot: Array, way: Array, a: Array, b: Array, *, ends: bool = True, ahead: bool = True, share: bool = False
) -> float:
    """Where a line meets a piece; `ends`, `ahead` and `share` are what is right and a usual mistake each."""
    sides = np.column_stack([way, np.subtract(a, b)])
    if abs(np.linalg.det(sides)) <= 1e-12:
        return np.inf
    r, t = np.linalg.solve(sides, np.subtract(a, foot))
    if (ends and not 0 <= t <= 1) or (ahead and r < -1e-9):
        return np.inf
    return float(t if share else max(r, 0.0) if ahead else r)


def finite(distance: float) -> float:
    """Infinite becomes -1, which numbers can be compared with."""
    return -1.0 if np.isinf(distance) else distance


@EXERCISES.made("pharyngeal-contour-lab-meets")
def _() -> Stage:
    """Stage 1: (foot, way, a, b) -> how far along a line a piece is met; -1 if it is not."""
    rng = np.random.default_rng(96)
    o, down = np.zeros(2), np.array([0.0, 1.0])
    cases: list[Case] = [
        (o, down, np.array([-1.0, 2.0]), np.array([1.0, 2.0])), (o, down, np.array([1.0, 2.0]), np.array([3.0, 2.0])),
        (o, down, np.array([-1.0, -2.0]), np.array([1.0, -2.0])), (o, down, np.array([1.0, 0.0]), np.array([1.0, 3.0])),
    ]  # fmt: skip
    for _ in range(12):
        angle = rng.uniform(0, 2 * np.pi)
        cases.append((rng.normal(size=2), np.array([np.cos(angle), np.sin(angle)]), *rng.normal(0, 2, (2, 2))))
    return Stage(
        cases,
        lambda *case: finite(crossing(*case)),
        [
            (lambda *case: finite(meets(*case, ends=False)), "the piece ends: its share t lies between 0 and 1."),
            (lambda *case: finite(meets(*case, ahead=False)), "what lies behind the foot is not met: r is at least 0."),
            (lambda *case: finite(meets(*case, share=True)),
             "the distance r along the line is asked, not the share t of the piece."),
        ],
        "two equations, and two questions to their solution.",
    )  # fmt: skip


def reach(
    foot: Array, way: Array, contour: Array,
    *,
    closes: bool = False, last: bool = False, most: bool = False, none: bool = False,
) -> float:  # fmt: skip
    """The nearest crossing; `closes`, `last`, `most` and `none` (-1 counts as near) are usual mistakes."""
    pieces = [(contour[i], contour[i + 1]) for i in range(len(contour) - 1)]
    if closes:
        pieces.append((contour[-1], contour[0]))
    if none:
        return min(finite(crossing(foot, way, a, b)) for a, b in pieces)
    met = [d for d in (crossing(foot, way, a, b) for a, b in pieces) if np.isfinite(d)]
    if not met:
        return -1.0
    return met[-1] if last else max(met) if most else min(met)


@EXERCISES.made("pharyngeal-contour-lab-reach")
def _() -> Stage:
    """Stage 2: (foot, way, contour) -> the nearest place where a line meets a contour; -1 if none."""
    rng = np.random.default_rng(97)
    o, down = np.zeros(2), np.array([0.0, 1.0])
    fold = np.array([[-1.0, 5.0], [1.0, 5.0], [1.0, 2.0], [-1.0, 2.0], [-1.0, 3.0], [1.0, 3.0]])
    open_ = np.array([[-1.0, 1.0], [-2.0, 4.0], [3.0, 4.0]])
    cases: list[Case] = [(o, down, fold), (o, down, open_), (o, -down, fold)]
    cases += [(rng.normal(size=2), down, rng.normal(0, 2, (9, 2))) for _ in range(6)]
    return Stage(
        cases,
        reach,
        [
            (lambda *case: reach(*case, most=True), "the nearest of all crossings is asked."),
            (lambda *case: reach(*case, none=True), "-1 says that a piece is not met: it is no distance."),
            (lambda *case: reach(*case, last=True), "look at all pieces; the nearest of all crossings is asked."),
            (lambda *case: reach(*case, closes=True), "a contour is open: its last point is not joined to its first."),
        ],
        "piece by piece, and the nearest counts.",
    )  # fmt: skip


def waves(length: int, count: int, *, half: bool = True, first: bool = True, root: bool = True) -> Array:
    """Cosines; `half`, `first` and `root` are what is right and a usual mistake each."""
    p = np.arange(length) + (0.5 if half else 0.0)
    rows = np.cos(np.pi * np.arange(count)[:, None] * p / length) * (np.sqrt(2 / length) if root else 1.0)
    rows[0] /= np.sqrt(2) if first else 1.0
    return np.asarray(rows)


# Stage 3: (length, count) -> the slowest cosines, a row each.
EXERCISES["pharyngeal-contour-lab-waves"] = Stage(
    [(2, 2), (9, 4), (40, 12)],
    cosines,
    [
        (lambda *case: waves(*case, half=False), "a pixel's middle counts: p + 1/2."),
        (lambda *case: waves(*case, first=False),
         "the first row is constant, and has length 1 too: divide it by the root of 2 once more."),
        (lambda *case: waves(*case, root=False), "each row has length 1: the factor is the root of 2/N."),
        (lambda *case: waves(*case).T, "a row for each cosine, a column for each pixel."),
    ],
    "rows of length 1, square to each other.",
)  # fmt: skip


def slow(picture: Array, count: int, *, drops: int = 1, turned: bool = False) -> Array:
    """A picture's slow waves; `drops` (up to which i + j) and `turned` are what is right and a mistake."""
    C, D = cosines(picture.shape[0], count), cosines(picture.shape[1], count)
    Z = C @ picture @ D.T
    Z = Z.T if turned else Z
    return np.array([Z[i, j] for i in range(count) for j in range(count) if i + j > drops])


@EXERCISES.made("pharyngeal-contour-lab-slow")
def _() -> Stage:
    """Stage 4: (picture, count) -> its slow waves without brightness and its slopes."""
    rng = np.random.default_rng(98)
    return Stage(
        [(np.array([[1.0, 2.0], [3.0, 5.0]]), 2), (rng.random((9, 7)), 4), (rng.random((20, 30)), 12)],
        slow,
        [
            (lambda *case: slow(*case, drops=-1),
             "three of them change with the exposure: leave out where i + j is 0 or 1."),
            (lambda *case: slow(*case, drops=0), "the slopes of brightness go too: leave out where i + j is 0 or 1."),
            (lambda *case: slow(*case, turned=True), "row by row: i counts down the picture, j across it."),
        ],
        "a picture in few numbers.",
    )  # fmt: skip


def carry(
    seen: Array, traced: Array, new: Array,
    *,
    ridge: float = RIDGE, middle: bool = True, mean: bool = True, new_too: bool = True,
) -> Array:  # fmt: skip
    """Ridge regression; `ridge`, `middle`, `mean` and `new_too` are what is right and a usual mistake each."""
    Z = seen - seen.mean(axis=0) if middle else seen
    z = new - seen.mean(axis=0) if middle and new_too else new
    Y = traced - traced.mean(axis=0)
    G = Z @ Z.T
    weights = np.linalg.pinv(G + ridge * np.trace(G) * np.eye(len(G))) @ Z @ z
    return np.asarray(weights @ Y + (traced.mean(axis=0) if mean else 0.0))


@EXERCISES.made("pharyngeal-contour-lab-carry")
def _() -> Stage:
    """Stage 5: (seen, traced, new) -> the contour of a new frame, as the package's."""
    rng = np.random.default_rng(99)
    cases: list[Case] = [(np.array([[0.0], [2.0]]), np.array([[5.0], [6.0]]), np.array([1.0]))]
    cases += [(rng.normal(size=(6, 9)), rng.normal(size=(6, 4)), rng.normal(size=9)) for _ in range(3)]
    return Stage(
        cases,
        carried,
        [
            (lambda *case: carry(*case, ridge=0.0), "lambda, a thousandth of the trace, goes to the diagonal."),
            (lambda *case: carry(*case, middle=False),
             "descriptions count from their mean over the key frames, the new one too."),
            (lambda *case: carry(*case, new_too=False),
             "the new description counts from the mean of the key frames' descriptions, as they do."),
            (lambda *case: carry(*case, mean=False),
             "what comes out lies about the mean of what was traced: add it again."),
        ],
        "equal to the package's: who looks alike counts most.",
        tolerance=1e-6,
    )  # fmt: skip


def every(
    keys: list[Array], traced: Array, pictures: list[Array], *, tells: Callable[[Array], Array] = described
) -> Array:
    """Contours of all pictures; another way in which a description `tells` of a picture is a usual mistake."""
    seen = np.array([tells(picture) for picture in keys])
    return np.array([carried(seen, traced, tells(picture)) for picture in pictures])


@functools.cache  # a check hands out copies
def film(seed: int) -> tuple[list[Array], Array, list[Array]]:
    """Key pictures of the hyoid bone, what was traced on them, and pictures to be found."""
    postures, film = organs.film(12, np.random.default_rng([95, seed]))
    place = keyframes.window("hyoid")
    cut = [frame.image[place] for frame in film]
    bones = np.array([organs.contours(posture)["hyoid"].ravel() for posture in postures])
    return cut[::2], bones[::2], cut[1:6:2]


@EXERCISES.made("pharyngeal-contour-lab-every")
def _() -> Stage:
    """Stage 6: (keys, traced, pictures) -> a contour for each picture of a film."""
    return Stage(
        [film(1), film(2)],
        every,
        [
            (lambda *case: every(*case, tells=np.ravel),
             "describe each picture first: pixels hold grain and exposure."),
            (lambda *case: every(*case, tells=lambda picture: slow(picture, 6)), "twelve waves in either direction."),
            (lambda keys, traced, pictures: [traced.mean(axis=0) for _ in pictures],
             "this is the mean of all tracings, whatever the picture shows."),
        ],
        "equal to the package's on films that you had not seen.",
        tolerance=1e-6,
    )  # fmt: skip


def drawn(every: Callable[[list[Array], Array, list[Array]], Any], seed: int = 12) -> Any:
    """Draw the hyoid bone that a function carries to a frame nobody traced, over that frame."""
    postures, film = organs.film(61, np.random.default_rng(seed))
    traced = [organs.contours(posture) for posture in postures]
    place = keyframes.window("hyoid")
    cut = [frame.image[place] for frame in film]
    bones = np.array([contours["hyoid"].ravel() for contours in traced[:60:3]])
    (found,) = np.asarray(every(cut[:60:3], bones, [cut[40]]), float)
    return figures.organs(film[40], {"hyoid": found.reshape(-1, 2)}, {"hyoid": traced[40]["hyoid"]})

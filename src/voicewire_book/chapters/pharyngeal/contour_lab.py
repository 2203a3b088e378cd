"""The checks of the lab of *Measuring articulators from images*: a contour on every frame, built in six stages.

Points and contours are in cm; the last two stages are to equal the package's reading version.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voicewire.pharyngeal import keyframes, organs
from voicewire.pharyngeal.reference import carried, cosines, crossing
from voicewire_book.chapters.pharyngeal import figures
from voicewire_book.chapters.pharyngeal._contour_lab import carry, every, film, finite, meets, reach, right, slow, waves
from voicewire_book.kit._student import Case, staged
from voicewire_book.kit.exercises import Feedback

__all__ = [
    "check_carry",
    "check_every",
    "check_meets",
    "check_reach",
    "check_slow",
    "check_waves",
    "drawn",
]

Array = NDArray[Any]


def drawn(every: Callable[[list[Array], Array, list[Array]], Any], seed: int = 12) -> Any:
    """Draw the hyoid bone that a function carries to a frame nobody traced, over that frame."""
    postures, film = organs.film(61, np.random.default_rng(seed))
    traced = [organs.contours(posture) for posture in postures]
    place = keyframes.window("hyoid")
    cut = [frame.image[place] for frame in film]
    bones = np.array([contours["hyoid"].ravel() for contours in traced[:60:3]])
    (found,) = np.asarray(every(cut[:60:3], bones, [cut[40]]), float)
    return figures.organs(film[40], {"hyoid": found.reshape(-1, 2)}, {"hyoid": traced[40]["hyoid"]})


def check_meets(answer: object) -> Feedback:
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
    return staged(
        answer,
        cases,
        lambda *case: finite(crossing(*case)),
        [
            (lambda *case: finite(meets(*case, ends=False)), "the piece ends: its share t lies between 0 and 1."),
            (lambda *case: finite(meets(*case, ahead=False)), "what lies behind the foot is not met: r is at least 0."),
            (
                lambda *case: finite(meets(*case, share=True)),
                "the distance r along the line is asked, not the share t of the piece.",
            ),
        ],
        "two equations, and two questions to their solution.",
    )


def check_reach(answer: object) -> Feedback:
    """Stage 2: (foot, way, contour) -> the nearest place where a line meets a contour; -1 if none."""
    rng = np.random.default_rng(97)
    o, down = np.zeros(2), np.array([0.0, 1.0])
    fold = np.array([[-1.0, 5.0], [1.0, 5.0], [1.0, 2.0], [-1.0, 2.0], [-1.0, 3.0], [1.0, 3.0]])
    open_ = np.array([[-1.0, 1.0], [-2.0, 4.0], [3.0, 4.0]])
    cases: list[Case] = [(o, down, fold), (o, down, open_), (o, -down, fold)]
    cases += [(rng.normal(size=2), down, rng.normal(0, 2, (9, 2))) for _ in range(6)]
    return staged(
        answer,
        cases,
        reach,
        [
            (lambda *case: reach(*case, most=True), "the nearest of all crossings is asked."),
            (lambda *case: reach(*case, none=True), "-1 says that a piece is not met: it is no distance."),
            (lambda *case: reach(*case, last=True), "look at all pieces; the nearest of all crossings is asked."),
            (lambda *case: reach(*case, closes=True), "a contour is open: its last point is not joined to its first."),
        ],
        "piece by piece, and the nearest counts.",
    )


def check_waves(answer: object) -> Feedback:
    """Stage 3: (length, count) -> the slowest cosines, a row each."""
    return staged(
        answer,
        [(2, 2), (9, 4), (40, 12)],
        cosines,
        [
            (lambda *case: waves(*case, half=False), "a pixel's middle counts: p + 1/2."),
            (
                lambda *case: waves(*case, first=False),
                "the first row is constant, and has length 1 too: divide it by the root of 2 once more.",
            ),
            (lambda *case: waves(*case, root=False), "each row has length 1: the factor is the root of 2/N."),
            (lambda *case: waves(*case).T, "a row for each cosine, a column for each pixel."),
        ],
        "rows of length 1, square to each other.",
    )


def check_slow(answer: object) -> Feedback:
    """Stage 4: (picture, count) -> its slow waves without brightness and its slopes."""
    rng = np.random.default_rng(98)
    return staged(
        answer,
        [(np.array([[1.0, 2.0], [3.0, 5.0]]), 2), (rng.random((9, 7)), 4), (rng.random((20, 30)), 12)],
        slow,
        [
            (
                lambda *case: slow(*case, drops=-1),
                "three of them change with the exposure: leave out where i + j is 0 or 1.",
            ),
            (lambda *case: slow(*case, drops=0), "the slopes of brightness go too: leave out where i + j is 0 or 1."),
            (lambda *case: slow(*case, turned=True), "row by row: i counts down the picture, j across it."),
        ],
        "a picture in few numbers.",
    )


def check_carry(answer: object) -> Feedback:
    """Stage 5: (seen, traced, new) -> the contour of a new frame, as the package's."""
    rng = np.random.default_rng(99)
    cases: list[Case] = [(np.array([[0.0], [2.0]]), np.array([[5.0], [6.0]]), np.array([1.0]))]
    cases += [(rng.normal(size=(6, 9)), rng.normal(size=(6, 4)), rng.normal(size=9)) for _ in range(3)]
    return staged(
        answer,
        cases,
        carried,
        [
            (lambda *case: carry(*case, ridge=0.0), "lambda, a thousandth of the trace, goes to the diagonal."),
            (
                lambda *case: carry(*case, middle=False),
                "descriptions count from their mean over the key frames, the new one too.",
            ),
            (
                lambda *case: carry(*case, new_too=False),
                "the new description counts from the mean of the key frames' descriptions, as they do.",
            ),
            (
                lambda *case: carry(*case, mean=False),
                "what comes out lies about the mean of what was traced: add it again.",
            ),
        ],
        "equal to the package's: who looks alike counts most.",
        tolerance=1e-6,
    )


def check_every(answer: object) -> Feedback:
    """Stage 6: (keys, traced, pictures) -> a contour for each picture of a film."""
    return staged(
        answer,
        [film(1), film(2)],
        right,
        [
            (lambda *case: every(*case, raw=True), "describe each picture first: pixels hold grain and exposure."),
            (lambda *case: every(*case, count=6), "twelve waves in either direction."),
            (
                lambda keys, traced, pictures: np.array([traced.mean(axis=0) for _ in pictures]),
                "this is the mean of all tracings, whatever the picture shows.",
            ),
        ],
        "equal to the package's on films that you had not seen.",
        tolerance=1e-6,
    )

"""A question of an exam paper with the steps that earn its points, its numbers drawn from a generator.

Each part has its own in ``chapters/<part>/exam.py``: a function ``questions(rng)``. The same state of the generator
gives the same paper, and its marking scheme.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass

import numpy as np

__all__ = ["Question", "Step", "shown"]


def generator(seed: int, purpose: str) -> np.random.Generator:
    """Return the generator for one purpose of a reader's seed, which is no secret (see `course.secret`)."""
    return np.random.default_rng(np.random.SeedSequence([seed, zlib.crc32(purpose.encode())]))


@dataclass(frozen=True)
class Step:
    """What earns points.

    Attributes
    ----------
    points : int
        For this step alone, whatever was wrong before it.
    words : str
        What has to stand there, in the book's Markdown.
    """

    points: int
    words: str


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes
    ----------
    title : str
        Its heading.
    text : str
        What is asked, in the book's Markdown, with the numbers drawn.
    steps : tuple of Step
        How it is marked.
    answer : float
        The number asked, by the steps of the scheme; NaN where none is asked.
    again : float
        The same by another way: the package's own function, a simulation, or the formula solved back.
    lines : int
        Lines to write on in the booklet.
    """

    title: str
    text: str
    steps: tuple[Step, ...]
    answer: float = float("nan")
    again: float = float("nan")
    lines: int = 14

    @property
    def points(self) -> int:
        """What the whole question is worth."""
        return sum(step.points for step in self.steps)

    @property
    def minutes(self) -> int:
        """The time that it is meant for: a minute and a half for each point."""
        return round(1.5 * self.points)


def shown(value: float, digits: int = 3) -> str:
    """Return a number as a scheme shows it."""
    if value == int(value) and abs(value) < 1e9:
        return str(int(value))
    if 1e-4 <= abs(value) < 1e9:
        places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
        return f"{value:.{places}f}"
    mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
    return f"{mantissa} \\cdot 10^{{{int(power)}}}"

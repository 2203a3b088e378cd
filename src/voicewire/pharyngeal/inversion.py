"""From formants back to a tract, and why there is never only one.

Explained in notebook ``04_reproduction``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from voicewire._kit import checks
from voicewire.pharyngeal import tract
from voicewire.pharyngeal.tract import LIMITS, Articulation

__all__ = ["NAMES", "Solution", "family", "invert"]

Array = NDArray[np.float64]
NAMES: Final = tuple(field.name for field in fields(Articulation))
# /a/ is an open vowel: the tip is down, and the dorsum does not close the mouth. Assumption.
FREE: Final = ("body", "dorsum", "root", "root_place", "jaw", "lips")


@dataclass(frozen=True)
class Solution:
    """A configuration with (nearly) the wanted formants.

    Attributes
    ----------
    articulation : Articulation
        The configuration.
    formants : ndarray of float
        Its formants, Hz, shape (k,).
    error : float
        Largest relative error of a formant.

    Examples
    --------
    >>> import numpy as np
    >>> Solution(Articulation(), np.array([500.0, 1500.0]), 0.01).formants.tolist()
    [500.0, 1500.0]
    """

    articulation: Articulation
    formants: Array
    error: float


@checks.takes(
    target=checks.array(low=1.0, high=20_000.0), start=checks.a(Articulation),
    free=checks.each(checks.one_of(*NAMES)), effort=checks.number(0.0, 1e6),
)  # fmt: skip
def invert(
    target: Sequence[float] | Array,
    start: Articulation,
    free: Iterable[str] = FREE,
    effort: float = 0.02,
) -> Solution:
    """Find a configuration near ``start`` with given formants.

    Parameters
    ----------
    target : array_like of float
        F1, F2... in Hz; as many formants as are given are matched.
    start : Articulation
        Where the search begins; articulators that are not free stay there.
    free : iterable of str
        Names of the articulators that may move.
    effort : float
        Weight of staying near ``start``: the relative formant error that one full range of movement is worth.

    Returns
    -------
    Solution

    Raises
    ------
    ValueError
        For targets that are no rising row of positive numbers, or unknown articulators.

    Examples
    --------
    >>> start = Articulation()
    >>> found = invert(tract.formants(start).frequencies[:2], start, ("body", "root"))
    >>> found.error < 0.01
    True
    """
    goal = np.asarray(target, dtype=float)
    if goal.ndim != 1 or goal.size == 0 or not (np.diff(goal, prepend=0.0) > 0).all():
        raise ValueError("target must be formants in Hz, lowest first")
    names = list(free)
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise ValueError(f"unknown articulators {', '.join(unknown)}; there are {', '.join(NAMES)}")
    low, high = (np.array([LIMITS[name][i] for name in names]) for i in (0, 1))
    first = np.array([getattr(start, name) for name in names])

    def build(position: Array) -> Articulation:
        return tract.moved(start, **{n: float(p - getattr(start, n)) for n, p in zip(names, position, strict=True)})

    def cost(position: Array) -> Array:
        found = tract.formants(build(position), goal.size).frequencies
        if not np.isfinite(found).all():
            return np.full(goal.size + len(names), 1.0)
        return np.concatenate([np.log(found / goal), effort * (position - first) / (high - low)])

    result = least_squares(
        cost,
        np.clip(first, low + 1e-6, high - 1e-6),
        bounds=(low, high),
        x_scale=high - low,
        diff_step=1e-3,
        max_nfev=40,
    )
    solved = build(result.x)
    found = tract.formants(solved, goal.size).frequencies
    return Solution(solved, found, float(np.max(np.abs(found / goal - 1))))


@checks.takes(
    target=checks.array(low=1.0, high=20_000.0), rng=checks.generator, starts=checks.whole(1, 10**6),
    larynx=checks.number(*LIMITS["larynx"]), tolerance=checks.number(0.0, 10.0),
    free=checks.each(checks.one_of(*NAMES)),
)  # fmt: skip
def family(
    target: Sequence[float] | Array,
    rng: np.random.Generator,
    starts: int = 40,
    larynx: float = 0.36,
    tolerance: float = 0.01,
    free: Iterable[str] = FREE,
) -> list[Solution]:
    """Find many different configurations with the same formants, from random starts.

    Parameters
    ----------
    target : array_like of float
        Formants, Hz.
    rng : Generator
        Random generator of the starts.
    starts : int
        How many searches.
    larynx : float
        Rise of the larynx (cm) in all of them: the paper measured it.
    tolerance : float
        Largest relative error of a formant in a solution that is kept.
    free : iterable of str
        Articulators that may move.

    Returns
    -------
    list of Solution
        Those that match, possibly fewer than ``starts``.

    Examples
    --------
    >>> family(np.array([600.0, 1300.0]), 3, seed=1)  # doctest: +SKIP
    """
    kept = []
    names = tuple(free)
    for _ in range(starts):
        drawn = {name: float(rng.uniform(*LIMITS[name])) for name in names}
        found = invert(target, Articulation(**{"larynx": larynx, **drawn}), names, effort=0.005)
        if found.error <= tolerance:
            kept.append(found)
    return kept

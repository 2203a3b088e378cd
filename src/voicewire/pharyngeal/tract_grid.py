"""A grid adapted to the speaker: lines across the tract, drawn once at rest and used for every frame.

A line stands upright on the speaker's own palate and rear wall, as the angular reference of the paper does on tracing
paper: parallel lines in the mouth and in the pharynx, a fan between them around one centre. Where a line crosses the
wall and the tongue, their distance along it is read. `reference.crossing` is one crossing to read. Explained in
notebook ``03_articulators``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voicewire._kit import checks

__all__ = ["Grid", "adapted"]

Array = NDArray[np.float64]
_CURVE = checks.array(2, least=3, columns=2, low=-1e3, high=1e3)


@dataclass(frozen=True)
class Grid:
    """Lines of a speaker's grid.

    Attributes
    ----------
    feet : ndarray of float, shape (n, 2)
        Where each line crosses the speaker's wall, cm from the incisor, front to back.
    directions : ndarray of float, shape (n, 2)
        Into the tract, of length 1.

    Examples
    --------
    >>> Grid(np.zeros((1, 2)), np.array([[0.0, 1.0]])).feet.shape
    (1, 2)
    """

    feet: Array
    directions: Array

    def __post_init__(self) -> None:
        points = checks.array(2, columns=2, low=-1e3, high=1e3)
        checks.fields(self, ValueError, feet=points, directions=points)
        if self.feet.shape != self.directions.shape:
            raise ValueError(f"{len(self.feet)} feet and {len(self.directions)} directions: give one of each a line")

    @checks.takes(contour=checks.array(2, least=2, columns=2, low=-1e3, high=1e3))
    def distances(self, contour: Array) -> Array:
        """Return how far along each line a contour is met first, cm from the wall; NaN where it is not.

        Parameters
        ----------
        contour : ndarray of float, shape (m, 2)
            The tongue, say; cm from the incisor.

        Returns
        -------
        ndarray of float, shape (n,)
        """
        step = np.diff(contour, axis=0)
        apart = contour[None, :-1] - self.feet[:, None]
        along, across = self.directions[:, None, 0], self.directions[:, None, 1]
        turned = along * step[None, :, 1] - across * step[None, :, 0]  # zero where a piece lies along the line
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = (apart[..., 0] * step[None, :, 1] - apart[..., 1] * step[None, :, 0]) / turned
            share = (apart[..., 0] * across - apart[..., 1] * along) / turned
        met = (np.abs(turned) > 1e-12) & (share >= 0) & (share <= 1) & (reach >= -1e-9)
        nearest = np.where(met, reach, np.inf).min(axis=1)
        return np.where(np.isfinite(nearest), np.maximum(nearest, 0.0), np.nan)

    @property
    def places(self) -> Array:
        """The length along the wall from the first foot to each, straight from foot to foot, cm."""
        return np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(self.feet, axis=0).T))])


@checks.takes(wall=_CURVE, mouth=checks.whole(1, 1000), fan=checks.whole(1, 1000), pharynx=checks.whole(1, 1000))
def adapted(wall: Array, mouth: int = 8, fan: int = 12, pharynx: int = 10) -> Grid:
    """Draw the grid of a speaker: upright lines to the highest point of the palate, a fan, level lines from there.

    Parameters
    ----------
    wall : ndarray of float, shape (n, 2)
        The speaker's palate and rear wall of the pharynx, from the incisor back and down, cm.
    mouth, fan, pharynx : int
        How many lines each part has.

    Returns
    -------
    Grid

    Raises
    ------
    ValueError
        If the wall does not rise to a palate and come down behind it.

    Examples
    --------
    The first line stands at the incisor, the last at the larynx.

    >>> from voicewire.pharyngeal.tract import Articulation, outline
    >>> grid = adapted(outline(Articulation()).wall)
    >>> grid.feet[[0, -1], 1].round(2).tolist()
    [0.0, 6.17]
    """
    top = int(np.argmin(wall[:, 1]))
    steps = np.diff(wall, axis=0)
    steep = np.flatnonzero(steps[top:, 1] > np.cos(np.radians(10)) * np.hypot(*steps[top:].T))
    if top == 0 or not steep.size or (steps[:top, 0] <= 0).any():
        raise ValueError("the wall must run back from the incisor, up to the palate and down the rear of the pharynx")
    corner = top + int(steep[0])
    centre = np.array([wall[top, 0], wall[corner, 1]])
    arch = wall[top : corner + 1] - centre
    angle = np.arctan2(-arch[:, 1], arch[:, 0])  # from upright, pi / 2, to level, 0
    if (np.diff(angle) >= 0).any() or (np.diff(wall[corner:, 1]) <= 0).any():
        raise ValueError("the wall turns back on itself: trace it once from the incisor to the larynx")
    x = np.linspace(wall[0, 0], wall[top, 0], mouth, endpoint=False)
    turned = np.linspace(np.pi / 2, 0.0, fan, endpoint=False)
    depth = np.linspace(wall[corner, 1], wall[-1, 1], pharynx)
    rays = np.column_stack([np.cos(turned), -np.sin(turned)])
    radius = np.interp(-turned, -angle, np.hypot(*arch.T))
    feet = [
        np.column_stack([x, np.interp(x, *wall[: top + 1].T)]), centre + radius[:, None] * rays,
        np.column_stack([np.interp(depth, wall[corner:, 1], wall[corner:, 0]), depth]),
    ]  # fmt: skip
    inward = [np.tile([0.0, 1.0], (mouth, 1)), -rays, np.tile([-1.0, 0.0], (pharynx, 1))]
    return Grid(np.vstack(feet), np.vstack(inward))

"""Semi-automatic tracking: contours traced by hand on a few key frames are carried to all frames of a film.

The part of a frame around an organ is described by the low frequencies of its cosine transform (Fontecave Jallon and
Berthommier 2009); a ridge regression learns from the key frames how these move the contour. `reference.carried` is the
same to read. Explained in notebook ``03_articulators``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from voicewire._kit import checks
from voicewire.pharyngeal.films import xray_film
from voicewire.pharyngeal.reference import COARSE, RIDGE, cosines

__all__ = ["WINDOWS", "KeyTracker"]

Array = NDArray[np.float64]

WINDOWS: Final = {
    "lips": (-2.0, 0.3, -1.8, 3.4), "jaw": (-0.3, 1.9, 0.9, 4.5), "velum": (5.2, 8.8, -3.0, 1.8),
    "hyoid": (4.2, 6.2, 2.8, 5.2), "lower pharynx": (5.8, 8.2, 2.2, 7.2),
}  # fmt: skip
"""Where an organ is looked for, cm from the incisor: from and to behind it, from and to below it."""


def window(name: str) -> tuple[slice, slice]:
    """Return the rows and columns of a frame in which an organ lies."""
    left, right, top, bottom = WINDOWS[name]
    (row, column), (last_row, last_column) = (
        xray_film.pixels(np.array([(left, top), (right, bottom)])).round().astype(int)
    )
    return slice(int(row), int(last_row)), slice(int(column), int(last_column))


_CONTOUR = checks.array(2, columns=2, low=-100.0, high=100.0)


def _tracing(name: str, value: Any, error: type[ValueError]) -> Mapping[str, Array]:
    """Contours by organ (a rule)."""
    if not isinstance(value, Mapping):
        raise error(f"{name} must be a mapping of organs to contours, not {value!r:.40}")
    unknown = [str(organ) for organ in value if organ not in WINDOWS]
    if unknown or not value:
        raise error(f"{name} has {', '.join(unknown)[:80] or 'no organ'}; there are {', '.join(WINDOWS)}")
    return {organ: _CONTOUR(f"{name}[{organ!r}]", contour, error) for organ, contour in value.items()}


class KeyTracker:
    """Track organs by what was traced on key frames.

    Parameters
    ----------
    images : sequence of ndarray of float, shape (256, 256)
        The key frames, at least two.
    traced : sequence of mapping of str to ndarray of float, shape (n, 2)
        The contours traced on each, by organ, cm from the incisor; the organs of `WINDOWS`, all or some.

    Raises
    ------
    ValueError
        If frames and tracings differ in number, or tracings in their organs or points.

    Examples
    --------
    >>> from voicewire.pharyngeal.films import organs
    >>> postures, frames = organs.film(20, np.random.default_rng(1))
    >>> tracker = KeyTracker([f.image for f in frames], [organs.contours(p) for p in postures])
    >>> wrong = tracker.track(frames[0].image)["hyoid"] - organs.contours(postures[0])["hyoid"]
    >>> bool(np.abs(wrong).mean() < 0.05)
    True
    """

    @checks.takes(
        images=checks.each(checks.plain, least=2),
        traced=checks.each(_tracing, least=2),
    )
    def __init__(self, images: Sequence[Array], traced: Sequence[Mapping[str, Array]]) -> None:
        if len(images) != len(traced):
            raise ValueError(f"{len(images)} key frames and {len(traced)} tracings: give one tracing a frame")
        shapes = {name: contour.shape for name, contour in traced[0].items()}
        if any({name: contour.shape for name, contour in each.items()} != shapes for each in traced):
            raise ValueError("the tracings differ in their organs or in the number of points: trace the same on each")
        greys = [xray_film.grey(image) for image in images]
        self._places = {name: window(name) for name in shapes}
        self._shapes = shapes
        self._across = {
            name: tuple(cosines(place.stop - place.start, COARSE) for place in places)
            for name, places in self._places.items()
        }
        self._learned = {name: self._learn(name, greys, traced) for name in shapes}

    def _learn(
        self, name: str, greys: Sequence[Array], traced: Sequence[Mapping[str, Array]]
    ) -> tuple[Array, Array, Array]:
        """Return mean description, mean contour and the matrix from one to the other."""
        seen = np.array([self._waves(name, grey) for grey in greys])
        drawn = np.array([each[name].ravel() for each in traced])
        middle, contour = seen.mean(axis=0), drawn.mean(axis=0)
        spread = (seen - middle) @ (seen - middle).T
        ridge = RIDGE * float(np.trace(spread))
        if ridge == 0:
            raise ValueError(f"the key frames show the {name} all alike: choose frames that differ")
        weights = np.linalg.solve(spread + ridge * np.eye(len(seen)), drawn - contour)
        return middle, contour, (seen - middle).T @ weights

    def describe(self, name: str, image: Array) -> Array:
        """Return the low frequencies of the part of a frame around an organ, without its mean and its slopes.

        Parameters
        ----------
        name : str
            The organ.
        image : ndarray of float, shape (256, 256)
            A frame.

        Returns
        -------
        ndarray of float, shape (141,)
        """
        if name not in self._places:
            raise ValueError(f"{name!r:.40} was not traced on the key frames; traced were {', '.join(self._places)}")
        return self._waves(name, xray_film.grey(image))

    def _waves(self, name: str, grey: Array) -> Array:
        down, across = self._across[name]
        waves = down @ grey[self._places[name]] @ across.T
        return np.concatenate([waves[0, 2:], waves[1, 1:], waves[2:].ravel()])

    def track(self, image: Array) -> dict[str, Array]:
        """Return the contour of each organ on a frame.

        Parameters
        ----------
        image : ndarray of float, shape (256, 256)
            A frame.

        Returns
        -------
        dict of str to ndarray of float, shape (n, 2)
            By organ, cm from the incisor.

        Raises
        ------
        ValueError
            If the image is no 256 x 256 frame.
        """
        grey = xray_film.grey(image)
        found = {}
        for name, (middle, contour, matrix) in self._learned.items():
            found[name] = (contour + (self._waves(name, grey) - middle) @ matrix).reshape(self._shapes[name])
        return found

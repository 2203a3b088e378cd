"""Synthetic x-ray frames of the tract, and a contour tracker that knows nothing of how they were made.

Frames have what makes real ones hard: blur, grain, uneven exposure, and patches that hide the contour. The tracker
unwraps a frame along the known wall, where the tongue is one line from front to back, and finds that line as the path
of least cost (scikit-image). Explained in notebook ``03_articulators``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.interpolate import PchipInterpolator

from voicewire._kit import checks
from voicewire._kit._optional import needed
from voicewire.pharyngeal import tract
from voicewire.pharyngeal.tract import Articulation, Outline

__all__ = ["ORIGIN", "PIXEL", "RANGES", "Frame", "Tracker", "film", "grey", "pixels", "render", "wander"]

Array = NDArray[np.float64]

PIXEL: Final = 0.05  # cm; a frame of 256 x 256 covers 12.8 cm, about what old cine films resolve
SIZE: Final = 256
ORIGIN: Final = (2.0, 3.2)  # cm: where the incisor lies in the frame (x, y)
_DEPTH: Final = 2.8  # cm: how far from the wall the tongue is searched
_COLUMNS: Final = 112
_ROWS: Final = 71
_REACH: Final = 6  # pixels: a Gaussian of 1 pixel, cut at 4, and one of interpolation
_AIR, _TISSUE, _BONE = 0.25, 0.6, 0.85
_GREY = checks.array(2, low=-2.0, high=3.0)


def grey(image: Array) -> Array:
    """Return the grey values of a frame with full scale 1, whatever type it is stored in."""
    found: NDArray[Any] = checks.plain("image", image, ValueError)
    if found.dtype in (np.uint8, np.uint16):
        found = found / np.iinfo(found.dtype).max
    elif found.dtype.kind in "iu" and found.size:
        raise ValueError(f"image holds whole numbers ({found.dtype}), whose full scale is unknown: divide them by it")
    frame: Array = _GREY("image", image if found.dtype == object else found, ValueError)
    if frame.shape != (SIZE, SIZE):
        raise ValueError(f"a frame is {SIZE} x {SIZE} pixels, image is {frame.shape}; crop or resample it")
    return frame


@dataclass(frozen=True)
class Frame:
    """A synthetic frame and its truth.

    Attributes
    ----------
    image : ndarray of float
        Grey values, shape (256, 256).
    outline : Outline
        The configuration it shows.
    hidden : tuple[tuple[float, float], ...]
        Stretches of the wall (cm from the incisor) in which a patch hides the contour.

    Examples
    --------
    >>> film(1, np.random.default_rng(1))[0].image.shape
    (256, 256)
    """

    image: Array
    outline: Outline
    hidden: tuple[tuple[float, float], ...]


@checks.takes(points=checks.array(2, columns=2))
def pixels(points: Array) -> Array:
    """Turn points (cm from the incisor) into rows and columns of a frame, shape (n, 2)."""
    return np.column_stack([(points[:, 1] + ORIGIN[1]) / PIXEL, (points[:, 0] + ORIGIN[0]) / PIXEL])


def _layered(name: str, value: Any, error: type[ValueError]) -> list[tuple[Array, float]]:
    """Outlines with their grey values (a rule)."""
    try:
        pairs = [(outline, grey) for outline, grey in value]
    except (TypeError, ValueError):
        raise error(f"{name} must be pairs of an outline and its grey value") from None
    outline, grey = checks.array(2, least=3, columns=2, low=-1e3, high=1e3), checks.number()
    return [(outline(f"an outline in {name}", o, error), grey(f"a grey value in {name}", g, error)) for o, g in pairs]


@checks.takes(
    articulation=checks.a(Articulation), rng=checks.generator, noise=checks.number(0.0, 10.0),
    blur=checks.number(0.0, 50.0), occlusions=checks.whole(0, 1000), layers=_layered,
)  # fmt: skip
def render(
    articulation: Articulation,
    rng: np.random.Generator,
    *,
    noise: float = 0.05,
    blur: float = 1.2,
    occlusions: int = 2,
    layers: Sequence[tuple[Array, float]] = (),
) -> Frame:
    """Draw a frame of a configuration.

    Parameters
    ----------
    articulation : Articulation
        What to draw.
    rng : Generator
        Random generator for grain, exposure and patches.
    noise : float
        Standard deviation of the grain (tissue differs from air by 0.35).
    blur : float
        Standard deviation of the blur, pixels.
    occlusions : int
        How many round patches (fillings, clips) lie on the tongue's contour.
    layers : sequence of (ndarray, float)
        Further closed outlines, cm from the incisor, shape (n, 2), and their grey values; a later one covers others.

    Returns
    -------
    Frame

    Examples
    --------
    >>> render(Articulation(), np.random.default_rng(1)).image.shape
    (256, 256)
    """
    with needed():
        from skimage.draw import disk, polygon

    shape = tract.outline(articulation)
    image = np.full((SIZE, SIZE), _TISSUE)
    points, normals = tract.wall(shape.place)
    bone = pixels(np.vstack([points, (points - 0.45 * normals)[::-1]]))
    image[polygon(bone[:, 0], bone[:, 1], (SIZE, SIZE))] = _BONE
    air = pixels(np.vstack([shape.wall, shape.tongue[::-1]]))
    image[polygon(air[:, 0], air[:, 1], (SIZE, SIZE))] = _AIR
    for outline, value in layers:
        corners = pixels(outline)
        image[polygon(corners[:, 0], corners[:, 1], (SIZE, SIZE))] = value
    hidden = []
    for _ in range(occlusions):
        centre = float(rng.uniform(2.5, shape.place[-1] - 1.5))
        radius = float(rng.uniform(0.2, 0.35))
        at = np.array([[np.interp(centre, shape.place, shape.tongue[:, i]) for i in range(2)]])
        rows, columns = disk(tuple(pixels(at)[0]), radius / PIXEL, shape=(SIZE, SIZE))
        image[rows, columns] = float(rng.choice([0.05, 0.95]))
        hidden.append((centre - radius, centre + radius))
    image = ndimage.gaussian_filter(image, blur)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    image = image + rng.uniform(-0.08, 0.08) * xx + rng.uniform(-0.08, 0.08) * yy
    image += rng.normal(scale=noise, size=image.shape)
    return Frame(image, shape, tuple(hidden))


class Tracker:
    """Track the tongue by a minimal path in the unwrapped frame.

    Parameters
    ----------
    larynx : float
        Depth (cm) down to which the contour is searched; the lowest larynx of a film.

    Examples
    --------
    >>> shown = film(1, np.random.default_rng(1))[0]
    >>> tracker = Tracker(shown.outline.larynx)
    >>> wrong = tracker.track(shown.image) - tracker.truth(shown.outline)
    >>> bool(np.median(np.abs(wrong)) < 0.05)
    True
    """

    @checks.takes(larynx=checks.number(3.0, 7.9))
    def __init__(self, larynx: float = 5.0) -> None:
        if not 3.0 <= larynx <= 7.9:
            raise ValueError(f"a larynx at {larynx!r} cm is outside 3 to 7.9 cm below the incisor")
        self.place = np.linspace(0.0, tract.wall_length(larynx), _COLUMNS)
        self.depth = np.linspace(-0.15, _DEPTH, _ROWS)
        self._points, self._normals = tract.wall(self.place)
        grid = self._points[None] + self.depth[:, None, None] * self._normals[None]
        where = pixels(grid.reshape(-1, 2)).T
        # only what lies within the filter's reach of the wall is smoothed; whole pixels are subtracted without rounding
        low = np.clip(np.floor(where.min(axis=1)).astype(int) - _REACH, 0, SIZE)
        high = np.clip(np.ceil(where.max(axis=1)).astype(int) + _REACH + 1, 0, SIZE)
        self._cut = (slice(int(low[0]), int(high[0])), slice(int(low[1]), int(high[1])))
        self._where = where - low[:, None]

    def unwrap(self, image: Array) -> Array:
        """Return the frame along the wall: a column for each place, a row for each depth, shape (71, 112).

        Parameters
        ----------
        image : ndarray of float, shape (256, 256)
            A frame.

        Returns
        -------
        ndarray of float, shape (71, 112)
        """
        smooth = ndimage.gaussian_filter(grey(image)[self._cut], 1.0)
        flat = ndimage.map_coordinates(smooth, self._where, order=1, mode="nearest")
        return np.asarray(flat.reshape(_ROWS, _COLUMNS))

    def edge(self, image: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return how strongly air turns into tissue with depth, and which columns can be trusted.

        Parameters
        ----------
        image : ndarray of float, shape (256, 256)
            A frame.

        Returns
        -------
        tuple of ndarray
            Edge strength per cm, shape (71, 112); and, shape (112,), whether no patch brighter than tissue or darker
            than air (metal, clips) covers that column.
        """
        unwrapped = self.unwrap(image)
        self._check_contrast(unwrapped)
        rise = ndimage.gaussian_filter1d(unwrapped, 1.5, axis=0, order=1) / (self.depth[1] - self.depth[0])
        # beyond the wall lies bone; nothing there can be the tongue
        rise[self.depth < 0.02] = 0.0
        tissue = ndimage.median_filter(np.median(unwrapped[-12:], axis=0), 25)
        odd = (unwrapped > tissue + 0.12) | (unwrapped < tissue - 0.48)
        odd = ndimage.binary_opening(odd[self.depth > 0.2], iterations=1)
        covered = ndimage.binary_dilation(odd.any(axis=0), iterations=2)
        return np.clip(rise, 0.0, None), ~covered

    def _check_contrast(self, unwrapped: Array) -> None:
        """Refuse a frame whose grey values mean something else: what is air and what is tissue is told by them."""
        tissue = float(np.median(unwrapped[-12:]))
        air = float(np.percentile(unwrapped[(self.depth > 0.1) & (self.depth < 1.2)], 20))
        if not 0.4 <= tissue <= 0.8 or not 0.25 <= tissue - air <= 0.45:
            raise ValueError(
                f"image has tissue at a grey value of {tissue:.2f} and air at {air:.2f}, {_TISSUE} and {_AIR} are "
                "expected: is it blank? Else bring it to these levels by exposure.normal"
            )

    def track(self, image: Array) -> Array:
        """Return the opening along the wall, cm, shape (112,), of one frame.

        Parameters
        ----------
        image : ndarray of float, shape (256, 256)
            A frame.

        Returns
        -------
        ndarray of float, shape (112,)
            cm.

        Raises
        ------
        ValueError
            If the image is no 256 x 256 frame, has other grey values (inverted, another contrast), or no edge.
        """
        with needed():
            from skimage.graph import route_through_array

        strength, clear = self.edge(image)
        top = float(np.median(strength.max(axis=0)))
        if top < 0.2:
            raise ValueError("the frame shows no edge between air and tongue; is it blank or inverted?")
        cost = 1.0 / (0.03 + np.minimum(strength / top, 1.0))
        cost[:, ~clear] = 2.0  # behind a patch every depth is as good: the path goes straight
        # a free column at either end lets the path begin and end at any depth
        padded = np.pad(cost, ((0, 0), (1, 1)), constant_values=1e-3)
        middle = _ROWS // 2
        path, _ = route_through_array(padded, (middle, 0), (middle, _COLUMNS + 1), fully_connected=True)
        steps = np.array([step for step in path if 1 <= step[1] <= _COLUMNS])
        # several rows may be visited in one column: the one of the strongest edge is the contour
        rows = np.zeros(_COLUMNS, dtype=int)
        order = np.argsort(strength[steps[:, 0], steps[:, 1] - 1], kind="stable")
        rows[steps[order, 1] - 1] = steps[order, 0]
        return self._refine(strength, rows, clear)

    def _refine(self, strength: Array, rows: NDArray[np.int_], clear: NDArray[np.bool_]) -> Array:
        """Place the contour between rows by a parabola, and bridge where no edge was seen."""
        columns = np.arange(_COLUMNS)
        middle = np.clip(rows, 1, _ROWS - 2)
        before, here, after = (strength[middle + k, columns] for k in (-1, 0, 1))
        bend = before - 2 * here + after
        shift = np.where(bend < -1e-9, 0.5 * (before - after) / np.where(bend < -1e-9, bend, -1.0), 0.0)
        depth = self.depth[middle] + np.clip(shift, -1.0, 1.0) * (self.depth[1] - self.depth[0])
        seen = clear & (here > 0.25 * float(np.median(here)))
        if seen.sum() >= 8:
            bridge = PchipInterpolator(self.place[seen], depth[seen])
            depth = bridge(np.clip(self.place, *self.place[seen][[0, -1]]))
        return np.asarray(np.maximum(ndimage.gaussian_filter1d(depth, 1.0, mode="nearest"), 0.0))

    @checks.takes(opening=checks.array(low=-100.0, high=100.0))
    def contour(self, opening: Array) -> Array:
        """Return the tongue's points (cm) of a tracked opening, shape (112, 2).

        Parameters
        ----------
        opening : ndarray of float, shape (112,)
            cm.

        Returns
        -------
        ndarray of float, shape (112, 2)
            cm.
        """
        if len(opening) != _COLUMNS:
            raise ValueError(f"opening has {len(opening)} entries: give {_COLUMNS}, as `track` does")
        return np.asarray(self._points + opening[:, None] * self._normals)

    @checks.takes(shape=checks.a(Outline))
    def truth(self, shape: Outline) -> Array:
        """Return the true opening (cm) at the tracker's places, shape (112,).

        Parameters
        ----------
        shape : Outline
            Of the frame.

        Returns
        -------
        ndarray of float, shape (112,)
            cm.
        """
        return np.interp(self.place, shape.place, shape.opening)


RANGES: Final = {
    "body": (-0.6, 0.5), "dorsum": (-0.3, 0.4), "root": (-0.4, 0.3), "tip": (-0.1, 0.4), "jaw": (-0.1, 0.7),
    "larynx": (-0.2, 1.0),
}  # fmt: skip
"""What the articulators of a film move through, as in `tract.Articulation`."""


@checks.takes(
    count=checks.whole(1, 10**5), rng=checks.generator, low=checks.number(-100.0, 100.0),
    high=checks.number(-100.0, 100.0),
)  # fmt: skip
def wander(count: int, rng: np.random.Generator, low: float, high: float) -> Array:
    """Return a smooth path through a range, one position a frame."""
    time = np.arange(count)
    a, b = rng.uniform(12, 30, size=2)
    p, q = rng.uniform(0, 2 * np.pi, size=2)
    swing = 0.5 + 0.3 * np.sin(2 * np.pi * time / a + p) + 0.2 * np.sin(2 * np.pi * time / b + q)
    return np.asarray(low + (high - low) * swing)


@checks.takes(count=checks.whole(1, 10**5), rng=checks.generator)
def film(count: int, rng: np.random.Generator, **options: float) -> list[Frame]:
    """Draw frames of a tongue that wanders smoothly through its range, without contact.

    Parameters
    ----------
    count : int
        How many frames.
    rng : Generator
        Random generator.
    **options : float
        Passed to `render` (noise, blur, occlusions).

    Returns
    -------
    list of Frame

    Examples
    --------
    >>> len(film(2, np.random.default_rng(1)))
    2
    """
    paths = {name: wander(count, rng, *ends) for name, ends in RANGES.items()}
    frames = []
    for i in range(count):
        position = Articulation(**{name: float(path[i]) for name, path in paths.items()})
        frames.append(render(position, rng, **options))  # type: ignore[arg-type]
    return frames

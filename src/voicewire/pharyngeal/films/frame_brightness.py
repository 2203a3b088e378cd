"""Frames of any exposure brought to the tracker's grey values, and what of a contour was seen.

Explained in ``notebooks/pharyngeal/03_articulators.ipynb``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.interpolate import PchipInterpolator

from voicewire.pharyngeal.films.xray_film import Tracker, grey

__all__ = ["SEEN", "Levels", "Sight", "levels", "look", "look_through", "normal"]

Array = NDArray[np.float64]
SEEN: Final = 0.5
"""Confidence from which a column counts as seen."""
_SHOULD: Final = (0.25, 0.6, 0.85)  # what the tracker takes for air, tissue and bone
_NEAR: Final = 0.3  # cm from the contour in which a patch counts
_ODD: Final = 0.05, 0.15  # darker than air, brighter than tissue by this: a patch


class Levels(NamedTuple):
    """Grey values of a frame.

    Attributes
    ----------
    air, tissue, bone : float
        Full scale is 1.

    Examples
    --------
    >>> Levels(0.75, 0.4, 0.15).inverted
    True
    """

    air: float
    tissue: float
    bone: float

    @property
    def inverted(self) -> bool:
        """Whether bone is darker than air."""
        return self.bone < self.air


class Sight(NamedTuple):
    """What one frame shows.

    Attributes
    ----------
    opening : ndarray of float, shape (112,)
        cm; NaN where the contour wasn't seen.
    confidence : ndarray of float, shape (112,)
        0 to 1.
    reason : str
        Why nothing was seen, or nothing.

    Examples
    --------
    >>> Sight(np.full(112, np.nan), np.zeros(112), "blank").reason
    'blank'
    """

    opening: Array
    confidence: Array
    reason: str = ""


def levels(tracker: Tracker, image: Array) -> Levels:
    """Find the grey values of air, tissue and bone where the wall says they are.

    Bone lies behind the wall, tissue as deep as the tongue is searched, air before the wall; the sign of bone less
    tissue is the polarity.

    Parameters
    ----------
    tracker : Tracker
        Knows the wall.
    image : ndarray, shape (256, 256)
        Real numbers, or 8 or 16 bits a pixel.

    Returns
    -------
    Levels

    Raises
    ------
    ValueError
        If it is no frame, or its three levels can't be told from its grain.

    Examples
    --------
    >>> from voicewire.pharyngeal.films.xray_film import film
    >>> frame = film(1, np.random.default_rng(1))[0]
    >>> levels(Tracker(frame.outline.larynx), 1 - frame.image).inverted
    True
    """
    frame = grey(image)
    flat, depth = tracker.unwrap(frame), tracker.depth
    bone, tissue = float(np.median(flat[depth < -0.08])), float(np.median(flat[-12:]))
    before = flat[(depth > 0.1) & (depth < 1.2)]
    air = float(np.percentile(before, 20 if bone > tissue else 80))
    grain = float(np.median(np.abs(frame - ndimage.median_filter(frame, 3)))) / 0.6745
    least = max(grain, 1e-3)  # four times what is left of the grain once the frame is smoothed
    if min(abs(bone - tissue), abs(tissue - air)) < least or (bone > tissue) != (tissue > air):
        raise ValueError(
            f"the frame shows no wall: bone, tissue and air have grey values of {bone:.3g}, {tissue:.3g} and "
            f"{air:.3g}, with grain of {grain:.2g}; is it blank, or placed otherwise?"
        )
    return Levels(air, tissue, bone)


def normal(tracker: Tracker, image: Array) -> Array:
    """Bring a frame of any exposure, positive or negative, to the grey values that the tracker takes for granted.

    A smooth rising curve through the three levels undoes brightness, contrast, polarity and most of a film's gamma.

    Parameters
    ----------
    tracker : Tracker
        Knows the wall.
    image : ndarray, shape (256, 256)
        Real numbers, or 8 or 16 bits a pixel.

    Returns
    -------
    ndarray of float, shape (256, 256)

    Raises
    ------
    ValueError
        As `levels`.

    Examples
    --------
    >>> from voicewire.pharyngeal.films.xray_film import film
    >>> frame = film(1, np.random.default_rng(1))[0]
    >>> tracker = Tracker(frame.outline.larynx)
    >>> wrong = tracker.track(normal(tracker, 0.9 - 0.3 * frame.image)) - tracker.truth(frame.outline)
    >>> bool(np.median(np.abs(wrong)) < 0.05)
    True
    """
    found = levels(tracker, image)
    sign = -1.0 if found.inverted else 1.0
    at = sign * np.array(found)
    frame = sign * grey(image)
    curve = PchipInterpolator(at, _SHOULD)
    slopes = curve.derivative()(at[[0, -1]])
    inside = curve(np.clip(frame, at[0], at[-1]))
    below, above = np.minimum(frame - at[0], 0), np.maximum(frame - at[-1], 0)
    return np.asarray(np.clip(inside + slopes[0] * below + slopes[1] * above, -0.5, 1.5))


def look(tracker: Tracker, image: Array) -> Sight:
    """Track one frame of any exposure, and tell column by column how surely the contour was seen.

    The confidence is the strength of the edge where the contour lies over that of a typical column, at most 1, and 0
    behind a patch. What lies below `SEEN` is no number.

    Parameters
    ----------
    tracker : Tracker
        Knows the wall.
    image : ndarray, shape (256, 256)
        Real numbers, or 8 or 16 bits a pixel.

    Returns
    -------
    Sight

    Raises
    ------
    ValueError
        As `levels`, or if the frame has no edge.

    Examples
    --------
    >>> from voicewire.pharyngeal.films.xray_film import film
    >>> frame = film(1, np.random.default_rng(1), occlusions=0)[0]
    >>> sight = look(Tracker(frame.outline.larynx), frame.image)
    >>> bool(np.isfinite(sight.opening).mean() > 0.9)
    True
    """
    frame = normal(tracker, image)
    opening = tracker.track(frame)
    strength, clear = tracker.edge(frame)
    rows = np.abs(tracker.depth[:, None] - opening).argmin(axis=0)
    near = [np.clip(rows + k, 0, len(tracker.depth) - 1) for k in (-1, 0, 1)]
    here = np.max([strength[row, np.arange(rows.size)] for row in near], axis=0)
    typical = float(np.median(strength.max(axis=0)))
    clear &= ~_covered(tracker, frame, opening)
    confidence = np.where(clear, np.minimum(here / typical, 1.0), 0.0)
    return Sight(np.where(confidence >= SEEN, opening, np.nan), confidence)


def _covered(tracker: Tracker, frame: Array, opening: Array) -> NDArray[np.bool_]:
    """Columns in which something brighter than tissue or darker than air lies at the contour."""
    flat, depth = tracker.unwrap(frame), tracker.depth[:, None]
    air, tissue, _ = _SHOULD
    at = (np.abs(depth - opening) < _NEAR) & (depth > 0.2)
    odd = at & ((flat > tissue + _ODD[1]) | (flat < air - _ODD[0]))
    return np.asarray(ndimage.binary_dilation(odd.any(axis=0)))


def look_through(tracker: Tracker, images: Iterable[Array]) -> list[Sight]:
    """Look at every frame of a film; one that shows nothing (blank, missing, torn) leaves a gap and its reason.

    Parameters
    ----------
    tracker : Tracker
        Knows the wall.
    images : iterable of ndarray, each of shape (256, 256)
        The film.

    Returns
    -------
    list of Sight
        One for each frame.

    Examples
    --------
    >>> look_through(Tracker(), [np.zeros((256, 256))])[0].reason[:23]
    'the frame shows no wall'
    """
    nothing = np.full(tracker.place.size, np.nan), np.zeros(tracker.place.size)
    found = []
    for image in images:
        try:
            found.append(look(tracker, image))
        except ValueError as problem:
            found.append(Sight(*nothing, str(problem)))
    return found

"""Measuring contours as the paper does: rest frame, incisor origin, heights, opening and location.

The opening is the least orthogonal distance from the tongue to the opposite wall; the location is the length of the
path along that wall from the upper incisor; where the tongue touches the wall, the most anterior contact counts
(Section III of the paper). Explained in notebook ``03_articulators``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Constriction", "constriction", "distances", "elevation", "perturbed", "to_rest_frame"]

from voicewire._kit import checks

Array = NDArray[np.float64]

CONTACT: float = 0.03
"""cm: nearer than this counts as contact; the paper prints 0.058 to 0.088 cm for stops, so it is smaller than that."""


_POINTS = checks.array(2, least=2, columns=2, low=-1e4, high=1e4)


def _contour(points: Array, name: str) -> Array:
    array = np.asarray(points, dtype=float)
    if array.ndim != 2 or array.shape[1] != 2 or array.shape[0] < 2:
        raise ValueError(f"the {name} must be a row of at least two points (x, y) in cm, not shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"the {name} holds points that are not numbers; leave those frames out")
    return array


@checks.takes(points=checks.array(2, columns=2, low=-1e4, high=1e4), landmarks=_POINTS, rest_landmarks=_POINTS)
def to_rest_frame(points: Array, landmarks: Array, rest_landmarks: Array) -> Array:
    """Bring a frame's points onto the rest frame: the rigid motion that lays fixed landmarks upon each other.

    Parameters
    ----------
    points : ndarray of float
        Any points of the frame, cm, shape (n, 2).
    landmarks, rest_landmarks : ndarray of float
        The same fixed points (incisor first, hard palate) in this frame and in the rest frame, shape (m, 2), m >= 2.

    Returns
    -------
    ndarray
        The points relative to the rest frame's incisor, shape (n, 2).

    Raises
    ------
    ValueError
        If there are fewer than two landmarks or their numbers differ.

    Examples
    --------
    A head that has moved by (1, 0): what moved with it is where it was.

    >>> marks = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0]])
    >>> to_rest_frame(np.array([[4.0, 2.0]]), marks + [1, 0], marks).round(9).tolist()
    [[3.0, 2.0]]
    """
    here, rest = _contour(landmarks, "landmarks"), _contour(rest_landmarks, "rest landmarks")
    if here.shape != rest.shape:
        raise ValueError(f"{here.shape[0]} landmarks here, {rest.shape[0]} at rest; mark the same points in both")
    a, b = here - here.mean(axis=0), rest - rest.mean(axis=0)
    u, _, v = np.linalg.svd(a.T @ b)
    flip = np.diag([1.0, np.sign(np.linalg.det(u @ v))])  # a film is not mirrored between frames
    rotation = u @ flip @ v
    return np.asarray((np.asarray(points) - here.mean(axis=0)) @ rotation + rest.mean(axis=0) - rest[0])


@dataclass(frozen=True)
class Constriction:
    """A measured constriction: opening and location, cm, and whether the tongue touches the wall.

    Attributes
    ----------
    opening : float
        Least distance of tongue and wall, cm.
    location : float
        Length along the wall, cm.
    contact : bool
        Whether they touch.

    Examples
    --------
    >>> Constriction(0.4, 11.2, False).opening
    0.4
    """

    opening: float
    location: float
    contact: bool


@checks.takes(tongue=_POINTS, wall=_POINTS)
def distances(tongue: Array, wall: Array) -> tuple[Array, Array]:
    """Project each tongue point on the wall's polyline.

    Parameters
    ----------
    tongue, wall : ndarray of float, shape (n, 2) and (m, 2)
        Contours, cm.

    Returns
    -------
    tuple of ndarray
        For each tongue point: its distance to the wall (cm), and the length along the wall from its first point to
        the foot of the projection (cm); each of shape (n,).

    Examples
    --------
    >>> d, place = distances(np.array([[1.0, 0.5], [2.0, 0.7]]), np.array([[0.0, 0.0], [3.0, 0.0]]))
    >>> d.tolist(), place.tolist()
    ([0.5, 0.7], [1.0, 2.0])
    """
    t, w = _contour(tongue, "tongue contour"), _contour(wall, "wall contour")
    step = np.diff(w, axis=0)
    length = np.hypot(step[:, 0], step[:, 1])
    if (length == 0).any():
        raise ValueError("the wall contour holds the same point twice in a row; remove one")
    start = np.concatenate([[0.0], np.cumsum(length)[:-1]])
    delta = t[:, None, :] - w[None, :-1, :]
    share = np.clip(np.einsum("nki,ki->nk", delta, step) / length**2, 0.0, 1.0)
    foot = w[None, :-1, :] + share[..., None] * step[None]
    distance = np.hypot(t[:, None, 0] - foot[..., 0], t[:, None, 1] - foot[..., 1])
    best = np.argmin(distance, axis=1)
    rows = np.arange(t.shape[0])
    return distance[rows, best], start[best] + share[rows, best] * length[best]


@checks.takes(
    tongue=_POINTS, wall=_POINTS, between=checks.maybe(checks.each(checks.number(), least=2)),
    contact=checks.number(0.0, 100.0),
)  # fmt: skip
def constriction(
    tongue: Array, wall: Array, between: tuple[float, float] | None = None, contact: float = CONTACT
) -> Constriction:
    """Measure the tightest constriction by the paper's rule.

    Parameters
    ----------
    tongue, wall : ndarray of float
        Contours, cm, shape (n, 2); the wall begins at the upper incisor.
    between : tuple[float, float], optional
        Stretch of the wall (cm from the incisor) to search; the whole wall if left out.
    contact : float
        Below this distance (cm) the tongue touches, and the most anterior such point counts.

    Returns
    -------
    Constriction

    Raises
    ------
    ValueError
        For contours that are none, or a stretch without tongue.

    Examples
    --------
    >>> tongue = np.array([[0.5, 1.0], [1.5, 0.4], [2.5, 1.0]])
    >>> found = constriction(tongue, np.array([[0.0, 0.0], [3.0, 0.0]]))
    >>> round(found.opening, 1), round(found.location, 1)
    (0.4, 1.5)
    """
    # the tongue's points are made dense first: its own sampling must not decide how near it comes
    points = _contour(tongue, "tongue contour")
    chord = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    dense = np.linspace(0, chord[-1], max(400, 4 * points.shape[0]))
    smooth = np.column_stack([np.interp(dense, chord, points[:, i]) for i in range(2)])
    distance, place = distances(smooth, wall)
    if between is not None:
        inside = (place >= between[0]) & (place <= between[1])
        if not inside.any():
            raise ValueError(f"no part of the tongue lies between {between[0]:g} and {between[1]:g} cm of the wall")
        distance, place = distance[inside], place[inside]
    touching = distance <= contact
    if touching.any():
        where = float(place[touching].min())
        return Constriction(float(distance[touching].min()), where, True)
    best = int(np.argmin(distance))
    return Constriction(float(distance[best]), float(place[best]), False)


@checks.takes(depth=checks.number(-100.0, 100.0), rest=checks.number(-100.0, 100.0))
def elevation(depth: float, rest: float) -> float:
    """Return how far a structure has risen (cm): its depth at rest minus its depth now (y runs downwards).

    Parameters
    ----------
    depth, rest : float
        Depths below the incisor now and at rest, cm.

    Returns
    -------
    float
        cm.

    Examples
    --------
    >>> elevation(5.5, 6.0)
    0.5
    """
    return rest - depth


@checks.takes(
    tongue=_POINTS, wall=_POINTS, noise=checks.number(0.0, 100.0), rng=checks.generator,
    repeats=checks.whole(1, 10**6), smooth=checks.number(1e-3, 1e3),
)  # fmt: skip
def perturbed(
    tongue: Array, wall: Array, noise: float, rng: np.random.Generator, repeats: int = 200, smooth: float = 0.6
) -> tuple[Array, Array]:
    """Measure one contour many times with tracing errors."""
    points = _contour(tongue, "tongue contour")
    chord = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    if (np.diff(chord) == 0).any():
        raise ValueError("the tongue contour holds the same point twice in a row; remove one")
    kernel = np.exp(-0.5 * ((chord[:, None] - chord[None, :]) / smooth) ** 2)
    root = np.linalg.cholesky(kernel + 1e-9 * np.eye(chord.size))
    tangent = np.gradient(points, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1)[:, None]
    normal = np.column_stack([-tangent[:, 1], tangent[:, 0]])
    found = []
    for _ in range(repeats):
        error = noise * (root @ rng.normal(size=chord.size))
        found.append(constriction(points + error[:, None] * normal, wall))
    return np.array([c.opening for c in found]), np.array([c.location for c in found])

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

Array = NDArray[np.float64]

CONTACT: float = 0.03
"""cm: nearer than this counts as contact; the paper prints 0.058 to 0.088 cm for stops, so it is smaller than that."""


def _contour(points: Array, name: str) -> Array:
    array = np.asarray(points, dtype=float)
    if array.ndim != 2 or array.shape[1] != 2 or array.shape[0] < 2:
        raise ValueError(f"the {name} must be a row of at least two points (x, y) in cm, not shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"the {name} holds points that are not numbers; leave those frames out")
    return array


def to_rest_frame(points: Array, landmarks: Array, rest_landmarks: Array) -> Array:
    """Bring a frame's points onto the rest frame: the rigid motion that lays fixed landmarks upon each other.

    Parameters
    ----------
    points
        Any points of the frame, cm, shape (n, 2).
    landmarks, rest_landmarks
        The same fixed points (incisor first, hard palate) in this frame and in the rest frame, shape (m, 2), m >= 2.

    Returns
    -------
    ndarray
        The points relative to the rest frame's incisor, shape (n, 2).

    Raises
    ------
    ValueError
        If there are fewer than two landmarks or their numbers differ.
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
    """A measured constriction: opening and location, cm, and whether the tongue touches the wall."""

    opening: float
    location: float
    contact: bool


def distances(tongue: Array, wall: Array) -> tuple[Array, Array]:
    """Project each tongue point on the wall's polyline.

    Returns
    -------
    tuple of ndarray
        For each tongue point: its distance to the wall (cm), and the length along the wall from its first point to
        the foot of the projection (cm); each of shape (n,).
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


def constriction(
    tongue: Array, wall: Array, between: tuple[float, float] | None = None, contact: float = CONTACT
) -> Constriction:
    """Measure the tightest constriction by the paper's rule.

    Parameters
    ----------
    tongue, wall
        Contours, cm, shape (n, 2); the wall begins at the upper incisor.
    between
        Stretch of the wall (cm from the incisor) to search; the whole wall if left out.
    contact
        Below this distance (cm) the tongue touches, and the most anterior such point counts.

    Returns
    -------
    Constriction

    Raises
    ------
    ValueError
        For contours that are none, or a stretch without tongue.
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


def elevation(depth: float, rest: float) -> float:
    """Return how far a structure has risen (cm): its depth at rest minus its depth now (y runs downwards)."""
    return rest - depth


def perturbed(
    tongue: Array, wall: Array, noise: float, rng: np.random.Generator, repeats: int = 200, smooth: float = 0.6
) -> tuple[Array, Array]:
    """Measure one contour many times with tracing errors.

    Parameters
    ----------
    tongue, wall
        Contours, cm.
    noise
        Standard deviation of the tracing error, cm.
    rng
        Random generator.
    repeats
        How many tracings.
    smooth
        Length over which an error persists along the contour, cm.

    Returns
    -------
    tuple of ndarray
        Openings and locations (cm), each of shape (repeats,).
    """
    points = _contour(tongue, "tongue contour")
    chord = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
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

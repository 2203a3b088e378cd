"""The organs around the tract, as contours and on frames: lips, jaw, velum, hyoid bone, epiglottis, glottis.

The tract's own model has numbers for some of them and outlines for none. Here each has an outline (cm from the upper
incisor) that follows from few numbers, drawn so that frames show what the paper's authors traced. Proportions are an
assumption; what a tracker and a model of components are held to is the truth of the drawing. Explained in notebook
``03_articulators``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from voicewire._kit import checks
from voicewire.pharyngeal import tract
from voicewire.pharyngeal.films import xray_film
from voicewire.pharyngeal.tract import Articulation

__all__ = ["ORGANS", "POINTS", "Posture", "contours", "film", "guides", "height", "layers", "render"]

Array = NDArray[np.float64]

ORGANS: Final = ("lips", "jaw", "velum", "hyoid", "lower pharynx")
"""The organs that are drawn beside the tongue; the lower pharynx is epiglottis, glottis and arytenoids."""
POINTS: Final = {"lips": 32, "jaw": 16, "velum": 14, "hyoid": 16, "lower pharynx": 34}
"""How many points the contour of each has."""
_FOLDS: Final = slice(18, 22)  # the points of the lower pharynx that lie on the vocal folds
_AIR, _TISSUE, _BONE = 0.25, 0.6, 0.85


@dataclass(frozen=True)
class Posture:
    """A configuration of the tract with what its acoustics do not need.

    Attributes
    ----------
    articulation : Articulation
        Tongue, jaw, area of the lips, larynx.
    protrusion : float
        How far the lips are pushed forward, cm, 0 to 1.
    velum : float
        How far the velum is raised, 0 (hanging) to 1.
    glottis : float
        How far the arytenoids stand apart from the folds' front end, 0 (closed) to 1.

    Examples
    --------
    >>> Posture(Articulation(), protrusion=0.4).velum
    1.0
    """

    articulation: Articulation
    protrusion: float = 0.0
    velum: float = 1.0
    glottis: float = 0.0

    def __post_init__(self) -> None:
        within = checks.number(0.0, 1.0)
        checks.fields(
            self, ValueError, articulation=checks.a(Articulation), protrusion=within, velum=within, glottis=within
        )


def _ellipse(x: float, y: float, across: float, down: float, count: int) -> Array:
    turn = np.linspace(0.0, 2 * np.pi, count, endpoint=False)
    return np.column_stack([x + across * np.cos(turn), y + down * np.sin(turn)])


def _lips(posture: Posture) -> Array:
    gap = 0.1 + 0.28 * posture.articulation.lips  # cm between the lips: the lower one makes two thirds of it
    x, thick = -0.75 - posture.protrusion, 0.4 + 0.1 * posture.protrusion
    upper = _ellipse(x, 0.45 - 0.35 * gap - thick, 0.5, thick, 16)
    return np.vstack([upper, _ellipse(x, 0.45 + 0.65 * gap + thick, 0.5, thick, 16)])


def _velum(posture: Posture) -> Array:
    along = np.linspace(6.4, 9.8, POINTS["velum"])
    points, normals = tract.wall(along)
    bulge = np.sin(np.pi * (along - 6.4) / 3.4)
    return np.asarray(points - ((0.3 + 0.6 * posture.velum) * bulge)[:, None] * normals)


def _lower_pharynx(posture: Posture) -> Array:
    depth = tract.REST_LARYNX - posture.articulation.larynx
    lean = 0.15 * posture.articulation.root  # a retracted root pushes the epiglottis back
    rise = np.linspace(0.0, 1.0, 9)
    middle = np.column_stack([6.5 + 0.35 * rise**2 + lean * rise, depth - 0.45 - 1.5 * rise])
    half = (0.12 * np.sqrt(1.0 - rise**4 + 1e-6))[:, None] * [1.0, 0.0]
    reach = 0.25 + 0.4 * (1.0 - posture.glottis)
    turn = np.linspace(np.pi / 2, 3 * np.pi / 2, 12)  # the half of an ellipse that looks forward
    arytenoid = np.column_stack([7.6 + reach * np.cos(turn), depth - 0.3 + 0.45 * np.sin(turn)])
    folds = np.column_stack([np.linspace(6.55, 7.25, 4), np.full(4, depth)])
    return np.vstack([middle - half, (middle + half)[::-1], folds, arytenoid])


@checks.takes(posture=checks.a(Posture))
def contours(posture: Posture) -> dict[str, Array]:
    """Return the contour of each organ.

    Parameters
    ----------
    posture : Posture
        Positions of the articulators.

    Returns
    -------
    dict of str to ndarray of float, shape (n, 2)
        By organ, cm from the incisor; n as in `POINTS`. Of the velum it is the side towards the nose: the side towards
        the mouth is the fixed wall of the tract.

    Examples
    --------
    A larynx raised by 1 cm carries the hyoid bone along by 0.75 cm.

    >>> low, high = (contours(Posture(Articulation(larynx=rise)))["hyoid"] for rise in (0.0, 1.0))
    >>> round(float((low - high).mean(axis=0)[1]), 2)
    0.75
    """
    a = posture.articulation
    tract.check(a)
    return {
        "lips": _lips(posture),
        "jaw": _ellipse(0.75 + 0.2 * a.jaw, 2.6 + 0.9 * a.jaw, 0.4, 0.85, POINTS["jaw"]),
        "velum": _velum(posture),
        "hyoid": _ellipse(5.2, tract.outline(a).hyoid, 0.42, 0.2, POINTS["hyoid"]),
        "lower pharynx": _lower_pharynx(posture),
    }


@checks.takes(organ=checks.one_of("hyoid", "lower pharynx"), contour=checks.array(2, columns=2))
def height(organ: str, contour: Array) -> float:
    """Return how far below the incisor the hyoid bone or the larynx centre lies, as Table I counts it."""
    if len(contour) != POINTS[organ]:
        raise ValueError(f"contour has {len(contour)} points, that of the {organ} has {POINTS[organ]}")
    return float(contour[_FOLDS if organ == "lower pharynx" else slice(None), 1].mean())


@checks.takes(organ=checks.one_of("lips", "lower pharynx"), contour=checks.array(2, columns=2))
def guides(organ: str, contour: Array) -> Array:
    """Return what is measured on a contour to name its factors."""
    if len(contour) != POINTS[organ]:
        raise ValueError(f"contour has {len(contour)} points, that of the {organ} has {POINTS[organ]}")
    if organ == "lips":
        return np.array([contour[16:, 1].min() - contour[:16, 1].max(), -contour[:, 0].min()])
    return np.array([height(organ, contour), 7.6 - contour[22:, 0].min()])


@checks.takes(posture=checks.a(Posture))
def layers(posture: Posture) -> list[tuple[Array, float]]:
    """Return what is painted on a frame over the tract, back to front: closed outlines and their grey values."""
    drawn = contours(posture)
    lips, pharynx = drawn["lips"], drawn["lower pharynx"]
    back = float(lips[:, 0].min()) + 0.45
    palate, normals = tract.wall(np.linspace(6.4, 10.4, 20))
    nose = np.vstack([palate, (palate - 1.25 * normals)[::-1]])
    inner, _ = tract.wall(np.linspace(6.4, 9.8, POINTS["velum"]))
    depth = height("lower pharynx", pharynx)
    face = np.array([(-2.0, -3.2), (back, -3.2), (back, 9.6), (-2.0, 9.6)])
    mouth = np.array([(back, lips[:16, 1].max()), (0.1, 0.05), (0.1, 0.8), (back, lips[16:, 1].min())])
    folds = np.array([(6.45, depth - 0.15), (7.6, depth - 0.15), (7.6, depth + 0.15), (6.45, depth + 0.15)])
    windpipe = np.array([(6.6, depth + 0.15), (7.5, depth + 0.15), (7.5, 9.6), (6.6, 9.6)])
    return [
        (face, _AIR), (mouth, _AIR), (lips[:16], _TISSUE), (lips[16:], _TISSUE), (nose, _AIR),
        (np.vstack([inner, drawn["velum"][::-1]]), _TISSUE), (drawn["jaw"], _BONE), (drawn["hyoid"], _BONE),
        (folds, _TISSUE), (windpipe, _AIR), (pharynx[:18], _TISSUE), (pharynx[22:], _TISSUE),
    ]  # fmt: skip


@checks.takes(posture=checks.a(Posture), rng=checks.generator)
def render(posture: Posture, rng: np.random.Generator, **options: Any) -> xray_film.Frame:
    """Draw a frame with all organs."""
    return xray_film.render(posture.articulation, rng, layers=layers(posture), **options)


@checks.takes(count=checks.whole(1, 10**5), rng=checks.generator)
def film(count: int, rng: np.random.Generator, **options: Any) -> tuple[list[Posture], list[xray_film.Frame]]:
    """Draw frames of organs that wander smoothly through their ranges."""
    ranges: Mapping[str, tuple[float, float]] = {
        **xray_film.RANGES, "lips": (0.5, 5.0), "protrusion": (0.0, 0.8), "velum": (0.1, 1.0), "glottis": (0.0, 1.0)
    }  # fmt: skip
    paths = {name: xray_film.wander(count, rng, *ends) for name, ends in ranges.items()}
    own = ("protrusion", "velum", "glottis")
    postures = []
    for i in range(count):
        position = Articulation(**{name: float(path[i]) for name, path in paths.items() if name not in own})
        postures.append(Posture(position, **{name: float(paths[name][i]) for name in own}))
    return postures, [render(posture, rng, **options) for posture in postures]

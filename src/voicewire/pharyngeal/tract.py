"""A parametric midsagittal vocal tract: outline, area function, formants, voice.

The roof of the mouth and the rear wall of the pharynx are fixed; seven articulators shape the opposite side. Origin
is the upper incisor, x runs backwards and y downwards, both in cm, as the paper measures. Explained in notebook
``01_tract_to_formants``.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from functools import cache, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from voicewire._kit import checks
from voicewire.pharyngeal import synthesis, tube
from voicewire.pharyngeal.audio_files import Sound

__all__ = [
    "LIMITS",
    "REST_HYOID",
    "Articulation",
    "Outline",
    "area_function",
    "formants",
    "moved",
    "outline",
    "random_open",
    "speak",
    "vector",
    "wall",
    "wall_length",
]

Array = NDArray[np.float64]

# Points of the fixed wall (cm): incisor, alveolar ridge, hard palate, velum, rear wall of the pharynx, down to below
# the lowest larynx. Assumption: an adult male's proportions, so that the larynx centre of Table I (6.17 cm below
# the incisor) lies about 14.5 cm along the wall, where the paper finds the constriction of /ʕ/.
_WALL: Final = np.array(
    [
        (0.0, 0.0), (0.7, -0.75), (2.0, -1.45), (3.6, -1.7), (5.1, -1.35), (6.25, -0.5), (7.0, 0.7),
        (7.4, 2.1), (7.55, 3.5), (7.6, 5.0), (7.6, 6.5), (7.6, 8.0),
    ]
)  # fmt: skip
REST_LARYNX: Final = 6.1732  # cm below the incisor: Table I, rest position
REST_HYOID: Final = 4.2266
_SECTIONS: Final = 48


@dataclass(frozen=True)
class Articulation:
    """Positions of the articulators.

    Attributes
    ----------
    body : float
        Tongue body, from front (-1) to back (+1).
    dorsum : float
        Height of the tongue's back below the velum, cm of narrowing.
    root : float
        Retraction of the tongue root towards the pharyngeal wall, cm of narrowing.
    root_place : float
        Where the root is nearest to the wall, cm along the wall from the incisor.
    tip : float
        Rise of the tip behind the incisors, cm of narrowing.
    jaw : float
        Lowering of the jaw, cm.
    lips : float
        Area between the lips, cm^2.
    larynx : float
        Rise of the larynx above rest, cm.

    Examples
    --------
    >>> Articulation(root=0.5).root
    0.5
    """

    body: float = 0.0
    dorsum: float = 0.0
    root: float = 0.0
    root_place: float = 11.5
    tip: float = 0.0
    jaw: float = 0.0
    lips: float = 3.0
    larynx: float = 0.0

    def __post_init__(self) -> None:
        checks.fields(self, ValueError, **dict.fromkeys(LIMITS, checks.number(-100.0, 100.0)))


LIMITS: Final = {
    "body": (-1.0, 1.0),
    "dorsum": (-0.6, 1.0),
    "root": (-0.6, 1.2),
    "root_place": (9.5, 13.5),
    "tip": (-0.3, 1.5),
    "jaw": (-0.4, 1.0),
    "lips": (0.3, 6.0),
    "larynx": (-0.8, 1.8),
}


@cache
def _spline() -> tuple[CubicSpline, float]:
    """Return the wall as a spline over its own length, and that length (cm)."""
    chord = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(_WALL, axis=0).T))])
    rough = CubicSpline(chord, _WALL)
    dense = np.linspace(0, chord[-1], 4001)
    points = rough(dense)
    length = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    even = np.linspace(0, length[-1], 401)
    return CubicSpline(even, rough(np.interp(even, length, dense))), float(length[-1])


@checks.takes(place=checks.array(low=0.0, high=40.0))
def wall(place: Array) -> tuple[Array, Array]:
    """Return points of the fixed wall and unit normals into the tract, at lengths along it from the incisor (cm)."""
    spline, _ = _spline()
    point, slope = spline(place), spline(place, 1)
    tangent = slope / np.linalg.norm(slope, axis=1)[:, None]
    return np.asarray(point), np.column_stack([-tangent[:, 1], tangent[:, 0]])


@cache
def _rear() -> tuple[Array, Array]:
    """Return places along the rear wall (cm) and their depths (cm), for reading one from the other."""
    _, total = _spline()
    grid = np.linspace(0.4 * total, total, 2001)
    return grid, wall(grid)[0][:, 1]


@checks.takes(depth=checks.number(0.0, 8.0))
def wall_length(depth: float) -> float:
    """Return the length along the wall (cm) at which the rear wall has come down to ``depth`` (cm below incisor)."""
    places, depths = _rear()
    return float(np.interp(depth, depths, places))


@lru_cache(maxsize=256)
def _stretch(larynx: float) -> tuple[Array, Array, Array]:
    """Return places, points and normals of the wall above a larynx (an inversion asks for one often)."""
    place = np.linspace(0.0, wall_length(larynx), _SECTIONS)
    return (place, *wall(place))


@dataclass(frozen=True)
class Outline:
    """A midsagittal configuration.

    Attributes
    ----------
    place : ndarray of float
        Lengths along the wall from the incisor, cm, shape (n,).
    wall, tongue : ndarray of float
        Points, cm, shape (n, 2): fixed side and moving side, front to back.
    opening : ndarray of float
        True distance between them along the wall's normal, cm, shape (n,).
    larynx, hyoid : float
        Depths below the incisor, cm.

    Examples
    --------
    >>> bool((outline(Articulation()).opening > 0).all())
    True
    """

    place: Array
    wall: Array
    tongue: Array
    opening: Array
    larynx: float
    hyoid: float


def _bump(place: Array, centre: float, width: float) -> Array:
    return np.asarray(np.exp(-0.5 * ((place - centre) / width) ** 2))


@checks.takes(articulation=checks.a(Articulation))
def check(articulation: Articulation) -> None:
    """Reject positions that no tract has."""
    for name, (low, high) in LIMITS.items():
        value = getattr(articulation, name)
        if not low - 1e-9 <= value <= high + 1e-9:
            raise ValueError(f"{name} is {value:.3g}; it must lie between {low:g} and {high:g}")


@checks.takes(articulation=checks.a(Articulation))
def outline(articulation: Articulation) -> Outline:
    """Return the midsagittal outline of a configuration (cm).

    Parameters
    ----------
    articulation : Articulation
        Positions of the articulators.

    Returns
    -------
    Outline

    Raises
    ------
    ValueError
        If a position is out of its range.

    Examples
    --------
    A larynx raised by 1 cm carries the hyoid bone along by 0.75 cm.

    >>> round(outline(Articulation()).hyoid - outline(Articulation(larynx=1.0)).hyoid, 2)
    0.75
    """
    check(articulation)
    a = articulation
    larynx = REST_LARYNX - a.larynx
    place, points, normals = _stretch(larynx)
    neutral = 1.05 + 0.25 * _bump(place, 8.0, 2.0) - 0.35 * _bump(place, 0.0, 1.2)
    shape = (
        neutral
        + 0.85 * a.body * (_bump(place, 4.6, 1.9) - 0.85 * _bump(place, 10.6, 2.4))
        - a.dorsum * _bump(place, 7.4, 1.3)
        - a.root * _bump(place, a.root_place, 1.3)
        - a.tip * _bump(place, 1.3, 0.55)
        + 0.7 * a.jaw * _bump(place, 2.0, 2.4)
    )
    opening = np.maximum(shape, 0.0)
    # the hyoid hangs on the larynx and is pulled up by a retracted root (Table I: 0.5 to 0.9 of the larynx' rise)
    hyoid = REST_HYOID - 0.75 * a.larynx - 0.2 * a.root
    return Outline(place, points, points + opening[:, None] * normals, opening, larynx, hyoid)


@checks.takes(articulation=checks.a(Articulation))
def area_function(articulation: Articulation) -> tuple[Array, Array]:
    """Return areas (cm^2) and lengths (cm) of the tract's sections, glottis first.

    Area follows the opening by a power law, A = mu d^1.5, with mu 1.9 in the mouth falling to 1.4 in the pharynx
    (assumption, after Heinz and Stevens); a larynx tube of 2.5 cm and 0.6 cm^2 and a lip tube close the ends.

    Parameters
    ----------
    articulation : Articulation
        Positions of the articulators.

    Returns
    -------
    areas, lengths : ndarray of float, shape (n,)
        cm^2 and cm of each section, glottis first; equation ``eq-pharyngeal-area``.

    Examples
    --------
    >>> areas, lengths = area_function(Articulation())
    >>> bool(16 < lengths.sum() < 19)
    True
    """
    shape = outline(articulation)
    middle = (shape.wall + shape.tongue) / 2
    lengths = np.maximum(np.hypot(*np.diff(middle, axis=0).T), 0.02)
    d = (shape.opening[1:] + shape.opening[:-1]) / 2
    factor = np.interp(shape.place[1:], [0.0, 6.0, 10.0, 15.0], [1.9, 1.8, 1.4, 1.4])
    areas = np.maximum(factor * d**1.5, 0.03)
    lip = max(articulation.lips, 0.05)
    rounded = 1.2 + 0.5 * max(0.0, 1.0 - lip / 3.0)  # rounding pushes the lips forward
    areas = np.concatenate([np.full(5, 0.6), areas[::-1], [lip, lip]])
    lengths = np.concatenate([np.full(5, 0.5), lengths[::-1], [rounded / 2, rounded / 2]])
    return areas, lengths


@checks.takes(articulation=checks.a(Articulation), count=checks.whole(1, 100))
def formants(articulation: Articulation, count: int = 4) -> tube.Resonances:
    """Return the formants of a configuration, with yielding walls and radiation (Hz).

    Parameters
    ----------
    articulation : Articulation
        Positions of the articulators.
    count : int
        How many.

    Returns
    -------
    tube.Resonances
        Hz.

    Examples
    --------
    A raised larynx shortens the tube.

    >>> low, high = (formants(Articulation(larynx=rise)).frequencies for rise in (0.0, 1.0))
    >>> bool((high > low).all())
    True
    """
    return tube.resonances(*area_function(articulation), count=count)


@checks.takes(articulation=checks.a(Articulation))
def moved(articulation: Articulation, **changes: float) -> Articulation:
    """Return a configuration with some articulators moved by these amounts (not: to these positions).

    Parameters
    ----------
    articulation : Articulation
        Where from.
    **changes
        Amounts, by articulator.

    Returns
    -------
    Articulation

    Examples
    --------
    >>> moved(Articulation(root=0.2), root=0.5).root
    0.7
    """
    unknown = [name for name in changes if name not in LIMITS]
    if unknown:
        raise ValueError(f"unknown articulators {', '.join(unknown)}; there are {', '.join(LIMITS)}")
    steps = {name: checks.number(-100.0, 100.0)(name, step, ValueError) for name, step in changes.items()}
    return replace(articulation, **{name: getattr(articulation, name) + step for name, step in steps.items()})


@checks.takes(rng=checks.generator, least=checks.number(0.0, 5.0))
def random_open(rng: np.random.Generator, least: float = 0.05, **moves: float) -> Articulation:
    """Return a configuration drawn from all that `LIMITS` allow, which stays open, also after each of some moves.

    Parameters
    ----------
    rng : Generator
        Source of randomness.
    least : float
        Smallest opening allowed anywhere, cm.
    **moves
        Amounts by which single articulators will be moved (see `moved`): each, alone, must be possible.

    Returns
    -------
    Articulation

    Examples
    --------
    >>> shape = random_open(np.random.default_rng(1), root=0.5)
    >>> bool(outline(moved(shape, root=0.5)).opening.min() > 0.05)
    True
    """
    for _ in range(10_000):
        shape = Articulation(**{name: rng.uniform(*limits) for name, limits in LIMITS.items()})
        all_of_them = [shape, *(moved(shape, **{name: step}) for name, step in moves.items())]
        try:
            if all(outline(each).opening.min() > least for each in all_of_them):
                return shape
        except ValueError:  # moved beyond what the articulator can do
            continue
    raise ValueError(f"no configuration in 10,000 is open by {least:g} cm after moves {moves}: lower them")


@checks.takes(articulation=checks.a(Articulation))
def vector(articulation: Articulation) -> Array:
    """Return the eight positions as a vector, in the order of the fields."""
    return np.array(astuple(articulation))


@checks.takes(articulation=checks.a(Articulation), f0=checks.number(20.0, 1000.0), duration=checks.number(0.05, 60.0))
def speak(articulation: Articulation, f0: float = 115.0, duration: float = 0.35) -> Sound:
    """Return the steady vowel of a configuration: a glottal pulse train through its own formants.

    Parameters
    ----------
    articulation : Articulation
        Positions of the articulators.
    f0 : float
        Pitch in the middle, Hz.
    duration : float
        s.

    Returns
    -------
    Sound
        Half of full scale at most.

    Examples
    --------
    >>> speak(Articulation(), duration=0.2).duration
    0.2
    """
    found = formants(articulation)
    count = round(duration * synthesis.RATE)
    times = np.arange(count) / synthesis.RATE
    pitch = f0 * (1.06 - 0.12 * times / duration)
    higher = np.array([4500.0, 5500.0, 6500.0, 7400.0])
    centres = np.tile(np.concatenate([np.minimum(found.frequencies, 4300.0), higher]), (count, 1))
    widths = (*np.clip(found.bandwidths, 40.0, 400.0).tolist(), 250.0, 300.0, 350.0, 400.0)
    samples = synthesis.cascade(synthesis.glottal_source(pitch, synthesis.RATE), centres, bandwidths=widths)
    samples = samples * np.minimum(1.0, np.minimum(times, times[-1] - times) / 0.02)
    return Sound(0.5 * samples / float(np.max(np.abs(samples))), synthesis.RATE, "tract")

"""What the reproduction runs: what larynx, tongue, jaw and lips do to the formants of the recorded tract shapes.

The numbers that the paper derives from its own tables are recomputed in `recomputed_numbers`. Explained in notebook
``04_reproduction``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from voicewire.pharyngeal import inversion, tract, tube
from voicewire.pharyngeal.films import contour_measures
from voicewire.pharyngeal.tract import Articulation
from voicewire_book.chapters.pharyngeal import recomputed_numbers, vocal_tract_shapes
from voicewire_book.ledger.vocabulary import Plain

__all__ = [
    "HEIGHTS",
    "PHARYNX",
    "ROOTS",
    "causes",
    "constricted_at",
    "coupled_roots",
    "gestures",
    "larynx_heights",
    "larynx_tubes",
    "root_advances",
    "root_movements",
    "run",
    "superimposed",
]

Array = NDArray[np.float64]

HEIGHTS = (-0.6, -0.3, 0.0, 0.3, 0.6)
"""Larynx heights against the shape's own, cm."""
ROOTS = (0.0, 0.15, 0.3, 0.45)
"""How far the tongue root moves back, in the model's unit."""
PHARYNX = {"uvular": 9.5, "emphatic": 11.5, "pharyngeal": 13.5}
"""Where three families of consonants narrow the throat, cm along the wall: its upper end, middle and lower end.

The order is what the paper cites (Section I, after [5]); the centimetres are ours, what the model's root can reach.
"""
_HARD_PALATE = 5.5  # cm along the wall from the incisor: what is bone and stays
_FREE_ROOT = 0.7  # a root farther back than this could not move by the last of `ROOTS`


def causes(family: Mapping[str, list[Articulation]]) -> dict[str, Array]:
    """Change the plain shapes by one cause at a time: a higher larynx, the tongue, the tongue with jaw and lips."""
    plain = family["plain"]
    before = vocal_tract_shapes.formants(plain)
    return {
        "larynx": vocal_tract_shapes.changes(plain, larynx=vocal_tract_shapes.RISE_MORE),
        "larynx 1 cm": vocal_tract_shapes.changes(plain, larynx=1.0),
        "tongue": vocal_tract_shapes.formants(family["tongue"]) - before,
        "tongue, jaw, lips": vocal_tract_shapes.formants(family["tongue-jaw-lips"]) - before,
    }


def larynx_heights(plain: list[Articulation], heights: Sequence[float] = HEIGHTS) -> Array:
    """Return the mean change of F1 to F4 with the larynx at each height, Hz, shape (heights, 4)."""
    return np.array([vocal_tract_shapes.changes(plain, larynx=float(height)).mean(axis=0) for height in heights])


def root_advances(plain: list[Articulation], roots: Sequence[float] = ROOTS) -> Array:
    """Return F2 - F1 (Hz) as the tongue root moves back, shape (roots,), from where the text's plain vowel has it."""
    goal, _ = vocal_tract_shapes.targets()
    return np.asarray(goal[1] - goal[0] + root_movements(plain, roots).mean(axis=1))


def root_movements(plain: list[Articulation], roots: Sequence[float] = ROOTS) -> Array:
    """Return the change of F2 - F1 in each shape as the tongue root moves back, see `root_advances`."""
    able = [shape for shape in plain if shape.root <= _FREE_ROOT]
    moved = np.array([vocal_tract_shapes.changes(able, root=float(root)) for root in roots])
    return np.asarray(moved[:, :, 1] - moved[:, :, 0])


def constricted_at(plain: list[Articulation], places: Sequence[float], narrowing: float = 0.5) -> Array:
    """Return what a constriction of the throat does to the formants, place by place."""
    at_rest = [[replace(shape, root=0.0, root_place=place) for shape in plain] for place in places]
    return np.array([vocal_tract_shapes.changes(members, root=narrowing) for members in at_rest])


def gestures(family: Mapping[str, list[Articulation]]) -> dict[str, Array]:
    """Return what share of the shifts of F1 and F2 the paper's gestures give, and what share jaw and lips."""
    plain, goal = family["plain"], vocal_tract_shapes.targets()[1][:2]
    before = vocal_tract_shapes.formants(plain)[:, :2]
    raised = [tract.moved(shape, larynx=vocal_tract_shapes.RISE_MORE) for shape in family["tongue"]]
    others = [inversion.invert(goal, shape, ("jaw", "lips"), effort=0.003).articulation for shape in plain]
    moved = {"larynx and tongue": raised, "jaw and lips": others}
    return {
        name: (vocal_tract_shapes.formants(after)[:, :2] - before) / (goal - before) for name, after in moved.items()
    }


def superimposed(frames: int, rng: np.random.Generator, tracing: float = 0.05) -> dict[str, Array]:
    """Measure the larynx's height in frames of a moving head, superimposed by incisor and palate, and as they stand."""
    fixed = tract.wall(np.linspace(0.0, _HARD_PALATE, 6))[0]
    larynx = tract.wall(np.array([tract.wall_length(tract.REST_LARYNX)]))[0]
    errors: dict[str, list[float]] = {"superimposed": [], "as it stands": []}
    for _ in range(frames):
        angle, shift = np.radians(rng.normal(0.0, 3.0)), rng.normal(0.0, 0.5, 2)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        marks, point = (points @ turn.T + shift + rng.normal(0.0, tracing, points.shape) for points in (fixed, larynx))
        depths = {
            "superimposed": contour_measures.to_rest_frame(point, marks, fixed)[0, 1],
            "as it stands": point[0, 1],
        }
        for name, depth in depths.items():
            errors[name].append(abs(depth - (larynx[0, 1] - fixed[0, 1])))
    return {name: np.array(found) for name, found in errors.items()}


def coupled_roots(plain: list[Articulation], couplings: Sequence[float]) -> Array:
    """Return what the measured rise of the larynx changes when the tongue root goes back with it."""
    rise = vocal_tract_shapes.RISE_MORE
    able = [shape for shape in plain if shape.root <= _FREE_ROOT]
    return np.array([vocal_tract_shapes.changes(able, larynx=rise, root=float(c) * rise)[:, :2] for c in couplings])


def larynx_tubes(plain: list[Articulation], shares: Sequence[float] = (0.6, 1.0, 1.4)) -> Array:
    """Return what the measured rise of the larynx changes when its tube is shorter or longer, shape (shares, 2)."""
    found = []
    for share in shares:
        shifts = []
        for shape in plain:
            ends = []
            for height in (0.0, vocal_tract_shapes.RISE_MORE):
                areas, lengths = tract.area_function(tract.moved(shape, larynx=height))
                scaled = np.concatenate([lengths[:5] * share, lengths[5:]])
                ends.append(tube.resonances(areas, scaled, count=2).frequencies)
            shifts.append(ends[1] - ends[0])
        found.append(np.mean(shifts, axis=0))
    return np.array(found)


def run(quick: bool = False) -> dict[str, Plain]:
    """Compute the study's main results: every number that the paper derives, and what moves the formants.

    It takes a few seconds; so does `quick`. The search for the shapes takes longer: it is recorded, by ``voicewire
    record pharyngeal shapes``.
    """
    family = {kind: members[:3] if quick else members for kind, members in vocal_tract_shapes.load().items()}
    plain = family["plain"]
    found = {f"pharyngeal.{name}": _plain(value) for name, (value, _) in recomputed_numbers.everything().items()}
    # these verdicts rest on what is repaired: rows where the figures stand, or a misprinted digit
    found |= {f"pharyngeal.{name}": _plain(value) for name, value in recomputed_numbers.mended().items()}
    changes = causes(family)
    f1, f2 = changes["larynx"].mean(axis=0)[:2].tolist()
    found |= {"pharyngeal.cause-larynx-f1": f1, "pharyngeal.cause-larynx-f2": f2}
    by_height = larynx_heights(plain)
    for k, formant in enumerate(("f1", "f2", "f3")):
        found[f"pharyngeal.intro.larynx-lowers-{formant}"] = by_height[:, k].tolist()
    found["pharyngeal.intro.f1-f2-approach"] = root_advances(plain).tolist()
    return found


def _plain(value: object) -> Plain:
    """A derived number as the scorecard holds it; of several tokens under one label, their mean."""
    if isinstance(value, dict):
        return {label: _plain(each) for label, each in value.items()}
    return float(np.mean(np.asarray(value, dtype=float)))

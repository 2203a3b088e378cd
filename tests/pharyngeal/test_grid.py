"""A grid adapted to the speaker: where its lines stand, what they read, and that another speaker's is his own."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.pharyngeal import reference, tract, tract_grid
from voicewire.pharyngeal.films import contour_measures
from voicewire.pharyngeal.tract import Articulation

REST = tract.outline(Articulation())
LINES = tract_grid.adapted(REST.wall)


def test_the_feet_stand_on_the_wall_and_the_lines_point_into_the_tract():
    off, _ = contour_measures.distances(LINES.feet, REST.wall)
    assert off.max() < 0.02
    assert np.allclose(np.hypot(*LINES.directions.T), 1.0)
    ends, _ = contour_measures.distances(LINES.feet + 0.3 * LINES.directions, REST.wall)
    assert ends.min() > 0.1
    assert (np.diff(LINES.places) > 0).all()


@settings(max_examples=30, deadline=None)
@given(st.floats(-0.6, 0.6), st.floats(-0.4, 0.6), st.floats(0.5, 2.0))
def test_a_larger_speaker_has_a_larger_grid(body, root, size):
    """The same line stands at the same place of a palate, and reads what it reads there, in his own measure."""
    tongue = tract.outline(Articulation(body=body, root=root)).tongue
    own = tract_grid.adapted(size * REST.wall)
    assert np.allclose(own.feet, size * LINES.feet, atol=1e-9)
    assert np.allclose(own.distances(size * tongue), size * LINES.distances(tongue), atol=1e-9, equal_nan=True)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_crossing_to_read_is_that_of_the_grid(seed):
    rng = np.random.default_rng(seed)
    contour = np.cumsum(rng.normal(0.3, 0.5, size=(12, 2)), axis=0)
    lines = tract_grid.Grid(rng.normal(2, 2, size=(6, 2)), np.array([[0.0, 1.0], [1.0, 0.0], [0.6, 0.8]] * 2))
    pieces = list(itertools.pairwise(contour))
    read = [
        min(reference.crossing(foot, way, a, b) for a, b in pieces)
        for foot, way in zip(lines.feet, lines.directions, strict=True)
    ]
    assert np.allclose(lines.distances(contour), np.where(np.isfinite(read), read, np.nan), atol=1e-9, equal_nan=True)


@given(st.floats(-0.6, 0.6), st.floats(-0.4, 0.6))
def test_along_a_line_the_tongue_is_no_nearer_than_it_is(body, root):
    """The least distance to the wall is the least in any direction."""
    shape = tract.outline(Articulation(body=body, root=root))
    reach = LINES.distances(shape.tongue)
    seen = np.isfinite(reach)
    points = LINES.feet[seen] + reach[seen, None] * LINES.directions[seen]
    nearest, _ = contour_measures.distances(points, REST.wall)
    assert seen.sum() > 20 and (reach[seen] >= nearest - 0.02).all()


def test_a_line_beside_a_contour_does_not_meet_it():
    lines = tract_grid.Grid(np.array([[0.0, 0.0], [5.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 1.0]]))
    found = lines.distances(np.array([[-1.0, 2.0], [1.0, 2.0], [1.0, 3.0]]))
    assert found[0] == 2.0 and np.isnan(found[1])


@pytest.mark.parametrize(
    ("wall", "said"),
    [
        (REST.wall[::-1], "must run back from the incisor"),
        (REST.wall[:20], "must run back from the incisor"),
        (np.vstack([REST.wall, REST.wall[-5:]]), "turns back on itself"),
    ],
)
def test_what_is_no_wall_is_refused(wall, said):
    with pytest.raises(ValueError, match=said):
        tract_grid.adapted(wall)


def test_feet_and_directions_go_in_pairs():
    with pytest.raises(ValueError, match="3 feet and 2 directions"):
        tract_grid.Grid(np.zeros((3, 2)), np.ones((2, 2)))

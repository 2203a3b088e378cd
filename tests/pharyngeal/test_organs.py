"""The organs around the tract: what is drawn is what is told, and what was traced on key frames is found on others."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.pharyngeal import paper, tract
from voicewire.pharyngeal import reference as reading
from voicewire.pharyngeal.films import keyframes, organs, xray_film
from voicewire.pharyngeal.statistics import principal_components
from voicewire.pharyngeal.tract import Articulation

KEYS = organs.film(60, np.random.default_rng(1))
OTHERS = organs.film(20, np.random.default_rng(2))


@pytest.fixture(scope="module")
def tracker():
    return keyframes.KeyTracker([frame.image for frame in KEYS[1]], [organs.contours(one) for one in KEYS[0]])


@given(st.floats(-0.2, 1.2), st.floats(-0.4, 0.6))
def test_heights_are_those_of_the_tract(larynx, root):
    posture = organs.Posture(Articulation(larynx=larynx, root=root))
    drawn, shape = organs.contours(posture), tract.outline(posture.articulation)
    assert organs.height("lower pharynx", drawn["lower pharynx"]) == pytest.approx(shape.larynx)
    assert organs.height("hyoid", drawn["hyoid"]) == pytest.approx(shape.hyoid)


def test_rest_is_the_papers():
    drawn = organs.contours(organs.Posture(Articulation()))
    for organ, quantity in (("lower pharynx", "larynx"), ("hyoid", "hyoid")):
        assert organs.height(organ, drawn[organ]) == pytest.approx(float(paper.cell(1, "rest", quantity)))


@pytest.mark.parametrize(
    ("organ", "inside", "outside"),
    [("lips", 0.6, None), ("jaw", 0.85, 0.6), ("hyoid", 0.85, 0.6)],
)
def test_a_frame_shows_each_organ_where_its_contour_is(organ, inside, outside):
    posture = organs.Posture(Articulation(larynx=0.4, jaw=0.3), protrusion=0.3)
    frame = organs.render(posture, np.random.default_rng(1), noise=0.0, blur=0.0, occlusions=0)
    contour = organs.contours(posture)[organ]
    middle = contour[:16].mean(axis=0)
    for share, wanted in ((0.8, inside), (1.3, outside)):
        if wanted is None:
            continue
        rows, columns = xray_film.pixels(middle + share * (contour[:16] - middle)).round().astype(int).T
        assert np.median(frame.image[rows, columns]) == pytest.approx(wanted, abs=0.1)


def test_a_film_without_layers_is_the_film_it_was():
    """The old frames draw the same random numbers in the same order."""
    still = xray_film.film(2, np.random.default_rng(11))[1]
    rng = np.random.default_rng(11)
    position = Articulation(
        **{name: float(xray_film.wander(2, rng, *ends)[1]) for name, ends in xray_film.RANGES.items()}
    )
    assert np.allclose(still.outline.tongue, tract.outline(position).tongue)


def test_all_organs_are_found_on_frames_that_nobody_traced(tracker):
    errors = {organ: [] for organ in organs.ORGANS}
    heights = {organ: [] for organ in ("hyoid", "lower pharynx")}
    for posture, frame in zip(*OTHERS, strict=True):
        found, truth = tracker.track(frame.image), organs.contours(posture)
        for organ in errors:
            errors[organ].append(np.hypot(*(found[organ] - truth[organ]).T).mean())
        for organ in heights:
            heights[organ].append(organs.height(organ, found[organ]) - organs.height(organ, truth[organ]))
    assert all(np.mean(error) < 0.04 for error in errors.values())
    assert all(np.abs(error).mean() < 0.04 for error in heights.values())


@pytest.mark.parametrize("organ", organs.ORGANS)
def test_the_tracker_to_read_is_the_tracker(tracker, organ):
    place = keyframes.window(organ)
    seen = np.array([reading.described(frame.image[place]) for frame in KEYS[1]])
    drawn = np.array([organs.contours(posture)[organ].ravel() for posture in KEYS[0]])
    image = OTHERS[1][3].image
    slow = reading.carried(seen, drawn, reading.described(image[place]))
    assert np.allclose(slow.reshape(-1, 2), tracker.track(image)[organ], atol=1e-9)


def test_exposure_moves_no_contour(tracker):
    image = OTHERS[1][0].image
    slope = 0.1 * np.linspace(0, 1, 256)
    for organ, contour in tracker.track(image + 0.05).items():
        assert np.allclose(contour, tracker.track(image)[organ], atol=1e-9)
    moved = tracker.track(image + slope)
    assert max(np.abs(moved[organ] - tracker.track(image)[organ]).max() for organ in moved) < 0.1


def test_a_frame_of_bytes_is_the_same_frame(tracker):
    image = np.clip(OTHERS[1][0].image, 0, 1)
    for organ, contour in tracker.track(np.round(255 * image).astype(np.uint8)).items():
        assert np.abs(contour - tracker.track(image)[organ]).max() < 0.02


@pytest.mark.parametrize(
    ("images", "traced", "said"),
    [
        (3, 2, "3 key frames and 2 tracings"),
        (2, [{"tail": np.zeros((3, 2))}] * 2, "tail; there are lips"),
        (2, [{}] * 2, "no organ"),
        (2, [{"jaw": np.zeros((3, 2))}, {"jaw": np.zeros((4, 2))}], "differ in their organs"),
    ],
)
def test_tracings_that_do_not_fit_are_refused(images, traced, said):
    given_traced = [organs.contours(one) for one in KEYS[0][:traced]] if isinstance(traced, int) else traced
    with pytest.raises(ValueError, match=said):
        keyframes.KeyTracker([frame.image for frame in KEYS[1][:images]], given_traced)


def test_key_frames_that_are_all_alike_teach_nothing():
    image, drawn = KEYS[1][0].image, organs.contours(KEYS[0][0])
    with pytest.raises(ValueError, match="all alike"):
        keyframes.KeyTracker([image, image], [drawn, drawn])


@given(st.integers(2, 60), st.integers(1, 12))
def test_cosines_are_orthonormal(length, count):
    count = min(count, length)
    rows = reading.cosines(length, count)
    assert np.allclose(rows @ rows.T, np.eye(count))


# The model of components


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(0, 2))
def test_guided_components_are_their_guides(seed, many, more):
    """The first is what the contours do with its guide; all together rebuild what so many movements made."""
    rng = np.random.default_rng(seed)
    moves = rng.standard_normal((40, many + more))
    contours = moves @ rng.standard_normal((many + more, 12)) + rng.standard_normal(12)
    model = principal_components.guided(contours, moves[:, :many], many + more)
    assert model.error(contours) < 1e-8 and model.explained.sum() == pytest.approx(1.0)
    own = (moves[:, 0] - moves[:, 0].mean()) / moves[:, 0].std(ddof=1)
    assert np.allclose(model.components[0] * model.spread[0], own @ (contours - contours.mean(axis=0)) / 39)


def test_without_overlap_a_guide_is_its_score():
    time = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    moves = np.column_stack([np.sin(time), np.cos(2 * time)])
    contours = moves @ np.array([[1.0, 0.5, 0.0], [0.2, 0.0, 3.0]])
    scores = principal_components.guided(contours, moves, 2).scores(contours)
    for k in range(2):
        assert np.allclose(scores[:, k] * moves[:, k].std(ddof=1), moves[:, k])


@pytest.mark.parametrize(
    ("guides", "count", "said"),
    [
        (np.ones((40, 1)), 2, "moves no contour"),
        (np.column_stack([np.arange(40.0)] * 2), 2, "as the guides before it do"),
        (np.arange(39.0)[:, None], 2, "40 contours and 39 rows"),
        (np.random.default_rng(1).random((40, 3)), 2, "at most 2 guides, not 3"),
    ],
)
def test_guides_that_guide_nothing_are_refused(guides, count, said):
    contours = np.random.default_rng(2).random((40, 5))
    with pytest.raises(ValueError, match=said):
        principal_components.guided(contours, guides, count)


def test_the_papers_factors_rebuild_its_organs_and_one_less_does_not():
    """Two for the lips, two for the lower pharynx; what is left of the latter is the root's push on the epiglottis."""
    postures = KEYS[0]
    for organ in ("lips", "lower pharynx"):
        drawn = [organs.contours(posture)[organ] for posture in postures]
        flat = np.array([contour.ravel() for contour in drawn])
        named = np.array([organs.guides(organ, contour) for contour in drawn])
        both = principal_components.guided(flat, named, len(paper.FACTORS[organ]))
        one = principal_components.guided(flat, named[:, :1], 1)
        assert both.error(flat) < min(0.03, 0.7 * one.error(flat))


def test_what_is_drawn_moves_by_its_own_numbers_only():
    still = organs.contours(organs.Posture(Articulation()))
    moves = {
        "lips": {"lips"}, "jaw": {"jaw"}, "larynx": {"hyoid", "lower pharynx"}, "root": {"hyoid", "lower pharynx"},
        "body": set(),
    }  # fmt: skip
    for name, organs_moved in moves.items():
        moved = organs.contours(organs.Posture(tract.moved(Articulation(), **{name: 0.3})))
        assert {organ for organ in still if not np.allclose(moved[organ], still[organ])} == organs_moved
    others = {"protrusion": (0.0, "lips"), "velum": (1.0, "velum"), "glottis": (0.0, "lower pharynx")}
    for (name, (rest, organ)), step in itertools.product(others.items(), (0.5,)):
        moved = organs.contours(organs.Posture(Articulation(), **{name: abs(rest - step)}))
        assert {one for one in still if not np.allclose(moved[one], still[one])} == {organ}

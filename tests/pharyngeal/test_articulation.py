"""Articulation: tubes, tract, measurement, tracking, components, inversion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from voicewire.pharyngeal import inversion, tract, tube
from voicewire.pharyngeal.films import contour_measures, xray_film
from voicewire.pharyngeal.statistics import principal_components
from voicewire.pharyngeal.tract import Articulation
from voicewire_book.chapters.pharyngeal import experiments, vocal_tract_shapes


@given(st.floats(8, 22), st.floats(0.3, 10), st.integers(1, 40))
@settings(max_examples=30, deadline=None)
def test_a_uniform_tube_has_its_closed_form(length, area, sections):
    found = tube.resonances([area] * sections, [length / sections] * sections, walls=False, radiation=False)
    assert np.abs(found.frequencies - tube.uniform(length)).max() < 1.0


@given(st.floats(0.3, 8), st.floats(4, 12), st.floats(0.3, 8), st.floats(4, 12))
@settings(max_examples=30, deadline=None)
def test_two_tubes_have_their_closed_form(ab, lb, af, lf):
    found = tube.resonances([ab, af], [lb, lf], walls=False, radiation=False)
    assert np.abs(found.frequencies - tube.two_tube((ab, lb), (af, lf))).max() < 1.0


@pytest.mark.parametrize("phone", list("aeiou"))
def test_praats_vowels_within_five_percent(phone):
    areas, lengths, praat = tube.praat_tract(phone)
    ours = tube.resonances(areas, lengths, walls=False).frequencies[:3]
    assert np.abs(ours / praat[:3] - 1).max() < 0.05


def test_losses_give_bandwidths_and_the_gain_peaks_at_the_formants():
    areas, lengths = tract.area_function(Articulation(body=0.2, jaw=0.3))
    found = tube.resonances(areas, lengths)
    assert (found.bandwidths[:3] > 20).all() and (found.bandwidths[:3] < 300).all()
    f = np.arange(100.0, 3200.0, 5.0)
    gain = tube.response(areas, lengths, f)
    peaks = f[1:-1][(gain[1:-1] > gain[:-2]) & (gain[1:-1] > gain[2:])]
    np.testing.assert_allclose(peaks[:3], found.frequencies[:3], atol=30)


@pytest.mark.parametrize("bad", [([], []), ([1.0], [1.0, 2.0]), ([0.0], [1.0]), ([1.0], [-1.0]), ([np.nan], [1.0])])
def test_impossible_tubes(bad):
    with pytest.raises(ValueError, match="^(areas|lengths) "):
        tube.resonances(*bad)


def test_a_raised_larynx_raises_every_formant_and_the_root_lowers_f2():
    for base in (Articulation(), Articulation(body=0.3, jaw=0.3), Articulation(body=-0.5)):
        higher = tract.formants(tract.moved(base, larynx=0.5)).frequencies
        assert (higher > tract.formants(base).frequencies).all()
    start = Articulation(body=0.2, jaw=0.3)
    change = tract.formants(tract.moved(start, root=0.5)).frequencies - tract.formants(start).frequencies
    assert change[0] > 0 > change[1]


def test_positions_out_of_range_are_named():
    with pytest.raises(ValueError, match="larynx is 5"):
        tract.outline(Articulation(larynx=5.0))


def test_the_vowel_that_is_spoken_has_the_tracts_formants():
    from voicewire.pharyngeal import formants

    shape = Articulation(body=0.4, jaw=0.5)
    heard = formants.midpoint(tract.speak(shape))
    wanted = tract.formants(shape).frequencies
    assert np.abs(heard[:2] - wanted[:2]).max() < 45


@pytest.mark.parametrize("position", [
    Articulation(tip=0.9), Articulation(body=-0.6), Articulation(body=0.5, root=0.2), Articulation(root=0.6, body=0.1),
    Articulation(dorsum=0.5),
])  # fmt: skip
def test_the_opening_is_recovered(position):
    shape = tract.outline(position)
    found = contour_measures.constriction(shape.tongue, shape.wall, (0.8, 20.0))
    assert abs(found.opening - shape.opening[shape.place >= 0.8].min()) < 0.05


def test_the_most_anterior_contact_counts():
    wall = np.array([[0.0, 0.0], [10.0, 0.0]])
    tongue = np.array([[1.0, 1.0], [2.0, 0.01], [3.0, 1.0], [6.0, 1.0], [7.0, 0.0], [8.0, 1.0]])
    found = contour_measures.constriction(tongue, wall)
    assert found.contact and 1.9 < found.location <= 2.0
    apart = contour_measures.constriction(tongue + np.array([0.0, 0.2]), wall)
    assert (
        not apart.contact
        and apart.location == pytest.approx(7.0, abs=0.05)
        and apart.opening == pytest.approx(0.2, abs=0.02)
    )
    with pytest.raises(ValueError, match="no part of the tongue"):
        contour_measures.constriction(tongue, wall, (11.0, 12.0))


@given(st.floats(-0.5, 0.5), st.floats(-2, 2), st.floats(-2, 2))
@settings(max_examples=20, deadline=None)
def test_the_rest_frame_undoes_a_moving_head(angle, dx, dy):
    shape = tract.outline(Articulation(body=0.3))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    moved, skull = (p @ turn.T + [dx, dy] for p in (shape.tongue, shape.wall[:10]))
    np.testing.assert_allclose(contour_measures.to_rest_frame(moved, skull, shape.wall[:10]), shape.tongue, atol=1e-9)


@pytest.mark.parametrize("call", [
    lambda: contour_measures.to_rest_frame(np.zeros((3, 2)), np.eye(2), np.ones((3, 2))),
    lambda: contour_measures.constriction(np.zeros(4), np.zeros((4, 2))),
    lambda: contour_measures.constriction(np.full((4, 2), np.nan), np.eye(2)),
    lambda: contour_measures.distances(np.eye(2), np.ones((3, 2))),
    lambda: xray_film.Tracker(12.0),
    lambda: xray_film.Tracker().track(np.zeros((10, 10))),
    lambda: xray_film.Tracker().track(np.zeros((256, 256))),
    lambda: xray_film.Tracker().track(np.full((256, 256), np.nan)),
    lambda: principal_components.fit(np.zeros((2, 9)), 3),
    lambda: principal_components.fit(np.full((9, 9), np.nan), 3),
    lambda: inversion.invert([900.0, 500.0], Articulation()),
    lambda: inversion.invert([500.0], Articulation(), ("ear",)),
])  # fmt: skip
def test_impossible_input_is_one_clear_error(call):
    with pytest.raises(ValueError, match=r".{15,}"):
        call()


def test_the_location_is_ill_conditioned_and_the_opening_is_not():
    shape = tract.outline(Articulation(body=0.35, tip=0.05, root=0.08, root_place=12.5))
    inside = shape.place >= 0.8
    openings, places = contour_measures.perturbed(shape.tongue[inside], shape.wall, 0.02, np.random.default_rng(1), 60)
    assert openings.std() < 0.03 and places.std() > 1.0


def test_tracking_through_noise_and_patches():
    tracker = xray_film.Tracker()
    film = xray_film.film(16, np.random.default_rng(3))
    errors = [np.abs(tracker.track(f.image) - tracker.truth(f.outline)).mean() for f in film]
    assert all(len(f.hidden) == 2 for f in film)
    assert np.mean(errors) < 0.05 and np.max(errors) < 0.05


@pytest.mark.parametrize("larynx", [3.0, 5.0, 7.9])
def test_a_frame_is_unwrapped_as_if_all_of_it_were_smoothed(larynx):
    tracker = xray_film.Tracker(larynx)
    image = np.random.default_rng(4).random((xray_film.SIZE, xray_film.SIZE))  # noise: a pixel too few would show
    smooth = ndimage.gaussian_filter(image, 1.0)
    points = tracker._points[None] + tracker.depth[:, None, None] * tracker._normals[None]
    along = ndimage.map_coordinates(smooth, xray_film.pixels(points.reshape(-1, 2)).T, order=1, mode="nearest")
    np.testing.assert_array_equal(tracker.unwrap(image).ravel(), along)


def test_components_rebuild_what_lies_in_their_space():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(40, 3)))[0].T
    data = rng.normal(size=(60, 3)) * [3.0, 2.0, 1.0] @ basis + rng.normal(size=40)
    model = principal_components.fit(data, 3)
    assert model.explained.sum() == pytest.approx(1.0) and model.error(data) < 1e-9
    np.testing.assert_allclose(model.contour(model.scores(data)), data, atol=1e-9)
    assert principal_components.fit(data, 2).error(data) > 0.1


def test_inversion_finds_the_formants_of_a_known_tract():
    truth = Articulation(body=0.25, jaw=0.2, root=0.2, lips=2.0, larynx=0.36)
    goal = tract.formants(truth, 3).frequencies
    found = inversion.invert(goal, Articulation(larynx=0.36))
    assert found.error < 0.01


def test_the_recorded_shapes_have_the_vowels_formants_and_are_not_alike():
    family = vocal_tract_shapes.load()
    for kind, goal in zip(("plain", "emphatic"), vocal_tract_shapes.targets(), strict=True):
        assert len(family[kind]) >= 8
        assert np.abs(vocal_tract_shapes.formants(family[kind])[:, :3] / goal - 1).max() < 0.01
        spread = np.ptp([shape.root for shape in family[kind]])
        assert spread > 0.5  # not unique
    larynx = vocal_tract_shapes.changes(family["plain"], larynx=vocal_tract_shapes.RISE_MORE)
    assert (larynx[:, 1] > 0).all() and (larynx[:, 0] < 0.5 * 138.52).all()


def test_the_hyoid_hangs_on_larynx_and_root():
    """The assumption by number: it rises by 0.75 of the larynx and by 0.2 of the root."""
    rest = tract.outline(Articulation()).hyoid
    assert rest == tract.REST_HYOID
    for knobs, rise in (({"larynx": 1.0}, 0.75), ({"root": 0.5}, 0.1), ({"larynx": -0.4, "root": 1.0}, -0.1)):
        assert rest - tract.outline(Articulation(**knobs)).hyoid == pytest.approx(rise)


@given(st.floats(-3, 3), st.floats(-2, 2), st.floats(-0.05, 0.05))
@settings(max_examples=50, deadline=None)
def test_a_frame_is_turned_and_never_mirrored(angle, shift, bend):
    """Landmarks almost on a line, marked a little wrong, would be matched better by a mirror image."""
    rest = np.array([(0.0, 0.0), (1.0, 0.02), (2.0, 0.0)])
    here = rest * [1, -1] + [(0, 0), (0, bend), (0, 0)]
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    for landmarks, known in ((here, rest), (here[[0, 2]], rest[[0, 2]])):
        triangle = np.array([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)])
        found = contour_measures.to_rest_frame(triangle @ turn.T + shift, landmarks @ turn.T + shift, known)
        u, v = found[1] - found[0], found[2] - found[0]
        assert u[0] * v[1] - u[1] * v[0] == pytest.approx(1)  # as it was; a mirror image has -1
        assert np.allclose(np.linalg.norm(np.diff(found, axis=0), axis=1), [1, np.sqrt(2)])


def test_a_larynx_that_drags_the_root_along_lowers_the_second_formant():
    """What chapter 4 says: with all else frozen F2 rises in every shape, tied one to one its mean falls."""
    free, tied = experiments.coupled_roots(vocal_tract_shapes.load()["plain"], (0.0, 1.0))
    assert (free[:, 1] > 0).all()
    assert tied[:, 1].mean() < 0
    assert (tied[:, 1] < 0).sum() > len(tied) / 2
    assert (tied[:, 0] > free[:, 0]).all()  # the root raises F1


def test_the_lower_a_constriction_of_the_throat_lies_the_less_f2_falls():
    rng = np.random.default_rng(8)  # not the chapter's shapes
    drawn = [tract.random_open(rng, root=0.5) for _ in range(60)]
    upper, middle, lower = experiments.constricted_at(drawn, tuple(experiments.PHARYNX.values()))
    assert (upper[:, 1] < lower[:, 1]).all()  # F2, Hz, shape by shape
    assert np.median(upper[:, 1]) < np.median(middle[:, 1]) < np.median(lower[:, 1])
    assert abs(np.median(lower[:, 1])) < 0.2 * abs(np.median(upper[:, 1]))
    assert np.median(lower[:, 2]) < 0 < np.median(upper[:, 2])  # F3
    assert all(np.median(change[:, 0]) > 0 for change in (upper, middle, lower))


@pytest.mark.parametrize("place", experiments.PHARYNX.values())
def test_the_throat_narrows_most_where_it_was_asked_to(place):
    before, after = (tract.outline(Articulation(jaw=0.3, root=root, root_place=place)) for root in (0.0, 0.5))
    assert before.place[(before.opening - after.opening).argmax()] == pytest.approx(place, abs=0.25)

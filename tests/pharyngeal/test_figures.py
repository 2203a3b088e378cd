"""The data behind the figures, which nbval cannot see."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from voicewire.pharyngeal import formant_transitions, formants, synthesis, tract, tract_grid, tube
from voicewire.pharyngeal.films import organs, xray_film
from voicewire.pharyngeal.statistics import principal_components
from voicewire.pharyngeal.tract import Articulation
from voicewire_book.chapters.pharyngeal import figures, recomputed_numbers

VOWEL = Articulation(body=0.2, jaw=0.3)


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def labels(ax):
    assert ax.get_xlabel() and "(" in ax.get_xlabel() + ax.get_ylabel()
    return {line.get_label(): line for line in ax.lines}


def test_resonances_show_the_chain_matrix_on_the_closed_form():
    lengths = np.array([14.0, 17.5])
    lines = labels(figures.tube_resonances(lengths))
    np.testing.assert_allclose(lines["chain matrix"].get_ydata(), [tube.uniform(x)[0] for x in lengths], atol=1)


def test_the_tract_is_drawn_with_its_formants_and_described():
    figure = figures.tract_and_sound(VOWEL)
    marks = [line.get_xdata()[0] for line in figure.axes[1].lines[1:5]]
    np.testing.assert_allclose(marks, tract.formants(VOWEL).frequencies)
    assert f"{marks[0]:.0f}" in figures.describe(VOWEL)


def test_sweep_starts_at_zero_and_the_larynx_lifts_all():
    lines = labels(figures.sweep(VOWEL, "larynx", [0.0, 0.5, 1.0]))
    for k in (1, 2, 3):
        y = np.asarray(lines[f"F{k}"].get_ydata())
        assert y[0] == 0 and (np.diff(y) > 0).all()


def test_tracks_and_truth():
    token = synthesis.vowel("tt", synthesis.Speaker("x"), np.random.default_rng(1))
    found = formants.track(token.sound)
    lines = labels(figures.tracks(token.sound, found, (token.times, token.truth)))
    np.testing.assert_allclose(lines["truth"].get_ydata(), token.truth[:, 0])
    np.testing.assert_allclose(lines["F2 tracked"].get_ydata(), found.frequencies[::2, 1])


def test_errors_show_medians():
    wrong = np.array([[1.0, 2, 3, 4], [3.0, 4, 5, 6], [np.nan, 9, 9, 9]])
    lines = labels(figures.errors({"one": wrong}))
    assert lines["one"].get_ydata()[0] == 2.0


def test_vowel_space_runs_as_phoneticians_have_it():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"context": ["a"] * 5 + ["b"] * 5, "F1": rng.normal(500, 9, 10), "F2": rng.normal(1500, 9, 10)}
    )
    ax = figures.vowel_space(table)
    assert ax.xaxis_inverted() and ax.yaxis_inverted() and {"a", "b"} <= set(labels(ax))


def test_frame_components_and_locations():
    tracker, shown = xray_film.Tracker(), xray_film.render(VOWEL, np.random.default_rng(0))
    lines = labels(figures.frame(shown, tracker, tracker.truth(shown.outline)))
    np.testing.assert_allclose(lines["truth"].get_ydata(), xray_film.pixels(shown.outline.tongue)[:, 0])
    model = principal_components.fit(np.random.default_rng(1).normal(size=(20, 30)), 3)
    figure = figures.components(model, np.arange(30.0))
    np.testing.assert_allclose(figure.axes[1].lines[0].get_ydata(), model.mean)
    ax = figures.locations(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [3.0, 4.0])


def test_leverage_lines_rise_and_fall():
    lines = labels(figures.leverage(*recomputed_numbers.larynx_f1()))
    for name, sign in (("line of all six", 1), ("line without it", -1)):
        assert np.sign(np.diff(lines[name].get_ydata()))[0] == sign
    assert len(lines["five tokens"].get_xdata()) == 5


def test_causes_and_the_missing_token():
    ax = figures.shares([("x", np.array([[10.0, -20.0], [20.0, -40.0]]))], np.array([138.52, -314.15, 0.0]))
    assert [round(p.get_width(), 2) for p in ax.patches] == [138.52, -314.15, 15.0, -30.0]
    figure = figures.missing({"hyoid": (np.array([1.0, 2.0]), 3.0), "larynx": (np.array([1.0, 3.0]), 5.0)})
    lines = labels(figure.axes[0])
    assert lines["printed mean"].get_xdata()[0] == 2.0 and lines["unlisted token"].get_xdata()[0] == 3.0


def test_organs_and_factors():
    posture = organs.Posture(VOWEL, protrusion=0.3)
    truth = organs.contours(posture)
    lifted = {organ: contour - [0.0, 0.1] for organ, contour in truth.items()}
    ax = figures.organs(organs.render(posture, np.random.default_rng(0)), lifted, truth)
    jaw = [line for line in ax.lines if line.get_linestyle() == "--"][1]
    np.testing.assert_allclose(jaw.get_ydata(), xray_film.pixels(lifted["jaw"])[:, 0])
    assert np.isnan(ax.lines[0].get_xdata()).sum() == 1  # two lips
    model = principal_components.fit(np.random.default_rng(1).normal(size=(20, 8)), 2)
    figure = figures.factors({"lips": model}, {"lips": ("aperture", "protrusion")})
    drawn = figure.axes[1].lines[1]
    x = drawn.get_xdata()
    np.testing.assert_allclose(x[~np.isnan(x)], model.contour(np.array([0.0, 2.0]))[0][::2])
    assert "protrusion" in figure.axes[1].get_xlabel()


def test_the_grid_over_two_outlines():
    rest, moved = tract.outline(Articulation()), tract.outline(VOWEL)
    lines = tract_grid.adapted(rest.wall, 3, 4, 5)
    drawn = labels(figures.grid(lines, {"rest": rest, "vowel": moved}))
    np.testing.assert_allclose(drawn["vowel"].get_xdata(), moved.tongue[:, 0])
    np.testing.assert_allclose(drawn["palate and rear wall"].get_ydata(), rest.wall[:, 1])
    np.testing.assert_allclose([line.get_xdata()[0] for line in plt.gca().lines[:12]], lines.feet[:, 0])


def test_a_transition_and_its_fit():
    times = np.linspace(0.0, 0.1, 20)
    found = formant_transitions.Transition(1800.0, 1200.0, 0.02)
    drawn = labels(figures.transitions({"plain": (times, np.full(20, 1500.0), found)}))
    np.testing.assert_allclose(drawn["plain"].get_ydata(), 1500.0)
    assert drawn["plain, fitted"].get_ydata()[[0, -1]] == pytest.approx([1800.0, 1200.0 + 600 * np.exp(-5)])

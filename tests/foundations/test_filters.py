"""The pieces of *Filters that learn* against least squares and the part on echoes, its formulas, and its figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import convolution_matrix
from scipy.signal import lfilter

from voicewire.echo import reference
from voicewire_book.chapters.foundations import filters, filters_figures

L, NOISE = 16, 0.03
seeds = st.integers(0, 2**32 - 1)


def scene(seed, size=400, pole=0.0, noise=NOISE):
    rng = np.random.default_rng(seed)
    h = rng.standard_normal(L) * np.exp(-np.arange(L) / 5)
    h /= np.linalg.norm(h)
    x = lfilter([np.sqrt(1 - pole**2)], [1, -pole], rng.standard_normal(size + L))
    X = filters.windows(x, L)[L:]
    return X, X @ h + noise * rng.standard_normal(size), h


def lacking(adapt, pole=0.0, size=1000, count=40, noise=NOISE):
    """What the taps lack after each sample, mean energy of many runs."""
    energy = np.zeros(size)
    for seed in range(count):
        X, d, h = scene(seed, size, pole, noise)
        energy += np.sum((h - adapt(X, d)[0]) ** 2, axis=1)
    return energy / count


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=20), st.integers(1, 6))
def test_windows_are_the_rows_of_a_convolution(x, size):
    rows = filters.windows(np.array(x, float), size)
    np.testing.assert_array_equal(rows, convolution_matrix(x, size)[: len(x)])


@given(seeds, st.sampled_from([0.9, 0.99, 1.0]), st.sampled_from([1e-3, 1.0, 50.0]))
def test_rls_solves_the_weighted_normal_equations_at_every_sample(seed, lam, eps):
    X, d, _ = scene(seed, 40)
    G, e = filters.rls(X, d, lam, eps)
    for n in (0, 7, 39):
        weights = lam ** np.arange(n, -1, -1)
        R = (X[: n + 1].T * weights) @ X[: n + 1] + eps * lam ** (n + 1) * np.eye(L)
        np.testing.assert_allclose(G[n], np.linalg.solve(R, X[: n + 1].T @ (weights * d[: n + 1])), atol=1e-6)
    np.testing.assert_allclose(e[1:], d[1:] - np.sum(X[1:] * G[:-1], axis=1), atol=1e-9)  # the old taps' errors


@given(seeds, st.integers(1, 5))
def test_the_projections_are_right_and_changed_nothing_across(seed, P):
    X, d, _ = scene(seed, 30)
    G, _ = filters.affine(X, d, P, eps=0.0)
    last = X[30 - P :]
    np.testing.assert_allclose(last @ G[-1], d[30 - P :], atol=1e-6)
    change = G[-1] - G[-2]
    inside = last.T @ np.linalg.lstsq(last.T, change, rcond=None)[0]
    np.testing.assert_allclose(inside, change, atol=1e-7)
    if P == 1:
        np.testing.assert_allclose(G, filters.nlms(X, d, eps=0.0)[0], atol=1e-9)


@given(seeds, st.floats(0.05, 1.95))
def test_without_noise_no_step_of_nlms_moves_away(seed, mu):
    X, d, h = scene(seed, 60, 0.9, noise=0.0)
    lack = np.sum((h - filters.nlms(X, d, mu)[0]) ** 2, axis=1)
    assert np.all(np.diff(lack) <= 1e-12)


@given(seeds)
def test_the_part_on_echoes_has_the_same_filters(seed):
    rng = np.random.default_rng(seed)
    window, g = rng.standard_normal((2, L))
    X = np.stack([window])
    ours, _ = filters.nlms(X, np.array([2.0]), 0.5, 1e-3)
    np.testing.assert_allclose(ours[0], reference.nlms_step(np.zeros(L), window, 2.0, 0.5, 1e-3)[0].real)
    k, _ = reference.rls_gain(np.eye(L), window, 0.99)
    np.testing.assert_allclose(filters.rls(X, np.array([2.0]), 0.99)[0][0], 2.0 * k.real)
    assert filters.lms(X, np.array([2.0]), 0.1)[0][0] == pytest.approx(0.2 * window)
    assert filters.misalignment(g[None], window)[0] == pytest.approx(
        20 * np.log10(np.linalg.norm(window - g) / np.linalg.norm(window))
    )


def test_descent_keeps_its_share_along_each_direction():
    R, h = np.array([[1.0, 0.9], [0.9, 1.0]]), np.array([1.0, -0.5])
    off = h - filters.descent(R, R @ h, 1 / 1.9, 20)
    flat = off @ [1, -1] / (h @ [1, -1])
    np.testing.assert_allclose(flat, (18 / 19) ** np.arange(1, 21))
    np.testing.assert_allclose(off @ [1, 1], 0, atol=1e-12)  # the steep direction is done at once


@pytest.mark.parametrize("mu", [0.01, 0.02, 0.05])
def test_the_floor_of_lms(mu):
    ends = lacking(lambda X, d: filters.lms(X, d, mu), size=2000, count=20)[1000:].mean()
    assert ends == pytest.approx(mu * L * NOISE**2 / (2 - mu * (L + 2)), rel=0.15)


def test_beyond_the_bound_in_mean_square_lms_explodes_inside_that_of_the_mean():
    lost = lacking(lambda X, d: filters.lms(X, d, 0.15), size=600, count=3)
    assert 2 / (L + 2) < 0.15 < 2 and lost[-1] > 1e6


@pytest.mark.parametrize("mu", [0.25, 1.0, 1.5])
def test_the_pace_and_the_floor_of_nlms(mu):
    lost = lacking(lambda X, d: filters.nlms(X, d, mu), size=1200)
    assert lost[-400:].mean() == pytest.approx(mu / (2 - mu) * NOISE**2, rel=0.3)
    clean = lacking(lambda X, d: filters.nlms(X, d, mu), size=200, noise=0.0)
    pace = np.polyfit(np.arange(100), np.log(clean[:100]), 1)[0]
    assert pace == pytest.approx(np.log1p(-mu * (2 - mu) / L), rel=0.25)


def test_the_floor_and_the_jump_of_rls():
    lost = lacking(lambda X, d: filters.rls(X, d, 0.99), size=1500, count=20)[700:].mean()
    assert lost == pytest.approx(L * NOISE**2 * 0.01 / 1.99, rel=0.25)
    X, d, h = scene(3, 1600, 0.9, noise=0.0)
    d[800:] = -d[800:]
    off = np.linalg.norm(-h - filters.rls(X, d, 0.99)[0], axis=1)
    falls = np.polyfit(np.arange(300), np.log(off[900:1200]), 1)[0]
    assert falls == pytest.approx(np.log(0.99), rel=0.15)  # coloured or not


def test_a_second_window_undoes_a_single_pole():
    one, two = (lacking(lambda X, d, P=P: filters.affine(X, d, P, 0.5), 0.9, 400, 10) for P in (1, 2))
    assert np.argmax(two < 0.01) < np.argmax(one < 0.01) / 2 if (one < 0.01).any() else (two < 0.01).any()


def test_a_small_epsilon_beats_a_large_one_where_directions_are_weak():
    after = {eps: lacking(lambda X, d, e=eps: filters.rls(X, d, 0.999, e), 0.99, 101, 10)[-1] for eps in (0.01, 1.0)}
    assert after[1.0] > 5 * after[0.01]


def test_what_the_figures_draw():
    G = np.array([[0.1, 0.2], [0.5, 0.6]])
    axes = filters_figures.guesses([1.0, 0.5], G, [1, 2])
    drawn = {line.get_label(): line.get_ydata() for line in axes.lines}
    np.testing.assert_array_equal(drawn["after 1 samples"], G[0])
    np.testing.assert_array_equal(drawn["the path, $h$"], [1.0, 0.5])
    way = filters_figures.bowl(np.eye(2), [1.0, 2.0], {"way": G}).lines[0].get_xydata()
    np.testing.assert_array_equal(way, [[0, 0], *G])
    curves = filters_figures.learning({"a": [0.0, -3.0]}, {"floor": -9.0}).lines
    np.testing.assert_array_equal(curves[0].get_ydata(), [0.0, -3.0])
    assert set(curves[1].get_ydata()) == {-9.0}
    both = filters_figures.trade([0.1, 0.2], [-3, -4], [-10, -10], [-10, -10]).lines
    np.testing.assert_allclose(both[2].get_ydata(), -10 + 10 * np.log10(2))

"""WL-DR-RLS without DCD: the printed passes with an exact solver, all of them as one, and for a single channel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.echo import WLDRRLSDCD, WLRLS, StereoRLS, paper, reference
from voicewire.echo.metrics import Curve, follow
from voicewire.echo.scenes.scene import Scene
from voicewire_book.chapters.echo import figures

LAM = 0.97


def drawn(seed, size, kind=complex):
    """A state in the middle of a run: taps, R, its inverse, a window and what was heard."""
    rng = np.random.default_rng(seed)

    def draw(*shape):
        z = rng.standard_normal((*shape, 2)).view(complex)[..., 0]
        return z if kind is complex else z.real

    a = draw(size, size + 3)
    R = a @ a.conj().T
    return draw(size), R, np.linalg.inv(R), draw(size), draw(1)[0]


@pytest.mark.parametrize("kind", [complex, float])
@pytest.mark.parametrize("reuse", [1, 2, 5])
def test_each_pass_solves_equations_12_and_13(kind, reuse):
    """Step by step as Table II says, R written out and solved by NumPy; one real channel likewise."""
    g, R, P, window, d_n = drawn(reuse, 6, kind)
    taps, inverse, first = reference.dr_rls_step(g, P, window, d_n, LAM, reuse)
    grown = LAM * R + np.outer(window, window.conj())
    for _ in range(reuse):
        e = d_n - np.vdot(g, window)  # what (12) stands for
        g = g + np.linalg.solve(grown, window * np.conj(e))  # (13) without anything left over
    assert np.allclose(taps, g, rtol=1e-9, atol=1e-12)
    assert np.allclose(inverse @ grown, np.eye(6), atol=1e-8)
    assert np.iscomplexobj(taps) is (kind is complex)
    assert np.isclose(first, d_n - np.vdot(drawn(reuse, 6, kind)[0], window))


@settings(max_examples=60, deadline=None)
@given(reuse=st.integers(1, 12), seed=st.integers(0, 2**32 - 1))
def test_all_passes_are_one_step_of_the_sum(reuse, seed):
    """Equation eq-echo-passes, in both of its forms."""
    g, _, P, window, d_n = drawn(seed, 5)
    taps, _, e_0 = reference.dr_rls_step(g, P, window, d_n, LAM, reuse)
    k, _ = reference.rls_gain(P, window, LAM)
    kappa = np.vdot(k, window)
    assert abs(kappa.imag) < 1e-12 and 0 < kappa.real < 1
    left = (1 - kappa.real) ** reuse
    assert np.allclose(taps, g + (1 - left) / kappa.real * k * np.conj(e_0))
    assert np.isclose(d_n - np.vdot(taps, window), left * e_0)


@settings(max_examples=60, deadline=None)
@given(
    length=st.integers(1, 9),
    reuse=st.integers(1, 7),
    memory=st.floats(2, 64),
    epsilon=st.floats(1e-2, 100),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_compiled_filters_are_the_passes(length, reuse, memory, epsilon, seed):
    """To 1e-8 of the largest: one pass for all of them, and sums in another order."""
    x, d = np.random.default_rng(seed).standard_normal((2, 60 + 2 * length, 2)).view(complex)[..., 0]
    x[30 : 30 + length + 3] = 0  # silence longer than the window
    lam = 1 - 1 / (memory * length + 1)
    taps, errors = reference.dr_rls(x, d, length, lam, reuse, epsilon)
    for filter_ in (WLRLS, StereoRLS):
        fast = filter_(length, lam, epsilon, data_reuse=reuse)
        found = np.concatenate([fast.process(x[:41], d[:41]), fast.process(x[41:], d[41:])])
        assert np.abs(found - errors).max() < 1e-8 * np.abs(errors).max()
        assert np.abs(fast.taps - taps).max() < 1e-8 * max(1, np.abs(taps).max())


def test_one_pass_is_recursive_least_squares_bit_for_bit():
    signals = Scene(8, 500, 2).signals()
    assert all(
        np.array_equal(*pair)
        for pair in zip(
            reference.dr_rls(signals.x, signals.d, 8, 0.99),
            reference.rls(signals.x, signals.d, 8, 0.99),
            strict=True,
        )
    )


@pytest.mark.parametrize("kind", [complex, float])
def test_a_search_with_moves_enough_is_the_exact_solution(kind):
    """DCD in `reuse_step`, of one real channel too, comes to what `dr_rls_step` solves, and leaves nothing over."""
    g, R, P, window, d_n = drawn(7, 5, kind)
    grown = LAM * R + np.outer(window, window.conj())
    state = g + 0j, np.zeros(5, complex), grown + 0j, window + 0j, complex(d_n)
    taps, left, _ = reference.reuse_step(*state, LAM, 3, N_u=20_000, M_b=40, H=16.0)
    exact, _, _ = reference.dr_rls_step(g, P, window, d_n, LAM, 3)
    assert np.abs(taps - exact).max() < 1e-7
    assert np.abs(left).max() < 1e-7
    if kind is float:
        assert not taps.imag.any()  # one real channel stays real


def test_an_unfinished_search_tracks_more_slowly_and_lies_lower():
    """What the chapter's figure shows, over five conversations; with 32 moves the search is the exact filter."""
    slower, lower, alike = [], [], []
    for seed in range(5):
        signals = Scene(32, 16_000, seed, change="sign", change_at=10_000).signals()
        exact = follow(StereoRLS(32, 1 - 1 / 768, data_reuse=3), signals, 100)
        few, many = (follow(WLDRRLSDCD(32, 1 - 1 / 768, 3, moves), signals, 100) for moves in (4, 32))
        slower.append(few.tracking_time(10_000, -12) / exact.tracking_time(10_000, -12))
        lower.append(few.steady(8000, 10_000) - exact.steady(8000, 10_000))
        alike.append(many.steady(8000, 10_000) - exact.steady(8000, 10_000))
    assert min(slower) >= 1 and np.mean(slower) > 1.1
    assert np.mean(lower) < -0.5
    assert np.abs(np.mean(alike)) < 1


def test_the_figure_draws_what_it_is_given():
    curves = {n: Curve(np.array([1000, 2000]), np.array([-n, -2.0 * n])) for n in (1, 3)}
    found = figures.with_and_without_dcd(curves, {1: curves[3]}).lines
    assert [list(line.get_ydata()) for line in found] == [[-1, -2], [-3, -6], [-3, -6]]
    assert list(found[0].get_xdata()) == [1, 2]
    assert found[0].get_color() == found[2].get_color() != found[1].get_color()
    assert [line.get_linestyle() for line in found] == ["-", "-", "--"]


def test_without_predistortion_the_exact_filter_starts_well_and_the_search_overshoots():
    """What the last chapter says of five passes and alpha_r = 0: a fair start, then worse; DCD is high at once."""
    setting = paper.FIGURE_1
    signals = Scene(setting.length, 41_000, 1, predistortion=0.0).signals()
    exact, search = (
        follow(filter_, signals, 1000).decibels
        for filter_ in (
            StereoRLS(setting.length, setting.forgetting, data_reuse=5),
            WLDRRLSDCD(setting.length, setting.forgetting, 5, dtype=np.float32),
        )
    )
    assert exact.min() < -5
    assert exact[-1] > exact.min() + 3
    assert search.min() > 0

"""Four real filters side by side are the widely linear one; the real form goes on to any number of channels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.echo import WLNLMS, Responses, StereoNLMS, StereoRLS, complex_taps, multichannel_filters, reference
from voicewire.echo.metrics import misalignment
from voicewire.echo.scenes.scene import Scene


def pairs(z):
    return np.column_stack([z.real, z.imag])


def joined(h):
    """The complex taps of h[microphone, delay, loudspeaker]."""
    return complex_taps(Responses(LL=h[0, :, 0], RL=h[0, :, 1], LR=h[1, :, 0], RR=h[1, :, 1]))


def noise(length, seed, samples=120):
    return np.random.default_rng(seed).standard_normal((2, samples, 2)).view(complex)[..., 0]


def adapted(step, x, d, length, mu, eps):
    h, windows, errors = np.zeros((2, length, 2)), np.zeros((length, 2)), []
    for x_n, d_n in zip(pairs(x), pairs(d), strict=True):
        windows = multichannel_filters.in_front(windows, x_n)
        h, e = step(h, windows, d_n, mu, eps)
        errors.append(e)
    return h, np.array(errors)


@settings(max_examples=30, deadline=None)
@given(
    length=st.integers(1, 12), mu=st.floats(0.05, 1.9), eps=st.floats(1e-3, 10), seed=st.integers(0, 2**32 - 1)
)
def test_four_real_filters_are_the_complex_one(length, mu, eps, seed):
    """Equation (7) with the step of NLMS: to 1e-9, by the pages and by the compiled filters."""
    x, d = noise(length, seed)
    h, e = adapted(multichannel_filters.nlms_together, x, d, length, mu, eps)
    taps, errors = reference.nlms(x, d, length, mu, 2 * eps)
    level = max(1, np.abs(errors).max())
    assert np.abs(joined(h) - taps).max() < 1e-9 * level
    assert np.abs(e[:, 0] + 1j * e[:, 1] - errors).max() < 1e-9 * level
    for filter_ in (WLNLMS, StereoNLMS):
        fast = filter_(length, mu, 2 * eps)
        found = np.concatenate([fast.process(x[:41], d[:41]), fast.process(x[41:], d[41:])])
        assert np.abs(found - errors).max() < 1e-9 * level
        assert np.abs(fast.taps - taps).max() < 1e-9 * level


def test_in_float32_it_stays_in_float32():
    x, d = noise(8, 1, 400)
    fine, coarse = StereoNLMS(8), StereoNLMS(8, dtype=np.float32)
    assert coarse.process(x, d).dtype == np.complex64
    fine.process(x, d)
    assert 0 < np.abs(fine.taps - coarse.taps).max() < 1e-4


def test_filters_on_their_own_learn_the_wrong_paths():
    """Over five conversations: together they come down, apart they end no better than untouched."""
    for seed in range(5):
        signals = Scene(16, 4000, seed, source="white").signals()
        truth = signals.truth(0)
        ends = {}
        for step in (multichannel_filters.nlms_together, multichannel_filters.nlms_apart):
            h, _ = adapted(step, signals.x, signals.d, 16, 0.5, 1e-3)
            ends[step] = misalignment(joined(h), truth)
        assert ends[multichannel_filters.nlms_together] < -8 and ends[multichannel_filters.nlms_apart] > -3


def test_with_both_loudspeakers_alike_each_filter_alone_claims_all():
    """By hand, as the chapter says: paths 3 and 1, together 2 and 2, apart 4 and 4."""
    window, heard = np.array([[1.0, 1.0]]), np.array([4.0])
    together, _ = multichannel_filters.nlms_together(np.zeros((1, 1, 2)), window, heard, 1.0, 0.0)
    apart, _ = multichannel_filters.nlms_apart(np.zeros((1, 1, 2)), window, heard, 1.0, 0.0)
    assert together.tolist() == [[[2, 2]]] and apart.tolist() == [[[4, 4]]]


@pytest.mark.parametrize("reuse", [1, 3])
def test_one_gain_for_all_microphones_is_the_compiled_stereo_filter(reuse):
    x, d = noise(6, 3)
    fast = StereoRLS(6, 0.98, 0.5, data_reuse=reuse)
    errors = fast.process(x, d)
    h, P, windows = np.zeros((2, 12)), np.eye(12) / 0.25, np.zeros((6, 2))  # the real epsilon is half of it
    for x_n, d_n, e_n in zip(pairs(x), pairs(d), errors, strict=True):
        windows = multichannel_filters.in_front(windows, x_n)
        h, P, e = multichannel_filters.rls_together(h, P, windows.ravel(), d_n, 0.98, reuse)
        assert abs(e[0] + 1j * e[1] - e_n) < 1e-9
    assert np.abs(joined(h.reshape(2, 6, 2)) - fast.taps).max() < 1e-9


@pytest.mark.parametrize("speakers", [1, 2, 3])
def test_as_many_new_columns_as_loudspeakers(speakers):
    rng = np.random.default_rng(speakers)
    whole = R = np.zeros((4 * speakers, 4 * speakers))
    windows = np.zeros((4, speakers))
    for _ in range(12):
        windows = multichannel_filters.in_front(windows, rng.standard_normal(speakers))
        window = windows.ravel()
        R = multichannel_filters.next_block(R, window, 0.9, speakers)
        whole = 0.9 * whole + np.outer(window, window)
    assert np.allclose(R, whole)


@pytest.mark.parametrize(("speakers", "microphones"), [(1, 1), (2, 2), (3, 2), (5, 1)])
def test_any_number_of_channels_is_learnt(speakers, microphones):
    """The paper's future work: the exact filter and the search, on independent loudspeakers, noise at -30 dB."""
    rng = np.random.default_rng(7)
    size = 4 * speakers
    paths = rng.standard_normal((microphones, size))
    exact, h, r = np.zeros((3, microphones, size))
    P, R, windows = np.eye(size), np.eye(size), np.zeros((4, speakers))
    for _ in range(800):
        windows = multichannel_filters.in_front(windows, rng.standard_normal(speakers))
        window = windows.ravel()
        d = paths @ window + 0.03 * np.linalg.norm(paths, axis=1) * rng.standard_normal(microphones)
        exact, P, _ = multichannel_filters.rls_together(exact, P, window, d, 0.99, 3)
        R = multichannel_filters.next_block(R, window, 0.99, speakers)
        h, r, _ = multichannel_filters.reuse_together(h, r, R, window, d, 0.99, 3)
    for found in (exact, h):
        assert misalignment(found.ravel() + 0j, paths.ravel() + 0j) < -25


def test_a_search_with_moves_enough_is_the_exact_filter_on_each_microphone():
    rng = np.random.default_rng(2)
    a = rng.standard_normal((6, 9))
    R, window, h, d = a @ a.T, *rng.standard_normal((2, 6)), rng.standard_normal(2)
    h = rng.standard_normal((2, 6))
    grown = 0.9 * R + np.outer(window, window)
    still = h, np.zeros((2, 6)), grown, window, d, 0.9, 2
    found, left, e = multichannel_filters.reuse_together(*still, N_u=20_000, M_b=40, H=16.0)
    exact, _, first = multichannel_filters.rls_together(h, np.linalg.inv(R), window, d, 0.9, 2)
    assert np.abs(found - exact).max() < 1e-7 and np.abs(left).max() < 1e-7
    assert np.allclose(e, first)

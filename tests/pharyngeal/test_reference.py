"""The functions to read are the engines: tract, prediction, tracker; and what their derivations promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import solve_toeplitz
from scipy.signal import lfilter

from voicewire.pharyngeal import formants, librosa_import, reference, synthesis, tract, tube
from voicewire_book.chapters.pharyngeal import vocal_tract_shapes


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.floats(0.1, 12), st.floats(0.2, 6)), min_size=1, max_size=12))
def test_the_tube_to_read_is_the_compiled_one(cylinders):
    """To a millionth of a hertz: one multiplies matrices, the other a vector by each."""
    areas, lengths = np.array(cylinders).T
    fast = tube.resonances(areas, lengths, count=3)
    open_end = tube.resonances(areas, lengths, walls=False, radiation=False, count=3).frequencies
    if np.isnan(fast.frequencies).any():
        return  # fewer than three below 12 kHz; the version to read has no limit
    read = reference.resonances(areas, lengths, 3)
    assert np.abs(read - open_end).max() < 1e-6
    pairs = np.array([reference.formant(f, areas, lengths) for f in read])
    if (np.hypot(*np.diff(pairs, axis=0).T) < 0.5).any() or pairs[-1, 0] > read[-1] + 20:
        return  # a resonance ran into its neighbour's zero: the compiled one takes smaller steps there, see below
    assert np.abs(pairs[:, 0] - fast.frequencies).max() < 1e-6
    assert np.abs(pairs[:, 1] - fast.bandwidths).max() < 1e-6


def test_two_resonances_that_run_into_one_zero_are_told_apart():
    """A shape of the chapter with its larynx 0.6 cm lower: F4 and F5 had both become 4329 Hz."""
    areas, lengths = tract.area_function(tract.moved(vocal_tract_shapes.load()["plain"][6], larynx=-0.6))
    found = tube.resonances(areas, lengths, count=5)
    assert np.diff(found.frequencies).min() > 100
    assert np.allclose(tube.resonances(areas, lengths, count=4).frequencies, found.frequencies[:4], atol=1e-3)
    for f, b in zip(found.frequencies, found.bandwidths, strict=True):
        s = complex(-np.pi * b, 2 * np.pi * f)
        near = reference.flow_ratio(s + 2 * np.pi, areas, lengths, 1, 1)
        assert abs(reference.flow_ratio(s, areas, lengths, 1, 1)) < 1e-3 * abs(near)


@pytest.mark.parametrize("f", [lambda s: complex("nan"), lambda s: np.exp(s.real) + 1])
def test_secants_that_find_no_zero_end_with_no_number(f):
    assert np.isnan(reference.secant(f, 1 + 1j))


def test_the_tracts_of_the_model_too():
    rng = np.random.default_rng(1)
    for _ in range(4):
        areas, lengths = tract.area_function(tract.random_open(rng))
        fast = tube.resonances(areas, lengths, count=2)
        for k, f in enumerate(reference.resonances(areas, lengths, 2)):
            assert np.allclose(
                reference.formant(f, areas, lengths), (fast.frequencies[k], fast.bandwidths[k]), atol=1e-6
            )


def test_a_chain_matrix_has_determinant_1_and_halves_make_the_whole():
    sigma, gamma = reference.wave(2j * np.pi * 700 - 100)
    whole, half = (reference.section(3.0, length, sigma, gamma) for length in (8.0, 4.0))
    assert np.isclose(np.linalg.det(whole), 1)
    assert np.allclose(half @ half, whole)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 14))
def test_levinson_solves_the_equations(seed, order):
    x = np.random.default_rng(seed).standard_normal(60)
    r = reference.autocorrelation(x, order)
    a, energy = reference.levinson(r)
    assert np.allclose(a[1:], solve_toeplitz(r[:-1], -r[1:]))
    error = np.convolve(x, a)  # samples outside count as zero
    assert np.isclose(energy, error @ error)
    assert np.abs(np.roots(a)).max() < 1


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 14))
def test_burg_is_librosas_lpc(seed, order):
    x = np.random.default_rng(seed).standard_normal(80)
    a = reference.burg(x, order)
    assert np.allclose(a, librosa_import.librosa().lpc(x, order=order), atol=1e-10)
    assert np.abs(np.roots(a)).max() < 1


def test_poles_are_those_that_were_put_in():
    rate = 10_000
    centres, widths = np.array([700.0, 1200.0, 2600.0]), np.array([60.0, 90.0, 150.0])
    z = np.exp((-np.pi * widths + 2j * np.pi * centres) / rate)
    a = np.poly(np.concatenate([z, z.conj()])).real
    for found, put in zip(reference.poles(a, rate), (centres, widths), strict=True):
        assert np.allclose(found, put)
    struck = lfilter([1.0], a, np.eye(1, 3000)[0])  # all of it lies in the frame, as the autocorrelation supposes
    found, _ = reference.poles(reference.levinson(reference.autocorrelation(struck, 6))[0], rate)
    assert np.allclose(found, centres, atol=1)
    blown = lfilter([1.0], a, np.random.default_rng(1).standard_normal(40_000))  # goes on at both ends: Burg's case
    found, _ = reference.poles(reference.burg(blown, 6), rate)
    assert np.allclose(found, centres, atol=10)


def test_emphasis_by_hand():
    """With a corner of rate ln 2 / 2 pi, half of each sample goes from the next; the first stays as it is."""
    rate = 10_000
    found = reference.emphasised(np.array([3.0, 1.0, 2.0]), rate, corner=rate * np.log(2) / (2 * np.pi))
    assert np.allclose(found, [3.0, -0.5, 1.5])


@pytest.mark.parametrize("name", ["plain", "tt"])
def test_the_tracker_to_read_is_the_packages(name):
    """The package's tracker at the same rate, before it chooses among the poles: to a thousandth of a hertz."""
    token = synthesis.vowel(name, synthesis.Speaker("demo", f0=118.0), np.random.default_rng(3), scatter=0.0)
    low = librosa_import.librosa().resample(token.sound.samples, orig_sr=token.sound.rate, target_sr=10_000)
    times, frequencies, bandwidths = formants._track_lpc(token.sound.samples, token.sound.rate, formants.MALE)
    read = list(reference.track(low, 10_000))
    assert np.allclose([time for time, _, _ in read], times)
    for i, (_, F, B) in enumerate(read):
        assert np.abs(F - frequencies[i, : F.size]).max() < 1e-3
        assert np.abs(B - bandwidths[i, : B.size]).max() < 1e-3
        assert np.isnan(frequencies[i, F.size :]).all()


def test_the_signs_of_root_and_larynx_over_random_shapes():
    """What chapter 1 prints: a tendency of the root, and never both signs from the larynx."""
    rng = np.random.default_rng(1)
    shapes = [tract.random_open(rng, root=0.5, larynx=0.5) for _ in range(200)]
    base = np.array([tract.formants(a).frequencies for a in shapes])
    change = {
        knob: np.array([tract.formants(tract.moved(a, **{knob: 0.5})).frequencies for a in shapes]) - base
        for knob in ("root", "larynx")
    }
    both = {knob: np.mean((c[:, 0] > 0) & (c[:, 1] < 0)) for knob, c in change.items()}
    assert 0.7 < both["root"] < 0.9  # in most, not in all
    assert both["larynx"] == 0 and (change["larynx"][:, 0] > 0).mean() > 0.98


def test_random_shapes_stay_open_and_within_their_limits():
    rng = np.random.default_rng(2)
    for _ in range(20):
        shape = tract.random_open(rng, least=0.1, root=0.4)
        for each in (shape, tract.moved(shape, root=0.4)):
            assert tract.outline(each).opening.min() > 0.1

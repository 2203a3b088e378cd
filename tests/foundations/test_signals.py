"""The pieces of *Signals that can be predicted* against NumPy and SciPy, its statements, and what its figures draw."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import solve_toeplitz
from scipy.signal import freqz, lfilter

from voicewire.pharyngeal.reference import autocorrelation, emphasised, levinson, poles
from voicewire_book.chapters.foundations import signals, signals_figures

RATE = 8000
AH = [(730.0, 60.0), (1090.0, 80.0), (2440.0, 110.0), (3400.0, 150.0)]

rows = st.lists(st.integers(-50, 50), min_size=12, max_size=40).filter(any).map(lambda v: np.array(v, float))


@given(rows)
def test_a_spectrum_is_numpys(x):
    np.testing.assert_allclose(signals.spectrum(x), np.fft.fft(x), atol=1e-8)


@given(rows, st.integers(0, 8))
def test_normal_equations_are_fulfilled_and_levinson_solves_them(x, p):
    r = autocorrelation(x, p) + np.eye(1, p + 1)[0]  # a little noise: no signal is foretold without rest
    a, energy = signals.best_prediction(r)
    np.testing.assert_allclose([sum(a[i] * r[abs(i - k)] for i in range(p + 1)) for k in range(1, p + 1)], 0, atol=1e-7)
    quick, left = levinson(r)
    np.testing.assert_allclose(quick, a, atol=1e-7)
    assert left == pytest.approx(energy, abs=1e-7 * r[0])
    if p:
        np.testing.assert_allclose(a[1:], solve_toeplitz(r[:-1], -r[1:]), atol=1e-7)


@given(rows)
def test_the_error_resembles_nothing_that_was_used_and_its_energy_is_what_is_left(x):
    a, energy = signals.best_prediction(autocorrelation(x, 4) + np.array([1.0, 0, 0, 0, 0]))
    ended = np.append(x, np.zeros(4))
    e = signals.residual(ended, a)
    assert np.sum(e**2) + np.sum(a**2) == pytest.approx(energy)  # the added noise of energy 1 is filtered by a


@given(rows, st.lists(st.floats(-0.9, 0.9), min_size=1, max_size=4))
def test_rebuilt_takes_back_what_residual_did(x, past):
    a = np.array([1.0, *past])
    e = signals.residual(x, a)
    np.testing.assert_allclose(e, lfilter(a, [1], x), atol=1e-9)
    np.testing.assert_allclose(signals.rebuilt(e, a), x, atol=1e-6)


@given(st.floats(50, 3900), st.floats(20, 1500))
def test_a_resonator_is_scipys_and_its_poles_are_where_they_were_put(f, width):
    x = np.random.default_rng(1).standard_normal(100)
    r, theta = np.exp(-np.pi * width / RATE), 2 * np.pi * f / RATE
    a = [1, -2 * r * np.cos(theta), r * r]
    np.testing.assert_allclose(signals.resonator(x, f, width, RATE), lfilter([1], a, x), atol=1e-9)
    found, wide = poles(np.array(a), RATE)
    assert (found[0], wide[0]) == (pytest.approx(f, abs=1e-3), pytest.approx(width, abs=1e-3))
    tones = np.array([0.0, 500.0, 3999.0])
    np.testing.assert_allclose(signals.gain(a, tones, RATE), abs(freqz([1], a, tones, fs=RATE)[1]))


@pytest.mark.parametrize("width", [30.0, 80.0, 300.0])
def test_the_bandwidth_is_that_of_half_the_energy(width):
    pole = np.exp((-width + 2j * 2000) * np.pi / RATE)
    f = np.arange(0, 4000, 0.5)
    power = signals.gain(np.poly([pole, pole.conjugate()]).real, f, RATE) ** 2
    assert np.sum(power > power.max() / 2) / 2 == pytest.approx(width, rel=0.03)


def test_nine_numbers_foretell_a_vowel_and_know_its_formants():
    x = signals.vowel(AH, 110, RATE, 0.25)
    a, left = levinson(autocorrelation(x, 9))
    assert left / autocorrelation(x, 0)[0] < 0.05
    np.testing.assert_allclose(poles(a, RATE)[0], [f for f, _ in AH], rtol=0.01)


@pytest.mark.parametrize("f0", [82.0, 100.0, 310.0, 350.0])
def test_a_vowel_has_its_pulses_whatever_the_length(f0):
    assert signals.vowel(AH, f0, RATE, 0.1).size == 800


def test_a_high_voice_draws_the_first_formant_to_a_harmonic():
    for f0, harmonic in ((350, 700), (400, 800)):
        x = emphasised(signals.vowel(AH, f0, RATE, 0.2), RATE)[600:840] * np.hanning(240)
        f1 = poles(levinson(autocorrelation(x, 8))[0], RATE)[0][0]
        assert abs(f1 - harmonic) < abs(f1 - 730)


def test_more_coefficients_never_leave_more():
    r = autocorrelation(signals.vowel(AH, 110, RATE, 0.25), 40)
    left = [levinson(r[: p + 1])[1] for p in range(41)]
    assert np.all(np.diff(left) <= 1e-9)


# What the figures draw


def test_a_window_shows_what_a_sharp_cut_covers():
    cut, faded = (line.get_ydata() for line in signals_figures.leakage(1020, RATE, 200).lines)
    weak, between = 1620 * 200 // RATE, 1450 * 200 // RATE
    assert max(faded[weak : weak + 2]) > faded[between] + 10  # stands out
    assert max(cut[weak : weak + 2]) < cut[between] + 3  # does not


def test_the_envelope_of_few_poles_is_smooth():
    x = signals.vowel(AH, 100, RATE, 0.1)[:240] * np.hanning(240)
    r = autocorrelation(x, 80)
    ax = signals_figures.envelopes(x, [(str(p), *levinson(r[: p + 1])) for p in (3, 10, 80)], RATE)
    tops = [np.sum(np.diff(np.sign(np.diff(line.get_ydata()))) < 0) for line in ax.lines[1:]]
    assert tops[0] <= 1 and tops[1] == 4 and tops[2] > 20


def test_the_resonance_drawn_has_its_peak_at_its_frequency():
    ax = signals_figures.plane(1000.0, 100.0)
    f, level = ax.lines[0].get_data()
    assert f[np.argmax(level)] == pytest.approx(1000, abs=10)
    inner = ax.child_axes[0]
    assert (inner.get_title("left") or inner.get_title()).startswith("z-plane")  # the style puts it left


def test_foretold_and_likeness_draw_what_they_are_given():
    ax = signals_figures.foretold([8, 4, 2, 1], [8, 0, 0, 0], RATE)
    assert ax.lines[0].get_ydata().tolist() == [8, 4, 2, 1]
    assert signals_figures.likeness([4.0, 2.0], RATE).lines[0].get_ydata().tolist() == [1.0, 0.5]

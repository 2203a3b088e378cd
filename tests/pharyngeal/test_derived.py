"""What the chapters derive of narrowings, of exchanged tubes and of components, against the chain matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voicewire.pharyngeal import tube
from voicewire_book.chapters.pharyngeal import derived_figures

LOSSLESS = {"walls": False, "radiation": False}


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 34), st.floats(15, 19))
def test_a_small_narrowing_moves_a_formant_as_perturbation_theory_says(place, length):
    cells, share = [length / 35] * 35, 0.002
    areas = [4.0 * (1 - share * (k == place)) for k in range(35)]
    even = tube.resonances([4.0] * 35, cells, **LOSSLESS).frequencies
    found = tube.resonances(areas, cells, **LOSSLESS).frequencies / even - 1
    for n in (1, 2, 3):
        derived = share / 35 * np.cos((2 * n - 1) * np.pi * (place + 0.5) / 35)
        assert found[n - 1] == pytest.approx(derived, abs=0.05 * share / 35)


def test_between_a_sixth_and_a_half_f1_rises_and_f2_falls():
    ax = derived_figures.narrowings(17.5)
    _, f1, _, f2, *_ = ax.lines
    x = np.asarray(f1.get_xdata())
    both = (np.asarray(f1.get_ydata()) > 0) & (np.asarray(f2.get_ydata()) < 0)
    inside = (x > 17.5 / 6 + 0.3) & (x < 17.5 / 2 - 0.3)
    assert both[inside].all() and not both[(x < 17.5 / 6 - 0.3) | (x > 17.5 / 2 + 0.3)].any()


@settings(max_examples=30, deadline=None)
@given(st.floats(0.5, 8), st.floats(0.5, 8), st.floats(5, 12), st.floats(5, 12))
def test_two_tubes_of_exchanged_lengths_ring_alike(back, front, one, other):
    a = tube.resonances((back, front), (one, other), **LOSSLESS).frequencies[:3]
    b = tube.resonances((back, front), (other, one), **LOSSLESS).frequencies[:3]
    assert a == pytest.approx(b, abs=1e-3)

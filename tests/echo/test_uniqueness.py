"""One answer or many: silent directions before and after the rectifier of (14) and (15), and what faint ones cost."""

from __future__ import annotations

import numpy as np
import pytest

from voicewire.echo import StereoRLS
from voicewire.echo.metrics import follow
from voicewire.echo.nonuniqueness import foretold_floor, rows, silent_directions, strengths
from voicewire.echo.scenes.scene import Scene
from voicewire_book.chapters.echo import figures

L = 12


def far_end(M, alpha, seed=1):
    return Scene(L, 3000, seed, far_length=M, predistortion=alpha).signals().x


@pytest.mark.parametrize("M", [4, 8, 11, 12, 13, 20])
def test_the_rectifier_leaves_one_answer(M):
    """Without it as many silent directions as equation eq-echo-dimension says, by the far end's own samples."""
    assert silent_directions(far_end(M, 0.0), L) == max(0, L - M + 1)
    for alpha in (0.01, 0.4, 0.8):
        assert silent_directions(far_end(M, alpha), L) == 0


@pytest.mark.parametrize("gains", [(1.2, 1.0), (1.0, 0.5), (-1.0, 2.0)])
def test_no_linear_gain_does_so(gains):
    x = far_end(8, 0.0)
    assert silent_directions(gains[0] * x.real + 1j * gains[1] * x.imag, L) == 5


def test_two_samples_by_hand():
    """Both loudspeakers play 1, then -1; the rectifier with alpha_r = 1 makes (2, 1) and (-1, -2) of it."""
    assert rows(np.array([1 + 1j, -1 - 1j]), 1).tolist() == [[1, 1], [-1, -1]]
    assert silent_directions(np.array([1 + 1j, -1 - 1j]), 1) == 1
    assert strengths(np.array([2 + 1j, -1 - 2j]), 1) == pytest.approx([4.5, 0.5])  # of ((5, 4), (4, 5)) / 2


def test_strengths_are_the_eigenvalues_of_the_correlation_matrix():
    x = far_end(20, 0.4)
    X = rows(x, L)
    assert X.shape == (x.size - L + 1, 2 * L)
    values = np.linalg.eigvalsh(X.T @ X / len(X))[::-1]
    assert strengths(x, L) == pytest.approx(values, rel=1e-6)


@pytest.mark.parametrize("alpha", [0.1, 0.4, 0.8])
def test_faint_directions_cost_what_is_foretold(alpha):
    """Equation eq-echo-faint against runs, over five conversations: 2 dB each, 1 dB in the mean."""
    length, lam, gaps = 16, 1 - 1 / (24 * 16), []
    for seed in range(5):
        signals = Scene(length, 8000, seed, far_length=8, predistortion=alpha).signals()
        energy = sum(float(path @ path) for path in signals.before)
        floor = foretold_floor(signals.x, length, lam, float(np.var(signals.noise)), energy)
        gaps.append(follow(StereoRLS(length, lam), signals, 50).steady(4000, 8000) - floor)
    assert np.abs(gaps).max() < 2 and abs(np.mean(gaps)) < 1


def test_with_a_silent_direction_nothing_is_foretold():
    assert foretold_floor(far_end(8, 0.0), L, 0.99, 0.1, 1.0) == np.inf


def test_half_the_rectifier_costs_six_decibels():
    """As the chapter says: where it alone is heard, the power goes with its square."""
    floors = [foretold_floor(far_end(6, alpha, 3), L, 0.99, 0.1, 1.0) for alpha in (0.05, 0.1, 0.2)]
    assert np.diff(floors) == pytest.approx([-6, -6], abs=0.7)


def test_the_figure_is_relative_to_the_loudest():
    ax = figures.heard({"a": [4.0, 0.4], "b": [2.0, 0.0]})
    assert [list(line.get_ydata()) for line in ax.lines] == [pytest.approx([0, -10]), pytest.approx([0, -300])]
    assert list(ax.lines[0].get_xdata()) == [1, 2]

"""Taps that follow the voice beside taps that stand still: least squares by windows, and the recorded table."""

import numpy as np
import pytest

from voicewire.echo import paper
from voicewire.echo.recordings.input_validation import SignalError
from voicewire_book.chapters.echo import experiments, least_squares_windows, recording_pairs


def test_a_window_is_fitted_by_least_squares_and_put_to_the_next():
    rng = np.random.default_rng(1)
    x, d = rng.standard_normal((2, 40))
    rows = np.column_stack([x, np.r_[0, x[:-1]]])
    taps = [np.linalg.lstsq(rows[a : a + 10], d[a : a + 10], rcond=None)[0] for a in (10, 20, 30)]
    left = [
        sum(np.sum((d[a : a + 10] - rows[a : a + 10] @ taps[i + k]) ** 2) for i, a in ((0, 20), (1, 30)))
        for k in (1, 0)
    ]
    wanted = [10 * np.log10(np.sum(d[20:] ** 2) / each) for each in left]
    assert least_squares_windows.by_window(x, d, 2, 10) == pytest.approx(wanted, abs=1e-4)


def test_fewer_samples_than_taps_fit_anything_and_foretell_nothing():
    x, d = np.random.default_rng(2).standard_normal((2, 4000))
    own, following = least_squares_windows.by_window(x, d, 64, 32)
    assert own > 40 and following < 0
    with pytest.raises(SignalError, match="windows of 2001"):
        least_squares_windows.by_window(x, d, 64, 2001)


def test_a_smaller_case_of_the_table_is_computed_anew():
    seed = least_squares_windows.SEEDS[0]
    made = recording_pairs.trial("living room", seed)
    found = least_squares_windows.by_window(made.far, made.microphone, recording_pairs.TAPS, round(0.06 * paper.RATE))
    recorded = experiments.read("windows")
    for value, name in zip(found, ("own", "following"), strict=True):
        (was,) = experiments.column(recorded, name, seed=seed, band="all", window=0.06)
        assert value == pytest.approx(was, abs=0.1)


def test_what_the_chapter_says_of_windows():
    rows = experiments.read("windows")
    assert len(rows) == 2 * len(least_squares_windows.SEEDS) * len(least_squares_windows.WINDOWS)
    for band in ("all", "passed"):
        following = [
            np.mean(experiments.column(rows, "following", band=band, window=w)) for w in least_squares_windows.WINDOWS
        ]
        assert following == sorted(following, reverse=True)

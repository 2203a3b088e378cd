"""The book's command beside outside trackers: known truth, what is kept, and what the figure draws."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from voicewire.pharyngeal import formant_plausibility, formants
from voicewire.pharyngeal.audio_files import SoundError
from voicewire_book import paths
from voicewire_book.chapters.pharyngeal import tracker_comparison


def kept():
    return pd.read_csv(paths.data("pharyngeal") / "formants_f0.csv")


def test_the_kept_numbers_are_what_both_trackers_that_are_here_give_again():
    table = kept()
    each = len(table) // (2 * len(tracker_comparison.TALKERS) * len(tracker_comparison.NOISES))
    assert each >= 16 and len(table) == 2 * each * len(tracker_comparison.TALKERS) * len(tracker_comparison.NOISES)
    rng = np.random.default_rng(tracker_comparison._SEED)
    for k in range(3):
        truth, vowel = tracker_comparison.spoken(rng, 80, 40)
        rows = table.iloc[2 * k : 2 * k + 2]
        np.testing.assert_allclose(rows["true"], truth[:2], atol=0.051)
        own = formant_plausibility.answers(vowel, talker="man")["frequency"].to_numpy()[:2]
        np.testing.assert_allclose(rows["book"], own, atol=0.5)
        praat = formants.midpoint(vowel, "praat", formants.PRAAT_DEFAULT)[:2]
        np.testing.assert_allclose(rows["praat"], praat, atol=0.5)


def test_medians_and_refusals_are_counted_apart():
    row = {"f0": 80, "snr": 40, "formant": 1, "true": 500.0, "book": 510.0, "praat": 530.0, "snack": 400.0}
    table = pd.DataFrame([row, {**row, "book": None}, {**row, "book": 470.0}])
    found = tracker_comparison.by_pitch(table).set_index("tracker")
    assert found.loc["book", "error"] == 20.0 and found.loc["book", "refused"] == pytest.approx(1 / 3)
    assert found.loc["snack", "error"] == 100.0 and found.loc["snack", "refused"] == 0


@pytest.mark.parametrize("snr", tracker_comparison.NOISES)
def test_the_figure_draws_the_medians(snr):
    table = kept()
    medians = tracker_comparison.by_pitch(table).set_index(["formant", "snr", "tracker", "f0"]).sort_index()["error"]
    for formant, ax in zip((1, 2), tracker_comparison.over_pitch(table, snr), strict=True):
        for name, bars in zip(tracker_comparison.NAMES, ax.containers, strict=True):
            np.testing.assert_allclose(np.asarray(bars.lines[0].get_ydata(), float), medians.loc[formant, snr, name])
        assert any(text.get_text() == "simulated here" for text in ax.texts)
    plt.close("all")
    with pytest.raises(ValueError, match="no vowel at 33 dB"):
        tracker_comparison.over_pitch(table, 33)


def test_without_snack_the_recording_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SoundError, match="tcl-snack"):
        tracker_comparison.record(tmp_path, 1)

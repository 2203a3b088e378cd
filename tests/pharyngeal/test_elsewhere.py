"""Vowels that others recorded: the command on made-up files, the numbers that are kept, and what the figure draws."""

from __future__ import annotations

import json

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import soundfile

from voicewire.pharyngeal import formant_plausibility, synthesis
from voicewire.pharyngeal.audio_files import SoundError
from voicewire_book import paths
from voicewire_book.chapters.pharyngeal import external_recordings
from voicewire_book.kit import figures


def kept():
    return pd.read_csv(paths.data("pharyngeal") / "elsewhere.csv", keep_default_na=False, na_values={"frequency": ""})


def test_made_up_letters_and_sentences_are_measured_anew(tmp_path):
    speaker = synthesis.Speaker("x", f0=250.0, scale=1.15)
    token = synthesis.vowel("plain", speaker, np.random.default_rng(1), snr=40.0)
    silence = np.zeros(8000)
    heard = np.concatenate([silence, token.sound.samples, silence])
    for number in (n for names in external_recordings.KINDS.values() for n in names):
        soundfile.write(tmp_path / f"a-{number:02}.ogg", heard, token.sound.rate)
    phones = [{"t": "AA", "b": 0.5, "d": 0.18}, {"t": "S", "b": 0.7, "d": 0.2}, {"t": "IH", "b": 0.1, "d": 0.03}]
    soundfile.write(tmp_path / "one.wav", heard, token.sound.rate)
    (tmp_path / "one.phone.json").write_text(json.dumps({"w": [{"w": phones}]}), "utf-8")
    table = pd.read_csv(external_recordings.write(tmp_path, tmp_path, tmp_path / "out.csv"))
    assert tuple(table.columns) == external_recordings.COLUMNS and len(table) == 3 * (15 + 1)
    f2 = table[(table["source"] == "letters") & (table["formant"] == 2)]["frequency"]
    assert np.abs(f2 - token.at(0.09)[1]).max() < 125  # half of F0
    assert list(table[table["source"] == "sentences"]["label"]) == ["AA"] * 3


def test_folders_without_voices_are_refused(tmp_path):
    with pytest.raises(SoundError, match="phone.json"):
        external_recordings.sentences(tmp_path)
    with pytest.raises(SoundError):
        external_recordings.letters(tmp_path)
    for number in external_recordings.KINDS["plain"]:
        soundfile.write(tmp_path / f"a-{number:02}.ogg", np.zeros(16_000), 16_000)
    with pytest.raises(SoundError, match="no voice"):
        external_recordings.letters(tmp_path)


def test_what_is_kept_has_a_number_or_a_reason_and_nothing_implausible():
    table = kept()
    assert len(table) == 3 * (15 + 61)
    assert (table["frequency"].isna() == (table["reason"] != "")).all()
    for source, talker in (("letters", "child"), ("sentences", "man")):
        low, high = formant_plausibility.limits(talker)
        rows = table[(table["source"] == source) & table["frequency"].notna()]
        k = rows["formant"].to_numpy() - 1
        assert ((rows["frequency"] >= low[k]) & (rows["frequency"] <= high[k])).all()


def test_the_figure_draws_each_letters_f2_and_says_that_others_recorded_it():
    table = kept()
    ax = external_recordings.by_letter(table[table["source"] == "letters"])
    drawn = np.concatenate([line.get_ydata() for line in ax.lines])
    rows = table[(table["source"] == "letters") & (table["formant"] == 2)]
    np.testing.assert_allclose(np.sort(drawn), np.sort(rows["frequency"] / 1000))
    assert any(text.get_text() == "recorded elsewhere" for text in ax.texts)
    assert "elsewhere" in figures.COLOURS
    plt.close("all")


def test_the_bands_hold_every_vowel_and_every_letter():
    kept = pd.read_csv(paths.data("pharyngeal") / "elsewhere.csv")
    letters = kept[kept["source"] == "letters"]
    drawn = external_recordings.bands(letters)
    clouds = [line.get_xydata() for line in drawn.lines if line.get_marker() == "."]
    frames = [line.get_xydata() for line in drawn.lines if len(line.get_xydata()) == 5]
    assert [len(cloud) for cloud in clouds] == [660, 560, 300]
    for cloud, frame in zip(clouds, frames, strict=True):
        assert (cloud >= frame.min(axis=0)).all() and (cloud <= frame.max(axis=0)).all()
    (both,) = (line.get_xydata() for line in drawn.lines if line.get_marker() == "^")
    numbers = letters[letters["formant"] < 3].groupby("label")["frequency"].count()
    assert len(both) == (numbers == 2).sum() > 10
    assert (both >= frames[2].min(axis=0)).all() and (both <= frames[2].max(axis=0)).all()

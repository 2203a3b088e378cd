"""One table of formants for a file, samples, a Praat Sound or a folder; and what confidence promises."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import parselmouth
import pytest
import soundfile
from scipy.signal import lfilter

from voicewire import cli
from voicewire.pharyngeal import (
    SoundError,
    TextGridError,
    formant_plausibility,
    formant_table,
    formant_tables,
    textgrid,
)
from voicewire.pharyngeal.audio_files import Sound
from voicewire.pharyngeal.textgrid import Interval

RATE = 16_000


def vowel(rng, f0, formants, rate=RATE, seconds=0.3, tilt=-12.0, jitter=0.0, snr=np.inf, doubled=0.0):
    """Pulses through resonators, not made by the package's own synthesiser."""
    n = int(seconds * rate)
    source, t, k = np.zeros(n + 2), 0.0, 0
    while t * rate < n:
        i = int(t * rate)
        part = t * rate - i
        weight = 1 - doubled * (k % 2)
        source[i] += weight * (1 - part)
        source[i + 1] += weight * part
        t += max(0.3, 1 + jitter * rng.standard_normal()) / f0
        k += 1
    hertz = np.maximum(np.fft.rfftfreq(n, 1 / rate), 100.0)
    y = np.fft.irfft(np.fft.rfft(source[:n]) * (hertz / 100.0) ** (tilt / 6.02), n)
    for f, b in zip(formants, (60, 90, 120, 180, 250), strict=False):
        r = np.exp(-np.pi * b / rate)
        c = 2 * r * np.cos(2 * np.pi * f / rate)
        y = lfilter([1 - c + r * r], [1, -c, r * r], y)
    y = y + (0.0 if np.isinf(snr) else y.std() * 10 ** (-snr / 20)) * rng.standard_normal(n)
    return 0.6 * y / np.abs(y).max()


A = (700.0, 1200.0, 2500.0, 3500.0, 4500.0)
E = (400.0, 2000.0, 2600.0, 3500.0, 4500.0)


@pytest.fixture
def recorded(tmp_path):
    rng = np.random.default_rng(1)
    a, e = (vowel(rng, 110.0, f, snr=40) for f in (A, E))
    for name, first, second, labels in (("one", a, e, "ae"), ("two", e, a, "ea")):
        soundfile.write(tmp_path / f"{name}.wav", np.r_[first, second], RATE)
        marks = [Interval(labels[0], 0.0, 0.3), Interval(labels[1], 0.3, 0.6)]
        textgrid.write(tmp_path / f"{name}.TextGrid", {"v": marks}, 0.6)
    soundfile.write(tmp_path / "whole.flac", a, RATE)
    return tmp_path


def test_a_folder_a_file_samples_and_a_sound_of_praats_give_the_same(recorded):
    whole = formant_table(recorded, talker="man")
    assert list(whole.columns) == list(formant_tables.COLUMNS)
    assert list(whole["file"]) == ["one.wav"] * 2 + ["two.wav"] * 2 + ["whole.flac"]
    assert list(whole["label"]) == ["a", "e", "e", "a", ""]
    assert whole.attrs["notes"] == ["whole.flac: no TextGrid of this name, so measured once, in the middle"]
    for label, truth in (("a", A), ("e", E)):
        found = whole.loc[whole["label"] == label, ["F1", "F2", "F3", "F4"]].to_numpy()
        off = np.abs(found / np.array(truth[:4]) - 1)
        assert off[:, :2].max() < 0.06 and off.max() < 0.15
    assert whole["pitch"].to_numpy() == pytest.approx(110.0, abs=2)
    assert whole["duration"].to_numpy() == pytest.approx(0.3)
    one = whole[whole["file"] == "one.wav"].drop(columns="file")
    y, sr = soundfile.read(recorded / "one.wav")
    grid = str(recorded / "one.TextGrid")
    sources = [str(recorded / "one.wav"), (y, sr), (np.c_[y, y], sr), parselmouth.Sound(y, sr), Sound(y, sr)]
    for source in sources:
        pd.testing.assert_frame_equal(formant_table(source, textgrid=grid, talker="man").drop(columns="file"), one)
    pd.testing.assert_frame_equal(formant_table(y, sr, textgrid=grid, talker="man").drop(columns="file"), one)
    praats = parselmouth.Sound(y, sr).get_intensity()
    assert formant_table((y, sr))["intensity"][0] == pytest.approx(praats, abs=0.01)


def test_only_certain_labels_are_kept_and_the_others_counted(recorded):
    whole = formant_table(recorded, talker="man")
    with pytest.warns(UserWarning, match="labels are no surer than 0.5 and were left out"):
        sure = formant_table(recorded, talker="man", certain=0.5)
    assert len(sure) == (whole["confidence"] > 0.5).sum() < len(whole) and (sure["confidence"] > 0.5).all()


def test_a_sound_of_praats_that_begins_later_keeps_its_own_time(recorded):
    y, sr = soundfile.read(recorded / "one.wav")
    late = parselmouth.Sound(y, sr, start_time=5.0)
    text = (recorded / "one.TextGrid").read_text()
    with pytest.raises(TextGridError, match="no label can be placed"):
        formant_table(late, textgrid=recorded / "one.TextGrid")
    for old in ("0.3", "0.6", "0"):
        text = text.replace(f"= {old} ", f"= {5 + float(old)} ")
    (recorded / "late.TextGrid").write_text(text)
    table = formant_table(late, textgrid=recorded / "late.TextGrid", talker="man")
    assert table["start"].to_numpy() == pytest.approx([5.0, 5.3]) and list(table["label"]) == ["a", "e"]
    assert table["F1"].to_numpy() == pytest.approx([700.0, 400.0], rel=0.06)


def test_what_a_folder_passes_over_is_named(recorded, capsys):
    (recorded / "bad.wav").write_bytes(b"RIFF")
    (recorded / "alone.TextGrid").write_text((recorded / "one.TextGrid").read_text())
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        table = formant_table(recorded)
    assert len(table) == 5 and {str(w.message) for w in said} == set(table.attrs["notes"])
    assert table.attrs["failed"] == 1
    assert any(note.startswith("alone.TextGrid was passed over") for note in table.attrs["notes"])
    assert any(note.startswith("bad.wav: ") for note in table.attrs["notes"])
    assert cli.main(["formants", str(recorded), "--figure", str(recorded / "v.png"), "--talker", "man"]) == 1
    both = capsys.readouterr()
    assert both.out.splitlines()[0] == ",".join(formant_tables.COLUMNS) and len(both.out.splitlines()) == 6
    assert "bad.wav" in both.err and (recorded / "v.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("wrong", [
    lambda folder: formant_table(np.zeros(100)),
    lambda folder: formant_table((np.zeros(100), 16000), 16000),
    lambda folder: formant_table((np.zeros((2, 2, 100)), 16000)),
    lambda folder: formant_table(folder / "nothing.wav"),
    lambda folder: formant_table(folder),
    lambda folder: formant_table(folder, textgrid="x"),
    lambda folder: formant_table(None),
    lambda folder: formant_table(5),
    lambda folder: formant_table({"a": 1}),
    lambda folder: formant_table(b"x.wav"),
    lambda folder: formant_table((None, 16000)),
    lambda folder: formant_table([np.zeros(100), 16000]),
    lambda folder: formant_table((16000, np.zeros(100))),
    lambda folder: formant_table((np.zeros(100), "16000")),
    lambda folder: formant_table((np.zeros(100), float("nan"))),
    lambda folder: formant_table(np.zeros(100), 0),
    lambda folder: formant_table((np.zeros(100), 16000), tier="v"),
    lambda folder: formant_table(Sound(np.zeros(100), 16000), 8000),
    lambda folder: formant_table(parselmouth.Sound(np.zeros(100), 16000), 8000),
])  # fmt: skip
def test_what_is_no_sound_is_one_clear_error(tmp_path, wrong):
    with pytest.raises((SoundError, TextGridError), match=r".{15,}"):
        wrong(tmp_path)


def test_help_fits_a_screen(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        cli.main(["formants", "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80 and sum("Example: " in line for line in lines) == 1


@pytest.mark.parametrize("rate", [16_000, 44_100])
def test_no_formant_is_wrong_with_confidence(rate):
    """A sample of the classes F0, jitter, tilt, noise; a spectrum that falls to nothing among them."""
    rng, tokens = np.random.default_rng(rate), dict(formant_plausibility._tokens())
    sure = 0
    for k in range(24):
        talker = ("man", "woman")[k % 2]
        truth = tokens[talker][rng.integers(len(tokens[talker]))]
        high = max(3500.0, truth[2] + 500)
        y = vowel(
            rng, rng.uniform(80, 300), [*truth, high, high + 1000], rate, 0.25, rng.uniform(-18, -6),
            rng.uniform(0, 0.02), rng.choice([10.0, 20.0, 40.0, np.inf]),
        )  # fmt: skip
        table = formant_plausibility.answers(Sound(y, rate), talker=talker)
        certain = table["confidence"].to_numpy() > 0.5
        off = np.abs(table["frequency"].to_numpy() - truth) / truth
        assert (off[certain] < 0.15).all()
        sure += certain.sum()
    assert sure >= 12


@pytest.mark.parametrize("vowel_", [(280, 2250, 2900), (400, 2000, 2600), (380, 1950, 2550), (700, 1200, 2500)])
def test_sound_without_noise_does_not_lose_a_formant(vowel_):
    y = vowel(np.random.default_rng(2), 115.0, (*vowel_, 3500.0, 4500.0), 44_100, 0.4)
    table = formant_plausibility.answers(Sound(y, 44_100), talker="man")
    assert table["frequency"].to_numpy()[1:] == pytest.approx(vowel_[1:], rel=0.1)


@pytest.mark.parametrize("doubled", [0.05, 0.1])
@pytest.mark.parametrize("f0", [160.0, 220.0])
def test_a_doubled_period_does_not_halve_the_distance_of_the_harmonics(f0, doubled):
    y = vowel(np.random.default_rng(3), f0, A, doubled=doubled)
    assert formant_plausibility._spacing(Sound(y, RATE), 0.15, f0 / 2) == f0
    assert formant_plausibility._spacing(Sound(y, RATE), 0.15, f0) == f0


def heard(y, rate=RATE, talker="any"):
    """The lowest confidence of a row, the numbers and their confidence."""
    noise = 1e-4 * np.random.default_rng(0).standard_normal(len(y))
    return formant_plausibility.answers(Sound(0.5 * y / np.abs(y).max() + noise, rate), talker=talker)


SECONDS = np.arange(RATE // 2) / RATE


@pytest.mark.parametrize("root", [130.8, 174.6, 196.0])
@pytest.mark.parametrize("ratios", [(1, 5 / 4, 3 / 2), (1, 6 / 5, 3 / 2), (1, 3 / 2, 2)])
def test_a_chord_is_no_voice(root, ratios):
    stops = ((1, 1.0), (2, 0.7), (3, 0.5), (4, 0.4), (6, 0.3), (8, 0.25))
    rng = np.random.default_rng(5)
    parts = [a * np.sin(2 * np.pi * root * r * h * SECONDS + rng.uniform(0, 6)) for r in ratios for h, a in stops]
    assert heard(np.sum(parts, axis=0))["confidence"].max() < 0.5


@pytest.mark.parametrize("pair", [(122.0, 210.0), (128.0, 221.0), (146.0, 252.0), (159.0, 274.0), (187.0, 321.0)])
def test_two_talkers_at_once_are_not_one_voice(pair):
    rng = np.random.default_rng(7)
    both = [vowel(rng, f0, truth, tilt=-6.0, jitter=0.003) for f0, truth in zip(pair, (A, E), strict=True)]
    assert heard(both[0] + both[1])["confidence"].max() < 0.5


@pytest.mark.parametrize("tone", [(190, 307, 2.7), (348, 268, 5.9), (350, 259, 1.8), (296, 366, 1.7), (369, 243, 2.4)])
def test_a_frequency_modulated_tone_is_no_voice(tone):
    carrier, modulator, index = tone
    y = np.sin(2 * np.pi * carrier * SECONDS + index * np.sin(2 * np.pi * modulator * SECONDS))
    assert heard(y)["confidence"].max() < 0.5


@pytest.mark.parametrize("f0", [80.0, 130.0, 180.0, 230.0, 300.0])
@pytest.mark.parametrize("truth", [A, E, (300.0, 870.0, 2240.0, 3300.0), (300.0, 2250.0, 2950.0, 3600.0)])
@pytest.mark.parametrize("snr", [20.0, np.inf])
def test_a_vowel_is_one_voice(f0, truth, snr):
    y = vowel(np.random.default_rng(8), f0, truth, jitter=0.01, snr=snr)
    assert formant_plausibility._one_voice(Sound(y, RATE), 0.15, f0)
    if np.isinf(snr):  # nothing but harmonics, of which a third of F0 lacks two in three
        assert not formant_plausibility._one_voice(Sound(y, RATE), 0.15, f0 / 3)


@pytest.mark.parametrize("width", [165.0, 200.0, 250.0])
def test_a_broad_pole_is_no_certain_f1(width):
    sure = formant_plausibility._sure
    assert sure(500.0, width, 0.0, 80.0, formant_plausibility._WIDE_F1) < 0.51 < sure(500.0, width, 0.0, 80.0)
    assert sure(500.0, 100.0, 0.0, 80.0, formant_plausibility._WIDE_F1) == sure(500.0, 100.0, 0.0, 80.0)
    y = vowel(np.random.default_rng(9), 100.0, A, snr=40)
    normal = heard(y, talker="man")
    assert normal["confidence"][0] > 0.5 and normal["bandwidth"][0] < 100


def test_a_pole_above_an_f1_within_two_harmonics_is_in_doubt():
    found = np.array([[543.0, 1637.0, 2746.0], [80.0, 80.0, 80.0]])
    for f0, doubtful in ((274.0, True), (200.0, False)):
        said = formant_plausibility._doubts(found, found, ["", "", ""], f0, np.ones(3))
        assert said[1] == said[2] == doubtful


@pytest.mark.parametrize("kind", [np.int16, np.int32])
def test_whole_numbers_are_taken_by_their_full_scale(kind):
    y = vowel(np.random.default_rng(1), 110.0, A, snr=40)
    whole = (y * np.iinfo(kind).max).astype(kind)
    found, wanted = (formant_table((samples, RATE), talker="man") for samples in (whole, y))
    assert found["intensity"][0] == pytest.approx(wanted["intensity"][0], abs=0.01)
    assert found["F1"][0] == pytest.approx(wanted["F1"][0], rel=1e-3)


@pytest.mark.parametrize("kind", [complex, np.complex64, bool, object, np.int64, np.uint16, str])
def test_samples_of_another_type_are_refused(kind):
    with pytest.raises(SoundError, match="samples of type .* are no sound"):
        formant_table((np.ones(1000).astype(kind), RATE))


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 2)])
def test_an_empty_array_holds_no_sample(shape):
    with pytest.raises(SoundError, match="the array holds no sample"):
        formant_table((np.zeros(shape), RATE))


def test_a_rate_or_tier_that_is_not_the_files_is_refused(recorded):
    file = recorded / "one.wav"
    with pytest.raises(SoundError, match="one.wav has 16000 Hz, not 44100 Hz"):
        formant_table(file, 44_100)
    with pytest.raises(TextGridError, match="tier 'v' is of no use without a TextGrid"):
        formant_table(file, tier="v")
    assert len(formant_table(file, RATE, textgrid=recorded / "one.TextGrid", tier="v")) == 2


@pytest.mark.parametrize("tier", [None, "v"])
def test_a_folder_without_a_name_that_is_one_sounds_says_so(recorded, tier):
    for name in ("one", "two"):
        (recorded / f"{name}.flac").write_bytes((recorded / "whole.flac").read_bytes())
    (recorded / "whole.flac").unlink()
    with pytest.raises(SoundError, match="one.flac, one.wav, one.TextGrid share one name.*two.wav"):
        formant_table(recorded, tier=tier)


def test_what_looks_like_sound_in_a_folder_is_read_or_named(recorded, capsys):
    (recorded / "gone.wav").symlink_to(recorded / "nothing.wav")
    (recorded / "sub.wav").mkdir()
    (recorded / "song.mp3").write_bytes(b"ID3")
    (recorded / "memo.M4A").write_bytes(b"x")
    (recorded / "notes.txt").write_text("x")
    (recorded / "two.flac").write_bytes((recorded / "whole.flac").read_bytes())
    assert cli.main(["formants", str(recorded), "--talker", "man"]) == 1
    both = capsys.readouterr()
    for name in ("gone.wav", "sub.wav", "song.mp3", "memo.M4A", "two.flac, two.wav, two.TextGrid"):
        assert f"voicewire formants: {name} " in both.err
    assert "notes.txt" not in both.err and both.err.count("\n") == 6
    assert [line.partition(",")[0] for line in both.out.splitlines()[1:]] == ["one.wav"] * 2 + ["whole.flac"]

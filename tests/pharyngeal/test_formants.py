"""Formants: trackers against known truth, real files, bad files, statistics."""

from __future__ import annotations

import numpy as np
import pandas as pd
import parselmouth
import pytest
import soundfile
from parselmouth.praat import call

from voicewire import cli
from voicewire.pharyngeal import audio_files, corpora, formants, synthesis, textgrid, textgrid_format
from voicewire.pharyngeal.statistics import vowel_statistics
from voicewire.pharyngeal.textgrid import Interval
from voicewire_book import paths
from voicewire_book.chapters.pharyngeal import negative_control, tracker_validation

BARS = {"rmse_F1": 20.0, "rmse_F2": 25.0, "rmse_F3": 70.0}


def hold(row: dict[str, float]) -> bool:
    return all(row[name] <= bar for name, bar in BARS.items()) and row["gross_F1"] == row["gross_F2"] == 0


@pytest.mark.parametrize("snr", [None, 30.0])
@pytest.mark.parametrize("name", list(tracker_validation.METHODS)[:2])
def test_trackers_against_truth(name, snr):
    items = tracker_validation.tokens(3, 2, snr, seed=5)
    assert hold(tracker_validation.summary(tracker_validation.errors(items, *tracker_validation.METHODS[name])))


def test_robust_burg_against_truth():
    items = tracker_validation.tokens(2, 1, 30.0, seed=6)
    assert hold(tracker_validation.summary(tracker_validation.errors(items, "praat-robust", formants.MALE)))


@pytest.mark.slow
def test_the_recorded_comparison_is_what_the_command_gives():
    again = tracker_validation.compare(10, 8)
    recorded = pd.read_csv(paths.data("pharyngeal") / "tracker_errors.csv")
    numbers = [c for c in recorded if c.startswith(("rmse", "bias"))]
    np.testing.assert_allclose(again[numbers], recorded[numbers], atol=0.02)
    assert all(hold(row) for row in again[again["method"] != "Praat default settings"].to_dict("records"))


def test_the_recording_meets_the_bars_and_the_default_settings_do_not():
    recorded = pd.read_csv(paths.data("pharyngeal") / "tracker_errors.csv")
    by = recorded.groupby("method")
    for method, rows in by:
        assert all(map(hold, rows.to_dict("records"))) == (method != "Praat default settings")
    assert (recorded["tokens"] >= 300).all()


def test_the_cascade_has_the_formants_it_is_given():
    pulse = np.zeros(8000)
    pulse[0] = 1.0
    centres = np.tile([600.0, 1400.0, 2500.0], (8000, 1))
    spectrum = np.abs(np.fft.rfft(synthesis.cascade(pulse, centres, bandwidths=(40.0, 40.0, 40.0))))
    f = np.fft.rfftfreq(8000, 1 / synthesis.RATE)
    for wanted in (600, 1400, 2500):
        near = np.abs(f - wanted) < 150
        assert abs(f[near][np.argmax(spectrum[near])] - wanted) <= 8


@pytest.mark.parametrize("call_", [
    lambda: synthesis.vowel("q", synthesis.Speaker("x"), np.random.default_rng(0)),
    lambda: synthesis.vowel("tt", synthesis.Speaker("x"), np.random.default_rng(0), duration=0.01),
    lambda: synthesis.glottal_source(np.full(10, 100.0), 16000, 2.0),
    lambda: synthesis.cascade(np.zeros(5), np.full((5, 1), 9000.0)),
    lambda: formants.Settings(ceiling=100),
    lambda: formants.Settings(count=0),
    lambda: formants.track(audio_files.Sound(np.ones(8000), 16000), "magic"),
    lambda: formants.track(audio_files.Sound(np.ones(4000), 4000)),
    lambda: formants.track(audio_files.Sound(np.ones(100), 16000)),
    lambda: corpora.corpus("nothing"),
    lambda: corpora.fetch("hillenbrand", "."),
])  # fmt: skip
def test_impossible_input_is_one_clear_error(call_):
    with pytest.raises(ValueError, match=r".{15,}"):
        call_()


@pytest.fixture(scope="module")
def praat_files(tmp_path_factory):
    """A WAV and TextGrid that Praat itself made, at 44.1 kHz."""
    folder = tmp_path_factory.mktemp("praat")
    grid = call("Create KlattGrid from vowel", "a", 0.6, 120, 700, 60, 1250, 70, 2500, 110, 3500, 0.05, 1000)
    spoken = call(call(grid, "To Sound"), "Resample", 44100, 50)
    spoken.scale_peak(0.8)
    spoken.save(str(folder / "a.wav"), parselmouth.SoundFileFormat.WAV)
    marks = call(spoken, "To TextGrid", "words vowels", "")
    call(marks, "Insert boundary", 2, 0.1)
    call(marks, "Insert boundary", 2, 0.5)
    call(marks, "Set interval text", 2, 2, "aː")
    marks.save_as_text_file(str(folder / "a.TextGrid"))
    call(marks, "Save as short text file", str(folder / "short.TextGrid"))
    call(marks, "Save as binary file", str(folder / "binary.TextGrid"))
    text = (folder / "a.TextGrid").read_bytes()
    decoded = text.decode("utf-16" if text[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8")
    for encoding in ("utf-16", "utf-8-sig", "utf-8"):
        (folder / f"{encoding}.TextGrid").write_bytes(decoded.replace("\n", "\r\n").encode(encoding))
    return folder


@pytest.mark.parametrize("grid", ["a", "short", "binary", "utf-16", "utf-8-sig", "utf-8"])
def test_praats_own_files_go_through(praat_files, grid):
    spoken = audio_files.read(praat_files / "a.wav")
    marks = textgrid.read(praat_files / f"{grid}.TextGrid", spoken.duration)
    (mark,) = marks.tier("vowels")
    assert mark.label == "aː" and (mark.start, mark.end) == pytest.approx((0.1, 0.5))
    table = formants.measure(spoken, [mark], ["praat", "lpc"])
    middle = table[table["point"] == "midpoint"].pivot(index="tracker", columns="formant", values="frequency")
    assert np.abs(middle[1] - 700).max() < 45 and np.abs(middle[2] - 1250).max() < 60


@pytest.mark.parametrize("rate", [44_100, 48_000])
@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "FLOAT", "ULAW"])
def test_encodings_and_channels(tmp_path, rate, subtype):
    from scipy.signal import resample_poly

    token = synthesis.vowel("tt", synthesis.Speaker("x"), np.random.default_rng(2))
    samples = resample_poly(token.sound.samples, rate, 16_000)
    soundfile.write(tmp_path / "x.wav", np.column_stack([samples, 0.3 * samples]), rate, subtype=subtype)
    for channel in (None, 0, 1):
        found = formants.midpoint(audio_files.read(tmp_path / "x.wav", channel))
        assert np.abs(found[:2] - token.at(0.09)[:2]).max() < 60
    with pytest.raises(audio_files.SoundError, match="no channel 2"):
        audio_files.read(tmp_path / "x.wav", 2)


def test_files_that_are_no_sound(tmp_path):
    good = tmp_path / "good.wav"
    soundfile.write(good, np.full(4000, 0.1), 16_000)
    raw = good.read_bytes()
    cases = {"empty": b"", "head": raw[:30], "no-data": raw[:36], "cut": raw[:3000], "text": b"hello, world" * 9}
    for name, content in cases.items():
        (tmp_path / f"{name}.wav").write_bytes(content)
        with pytest.raises(audio_files.SoundError, match=f"{name}.wav"):
            audio_files.read(tmp_path / f"{name}.wav")
    with pytest.raises(audio_files.SoundError, match="no such file"):
        audio_files.read(tmp_path / "missing.wav")
    soundfile.write(tmp_path / "none.wav", np.zeros(0), 16_000)
    with pytest.raises(audio_files.SoundError, match="no sound"):
        audio_files.read(tmp_path / "none.wav")
    soundfile.write(tmp_path / "nan.wav", np.full(99, np.nan), 16_000, subtype="FLOAT")
    with pytest.raises(audio_files.SoundError, match="not numbers"):
        audio_files.read(tmp_path / "nan.wav")


def test_tiers_of_one_name_are_not_taken_for_one(tmp_path):
    tier = '"IntervalTier"\n"a"\n0\n1\n1\n0\n1\n"{}"\n'
    head = 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n1\n<exists>\n2\n'
    (tmp_path / "twice.TextGrid").write_text(head + tier.format("i") + tier.format("u"))
    with pytest.raises(textgrid.TextGridError, match="several interval tiers have the name 'a'"):
        textgrid.read(tmp_path / "twice.TextGrid").tier("a")
    assert [textgrid.read(tmp_path / "twice.TextGrid").tier(k)[0].label for k in (1, 2)] == ["i", "u"]


def test_textgrids_that_do_not_fit(tmp_path, praat_files):
    good = praat_files / "a.TextGrid"
    with pytest.raises(textgrid.TextGridError, match="differ"):
        textgrid.read(good, 3.0)
    with pytest.raises(textgrid.TextGridError, match="no interval tier 'phones'"):
        textgrid.read(good).tier("phones")
    with pytest.raises(textgrid.TextGridError, match="name one tier"):
        textgrid.read(good).tier()
    text = textgrid_format.text_of(good.read_bytes())
    for name, content in {"empty": "", "words": "hello", "cut": text[: len(text) // 2]}.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
        with pytest.raises(textgrid.TextGridError, match=name):
            grid = textgrid.read(tmp_path / name, 0.6)
            assert grid.tier("vowels")
    with pytest.raises(textgrid.TextGridError, match="no such file"):
        textgrid.read(tmp_path / "missing")


def test_a_textgrid_written_here_opens_in_praat(tmp_path):
    marks = [Interval("a", 0.1, 0.2), Interval("طا", 0.2, 0.4)]
    path = textgrid.write(tmp_path / "x.TextGrid", {"v": marks}, 0.5)
    grid = parselmouth.read(str(path))
    assert call(grid, "Get label of interval", 1, 3) == "طا"
    assert textgrid.read(path, 0.5).tier() == tuple(marks)
    for bad in ({"v": []}, {"v": [Interval("a", 0.1, 0.9)]}, {"v": [Interval("a", 0.1, 0.3), Interval("b", 0.2, 0.4)]}):
        with pytest.raises(textgrid.TextGridError):
            textgrid.write(tmp_path / "bad.TextGrid", bad, 0.5)


def test_silence_and_clipping_are_flagged_and_no_number_comes_out_of_nothing():
    token = synthesis.vowel("tt", synthesis.Speaker("x"), np.random.default_rng(2))
    quiet = formants.measure(audio_files.Sound(np.zeros(8000), 16_000), trackers=formants.TRACKERS)
    assert quiet["frequency"].isna().all() and quiet["flag"].eq("silent").all()
    loud = formants.measure(audio_files.Sound(np.clip(4 * token.sound.samples, -1, 1), 16_000))
    assert loud["flag"].str.contains("clipped").all()
    fine = formants.measure(token.sound, trajectory=5)
    assert fine["flag"].eq("").all() and set(fine["point"]) >= {"onset", "midpoint", "t10", "t90"}
    short = formants.measure(token.sound, [Interval("a", 0.05, 0.06)])
    assert short["frequency"].isna().all() and short["flag"].eq("too short").all()


def test_the_negative_control_shows_no_emphasis():
    said = negative_control.measured()
    assert len(said) == 4 * 2 * len(negative_control.PAIRS)
    for k in (1, 2):
        means = said[said["formant"] == k].groupby("label")["frequency"].mean()
        assert abs(means["emphatic"] - means["plain"]) < 15


def table(rng, shift=0.0, speakers=6):
    rows = []
    for s in range(speakers):
        base = rng.normal(500, 60)
        for context, add in (("plain", 0.0), ("tt", shift)):
            rows += [{"speaker": s, "context": context, "F1": base + add + rng.normal(0, 10),
                      "F2": 3 * base - add + rng.normal(0, 10)} for _ in range(5)]  # fmt: skip
    return pd.DataFrame(rows)


def test_statistics_find_a_known_shift():
    data = table(np.random.default_rng(4), shift=100.0)
    model = vowel_statistics.mixed_model(data, "F1").iloc[0]
    boot = vowel_statistics.bootstrap_by_speaker(data, "F1", ("plain", "tt"), np.random.default_rng(1))
    for low, high in ((model["low"], model["high"]), (boot.low, boot.high)):
        assert low < 100 < high and high - low < 25
    for normal in (vowel_statistics.lobanov(data), vowel_statistics.nearey(data)):
        assert normal.groupby("speaker")["F1"].mean().std() < data.groupby("speaker")["F1"].mean().std() / 100


def test_hedges_by_hand():
    """Sample variances are 1, so d = 1; the correction for 4 degrees of freedom is 1 - 3/15."""
    assert vowel_statistics.hedges(np.array([1.0, 2, 3]), np.array([0.0, 1, 2])).estimate == pytest.approx(0.8)


def test_hedges_interval_covers():
    rng = np.random.default_rng(3)
    inside = 0
    for _ in range(200):
        g = vowel_statistics.hedges(rng.normal(1, 1, 12), rng.normal(0, 1, 12))
        inside += g.low <= 1.0 <= g.high
    assert 180 <= inside <= 198


@pytest.mark.parametrize("call_", [
    lambda: vowel_statistics.lobanov(pd.DataFrame({"F1": [1.0], "F2": [2.0]})),
    lambda: vowel_statistics.lobanov(pd.DataFrame({"speaker": [1], "F1": [1.0], "F2": [2.0]})),
    lambda: vowel_statistics.ellipse(np.zeros(2), np.zeros(2)),
    lambda: vowel_statistics.hedges(np.ones(1), np.ones(5)),
    lambda: vowel_statistics.hedges(np.ones(3), np.ones(3)),
    lambda: vowel_statistics.bootstrap_by_speaker(table(np.random.default_rng(0), speakers=2), "F1", ("plain", "tt"),
                                        np.random.default_rng(0)),
])  # fmt: skip
def test_statistics_of_too_little_are_errors(call_):
    with pytest.raises(ValueError, match=r".{15,}"):
        call_()


def test_the_ellipse_holds_its_share():
    points = np.random.default_rng(2).multivariate_normal([0, 0], [[4, 1], [1, 1]], 4000)
    ring = vowel_statistics.ellipse(points[:, 0], points[:, 1], 0.68)
    from matplotlib.path import Path

    assert np.mean(Path(ring).contains_points(points)) == pytest.approx(0.68, abs=0.03)


def test_the_command(praat_files, tmp_path, capsys):
    wav, grid = str(praat_files / "a.wav"), str(praat_files / "a.TextGrid")
    assert cli.main(["formants", wav, "--textgrid", grid, "--tier", "vowels", "--tracker", "lpc"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].split(",") == list(formants.COLUMNS) and len(out) == 1 + 8
    (tmp_path / "bad.wav").write_bytes(b"")
    assert cli.main(["formants", str(tmp_path / "bad.wav"), wav]) == 1
    both = capsys.readouterr()
    assert both.err.count("\n") == 1 and "empty" in both.err and len(both.out.splitlines()) == 9
    for wrong in (
        ["--tier", "vowels"],
        ["--textgrid", grid, "--textgrid", grid],
        ["--ceiling", "1"],
        ["--trajectory", "-1"],
    ):
        try:
            status = cli.main(["formants", wav, *wrong])
        except SystemExit as end:  # refused as it was read
            status = end.code
        assert status == 2
        assert capsys.readouterr().err.count("\n") == 1

"""The trials that cancellers are put to, what they are measured by, and the cancellers of others where they are."""

import sys

import numpy as np
import pytest

from voicewire.echo import paper
from voicewire.echo.recordings.delay_estimation import phat
from voicewire.echo.recordings.input_validation import SignalError
from voicewire_book.chapters.echo import baseline_cancellers, canceller_comparison, experiments, recording_pairs


def test_a_trial_is_what_its_name_says():
    clean, late, both = (recording_pairs.trial(name, 3) for name in ("clean", "100 ms late", "double talk"))
    delays = [phat(t.far[:80_000], t.microphone[:80_000], paper.RATE).delay for t in (clean, late)]
    assert delays[1] - delays[0] == pytest.approx(0.1, abs=1e-4)
    start, stop = (round(t * paper.RATE) for t in recording_pairs.TALK)
    assert not both.near[:start].any() and both.near[start:stop].any() and not both.near[stop:].any()
    assert np.allclose(both.microphone - both.near, clean.microphone)  # one seed, one room, one noise
    clipped = recording_pairs.trial("clipped", 3).microphone
    assert np.mean(np.abs(clipped) >= 0.9999 * np.abs(clipped).max()) > 0.01
    same = recording_pairs.trial("clean", 3)
    assert np.array_equal(same.microphone, clean.microphone) and not np.array_equal(
        recording_pairs.trial("clean", 4).far, clean.far
    )


def test_the_drift_is_the_one_named():
    still, slipping = (recording_pairs.trial(name, 2) for name in ("clean", "drift of 50 ppm"))
    last = slice(-32_000, None)
    ends = [phat(t.far[last], t.microphone[last], paper.RATE).delay for t in (still, slipping)]
    assert ends[1] - ends[0] == pytest.approx(50e-6 * (recording_pairs.SECONDS - 2), abs=0.2e-3)


def test_the_measured_rooms(tmp_path):
    room = recording_pairs.living_room()
    assert np.sum(room**2) == pytest.approx(1) and np.argmax(np.abs(room)) <= paper.RATE // 500
    with pytest.raises(SignalError, match="pip download"):
        recording_pairs.laboratories(tmp_path)
    with pytest.raises(SignalError, match="needs its response"):
        recording_pairs.trial("laboratory 1", 1)
    made = recording_pairs.trial("laboratory 1", 1, {"laboratory 1": [0.0, 1.0]})
    assert phat(made.far[:80_000], made.microphone[:80_000], paper.RATE).delay == pytest.approx(
        41 / paper.RATE, abs=1e-4
    )


def test_a_sweep_gives_its_room_back(tmp_path):
    import soundfile

    time = np.arange(16_000) / paper.RATE
    sweep = 0.5 * np.sin(2 * np.pi * (20 * time + 990 * time**2))
    room = np.zeros(400)
    room[[20, 180, 350]] = 1.0, -0.5, 0.25
    for file in recording_pairs.LABORATORIES.values():
        soundfile.write(tmp_path / file, 0.5 * np.convolve(sweep, room), paper.RATE)
    soundfile.write(tmp_path / recording_pairs._SWEEP, sweep, paper.RATE)
    found = recording_pairs.laboratories(tmp_path)["laboratory 1"]
    at = int(np.argmax(found))
    assert found[at + 160] / found[at] == pytest.approx(-0.5, abs=0.05)
    assert found[at + 330] / found[at] == pytest.approx(0.25, abs=0.05)


def test_what_is_measured():
    made = recording_pairs.trial("double talk", 1)
    echo = made.microphone - made.near
    perfect = canceller_comparison.measured(made, made.near + 0.01 * echo)
    assert perfect["erle"] == pytest.approx(40) and perfect["after"] == pytest.approx(40)
    later = canceller_comparison.measured(made, np.roll(made.near + 0.01 * echo, 37))  # what lags isn't punished
    assert later["sdr"] == pytest.approx(perfect["sdr"]) and perfect["sdr"] > 35
    assert canceller_comparison.measured(made, made.microphone)["erle"] == 0
    # as good behind the high-pass, and bad beside what isn't
    passed = recording_pairs.high_pass(made.near + 0.01 * echo)
    assert canceller_comparison.measured(made, passed, "passed")["sdr"] == pytest.approx(perfect["sdr"], abs=3)
    assert canceller_comparison.measured(made, passed)["sdr"] < 10
    with pytest.raises(SignalError, match="the output has"):
        canceller_comparison.measured(made, echo[:-1])


@pytest.mark.needs("speexdsp")
def test_speexdsp_where_it_is():
    seed = canceller_comparison.SEEDS[0]
    made = recording_pairs.trial("clean", seed)
    left = baseline_cancellers.speex(made.far, made.microphone)
    found = canceller_comparison.measured(made, left.linear)
    (recorded,) = experiments.column(
        experiments.read("cancellers"), "erle", trial="clean", seed=seed, canceller="speexdsp", output="linear",
        band="all",
    )  # fmt: skip
    assert found["erle"] == pytest.approx(recorded, abs=0.5)
    (recorded,) = experiments.column(
        experiments.read("cancellers"), "erle", trial="clean", seed=seed, canceller="speexdsp", output="linear",
        band="passed",
    )  # fmt: skip
    assert canceller_comparison.measured(made, left.linear, "passed")["erle"] == pytest.approx(recorded, abs=0.5)
    samples = 0.05 * np.random.default_rng(1).standard_normal(8000)
    # nothing is played, so the high-pass is all it does
    alone = baseline_cancellers.speex(np.zeros(8000), samples).linear
    expected = recording_pairs.high_pass(samples)
    assert np.sum((alone - expected) ** 2) < 1e-6 * np.sum(expected**2)  # 16 bits


def test_what_is_missing_is_said(tmp_path, monkeypatch):
    found, left_out = canceller_comparison.cancellers(tmp_path)
    assert "ours" in found and "AEC3" not in found and any("--webrtc" in why for why in left_out)
    monkeypatch.setitem(sys.modules, "aec_audio_processing", None)
    monkeypatch.setattr(baseline_cancellers.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(baseline_cancellers.MissingError, match="pip install aec-audio-processing"):
        baseline_cancellers.build_aec3(tmp_path, tmp_path)
    with pytest.raises(baseline_cancellers.MissingError, match="build_aec3 makes it"):
        baseline_cancellers.aec3(np.zeros(8000), np.zeros(8000), tmp_path / "libaec3.so")
    baseline_cancellers._speexdsp.cache_clear()
    monkeypatch.setattr(baseline_cancellers.ctypes.util, "find_library", lambda name: None)
    with pytest.raises(baseline_cancellers.MissingError, match="libspeexdsp1"):
        baseline_cancellers.speex(np.zeros(8000), np.zeros(8000))
    assert canceller_comparison._main([str(tmp_path / "out.csv"), "--rooms", str(tmp_path)]) == 1


def test_the_recorded_table_is_whole():
    rows = experiments.read("cancellers")
    assert tuple(rows[0]) == canceller_comparison.COLUMNS
    kinds = {(row["canceller"], row["output"]) for row in rows}
    assert len(kinds) == 5 and len(rows) == 2 * 5 * len(recording_pairs.TRIALS) * len(canceller_comparison.SEEDS)


def test_what_the_chapter_says_of_the_others():
    rows = experiments.read("cancellers")

    def means(name, what, band="passed"):
        return [
            np.mean(experiments.column(rows, what, trial=name, canceller=who, output="linear", band=band))
            for who in ("ours", "speexdsp", "AEC3")
        ]

    for what in ("erle", "later"):
        assert not [name for name in recording_pairs.TRIALS if max(means(name, what)[1:]) > means(name, what)[0]]
    clean, room, raw = means("clean", "later"), means("living room", "later"), means("living room", "later", "all")
    assert clean[0] - clean[1] == pytest.approx(2.9, abs=0.1) and clean[0] - clean[2] == pytest.approx(10, abs=0.5)
    spread = np.std(
        experiments.column(rows, "later", trial="living room", canceller="speexdsp", output="linear", band="passed")
    )
    assert 0 < room[0] - room[1] < spread and raw[1] - raw[0] == pytest.approx(5.7, abs=0.1)
    assert np.round(means("double talk", "sdr")).tolist() == [41, 25, 15]
    assert means("double talk", "sdr", "all")[1] == pytest.approx(5.5, abs=0.05)
    moved = means("moved", "after")
    assert moved[0] - moved[1] == pytest.approx(4, abs=0.5) and moved[0] - moved[2] == pytest.approx(3, abs=0.5)
    loads = np.mean([means(name, "load") for name in recording_pairs.TRIALS], axis=0)
    assert 20 < loads[0] / loads[1] < 31 and 4.5 < loads[0] / loads[2] < 6.5


def test_the_call_that_fooled_the_guard_is_told():
    rows = experiments.read("cancellers")
    of = {"trial": "double talk", "output": "linear", "band": "passed"}
    near = experiments.column(rows, "sdr", canceller="ours", **of)
    assert sorted(np.round(near)) == [7, 50, 50, 50, 50]
    assert experiments.column(rows, "sdr", canceller="speexdsp", seed=75, **of)[0] == pytest.approx(20, abs=0.5)
    after = [experiments.column(rows, "after", canceller=who, seed=75, **of)[0] for who in ("ours", "speexdsp", "AEC3")]
    assert round(after[0]) == 11 and np.allclose(after[1:], 21.5, atol=0.5)

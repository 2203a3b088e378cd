"""`voicewire echo` on files: delay, drift, levels and clipping are found and told, in lines, JSON and a picture."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import soundfile
from scipy.signal import fftconvolve, resample_poly

from voicewire import cli
from voicewire.echo.recordings import delay_estimation, report
from voicewire.echo.recordings.paired_recordings import Pair
from voicewire.echo.recordings.stream import cancel_files
from voicewire.echo.scenes.room_impulse_responses import room_response
from voicewire.echo.scenes.speech import talk
from voicewire.echo.two_path_filter import Change

RATE = 8000
TAPS = 64


def drifting(samples: np.ndarray, ppm: float) -> np.ndarray:
    """The samples by a clock that is slow by so much: by Fourier series, not the interpolation under test."""
    size = samples.size
    spectrum = np.fft.rfft(samples)
    pieces = []
    for start in range(0, size, 4000):  # within half a second the slip is one number: at 50 ppm 0.2 samples
        shift = ppm * 1e-6 * (start + 2000)
        turned = spectrum * np.exp(-2j * np.pi * np.arange(spectrum.size) * shift / size)
        pieces.append(np.fft.irfft(turned, size)[start : start + 4000])
    return np.concatenate(pieces)


def echoed(seconds: float, late: int = 0, ppm: float = 0.0, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Speech, and its echo from a small room with faint noise."""
    far = 0.05 * talk(seconds, seed)
    room = room_response(TAPS, RATE, np.random.default_rng(seed)) * np.exp(-np.arange(TAPS) / 20)
    heard = fftconvolve(far, room)[: far.size]
    if ppm:
        heard = drifting(heard, ppm)
    heard = np.roll(heard, late)
    heard[: max(late, 0)] = 0
    return far, heard + 1e-4 * np.random.default_rng(seed + 1).standard_normal(far.size)


def write(folder: Path, far: np.ndarray, heard: np.ndarray, rate: int = RATE) -> list[Path]:
    """Two files to read and the name of one to write."""
    names = [folder / name for name in ("far.wav", "mic.wav", "out.wav")]
    soundfile.write(names[0], far, rate)
    soundfile.write(names[1], heard, rate)
    return names


@pytest.mark.parametrize("late", [0, 80, 800, 4000])
def test_an_echo_that_comes_late_is_found_and_cancelled(tmp_path, late):
    """Before, 100 ms gave 0.3 dB: the filter's 64 taps ended before the echo began."""
    far, heard = echoed(10, late)
    done = cancel_files(*write(tmp_path, far, heard), length=TAPS)
    strongest = np.argmax(np.abs(room_response(TAPS, RATE, np.random.default_rng(3)) * np.exp(-np.arange(TAPS) / 20)))
    assert done.delay == pytest.approx((late + strongest) / RATE, abs=1 / RATE)
    assert done.erle(5) > 20
    kept = cancel_files(*write(tmp_path, far, heard), length=TAPS, delay=0.0)
    if late > TAPS:
        assert kept.erle(5) < 3


@pytest.mark.parametrize("ppm", [-120.0, 50.0])
def test_two_clocks_are_told_apart_and_brought_in_step(tmp_path, ppm):
    far, heard = echoed(40, 400, ppm)
    names = write(tmp_path, far, heard)
    with Pair(*names[:2]) as both:
        found = both.find(1.0)
    assert found.straight
    assert 1e6 * found.drift == pytest.approx(ppm, abs=1)
    assert 1e6 * found.scatter < 1
    x = np.concatenate([x for x, _ in Pair(*names[:2]).blocks(2000, found.delay, found.drift)])[:, 0]
    late = [delay_estimation.phat(x[at : at + 32000], heard[at : at + 32000], RATE, 0.1) for at in (8000, 280_000)]
    assert abs(late[1].delay - late[0].delay) * RATE < 0.3  # of 15 samples at 50 ppm, 33 at -120


def test_one_clock_has_no_drift_and_a_moved_talker_is_none(tmp_path):
    far, heard = echoed(24)
    with Pair(*write(tmp_path, far, heard)[:2]) as both:
        assert both.find(1.0).drift == 0
    heard[12 * RATE :] = np.roll(heard, 5)[12 * RATE :]
    with Pair(*write(tmp_path, far, heard)[:2]) as both:
        assert both.find(1.0).drift == 0


@pytest.mark.parametrize("ppm", [-100, 50, 0])
def test_two_ways_of_like_strength_hide_no_drift(ppm):
    """In a measured room some windows take another way than the rest: the line that most share is the clocks'."""
    times = np.arange(2.0, 26.0, 2.0)
    other = np.isin(np.arange(times.size), [1, 4, 5, 9])
    delays = 0.1 + 1e-6 * ppm * times + 1.4e-3 * other
    found = delay_estimation.alignment(
        [(t, delay_estimation.Peak(d, 50.0, 3.0)) for t, d in zip(times, delays, strict=True)], 16000
    )
    assert found.drift == pytest.approx(1e-6 * ppm, abs=1e-9)
    assert found.delay == pytest.approx(0.1, abs=2e-5)


def test_a_delay_that_steps_is_not_taken_for_clocks():
    times = np.arange(2.0, 42.0, 2.0)
    for after in (8.0, 20.0, 30.0):
        delays = np.where(times > after, 0.103, 0.1)
        found = delay_estimation.alignment(
            [(t, delay_estimation.Peak(d, 50.0, 3.0)) for t, d in zip(times, delays, strict=True)], 16000
        )
        assert found.drift == 0


def test_what_shares_nothing_has_no_delay_and_neither_has_a_tone():
    """Sharp ends of windows once made a false peak at 0 between two sounds without high frequencies."""
    rng, time = np.random.default_rng(4), np.arange(4 * 16000) / 16000
    one, two = (5 + resample_poly(rng.standard_normal(time.size // 4), 4, 1) for _ in range(2))
    found = delay_estimation.phat(one, two, 16000)
    assert found.clarity < delay_estimation.CLEAR
    tone = np.sin(2 * np.pi * 1000 * time)
    assert delay_estimation.phat(tone, np.roll(tone, 1600), 16000) is None
    assert delay_estimation.phat(one, np.roll(one, 1600), 16000).delay == pytest.approx(0.1, abs=1e-4)


def test_a_value_between_two_samples_is_that_of_the_wave(tmp_path):
    times = np.arange(4000) / RATE
    wave = 0.5 * np.sin(2 * np.pi * 1000 * times)
    with Pair(*write(tmp_path, wave, wave)[:2]) as both:
        between = both._between(np.arange(100, 3000) + 0.37)[:, 0]
    assert np.abs(between - 0.5 * np.sin(2 * np.pi * 1000 * (times[100:3000] + 0.37 / RATE))).max() < 2e-3


def test_the_report_says_it_in_lines_json_and_a_picture(tmp_path, capsys):
    far, heard = echoed(6, 800)
    limit = 0.3 * np.abs(heard).max()
    heard[3 * RATE :] = heard[3 * RATE :].clip(-limit, limit)
    heard[: 3 * RATE] *= limit / np.abs(heard[: 3 * RATE]).max() / 1.01
    names = [str(name) for name in write(tmp_path, far, heard)]
    picture = tmp_path / "erle.png"
    assert cli.main(["echo", *names, "--length", "64", "--picture", str(picture), "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["delay_ms"] == pytest.approx(100, abs=2)
    assert row["channels"] == [1, 1]
    assert len(row["each_second"]["erle_db"]) == 6
    clipped = row["each_second"]["clipped_microphone"]
    assert clipped[:3] == [0, 0, 0]
    assert max(clipped[3:]) > 0
    assert row["clipped_far"] == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert cli.main(["echo", *names, "--length", "64"]) == 0
    said = capsys.readouterr().out
    assert "delay 10" in said
    assert "ERLE" in said
    assert "% in" in said
    out, rate = soundfile.read(names[2])
    assert (out.shape, rate) == ((6 * RATE,), RATE)


def test_nothing_heard_has_no_erle():
    assert report.decibels(0.0, 1.0) is None
    assert report.decibels(1.0, 0.0) == pytest.approx(120)


def test_what_16_bits_would_clip_is_written_as_floats_from_its_beginning(tmp_path):
    rng = np.random.default_rng(1)
    far = 0.1 * rng.standard_normal(RATE * 2)
    heard = 0.3 * far
    heard[-1000:] += 3.0
    names = [tmp_path / name for name in ("far.wav", "mic.wav", "out.wav")]
    soundfile.write(names[0], far, RATE)
    soundfile.write(names[1], heard, RATE, subtype="FLOAT")
    done = cancel_files(*names, length=16)
    assert "32-bit" in done.written
    out, _ = soundfile.read(names[2])
    assert out.shape == heard.shape
    assert np.abs(out).max() > 1.5
    assert not (tmp_path / "out.wav.part").exists()


def test_memory_does_not_grow_with_the_files(tmp_path):
    def most(seconds: float) -> int:
        names = write(tmp_path, *echoed(seconds))
        tracemalloc.start()
        cancel_files(*names, length=16, delay=0.0)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    most(2)  # what is imported and compiled at first
    assert most(60) < most(10) + 500_000  # the 50 s more are 3.2 MB in each file, as numbers


def test_the_report_names_the_first_new_beginnings_and_counts_the_rest():
    none = np.zeros(30)
    one = report.Report(8000, 240_000, (1, 1), 512, 1, 0.1, 0.09, True, 0.0, none + 1, none, none, none, none, [])
    one.clipped_microphone = np.r_[1.0, np.zeros(29)]
    one.changes = [Change(0.5 + t, "as if the near end talked") for t in range(9)]
    said = [line for line in one.lines() if "anew" in line or "more" in line]
    assert len(said) == 7 and said[-1] == "and 3 times more"
    assert said[0].endswith("or clipping, which is there") and not said[3].endswith("there")
    assert len(one.as_object()["begun_anew"]) == 9

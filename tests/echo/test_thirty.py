"""Thirty pairs of files for `voicewire echo`: the right answer within a stated error, or a clear reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from scipy.signal import fftconvolve, resample_poly

from voicewire.echo.recordings.stream import cancel_files
from voicewire.echo.scenes.room_impulse_responses import room_response
from voicewire.echo.scenes.speech import talk

RATE, SECONDS, LATE = 8000, 12, 0.05
FAR = 0.05 * talk(SECONDS, 9)
ROOM = room_response(64, RATE, np.random.default_rng(9)) * np.exp(-np.arange(64) / 15)
LATEST = LATE + np.argmax(np.abs(ROOM)) / RATE
Samples = np.ndarray[Any, Any]


def heard(far: Samples, late: float = LATE, noise: float = 1e-4) -> Samples:
    """The far end through a small room, late, with faint noise."""
    echo = np.concatenate([np.zeros(round(late * RATE)), fftconvolve(far, ROOM)])[: far.size]
    return echo + noise * np.random.default_rng(8).standard_normal(far.size)


def music(seed: int) -> Samples:
    """Chords of plucked strings."""
    rng, time = np.random.default_rng(seed), np.arange(SECONDS * RATE) / RATE
    sound = np.zeros(time.size)
    for start in np.arange(0, SECONDS, 0.4):
        for tone in rng.choice([220, 247, 262, 294, 330, 392, 440], 3, replace=False):
            t = np.maximum(time - start, 0)
            string = sum(np.sin(2 * np.pi * tone * k * t) / k for k in range(1, 9))
            sound += np.where(time >= start, np.exp(-4 * t), 0) * string
    return np.asarray(0.02 * sound)


def slow(samples: Samples, ppm: float) -> Samples:
    """By another clock: linear between values eight times as dense."""
    dense = resample_poly(samples, 8, 1)
    places = 8 * np.arange(samples.size) * (1 - 1e-6 * ppm)
    return np.interp(places, np.arange(dense.size), dense)


def written(
    folder: Path, far: Samples, microphone: Samples, rate: int = RATE, kind: str = "PCM_16", end: str = "wav"
) -> list[Path]:
    """Two files to read and the name of one to write."""
    names = [folder / f"far.{end}", folder / f"mic.{end}", folder / "out.wav"]
    for path, samples in zip(names, (far, microphone), strict=False):
        soundfile.write(path, samples, rate, subtype=kind)
    return names


def faster(rate: int) -> tuple[Samples, Samples]:
    """Both at another rate."""
    return resample_poly(FAR, rate, RATE), resample_poly(heard(FAR), rate, RATE)


def two(left: Samples) -> Samples:
    """Two channels, the right one weaker and later."""
    return np.column_stack([left, 0.3 * np.roll(left, 40)])


_NEAR = 0.02 * np.roll(talk(SECONDS, 33), 500)
_BOTH = np.where((np.arange(FAR.size) > 6 * RATE) & (np.arange(FAR.size) < 9 * RATE), _NEAR, 0)
_LIMIT = 0.3 * np.abs(heard(FAR)).max()
RIGHT: dict[str, tuple[Callable[[Path], list[Path]], float, float]] = {
    # name: the files, the delay in s, the least ERLE over the second half in dB
    "16 bits": (lambda f: written(f, FAR, heard(FAR)), LATEST, 20),
    "32 bits": (lambda f: written(f, FAR, heard(FAR), kind="PCM_32"), LATEST, 20),
    "floats": (lambda f: written(f, FAR, heard(FAR), kind="FLOAT"), LATEST, 20),
    "8 bits": (lambda f: written(f, 4 * FAR, 4 * heard(FAR), kind="PCM_U8"), LATEST, 10),
    "mu-law": (lambda f: written(f, FAR, heard(FAR), kind="ULAW"), LATEST, 15),
    "FLAC": (lambda f: written(f, FAR, heard(FAR), end="flac"), LATEST, 20),
    "11,025 Hz": (lambda f: written(f, *faster(11025), rate=11025), LATEST, 20),
    "16 kHz": (lambda f: written(f, *faster(16000), rate=16000), LATEST, 20),
    "48 kHz": (lambda f: written(f, *faster(48000), rate=48000), LATEST, 15),
    "microphone longer": (lambda f: written(f, FAR, np.r_[heard(FAR), np.zeros(RATE)]), LATEST, 20),
    "far end longer": (lambda f: written(f, np.r_[FAR, np.zeros(RATE)], heard(FAR)), LATEST, 20),
    "mono and stereo": (lambda f: written(f, FAR, two(heard(FAR))), LATEST, 20),
    "stereo and mono": (lambda f: written(f, two(FAR), heard(FAR)), LATEST, 20),
    "white noise": (lambda f: written(f, _NOISE, heard(_NOISE)), LATEST, 20),
    "music": (lambda f: written(f, _MUSIC, heard(_MUSIC)), LATEST, 15),
    "half a second late": (lambda f: written(f, FAR, heard(FAR, 0.5)), LATEST + 0.45, 20),
    "a pause of 3 s": (lambda f: written(f, _PAUSED, heard(_PAUSED)), LATEST, 20),
    "drift of 80 ppm": (lambda f: written(f, _LONG, slow(heard(_LONG), 80)), LATEST, 12),
    "clipped": (lambda f: written(f, FAR, heard(FAR).clip(-_LIMIT, _LIMIT)), LATEST, 5),
    "both talk": (lambda f: written(f, FAR, heard(FAR) + _BOTH), LATEST, 0),
    "very quiet": (lambda f: written(f, 0.01 * FAR, 0.01 * heard(FAR), kind="FLOAT"), LATEST, 20),
    "a constant beside": (lambda f: written(f, FAR + 0.05, heard(FAR) + 0.02), LATEST, 5),
}
_NOISE = 0.05 * np.random.default_rng(2).standard_normal(SECONDS * RATE)
_MUSIC = music(3)
_PAUSED = np.where((np.arange(FAR.size) > 4 * RATE) & (np.arange(FAR.size) < 7 * RATE), 0, FAR)
_LONG = 0.05 * talk(3 * SECONDS, 9)


@pytest.mark.parametrize("name", RIGHT)
def test_the_right_answer(tmp_path, name):
    files, delay, least = RIGHT[name]
    names = files(tmp_path)
    done = cancel_files(*names, length=max(128, 64 * soundfile.info(names[0]).samplerate // RATE))
    assert done.delay == pytest.approx(delay, abs=0.5e-3)
    half = done.erle(len(done.heard) // 2)
    assert half is not None and half >= least
    out, rate = soundfile.read(names[2])
    assert len(out) == min(soundfile.info(n).frames for n in names[:2]) and rate == soundfile.info(names[0]).samplerate


def cut(folder: Path) -> list[Path]:
    """A file that ends within its head."""
    names = written(folder, FAR, heard(FAR))
    names[1].write_bytes(names[1].read_bytes()[:30])
    return names


def other_rate(folder: Path) -> list[Path]:
    """The microphone's file at twice the rate."""
    names = written(folder, FAR, heard(FAR))
    soundfile.write(names[1], heard(FAR), 16000)
    return names


REASONS: dict[str, tuple[Callable[[Path], list[Path]], str]] = {
    "silent far end": (lambda f: written(f, 0 * FAR, heard(FAR)), "far.wav"),
    "silent microphone": (lambda f: written(f, FAR, 0 * FAR), "mic.wav"),
    "another talk": (lambda f: written(f, FAR, 0.05 * talk(SECONDS, 77)), "no echo of .*far.wav"),
    "wrong order": (lambda f: written(f, heard(FAR), FAR), "swapped"),
    "empty": (lambda f: written(f, FAR, FAR[:0]), "mic.wav is empty"),
    "three channels": (lambda f: written(f, np.column_stack([FAR] * 3), heard(FAR)), "3 channels"),
    "other rates": (other_rate, "16000 Hz"),
    "cut": (cut, "mic.wav"),
}


@pytest.mark.parametrize("name", REASONS)
def test_a_clear_reason(tmp_path, name):
    """All are refused but the files in wrong order, which may be a microphone's that began later: that is noted."""
    files, reason = REASONS[name]
    try:
        said = " ".join(cancel_files(*files(tmp_path), length=64).notes)
        assert name == "wrong order"
    except (ValueError, OSError, soundfile.SoundFileError) as problem:
        said = str(problem)
    assert re.search(reason, said)


def test_there_are_thirty():
    assert len(RIGHT) + len(REASONS) == 30

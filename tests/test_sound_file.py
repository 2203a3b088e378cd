"""What foreign sound files do: names without a format, promises that are not kept, lengths that nobody knows."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile

from voicewire._kit import _sound_file
from voicewire.cli import main
from voicewire.echo.recordings.stream import cancel_files
from voicewire.pharyngeal import audio_files

RATE = 16_000
NOISE = 0.1 * np.random.default_rng(3).standard_normal(6 * RATE)
HEARD = np.r_[np.zeros(800), 0.5 * NOISE[:-800]]


def written(path: Path, samples: np.ndarray = NOISE, kind: str = "PCM_16", **more: str) -> Path:
    soundfile.write(path, samples, RATE, kind, **more)
    return path


def unknown(path: Path, frames: int = 0) -> Path:
    """A FLAC as one that is written into a pipe: its head does not know how many samples follow."""
    raw = bytearray(written(path).read_bytes())
    raw[21] = raw[21] & 0xF0 | frames >> 32
    raw[22:26] = (frames & 0xFFFFFFFF).to_bytes(4, "big")
    path.write_bytes(raw)
    return path


CUT = {
    "aiff": {},
    "au": {},
    "w64": {},
    "rf64": {"format": "RF64"},
    "rifx": {"format": "WAV", "endian": "BIG"},
    "wav": {},
}


@pytest.mark.parametrize("end", [*CUT, "flac", "mp3"])
def test_half_a_file_is_not_measured_in_its_middle(tmp_path: Path, end: str) -> None:
    kind = {"mp3": "MPEG_LAYER_III"}.get(end, "PCM_16")
    whole = written(tmp_path / f"whole.{end}", NOISE, kind, **CUT.get(end, {}))
    assert audio_files.read(whole).samples.size == pytest.approx(NOISE.size, rel=0.02)
    half = tmp_path / f"half.{end}"
    half.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    with pytest.raises(audio_files.SoundError, match=f"half.{end}: (the file ends early|not readable)"):
        audio_files.read(half)


@pytest.mark.parametrize("frames", [0, 2**36 - 1])
def test_a_length_that_is_not_known_or_not_kept_costs_no_memory(tmp_path: Path, frames: int) -> None:
    """A pipe's FLAC is read to its end; one that promises 2 ** 36 samples and ends after six seconds is cut."""
    file = unknown(tmp_path / "pipe.flac", frames)
    if frames:
        with pytest.raises(audio_files.SoundError, match="ends early"):
            audio_files.read(file)
    else:
        assert audio_files.read(file).samples == pytest.approx(NOISE, abs=1e-4)


@pytest.mark.parametrize("frames", [0, 2**36 - 1])
def test_the_canceller_names_a_file_that_has_no_end(tmp_path: Path, frames: int) -> None:
    file = unknown(tmp_path / "pipe.flac", frames)
    for pair in ((file, written(tmp_path / "mic.wav", HEARD)), (file, file)):
        with pytest.raises(ValueError, match=r"pipe.flac (does not say how long|ends early)"):
            cancel_files(*pair, tmp_path / "out.wav", length=64)


def test_the_canceller_says_what_a_cut_file_lacks(tmp_path: Path) -> None:
    far, microphone = written(tmp_path / "far.wav"), written(tmp_path / "mic.wav", HEARD)
    microphone.write_bytes(microphone.read_bytes()[: 44 + 8 * RATE])
    report = cancel_files(far, microphone, tmp_path / "out.wav", length=64)
    assert report.delay == pytest.approx(800 / RATE, abs=1e-4)
    assert f"mic.wav ends early: {8 * RATE} of {12 * RATE} bytes of sound are there" in report.notes


@pytest.mark.parametrize("command", ["formants", "echo"])
def test_a_file_without_a_head_is_refused_in_one_line(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = tmp_path / "talk.raw"
    raw.write_bytes((1000 * NOISE).astype("<i2").tobytes())
    more = [str(written(tmp_path / "mic.wav")), str(tmp_path / "out.wav")] if command == "echo" else []
    assert main([command, str(raw), *more]) == 1
    said = capsys.readouterr().err
    assert "talk.raw: a raw file names no rate" in said
    assert said.count("\n") == 1


def test_a_coder_that_cannot_go_back_is_named(tmp_path: Path) -> None:
    far, microphone = (written(tmp_path / name, NOISE, "GSM610", format="WAV") for name in ("far.wav", "mic.wav"))
    assert audio_files.read(far).samples.size == pytest.approx(NOISE.size, rel=0.02)
    with pytest.raises(ValueError, match=r"only be read from its beginning on \(GSM610\)"):
        cancel_files(far, microphone, tmp_path / "out.wav", length=64)


def test_what_a_decoder_says_does_not_reach_the_reader(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path / "talk.mp3", NOISE, "MPEG_LAYER_III")
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2 : len(raw) // 2 + 300] = bytes(300)
    file.write_bytes(raw)
    with _sound_file.opened(file) as opened:
        assert sum(map(len, _sound_file.blocks(opened)))
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("size", [0xFFFFFFFF, 0xFFFFFFF0, 0x7FFFFFFE])
def test_a_streamed_wav_ends_where_it_ends(tmp_path: Path, size: int) -> None:
    file = written(tmp_path / "stream.wav")
    raw = file.read_bytes()
    file.write_bytes(raw[:40] + struct.pack("<I", size) + raw[44:])
    assert audio_files.read(file).samples.size == NOISE.size
    with _sound_file.opened(file) as opened:
        assert _sound_file.missing(opened) == ""


def test_whole_numbers_made_floats_are_named_with_their_file(tmp_path: Path) -> None:
    with pytest.raises(audio_files.SoundError, match="loud.wav: samples reach .* times full scale"):
        audio_files.read(written(tmp_path / "loud.wav", 30_000 * NOISE, "FLOAT"))

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


@pytest.mark.parametrize("promised", [0, 2000, 2**32 - 1])
def test_the_canceller_says_what_is_odd_about_a_file(tmp_path: Path, promised: int) -> None:
    far, microphone = written(tmp_path / "far.wav"), written(tmp_path / "mic.wav", HEARD)
    raw = microphone.read_bytes()
    microphone.write_bytes(raw[:40] + struct.pack("<I", promised) + raw[44:])
    report = cancel_files(far, microphone, tmp_path / "out.wav", length=64)
    (odd,) = audio_files.read(microphone).notes
    assert f"mic.wav: {odd}" in report.notes and "were read" in odd


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


def riff(*chunks: bytes, size: int | None = None) -> bytes:
    body = b"WAVE" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body) if size is None else size) + body


def chunk(name: bytes, content: bytes, size: int | None = None) -> bytes:
    return name + struct.pack("<I", len(content) if size is None else size) + content + b"\0" * (len(content) % 2)


SOUND = (3000 * NOISE[:RATE]).astype("<i2").tobytes()
FORMAT = chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, RATE, 2 * RATE, 2, 16))


@pytest.mark.parametrize("before", [(), (chunk(b"JUNK", b"\0" * 28),), (chunk(b"bext", b"x" * 603),)])
@pytest.mark.parametrize("promised", [0, 2, 4000, 15_998, 2**31 - 1, 2**32 - 1])
@pytest.mark.parametrize("size", [0, 36, None])
def test_a_wav_whose_header_was_never_brought_up_to_date_is_read_and_named(
    tmp_path: Path, before: tuple[bytes, ...], promised: int, size: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """As recorders that were stopped by force, and pipes, leave it: all that is there is read, and what is odd said."""
    file = tmp_path / "x.wav"
    file.write_bytes(riff(*before, FORMAT, chunk(b"data", SOUND, promised), size=size))
    sound = audio_files.read(file)
    assert sound.samples == pytest.approx(np.frombuffer(SOUND, "<i2") / 2**15)
    assert any("were read" in note for note in sound.notes)
    assert main(["formants", str(file)]) == 0
    assert sound.notes[0] in capsys.readouterr().err


@pytest.mark.parametrize("promised", [0, None])
def test_chunks_behind_the_sound_are_not_taken_for_sound(tmp_path: Path, promised: int | None) -> None:
    file = tmp_path / "x.wav"
    content = SOUND if promised is None else b""
    file.write_bytes(riff(FORMAT, chunk(b"data", content), chunk(b"LIST", b"INFOxyz"), chunk(b"id3 ", b"q" * 90_000)))
    if promised is None:
        sound = audio_files.read(file)
        assert sound.samples == pytest.approx(np.frombuffer(SOUND, "<i2") / 2**15) and sound.notes == ()
    else:
        with pytest.raises(audio_files.SoundError, match="a header but no sound"):
            audio_files.read(file)


def test_what_belongs_to_nothing_is_passed_over_and_named(tmp_path: Path) -> None:
    file = tmp_path / "x.wav"
    file.write_bytes(riff(FORMAT, chunk(b"data", SOUND)) + b"\1\2\3" * 9)
    sound = audio_files.read(file)
    assert sound.samples.size == RATE
    assert sound.notes == ("27 bytes behind the sound belong to nothing and were passed over",)


def rf64(promised: int, sound: bytes, *behind: bytes) -> bytes:
    """An RF64, whose lengths stand in its chunk ds64."""
    sizes = struct.pack("<QQQI", promised and 72 + promised, promised, promised // 2, 0)
    body = b"WAVE" + chunk(b"ds64", sizes) + FORMAT + b"data" + b"\xff" * 4 + sound + b"".join(behind)
    return b"RF64" + b"\xff" * 4 + body


LAST = ((), (chunk(b"LIST", b"INFOxyz"),), (chunk(b"bext", b"q" * 602), chunk(b"id3 ", b"q" * 90)))


@pytest.mark.parametrize("behind", LAST)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.55, 0.7, 0.9, 0.99])
@pytest.mark.parametrize("kind", ["riff", "as it was", "rf64"])
def test_sound_behind_a_wrong_length_is_read_to_the_last_chunks(
    tmp_path: Path, share: float, kind: str, behind: tuple[bytes, ...]
) -> None:
    """A recorder that brings its header up to date from time to time, and is then stopped by force."""
    promised = int(share * RATE) * 2
    file = tmp_path / "x.wav"
    if kind == "rf64":
        file.write_bytes(rf64(promised, SOUND, *behind))
    else:
        size = 36 + promised if kind == "as it was" else None
        file.write_bytes(riff(FORMAT, chunk(b"data", SOUND, promised), *behind, size=size))
    sound = audio_files.read(file)
    assert sound.samples == pytest.approx(np.frombuffer(SOUND, "<i2") / 2**15)
    assert sound.notes == (f"the header says {promised} bytes of sound; {2 * RATE} are there and were read",)


@pytest.mark.parametrize("behind", LAST)
def test_a_whole_rf64_is_nothing_odd(tmp_path: Path, behind: tuple[bytes, ...]) -> None:
    file = tmp_path / "x.wav"
    file.write_bytes(rf64(len(SOUND), SOUND, *behind))
    sound = audio_files.read(file)
    assert sound.samples == pytest.approx(np.frombuffer(SOUND, "<i2") / 2**15) and sound.notes == ()


@pytest.mark.parametrize("tag", [b"TAG" + b"x" * 125, b"ID3\4" + b"x" * 5000, b"APETAGEX" + b"x" * 300])
def test_a_tag_behind_a_whole_file_is_no_sound(tmp_path: Path, tag: bytes) -> None:
    file = tmp_path / "x.wav"
    file.write_bytes(riff(FORMAT, chunk(b"data", SOUND)) + tag)
    assert audio_files.read(file).samples.size == RATE


@pytest.mark.parametrize("weights", [(1, -1), (1, -0.8), (0.5, -0.6), (1, -1, 0.02), (1, -0.5, -0.5)])
def test_channels_that_cancel_are_named(tmp_path: Path, weights: tuple[float, ...]) -> None:
    rest = 0.001 * np.random.default_rng(4).standard_normal((RATE, len(weights)))
    soundfile.write(tmp_path / "x.wav", NOISE[:RATE, None] * weights + rest, RATE)
    with pytest.raises(audio_files.SoundError, match="the channels cancel each other in their mean: use --channel 0"):
        audio_files.read(tmp_path / "x.wav")
    assert audio_files.read(tmp_path / "x.wav", 1).samples.std() > 0.03


@pytest.mark.parametrize("weights", [(1, 1), (1, 0), (0, 1, 0, 0), (1, 0.5), (1, -0.05)])
def test_channels_that_do_not_cancel_are_averaged(tmp_path: Path, weights: tuple[float, ...]) -> None:
    soundfile.write(tmp_path / "x.wav", NOISE[:RATE, None] * weights, RATE)
    mean = audio_files.read(tmp_path / "x.wav").samples
    assert mean == pytest.approx(NOISE[:RATE] * np.mean(weights), abs=1e-4)


@pytest.mark.parametrize("channels", [2, 4, 8])
def test_unrelated_channels_are_averaged(tmp_path: Path, channels: int) -> None:
    noise = 0.1 * np.random.default_rng(5).standard_normal((RATE, channels))
    soundfile.write(tmp_path / "x.wav", noise, RATE)
    assert audio_files.read(tmp_path / "x.wav").samples == pytest.approx(noise.mean(axis=1), abs=1e-4)

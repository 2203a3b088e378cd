"""Reads and writes WAV files in a page with the functions of the library soundfile, which is not there.

It is registered under that library's name, so that a chapter's own code runs as it stands. What the library decodes
besides (FLAC, OGG) it refuses; the book's recordings lie in the page as WAV, whatever their names say.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["LibsndfileError", "SoundFile", "SoundFileError", "info", "read", "write"]

WIDTHS = {(1, 16): "<i2", (1, 24): "<i4", (1, 32): "<i4", (3, 32): "<f4", (3, 64): "<f8"}
"""Samples' types by the header's format and bits."""
EXTENSIBLE = 0xFFFE


class SoundFileError(Exception):
    """What the library raises."""


class LibsndfileError(SoundFileError, RuntimeError):
    """A file that cannot be read as sound, or written."""


@dataclass(frozen=True)
class _About:
    """What a header says.

    Attributes
    ----------
    frames, channels, samplerate : int
        Samples of a channel, channels, samples a second.
    """

    frames: int
    channels: int
    samplerate: int


def _chunks(data: bytes, name: str) -> dict[bytes, bytes]:
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise LibsndfileError(f"{name} is no WAV file, and a page reads no other")
    found: dict[bytes, bytes] = {}
    place = 12
    while place + 8 <= len(data):
        kind, length = data[place : place + 4], int.from_bytes(data[place + 4 : place + 8], "little")
        found.setdefault(kind, data[place + 8 : place + 8 + length])
        place += 8 + length + length % 2
    if not {b"fmt ", b"data"} <= set(found) or len(found[b"fmt "]) < 16:
        raise LibsndfileError(f"{name} has no header or no sound: save it as WAV again")
    return found


def _read(path: str | Path) -> tuple[NDArray[Any], int]:
    """Return the samples as they lie in the file, shape (frames, channels), and the rate."""
    found = _chunks(Path(path).read_bytes(), Path(path).name)
    header = found[b"fmt "]
    kind, channels, rate, _, _, bits = struct.unpack("<HHIIHH", header[:16])
    if kind == EXTENSIBLE and len(header) >= 26:
        kind = int.from_bytes(header[24:26], "little")
    if (kind, bits) not in WIDTHS or not channels or not rate:
        raise LibsndfileError(f"{Path(path).name} has samples of {bits} bits in format {kind}: save it with 16 bits")
    width = channels * bits // 8
    sound = found[b"data"][: len(found[b"data"]) // width * width]
    if bits == 24:  # a zero byte below each sample makes it one of 32 bits, with the same share of full scale
        threes = np.frombuffer(sound, np.uint8).reshape(-1, 3)
        sound = np.pad(threes, ((0, 0), (1, 0))).tobytes()
    return np.frombuffer(sound, WIDTHS[kind, bits]).reshape(-1, channels), rate


def info(path: str | Path) -> _About:
    """Return what a file's header says."""
    samples, rate = _read(path)
    frames, channels = samples.shape
    return _About(frames, channels, rate)


def read(path: str | Path, dtype: str = "float64", always_2d: bool = False) -> tuple[NDArray[Any], int]:
    """Return a file's samples, full scale 1, and its rate."""
    samples, rate = _read(path)
    scale = 1.0 if samples.dtype.kind == "f" else 2.0 ** (1 - 8 * samples.dtype.itemsize)
    shown = (samples * np.float64(scale)).astype(dtype)
    return (shown if always_2d or shown.shape[1] != 1 else shown[:, 0]), rate


class SoundFile:
    """A file that is open for reading, whole in memory."""

    format = "WAV"
    extra_info = ""

    def __init__(self, path: str | Path) -> None:
        self._samples, self.samplerate = read(path, always_2d=True)
        self.frames, self.channels = self._samples.shape
        self._place = 0

    def __enter__(self) -> SoundFile:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def seekable(self) -> bool:
        """Tell that it can be read from any place."""
        return True

    def seek(self, frames: int) -> int:
        """Go to a place."""
        self._place = frames
        return frames

    def read(self, frames: int = -1, dtype: str = "float64", always_2d: bool = False) -> NDArray[Any]:
        """Read on."""
        end = self.frames if frames < 0 else min(self.frames, self._place + frames)
        piece = self._samples[self._place : end].astype(dtype)
        self._place = max(self._place, end)
        return piece if always_2d or self.channels != 1 else piece[:, 0]


def write(path: str | Path, data: ArrayLike, samplerate: int, subtype: str = "PCM_16", format: str = "WAV") -> None:
    """Write a WAV file."""
    if format != "WAV" or subtype not in ("PCM_16", "PCM_24", "FLOAT"):
        raise LibsndfileError(f"a page writes WAV files as PCM_16, PCM_24 or FLOAT, not {format} as {subtype}")
    samples = np.asarray(data)
    samples = samples.reshape(len(samples), -1)
    if subtype == "FLOAT":
        kind, width, body = 3, 4, samples.astype("<f4").tobytes()
    else:  # as libsndfile: 32 bits first, then the upper ones
        whole = samples.dtype == np.int16
        wide = samples.astype(np.int64) << 16 if whole else np.rint(samples.astype(float) * 0x80000000)
        cut = wide.clip(-0x80000000, 0x7FFFFFFF).astype("<i4")
        kind, width = 1, 2 if subtype == "PCM_16" else 3
        body = cut.reshape(-1).view(np.uint8).reshape(-1, 4)[:, 4 - width :].tobytes()
    channels = samples.shape[1]
    header = struct.pack(
        "<HHIIHH", kind, channels, samplerate, samplerate * channels * width, channels * width, 8 * width
    )  # fmt: skip
    parts = b"WAVE" + b"fmt " + struct.pack("<I", 16) + header + b"data" + struct.pack("<I", len(body)) + body
    parts += bytes(len(body) % 2)
    Path(path).write_bytes(b"RIFF" + struct.pack("<I", len(parts)) + parts)

"""Sound files as they come: opened with one clear reason, read in blocks, held against what their header promises."""

from __future__ import annotations

import contextlib
import io
import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["blocks", "missing", "opened", "placed", "silent_library"]

_MOST = 2**40  # frames: a header that names more does not know its length
_BLOCK = 2**18  # samples
_LARGEST = 2**30  # bytes of a file whose length is put right
_STREAM = 0x7FFFF000  # bytes: streaming writers, which cannot go back, put such sizes
_IN_DS64 = 0xFFFFFFFF  # an RF64's length of sound stands in its chunk ds64
_FEW = 128  # bytes behind a whole WAV that are no sound: a tag, or what a copy left
_TAGS = (b"TAG", b"ID3", b"APETAGEX")  # they follow a whole file
_LAST = re.compile(rb"LIST|[iI][dD]3 |bext|cue |smpl|fact|JUNK|PEAK|iXML|_PMX|afsp|inst|umid|levl|acid|DISP|PAD ")
_PART = re.compile(r"^\s*(?:data|SSND|Data Size)\s*:\s*(\d+) \(should be (-?\d+)\)", re.MULTILINE)
_WHOLE = re.compile(r"^\s*(?:Riff size|riff)\s*:\s*(\d+) \(should be (-?\d+)\)", re.MULTILINE)  # RF64, W64
_ROUGH = 0.8  # an MP3 without a count is as long as its size lets guess


def opened(path: Path) -> Any:
    """Open a sound file for reading; a WAV whose header names a wrong length is read by what is there.

    What is odd about a WAV that is read all the same stands in the file's ``odd``, '' where nothing is.
    """
    import soundfile

    if path.stat().st_size == 0:
        raise ValueError(f"{path.name}: the file is empty; record or copy it again")
    size, odd = _wav(path)
    source: Any = path if size is None else _with_size(path, *size)
    with silent_library():
        try:
            file: Any = soundfile.SoundFile(source)
        except TypeError:  # what soundfile says to a name that ends in .raw
            raise ValueError(f"{path.name}: a raw file names no rate and no format; save it as WAV or FLAC") from None
    file.odd = odd
    return file


def _chunks(raw: bytes) -> bool:
    """Whether what follows the sound are chunks of their own: four letters and a length that stays within the file."""
    at = 0
    while at + 8 <= len(raw):
        name, length = raw[at : at + 4], int.from_bytes(raw[at + 4 : at + 8], "little")
        if not all(32 <= letter < 127 for letter in name) or at + 8 + length > len(raw):
            return False
        at += 8 + length + length % 2
    return at > 0


def _end(behind: bytes) -> int:
    """How many of the bytes behind a wrong length are sound: those before the chunks that end the file."""
    ends = (found.start() for found in _LAST.finditer(behind) if _chunks(behind[found.start() :]))
    return next(ends, len(behind))


def _wav(path: Path) -> tuple[tuple[int, int] | None, str]:
    """Where the length of a WAV's sound stands and what it has to be, if it is wrong; and what is odd, if anything is.

    Recorders write the length when they stop; what was stopped otherwise says 0, or what was there when it last wrote.
    An RF64 has its length in a chunk of its own, ds64.
    """
    with path.open("rb") as handle:
        if (head := handle.read(12))[:4] not in (b"RIFF", b"RF64") or head[8:] != b"WAVE":
            return None, ""
        large, whole, long = head[:4] == b"RF64", 8 + int.from_bytes(head[4:8], "little"), 0
        while len(head := handle.read(8)) == 8:
            name, length = struct.unpack("<4sI", head)
            if name == b"data":
                break
            start = handle.tell()
            if name == b"ds64" and len(sizes := handle.read(16)) == 16:
                whole, long = 8 + int.from_bytes(sizes[:8], "little"), int.from_bytes(sizes[8:], "little")
            handle.seek(start + length + length % 2)
        else:
            return None, ""
        first, size = handle.tell(), path.stat().st_size
        there = size - first
        if large and length == _IN_DS64:
            length = long
        elif length >= _STREAM:
            return None, f"the header names no length; all {there} bytes behind it were read as sound"
        if length >= there or size > _LARGEST:
            return None, ""
        handle.seek(first + length)
        behind = handle.read()
    if not behind.strip(b"\0") or _chunks(behind) or _chunks(behind[1:]):
        return None, ""
    if behind.startswith(_TAGS) or (len(behind) <= _FEW and whole == first + length):
        return None, f"{len(behind)} bytes behind the sound belong to nothing and were passed over"
    found = length + _end(behind)
    return (first - 4, found), f"the header says {length} bytes of sound; {found} are there and were read"


def _with_size(path: Path, at: int, size: int) -> io.BytesIO:
    """Return the file with the right length; an RF64 of this size does as a plain WAV."""
    raw = bytearray(path.read_bytes())
    if raw[:4] == b"RF64":
        raw[:4] = b"RIFF"
        if (place := raw.find(b"ds64", 12, at)) > 0:
            raw[place : place + 4] = b"JUNK"
    raw[4:8], raw[at : at + 4] = struct.pack("<I", len(raw) - 8), struct.pack("<I", size)
    return io.BytesIO(raw)


def blocks(file: Any) -> Iterator[NDArray[np.float64]]:
    """Read a file from its place to its end without going back, as one whose length is not known has to be read."""
    file.seekable = lambda: False  # soundfile seeks after each reading, which fails where the length is not known
    size = max(1, _BLOCK // file.channels)
    while True:
        with silent_library():
            piece = file.read(size, dtype="float64", always_2d=True)
        if not len(piece):
            return
        yield piece


def missing(file: Any, frames: int | None = None) -> str:
    """Say what a file lacks of what its header promises."""
    for rule, most, what in ((_PART, _STREAM, "bytes of sound"), (_WHOLE, 2**63, "bytes")):
        for promised, there in rule.findall(file.extra_info):
            if max(0, int(there)) < int(promised) < most:
                return f"{max(0, int(there))} of {promised} {what} are there"
    share = _ROUGH if file.format == "MP3" else 1.0
    if frames is not None and frames < share * file.frames and file.frames < _MOST:
        return f"{frames} of {file.frames} samples are there"
    return ""


def placed(file: Any) -> str:
    """Say why a file can't be read from any place that its header promises."""
    import soundfile

    if file.frames >= _MOST:
        return "does not say how long it is, as what was written into a pipe: save it as WAV or FLAC"
    if not file.seekable():
        return f"can only be read from its beginning on ({file.subtype}): save it as WAV (PCM) or FLAC"
    last = int(_ROUGH * file.frames) if file.format == "MP3" else file.frames - 1
    try:
        with silent_library():
            file.seek(last)
            there = len(file.read(1))
            file.seek(0)
    except soundfile.SoundFileError:
        there = 0
    return "" if there else "ends early or is damaged: save what is there with a sound editor"


@contextlib.contextmanager
def silent_library() -> Iterator[None]:
    """Keep a C library, which knows nothing of Python's streams, from writing to standard error.

    libsndfile tries an MP3 decoder on what may be one, and that prints lines of its own beside our error.
    """
    try:
        kept = os.dup(2)
    except OSError:  # it is closed
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(nowhere)
        os.close(kept)

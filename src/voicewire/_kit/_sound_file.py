"""Sound files as they come: opened with one clear reason, read in blocks, held against what their header promises."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["blocks", "missing", "opened", "placed", "silent_library"]

_MOST = 2**40  # frames: a header that names more does not know its length
_BLOCK = 2**18  # samples
_STREAM = 0x7FFFF000  # bytes: streaming writers, which cannot go back, put such sizes
_PART = re.compile(r"^\s*(?:data|SSND|Data Size)\s*:\s*(\d+) \(should be (-?\d+)\)", re.MULTILINE)
_WHOLE = re.compile(r"^\s*(?:Riff size|riff)\s*:\s*(\d+) \(should be (-?\d+)\)", re.MULTILINE)  # RF64, W64
_ROUGH = 0.8  # an MP3 without a count is as long as its size lets guess


def opened(path: Path) -> Any:
    """Open a sound file for reading."""
    import soundfile

    if path.stat().st_size == 0:
        raise ValueError(f"{path.name}: the file is empty; record or copy it again")
    with silent_library():
        try:
            return soundfile.SoundFile(path)
        except TypeError:  # what soundfile says to a name that ends in .raw
            raise ValueError(f"{path.name}: a raw file names no rate and no format; save it as WAV or FLAC") from None


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
    return "" if there else "ends early or is damaged: copy it again, or save what is there with a sound editor"


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

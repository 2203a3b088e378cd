"""Where samples come from: a file or an array, read from any place; behind a high-pass, or at a lower rate."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from voicewire._kit import _sound_file
from voicewire._kit._sound_file import silent_library
from voicewire.echo.recordings.input_validation import finite

__all__ = ["PASS", "REACH", "Decimated", "HighPassed", "OfArray", "OfFile", "Source", "raised"]

Samples = NDArray[np.float64]
CUT: Final = 20.0  # Hz: below is no sound that a loudspeaker makes
_RUN_IN: Final = 0.25  # s after which a high-pass has forgotten how it began
REACH: Final = 40
"""Samples of the lower rate on each side that a lower or a higher rate is made from."""
PASS: Final = 0.9  # of the lower rate's band is kept


class Source(Protocol):
    """Samples that can be read from any place."""

    name: str
    rate: int
    channels: int
    frames: int

    def read(self, start: int, count: int) -> Samples:
        """`count` frames from `start` on, shape (count, channels); zeros before the beginning and after the end."""
        ...  # pragma: no cover


class OfFile:
    """A sound file."""

    def __init__(self, path: Path) -> None:
        self.name, self.notes = str(path), list[str]()
        self.file: Any = _sound_file.opened(path)
        try:
            self._check(path)
        except BaseException:
            self.close()
            raise
        self.rate, self.channels, self.frames = int(self.file.samplerate), self.file.channels, self.file.frames

    def _check(self, path: Path) -> None:
        file = self.file
        if file.channels > 2:
            raise ValueError(f"{path} has {file.channels} channels: mono or stereo is needed")
        if file.frames <= 0:
            raise ValueError(f"{path} is empty: it has no samples")
        if why := _sound_file.placed(file):
            raise ValueError(f"{path} {why}")
        if file.odd:
            self.notes.append(f"{path.name}: {file.odd}")
        if lacks := _sound_file.missing(file):
            self.notes.append(f"{path.name} ends early: {lacks}")
        if not 100 <= file.samplerate <= 10**6:
            raise ValueError(f"{path} has {file.samplerate} Hz: 100 to 1,000,000 can be worked on")

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def read(self, start: int, count: int) -> Samples:
        """`count` frames from `start` on."""
        found = np.zeros((count, self.file.channels))
        begin, end = max(start, 0), min(start + count, self.file.frames)
        if begin < end:
            with silent_library():
                self.file.seek(begin)
                piece = self.file.read(end - begin, always_2d=True)
            found[begin - start : begin - start + len(piece)] = piece
        finite(found, self.name, start)
        return found


class OfArray:
    """Samples in memory, shape (n, channels)."""

    def __init__(self, samples: Samples, rate: int, name: str) -> None:
        self.samples, self.rate, self.name = samples, rate, name
        self.frames, self.channels = samples.shape
        self.notes: list[str] = []

    def close(self) -> None:
        """Nothing is open."""

    def read(self, start: int, count: int) -> Samples:
        """`count` frames from `start` on."""
        found = np.zeros((count, self.channels))
        begin, end = max(start, 0), min(start + count, self.frames)
        if begin < end:
            found[begin - start : end - start] = self.samples[begin:end]
        return found


class HighPassed:
    """A source without what lies below 20 Hz: a constant, and what moves slowly."""

    def __init__(self, inner: Source) -> None:
        self.inner = inner
        self.name, self.rate, self.channels, self.frames = inner.name, inner.rate, inner.channels, inner.frames
        self._sos = signal.butter(2, CUT, "highpass", fs=inner.rate, output="sos")
        self._run_in = round(_RUN_IN * inner.rate)

    def read(self, start: int, count: int) -> Samples:
        """`count` frames from `start` on; the filter begins a quarter of a second before."""
        begin, end = max(start - self._run_in, 0), min(start + count, self.frames)
        found = np.zeros((count, self.channels))
        if max(start, 0) >= end:
            return found
        given = self.inner.read(begin, end - begin)
        settled = signal.sosfilt_zi(self._sos)[:, :, None] * given[0]
        passed, _ = signal.sosfilt(self._sos, given, axis=0, zi=settled)
        found[max(start, 0) - start : end - start] = passed[max(start, 0) - begin :]
        return found


def _low_pass(factor: int) -> Samples:
    """A symmetric low-pass for a rate that is `factor` times lower: its stop band begins at half of that rate."""
    edge = (1 + PASS) / 2 / factor
    return np.asarray(signal.firwin(2 * REACH * factor + 1, edge, window=("kaiser", 9.0)))


class Decimated:
    """A source at a rate that is a whole factor lower."""

    def __init__(self, inner: Source, factor: int) -> None:
        self.inner, self.factor = inner, factor
        self.name, self.channels = inner.name, inner.channels
        self.rate, self.frames = inner.rate // factor, -(-inner.frames // factor)
        self._taps = _low_pass(factor)

    def read(self, start: int, count: int) -> Samples:
        """`count` frames from `start` on."""
        reach = REACH * self.factor
        given = self.inner.read(start * self.factor - reach, (count - 1) * self.factor + 2 * reach + 1)
        passed = signal.upfirdn(self._taps, given, 1, self.factor, axis=0)
        return np.asarray(passed[2 * REACH : 2 * REACH + count])


def raised(low: Samples, factor: int) -> Samples:
    """Samples at a rate `factor` times as high; `REACH` samples at both ends of `low` are run-in and left out."""
    high = signal.upfirdn(factor * _low_pass(factor), low, factor, 1, axis=0)
    return np.asarray(high[2 * REACH * factor : factor * len(low)])


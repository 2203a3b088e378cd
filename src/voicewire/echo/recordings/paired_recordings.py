"""Two sound files of the same time, read piece by piece: what they hold, where the echo lies, and both brought in step.

Explained in ``notebooks/echo/01_adaptive_filters.ipynb``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from voicewire._kit import _sound_file
from voicewire._kit._sound_file import silent_library
from voicewire.echo.recordings.delay_estimation import Alignment, Peak, alignment, phat
from voicewire.echo.recordings.input_validation import SignalError

__all__ = ["Heard", "Pair"]

Samples = NDArray[np.float64]
_WINDOW = 4.0  # s that one delay is found in
_MOST_WINDOWS = 32
_NEAR = 0.05  # s: how far from a first delay the second one is looked for
_PIECE = 4096  # values interpolated at once
_HALF = 16  # samples on each side that a value between two samples is made of
_SILENT = 10 ** (-90 / 20)  # peak of what counts as silence, full scale being 1
_SWAPPED = -1.5  # dB: the room's answer lies before the sound
_FLAT, _RUN = 0.9999, 3  # share of the peak, and so many samples in a row, that make a flat top


class Heard(NamedTuple):
    """What one file holds.

    Attributes
    ----------
    peak, rms : float
        Full scale is 1.
    clipped : ndarray of float, shape (seconds,)
        Share of each second's samples that lie in flat tops.
    """

    peak: float
    rms: float
    clipped: Samples


def _flat(samples: Samples, peak: float) -> int:
    """Number of samples in runs of three or more at a file's highest magnitude: what clipping leaves."""
    if not samples.size or peak < 0.01:
        return 0
    total = 0
    for channel in samples.T:
        for top in (channel >= _FLAT * peak, channel <= -_FLAT * peak):
            edges = np.flatnonzero(np.diff(np.concatenate([[0], top.view(np.int8), [0]])))
            runs = edges[1::2] - edges[0::2]
            total += int(runs[runs >= _RUN].sum())
    return total


class Pair:
    """The far end and the microphone, open for reading; memory doesn't grow with their length."""

    def __init__(self, far: Path, microphone: Path) -> None:
        self.names = far, microphone
        self.notes: list[str] = []
        self._files: list[Any] = []
        try:
            for path in self.names:
                self._files.append(_sound_file.opened(path))
            for path, file in zip(self.names, self._files, strict=True):
                if file.channels > 2:
                    raise ValueError(f"{path} has {file.channels} channels: mono or stereo is needed")
                if file.frames <= 0:
                    raise ValueError(f"{path} is empty: it has no samples")
                if why := _sound_file.placed(file):
                    raise ValueError(f"{path} {why}")
                if lacks := _sound_file.missing(file):
                    self.notes.append(f"{path.name} ends early: {lacks}")
                if not 100 <= file.samplerate <= 10**6:
                    raise ValueError(f"{path} has {file.samplerate} Hz: 100 to 1,000,000 can be worked on")
            rates = [file.samplerate for file in self._files]
            if rates[0] != rates[1]:
                raise ValueError(f"{far} has {rates[0]} Hz and {microphone} {rates[1]} Hz: resample one of them")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        self.rate = int(rates[0])
        self.channels: tuple[int, int] = (self._files[0].channels, self._files[1].channels)
        self.lengths: tuple[int, int] = (self._files[0].frames, self._files[1].frames)
        self.length = min(self.lengths)

    def __enter__(self) -> Self:
        """Nothing is left to open."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close both."""
        for file in self._files:
            file.close()

    def read(self, which: int, start: int, count: int) -> Samples:
        """Return `count` frames from `start` on; zeros before the beginning and after the end."""
        file = self._files[which]
        found = np.zeros((count, file.channels))
        begin, end = max(start, 0), min(start + count, file.frames)
        if begin < end:
            with silent_library():
                file.seek(begin)
                piece = file.read(end - begin, always_2d=True)
            found[begin - start : begin - start + len(piece)] = piece
        if not np.isfinite(found).all():
            n = start + int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
            raise SignalError(f"{self.names[which]} is not finite at sample {n}: cut or repair the recording there")
        return found

    def heard(self, which: int) -> Heard:
        """Read one file through: its level, and where it clips."""
        starts = range(0, self.length, self.rate)
        sizes = [min(self.rate, self.length - start) for start in starts]
        peak = power = 0.0
        for start, size in zip(starts, sizes, strict=True):
            piece = self.read(which, start, size)
            peak, power = max(peak, float(np.abs(piece).max())), power + float(np.sum(piece**2))
        if peak < _SILENT:
            what = "nothing was played" if which == 0 else "there is no echo in it"
            raise SignalError(f"{self.names[which]} is silent (peak below -90 dB of full scale): {what}")
        channels = self.channels[which]
        clipped = [
            _flat(self.read(which, start, size), peak) / (size * channels)
            for start, size in zip(starts, sizes, strict=True)
        ]
        return Heard(peak, float(np.sqrt(power / (self.length * channels))), np.array(clipped))

    def _peaks(self, most: float, step: Alignment | None = None) -> Iterator[tuple[float, Peak | None]]:
        size = min(max(round(max(_WINDOW, 2 * most) * self.rate), 16), self.length)
        if size < 16:
            raise SignalError(f"the recordings have {self.length} samples in common: too few to find an echo in")
        last = self.length - size
        count = min(_MOST_WINDOWS, 1 + 2 * last // size)
        for start in np.unique(np.linspace(0, last, count).astype(int)):
            if step is None:
                far = self.read(0, int(start), size)
            else:
                far = self._between((start + np.arange(size)) * (1 - step.drift) - step.delay * self.rate)
            heard = self.read(1, int(start), size).mean(axis=1)
            yield (start + size / 2) / self.rate, phat(far.mean(axis=1), heard, self.rate, most)

    def find(self, most: float) -> Alignment:
        """Delay and drift of the echo."""
        found = alignment(self._peaks(most), self.rate)
        if found is None:
            raise SignalError(
                f"no echo of {self.names[0]} was found in {self.names[1]} within {most:g} s either way: no single "
                "delay stands out (a tone has none); give --delay if you know it"
            )
        if found.delay < 0 and found.tail < _SWAPPED:
            raise SignalError(
                f"{self.names[1]} has the sound {-1000 * found.delay:.1f} ms earlier than {self.names[0]}, and the "
                "room's answer comes before it: the two files are in the wrong order"
            )
        if found.drift:  # a peak is blurred by what slips within its window: look again, in step
            again = alignment(self._peaks(_NEAR, found), self.rate)
            if again is not None and again.times.size >= 4:
                slope, start, low, high = stats.theilslopes(again.delays, again.times)
                delays = again.delays + found.delay + found.drift * again.times
                delay, drift, scatter = found.delay + float(start), found.drift + float(slope), float(high - low) / 2
                return replace(found, delay=delay, drift=drift, scatter=scatter, times=again.times, delays=delays)
        return found

    def blocks(self, size: int, lead: float, drift: float) -> Iterator[tuple[Samples, Samples]]:
        """Both recordings in blocks, the far end brought in step with its echo."""
        offset = lead * self.rate
        for start in range(0, self.length, size):
            count = min(size, self.length - start)
            if drift == 0:
                far = self.read(0, start - round(offset), count)
            else:
                far = self._between((start + np.arange(count)) * (1 - drift) - offset)
            yield far, self.read(1, start, count)

    def _between(self, places: NDArray[np.floating[Any]]) -> Samples:
        """The far end at places between its samples."""
        pieces = [self._piece(places[start : start + _PIECE]) for start in range(0, len(places), _PIECE)]
        return np.concatenate(pieces)

    def _piece(self, places: NDArray[np.floating[Any]]) -> Samples:
        whole = np.floor(places).astype(int)
        first = int(whole[0]) - _HALF + 1
        near = self.read(0, first, int(whole[-1]) + _HALF + 1 - first)
        columns = np.arange(1 - _HALF, _HALF + 1)
        away = (places - whole)[:, None] - columns
        weights = np.sinc(away) * np.cos(np.pi * away / (2 * _HALF + 2)) ** 2
        taken = near[(whole - first)[:, None] + columns]
        return np.asarray(np.einsum("nk,nkc->nc", weights, taken))

"""Two sound files of the same time, read piece by piece: what they hold, where the echo lies, and both brought in step.

Explained in ``notebooks/echo/01_adaptive_filters.ipynb``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from voicewire.echo.recordings.conditions import runs
from voicewire.echo.recordings.delay_estimation import Alignment, Break, Peak, alignment, phat
from voicewire.echo.recordings.input_validation import SignalError
from voicewire.echo.recordings.sources import OfArray, OfFile, Source

__all__ = ["Heard", "Pair"]

Samples = NDArray[np.float64]
_WINDOW = 4.0  # s that one delay is found in
_MOST_WINDOWS = 32
_NEAR = 0.05  # s: how far from a first delay the second one is looked for
_PIECE = 4096  # values interpolated at once
_HALF = 16  # samples on each side that a value between two samples is made of
_SILENT = 10 ** (-90 / 20)  # peak of what counts as silence, full scale being 1
_SWAPPED = -1.5  # dB: the room's answer lies before the sound
_CONSTANT, _CLEARLY = 0.01, 10.0  # of the root mean square; times its standard error: a constant stands out
_MOVES = 0.3  # of the root mean square: means of seconds that differ by so much are no voice's
_CANCELS = 0.01  # of the channels' mean power: their mean has less where they are of opposite sign
_SHORT = 0.25  # s: in less, no echo found says nothing about the echo
_FLAT, _RUN = 0.9999, 3  # share of the peak, and so many samples in a row, that make a flat top


class Heard(NamedTuple):
    """What one file holds.

    Attributes
    ----------
    peak, rms : float
        Full scale is 1.
    clipped : ndarray of float, shape (seconds,)
        Share of each second's samples that lie in flat tops.
    constant : float
        Magnitude of what is below all sound: a mean that the seconds share, or means that move; 0 where there is none.
    """

    peak: float
    rms: float
    clipped: Samples
    constant: float = 0.0


def _flat(samples: Samples, peak: float) -> int:
    """Number of samples in runs of three or more at a file's highest magnitude: what clipping leaves."""
    if not samples.size or peak < 0.01:
        return 0
    total = 0
    for channel in samples.T:
        for top in (channel >= _FLAT * peak, channel <= -_FLAT * peak):
            sizes = np.diff(runs(top))
            total += int(sizes[sizes >= _RUN].sum())
    return total


def _constant(means: Samples, rms: float) -> float:
    """Magnitude of a constant, or of one that moves, by the means of seconds; a voice's own differ, and are small."""
    mean, spread = np.abs(means.mean(axis=0)), means.std(axis=0)
    shared = (mean > _CONSTANT * rms) & (mean * np.sqrt(len(means)) > _CLEARLY * spread)
    moves = spread > _MOVES * rms
    return float(max(np.where(shared | moves, np.maximum(mean, spread), 0)))


class Pair:
    """The far end and the microphone, open for reading; memory doesn't grow with the length of files."""

    def __init__(self, far: Path | OfArray, microphone: Path | OfArray) -> None:
        self.notes: list[str] = []
        self._open: list[OfFile | OfArray] = []
        try:
            for given in (far, microphone):
                self._open.append(given if isinstance(given, OfArray) else OfFile(given))
                self.notes += self._open[-1].notes
            one, other = self._open
            if one.rate != other.rate:
                raise ValueError(f"{one.name} has {one.rate} Hz and {other.name} {other.rate} Hz: resample one of them")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        self._opposed = [False, False]
        self.raw = one, other
        self.use(one, other)
        self.conditioned = self.sources

    def use(self, far: Source, microphone: Source) -> None:
        """From here on read these: the same sounds, conditioned."""
        self.sources = far, microphone
        self.names = far.name, microphone.name
        self.rate = far.rate
        self.channels: tuple[int, int] = (far.channels, microphone.channels)
        self.lengths: tuple[int, int] = (far.frames, microphone.frames)
        self.length = min(self.lengths)

    def __enter__(self) -> Self:
        """Nothing is left to open."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close both."""
        for source in self._open:
            source.close()

    def read(self, which: int, start: int, count: int) -> Samples:
        """Return `count` frames from `start` on; zeros before the beginning and after the end."""
        return self.sources[which].read(start, count)

    def mono(self, which: int, start: int, count: int) -> Samples:
        """Return one channel of what is there."""
        return self.mixed(which, self.read(which, start, count))

    def mixed(self, which: int, samples: Samples) -> Samples:
        """The mean of the channels; half of their difference where `heard` found that the mean cancels."""
        if self._opposed[which]:
            return np.asarray((samples[:, 0] - samples[:, 1]) / 2)
        return np.asarray(samples.mean(axis=1))

    def heard(self, which: int) -> Heard:
        """Read one file through: its level, and where it clips."""
        starts = range(0, self.length, self.rate)
        sizes = [min(self.rate, self.length - start) for start in starts]
        peak = power = mixed = 0.0
        tops = np.zeros(self.channels[which])
        means = np.zeros((len(starts), self.channels[which]))
        for i, (start, size) in enumerate(zip(starts, sizes, strict=True)):
            piece = self.read(which, start, size)
            means[i] = piece.mean(axis=0)
            tops = np.maximum(tops, np.abs(piece).max(axis=0))
            peak, power = float(tops.max()), power + float(np.sum(piece**2))
            if self.channels[which] == 2:
                mixed += size * float(np.var(piece.mean(axis=1)))
        if peak < _SILENT:
            what = "nothing was played" if which == 0 else "there is no echo in it"
            raise SignalError(f"{self.names[which]} is silent (peak below -90 dB of full scale): {what}")
        channels = self.channels[which]
        clipped = [
            _flat(self.read(which, start, size), peak) / (size * channels)
            for start, size in zip(starts, sizes, strict=True)
        ]
        below = float(np.sum(np.square(means).mean(axis=1) * sizes)) * channels
        if power - below < (_SILENT / 10) ** 2 * self.length * channels:
            raise SignalError(f"{self.names[which]} holds one value throughout: nothing was recorded")
        if channels == 2:
            self._opposed[which] = mixed < _CANCELS * (power - below) / 2
            for name, top in zip(("left", "right"), tops, strict=True):
                if top < _SILENT:
                    self.notes.append(f"the {name} channel of {self.names[which]} is silent")
        rms = np.sqrt(power / (self.length * channels))
        alone = np.sqrt((power - below) / (self.length * channels))
        return Heard(peak, float(rms), np.array(clipped), _constant(means, float(alone)))

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
            heard = self.mono(1, int(start), size)
            yield (start + size / 2) / self.rate, phat(self.mixed(0, far), heard, self.rate, most)

    def find(self, most: float) -> Alignment:
        """Delay and drift of the echo."""
        found = alignment(self._peaks(most), self.rate)
        if found is None and self.length < _SHORT * self.rate:
            raise SignalError(
                f"the recordings have {self.length} samples in common ({1000 * self.length / self.rate:.4g} ms), too "
                f"few to find an echo in: at least {1000 * _SHORT:.0f} ms are needed; give --delay if you know it"
            )
        if found is None:
            raise SignalError(
                f"no echo of {self.names[0]} was found in {self.names[1]} within {most:g} s either way: no single "
                "delay stands out (a tone has none); give --delay if you know it, or look further with --most"
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

    def blocks(
        self, size: int, lead: float, drift: float, jumps: Sequence[Break] = ()
    ) -> Iterator[tuple[Samples, Samples]]:
        """Both recordings in blocks, the far end brought in step with its echo; one begins where the delay jumps."""
        cuts = {round(each.time * self.rate) for each in jumps}
        starts = sorted({*range(0, self.length, size), *(cut for cut in cuts if 0 < cut < self.length)})
        for start, end in zip(starts, [*starts[1:], self.length], strict=True):
            yield self.in_step(start, end - start, start, lead, drift, jumps), self.read(1, start, end - start)

    def in_step(
        self, start: int, count: int, now: int, lead: float, drift: float, jumps: Sequence[Break]
    ) -> Samples:
        """The far end as the microphone has it, up to `lead` seconds and what the delay has jumped by `now`."""
        jumped = sum(each.after - each.before for each in jumps if round(each.time * self.rate) <= now)
        offset = lead * self.rate
        if drift == 0:
            return self.read(0, start - round(offset) - round(jumped * self.rate), count)
        return self._between((start + np.arange(count)) * (1 - drift) - offset - jumped * self.rate)

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

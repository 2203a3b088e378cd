"""Where the delay jumps, and how the far end is read so that its echo stays in one place."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft, signal

from voicewire.echo.recordings.delay_estimation import CLEAR, phat

__all__ = ["Break", "breaks", "plateaus"]

Samples = NDArray[np.float64]
Read = Callable[[int, int], Samples]
WINDOW: Final = 1.0  # s that one delay is found in
_HOP: Final = 0.25  # s between two windows
_MOST: Final = 4000  # windows
_SAME: Final = 0.5e-3  # s within which two windows have one delay
_FEW: Final = 3  # windows in a row that make a delay
_LEAST: Final = 3e-3  # s: a smaller jump is the filter's to follow
_GLANCE: Final = 1.0  # s between two windows where one delay is expected: any jump that makes three windows is in one


class Break(NamedTuple):
    """A place at which the delay jumps.

    Attributes
    ----------
    time : float
        s of the microphone.
    before, after : float
        Delay before and behind it, s.

    Examples
    --------
    >>> found = Break(8.0, 0.0025, 0.2025)
    >>> round(1000 * (found.after - found.before))
    200
    """

    time: float
    before: float
    after: float


def plateaus(times: Samples, delays: Samples) -> list[tuple[float, float, float]]:
    """Runs of windows with one delay: first and last time, and the delay."""
    runs: list[list[int]] = []
    for i in range(times.size):
        if runs and abs(delays[i] - np.median(delays[runs[-1]])) <= _SAME:
            runs[-1].append(i)
        else:
            runs.append([i])
    kept: list[list[int]] = []
    for run in (run for run in runs if len(run) >= _FEW):
        if kept and abs(np.median(delays[run]) - np.median(delays[kept[-1]])) < _LEAST:
            kept[-1] += run
        else:
            kept.append(run)
    return [(float(times[run[0]]), float(times[run[-1]]), float(np.median(delays[run]))) for run in kept]


def breaks(
    far: Read, heard: Read, rate: int, frames: int, most: float, expected: float | None = None
) -> list[Break]:
    """Jumps of the delay, each found as well as the sound before and behind it lets it be.

    Where one delay is `expected`, s, a window each second is looked at first, and the rest only if one departs from it.
    """
    size = round(WINDOW * rate)
    if frames < 2 * size:
        return []
    if expected is not None:
        _, delays = _delays(far, heard, rate, frames, most, _GLANCE)
        if not (np.abs(delays - expected) >= _LEAST).any():
            return []
    levels = plateaus(*_delays(far, heard, rate, frames, most, _HOP))
    found = []
    for (_, end, before), (start, _, after) in pairwise(levels):
        first, last = max(0, round((end - WINDOW / 2) * rate)), min(frames, round((start + WINDOW / 2) * rate))
        at = _place(far, heard, first, last, round(before * rate), round(after * rate))
        found.append(Break(at / rate, before, after))
    return found


def _delays(far: Read, heard: Read, rate: int, frames: int, most: float, hop: float) -> tuple[Samples, Samples]:
    """Middle and delay of each window that has a clear one, s."""
    size = round(WINDOW * rate)
    count = min(_MOST, 1 + round((frames - size) / (hop * rate)))
    times, delays = [], []
    reach = min(most, 0.9 * WINDOW)
    for start in np.linspace(0, frames - size, count).astype(int).tolist():
        peak = phat(far(start, size), heard(start, size), rate, reach)
        if peak is not None and peak.clarity >= CLEAR:
            times.append((start + size / 2) / rate)
            delays.append(peak.delay)
    return np.array(times), np.array(delays)


def _place(far: Read, heard: Read, first: int, last: int, before: int, after: int) -> int:
    """The sample up to which the far end fits by one delay, and from which it fits by the other."""
    count = last - first
    d, one, two = heard(first, count), far(first - before, count), far(first - after, count)
    size = fft.next_fast_len(2 * count, real=True)
    power = np.abs(fft.rfft(d, size)) ** 2
    flat = 1 / np.sqrt(signal.fftconvolve(power, np.ones(201) / 201, "same") + 1e-6 * power.max() + 1e-30)
    d, one, two = (fft.irfft(flat * fft.rfft(z, size), size)[:count] for z in (d, one, two))
    gain = np.cumsum(d * (one - two))
    return first + int(np.argmax(gain)) + 1

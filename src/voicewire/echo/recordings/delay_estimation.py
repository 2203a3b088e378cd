"""Where the echo lies: delay, clock drift and jumps, by generalised cross-correlation (GCC-PHAT) of two recordings.

Explained in ``notebooks/echo/01_adaptive_filters.ipynb``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft, signal, stats

from voicewire._kit import checks
from voicewire.echo.recordings.input_validation import SignalError

__all__ = ["Alignment", "Break", "Peak", "alignment", "breaks", "phat", "plateaus"]

Samples = NDArray[np.float64]
Read = Callable[[int, int], Samples]
CLEAR = 8.0
"""Least height of a peak over the root mean square of the correlation: noise alone stays near 5 at 16,000 lags."""
_FLOOR = 1e-6  # bins where the far end has less than this share of its strongest one say nothing (-60 dB)
_TAIL = 0.002, 0.05  # s from the peak: where a room's answer lies
_FADE = 0.01  # s at both ends of a window: cut sharply, two sounds that share nothing correlate at a delay of 0
_NARROW = 150.0  # Hz in all: a sound in less, such as a tone with the window's ends, has no one delay
_FEW = 1 / 3  # of the windows: where fewer have a clear peak, it must be twice as clear
_NEAR, _SPAN = 2e-4, 0.7  # s from a line, and the share of the time that windows near it span
_BENT = 2e-4  # s: delays that leave a straight line by more are no clock's
_WINDOW: Final = 1.0  # s that one delay of a track is found in
_HOP: Final = 0.25  # s between two windows of a track
_MOST: Final = 4000  # windows of a track
_SAME: Final = 0.5e-3  # s within which two windows have one delay
_ROW: Final = 3  # windows in a row that make a delay
_LEAST: Final = 3e-3  # s: a smaller jump is the filter's to follow
_GLANCE: Final = 1.0  # s between two windows where one delay is expected: any jump that makes three windows is in one


class Peak(NamedTuple):
    """What the correlation of one window says.

    Attributes
    ----------
    delay : float
        How much later than the far end the microphone has the sound, s.
    clarity : float
        Height of the peak over the root mean square of all lags.
    tail : float
        Energy from 2 to 50 ms behind the peak over that before it, dB: a room's answer follows what it answers.

    Examples
    --------
    >>> Peak(0.1, 40.0, 3.0).delay
    0.1
    """

    delay: float
    clarity: float
    tail: float


@dataclass(frozen=True)
class Alignment:
    """Delay and drift of two recordings.

    Attributes
    ----------
    delay : float
        Delay of the microphone at the beginning, s.
    drift : float
        Growth of the delay, s a s; 50e-6 are 50 ppm. 0 where it can't be told from 0.
    scatter : float
        Half the distance of Theil and Sen's limits for the slope, s a s; infinite for few windows. It is no interval
        for the drift: what the windows get wrong together is not in it.
    clarity : float
        Median of the windows' peaks.
    tail : float
        Median in dB: far below 0, the two recordings are swapped.
    times, delays : ndarray of float, shape (n,)
        Middle of each window that had a clear peak, and its delay, s.
    straight : bool
        Whether the delays lie on a straight line, as those of two clocks do.

    Examples
    --------
    >>> found = Alignment(0.1, 5e-5, 1e-6, 40.0, 3.0, np.array([2.0]), np.array([0.1001]), True)
    >>> round(1000 * found.at(60), 3)
    103.0
    """

    delay: float
    drift: float
    scatter: float
    clarity: float
    tail: float
    times: NDArray[np.float64]
    delays: NDArray[np.float64]
    straight: bool

    @checks.takes(seconds=checks.number())
    def at(self, seconds: float) -> float:
        """The delay at a time.

        Parameters
        ----------
        seconds : float
            Since the microphone's beginning.

        Returns
        -------
        float
            s.
        """
        return self.delay + self.drift * seconds


_SIGNAL = checks.array(least=2)


@checks.takes(
    error=SignalError, far=_SIGNAL, microphone=_SIGNAL, sr=checks.whole(100, 10**6), most=checks.number(above=0.0)
)
def phat(far: ArrayLike, microphone: ArrayLike, sr: int, most: float = 1.0) -> Peak | None:
    r"""Find the delay of a window by generalised cross-correlation with phase transform.

    .. math:: R(\tau) = \sum_f \frac{D(f) X^*(f)}{|D(f) X^*(f)|} e^{2\pi j f \tau}

    Each frequency has the same say, so that the peak is as sharp as the band is wide (Knapp and Carter 1976). A
    frequency that the far end doesn't have is left out.

    Parameters
    ----------
    far, microphone : array_like of float, shape (n,)
        The same span of time of both.
    sr : int
        Samples a second, Hz.
    most : float
        Longest delay looked for, either way, s.

    Returns
    -------
    Peak or None
        None where one of them is silent, or the far end is as narrow as a tone.

    Raises
    ------
    SignalError
        If the lengths differ.

    Examples
    --------
    >>> far = np.random.default_rng(1).standard_normal(8000)
    >>> found = phat(far, np.roll(far, 80), 8000)
    >>> round(1000 * found.delay, 2)
    10.0
    """
    x, d = np.asarray(far, float), np.asarray(microphone, float)
    if x.shape != d.shape:
        raise SignalError(f"the windows have {x.size} and {d.size} samples: cut both to the same span of time")
    size = fft.next_fast_len(2 * x.size, real=True)
    fade = signal.windows.tukey(x.size, min(1.0, 2 * _FADE * sr / x.size))
    X, D = fft.rfft(fade * (x - x.mean()), size), fft.rfft(fade * (d - d.mean()), size)
    power = np.abs(X) ** 2
    cross = D * X.conj()
    heard = (power > _FLOOR * power.max()) & (np.abs(cross) > 0)
    if heard.sum() * sr / size < _NARROW:
        return None
    cross[heard] /= np.abs(cross[heard])
    cross[~heard] = 0
    values = fft.irfft(cross, size)
    reach = min(round(most * sr), x.size - 2)
    values = np.concatenate([values[-reach:], values[: reach + 1]]) if reach else values[:1]
    at = int(np.argmax(np.abs(values)))
    clarity = abs(values[at]) / (np.sqrt(np.mean(values**2)) or 1.0)
    shift = 0.0
    if 0 < at < values.size - 1:
        before, here, after = np.abs(values[at - 1 : at + 2])
        bend = before - 2 * here + after
        shift = 0.5 * (before - after) / bend if bend < 0 else 0.0
    near, wide = (max(1, round(t * sr)) for t in _TAIL)
    behind = np.sum(values[at + near : at + wide] ** 2)
    ahead = np.sum(values[max(at - wide, 0) + 1 : max(at - near, 0) + 1] ** 2)
    tail = 10 * np.log10(behind / ahead) if behind > 0 and ahead > 0 else 0.0
    return Peak(float(at - reach + shift) / sr, float(clarity), float(tail))


def alignment(peaks: Iterable[tuple[float, Peak | None]], sr: int) -> Alignment | None:
    """Put a straight line through the delays of the windows: where it begins is the delay, its slope is the drift.

    The line is that of Theil and Sen, so that a few windows may be wrong. The drift is 0 where the slope's limits hold
    0, where it shifts less than half a sample from the first window to the last, and where the delays aren't on a line.

    Parameters
    ----------
    peaks : iterable of (float, Peak)
        Middle of each window, s, and what `phat` found in it.
    sr : int
        Samples a second, Hz.

    Returns
    -------
    Alignment or None
        None if no window has a clear peak.

    Examples
    --------
    >>> found = alignment([(float(t), Peak(0.1 + 5e-5 * t, 40.0, 3.0)) for t in range(0, 60, 4)], 16000)
    >>> round(found.delay, 6), round(1e6 * found.drift, 3)
    (0.1, 50.0)
    """
    found = list(peaks)
    clear = [(t, peak) for t, peak in found if peak is not None and peak.clarity >= CLEAR]
    few = len(clear) < _FEW * len(found)
    if not clear or (few and max(peak.clarity for _, peak in clear) < 2 * CLEAR):
        return None
    times = np.array([t for t, _ in clear])
    delays = np.array([peak.delay for _, peak in clear])
    clarity, tail = (float(np.median([getattr(peak, name) for _, peak in clear])) for name in ("clarity", "tail"))
    if len(clear) < 4:
        delay = float(np.median(delays))
        return Alignment(delay, 0.0, float("inf"), clarity, tail, times, delays, bool(np.ptp(delays) < 2 * _BENT))
    slope, start, low, high = stats.theilslopes(delays, times)
    bend = float(np.median(np.abs(delays - start - slope * times)))
    straight = bend < _BENT
    slip = abs(slope) * np.ptp(times)
    slips = slip * sr >= 0.5 and bend < slip / 8 and not low <= 0 <= high  # half of a step would bend it by a quarter
    if not straight and (line := _shared(times, delays)) is not None:
        near = np.abs(delays - line[0] - line[1] * times) <= _NEAR
        slope, start, low, high = stats.theilslopes(delays[near], times[near])
        slips = straight = not low <= 0 <= high and abs(slope) * np.ptp(times[near]) * sr >= 0.5
    if not (straight and slips):
        return Alignment(
            float(np.median(delays)), 0.0, float(high - low) / 2, clarity, tail, times, delays, straight
        )  # fmt: skip
    return Alignment(float(start), float(slope), float(high - low) / 2, clarity, tail, times, delays, True)


def _shared(times: NDArray[np.float64], delays: NDArray[np.float64]) -> tuple[float, float] | None:
    """Start and slope of the line near most windows, where a room has two ways of like strength.

    None where no line has more than half of the windows, or where those lie in one part of the time, as before a step.
    """
    best, line = 0, None
    for i in range(times.size):
        for j in range(i + 1, times.size):
            slope = (delays[j] - delays[i]) / (times[j] - times[i])
            start = delays[i] - slope * times[i]
            near = np.abs(delays - start - slope * times) <= _NEAR
            if near.sum() > best and np.ptp(times[near]) >= _SPAN * np.ptp(times):
                best, line = int(near.sum()), (float(start), float(slope))
    return line if best >= 5 and best > times.size / 2 else None


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
    for run in (run for run in runs if len(run) >= _ROW):
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
    size = round(_WINDOW * rate)
    if frames < 2 * size:
        return []
    if expected is not None:
        _, delays = _delays(far, heard, rate, frames, most, _GLANCE)
        if not (np.abs(delays - expected) >= _LEAST).any():
            return []
    levels = plateaus(*_delays(far, heard, rate, frames, most, _HOP))
    found = []
    for (_, end, before), (start, _, after) in pairwise(levels):
        first, last = max(0, round((end - _WINDOW / 2) * rate)), min(frames, round((start + _WINDOW / 2) * rate))
        at = _place(far, heard, first, last, round(before * rate), round(after * rate))
        found.append(Break(at / rate, before, after))
    return found


def _delays(far: Read, heard: Read, rate: int, frames: int, most: float, hop: float) -> tuple[Samples, Samples]:
    """Middle and delay of each window that has a clear one, s."""
    size = round(_WINDOW * rate)
    count = min(_MOST, 1 + round((frames - size) / (hop * rate)))
    times, delays = [], []
    reach = min(most, 0.9 * _WINDOW)
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
    edge = count // 3  # before the jump at the one end, behind it at the other
    sign = np.sign(d[:edge] @ one[:edge] + d[count - edge :] @ two[count - edge :])  # of the echo's strongest path
    gain = np.cumsum(sign * d * (one - two))
    return first + int(np.argmax(gain)) + 1

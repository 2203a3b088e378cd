"""What samples show by themselves: runs of one value, a steady tone, and what of them is linear in another signal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["constant_runs", "explained", "runs", "steady_tone"]

Samples = NDArray[np.float64]
RUN: Final = 0.004  # s of one and the same value: nothing was recorded
_TONES: Final = 8  # windows of 1 s in which a tone is looked for
_LOWEST: Final = 20  # Hz
_HOLDS, _STEADY = 0.1, 2.0  # least share of the power; the most that its power may differ by between windows
_SEGMENT: Final = 0.128  # s of which the coherence is made


def runs(marked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Where each run of marked places begins, and the place behind its end, shape (runs, 2)."""
    return np.flatnonzero(np.diff(np.concatenate([[0], marked.view(np.int8), [0]]))).reshape(-1, 2)


def constant_runs(read: Callable[[int, int], Samples], start: int, count: int, rate: int) -> NDArray[np.bool_]:
    """Where all channels stay at one value for 4 ms or longer."""
    least = max(16, round(RUN * rate))
    near = read(start - least, count + 2 * least)
    same = (np.diff(near, axis=0) == 0).all(axis=1)
    lost = np.zeros(len(near), bool)
    for begin, end in runs(same):
        if end - begin >= least - 1:
            lost[begin : end + 1] = True
    return lost[least : least + count]


def explained(far: Samples, left: Samples, rate: int) -> float:
    """Share of the power of what is left that is linear in the far end, by their coherence; both in step."""
    from scipy import signal

    size = min(round(_SEGMENT * rate), max(8, left.size // 8))
    pieces = max(1, 2 * left.size // size - 1)
    _, power = signal.welch(left, rate, nperseg=size)
    _, coherence = signal.coherence(far, left, rate, nperseg=size)
    chance = 1 / (0.7 * pieces)
    share = float(np.sum(np.nan_to_num(coherence) * power) / max(float(power.sum()), 1e-30))
    return max(0.0, (share - chance) / (1 - chance))


def steady_tone(read: Callable[[int, int], Samples], frames: int, rate: int) -> tuple[float, float] | None:
    """Frequency (Hz) of a tone that is there in all of the second half, as hum is, and its share of the power."""
    first, last = frames // 2, frames - rate
    if last - first < 2 * rate:
        return None
    fade = np.hanning(rate)[:, None]
    starts = np.linspace(first, last, _TONES).astype(int).tolist()
    spectra = np.array([np.sum(np.abs(np.fft.rfft(fade * read(at, rate), axis=0)) ** 2, axis=1) for at in starts])
    total = spectra.sum(axis=1)
    if not (total > 0).all():
        return None
    peak = _LOWEST + int(np.argmax((spectra / total[:, None]).mean(axis=0)[_LOWEST:-2]))
    band = spectra[:, peak - 2 : peak + 3]
    powers = band.sum(axis=1)
    share = float(np.median(powers / total))
    if share < _HOLDS or powers.max() > _STEADY * powers.min():
        return None
    return float(band.sum(axis=0) @ np.arange(peak - 2, peak + 3) / band.sum()), share

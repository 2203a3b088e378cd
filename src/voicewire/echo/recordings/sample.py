"""A made-up pair of recordings, to try the canceller on: bursts of noise, and their echo in a room."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import signal

__all__ = ["made_up", "write_pair"]

RATE: Final = 16000
_SECONDS: Final = 8
_LATE: Final = 0.12  # s


def made_up(seed: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What a loudspeaker plays, and what the microphone hears of it 120 ms later."""
    rng = np.random.default_rng(seed)
    count = _SECONDS * RATE
    talks = np.repeat(rng.random(count // 3200) > 0.3, 3200)
    loud = np.convolve(talks, np.ones(800) / 800, "same")
    far = loud * signal.lfilter([1], [1, -1.4, 0.6], rng.standard_normal(count))
    far *= 0.05 / np.std(far)
    room = rng.standard_normal(800) * np.exp(-np.arange(800) / 160) * 0.1
    room[0] = 0.6
    heard = np.roll(signal.fftconvolve(far, room)[:count], round(_LATE * RATE))
    heard[: round(_LATE * RATE)] = 0
    return far + 1e-5 * rng.standard_normal(count), heard + 1e-4 * rng.standard_normal(count)


def write_pair(folder: Path) -> list[str]:
    """Write far.wav and mic.wav, which must not be there yet; says what they are."""
    import soundfile

    names = folder / "far.wav", folder / "mic.wav"
    for path in names:
        if path.exists():
            raise ValueError(f"{path} is there already: --sample overwrites nothing; move it, or go to another folder")
    for path, samples in zip(names, made_up(), strict=True):
        soundfile.write(path, samples, RATE)
    return [
        f"{names[0]}: {_SECONDS} s at {RATE} Hz, made up",
        f"{names[1]}: its echo, {1000 * _LATE:.0f} ms later, over 50 ms",
    ]

"""Cancel the echo in recordings that are in memory, block by block, so that it can be watched.

Explained in ``notebooks/echo/01_adaptive_filters.ipynb``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tqdm import tqdm

from voicewire._kit import checks
from voicewire._kit._sound_file import silent_library
from voicewire.echo.dcd import WLDRRLSDCD
from voicewire.echo.metrics import erle
from voicewire.echo.recordings.input_validation import SignalError, stereo

__all__ = ["Cancelled", "cancel", "read_stereo", "write_stereo"]

_BLOCK = 0.25  # seconds
_LONGEST = 5 * 10**7  # samples of a channel: 17 minutes at 48 kHz


@dataclass(frozen=True)
class Cancelled:
    """What is left of the microphone signals.

    Attributes
    ----------
    residual : ndarray of float, shape (n, 2)
        Samples of both microphones without the echo.
    rate : int
        Sampling rate in Hz.
    microphone : ndarray of float, shape (n, 2)
        What they heard, cut to the same span.

    Examples
    --------
    >>> done = Cancelled(np.full((4, 2), 0.1), 8000, np.ones((4, 2)))
    >>> round(done.erle())
    20
    """

    residual: NDArray[np.float64]
    rate: int
    microphone: NDArray[np.float64]

    @checks.takes(start=checks.number(0.0), stop=checks.maybe(checks.number(0.0)))
    def erle(self, start: float = 0.0, stop: float | None = None) -> float:
        """Echo return loss enhancement in dB from `start` to `stop` (s).

        Parameters
        ----------
        start, stop : float
            Span in s; to the end without stop.

        Returns
        -------
        float
            dB.
        """
        if stop is not None and stop <= start:
            raise ValueError(f"stop is {stop:g} s, not after start, {start:g} s")
        span = slice(round(start * self.rate), None if stop is None else round(stop * self.rate))
        return erle(self.microphone[span], self.residual[span])

    def progress(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Ends (s) and ERLE (dB) of the blocks of a quarter of a second, silent ones left out.

        Returns
        -------
        ends : ndarray of float
            s.
        decibels : ndarray of float
            ERLE of each block, dB.
        """
        step = max(1, round(_BLOCK * self.rate))
        ends = np.arange(step, len(self.residual) + 1, step)
        loud = [n for n in ends if self.microphone[n - step : n].any()]
        return np.array(loud) / self.rate, np.array(
            [erle(self.microphone[n - step : n], self.residual[n - step : n]) for n in loud]
        )


@checks.takes(
    error=SignalError, rate=checks.whole(100, 10**6), length=checks.whole(1, 2**14), memory=checks.positive,
    passes=checks.whole(1, 1000), watch=checks.maybe(checks.function),
)  # fmt: skip
def cancel(
    far: ArrayLike, microphone: ArrayLike, rate: int, *, length: int = 512, memory: float = 64.0, passes: int = 3,
    watch: Callable[[Cancelled], object] | None = None, progress: bool = False,
) -> Cancelled:  # fmt: skip
    """Take the echo of a stereo far end out of a stereo microphone recording.

    Parameters
    ----------
    far, microphone : array_like of float, shape (n, 2)
        What the loudspeakers played and what the microphones heard; the longer one is cut.
    rate : int
        Sampling rate of both, Hz.
    length : int
        Taps of each echo path, L.
    memory : float
        K in lambda = 1 - 1/(K L).
    passes : int
        Data-reuse passes, N_it; more than three overshoot on speech.
    watch : callable, optional
        Called after each quarter of a second with what there is so far.
    progress : bool
        Whether to show a bar, in a terminal.

    Returns
    -------
    Cancelled

    Raises
    ------
    ValueError
        For an empty or mono recording, samples that are not finite, or an impossible parameter.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> far = rng.standard_normal((4000, 2))
    >>> done = cancel(far, 0.5 * far, 8000, length=8)
    >>> bool(done.erle(start=0.25) > 20)
    True
    """
    x, d = (_channels(a, name) for a, name in ((far, "the far end"), (microphone, "the microphone recording")))
    n = min(len(x), len(d))
    if n == 0:
        raise SignalError("nothing to cancel: a recording is empty")
    if memory * length <= 1:
        raise ValueError("memory times length must exceed 1 sample")
    x, d = x[:n], d[:n]
    # The loudspeakers' power is 1 below. A smaller epsilon lets several passes overshoot by 15 dB at the first words.
    canceller = WLDRRLSDCD(length, 1 - 1 / (memory * length), passes, regularization=length / 4, dtype=np.float32)
    scale = float(np.std(x)) or 1.0
    loudspeakers, heard = stereo(*(x / scale).T), stereo(*(d / scale).T)
    residual = np.empty_like(d)
    step = max(1, round(_BLOCK * rate))
    for start in tqdm(range(0, n, step), unit="block", disable=None if progress else True):
        span = slice(start, min(start + step, n))
        e = canceller.process(loudspeakers[span], heard[span])
        residual[span] = np.column_stack([e.real, e.imag]) * scale
        if watch is not None:
            watch(Cancelled(residual[: span.stop], rate, d[: span.stop]))
    return Cancelled(residual, rate, d)


def _channels(samples: ArrayLike, name: str) -> NDArray[np.float64]:
    found = np.asarray(checks.array((0, 1, 2, 3), least=0, allow="nan inf")(name, samples, SignalError))
    if found.ndim != 2 or found.shape[1] != 2:
        raise SignalError(f"{name} must have two channels, shape (n, 2); it has shape {found.shape}")
    if not np.isfinite(found).all():
        n = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
        raise SignalError(f"{name} is not finite at sample {n}: cut or repair the recording there")
    return found


def read_stereo(path: Path) -> tuple[NDArray[np.float64], int]:
    """Samples, shape (n, 2), and rate (Hz) of a stereo sound file.

    Parameters
    ----------
    path : Path
        A sound file that libsndfile reads.

    Returns
    -------
    samples : ndarray of float, shape (n, 2)
        From -1 to 1.
    rate : int
        Hz.

    Raises
    ------
    ValueError
        If it isn't stereo, empty, or too long for the memory.
    OSError, soundfile.SoundFileError
        If it cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_stereo(Path(folder) / "a.wav", np.zeros((10, 2)), 8000)
    ...     samples, rate = read_stereo(Path(folder) / "a.wav")
    >>> samples.shape, rate
    ((10, 2), 8000)
    """
    import soundfile

    with silent_library():
        about = soundfile.info(path)
    if about.channels != 2:
        raise ValueError(f"{path} has {about.channels} channel(s): a stereo recording is needed")
    if not 0 < about.frames <= _LONGEST:
        raise ValueError(f"{path} has {about.frames} samples a channel: from 1 to {_LONGEST} can be worked on")
    samples, rate = soundfile.read(path, always_2d=True)
    return samples, int(rate)


def write_stereo(path: Path, samples: NDArray[Any], rate: int) -> str:
    """Write a WAV of 16 bits a sample, or of 32-bit floats where 16 bits would clip; returns which.

    Parameters
    ----------
    path : Path
        File to write.
    samples : ndarray of float, shape (n, 2)
        Samples.
    rate : int
        Hz.

    Returns
    -------
    str
        How the samples were written, for people.

    Examples
    --------
    >>> write_stereo(Path("residual.wav"), np.zeros((10, 2)), 8000)  # doctest: +SKIP
    '16 bits'
    """
    import soundfile

    clips = bool(np.abs(samples).max(initial=0.0) >= 1)
    soundfile.write(path, samples, rate, format="WAV", subtype="FLOAT" if clips else "PCM_16")
    return "32-bit floats: it peaks beyond full scale" if clips else "16 bits"

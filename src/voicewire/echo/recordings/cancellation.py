"""Cancel the echo in recordings that are in memory: as the command does, or by the bare filter, watched at work.

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
from voicewire.echo.recordings.input_validation import SignalError, finite, stereo
from voicewire.echo.recordings.paired_recordings import Pair
from voicewire.echo.recordings.report import Report
from voicewire.echo.recordings.sources import OfArray
from voicewire.echo.recordings.stream import OPTIONS, Settings, cancel_pair, judge_talk
from voicewire.echo.recordings.work import Kept

__all__ = ["Cancelled", "cancel", "cancel_echo", "read_stereo", "write_stereo"]

_BLOCK = 0.25  # seconds
_FULL = 2**24  # a sample of 24 bits that wasn't scaled is a slip, but can be worked on
_LONGEST = 5 * 10**7  # samples of a channel: 17 minutes at 48 kHz


@dataclass(frozen=True, repr=False)
class Cancelled:
    """What is left of the microphone signals.

    Attributes
    ----------
    residual : ndarray of float, shape (n, channels)
        Samples of the microphones without the echo.
    sr : int
        Sampling rate in Hz.
    microphone : ndarray of float, shape (n, channels)
        What they heard, cut to the same span, and without a constant that was taken out.
    report : Report or None
        What `cancel_echo` found: delay, drift, jumps, ERLE of each second (`report.each_second()`); None from `cancel`.

    Examples
    --------
    >>> done = Cancelled(np.full((4, 2), 0.1), 8000, np.ones((4, 2)))
    >>> done
    <Cancelled: 0.0 s at 8000 Hz, 2 channels, ERLE 20.0 dB>
    >>> round(done.erle())
    20
    """

    residual: NDArray[np.float64]
    sr: int
    microphone: NDArray[np.float64]
    report: Report | None = None

    @property
    def out(self) -> NDArray[np.float64]:
        """The samples without the echo, shape (n,) for one microphone, (n, 2) for two."""
        return self.residual[:, 0] if self.residual.shape[1] == 1 else self.residual

    def __repr__(self) -> str:
        """Say how long it is and how much echo went."""
        seconds, channels = len(self.residual) / self.sr, self.residual.shape[1]
        enough = self.microphone.any() and len(self.residual)
        said = [f"ERLE {self.erle():.1f} dB" if enough else "nothing was heard"]
        if self.report is not None:
            said.append(f"delay {1000 * self.report.delay:.1f} ms")
            said += [f"{len(self.report.breaks)} jumps of it"] if self.report.breaks else []
            said += [f"drift {1e6 * self.report.drift:+.1f} ppm"] if self.report.drift else []
        how = "mono" if channels == 1 else f"{channels} channels"
        return f"<Cancelled: {seconds:.1f} s at {self.sr} Hz, {how}, {', '.join(said)}>"

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
        span = slice(round(start * self.sr), None if stop is None else round(stop * self.sr))
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
        step = max(1, round(_BLOCK * self.sr))
        ends = np.arange(step, len(self.residual) + 1, step)
        loud = [n for n in ends if self.microphone[n - step : n].any()]
        return np.array(loud) / self.sr, np.array(
            [erle(self.microphone[n - step : n], self.residual[n - step : n]) for n in loud]
        )


@checks.takes(
    error=SignalError, sr=checks.maybe(checks.whole(100, 10**6)),
    **OPTIONS | {"delay": checks.maybe(checks.number(-3.6e6, 3.6e6)), "most": checks.number(1.0, 6e4)},  # ms
)  # fmt: skip
def cancel_echo(
    far: ArrayLike | str | Path, microphone: ArrayLike | str | Path, sr: int | None = None, *,
    tail: float | None = None, delay: float | None = None, most: float = 1000.0, length: int | None = None,
    memory: float | None = None, passes: int = 1,
) -> Cancelled:  # fmt: skip
    """Take the echo of a far end out of a microphone's recording, once the two are in step.

    What ``voicewire echo`` does: a constant is taken out, the delay, its jumps and the drift of the clocks are found
    and followed, and so is a microphone's gain that moves. Where the microphone stays at one value nothing is learnt.

    Parameters
    ----------
    far : array_like of float, shape (n,) or (n, 2), or str or Path
        What the loudspeakers played, mono or stereo; or a sound file. Full scale is 1, and that of the type for arrays
        of int8, int16 and int32.
    microphone : array_like of float, shape (n,) or (n, 2), or str or Path
        What the microphones heard; the longer one of the two is cut.
    sr : int, optional
        Sampling rate of both, Hz. Files have their own; arrays need one.
    tail : float, optional
        Length of each echo path, ms: 80 for mono and at most 512 taps for stereo, if neither it nor `length` is given.
    delay : float, optional
        Delay of the microphone, ms, if it is known; else it is found.
    most : float
        Longest delay looked for, either way, ms.
    length : int, optional
        Taps of each echo path, L, instead of `tail`.
    memory : float, optional
        K in lambda = 1 - 1/(K L); 16, or 64 with `length`.
    passes : int
        Data-reuse passes, N_it.

    Returns
    -------
    Cancelled
        Its `out` are the samples without the echo, shaped as the microphone's, its `report` says what was found.

    Raises
    ------
    SignalError
        If samples can't be used, or hold no echo of the far end; the message says which, and why.
    ValueError
        If a file or an argument can't be used.
    OSError, soundfile.SoundFileError
        If a file cannot be read.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> far = 0.1 * rng.standard_normal(32000)
    >>> heard = np.convolve(far, [0] * 100 + [0.5, 0.2])[: far.size] + 0.02
    >>> done = cancel_echo(far, heard, 8000)
    >>> done.out.shape, round(1000 * done.report.delay, 1), bool(done.report.erle(start=2) > 40)
    ((32000,), 12.5, True)
    >>> done.report.notes
    ['the microphone has a constant of 0.0... of full scale: taken out by a high-pass of 20 Hz']
    """
    late = None if delay is None else delay / 1000
    settings = Settings(length, memory, passes, late, most / 1000, tail)
    with Pair(_given(far, sr, "the far end"), _given(microphone, sr, "the microphone recording")) as both:
        kept = Kept(both.channels[1])
        report = cancel_pair(both, kept, settings)
        left = kept.samples()
        judge_talk(report, both, OfArray(left, both.raw[1].rate, "the residual"))
        return Cancelled(left, report.sr, both.conditioned[1].read(0, len(left)), report)


def _given(samples: ArrayLike | str | Path, sr: int | None, name: str) -> Path | OfArray:
    """A path, or samples of shape (n, channels) with their rate."""
    if isinstance(samples, (str, Path)):
        import soundfile

        path = Path(samples)
        path.stat()
        with silent_library():
            own = soundfile.info(path).samplerate if sr is not None else None
        if own is not None and own != sr:
            raise SignalError(f"{path} has {own} Hz, not {sr}: leave sr out, files have their own")
        return path
    if sr is None:
        raise SignalError(f"{name} is an array: name its sampling rate, sr in Hz")
    found = np.asarray(checks.array((1, 2), least=0, allow="nan inf")(name, samples, SignalError))
    found = found * _scale(samples, name)
    table = found[:, None] if found.ndim == 1 else found
    if table.shape[1] not in (1, 2):
        turned = " (turned, .T?)" if table.shape[0] in (1, 2) else ""
        raise SignalError(f"{name} must have shape (n,) or (n, 2); it has shape {found.shape}{turned}")
    if not len(table):
        raise SignalError(f"{name} is empty: it has no samples")
    finite(table, name)
    if np.abs(table).max() > _FULL:
        raise SignalError(f"{name} reaches {np.abs(table).max():g}: scale the samples so that full scale is 1")
    return OfArray(table, sr, name)


def _scale(samples: ArrayLike, name: str) -> float:
    """What samples are multiplied by, so that full scale is 1: that of an array of integers is its type's."""
    kind = getattr(samples, "dtype", None)
    if not isinstance(kind, np.dtype) or kind.kind not in "iu":
        return 1.0
    if kind.kind == "u" or kind.itemsize > 4:
        raise SignalError(f"{name} is of {kind}: give int16 or int32 as a sound file has it, or floats of full scale 1")
    return float(2.0 ** (1 - 8 * kind.itemsize))


@checks.takes(
    error=SignalError, sr=checks.whole(100, 10**6), length=checks.whole(1, 2**14), memory=checks.positive,
    passes=checks.whole(1, 1000), watch=checks.maybe(checks.function),
)  # fmt: skip
def cancel(
    far: ArrayLike, microphone: ArrayLike, sr: int, *, length: int = 512, memory: float = 64.0, passes: int = 3,
    watch: Callable[[Cancelled], object] | None = None, progress: bool = False,
) -> Cancelled:  # fmt: skip
    """Take the echo of a stereo far end out of a stereo microphone recording by the bare filter, as they are.

    `cancel_echo` takes mono as well, and brings the two in step.

    Parameters
    ----------
    far, microphone : array_like of float, shape (n, 2)
        What the loudspeakers played and what the microphones heard; the longer one is cut.
    sr : int
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
    step = max(1, round(_BLOCK * sr))
    for start in tqdm(range(0, n, step), unit="block", disable=None if progress else True):
        span = slice(start, min(start + step, n))
        e = canceller.process(loudspeakers[span], heard[span])
        residual[span] = np.column_stack([e.real, e.imag]) * scale
        if watch is not None:
            watch(Cancelled(residual[: span.stop], sr, d[: span.stop]))
    return Cancelled(residual, sr, d)


def _channels(samples: ArrayLike, name: str) -> NDArray[np.float64]:
    found = np.asarray(checks.array((0, 1, 2, 3), least=0, allow="nan inf")(name, samples, SignalError))
    if found.ndim != 2 or found.shape[1] != 2:
        raise SignalError(
            f"{name} must have two channels, shape (n, 2); it has shape {found.shape}: cancel_echo takes mono as well"
        )
    finite(found, name)
    return found


def read_stereo(path: str | Path) -> tuple[NDArray[np.float64], int]:
    """Samples, shape (n, 2), and rate (Hz) of a stereo sound file.

    Parameters
    ----------
    path : str or Path
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


def write_stereo(path: str | Path, samples: NDArray[Any], sr: int) -> str:
    """Write a WAV of 16 bits a sample, or of 32-bit floats where 16 bits would clip; returns which.

    Parameters
    ----------
    path : str or Path
        File to write.
    samples : ndarray of float, shape (n, 2)
        Samples.
    sr : int
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
    soundfile.write(path, samples, sr, format="WAV", subtype="FLOAT" if clips else "PCM_16")
    return "32-bit floats: it peaks beyond full scale" if clips else "16 bits"

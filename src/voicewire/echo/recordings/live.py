"""``voicewire echo --live``: play a file, record what the microphone hears, cancel meanwhile; memory stays constant.

Explained in ``notebooks/echo/01_adaptive_filters.ipynb``.
"""

from __future__ import annotations

import importlib
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from voicewire._kit import checks
from voicewire.echo.recordings.delay_estimation import CLEAR, phat
from voicewire.echo.recordings.input_validation import SignalError
from voicewire.echo.recordings.paired_recordings import Pair
from voicewire.echo.recordings.report import Report
from voicewire.echo.recordings.stream import OPTIONS, Settings
from voicewire.echo.recordings.work import Work, Writer, lead, part
from voicewire.echo.two_path_filter import Guarded

__all__ = ["cancel_live"]

Samples = NDArray[np.float64]
_FULL: Final = 32768
_TOP: Final = 32767 / 32768
_LIVE_RATE: Final = 16000  # Hz: above it the filter has so many taps, to keep up with the sound
_LIVE_TAPS: Final = 512
_WINDOW: Final = 4.0  # s in which the delay is looked for


def _sounddevice() -> Any:
    try:
        return importlib.import_module("sounddevice")
    except ImportError as problem:
        raise SignalError("--live needs the package sounddevice: pip install sounddevice") from problem
    except OSError as problem:
        raise SignalError(f"--live needs PortAudio, on Debian apt install libportaudio2: {problem}") from problem


class _Asked:
    """Whether Ctrl-C was pressed: the block at work is finished first, so that nothing is torn."""

    def __init__(self) -> None:
        self.to_stop = False

    def _stop(self, *_: object) -> None:
        self.to_stop = True

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)


class _Sound:
    """The sound card: a block is played while one is recorded; what goes wrong is noted."""

    def __init__(self, library: Any, rate: int, channels: int, size: int, device: str | None) -> None:
        self._problem = library.PortAudioError
        self.ended: str | None = None
        self.lost: list[float] = []  # when samples were lost, s
        self.late = 0  # blocks that were not there in time to be played
        named: Any = int(device) if device is not None and device.isdecimal() else device
        try:
            self._stream = library.Stream(
                samplerate=rate, blocksize=size, device=named, channels=(1, channels), dtype="int16"
            )
        except (self._problem, ValueError) as problem:
            raise SignalError(
                f"no sound device plays {channels} and records 1 channel at {rate} Hz: {problem}; bring FAR.wav to "
                "a rate that it takes, or name another --device"
            ) from problem
        self.rate = rate

    def blocks(self, played: Iterator[NDArray[np.int16]]) -> Iterator[NDArray[np.int16]]:
        """What the microphone hears, block by block, until all is played, the device ends or somebody says stop."""
        heard = 0
        try:
            with self._stream as stream, _Asked() as asked:
                for block in played:
                    self.late += bool(stream.write(block))
                    samples, overflowed = stream.read(len(block))
                    heard += len(samples)
                    if overflowed:
                        self.lost.append(heard / self.rate)
                    yield np.asarray(samples)
                    if asked.to_stop:
                        self.ended = f"stopped at {heard / self.rate:.1f} s"
                        return
        except self._problem as problem:
            self.ended = f"the device ended at {heard / self.rate:.1f} s: {problem}"

    def notes(self) -> list[str]:
        """What a user should know."""
        said = [self.ended] if self.ended else []
        if self.lost:
            said.append(
                f"overrun in {len(self.lost)} blocks, first at {self.lost[0]:.1f} s: samples were lost, and the echo "
                "has come earlier since; fewer --length taps cost less time"
            )
        if self.late:
            said.append(f"{self.late} blocks came too late to be played: there were gaps in what was heard")
        return said


class _Live:
    """Blocks of the microphone come in; they wait until the delay is known, and are worked on with the far end."""

    def __init__(self, far: Pair, work: Work, length: int, most: float) -> None:
        self.far, self.work, self.length, self.most = far, work, length, most
        self.window = round(max(_WINDOW, 2 * most) * far.rate)
        self.waiting: list[Samples] = []
        self.known = False

    def wait(self, block: Samples) -> None:
        """Take a block in whose delay isn't known; at the end of a window it is looked for."""
        self.waiting.append(block)
        heard = sum(map(len, self.waiting))
        if heard >= self.window:
            self.look(heard)

    def look(self, heard: int) -> None:
        """Find the delay in what waits; if there is a clear one, all that waits is worked on."""
        rate, start = self.far.rate, self.work.samples
        far = self.far.mono(0, start, heard)
        peak = phat(far, np.concatenate(self.waiting)[:, 0], rate, self.most) if heard >= 16 else None
        if peak is not None and peak.clarity >= CLEAR:
            self.found(peak.delay, True)
        waiting, self.waiting = self.waiting, []
        for block in waiting:
            self.take(block)

    def found(self, delay: float, exact: bool) -> None:
        """The delay is known from here on."""
        report = self.work.report
        report.delay, report.found = delay, exact
        report.put_off = lead(delay, self.far.rate, self.length, exact)
        self.known = True

    def take(self, block: Samples) -> None:
        """Work on a block; before a delay is known its far end counts as silent, and it is sent on as it is."""
        start, count = self.work.samples, len(block)
        at = start - round(self.work.report.put_off * self.far.rate)
        far = self.far.read(0, at, count) if self.known else np.zeros((count, self.far.channels[0]))
        self.work.take(far, block)


@checks.takes(**OPTIONS)
def cancel_live(
    far: str | Path, residual: str | Path, *, kept: str | Path | None = None, device: str | None = None,
    length: int | None = None, memory: float | None = None, passes: int = 1, delay: float | None = None,
    most: float = 1.0, tail: float | None = None,
) -> Report:  # fmt: skip
    """Play a file, record the microphone meanwhile, take the echo out as it comes, and write what is left.

    Only the far end is played, never what is recorded: nothing can howl. One sound card does both, so there is one
    clock and no drift. A delay that isn't given is looked for in the first 4 s (or twice `most`), and again in the next
    ones if it isn't clear; what waits is worked on then, so that nothing is left out.

    Parameters
    ----------
    far : str or Path
        Sound file to play, mono or stereo.
    residual : str or Path
        WAV file to write, mono.
    kept : str or Path, optional
        WAV file for what the microphone heard: ``voicewire echo far kept residual`` does the same again.
    device : str, optional
        Name or number of the sound device; else the system's own.
    length, memory, passes : int, float and int, optional
        As in `cancel_files`.
    delay : float, optional
        Delay of the microphone in s, if it is known.
    most : float
        Longest delay looked for, s.
    tail : float, optional
        Length of each echo path, ms; else 80, and at most 512 taps for stereo and above 16 kHz.

    Returns
    -------
    Report

    Raises
    ------
    ValueError
        If the file can't be used, sounddevice or PortAudio is missing, the device refuses, nothing was recorded, or no
        echo was found; the message says which.
    OSError, soundfile.SoundFileError
        If a file cannot be read or written.

    Examples
    --------
    >>> cancel_live(Path("far.wav"), Path("out.wav"), kept=Path("mic.wav")).lines()  # doctest: +SKIP
    """
    library = _sounddevice()
    with ExitStack() as stack:
        playing = stack.enter_context(Pair(Path(far), Path(far)))
        rate, channels = playing.rate, playing.channels[0]
        if length is None and tail is None and rate > _LIVE_RATE:
            length, memory = _LIVE_TAPS, memory or 64.0
        length, memory = Settings(length, memory, passes, delay, most, tail).taps((channels, 1), rate)
        loud = playing.heard(0)
        canceller = Guarded(length, rate, memory, passes)
        size = part(canceller.block, rate)
        sound = _Sound(library, rate, channels, size, device)
        seconds = np.zeros(-(-playing.length // rate))
        report = Report(
            rate, playing.length, (channels, 1), length, passes, 0.0, 0.0, False, 0.0, seconds.copy(), seconds.copy(),
            seconds.copy(), loud.clipped, seconds, list(dict.fromkeys(playing.notes)),  # twice the same file
        )  # fmt: skip
        work = Work(report, canceller, loud.rms, stack.enter_context(Writer(Path(residual), rate, 1)))
        live = _Live(playing, work, length, most)
        if delay is not None:
            live.found(delay, False)
        heard = 0
        keeps = None if kept is None else stack.enter_context(Writer(Path(kept), rate, 1))
        for samples in sound.blocks(_played(playing, size)):
            block = samples[:, :1] / _FULL
            if keeps is not None:
                keeps.write(block)
            live.take(block) if live.known else live.wait(block)
            clips = np.flatnonzero(np.abs(block[:, 0]) >= _TOP)
            np.add.at(report.clipped_microphone, (heard + clips) // rate, 1 / rate)
            heard += len(block)
        if live.waiting:
            live.look(sum(map(len, live.waiting)))
        work.end()
        report.length = work.samples
        report.clipped_far, report.clipped_microphone = (
            each[: len(report.heard)] for each in (report.clipped_far, report.clipped_microphone)
        )
        report.notes += sound.notes()
    if not live.known:
        why = f"; {sound.ended}" if sound.ended else ""
        raise SignalError(f"no echo of {far} was found in the {heard / rate:.1f} s that the microphone heard{why}")
    return report


def _played(far: Pair, size: int) -> Iterator[NDArray[np.int16]]:
    """The far end in blocks, as a sound card takes it."""
    for start in range(0, far.length, size):
        block = far.read(0, start, min(size, far.length - start))
        yield np.clip(np.round(_FULL * block), -_FULL, _FULL - 1).astype(np.int16)

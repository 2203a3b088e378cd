"""Cancel the echo in files of any length, block by block: what ``voicewire echo`` does; memory stays constant.

Explained in ``notebooks/echo/01_adaptive_filters.ipynb``.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from voicewire._kit import checks
from voicewire.echo.recordings.input_validation import stereo
from voicewire.echo.recordings.paired_recordings import Pair
from voicewire.echo.recordings.report import Report
from voicewire.echo.two_path_filter import Guarded

__all__ = ["Work", "Writer", "cancel_files", "lead", "part"]

Samples = NDArray[np.float64]
_BEFORE = (
    0.01  # s before the strongest sound that the filter still sees: the straight way may be weaker, and is earlier
)
_PART = 0.25  # s that are worked on at once


class Writer:
    """A WAV of 16 bits, which becomes one of floats at the first sample that 16 bits would clip.

    Attributes
    ----------
    how : str
        In what the samples are, for people.
    """

    def __init__(self, path: Path, rate: int, channels: int) -> None:
        self.path, self.rate, self.channels = path, rate, channels
        self.how = "16 bits"
        self._file = self._open(path, "PCM_16")

    def _open(self, path: Path, kind: str) -> Any:
        import soundfile

        return soundfile.SoundFile(path, "w", self.rate, self.channels, kind, format="WAV")

    def write(self, samples: Samples) -> None:
        """Write some more."""
        if self.how == "16 bits" and np.abs(samples).max(initial=0.0) >= 1:
            self._widen()
        self._file.write(samples)

    def _widen(self) -> None:
        import soundfile

        self._file.close()
        wide = self.path.with_name(self.path.name + ".part")
        self._file = self._open(wide, "FLOAT")
        for block in soundfile.blocks(self.path, self.rate, always_2d=True):
            self._file.write(block)
        wide.replace(self.path)
        self.how = "32-bit floats: it peaks beyond full scale"

    def __enter__(self) -> Self:
        """It is open already."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close it."""
        self._file.close()


class Work:
    """A canceller at work block by block: what it leaves is written, and powers are added up second by second."""

    def __init__(self, report: Report, canceller: Guarded, loudness: float, out: Writer) -> None:
        self.report, self.canceller, self.loudness, self.out = report, canceller, loudness, out
        self.samples = 0

    def take(self, x: Samples, d: Samples) -> None:
        """Cancel over a block."""
        error, talks = self.canceller.process(_pair(x / self.loudness), _pair(d / self.loudness))
        left = np.column_stack([error.real, error.imag])[:, : d.shape[1]].astype(float) * self.loudness
        self.out.write(left)
        for total, samples in (
            (self.report.heard, d), (self.report.left, left), (self.report.talks, talks[:, None]),
        ):  # fmt: skip
            _add(total, self.samples, self.report.rate, samples)
        self.samples += len(d)

    def end(self) -> None:
        """Energies become powers; the report is whole."""
        report = self.report
        seconds = -(-self.samples // report.rate)
        report.heard, report.left, report.talks = (
            each[:seconds] for each in (report.heard, report.left, report.talks)
        )  # fmt: skip
        counts = np.full(seconds, report.rate, float)
        counts[-1:] = self.samples - (seconds - 1) * report.rate
        for each in (report.heard, report.left, report.talks):
            each /= counts
        report.written = self.out.how
        report.changes = self.canceller.changes


def lead(delay: float, rate: int, length: int, exact: bool) -> float:
    """How much of a delay is taken out before the filter, which keeps some room before the strongest sound."""
    before = min(round(_BEFORE * rate), length // 4)
    out = delay - before / rate
    return 0.0 if exact and delay >= 0 and out <= 0 else out


def _pair(samples: Samples) -> NDArray[np.complex128]:
    """Left + 1j * right; the right channel of a mono recording is silent."""
    return stereo(samples[:, 0], samples[:, 1] if samples.shape[1] == 2 else np.zeros(len(samples)))


@checks.takes(
    length=checks.whole(1, 2**14), memory=checks.positive, passes=checks.whole(1, 1000),
    delay=checks.maybe(checks.number(-3600.0, 3600.0)), most=checks.number(1e-3, 60.0),
)  # fmt: skip
def cancel_files(
    far: Path, microphone: Path, residual: Path, *, length: int = 512, memory: float = 64.0, passes: int = 1,
    delay: float | None = None, most: float = 1.0,
) -> Report:  # fmt: skip
    """Take the echo of one file out of another, once the two are in step, and write what is left.

    Parameters
    ----------
    far, microphone : Path
        What the loudspeakers played and what the microphones heard: mono or stereo, of one rate.
    residual : Path
        WAV file to write, of as many channels as the microphone.
    length : int
        Taps of each echo path, L.
    memory : float
        K in lambda = 1 - 1/(K L).
    passes : int
        Data-reuse passes, N_it.
    delay : float, optional
        Delay of the microphone in s, if it is known; else it and the drift of the clocks are found.
    most : float
        Longest delay looked for, either way, s.

    Returns
    -------
    Report

    Raises
    ------
    ValueError
        If a recording can't be used, or holds no echo of the other; the message says which, and why.
    OSError, soundfile.SoundFileError
        If a file cannot be read or written.

    Notes
    -----
    The filter is the study's own, equation (13) of the paper, as `Guarded` has it; a mono recording is the left channel
    beside silence.

    Examples
    --------
    >>> cancel_files(Path("far.wav"), Path("mic.wav"), Path("out.wav")).lines()  # doctest: +SKIP
    """
    if memory * length <= 1:
        raise ValueError("memory times length must exceed 1 sample")
    with Pair(far, microphone) as both:
        notes = both.notes
        if both.lengths[0] != both.lengths[1]:
            seconds = [n / both.rate for n in both.lengths]
            notes.append(f"far end {seconds[0]:.2f} s, microphone {seconds[1]:.2f} s: the longer one was cut")
        played, heard = both.heard(0), both.heard(1)
        found = both.find(most) if delay is None else None
        late = delay if found is None else found.delay
        assert late is not None
        if found is not None and not found.straight:
            notes.append("the delay moves, and not as that of two clocks does: it was not followed")
        drift = found.drift if found else 0.0
        out_of_it = lead(late, both.rate, length, found is not None and not drift)
        if late * both.rate < -0.5:
            notes.append(
                "the microphone's file has the sound before the far end's: it began later, or they are swapped"
            )
        report = Report(
            both.rate, both.length, both.channels, length, passes, late, out_of_it, found is not None, drift,
            np.zeros(len(heard.clipped)), np.zeros(len(heard.clipped)), np.zeros(len(heard.clipped)),
            played.clipped, heard.clipped, notes,
        )  # fmt: skip
        canceller = Guarded(length, both.rate, memory, passes)
        with Writer(residual, both.rate, both.channels[1]) as out:
            work = Work(report, canceller, played.rms, out)
            size = part(canceller.block, both.rate)
            blocks = tqdm(
                both.blocks(size, out_of_it, drift), total=-(-both.length // size), unit="block", disable=None
            )
            for x, d in blocks:
                work.take(x, d)
            work.end()
    return report


def part(block: int, rate: int) -> int:
    """Samples that are worked on at once: whole blocks of about a quarter of a second."""
    return block * max(1, round(_PART * rate / block))


def _add(seconds: Samples, at: int, rate: int, samples: NDArray[Any]) -> None:
    """Add the energy of samples to the seconds that they lie in."""
    where = (at + np.arange(len(samples))) // rate
    np.add.at(seconds, where, np.mean(samples**2, axis=1))

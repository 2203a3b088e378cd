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

from voicewire import checks
from voicewire.echo.guarded import Guarded
from voicewire.echo.pair import Pair
from voicewire.echo.report import Report
from voicewire.echo.samples import stereo

__all__ = ["cancel_files"]

Samples = NDArray[np.float64]
_BEFORE = (
    0.01  # s before the strongest sound that the filter still sees: the straight way may be weaker, and is earlier
)
_PART = 0.25  # s that are worked on at once


class _Writer:
    """A WAV of 16 bits, which becomes one of floats at the first sample that 16 bits would clip."""

    def __init__(self, path: Path, rate: int, channels: int) -> None:
        self.path, self.rate, self.channels = path, rate, channels
        self.how = "16 bits"
        self._file = self._open(path, "PCM_16")

    def _open(self, path: Path, kind: str) -> Any:
        import soundfile

        return soundfile.SoundFile(path, "w", self.rate, self.channels, kind, format="WAV")

    def write(self, samples: Samples) -> None:
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
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()


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
    Chapter ``notebooks/echo/01_adaptive_filters``.

    Examples
    --------
    >>> cancel_files(Path("far.wav"), Path("mic.wav"), Path("out.wav")).lines()  # doctest: +SKIP
    """
    if memory * length <= 1:
        raise ValueError("memory times length must exceed 1 sample")
    notes: list[str] = []
    with Pair(far, microphone) as both:
        if both.lengths[0] != both.lengths[1]:
            seconds = [n / both.rate for n in both.lengths]
            notes.append(f"far end {seconds[0]:.2f} s, microphone {seconds[1]:.2f} s: the longer one was cut")
        played, heard = both.heard(0), both.heard(1)
        found = both.find(most) if delay is None else None
        late = delay if found is None else found.delay
        assert late is not None
        if found is not None and not found.straight:
            notes.append("the delay moves, and not as that of two clocks does: it was not followed")
        before = min(round(_BEFORE * both.rate), length // 4)
        drift = found.drift if found else 0.0
        lead = late - before / both.rate
        if found and not drift and late >= 0 and lead <= 0:
            lead = 0.0  # the filter sees it as it is
        if late < 0:
            notes.append(
                "the microphone's file has the sound before the far end's: it began later, or they are swapped"
            )
        report = Report(
            both.rate, both.length, both.channels, length, passes, late, lead, found is not None, drift,
            np.zeros(len(heard.clipped)), np.zeros(len(heard.clipped)), np.zeros(len(heard.clipped)),
            played.clipped, heard.clipped, notes,
        )  # fmt: skip
        canceller = Guarded(length, both.rate, memory, passes)
        with _Writer(residual, both.rate, both.channels[1]) as out:
            at = 0
            size = canceller.block * max(1, round(_PART * both.rate / canceller.block))
            blocks = tqdm(both.blocks(size, lead, drift), total=-(-both.length // size), unit="block", disable=None)
            for x, d in blocks:
                error, talks = canceller.process(_pair(x / played.rms), _pair(d / played.rms))
                left = np.column_stack([error.real, error.imag])[:, : d.shape[1]].astype(float) * played.rms
                out.write(left)
                _add(report.heard, at, both.rate, d)
                _add(report.left, at, both.rate, left)
                _add(report.talks, at, both.rate, talks[:, None])
                at += len(d)
            report.written = out.how
            report.changes = canceller.changes
    counts = np.full(len(report.heard), both.rate, float)
    counts[-1] = both.length - (len(counts) - 1) * both.rate
    for each in (report.heard, report.left, report.talks):
        each /= counts
    return report


def _add(seconds: Samples, at: int, rate: int, samples: NDArray[Any]) -> None:
    """Add the energy of samples to the seconds that they lie in."""
    where = (at + np.arange(len(samples))) // rate
    np.add.at(seconds, where, np.mean(samples**2, axis=1))

"""The canceller at work block by block, and where what it leaves goes: a file, or memory.

Explained in ``notebooks/echo/01_adaptive_filters.ipynb``.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from voicewire.echo.recordings.gain import GainFollower
from voicewire.echo.recordings.input_validation import stereo
from voicewire.echo.recordings.report import Report
from voicewire.echo.recordings.sources import REACH, raised
from voicewire.echo.two_path_filter import Guarded

__all__ = ["Kept", "Work", "Writer", "lead", "part"]

Samples = NDArray[np.float64]
_BEFORE = 0.01  # s before the strongest sound that the filter still sees: the straight way, weaker, may be earlier
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
        self._file: Any = None

    def _open(self, path: Path, kind: str) -> Any:
        import soundfile

        return soundfile.SoundFile(path, "w", self.rate, self.channels, kind, format="WAV")

    def write(self, samples: Samples) -> None:
        """Write some more; the file is there from the first samples on."""
        if self._file is None:
            self._file = self._open(self.path, "PCM_16")
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
        """Opened by the first samples."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close it."""
        if self._file is not None:
            self._file.close()


class Kept:
    """Samples that are kept in memory."""

    how = "samples in memory"

    def __init__(self, channels: int) -> None:
        self._pieces = [np.zeros((0, channels))]

    def write(self, samples: Samples) -> None:
        """Take some more."""
        self._pieces.append(samples)

    def samples(self) -> Samples:
        """All, shape (n, channels)."""
        return np.concatenate(self._pieces)


class Work:
    """A canceller at work block by block: what it leaves is written, and powers are added up second by second."""

    def __init__(
        self, report: Report, canceller: Guarded, loudness: float, out: Writer | Kept, factor: int = 1
    ) -> None:
        self.report, self.canceller, self.loudness, self.out, self.factor = report, canceller, loudness, out, factor
        self.samples = 0
        self.gain = GainFollower()
        self._echo = np.zeros((REACH, report.channels[1]))  # at the lower rate, with what the next piece needs
        self._heard = np.zeros((0, report.channels[1]))  # at the rate of the recordings, until its echo is known
        self._kept = np.zeros(0, bool)
        self._talks = np.zeros(0, bool)

    def take(
        self, x: Samples, d: Samples, lost: NDArray[np.bool_] | None = None, whole: Samples | None = None,
        gone: NDArray[np.bool_] | None = None,
    ) -> None:  # fmt: skip
        """Cancel over a block; `lost` marks where the microphone has nothing.

        `whole` and `gone` are the microphone and its losses at the rate of the recordings, where `x` and `d` have a
        lower one.
        """
        left, talks = self._left(x, d, lost)
        if whole is None:
            if lost is not None:
                left[lost] = d[lost]
            self._put(d, left, talks)
            return
        assert gone is not None
        self._echo = np.concatenate([self._echo, d - left])
        self._heard = np.concatenate([self._heard, whole])
        self._kept = np.concatenate([self._kept, gone])
        self._talks = np.concatenate([self._talks, np.repeat(talks, self.factor)[: len(whole)]])
        self._flush(len(self._echo) - 2 * REACH)

    def recall(self, x: Samples) -> None:
        """Let the filter have heard these samples of the far end, and learn nothing from them."""
        nothing = np.zeros(len(x), complex)
        self.canceller.process(_pair(x / self.loudness), nothing, np.ones(len(x), bool))

    def _flush(self, ready: int) -> None:
        """Write what the echo is known for: so many samples of the lower rate."""
        if ready <= 0:
            return
        echo = raised(self._echo[: ready + 2 * REACH], self.factor)
        count = min(len(echo), len(self._heard))
        d, kept, talks = self._heard[:count], self._kept[:count], self._talks[:count]
        left = np.where(kept[:, None], d, d - echo[:count])
        self._heard, self._kept, self._talks = self._heard[count:], self._kept[count:], self._talks[count:]
        self._echo = self._echo[ready:]
        self._put(d, left, talks)

    def _left(
        self, x: Samples, d: Samples, lost: NDArray[np.bool_] | None
    ) -> tuple[Samples, NDArray[np.bool_]]:
        """What the canceller leaves of a block, once the microphone's gain is followed, and where both talk."""
        left, talks = np.empty_like(d), np.empty(len(d), bool)
        block = self.canceller.block
        size = block if self.gain.found else len(d)
        for start in range(0, len(d), size):
            span = slice(start, start + size)
            gain = self.gain.value
            here = d[span] / (self.loudness * gain)
            missing = None if lost is None or not lost[span].any() else lost[span]
            error, talks[span] = self.canceller.process(_pair(x[span] / self.loudness), _pair(here), missing)
            rest = np.column_stack([error.real, error.imag])[:, : d.shape[1]].astype(float)
            for at in range(0, len(rest), block):
                part = slice(at, at + block)
                if missing is not None and missing[part].any():
                    continue
                if size == block:
                    rest = self.gain.follow(here, rest)
                else:
                    self.gain.watch(here[part], rest[part])
            left[span] = rest * (self.loudness * gain)
            self.report.gains.append(gain)
        return left, talks

    def _put(self, d: Samples, left: Samples, talks: NDArray[np.bool_]) -> None:
        self.out.write(left)
        for total, samples in (
            (self.report.heard, d), (self.report.left, left), (self.report.talks, talks[:, None]),
        ):  # fmt: skip
            _add(total, self.samples, self.report.sr, samples)
        self.samples += len(d)

    def end(self) -> None:
        """Energies become powers; the report is whole."""
        if len(self._heard):
            self._echo = np.concatenate([self._echo, np.zeros((2 * REACH, self._echo.shape[1]))])
            self._flush(len(self._echo) - 2 * REACH)
        report = self.report
        seconds = -(-self.samples // report.sr)
        report.heard, report.left, report.talks = (
            each[:seconds] for each in (report.heard, report.left, report.talks)
        )  # fmt: skip
        counts = np.full(seconds, report.sr, float)
        counts[-1:] = self.samples - (seconds - 1) * report.sr
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


def part(block: int, rate: int) -> int:
    """Samples that are worked on at once: whole blocks of about a quarter of a second."""
    return block * max(1, round(_PART * rate / block))


def _add(seconds: Samples, at: int, rate: int, samples: NDArray[Any]) -> None:
    """Add the energy of samples to the seconds that they lie in."""
    where = (at + np.arange(len(samples))) // rate
    np.add.at(seconds, where, np.mean(samples**2, axis=1))

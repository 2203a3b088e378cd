"""Reading recordings: one clear error for a file that is no sound, a flag for one that is a bad sound.

Explained in notebook ``02_formants``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Sound", "SoundError", "read"]

from voicewire._kit import _sound_file, checks

Array = NDArray[np.float64]

CLIP_RUN: Final = 3  # this many neighbouring samples at full scale are a cut-off wave, not a peak
SILENCE: Final = 1e-4  # RMS below -80 dB of full scale: nothing but dither of a 16-bit file
LONGEST: Final = 2 * 10**8  # samples: an hour of stereo at 24 kHz
FULL_SCALES: Final = 100.0  # samples beyond it are no sound with full scale 1, but whole numbers made floats


_SOUND = checks.array(sound=True, low=-FULL_SCALES, high=FULL_SCALES)
_SAMPLES = checks.array(least=0, sound=True, low=-FULL_SCALES, high=FULL_SCALES)


class SoundError(ValueError):
    """A file that cannot be measured; the message names the file, what is wrong and what to do.

    Examples
    --------
    >>> try:
    ...     read("no-such-file.wav")
    ... except SoundError as error:
    ...     print(error)  # doctest: +ELLIPSIS
    no-such-file.wav...
    """


@dataclass(frozen=True)
class Sound:
    """A mono sound: samples in [-1, 1], shape (n,); rate in Hz; a name for messages and tables.

    Attributes
    ----------
    samples : ndarray of float, shape (n,)
        From -1 to 1.
    rate : int
        Samples a second, Hz.
    name : str
        For messages and tables.
    notes : tuple of str
        What was odd about the file.

    Examples
    --------
    >>> Sound(np.zeros(8000), 16_000, "silence").duration
    0.5
    """

    samples: Array
    rate: int
    name: str = "sound"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checks.fields(self, SoundError, samples=_SOUND, rate=checks.whole(1, 10**7))

    @property
    def sr(self) -> int:
        """Samples a second, Hz: the same as ``rate``."""
        return self.rate

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return self.samples.size / self.rate

    @checks.takes(start=checks.number(), end=checks.number())
    def part(self, start: float, end: float) -> Array:
        """Return the samples between two times (s), cut to the sound's length.

        Parameters
        ----------
        start, end : float
            s.

        Returns
        -------
        ndarray of float, shape (m,)
        """
        first = max(0, round(start * self.rate))
        return self.samples[first : max(first, round(end * self.rate))]


def _check_riff(path: Path) -> None:
    """Reject WAV files that end within their header."""
    with path.open("rb") as handle:
        if handle.read(4) != b"RIFF":
            return
        handle.seek(12)
        seen = set()
        while True:
            head = handle.read(8)
            if len(head) < 8:
                missing = "data" if b"fmt " in seen else "format and data"
                raise SoundError(f"{path.name}: the WAV header ends before its {missing} chunk; copy the file again")
            name, length = struct.unpack("<4sI", head)
            seen.add(name)
            if name == b"data":
                return
            handle.seek(length + length % 2, 1)


def one_channel(pieces: Iterable[Array], channel: int | None, channels: int, name: str) -> Array:
    """Join pieces of shape (n, channels) as one channel, or as the mean of all, unless they cancel each other in it."""
    if channel is not None and not 0 <= channel < channels:
        raise SoundError(f"{name}: there is no channel {channel}; it has {channels}")
    if channel is not None or channels == 1:
        return np.concatenate([np.zeros(0), *(piece[:, channel or 0] for piece in pieces)])
    means, total, squares, n = [], np.zeros(channels), np.zeros(channels), 0
    for piece in pieces:
        means.append(piece.mean(axis=1))
        total, squares, n = total + piece.sum(axis=0), squares + (piece**2).sum(axis=0), n + len(piece)
    mean = np.concatenate([np.zeros(0), *means])
    power = float((squares / max(n, 1) - (total / max(n, 1)) ** 2).mean())
    # unrelated channels leave 1/channels of their power in the mean
    if SILENCE**2 < power < np.inf and float(mean.var()) < 0.5 * power / channels:
        raise SoundError(f"{name}: the channels cancel each other in their mean: use --channel 0, or another one")
    return mean


def _mono(path: Path, channel: int | None) -> tuple[Array, int, str]:
    """Samples of one channel, or the mean of all, the rate, and what is odd; no more is held than is there."""
    with _sound_file.opened(path) as file:
        too_long = SoundError(f"{path.name}: over {LONGEST:,} samples can't be measured at once; cut the recording")
        if LONGEST < file.frames * file.channels <= 2 * path.stat().st_size:  # there is room for what is promised
            raise too_long

        def pieces() -> Iterator[Array]:
            frames = 0
            for piece in _sound_file.blocks(file):
                frames += len(piece)
                if frames * file.channels > LONGEST:
                    raise too_long
                yield piece
            lacks = _sound_file.missing(file, frames)
            if lacks:
                raise SoundError(
                    f"{path.name}: the file ends early ({lacks}); to measure that, save it with a sound editor"
                )

        return one_channel(pieces(), channel, file.channels, path.name), int(file.samplerate), file.odd


def read(path: str | Path, channel: int | None = None) -> Sound:
    """Read a sound file (WAV of any usual encoding, FLAC, OGG, AIFF) as mono.

    Parameters
    ----------
    path : str or Path
        The file.
    channel : int, optional
        Channel to take, counted from 0; ``None`` takes the mean of all channels.

    Returns
    -------
    Sound

    Raises
    ------
    SoundError
        If the file is missing, empty, truncated, not a sound, has no such channel or channels that cancel, or holds
        values that are not numbers.

    Examples
    --------
    >>> from voicewire._kit import paths
    >>> read(paths.data("pharyngeal") / "arabic_synthesiser.wav").rate > 8000
    True
    """
    import soundfile

    path = Path(path)
    if path.is_dir():
        raise SoundError(f"{path} is a folder: name the sound files in it")
    if not path.exists():
        raise SoundError(f"{path}: there is no such file")
    if not path.is_file():
        raise SoundError(f"{path} is no regular file, so no sound")
    if path.stat().st_size == 0:
        raise SoundError(f"{path.name}: the file is empty; record or copy it again")
    _check_riff(path)
    try:
        samples, rate, odd = _mono(path, channel)
    except (soundfile.LibsndfileError, RuntimeError) as error:
        raise SoundError(f"{path.name}: not readable as sound; save it as WAV, FLAC or AIFF") from error
    except SoundError:
        raise
    except ValueError as error:
        raise SoundError(str(error)) from error
    if samples.size == 0:
        raise SoundError(f"{path.name}: the file has a header but no sound that can be read")
    if not np.isfinite(samples).all():
        raise SoundError(f"{path.name}: the file holds samples that are not numbers; export it again as PCM")
    if (peak := float(np.abs(samples).max())) > FULL_SCALES:
        raise SoundError(f"{path.name}: samples reach {peak:.3g} times full scale; export it again as PCM")
    return Sound(samples, rate, path.name, (odd,) if odd else ())


@checks.takes(samples=_SAMPLES)
def is_silent(samples: Array) -> bool:
    """Tell whether there is nothing to measure (RMS below -80 dB of full scale, a constant offset not counted)."""
    return samples.size == 0 or float(np.std(samples)) < SILENCE


@checks.takes(samples=_SAMPLES)
def is_clipped(samples: Array) -> bool:
    """Tell whether the wave's tops are cut off: runs of neighbouring samples that stay at the extreme.

    The mean of channels may clip below full scale, so the extreme is taken from the samples themselves, provided it
    lies above half of full scale.
    """
    if samples.size < CLIP_RUN:
        return False
    for side in (samples, -samples):
        top = float(side.max())
        if top < 0.5:
            continue
        at_top = side >= top - 1e-6
        runs = np.convolve(at_top, np.ones(CLIP_RUN), mode="valid")
        if bool((runs >= CLIP_RUN).any()):
            return True
    return False

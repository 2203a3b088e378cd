"""Reading recordings: one clear error for a file that is no sound, a flag for one that is a bad sound.

Explained in notebook ``02_formants``.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Sound", "SoundError", "read"]

from voicewire import checks
from voicewire.audio import silent_library

Array = NDArray[np.float64]

CLIP_RUN: Final = 3  # this many neighbouring samples at full scale are a cut-off wave, not a peak
SILENCE: Final = 1e-4  # RMS below -80 dB of full scale: nothing but dither of a 16-bit file
LONGEST: Final = 2 * 10**8  # samples: an hour of stereo at 24 kHz
FULL_SCALES: Final = 100.0  # samples beyond it are no sound with full scale 1, but whole numbers made floats
_UNKNOWN_SIZE: Final = 0x7FFFF000  # streaming writers put such sizes when they cannot go back


_SOUND = checks.array(sound=True, low=-FULL_SCALES, high=FULL_SCALES)
_SAMPLES = checks.array(least=0, sound=True, low=-FULL_SCALES, high=FULL_SCALES)


class SoundError(ValueError):
    """A file that cannot be measured; the message names the file, what is wrong and what to do.

    Notes
    -----
    Chapter ``notebooks/pharyngeal/02_formants``.

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

    Notes
    -----
    Chapter ``notebooks/pharyngeal/02_formants``.

    Examples
    --------
    >>> Sound(np.zeros(8000), 16_000, "silence").duration
    0.5
    """

    samples: Array
    rate: int
    name: str = "sound"

    def __post_init__(self) -> None:
        checks.fields(self, SoundError, samples=_SOUND, rate=checks.whole(1, 10**7))

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
    """Reject WAV files that end within their header or before their announced data."""
    size = path.stat().st_size
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
                left = size - handle.tell()
                if length < _UNKNOWN_SIZE and left < length:
                    raise SoundError(
                        f"{path.name}: the file ends early ({left} of {length} bytes of sound are there); "
                        "copy it again, or save what is there with a sound editor"
                    )
                return
            handle.seek(length + length % 2, 1)


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
        If the file is missing, empty, truncated, not a sound, has no such channel, or holds values that are not
        numbers.

    Notes
    -----
    Chapter ``notebooks/pharyngeal/02_formants``.

    Examples
    --------
    >>> from voicewire import paths
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
        with silent_library():
            about = soundfile.info(path)
        frames = about.frames * about.channels
        if frames > LONGEST:
            raise SoundError(f"{path.name}: {frames} samples are more than can be measured at once; cut the recording")
        samples, rate = soundfile.read(path, dtype="float64", always_2d=True)
    except (soundfile.LibsndfileError, RuntimeError) as error:
        raise SoundError(f"{path.name}: not readable as sound; save it as WAV, FLAC or AIFF") from error
    if samples.shape[0] == 0:
        raise SoundError(f"{path.name}: the file has a header but no sound")
    if not np.isfinite(samples).all():
        raise SoundError(f"{path.name}: the file holds samples that are not numbers; export it again as PCM")
    if channel is None:
        mono = samples.mean(axis=1)
    elif 0 <= channel < samples.shape[1]:
        mono = samples[:, channel]
    else:
        raise SoundError(f"{path.name}: there is no channel {channel}; the file has {samples.shape[1]}")
    return Sound(np.ascontiguousarray(mono), int(rate), path.name)


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

"""A small audio player for notebooks and the published book: the sound lies in the page itself."""

from __future__ import annotations

import base64
import io
import wave
from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voicewire._kit import checks

__all__ = ["Comparison", "Player", "compare", "encode", "player"]

FULL_SCALE = 32767
TARGET = -23.0
"""In LUFS: the level to which EBU R 128 brings every programme."""


class Player:
    """What `player` returns: an audio element with its label as HTML, elsewhere one line of text."""

    def __init__(self, wav: bytes, label: str, seconds: float) -> None:
        self.wav = wav
        self.label = label
        self.seconds = seconds

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.wav).decode("ascii")
        label = escape(self.label)
        # A group with a name, not a figure: two players may stand side by side.
        return (
            f'<div class="vw-audio" role="group" aria-label="{label}"><span class="vw-audio-label">{label} '
            f"({self.seconds:.1f}\u202fs)</span> "
            f'<audio controls aria-label="{label}" src="data:audio/wav;base64,{data}"></audio></div>'
        )

    def __repr__(self) -> str:
        return f"Audio: {self.label} ({self.seconds:.1f} s)"


def player(samples: ArrayLike, rate: float, label: str) -> Player:
    """Make a player of a short sound, 16 bits a sample, for the last expression of a cell.

    Nothing is scaled: what is twice as loud in the array is twice as loud in the ear, and two players can be
    compared. One second at 16 kHz costs about 43 kB of the notebook, so keep clips short.
    """
    if not label.strip():
        raise ValueError("a player needs a label: say what is heard")
    found = checks.plain("samples", samples, ValueError)
    return Player(encode(found, rate), label.strip(), len(found) / rate)


class Comparison:
    """What `compare` returns: a list of players as HTML, of which the book makes one player with a switch."""

    def __init__(
        self, label: str, versions: Mapping[str, tuple[bytes, float, float]], level: float, equal: bool
    ) -> None:
        self.label = label
        self.versions = dict(versions)
        self.level = level
        self.equal = equal

    @property
    def note(self) -> str:
        """What was done to the levels, in one sentence."""
        if self.equal:
            return f"Made equally loud: {self.level:.1f} LUFS by ITU-R BS.1770.".replace("-", "\N{MINUS SIGN}", 1)
        return "Each as loud as it came: the difference is part of what is shown."

    def _repr_html_(self) -> str:
        items = []
        for name, (wav, seconds, gain) in self.versions.items():
            data, words = base64.b64encode(wav).decode("ascii"), escape(name)
            items.append(
                f'<li class="vw-audio" data-gain="{gain:.1f}"><span class="vw-audio-label">{words} '
                f"({seconds:.1f}\u202fs)</span> "
                f'<audio controls aria-label="{words}" src="data:audio/wav;base64,{data}"></audio></li>'
            )
        label = escape(self.label)
        return (
            f'<div class="vw-compare" role="group" aria-label="To compare: {label}" '
            f'data-equal="{"yes" if self.equal else "no"}"><p class="vw-compare-label">{label}</p>'
            f'<ul>{"".join(items)}</ul><p class="vw-compare-note">{self.note}</p></div>'
        )

    def __repr__(self) -> str:
        versions = ", ".join(f"{name} ({seconds:.1f} s)" for name, (_, seconds, _) in self.versions.items())
        return f"Audio to compare, {self.label}: {versions}"


def compare(sounds: Mapping[str, ArrayLike], rate: float, label: str, equal: bool = True) -> Comparison:
    """Make one player of several versions of a sound: the book's page switches between them at the same instant.

    Without the book's script (in JupyterLab, on a slide, in a page without JavaScript) it is a list of players.
    """
    from voicewire_book.kit.loudness import (
        loudness,  # SciPy only where sounds are compared: a page fetches what it imports
    )

    if not isinstance(sounds, Mapping) or len(sounds) < 2:
        raise ValueError("sounds must be a mapping with two or more versions: name the sounds and hand them over")
    if not all(isinstance(words, str) and words.strip() for words in (label, *sounds)):
        raise ValueError("a label and each version's name must say in words what is heard")
    if not isinstance(equal, bool | np.bool_):
        raise ValueError(f"equal must be True or False, not {equal!r}")
    found = {name.strip(): _sixteen_bits(checks.plain(name, each, ValueError)) for name, each in sounds.items()}
    if len(found) < len(sounds):
        raise ValueError("two versions have the same name")
    floats = {name: each / FULL_SCALE for name, each in found.items()}
    levels = {name: loudness(each, rate) for name, each in floats.items()}
    heard = {name: level for name, level in levels.items() if np.isfinite(level)}
    room = [level - 20 * np.log10(np.abs(floats[name]).max()) for name, level in heard.items()]
    target = float(np.floor(10 * min([TARGET, *(level - 0.1 for level in room)])) / 10)
    longest = max(map(len, found.values()))
    versions = {}
    for name, samples in floats.items():
        gain = round(target - heard[name], 1) if name in heard else 0.0
        filled = np.zeros((longest, *samples.shape[1:]))
        filled[: len(samples)] = samples * (10 ** (gain / 20) if equal else 1.0)
        versions[name] = encode(filled.clip(-1, 1), rate), len(samples) / rate, gain
    return Comparison(label.strip(), versions, target, bool(equal))


def encode(samples: ArrayLike, rate: float, bits: int = 16) -> bytes:
    """Return a sound as the bytes of a WAV file."""
    if not isinstance(bits, int) or bits not in (8, 16):
        raise ValueError(f"a sample has 8 or 16 bits here, not {bits}")
    if not 0 < checks.number(nan=True, infinite=True)("rate", rate, ValueError) <= 10**6 or rate != int(rate):
        raise ValueError(f"rate must be a positive whole number of Hz, not {rate}")
    sound = _sixteen_bits(checks.plain("samples", samples, ValueError))
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1 if sound.ndim == 1 else 2)
        out.setsampwidth(bits // 8)
        out.setframerate(int(rate))
        if bits == 16:
            out.writeframes(sound.astype("<i2").tobytes())
        else:  # WAV counts 16 bits around zero, 8 bits around 128
            out.writeframes(np.clip(np.round(sound / 256) + 128, 0, 255).astype(np.uint8).tobytes())
    return file.getvalue()


def _sixteen_bits(samples: NDArray[Any]) -> NDArray[np.int16]:
    if samples.ndim not in (1, 2) or (samples.ndim == 2 and samples.shape[1] != 2):
        raise ValueError(f"samples must have shape (n,) or (n, 2), not {samples.shape}")
    if not samples.size:
        raise ValueError("samples are empty: there is nothing to hear")
    if samples.dtype == np.int16:
        return samples
    if not np.issubdtype(samples.dtype, np.floating):
        raise ValueError(f"samples must be floats from -1 to 1 or 16-bit integers, not {samples.dtype}")
    if not np.isfinite(samples).all():
        raise ValueError("samples must be finite: they hold NaN or infinity")
    peak = float(np.abs(samples).max())
    if peak > 1:
        raise ValueError(f"samples reach {peak:.3g}, beyond full scale: divide them by their peak first")
    return np.round(samples * FULL_SCALE).astype(np.int16)

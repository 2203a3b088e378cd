"""*Put the kettle on*, spoken by a vocal tract: shapes in whole frames, their formants, and the sound of both.

Each target is a shape of `voicewire.pharyngeal.tract`; the vowel of the last word is one of the shapes that the part
on pharyngealized vowels has recorded, plain or emphatic. Explained in notebook ``01_from_mouth_to_kettle``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.signal import fftconvolve, resample_poly

from voicewire._kit import checks
from voicewire.pharyngeal import synthesis, tract
from voicewire.pharyngeal.audio_files import Sound
from voicewire.pharyngeal.tract import Articulation
from voicewire_book.chapters.pharyngeal import vocal_tract_shapes

__all__ = ["FRAME_MS", "LAST_VOWEL", "TELEPHONE", "WORDS", "Phone", "Spoken", "phones", "say", "telephone"]

Array = NDArray[np.float64]

FRAME_MS: Final = 20
"""ms of a frame: the telephone's, so that a sentence is a whole number of packets."""
WORDS: Final = "put the kettle on"
LAST_VOWEL: Final = 8
"""Which of the recorded families of shapes the last word's vowel is."""
TELEPHONE: Final = 8000
"""Samples a second, Hz, from the microphones on."""

_HIGHER: Final = (4500.0, 5500.0, 6500.0, 7400.0)  # F5 to F8, Hz: as the part's own synthesiser has them
_GLIDE: Final = 0.06  # s in which the tract goes from one shape to the next
_ONSET: Final = 0.012  # s in which voice or noise begins and ends


@dataclass(frozen=True)
class Phone:
    """One piece of the sentence.

    Attributes
    ----------
    sign : str
        As phoneticians write it; empty for silence.
    frames : int
        How long, in frames of 20 ms.
    shape : Articulation
        Where the tract is going.
    voice, noise : float
        How strong the glottis' pulses and the noise of a narrow place are, 0 to 1.
    """

    sign: str
    frames: int
    shape: Articulation
    voice: float = 0.0
    noise: float = 0.0

    def __post_init__(self) -> None:
        part = checks.number(0.0, 1.0)
        checks.fields(self, frames=checks.whole(1, 10_000), shape=checks.a(Articulation), voice=part, noise=part)


@dataclass(frozen=True)
class Spoken:
    """A sentence with its truth.

    Attributes
    ----------
    sound : Sound
        The waveform, 16 kHz.
    times : ndarray of float, shape (n,)
        s, one a sample.
    formants : ndarray of float, shape (n, 4)
        F1 to F4 at those times, Hz.
    phones : tuple of Phone
        What was said.
    """

    sound: Sound
    times: Array
    formants: Array
    phones: tuple[Phone, ...]


@checks.takes(emphatic=checks.one_of(False, True))
def phones(emphatic: bool = True) -> tuple[Phone, ...]:
    """Give the sentence as shapes: 150 frames, three seconds."""
    rest = Articulation()
    lips, tip, back = Articulation(lips=0.3), Articulation(tip=0.95), Articulation(dorsum=0.95)
    side, teeth = Articulation(body=0.3, tip=0.7), Articulation(tip=0.6)
    near_u, near_e = Articulation(body=0.5, dorsum=0.4, lips=0.7), Articulation(body=-0.6, jaw=0.3, lips=3.5)
    last = vocal_tract_shapes.load()["tongue" if emphatic else "plain"][LAST_VOWEL]
    return (
        Phone("", 10, rest),
        Phone("p", 5, lips), Phone("ʰ", 2, lips, noise=0.4), Phone("ʊ", 9, near_u, 1.0),
        Phone("t", 4, tip), Phone("ʰ", 2, tip, noise=0.5),
        Phone("ð", 5, teeth, 0.4, 0.08), Phone("ə", 6, rest, 0.8),
        Phone("k", 4, back), Phone("ʰ", 3, back, noise=0.5), Phone("ɛ", 12, near_e, 1.0),
        Phone("t", 4, tip), Phone("ʰ", 2, tip, noise=0.5), Phone("ə", 4, rest, 0.8), Phone("l", 11, side, 0.6),
        Phone("", 5, side),
        Phone("ɒ", 27, last, 1.0), Phone("n", 18, tip, 0.35),
        Phone("", 17, rest),
    )  # fmt: skip


def _smooth(steps: Array, seconds: float) -> Array:
    """Turn steps, shape (n,), into glides of this length."""
    window = np.hanning(round(seconds * synthesis.RATE) | 1)
    half = window.size // 2
    return np.asarray(fftconvolve(np.pad(steps, half, mode="edge"), window / window.sum(), mode="valid"))


@checks.takes(emphatic=checks.one_of(False, True), f0=checks.number(60.0, 300.0), seed=checks.seed)
def say(emphatic: bool = True, f0: float = 118.0, seed: int = 1) -> Spoken:
    """Speak the sentence: the formants of each shape, glides between them, pulses and noise through their cascade."""
    said = phones(emphatic)
    each = np.array([phone.frames for phone in said]) * FRAME_MS * synthesis.RATE // 1000
    goals = np.array([np.minimum(tract.formants(phone.shape).frequencies, 4300.0) for phone in said])
    formants = np.column_stack([_smooth(np.repeat(column, each), _GLIDE) for column in goals.T])
    voice, noise = (
        _smooth(np.repeat([getattr(phone, name) for phone in said], each), _ONSET) for name in ("voice", "noise")
    )
    count = int(each.sum())
    times = np.arange(count) / synthesis.RATE
    pitch = f0 * (1.12 - 0.24 * times / times[-1])
    hiss = np.diff(np.random.default_rng(seed).standard_normal(count + 1))
    source = voice * synthesis.glottal_source(pitch, synthesis.RATE) + 0.12 * noise * hiss
    samples = synthesis.cascade(source, np.hstack([formants, np.tile(_HIGHER, (count, 1))]))
    sound = Sound(0.5 * samples / float(np.max(np.abs(samples))), synthesis.RATE, WORDS)
    return Spoken(sound, times, formants, said)


@checks.takes(sound=checks.a(Sound))
def telephone(sound: Sound) -> Array:
    """Give a sound at the telephone's 8 kHz: what lies above 4 kHz is lost."""
    if sound.rate != 2 * TELEPHONE:
        raise ValueError(f"the sound has {sound.rate} samples a second: {2 * TELEPHONE} are needed")
    return np.asarray(resample_poly(sound.samples, 1, 2))

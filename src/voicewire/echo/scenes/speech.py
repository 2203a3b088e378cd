"""Speech for Figure 2: two voices, synthetic or recorded, dealt out in random order for as long as is needed."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from voicewire._kit import checks, paths
from voicewire._kit._optional import needed
from voicewire.echo import paper

__all__ = ["SENTENCES", "Voices", "talk", "utterances"]

Voices = Literal["synthetic", "recorded"]
"""Praat's two synthetic voices, or two people who read the announcements of a telephone exchange."""

FILES: Final[dict[Voices, str]] = {"synthetic": "speech.flac", "recorded": "voices.flac"}

SENTENCES = (
    "The birch canoe slid on the smooth planks.",
    "Glue the sheet to the dark blue background.",
    "It is easy to tell the depth of a well.",
    "These days a chicken leg is a rare dish.",
    "Rice is often served in round bowls.",
    "The juice of lemons makes fine punch.",
    "The box was thrown beside the parked truck.",
    "Four hours of steady work faced us.",
)
"""Harvard sentences, list 1 (IEEE 1969), as test material for telephony."""

VOICES = ("Male1", "Female1")
_PAUSE = 0.4  # s between sentences
_PEOPLE_EACH = 16  # announcements of each of the two people


def synthesise() -> NDArray[np.float64]:
    """Let Praat's synthesizer read all sentences in both voices, at `paper.RATE` Hz; used once, to record the file."""
    with needed():
        import parselmouth

    pieces = []
    for voice in VOICES:
        speaker = parselmouth.praat.call("Create SpeechSynthesizer", "English (Great Britain)", voice)
        for sentence in SENTENCES:
            sound = parselmouth.praat.call(speaker, "To Sound", sentence, False)
            sound = parselmouth.praat.call(sound, "Resample", paper.RATE, 50)
            pieces += [sound.values[0], np.zeros(int(_PAUSE * paper.RATE))]
    speech = np.concatenate(pieces)
    return speech / np.abs(speech).max() * 0.9


def gather(folder: Path) -> NDArray[np.float64]:
    """Take 16 announcements of each of two people, of 2.5 to 5 s, in alphabetical order; used once, to make the file.
    """
    import soundfile

    pieces: list[NDArray[np.float64]] = []
    for voice in ("it", "ru"):
        read = (soundfile.read(path) for path in sorted(folder.glob(f"{voice}*/*.wav")))
        fit = [sound for sound, rate in read if rate == paper.RATE and 2.5 <= sound.size / rate <= 5.0][:_PEOPLE_EACH]
        if len(fit) < _PEOPLE_EACH:
            raise ValueError(f"{folder}/{voice}* holds {len(fit)} files of 2.5 to 5 s: {_PEOPLE_EACH} are needed")
        for sound in fit:
            pieces += [sound / np.std(sound), np.zeros(int(_PAUSE * paper.RATE))]
    speech = np.concatenate(pieces)
    return speech / np.abs(speech).max() * 0.9


@functools.cache
def _recording(voices: Voices) -> NDArray[np.float64]:
    import soundfile

    samples, rate = soundfile.read(paths.data("echo") / FILES[voices])
    if rate != paper.RATE:
        raise ValueError(f"data/echo/{FILES[voices]} has {rate} Hz, {paper.RATE} are needed: record it again")
    return np.asarray(samples, float)


@checks.takes(voices=checks.one_of(*get_args(Voices)))
def utterances(voices: Voices = "synthetic") -> list[NDArray[np.float64]]:
    """The recorded sentences, cut at the pauses (at least half as long as they were made)."""
    speech = _recording(voices)
    silent = np.abs(speech) < 1e-4
    edges = np.flatnonzero(np.diff(np.concatenate([[0], silent.view(np.int8), [0]])))
    starts, stops = edges[0::2], edges[1::2]
    long = (stops - starts) > 0.35 * paper.RATE
    cuts = (starts[long] + stops[long]) // 2
    return [piece for piece in np.split(speech, cuts) if np.abs(piece).max() > 0.05]


@checks.takes(seconds=checks.number(1e-3, 7200.0), seed=checks.seed, voices=checks.one_of(*get_args(Voices)))
def talk(seconds: float, seed: int, voices: Voices = "synthetic") -> NDArray[np.float64]:
    """Speech of both voices in turn, of the length asked for, with a faint room noise in the pauses.

    Parameters
    ----------
    seconds : float
        Duration.
    seed : int
        Seed of the order and of the noise.
    voices : {"synthetic", "recorded"}
        Whose.

    Returns
    -------
    ndarray of float, shape (N,)
        At `paper.RATE`, of power 1.

    Examples
    --------
    >>> talk(0.5, seed=1).size
    4000
    """
    rng = np.random.default_rng(seed)
    pieces = utterances(voices)
    wanted = int(seconds * paper.RATE)
    dealt: list[NDArray[np.float64]] = []
    size = 0
    while size < wanted:
        piece = pieces[rng.integers(len(pieces))]
        dealt.append(piece)
        size += piece.size
    speech = np.concatenate(dealt)[:wanted]
    return speech / np.std(speech) + 1e-3 * rng.standard_normal(wanted)

"""The negative control: a synthetic Arabic voice in which emphatic consonants do nothing to the vowel.

Praat's own speech synthesiser speaks Arabic, but its rules use the same vowel beside /tˁ/ and /t/. Its output differs
from call to call, so it was recorded once into ``data/pharyngeal`` by ``voicewire record pharyngeal control``.
Explained in notebook ``02_formants``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

from voicewire._kit import paths
from voicewire.pharyngeal import audio_files, formants, textgrid
from voicewire.pharyngeal.textgrid import Interval

__all__ = ["PAIRS", "measured", "record"]

# Pairs of words that differ in emphasis only: (emphatic, plain).
PAIRS: Final = (("طاب", "تاب"), ("صار", "سار"), ("ضال", "دال"), ("طابت", "تابت"), ("صاد", "ساد"), ("ضام", "دام"))
VOWELS: Final = ("a", "aː", "a:", "A", "aa", "A:")
_RATE: Final = 16_000


def record(folder: Path) -> list[Path]:
    """Synthesise every word with Praat's Arabic voice into one WAV and one TextGrid."""
    import soundfile
    from parselmouth.praat import call

    voice = call("Create SpeechSynthesizer", "Arabic", "Male1")
    pieces: list[np.ndarray] = []
    marks: list[Interval] = []
    now = 0.0
    for pair in PAIRS:
        for kind, word in zip(("emphatic", "plain"), pair, strict=True):
            grid, spoken = call(voice, "To Sound", word, True)
            spoken = call(spoken, "Resample", float(_RATE), 50)
            tier = call(grid, "Get number of tiers")
            count = call(grid, "Get number of intervals", tier)
            for index in range(1, count + 1):
                if call(grid, "Get label of interval", tier, index).strip() in VOWELS:
                    start = call(grid, "Get start time of interval", tier, index)
                    end = call(grid, "Get end time of interval", tier, index)
                    marks.append(Interval(kind, now + start, now + end))
                    break
            samples = np.asarray(spoken.values[0], dtype=float)
            pieces.append(samples)
            now += samples.size / _RATE
    samples = np.concatenate(pieces)
    target = folder / "arabic_synthesiser.wav"
    soundfile.write(target, 0.7 * samples / np.max(np.abs(samples)), _RATE, subtype="PCM_16")
    return [target, textgrid.write(folder / "arabic_synthesiser.TextGrid", {"vowel": marks}, samples.size / _RATE)]


def measured() -> pd.DataFrame:
    """Measure the recorded voice: one row a vowel and formant, at mid-vowel, with its context."""
    folder = paths.data("pharyngeal")
    voice = audio_files.read(folder / "arabic_synthesiser.wav")
    grid = textgrid.read(folder / "arabic_synthesiser.TextGrid", voice.duration)
    data = formants.measure(voice, grid.tier("vowel"))
    return data[data["point"] == "midpoint"].reset_index(drop=True)

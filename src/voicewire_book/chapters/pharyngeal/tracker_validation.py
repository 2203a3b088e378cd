"""How wrong are the trackers? Both of them, and Praat's default settings, on vowels whose formants are known.

``voicewire record pharyngeal tracker-errors`` records the full comparison in ``data/pharyngeal``; notebook
``02_formants`` shows it and repeats it on fewer tokens.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from voicewire.pharyngeal import formants, synthesis
from voicewire.pharyngeal.formants import Settings, Tracker

__all__ = ["METHODS", "compare", "errors", "shifts", "summary", "tokens"]

Array = NDArray[np.float64]

GROSS: Final = 150.0  # Hz: beyond this a formant was taken for its neighbour
SEED: Final = 20260707
METHODS: Final[dict[str, tuple[Tracker, Settings]]] = {
    "Praat Burg, male settings": ("praat", formants.MALE),
    "librosa LPC": ("lpc", formants.MALE),
    "Praat default settings": ("praat", formants.PRAAT_DEFAULT),
}


def tokens(speakers: int, repetitions: int, snr: float | None, seed: int = SEED) -> list[synthesis.Token]:
    """Return synthetic tokens of all four contexts (4 x speakers x repetitions)."""
    rng = np.random.default_rng(seed)
    return list(synthesis.corpus(synthesis.speakers(speakers, rng), repetitions, rng, snr))


def errors(items: Iterable[synthesis.Token], tracker: Tracker, settings: Settings) -> Array:
    """Return tracked minus true F1 to F4 (Hz) at mid-vowel, shape (n, 4); NaN where none was found."""
    return np.array(
        [formants.midpoint(token.sound, tracker, settings) - token.at(token.sound.duration / 2) for token in items]
    )


def shifts(items: list[synthesis.Token], tracker: Tracker, settings: Settings) -> dict[str, Array]:
    """Return each speaker's shift of F1 and F2 (Hz) beside the emphatic consonant, as made and as tracked."""
    true = np.array([token.at(token.sound.duration / 2) for token in items])[:, :2]
    tracked = true + errors(items, tracker, settings)[:, :2]

    def of(values: Array, context: str) -> list[Array]:
        names = dict.fromkeys(token.speaker for token in items)
        return [values[[t.context == context and t.speaker == name for t in items]] for name in names]

    def gap(values: Array) -> Array:
        pairs = zip(of(values, "tt"), of(values, "plain"), strict=True)
        return np.array([after.mean(axis=0) - before.mean(axis=0) for after, before in pairs])

    alike = np.array([same[1] - same[0] for same in of(tracked, "plain")])
    return {"true": gap(true), "tracked": gap(tracked), "alike": alike}


def summary(found: Array) -> dict[str, float]:
    """Return RMSE (Hz), gross errors (more than 150 Hz, or nothing found) and bias (Hz) of F1 to F4."""
    row: dict[str, float] = {"tokens": found.shape[0]}
    for k in range(4):
        error = found[:, k]
        row[f"rmse_F{k + 1}"] = float(np.sqrt(np.nanmean(error**2)))
        row[f"bias_F{k + 1}"] = float(np.nanmean(error))
        row[f"gross_F{k + 1}"] = int(np.sum(~(np.abs(error) <= GROSS)))
    return row


def compare(speakers: int, repetitions: int, seed: int = SEED) -> pd.DataFrame:
    """Compare all methods, clean and at 30 dB, on the same tokens: one row a method and noise."""
    rows = []
    for snr in (None, 30.0):
        items = tokens(speakers, repetitions, snr, seed)
        for name, (tracker, settings) in METHODS.items():
            rows.append(
                {"method": name, "noise": "clean" if snr is None else f"{snr:.0f} dB"}
                | summary(errors(items, tracker, settings))
            )
    return pd.DataFrame(rows)

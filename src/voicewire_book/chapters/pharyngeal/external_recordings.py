"""Vowels that others recorded: one Arabic voice's letters, and sentences read aloud; numbers only, no sound is kept.

``python -m voicewire_book.chapters.pharyngeal.external_recordings LETTERS SENTENCES OUT.csv`` makes
``data/pharyngeal/elsewhere.csv`` anew; the folders' sources and licences stand in ``corpora.REGISTRY``. Explained in
notebook ``02_formants``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from voicewire._kit import sheets
from voicewire.pharyngeal import audio_files, formant_plausibility
from voicewire.pharyngeal.textgrid import Interval
from voicewire_book.kit import figures

__all__ = ["COLUMNS", "KINDS", "bands", "by_letter", "letters", "sentences", "write"]

KINDS: Final[dict[str, dict[int, str]]] = {
    "plain": {2: "b", 3: "t", 4: "θ", 8: "d", 9: "ð", 20: "f", 22: "k", 23: "l", 26: "h"},
    "emphatic": {14: "sˁ", 15: "dˁ", 16: "tˁ", 17: "ðˁ"},
    "further back": {6: "ħ", 21: "q"},
}
COLUMNS: Final = (
    "source", "kind", "label", "formant", "frequency", "bandwidth", "confidence", "f0", "ceiling", "reason",
)  # fmt: skip
_VOWELS: Final = {"AA", "AE", "AH", "AO", "EH", "ER", "IH", "IY", "UH", "UW", "AX", "AXR", "IX"}
_SHORTEST: Final = 0.06  # s: a shorter phone has no middle that its neighbours leave alone
_LOUD: Final = 0.3  # of the loudest 40 ms: what is softer isn't the vowel of a letter's name


def _vowel(spoken: audio_files.Sound, label: str) -> Interval:
    """Find the longest stretch that is voiced (150 to 500 Hz) and loud: the long vowel of a letter's name."""
    import parselmouth

    pitch = parselmouth.Sound(spoken.samples, sampling_frequency=spoken.rate).to_pitch_ac(
        0.005, 150.0, pitch_ceiling=500.0
    )
    times = np.asarray(pitch.xs())
    power = np.array([np.std(spoken.part(max(0.0, t - 0.02), t + 0.02)) for t in times])
    taken = (pitch.selected_array["frequency"] > 0) & (power > _LOUD * power.max())
    edges = np.flatnonzero(np.diff(np.concatenate([[False], taken, [False]]).astype(int)))
    if not edges.size:
        raise audio_files.SoundError(f"{spoken.name}: no voice between 150 and 500 Hz; is this a letter's name?")
    first, last = max(zip(edges[::2], edges[1::2] - 1, strict=True), key=lambda pair: pair[1] - pair[0])
    return Interval(label, float(times[first]), float(times[last]))


def _tidy(table: pd.DataFrame, source: str, kind: str) -> pd.DataFrame:
    return table.assign(source=source, kind=kind)[list(COLUMNS)]


def letters(folder: str | Path) -> pd.DataFrame:
    """Measure the long /a/ in the names of fifteen Arabic letters, each said once by a child.

    Notes
    -----
    Each letter is a file of its own, with a ceiling of its own.
    """
    rows = []
    for kind, names in KINDS.items():
        for number, label in names.items():
            spoken = audio_files.read(Path(folder) / f"a-{number:02}.ogg")
            rows.append(_tidy(formant_plausibility.answers(spoken, [_vowel(spoken, label)], "child"), "letters", kind))
    return pd.concat(rows, ignore_index=True)


def sentences(folder: str | Path) -> pd.DataFrame:
    """Measure the vowels of sentences whose phones were aligned, all by one man.

    Notes
    -----
    Vowels shorter than 60 ms are left out.
    """
    rows = []
    for file in sorted(Path(folder).glob("*.phone.json")):
        spoken = audio_files.read(file.with_name(file.name.replace(".phone.json", ".wav")))
        phones = [phone for word in json.loads(file.read_text("utf-8"))["w"] for phone in word.get("w", [])]
        marks = [
            Interval(phone["t"], phone["b"], phone["b"] + phone["d"])
            for phone in phones
            if phone["t"] in _VOWELS and phone["d"] >= _SHORTEST and phone["b"] + phone["d"] <= spoken.duration
        ]
        rows.append(_tidy(formant_plausibility.answers(spoken, marks, "man"), "sentences", "read aloud"))
    if not rows:
        raise audio_files.SoundError(f"{folder}: no NAME.phone.json beside a NAME.wav")
    return pd.concat(rows, ignore_index=True)


def write(letters_folder: str | Path, sentences_folder: str | Path, target: str | Path) -> Path:
    """Measure both and write the numbers."""
    target = Path(target)
    both = pd.concat([letters(letters_folder), sentences(sentences_folder)])
    sheets.to_csv(both, target, index=False, float_format="%.2f", lineterminator="\n")
    return target


def by_letter(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw F2 beside each letter, by the kind of its consonant."""
    ax = figures.new_axes(ax)
    rows = table[table["formant"] == 2]
    named: list[str] = []
    for index, kind in enumerate(KINDS):
        of = rows[rows["kind"] == kind].sort_values("frequency", ascending=False)
        at = np.arange(len(named), len(named) + len(of))
        named += list(of["label"])
        ax.plot(at, of["frequency"] / 1000, figures.MARKERS[index], color=figures.SERIES[index], label=kind)
    ax.set_xticks(range(len(named)), named)
    ax.set(xlabel="consonant of the letter", ylabel="F2 of the /a/ in its name (kHz)", ylim=(1.0, 3.0))
    ax.legend(loc="upper right")
    return figures.origin(ax, "recorded elsewhere")


def bands(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw Peterson and Barney's vowels, the limits that follow for men, women and children, and the letters' own."""
    ax = figures.new_axes(ax, (5.6, 4.2))
    talkers: tuple[formant_plausibility.Talker, ...] = ("man", "woman", "child")
    for index, talker in enumerate(talkers):
        colour, style = figures.SERIES[index], figures.LINESTYLES[index]
        f1, f2, _ = formant_plausibility.tokens(talker).T / 1000
        ax.plot(f2, f1, ".", color=colour, markersize=2, alpha=0.4)
        (low1, low2, _), (high1, high2, _) = formant_plausibility.limits(talker) / 1000
        ax.plot([low2, high2, high2, low2, low2], [low1, low1, high1, high1, low1], style, color=colour, label=talker)
    both = table.pivot_table(index="label", columns="formant", values="frequency").dropna(subset=[1, 2]) / 1000
    ax.plot(both[2], both[1], "k^", markersize=5, label="the letters")
    ax.set(xlabel="F2 (kHz)", ylabel="F1 (kHz)")
    ax.invert_xaxis()
    ax.invert_yaxis()
    ax.legend(fontsize=8.5, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=4, frameon=False)
    return figures.origin(ax, "recorded elsewhere")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("python -m voicewire_book.chapters.pharyngeal.external_recordings LETTERS SENTENCES OUT.csv")
    print(write(*sys.argv[1:]))

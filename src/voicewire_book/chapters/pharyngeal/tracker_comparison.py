"""The book's formant command beside two outside trackers on vowels of known truth, from a man's F0 to a child's.

``voicewire record pharyngeal formants-f0`` makes ``data/pharyngeal/formants_f0.csv`` anew; it needs Snack, the sound
toolkit with Entropic's tracker (Debian's tcl-snack). Explained in notebook ``02_formants``.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from voicewire._kit import checks, sheets
from voicewire.pharyngeal import audio_files as sounds
from voicewire.pharyngeal import formant_plausibility, formants, synthesis
from voicewire.pharyngeal.audio_files import Sound
from voicewire_book.kit import figures

__all__ = ["NAMES", "NOISES", "TALKERS", "by_pitch", "over_pitch", "record", "spoken"]

NAMES: Final = {"book": "the book's command", "praat": "Praat's defaults", "snack": "Snack's defaults"}
TALKERS: Final[dict[int, formant_plausibility.Talker]] = {
    80: "man", 120: "man", 160: "man", 200: "woman", 250: "woman", 300: "child",
}  # fmt: skip
NOISES: Final = (40, 20, 10)  # dB
_SCALES: Final = {"man": 1.0, "woman": 1.15, "child": 1.3}  # of the formants above F3, which aren't in the table
_HIGHER: Final = (3500.0, 4500.0, 5500.0)  # Hz, a man's
_SEED: Final = 20261123
_EACH: Final = 16  # vowels a condition
_SCRIPT: Final = """package require sound
foreach file $argv {
    sound s -load $file
    set frames [s formant]
    puts [lrange [lindex $frames [expr {[llength $frames] / 2}]] 0 1]
    s destroy
}
"""


@checks.takes(rng=checks.a(np.random.Generator), f0=checks.one_of(*TALKERS), snr=checks.number())
def spoken(rng: np.random.Generator, f0: int, snr: float) -> tuple[NDArray[np.float64], Sound]:
    """Make a steady vowel with one of Peterson and Barney's triples of formants, and noise.

    Notes
    -----
    Equation ``eq-pharyngeal-klatt``.
    """
    talker = TALKERS[f0]
    own = dict(formant_plausibility._tokens())[talker]
    truth = own[rng.integers(len(own))]
    scaled = [f * _SCALES[talker] for f in _HIGHER]
    rate, n = synthesis.RATE, round(0.2 * synthesis.RATE)
    all_ = np.array([*truth, *(f for f in scaled if truth[2] + 300 < f < 0.475 * rate)])
    source = synthesis.glottal_source(np.linspace(1.02, 0.98, n) * f0, rate)
    y = synthesis.cascade(source, np.tile(all_, (n, 1)), rate, synthesis.BANDWIDTHS[: all_.size])
    y = y + rng.normal(size=n) * y.std() * 10 ** (-snr / 20)
    return truth, Sound(0.5 * y / np.abs(y).max(), rate, f"{f0} Hz")


def _snack(vowels: Sequence[Sound]) -> list[list[float]]:
    """F1 and F2 (Hz) in the middle of each sound, by Snack with its defaults."""
    import soundfile

    shell = shutil.which("tclsh")
    if shell is None:
        raise sounds.SoundError("no tclsh is installed; Snack runs in it (Debian: tcl-snack)")
    with tempfile.TemporaryDirectory() as folder:
        script, files = Path(folder) / "formant.tcl", [Path(folder) / f"{k}.wav" for k in range(len(vowels))]
        script.write_text(_SCRIPT, "utf-8")
        for file, vowel in zip(files, vowels, strict=True):
            soundfile.write(file, vowel.samples, vowel.rate, subtype="PCM_16")
        command = [shell, str(script), *map(str, files)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        why = (ran.stderr.strip() or "it gave no reason").splitlines()[0]
        raise sounds.SoundError(f"Snack did not run: {why}; is tcl-snack installed?")
    return [[float(value) for value in line.split()] for line in ran.stdout.splitlines()]


@checks.takes(each=checks.whole(1, 10_000))
def record(folder: str | Path, each: int = _EACH) -> Path:
    """Measure the same vowels with all three and write what they said beside the truth.

    Notes
    -----
    The command is told whose voice it is; the two others keep the
    settings they come with, which know no talker.
    """
    rng = np.random.default_rng(_SEED)
    cases = [(f0, snr, *spoken(rng, f0, snr)) for f0 in TALKERS for snr in NOISES for _ in range(each)]
    snack = _snack([case[3] for case in cases])
    rows: list[tuple[float, ...]] = []
    for (f0, snr, truth, vowel), outside in zip(cases, snack, strict=True):
        own = formant_plausibility.answers(vowel, talker=TALKERS[f0])["frequency"].to_numpy()
        praat = formants.midpoint(vowel, "praat", formants.PRAAT_DEFAULT)
        rows += [(f0, snr, k + 1, truth[k], own[k], praat[k], outside[k]) for k in (0, 1)]
    table = pd.DataFrame(rows, columns=["f0", "snr", "formant", "true", *NAMES])
    target = Path(folder) / "formants_f0.csv"
    sheets.to_csv(table, target, index=False, float_format="%.1f", lineterminator="\n")
    return target


@checks.takes(table=checks.table)
def by_pitch(table: pd.DataFrame) -> pd.DataFrame:
    """Return each tracker's median error and share refused, by formant, noise and F0."""
    rows = []
    for (formant, snr, f0), of in table.groupby(["formant", "snr", "f0"]):
        for name in NAMES:
            off = (of[name].astype(float) - of["true"]).abs()
            rows.append((formant, snr, f0, name, float(off.median()), float(off.isna().mean())))
    return pd.DataFrame(rows, columns=["formant", "snr", "f0", "tracker", "error", "refused"])


@checks.takes(table=checks.table, snr=checks.number())
def over_pitch(table: pd.DataFrame, snr: float = 20, axes: Sequence[Axes] | None = None) -> list[Axes]:
    """Draw the median errors of F1 and F2 over F0, with the middle half of the vowels."""
    kept = table[table["snr"] == snr]
    if kept.empty:
        raise ValueError(f"no vowel at {snr:g} dB; the table has {', '.join(map(str, sorted(set(table['snr']))))}")
    pair = list(plt.subplots(1, 2, figsize=(7.7, 3.6), sharex=True)[1]) if axes is None else list(axes)
    for ax, formant in zip(pair, (1, 2), strict=True):
        rows = kept[kept["formant"] == formant]
        for index, (name, said) in enumerate(NAMES.items()):
            off = (rows[name].astype(float) - rows["true"]).abs().groupby(rows["f0"])
            low, middle, high = (off.quantile(q) for q in (0.25, 0.5, 0.75))
            at = middle.index.to_numpy(dtype=float) + 4.0 * (index - 1)
            ax.errorbar(
                at, middle, np.array([middle - low, high - middle]), fmt=figures.MARKERS[index], label=said,
                color=figures.SERIES[index], linestyle=figures.LINESTYLES[index], capsize=2,
            )  # fmt: skip
        ax.set_title(f"F{formant}", loc="left")
        ax.set(xlabel="F0 (Hz)", ylabel="absolute error (Hz)", ylim=(0, None))
        figures.origin(ax, "simulated here")
    pair[0].set_ylim(top=1.45 * pair[0].get_ylim()[1])  # room for the legend
    pair[0].legend(loc="upper left")
    return pair

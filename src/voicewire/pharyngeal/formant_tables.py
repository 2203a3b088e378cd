"""Formants of recordings as one table: of a file, samples, a Praat Sound, or a folder of sounds and TextGrids."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from voicewire._kit import checks
from voicewire.pharyngeal import audio_files, formant_plausibility
from voicewire.pharyngeal import formants as trackers
from voicewire.pharyngeal import textgrid as textgrids
from voicewire.pharyngeal.audio_files import Sound, SoundError
from voicewire.pharyngeal.formant_plausibility import TALKERS, Talker
from voicewire.pharyngeal.textgrid import Interval, TextGridError

__all__ = ["COLUMNS", "figure", "formants", "labelled"]

COLUMNS: Final = (
    "file", "label", "start", "end", "time", "F1", "F2", "F3", "F4", "confidence", "pitch", "intensity", "duration",
    "reason",
)  # fmt: skip
_SUFFIXES: Final = (".wav", ".flac", ".aif", ".aiff", ".ogg")
_OTHERS: Final = (
    ".mp3", ".m4a", ".aac", ".wma", ".opus", ".oga", ".mp4", ".webm", ".amr", ".3gp", ".au", ".snd", ".aifc", ".w64",
    ".rf64", ".caf", ".wave", ".sph", ".nist", ".raw", ".pcm",
)  # fmt: skip
_ACCEPTED: Final = "a file, a folder, (y, sr) with an array y, a Sound of Praat's or of this package"
_CONSTANT: Final = 1.0  # of the level of the sound itself: less moves F1 by a hundredth at most
_HEARING: Final = 2e-5  # Pa: Praat takes full scale for 1 Pa, and gives dB above this


def _pairs(folder: Path) -> tuple[list[tuple[Path, Path | None]], list[str], list[str]]:
    """Return a folder's sounds, each with the TextGrid of its name (None without); what is none; what can't be used."""
    shown = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    files = [path for path in shown if path.is_file()]
    known = (*_SUFFIXES, ".textgrid")
    notes, failed = [], []
    for path in shown:
        if path.suffix.lower() in known and path.is_dir():
            notes.append(f"{path.name} was passed over: it is a folder")
        elif path.suffix.lower() in known and not path.is_file():
            failed.append(f"{path.name} is a link to nothing, or no regular file; the file was passed over")
        elif path.suffix.lower() in _OTHERS and not path.is_dir():
            only = f"of a folder only {', '.join(_SUFFIXES)} are read"
            notes.append(f"{path.name} was passed over: {only}; save it as WAV, or name it alone")
    below = [path.name for path in shown if path.is_dir() and any(_is_sound(each) for each in path.rglob("*"))]
    if below:
        notes.append(f"folders with sounds in this folder were passed over: {', '.join(below)}; name them as well")
    grids: dict[str, list[Path]] = {}
    sounds: dict[str, list[Path]] = {}
    for path in files:
        if path.suffix.lower() in known:
            (sounds if path.suffix.lower() in _SUFFIXES else grids).setdefault(path.stem, []).append(path)
    if not sounds:
        none = f"{folder}: no sound files ({', '.join(_SUFFIXES)}) in this folder"
        raise SoundError("; ".join([none, *notes, *failed]))
    for stem, several in grids.items():
        alike = sounds.get(stem, [])
        names = ", ".join(path.name for path in (*alike, *several))
        if not alike:
            notes += [f"{path.name} was passed over: there is no sound of this name" for path in several]
        elif len(alike) > 1 or len(several) > 1:
            failed.append(f"{names} share one name: rename them, each with its TextGrid; the files were passed over")
            del sounds[stem]
    bare = sorted(path.name for stem, alike in sounds.items() if stem not in grids for path in alike)
    if bare and grids:
        more = f" and {len(bare) - 5} more" if len(bare) > 5 else ""
        notes.append(f"{', '.join(bare[:5])}{more}: no TextGrid of this name, so measured once, in the middle")
    taken = sorted(path for alike in sounds.values() for path in alike)
    return [(path, grids.get(path.stem, [None])[0]) for path in taken], notes, failed


def _is_sound(path: Path) -> bool:
    return path.suffix.lower() in _SUFFIXES and not path.name.startswith(".")


def _array(source: Any) -> NDArray[np.float64]:
    """Return samples as numbers from -1 to 1; whole numbers by their type's full scale."""
    try:
        samples = np.asarray(source) if isinstance(source, list | tuple) or hasattr(source, "__array__") else None
    except ValueError:  # lists of different lengths
        samples = None
    if samples is None or samples.ndim == 0:
        raise SoundError(f"an object of type {type(source).__name__} is no sound: give {_ACCEPTED}")
    if samples.size == 0:
        raise SoundError("the array holds no sample")
    if samples.dtype.kind == "f" or (samples.dtype.kind == "i" and isinstance(source, list | tuple)):
        return samples.astype(float)
    if samples.dtype in (np.int8, np.int16, np.int32):
        return np.asarray(samples / 2.0 ** (8 * samples.dtype.itemsize - 1), dtype=float)
    if samples.dtype == np.uint8:  # as in WAV files of 8 bits: silence lies in the middle
        return np.asarray(samples / 128.0 - 1.0, dtype=float)
    raise SoundError(f"samples of type {samples.dtype} are no sound: give floats from -1 to 1, int16 or int32")


def _sounded(source: Any, sr: float | None, channel: int | None) -> tuple[Sound, float]:
    """Return samples or a Praat Sound as our `Sound`, and the time (s) at which it begins."""
    praats = type(source).__module__.partition(".")[0] == "parselmouth" and hasattr(source, "sampling_frequency")
    if isinstance(source, Sound) or praats:
        own = float(source.rate if isinstance(source, Sound) else source.sampling_frequency)
        if sr is not None and sr != own:
            raise SoundError(f"this sound has its own rate, {own:g} Hz, not {sr} Hz; leave sr out")
        if isinstance(source, Sound):
            return source, 0.0
        samples, rate, start = np.asarray(source.values, float), own, float(source.xmin)
    else:
        if isinstance(source, tuple) and len(source) == 2 and not hasattr(source[1], "__len__"):
            if sr is not None:
                raise SoundError("give the rate once: as (y, sr), or as sr")
            source, sr = source
        samples = np.atleast_2d(_array(source))
        if sr is None:
            raise SoundError("samples need their rate in Hz: give (y, sr)")
        rate, start = sr, 0.0
        if samples.ndim == 2 and samples.shape[1] < samples.shape[0]:  # soundfile has (n, channels), librosa the other
            samples = samples.T
    if not isinstance(rate, int | float | np.number | np.ndarray) or not np.isreal(rate) or not float(rate) > 0:
        raise SoundError(f"a rate of {rate!r} is none: give the samples a second, in Hz")
    if not float(rate).is_integer():
        raise SoundError(f"a rate of {rate} Hz is no whole number; resample the sound first")
    if samples.ndim != 2:
        raise SoundError(f"samples of shape {samples.shape} are no sound: one or two dimensions are")
    mono = audio_files.one_channel([samples.T], channel, samples.shape[0], "sound")
    return Sound(mono, int(rate)), start


def labelled(
    source: Any, grid: str | Path | None, notes: list[str], *,
    tier: str | int | None = None, channel: int | None = None, sr: float | None = None,
) -> tuple[Sound, float, tuple[Interval, ...] | None]:  # fmt: skip
    """Read a sound, when it begins (s), and its labels, None without a TextGrid; what is odd is added to the notes."""
    if isinstance(source, str | Path):
        sound, origin = audio_files.read(source, channel), 0.0
        if sr is not None and sr != sound.rate:
            raise SoundError(f"{sound.name} has {sound.rate} Hz, not {sr} Hz; leave sr out")
    else:
        sound, origin = _sounded(source, sr, channel)
    notes += [f"{sound.name}: {note}" for note in sound.notes]
    constant = float(sound.samples.mean()) if sound.samples.size else 0.0
    if abs(constant) > _CONSTANT * float(sound.samples.std()) > 0:
        sound = replace(sound, samples=sound.samples - constant)
        notes.append(f"{sound.name}: a constant of {constant:.2g} of full scale was taken out")
    if grid is None:
        return sound, origin, None
    whole = textgrids.read(grid).fitted(sound.duration, origin)
    notes += [f"{whole.name}: {note}" for note in whole.notes]
    marks = whole.tier(tier)
    if not marks:
        raise TextGridError(f"{whole.name}: the tier holds no labelled interval")
    return sound, origin, marks


def _fourth(sound: Sound, rows: pd.DataFrame) -> NDArray[np.float64]:
    """Return F4 (Hz), Praat's next narrow pole above an F3 that has a number, at the ceiling of F1 to F3."""
    found = np.full(len(rows), np.nan)
    ceiling = float(rows["ceiling"].iloc[0]) if len(rows) else np.nan
    if np.isfinite(ceiling) and rows["F3"].notna().any():
        track = trackers.track(sound, "praat", trackers.Settings(ceiling=ceiling))
        for k, (time, third) in enumerate(zip(rows["time"], rows["F3"], strict=True)):
            poles, _ = track.at(float(time))
            above = poles[poles > 1.05 * third]
            found[k] = above.min() if above.size else np.nan
    return found


def _intensity(samples: NDArray[np.float64]) -> float:
    power = float(np.mean(samples**2)) if samples.size else 0.0
    return 10 * float(np.log10(power / _HEARING**2)) if power > 0 else np.nan


def _joined(reasons: list[str]) -> str:
    """Return one reason for all three numbers, or each with its number."""
    causes = {each.partition(": ")[2] for each in reasons}
    return causes.pop() if len(reasons) == 3 and len(causes) == 1 else "; ".join(reasons)


def _rows(sound: Sound, marks: Sequence[Interval] | None, talker: Talker) -> pd.DataFrame:
    long = formant_plausibility.answers(sound, marks, talker)
    first = long[long["formant"] == 1].reset_index(drop=True)
    rows = first[["file", "label", "start", "end", "time", "ceiling"]].copy()
    sure = np.full((3, len(rows)), np.nan)
    reasons: list[list[str]] = [[] for _ in range(len(rows))]
    for k in (1, 2, 3):
        one = long[long["formant"] == k].reset_index(drop=True)
        rows[f"F{k}"] = one["frequency"]
        sure[k - 1] = one["confidence"].where(one["frequency"].notna())
        for said, reason in zip(reasons, one["reason"], strict=True):
            said += [f"F{k}: {reason}"] * (reason != "")
    rows["F4"] = _fourth(sound, rows)
    none = np.isnan(sure).all(axis=0)
    rows["confidence"] = np.where(none, 0.0, np.min(np.nan_to_num(sure, nan=1.0), axis=0))
    rows["pitch"] = first["f0"]
    rows["intensity"] = [_intensity(sound.part(a, b)) for a, b in zip(rows["start"], rows["end"], strict=True)]
    rows["duration"] = rows["end"] - rows["start"]
    rows["reason"] = [_joined(said) for said in reasons]
    return rows[list(COLUMNS)]


@checks.takes(
    channel=checks.maybe(checks.whole(0, 1000)), talker=checks.one_of(*TALKERS),
    certain=checks.maybe(checks.number(0.0, 1.0)),
)  # fmt: skip
def formants(
    source: Any,
    sr: float | None = None,
    *,
    textgrid: str | Path | None = None,
    tier: str | int | None = None,
    talker: Talker = "any",
    channel: int | None = None,
    certain: float | None = None,
) -> pd.DataFrame:
    """Measure F1 to F4, pitch and intensity in the middle of each label, or of whole sounds, as a tidy table.

    Parameters
    ----------
    source : str, Path, tuple of (ndarray, float), parselmouth.Sound or Sound
        A sound file; a folder of sound files, each with a TextGrid of its name or without; samples (from -1 to 1, or
        integers, which are divided by their type's full scale; of shape (n,), (n, channels) or (channels, n)) with
        their rate in Hz; or a sound of Praat's.
    sr : float, optional
        Rate of samples that are given without, Hz; refused if a sound has another of its own.
    textgrid : str or Path, optional
        TextGrid of a single sound; a file without one looks for none.
    tier : str or int, optional
        Interval tier of the labels, or its number, from 1, if a TextGrid has several; refused without a TextGrid.
    talker : {"any", "man", "woman", "child"}
        Whose limits and ceilings.
    channel : int, optional
        Channel to take, from 0; None takes the mean of all.
    certain : float, optional
        Keep only the labels whose confidence is above this, from 0 to 1, such as 0.5.

    Returns
    -------
    pandas.DataFrame
        A row a label: file, label, start, end, time (s), F1 to F4 (Hz, NaN without a number), confidence (0 to 1, the
        lowest of F1 to F3 that have a number; F4 is not judged), pitch (Hz), intensity (dB above 2e-5, as Praat has
        it), duration (s), reason ("", or why numbers are missing). What was odd or passed over stands in
        ``attrs["notes"]`` and is a warning; ``attrs["failed"]`` counts the notes on sounds that could not be measured.

    Raises
    ------
    SoundError
        For what is no sound, a folder without, or a rate that is not the sound's.
    TextGridError
        For a TextGrid that can't be read or is not the sound's. In a folder such a file is passed over, with a warning.

    Examples
    --------
    >>> from voicewire._kit import paths
    >>> table = formants(paths.data("pharyngeal"), talker="man", certain=0.5)
    >>> bool((table["confidence"] > 0.5).all())
    True
    """
    notes: list[str] = []
    failed: list[str] = []
    tables: list[pd.DataFrame] = []
    folder = isinstance(source, str | Path) and Path(source).is_dir()
    if folder and textgrid is not None:
        raise TextGridError("a folder's TextGrids are those of its sounds' names; leave textgrid out")
    work: list[tuple[Any, str | Path | None]] = [(source, textgrid)]
    if folder:
        found, notes, failed = _pairs(Path(source))
        work = list(found)
    if tier is not None and work and all(grid is None for _, grid in work):
        raise TextGridError(f"tier {tier!r} is of no use without a TextGrid; name one, or leave tier out")
    for each, grid in work:
        try:
            sound, origin, marks = labelled(each, grid, notes, tier=tier, channel=channel, sr=sr)
            rows = _rows(sound, marks, talker)
        except (SoundError, TextGridError) as error:
            if not folder:
                raise
            failed.append(f"{error}; the file was passed over")
            continue
        rows[["start", "end", "time"]] += origin
        tables.append(rows)
    notes += failed
    if not tables:
        raise SoundError("; ".join(notes))
    table = pd.concat(tables, ignore_index=True)
    if certain is not None:
        kept = table["confidence"] > certain
        if not kept.all():
            notes.append(f"{int((~kept).sum())} of {len(table)} labels are no surer than {certain:g} and were left out")
        table = table[kept].reset_index(drop=True)
    table.attrs |= {"notes": notes, "failed": len(failed)}
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return table


def figure(table: pd.DataFrame, target: str | Path) -> Path:
    """Draw the vowels of a table by F2 and F1, the labels as text, and save it; what is doubtful is pale."""
    from matplotlib.figure import Figure

    shown = table[table["F1"].notna() & table["F2"].notna()]
    drawing = Figure(figsize=(6, 5), layout="constrained")
    ax = drawing.subplots()
    for k, (label, rows) in enumerate(shown.groupby("label", sort=True)):
        pale = np.where(rows["confidence"] > 0.5, 1.0, 0.35)
        name = str(label).replace("$", r"\$")
        for f2, f1, alpha in zip(rows["F2"], rows["F1"], pale, strict=True):
            ax.plot(f2, f1, ".", color=f"C{k % 10}", alpha=alpha)
            ax.annotate(name, (f2, f1), (3, 3), textcoords="offset points", color=f"C{k % 10}", alpha=alpha)
    ax.set(xlabel="F2 (Hz)", ylabel="F1 (Hz)")
    ax.set_title(f"{len(shown)} of {len(table)} labels have F1 and F2; pale: confidence up to 0.5", fontsize=9)
    ax.invert_xaxis()
    ax.invert_yaxis()
    drawing.savefig(target, dpi=150)
    return Path(target)

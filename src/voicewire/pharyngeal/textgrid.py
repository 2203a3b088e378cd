"""TextGrids in and out: Praat's long and short text, UTF-8 and UTF-16, and its binary format.

Explained in notebook ``02_formants``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Grid", "Interval", "TextGridError", "read", "write"]

from voicewire._kit import checks


class TextGridError(ValueError):
    """A TextGrid that cannot be used; the message names the file, what is wrong and what to do.

    Examples
    --------
    >>> try:
    ...     Grid({}, 1.0).tier("vowels")
    ... except TextGridError as error:
    ...     print("no such tier")
    no such tier
    """


@dataclass(frozen=True)
class Interval:
    """A labelled stretch of a sound, in seconds.

    Attributes
    ----------
    label : str
    start, end : float
        s.

    Examples
    --------
    >>> Interval("a", 0.1, 0.3).label
    'a'
    """

    label: str
    start: float
    end: float

    def __post_init__(self) -> None:
        checks.fields(self, TextGridError, start=checks.number(), end=checks.number())
        if self.end < self.start:
            raise TextGridError(f"the interval {self.label!r} ends at {self.end:g} s and begins at {self.start:g} s")


@dataclass(frozen=True)
class Grid:
    """Interval tiers by name, and the time (s) at which the grid ends.

    Attributes
    ----------
    tiers : dict of str to tuple of Interval
        By name.
    end : float
        s.

    Examples
    --------
    >>> len(Grid({"vowels": (Interval("a", 0.0, 0.2),)}, 1.0).tier("vowels"))
    1
    """

    tiers: dict[str, tuple[Interval, ...]]
    end: float
    name: str = "TextGrid"

    def tier(self, name: str | None = None) -> tuple[Interval, ...]:
        """Return the labelled intervals of a tier (the only one, if no name is given).

        Parameters
        ----------
        name : str, optional
            Of the tier.

        Returns
        -------
        tuple of Interval

        Raises
        ------
        TextGridError
            If there is no such tier, or none was named and there are several.
        """
        have = ", ".join(map(repr, self.tiers)) or "none"
        if name is None:
            if len(self.tiers) != 1:
                raise TextGridError(f"{self.name}: name one tier; there are interval tiers {have}")
            return next(iter(self.tiers.values()))
        if name not in self.tiers:
            raise TextGridError(f"{self.name}: there is no interval tier {name!r}; there are {have}")
        return self.tiers[name]


def _text(raw: bytes, path: Path) -> str:
    if raw.startswith(b"ooBinaryFile"):
        return _from_binary(path)
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig")):
        if raw.startswith(mark):
            return raw.decode(encoding, errors="replace")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")  # what old versions of Praat write


def _from_binary(path: Path) -> str:
    import parselmouth

    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.TextGrid"
        try:
            parselmouth.read(str(path)).save_as_text_file(str(plain))
        except parselmouth.PraatError as error:
            raise TextGridError(f"{path.name}: a binary TextGrid that Praat cannot read; save it as text") from error
        return _text(plain.read_bytes(), plain)


def read(path: str | Path, sound_duration: float | None = None) -> Grid:
    """Read a TextGrid and, if the sound's duration is given, check that it belongs to it.

    Parameters
    ----------
    path : str or Path
        The file.
    sound_duration : float, optional
        Seconds; grid and sound may differ by 50 ms.

    Returns
    -------
    Grid
        Interval tiers with their labelled, non-empty intervals; point tiers are left out.

    Raises
    ------
    TextGridError
        If the file is missing, empty, no TextGrid, or ends at another time than the sound.

    Examples
    --------
    >>> from voicewire._kit import paths
    >>> bool(read(paths.data("pharyngeal") / "arabic_synthesiser.TextGrid").tiers)
    True
    """
    from praatio import textgrid
    from praatio.utilities import textgrid_io

    path = Path(path)
    if not path.is_file():
        raise TextGridError(f"{path}: there is no such file")
    raw = path.read_bytes()
    if not raw.strip():
        raise TextGridError(f"{path.name}: the file is empty; save the TextGrid again")
    text = _text(raw, path)
    if "TextGrid" not in text[:200]:
        raise TextGridError(f"{path.name}: this is no TextGrid; save it from Praat with 'Save as text file'")
    try:
        parsed = textgrid_io.parseTextgridStr(text.replace("\r\n", "\n"), False)
        tiers = parsed["tiers"]
        end = float(parsed["xmax"])
        found = {
            str(tier["name"]): tuple(
                Interval(str(label), float(start), float(stop)) for start, stop, label in tier["entries"] if label
            )
            for tier in tiers
            if tier["class"] == textgrid.constants.INTERVAL_TIER
        }
    except Exception as error:  # praatio raises whatever its parser stumbles over
        raise TextGridError(f"{path.name}: the TextGrid is damaged or cut short; save it again") from error
    names = [str(tier["name"]) for tier in tiers if tier["class"] == textgrid.constants.INTERVAL_TIER]
    if len(names) > len(found):
        twice = next(name for name in names if names.count(name) > 1)
        raise TextGridError(f"{path.name}: several interval tiers have the name {twice!r}; give each its own")
    if not found:
        raise TextGridError(f"{path.name}: no interval tier; vowels must stand in an interval tier")
    for name, intervals in found.items():
        for interval in intervals:
            if not 0 <= interval.start < interval.end <= end + 1e-6:
                raise TextGridError(f"{path.name}: tier {name!r}: {interval.label!r} has no proper start and end")
    if sound_duration is not None and abs(end - sound_duration) > 0.05:
        raise TextGridError(
            f"{path.name}: the grid ends at {end:.3f} s, the sound at {sound_duration:.3f} s; they differ"
        )
    return Grid(found, end, path.name)


def write(path: str | Path, tiers: dict[str, Sequence[Interval]], end: float) -> Path:
    """Write interval tiers as a TextGrid (long text format, UTF-8) that Praat opens.

    Parameters
    ----------
    path : str or Path
        File to write.
    tiers : dict of str to sequence of Interval
        By name.
    end : float
        Where the grid ends, s.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    TextGridError
        If intervals overlap or reach beyond ``end``, or there are none.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write(f"{folder}/a.TextGrid", {"vowels": [Interval("a", 0.0, 0.2)]}, 1.0)
    ...     read(file).tier("vowels")[0].end
    0.2
    """
    from praatio import textgrid
    from praatio.utilities.errors import PraatioException

    if not any(tiers.values()):
        raise TextGridError("there are no intervals to write")
    grid = textgrid.Textgrid(0.0, end)
    try:
        for name, intervals in tiers.items():
            entries = [(item.start, item.end, item.label) for item in intervals]
            if any(item.start < 0 or item.end > end for item in intervals):
                raise TextGridError(f"tier {name!r} reaches beyond the sound's {end:.3f} s")
            grid.addTier(textgrid.IntervalTier(name, entries, 0.0, end))
        grid.save(str(path), format="long_textgrid", includeBlankSpaces=True)
    except PraatioException as error:
        raise TextGridError(f"tier cannot be written: {error}") from error
    return Path(path)

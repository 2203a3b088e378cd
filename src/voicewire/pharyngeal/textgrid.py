"""TextGrids in and out: what Praat reads (`textgrid_format`), and times counted from the sound's start.

Explained in notebook ``02_formants``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

__all__ = ["Grid", "Interval", "TextGridError", "read", "write"]

from voicewire._kit import checks
from voicewire.pharyngeal import textgrid_format

_INSTANT: Final = 1e-3  # s: a grid that begins so near to 0 begins at 0
SLACK: Final = 0.05  # s: TextGrid and sound may differ by it


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
    """Interval tiers by name, and the times (s) at which the grid begins and ends.

    Attributes
    ----------
    tiers : dict of str to tuple of Interval
        Labelled intervals by name of their tier; a name that several interval tiers have stands in ``every`` alone.
    end : float
        s.
    name : str
        Of the file.
    start : float
        s; not 0 for what Praat extracted with its times preserved.
    points : dict of str to tuple of Interval
        Point tiers; start and end of a point are the same.
    every : tuple of (str, tuple of Interval or None)
        All tiers in Praat's order, by name; None for a point tier.
    notes : tuple of str
        What was passed over.

    Examples
    --------
    >>> len(Grid({"vowels": (Interval("a", 0.0, 0.2),)}, 1.0).tier("vowels"))
    1
    """

    tiers: dict[str, tuple[Interval, ...]]
    end: float
    name: str = "TextGrid"
    start: float = 0.0
    points: dict[str, tuple[Interval, ...]] = field(default_factory=dict)
    every: tuple[tuple[str, tuple[Interval, ...] | None], ...] = ()
    notes: tuple[str, ...] = ()

    def tier(self, name: str | int | None = None) -> tuple[Interval, ...]:
        """Return the labelled intervals of a tier (the only interval tier, if no name is given).

        Parameters
        ----------
        name : str or int, optional
            Of the tier, or its number among all tiers, from 1, as Praat counts.

        Returns
        -------
        tuple of Interval

        Raises
        ------
        TextGridError
            If there is no such tier, several have this name, or none was named and there are several.
        """
        every = self.every or tuple(self.tiers.items())
        numbered = {k: (own, marks) for k, (own, marks) in enumerate(every, 1) if marks is not None}
        have = ", ".join(repr(own) for own, _ in numbered.values())
        if not have:
            raise TextGridError(f"{self.name}: no interval tier; vowels must stand in an interval tier")
        if name is None:
            if len(numbered) != 1:
                numbers = ", ".join(f"{k} {own!r}" for k, (own, _) in numbered.items())
                raise TextGridError(f"{self.name}: name one tier, or its number; there are interval tiers {numbers}")
            (chosen,) = numbered
        else:
            named = [k for k, (own, _) in numbered.items() if own == name]
            if len(named) > 1:
                numbers = " or ".join(map(str, named))
                raise TextGridError(
                    f"{self.name}: several interval tiers have the name {name!r}; take one by its number, {numbers}"
                )
            if named:
                (chosen,) = named
            elif str(name).isdecimal() and int(name) in numbered:
                chosen = int(name)
            else:
                raise TextGridError(f"{self.name}: there is no interval tier {name!r}; there are {have}")
        marks = numbered[chosen][1]
        assert marks is not None
        return marks

    def fitted(self, duration: float, origin: float = 0.0) -> Grid:
        """Return the grid with its times counted from the start of a sound of this duration (s).

        Praat's *Extract part* with *preserve times* makes grids that begin when the part does, and a sound file has no
        such time: where grid and sound are equally long, the grid's start is subtracted.

        Parameters
        ----------
        duration : float
            Of the sound, s; the grid may differ by 50 ms.
        origin : float
            When the sound begins, s: 0 for files; a Sound of Praat's may begin later.

        Returns
        -------
        Grid
            That begins at 0.

        Raises
        ------
        TextGridError
            If the grid is not the sound's by its times.
        """
        longer, later = abs(self.end - self.start - duration), abs(self.end - origin - duration)
        together = abs(self.start - origin) <= _INSTANT
        if together and origin == 0 and longer <= SLACK + _INSTANT:
            return self
        if not together and self.start != 0 and origin == 0 and longer <= SLACK and longer <= later:
            note = f"the grid begins at {self.start:g} s and is as long as the sound: this was subtracted"
        elif together and longer <= SLACK:
            note = ""
        elif self.start == 0 and origin == 0:
            raise TextGridError(
                f"{self.name}: the grid ends at {self.end:.3f} s, the sound at {duration:.3f} s; they differ"
            )
        else:
            raise TextGridError(
                f"{self.name}: the grid goes from {self.start:.3f} to {self.end:.3f} s, the sound from {origin:.3f} to "
                f"{origin + duration:.3f} s; they differ, so no label can be placed"
            )

        def moved(marks: tuple[Interval, ...]) -> tuple[Interval, ...]:
            return tuple(Interval(mark.label, mark.start - self.start, mark.end - self.start) for mark in marks)

        return Grid(
            {name: moved(marks) for name, marks in self.tiers.items()}, self.end - self.start, self.name, 0.0,
            {name: moved(marks) for name, marks in self.points.items()},
            tuple((name, None if marks is None else moved(marks)) for name, marks in self.every),
            (*self.notes, *[note] * bool(note)),
        )  # fmt: skip


def read(path: str | Path, sound_duration: float | None = None) -> Grid:
    """Read a TextGrid as Praat does and, if the sound's duration is given, count its times from the sound's start.

    Parameters
    ----------
    path : str or Path
        The file: text (long, short or chronological; UTF-8, UTF-16 or Latin-1) or binary.
    sound_duration : float, optional
        Seconds; grid and sound may differ by 50 ms.

    Returns
    -------
    Grid
        Interval tiers with their labelled, non-empty intervals; point tiers beside.

    Raises
    ------
    TextGridError
        If the file is missing, empty, nothing that Praat reads (with the line), or does not fit the sound.

    Examples
    --------
    >>> from voicewire._kit import paths
    >>> bool(read(paths.data("pharyngeal") / "arabic_synthesiser.TextGrid").tiers)
    True
    """
    path = Path(path)
    if not path.is_file():
        raise TextGridError(f"{path}: there is no such file")
    raw = path.read_bytes()
    if not raw.strip():
        raise TextGridError(f"{path.name}: the file is empty; save the TextGrid again")
    try:
        start, end, tiers = textgrid_format.parsed(raw)
    except textgrid_format.FormatError as error:
        raise TextGridError(f"{path.name}: {error}") from None
    every = [(tier.name, tuple(Interval(m.label, m.start, m.end) for m in tier.marks if m.label)) for tier in tiers]
    names = [tier.name for tier in tiers if not tier.points]
    both = list(zip(tiers, every, strict=True))
    grid = Grid(
        {name: marks for tier, (name, marks) in both if not tier.points and names.count(name) == 1},
        end, path.name, start, {name: marks for tier, (name, marks) in both if tier.points},
        tuple((name, None if tier.points else marks) for tier, (name, marks) in both),
        tuple(
            f"tier {tier.name!r}: {mark.label!r} is passed over, as by Praat: another one begins at {mark.start:g} s"
            for tier in tiers for mark in tier.twice if mark.label
        ),
    )  # fmt: skip
    return grid if sound_duration is None else grid.fitted(sound_duration)


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
    if not any(tiers.values()):
        raise TextGridError("there are no intervals to write")
    lines = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", "xmin = 0 ", f"xmax = {_number(end)} "]
    lines += ["tiers? <exists> ", f"size = {len(tiers)} ", "item []: "]
    for k, (name, intervals) in enumerate(tiers.items(), 1):
        rows, last = [], 0.0
        for item in sorted(intervals, key=lambda each: each.start):
            if item.start < 0 or item.end > end:
                raise TextGridError(f"tier {name!r} reaches beyond the sound's {end:.3f} s")
            if item.start < last or item.start == item.end:
                raise TextGridError(f"tier {name!r}: {item.label!r} overlaps the interval before it or has no length")
            rows += [("", last, item.start)] * (item.start > last) + [(item.label, item.start, item.end)]
            last = item.end
        rows += [("", last, end)] * (last < end)
        lines += [f"    item [{k}]:", '        class = "IntervalTier" ', f"        name = {_quoted(name)} "]
        lines += ["        xmin = 0 ", f"        xmax = {_number(end)} ", f"        intervals: size = {len(rows)} "]
        for i, (label, first, stop) in enumerate(rows, 1):
            lines += [f"        intervals [{i}]:", f"            xmin = {_number(first)} "]
            lines += [f"            xmax = {_number(stop)} ", f"            text = {_quoted(label)} "]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return Path(path)


def _number(seconds: float) -> str:
    return repr(float(seconds)).removesuffix(".0")


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'

"""How long a chapter takes, counted from its notebook: what its line *Time*, the parts' tables and the course say.

A first reading counts 100 words a minute, two minutes for a formula that is set apart, six seconds for a line of code
that is seen, a minute for a figure and three for one with sliders; paper and pencil take longer. Readers differ, so a
chapter says a range, from a quarter less to a quarter more. Exercises count by the mark in their title, and each
stage of a lab alike. These are estimates, nobody was timed. ``python -m voicewire_book.publish.pages`` writes the sums,
rounded to five minutes, into the chapters.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat

from voicewire_book import paths
from voicewire_book.publish import notebooks

__all__ = [
    *("EXERCISE_MINUTES", "FORMULA_MINUTES", "LINES_A_MINUTE", "ROUNDED", "SLIDER_MINUTES", "SPREAD", "STAGE_MINUTES"),
    *("WEEK_HOURS", "WORDS_A_MINUTE"),
    *("Minutes", "courses", "minutes", "rounded", "said", "total", "write"),
]

WORDS_A_MINUTE = 100
LINES_A_MINUTE = 10
"""Lines of code that a reader sees which are read in a minute."""
FORMULA_MINUTES = 2
SLIDER_MINUTES = 3
SPREAD = 0.25
"""The share by which a reader may be quicker or slower than the estimate."""
EXERCISE_MINUTES = {"easy": 5, "medium": 10, "hard": 20}
"""What is allowed for an exercise by the mark in its title."""
STAGE_MINUTES = 10
"""What is allowed for a stage of a lab: whoever is stuck for longer is sent to the solution."""
WEEK_HOURS = 8
"""Hours a week that a student has for a course, reading and exercises together."""
ROUNDED = 5
"""A chapter says its minutes to this many."""

_SAID = re.compile(
    r"(\*Time\*+:?) (\d+)(?: to (\d+))? minutes to read(?: \(an estimate\))?"
    r"(?:, (\d+) for the (exercises?(?: and the lab)?))?"
)
_FOLD = re.compile(r"\{solution-(start|end)\}")
_FENCE = re.compile(r"^(`{3,}|:{3,}).*?^\1", re.M | re.S)
_FORMULA = re.compile(r"\$\$.*?\$\$", re.S)
_DRAWING = re.compile(r"^!\[.*?\]\(.*?\)$", re.M)
_NO_WORDS = re.compile(r"<[^>]*>|\]\([^)]*\)")
_MARK = re.compile(r"^[`:]{3,}\{exercise(?:-start)?\}.*\((?:[\w ]+), (\w+)\)", re.M)
_LAB = re.compile(r"^## Lab\b", re.M)
_STAGE = re.compile(r"^\*\*Stage \d+", re.M)
_HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell", "check", "solution"}


@dataclass(frozen=True)
class Minutes:
    """What a chapter, or several, take."""

    reading: float
    exercises: float

    @property
    def rounded(self) -> tuple[int, int, int]:
        """The range to read, and the exercises, to the nearest five minutes, as a chapter says them; five at least."""
        least, most = (rounded(share * self.reading) for share in (1 - SPREAD, 1 + SPREAD))
        return max(ROUNDED, least), max(ROUNDED, most), rounded(self.exercises)


def rounded(minutes: float) -> int:
    """Return minutes to the nearest five."""
    return ROUNDED * round(minutes / ROUNDED)


def _shown(notebook: nbformat.NotebookNode) -> Iterator[nbformat.NotebookNode]:
    """Give the cells outside folded solutions and labs."""
    folded = lab = False
    for cell in notebook.cells:
        text = cell.source if cell.cell_type == "markdown" else ""
        marks = _FOLD.findall(text)
        if marks:
            folded = marks[-1] == "start"
        if re.search(r"^## ", text, re.M):
            lab = bool(_LAB.search(text))
        if not (folded or marks or lab):
            yield cell


def minutes(notebook: nbformat.NotebookNode) -> Minutes:
    """Return how long a chapter takes, to read and for its exercises."""
    words = lines = 0
    others = 0.0  # minutes for what is neither words nor lines
    for cell in _shown(notebook):
        if cell.cell_type == "markdown":
            text = _FENCE.sub(" ", cell.source)
            others += FORMULA_MINUTES * len(_FORMULA.findall(text)) + len(_DRAWING.findall(text))
            words += len(_NO_WORDS.sub(" ", _DRAWING.sub(" ", _FORMULA.sub(" ", text))).split())
        elif cell.cell_type == "code" and not _HIDDEN & set(cell.metadata.get("tags", [])):
            lines += sum(bool(line.strip()) for line in cell.source.splitlines())
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            others += any(kind.startswith("image/") for kind in data)
            others += SLIDER_MINUTES * ("vw-slider" in data.get("text/html", ""))
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    marks = _MARK.findall(text)
    unknown = sorted(set(marks) - set(EXERCISE_MINUTES))
    if unknown:
        raise ValueError(f"an exercise is marked {unknown[0]!r}: it is one of {', '.join(EXERCISE_MINUTES)}")
    tasks = sum(EXERCISE_MINUTES[mark] for mark in marks) + STAGE_MINUTES * len(_STAGE.findall(text))
    return Minutes(words / WORDS_A_MINUTE + others + lines / LINES_A_MINUTE, tasks)


def _line(notebook: nbformat.NotebookNode) -> tuple[nbformat.NotebookNode, re.Match[str]] | None:
    found = ((cell, _SAID.search(cell.source)) for cell in notebook.cells if cell.cell_type == "markdown")
    return next(((cell, match) for cell, match in found if match), None)


def said(notebook: nbformat.NotebookNode) -> tuple[int, int, int]:
    """Return what a chapter says of itself: the range to read, and the exercises."""
    found = _line(notebook)
    if found is None:
        raise ValueError("a chapter says **Time**: N to O minutes to read, M for the exercises and the lab")
    match = found[1]
    return int(match[2]), int(match[3] or match[2]), int(match[4] or 0)


def write(base: Path) -> list[str]:
    """Write into the chapters how long they take."""
    changed = []
    for path in paths.chapters(base=base):
        notebook = nbformat.read(path, as_version=4)
        found = _line(notebook)
        if found is None:
            continue
        cell, match = found
        least, most, tasks = minutes(notebook).rounded
        text = "\n".join(each.source for each in notebook.cells if each.cell_type == "markdown")
        many = "exercise" if len(_MARK.findall(text)) == 1 else "exercises"
        lab = " and the lab" if _STAGE.search(text) else ""
        span = str(least) if least == most else f"{least} to {most}"
        line = f"{match[1]} {span} minutes to read (an estimate)" + (f", {tasks} for the {many}{lab}" if tasks else "")
        if line != match[0]:
            cell.source = cell.source.replace(match[0], line, 1)
            notebooks.write(path, notebook)
            changed.append(path.relative_to(base).as_posix())
    return changed


def total(chapters: Sequence[Path]) -> Minutes:
    """Add up what chapters take."""
    each = [minutes(nbformat.read(path, as_version=4)) for path in chapters]
    return Minutes(sum(one.reading for one in each), sum(one.exercises for one in each))


def weeks(work: Minutes, chapters: int) -> int:
    """Return how many weeks a part takes: as many as its work fills, but no more than it has chapters."""
    return min(chapters, math.ceil((work.reading + work.exercises) / 60 / WEEK_HOURS))


def courses(base: Path) -> str:
    """Return a table of what each part takes in a course: hours to read, hours of exercises, weeks, hours a week."""
    rows = []
    for part in paths.PARTS:
        chapters = paths.chapters(part.name, base)
        if chapters:
            hours = total(chapters)
            many = weeks(hours, len(chapters))
            name = f"{{doc}}`{part.title} </book/{part.name}/index>`"
            each = (hours.reading + hours.exercises) / 60 / many
            rows.append(f"| {name} | {hours.reading / 60:.1f} | {hours.exercises / 60:.1f} | {many} | {each:.1f} |\n")
    head = "| part | hours to read | of exercises and labs | weeks | hours a week |\n|---|---:|---:|---:|---:|\n"
    return head + "".join(rows) if rows else "No chapter stands in this copy yet.\n"

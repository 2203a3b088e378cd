"""A plan of weeks: which chapter comes when, how long it takes and runs, and the hours of each week."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from html import escape
from pathlib import Path

import nbformat

from voicewire._kit import sheets
from voicewire_book import paths
from voicewire_book.course import exam
from voicewire_book.course.key import ASSIGNMENT
from voicewire_book.publish.pages import reading

__all__ = ["Chapter", "chapters", "listed", "weeks"]


HEADS = "".join(f"<th>{words}</th>" for words in ("week", "chapter", "min to read", "min of exercises", "s to run"))


@dataclass(frozen=True)
class Chapter:
    """What a chapter takes, and when it is taught.

    Attributes
    ----------
    week : int
        Of the term, from 1 on.
    part : str
        The part.
    chapter : str
        Its title.
    reading : int
        Minutes to read: the middle of the range that the chapter says.
    exercises : int
        Minutes for exercises and lab, as the chapter says them.
    runs : float
        Seconds that it ran when it was executed last, as recorded; 0 where nothing was.
    """

    week: int
    part: str
    chapter: str
    reading: int
    exercises: int
    runs: float

    @property
    def minutes(self) -> int:
        """What a student is busy with it."""
        return self.reading + self.exercises


def chapters(base: Path, part: str) -> list[Chapter]:
    """Return the chapters of a part with their times, all in week 1."""
    file = base / "book" / "times.json"
    ran = json.loads(file.read_text(encoding="utf-8"))["seconds"] if file.is_file() else {}
    found = []
    for path in paths.chapters(part, base):
        notebook = nbformat.read(path, as_version=4)
        taken = reading.minutes(notebook)
        read, tasks = reading.rounded(taken.reading), reading.rounded(taken.exercises)
        title = next((cell.source for cell in notebook.cells if cell.source.startswith("# ")), path.stem)
        seconds = float(ran.get(path.relative_to(base).as_posix(), 0.0))
        found.append(Chapter(1, part, title.split("\n")[0].removeprefix("# "), read, tasks, seconds))
    return found


def weeks(base: Path, parts: Sequence[str]) -> list[Chapter]:
    """Return the chapters of parts with their weeks, divided so that a part's fullest week is as short as can be."""
    made: list[Chapter] = []
    week = 1
    for part in parts:
        found = chapters(base, part)
        work = [chapter.minutes for chapter in found]
        many = reading.weeks(reading.total(paths.chapters(part, base)), len(found))
        cuts = min(
            itertools.combinations(range(1, len(found)), max(0, many - 1)),
            key=lambda cuts: max(sum(work[a:b]) for a, b in itertools.pairwise((0, *cuts, len(work)))),
        )
        for number, chapter in enumerate(found):
            made.append(Chapter(week + sum(number >= cut for cut in cuts), *astuple(chapter)[1:]))
        week = made[-1].week + 1 if found else week
    return made


def listed(base: Path, parts: Sequence[str], secret: str) -> tuple[str, str]:
    """Return the plan as CSV and as HTML."""
    made = weeks(base, parts)
    table = io.StringIO()
    write = sheets.Writer(table)
    write.writerow([each.name for each in fields(Chapter)])
    write.writerows(astuple(chapter) for chapter in made)
    last = made[-1].week if made else 0
    body = [
        f"<p>{last} weeks of some {reading.WEEK_HOURS} hours, where chapters allow it. For a shorter term, "
        "leave parts out; no study needs another, and each chapter says what it needs of the foundations.</p>",
        f"<p>Minutes to read are counted from the text ({reading.WORDS_A_MINUTE} words a minute, more for figures, "
        "code and formulas); a reader may take a quarter less or a quarter more. Minutes for exercises and labs are "
        "allowances. Nobody was timed. Seconds to run were measured, on the machine "
        "that <code>book/times.json</code> names.</p>",
    ]
    for part in parts:
        own = [chapter for chapter in made if chapter.part == part]
        full = {week: sum(c.minutes for c in own if c.week == week) for week in sorted({c.week for c in own})}
        load = ", ".join(f"{minutes / 60:.1f} in week {week}" for week, minutes in full.items())
        rows = "".join(
            f"<tr><td>{c.week}</td><td>{escape(c.chapter)}</td><td>{c.reading}</td><td>{c.exercises}</td>"
            f"<td>{c.runs:.0f}</td></tr>"
            for c in own
        )
        asked = exam.questions(part, secret)
        ends = f"Hours of a student: {load}. " if full else ""
        if (base / "notebooks" / part / ASSIGNMENT).is_file():
            ends += f"Assignment: out in week {own[0].week}, due at the end of week {own[-1].week}. "
        if asked:
            ends += f"Exam: {len(asked)} questions, {sum(q.minutes for q in asked)} minutes."
        title = escape(paths.part(part).title)
        body.append(f"<h2>{title}</h2><table><tr>{HEADS}</tr>{rows}</table><p>{ends}</p>")
    return table.getvalue(), "".join(body)

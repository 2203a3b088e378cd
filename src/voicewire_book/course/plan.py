"""A plan of weeks: two for each part, with the minutes that its chapters take and the seconds that they run."""

from __future__ import annotations

import io
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
        Minutes to read, as the chapter says them.
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
        read, tasks = reading.minutes(notebook).rounded
        title = next((cell.source for cell in notebook.cells if cell.source.startswith("# ")), path.stem)
        seconds = float(ran.get(path.relative_to(base).as_posix(), 0.0))
        found.append(Chapter(1, part, title.split("\n")[0].removeprefix("# "), read, tasks, seconds))
    return found


def weeks(base: Path, parts: Sequence[str]) -> list[Chapter]:
    """Return the chapters of parts with their weeks: two for each part, one for a part of one chapter."""
    made: list[Chapter] = []
    week = 1
    for part in parts:
        found = chapters(base, part)
        work = [chapter.minutes for chapter in found]
        cut = min(range(1, len(found)), key=lambda k: abs(sum(work[:k]) - sum(work[k:])), default=len(found))
        for number, chapter in enumerate(found):
            made.append(Chapter(week + (number >= cut), *astuple(chapter)[1:]))
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
        f"<p>{last} weeks: two for each part, one for a part of one chapter. For a shorter term, leave parts out; "
        "no study needs another, and each chapter says what it needs of the foundations.</p>",
        f"<p>Minutes to read are counted from the text ({reading.WORDS_A_MINUTE} words a minute, more for figures, "
        "code and formulas); minutes for exercises and labs are allowances. Nobody was timed. Seconds to run were "
        "measured, on the machine that <code>book/times.json</code> names.</p>",
    ]
    for part in parts:
        own = [chapter for chapter in made if chapter.part == part]
        rows = "".join(
            f"<tr><td>{c.week}</td><td>{escape(c.chapter)}</td><td>{c.reading}</td><td>{c.exercises}</td>"
            f"<td>{c.runs:.0f}</td></tr>"
            for c in own
        )
        asked = exam.questions(part, secret)
        ends = ""
        if (base / "notebooks" / part / ASSIGNMENT).is_file():
            ends = f"Assignment: out in week {own[0].week}, due at the end of week {own[-1].week}. "
        if asked:
            ends += f"Exam: {len(asked)} questions, {sum(q.minutes for q in asked)} minutes."
        title = escape(paths.part(part).title)
        body.append(f"<h2>{title}</h2><table><tr>{HEADS}</tr>{rows}</table><p>{ends}</p>")
    return table.getvalue(), "".join(body)

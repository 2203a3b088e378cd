"""Marks as CSV in the layouts that learning platforms read."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from voicewire._kit import sheets
from voicewire_book.course.grading import Report
from voicewire_book.course.submission import PACKED, whose

__all__ = ["PLATFORMS", "Whose", "collected", "known", "table"]

PLATFORMS = ("moodle", "canvas")

class Whose(NamedTuple):
    """A student as the platform knows them: the name that is shown, and the number that it asks for, if it gave one."""

    name: str
    number: str = ""


def known(platform: str, files: Sequence[str], names: Sequence[str]) -> list[Whose]:
    """Return whose each file is: by the number in its path where the platform packed all of them, by name elsewhere.

    One file that is named otherwise shows that a person collected them: then nobody's choice of a name counts.
    """
    found = [PACKED[platform].fullmatch(file) for file in files]
    if not all(found):
        return [Whose(name) for name in names]
    first: dict[str, Whose] = {}
    return [first.setdefault(match["id"], Whose(match["name"], match["id"])) for match in found if match]


def table(
    platform: str,
    most: Mapping[str, float],
    rows: Mapping[Whose, Mapping[str, float | None]],
    reasons: Mapping[Whose, Mapping[str, str]] | None = None,
) -> str:
    """Return a list of marks.

    Moodle's gradebook takes any column once it is told what it means (*ID number* to *useridnumber*); beside each mark
    stands why it is not whole, or not there. The number in the names that Moodle packs is none of those: it counts
    participants of one assignment, whose grading worksheet has it as *Identifier*, so the list is that worksheet, with
    "-" for the time of a mark that Moodle doesn't have. Canvas wants five columns by their names first, and the points
    possible in its second row; it takes a column of words for a piece of work, so there the list has no reasons.
    """
    if platform not in PLATFORMS:
        raise ValueError(f"unknown platform {platform!r:.40}: choose from {', '.join(PLATFORMS)}")
    made = io.StringIO()
    write = sheets.Writer(made)
    canvas, told = platform == "canvas", platform == "moodle" and reasons is not None
    numbered = any(student.number for student in rows)
    sheet = numbered and not canvas
    heads = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"] if canvas else ["ID number"]
    if sheet:
        heads = ["Identifier", "Full name"]
    for what in most:
        alone = sheet and len(most) == 1
        heads += ["Grade", "Last modified (grade)"] if alone else [what]
        heads += [("Feedback comments" if alone else f"{what} feedback")] if told else []
    write.writerow(heads)
    if canvas:
        made.write('"    Points Possible",,,,,' + ",".join(f"{points:g}" for points in most.values()) + "\n")
    for student, marks in rows.items():
        name = _quoted(student.name)
        login = "" if student.number else name
        cells = [name, student.number, "", login, ""] if canvas else [name]
        if sheet:
            cells = [f"Participant {student.number}", name]
        for what in most:
            cells.append("" if marks.get(what) is None else f"{marks[what]:g}")
            cells += ["-"] if sheet and len(most) == 1 else []
            cells += [(reasons or {}).get(student, {}).get(what, "")] if told else []
        write.writerow(cells)
    return made.getvalue()


def _quoted(student: str) -> str:
    """Return a name that no platform takes for its own second row, a sign or a formula."""
    odd = student.strip().casefold() == "points possible" or student[:1] in ("=", "+", "-", "@")
    return f"'{student}" if odd and sheets.plain(student) == student else student


class Marks(NamedTuple):
    """What `table` takes: the points of each piece of work, each student's, and why they are what they are."""

    most: dict[str, float]
    rows: dict[Whose, dict[str, float | None]]
    reasons: dict[Whose, dict[str, str]]


def collected(platform: str, reports: Sequence[Report]) -> Marks:
    """Return what `table` takes from what was marked: a row for each student."""
    made = Marks({}, {}, {})
    unmarked: list[tuple[Whose, Report]] = []
    files = [report.file for report in reports]
    names = whose([PurePosixPath(file) for file in files])
    shown = [report.student or name for report, name in zip(reports, names, strict=True)]
    for report, student in zip(reports, known(platform, files, shown), strict=True):
        marks, why = made.rows.setdefault(student, {}), made.reasons.setdefault(student, {})
        if report.study is None or not report.questions:
            unmarked.append((student, report))
            continue
        what = f"Assignment {report.study}"
        made.most[what] = report.max_points
        unread = any(question.points is None for question in report.questions)
        twice = what in marks
        marks[what] = None if unread or twice else report.points
        why[what] = "two notebooks of this assignment were handed in" if twice else _reasons(report)
    for student, report in unmarked:  # of which assignment is known only where there is a single one
        for what in made.most if len(made.most) == 1 else ():
            made.reasons[student].setdefault(what, _reasons(report))
    return made


def _reasons(report: Report) -> str:
    """Return why a mark is not whole, or not there, in one line."""
    lost = [f"{question.id}: {question.reason}" for question in report.questions if question.reason]
    return "; ".join([*lost, *report.problems])

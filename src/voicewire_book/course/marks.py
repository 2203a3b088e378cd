"""Marks as CSV in the layouts that learning platforms read."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from voicewire._kit import sheets
from voicewire_book.course.grading import Report
from voicewire_book.course.submission import whose

__all__ = ["PLATFORMS", "collected", "table"]

PLATFORMS = ("moodle", "canvas")


def table(platform: str, most: Mapping[str, float], rows: Mapping[str, Mapping[str, float | None]]) -> str:
    """Return a list of marks.

    Moodle takes any column once it is told what it means (*ID number* to *useridnumber*). Canvas wants five columns by
    their names first, and the points possible in its second row.

    Parameters
    ----------
    platform : str
        One of `PLATFORMS`.
    most : mapping of str to float
        The points that can be had, by the name of what is marked: a column each.
    rows : mapping of str to mapping
        The points of each student; what is missing or None stays empty.

    Returns
    -------
    str
        CSV.

    Raises
    ------
    ValueError
        For another platform.

    Examples
    --------
    >>> print(table("moodle", {"Assignment nfc": 10}, {"ada": {"Assignment nfc": 9.5}}), end="")
    ID number,Assignment nfc
    ada,9.5
    >>> print(table("canvas", {"Assignment nfc": 10}, {"ada": {}}), end="")
    Student,ID,SIS User ID,SIS Login ID,Section,Assignment nfc
    "    Points Possible",,,,,10
    ada,,,ada,,
    """
    if platform not in PLATFORMS:
        raise ValueError(f"unknown platform {platform!r:.40}: choose from {', '.join(PLATFORMS)}")
    made = io.StringIO()
    write = sheets.Writer(made)
    canvas = platform == "canvas"
    heads = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section") if canvas else ("ID number",)
    write.writerow([*heads, *most])
    if canvas:
        made.write('"    Points Possible",,,,,' + ",".join(f"{points:g}" for points in most.values()) + "\n")
    for student, marks in rows.items():
        # Canvas knows its second row by these words; what is only a sign or a number is a name here.
        odd = student.strip().casefold() == "points possible" or student[:1] in ("=", "+", "-", "@")
        name = f"'{student}" if odd and sheets.plain(student) == student else student
        points = ["" if marks.get(what) is None else f"{marks[what]:g}" for what in most]
        write.writerow([*((name, "", "", name, "") if canvas else (name,)), *points])
    return made.getvalue()


def collected(reports: Sequence[Report]) -> tuple[dict[str, float], dict[str, dict[str, float | None]]]:
    """Return what `table` takes from what was marked: a row for each student.

    Parameters
    ----------
    reports : sequence of Report
        As of `voicewire_book.course.grading.grade`.

    Returns
    -------
    tuple of mappings
        The points that can be had, and those of each student. Where somebody has to read an answer yet, where nothing
        could be marked, or where a student handed one assignment in twice, there is no number.

    Examples
    --------
    >>> from voicewire_book.course.grading import Question
    >>> collected([Report("ada/nfc/assignment.ipynb", "nfc", [Question("q1", 2.0, 3.0)])])
    ({'Assignment nfc': 3.0}, {'ada': {'Assignment nfc': 2.0}})
    """
    most: dict[str, float] = {}
    rows: dict[str, dict[str, float | None]] = {}
    names = whose([PurePosixPath(report.file) for report in reports])
    for report, name in zip(reports, names, strict=True):
        student = report.student or name
        marks = rows.setdefault(student, {})
        if report.study is None or not report.questions:
            continue
        what = f"Assignment {report.study}"
        most[what] = report.max_points
        unread = any(question.points is None for question in report.questions)
        marks[what] = None if unread or what in marks else report.points
    return most, rows

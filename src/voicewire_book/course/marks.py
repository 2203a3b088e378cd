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
    """Return what `table` takes from what was marked: a row for each student."""
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

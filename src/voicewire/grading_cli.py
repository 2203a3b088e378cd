"""``voicewire student`` and ``voicewire grade``: what an instructor needs."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any


def register(subparsers: Any) -> None:
    """Add both commands."""
    student = subparsers.add_parser(
        "student",
        help="write the students' notebooks, without solutions",
        description="Write chapters without their worked solutions, and released assignments, to OUTDIR/<study>/.",
        epilog="Releasing assignments needs the extra 'grading'.",
    )
    student.add_argument("outdir", type=Path, metavar="OUTDIR", help="folder to write to; nothing in it is replaced")
    student.add_argument("studies", nargs="*", metavar="STUDY", help="only these studies (default: all)")
    student.set_defaults(handler=_student)
    grade = subparsers.add_parser(
        "grade",
        help="autograde submitted assignments",
        description="Autograde a submitted notebook, or all in a folder, and print the points of each question.",
        epilog="This runs what students wrote: do it where that can do no harm. Exit status: 1 if a submission has"
        " a problem. Needs the extra 'grading'.",
    )
    grade.add_argument("submitted", type=Path, metavar="SUBMITTED", help="a notebook, or a folder of notebooks")
    grade.add_argument("--json", action="store_true", help="print a list of objects instead of a table")
    grade.add_argument(
        "--timeout", type=_seconds, default=30, metavar="S", help="seconds that a cell may take (default: 30)"
    )
    grade.set_defaults(handler=_grade)


def _seconds(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of seconds, at least 1")
    return int(text)


def _student(options: argparse.Namespace) -> int:
    from voicewire import grading

    for path in grading.write_students(options.outdir, options.studies):
        print(path)
    return 0


def _grade(options: argparse.Namespace) -> int:
    from voicewire import grading

    reports = grading.grade(options.submitted, timeout=options.timeout)
    if options.json:
        rows = [
            {**dataclasses.asdict(report), "points": report.points, "max_points": report.max_points}
            for report in reports
        ]
        print(json.dumps(rows, indent=1, ensure_ascii=False))
    else:
        for report in reports:
            _print(report)
    return 1 if any(report.problems for report in reports) else 0


def _print(report: Any) -> None:
    print(f"{report.file} ({report.study or 'no assignment'})")
    width = max((len(question.id) for question in report.questions), default=0)
    for question in report.questions:
        points = "to read" if question.points is None else f"{question.points:g}"
        print(f"  {question.id:<{width}}  {points:>7} of {question.max_points:g}")
    if report.questions:
        print(f"  {'total':<{width}}  {report.points:>7g} of {report.max_points:g}")
    for problem in report.problems:
        print(f"  ! {problem}")
    sys.stdout.flush()

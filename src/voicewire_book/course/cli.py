"""``voicewire teach``, ``voicewire student`` and ``voicewire grade``: what an instructor needs."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from voicewire._kit.options import PathOption, folder, readable_or_folder, text, whole
from voicewire_book.course.sandbox import KINDS

__all__ = ["register"]


def register(subparsers: Any) -> None:
    """Add the three commands."""
    teach = subparsers.add_parser(
        "teach",
        help="write a course that can be given: slides, notebooks, exams",
        description="Write a course to DIR, a folder that is new or empty: slides, the students' notebooks, "
        "exams with marking schemes, figures, a plan and lists of marks, all from the book's own sources. DIR appears "
        "when all of it is whole.",
        epilog="It needs the extra 'book'; assignments need 'grading', PDF files a Chromium: what is missing is said."
        "\n\nExample: voicewire teach my-course nfc --no-pdf",
    )
    teach.add_argument("dir", type=folder, metavar="DIR", help="folder to write, new or empty")
    teach.add_argument("parts", nargs="*", type=text, metavar="PART", help="only these parts (default: all)")
    teach.add_argument(
        "--seed",
        type=_secret,
        metavar="HEX",
        help="the 32 digits that an earlier call printed, for the same numbers again (default: a new seed is drawn, "
        "and printed once, at the end; no file holds it)",
    )
    teach.add_argument("--no-pdf", action="store_true", help="print nothing to PDF")
    teach.set_defaults(handler=_teach)
    student = subparsers.add_parser(
        "student",
        help="write the students' notebooks, without solutions",
        description="Write chapters without their worked solutions, and released assignments, to OUTDIR/<study>/.",
        epilog="Releasing assignments needs the extra 'grading'.\n\nExample: voicewire student released nfc",
    )
    student.add_argument("outdir", type=folder, metavar="OUTDIR", help="folder to write to; nothing in it is replaced")
    student.add_argument("studies", nargs="*", type=text, metavar="STUDY", help="only these studies (default: all)")
    student.set_defaults(handler=_student)
    _add_grade(subparsers)


def _add_grade(subparsers: Any) -> None:
    grade = subparsers.add_parser(
        "grade",
        help="mark submitted assignments",
        description="Mark a submitted notebook, or all in a folder: the points of each question, then a line for each.",
        epilog="This runs what students wrote, confined by bubblewrap; where that doesn't work, nothing"
        " is marked unless a weaker way is asked for by its name. Every output says how it was confined; with --csv"
        " that stands on stderr. Exit status: 1 if a submission has a problem."
        "\n\nExample:\n  voicewire student released nfc\n  voicewire grade released/nfc/assignment.ipynb",
    )
    grade.add_argument(
        "submitted", type=readable_or_folder, metavar="SUBMITTED", help="a notebook, or a folder of notebooks"
    )
    shape = grade.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print a list of objects instead of a table")
    shape.add_argument(
        "--csv",
        choices=("moodle", "canvas"),
        metavar="FOR",
        help="print a list of marks that moodle (with the reasons beside them) or canvas reads",
    )
    grade.add_argument(
        "--timeout",
        type=whole(1, 3600),
        default=30,
        metavar="S",
        help="seconds that a cell, or the tests of a question, may take (default: 30)",
    )
    grade.add_argument(
        "--notebooks", type=whole(1, 10_000), default=20, metavar="N", help="read N of one student (default: 20)"
    )
    grade.add_argument(
        "--seconds",
        type=whole(1, 10**6),
        default=900,
        metavar="S",
        help="seconds that all notebooks of one student may take together (default: 900)",
    )
    grade.add_argument(
        "--show-hidden",
        action="store_true",
        help="say what a hidden check asked and what came of it: for you, not for students",
    )
    grade.add_argument(
        "--key",
        type=PathOption(folder=True, reads=True),
        metavar="ASSIGNMENTS",
        help="mark against those in this folder, such as DIR/for-you/assignments of teach (default: the book's)",
    )
    grade.add_argument(
        "--confine", choices=KINDS, metavar="HOW", help=f"{', '.join(KINDS)} (default: {KINDS[0]}, and nothing weaker)"
    )
    grade.set_defaults(handler=_grade)


def _secret(given: str) -> str:
    from voicewire_book.course import key, secret

    try:
        return secret.checked(given)
    except key.GradingError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _teach(options: argparse.Namespace) -> int:
    from voicewire_book.course import teach

    def tell(line: str) -> None:
        print(line, flush=True)

    teach.write_course(options.dir, options.seed, options.parts, pdf=not options.no_pdf, tell=tell)
    return 0


def _student(options: argparse.Namespace) -> int:
    from voicewire_book.course import handout

    for path in handout.write_students(options.outdir, options.studies):
        print(path)
    return 0


def _grade(options: argparse.Namespace) -> int:
    from voicewire_book.course import grading
    from voicewire_book.course.submission import shown

    tell = None if options.json or options.csv else _print
    how = {"timeout": options.timeout, "confine": options.confine, "key": options.key}
    how |= {"show_hidden": options.show_hidden, "notebooks": options.notebooks, "seconds": options.seconds}
    passed: list[Path] = []
    reports = grading.grade(options.submitted, tell=tell, passed=passed, **how)
    if passed:
        more = f" and {len(passed) - 5} more" if len(passed) > 5 else ""
        names = ", ".join(shown(path) for path in passed[:5])
        print(f"voicewire: passed over, as no student's notebook: {names}{more}", file=sys.stderr)
    if options.json:
        rows = [
            {**dataclasses.asdict(report), "points": report.points, "max_points": report.max_points}
            for report in reports
        ]
        print(json.dumps(rows, indent=1, ensure_ascii=True))
    elif options.csv:
        from voicewire_book.course import marks

        made = marks.collected(options.csv, reports)
        why = None if options.show_hidden else made.reasons  # what students read holds nothing that is hidden
        print(marks.table(options.csv, made.most, made.rows, why), end="")
        for report in reports:
            for problem in report.problems:
                print(f"{report.file}: {problem}", file=sys.stderr)
        print(_confined(reports), file=sys.stderr)
    else:
        _summary(reports)
    return 1 if any(report.problems for report in reports) else 0


def _print(report: Any) -> None:
    print(f"{report.file} ({report.study or 'no assignment'})")
    width = max((len(question.id) for question in report.questions), default=0)
    for question in report.questions:
        points = "to read" if question.points is None else f"{question.points:g}"
        reason = f"  {question.reason}" if question.reason not in ("", "to be read") else ""
        print(f"  {question.id:<{width}}  {points:>7} of {question.max_points:g}{reason}")
    for problem in report.problems:
        print(f"  ! {problem}")
    sys.stdout.flush()


def _summary(reports: Sequence[Any]) -> None:
    print()
    width = max(len(report.file) for report in reports)
    for report in reports:
        if report.questions:
            said = f"{report.points:g} of {report.max_points:g}  {report.seconds:.1f} s"
            if any(question.points is None for question in report.questions):
                said += "  (an answer is to be read)"
        else:
            said = "no marks"
        print(f"{report.file:<{width}}  {'; '.join([said, *report.problems])}")
    print(f"\n{_confined(reports)}")


def _confined(reports: Sequence[Any]) -> str:
    return f"Each submission ran {reports[0].confinement}."

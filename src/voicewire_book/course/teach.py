"""``voicewire teach``: a course that can be given, written from the book's own sources into one folder.

Each piece is written by a function of its own. The folder appears under its name when everything in it is whole.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import nbformat

from voicewire_book import paths
from voicewire_book.course import deck, exam, handout, hidden, marks, pack, plan, printing, secret, slides, trial
from voicewire_book.course.key import ASSIGNMENT, PROJECT, GradingError, read_key
from voicewire_book.course.markup import Markup, labels, needs
from voicewire_book.kit import concepts

__all__ = ["Course", "write_course"]

STUDENTS, EXAM, YOURS = "to-students", "exam", "for-you"


@dataclass
class Course:
    """What the pieces of a course share while it is written.

    Attributes
    ----------
    base : Path
        The checkout.
    out : Path
        The folder to write to.
    secret : str
        From which numbers are drawn; it is written nowhere.
    parts : list of str
        The parts of the book that it covers.
    numbers : dict of str to str
        The book's number of each equation and figure.
    pages : list of Path
        HTML files that are to be printed.
    tell : callable
        Takes a line for whoever waits.
    """

    base: Path
    out: Path
    secret: str
    parts: list[str]
    numbers: dict[str, str]
    pages: list[Path]
    tell: Callable[[str], object]

    def chapters(self) -> Iterator[Path]:
        """Yield the notebooks of the course."""
        for part in self.parts:
            yield from paths.chapters(part, self.base)

    def place(self, *names: str) -> Path:
        """Return a file of the course, its folder made."""
        path = self.out.joinpath(*names)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


def write_course(
    out: Path,
    seed: str | None = None,
    parts: Sequence[str] = (),
    *,
    pdf: bool = True,
    base: Path | None = None,
    tell: Callable[[str], object] = print,
) -> Path:
    """Write a course to a folder that is new or empty."""
    drawn = secret.draw() if seed is None else secret.checked(seed)
    base = base or paths.root()
    known = [part.name for part in paths.PARTS if paths.chapters(part.name, base)]
    for part in parts:
        if part not in known:
            raise GradingError(f"there is no part {part!r}: choose from {', '.join(known)}")
    if out.is_dir() and any(out.iterdir()):
        raise GradingError(f"{out} holds something: choose a folder that is new or empty")
    needs()
    with _whole(out) as scratch:
        wanted = [part for part in known if part in parts or not parts]
        course = Course(base, scratch, drawn, wanted, labels(base), [], tell)
        for write in PIECES:
            write(course)
        _print(course, pdf)
        _index(course)
    tell(f"{out} is complete: begin with {out / 'index.html'}")
    if seed is None:
        tell(f"seed: {drawn} (keep it, and keep it secret: no file holds it; --seed writes the same numbers again)")
    return out


@contextlib.contextmanager
def _whole(out: Path) -> Iterator[Path]:
    """A folder beside the one wanted, moved to its place when all is well and removed when it isn't."""
    out = out.absolute()
    made = [folder for folder in out.parents if not folder.exists()]
    scratch = out.parent / f".{out.name}-unfinished-{os.getpid()}"
    scratch.mkdir(parents=True)
    try:
        yield scratch
        if out.is_dir():
            out.rmdir()  # empty; a system that replaces no folder moves the other one then
        scratch.replace(out)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        for folder in made:
            with contextlib.suppress(OSError):  # somebody has put something into it
                folder.rmdir()
        raise


def _slides(course: Course) -> None:
    """Slides of each chapter, without worked solutions, with the speaker's notes."""
    total = 0
    for chapter in course.chapters():
        target = course.place(STUDENTS, "slides", chapter.parent.name, f"{chapter.stem}.html")
        total += len(slides.write_deck(chapter, target, Markup(course.base, chapter.parent, course.numbers)))
        course.pages.append(target)
    course.tell(f"slides: {len(course.pages)} chapters, {total} slides")


def _handouts(course: Course) -> None:
    """The students' notebooks: chapters without worked solutions, assignments without solutions or hidden tests."""
    for chapter in course.chapters():
        text = nbformat.writes(handout.student_copy(nbformat.read(chapter, as_version=4)), version=4)
        course.place(STUDENTS, "notebooks", chapter.parent.name, chapter.name).write_text(f"{text}\n", encoding="utf-8")
    projects = [course.base / "notebooks" / part / PROJECT for part in course.parts]
    for project in (project for project in projects if project.is_file()):
        target = course.place(STUDENTS, "notebooks", project.parent.name, PROJECT)
        target.write_text(project.read_text(encoding="utf-8"), encoding="utf-8")
    sources = [course.base / "notebooks" / part / ASSIGNMENT for part in course.parts]
    if importlib.util.find_spec("nbgrader") is None:
        course.tell("no assignments: releasing them needs the extra 'grading': pip install 'voicewire[grading]'")
        return
    there = [source for source in sources if source.is_file()]
    for source, released in zip(there, handout.release(*there) if there else [], strict=True):
        text = nbformat.writes(released, version=4)
        course.place(STUDENTS, "notebooks", source.parent.name, ASSIGNMENT).write_text(f"{text}\n", encoding="utf-8")
    course.tell(f"notebooks for students: {len(list(course.chapters()))} chapters, {len(there)} assignments")


def _exams(course: Course) -> None:
    """A paper, a marking scheme and an answer booklet for each part, with numbers drawn from the seed."""
    without, points = [], 0
    for part in course.parts:
        asked = exam.questions(part, course.secret)
        if not asked:
            without.append(part)
            continue
        points += sum(question.points for question in asked)
        markup = Markup(course.base, course.base / "book", course.numbers)
        for folder, name, write in (
            (EXAM, "paper", exam.paper),
            (EXAM, "booklet", exam.booklet),
            (YOURS, "marking-scheme", exam.scheme),
        ):
            target = course.place(folder, "exams" if folder == YOURS else "", f"{part}-{name}.html")
            title = f"{name.replace('-', ' ').capitalize()}: {part}"
            target.write_text(deck.sheet(title, write(part, asked, markup)), encoding="utf-8")
            course.pages.append(target)
    course.tell(f"exams: {len(course.parts) - len(without)} papers, {points} points in all")
    if without:
        course.tell(f"no exam for {', '.join(without)}: a part's questions stand in its exam.py")


def _figures(course: Course) -> None:
    """Each figure as a file, listed with number, caption and origin."""
    total = 0
    for part in course.parts:
        found = []
        for chapter in paths.chapters(part, course.base):
            for figure, content in pack.figures(chapter, Markup(course.base, chapter.parent, course.numbers)):
                course.place(STUDENTS, "figures", part, figure.file).write_bytes(content)
                found.append(figure)
        rows, shown = pack.listed(part, found)
        course.place(STUDENTS, "figures", part, "figures.csv").write_text(rows, encoding="utf-8")
        title = f"Figures: {part}"
        course.place(STUDENTS, "figures", part, "index.html").write_text(deck.sheet(title, shown), encoding="utf-8")
        total += len(found)
    course.tell(f"figures: {total}")


def _plan(course: Course) -> None:
    """Which chapter in which week, and how long it takes."""
    rows, body = plan.listed(course.base, course.parts, course.secret)
    course.place(YOURS, "plan.csv").write_text(rows, encoding="utf-8")
    course.place(YOURS, "plan.html").write_text(deck.sheet("Plan", body), encoding="utf-8")
    course.pages.append(course.place(YOURS, "plan.html"))
    course.tell(f"plan: {rows.splitlines()[-1].partition(',')[0]} weeks")


def _marks(course: Course) -> None:
    """Empty lists of marks: a column for each assignment and each exam, with the points that can be had."""
    most: dict[str, float] = {}
    for part in course.parts:
        source = course.base / "notebooks" / part / ASSIGNMENT
        if source.is_file():
            most[f"Assignment {part}"] = sum(cell.points or 0.0 for cell in read_key(source).cells)
        if asked := exam.questions(part, course.secret):
            most[f"Exam {part}"] = sum(question.points for question in asked)
    for platform in marks.PLATFORMS:
        text = marks.table(platform, most, {})
        course.place(YOURS, "marks", f"{platform}.csv").write_text(text, encoding="utf-8")
    course.tell(f"lists of marks: {', '.join(marks.PLATFORMS)}; {len(most)} columns")


def _keys(course: Course) -> None:
    """The assignments with more hidden tests, their inputs drawn from the seed, to mark against."""
    total = 0
    for part in course.parts:
        source = course.base / "notebooks" / part / ASSIGNMENT
        if source.is_file():
            calls = hidden.drawn(part, course.secret)
            text = nbformat.writes(hidden.with_tests(source, calls), version=4)
            course.place(YOURS, "assignments", part, ASSIGNMENT).write_text(f"{text}\n", encoding="utf-8")
            total += sum(map(len, calls.values()))
    course.tell(f"hidden tests for the assignments: {total} drawn")


def _concepts(course: Course) -> None:
    """Questions on what is often misunderstood, for before and after a part, and what a trial with a class needs."""
    for part in course.parts:
        if items := [item for item in concepts.ITEMS if item.part == part]:
            title = f"Before and after: {paths.part(part).title}"
            sheet = trial.questions(items, "Answer before the part, and again after it.")
            course.place(STUDENTS, "concepts", f"{part}.html").write_text(deck.sheet(title, sheet), encoding="utf-8")
    titles = [f"{path.parent.name}/{path.stem}" for path in course.chapters()]
    for name, title, body in (
        ("questions", "Ten questions", trial.questions(concepts.PILOT, "Code ____________ before / after")),
        ("consent", "A trial with a class", trial.consent()),
    ):
        course.place(YOURS, "pilot", f"{name}.html").write_text(deck.sheet(title, body), encoding="utf-8")
    course.place(YOURS, "pilot", "time-log.csv").write_text(trial.log(titles), encoding="utf-8")
    answers = deck.sheet("Concepts: answers", trial.key(concepts.ITEMS))
    course.place(YOURS, "concepts.html").write_text(answers, encoding="utf-8")
    course.tell(f"concepts: {len(concepts.ITEMS)} questions, {len(concepts.PILOT)} of them for a trial")


PIECES: list[Callable[[Course], None]] = [_slides, _handouts, _exams, _figures, _plan, _marks, _keys, _concepts]
"""What a course has, in the order in which it is written."""


def _print(course: Course, pdf: bool) -> None:
    program = printing.browser() if pdf else None
    if program is None:
        why = "no Chromium was found; any browser prints the HTML files" if pdf else "not asked for"
        course.tell(f"no PDF: {why}")
        return
    course.tell(f"PDF: {len(course.pages)} files, with {Path(program).name}, some minutes")
    printing.print_pages(course.pages, program)


FOLDERS = {
    STUDENTS: "for everybody, at any time: no worked solution and no solution of an assignment is in it",
    EXAM: "for the day of the exam: papers and answer booklets, without answers",
    YOURS: "for you alone: what gives answers away",
}


def _index(course: Course) -> None:
    """List what was written, folder by folder."""
    body = ["<p>Written by <code>voicewire teach</code> from the book's own sources.</p>"]
    for folder, what in FOLDERS.items():
        files = sorted(path for path in (course.out / folder).rglob("*") if path.is_file())
        if files:
            links = (path.relative_to(course.out).as_posix() for path in files)
            items = "".join(f'<li><a href="{escape(name)}">{escape(name)}</a></li>' for name in links)
            body.append(f"<h2>{folder}</h2><p>{what.capitalize()}.</p><ul>{items}</ul>")
    (course.out / "index.html").write_text(deck.sheet("A course", "".join(body)), encoding="utf-8")

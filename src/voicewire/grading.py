"""The student's copy of the notebooks, and the grading of what comes back.

The instructor's notebooks are the only source. A chapter's exercises lose their worked solutions; an assignment
(``notebooks/<study>/assignment.ipynb``, in nbgrader's markup) is released and autograded by nbgrader, the optional
extra ``grading``. All work happens in a temporary folder. A student's notebook needs nothing of this module.

Grading runs what a student wrote, with the rights of whoever grades: do it on a machine where that does no harm.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat

from voicewire import paths

__all__ = ["GradingError", "Question", "Report", "grade", "release", "student_copy", "write_students"]

ASSIGNMENT = "assignment.ipynb"
#: Seconds that nbgrader itself may take beside the cells of a submission.
GRACE = 300
_START = re.compile(r"^\s*(`{3,}|:{3,})\{solution-start\}", re.MULTILINE)
_END = re.compile(r"^\s*(`{3,}|:{3,})\{solution-end\}", re.MULTILINE)
_HIDDEN = re.compile(r"^[^\n]*### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS[^\n]*\n?", re.MULTILINE | re.DOTALL)


class GradingError(ValueError):
    """Nothing can be released or graded; the message says why and what to do."""


@dataclass(frozen=True)
class Question:
    """Points of one graded cell; `points` is None where a person must read the answer."""

    id: str
    points: float | None
    max_points: float


@dataclass
class Report:
    """What came of one submitted notebook."""

    file: str
    study: str | None = None
    questions: list[Question] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def points(self) -> float:
        """Sum of the points given."""
        return sum(q.points or 0.0 for q in self.questions)

    @property
    def max_points(self) -> float:
        """Sum of the points that can be had."""
        return sum(q.max_points for q in self.questions)


def student_copy(notebook: Any) -> Any:
    """Return a chapter without its worked solutions.

    Between ``{solution-start}`` and ``{solution-end}`` only the cells tagged `solution` and `check` stay: the first
    with a placeholder for each answer, both without outputs.
    """
    copy = nbformat.from_dict(notebook)
    cells, inside = [], False
    for cell in copy.cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "markdown" and (_START.search(cell.source) or _END.search(cell.source)):
            inside = _END.search(cell.source) is None
            continue
        if "solution" in tags or "check" in tags:
            if "solution" in tags:
                cell.source = _placeholder(cell.source)
                cell.metadata["tags"] = [tag for tag in tags if tag != "solution"]
            cell.outputs, cell.execution_count = [], None
        elif inside:
            continue
        cells.append(cell)
    if inside:
        raise GradingError("a {solution-start} has no {solution-end}")
    copy.cells = cells
    return copy


def _placeholder(source: str) -> str:
    names = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.append(node.target.id)
    answers = list(dict.fromkeys(name for name in names if name.startswith("answer")))
    return "\n".join(f"{name} = ...  # your answer" for name in answers) or "# your answer"


def write_students(out: Path, studies: Sequence[str] = (), base: Path | None = None) -> list[Path]:
    """Write the students' chapters and assignments to ``out/<study>/`` and return the files.

    Raises
    ------
    GradingError
        If a study is unknown, a file is there already, or nbgrader is needed and missing.
    """
    base = base or paths.root()
    for study in studies:
        if not (base / "notebooks" / study).is_dir():
            raise GradingError(f"there is no study {study!r}: choose from {', '.join(_studies(base))}")
    wanted = list(studies) or _studies(base)
    made: dict[Path, str] = {}
    for study in wanted:
        folder = base / "notebooks" / study
        for chapter in sorted(folder.glob("[0-9][0-9]_*.ipynb")):
            try:
                made[out / study / chapter.name] = _text(student_copy(nbformat.read(chapter, as_version=4)))
            except (GradingError, SyntaxError) as error:
                raise GradingError(f"notebooks/{study}/{chapter.name}: {error}") from None
        if (folder / ASSIGNMENT).is_file():
            made[out / study / ASSIGNMENT] = _text(release(folder / ASSIGNMENT))
    there = [path for path in made if path.exists()]
    if there:
        raise GradingError(f"{there[0]} is there already: a student may have worked in it; choose another folder")
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(made)


def release(source: Path) -> Any:
    """Return the student's version of an assignment, as nbgrader makes it."""
    with _Course(source) as course:
        return course.released()


def grade(submitted: Path, *, timeout: int = 30, base: Path | None = None) -> list[Report]:
    """Autograde a submitted notebook, or every notebook in a folder.

    Parameters
    ----------
    submitted : Path
        A notebook, or a folder that is searched for notebooks.
    timeout : int
        Seconds that one cell may take.
    base : Path
        The checkout with the instructor's sources.

    Raises
    ------
    GradingError
        If there is nothing to grade or to grade against, or nbgrader is missing. What is wrong with a submission
        is a problem in its `Report` instead.
    """
    base = base or paths.root()
    if not submitted.exists():
        raise GradingError(f"{submitted} does not exist")
    files = sorted(submitted.rglob("*.ipynb")) if submitted.is_dir() else [submitted]
    files = [file for file in files if ".ipynb_checkpoints" not in file.parts]
    if not files:
        raise GradingError(f"there is no notebook in {submitted}")
    sources = {study: base / "notebooks" / study / ASSIGNMENT for study in _studies(base)}
    sources = {study: path for study, path in sources.items() if path.is_file()}
    if not sources:
        raise GradingError("the checkout has no notebooks/<study>/assignment.ipynb to grade against")
    known = {study: _sources(nbformat.read(path, as_version=4)) for study, path in sources.items()}
    reports: list[Report] = []
    claimed: dict[str, list[tuple[Report, Any]]] = {study: [] for study in sources}
    for file in files:
        report = Report(file.relative_to(submitted).as_posix() if submitted.is_dir() else file.name)
        reports.append(report)
        try:
            notebook = nbformat.read(file, as_version=4)
            theirs = _sources(notebook)
        except Exception as error:  # whatever a damaged file may raise in the reader
            report.problems.append(f"this is no notebook that can be read: {str(error).splitlines()[0]:.100}")
            continue
        # Assignments may share ids (every one has a q1): what stands in the locked cells tells them apart.
        alike = {s: (len(known[s].items() & theirs.items()), len(known[s].keys() & theirs.keys())) for s in known}
        report.study = max(alike, key=lambda study: alike[study])
        if alike[report.study] == (0, 0):
            report.study = None
            report.problems.append("it holds no cell of any assignment: was it made by 'voicewire student'?")
            continue
        claimed[report.study].append((report, notebook))
    for study, work in claimed.items():
        if work:
            with _Course(sources[study]) as course:
                course.grade(work, timeout)
    return reports


def _studies(base: Path) -> list[str]:
    return [path.name for path in sorted((base / "notebooks").iterdir()) if any(path.glob("*.ipynb"))]


def _text(notebook: Any) -> str:
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def _named(cell: Any) -> bool:
    grader = cell.metadata.get("nbgrader")
    return isinstance(grader, dict) and isinstance(grader.get("grade_id"), str)


def _graded(notebook: Any) -> Iterator[str]:
    for cell in notebook.cells:
        if _named(cell):
            yield cell.metadata["nbgrader"]["grade_id"]


def _sources(notebook: Any) -> dict[str, str]:
    """Return what students see in the cells that have an id."""
    cells = [cell for cell in notebook.cells if _named(cell)]
    return {cell.metadata["nbgrader"]["grade_id"]: _HIDDEN.sub("", cell.source).strip() for cell in cells}


class _Course:
    """A course of one assignment in a temporary folder, as nbgrader wants it."""

    def __init__(self, source: Path) -> None:
        if importlib.util.find_spec("nbgrader") is None:
            raise GradingError("assignments need the extra 'grading': pip install 'voicewire[grading]'")
        self._scratch = tempfile.TemporaryDirectory(prefix="voicewire-grading-")
        self._root = Path(self._scratch.name)
        self._source = source

    def __enter__(self) -> _Course:
        notebook = nbformat.read(self._source, as_version=4)
        place = self._root / "source" / "work" / ASSIGNMENT
        place.parent.mkdir(parents=True)
        place.write_text(_text(notebook), encoding="utf-8")
        try:
            self._nbgrader(GRACE, "generate_assignment", "work", "--create", "--force")
        except GradingError as error:
            self._scratch.cleanup()
            raise GradingError(f"{self._source.parent.name}/{ASSIGNMENT} can't be released: {error}") from None
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.cleanup()

    def released(self) -> Any:
        return nbformat.read(self._root / "release" / "work" / ASSIGNMENT, as_version=4)

    def grade(self, work: Sequence[tuple[Report, Any]], timeout: int) -> None:
        """Autograde notebooks and fill in their reports."""
        released = self.released()
        # What ignores even the interrupt is killed with its kernel, a cell's time for each cell and a bit later.
        limit = timeout * (1 + sum(cell.cell_type == "code" for cell in released.cells))
        students = {f"student{number}": report for number, (report, _) in enumerate(work)}
        for student, (report, notebook) in zip(students, work, strict=True):
            mended = _mend(notebook, released, report)
            limit = max(limit, timeout * (1 + sum(cell.cell_type == "code" for cell in mended.cells)))
            place = self._root / "submitted" / student / "work" / ASSIGNMENT
            place.parent.mkdir(parents=True)
            place.write_text(_text(mended), encoding="utf-8")
        options = ("work", "--create", f"--Execute.timeout={timeout}")
        # All in one go, which is quicker, unless one of them spoils it for the others.
        with contextlib.suppress(GradingError):
            self._nbgrader(GRACE + limit * len(students), "autograde", *options)
        for student, report in students.items():
            graded = self._root / "autograded" / student / "work" / ASSIGNMENT
            try:
                if not graded.is_file():
                    self._nbgrader(GRACE + limit, "autograde", *options, f"--student={student}")
            except GradingError as error:
                report.problems.append(f"it could not be graded: {error}")
                report.questions += [Question(name, 0.0, points) for name, points in _points(released)]
                continue
            report.problems += _timeouts(nbformat.read(graded, as_version=4), timeout)
            report.questions += self._scores(student)

    def _scores(self, student: str) -> list[Question]:
        from nbgrader.api import Gradebook

        with Gradebook(f"sqlite:///{self._root / 'gradebook.db'}") as book:
            grades = book.find_submission_notebook("assignment", "work", student).grades
            return sorted(
                (
                    Question(g.name, None if g.needs_manual_grade else float(g.score), float(g.max_score))
                    for g in grades
                ),
                key=lambda question: question.id,
            )

    def _nbgrader(self, limit: float, *arguments: str) -> None:
        own = self._root / "own"
        own.mkdir(exist_ok=True)
        # Settings and histories of whoever grades are neither read nor written.
        private = dict.fromkeys(("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"), str(own))
        # nbgrader calls alembic by its name: it lies beside this interpreter, whether or not that is on the path.
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
        with subprocess.Popen(
            [sys.executable, "-m", "nbgrader", *arguments],
            cwd=self._root,
            env={**os.environ, **private, "JUPYTER_NO_CONFIG": "1", "PATH": path},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=os.name == "posix",
        ) as process:
            try:
                _, log = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                if os.name == "posix":
                    os.killpg(process.pid, signal.SIGKILL)  # the kernel sees that its parent is gone, and ends
                process.kill()
                raise GradingError(f"it did not end within {limit:.0f} s, whatever was tried") from None
        if process.returncode:
            lines = [line for line in log.splitlines() if "ERROR" in line] or log.splitlines() or ["no message"]
            if "Timeout waiting" in lines[0]:
                raise GradingError("a cell ran on past the time limit, and past the interrupt that followed")
            raise GradingError(re.sub(r"^\[.*?\]\s*", "", lines[0])[:300].replace(str(self._root), "."))


def _timeouts(graded: Any, timeout: int) -> list[str]:
    late = [c for c in graded.cells for o in c.get("outputs", []) if "Timeout" in o.get("ename", "")]
    return [f"cell {_name(cell)} ran longer than {timeout} s and was stopped" for cell in late]


def _points(released: Any) -> list[tuple[str, float]]:
    graders = [cell.metadata.get("nbgrader", {}) for cell in released.cells]
    return sorted((g["grade_id"], float(g["points"])) for g in graders if g.get("grade"))


def _name(cell: Any) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", "without a name"))


def _mend(submitted: Any, released: Any, report: Report) -> Any:
    """Return what to grade: the student's answers and extra cells, in a notebook whose locked cells are whole."""
    theirs: dict[str, Any] = {}
    order: list[Any] = []
    for cell in submitted.cells:
        grade_id = next(_graded(nbformat.from_dict({"cells": [cell]})), None)
        if grade_id in theirs:
            report.problems.append(f"cell {grade_id} is there twice: the first one counts")
            continue
        if grade_id is not None:
            theirs[grade_id] = cell
        order.append((grade_id, cell))
    originals = {_name(cell): cell for cell in released.cells if "nbgrader" in cell.metadata}
    previous: str | None = None
    for grade_id, original in originals.items():
        if grade_id not in theirs:
            report.problems.append(f"cell {grade_id} was deleted: an empty one stands in for it")
            at = next((i + 1 for i, (name, _) in enumerate(order) if name == previous), 0)
            order.insert(at, (grade_id, original))
        else:
            _check_cell(grade_id, theirs[grade_id], original, report)
        previous = grade_id
    mended = nbformat.from_dict(released)
    mended.cells = []
    for grade_id, cell in order:
        if grade_id is not None and grade_id not in originals:
            continue  # it belongs to another assignment
        if grade_id is not None:
            original = nbformat.from_dict(originals[grade_id])
            if not original.metadata["nbgrader"].get("locked") and cell.cell_type == original.cell_type:
                original.source = cell.source
            cell = original
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        cell["id"] = f"cell-{len(mended.cells)}"
        mended.cells.append(cell)
    return mended


def _check_cell(grade_id: str, cell: Any, original: Any, report: Report) -> None:
    if original.metadata["nbgrader"].get("locked"):
        if cell.source.strip() != original.source.strip():
            report.problems.append(f"locked cell {grade_id} was edited: the original counts")
    elif cell.cell_type != original.cell_type:
        report.problems.append(f"cell {grade_id} was made a {cell.cell_type} cell: an empty one stands in for it")
    elif cell.cell_type == "code":
        from IPython.core.inputtransformer2 import TransformerManager

        try:
            ast.parse(TransformerManager().transform_cell(cell.source))
        except SyntaxError as error:
            report.problems.append(f"cell {grade_id}, line {error.lineno}: {error.msg}")

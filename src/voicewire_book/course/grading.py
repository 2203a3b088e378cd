"""Marks what a class handed in: each submission by a process of its own, the results in one list."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voicewire_book import paths
from voicewire_book.course import confinement
from voicewire_book.course.key import GradingError, Key, read_keys
from voicewire_book.course.sandbox import Sandbox
from voicewire_book.course.submission import Step, SubmissionError, arrange, find, identify, read, shown, whose, without

__all__ = ["Question", "Report", "grade"]

#: Seconds that marking may take beside the cells and tests of a submission.
GRACE = 60
#: What one student may hand in, and how long all of it may take.
NOTEBOOKS, SECONDS = 20, 900
_RUNNING: set[subprocess.Popen[bytes]] = set()


@dataclass(frozen=True)
class Question:
    """Points of one graded cell; `points` is None where a person must read the answer.

    Attributes
    ----------
    id : str
        The cell's name in nbgrader's mark-up.
    points : float or None
        Points given.
    max_points : float
        Points that can be had.
    reason : str
        Why not all, in a sentence; nothing where all were given.
    """

    id: str
    points: float | None
    max_points: float
    reason: str = ""


@dataclass
class Report:
    """What came of one submitted notebook.

    Attributes
    ----------
    file : str
        Its path within what was handed in.
    student : str
        Whose it is: the first folder of that path.
    study : str or None
        Which assignment it is.
    questions : list of Question
        The marks.
    problems : list of str
        What was wrong with the file, in words for whoever wrote it.
    seconds : float
        How long its marking took.
    confinement : str
        Where it ran.
    doubts : dict of str
        Answers of which it is not clear what was handed in, and what was seen.
    """

    file: str
    study: str | None = None
    questions: list[Question] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0
    confinement: str = ""
    student: str = ""
    doubts: dict[str, str] = field(default_factory=dict)

    @property
    def points(self) -> float:
        """Sum of the points given."""
        return sum(q.points or 0.0 for q in self.questions)

    @property
    def max_points(self) -> float:
        """Sum of the points that can be had."""
        return sum(q.max_points for q in self.questions)


def grade(
    submitted: Path,
    *,
    timeout: int = 30,
    base: Path | None = None,
    confine: str | None = None,
    tell: Callable[[Report], None] | None = None,
    key: Path | None = None,
    show_hidden: bool = False,
    passed: list[Path] | None = None,
    notebooks: int = NOTEBOOKS,
    seconds: int = SECONDS,
) -> list[Report]:
    """Mark a submitted notebook, or every notebook in a folder."""
    base = base or paths.root()
    if not submitted.exists():
        raise GradingError(f"{submitted} does not exist")
    passed = [] if passed is None else passed
    files = find(submitted, passed)
    if not files:
        raise GradingError(f"there is no notebook in {submitted}")
    keys = read_keys(base, key)
    handed_in = submitted if submitted.is_dir() else submitted.parent
    secret = [base / "notebooks", base / "_build", handed_in, *([key] if key else [])]
    sandbox = confinement.choose(confine, base, secret)
    work = _read(files, submitted, keys, sandbox, notebooks, passed)
    for study in dict.fromkeys(report.study for report, _ in work):
        if study is not None:
            _try_key(keys[study], sandbox, max(timeout, 120))
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    how = {"timeout": timeout, "reveal": show_hidden}
    over = threading.Event()

    def mark(student: str) -> None:
        """One student's notebooks, one after the other, in the time that is left for them."""
        end = time.monotonic() + seconds
        for number, (report, steps) in enumerate(work, 1):
            if report.student == student and not over.is_set():
                _mark(report, steps, keys, sandbox, {**how, "number": number, "most": end - time.monotonic()})

    with ThreadPoolExecutor(workers) as pool:
        jobs = {student: pool.submit(mark, student) for student in dict.fromkeys(report.student for report, _ in work)}
        try:
            for report, _ in work:
                jobs[report.student].result()
                if tell is not None:
                    tell(report)
        except BaseException:  # interrupted: nobody waits for the loops of those that are still running
            over.set()
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(_RUNNING):
                process.kill()
            raise
    return [report for report, _ in work]


def _read(
    files: list[Path], submitted: Path, keys: dict[str, Key], sandbox: Sandbox, notebooks: int, passed: list[Path]
) -> list[tuple[Report, list[Step]]]:
    """Return an empty report for each file, and what to run for it: nothing for a student's files beyond the limit.

    A student of whom all was passed over has a report that says so.
    """
    names = [file.relative_to(submitted) if submitted.is_dir() else Path(file.name) for file in files]
    missing = without(submitted, names, [path.relative_to(submitted) for path in passed])
    students = whose([*names, *missing])
    work: list[tuple[Report, list[Step]]] = []
    read_of: Counter[str] = Counter()
    for file, name, student in zip(files, names, students, strict=False):
        report = Report(shown(name.as_posix()), confinement=sandbox.words, student=student)
        own = name.parts[0] if len(name.parts) > 1 else name.name.removesuffix(".ipynb") or name.name
        if student != shown(own, 255):
            report.problems.append(f"another student has the same name, or nearly: this one is listed as {student!r}")
        read_of[student] += 1
        if read_of[student] > notebooks:
            report.problems.append(f"it was not read: the first {notebooks} notebooks of a student count")
            work.append((report, []))
        else:
            work.append((report, _prepare(file, report, keys)))
    for (path, seen), student in zip(missing.items(), students[len(names) :], strict=True):
        work.append((Report(shown(path.as_posix()), None, [], [seen], 0.0, sandbox.words, student), []))
    return work


def _prepare(file: Path, report: Report, keys: dict[str, Key]) -> list[Step]:
    try:
        cells = read(file)
        key = identify(cells, keys)
        report.study = key.study
        return arrange(cells, key, report.problems, report.doubts)
    except (SubmissionError, MemoryError) as error:
        report.problems.append(str(error) or "it is too large to be read")
        return []


def _mark(report: Report, steps: list[Step], keys: dict[str, Key], sandbox: Sandbox, how: dict[str, Any]) -> None:
    if report.study is None:
        return
    key = keys[report.study]
    tests = [cell for cell in key.cells if cell.test]
    try:
        if how["most"] <= 0:
            raise GradingError("the time for all notebooks of this student was used up by those before it")
        limit = min(how["timeout"] * (len(tests) + 2), how["most"]) + GRACE
        verdict = _marker(_job(key, steps, sandbox, how), limit)
        marks = {name: Question(name, points, most, why) for name, points, most, why in verdict["questions"]}
        _doubt(key, steps, report, verdict["stopped"])
        marks = _weighed(key, marks, report.doubts, verdict["stopped"])
        report.problems += verdict["problems"]
        report.seconds = verdict["seconds"]
    except GradingError as error:
        marks = {}
        report.problems.append(f"it could not be marked: {error}")
    for cell in key.cells:
        if cell.test:
            report.questions.append(marks.get(cell.id) or Question(cell.id, 0.0, cell.points or 0.0, "not marked"))
        elif cell.points is not None:
            report.questions.append(Question(cell.id, None, cell.points, "to be read"))


def _doubt(key: Key, steps: list[Step], report: Report, stopped: dict[str, str]) -> None:
    """Doubt an answer that was written, and stopped at the form's own line before it was reached."""
    ran = {step.name: step.source.strip() for step in steps}
    for cell in key.cells:
        if cell.answer and stopped.get(cell.id) == "not answered" and ran[cell.id] != cell.visible.strip():
            report.doubts[cell.id] = f"cell {cell.id} stopped at a line 'raise NotImplementedError'"
            report.problems.append(f"{report.doubts[cell.id]}, though more is written in it")


def _weighed(
    key: Key, marks: dict[str, Question], doubts: dict[str, str], stopped: dict[str, str]
) -> dict[str, Question]:
    """Leave to a person what a doubtful answer decides; say beside a lost mark what its own cell stopped at.

    A later question may use what a doubtful cell should have defined: it keeps its mark only where that is whole.
    """
    answer, doubted, weighed = "", "", {}
    for cell in key.cells:
        if cell.answer:
            answer = cell.id
            doubted = doubted or doubts.get(answer, "")
        if cell.id not in marks:
            continue
        mark = marks[cell.id]
        if answer in doubts:
            mark = dataclasses.replace(mark, points=None, reason=f"to be read: {doubts[answer]}")
        elif doubted and mark.reason:
            mark = dataclasses.replace(mark, points=None, reason=f"to be read: {doubted}, and this may need it")
        elif mark.reason and (why := stopped.get(answer)) and why != mark.reason:
            mark = dataclasses.replace(mark, reason=f"cell {answer} stopped: {why}; {mark.reason}")
        weighed[cell.id] = mark
    return weighed


def _job(key: Key, steps: list[Step], sandbox: Sandbox, how: dict[str, Any]) -> dict[str, Any]:
    return {
        "steps": [dataclasses.asdict(step) for step in steps],
        "asked": key.asked,
        "imports": key.imports,
        "sandbox": dataclasses.asdict(sandbox),
        **how,
    }


def _try_key(key: Key, sandbox: Sandbox, timeout: float) -> None:
    """Mark the assignment's own solutions: they compile what submissions then share, and must earn every point."""
    name = f"notebooks/{key.study}/{key.path.name}"
    sources = [cell.source for cell in key.cells if cell.code]
    try:
        _marker({"compile": sources}, timeout + GRACE)
        steps = [
            Step(cell.id, cell.source) if cell.answer else Step(cell.id, cell.visible, cell.source, cell.points)
            for cell in key.cells
            if cell.code
        ]
        limit = timeout * (len(steps) + 2)
        how = {"number": 0, "timeout": timeout, "most": limit, "reveal": True}
        verdict = _marker(_job(key, steps, sandbox, how), limit + GRACE)
    except GradingError as error:
        raise GradingError(f"{name}: its own solutions fail: {error}") from None
    failed = [f"{question}: {why}" for question, _, _, why in verdict["questions"] if why]
    if failed:
        raise GradingError(f"{name}: its own solutions don't earn every point ({'; '.join(failed)})")


def _marker(job: dict[str, Any], limit: float) -> dict[str, Any]:
    """Run a marker to its end, and return what it says."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONOPTIMIZE": ""}
    with subprocess.Popen(
        [sys.executable, "-m", "voicewire_book.course.marker"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        _RUNNING.add(process)
        try:
            out, log = process.communicate(json.dumps(job).encode("ascii"), timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            raise GradingError(f"it did not end within {limit:.0f} s, whatever was tried") from None
        except BaseException:
            process.kill()
            raise
        finally:
            _RUNNING.discard(process)
    if process.returncode:
        lines = log.decode(errors="replace").strip().splitlines() or [f"status {process.returncode}"]
        raise GradingError(f"the marking process ended: {shown(lines[-1])}")
    return json.loads(out) if out else {}

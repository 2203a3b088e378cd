"""What students get: chapters without worked solutions, and assignments without solutions or hidden tests.

The instructor's notebooks are the only source. An assignment (``notebooks/<study>/assignment.ipynb``, in nbgrader's
mark-up) is released by nbgrader itself, the optional extra ``grading``, in a temporary folder.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat

from voicewire_book import paths
from voicewire_book.course.key import ASSIGNMENT, PROJECT, GradingError

__all__ = ["student_copy", "write_students"]

#: Seconds that nbgrader may take.
GRACE = 300
_START = re.compile(r"^\s*(`{3,}|:{3,})\{solution-start\}", re.MULTILINE)
_END = re.compile(r"^\s*(`{3,}|:{3,})\{solution-end\}", re.MULTILINE)


def student_copy(notebook: Any) -> Any:
    """Return a chapter without its worked solutions.

    Between ``{solution-start}`` and ``{solution-end}`` only the cells tagged `solution` and `check` stay: the first
    with a placeholder for each answer, both without outputs. A `solution` that assigns no answer goes too: the place
    to answer is before the fold then.
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
                if not cell.source:
                    continue
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
    return "\n".join(f"{name} = ...  # your answer" for name in answers)


def write_students(out: Path, studies: Sequence[str] = (), base: Path | None = None) -> list[Path]:
    """Write the students' chapters, assignments and projects to ``out/<study>/`` and return the files."""
    base = base or paths.root()
    for study in studies:
        if not (base / "notebooks" / study).is_dir():
            raise GradingError(f"there is no study {study!r}: choose from {', '.join(_studies(base))}")
    wanted = list(studies) or _studies(base)
    made: dict[Path, str] = {}
    assignments = [source for study in wanted if (source := base / "notebooks" / study / ASSIGNMENT).is_file()]
    for study in wanted:
        folder = base / "notebooks" / study
        for chapter in sorted(folder.glob("[0-9][0-9]_*.ipynb")):
            try:
                made[out / study / chapter.name] = _text(student_copy(nbformat.read(chapter, as_version=4)))
            except (GradingError, SyntaxError) as error:
                raise GradingError(f"notebooks/{study}/{chapter.name}: {error}") from None
        if (project := folder / PROJECT).is_file():
            made[out / study / PROJECT] = project.read_text(encoding="utf-8")
    for source, released in zip(assignments, release(*assignments) if assignments else [], strict=True):
        made[out / source.parent.name / ASSIGNMENT] = _text(released)
    there = [path for path in made if path.exists()]
    if there:
        raise GradingError(f"{there[0]} is there already: a student may have worked in it; choose another folder")
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return sorted(made, key=lambda path: (wanted.index(path.parent.name), path.name))


def release(*sources: Path) -> list[Any]:
    """Return the student's versions of assignments, as nbgrader makes them; one call does for all."""
    if importlib.util.find_spec("nbgrader") is None:
        raise GradingError("releasing assignments needs the extra 'grading': pip install 'voicewire[grading]'")
    with tempfile.TemporaryDirectory(prefix="voicewire-handout-") as scratch:
        course = Path(scratch)
        names = [f"{source.parent.name}.ipynb" for source in sources]
        (course / "source" / "work").mkdir(parents=True)
        for source, name in zip(sources, names, strict=True):
            text = _text(nbformat.read(source, as_version=4))
            (course / "source" / "work" / name).write_text(text, encoding="utf-8")
        try:
            nbgrader(course, "generate_assignment", "work", "--create", "--force")
        except GradingError as error:
            which = ", ".join(source.parent.name for source in sources)
            raise GradingError(f"{ASSIGNMENT} of {which} can't be released: {error}") from None
        return [nbformat.read(course / "release" / "work" / name, as_version=4) for name in names]


def nbgrader(course: Path, *arguments: str) -> None:
    """Call nbgrader in a course's folder."""
    own = course / "own"
    own.mkdir(exist_ok=True)
    # Settings and histories of whoever calls are neither read nor written.
    private = dict.fromkeys(("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"), str(own))
    # nbgrader calls alembic by its name: it lies beside this interpreter, whether or not that is on the path.
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    try:
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *arguments],
            check=False,
            cwd=course,
            env={**os.environ, **private, "JUPYTER_NO_CONFIG": "1", "PATH": path},
            capture_output=True,
            text=True,
            timeout=GRACE,
        )
    except subprocess.TimeoutExpired:
        raise GradingError(f"nbgrader did not end within {GRACE} s") from None
    if done.returncode:
        log = done.stderr
        lines = [line for line in log.splitlines() if "ERROR" in line] or log.splitlines() or ["no message"]
        raise GradingError(re.sub(r"^\[.*?\]\s*", "", lines[0])[:300].replace(str(course), "."))


def _studies(base: Path) -> list[str]:
    return [path.name for path in sorted((base / "notebooks").iterdir()) if any(path.glob("*.ipynb"))]


def _text(notebook: Any) -> str:
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"

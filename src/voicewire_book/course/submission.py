"""What a student handed in: read with care, told which assignment it is, and brought into the assignment's form."""

from __future__ import annotations

import json
import os
import re
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from voicewire_book.course.key import Key, KeyCell

__all__ = ["PACKED", "SubmissionError"]

PACKED = {
    "moodle": re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?:/.*|[^/]*)"),
    "canvas": re.compile(r"(?P<name>[^_/]+)_(?:LATE_)?(?P<id>\d+)_\d+_[^/]+"),
}
"""How each platform names what it packs: a student's name, then a number; in Moodle's a folder or a file."""

_BYTES = 20 * 2**20
_CELLS = 1000


class SubmissionError(ValueError):
    """A file can't be marked; the message is for whoever handed it in."""


@dataclass(frozen=True)
class SubmittedCell:
    """One cell of a student's file; `id` is None for a cell that the student added."""

    id: str | None
    code: bool
    source: str
    place: int


@dataclass(frozen=True)
class Step:
    """One thing to do when a submission is marked.

    Attributes
    ----------
    name : str
        The cell's name, for whoever reads the report.
    source : str
        What runs in the student's process.
    trusted : str or None
        What runs in the marker: the instructor's set-up, or the test with its hidden part.
    points : float or None
        What the test is worth; None where nothing is marked.
    """

    name: str
    source: str
    trusted: str | None = None
    points: float | None = None


def shown(text: object, length: int = 200) -> str:
    """Return a text of a student's as one line that can't be taken for anything else in a report."""
    start = str(text)[: length + 1]
    quoted = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in start)
    return quoted if len(quoted) <= length else quoted[: length - 1] + "…"


def whose(files: Sequence[PurePath]) -> list[str]:
    """Return whose each file is: the first folder of its path, or its own name without ending, each student apart.

    No name that somebody chose makes two students one: where a file ``ada.ipynb`` lies beside a folder ``ada``, where
    two names look the same once they are shown, or are the same to a platform that tidies them, the plainest of them
    has the name and the others get a number or their ending.
    """
    folders = {path.parts[0] for path in files if len(path.parts) > 1}

    def wanted(path: PurePath) -> str:
        name = path.parts[0]
        stem = name.removesuffix(".ipynb")
        return name if len(path.parts) > 1 or stem in folders or not stem else stem

    raw = [wanted(path) for path in files]
    names: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(set(raw), key=lambda name: (name != _tidy(name), name)):
        number, made = 1, shown(name, 255)
        while _tidy(made) in taken:
            number += 1
            made = f"{shown(name, 240)} ({number})"
        taken.add(_tidy(made))
        names[name] = made
    return [names[name] for name in raw]


def _tidy(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).split())


def find(submitted: Path, passed: list[Path] | None = None) -> list[Path]:
    """Return the notebooks in a folder (or the one that is named), links among them, which `read` then refuses.

    What is no notebook, what Jupyter keeps as checkpoints and what macOS packs beside a file is passed over, and listed
    in `passed`, like a folder at the top with nothing in it.
    """
    if not submitted.is_dir():
        return [submitted]
    found, others = [], []
    for folder, folders, files in os.walk(submitted):  # which does not follow links to folders
        links = [name for name in folders if (Path(folder) / name).is_symlink()]
        found += [Path(folder) / name for name in (*files, *links) if name.endswith(".ipynb") or name in links]
        others += [Path(folder) / name for name in files if not name.endswith(".ipynb")]
        if Path(folder).parent == submitted and not files and not folders:
            others.append(Path(folder))
    beside = [path for path in found if _beside(path.relative_to(submitted))]
    if passed is not None:
        passed += sorted([*beside, *others])
    return sorted(set(found) - set(beside))


def without(submitted: Path, files: Sequence[PurePath], passed: Sequence[PurePath]) -> dict[PurePath, str]:
    """Return one path for each student whose files were all passed over, and what was seen of them.

    A student is a folder at the top, or what a platform packed under one number (nothing else, where it packed all the
    notebooks); another file at the top is nobody's.
    """
    have = {_owner(path) or path.name for path in files}
    packed = all(_packed(path) for path in files)
    theirs: dict[str, list[PurePath]] = {}
    for path in passed:
        owner = _owner(path) or (path.name if (submitted / path).is_dir() else "")
        if owner and owner not in have and not owner.startswith((".", "__")) and _packed(path) >= packed:
            theirs.setdefault(owner, []).append(path)
    seen: dict[PurePath, str] = {}
    for paths in theirs.values():
        names = [shown(path.name, 60) for path in paths if not (submitted / path).is_dir()]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        what = f"only {', '.join(names[:3])}{more}" if names else "the folder is empty"
        seen[paths[0]] = f"no notebook (.ipynb) was handed in: {what}"
    return seen


def _packed(path: PurePath) -> bool:
    return any(name.fullmatch(path.as_posix()) for name in PACKED.values())


def _owner(path: PurePath) -> str:
    """Return the number under which a platform packed a file, or the folder at the top that holds it."""
    found = [match["id"] for name in PACKED.values() if (match := name.fullmatch(path.as_posix()))]
    return found[0] if found else path.parts[0] if len(path.parts) > 1 else ""


def _beside(path: PurePath) -> bool:
    """Whether a program, not a student, put a file there."""
    return not {".ipynb_checkpoints", "__MACOSX"}.isdisjoint(path.parts[:-1])


def read(path: Path) -> list[SubmittedCell]:
    """Read a student's notebook."""
    try:
        # Neither is a link followed, nor waited for somebody to write into a pipe.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        if path.is_symlink():
            raise SubmissionError("it is a symbolic link: hand in the file itself") from None
        raise SubmissionError(f"it can't be opened: {error.strerror}") from None
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise SubmissionError("it is no regular file: hand in the notebook itself")
        if about.st_size > _BYTES:
            size = f"{about.st_size / 2**20:.0f} MB, more than {_BYTES // 2**20}"
            raise SubmissionError(f"it has {size}: clear its outputs and hand it in again")
        content = file.read(_BYTES + 1)
    if not content:
        raise SubmissionError("this is no notebook that can be read: the file is empty")
    try:
        notebook = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise SubmissionError(f"this is no notebook that can be read: {shown(error, 100)}") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        older = isinstance(notebook, dict) and "worksheets" in notebook
        hint = "it is of an old format: open it in Jupyter and save it" if older else "it has no list of cells"
        raise SubmissionError(f"this is no notebook that can be read: {hint}")
    if len(notebook["cells"]) > _CELLS:
        raise SubmissionError(f"it has {len(notebook['cells'])} cells, more than {_CELLS}")
    return [_cell(place, cell) for place, cell in enumerate(notebook["cells"], 1)]


def _cell(place: int, cell: Any) -> SubmittedCell:
    source = cell.get("source", "") if isinstance(cell, dict) else None
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        raise SubmissionError(f"this is no notebook that can be read: its cell {place} has no text")
    metadata = cell.get("metadata")
    mark = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = mark.get("grade_id") if isinstance(mark, dict) else None
    return SubmittedCell(name if isinstance(name, str) else None, cell.get("cell_type") == "code", source, place)


def identify(cells: Sequence[SubmittedCell], keys: dict[str, Key]) -> Key:
    """Return the assignment that a submission answers.

    Assignments may share ids (every one has a q1): what stands in the locked cells tells them apart; where none is
    left, the names that the answers are asked for do.
    """
    theirs = {cell.id: cell.source.strip() for cell in cells if cell.id is not None}
    words = {word for source in theirs.values() for word in re.findall(r"\w+", source)}

    def likeness(key: Key) -> tuple[int, int, int]:
        known = {cell.id: {cell.visible.strip(), cell.source.strip()} for cell in key.cells}
        same = sum(theirs.get(i) in texts for i, texts in known.items())
        return same, len(words.intersection(key.asked)), len(known.keys() & theirs.keys())

    alike = {key.study: likeness(key) for key in keys.values() if any(cell.id in theirs for cell in key.cells)}
    if not alike:
        raise SubmissionError(_unnamed(cells, keys))
    best = [study for study, like in alike.items() if like == max(alike.values())]
    if len(best) > 1:
        raise SubmissionError(
            f"its cells have names that the assignments {', '.join(best)} share, and neither a text of theirs nor a "
            "name that one of them asks for: copy the answers into the notebook that was handed out"
        )
    return keys[best[0]]


def _unnamed(cells: Sequence[SubmittedCell], keys: dict[str, Key]) -> str:
    """Say what was seen in a notebook of which no cell has a name that an assignment knows."""
    texts = {cell.source.strip() for cell in cells}
    same = {name: sum(cell.visible.strip() in texts for cell in key.cells) for name, key in keys.items()}
    study = max(same, key=lambda name: same[name])
    if same[study] < 2:
        return "it holds no cell of any assignment, neither by its name nor by its text"
    return (
        f"{same[study]} of its cells have the text of the assignment {study}, but no cell has its name any more: "
        "a program that saved it left out the cells' metadata; copy the answers into the notebook that was handed out"
    )


def arrange(cells: Sequence[SubmittedCell], key: Key, problems: list[str], doubts: dict[str, str]) -> list[Step]:
    """Return what to run and to mark: the student's answers and own cells, between locked cells that are whole.

    `doubts` gets the answers of which it is not clear what the student handed in, each with what was seen.
    """
    cells = _joined(cells, problems)
    order = [cell.id for cell in key.cells]
    theirs: dict[str, SubmittedCell] = {}
    before: dict[str | None, list[SubmittedCell]] = {}  # the student's own cells, by the named cell that follows
    waiting: list[SubmittedCell] = []
    for cell in cells:
        if cell.id is None:
            waiting.append(cell)
        elif cell.id not in order:
            problems.append(f"cell {shown(cell.id, 40)} is none of this assignment: it was left out")
        elif cell.id in theirs:
            doubts[cell.id] = f"cell {cell.id} is there more than once, with other cells between"
            problems.append(f"cell {cell.id} is there more than once, with other cells between: the first one ran")
        else:
            theirs[cell.id] = cell
            before[cell.id], waiting = waiting, []
    before[None] = waiting
    if list(theirs) != [name for name in order if name in theirs]:
        problems.append("the cells stood in another order: they were marked in the assignment's order")
    steps: list[Step] = []
    for known in key.cells:
        steps += _own(before.get(known.id, []))
        if known.id not in theirs:
            problems.append(f"cell {known.id} was deleted: the empty one of the assignment stands in for it")
        steps += _step(known, theirs.get(known.id), problems, doubts)
    return steps + list(_own(before[None]))


def _joined(cells: Sequence[SubmittedCell], problems: list[str]) -> list[SubmittedCell]:
    """Join neighbours of one name and kind: Jupyter gives both halves of a cell that was split, and a copy, its name.

    In one cell they do what they did one after the other.
    """
    joined: list[SubmittedCell] = []
    for cell in cells:
        last = joined[-1] if joined else None
        if last is not None and cell.id is not None and (cell.id, cell.code) == (last.id, last.code):
            joined[-1] = replace(last, source=f"{last.source.rstrip()}\n{cell.source}")
            said = f"cell {shown(cell.id, 40)} is there in pieces, one below the other: they were joined"
            problems += [] if said in problems else [said]
        else:
            joined.append(cell)
    return joined


def _own(cells: Sequence[SubmittedCell]) -> Iterator[Step]:
    return (Step(f"number {cell.place}", cell.source) for cell in cells if cell.code and cell.source.strip())


def _step(
    known: KeyCell, given: SubmittedCell | None, problems: list[str], doubts: dict[str, str]
) -> Iterator[Step]:
    if known.answer:
        source = known.visible
        if given is not None and given.code == known.code:
            source = given.source
        elif given is not None:
            kind = "code" if given.code else "text"
            problems.append(f"cell {known.id} was made a {kind} cell: the empty one of the assignment stands in for it")
            doubts[known.id] = f"cell {known.id} was made a {kind} cell"
        if known.code:
            yield Step(known.id, source)
        return
    if given is not None and given.source.strip() not in (known.visible.strip(), known.source.strip()):
        problems.append(f"locked cell {known.id} was edited: the original counts")
    if known.code:
        yield Step(known.id, known.visible, known.source, known.points)

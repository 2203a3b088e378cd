"""Executes the notebooks of some claims again, each once and until they are judged, beside the committed ones."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from voicewire._kit import pace
from voicewire_book import paths
from voicewire_book.ledger.vocabulary import Score
from voicewire_book.publish import notebooks
from voicewire_book.publish.review import groups
from voicewire_book.publish.review.groups import Reviewed, Told, Tried

__all__ = ["rerun"]

FIRST = """\
from voicewire_book.publish.review import dependencies as _dependencies, groups as _groups
_watched = _dependencies.watch(get_ipython(), {names!r})"""

LAST = "_groups.tell(_watched, {kinds!r}, {scale!r})"

SEED = re.compile(r"^SEED = (\d+)", re.M)

Say = Callable[[str], object]


def rerun(
    rows: Sequence[Score], kinds: Sequence[str] = (), scale: float = 2.0, say: Say = print, base: Path | None = None
) -> list[Reviewed]:
    """Execute again what these claims rest on, and return each claim with what came out, in the given order."""
    base = base or paths.root()
    by_notebook: dict[str, list[str]] = {}
    for row in rows:
        if path := groups.judged_in(row, base):
            by_notebook.setdefault(path, []).append(row["id"])
    _announce(by_notebook, base, say)
    told, stopped, cells = _executed(base, by_notebook, kinds, scale, say)
    other: dict[str, Told] = {}
    ended: dict[str, str] = {}
    if "seed" in kinds:
        seeded = {
            path: names
            for path, all_names in by_notebook.items()
            if (names := [name for name in all_names if name in told and told[name]["seeds"]])
        }
        say(f"with another seed: {_counted(len(seeded), 'notebook')} of {len(by_notebook)} once more")
        other, ended, _ = _executed(base, seeded, (), scale, say, reseeded=True)
    found = []
    for row in rows:
        name = row["id"]
        if name in told and "seed" in kinds:
            told[name]["tried"] += [_other_seed(told[name], other.get(name), ended.get(name, ""))]
        found.append(groups.reviewed(row, told.get(name), cells.get(name, ""), stopped.get(name, "")))
    return found


def _other_seed(told: Told, other: Told | None, ended: str) -> Tried:
    if not told["seeds"]:
        what, verdict = "none: no statement that it rests on uses a SEED of its notebook", ""
    elif other is None:
        what, verdict = f"SEED raised by 1: not judged, {ended or 'its cell stopped'}", ""
    else:
        what, verdict = "SEED raised by 1", other["row"]["verdict"]
    return Tried(kind="seed", what=what, verdict=verdict, turned=None)


def _announce(by_notebook: Mapping[str, Sequence[str]], base: Path, say: Say) -> None:
    try:
        known = json.loads((base / "book" / "times.json").read_text(encoding="utf-8"))["seconds"]
    except (OSError, ValueError, LookupError):
        known = {}
    seconds = sum(known.get(path, 0.0) for path in by_notebook)
    count = sum(map(len, by_notebook.values()))
    long = f", at most {pace.words(seconds)} of one core when it was timed" if seconds else ""
    where = _counted(len(by_notebook), "notebook")
    say(f"to be executed again: {_counted(count, 'claim')} in {where}{long}; Ctrl-C stops it")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _executed(
    base: Path,
    by_notebook: Mapping[str, Sequence[str]],
    kinds: Sequence[str],
    scale: float,
    say: Say,
    reseeded: bool = False,
) -> tuple[dict[str, Told], dict[str, str], dict[str, str]]:
    """Execute notebooks; by claim, return what was told of it, why not, and which cells were executed."""
    told: dict[str, Told] = {}
    stopped: dict[str, str] = {}
    cells: dict[str, str] = {}
    with _scratch(base) as folder:
        begun: dict[Path, str] = {}
        lengths: dict[str, int] = {}
        for number, (path, names) in enumerate(by_notebook.items()):
            whole = nbformat.read(base / path, as_version=4)
            lengths[path] = len(whole.cells)
            first = FIRST.format(names=list(names))
            last = LAST.format(kinds=[kind for kind in kinds if kind != "seed"], scale=scale)
            between = _between(whole, first, last)
            if reseeded:
                _reseed(between)
            begun[folder / f"{number}.ipynb"] = path
            notebooks.write(folder / f"{number}.ipynb", between)
        targets = {path: folder / f"{path.stem}-done.ipynb" for path in begun}
        for number, run in enumerate(notebooks.execute(targets), 1):
            path = begun[run.path]
            say(f"{number}/{len(begun)} {path}: {_counted(len(by_notebook[path]), 'claim')}, {pace.words(run.seconds)}")
            if run.error:
                stopped |= dict.fromkeys(by_notebook[path], f"{path} stopped: {_last_line(run.error)}")
                continue
            done = nbformat.read(targets[run.path], as_version=4)
            found = json.loads(done.cells[-1].outputs[-1].text)
            code = [place for place, cell in enumerate(done.cells) if cell.cell_type == "code"]
            upto = f"{path}, cells 1 to {code[found.pop('cells')]} of {lengths[path]}"
            cells |= dict.fromkeys(by_notebook[path], upto)
            told |= found
            missing = [name for name in by_notebook[path] if name not in found]
            stopped |= dict.fromkeys(missing, f"no cell of {path} judged it{_first_error(done)}")
    return told, stopped, cells


@contextmanager
def _scratch(base: Path) -> Iterator[Path]:
    """A folder inside the clone: from there a kernel finds the book, wherever the package is installed."""
    (base / "_build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="review-", dir=base / "_build") as folder:
        yield Path(folder)


def _between(whole: NotebookNode, first: str, last: str) -> NotebookNode:
    """Return a notebook's cells between one that watches and one that tells."""
    cells = [nbformat.v4.new_code_cell(first), *whole.cells, nbformat.v4.new_code_cell(last)]
    return nbformat.v4.new_notebook(cells=cells, metadata=whole.metadata)


def _reseed(notebook: NotebookNode) -> None:
    """Raise the seed; a cell that asserts what holds with the book's own may stop, and the others go on."""
    for cell in notebook.cells[1:-1]:
        if cell.cell_type == "code":
            cell.source = SEED.sub(lambda found: f"SEED = {int(found[1]) + 1}", cell.source)
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), "raises-exception"]


def _last_line(error: str) -> str:
    """The line of a traceback that says what happened, without the colours of a terminal."""
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in error.splitlines()]
    return next((line for line in reversed(lines) if line), "without a word")


def _first_error(notebook: NotebookNode) -> str:
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                return f": cell {number} stopped with {output.ename}"
    return ""



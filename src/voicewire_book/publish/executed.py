"""Execute the book's notebooks into a folder of their own, tell what differs from what is committed, and write back.

``python -m voicewire_book.publish.executed book [--all]`` executes into ``_build/executed`` what changed since it was
executed there, notes each notebook as it ends (so that an interruption costs only those that were running), and
leaves every tracked file alone. ``… outputs`` then writes new outputs into ``notebooks/`` and draws the README's
picture anew. ``… times`` writes how long each notebook took here into ``book/times.json``: what the chapters and the
README say of running times is held against it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import nbformat

from voicewire._kit import pace
from voicewire_book import paths
from voicewire_book.publish import notebooks

__all__ = ["EXECUTED", "RECORD", "SAID", "current", "execute", "record_times", "sources", "versions", "write_back"]

EXECUTED = Path("_build/executed")
SAID = Path("book/times.json")
"""What the book says of running times rests on this."""
RECORD = EXECUTED / "record.json"
_SOURCES = {".py", ".pyi", ".json", ".toml", ".c", ".js", ".css"}


def digest(base: Path, files: Iterable[Path]) -> str:
    """Return a fingerprint of files: their names within the checkout and their content."""
    total = hashlib.sha256()
    for file in sorted(files):
        total.update(file.relative_to(base).as_posix().encode())
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def sources(base: Path, part: paths.Part) -> list[Path]:
    """Return the files on which the outputs of a part's notebooks depend.

    A study imports no other study: its own slice, its data and all that the studies share. A part that stands beside
    the studies may call any of them.
    """
    package, chapters = base / "src" / "voicewire", base / "src" / "voicewire_book" / "chapters"
    names = [each.name for each in paths.PARTS if part.ledger and each.name != part.name]
    others = [room / name for room in (package, chapters) for name in names]
    ours = [base / "src" / each.name for each in paths.PACKAGES]
    code = [p for each in ours for p in each.rglob("*.*") if p.suffix in _SOURCES and p.is_file()]
    code = [p for p in code if not any(p.is_relative_to(other) for other in others)]
    recorded = base / "data" / part.name if part.ledger else base / "data"
    return [*code, *(p for p in recorded.rglob("*") if p.is_file()), base / "requirements.lock"]


def versions() -> str:
    """Return a fingerprint of Python and of the installed versions of what the package depends on."""
    names = {re.split(r"[^\w.-]", r)[0] for r in metadata.requires("voicewire") or () if "extra ==" not in r}
    lines = [sys.version, *(f"{name} {metadata.version(name)}" for name in sorted(names))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def states(base: Path) -> dict[str, str]:
    """Return for each chapter's name what its outputs depend on, as a fingerprint, in the order of the book."""
    found, installed = {}, versions()
    for part in paths.PARTS:
        chapters = paths.chapters(part.name, base)
        shared = digest(base, sources(base, part)) if chapters else ""
        for path in chapters:
            found[path.relative_to(base).as_posix()] = f"{shared}{digest(base, [path])}{installed}"
    return found


def _record(base: Path) -> dict[str, Any]:
    try:
        known: dict[str, Any] = json.loads((base / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known


def current(base: Path) -> dict[Path, Path]:
    """Return the notebooks that were executed here from the files and versions that are here now."""
    known = _record(base)
    names = [name for name, state in states(base).items() if _is(state, base, name, known)]
    return {base / name: base / EXECUTED / name for name in names}


def _is(state: str, base: Path, name: str, known: dict[str, Any]) -> bool:
    return known.get(name, {}).get("state") == state and (base / EXECUTED / name).is_file()


def execute(base: Path, everything: bool = False, workers: int | None = None) -> None:
    """Execute what changed since it was executed here, and say what differs from the committed outputs."""
    if everything:
        shutil.rmtree(base / EXECUTED, ignore_errors=True)
    known, wanted = _record(base), states(base)
    known = {name: entry for name, entry in known.items() if name in wanted and (base / EXECUTED / name).is_file()}
    stale = [base / name for name, state in wanted.items() if not _is(state, base, name, known)]
    (base / EXECUTED).mkdir(parents=True, exist_ok=True)

    def done(result: notebooks.Run) -> None:
        name = result.path.relative_to(base).as_posix()
        known[name] = {"state": wanted[name], "differing": result.differing, "measured": result.measured}
        scratch = (base / RECORD).with_suffix(".tmp")
        scratch.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        scratch.replace(base / RECORD)

    if stale:
        already = f"; {len(wanted) - len(stale)} are done" if len(stale) < len(wanted) else ""
        print(f"executing {len(stale)} of {len(wanted)} notebooks{already}{how_long(base, stale, workers)}", flush=True)
        notebooks.run(
            longest_first(base, stale), workers, target=lambda path: base / EXECUTED / path.relative_to(base), done=done
        )
    print(report({name: known[name] for name in wanted}), flush=True)


def longest_first(base: Path, stale: Sequence[Path]) -> list[Path]:
    """Return notebooks in the order in which no core waits for a long one at the end: by the times the book states."""
    try:
        spent = json.loads((base / SAID).read_text(encoding="utf-8"))["seconds"]
    except (OSError, ValueError, LookupError):
        spent = {}
    return sorted(stale, key=lambda path: -float(spent.get(path.relative_to(base).as_posix(), 0.0)))


def how_long(base: Path, stale: Sequence[Path], workers: int | None = None) -> str:
    """Return how long notebooks will take, from what each took when it was executed here last, or nothing."""
    try:
        times = json.loads((base / notebooks.TIMES).read_text(encoding="utf-8"))
        spent = [float(times[path.relative_to(base).as_posix()]["seconds"]) for path in stale]
    except (OSError, ValueError, LookupError, TypeError):
        return ""
    at_once = workers or min(len(stale), os.cpu_count() or 1)
    return f"; {pace.words(max(sum(spent) / at_once, *spent, 0.0))}, as it took here before"


def report(known: dict[str, Any]) -> str:
    """Return in words what differs from the committed outputs."""
    lines = []
    for name, entry in known.items():
        if entry["differing"]:
            lines.append(f"  {name}: cells {', '.join(map(str, entry['differing']))}")
    measured = sum(len(entry["measured"]) for entry in known.values())
    free = f" (beside {measured} cells that measure, or name what is installed here)" if measured else ""
    if not lines:
        return f"{len(known)} notebooks: every output is as committed{free}"
    return "\n".join([f"{len(lines)} of {len(known)} notebooks differ from what is committed{free}:", *lines])


def write_back(base: Path) -> list[str]:
    """Put the executed notebooks in the place of the committed ones where any output differs; return their names."""
    written = []
    for name in states(base):
        executed = base / EXECUTED / name
        if executed.is_file() and executed.read_bytes() != (base / name).read_bytes():
            new, old = (nbformat.read(path, as_version=4) for path in (executed, base / name))
            if [cell.source for cell in new.cells] == [cell.source for cell in old.cells]:
                notebooks.write(base / name, new)
                written.append(name)
    return written


def outputs(base: Path) -> None:
    """Write new outputs into the committed notebooks, draw the README's picture anew, write the archives' files."""
    from voicewire_book.publish.machines import archives
    from voicewire_book.publish.pages import scorecard

    written = write_back(base)
    known, wanted = _record(base), states(base)
    for name in written:  # the file is another one now; what it depends on was the same when it was executed
        known[name] = {"state": wanted[name], "differing": [], "measured": []}
    (base / RECORD).write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    picture = base / scorecard.PICTURE
    drawn = scorecard.draw_picture(base)
    if picture.read_text(encoding="utf-8") != drawn:
        picture.write_text(drawn, encoding="utf-8")
        written.append(scorecard.PICTURE.as_posix())
    written += archives.write(base)
    print("\n".join(["written anew:", *(f"  {name}" for name in written)]) if written else "nothing to write")


def record_times(base: Path) -> None:
    """Keep time and memory that each chapter took when it was executed here last, with date, machine and Python."""
    file = base / notebooks.TIMES
    times = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    names = [path.relative_to(base).as_posix() for path in paths.chapters(base=base)]
    missing = [name for name in names if name not in times]
    if missing or not names:
        raise notebooks.NotebookError(
            f"not executed here: {', '.join(missing) or 'any chapter'}; make book --all first"
        )
    record = {
        "date": time.strftime("%Y-%m-%d", time.localtime(file.stat().st_mtime)),
        "machine": f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "seconds": {name: times[name]["seconds"] for name in names},
        "megabytes": {name: times[name]["megabytes"] for name in names},
    }
    (base / SAID).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of ``python -m voicewire_book.publish.executed``."""
    parser = argparse.ArgumentParser(
        prog="python -m voicewire_book.publish.executed", description=str(__doc__).split("\n")[0]
    )
    parser.add_argument("command", choices=["book", "outputs", "times"])
    parser.add_argument("--all", action="store_true", help="execute every notebook, whatever was executed before")
    parser.add_argument("--workers", type=int, default=None, help="kernels at a time (default: one for each core)")
    options = parser.parse_args(arguments)
    base = paths.root()
    try:
        if options.command == "times":
            record_times(base)
            return 0
        execute(base, options.all, options.workers)
        if options.command == "outputs":
            outputs(base)
    except notebooks.NotebookError as error:
        print(f"voicewire_book.publish.executed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: what is executed is kept, the same command goes on there", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The status page: from which commit, with which versions, and in which time the book was made."""

from __future__ import annotations

import json
import platform
import re
import tomllib
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

from voicewire_book import paths
from voicewire_book.ledger import evidence
from voicewire_book.publish.clone import commit
from voicewire_book.publish.live import wheels

__all__ = ["page"]

TIMES = Path(".cache/notebook-times.json")


def page(base: Path, link: Callable[[str], str | None]) -> str:
    """Return the MyST text of the page: the build, the notebooks, the recordings, the versions."""
    parts = ["## This build\n", _build(base), "## Notebooks\n", _notebooks(base, link), _recorded(base)]
    return "\n".join([*parts, _versions(base)])


def _build(base: Path) -> str:
    short, date = commit(base)
    rows = [
        ("Edition", metadata.version("voicewire")),
        ("Commit", f"`{short}` of {date}"),
        ("Python", platform.python_version()),
    ]
    return "| What | value |\n|---|---|\n" + "".join(f"| {name} | {value} |\n" for name, value in rows)


def _notebooks(base: Path, link: Callable[[str], str | None]) -> str:
    try:
        times: dict[str, Any] = json.loads((base / TIMES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        times = {}
    lines = ["| Notebook | cells | kB | run time in s | peak memory in MB |\n|---|---:|---:|---:|---:|\n"]
    total = 0.0
    chapters = paths.chapters(base=base)
    if not chapters:
        return "No study of this checkout has a notebook yet.\n"
    for path in chapters:
        name = path.relative_to(base).as_posix()
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        ran = times.get(name, {})
        total += ran.get("seconds", 0.0)
        # A page that the book does not have yet is named, not linked.
        shown = f"{{doc}}`/{name.removesuffix('.ipynb')}`" if link(name.removesuffix(".ipynb")) else f"`{name}`"
        lines.append(
            f"| {shown} | {sum(cell['cell_type'] == 'code' for cell in cells)} | {path.stat().st_size / 1000:.0f} "
            f"| {ran.get('seconds', '')} | {ran.get('megabytes', '')} |\n"
        )
    if total:
        lines.append(f"\nAll notebooks together ran for {total:.0f} s of kernel time.\n")
    else:
        lines.append("\nThis book was built from the committed outputs; `make book` measures the run times anew.\n")
    return "".join(lines)


def _recorded(base: Path) -> str:
    """Return whether each part's recorded files are, by their SHA-256, those that were recorded."""
    rows = []
    for part in paths.PARTS:
        folder = base / "data" / part.name
        if known := evidence.known(folder):
            state = "; ".join(evidence.faults(folder)) or "as recorded"
            rows.append(f"| `data/{part.name}` | {len(known)} | {state} |\n")
    return "## Recorded files\n\n| Folder | files with a checksum | state |\n|---|---:|---|\n" + "".join(rows) + "\n"


def _versions(base: Path) -> str:
    """Return what the outputs were made with, and what a page that runs Python has of it."""
    project = tomllib.loads((base / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    there = {name.lower(): package.version for name, package in wheels.packages().items()}
    rows = [("Python", platform.python_version(), wheels.listed()["info"]["python"])]
    extras = project["optional-dependencies"]
    fields = [line for name in ("phonetics", "echo", "voip", "transport", "fast") for line in extras[name]]
    groups = [*project["dependencies"], *fields], extras["book"]
    asked, extra = (
        list(dict.fromkeys(re.split(r"[<>=~!;\[ ]", requirement)[0] for requirement in group)) for group in groups
    )
    for name in asked + [name for name in extra if name.lower() in there]:  # of the book's tools, what a page imports
        try:
            rows.append((name, metadata.version(name), there.get(name.lower(), "not there")))
        except metadata.PackageNotFoundError:
            continue
    table = "| Package | here | in a page |\n|---|---|---|\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)
    return (
        "## Versions\n\nThe outputs in the pages were made with the first. A page that runs Python has versions of its "
        f"own, those of Pyodide {wheels.release()['pyodide']}.\n\n{table}"
    )

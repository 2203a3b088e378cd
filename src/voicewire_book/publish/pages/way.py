"""The journey in small: one sentence's budget, its sound at the end and the call's sliders, from the executed chapter.

The chapter marks the cells whose outputs are wanted by the metadata ``{"voicewire": {"home": …}}``: "budget" has the
table as text, "sound" a player, "knob" the sliders.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import nbformat

from voicewire_book import paths

__all__ = ["PART", "small"]

PART = "journey"
_MOVE = "Move what carries the call, and how long its path takes: see which frames are played, and hear them."
_ROW = re.compile(r"^([a-z]+) +(\d+) +([\d.]+) +([\d.]+)  (.+)$", re.M)


def small(base: Path, link: Callable[[str], str | None]) -> str:
    """Return the journey's stations as a table, with the sound that arrives, sliders, and the way to the chapter."""
    for path in paths.chapters(PART, base):
        page = path.relative_to(base).as_posix().removesuffix(".ipynb")
        if link(page) is None:
            continue
        marked = _marked(path)
        rows = _ROW.findall(marked.get("budget", ""))
        if not rows:
            raise ValueError(f"{path.name} shows no budget: execute it, or mark the cell that prints it")
        lines = ["| station | bytes that go on | whole at | lost |\n|---|---:|---:|---|\n"]
        for station, size, _, ends, lost in rows:
            lines.append(f"| {station} | {int(size):,} | {ends} s | {lost} |\n".replace(",", "\u202f", 1))
        knob = f"{_MOVE}\n\n```{{raw}} html\n{marked['knob']}\n```\n\n" if "knob" in marked else ""
        return f"{''.join(lines)}\n{marked.get('sound', '')}\n\n{knob}{{doc}}`Go the whole way </{page}>`\n"
    return "The journey does not stand in this copy yet.\n"


def _marked(path: Path) -> dict[str, str]:
    """Give the outputs of the marked cells: HTML where there is some, else text."""
    found: dict[str, str] = {}
    for cell in nbformat.read(path, as_version=4).cells:
        name = cell.metadata.get("voicewire", {}).get("home")
        for output in cell.get("outputs", []) if name else []:
            data = output.get("data", {})
            found[name] = data.get("text/html") or data.get("text/plain") or output.get("text", "")
    return found

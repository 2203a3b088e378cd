"""What the introductions say of the parts beside their text: findings with the ledger's numbers, and times.

A finding in ``parts.toml`` names claims in braces: ``{nfc.table-7.3.burst-fewer:random|.0f}`` is what this copy's
ledger has for that claim, its field ``random`` (where it has several), in a format of Python's.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import nbformat

from voicewire import paths
from voicewire.ledger import collecting

__all__ = ["WORDS_A_MINUTE", "filled", "findings", "minutes", "times"]

WORDS_A_MINUTE = 200
_NUMBER = re.compile(r"\{([a-z0-9.-]+)(?::([^|}]+))?\|([^}]+)\}")
_NO_PROSE = re.compile(r"^(`{3,}|:{3,}).*?^\1|\$\$.*?\$\$|<[^>]*>", re.M | re.S)


def filled(finding: str, reproduced: Mapping[str, Any]) -> str:
    """Return a finding with its numbers.

    Parameters
    ----------
    finding : str
        A sentence of ``parts.toml``.
    reproduced : mapping of str to object
        What was found, by the claim's id.

    Returns
    -------
    str
        The sentence.

    Raises
    ------
    KeyError
        If it names a claim, or a field of one, that the ledger does not have.

    Examples
    --------
    >>> filled("{a.b:x|.1f} dB in {a.c|.0%} of all", {"a.b": {"x": 2.04}, "a.c": 0.25})
    '2.0 dB in 25 % of all'
    """

    def number(match: re.Match[str]) -> str:
        value = reproduced[match.group(1)]
        value = value[match.group(2)] if match.group(2) else value
        return f"{value:{match.group(3)}}".replace("%", " %")

    return _NUMBER.sub(number, finding)


def _reproduced(base: Path) -> dict[str, Any]:
    return {row["id"]: row["reproduced"] for row in collecting.scorecard(base)}


def findings(base: Path, link: Callable[[str], str | None], study: str = "") -> str:
    """Return what the studies found, a sentence each, or that of one study.

    Parameters
    ----------
    base : Path
        The checkout.
    link : callable
        The address of a page of the book, or None if the book does not have it.
    study : str
        Only this one's, without its name.

    Returns
    -------
    str
        MyST: a list of links, or a paragraph. A study that is not there, or has no finding yet, is absent.

    Examples
    --------
    >>> findings(paths.root(), lambda target: None)
    'Nothing was found in this copy yet.\\n'
    """
    known = _reproduced(base)
    lines = []
    for part in paths.PARTS:
        claims = _NUMBER.findall(part.finding)
        if not claims or (study and part.name != study) or any(claim not in known for claim, *_ in claims):
            continue
        text = filled(part.finding, known)
        row = f"score-{claims[0][0]}"
        card = link("book/scorecard")
        judged = f' <a class="reference internal" href="{card}#{row}">How it was judged</a>.' if card else ""
        if study:
            return f"**The finding.** {text}{judged}\n"
        if link(f"book/{part.name}/index") is not None:
            lines.append(f"- {{doc}}`{part.title} </book/{part.name}/index>`<br>{text}{judged}\n")
    return "".join(lines) or "Nothing was found in this copy yet.\n"


def minutes(notebook: nbformat.NotebookNode) -> int:
    """Return how long a chapter takes to read: 200 words a minute, and a minute for each figure; no exercises.

    Parameters
    ----------
    notebook : NotebookNode
        With its outputs.

    Returns
    -------
    int
        Minutes, rounded up. Folded solutions, formulas and code are not counted.

    Examples
    --------
    >>> cell = nbformat.v4.new_markdown_cell("one two three " * 100)
    >>> minutes(nbformat.v4.new_notebook(cells=[cell]))
    2
    """
    words = figures = 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            words += len(_NO_PROSE.sub(" ", cell.source).split())
        for output in cell.get("outputs", []):
            figures += any(kind.startswith("image/") for kind in output.get("data", {}))
    return math.ceil(words / WORDS_A_MINUTE + figures)


def times(base: Path, link: Callable[[str], str | None], study: str) -> str:
    """Return a table of a part's chapters: how long each takes to read, how many exercises it has, how long it runs.

    Parameters
    ----------
    base : Path
        The checkout.
    link : callable
        As for `findings`.
    study : str
        The part.

    Returns
    -------
    str
        MyST: a row for each chapter that the book has.

    Examples
    --------
    >>> times(paths.root(), lambda target: None, "nfc")
    'No chapter of this part stands in this copy.\\n'
    """
    file = base / "book" / "times.json"
    ran = json.loads(file.read_text(encoding="utf-8"))["seconds"] if file.is_file() else {}
    rows = []
    for path in paths.chapters(study, base):
        name = path.relative_to(base).as_posix()
        page = name.removesuffix(".ipynb")
        if link(page) is None:
            continue
        notebook = nbformat.read(path, as_version=4)
        text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        exercises = len(re.findall(r"^[`:]{3,}\{exercise(?:-start)?\}", text, re.M))
        seconds = f"{ran[name]:.0f} s" if name in ran else ""
        rows.append(f"| {{doc}}`/{page}` | {minutes(notebook)} min | {exercises} | {seconds} |\n")
    if not rows:
        return "No chapter of this part stands in this copy.\n"
    head = "| chapter | to read | exercises | to run |\n|---|---:|---:|---:|\n"
    return head + "".join(rows)

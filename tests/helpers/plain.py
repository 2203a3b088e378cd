"""What a program can see of whether a chapter is plainly told: `python tests/helpers/plain.py NOTEBOOK…` prints it.

Figures that the text names before they are seen, visible cells that follow a word, sentences that go on for too long.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import nbformat

LONG = 30
"""Words that a sentence may have; one in twenty may have more."""
RUN = 3
"""Cells of code that one sentence may introduce."""

FENCE = re.compile(r"^([`:]{3,}).*$", re.M)
DISPLAY = re.compile(r"\$\$.*?\$\$(?: *\([\w-]+\))?", re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
SET_APART = re.compile(r"^\s*(?:#|\||:\w+:|%)")  # headings, rows of tables, options of directives
ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.) +")
END = re.compile(r"(?<=[.!?:;])[)”\"*_]* +(?=[\[“\"(*_$A-Z0-9`])")
UNSEEN = {"hide-input", "hide-cell", "remove-input", "remove-cell", "check", "solution"}


@dataclass
class Found:
    """What was found in one chapter."""

    unnamed: list[str] = field(default_factory=list)
    """Figures that no text before them names."""
    figures: int = 0
    unspoken: list[str] = field(default_factory=list)
    """Visible cells with no word before them or before their run."""
    cells: int = 0
    long: list[str] = field(default_factory=list)
    """Sentences with more words than `LONG`."""
    sentences: int = 0


def prose(text: str) -> Iterator[str]:
    """Give a cell's paragraphs and items as words: a formula counts as one, what is set apart as none."""
    text = DISPLAY.sub(" X ", COMMENT.sub(" ", text))
    text = re.sub(r"\{cite(?::\w+)?\}`[^`]*`", "", text)
    text = re.sub(r"\{\w+(?::\w+)?\}`(?:([^`<]*?) *<[^`]*>|([^`]*))`", lambda found: found[1] or found[2], text)
    text = re.sub(r"`[^`\n]+`", "X", re.sub(r"\$[^$]+\$", "X", LINK.sub(r"\1", text)))
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        if not line.strip() or SET_APART.match(line) or FENCE.match(line) or ITEM.match(line):
            yield " ".join(block)
            block = []
        if line.strip() and not SET_APART.match(line) and not FENCE.match(line):
            block.append(ITEM.sub("", line))


def sentences(text: str) -> list[str]:
    """Return the sentences of a cell's prose."""
    return [each for block in prose(text) for each in END.split(block) if re.search(r"\w", each)]


def words(sentence: str) -> int:
    """Count what stands between blanks and has a letter or a digit."""
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


def name(cell: Any) -> str:
    """Return the name under which a cell's figure can be cited, or nothing."""
    return str(cell.metadata.get("mystnb", {}).get("figure", {}).get("name", ""))


def look(notebook: Any) -> Found:
    """Return what is found in a notebook."""
    found, told, run, solved = Found(), "", RUN, False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            told += cell.source
            run = 0 if sentences(cell.source) else run
            solved = "{solution-start}" in cell.source or (solved and "{solution-end}" not in cell.source)
            found.sentences += len(sentences(cell.source))
            found.long += [each for each in sentences(cell.source) if words(each) > LONG]
        elif cell.cell_type == "code":
            if name(cell):
                found.figures += 1
                found.unnamed += [] if f"{{numref}}`{name(cell)}`" in told else [name(cell)]
            if not UNSEEN & set(cell.metadata.get("tags", [])) and not solved:
                found.cells += 1
                run += 1
                found.unspoken += [cell.id] if run > RUN else []
    return found


def main(paths: list[str]) -> None:
    """Print what is found in notebooks."""
    for path in paths:
        found = look(nbformat.read(path, as_version=4))
        print(f"{path}: figures not named {len(found.unnamed)} of {found.figures},", end=" ")
        print(f"cells without a word {len(found.unspoken)} of {found.cells},", end=" ")
        print(f"sentences above {LONG} words {len(found.long)} of {found.sentences}")
        for each in (*found.unnamed, *found.unspoken):
            print("   ", each)
        for each in found.long:
            print("   ", words(each), each)


if __name__ == "__main__":
    main(sys.argv[1:])

"""Algorithms in boxes: the lines that stand in a chapter's box, and what they are held to.

A part's module here (``boxes.echo`` …) has ``CASES``: the box's name, what it is given, what has to come out of it.
"""

from __future__ import annotations

import importlib
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import nbformat
import numpy as np

from voicewire_book import paths
from voicewire_book.publish.pages.gather import BOX

LINES = re.compile(r"(?:^(?: {4}.*)?\n)+", re.M)


@dataclass(frozen=True)
class Case:
    """What a box is tried with."""

    given: Callable[[np.random.Generator], dict[str, Any]]
    """The names that the box uses, and the functions that it calls."""
    expected: Callable[[dict[str, Any]], dict[str, Any]]
    """What the reference version makes of the same names: those that the box has to leave so."""


def lines(body: str) -> str:
    """Return the code of a box: its indented lines."""
    return textwrap.dedent("".join(LINES.findall(body))).strip() + "\n"


def bodies() -> dict[str, str]:
    """Return what stands in each box of the book, by its name."""
    cells = (cell for path in paths.chapters() for cell in nbformat.read(path, as_version=4).cells)
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return {name: body for _, _, name, body in BOX.findall(text)}


def cases() -> dict[str, Case]:
    """Return every part's cases."""
    found: dict[str, Case] = {}
    for part in paths.PARTS:
        try:
            found |= importlib.import_module(f"boxes.{part.name}").CASES
        except ModuleNotFoundError as error:
            if error.name != f"boxes.{part.name}":
                raise
    return found


def after(code: str, names: dict[str, Any]) -> dict[str, Any]:
    """Run a box's lines with these names; return all names after it."""
    space = {"np": np, **names}
    exec(compile(code, "<box>", "exec"), space)
    return space

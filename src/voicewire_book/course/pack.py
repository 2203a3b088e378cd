"""The figures of the chapters as files, each with its number in the book, its caption and where it comes from."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from html import escape
from pathlib import Path

import nbformat

from voicewire._kit import sheets
from voicewire_book.course.handout import student_copy
from voicewire_book.course.markup import Markup

__all__ = ["Figure", "figures", "listed"]

_DRAWING = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes
    ----------
    file : str
        Its name in the pack.
    number : str
        Its number in the book; nothing where it has none.
    caption : str
        In plain words.
    alt : str
        What it shows, for who doesn't see it.
    chapter : str
        The notebook that it comes from.
    cell : str
        The cell that draws or shows it.
    sha256 : str
        Of the file.
    """

    file: str
    number: str
    caption: str
    alt: str
    chapter: str
    cell: str
    sha256: str


def figures(chapter: Path, markup: Markup) -> Iterator[tuple[Figure, bytes]]:
    """Yield the figures of a chapter in order: what its cells drew, and the drawings in its text."""
    count = 0
    name = chapter.relative_to(markup.base).as_posix()
    for cell in student_copy(nbformat.read(chapter, as_version=4)).cells:
        about = cell.metadata.get("mystnb", {})
        named = about.get("figure", {})
        found: list[tuple[str, str, bytes]] = []  # ending, alternative text, content
        if cell.cell_type == "markdown":
            for alt, target in _DRAWING.findall(cell.source):
                file = (chapter.parent / target).resolve()
                found.append((file.suffix, alt, file.read_bytes()))
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" in data and "text/html" not in data:
                alt = about.get("image", {}).get("alt", "")
                found.append((".png", alt, base64.b64decode(data["image/png"])))
        for ending, alt, content in found:
            count += 1
            caption = re.sub(r"[*`$\\]", "", markup.words(named.get("caption", "")))
            number = markup.numbers.get(named.get("name", ""), "")
            check = hashlib.sha256(content).hexdigest()
            file_name = f"{chapter.stem[:2]}-{count}{ending}"
            yield Figure(file_name, number, caption, alt, name, cell.id, check), content


def listed(part: str, found: list[Figure]) -> tuple[str, str]:
    """Return the list of a part's figures as CSV and as HTML."""
    table = io.StringIO()
    write = sheets.Writer(table)
    write.writerow([each.name for each in fields(Figure)])
    write.writerows(astuple(figure) for figure in found)
    shown = "".join(
        f'<figure><img src="{escape(one.file)}" alt="{escape(one.alt)}"><figcaption>'
        f"{f'Fig. {one.number}: ' if one.number else ''}{escape(one.caption or one.alt)} "
        f"<small>({escape(one.file)}, from {escape(one.chapter)}, cell {escape(one.cell)})</small>"
        "</figcaption></figure>"
        for one in found
    )
    return table.getvalue(), shown

"""The file that slides, papers and lists of figures stand in: HTML with its style, script and formulas inside."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

__all__ = ["Slide", "page", "sheet"]


@dataclass
class Slide:
    """One slide.

    Attributes
    ----------
    title : str
        Its heading, as HTML.
    parts : list of str
        What it shows, as HTML.
    notes : list of str
        What the speaker reads, as HTML.
    weight : float
        Lines that it takes, about.
    """

    title: str
    parts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    weight: float = 0.0


SETTINGS = "window.MathJax = {options: {enableMenu: false}, svg: {fontCache: 'global'}, tex: {tags: 'none'}};"


@cache
def mathjax() -> str:
    """Return the program that sets formulas, as the book's pages have it, in one file without fonts."""
    spec = importlib.util.find_spec("sphinx-mathjax-offline")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("sphinx-mathjax-offline is missing: pip install 'voicewire[book]'")
    text = (Path(spec.origin).parent / "static" / "mathjax" / "tex-svg.js").read_text(encoding="utf-8")
    return text.replace("</script", "<\\/script")


@cache
def _beside(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _document(title: str, style: str, body: str, script: str = "") -> str:
    plain = re.sub(r"<[^>]+>|\\[()]", "", title)
    formulas = ""
    if re.search(r"\\[(\[]|\\begin\{", body):
        formulas = f"<script>{SETTINGS}</script><script>{mathjax()}</script>"
    return (
        f'<!DOCTYPE html>\n<html lang="en-GB"><head><meta charset="utf-8"><title>{plain}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_beside(style)}</style></head>\n'
        f"<body>\n{body}\n{formulas}{f'<script>{script}</script>' if script else ''}</body></html>\n"
    )


def page(title: str, slides: Sequence[Slide]) -> str:
    """Return slides as one HTML page."""
    made = []
    for number, slide in enumerate(slides, start=1):
        head = "h1" if number == 1 else "h2"
        notes = f'<aside class="notes">{"".join(slide.notes)}</aside>' if slide.notes else ""
        made.append(
            f'<section class="slide" id="{number}"><div class="screen"><{head}>{slide.title}</{head}>'
            f'<div class="body">{"".join(slide.parts)}</div>'
            f"<footer>{number} of {len(slides)}</footer></div>{notes}</section>"
        )
    return _document(title, "deck.css", "\n".join(made), _beside("deck.js"))


def sheet(title: str, body: str) -> str:
    """Return one HTML page to print: a paper, a plan, a list."""
    return _document(title, "sheet.css", f"<main><h1>{title}</h1>\n{body}</main>")

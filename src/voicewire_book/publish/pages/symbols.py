"""Symbols of formulas in the colour that their curve has in a figure: what `symbols.toml` beside a notebook lists.

A formula names a quantity and a figure draws it; who sees both in one colour need not search the legend. The curve is
labelled with the symbol too, since colour is never the only sign. MathJax gives the symbol a class, and the style
sheet the class its colour, which is darker than the curve's where letters need it, and lighter on a dark page.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

__all__ = ["SHADES", "coloured", "listed"]

SHADES = ("#0072b2", "#c04e00", "#00795c", "#a3578a", "#7a6a00")
"""The first colours of `figures.SERIES` as letters have them on white, and `book.css`: 4.5:1 at least."""

_PIECE = re.compile(r"\\[A-Za-z]+|\\.|.", re.S)
_WORDS = ("\\text", "\\operatorname", "\\mathrm", "\\begin", "\\end", "\\label", "\\tag")
"""What stands in braces after these are words, not symbols."""
_TAKING = re.compile(r"[_^]|\\(?:hat|widehat|tilde|bar|overline|vec|dot|sqrt|[td]?frac)")
"""What takes the next token alone, so that no class can stand in its place."""


@cache
def listed(part: Path) -> dict[str, dict[str, int]]:
    """Return the symbols of a part's chapters that have a curve's colour.

    Notes
    -----
    Every chapter's formulas.
    """
    file = part / "symbols.toml"
    found: dict[str, dict[str, int]] = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    for chapter, symbols in found.items():
        for symbol, place in symbols.items():
            if place not in range(len(SHADES)):
                raise ValueError(f"{file}: {symbol} of {chapter} has colour {place!r}: write 0 to {len(SHADES) - 1}")
    return found


def coloured(tex: str, symbols: Mapping[str, int]) -> str:
    """Give symbols of a formula the class of their colour.

    Notes
    -----
    Every chapter's formulas.
    """
    before = ""
    longest = sorted(symbols, key=len, reverse=True)
    done, at = [], 0
    while at < len(tex):
        symbol = next((one for one in longest if _stands(tex, at, one)), None)
        if symbol is not None and not _TAKING.fullmatch(before):
            at += len(symbol)
            letter, _, index = symbol.partition("_")
            start = f"\\class{{vw-s{symbols[symbol]}}}"
            if index and tex[at:].lstrip().startswith("^"):
                done.append(f"{start}{{{letter}}}_{{{start}{{{index}}}}}")
            else:
                done.append(f"{start}{{{symbol}}}")
            before = ""
            continue
        piece = _PIECE.match(tex, at)
        assert piece is not None
        end = piece.end()
        if piece[0] in _WORDS and (group := re.compile(r"\*?\s*\{[^{}]*\}").match(tex, end)):
            end = group.end()
        done.append(tex[at:end])
        at = end
        before = piece[0] if piece[0].strip() else before
    return "".join(done)


def _stands(tex: str, at: int, symbol: str) -> bool:
    """Whether a whole symbol stands at a place, and no longer one."""
    if not tex.startswith(symbol, at):
        return False
    after = tex[at + len(symbol) :].lstrip()
    return not after.startswith("_") and not (symbol[-1].isalpha() and "\\" in symbol and after[:1].isalpha())


def colour(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Colour the symbols of a page, in a book of HTML."""
    if app.builder is None or app.builder.format != "html":
        return
    path = Path(app.srcdir) / page
    symbols = listed(path.parent).get(path.name)
    if not symbols:
        return
    for formula in [*doctree.findall(nodes.math), *doctree.findall(nodes.math_block)]:
        before = formula.astext()
        after = coloured(before, symbols)
        if after != before:
            formula.children = []
            formula += nodes.Text(after)

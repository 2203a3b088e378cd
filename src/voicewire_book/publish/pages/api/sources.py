"""The source of each module as a page: every public name in it leads back to its entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

from voicewire_book.publish.pages.api.names import Entry, Module

__all__ = ["FOLDER", "address", "page", "write"]

FOLDER = "_modules"
"""Where they lie in the site."""

_CLASSES: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "c1"), (String, "s2"), (Keyword, "k"), (Number, "mi"), (Operator.Word, "ow"), (Name.Function, "nf"),
    (Name.Class, "nc"), (Name.Decorator, "nd"),
)  # fmt: skip
"""What is coloured, in the theme's classes: less than Sphinx's own pages do, a third of their size."""

_DARK = (
    'var m=localStorage.getItem("mode")||"auto";document.documentElement.dataset.theme='
    'm=="dark"||m!="light"&&matchMedia("(prefers-color-scheme:dark)").matches?"dark":"light"'
)


def address(module: str) -> str:
    """Return the page of a module's source, by its path in the site."""
    return f"{FOLDER}/{module.replace('.', '/')}.html"


def _coloured(text: str) -> Iterator[str]:
    """Give the lines of a module as HTML."""
    line: list[str] = []
    for kind, value in PythonLexer(stripnl=False).get_tokens(text):
        name = next((css for known, css in _CLASSES if kind in known), "")
        for number, piece in enumerate(value.split("\n")):
            if number:
                yield "".join(line)
                line = []
            if piece:
                shown = escape(piece, quote=False)
                line.append(f'<span class="{name}">{shown}</span>' if name and piece.strip() else shown)
    if line:
        yield "".join(line)


def page(module: Module, entries: Sequence[tuple[Entry, str]], home: str) -> str:
    """Return the page of a module's source."""
    at: dict[int, list[tuple[Entry, str]]] = {}
    for each, where in entries:
        at.setdefault(each.line, []).append((each, where))
        for method in each.methods:
            at.setdefault(method.line, []).append((method, f"{where.partition('#')[0]}#{method.name}"))
    lines = []
    for number, line in enumerate(_coloured(module.text), 1):
        here = "".join(f'<span id="{each.name}"></span>' for each, _ in at.get(number, ()))
        back = "".join(
            f'  <a href="{escape(where)}" aria-label="Documentation of {each.own}">documentation</a>'
            for each, where in at.get(number, ())
        )
        lines.append(f"{here}{line}{back}")
    code = "\n".join(lines)
    first = f' · <a href="{escape(entries[0][1].partition("#")[0])}">functions</a>' if entries else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">'
        f"<title>{module.name}, source — Voice to Wire</title><script>{_DARK}</script>"
        f'<link rel="icon" href="{home}_static/favicon.svg"><link rel="stylesheet" href="{home}_static/pygments.css">'
        f'<link rel="stylesheet" href="{home}_static/source.css"></head><body>'
        f'<header><a href="{home}book/index.html">Voice to Wire</a>{first}<h1>{module.name}</h1></header>'
        f'<main class="highlight"><pre tabindex="0" aria-label="Source">{code}</pre></main></body></html>\n'
    )


def write(site: Path, modules: dict[str, Module], places: dict[str, list[tuple[Entry, str]]]) -> None:
    """Write the source of every module that an entry is defined in."""
    for name, entries in places.items():
        target = site / address(name)
        home = "../" * address(name).count("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        seen = [(each, home + where) for each, where in entries]
        target.write_text(page(modules[name], seen, home), encoding="utf-8")

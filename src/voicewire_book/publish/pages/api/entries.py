"""One public name as HTML: its signature, its docstring, its source and the chapters that use it."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from html import escape
from itertools import pairwise

from numpydoc.docscrape import NumpyDocString
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonConsoleLexer, PythonLexer

from voicewire_book.publish.pages.api.names import Entry

__all__ = ["Link", "entry", "inline", "prose"]

Link = Callable[[str], str | None]
"""Gives the address that a word in backquotes leads to, or None if it leads nowhere."""

_INLINE = re.compile(
    r"``(?P<code>.+?)``|:math:`(?P<math>[^`]+)`|(?::[\w:+-]+:)?`(?P<name>[^`]+)`|"
    r"\*\*(?P<strong>[^*\s](?:[^*]*[^*\s])?)\*\*|(?<![\w*])\*(?P<emphasis>[^*\s](?:[^*]*[^*\s])?)\*(?![\w*])",
    re.S,
)
_CHAPTER = re.compile(r"notebooks/\w+/\d\d_\w+")
_FIELDS = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns")
_TOLD = ("See Also", "Notes", "References")


def inline(text: str, link: Link) -> str:
    """Return a line of a docstring as HTML."""
    done, end = [], 0
    for mark in _INLINE.finditer(text):
        done.append(escape(text[end : mark.start()], quote=False))
        done.append(_marked(mark, link))
        end = mark.end()
    return "".join([*done, escape(text[end:], quote=False)])


def _marked(mark: re.Match[str], link: Link) -> str:
    inner = escape(mark[mark.lastgroup or 0], quote=False)
    if mark.lastgroup in ("strong", "emphasis"):
        tag = {"strong": "strong", "emphasis": "em"}[mark.lastgroup]
        return f"<{tag}>{inner}</{tag}>"
    if mark.lastgroup == "math":
        return f'<span class="math notranslate nohighlight">\\({inner}\\)</span>'
    word = mark[mark.lastgroup or 0]
    shown = inner.lstrip("~").rpartition(".")[2] if inner.startswith("~") else inner
    if mark.lastgroup == "code":
        address = link(word) if _CHAPTER.fullmatch(word) else None
    else:
        address = link(word.lstrip("~").removesuffix("()"))
    code = f"<code>{shown}</code>"
    return f'<a href="{escape(address)}">{code}</a>' if address else code


def prose(lines: Sequence[str], link: Link) -> str:
    """Return paragraphs, lists, formulas and literal blocks of a docstring as HTML."""
    found, literal = [], False
    for block in _blocks(lines):
        first = block.partition("\n")[0]
        if literal and first.startswith(" "):
            found.append(f"<pre>{escape(textwrap.dedent(block), quote=False)}</pre>")
            continue
        literal = block.endswith("::")
        if first.strip().startswith(".. math::"):
            formula = block.partition("::")[2]
            formula = escape(formula.strip(), quote=False)
            found.append(f'<div class="math notranslate nohighlight">\\[{formula}\\]</div>')
            literal = False
        elif ">>> " in first:
            found.append(_example(textwrap.dedent(block)))
        elif re.match(r"\s*[-*] ", first):
            items = re.split(r"(?m)^\s*[-*] ", block)[1:]
            found.append(f"<ul>{''.join(f'<li>{inline(_one(item), link)}</li>' for item in items)}</ul>")
        else:
            text = _one(block[:-1] if literal else block)
            found.append(f"<p>{inline(text, link)}</p>")
    return "".join(found)


def _one(text: str) -> str:
    return " ".join(text.split())


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    """Give what empty lines part; what is indented below a formula or a double colon stays in one piece."""
    block: list[str] = []
    for line, after in pairwise([*lines, "", ""]):
        if line.strip():
            block.append(line.rstrip())
        elif block:
            deep = after.startswith(" ") and (block[0].startswith(" ") or block[0].startswith(".. math"))
            if deep:
                block.append("")
            else:
                yield "\n".join(block)
                block = []
    if block:
        yield "\n".join(block)


@cache
def _formatter() -> HtmlFormatter:
    return HtmlFormatter(nowrap=True)


def _example(text: str) -> str:
    return f'<div class="highlight"><pre tabindex="0">{highlight(text, PythonConsoleLexer(), _formatter())}</pre></div>'


def entry(what: Entry, link: Link, source: str, chapters: Sequence[tuple[str, str]], level: int = 3) -> str:
    """Return one entry of a page."""
    address = f"{source}#{what.name}"
    signature = highlight(f"{what.own}{what.signature}", PythonLexer(), _formatter()).strip()
    head = (
        f'<section class="vw-entry" id="{what.name}"><h{level} class="vw-name">{what.own}'
        f'<a class="headerlink" href="#{what.name}" title="Link to this name">#</a></h{level}>'
        f'<p class="vw-signature"><span class="highlight"><code>{signature}</code></span> '
        f'<a class="vw-source" href="{escape(address)}" aria-label="Source of {what.own}">source</a></p>'
    )
    inner = "".join(entry(each, link, source, [], level + 1) for each in what.methods)
    named = ", ".join(f'<a href="{escape(where)}">{escape(title, quote=False)}</a>' for where, title in chapters)
    used = f'<p class="vw-used">Used in {named}</p>' if named else ""
    return re.sub(r"\n\s*\n", "\n", f"{head}{_described(what, link)}{used}{inner}</section>")


def _described(what: Entry, link: Link) -> str:
    if what.kind == "constant":
        return prose(inspect.cleandoc(what.doc).splitlines(), link)
    said = NumpyDocString(what.doc)
    parts = [prose([*said["Summary"], "", *said["Extended Summary"]], link)]
    for name in _FIELDS:
        fields = "".join(_field(each, link) for each in said[name])
        parts.append(f'<p class="vw-field">{name}</p><dl>{fields}</dl>' if fields else "")
    for name in _TOLD:
        lines = [_also(each) for each in said[name]] if name == "See Also" else said[name]
        if lines:
            parts.append(f'<p class="vw-field">{name}</p>{prose(lines, link)}')
    if said["Examples"]:
        parts.append(f'<p class="vw-field">Examples</p>{prose(said["Examples"], link)}')
    return "".join(parts)


def _field(each: tuple[str, str, list[str]], link: Link) -> str:
    name, kind, lines = each
    shown = f"<code>{escape(name, quote=False)}</code>" if name else ""
    typed = f'<span class="vw-type">{inline(kind, link)}</span>' if kind else ""
    return f"<dt>{shown}{' ' if name and kind else ''}{typed}</dt><dd>{prose(lines, link)}</dd>"


def _also(each: tuple[list[tuple[str, str]], list[str]]) -> str:
    names, lines = each
    said = f": {' '.join(lines)}" if lines else ""
    return f"- {', '.join(f'`{name}`' for name, _ in names)}{said}"

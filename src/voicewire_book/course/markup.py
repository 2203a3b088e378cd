"""The book's Markdown as HTML that needs no other file: what slides, figure lists and exam papers are made with.

The parser is markdown-it, the one inside the book's own builder. Its roles become plain words here: a reference to an
equation or a figure gives the number that the book gives it, a citation its authors and year.
"""

from __future__ import annotations

import base64
import importlib.util
import mimetypes
import re
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import nbformat
import yaml

from voicewire_book.course.key import GradingError

__all__ = ["Block", "Markup", "blocks", "labels", "needs"]

LIBRARIES = ("markdown_it", "mdit_py_plugins", "pybtex", "sphinx-mathjax-offline")
"""What comes with the extra 'book', and is needed to write a course."""
_ROLE = re.compile(r"\{(cite:p|cite:t|term|eq|numref|ref|doc|abbr)\}`([^`]*)`")
_EQUATION = re.compile(r"\$\$\s*\((eq-[\w-]+)\)")
_DIRECTIVE = re.compile(r"^`{3,}\{figure\}.*?^:name: *(\S+)", re.MULTILINE | re.DOTALL)
_TARGET = re.compile(r"^(.*?)\s*<([^<>]+)>$", re.DOTALL)
_TAG = re.compile(r'<a\b(?![^>]*href="(?:https?:|#))[^>]*>(.*?)</a>', re.DOTALL)


def needs() -> None:
    """Refuse to begin where a library is missing."""
    missing = [name for name in LIBRARIES if importlib.util.find_spec(name) is None]
    if missing:
        raise GradingError(f"{missing[0]} is missing: writing a course needs the extra: pip install 'voicewire[book]'")


@dataclass(frozen=True)
class Block:
    """One paragraph, item, table, equation, picture or directive of a page.

    Attributes
    ----------
    kind : str
        `heading`, `paragraph`, `item`, `table`, `math`, `image`, `directive` or `code`.
    source : str
        Its Markdown; of a directive what stands inside.
    name : str
        Of a directive its name, of a heading its level.
    title : str
        Of a directive what stands behind its name.
    """

    kind: str
    source: str
    name: str = ""
    title: str = ""


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.amsmath import amsmath_plugin
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    def formula(content: str, options: dict[str, Any]) -> str:
        left, right = ("\\[", "\\]") if options["display_mode"] else ("\\(", "\\)")
        return f"{left}{escape(content.strip(), quote=False)}{right}"

    made = MarkdownIt("commonmark").enable("table")
    made.use(dollarmath_plugin, allow_labels=True, double_inline=True, renderer=formula)
    return made.use(amsmath_plugin, renderer=lambda content: escape(content, quote=False))


_KINDS = {"paragraph_open": "paragraph", "table_open": "table", "heading_open": "heading", "html_block": "paragraph"}
_KINDS |= {"math_block": "math", "math_block_label": "math", "amsmath": "math", "blockquote_open": "paragraph"}


def blocks(source: str) -> list[Block]:
    """Return the blocks of a cell's Markdown, in order; the items of a list are blocks of their own."""
    lines, found = source.split("\n"), []
    for token in _parser().parse(source):
        if not token.map:
            continue
        text = "\n".join(lines[token.map[0] : token.map[1]]).strip()
        if token.type == "list_item_open" and token.level == 1:
            body = re.sub(r"^\s*(?:[-*+]|\d+[.)])\s+", "", text)
            number = re.match(r"\s*(\d+)[.)]", text)
            found.append(Block("item", body, number.group(1) if number else ""))
        elif token.level:
            continue
        elif token.type == "fence":
            directive = re.fullmatch(r"\{([\w-]+)\}(.*)", token.info.strip(), re.DOTALL)
            content = re.sub(r"\A(:[\w-]+:.*\n?)+", "", token.content).strip()
            kind, name = ("directive", directive.group(1)) if directive else ("code", token.info.strip())
            found.append(Block(kind, content, name, directive.group(2).strip() if directive else ""))
        elif token.type == "heading_open":
            found.append(Block("heading", re.sub(r"^#+\s*", "", text), token.tag[1:]))
        elif token.type in _KINDS and not re.fullmatch(r"<!--.*-->|\([\w-]+\)=", text, re.DOTALL):
            picture = re.fullmatch(r"!\[[^\]]*\]\([^)]*\)", text)
            found.append(Block("image" if picture else _KINDS[token.type], text))
    return found


def labels(base: Path) -> dict[str, str]:
    """Return the book's number of each equation and figure that has a name, from the order of its pages."""
    found = {}
    toc = yaml.safe_load((base / "book" / "_toc.yml").read_text(encoding="utf-8"))
    numbered = [chapter for part in toc["parts"] if part.get("numbered") for chapter in part["chapters"]]
    for number, chapter in enumerate(numbered, start=1):
        count = {"equation": 0, "figure": 0}
        for page in (chapter, *chapter.get("sections", [])):
            for kind, name in _named(base / page["file"]):
                count[kind] += 1
                found[name] = f"{number}.{count[kind]}"
    return found


def _named(page: Path) -> list[tuple[str, str]]:
    """The labels of one page in order: of the cells' equations and figures, or of a Markdown file's."""
    notebook, text = page.with_suffix(".ipynb"), page.with_suffix(".md")
    found: list[tuple[str, str]] = []
    if notebook.is_file():
        for cell in nbformat.read(notebook, as_version=4).cells:
            if cell.cell_type == "markdown":
                found += _labels_of(cell.source)
            elif "caption" in (figure := cell.metadata.get("mystnb", {}).get("figure", {})):
                found.append(("figure", figure.get("name", "")))
    elif text.is_file():
        found = _labels_of(text.read_text(encoding="utf-8"))
    return found


def _labels_of(source: str) -> list[tuple[str, str]]:
    equations = [("equation", name) for name in _EQUATION.findall(source)]
    return equations + [("figure", name) for name in _DIRECTIVE.findall(source)]


@cache
def _cited(base: Path) -> dict[str, str]:
    """Authors and year of each entry of the bibliographies."""
    from pybtex.database import parse_file

    found = {}
    for file in sorted((base / "book").rglob("*.bib")):
        for name, entry in parse_file(str(file)).entries.items():
            people = [" ".join(person.last_names) for person in entry.persons.get("author", [])]
            who = people or [entry.fields.get("organization") or entry.fields.get("title", name)]
            shown = f"{who[0]} et al." if len(who) > 2 else " and ".join(who)
            found[name] = f"{re.sub(r'[{}]', '', shown)} {entry.fields.get('year', '')}".strip()
    return found


class Markup:
    """Turns the Markdown of one page into HTML that stands alone."""

    def __init__(self, base: Path, folder: Path, numbers: dict[str, str]) -> None:
        self.base, self.folder, self.numbers = base, folder, numbers

    def words(self, source: str) -> str:
        """Return Markdown without the book's roles."""
        plain = re.sub(r"\(\{cite:p\}(`[^`]*`)\)", r"({cite:t}\1)", source)
        return _ROLE.sub(lambda match: self._role(match.group(1), match.group(2)), plain)

    def html(self, source: str, *, inline: bool = False) -> str:
        """Return Markdown as HTML: pictures inside, links into the book as plain words."""
        words = self.words(source)
        text = _parser().renderInline(words) if inline else _parser().render(words)
        text = re.sub(r'<eqn>|</eqn>|<section>\s*|\s*</section>|<span class="eqno">.*?</span>', "", text)
        text = re.sub(r'(<div id="(eq-[\w-]+)" class="math block">)\s*(?:<a[^>]*>.*?</a>)?\s*(.*?)(\\\])', self._tag,
                      text, flags=re.DOTALL)  # fmt: skip
        text = re.sub(r'(<img src=")([^"]+)(")', self._picture, text)
        return str(_TAG.sub(r"\1", text).strip())

    def _tag(self, match: re.Match[str]) -> str:
        begin, name, formula, end = match.groups()
        tag = f" \\tag{{{self.numbers[name]}}}" if name in self.numbers else ""
        return f"{begin.replace(f' id={chr(34)}{name}{chr(34)}', '')}{formula}{tag}{end}"

    def _role(self, role: str, text: str) -> str:
        target = _TARGET.match(text)
        words, name = target.groups() if target else (text, text)
        if role == "eq":
            return f"({self.numbers[name]})" if name in self.numbers else "its equation"
        if role == "numref":
            return f"Fig. {self.numbers[name]}" if name in self.numbers else "the figure"
        if role.startswith("cite"):
            known = _cited(self.base)
            shown = "; ".join(known.get(key.strip(), key.strip()) for key in text.split(","))
            return f"({shown})" if role == "cite:p" else shown
        return str(words)

    def _picture(self, match: re.Match[str]) -> str:
        name = match.group(2)
        if name.startswith("data:"):
            return match.group(0)
        return f"{match.group(1)}{embedded((self.folder / name).resolve())}{match.group(3)}"


def embedded(file: Path) -> str:
    """Return a file as an address that holds its content."""
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(file.read_bytes()).decode('ascii')}"

"""Slides of a chapter, made from its notebook: headings, leading sentences, formulas, tables, code, figures, sounds.

Nothing is typed for a slide. A number on it stands in the output of its cell or in the chapter's own sentence, and what
the chapter says besides stands in the speaker's notes. Worked solutions are left out, as in a student's copy.

A lecture has `MOST` slides at most. A longer deck gives up what `STEPS` names, one after the other and only until it is
short enough: what leaves a slide stands in its notes, and the first thing of each section stays on its slide.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

import nbformat

from voicewire_book.course.deck import Slide, page
from voicewire_book.course.handout import student_copy
from voicewire_book.course.markup import Block, Markup, blocks
from voicewire_book.ledger.vocabulary import MIME

__all__ = ["leading", "sentences", "slides", "write_deck"]

CAPACITY = 14.0
"""Lines of 30 pixels that a slide holds under its title."""
LETTERS = 80
"""Letters of prose in a line of a slide."""
LONGEST_CODE = 24
"""Lines of code or output that a slide may show, in a smaller type; more goes into the notes."""
ROWS = 6
"""Verdicts on a slide."""
MOST = 60
"""Slides of a lecture."""
STEPS = ("verdicts", "code", "output", "tables", "continued")
"""What leaves a deck that is too long, in this order: tables of verdicts (their sums stay), code, printed outputs,
tables, and prose that needs another slide. Figures, sliders, players and formulas stay."""
LEFT_OUT = {"References", "Exercises", "Questions"}
_SENTENCE = re.compile(
    r"(?<=[.!?:])(?<!Fig\.)(?<!Eq\.)(?<!Sec\.)(?<!e\.g\.)(?<!i\.e\.)(?<!al\.)[*\"”)]*\s+(?=[A-Z\"“*`($\[])"
)
_LEADS = re.compile(r'<div class="point">.*(?::| to|</strong>)</div>', re.DOTALL)
_ANSWER = re.compile(r"^\w+ = (?:None|\.\.\.)  #", re.MULTILINE)


def leading(paragraph: str) -> str:
    """Return the sentence with which a paragraph begins, and the next as well where the first is short."""
    found = sentences(paragraph)
    if len(found) > 1 and len(found[0]) < 70 and len(found[0]) + len(found[1]) < 240:
        return paragraph[: paragraph.index(found[1], len(found[0])) + len(found[1])]
    return found[0]


def sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph; none ends within a formula, code or bold words."""
    found, begin = [], 0
    for match in _SENTENCE.finditer(paragraph):
        inside = paragraph[: match.end()]
        if all(inside.count(mark) % 2 == 0 for mark in ("$", "`", "**")):
            found.append(paragraph[begin : match.end()].strip())
            begin = match.end()
    return [*found, paragraph[begin:].strip()]


class _Maker:
    """Puts what a chapter says onto slides, in its order."""

    def __init__(self, markup: Markup, given_up: Sequence[str] = ()) -> None:
        self.markup = markup
        self.given_up = given_up
        self.made: list[Slide] = []
        self.title = ""
        self.asked: list[str] = []
        self.section = ""
        self.items = False

    def begin(self, title: str) -> None:
        self.title = self.markup.html(title, inline=True)
        self.made.append(Slide(self.title))

    def show(
        self, part: str, weight: float, note: str = "", *, kind: str = "", alone: bool = False, completes: bool = False
    ) -> None:
        slide = self.made[-1]
        if slide.parts and self.spoken(kind, slide.weight + weight > CAPACITY):
            slide.notes.append(note or part)
            return
        if slide.parts and (alone or slide.weight + weight > CAPACITY):
            slide = self.turned(slide, completes)
        slide.parts.append(part)
        slide.weight += CAPACITY if alone else weight
        if note:
            slide.notes.append(note)

    def spoken(self, kind: str, turns: bool) -> bool:
        """Whether this is given up, so that it stands in the notes."""
        return kind in self.given_up and (turns or kind != "continued")

    def turned(self, slide: Slide, completes: bool = False) -> Slide:
        """Begin the next slide, with the words that lead to what follows."""
        new = Slide(self.title)
        self.made.append(new)
        begins = completes and slide.parts[-1].startswith('<div class="point">')
        if len(slide.parts) > 1 and (begins or _LEADS.fullmatch(slide.parts[-1])):
            new.parts.append(slide.parts.pop())
            new.weight = 2.0
        return new

    def block(self, block: Block, following: str) -> None:
        html = self.markup.html(block.source)
        if block.kind == "heading":
            self.heading(block)
        elif block.kind == "directive":
            if block.name == "exercise":
                self.asked.append(re.sub(r"\s*\(.*\)$", "", block.title))
        elif self.section in LEFT_OUT:
            return
        elif block.kind in {"paragraph", "item"}:
            self.prose(block, following)
        elif block.kind == "image":
            self.show(f'<div class="picture">{html}</div>', 8, alone=True)
        elif block.kind == "table":
            self.show(html, 1.15 * (block.source.count("\n") + 1), kind="tables", completes=True)
        elif block.kind == "math":
            self.show(html, 2.2 + 1.6 * block.source.count("\\\\"), completes=True)
        else:
            self.show(f"<pre>{escape(block.source)}</pre>", 0.8 + 0.7 * (block.source.count("\n") + 1))

    def prose(self, block: Block, following: str) -> None:
        """Show how a paragraph begins, and how it ends where a formula or a list completes it; the rest is spoken."""
        first_screen = len(self.made) == 1 and not self.made[0].parts
        leads = [block.source] if first_screen else [leading(block.source)]
        last = sentences(block.source)[-1]
        if not first_screen and last not in leads[0] and (following == "math" or last.endswith(":")):
            leads.append(last)
        note = self.markup.html(block.source) if "".join(leads) != block.source else ""
        number = f'<span class="number">{block.name}</span> ' if block.name else ""
        for lead in leads:
            kind = "item" if block.kind == "item" else "point"
            shown = f'<div class="{kind}">{number}{self.markup.html(lead, inline=True)}</div>'
            self.show(shown, math.ceil(len(lead) / LETTERS) + 0.4, note, kind="continued")
            note = number = ""

    def heading(self, block: Block) -> None:
        if block.name == "2":
            self.questions()
            self.section = block.source
        if block.source not in LEFT_OUT:
            self.begin(block.source)

    def questions(self) -> None:
        """End a section: its exercises are named, not answered."""
        if self.asked:
            self.begin("To try")
            for title in self.asked:
                self.show(f'<div class="item">{self.markup.html(title, inline=True)}</div>', 1.3)
        self.asked = []

    def code(self, cell: Any) -> None:
        tags = cell.metadata.get("tags", [])
        preamble = not cell.outputs and _imports(cell.source)
        if self.section in LEFT_OUT or "check" in tags or _ANSWER.search(cell.source) or preamble:
            return
        source = "" if "hide-input" in tags else cell.source.strip()
        lines = source.count("\n") + 1
        texts = [shown for shown in map(_text, cell.outputs) if shown]
        if source and (lines > LONGEST_CODE or len(texts) < len(cell.outputs)):  # a picture tells more than its call
            self.made[-1].notes.append(f'<pre class="code">{escape(source)}</pre>')
        elif source:
            weight = 0.5 + 0.72 * lines
            below = sum(0.5 + 0.72 * (text.count("\n") + 1) for text in texts)
            turns = self.made[-1].parts and self.made[-1].weight + weight + below > CAPACITY >= weight + below
            if turns and not self.spoken("code", turns=True):
                self.turned(self.made[-1])
            self.show(f'<pre class="code">{escape(source)}</pre>', weight, kind="code")
        for output in cell.outputs:
            self.output(output, cell.metadata.get("mystnb", {}))

    def output(self, output: Any, about: Any) -> None:
        data = output.get("data", {})
        text = _text(output)
        if MIME in data and "verdicts" in self.given_up:
            self.sums(data[MIME], data["text/html"])
        elif MIME in data:
            self.verdicts(data["text/html"])
        elif "text/html" in data:
            self.show(f'<div class="html">{data["text/html"]}</div>', 9, alone=True)
        elif "image/png" in data:
            alt = escape(about.get("image", {}).get("alt", ""))
            caption = about.get("figure", {}).get("caption", "")
            number = self.markup.numbers.get(about.get("figure", {}).get("name", ""), "")
            before = f"Fig. {number}: " if number else ""
            said = f"<figcaption>{before}{self.markup.html(caption, inline=True)}</figcaption>"
            picture = f'<img src="data:image/png;base64,{data["image/png"].strip()}" alt="{alt}">'
            self.show(f"<figure>{picture}{said if caption else ''}</figure>", 9, f"<p>{alt}</p>", alone=True)
        elif text:
            lines = text.split("\n")
            size = len(lines) if len(lines) <= LONGEST_CODE else LONGEST_CODE - 4
            for begin in range(0, len(lines), size):
                part = lines[begin : begin + size]
                self.show(f'<pre class="out">{escape(chr(10).join(part))}</pre>', 0.5 + 0.72 * len(part), kind="output")

    def sums(self, judged: list[dict[str, Any]], table: str) -> None:
        """Show how many claims got which verdict; the table itself goes into the notes."""
        counted = Counter(str(claim["verdict"]) for claim in judged)
        rows = "".join(f"<tr><td>{escape(verdict)}</td><td>{n}</td></tr>" for verdict, n in counted.most_common())
        shown = f"<table><tr><th>verdict</th><th>claims of {len(judged)}</th></tr>{rows}</table>"
        self.show(shown, 1.2 * (len(counted) + 1), table)

    def verdicts(self, table: str) -> None:
        """Show a table of verdicts, some rows a slide; the reasons, its last column, go into the notes."""
        rows = re.split(r'(?=<tr id="claim-)', table.partition("<tbody>")[2])[1:]
        group: list[tuple[str, str]] = []
        heads = "<tr><th>the paper says</th><th>printed</th><th>here</th><th>verdict</th></tr>"
        for number, row in enumerate(rows, start=1):
            left, _, why = row.partition("</span></td><td>")
            why = re.sub(r"</td></tr>(?:</tbody></table></div>)?\s*$", "", why)
            for cell in re.findall(r"<td>(.*?)</td>", left, re.DOTALL)[1:]:
                if len(re.sub(r"<[^>]+>", "", cell)) > LETTERS * 3:
                    left = left.replace(cell, "(in the notes)")
                    why = f"{cell}. {why}"
            group.append((f"{left}</span></td></tr>", why))
            letters = sum(len(re.sub(r"<[^>]+>", "", shown)) for shown, _ in group)
            if len(group) == ROWS or letters > LETTERS * 10 or number == len(rows):
                shown = f'<table class="verdicts">{heads}{"".join(left for left, _ in group)}</table>'
                self.show(shown, CAPACITY, "".join(f"<p>{why}</p>" for _, why in group), alone=True)
                group = []


def _text(output: Any) -> str:
    """The text of an output that is text only."""
    data = output.get("data", {})
    text = output.get("text", "") or ("" if {"text/html", "image/png"} & set(data) else data.get("text/plain", ""))
    return str(text).strip("\n")


def _imports(source: str) -> bool:
    """Whether a cell begins with an import."""
    try:
        body = ast.parse(source).body
    except SyntaxError:  # a cell of IPython's own
        return False
    return bool(body) and isinstance(body[0], ast.Import | ast.ImportFrom)


def slides(notebook: Any, markup: Markup) -> list[Slide]:
    """Return the slides of a chapter."""
    copy = student_copy(notebook)
    made = _made(copy, markup)
    for step in range(1, len(STEPS) + 1):
        if len(made) > MOST:
            made = _made(copy, markup, STEPS[:step])
    return made


def _made(copy: Any, markup: Markup, given_up: Sequence[str] = ()) -> list[Slide]:
    """The slides of a student's copy, without what is given up."""
    maker = _Maker(markup, given_up)
    for cell in copy.cells:
        if cell.cell_type == "code":
            maker.code(cell)
        else:
            found = blocks(cell.source)
            for block, following in zip(found, [*(each.kind for each in found[1:]), ""], strict=True):
                maker.block(block, following)
    maker.questions()
    return list(_filled(maker.made))


def _filled(made: list[Slide]) -> Iterator[Slide]:
    """Leave out slides that show nothing, but for the first, and keep what their notes say."""
    for number, slide in enumerate(made):
        if slide.parts or number == 0:
            yield slide


def write_deck(chapter: Path, target: Path, markup: Markup) -> list[Slide]:
    """Write the slides of a chapter as one HTML file that asks for no other."""
    made = slides(nbformat.read(chapter, as_version=4), markup)
    target.write_text(page(made[0].title, made), encoding="utf-8")
    return made

"""A name of its own for each fold, link and table of a page, for those who hear them one by one in a list.

A fold that says "16 values" is told from seventy others by what stands around it; a listener who goes from fold to
fold, or asks for all links, hears it without that. Where several of a page have one name, each gets what surrounds it
behind it: the claim, the entry of its list, its row, or the heading above.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser
from typing import Literal

__all__ = ["Thing", "alike", "names", "things"]

Kind = Literal["fold", "link", "table", "region"]

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
TOLD = {"dt", "caption", "th", "td", "li", "h1", "h2", "h3", "h4", "h5", "h6", "a", "summary"}
KINDS: dict[str, Kind] = {"summary": "fold", "a": "link", "table": "table"}
UNSAID = {"headerlink", "expanded", "vw-hint"}
"""Classes of what is no part of a name: hidden from who listens, or shown only when the fold is open."""

CLAIM = re.compile(r"(?:claim|score)-(.+)")
LONGEST = 80
"""Letters of what surrounds a thing that are said behind its name."""
HEADS = 5
"""Columns that a table's name lists."""


@dataclass
class Thing:
    """A fold, link, table or region of a page."""

    kind: Kind
    start: int
    tag: str
    goal: str
    around: list[str]
    said: str

    def longer(self, depth: int) -> str:
        """Return the name with so much of what surrounds the thing behind it."""
        return ", ".join(filter(None, [self.said, *self.around[:depth]]))


@dataclass
class _Open:
    """An element that is open: what it is, what it says so far, and what stood in it that names the rest."""

    tag: str
    claim: str = ""
    silent: bool = False
    thing: Thing | None = None
    words: list[str] = field(default_factory=list)
    told: dict[str, str] = field(default_factory=dict)
    heads: list[str] = field(default_factory=list)
    headed: bool = False

    def text(self) -> str:
        """Return its words on one line, formulas without the marks that they stand between."""
        return " ".join(re.sub(r"\\[()\[\]]", "", "".join(self.words)).split())


class _Reader(HTMLParser):
    """Goes through a page once and keeps what surrounds each thing."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.starts = [0]
        for line in html.split("\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.stack: list[_Open] = []
        self.told: list[_Open] = []  # those of the stack whose words count
        self.silent = 0
        self.found: list[Thing] = []
        self.heading = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in VOID:
            self.handle_data(f" {given.get('alt', '')} ")
            return
        claim = CLAIM.fullmatch(given.get("id", ""))
        hidden = UNSAID & set(given.get("class", "").split()) or given.get("aria-hidden") == "true"
        one = _Open(tag, claim[1] if claim else "", bool(hidden) or tag in ("script", "style"))
        kind: Kind | None = "region" if given.get("role") == "region" else KINDS.get(tag)
        if (kind == "link" and "href" not in given) or given.get("role") == "presentation":
            kind = None
        if kind and not one.silent and not self.silent and "aria-labelledby" not in given:
            line, column = self.getpos()
            start, text = self.starts[line - 1] + column, self.get_starttag_text() or ""
            goal = given.get("href", "") if kind == "link" else str(start)
            one.thing = Thing(kind, start, text, goal, self._around(goal), given.get("aria-label", ""))
            self.found.append(one.thing)
        self.stack.append(one)
        self.silent += one.silent
        if tag in ("ul", "ol", "dl"):  # what a list is in names it; its entries do not
            self.told = [each for each in self.told if each.tag != "li"]
        if tag in TOLD:
            self.told.append(one)

    def handle_endtag(self, tag: str) -> None:
        if all(one.tag != tag for one in self.stack):
            return
        ended = ""
        while ended != tag:
            one = self.stack.pop()
            self.silent -= one.silent
            self.told = [each for each in self.told if each is not one]
            self._ended(one)
            ended = one.tag

    def handle_data(self, data: str) -> None:
        for one in () if self.silent else self.told:
            one.words.append(data)

    def _ended(self, one: _Open) -> None:
        text = one.text()
        table = self._inner("table")
        if one.thing and one.tag == "table":
            shown = one.heads[:HEADS] + ["and more"] * (len(one.heads) > HEADS)
            one.thing.said = one.thing.said or one.told.get("caption", "") or ", ".join(shown)
        elif one.thing:
            one.thing.said = one.thing.said or text
        if re.fullmatch("h[1-6]", one.tag):
            self.heading = text
        elif one.tag == "dt" and self.stack:
            self.stack[-1].told["dt"] = text
        elif one.tag == "caption" and table:
            table.told["caption"] = text
        elif one.tag in ("td", "th") and (row := self._inner("tr")) and table:
            row.told.setdefault("row", text if len(text) <= LONGEST else "")
            if one.tag == "th" and text and not table.headed:
                table.heads.append(text)
        elif one.tag == "tr" and table:
            table.headed = True

    def _inner(self, tag: str) -> _Open | None:
        return next((one for one in reversed(self.stack) if one.tag == tag), None)

    def _around(self, goal: str) -> list[str]:
        """Return what surrounds a thing that opens now: what tells most comes first."""
        claim = next((f"claim {one.claim}" for one in reversed(self.stack) if one.claim), "")
        inner = {name: said for one in self.stack for name, said in one.told.items()}
        entry = next((text for one in reversed(self.stack) if one.tag == "li" and (text := one.text())), "")
        leads = goal.partition("#voicewire.")[2]  # a name of the package says itself where a link to it leads
        parts = [leads, claim, inner.get("dt"), inner.get("row"), entry, "" if claim else self.heading]
        return [_short(part) for part in dict.fromkeys(parts) if part]


def _short(text: str) -> str:
    """Return the words of a text that fit, at least one."""
    if len(text) <= LONGEST:
        return text
    return text[: LONGEST + 1].rpartition(" ")[0] or text[:LONGEST]


def things(html: str) -> list[Thing]:
    """Return the folds, links, tables and regions of a page that someone who listens meets, with their names."""
    return sorted(_Reader(html).found, key=lambda thing: thing.start)


def alike(found: Iterable[Thing]) -> list[list[Thing]]:
    """Return the things that one name does not tell apart, and those without a name."""
    groups: dict[tuple[str, str], list[Thing]] = defaultdict(list)
    for thing in found:
        groups[thing.kind, thing.said].append(thing)
    return [group for (_, said), group in groups.items() if not said or len({thing.goal for thing in group}) > 1]


def names(html: str) -> str:
    """Return a page on which each fold, link, table and region has a name that no other of them has."""
    found = things(html)
    taken = {(thing.kind, thing.said) for thing in found}
    for group in alike(found):
        for thing, said in zip(group, _told_apart(group, taken), strict=True):
            taken.add((thing.kind, said))
            thing.said, thing.goal = said, ""  # without a goal: to be written
    for thing in reversed(found):
        named = f'aria-label="{escape(thing.said)}"'
        if thing.goal and (thing.kind != "table" or named in thing.tag):
            continue
        tag = re.sub(r'\saria-label="[^"]*"', "", thing.tag)
        end = re.match(r"<\w+", tag).end()  # type: ignore[union-attr]  # a tag begins with its name
        html = f"{html[: thing.start]}{tag[:end]} {named}{tag[end:]}{html[thing.start + len(thing.tag) :]}"
    return html


def _told_apart(group: Sequence[Thing], taken: Set[tuple[Kind, str]]) -> list[str]:
    """Name each of a group by as little of what surrounds it as tells all apart, and number what nothing does."""
    one, most = group[0], max(len(thing.around) for thing in group)
    said: list[str] = []
    for depth in range(1, most + 1):
        said = [thing.longer(depth) for thing in group]
        goals = dict(zip(said, (thing.goal for thing in group), strict=True))
        single = all(goals[name] == thing.goal for name, thing in zip(said, group, strict=True))
        others = taken - {(one.kind, one.said)}
        if single and "" not in said and not others & {(one.kind, name) for name in said}:
            return said
    said = [name or one.kind for name in said or ["" for _ in group]]
    numbered: dict[tuple[str, str], str] = {}
    for name, thing in zip(said, group, strict=True):
        if (name, thing.goal) not in numbered:
            free = (f"{name}, {k}" for k in itertools.count(1))
            used = taken | {(one.kind, each) for each in numbered.values()}
            numbered[name, thing.goal] = next(each for each in free if (one.kind, each) not in used)
    return [numbered[name, thing.goal] for name, thing in zip(said, group, strict=True)]

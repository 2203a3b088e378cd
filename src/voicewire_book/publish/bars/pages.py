"""The bars of all pages, from what a browser saw of each."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from pathlib import Path

from voicewire_book.publish.bars.bar import Bar, at_most
from voicewire_book.publish.bars.browser import SCREEN, Look
from voicewire_book.publish.lengths import VISIBLE, WOVEN

__all__ = ["CARDS", "bars", "names"]

COLUMNS, CARDS, WEIGHT = 78, 12, 400
OPENING = re.compile(r"notebooks/\w+/\d\d_\w+\.html|book/(\w+/)?index\.html")
"""Pages that begin with a picture or a sound: chapters, the parts' introductions, the home page."""


def names(site: Path) -> list[str]:
    """Return the pages of the site that a reader reads."""
    every = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    return [name for name in every if name != "index.html" and not name.startswith("_")]


def bars(looks: Sequence[Look]) -> list[Bar]:
    """Put together what was seen of the pages."""
    opening = [look for look in looks if OPENING.fullmatch(look.name)]
    nothing = float("inf")
    firsts = [(nothing if look.seen["first"] is None else look.seen["first"], look.name) for look in opening]
    cells = [(cell, f"{look.name}: {cell['first']}") for look in looks for cell in look.seen["cells"]]
    sideways = [(len(look.seen["sideways"]), f"{look.name} {_first(look)}") for look in looks]
    codes = [(sum(box["code"] for box in look.seen["sideways"]), look.name) for look in looks]
    twice = [(sum(n > 1 for n in look.seen["printed"].values()), look.name) for look in looks]
    sharp = min(((look.seen["sharp"], look.name) for look in looks if look.seen["sharp"]), default=(nothing, ""))
    weight = statistics.median(look.kilobytes for look in looks) if looks else nothing
    return [
        at_most("middle of the first picture or player", SCREEN["height"], firsts, "px"),
        at_most("visible lines of a cell", VISIBLE, [(c["lines"], w) for c, w in cells if not c["woven"]]),
        at_most("lines of a woven piece", WOVEN, [(c["lines"], w) for c, w in cells if c["woven"]]),
        at_most("columns of visible code", COLUMNS, [(c["columns"], w) for c, w in cells]),
        at_most("boxes of code that scroll sideways", 0, codes),
        at_most("boxes of any kind that scroll sideways", 0, sideways),
        at_most("judging cells unfolded", 0, [(sum(c["judges"] for c in k.seen["cells"]), k.name) for k in looks]),
        at_most("claims printed more than once", 0, twice),
        at_most("cards of a chapter", CARDS, [(look.seen["cards"], look.name) for look in looks]),
        Bar("device pixels per CSS pixel of a picture", "≥ 2", f"{sharp[0]:.2f}", sharp[1], sharp[0] >= 2),
        at_most("requests beyond the site", 0, [(len(look.outside), look.name) for look in looks]),
        Bar("median weight of a page, compressed", f"≤ {WEIGHT} kB", f"{weight:.0f} kB", "", weight <= WEIGHT),
    ]


def _first(look: Look) -> str:
    return str(look.seen["sideways"][0]["what"]) if look.seen["sideways"] else ""

"""Bars that need no browser: links, notebooks, the book on paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from voicewire_book.publish.bars.bar import Bar, at_most
from voicewire_book.publish.paper import EPUB, PDF, document

__all__ = ["bars", "broken"]


class Links(HTMLParser):
    """The ids and the links of one page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep a tag's id, and where a link leads."""
        given = dict(attrs)
        if given.get("id"):
            self.ids.add(given["id"] or "")
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")


def broken(site: Path) -> Iterator[str]:
    """Yield each link within the site that leads nowhere."""

    @cache
    def read(path: Path) -> Links:
        return Links(path.read_text(encoding="utf-8"))

    for path in sorted(site.rglob("*.html")):
        for link in read(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{path.relative_to(site)}: {link}"
            elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in read(target).ids:
                yield f"{path.relative_to(site)}: {link} (no such anchor)"


def bars(site: Path, toc: Path) -> list[Bar]:
    """Measure the files of the site."""
    nowhere = list(broken(site))
    notebooks = [(p.stat().st_size / 1e6, p.name) for p in (site / "_sources").rglob("*.ipynb")]
    found = [
        Bar("broken links", "≤ 0", str(len(nowhere)), "; ".join(nowhere[:2]), not nowhere),
        at_most("size of a notebook", 2, notebooks, "MB"),
    ]
    if not (site / PDF).is_file():
        how = "python -m voicewire_book.publish.paper"
        return [*found, Bar("the book as PDF and EPUB", "made", "not made", how, False)]
    return [
        *found,
        at_most("size of the PDF", 30, [((site / PDF).stat().st_size / 1e6, PDF)], "MB"),
        *_paper(site, toc),
    ]


def _paper(site: Path, toc: Path) -> list[Bar]:
    """Return whether the PDF's bookmarks are all headings, and whether all visible code stands whole in it."""
    import pikepdf
    import pypdfium2  # type: ignore[import-untyped]
    from bs4 import BeautifulSoup

    pages = document.order(toc, site)
    composed = document.compose(pages, site, "")
    headings = len(document.headings(composed))
    with pikepdf.open(site / PDF) as pdf, pdf.open_outline() as outline:
        items, marks = list(outline.root), 0
        while items:
            marks += 1
            items.extend(items.pop().children)
    printed = pypdfium2.PdfDocument(site / PDF)
    text = "".join(re.sub(r"\s", "", page.get_textpage().get_text_range()) for page in printed)
    cut = []
    for page in pages:
        soup = BeautifulSoup((site / f"{page.name}.html").read_text(encoding="utf-8"), "lxml")
        for folded in soup.select("article details.hide"):
            folded.decompose()
        cells = [re.sub(r"\s", "", cell.get_text()) for cell in soup.select("article .cell_input pre")]
        cut += [page.name for cell in cells if cell not in text]
    return [
        Bar("bookmarks of the PDF", f"{headings} headings", str(marks), PDF, marks == headings),
        Bar("cells of code cut in the PDF", "≤ 0", str(len(cut)), ", ".join(cut[:2]), not cut),
        Bar(
            "the book as EPUB", "made", "made" if (site / EPUB).is_file() else "not made", EPUB, (site / EPUB).is_file()
        ),
    ]

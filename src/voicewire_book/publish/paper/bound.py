"""Print the book, and bind it: contents with page numbers in front, bookmarks beside, all in one PDF."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from voicewire_book import paths
from voicewire_book.publish.paper import EPUB, PDF, chromium, document, epub

if TYPE_CHECKING:
    import pikepdf

__all__ = ["bind", "make"]

SOURCE = "_paper.html"
CONTENTS = "_contents.html"
INVALID = "https://page.invalid/"


class BindError(RuntimeError):
    """What was printed does not fit what was sent to be printed."""


def make(site: Path) -> int:
    """Print the built site as one PDF, and write it as one EPUB; both lie in the site then."""
    root = paths.root()
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    said = {"title": config["title"], "author": config["author"]}
    address = config["html"]["baseurl"]
    pages = document.order(root / "book" / "_toc.yml", site)
    source, contents = site / SOURCE, site / CONTENTS
    try:
        with tempfile.TemporaryDirectory(prefix="voicewire-paper-") as folder:
            body, front = Path(folder) / "body.pdf", Path(folder) / "front.pdf"
            source.write_text(str(document.compose(pages, site, address)), encoding="utf-8")
            composed = document.settled(chromium.typeset(source))
            source.write_text(str(composed), encoding="utf-8")
            chromium.print_page(source, body)
            entries = _entries(body, document.headings(composed))
            listed = [(heading, number + 1) for heading, number in entries if heading.level <= 2]
            contents.write_text(document.contents(listed, config["title"]), encoding="utf-8")
            chromium.print_page(contents, front, tagged=False)
            count = bind(front, body, entries, site / PDF, **said)
        epub.write(composed, site, site / EPUB, address=address, day=str(datetime.now(UTC).date()), **said)
        return count
    finally:
        source.unlink(missing_ok=True)
        contents.unlink(missing_ok=True)


def bind(
    front: Path,
    body: Path,
    entries: Sequence[tuple[document.Heading, int]],
    target: Path,
    *,
    title: str,
    author: str,
) -> int:
    """Put the contents before the body, with bookmarks and page labels."""
    import pikepdf

    with pikepdf.open(body) as book, pikepdf.open(front) as contents:
        before = len(contents.pages)
        _turn_links(contents, book, before)
        with book.open_outline() as outline:
            outline.root.clear()
            _bookmark(outline.root, entries, before)
        book.Root.PageLabels = pikepdf.Dictionary(
            Nums=[0, pikepdf.Dictionary(S=pikepdf.Name.r), before, pikepdf.Dictionary(S=pikepdf.Name.D)]
        )
        book.Root.PageMode = pikepdf.Name.UseOutlines
        with book.open_metadata() as metadata:
            metadata["dc:title"] = title
            metadata["dc:creator"] = [author]
        part = target.with_suffix(".part")
        book.save(part, object_stream_mode=pikepdf.ObjectStreamMode.generate, deterministic_id=True)
        part.replace(target)
        return len(book.pages)


def _entries(body: Path, headings: Sequence[document.Heading]) -> list[tuple[document.Heading, int]]:
    """Each heading with the page that it was printed on: the browser's outline has the pages, but no clean text."""
    import pikepdf

    with pikepdf.open(body) as book, book.open_outline() as outline:
        numbers = {page.objgen: number for number, page in enumerate(book.pages)}
        printed = [numbers[place.objgen] for place in _destinations(book, outline.root)]
    if len(printed) != len(headings):
        raise BindError(f"{len(headings)} headings were to be printed, the PDF has {len(printed)}")
    return list(zip(headings, printed, strict=True))


def _destinations(book: pikepdf.Pdf, items: Sequence[Any]) -> Iterator[Any]:
    for item in items:
        destination = item.destination if item.destination is not None else item.action.D
        yield destination[0]
        yield from _destinations(book, item.children)


def _bookmark(root: list[Any], entries: Sequence[tuple[document.Heading, int]], before: int) -> None:
    from pikepdf import OutlineItem

    above: list[tuple[int, list[Any]]] = [(0, root)]
    for heading, number in entries:
        while above[-1][0] >= heading.level:
            above.pop()
        item = OutlineItem(heading.text, before + number)
        item.is_closed = True
        above[-1][1].append(item)
        above.append((heading.level, item.children))


def _turn_links(contents: pikepdf.Pdf, book: pikepdf.Pdf, before: int) -> None:
    """Put the contents' pages in front, their links leading to pages of the book."""
    import pikepdf

    for number, page in enumerate(contents.pages):
        book.pages.insert(number, page)
    for page in book.pages[:before]:
        for note in page.get("/Annots", []):
            address = str(note.A.URI) if "/A" in note and "/URI" in note.A else ""
            if address.startswith(INVALID):
                goal = book.pages[before + int(address.removeprefix(INVALID)) - 1]
                del note["/A"]
                note["/Dest"] = pikepdf.Array([goal.obj, pikepdf.Name.XYZ, None, None, None])

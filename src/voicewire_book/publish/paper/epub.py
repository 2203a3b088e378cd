"""The book as an EPUB: one file of XHTML for each page, formulas as MathML, pictures beside them."""

from __future__ import annotations

import base64
import hashlib
import io
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from voicewire_book.publish.paper.document import Heading, headings

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

__all__ = ["write"]

STYLE = Path(__file__).with_name("epub.css")
DATED = (2020, 1, 1, 0, 0, 0)
"""The time of every file within: the same pages give the same file."""
TYPES = {".png": "image/png", ".svg": "image/svg+xml", ".jpg": "image/jpeg", ".css": "text/css"}
DATA = re.compile(r"data:(image/(?:png|svg\+xml|jpeg|webp));base64,(.*)", re.S)
ENDINGS = {"image/png": ".png", "image/svg+xml": ".svg", "image/jpeg": ".jpg"}
PLAIN = {"href", "src", "alt", "class", "id", "colspan", "rowspan", "scope", "lang", "title", "start"}
"""The attributes that a page keeps, beside those of formulas and drawings."""


@dataclass
class Book:
    """What is put into the file: pages in their order, and every other file by its name."""

    pages: dict[str, Tag] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)


def write(document: BeautifulSoup, site: Path, target: Path, *, title: str, author: str, address: str, day: str) -> int:
    """Write the pages as an EPUB."""
    book = Book()
    for section in document.select("section.vw-paper"):
        book.pages[_file(str(section["id"]))] = section
    homes = {str(tag["id"]): name for name, page in book.pages.items() for tag in [page, *page.find_all(id=True)]}
    entries = [(heading, homes[heading.id]) for heading in headings(document) if heading.id in homes]
    for page in book.pages.values():
        _clean(page, homes, book, site)
    book.files["book.css"] = STYLE.read_bytes()
    part = target.with_suffix(".part")
    with zipfile.ZipFile(part, "w") as archive:
        for name, content in _contents(book, entries, title, author, address, day):
            stored = name == "mimetype"
            info = zipfile.ZipInfo(name, DATED)
            archive.writestr(info, content, zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED)
    part.replace(target)
    return len(book.pages)


def _file(section: str) -> str:
    return section.replace("/", "-") + ".xhtml"


def _clean(page: Tag, homes: Mapping[str, str], book: Book, site: Path) -> None:
    """Turn a page of the site into what an EPUB may hold."""
    for formula in page.select("mjx-container"):
        spoken = formula.find("math")
        if spoken is not None:
            formula.replace_with(spoken)
    for tag in page.find_all(["input", "button", "script", "style", "label", "output", "form"]):
        tag.decompose()
    for picture in page.find_all("img"):
        picture["src"] = _picture(str(picture["src"]), book, site)
        picture["alt"] = picture.get("alt") or ""
    for tag in page.find_all("a", href=True):
        place = str(tag["href"])
        if place.startswith("#"):
            home = homes.get(place[1:])
            if home is None:
                del tag["href"]
            else:
                tag["href"] = f"{home}#{_name(place[1:])}"
    foreign = {id(tag) for tag in page.select("svg, svg *, math, math *")}
    for tag in [page, *page.find_all(True)]:
        for key in list(tag.attrs):
            if (id(tag) not in foreign and key not in PLAIN) or key.startswith(("data-", "aria-", "on")):
                del tag[key]
        if tag.get("id"):
            tag["id"] = _name(str(tag["id"]))
        if tag.name == "math":
            tag["xmlns"] = "http://www.w3.org/1998/Math/MathML"
        if tag.name == "svg":
            tag["xmlns"] = "http://www.w3.org/2000/svg"


def _name(place: str) -> str:
    """An address that XML allows as a name."""
    return "i" + re.sub(r"[^A-Za-z0-9_.-]", "-", place)


def _picture(source: str, book: Book, site: Path) -> str:
    """Put a picture into the book, and return its name there."""
    inside = DATA.match(source)
    if inside:
        content, ending = base64.b64decode(inside[2]), ENDINGS.get(inside[1], ".png")
        if inside[1] not in ENDINGS:  # WebP, which not every reading program shows
            from PIL import Image

            packed = io.BytesIO()
            Image.open(io.BytesIO(content)).save(packed, format="png", optimize=True)
            content = packed.getvalue()
    else:
        content, ending = (site / source).read_bytes(), posixpath.splitext(source)[1]
    name = f"pictures/{hashlib.sha256(content).hexdigest()[:20]}{ending}"
    book.files[name] = content
    return name


def _contents(
    book: Book, entries: Sequence[tuple[Heading, str]], title: str, author: str, address: str, day: str
) -> Iterator[tuple[str, bytes]]:
    yield "mimetype", b"application/epub+zip"
    yield (
        "META-INF/container.xml",
        b'<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        b'<rootfiles><rootfile full-path="book/book.opf" media-type="application/oebps-package+xml"/></rootfiles>'
        b"</container>",
    )
    yield "book/book.opf", _package(book, title, author, address, day).encode()
    yield "book/contents.xhtml", _navigation(entries, title).encode()
    for name, page in book.pages.items():
        heading = page.find("h1")
        own = " ".join(heading.get_text().split()) if heading else title
        yield f"book/{name}", _xhtml(own, page.decode(formatter="minimal")).encode()
    for name, content in book.files.items():
        yield f"book/{name}", content


def _xhtml(title: str, body: str) -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops" lang="en" xml:lang="en"><head><title>{escape(title)}</title>'
        f'<link rel="stylesheet" type="text/css" href="book.css"/></head><body>{body}</body></html>'
    )


def _navigation(entries: Sequence[tuple[Heading, str]], title: str) -> str:
    """The contents that reading programs show: chapters, and in each its sections."""
    items, open_chapter = [], False
    for heading, home in entries:
        link = f'<a href="{home}#{_name(heading.id)}">{escape(heading.text)}</a>'
        if heading.level == 1:
            items.append(("</ol></li>" if open_chapter else "") + f"<li>{link}<ol>")
            open_chapter = True
        elif heading.level == 2 and open_chapter:
            items.append(f"<li>{link}</li>")
    listed = re.sub(r"<ol>(?=</ol>)|(?<=<ol>)</ol>", "", "".join(items) + "</ol></li>")
    listed = listed.replace("<ol></ol>", "")
    return _xhtml(title, f'<nav epub:type="toc"><h1>{escape(title)}</h1><ol>{listed}</ol></nav>')


def _package(book: Book, title: str, author: str, address: str, day: str) -> str:
    items = ['<item id="contents" href="contents.xhtml" media-type="application/xhtml+xml" properties="nav"/>']
    for number, (name, page) in enumerate(book.pages.items()):
        holds = [word for word, tag in (("mathml", "math"), ("svg", "svg")) if page.find(tag)]
        said = f' properties="{" ".join(holds)}"' if holds else ""
        items.append(f'<item id="p{number}" href="{escape(name)}" media-type="application/xhtml+xml"{said}/>')
    for number, name in enumerate(book.files):
        kind = TYPES[posixpath.splitext(name)[1]]
        items.append(f'<item id="f{number}" href="{escape(name)}" media-type="{kind}"/>')
    spine = "".join(f'<itemref idref="p{number}"/>' for number in range(len(book.pages)))
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<package xmlns="http://www.idpf.org/2007/opf" version="3.0" '
        'unique-identifier="id" xml:lang="en"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f'<dc:identifier id="id">{escape(address)}</dc:identifier><dc:title>{escape(title)}</dc:title>'
        f"<dc:creator>{escape(author)}</dc:creator><dc:language>en</dc:language><dc:date>{day}</dc:date>"
        f'<meta property="dcterms:modified">{day}T00:00:00Z</meta></metadata><manifest>{"".join(items)}</manifest>'
        f'<spine><itemref idref="contents"/>{spine}</spine></package>'
    )

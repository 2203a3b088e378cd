"""One document of all pages of the built site, laid out for paper."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from voicewire_book.publish.paper.spectrograms import spectrogram

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

__all__ = ["compose", "contents", "headings", "order", "settled"]

REFERENCE = "Reference"
"""The part of the book that is not printed."""

STYLE = Path(__file__).with_name("paper.css")


@dataclass(frozen=True)
class Page:
    """A page of the site.

    Attributes
    ----------
    name : str
        Its address without ``.html``.
    part : str
        The first page of the part that it belongs to.
    """

    name: str
    part: str


@dataclass(frozen=True)
class Heading:
    """A heading of the document.

    Attributes
    ----------
    level : int
        1 for a chapter.
    text : str
        Without its link.
    id : str
        Its address within the document.
    """

    level: int
    text: str
    id: str


def order(toc: Path, site: Path) -> list[Page]:
    """Return the pages of the book in their order."""
    said = yaml.safe_load(toc.read_text(encoding="utf-8"))
    pages = [Page(said["root"], said["root"])]
    for part in said["parts"]:
        if part.get("caption") == REFERENCE:
            continue  # the pages of the package's functions are made to be searched, and would be a thousand more
        for chapter in part["chapters"]:
            names = [chapter["file"], *(section["file"] for section in chapter.get("sections", []))]
            pages += [Page(name, names[0]) for name in names]
    return [page for page in pages if page.name != "genindex" and (site / f"{page.name}.html").is_file()]


def compose(pages: Sequence[Page], site: Path, published: str) -> BeautifulSoup:
    """Return one document of these pages, each solution at the end of its part."""
    from bs4 import BeautifulSoup

    names = {page.name for page in pages}
    document = BeautifulSoup("<!doctype html>", "lxml")
    html = document.new_tag("html", attrs={"lang": "en", "data-theme": "light", "data-mode": "light"})
    document.append(html)
    head, holder, body = (document.new_tag(name) for name in ("head", "body", "main"))
    html.extend([head, holder])
    rules = document.new_tag("style")
    rules.string = STYLE.read_text(encoding="utf-8")
    head.extend([document.new_tag("meta", attrs={"charset": "utf-8"}), rules])
    holder.append(body)
    body["class"] = "bd-content"
    kept: list[Tag] = []
    titles: dict[str, str] = {}
    for number, page in enumerate(pages):
        soup = BeautifulSoup((site / f"{page.name}.html").read_text(encoding="utf-8"), "lxml")
        known = {str(tag) for tag in head.find_all(True)}
        for tag in [tag for tag in _head(soup, page) if str(tag) not in known]:
            rules.insert_before(tag)  # so that the rules for paper come after those of the pages
        article = soup.select_one("article.bd-article")
        if article is None:
            raise ValueError(f"{page.name}.html has no article")
        _still(article, f"{published}{page.name}.html")
        _address(article, page.name, names, published)
        titles.setdefault(page.part, _title(article))
        kept += _solutions(article, document)
        body.append(_section(document, head, article, page.name, number))
        last = number + 1 == len(pages) or pages[number + 1].part != page.part
        if last and kept:
            collected = _collected(document, kept, page.part, titles[page.part])
            body.append(_section(document, head, collected, f"{page.part}/solutions", -number))
            kept = []
    return document


def settled(text: str) -> BeautifulSoup:
    """Return a document whose formulas are set, without the scripts that set them."""
    from bs4 import BeautifulSoup

    document = BeautifulSoup(text, "lxml")
    for tag in document.find_all("script"):
        tag.decompose()
    left = [tag.get_text() for tag in document.select(".math") if tag.find("mjx-container") is None]
    if left:
        raise ValueError(f"{len(left)} formulas were not set, the first of them {left[0]!r}")
    return document


def headings(document: BeautifulSoup) -> list[Heading]:
    """Return the headings of a document in their order."""
    found = document.find_all(["h1", "h2", "h3", "h4", "h5", "h6"])
    return [Heading(int(tag.name[1]), " ".join(tag.get_text().split()), _id(tag)) for tag in found]


def _id(tag: Tag) -> str:
    holder = tag if tag.get("id") else tag.find_parent(id=True)
    return str(holder["id"]) if holder else ""


def _head(soup: BeautifulSoup, page: Page) -> Iterator[Tag]:
    """The styles of a page of the site, and what sets its formulas if it has any."""
    for tag in soup.select('head link[rel="stylesheet"], head script'):
        address = str(tag.get("href") or tag.get("src") or "").split("?")[0]
        if tag.name == "script" and "mathjax" not in address and "MathJax" not in tag.get_text():
            continue
        if address:
            tag["href" if tag.name == "link" else "src"] = _from_root(address, page.name)
        yield tag.extract()


def _from_root(address: str, page: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), address))


def _still(article: Tag, online: str) -> None:
    """Leave out what paper cannot do, and say where it can be done; folded code stays on the page."""
    online_only = ".headerlink, .vw-hint, .vw-filters, .vw-about, .vw-live"
    for tag in article.find_all(["script", "noscript"]) + article.select(online_only):
        tag.decompose()
    for tag in article.find_all("source"):
        tag.decompose()  # paper has room for the wide picture
    for tag in article.find_all("picture"):
        tag.unwrap()
    for tag in article.select(".vw-knob"):
        tag.replace_with(_linked(article, online, "Move the knobs on the page"))
    for tag in article.find_all("audio"):
        source = str(tag.get("src", ""))
        if source.startswith("data:") and (picture := spectrogram(source)):
            shown = _new(article, "img", src=picture, alt="spectrogram of this sound")
            shown["class"] = "vw-spectrogram"
            tag.insert_before(shown)
        tag.replace_with(_linked(article, online, "Hear it on the page"))
    for tag in article.select("details.hide"):
        holder = tag.find_parent(class_="cell_input") or tag
        tag.decompose()
        if holder is not tag and not holder.get_text(strip=True):
            holder.decompose()
    for tag in article.select(".cell_input"):
        if not tag.get_text(strip=True) and not tag.find("img"):
            tag.decompose()
    folded = {id(tag) for tag in article.select(".vw-row, .vw-row details, .vw-claims details")}
    for tag in article.find_all("details"):
        if id(tag) not in folded:
            tag["open"] = ""


def _linked(article: Tag, address: str, text: str) -> Tag:
    paragraph = _new(article, "p")
    paragraph["class"] = "vw-online"
    anchor = _new(article, "a", href=address)
    anchor.string = f"{text}."
    paragraph.append(anchor)
    return paragraph


def _new(near: Tag, name: str, **attributes: str) -> Tag:
    from bs4 import BeautifulSoup

    return BeautifulSoup("", "lxml").new_tag(name, attrs=attributes)


def _address(article: Tag, page: str, names: set[str], published: str) -> None:
    """Make every address one of the whole document, of the site's folder, or of the published site."""
    for tag in article.find_all(id=True):
        tag["id"] = f"{page}--{tag['id']}"
    for tag in article.find_all(src=True):
        if not str(tag["src"]).startswith("data:"):
            tag["src"] = _from_root(str(tag["src"]), page)
    for tag in article.find_all("a", href=True):
        path, _, place = str(tag["href"]).partition("#")
        if ":" in path:
            continue
        target = _from_root(path, page) if path else f"{page}.html"
        name = target.removesuffix(".html")
        if name in names:
            tag["href"] = f"#{name}--{place}" if place else f"#{name}"
        else:
            tag["href"] = published + target + (f"#{place}" if place else "")


def _solutions(article: Tag, document: BeautifulSoup) -> list[Tag]:
    """Take the solutions out of a page; each leaves a link to where it stands."""
    taken = []
    for tag in article.select("div.solution"):
        link = document.new_tag("p", attrs={"class": "vw-online"})
        anchor = document.new_tag("a", href=f"#{_id(tag)}")
        anchor.string = "Solution: at the end of this part."
        link.append(anchor)
        tag.replace_with(link)
        taken.append(tag)
    return taken


def _collected(document: BeautifulSoup, solutions: Sequence[Tag], part: str, title: str) -> Tag:
    article = document.new_tag("article", attrs={"class": "bd-article"})
    heading = document.new_tag("h1", id=f"{part}/solutions--all")
    heading.string = f"Solutions: {title.lstrip('0123456789. ')}"
    article.append(heading)
    for solution in solutions:
        article.append(solution)
    return article


def _title(article: Tag) -> str:
    heading = article.find("h1")
    return " ".join(heading.get_text().split()) if heading else ""


def _section(document: BeautifulSoup, head: Tag, article: Tag, name: str, number: int) -> Tag:
    """A page as a section with a running head of its own."""
    section = document.new_tag("section", id=name, attrs={"class": "vw-paper"})
    key = f"p{number}" if number >= 0 else f"s{-number}"
    style = document.new_tag("style")
    title = _title(article).replace("\\", "").replace('"', "'")
    style.string = f'@page {key} {{ @top-right {{ content: "{title}"; }} }} .vw-{key} {{ page: {key}; }}'
    section["class"] = f"vw-paper vw-{key}"
    head.append(style)
    section.append(article)
    return section


def contents(entries: Sequence[tuple[Heading, int]], title: str) -> str:
    """Return the table of contents as a document of its own."""
    rows = "\n".join(
        f'<li class="l{heading.level}"><a href="https://page.invalid/{number}"><span>{escape(heading.text)}</span>'
        f"<i></i><b>{number}</b></a></li>"
        for heading, number in entries
    )
    style = STYLE.with_name("contents.css").read_text(encoding="utf-8")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{style}</style></head><body><h1>{escape(title)}</h1><h2>Contents</h2><ol>{rows}</ol></body></html>"
    )

"""The foot of each page: how to cite it, its edition and changes, and a link that reports an error in it."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from voicewire_book.publish.clone import commit
from voicewire_book.publish.machines.listing import citation

__all__ = ["changed", "entry", "foot", "report", "stand"]

UNLISTED = ("genindex", "search")
"""Pages without an author: nobody cites them."""


def foot(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Put the folded block behind a page's text."""
    if pagename in UNLISTED or doctree is None or "body" not in context:
        return
    base = Path(app.srcdir)
    address = f"{app.config.html_baseurl.rstrip('/')}/{pagename}.html"
    options = app.config.html_theme_options
    repository, branch = options["repository_url"], options.get("repository_branch") or "main"
    heading = re.search(r'<h1>(.*?)<a class="headerlink"', str(context["body"]), re.S)  # it has the number, too
    title = unescape(re.sub(r"<[^>]*>", "", heading.group(1) if heading else context.get("title", ""))).strip()
    file = Path(app.env.doc2path(pagename, base=False)).as_posix()
    date = changed(file, base)
    last = f"This page was last changed on {date} (" if date else "("
    cite = escape(entry(pagename, title, address, base))
    text = (
        '<details class="vw-about"><summary>Cite this page, see its changes, report an error</summary>'
        f"<p>Cite it as: {escape(_line(title, address, base))}</p>"
        f'<pre tabindex="0" aria-label="BibTeX entry of this page">{cite}</pre>'
        f"<p>{escape(stand(base))} {last}"
        f'<a href="{repository}/commits/{branch}/{file}">its history</a>, '
        f'<a href="{repository}/blob/{branch}/CHANGELOG.md">all changes</a>).</p>'
        f'<p><a href="{escape(report(repository, title, address, base))}">Report an error here</a>: '
        "an issue opens with the address of this page in it.</p></details>"
    )
    context["body"] = f"{context['body']}\n{text}"


def entry(page: str, title: str, address: str, base: Path) -> str:
    """Return a page's entry for BibTeX."""
    book = citation(base)
    fields = {
        "author": " and ".join(f"{{{name}}}" for name in _authors(book)),
        "title": re.sub(r"([&%#_])", r"\\\1", title),
        "booktitle": book["title"],
        "edition": str(book["version"]),
        "url": address,
    }
    if (date := _date(book, base)) is not None:
        fields |= {"year": date[:4], "date": date}
    key = re.sub(r"[^a-z0-9]+", "-", page.lower().removeprefix("notebooks/"))
    return "\n".join([f"@incollection{{voicewire-{key},", *(f"  {k} = {{{v}}}," for k, v in fields.items()), "}"])


def _line(title: str, address: str, base: Path) -> str:
    book = citation(base)
    date = _date(book, base)
    year = f" ({date[:4]})" if date else ""
    named = title if title.endswith(("?", "!", ".")) else f"{title}."
    return f"{', '.join(_authors(book))}{year}. {named} In: {book['title']}, edition {book['version']}. {address}"


def _authors(book: dict[str, Any]) -> list[str]:
    named = (author.get("name") or f"{author['given-names']} {author['family-names']}" for author in book["authors"])
    return [str(name) for name in named]


def _date(book: dict[str, Any], base: Path) -> str | None:
    """Return when the edition was released, or the date of the commit before there is a release."""
    if "date-released" in book:
        return str(book["date-released"])
    date = commit(base)[1]
    return None if date == "unknown" else date


def stand(base: Path) -> str:
    """Return the edition in one sentence, with its date or, before its release, the commit."""
    book = citation(base)
    if "date-released" in book:
        return f"Edition {book['version']} of {book['date-released']}."
    short, date = commit(base)
    known = "" if short == "unknown" else f", commit {short} of {date}"
    return f"Edition {book['version']}, not released yet{known}."


def report(repository: str, title: str, address: str, base: Path) -> str:
    """Return the address that opens an issue with this page and edition written into it."""
    body = (
        f"Page: {address}\n{stand(base)}\n\nWhere on the page:\n\nWhat stands there:\n\n"
        "What should stand there, and how you know:\n"
    )
    return f"{repository}/issues/new?{urlencode({'title': f'{title}: ', 'body': body})}"


@cache
def changed(file: str, base: Path) -> str | None:
    """Return the date of the last commit that changed a file; None outside a clone."""
    show = ["git", "-C", str(base), "log", "-1", "--format=%cs", "--", f":/{file}"]
    try:
        done = subprocess.run(show, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip() or None

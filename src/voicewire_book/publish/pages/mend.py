"""What the theme's and the extensions' pages get wrong for those who do not see them, mended after the build."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from voicewire_book.publish.pages import named

__all__ = ["FAULTS", "mend"]

FAULTS = (
    # The logo and the search lie beside every landmark, so who goes from one to the next never comes by.
    (
        '<div id="pst-primary-sidebar" class="bd-sidebar-primary bd-sidebar',
        '<div role="navigation" aria-label="Book" id="pst-primary-sidebar" class="bd-sidebar-primary bd-sidebar',
    ),
    # The arrow that unfolds a part in the sidebar has no name.
    ("<summary><span class=", '<summary aria-label="Chapters of this part"><span class='),
    # A list whose children are no list items; its entries have a role that no longer exists.
    ('<div role="list" class="citation-list">', '<div class="citation-list">'),
    (' role="doc-biblioentry"', ""),
    # sphinx-exercise gives every exercise of a page the same id.
    ('<section id="exercise-content">', "<section>"),
    ('<section id="solution-content">', "<section>"),
    # "#" behind each heading would be read out with it; the page's contents lead to the same places.
    ('<a class="headerlink"', '<a aria-hidden="true" tabindex="-1" class="headerlink"'),
    # A fold says in words what it holds: "Imports and parameters".
    ('<summary aria-label="Toggle hidden content">', "<summary>"),
    # The index stands in two columns, which is no table.
    ('<table style="width: 100%" class="index', '<table role="presentation" style="width: 100%" class="index'),
    # Buttons that do nothing without JavaScript are hidden there, as the theme hides its search.
    ('class="btn dropdown-toggle"', 'class="btn pst-js-only dropdown-toggle"'),
    ('class="sidebar-toggle primary-toggle btn', 'class="sidebar-toggle pst-js-only primary-toggle btn'),
    ('class="sidebar-toggle secondary-toggle btn', 'class="sidebar-toggle pst-js-only secondary-toggle btn'),
    ('class="btn btn-sm btn-fullscreen-button', 'class="btn btn-sm pst-js-only btn-fullscreen-button'),
    # An icon is a character of a font, which means nothing when it is read out.
    ('<i class="fa', '<i aria-hidden="true" class="fa'),
    ('<i class="theme-switch fa', '<i aria-hidden="true" class="theme-switch fa'),
)

ARROW = re.compile(r'(>([^<>]+)</a><details[^>]*><summary aria-label=")Chapters of this part"')
"""An arrow behind its part's link: eight of one name would be told apart by their place alone."""

EMPTY = re.compile(r'<th\b(?:(?P<span>\s(?:col|row)span="\d+")|[^>])*>(?:\s|&nbsp;|</?p\b[^>]*>)*</th>')
"""A header cell without a word, as pandas writes above an index and a corner has above names: it heads nothing."""

LEFTOVERS = ("webpack-macros.html", "sbt-webpack-macros.html")
"""Templates of the themes that they copy among the files of the site."""


def mend(app: Sphinx, error: Exception | None) -> None:
    """Mend the known faults in every page of the site, and give each fold, link and table a name of its own."""
    if error is not None or app.builder is None or app.builder.format != "html":
        return
    for name in LEFTOVERS:
        (Path(app.outdir) / "_static" / name).unlink(missing_ok=True)
    pages = {path: path.read_text(encoding="utf-8") for path in Path(app.outdir).rglob("*.html")}
    mark = Path(app.doctreedir) / "mended"  # a later build writes only the pages that changed
    gone = [fault for fault, _ in FAULTS if not any(fault in text for text in pages.values())]
    if gone and not mark.exists():
        raise ExtensionError(f"no page has {' nor '.join(gone)} any more: see FAULTS in {Path(__file__).name}")
    for path, before in pages.items():
        after = before
        for fault, right in FAULTS:
            after = after.replace(fault, right)
        after = ARROW.sub(r'\1Chapters of \2"', after)
        after = EMPTY.sub(lambda cell: f"<td{cell['span'] or ''}></td>", after)
        after = named.names(after)
        if after != before:
            path.write_text(after, encoding="utf-8")
    mark.touch()

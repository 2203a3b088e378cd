"""Schematic drawings: an SVG file beside a part's introduction becomes part of the page that shows it.

As a picture of its own an SVG cannot know whether the page is light or dark. In the page it takes the page's colours
from ``book.css``. The same file shows itself elsewhere (JupyterLab, a repository's page) in colours of its own, which
follow what the reader's system prefers.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

__all__ = ["inline"]

_STYLE = re.compile(r"\s*<style>.*?</style>", re.S)


def inline(svg: str) -> str:
    """Return a drawing as it stands in a page: without the colours that it has for itself."""
    return f'<figure class="vw-drawing">{_STYLE.sub("", svg).strip()}</figure>'


def put(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put each drawing into the page in the place of its picture."""
    if app.builder is None or app.builder.format != "html":
        return
    for image in list(doctree.findall(nodes.image)):
        file = Path(app.srcdir) / image["uri"]
        if file.suffix == ".svg" and file.parent.name == "drawings":
            html = nodes.raw("", inline(file.read_text(encoding="utf-8")), format="html")
            paragraph = image.parent
            alone = isinstance(paragraph, nodes.paragraph) and len(paragraph) == 1
            (paragraph if alone else image).replace_self(html)

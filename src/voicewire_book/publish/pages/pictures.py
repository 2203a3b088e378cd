"""Figures in the pages: the narrow picture where the screen is.

A notebook keeps two pictures of each figure (`voicewire_book.kit.figures.use`). The page names both, and a browser
loads the one that its window has room for. Each is at least so wide that it can be read, and is moved sideways where
its place on the page has no room for that: a drawing that keeps its shape, or a narrow picture inside an exercise. On
paper, in slides and in an EPUB stands the wide one.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from sphinx.application import Sphinx

from voicewire_book.publish.legible import LETTERS

__all__ = ["NARROW", "SCREENS", "narrow_ones"]

NARROW = "application/vnd.voicewire.narrow+json"
"""The type under which a notebook keeps the narrow picture (`figures.NARROW`; a test holds them together)."""

SCREENS = "screen and (max-width: 576px)"
"""Where the narrow picture is shown; ``book.css`` has the same."""


def narrow_ones(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give the narrow pictures of a notebook, with what myst-nb calls the wide ones beside them."""
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            told = output.get("metadata", {}).get("image/png", {})
            if NARROW in data or "letters" in told:
                yield hashlib.sha256(base64.b64decode(data["image/png"])).hexdigest(), data.get(NARROW, told)


def put(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Name the narrow picture beside the wide one of each figure of a notebook."""
    source = Path(app.env.doc2path(docname))
    if app.builder is None or app.builder.format != "html" or source.suffix != ".ipynb":
        return
    known = dict(narrow_ones(source))
    for image in list(doctree.findall(nodes.image)):
        narrow = known.get(Path(image["uri"]).stem)
        if narrow is None:
            continue
        letters = narrow["letters"]
        least = f'style="--vw-least: {-(-(LETTERS + 0.1) * narrow["width"] // letters):.0f}px"'
        if "webp" not in narrow:
            before = f'<div class="vw-pan" {least} data-width="{narrow["width"]}" data-letters="{letters}">'
            _put(image, before, "</div>")
            continue
        content = base64.b64decode(narrow["webp"])
        file = f"_images/{hashlib.sha256(content).hexdigest()}.webp"
        target = Path(app.outdir) / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        address = "../" * docname.count("/") + file
        before = (
            f'<picture {least}><source media="{escape(SCREENS)}" srcset="{address}" width="{narrow["width"]}" '
            f'height="{narrow["height"]}" data-letters="{letters}">'
        )
        _put(image, before, "</picture>")


def _put(image: nodes.image, before: str, after: str) -> None:
    """Put `before` and `after` around `image`; by ``replace_self`` the first of the three would get its classes."""
    new = [nodes.raw("", before, format="html"), image.deepcopy(), nodes.raw("", after, format="html")]
    image.parent.replace(image, new)

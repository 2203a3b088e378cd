"""The picture that a link to a page is shown with elsewhere: one for each part, one for all other pages."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from voicewire_book import paths
from voicewire_book.ledger import collecting, tally
from voicewire_book.ledger.vocabulary import VERDICTS
from voicewire_book.publish.pages.scorecard import FILLS

__all__ = ["FOLDER", "HOME", "SIZE", "draw", "name", "offer", "write"]

FOLDER = "_static/previews"
SIZE = (1200, 630)
"""In pixels, as those who show such pictures ask for."""

HOME = "voice-to-wire"
QUESTION = "Published studies of speech and its protocols: taught, run again, and judged claim by claim."


def name(page: str) -> str:
    """Return the picture of a page: its part's, or the book's."""
    known = {part.name for part in paths.PARTS}
    return next((folder for folder in page.split("/") if folder in known), HOME)


def offer(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Name a page's picture, with its size and what stands in it."""
    if doctree is None:
        return
    picture = name(pagename)
    title, question = _said(picture)
    context["meta"] = {
        **(context.get("meta") or {}),
        "og:image": f"{app.config.html_baseurl.rstrip('/')}/{FOLDER}/{picture}.png",
        "og:image:alt": f"{title}: {question}",
        "og:image:width": str(SIZE[0]),
        "og:image:height": str(SIZE[1]),
    }


def _said(picture: str) -> tuple[str, str]:
    if picture == HOME:
        return "Voice to Wire", QUESTION
    part = paths.part(picture)
    return part.title, part.question


def write(app: Sphinx, error: Exception | None) -> None:
    """Draw all pictures into the site."""
    if error is not None or app.builder is None or app.builder.format != "html":
        return
    counts = tally.by_study(collecting.scorecard(base=Path(app.srcdir)))
    folder = Path(app.outdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for picture in (HOME, *(part.name for part in paths.PARTS)):
        title, question = _said(picture)
        count = counts[picture].causes if picture in counts else {}
        draw(folder / f"{picture}.png", title, question, count)


def draw(path: Path, title: str, question: str, verdicts: Mapping[str, int]) -> None:
    """Draw one picture: title, question, and the verdicts as a bar where there are any."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(SIZE[0] / 100, SIZE[1] / 100), dpi=100, facecolor="#14202e")
    words: dict[str, Any] = {"color": "white", "family": "DejaVu Sans", "va": "top"}
    figure.text(0.06, 0.9, "VOICE TO WIRE", size=20, **{**words, "color": "#9ec9f5"})
    heading = textwrap.wrap(title, 32)
    figure.text(0.06, 0.79, "\n".join(heading), size=44, weight="bold", linespacing=1.2, **words)
    asked = textwrap.wrap(question, 58)
    figure.text(0.06, 0.72 - 0.13 * len(heading), "\n".join(asked), size=25, linespacing=1.4, **words)
    if total := sum(verdicts.values()):
        bar = figure.add_axes((0.06, 0.12, 0.88, 0.06))
        bar.set_axis_off()
        left = 0.0
        for fill, verdict in zip(FILLS, VERDICTS, strict=True):
            bar.barh(0, verdicts.get(verdict, 0), left=left, color=fill, edgecolor="#14202e")
            left += verdicts.get(verdict, 0)
        bar.set_xlim(0, total)
        figure.text(0.06, 0.095, f"{total} judged, claim by claim", size=18, **words)
    figure.savefig(path, metadata={"Software": None})

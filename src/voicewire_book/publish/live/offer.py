"""Put the button that starts Python into the pages of chapters; all else comes with the reader's click."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

from voicewire_book.publish.pages import policy

__all__ = ["offer"]

BAR = re.compile(r'<div class="vw-live".*?</div>\n', re.DOTALL)


def offer(site: Path, chapter: dict[str, Any], integrity: str, frame: str) -> None:
    """Write the button into a chapter's page, behind its first screen; an earlier one is replaced."""
    page = site / "notebooks" / f"{chapter['chapter']}.html"
    text = BAR.sub("", page.read_text(encoding="utf-8"))
    shown = len(re.findall(r'<div class="cell [^"]*docutils container', text))
    if shown != len(chapter["cells"]):
        raise ValueError(
            f"{page.name} shows {shown} code cells, the notebook has {len(chapter['cells'])}: build the pages anew"
        )
    bar = (
        f'<div class="vw-live" hidden data-chapter="{escape(chapter["chapter"])}" data-integrity="{integrity}">'
        '<button type="button">Run the code of this page</button> '
        f"<span>Python starts in the page: {chapter['bytes'] / 1e6:.0f} MB, fetched once from this site.</span></div>\n"
    )
    first = text.index("<section", text.index("</h1>"))
    page.write_text(policy.running(text[:first] + bar + text[first:], frame), encoding="utf-8")

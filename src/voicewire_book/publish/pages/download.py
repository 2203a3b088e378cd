"""Offer the whole book as PDF and EPUB in each page's download menu, where it will be printed."""

from __future__ import annotations

from typing import Any

from voicewire_book.publish.paper import EPUB, PDF, chromium

__all__ = ["offer"]


def offer(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Add the book's PDF and EPUB to the theme's download menu; without a Chromium there is none to offer."""
    if "header_buttons" not in context or chromium.find() is None:
        return
    buttons = [_button("../" * pagename.count("/") + name) for name in (PDF, EPUB)]
    groups = [group for group in context["header_buttons"] if group["label"] == "download-buttons"]
    if groups:
        groups[0]["buttons"].extend(buttons)
    else:
        context["header_buttons"].append({
            "type": "group", "tooltip": "Download", "icon": "fas fa-download", "buttons": buttons,
            "label": "download-buttons",
        })  # fmt: skip


def _button(address: str) -> dict[str, str]:
    kind = address.rpartition(".")[2]
    return {
        "type": "link",
        "url": address,
        "text": f"the whole book, .{kind}",
        "tooltip": f"Download the whole book as {kind.upper()}",
        "icon": "fas fa-book",
        "label": f"download-book-{kind}-button",
    }

"""Offer the whole book as one PDF in each page's download menu, where it will be printed."""

from __future__ import annotations

from typing import Any

from voicewire.publish.paper import FILE, chromium

__all__ = ["offer"]


def offer(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Add the book's PDF to the theme's download menu; without a Chromium there is none to offer.

    Parameters
    ----------
    app : sphinx.application.Sphinx
        The build; it calls this by the name of its event.
    pagename, templatename : str
        Of the page that is written.
    context : dict
        What the template gets; its ``header_buttons`` are changed.
    doctree : docutils.nodes.document
        Not used.

    Examples
    --------
    >>> menu = {"label": "download-buttons", "buttons": []}
    >>> offer(None, "book/index", "page.html", {"header_buttons": [menu]}, None)
    >>> [button["url"] for button in menu["buttons"]] in ([], ["../voice-to-wire.pdf"])
    True
    """
    if "header_buttons" not in context or chromium.find() is None:
        return
    button = {
        "type": "link",
        "url": "../" * pagename.count("/") + FILE,
        "text": "the whole book, .pdf",
        "tooltip": "Download the whole book",
        "icon": "fas fa-file-pdf",
        "label": "download-book-button",
    }
    groups = [group for group in context["header_buttons"] if group["label"] == "download-buttons"]
    if groups:
        groups[0]["buttons"].append(button)
    else:
        context["header_buttons"].append({
            "type": "group", "tooltip": "Download", "icon": "fas fa-download", "buttons": [button],
            "label": "download-buttons",
        })  # fmt: skip

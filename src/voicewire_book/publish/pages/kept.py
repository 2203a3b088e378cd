"""What the pages keep in a reader's browser, and for what; `tests/test_player.py` holds the list to the scripts."""

from __future__ import annotations

__all__ = ["KEPT", "listing"]

KEPT = {
    "mode": "whether you chose light, dark, or as your system has it",
    "theme": "the colours that follow from that choice",
    "sidebar-scroll-top": "how far the list of chapters was scrolled, until you close the window",
    "voicewire:": "after you started Python in a page: for each chapter, the cells that you wrote and the checks "
    "that you passed, until you throw them away; and, in the browser's cache, the files that the book has sent",
    "sphinx_highlight_terms": "the words that you searched for, until they are marked on the page that you open",
}
"""Names under which a script of the pages keeps something, and what that is."""

UNUSED = {
    "pst_banner_pref": "the theme's banners, of which this book has none",
    "storageKeyPrefix": "tabs that follow one another, of which this book has none",
    "MENU_STORAGE": "MathJax's menu, which is switched off",
}
"""Names that a script of the theme or of an extension has for what no page of this book has."""


def listing() -> str:
    """Return the list for the page that tells readers."""
    rows = "".join(f"| `{name}` | {what} |\n" for name, what in KEPT.items())
    return f"| Name | what is kept |\n|---|---|\n{rows}"

"""Scripts of ours that only some pages need, loaded on these alone."""

from __future__ import annotations

from typing import Any

__all__ = ["NEEDED", "load"]

NEEDED = {'<div class="vw-compare"': "player.js", "<img ": "figures.js", 'class="vw-drawing"': "figures.js"}
"""What stands in a page that needs a script, and the script's name below ``_static``."""

SEARCH = ("search-texts.js", "search.js")
"""What the page that searches needs; the first is written at the end of the build."""


def load(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Add each script of `NEEDED` to a page that has what it serves."""
    for script in SEARCH if pagename == "search" else ():
        app.add_js_file(script, loading_method="defer")
    for mark, script in NEEDED.items():
        if mark in str(context.get("body", "")):
            app.add_js_file(script, loading_method="defer")

"""The scorecard's own bars: what its first screen shows, how high a row is, its pages on paper, a telephone's width."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, cast

from voicewire_book.publish.bars.bar import Bar, at_most
from voicewire_book.publish.bars.browser import SCREEN
from voicewire_book.publish.paper import chromium

__all__ = ["bars"]

PAGE = "book/scorecard.html"
OPEN = "document.querySelectorAll('.vw-study, .vw-cause').forEach(fold => { fold.open = true })"
LINES = ".vw-row > summary"
ENDS = "all => all.map(one => one.getBoundingClientRect().bottom)"
SEEN = """all => all.map(one => {
  const end = one.checkVisibility() ? one.getBoundingClientRect().right : 1e9;
  return [end, one.closest(".vw-row").id];
})"""


def bars(site: Path) -> list[Bar]:
    """Measure the scorecard."""
    if not (site / PAGE).is_file():
        return []
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium.find(), args=chromium.sandbox())
        page = browser.new_context(viewport=cast(Any, SCREEN), offline=True).new_page()
        page.goto((site / PAGE).resolve().as_uri(), wait_until="load")
        found = [_first(page), *_rows(page)]
        page.reload()
        page.evaluate(OPEN)  # on paper nothing unfolds: a line for each claim
        paper = page.pdf(format="A4")
        browser.close()
    import pikepdf

    with pikepdf.open(io.BytesIO(paper)) as pdf:
        found.insert(2, at_most("scorecard: printed pages", 14, [(len(pdf.pages), PAGE)]))
    return found


def _first(page: Any) -> Bar:
    """Return how far down the sums and the filters end, while all studies are folded."""
    ends = page.locator(":not(details) > .vw-overview, .vw-filters").evaluate_all(ENDS)
    shown = page.locator(".vw-row:visible").count()
    bar = at_most("scorecard: sums and filters end", SCREEN["height"], [(max(ends), PAGE)], "px")
    return bar if not shown else Bar(bar.name, bar.limit, f"{shown} rows unfolded", PAGE, False)


def _rows(page: Any) -> list[Bar]:
    page.evaluate(OPEN)
    every = page.locator(LINES)
    heights = every.evaluate_all("all => all.map(one => [one.offsetHeight, one.parentNode.id])")
    page.set_viewport_size({"width": 360, "height": 800})
    ends = page.locator(f"{LINES} > .vw-verdict").evaluate_all(SEEN)
    return [
        at_most("scorecard: height of a folded row", 36, [(height, name) for height, name in heights], "px"),
        at_most("scorecard: a verdict ends, at 360 px", 360, [(end, name) for end, name in ends], "px"),
    ]

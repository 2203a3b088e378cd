"""How large the letters of figures stand on a page, and how sharp figures are, measured in a browser.

A drawing's letters are measured where they stand. A picture has no letters that a browser knows: how large they are
at its full width is written beside it when it is drawn (``data-letters``), and shrinks with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["LETTERS", "SHARP", "Shown", "figures_of", "shown"]

LETTERS = 9.0
"""CSS pixels: no letter of a figure is smaller on a screen 360 pixels wide."""

SHARP = 2.0
"""Pixels of a picture for each CSS pixel, at least."""

SCRIPT = """() => {
  document.querySelectorAll("details").forEach(fold => { fold.open = true; });
  const found = [];
  const seen = box => box.width > 0 && box.height > 0;
  document.querySelectorAll(".bd-article :is(.cell_output img, .vw-slider img, figure img, p > img)").forEach(image => {
    const box = image.getBoundingClientRect();
    if (!seen(box)) { return; }
    const holder = image.closest("picture");
    const sources = holder ? Array.from(holder.querySelectorAll("source")) : [];
    const source = sources.find(one => matchMedia(one.media).matches);
    const told = source || image.closest("[data-letters]");
    const letters = told ? parseFloat(told.dataset.letters) : NaN;
    const whole = parseFloat(source ? source.getAttribute("width") : image.style.width);
    const vector = /[.]svg([?#]|$)/.test(image.currentSrc);
    found.push({
      name: image.alt.slice(0, 60), letters: letters * box.width / whole,
      density: vector ? Infinity : image.naturalWidth / box.width
    });
  });
  document.querySelectorAll(".bd-article svg:has(text)").forEach(drawing => {
    const sizes = Array.from(drawing.querySelectorAll("text, tspan"))
      .filter(text => text.textContent.trim() && seen(text.getBoundingClientRect()))
      .map(text => {
        const scale = text.getScreenCTM();
        return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(scale.a, scale.b);
      });
    const title = drawing.querySelector("title");
    if (sizes.length) {
      found.push({ name: title ? title.textContent : "drawing", letters: Math.min(...sizes), density: Infinity });
    }
  });
  return found.map(one => ({
    name: one.name, letters: Number.isFinite(one.letters) ? one.letters : null,
    density: Number.isFinite(one.density) ? one.density : null
  }));
}"""


@dataclass(frozen=True)
class Shown:
    """One figure as a page shows it.

    Attributes
    ----------
    page : str
        The page's address in the site.
    name : str
        The beginning of what it says to those who do not see it, or its title.
    letters : float or None
        Its smallest letters, CSS pixels; None where nothing tells.
    density : float or None
        Pixels of the picture for each CSS pixel; None for drawings, which are sharp at any size.
    """

    page: str
    name: str
    letters: float | None
    density: float | None

    @property
    def legible(self) -> bool:
        """Whether its letters are known and large enough for a telephone."""
        return self.letters is not None and self.letters >= LETTERS - 0.05

    @property
    def sharp(self) -> bool:
        """Whether it has enough pixels."""
        return self.density is None or self.density >= SHARP - 0.05


def figures_of(page: Page, name: str = "") -> list[Shown]:
    """Measure the figures of a page that a browser shows."""
    found: list[dict[str, Any]] = page.evaluate(SCRIPT)
    return [Shown(name, one["name"], one["letters"], one["density"]) for one in found]


def shown(browser: Any, site: Path, pages: Sequence[str], width: int = 360) -> Iterator[Shown]:
    """Open pages one after another and give their figures, measured."""
    for name in pages:
        page = browser.new_page()
        try:
            page.set_viewport_size({"width": width, "height": 800})
            page.goto((site / name).as_uri(), wait_until="load")
            yield from figures_of(page, name)
        finally:
            page.close()

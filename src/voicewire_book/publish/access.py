"""What axe-core finds on the built pages: every rule, light and dark, wide and as narrow as a telephone.

``python -m voicewire_book.publish.access [PAGE…]`` prints what it finds on all pages of ``_build/html``, or on those
named, and ends with status 1 if it is anything. It needs Chromium and the extra ``dev``. Pages are opened as files
without any network.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from voicewire_book import paths
from voicewire_book.publish.paper import chromium

__all__ = ["MODES", "RUN", "SETTLED", "STILL", "WIDTHS", "audit", "axe", "browsing", "main", "pages", "violations"]

WIDTHS = (1280, 360)
MODES = ("light", "dark")

RUN = """rules => {
  const behind = new Map();
  const under = one => {
    if (!one) { return ""; }
    if (!behind.has(one)) {
      const style = getComputedStyle(one);
      const own = [style.backgroundColor, style.backgroundImage, style.opacity, style.filter, style.mixBlendMode,
                   style.position, style.clip, style.clipPath];
      behind.set(one, `${own} ${under(one.parentElement)}`);
    }
    return behind.get(one);
  };
  const seen = new Set();
  for (const one of document.querySelectorAll("body :not(svg, svg *, input, select, textarea, button)")) {
    const says = [...one.childNodes].some(child => child.nodeType === Node.TEXT_NODE && child.data.trim());
    let alike = true; // nothing to look at
    if (says && one.checkVisibility()) {
      const { color, fontSize, fontWeight, textShadow, visibility } = getComputedStyle(one);
      const looks = [color, fontSize, fontWeight, textShadow, visibility, under(one)].join();
      alike = seen.has(looks);
      seen.add(looks);
    }
    one.toggleAttribute("data-alike", alike);
  }
  axe.configure({rules: [{id: "color-contrast", selector: ":not([data-alike])"}]});
  return axe.run(
    {include: [["body"]], exclude: [["mjx-math"], ["mjx-assistive-mml"]]},
    {resultTypes: ["violations"], preload: false, ...(rules ? {runOnly: rules} : {})}
  );
}"""
"""The inside of a formula is left out: thousands of elements that MathJax makes, beside the text it reads out.

A page has thousands of texts, in some hundred looks. Of those that are seen, in the same colour, size, weight and
shadow on the same grounds, one stands for all in the rule on contrast, which took most of the time; in every other
rule each is looked at.
"""

FORMULAS = """async () => {
  for (let turn = 0; turn < 600 && !window.MathJax?.startup?.promise; turn += 1)
    await new Promise((done) => setTimeout(done, 50));
  await MathJax.startup.promise;
}"""
"""Waits until formulas are drawn, within the page: its policy forbids what Playwright would have it evaluate later."""
SETTLED = 500
"""Milliseconds after a change of width: the theme looks 300 ms later which tables scroll, for the keyboard's sake."""

STILL = "*, ::before, ::after { transition: none !important; animation: none !important }"
"""A colour caught in the middle of fading from one mode into the other is no colour of the page."""


def axe() -> str:
    """Return axe-core, as a script for a page."""
    from importlib.resources import files

    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def pages(site: Path) -> list[str]:
    """Return the addresses of all pages of a site that a reader sees."""
    found = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    return [name for name in found if name != "index.html" and not name.startswith("_static/")]


@contextmanager
def browsing(**options: Any) -> Iterator[Any]:
    """Start a Chromium without a network."""
    from playwright.sync_api import sync_playwright

    program = chromium.find()
    if program is None:
        raise FileNotFoundError("no Chromium was found: apt-get install chromium")
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield started.new_context(**{"viewport": {"width": 1280, "height": 800}, "offline": True, **options})
        finally:
            started.close()


def violations(page: Any, rules: Sequence[str] | None = None) -> list[str]:
    """Return what axe finds on an open page into which `axe` was put."""
    found = page.evaluate(RUN, list(rules) if rules else None)["violations"]
    return [
        f"{rule['id']}: {rule['nodes'][0]['html'][:160]} "
        f"({len(rule['nodes'])} place{'s' if len(rule['nodes']) > 1 else ''})"
        for rule in found
    ]


def audit(context: Any, site: Path, names: Iterable[str], rules: Sequence[str] | None = None) -> list[str]:
    """Return what axe finds on pages, in both modes and at both widths."""
    found = []
    for name in names:
        page = context.new_page()
        page.goto((site / name).as_uri(), wait_until="load")
        if page.locator(".math").count():
            page.evaluate(FORMULAS)
        page.evaluate(axe())
        page.add_style_tag(content=STILL)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            page.wait_for_timeout(SETTLED)
            for mode in MODES:
                page.evaluate("mode => { document.documentElement.dataset.theme = mode }", mode)
                page.wait_for_timeout(50)
                found += [f"{name}, {mode}, {width} px: {said}" for said in violations(page, rules)]
        page.close()
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what axe finds on the built pages."""
    site = paths.root() / "_build" / "html"
    chosen = list(sys.argv[1:] if arguments is None else arguments) or pages(site)
    count = 0
    with browsing() as context:
        for name in chosen:
            for said in audit(context, site, [name]):
                count += 1
                print(said, flush=True)
    print(f"{count} violations on {len(chosen)} pages, {' and '.join(MODES)}, at {WIDTHS[0]} and {WIDTHS[1]} px")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())

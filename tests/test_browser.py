"""The built site in a browser with the network off: quiet, accessible, no wider than the screen, usable by keyboard."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from voicewire import paths

ROOT = paths.root()
SITE = ROOT / "_build" / "html"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NEEDED = ("playwright", "axe_playwright_python")

PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html")) if SITE.is_dir() else []
PAGES = [page for page in PAGES if page != "index.html" and not page.startswith("_static/")]  # index.html redirects

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]

AXE_RUN = """rules => axe.run(
  {include: [["body"]], exclude: [["mjx-math"], ["mjx-assistive-mml"]]},
  {resultTypes: ["violations"], preload: false, runOnly: rules}
)"""
"""The inside of a formula is left out: thousands of elements that MathJax makes, beside the text it reads out."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PAGES, reason="the site is not built: make book"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium"),
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in NEEDED),
        reason="playwright or axe-playwright-python is missing: install the extra 'dev'",
    ),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started.new_context(viewport={"width": 1280, "height": 800}, offline=True)
        started.close()


@pytest.fixture(scope="module")
def axe() -> str:
    import axe_playwright_python

    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


class Visit:
    """One page of the site, opened as a file without any network, and what it said and asked for."""

    def __init__(self, browser: Any, name: str) -> None:
        self.page = browser.new_page()
        self.asked: list[str] = []
        self.said: list[str] = []
        self.page.on("request", self._asked)
        self.page.on("console", lambda m: self.said.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("requestfailed", lambda request: self.said.append(f"failed: {request.url[:100]}"))
        self.page.goto((SITE / name).as_uri(), wait_until="load")
        if self.page.locator(".math").count():
            self.page.wait_for_function("window.MathJax && MathJax.startup && MathJax.startup.promise")
            self.page.evaluate("MathJax.startup.promise")

    def _asked(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.asked.append(request.url)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self.page.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_quiet_offline_accessible_and_no_wider_than_a_telephone(browser, axe, name):
    with Visit(browser, name) as visit:
        page = visit.page
        assert visit.asked == []
        assert visit.said == []
        page.evaluate(axe)
        # A colour caught in the middle of fading from one mode into the other is no colour of the page.
        page.add_style_tag(content="*, ::before, ::after { transition: none !important; animation: none !important }")
        found = []
        for mode, rules in (("light", WCAG), ("dark", ["color-contrast"])):  # only colours change with the mode
            page.evaluate("mode => { document.documentElement.dataset.theme = mode }", mode)
            page.wait_for_timeout(50)
            result = page.evaluate(AXE_RUN, rules)
            found += [
                f"{mode}: {v['id']}: {v['nodes'][0]['html'][:120]} ({len(v['nodes'])} places)"
                for v in result["violations"]
                if v["impact"] in ("serious", "critical")
            ]
        assert found == []
        page.set_viewport_size({"width": 360, "height": 800})
        page.wait_for_timeout(50)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_scorecard_is_an_instrument(browser):
    """Chosen, searched, put in order, addressed, tried with another tolerance, printed."""
    with Visit(browser, "book/scorecard.html") as visit:
        page = visit.page
        every = page.locator(".vw-row").count()
        said = page.locator(".vw-filters output")
        assert said.inner_text() == f"{every} claims"
        assert page.locator(".vw-row:visible").count() == 0  # studies are folded
        for part in (".vw-overview", ".vw-filters"):
            box = page.locator(part).bounding_box()
            assert box["y"] + box["height"] <= 800, part
        page.select_option("[name=study]", "nfc")
        page.select_option("[name=verdict]", "partly")
        left = page.locator(".vw-row:not([hidden])")
        assert said.inner_text() == f"{left.count()} of {every} claims"
        assert {row.get_attribute("data-verdict") for row in left.all()} == {"partly"}
        assert "study=nfc&verdict=partly" in page.url
        page.reload()  # the address says what was chosen
        assert page.locator(".vw-row:not([hidden])").count() == left.count() > 0
        page.click(".vw-filters button")
        page.wait_for_function("!location.search")
        page.fill(".vw-filters [name=q]", "echo.erle-one zzz")
        assert said.inner_text() == f"0 of {every} claims"
        page.fill(".vw-filters [name=q]", "")
        page.select_option("[name=order]", "id")
        page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
        names = (
            page.locator(".vw-study").first.locator(":scope > .vw-row").evaluate_all("all => all.map(one => one.id)")
        )
        assert names == sorted(names) and len(names) > 5
        box = page.locator(".vw-whatif:has(legend)").first
        assert box.locator("output").inner_text().endswith("This is the ledger's own.")
        box.locator("input").first.fill("0")
        assert box.locator("output").inner_text().endswith("This is yours, not the ledger's.")
        page.reload()
        page.evaluate("document.querySelectorAll('.vw-study, .vw-cause').forEach(fold => { fold.open = true })")
        heights = page.locator(".vw-row > summary").evaluate_all("all => all.map(one => one.offsetHeight)")
        assert max(heights) <= 36 and len(heights) == every
        row = page.locator(".vw-row").nth(every // 2).get_attribute("id")
        page.goto(f"{(SITE / 'book' / 'scorecard.html').as_uri()}#{row}")
        page.reload()
        assert page.locator(f"#{row.replace('.', chr(92) + '.')} dl").is_visible()
        page.set_viewport_size({"width": 360, "height": 800})
        page.evaluate("document.querySelectorAll('.vw-study, .vw-cause').forEach(fold => { fold.open = true })")
        seen = page.locator(".vw-row > summary > .vw-verdict").evaluate_all(
            "all => all.every(one => one.getBoundingClientRect().right <= 360)"
        )
        assert seen
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_sliders_work_by_keyboard(browser):
    tried = 0
    for name in PAGES:
        if '<div class="vw-slider"' not in (SITE / name).read_text(encoding="utf-8"):
            continue
        with Visit(browser, name) as visit:
            for slider in visit.page.locator(".vw-slider").all():
                knob = slider.locator("input[type=range]").first
                picture = slider.locator("img")
                end = int(knob.get_attribute("max"))
                knob.focus()
                visit.page.keyboard.press("Home")
                seen = {picture.get_attribute("alt")}
                for step in range(1, end + 1):
                    visit.page.keyboard.press("ArrowRight")
                    assert knob.input_value() == str(step)
                    assert slider.locator("output").first.inner_text() == knob.get_attribute("aria-valuetext")
                    assert slider.locator("[aria-live]").inner_text() == picture.get_attribute("alt")
                    seen.add(picture.get_attribute("alt"))
                assert picture.evaluate("image => image.complete && image.naturalWidth > 0")
                assert end == 0 or len(seen) > 1, f"{name}: the knob changes nothing"
                tried += 1
    assert tried or not paths.chapters(), "no slider was found in any chapter"


def test_a_glossary_hint_shows_when_its_term_has_the_focus(browser):
    with Visit(browser, "book/index.html") as visit:
        term = visit.page.locator(".vw-term").first
        hint = term.locator(".vw-hint")
        assert not hint.is_visible()
        term.locator("a").focus()
        assert hint.is_visible()


def test_formulas_are_set_without_a_network(browser):
    with Visit(browser, "book/notation.html") as visit:
        assert visit.page.locator("mjx-container").count() > 3

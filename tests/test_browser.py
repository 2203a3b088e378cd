"""The built site in a browser with the network off: quiet, accessible, legible, no wider than the screen, with keys."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatch
from typing import Any

import lanes
import pytest
from until import until

from voicewire_book import paths
from voicewire_book.publish import access, legible
from voicewire_book.publish.paper import chromium

ROOT = paths.root()
SITE = ROOT / "_build" / "html"
CHROMIUM = chromium.find()

PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html")) if SITE.is_dir() else []
PAGES = [page for page in PAGES if page != "index.html" and not page.startswith("_static/")]  # index.html redirects


def _standing(pages: list[str]) -> list[str]:
    """Of pages that are all made alike, the first and the longest stand for all."""
    return sorted({*pages[:1], *sorted(pages, key=lambda page: (SITE / page).stat().st_size)[-1:]})


ALIKE = [[page for page in PAGES if fnmatch(page, kind)] for kind in ("_modules/*", "book/api/*", "book/*/api.html")]
"""Made by one function from docstrings and sources, and long: every night all of them are looked at."""
PAGES = [page for page in PAGES if not any(page in pages for pages in ALIKE)]
PAGES += [page for pages in ALIKE for page in _standing(pages)]

CHAPTERS = [page for page in PAGES if page.startswith("notebooks/")]
OTHERS = [page for page in PAGES if page not in CHAPTERS]  # test_browser_book.py looks at them, on the other core

NARROW = ["scrollable-region-focusable", "target-size", "region", "button-name", "link-name", "aria-hidden-focus"]
"""What can go wrong on a telephone only: what scrolls there, what is small, what is hidden or shown by width."""

REACHED = """() => [...document.querySelectorAll("pre")].every(
  one => one.scrollWidth <= one.clientWidth || one.tabIndex === 0)"""
"""The theme has looked which boxes of code scroll now; a loaded machine takes longer over it."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs("pages", "chromium", "playwright", "axe"),
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
    return access.axe()


def looked_at(visit: Visit, axe: str) -> None:
    """Hold an open page to what every page is held to."""
    from playwright.sync_api import TimeoutError as Late

    page = visit.page
    assert visit.asked == []
    assert visit.said == []
    page.evaluate(axe)
    page.add_style_tag(content=access.STILL)
    found = []
    # only colours change with the mode, and the width moves and folds things, but colours none
    for width, mode, rules in ((1280, "light", None), (1280, "dark", ["color-contrast"]), (360, "light", NARROW)):
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate("mode => { document.documentElement.dataset.theme = mode }", mode)
        page.wait_for_timeout(access.SETTLED)
        with suppress(Late):  # where it never comes, axe says so
            until(page, REACHED, timeout=20_000)
        found += [f"{mode}, {width} px: {said}" for said in access.violations(page, rules)]
    assert found == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    copying = page.locator("button.copybtn").evaluate_all("all => all.map(one => one.ariaLabel)")
    assert None not in copying and len(set(copying)) == len(copying)
    until(page, "[...document.images].every(image => image.complete)")  # narrow ones are fetched by now
    # on a wide screen it is one of the bars that `voicewire_book.publish.bars` measures
    assert [one for one in legible.figures_of(page, visit.name) if not (one.legible and one.sharp)] == []


class Visit:
    """One page of the site, opened as a file without any network, and what it said and asked for."""

    def __init__(self, browser: Any, name: str) -> None:
        self.name, self.page = name, browser.new_page()
        self.asked: list[str] = []
        self.said: list[str] = []
        self.page.on("request", self._asked)
        self.page.on("console", lambda m: self.said.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("requestfailed", lambda request: self.said.append(f"failed: {request.url[:100]}"))
        self.page.goto((SITE / name).as_uri(), wait_until="load")
        if self.page.locator(".math").count():
            until(self.page, "Boolean(window.MathJax?.startup?.promise)")
            self.page.evaluate("MathJax.startup.promise")

    def _asked(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.asked.append(request.url)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self.page.close()


@pytest.mark.parametrize("name", lanes.sampled(CHAPTERS, 1))
def test_a_page_is_quiet_offline_accessible_and_no_wider_than_a_telephone(browser, axe, name):
    with Visit(browser, name) as visit:
        looked_at(visit, axe)


def test_the_scorecard_is_an_instrument(browser):
    """Chosen, searched, put in order, addressed, tried with another tolerance, printed."""
    with Visit(browser, "book/scorecard.html") as visit:
        page = visit.page
        every = page.locator(".vw-row").count()
        said = page.locator(".vw-filters output")
        assert said.inner_text() == f"{every} claims"
        assert page.locator(".vw-row:visible").count() == 0  # studies are folded
        for part in (".vw-overview >> nth=0", ".vw-filters"):
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
        until(page, "!location.search")
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
        assert "This is the ledger's own" in box.locator("output").inner_text()
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


def test_figures_are_measured(browser):
    """What `looked_at` asks of the figures of each page isn't asked of none."""
    found = list(legible.shown(browser, SITE, CHAPTERS[:3]))
    assert len(found) > 10
    assert all(one.legible and one.sharp for one in found)


def test_a_figure_is_enlarged_by_keyboard_and_by_a_click(browser, axe):
    name = next(name for name in PAGES if "<picture " in (SITE / name).read_text(encoding="utf-8"))
    with Visit(browser, name) as visit:
        page = visit.page
        dialog, button = page.locator("dialog.vw-large"), page.locator(".vw-figure:has(picture) .vw-enlarge").first
        for key in ("Enter", "Space"):
            button.focus()
            page.keyboard.press(key)
            copy = dialog.locator(".vw-large-pane img")
            until(page, "document.querySelector('.vw-large-pane img')?.getBoundingClientRect().width > 200")
            before = copy.bounding_box()["width"]
            page.keyboard.press("+")
            assert copy.bounding_box()["width"] > 1.3 * before
            page.keyboard.press("0")
            for _ in range(8):  # the focus stays inside
                page.keyboard.press("Tab")
                assert page.evaluate("!document.hasFocus() || document.activeElement === document.body || "
                                     "!!document.activeElement.closest('dialog.vw-large')")  # fmt: skip
            page.keyboard.press("Escape")
            assert not dialog.is_visible()
            assert button.evaluate("one => one === document.activeElement")
        page.locator(".vw-figure picture img").first.click()
        assert dialog.is_visible()
        page.evaluate(axe)
        result = page.evaluate("axe.run('dialog.vw-large', {resultTypes: ['violations'], preload: false})")
        assert [v["id"] for v in result["violations"]] == []
        dialog.get_by_text("Close").click()
        assert not dialog.is_visible()
        page.emulate_media(media="print")
        assert not button.is_visible()


def test_only_pages_with_figures_load_the_script_that_enlarges_them():
    for name in PAGES:
        text = (SITE / name).read_text(encoding="utf-8")
        article = text.partition("<article")[2].partition("</article>")[0]
        assert ("figures.js" in text) == ("<img " in article or 'class="vw-drawing"' in article), name

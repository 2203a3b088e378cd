"""Trying a claim in the built pages: on a chapter's card as on the scorecard, marked as the reader's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from voicewire_book import paths
from voicewire_book.publish.paper import chromium

SITE = paths.root() / "_build" / "html"
CHROMIUM = chromium.find()
TRIED = '.vw-card .vw-try[data-numbers*="relative"]'
MARK = re.compile("class=\"vw-try\" data-numbers=[^>]*relative")
PAGE = next(
    (path for path in sorted(SITE.glob("notebooks/*/*.html")) if MARK.search(path.read_text(encoding="utf-8"))), None
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs("pages", "chromium", "playwright"),
]


@pytest.fixture(params=[("light", 1280), ("dark", 360)], ids=["light", "dark on a telephone"])
def page(request: Any) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    scheme, width = request.param
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800}).new_page()
        said: list[str] = []
        page.on("pageerror", lambda error: said.append(str(error)))
        assert PAGE is not None
        page.goto(PAGE.as_uri(), wait_until="load")
        yield page
        assert not said
        browser.close()


def test_a_card_is_tried_with_the_keyboard_alone_and_says_whose_it_is(page: Any) -> None:
    assert not page.evaluate("[...document.scripts].some(script => script.src.includes('whatif'))")
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = !fold.matches('.vw-try') })")
    fold = page.locator(TRIED).first
    fold.locator("summary").focus()
    page.keyboard.press("Enter")
    said = fold.locator("output")
    said.wait_for()
    assert "This is the ledger's own" in said.inner_text()
    page.keyboard.press("Tab")
    if fold.locator("select").count():
        page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("1e9")
    pairs = fold.evaluate("fold => JSON.parse(fold.dataset.numbers).readings[0][3].length")
    assert said.inner_text().startswith(f"{pairs} of {pairs} ")
    assert said.inner_text().endswith("This is yours, not the ledger's.")
    assert fold.locator("legend").inner_text() == "What if: yours"
    page.keyboard.press("Control+a")
    page.keyboard.type("-1")
    assert said.inner_text() == "A tolerance is not below zero."
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


def test_a_reading_brings_its_own_tolerance(page: Any) -> None:
    page.goto((SITE / "book" / "scorecard.html").as_uri(), wait_until="load")
    rows = page.evaluate(
        """() => [...document.querySelectorAll('[data-numbers]')].flatMap(row => {
          const readings = JSON.parse(row.dataset.numbers).readings;
          const sizes = new Set(readings.filter(one => one[1]).map(one => one[1] + one[2]));
          return sizes.size > 1 ? [row.id] : [];
        })"""
    )
    assert len(rows) > 5
    page.evaluate("document.querySelectorAll('details:not(.vw-row)').forEach(fold => { fold.open = true })")
    row = page.locator(f'[id="{rows[0]}"]')
    row.locator("summary").first.click()
    row.locator("select").wait_for()
    readings = row.evaluate("row => JSON.parse(row.dataset.numbers).readings")
    for place, (_, kind, size, _, verdict) in enumerate(readings):
        row.locator("select").select_option(str(place))
        shown = [float(one.input_value()) for one in row.locator("input").all()]
        assert shown == ([] if kind is None else size if isinstance(size, list) else [size])
        assert row.locator("output").inner_text().endswith(f"own under this reading: {verdict}.")

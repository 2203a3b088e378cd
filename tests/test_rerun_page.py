"""The code that judged a claim, run from its card in a browser with another parameter: beside the published verdict."""

from __future__ import annotations

import functools
import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from until import until

from voicewire_book import paths
from voicewire_book.publish.paper import chromium

SITE = paths.root() / "_build" / "html"
CHROMIUM = chromium.find()
CHAPTER = "pharyngeal/04_reproduction"
LIVE = SITE / "live" / "chapters" / f"{CHAPTER}.json"
WAIT = 240_000  # milliseconds, on a busy machine

pytestmark = [
    pytest.mark.night,
    pytest.mark.slow,
    pytest.mark.needs("live", "chromium", "playwright"),
]


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as play:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 360, "height": 800}).new_page()
        said: list[str] = []
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"http://127.0.0.1:{server.server_port}/notebooks/{CHAPTER}.html", wait_until="load")
        yield page
        browser.close()
        server.shutdown()
        thread.join()
        assert not said


def _cards(page: Any, runs: bool) -> Any:
    """Return the first card whose cell can run in the browser, or can't."""
    cells = json.loads(LIVE.read_text(encoding="utf-8"))["cells"]
    numbers = [cell["number"] - 1 for cell in cells if cell["runs"] is runs]
    place = page.evaluate(
        """numbers => [...document.querySelectorAll('div.cell')]
          .findIndex((cell, n) => numbers.includes(n) && cell.querySelector('.vw-card'))""",
        numbers,
    )
    assert place >= 0
    return page.locator("div.cell").nth(place), cells[place]


def test_the_code_that_judged_is_changed_and_run_from_its_card(page: Any) -> None:
    cell, told = _cards(page, runs=True)
    card = cell.locator(".vw-card").first
    verdict = card.locator(".vw-verdict").first.inner_text()
    card.locator(".vw-try > summary").click()
    button = card.get_by_role("button", name="Run the code that judged it")
    button.click()  # starts Python too
    yours = card.locator(".vw-judged")
    yours.wait_for(timeout=WAIT)
    first = yours.inner_text()
    assert verdict in first, "the book's own code comes to the book's own verdict"
    assert "With the book's own code. What was published stays beside it." in first
    said = card.locator(".vw-rerun [role=status]")
    said.get_by_text("Judged anew.").wait_for(timeout=WAIT)

    number = told["number"]
    said.get_by_role("button", name=f"Change code cell {number}", exact=True).click()
    editor = cell.locator(".cm-content")
    editor.wait_for()
    spoilt = "import voicewire_book.ledger.rules as rules\nrules.band = lambda *a: (1e300, 1e301)\n" + told["source"]
    editor.press("Control+a")
    page.keyboard.insert_text(spoilt)
    button.click()
    until(
        page,
        "([box, first]) => box.textContent !== first && /With your text/.test(box.textContent)",
        arg=[yours.element_handle(), first],
        timeout=WAIT,
    )
    assert f"With your text of code cell {number}." in yours.inner_text()
    assert card.locator(".vw-verdict").first.inner_text() == verdict, "the published verdict stays"
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    page.evaluate("localStorage.clear()")


def test_a_card_whose_code_cannot_run_says_why(page: Any) -> None:
    cell, told = _cards(page, runs=False)
    card = cell.locator(".vw-card").first
    card.locator(".vw-try > summary").click()
    card.get_by_role("button", name="Run the code that judged it").click()
    said = card.locator(".vw-rerun [role=status]")
    said.get_by_text("can't run in the browser").wait_for(timeout=WAIT)
    assert told["why"] in said.inner_text()


def test_a_page_opened_as_a_file_promises_no_run(page: Any) -> None:
    file = page.context.new_page()
    file.goto((SITE / "notebooks" / f"{CHAPTER}.html").as_uri(), wait_until="load")
    file.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    line = file.locator(".vw-rerun").first
    line.wait_for()
    assert "Where the book is served" in line.inner_text() and line.locator("button").count() == 0
    file.close()

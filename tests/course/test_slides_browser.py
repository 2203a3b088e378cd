"""Slides in a real browser: each fits its screen, nothing is asked of any other place, keys turn the pages."""

from __future__ import annotations

import pytest

from voicewire_book import paths
from voicewire_book.course import printing, slides
from voicewire_book.course.markup import Markup, labels

pytestmark = [
    pytest.mark.night,
    pytest.mark.slow,
    pytest.mark.needs("chromium", "playwright"),
]
SMALLEST = 18
"""Pixels of the type on a slide of 720."""
MEASURE = """() => Array.from(document.querySelectorAll('.slide')).map(slide => {
  slide.style.display = 'block';
  const inside = slide.querySelector('.body');
  const over = inside.scrollHeight - inside.clientHeight > 2 || inside.scrollWidth - inside.clientWidth > 2;
  slide.style.display = '';
  return [Number(slide.id), Number(slide.dataset.size), over];
})"""


@pytest.fixture(scope="module")
def page():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=printing.browser(), args=["--no-sandbox"])
        opened = started.new_page(viewport={"width": 1280, "height": 720})
        yield opened
        started.close()


@pytest.mark.parametrize("chapter", paths.chapters(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_slide_fits_its_screen_and_formulas_are_set(page, chapter, tmp_path):
    deck = tmp_path / "deck.html"
    made = slides.write_deck(chapter, deck, Markup(paths.root(), chapter.parent, labels(paths.root())))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(deck.as_uri())
    page.wait_for_selector("body[data-ready]", state="attached", timeout=120_000)
    found = page.evaluate(MEASURE)
    assert len(found) == len(made)
    assert [slide for slide in found if slide[1] < SMALLEST or slide[2]] == []
    assert page.evaluate("document.querySelectorAll('mjx-merror, [data-mjx-error]').length") == 0
    assert [url for url in asked if not url.startswith(("data:", deck.as_uri()))] == []


def test_keys_turn_the_pages_and_show_the_notes(page, tmp_path):
    chapter = paths.chapters("nfc")[0]
    deck = tmp_path / "deck.html"
    made = slides.write_deck(chapter, deck, Markup(paths.root(), chapter.parent, labels(paths.root())))
    page.goto(deck.as_uri())
    page.wait_for_selector("body[data-ready]", state="attached", timeout=120_000)
    now = "document.querySelector('.slide.now').id"
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    assert page.evaluate(now) == "3"
    page.keyboard.press("End")
    assert page.evaluate(now) == str(len(made))
    page.keyboard.press("Home")
    number = next(n for n, slide in enumerate(made, start=1) if slide.notes)
    page.evaluate(f"location.hash = '#{number}'")
    page.wait_for_function(f"{now} === '{number}'")
    notes = page.locator(".slide.now .notes")
    assert not notes.is_visible()
    page.keyboard.press("n")
    assert notes.is_visible()

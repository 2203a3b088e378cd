"""Pages as some set their browser: enlarged fourfold, in forced colours, without motion, without JavaScript."""

from __future__ import annotations

import pytest

from voicewire_book import paths
from voicewire_book.publish import access

SITE = paths.root() / "_build" / "html"
PAGES = ["book/index.html", "notebooks/echo/02_rls_by_shifts.html", "book/scorecard.html", "book/how-to-use.html"]

pytestmark = [
    pytest.mark.night,
    pytest.mark.slow,
    pytest.mark.needs("pages", "chromium", "playwright", "axe"),
]


@pytest.mark.parametrize("width", [640, 320])  # 1280 pixels, enlarged to 200 and 400 %
def test_an_enlarged_page_does_not_scroll_sideways(width):
    with access.browsing(viewport={"width": width, "height": 256}) as context:
        for name in PAGES:
            page = context.new_page()
            page.goto((SITE / name).as_uri(), wait_until="load")
            page.wait_for_timeout(access.SETTLED)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_nothing_moves_for_those_who_want_no_motion_and_forced_colours_break_no_rule():
    with access.browsing(forced_colors="active", reduced_motion="reduce") as context:
        for name in PAGES:
            page = context.new_page()
            page.goto((SITE / name).as_uri(), wait_until="load")
            page.wait_for_timeout(access.SETTLED)
            assert page.evaluate("document.getAnimations().filter(one => one.playState === 'running').length") == 0
            page.evaluate(access.axe())
            assert access.violations(page) == [], name


def test_without_javascript_no_button_and_no_knob_that_does_nothing_is_shown():
    with access.browsing(java_script_enabled=False) as context:
        for name in PAGES:
            page = context.new_page()
            page.goto((SITE / name).as_uri(), wait_until="load")
            assert page.locator("article.bd-article h1").first.is_visible()
            for dead in page.locator("button, input, select").all():
                assert not dead.is_visible(), (name, dead.get_attribute("class"))

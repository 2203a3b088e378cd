"""The player for sounds to compare, the search and what a visit keeps, in a browser with the network off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from until import until

from voicewire_book import paths
from voicewire_book.kit import audio
from voicewire_book.publish import access
from voicewire_book.publish.pages import kept

ROOT = paths.root()
SITE = ROOT / "_build" / "html"
STATIC = ROOT / "book" / "_static"
PAGES = access.pages(SITE) if SITE.is_dir() else []
WITH_PLAYER = [name for name in PAGES if '<div class="vw-compare"' in (SITE / name).read_text(encoding="utf-8")]

pytestmark = [
    pytest.mark.night,
    pytest.mark.slow,
    pytest.mark.needs("chromium", "playwright", "axe"),
]
built = pytest.mark.needs("pages")

RATE = 8000
T = np.arange(2 * RATE) / RATE
SOUNDS = {"loud": 0.8 * np.sin(2 * np.pi * 500 * T), "soft": 0.1 * np.sin(2 * np.pi * 3000 * T)}

GAINS = "document.querySelector('.vw-compare').vwPlayer.mixers.map(mixer => mixer.gain.value)"
TO_THE_END = "one => { one.value = 1.9; one.dispatchEvent(new Event('input')) }"
UNFOLD = "one => { for (let e = one; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true }"
PLACE = "document.querySelector('.vw-compare').vwPlayer.position()"


@pytest.fixture(scope="module")
def context() -> Iterator[Any]:
    with access.browsing() as made:
        yield made


@pytest.fixture
def page(context: Any, tmp_path: Any) -> Iterator[Any]:
    """A page of its own with one player, opened as a file."""
    opened = _open(context, tmp_path, audio.compare(SOUNDS, RATE, "two tones")._repr_html_())
    opened.locator(".vw-compare[data-ready=yes]").wait_for()
    yield opened
    opened.close()


def _open(context: Any, folder: Any, html: str) -> Any:
    script, style = (STATIC / name for name in ("player.js", "book.css"))
    (folder / "a.html").write_text(
        f'<!doctype html><html lang="en" data-theme="light"><title>a</title>'
        f'<link rel="stylesheet" href="{style.as_uri()}">'
        f'<script src="{script.as_uri()}" defer></script><main><h1>Sounds</h1>{html}</main></html>',
        encoding="utf-8",
    )
    opened = context.new_page()
    opened.goto((folder / "a.html").as_uri())
    return opened


def test_the_switch_keeps_the_instant_and_the_keys_move_the_playhead(page):
    place = page.get_by_role("slider", name="Position")
    place.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert place.get_attribute("aria-valuetext") == "0.5 of 2.0 seconds"
    page.get_by_role("button", name="Play").press("Enter")
    until(page, f"{PLACE} > 0.6")
    before = page.evaluate(PLACE)
    page.get_by_role("radio", name="soft").press(" ")
    assert page.evaluate(PLACE) >= before  # it went on from there
    until(page, f"{GAINS}[0] < 0.01 && {GAINS}[1] > 0.99")
    page.get_by_role("button", name="Pause").press("Enter")
    stood = page.evaluate(PLACE)
    page.wait_for_timeout(100)
    assert page.evaluate(PLACE) == stood
    place.focus()
    page.keyboard.press("Home")
    assert page.evaluate(PLACE) == 0
    page.keyboard.press("End")
    assert page.evaluate(PLACE) == 2


def test_a_click_in_the_spectrogram_seeks_and_it_shows_what_is_heard(page):
    box = page.locator(".vw-spectrum").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 4, box["y"] + 10)
    assert abs(page.evaluate(PLACE) - 0.5) < 0.05

    def row() -> int:
        """The darkest row of the picture, from the bottom, as a share of its height."""
        return page.evaluate("""() => {
          const c = document.querySelector(".vw-spectrum canvas");
          const d = c.getContext("2d").getImageData(300, 0, 1, c.height).data;
          let best = 0; for (let k = 0; k < c.height; k += 1) if (d[4 * k + 3] > d[4 * best + 3]) best = k;
          return 1 - best / c.height; }""")

    assert abs(row() - 500 / 4000) < 0.03
    page.get_by_role("radio", name="soft").check()
    assert abs(row() - 3000 / 4000) < 0.03


def test_loudness_can_be_as_it_came_and_is_said(page):
    assert "equally loud: \N{MINUS SIGN}23.0 LUFS" in page.locator(".vw-compare-note").inner_text()
    gains = page.locator("li[data-gain]").evaluate_all("all => all.map(one => Number(one.dataset.gain))")
    page.get_by_role("button", name="Play").click()
    assert page.evaluate(GAINS) == [1, 0]
    page.get_by_role("checkbox", name="Equally loud").uncheck()
    assert "as loud as it came" in page.locator(".vw-compare-note").inner_text()
    wanted = 10 ** (-gains[0] / 20)
    until(page, f"Math.abs({GAINS}[0] / {wanted} - 1) < 0.02")
    page.get_by_role("button", name="Pause").click()


def test_a_loop_goes_on_and_without_it_the_end_is_the_beginning(page):
    page.get_by_role("slider", name="Position").evaluate(TO_THE_END)
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Play").wait_for(timeout=5000)  # it ended
    assert page.evaluate(PLACE) == 0
    page.get_by_role("checkbox", name="Loop").check()
    page.get_by_role("slider", name="Position").evaluate(TO_THE_END)
    page.get_by_role("button", name="Play").click()
    until(page, f"{PLACE} > 0.05 && {PLACE} < 1.8")
    assert page.get_by_role("button", name="Pause").count() == 1


def test_one_player_is_heard_at_a_time(context, tmp_path):
    html = audio.compare(SOUNDS, RATE, "one")._repr_html_() + audio.compare(SOUNDS, RATE, "two")._repr_html_()
    page = _open(context, tmp_path, html)
    page.locator(".vw-compare[data-ready=yes]").nth(1).wait_for()
    page.get_by_role("button", name="Play").first.click()
    page.get_by_role("button", name="Play").click()  # the other one's: the first says Pause
    names = page.locator(".vw-play").all_inner_texts()
    assert names == ["Play", "Pause"]
    page.close()


def test_names_and_roles_are_complete(page):
    assert page.get_by_role("group", name="To compare: two tones").count() == 1
    assert page.get_by_role("group", name="Listen to").get_by_role("radio").count() == 2
    page.evaluate(access.axe())
    assert access.violations(page) == []


def test_what_cannot_be_decoded_stays_a_list(context, tmp_path):
    html = re.sub("base64,[^\"]+", "base64,AAAA", audio.compare(SOUNDS, RATE, "x")._repr_html_())
    page = _open(context, tmp_path, html)
    page.locator(".vw-compare[data-ready=plain]").wait_for()
    assert page.locator("audio:visible").count() == 2
    page.close()


@built
def test_without_javascript_there_is_a_list_of_players(context):
    plain = context.browser.new_context(java_script_enabled=False, offline=True)
    page = plain.new_page()
    page.goto((SITE / WITH_PLAYER[0]).as_uri())
    shown = page.locator(".vw-compare").first.locator("audio")
    assert shown.count() >= 2
    for one in shown.all():
        assert one.is_visible() and one.get_attribute("aria-label")
    plain.close()


@built
def test_the_script_is_loaded_where_it_is_needed_only():
    for name in PAGES:
        text = (SITE / name).read_text(encoding="utf-8")
        assert ("_static/player.js" in text) is (name in WITH_PLAYER), name
    assert len(WITH_PLAYER) > 5


@built
@pytest.mark.parametrize("name", WITH_PLAYER)
def test_every_player_of_the_book_becomes_one(context, name):
    page = context.new_page()
    page.goto((SITE / name).as_uri())
    for one in page.locator(".vw-compare").all():
        one.evaluate(UNFOLD)
        one.scroll_into_view_if_needed()
        one.locator(".vw-play").wait_for()
        assert one.get_attribute("data-ready") == "yes"
        page.set_viewport_size({"width": 360, "height": 800})
        box = one.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 360
        page.set_viewport_size({"width": 1280, "height": 800})
    page.close()


@built
def test_searching_works_from_a_file_and_shows_no_hints(context):
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{(SITE / 'search.html').as_uri()}?q=talkspurt")
    page.locator("#search-results li p.context").first.wait_for()
    until(page, "!document.querySelector('#search-results h2').textContent.startsWith('Searching')")
    results = page.locator("#search-results ul.search > li")
    excerpts = page.locator("#search-results li p.context").all_inner_texts()
    assert len(excerpts) == results.count() >= 2
    assert sum("talkspurt" in said.lower() for said in excerpts) > len(excerpts) / 2
    assert not [url for url in asked if "/notebooks/" in url]  # no page was fetched for its excerpt
    links = results.locator("a").evaluate_all("all => all.map(one => one.href)")
    for link in links[:3]:
        assert (SITE / link.partition("_build/html/")[2].partition("?")[0].partition("#")[0]).is_file(), link
    page.close()


@built
def test_each_arrow_of_the_sidebar_names_its_part(context):
    page = context.new_page()
    page.goto((SITE / "book/index.html").as_uri())
    names = page.locator("#pst-primary-sidebar summary").evaluate_all(
        "all => all.map(one => [one.getAttribute('aria-label'), one.closest('li').querySelector('a').textContent])"
    )
    assert len(names) >= 8
    assert [name for name, part in names if name != f"Chapters of {part}"] == []
    page.close()


MOVING = """[...document.querySelectorAll("*")].filter(one => {
  const style = getComputedStyle(one);
  return style.animationName !== "none" || style.transitionDuration.split(",").some(time => parseFloat(time) > 0);
}).length"""


@built
def test_nothing_moves_for_who_asked_for_less_motion(context):
    for motion, moving in (("reduce", False), ("no-preference", True)):
        calm = context.browser.new_context(reduced_motion=motion, offline=True)
        page = calm.new_page()
        page.goto((SITE / WITH_PLAYER[0]).as_uri())
        assert (page.evaluate(MOVING) > 0) is moving
        calm.close()


@built
@pytest.mark.parametrize("name", ["book/index.html", "book/scorecard.html", *WITH_PLAYER[:1]])
def test_a_page_reflows_at_four_times_its_size(context, name):
    """1280 px at 400 % are 320 (WCAG 1.4.10); 200 % are 640."""
    page = context.new_page()
    for width, height in ((640, 400), (320, 256)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto((SITE / name).as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


@built
def test_chosen_colours_leave_the_player_to_be_seen(context):
    forced = context.browser.new_context(forced_colors="active", offline=True, viewport={"width": 1280, "height": 800})
    page = forced.new_page()
    page.goto((SITE / WITH_PLAYER[0]).as_uri())
    one = page.locator(".vw-compare").first
    one.evaluate(UNFOLD)
    one.scroll_into_view_if_needed()
    one.locator(".vw-play").wait_for()
    ground, ink = one.locator(".vw-spectrum").evaluate(
        "box => [getComputedStyle(box).backgroundColor, getComputedStyle(box.querySelector('canvas')).filter]"
    )
    assert (ground, ink) == ("rgb(255, 255, 255)", "none")
    forced.close()


STORED = re.compile(r"(?:local|session)Storage\.setItem\(\s*([^,]+),")


@built
def test_every_name_under_which_a_script_keeps_something_is_listed():
    """A new one belongs into `voicewire_book.publish.pages.kept`, where readers are told of it."""
    known = {*kept.KEPT, *kept.UNUSED}
    found = set()
    for script in (SITE / "_static").rglob("*.js"):
        for argument in STORED.findall(script.read_text(encoding="utf-8")):
            name = argument.strip().strip("\"'`")
            found.add(name)
            assert any(one in name for one in known), f"{script.name}: {argument}"
    assert {"theme", "mode"} <= found


@built
def test_a_visit_asks_no_other_place_and_keeps_only_what_is_listed(context):
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((SITE / WITH_PLAYER[0]).as_uri())
    page.locator("button.theme-switch-button:visible").first.click()
    page.locator("input[type=range]").first.focus()
    page.keyboard.press("ArrowRight")
    player = page.locator(".vw-compare").first
    player.scroll_into_view_if_needed()
    player.locator(".vw-play").click()
    page.goto(f"{(SITE / 'search.html').as_uri()}?q=echo")
    page.locator("#search-results li a").first.click()
    page.wait_for_load_state("load")
    names = page.evaluate("[...Object.keys(localStorage), ...Object.keys(sessionStorage)]")
    assert "mode" in names and set(names) <= set(kept.KEPT)
    assert page.evaluate("document.cookie") == "" and context.cookies() == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    page.close()

"""Running the code of a page in the page: served over loopback, in a browser, with what others could send watched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_pages import SITE, WAIT, Opened, chromium, served
from until import until

from voicewire_book import paths
from voicewire_book.publish import access

ROOT = paths.root()
NAME = "nfc/01_slow_link"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs("live", "chromium", "playwright"),
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served() as server:
        yield server.address


@pytest.fixture(scope="module")
def context() -> Iterator[Any]:
    with chromium() as browser:
        yield browser.new_context(viewport={"width": 1280, "height": 800})


@pytest.fixture(scope="module")
def opened(context: Any, address: str) -> Iterator[Opened]:
    opened = Opened(context, address, NAME)
    opened.page.locator(".vw-live > button").wait_for()
    assert not [url for url in opened.asked if "/live" in url], "before the click nothing of it is loaded"
    opened.start()
    yield opened
    assert not opened.elsewhere
    assert not opened.said
    opened.page.close()


@pytest.mark.needs("axe")
def test_a_page_that_runs_has_its_style_and_is_accessible(opened: Opened) -> None:
    page, number = opened.page, next(cell["number"] for cell in opened.cells if cell["runs"])
    opened.write(number, "import matplotlib.pyplot as plt\n_ = plt.plot([1, 2])\nmissing")
    assert opened.run(number) == "failed"
    page.evaluate(access.axe())
    page.add_style_tag(content=access.STILL)
    found = []
    for width, mode in ((1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")):
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate("mode => { document.documentElement.dataset.theme = mode }", mode)
        page.evaluate("window.scrollTo(0, 0)")  # further down the theme's button to the top lies over the page
        page.wait_for_timeout(access.SETTLED)
        found += [f"{mode}, {width} px: {said}" for said in access.violations(page, None)]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.set_viewport_size({"width": 1280, "height": 800})
    assert found == []
    style = "made => { const { display, borderRadius } = getComputedStyle(made); return [display, borderRadius]; }"
    assert opened.cell(number).locator(".vw-tools").evaluate(style)[0] == "flex"
    assert opened.cell(number).locator(".vw-tools button").first.evaluate(style)[1] != "0px"
    assert opened.own(number).evaluate("made => getComputedStyle(made, '::before').content") == '"Yours"'
    opened.reset(number)


def test_what_runs_can_be_stopped(opened: Opened) -> None:
    opened.write(1, "while True: pass")
    opened.cell(1).locator(".vw-tools button").first.click()
    until(opened.page, "document.querySelector('[data-vw-state=running]')", timeout=WAIT)
    opened.page.get_by_role("button", name="Stop").click()
    until(opened.page, "/ready/.test(document.querySelector('.vw-status').textContent)", timeout=WAIT)
    assert opened.cell(1).get_attribute("data-vw-state") == "fresh"
    opened.cell(1).locator(".vw-tools button", has_text="Reset").click()


def test_html_of_a_cell_runs_nothing(opened: Opened) -> None:
    """A text that somebody else wrote, imported and run here, reads nothing that this browser keeps."""
    opened.write(
        1,
        "from IPython.display import HTML, display\n"
        'display(HTML(\'<b onclick="x()">bold</b><script>window.caught=1</script>'
        '<img src=x onerror="window.caught=2"><a href="javascript:window.caught=3">go</a>'
        '<iframe srcdoc="<script>parent.caught=4</script>"></iframe><style>body{display:none}</style>\'))',
    )
    assert opened.run(1) == "ran", opened.cell(1).inner_text()
    html = opened.cell(1).locator(".vw-yours").inner_html()
    assert "bold" in html
    assert not any(word in html for word in ("script", "onerror", "onclick", "iframe", "<style"))
    assert opened.page.evaluate("window.caught") is None
    opened.cell(1).locator(".vw-tools button", has_text="Reset").click()


def test_a_slider_is_drawn_here_between_the_published_positions(opened: Opened) -> None:
    number = next(cell["number"] for cell in opened.cells if re.search(r"^frames\(", cell["source"], re.MULTILINE))
    cell = opened.cell(number)
    assert opened.run(number) == "ran", cell.inner_text()
    yours, published = cell.locator(".vw-computed"), cell.locator(".vw-published .vw-slider")
    knob, image = yours.locator("input").first, yours.locator("img")
    values = published.evaluate("root => root.querySelector('input').max")
    before, words = image.get_attribute("src"), image.get_attribute("alt")
    texts = []
    for _ in range(3):  # a step of the keyboard is less than one published position
        knob.press("ArrowLeft")
        still = "root => !root.hasAttribute('aria-busy')"
        until(opened.page, still, arg=yours.element_handle(), timeout=WAIT)
        texts.append(knob.get_attribute("aria-valuetext"))
    assert len(set(texts)) == 3 and float(values) - float(knob.input_value()) < 1
    assert image.get_attribute("src") != before and image.get_attribute("alt") != words
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") > 300
    assert yours.locator("[aria-live]").inner_text() == f"Drawn here. {image.get_attribute('alt')}"
    cell.get_by_role("button", name=f"Reset code cell {number}").click()
    assert yours.count() == 0 and cell.locator(".vw-slider").is_visible()


def test_a_cell_that_cannot_run_says_why_and_has_its_launch_link(opened: Opened) -> None:
    said = opened.page.evaluate(
        """async () => {
          const { Cell } = await import('/_static/live/cell.mjs');
          const place = document.createElement('div');
          place.innerHTML = '<div class="cell_input"><div class="highlight-python"></div></div>';
          const told = { id: 'a', number: 1, tags: [], source: 'x', runs: false, why: 'It opens real connections.' };
          new Cell(place, told, {});
          const line = place.querySelector('.vw-cannot');
          const buttons = place.querySelectorAll('button').length;
          return { text: line.textContent, link: line.querySelector('a').href, buttons };
        }"""
    )
    assert said["text"] == "Not in the browser: It opens real connections. Run the chapter on Binder"
    assert "mybinder.org" in said["link"] and "01_slow_link" in said["link"] and said["buttons"] == 0


def test_licences_are_a_click_away(opened: Opened) -> None:
    link = opened.page.locator(".vw-work a").evaluate("link => link.href")
    text = opened.page.evaluate("async (link) => (await fetch(link)).text()", link)
    assert "MPL-2.0" in text and all(name in text for name in ("numpy", "matplotlib", "scipy"))


def test_what_is_kept_can_be_taken_elsewhere(opened: Opened) -> None:
    tried = opened.page.evaluate(
        """async () => {
          const { Store } = await import('/_static/live/store.mjs');
          const kept = new Map();
          const storage = {
            get length() { return kept.size }, key: (n) => [...kept.keys()][n], getItem: (k) => kept.get(k) ?? null,
            setItem: (k, v) => void kept.set(k, v), removeItem: (k) => void kept.delete(k),
          };
          const store = new Store(storage);
          store.write('a/b', 'one', 'mine', 'published');
          store.done('a/b', 'check', '2026-01-02');
          const file = store.exported();
          const said = [];
          const damaged = '{"format":"voicewire-reader-1","chapters":{"a/b":{"text":{"one":5},"done":{}}}}';
          for (const bad of ['{', '[]', damaged])
            try { store.opened(bad); said.push('taken'); } catch (error) { said.push(error.message); }
          store.write('a/b', 'one', 'newer', 'published');
          const fresh = [store.fresh(store.opened(file)).length];
          const again = store.take(store.opened(file), store.fresh(store.opened(file)));
          const none = store.fresh(store.opened(file));
          store.write('a/b', 'one', 'published', 'published');
          const unseen = store.take(store.opened(file), none);
          const shown = store.fresh(store.opened(file));
          fresh.push(shown.length);
          const other = new Store(storage).take(store.opened(file), shown);
          const marked = store.read('a/b').text.one;
          store.write('a/b', 'one', 'edited', 'published');
          return { said, again, unseen, other, fresh, marked, edited: store.read('a/b').text.one.imported };
        }"""
    )
    assert "taken" not in tried["said"] and len(set(tried["said"])) == 3
    assert tried["again"] == {"taken": 0, "kept": 1}
    assert tried["unseen"] == {"taken": 0, "kept": 0}  # it was not shown: the reader had a text there then
    assert tried["other"] == {"taken": 1, "kept": 0}
    assert tried["fresh"] == [0, 1]
    assert tried["marked"]["source"] == "mine" and tried["marked"]["imported"] is True
    assert tried["edited"] is None


def test_the_engine_is_kept_from_one_part_to_the_next(context: Any, address: str) -> None:
    """Each part once threw the other's away: the edition was looked for beside the page, and is the site's."""
    names = "caches.open('voicewire-live-1').then(kept => kept.keys()).then(all => all.map(one => one.url))"
    mark = "caches.open('voicewire-live-1').then(kept => kept.put('/live/engine/mark', new Response('x')))"
    for name in (NAME, "emqtt/01_packets", NAME):
        opened = Opened(context, address, name)
        opened.click()
        kept = opened.page.evaluate(names)
        assert [url for url in kept if url.endswith("/edition")] == [f"{address}live/edition"]
        if name != NAME:
            assert f"{address}live/engine/mark" in kept
        opened.page.evaluate(mark)
        opened.page.close()


def test_a_page_opened_as_a_file_says_how_to_serve_it(context: Any) -> None:
    page = context.new_page()
    page.goto((SITE / f"notebooks/{NAME}.html").as_uri(), wait_until="load")
    assert page.locator(".vw-live > button").is_disabled()
    assert "python -m http.server --bind 127.0.0.1" in page.locator(".vw-live").inner_text()
    page.close()


def test_the_editor_is_one_bundle_with_its_licence() -> None:
    folder = Path(ROOT) / "book" / "_static" / "live"
    said = (folder / "codemirror.txt").read_text(encoding="utf-8")
    assert "MIT License" in said and "npx esbuild" in said
    assert (folder / "codemirror.js").stat().st_size < 500_000

"""Running the code of a page in the page: served over loopback, in a browser, with what others could send watched."""

from __future__ import annotations

import functools
import http.server
import itertools
import json
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from voicewire import paths

ROOT = paths.root()
SITE = ROOT / "_build" / "html"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PAGE = "notebooks/nfc/01_slow_link.html"
WAIT = 240_000  # milliseconds: a busy machine starts Python slowly, and a test that hangs ends

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (SITE / "live" / "live.json").is_file(), reason="no Python beside the pages: make book"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def context() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser.new_context(viewport={"width": 1280, "height": 800})
        browser.close()


class Opened:
    """A page of the served book, what it asked for and what it complained about."""

    def __init__(self, context: Any, address: str) -> None:
        self.page = context.new_page()
        self.asked: list[str] = []
        self.said: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.goto(address + PAGE, wait_until="load")

    def start(self) -> None:
        self.page.locator(".vw-live > button").click()
        ended = "/ready|could not/.test(document.querySelector('.vw-live').textContent)"
        self.page.wait_for_function(ended, timeout=WAIT)
        assert "Python is ready" in self.page.locator(".vw-live").inner_text()
        self.page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")

    def cell(self, number: int) -> Any:
        return self.page.locator("div.cell").nth(number - 1)

    def run(self, number: int) -> str:
        """Run a cell and return how it ended."""
        cell = self.cell(number)
        cell.get_by_role("button", name=f"Run code cell {number}", exact=True).click()
        handle = cell.element_handle()
        ended = "cell => ['ran', 'failed'].includes(cell.dataset.vwState) || /not run/.test(cell.textContent)"
        self.page.wait_for_function(ended, arg=handle, timeout=WAIT)
        return str(cell.get_attribute("data-vw-state"))

    def write(self, number: int, text: str) -> None:
        cell = self.cell(number)
        edit = cell.get_by_role("button", name=f"Edit code cell {number}")
        if edit.is_visible():
            edit.click()
        editor = cell.locator(".cm-content")
        editor.wait_for()
        editor.press("Control+a")
        self.page.keyboard.insert_text(text)


@pytest.fixture(scope="module")
def chapter() -> list[dict[str, Any]]:
    found = json.loads((SITE / "live" / "chapters" / "nfc" / "01_slow_link.json").read_text(encoding="utf-8"))
    return list(found["cells"])


@pytest.fixture(scope="module")
def opened(context: Any, address: str) -> Iterator[Opened]:
    opened = Opened(context, address)
    opened.page.locator(".vw-live > button").wait_for()
    assert not [url for url in opened.asked if "/live" in url], "before the click nothing of it is loaded"
    opened.start()
    yield opened
    elsewhere = [url for url in opened.asked if not url.startswith((address, "data:", "blob:"))]
    assert not elsewhere
    assert not opened.said
    opened.page.close()


def _exercise(chapter: list[dict[str, Any]]) -> tuple[int, int, str]:
    """Return the first exercise's answer cell, its check and the code of its solution."""
    for answer, check in itertools.pairwise(chapter):
        alone = re.fullmatch(r"answer_\w+ = None  # your answer", answer["source"])
        if "check" in check["tags"] and alone:
            stem = answer["id"].removesuffix("-answer")
            solution = next(cell for cell in chapter if cell["id"] == f"{stem}-solution")
            return answer["number"], check["number"], solution["source"]
    raise AssertionError("the chapter has no exercise")


def test_a_figure_is_changed_reset_and_found_again(opened: Opened, chapter: list[dict[str, Any]]) -> None:
    drawn = next(
        number
        for number, cell in enumerate(chapter, 1)
        if cell["runs"] and opened.cell(number).locator(".cell_output img").count() and opened.cell(number).is_visible()
    )
    before = opened.cell(drawn).locator(".cell_output img").first.get_attribute("src")
    assert opened.run(drawn) == "ran", opened.cell(drawn).inner_text()
    own = opened.cell(drawn).locator(".vw-yours img").first
    first = own.get_attribute("src")
    text = chapter[drawn - 1]["source"] + "\nimport matplotlib.pyplot as plt\nplt.figure(); plt.plot([1, 2]);"
    opened.write(drawn, text)
    assert opened.run(drawn) == "ran"
    assert opened.cell(drawn).locator(".vw-yours img").count() == 2
    assert opened.cell(drawn).locator(".vw-yours img").first.get_attribute("src")[:30] == str(first)[:30]
    published = opened.cell(drawn).locator(".cell_output:not(.vw-yours) img").first
    assert published.is_visible() and published.get_attribute("src") == before
    assert "As published" in opened.cell(drawn).inner_text()

    opened.page.reload()
    opened.start()
    editor = opened.cell(drawn).locator(".cm-content")
    editor.wait_for()
    assert "plt.plot([1, 2])" in editor.inner_text()
    opened.cell(drawn).get_by_role("button", name="Reset").click()
    assert opened.cell(drawn).locator(".cm-content").count() == 0
    assert opened.page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('voicewire:'))") == []


def test_a_wrong_and_a_right_answer(opened: Opened, chapter: list[dict[str, Any]]) -> None:
    answer, check, solution = _exercise(chapter)
    name = chapter[answer - 1]["source"].partition(" ")[0]
    opened.write(answer, f"{name} = -7.25")
    assert opened.run(answer) == "ran"
    opened.cell(check).locator(".vw-yours").wait_for()
    assert opened.cell(check).locator(".vw-yours").inner_text().split("\n")[-1].startswith("Not yet: ")
    solved = solution.replace(name.replace("answer", "solved"), name).rsplit("\ncheck_", 1)[0]
    opened.write(answer, solved)
    opened.run(answer)
    opened.page.wait_for_function(
        "cell => /Right: /.test(cell.querySelector('.vw-yours').textContent)",
        arg=opened.cell(check).element_handle(),
        timeout=WAIT,
    )
    assert "1 of" in opened.page.locator(".vw-work summary").inner_text()
    opened.page.evaluate("localStorage.clear()")


def test_what_runs_can_be_stopped(opened: Opened) -> None:
    opened.write(1, "while True: pass")
    opened.cell(1).locator(".vw-tools button").first.click()
    opened.page.wait_for_function("document.querySelector('[data-vw-state=running]')", timeout=WAIT)
    opened.page.get_by_role("button", name="Stop").click()
    opened.page.wait_for_function("/ready/.test(document.querySelector('.vw-status').textContent)", timeout=WAIT)
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
            try { store.take(bad); said.push('taken'); } catch (error) { said.push(error.message); }
          store.write('a/b', 'one', 'newer', 'published');
          const again = store.take(file);
          store.write('a/b', 'one', 'published', 'published');
          const other = new Store(storage).take(file);
          return { said, again, other, text: store.read('a/b').text.one.source };
        }"""
    )
    assert "taken" not in tried["said"] and len(set(tried["said"])) == 3
    assert tried["again"] == {"taken": 0, "kept": 1}
    assert tried["other"] == {"taken": 1, "kept": 0}
    assert tried["text"] == "mine"


def test_a_second_visit_works_without_a_network(opened: Opened, context: Any, address: str) -> None:
    opened.page.reload()  # under the worker that keeps what is fetched
    context.set_offline(True)
    try:
        opened.page.reload()
        opened.start()
        assert opened.run(1) == "ran"
    finally:
        context.set_offline(False)


def test_a_page_opened_as_a_file_says_how_to_serve_it(context: Any) -> None:
    page = context.new_page()
    page.goto((SITE / PAGE).as_uri(), wait_until="load")
    assert page.locator(".vw-live > button").is_disabled()
    assert "python -m http.server --bind 127.0.0.1" in page.locator(".vw-live").inner_text()
    page.close()


def test_the_editor_is_one_bundle_with_its_licence() -> None:
    folder = Path(ROOT) / "book" / "_static" / "live"
    said = (folder / "codemirror.txt").read_text(encoding="utf-8")
    assert "MIT License" in said and "npx esbuild" in said
    assert (folder / "codemirror.js").stat().st_size < 500_000

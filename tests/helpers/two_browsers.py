"""A page of the book in Chromium or Firefox, driven alike, and another origin that lists what it is asked for."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from live_pages import chromium
from marionette import firefox

START = """
const bar = document.querySelector('.vw-live');
bar.querySelector('button').click();
window.live = await bar.vwPage;
await live.ready.catch(() => {});
return bar.querySelector('.vw-status').textContent;
"""
"""Presses a page's button and tells how Python's start ended."""
RUN = """
const put = [];
const how = await live.aside(given, {}, (output) => put.push(output));
return [how, put.map((output) => output.text ?? JSON.stringify(output)).join('')];
"""
"""Runs a text in a page's Python; tells how it ended and what it printed."""


class Window(NamedTuple):
    """What a test asks of a browser's window."""

    go: Callable[[str], object]
    run: Callable[..., Any]
    """Runs the body of an asynchronous function of ``given`` in the page."""


@contextmanager
def elsewhere() -> Iterator[tuple[str, list[str]]]:
    """Serve nothing under another origin, and list what was asked of it."""
    asked: list[str] = []

    class Host(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        do_POST = do_GET  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


@contextmanager
def in_chromium(address: str = "about:blank") -> Iterator[Window]:
    with chromium() as browser:
        page = browser.new_page()
        page.goto(address, wait_until="load")
        yield Window(page.goto, lambda body, given=None: page.evaluate(f"async (given) => {{ {body} }}", given))


@contextmanager
def in_firefox(address: str = "about:blank") -> Iterator[Window]:
    with firefox() as window:
        window.go(address)
        script = "return (async (given) => {{ {} }})(arguments[0])"
        yield Window(window.go, lambda body, given=None: window.script(script.format(body), given))

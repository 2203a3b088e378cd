"""A vowel from the browser's microphone: measured in the page, by Python in the page, and sent nowhere."""

from __future__ import annotations

import contextlib
import functools
import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from until import until

from voicewire.pharyngeal import tract
from voicewire_book import paths
from voicewire_book.publish.paper import chromium

SITE = paths.root() / "_build" / "html"
CHROMIUM = chromium.find()
PAGE = "notebooks/pharyngeal/02_formants.html"
WAIT = 240_000  # milliseconds, on a busy machine

pytestmark = [
    pytest.mark.night,
    pytest.mark.slow,
    pytest.mark.needs("pages", "live", "chromium", "playwright", "linux"),
]


@contextlib.contextmanager
def opened(*flags: str, script: str = "") -> Iterator[Any]:
    """Open the chapter's page, served over loopback, and start Python in it."""
    from playwright.sync_api import sync_playwright

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as play:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", *flags])
        page = browser.new_context(viewport={"width": 360, "height": 800}).new_page()
        page.add_init_script(script or "0")
        said: list[str] = []
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"http://127.0.0.1:{server.server_port}/{PAGE}", wait_until="load")
        assert page.locator(".vw-record button").count() == 0, "nothing is offered before Python is started"
        page.locator(".vw-live > button").click()
        page.locator(".vw-record [role=status]").wait_for(timeout=WAIT, state="attached")
        yield page
        browser.close()
        server.shutdown()
        thread.join()
        assert not said


def microphone(folder: Path, samples: Any) -> list[str]:
    """Return the flags of a browser that hears these samples, at 48 kHz, again and again."""
    file = folder / "microphone.wav"
    soundfile.write(file, samples, 48_000, subtype="PCM_16")
    fake = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
    return [*fake, f"--use-file-for-fake-audio-capture={file}"]


def record(page: Any) -> tuple[str, list[str]]:
    """Record once, when Python is ready; return what the page says, and what it asked a server for meanwhile."""
    until(page, "/ready/.test(document.querySelector('.vw-status').textContent)", timeout=WAIT)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("button", name="Record two seconds of a vowel").click()
    ended = "/nothing was sent|not|Nothing/.test(document.querySelector('.vw-record p [role=status]').textContent)"
    until(page, ended, timeout=WAIT)
    return page.locator(".vw-record").inner_text(), [url for url in asked if not url.startswith(("blob:", "data:"))]


def test_a_vowel_is_measured_and_drawn_and_nothing_is_sent(tmp_path: Path) -> None:
    vowel = tract.speak(tract.Articulation(), duration=4.0)
    samples = np.interp(np.arange(4 * 48_000) / 48_000, np.arange(vowel.samples.size) / vowel.rate, vowel.samples)
    with opened(*microphone(tmp_path, 0.5 * samples / np.abs(samples).max())) as page:
        text, asked = record(page)
        assert "Measured in this page; nothing was sent or kept." in text
        truth = tract.formants(tract.Articulation()).frequencies
        match = re.search(r"F1 (\d+) Hz, F2 (\d+) Hz", text)
        assert match is not None
        assert [float(number) for number in match.groups()] == pytest.approx(truth[:2], rel=0.1)
        assert page.locator(".vw-record img").count() == 1
        assert asked == []
        assert page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('voicewire'))") == []
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


def test_noise_is_refused_with_the_reason(tmp_path: Path) -> None:
    hiss = 0.05 * np.random.default_rng(3).standard_normal(4 * 48_000)
    with opened(*microphone(tmp_path, hiss)) as page:
        text, asked = record(page)
        assert "no voice in it, only noise" in text
        assert page.locator(".vw-record img").count() == 0 and asked == []


def test_without_a_secure_context_the_page_says_so() -> None:
    with opened(script="Object.defineProperty(window, 'isSecureContext', { value: false })") as page:
        assert "A browser gives a microphone only to pages" in page.locator(".vw-record").inner_text()
        assert page.locator(".vw-record button").count() == 0


def test_a_microphone_that_is_not_allowed_is_told() -> None:
    with opened("--use-fake-device-for-media-stream", "--deny-permission-prompts") as page:
        text, asked = record(page)
        assert "The microphone was not allowed: nothing was recorded." in text and asked == []

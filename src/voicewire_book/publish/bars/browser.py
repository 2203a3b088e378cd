"""Every page of the site in a browser without a network, several at a time."""

from __future__ import annotations

import asyncio
import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from voicewire_book.publish.paper import chromium

__all__ = ["Look", "look"]

SCREEN = {"width": 1280, "height": 800}
AT_ONCE = 2
SET = "window.MathJax && MathJax.startup ? MathJax.startup.promise : null"
PLAIN = {".woff", ".woff2", ".png", ".jpg", ".gif", ".zip"}
"""What a server sends as it is: it is compressed already."""


@dataclass
class Look:
    """What one page showed and asked for.

    Attributes
    ----------
    name : str
        Its path in the site.
    seen : dict
        What ``look.js`` returned.
    outside : list of str
        Addresses beyond the site that were asked for.
    kilobytes : float
        What was loaded, compressed as a server would, kB.
    """

    name: str
    seen: dict[str, Any] = field(default_factory=dict)
    outside: list[str] = field(default_factory=list)
    kilobytes: float = 0.0


def look(site: Path, names: list[str]) -> list[Look]:
    """Open pages of the site, each in a fresh context, and measure them."""
    return asyncio.run(_all(site, names)) if names else []


async def _all(site: Path, names: list[str]) -> list[Look]:
    from playwright.async_api import async_playwright

    script = Path(__file__).with_name("look.js").read_text(encoding="utf-8")
    turn = asyncio.Semaphore(AT_ONCE)
    async with async_playwright() as play:
        browser = await play.chromium.launch(executable_path=chromium.find(), args=chromium.sandbox())

        async def one(name: str) -> Look:
            async with turn:
                context = await browser.new_context(viewport=cast(Any, SCREEN), offline=True)
                found = Look(name)
                asked: set[str] = set()
                page = await context.new_page()
                page.on("request", lambda request: asked.add(request.url))
                await page.goto((site / name).resolve().as_uri(), wait_until="load")
                await page.evaluate(SET)
                found.seen = await page.evaluate(script, _woven(site, name))
                await context.close()
                found.outside = [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]
                found.kilobytes = sum(_compressed(url) for url in asked if url.startswith("file:")) / 1000
                return found

        return list(await asyncio.gather(*map(one, names)))


def _woven(site: Path, name: str) -> list[str]:
    """Return the pieces of reading versions that stand in a page: they may be longer than other cells."""
    source = site / "_sources" / Path(name).with_suffix(".ipynb")
    if not source.is_file():
        return []
    cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["metadata"].get("voicewire", {}).get("weave")]


def _compressed(url: str) -> int:
    path = Path(unquote(urlsplit(url).path))
    if not path.is_file():
        return 0
    data = path.read_bytes()
    return len(data) if path.suffix in PLAIN else len(gzip.compress(data, 6))

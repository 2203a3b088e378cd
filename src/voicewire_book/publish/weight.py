"""What each page of the built site loads, compressed, and how soon it answers: measured in a headless Chromium.

``python -m voicewire_book.publish.weight [PAGE…]`` prints the table; `pages` and `measured` are there for other
programs. A page is fetched from a server on 127.0.0.1. Its *weight* is the size of all files that the browser asks for
before the reader does anything, each as ``gzip`` packs it (or as it is, where that is smaller: pictures, sounds,
fonts). A page is *interactive* when its document is read and the last task of the main thread that took over 50 ms is
done.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from voicewire_book import paths
from voicewire_book.publish.paper import chromium

__all__ = ["KINDS", "Weight", "kind", "main", "measured", "median", "packed", "pages", "table"]

KINDS = ("html", "css", "js", "font", "picture", "other")
"""The kinds of files that a page loads."""

_ENDINGS = {
    "html": "html", "css": "css", "js": "js", "woff": "font", "woff2": "font", "ttf": "font", "png": "picture",
    "svg": "picture", "jpg": "picture", "jpeg": "picture", "webp": "picture", "gif": "picture",
}  # fmt: skip
_NO_PAGE = ("_static", "_modules", "_sources")

_WATCH = """
window.vwLong = 0;
new PerformanceObserver(list => {
  for (const task of list.getEntries()) window.vwLong = Math.max(window.vwLong, task.startTime + task.duration);
}).observe({type: "longtask", buffered: true});
"""
_QUIET = """async () => {
  const formulas = window.MathJax && MathJax.startup && MathJax.startup.promise;
  if (formulas) await formulas;
  const quiet = () => performance.now() - Math.max(window.vwLong, performance.timing.loadEventEnd
    - performance.timing.navigationStart) > 500;
  while (!quiet()) await new Promise(done => setTimeout(done, 100));
  const read = performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd;
  return Math.max(read, window.vwLong) / 1000;
}"""


@dataclass(frozen=True)
class Weight:
    """What one page loads.

    Attributes
    ----------
    page : str
        Its path in the site.
    bytes : dict of str to int
        Compressed size by kind of file, one of `KINDS`.
    files : int
        How many files.
    seconds : dict of int to float
        When the page is interactive, by how many times the processor is slowed down.
    """

    page: str
    bytes: dict[str, int]
    files: int
    seconds: dict[int, float]

    @property
    def total(self) -> int:
        """The compressed size of everything the page loads, bytes."""
        return sum(self.bytes.values())


def pages(site: Path) -> list[str]:
    """Return the pages of the built site that are written for readers."""
    found = (path.relative_to(site) for path in site.rglob("*.html"))
    return sorted(path.as_posix() for path in found if path.parts[0] not in (*_NO_PAGE, "index.html"))


def kind(address: str) -> str:
    """Return what kind of file an address names."""
    return _ENDINGS.get(urlsplit(address).path.rpartition(".")[2].lower(), "other")


@cache
def packed(file: Path) -> int:
    """Return how many bytes of a file go over the wire."""
    content = file.read_bytes()
    return min(len(content), len(gzip.compress(content, 6)))


def median(found: Sequence[Weight]) -> float:
    """Return the weight of the median page."""
    return statistics.median(page.total for page in found)


def table(found: Sequence[Weight]) -> str:
    """Return a line for each page, the heaviest first, and the median below."""
    slowed = list(found[0].seconds)
    lines = [f"{'kB':>5} " + " ".join(f"{name:>{max(6, len(name))}}" for name in (*KINDS, "files"))]
    lines[0] += " " + " ".join(f"{f'{slow}x':>5}" for slow in slowed) + "  page"

    def line(total: float, sizes: Sequence[float], files: float, seconds: Sequence[float], name: str) -> str:
        cells = (f"{size / 1000:>{max(6, len(head))}.0f}" for size, head in zip(sizes, KINDS, strict=True))
        return f"{total / 1000:5.0f} {' '.join(cells)} {files:6.0f} {' '.join(f'{s:5.2f}' for s in seconds)}  {name}"

    for page in sorted(found, key=lambda page: -page.total):
        sizes, seconds = [page.bytes[name] for name in KINDS], [page.seconds[slow] for slow in slowed]
        lines.append(line(page.total, sizes, page.files, seconds, page.page))
    middle = [statistics.median(page.bytes[name] for page in found) for name in KINDS]
    files = statistics.median(page.files for page in found)
    times = [statistics.median(page.seconds[slow] for page in found) for slow in slowed]
    return "\n".join([*lines, line(median(found), middle, files, times, "median")])


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the table is the output."""


@contextmanager
def _served(site: Path) -> Iterator[str]:
    """Serve the site on 127.0.0.1 and give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def measured(site: Path, names: Sequence[str] | None = None, slowed: Sequence[int] = (1, 4)) -> list[Weight]:
    """Measure pages of the built site in a headless Chromium."""
    from playwright.sync_api import sync_playwright

    if (program := chromium.find()) is None:
        raise chromium.PrintError("no Chromium was found to measure the pages with")
    with _served(site) as address, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        wanted = pages(site) if names is None else names
        try:
            return [_visited(browser, site, address, name, slowed) for name in wanted]
        finally:
            browser.close()


def _visited(browser: Any, site: Path, address: str, name: str, slowed: Sequence[int]) -> Weight:
    sizes, asked, seconds = dict.fromkeys(KINDS, 0), set[str](), {}
    for slow in slowed:
        context = browser.new_context(viewport={"width": 1280, "height": 800})  # nothing is kept from before
        page = context.new_page()
        page.on("request", lambda request: asked.add(unquote(urlsplit(request.url).path).lstrip("/")))
        page.add_init_script(_WATCH)
        if slow > 1:
            context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slow})
        page.goto(address + name, wait_until="load")
        seconds[slow] = float(page.evaluate(_QUIET))
        context.close()
    files = [site / path for path in asked if (site / path).is_file()]
    for file in files:
        sizes[kind(file.name)] += packed(file)
    return Weight(name, sizes, len(files), seconds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what pages of the built book load."""
    what = "Weigh the pages of the built book."
    parser = argparse.ArgumentParser(prog="voicewire_book.publish.weight", description=what)
    parser.add_argument("page", nargs="*", help="a page, as its path in the site (default: all)")
    options = parser.parse_args(arguments)
    site = paths.root() / "_build" / "html"
    print(table(measured(site, options.page or None)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

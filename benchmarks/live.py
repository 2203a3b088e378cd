"""Python in the page: from the click to the first result, the first visit and from what the browser keeps.

A reader's way in headless Chromium, over loopback: the button is pressed, the first cell that runs is run, then the
first that draws; the page is opened again, with what the browser has kept; then a few short cells are run a second
time. It needs the built site and Chromium.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from typing import Any

import harness
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

from live_pages import CHROMIUM, OFFERED, PARTS, SITE, Opened, chromium, served

FIRST, KEPT, AGAIN = 8.0, 4.0, 0.3  # s: the first visit, from what the browser keeps, a cell that is run again
FEW = 7


def visit(page: Opened) -> tuple[float, float | None]:
    """Seconds from the click to the first result and to the first figure, if a cell of the page draws one."""
    cells = [cell["number"] for cell in page.cells if cell["runs"]]
    drawing = (number for number in cells if page.cell(number).locator(".cell_output img").count())
    figure = next(drawing, None)
    start = time.perf_counter()
    page.start()
    page.run(cells[0])
    result = time.perf_counter() - start
    if figure is None:
        return result, None
    page.run(figure)
    return result, time.perf_counter() - start


def short_cells(page: Opened) -> float:
    """Seconds that a cell takes when it is run again, the median of a few."""
    plain = [
        cell
        for cell in page.cells
        if cell["runs"]
        and "check" not in cell["tags"]
        and "= None" not in cell["source"]  # an exercise's blank
        and page.button(cell["number"]).is_visible()  # not within a fold
    ]
    samples = []
    for cell in plain[2 : 2 + FEW]:
        page.run(cell["number"])
        start = time.perf_counter()
        page.run(cell["number"])
        samples.append(time.perf_counter() - start)
    return statistics.median(samples)


def benchmarks(run: harness.Run) -> None:
    """Measure every chapter; `run.quick` asks for one."""
    if CHROMIUM is None or not (SITE / "live" / "live.json").is_file():
        raise SystemExit("this needs Chromium and the built site: make book")
    with served() as server, chromium() as browser:
        for name in tqdm(list(PARTS)[:1] if run.quick else OFFERED, unit="chapter"):
            context: Any = browser.new_context(viewport={"width": 1280, "height": 800})
            first, _ = visit(Opened(context, server.address, name))
            page = Opened(context, server.address, name)
            kept, figure = visit(page)
            again = short_cells(page)
            context.close()
            run.record(f"{name}: first result", first, "s", at_most=FIRST)
            run.record(
                f"{name}: first result, kept", kept, "s", peer="first visit", peer_value=first, ratio=first / kept,
                at_most=KEPT,
            )  # fmt: skip
            if figure is not None:
                run.record(f"{name}: first figure, kept", figure, "s")
            run.record(f"{name}: a cell again", again, "s", at_most=AGAIN)


if __name__ == "__main__":
    raise SystemExit(harness.main(benchmarks, __doc__, packages=["playwright"]))

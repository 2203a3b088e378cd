"""Print HTML pages to PDF with a Chromium, where one is installed."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from voicewire_book.course.key import GradingError
from voicewire_book.publish.paper.chromium import find as browser
from voicewire_book.publish.paper.chromium import sandbox

__all__ = ["browser", "print_pages"]

SECONDS = 120
"""That one page may take."""
AT_ONCE = min(2, os.cpu_count() or 1)


def print_pages(pages: Sequence[Path], program: str) -> list[Path]:
    """Print each page to a PDF beside it, two at a time."""
    waiting = list(pages)
    running: list[tuple[Path, subprocess.Popen[bytes]]] = []
    with tempfile.TemporaryDirectory(prefix="voicewire-print-", ignore_cleanup_errors=True) as profiles:
        try:
            while waiting or running:
                while waiting and len(running) < AT_ONCE:
                    page = waiting.pop(0)
                    running.append((page, _start(page, program, Path(profiles) / str(len(waiting)))))
                page, process = running[0]
                _ended(page, process)
                running.pop(0)
        finally:
            for _, process in running:
                process.kill()
                process.wait()
    return [page.with_suffix(".pdf") for page in pages]


def _start(page: Path, program: str, profile: Path) -> subprocess.Popen[bytes]:
    options = ["--headless", "--disable-gpu", "--no-first-run", "--disable-extensions", "--no-pdf-header-footer"]
    options += [f"--user-data-dir={profile}", "--virtual-time-budget=60000", "--disable-dev-shm-usage"]
    return subprocess.Popen(
        [program, *options, *sandbox(), f"--print-to-pdf={page.with_suffix('.pdf')}", page.resolve().as_uri()],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def _ended(page: Path, process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise GradingError(f"{page.name} was not printed within {SECONDS} s: try again with --no-pdf") from None
    if process.returncode or not page.with_suffix(".pdf").is_file():
        raise GradingError(f"{page.name} can't be printed by this browser: try again with --no-pdf")

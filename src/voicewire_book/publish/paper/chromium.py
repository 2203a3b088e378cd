"""A Chromium without a window opens a page of the file system, sets its formulas and prints it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

__all__ = ["PrintError", "find", "print_page", "sandbox", "typeset"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
SECONDS = 1800
"""After that a print that hangs is given up."""


class PrintError(RuntimeError):
    """A page could not be printed."""


def find() -> str | None:
    """Return the path of a Chromium or Chrome, or None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def sandbox() -> list[str]:
    """Return the options that a browser needs for its sandbox."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return ["--no-sandbox"] if root else []


def typeset(page: Path) -> str:
    """Open a page of the file system, and return it as its scripts left it: with its formulas set."""
    return _run(page, "--dump-dom")


def print_page(page: Path, target: Path, tagged: bool = True) -> None:
    """Print a page of the file system as PDF."""
    target.unlink(missing_ok=True)
    structure = "--generate-pdf-document-outline" if tagged else "--disable-pdf-tagging"
    said = _run(page, "--no-pdf-header-footer", structure, f"--print-to-pdf={target}")
    if not target.is_file():
        raise PrintError(f"{find()} printed nothing: {said[-500:].strip()}")


def _run(page: Path, *what: str) -> str:
    program = find()
    if program is None:
        raise PrintError("there is no Chromium: install one (on Debian: apt-get install chromium)")
    with tempfile.TemporaryDirectory(prefix="voicewire-print-") as profile:
        command = [
            program, "--headless", *sandbox(), "--disable-gpu", "--disable-dev-shm-usage",
            f"--user-data-dir={profile}", "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=300000",
            *what, page.as_uri(),
        ]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired as error:
            raise PrintError(f"{program} was not done with {page.name} within {SECONDS} s") from error
    if done.returncode:
        raise PrintError(f"{program} ended with exit status {done.returncode}: {done.stderr[-500:].strip()}")
    return done.stdout

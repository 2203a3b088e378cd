"""Waits for what a page's script can see; Playwright's own way evaluates text in the page, which its policy forbids."""

from __future__ import annotations

import time
from typing import Any

PATIENCE = 30_000.0
"""Milliseconds."""


def until(page: Any, condition: str, arg: Any = None, timeout: float = PATIENCE) -> None:
    """Wait until an expression, or a function of `arg`, is true in the page."""
    from playwright.sync_api import Error

    end = time.monotonic() + timeout / 1000
    said = "it is not"
    while time.monotonic() < end:
        try:
            if page.evaluate(condition, arg):
                return
        except Error as error:  # the page is just loaded anew
            said = str(error)
        page.wait_for_timeout(50)
    raise AssertionError(f"never so: {condition}; {said}")

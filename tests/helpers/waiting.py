"""Waits for what another thread or process is about to do, for as long as a slow machine may need."""

from __future__ import annotations

import time
from collections.abc import Callable


def eventually(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()

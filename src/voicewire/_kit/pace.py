"""How long a run takes, said before it is over: from what it took last time, or from its first items."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from voicewire._kit import paths

__all__ = ["Pace", "keep", "last_time", "words"]

_KEPT = Path(".cache") / "run-times.json"
_FIRST, _START, _WORTH = 2.0, 30.0, 10.0
"""Seconds of work that tell the pace; for which a start may be taken; below which nothing is said."""


def words(seconds: float) -> str:
    """Tell a span of time as people do."""
    if not (math.isfinite(seconds) and seconds >= 0):
        raise ValueError(f"a run takes some seconds, not {seconds!r}")
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    return f"about {round(seconds / 60)} min" if seconds < 90 * 60 else f"about {seconds / 3600:.1f} h"


def _say(line: str) -> None:
    if "ipykernel" not in sys.modules:  # a notebook's outputs do not depend on the machine
        print(line, file=sys.stderr, flush=True)


class Pace:
    """Counts the items of a run, and says once, after the first of them, how long all will take.

    Nothing is said of a run that is over soon, and nothing in a notebook.
    """

    def __init__(self, what: str, total: int, tell: Callable[[str], object] = _say) -> None:
        self._what, self._total, self._tell = what, total, tell
        self._done, self._said = 0, False
        self._begin, self._before = time.monotonic(), 0
        self._starting = True

    def done(self, count: int = 1) -> None:
        """Count items that have ended."""
        self._done += count
        if self._said:
            return
        now = time.monotonic()
        spent = now - self._begin
        if self._starting and spent < _START:  # most of that was to start, and is not spent again
            self._begin, self._before, self._starting = now, self._done, False
            return
        if spent < _FIRST or self._done <= self._before:
            return
        self._said = True
        left = spent * (self._total - self._done) / (self._done - self._before)
        if left >= _WORTH:
            self._tell(f"{self._what}: {self._done} of {self._total} done, {words(left)} more; Ctrl-C stops it")


def last_time(run: str) -> float | None:
    """Return what a run took when it was last done here."""
    try:
        seconds = json.loads(_file().read_text(encoding="utf-8"))[run]
        return float(seconds) if math.isfinite(seconds) and seconds >= 0 else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


def keep(run: str, seconds: float) -> None:
    """Remember what a run took, where that can be written."""
    file = _file()
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
        known = known if isinstance(known, dict) else {}
    except (OSError, ValueError):
        known = {}
    known[run] = round(seconds, 1)
    scratch = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        scratch.replace(file)
    except OSError:  # a checkout that can only be read: the next run says nothing beforehand
        return


def _file() -> Path:
    try:
        return paths.root() / _KEPT
    except FileNotFoundError:
        return _KEPT

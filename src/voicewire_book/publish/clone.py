"""From which commit a book is made."""

from __future__ import annotations

import subprocess
from pathlib import Path

__all__ = ["commit"]


def commit(base: Path) -> tuple[str, str]:
    """Return the commit that the book was built from and its date; ("unknown", "unknown") outside a clone."""
    try:
        done = subprocess.run(
            ["git", "-C", str(base), "log", "-1", "--format=%h %cs"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown", "unknown"
    short, date = done.stdout.split()
    return short, date

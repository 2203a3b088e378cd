"""What is recorded once for the echo study: ``voicewire record echo``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from voicewire.echo import study

__all__ = ["RECORDINGS"]


def _table(name: str, folder: Path) -> None:
    study.write_rows(folder / f"{name}.csv", study.RECORDINGS[name]())


RECORDINGS: dict[str, Callable[[Path], None]] = {name: partial(_table, name) for name in study.RECORDINGS}
"""A table each, written into a folder; all of them take hours."""

"""What is recorded once for the echo study: ``voicewire record echo``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from voicewire.echo import experiments

__all__ = ["RECORDINGS"]


def _table(name: str, folder: Path) -> None:
    experiments.write_rows(folder / f"{name}.csv", experiments.RECORDINGS[name]())


RECORDINGS: dict[str, Callable[[Path], None]] = {name: partial(_table, name) for name in experiments.RECORDINGS}
"""A table each, written into a folder; all of them take hours."""

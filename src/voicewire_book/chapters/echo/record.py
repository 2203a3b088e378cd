"""What is recorded once for the echo study: ``voicewire record echo``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from voicewire_book.chapters.echo import (
    alternative_mechanisms,
    correlation_factors,
    experiments,
    prose_claims,
    recorded_conversations,
)

__all__ = ["RECORDINGS"]

TABLES = (
    experiments.RECORDINGS
    | alternative_mechanisms.RECORDINGS
    | prose_claims.RECORDINGS
    | recorded_conversations.RECORDINGS
    | correlation_factors.RECORDINGS
)


def _table(name: str, folder: Path) -> None:
    experiments.write_rows(folder / f"{name}.csv", TABLES[name]())


RECORDINGS: dict[str, Callable[[Path], None]] = {name: partial(_table, name) for name in TABLES}
"""A table each, written into a folder; all of them take hours."""

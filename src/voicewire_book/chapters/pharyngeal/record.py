"""What is recorded once for the study of pharyngealized consonants: ``voicewire record pharyngeal``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from voicewire._kit import sheets
from voicewire_book.chapters.pharyngeal import against, control, second_tract, shapes, validation

__all__ = ["RECORDINGS"]


def _control(folder: Path) -> None:
    control.record(folder)


def _shapes(folder: Path) -> None:
    shapes.record(folder=folder)


def _errors(folder: Path) -> None:
    sheets.to_csv(validation.compare(10, 8), folder / "tracker_errors.csv", index=False, float_format="%.2f")


def _pitch(folder: Path) -> None:
    against.record(folder)


def _larynx(folder: Path) -> None:
    second_tract.record(folder)


RECORDINGS: dict[str, Callable[[Path], None]] = {
    "control": _control, "tracker-errors": _errors, "formants-f0": _pitch, "shapes": _shapes,
    "larynx": _larynx,
}  # fmt: skip
"""The synthetic voice (differs from call to call), the trackers' errors (twice), tract shapes, a second larynx."""

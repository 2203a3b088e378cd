"""What is recorded once for the study of pharyngealized consonants: ``voicewire record pharyngeal``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from voicewire._kit import sheets
from voicewire_book.chapters.pharyngeal import (
    negative_control,
    second_tract,
    tracker_comparison,
    tracker_validation,
    vocal_tract_shapes,
)

__all__ = ["RECORDINGS"]


def _control(folder: Path) -> None:
    negative_control.record(folder)


def _shapes(folder: Path) -> None:
    vocal_tract_shapes.record(folder=folder)


def _errors(folder: Path) -> None:
    sheets.to_csv(tracker_validation.compare(10, 8), folder / "tracker_errors.csv", index=False, float_format="%.2f")


def _pitch(folder: Path) -> None:
    tracker_comparison.record(folder)


def _larynx(folder: Path) -> None:
    second_tract.record(folder)


RECORDINGS: dict[str, Callable[[Path], None]] = {
    "control": _control, "tracker-errors": _errors, "formants-f0": _pitch, "shapes": _shapes,
    "larynx": _larynx,
}  # fmt: skip
"""The synthetic voice (differs from call to call), the trackers' errors (twice), tract shapes, a second larynx."""

"""What is recorded once for the study of pharyngealized consonants: ``voicewire record pharyngeal``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from voicewire.pharyngeal import against, control, shapes, validation

__all__ = ["RECORDINGS"]


def _control(folder: Path) -> None:
    control.record(folder)


def _shapes(folder: Path) -> None:
    shapes.record(folder=folder)


def _errors(folder: Path) -> None:
    validation.compare(10, 8).to_csv(folder / "tracker_errors.csv", index=False, float_format="%.2f")


def _pitch(folder: Path) -> None:
    against.record(folder)


RECORDINGS: dict[str, Callable[[Path], None]] = {
    "control": _control, "tracker-errors": _errors, "formants-f0": _pitch, "shapes": _shapes,
}  # fmt: skip
"""The synthetic voice (differs from call to call), the trackers' errors (twice), and the families of tract shapes."""

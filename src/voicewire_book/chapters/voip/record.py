"""What is recorded once for voice over DCCP: ``voicewire record voip``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from voicewire._kit import sheets
from voicewire.voip.codecs import pesq, redundant_frames
from voicewire_book.chapters.voip import experiments, readings

__all__ = ["RECORDINGS", "quality"]


def quality(path: Path, calls: int = 30, seconds: float = 300.0, **how: Any) -> int:
    """Write all quality figures as one table."""
    scratch = path.with_name(f"{path.name}.part")
    try:
        with scratch.open("w", newline="", encoding="utf-8") as file:  # tried before the work
            rows = experiments.record(calls, seconds, **how)
            writer = sheets.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)
    return len(rows)


def _quality(
    folder: Path,
    calls: int = 30,
    seconds: float = 300.0,
    workers: int | None = None,
    scheduler: str | None = None,
) -> None:
    points = quality(folder / "quality.csv", calls, seconds, workers=workers, scheduler=scheduler)
    print(f"{points} points")


def _readings(
    folder: Path,
    calls: int = 30,
    seconds: float = 300.0,
    workers: int | None = None,
    scheduler: str | None = None,
) -> None:
    rows = readings.record(folder / "readings.csv", calls, seconds, workers=workers, scheduler=scheduler)
    print(f"{rows} points and readings")


def _opus(folder: Path, calls: int = 30) -> None:
    made = redundant_frames.record(folder / "opus.csv", calls)
    print(f"{made} rows, {'with' if pesq.available() else 'without'} PESQ")


RECORDINGS: dict[str, Callable[..., None]] = {"quality": _quality, "readings": _readings, "opus": _opus}
"""R for Figures 5.1 to 5.6: quartiles over 30 calls of 300 s; and each call, under each reading of TFRC's rules. Opus
with and without copies beside G.711 and G.729, over the same losses."""

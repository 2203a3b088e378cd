"""What is recorded once for the NFC study: ``voicewire record nfc``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from voicewire.nfc.beyond import lwip

__all__ = ["RECORDINGS"]


def _lwip(folder: Path) -> None:
    if not lwip.available():
        raise FileNotFoundError("a real lwIP is needed, and it is not installed here (Debian: liblwip-dev)")
    lwip.record(folder)


RECORDINGS: dict[str, Callable[[Path], None]] = {"lwip": _lwip}
"""Sessions of a real lwIP on the simulated link."""

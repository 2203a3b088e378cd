"""The library's API: what its rooms declare."""

from __future__ import annotations

import importlib

from voicewire._kit import lazy
from voicewire_book import paths

ROOMS = {
    ".".join(stub.parent.relative_to(paths.TOP).parts): stub
    for stub in sorted(paths.PACKAGES[0].rglob("__init__.pyi")) if stub.parent != paths.PACKAGES[0]
}  # fmt: skip
"""The stub of each room that declares names."""
LOOSE = ("voicewire.stats",)
"""Modules at the root, whose own ``__all__`` is their API."""


def names() -> list[tuple[str, str]]:
    """Return the module that defines it and the name there, of all that is declared."""
    found = {home for room in ROOMS for home in lazy.homes(room).values() if home[0] != room}
    found |= {(module, own) for module in LOOSE for own in importlib.import_module(module).__all__}
    return sorted(found)

"""Modules by their names below one of the two packages: a part's library and its chapters' code share a room's name."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

PREFIXES = ("voicewire_book.chapters.", "voicewire_book.kit.", "voicewire_book.", "voicewire._kit.", "voicewire.")
"""What a short name leaves out; no two modules have the same short name."""


def full(short: str) -> list[str]:
    """The modules of that short name: of a part, its room in the library and that of its chapters."""
    found = []
    for prefix in reversed(PREFIXES):
        try:
            there = importlib.util.find_spec(prefix + short) is not None
        except ModuleNotFoundError:  # nor is the package that it would lie in
            there = False
        if there:
            found.append(prefix + short)
    return found


def module(short: str) -> ModuleType:
    """The module of that short name."""
    found = full(short)
    if not found:
        raise ModuleNotFoundError(f"neither package has a module {short}", name=short)
    return importlib.import_module(found[0])


def short(name: str) -> str:
    """The name of a module, or of what is in it, without the package."""
    return next((name.removeprefix(prefix) for prefix in PREFIXES if name.startswith(prefix)), name)

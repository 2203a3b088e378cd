"""Libraries that only some functions need: imported when these are used, and told by the extra that brings them."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

__all__ = ["EXTRAS", "Library", "needed", "told"]

EXTRAS = {
    "parselmouth": "phonetics", "librosa": "phonetics", "statsmodels": "phonetics", "skimage": "phonetics",
    "av": "voip", "webrtcvad": "voip", "paho": "transport", "cryptography": "transport",
    "numba": "fast", "llvmlite": "fast", "uvloop": "fast",
}  # fmt: skip
"""The extra that brings each library; tests/test_environment.py holds it to pyproject.toml."""


def told(error: ImportError) -> str:
    """Return what is missing and how to get it, or nothing where another reason keeps a module from its import."""
    missing = str(error.name or "").partition(".")[0]
    if missing not in EXTRAS:
        return ""
    return f"{missing} is not installed, and this needs it: pip install 'voicewire[{EXTRAS[missing]}]'"


@contextlib.contextmanager
def needed() -> Iterator[None]:
    """Say of a library that is missing which extra brings it, where its import fails."""
    try:
        yield
    except ImportError as error:
        if said := told(error):
            raise ImportError(said, name=error.name) from error
        raise


class Library:
    """A module that is imported when something in it is first asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        with needed():
            module = importlib.import_module(self._name)
        found = self.__dict__[attribute] = getattr(module, attribute)  # asked for once
        return found

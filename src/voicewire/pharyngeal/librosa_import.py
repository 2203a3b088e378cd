"""Import librosa without its widget warning, which would end up in a notebook's output."""

from __future__ import annotations

import warnings
from typing import Any

from voicewire._kit._optional import needed

__all__ = ["librosa"]


def librosa() -> Any:
    """Return the module ``librosa``, with the submodules whose first use would warn about missing widgets."""
    with needed(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="IProgress not found")
        import librosa as module
        import librosa.util.files
    return module

"""Where the checkout is whose data and notebooks are meant: found from here, never from a machine's absolute path."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["PACKAGES", "TOP", "data", "is_ours", "is_root", "root"]

TOP = Path(__file__).resolve().parents[2]
"""The folder of the packages: src of a clone, or where this one is installed."""

PACKAGES = (TOP / "voicewire", TOP / "voicewire_book")
"""This package, and what the book adds to it: whatever decides on what is stale reads both."""


def is_ours(module: str) -> bool:
    """Tell whether a module, by its dotted name, is of one of the two packages."""
    return module.partition(".")[0] in [package.name for package in PACKAGES]


def is_root(folder: Path) -> bool:
    """Tell whether a folder is a checkout of this book."""
    return (folder / "data").is_dir() and (folder / "notebooks").is_dir() and (folder / "pyproject.toml").is_file()


def root() -> Path:
    """Return the folder of the checkout.

    Looked for in the variable ``VOICEWIRE_ROOT``, then around this file (an editable install), then from the
    working directory upwards (Binder, where the package is installed apart from the notebooks).
    """
    named = os.environ.get("VOICEWIRE_ROOT")
    if named:
        folder = Path(named)
        if not is_root(folder):
            raise FileNotFoundError(
                f"VOICEWIRE_ROOT is {named!r}, which is no checkout of the book: set it to the folder that holds "
                "data/ and notebooks/, or unset it"
            )
        return folder.resolve()
    here = Path(__file__).resolve().parents[3]
    working = Path.cwd()
    for folder in (here, working, *working.parents):
        if is_root(folder):
            return folder
    raise FileNotFoundError(
        "the book's data/ and notebooks/ were not found from here: run inside a clone of the book, "
        "or set VOICEWIRE_ROOT to its folder"
    )


def data(study: str) -> Path:
    """Return the folder of a study's published tables, claims and recordings."""
    folder = root() / "data" / study
    if not folder.is_dir():
        raise FileNotFoundError(f"data/{study} is missing from the checkout")
    return folder

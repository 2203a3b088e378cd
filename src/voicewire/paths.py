"""Where the book's files are: found from the checkout, never from a machine's absolute path."""

from __future__ import annotations

import os
from pathlib import Path

STUDIES = ("pharyngeal", "echo", "voip", "transport", "emqtt", "nfc")
"""The six studies, in the order of the book."""


def is_root(folder: Path) -> bool:
    """Whether `folder` is a checkout of this book."""
    return (folder / "data").is_dir() and (folder / "notebooks").is_dir() and (folder / "pyproject.toml").is_file()


def root() -> Path:
    """Return the folder of the checkout.

    Looked for in the variable ``VOICEWIRE_ROOT``, then around this file (an editable install), then from the
    working directory upwards (Binder, where the package is installed apart from the notebooks).

    Raises
    ------
    FileNotFoundError
        If none of the three is a checkout of the book.
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
    here = Path(__file__).resolve().parents[2]
    working = Path.cwd()
    for folder in (here, working, *working.parents):
        if is_root(folder):
            return folder
    raise FileNotFoundError(
        "the book's data/ and notebooks/ were not found from here: run inside a clone of the book, "
        "or set VOICEWIRE_ROOT to its folder"
    )


def data(study: str) -> Path:
    """Return the folder of a study's published tables, claims and recordings.

    Raises
    ------
    ValueError
        If `study` is not one of `STUDIES`.
    FileNotFoundError
        If the checkout, or the study's folder in it, is missing.
    """
    if study not in STUDIES:
        raise ValueError(f"unknown study {study!r}: choose one of {', '.join(STUDIES)}")
    folder = root() / "data" / study
    if not folder.is_dir():
        raise FileNotFoundError(f"data/{study} is missing from the checkout")
    return folder


def chapters(study: str | None = None, base: Path | None = None) -> list[Path]:
    """Return the chapter notebooks (``NN_name.ipynb``) of one study or of all, in the order of the book."""
    base = base or root()
    wanted = (study,) if study else STUDIES
    return [path for name in wanted for path in sorted((base / "notebooks" / name).glob("[0-9][0-9]_*.ipynb"))]

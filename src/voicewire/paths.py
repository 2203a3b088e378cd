"""Where the book's files are: found from the checkout, never from a machine's absolute path."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PARTS", "STUDIES", "Part", "chapters", "data", "is_root", "part", "root"]


@dataclass(frozen=True)
class Part:
    """One part of the book, as ``parts.toml`` has it.

    Parameters
    ----------
    name : str
        The part's name in every room.
    title : str
        The heading of its introduction.
    question : str
        What it asks, in one line.
    ledger : bool
        Whether it judges a paper's claims.
    benchmark : str
        The file in ``benchmarks/``, where it isn't named as the part.
    finding : str
        What it found, in a sentence that names claims where numbers stand.

    Examples
    --------
    >>> Part("frames", "Frames", "What does a call cost?", ledger=True).benchmark
    ''
    """

    name: str
    title: str
    question: str
    ledger: bool
    benchmark: str = ""
    finding: str = ""


PARTS = tuple(
    Part(**entry)
    for entry in tomllib.loads(Path(__file__).with_name("parts.toml").read_text(encoding="utf-8"))["part"]
)
"""The parts of the book, in its order; ``parts.toml`` beside this file is the one list of them."""

STUDIES = tuple(part.name for part in PARTS if part.ledger)
"""The names of the parts that judge a paper's claims, in the order of the book."""


def part(name: str) -> Part:
    """Return a part of the book by its name.

    Parameters
    ----------
    name : str
        One of the names in ``parts.toml``.

    Returns
    -------
    Part
        Its title, its question, and whether it has a ledger.

    Raises
    ------
    ValueError
        If there is no such part.

    Examples
    --------
    >>> part("nfc").ledger
    True
    """
    for each in PARTS:
        if each.name == name:
            return each
    raise ValueError(f"unknown study {name!r}: choose one of {', '.join(each.name for each in PARTS)}")


def is_root(folder: Path) -> bool:
    """Tell whether a folder is a checkout of this book.

    Parameters
    ----------
    folder : Path
        Any folder.

    Returns
    -------
    bool
        Whether it holds data/, notebooks/ and pyproject.toml.

    Examples
    --------
    >>> is_root(root())
    True
    """
    return (folder / "data").is_dir() and (folder / "notebooks").is_dir() and (folder / "pyproject.toml").is_file()


def root() -> Path:
    """Return the folder of the checkout.

    Looked for in the variable ``VOICEWIRE_ROOT``, then around this file (an editable install), then from the
    working directory upwards (Binder, where the package is installed apart from the notebooks).

    Returns
    -------
    Path
        An absolute path.

    Raises
    ------
    FileNotFoundError
        If none of the three is a checkout of the book.

    Examples
    --------
    >>> (root() / "book" / "_toc.yml").is_file()
    True
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

    Parameters
    ----------
    study : str
        The part's name.

    Returns
    -------
    Path
        ``data/<study>`` of the checkout.

    Raises
    ------
    ValueError
        If `study` is not the name of a part.
    FileNotFoundError
        If the checkout, or the study's folder in it, is missing.

    Examples
    --------
    >>> data("nfc").name
    'nfc'
    """
    folder = root() / "data" / part(study).name
    if not folder.is_dir():
        raise FileNotFoundError(f"data/{study} is missing from the checkout")
    return folder


def chapters(study: str | None = None, base: Path | None = None) -> list[Path]:
    """Return the chapter notebooks (``NN_name.ipynb``) of one part or of all, in the order of the book.

    Parameters
    ----------
    study : str, optional
        One part; all if left out.
    base : Path, optional
        The checkout; found by itself if left out.

    Returns
    -------
    list of Path
        Absolute paths; none for a part without chapters.

    Examples
    --------
    >>> chapters("nfc")[0].name
    '01_slow_link.ipynb'
    """
    base = base or root()
    wanted = [study] if study else [part.name for part in PARTS]
    return [path for name in wanted for path in sorted((base / "notebooks" / name).glob("[0-9][0-9]_*.ipynb"))]

"""The parts of the book, and where their files are."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from voicewire._kit import paths as _checkout
from voicewire._kit.paths import PACKAGES, TOP, is_ours, is_root, root

__all__ = [
    "PACKAGES", "PARTS", "STUDIES", "TOP", "Part", "chapters", "data", "is_ours", "is_root", "part", "room", "root",
]  # fmt: skip


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
    return _checkout.data(part(study).name)


def room(module: str) -> str:
    """Return the room of a module, by its dotted name: a study's engine and its chapters' code share one."""
    below = [word for word in module.split(".")[1:] if word != "chapters"]
    return below[0] if below else ""


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

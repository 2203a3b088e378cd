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
    """One part of the book, as ``parts.toml`` has it."""

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
    """Return a part of the book by its name."""
    for each in PARTS:
        if each.name == name:
            return each
    raise ValueError(f"unknown study {name!r}: choose one of {', '.join(each.name for each in PARTS)}")


def data(study: str) -> Path:
    """Return the folder of a study's published tables, claims and recordings."""
    return _checkout.data(part(study).name)


def room(module: str) -> str:
    """Return the room of a module, by its dotted name: a study's engine and its chapters' code share one."""
    below = [word for word in module.split(".")[1:] if word != "chapters"]
    return below[0] if below else ""


def chapters(study: str | None = None, base: Path | None = None) -> list[Path]:
    """Return the chapter notebooks (``NN_name.ipynb``) of one part or of all, in the order of the book."""
    base = base or root()
    wanted = [study] if study else [part.name for part in PARTS]
    return [path for name in wanted for path in sorted((base / "notebooks" / name).glob("[0-9][0-9]_*.ipynb"))]
